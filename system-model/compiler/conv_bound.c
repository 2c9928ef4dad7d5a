/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_bound.c - lower bounds for a subtree of the search: cycles and bytes of the fullest tile.
 *
 * In a subtree some dimensions are split already, and a tile's share of them is known. The other dimensions are whole,
 * and n tiles are left for their splits. Say that these splits make x parts of a sum (input channels, kernel rows), y
 * parts of the outputs and z parts of the field, with x y z <= n. Whatever x, y and z are, a tile then has at least
 *     work W / n;   loads of weights L / (x y);   input I y / n;   sums S x / n.
 * With the least that conv_price charges for each of these, one step takes at least
 *     cycles >= rest + A / (x y) + a y + c x,       bytes >= V / (x y) + I y / n + S x / n.
 * Both have their minimum over real x and y in closed form. Roundings and small terms are left out. Every coefficient
 * comes from the tables that conv_price sums. A branch whose bound is above the best plan therefore has no plan as good.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/conv.h"

/* The most that a sum of doubles may be off, in either direction. */
static const double LESS = 1 - 1e-9, MORE = 1 + 2e-9;

/* Converts by one machine instruction, where an unsigned number takes several; counts here are far below 2^63. */
static double to_real(uint64_t n) { return (double)(int64_t)n; }

/* ---- what is the same for all splits of a candidate ------------------------------------------------------------ */

/* Splits the vertex's lower bound into the units that add_loads() multiplies. HMAC does not load weights for each grain of input channels: these are
 * part of the cost of a position. */
static void vertex_units(struct conv_units *u, const struct search *f, const struct conv_candidate *c)
{
    struct share whole = conv_whole(c, 1, 1);
    const struct conv_work w = conv_work_of(c, &whole);
    const struct conv_least least = conv_vertex_least(f->vertices, f->chip, &c->amp, &w);
    bool is_amp = c->vertex == VERTEX_AMP_1X1 || c->vertex == VERTEX_AMP_NX1;
    u->fixed = least.fixed;
    u->load = least.load + (c->flat ? least.row : 0);       /* a load has one row of positions, if they are flat */
    u->row = c->flat ? 0 : least.row;
    u->position = least.position;
    u->channel = least.channel * to_real(c->in_grain);
    u->loads = to_real(w.kernel_w * c->passes);
    u->by_in = is_amp;
    u->by_out = is_amp || c->vertex == VERTEX_HMAC;
    if (is_amp)
        u->zero = f->vertices->zero.vector * u->turn / to_real(f->chip->n_workers * (f->chip->vector_bytes_per_cycle / c->amp.partial_bytes));
}

/* The fewest cycles a byte that conv_price charges for a copy on the tile. */
static double padding_slope(const struct search *f, const struct conv_candidate *c)
{
    uint64_t es = c->amp.element_bytes, vector_bytes = f->chip->vector_bytes_per_cycle;
    if (conv_plans_by_fours(f, c))
        return f->vertices->copy_by_fours / (4 * to_real(min_u64(vector_bytes, es)));
    return (es < 4 ? f->vertices->copy_halves_per_100_bytes : f->vertices->copy_floats_per_100_bytes) / 100.0;
}

static void operand_units(struct conv_units *u, const struct search *f, const struct conv_candidate *c)
{
    const struct conv_shape *s = &c->s;
    double channel_bytes = to_real(c->in_grain * c->amp.element_bytes), positions = to_real(shape_positions(s));
    uint64_t rows = max_u64(s->in_h, 1), columns = min_u64(max_u64(s->in_w, 1), (uint64_t)s->field_w * min_u64(s->in_stride_w, s->kernel_w));
    u->weights = channel_bytes * to_real(c->out_grain * s->kernel_w);
    u->input = channel_bytes * positions;
    u->thin_input = u->input;
    if (!c->flat) {                     /* a share reaches the strides of its positions, but no more than the input */
        u->input = channel_bytes * to_real(s->batch * columns) * to_real(min_u64(rows, (uint64_t)s->field_h * s->in_stride_h));
        u->thin_input = channel_bytes * to_real(s->batch * columns) * to_real(min_u64(rows, s->field_h));
    }
    u->results = positions * to_real(c->out_grain);
    u->outputs = to_real((uint64_t)s->out_stride_h * s->out_stride_w);
    u->received = 1 / (u->rate * s->in_expand);
    if (conv_pads_tiles(f, c)) {
        u->padding = padding_slope(f, c);
        u->fixed += u->sync;
    }
    if (s->kernel_h % c->filter_height) {
        u->weight_copy = f->vertices->copy_words_per_100_bytes / 100.0;
        u->fixed += f->vertices->copy_pieces;
    }
}

/* The cost of a vertex without any vectors. */
static double once_cycles(struct vector_terms t, double turn) { return t.tile + t.worker * turn; }

/* The cycles of a result on its way: exchanged, added up and cast. */
static void sum_units(struct conv_units *u, const struct search *f, const struct conv_candidate *c)
{
    double worker = u->turn / to_real(f->chip->n_workers);
    uint64_t vector_bytes = f->chip->vector_bytes_per_cycle, ps = c->amp.partial_bytes, rs = c->amp.result_bytes;
    u->partial_bytes = to_real(ps);
    u->exchanged = u->partial_bytes / u->rate;
    u->added = u->exchanged + f->vertices->reduce_partial * worker / to_real(2 * vector_bytes / ps);
    if (ps > rs) {
        u->cast = f->vertices->cast.vector * worker / to_real(vector_bytes / ps);
        u->cast_fixed = once_cycles(f->vertices->cast, u->turn) + u->sync;
    }
}

/* The longest row that conv_price can see, before any split. */
static uint64_t longest_row(const struct conv_shape *s)
{
    return s->field_w == 1 ? s->field_h : s->kernel_w == 1 ? (uint64_t)s->batch * s->field_w : s->field_w;
}

void conv_add_units(struct conv_candidate *c, const struct search *f)
{
    struct conv_units u = { .turn = to_real(chip_turn_cycles(f->chip)), .sync = to_real(superstep_cycles(f->chip)),
                            .rate = chip_exchange_bytes_per_cycle(f->chip), .bus = to_real(f->chip->tiles_per_exchange_bus) };
    struct conv_cost gathering = conv_gathering(f, c);
    vertex_units(&u, f, c);
    u.positions = to_real(shape_positions(&c->s));
    u.row_positions = to_real(f->chip->n_workers * longest_row(&c->s));
    u.position *= to_real(shape_positions(&c->s));
    u.channel *= to_real(shape_positions(&c->s));
    u.fixed += u.sync;
    operand_units(&u, f, c);
    sum_units(&u, f, c);
    u.slice = f->vertices->slice.vector * u.turn / to_real(SLICE_VECTOR * f->chip->n_workers * c->amp.element_bytes);
    u.slice_once = once_cycles(f->vertices->slice, u.turn);
    u.add_once = to_real(add_in_place_cycles(f->chip, 1, c->amp.partial_bytes));
    u.serial = 2 * (u.slice_once + u.sync) + LOOP_COUNTER_SUPERSTEPS * (to_real(add_in_place_cycles(f->chip, 1, COUNTER_BYTES)) + u.sync);
    u.stage = once_cycles(f->vertices->reduce, u.turn) + u.sync + to_real(f->chip->exchange_transit_cycles);
    u.once = to_real(f->layout.compute + f->layout.exchange + gathering.compute + gathering.exchange)
           + to_real(f->layout.supersteps + gathering.supersteps) * u.sync;
    c->units = u;
}

/* ---- one point of the search ----------------------------------------------------------------------------------- */

/* The range of x with a / x + c x <= most: between the roots of a square, widened by the rounding of doubles. */
static struct conv_range between_roots(double a, double c, double most)
{
    double square = most * most * MORE - 4 * a * c, sum = most * MORE + sqrt(fmax(0, square));
    return most > 0 && square >= 0 ? (struct conv_range){ 2 * a / sum * LESS, sum / (2 * c) * MORE } : (struct conv_range){ 2, 1 };
}

static double at_most(double x, double most) { return x < most ? x : most; }

/* NaN, which 0 / 0 gives, becomes `low`. */
static double clamped(double x, double low, double high) { return at_most(fmax(x, low), high); }

/* The minimum of b y + a / y for y from 1 to most. */
static double least_of_two(double a, double b, double most)
{
    double y = clamped(sqrt(a / b), 1, most);
    return a / y + b * y;
}

/* The minimum of a / (x y) + b y + c x for x from low to high and any positive y; y is 1 if the outputs are split already. */
static double least_of_three(double a, double b, double c, double low, double high, bool y_is_open)
{
    double x = clamped(y_is_open ? cbrt(a * b / (c * c)) : sqrt(a / c), low, high);
    return c * x + (y_is_open ? 2 * sqrt(a / x * b) : a / x + b);
}

/* The terms of the file head, for one step. weights: bytes of all loads of weights that are left (V); input: bytes of a tile's input (I / n);
 * results, outputs: a tile's results, and their output elements (S / n). depth: how many tiles share a sum so far; groups: how many parts the groups
 * may still be split into. An uneven split leaves some tiles without a share: n does not count them; `parts`, the tiles that one block of weights is
 * spread over, does. */
struct point { double n, parts, weights, input, outputs, results, depth, steps, groups; };

/* The bytes of a tile are so_far + weights / (x y) + input y + sums x. */
struct bytes { double so_far, weights, input, sums; };

static struct bytes bytes_of(const struct search *f, const struct conv_candidate *c, const struct share *t, const struct point *p)
{
    struct bytes b = { .weights = p->weights / p->groups, .input = p->input, .sums = p->outputs * c->units.partial_bytes };
    if (p->steps > 1 && conv_orders_weights(f->shape))
        b.so_far += p->steps * p->weights / p->parts;
    if (t->serial_in > 1)
        b.so_far += b.sums / p->depth;
    return b;
}

static double least_bytes(const struct search *f, const struct conv_candidate *c, const struct share *t, const struct point *p, enum open_splits open)
{
    struct bytes b = bytes_of(f, c, t, p);
    double bytes = b.so_far, before = 2 * to_real(f->rearranged_bytes);
    if (open == OPEN_FIELD)
        bytes += b.weights + b.input + b.sums;
    else
        bytes += least_of_three(b.weights, b.input, b.sums, 1, p->n, open >= OPEN_OUTPUTS);
    return bytes > before ? bytes : before;
}

/* The cycles of a step are rest + loads / (x y) + inputs y, and sums x if they are shared. */
struct step { double rest, loads, inputs; };

/* The z tiles that need the same weights each hold one part of them before the step. A tile receives the others: V / (x y) - V / n. */
static void add_loads(struct step *s, const struct conv_candidate *c, const struct share *t, const struct point *p)
{
    const struct conv_units *u = &c->units;
    uint64_t rows = c->filter_height == 1 ? t->kernel_h : ceil_div(t->kernel_h, c->filter_height);
    double in = to_real(t->in), loads = to_real(t->groups * rows) * u->loads * (u->by_in ? in : 1) * (u->by_out ? to_real(t->out) : 1);
    double work = loads * (u->position + in * u->channel), weights = p->weights / u->rate, load = u->load;
    if (u->positions > u->row_positions * p->n)         /* rows of a worker: positions over the longest row, but at least one for each load */
        work += loads * u->row * u->positions / u->row_positions;
    else
        load += u->row;
    bool less = work >= weights;
    s->rest = u->fixed + (less ? work - weights : work) / p->n;
    s->loads = (loads * load + (less ? weights : 0) + u->weight_copy * p->weights) / p->groups;
}

static void add_input_cycles(struct step *s, const struct search *f, const struct conv_candidate *c, const struct share *t, const struct point *p,
                       enum open_splits open)
{
    const struct conv_units *u = &c->units;
    double received = p->input * u->received;
    if (open >= OPEN_OUTPUTS || t->p_out % f->chip->tiles_per_exchange_bus == 0)
        received /= u->bus;
    if (has_input_before(t))
        received /= p->steps;
    s->inputs = received + p->input * u->padding;
    if (!c->gathered)
        s->rest -= open >= OPEN_OUTPUTS ? received : received / to_real(t->p_out);
}

static void add_serial(struct step *s, const struct search *f, const struct conv_candidate *c, const struct share *t, const struct point *p)
{
    const struct conv_units *u = &c->units;
    s->rest += u->serial + p->weights / p->parts * u->slice + (to_real(f->by_step.exchange) + to_real(f->by_step.supersteps) * u->sync) / p->steps;
    if (t->serial_in > 1)
        s->rest += u->add_once + p->input / to_real(t->p_out) * u->slice;
    else
        s->rest += (has_input_before(t) ? u->sync / p->steps : 0) + p->outputs / p->depth * u->partial_bytes * u->slice;
}

/* Cycles of sums. so_far: what every split takes in all steps, for sums and all else; shared + sums x: what a step adds if x tiles share each sum;
   whole: what it adds if no tiles do. zero: setting sums to zero, which is part of so_far, of sums and of whole. */
struct sum_terms { double so_far, zero, shared, sums, whole; };

static struct sum_terms add_sums(struct step *s, const struct search *f, const struct conv_candidate *c, const struct share *t, const struct point *p,
                            enum open_splits open)
{
    const struct conv_units *u = &c->units;
    add_loads(s, c, t, p);
    add_input_cycles(s, f, c, t, p, open);
    if (p->steps > 1)
        add_serial(s, f, c, t, p);
    double zero = p->results * u->zero;
    return (struct sum_terms){ .so_far = p->steps * (s->rest + zero) + u->once, .zero = zero, .sums = p->outputs * u->added + zero,
                          .shared = u->stage - p->outputs * u->exchanged / p->depth,
                          .whole = p->outputs * u->cast * to_real(t->serial_out) / p->steps + u->cast_fixed / p->steps + zero };
}

static double least_cycles(const struct search *f, const struct conv_candidate *c, const struct share *t, const struct point *p, enum open_splits open)
{
    struct step s;
    struct sum_terms k = add_sums(&s, f, c, t, p, open);
    if (open == OPEN_FIELD)
        return k.so_far + p->steps * (s.loads + s.inputs + (p->depth > 1 ? k.shared + k.sums : k.whole) - k.zero);
    if (!conv_is_as_fast(f, k.so_far))
        return k.so_far;                /* already more than the best plan */
    bool y_is_open = open >= OPEN_OUTPUTS;
    double most = open == OPEN_KERNEL ? to_real(t->kernel_h) : p->n;
    double least = k.shared + least_of_three(s.loads, s.inputs, k.sums, p->depth > 1 ? 1 : 2, most < 2 ? 2 : most, y_is_open);
    if (p->depth < 2) {
        k.whole += y_is_open ? least_of_two(s.loads, s.inputs, p->n) : s.loads + s.inputs;
        least = k.whole < least ? k.whole : least;
    }
    return k.so_far + p->steps * (least - k.zero);
}

#define MOST 0x1p63

static struct point point_of(const struct search *f, const struct conv_candidate *c, const struct share *t, double n, enum open_splits open)
{
    const struct conv_units *u = &c->units;
    double groups = to_real(t->groups), in = groups * to_real(t->in), out = to_real(t->out);
    struct point p = { .n = n, .depth = to_real(t->p_in * t->p_kernel), .steps = to_real(share_steps(t)), .groups = 1 };
    p.weights = in * out * to_real(t->kernel_h) * u->weights;
    p.input = in / n * (open == OPEN_FIELD && t->kernel_h >= c->s.in_stride_h ? u->input : u->thin_input);
    p.results = groups * out / n * u->results;
    p.outputs = p.results * u->outputs;
    if (p.steps > 1)
        p.parts = to_real(f->n_tiles) / to_real(t->p_groups * t->p_out * t->p_in * t->p_kernel);
    if (open == OPEN_GROUPS)
        p.groups = groups < n ? groups : n;
    return p;
}

struct least conv_least(const struct search *f, const struct conv_candidate *c, const struct share *t, double n, enum open_splits open)
{
    struct point p = point_of(f, c, t, n, open);
    /* The rounding of doubles and one cycle are taken off. The result is cut to what 64 bits hold: some plan is needed in any case, and may be
     * refused later. */
    struct least least = { .cycles = at_most(least_cycles(f, c, t, &p, open) * LESS - 1, MOST) };
    if (conv_is_as_fast(f, least.cycles))
        least.bytes = at_most(least_bytes(f, c, t, &p, open) * LESS, MOST);
    return least;
}

struct conv_range conv_sum_range(struct search *f, const struct conv_candidate *c, const struct share *t, double n)
{
    struct point p = point_of(f, c, t, n, OPEN_INPUTS);
    struct step s;
    struct sum_terms k = add_sums(&s, f, c, t, &p, OPEN_INPUTS);
    struct bytes b = bytes_of(f, c, t, &p);
    double cycles = ((double)f->best_cycles + 1) * MORE, bytes = ((double)f->bound_bytes + 1) * MORE;
    struct conv_range fast = between_roots(s.loads, k.sums, (cycles - k.so_far) / p.steps + k.zero - k.shared - s.inputs);
    struct conv_range fits = between_roots(b.weights, b.sums, bytes - b.so_far - b.input);
    if (fits.low > 2 || fits.high < n)
        f->least_over_bytes = min_u64(f->least_over_bytes, f->bound_bytes + 1);
    return (struct conv_range){ fmax(fast.low, fits.low), fmin(fast.high, fits.high) };
}
