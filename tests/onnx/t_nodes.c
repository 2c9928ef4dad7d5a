/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_nodes.c - the ONNX project's tests of single operators agree, but for those that nodes.txt lists.
 *
 * A line of nodes.txt is "refused NAME" or "known NAME", as "make onnx-nodes" prints them; a test that agrees by now must leave the list.
 * Skipped where Debian's libonnx-testdata is not installed, or has another release's tests.
 */
#define main nodes_main
#include "tests/onnx/nodes.c"
#undef main
#include "tests/check.h"

static const char folder[] = "/usr/share/libonnx-testdata/data/node";
enum { TESTS_OF_THE_RELEASE = 932 };        /* ONNX 1.12 */

static enum verdict wanted(const char *list, const char *name, struct arena *a)
{
    return strstr(list, arena_printf(a, "refused %s\n", name)) ? REFUSED : strstr(list, arena_printf(a, "known %s\n", name)) ? DIFFERS : AGREES;
}

static void operators_agree(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct dirent **entries;
    char *list;
    (void)state;
    SKIP_WITHOUT(folder);
    int n = scandir(folder, &entries, NULL, alphasort), wrong = 0;
    assert_true(read_text_file(&list, NULL, "tests/onnx/nodes.txt", 1 << 16, &a, &err));
    if (n - 2 != TESTS_OF_THE_RELEASE)
        skip();
    for (int i = 0; i < n; i++) {
        char why[400] = "";
        const char *name = entries[i]->d_name;
        enum verdict v = *name == '.' ? AGREES : (run_test)(folder, name, why, sizeof why);
        if (v != wanted(list, name, &a)) {
            print_error("%s: %s\n", name, v == AGREES ? "agrees, and is on the list of those that do not" : why);
            wrong++;
        }
        free(entries[i]);
    }
    free(entries);
    assert_int_equal(wrong, 0);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(operators_agree) };
TAP_MAIN(tests)
