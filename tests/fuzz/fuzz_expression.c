/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_expression.c - any text as an expression of the rules, computed on a line with members of every kind. */
#include "tests/fuzz/fuzz.h"
#include "results/mlperf/rules.h"

static bool any_lookup(struct value *out, void *user, const char *kind, const char *argument, struct err *err)
{
    static char *names[] = { "a", "b" };
    static const struct name_list list = { names, 2, 2 };
    (void)user, (void)kind;
    *out = value_of_names(&list);
    return *argument == 't' || fail(err, "no such table");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    struct err err = {0};
    struct expression e;
    const struct expression_names known = { rule_variables, any_lookup, NULL };
    struct value v, number = { .kind = VALUE_NUMBER, .number = 3 };
    char *names[] = { "b", "a" };
    struct name_list list = { names, 2, 2 };
    struct value listed = value_of_names(&list);
    struct rule_state st = { .n = 0 };
    json_t *m = json_pack("{s:i, s:s, s:[i,i], s:{s:f}, s:n}", "epoch_num", 4, "t", "text", "l", 7, 8, "o", "FID", 88.5, "z");
    char *text = arena_alloc(&a, n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = data[i] ? (char)data[i] : ' ';
    rule_state_set(&st, "x", &number);
    rule_state_set(&st, "names", &listed);
    struct rule_scope s = rule_scope_of(m, m, 61000, &st);
    if (expression_parse(&e, text, &known, "fuzz", &a, &err)) {
        bool has_value = expression_compute(&v, &e, s.variables);
        if (has_value != (expression_holds(&e, s.variables) != TRUTH_NONE))
            abort();                    /* a value is true or not; no value is neither */
    } else if (!*err.msg) {
        abort();                        /* a refusal says why */
    }
    json_decref(m);
    arena_free(&a);
    return 0;
}
