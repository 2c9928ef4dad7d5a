/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tensors.c - names of weights from patterns.
 */
#include "results/mlperf/tensors.h"

#include <stdlib.h>
#include <string.h>

void name_list_add(struct name_list *l, const char *name, struct arena *a)
{
    l->names = arena_grow(a, l->names, l->n, &l->cap, sizeof *l->names);
    l->names[l->n++] = arena_strdup(a, name);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static void name_list_sort(struct name_list *l)
{
    sort_items(l->names, l->n, sizeof *l->names, by_name);
}

bool name_list_has(const struct name_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (text_is(l->names[i], name))
            return true;
    return false;
}

static bool expand_range(struct name_list *words, const char *body, struct arena *a, struct err *err)
{
    uint64_t first, last;
    char *dots, *copy = arena_strdup(a, body);
    dots = strstr(copy, "..");
    *dots = 0;
    if (!parse_u64(copy, &first) || !parse_u64(dots + 2, &last) || last < first || last - first > 10000)
        return fail(err, "'{%s}' is not a range of numbers", body);
    for (uint64_t i = first; i <= last; i++)
        name_list_add(words, arena_printf(a, "%llu", (unsigned long long)i), a);
    return true;
}

static bool expand_brace(struct name_list *words, const char *body, struct arena *a, struct err *err)
{
    if (strstr(body, ".."))
        return expand_range(words, body, a, err);
    char *rest = NULL;
    for (char *w = strtok_r(arena_strdup(a, body), ",", &rest); w; w = strtok_r(NULL, ",", &rest))
        name_list_add(words, w, a);
    return true;
}

bool expand_pattern(struct name_list *out, const char *pattern, struct arena *a, struct err *err)
{
    const char *open = strchr(pattern, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!open) {
        name_list_add(out, pattern, a);
        return true;
    }
    if (!close)
        return fail(err, "'%s': a brace is not closed", pattern);
    struct name_list words = { 0 };
    char *body = arena_printf(a, "%.*s", (int)(close - open - 1), open + 1);
    if (!expand_brace(&words, body, a, err))
        return false;
    if (!words.n)
        return fail(err, "'%s': a brace holds no word", pattern);
    for (size_t i = 0; i < words.n; i++)
        if (!expand_pattern(out, arena_printf(a, "%.*s%s%s", (int)(open - pattern), pattern, words.names[i], close + 1), a, err))
            return false;
    return true;
}

static struct name_list *list_of(struct tensor_lists *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (text_is(t->names[i], name))
            return &t->lists[i];
    t->names[t->n] = name;
    return &t->lists[t->n++];
}

bool tensor_lists_load(struct tensor_lists *out, const char *rules_dir, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t names, pattern;
    if (!csv_load(&t, arena_printf(a, "%s/tensors.csv", rules_dir), a, err)
        || !csv_column(&names, &t, "names", err) || !csv_column(&pattern, &t, "pattern", err))
        return false;
    *out = (struct tensor_lists){ ARENA_ROOM(a, const char *, t.n_rows), ARENA_ARRAY(a, struct name_list, t.n_rows), 0 };
    for (size_t i = 0; i < t.n_rows; i++)
        if (!expand_pattern(list_of(out, t.rows[i].cells[names]), t.rows[i].cells[pattern], a, err))
            return false;
    for (size_t i = 0; i < out->n; i++)
        name_list_sort(&out->lists[i]);
    return true;
}

const struct name_list *tensor_list_find(const struct tensor_lists *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (text_is(t->names[i], name))
            return &t->lists[i];
    return NULL;
}
