/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_rules.c - the table of rules: every edition loads, layers are called for as the official checkers do, and bad
 * rows are refused by line. */
#include "tests/check.h"
#include "results/mlperf/mlperf.h"
#include "results/mlperf/rules.h"
#include "tests/mlperf/judged.h"
#include "tests/rounds_folder.h"

static struct rule_library load(struct arena *a)
{
    struct rule_library l;
    struct err err = { "" };
    if (!rules_load(&l, "workloads/convergence", a, &err))
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
    assert_true(rules_of_round(&b, l, round, &err));
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

/* Every benchmark that an edition takes in its closed division has rules, unless the official checker stops there
 * too. */
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
        const char *layers = layers_of(&l, t->edition->ruleset, "closed", t->benchmark, NULL, &a);
        if (strstr(layers, ", no "))
            print_error("%s %s: %s\n", t->edition->ruleset, t->benchmark, layers);
        assert_null(strstr(layers, ", no "));
        n++;
    }
    assert_int_equal(n, 111);
    assert_int_equal(l.n_books, 16);
    arena_free(&a);
}

/* Every reference list of a round's benchmark can be loaded, and its expressions read. */
static void test_every_benchmark(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct judge_options options = { .data_dir = "workloads/convergence" };
    struct judge j;
    (void)state;
    assert_true(judge_load(&j, &options, &a, &err));
    for (size_t i = 0; i < j.rounds.n; i++) {
        const struct benchmark_rules *b;
        const struct round_terms *t = &j.rounds.items[i];
        if (!judge_benchmark(&b, &j, t->edition, t->benchmark, &err))
            print_error("%s\n", err.msg);
        assert_string_equal(err.msg, "");
        assert_true(b->has_reference == (b->point.text != NULL && t->reference_convergence));
        for (size_t k = 0; b->has_reference && k < b->reference.n; k++)
            assert_true(b->reference.points[k].least > 0 && b->reference.points[k].least <= b->reference.points[k].mean);
    }
    arena_free(&a);
}

/* A folder of rounds with these rules. */
static const char *folder_of_rules(const char *rows, struct arena *a)
{
    const char *dir = arena_printf(a, "/tmp/podbench-test-rules-%ld", (long)getpid());
    rounds_folder_remove(dir, a);
    rounds_folder_put(dir, "v2.0", "tensors.csv", "names,list,source\ntwo,a b,s\nfive,a b c d e,s\n", a);
    rounds_folder_put_rows(dir, "rules.csv", "layer,key,occurs,check,once,action,severity,source\n", rows, a);
    return dir;
}

static int remove_rules(void **state)
{
    struct arena a = { 0 };
    (void)state;
    rounds_folder_remove(arena_printf(&a, "/tmp/podbench-test-rules-%ld", (long)getpid()), &a);
    arena_free(&a);
    return 0;
}

static void test_bad_rows(void **state)
{
    static const struct { const char *row, *want; } bad[] = {
        { "2.0.0,common,k,twice,,,,error,s", "occurs: 'twice', want nothing, 1, N+, 1+ of KEY KEY, begin or end" },
        { "2.0.0,common,k,+,,,,error,s", "occurs: '+', want nothing, 1, N+, 1+ of KEY KEY, begin or end" },
        { "2.0.0,common,k,1,v>,,,error,s", "'v>': at 'the end', want a value" },
        { "2.0.0,common,k,1,,,x:=1,error,s", "action: 'x', want st.NAME:=VALUE, append, apply or gather" },
        { "2.0.0,common,k,1,,,apply closed,error,s", "action: apply closed, want apply \"LAYER\", or apply \"LAYER\" for \"VALUE\"" },
        { "2.0.0,common,k,1,,,\"apply \"\"\",error,s", "action: apply \", want apply \"LAYER\", or apply \"LAYER\" for \"VALUE\"" },
        { "2.0.0,common,k,1,,,\"apply \"\"closed\",error,s", "action: apply \"closed, want apply \"LAYER\", or apply \"LAYER\" for \"VALUE\"" },
        { "2.0.0,common,k,1,,,append v,error,s", "action: want append VALUE to st.NAME" },
        { "2.0.0,common,k,1,,,gather v,error,s", "action: want gather KEY into KEY by MEMBER" },
        { "2.0.0,common,k,1,,,,mild,s", "severity: 'mild', want one of: 'error', 'warning', 'absent: warning', 'review'" },
        { "2.0.0,common,k,begin,,,,error,s", "key: 'k' does not go with occurs 'begin': rows of begin and end have no key, all others have one" },
        { "2.0.0,common,k,1,,,,error,", "source is empty" },
        { "2.0.0,common,k,1+ of a b c d,,,,error,s", "occurs: more than 3 keys in a group" },
        { "2.0.0,common,k,1,v ;; v ;; v ;; v ;; v ;; v ;; v,,,error,s", "check: more than 6 parts" },
        { "2.0.0,common,k,1,,,st.a:=1; st.b:=1; st.c:=1; st.d:=1; st.e:=1; st.f:=1; st.g:=1,error,s", "action: more than 6 parts" },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rule_library l;
        const struct rule_book *b;
        struct err err = { "" };
        const char *dir = folder_of_rules(bad[i].row, &a);
        assert_true(rules_load(&l, dir, &a, &err));
        assert_false(rules_of_round(&b, &l, "v2.0", &err));
        assert_string_equal(err.msg, arena_printf(&a, "%s/rounds/v2.0/rules.csv:2: %s", dir, bad[i].want));
    }
    arena_free(&a);
}

/* As many parts as a rule may have; and mistakes that show only when an edition is requested. */
static void test_rows_at_their_limits(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct rule_library l;
    const struct rule_book *b;
    size_t at;
    (void)state;
    assert_true(rules_load(&l, folder_of_rules("2.0.0,common,k,1+ of a b c,v ;; v ;; v ;; v ;; v ;; v,,st.a:=1; st.b:=1; st.c:=1; st.d:=1; st.e:=1; st.f:=[],error,s\n"
                                               "2.0.0 2.1.0,common,j,13+,,,\"apply \"\"\"\"; gather x into y by z; append v to st.w\",warning,s\n"
                                               "2.1.0,other,j,,,,,error,s", &a), &a, &err));
    assert_true(rules_of_round(&b, &l, "v2.0", &err));
    assert_int_equal(b->n_layers, 1);
    const struct rule *k = rule_find(&b->layers[0], "k", &at), *j = rule_find(&b->layers[0], "j", &at);
    assert_int_equal(at, 0);
    assert_true(k->occurs == OCCURS_ANY_OF && k->n_of == 3 && k->n_checks == 6 && k->n_actions == 6 && !k->only_warns);
    assert_true(k->actions[5].kind == ACTION_NEW_NAMES && k->actions[4].kind == ACTION_SET);
    assert_string_equal(k->actions[5].name, "f");
    assert_true(j->occurs == OCCURS_TIMES && j->at_least == 13 && j->n_actions == 3 && j->only_warns);
    assert_string_equal(j->actions[0].name, "");
    assert_string_equal(j->actions[1].member, "z");
    assert_string_equal(j->actions[2].name, "w");
    assert_null(rule_find(&b->layers[0], "l", &at));
    assert_null(rule_layer_find(b, "other"));
    assert_true(rules_of_round(&b, &l, "v2.1", &err));
    assert_ptr_equal(rule_layer_find(b, "other"), &b->layers[1]);
    assert_false(rules_of_round(&b, &l, "v9.9", &err));
    assert_non_null(strstr(err.msg, "round 'v9.9' is unknown; known: v2.0, v2.1"));
    assert_true(rules_load(&l, folder_of_rules("2.0.0,common,k,1,,,,error,s\n2.0.0,common,a,1,,,,error,s\n2.0.0,common,k,,,,,error,s", &a), &a, &err));
    for (int again = 0; again < 2; again++) {
        assert_false(rules_of_round(&b, &l, "v2.0", &err));
        assert_non_null(strstr(err.msg, "/rounds/v2.0/rules.csv: layer common: key 'k' appears twice"));
    }
    arena_free(&a);
}

/* A rule may have a sentence for each condition; messages show it, or else the condition. */
static void test_sentences(void **state)
{
    static const struct { const char *texts, *want; } cases[] = {
        { "must be above 4 ;; must be 7", NULL }, { "", NULL }, { "must be above 4", "check_text: a sentence is missing for 'v==7'" },
        { "a ;; b ;; c", "check_text: more sentences than conditions" },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rule_library l;
        const struct rule_book *b;
        struct err err = { "" };
        size_t at;
        const char *dir = folder_of_rules("2.0.0,common,k,1,,,,error,s", &a);
        rounds_folder_put_rows(dir, "rules.csv", "layer,key,occurs,check,check_text,once,once_text,action,severity,source\n",
                               arena_printf(&a, "2.0.0,common,k,1,v>4 ;; v==7,%s,v>5,must be above 5,,error,s", cases[i].texts), &a);
        assert_true(rules_load(&l, dir, &a, &err));
        assert_true(rules_of_round(&b, &l, "v2.0", &err) == !cases[i].want);
        if (cases[i].want) {
            assert_non_null(strstr(err.msg, cases[i].want));
            continue;
        }
        const struct rule *k = rule_find(&b->layers[0], "k", &at);
        assert_string_equal(rule_wants(&k->checks[1], "", k, b->edition, &a), *cases[i].texts ? "must be 7 (2.0.0 common)" : "must fulfil v==7 (2.0.0 common)");
        assert_string_equal(rule_wants(&k->once, "", k, b->edition, &a), "must be above 5 (2.0.0 common)");
    }
    arena_free(&a);
}

/* Every condition in the tables has a sentence. */
static void test_every_rule_has_sentences(void **state)
{
    struct arena a = { 0 };
    struct rule_library l = load(&a);
    const struct rule_book *b;
    (void)state;
    for (size_t i = 0; i < l.rounds->n_editions; i++) {
        assert_true(rules_of(&b, &l, &l.rounds->editions[i], NULL));
        for (size_t k = 0; k < b->n_rules; k++)
            for (size_t c = 0; c < b->rules[k].n_checks; c++)
                assert_true(*b->rules[k].checks[c].text && (!b->rules[k].once.text || *b->rules[k].once.text));
    }
    arena_free(&a);
}

#define LINE(key, value) ":::MLLOG {\"key\": \"" key "\", \"value\": " value ", \"time_ms\": 1, \"event_type\": \"\", \"namespace\": \"\", \"metadata\": {}}\n"

/* The output of lint for a log by these rules. */
static char *lint_as(enum output_format format, const char *rows, const char *lines, struct arena *a)
{
    struct err err = { "" };
    struct judge judge;
    struct lint lint;
    char *text;
    const char *log = temp_file(lines, strlen(lines), ".txt");
    struct judge_options options = { .ruleset = "2.0.0", .data_dir = folder_of_rules(rows, a) };
    assert_true(judge_load(&judge, &options, a, &err));
    lint_begin(&lint, format, &judge, no_notice, a);
    assert_true(lint_path(&lint, log, &err));
    PRINTED(text, lint_end(&lint, f));
    unlink(log);
    return text;
}

static char *lint_of_log(const char *rows, const char *lines, struct arena *a)
{
    return lint_as(FORMAT_TEXT, rows, lines, a);
}

/* The refused keys, each once, in the order of the log; a message without a key is listed by its text. */
static void test_keys_on_one_line(void **state)
{
    struct arena a = { 0 };
    char *text = lint_as(FORMAT_TAP, "2.0.0,common,a,3+,v==3,,,error,s\n2.0.0,common,b,1+,v==4,,,error,s\n2.0.0,common,c,1+,v==4,,,warning,s\n2.0.0,common,d,1+,v==4,,,error,s\n"
                                   "2.0.0,common,,end,1==2,,,error,s", LINE("a", "4") LINE("b", "3") LINE("c", "5") LINE("d", "1") LINE("b", "5") LINE("d", "6"), &a);
    (void)state;
    assert_non_null(strstr(text, ": compliance: a; b; d; must fulfil 1==2 (2.0.0 common)\n"));
    free(text);
    arena_free(&a);
}

/* A log with so many lines of key a and of key b, each with the value 3. */
static char *lint_of_lines(const char *rows, int n_a, int n_b, struct arena *a)
{
    char *lines;
    PRINTED(lines, for (int i = 0; i < n_a + n_b; i++) fputs(i < n_a ? LINE("a", "3") : LINE("b", "3"), f));
    char *text = lint_of_log(rows, lines, a);
    free(lines);
    return text;
}

static char *lint_of_three(const char *rows, struct arena *a)
{
    return lint_of_lines(rows, 2, 1, a);
}

/* A hundred thousand names may be listed: five by each of 20,000 lines, or slightly fewer and one by each of ten
 * lines. */
static void test_as_many_names_as_may_be_listed(void **state)
{
    static const char rows[] = "2.0.0,common,,begin,,,st.w:=[],error,s\n2.0.0,common,a,1+,,,append v to st.w; append v to st.w; append v to st.w; "
                               "append v to st.w; append v to st.w,error,s\n2.0.0,common,b,1+,,,append v to st.w,error,s";
    struct arena a = { 0 };
    (void)state;
    for (int more = 0; more < 2; more++) {
        char *text = lint_of_lines(rows, 19998, 10 + more, &a);
        assert_int_equal(strstr(text, "error: the official checker stops here: more names are listed than any model has") != NULL, more);
        free(text);
    }
    arena_free(&a);
}

static void test_how_often_a_key_is_logged(void **state)
{
    static const struct { const char *key, *occurs, *severity, *said; } cases[] = {
        { "a", "1", "error", "warning: a: is logged 2 times with one value, the last on line 2, want it exactly once (2.0.0 common)" }, { "b", "1", "error", NULL },
        { "c", "1", "error", "error: c: is not logged, want it exactly once (2.0.0 common)" }, { "c", "1", "warning", "warning: c: is not logged, want it exactly once" },
        { "c", "1", "absent: warning", "warning: c: is not logged, want it exactly once" }, { "c", "3+", "warning", "warning: c: is logged 0 times, want it at least 3 times" },
        { "a", "3+", "absent: warning", "warning: a: is logged 2 times, want it at least 3 times" },
        { "c", "1+", "error", "error: c: is not logged, want it at least once (2.0.0 common)" }, { "c", "2+", "error", "error: c: is logged 0 times, want it at least 2 times" },
        { "a", "2+", "error", NULL }, { "a", "3+", "error", "error: a: is logged 2 times, want it at least 3 times" }, { "b", "1+", "error", NULL },
        { "b", "1+ of c b", "error", NULL }, { "c", "1+ of c d", "error", "error: c or d: is not logged, want one of them at least once" },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = lint_of_three(arena_printf(&a, "2.0.0,common,%s,%s,,,,%s,s", cases[i].key, cases[i].occurs, cases[i].severity), &a);
        if (cases[i].said && !strstr(text, cases[i].said))
            print_error("%s\n", text);
        assert_true(cases[i].said ? strstr(text, cases[i].said) != NULL : !strstr(text, "want it"));
        free(text);
    }
    arena_free(&a);
}

/* A call for layers is kept once for each key and value, cut at a hundred characters; thirty-two fit. */
static void test_what_calls_for_layers(void **state)
{
    struct arena a = { 0 };
    struct layer_calls c = { .n = 0 };
    char text[103];
    (void)state;
    memset(text, 'x', sizeof text);
    text[102] = '\0';
    const struct { const char *key, *value; size_t n; } adds[] = {
        { "k", "v", 1 }, { "k", "w", 2 }, { "j", "v", 3 }, { "j", "w", 4 }, { "k", "v", 4 }, { "j", "v", 4 }, { "k", text, 5 }, { "k", text + 1, 5 },
        { "k", text + 2, 5 }, { "k", text + 3, 6 },
    };
    for (size_t i = 0; i < sizeof adds / sizeof *adds; i++) {
        layer_calls_add(&c, adds[i].key, adds[i].value, &a);
        assert_int_equal(c.n, adds[i].n);
    }
    assert_string_equal(c.items[1].key, "k");
    assert_string_equal(c.items[1].value, "w");
    assert_string_equal(c.items[4].value, text + 2);
    for (int i = 0; i < 30; i++) {
        layer_calls_add(&c, "k", arena_printf(&a, "%d", i), &a);
        assert_int_equal(c.n, i < 26 ? 7 + i : 32);
    }
    assert_string_equal(c.items[31].value, "25");
    arena_free(&a);
}

/* Sixteen layers may be called for, each once; an unknown layer, or one more, is missing. */
static void test_as_many_layers_as_may_be_called(void **state)
{
    static const struct { int n; const char *missing; } cases[] = { { 3, NULL }, { 15, NULL }, { 16, "layer_16" }, { 17, "layer_16" } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct err err = { "" };
        struct rule_library l;
        const struct rule_book *b;
        struct layer_calls c = { .n = 0 };
        struct layer_queue q;
        const char *rows = "2.0.0,common,k,,,,\"apply \"\"layer_{}\"\"\",error,s";
        for (int k = 1; k <= cases[i].n; k++) {
            rows = arena_printf(&a, "%s\n2.0.0,layer_%d,x,,,,,error,s", rows, k);
            for (int again = 0; again < 1 + (k < 14); again++)
                c.items[c.n].key = "k", c.items[c.n++].value = arena_printf(&a, "%d", k);
        }
        assert_true(rules_load(&l, folder_of_rules(rows, &a), &a, &err) && rules_of_round(&b, &l, "v2.0", &err));
        layer_queue_fill(&q, &c, b, &a);
        assert_int_equal(q.n, cases[i].n < 16 ? cases[i].n + 1 : 16);
        assert_true(cases[i].missing ? text_is(q.missing, cases[i].missing) : !q.missing);
        assert_string_equal(q.layers[q.n - 1]->name, arena_printf(&a, "layer_%zu", q.n - 1));
        arena_free(&a);
    }
}

/* Ten unreadable lines are reported, whatever else the log holds. */
static void test_lines_that_cannot_be_read(void **state)
{
    (void)state;
    for (size_t n = 9; n < 12; n++) {
        struct arena a = { 0 };
        const char *lines = LINE("a", "3");
        size_t told = 0;
        for (size_t i = 0; i < n; i++)
            lines = arena_printf(&a, "%s:::MLLOG {%zu\n" LINE("a", "3"), lines, i);
        char *text = lint_of_log("2.0.0,common,a,1+,,,,error,s", lines, &a);
        for (const char *at = text; (at = strstr(at, "is not JSON")); at++)
            told++;
        assert_int_equal(told, n < 10 ? n : 10);
        assert_non_null(strstr(text, arena_printf(&a, ":%zu: error: is not JSON", 2 * told)));
        assert_null(strstr(text, arena_printf(&a, ":%zu: error: is not JSON", 2 * told + 2)));
        free(text);
        arena_free(&a);
    }
}

/* A layer that calls for itself, or that two layers call for, is queued once. */
static void test_layers_are_called_once(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct rule_library l;
    const struct rule_book *b = NULL;
    struct layer_calls c = { .items = { { "k", "v" }, { "j", "v" } }, .n = 2 };
    struct layer_queue q;
    (void)state;
    assert_true(rules_load(&l, folder_of_rules("2.0.0,common,k,,,,\"apply \"\"common\"\"; apply \"\"other\"\"\",error,s\n"
                                               "2.0.0,common,j,,,,\"apply \"\"other\"\"\",error,s\n2.0.0,other,j,,,,\"apply \"\"common\"\"\",error,s\n"
                                               "2.0.0,other,h,,,,\"st.x:=1; st.y:=2; apply \"\"common\"\"\",error,s\n2.0.0,other,g,,,,st.x:=1,error,s", &a), &a, &err)
                && rules_of_round(&b, &l, "v2.0", &err));
    layer_queue_fill(&q, &c, b, &a);
    assert_int_equal(q.n, 2);
    assert_true(text_is(q.layers[0]->name, "common") && text_is(q.layers[1]->name, "other") && !q.missing);
    assert_int_equal(b->apply_keys.n, 3);                /* the keys whose values are collected */
    assert_true(name_list_has(&b->apply_keys, "k") && name_list_has(&b->apply_keys, "j") && name_list_has(&b->apply_keys, "h"));
    arena_free(&a);
}

/* Every row at the end is judged, also after one that passes. */
static void test_rows_at_the_end(void **state)
{
    struct arena a = { 0 };
    char *text = lint_of_three("2.0.0,common,,begin,,,st.n:=3,error,s\n2.0.0,common,,end,st.n==3,,,error,s\n2.0.0,common,,end,st.n>4 ;; st.n<2,,,error,s\n"
                               "2.0.0,common,,end,st.n>5,,,warning,s", &a);
    (void)state;
    assert_null(strstr(text, "must fulfil st.n==3"));
    assert_non_null(strstr(text, "error: must fulfil st.n>4 (2.0.0 common)"));
    assert_non_null(strstr(text, "error: must fulfil st.n<2 (2.0.0 common)"));
    assert_non_null(strstr(text, "warning: must fulfil st.n>5 (2.0.0 common)"));
    free(text);
    arena_free(&a);
}

/* Sixteen states may be kept, and overwritten. */
static void test_as_many_states_as_may_be_kept(void **state)
{
    static const char rows[] = "2.0.0,common,,begin,,,st.a:=1; st.b:=2; st.c:=3; st.d:=4; st.e:=5; st.f:=6,error,s\n"
                               "2.0.0,common,,begin,,,st.g:=1; st.h:=2; st.i:=3; st.j:=4; st.k:=5; st.l:=6,error,s\n"
                               "2.0.0,common,,begin,,,st.m:=1; st.n:=2; st.o:=3; st.p:=41; st.p:=42,error,s\n2.0.0,common,,end,st.p==42 ;; st.a==1,,,error,s\n";
    struct arena a = { 0 };
    (void)state;
    for (int more = 0; more < 2; more++) {
        char *text = lint_of_three(arena_printf(&a, "%s%s", rows, more ? "2.0.0,common,,begin,,,st.q:=7,error,s" : ""), &a);
        assert_int_equal(strstr(text, "the official checker stops here: the rules keep more states than a log can have") != NULL, more);
        assert_null(strstr(text, "must fulfil st."));
        free(text);
    }
    arena_free(&a);
}

/* Lines of key a list names; the message names up to three that are missing, and up to three that are not in the
 * table. */
static void test_names_beside_a_list(void **state)
{
    static const struct { const char *logged, *said; } cases[] = {
        { "a b c d e", "" }, { "e c a d b", "" }, { "", "5 of 5 names not listed: a b c ...; " }, { "e", "4 of 5 names not listed: a b c ...; " },
        { "d e", "3 of 5 names not listed: a b c; " }, { "a c e", "2 of 5 names not listed: b d; " }, { "a b c", "2 of 5 names not listed: d e; " },
        { "a b c d e f g h", "3 unknown or listed twice: f g h; " }, { "0 1 2 3 a b c d e", "4 unknown or listed twice: 0 1 2 ...; " },
        { "a a b c d e", "1 unknown or listed twice: a; " }, { "b bb c d dd f", "2 of 5 names not listed: a e; 3 unknown or listed twice: bb dd f; " },
        { "a b c d e seventy-letters-of-which-sixty-are-told-and-the-rest-is-not-and-so-on.",
          "1 unknown or listed twice: seventy-letters-of-which-sixty-are-told-and-the-rest-is-not-; " },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *lines = LINE("b", "0");
        char *rest = arena_strdup(&a, cases[i].logged), *name;
        while ((name = strsep(&rest, " ")) && *name)
            lines = arena_printf(&a, "%s" LINE("a", "\"%s\""), lines, name);
        char *text = lint_of_log("2.0.0,common,,begin,,,st.w:=[],error,s\n2.0.0,common,a,,,,append v to st.w,error,s\n"
                                 "2.0.0,common,,end,\"st.w==names[five]\",,,error,s", lines, &a);
        const char *said = strstr(text, "error: ");
        if (said)
            said = arena_printf(&a, "%.*s", (int)strcspn(said, "\n"), said + strlen("error: "));
        const char *want = arena_printf(&a, "%smust fulfil st.w==names[five] (2.0.0 common)", cases[i].said);
        assert_true(*cases[i].said ? said && strncmp(said, want, strlen(want)) == 0 : !said);
        free(text);
    }
    arena_free(&a);
}

/* A group that several keys ask for is reported once; a group with one other key is another group. */
static void test_groups_that_are_missing(void **state)
{
    static const struct { const char *groups[3], *said[3]; } cases[] = {
        { { "c d", "c d", "d c" }, { "c or d: is not", "d or c: is not" } }, { { "c d e", "c d f", "c d" }, { "c or d or e: is not", "c or d or f: is not", "c or d: is not" } },
        { { "c", "c d", "c" }, { "c: is not", "c or d: is not" } },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *g = cases[i].groups;
        char *text = lint_of_lines(arena_printf(&a, "2.0.0,common,x,1+ of %s,,,,error,s\n2.0.0,common,y,1+ of %s,,,,error,s\n2.0.0,common,z,1+ of %s,,,,error,s",
                                                g[0], g[1], g[2]), 1, 1, &a);
        size_t n = 0;
        for (const char *at = text; (at = strstr(at, "want one of them at least once")); at++)
            n++;
        for (size_t k = 0; k < 3 && cases[i].said[k]; k++, n--)
            assert_non_null(strstr(text, arena_printf(&a, "error: %s logged, want one of them at least once (2.0.0 common)", cases[i].said[k])));
        assert_int_equal(n, 0);
        free(text);
    }
    arena_free(&a);
}

/* The value is shown when the rule uses v anywhere; a name that contains a v does not count. */
static void test_the_value_is_shown_where_it_is_asked_for(void **state)
{
    struct arena a = { 0 };
    char *text = lint_of_log("2.0.0,common,,begin,,,st.evals:=5,error,s\n2.0.0,common,a,1,st.evals<v,,,error,s\n"
                             "2.0.0,common,b,1,st.evals<4,,,error,s\n2.0.0,common,c,1,v>st.evals,,,error,s", LINE("a", "3") LINE("b", "3") LINE("c", "3"), &a);
    (void)state;
    assert_non_null(strstr(text, "is 3, must fulfil st.evals<v (2.0.0 common)"));
    assert_non_null(strstr(text, "is 3, must fulfil v>st.evals (2.0.0 common)"));
    assert_non_null(strstr(text, "must fulfil st.evals<4 (2.0.0 common)"));
    assert_null(strstr(text, "is 3, must fulfil st.evals<4"));
    free(text);
    arena_free(&a);
}

/* Demands: keys wanted exactly once, from the last layer that has a rule for them, with the value that it fixes; and
 * the names checked at the end. */
static void test_what_a_log_must_say(void **state)
{
    static const char rows[] =
        "2.0.0,common,submission_division,1,,,\"apply \"\"{}\"\"\",error,s\n2.0.0,common,submission_benchmark,1,,,\"apply \"\"closed_{}\"\"\",error,s\n"
        "2.0.0,common,a,1,v==3,,,error,s\n2.0.0,common,b,1,v==4,,,error,s\n2.0.0,common,c,1+,,,,error,s\n2.0.0,common,d,1,v==6,,,error,s\n"
        "2.0.0,closed,b,1,v==5,,,error,s\n2.0.0,closed,e,1,v>0 ;; v==7 ;; v==8,,,error,s\n2.0.0,closed,g,1,v>0 ;; v<9,,,error,s\n"
        "2.0.0,closed_bert,d,1,,,,error,s\n2.0.0,closed_bert,f,1,\"v==\"\"x\"\"\",,,error,s\n2.0.0,closed_bert,,begin,,,st.w:=[],error,s\n"
        "2.0.0,closed_bert,,end,\"1==1 ;; st.w==names[five]\",,,error,s\n2.0.0,closed_bert,,end,1==1,,,error,s\n2.0.0,closed_resnet,h,1,,,,error,s";
    struct arena a = { 0 };
    struct err err = { "" };
    struct log_demands d;
    const char *text = "";
    (void)state;
    const char *dir = folder_of_rules(rows, &a);
    assert_true(log_demands_load(&d, "v2.0", "closed", "bert", NULL, dir, &a, &err));
    for (size_t i = 0; i < d.n; i++)
        text = arena_printf(&a, "%s%s %s %d %g;", text, d.items[i].layer, d.items[i].key, d.items[i].fixed, d.items[i].fixed ? d.items[i].value.number : 0);
    assert_string_equal(text, "common a 1 3;common submission_benchmark 0 0;common submission_division 0 0;closed b 1 5;closed e 1 7;closed g 0 0;"
                              "closed_bert d 0 0;closed_bert f 1 0;");
    assert_int_equal(d.names->n, 5);
    assert_true(log_demands_load(&d, "v2.0", "closed", "resnet", NULL, dir, &a, &err));
    assert_null(d.names);
    assert_string_equal(d.items[d.n - 1].key, "h");
    assert_false(log_demands_load(&d, "v2.0", "open", "bert", NULL, dir, &a, &err));
    assert_string_equal(err.msg, "there are no rules 'open' in 2.0.0");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_layers), cmocka_unit_test(test_every_edition),
                                        cmocka_unit_test(test_every_benchmark), cmocka_unit_test(test_sentences), cmocka_unit_test(test_every_rule_has_sentences),
        cmocka_unit_test(test_bad_rows),
                                        cmocka_unit_test(test_rows_at_their_limits), cmocka_unit_test(test_how_often_a_key_is_logged),
                                        cmocka_unit_test(test_as_many_names_as_may_be_listed), cmocka_unit_test(test_what_calls_for_layers), cmocka_unit_test(test_rows_at_the_end), cmocka_unit_test(test_layers_are_called_once), cmocka_unit_test(test_lines_that_cannot_be_read), cmocka_unit_test(test_as_many_layers_as_may_be_called), cmocka_unit_test(test_names_beside_a_list),
                                        cmocka_unit_test(test_as_many_states_as_may_be_kept),
                                        cmocka_unit_test(test_groups_that_are_missing), cmocka_unit_test(test_what_a_log_must_say), cmocka_unit_test(test_keys_on_one_line),
                                        cmocka_unit_test(test_the_value_is_shown_where_it_is_asked_for) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, remove_rules);
}
