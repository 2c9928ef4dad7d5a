/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_tensors.c - names of weights, by hand. */
#include "tests/check.h"
#include "results/mlperf/rules.h"
#include <stdlib.h>
#include <unistd.h>

/* Each list is sorted. */
static void lists_from_a_table(void **state)
{
    const char text[] = "names,list\nbig,w2 w3 a\nsmall,z b\n", bad[] = "names,pattern\nbig,w2\n";
    char dir[] = "/tmp/podbench-tensors-XXXXXX";
    struct arena a = {0};
    struct tensor_lists t;
    struct err err = { "" };
    (void)state;
    assert_non_null(mkdtemp(dir));
    const char *path = arena_printf(&a, "%s/tensors.csv", dir);
    for (int is_bad = 0; is_bad < 2; is_bad++) {
        FILE *f = fopen(path, "w");
        fputs(is_bad ? bad : text, f);
        fclose(f);
        assert_true(tensor_lists_load(&t, path, &a, &err) == !is_bad);
        if (is_bad)
            break;
        assert_int_equal(t.n, 2);
        const struct name_list *big = tensor_lists_find(&t, "big"), *small = tensor_lists_find(&t, "small");
        assert_true(big->n == 3 && text_is(big->names[0], "a") && text_is(big->names[1], "w2") && text_is(big->names[2], "w3"));
        assert_true(small->n == 2 && text_is(small->names[0], "b") && text_is(small->names[1], "z"));
        assert_null(tensor_lists_find(&t, "none"));
    }
    assert_string_equal(err.msg, arena_printf(&a, "%s:1: no column 'list'; there are: names, pattern", path));
    unlink(path);
    rmdir(dir);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(lists_from_a_table) };
TAP_MAIN(tests)
