/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_scaling.c - throughput and efficiency over the number of chips: closed-division runs of each round, published and predicted, with ideal
 * scaling; and predictions for machines without any published run.
 */
#include "results/figures/drawings.h"

static const char *const workload_names[] = { "resnet50", "bert-large" };

static void write_scaling_panel(struct drawing *d, const struct scaling *s)
{
    const char *header = "chips";
    enum { N_CELLS = sizeof(struct scaling_point) / sizeof(double) };
    for (size_t k = 0; k < N_SCALING_ROUNDS; k++)
        header = arena_printf(d->a, "%1$s,%2$s published,%2$s simulated,%2$s ideal,%2$s published efficiency,%2$s simulated efficiency", header, scaling_rounds[k]);
    FILE *f = drawing_table(d, arena_printf(d->a, "scaling-%s", s->workload), header);
    for (size_t i = 0; i < s->n_sizes; i++) {
        double cells[1 + N_SCALING_ROUNDS * N_CELLS] = { (double)s->sizes[i] };
        for (size_t k = 0; k < N_SCALING_ROUNDS; k++)
            memcpy(cells + 1 + k * N_CELLS, &s->points[k][i], sizeof(struct scaling_point));
        drawing_row(f, NULL, cells, sizeof cells / sizeof *cells);
    }
}

/* The difference of published and predicted efficiency, in percentage points. */
static double gap_of(const struct scaling_point *p)
{
    return fabs(p->simulated_efficiency - p->published_efficiency);
}

/* The point with the largest gap. */
static const struct scaling_point *worst_gap(const struct scaling *s, size_t *round, size_t *size)
{
    const struct scaling_point *worst = NULL;
    for (size_t k = 0; k < N_SCALING_ROUNDS; k++)
        for (size_t i = 0; i < s->n_sizes; i++) {
            const struct scaling_point *p = &s->points[k][i];
            if (!isnan(gap_of(p)) && (!worst || gap_of(p) > gap_of(worst))) {
                worst = p;
                *round = k, *size = i;
            }
        }
    return worst;
}

bool draw_scaling(struct drawing *d, struct err *err)
{
    const char *text[2] = { "", "" };
    (void)err;
    for (size_t i = 0; i < 2; i++) {
        struct scaling s;
        size_t round, size;
        scaling_build(&s, workload_names[i], d->from->results, d->from->published);
        write_scaling_panel(d, &s);
        const struct scaling_point *p = worst_gap(&s, &round, &size);
        if (p)
            text[i] = arena_printf(d->a, "%s within %.1f points (%s, %llu IPUs)", i ? "BERT-Large" : "ResNet-50",
                                   gap_of(p), scaling_rounds[round], (unsigned long long)s.sizes[size]);
    }
    d->missing = "no MLPerf runs of both ResNet-50 and BERT-Large";
    if (*text[0] && *text[1])           /* the figure needs points in both panels */
        d->finding = arena_printf(d->a, "Scaling efficiency as predicted and as published: %s, %s", text[0], text[1]);
    return true;
}

/* ---- several sizes of one machine, of which nothing was published -------------------------------------------------- */

enum { LEAST_SIZES = 3 };

static bool one_series(const struct result *x, const struct result *y)
{
    return text_is(x->system, y->system) && text_is(x->workload, y->workload);
}

static bool all_differ(const struct result *const *r, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (r[i]->ipus == r[i - 1]->ipus)
            return false;
    return true;
}

static void write_series(FILE *f, struct drawing *d, const struct result *const *r, size_t n, size_t series)
{
    double each = r[0]->throughput_samples_per_s / (double)r[0]->ipus, last = NAN;
    for (size_t i = 0; i < n; i++) {
        last = 100 * r[i]->throughput_samples_per_s / (double)r[i]->ipus / each;
        DRAWING_ROW(f, r[0]->workload, (double)series, (double)r[i]->ipus, r[i]->throughput_samples_per_s, last,
                    100 * r[i]->breakdown_s[PART_ALL_REDUCE] / r[i]->step_time_s);
        drawing_shows(d, r[i]->guess);
    }
    d->finding = arena_printf(d->a, "%s %s at %.0f %% on %llu IPUs of %s", d->finding ? arena_printf(d->a, "%s;", d->finding) : "Predicted, not measured, efficiency:",
                              r[0]->workload, last, (unsigned long long)r[n - 1]->ipus, r[0]->system);
}

/* Lists the training runs without a published rate. */
static size_t unpublished_runs(const struct result **out, const struct drawing *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->from->results->n; i++) {
        const struct result *r = &d->from->results->items[i];
        if (r->step_time_s > 0 && !is_known(r->latency_s) && !published_figure(d->from->published, r->id, "throughput_samples_per_s"))
            out[n++] = r;
    }
    SORT_POINTERS_BY(out, n, RISING(struct result, system), RISING(struct result, workload), RISING(struct result, ipus));
    return n;
}

bool draw_servers(struct drawing *d, struct err *err)
{
    const struct result **runs = ARENA_ARRAY(d->a, const struct result *, d->from->results->n + 1);
    size_t n = unpublished_runs(runs, d), n_series = 0;
    FILE *f = drawing_table(d, "servers", "workload,series,chips,samples,efficiency,all-reduce");
    (void)err;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && one_series(runs[i], runs[end]); )
            end++;
        if (end - i >= LEAST_SIZES && all_differ(runs + i, end - i))
            write_series(f, d, runs + i, end - i, ++n_series);
    }
    d->missing = "no machine of three sizes of which nothing was published";
    return true;
}
