/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_plan_execute.c - plans are executed: the weights that come out are those of the graph run from end to end, without a plan.
 *
 * The reference runs every operation of the graph in order with all tensors at hand, adds gradients up micro-batch by micro-batch, and those sums
 * over the replicas as a tree. Pipelines, recomputation, accumulation and replicas must give its bits; only a weight that several stages of
 * one IPU read adds its gradients up in another order. Half of the plans are executed in fp16, half of these with stochastic rounding.
 */
#include "tests/execute/traced_bytes.h"

#define RECIPE "mlperf-v2.0-closed-bow-pod16-bert-large"

static struct planned base;

/* ---- the reference ------------------------------------------------------------------------------------- */

struct reference { const struct graph *g; uint32_t n_replicas, grad_accum; struct tensor_value **values; float **sums; uint64_t seed; struct precision precision; };

/* To the tensor's type; draws is NULL for rounding to the nearest. */
static void rounded(const struct reference *f, uint32_t id, float *x, uint64_t n, const struct rounding_draws *draws)
{
    struct rounding_counts counts = { 0 };
    if (f->precision.by_type)
        round_elements(x, n, number_format_of(f->g->tensors[id].type), 0, draws ? draws : &to_nearest, &counts);
}

static void reference_start(struct reference *f, const struct planned_model *m, const struct precision *precision, struct arena *a)
{
    *f = (struct reference){ &m->g, m->p.request.n_replicas, m->p.request.grad_accum, NULL, NULL, 7, *precision };
    f->values = ARENA_ARRAY(a, struct tensor_value *, f->n_replicas);
    f->sums = ARENA_ARRAY(a, float *, f->n_replicas * f->g->n_tensors);
    for (uint32_t r = 0; r < f->n_replicas; r++) {
        f->values[r] = ARENA_ARRAY(a, struct tensor_value, f->g->n_tensors);
        for (uint32_t i = 0; i < f->g->n_tensors; i++) {
            uint64_t n = tensor_elements(&f->g->tensors[i]);
            f->values[r][i] = (struct tensor_value){ ARENA_ARRAY(a, float, n), n };
            f->sums[r * f->g->n_tensors + i] = ARENA_ARRAY(a, float, n);
        }
    }
}

static void reference_op(struct reference *f, uint32_t op_id, uint64_t step, uint64_t micro_batch)
{
    const struct op *op = &f->g->ops[op_id];
    uint32_t span = op->kind == OP_BATCH_NORM && op->at->norm_groups > 1 ? min_u32(op->at->norm_groups, f->n_replicas) : 1;
    for (uint32_t r = 0; r < f->n_replicas; r++) {
        const uint64_t key[] = { f->seed, step, r, micro_batch };
        const struct tensor_value *peers[8];
        struct err err = { "" };
        for (uint32_t k = 0; k < span; k++)
            peers[k] = f->values[r / span * span + k];
        struct op_context c = { .dropout_key = hash_bytes(key, sizeof key, 0), .peers = peers, .n_peers = span > 1 ? span : 0, .mean_losses = true,
                                .precision = f->precision };
        assert_true(op_execute(f->g, op_id, f->values[r], &c, &err));
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const struct tensor_value *v = &f->values[r][op->outputs[k]];
            uint32_t id = f->g->tensors[op->outputs[k]].of_tensor;
            const struct rounding_draws draws = { f->precision.stochastic_rounding, c.dropout_key, id, 0 };
            if (f->g->tensors[op->outputs[k]].role != ROLE_WEIGHT_GRADIENT)
                continue;
            for (uint64_t e = 0; e < v->n_elements; e++)
                f->sums[r * f->g->n_tensors + id][e] += v->x[e];
            rounded(f, id, f->sums[r * f->g->n_tensors + id], v->n_elements, &draws);
        }
    }
}

/* The sum over replicas first to first + n, in the memory of the first of them. */
static float *tree(const struct reference *f, uint32_t id, uint32_t first, uint32_t n)
{
    float *sum = n == 1 ? f->sums[first * f->g->n_tensors + id] : tree(f, id, first, n / 2);
    const float *rest = n == 1 ? NULL : tree(f, id, first + n / 2, n - n / 2);
    for (uint64_t e = 0; e < f->values[0][id].n_elements && rest; e++)
        sum[e] += rest[e];
    if (rest)
        rounded(f, id, sum, f->values[0][id].n_elements, NULL);
    return sum;
}

static void reference_update(struct reference *f, uint32_t id, uint64_t step, double rate)
{
    const uint64_t key[] = { f->seed, step, UINT64_MAX, 0 };
    const struct rounding_draws draws = { f->precision.stochastic_rounding, hash_bytes(key, sizeof key, 0), id, 0 };
    const float factor = (float)(1.0 / (f->grad_accum * f->n_replicas)), *sum = tree(f, id, 0, f->n_replicas);
    for (uint32_t r = 0; r < f->n_replicas; r++) {
        float *w = f->values[r][id].x;
        for (uint64_t e = 0; e < f->values[r][id].n_elements; e++)
            w[e] = (float)(w[e] - rate * (double)(sum[e] * factor));
        rounded(f, id, w, f->values[r][id].n_elements, &draws);
    }
    for (uint32_t r = 0; r < f->n_replicas; r++)
        memset(f->sums[r * f->g->n_tensors + id], 0, f->values[r][id].n_elements * sizeof(float));
}

/* Returns the mean loss. SGD without momentum: w -= rate x mean gradient. */
static double reference_step(struct reference *f, uint64_t step, double rate)
{
    double loss = 0;
    struct err err;
    for (uint64_t m = 0; m < f->grad_accum; m++) {
        for (uint32_t r = 0; r < f->n_replicas; r++)
            for (uint32_t i = 0; i < f->g->n_tensors; i++)
                if (f->g->tensors[i].producer_op == NO_ID && (f->g->tensors[i].role != ROLE_WEIGHT || (m == 0 && step == 0))) {
                    fill_noise((void *)(uintptr_t)f->g, f->values[r][i].x, i, step, r, m, &err);
                    rounded(f, i, f->values[r][i].x, f->values[r][i].n_elements, NULL);
                }
        for (uint32_t i = 0; i < f->g->n_ops; i++)
            reference_op(f, i, step, m);
        for (uint32_t r = 0; r < f->n_replicas; r++)
            for (uint32_t i = 0; i < f->g->n_ops; i++)
                loss += op_is_loss(&f->g->ops[i]) ? (double)f->values[r][f->g->ops[i].outputs[0]].x[0] : 0;
    }
    for (uint32_t i = 0; i < f->g->n_tensors; i++)
        if (f->g->tensors[i].role == ROLE_WEIGHT)
            reference_update(f, i, step, rate);
    return loss / f->grad_accum / f->n_replicas;
}

/* ---- plans against it ------------------------------------------------------------------------------------ */

static struct execution_options options_of(const struct graph *g)
{
    return (struct execution_options){ .optimizer = { .learning_rate = 0.125, .second_momentum = 0.99, .epsilon = 1e-6, .trust = 0.01 }, .seed = 7, .mean_losses = true,
                                       .fill = fill_noise, .user = (void *)(uintptr_t)g };
}

static bool is_tied(const struct graph *g, uint32_t id)
{
    for (size_t i = 0; i < g->n_forward_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            if (g->ops[i].inputs[k] == id && g->ops[i].layer_id != g->tensors[id].layer_id)
                return true;
    return false;
}

/* The largest difference of any weight on any IPU of any replica; tied ones apart. */
static double worst_difference(const struct execution *x, const struct planned_model *m, const struct reference *f, bool tied)
{
    double worst = 0;
    for (uint32_t r = 0; r < f->n_replicas; r++)
        for (uint32_t i = 0; i < m->g.n_tensors; i++)
            for (uint32_t ipu = 0; ipu < m->p.request.ipus_per_replica && m->g.tensors[i].role == ROLE_WEIGHT && is_tied(&m->g, i) == tied; ipu++) {
                const float *w = execution_weight(x, r, ipu, i);
                for (uint64_t e = 0; w && e < f->values[r][i].n_elements; e++)
                    worst = fmax(worst, fabs((double)w[e] - (double)f->values[r][i].x[e]));
            }
    return worst;
}

static struct execution *started(struct planned_model *m, const struct precision *precision)
{
    struct execution_options o = options_of(&m->g);
    o.precision = *precision, o.watch = trace_op, trace.n = 0;
    struct execution *x = execution_start(&m->p, &o, &m->err);
    assert_string_equal(m->err.msg, "");
    assert_non_null(x);
    return x;
}

static void check_against_reference(struct planned_model *m, const struct precision *precision)
{
    struct arena a = { 0 };
    struct reference f;
    struct step_result result;
    struct execution *x = started(m, precision);
    reference_start(&f, m, precision, &a);
    bool good = execution_step(x, &result, &m->err);
    assert_string_equal(m->err.msg, "");
    assert_true(good && !result.skipped);
    double loss = reference_step(&f, 0, 0.125);
    assert_near(result.loss, loss, 1e-12 * loss);
    assert_true(worst_difference(x, m, &f, false) == 0);
    assert_true(worst_difference(x, m, &f, true) < (precision->by_type ? 1e-2 : 1e-6));
    execution_end(x);
    arena_free(&a);
}

static uint64_t random_state = 20261;

/* Convolutions take longest. */
static bool is_of_images(const struct small_model *s) { return s->o.image_size || s->o.norm_groups; }

static struct variant drawn(const struct small_model *s)
{
    static const enum schedule schedules[] = { SCHEDULE_SEQUENTIAL, SCHEDULE_GROUPED, SCHEDULE_INTERLEAVED, SCHEDULE_POPART };
    struct variant v = { .n_replicas = (uint32_t)draw(&random_state, 1, 4), .n_ipus = (uint32_t)draw(&random_state, 1, 4),
                         .grad_accum = (uint32_t)draw(&random_state, 1, 9), .span = (uint32_t)draw(&random_state, 1, 2),
                         .schedule = schedules[draw(&random_state, 0, 3)], .recompute = (enum recompute)draw(&random_state, 0, 2),
                         .rts = (enum rts)draw(&random_state, 0, 1), .sharded_elements = draw(&random_state, 1, 60),
                         .merge_buffer_bytes = draw(&random_state, 0, 1) ? 100 : 0 };
    if (is_of_images(s))
        v.n_replicas = min_u32(v.n_replicas, 2), v.n_ipus = min_u32(v.n_ipus, 2), v.grad_accum = min_u32(v.grad_accum, 3);
    v.span = v.n_replicas % v.span ? 1 : v.span;
    if (v.schedule == SCHEDULE_POPART)
        v.grad_accum = max_u32(v.grad_accum, 2 * v.n_ipus - 1);
    return v;
}

/* Two plans of each family; PODBENCH_PLANS=N for N. */
static void random_plans(void **state)
{
    (void)state;
    int n = getenv("PODBENCH_PLANS") ? atoi(getenv("PODBENCH_PLANS")) : 2, n_planned = 0;
    for (size_t i = 0; i < N_SMALL_MODELS * (size_t)n; i++) {
        struct planned_model m;
        struct variant v = drawn(&small_models[i % N_SMALL_MODELS]);
        if (plan_model(&m, &base, &small_models[i % N_SMALL_MODELS], &v)) {
            const struct precision precision = { i % 2, (enum partials_type)(i / 2 % 2), i / 4 % 2, false };
            check_against_reference(&m, &precision);
            n_planned++;
        }
        arena_free(&m.arena);
    }
    print_message("# %d plans\n", n_planned);
    assert_true(n_planned > 6 * n);
}

/* ---- live bytes against the plan's ------------------------------------------------------------------------- */

static uint64_t planned_state_bytes(const struct planned_model *m, const struct stage_plan *s)
{
    return (uint64_t)((double)(s->n_parameters + s->n_copied) * m->p.request.optimizer.state_bytes_per_param);
}

/* Live bytes of execution are those that the plan counts, to the byte. */
static void check_stage_bytes(const struct planned_model *m, const struct stage_plan *s, const struct live_bytes *l)
{
    assert_int_equal(l->peak[LIVE_WEIGHTS], s->weight_bytes);
    assert_int_equal(l->peak[LIVE_ACCUMULATORS], s->weight_bytes);
    assert_int_equal(l->peak[LIVE_STATE], planned_state_bytes(m, s));
    assert_int_equal(l->deepest, s->stash_depth);
    assert_int_equal(l->entry_bytes, s->stash_bytes);
    assert_int_equal(l->peak[LIVE_STASH], s->stash_bytes * s->stash_depth);
    assert_int_equal(l->peak[LIVE_KEPT_INPUTS], s->kept_input_bytes * s->stash_depth);
    assert_int_equal(l->peak[LIVE_INPUTS], s->host_bytes);
    assert_int_equal(l->peak[LIVE_ACTIVATIONS], s->activation_bytes);
    assert_int_equal(l->peak[LIVE_HANDED_OVER], plan_waiting_bytes(&m->p, s));
    for (int c = LIVE_STASH; c < N_LIVE_CATEGORIES; c++)
        assert_int_equal(l->now[c], 0);
}

/* Nor can an execution in this order do with less. */
static void check_traced_bytes(const struct planned_model *m, uint32_t stage)
{
    struct traced_bytes b = traced_bytes_of(m, stage);
    const struct stage_plan *s = &m->p.stages[stage];
    uint64_t planned[] = { s->stash_depth, s->stash_bytes, s->stash_bytes * s->stash_depth, s->kept_input_bytes * s->stash_depth, s->activation_bytes };
    uint64_t traced[] = { b.deepest, b.entry, b.stash, b.kept_inputs, b.activations };
    static const char *const names[] = { "depth", "entry", "stash", "kept inputs", "activations" };
    for (size_t i = 0; i < sizeof planned / sizeof *planned; i++)
        if (planned[i] != traced[i])
            print_message("# %s, stage %u, schedule %d, recomputation %d: %s %ju planned, %ju traced\n", m->g.name, stage, (int)m->p.request.schedule,
                          (int)m->p.request.recompute, names[i], (uintmax_t)planned[i], (uintmax_t)traced[i]);
    for (size_t i = 0; i < sizeof planned / sizeof *planned; i++)
        assert_int_equal(traced[i], planned[i]);
}

/* Executes one step of a plan of n stages, if there is one. */
static bool check_bytes(const struct small_model *s, uint32_t n, enum schedule schedule, enum recompute recompute)
{
    struct planned_model m;
    struct step_result result;
    struct variant v = { .n_replicas = 1, .n_ipus = n, .grad_accum = 7, .span = 1, .schedule = schedule, .recompute = recompute };
    bool planned = plan_model(&m, &base, s, &v);
    struct execution *x = planned ? started(&m, &(struct precision){ 0 }) : NULL;
    if (planned)
        assert_true(execution_step(x, &result, &m.err));
    for (uint32_t i = 0; i < m.p.n_stages && planned; i++) {
        check_stage_bytes(&m, &m.p.stages[i], execution_live(x, i));
        check_traced_bytes(&m, i);
    }
    execution_end(x);
    arena_free(&m.arena);
    return planned;
}

/* Every family, schedule and recomputation; images, which take longest, have each recomputation with one schedule. */
static void live_bytes(void **state)
{
    (void)state;
    uint32_t n = 0, n_images = 0;
    for (size_t i = 0; i < N_SMALL_MODELS; n_images += is_of_images(&small_models[i]), i++)
        for (int schedule = SCHEDULE_SEQUENTIAL; schedule < N_SCHEDULES; schedule++)
            for (int recompute = RECOMPUTE_NONE; recompute < RECOMPUTE_CHECKPOINTS; recompute++)
                if (!is_of_images(&small_models[i]) || schedule == SCHEDULE_SEQUENTIAL + (int)(i + (size_t)recompute) % (N_SCHEDULES - SCHEDULE_SEQUENTIAL))
                    n += check_bytes(&small_models[i], 3, (enum schedule)schedule, (enum recompute)recompute);
    for (size_t i = 0; i < N_SMALL_MODELS; i++)         /* several layers of an IPU may read one table of another */
        n += check_bytes(&small_models[i], 2, SCHEDULE_SEQUENTIAL, RECOMPUTE_NONE);
    assert_int_equal(n, 13 * N_SMALL_MODELS - 9 * n_images);
}

/* ---- updates ---------------------------------------------------------------------------------------------------- */

/* Three steps; the weights afterwards, one after the other. */
static float *trained(const struct small_model *s, const struct variant *v, enum reduction_order order, bool fp16, uint64_t *n, struct arena *a)
{
    struct planned_model m;
    bool planned = plan_model(&m, &base, s, v);
    assert_string_equal(m.err.msg, "");
    assert_true(planned);
    struct execution_options o = options_of(&m.g);
    struct step_result result;
    o.reduction = order, o.precision = (struct precision){ fp16, PARTIALS_FP16, fp16, false }, o.optimizer.momentum = 0.875, o.optimizer.weight_decay = 0.01, o.optimizer.clip_norm = 0.5, o.optimizer.learning_rate = 0.01;
    struct execution *x = execution_start(&m.p, &o, &m.err);
    for (int step = 0; step < 3; step++)
        assert_true(execution_step(x, &result, &m.err));
    float *all = ARENA_ARRAY(a, float, graph_parameters(&m.g));
    *n = 0;
    for (uint32_t i = 0; i < m.g.n_tensors; i++)
        for (uint64_t e = 0; m.g.tensors[i].role == ROLE_WEIGHT && e < tensor_elements(&m.g.tensors[i]); e++)
            all[(*n)++] = execution_weight(x, v->n_replicas - 1, plan_stage_of(&m.p, m.g.tensors[i].layer_id)->ipu, i)[e];
    execution_end(x);
    arena_free(&m.arena);
    return all;
}

static double difference(const float *a, const float *b, uint64_t n)
{
    double most = 0, off = 0;
    for (uint64_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)a[i]));
        off = fmax(off, fabs((double)a[i] - (double)b[i]));
    }
    return off / most;
}

/* Whatever the optimizer: sharded over four replicas, or in merged reductions, or with streamed moments, the update gives the bits of the plain
 * one, in fp32 and in fp16 with stochastic rounding; in the order of a ring, 1e-5 of the largest weight. */
static void updates_agree(void **state)
{
    static const enum vector_work works[] = { WORK_SGD_MOMENTUM, WORK_LARS, WORK_ADAM, WORK_LAMB };
    static const struct variant others[] = {
        { .rts = RTS_YES, .sharded_elements = 1 }, { .rts = RTS_YES, .sharded_elements = 30 }, { .merge_buffer_bytes = 200 },
        { .merge_buffer_bytes = 1e6, .merge_norm_bytes = 100 }, { .rts = RTS_YES, .sharded_elements = 9, .streaming = true, .merge_buffer_bytes = 60 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof works / sizeof *works; k++)
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            const struct small_model *gpt = &small_models[1];
            struct arena a = { 0 };
            uint64_t n;
            struct variant plain = { .n_replicas = 4, .n_ipus = 2, .grad_accum = 3, .schedule = SCHEDULE_GROUPED, .work = works[k], .clip = i % 2 };
            struct variant other = others[i];
            other.n_replicas = 4, other.n_ipus = 2, other.grad_accum = 3, other.schedule = SCHEDULE_POPART, other.work = works[k], other.clip = i % 2;
            const float *want = trained(gpt, &plain, REDUCE_AS_TREE, false, &n, &a), *got = trained(gpt, &other, REDUCE_AS_TREE, false, &n, &a);
            assert_memory_equal(got, want, n * sizeof *want);
            assert_true(difference(want, trained(gpt, &other, REDUCE_AS_RING, false, &n, &a), n) < 1e-5);
            if (i % 4 == k) {       /* each optimizer once in fp16, SGD twice */
                const float *in_fp16 = trained(gpt, &plain, REDUCE_AS_TREE, true, &n, &a);
                assert_memory_equal(trained(gpt, &other, REDUCE_AS_TREE, true, &n, &a), in_fp16, n * sizeof *want);
                assert_true(difference(want, in_fp16, n) > 1e-5);
            }
            arena_free(&a);
        }
}

/* The same samples as micro-batches of one replica or of four, without dropout: sums in another order. */
static bool fill_by_sample(void *user, float *to, uint32_t id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err)
{
    const struct planned_model *m = user;
    return fill_noise((void *)(uintptr_t)&m->g, to, id, step, 0, replica * m->p.request.grad_accum + micro_batch, err);
}

static double loss_after(const struct small_model *s, const struct variant *v)
{
    struct planned_model m;
    struct step_result result = { 0 };
    assert_true(plan_model(&m, &base, s, v));
    struct execution_options o = options_of(&m.g);
    o.fill = fill_by_sample, o.user = &m;
    struct execution *x = execution_start(&m.p, &o, &m.err);
    for (int i = 0; i < 4; i++)
        assert_true(execution_step(x, &result, &m.err));
    execution_end(x);
    arena_free(&m.arena);
    return result.loss;
}

static void replicas_are_micro_batches(void **state)
{
    (void)state;
    struct variant alone = { .n_replicas = 1, .n_ipus = 1, .grad_accum = 12, .schedule = SCHEDULE_SEQUENTIAL };
    struct variant four = { .n_replicas = 4, .n_ipus = 1, .grad_accum = 3, .schedule = SCHEDULE_SEQUENTIAL };
    double want = loss_after(&small_models[4], &alone), got = loss_after(&small_models[4], &four);
    assert_near(got / want, 1, 1e-5);
}

/* ---- plans that are wrong ---------------------------------------------------------------------------------------- */

/* The message of a step of a plan that was changed by hand. */
static void refused(const struct small_model *s, const struct variant *v, void (*spoil)(struct plan *p), const char *message)
{
    struct planned_model m;
    struct step_result result;
    assert_true(plan_model(&m, &base, s, v));
    spoil(&m.p);
    struct execution_options o = options_of(&m.g);
    struct execution *x = execution_start(&m.p, &o, &m.err);
    assert_false(x && execution_step(x, &result, &m.err));
    assert_string_equal(m.err.msg, message);
    execution_end(x);
    arena_free(&m.arena);
}

static void shallow_stash(struct plan *p) { p->stages[0].stash_depth--; }
static void early_backward(struct plan *p) { p->tasks[p->n_tasks - 1].first_cycle--; }
static void short_run(struct plan *p) { p->runs[p->n_runs - 1].n_cycles--; }

static void nothing_again(struct plan *p) { p->stages[0].n_layers_again = 0; }
static void shared_layer(struct plan *p) { p->stages[0].n_layers--; }

/* Takes a kind of step out of all chains. */
static void without(struct plan *p, enum update_kind kind)
{
    for (uint32_t i = 0; i < p->update.n_chains; i++) {
        struct update_steps *s = (struct update_steps *)(uintptr_t)p->update.chains[i].steps;
        uint32_t n = 0;
        for (uint32_t k = 0; k < s->n_ops; k++)
            if (s->ops[k].kind != kind)
                s->ops[n++] = s->ops[k];
        s->n_ops = n;
    }
}

static void no_reduction(struct plan *p) { without(p, UPDATE_REDUCE); }
static void no_gather(struct plan *p) { without(p, UPDATE_GATHER); }
static void no_norms(struct plan *p) { without(p, UPDATE_NORMS); }
static void no_load(struct plan *p) { without(p, UPDATE_LOAD); }
static void chain_too_many(struct plan *p) { p->update.chains[p->update.n_chains - 1].n_tensors++; }

static void wrong_plans(void **state)
{
    const struct small_model *gpt = &small_models[1];
    struct variant pipe = { .n_replicas = 1, .n_ipus = 3, .grad_accum = 7, .schedule = SCHEDULE_POPART };
    struct variant layers = pipe, shards = { .n_replicas = 2, .n_ipus = 1, .grad_accum = 1, .schedule = SCHEDULE_SEQUENTIAL, .rts = RTS_YES,
                                             .sharded_elements = 1, .work = WORK_LAMB };
    (void)state;
    layers.recompute = RECOMPUTE_LAYER;
    refused(gpt, &pipe, shallow_stash, "gpt2, stage 0 forward of micro-batch 4: the stash is full: 4 micro-batches are in flight, the plan's depth");
    refused(gpt, &pipe, early_backward, "gpt2, stage 0 backward of micro-batch 1: stage 1 has handed over nothing for it");
    refused(gpt, &pipe, short_run, "gpt2, stage 0: the step ends before its micro-batches do");
    refused(gpt, &layers, nothing_again, "gpt2, stage 0: its backward task reads 6160 bytes that its forward task made, and the plan keeps 336");
    refused(gpt, &pipe, shared_layer, "gpt2: the plan's update changes 12 tensors like 'gamma' on IPU 0, which has 9");
    refused(gpt, &shards, no_reduction, "gpt2, weight update: tensor 2 (word-embeddings of layer embeddings) on IPU 0 is not reduced over the replicas");
    refused(gpt, &shards, no_gather, "gpt2, weight update: tensor 2 (word-embeddings of layer embeddings) on IPU 0 is not gathered from its shards");
    refused(gpt, &shards, no_norms, "gpt2, weight update: tensor 2 (word-embeddings of layer embeddings) on IPU 0 needs its norms added over its shards, which the plan does not do");
    refused(gpt, &shards, chain_too_many, "gpt2: the plan's update changes 9 tensors like 'kernel' on IPU 0, which has 8");
    shards.streaming = true;
    refused(gpt, &shards, no_load,
            "gpt2, weight update: tensor 2 (word-embeddings of layer embeddings) on IPU 0 has moments in streaming memory that are not loaded and stored");
}

static int setup(void **state) { (void)state; start(&base, RECIPE); return 0; }
static int teardown(void **state) { (void)state; stop(&base); return 0; }

static const struct CMUnitTest tests[] = { cmocka_unit_test(random_plans), cmocka_unit_test(live_bytes), cmocka_unit_test(updates_agree),
                                          cmocka_unit_test(replicas_are_micro_batches), cmocka_unit_test(wrong_plans) };
int main(void) { cmocka_set_message_output(CM_OUTPUT_TAP); return cmocka_run_group_tests(tests, setup, teardown); }
