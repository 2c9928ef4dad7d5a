/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_report.c - numbers as the report writes them. */
#include "tests/check.h"
#include "harness/report_tables.h"

static void numbers_are_grouped(void **state)
{
    static const struct { double x; int digits; const char *want; } cases[] = {
        { 100860, 4, "100,900" }, { 83328, 6, "83,328" }, { 1234567, 6, "1,234,570" }, { 99996, 4, "100,000" }, { 999.96, 4, "1,000" }, { 100, 4, "100" },
        { 20.6512, 4, "20.65" }, { 0.23299, 4, "0.233" }, { 0.05, 4, "0.05" }, { -1234.5, 6, "-1,234.5" }, { -123, 4, "-123" }, { 0, 4, "0" }, { 2306, 6, "2,306" },
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(grouped_number(cases[i].x, cases[i].digits, &a), cases[i].want);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(numbers_are_grouped) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
