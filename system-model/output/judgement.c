/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judgement.c - a list of judgements, and the failures that are expected of it.
 */
#include "system-model/output/judgement.h"
#include <fnmatch.h>

void judgements_add(struct judgements *set, struct judgement item, struct arena *a)
{
    set->items = arena_grow(a, set->items, set->n, &set->cap, sizeof *set->items);
    set->items[set->n++] = item;
}

size_t judgements_count(const struct judgements *set, enum judged judged)
{
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        n += set->items[i].judged == judged;
    return n;
}

bool judgements_pass(const struct judgements *set)
{
    return judgements_count(set, JUDGED_FAIL) == 0;
}

/* ---- expected failures -------------------------------------------------------------------------- */

static size_t expect_one(struct judgements *set, const char *pattern, const char *reason)
{
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++) {
        struct judgement *j = &set->items[i];
        if (fnmatch(pattern, j->name, 0) != 0 || j->reason)
            continue;
        n++;
        if (j->judged != JUDGED_FAIL && j->judged != JUDGED_PASS)
            continue;
        j->reason = reason;
        j->judged = j->judged == JUDGED_FAIL ? JUDGED_EXPECTED : JUDGED_UNEXPECTED_PASS;
    }
    return n;
}

bool judgements_expect(struct judgements *set, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t id, reason;
    if (!csv_load(&t, path, a, err) || !csv_column(&id, &t, "id", err) || !csv_column(&reason, &t, "reason", err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++) {
        char **c = t.rows[i].cells;
        if (!*c[reason])
            return fail(err, "%s:%u: reason: is empty; say why %.80s is expected to fail", path, t.rows[i].line, c[id]);
        if (!expect_one(set, c[id], c[reason]))
            return fail(err, "%s:%u: id: nothing that was judged is named '%.80s'; take the line out", path, t.rows[i].line, c[id]);
    }
    return true;
}
