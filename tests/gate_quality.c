/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate_quality.c - how often the judgement of measured series cries wolf, and how soon it sees a change: make gate-quality.
 *
 * Histories are drawn from noise of a known kind, in units of its standard deviation, and each point is judged as it arrives. Exit 1 when
 * an aim is missed. Arguments: the number of histories, and a seed. Real noise: the single runs of each published MLPerf submission against its own mean, drawn again at random.
 */
#include "results/history/history.h"
#include "results/published/published.h"
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNCHANGED = 100, FIRST = 60, ALARM = 20, MOST = FIRST + ALARM + UNCHANGED + 20 };

struct source { gsl_rng *rng; double *real; size_t n_real; };

static void gaussian(double *x, size_t n, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = gsl_ran_ugaussian(s->rng);
}

static void log_normal(double *x, size_t n, struct source *s)
{
    const double sigma = 0.5, mean = exp(sigma * sigma / 2), sd = mean * sqrt(exp(sigma * sigma) - 1);
    for (size_t i = 0; i < n; i++)
        x[i] = (exp(sigma * gsl_ran_ugaussian(s->rng)) - mean) / sd;
}

/* Three in ten runs are four deviations slower. */
static void two_mode(double *x, size_t n, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = ((gsl_rng_uniform(s->rng) < 0.3 ? 4 : 0) - 1.2 + gsl_ran_ugaussian(s->rng)) / sqrt(1 + 16 * 0.3 * 0.7);
}

static void outliers(double *x, size_t n, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = gsl_ran_ugaussian(s->rng) + (gsl_rng_uniform(s->rng) < 0.02 ? (gsl_rng_uniform(s->rng) < 0.5 ? -10 : 10) : 0);
}

static void correlated(double *x, size_t n, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = i ? 0.5 * x[i - 1] + sqrt(0.75) * gsl_ran_ugaussian(s->rng) : gsl_ran_ugaussian(s->rng);
}

static void real_runs(double *x, size_t n, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = s->real[gsl_rng_uniform_int(s->rng, s->n_real)];
}

/* Aims, as shares: alarms on unchanged histories, changes of 3 deviations within 5 points, of 2 within 10; 0 if none. */
static const struct noise { const char *name; void (*draw)(double *x, size_t n, struct source *s); double alarms, of_3, of_2; } noises[] = {
    { "Gaussian",                gaussian,   0.01, 0.98, 0.92 },
    { "log-normal, sigma 0.5",   log_normal, 0.01, 0, 0 },
    { "two modes",               two_mode,   0.01, 0, 0 },
    { "2 % outliers of 10 sd",   outliers,   0.01, 0, 0 },
    { "correlated, r 0.5",       correlated, 0.01, 0, 0 },
    { "real MLPerf runs",        real_runs,  0.01, 0, 0 },
};

static const struct series_rule lower_is_better = { .better = -1 };

static bool alarms(const double *x, size_t from, size_t to, struct arena *a)
{
    bool found = false;
    for (size_t t = from; t <= to && !found; t++)
        found = series_judge(x, t, &lower_is_better, a).verdict == SERIES_WORSE;
    arena_free(a);
    return found;
}

/* Share of histories with an alarm: unchanged ones, or within `within` points of a change after `before` points. */
static double share_found(const struct noise *k, struct source *s, size_t n_histories, size_t before, size_t within, double shift)
{
    struct arena a = {0};
    double x[MOST];
    size_t found = 0;
    for (size_t i = 0; i < n_histories; i++) {
        k->draw(x, before + within, s);
        for (size_t j = before; j < before + within; j++)
            x[j] += shift;
        found += alarms(x, shift > 0 ? before + 1 : 1, before + within, &a);
    }
    return (double)found / (double)n_histories;
}

enum what { ACCEPTED, REPAIRED, LASTING };

/* The share of histories that are worse at the end, or were once after the shift was accepted: FIRST points, then a shift for ALARM points, and
 * then `after` points, of which the last five are `last` deviations higher. The shift is accepted then, is repaired then, or lasts. */
static double share_worse(const struct noise *k, struct source *s, size_t n_histories, enum what what, double shift, size_t after, double last)
{
    bool accepted = what == ACCEPTED;
    const struct series_acceptance here = { FIRST + ALARM - 1, "wanted" };
    struct arena a = {0};
    double x[MOST];
    size_t n = FIRST + ALARM + after, found = 0;
    for (size_t i = 0; i < n_histories; i++) {
        struct series_level *levels;
        k->draw(x, n, s);
        for (size_t j = FIRST; j < (what != REPAIRED ? n : FIRST + ALARM); j++)
            x[j] += shift;
        for (size_t j = n - SERIES_LEAST_NEW; j < n; j++)
            x[j] += last;
        size_t n_levels = series_levels(&levels, x, n, &lower_is_better, &here, accepted, &a);
        bool worse = series_is_worse(levels, n_levels);
        for (size_t j = 0; j < n_levels && accepted && last <= 0; j++)
            worse = worse || (levels[j].change.verdict == SERIES_WORSE && levels[j].change.from >= FIRST + ALARM);
        found += worse;
        arena_free(&a);
    }
    return (double)found / (double)n_histories;
}

/* Each converged run's time over the mean of its submission, in deviations of all. */
static bool load_real(struct source *s, const char *path, struct arena *a, struct err *err)
{
    struct run_rows rows;
    if (!run_rows_load(&rows, path, a, err))
        return false;
    s->real = ARENA_ARRAY(a, double, rows.n);
    for (size_t first = 0, n; first < rows.n; first += n) {
        double sum = 0, count = 0;
        n = run_rows_group(&rows, first);
        for (size_t i = first; i < first + n; i++)
            if (rows.items[i].success) {
                sum += rows.items[i].time_to_train_s;
                count++;
            }
        for (size_t i = first; i < first + n && count > 1; i++)
            if (rows.items[i].success)
                s->real[s->n_real++] = rows.items[i].time_to_train_s / (sum / count) - 1;
    }
    double sd = gsl_stats_sd(s->real, 1, s->n_real);
    for (size_t i = 0; i < s->n_real; i++)
        s->real[i] /= sd;
    return true;
}

static bool report(const struct noise *k, struct source *s, size_t n)
{
    double unchanged = share_found(k, s, n, UNCHANGED, 0, 0);
    double of_1 = share_found(k, s, n, UNCHANGED, 20, 1), of_2 = share_found(k, s, n, UNCHANGED, 10, 2), of_3 = share_found(k, s, n, UNCHANGED, 5, 3);
    double early_2 = share_found(k, s, n, UNCHANGED / 2, 10, 2), early_3 = share_found(k, s, n, UNCHANGED / 2, 5, 3);
    printf("%-24s %7.2f %% %8.1f %% %8.1f %% %8.1f %%      %8.1f %% %8.1f %%\n", k->name, 100 * unchanged, 100 * of_3, 100 * of_2, 100 * of_1,
           100 * early_3, 100 * early_2);
    double again = share_worse(k, s, n, ACCEPTED, 4, UNCHANGED, 0), of_3_again = share_worse(k, s, n, ACCEPTED, 4, UNCHANGED, 3);
    double red = share_worse(k, s, n, REPAIRED, 4, 20, 0), lasting = share_worse(k, s, n, LASTING, 3, 60, 0);
    printf("%-24s %7.2f %% %8.1f %% %23s %8.2f %% %8.1f %%\n", "  accepted, repaired", 100 * again, 100 * of_3_again, "", 100 * red, 100 * lasting);
    return unchanged <= k->alarms && of_3 >= k->of_3 && of_2 >= k->of_2 && again <= k->alarms;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)atol(argv[1]) : 2000;
    struct source s = { .rng = gsl_rng_alloc(gsl_rng_mt19937) };
    struct arena a = {0};
    struct err err;
    bool good = true;
    if (argc > 2)
        gsl_rng_set(s.rng, strtoul(argv[2], NULL, 10));
    if (!load_real(&s, "results/published/runs/mlperf_runs.csv", &a, &err)) {
        fprintf(stderr, "gate_quality: %s\n", err.msg);
        return EXIT_BAD_INPUT;
    }
    printf("%zu histories of each kind; share that raises an alarm\n", n);
    printf("%-24s %9s %10s %10s %10s      %10s %10s\n", "noise", "unchanged", "3 sd in 5", "2 sd in 10", "1 sd in 20", "3 sd early", "2 sd early");
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++)
        good = report(&noises[i], &s, n) && good;
    printf("accepted: alarms in 100 points after a shift of 4 sd that was accepted, and 3 sd in 5 after those; repaired: still red 20 points after it ended\n"
           "(at most 20 points are red before it); last: red 80 points after a shift of 3 sd that lasts.\n");
    printf("unchanged: any alarm in 100 points; aim at most 1 %%. Shifts come after 100 points (early: after 50);\n"
           "aims for Gaussian noise: 98 %% of 3 sd within 5 points, 92 %% of 2 sd within 10.\n%s\n", good ? "every aim is met" : "an aim is missed");
    gsl_rng_free(s.rng);
    arena_free(&a);
    return good ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
