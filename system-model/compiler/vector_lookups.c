/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_lookups.c - rows looked up in a table, rows written to it, and the largest of each row.
 *
 *     gather        in training two stages: each tile looks its rows up in its part of the table, then candidates are chosen
 *     scatter       the same split: each tile writes or adds the rows that it holds; the table is copied first
 *                   in inference either is planned by itself (vector_slices.c)
 *     top-k         a bitonic network over runs of k, on pairs of values and indices
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

/* ---- gather: split of the table's rows, of the lookups, and of a row ------------------------------------------- */

struct gather_split { uint64_t rows, lookups, width; };

static void add_gather_stages(struct passes *p, const struct gather_split *s, uint64_t table_rows, uint64_t n_lookups,
                              uint64_t width)
{
    uint64_t lookups = ceil_div(n_lookups, s->lookups), part = ceil_div(width, s->width);
    uint64_t in = ceil_div(lookups, s->rows);
    if (s->lookups > 1)                 /* each group of lookups has its own copy of the table */
        passes_exchange(p, ceil_div(table_rows, s->rows) * part * p->element_bytes);
    passes_exchange(p, lookups * 4);
    passes_superstep(p, gather_cycles(p->chip, lookups, in, part));
    if (s->rows > 1) {
        passes_exchange(p, in * s->rows * part * p->element_bytes);
        passes_superstep(p, gather_cycles(p->chip, in, in, part));
    }
}

static void add_scatter_stages(struct passes *p, const struct gather_split *s, uint64_t table_rows, uint64_t n_lookups,
                               uint64_t width)
{
    uint64_t lookups = ceil_div(n_lookups, s->lookups), part = ceil_div(width, s->width);
    uint64_t in = ceil_div(lookups, s->rows), rows = ceil_div(table_rows, s->rows);
    passes_exchange(p, lookups * (part * p->element_bytes + 4));
    passes_superstep(p, scatter_add_cycles(p->chip, lookups, in, part));
    if (s->lookups > 1) {
        passes_exchange(p, rows * part * p->element_bytes);
        passes_superstep(p, reduce_cycles(&vertex_table, p->chip, ceil_div(rows * part, s->lookups), s->lookups, p->element_bytes));
    }
}

typedef void add_stages(struct passes *p, const struct gather_split *s, uint64_t table_rows, uint64_t n_lookups, uint64_t width);

/* Chooses, among the splits whose temporaries fit the share of memory, the one with the fewest cycles; if none fits, the one with the fewest
   bytes. in_groups: several groups of tiles may write the same rows, which works only for sums. */
static void add_best_split(struct passes *p, add_stages *stages, uint64_t table_rows, uint64_t n_lookups, uint64_t width, bool in_groups)
{
    struct { struct op_plan plan; uint64_t over_bytes, scratch_bytes; } best = { .plan.compute_cycles = UINT64_MAX, .over_bytes = UINT64_MAX };
    struct op_plan empty = *p->plan;
    for (uint64_t cut = 1; cut <= width; cut *= 2)
        for (uint64_t rows = 1; rows * cut <= p->n_tiles && rows <= 2 * table_rows; rows *= 2) {
            struct gather_split s = { rows, 1, cut };
            for (s.lookups = 1; s.lookups * rows * cut <= p->n_tiles && s.lookups <= n_lookups && (in_groups || s.lookups == 1); s.lookups *= 4) {
                struct op_plan try = empty;
                struct passes q = *p;
                q.plan = &try;
                stages(&q, &s, table_rows, n_lookups, width);
                uint64_t over_bytes = q.scratch_bytes > p->room_bytes ? q.scratch_bytes - p->room_bytes : 0;
                if (over_bytes > best.over_bytes || (over_bytes == best.over_bytes && op_plan_cycles(&try) >= op_plan_cycles(&best.plan)))
                    continue;
                best.plan = try;
                best.over_bytes = over_bytes;
                best.plan.n_tiles_used = (uint32_t)(rows * cut * s.lookups);
                best.scratch_bytes = q.scratch_bytes;
            }
        }
    *p->plan = best.plan;
    p->scratch_bytes = best.scratch_bytes;
}

void plan_gather(struct passes *p, const struct vector_op *w)
{
    uint64_t n_lookups = w->n_out / w->last;
    if (w->opt->inference) {
        passes_slice(p, &(struct slice_task){ w->n / w->last, w->last, n_lookups, true });
        return;
    }
    add_best_split(p, w->backward ? add_scatter_stages : add_gather_stages, w->n / w->last, n_lookups, w->last, true);
}

/* popops::multiUpdate, multiUpdateAdd and multiUpdateMax, on a copy of the table. The table's gradient is the
 * result's, with zeros for rows that were replaced; the gradient of the updates is looked up in it. */
void plan_scatter(struct passes *p, const struct vector_op *w)
{
    uint64_t n_lookups = tensor_elements(&w->g->tensors[w->forward->inputs[1]]);
    bool adds = w->forward->at->scatter == SCATTER_ADD;
    for (uint32_t i = 0; i < w->op->n_outputs; i++) {
        bool updates = w->backward && w->g->tensors[w->op->outputs[i]].of_tensor == w->forward->inputs[2];
        if (!updates)
            passes_map(p, MAP_COPY, w->n);
        const struct slice_task t = { w->n / w->last, w->last, n_lookups, updates || adds };
        if (w->opt->inference)
            passes_slice_update(p, &t);
        else if (updates || !(w->backward && adds))
            add_best_split(p, updates ? add_gather_stages : add_scatter_stages, w->n / w->last, n_lookups, w->last, updates || adds);
    }
}

/* ---- top-k: a bitonic network, as popops::topK is -------------------------------------------------------------- */

/* One stage compares elements `apart` from each other in pairs, and keeps both or only the larger one, with their
 * places. Partners on other tiles are fetched first. */
static void add_compare_exchange(struct passes *p, uint64_t n, uint64_t apart)
{
    if (apart >= passes_share(p, n))
        passes_exchange(p, passes_share(p, n) * (p->element_bytes + sizeof(int32_t)));
    passes_map(p, MAP_COMPARE_EXCHANGE, ceil_div(n, 2));
}

static void add_merge(struct passes *p, uint64_t n, uint64_t run)
{
    for (uint64_t apart = run / 2; apart > 0; apart /= 2)
        add_compare_exchange(p, n, apart);
}

/* k is rounded up to a power of two. First, runs of k are sorted, by log2(k) (log2(k) + 1) / 2 stages over all
 * elements. Then, while a row has more than one run, the larger elements of each two runs are kept (one stage) and
 * sorted again (log2(k) stages over the half). The bitonic network is Batcher's (1968). Halves are sorted as floats. */
void plan_top_k(struct passes *p, const struct vector_op *w)
{
    uint64_t k = 1, n = w->n, row = w->last;
    while (k < w->forward->at->length)
        k *= 2;
    if (p->element_bytes == data_type_bytes(TYPE_FP16)) {
        passes_map(p, MAP_CAST, n);
        p->element_bytes = data_type_bytes(TYPE_FP32);
    }
    for (uint64_t run = 2; run <= k; run *= 2)
        add_merge(p, n, run);
    for (; row > k; row = max_u64(k, ceil_div(row, 2)), n = ceil_div(n, 2)) {
        add_compare_exchange(p, n, k);
        add_merge(p, ceil_div(n, 2), k);
    }
}
