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

/* A second row with the same name would never be read; a row without rules would stand for an operator that is modelled. */
static void each_row_is_read_and_has_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < onnx_operators.n; i++) {
        const struct onnx_operator *op = &onnx_operators.rows[i];
        bool makes = op->map || op->fold || op->element;
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(op->name, onnx_operators.rows[k].name);
        if (!op->unfold && !op->rough_as && !(op->shape && makes))
            print_error("%s: wants a shape and a mapping, or a folding\n", op->name);
        assert_true(op->unfold || op->rough_as || (op->shape && makes));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_identifier_has_a_row), cmocka_unit_test(unknown_operators_have_rows_of_their_own),
    cmocka_unit_test(each_row_is_read_and_has_rules),
};
TAP_MAIN(tests)
