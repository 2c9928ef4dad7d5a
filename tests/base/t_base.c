/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_base.c - numbers, texts, names and the arena: what they accept and the exact words of what they refuse. */
#include "tests/check.h"
#include "system-model/base/base.h"
#include <inttypes.h>
#include <sys/wait.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

static void numbers_are_whole_texts(void **state)
{
    (void)state;
    uint64_t u = 7;
    double d = 7;
    assert_true(parse_u64("18446744073709551615", &u));
    assert_true(u == UINT64_MAX);
    assert_false(parse_u64("18446744073709551616", &u));
    assert_false(parse_u64("-1", &u));
    assert_false(parse_u64("", &u));
    assert_false(parse_u64("12 ", &u));
    assert_true(parse_f64("-1.25e2", &d));
    assert_near(d, -125, 0);
    assert_false(parse_f64("nan", &d));
    assert_false(parse_f64("1e999", &d));
    assert_false(parse_f64("0x10", &d));
    assert_false(parse_f64("1,5", &d));
    assert_false(parse_f64("1..5", &d));
    assert_false(parse_f64("1.2.5", &d));
    assert_false(parse_f64("..", &d));
}

/* A unit may follow a number, with a prefix; another unit may not. */
static void quantities_have_the_unit_of_their_key(void **state)
{
    static const struct { const char *text, *unit; double value; } read[] = {
        { "32GB", "B", 32e9 }, { "624KiB", "B", 638976 }, { "1.5ms", "s", 1.5e-3 }, { "1.5 ms", "s", 1.5e-3 }, { "100ns", "s", 100e-9 }, { "1.85GHz", "Hz", 1.85e9 },
        { "3 GB/s", "B/s", 3e9 }, { "2e9", "Hz", 2e9 }, { "7", "", 7 }, { "7", NULL, 7 }, { "3s", "s", 3 }, { "12 cycles", "cycles", 12 },
    };
    static const struct { const char *text, *unit; } refused[] = {
        { "32GB", "Hz" }, { "3GB", "B/s" }, { "3GB/s", "B" }, { "1.5KiHz", "Hz" }, { "ms", "s" }, { "1e3ms", "s" }, { "8k", "" }, { "8B", NULL }, { "1xs", "s" },
        { "1 ", "s" },
    };
    double x;
    (void)state;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        assert_true(parse_quantity(read[i].text, read[i].unit, &x));
        assert_near(x, read[i].value, 0);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(parse_quantity(refused[i].text, refused[i].unit, &x));
}

/* Halves, powers of ten and their neighbours, and 20,000 doubles of all sizes in any number of digits. */
static void numbers_are_written_as_by_printf(void **state)
{
    static const double hard[] = { 0.5, 1.5, 2.5, 12345678902.5, 1234567890.5, 9999999999.5, 99999.999995, 0.0001, 0.00009999999999999, 1e22, 1e23, 1e-22, 5e-324, 0x1.fffffffffffffp1023,
                                   0, -0.0, 0.1, 0.3, 1e10, 1e9, 123456789e6, 100, INFINITY, 999999999.95, 2.0 / 3 };
    enum { N_HARD = sizeof hard / sizeof *hard };
    char wanted[40], room[NUMBER_ROOM];
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < N_HARD * 3 + 20000; i++) {
        double x = hard[i / 3 % N_HARD];
        x = i % 3 == 1 ? nextafter(x, 0) : i % 3 == 2 ? -nextafter(x, INFINITY) : x;
        seed = hash_bytes(&i, sizeof i, seed);
        if (i >= N_HARD * 3)
            x = ldexp((double)(seed >> 11), (int)(seed % 160) - 130);
        for (int n = 1; n <= 17; n++) {
            snprintf(wanted, sizeof wanted, "%.*g", n, x);
            assert_string_equal(f64_text(room, x, n), wanted);
        }
        snprintf(wanted, sizeof wanted, "%" PRIu64, seed >> seed % 64);
        assert_string_equal(u64_text(room, seed >> seed % 64), wanted);
    }
}

/* The result is that of strtod, for one to seventeen digits with a point before, within or after them. */
static void numbers_are_read_as_by_strtod(void **state)
{
    static const char digits[] = "98765432101234567";
    (void)state;
    for (int n = 1; n <= 17; n++)
        for (int point = 0; point <= n; point++) {
            char text[32];
            double d;
            snprintf(text, sizeof text, "%.*s.%.*s", point, digits, n - point, digits + point);
            assert_true(parse_f64(text, &d));
            assert_true(d == strtod(text, NULL));
        }
}

static void small_arithmetic(void **state)
{
    (void)state;
    assert_int_equal(ceil_div(2640, 91), 30);       /* 91 * 29 = 2639 */
    assert_int_equal(ceil_div(2639, 91), 29);
}

static void arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    struct arena a = {0};
    for (int round = 0; round < 3; round++) {       /* a block that is used again, large pieces too */
        for (size_t i = 1; i < 300000; i += 37 + i / 2) {
            unsigned char *p = arena_alloc(&a, i);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t k = 0; k < i; k++)
                assert_int_equal(p[k], 0);
            memset(p, 0xab, i);
        }
        arena_reset(&a);
    }
    assert_string_equal(arena_printf(&a, "%d tiles", 1472), "1472 tiles");
    for (int n = 120; n < 140; n++)
        assert_int_equal(strlen(arena_printf(&a, "%*d", n, 7)), n);
    arena_free(&a);
    assert_null(a.head);
}

static void grown_arrays_keep_their_items(void **state)
{
    (void)state;
    struct arena a = {0};
    uint32_t *items = NULL;
    size_t cap = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        items = arena_grow(&a, items, i, &cap, sizeof *items);
        items[i] = i * 3;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i * 3);
    arena_free(&a);
}

/* The table is searched up to the given length: its third row is not in it. */
static void fields_are_found_by_name(void **state)
{
    (void)state;
    static const struct field fields[] = { { .name = "first" }, { .name = "second" }, { .name = "third" } };
    assert_ptr_equal(field_find(fields, 2, "first"), &fields[0]);
    assert_ptr_equal(field_find(fields, 2, "second"), &fields[1]);
    assert_null(field_find(fields, 2, "third"));
    assert_null(field_find(fields, 2, "sec"));
}

/* A size that overflows ends the program, also if its low 64 bits are small. */
static void too_much_ends_the_program(void **state)
{
    static const struct { size_t n, item_bytes; bool too_much; } cases[] = {
        { SIZE_MAX / 8 + 2, 8, true }, { SIZE_MAX, 2, true }, { SIZE_MAX / 2 + 2, 2, true }, { 3, 8, false }, { 3, 0, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            struct arena a = {0};
            assert_int_equal(close(STDERR_FILENO), 0);
            arena_array(&a, cases[i].n, cases[i].item_bytes);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[i].too_much ? EXIT_OUT_OF_MEMORY : 0);
    }
}

static void bytes_that_are_not_utf8_are_latin1(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err;
    char *text;
    size_t n;
    const char *whole = "caf\xc3\xa9 \xf0\x9f\x99\x82";
    assert_ptr_equal(utf8_text(whole, &a), whole);
    assert_string_equal(utf8_text("caf\xe9 \xb1 1", &a), "caf\xc3\xa9 \xc2\xb1 1");
    assert_string_equal(utf8_text("\x7f\x80\xbf\xc0", &a), "\x7f\xc2\x80\xc2\xbf\xc3\x80");      /* the first that takes two bytes */
    assert_string_equal(utf8_text("\xc3", &a), "\xc3\x83");        /* cut short */
    assert_string_equal(utf8_text("\xc0\x80", &a), "\xc3\x80\xc2\x80");   /* over-long */
    const char *path = temp_file("\xe9", 1, ".txt");
    assert_true(read_text_file(&text, &n, path, 10, &a, &err));
    assert_string_equal(text, "\xc3\xa9");
    assert_int_equal(n, 2);
    unlink(path);
    arena_free(&a);
}

/* The ends of the ranges of one to four bytes (RFC 3629), codes between and beyond them, over-long forms and truncated ones; each after some
 * ASCII, which is read eight bytes at a time. */
static void utf8_by_its_ranges(void **state)
{
    static const struct { const char *bytes; bool good; } cases[] = {
        { "\x7f", true }, { "\x80", false }, { "\xbf", false }, { "\xc1\xbf", false }, { "\xc2\x80", true }, { "\xdf\xbf", true }, { "\xc2\x7f", false },
        { "\xc2\xc0", false }, { "\xe0\x9f\xbf", false }, { "\xe0\xa0\x80", true }, { "\xed\x9f\xbf", true }, { "\xed\xa0\x80", false },
        { "\xed\xbf\xbf", false }, { "\xee\x80\x80", true }, { "\xef\xbf\xbf", true }, { "\xf0\x8f\xbf\xbf", false }, { "\xf0\x90\x80\x80", true },
        { "\xf4\x8f\xbf\xbf", true }, { "\xf4\x90\x80\x80", false }, { "\xf8\x88\x80\x80\x80", false }, { "\xff", false }, { "\xe0\xa0", false },
        { "\xf0\x90\x80", false }, { "\xc2\x80\x80", false }, { "\xe2\x82\xac\xc3\xa9", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t before = 0; before < 18; before++) {
            char text[64];
            int n = snprintf(text, sizeof text, "%.*s%s", (int)before, "seventeen letters", cases[i].bytes);
            if (is_utf8(text, (size_t)n) != cases[i].good)
                print_error("case %zu behind %zu\n", i, before);
            assert_true(is_utf8(text, (size_t)n) == cases[i].good);
        }
}

/* Up to 300 bytes of names and commas are listed; then dots follow. */
static void long_lists_of_names_are_cut(void **state)
{
    struct arena a = {0};
    char first[149], last[152];
    (void)state;
    memset(first, 'a', sizeof first);
    memset(last, 'b', sizeof last);
    first[148] = last[150] = last[151] = '\0';
    const char *const names[] = { first, last, "c" };
    assert_int_equal(strlen(names_list(names, 2, &a)), 300);
    assert_string_equal(names_list(names, 3, &a) + 300, ", ...");
    last[150] = 'b';
    assert_string_equal(names_list(names, 2, &a) + 148, ", ...");
    assert_string_equal(names_list(names, 0, &a), "");
    arena_free(&a);
}

static void text_in_xml(void **state)
{
    char *text;
    (void)state;
    PRINTED(text, write_xml_text(f, "a<b>&\"c\"\x1f\x20\t\xc3\xa9"));
    assert_string_equal(text, "a&lt;b&gt;&amp;&quot;c&quot;   \xc3\xa9");
    free(text);
}

static void the_first_repeated_name_is_found(void **state)
{
    (void)state;
    size_t earlier = 99;
    const char *const names[] = { "c", "a", "b", "d", "a", "c", "e" };
    assert_int_equal(first_repeated(&earlier, names, 7), 4);
    assert_int_equal(earlier, 1);
    assert_int_equal(first_repeated(&earlier, names, 4), 4);
    assert_int_equal(first_repeated(&earlier, names, 0), 0);
}

/* A message is one line without control characters; letters beyond ASCII stay. */
static void messages_are_one_line(void **state)
{
    struct err err;
    (void)state;
    assert_false(fail(&err, "%s", "a\tb\nc\x7f" "d\x80 e~"));
    assert_string_equal(err.msg, "a?b?c?d\x80 e~");
    assert_false(fail_at(&err, "place"));
    assert_string_equal(err.msg, "place: a?b?c?d\x80 e~");
    assert_false(fail_at(&err, "place"));
    assert_string_equal(err.msg, "place: a?b?c?d\x80 e~");
    assert_false(fail(NULL, "nothing"));
}

/* Lines of a file stand below a message, whatever is put before it later; one for which there is no room is left out whole. */
static void lines_below_a_message(void **state)
{
    struct err err;
    (void)state;
    fail(&err, "a.ini: wrong");
    fail_line(&err, "%s,1", "x\ty");
    fail_line(&err, "z,2");
    assert_string_equal(err.msg, "a.ini: wrong\nx?y,1\nz,2");
    fail_line(&err, "%*s", (int)(sizeof err.msg - strlen(err.msg) - 1), "w");
    assert_string_equal(err.msg, "a.ini: wrong\nx?y,1\nz,2");
    fail_replace(&err, strlen("a.ini"), "b\n");
    fail_at(&err, "run");
    assert_string_equal(err.msg, "run: b?: wrong\nx?y,1\nz,2");
    fail_line(NULL, "nothing");
    fail_replace(NULL, 0, "nothing");
}

#ifdef __SANITIZE_ADDRESS__
/* Pieces of 21 and 9 bytes: nothing but their 30 bytes may be touched, and after a reset nothing at all. */
static void the_sanitizer_guards_what_is_no_piece(void **state)
{
    struct arena a = {0};
    (void)state;
    for (int round = 0; round < 2; round++) {
        const char *first = arena_alloc(&a, 21), *second = arena_alloc(&a, 9);
        for (const char *p = first; p < first + 3000; p++)
            assert_int_equal(!__asan_address_is_poisoned(p), p < first + 21 || (p >= second && p < second + 9));
        arena_reset(&a);
        assert_true(__asan_address_is_poisoned(first) && __asan_address_is_poisoned(second + 8));
    }
    uint32_t *items = NULL;
    size_t n = 0, cap = 0;
    for (uint32_t i = 0; i < 19; i++)
        ARENA_APPEND(&a, items, n, cap, i);
    assert_false(__asan_address_is_poisoned(items + 18));
    assert_true(__asan_address_is_poisoned(items + 19));
    arena_free(&a);
}
#endif

static const struct CMUnitTest tests[] = {
#ifdef __SANITIZE_ADDRESS__
    cmocka_unit_test(the_sanitizer_guards_what_is_no_piece),
#endif
    cmocka_unit_test(quantities_have_the_unit_of_their_key),
    cmocka_unit_test(messages_are_one_line), cmocka_unit_test(lines_below_a_message),
    cmocka_unit_test(the_first_repeated_name_is_found), cmocka_unit_test(numbers_are_whole_texts),
    cmocka_unit_test(numbers_are_read_as_by_strtod), cmocka_unit_test(numbers_are_written_as_by_printf), cmocka_unit_test(small_arithmetic), cmocka_unit_test(arena_gives_zeroed_aligned_memory),
    cmocka_unit_test(grown_arrays_keep_their_items), cmocka_unit_test(utf8_by_its_ranges),
    cmocka_unit_test(long_lists_of_names_are_cut), cmocka_unit_test(text_in_xml),
    cmocka_unit_test(bytes_that_are_not_utf8_are_latin1), cmocka_unit_test(fields_are_found_by_name),
    cmocka_unit_test(too_much_ends_the_program),
};
TAP_MAIN(tests)
