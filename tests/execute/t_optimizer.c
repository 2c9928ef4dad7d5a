/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_optimizer.c - two updates of each optimizer, tensor by tensor, against its formula written again here in double precision.
 *
 * The gradients are those that SGD without momentum takes as its direction from the same weights. Four replicas on two IPUs hold shards of moments; norms and
 * clipping must come out as if nothing were sharded.
 */
#include "tests/execute/planned_model.h"

enum { STEPS = 2 };
static struct planned base;
static const struct optimizer_values values = { .learning_rate = 0.01, .momentum = 0.9, .second_momentum = 0.98, .epsilon = 1e-3, .weight_decay = 0.05,
                                                .trust = 0.02, .clip_norm = 0.05 };

struct one { struct planned_model m; struct execution *x; };

static void begin(struct one *o, const struct variant *v)
{
    bool planned = plan_model(&o->m, &base, &small_models[1], v);
    assert_string_equal(o->m.err.msg, "");
    assert_true(planned);
    struct execution_options options = { .optimizer = values, .seed = 7, .mean_losses = true, .fill = fill_noise, .user = &o->m.g };
    o->x = execution_start(&o->m.p, &options, &o->m.err);
    assert_non_null(o->x);
}

static void end(struct one *o)
{
    execution_end(o->x);
    arena_free(&o->m.arena);
}

static uint32_t home(const struct one *o, uint32_t id) { return plan_stage_of(&o->m.p, o->m.g.tensors[id].layer_id)->ipu; }
static bool is_weight(const struct one *o, uint32_t id) { return o->m.g.tensors[id].role == ROLE_WEIGHT; }

/* A weight as its formula has it: elements, gradient and moments in double. */
struct exact { double *w, *g, *m, *s; uint64_t n; bool is_kernel; };

static double norm_of(const double *x, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* PyTorch's SGD and AdamW; You et al. 2017 for LARS, You et al. 2020 for LAMB; the norms of tensors of one dimension scale no step. */
static void update(struct exact *e, enum vector_work work, int step, struct arena *a)
{
    const struct optimizer_values *v = &values;
    double *u = ARENA_ARRAY(a, double, e->n), wn = norm_of(e->w, e->n), gn = norm_of(e->g, e->n), local = 1;
    for (uint64_t i = 0; i < e->n; i++) {
        e->s[i] = v->second_momentum * e->s[i] + (1 - v->second_momentum) * e->g[i] * e->g[i];
        double m = v->momentum * e->m[i] + (1 - v->momentum) * e->g[i];
        u[i] = m / (1 - pow(v->momentum, step + 1)) / (sqrt(e->s[i] / (1 - pow(v->second_momentum, step + 1))) + v->epsilon) + v->weight_decay * e->w[i];
        if (work == WORK_ADAM || work == WORK_ADAMW || work == WORK_LAMB)
            e->m[i] = m;
    }
    if (work == WORK_LARS && e->is_kernel)
        local = v->trust * wn / (gn + v->weight_decay * wn + v->epsilon);
    if (work == WORK_LAMB && e->is_kernel && wn > 0)
        local = wn / norm_of(u, e->n);
    for (uint64_t i = 0; i < e->n; i++)
        if (work == WORK_ADAM || work == WORK_ADAMW || work == WORK_LAMB)
            e->w[i] -= v->learning_rate * local * u[i];
        else {
            e->m[i] = v->momentum * e->m[i] + local * (e->g[i] + v->weight_decay * e->w[i]);
            e->w[i] -= v->learning_rate * e->m[i];
        }
}

static void clip(struct exact *all, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += pow(norm_of(all[i].g, all[i].n), 2);
    assert_true(sqrt(sum) > 2 * values.clip_norm);          /* or nothing is tried */
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < all[i].n; k++)
            all[i].g[k] *= values.clip_norm / sqrt(sum);
}

/* The gradients at the weights of `of`: a twin with them takes a step by SGD without momentum, decay or clipping. */
static void take_gradients(struct exact *all, struct one *of, int step, bool clips)
{
    struct variant plain = { .n_replicas = 4, .n_ipus = 2, .grad_accum = 3, .schedule = SCHEDULE_GROUPED };
    struct one twin;
    struct step_result r;
    begin(&twin, &plain);
    execution_set(twin.x, &(struct optimizer_values){ .learning_rate = 0 });
    for (int k = 0; k < step; k++)                          /* to the inputs of this step */
        assert_true(execution_step(twin.x, &r, &twin.m.err));
    for (uint32_t replica = 0; replica < 4; replica++)
        for (uint32_t id = 0; id < of->m.g.n_tensors; id++)
            for (uint32_t ipu = 0; ipu < 2 && is_weight(of, id); ipu++)
                if (execution_weight(twin.x, replica, ipu, id))
                    memcpy(execution_weight(twin.x, replica, ipu, id), execution_weight(of->x, 0, home(of, id), id), all[id].n * sizeof(float));
    assert_true(execution_step(twin.x, &r, &twin.m.err));
    for (uint32_t id = 0; id < of->m.g.n_tensors; id++)
        for (uint64_t k = 0; k < all[id].n; k++)
            all[id].g[k] = (double)execution_direction(twin.x, 0, home(of, id), id)[k];
    if (clips)
        clip(all, (uint32_t)of->m.g.n_tensors);
    end(&twin);
}

static void check(enum vector_work work, bool shards)
{
    struct arena a = { 0 };
    struct variant v = { .n_replicas = 4, .n_ipus = 2, .grad_accum = 3, .schedule = SCHEDULE_GROUPED, .work = work, .clip = shards,
                         .rts = shards ? RTS_YES : RTS_NO, .sharded_elements = 9 };
    struct one o;
    struct step_result r;
    double off = 0;
    begin(&o, &v);
    struct exact *all = ARENA_ARRAY(&a, struct exact, o.m.g.n_tensors);
    for (uint32_t id = 0; id < o.m.g.n_tensors; id++) {
        uint64_t n = is_weight(&o, id) ? tensor_elements(&o.m.g.tensors[id]) : 0;
        all[id] = (struct exact){ ARENA_ARRAY(&a, double, n), ARENA_ARRAY(&a, double, n), ARENA_ARRAY(&a, double, n), ARENA_ARRAY(&a, double, n), n,
                                  o.m.g.tensors[id].n_dims > 1 };
        for (uint64_t k = 0; k < n; k++)
            all[id].w[k] = (double)execution_weight(o.x, 0, home(&o, id), id)[k];
    }
    for (int step = 0; step < STEPS; step++) {
        take_gradients(all, &o, step, shards);
        assert_true(execution_step(o.x, &r, &o.m.err));
        for (uint32_t id = 0; id < o.m.g.n_tensors; id++) {
            update(&all[id], work, step, &a);
            double most = 1e-30, moved = 0;
            for (uint64_t k = 0; k < all[id].n; k++) {
                double got = (double)execution_weight(o.x, 3, home(&o, id), id)[k];
                most = fmax(most, fabs(all[id].w[k])), moved = fmax(moved, fabs(got - all[id].w[k]));
            }
            off = fmax(off, moved / most);
        }
    }
    print_message("# %s, sharded and clipped %d: %.1e of the largest weight from the formula in update()\n", optimizer_rule(work)->name, shards, off);
    assert_true(off < 2e-6);
    end(&o);
    arena_free(&a);
}

/* Recipes list the names in OPTIMIZERS, and optimizers are found by the names in their rows: the two must agree. */
static void formulas(void **state)
{
#define NAME(work, name) #name,
    static const char *const names[] = { OPTIMIZERS(NAME) };
    (void)state;
    for (int i = 0; i < N_OPTIMIZERS; i++)
        assert_string_equal(optimizer_rule((enum vector_work)(N_GRADIENT_WORKS + i))->name, names[i]);
    for (int work = N_GRADIENT_WORKS; work < N_VECTOR_WORKS; work++) {
        check((enum vector_work)work, false);
        check((enum vector_work)work, true);
    }
}

static int setup(void **state) { (void)state; start(&base, "mlperf-v2.0-closed-bow-pod16-bert-large"); return 0; }
static int teardown(void **state) { (void)state; stop(&base); return 0; }
static const struct CMUnitTest tests[] = { cmocka_unit_test(formulas) };
int main(void) { cmocka_set_message_output(CM_OUTPUT_TAP); return cmocka_run_group_tests(tests, setup, teardown); }
