/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_functions.c - functions of a file replace the nodes that call them.
 */
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

/* A function that calls another, as PyTorch's newer exporter writes them: attributes of the call, or defaults; a
 * parameter left out; a result that is also read inside, and one that is a parameter. y = (leaky(x, 0.25) + elu(x,
 * 0.5)) w. */
static void functions(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *inner = draft_start(17), *outer = draft_start(17);
    draft_text(inner, "LeakyRelu a > b alpha=slope; Elu a > c alpha=other; Clip a low high > cut");
    for (int i = 0; i < 2; i++) {
        Onnx__AttributeProto *p = inner->nodes[i]->attribute[0];
        p->ref_attr_name = (char *)p->s.data;
        p->has_s = false;
    }
    draft_function(d, inner, "Two", "a low high", "b c a cut", "other=0.5");
    draft_node(outer, "Two", "p - top", "q r s cut", "slope=0.25");
    outer->nodes[0]->domain = "ours";
    draft_text(outer, "Add q r > sum; Max s cut > same; Min same cut > least");
    draft_function(d, outer, "Sum", "p top", "sum least", "");
    draft_text(d, "x: batch,3; w = 3,2");
    draft_number(d, "limit", 0.125);
    draft_node(d, "Sum", "x limit", "t u", "");
    d->nodes[0]->domain = "ours";
    draft_text(d, "Add t u > v; MatMul v w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    for (uint64_t e = 0; e < 4; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++) {
            double x = draft_noise("x", e / 2 * 3 + k);
            double t = (x > 0 ? x : 0.25 * x) + (x > 0 ? x : 0.5 * (exp(x) - 1)) + fmin(x, 0.125);
            sum += t * draft_noise("w", k * 2 + e % 2);
        }
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
    draft_end(inner);
    draft_end(outer);
}

/* A function that returns its two parameters exchanged: y = (u - x) w. */
static void parameters_in_another_order(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *swap = draft_start(17);
    draft_function(d, swap, "Swap", "a b", "b a", "");
    draft_text(d, "x: batch,3; u: batch,3; w = 3,2; Swap x u > p q");
    d->nodes[0]->domain = "ours";
    draft_text(d, "Sub p q > difference; MatMul difference w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    for (uint64_t e = 0; e < 4; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++)
            sum += (draft_noise("u", e / 2 * 3 + k) - draft_noise("x", e / 2 * 3 + k)) * draft_noise("w", k * 2 + e % 2);
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
    draft_end(swap);
}

/* A call may name fewer results than the function has, or more that nothing reads, and leave out the last parameter. */
static void results_of_a_call(void **state)
{
    static const struct { const char *made, *outputs; } cases[] = {
        { "t", "t v w" }, { "t u", "t" }, { "t u z", "t" }, { "t u z", "t v" }, { "t u z", "t v x" }, { "- t", "v t" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17), *body = draft_start(17);
        draft_text(body, "Tanh x > t; Neg x > v; Clip x low > w");
        draft_function(d, body, "Results", "x low", cases[i].outputs, "");
        draft_text(d, "a: batch,3; m = 3,2");
        draft_node(d, "Results", "a", cases[i].made, "");
        d->nodes[0]->domain = "ours";
        draft_node(d, "MatMul", "t m", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t e = 0; e < 4; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 3; k++)
                sum += tanh(draft_noise("a", e / 2 * 3 + k)) * draft_noise("m", k * 2 + e % 2);
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
        draft_end(body);
    }
}

/* A gate that a function alone reads, as any parameter, is part of a swish. */
static void gates_through_a_function(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct draft *d = draft_start(17), *gated = draft_start(17);
        draft_node(gated, "Mul", "a b", "c", "");
        draft_function(d, gated, "Gated", "a b", "c", "");
        draft_text(d, "x: batch,3; w = 3,2; Sigmoid x > gate");
        draft_node(d, "Gated", first ? "gate x" : "x gate", "t", "");
        d->nodes[1]->domain = "ours";
        draft_node(d, "MatMul", "t w", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_SWISH), 1);
        assert_int_equal(r->g.n_forward_ops, 2);
        done(r);
        draft_end(gated);
    }
}

/* A value that is given may be any output of a node: the second of two halves. */
static void a_second_result_is_given(void **state)
{
    (void)state;
    for (uint64_t said = 0; said < 2; said++) {
        struct onnx_dimension one = { "q", said };
        struct draft *d = draft_start(17), *then = draft_start(17), *other = draft_start(17);
        draft_node(then, "Tanh", "x", "t", "");
        draft_node(other, "Relu", "x", "t", "");
        draft_text(d, "x: batch,2; w = 2,3; Split x > p q axis=1; Cast q > yes to=9; If yes > t");
        draft_body(d, "then_branch", then, "t");
        draft_body(d, "else_branch", other, "t");
        draft_node(d, "MatMul", "t w", "y", "");
        draft_end(then);
        draft_end(other);
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .dimensions = &one, .n_dimensions = 1 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_TANH), said);
        assert_int_equal(count_kind(&r->g, OP_RELU), 1 - said);
        done(r);
    }
}

/* A gate that a function returns unchanged, and that is read twice, is no part of a swish: y = (x s(x) + 2 s(x)) w. */
static void readers_through_a_function(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *same = draft_start(17);
    draft_function(d, same, "Same", "a", "a", "");
    draft_text(d, "x: batch,3; w = 3,2; Sigmoid x > gate; Mul x gate > gated; Same gate > again");
    d->nodes[2]->domain = "ours";
    draft_text(d, "Add gate again > twice; Add gated twice > sum; MatMul sum w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    assert_int_equal(count_kind(&r->g, OP_SIGMOID), 1);
    for (uint64_t e = 0; e < 4; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++) {
            double x = draft_noise("x", e / 2 * 3 + k);
            sum += (x + 2) / (1 + exp(-x)) * draft_noise("w", k * 2 + e % 2);
        }
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
    draft_end(same);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(functions), cmocka_unit_test(parameters_in_another_order), cmocka_unit_test(results_of_a_call), cmocka_unit_test(gates_through_a_function),
    cmocka_unit_test(a_second_result_is_given), cmocka_unit_test(readers_through_a_function),
};
TAP_MAIN(tests)
