/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weights.c - the weights of each IPU of each replica: elements, gradients, moments, and the chain of the update that each belongs to.
 * Limit: weights that are joined (tensor.n_joined) are computed with one norm.
 */
#include "system-model/execute/execute_internal.h"

struct weight *weight_on(const struct execution *x, uint32_t replica, uint32_t ipu, uint32_t tensor_id)
{
    for (uint32_t i = 0; i < x->n_weights; i++) {
        struct weight *w = weight_of(x, replica, i);
        if (w->ipu == ipu && w->tensor_id == tensor_id)
            return w;
    }
    return NULL;
}

void accumulate(struct execution *x, uint32_t replica, uint32_t ipu, uint32_t gradient_id, const float *gradient, uint64_t key)
{
    struct weight *w = weight_on(x, replica, ipu, x->g->tensors[gradient_id].of_tensor);
    const struct rounding_draws draws = { x->o.precision.stochastic_rounding, key, w->tensor_id, 0 };
    add_gradient(x, w->tensor_id, w->gradient, gradient, w->n, &draws);
}

void clear_gradients(struct execution *x)
{
    for (uint32_t i = 0; i < x->n_weights * x->p->request.n_replicas; i++)
        memset(x->weights[i].gradient, 0, x->weights[i].n * sizeof *x->weights[i].gradient);
}

bool fill_part(const struct execution *x, float *to, uint32_t id, uint32_t replica, uint64_t micro_batch, struct err *err)
{
    const struct graph *whole = x->g->whole;
    const struct tensor *t = &x->g->tensors[id];
    uint32_t copy = replica / plan_tensor_replicas(&x->p->request);
    if (!whole)
        return x->o.fill(x->o.user, to, id, x->step, copy, micro_batch, err);
    float *all = elements_new(tensor_elements(&whole->tensors[x->g->whole_ids[id]]));
    bool good = x->o.fill(x->o.user, all, x->g->whole_ids[id], x->step, copy, micro_batch, err);
    for (uint64_t i = 0; i < tensor_elements(t); i++) {
        uint64_t from = tensor_whole_element(t, i, replica);
        to[i] = from == NO_ID64 ? 0 : all[from];
    }
    free(all);
    return good;
}

/* ---- where weights are ------------------------------------------------------------------------------- */

static void add_weight(struct execution *x, uint32_t tensor_id, uint32_t stage)
{
    uint32_t ipu = x->p->stages[stage].ipu, owner = plan_stage_of(x->p, x->g->tensors[tensor_id].layer_id)->ipu;
    for (uint32_t i = 0; i < x->n_weights; i++)
        if (x->weights[i].ipu == ipu && x->weights[i].tensor_id == tensor_id)
            return;
    x->weights[x->n_weights++] = (struct weight){ .tensor_id = tensor_id, .ipu = ipu, .stage = stage, .is_copy = ipu != owner,
                                                  .n = tensor_elements(&x->g->tensors[tensor_id]) };
}

/* Each weight is on the IPU of its own layer, and on that of every layer that reads it. */
static void find_places(struct execution *x)
{
    size_t most = x->g->n_tensors + x->g->n_ops;
    x->weights = ARENA_ARRAY(&x->arena, struct weight, most * x->p->request.n_replicas);
    for (uint32_t i = 0; i < x->g->n_tensors; i++)
        if (x->g->tensors[i].role == ROLE_WEIGHT)
            add_weight(x, i, (uint32_t)(plan_stage_of(x->p, x->g->tensors[i].layer_id) - x->p->stages));
    for (size_t i = 0; i < x->g->n_forward_ops; i++)
        for (uint32_t k = 0; k < x->g->ops[i].n_inputs; k++)
            if (x->g->tensors[x->g->ops[i].inputs[k]].role == ROLE_WEIGHT)
                add_weight(x, x->g->ops[i].inputs[k], (uint32_t)(plan_stage_of(x->p, x->g->ops[i].layer_id) - x->p->stages));
    for (uint32_t r = 1; r < x->p->request.n_replicas; r++)
        for (uint32_t i = 0; i < x->n_weights; i++)
            *weight_of(x, r, i) = x->weights[i];
}

/* ---- chains ---------------------------------------------------------------------------------------------- */

static bool belongs(const struct weight *w, const struct graph *g, const struct optimizer *o, const struct update_chain *c)
{
    const struct tensor *t = &g->tensors[w->tensor_id];
    bool has_norms = o->norms == NORMS_OF_ALL || (o->norms == NORMS_OF_KERNELS && t->n_dims > 1);
    return !c->is_merged && c->ipu == w->ipu && c->n_elements == w->n / max_u32(1, t->n_joined) && c->n_parts == tensor_span(t) && c->type == t->type &&
           c->has_norms == has_norms;
}

static bool find_chain(struct weight *w, const struct execution *x, struct err *err)
{
    w->n_local = w->n;
    w->n_shards = w->n_parts = 1;
    if (!x->p->request.training)
        return true;
    const struct update_program *u = &x->p->update;
    for (uint32_t i = 0; i < u->n_chains; i++)
        if (belongs(w, x->g, &x->p->request.optimizer, &u->chains[i])) {
            w->steps = u->chains[i].steps;
            w->sharded = w->steps->n_shards > 1;
            w->has_norms = u->chains[i].has_norms;
            w->n_shards = w->steps->n_shards;
            w->n_parts = u->chains[i].n_parts;
            w->n_local = ceil_div(w->n, w->n_shards);
            return true;
        }
    return fail(err, "%s: the plan's update has no chain for tensor %u (%s) on IPU %u", x->g->name, w->tensor_id, x->g->tensors[w->tensor_id].name, w->ipu);
}

/* Checks that there is one weight for each that the chains name. */
static bool check_chains(const struct execution *x, struct err *err)
{
    const struct update_program *u = &x->p->update;
    for (uint32_t i = 0; i < u->n_chains; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < x->n_weights; k++)
            n += belongs(&x->weights[k], x->g, &x->p->request.optimizer, &u->chains[i]) ? max_u32(1, x->g->tensors[x->weights[k].tensor_id].n_joined) : 0;
        if (!u->chains[i].is_merged && n != u->chains[i].n_tensors)
            return fail(err, "%s: the plan's update changes %u tensors like '%s' on IPU %u, which has %u", x->g->name, u->chains[i].n_tensors,
                        u->chains[i].tensor, u->chains[i].ipu, n);
    }
    return true;
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static void count_weight(struct execution *x, uint32_t replica, const struct weight *w)
{
    struct live_bytes *l = &stage_state_of(x, replica, w->stage)->store.live;
    const struct plan_request *o = &x->p->request;
    uint64_t bytes = tensor_bytes(&x->g->tensors[w->tensor_id]);
    live_add(l, LIVE_WEIGHTS, bytes);
    live_add(l, LIVE_ACCUMULATORS, plan_keeps_gradients(o) ? bytes : 0);
    if (o->training && !plan_streams(o, w->n))
        live_add(l, LIVE_STATE, (uint64_t)((double)w->n_local * o->optimizer.state_bytes_per_param));
}

/* The last shard may be longer than what is left of the tensor. */
static bool start_weight(struct execution *x, uint32_t replica, struct weight *w, struct err *err)
{
    w->x = elements_new(w->n_local * w->n_shards + w->n_shards);
    w->gradient = elements_new(w->n_local * w->n_shards + w->n_shards);
    for (uint32_t k = 0; k < x->p->request.optimizer.n_moments; k++)
        w->moments[k] = elements_new(w->n_local);
    count_weight(x, replica, w);
    for (uint32_t s = 0; s < x->p->n_stages; s++)
        if (x->p->stages[s].ipu == w->ipu)
            stage_state_of(x, replica, s)->store.values[w->tensor_id] = (struct tensor_value){ w->x, w->n };
    bool filled = fill_part(x, w->x, w->tensor_id, replica, UINT64_MAX, err);
    round_given(x, w->tensor_id, w->x);
    return filled;
}

bool weights_start(struct execution *x, struct err *err)
{
    find_places(x);
    for (uint32_t i = 0; i < x->n_weights * x->p->request.n_replicas; i++)
        if (!find_chain(&x->weights[i], x, err) || !start_weight(x, i / x->n_weights, &x->weights[i], err))
            return false;
    return check_chains(x, err);
}

void weights_end(struct execution *x)
{
    for (uint32_t i = 0; i < x->n_weights * x->p->request.n_replicas; i++) {
        struct weight *w = &x->weights[i];
        free(w->x);
        free(w->gradient);
        free(w->moments[0]);
        free(w->moments[1]);
    }
}
