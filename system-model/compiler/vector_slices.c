/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_slices.c - rows looked up in a table, and rows of it updated, as popops plans each of the two by itself (graphcore/poplibs at 7eac0f2,
 * lib/popops/DynamicSlice.cpp: constructModel chooses; multiSlicePlanned and generatePlannedMultiUpdateOp are what runs).
 *
 * The split is of the table's rows (at least two on a tile), of its columns in grains of 8 bytes, and of the lookups. The planner takes the split with the
 * fewest cycles of its own estimate among those whose temporaries the share of memory holds; else it does the lookups in a series of parts, and at last
 * has no limit of memory. Its estimate has no syncs and no indices, and takes all workers for equally busy.
 *
 * What runs: if lookups are split, each group of tiles receives its part of the table, or sums updates of its own, which are then added. If rows are
 * split, candidates of all parts are brought together and the right ones are picked by indices that two more compute sets make. Random indices do not
 * fall evenly: a compute set lasts as long as the busiest of all workers, whose share is the median over all draws.
 * Limits: the series doubles; a table lies as its own split wants it. Programs that train keep vector_lookups.c.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/passes.h"
#include <gsl/gsl_cdf.h>

enum { GRAIN_BYTES = 8, INDEX_BYTES = 4, FEWEST_INDICES = 32, PARTIAL_BYTES = 4 };
enum { REARRANGED_SPLITS = 4 };         /* if the table has at least this many parts of rows, updates are first brought into the plan's layout */

/* Numbers of parts, and what the fullest tile has of each. `second`: lookups of the second stage. */
struct slice_split { uint64_t columns, rows, lookups, series; };
struct slice_part { uint64_t grains, elements, rows, lookups, second, table_bytes, uneven_bytes; };

static uint64_t grain_elements(const struct passes *p, const struct slice_task *t)
{
    return min_u64(t->width, max_u64(1, GRAIN_BYTES / p->element_bytes));
}

static struct slice_part slice_part_of(const struct passes *p, const struct slice_task *t, const struct slice_split *s)
{
    uint64_t grain = grain_elements(p, t), n_grains = ceil_div(t->width, grain);
    struct slice_part out = { .grains = ceil_div(n_grains, s->columns), .rows = ceil_div(t->rows, s->rows), .lookups = ceil_div(t->lookups, s->lookups * s->series) };
    uint64_t even_bytes = ceil_div(t->rows * n_grains, p->n_tiles) * grain * p->element_bytes;
    out.elements = out.grains * grain;
    out.second = ceil_div(out.lookups, s->rows);
    out.table_bytes = out.rows * out.elements * p->element_bytes;
    out.uneven_bytes = out.table_bytes > even_bytes ? out.table_bytes - even_bytes : 0;
    return out;
}

static uint64_t even_share(uint64_t n, uint64_t part, uint64_t whole) { return (uint64_t)ceil((double)n * ((double)part / (double)whole)); }

/* ---- the planner's estimate: cycles of all parts of the series, and temporaries ---------------------------------------------------- */

/* cycles, bytes: the planner's estimate. floor: a lower bound of the cycles of every split with the same parts of the table and lookups in 2 up to
 * this many groups. excluded: the planner does not take the split. */
struct slice_estimate { uint64_t cycles, bytes, floor; bool excluded; };
typedef struct slice_estimate estimate_slices(const struct passes *p, const struct slice_task *t, const struct slice_split *s);

/* The planner limits the split of lookups by its rate of writing, 8 bytes a cycle of all tiles. Its second stage counts grains as if they were
 * elements. */
static struct slice_estimate estimate_lookups(const struct passes *p, const struct slice_task *t, const struct slice_split *s)
{
    struct slice_part part = slice_part_of(p, t, s);
    uint64_t w = p->chip->n_workers, rate = p->chip->exchange_bytes_per_cycle, row_bytes = part.elements * p->element_bytes;
    uint64_t table = max_u64(s->lookups > 1 ? part.table_bytes : 0, part.uneven_bytes), stages = s->rows > 1;
    uint64_t mine = ceil_div(part.lookups, w), mine_second = ceil_div(part.second, w), candidates = stages * s->rows * part.second * row_bytes;
    uint64_t first = slice_cycles(p->chip, mine, even_share(mine, part.rows, t->rows), part.elements, p->element_bytes);
    uint64_t second = stages * slice_cycles(p->chip, mine_second, even_share(mine_second, part.rows, t->rows), part.grains, p->element_bytes);
    uint64_t found = stages * part.lookups * row_bytes, indices = part.lookups * INDEX_BYTES;
    uint64_t cycles = s->series * (ceil_div(table, rate) + first + ceil_div(candidates, rate) + second);
    bool too_fast = ceil_div(t->lookups * t->width * p->element_bytes, GRAIN_BYTES) > s->series * s->lookups * s->columns * first;
    return (struct slice_estimate){ cycles, max_u64(table + found + indices, found + candidates + part.second * INDEX_BYTES), cycles, too_fast };
}

/* Sums are made in floats; rows that replace others keep their type, and are copied as a lookup copies them. */
static uint64_t partial_bytes(const struct passes *p, const struct slice_task *t) { return t->sums ? PARTIAL_BYTES : p->element_bytes; }

static uint64_t update_vertex_cycles(const struct passes *p, const struct slice_task *t, const struct slice_part *part, uint64_t in)
{
    return t->sums ? slice_update_cycles(p->chip, part->lookups, in, part->elements, PARTIAL_BYTES)
                   : slice_cycles(p->chip, part->lookups, in, part->elements, p->element_bytes);
}

static struct slice_estimate estimate_updates(const struct passes *p, const struct slice_task *t, const struct slice_split *s)
{
    struct slice_part part = slice_part_of(p, t, s);
    const struct vertex_table *v = &vertex_table;
    uint64_t rate = p->chip->exchange_bytes_per_cycle, sums = part.rows * part.elements, mine = ceil_div(sums, s->lookups), own = part.second * part.elements;
    bool narrow = p->element_bytes < partial_bytes(p, t), groups = s->lookups > 1, stages = s->rows > 1;
    uint64_t updates = stages * part.lookups * part.elements * partial_bytes(p, t);
    uint64_t in = even_share(part.lookups, ceil_div(part.rows, p->chip->n_workers), t->rows);
    uint64_t cycles = 2 * ceil_div(part.uneven_bytes, rate) + ceil_div(updates, rate) + update_vertex_cycles(p, t, &part, in), floor = s->series * cycles;
    if (narrow)
        cycles += cast_cycles(v, p->chip, own, p->element_bytes, PARTIAL_BYTES) + 2 * cast_cycles(v, p->chip, mine, PARTIAL_BYTES, p->element_bytes);
    if (groups)
        cycles += map_cycles(p->chip, MAP_FILL, sums, PARTIAL_BYTES) + ceil_div(mine * s->lookups * PARTIAL_BYTES, rate)
                + reduce_cycles(v, p->chip, mine, s->lookups, PARTIAL_BYTES) + map_cycles(p->chip, MAP_SCALED_ADD, mine, PARTIAL_BYTES);
    uint64_t cast = narrow * own * PARTIAL_BYTES, partials = groups * sums * PARTIAL_BYTES;
    uint64_t running = (stages ? 0 : cast) + updates + partials + part.lookups * INDEX_BYTES;
    return (struct slice_estimate){ s->series * cycles, part.uneven_bytes + max_u64(max_u64(cast + updates, running), 2 * partials), floor, false };
}

/* ---- what runs ------------------------------------------------------------------------------------------------------------------------ */

/* The median, over all draws, of how many of n random lookups the busiest worker gets, if each worker gets a lookup with this chance. */
static uint64_t busiest_lookups(uint64_t n, double chance, uint64_t n_workers)
{
    double all_below = pow(0.5, 1 / (double)n_workers);
    uint64_t k = (uint64_t)(chance * (double)n);
    while (k < n && gsl_cdf_binomial_P((unsigned)k, chance, (unsigned)n) < all_below)
        k++;
    return k;
}

static uint64_t worker_count(const struct passes *p, const struct slice_split *s) { return s->rows * s->lookups * p->chip->n_workers; }

/* Indices lie on tiles in runs of at least 32. Those of the second stage are counted up, and moved to the part of the table that has the row: one expression of
 * three numbers for each, whose price is the library's for generated vertices (ExpressionGenerator.cpp). */
static void add_second_indices(struct passes *p, const struct slice_task *t)
{
    uint64_t n = ceil_div(max_u64(ceil_div(t->lookups, p->n_tiles), min_u64(t->lookups, FEWEST_INDICES)), p->chip->n_workers);
    passes_superstep(p, map_cycles(p->chip, MAP_FILL, n * p->chip->n_workers, INDEX_BYTES));
    passes_superstep(p, chip_turn_cycles(p->chip) * (20 + 3 * 3 * n));
}

static void add_lookup_passes(struct passes *p, const struct slice_task *t, const struct slice_split *s)
{
    struct slice_part part = slice_part_of(p, t, s);
    uint64_t row_bytes = part.elements * p->element_bytes, mine = ceil_div(part.lookups, p->chip->n_workers);
    passes_exchange(p, s->lookups > 1 ? part.table_bytes : 0);
    passes_exchange(p, part.lookups * INDEX_BYTES);
    uint64_t in = s->rows == 1 ? mine : busiest_lookups(mine, (double)part.rows / (double)t->rows, worker_count(p, s));
    passes_superstep(p, slice_cycles(p->chip, mine, in, part.elements, p->element_bytes));
    if (s->rows == 1)
        return;
    uint64_t mine_second = ceil_div(part.second, p->chip->n_workers);
    add_second_indices(p, t);
    passes_exchange(p, s->rows * part.second * row_bytes + part.second * INDEX_BYTES);
    passes_superstep(p, slice_cycles(p->chip, mine_second, mine_second, part.elements, p->element_bytes));
}

/* Sums of groups, and halves' sums in floats, are made in zeroed floats, and are then added to the table. */
static void add_sums_to_table(struct passes *p, const struct slice_split *s, uint64_t sums, bool narrow)
{
    uint64_t mine = ceil_div(sums, s->lookups);
    if (s->lookups > 1) {
        passes_exchange(p, mine * s->lookups * PARTIAL_BYTES);
        passes_superstep(p, reduce_cycles(&vertex_table, p->chip, mine, s->lookups, PARTIAL_BYTES));
    }
    if (narrow)
        passes_superstep(p, cast_cycles(&vertex_table, p->chip, mine, p->element_bytes, PARTIAL_BYTES));
    passes_superstep(p, map_cycles(p->chip, MAP_SCALED_ADD, mine, PARTIAL_BYTES));
    if (narrow)
        passes_superstep(p, cast_cycles(&vertex_table, p->chip, mine, PARTIAL_BYTES, p->element_bytes));
}

static void add_update_passes(struct passes *p, const struct slice_task *t, const struct slice_split *s)
{
    struct slice_part part = slice_part_of(p, t, s);
    uint64_t worker_rows = ceil_div(part.rows, p->chip->n_workers), sums = part.rows * part.elements, own = part.second * part.elements;
    bool narrow = p->element_bytes < partial_bytes(p, t), apart = narrow || s->lookups > 1;
    if (narrow || s->rows >= REARRANGED_SPLITS)
        passes_superstep(p, map_cycles(p->chip, MAP_COPY, own, p->element_bytes));
    if (narrow)
        passes_superstep(p, cast_cycles(&vertex_table, p->chip, own, p->element_bytes, PARTIAL_BYTES));
    if (apart)
        passes_superstep(p, map_cycles(p->chip, MAP_FILL, sums, PARTIAL_BYTES));
    passes_exchange(p, (s->rows > 1 ? part.lookups * part.elements * partial_bytes(p, t) : 0) + part.lookups * INDEX_BYTES);
    uint64_t in = busiest_lookups(part.lookups, fmin(1, (double)worker_rows / (double)t->rows), worker_count(p, s));
    passes_superstep(p, update_vertex_cycles(p, t, &part, in));
    if (apart)
        add_sums_to_table(p, s, sums, narrow);
}

/* ---- the choice ------------------------------------------------------------------------------------------------------------------ */

/* The next number of parts that makes the largest part smaller; n + 1 if there is none. */
static uint64_t next_parts(uint64_t n, uint64_t parts)
{
    uint64_t largest = ceil_div(n, parts);
    return largest == 1 ? n + 1 : ceil_div(n, largest - 1);
}

struct slice_choice { struct slice_split split; struct slice_estimate of; };

static bool groups_may_win(struct slice_estimate least, const struct slice_choice *best, uint64_t room_bytes)
{
    return least.floor < best->of.cycles && least.bytes <= room_bytes;
}

static void try_series(struct slice_choice *best, const struct passes *p, const struct slice_task *t, estimate_slices *estimate, uint64_t series, uint64_t room_bytes)
{
    uint64_t n_grains = ceil_div(t->width, grain_elements(p, t)), lookups = ceil_div(t->lookups, series), most_rows = max_u64(1, ceil_div(t->rows, 2));
    for (uint64_t columns = 1; columns <= min_u64(n_grains, p->n_tiles); columns = next_parts(n_grains, columns))
        for (uint64_t rows = 1; rows <= min_u64(most_rows, p->n_tiles / columns); rows = next_parts(t->rows, rows)) {
            uint64_t most = t->sums ? min_u64(lookups, p->n_tiles / (columns * rows)) : 1;
            if (most > 1 && !groups_may_win(estimate(p, t, &(struct slice_split){ columns, rows, most, series }), best, room_bytes))
                most = 1;
            for (uint64_t groups = 1; groups <= most; groups = next_parts(lookups, groups)) {
                const struct slice_split s = { columns, rows, groups, series };
                struct slice_estimate e = estimate(p, t, &s);
                if (!e.excluded && e.cycles < best->of.cycles && e.bytes <= room_bytes)
                    *best = (struct slice_choice){ s, e };
            }
        }
}

static struct slice_choice best_split(const struct passes *p, const struct slice_task *t, estimate_slices *estimate)
{
    struct slice_choice best = { .of.cycles = UINT64_MAX };
    for (uint64_t series = 1; series <= t->lookups && best.of.cycles == UINT64_MAX; series *= 2)
        try_series(&best, p, t, estimate, series, p->room_bytes);
    if (best.of.cycles == UINT64_MAX)
        try_series(&best, p, t, estimate, 1, UINT64_MAX);
    return best;
}

typedef void add_slice_passes(struct passes *p, const struct slice_task *t, const struct slice_split *s);

static void add_best_slices(struct passes *p, const struct slice_task *t, estimate_slices *estimate, add_slice_passes *add)
{
    struct slice_choice best = best_split(p, t, estimate);
    const struct op_plan empty = *p->plan;
    uint64_t scratch_bytes = max_u64(p->scratch_bytes, best.of.bytes), again = best.split.series - 1;
    add(p, t, &best.split);
    p->plan->compute_cycles += (p->plan->compute_cycles - empty.compute_cycles) * again;
    p->plan->exchange_cycles += (p->plan->exchange_cycles - empty.exchange_cycles) * again;
    p->plan->sync_cycles += (p->plan->sync_cycles - empty.sync_cycles) * again;
    p->plan->n_tiles_used = (uint32_t)(best.split.columns * best.split.rows * best.split.lookups);
    p->scratch_bytes = scratch_bytes;
}

void passes_slice(struct passes *p, const struct slice_task *t) { add_best_slices(p, t, estimate_lookups, add_lookup_passes); }
void passes_slice_update(struct passes *p, const struct slice_task *t) { add_best_slices(p, t, estimate_updates, add_update_passes); }
