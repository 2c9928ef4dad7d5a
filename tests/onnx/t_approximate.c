/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_approximate.c - rough prices instead of refusals (--approximate), and how they are reported.
 */
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

/* The longer branch of an If and one round of a Loop are counted if data decide. */
static void control_flow_guessed(void **state)
{
    (void)state;
    struct draft *body = draft_start(17), *shorter = draft_start(17), *longer = draft_start(17), *d = draft_start(17);
    draft_text(body, "i: int64 1; on: bool 1; carried: 1,4; MatMul carried square > more");
    draft_node(shorter, "Identity", "x", "t", "");
    draft_text(longer, "Tanh x > u; Tanh u > t");
    draft_text(d, "x: n,4; trips: int64 1; square = 4,4; Greater trips trips > which; If which > t");
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

/* The operations that stand in for a runtime's own operators, and how many elements they read and make. Their
 * operands are found among scales and zero points. */
static void stand_ins_take_their_operands(void **state)
{
    static const struct { const char *op, *operands, *attributes; enum op_kind kind; uint64_t n; uint32_t n_inputs; } rows[] = {
        { "FastGelu", "2,6 6", "", OP_GELU, 12, 1 }, { "QuickGelu", "2,6 6", "", OP_GELU, 12, 1 }, { "QLinearSigmoid", "2,6 ~0.5 =0 ~0.5 =0", "", OP_SIGMOID, 12, 1 },
        { "QLinearLeakyRelu", "2,6 ~0.5 =0 ~0.5 =0", "", OP_MAP, 12, 1 }, { "QLinearSoftmax", "2,6 ~0.5 =0 ~0.5 =0", "", OP_SOFTMAX, 12, 1 },
        { "QLinearAveragePool", "2,6,4,4 ~0.5 =0 ~0.5 =0", "kernel_shape=2,2 strides=2,2", OP_AVERAGE_POOL, 48, 1 },
        { "QLinearGlobalAveragePool", "2,6,4,4 ~0.5 =0 ~0.5 =0", "", OP_AVERAGE_POOL, 12, 1 },
        { "QLinearAdd", "2,6 ~0.5 =0 2,6 ~0.5 =0 ~0.5 =0", "", OP_ADD, 12, 2 }, { "QLinearMul", "2,6 ~0.5 =0 2,6 ~0.5 =0 ~0.5 =0", "", OP_MUL, 12, 2 },
        { "QLinearConcat", "~0.5 =0 2,6 ~0.5 =0 2,3 ~0.5 =0", "axis=1", OP_CONCAT, 18, 2 }, { "QLinearMatMul", "2,6 ~0.5 =0 w6,5 ~0.5 =0 ~0.5 =0", "", OP_MATMUL, 10, 2 },
        { "QGemm", "2,6 ~0.5 =0 w6,5 ~0.5 =0 w5 ~0.5 =0", "", OP_BIAS_ADD, 10, 3 }, { "FusedGemm", "2,6 w6,5 w5", "", OP_BIAS_ADD, 10, 3 },
        { "FusedConv", "2,6,4,4 w5,6,1,1 w5", "", OP_BIAS_ADD, 160, 3 }, { "QLinearConv", "2,6,4,4 ~0.5 =0 w5,6,1,1 ~0.5 =0 ~0.5 =0 w5", "", OP_BIAS_ADD, 160, 3 },
        { "FusedConv", "2,6,4,4 w5,6,1,1 - 2,5,4,4", "", OP_CONV, 160, 3 },
        { "ConvInteger", "2,6,4,4 w5,6,1,1 =0 =0", "", OP_CONV, 160, 2 }, { "MatMulInteger", "2,6 w6,5 =0 =0", "", OP_MATMUL, 10, 2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct draft *d = draft_start(17);
        const char *names = "";
        size_t n;
        char **words = draft_words(d, rows[i].operands, &n);
        for (size_t k = 0; k < n; k++) {
            const char *name = *words[k] ? arena_printf(&d->arena, "i%zu", k) : "-";
            if (*words[k])
                draft_operand(d, name, words[k]);
            names = arena_printf(&d->arena, "%s%s%s", names, k ? " " : "", name);
        }
        draft_node(d, rows[i].op, names, "y", rows[i].attributes);
        d->nodes[0]->domain = strstr(rows[i].op, "Integer") ? "" : "com.microsoft";
        draft_text(d, "beside: 2,1; one = 1,1; MatMul beside one > p");
        struct imported *r = import(d, "y p", (struct onnx_options){ .inference = true, .approximate = true, .batch = 2 });
        if (*r->err.msg)
            print_error("%s: %s\n", rows[i].op, r->err.msg);
        assert_string_equal(r->err.msg, "");
        uint64_t found = 0;
        for (size_t k = 0; k < r->g.n_forward_ops; k++)
            if (r->g.ops[k].kind == rows[i].kind)
                found = max_u64(found, tensor_elements(&r->g.tensors[r->g.ops[k].outputs[0]]));
        if (found != rows[i].n)
            print_error("%s\n", rows[i].op);
        assert_int_equal(found, rows[i].n);
        assert_int_equal(r->im.model->nodes[0].n_inputs, rows[i].n_inputs);
        done(r);
    }
}

/* A quantised product is priced as the product of floats; scales and zero points become ones and zeros. */
static void quantised(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,3,6,6");
    draft_number(d, "s", 0.5);
    draft_whole(d, "z", WHOLE(0));
    draft_tensor(d, "kernel", ONNX_INT8, DIMS(4, 3, 3, 3));
    draft_tensor(d, "matrix", ONNX_INT8, DIMS(4, 5));
    draft_text(d, "QuantizeLinear x s z > q; QLinearConv q s z kernel s z s z > c pads=1,1,1,1; "
                  "MaxPool c > p kernel_shape=6,6; DequantizeLinear p s z > f; Flatten f > flat; "
                  "DynamicQuantizeLinear flat > dq scale point; MatMulInteger dq matrix point > whole; "
                  "Cast whole > numbers to=1; Mul numbers scale > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true, .batch = 2 });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(graph_forward_mac(&r->g), 2 * (36 * 27 * 4 + 4 * 5));
    assert_int_equal(graph_parameters(&r->g), 4 * 27 + 4 * 5);
    assert_int_equal(r->g.n_rough_ops, 4);
    for (size_t i = 0; i < r->im.model->n_nodes; i++)
        if (text_is(r->im.model->nodes[i].written, "DynamicQuantizeLinear"))
            assert_int_equal(r->im.model->nodes[i].n_inputs, 1);
    assert_near(r->im.model->values[onnx_value(r->im.model, "scale")].known[0], 1, 0);
    assert_near(r->im.model->values[onnx_value(r->im.model, "point")].known[0], 0, 0);
    for (size_t i = 0; i < r->g.n_tensors; i++)
        assert_int_not_equal(r->g.tensors[i].type, TYPE_UINT8);
    done(r);
}

/* Inputs of bytes count as floats. */
static void quantised_inputs(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_UINT8, "n,4");
    draft_number(d, "s", 0.5);
    draft_whole(d, "z", WHOLE(0));
    draft_tensor(d, "matrix", ONNX_INT8, DIMS(4, 5));
    draft_node(d, "QLinearMatMul", "x s z matrix s z s z", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true, .batch = 2 });
    assert_string_equal(r->err.msg, "");
    for (size_t i = 0; i < r->g.n_tensors; i++)
        assert_int_equal(r->g.tensors[i].type, TYPE_FP16);
    done(r);
}

/* A runtime's LSTM of bytes, whose weights are transposed, is priced as an LSTM: 5 steps of 2 samples, both
 * directions, 3 wide and 4 hidden. */
static void quantised_recurrence(void **state)
{
    (void)state;
    for (uint64_t biased = 0; biased < 2; biased++) {
        struct draft *d = draft_start(13);
        draft_input(d, "x", ONNX_FLOAT, "5,2,3");
        draft_number(d, "s", 0.5);
        draft_tensor(d, "w", ONNX_INT8, DIMS(2, 3, 16));
        draft_tensor(d, "r", ONNX_INT8, DIMS(2, 4, 16));
        draft_weight(d, "b", DIMS(2, 32));
        draft_node(d, "DynamicQuantizeLSTM", biased ? "x w r b - - - - s s s s" : "x w r", "all last cells", "hidden_size=4 direction=bidirectional");
        d->nodes[0]->domain = "com.microsoft";
        draft_node(d, "Add", "last cells", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true, .batch = 5 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_forward_mac(&r->g), 2 * 5 * 2 * 16 * (3 + 4));
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 2 * 4);
        assert_int_equal(graph_parameters(&r->g), 2 * 16 * (3 + 4) + biased * 2 * 32);
        assert_int_equal(r->g.n_rough_ops, 1);
        done(r);
    }
}

/* Without its recurrent weights it is refused like an LSTM. */
static void a_recurrence_without_weights(void **state)
{
    static const char *const inputs[] = { "x w - -", "x w -", "x w" };
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct draft *d = draft_start(13);
        draft_input(d, "x", ONNX_FLOAT, "5,2,3");
        draft_tensor(d, "w", ONNX_INT8, DIMS(2, 3, 16));
        draft_node(d, "DynamicQuantizeLSTM", inputs[i], "y", "hidden_size=4");
        refused(d, (struct onnx_options){ .inference = true, .approximate = true, .batch = 5 }, "node 0, LSTM 'n0': has no input 2; want at least 3");
    }
}

/* A chain of n nodes. */
static struct draft *chain(const char *op, uint32_t n)
{
    struct draft *d = draft_start(17);
    for (uint32_t i = 0; i < n; i++)
        draft_node(d, op, i ? arena_printf(&d->arena, "t%u", i - 1) : "x", i + 1 < n ? arena_printf(&d->arena, "t%u", i) : "t", "");
    return d;
}

/* The longer branch may be either; of equally long ones, the first is priced. */
static void the_longer_branch(void **state)
{
    static const struct { uint32_t n_then, n_else, n_tanh, n_sigmoid; } cases[] = { { 3, 2, 3, 0 }, { 2, 3, 0, 3 }, { 2, 2, 2, 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17), *then = chain("Tanh", cases[i].n_then), *other = chain("Sigmoid", cases[i].n_else);
        draft_text(d, "x: n,4; w = 4,3; Greater x x > which; If which > t");
        draft_body(d, "then_branch", then, "t");
        draft_body(d, "else_branch", other, "t");
        draft_node(d, "MatMul", "t w", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_TANH), cases[i].n_tanh);
        assert_int_equal(count_kind(&r->g, OP_SIGMOID), cases[i].n_sigmoid);
        done(r);
        draft_end(then);
        draft_end(other);
    }
}

/* A node that leads to no output is no reader: a gate that it reads too is still part of a swish. */
static void readers_that_lead_nowhere(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_text(d, "x: n,4; w = 4,3; Sigmoid x > gate; Mul x gate > t; Neg gate > idle; Add x gate > idle-too; "
                  "MatMul t w > y");
    struct imported *r = import(d, "y", infer);
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_SWISH), 1);
    assert_int_equal(r->g.n_forward_ops, 2);
    done(r);
}

/* Nodes that lead to no output are not refused, first or last. */
static void nodes_that_lead_nowhere(void **state)
{
    (void)state;
    for (int last = 0; last < 2; last++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: n,4; w = 4,3");
        if (!last)
            draft_node(d, "Det", "x", "idle", "");
        draft_node(d, "MatMul", "x w", "y", "");
        if (last)
            draft_node(d, "Det", "x", "idle", "");
        struct imported *r = import(d, "y", infer);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(r->g.n_forward_ops, 1);
        done(r);
    }
}

/* One unknown operator is priced as a pass and counted. */
static void approximated(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_text(d, "x: n,4; w = 4,3; MysteryActivation x > m; MatMul m w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_SCALE), 1);
    assert_int_equal(r->im.counts[0].fate, ONNX_APPROXIMATED);
    assert_string_equal(r->im.counts[0].op, "MysteryActivation");
    assert_int_equal(r->g.n_rough_ops, 1);
    done(r);
}

/* If the result differs from the input in its number of elements or its type, the pass reads a tensor like the
 * result. */
static void other_results_approximated(void **state)
{
    static const struct { int type; const char *dims; uint64_t width; bool as_input; } cases[] = {
        { ONNX_FLOAT, "n,4", 4, true }, { ONNX_FLOAT, "n,2", 2, false }, { ONNX_BOOL, "n,4", 4, false }, { ONNX_BOOL, "n,2", 2, false } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        draft_input(d, "x", ONNX_FLOAT, "n,4");
        draft_weight(d, "w", DIMS(cases[i].width, 3));
        Onnx__ValueInfoProto *made = draft_info(d, "m", cases[i].type, cases[i].dims);
        d->graph.value_info = &made;
        d->graph.n_value_info = 1;
        draft_text(d, "Mystery x > m; Cast m > c to=1; MatMul c w > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true });
        assert_string_equal(r->err.msg, "");
        const struct op *pass = r->g.ops;
        while (pass->kind != OP_SCALE)
            pass++;
        const struct tensor *read = &r->g.tensors[pass->inputs[0]], *result = &r->g.tensors[pass->outputs[0]];
        assert_int_equal(read->role == ROLE_INPUT, cases[i].as_input);
        assert_near(pass->at->rate, 1, 0);              /* its arithmetic is unknown */
        assert_int_equal(tensor_elements(result), cases[i].width);
        assert_int_equal(result->type, cases[i].type == ONNX_BOOL ? TYPE_UINT8 : TYPE_FP16);
        assert_int_equal(count_kind(&r->g, OP_CAST), cases[i].type == ONNX_BOOL);
        done(r);
    }
}

/* Results have at most five dimensions. */
static void results_of_many_dimensions(void **state)
{
    static const char *const dims[] = { "n,1,1,1,2", "n,1,1,1,1,2" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: n,4; w = 2,3");
        Onnx__ValueInfoProto *made = draft_info(d, "m", ONNX_FLOAT, dims[i]);
        d->graph.value_info = &made;
        d->graph.n_value_info = 1;
        draft_text(d, "Mystery x > m; MatMul m w > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true });
        const char *why = strchr(r->err.msg, ':');
        assert_string_equal(why ? why + 2 : "", i ? "node 0, Mystery 'n0': cannot be priced: its result has 6 dimensions, at most 5" : "");
        done(r);
    }
}

/* Each result is a pass, also those without a reader. */
static void several_results_approximated(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_text(d, "x: n,4; w = 4,3; Mystery x > m u; MatMul m w > z; MatMul u w > y");
    struct imported *r = import(d, "z y", (struct onnx_options){ .inference = true, .approximate = true });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_SCALE), 2);
    assert_int_equal(r->g.n_rough_ops, 2);
    done(r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(control_flow_guessed), cmocka_unit_test(stand_ins_take_their_operands), cmocka_unit_test(results_of_many_dimensions), cmocka_unit_test(quantised), cmocka_unit_test(quantised_inputs),
    cmocka_unit_test(quantised_recurrence), cmocka_unit_test(a_recurrence_without_weights), cmocka_unit_test(the_longer_branch), cmocka_unit_test(readers_that_lead_nowhere),
    cmocka_unit_test(nodes_that_lead_nowhere), cmocka_unit_test(approximated), cmocka_unit_test(other_results_approximated),
    cmocka_unit_test(several_results_approximated),
};
TAP_MAIN(tests)
