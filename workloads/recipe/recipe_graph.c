/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_graph.c - the graph that a recipe asks for, and a key of everything that shapes it.
 */
#include "workloads/recipe/recipe_internal.h"
#include "system-model/base/hash_table.h"

bool recipe_graph(struct graph *out, const struct recipe *r, struct arena *a, struct err *err)
{
    const struct workload *w = workload_find(r->workload, err);
    struct model_options o = r->model;
    o.where = r->path;
    o.inference = r->mode == MODE_INFER;
    o.keeps_training_heads = r->optimizer_name;
    o.n_shards = r->model.shard_tables ? r->replicas : 0;
    return w && workload_graph(out, w, &o, a, err);
}

static bool shapes_graph(const struct field *f)
{
    size_t first = offsetof(struct recipe, model);
    return f->offset >= first && f->offset < first + sizeof(struct model_options);
}

static void add_graph_key(struct hash_key *k, const struct recipe *r)
{
    const char kind[] = { r->mode == MODE_INFER, r->optimizer_name != NULL };
    hash_key_add_text(k, r->workload);
    hash_key_add_text(k, r->model.file);             /* model.file and model.dimensions are not values of a single key */
    hash_key_add_text(k, r->model.dimensions);
    hash_key_add_text(k, r->model.operators);
    const uint64_t n_shards = r->model.shard_tables ? r->replicas : 0;
    hash_key_add(k, &n_shards, sizeof n_shards);
    hash_key_add(k, kind, sizeof kind);
    for (size_t i = 0; i < n_recipe_keys; i++) {
        const struct field *f = &recipe_keys[i].field;
        const char *member = (const char *)r + f->offset;
        if (shapes_graph(f) && f->type == FIELD_TEXT)
            hash_key_add_text(k, *(const char *const *)member);
        else if (shapes_graph(f))
            hash_key_add(k, member, field_bytes(f));
    }
}

const char *recipe_graph_key(size_t *n_bytes, const struct recipe *r, struct arena *a)
{
    struct hash_key k = { .arena = a };
    add_graph_key(&k, r);
    *n_bytes = k.n;
    return k.bytes;
}
