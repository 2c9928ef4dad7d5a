/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_check.c - errors, verdicts and accuracy by hand. */
#include "tests/published/checked_world.h"

static void errors_are_signed_and_relative(void **state)
{
    (void)state;
    struct world w = {0};
    world_check(&w);
    const double want[] = { 0.1, -0.25, 0.25, 0, 0 };
    for (size_t i = 0; i < 5; i++) {
        assert_true(w.check.rows[i].has_simulated);
        assert_near(w.check.rows[i].error, want[i], 1e-12);
    }
    assert_near(w.check.rows[1].simulated, 30, 1e-12);
    assert_near(w.check.rows[2].simulated, 0.0025, 1e-15);
    world_free(&w);
}

/* The first figure is missed by 10 %. A tolerance that is smaller by a tenth fails it, one that is larger by a tenth
 * passes it. */
static void a_tolerance_is_met_or_not(void **state)
{
    (void)state;
    static const struct { double tolerance; enum verdict want; } cases[] = {
        { 0.0999, VERDICT_OUT_OF_TOLERANCE }, { 0.093, VERDICT_OUT_OF_TOLERANCE }, { 0.1001, VERDICT_PASS } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w = {0};
        struct err err;
        world_build(&w);
        w.figures[0].tolerance = cases[i].tolerance;
        assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
        assert_int_equal(w.check.rows[0].verdict, cases[i].want);
        world_free(&w);
    }
}

/* A recipe that is there and fails ends the check: it must not look like a row without a recipe. */
static void a_broken_recipe_ends_the_check(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    const char *path;
    world_build(&w);
    path = temp_file("[recipe]\nid = x\n", 16, ".ini");
    w.figures[5].recipe = path;
    assert_false(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    assert_non_null(strstr(err.msg, ": f: "));
    assert_non_null(strstr(err.msg, ".ini: "));
    assert_non_null(strstr(err.msg, " keys are missing: recipe.workload, recipe.system"));
    world_free(&w);
}

static void figures_are_counted_by_reason(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    world_build(&w);
    w.figures[9] = figure("j", "", "time_to_train_min", 7, 0.1, FIGURE_CONTEXT);
    w.figures[9].without = "peer";
    w.list.n = 10;
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    assert_string_equal(figures_counted(&w.check, &w.a), "10 figures: 5 simulated, 2 without a recipe: 1 need a capability that is missing, 1 of other vendors' machines; "
                                                         "3 without a value");
    world_free(&w);
}

static void verdicts_name_what_is_wrong(void **state)
{
    (void)state;
    struct world w = {0};
    world_check(&w);
    const enum verdict want[] = { VERDICT_PASS, VERDICT_OUT_OF_TOLERANCE, VERDICT_PASS, VERDICT_PASS, VERDICT_DOES_NOT_FIT,
                                  VERDICT_NO_RECIPE, VERDICT_NO_VALUE, VERDICT_NO_VALUE, VERDICT_NO_RECIPE };
    for (size_t i = 0; i < w.check.n; i++)
        assert_int_equal(w.check.rows[i].verdict, want[i]);
    assert_string_equal(w.check.rows[6].why, "fast has no time_to_train_min");
    assert_string_equal(w.check.rows[8].why, "needs bananas");
    assert_false(check_passes(&w.check));               /* b is a validate row */
    assert_string_equal(w.check.rows[5].why, "no recipe yet");
    w.figures[1].tolerance = 0.26;
    struct err err;
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    assert_true(check_passes(&w.check));                /* only context is left */
    world_free(&w);
}

static void a_speedup_is_by_throughput_or_by_time(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    world_build(&w);
    struct result quick = { .id = "quick", .workload = "resnet50", .system = "ipu-pod64", .throughput_samples_per_s = 5500,
                            .step_time_s = 1, .time_to_train_s = 600, .fits = true };
    results_add(&w.from.known, &quick, &w.a);
    w.figures[0] = figure("t", "quick:slow", "time_to_train_speedup_x", 3, 0.1, FIGURE_VALIDATE);
    w.figures[1] = figure("u", "quick:slow", "speedup_x", 5, 0.1, FIGURE_VALIDATE);
    w.list.n = 2;
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    assert_near(w.check.rows[0].simulated, 3, 1e-12);   /* 1800 s / 600 s */
    assert_near(w.check.rows[1].simulated, 5, 1e-12);   /* 5500 / 1100 */
    world_free(&w);
}

static void a_published_value_of_nothing_is_refused(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    world_build(&w);
    w.figures[3].value = 0;
    assert_false(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    assert_string_equal(err.msg, "t.csv:2: d: value 0 is not above 0");
    world_free(&w);
}

/* The errors are 0.1, 0, and -0.25 and 0.25 of times. The ratio, d, repeats other rows. */
static void accuracy_is_median_mean_bias_and_worst(void **state)
{
    (void)state;
    struct world w = {0};
    world_check(&w);
    for (size_t i = 0; i < 5; i++) {
        w.figures[i].role = FIGURE_VALIDATE;
        w.figures[i].configuration = w.figures[i].id;
    }
    struct err err;
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    struct accuracy acc = check_accuracy(&w.check, COUNTS_AS_VALIDATE, &(struct check_group){ .kind = FIGURE_OF_RUN }, &w.a);
    assert_int_equal(acc.n_rows, 4);
    assert_int_equal(acc.n_simulated, 4);
    assert_int_equal(acc.n_passed, 2);
    assert_near(acc.errors.median, 0.35 / 2, 1e-12);
    assert_near(acc.errors.mean, 0.6 / 4, 1e-12);
    assert_near(acc.errors.bias, (0.1 + 0.25 - 0.25) / 4, 1e-12);
    assert_near(acc.max_abs_error, 0.25, 1e-12);
    assert_string_equal(acc.worst->figure->id, "b");    /* the first of equals */
    acc = check_accuracy(&w.check, COUNTS_AS_VALIDATE, &(struct check_group){ .kind = FIGURE_OF_RUN, .workload = "bert-large", .system = "bow-pod16" }, &w.a);
    assert_int_equal(acc.n_rows, 1);                    /* c; d repeats */
    assert_near(acc.errors.median, 0.25, 1e-12);
    world_free(&w);
}

/* One run that is 25 % too fast by its throughput: its step is 20 % too short, and it takes 60 minutes where 75 are
 * published. Sums that ignored the metric would give -15 %; + means too fast. With predicted samples 92 minutes are
 * 22.7 % too slow. */
static void a_bias_is_of_speed_whatever_the_metric(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    world_build(&w);
    const struct result run = { .id = "run", .workload = "resnet50", .system = "ipu-pod16", .throughput_samples_per_s = 1500, .step_time_s = 0.4,
                                .time_to_train_s = 3600, .predicted_time_to_train_s = 5520, .fits = true };
    results_add(&w.from.known, &run, &w.a);
    w.figures[0] = figure("p", "run", "throughput_samples_per_s", 1200, 0.1, FIGURE_VALIDATE);
    w.figures[1] = figure("q", "run", "step_time_s", 0.5, 0.1, FIGURE_VALIDATE);
    w.figures[2] = figure("r", "run", "time_to_train_min", 75, 0.1, FIGURE_VALIDATE);
    w.list.n = 3;
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    struct check_group g = { .kind = FIGURE_OF_RUN };
    assert_near(check_accuracy(&w.check, COUNTS_AS_VALIDATE, &g, &w.a).errors.bias, 0.65 / 3, 1e-12);
    assert_near(check_accuracy(&w.check, COUNTS_AS_VALIDATE, &g, &w.a).errors.mean, 0.65 / 3, 1e-12);
    g.samples = SAMPLES_PREDICTED;
    assert_near(check_accuracy(&w.check, COUNTS_AS_VALIDATE, &g, &w.a).errors.bias, -17 / 75.0, 1e-12);
    world_free(&w);
}

/* A ratio of either role repeats its configurations. A context ratio stays context, and a derived ratio is in its
 * own group. */
static void a_ratio_repeats_what_it_is_made_of(void **state)
{
    static const struct { enum role role; size_t n_parents; enum counts_as want; } cases[] = {
        { FIGURE_VALIDATE, 0, COUNTS_AS_REPEAT }, { FIGURE_CALIBRATE, 0, COUNTS_AS_REPEAT }, { FIGURE_CONTEXT, 0, COUNTS_AS_CONTEXT },
        { FIGURE_VALIDATE, 2, COUNTS_AS_VALIDATE }, { FIGURE_CALIBRATE, 2, COUNTS_AS_CALIBRATE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w = {0};
        struct err err;
        world_build(&w);
        w.figures[3].role = cases[i].role;              /* 3.5 times: fast over slow */
        w.figures[3].n_parents = cases[i].n_parents;
        assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
        assert_int_equal(w.check.rows[3].counts_as, cases[i].want);
        assert_near(w.check.rows[3].simulated, 3.5, 1e-12);
        world_free(&w);
    }
}

/* Two runs of one configuration, which calibrates: 46 minutes predicted for 40, and in the other 33 for 36.8. */
static void predicted_times_count_configurations_too(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    world_build(&w);
    const struct result other = { .id = "other", .workload = "resnet50", .system = "ipu-pod16", .throughput_samples_per_s = 900, .step_time_s = 0.6,
                                  .time_to_train_s = 1700, .predicted_time_to_train_s = 1980, .fits = true };
    results_add(&w.from.known, &other, &w.a);
    w.figures[2] = figure("o", "other", "time_to_train_min", 36.8, 0.2, FIGURE_VALIDATE);
    w.figures[2].configuration = "slow";
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    struct check_group g = { .samples = SAMPLES_PREDICTED };
    struct accuracy acc = check_accuracy(&w.check, COUNTS_AS_VALIDATE, &g, &w.a);
    assert_int_equal(acc.n_rows, 2);
    assert_int_equal(acc.errors.n, 1);
    assert_near(acc.errors.mean, (6 / 40.0 + 3.8 / 36.8) / 2, 1e-12);
    assert_near(acc.errors.bias, (3.8 / 36.8 - 6 / 40.0) / 2, 1e-12);
    world_free(&w);
}

/* a, c and e share one configuration, b has its own: errors of (0.1 + 0.25 + 0) / 3 and 0.25. */
static void a_configuration_counts_once(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    world_build(&w);
    w.figures[0].role = w.figures[4].role = FIGURE_VALIDATE;
    w.figures[0].configuration = w.figures[2].configuration = w.figures[4].configuration = "same";
    w.figures[1].configuration = "other";
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    struct accuracy acc = check_accuracy(&w.check, COUNTS_AS_VALIDATE, &(struct check_group){ .kind = FIGURE_OF_RUN }, &w.a);
    assert_int_equal(acc.n_rows, 4);
    assert_int_equal(acc.errors.n, 2);
    assert_near(acc.errors.mean, (0.35 / 3 + 0.25) / 2, 1e-12);
    assert_near(acc.errors.median, (0.35 / 3 + 0.25) / 2, 1e-12);
    assert_near(acc.errors.bias, ((0.1 - 0.25) / 3 + 0.25) / 2, 1e-12);      /* c and b are times */
    assert_near(acc.max_abs_error, 0.25, 1e-12);
    world_free(&w);
}

/* A configuration that calibrates has been seen, so its other rows validate nothing. */
static void rows_of_a_calibrated_configuration_repeat_it(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    world_build(&w);
    w.figures[2].configuration = "slow";                /* a calibrates; b and c validate */
    w.figures[1].configuration = "other";
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    const enum counts_as want[] = { COUNTS_AS_CALIBRATE, COUNTS_AS_VALIDATE, COUNTS_AS_REPEAT, COUNTS_AS_CONTEXT };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(w.check.rows[i].counts_as, want[i]);
    struct check_group any = { .kind = FIGURE_OF_RUN };
    assert_int_equal(check_accuracy(&w.check, COUNTS_AS_VALIDATE, &any, &w.a).n_rows, 1);
    assert_near(check_accuracy(&w.check, COUNTS_AS_REPEAT, &any, &w.a).errors.bias, -0.25, 1e-12);
    world_free(&w);
}

/* 40 minutes are published: 30 are simulated with the published samples, 46 with the predicted ones. A score that is
 * published twice counts once. */
static void times_to_train_by_published_and_predicted_samples(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    char *text;
    world_build(&w);
    w.figures[0].configuration = "other";
    w.figures[8] = figure("again", "slow", "time_to_train_min", 41, 0.2, FIGURE_VALIDATE);
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    for (size_t i = 0; i < w.check.n; i++)
        assert_int_equal(w.check.rows[i].has_predicted, i == 1);
    assert_near(w.check.rows[1].predicted, 46, 1e-12);
    assert_near(w.check.rows[1].predicted_error, 0.15, 1e-12);
    struct check_group g = { .samples = SAMPLES_PUBLISHED };
    struct accuracy given = check_accuracy(&w.check, COUNTS_AS_VALIDATE, &g, &w.a);
    g.samples = SAMPLES_PREDICTED;
    struct accuracy predicted = check_accuracy(&w.check, COUNTS_AS_VALIDATE, &g, &w.a);
    assert_int_equal(given.n_rows, 1);
    assert_int_equal(given.n_passed, 0);
    assert_near(given.errors.bias, 0.25, 1e-12);
    assert_int_equal(predicted.n_rows, 1);
    assert_int_equal(predicted.n_passed, 1);            /* 15 % is within 20 % */
    assert_near(predicted.errors.bias, -0.15, 1e-12);
    PRINTED(text, print_as(f, FORMAT_TEXT, &w));
    assert_golden(text, "tests/golden/check_text.txt", &w.a);
    free(text);
    world_free(&w);
}

/* A row of "fits" is right or wrong, and repeats only rows of memory that calibrate. */
static void fits_is_right_or_wrong(void **state)
{
    (void)state;
    struct world w = {0};
    struct err err;
    world_build(&w);
    w.figures[5] = figure("too large", "big", "fits", 0, 0.1, FIGURE_VALIDATE);
    w.figures[6] = figure("it ran", "slow", "fits", 1, 0.1, FIGURE_VALIDATE);
    w.figures[7] = figure("not too large", "fast", "fits", 0, 0.1, FIGURE_VALIDATE);
    w.figures[5].configuration = "another";             /* big itself ran: row e */
    w.figures[7].configuration = "a third";
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    assert_int_equal(w.check.rows[5].verdict, VERDICT_PASS);
    assert_int_equal(w.check.rows[6].verdict, VERDICT_PASS);
    assert_int_equal(w.check.rows[7].verdict, VERDICT_OUT_OF_TOLERANCE);
    assert_int_equal(w.check.rows[7].counts_as, COUNTS_AS_VALIDATE);   /* a row that calibrates the time of "slow" says nothing about memory */
    assert_int_equal(w.check.rows[6].counts_as, COUNTS_AS_VALIDATE);
    w.figures[8] = figure("calibrates memory", "slow", "fits", 1, 0.1, FIGURE_CALIBRATE);
    assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
    assert_int_equal(w.check.rows[6].counts_as, COUNTS_AS_REPEAT);
    world_free(&w);
}

/* Runs first, a group of all rows for each kind, and each run once by workload and once by system where these are
 * known. */
static void every_row_is_in_each_kind_of_group_once(void **state)
{
    (void)state;
    struct world w = {0};
    size_t n, by_workload = 0, by_system = 0, by_samples = 0, of_all = 0, unknown = 0;
    world_check(&w);
    struct accuracy *all = check_summary(&n, &w.check, &w.a);
    for (size_t i = 0; i < n; i++) {
        size_t *sum = text_is(all[i].group, "all") ? &of_all : text_is(all[i].group, "workload") ? &by_workload
                    : text_is(all[i].group, "system") ? &by_system : &by_samples;
        *sum += all[i].n_rows;
    }
    for (size_t i = 0; i < w.check.n; i++)
        unknown += text_is(w.check.rows[i].workload, "-");
    assert_string_equal(all[0].name, "runs");
    assert_int_equal(of_all, w.check.n);
    assert_int_equal(by_workload, w.check.n - unknown);
    assert_int_equal(by_system, w.check.n - unknown);
    assert_int_equal(by_samples, 4);                    /* b with published and predicted samples, of all and of resnet50 */
    world_free(&w);
}

/* The line through two simulated steps, as in t_derived.c: 65,536 sequences in 12.654 s with 2048 accumulations and
 * in 3.386 s with 512 give an intercept of 0.29707 s. Both runs have to fit and to have a throughput. */
static void a_derived_row_follows_from_simulated_ones(void **state)
{
    static const char one[] = "vendor-bow-pod16-bert-large-ph1-popart", other[] = "vendor-bow-pod64-bert-large-ph1-popart";
    static const struct { double throughput; bool fits; enum verdict want; } cases[] = {
        { 19353, true, VERDICT_PASS }, { 19353, false, VERDICT_DOES_NOT_FIT }, { 0, true, VERDICT_NO_VALUE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w = {0};
        struct err err;
        struct figure parents[] = { figure("p", one, "throughput_samples_per_s", 1, 0.1, FIGURE_VALIDATE), figure("q", other, "throughput_samples_per_s", 1, 0.1, FIGURE_VALIDATE) };
        const struct result first = { .id = one, .workload = "bert-large", .system = "bow-pod16", .throughput_samples_per_s = 5179, .fits = true };
        const struct result second = { .id = other, .workload = "bert-large", .system = "bow-pod64", .throughput_samples_per_s = cases[i].throughput, .fits = cases[i].fits };
        world_build(&w);
        w.paths.recipes_dir = "workloads/recipes";
        results_add(&w.from.known, &first, &w.a);
        results_add(&w.from.known, &second, &w.a);
        w.figures[0] = figure("derived", one, "update_s", 0.25, 0.2, FIGURE_VALIDATE);
        w.figures[0].parents = parents, w.figures[0].n_parents = 2;
        w.list.n = 1;
        assert_true(check_build(&w.check, &w.list, &w.from, &w.a, &err));
        assert_int_equal(w.check.rows[0].verdict, cases[i].want);
        if (w.check.rows[0].has_simulated) {
            assert_near(w.check.rows[0].simulated, 0.29707, 1e-5);
            assert_string_equal(w.check.rows[0].system, "bow-pod64");
        } else {
            assert_string_equal(w.check.rows[0].why, "vendor-bow-pod64-bert-large-ph1-popart has no throughput_samples_per_s");
        }
        world_free(&w);
    }
}

/* Derived rows are grouped by metric, also when a row of another kind has the same metric. */
static void derived_rows_are_grouped(void **state)
{
    (void)state;
    struct arena a = {0};
    struct figure figures[4];
    struct check_row rows[4];
    const struct check c = { .rows = rows, .n = 4 };
    static const char *const metrics[] = { "update_s", "update_s", "step_time_s", "call_s" };
    const char *text = "";
    size_t n;
    for (size_t i = 0; i < 4; i++) {
        figures[i] = figure("row", "run", metrics[i], 1, 0.1, FIGURE_VALIDATE);
        figures[i].n_parents = i == 2 ? 0 : 2;
        rows[i] = (struct check_row){ .figure = &figures[i], .workload = "w", .system = "s", .counts_as = COUNTS_AS_VALIDATE };
    }
    const struct accuracy *all = check_summary(&n, &c, &a);
    for (size_t i = 0; i < n; i++)
        if (text_is(all[i].group, "metric"))
            text = arena_printf(&a, "%s%s %zu; ", text, all[i].name, all[i].n_rows);
    assert_string_equal(text, "update_s 2; call_s 1; ");
    arena_free(&a);
}

static void median_of_even_and_odd_counts(void **state)
{
    (void)state;
    struct arena a = {0};
    const double x[] = { 7, 1, 5, 2.5 };
    assert_near(statistics_median(x, 4, &a), 3.75, 0);
    assert_near(statistics_median(x, 3, &a), 5, 0);
    assert_near(statistics_mean(x, 4), 3.875, 1e-15);
    const double spread[] = { -0.3, 0.1, 0.2, -50 };
    assert_near(statistics_spread_about_zero(spread, 3, &a), 1.4826 * 0.2, 1e-15);
    assert_near(statistics_spread_about_zero(spread, 4, &a), 1.4826 * 0.25, 1e-15);
    assert_near(x[0], 7, 0);                            /* its input stays as it was */
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(errors_are_signed_and_relative),
    cmocka_unit_test(a_tolerance_is_met_or_not), cmocka_unit_test(verdicts_name_what_is_wrong), cmocka_unit_test(a_broken_recipe_ends_the_check), cmocka_unit_test(figures_are_counted_by_reason),
    cmocka_unit_test(a_speedup_is_by_throughput_or_by_time),
    cmocka_unit_test(a_published_value_of_nothing_is_refused),
    cmocka_unit_test(accuracy_is_median_mean_bias_and_worst), cmocka_unit_test(a_bias_is_of_speed_whatever_the_metric),
    cmocka_unit_test(a_ratio_repeats_what_it_is_made_of), cmocka_unit_test(predicted_times_count_configurations_too),
    cmocka_unit_test(a_configuration_counts_once),
    cmocka_unit_test(rows_of_a_calibrated_configuration_repeat_it),
    cmocka_unit_test(times_to_train_by_published_and_predicted_samples),
    cmocka_unit_test(fits_is_right_or_wrong),
    cmocka_unit_test(every_row_is_in_each_kind_of_group_once),
    cmocka_unit_test(a_derived_row_follows_from_simulated_ones), cmocka_unit_test(derived_rows_are_grouped),
    cmocka_unit_test(median_of_even_and_odd_counts),
};
TAP_MAIN(tests)
