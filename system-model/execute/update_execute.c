/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * update_execute.c - the weight update as the plan lists it, tensor by tensor, on all replicas.
 *
 * All reductions come first, as clipping needs the norm of all gradients: merged ones, then chain by chain. A replica keeps the
 * sum of its own part of a sharded tensor alone, changes that, and gathers the others. The order of the plan's chains does not matter to the results. Norms are
 * added up in double over the shards. Sums become means when they are reduced. Gradients that are not finite stop the update of the whole step, as loss
 * scaling wants.
 */
#include "system-model/execute/execute_internal.h"

/* ---- what the plan says of a weight -------------------------------------------------------------- */

static bool has_step(const struct weight *w, enum update_kind kind)
{
    for (uint32_t i = 0; i < w->steps->n_ops; i++)
        if (w->steps->ops[i].kind == kind)
            return true;
    return false;
}

static bool has_merged(const struct execution *x, enum update_kind kind)
{
    const struct update_program *u = &x->p->update;
    for (uint32_t i = 0; i < u->n_chains; i++)
        for (uint32_t k = 0; k < u->chains[i].steps->n_ops && u->chains[i].is_merged; k++)
            if (u->chains[i].steps->ops[k].kind == kind)
                return true;
    return false;
}

static bool does(const struct execution *x, const struct weight *w, enum update_kind kind) { return has_step(w, kind) || has_merged(x, kind); }

/* Neighbouring replicas that have all shards of all parts of a weight; replicas with one part are n_parts apart. */
static uint32_t shard_group_of(const struct weight *w) { return w->n_shards * w->n_parts; }

/* The replica's part of a weight; all of it if it is not sharded. */
static uint64_t part_begin(const struct weight *w, uint32_t replica)
{
    return min_u64(w->n, replica / w->n_parts % w->n_shards * w->n_local);
}

static uint64_t part_end(const struct weight *w, uint32_t replica)
{
    return min_u64(w->n, part_begin(w, replica) + w->n_local);
}

static bool fail_of(const struct execution *x, const struct weight *w, const char *what, struct err *err)
{
    return fail(err, "%s, weight update: tensor %u (%s of layer %s) on IPU %u %s", x->g->name, w->tensor_id, x->g->tensors[w->tensor_id].name,
                x->g->layers[x->g->tensors[w->tensor_id].layer_id].name, w->ipu, what);
}

/* ---- gradients ------------------------------------------------------------------------------------------ */

/* Copies of a tied weight get the sum of the gradients of all, in the order of the IPUs. */
static void tie_gradients(struct execution *x, uint32_t replica)
{
    for (uint32_t i = 0; i < x->n_weights; i++) {
        struct weight *copy = weight_of(x, replica, i), *owner = copy->is_copy ? copy : NULL;
        for (uint32_t k = 0; k < x->n_weights && owner == copy; k++)
            if (!weight_of(x, replica, k)->is_copy && weight_of(x, replica, k)->tensor_id == copy->tensor_id)
                owner = weight_of(x, replica, k);
        if (owner)
            add_gradient(x, copy->tensor_id, owner->gradient, copy->gradient, copy->n, &to_nearest);
    }
    for (uint32_t i = 0; i < x->n_weights; i++)
        for (uint32_t k = 0; k < x->n_weights; k++) {
            struct weight *copy = weight_of(x, replica, i), *owner = weight_of(x, replica, k);
            if (copy->is_copy && !owner->is_copy && owner->tensor_id == copy->tensor_id)
                memcpy(copy->gradient, owner->gradient, copy->n * sizeof *copy->gradient);
        }
}

/* Scales the parts of gradients that replicas hold after the reductions. Elements that are not finite are counted in one shard group, because the
 * other groups hold the same. */
static void scale_gradients(struct execution *x, struct step_result *out)
{
    double scale = x->o.loss_scale > 0 ? x->o.loss_scale : 1;
    float factor = (float)(1 / (scale * x->p->request.grad_accum * plan_data_replicas(&x->p->request)));
    for (uint32_t i = 0; i < x->n_weights * x->p->request.n_replicas; i++) {
        struct weight *w = &x->weights[i];
        uint32_t replica = i / x->n_weights;
        bool counted = replica < shard_group_of(w);
        for (uint64_t e = part_begin(w, replica); e < part_end(w, replica); e++) {
            out->n_not_finite += counted && !isfinite(w->gradient[e]);
            w->gradient[e] *= factor;
        }
    }
}

/* After a reduce-scatter a replica has its own part of the sum, and not the parts of other replicas. */
static void forget_others(const struct execution *x, uint32_t i)
{
    for (uint32_t r = 0; r < x->p->request.n_replicas; r++) {
        struct weight *w = weight_of(x, r, i);
        for (uint64_t e = 0; e < w->n; e++)
            if (e < part_begin(w, r) || e >= part_end(w, r))
                w->gradient[e] = NAN;
    }
}

/* Reduces a weight's gradient over the copies of the model in each shard group. If the tensor is sharded, its parts are then reduced between the groups. */
static void reduce_weight(struct execution *x, uint32_t i)
{
    struct weight *w = weight_of(x, 0, i);
    uint32_t n = x->p->request.n_replicas, width = plan_tensor_replicas(&x->p->request), group = w->sharded ? max_u32(x->shard, width) : n, copies = group / width;
    if (does(x, w, UPDATE_REDUCE) || n == width)
        for (uint32_t first = 0; first < n; first += group)
            for (uint32_t k = 0; k < width; k++)
                reduce_gradients(x, i, first + k, width, copies, 0, w->n);
    w->is_reduced = copies == 1 || does(x, w, UPDATE_REDUCE);
    if (w->sharded)
        forget_others(x, i);
    bool between = group < n && does(x, w, UPDATE_REDUCE_PODS);
    for (uint32_t k = 0; k < group && between; k++)
        reduce_gradients(x, i, k, group, n / group, part_begin(w, k), part_end(w, k));
    w->is_reduced_between = group == n || between;
}

static bool reduce_all(struct execution *x, struct err *err)
{
    for (uint32_t i = 0; i < x->n_weights; i++) {
        reduce_weight(x, i);
        const struct weight *w = weight_of(x, 0, i);
        if (!w->is_reduced || !w->is_reduced_between)
            return fail_of(x, w, w->is_reduced ? "is not reduced between the pods" : "is not reduced over the replicas", err);
    }
    return true;
}

/* ---- norms ----------------------------------------------------------------------------------------------- */

static double squares(const float *x, uint64_t begin, uint64_t end)
{
    double sum = 0;
    for (uint64_t i = begin; i < end; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

/* The sum of squares of a weight or gradient, over all replicas that hold a part of it. Parts that several replicas hold count once. */
static double all_squares(const struct execution *x, uint32_t i, uint32_t replica, bool of_gradient)
{
    const struct weight *w = weight_of(x, replica, i);
    uint32_t group = shard_group_of(w), first = replica / group * group;
    double sum = 0;
    for (uint32_t r = first; r < first + group; r++) {
        const struct weight *part = weight_of(x, r, i);
        sum += squares(of_gradient ? part->gradient : part->x, part_begin(part, r), part_end(part, r));
    }
    return sum * tensor_parts(&x->g->tensors[w->tensor_id]) / w->n_parts;
}

static void clip(struct execution *x)
{
    double sum = 0, limit = x->o.optimizer.clip_norm;
    if (!x->p->request.program.clip_norm || limit <= 0)
        return;
    for (uint32_t i = 0; i < x->n_weights; i++)
        sum += weight_of(x, 0, i)->is_copy ? 0 : all_squares(x, i, 0, true);
    float factor = (float)fmin(1, limit / sqrt(sum));
    for (uint32_t i = 0; i < x->n_weights * x->p->request.n_replicas; i++)
        for (uint64_t e = 0; e < x->weights[i].n; e++)
            x->weights[i].gradient[e] *= factor;        /* the parts of other replicas stay NaN */
}

/* ---- new weights -------------------------------------------------------------------------------------------- */

static struct weight_part part_of(struct weight *w, uint32_t replica)
{
    uint64_t begin = part_begin(w, replica);
    return (struct weight_part){ w->x + begin, w->gradient + begin, w->moments, part_end(w, replica) - begin };
}

static uint64_t update_key(const struct execution *x, uint32_t array)
{
    const uint64_t key[] = { x->o.seed, x->step, UINT64_MAX, array };
    return hash_bytes(key, sizeof key, 0);
}

/* Weights and moments become numbers of their types: the same on all replicas and in all shards. */
static void round_part(struct execution *x, const struct weight *w, const struct weight_part *part, uint32_t replica)
{
    const struct optimizer *o = &x->p->request.optimizer;
    struct rounding_draws draws = { x->o.precision.stochastic_rounding, 0, w->tensor_id, part_begin(w, replica) };
    bool half_moments = o->n_moments && o->state_bytes_per_param / o->n_moments <= 2;
    for (uint32_t k = 0; k <= o->n_moments && x->o.precision.by_type; k++) {
        enum number_format f = k == 0 ? number_format_of(x->g->tensors[w->tensor_id].type) : half_moments ? FORMAT_FP16 : FORMAT_FP32;
        draws.key = update_key(x, k);
        round_elements(k == 0 ? part->w : part->moments[k - 1], part->n, f, 0, &draws, &x->rounded[ROLE_WEIGHT]);
    }
}

/* One tensor on all replicas: directions, then norms over the shards, then steps along the directions. */
static void step_weight(struct execution *x, uint32_t i)
{
    const struct optimizer *o = &x->p->request.optimizer;
    uint32_t n = x->p->request.n_replicas, group = shard_group_of(weight_of(x, 0, i));
    bool scales_by_norms = weight_of(x, 0, i)->has_norms && x->g->tensors[weight_of(x, 0, i)->tensor_id].n_dims > 1;
    const struct optimizer_rule *rule = optimizer_rule(scales_by_norms ? o->work : o->work_without_norms);
    double weights = 0, gradients = 0, factor = 1;
    for (uint32_t r = 0; r < n; r++) {
        if (r % group == 0) {
            weights = sqrt(all_squares(x, i, r, false)), gradients = sqrt(all_squares(x, i, r, true));
            for (uint32_t k = r; k < r + group; k++) {
                struct weight_part part = part_of(weight_of(x, k, i), k);
                rule->direction(&part, &x->o.optimizer, x->step);
            }
            factor = rule->factor(&x->o.optimizer, weights, gradients, sqrt(all_squares(x, i, r, true)));
        }
        struct weight_part part = part_of(weight_of(x, r, i), r);
        rule->apply(&part, &x->o.optimizer, factor);
        round_part(x, weight_of(x, r, i), &part, r);
    }
}

static void gather_weight(struct execution *x, uint32_t i)
{
    for (uint32_t r = 0; r < x->p->request.n_replicas; r++)
        for (uint32_t width = shard_group_of(weight_of(x, r, i)), from = r / width * width, k = from; k < from + width; k++) {
            struct weight *to = weight_of(x, r, i), *part = weight_of(x, k, i);
            if (k % to->n_parts != r % to->n_parts)
                continue;
            uint64_t begin = part_begin(part, k), end = part_end(part, k);
            if (k != r && end > begin)
                memcpy(to->x + begin, part->x + begin, (end - begin) * sizeof *to->x);
        }
}

static bool update_weight(struct execution *x, uint32_t i, struct err *err)
{
    const struct weight *w = weight_of(x, 0, i);
    bool norms_over_shards = w->has_norms && w->sharded && x->p->request.program.merge_norm_bytes == 0;
    if (!has_step(w, UPDATE_OPTIMIZER))
        return fail_of(x, w, "is not changed", err);
    if (norms_over_shards && !does(x, w, UPDATE_NORMS))
        return fail_of(x, w, "needs its norms added over its shards, which the plan does not do", err);
    bool gathers = !plan_is_phased(&x->p->request);     /* without a gather here, the next phase that reads the weight gathers it */
    if (w->sharded && gathers && !has_step(w, UPDATE_GATHER))
        return fail_of(x, w, "is not gathered from its shards", err);
    if (plan_streams(&x->p->request, w->n) && !(has_step(w, UPDATE_LOAD) && has_step(w, UPDATE_STORE)))
        return fail_of(x, w, "has moments in streaming memory that are not loaded and stored", err);
    step_weight(x, i);
    if (w->sharded)
        gather_weight(x, i);
    return true;
}

bool update_execute(struct execution *x, struct step_result *out, struct err *err)
{
    for (uint32_t r = 0; r < x->p->request.n_replicas; r++)
        tie_gradients(x, r);
    if (!reduce_all(x, err))
        return false;
    scale_gradients(x, out);
    out->skipped = out->n_not_finite > 0;
    clip(x);
    for (uint32_t i = 0; i < x->n_weights && !out->skipped; i++)
        if (!update_weight(x, i, err))
            return false;
    return true;
}
