/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_map.c - a sweep as a map: the throughput of one training run over micro-batch and gradient accumulation, and where it no longer fits.
 */
#include "results/figures/drawings.h"

/* Prefers runs with one IPU per replica, since both axes then change nothing else, and among these the smaller run. */
static bool smaller(const struct result *x, const struct result *y)
{
    bool x_flat = !(x->breakdown_s[PART_STAGE_COPY] > 0), y_flat = !(y->breakdown_s[PART_STAGE_COPY] > 0);
    return x_flat != y_flat ? x_flat : x->ipus != y->ipus ? x->ipus < y->ipus : strcmp(x->id, y->id) < 0;
}

static const unsigned micro_batches[] = { 1, 2, 4, 8, 12, 16, 20, 24, 32 };
static const unsigned accumulations[] = { 1, 2, 4, 8, 16, 32, 64, 128 };
enum { N_X = sizeof micro_batches / sizeof *micro_batches, N_Y = sizeof accumulations / sizeof *accumulations };

struct best { double throughput; unsigned micro_batch, accumulation; };

static void write_map_point(FILE *f, size_t x, size_t y, const char *id, struct best *best, struct drawing *d)
{
    const char *const sets[] = { arena_printf(d->a, "parallel.micro_batch=%u", micro_batches[x]),
                                 arena_printf(d->a, "parallel.gradient_accumulation=%u", accumulations[y]) };
    bool good = drawing_simulate(d, id, sets, 2, NULL), fits = good && d->result.fits;
    double rate = d->result.throughput_samples_per_s;
    fprintf(f, "%zu,%zu,%s,%s\n", x, y, fits ? arena_printf(d->a, "%.8g", rate) : "NaN",
            !good ? "refused" : !fits ? "does not fit" : arena_printf(d->a, "%.0f", rate));
    if (fits)
        drawing_shows(d, d->result.guess);
    if (fits && rate > best->throughput)
        *best = (struct best){ rate, micro_batches[x], accumulations[y] };
}

bool draw_map(struct drawing *d, struct err *err)
{
    const struct result *run = drawing_run(d, smaller);
    struct best best = {0};
    (void)err;
    d->missing = "no training run that fits";
    if (!run)
        return true;
    FILE *f = drawing_table(d, "map", "x,y,throughput,text");
    for (size_t y = 0; y < N_Y; y++)
        for (size_t x = 0; x < N_X; x++)
            write_map_point(f, x, y, run->id, &best, d);
    d->finding = arena_printf(d->a, "%s: %.0f samples/s predicted as it ran, at most %.0f (micro-batch %u, accumulation %u)",
                              drawing_label(run->id, d->a), run->throughput_samples_per_s, best.throughput, best.micro_batch,
                              best.accumulation);
    return true;
}
