/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_expression.c - the language of rules and claims: what each part means, by hand; what cannot be computed; what is refused. */
#include "tests/check.h"
#include "results/mlperf/rules.h"
#include "system-model/base/expression.h"

#define FUNCTIONS "abs(x), ceil(x), floor(x), sqrt(x), log2(x), min(x,y), max(x,y), int(x), integer(x), is_int(x), count(x), has(x)"

static const char line[] = "{\"v\": 0.759, \"t\": \"lars\", \"n\": 3, \"l\": [7, 55], \"o\": {\"FID\": 88.5, \"CLIP\": 0.15}, \"b\": true, \"z\": null, "
                           "\"e\": \"\", \"el\": [], \"eo\": {}, \"one\": [0], \"d\": \"12\", "
                           "\"m\": {\"epoch_num\": 4, \"status\": null, \"same\": [7.0, 55], \"less\": [7], \"other\": [7, 56], \"long\": [0,1,2,3,4,5,6,7,8,9,20,31], \"o\": {\"CLIP\": 0.15, \"FID\": 88.5}}}";

/* names[two] are a and b; sheet[ARGUMENT] is 2.5. */
static bool look_up(struct value *out, void *user, const char *kind, const char *argument, struct err *err)
{
    static char *names[] = { "a", "b" };
    static const struct name_list list = { names, 2, 2 };
    (void)user;
    if (text_is(kind, "names") && text_is(argument, "two"))
        *out = value_of_names(&list);
    else if (text_is(kind, "sheet"))
        *out = (struct value){ .kind = VALUE_NUMBER, .number = text_is(argument, "a/b;c=1.5,2") ? 7 : 2.5 };
    else
        return fail(err, "known: sheet, names");
    return true;
}
static const struct expression_names all_names = { rule_variables, look_up, NULL };

/* The expression on the member of the line that its first word names; st.x is 12, st.names b and a. */
static enum truth holds(const char *member, const char *text)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct expression e = { NULL, NULL };
    char *names[] = { "b", "a" };
    struct name_list list = { names, 2, 2 };
    json_t *all = json_loads(line, 0, NULL);
    struct rule_state st = { .n = 0 };
    struct value twelve = { .kind = VALUE_NUMBER, .number = 12 }, listed = value_of_names(&list);
    rule_state_set(&st, "x", &twelve);
    rule_state_set(&st, "names", &listed);
    struct rule_scope s = rule_scope_of(json_object_get(all, member), json_object_get(all, "m"), 61000, &st);
    if (!expression_parse(&e, text, &all_names, "here", &a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
    enum truth t = expression_holds(&e, s.variables);
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
    { "n", "st.names==names[two]", TRUTH_YES }, { "n", "v==names[two]", TRUTH_NO },
    { "t", "v", TRUTH_YES }, { "e", "v", TRUTH_NO }, { "el", "v", TRUTH_NO }, { "eo", "v", TRUTH_NO }, { "one", "v", TRUTH_YES }, { "o", "v", TRUTH_YES },
    { "z", "v", TRUTH_NO }, { "z", "not v", TRUTH_YES }, { "n", "st.names", TRUTH_YES }, { "n", "st.names==st.names", TRUTH_YES }, { "n", "count(st.names)==2", TRUTH_YES },
    { "l", "v==m.same", TRUTH_YES }, { "l", "v==m.less", TRUTH_NO }, { "l", "v==m.other", TRUTH_NO }, { "l", "v!=m.o", TRUTH_YES }, { "o", "v==m.o", TRUTH_YES },
    { "el", "v==m.less", TRUTH_NO }, { "eo", "v==m.o", TRUTH_NO }, { "o", "count(v)==2", TRUTH_YES }, { "b", "v", TRUTH_YES }, { "v", "min(2,v)==v", TRUTH_YES },
    { "v", "v==2 | v==3 & v==4", TRUTH_NO }, { "n", "v==3 | v==3 & v==4", TRUTH_YES },      /* & binds tighter */
    { "n", "abs(v-5)==2 & abs(-v)==3", TRUTH_YES }, { "v", "ceil(v)==1 & floor(v)==0", TRUTH_YES }, { "n", "ceil(v)==3 & floor(v)==3", TRUTH_YES },
    { "n", "int(v/2)==1 & int(-v/2)==-1", TRUTH_YES }, { "d", "int(v)==12", TRUTH_YES }, { "t", "int(v)==12", TRUTH_NONE }, { "n", "sqrt(v+6)==3", TRUTH_YES },
    { "n", "sqrt(2-v)>0", TRUTH_NONE }, { "n", "max(v,4)==4 & max(4,v)==4", TRUTH_YES }, { "t", "abs(v)>0", TRUTH_NONE }, { "n", "v**2==9 & -v**2==-9", TRUTH_YES },
    { "n", "2**v**2==512", TRUTH_YES }, { "n", "2**-1==0.5", TRUTH_YES }, { "n", "(1-v)**0.5>0", TRUTH_NONE }, { "n", "min(st.y,v)==v", TRUTH_NONE },
    { "n", "v*(if v==3 then 2 else 5)==6", TRUTH_YES }, { "n", "has(abs(m.nothing))", TRUTH_NO }, { "n", "min(inf,v)==v", TRUTH_YES }, { "n", "m[0]==1", TRUTH_NONE },
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
    struct expression e;
    (void)state;
    for (int more = 0; more < 2; more++) {
        char digits[50] = "", letters[90] = "";
        struct err err = { "" };
        memset(digits, '7', 39 + (size_t)more);
        memset(letters, 'x', 80 + (size_t)more);
        assert_true(expression_parse(&e, arena_printf(&a, "v<%s", digits), &all_names, "here", &a, &err) == !more);
        assert_true(!more || strstr(err.msg, "want a value"));
        assert_true(expression_parse(&e, arena_printf(&a, "m.%s>0", letters), &all_names, "here", &a, &err) == !more);
        assert_true(!more || strstr(err.msg, "want a member's name"));
    }
    arena_free(&a);
}

/* 60 deep, by each way to nest, and one deeper: a factor is one, what is inside a bracket, a sign or a list one more. */
static void test_depths(void **state)
{
    static const struct { const char *open, *inner, *close; int n; } ways[] = {
        { "(", "v", ")", 59 }, { "-", "v", "", 59 }, { "2**", "v", "", 59 }, { "not ", "v", "", 59 }, { "v in {(", "v", ")}", 29 }, { "v in {(", "-v", ")}", 29 },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int more = 0; more < 2; more++) {
            const char *text = ways[i].inner;
            struct expression e;
            struct err err = { "" };
            for (int k = 0; k < ways[i].n + more; k++)
                text = arena_printf(&a, "%s%s%s", ways[i].open, text, ways[i].close);
            assert_true(expression_parse(&e, text, &all_names, "here", &a, &err) == !more);
            assert_true(!more || strstr(err.msg, "want less nesting"));
            text = arena_printf(&a, "%s & %s", text, text);     /* one after the other is no deeper */
            assert_true(expression_parse(&e, text, &all_names, "here", &a, &err) == !more);
        }
    arena_free(&a);
}

/* A text of a million terms or items is refused; the longest that is taken is computed, whichever way its tree leans. */
static void test_endless(void **state)
{
    static const char *const heads[] = { "v+", "v in {", "v<v<", "v&v&" }, *const rests[] = { "v+", "v,", "v<", "v&" };
    struct arena a = { 0 };
    json_t *v = json_integer(1);
    struct rule_scope s = rule_scope_of(v, NULL, 0, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (size_t n = 2000000, room = 2000100; n; n = n > 3900 ? 3900 : 0) {
            char *text = arena_alloc(&a, room);
            struct err err = { "" };
            struct expression e;
            struct value out;
            size_t at = (size_t)snprintf(text, room, "%s", heads[i]);
            while (at < n) {
                memcpy(text + at, rests[i], 2);
                at += 2;
            }
            snprintf(text + at, room - at, i == 1 ? "2}" : "1");
            bool good = expression_parse(&e, text, &all_names, "here", &a, &err);
            assert_true(good ? expression_compute(&out, &e, s.variables) : strstr(err.msg, "want at most 4000") != NULL);
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
    struct expression e;
    struct rule_scope s = rule_scope_of(NULL, NULL, 0, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct err err = { "" };
        struct value v;
        assert_true(expression_parse(&e, good[i].text, &all_names, "here", &a, &err) && expression_compute(&v, &e, s.variables));
        assert_true(v.kind == VALUE_NUMBER && v.number == good[i].x && v.is_whole == good[i].whole);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = { "" };
        assert_false(expression_parse(&e, bad[i].text, &all_names, "here", &a, &err));
        assert_non_null(strstr(err.msg, i == 6 ? "want a value" : "want a number"));
    }
    arena_free(&a);
}

/* Numbers, as claims have them; a lookup's argument ends at its bracket. */
static void test_arithmetic(void **state)
{
    static const struct { const char *text; double value; } sums[] = {
        { "2 + 3 * 4", 14 }, { "(2 + 3) * 4", 20 }, { "20 / 2 / 5", 2 }, { "7 - 2 - 1", 4 }, { "(-3)**2", 9 }, { "2 - -3", 5 }, { "1.5e3 / 1e-1", 15000 },
        { "sqrt(2 * 8)", 4 }, { "log2(32) + ceil(2.1) + floor(2.9)", 10 }, { "max(3, min(9, 5))", 5 }, { "sheet[x.y] * 2", 5 },
        { "2E2 * 1.5e+1 - 1E-1", 2999.9 }, { "sheet[a/b;c=1.5,2]", 7 },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        struct expression e;
        struct value x;
        assert_true(expression_parse(&e, sums[i].text, &all_names, "here", &a, NULL) && expression_compute(&x, &e, NULL));
        assert_near(x.number, sums[i].value, 1e-12);
    }
    arena_free(&a);
}

static void test_refusals(void **state)
{
    static const struct { const char *text, *want; } bad[] = {
        { "v>", "here: 'v>': at 'the end', want a value" }, { "v=3", "here: 'v=3': at '=3', want nothing more" }, { "v in 3", "here: 'v in 3': at '3', want {ITEM,ITEM}" },
        { "w>3", "here: 'w>3': at 'w>3', want v, m, st, t_ms, a constant, KIND[ARGUMENT], or a function: " FUNCTIONS },
        { "(v>3", "here: '(v>3': at 'the end', want ')'" }, { "v==\"a", "here: 'v==\"a': at 'a', want a closing quote" }, { "1e999>v", "here: '1e999>v': at '1e999>v', want a number" },
        { "v[x]", "here: 'v[x]': at '[x]', want [ITEM]" }, { "v[]", "here: 'v[]': at '[]', want [ITEM]" }, { "min(v)", "here: 'min(v)': at 'min(v)', want one of the functions " FUNCTIONS }, { "sine(v)", "here: 'sine(v)': at 'sine(v)', want one of the functions " FUNCTIONS },
        { "abs(v,v,v)", "here: 'abs(v,v,v)': at 'abs(v,v,v)', want one of the functions " FUNCTIONS }, { "sheet[x", "here: 'sheet[x': at 'x', want an argument that ends in ]" },
        { "leaf[x]", "here: leaf[x]: known: sheet, names" }, { "2 3", "here: '2 3': at '3', want nothing more" }, { "2**", "here: '2**': at 'the end', want a value" },
       
        { "if v", "here: 'if v': at 'the end', want then" }, { "v.", "here: 'v.': at 'the end', want a member's name" },
        { "st.>1", "here: 'st.>1': at '>1', want a member's name" },
        { "has(v", "here: 'has(v': at 'the end', want ')'" }, { "v in {1,2", "here: 'v in {1,2': at 'the end', want '}'" }, { "v[1", "here: 'v[1': at '[1', want [ITEM]" },
        { "v in {}", "here: 'v in {}': at '}', want a value" }, { "v in {1,}", "here: 'v in {1,}': at '}', want a value" }, { "not", "here: 'not': at 'the end', want a value" },
        { "v==names[three]", "here: names[three]: known: sheet, names" },
    };
    struct arena a = { 0 };
    struct expression e;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = { "" };
        assert_false(expression_parse(&e, bad[i].text, &all_names, "here", &a, &err));
        assert_string_equal(err.msg, bad[i].want);
    }
    char deep[400];
    struct err err = { "" };
    assert_false(expression_parse(&e, "v", NULL, "here", &a, &err));       /* no names at all */
    assert_non_null(strstr(err.msg, "here: 'v': at 'v', want a constant, or a function: abs(x), "));
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_false(expression_parse(&e, deep, &all_names, "here", &a, &err));
    assert_non_null(strstr(err.msg, "want less nesting"));
    memset(deep, '-', sizeof deep - 1);
    assert_false(expression_parse(&e, deep, &all_names, "here", &a, &err));
    const char *nots = "v", *ins = "v";
    for (int i = 0; i < 400; i++)
        nots = arena_printf(&a, "not %s", nots), ins = arena_printf(&a, "v in {(%s)}", ins);
    assert_false(expression_parse(&e, nots, &all_names, "here", &a, &err));
    assert_non_null(strstr(err.msg, "want less nesting"));
    assert_false(expression_parse(&e, ins, &all_names, "here", &a, &err));
    assert_non_null(strstr(err.msg, "want less nesting"));
    arena_free(&a);
}

/* The value that a check fixes, with which a log is written. */
static void test_named_values(void **state)
{
    static const struct { const char *text; bool names; double number; const char *word; } list[] = {
        { "v==0.0001", true, 0.0001, NULL }, { "v in {1,inf}", true, 1, NULL }, { "v in {\"sgd\",\"lars\"}", true, 0, "sgd" },
        { "v>0", false, 0, NULL }, { "v==2e-05 | v==3e-05", false, 0, NULL }, { "st.x==3", false, 0, NULL },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct expression e;
        struct expression left;
        struct value v;
        assert_true(expression_parse(&e, list[i].text, &all_names, "here", &a, NULL));
        assert_true((expression_asks_constant(&left, &v, &e) && expression_is_variable(&left, "v")) == list[i].names);
        if (list[i].word)
            assert_string_equal(v.text, list[i].word);
        else if (list[i].names)
            assert_near(v.number, list[i].number, 0);
    }
    arena_free(&a);
}

/* Conditions that ask for a computed value, with y = 3; NAN: they do not. */
static void test_computed_values(void **state)
{
    static const char *const names[] = { "x", "y", NULL };
    static const struct { const char *text; double wanted; } list[] = {
        { "x==(12-y)", 9 }, { "abs(x-(2*y))<1e-9", 6 }, { "y>4 | x==y", 3 }, { "int(x)==floor(y/2)", 1 }, { "x==3", NAN }, { "x==(x+y)", NAN },
        { "(2*x)==y", NAN }, { "x<y", NAN }, { "x", NAN }, { "abs(x)<y", NAN }, { "min(x,y)==y", NAN }, { "x==y & y==3", NAN },
    };
    const struct value values[] = { { .kind = VALUE_NUMBER, .number = 1 }, { .kind = VALUE_NUMBER, .number = 3 } };
    const struct expression_names known = { names, NULL, NULL };
    struct arena a = { 0 };
    struct err err = { "" };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct expression e, left, wanted;
        struct value v = { .number = NAN };
        assert_true(expression_parse(&e, list[i].text, &known, "", &a, &err));
        if (expression_asks_computed(&left, &wanted, &e))
            assert_true(expression_compute(&v, &wanted, values));
        if (!(v.number == list[i].wanted || (isnan(v.number) && isnan(list[i].wanted))))
            print_error("%s: %g\n", list[i].text, v.number);
        assert_true(v.number == list[i].wanted || (isnan(v.number) && isnan(list[i].wanted)));
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_meaning), cmocka_unit_test(test_endless),
                                        cmocka_unit_test(test_numbers), cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_refusals), cmocka_unit_test(test_lengths), cmocka_unit_test(test_depths), cmocka_unit_test(test_named_values), cmocka_unit_test(test_computed_values) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
