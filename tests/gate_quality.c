/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate_quality.c - how often watch cries wolf, and how soon it sees a change: make gate-quality.
 *
 * Histories are drawn from noise of a known kind, in units of its standard deviation, and each point is judged as it arrives; lower is better.
 * Histories of the same kinds are also judged as Apache Otava does (tests/peer_otava.h). Exit 1 when an aim is missed. Arguments: the number of histories
 * in which false alarms are counted (changes are sought in a fifth of them, and by the peer in a tenth), and a seed. Real noise: the single runs of
 * each published MLPerf submission against its own mean, drawn again at random.
 */
#include "results/history/history.h"
#include "results/published/published.h"
#include "tests/peer_otava.h"
#include <gsl/gsl_randist.h>
#include <stdlib.h>

enum { UNCHANGED = 100, FIRST = 60, WITHIN = 30, MOST = 400 };

struct source { gsl_rng *rng; double *real; size_t n_real; };

static void gaussian(double *x, size_t n, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = gsl_ran_ugaussian(s->rng);
}

static void correlated(double *x, size_t n, double r, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = i ? r * x[i - 1] + sqrt(1 - r * r) * gsl_ran_ugaussian(s->rng) : gsl_ran_ugaussian(s->rng);
}

static void correlated_50(double *x, size_t n, struct source *s)
{
    correlated(x, n, 0.5, s);
}

static void correlated_75(double *x, size_t n, struct source *s)
{
    correlated(x, n, 0.75, s);
}

static void log_normal(double *x, size_t n, struct source *s)
{
    const double sigma = 0.5, mean = exp(sigma * sigma / 2), sd = mean * sqrt(exp(sigma * sigma) - 1);
    for (size_t i = 0; i < n; i++)
        x[i] = (exp(sigma * gsl_ran_ugaussian(s->rng)) - mean) / sd;
}

/* Two in a hundred are ten deviations of the others higher or lower. */
static void outliers(double *x, size_t n, struct source *s)
{
    const double sd = sqrt(1 + 0.02 * 100);
    for (size_t i = 0; i < n; i++)
        x[i] = (gsl_ran_ugaussian(s->rng) + (gsl_rng_uniform(s->rng) < 0.02 ? (gsl_rng_uniform(s->rng) < 0.5 ? -10 : 10) : 0)) / sd;
}

/* Three in ten runs are four deviations slower. */
static void two_mode(double *x, size_t n, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = ((gsl_rng_uniform(s->rng) < 0.3 ? 4 : 0) - 1.2 + gsl_ran_ugaussian(s->rng)) / sqrt(1 + 16 * 0.3 * 0.7);
}

static void rounded(double *x, size_t n, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = round(gsl_ran_ugaussian(s->rng)) / sqrt(1 + 1 / 12.0);
}

/* Errors counted: mostly none. */
static void rare(double *x, size_t n, struct source *s)
{
    const double mean = 0.2;
    for (size_t i = 0; i < n; i++)
        x[i] = (gsl_ran_poisson(s->rng, mean) - mean) / sqrt(mean);
}

static void real_runs(double *x, size_t n, struct source *s)
{
    for (size_t i = 0; i < n; i++)
        x[i] = s->real[gsl_rng_uniform_int(s->rng, s->n_real)];
}

/* Aims, as shares: alarms in 100 unchanged points at most, and at least so many steps of 5 deviations after 10 quiet points told within 30;
 * 1 and 0 if none. */
static const struct noise { const char *name; void (*draw)(double *x, size_t n, struct source *s); double alarms, told; } noises[] = {
    { "Gaussian",                gaussian,      0.01, 0.95 },
    { "correlated by 0.5",       correlated_50, 0.01, 0.85 },
    { "correlated by 0.75",      correlated_75, 0.01, 0.85 },
    { "log-normal, sigma 0.5",   log_normal,    0.01, 0.85 },
    { "2 % outliers of 10 sd",   outliers,      0.01, 0.85 },
    { "real MLPerf runs",        real_runs,     0.01, 0 },
    { "two modes",               two_mode,      0.01, 0 },
    { "rounded to 1 sd",         rounded,       0.01, 0 },
    { "counts, 0.2 a point",     rare,          1, 0 },
};
enum { N_NOISES = sizeof noises / sizeof *noises, N_GRID_NOISES = 5 };

/* A history: `first` points, then `accepted` points that are `shift` higher and accepted if there are any, then n points with a change. */
struct history_case { size_t first, accepted; double shift; size_t n; enum { STEP, DRIFT, STAIRS } kind; double size; size_t tread; };

static size_t case_points(const struct history_case *c)
{
    return c->first + c->accepted + c->n;
}

static void case_draw(double *x, const struct history_case *c, const struct noise *k, struct source *s)
{
    size_t from = c->first + c->accepted;
    k->draw(x, case_points(c), s);
    for (size_t i = c->first; i < case_points(c); i++)
        x[i] += c->shift;
    for (size_t i = from; i < case_points(c); i++) {
        double steps = c->kind == STEP ? 1 : c->kind == DRIFT ? (double)(i - from + 1) : (double)((i - from) / c->tread);
        x[i] += c->size * steps;
    }
}

static const struct series_rule lower_is_better = { .better = -1 };

/* True if the series is red at the end; with `ever`, also if it was red before, after what was accepted. */
static bool tells(const double *x, const struct history_case *c, bool ever, struct arena *a)
{
    const struct series_acceptance here = { c->first + c->accepted - 1, "wanted" };
    struct series_level *levels;
    size_t n = series_levels(&levels, x, case_points(c), &lower_is_better, &here, c->accepted > 0, a);
    bool told = series_is_worse(levels, n);
    for (size_t i = 0; i < n && ever; i++)
        told |= levels[i].change.verdict == SERIES_WORSE && levels[i].change.found >= c->first + c->accepted && levels[i].end != CHANGE_ACCEPTED;
    arena_free(a);
    return told;
}

static bool peer_tells(const double *x, const struct history_case *c, bool ever)
{
    bool told = false;
    for (size_t t = ever ? 2 : case_points(c); t <= case_points(c) && !told; t++)
        told = peer_tells_rise(x, t);
    return told;
}

enum judge { WATCH, PEER };

static double share_told(const struct history_case *c, const struct noise *k, enum judge judge, bool ever, size_t n, struct source *s)
{
    struct arena a = {0};
    size_t told = 0;
    double x[MOST];
    for (size_t i = 0; i < n; i++) {
        case_draw(x, c, k, s);
        told += judge == WATCH ? tells(x, c, ever, &a) : peer_tells(x, c, ever);
    }
    return (double)told / (double)n;
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

/* ---- the tables ----------------------------------------------------------------------------------- */

static bool report_alarms(const struct noise *k, size_t n, struct source *s)
{
    const struct history_case quiet = { .n = UNCHANGED }, again = { .first = FIRST, .accepted = 20, .shift = 5, .n = UNCHANGED };
    const struct history_case fast_3 = { .first = UNCHANGED, .n = 5, .size = 3 }, fast_2 = { .first = UNCHANGED, .n = 10, .size = 2 };
    double alarms = share_told(&quiet, k, WATCH, true, n, s), after = share_told(&again, k, WATCH, true, n, s);
    printf("%-24s %7.2f %% %10.2f %% %12.1f %% %10.1f %% %15.1f %%\n", k->name, 100 * alarms, 100 * after, 100 * share_told(&fast_3, k, WATCH, false, n / 5, s),
           100 * share_told(&fast_2, k, WATCH, false, n / 5, s), 100 * share_told(&quiet, k, PEER, true, n / 10, s));
    return alarms <= k->alarms && after <= k->alarms;
}

/* One line for watch and one for the peer, with a column for each noise of the grid. */
static bool report_case(const char *name, const struct history_case *c, bool is_aim, size_t n, struct source *s)
{
    double told[2][N_GRID_NOISES];
    bool good = true;
    for (size_t k = 0; k < N_GRID_NOISES; k++) {
        told[WATCH][k] = share_told(c, &noises[k], WATCH, false, n / 5, s);
        told[PEER][k] = c->accepted ? NAN : share_told(c, &noises[k], PEER, false, n / 10, s);
        good = good && (!is_aim || told[WATCH][k] >= noises[k].told);
    }
    printf("%-44s", name);
    for (size_t k = 0; k < N_GRID_NOISES; k++)
        printf(" %5.1f (%5.1f)", 100 * told[WATCH][k], 100 * told[PEER][k]);
    printf("\n");
    fflush(stdout);
    return good;
}

static bool report_steps(size_t n, struct source *s)
{
    static const size_t quiet[] = { 5, 10, 15, 20, 25, 30, 50, 100 };
    static const double steps[] = { 2, 3, 5, 8 };
    bool good = true;
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            char name[64];
            snprintf(name, sizeof name, "%zu quiet points, a step of %g sd", quiet[i], steps[k]);
            good = report_case(name, &(struct history_case){ .first = quiet[i], .n = WITHIN, .size = steps[k] }, quiet[i] == 10 && k == 2, n, s) && good;
        }
    return good;
}

static bool report_others(size_t n, struct source *s)
{
    static const struct { const char *name; struct history_case history; bool is_aim; } cases[] = {
        { "a drift of 0.05 sd a point, 100 points", { .n = 100, .kind = DRIFT, .size = 0.05 }, false },
        { "a drift of 0.1 sd a point, 100 points", { .n = 100, .kind = DRIFT, .size = 0.1 }, false },
        { "a drift of 0.2 sd a point, 100 points", { .n = 100, .kind = DRIFT, .size = 0.2 }, false },
        { "a drift of 0.5 sd a point, 100 points", { .n = 100, .kind = DRIFT, .size = 0.5 }, false },
        { "10 stairs of 1 sd, 20 points each", { .n = 200, .kind = STAIRS, .size = 1, .tread = 20 }, false },
        { "10 stairs of 2 sd, 10 points each", { .n = 100, .kind = STAIRS, .size = 2, .tread = 10 }, false },
        { "5 stairs of 5 sd, 20 points each", { .n = 100, .kind = STAIRS, .size = 5, .tread = 20 }, false },
        { "5 points accepted, a step of 5 sd", { .first = FIRST, .accepted = 5, .shift = 5, .n = WITHIN, .size = 5 }, false },
        { "10 points accepted, a step of 5 sd", { .first = FIRST, .accepted = 10, .shift = 5, .n = WITHIN, .size = 5 }, true },
        { "20 points accepted, a step of 5 sd", { .first = FIRST, .accepted = 20, .shift = 5, .n = WITHIN, .size = 5 }, true },
        { "red 20 points after a repair of 5 sd", { .first = FIRST, .accepted = 20, .shift = 5, .n = 20, .size = -5 }, false },
        { "red 80 points after a step of 3 sd that lasts", { .first = FIRST, .n = 80, .size = 3 }, false },
    };
    bool good = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        good = report_case(cases[i].name, &cases[i].history, cases[i].is_aim, n, s) && good;
    return good;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)atol(argv[1]) : 1000;
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
    printf("Alarms in %d points without a change, and in %d after an acceptance; steps after %d quiet points, told within so many points; %zu histories.\n"
           "%-24s %9s %12s %14s %12s %17s\n", UNCHANGED, UNCHANGED, UNCHANGED, n, "noise", "alarms", "after accept", "3 sd within 5", "2 sd in 10", "Otava's alarms");
    for (size_t i = 0; i < N_NOISES; i++)
        good = report_alarms(&noises[i], n, &s) && good;
    printf("\nChanges told, %% of histories, and in brackets by Otava's method; steps within %d points\n%-44s", WITHIN, "");
    for (size_t k = 0; k < N_GRID_NOISES; k++)
        printf(" %-13.13s", noises[k].name);
    printf("\n");
    good = report_steps(n, &s) && good;
    good = report_others(n, &s) && good;
    printf("\nAims: alarms at most 1 %% in 100 points, before and after an acceptance; steps of 5 sd after 10 quiet or accepted points told within %d in 95 %%\n"
           "(Gaussian) and 85 %% (correlated, log-normal, with outliers).\n%s\n", WITHIN, good ? "every aim is met" : "an aim is missed");
    gsl_rng_free(s.rng);
    arena_free(&a);
    return good ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
