/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_tensors.c - names of weights from patterns, by hand. */
#include "tests/check.h"
#include "results/mlperf/rules.h"
#include <stdlib.h>
#include <unistd.h>

static const char *names_of(const char *pattern, struct arena *a)
{
    struct name_list l = {0};
    struct err err;
    const char *text = "";
    if (!name_list_expand(&l, pattern, a, &err))
        return arena_strdup(a, err.msg);
    for (size_t i = 0; i < l.n; i++)
        text = arena_printf(a, "%s%s%s", text, i ? " " : "", l.names[i]);
    return text;
}

/* The last brace varies fastest. */
static void words_and_ranges_in_braces(void **state)
{
    static const char *const cases[][2] = {
        { "bias", "bias" }, { "a{x,yy}b", "axb ayyb" }, { "l{9..11}/w", "l9/w l10/w l11/w" }, { "l{7..7}", "l7" }, { "{1..2}{a,b}{z}", "1az 1bz 2az 2bz" },
        { "a{b", "'a{b': a brace is not closed" }, { "a}b", "a}b" }, { "a{}b", "'a{}b': a brace holds no word" }, { "{,}", "'{,}': a brace holds no word" },
        { "l{4..3}", "'{4..3}' is not a range of numbers" }, { "l{x..3}", "'{x..3}' is not a range of numbers" }, { "l{3..}", "'{3..}' is not a range of numbers" },
        { "l{0..10001}", "'{0..10001}' is not a range of numbers" },
    };
    struct arena a = {0};
    struct name_list l = {0};
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(names_of(cases[i][0], &a), cases[i][1]);
    assert_true(name_list_expand(&l, "l{5..10005}", &a, &err));
    assert_int_equal(l.n, 10001);
    assert_string_equal(l.names[10000], "l10005");
    assert_true(name_list_has(&l, "l10005") && !name_list_has(&l, "l4") && !name_list_has(&l, "l10006"));
    arena_free(&a);
}

/* The rows of a list may be scattered; each list is sorted. */
static void lists_from_a_table(void **state)
{
    const char text[] = "names,pattern\nbig,w{2..3}\nsmall,z\nbig,a\nsmall,b\n", bad[] = "names,pattern\nbig,w{2..1}\n";
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
    assert_string_equal(err.msg, "'{2..1}' is not a range of numbers");
    unlink(path);
    rmdir(dir);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(words_and_ranges_in_braces), cmocka_unit_test(lists_from_a_table) };
TAP_MAIN(tests)
