/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.c - a change of level in a measured series, without an assumption on its noise.
 *
 * The newest 5, 10 and 20 points are set against up to 100 before them, by two tests whose level holds for any noise that is
 * independent, because they only ask how often the new points would be the high ones if all had been shuffled:
 *   ranks   Wilcoxon's sum of ranks, its tail counted exactly; sees a change through outliers and long tails;
 *   means   the sum of the values, each clipped at three standard deviations of its side (by quantiles), its tail by the double saddlepoint
 *           approximation (Skovgaard 1987); sees a change of three deviations within five points.
 * Noise that is correlated from point to point would look like changes: where neighbours correlate (by normal scores; Kendall's bias
 * correction), the correlation is taken out first, x[i] - r x[i-1], and the level is made stricter, as r is only estimated. With fewer than
 * 100 points before, it is stricter too, for the same reason.
 *
 * The levels are set by simulation (make gate-quality), once, for 1 % of histories of 100 points. Not handled: trends, seasons, changes of
 * spread alone, correlation beyond neighbours.
 */
#include "results/history/series.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

enum { MOST_BEFORE = 100, MOST_POINTS = MOST_BEFORE + 32 };
static const size_t windows[] = { SERIES_LEAST_NEW, 10, 20 };
static const double rank_level = 8e-5, mean_level = 1.44e-4;    /* one side */
static const double clip = 3;                                   /* standard deviations of its side */
static const double noticed = 1.2, stricter = 0.8, most_correlation = 0.9;     /* the first two in standard errors of r = 0 */

const char *const series_verdict_names[N_SERIES_VERDICTS] = { "steady", "worse", "better", "changed", "too short" };

/* ---- ranks ------------------------------------------------------------------------------------ */

/* Probability that at most u of the m x n pairs have the new point below: coefficients of the Gaussian binomial (m + n over m). */
static double rank_tail(size_t m, size_t n, double u)
{
    double ways[20 * MOST_BEFORE / 4 + 1] = { 1 }, sum = 0;
    size_t most = (size_t)ceil(u);          /* whole numbers and halves, without a rounding */
    if (most > m * n / 4)           /* far above every level, for windows of up to 20 points and up to 100 before them */
        return 1;
    for (size_t i = 1; i <= m; i++) {
        for (size_t k = most; k >= n + i; k--)
            ways[k] -= ways[k - n - i];
        for (size_t k = i; k <= most; k++)
            ways[k] += ways[k - i];
    }
    for (size_t k = 0; k <= most; k++)
        sum += ways[k];
    return sum * exp(-gsl_sf_lnchoose((unsigned)(m + n), (unsigned)m));
}

static double pairs_below(const double *x, size_t n_before, size_t n)
{
    double u = 0;
    for (size_t j = n_before; j < n; j++)
        for (size_t i = 0; i < n_before; i++)
            u += x[j] < x[i] ? 1 : x[j] == x[i] ? 0.5 : 0;
    return u;
}

/* ---- means: the tail of a sum of m values drawn without replacement ------------------------------ */

/* Each value is drawn with odds exp(level + tilt a); sums over the values of their probability's log, gradient and curvature. */
struct tilt { double level, tilt, log_sum, n, sum, n_n, n_sum, sum_sum; };

static void tilt_sums(struct tilt *t, const double *a, size_t n)
{
    t->log_sum = t->n = t->sum = t->n_n = t->n_sum = t->sum_sum = 0;
    for (size_t i = 0; i < n; i++) {
        double e = t->level + t->tilt * a[i], p = 1 / (1 + exp(-e)), v = p * (1 - p);
        t->log_sum += fmax(e, 0) + log1p(exp(-fabs(e)));
        t->n += p;
        t->sum += p * a[i];
        t->n_n += v;
        t->n_sum += v * a[i];
        t->sum_sum += v * a[i] * a[i];
    }
}

/* Newton's way to the odds whose expected number is m and whose expected sum is s; false where s is at the edge of what can be drawn. */
static bool tilt_solve(struct tilt *t, const double *a, size_t n, double m, double s, double sd)
{
    for (int step = 0; step < 60; step++) {
        tilt_sums(t, a, n);
        double det = t->n_n * t->sum_sum - t->n_sum * t->n_sum, e_n = m - t->n, e_s = s - t->sum;
        if (!(det > 1e-14 * t->n_n * t->sum_sum) || t->tilt * sd > 40)
            return false;
        double d_level = (t->sum_sum * e_n - t->n_sum * e_s) / det, d_tilt = (t->n_n * e_s - t->n_sum * e_n) / det;
        double size = fmax(fabs(d_level), fabs(d_tilt) * sd), share = size > 2 ? 2 / size : 1;
        t->level += share * d_level;
        t->tilt += share * d_tilt;
        if (size < 1e-7)
            return true;
    }
    return false;
}

/* The chance that m of n values have the largest sum of all: of equal values any will do. */
static double largest_share(const double *a, size_t n, size_t m)
{
    double sorted[MOST_POINTS];
    unsigned above = 0, equal = 0;
    memcpy(sorted, a, n * sizeof *a);
    gsl_sort(sorted, 1, n);
    for (size_t i = 0; i < n; i++) {
        above += a[i] > sorted[n - m];
        equal += !(a[i] > sorted[n - m] || a[i] < sorted[n - m]);
    }
    return exp(gsl_sf_lnchoose(equal, (unsigned)m - above) - gsl_sf_lnchoose((unsigned)n, (unsigned)m));
}

/* Values a have mean 0. */
static double mean_tail(const double *a, size_t n, size_t m, double s)
{
    enum { NEAR = 2 };                              /* deviations below which the tail is of no interest */
    double sd = sqrt(gsl_stats_tss_m(a, 1, n, 0) / (double)n), share = (double)m / (double)n;
    double least = largest_share(a, n, m);
    if (!(sd > 0) || s < NEAR * sd * sqrt((double)m * (1 - share)))
        return 1;
    struct tilt t = { .level = log(share / (1 - share)) };
    double level_0 = t.level, log_sum_0 = (double)n * log1p(exp(level_0)), n_n_0 = (double)m * (1 - share);
    if (!tilt_solve(&t, a, n, (double)m, s, sd))
        return least;
    tilt_sums(&t, a, n);
    double w = sqrt(2 * (t.level * (double)m + t.tilt * s - t.log_sum - (level_0 * (double)m - log_sum_0)));
    double u = t.tilt * sqrt((t.n_n * t.sum_sum - t.n_sum * t.n_sum) / n_n_0);
    return fmax(least, gsl_cdf_ugaussian_Q(w) + gsl_ran_ugaussian_pdf(w) * (1 / u - 1 / w));
}

/* The sum of the newest m, of values clipped on each side and with mean 0. From 16 to 84 % a normal has a deviation on each side. */
static double clipped(double *out, const double *x, size_t n, size_t m)
{
    double sorted[MOST_POINTS], sum = 0;
    memcpy(sorted, x, n * sizeof *x);
    gsl_sort(sorted, 1, n);
    double middle = sorted[n / 2], up = clip * (sorted[(size_t)(0.84 * (double)n)] - middle),
        down = clip * (middle - sorted[(size_t)(0.16 * (double)n)]);
    for (size_t i = 0; i < n; i++)
        out[i] = fmax(-down, fmin(up, x[i] - middle));
    double mean = gsl_stats_mean(out, 1, n);
    for (size_t i = 0; i < n; i++)
        out[i] -= mean;
    for (size_t i = n - m; i < n; i++)
        sum += out[i];
    return sum;
}

/* ---- correlation of neighbours -------------------------------------------------------------------- */

/* By normal scores, so that an outlier has little say. */
static double correlation(const double *x, size_t n)
{
    double score[MOST_POINTS];
    for (size_t i = 0; i < n; i++) {
        size_t below = 0;
        for (size_t k = 0; k < n; k++)
            below += x[k] < x[i];
        score[i] = gsl_cdf_ugaussian_Pinv(((double)below + 0.5) / (double)n);
    }
    double mean = gsl_stats_mean(score, 1, n), own = gsl_stats_tss_m(score, 1, n, mean), neighbours = 0;
    for (size_t i = 1; i < n; i++)
        neighbours += (score[i] - mean) * (score[i - 1] - mean);
    double r = own > 0 ? neighbours / own : 0;
    return r + (1 + 3 * r) / (double)n;
}

/* ---- one window, one side -------------------------------------------------------------------------- */

struct view { double x[MOST_POINTS], r; size_t n, m; double strictness; };      /* n points, the newest m of them in question */

/* Of the level: r is estimated from n points only, and what is left of it weighs more in a longer window of m. By simulation. */
static double level_share(double r, size_t n, size_t m)
{
    double errors = fmin(9, fmax(0, r * sqrt((double)n))), full = (double)n / MOST_BEFORE;
    return exp(-stricter * errors) * full * full * full * (double)windows[0] / (double)m;
}

static void view_build(struct view *v, const double *x, size_t n, size_t m)
{
    size_t n_before = min_u64(n - m, MOST_BEFORE);
    const double *from = x + (n - m - n_before);
    double r = correlation(from, n_before);
    *v = (struct view){ .m = m, .strictness = level_share(r, n_before, m) };
    if (r * sqrt((double)n_before) > noticed)
        v->r = fmin(r, most_correlation);
    for (size_t i = v->r > 0; i < n_before + m; i++)
        v->x[v->n++] = v->r > 0 ? from[i] - v->r * from[i - 1] : from[i];
}

/* Are the newest points too high? */
static bool is_high(const struct view *v, double share)
{
    double values[MOST_POINTS], level = v->strictness * share;
    if (rank_tail(v->m, v->n - v->m, pairs_below(v->x, v->n - v->m, v->n)) < rank_level * level)
        return true;
    double sum = clipped(values, v->x, v->n, v->m);
    return mean_tail(values, v->n, v->m, sum) < mean_level * level;
}

static bool is_low(const struct view *v, double share)
{
    struct view turned = *v;
    for (size_t i = 0; i < v->n; i++)
        turned.x[i] = -v->x[i];
    return is_high(&turned, share);
}

/* Where the newest 2 m points part best from all before, by ranks. */
static size_t first_after(const double *x, size_t n, size_t m)
{
    size_t best = n - m;
    double most = 0;
    for (size_t k = n - min_u64(2 * m, n - 1); k < n; k++) {
        double pairs = (double)k * (double)(n - k), parted = fabs(pairs_below(x, k, n) / pairs - 0.5) * sqrt(pairs);
        if (parted > most) {
            most = parted;
            best = k;
        }
    }
    return best;
}

/* ---- verdicts ---------------------------------------------------------------------------------------- */

static enum series_verdict verdict_of(bool high, const struct series_rule *rule)
{
    if (rule->better == 0)
        return SERIES_CHANGED;
    return (rule->better > 0) == high ? SERIES_BETTER : SERIES_WORSE;
}

struct series_change series_judge(const double *x, size_t n, const struct series_rule *rule, struct arena *scratch)
{
    struct series_change c = { .verdict = n < SERIES_LEAST_POINTS + windows[0] ? SERIES_SHORT : SERIES_STEADY, .found = n - 1 };
    double share = rule->better ? 1 : 0.5;
    for (size_t k = 0; k < sizeof windows / sizeof *windows && n >= SERIES_LEAST_POINTS + windows[k]; k++) {
        struct view v;
        view_build(&v, x, n, windows[k]);
        bool high = is_high(&v, share);
        if (!high && !is_low(&v, share))
            continue;
        c.from = first_after(x, n, v.m);
        c.before = statistics_median(x, c.from, scratch);
        c.after = statistics_median(x + c.from, n - c.from, scratch);
        if (fabs(c.after - c.before) < rule->least_change * fabs(c.before))
            continue;
        c.verdict = verdict_of(high, rule);
        c.correlation = v.r;
        return c;
    }
    return c;
}

size_t series_scan(struct series_change **out, const double *x, size_t n, const struct series_rule *rule, struct arena *a)
{
    size_t n_found = 0, cap = 0, start = 0;
    *out = NULL;
    for (size_t t = 1; t <= n; t++) {
        struct series_change c = series_judge(x + start, t - start, rule, a);
        if (c.verdict == SERIES_STEADY || c.verdict == SERIES_SHORT)
            continue;
        c.from += start;
        c.found += start;
        start = c.from;
        *out = arena_grow(a, *out, n_found, &cap, sizeof **out);
        (*out)[n_found++] = c;
    }
    return n_found;
}
