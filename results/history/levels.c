/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * levels.c - the accepted level of a series, and a latest level that is worse.
 *
 * The first level is accepted, then every better one, and every one that somebody accepts with a reason. A change for the worse lasts until
 * its level is accepted, or until it is repaired by a later level that is not worse than the accepted one. Two levels that are not neighbours
 * are compared by the same evidence as a change. If the evidence does not distinguish them, the later level belongs to the nearer of two
 * levels: the accepted one and the one before it.
 *
 * A level is judged by all its points when the next one begins, and never again. The latest level is judged when it begins, when it is
 * accepted, and at the end.
 */
#include "results/history/history.h"

enum { MOST_COMPARED = 500 };           /* the most points of a level that are compared, so that comparing takes limited time */

const char *const change_end_names[N_CHANGE_ENDS] = { "worse", "better", "back", "repaired", "accepted" };

/* The points from `from` to `end` - 1. */
struct stretch { size_t from, end; };

/* How a level ends, as far as the points so far show. */
struct fate { enum change_end end; const char *reason; };

struct levels {
    const double *x; size_t n;          /* the points that have arrived so far */
    const struct series_rule *rule;
    const struct series_acceptance *accepted; size_t n_accepted;
    struct series_level *items; size_t n_items, cap;
    size_t base;                        /* the accepted level: 0 before all changes, k for the level that items[k - 1] begins */
    size_t first_open;                  /* all changes before this index have ended */
    bool is_worse;                      /* true if the latest level was worse when it was last judged */
    struct level_points points;         /* points of the latest level */
    struct level_points compared;       /* the points that compare_levels() compares */
    double *joined;
    struct arena *a, scratch;           /* `scratch` is emptied after each median */
};

static struct stretch stretch_of(const struct levels *l, size_t level)
{
    return (struct stretch){ level ? l->items[level - 1].change.from : 0, level < l->n_items ? l->items[level].change.from : l->n };
}

static struct stretch newest_of(struct stretch s)
{
    return (struct stretch){ s.end - min_u64(s.end - s.from, MOST_COMPARED), s.end };
}

static double stretch_median(struct levels *l, struct stretch s)
{
    struct stretch newest = newest_of(s);
    arena_reset(&l->scratch);
    return statistics_median(l->x + newest.from, newest.end - newest.from, &l->scratch);
}

/* Copies the newest points of two stretches one after the other, and returns how many are from the first. */
static size_t join_stretches(struct levels *l, struct stretch first, struct stretch second)
{
    struct stretch a = newest_of(first), b = newest_of(second);
    size_t n_first = a.end - a.from, n = n_first + b.end - b.from;
    memcpy(l->joined, l->x + a.from, n_first * sizeof *l->joined);
    memcpy(l->joined + n_first, l->x + b.from, (n - n_first) * sizeof *l->joined);
    level_points_restart(&l->compared, l->joined);
    while (l->compared.n < n)
        level_points_add(&l->compared);
    return n_first;
}

/* The verdict on stretch `now` as if it had followed stretch `base` directly. */
static enum series_verdict compare_levels(struct levels *l, struct stretch base, struct stretch now)
{
    size_t n_base = join_stretches(l, base, now);
    return l->compared.n < SERIES_FEWEST ? SERIES_STEADY : series_compare(&l->compared, n_base, l->rule);
}

static enum series_verdict against_base(struct levels *l, size_t level)
{
    struct stretch b = stretch_of(l, l->base), now = stretch_of(l, level);
    if (l->base + 1 == level)
        return l->items[l->base].change.verdict;
    enum series_verdict differs = compare_levels(l, b, now);
    if (differs != SERIES_STEADY)
        return differs;
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

static struct fate fate_of(struct levels *l, size_t level)
{
    const char *reason = reason_within(l, stretch_of(l, level));
    if (reason)
        return (struct fate){ CHANGE_ACCEPTED, reason };
    enum series_verdict verdict = against_base(l, level);
    return (struct fate){ verdict == SERIES_BETTER ? CHANGE_BETTER : is_verdict_worse(verdict) ? CHANGE_LASTS : CHANGE_BACK, NULL };
}

/* Judges a level finally: it may end changes that last, and it becomes the accepted level if it is better or somebody accepted it. */
static void judge_level(struct levels *l, size_t level)
{
    if (level == 0)
        return;
    size_t by = level - 1;
    struct fate f = fate_of(l, level);
    l->items[by].end = f.end;
    l->items[by].reason = f.reason;
    if (f.end == CHANGE_LASTS)
        return;
    for (; l->first_open < by; l->first_open++) {
        struct series_level *open = &l->items[l->first_open];
        if (open->end == CHANGE_LASTS) {
            open->end = f.reason ? CHANGE_ACCEPTED : CHANGE_REPAIRED;
            open->ended_by = by;
            open->reason = f.reason;
        }
    }
    if (f.reason || f.end == CHANGE_BETTER)
        l->base = level;
}

/* True if the newest points have left a worse level and returned to the accepted one. */
static bool is_back(struct series_change *out, struct levels *l, struct level_evidence e)
{
    struct stretch base = stretch_of(l, l->base), last = stretch_of(l, l->n_items);
    if (!series_may_return(e))
        return false;
    double accepted = stretch_median(l, base);
    if (!series_returns(out, &l->points, e, accepted > stretch_median(l, last), l->rule))
        return false;
    struct stretch worse = { last.from, last.from + out->from }, now = { worse.end, last.end };
    double here = stretch_median(l, now);
    return fabs(here - accepted) <= fabs(here - stretch_median(l, worse)) && !is_verdict_worse(compare_levels(l, base, now));
}

/* Starts the points of the latest level anew, with those that arrived from `from` on. */
static void begin_points(struct levels *l, size_t from)
{
    level_points_restart(&l->points, l->x + from);
    while (l->points.n < l->n - from)
        level_points_add(&l->points);
}

/* Begins a level with a change, whose indices are relative to the start of the level before. */
static void level_begin(struct levels *l, struct series_change c)
{
    size_t start = stretch_of(l, l->n_items).from;
    c.from += start;
    c.found += start;
    c.before = statistics_median(l->x + start, c.from - start, &l->scratch);
    c.after = statistics_median(l->x + c.from, l->n - c.from, &l->scratch);
    ARENA_APPEND(l->a, l->items, l->n_items, l->cap, (struct series_level){ .change = c });
    judge_level(l, l->n_items - 1);
    begin_points(l, c.from);
}

static bool is_accepted_now(const struct levels *l)
{
    for (size_t i = 0; i < l->n_accepted; i++)
        if (l->accepted[i].point + 1 == l->n)
            return true;
    return false;
}

/* Dates a change again. If few new points revealed it, it may be dated a few points off, and those would look like another change. So it is
 * dated again when its level has ten points, and twenty. */
static void date_again(struct levels *l)
{
    struct series_change *c = &l->items[l->n_items - 1].change;
    struct stretch before = newest_of(stretch_of(l, l->n_items - 1));
    join_stretches(l, before, (struct stretch){ c->from, l->n });
    size_t from = before.from + level_split(&l->compared, c->after > c->before, &c->correlation);
    if (from == c->from || from > c->found || from + SERIES_FEWEST > l->n)
        return;
    c->from = from;
    begin_points(l, from);
}

static void take_point(struct levels *l)
{
    l->n++;
    level_points_add(&l->points);
    if (l->n_items && (l->points.n == SERIES_FEWEST || l->points.n == 2 * SERIES_FEWEST))
        date_again(l);
    struct level_evidence e = level_evidence(&l->points);
    struct series_change c = series_verdict(&l->points, e, l->rule);
    if (c.verdict != SERIES_STEADY || (l->is_worse && is_back(&c, l, e)))
        level_begin(l, c);
    else if (!is_accepted_now(l))
        return;
    l->is_worse = l->n_items && fate_of(l, l->n_items).end == CHANGE_LASTS;
}

size_t series_levels(struct series_level **out, const double *x, size_t n, const struct series_rule *rule, const struct series_acceptance *accepted,
                     size_t n_accepted, struct arena *a)
{
    struct arena memory = {0};
    struct levels l = { .x = x, .rule = rule, .accepted = accepted, .n_accepted = n_accepted, .a = a };
    l.joined = ARENA_ARRAY(&memory, double, 2 * MOST_COMPARED);
    level_points_create(&l.points, x, n, &memory);
    level_points_create(&l.compared, l.joined, 2 * MOST_COMPARED, &memory);
    l.compared.unit = l.points.unit;
    while (l.n < n)
        take_point(&l);
    judge_level(&l, l.n_items);
    arena_free(&l.scratch);
    arena_free(&memory);
    *out = l.items;
    return l.n_items;
}

bool series_is_worse(const struct series_level *levels, size_t n)
{
    return n > 0 && levels[n - 1].end == CHANGE_LASTS;
}
