/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_steps.c - how a step's time is spent: by class of cost for every MLPerf configuration, and for one run from the least time of its
 * arithmetic to the predicted time.
 */
#include "results/figures/drawings.h"
#include "results/study/explain.h"

/* ---- every run -------------------------------------------------------------------------------------- */

/* Matrix products have a share of their own, apart from other computing. */
enum { SHARE_MATRIX = N_PART_CLASSES, N_SHARES };
static size_t step_share_index(enum part part)
{
    bool matrix = part == PART_MATMUL || part == PART_CONV || part == PART_LSTM;
    return matrix ? SHARE_MATRIX : (size_t)part_classes[part];
}
static const unsigned char share_order[N_SHARES] = { SHARE_MATRIX, CLASS_COMPUTE, CLASS_EXCHANGE, CLASS_SYNC, CLASS_LINKS, CLASS_MEMORY, CLASS_HOST,
                                                     CLASS_WAITING };
static const char *share_name(size_t share)
{
    return share == SHARE_MATRIX ? "matrix products" : share == CLASS_COMPUTE ? "other computing" : part_class_names[share];
}

/* Sorts by model, then round, then chips. */
static int run_order(const void *a, const void *b)
{
    const struct result *x = *(const struct result *const *)a, *y = *(const struct result *const *)b;
    int by_model = strcmp(x->workload, y->workload), by_round = strncmp(x->id, y->id, strlen("mlperf-v0.0"));
    if (by_model || by_round)
        return by_model ? by_model : by_round;
    if (x->ipus != y->ipus)
        return x->ipus < y->ipus ? -1 : 1;
    return strcmp(x->id, y->id);
}

/* The runs of MLPerf, one for each configuration; repeats in another framework or division are left out. */
static const struct result **mlperf_runs(size_t *n, const struct drawing *d)
{
    const struct results *all = d->from->results;
    const struct result **runs = ARENA_ROOM(d->a, const struct result *, all->n);
    *n = 0;
    for (size_t i = 0; i < all->n; i++) {
        struct mlperf_id id;
        const struct result *r = &all->items[i];
        if (mlperf_id_parse(&id, r) && !id.has_framework && r->step_time_s > 0
            && (text_is(id.division, "closed") || text_is(r->workload, "transformer-transducer")))
            runs[(*n)++] = r;
    }
    sort_items(runs, *n, sizeof *runs, run_order);
    return runs;
}

/* Writes the shares of a step in per cent. */
static void write_step_row(FILE *f, const struct result *r, size_t row, double waiting[2], struct arena *a)
{
    double share[N_SHARES] = {0}, cells[N_SHARES];
    for (int p = 0; p < N_PARTS; p++)
        share[step_share_index((enum part)p)] += 100 * r->breakdown_s[p] / r->step_time_s;
    fprintf(f, "%zu,%.4g,", row, r->step_time_s * 1e3);
    for (size_t k = 0; k < N_SHARES; k++)
        cells[k] = share[share_order[k]];
    drawing_row(f, drawing_label(r->id, a), cells, N_SHARES);
    waiting[0] = fmin(waiting[0], share[SHARE_MATRIX]);
    waiting[1] = fmax(waiting[1], share[SHARE_MATRIX]);
}

bool draw_breakdown(struct drawing *d, struct err *err)
{
    size_t n;
    double matrix[2] = { 100, 0 };
    const struct result **runs = mlperf_runs(&n, d);
    const char *names[N_SHARES];
    (void)err;
    d->missing = "no MLPerf run";
    for (size_t k = 0; k < N_SHARES; k++)
        names[k] = share_name(share_order[k]);
    FILE *f = drawing_table(d, "breakdown", arena_printf(d->a, "row,step ms,label,%s", names_joined(names, N_SHARES, ",", d->a)));
    for (size_t i = 0; i < n; i++)
        write_step_row(f, runs[i], n - 1 - i, matrix, d->a);
    if (n)
        d->finding = arena_printf(d->a, "Matrix products take %.0f to %.0f %% of a step; the rest feeds them or waits", matrix[0], matrix[1]);
    return true;
}

/* ---- one run: the ideal, and what is added to it --------------------------------------------------------- */

bool draw_waterfall(struct drawing *d, struct err *err)
{
    struct waterfall w = {0};
    const struct result *largest = drawing_hero(d->from->results, d->from->published);
    d->missing = "no training run that fits";
    if (!largest)
        return true;
    const struct simulation *sim = drawing_simulate(d, largest->id, NULL, 0, err);
    if (!sim)
        return false;
    drawing_shows(d, d->result.guess);
    waterfall_build(&w, &sim->timeline);
    double ms = 1e3 / sim->machine->chip.clock_hz / (double)timeline_ipus(&sim->timeline);
    FILE *f = drawing_table(d, "waterfall", "name,row,from,to");
    for (size_t i = 0; i < w.n; i++)
        DRAWING_ROW(f, w.items[i].name, (double)i, (double)w.items[i].from_ipu_cycles * ms, (double)w.items[i].to_ipu_cycles * ms);
    d->finding = arena_printf(d->a, "%s: arithmetic alone would take %.3g ms, a step takes %.3g ms (mean IPU)", drawing_label(largest->id, d->a),
                              (double)w.items[0].to_ipu_cycles * ms, (double)w.items[w.n - 1].to_ipu_cycles * ms);
    return true;
}
