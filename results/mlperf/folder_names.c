/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder_names.c - who and what a folder of logs is about, from its path.
 *
 *     training_results_v2.0/ORG/results/SYSTEM/BENCHMARK      v2.0/closed/ORG/SYSTEM/BENCHMARK      SYSTEM/BENCHMARK
 */
#include "results/mlperf/folder_names.h"

#include <string.h>

struct parts { char **names; size_t n; };

static const char *part(const struct parts *p, size_t from_end)
{
    return from_end <= p->n ? p->names[p->n - from_end] : "";
}

static void split_path(struct parts *p, const char *path, struct arena *a)
{
    char *rest = NULL;
    *p = (struct parts){ .names = ARENA_ROOM(a, char *, strlen(path)) };
    for (char *name = strtok_r(arena_strdup(a, path), "/", &rest); name; name = strtok_r(NULL, "/", &rest))
        p->names[p->n++] = name;
}

/* "v2.0" of "v2.0" and of "training_results_v2.0". */
static const char *version_in(const char *name)
{
    static const char before[] = "training_results_";
    return strncmp(name, before, strlen(before)) ? name : name + strlen(before);
}

static const char *round_in(const char *name)
{
    const char *v = version_in(name);
    const struct edition *e = *v == 'v' ? edition_find(v) : NULL;
    return e ? e->round : NULL;
}

/* A round that is named but not known is not to be taken for another: "v9.9" is kept, to be refused. */
static const char *unknown_round_in(const char *name)
{
    const char *v = version_in(name);
    unsigned major, minor;
    int used;
    return sscanf(v, "v%u.%u%n", &major, &minor, &used) == 2 && v[used] == 0 ? v : NULL;
}

void folder_names_take(struct folder_names *out, const struct judge *j, const char *path, const char *logged_benchmark, struct arena *a)
{
    struct parts p;
    split_path(&p, path, a);
    *out = (struct folder_names){ "", "", "", "", "" };
    bool in_benchmark = judge_knows(j, part(&p, 1)) || text_is(part(&p, 1), logged_benchmark);
    size_t system_at = in_benchmark || text_is(part(&p, 3), "results") ? 2 : 1;
    if (system_at == 2)
        out->benchmark = part(&p, 1);
    out->system = part(&p, system_at);
    bool in_results = text_is(part(&p, system_at + 1), "results");
    for (size_t i = 1; i <= p.n; i++) {
        if (!*out->division && (text_is(part(&p, i), "closed") || text_is(part(&p, i), "open")))
            out->division = part(&p, i);
        const char *round = round_in(part(&p, i));
        if (!*out->round && (round || (round = unknown_round_in(part(&p, i)))))
            out->round = round;
    }
    const char *submitter = part(&p, system_at + (in_results ? 2 : 1));
    bool named = in_results || (*out->division && text_is(part(&p, system_at + 2), out->division));
    if (*submitter && named)
        out->submitter = submitter;
}
