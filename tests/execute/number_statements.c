/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * number_statements.c - tries statements on number formats with small models and sums, and writes each result with what was expected.
 *
 * usage: number_statements FILE (results/published/claims/numbers.csv). Exit status 1 where a value is outside of its expected range. Ranges were written before the
 * values were known; docs/maintainers/numerics.md says which missed.
 */
#include "tests/execute/statements.h"
#include "system-model/execute/product.h"

/* ---- a net that learns a fixed linear classifier from new samples ------------------------------------------ */

enum { SAMPLES = 64, WIDTH = 32, HIDDEN = 64, CLASSES = 10, STEPS = 4000, AT_THE_END = 400, SEEDS = 3 };

static bool net_build(struct builder *b, const struct workload *w, struct err *err)
{
    (void)w;
    (void)err;
    build_layer(b, LAYER_FIRST, 0, 0, 1, "hidden");
    uint32_t x = build_op1(b, OP_TANH, build_dense(b, build_input(b, "x", b->type, DIMS(SAMPLES, WIDTH)), HIDDEN, true));
    build_layer(b, LAYER_LAST, 0, 0, 1, "classes");
    build_classes(b, build_dense(b, x, CLASSES, true), DIMS(SAMPLES));
    return true;
}
static const struct small_model net = { { .name = "net", .build = net_build }, { .micro_batch = SAMPLES } };

struct teacher { const struct graph *g; uint64_t seed; bool repeats; /* one batch, always */ };

static double feature(const struct teacher *t, uint64_t batch, uint64_t k)
{
    return 2 * noise_at(hash_bytes((const uint64_t[]){ t->seed, t->repeats ? 0 : batch }, 16, 1), k);
}

static double label(const struct teacher *t, uint64_t batch, uint64_t row)
{
    uint64_t best = 0;
    double most = -INFINITY;
    for (uint64_t c = 0; c < CLASSES; c++) {
        double score = 0;
        for (uint64_t k = 0; k < WIDTH; k++)
            score += noise_at(77, c * WIDTH + k) * feature(t, batch, row * WIDTH + k);
        if (score > most)
            most = score, best = c;
    }
    return (double)best;
}

static bool teach(void *user, float *to, uint32_t id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err)
{
    const struct teacher *t = user;
    const struct tensor *of = &t->g->tensors[id];
    (void)replica, (void)err;
    for (uint64_t i = 0; i < tensor_elements(of); i++)
        if (of->role == ROLE_WEIGHT)
            to[i] = of->n_dims > 1 ? (float)(2 * sqrt(3.0 / (double)of->dims[of->n_dims - 2]) * noise_at(t->seed * 1000 + id, i)) : 0;
        else
            to[i] = (float)(of->type == TYPE_INT32 ? label(t, step + micro_batch, i) : feature(t, step + micro_batch, i));
    return true;
}

struct setting { struct precision precision; double rate, loss_scale; bool repeats; };

static struct execution *begin(struct planned_model *m, struct teacher *t, const struct setting *s, uint32_t grad_accum)
{
    struct variant v = { .n_replicas = 1, .n_ipus = 1, .grad_accum = grad_accum, .schedule = SCHEDULE_SEQUENTIAL };
    bool planned = plan_model(m, &base, &net, &v);
    assert_string_equal(m->err.msg, "");
    assert_true(planned);
    *t = (struct teacher){ &m->g, t->seed, s->repeats };
    struct execution_options o = { .optimizer = { .learning_rate = s->rate }, .seed = t->seed, .mean_losses = true, .loss_scale = s->loss_scale,
                                   .precision = s->precision, .fill = teach, .user = t };
    struct execution *x = execution_start(&m->p, &o, &m->err);
    assert_non_null(x);
    return x;
}

/* The fall of the loss over a training, from that of guessing. */
static double fall_of(const struct setting *s, uint64_t seed)
{
    struct planned_model m;
    struct teacher t = { .seed = seed };
    struct execution *x = begin(&m, &t, s, 1);
    struct step_result r;
    double last = 0;
    for (int step = 0; step < STEPS; step++) {
        assert_true(execution_step(x, &r, &m.err));
        last += step >= STEPS - AT_THE_END ? r.loss / AT_THE_END : 0;
    }
    execution_end(x);
    arena_free(&m.arena);
    return log(CLASSES) - last;
}

/* Against fp32 at the same rate, the mean over the seeds. */
static double share_of_fp32(struct precision precision, double rate)
{
    double sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        sum += fall_of(&(struct setting){ precision, rate, 1, false }, seed) / fall_of(&(struct setting){ .rate = rate, .loss_scale = 1 }, seed);
    return sum / SEEDS;
}

static const struct precision nearest = { true, PARTIALS_FP32, false, false }, stochastic = { true, PARTIALS_FP32, true, false }, half = { true, PARTIALS_FP16, false, false };

static void weights_in_fp16(void)
{
    report("weights_nearest_fast", share_of_fp32(nearest, 0.5), 0.95, 1.05, "fall of the loss over that in fp32; rate 0.5, weights rounded to the nearest");
    report("weights_stochastic_fast", share_of_fp32(stochastic, 0.5), 0.95, 1.05, "the same, rounded stochastically");
    report("weights_nearest_slow", share_of_fp32(nearest, 0.002), -1, 0.7, "rate 0.002: most changes are less than half of a weight's last place");
    report("weights_stochastic_slow", share_of_fp32(stochastic, 0.002), 0.95, 1.05, "rate 0.002, rounded stochastically");
    report("half_partials_training", share_of_fp32(half, 0.5), 0.95, 1.05, "rate 0.5, half partials, to the nearest");
}

/* ---- thousands of micro-batches -------------------------------------------------------------------------------- */

enum { MANY = 2048 };

/* The error of the sum of MANY gradients, over the norm of what it should be: the same gradients in fp16, with a loss scale of 128, added up in double; they are
 * those of steps that change nothing. */
static double error_of_sum(const struct setting *s)
{
    const struct setting one = { nearest, 0, 128, s->repeats };
    struct planned_model m, alone;
    struct teacher t = { .seed = 1 }, u = { .seed = 1 };
    struct execution *x = begin(&m, &t, s, MANY), *y = begin(&alone, &u, &one, 1);
    struct arena a = { 0 };
    struct step_result r;
    double off = 0, all = 0;
    size_t n = 0;
    double *sums = ARENA_ARRAY(&a, double, graph_parameters(&m.g));
    for (uint64_t k = 0; k < MANY; k++, n = 0) {
        assert_true(execution_step(y, &r, &alone.err));
        for (uint32_t i = 0; i < m.g.n_tensors; i++)
            for (uint64_t e = 0; m.g.tensors[i].role == ROLE_WEIGHT && e < tensor_elements(&m.g.tensors[i]); e++)
                sums[n++] += (double)execution_direction(y, 0, 0, i)[e] / MANY;
    }
    assert_true(execution_step(x, &r, &m.err) && !r.skipped);
    for (uint32_t i = 0; i < m.g.n_tensors; i++)
        for (uint64_t e = 0; m.g.tensors[i].role == ROLE_WEIGHT && e < tensor_elements(&m.g.tensors[i]); e++, n++) {
            off += pow((double)execution_direction(x, 0, 0, i)[e] - sums[n], 2);
            all += pow(sums[n], 2);
        }
    execution_end(x);
    execution_end(y);
    arena_free(&a);
    arena_free(&m.arena);
    arena_free(&alone.arena);
    return sqrt(off / all);
}

static void sums_in_fp16(void)
{
    const double mean = 1.0 / MANY;
    report("sum_of_2048", error_of_sum(&(struct setting){ nearest, 0, 1, false }), 0.0005, 0.03, "error of the sum of 2048 gradients in fp16, of its norm");
    report("sum_of_2048_scale_128", error_of_sum(&(struct setting){ nearest, 0, 128, false }), 0.0005, 0.03, "the same, loss scale 128");
    report("sum_of_2048_mean_first", error_of_sum(&(struct setting){ nearest, 0, mean, false }), 0.05, 1, "the loss is divided by 2048 beforehand");
    report("sum_of_2048_alike", error_of_sum(&(struct setting){ nearest, 0, 128, true }), 0.01, 0.6, "the same gradient 2048 times, to the nearest");
    report("sum_of_2048_alike_stochastic", error_of_sum(&(struct setting){ stochastic, 0, 128, true }), 0, 0.03, "the same gradient 2048 times, stochastically");
}

/* ---- partial sums ------------------------------------------------------------------------------------------------ */

/* The root of the mean square error of 32 x 32 sums of `inner` products, results in fp16, over that of the sums; positive: as after ReLU. */
static double error_of_products(uint64_t inner, bool halves, bool positive)
{
    enum { SIDE = 32 };
    struct arena a = { 0 };
    struct rounding_counts counts = { 0 };
    float *x = ARENA_ARRAY(&a, float, SIDE * inner), *y = ARENA_ARRAY(&a, float, inner * SIDE), c[SIDE * SIDE] = { 0 };
    double off = 0, all = 0;
    for (uint64_t i = 0; i < SIDE * inner; i++)
        x[i] = (float)(noise_at(1, i) + 0.5 * positive), y[i] = (float)(noise_at(2, i) + 0.5 * positive);
    round_elements(x, SIDE * inner, FORMAT_FP16, 0, &to_nearest, &counts);
    round_elements(y, SIDE * inner, FORMAT_FP16, 0, &to_nearest, &counts);
    const struct product_way way = { .pass_inputs = 16, .half_partials = halves };
    product_add((struct matrix){ c, SIDE, false }, (struct matrix){ x, inner, false }, (struct matrix){ y, SIDE, false }, SIDE, inner, SIDE, &way);
    round_elements(c, SIDE * SIDE, FORMAT_FP16, 0, &to_nearest, &counts);
    for (uint64_t i = 0; i < SIDE * SIDE; i++) {
        double exact = 0;
        for (uint64_t k = 0; k < inner; k++)
            exact += (double)x[i / SIDE * inner + k] * (double)y[k * SIDE + i % SIDE];
        off += pow(c[i] - exact, 2), all += exact * exact;
    }
    arena_free(&a);
    return sqrt(off / all);
}

static double ratio(uint64_t inner, bool positive) { return error_of_products(inner, true, positive) / error_of_products(inner, false, positive); }

static void partials(void)
{
    report("half_partials_1024", ratio(1024, false), 2, 10, "error of 1024 products with half partials over that with full ones, results in fp16");
    report("half_partials_4096", ratio(4096, false), 4, 20, "the same of 4096 products");
    report("half_partials_1024_positive", ratio(1024, true), 2, 10, "1024 products of numbers from 0 to 1");
    report("half_partials_4096_positive", ratio(4096, true), 4, 20, "4096 products of numbers from 0 to 1");
    report("full_partials_4096", error_of_products(4096, false, false), 1e-4, 4e-4, "full partials, 4096 products: the error itself");
}

/* ---- gradients of a net that is as wide as BERT-Large ------------------------------------------------------------ */

static const struct bert_config wide_bert = { .n_layers = 2, .hidden = 1024, .heads = 16, .inner = 4096, .vocabulary = 30522, .positions = 512 };
static const struct small_model wide = { { .name = "bert", .build = bert_build, .config = &wide_bert, .default_sequence_length = 512 },
                                         { .micro_batch = 1, .sequence_length = 512, .sequences_per_pack = 1, .attention_dropout = true } };

/* The share of the activations' gradients that become 0 in fp16, on noise and weights that are not yet trained. */
static double vanished_share(double loss_scale)
{
    struct variant v = { .n_replicas = 1, .n_ipus = 1, .grad_accum = 1, .schedule = SCHEDULE_SEQUENTIAL };
    struct planned_model m;
    struct step_result r;
    assert_true(plan_model(&m, &base, &wide, &v));
    struct execution_options o = { .mean_losses = true, .loss_scale = loss_scale, .precision = nearest, .n_threads = 2, .fill = fill_with_noise, .user = &m.g };
    struct execution *x = execution_start(&m.p, &o, &m.err);
    assert_true(x && execution_step(x, &r, &m.err));
    execution_end(x);
    arena_free(&m.arena);
    return (double)r.rounded[ROLE_GRADIENT].n_vanished / (double)r.rounded[ROLE_GRADIENT].n_rounded;
}

/* The same graph executed twice, operation by operation: in the types of its tensors, and in fp32. */
struct twins { const struct graph *g; struct tensor_value *of[2]; struct arena arena; };

static void twins_start(struct twins *t, struct graph *g)
{
    *t = (struct twins){ .g = g };
    for (int k = 0; k < 2; k++) {
        t->of[k] = ARENA_ARRAY(&t->arena, struct tensor_value, g->n_tensors);
        for (uint32_t i = 0; i < g->n_tensors; i++) {
            uint64_t n = tensor_elements(&g->tensors[i]);
            t->of[k][i] = (struct tensor_value){ ARENA_ARRAY(&t->arena, float, n), n };
            if (g->tensors[i].producer_op == NO_ID)
                assert_true(fill_with_noise(g, t->of[k][i].x, i, 0, 0, g->tensors[i].role == ROLE_WEIGHT ? UINT64_MAX : 0, NULL));
            if (k == 0)
                round_elements(t->of[k][i].x, g->tensors[i].producer_op == NO_ID && g->tensors[i].type == TYPE_FP16 ? n : 0, FORMAT_FP16, 0, &to_nearest,
                               &(struct rounding_counts){ 0 });
        }
    }
}

/* The share of the activations' gradients that is 0 in fp16, among those that are not 0 in fp32, whichever operation lost it. */
static double lost_share(double loss_scale)
{
    struct variant v = { .n_replicas = 1, .n_ipus = 1, .grad_accum = 1, .schedule = SCHEDULE_SEQUENTIAL };
    struct planned_model m;
    struct twins t;
    uint64_t n_there = 0, n_lost = 0;
    assert_true(plan_model(&m, &base, &wide, &v));
    twins_start(&t, &m.g);
    for (uint32_t i = 0; i < m.g.n_ops; i++)
        for (int k = 0; k < 2; k++) {
            struct op_context c = { .mean_losses = true, .loss_factor = loss_scale, .precision = k ? (struct precision){ 0 } : nearest, .n_threads = 2 };
            assert_true(op_execute(&m.g, i, t.of[k], &c, &m.err));
        }
    for (uint32_t i = 0; i < m.g.n_tensors; i++)
        for (uint64_t e = 0; m.g.tensors[i].role == ROLE_GRADIENT && e < t.of[0][i].n_elements; e++) {
            n_there += t.of[1][i].x[e] != 0;
            n_lost += t.of[1][i].x[e] != 0 && t.of[0][i].x[e] == 0;
        }
    arena_free(&t.arena);
    arena_free(&m.arena);
    return (double)n_lost / (double)n_there;
}

static void gradients_of_bert(void)
{
    double whole = lost_share(1), divided = lost_share(1.0 / MANY);
    report("gradients_lost", whole, 0.02, 0.3, "share of the activations' gradients of two layers of BERT-Large that are 0 in fp16 and not in fp32");
    report("gradients_lost_mean_first", divided, 0.1, 1, "the loss is divided by 2048 beforehand");
    report("gradients_lost_ratio", divided / whole, 1.5, 100, "divided by 2048, over the same at loss scale 1");
    report("gradients_lost_scaled", lost_share(512.0 / MANY) / whole, 1, 1.5, "divided by 2048 and scaled by 512, over the same at loss scale 1");
    report("gradients_vanish", vanished_share(1), 0, 0.02, "share of gradients of activations of two layers of BERT-Large that become 0 in fp16");
    report("gradients_vanish_mean_first", vanished_share(1.0 / MANY), 0.05, 0.9, "the loss is divided by 2048 micro-batches beforehand");
    report("gradients_vanish_scaled", vanished_share(512.0 / MANY), 0, 0.05, "divided by 2048, and scaled by 512");
}

int main(int argc, char **argv)
{
    statements_open(argc, argv, "w");
    fprintf(file, "id,value,low,high,holds,what\n");
    partials();
    gradients_of_bert();
    sums_in_fp16();
    weights_in_fp16();
    return statements_close();
}
