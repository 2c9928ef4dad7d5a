/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_graph.c - the graph that a recipe asks for, and a key of everything that shapes it.
 */
#include "workloads/recipe/recipe_internal.h"
#include "system-model/base/hash_table.h"

/* The options that shape the graph, and with the workload all that its builder and its key read of the recipe. */
static struct model_options graph_options(const struct recipe *r)
{
    struct model_options o = r->model;
    o.where = r->path;
    o.inference = r->mode == MODE_INFER;
    o.keeps_training_heads = r->optimizer_name;
    o.n_shards = r->model.shard_tables ? r->replicas : 0;
    return o;
}

bool recipe_graph(struct graph *out, const struct recipe *r, struct arena *a, struct err *err)
{
    const struct workload *w = workload_find(r->workload, err);
    const struct model_options o = graph_options(r);
    return w && workload_graph(out, w, &o, a, err);
}

static bool is_text_of_graph(const struct field *f)
{
    size_t first = offsetof(struct recipe, model);
    return f->type == FIELD_TEXT && f->offset >= first && f->offset < first + sizeof(struct model_options);
}

static void take_text(struct hash_key *k, const char **text)
{
    hash_key_add_text(k, *text);
    *text = NULL;
}

/* Texts count by their contents, all other members by their bytes. Padding bytes are zeros, as in recipe_defaults; other padding would only cost a
 * second graph. */
static void add_graph_key(struct hash_key *k, const struct recipe *r)
{
    struct model_options o = graph_options(r);
    o.where = NULL;
    hash_key_add_text(k, r->workload);
    take_text(k, &o.file);                            /* file, dimensions and operators are not values of a single key */
    take_text(k, &o.dimensions);
    take_text(k, &o.operators);
    for (size_t i = 0; i < n_recipe_keys; i++)
        if (is_text_of_graph(&recipe_keys[i].field))
            take_text(k, (const char **)((char *)&o + recipe_keys[i].field.offset - offsetof(struct recipe, model)));
    hash_key_add(k, &o, sizeof o);
}

const char *recipe_graph_key(size_t *n_bytes, const struct recipe *r, struct arena *a)
{
    struct hash_key k = { .arena = a };
    add_graph_key(&k, r);
    *n_bytes = k.n;
    return k.bytes;
}
