/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_sums.c - how the sums of a static sparse product come together: PopSparse hands each row of blocks, in each range of columns, to one reduction.
 *
 * popops joins the reductions that have the same number of sources (reduceMany) and runs all of them in one compute set (graphcore/poplibs at
 * 7eac0f26, lib/popops/reduction/Reduction.cpp:988-1180). The result lies evenly over the tiles, row by row (StaticMatMul.cpp:507-509). A tile's part
 * thus belongs to one or two rows, whose reduction may get few of the tile's workers:
 *     workers     2, if there are more joined reductions than workers; else a share by rows (ReductionConnection.hpp:48-60)
 *     place       the tiles of the result, or all tiles evenly and a move, whichever ReductionPlan.cpp:92-196 estimates lower
 *     vertex      the strided one, which adds 8 bytes of sums at a time (codelets/asm/ReductionSpecial3.S); PopSparse's planner counts 16
 * Rows with one source are copied. It is a matter of chance whether a row of blocks has any in a band; if it has, each tile that holds some of them
 * is one source.
 */
#include "system-model/compiler/sparse.h"
#include <gsl/gsl_cdf.h>

enum { MOST_SOURCES = 512, PLANNED_GRAIN = 8 };

/* chances[f]: the share of rows with f sources. */
struct source_chances { double of[MOST_SOURCES]; };

static struct source_chances source_chances(const struct static_split *p)
{
    struct source_chances c = { { 1 } };
    uint64_t whole = (uint64_t)p->run_ends;
    double more = p->row_chance * (p->run_ends - (double)whole), none = 1 - p->row_chance;
    for (uint64_t band = 0; band < p->n_bands; band++)
        for (uint64_t f = MOST_SOURCES; f-- > 0;) {
            double one = f > whole ? c.of[f - 1 - whole] : 0, two = f > whole + 1 ? c.of[f - 2 - whole] : 0;
            c.of[f] = c.of[f] * none + one * (p->row_chance - more) + two * more;
        }
    return c;
}

/* A joined reduction: rows with the same number of sources, and where they are added. */
struct joined { uint64_t sources, workers, most, even; bool spread; };      /* most, even: elements on the fullest tile of the result, and on each tile if they are spread over all */

/* with_blocks: the share of rows that have blocks, among those of the split; of_result: among all rows of the result. */
struct sums_input { const struct static_split *split; const struct chip *chip; uint64_t elements, region, n_tiles, bytes; bool half; double with_blocks, of_result; };

/* The number of regions that a joined reduction with this share of the rows has on a tile, for the tile with most of them. */
static uint64_t most_regions(const struct sums_input *q, double share)
{
    uint64_t regions = ceil_div(q->elements, q->region), k = regions;
    while (k > 1 && (double)q->n_tiles * gsl_cdf_binomial_Q((unsigned)k - 1, share, (unsigned)regions) < 1)
        k--;
    return k;
}

/* True if popops estimates more cycles for adding at the tiles of the result than for adding on all tiles and moving the sums. */
static bool is_spread(const struct sums_input *q, const struct joined *j)
{
    uint64_t vector = 8 / q->bytes, rate = q->chip->exchange_bytes_per_cycle, sync = q->chip->on_chip_sync_cycles;
    uint64_t there = ceil_div(j->most * q->bytes, rate) + j->sources * ceil_div(j->most, vector) + sync;
    uint64_t spread = ceil_div(j->even * j->sources * q->bytes, rate) + j->sources * ceil_div(j->even, vector) + ceil_div(j->most * q->bytes, rate) + 2 * sync;
    return there >= spread;
}

static struct joined joined_of(const struct sums_input *q, uint64_t sources, double share, uint64_t n_joined)
{
    uint64_t w = q->chip->n_workers;
    double of_result = share * q->of_result;
    struct joined j = { .sources = sources, .workers = n_joined > w ? 2 : max_u64(1, (uint64_t)ceil((double)w * share / q->with_blocks)),
                        .most = min_u64(q->elements, most_regions(q, of_result) * q->region) };
    j.even = PLANNED_GRAIN * (uint64_t)ceil(of_result * (double)q->elements / PLANNED_GRAIN);
    j.spread = is_spread(q, &j);
    return j;
}

/* A worker's cycles for its part of `elements`. */
static double sum_vertex_cycles(const struct sums_input *q, const struct joined *j, uint64_t elements)
{
    uint64_t vectors = ceil_div(ceil_div(elements, j->workers), 8 / q->bytes);
    return (double)(16 + vectors * ((q->half ? 8 : 5) + 6 + j->sources - 1));
}

/* A tile works on one of the reductions at the result's place, and on a part of every reduction that is spread. */
static void add_joined(struct static_sums *out, double *longest, double *work, const struct sums_input *q, const struct joined *j)
{
    if (j->sources == 1) {
        out->copied_bytes = j->most * q->bytes;
        return;
    }
    double vertex = sum_vertex_cycles(q, j, j->spread ? j->even : j->most);
    uint64_t received = j->sources * (j->spread ? j->even : j->most) * q->bytes;
    *longest = fmax(*longest, vertex);
    if (j->spread) {
        *work += (double)j->workers * vertex;
        out->spread_bytes += received;
        out->move_bytes = max_u64(out->move_bytes, j->most * q->bytes);
    } else
        out->place_bytes = max_u64(out->place_bytes, received);
}

struct static_sums static_sparse_sums(const struct static_split *p, const struct sparse_shape *s, const struct chip *chip, uint64_t n_tiles)
{
    uint64_t bytes = data_type_bytes((enum data_type)s->type), grain = s->block == 1 ? 8 / bytes : 64 / (bytes * bytes), n_joined = 0;
    const struct source_chances c = source_chances(p);
    const struct sums_input q = { .split = p, .chip = chip, .n_tiles = n_tiles, .bytes = bytes, .half = s->type == TYPE_FP16, .region = p->columns * s->block,
                                  .with_blocks = 1 - c.of[0], .of_result = fmin(1, (double)p->n_rows / (double)(s->rows / s->block)),
                                  .elements = grain * ceil_div(ceil_div(s->rows * s->columns, grain), n_tiles) };
    double rows = (double)p->n_splits * (double)p->n_rows, longest = 0, work = 0;
    struct static_sums out = { 0 };
    for (uint64_t f = 1; f < MOST_SOURCES; f++)
        n_joined += c.of[f] * rows >= 1;
    for (uint64_t f = 1; f < MOST_SOURCES; f++)
        if (c.of[f] * rows >= 1) {
            struct joined j = joined_of(&q, f, c.of[f], n_joined);
            add_joined(&out, &longest, &work, &q, &j);
        }
    out.compute = (uint64_t)((double)chip->n_workers * fmax(longest, work / (double)chip->n_workers));
    return out;
}
