/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_expression.c - any text as an expression of the rules, computed on a line with members of every kind. */
#include "tests/fuzz/fuzz.h"
#include "results/mlperf/expression.h"

static const struct name_list *any_table(void *user, const char *name)
{
    static char *names[] = { "a", "b" };
    static const struct name_list list = { names, 2, 2 };
    (void)user;
    return *name == 't' ? &list : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    struct err err = {0};
    struct expression *e;
    struct expression_tables tables = { any_table, NULL };
    struct value v, number = { .kind = VALUE_NUMBER, .number = 3 };
    char *names[] = { "b", "a" };
    struct name_list list = { names, 2, 2 };
    struct value listed = { .kind = VALUE_NAMES, .names = &list };
    struct state st = { .n = 0 };
    json_t *m = json_pack("{s:i, s:s, s:[i,i], s:{s:f}, s:n}", "epoch_num", 4, "t", "text", "l", 7, 8, "o", "FID", 88.5, "z");
    char *text = arena_alloc(&a, n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = data[i] ? (char)data[i] : ' ';
    state_set(&st, "x", &number);
    state_set(&st, "names", &listed);
    struct scope s = { m, m, 61000, &st };
    if (expression_parse(&e, text, &tables, "fuzz", &a, &err)) {
        bool known = expression_compute(&v, e, &s);
        if (known != (expression_holds(e, &s) != TRUTH_NONE))
            abort();                    /* a value is true or not; no value is neither */
    } else if (!*err.msg) {
        abort();                        /* a refusal says why */
    }
    json_decref(m);
    arena_free(&a);
    return 0;
}
