/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_nodes.c - the ONNX project's tests of single operators that agree must go on agreeing.
 *
 * agreeing.txt lists those for which "make onnx-nodes" prints "agrees". Skipped if they are not installed (Debian's
 * libonnx-testdata); tests that another release of it lacks are skipped too.
 */
#define main nodes_main
#include "tests/onnx/nodes.c"
#undef main
#include "tests/check.h"

static const char folder[] = "/usr/share/libonnx-testdata/data/node";

static void operators_agree(void **state)
{
    struct arena a = { 0 };
    struct err err;
    char *names, *name;
    unsigned n = 0;
    (void)state;
    SKIP_WITHOUT(folder);
    assert_true(read_text_file(&names, NULL, "tests/onnx/agreeing.txt", 1 << 20, &a, &err));
    while ((name = strsep(&names, "\n")) && *name) {
        char why[400] = "";
        if (access(arena_printf(&a, "%s/%s", folder, name), R_OK) != 0)
            continue;
        enum verdict v = (run_test)(folder, name, why, sizeof why);
        if (v != AGREES)
            print_error("%s: %s\n", name, why);
        assert_int_equal(v, AGREES);
        n++;
    }
    assert_true(n > 400);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(operators_agree) };
TAP_MAIN(tests)
