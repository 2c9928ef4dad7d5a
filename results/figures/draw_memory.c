/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_memory.c - what the fullest tile of each IPU holds, against its limit, and what recomputation saves and costs.
 */
#include "results/figures/drawings.h"
#include "results/simulate/simulate.h"
#include "system-model/graph/graph.h"

/* ---- by IPU and region ------------------------------------------------------------------------------------ */

enum { MOST_MEMORY_RUNS = 4 };

/* The training runs with the fullest tiles, one per model, fullest first. */
static size_t fullest_runs(const struct result *out[MOST_MEMORY_RUNS], const struct results *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct result *r = &all->items[i];
        if (!r->fits || is_known(r->latency_s))
            continue;
        size_t at = 0;
        while (at < n && !text_is(out[at]->workload, r->workload))
            at++;
        if (at == n && n < MOST_MEMORY_RUNS)
            out[n++] = r;
        else if (at < n && r->memory_peak_bytes_per_tile > out[at]->memory_peak_bytes_per_tile)
            out[at] = r;
    }
    return n;
}

const char *drawing_memory_heads(struct arena *a)
{
    return arena_printf(a, "limit,%s", names_joined(memory_category_names, N_MEMORY_CATEGORIES, ",", a));
}

void drawing_memory(FILE *f, const struct tile_memory *m, uint64_t tile_bytes)
{
    double kib[N_MEMORY_CATEGORIES + 1] = { (double)tile_bytes / 1024 };
    for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
        kib[k + 1] = (double)m->bytes[k] / 1024;
    drawing_row(f, NULL, kib, N_MEMORY_CATEGORIES + 1);
}

struct fullest { double share; const char *recipe; uint32_t ipu; };

static void write_tile_regions(FILE *f, const struct simulation *sim, const char *recipe, uint32_t *row, struct fullest *most, struct arena *a)
{
    uint64_t limit = sim->machine->chip.tile_memory_bytes;
    for (uint32_t i = 0; i < sim->plan.request.ipus_per_replica; i++, (*row)++) {
        const struct tile_memory *m = &sim->plan.memory[i];
        double sum = 0;
        for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
            sum += (double)m->bytes[k];
        fprintf(f, "%u,%s IPU %u,", *row, drawing_label(recipe, a), i);
        drawing_memory(f, m, limit);
        if (sum / (double)limit > most->share)
            *most = (struct fullest){ sum / (double)limit, recipe, i };
    }
}

bool draw_memory(struct drawing *d, struct err *err)
{
    const struct result *runs[MOST_MEMORY_RUNS];
    size_t n = fullest_runs(runs, d->from->results);
    FILE *f = drawing_table(d, "memory", arena_printf(d->a, "row,label,%s", drawing_memory_heads(d->a)));
    struct fullest most = {0};
    uint32_t row = 0;
    for (size_t i = 0; i < n; i++) {
        const struct simulation *sim = drawing_simulate(d, runs[i]->id, NULL, 0, err);
        if (!sim)
            return false;
        write_tile_regions(f, sim, runs[i]->id, &row, &most, d->a);
    }
    d->missing = "no training run that fits";
    if (n)
        d->finding = arena_printf(d->a, "What the fullest tile holds: closest to its limit is IPU %u of %s, %.0f %% full", most.ipu,
                              drawing_label(most.recipe, d->a), 100 * most.share);
    return true;
}

/* ---- recomputation: memory against extra work ---------------------------------------------------------------- */

static const char *const recompute_workloads[] = { "resnet50", "resnet152", "densenet121" };

/* The least extra work that keeps at most a fifth of the activations; NAN if no point does. */
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
            *work_for_a_fifth = fmin(points[i].extra_work_share, *work_for_a_fifth);     /* false for NAN too */
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
