/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * evidence.c - a likelihood-ratio test for a moved mean, which also estimates the correlation of neighbouring points.
 *
 * Without a change, the points of a level are a constant plus noise whose neighbours have correlation r. With a change, d times a shape is
 * added: a step (0 before a point, 1 from there on) or a ramp (0 before a point, then rising evenly to 1 at the newest point). The evidence is
 *      log mean over r of p1(x; shape, r)  -  log max over r of p0(x; r)
 * for the likeliest shape. Mean and deviation of the noise are unknown, so p0 and p1 are likelihoods of those features of the points that do
 * not depend on unit and offset (Lehmann and Romano, Testing Statistical Hypotheses, chapter 6); in p1, d has a normal prior of a few
 * deviations. The maximum over r up to 0.9 makes the test hold for every such r, and the mean over r pays for searching r.
 * docs/maintainers/watch.md derives the threshold.
 *
 * Points are cleaned first: each may be at most a few deviations from the running median of five, so that an outlier has little weight and
 * three points in five make a level. Running sums allow each shape to be tested in constant time.
 */
#include "results/history/evidence.h"
#include <gsl/gsl_sort.h>

enum { N_MEDIAN = 5, LATE = N_MEDIAN / 2, FEWEST = LEAST_BEFORE + LEAST_AFTER, MOST_OFF = 64 };
static const double clip_deviations = 4;
static const double correlations[] = { 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99 };
enum { N_CORRELATIONS = sizeof correlations / sizeof *correlations };
static const double most_correlated_noise = 0.9;       /* noise with a larger correlation counts as a change of the mean */
static const double step_variance = 5 * 5, ramp_variance = 10 * 10;     /* variances of d, in units of a single point's variance */

const double evidence_floor = 3;

/* ---- cleaned points ---------------------------------------------------------------------------- */

void level_points_restart(struct level_points *l, const double *x)
{
    l->x = x;
    l->n = 0;
}

/* Allocates the points. The unit is a power of two, which changes no verdict and keeps squares of values from overflowing. */
void level_points_create(struct level_points *out, const double *x, size_t room, struct arena *a)
{
    double most = 0;
    int exponent;
    for (size_t i = 0; i < room; i++)
        most = fmax(most, fabs(x[i]));
    frexp(most, &exponent);
    *out = (struct level_points){ .x = x, .unit = ldexp(1, -exponent) };
    out->sums = ARENA_ARRAY(a, struct level_sum, room + 1);
    out->off = ARENA_ARRAY(a, double, room);
}

/* The median of the five points around point i, or of the first or last five. */
static double running_median(const struct level_points *l, size_t i)
{
    double five[N_MEDIAN];
    size_t from = i > LATE ? min_u64(i - LATE, l->n - N_MEDIAN) : 0;
    memcpy(five, l->x + from, sizeof five);
    gsl_sort(five, 1, N_MEDIAN);
    return five[LATE];
}

/* The largest distance from the running median that a point may have. The standard deviation is estimated by the 68 % quantile of the latest
 * distances and by their 90 % quantile over 1.64; the larger counts, because most distances of rounded values are 0. */
static double clip_limit(const struct level_points *l, size_t n_off)
{
    double sorted[MOST_OFF];
    size_t n = min_u64(n_off, MOST_OFF);
    memcpy(sorted, l->off + n_off - n, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    return clip_deviations * fmax(sorted[(size_t)(0.68 * (double)n)], sorted[(size_t)(0.9 * (double)(n - 1))] / 1.64);
}

static void clean_point(struct level_points *l, size_t i, double limit)
{
    double middle = running_median(l, i), y = (middle + fmax(-limit, fmin(limit, l->x[i] - middle)) - l->centre) * l->unit;
    struct level_sum *s = &l->sums[i];
    s->y = y;
    s[1] = (struct level_sum){ 0, s->sum + y, s->square + y * y, s->lagged + (i ? y * s[-1].y : 0), s->ramp + (double)i * y };
}

/* Cleans the newest point, and the two before it again, whose running medians have changed. */
void level_points_add(struct level_points *l)
{
    size_t n = ++l->n, first = n == FEWEST ? 0 : n - 1 - LATE;
    if (n < FEWEST)
        return;
    if (n == FEWEST) {
        l->centre = running_median(l, 0);
        l->sums[0] = (struct level_sum){0};
    }
    for (size_t i = first; i < n - LATE; i++)
        l->off[i] = fabs(l->x[i] - running_median(l, i));
    double limit = clip_limit(l, n - LATE);
    for (size_t i = first; i < n; i++)
        clean_point(l, i, limit);
}

double level_points_mean(const struct level_points *l, size_t from, size_t end)
{
    return l->centre + (l->sums[end].sum - l->sums[from].sum) / (double)(end - from) / l->unit;
}

/* ---- shapes -------------------------------------------------------------------------------------- */

/* A shape z, which is 0 before its first point. With the correlation r of the noise and d[i] = z[i] - r z[i-1], the members are sums of d
 * squared, of d, and of d times the same difference of the points. Each sum is a polynomial in r, given by its coefficients. */
struct shape { double square[3], sum[2], product[3], variance; };

static struct shape step_at(const struct level_points *l, size_t k)
{
    const struct level_sum *s = l->sums, *end = &s[l->n];
    double w = (double)(l->n - k), last = s[l->n - 1].y, sum = end->sum - s[k].sum, one = s[k].y;
    return (struct shape){ { w, -2 * (w - 1), w - 1 }, { w, -(w - 1) },
                           { sum, -(sum - last + s[k - 1].y) - (sum - one), sum - last }, step_variance };
}

/* The ramp that rises evenly from point k to 1 at the newest point. */
static struct shape ramp_at(const struct level_points *l, size_t k)
{
    const struct level_sum *s = l->sums, *end = &s[l->n], *before_end = &s[l->n - 1];
    double w = (double)(l->n - k), f = 1 / w, from = (double)k;
    double index = w * (w - 1) / 2, squares = (w - 1) * w * (2 * w - 1) / 6;
    double now = end->sum - s[k].sum, now_index = end->ramp - s[k].ramp - from * now;              /* sums over the points from k on */
    /* sums over each point's predecessor */
    double past = before_end->sum - s[k - 1].sum, past_index = before_end->ramp - s[k - 1].ramp + (1 - from) * past;
    return (struct shape){ { f * f * (squares + 2 * index + w), -2 * f * f * (squares + index), f * f * squares },
                           { f * (index + w), -f * index },
                           { f * (now_index + now), -f * (past_index + past) - f * now_index, f * past_index }, ramp_variance };
}

/* ---- likelihoods ----------------------------------------------------------------------------------- */

/* The points seen as noise of correlation r: sums over a constant, over its product with the points, and of squares about the fitted constant.
 * log_share is the part of the likelihood that is the same for all shapes. */
struct noise { double r, ones, product, rest, log_share, least_fall; };
struct noises { struct noise at[N_CORRELATIONS]; double null, half; };       /* null: the logarithm of the largest likelihood without a change; half: (n - 1) / 2 for n points */

static struct noise level_noise_of(const struct level_points *l, double r)
{
    const struct level_sum *end = &l->sums[l->n];
    double first = l->sums[0].y, last = l->sums[l->n - 1].y, all = end->square, own = 1 - r * r, n = (double)l->n;
    struct noise m = { .r = r, .ones = own + (n - 1) * (1 - r) * (1 - r) };
    m.product = own * first + (1 - r) * ((end->sum - first) - r * (end->sum - last));
    m.rest = all - first * first - 2 * r * end->lagged + r * r * (all - last * last) + own * first * first - m.product * m.product / m.ones;
    m.log_share = log(own / m.ones) / 2;
    return m;
}

/* Fills the noises; false if all points are equal. A shape stays below the floor if its sum of squares falls by less than least_fall in every
 * noise. */
static bool noises_of(struct noises *out, const struct level_points *l)
{
    static const double rounding = 1e-13;
    out->half = ((double)l->n - 1) / 2;
    out->null = -INFINITY;
    for (size_t i = 0; i < N_CORRELATIONS; i++) {
        out->at[i] = level_noise_of(l, correlations[i]);
        if (!(out->at[i].rest > rounding * l->sums[l->n].square))
            return false;
        if (correlations[i] <= most_correlated_noise)
            out->null = fmax(out->null, out->at[i].log_share - out->half * log(out->at[i].rest));
    }
    for (size_t i = 0; i < N_CORRELATIONS; i++) {
        struct noise *m = &out->at[i];
        m->least_fall = m->rest - exp((m->log_share - out->null - evidence_floor) / out->half);
    }
    return true;
}

/* A shape fitted together with the constant: `square` is 1 + its sum of squares times the prior's variance, `product` its product with the
 * points, and `fall` the decrease of the points' sum of squares. */
struct shape_fit { double square, product, fall; };

static struct shape_fit shape_fit_of(const struct shape *z, const struct noise *m)
{
    double r = m->r, sum = (1 - r) * (z->sum[0] + r * z->sum[1]);
    struct shape_fit f = { .square = z->square[0] + r * (z->square[1] + r * z->square[2]) - sum * sum / m->ones,
                     .product = z->product[0] + r * (z->product[1] + r * z->product[2]) - sum * m->product / m->ones };
    double prior = z->variance / (1 - r * r);
    f.square = 1 + prior * f.square;
    f.fall = prior * f.product * f.product / f.square;
    return f;
}

/* The log odds of a shape, its direction, and the correlation that fits best with it. */
struct shape_odds { double log; bool up; double correlation; };

static struct shape_odds odds_of(const struct shape *z, const struct noises *m)
{
    double log_p[N_CORRELATIONS], sum = 0;
    struct shape_odds best = { .log = -INFINITY };
    for (size_t i = 0; i < N_CORRELATIONS; i++) {
        struct shape_fit f = shape_fit_of(z, &m->at[i]);
        log_p[i] = m->at[i].log_share - log(f.square) / 2 - m->half * log(m->at[i].rest - f.fall);
        if (log_p[i] > best.log)
            best = (struct shape_odds){ log_p[i], f.product > 0, m->at[i].r };
    }
    for (size_t i = 0; i < N_CORRELATIONS; i++)
        sum += exp(log_p[i] - best.log);
    best.log += log(sum / N_CORRELATIONS) - m->null;
    return best;
}

/* A cheap bound: false if the shape cannot reach the floor. */
static bool may_matter(const struct shape *z, const struct noises *m)
{
    for (size_t i = 0; i < N_CORRELATIONS; i++)
        if (shape_fit_of(z, &m->at[i]).fall > m->at[i].least_fall)
            return true;
    return false;
}

static void weigh(struct level_evidence *e, const struct shape *z, const struct noises *m)
{
    if (!may_matter(z, m))
        return;
    struct shape_odds odds = odds_of(z, m);
    double *side = odds.up ? &e->up : &e->down;
    if (odds.log >= evidence_floor)
        *side = fmax(*side, odds.log);
}

/* Tries changes at several distances from the newest point: at every one up to 16, then in steps of at most an eighth. A best distance between two
 * steps is reached after a few more points. */
struct level_evidence level_evidence(const struct level_points *l)
{
    struct level_evidence e = { -INFINITY, -INFINITY };
    struct noises m;
    if (l->n < FEWEST || !noises_of(&m, l))
        return e;
    for (size_t after = LEAST_AFTER; after + LEAST_BEFORE <= l->n; after += 1 + after / 16) {
        struct shape step = step_at(l, l->n - after);
        weigh(&e, &step, &m);
    }
    for (size_t after = FEWEST; after + 1 <= l->n; after += 1 + after / 16) {
        struct shape ramp = ramp_at(l, l->n - after);
        weigh(&e, &ramp, &m);
    }
    return e;
}

struct level_evidence level_evidence_at(const struct level_points *l, size_t split)
{
    struct level_evidence e = { -INFINITY, -INFINITY };
    struct noises m;
    if (l->n < FEWEST || split == 0 || !noises_of(&m, l))
        return e;
    struct shape step = step_at(l, split);
    weigh(&e, &step, &m);
    return e;
}

/* The first point of the new level. A large step is reported before five new points have arrived; it is then dated at least three points back,
 * since cleaning needs three. */
size_t level_split(const struct level_points *l, bool upwards, double *correlation)
{
    struct noises m;
    struct shape_odds best = { .log = -INFINITY };
    size_t split = l->n - LEAST_AFTER;
    for (size_t k = noises_of(&m, l) ? LEAST_BEFORE : l->n; k + LATE < l->n; k++) {
        struct shape step = step_at(l, k);
        struct shape_odds odds = odds_of(&step, &m);
        if (odds.up == upwards && odds.log > best.log) {
            best = odds;
            split = k;
        }
    }
    *correlation = best.correlation;
    return split;
}
