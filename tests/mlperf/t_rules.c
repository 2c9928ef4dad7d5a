/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_rules.c - the table of rules: every edition loads, layers are called for as the official checkers do, and bad rows are refused by line. */
#include "tests/check.h"
#include "results/mlperf/judge.h"
#include "tests/mlperf/judged.h"

static struct rule_library load(struct arena *a)
{
    struct rule_library l;
    struct err err = { "" };
    if (!rules_load(&l, "results/rules", a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
    return l;
}

static const char *layers_of(struct rule_library *l, const char *round, const char *division, const char *benchmark, const char *optimizer,
                             struct arena *a)
{
    const struct rule_book *b;
    struct err err;
    struct layer_calls c = { .n = 0 };
    struct layer_queue q;
    assert_true(rules_of(&b, l, round, &err));
    const char *pairs[][2] = { { "submission_division", division }, { "submission_benchmark", benchmark }, { "opt_name", optimizer } };
    for (size_t i = 0; i < 3; i++)
        if (pairs[i][1])
            c.items[c.n].key = pairs[i][0], c.items[c.n++].value = pairs[i][1];
    layer_queue_fill(&q, &c, b, a);
    const char *names = "";
    for (size_t i = 0; i < q.n; i++)
        names = arena_printf(a, "%s%s%s", names, i ? " " : "", q.layers[i]->name);
    return q.missing ? arena_printf(a, "%s, no %s", names, q.missing) : names;
}

static void test_layers(void **state)
{
    struct arena a = { 0 };
    struct rule_library l = load(&a);
    (void)state;
    assert_string_equal(layers_of(&l, "v2.0", "closed", "resnet", "lars", &a), "common closed_common closed_resnet closed_resnet_lars");
    assert_string_equal(layers_of(&l, "v2.0", "closed", "bert", "lamb", &a), "common closed_common closed_bert");
    assert_string_equal(layers_of(&l, "v1.1", "open", "dlrm", NULL, &a), "common open_common open_dlrm");
    assert_string_equal(layers_of(&l, "v4.0", "closed", "resnet", "sgd", &a), "common closed_common closed_resnet closed_resnet_sgd");
    assert_string_equal(layers_of(&l, "v4.1", "closed", "resnet", "sgd", &a), "common closed_common, no closed_resnet");
    assert_string_equal(layers_of(&l, "v3.0", "open", "gpt3", NULL, &a), "common open_common, no open_gpt3");
    assert_string_equal(layers_of(&l, "v2.0", NULL, "bert", NULL, &a), "common");
    arena_free(&a);
}

/* Every benchmark that an edition takes in its closed division has rules, unless the official checker stops there too. */
static void test_every_edition(void **state)
{
    struct arena a = { 0 };
    struct rule_library l = load(&a);
    struct round_table rounds;
    struct err err;
    size_t n = 0;
    (void)state;
    assert_true(round_table_load(&rounds, "workloads/convergence", &a, &err));
    for (size_t i = 0; i < rounds.n; i++) {
        const struct round_terms *t = &rounds.items[i];
        if (!t->allowed)
            continue;
        const char *layers = layers_of(&l, t->ruleset, "closed", t->benchmark, NULL, &a);
        if (strstr(layers, ", no "))
            print_error("%s %s: %s\n", t->ruleset, t->benchmark, layers);
        assert_null(strstr(layers, ", no "));
        n++;
    }
    assert_int_equal(n, 80);
    assert_int_equal(l.n_books, 10);
    arena_free(&a);
}

/* Every reference list of a round's benchmark can be loaded, and its expressions read. */
static void test_every_benchmark(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct judge_options options = { .rules_dir = "results/rules", .data_dir = "workloads/convergence" };
    struct judge j;
    (void)state;
    assert_true(judge_load(&j, &options, &a, &err));
    for (size_t i = 0; i < j.rounds.n; i++) {
        const struct benchmark_rules *b;
        const struct round_terms *t = &j.rounds.items[i];
        if (!judge_benchmark(&b, &j, edition_find(t->ruleset), t->benchmark, &err))
            print_error("%s\n", err.msg);
        assert_string_equal(err.msg, "");
        assert_true(b->has_reference == (b->point != NULL && t->reference_convergence));
        for (size_t k = 0; b->has_reference && k < b->reference.n; k++)
            assert_true(b->reference.points[k].least > 0 && b->reference.points[k].least <= b->reference.points[k].mean);
    }
    arena_free(&a);
}

static void test_bad_rows(void **state)
{
    static const struct { const char *row, *want; } bad[] = {
        { "2.0.0,common,k,twice,,,,error,s", "occurs: 'twice', want nothing, 1, N+, 1+ of KEY KEY, begin or end" },
        { "2.0.0,common,k,1,v>,,,error,s", "'v>': at '', want a value" },
        { "2.0.0,common,k,1,,,x:=1,error,s", "action: 'x', want st.NAME:=VALUE, append, apply or gather" },
        { "2.0.0,common,k,1,,,apply closed,error,s", "action: apply closed, want apply \"LAYER\"" },
        { "2.0.0,common,k,1,,,append v,error,s", "action: want append VALUE to st.NAME" },
        { "2.0.0,common,k,1,,,gather v,error,s", "action: want gather KEY into KEY by MEMBER" },
        { "2.0.0,common,k,1,,,,mild,s", "severity: 'mild', want error, warning or absent: warning" },
        { "2.0.0,common,k,begin,,,,error,s", "key: 'k' with occurs 'begin'" },
        { "2.0.0,common,k,1,,,,error,", "source is empty" },
    };
    struct arena a = { 0 };
    (void)state;
    const char *dir = arena_printf(&a, "/tmp/podbench-test-rules-%ld", (long)getpid());
    assert_true(make_folders(dir, NULL));
    const char *rules = arena_printf(&a, "%s/rules.csv", dir), *tensors = arena_printf(&a, "%s/tensors.csv", dir);
    FILE *f = fopen(tensors, "w");
    fputs("names,pattern,source\ntwo,\"{a,b}\",s\n", f);
    fclose(f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rule_library l;
        struct err err = { "" };
        f = fopen(rules, "w");
        fprintf(f, "rulesets,layer,key,occurs,check,once,action,severity,source\n%s\n", bad[i].row);
        fclose(f);
        assert_false(rules_load(&l, dir, &a, &err));
        assert_string_equal(err.msg, arena_printf(&a, "%s:2: %s", rules, bad[i].want));
    }
    unlink(rules), unlink(tensors), rmdir(dir);
    arena_free(&a);
}

/* The value is shown where the rule asks for it, wherever it stands; of names with a v in them it is not. */
static void test_the_value_is_shown_where_it_is_asked_for(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct judge judge;
    struct lint lint;
    char *text;
    (void)state;
    const char *dir = arena_printf(&a, "/tmp/podbench-test-rules-%ld", (long)getpid());
    assert_true(make_folders(dir, NULL));
    const char *rules = arena_printf(&a, "%s/rules.csv", dir), *tensors = arena_printf(&a, "%s/tensors.csv", dir);
    FILE *out = fopen(rules, "w");
    fputs("rulesets,layer,key,occurs,check,once,action,severity,source\n2.0.0,common,,begin,,,st.evals:=5,error,s\n"
          "2.0.0,common,a,1,st.evals<v,,,error,s\n2.0.0,common,b,1,st.evals<4,,,error,s\n2.0.0,common,c,1,v>st.evals,,,error,s\n", out);
    fclose(out);
    out = fopen(tensors, "w");
    fputs("names,pattern,source\n", out);
    fclose(out);
    const char *fields = arena_printf(&a, "%s/system_fields.csv", dir), *log = temp_file("", 0, ".txt");
    char here[512];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(symlink(arena_printf(&a, "%s/results/rules/system_fields.csv", here), fields), 0);
    out = fopen(log, "w");
    for (int k = 'a'; k <= 'c'; k++)
        fprintf(out, ":::MLLOG {\"key\": \"%c\", \"value\": 3, \"time_ms\": 1, \"event_type\": \"\", \"namespace\": \"\", \"metadata\": {}}\n", k);
    fclose(out);
    struct judge_options options = { .ruleset = "2.0.0", .rules_dir = dir, .data_dir = "workloads/convergence" };
    PRINTED(text, assert_true(judge_load(&judge, &options, &a, &err) && lint_begin(&lint, f, LINT_TEXT, &judge, no_notice, &err)
                              && lint_path(&lint, log, &err));
            lint_end(&lint));
    assert_non_null(strstr(text, "is 3, want st.evals<v (2.0.0 common)"));
    assert_non_null(strstr(text, "is 3, want v>st.evals (2.0.0 common)"));
    assert_non_null(strstr(text, "want st.evals<4 (2.0.0 common)"));
    assert_null(strstr(text, "is 3, want st.evals<4"));
    free(text);
    unlink(log), unlink(fields), unlink(rules), unlink(tensors), rmdir(dir);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_layers), cmocka_unit_test(test_every_edition),
                                        cmocka_unit_test(test_every_benchmark), cmocka_unit_test(test_bad_rows),
                                        cmocka_unit_test(test_the_value_is_shown_where_it_is_asked_for) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
