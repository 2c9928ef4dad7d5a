/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_slices.c - rows looked up in a table, and rows of it updated, as popops plans each of the two by itself (popops/DynamicSlice.cpp at 7eac0f2:
 * constructModel).
 *
 * The split is of the table's rows (at least two on a tile), of its columns in grains of 8 bytes, and of the lookups. If lookups are split, each group of
 * tiles gets a copy of the table, or sums updates of its own, which are then added. If rows are split, candidates of all parts are brought together and
 * the right ones are picked. A table that its split leaves uneven over the tiles is rearranged, both ways for an update. The fewest cycles win among the
 * splits whose temporaries the share of memory holds; else the lookups are done in a series of parts.
 * Limits: popops chooses by its own estimate, which lacks syncs and indices and prices the second stage by grains; here splits are chosen by the cycles that
 * are counted. Programs that train plan lookups and updates together: they keep vector_lookups.c.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/passes.h"

enum { GRAIN_BYTES = 8, INDEX_BYTES = 4 };

/* Numbers of parts, and what the fullest tile has of each. */
struct slice_split { uint64_t columns, rows, lookups, series; };
struct slice_part { uint64_t elements, rows, lookups, table_bytes, uneven_bytes; };

static uint64_t grain_elements(const struct passes *p, const struct slice_task *t)
{
    return min_u64(t->width, max_u64(1, GRAIN_BYTES / p->element_bytes));
}

static struct slice_part slice_part_of(const struct passes *p, const struct slice_task *t, const struct slice_split *s)
{
    uint64_t grain = grain_elements(p, t), n_grains = ceil_div(t->width, grain);
    struct slice_part out = { .elements = ceil_div(n_grains, s->columns) * grain, .rows = ceil_div(t->rows, s->rows),
                              .lookups = ceil_div(t->lookups, s->lookups * s->series) };
    uint64_t even_bytes = ceil_div(t->rows * n_grains, p->n_tiles) * grain * p->element_bytes;
    out.table_bytes = out.rows * out.elements * p->element_bytes;
    out.uneven_bytes = out.table_bytes > even_bytes ? out.table_bytes - even_bytes : 0;
    return out;
}

/* ---- the passes of a split --------------------------------------------------------------------------------------------------- */

static void add_slice(struct passes *p, const struct slice_task *t, const struct slice_split *s)
{
    struct slice_part part = slice_part_of(p, t, s);
    uint64_t second = ceil_div(part.lookups, s->rows), row_bytes = part.elements * p->element_bytes;
    uint64_t table = max_u64(s->lookups > 1 ? part.table_bytes : 0, part.uneven_bytes), found = s->rows > 1 ? part.lookups * row_bytes : 0;
    passes_exchange(p, table);
    passes_exchange(p, part.lookups * INDEX_BYTES);
    passes_superstep(p, slice_cycles(p->chip, part.lookups, (double)part.rows / (double)t->rows, part.elements, p->element_bytes));
    p->scratch_bytes = table + found + part.lookups * INDEX_BYTES;
    if (s->rows == 1)
        return;
    uint64_t before = p->scratch_bytes, candidates = s->rows * second * row_bytes;
    passes_exchange(p, candidates);
    passes_superstep(p, slice_cycles(p->chip, second, 1, part.elements, p->element_bytes));
    p->scratch_bytes = max_u64(before, found + candidates + second * INDEX_BYTES);
}

/* Updates are summed in floats. */
static void add_update(struct passes *p, const struct slice_task *t, const struct slice_split *s)
{
    struct slice_part part = slice_part_of(p, t, s);
    uint64_t rows_of_worker = ceil_div(part.rows, p->chip->n_workers), sums = part.rows * part.elements, narrow = p->element_bytes < 4;
    uint64_t in = (uint64_t)ceil((double)part.lookups * (double)rows_of_worker / (double)t->rows), own = ceil_div(part.lookups, s->rows) * part.elements;
    uint64_t updates_bytes = part.lookups * part.elements * (uint64_t)4, mine = ceil_div(sums, s->lookups);
    passes_exchange(p, part.uneven_bytes);
    passes_exchange(p, part.uneven_bytes);
    if (narrow)
        passes_superstep(p, cast_cycles(&vertex_table, p->chip, own, p->element_bytes, 4));
    if (s->lookups > 1)
        passes_superstep(p, map_cycles(p->chip, MAP_FILL, sums, 4));
    passes_exchange(p, updates_bytes + part.lookups * INDEX_BYTES);
    passes_superstep(p, slice_update_cycles(p->chip, part.lookups, min_u64(in, part.lookups), part.elements, 4));
    p->scratch_bytes = part.uneven_bytes + updates_bytes + part.lookups * INDEX_BYTES + (s->lookups > 1 ? 2 * sums * 4 : 0);
    uint64_t scratch = p->scratch_bytes;
    if (s->lookups > 1) {
        passes_exchange(p, mine * s->lookups * 4);
        passes_superstep(p, reduce_cycles(&vertex_table, p->chip, mine, s->lookups, 4));
        passes_superstep(p, map_cycles(p->chip, MAP_SCALED_ADD, mine, 4));
    }
    if (narrow)
        passes_superstep(p, 2 * cast_cycles(&vertex_table, p->chip, mine, 4, p->element_bytes));
    p->scratch_bytes = scratch;
}

/* ---- the choice ------------------------------------------------------------------------------------------------------------------ */

typedef void add_slice_passes(struct passes *p, const struct slice_task *t, const struct slice_split *s);

struct slice_choice {
    const struct slice_task *task;
    add_slice_passes *add;
    struct op_plan empty, plan;
    uint64_t scratch_bytes, over_bytes;     /* temporaries of the best so far, and how much of them is beyond the share of memory */
    bool found;
};

static void try_split(struct slice_choice *c, const struct passes *p, const struct slice_split *s)
{
    struct op_plan try = c->empty;
    struct passes q = *p;
    q.plan = &try;
    c->add(&q, c->task, s);
    uint64_t over = q.scratch_bytes > p->room_bytes ? q.scratch_bytes - p->room_bytes : 0;
    uint64_t before = op_plan_cycles(&c->empty), series = (op_plan_cycles(&try) - before) * s->series, best = op_plan_cycles(&c->plan);
    if (c->found && (over > c->over_bytes || (over == c->over_bytes && before + series >= best)))
        return;
    try.compute_cycles += (try.compute_cycles - c->empty.compute_cycles) * (s->series - 1);
    try.exchange_cycles += (try.exchange_cycles - c->empty.exchange_cycles) * (s->series - 1);
    try.sync_cycles += (try.sync_cycles - c->empty.sync_cycles) * (s->series - 1);
    try.n_tiles_used = (uint32_t)(s->columns * s->rows * s->lookups);
    c->plan = try;
    c->over_bytes = over;
    c->scratch_bytes = q.scratch_bytes;
    c->found = true;
}

/* The next number of parts that makes the largest part smaller; n + 1 if there is none. */
static uint64_t next_parts(uint64_t n, uint64_t parts)
{
    uint64_t largest = ceil_div(n, parts);
    return largest == 1 ? n + 1 : ceil_div(n, largest - 1);
}

static void try_series(struct slice_choice *c, const struct passes *p, uint64_t series)
{
    const struct slice_task *t = c->task;
    uint64_t n_grains = ceil_div(t->width, grain_elements(p, t)), lookups = ceil_div(t->lookups, series), most_rows = max_u64(1, ceil_div(t->rows, 2));
    for (uint64_t columns = 1; columns <= min_u64(n_grains, p->n_tiles); columns = next_parts(n_grains, columns))
        for (uint64_t rows = 1; rows <= min_u64(most_rows, p->n_tiles / columns); rows = next_parts(t->rows, rows)) {
            uint64_t most = t->in_groups ? min_u64(lookups, p->n_tiles / (columns * rows)) : 1;
            for (uint64_t groups = 1; groups <= most; groups = next_parts(lookups, groups))
                try_split(c, p, &(struct slice_split){ columns, rows, groups, series });
        }
}

static void add_best_slices(struct passes *p, const struct slice_task *t, add_slice_passes *add)
{
    struct slice_choice c = { .task = t, .add = add, .empty = *p->plan };
    for (uint64_t series = 1; series <= t->lookups && (!c.found || c.over_bytes); series *= 2)
        try_series(&c, p, series);
    *p->plan = c.plan;
    p->scratch_bytes = max_u64(p->scratch_bytes, c.scratch_bytes);
}

void passes_slice(struct passes *p, const struct slice_task *t) { add_best_slices(p, t, add_slice); }
void passes_slice_update(struct passes *p, const struct slice_task *t) { add_best_slices(p, t, add_update); }
