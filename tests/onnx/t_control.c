/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_control.c - an If becomes its branch, a Loop its rounds.
 */
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

/* An If within an If: both branches use one name, and read values around them. The number of dimensions decides. */
static void branches(void **state)
{
    (void)state;
    for (int larger = 0; larger < 2; larger++) {
        struct draft *d = draft_start(17), *then = draft_start(17), *inner = draft_start(17);
        draft_node(inner, "Mul", "own m", "t", "");
        draft_text(then, "Relu x > own; If yes > t");
        draft_body(then, "then_branch", inner, "t");
        draft_body(then, "else_branch", inner, "t");
        draft_text(d, "x: batch,3; m = 3; w = 3,2");
        draft_whole(d, "limit", WHOLE(larger));
        draft_text(d, "one = [1]; Equal one one > yes; Size m > size; Greater limit one > less; Not less > not");
        draft_node(d, "If", larger ? "not" : "less", "t", "");
        struct draft *other = draft_start(17);
        draft_node(other, "Neg", "x", "t", "");
        draft_body(d, "then_branch", then, "t");
        draft_body(d, "else_branch", other, "t");
        draft_node(d, "MatMul", "t w", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t e = 0; e < 4; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 3; k++) {
                double x = draft_noise("x", e / 2 * 3 + k), t = larger ? fmax(x, 0) * draft_noise("m", k) : -x;
                sum += t * draft_noise("w", k * 2 + e % 2);
            }
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
        draft_end(then);
        draft_end(inner);
        draft_end(other);
    }
}

/* A branch adds up 300 values that are made by later nodes, -x each; the branch is unpacked a few times, not for each of them: that took 120 MB. */
static void a_branch_reads_what_later_nodes_make(void **state)
{
    enum { LATER = 300 };
    struct draft *d = draft_start(17), *then = draft_start(17);
    (void)state;
    for (int i = 0; i < LATER; i++) {
        char inputs[40], output[20];
        snprintf(inputs, sizeof inputs, i ? "t%d v%d" : "v0 v0", i, i);
        snprintf(output, sizeof output, i + 1 < LATER ? "t%d" : "t", i + 1);
        draft_node(then, "Add", inputs, output, "");
    }
    draft_text(d, "x: batch,3; w = 3,2; one = [1]; If one > t");
    draft_body(d, "then_branch", then, "t");
    draft_body(d, "else_branch", then, "t");
    draft_text(d, "MatMul t w > y");
    for (int i = 0; i < LATER; i++) {
        char output[20];
        snprintf(output, sizeof output, "v%d", i);
        draft_node(d, "Neg", "x", output, "");
    }
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    assert_string_equal(r->err.msg, "");
    assert_true(r->arena.used_bytes < 20 << 20);
    double *y = outputs(r);
    for (uint64_t e = 0; e < 4; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++)
            sum -= (LATER + 1) * draft_noise("x", e / 2 * 3 + k) * draft_noise("w", k * 2 + e % 2);
        assert_near(y[e], sum, 1e-3);
    }
    done(r);
    draft_end(then);
}

/* Producers are still found after nodes were inserted: t sigmoid(t) is a swish. */
static void producers_after_an_insertion(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *then = draft_start(17);
    draft_text(then, "Neg x > a; Relu a > b; Tanh b > t");
    draft_text(d, "x: batch,3; w = 3,2; one = [1]; If one > t");
    draft_body(d, "then_branch", then, "t");
    draft_body(d, "else_branch", then, "t");
    draft_text(d, "Sigmoid t > gate; Mul t gate > s; MatMul s w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_SWISH), 1);
    assert_int_equal(count_kind(&r->g, OP_SIGMOID), 0);
    done(r);
    draft_end(then);
}

/* A value around a branch is found by its name, although another value's name looks like a scope. */
static void names_like_a_scope(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *then = draft_start(17);
    draft_node(then, "Abs", "t", "u", "");
    draft_text(d, "x: batch,3; w = 3,1; bias = 3; one = [1]; Equal one one > yes; Neg x > t; Add x bias > 0t; "
                  "If yes > u");
    draft_body(d, "then_branch", then, "u");
    draft_body(d, "else_branch", then, "u");
    draft_text(d, "Add u 0t > sum; MatMul sum w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    for (uint64_t e = 0; e < 2; e++) {
        double want = 0;
        for (uint64_t k = 0; k < 3; k++)
            want += (fabs(draft_noise("x", e * 3 + k)) + draft_noise("x", e * 3 + k) + draft_noise("bias", k)) * draft_noise("w", k);
        assert_near(y[e], want, 1e-6);
    }
    done(r);
    draft_end(then);
}

/* A branch may have initialisers: y = (x a + b) w. */
static void weights_of_a_branch(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *then = draft_start(17);
    draft_text(then, "a = 3; b = 3; Mul x a > s; Add s b > t");
    draft_text(d, "x: batch,3; w = 3,2; one = [1]; Equal one one > yes; If yes > t");
    draft_body(d, "then_branch", then, "t");
    draft_body(d, "else_branch", then, "t");
    draft_node(d, "MatMul", "t w", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    assert_int_equal(graph_parameters(&r->g), 3 + 3 + 3 * 2);
    for (uint64_t e = 0; e < 4; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++)
            sum += (draft_noise("x", e / 2 * 3 + k) * draft_noise("a", k) + draft_noise("b", k)) * draft_noise("w", k * 2 + e % 2);
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
    draft_end(then);
}

/* The message asks for the only input that decides, in any position among constants; if there are two, for the
 * condition. */
static void choices_by_inputs(void **state)
{
    static const struct { const char *operands, *name; } cases[] = {
        { "a high", "a=NUMBER" }, { "high a", "a=NUMBER" }, { "a b", "condition=1 or 0" }, { "less high", "a=NUMBER" }, { "less b", "condition=1 or 0" }, { "cut high", "a=NUMBER" },
        { "b less", "condition=1 or 0" }, { "less a", "condition=1 or 0" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17), *then = draft_start(17), *other = draft_start(17);
        draft_node(then, "Relu", "x", "t", "");
        draft_node(other, "Neg", "x", "t", "");
        draft_text(d, "x: batch,3; a: int64 1; b: int64 1; high = [16]; Neg a > less; Clip a - high > cut");
        draft_node(d, "Greater", cases[i].operands, "condition", "");
        draft_node(d, "If", "condition", "y", "");
        draft_body(d, "then_branch", then, "t");
        draft_body(d, "else_branch", other, "t");
        draft_end(then);
        draft_end(other);
        struct imported *r = import(d, "y", infer);
        assert_non_null(strstr(r->err.msg, arena_printf(&r->arena, "say what it will be with --set data.%s, or", cases[i].name)));
        done(r);
    }
}

/* The input that decides is found through eight nodes; with nine, the condition is named. */
static void choices_through_many_nodes(void **state)
{
    (void)state;
    for (uint32_t n = 7; n < 9; n++) {
        struct draft *d = draft_start(17), *then = draft_start(17);
        draft_node(then, "Relu", "x", "t", "");
        draft_text(d, "x: batch,3; a: int64 1; high = [16]");
        for (uint32_t i = 0; i < n; i++)
            draft_node(d, "Neg", i ? arena_printf(&d->arena, "a%u", i) : "a", arena_printf(&d->arena, "a%u", i + 1), "");
        draft_node(d, "Greater", arena_printf(&d->arena, "a%u high", n), "condition", "");
        draft_node(d, "If", "condition", "y", "");
        draft_body(d, "then_branch", then, "t");
        draft_body(d, "else_branch", then, "t");
        draft_end(then);
        struct imported *r = import(d, "y", infer);
        assert_non_null(strstr(r->err.msg, n == 7 ? "--set data.a=NUMBER, or" : "--set data.condition=1 or 0, or"));
        done(r);
    }
}

/* A number that follows from the file may be given only with that value. */
static void a_number_that_is_known(void **state)
{
    (void)state;
    for (uint64_t said = 11; said <= 13; said++) {
        struct onnx_dimension one = { "size", said };
        struct draft *d = draft_start(17);
        draft_text(d, "x: batch,3; w = 3,4; Size w > size; Cast size > number to=1; MatMul x w > z; "
                      "Add z number > y");
        struct onnx_options o = { .inference = true, .dimensions = &one, .n_dimensions = 1 };
        if (said != 12) {
            refused(d, o, "data.size: the model has 12 there already");
            continue;
        }
        struct imported *r = import(d, "y", o);
        assert_string_equal(r->err.msg, "");
        done(r);
    }
}

/* An If on an input's number, or on what the model computes: 3 x 5 products in one branch, 3 x 2 in the other, 3 for
 * the condition. */
static struct draft *draft_choice(bool computed)
{
    struct draft *d = draft_start(17), *then = draft_start(17), *other = draft_start(17);
    draft_node(then, "MatMul", "x wide", "t", "");
    draft_node(other, "MatMul", "x narrow", "t", "");
    draft_text(d, "x: batch,3; rate: int64 1; wide = 3,5; narrow = 3,2; judge = 3,1");
    draft_number(d, "limit", 0.25);
    draft_text(d, "high = [16]; MatMul x judge > score; Cast rate > whole to=7");
    draft_node(d, computed ? "Greater" : "Equal", computed ? "score limit" : "whole high", "condition", "");
    draft_node(d, "If", "condition", "y", "");
    draft_body(d, "then_branch", then, "t");
    draft_body(d, "else_branch", other, "t");
    draft_end(then);
    draft_end(other);
    return d;
}

static void given(bool computed, const char *name, uint64_t number, uint64_t mac)
{
    struct onnx_dimension one = { name, number };
    char *text;
    struct imported *r = import(draft_choice(computed), "y", (struct onnx_options){ .inference = true, .dimensions = &one, .n_dimensions = 1 });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(graph_forward_mac(&r->g), mac);
    PRINTED(text, onnx_print(f, &r->im));
    assert_non_null(strstr(text, arena_printf(&r->arena, "  given: %s = %ju\n", name, (uintmax_t)number)));
    free(text);
    done(r);
}

/* An input may be given, and the condition is not computed; or the condition is given, and computed all the same. */
static void choices(void **state)
{
    struct onnx_dimension many = { "x", 2 }, weight = { "narrow", 2 }, there = { "high", 16 };
    (void)state;
    given(false, "rate", 16, 3 * 5);
    given(false, "rate", 8, 3 * 2);
    given(true, "condition", 1, 3 * 5 + 3);
    given(true, "condition", 0, 3 * 2 + 3);
    refused(draft_choice(false), infer, "node 3, If 'n3': its condition is known only while the model runs; say what it will be with "
                                        "--set data.rate=NUMBER, or price the longer branch with --approximate");
    refused(draft_choice(true), infer, "node 3, If 'n3': its condition is known only while the model runs; say what it will be with "
                                       "--set data.condition=1 or 0, or price the longer branch with --approximate");
    refused(draft_choice(false), (struct onnx_options){ .inference = true, .dimensions = &many, .n_dimensions = 1 },
            "data.x: a value of 3 numbers, want one number, or a dimension");
    refused(draft_choice(false), (struct onnx_options){ .inference = true, .dimensions = &weight, .n_dimensions = 1 },
            "data.narrow: the model has no symbolic dimension of this name; its dimensions: batch");
    refused(draft_choice(false), (struct onnx_options){ .inference = true, .dimensions = &there, .n_dimensions = 1 },
            "data.high: the model has no symbolic dimension of this name; its dimensions: batch");
}

/* The message asks for the unknown one of a loop's trip count and condition; for the trip count, if both are
 * unknown. */
static void rounds_by_inputs(void **state)
{
    static const char *const cases[][2] = { { "- on", "on=1 or 0" }, { "three on", "on=1 or 0" }, { "trips -", "trips=NUMBER" }, { "trips on", "trips=NUMBER" },
                                            { "trips yes", "trips=NUMBER" } };
    (void)state;
    struct draft *body = draft_start(17);
    draft_text(body, "i: int64 1; going: bool 1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: batch,3; trips: int64 1; on: bool 1; three = [3]; yes = [1]");
        draft_node(d, "Loop", cases[i][0], "y", "");
        draft_body(d, "body", body, "going i");
        struct imported *r = import(d, "y", infer);
        assert_non_null(strstr(r->err.msg, arena_printf(&r->arena, "say what it will be with --set data.%s, or", cases[i][1])));
        done(r);
    }
    draft_end(body);
}

/* A condition inside a branch is given by its name with the branch's scope. */
static void choices_within_a_branch(void **state)
{
    static const char *const cases[][2] = {
        { "0/more", "" },
        { "0/less", "node 2, If 'n1': its condition is known only while the model runs; say what it will be with --set data.a=NUMBER, or price the "
                    "longer branch with --approximate" },
        { "/more", "data./more: the model has no symbolic dimension of this name; its dimensions: batch" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct onnx_dimension one = { cases[i][0], 1 };
        struct draft *d = draft_start(17), *then = draft_start(17), *inner = draft_start(17);
        draft_node(inner, "MatMul", "x w", "t", "");
        draft_text(then, "Greater a high > more; If more > t");
        draft_body(then, "then_branch", inner, "t");
        draft_body(then, "else_branch", inner, "t");
        draft_text(d, "x: batch,3; a: int64 1; w = 3,2; high = [16]; yes = [1]; If yes > y");
        draft_body(d, "then_branch", then, "t");
        draft_body(d, "else_branch", then, "t");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .dimensions = &one, .n_dimensions = 1 });
        const char *why = strchr(r->err.msg, ':');
        assert_string_equal(why ? why + 2 : "", cases[i][1]);
        done(r);
        draft_end(then);
        draft_end(inner);
    }
}

/* Three rounds double x and add w, and stack the values before; the condition is constant, or computed by the body. */
static void loops(void **state)
{
    (void)state;
    for (int counted = 0; counted < 2; counted++) {
        struct draft *d = draft_start(17), *body = draft_start(17);
        draft_text(body, "round: int64 1; going: bool 1; carried: 2,3; Add carried carried > twice; "
                         "Add twice w > more");
        draft_node(body, counted ? "Less" : "Identity", counted ? "round one" : "going", "on", "");
        draft_text(d, "x: batch,3; w = 3; m = 3,2; one = [1]");
        draft_whole(d, "trips", WHOLE(counted ? 100 : 2));
        draft_text(d, "Equal one one > yes; Loop trips yes x > last rows");
        draft_body(d, "body", body, "on more carried");
        draft_text(d, "MatMul last m > product; MatMul rows m > products; Add products product > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 2 * 2);
        for (uint64_t e = 0; e < 8; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 3; k++) {
                double x = draft_noise("x", e / 2 % 2 * 3 + k), w = draft_noise("w", k), then = 2 * x + w;
                sum += ((e < 4 ? x : then) + 2 * then + w) * draft_noise("m", k * 2 + e % 2);
            }
            assert_near(y[e], sum, 1e-5);
        }
        done(r);
        draft_end(body);
    }
}

/* Without rounds, carried values pass unchanged, and stacked ones must not be read. */
static void no_round(void **state)
{
    (void)state;
    for (int reads = 0; reads < 2; reads++) {
        struct draft *d = draft_start(17), *body = draft_start(17);
        draft_text(body, "round: int64 1; going: bool 1; carried: 2,3; Neg carried > more; Identity going > on");
        draft_text(d, "x: batch,3; w = 3,3; trips = [0]; MatMul x w > h; Loop trips - h > last rows");
        draft_body(d, "body", body, "on more carried");
        draft_node(d, "Add", reads ? "rows last" : "x last", "y", "");
        draft_end(body);
        if (reads) {
            refused(d, infer, "node 1, Loop 'n1': its body never runs, but another node reads an output that it would stack");
            continue;
        }
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t e = 0; e < 6; e++) {
            double want = draft_noise("x", e);
            for (uint64_t k = 0; k < 3; k++)
                want += draft_noise("x", e / 3 * 3 + k) * draft_noise("w", k * 3 + e % 3);
            assert_near(y[e], want, 1e-6);
        }
        done(r);
    }
}

/* Two rounds stack two results each. */
static void two_stacks(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *body = draft_start(17);
    draft_text(body, "round: int64 1; going: bool 1; carried: 1,3; Add carried w > more; Mul carried v > times; "
                     "Identity going > on");
    draft_text(d, "x: batch,3; w = 3; v = 3; m = 3,3; trips = [2]; Loop trips - x > - sums products");
    draft_body(d, "body", body, "on more more times");
    draft_text(d, "Sub sums products > both; MatMul both m > y");
    struct imported *r = import(d, "y", infer);
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 3);
    for (uint64_t e = 0; e < 6; e++) {
        double want = 0;
        for (uint64_t k = 0; k < 3; k++) {
            double w = draft_noise("w", k), carried = draft_noise("x", k) + (e < 3 ? 0 : w);
            want += (carried + w - carried * draft_noise("v", k)) * draft_noise("m", k * 3 + e % 3);
        }
        assert_near(y[e], want, 1e-6);
    }
    done(r);
    draft_end(body);
}

/* Two carried values keep their order: a and b become a + b and b w, three times; the result is a - b. */
static void two_carried(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *body = draft_start(17);
    draft_text(body, "round: int64 1; going: bool 1; a: 1,3; b: 1,3; Add a b > sum; Mul b w > times; "
                     "Identity going > on");
    draft_text(d, "x: batch,3; u: batch,3; w = 3; m = 3,2; trips = [3]; Loop trips - x u > first second");
    draft_body(d, "body", body, "on sum times");
    draft_text(d, "Sub first second > both; MatMul both m > y");
    struct imported *r = import(d, "y", infer);
    double *y = outputs(r);
    for (uint64_t e = 0; e < 2; e++) {
        double want = 0;
        for (uint64_t k = 0; k < 3; k++) {
            double u = draft_noise("u", k), w = draft_noise("w", k);
            want += (draft_noise("x", k) + u + u * w + u * w * w - u * w * w * w) * draft_noise("m", k * 2 + e);
        }
        assert_near(y[e], want, 1e-6);
    }
    done(r);
    draft_end(body);
}

/* Nodes without their bodies are refused. */
static void bodies_left_out(void **state)
{
    static const struct { const char *op, *inputs, *attributes, *message; } cases[] = {
        { "Scan", "x", "num_scan_inputs=1", "its body does not have the inputs and outputs of a scan of 1 inputs" },
        { "Loop", "one - x", "", "its body does not have the inputs and outputs of a loop that carries 1 values" },
        { "If", "one", "", "has no branch of 1 outputs for its condition" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        char message[200];
        draft_text(d, "x: batch,3; one = [1]");
        draft_node(d, cases[i].op, cases[i].inputs, "y", cases[i].attributes);
        snprintf(message, sizeof message, "node 0, %s 'n0': %s", cases[i].op, cases[i].message);
        refused(d, infer, message);
    }
}

/* Three results of a branch, or three values carried through two rounds, after a node that they do not read. */
static void three_results(void **state)
{
    (void)state;
    for (int loop = 0; loop < 2; loop++) {
        struct draft *d = draft_start(17), *body = draft_start(17);
        if (loop) {
            draft_text(body, "round: int64 1; going: bool 1; a: 2,3; b: 2,3; c: 2,3; Identity going > on");
        }
        draft_node(body, "Neg", loop ? "a" : "x", "p", "");
        draft_node(body, "Add", loop ? "b m" : "x m", "q", "");
        draft_node(body, "Mul", loop ? "c m" : "x m", "r", "");
        draft_text(d, "x: batch,3; m = 3; w = 3,2; one = [1]; trips = [2]; Equal one one > yes; MatMul x w > before");
        draft_node(d, loop ? "Loop" : "If", loop ? "trips yes x x x" : "yes", "s t u", "");
        draft_body(d, loop ? "body" : "then_branch", body, loop ? "on p q r" : "p q r");
        if (!loop)
            draft_body(d, "else_branch", body, "p q r");
        draft_text(d, "Div s t > st; Sub st u > stu; MatMul stu w > behind; Add before behind > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t e = 0; e < 4; e++) {
            double want = 0;
            for (uint64_t k = 0; k < 3; k++) {
                double x = draft_noise("x", e / 2 * 3 + k), m = draft_noise("m", k);
                double s = loop ? x : -x, t = loop ? x + 2 * m : x + m, u = loop ? x * m * m : x * m;
                want += (x + s / t - u) * draft_noise("w", k * 2 + e % 2);
            }
            assert_near(y[e], want, 1e-5 * fmax(1, fabs(want)));
        }
        done(r);
        draft_end(body);
    }
}

/* A body must have as many inputs and outputs as its node: a Scan that carries one of two values, a Loop that carries
 * one. */
static void bodies_of_other_sizes(void **state)
{
    static const char *const inputs[] = { "a", "b", "c", "e" };
    (void)state;
    for (int scan = 0; scan < 2; scan++)
        for (size_t taken = 1; taken <= 4; taken++)
            for (size_t given = 1; given <= 3; given++) {
                struct draft *d = draft_start(17), *body = draft_start(17);
                char message[200];
                size_t takes = scan ? 2 : 3, gives = scan ? 1 : 2;
                for (size_t i = 0; i < taken; i++)
                    draft_input(body, inputs[i], i == 1 && !scan ? ONNX_BOOL : ONNX_FLOAT, "3");
                draft_node(body, "Identity", taken > 1 ? "b" : "a", "on", "");
                draft_node(body, "Neg", scan ? "a" : taken > 2 ? "c" : "a", "more", "");
                draft_node(body, "Abs", "more", "again", "");
                draft_text(d, "v: rows,3; x = 3; w = 3,2; trips = [2]");
                draft_node(d, scan ? "Scan" : "Loop", scan ? "x v" : "trips - v", "y", scan ? "num_scan_inputs=1" : "");
                draft_body(d, "body", body, scan ? given == 1 ? "more" : given == 2 ? "more again" : "more again on"
                                                 : given == 1 ? "on" : given == 2 ? "on more" : "on more again");
                draft_end(body);
                if (taken == takes && given == gives) {
                    draft_node(d, "MatMul", "v w", "z", "");
                    struct imported *r = import(d, "y z", infer);
                    assert_string_equal(r->err.msg, "");
                    done(r);
                    continue;
                }
                snprintf(message, sizeof message, "node 0, %s 'n0': its body does not have the inputs and outputs of a %s", scan ? "Scan" : "Loop",
                         scan ? "scan of 1 inputs" : "loop that carries 1 values");
                refused(d, infer, message);
            }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(branches), cmocka_unit_test(a_branch_reads_what_later_nodes_make), cmocka_unit_test(producers_after_an_insertion), cmocka_unit_test(names_like_a_scope),
    cmocka_unit_test(weights_of_a_branch), cmocka_unit_test(choices_by_inputs), cmocka_unit_test(choices_through_many_nodes),
    cmocka_unit_test(a_number_that_is_known), cmocka_unit_test(choices), cmocka_unit_test(choices_within_a_branch),
    cmocka_unit_test(rounds_by_inputs), cmocka_unit_test(loops), cmocka_unit_test(no_round), cmocka_unit_test(two_stacks),
    cmocka_unit_test(two_carried), cmocka_unit_test(bodies_left_out), cmocka_unit_test(three_results), cmocka_unit_test(bodies_of_other_sizes),
};
TAP_MAIN(tests)
