/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_fill.c - the plan of the split that was chosen: what the chip pays beyond the planner's estimate, code, and the
 * layout of the results.
 *
 * The worklists of AMP and HMAC vertices hold, for each kernel element, the positions where it meets the input
 * (poplin's getOutputRangeForKernelRange; kernel rows that share a pass of the AMP go together). The estimate by which
 * poplin's planner chooses splits counts all positions, and so does conv_price; the skipped ones are taken off the
 * plan that was chosen. A 3x3 kernel over 7 x 7 positions skips 18 in 100, over 56 x 56 it skips 2.
 * All tiles wait for the tile that skips least. A tile inside the field meets no padding, and a tile that has only the
 * middle row of a kernel meets none above and below. Padding lies before the input, and beyond it as far as the kernel
 * reaches.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/conv.h"

static uint64_t padded_mac(const struct conv_candidate *c, const struct share *t)
{
    uint64_t kernel = c->vertex == VERTEX_AMP_NX1
        ? ceil_div(t->kernel_h, c->filter_height) * c->filter_height : t->kernel_h;
    return tiles_in_use(t) * share_steps(t) * t->groups * share_positions(t) * kernel * c->s.kernel_w
         * t->in * c->in_grain * t->out * c->out_grain;
}

/* The AMP's vertices write their sums to interleaved memory, and so does SLIC. PopLibs' programs (benchmark_results.csv @f9273583) show this: on
 * the fullest tile of a small program, memory ends 24 bytes after the base of the interleaved region plus these sums, which are as large as
 * planned here (gemm_1000x64x20000: 55328 bytes; bert_kqv_384x768x2304: 14784). */
static uint64_t interleaved_bytes(const struct search *f)
{
    enum vertex_kind v = f->best_candidate->vertex;
    return v == VERTEX_AMP_1X1 || v == VERTEX_AMP_NX1 || v == VERTEX_SLIC ? f->best_cost.sum_bytes : 0;
}

/* The planner may have underestimated copies by single elements; the chip pays what was measured. */
static void pay_copies(const struct search *f, struct conv_cost *k)
{
    if (k->copied_bytes == 0)
        return;
    uint64_t paid = rearrange_cycles(f->vertices, f->chip, k->copied_bytes, f->best_candidate->amp.element_bytes, f->shape->in_chans % 4 == 0);
    uint64_t steps = share_steps(&f->best), more = max_u64(paid, k->planned_copies) - k->planned_copies;
    k->compute += steps * more;
    k->rearrange += steps * more;
}

/* Subtracts the cycles of positions where a kernel element meets only padding: vertices skip them, but the planner's estimate counts them. */
static void leave_out_padding(const struct search *f, struct conv_cost *k)
{
    struct conv_candidate crowded = *f->best_candidate;
    crowded.amp = conv_crowded_amp(f, f->best_candidate, k->temp_bytes);
    k->compute -= share_steps(&f->best) * conv_padding_cycles(f, &crowded, &f->best);
}

/* The outputs of the fullest tile over an even share. Tiles that share a sum divide its outputs. */
static double output_imbalance(const struct search *f)
{
    const struct share *t = &f->best;
    uint64_t strides = (uint64_t)f->best_candidate->s.out_stride_h * f->best_candidate->s.out_stride_w, parts = t->p_in * t->p_kernel;
    double fullest = (double)(t->serial_out * t->groups * share_positions(t) * t->out * f->best_candidate->out_grain * strides) / (double)parts;
    double all = (double)f->shape->groups * (double)shape_positions(f->shape) * (double)f->shape->out_chans
               * (double)(f->shape->out_stride_h * f->shape->out_stride_w);
    double imbalance = fullest * (double)f->n_tiles / all;
    return imbalance > 1 ? imbalance : 1;
}

/* The results' groups of channels on the fullest tile, at least one. */
static uint32_t output_groups(const struct search *f)
{
    const struct share *t = &f->best;
    uint64_t channels = t->serial_out * t->groups * t->out * f->best_candidate->out_grain / (t->p_in * t->p_kernel);
    return (uint32_t)max_u64(1, ceil_div(channels, PIECE_CHANNELS));
}

void conv_fill_plan(struct op_plan *out, struct search *f)
{
    const struct share *t = &f->best;
    struct conv_cost *k = &f->best_cost;
    pay_copies(f, k);
    leave_out_padding(f, k);
    *out = (struct op_plan){
        .compute_cycles = k->compute, .exchange_cycles = k->exchange,
        .sync_cycles = k->supersteps * superstep_cycles(f->chip), .n_supersteps = (uint32_t)k->supersteps,
        .n_tiles_used = (uint32_t)tiles_in_use(t), .mac = conv_shape_mac(f->shape),
        .padded_mac = padded_mac(f->best_candidate, t), .exchanged_bytes = k->received_bytes * tiles_in_use(t),
        .temp_bytes_per_tile = k->held_bytes, .interleaved_bytes = interleaved_bytes(f), .code = conv_code(f),
        .vertex = f->best_candidate->vertex,
        .partials = f->best_candidate->amp.partial_bytes == 2 ? PARTIALS_FP16 : PARTIALS_FP32,
        .rearrange_cycles = k->rearrange, .imbalance = output_imbalance(f), .groups = output_groups(f), .turned = f->shape->columns_are_field, .input_before = has_input_before(t),
        .weights_before = share_steps(t) > 1 && conv_orders_weights(f->shape),
        .split = { .batch = (uint32_t)t->p_batch, .field = (uint32_t)t->p_field, .kernel = (uint32_t)t->p_kernel,
                   .conv_groups = (uint32_t)t->p_groups, .in_chans = (uint32_t)t->p_in,
                   .out_chans = (uint32_t)t->p_out, .serial_in = (uint32_t)t->serial_in,
                   .serial_out = (uint32_t)t->serial_out, .in_grain = (uint32_t)f->best_candidate->in_grain,
                   .out_grain = (uint32_t)f->best_candidate->out_grain },
    };
}

/* One tile's part of an axis: n positions, and n_kernel kernel elements of which `together` share a pass. */
struct axis_part { uint64_t first, n, from_kernel, n_kernel, together; };

static uint64_t met_in_pass(const struct conv_axis *x, const struct axis_part *p, uint64_t pass)
{
    uint64_t from = p->from_kernel + pass * p->together;
    return conv_axis_met(x, p->first, p->n, from, min_u64(from + p->together, x->kernel) - 1);
}

static uint64_t n_passes(const struct axis_part *p) { return ceil_div(p->n_kernel, p->together); }

static uint64_t met(const struct conv_axis *x, const struct axis_part *p)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n_passes(p); i++)
        sum += met_in_pass(x, p, i);
    return sum;
}

/* The part with n positions and n_kernel kernel elements that reads most input; the first of equal ones. */
static struct axis_part busiest_part(const struct conv_axis *x, uint64_t n, uint64_t n_kernel, uint64_t together)
{
    struct axis_part best = { 0, n, 0, n_kernel, together };
    uint64_t most = 0;
    for (uint64_t first = 0; first < x->positions; first += n)
        for (uint64_t kernel = 0; kernel < x->kernel; kernel += n_kernel) {
            struct axis_part p = { first, min_u64(n, x->positions - first), kernel, min_u64(n_kernel, x->kernel - kernel), together };
            uint64_t sum = met(x, &p);
            best = sum > most ? p : best;
            most = max_u64(sum, most);
        }
    return best;
}

/* A field of one column is one row, whatever its width. Kernel elements that meet nothing take no cycles. */
static uint64_t rows_cycles(const struct search *f, const struct conv_candidate *c, const struct share *t, uint64_t height, uint64_t width)
{
    struct share s = *t;
    if (height == 0 || width == 0)
        return 0;
    s.height = height;
    s.width = width;
    const struct conv_work w = conv_work_of(c, &s);
    return conv_rows_cycles(f->vertices, f->chip, &c->amp, &w);
}

/* The cycles saved in one block, summed over passes: each pass over kernel rows and columns runs only over positions that meet the input. */
static uint64_t left_out_of_a_block(const struct search *f, const struct conv_candidate *c, const struct share *t)
{
    const struct conv_shape *s = &c->s;
    const struct conv_axis high = { s->field_h, s->kernel_h, max_u64(s->in_stride_h, s->out_stride_h), s->before_h, s->met_h, s->dilation };
    const struct conv_axis wide = { s->field_w, s->kernel_w, max_u64(s->in_stride_w, s->out_stride_w), s->before_w, s->met_w, s->dilation };
    struct axis_part rows = busiest_part(&high, t->height, t->kernel_h, c->filter_height), columns = busiest_part(&wide, t->width, c->s.kernel_w, 1);
    uint64_t all = rows_cycles(f, c, t, t->height, t->width), sum = 0;
    for (uint64_t i = 0; i < n_passes(&rows); i++)
        for (uint64_t k = 0; k < n_passes(&columns); k++)
            sum += all - min_u64(all, rows_cycles(f, c, t, met_in_pass(&high, &rows, i), met_in_pass(&wide, &columns, k)));
    return sum;
}

uint64_t conv_padding_cycles(const struct search *f, const struct conv_candidate *c, const struct share *t)
{
    bool by_lists = c->vertex == VERTEX_AMP_NX1 || c->vertex == VERTEX_HMAC;
    if (c->flat || !by_lists)
        return 0;
    uint64_t blocks = t->groups * t->out * (c->vertex == VERTEX_HMAC ? 1 : t->in * c->passes);
    return blocks * chip_turn_cycles(f->chip) * left_out_of_a_block(f, c, t);
}
