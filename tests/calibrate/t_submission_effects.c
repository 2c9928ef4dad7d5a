/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_submission_effects.c - effects and spreads of made-up submissions by hand, and what leaving one submitter out
 * must not see. */
#include "tests/golden_text.h"
#include <jansson.h>
#include "results/calibrate/calibration.h"
#include <math.h>

static struct run_row rows[16];
static struct submission items[16];
static struct submissions all;

static void add(const char *submitter, const char *round, const char *division, enum role role, double ln_ratio)
{
    size_t i = all.n++;
    all.items = items;
    rows[i] = (struct run_row){ .benchmark = "bert", .submitter = submitter, .round = round, .division = division, .role = role };
    items[i] = (struct submission){ &rows[i], 1, false, ln_ratio };
}

/* Spreads of 5 and 12: total 13. One calibration submission at 0.26: weight 25 / 169, so the mean is 25 / 169 x 0.26 and
 * the remaining variance 169 - 25^2 / 169. For another submitter the weight is 0. */
static void effects_by_hand(void **state)
{
    (void)state;
    const struct effect_spreads s = { 5, 12, 9 };
    all.n = 0;
    add("A", "v1.0", "closed", FIGURE_CALIBRATE, 0.26);
    add("A", "v1.0", "closed", FIGURE_VALIDATE, 7);             /* never seen */
    add("A", "v1.0", "open", FIGURE_CALIBRATE, 7);              /* another division */
    assert_near(effect_total(&s), 13, 1e-12);
    struct effect e = effect_of(&all, &s, &s, "bert", "A");
    assert_int_equal(e.n, 1);
    assert_near(e.mean, 25 / 169.0 * 0.26, 1e-12);
    assert_near(e.spread, sqrt(169 - 625 / 169.0), 1e-12);
    e = effect_of(&all, &s, &s, "bert", "B");
    assert_near(e.mean, 0, 0);
    assert_near(e.spread, 13, 1e-12);
}

/* Two calibration submissions, 0.1 and 0.3: V = [169 25; 25 169], weights 25 / 194 each. */
static void two_submissions_share_their_weight(void **state)
{
    (void)state;
    const struct effect_spreads s = { 5, 12, 9 };
    all.n = 0;
    add("A", "v1.0", "closed", FIGURE_CALIBRATE, 0.1);
    add("A", "v1.1", "closed", FIGURE_CALIBRATE, 0.3);
    struct effect e = effect_of(&all, &s, &s, "bert", "A");
    assert_near(e.mean, 25 / 194.0 * 0.4, 1e-12);
    assert_near(e.spread, sqrt(169 - 2 * 625 / 194.0), 1e-12);
}

/* The mean uses spreads of 5 and 12, with weights of 25 / 194 each; the width uses 6.5 and 7.5: total 98.5, covariances
 * 42.25. */
static void a_mean_by_some_spreads_is_as_wide_as_others_say(void **state)
{
    (void)state;
    const struct effect_spreads mean = { 5, 12, 9 }, width = { 6.5, 7.5, 14 }, none = { 0, 0, 0 };
    const double w = 25 / 194.0;
    all.n = 0;
    add("A", "v1.0", "closed", FIGURE_CALIBRATE, 0.1);
    add("A", "v1.0", "closed", FIGURE_CALIBRATE, 0.3);
    struct effect e = effect_of(&all, &mean, &width, "bert", "A");
    assert_near(e.mean, w * 0.4, 1e-12);
    assert_near(e.spread, sqrt(98.5 - 2 * w * (42.25 + 42.25) + w * w * (2 * 98.5 + 2 * 42.25)), 1e-12);
    e = effect_of(&all, &none, &width, "bert", "A");
    assert_true(isnan(e.mean) && e.n == 2);
    e = effect_of(&all, &none, &width, "bert", "B");
    assert_near(e.mean, 0, 0);
    assert_near(e.spread, sqrt(98.5), 1e-12);
}

static struct effect effect_under_both(const char *submitter, struct arena *a)
{
    struct effect_spreads mean = effect_spreads(&all, SPREADS_FOR_MEANS, "bert", NULL, a);
    struct effect_spreads width = effect_spreads(&all, SPREADS_FOR_WIDTHS, "bert", NULL, a);
    return effect_of(&all, &mean, &width, "bert", submitter);
}

/* Submissions that validate never change the mean, to the bit; they change the width. */
static void what_validates_moves_the_width_alone(void **state)
{
    (void)state;
    struct arena a = { 0 };
    static const double y[] = { -0.07, 0.04, -0.11, 0.02, 0.09 }, of_validate[] = { 0.01, -0.3, 0.9 };
    all.n = 0;
    for (size_t i = 0; i < 5; i++)
        add(i < 3 ? "A" : "B", i % 2 ? "v1.0" : "v1.1", "closed", i < 3 ? FIGURE_CALIBRATE : FIGURE_CONTEXT, y[i]);
    const struct effect without = effect_under_both("A", &a);
    assert_true(without.mean < 0);
    add("A", "v1.1", "closed", FIGURE_VALIDATE, 0);
    add("C", "v2.0", "closed", FIGURE_VALIDATE, 0.03);
    double width = without.spread;
    for (size_t i = 0; i < 3; i++) {
        items[5].ln_ratio = of_validate[i];
        struct effect with = effect_under_both("A", &a);
        assert_int_equal(memcmp(&with.mean, &without.mean, sizeof with.mean), 0);
        assert_int_equal(with.n, 3);
        assert_true(fabs(with.spread - width) > 1e-3);
        width = with.spread;
    }
    arena_free(&a);
}

/* Unrelated submitters with one submission each: only the total spread is determined, and it is the root mean square
 * of the ratios. */
static void spreads_are_the_most_likely(void **state)
{
    (void)state;
    struct arena a = { 0 };
    static const char *const names[] = { "A", "B", "C", "D", "E" };
    static const double y[] = { 0.05, -0.11, 0.02, 0.07, -0.06 };
    double squares = 0;
    all.n = 0;
    for (size_t i = 0; i < 5; i++) {
        add(names[i], "v1.0", "closed", FIGURE_CONTEXT, y[i]);
        squares += y[i] * y[i];
    }
    add("F", "v1.0", "open", FIGURE_CONTEXT, 3);                /* another division */
    add("G", "v1.0", "closed", FIGURE_VALIDATE, 0.17);          /* for widths alone */
    struct effect_spreads wide = effect_spreads(&all, SPREADS_FOR_WIDTHS, "bert", NULL, &a);
    assert_int_equal(wide.n, 6);
    assert_near(effect_total(&wide), sqrt((squares + 0.0289) / 6), 1e-4);
    struct effect_spreads s = effect_spreads(&all, SPREADS_FOR_MEANS, "bert", NULL, &a);
    assert_int_equal(s.n, 5);
    assert_near(effect_total(&s), sqrt(squares / 5), 1e-4);
    s = effect_spreads(&all, SPREADS_FOR_MEANS, "bert", "B", &a);
    assert_int_equal(s.n, 4);
    assert_near(effect_total(&s), sqrt((squares - 0.0121) / 4), 1e-4);
    assert_int_equal(effect_spreads(&all, SPREADS_FOR_MEANS, "rnnt", NULL, &a).n, 0);
    arena_free(&a);
}

/* A submitter that is always 0.3 off: that is the submitter's spread, not the submissions'. */
static void a_bias_is_not_spread(void **state)
{
    (void)state;
    struct arena a = { 0 };
    all.n = 0;
    for (int i = 0; i < 6; i++)
        add("A", i < 3 ? "v1.0" : "v1.1", "closed", FIGURE_CALIBRATE, 0.3 + (i % 2 ? 0.01 : -0.01));
    struct effect_spreads s = effect_spreads(&all, SPREADS_FOR_MEANS, "bert", NULL, &a);
    assert_true(s.submission < 0.02 && s.submitter > 0.2);
    struct effect e = effect_of(&all, &s, &s, "bert", "A");
    assert_near(e.mean, 0.3, 0.01);
    assert_true(e.spread < 0.03);
    arena_free(&a);
}

/* Three submitters of two submissions each, m +- d: the most likely submission^2 is the mean of d^2 times 2 / 1, and
 * submission^2 + 2 submitter^2 the mean of 2 m^2, where that is larger. d = 0.02 gives 8e-4; m = 0.1, -0.05, 0.15 give
 * 2 x 0.035 / 3. */
static void equal_groups_by_hand(void **state)
{
    (void)state;
    struct arena a = { 0 };
    static const double means[] = { 0.1, -0.05, 0.15 };
    all.n = 0;
    for (int i = 0; i < 6; i++)
        add((const char *const[]){ "A", "B", "C" }[i / 2], "v1.0", "closed", FIGURE_CONTEXT, means[i / 2] + (i % 2 ? 0.02 : -0.02));
    struct effect_spreads s = effect_spreads(&all, SPREADS_FOR_MEANS, "bert", NULL, &a);
    assert_near(s.submission, sqrt(8e-4), 1e-5);
    assert_near(s.submitter, sqrt((2 * 0.035 / 3 - 8e-4) / 2), 1e-5);
    arena_free(&a);
}

static void every_submitter_is_left_out_once(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct submitters_left_out l;
    submitters_left_out(&l, "results/published/runs/mlperf_runs.csv", "workloads/convergence", &a, &err);
    assert_string_equal(err.msg, "");
    size_t n_bert = 0, n_runs = 0, n_inside = 0;
    for (size_t i = 0; i < l.n; i++)
        if (text_is(l.items[i].benchmark, "bert")) {
            n_bert += l.items[i].n;
            n_runs += l.items[i].n_runs;
            n_inside += l.items[i].n_inside;
            assert_true(l.items[i].n_inside <= l.items[i].n_runs && l.items[i].rms_error >= fabs(l.items[i].mean_error));
        }
    for (size_t i = 0; i < l.n; i++)
        if (text_is(l.items[i].benchmark, "bert"))
            assert_int_equal(l.items[i].n + l.items[i].n_others, n_bert);
    assert_int_equal(n_runs, 10 * n_bert);
    assert_true(4 * n_inside > 3 * n_runs && n_inside < n_runs);       /* intervals of 90 % */
    char *text;
    struct table t = submitters_left_out_table(&l);
    PRINTED(text, table_write(f, FORMAT_TEXT, &t));
    assert_golden(text, "tests/golden/submitters_left_out.txt", &a);
    free(text);
    arena_free(&a);
}

/* A table of four submissions with one batch; the last one's runs are at the given numbers of samples. */
static const char *four_submissions(const double *samples, size_t n)
{
    static char text[4096];
    static const double others[] = { 2.5e6, 2.7e6, 3.1e6 };
    int at = snprintf(text, sizeof text, "round,division,submitter,system,accelerators,benchmark,run,role,status,time_to_train_s,startup_s,"
                      "eval_placement,eval_s,post_train_s,global_batch,samples_to_converge,epochs,evals,final_accuracy,optimizer,"
                      "base_learning_rate,throughput_samples_per_s,source\n");
    for (size_t i = 0; i < 3 + n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "v1.0,closed,%c,s%zu,8,bert,0,validate,success,9,1,inline,,,1536,%.0f,,9,0.72,lamb,"
                       "0.002,,made\n", i < 3 ? 'A' + (int)i : 'D', i < 3 ? i : 3, i < 3 ? others[i] : samples[i - 3]);
    return temp_file(text, (size_t)at, ".csv");
}

/* The interval of the submitter that is left out does not depend on its own runs: they are put at its ends, and one
 * sample beyond. A run that would end within a batch of the lower end is inside, as samples come in batches. */
static void the_ends_of_an_interval_are_inside(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct run_rows runs;
    struct convergence_tables *tables = NULL;
    struct submissions others;
    struct submitters_left_out l;
    struct convergence c;
    const double unknown[] = { 2.6e6 };
    assert_true(run_rows_load(&runs, four_submissions(unknown, 1), &a, &err) && convergence_tables_load(&tables, "workloads/convergence", &a, &err));
    assert_true(submissions_of(&others, &runs, tables, &a, &err));
    struct effect_spreads spreads = effect_spreads(&others, SPREADS_FOR_WIDTHS, "bert", "D", &a);
    assert_int_equal(spreads.n, 3);
    struct submission_terms terms = terms_of_run(&runs.items[3]);
    terms.submitter = NULL;
    assert_true(convergence_predict_from(&c, tables, &terms, &err));
    double half = 1.6448536269514722 * hypot(effect_total(&spreads), c.sigma);
    double low = convergence_observed(&c, c.median_samples * exp(-half), 0) - 1536, high = convergence_observed(&c, c.median_samples * exp(half), 0);
    const double at_ends[] = { low - 1, low, high, high + 1, low };
    assert_true(submitters_left_out(&l, four_submissions(at_ends, 5), "workloads/convergence", &a, &err));
    assert_int_equal(l.n, 4);
    assert_string_equal(l.items[3].submitter, "D");
    assert_int_equal(l.items[3].n_runs, 5);
    assert_int_equal(l.items[3].n_inside, 3);
    arena_free(&a);
}

/* Each of four submitters is predicted from the reference point and the other three. The last one's two runs take
 * 2.9 million samples on average. */
static void four_left_out_as_text(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct submitters_left_out l;
    const double samples[] = { 2.6e6, 3.2e6 };
    char *text;
    assert_true(submitters_left_out(&l, four_submissions(samples, 2), "workloads/convergence", &a, &err));
    struct table t = submitters_left_out_table(&l);
    PRINTED(text, table_write(f, FORMAT_TEXT, &t));
    assert_string_equal(text,
        "samples to converge, one submitter left out: its closed submissions, predicted from the reference and the spread of the others'\n"
        "submitter  benchmark  submissions  others  rms error %  mean %  runs  inside 90 %      %\n"
        "A          bert                 1       3          8.6    +8.6     1            1  100.0\n"
        "B          bert                 1       3          0.4    +0.4     1            1  100.0\n"
        "C          bert                 1       3         12.9   -12.9     1            1  100.0\n"
        "D          bert                 1       3          6.7    -6.7     2            1   50.0\n");
    free(text);
    arena_free(&a);
}

/* A row that validates does not replace a later one that does not. */
static void what_validates_hides_nothing(struct run_rows *runs, struct convergence_tables *tables, struct arena *a)
{
    static const struct { enum role first, again; size_t n; } cases[] = {
        { FIGURE_VALIDATE, FIGURE_CALIBRATE, 4 }, { FIGURE_VALIDATE, FIGURE_CONTEXT, 4 }, { FIGURE_VALIDATE, FIGURE_VALIDATE, 3 },
        { FIGURE_CALIBRATE, FIGURE_VALIDATE, 3 }, { FIGURE_CONTEXT, FIGURE_CALIBRATE, 3 },
    };
    struct submissions s;
    struct err err = { "" };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        runs->items[3] = runs->items[0];
        runs->items[3].round = "v1.1";
        runs->items[0].role = cases[i].first;
        runs->items[3].role = cases[i].again;
        assert_true(submissions_of(&s, runs, tables, a, &err));
        assert_int_equal(s.n, cases[i].n);
    }
}

/* A system that is submitted again with the same first run counts once; any difference makes it another. */
static void what_was_handed_in_before_counts_once(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct run_rows runs;
    struct convergence_tables *tables;
    struct submissions s;
    struct submitters_left_out l;
    const double samples[] = { 2.6e6 };
    const char *path = four_submissions(samples, 1);
    assert_true(run_rows_load(&runs, path, &a, &err) && convergence_tables_load(&tables, "workloads/convergence", &a, &err));
    struct run_row *first = &runs.items[0], *again = &runs.items[3];
    for (int differs = 0; differs < 7; differs++) {
        *again = *first;
        again->round = "v1.1";
        again->submitter = differs == 1 ? "E" : again->submitter;
        again->system = differs == 2 ? "other" : again->system;
        again->division = differs == 3 ? "open" : again->division;
        again->samples_to_converge += differs == 4;
        again->time_to_train_s += differs == 5;
        if (differs == 6)
            again->benchmark = "resnet", again->global_batch = 3200, again->samples_to_converge = 5e7;
        assert_true(submissions_of(&s, &runs, tables, &a, &err));
        assert_int_equal(s.n, differs ? 4 : 3);
    }
    what_validates_hides_nothing(&runs, tables, &a);
    for (size_t i = 0; i < 3; i++)          /* found by fuzzing: the logarithm of the remaining samples was NaN */
        runs.items[i].samples_to_converge = 262.207;
    assert_false(submissions_of(&s, &runs, tables, &a, &err));
    assert_non_null(strstr(err.msg, "262.207 samples to converge are too few: with evaluations every 150000 samples none comes that early"));
    assert_false(submitters_left_out(&l, "no/such.csv", "workloads/convergence", &a, &err));
    assert_false(submitters_left_out(&l, path, "no/such", &a, &err));
    arena_free(&a);
}

static void left_out_submitters_as_text(void **state)
{
    struct submitter_left_out made[] = {
        { .submitter = "A", .benchmark = "bert", .n = 4, .n_others = 9, .rms_error = 0.125, .mean_error = -0.05, .n_runs = 40, .n_inside = 37,
          .share_inside = 0.925 },
        { .submitter = "B", .benchmark = "rnnt", .rms_error = NAN, .mean_error = NAN, .share_inside = NAN },
    };
    const struct submitters_left_out l = { .items = made, .n = 2 };
    struct arena a = {0};
    char *text;
    (void)state;
    struct table t = submitters_left_out_table(&l);
    PRINTED(text, table_write(f, FORMAT_TEXT, &t));
    assert_non_null(strstr(text, "\nA          bert                 4       9         12.5    -5.0    40           37  92.5\n"
                                 "B          rnnt                 0       0            -       -     0            0     -\n"));
    free(text);
    json_t *json = table_json(&t);
    assert_int_equal(json_array_size(json), 2);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(json, 0), "inside")), 37);
    assert_near(json_real_value(json_object_get(json_array_get(json, 0), "rms_error")), 0.125, 1e-12);
    assert_true(json_is_null(json_object_get(json_array_get(json, 1), "rms_error")));
    json_decref(json);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(effects_by_hand), cmocka_unit_test(two_submissions_share_their_weight), cmocka_unit_test(spreads_are_the_most_likely),
    cmocka_unit_test(a_mean_by_some_spreads_is_as_wide_as_others_say), cmocka_unit_test(what_validates_moves_the_width_alone),
    cmocka_unit_test(a_bias_is_not_spread), cmocka_unit_test(equal_groups_by_hand), cmocka_unit_test(every_submitter_is_left_out_once), cmocka_unit_test(the_ends_of_an_interval_are_inside),
    cmocka_unit_test(what_was_handed_in_before_counts_once),
    cmocka_unit_test(four_left_out_as_text), cmocka_unit_test(left_out_submitters_as_text),
};
TAP_MAIN(tests)
