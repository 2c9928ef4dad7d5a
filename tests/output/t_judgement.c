/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_judgement.c - judgements as CI systems read them, to the byte; expected failures. */
#include "tests/check.h"
#include "system-model/output/output.h"
#include <stdlib.h>
#include <string.h>

static const struct judgement given[] = {
    { .group = "r1", .name = "one", .message = "error +1 %", .file = "t.csv", .line = 2, .judged = JUDGED_PASS },
    { .group = "r2", .name = "two|x", .message = "a < b # c", .file = "a,b.csv", .line = 3, .judged = JUDGED_FAIL },
    { .group = "r3", .name = "three", .message = "no recipe", .judged = JUDGED_SKIP },
};

static struct judgements build(struct arena *a)
{
    struct judgements set = { .suite = "s" };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        judgements_add(&set, given[i], a);
    return set;
}

static const char *expect_table(const char *text)
{
    static char path[] = "/tmp/podbench-expect-XXXXXX";
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fputs(text, f);
    fclose(f);
    return path;
}

static void every_format_to_the_byte(void **state)
{
    struct arena a = {0};
    struct judgements set = build(&a);
    char *tap, *junit, *markdown, *annotations;
    (void)state;
    setenv("SOURCE_DATE_EPOCH", "86400", 1);
    PRINTED(tap, judgements_write(f, FORMAT_TAP, &set));
    PRINTED(junit, judgements_write(f, FORMAT_JUNIT, &set));
    PRINTED(markdown, judgements_write(f, FORMAT_MARKDOWN, &set));
    PRINTED(annotations, judgements_write(f, FORMAT_ANNOTATIONS, &set));
    assert_string_equal(tap, "1..3\nok 1 - one: error +1 %\nnot ok 2 - two|x: a < b   c\nok 3 - three: no recipe # SKIP not judged\n");
    assert_string_equal(junit, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"s\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" "
        "time=\"0\" hostname=\"localhost\" timestamp=\"1970-01-02T00:00:00\">\n  <properties/>\n"
        "  <testcase classname=\"r1\" name=\"one\" time=\"0\"/>\n"
        "  <testcase classname=\"r2\" name=\"two|x\" time=\"0\"><failure type=\"podbench\" message=\"a &lt; b # c\">a &lt; b # c</failure></testcase>\n"
        "  <testcase classname=\"r3\" name=\"three\" time=\"0\"><skipped message=\"no recipe\">no recipe</skipped></testcase>\n"
        "  <system-out/>\n  <system-err/>\n</testsuite>\n");
    assert_string_equal(markdown, "### s: FAILED\n\n2 judged, 1 passed, 1 failed, 0 failed as expected; 1 not judged\n\n**Failed: 1**\n\n"
        "| what | found |\n|---|---|\n| two\\|x | a &lt; b # c |\n");
    assert_string_equal(annotations, "::error file=a%2Cb.csv,line=3,title=two|x::a < b # c\n");
    free(tap);
    free(junit);
    free(markdown);
    free(annotations);
    arena_free(&a);
}

/* A line stays a line, and a row a row. */
static void control_characters_are_blanks(void **state)
{
    struct arena a = {0};
    struct judgements set = { .suite = "s" };
    char *tap, *markdown, *annotations;
    (void)state;
    judgements_add(&set, (struct judgement){ .name = "one\t", .message = "a\nb\177c ~\037d", .judged = JUDGED_FAIL }, &a);
    PRINTED(tap, judgements_write(f, FORMAT_TAP, &set));
    PRINTED(markdown, judgements_write(f, FORMAT_MARKDOWN, &set));
    set.items[0].name = "a:b,c\r", set.items[0].message = "d:e,f%\r\n";
    PRINTED(annotations, judgements_write(f, FORMAT_ANNOTATIONS, &set));
    assert_string_equal(annotations, "::error title=a%3Ab%2Cc%0D::d:e,f%25%0D%0A\n");
    assert_string_equal(tap, "1..1\nnot ok 1 - one : a b c ~ d\n");
    assert_non_null(strstr(markdown, "\n| one  | a b c ~ d |\n"));
    free(tap);
    free(markdown);
    free(annotations);
    arena_free(&a);
}

/* Fifty rows of a table are shown, the rest is counted. */
static void long_tables_are_cut(void **state)
{
    static const char *const ends[] = { "| 48 | m |\n| 49 | m |\n", "| 48 | m |\n| 49 | m |\n\nand 1 more\n", "| 48 | m |\n| 49 | m |\n\nand 2 more\n" };
    (void)state;
    for (size_t more = 0; more < 3; more++) {
        struct arena a = {0};
        struct judgements set = { .suite = "s" };
        char *text;
        judgements_add(&set, given[0], &a);
        for (size_t i = 0; i < 50 + more; i++)
            judgements_add(&set, (struct judgement){ .name = arena_printf(&a, "%zu", i), .message = "m", .judged = JUDGED_FAIL }, &a);
        PRINTED(text, judgements_write(f, FORMAT_MARKDOWN, &set));
        const char *end = strstr(text, "| 48 | m |\n");
        assert_string_equal(end, ends[more]);
        free(text);
        arena_free(&a);
    }
}

/* Without a line it is the first, without a group the program's own, without a message nothing. */
static void what_is_not_known_is_left_out(void **state)
{
    struct arena a = {0};
    struct judgements set = { .suite = "s" };
    char *text;
    (void)state;
    judgements_add(&set, (struct judgement){ .name = "one", .file = "f.csv", .judged = JUDGED_FAIL }, &a);
    judgements_add(&set, (struct judgement){ .name = "two", .group = "", .file = "f.csv", .line = 7, .judged = JUDGED_FAIL }, &a);
    PRINTED(text, (judgements_write(f, FORMAT_ANNOTATIONS, &set), judgements_write(f, FORMAT_TAP, &set)));
    assert_string_equal(text, "::error file=f.csv,line=1,title=one::\n::error file=f.csv,line=7,title=two::\n1..2\nnot ok 1 - one\nnot ok 2 - two\n");
    free(text);
    PRINTED(text, judgements_write(f, FORMAT_JUNIT, &set));
    assert_non_null(strstr(text, "<testcase classname=\"podbench\" name=\"one\" time=\"0\"><failure type=\"podbench\" message=\"\"></failure></testcase>"));
    assert_non_null(strstr(text, "<testcase classname=\"podbench\" name=\"two\" time=\"0\">"));
    free(text);
    arena_free(&a);
}

static void expected_failures_do_not_fail_and_unexpected_passes_are_told(void **state)
{
    struct arena a = {0};
    struct err err;
    struct judgements set = build(&a);
    char *tap, *junit, *annotations, *markdown;
    (void)state;
    assert_false(judgements_pass(&set));
    set.items[1].name = "two|x/y", set.items[2].name = "th/ree";
    assert_true(judgements_expect(&set, expect_table("id,reason\n*x*y,the fan\n"), &a, &err));       /* a star takes a slash, too */
    set = build(&a);
    assert_true(judgements_expect(&set, expect_table("id,reason\ntwo*,the fan is broken\none,was slow\n"), &a, &err));
    assert_true(judgements_pass(&set));
    assert_int_equal(judgements_count(&set, JUDGED_UNEXPECTED_PASS), 1);
    PRINTED(tap, judgements_write(f, FORMAT_TAP, &set));
    PRINTED(junit, judgements_write(f, FORMAT_JUNIT, &set));
    PRINTED(annotations, judgements_write(f, FORMAT_ANNOTATIONS, &set));
    PRINTED(markdown, judgements_write(f, FORMAT_MARKDOWN, &set));
    assert_string_equal(markdown, "### s: passed\n\n2 judged, 1 passed, 0 failed, 1 failed as expected; 1 not judged\n\n"
        "**Passed, though expected to fail: take it off the list: 1**\n\n| what | found |\n|---|---|\n| one | error +1 %; was slow |\n\n"
        "**Failed as expected: 1**\n\n| what | found |\n|---|---|\n| two\\|x | a &lt; b # c; the fan is broken |\n");
    free(markdown);
    assert_non_null(strstr(junit, " tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"2\" "));
    free(junit);
    unsetenv("SOURCE_DATE_EPOCH");
    PRINTED(junit, judgements_write(f, FORMAT_JUNIT, &set));
    assert_non_null(strstr(junit, " timestamp=\"1970-01-01T00:00:00\">"));
    free(junit);
    assert_string_equal(tap, "1..3\nok 1 - one: error +1 % # TODO was slow\nnot ok 2 - two|x: a < b   c # TODO the fan is broken\n"
                             "ok 3 - three: no recipe # SKIP not judged\n");
    assert_string_equal(annotations, "::warning file=t.csv,line=2,title=one::error +1 %25; was expected to fail: was slow\n"
                                     "::notice file=a%2Cb.csv,line=3,title=two|x::a < b # c; expected: the fan is broken\n");
    free(tap);
    free(annotations);
    arena_free(&a);
}

static void lists_that_do_not_hold_are_refused(void **state)
{
    struct arena a = {0};
    struct err err;
    struct judgements set = build(&a);
    (void)state;
    assert_false(judgements_expect(&set, expect_table("id,reason\nfour,why\n"), &a, &err));
    assert_non_null(strstr(err.msg, ":2: id: nothing that was judged is named 'four'; take the line out"));
    assert_false(judgements_expect(&set, expect_table("id,reason\none,\n"), &a, &err));
    assert_non_null(strstr(err.msg, ":2: reason: is empty; say why one is expected to fail"));
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_format_to_the_byte), cmocka_unit_test(control_characters_are_blanks), cmocka_unit_test(long_tables_are_cut),
    cmocka_unit_test(what_is_not_known_is_left_out),
    cmocka_unit_test(expected_failures_do_not_fail_and_unexpected_passes_are_told),
    cmocka_unit_test(lists_that_do_not_hold_are_refused),
};
TAP_MAIN(tests)
