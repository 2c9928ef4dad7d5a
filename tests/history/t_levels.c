/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_levels.c - what becomes of the changes of a series: accepted, repaired, or lasting. */
#include "tests/check.h"
#include "results/history/history.h"
#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <string.h>

/* Stretches of points about a level, which take three values in turn; n 0 ends the list. */
struct stretch { double level; size_t n; };

static size_t draw(double *x, const struct stretch *s)
{
    size_t n = 0;
    for (; s->n; s++)
        for (size_t i = 0; i < s->n; i++, n++)
            x[n] = s->level + 0.125 * (double)(n * 5 % 3);
    return n;
}

/* Levels as text: "worse 41 lasts" for each change, by its end. */
static const char *told(const struct series_level *levels, size_t n, struct arena *a)
{
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(a, "%s%s%zu %s", text, i ? "; " : "", levels[i].change.from, change_end_names[levels[i].end]);
    return text;
}

/* Lower is better. Acceptances are by point; SIZE_MAX ends them. */
static void what_becomes_of_a_change(void **state)
{
    enum { NONE = -1 };
    static const struct { struct stretch s[6]; int accepted[3]; int better; const char *told; bool worse; } cases[] = {
        { { { 10, 40 } }, { NONE }, -1, "", false },
        { { { 10, 40 }, { 12, 40 } }, { NONE }, -1, "40 worse", true },
        { { { 10, 40 }, { 12, 40 } }, { NONE }, 1, "40 better", false },
        { { { 10, 40 }, { 12, 40 } }, { 60, NONE }, -1, "40 accepted", false },
        { { { 10, 40 }, { 12, 40 } }, { 39, NONE }, -1, "40 worse", true },                     /* the level before it was accepted */
        { { { 10, 40 }, { 12, 40 }, { 10, 40 } }, { NONE }, -1, "40 repaired; 80 back", false },
        { { { 10, 40 }, { 12, 8 }, { 10, 10 } }, { NONE }, -1, "40 repaired; 48 back", false },         /* a repair needs few points */
        { { { 10, 40 }, { 12, 40 }, { 11, 40 } }, { NONE }, -1, "40 worse; 80 worse", true },           /* half repaired */
        { { { 10, 40 }, { 12, 40 }, { 9, 40 } }, { NONE }, -1, "40 repaired; 80 better", false },
        { { { 10, 40 }, { 12, 40 }, { 9, 40 }, { 10, 40 } }, { NONE }, -1, "40 repaired; 80 better; 120 worse", true },
        { { { 10, 40 }, { 12, 40 }, { 13, 40 } }, { 50, NONE }, -1, "40 accepted; 80 worse", true },
        { { { 10, 40 }, { 12, 40 }, { 13, 40 } }, { 50, 119, NONE }, -1, "40 accepted; 80 accepted", false },
        { { { 10, 40 }, { 12, 40 }, { 13, 40 } }, { 100, NONE }, -1, "40 accepted; 80 accepted", false },       /* the later covers both */
        { { { 10, 40 }, { 12, 40 }, { 10, 40 } }, { 50, NONE }, -1, "40 accepted; 80 better", false },
        { { { 10, 40 }, { 12, 40 }, { 10, 40 } }, { NONE }, 0, "40 repaired; 80 back", false },         /* any change counts */
        { { { 10, 40 }, { 9, 40 } }, { NONE }, 0, "40 worse", true },
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x[200];
        struct series_level *levels;
        struct series_acceptance accepted[3];
        size_t n = draw(x, cases[i].s), n_accepted = 0;
        for (; cases[i].accepted[n_accepted] != NONE; n_accepted++)
            accepted[n_accepted] = (struct series_acceptance){ (size_t)cases[i].accepted[n_accepted], "a reason" };
        size_t n_levels = series_levels(&levels, x, n, &(struct series_rule){ .better = cases[i].better }, accepted, n_accepted, &a);
        assert_string_equal(told(levels, n_levels, &a), cases[i].told);
        assert_int_equal(series_is_worse(levels, n_levels), cases[i].worse);
    }
    arena_free(&a);
}

static void a_repair_names_the_change_that_made_it(void **state)
{
    double x[200];
    struct arena a = {0};
    struct series_level *levels;
    (void)state;
    size_t n = draw(x, (const struct stretch[]){ { 10, 40 }, { 12, 40 }, { 13, 40 }, { 10, 40 }, { 0, 0 } });
    assert_int_equal(series_levels(&levels, x, n, &(struct series_rule){ .better = -1 }, NULL, 0, &a), 3);
    assert_true(levels[0].end == CHANGE_REPAIRED && levels[0].ended_by == 2 && levels[1].end == CHANGE_REPAIRED && levels[1].ended_by == 2);
    assert_true(levels[2].change.from == 120 && levels[2].change.verdict == SERIES_BETTER);
    arena_free(&a);
}

/* Steps of 4 deviations after 40 points, in 60 histories: how many are dated right when they are told, and how many in the end. */
static void a_change_is_dated_again(void **state)
{
    struct arena a = {0};
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    size_t at_first = 0, in_the_end = 0;
    (void)state;
    for (size_t k = 0; k < 60; k++) {
        struct series_level *levels;
        double x[100];
        size_t n = 40;
        for (size_t i = 0; i < 100; i++)
            x[i] = gsl_ran_ugaussian(r) + (i >= 40 ? 4 : 0);
        while (series_levels(&levels, x, n, &(struct series_rule){ .better = -1 }, NULL, 0, &a) == 0 && n < 100)
            n++;
        at_first += levels[0].change.from == 40;
        assert_true(series_levels(&levels, x, 100, &(struct series_rule){ .better = -1 }, NULL, 0, &a) > 0);
        in_the_end += levels[0].change.from == 40;
        assert_true(levels[0].change.from <= levels[0].change.found);
    }
    assert_true(in_the_end > at_first);
    gsl_rng_free(r);
    arena_free(&a);
}

/* Each point of a worse level that lasts once took a copy of the series in memory, and the time to sort it. */
static void a_level_that_lasts_takes_no_memory_for_each_point(void **state)
{
    static double x[3000];
    struct arena a = {0};
    struct series_level *levels;
    (void)state;
    size_t n = draw(x, (const struct stretch[]){ { 10, 100 }, { 12, 2900 }, { 0, 0 } });
    assert_int_equal(series_levels(&levels, x, n, &(struct series_rule){ .better = -1 }, NULL, 0, &a), 1);
    assert_true(levels[0].end == CHANGE_LASTS && levels[0].change.from == 100);
    assert_true(a.used_bytes < 4096);
    arena_free(&a);
}

static void acceptances_are_kept_beside_the_series(void **state)
{
    static const struct { const char *series, *table; } cases[] = { { "a/b.csv", "a/b.accepted.csv" }, { "a.b/c", "a.b/c.accepted.csv" }, { "x.y.json", "x.y.accepted.csv" },
                                                                    { ".hidden", ".hidden.accepted.csv" }, { "d/.h", "d/.h.accepted.csv" } };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(acceptances_path(cases[i].series, &a), cases[i].table);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_becomes_of_a_change), cmocka_unit_test(a_repair_names_the_change_that_made_it),
    cmocka_unit_test(a_level_that_lasts_takes_no_memory_for_each_point), cmocka_unit_test(a_change_is_dated_again),
    cmocka_unit_test(acceptances_are_kept_beside_the_series),
};
TAP_MAIN(tests)
