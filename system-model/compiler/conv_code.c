/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_code.c - code and vertices of a convolution or a product on the fullest tile, by what its plan counts.
 *
 * A tile has one vertex. Its state is the fields of its class; behind it are an address for each of its operands' groups of channels, and worklists
 * (PopLibs 7eac0f2, lib/poplin/codelets/ConvPartial*.cpp, lib/poplin/ConvVertices.cpp). AMP's, SLIC's and HMAC's vertices have a list for each worker and
 * kernel element (kernel rows that share a pass of the AMP go together), with an item for each row of positions that the worker meets in part: where its results
 * are, where its input is, and how long it is. Workers share the positions evenly (partitionConvPartialByWorker, ConvUtilInternal.cpp), so that a row is cut
 * where the next worker begins. A row of positions without a kernel field is one item a worker.
 * Limits: rows that meet only padding have items here, and none in PopLibs.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/conv.h"

/* The pieces that a tile receives in one step, each from one other tile. Operands are spread over the tiles in order,
 * channel groups outermost, so that a tile's share of a channel group is one run (one for each row of the field if the
 * kernel is wider than one element), cut where it crosses to another tile. */
static uint64_t received_pieces(const struct search *f)
{
    const struct share *t = &f->best;
    const struct conv_candidate *c = f->best_candidate;
    uint64_t es = c->amp.element_bytes, steps = share_steps(t);
    uint64_t held = max_u64(128, ceil_div(shape_positions(f->shape) * f->shape->groups * f->shape->in_chans * es, f->n_tiles));
    uint64_t weights_held = max_u64(256, ceil_div((uint64_t)f->shape->groups * f->shape->in_chans * f->shape->out_chans
                                                  * f->shape->kernel_h * f->shape->kernel_w * es, f->n_tiles));
    uint64_t runs = t->groups * t->in * (c->flat ? 1 : t->batch), run = share_positions(t) / (c->flat ? 1 : t->batch) * c->in_grain * es;
    uint64_t weight_run = t->in * c->in_grain * c->out_grain * t->kernel_h * c->s.kernel_w * es;
    uint64_t pieces = runs * (1 + run / held) + t->groups * t->out * (1 + weight_run / weights_held) + t->p_in * t->p_kernel;
    return min_u64(pieces, ceil_div(ceil_div(f->best_cost.received_bytes, steps), 128));
}

/* An image comes from the tiles of another convolution, which laid it out in another way. Each group of channels of each position therefore
 * arrives as a piece; if the kernel is wider than one element, a piece has a few positions (FIELD_PIECE_BYTES, KERNEL_PIECE_BYTES). */
static uint64_t field_pieces(const struct search *f)
{
    const struct conv_candidate *c = f->best_candidate;
    const struct conv_shape *s = &c->s;
    const struct share *t = &f->best;
    uint64_t rows = (t->height - 1) * s->in_stride_h + t->kernel_h, columns = (t->width - 1) * s->in_stride_w + s->kernel_w;
    uint64_t positions = c->flat ? share_positions(t) : t->batch * rows * columns;
    uint64_t received_bytes = t->groups * positions * t->in * c->in_grain * c->amp.element_bytes;
    return min_u64(ceil_div(received_bytes, c->flat ? FIELD_PIECE_BYTES : KERNEL_PIECE_BYTES), MOST_FIELD_PIECES);
}

/* True for an image that another operation laid out, in a forward pass. Products have one column, inputs of the program are laid out for their
 * reader, and no profile shows the pieces of backward passes. */
static bool has_field(const struct search *f) { return f->shape->in_w > 1 && f->shape->in_elsewhere && f->shape->pass == PASS_FORWARD; }

/* ---- vertices --------------------------------------------------------------------------------------------- */

/* Bytes that a vertex of each class holds, aligned to words: an address for each list of operands (4), an address for its worklists (4, or 8 where they have a table),
 * and its numbers. */
static const uint32_t state_bytes[N_VERTEX_KINDS] = {
    [VERTEX_AMP_1X1] = 32, [VERTEX_AMP_NX1] = 52, [VERTEX_SLIC] = 32, [VERTEX_HMAC] = 48, [VERTEX_OUTER_PRODUCT] = 24,
};

enum { ADDRESS_BYTES = 4, ITEM_NUMBERS = 3, LIST_BYTES = 4, SLIC_WINDOW = 4 };

/* The rows that workers touch if they share the positions evenly; a row that two workers share counts twice. */
static uint64_t rows_of_workers(uint64_t rows, uint64_t columns, uint64_t n_workers)
{
    uint64_t met = 0, positions = rows * columns;
    for (uint64_t i = 0; i < n_workers; i++) {
        uint64_t begin = i * positions / n_workers, end = (i + 1) * positions / n_workers;
        met += end > begin ? (end - 1) / columns - begin / columns + 1 : 0;
    }
    return met;
}

static uint64_t kernel_passes(const struct conv_candidate *c, const struct share *t)
{
    return c->vertex == VERTEX_SLIC ? t->kernel_h * ceil_div(c->s.kernel_w, SLIC_WINDOW) : ceil_div(t->kernel_h, c->filter_height) * c->s.kernel_w;
}

/* Offsets are counted in words of 8 bytes. They have 16 bits if all of them fit. */
static uint64_t offset_bytes(const struct conv_candidate *c, const struct share *t)
{
    const struct conv_shape *s = &c->s;
    uint64_t rows = (t->height - 1) * s->in_stride_h + t->kernel_h, columns = (t->width - 1) * s->in_stride_w + s->kernel_w;
    return t->batch * rows * columns * c->in_grain * c->amp.element_bytes / 8 > UINT16_MAX ? 4 : 2;
}

static uint64_t worklist_bytes(const struct conv_candidate *c, const struct share *t, uint64_t n_workers)
{
    uint64_t item_bytes = ITEM_NUMBERS * offset_bytes(c, t);
    if (c->vertex == VERTEX_AMP_1X1)
        return n_workers * item_bytes;
    if (c->vertex == VERTEX_OUTER_PRODUCT)
        return 0;
    bool one_row = c->s.field_w == 1;       /* a product has a field of one column */
    uint64_t items = one_row ? rows_of_workers(t->batch, t->height, n_workers) : rows_of_workers(t->batch * t->height, t->width, n_workers);
    return kernel_passes(c, t) * (n_workers * LIST_BYTES + item_bytes * items);
}

static uint64_t address_bytes(const struct share *t) { return ADDRESS_BYTES * t->groups * (t->in + t->out + t->in * t->out); }

struct op_code conv_code(const struct search *f)
{
    const struct share *t = &f->best;
    const struct conv_candidate *c = f->best_candidate;
    uint64_t supersteps = f->best_cost.supersteps / share_steps(t) + 1;
    return (struct op_code){
        .supersteps = (uint32_t)supersteps, .exchanges = (uint32_t)supersteps, .pieces = (uint32_t)received_pieces(f), .field_pieces = has_field(f) ? (uint32_t)field_pieces(f) : 0,
        .state_bytes = (uint32_t)((supersteps - 1 - min_u64(supersteps - 1, f->best_cost.moves)) * SUPERSTEP_STATE_BYTES) + state_bytes[c->vertex], .field_bytes = (uint32_t)(worklist_bytes(c, t, f->chip->n_workers) + address_bytes(t)),
    };
}
