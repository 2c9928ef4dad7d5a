/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_table.c - the table of operators is consistent: names and identifiers once each, and every rule that a row needs.
 */
#include "tests/check.h"
#include "workloads/onnx/onnx_model.h"

/* A gap would end the program in onnx_operator_by_id. */
static void every_identifier_has_a_row(void **state)
{
    struct arena a = { 0 };
    (void)state;
    for (int id = ONNX_OP_OTHER + 1; id < N_ONNX_OPS; id++) {
        const struct onnx_operator *op = onnx_operator_by_id(&onnx_operators, (enum onnx_op)id);
        assert_int_equal(op->id, id);
        assert_ptr_equal(onnx_operator_named(&onnx_operators, op->name, &a), op);
    }
    arena_free(&a);
}

static void unknown_operators_have_rows_of_their_own(void **state)
{
    struct arena a = { 0 };
    const struct onnx_operator *op = onnx_operator_named(&onnx_operators, "Frobnicate", &a);
    (void)state;
    assert_string_equal(op->name, "Frobnicate");
    assert_int_equal(op->id, ONNX_OP_OTHER);
    assert_true(!op->shape && !op->map && !op->fold && !op->unfold && !op->rough_as);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_identifier_has_a_row), cmocka_unit_test(unknown_operators_have_rows_of_their_own),
};
TAP_MAIN(tests)
