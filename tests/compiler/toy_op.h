/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * toy_op.h - single operations, planned for 7 tiles.
 */
#ifndef TOY_OP_H
#define TOY_OP_H
#include "tests/check.h"
#include "system-model/graph/graph.h"
#include "tests/chip_fixture.h"
#include "system-model/compiler/compiler.h"
#include "system-model/compiler/conv.h"
#include "system-model/compiler/passes.h"

struct toy { struct arena arena; struct graph graph; struct plan_cache cache; struct chip chip; struct op_plan_options options; };

static inline void toy_start(struct toy *t)
{
    memset(t, 0, sizeof *t);
    t->chip = small_chip(7);
    t->options = (struct op_plan_options){ .available_memory = 0.6 };
    graph_start(&t->graph, "toy", 1, &t->arena);
    graph_layer(&t->graph, (struct layer){ .name = "layer", .n_parts = 1 });
}

static inline void toy_end(struct toy *t)
{
    plan_cache_free(&t->cache);
    arena_free(&t->arena);
}

static inline uint32_t tensor(struct toy *t, enum tensor_role role, enum data_type type, uint32_t n_dims, const uint64_t *dims)
{
    return graph_tensor(&t->graph, "t", role, type, n_dims, dims);
}

#define DIMS(...) (uint32_t)(sizeof (uint64_t[]){ __VA_ARGS__ } / sizeof(uint64_t)), (uint64_t[]){ __VA_ARGS__ }

static inline struct op_plan plan_last(struct toy *t)
{
    struct op_plan p;
    op_plan_build(&p, &t->graph, (uint32_t)t->graph.n_ops - 1, even_operands, &t->chip, &t->options, &t->cache);
    assert_int_equal(p.sync_cycles, p.n_supersteps * t->chip.on_chip_sync_cycles);
    assert_true(p.n_tiles_used <= 7);
    return p;
}

static inline struct op_plan plan_op(struct toy *t, enum op_kind kind, const uint32_t *in, uint32_t n, struct op_attributes at)
{
    graph_op(&t->graph, kind, in, n, at);
    return plan_last(t);
}

#endif
