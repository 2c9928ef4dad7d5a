/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * without_fit.c - errors of published runs if the fit had not seen their family, or if nothing had been fitted.
 */
#include "results/study/trust.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

const char without_fit_title[] = "throughputs as fitted, with the runs of their family and mode left out of the fit of the system's constants, and with nothing fitted";

/* The cases: as fitted, with the family left out of the fit, and with nothing fitted. */
enum fit_case { AS_FITTED, WITHOUT_FAMILY, NOTHING_FITTED, N_FIT_CASES };
struct fit_errors { const char *runs, *role; uint64_t n; double median[N_FIT_CASES], mean[N_FIT_CASES]; };

static double error_in(const struct reference *r, enum fit_case which)
{
    return which == AS_FITTED ? log(r->simulated / r->published) : which == WITHOUT_FAMILY ? r->without_family : r->unfitted;
}

static bool counts_for_role(const struct reference *r, enum role role, const struct reference *of)
{
    return r->role == role && (!of || (property_names_equal(&r->at, &of->at, BY_FAMILY) && property_names_equal(&r->at, &of->at, BY_MODE)));
}

/* The errors of all runs with a role, or, with `of`, of the runs that share its family and mode. */
static struct fit_errors errors_of(const struct references *all, enum role role, const struct reference *of, struct arena *a)
{
    const char *family = of && strncmp(of->at.name[BY_FAMILY], "onnx ", 5) == 0 ? of->at.name[BY_WORKLOAD] : of ? of->at.name[BY_FAMILY] : NULL;
    struct fit_errors e = { of ? arena_printf(a, "%s, %s", family, of->at.name[BY_MODE]) : "all", role_names[role], 0, {0}, {0} };
    double *sizes = ARENA_ROOM(a, double, all->n + 1);
    for (int which = 0; which < N_FIT_CASES; which++) {
        e.n = 0;
        for (const struct reference *r = all->items; r < all->items + all->n; r++)
            if (counts_for_role(r, role, of)) {
                double size = fabs(expm1(error_in(r, (enum fit_case)which)));
                sizes[e.n++] = size;
                e.mean[which] += (size - e.mean[which]) / (double)e.n;
            }
        gsl_sort(sizes, 1, e.n);
        e.median[which] = e.n ? gsl_stats_median_from_sorted_data(sizes, 1, e.n) : (double)NAN;
    }
    return e;
}

static bool is_first_of_family(const struct references *all, const struct reference *r)
{
    for (const struct reference *x = all->items; x < r; x++)
        if (counts_for_role(x, x->role, r))
            return false;
    return true;
}

#define SHARE(member, csv, title) { COLUMN_AS(struct fit_errors, member, csv), .heading = title, .format = "%.1f", .scale = 100 }
static const struct table_column fit_errors_columns[] = {
    { COLUMN(struct fit_errors, runs), .heading = "throughputs" }, { COLUMN(struct fit_errors, role), .heading = "role" }, { COLUMN(struct fit_errors, n), .heading = "conf" },
    SHARE(median[AS_FITTED], "median_error", "median %"), SHARE(mean[AS_FITTED], "mean_error", "mean %"),
    SHARE(median[WITHOUT_FAMILY], "median_error_without_family", "family left out: median %"), SHARE(mean[WITHOUT_FAMILY], "mean_error_without_family", "mean %"),
    SHARE(median[NOTHING_FITTED], "median_error_unfitted", "nothing fitted: median %"), SHARE(mean[NOTHING_FITTED], "mean_error_unfitted", "mean %"),
};
#undef SHARE

struct table without_fit_table(const struct references *all, struct arena *a)
{
    static const enum role roles[] = { FIGURE_CALIBRATE, FIGURE_VALIDATE };
    enum { LEAST_RUNS = 3 };                    /* the fewest runs of a family that are shown */
    struct fit_errors *rows = ARENA_ARRAY(a, struct fit_errors, 2 * (all->n + 1));
    size_t n = 0;
    for (size_t k = 0; k < 2; k++)
        rows[n++] = errors_of(all, roles[k], NULL, a);
    for (const struct reference *r = all->items; r < all->items + all->n; r++)
        for (size_t k = 0; k < 2 && is_first_of_family(all, r); k++) {
            rows[n] = errors_of(all, roles[k], r, a);
            n += rows[n].n >= LEAST_RUNS;
        }
    return TABLE_OF(fit_errors_columns, rows, n);
}
