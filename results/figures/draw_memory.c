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

struct fullest { double share; const char *recipe; uint32_t ipu; };

static void write_tile_regions(FILE *f, const struct simulation *sim, const char *recipe, uint32_t *row, struct fullest *most, struct arena *a)
{
    double limit = (double)sim->machine->chip.tile_memory_bytes / 1024;
    for (uint32_t i = 0; i < sim->plan.request.ipus_per_replica; i++, (*row)++) {
        const struct tile_memory *m = &sim->plan.memory[i];
        double end = 0;
        fprintf(f, "%u,%.2f,%.2f,%s IPU %u,%.6g", *row, *row - 0.38, *row + 0.38, drawing_label(recipe, a), i, limit);
        for (int k = 0; k < N_MEMORY_CATEGORIES; k++) {
            fprintf(f, ",%.6g", end);
            fprintf(f, ",%.6g", end += (double)m->bytes[k] / 1024);
        }
        fprintf(f, "\n");
        if (end / limit > most->share)
            *most = (struct fullest){ end / limit, recipe, i };
    }
}

bool draw_memory(struct drawing *d, struct err *err)
{
    struct new_file file;
    struct fullest most = {0};
    uint32_t row = 0;
    if (!drawing_open(&file, d, "memory", err))
        return false;
    fprintf(file.f, "row,low,high,label,limit");
    for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
        fprintf(file.f, ",%s,%s end", memory_category_names[k], memory_category_names[k]);
    fprintf(file.f, "\n");
    const struct result *runs[MOST_MEMORY_RUNS];
    size_t n = fullest_runs(runs, d->from->results);
    for (size_t i = 0; i < n; i++) {
        struct simulation sim;
        struct result r;
        if (!simulator_run(d->from->simulator, &sim, &r, runs[i]->id, NULL, 0, err)) {
            new_file_drop(&file);
            return false;
        }
        write_tile_regions(file.f, &sim, runs[i]->id, &row, &most, d->a);
        simulation_free(&sim);
    }
    d->missing = "no training run that fits";
    if (n)
        d->finding = arena_printf(d->a, "What the fullest tile holds: closest to its limit is IPU %u of %s, %.0f %% full", most.ipu,
                              drawing_label(most.recipe, d->a), 100 * most.share);
    return new_file_save(&file, err);
}

/* ---- recomputation: memory against extra work ---------------------------------------------------------------- */

static const char *const recompute_workloads[] = { "resnet50", "resnet152", "densenet121" };

/* The least extra work that keeps at most a fifth of the activations; NAN if no point does. */
static bool write_recompute(struct drawing *d, const char *workload, double *work_for_a_fifth, struct err *err)
{
    struct graph g = {0};
    struct recompute_point *points;
    struct new_file file;
    size_t n;
    const struct workload *w = workload_find(workload, err);
    if (!w || !workload_graph(&g, w, NULL, d->a, err) || !drawing_open(&file, d, arena_printf(d->a, "recompute-%s", workload), err))
        return false;
    recompute_curve(&points, &n, &g, d->a);
    *work_for_a_fifth = NAN;
    fprintf(file.f, "checkpoints,memory,extra work\n");
    for (size_t i = 0; i < n; i++) {
        drawing_number(file.f, points[i].n_checkpoints, false);
        drawing_number(file.f, 100 * points[i].memory_share, false);
        drawing_number(file.f, 100 * points[i].extra_work_share, true);
        if (points[i].memory_share <= 0.2)
            *work_for_a_fifth = fmin(points[i].extra_work_share, *work_for_a_fifth);     /* false for NAN too */
    }
    return new_file_save(&file, err);
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
