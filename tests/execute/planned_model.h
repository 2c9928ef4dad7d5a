/* SPDX-License-Identifier: GPL-3.0-or-later */
/* planned_model.h - a small model and a plan for it on a real system, with the program of a published run. */
#ifndef PLANNED_MODEL_H
#define PLANNED_MODEL_H
#include "tests/chip_fixture.h"
#include "tests/planned.h"
#include "tests/small_models.h"
#include "system-model/execute/execution.h"

struct planned_model { struct arena arena; struct graph g; struct compiler c; struct plan p; struct err err; };

/* Settings that tests vary; the rest is the recipe's. */
struct variant {
    uint32_t n_replicas, n_ipus, grad_accum, span, n_checkpoints;
    enum schedule schedule; enum recompute recompute; enum rts rts; enum rts_domain domain;
    const char *checkpoint;
    enum vector_work work;              /* 0: SGD */
    bool clip, streaming;
    uint64_t sharded_elements;
    double merge_buffer_bytes, merge_norm_bytes;
    uint32_t tensor_parallel, second_axis, attention_parts;     /* 0: layers are whole; one axis; as many parts */
    uint32_t embedding_split;
    uint32_t phase_blocks;              /* blocks in each phase; 0: weights stay on the chip */
};

static inline struct plan_request request_of(const struct planned *y, const struct variant *v)
{
    struct plan_request o = y->opt;
    o.training = true;
    o.tensor_parallel[0] = v->tensor_parallel, o.tensor_parallel[1] = v->second_axis;
    o.phase_blocks = v->phase_blocks, o.weights = v->phase_blocks ? WEIGHTS_STREAMING : WEIGHTS_ON_CHIP;
    o.n_replicas = v->n_replicas * plan_tensor_replicas(&o), o.ipus_per_replica = v->n_ipus, o.grad_accum = v->grad_accum, o.n_stages = 0;
    o.schedule = v->schedule, o.recompute = v->recompute, o.state.rts = v->rts, o.state.rts_domain = v->domain, o.io_tiles = 0;
    o.stash_type = TYPE_FP16, o.n_checkpoints = v->recompute == RECOMPUTE_CHECKPOINTS, o.checkpoints[0] = v->checkpoint;
    o.optimizer = optimizer_rule(v->work ? v->work : WORK_SGD_MOMENTUM)->plan;
    o.state.place = v->streaming ? OPTIMIZER_STREAMING : OPTIMIZER_ON_CHIP;
    o.program.clip_norm = v->clip, o.program.sharded_elements = v->sharded_elements, o.program.offloaded_elements = 0;
    o.program.merge_buffer_bytes = v->merge_buffer_bytes, o.program.merge_norm_bytes = v->merge_norm_bytes;
    o.host.n_hosts = o.host.n_instances = 1;
    return o;
}

/* False with m->err set if no plan can be made. */
static inline bool plan_model(struct planned_model *m, struct planned *y, const struct small_model *s, const struct variant *v)
{
    struct model_options options = s->o;
    options.batch_norm_span = s->o.batch_norm_span ? max_u32(1, v->span) : 0;
    *m = (struct planned_model){ .err = { "" } };
    options.tensor_parallel = v->tensor_parallel ? arena_printf(&m->arena, "%ux%u", v->tensor_parallel, max_u32(1, v->second_axis)) : NULL;
    options.attention_tensor_parallel = v->attention_parts;
    options.embedding_split = v->embedding_split;
    if (!workload_graph(&m->g, &s->w, &options, &m->arena, &m->err))
        return false;
    struct plan_request o = request_of(y, v);
    compiler_start(&m->c, &m->g, y->sim.topology, &y->cache, &m->arena);
    return plan_build(&m->p, &m->c, &o, &m->arena, &m->err);
}

/* Weights are the same on all replicas, inputs differ. user: the graph. */
static inline bool fill_noise(void *user, float *to, uint32_t id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err)
{
    const struct graph *g = user;
    bool shared = g->tensors[id].role != ROLE_INPUT;
    (void)err;
    for (uint64_t k = 0; k < tensor_elements(&g->tensors[id]); k++)
        to[k] = (float)given_value(g, id, k, shared ? 0 : 1 + step * 10007 + replica * 101 + micro_batch);
    return true;
}

#endif
