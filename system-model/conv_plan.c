/*
 * conv_plan.c - the search of splits for convolutions and matmuls.
 *
 * One superstep computes a tile's share: its inputs and weights arrive by exchange, the vertex runs over
 * its channels, kernel elements and field; partial sums from a split of the reduction are exchanged and added,
 * in as many stages as their number asks for; serial splits repeat this. Times are added, as supersteps
 * are (bulk synchronous):
 *     cycles = steps * (exchange in + compute + reduce) + once (changes of layout, cast)   + sync a superstep.
 * The form, the terms and the order of vertices are the convolution planner's of PopLibs (poplin at 7eac0f2),
 * which leaves out what the chip pays besides: sync for each superstep, exchange transit, and the halo's
 * share of the exchange. Those are added here, and no estimate is charged where nothing moves.
 *
 * Search: parallel splits of groups, output channels, input channels, kernel rows and field whose product is at
 * most the tiles, and serial splits of channels. Only splits that change a tile's share are tried; a split
 * whose arithmetic alone is slower than the best so far is left at once. Limits: one level (no split over
 * chips), kernel split over rows only, the field's last dimension takes what tiles are left.
 */
#include <assert.h>
#include <string.h>
#include "system-model/conv_plan.h"
#include "system-model/vertex_cost.h"

static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t ceil_div(uint64_t n, uint64_t d) { return (n + d - 1) / d; }

/* ---- the passes as one form --------------------------------------------------------------- */

static struct conv_shape data_gradient_shape(const struct conv_params *p)
{
    return (struct conv_shape){
        .groups = p->groups, .batch = p->batch, .field_h = p->out_h, .field_w = p->out_w,
        .kernel_h = p->kernel_h, .kernel_w = p->kernel_w, .in_chans = p->out_chans, .out_chans = p->in_chans,
        .in_stride = 1, .out_stride = p->stride, .in_h = p->out_h, .in_w = p->out_w, .in_expand = 1,
        .type = p->type, .pass = PASS_BACKWARD_DATA, .rearrange_weights = 1,
    };
}

/* The reduction runs over batch and field; each kernel element and input channel is a row of the result. */
static struct conv_shape weight_gradient_shape(const struct conv_params *p)
{
    uint32_t kernel = p->kernel_h * p->kernel_w;
    uint32_t expand = kernel / (p->stride * p->stride);
    return (struct conv_shape){
        .groups = p->groups, .batch = 1, .field_h = p->in_chans * kernel, .field_w = 1,
        .kernel_h = 1, .kernel_w = 1, .in_chans = p->batch * p->out_h * p->out_w, .out_chans = p->out_chans,
        .in_stride = 1, .out_stride = 1, .in_h = p->in_chans * kernel, .in_w = 1, .in_expand = expand ? expand : 1,
        .type = p->type, .pass = PASS_BACKWARD_WEIGHT, .rearrange_in = 1, .rearrange_weights = 1,
    };
}

struct conv_shape conv_shape_of_pass(const struct conv_params *p, enum op_pass pass)
{
    if (pass == PASS_BACKWARD_DATA)
        return data_gradient_shape(p);
    if (pass == PASS_BACKWARD_WEIGHT)
        return weight_gradient_shape(p);
    return (struct conv_shape){
        .groups = p->groups, .batch = p->batch, .field_h = p->out_h, .field_w = p->out_w,
        .kernel_h = p->kernel_h, .kernel_w = p->kernel_w, .in_chans = p->in_chans, .out_chans = p->out_chans,
        .in_stride = p->stride, .out_stride = 1, .in_h = p->in_h, .in_w = p->in_w, .in_expand = 1,
        .type = p->type, .pass = PASS_FORWARD,
    };
}

/* Rows, inner dimension and columns are those of the pass itself: gradients come with their operands swapped already. */
struct conv_shape matmul_conv_shape(uint32_t groups, uint32_t rows, uint32_t inner, uint32_t columns, enum data_type type,
                               enum op_pass pass)
{
    return (struct conv_shape){
        .groups = groups, .batch = 1, .field_h = rows, .field_w = 1, .kernel_h = 1, .kernel_w = 1,
        .in_chans = inner, .out_chans = columns, .in_stride = 1, .out_stride = 1, .in_h = rows, .in_w = 1,
        .in_expand = 1, .type = type, .pass = pass, .rearrange_in = pass == PASS_BACKWARD_WEIGHT,
        .rearrange_weights = pass != PASS_FORWARD,
    };
}

static uint64_t shape_positions(const struct conv_shape *s)
{
    return (uint64_t)s->batch * s->field_h * s->field_w;
}

uint64_t conv_shape_mac(const struct conv_shape *s)
{
    return shape_positions(s) * s->groups * s->kernel_h * s->kernel_w * s->in_chans * s->out_chans;
}

/* ---- candidates: a vertex, its grains, and the shape it sees -------------------------------- */

struct candidate {
    enum vertex_kind vertex;
    struct amp amp;
    struct conv_shape s;                /* with kernel dimensions moved into the input channels, where that is tried */
    uint64_t in_grain, out_grain, filter_height, passes;
    uint64_t expand;                    /* input elements a raw one has become */
    bool flat;                          /* 1x1 kernel: batch and field are one row of positions */
};

enum { MAX_CANDIDATES = 16 };
struct candidates { struct candidate items[MAX_CANDIDATES]; size_t n; };

static struct candidate *add_candidate(struct candidates *list, enum vertex_kind vertex, const struct conv_shape *s,
                                       uint64_t expand)
{
    assert(list->n < MAX_CANDIDATES);
    struct candidate *c = &list->items[list->n++];
    *c = (struct candidate){ .vertex = vertex, .s = *s, .filter_height = 1, .passes = 1, .expand = expand,
                             .flat = s->kernel_h == 1 && s->kernel_w == 1 };
    return c;
}

/* Output channels in grains of 16, or of 8 where that wastes less; AMP units serve a grain in passes. */
static void add_amp(struct candidates *list, const struct conv_shape *s, uint64_t expand, const struct chip *chip,
                    struct amp amp, uint64_t in_grain, uint64_t out_grain)
{
    bool flat = s->kernel_h == 1 && s->kernel_w == 1;
    struct candidate *c = add_candidate(list, flat ? VERTEX_AMP_1X1 : VERTEX_AMP_NX1, s, expand);
    c->amp = out_grain < amp.units ? amp_with_units(chip, amp, out_grain) : amp;
    c->passes = ceil_div(out_grain, amp.units);
    c->in_grain = in_grain;
    c->out_grain = out_grain;
    c->filter_height = flat ? 1 : amp.in_grain / in_grain;
}

static void add_amp_grains(struct candidates *list, const struct conv_shape *s, uint64_t expand,
                           const struct chip *chip, struct amp amp)
{
    uint64_t wide = max_u64(amp.units, amp.in_grain), narrow = 8;
    add_amp(list, s, expand, chip, amp, amp.in_grain, wide);
    if (narrow < wide)
        add_amp(list, s, expand, chip, amp, amp.in_grain, narrow);
    if (s->in_chans > amp.in_grain / 2 || s->kernel_h == 1 || s->type != TYPE_FP16)
        return;
    uint64_t thin = s->in_chans <= amp.in_grain / 4 ? 4 : 8;    /* 4 or 2 kernel rows share a pass */
    add_amp(list, s, expand, chip, amp, thin, wide);
    if (narrow < wide)
        add_amp(list, s, expand, chip, amp, thin, narrow);
}

/* Kernel columns, then all kernel elements, become input channels. */
static void add_expanded(struct candidates *list, const struct conv_shape *s, const struct chip *chip, struct amp amp)
{
    struct conv_shape e = *s;
    e.in_chans *= s->kernel_w;
    e.kernel_w = 1;
    e.in_w = s->field_w;
    if (s->kernel_h > 1 && s->in_chans <= amp.in_grain)
        add_amp_grains(list, &e, max_u64(1, s->kernel_w / s->in_stride), chip, amp);
    e.in_chans *= s->kernel_h;
    e.kernel_h = 1;
    e.in_h = s->field_h;
    e.in_stride = 1;
    uint64_t expand = (uint64_t)s->kernel_h * s->kernel_w / ((uint64_t)s->in_stride * s->in_stride);
    add_amp(list, &e, max_u64(1, expand), chip, amp, amp.in_grain, max_u64(amp.units, amp.in_grain));
}

/* Slice vertices came with the second generation of the chip (16 half units). */
static bool has_slic(const struct chip *chip) { return chip->conv_units_fp16_fp16 >= 16; }

/* Groups that would fill less than half of the AMP's input chain are left to the vertices made for them. */
static void list_candidates(struct candidates *list, const struct conv_shape *s, const struct chip *chip,
                            const struct op_plan_options *opt)
{
    struct amp amp = amp_for(chip, (enum data_type)s->type, opt->partials);
    list->n = 0;
    bool sparse = s->groups > 1 && 2 * s->in_chans < amp.in_grain;
    if (!sparse)
        add_amp_grains(list, s, 1, chip, amp);
    if (!sparse && s->kernel_h * s->kernel_w > 1 && s->in_chans <= 4 * amp.in_grain)
        add_expanded(list, s, chip, amp);
    if (has_slic(chip) && s->groups > 1 && s->in_chans <= 4 && s->out_chans <= 4 && s->type == TYPE_FP16
        && s->kernel_w > 1 && s->in_stride <= 2) {
        struct candidate *c = add_candidate(list, VERTEX_SLIC, s, 1);
        c->in_grain = c->out_grain = 4;
        c->amp = amp;
    }
    uint64_t lanes = chip->vector_bytes_per_cycle / amp.element_bytes;
    struct candidate *h = add_candidate(list, VERTEX_HMAC, s, 1);
    h->in_grain = lanes;
    h->out_grain = 1;
    h->amp = amp;
    h->amp.partial_bytes = 4;
    if (s->in_chans == 1 && s->kernel_h * s->kernel_w == 1) {
        struct candidate *c = add_candidate(list, VERTEX_OUTER_PRODUCT, s, 1);
        c->in_grain = 1;
        c->out_grain = lanes;
        c->amp = amp;
        c->amp.partial_bytes = amp.element_bytes;
    }
}

/* ---- one split, priced ------------------------------------------------------------------------ */

/* How often each dimension is split, and the share of the largest tile. Channels in grains. */
struct share {
    uint64_t p_groups, p_batch, p_field, p_kernel, p_in, p_out, serial_in, serial_out;
    uint64_t groups, batch, height, width, kernel_h, in, out;
};

struct cost {
    uint64_t compute, exchange, supersteps, rearrange, temp_bytes, received_bytes;
    uint64_t element_copies_bytes;      /* of the input, on the fullest tile: copied element by element before the vertex */
};

struct search {
    const struct chip *chip;
    const struct op_plan_options *opt;
    const struct conv_shape *shape;
    uint64_t n_tiles, bound_bytes, best_cycles;
    struct candidate best_candidate;
    struct share best;
    struct cost best_cost;
};

static uint64_t share_positions(const struct share *t) { return t->batch * t->height * t->width; }

static uint64_t tiles_in_use(const struct share *t)
{
    return t->p_groups * t->p_batch * t->p_field * t->p_kernel * t->p_in * t->p_out;
}

static uint64_t vertex_cycles(const struct search *f, const struct candidate *c, const struct share *t)
{
    uint64_t outs = t->out * c->passes, kernel_w = c->s.kernel_w;
    switch (c->vertex) {
    case VERTEX_AMP_1X1:
        return amp_1x1_cycles(f->chip, &c->amp, t->groups, t->in, outs, share_positions(t));
    case VERTEX_AMP_NX1:
        return amp_nx1_cycles(f->chip, &c->amp, t->groups, t->in, outs, t->batch * t->height, t->width,
                              ceil_div(t->kernel_h, c->filter_height), kernel_w, c->filter_height)
             + zero_cycles(f->chip, t->groups * t->out * c->out_grain * share_positions(t), 4);
    case VERTEX_SLIC:
        return slic_cycles(f->chip, t->groups, t->batch * t->height, t->width, t->kernel_h, kernel_w, c->s.in_stride,
                           c->s.in_chans, c->amp.partial_bytes == 4);
    case VERTEX_HMAC:
        return hmac_cycles(f->chip, t->groups, t->in * c->in_grain, t->out, share_positions(t),
                           t->kernel_h * kernel_w, c->amp.element_bytes);
    default:
        return outer_product_cycles(f->chip, t->groups, share_positions(t), t->out * c->out_grain);
    }
}

/* Bytes at the measured share of the nominal rate, and the skew between columns where anything moves. */
static uint64_t exchange_cycles(const struct chip *chip, uint64_t n_bytes, uint64_t n_shared_bytes)
{
    if (n_bytes + n_shared_bytes == 0)
        return 0;
    double rate = (double)chip->exchange_bytes_per_cycle * chip->exchange_efficiency;
    double cycles = ((double)n_bytes + (double)n_shared_bytes / (double)chip->tiles_per_exchange_bus) / rate;
    return (uint64_t)cycles + 1;
}

struct operand_bytes { uint64_t in, in_received, weights, weights_received, partials, outputs; };

static uint64_t reach(uint64_t positions, uint64_t stride, uint64_t kernel, uint64_t limit)
{
    return min_u64((positions - 1) * stride + kernel, max_u64(limit, 1));
}

/* The share of a moved operand that p tiles holding it in turn do not have: all but one part in p. Beyond four
 * parts the own one is not deducted. */
static uint64_t missing_part(uint64_t n_bytes, uint64_t p)
{
    return p > 4 ? n_bytes : n_bytes - n_bytes / p;
}

static struct operand_bytes operand_bytes(const struct candidate *c, const struct share *t)
{
    const struct conv_shape *s = &c->s;
    uint64_t es = c->amp.element_bytes, in_chans = t->groups * t->in * c->in_grain;
    uint64_t own = share_positions(t) * (c->flat ? 1 : (uint64_t)s->in_stride * s->in_stride), field = own;
    if (!c->flat)
        field = t->batch * reach(t->height, s->in_stride, t->kernel_h, s->in_h)
              * reach(t->width, s->in_stride, s->kernel_w, s->in_w);
    struct operand_bytes b = { .in = field * in_chans * es };
    uint64_t raw = s->in_expand > 1 ? ceil_div(t->height, s->in_expand) * in_chans * es : b.in;
    b.in_received = min_u64(raw, missing_part(raw, t->p_out) + (field > own ? (field - own) * in_chans * es : 0));
    b.weights = in_chans * t->out * c->out_grain * t->kernel_h * s->kernel_w * es;
    b.weights_received = missing_part(b.weights, t->p_batch * t->p_field);
    uint64_t outputs = t->groups * share_positions(t) * t->out * c->out_grain;
    b.partials = outputs * c->amp.partial_bytes;
    b.outputs = outputs * s->out_stride * s->out_stride;
    return b;
}

/* Partials of p_in x p_kernel tiles, added in one to three stages of equal depth. */
static void add_reduction(const struct search *f, struct cost *k, const struct candidate *c, uint64_t n,
                          uint64_t depth)
{
    uint64_t stages = depth < 16 ? 1 : depth < 125 ? 2 : 3, ps = c->amp.partial_bytes;
    while (depth > 1) {
        uint64_t fan = depth;
        if (stages > 1)
            for (fan = 2; stages == 2 ? fan * fan < depth : fan * fan * fan < depth; fan++) {}
        uint64_t mine = ceil_div(n, fan), bytes = mine * (fan - 1) * ps;
        k->compute += reduce_cycles(f->chip, mine, fan, ps);
        k->exchange += exchange_cycles(f->chip, bytes, 0) + f->chip->exchange_transit_cycles;
        k->received_bytes += bytes;
        k->supersteps++;
        n = mine;
        depth = ceil_div(depth, fan);
        stages--;
    }
}

/* The planner's own estimate of a copy by pieces of one element. */
static uint64_t planned_copy_cycles(const struct candidate *c, uint64_t n_bytes, bool by_fours)
{
    return ceil_div(by_fours ? 5 * n_bytes : 20 * n_bytes / 3, 4 * c->amp.element_bytes);
}

/* Whole-tensor changes of layout before the loop, spread over all tiles. */
static void add_rearrangement(const struct search *f, struct cost *k, uint64_t total_bytes, uint64_t element_bytes,
                              uint64_t chans, uint64_t *worst_bytes)
{
    uint64_t bytes = ceil_div(total_bytes, f->n_tiles);
    uint64_t compute = rearrange_cycles(f->chip, bytes, element_bytes, chans % 4 == 0);
    uint64_t exchange = exchange_cycles(f->chip, bytes, 0) + f->chip->exchange_transit_cycles;
    k->compute += compute;
    k->exchange += exchange;
    k->rearrange += compute + exchange;
    k->received_bytes += bytes;
    k->supersteps++;
    *worst_bytes = max_u64(*worst_bytes, bytes);
}

static void add_layout_changes(const struct search *f, struct cost *k, const struct candidate *c, uint64_t *worst)
{
    const struct conv_shape *s = f->shape;
    uint64_t es = c->amp.element_bytes;
    uint64_t in_bytes = (uint64_t)s->groups * s->batch * s->in_h * s->in_w * s->in_chans * es;
    uint64_t weight_bytes = (uint64_t)s->groups * s->kernel_h * s->kernel_w * s->in_chans * s->out_chans * es;
    if (s->rearrange_in)
        add_rearrangement(f, k, in_bytes, es, s->in_chans, worst);
    *worst /= s->in_expand;             /* what stands in several rows is stored once before the exchange */
    if (s->rearrange_weights)
        add_rearrangement(f, k, weight_bytes, es, s->out_chans, worst);
}

/* Channels that do not fill a grain are padded, and kernel elements become channels, on each tile after the exchange:
 * tiles that share an input each do it. */
static void add_tile_padding(struct cost *k, const struct candidate *c, const struct search *f,
                             const struct operand_bytes *b)
{
    const struct conv_shape *s = f->shape;
    bool padded = c->vertex != VERTEX_HMAC && s->pass == PASS_FORWARD && s->in_chans < c->in_grain;
    if (!padded && c->expand <= 1)
        return;
    uint64_t cycles = planned_copy_cycles(c, b->in, s->in_chans % 4 == 0);
    k->compute += cycles;
    k->rearrange += cycles;
    k->supersteps++;
    if (s->in_chans % 4 != 0)
        k->element_copies_bytes = b->in;
}

/* What serial steps add: slices of the operands before each, the result put in its place or added after. */
static void add_serial_steps(const struct search *f, struct cost *k, const struct share *t, const struct candidate *c,
                             const struct operand_bytes *b)
{
    uint64_t es = c->amp.element_bytes, weights = ceil_div(b->weights, t->p_batch * t->p_field);
    uint64_t outputs = ceil_div(b->outputs, t->p_in * t->p_kernel);
    k->compute += dynamic_slice_cycles(f->chip, ceil_div(weights, es));
    if (t->serial_in > 1)
        k->compute += dynamic_slice_cycles(f->chip, ceil_div(ceil_div(b->in, t->p_out), es))
                    + add_in_place_cycles(f->chip, outputs, c->amp.partial_bytes);
    else
        k->compute += dynamic_slice_cycles(f->chip, outputs);
    k->supersteps += 2;
}

static void multiply_cost(struct cost *k, uint64_t n)
{
    k->compute *= n;
    k->exchange *= n;
    k->supersteps *= n;
    k->rearrange *= n;
    k->received_bytes *= n;
}

/* The loop's body; the input of output-serial steps is the same in all and comes once (returned apart). */
static struct cost step_cost(const struct search *f, const struct candidate *c, const struct share *t,
                             const struct operand_bytes *b, uint64_t compute)
{
    struct cost k = { .compute = compute, .supersteps = 1 };
    bool paired = t->p_out % f->chip->tiles_per_exchange_bus == 0;
    uint64_t in = t->serial_out > 1 ? 0 : b->in_received;
    k.exchange = exchange_cycles(f->chip, b->weights_received + (paired ? 0 : in), paired ? in : 0);
    k.exchange += k.exchange ? f->chip->exchange_transit_cycles : 0;
    k.received_bytes = b->weights_received + in;
    if (t->p_in * t->p_kernel > 1)
        add_reduction(f, &k, c, b->outputs, t->p_in * t->p_kernel);
    if (t->serial_in * t->serial_out > 1)
        add_serial_steps(f, &k, t, c, b);
    return k;
}

static uint64_t temp_bytes(const struct share *t, const struct candidate *c, const struct operand_bytes *b,
                           uint64_t rearranged_bytes)
{
    uint64_t partials = b->outputs * c->amp.partial_bytes, working = b->in + b->weights + partials;
    if (t->p_in * t->p_kernel > 1)
        working += ceil_div(partials, 2);           /* the received half of a reduction stage, while the sent one lives */
    if (t->serial_in > 1)
        working += ceil_div(partials, t->p_in * t->p_kernel);
    return max_u64(2 * rearranged_bytes, working);
}

static uint64_t cost_cycles(const struct search *f, const struct cost *k)
{
    return k->compute + k->exchange + k->supersteps * superstep_cycles(f->chip);
}

/* An output that no reduction has spread moves from where it was computed to where the tensor lives; it
 * shares the superstep of what follows. */
static void add_home(const struct search *f, struct cost *k, uint64_t n_bytes)
{
    k->exchange += exchange_cycles(f->chip, n_bytes, 0);
    k->received_bytes += n_bytes;
}

static void price(struct search *f, const struct candidate *c, const struct share *t)
{
    uint64_t steps = t->serial_in * t->serial_out, compute = vertex_cycles(f, c, t);
    if (steps * compute >= f->best_cycles)
        return;
    struct operand_bytes b = operand_bytes(c, t);
    uint64_t rearranged = 0;
    struct cost k = step_cost(f, c, t, &b, compute);
    add_tile_padding(&k, c, f, &b);
    multiply_cost(&k, steps);
    add_layout_changes(f, &k, c, &rearranged);
    if (t->serial_out > 1) {
        bool paired = t->p_out % f->chip->tiles_per_exchange_bus == 0;
        k.exchange += exchange_cycles(f->chip, paired ? 0 : b.in_received, paired ? b.in_received : 0);
        k.received_bytes += b.in_received;
        k.supersteps++;
    }
    if (c->amp.partial_bytes > c->amp.element_bytes && t->p_in * t->p_kernel * t->serial_in == 1) {
        k.compute += cast_cycles(f->chip, b.outputs * steps, c->amp.partial_bytes, c->amp.element_bytes);
        k.supersteps++;
    }
    if (t->p_in * t->p_kernel == 1)
        add_home(f, &k, b.outputs * steps * c->amp.element_bytes);
    uint64_t cycles = cost_cycles(f, &k);
    if (cycles >= f->best_cycles)
        return;
    k.temp_bytes = temp_bytes(t, c, &b, rearranged);
    if (k.temp_bytes > f->bound_bytes)
        return;
    f->best_cycles = cycles;
    f->best_candidate = *c;
    f->best = *t;
    f->best_cost = k;
}

/* ---- the search --------------------------------------------------------------------------------- */

enum { MAX_SPLITS = 640 };

/* The smallest p for each value that ceil(n / p) can take, p at most limit. */
static size_t distinct_splits(uint32_t *out, uint64_t n, uint64_t limit)
{
    size_t count = 0;
    for (uint64_t p = 1; p <= limit && count < MAX_SPLITS;) {
        out[count++] = (uint32_t)p;
        uint64_t part = ceil_div(n, p);
        if (part == 1)
            break;
        p = ceil_div(n, part - 1);
    }
    return count;
}

static uint64_t fewest_parts(uint64_t n, uint64_t limit, uint64_t *part)
{
    *part = ceil_div(n, min_u64(n, limit));
    return ceil_div(n, *part);
}

/* Positions as one row: not at all, in two, three or four, and over all the tiles that are left. */
static void search_flat_field(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint64_t rows = shape_positions(&c->s), last = 0;
    for (uint64_t limit = 1; limit <= 5; limit++) {
        t->batch = t->width = 1;
        t->p_batch = 1;
        t->p_field = fewest_parts(rows, limit == 5 ? tiles : min_u64(limit, tiles), &t->height);
        if (t->p_field != last)
            price(f, c, t);
        last = t->p_field;
    }
}

static void search_field(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint32_t batches[MAX_SPLITS], heights[MAX_SPLITS];
    size_t n_batches = distinct_splits(batches, c->s.batch, tiles);
    for (size_t i = 0; i < n_batches; i++) {
        t->p_batch = batches[i];
        t->batch = ceil_div(c->s.batch, batches[i]);
        size_t n_heights = distinct_splits(heights, c->s.field_h, tiles / batches[i]);
        for (size_t j = 0; j < n_heights; j++) {
            t->height = ceil_div(c->s.field_h, heights[j]);
            uint64_t p = fewest_parts(c->s.field_w, tiles / batches[i] / heights[j], &t->width);
            t->p_field = heights[j] * p;
            price(f, c, t);
        }
    }
}

/* Cycles that no split of the field over so many tiles gets below: the vertex with an even share of positions, the
 * input that is not there, the partial sums of a split reduction, the syncs. */
static uint64_t least_cycles(const struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint64_t positions = ceil_div(shape_positions(&c->s), tiles), steps = t->serial_in * t->serial_out;
    uint64_t es = c->amp.element_bytes, depth = t->p_in * t->p_kernel, rate = 2 * f->chip->exchange_bytes_per_cycle;
    uint64_t compute, bytes = missing_part(positions * t->groups * t->in * c->in_grain * es, t->p_out) / c->s.in_expand;
    if (c->vertex == VERTEX_AMP_1X1 || c->vertex == VERTEX_AMP_NX1) {
        uint64_t loads = t->groups * t->in * t->out * c->passes * ceil_div(t->kernel_h, c->filter_height) * c->s.kernel_w;
        uint64_t fixed = c->amp.load_cycles + 25 + f->chip->n_workers * 19;
        compute = loads * (fixed + (uint64_t)(c->amp.core_cycles * (double)positions));
    } else {
        t->batch = t->width = 1;
        t->height = positions;
        compute = c->vertex == VERTEX_SLIC ? 0 : vertex_cycles(f, c, t);
    }
    uint64_t sums = depth > 1 ? t->groups * positions * t->out * c->out_grain * c->amp.partial_bytes / 2 : 0;
    uint64_t exchange = bytes / rate / (t->serial_out > 1 ? steps : 1) + 2 * sums / rate;
    return steps * (compute + exchange + (depth > 1 ? 2 : 1) * superstep_cycles(f->chip));
}

static void search_kernel(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint32_t splits[MAX_SPLITS];
    size_t n = distinct_splits(splits, c->s.kernel_h, c->flat ? 1 : tiles);
    for (size_t i = 0; i < n; i++) {
        t->p_kernel = splits[i];
        t->kernel_h = ceil_div(c->s.kernel_h, splits[i]);
        if (least_cycles(f, c, t, tiles / splits[i]) >= f->best_cycles)
            continue;
        if (c->flat)
            search_flat_field(f, c, t, tiles / splits[i]);
        else
            search_field(f, c, t, tiles / splits[i]);
    }
}

static void search_in_chans(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint32_t splits[MAX_SPLITS];
    uint64_t grains = ceil_div(ceil_div(c->s.in_chans, c->in_grain), t->serial_in);
    size_t n = distinct_splits(splits, grains, tiles);
    for (size_t i = 0; i < n; i++) {
        t->p_in = splits[i];
        t->in = ceil_div(grains, splits[i]);
        search_kernel(f, c, t, tiles / splits[i]);
    }
}

/* An odd split of the outputs is tried one wider too: pairs of tiles then receive the same inputs together. */
static void search_out_chans(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint32_t splits[MAX_SPLITS];
    uint64_t grains = ceil_div(ceil_div(c->s.out_chans, c->out_grain), t->serial_out);
    size_t n = distinct_splits(splits, grains, tiles);
    for (size_t i = 0; i < n; i++)
        for (uint32_t p = splits[i]; p <= splits[i] + splits[i] % 2 && p <= tiles; p++) {
            if (p > splits[i] && (p == 2 || p > grains))
                continue;
            t->p_out = p;
            t->out = ceil_div(grains, p);
            search_in_chans(f, c, t, tiles / p);
        }
}

static void search_groups(struct search *f, const struct candidate *c, struct share *t)
{
    uint32_t splits[MAX_SPLITS];
    size_t n = distinct_splits(splits, c->s.groups, f->n_tiles);
    for (size_t i = 0; i < n; i++) {
        t->p_groups = splits[i];
        t->groups = ceil_div(c->s.groups, splits[i]);
        search_out_chans(f, c, t, f->n_tiles / splits[i]);
    }
}

static void search_candidate(struct search *f, const struct candidate *c)
{
    static const uint32_t steps[] = { 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 };
    struct share t = { .serial_in = 1, .serial_out = 1 };
    uint64_t lanes = f->chip->vector_bytes_per_cycle / c->amp.element_bytes;
    if (c->vertex == VERTEX_HMAC && conv_shape_mac(&c->s) / (f->n_tiles * lanes) >= f->best_cycles)
        return;
    search_groups(f, c, &t);
    if (c->vertex != VERTEX_AMP_1X1 && c->vertex != VERTEX_AMP_NX1)
        return;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] <= ceil_div(c->s.out_chans, c->out_grain)) {
            t.serial_out = steps[i];
            search_groups(f, c, &t);
            t.serial_out = 1;
        }
        if (steps[i] <= ceil_div(c->s.in_chans, c->in_grain)) {
            t.serial_in = steps[i];
            search_groups(f, c, &t);
            t.serial_in = 1;
        }
    }
}

static uint64_t padded_mac(const struct candidate *c, const struct share *t)
{
    uint64_t kernel = c->vertex == VERTEX_AMP_NX1
        ? ceil_div(t->kernel_h, c->filter_height) * c->filter_height : t->kernel_h;
    return tiles_in_use(t) * t->serial_in * t->serial_out * t->groups * share_positions(t) * kernel * c->s.kernel_w
         * t->in * c->in_grain * t->out * c->out_grain;
}

/* Pieces that reach a tile in one step, each from one other tile: operands lie over the tiles in order, channel
 * groups outermost, so a tile's share of a channel group is one run (a row of the field each where the kernel is wider
 * than one), cut where it leaves the tile that holds it. */
static uint64_t received_pieces(const struct search *f)
{
    const struct share *t = &f->best;
    const struct candidate *c = &f->best_candidate;
    uint64_t es = c->amp.element_bytes, steps = t->serial_in * t->serial_out;
    uint64_t held = max_u64(128, ceil_div(shape_positions(f->shape) * f->shape->groups * f->shape->in_chans * es, f->n_tiles));
    uint64_t weights_held = max_u64(256, ceil_div((uint64_t)f->shape->groups * f->shape->in_chans * f->shape->out_chans
                                                  * f->shape->kernel_h * f->shape->kernel_w * es, f->n_tiles));
    uint64_t runs = t->groups * t->in * (c->flat ? 1 : t->batch), run = share_positions(t) / (c->flat ? 1 : t->batch) * c->in_grain * es;
    uint64_t weight_run = t->in * c->in_grain * c->out_grain * t->kernel_h * c->s.kernel_w * es;
    uint64_t pieces = runs * (1 + run / held) + t->groups * t->out * (1 + weight_run / weights_held) + t->p_in * t->p_kernel;
    return min_u64(pieces, ceil_div(ceil_div(f->best_cost.received_bytes, steps), 128));
}

/* Exchange code: 3 instructions of 4 bytes a received piece, 24 bytes a superstep of control; vertex state: a
 * worklist item of 8 bytes a worker, kernel element and channel group. */
static uint64_t code_bytes(const struct search *f)
{
    const struct share *t = &f->best;
    uint64_t steps = t->serial_in * t->serial_out;
    return 12 * received_pieces(f) + 24 * (f->best_cost.supersteps / steps + 1)
         + 8 * f->chip->n_workers * t->kernel_h * f->best_candidate.s.kernel_w + 16 * (t->in + t->out);
}

/* The planner chooses by its estimate; the chip pays for copies element by element what was measured. */
static void pay_element_copies(const struct search *f, struct cost *k)
{
    if (k->element_copies_bytes == 0)
        return;
    uint64_t planned = planned_copy_cycles(&f->best_candidate, k->element_copies_bytes, false);
    uint64_t paid = rearrange_cycles(f->chip, k->element_copies_bytes, f->best_candidate.amp.element_bytes, false);
    uint64_t steps = f->best.serial_in * f->best.serial_out;
    k->compute += steps * (max_u64(paid, planned) - planned);
    k->rearrange += steps * (max_u64(paid, planned) - planned);
}

static void fill_plan(struct op_plan *out, struct search *f)
{
    const struct share *t = &f->best;
    struct cost *k = &f->best_cost;
    pay_element_copies(f, k);
    *out = (struct op_plan){
        .compute_cycles = k->compute, .exchange_cycles = k->exchange,
        .sync_cycles = k->supersteps * superstep_cycles(f->chip), .n_supersteps = (uint32_t)k->supersteps,
        .n_tiles_used = (uint32_t)tiles_in_use(t), .mac = conv_shape_mac(f->shape),
        .padded_mac = padded_mac(&f->best_candidate, t), .exchanged_bytes = k->received_bytes * tiles_in_use(t),
        .temp_bytes_per_tile = k->temp_bytes, .code_bytes_per_tile = code_bytes(f),
        .vertex = f->best_candidate.vertex,
        .partials = f->best_candidate.amp.partial_bytes == 2 ? PARTIALS_FP16 : PARTIALS_FP32,
        .rearrange_cycles = k->rearrange,
        .split = { .batch = (uint32_t)t->p_batch, .field = (uint32_t)t->p_field, .kernel = (uint32_t)t->p_kernel,
                   .conv_groups = (uint32_t)t->p_groups, .in_chans = (uint32_t)t->p_in,
                   .out_chans = (uint32_t)t->p_out, .serial_in = (uint32_t)t->serial_in,
                   .serial_out = (uint32_t)t->serial_out, .in_grain = (uint32_t)f->best_candidate.in_grain,
                   .out_grain = (uint32_t)f->best_candidate.out_grain },
    };
}

static struct search search_for(const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    return (struct search){ .chip = chip, .opt = opt, .shape = s, .best_cycles = UINT64_MAX,
                            .n_tiles = opt->n_tiles ? opt->n_tiles : chip->n_tiles,
                            .bound_bytes = max_u64(1, (uint64_t)(opt->available_memory * (double)chip->tile_memory_bytes)) };
}

void conv_plan_search(struct op_plan *out, const struct conv_shape *s, const struct chip *chip,
                      const struct op_plan_options *opt)
{
    struct search f = search_for(s, chip, opt);
    struct candidates list;
    list_candidates(&list, s, chip, opt);
    for (;;) {
        for (size_t i = 0; i < list.n; i++)
            search_candidate(&f, &list.items[i]);
        if (f.best_cycles != UINT64_MAX)
            break;
        f.bound_bytes = f.bound_bytes > chip->tile_memory_bytes ? UINT64_MAX : 2 * f.bound_bytes;
    }
    fill_plan(out, &f);
}

/* ---- fully connected layers in training ------------------------------------------------------------ */

/* The joint plan turns the matmul round: the weights are the convolution's input and stay, split over columns and
 * inner dimension; the activations are loaded into the AMP as its weights. With columns as field, one split serves
 * all passes: backward swaps field and input channels, the weight gradient input and output channels. */
static struct conv_shape joint_shape(uint32_t groups, uint32_t field, uint32_t in, uint32_t out, enum data_type type,
                                     enum op_pass pass)
{
    struct conv_shape s = matmul_conv_shape(groups, field, in, out, type, PASS_FORWARD);
    s.pass = pass;
    return s;
}

/* One pass with its split given; false when it is over the memory bound. */
static bool joint_pass(struct op_plan *out, const struct conv_shape *s, uint64_t p_field, uint64_t p_in, uint64_t p_out,
                       uint64_t p_groups, const struct chip *chip, const struct op_plan_options *opt)
{
    struct search f = search_for(s, chip, opt);
    struct candidates list = { .n = 0 };
    struct amp amp = amp_for(chip, (enum data_type)s->type, opt->partials);
    add_amp(&list, s, 1, chip, amp, amp.in_grain, max_u64(amp.units, amp.in_grain));
    const struct candidate *c = &list.items[0];
    struct share t = { .p_groups = p_groups, .p_batch = 1, .p_field = p_field, .p_kernel = 1, .p_in = p_in, .p_out = p_out,
                       .serial_in = 1, .serial_out = 1, .groups = ceil_div(s->groups, p_groups), .batch = 1, .width = 1,
                       .height = ceil_div(s->field_h, p_field), .kernel_h = 1,
                       .in = ceil_div(ceil_div(s->in_chans, c->in_grain), p_in),
                       .out = ceil_div(ceil_div(s->out_chans, c->out_grain), p_out) };
    price(&f, c, &t);
    if (f.best_cycles == UINT64_MAX)
        return false;
    fill_plan(out, &f);
    return true;
}

/* The weights lie in grains for the forward pass; backward reads them turned, which is copied on the tile. */
static void add_turned_weights(struct op_plan *p, uint64_t weight_bytes, const struct chip *chip, uint64_t n_tiles)
{
    uint64_t cycles = regroup_cycles(chip, ceil_div(weight_bytes, n_tiles));
    p->compute_cycles += cycles;
    p->rearrange_cycles += cycles;
    p->sync_cycles += superstep_cycles(chip);
    p->n_supersteps++;
}

static uint64_t plans_cycles(const struct op_plan *p)
{
    uint64_t sum = 0;
    for (int pass = 0; pass < N_OP_PASSES; pass++)
        sum += op_plan_cycles(&p[pass]);
    return sum;
}

static bool joint_plans(struct op_plan out[N_OP_PASSES], const struct conv_shape s[N_OP_PASSES], uint64_t p_groups,
                        uint64_t p_columns, uint64_t p_inner, const struct chip *chip, const struct op_plan_options *opt)
{
    return joint_pass(&out[PASS_FORWARD], &s[PASS_FORWARD], p_columns, p_inner, 1, p_groups, chip, opt)
        && joint_pass(&out[PASS_BACKWARD_DATA], &s[PASS_BACKWARD_DATA], p_inner, p_columns, 1, p_groups, chip, opt)
        && joint_pass(&out[PASS_BACKWARD_WEIGHT], &s[PASS_BACKWARD_WEIGHT], p_columns, 1, p_inner, p_groups, chip, opt);
}

void conv_plan_fully_connected(struct op_plan out[N_OP_PASSES], uint32_t groups, uint32_t rows, uint32_t inner,
                               uint32_t columns, enum data_type type, const struct chip *chip,
                               const struct op_plan_options *opt)
{
    const struct conv_shape apart[N_OP_PASSES] = {
        matmul_conv_shape(groups, rows, inner, columns, type, PASS_FORWARD),
        matmul_conv_shape(groups, rows, columns, inner, type, PASS_BACKWARD_DATA),
        matmul_conv_shape(groups, inner, rows, columns, type, PASS_BACKWARD_WEIGHT),
    };
    const struct conv_shape joint[N_OP_PASSES] = {
        joint_shape(groups, columns, inner, rows, type, PASS_FORWARD),
        joint_shape(groups, inner, columns, rows, type, PASS_BACKWARD_DATA),
        joint_shape(groups, columns, rows, inner, type, PASS_BACKWARD_WEIGHT),
    };
    for (int pass = 0; pass < N_OP_PASSES; pass++)
        conv_plan_search(&out[pass], &apart[pass], chip, opt);
    uint64_t n_tiles = opt->n_tiles ? opt->n_tiles : chip->n_tiles, p_groups = min_u64(groups, n_tiles);
    uint64_t grain = amp_for(chip, type, opt->partials).in_grain, n_grains = ceil_div(inner, grain);
    uint64_t weight_bytes = (uint64_t)groups * inner * columns * data_type_bytes(type);
    uint32_t splits[MAX_SPLITS];
    size_t n = distinct_splits(splits, n_grains, n_tiles / p_groups);
    for (size_t i = 0; i < n; i++) {
        struct op_plan plans[N_OP_PASSES];
        uint64_t columns_part, p_columns = fewest_parts(columns, n_tiles / p_groups / splits[i], &columns_part);
        if (!joint_plans(plans, joint, p_groups, p_columns, splits[i], chip, opt))
            continue;
        add_turned_weights(&plans[PASS_BACKWARD_DATA], weight_bytes, chip, n_tiles);
        if (plans_cycles(plans) < plans_cycles(out))
            memcpy(out, plans, sizeof plans);
    }
}
