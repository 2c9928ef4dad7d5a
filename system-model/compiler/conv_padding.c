/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_padding.c - the positions that a vertex leaves out, because a kernel element meets nothing but padding there.
 *
 * The worklists of AMP and HMAC vertices hold, for each kernel element, the positions where it meets the input (poplin's
 * getOutputRangeForKernelRange; kernel rows that share a pass of the AMP go together). The estimate that poplin's planner chooses splits by
 * has them all: so does conv_price's, and what is left out is taken off the plan that was chosen. A 3x3 kernel over 7 x 7 positions leaves
 * out 18 in 100, over 56 x 56 2.
 * A tile inside the field has no padding, and a tile with the middle row of a kernel has none above and below: the tile that leaves
 * out least is what the others wait for.
 * Padding is the operation's own: what stands before the input, and what is reached beyond it.
 */
#include "system-model/compiler/conv_internal.h"

/* What is left of an axis on one tile: positions for each pass over kernel elements, of which `together` share one. */
struct part { uint64_t first, n, from_kernel, n_kernel, together; };

static uint64_t met_in_pass(const struct conv_axis *x, const struct part *p, uint64_t pass)
{
    uint64_t from = p->from_kernel + pass * p->together;
    return conv_axis_met(x, p->first, p->n, from, min_u64(from + p->together, x->kernel) - 1);
}

static uint64_t n_passes(const struct part *p) { return ceil_div(p->n_kernel, p->together); }

static uint64_t met(const struct conv_axis *x, const struct part *p)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n_passes(p); i++)
        sum += met_in_pass(x, p, i);
    return sum;
}

/* Of the tiles that have n positions and n_kernel kernel elements, the first that meets most of the input. */
static struct part busiest_part(const struct conv_axis *x, uint64_t n, uint64_t n_kernel, uint64_t together)
{
    struct part best = { 0, n, 0, n_kernel, together };
    uint64_t most = 0;
    for (uint64_t first = 0; first < x->positions; first += n)
        for (uint64_t kernel = 0; kernel < x->kernel; kernel += n_kernel) {
            struct part p = { first, min_u64(n, x->positions - first), kernel, min_u64(n_kernel, x->kernel - kernel), together };
            uint64_t sum = met(x, &p);
            best = sum > most ? p : best;
            most = max_u64(sum, most);
        }
    return best;
}

/* A field of one column is a row, whatever its width; where kernel elements meet nothing of it there is none. */
static uint64_t rows_cycles(const struct search *f, const struct candidate *c, const struct share *t, uint64_t height, uint64_t width)
{
    struct share s = *t;
    if (height == 0 || width == 0)
        return 0;
    s.height = height;
    s.width = width;
    const struct conv_work w = conv_work_of(c, &s);
    return conv_rows_cycles(f->vertices, f->chip, &c->amp, &w);
}

/* A load of weights goes over all positions: one for each pair of passes over rows and columns of the kernel. */
static uint64_t left_out_of_a_block(const struct search *f, const struct candidate *c, const struct share *t)
{
    const struct conv_shape *s = &c->s;
    const struct conv_axis high = { s->field_h, s->kernel_h, max_u64(s->in_stride_h, s->out_stride_h), s->before_h, s->met_h, s->dilation };
    const struct conv_axis wide = { s->field_w, s->kernel_w, max_u64(s->in_stride_w, s->out_stride_w), s->before_w, s->met_w, s->dilation };
    struct part rows = busiest_part(&high, t->height, t->kernel_h, c->filter_height), columns = busiest_part(&wide, t->width, c->s.kernel_w, 1);
    uint64_t all = rows_cycles(f, c, t, t->height, t->width), sum = 0;
    for (uint64_t i = 0; i < n_passes(&rows); i++)
        for (uint64_t k = 0; k < n_passes(&columns); k++)
            sum += all - min_u64(all, rows_cycles(f, c, t, met_in_pass(&high, &rows, i), met_in_pass(&wide, &columns, k)));
    return sum;
}

uint64_t conv_padding_cycles(const struct search *f, const struct candidate *c, const struct share *t)
{
    bool by_lists = c->vertex == VERTEX_AMP_NX1 || c->vertex == VERTEX_HMAC;
    if (c->flat || !by_lists)
        return 0;
    uint64_t blocks = t->groups * t->out * (c->vertex == VERTEX_HMAC ? 1 : t->in * c->passes);
    return blocks * chip_turn_cycles(f->chip) * left_out_of_a_block(f, c, t);
}
