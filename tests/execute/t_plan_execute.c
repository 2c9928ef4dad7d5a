/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_plan_execute.c - plans are executed: the weights that come out are those of the graph run from end to end, without a plan.
 *
 * The reference runs every operation of the graph in order with all tensors at hand, adds gradients up micro-batch by micro-batch, and those sums
 * over the replicas as a tree. Pipelines, recomputation, accumulation and replicas must give its bits; only a weight that several stages of
 * one IPU read adds its gradients up in another order.
 */
#include "tests/execute/planned_model.h"

#define RECIPE "mlperf-v2.0-closed-bow-pod16-bert-large"

static struct planned base;

/* ---- the reference ------------------------------------------------------------------------------------- */

struct reference { const struct graph *g; uint32_t n_replicas, grad_accum; struct tensor_value **values; float **sums; uint64_t seed; };

static void reference_start(struct reference *f, const struct planned_model *m, struct arena *a)
{
    *f = (struct reference){ &m->g, m->p.request.n_replicas, m->p.request.grad_accum, NULL, NULL, 7 };
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
        struct op_context c = { .dropout_key = hash_bytes(key, sizeof key, 0), .peers = peers, .n_peers = span > 1 ? span : 0, .mean_losses = true };
        assert_true(op_execute(f->g, op_id, f->values[r], &c, &err));
        for (uint32_t k = 0; k < op->n_outputs; k++)
            for (uint64_t e = 0; e < f->values[r][op->outputs[k]].n_elements && f->g->tensors[op->outputs[k]].role == ROLE_WEIGHT_GRADIENT; e++)
                f->sums[r * f->g->n_tensors + f->g->tensors[op->outputs[k]].of_tensor][e] += f->values[r][op->outputs[k]].x[e];
    }
}

static float tree(const struct reference *f, uint32_t id, uint64_t e, uint32_t first, uint32_t n)
{
    return n == 1 ? f->sums[first * f->g->n_tensors + id][e] : tree(f, id, e, first, n / 2) + tree(f, id, e, first + n / 2, n - n / 2);
}

/* Returns the mean loss. SGD without momentum: w -= rate x mean gradient. */
static double reference_step(struct reference *f, uint64_t step, double rate)
{
    double loss = 0;
    struct err err;
    for (uint64_t m = 0; m < f->grad_accum; m++) {
        for (uint32_t r = 0; r < f->n_replicas; r++)
            for (uint32_t i = 0; i < f->g->n_tensors; i++)
                if (f->g->tensors[i].producer_op == NO_ID && (f->g->tensors[i].role != ROLE_WEIGHT || (m == 0 && step == 0)))
                    fill_noise((void *)(uintptr_t)f->g, f->values[r][i].x, i, step, r, m, &err);
        for (uint32_t i = 0; i < f->g->n_ops; i++)
            reference_op(f, i, step, m);
        for (uint32_t r = 0; r < f->n_replicas; r++)
            for (uint32_t i = 0; i < f->g->n_ops; i++)
                loss += op_is_loss(&f->g->ops[i]) ? (double)f->values[r][f->g->ops[i].outputs[0]].x[0] : 0;
    }
    float factor = (float)(1.0 / (f->grad_accum * f->n_replicas));
    for (uint32_t i = 0; i < f->g->n_tensors; i++)
        for (uint64_t e = 0; e < f->values[0][i].n_elements && f->g->tensors[i].role == ROLE_WEIGHT; e++) {
            for (uint32_t r = 0; r < f->n_replicas; r++)
                f->sums[r * f->g->n_tensors + i][e] *= factor;
            double g = tree(f, i, e, 0, f->n_replicas);
            for (uint32_t r = 0; r < f->n_replicas; r++) {
                f->values[r][i].x[e] = (float)(f->values[r][i].x[e] - rate * (double)(float)g);
                f->sums[r * f->g->n_tensors + i][e] = 0;
            }
        }
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

static struct execution *started(struct planned_model *m)
{
    struct execution_options o = options_of(&m->g);
    struct execution *x = execution_start(&m->p, &o, &m->err);
    assert_string_equal(m->err.msg, "");
    assert_non_null(x);
    return x;
}

static void check_against_reference(struct planned_model *m)
{
    struct arena a = { 0 };
    struct reference f;
    struct step_result result;
    struct execution *x = started(m);
    reference_start(&f, m, &a);
    bool good = execution_step(x, &result, &m->err);
    assert_string_equal(m->err.msg, "");
    assert_true(good && !result.skipped);
    double loss = reference_step(&f, 0, 0.125);
    assert_near(result.loss, loss, 1e-12 * loss);
    assert_true(worst_difference(x, m, &f, false) == 0);
    assert_true(worst_difference(x, m, &f, true) < 1e-6);
    execution_end(x);
    arena_free(&a);
}

static uint64_t random_state = 20261;

static struct variant drawn(void)
{
    static const enum schedule schedules[] = { SCHEDULE_SEQUENTIAL, SCHEDULE_GROUPED, SCHEDULE_INTERLEAVED, SCHEDULE_POPART };
    struct variant v = { .n_replicas = (uint32_t)draw(&random_state, 1, 4), .n_ipus = (uint32_t)draw(&random_state, 1, 4),
                         .grad_accum = (uint32_t)draw(&random_state, 1, 9), .span = (uint32_t)draw(&random_state, 1, 2),
                         .schedule = schedules[draw(&random_state, 0, 3)], .recompute = (enum recompute)draw(&random_state, 0, 2),
                         .rts = (enum rts)draw(&random_state, 0, 1), .sharded_elements = draw(&random_state, 1, 60),
                         .merge_buffer_bytes = draw(&random_state, 0, 1) ? 100 : 0 };
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
        struct variant v = drawn();
        if (plan_model(&m, &base, &small_models[i % N_SMALL_MODELS], &v)) {
            check_against_reference(&m);
            n_planned++;
        }
        arena_free(&m.arena);
    }
    print_message("# %d plans\n", n_planned);
    assert_true(n_planned > 6 * n);
}

static int setup(void **state) { (void)state; start(&base, RECIPE); return 0; }
static int teardown(void **state) { (void)state; stop(&base); return 0; }

static const struct CMUnitTest tests[] = { cmocka_unit_test(random_plans) };
int main(void) { cmocka_set_message_output(CM_OUTPUT_TAP); return cmocka_run_group_tests(tests, setup, teardown); }
