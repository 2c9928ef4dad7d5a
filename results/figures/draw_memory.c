/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_memory.c - the contents of the fullest tile of each model, against its limit, and what recomputation saves and costs.
 */
#include "results/figures/drawings.h"
#include "results/simulate/simulate.h"
#include "system-model/graph/graph.h"

/* ---- by model and region ------------------------------------------------------------------------------------ */

enum { MOST_MEMORY_RUNS = 12 };

/* For each model, the training run whose fullest tile holds most; the fullest model comes first. */
static size_t fullest_runs(const struct result **out, const struct results *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct result *r = &all->items[i];
        if (!r->fits || is_known(r->latency_s))
            continue;
        size_t at = 0;
        while (at < n && !text_is(out[at]->workload, r->workload))
            at++;
        if (at == n)
            out[n++] = r;
        else if (r->memory_peak_bytes_per_tile > out[at]->memory_peak_bytes_per_tile)
            out[at] = r;
    }
    SORT_POINTERS_BY(out, n, FALLING(struct result, memory_peak_bytes_per_tile), RISING(struct result, id));
    return n < MOST_MEMORY_RUNS ? n : MOST_MEMORY_RUNS;
}

const char *drawing_memory_heads(struct arena *a)
{
    return arena_printf(a, "limit,%s", names_joined(memory_category_names, N_MEMORY_CATEGORIES, ",", a));
}

void drawing_memory(FILE *f, const struct tile_memory *m, uint64_t tile_bytes)
{
    double kb[N_MEMORY_CATEGORIES + 1] = { (double)tile_bytes / 1000 };
    for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
        kb[k + 1] = (double)m->bytes[k] / 1000;
    drawing_row(f, NULL, kb, N_MEMORY_CATEGORIES + 1);
}

bool draw_memory(struct drawing *d, struct err *err)
{
    const struct result **runs = ARENA_ROOM(d->a, const struct result *, d->from->results->n);
    size_t n = fullest_runs(runs, d->from->results);
    FILE *f = drawing_table(d, "memory", arena_printf(d->a, "row,label,%s", drawing_memory_heads(d->a)));
    d->missing = "no training run that fits";
    for (size_t i = 0; i < n; i++) {
        const struct simulation *sim = drawing_simulate(d, runs[i]->id, NULL, 0, err);
        if (!sim)
            return false;
        const struct tile_memory *m = &sim->plan.memory[sim->plan.worst_ipu];
        fprintf(f, "%zu,%s IPU %u,", i, drawing_label(runs[i]->id, d->a), sim->plan.worst_ipu);
        drawing_memory(f, m, sim->machine->chip.tile_memory_bytes);
        if (i == 0)
            d->finding = arena_printf(d->a, "What the fullest tile holds, by model: the fullest of all is on IPU %u of %s, %.0f %% full", sim->plan.worst_ipu,
                                      drawing_label(runs[i]->id, d->a), 100 * (double)m->total_bytes / (double)sim->machine->chip.tile_memory_bytes);
    }
    return true;
}

/* ---- recomputation: memory against extra work ---------------------------------------------------------------- */

static const char *const recompute_workloads[] = { "resnet50", "resnet152", "densenet121" };

/* Writes the curve of recomputation. *work_for_a_fifth is the least extra work that keeps at most a fifth of the activations, or NAN. */
static bool write_recompute(struct drawing *d, const char *workload, double *work_for_a_fifth, struct err *err)
{
    struct graph g = {0};
    struct recompute_point *points;
    size_t n;
    const struct workload *w = workload_find(workload, err);
    if (!w || !workload_graph(&g, w, NULL, d->a, err))
        return false;
    FILE *f = drawing_table(d, arena_printf(d->a, "recompute-%s", workload), "checkpoints,memory,extra work");
    recompute_curve(&points, &n, &g, d->a);
    *work_for_a_fifth = NAN;
    for (size_t i = 0; i < n; i++) {
        DRAWING_ROW(f, NULL, points[i].n_checkpoints, 100 * points[i].memory_share, 100 * points[i].extra_work_share);
        if (points[i].memory_share <= 0.2)
            *work_for_a_fifth = fmin(points[i].extra_work_share, *work_for_a_fifth);     /* fmin() ignores NAN */
    }
    return true;
}

bool draw_recompute(struct drawing *d, struct err *err)
{
    const char *text = "";
    for (size_t i = 0; i < sizeof recompute_workloads / sizeof *recompute_workloads; i++) {
        double work;
        if (!write_recompute(d, recompute_workloads[i], &work, err))
            return false;
        const char *one = isnan(work) ? arena_printf(d->a, "%s never gets there", recompute_workloads[i])
                                      : arena_printf(d->a, "%s with %.0f %% more work", recompute_workloads[i], 100 * work);
        text = i ? arena_printf(d->a, "%s, %s", text, one) : one;
    }
    d->finding = arena_printf(d->a, "Down to a fifth of the activation memory: %s", text);
    return true;
}
