/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_fit.c - the memory of each IPU by category over the micro-batch, against the limit, for the sizes that `podbench fit` tries.
 */
#include "results/figures/drawings.h"
#include "results/study/fit.h"

enum { SIZES_DRAWN = 6 };

static bool fuller(const struct result *x, const struct result *y)
{
    return x->memory_peak_bytes_per_tile > y->memory_peak_bytes_per_tile;
}

/* The number of sizes to draw, up to just above the largest that fits; *first is the first of them. */
static size_t sizes_shown(size_t *first, const struct fit_axis *axis)
{
    size_t last = 0;
    for (size_t i = 0; i < axis->n; i++)
        if (!axis->sizes[i].refused && axis->sizes[i].size <= axis->best + 2)
            last = i;
    *first = last + 1 > SIZES_DRAWN ? last + 1 - SIZES_DRAWN : 0;
    return last + 1 - *first;
}

/* Writes a bar for each IPU of a replica, and leaves a gap between sizes. */
static void write_bars(FILE *f, const struct fit_answer *x)
{
    const struct fit_axis *axis = &x->axes[FIT_MICRO_BATCH];
    size_t first, n = sizes_shown(&first, axis);
    uint32_t row = 0;
    for (const struct fit_size *size = axis->sizes + first; size < axis->sizes + first + n; size++, row++)
        for (uint32_t ipu = 0; !size->refused && ipu < size->n_ipus; ipu++, row++) {
            fprintf(f, "%" PRIu64 ",%u,%s,%.6g,%u,", size->size, ipu, size->fits ? "yes" : "no", size->fits_probability, row);
            if (ipu == size->n_ipus / 2)
                fprintf(f, "%" PRIu64 "%s,", size->size, size->fits ? "" : " no");
            else
                fprintf(f, " ,");
            drawing_memory(f, &size->memory[ipu], x->tile_memory_bytes);
        }
}

bool draw_fit(struct drawing *d, struct err *err)
{
    struct fit_answer answer;
    const struct result *run = drawing_run(d, fuller);
    d->missing = "no training run that fits";
    if (!run)
        return true;
    struct fit_request q = { .simulation = { .recipe = run->id, .simulator = d->from->simulator, .options = d->from->simulator->options } };
    if (!fit_find(&answer, &q, d->a, err))
        return false;
    write_bars(drawing_table(d, "fit", arena_printf(d->a, "micro_batch,ipu,fits,fits_probability,row,label,%s", drawing_memory_heads(d->a))), &answer);
    const struct fit_axis *axis = &answer.axes[FIT_MICRO_BATCH];
    d->finding = arena_printf(d->a, "Memory over the micro-batch: %s fits up to %" PRIu64 ", with 90 %% certainty up to %" PRIu64,
                              drawing_label(run->id, d->a), axis->best, axis->best_surely);
    return true;
}
