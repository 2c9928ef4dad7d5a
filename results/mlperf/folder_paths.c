/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder_paths.c - the paths around a folder of logs: the results that it belongs to, and the description of its system.
 */
#include "results/mlperf/mlperf.h"

const char *folder_results_path(const struct folder *f, struct arena *a)
{
    const char *end = arena_printf(a, "/results/%s/%s%s%s", f->system, f->metric, *f->metric ? "/" : "", f->benchmark);
    size_t n = strlen(f->dir), cut = strlen(end);
    return n >= cut && text_is(f->dir + n - cut, end) ? arena_printf(a, "%.*s/results", (int)(n - cut), f->dir) : NULL;
}

const char *folder_description_path(const struct folder *f, struct arena *a)
{
    const char *results = folder_results_path(f, a), *end = arena_printf(a, "/%s%s%s", f->metric, *f->metric ? "/" : "", f->benchmark);
    if (results)
        return arena_printf(a, "%s/../systems/%s.json", results, f->system);
    size_t n = strlen(f->dir), cut = strlen(end);
    if (n >= cut && text_is(f->dir + n - cut, end))
        return arena_printf(a, "%.*s/%s.json", (int)(n - cut), f->dir, f->system);
    return arena_printf(a, "%s/%s.json", f->dir, f->system);
}
