/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_kinds.c - errors of throughput by how much was known of a run when it was first predicted: those of that time, and today's. A
 * configuration is a dot at predicted / published; a kind's band holds nine in ten of its dots.
 */
#include "results/figures/drawings.h"
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

struct ratio_band { double low, high; };

static struct ratio_band band_of(double *ratios, size_t n)
{
    gsl_sort(ratios, 1, n);
    return (struct ratio_band){ gsl_stats_quantile_from_sorted_data(ratios, 1, n, 0.05), gsl_stats_quantile_from_sorted_data(ratios, 1, n, 0.95) };
}

static void write_kind(FILE *dots, FILE *bands, const struct first_seen_rows *rows, const struct first_seen_group *group, size_t row, struct arena *a)
{
    double *then = ARENA_ROOM(a, double, rows->n), *now = ARENA_ROOM(a, double, rows->n);
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct first_seen *x = &rows->items[i];
        if (!text_is(novelty_names[x->novelty], group->kind))
            continue;
        then[n] = x->ratio_then;
        now[n++] = x->ratio_now;
        fprintf(dots, "%s,%s,", group->kind, x->figure->recipe);
        DRAWING_ROW(dots, NULL, (double)row, x->ratio_then, x->ratio_now);
    }
    struct ratio_band first = band_of(then, n), today = band_of(now, n);
    DRAWING_ROW(bands, group->kind, (double)row, (double)n, first.low, first.high, today.low, today.high, 100 * group->then_median, 100 * group->now_median);
}

/* A sentence about the errors of all rows, and of the kind with most rows. */
static const char *kinds_finding(const struct first_seen_group *groups, size_t n, struct arena *a)
{
    const struct first_seen_group *most = groups, *all = &groups[n - 1];
    for (size_t i = 1; i + 1 < n; i++)
        most = groups[i].n > most->n ? &groups[i] : most;
    return arena_printf(a, "Half of %zu configurations were predicted within %.0f %% at first sight, now within %.1f %%; %s: %.1f and %.1f %%", all->n,
                        100 * all->then_median, 100 * all->now_median, most->kind, 100 * most->then_median, 100 * most->now_median);
}

bool draw_kinds(struct drawing *d, struct err *err)
{
    struct first_seen_group groups[N_NOVELTIES + 1];
    const struct first_seen_rows *rows = d->from->first_seen;
    (void)err;
    d->missing = "no published configuration with a first sight";
    if (!rows || !rows->n)
        return true;
    size_t n = first_seen_groups(groups, rows, d->a);
    FILE *dots = drawing_table(d, "kinds", "kind,recipe,row,then,now"), *bands = drawing_table(d, "kinds-bands", "kind,row,configurations,then low,then high,now low,now high,then median,now median");
    for (size_t i = 0; i + 1 < n; i++)
        write_kind(dots, bands, rows, &groups[i], i, d->a);
    d->finding = kinds_finding(groups, n, d->a);
    return true;
}
