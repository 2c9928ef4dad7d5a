/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * toy_pipeline.h - pipelines small enough for paper. Stage s takes 100 + 7s cycles forward and 210 + 11s backward, unless
 * a test says otherwise.
 */
#ifndef TOY_PIPELINE_H
#define TOY_PIPELINE_H
#include "tests/check.h"
#include "system-model/graph/graph.h"
#include "system-model/plan/plan.h"
#include "system-model/timeline/timeline.h"

struct toy {
    struct machine machine;
    struct topology topology;
    struct graph graph;
    struct compiler compiler;
    struct plan plan;
    struct timeline timeline;
    struct arena arena;
    struct err err;
};

static inline void toy_start(struct toy *y, uint32_t n_stages, uint32_t n_ipus, enum schedule schedule, bool training, uint32_t grad_accum)
{
    memset(y, 0, sizeof *y);
    y->machine = (struct machine){ .name = "toy", .n_ipus = 64, .ipus_per_board = 4, .ipus_per_domain = 64, .pcie_shared_ipus = 1,
                                   .host_network_bytes_per_s = INFINITY };
    y->machine.chip = (struct chip){ .name = "toy", .n_tiles = 7, .clock_hz = 1e9, .tile_memory_bytes = 10000, .host_link_bytes_per_s = INFINITY };
    y->topology.machine = &y->machine;
    y->graph = (struct graph){ .name = "toy", .micro_batch = 3 };
    y->plan = (struct plan){ .graph = &y->graph, .topology = &y->topology, .n_stages = n_stages };
    y->plan.request = (struct plan_request){ .training = training, .schedule = schedule, .grad_accum = grad_accum, .n_replicas = 1,
                                             .ipus_per_replica = n_ipus, .program = { .returns_results = true, .callback_bytes_per_s = INFINITY, .host_data_bytes_per_s = INFINITY } };
    y->plan.stages = ARENA_ARRAY(&y->arena, struct stage_plan, n_stages);
    for (uint32_t s = 0; s < n_stages; s++) {
        y->plan.stages[s].ipu = s % n_ipus;
        y->plan.stages[s].forward.part[PART_MATMUL] = 100 + 7 * s;
        y->plan.stages[s].backward.part[PART_CONV] = 210 + 11 * s;
    }
}

/* One tensor of an IPU, or of all: reduced, updated, gathered; each step as long as it says. */
static inline void toy_update(struct toy *y, uint32_t ipu, uint32_t n_tensors, uint64_t reduce, uint64_t optimizer, uint64_t gather)
{
    struct update_program *u = &y->plan.update;
    const uint64_t cycles[] = { reduce, optimizer, gather };
    static const enum update_kind kinds[] = { UPDATE_REDUCE, UPDATE_OPTIMIZER, UPDATE_GATHER };
    static const enum part parts[] = { PART_ALL_REDUCE, PART_OPTIMIZER, PART_ALL_REDUCE };
    u->chains = arena_grow(&y->arena, u->chains, u->n_chains, &u->cap_chains, sizeof *u->chains);
    struct update_steps *steps = ARENA_NEW(&y->arena, struct update_steps);
    *steps = (struct update_steps){ ARENA_ARRAY(&y->arena, struct update_op, 3), 3, .n_cycles = reduce + optimizer + gather };
    u->chains[u->n_chains++] = (struct update_chain){ .ipu = ipu, .tensor = "w", .n_tensors = n_tensors, .steps = steps };
    for (int i = 0; i < 3; i++) {
        steps->ops[i] = (struct update_op){ .kind = kinds[i], .on_tiles = i == 1, .n_cycles = cycles[i] };
        steps->ops[i].cycles.part[parts[i]] = cycles[i];
        cycles_add(&steps->cycles, &steps->ops[i].cycles, 1);
    }
}

static inline void toy_run(struct toy *y)
{
    for (uint32_t s = 0; s < y->plan.n_stages; s++)
        stage_sum_cycles(&y->plan.stages[s]);
    update_sum_cycles(&y->plan.update, &y->arena);
    assert_true(plan_pipeline(&y->plan, &y->compiler, &y->arena, &y->err));
    assert_true(timeline_run(&y->timeline, &y->plan, &y->arena, &y->err));
    if (!timeline_check(&y->timeline, &y->err)) {
        print_error("%s\n", y->err.msg);
        assert_true(false);
    }
}

static inline void all_alike(struct toy *y, uint64_t forward, uint64_t backward)
{
    for (uint32_t s = 0; s < y->plan.n_stages; s++) {
        y->plan.stages[s].forward.part[PART_MATMUL] = forward;
        y->plan.stages[s].backward.part[PART_CONV] = backward;
    }
}
#endif
