/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_sequences.c - sequences of tensors: made, read by item, cut into chunks and joined.
 */
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

/* All nodes before a branch count, also one without an output. */
static void a_join_without_a_result(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *then = draft_start(17);
    draft_node(then, "Relu", "x", "t", "");
    draft_text(d, "x: batch,3; one = [1]; Equal one one > yes; SequenceConstruct x x > s; "
                  "ConcatFromSequence s > - axis=0 new_axis=1; If yes > y");
    draft_body(d, "then_branch", then, "t");
    draft_body(d, "else_branch", then, "t");
    draft_end(then);
    refused(d, infer, "node 2, ConcatFromSequence 'n2': joins nothing, or has no output");
}

/* By default an item is appended, and the last one is erased or read. */
static void the_last_of_a_sequence(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: batch,3; w = 3,3; MatMul x w > z; SequenceConstruct x > s; SequenceInsert s z > longer; "
                  "SequenceInsert longer x > longest; SequenceErase longest > shorter; "
                  "ConcatFromSequence shorter > y axis=1");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    assert_int_equal(r->g.tensors[r->im.output].n_dims, 2);         /* joined, not stacked */
    assert_int_equal(r->g.tensors[r->im.output].dims[1], 6);
    for (uint64_t e = 0; e < 12; e++) {
        double z = 0;
        for (uint64_t k = 0; k < 3; k++)
            z += draft_noise("x", e / 6 * 3 + k) * draft_noise("w", k * 3 + e % 3);
        assert_near(y[e], e % 6 < 3 ? draft_noise("x", e / 6 * 3 + e % 3) : z, 1e-6);
    }
    done(r);
}

/* Items inserted and erased at each position of three, counted from the beginning or from the end. */
static void places_of_items(void **state)
{
    static const struct { const char *op, *place, *items; } cases[] = {
        { "Insert", "='0", "3012" }, { "Insert", "='1", "0312" }, { "Insert", "='2", "0132" }, { "Insert", "='3", "0123" }, { "Insert", "='-1", "0132" },
        { "Insert", "='-3", "3012" }, { "Insert", "='4", NULL }, { "Insert", "='-4", NULL }, { "Erase", "='0", "12" }, { "Erase", "='1", "02" },
        { "Erase", "='2", "01" }, { "Erase", "='-1", "01" }, { "Erase", "='-3", "12" }, { "Erase", "='3", NULL }, { "Erase", "='-4", NULL },
        { "Erase", "=1,1", NULL }, { "Insert", "=1,1", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13);
        bool insert = text_is(cases[i].op, "Insert");
        for (int k = 0; k < 4; k++)
            draft_input(d, (const char *[]){ "a", "b", "c", "d" }[k], ONNX_FLOAT, "batch,1");
        draft_weight(d, "w", DIMS(1, 1));
        draft_operand(d, "place", arena_strdup(&d->arena, cases[i].place));
        draft_node(d, "SequenceConstruct", "a b c", "s", "");
        draft_node(d, insert ? "SequenceInsert" : "SequenceErase", insert ? "s d place" : "s place", "t", "");
        draft_text(d, "ConcatFromSequence t > all axis=1; MatMul d w > product; Add all product > y");
        if (!cases[i].items) {
            char message[150];
            snprintf(message, sizeof message, "node 1, Sequence%s 'n1': a place in a sequence that is outside it, or known only while the model runs; "
                     "export tensors", cases[i].op);
            refused(d, infer, message);
            continue;
        }
        struct imported *r = import(d, "y", infer);
        double *y = outputs(r);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), strlen(cases[i].items));
        for (size_t k = 0; cases[i].items[k]; k++) {
            const char name[] = { (char)('a' + cases[i].items[k] - '0'), '\0' };
            assert_near(y[k], draft_noise(name, 0) + draft_noise("d", 0) * draft_noise("w", 0), 1e-6);
        }
        done(r);
    }
}

/* SequenceAt reads its item and no other: sigmoid(x), read by a product and as an item, is no part of a swish;
 * sigmoid(u) is. */
static void readers_of_items(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: batch,3; u: batch,3; w = 3,3; first = [0]; Sigmoid x > a; Sigmoid u > b; "
                  "SequenceConstruct a b > s; SequenceAt s first > item; Mul x a > c; Mul u a > e; Mul u b > f; "
                  "Sum c e f item > sum; MatMul sum w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    assert_int_equal(count_kind(&r->g, OP_SIGMOID), 1);
    assert_int_equal(count_kind(&r->g, OP_SWISH), 1);
    for (uint64_t e = 0; e < 6; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++) {
            double x = draft_noise("x", e / 3 * 3 + k), u = draft_noise("u", e / 3 * 3 + k), a = 1 / (1 + exp(-x)), b = 1 / (1 + exp(-u));
            sum += (x * a + u * a + u * b + a) * draft_noise("w", k * 3 + e % 3);
        }
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
}

/* A stack reads each item: sigmoid(x), read by a product, a sum and a stack, is no part of a swish. */
static void readers_of_stacked_items(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: batch,3; u: batch,3; w = 3,3; Sigmoid x > a; SequenceConstruct a u > s; "
                  "ConcatFromSequence s > stack new_axis=1; Mul x a > c; Add c a > e; Add stack e > sum; "
                  "MatMul sum w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    assert_int_equal(count_kind(&r->g, OP_SIGMOID), 1);
    assert_int_equal(count_kind(&r->g, OP_SWISH), 0);
    for (uint64_t e = 0; e < 12; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++) {
            uint64_t at = e / 3 % 2 * 3 + k;
            double x = draft_noise("x", at), a = 1 / (1 + exp(-x));
            sum += ((e < 6 ? a : draft_noise("u", at)) + x * a + a) * draft_noise("w", k * 3 + e % 3);
        }
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
}

/* A loop inserts chunks of x plus b in front; one is erased, the rest are stacked, and their number is added. */
static void sequences(void **state)
{
    (void)state;
    struct draft *d = draft_start(13), *body = draft_start(13);
    draft_text(body, "round: int64 1; going: bool 1; list: 1; SequenceAt chunks round > chunk; Add chunk b > more; "
                     "SequenceInsert list more first > longer; Identity going > on");
    draft_text(d, "x: batch,7; b = 2,1; w = 2,2; sizes = [2,2,2,1]; first = [0]; last = [-1]; trips = [3]; "
                  "SplitToSequence x sizes > chunks axis=1");
    draft_node(d, "SequenceEmpty", "", "empty", "");
    draft_node(d, "Loop", "trips - empty", "lists", "");
    draft_body(d, "body", body, "on longer");
    draft_text(d, "SequenceErase lists last > fewer; ConcatFromSequence fewer > stack axis=0 new_axis=1; "
                  "MatMul stack w > product; SequenceLength fewer > n; Cast n > number to=1; Add product number > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 2 * 2);
    for (uint64_t e = 0; e < 8; e++) {
        double sum = 2;
        for (uint64_t k = 0; k < 2; k++)
            sum += (draft_noise("x", e / 2 % 2 * 7 + (e < 4 ? 4 : 2) + k) + draft_noise("b", e / 2 % 2)) * draft_noise("w", k * 2 + e % 2);
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
    draft_end(body);
}

/* Seven in chunks of three (3, 3, 1), nine in chunks of four (4, 4, 1), and eight in listed sizes. */
static void chunks_of_a_size(void **state)
{
    static const struct { uint64_t all; const char *size, *place; uint64_t first, n; } cases[] = {
        { 7, "='3", "='0", 0, 3 }, { 7, "='3", "='1", 3, 3 }, { 7, "='3", "='2", 6, 1 }, { 7, "='3", "='-1", 6, 1 },
        { 9, "='4", "='1", 4, 4 }, { 3, "='1", "='2", 2, 1 }, { 9, "='4", "='2", 8, 1 }, { 8, "=2,5,1", "='0", 0, 2 }, { 8, "=2,5,1", "='1", 2, 5 }, { 8, "=2,5,1", "='2", 7, 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13);
        draft_input(d, "x", ONNX_FLOAT, arena_printf(&d->arena, "batch,%ju", (uintmax_t)cases[i].all));
        draft_text(d, "one: batch,1; w = 1,1");
        draft_operand(d, "size", arena_strdup(&d->arena, cases[i].size));
        draft_operand(d, "place", arena_strdup(&d->arena, cases[i].place));
        draft_text(d, "SplitToSequence x size > chunks axis=1; SequenceAt chunks place > chunk; "
                      "MatMul one w > product; Add chunk product > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 1 });
        double *y = outputs(r);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), cases[i].n);
        for (uint64_t e = 0; e < cases[i].n; e++)
            assert_near(y[e], draft_noise("x", cases[i].first + e) + draft_noise("one", 0) * draft_noise("w", 0), 1e-6);
        done(r);
    }
}

/* The default size is one element; without keepdims its dimension disappears. */
static void single_elements(void **state)
{
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        struct draft *d = draft_start(13);
        draft_text(d, "x: 3,4; w = 1,1; two = [2]");
        draft_node(d, "SplitToSequence", "x", "rows", keeps ? "axis=1 keepdims=1" : "axis=1 keepdims=0");
        draft_node(d, "SequenceAt", "rows two", "row", "");
        draft_node(d, keeps ? "Identity" : "Unsqueeze", keeps ? "row" : "row one", "column", "");
        draft_text(d, "one = [1]; MatMul column w > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 3 });
        double *y = outputs(r);
        for (uint64_t e = 0; e < 3; e++)
            assert_near(y[e], draft_noise("x", 4 * e + 2) * draft_noise("w", 0), 1e-6);
        done(r);
    }
}

/* SplitToSequence needs an input with that axis, and a reader of sequences. */
static void splits_refused(void **state)
{
    static const struct { const char *inputs, *made, *attributes; } cases[] = {
        { "-", "s", "" }, { "- two", "s", "" }, { "x", "s", "axis=2" }, { "x", "s", "axis=-3" }, { "x", "-", "" }, { "x", "- s", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13);
        draft_text(d, "x: 3,4; two = [2]");
        draft_node(d, "SplitToSequence", cases[i].inputs, cases[i].made, cases[i].attributes);
        draft_node(d, "If", "two", "y", "");            /* may read values around it */
        struct draft *then = draft_start(13);
        draft_node(then, "Relu", "x", "t", "");
        draft_body(d, "then_branch", then, "t");
        draft_body(d, "else_branch", then, "t");
        draft_end(then);
        refused(d, infer, "node 0, SplitToSequence 'n0': axis is out of range, or its input has no shape");
    }
}

/* The default axis is the first. */
static void rows_of_a_matrix(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: 3,4; w = 4,1");
    draft_operand(d, "size", (char[]){ "='2" });
    draft_text(d, "last = [1]; SplitToSequence x size > rows; SequenceAt rows last > row; MatMul row w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 3 });
    double *y = outputs(r), sum = 0;
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 1);
    for (uint64_t k = 0; k < 4; k++)
        sum += draft_noise("x", 8 + k) * draft_noise("w", k);
    assert_near(*y, sum, 1e-6);
    done(r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_join_without_a_result), cmocka_unit_test(the_last_of_a_sequence), cmocka_unit_test(places_of_items), cmocka_unit_test(readers_of_items), cmocka_unit_test(readers_of_stacked_items),
    cmocka_unit_test(sequences), cmocka_unit_test(chunks_of_a_size), cmocka_unit_test(single_elements), cmocka_unit_test(splits_refused), cmocka_unit_test(rows_of_a_matrix),
};
TAP_MAIN(tests)
