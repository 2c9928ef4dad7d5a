/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_graph.c - the graph that a recipe asks for, and all that shapes it as one key.
 */
#include "workloads/recipe/recipe_internal.h"
#include <stddef.h>
#include <string.h>

bool recipe_graph(struct graph *out, const struct recipe *r, struct arena *a, struct err *err)
{
    const struct workload *w = workload_find(r->workload, err);
    struct model_options o = r->model;
    o.where = r->path;
    o.inference = r->mode == MODE_INFER;
    o.keeps_training_heads = r->optimizer_name;
    return w && workload_graph(out, w, &o, a, err);
}

static bool shapes_graph(const struct field *f)
{
    size_t first = offsetof(struct recipe, model);
    return f->offset >= first && f->offset < first + sizeof(struct model_options);
}

static size_t field_bytes(const struct field *f)
{
    return f->type == FIELD_BOOL ? sizeof(bool) : f->type == FIELD_CHOICE ? sizeof(int) : 8;
}

/* Without bytes it is only counted how many there are. */
struct key_text { char *bytes; size_t n; };

static void add_bytes(struct key_text *k, const void *bytes, size_t n)
{
    if (k->bytes)
        memcpy(k->bytes + k->n, bytes, n);
    k->n += n;
}

static void add_text(struct key_text *k, const char *text)
{
    add_bytes(k, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void add_graph_key(struct key_text *k, const struct recipe *r)
{
    const char kind[] = { r->mode == MODE_INFER, r->optimizer_name != NULL };
    add_text(k, r->workload);
    add_text(k, r->model.file);             /* these two no single key sets */
    add_text(k, r->model.dimensions);
    add_bytes(k, kind, sizeof kind);
    for (size_t i = 0; i < n_recipe_keys; i++) {
        const struct field *f = &recipe_keys[i].field;
        const char *member = (const char *)r + f->offset;
        if (shapes_graph(f) && f->type == FIELD_TEXT)
            add_text(k, *(const char *const *)member);
        else if (shapes_graph(f))
            add_bytes(k, member, field_bytes(f));
    }
}

const char *recipe_graph_key(size_t *n_bytes, const struct recipe *r, struct arena *a)
{
    struct key_text counted = { 0 }, k = { 0 };
    add_graph_key(&counted, r);
    k.bytes = arena_alloc(a, counted.n);
    add_graph_key(&k, r);
    *n_bytes = k.n;
    return k.bytes;
}
