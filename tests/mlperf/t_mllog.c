/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_mllog.c - lines of MLPerf logs: what is read, what is refused, what is written. */
#include "tests/check.h"
#include "results/mlperf/mllog.h"

static void open_text(struct mllog_reader *r, const char *text, size_t n)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    rewind(f);
    mllog_open_stream(r, f, "test");
}

static void open_string(struct mllog_reader *r, const char *text)
{
    open_text(r, text, strlen(text));
}

static void next_is(struct mllog_reader *r, uint64_t line, const char *key, double value)
{
    struct mllog_line l;
    double x = NAN;
    assert_int_equal(mllog_next(r, &l), MLLOG_LINE);
    assert_int_equal(l.line, line);
    assert_string_equal(l.key, key);
    assert_true(mllog_number_loose(l.value, &x));
    assert_true(x == value);
}

static void ends(struct mllog_reader *r)
{
    struct mllog_line l;
    assert_int_equal(mllog_next(r, &l), MLLOG_END);
    mllog_close(r);
}

#define EVENT(key, value) ":::MLLOG {\"time_ms\": 17, \"key\": \"" key "\", \"value\": " value ", \"metadata\": {}}"

static void test_what_counts_as_a_line(void **state)
{
    struct mllog_reader r;
    (void)state;
    open_string(&r, "\n0: " EVENT("a", "3") "\r\nno token here\n:" EVENT("b", "5") "\n:::MLLO" EVENT("c", "7") "\r" EVENT("d", "11"));
    next_is(&r, 2, "a", 3);
    next_is(&r, 4, "b", 5);
    next_is(&r, 5, "c", 7);
    next_is(&r, 5, "d", 11);            /* a lone \r ends a record, not a line; and no newline ends the file */
    ends(&r);
}

/* Three colons begin an event anywhere on a line; a character and two colons do not. */
static void test_where_events_begin(void **state)
{
    struct mllog_reader r;
    (void)state;
    open_string(&r, "x" EVENT("one", "1") "\nx" "::MLLOG {\"key\": \"two\"}\n:x" "::MLLOG {\"key\": \"two\"}\n:" EVENT("three", "3") "\n");
    next_is(&r, 1, "one", 1);
    next_is(&r, 4, "three", 3);
    ends(&r);
}

static void test_values_as_python_has_them(void **state)
{
    struct mllog_reader r;
    struct mllog_line l;
    double x;
    (void)state;
    open_string(&r, EVENT("list", "[4, 7]") "\n" EVENT("text", "\"2.5\"") "\n" EVENT("inf", "Infinity") "\n" EVENT("minus", "-Infinity") "\n"
                    EVENT("huge", "1e999") "\n" EVENT("long", "123456789012345678901234567890") "\n" EVENT("nan", "NaN") "\n"
                    EVENT("bool", "true") "\n" EVENT("deep", "{\"x\": [Infinity, -3]}") "\n" EVENT("minus-huge", "-1e999") "\n");
    next_is(&r, 1, "list", 5.5);
    next_is(&r, 2, "text", 2.5);
    next_is(&r, 3, "inf", HUGE_VAL);
    next_is(&r, 4, "minus", -HUGE_VAL);
    next_is(&r, 5, "huge", HUGE_VAL);
    next_is(&r, 6, "long", 123456789012345678901234567890.0);
    assert_int_equal(mllog_next(&r, &l), MLLOG_LINE);
    assert_true(mllog_number(l.value, &x) && isnan(x));
    next_is(&r, 8, "bool", 1);
    assert_int_equal(mllog_next(&r, &l), MLLOG_LINE);
    assert_true(mllog_number(json_array_get(json_object_get(l.value, "x"), 1), &x) && x == -3);
    assert_false(mllog_number_loose(l.value, &x));
    next_is(&r, 10, "minus-huge", -HUGE_VAL);
    ends(&r);
}

/* A value in a message is cut when long; as text it is whole, without quotes, on one line. */
static void test_values_as_text(void **state)
{
    static const struct { const char *value, *shown, *text; } cases[] = {
        { "Infinity", "Infinity", "Infinity" }, { "-1e999", "-Infinity", "-Infinity" }, { "NaN", "NaN", "NaN" }, { "\"NaN\"", "\"NaN\"", "NaN" },
        { "2.50", "2.5", "2.5" }, { "12345678901", "12345678901", "12345678901" }, { "0.12345678901", "0.123456789", "0.123456789" },
        { "true", "true", "true" }, { "null", "null", "null" }, { "[4, 7.5]", "[4, 7.5]", "[4, 7.5]" }, { "\"a\\tb\\u0007c\"", "\"a\\tb\\u0007c\"", "a b c" },
        { "\"\\u0002x\"", "\"\\u0002x\"", " x" }, { "\"\"", "\"\"", "" },
        { "\"seventy characters, of which sixty are shown and all are in the text.\"", "\"seventy characters, of which sixty are shown and all are in",
          "seventy characters, of which sixty are shown and all are in the text." },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct mllog_reader r;
        struct mllog_line l;
        char shown[64];
        open_string(&r, arena_printf(&a, EVENT("a", "%s"), cases[i].value));
        assert_int_equal(mllog_next(&r, &l), MLLOG_LINE);
        assert_string_equal(mllog_show(l.value, shown), cases[i].shown);
        assert_string_equal(mllog_text(l.value, &a), cases[i].text);
        ends(&r);
        arena_free(&a);
    }
}

/* "Infinity" inside a string is text; so is a number in a string for mllog_number(). */
static void test_strings_stay_strings(void **state)
{
    struct mllog_reader r;
    struct mllog_line l;
    double x;
    (void)state;
    open_string(&r, EVENT("a", "\"Infinity and 1e999 \\\" NaN\"") "\n" EVENT("b", "\"7\"") "\n");
    assert_int_equal(mllog_next(&r, &l), MLLOG_LINE);
    assert_string_equal(json_string_value(l.value), "Infinity and 1e999 \" NaN");
    assert_int_equal(mllog_next(&r, &l), MLLOG_LINE);
    assert_false(mllog_number(l.value, &x));
    ends(&r);
}

static void test_bytes_of_any_kind(void **state)
{
    struct mllog_reader r;
    struct mllog_line l;
    (void)state;
    open_string(&r, "\xff\x80 " EVENT("a", "\"caf\xe9\"") "\n" EVENT("b", "\"caf\xc3\xa9\"") "\n" EVENT("c", "\"x\\ud83dy\"") "\n"
                    EVENT("d", "\"\\ud83d\\ude00\"") "\n" EVENT("e", "\"x\\\\\"") "\n" EVENT("f", "\"\\\"\"") "\n" EVENT("g", "\"\\u00e9\\u0041\"") "\n"
                    EVENT("h", "\"\\ude00\"") "\n" EVENT("i", "\"\\ud83d\\u0041\"") "\n" EVENT("j", "\"\\uD83D\\uDE00\"") "\n"
                    EVENT("k", "\"\\udbff\\udfff\"") "\n" EVENT("l", "\"\\ud800\\udc00\"") "\n" EVENT("m", "\"\\udfff\\ud7ff\\ue000\"") "\n" EVENT("n", "\"\\udc00\\udc00\"") "\n");
    static const char *const want[] = { "caf\xc3\xa9", "caf\xc3\xa9", "x\xef\xbf\xbdy", "\xf0\x9f\x98\x80", "x\\", "\"", "\xc3\xa9" "A",
                                        "\xef\xbf\xbd", "\xef\xbf\xbd" "A", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80",
                                        "\xef\xbf\xbd\xed\x9f\xbf\xee\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd" };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(mllog_next(&r, &l), MLLOG_LINE);
        assert_string_equal(json_string_value(l.value), want[i]);
    }
    ends(&r);
}

static void test_long_lines_in_bounded_memory(void **state)
{
    struct mllog_reader r;
    struct mllog_line l;
    size_t n = 9 << 20;
    char *text = malloc(n);
    (void)state;
    memset(text, 'x', n);
    memcpy(text + 5 * (1 << 20), ":::MLLOG {", 10);     /* an event of 3 MiB, after a line of 5 MiB without one */
    text[8 << 20] = '\n';
    size_t tail = strlen(EVENT("last", "13"));
    memcpy(text + n - tail, EVENT("last", "13"), tail);
    open_text(&r, text, n);
    assert_int_equal(mllog_next(&r, &l), MLLOG_BAD_LINE);
    assert_string_equal(r.problem, "is an event longer than 1048576 bytes");
    next_is(&r, 2, "last", 13);
    assert_true(r.arena.used_bytes < 8 << 20);
    ends(&r);
    free(text);
}

static void test_bad_lines_say_why(void **state)
{
    static const struct { const char *file, *problem; } cases[] = {
        { "unclosed", "is not JSON: '}' expected near end of file" },
        { "list", "is not a JSON object" },
        { "no_key", "has no 'key' that is a string" },
        { "no_value", "has no 'value'" },
        { "no_metadata", "has no 'metadata'" },
        { "no_time", "has no 'time_ms' that is a number" },
        { "empty", "is not JSON: '[' or '{' expected near end of file" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[96];
        struct mllog_reader r;
        struct mllog_line l;
        struct err err;
        snprintf(path, sizeof path, "tests/bad/mllog/%s.txt", cases[i].file);
        assert_true(mllog_open(&r, path, true, &err));
        assert_int_equal(mllog_next(&r, &l), MLLOG_BAD_LINE);
        assert_string_equal(r.problem, cases[i].problem);
        assert_int_equal(l.line, 1);
        ends(&r);
    }
}

/* An event may be cut off anywhere: the message is about the text that is there, and the next event is read. */
static void test_events_cut_off(void **state)
{
    static const struct { const char *text, *problem; } cut[] = {
        { "{\"key\": \"a", "premature end of input near '\"a'" }, { "{\"", "premature end of input near '\"'" },
        { "{\"key\": \"a\\", "invalid escape near '\"a\\'" }, { "{\"key\": \"\\u00e", "invalid escape near '\"\\u00e'" },
        { "{\"key\": \"\\ud83d\\ude0", "invalid escape near '\"\\ufffd\\ude0'" }, { "{\"key\": -", "invalid token near '-'" },
        { "{\"key\": Infinit", "invalid token near 'Infinit'" }, { "{\"key\"", "':' expected near end of file" },
        { "{\"key\": 1e999", "'}' expected near end of file" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        struct arena a = { 0 };
        struct mllog_reader r;
        struct mllog_line l;
        open_string(&r, arena_printf(&a, ":::MLLOG %s\n" EVENT("next", "7") "\n", cut[i].text));
        assert_int_equal(mllog_next(&r, &l), MLLOG_BAD_LINE);
        assert_string_equal(r.problem, arena_printf(&a, "is not JSON: %s", cut[i].problem));
        next_is(&r, 2, "next", 7);
        ends(&r);
        arena_free(&a);
    }
}

static void test_no_file(void **state)
{
    struct mllog_reader r;
    struct err err;
    (void)state;
    assert_false(mllog_open(&r, "tests/bad/mllog/absent.txt", true, &err));
    assert_string_equal(err.msg, "tests/bad/mllog/absent.txt: No such file or directory");
    assert_false(mllog_open(&r, "tests", true, &err));
    assert_string_equal(err.msg, "tests: is a folder, want a log file");
    assert_false(mllog_open(&r, "tests/bad/mllog/absent.txt", false, &err));
    assert_string_equal(err.msg, "tests/bad/mllog/absent.txt: No such file or directory");
}

/* A link to a log is followed on request, else refused as a link; a link to itself fails. */
static void test_links(void **state)
{
    struct arena a = { 0 };
    struct mllog_reader r;
    struct err err;
    (void)state;
    const char *log = temp_file("", 0, ".txt"), *link = arena_printf(&a, "%s.link", log), *loop = arena_printf(&a, "%s.loop", log);
    assert_int_equal(symlink(log, link), 0);
    assert_int_equal(symlink(loop, loop), 0);
    assert_true(mllog_open(&r, link, true, &err));
    mllog_close(&r);
    assert_false(mllog_open(&r, link, false, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: is a symbolic link, want a file", link));
    assert_false(mllog_open(&r, loop, true, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: Too many levels of symbolic links", loop));
    unlink(log), unlink(link), unlink(loop);
    arena_free(&a);
}

/* A sparse file, which takes no space on disk. */
static void test_too_large(void **state)
{
    const char *path = temp_file("", 0, ".txt");
    struct mllog_reader r;
    struct err err;
    (void)state;
    assert_int_equal(truncate(path, MLLOG_LARGEST_BYTES), 0);
    assert_true(mllog_open(&r, path, true, &err));
    mllog_close(&r);
    assert_int_equal(truncate(path, MLLOG_LARGEST_BYTES + 1), 0);
    assert_false(mllog_open(&r, path, true, &err));
    unlink(path);
    assert_non_null(strstr(err.msg, ".txt: 268435457 bytes, more than the 268435456 that a log may have"));
}

static void test_written_as_python_does(void **state)
{
    struct arena a = { 0 };
    struct mllog_entry e = { "bert", "eval_accuracy", MLLOG_POINT, 1652172957675, mllog_real(0.72, &a), "train \"1\".py", 1375,
                             "\"epoch_num\": 175000" };
    char *text;
    (void)state;
    PRINTED(text, mllog_write(f, &e));
    assert_string_equal(text, ":::MLLOG {\"namespace\": \"bert\", \"time_ms\": 1652172957675, \"event_type\": \"POINT_IN_TIME\", "
                              "\"key\": \"eval_accuracy\", \"value\": 0.72, \"metadata\": {\"file\": \"train \\\"1\\\".py\", \"lineno\": 1375, "
                              "\"epoch_num\": 175000}}\n");
    free(text);
    arena_free(&a);
}

static void test_numbers_read_back_the_same(void **state)
{
    static const double values[] = { 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2.385, 1e21, 123456789 };
    struct arena a = { 0 };
    double x;
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(parse_f64(mllog_real(values[i], &a), &x) && x == values[i]);
    assert_string_equal(mllog_real(123456789, &a), "123456789");
    assert_string_equal(mllog_real(-123456789012345, &a), "-123456789012345");
    assert_string_equal(mllog_real(HUGE_VAL, &a), "Infinity");
    assert_string_equal(mllog_real(0.1, &a), "0.1");
    arena_free(&a);
}

/* Events that mention none of the keys are skipped; one with a backslash may mention any. */
static void test_a_first_look(void **state)
{
    static const char *const keys[] = { "other", "seed" };
    static const struct { const char *key; uint64_t line; } want[] = { { "seed", 2 }, { "seed", 3 }, { "b", 4 }, { "b", 6 } };
    struct mllog_reader r;
    struct mllog_line l;
    (void)state;
    open_string(&r, EVENT("a", "3") "\n" EVENT("seed", "3") "\n" EVENT("s\\u0065ed", "5") "\n" EVENT("b", "\"my seed\"") "\n" EVENT("b", "4") "\n"
                    EVENT("b", "\"\\n\"") "\n");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(mllog_next_of(&r, keys, 2, &l), MLLOG_LINE);
        assert_string_equal(l.key, want[i].key);
        assert_int_equal(l.line, want[i].line);
    }
    assert_int_equal(mllog_next_of(&r, keys, 2, &l), MLLOG_END);
    mllog_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_counts_as_a_line), cmocka_unit_test(test_where_events_begin), cmocka_unit_test(test_values_as_python_has_them),
        cmocka_unit_test(test_strings_stay_strings), cmocka_unit_test(test_bytes_of_any_kind),
        cmocka_unit_test(test_long_lines_in_bounded_memory), cmocka_unit_test(test_bad_lines_say_why), cmocka_unit_test(test_values_as_text), cmocka_unit_test(test_events_cut_off), cmocka_unit_test(test_no_file), cmocka_unit_test(test_links),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_written_as_python_does), cmocka_unit_test(test_numbers_read_back_the_same),
        cmocka_unit_test(test_a_first_look),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
