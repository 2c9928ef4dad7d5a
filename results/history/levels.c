/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * levels.c - the accepted level of a series, and a latest level that is worse.
 *
 * The first level is accepted, then every better one, and every one that somebody accepts with a reason. A change for the
 * worse lasts until its level is accepted, or until a later level is not worse than the accepted one: then it is repaired.
 * Two levels that are not neighbours are compared by the tests of a change. A level of less than 5 points, or any level if
 * the accepted one has less than 30, belongs to the nearer of the accepted level and the one before it.
 */
#include "results/history/history.h"

const char *const change_end_names[N_CHANGE_ENDS] = { "worse", "better", "back", "repaired", "accepted" };

/* The points from `from` to `end` - 1. */
struct stretch { size_t from, end; };

struct levels {
    const double *x; size_t n;          /* the points that have arrived */
    const struct series_rule *rule;
    const struct series_acceptance *accepted; size_t n_accepted;
    struct series_level *items; size_t n_items, cap;
    size_t base;                        /* the accepted level; 0 is the one before all changes, k begins with items[k - 1] */
    double accepted_median;             /* the base's, while a worse level follows it */
    struct arena *a, scratch;           /* scratch: emptied for each point */
};

static struct stretch stretch_of(const struct levels *l, size_t level)
{
    return (struct stretch){ level ? l->items[level - 1].change.from : 0, level < l->n_items ? l->items[level].change.from : l->n };
}

static double stretch_median(struct levels *l, struct stretch s)
{
    return statistics_median(l->x + s.from, s.end - s.from, &l->scratch);
}

static bool is_verdict_worse(enum series_verdict v)
{
    return v == SERIES_WORSE || v == SERIES_CHANGED;
}

/* The verdict on the newest points of a stretch, as if they had followed the accepted level. */
static enum series_verdict tested(struct levels *l, struct stretch base, struct stretch now)
{
    enum { MOST_NEWEST = 20 };
    size_t n_base = base.end - base.from, n_now = min_u64(now.end - now.from, MOST_NEWEST);
    double *joined = ARENA_ARRAY(&l->scratch, double, n_base + n_now);
    memcpy(joined, l->x + base.from, n_base * sizeof *joined);
    memcpy(joined + n_base, l->x + now.end - n_now, n_now * sizeof *joined);
    return series_judge(joined, n_base + n_now, l->rule, &l->scratch).verdict;
}

static enum series_verdict against_base(struct levels *l, size_t level)
{
    struct stretch b = stretch_of(l, l->base), now = stretch_of(l, level);
    if (l->base + 1 == level)
        return l->items[l->base].change.verdict;
    if (b.end - b.from >= SERIES_LEAST_POINTS && now.end - now.from >= SERIES_LEAST_NEW)
        return tested(l, b, now);
    double accepted = stretch_median(l, b), here = stretch_median(l, now), before = stretch_median(l, stretch_of(l, level - 1));
    if (fabs(here - accepted) <= fabs(here - before))
        return SERIES_STEADY;
    return l->rule->better == 0 ? SERIES_CHANGED : (here > accepted) == (l->rule->better > 0) ? SERIES_BETTER : SERIES_WORSE;
}

static const char *reason_within(const struct levels *l, struct stretch s)
{
    for (size_t i = l->n_accepted; i-- > 0; )
        if (s.from <= l->accepted[i].point && l->accepted[i].point < s.end)
            return l->accepted[i].reason;
    return NULL;
}

/* Ends the changes for the worse that last, by change `by`. */
static void end_open(struct levels *l, size_t by, enum change_end end, const char *reason)
{
    for (size_t i = 0; i < by; i++)
        if (l->items[i].end == CHANGE_LASTS) {
            l->items[i].end = end;
            l->items[i].ended_by = by;
            l->items[i].reason = reason;
        }
}

/* Says of every change what became of it, by the points that have arrived. */
static void judge_levels(struct levels *l)
{
    l->base = 0;
    for (size_t i = 0; i < l->n_items; i++) {
        struct series_level *level = &l->items[i];
        const char *reason = reason_within(l, stretch_of(l, i + 1));
        enum series_verdict verdict = reason ? SERIES_STEADY : against_base(l, i + 1);
        level->reason = reason;
        level->end = reason ? CHANGE_ACCEPTED : verdict == SERIES_BETTER ? CHANGE_BETTER : is_verdict_worse(verdict) ? CHANGE_LASTS : CHANGE_BACK;
        if (level->end != CHANGE_LASTS)
            end_open(l, i, reason ? CHANGE_ACCEPTED : CHANGE_REPAIRED, reason);
        if (reason || level->end == CHANGE_BETTER)
            l->base = i + 1;
    }
    if (series_is_worse(l->items, l->n_items))
        l->accepted_median = stretch_median(l, stretch_of(l, l->base));
}

/* True if the newest points have left a level that is worse, and are back at the accepted one. The worse level is known by its newest points, so that
 * every point takes the same time. */
static bool is_back(struct series_change *out, struct levels *l)
{
    enum { MOST_WORSE = 100 };
    static const size_t newest[] = { SERIES_LEAST_NEW, 10, 20 };
    struct stretch b = stretch_of(l, l->base), last = stretch_of(l, l->n_items);
    for (size_t k = 0; k < sizeof newest / sizeof *newest && last.end - last.from >= newest[k] + SERIES_LEAST_NEW; k++) {
        struct stretch now = { last.end - newest[k], last.end }, worse = { now.from - min_u64(now.from - last.from, MOST_WORSE), now.from };
        double here = stretch_median(l, now), there = stretch_median(l, worse);
        size_t from;
        if (fabs(here - l->accepted_median) > fabs(here - there)
            || !series_left(&from, l->x + last.from, last.end - last.from, newest[k], here > there))
            continue;
        if (b.end - b.from >= SERIES_LEAST_POINTS && is_verdict_worse(tested(l, b, now)))
            continue;
        *out = (struct series_change){ .verdict = l->rule->better == 0 ? SERIES_CHANGED : SERIES_BETTER, .from = from, .found = last.end - last.from - 1,
                                       .before = stretch_median(l, (struct stretch){ last.from, now.from }), .after = here };
        return true;
    }
    return false;
}

static void level_begin(struct levels *l, struct series_change c)
{
    size_t start = stretch_of(l, l->n_items).from;
    c.from += start;
    c.found += start;
    ARENA_APPEND(l->a, l->items, l->n_items, l->cap, (struct series_level){ .change = c });
}

static bool is_accepted_now(const struct levels *l)
{
    for (size_t i = 0; i < l->n_accepted; i++)
        if (l->accepted[i].point + 1 == l->n)
            return true;
    return false;
}

size_t series_levels(struct series_level **out, const double *x, size_t n, const struct series_rule *rule, const struct series_acceptance *accepted,
                     size_t n_accepted, struct arena *a)
{
    struct levels l = { .x = x, .rule = rule, .accepted = accepted, .n_accepted = n_accepted, .a = a };
    while (l.n++ < n) {
        struct stretch last = stretch_of(&l, l.n_items);
        arena_reset(&l.scratch);
        struct series_change c = series_judge(x + last.from, l.n - last.from, rule, &l.scratch);
        bool changed = c.verdict != SERIES_STEADY && c.verdict != SERIES_SHORT;
        if (changed || (series_is_worse(l.items, l.n_items) && is_back(&c, &l)))
            level_begin(&l, c);
        else if (!is_accepted_now(&l))
            continue;
        judge_levels(&l);
    }
    l.n = n;
    judge_levels(&l);
    arena_free(&l.scratch);
    *out = l.items;
    return l.n_items;
}

bool series_is_worse(const struct series_level *levels, size_t n)
{
    return n > 0 && levels[n - 1].end == CHANGE_LASTS;
}
