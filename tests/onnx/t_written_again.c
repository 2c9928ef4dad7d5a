/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_written_again.c - what no built-in model has: selections, borders and whole numbers, read from a file, written as another one, and read again. */
#include "tests/onnx/import.h"

static void selections_borders_and_whole_numbers(void **state)
{
    struct err err = { "" };
    struct draft *d = draft_start(17);
    (void)state;
    draft_text(d, "x: batch,5; n: int64 batch,5; Cast n > c to=9; other = 0.75; Where c x other > h; pads = [0,1,0,2]; edge = 3.5; Pad h pads edge > p; "
                  "ten = 10.0; Mul p ten > t; Cast t > whole to=6; Cast whole > f to=1; Relu f > y");
    struct imported *first = import(d, "y", infer), *second = calloc(1, sizeof *second);
    assert_string_equal(first->err.msg, "");
    assert_int_equal(count_kind(&first->g, OP_SELECT) + 10 * count_kind(&first->g, OP_PAD), 11);
    assert_true(count_kind(&first->g, OP_CAST) > 0);
    onnx_write(model_path(), &first->g, (uint64_t[]){ 3 }, &err);
    assert_string_equal(err.msg, "");
    struct onnx_options o = infer;
    o.batch = 1, o.contents = true;
    second->good = onnx_build(&second->g, &second->im, model_path(), &o, &second->arena, &second->err);
    unlink(model_path());
    unlink(arena_printf(&second->arena, "%s.data", model_path()));
    const double *a = outputs(first), *b = outputs(second);
    for (int i = 0; i < 8; i++)
        assert_near(a[i], b[i], 0);
    /* One border, 3.5 x 10, before the row of five, and two after it; what is between is whole, and 7.5 cut off where n is 0. */
    assert_true(a[0] == 35 && a[6] == 35 && a[7] == 35);
    bool other = false, own = false;
    for (int i = 1; i < 6; i++) {
        assert_near(a[i], trunc(a[i]), 0);
        other |= a[i] == 7;
        own |= a[i] != 7;
    }
    assert_true(other && own);
    done(first);
    done(second);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(selections_borders_and_whole_numbers) };
TAP_MAIN(tests)
