/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.c - detects a change of level in a measured series without assuming a distribution of its noise.
 *
 * The newest 5, 10 and 20 points are compared with up to 100 points before them. Both tests are permutation tests: if
 * nothing changed, every choice of which points are the new ones is equally likely, so the probability that the new
 * ones are this high can be counted, and a verdict needs no more than that the noise is independent.
 *   ranks   Wilcoxon's rank sum with its exact tail. It sees a change through outliers and long tails.
 *   means   the sum of the new values, clipped at three standard deviations on each side (taken from quantiles), with the tail from the
 *           double saddlepoint approximation (Skovgaard 1987). It sees a change of three deviations within five points.
 *
 * Correlated noise would look like changes, so the correlation r of neighbouring points (by normal scores, with the bias
 * correction of Marriott and Pope 1954) is removed first, x[i] - r x[i-1]. It is only estimated, so the tail is the mean over all
 * r >= 0 that the estimate leaves likely (a posterior predictive tail, Meng 1994): from n points asin(r) is nearly normal with
 * variance 1 / n (Jenkins 1954).
 *
 * With fewer than 35 points the tests cannot reach their level. A change is told only if the newest five points are all on one
 * side of the others and farther from them than these are apart, so only a large one. The chance of such an order presumes
 * independence, so it must also hold without the correlation, taken as large as is likely; false alarms by it are in the 1 %.
 *
 * The levels were set once, by simulation with other seeds than those of make gate-quality, for false alarms in 1 % of
 * histories of 100 points. They grow with the square of the number of points before, up to 100. Not handled: trends, seasons,
 * changes of the spread alone, correlation beyond neighbours.
 */
#include "results/history/history.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

enum { MOST_BEFORE = 100, MOST_SERIES_POINTS = MOST_BEFORE + 32 };
static const size_t new_points[] = { SERIES_LEAST_NEW, 10, 20 };
static const double rank_level = 1.1e-4, mean_level = 2e-4;     /* one-sided */
static const double clip_deviations = 3;                        /* standard deviations of its side */

const char *const series_verdict_names[N_SERIES_VERDICTS] = { "steady", "worse", "better", "changed", "too short" };

/* ---- ranks ------------------------------------------------------------------------------------ */

/* The probability that in at most u of the m x n pairs the new point is the lower one, counted by the coefficients
 * of the Gaussian binomial (m + n over m). */
static double rank_tail(size_t m, size_t n, double u)
{
    double counts[20 * MOST_BEFORE / 4 + 1] = { 1 }, sum = 0;      /* room for 20 new points and 100 before them */
    size_t most = (size_t)ceil(u);          /* u is a whole number or a half */
    if (most > m * n / 4)                   /* far above every level */
        return 1;
    for (size_t i = 1; i <= m; i++) {
        for (size_t k = most; k >= n + i; k--)
            counts[k] -= counts[k - n - i];
        for (size_t k = i; k <= most; k++)
            counts[k] += counts[k - i];
    }
    for (size_t k = 0; k <= most; k++)
        sum += counts[k];
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

/* Each value a is drawn with odds exp(level + tilt a). The other members are sums over all values: the cumulant
 * function, its gradient and its second derivatives. */
struct tilted_draw { double level, tilt, log_sum, n, sum, n_n, n_sum, sum_sum; };

static void tilt_sums(struct tilted_draw *t, const double *a, size_t n)
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

/* Newton's method for the odds with which m values are expected to be drawn and their sum is expected to be s. False
 * if s is at the edge of the sums that can be drawn. */
static bool tilt_solve(struct tilted_draw *t, const double *a, size_t n, double m, double s, double sd)
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

/* The probability that m of n values have the largest possible sum; equal values are interchangeable. */
static double largest_share(const double *a, size_t n, size_t m)
{
    double sorted[MOST_SERIES_POINTS];
    unsigned above = 0, equal = 0;
    memcpy(sorted, a, n * sizeof *a);
    gsl_sort(sorted, 1, n);
    for (size_t i = 0; i < n; i++) {
        above += a[i] > sorted[n - m];
        equal += !(a[i] > sorted[n - m] || a[i] < sorted[n - m]);
    }
    return exp(gsl_sf_lnchoose(equal, (unsigned)m - above) - gsl_sf_lnchoose((unsigned)n, (unsigned)m));
}

/* The probability that m of the n values a, whose mean is 0, have a sum of at least s. */
static double mean_tail(const double *a, size_t n, size_t m, double s)
{
    enum { NEAR = 2 };                              /* a sum below this many deviations is not unusual */
    double sd = sqrt(gsl_stats_tss_m(a, 1, n, 0) / (double)n), share = (double)m / (double)n;
    if (!(sd > 0) || s < NEAR * sd * sqrt((double)m * (1 - share)))
        return 1;
    double least = largest_share(a, n, m);
    struct tilted_draw t = { .level = log(share / (1 - share)) };
    double level_0 = t.level, log_sum_0 = (double)n * log1p(exp(level_0)), n_n_0 = (double)m * (1 - share);
    if (!tilt_solve(&t, a, n, (double)m, s, sd))
        return least;
    tilt_sums(&t, a, n);
    double w = sqrt(2 * (t.level * (double)m + t.tilt * s - t.log_sum - (level_0 * (double)m - log_sum_0)));
    double u = t.tilt * sqrt((t.n_n * t.sum_sum - t.n_sum * t.n_sum) / n_n_0);
    return fmax(least, gsl_cdf_ugaussian_Q(w) + gsl_ran_ugaussian_pdf(w) * (1 / u - 1 / w));
}

/* Sets out to the values clipped on each side and shifted to mean 0, and returns the sum of the newest m. Between
 * its 16 and 84 % quantiles a normal distribution has one standard deviation on each side. */
static double clip_values(double *out, const double *x, size_t n, size_t m)
{
    double sorted[MOST_SERIES_POINTS], sum = 0;
    memcpy(sorted, x, n * sizeof *x);
    gsl_sort(sorted, 1, n);
    double middle = sorted[n / 2], up = clip_deviations * (sorted[(size_t)(0.84 * (double)n)] - middle),
        down = clip_deviations * (middle - sorted[(size_t)(0.16 * (double)n)]);
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

/* The correlation of neighbours by normal scores, so that an outlier has little weight. */
static double correlation(const double *x, size_t n)
{
    double score[MOST_SERIES_POINTS] = {0};
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
    return r + (1 + 4 * r) / (double)n;
}

/* A correlation that an estimate from n points leaves likely, so many deviations above the estimate, in asin(r). */
static double likely_correlation(double estimate, size_t n, double deviations)
{
    double angle = asin(fmax(-1, fmin(estimate, 1))) + deviations / sqrt((double)n);
    return sin(fmax(0, fmin(angle, M_PI_2)));
}

/* ---- one number of new points, one side -------------------------------------------------------------------------- */

/* n points, of which the newest m are tested. */
struct series_window { double x[MOST_SERIES_POINTS]; size_t n, m; };

/* Without the correlation r; turned if the sign is -1. */
static void window_build(struct series_window *v, const double *x, size_t n, size_t m, double r, double sign)
{
    *v = (struct series_window){ .m = m };
    for (size_t i = r > 0; i < n; i++)
        v->x[v->n++] = sign * (r > 0 ? x[i] - r * x[i - 1] : x[i]);
}

/* The points of a test: the newest m, those before them, and what is known of the correlation of those before. */
struct series_test { const double *x; size_t n, m; double r, level; };

static struct series_test test_build(const double *x, size_t n, size_t m, double share)
{
    size_t n_before = min_u64(n - m, MOST_BEFORE);
    struct series_test t = { .x = x + (n - m - n_before), .n = n_before + m, .m = m };
    t.r = correlation(t.x, n_before);
    double full = (double)n_before / MOST_BEFORE;
    t.level = share * full * full * (double)new_points[0] / (double)m;
    return t;
}

/* True if the newest points are too high (sign 1) or too low (-1). The tails are means over the likely correlations, from the largest down, which
 * has the largest tails. */
static bool is_far(const struct series_test *t, double sign)
{
    enum { N_LIKELY = 13 };
    static const double step = 0.5;         /* in deviations, from -3 to 3 */
    double values[MOST_SERIES_POINTS], ranks = 0, means = 0;
    for (size_t i = N_LIKELY; i-- > 0; ) {
        double deviations = step * ((double)i - N_LIKELY / 2), weight = step * gsl_ran_ugaussian_pdf(deviations);
        struct series_window v;
        window_build(&v, t->x, t->n, t->m, likely_correlation(t->r, t->n - t->m, deviations), sign);
        ranks += weight * rank_tail(v.m, v.n - v.m, pairs_below(v.x, v.n - v.m, v.n));
        means += weight * mean_tail(values, v.n, v.m, clip_values(values, v.x, v.n, v.m));
        if (ranks >= rank_level * t->level && means >= mean_level * t->level)
            return false;
    }
    return true;
}

/* The point among the newest 2 m at which ranks separate best from those of all points before it. */
static size_t first_after(const double *x, size_t n, size_t m)
{
    size_t best = n - m;
    double most = 0;
    for (size_t k = n - min_u64(2 * m, n - 1); k < n; k++) {
        double pairs = (double)k * (double)(n - k), separation = fabs(pairs_below(x, k, n) / pairs - 0.5) * sqrt(pairs);
        if (separation > most) {
            most = separation;
            best = k;
        }
    }
    return best;
}

bool series_left(size_t *from, const double *x, size_t n, size_t m, bool upwards)
{
    enum { ONE_IN = 100 };
    size_t n_before = min_u64(n - m, MOST_BEFORE);
    struct series_window v;
    window_build(&v, x + (n - m - n_before), n_before + m, m, 0, upwards ? 1 : -1);
    bool left = rank_tail(m, n_before, pairs_below(v.x, n_before, v.n)) < 1.0 / ONE_IN;
    *from = left ? first_after(x, n, m) : 0;            /* reads all points, which the test does not */
    return left;
}

/* ---- verdicts ---------------------------------------------------------------------------------------- */

static enum series_verdict verdict_of(bool high, const struct series_rule *rule)
{
    if (rule->better == 0)
        return SERIES_CHANGED;
    return (rule->better > 0) == high ? SERIES_BETTER : SERIES_WORSE;
}

/* +1: the newest m of n points are all above all others, by more than `spreads` times the distance of these; -1: below; 0: neither. */
static int stands_apart(const double *x, size_t n, size_t m, double spreads)
{
    double low, high, new_low, new_high;
    gsl_stats_minmax(&low, &high, x, 1, n - m);
    gsl_stats_minmax(&new_low, &new_high, x + n - m, 1, m);
    return new_low - high > spreads * (high - low) ? 1 : low - new_high > spreads * (high - low) ? -1 : 0;
}

/* With few points no test reaches the level, so only a large change is told, with the chance that its order has. */
static void judge_few(struct series_change *c, const double *x, size_t n, const struct series_rule *rule, struct arena *scratch)
{
    size_t from = n - SERIES_LEAST_NEW;
    struct series_window v;
    window_build(&v, x, n, SERIES_LEAST_NEW, likely_correlation(correlation(x, from), from, gsl_cdf_ugaussian_Pinv(0.95)), 1);
    int side = stands_apart(x, n, SERIES_LEAST_NEW, 1);
    double before = statistics_median(x, from, scratch), after = statistics_median(x + from, n - from, scratch);
    c->verdict = SERIES_STEADY;
    if (side == 0 || side != stands_apart(v.x, v.n, v.m, 0) || fabs(after - before) < rule->least_change * fabs(before))
        return;
    c->verdict = verdict_of(side > 0, rule);
    c->from = from, c->before = before, c->after = after;
    c->chance = exp(-gsl_sf_lnchoose((unsigned)n, SERIES_LEAST_NEW)) * (rule->better ? 1 : 2);
}

struct series_change series_judge(const double *x, size_t n, const struct series_rule *rule, struct arena *scratch)
{
    struct series_change c = { .verdict = n < SERIES_FEWEST ? SERIES_SHORT : SERIES_STEADY, .found = n - 1 };
    enum { SURE_ERRORS = 2 };           /* a correlation of fewer standard errors is not told */
    double share = rule->better ? 1 : 0.5;
    if (n >= SERIES_FEWEST && n < SERIES_LEAST_POINTS + SERIES_LEAST_NEW)
        judge_few(&c, x, n, rule, scratch);
    for (size_t k = 0; k < sizeof new_points / sizeof *new_points && n >= SERIES_LEAST_POINTS + new_points[k]; k++) {
        struct series_test t = test_build(x, n, new_points[k], share);
        bool high = is_far(&t, 1);
        if (!high && !is_far(&t, -1))
            continue;
        c.from = first_after(x, n, t.m);
        c.before = statistics_median(x, c.from, scratch);
        c.after = statistics_median(x + c.from, n - c.from, scratch);
        if (fabs(c.after - c.before) < rule->least_change * fabs(c.before))
            continue;
        c.verdict = verdict_of(high, rule);
        c.correlation = t.r * sqrt((double)(t.n - t.m)) > SURE_ERRORS ? t.r : 0;
        return c;
    }
    return c;
}
