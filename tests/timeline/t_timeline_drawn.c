/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_timeline_drawn.c - a timeline as text: each IPU a line of letters. */
#include "system-model/output/output.h"
#include "tests/golden_text.h"
#include "tests/timeline/toy_pipeline.h"

static void assert_drawn(struct toy *y, uint32_t n_columns, const char *golden)
{
    char *text;
    DOCUMENTED(text, timeline_picture(d, &y->timeline, n_columns));
    assert_golden(text, golden, &y->arena);
    free(text);
}

/* The white papers' pictures of four chips: inference, all busy from the fourth batch on; training: fill, steady state, drain. */
static void four_chips_as_the_white_papers_draw_them(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 4, 4, SCHEDULE_GROUPED, false, 10);
    all_alike(&y, 10, 0);
    toy_run(&y);
    assert_drawn(&y, 13, "tests/golden/pipeline_inference.txt");
    arena_free(&y.arena);
    toy_start(&y, 4, 4, SCHEDULE_GROUPED, true, 12);
    all_alike(&y, 10, 20);
    toy_update(&y, ALL_IPUS, 1, 50, 0, 0);
    toy_run(&y);
    assert_int_equal(y.timeline.step_cycles, 15 * 10 + 15 * 20 + 50);
    assert_drawn(&y, 50, "tests/golden/pipeline_training.txt");
    arena_free(&y.arena);
}

/* A stretch of 7 of 10 cycles takes the column from one of 3. */
static void a_picture_shows_what_fills_most_of_a_column(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 2, SCHEDULE_GROUPED, false, 1);
    y.plan.stages[0].forward.part[PART_MATMUL] = 13;
    y.plan.stages[1].forward.part[PART_MATMUL] = 17;
    toy_run(&y);
    char *text;
    DOCUMENTED(text, timeline_picture(d, &y.timeline, 3));
    assert_string_equal(text, "  ipu 0  A..  43 % at work\n  ipu 1  .AA  57 % at work\n");
    free(text);
    arena_free(&y.arena);
}

/* One column for all: of equal stretches the first micro-batch's letter, a forward pass before a backward one, and waiting before both. */
static void a_picture_of_equals(void **state)
{
    static const struct { uint32_t n_ipus, n_batches; bool training; const char *want; } rows[] = {
        { 1, 2, false, "  ipu 0  A  100 % at work\n" }, { 1, 1, true, "  ipu 0  A  100 % at work\n" },
        { 2, 1, false, "  ipu 0  .  50 % at work\n  ipu 1  .  50 % at work\n" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct toy y;
        char *text;
        toy_start(&y, rows[i].n_ipus, rows[i].n_ipus, SCHEDULE_SEQUENTIAL, rows[i].training, rows[i].n_batches);
        all_alike(&y, 10, 10);
        toy_run(&y);
        DOCUMENTED(text, timeline_picture(d, &y.timeline, 1));
        assert_string_equal(text, rows[i].want);
        free(text);
        arena_free(&y.arena);
    }
}

/* Behind the last letter of the alphabet follows the first again. */
static void letters_start_again(void **state)
{
    (void)state;
    for (int training = 0; training < 2; training++) {
        struct toy y;
        char *text;
        toy_start(&y, 1, 1, SCHEDULE_SEQUENTIAL, training, 28);
        all_alike(&y, 10, 10);
        toy_run(&y);
        DOCUMENTED(text, timeline_picture(d, &y.timeline, training ? 56 : 28));
        assert_string_equal(text, training ? "  ipu 0  AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZzAaBb  100 % at work\n"
                                           : "  ipu 0  ABCDEFGHIJKLMNOPQRSTUVWXYZAB  100 % at work\n");
        free(text);
        arena_free(&y.arena);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(four_chips_as_the_white_papers_draw_them),
    cmocka_unit_test(a_picture_shows_what_fills_most_of_a_column), cmocka_unit_test(a_picture_of_equals),
    cmocka_unit_test(letters_start_again),
};
TAP_MAIN(tests)
