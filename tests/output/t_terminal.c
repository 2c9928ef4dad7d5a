/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_terminal.c - quantities as people read them, and lines that are broken at the width of a terminal. */
#include "tests/check.h"
#include "system-model/output/output.h"
#include <math.h>
#include <pty.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static void quantities(void **state)
{
    static const struct { double x; const char *unit; int digits; const char *want; } cases[] = {
        { 0.0572, "s", 3, "57.2 ms" }, { 0.656548, "s", 3, "657 ms" }, { 1.5e-6, "s", 2, "1.5 us" }, { 2.5e-10, "s", 3, "0.250 ns" },
        { 90, "s", 3, "90.0 s" }, { 4000, "s", 3, "4000 s" },               /* no kiloseconds */
        { 638976, "B", 3, "639 kB" }, { 999.6, "B", 3, "1.00 kB" }, { 12, "B", 3, "12 B" }, { 32e9, "B", 2, "32 GB" },
        { 1.85e9, "Hz", 4, "1.850 GHz" }, { 17221, "W", 4, "17.22 kW" }, { 0.0409, "J", 3, "40.9 mJ" }, { -0.002, "s", 2, "-2.0 ms" },
        { 29755.1, "samples/s", 3, "29800 samples/s" }, { 1234567, "", 3, "1230000" }, { 0.28, "", 2, "0.28" }, { 0, "s", 3, "0.00 s" },
        { NAN, "s", 3, "-" }, { INFINITY, "B", 3, "-" },
    };
    (void)state;
    char room[QUANTITY_ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(quantity_text(room, cases[i].x, cases[i].unit, cases[i].digits), cases[i].want);
    assert_string_equal(quantity_change_text(room, 0.38, "s", 2), "+380 ms");
    assert_string_equal(quantity_change_text(room, -0.38, "s", 2), "-380 ms");
    assert_string_equal(quantity_change_text(room, 0, "s", 2), "+0.0 s");
}

/* Two digits of the half width, and of the number what is before and at them. */
static void digits_that_mean_something(void **state)
{
    static const struct { double x, half; int want; } cases[] = {
        { 7147.66, 395, 3 }, { 29755.1, 1555, 3 }, { 1050, 90, 4 }, { 0.6565, 0.036, 3 }, { 7147.66, 7000, 2 }, { 7147.66, 1e5, 2 },
        { 7147.66, 1e-3, 6 }, { 7147.66, 0, 4 }, { 0, 1, 4 }, { 5, NAN, 4 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(digits_within(cases[i].x, cases[i].half), cases[i].want);
}

static void lines_are_broken(void **state)
{
    static const struct { const char *line; size_t width; const char *want; } cases[] = {
        { "", 10, "\n" }, { "short", 10, "short\n" }, { "0123456789", 10, "0123456789\n" },
        { "one two three four", 10, "one two\n  three\n  four\n" },
        { "  indented words are", 12, "  indented\n    words\n    are\n" },
        { "a-word-that-is-longer than", 10, "a-word-that-is-longer\n  than\n" },           /* it stays whole */
        { "a  first  the last cell is long", 20, "a  first  the last\n          cell is\n          long\n" },
        { "a b c d long words", 12, "a b c d long\n  words\n" },                              /* single blanks part no cells */
        { "a wide first cell  and more", 20, "a wide first cell\n  and more\n" },           /* its last cell begins too far right */
        { "\303\244\303\244\303\244\303\244 \303\244\303\244\303\244\303\244 x", 9, "\303\244\303\244\303\244\303\244 \303\244\303\244\303\244\303\244\n  x\n" },
        { "a[1mbc de", 8, "a[1mbc\n  de\n" }, { "\033xy z", 3, "\033xy\n  z\n" },            /* and what is none takes all */
        { "short  ", 10, "short  \n" },
        { "\033[1mbold\033[0m words", 10, "\033[1mbold\033[0m words\n" },                   /* escapes take no column */
        { "\033[1mbold\033[0m words", 9, "\033[1mbold\033[0m\n  words\n" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        PRINTED(text, text_wrap(f, cases[i].line, cases[i].width));
        assert_string_equal(text, cases[i].want);
        free(text);
    }
}

/* Writes a text to a terminal of so many columns, and reads the bytes that reach it. */
static void shown(char *out, size_t room, unsigned short columns, const char *text)
{
    const struct winsize size = { .ws_row = 24, .ws_col = columns };
    struct termios raw;
    int master, slave;
    assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    FILE *to = fdopen(slave, "w"), *f = terminal_stream(to);
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    fputs("\033", to);                  /* the end, so that reading need not wait */
    fflush(to);
    size_t n = 0;
    do {
        ssize_t n_read = read(master, out + n, room - n);
        assert_true(n_read > 0);
        n += (size_t)n_read;
    } while (out[n - 1] != '\033');
    out[n - 1] = '\0';
    fclose(to);
    close(master);
}

#define TEN "nine char "
static void a_terminal_is_written_to(void **state)
{
    static const struct { unsigned short columns; const char *term, *no_color, *text, *want; } cases[] = {
        { 40, "xterm", NULL, "rate: 5\n", "\033[1mrate\033[0m: 5\n" }, { 40, "xterm", NULL, "r: 5\n", "\033[1mr\033[0m: 5\n" },
        { 40, "xterm", "", "rate: 5", "\033[1mrate\033[0m: 5\n" },
        { 40, "xterm", "1", "rate: 5\nx\n", "rate: 5\nx\n" }, { 40, "dumb", NULL, "rate: 5\n\nx", "rate: 5\n\nx\n" },
        { 40, "xterm", NULL, "Rate: 5\n r: 5\nr:5\nr 5\n: 5\n", "Rate: 5\n r: 5\nr:5\nr 5\n: 5\n" },
        { 40, "xterm", NULL, "abcdefghijklmnopqrst, xy: 5\n", "\033[1mabcdefghijklmnopqrst, xy\033[0m: 5\n" },
        { 40, "xterm", NULL, "abcdefghijklmnopqrst, xyz: 5\n", "abcdefghijklmnopqrst, xyz: 5\n" },
        { 40, "xterm", NULL, TEN TEN TEN TEN "x\n", TEN TEN TEN "nine char\n  x\n" },
        { 39, "xterm", NULL, TEN TEN TEN TEN TEN "x\n", TEN TEN TEN TEN TEN "x\n" },              /* too narrow to be broken for */
        { 120, "xterm", NULL, TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "x\n", TEN TEN TEN TEN TEN TEN TEN TEN TEN "nine char\n  x\n" },
        { 120, "xterm", NULL, "  " TEN TEN TEN TEN TEN TEN TEN TEN TEN "nine\n", "  " TEN TEN TEN TEN TEN TEN TEN TEN TEN "nine\n" },
        { 120, "xterm", NULL, "  " TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "x\n", "  " TEN TEN TEN TEN TEN TEN TEN TEN TEN "nine\n    char x\n" },
        { 120, "xterm", NULL, "a  " TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "x\n", "a  " TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "x\n" },      /* a table's row */
        { 120, "xterm", NULL, "  a  " TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "x\n", "  a  " TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "x\n" },
    };
    char out[1000];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("TERM", cases[i].term, 1);
        if (cases[i].no_color)
            setenv("NO_COLOR", cases[i].no_color, 1);
        else
            unsetenv("NO_COLOR");
        shown(out, sizeof out, cases[i].columns, cases[i].text);
        assert_string_equal(out, cases[i].want);
    }
    FILE *f = tmpfile();
    assert_null(terminal_stream(f));
    assert_false(takes_escapes(f) || in_colour(f));
    fclose(f);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(quantities), cmocka_unit_test(digits_that_mean_something), cmocka_unit_test(lines_are_broken),
    cmocka_unit_test(a_terminal_is_written_to),
};
TAP_MAIN(tests)
