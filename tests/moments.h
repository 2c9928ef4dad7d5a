/* SPDX-License-Identifier: GPL-3.0-or-later */
/* moments.h - the live bytes of a graph on one IPU, layer by layer. */
#ifndef MOMENTS_H
#define MOMENTS_H
#include "system-model/graph/graph.h"
#include "system-model/plan/stage_program.h"

/* All layers as one stage. compiled NULL: every tensor lies evenly on one tile, all operations share one code, and none has temporaries. */
static inline const struct stage_layer *moments_of_calls(const struct graph *g, const struct compiled *compiled, enum recompute recompute, bool by_value,
                                                         struct arena *a)
{
    struct op_plan *even = ARENA_ARRAY(a, struct op_plan, 1);
    struct compiled *made = ARENA_ARRAY(a, struct compiled, 1);
    struct stage_plan *s = ARENA_ARRAY(a, struct stage_plan, 1);
    struct stage_program program;
    even->imbalance = 1;
    made->options.n_tiles = 1;
    made->op_plans = ARENA_ARRAY(a, const struct op_plan *, g->n_ops);
    for (size_t i = 0; i < g->n_ops; i++)
        made->op_plans[i] = even;
    made->tensors = tensor_rooms(g, made->op_plans, a);
    *s = (struct stage_plan){ .n_layers = (uint32_t)g->n_layers, .compiled = compiled ? compiled : made };
    const struct stage_layers layers = { 0, (uint32_t)g->n_layers, 0, recompute, NULL, false };
    stage_program_make(&program, g, &layers, graph_for_later_layers(g, a), a);
    stage_moments(s, g, &program, false, by_value, a);
    return s->layers;
}

static inline const struct stage_layer *moments_of(const struct graph *g, const struct compiled *compiled, enum recompute recompute, struct arena *a)
{
    return moments_of_calls(g, compiled, recompute, false, a);
}

#endif
