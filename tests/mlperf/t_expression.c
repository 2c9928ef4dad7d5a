/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_expression.c - the language of the rules: what each part means, by hand; what cannot be computed; what is refused. */
#include "tests/check.h"
#include "results/mlperf/expression.h"

static const struct name_list *two_names(void *user, const char *name)
{
    static char *names[] = { "a", "b" };
    static const struct name_list list = { names, 2, 2 };
    (void)user;
    return text_is(name, "two") ? &list : NULL;
}

static const char line[] = "{\"v\": 0.759, \"t\": \"lars\", \"n\": 3, \"l\": [7, 55], \"o\": {\"FID\": 88.5, \"CLIP\": 0.15}, \"b\": true, \"z\": null, "
                           "\"e\": \"\", \"el\": [], \"eo\": {}, \"one\": [0], "
                           "\"m\": {\"epoch_num\": 4, \"status\": null, \"same\": [7.0, 55], \"less\": [7], \"other\": [7, 56], \"long\": [0,1,2,3,4,5,6,7,8,9,20,31], \"o\": {\"CLIP\": 0.15, \"FID\": 88.5}}}";

/* The expression on the member of the line that its first word names; st.x is 12, st.names b and a. */
static enum truth holds(const char *member, const char *text)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct expression *e = NULL;
    struct expression_tables tables = { two_names, NULL };
    char *names[] = { "b", "a" };
    struct name_list list = { names, 2, 2 };
    json_t *all = json_loads(line, 0, NULL);
    struct state st = { .n = 0 };
    struct value twelve = { .kind = VALUE_NUMBER, .number = 12 }, listed = { .kind = VALUE_NAMES, .names = &list };
    state_set(&st, "x", &twelve);
    state_set(&st, "names", &listed);
    struct scope s = { json_object_get(all, member), json_object_get(all, "m"), 61000, &st };
    if (!expression_parse(&e, text, &tables, "here", &a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
    enum truth t = expression_holds(e, &s);
    json_decref(all);
    arena_free(&a);
    return t;
}

static const struct { const char *member, *text; enum truth want; } cases[] = {
    { "v", "v>=0.759 & v<1.0", TRUTH_YES }, { "v", "v>0.759", TRUTH_NO }, { "v", "v<=0.759", TRUTH_YES }, { "v", "0.7<v<0.8<=0.8", TRUTH_YES },
    { "v", "0.7<v<0.75", TRUTH_NO }, { "v", "0.8>v>0.759", TRUTH_NO }, { "v", "v!=0.759 | v==0.759", TRUTH_YES },
    { "n", "v==3.0", TRUTH_YES }, { "n", "v==\"3\"", TRUTH_NO }, { "n", "v!=\"\"", TRUTH_YES }, { "n", "is_int(v)", TRUTH_YES },
    { "v", "is_int(v)", TRUTH_NO }, { "b", "is_int(v)", TRUTH_YES }, { "b", "v==1", TRUTH_YES }, { "b", "v+v==2", TRUTH_YES },
    { "t", "v in {\"sgd\",\"lars\"}", TRUTH_YES }, { "t", "v in {\"sgd\"}", TRUTH_NO }, { "n", "v in {1,inf}", TRUTH_NO },
    { "n", "v in {1,3}", TRUTH_YES }, { "t", "v>0", TRUTH_NONE }, { "t", "v==0", TRUTH_NO }, { "z", "v>0", TRUTH_NONE }, { "z", "v==null", TRUTH_YES },
    { "t", "count(v)==4", TRUTH_YES }, { "l", "count(v)==2", TRUTH_YES }, { "n", "count(v)==2", TRUTH_NONE },
    { "l", "integer(10*((v[1]/50.0)-1))", TRUTH_YES }, { "l", "v[2]>0", TRUTH_NONE }, { "n", "m.long[10]==20", TRUTH_YES }, { "n", "v[0]>0", TRUTH_NONE },
    { "o", "0.0<=v.FID<=90.0 & 0.15<=v.CLIP<=1.0", TRUTH_YES }, { "o", "v.KID>0", TRUTH_NONE }, { "o", "has(v.KID)", TRUTH_NO },
    { "n", "has(m.epoch_num)", TRUTH_YES }, { "n", "has(m.status)", TRUTH_YES }, { "n", "has(m.epoch)", TRUTH_NO }, { "z", "has(v)", TRUTH_YES },
    { "none", "has(v)", TRUTH_NO }, { "n", "m.epoch_num>0 & not m.epoch_num>4", TRUTH_YES },
    { "n", "if has(m.epoch_num) then m.epoch_num==4", TRUTH_YES }, { "n", "if has(m.nothing) then m.nothing==4", TRUTH_YES },
    { "n", "if st.x<8 then v==9 else v==3", TRUTH_YES }, { "n", "v*4==st.x", TRUTH_YES }, { "n", "v*1152 == st.x*288", TRUTH_YES },
    { "n", "st.y==1", TRUTH_NONE }, { "n", "not st.x", TRUTH_NO }, { "n", "t_ms-1000.0<=60*1e3", TRUTH_YES }, { "n", "t_ms-1000<60*1e3", TRUTH_NO },
    { "n", "integer(log2(v/0.75))", TRUTH_YES }, { "n", "integer(log2(v/0.7))", TRUTH_NO }, { "n", "log2(v-3)>0", TRUTH_NONE },
    { "n", "v/(v-3)>0", TRUTH_NONE }, { "n", "integer(v+0.000009)", TRUTH_YES }, { "n", "integer(v+0.00002)", TRUTH_NO }, { "n", "min(v,2)==2", TRUTH_YES },
    { "n", "-v+2*3==3", TRUTH_YES }, { "n", "(v+1)*2==8", TRUTH_YES }, { "n", "v+1*2==5", TRUTH_YES }, { "n", "7-v-2==2", TRUTH_YES },
    { "t", "v>0 | v==\"lars\"", TRUTH_NONE }, { "t", "v==\"lars\" | v>0", TRUTH_YES }, { "t", "v==\"sgd\" & v>0", TRUTH_NO },     /* stops early */
    { "n", "same_names(st.names, \"two\")", TRUTH_YES }, { "n", "same_names(v, \"two\")", TRUTH_NONE },
    { "t", "v", TRUTH_YES }, { "e", "v", TRUTH_NO }, { "el", "v", TRUTH_NO }, { "eo", "v", TRUTH_NO }, { "one", "v", TRUTH_YES }, { "o", "v", TRUTH_YES },
    { "z", "v", TRUTH_NO }, { "z", "not v", TRUTH_YES }, { "n", "st.names", TRUTH_YES }, { "n", "st.names==st.names", TRUTH_YES }, { "n", "count(st.names)==2", TRUTH_YES },
    { "l", "v==m.same", TRUTH_YES }, { "l", "v==m.less", TRUTH_NO }, { "l", "v==m.other", TRUTH_NO }, { "l", "v!=m.o", TRUTH_YES }, { "o", "v==m.o", TRUTH_YES },
    { "el", "v==m.less", TRUTH_NO }, { "eo", "v==m.o", TRUTH_NO }, { "o", "count(v)==2", TRUTH_YES }, { "b", "v", TRUTH_YES }, { "v", "min(2,v)==v", TRUTH_YES },
    { "v", "v==2 | v==3 & v==4", TRUTH_NO }, { "n", "v==3 | v==3 & v==4", TRUTH_YES },      /* & binds tighter */
};

static void test_meaning(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum truth got = holds(cases[i].member, cases[i].text);
        if (got != cases[i].want)
            print_error("%s of %s: %d, want %d\n", cases[i].text, cases[i].member, got, cases[i].want);
        assert_int_equal(got, cases[i].want);
    }
}

/* Numbers of 39 characters and names of 80, and one more. */
static void test_lengths(void **state)
{
    struct arena a = { 0 };
    struct expression *e;
    (void)state;
    for (int more = 0; more < 2; more++) {
        char digits[50] = "", letters[90] = "";
        struct err err = { "" };
        memset(digits, '7', 39 + (size_t)more);
        memset(letters, 'x', 80 + (size_t)more);
        assert_true(expression_parse(&e, arena_printf(&a, "v<%s", digits), NULL, "here", &a, &err) == !more);
        assert_true(!more || strstr(err.msg, "want a value"));
        assert_true(expression_parse(&e, arena_printf(&a, "m.%s>0", letters), NULL, "here", &a, &err) == !more);
        assert_true(!more || strstr(err.msg, "want a member's name"));
    }
    arena_free(&a);
}

/* 60 deep, by each way to nest, and one deeper: a factor is one, what is inside a bracket, a sign or a list one more. */
static void test_depths(void **state)
{
    static const struct { const char *open, *inner, *close; int n; } ways[] = {
        { "(", "v", ")", 59 }, { "-", "v", "", 59 }, { "not ", "v", "", 59 }, { "v in {(", "v", ")}", 29 }, { "v in {(", "-v", ")}", 29 },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int more = 0; more < 2; more++) {
            const char *text = ways[i].inner;
            struct expression *e;
            struct err err = { "" };
            for (int k = 0; k < ways[i].n + more; k++)
                text = arena_printf(&a, "%s%s%s", ways[i].open, text, ways[i].close);
            assert_true(expression_parse(&e, text, NULL, "here", &a, &err) == !more);
            assert_true(!more || strstr(err.msg, "want less nesting"));
            text = arena_printf(&a, "%s & %s", text, text);     /* one after the other is no deeper */
            assert_true(expression_parse(&e, text, NULL, "here", &a, &err) == !more);
        }
    arena_free(&a);
}

/* A text of a million terms or items is refused; the longest that is taken is computed, whichever way its tree leans. */
static void test_endless(void **state)
{
    static const char *const heads[] = { "v+", "v in {", "v<v<", "v&v&" }, *const rests[] = { "v+", "v,", "v<", "v&" };
    struct arena a = { 0 };
    json_t *v = json_integer(1);
    struct scope s = { .v = v };
    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (size_t n = 2000000, room = 2000100; n; n = n > 3900 ? 3900 : 0) {
            char *text = arena_alloc(&a, room);
            struct err err = { "" };
            struct expression *e;
            struct value out;
            size_t at = (size_t)snprintf(text, room, "%s", heads[i]);
            while (at < n) {
                memcpy(text + at, rests[i], 2);
                at += 2;
            }
            snprintf(text + at, room - at, i == 1 ? "2}" : "1");
            bool good = expression_parse(&e, text, NULL, "here", &a, &err);
            assert_true(good ? expression_compute(&out, e, &s) : strstr(err.msg, "want at most 4000") != NULL);
            assert_true(good == (n == 3900));
        }
    json_decref(v);
    arena_free(&a);
}

/* Numbers with and without a fraction and a power of ten, of up to 39 characters; whole where they have neither. */
static void test_numbers(void **state)
{
    static const struct { const char *text; double x; bool whole; } good[] = {
        { "7", 7, true }, { "007", 7, true }, { "2.5", 2.5, false }, { ".5", 0.5, false }, { "3.", 3, false }, { "1e5", 1e5, false }, { "1E5", 1e5, false },
        { "1e+5", 1e5, false }, { "25e-2", 0.25, false }, { "2.5e+02", 250, false }, { "1e-300", 1e-300, false },
        { "0.1000000000000000000000000000000000000", 0.1, false }, { "100000000000000000000000000000000000000", 1e38, true },
    }, bad[] = { { "1e", 0, false }, { "1e+", 0, false }, { "1e--5", 0, false }, { "1.2.3", 0, false }, { "1e400", 0, false }, { ".", 0, false },
                 { "1000000000000000000000000000000000000000", 0, false } };
    struct arena a = { 0 };
    struct expression *e;
    struct scope s = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct err err = { "" };
        struct value v;
        assert_true(expression_parse(&e, good[i].text, NULL, "here", &a, &err) && expression_compute(&v, e, &s));
        assert_true(v.kind == VALUE_NUMBER && v.number == good[i].x && v.is_whole == good[i].whole);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = { "" };
        assert_false(expression_parse(&e, bad[i].text, NULL, "here", &a, &err));
        assert_non_null(strstr(err.msg, i == 6 ? "want a value" : "want a number"));
    }
    arena_free(&a);
}

static void test_refusals(void **state)
{
    static const struct { const char *text, *want; } bad[] = {
        { "v>", "here: 'v>': at '', want a value" }, { "v=3", "here: 'v=3': at '=3', want nothing more" }, { "v in 3", "here: 'v in 3': at '3', want {ITEM,ITEM}" },
        { "w>3", "here: 'w>3': at 'w>3', want v, m, st, t_ms, a constant, or a function: has, count, integer, is_int, log2, min, same_names" },
        { "(v>3", "here: '(v>3': at '', want ')'" }, { "v==\"a", "here: 'v==\"a': at 'a', want a closing quote" }, { "1e999>v", "here: '1e999>v': at '1e999>v', want a number" },
        { "v[x]", "here: 'v[x]': at '[x]', want [ITEM]" }, { "v[]", "here: 'v[]': at '[]', want [ITEM]" }, { "min(v)", "here: 'min(v)': at ')', want a second argument" },
        { "if v", "here: 'if v': at '', want then" }, { "v.", "here: 'v.': at '', want a member's name" },
        { "st>1", "here: 'st>1': at '>1', want the state's name after st." }, { "st.>1", "here: 'st.>1': at '>1', want the state's name after st." },
        { "has(v", "here: 'has(v': at '', want ')'" }, { "v in {1,2", "here: 'v in {1,2': at '', want '}'" }, { "v[1", "here: 'v[1': at '[1', want [ITEM]" },
        { "v in {}", "here: 'v in {}': at '}', want a value" }, { "v in {1,}", "here: 'v in {1,}': at '}', want a value" }, { "not", "here: 'not': at '', want a value" },
        { "same_names(v, \"three\")", "here: 'same_names(v, \"three\")': at '', want same_names(LIST, \"TABLE\") of a table of names that is known" },
    };
    struct arena a = { 0 };
    struct expression *e;
    struct expression_tables tables = { two_names, NULL };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = { "" };
        assert_false(expression_parse(&e, bad[i].text, &tables, "here", &a, &err));
        assert_string_equal(err.msg, bad[i].want);
    }
    char deep[400];
    struct err err = { "" };
    assert_false(expression_parse(&e, "same_names(v, \"two\")", NULL, "here", &a, &err));      /* no tables at all */
    assert_non_null(strstr(err.msg, "want same_names(LIST, \"TABLE\") of a table of names that is known"));
    assert_false(expression_parse(&e, "same_names(v, v)", &tables, "here", &a, &err));
    assert_non_null(strstr(err.msg, "want same_names(LIST, \"TABLE\") of a table of names that is known"));
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_false(expression_parse(&e, deep, NULL, "here", &a, &err));
    assert_non_null(strstr(err.msg, "want less nesting"));
    memset(deep, '-', sizeof deep - 1);
    assert_false(expression_parse(&e, deep, NULL, "here", &a, &err));
    const char *nots = "v", *ins = "v";
    for (int i = 0; i < 400; i++)
        nots = arena_printf(&a, "not %s", nots), ins = arena_printf(&a, "v in {(%s)}", ins);
    assert_false(expression_parse(&e, nots, NULL, "here", &a, &err));
    assert_non_null(strstr(err.msg, "want less nesting"));
    assert_false(expression_parse(&e, ins, NULL, "here", &a, &err));
    assert_non_null(strstr(err.msg, "want less nesting"));
    arena_free(&a);
}

/* What a check fixes: the value that a log is written with. */
static void test_named_values(void **state)
{
    static const struct { const char *text; bool names; double number; const char *word; } list[] = {
        { "v==0.0001", true, 0.0001, NULL }, { "v in {1,inf}", true, 1, NULL }, { "v in {\"sgd\",\"lars\"}", true, 0, "sgd" },
        { "v>0", false, 0, NULL }, { "v==2e-05 | v==3e-05", false, 0, NULL }, { "st.x==3", false, 0, NULL },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct expression *e;
        struct value v;
        assert_true(expression_parse(&e, list[i].text, NULL, "here", &a, NULL));
        assert_true(expression_names_value(&v, e) == list[i].names);
        if (list[i].word)
            assert_string_equal(v.text, list[i].word);
        else if (list[i].names)
            assert_near(v.number, list[i].number, 0);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_meaning), cmocka_unit_test(test_endless),
                                        cmocka_unit_test(test_numbers), cmocka_unit_test(test_refusals), cmocka_unit_test(test_lengths), cmocka_unit_test(test_depths), cmocka_unit_test(test_named_values) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
