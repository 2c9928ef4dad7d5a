/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_own.c - nodes of other domains by a sheet, loops whose rounds are alike, and random numbers. */
#include "tests/onnx/import.h"

/* ---- operations of one's own ------------------------------------------------------------------------------------------------ */

static struct codelet own[] = {
    { .domain = "own", .name = "Blur", .output = "input", .split = "0", .n_axes = 1, .vector = 1, .cycles_per_element = 2, .gradient = "none" },
    { .domain = "own", .name = "Relu", .output = "4x7", .output_dims = { 4, 7 }, .split = "1", .n_axes = 1, .axes = { 1 }, .vector = 1 },
};
static const struct codelets sheet = { .path = "own.csv", .items = own, .n = 2 };

/* x: 2,3 -> MatMul w (3,5) -> op of a domain; the draft's second node is in it. */
static struct draft *drafted(const char *op, const char *domain)
{
    struct draft *d = draft_start(17);
    draft_text(d, arena_printf(&d->arena, "x: n,3; w = 3,5; MatMul x w > h; %s h > y", op));
    d->nodes[1]->domain = arena_strdup(&d->arena, domain);
    return d;
}

static void nodes_by_a_sheet(void **state)
{
    (void)state;
    const struct onnx_options o = { .inference = true, .codelets = &sheet, .batch = 2, .grid_tiles = { 3 }, .grid_ipus = { 1 } };
    struct imported *r = import(drafted("Blur", "own"), "y", o);
    assert_string_equal(r->err.msg, "");
    const struct op *op = &r->g.ops[1];
    assert_int_equal(op->kind, OP_CODELET);
    assert_ptr_equal(op->at->codelet, &own[0]);
    assert_int_equal(op->at->grid_tiles[0] + 10 * op->at->grid_ipus[0], 13);
    assert_true(tensor_is_same_shape(&r->g.tensors[op->outputs[0]], &r->g.tensors[op->inputs[0]]));
    done(r);
    r = import(drafted("Relu", "own"), "y", o);      /* ONNX's operator of that name is another one; sizes are the sheet's */
    assert_int_equal(r->g.ops[1].kind, OP_CODELET);
    assert_int_equal(tensor_elements(&r->g.tensors[r->g.ops[1].outputs[0]]), 28);
    done(r);
    r = import(drafted("Relu", ""), "y", o);
    assert_int_equal(r->g.ops[1].kind, OP_RELU);
    done(r);
    struct onnx_options trained = o;
    trained.inference = false;
    r = import(drafted("Blur", "own"), "y", trained);   /* no gradient passes through it to the product's weights */
    assert_string_equal(r->err.msg, "");
    for (size_t i = r->g.n_forward_ops; i < r->g.n_ops; i++)
        assert_int_not_equal(r->g.ops[i].kind, OP_MATMUL);
    done(r);
    r = import(drafted("Relu", "own"), "y", trained);
    assert_string_equal(strchr(r->err.msg, ':'), ": node 1, Relu 'n1': its sheet states no gradient; add a line with key gradient: the operation that computes it, or none");
    done(r);
}

/* ---- rounds ----------------------------------------------------------------------------------------------------------------------- */

enum body { ALIKE, READS_ROUND, STACKS, GROWS };

/* x, 1 x 3, is multiplied by w in each round. */
static struct imported *looped(enum body how, int64_t trips, struct onnx_options o)
{
    struct draft *d = draft_start(17), *body = draft_start(17);
    draft_text(body, how == GROWS ? "round: int64 1; going: bool 1; carried: 1,3; Concat carried carried > more axis=0; Identity going > on"
                                  : "round: int64 1; going: bool 1; carried: 1,3; MatMul carried w > more; Identity going > on");
    if (how == READS_ROUND)
        draft_text(body, "Cast round > number to=1; Mul more number > scaled");
    draft_text(d, "x: batch,3; w = 3,3; v = 3,3");
    draft_whole(d, "trips", 1, &trips);
    draft_text(d, how == STACKS ? "Loop trips - x > last rows" : "Loop trips - x > last");
    draft_body(d, "body", body, how == STACKS ? "on more more" : how == READS_ROUND ? "on scaled" : "on more");
    draft_text(d, "MatMul last v > y");
    draft_end(body);
    struct imported *r = calloc(1, sizeof *r);
    o.batch = 1;
    draft_write(d, "y", model_path());
    r->good = onnx_build(&r->g, &r->im, model_path(), &o, &r->arena, &r->err);
    draft_end(d);
    unlink(model_path());
    return r;
}

static void equal_rounds(void **state)
{
    (void)state;
    static const struct { enum body how; int64_t trips; struct onnx_options o; uint32_t products, rounds; } cases[] = {
        { ALIKE, 16, { .inference = true }, 17, 1 }, { ALIKE, 17, { .inference = true }, 2, 17 }, { ALIKE, 123456, { .inference = true }, 2, 123456 },
        { ALIKE, 40, { .inference = false }, 41, 1 }, { ALIKE, 40, { .inference = true, .contents = true }, 41, 1 },
        { READS_ROUND, 40, { .inference = true }, 41, 1 }, { STACKS, 40, { .inference = true }, 41, 1 },
        { ALIKE, 30, { .inference = true, .rounds = 7 }, 2, 210 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct imported *r = looped(cases[i].how, cases[i].trips, cases[i].o);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_MATMUL), cases[i].products);
        assert_int_equal(op_repeats(&r->g, &r->g.ops[0]), cases[i].rounds);
        uint64_t whole = cases[i].o.rounds ? cases[i].o.rounds : 1;     /* the product behind the loop runs once, or in each round of all */
        assert_int_equal(op_repeats(&r->g, &r->g.ops[r->g.n_forward_ops - (cases[i].o.inference ? 1 : 2)]), whole);
        assert_int_equal(graph_forward_mac(&r->g), (uint64_t)(cases[i].trips + 1) * 9 * whole);
        done(r);
    }
    struct imported *r = looped(GROWS, 20, (struct onnx_options){ .inference = true });     /* a round hands on more than it got */
    assert_int_equal(count_kind(&r->g, OP_CONCAT), 20);
    done(r);
    r = looped(READS_ROUND, 1001, (struct onnx_options){ .inference = true });
    assert_non_null(strstr(r->err.msg, "more than 1000 branches and rounds of loops"));
    done(r);
}

/* ---- random numbers ------------------------------------------------------------------------------------------------------------- */

struct moments { double mean, deviation, low, high; uint64_t n; };

static struct moments moments_of(const char *text)
{
    struct draft *d = draft_start(17);
    draft_text(d, text);
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .type = TYPE_FP32, .batch = 1 });
    double *y = outputs(r);
    struct moments m = { .low = y[0], .high = y[0], .n = tensor_elements(&r->g.tensors[r->im.output]) };
    for (uint64_t i = 0; i < m.n; i++) {
        m.mean += y[i] / (double)m.n;
        m.deviation += y[i] * y[i] / (double)m.n;
        m.low = fmin(m.low, y[i]);
        m.high = fmax(m.high, y[i]);
    }
    m.deviation = sqrt(m.deviation - m.mean * m.mean);
    done(r);
    return m;
}

/* The mean of 40,000 numbers is off by 0.005 deviations, and their deviation by 0.0035 of it; five times as much is allowed. */
static void distributions(void **state)
{
    (void)state;
    struct moments normal = moments_of("x: n,1; RandomNormal > r shape=200,200 mean=2.5 scale=0.5; Add r x > y");
    assert_int_equal(normal.n, 40000);
    assert_near(normal.deviation, 0.5, 0.009);
    assert_true(normal.low < 1 && normal.high > 4);
    struct moments uniform = moments_of("RandomUniform > y shape=200,200 low=-1.5 high=2.5");
    assert_near(uniform.mean, 0.5, 0.03);
    assert_near(uniform.deviation, 4 / sqrt(12), 0.02);
    assert_true(uniform.low >= -1.5 && uniform.low < -1.49 && uniform.high <= 2.5 && uniform.high > 2.49);
    struct moments like = moments_of("RandomUniform > u shape=200,200; RandomNormalLike u > y mean=-1.0 scale=3.0");
    assert_near(like.mean, -1, 0.08);
    assert_near(like.deviation, 3, 0.06);
    struct moments still = moments_of("RandomNormal > y shape=2,3 mean=2.5 scale=0.0");        /* each number is the mean */
    assert_true(still.low == 2.5 && still.high == 2.5);
    like = moments_of("RandomUniform > u shape=200,200; RandomUniformLike u > y low=3.0 high=5.0");
    assert_near(like.mean, 4, 0.015);
}

/* Half of the uniform numbers below 0.5 are drawn as ones by twice their chance of a quarter: a share of 0.25 in all. */
static void draws_by_chance(void **state)
{
    (void)state;
    struct moments ones = moments_of("RandomUniform > u shape=200,200 low=0.0 high=0.5; Bernoulli u > y");
    assert_near(ones.mean, 0.25, 0.011);
    assert_true(ones.low == 0 && ones.high == 1);
    /* two classes whose logits differ by less than 0.001 are drawn equally often */
    struct draft *d = draft_start(17);
    draft_text(d, "x: n,1; RandomUniform > u shape=1,2 low=0.0 high=0.001; Multinomial u > y sample_size=20000");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .type = TYPE_FP32, .batch = 1 });
    double *y = outputs(r), mean = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        assert_true(y[i] == 0 || y[i] == 1);
        mean += y[i] / 20000;
    }
    assert_near(mean, 0.5, 0.02);
    done(r);
}

static void random_refused(void **state)
{
    (void)state;
    static const struct { const char *text, *message; } cases[] = {
        { "RandomNormal > y", "node 0, RandomNormal 'n0': its attribute shape is missing, or has more than 8 sizes" },
        { "RandomUniform > y shape=2,3 low=2.0 high=1.5", "node 0, RandomUniform 'n0': low=2 and high=1.5 describe no distribution" },
        { "RandomNormal > y shape=2,3 scale=-0.5", "node 0, RandomNormal 'n0': mean=0 and scale=-0.5 describe no distribution" },
        { "RandomNormal > y shape=2,3 dtype=6", "node 0, RandomNormal 'n0': draws floats only; cast them" },
        { "x: n,3,4; Multinomial x > y", "node 0, Multinomial 'n0': wants logits of [batch, classes] and a sample_size of 1 or more" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        draft_text(d, cases[i].text);
        refused(d, infer, cases[i].message);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nodes_by_a_sheet), cmocka_unit_test(equal_rounds), cmocka_unit_test(distributions), cmocka_unit_test(draws_by_chance),
    cmocka_unit_test(random_refused),
};
TAP_MAIN(tests)
