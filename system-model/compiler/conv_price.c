/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_price.c - the cost of one split of a convolution on the fullest tile.
 *
 * One superstep computes a tile's share: its inputs and weights arrive by exchange, and the vertex runs over its
 * channels, kernel elements and field. Partial sums from a split of the reduction are exchanged and added, in as many
 * stages as their number asks for; serial splits repeat all of this. Times are added, as supersteps are (bulk
 * synchronous):
 *     cycles = steps * (exchange in + compute + reduce) + once (changes of layout, cast)   + sync a superstep
 * The form and the terms are those of the convolution planner of PopLibs (poplin at 7eac0f2). That planner leaves out
 * the sync of each superstep, exchange transit, and the halo's share of the exchange, which the chip pays: they are
 * added here. An exchange in which nothing moves costs nothing here; the planner charges for some of these, such as the
 * exchange of partial sums if a sum has one part. Results stay where they were computed, spread over the tiles as
 * evenly as the split allows (`imbalance` of struct op_plan).
 *
 * The planner's estimate of copies by single elements may differ from what the chip takes (planner_copies on the chip's
 * sheet, with the release that its measurements were made with). Splits are then chosen by the estimate, but the plan
 * pays the regression over measured copies. With channels that are not in fours, more tiles may make such a plan slower.
 * A strided 1x1 kernel reads only some elements of the input. These are laid out before the loop, like kernel elements
 * that become channels.
 * Limits, which are also those of PopLibs' planner: the results of a serial loop are moved as partial sums and cast at
 * its end, and the temporary memory does not count them. docs/maintainers/unexplained.md says which measured convolutions no price
 * here explains, and what was tried.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/conv.h"

/* Sums of the AMP are set to zero before the first input channels are added. PopLibs' estimate includes that only for
 * kernels wider than one element, in floats whatever the sums' type. Measured 1x1 kernels pay it as well: on GC2
 * (arXiv:1912.03413 Table 5.5) a position of 16 float sums takes 8.5 cycles for each grain of input channels, plus,
 * however many grains there are, 8 cycles if the sums are reduced and 16 if they are cast, of which the cast is 8. */
static uint64_t zero_sums_cycles(const struct search *f, const struct conv_candidate *c, const struct share *t)
{
    return zero_cycles(f->vertices, f->chip, t->groups * t->out * c->out_grain * share_positions(t), c->amp.partial_bytes);
}

struct rows { uint64_t n, width; };

/* The rows of a tile's positions: rows of the field, image after image. A field of one column is a single dimension, and so one row. With a kernel
 * of one column, the same row of all images is one row (flattenDims of poplin); with a kernel of one element, all positions form one row. */
static struct rows tile_rows(const struct conv_candidate *c, const struct share *t)
{
    if (c->flat)
        return (struct rows){ 1, share_positions(t) };
    if (c->s.field_w == 1)
        return (struct rows){ t->batch, t->height };
    if (c->s.kernel_w == 1)
        return (struct rows){ t->height, t->batch * t->width };
    return (struct rows){ t->batch * t->height, t->width };
}

struct conv_work conv_work_of(const struct conv_candidate *c, const struct share *t)
{
    struct rows rows = c->vertex == VERTEX_SLIC ? (struct rows){ t->batch * t->height, t->width } : tile_rows(c, t);
    struct conv_work w = { .vertex = c->vertex, .groups = t->groups, .in = t->in, .out = t->out * c->passes, .rows = rows.n, .width = rows.width,
                           .kernel_h = ceil_div(t->kernel_h, c->filter_height), .kernel_w = c->s.kernel_w, .filter_height = c->filter_height,
                           .in_chans = t->in * c->in_grain, .every_other = c->s.in_stride_w == 2 };
    if (c->vertex == VERTEX_SLIC) {
        w.kernel_w = ceil_div(c->s.kernel_w, c->in_grain);
        w.in_chans = c->group_chans;
    } else if (c->vertex == VERTEX_OUTER_PRODUCT) {
        w.out = t->out * c->out_grain;
    }
    return w;
}

/* The AMP is a parameter because its memory conflicts depend on the split. */
static uint64_t vertex_cycles(const struct search *f, const struct conv_candidate *c, const struct amp *amp, const struct share *t)
{
    const struct conv_work w = conv_work_of(c, t);
    bool is_amp = c->vertex == VERTEX_AMP_1X1 || c->vertex == VERTEX_AMP_NX1;
    return conv_vertex_cycles(f->vertices, f->chip, amp, &w) + (is_amp ? zero_sums_cycles(f, c, t) : 0);
}

/* Cycles to receive bytes at the measured share of the nominal rate, and one cycle of skew between columns if anything moves. */
static uint64_t exchange_cycles(const struct chip *chip, uint64_t n_bytes, uint64_t n_shared_bytes)
{
    if (n_bytes + n_shared_bytes == 0)
        return 0;
    double bytes = (double)n_bytes + (double)n_shared_bytes / (double)chip->tiles_per_exchange_bus;
    return (uint64_t)(bytes / chip_exchange_bytes_per_cycle(chip)) + 1;
}

/* An operand that another operation left elsewhere and that goes to more parts than these is first copied to where the plan wants it: that takes longer, and less
 * code of exchanges. A weight gradient copies both of its operands (PopLibs sdk 2.1.0 to 2.5.1 lib/poplin/Convolution.cpp, convolutionImpl:
 * inViewMaxBroadcastDests, inputRearrangementIsExpensive). Serial steps slice a copy in any case. The planner counts none of these copies. */
enum { MOST_VIEW_PARTS = 7 };

static bool copies_in(const struct conv_candidate *c, const struct share *t)
{
    return c->s.in_elsewhere && !c->gathered && t->serial_in == 1 && (c->s.pass == PASS_BACKWARD_WEIGHT || t->p_out * t->p_kernel > MOST_VIEW_PARTS);
}

static bool copies_weights(const struct conv_candidate *c, const struct share *t)
{
    return c->s.weights_elsewhere && share_steps(t) == 1 && (c->s.pass == PASS_BACKWARD_WEIGHT || t->p_batch * t->p_field > MOST_VIEW_PARTS);
}

struct operand_bytes { uint64_t in, in_received, weights, weights_received, partials, outputs; };

static uint64_t reach(uint64_t positions, uint64_t stride, uint64_t kernel, uint64_t dilation, uint64_t limit)
{
    return min_u64((positions - 1) * stride + (kernel - 1) * dilation + 1, max_u64(limit, 1));
}

/* The bytes of an operand that one of p tiles has to receive, if they hold it in equal parts: all but one part in p (poplin's planner). */
static uint64_t missing_part(uint64_t n_bytes, uint64_t p)
{
    return n_bytes - n_bytes / p;
}

static struct operand_bytes share_operand_bytes(const struct conv_candidate *c, const struct share *t)
{
    const struct conv_shape *s = &c->s;
    uint64_t es = c->amp.element_bytes, in_chans = t->groups * t->in * c->in_grain;
    uint64_t own = share_positions(t) * (c->flat ? 1 : (uint64_t)s->in_stride_h * s->in_stride_w), field = own;
    if (!c->flat)
        field = t->batch * reach(t->height, s->in_stride_h, t->kernel_h, s->dilation, s->in_h)
              * reach(t->width, s->in_stride_w, s->kernel_w, s->dilation, s->in_w);
    struct operand_bytes b = { .in = field * in_chans * es };
    uint64_t raw = s->in_expand > 1 ? ceil_div(t->height, s->in_expand) * in_chans * es : b.in;
    uint64_t halo = (max_u64(field, own) - own) * in_chans * es;
    if (copies_in(c, t))
        b.in_received = min_u64(b.in, missing_part(b.in, t->p_out) + halo);
    else
        b.in_received = s->in_elsewhere || c->gathered ? raw : min_u64(raw, missing_part(raw, t->p_out) + halo);
    b.weights = in_chans * t->out * c->out_grain * t->kernel_h * s->kernel_w * es;
    b.weights_received = s->weights_elsewhere && !copies_weights(c, t) ? b.weights : missing_part(b.weights, t->p_batch * t->p_field);
    uint64_t outputs = t->groups * share_positions(t) * t->out * c->out_grain;
    b.partials = outputs * c->amp.partial_bytes;
    b.outputs = outputs * s->out_stride_h * s->out_stride_w;
    return b;
}

/* Adds the partials of p_in x p_kernel tiles, if there are several, in one to three stages of equal depth. */
static void add_sum_stages(const struct search *f, struct conv_cost *k, const struct conv_candidate *c, uint64_t n,
                          uint64_t depth)
{
    uint64_t stages = depth < 16 ? 1 : depth < 125 ? 2 : 3, ps = c->amp.partial_bytes;
    while (depth > 1) {
        uint64_t fan = depth;
        if (stages > 1)                 /* the depth is at least 16 */
            for (fan = 4; stages == 2 ? fan * fan < depth : fan * fan * fan < depth; fan++) {}
        uint64_t mine = ceil_div(n, fan), bytes = mine * (fan - 1) * ps;
        k->compute += reduce_cycles(f->vertices, f->chip, mine, fan, ps);
        k->exchange += exchange_cycles(f->chip, bytes, 0) + f->chip->exchange_transit_cycles;
        k->received_bytes += bytes;
        k->supersteps++;
        n = mine;
        depth = ceil_div(depth, fan);
        stages--;
    }
}

/* Whole-tensor changes of layout before the loop are spread over all tiles. Tensors of 16 channels or more are stored in groups of 16, so that only
 * the last group may have a number of channels that four does not divide: it is padded with zeros. */
static void add_rearrangement(const struct search *f, struct conv_cost *k, uint64_t total_bytes, uint64_t element_bytes,
                              uint64_t chans, uint64_t *worst_bytes)
{
    enum { LAYOUT_GROUP = 16 };
    uint64_t filled = chans >= LAYOUT_GROUP ? ceil_div(chans, 4) * 4 : chans, bytes = ceil_div(total_bytes / chans * filled, f->n_tiles);
    uint64_t compute = rearrange_cycles(f->vertices, f->chip, bytes, element_bytes, filled % 4 == 0);
    uint64_t exchange = exchange_cycles(f->chip, bytes, 0) + f->chip->exchange_transit_cycles;
    k->compute += compute;
    k->exchange += exchange;
    k->rearrange += compute + exchange;
    k->received_bytes += bytes;
    k->supersteps++;
    *worst_bytes = max_u64(*worst_bytes, bytes);
}

static uint64_t whole_in_bytes(const struct conv_shape *s, uint64_t es)
{
    return (uint64_t)s->groups * s->batch * s->in_h * s->in_w * s->in_chans * es;
}

static uint64_t whole_weight_bytes(const struct conv_shape *s, uint64_t es)
{
    return (uint64_t)s->groups * s->kernel_h * s->kernel_w * s->in_chans * s->out_chans * es;
}

static void add_layout_changes(const struct search *f, struct conv_cost *k, uint64_t es, uint64_t *worst)
{
    const struct conv_shape *s = f->shape;
    if (s->rearrange_in)
        add_rearrangement(f, k, whole_in_bytes(s, es), es, s->in_chans, worst);
    *worst /= s->in_expand;             /* an element that appears in several rows is stored once before the exchange */
    if (s->rearrange_weights)
        add_rearrangement(f, k, whole_weight_bytes(s, es), es, s->out_chans, worst);
    if (s->rearrange_out)
        add_rearrangement(f, k, shape_positions(s) * s->groups * s->out_chans * es, es, s->out_chans, worst);
}

/* The exchange of both copies; an input that each step receives is copied in each. What is turned in addition moves twice: into matrices, whose change of place
 * this is, and from there to its new place. An element that appears in several rows is one until then. */
static struct conv_cost copies_cost(const struct search *f, const struct conv_candidate *c, const struct share *t)
{
    const struct conv_shape *s = f->shape;
    uint64_t es = c->amp.element_bytes, in = copies_in(c, t) ? ceil_div(whole_in_bytes(s, es), s->in_expand * f->n_tiles) : 0;
    uint64_t bytes = in * (t->in_each_step ? t->serial_out : 1) + (copies_weights(c, t) ? ceil_div(whole_weight_bytes(s, es), f->n_tiles) : 0);
    if (bytes == 0)
        return (struct conv_cost){ 0 };
    uint64_t exchange = exchange_cycles(f->chip, bytes, 0) + f->chip->exchange_transit_cycles;
    return (struct conv_cost){ .exchange = exchange, .rearrange = exchange, .received_bytes = bytes, .supersteps = 1, .moves = 1 };
}

/* True if the planner prices a copy on the tile as a copy in fours. Kernel elements that become channels fill grains, which are in fours, so the
 * planner then assumes fours whatever channels the input has. */
bool conv_plans_by_fours(const struct search *f, const struct conv_candidate *c)
{
    return f->shape->in_chans % 4 == 0 || (c->joined && f->chip->planner_copies == COPIES_ESTIMATED);
}

/* True if each tile copies its input after the exchange: channels that do not fill a grain are padded, and kernel elements become channels. Each
 * of the tiles that share an input makes this copy. */
bool conv_pads_tiles(const struct search *f, const struct conv_candidate *c)
{
    uint64_t chans = c->vertex == VERTEX_SLIC ? c->s.in_chans : f->shape->in_chans;
    return (c->joined && !c->gathered) || (f->shape->pass == PASS_FORWARD && chans < c->in_grain);
}

static void add_tile_padding(struct conv_cost *k, const struct conv_candidate *c, const struct search *f,
                             const struct operand_bytes *b)
{
    if (!conv_pads_tiles(f, c))
        return;
    k->copied_bytes = b->in;
    k->planned_copies = rearrange_cycles(f->vertices, f->chip, b->in, c->amp.element_bytes, conv_plans_by_fours(f, c));
    k->compute += k->planned_copies;
    k->rearrange += k->planned_copies;
    k->supersteps++;
}

static bool pads_kernel(const struct share *t, const struct conv_candidate *c)
{
    return t->kernel_h % c->filter_height != 0 || c->s.kernel_h % c->filter_height != 0;
}

/* If kernel rows of a tile do not fill the AMP's filter height, the tile copies its weights in order to add rows of zeros. It also copies its input, to
 * add rows of zeros where the higher kernel reaches, unless the input is copied already. */
static void add_kernel_padding(const struct search *f, struct conv_cost *k, const struct conv_candidate *c, const struct share *t, const struct operand_bytes *b)
{
    if (!pads_kernel(t, c))
        return;
    bool alone = k->copied_bytes == 0;
    uint64_t cycles = copy_pieces_cycles(f->vertices, b->weights + (alone ? b->in : 0));
    k->compute += cycles;
    k->rearrange += cycles;
    k->supersteps += alone;             /* otherwise the weights are copied in the superstep that copies the input */
}

/* The bytes of a tile's even share of the whole input, laid out by kernel elements. If the kernel keeps its rows, these are the rows of the input,
 * of which a stride skips some. */
static uint64_t gathered_bytes(const struct search *f, const struct conv_candidate *c)
{
    const struct conv_shape *s = &c->s;
    uint64_t rows = reach(s->field_h, s->in_stride_h, s->kernel_h, s->dilation, s->in_h);
    return c->gathered ? ceil_div(s->batch * rows * s->in_w * s->groups * s->in_chans * c->amp.element_bytes, f->n_tiles) : 0;
}

/* The input is laid out once, before all steps: grains at the data path's width, each sent to its new place (poplin's
 * transforms at the level of the chip). Tiles then receive what they need from there. */
struct conv_cost conv_gathering(const struct search *f, const struct conv_candidate *c)
{
    uint64_t bytes = gathered_bytes(f, c);
    if (bytes == 0)
        return (struct conv_cost){ 0 };
    struct conv_cost k = { .compute = regroup_cycles(f->vertices, f->chip, bytes), .supersteps = 1, .received_bytes = bytes,
                      .exchange = exchange_cycles(f->chip, bytes, 0) + f->chip->exchange_transit_cycles };
    k.rearrange = k.compute + k.exchange;
    return k;
}

/* Adds what a step of a serial loop takes besides its work: its operands are sliced before it, its result is put in its place or added to a sum after it,
 * and the loop's counter is increased. */
static void add_serial_steps(const struct search *f, struct conv_cost *k, const struct share *t, const struct conv_candidate *c,
                             const struct operand_bytes *b)
{
    uint64_t es = c->amp.element_bytes, weights = ceil_div(b->weights, t->p_batch * t->p_field);
    uint64_t outputs = ceil_div(b->outputs, t->p_in * t->p_kernel);
    k->compute += dynamic_slice_cycles(f->vertices, f->chip, ceil_div(weights, es));
    if (t->serial_in > 1)
        k->compute += dynamic_slice_cycles(f->vertices, f->chip, ceil_div(ceil_div(b->in, t->p_out), es))
                    + add_in_place_cycles(f->chip, outputs, c->amp.partial_bytes);
    else
        k->compute += dynamic_slice_cycles(f->vertices, f->chip, ceil_div(outputs * c->amp.partial_bytes, es));
    k->compute += LOOP_COUNTER_SUPERSTEPS * add_in_place_cycles(f->chip, 1, COUNTER_BYTES);
    k->supersteps += 2 + LOOP_COUNTER_SUPERSTEPS;
}

static void multiply_cost(struct conv_cost *k, uint64_t n)
{
    k->compute *= n;
    k->exchange *= n;
    k->supersteps *= n;
    k->rearrange *= n;
    k->received_bytes *= n;
}

/* The cost of one step. Output-serial steps all have the same input: if it is exchanged once before the loop, split_cost() adds that exchange. */
static struct conv_cost step_cost(const struct search *f, const struct conv_candidate *c, const struct share *t,
                             const struct operand_bytes *b, uint64_t compute)
{
    struct conv_cost k = { .compute = compute, .supersteps = 1 };
    bool paired = t->p_out % f->chip->tiles_per_exchange_bus == 0;
    uint64_t in = has_input_before(t) ? 0 : b->in_received;
    k.exchange = exchange_cycles(f->chip, b->weights_received + (paired ? 0 : in), paired ? in : 0);
    k.exchange += k.exchange ? f->chip->exchange_transit_cycles : 0;
    k.received_bytes = b->weights_received + in;
    add_sum_stages(f, &k, c, b->outputs, t->p_in * t->p_kernel);
    if (share_steps(t) > 1)
        add_serial_steps(f, &k, t, c, b);
    return k;
}

/* Bytes that a tile copies in order to pad them with zeros. Original and copy exist at the same time. */
static uint64_t padded_bytes(const struct search *f, const struct share *t, const struct conv_candidate *c, const struct operand_bytes *b)
{
    bool in = conv_pads_tiles(f, c), kernel = pads_kernel(t, c);
    return (in || kernel ? b->in : 0) + (kernel ? b->weights : 0);
}

enum { SLIC_BUFFER_BYTES = 200 };       /* a buffer next to the sums of one group: SLIC's vertex writes to the two in turn (poplin ConvModel.cpp:653-662) */

/* The temporary bytes of a plan, as poplin's planner estimates and bounds them. Sums that a stage of additions receives
 * are left out: the step's operands are freed by then. PopLibs' programs do not take more, either (benchmark_results.csv @f9273583):
 * bert_grouped_12x384x64x384 has 23.1 kB a tile on GC200 and 27.1 on GC2, as here, while half of the sums in addition would make 25.4 and 30.1. An
 * input that output-serial steps share is sent before the loop, and counts in addition to what a step reads. */
static uint64_t working_bytes(const struct search *f, const struct share *t, const struct conv_candidate *c, const struct operand_bytes *b)
{
    uint64_t partials = b->outputs * c->amp.partial_bytes, working = b->in + b->weights + partials + padded_bytes(f, t, c, b);
    if (c->vertex == VERTEX_SLIC)
        working += ceil_div(partials, t->groups) + SLIC_BUFFER_BYTES;
    if (t->serial_in > 1)
        working += ceil_div(partials, t->p_in * t->p_kernel);
    if (has_input_before(t) && f->chip->planner_input == INPUT_TWICE)
        working += b->in;
    if (share_steps(t) > 1 && conv_orders_weights(f->shape))         /* the weights of all steps, in their order */
        working += share_steps(t) * ceil_div(b->weights, t->p_batch * t->p_field);
    return working;
}

/* The bytes of operands that a tile multiplies where they lie: they were laid out for this plan, no other tile needs them, and no step slices them. Poplar
 * moves only what is not there, but the planner counts them as temporary. */
static uint64_t in_place_bytes(const struct search *f, const struct share *t, const struct operand_bytes *b)
{
    const struct conv_shape *s = f->shape;
    bool in = b->in_received == 0 && !s->rearrange_in && t->p_kernel == 1, weights = b->weights_received == 0 && !s->rearrange_weights;
    return share_steps(t) > 1 ? 0 : (in ? b->in : 0) + (weights ? b->weights : 0);
}

static void count_temporaries(struct conv_cost *k, const struct search *f, const struct share *t, const struct conv_candidate *c, const struct operand_bytes *b)
{
    uint64_t working = working_bytes(f, t, c, b), laying_out = 2 * max_u64(f->rearranged_bytes, gathered_bytes(f, c));
    k->temp_bytes = max_u64(laying_out, working);
    k->held_bytes = max_u64(laying_out, working - in_place_bytes(f, t, b));
}

static uint64_t cost_cycles(const struct search *f, const struct conv_cost *k)
{
    return k->compute + k->exchange + k->supersteps * superstep_cycles(f->chip);
}

/* A reduction writes the output's type. Without one, or if partial sums stay in a loop, they are cast at the end. */
static void add_cast(const struct search *f, struct conv_cost *k, const struct conv_candidate *c, const struct share *t, uint64_t outputs)
{
    uint64_t depth = t->p_in * t->p_kernel;
    if (c->amp.partial_bytes <= c->amp.result_bytes || (depth > 1 && share_steps(t) == 1))
        return;
    k->compute += cast_cycles(f->vertices, f->chip, ceil_div(outputs, depth) * t->serial_out, c->amp.partial_bytes, c->amp.result_bytes);
    k->supersteps++;
}

/* Before the loop, the weights are put in the order of the steps (rearrangeBeforeSlice of poplin): all of them move
 * once. Without the pass of fully connected layers they stay (poplin ConvModel.cpp, addRearrangeBeforeSliceEstimate). */
static struct conv_cost weights_by_step(const struct search *f, uint64_t element_bytes)
{
    const struct conv_shape *s = f->shape;
    if (!conv_orders_weights(s))
        return (struct conv_cost){ 0 };
    uint64_t weights = (uint64_t)s->groups * s->kernel_h * s->kernel_w * s->in_chans * s->out_chans;
    uint64_t bytes = ceil_div(weights * element_bytes, f->n_tiles);
    uint64_t cycles = exchange_cycles(f->chip, bytes, 0) + f->chip->exchange_transit_cycles;
    return (struct conv_cost){ .exchange = cycles, .rearrange = cycles, .received_bytes = bytes, .supersteps = 1 };
}

static void add_cost(struct conv_cost *k, const struct conv_cost *more)
{
    k->compute += more->compute;
    k->exchange += more->exchange;
    k->rearrange += more->rearrange;
    k->received_bytes += more->received_bytes;
    k->supersteps += more->supersteps;
    k->moves += more->moves;
}

static struct conv_cost split_cost(const struct search *f, const struct conv_candidate *c, const struct share *t, const struct operand_bytes *b,
                              uint64_t compute)
{
    uint64_t steps = share_steps(t);
    struct conv_cost k = step_cost(f, c, t, b, compute), gathering = conv_gathering(f, c), copies = copies_cost(f, c, t);
    add_tile_padding(&k, c, f, b);
    add_kernel_padding(f, &k, c, t, b);
    multiply_cost(&k, steps);
    add_cost(&k, &f->layout);
    add_cost(&k, &gathering);
    add_cost(&k, &copies);
    if (steps > 1)
        add_cost(&k, &f->by_step);
    if (has_input_before(t)) {
        bool paired = t->p_out % f->chip->tiles_per_exchange_bus == 0;
        k.exchange += exchange_cycles(f->chip, paired ? 0 : b->in_received, paired ? b->in_received : 0);
        k.received_bytes += b->in_received;
        k.supersteps++;
    }
    add_cast(f, &k, c, t, b->outputs);
    return k;
}

/* The order of a search that tries one split after the other. The first of equal plans in
 * this order is kept, whichever is priced first. */
static bool comes_first(const struct conv_candidate *c, const struct share *t, const struct conv_candidate *d, const struct share *u)
{
    const uint64_t a[] = { c->order, 4 * max_u64(t->serial_out, t->serial_in) + 2 * (t->serial_in > 1) + t->in_each_step, t->p_groups, t->p_out, t->p_in,
                           t->p_kernel, t->p_batch, u->height };
    const uint64_t b[] = { d->order, 4 * max_u64(u->serial_out, u->serial_in) + 2 * (u->serial_in > 1) + u->in_each_step, u->p_groups, u->p_out, u->p_in,
                           u->p_kernel, u->p_batch, t->height };
    size_t i = 0;
    while (i + 1 < sizeof a / sizeof *a && a[i] == b[i])
        i++;
    return a[i] < b[i];
}

/* Interleaved memory serves the two loads of an inner loop in one cycle; beyond it they are served one after the
 * other. A tile's bytes are taken to be spread evenly over both. Measured on GC2 (arXiv:1912.03413 Table 5.5): 0.83 to
 * 0.88 of the AMP's rate if operands and temporaries take less than its 128 KiB, 0.71 if they take 170 and more. */
struct amp conv_crowded_amp(const struct search *f, const struct conv_candidate *c, uint64_t temp)
{
    struct amp crowded = c->amp;
    double all = (double)(f->operand_bytes + temp), beyond = all - (double)f->chip->interleaved_bytes;
    if (beyond > 0)
        crowded.core_cycles += beyond / all * c->amp.conflict_cycles;
    return crowded;
}

static uint64_t crowded_cycles(const struct search *f, const struct conv_candidate *c, const struct share *t, uint64_t temp, uint64_t cycles)
{
    struct amp crowded = conv_crowded_amp(f, c, temp);
    return crowded.core_cycles > c->amp.core_cycles ? vertex_cycles(f, c, &crowded, t) : cycles;
}

static void keep_if_best(struct search *f, const struct conv_candidate *c, const struct share *t, const struct conv_cost *k)
{
    uint64_t cycles = cost_cycles(f, k);
    if (cycles > f->best_cycles || (cycles == f->best_cycles && f->best_candidate && !comes_first(c, t, f->best_candidate, &f->best)))
        return;
    f->best_cycles = cycles;
    f->best_candidate = c;
    f->best = *t;
    f->best_cost = *k;
}

bool conv_price(struct search *f, const struct conv_candidate *c, const struct share *t)
{
    uint64_t compute = vertex_cycles(f, c, &c->amp, t);
    f->effort.n_priced++;
    if (share_steps(t) * compute > f->best_cycles)
        return false;
    struct operand_bytes b = share_operand_bytes(c, t);
    struct conv_cost temporaries = {0};
    count_temporaries(&temporaries, f, t, c, &b);
    if (temporaries.temp_bytes > f->bound_bytes) {
        f->least_over_bytes = min_u64(f->least_over_bytes, temporaries.temp_bytes);
        return false;
    }
    struct conv_cost k = split_cost(f, c, t, &b, crowded_cycles(f, c, t, temporaries.temp_bytes, compute));
    k.temp_bytes = temporaries.temp_bytes;
    k.held_bytes = temporaries.held_bytes;
    k.sum_bytes = b.partials;
    keep_if_best(f, c, t, &k);
    return true;
}

static uint64_t all_operand_bytes(const struct conv_shape *s, uint64_t element_bytes)
{
    uint64_t in = (uint64_t)s->batch * s->in_h * s->in_w * s->in_chans, weights = (uint64_t)s->kernel_h * s->kernel_w * s->in_chans * s->out_chans;
    return (in + weights + shape_positions(s) * s->out_chans * s->out_stride_h * s->out_stride_w) * s->groups * element_bytes;
}

uint64_t conv_bound_bytes(const struct chip *chip, const struct op_plan_options *opt)
{
    return max_u64(1, (uint64_t)(opt->available_memory * (double)chip->tile_memory_bytes));
}

struct search conv_search_start(const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct search f = { .vertices = &vertex_table, .chip = chip, .opt = opt, .shape = s, .best_cycles = UINT64_MAX, .least_over_bytes = UINT64_MAX,
                        .n_tiles = opt->n_tiles ? opt->n_tiles : chip->n_tiles,
                        .bound_bytes = conv_bound_bytes(chip, opt) };
    uint64_t element_bytes = data_type_bytes((enum data_type)s->type);
    add_layout_changes(&f, &f.layout, element_bytes, &f.rearranged_bytes);
    f.by_step = weights_by_step(&f, element_bytes);
    f.operand_bytes = ceil_div(all_operand_bytes(s, element_bytes), f.n_tiles);
    return f;
}
