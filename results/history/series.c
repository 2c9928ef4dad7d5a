/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.c - says if a measured series has left its level.
 *
 * A change is reported when the evidence for it exceeds a threshold, which is the same for every noise and number of points. It was set once,
 * by simulation with other seeds than those of make gate-quality, so that at most 1 % of histories of 100 points raise a false alarm
 * (docs/maintainers/watch.md). Not handled: seasons, changes of the spread alone, correlation beyond neighbours, and correlation above 0.9.
 */
#include "results/history/history.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

static const double alarm_evidence = 6.2;       /* the natural logarithm of odds of 500 to 1 */
static const double return_evidence = 3;        /* the natural logarithm of odds of 20 to 1 */
static const double most_order_chance = 0.004;         /* above 1 in 252, the chance of one order of five points before and five after */

const char *const series_verdict_names[N_SERIES_VERDICTS] = { "steady", "worse", "better", "changed" };

bool is_verdict_worse(enum series_verdict v)
{
    return v == SERIES_WORSE || v == SERIES_CHANGED;
}

static enum series_verdict verdict_of(bool high, const struct series_rule *rule)
{
    if (rule->better == 0)
        return SERIES_CHANGED;
    return (rule->better > 0) == high ? SERIES_BETTER : SERIES_WORSE;
}

/* The evidence that a change needs. If neither direction is better, both are tested, and each gets half of the false alarms. */
static double threshold_of(const struct series_rule *rule)
{
    return alarm_evidence + (rule->better ? 0 : M_LN2);
}

static struct series_change change_towards(const struct level_points *l, bool high, enum series_verdict verdict)
{
    struct series_change c = { .verdict = verdict, .found = l->n - 1 };
    c.from = level_split(l, high, &c.correlation);
    c.before = level_points_mean(l, 0, c.from);
    c.after = level_points_mean(l, c.from, l->n);
    return c;
}

/* The chance that this many new points reach a value if all orders of the points are equally likely. */
static double chance_to_reach(double value, const double *before, size_t n_before, const double *after, size_t n_after, double sign)
{
    unsigned high = 0, all = 0;
    for (size_t i = 0; i < n_after; i++)
        high += sign * after[i] >= value;
    for (size_t i = 0; i < n_before; i++)
        all += sign * before[i] >= value;
    return gsl_cdf_hypergeometric_Q(high - 1, all + high, (unsigned)(n_before + n_after) - all - high, (unsigned)n_after);
}

/* The chance of the points' order without a change, which must be small, too. The evidence assumes nearly normal noise, but counts of rare
 * events are mostly 0, and their clusters look like changes. Counted are orders in which all new points reach their lowest, or three quarters
 * reach their quartile. */
static double order_chance(const struct level_points *l, size_t from, double sign)
{
    enum { MOST = 500 };
    double sorted[MOST];
    size_t n_after = min_u64(l->n - from, MOST), n_before = min_u64(from, MOST);
    const double *after = l->x + l->n - n_after, *before = l->x + from - n_before;
    for (size_t i = 0; i < n_after; i++)
        sorted[i] = sign * after[i];
    gsl_sort(sorted, 1, n_after);
    return fmin(chance_to_reach(sorted[0], before, n_before, after, n_after, sign), chance_to_reach(sorted[n_after / 4], before, n_before, after, n_after, sign));
}

struct series_change series_verdict(const struct level_points *l, struct level_evidence e, const struct series_rule *rule)
{
    struct series_change none = { .verdict = SERIES_STEADY, .found = l->n - 1 };
    bool high = e.up > e.down;
    if (fmax(e.up, e.down) < threshold_of(rule))
        return none;
    struct series_change c = change_towards(l, high, verdict_of(high, rule));
    bool matters = fabs(c.after - c.before) >= rule->least_change * fabs(c.before);
    return matters && order_chance(l, c.from, high ? 1 : -1) < most_order_chance ? c : none;
}

bool series_may_return(struct level_evidence e)
{
    return fmax(e.up, e.down) >= return_evidence;
}

bool series_returns(struct series_change *out, const struct level_points *l, struct level_evidence e, bool upwards, const struct series_rule *rule)
{
    if ((upwards ? e.up : e.down) < return_evidence)
        return false;
    *out = change_towards(l, upwards, rule->better ? SERIES_BETTER : SERIES_CHANGED);
    return true;
}

enum series_verdict series_compare(const struct level_points *l, size_t split, const struct series_rule *rule)
{
    struct level_evidence e = level_evidence_at(l, split);
    double before = level_points_mean(l, 0, split), after = level_points_mean(l, split, l->n);
    bool differs = fmax(e.up, e.down) >= threshold_of(rule) && fabs(after - before) >= rule->least_change * fabs(before);
    return differs ? verdict_of(e.up > e.down, rule) : SERIES_STEADY;
}
