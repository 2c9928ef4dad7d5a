/*
 * conv_bound.c - what no split below a point of the search gets under: cycles and bytes of the fullest tile.
 *
 * The share of a tile is known in the dimensions that are split already; the others are whole, with n tiles left for them. Let x of these
 * share a sum (input channels, kernel rows), y the outputs, z the field: x y z <= n. Whatever x, y and z are, a tile then has at least
 *     work W / n;   loads of weights L / (x y);   input I y / n;   sums S x / n,
 * so that a step takes at least, with costs of each that conv_price charges at least,
 *     cycles >= rest + A / (x y) + a y + c x,       bytes >= V / (x y) + I y / n + S x / n,
 * and both have their least value over real x and y in closed form. Roundings and terms that are small are left out; all that is
 * taken in is no more than conv_price charges, so that a branch whose bound is above the best plan has no plan as good in it.
 */
#include <math.h>
#include "system-model/compiler/conv_internal.h"

/* What loads of weights and positions of the field cost a tile. A rounding of the vertices may take a thousandth off a worker's cycles. */
struct unit_costs { double loads, load, position, fixed; };

static struct unit_costs amp_costs(const struct search *f, const struct candidate *c, const struct share *t)
{
    static const double setup[] = { 0, 15, 46, 0, 60 };         /* by filter height, as amp_nx1_cycles */
    double turn = (double)chip_turn_cycles(f->chip), workers = (double)f->chip->n_workers;
    struct unit_costs u = { .loads = (double)(t->groups * t->in * t->out * c->passes), .position = turn * c->amp.core_cycles / workers };
    if (c->vertex == VERTEX_AMP_1X1) {
        u.load = 25 + (double)c->amp.load_cycles + turn * 18.99;
        u.fixed = 63 + 7 * turn;
        return u;
    }
    u.loads *= (double)(ceil_div(t->kernel_h, c->filter_height) * c->s.kernel_w);
    double rows = (double)shape_positions(&c->s) / ((double)f->n_tiles * workers * (double)c->s.field_w);
    double weights = c->filter_height == 4 ? (double)(c->amp.units * c->amp.in_grain * c->amp.element_bytes) / 8 : (double)c->amp.load_cycles;
    u.load = 15 + weights + setup[c->filter_height] + turn * (17.99 + 15.99 * fmax(1, rows));
    u.fixed = 110 + 18 * turn + 5 * turn;
    return u;
}

static struct unit_costs unit_costs(const struct search *f, const struct candidate *c, const struct share *t)
{
    double turn = (double)chip_turn_cycles(f->chip), workers = (double)f->chip->n_workers;
    double groups = (double)t->groups, kernel = (double)(t->kernel_h * c->s.kernel_w);
    double in_bytes = (double)(t->in * c->in_grain * c->amp.element_bytes);
    switch (c->vertex) {
    case VERTEX_HMAC:
        return (struct unit_costs){ .loads = groups * (double)t->out * kernel, .load = 19 * turn + (10 + 16 * turn) / kernel, .fixed = 65,
                                    .position = turn / workers * (14 + in_bytes / (double)f->chip->vector_bytes_per_cycle) };
    case VERTEX_SLIC:
        return (struct unit_costs){ .loads = groups * (double)(t->kernel_h * ceil_div(c->s.kernel_w, 4)), .load = 34 + 20 * turn,
                                    .position = turn / workers * (c->amp.partial_bytes == 4 ? 2 : 1), .fixed = 50 };
    case VERTEX_OUTER_PRODUCT:
        return (struct unit_costs){ .loads = groups, .load = 10 * turn, .position = 6 * turn / workers, .fixed = 25 * turn };
    default:
        return amp_costs(f, c, t);
    }
}

/* A share with its dimensions known or whole, in the terms of the file's head: of one step, in cycles or bytes a tile. */
struct terms {
    double weight_bytes, in_bytes, raw_bytes;       /* V; I y / n, as the vertex reads it and as it is exchanged */
    double results, outputs;                        /* S / n: computed, and as they are exchanged */
    double depth, steps, n;                         /* parts of a sum so far; serial steps; tiles left */
    double rate, groups;                            /* bytes a cycle; parts that whole groups may come in */
};

/* Elements of the input below one channel: a share of the field reaches over strides, and no farther than the input goes. */
static double field_elements(const struct candidate *c, const struct share *t, enum open_splits open)
{
    const struct conv_shape *s = &c->s;
    if (c->flat)
        return (double)shape_positions(s);
    uint64_t high = min_u64(s->in_stride, open == OPEN_FIELD ? t->kernel_h : 1), wide = min_u64(s->in_stride, s->kernel_w);
    uint64_t rows = min_u64(max_u64(s->in_h, 1), s->field_h * high), columns = min_u64(max_u64(s->in_w, 1), s->field_w * wide);
    return (double)s->batch * (double)rows * (double)columns;
}

static struct terms terms_of(const struct search *f, const struct candidate *c, const struct share *t, uint64_t tiles, enum open_splits open)
{
    double es = (double)c->amp.element_bytes, in_chans = (double)(t->groups * t->in * c->in_grain), n = (double)tiles;
    double out_chans = (double)(t->out * c->out_grain), stride = (double)c->s.out_stride;
    struct terms k = { .n = n, .depth = (double)(t->p_in * t->p_kernel), .steps = (double)(t->serial_in * t->serial_out),
                       .rate = chip_exchange_bytes_per_cycle(f->chip),
                       .groups = open == OPEN_GROUPS ? (double)min_u64(t->groups, tiles) : 1 };
    k.weight_bytes = in_chans * out_chans * (double)(t->kernel_h * c->s.kernel_w) * es;
    k.in_bytes = field_elements(c, t, open) * in_chans * es / n;
    k.raw_bytes = k.in_bytes / (double)c->s.in_expand;
    k.results = (double)t->groups * (double)shape_positions(&c->s) * out_chans / n;
    k.outputs = k.results * stride * stride;
    return k;
}

/* A / v + b v, at its least between 1 and most. */
static double least_of_two(double a, double b, double most)
{
    double v = sqrt(a / fmax(b, 1e-9));
    v = fmin(fmax(v, 1), most);
    return a / v + b * v;
}

/* A / (x y) + b y + c x over y >= 1 and x from low to high; no y where the outputs are split already. */
static double least_of_three(double a, double b, double c, double low, double high, bool y_is_open)
{
    double x = y_is_open ? cbrt(a * b / fmax(c * c, 1e-9)) : sqrt(a / fmax(c, 1e-9));
    x = fmin(fmax(x, low), high);
    return c * x + (y_is_open ? 2 * sqrt(a / x * b) : a / x + b);
}

static double least_bytes(const struct search *f, const struct candidate *c, const struct share *t, const struct terms *k, enum open_splits open)
{
    double sums = k->outputs * (double)c->amp.partial_bytes, bytes = k->steps > 1 ? k->steps * k->weight_bytes / k->n : 0;
    if (t->serial_in > 1)
        bytes += sums / k->depth;
    bytes = open == OPEN_FIELD ? bytes + k->weight_bytes + k->in_bytes + sums * (k->depth > 1 ? 1.5 : 1)
        : bytes + least_of_three(k->weight_bytes / k->groups, k->in_bytes, sums, 1, k->n, open >= OPEN_OUTPUTS);
    return fmax(bytes, 2 * (double)f->rearranged_bytes);
}

/* ---- cycles of one step: rest + loads / (x y) + inputs y + sums x, where sums are shared or whole --------------------------------- */

struct step { double rest, loads, inputs, whole, shared, sums; };

/* Weights that are there already are one part in z: V / (x y) - V / n. */
static void add_work(struct step *p, const struct search *f, const struct candidate *c, const struct share *t, const struct terms *k)
{
    struct unit_costs u = unit_costs(f, c, t);
    double work = u.loads * (double)shape_positions(&c->s) * u.position, weights = k->weight_bytes / k->rate;
    bool apart = c->s.weights_elsewhere, less = !apart && work >= weights;
    p->rest = u.fixed + (less ? work - weights : work) / k->n;
    p->loads = u.loads * u.load + (apart || less ? weights : 0);
    if (c->s.kernel_h % c->filter_height) {
        p->rest += 587;
        p->loads += 0.44 * k->weight_bytes;
    }
    p->loads /= k->groups;
}

/* Cycles a byte of a copy on the tile, as conv_price charges it at least. */
static double padding_slope(const struct search *f, const struct candidate *c)
{
    uint64_t es = c->amp.element_bytes, vector_bytes = f->chip->vector_bytes_per_cycle;
    if (f->shape->in_chans % 4 == 0)
        return 1.25 / (double)min_u64(vector_bytes, es);
    if (f->chip->planner_copies == COPIES_MEASURED)
        return es < 4 ? 5.15 : 3.13;
    return 1.25 / (double)vector_bytes;
}

static void add_inputs(struct step *p, const struct search *f, const struct candidate *c, const struct share *t, const struct terms *k,
                       enum open_splits open)
{
    uint64_t bus = f->chip->tiles_per_exchange_bus, split = open >= OPEN_OUTPUTS ? bus : t->p_out;
    double received = k->raw_bytes / (k->rate * (split % bus == 0 ? (double)bus : 1)) / (t->serial_out > 1 ? k->steps : 1);
    p->inputs = received;
    if (!c->s.in_elsewhere)
        p->rest -= open >= OPEN_OUTPUTS ? received : received / (double)t->p_out;
    if (conv_pads_tiles(f, c)) {
        p->inputs += k->in_bytes * padding_slope(f, c);
        p->rest += (double)superstep_cycles(f->chip);
    }
}

static void add_sums(struct step *p, const struct search *f, const struct candidate *c, const struct share *t, const struct terms *k)
{
    double turn = (double)chip_turn_cycles(f->chip), workers = (double)f->chip->n_workers, sync = (double)superstep_cycles(f->chip);
    uint64_t vector_bytes = f->chip->vector_bytes_per_cycle, ps = c->amp.partial_bytes, rs = c->amp.result_bytes;
    double exchanged = k->outputs * (double)ps / k->rate;
    p->whole = k->outputs * (double)rs / k->rate;
    if (ps > rs)
        p->whole += (26 * turn + sync + k->outputs * (double)t->serial_out * turn / (workers * (double)(vector_bytes / max_u64(ps, rs)))) / k->steps;
    p->sums = exchanged + k->outputs * 3 * turn / (workers * (double)(2 * vector_bytes / ps));
    p->shared = 32 * turn + sync + (double)f->chip->exchange_transit_cycles - exchanged / k->depth;
    if (c->vertex == VERTEX_AMP_NX1) {
        double zero = k->results * turn / (workers * (double)(vector_bytes / 4));
        p->whole += zero;
        p->sums += zero;
    }
}

static void add_serial(struct step *p, const struct search *f, const struct candidate *c, const struct share *t, const struct terms *k)
{
    double turn = (double)chip_turn_cycles(f->chip), slope = turn / (2 * (double)(f->chip->n_workers * c->amp.element_bytes));
    double sync = (double)superstep_cycles(f->chip), sums = k->outputs * (double)c->amp.partial_bytes / k->depth;
    p->rest += 2 * (25 + 63 * turn + sync) + k->weight_bytes / k->n * slope + ((double)f->by_step.exchange + sync) / k->steps;
    if (t->serial_in > 1)
        p->rest += 25 + 63 * turn + k->in_bytes / (double)t->p_out * slope;
    else
        p->rest += sync / k->steps + sums * slope;
}

static double least_cycles(const struct search *f, const struct candidate *c, const struct share *t, const struct terms *k, enum open_splits open)
{
    struct step p = { .rest = 0 };
    add_work(&p, f, c, t, k);
    add_inputs(&p, f, c, t, k, open);
    add_sums(&p, f, c, t, k);
    if (k->steps > 1)
        add_serial(&p, f, c, t, k);
    double cycles = p.rest + (double)superstep_cycles(f->chip);
    if (open == OPEN_FIELD) {
        cycles += p.loads + p.inputs + (k->depth > 1 ? p.shared + p.sums : p.whole);
    } else {
        bool y_is_open = open >= OPEN_OUTPUTS;
        double most = open == OPEN_KERNEL ? (double)t->kernel_h : k->n;
        double least = p.shared + least_of_three(p.loads, p.inputs, p.sums, k->depth > 1 ? 1 : 2, fmax(2, most), y_is_open);
        if (k->depth < 2)
            least = fmin(least, p.whole + (y_is_open ? least_of_two(p.loads, p.inputs, k->n) : p.loads + p.inputs));
        cycles += least;
    }
    return k->steps * cycles + (double)(f->layout.compute + f->layout.exchange + f->layout.supersteps * superstep_cycles(f->chip));
}

struct least conv_least(const struct search *f, const struct candidate *c, const struct share *t, uint64_t tiles, enum open_splits open)
{
    enum { ROUNDING = 1 };              /* of sums in doubles, and a cycle for the rest */
    struct terms k = terms_of(f, c, t, tiles, open);
    return (struct least){ least_cycles(f, c, t, &k, open) * (1 - 1e-9) - ROUNDING, least_bytes(f, c, t, &k, open) * (1 - 1e-9) };
}
