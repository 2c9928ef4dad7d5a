/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_memory_known.c - what is known of memory: the spread by distance, and how often stated chances came true. */
#include "tests/check.h"
#include "results/study/memory_known.h"

static struct figure figure_of(const char *id, const char *metric, double value, enum role role)
{
    return (struct figure){ .id = id, .recipe = id, .configuration = id, .metric = metric, .value = value, .role = role };
}

/* 1000 bytes counted, none certain, on a tile of 1000, by a program one name from the only one that others published. */
static struct memory_question question_of(const struct figure *f, double published_bytes)
{
    return (struct memory_question){ .figure = f, .counted = { 0, 1000 }, .origin = "own", .name = { "f", "train", "w", "c", "another", "fp16", "in turn" }, .need = { 0, 1000 },
                                     .tile_bytes = 1000, .memory_error = 0.03, .published_bytes = published_bytes, .at_first_sight = true };
}
static struct memory_program others = { "others", { "f", "train", "w", "c", "framework", "fp16", "in turn" } };

/* Bytes that were exp(0.3) and exp(-0.4) times those counted: the spread is most likely at the root of the mean square, 0.35355, of which memory_error
 * has 0.03: 0.35228. The step between values tried is 1.75 %. A row that validates moves nothing, and its own origin's rows ask nothing of themselves. */
static void far_is_the_root_of_the_mean_square(void **state)
{
    const struct figure f[] = { figure_of("a", "max_tile_bytes", 1, FIGURE_CALIBRATE), figure_of("b", "max_tile_bytes", 1, FIGURE_CALIBRATE),
                                figure_of("c", "max_tile_bytes", 1, FIGURE_VALIDATE) };
    struct memory_question q[] = { question_of(&f[0], 1000 * exp(0.3)), question_of(&f[1], 1000 * exp(-0.4)), question_of(&f[2], 1000 * exp(3)) };
    struct memory_known m = { .items = q, .n = 2, .record = { .items = &others, .n = 1, .spread.n_verdicts = 98 } };
    (void)state;
    assert_near(memory_far_fit(&m, NULL), 0.35228, 0.007);
    double without = memory_far_fit(&m, NULL);
    m.n = 3;
    assert_near(memory_far_fit(&m, NULL), without, 0);
    assert_near(memory_far_fit(&m, "own"), 0, 0);
}

/* Bytes that were exp(0.3) and exp(-0.4) times those counted are most likely at the root of their mean square, 0.35355. The fall of ln L by 1.9207 is
 * 0.25 / 2 k^2 + 2 ln k = 1 + 2 ln 0.35355 + 1.9207: k = 0.1685 and 1.480. A row that validates does not count, and a verdict with as many bytes as there are,
 * a half, tells nothing. One that ran with exp(0.2) of them, to their power -0.2 / k, asks for more: of exp(-0.25 / 2 k^2) / k^2 P(-0.2 / k), ln falls to both
 * sides of 0.4144. */
static void memory_error_by_hand(void **state)
{
    const struct figure f[] = { figure_of("a", "max_tile_bytes", 1, FIGURE_CALIBRATE), figure_of("b", "max_tile_bytes", 1, FIGURE_CALIBRATE),
                                figure_of("c", "max_tile_bytes", 1, FIGURE_VALIDATE), figure_of("d", "fits", 0, FIGURE_CALIBRATE),
                                figure_of("e", "fits", 1, FIGURE_CALIBRATE) };
    struct memory_question q[] = { question_of(&f[0], 1000 * exp(0.3)), question_of(&f[1], 1000 * exp(-0.4)), question_of(&f[2], 1000 * exp(3)),
                                   question_of(&f[3], 0), question_of(&f[4], 0) };
    struct memory_known m = { .items = q, .n = 4 };
    (void)state;
    struct memory_spread s = memory_error_fit(&m);
    assert_true(s.n_known == 2 && s.n_verdicts == 1);
    assert_near(s.likely, 0.35355, 0.003);
    assert_near(s.low, 0.1685, 0.003);
    assert_near(s.high, 1.48, 0.025);
    assert_true(s.mean_square_root > s.likely && s.mean_square_root < s.high);
    q[4].counted.needed_bytes = (uint64_t)(1e6 * exp(0.2)), q[4].tile_bytes = 1e6;
    m.n = 5;
    s = memory_error_fit(&m);
    assert_true(s.n_known == 2 && s.n_verdicts == 2);
    assert_near(s.likely, 0.4144, 0.004);
    m = (struct memory_known){ .items = &q[2], .n = 1 };
    assert_true(isnan(memory_error_fit(&m).likely));
}

/* One that was too large, 1000 of 1000 bytes: a half. One that ran with 700: ln(1000 / 700) = 0.35667; the spread is fitted without their origin, to nothing,
 * so that the chip's error is all, 11.9 deviations: but one of 98 + 2 verdicts is left. */
static void chances_are_those_of_other_origins(void **state)
{
    const struct figure f[] = { figure_of("a", "fits", 0, FIGURE_CALIBRATE), figure_of("b", "fits", 1, FIGURE_VALIDATE), figure_of("c", "max_tile_bytes", 1, FIGURE_VALIDATE) };
    struct memory_question q[] = { question_of(&f[0], 0), question_of(&f[1], 0), question_of(&f[2], 1000) };
    struct memory_known m = { .items = q, .n = 3, .record = { .items = &others, .n = 1, .spread = { .far = 0.5, .n_verdicts = 98 } } };
    struct arena a = {0};
    size_t n;
    (void)state;
    q[1].need.needed_bytes = 700;
    q[1].at_first_sight = false;
    const struct chance_bin *x = memory_known_chances(&n, &m, &a);
    assert_int_equal(n, 2);
    assert_string_equal(x[0].evidence, "calibrate, first sight");
    assert_true(x[0].from == 0.4 && x[0].n == 1 && x[0].n_true == 0);
    assert_near(x[0].expected, 0.5, 1e-12);
    assert_string_equal(x[1].evidence, "validate, today");
    assert_true(x[1].from == 0.8 && x[1].n_true == 1);
    assert_near(x[1].expected, 0.99, 1e-12);
    arena_free(&a);
}

/* In the published tables: verdicts that are too large and published bytes make a program known, one that ran does not; a configuration asks once.
 * An estimate of how many entities fit says of no recipe that it ran. */
static void published_rows_ask(void **state)
{
    struct figure items[] = { figure_of("vendor-c600-bert-base-sl256-fp32-b4-poprt", "fits", 0, FIGURE_CALIBRATE), figure_of("vendor-c600-bert-base-sl256-fp32-b4-poprt", "fits", 0, FIGURE_CALIBRATE),
                              figure_of("vendor-c600-vit-b16-b32-poprt", "fits", 1, FIGURE_VALIDATE), figure_of("none", "fits", 0, FIGURE_CALIBRATE), figure_of("field-ipu-pod4-transe-100-sgdm-limit", "entities", 3.2e6, FIGURE_VALIDATE) };
    const struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes", .data_dir = "workloads/convergence" };
    const struct figures figures = { .items = items, .n = 5 };
    const struct memory_sights sights = { .items = (struct memory_sight[]){ { "vendor-c600-bert-base-sl256-fp32-b4-poprt", "v", 302720, 618208 } }, .n = 1 };
    struct arena a = {0};
    struct err err = {0};
    struct simulator s;
    struct memory_known m;
    (void)state;
    for (size_t i = 0; i < 5; i++)
        items[i].source = "github a/b", items[i].path = "t.csv";
    items[3].without = "not stated";
    simulator_open(&s, &paths);
    assert_true(memory_known_build(&m, &figures, &(struct first_sight){0}, &sights, &s, &a, &err));
    assert_true(m.n == 2 && m.items[0].at_first_sight && m.items[0].need.needed_bytes == 618208 && !m.items[1].at_first_sight);
    assert_true(m.record.n == 1 && m.record.spread.n_verdicts == 1 && m.record.published.n == 2);
    assert_true(memory_record_published(&m.record, items[0].recipe)->outcome == MEMORY_TOO_LARGE && memory_record_published(&m.record, items[2].recipe)->outcome == MEMORY_RAN);
    assert_string_equal(m.record.items[0].name[BY_WORKLOAD], "bert-base");
    simulator_close(&s);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(far_is_the_root_of_the_mean_square), cmocka_unit_test(memory_error_by_hand), cmocka_unit_test(chances_are_those_of_other_origins),
                                        cmocka_unit_test(published_rows_ask) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("memory_known", tests, NULL, NULL);
}
