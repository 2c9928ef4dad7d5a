/* SPDX-License-Identifier: GPL-3.0-or-later */
/* built_graph.h - the graph of a model that podbench has, for tests. */
#ifndef BUILT_GRAPH_H
#define BUILT_GRAPH_H

#include "system-model/graph/graph.h"
#include "tests/check.h"
#include "workloads/recipe/recipe.h"

/* Builds the graph of a model in a new arena. With NULL options it has its defaults. */
static inline void build(struct graph *g, const char *name, const struct model_options *options, struct arena *a)
{
    struct err err = { "" };
    const struct workload *w = workload_find(name, &err);
    *a = (struct arena){ 0 };
    assert_non_null(w);
    bool built = workload_graph(g, w, options, a, &err);
    assert_string_equal(err.msg, "");
    assert_true(built);
}

/* How many tensors of a graph have a role. */
static inline size_t count_role(const struct graph *g, enum tensor_role role)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_tensors; i++)
        n += g->tensors[i].role == role;
    return n;
}

#endif
