/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_update.c - a plan's weight update: what it depends on, taken from the request, and the program that update.c makes of that.
 */
#include "system-model/plan/update_internal.h"

static struct owned update_terms_of(const struct plan *p, struct compiler *c)
{
    const struct plan_request *o = &p->request;
    const struct program *f = &o->program;
    bool streams = o->state.place == OPTIMIZER_STREAMING;
    const struct update_terms terms = {
        .compiled = { p->stages[0].compiled }, .streaming_s_per_byte = o->fitted.streaming_s_per_byte,
        .merge_buffer_bytes = f->merge_buffer_bytes, .merge_norm_bytes = f->merge_norm_bytes, .sharded_elements = f->sharded_elements,
        .offloaded_elements = f->offloaded_elements, .remote_alone_ipus = f->remote_alone_ipus, .remote_together = f->remote_together,
        .rearrange_before_reduce = f->rearrange_before_reduce, .clip_norm = f->clip_norm,
        .n_replicas = o->n_replicas, .ipus_per_replica = o->ipus_per_replica, .shard = plan_shard_replicas(p), .tensor_replicas = plan_tensor_replicas(o), .phased = plan_is_phased(o), .streams = streams,
        .in_series = f->update_order == UPDATE_IN_SERIES && o->ipus_per_replica > 1 && (o->n_replicas > 1 || streams),
        .all_reduce_method = o->all_reduce_method, .each_replica = o->detail.unfolded || o->faults, .unfolded = o->detail.unfolded, .has_faults = o->faults != NULL,
        .work = o->optimizer.work, .work_without_norms = o->optimizer.work_without_norms, .norms = o->optimizer.norms, .n_moments = o->optimizer.n_moments,
        .state_bytes_per_param = o->optimizer.state_bytes_per_param,
        .full_routes = f->torus_exchanges == TORUS_FULL_ROUTES, .merge_over_ipus = f->merge_over_ipus,
    };
    return memo_own(&c->memo, &terms, sizeof terms);
}

bool plan_update(struct plan *p, struct compiler *c, struct err *err)
{
    const struct plan_request *o = &p->request;
    struct stage_place places[MAX_STAGES];
    uint32_t shard = plan_shard_replicas(p);
    if (!o->training)
        return true;
    if (o->n_replicas % shard != 0)
        return fail(err, "parallel.rts_domain: pod, but %u replicas are not a multiple of the %u of a pod; use all, or change parallel.replicas",
                    o->n_replicas, shard);
    for (uint32_t s = 0; s < p->n_stages; s++)
        places[s] = (struct stage_place){ p->stages[s].ipu, p->stages[s].first_layer, p->stages[s].n_layers };
    const struct update_input q = { update_terms_of(p, c), memo_own(&c->plans, places, p->n_stages * sizeof *places), p->n_stages };
    const struct update_program *known = memo_get(&c->plans, make_update, &q, sizeof q, err).at;
    if (!known)
        return false;
    p->update = *known;
    return true;
}
