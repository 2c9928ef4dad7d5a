/*
 * t_refusals.c - what is refused, by its exact message, and what is priced instead.
 */
#include "tests/onnx/import.h"

/* ---- refused ------------------------------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    struct draft *d = draft_start(8);
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "opset 8, want 9 to 21; export again with opset_version=17");
    d = draft_start(17);
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "node 0, Relu 'n0': reads x, which nothing before it makes; is the file cut short?");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "NonMaxSuppression", "x x", "y", "");
    refused(d, infer, "node 0, NonMaxSuppression 'n0': how much it makes is known only while the model runs; stop before it with --set "
                      "recipe.output=NAME, or price it roughly with --approximate");
    d = draft_start(17);
    struct draft *body = draft_start(17);
    draft_node(body, "Again", "a", "b", "");
    body->nodes[0]->domain = "ours";
    draft_function(d, body, "Again", "a", "b", "");
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "Again", "x", "y", "");
    d->nodes[0]->domain = "ours";
    refused(d, infer, "node 0, Again 'n0': functions call each other more than 32 deep, or 50000 times");
    draft_end(body);
}

static void operators_refused(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_UINT8, "n,4");
    draft_node(d, "QLinearMatMul", "x", "y", "");
    refused(d, infer, "node 0, QLinearMatMul 'n0': the chip's products are of floats; quantise the model to QDQ, or export it before, or price it roughly with "
                      "--approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "SkipLayerNormalization", "x", "y", "");
    d->nodes[0]->domain = "com.microsoft";
    refused(d, infer, "node 0, SkipLayerNormalization 'n0': not an operator of ONNX's own; export the model before a runtime has optimised it, or "
                      "price it roughly with --approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "Det", "x", "y", "");
    refused(d, infer, "node 0, Det 'n0': this operator is not modelled; change the model, or price it roughly with --approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "If", "x", "y", "");
    refused(d, infer, "node 0, If 'n0': its condition is known only while the model runs; export the model without it, or price the longer branch "
                      "with --approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4,3");
    draft_input(d, "s", ONNX_FLOAT, "3");
    draft_node(d, "LayerNormalization", "x s", "y", "");
    refused(d, infer, "node 0, LayerNormalization 'n0': its input 1, s, is computed while the model runs; want a constant");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4,3");
    draft_weight(d, "s", DIMS(3));
    draft_input(d, "b", ONNX_FLOAT, "3");
    draft_node(d, "LayerNormalization", "x s b", "y", "");
    refused(d, infer, "node 0, LayerNormalization 'n0': its input 2, b, is computed while the model runs; want a constant");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,tokens,4");
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "input x: the size of its dimension 'tokens' is not known; give it: --set data.tokens=128");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,tokens,4");
    draft_node(d, "Relu", "x", "y", "");
    struct onnx_dimension frames = { "frames", 10 };
    refused(d, (struct onnx_options){ .inference = true, .dimensions = &frames, .n_dimensions = 1 },
            "data.frames: the model has no symbolic dimension of this name; its dimensions: n, tokens");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "no product or convolution in it; nothing to simulate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_weight(d, "w", DIMS(5, 3));
    draft_node(d, "MatMul", "x w", "y", "");
    refused(d, infer, "node 0, MatMul 'n0': inner sizes 4 and 5 differ");
}

/* A window as deep as an operation may have parts, and one deeper; one of a group. */
static struct draft *deep_window(uint64_t depth, uint64_t groups)
{
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4,40,3,3");
    draft_weight(d, "w", DIMS(6, 4 / groups, depth, 1, 1));
    draft_node(d, "Conv", "x w", "y", groups == 2 ? "group=2" : "");
    return d;
}

static void windows_refused(void **state)
{
    (void)state;
    struct imported *r = import(deep_window(MAX_OP_OUTPUTS, 1), "y", infer);
    assert_string_equal(r->err.msg, "");
    refused(deep_window(MAX_OP_OUTPUTS + 1, 1), infer,
            arena_printf(&r->arena, "node 0, Conv 'n0': a window of depth %d in groups, or of more than %d; want one group", MAX_OP_OUTPUTS + 1, MAX_OP_OUTPUTS));
    done(r);
    refused(deep_window(2, 2), infer, "node 0, Conv 'n0': a window of depth 2 in groups, or of more than 32; want one group");
}

/* As many Ifs in each other: "x" goes through them all. */
static struct draft *nested(uint32_t depth)
{
    struct draft *inner = NULL;
    for (uint32_t i = 0; i <= depth; i++) {
        struct draft *d = draft_start(17);
        if (i == depth) {
            draft_input(d, "x", ONNX_FLOAT, "n,4");
            draft_weight(d, "w", DIMS(4, 3));
            draft_whole(d, "one", WHOLE(1));
            draft_node(d, "Equal", "one one", "yes", "");
        }
        draft_node(d, inner ? "If" : "Relu", inner ? "yes" : "x", "t", "");
        if (inner) {
            draft_body(d, "then_branch", inner, "t");
            draft_end(inner);
        }
        inner = d;
    }
    draft_node(inner, "MatMul", "t w", "y", "");
    return inner;
}

/* So many functions that call the next; the last one is a relu. */
static struct draft *calling(uint32_t n, struct draft **bodies)
{
    struct draft *d = draft_start(17);
    for (uint32_t i = 0; i < n; i++) {
        bodies[i] = draft_start(17);
        draft_node(bodies[i], i + 1 < n ? arena_printf(&d->arena, "Call%u", i + 1) : "Relu", "a", "b", "");
        bodies[i]->nodes[0]->domain = i + 1 < n ? "ours" : "";
        draft_function(d, bodies[i], arena_printf(&d->arena, "Call%u", i), "a", "b", "");
    }
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_weight(d, "w", DIMS(4, 3));
    draft_node(d, "Call0", "x", "t", "");
    d->nodes[0]->domain = "ours";
    draft_node(d, "MatMul", "t w", "y", "");
    return d;
}

static void calls_are_followed_so_far(void **state)
{
    struct draft *bodies[33];
    (void)state;
    struct imported *r = import(calling(32, bodies), "y", infer);
    assert_string_equal(r->err.msg, "");
    assert_int_equal(r->g.n_forward_ops, 2);
    done(r);
    for (uint32_t i = 0; i < 32; i++)
        draft_end(bodies[i]);
    refused(calling(33, bodies), infer, "node 0, Call32 'n0': functions call each other more than 32 deep, or 50000 times");
    for (uint32_t i = 0; i < 33; i++)
        draft_end(bodies[i]);
}

static void course_refused(void **state)
{
    (void)state;
    refused(nested(33), infer, "node 33, If 'n0': branches and loops stand in each other more than 32 deep");
    struct imported *r = import(nested(32), "y", infer);
    assert_string_equal(r->err.msg, "");
    done(r);
    struct draft *body = draft_start(17), *d = draft_start(17);
    draft_input(body, "i", ONNX_INT64, "1");
    draft_input(body, "on", ONNX_BOOL, "1");
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_input(d, "trips", ONNX_INT64, "1");
    draft_node(d, "Loop", "trips", "y", "");
    draft_body(d, "body", body, "on i");
    refused(d, infer, "node 0, Loop 'n0': how often it runs is known only while the model runs; say what it will be with --set data.trips=NUMBER, "
                      "or price one round with --approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "Loop", "x", "y", "");
    draft_body(d, "body", body, "on");
    refused(d, infer, "node 0, Loop 'n0': its body does not have the inputs and outputs of a loop that carries 0 values");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_whole(d, "trips", WHOLE(0));
    draft_node(d, "Loop", "trips", "none", "");
    draft_body(d, "body", body, "on i");
    draft_node(d, "Relu", "none", "y", "");
    refused(d, infer, "node 0, Loop 'n0': runs no round, and what it stacks is read");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_whole(d, "trips", WHOLE(1001));
    draft_node(d, "Loop", "trips", "y", "");
    draft_body(d, "body", body, "on i");
    refused(d, infer, "node 0, Loop 'n0': more than 1000 branches and rounds of loops");
    draft_end(body);
}

/* Neither so often nor until something holds. */
static void an_endless_loop(void **state)
{
    (void)state;
    struct draft *d = draft_start(13), *body = draft_start(13);
    draft_input(body, "round", ONNX_INT64, "1");
    draft_input(body, "going", ONNX_BOOL, "1");
    draft_input(body, "t", ONNX_FLOAT, "1");
    draft_node(body, "Identity", "going", "on", "");
    draft_node(body, "Relu", "t", "next", "");
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "Loop", "- - x", "y", "");
    draft_body(d, "body", body, "on next");
    refused(d, infer, "node 0, Loop 'n0': how often it runs is known only while the model runs; export the model without it, or price one round with "
                      "--approximate");
    draft_end(body);
}

/* As many items as a sequence may have. */
static void a_long_sequence(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,1000");
    draft_input(d, "a", ONNX_FLOAT, "n,2");
    draft_weight(d, "w", DIMS(2, 2));
    draft_node(d, "SplitToSequence", "x", "s", "axis=1");
    draft_node(d, "SequenceLength", "s", "n", "");
    draft_node(d, "Cast", "n", "number", "to=1");
    draft_node(d, "MatMul", "a w", "product", "");
    draft_node(d, "Add", "product number", "y", "");
    struct imported *r = import(d, "y", infer);
    assert_string_equal(r->err.msg, "");
    done(r);
}

static void sequences_refused(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_input(d, "at", ONNX_INT64, "1");
    draft_node(d, "SequenceConstruct", "x x", "s", "");
    draft_node(d, "SequenceAt", "s at", "y", "");
    refused(d, infer, "node 1, SequenceAt 'n1': a place in a sequence that is outside it, or known only while the model runs; export tensors");
    d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_whole(d, "two", WHOLE(2));
    draft_node(d, "SequenceConstruct", "x x", "s", "");
    draft_node(d, "SequenceAt", "s two", "y", "");
    refused(d, infer, "node 1, SequenceAt 'n1': a place in a sequence that is outside it, or known only while the model runs; export tensors");
    d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "SequenceLength", "x", "y", "");
    refused(d, infer, "node 0, SequenceLength 'n0': reads a sequence that nothing here makes; export tensors");
    d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,1001");
    draft_node(d, "SplitToSequence", "x", "s", "axis=1");
    draft_node(d, "SequenceLength", "s", "y", "");
    refused(d, infer, "node 0, SplitToSequence 'n0': its parts are known only while the model runs, or more than 1000");
    d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "SequenceEmpty", "", "s", "");
    draft_node(d, "ConcatFromSequence", "s", "y", "");
    refused(d, infer, "node 1, ConcatFromSequence 'n1': joins nothing");
}

/* ---- priced roughly ------------------------------------------------------------------------------------------------ */

/* Where data decide: the longer branch, and one round of a loop; both are counted. */
static void course_guessed(void **state)
{
    (void)state;
    struct draft *body = draft_start(17), *shorter = draft_start(17), *longer = draft_start(17), *d = draft_start(17);
    draft_input(body, "i", ONNX_INT64, "1");
    draft_input(body, "on", ONNX_BOOL, "1");
    draft_input(body, "carried", ONNX_FLOAT, "1,4");
    draft_node(body, "MatMul", "carried square", "more", "");
    draft_node(shorter, "Identity", "x", "t", "");
    draft_node(longer, "Tanh", "x", "u", "");
    draft_node(longer, "Tanh", "u", "t", "");
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_input(d, "trips", ONNX_INT64, "1");
    draft_weight(d, "square", DIMS(4, 4));
    draft_node(d, "Greater", "trips trips", "which", "");
    draft_node(d, "If", "which", "t", "");
    draft_body(d, "then_branch", shorter, "t");
    draft_body(d, "else_branch", longer, "t");
    draft_node(d, "Loop", "trips - t", "y", "");
    draft_body(d, "body", body, "on more");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_MATMUL), 1);
    assert_int_equal(count_kind(&r->g, OP_TANH), 2);
    assert_int_equal(r->g.n_rough_ops, 2);
    done(r);
    draft_end(body);
    draft_end(shorter);
    draft_end(longer);
}

/* A quantised product is priced as the float one with its channels, weights and all; scales and zero points go. */
static void quantised(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,3,6,6");
    draft_number(d, "s", 0.5);
    draft_whole(d, "z", WHOLE(0));
    draft_tensor(d, "kernel", ONNX_INT8, DIMS(4, 3, 3, 3));
    draft_tensor(d, "matrix", ONNX_INT8, DIMS(4, 5));
    draft_node(d, "QuantizeLinear", "x s z", "q", "");
    draft_node(d, "QLinearConv", "q s z kernel s z s z", "c", "pads=1,1,1,1");
    draft_node(d, "MaxPool", "c", "p", "kernel_shape=6,6");
    draft_node(d, "DequantizeLinear", "p s z", "f", "");
    draft_node(d, "Flatten", "f", "flat", "");
    draft_node(d, "DynamicQuantizeLinear", "flat", "dq scale point", "");
    draft_node(d, "MatMulInteger", "dq matrix point", "whole", "");
    draft_node(d, "Cast", "whole", "numbers", "to=1");
    draft_node(d, "Mul", "numbers scale", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true, .batch = 2 });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(graph_forward_mac(&r->g), 2 * (36 * 27 * 4 + 4 * 5));
    assert_int_equal(graph_parameters(&r->g), 4 * 27 + 4 * 5);
    assert_int_equal(r->g.n_rough_ops, 4);
    for (size_t i = 0; i < r->g.n_tensors; i++)
        assert_int_not_equal(r->g.tensors[i].type, TYPE_UINT8);
    done(r);
}

/* A runtime's LSTM of bytes has its weights turned; it is priced as the LSTM that it was: 5 steps of 2 samples, both directions, 3 wide and 4 hidden. */
static void quantised_recurrence(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "5,2,3");
    draft_number(d, "s", 0.5);
    draft_tensor(d, "w", ONNX_INT8, DIMS(2, 3, 16));
    draft_tensor(d, "r", ONNX_INT8, DIMS(2, 4, 16));
    draft_weight(d, "b", DIMS(2, 32));
    draft_node(d, "DynamicQuantizeLSTM", "x w r b - - - - s s s s", "all last cells", "hidden_size=4 direction=bidirectional");
    d->nodes[0]->domain = "com.microsoft";
    draft_node(d, "Add", "last cells", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true, .batch = 5 });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(graph_forward_mac(&r->g), 2 * 5 * 2 * 16 * (3 + 4));
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 2 * 4);
    assert_int_equal(r->g.n_rough_ops, 1);
    done(r);
}

/* One unknown operator is priced as a pass and counted. */
static void approximated(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_weight(d, "w", DIMS(4, 3));
    draft_node(d, "MysteryActivation", "x", "m", "");
    draft_node(d, "MatMul", "m w", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_SCALE), 1);
    assert_int_equal(r->im.counts[0].fate, ONNX_APPROXIMATED);
    assert_string_equal(r->im.counts[0].op, "MysteryActivation");
    assert_int_equal(r->g.n_rough_ops, 1);
    done(r);
}

/* Each of its results is a pass, where the others have no reader too. */
static void several_results_approximated(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_weight(d, "w", DIMS(4, 3));
    draft_node(d, "Mystery", "x", "m u", "");
    draft_node(d, "MatMul", "m w", "z", "");
    draft_node(d, "MatMul", "u w", "y", "");
    struct imported *r = import(d, "z y", (struct onnx_options){ .inference = true, .approximate = true });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_SCALE), 2);
    assert_int_equal(r->g.n_rough_ops, 2);
    done(r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refusals), cmocka_unit_test(operators_refused), cmocka_unit_test(windows_refused), cmocka_unit_test(course_refused), cmocka_unit_test(calls_are_followed_so_far),
    cmocka_unit_test(sequences_refused), cmocka_unit_test(an_endless_loop), cmocka_unit_test(a_long_sequence), cmocka_unit_test(course_guessed),
    cmocka_unit_test(quantised), cmocka_unit_test(quantised_recurrence),
    cmocka_unit_test(approximated), cmocka_unit_test(several_results_approximated),
};
TAP_MAIN(tests)
