/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_trust_interval.c - distances, expectations and the fit of their spread by hand, and how often intervals hold. */
#include "tests/study/three_groups.h"
#include "results/study/trust_internal.h"

#include <gsl/gsl_cdf.h>
#include <jansson.h>
#include <stdlib.h>

static double distance_with(size_t at, const char *value)
{
    struct properties p = with(at, value);
    return properties_apart(&one, &p).distance;
}

static void distances_by_hand(void **state)
{
    (void)state;
    assert_near(properties_apart(&one, &one).distance, 0, 0);
    assert_near(distance_with(BY_FRAMEWORK, "POPart"), 0, 0);
    assert_near(distance_with(BY_IPUS, "128"), 0.75, 1e-12);            /* three doublings, a quarter each */
    assert_near(distance_with(BY_SEQUENCE, "128"), 1, 1e-12);           /* two, a half each */
    assert_near(distance_with(BY_SHARES, "0.72"), 0.4, 1e-12);          /* a fifth of the step, twice */
    assert_near(distance_with(BY_SEQUENCE, "0"), 0.5, 1e-12);           /* a count against none is one doubling */
    struct properties single = with(BY_SEQUENCE, "1");                  /* from 1 it is nine doublings to 512, there and back */
    assert_near(properties_apart(&single, &one).distance, 4.5, 1e-12);
    assert_near(properties_apart(&one, &single).distance, 4.5, 1e-12);
}

/* Each property alone: another name, twice the count, or a share that is a hundredth more. */
static void weights_of_all_properties(void **state)
{
    static const double weights[N_PROPERTIES] = { 4, 4, 1, 1, 1, 1, 1, 0.25, 0.5, 0.25, 0.25, 0.5, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02 };
    (void)state;
    for (size_t i = 0; i < N_PROPERTIES; i++)
        assert_near(distance_with(i, i < BY_IPUS ? "another" : arena_printf(&a, "%g", i < BY_SHARES ? 2 * one.number[i] : one.number[i] + 0.01)), weights[i], 1e-12);
    arena_free(&a);
}

/* Runs one after the other, each of which differs from the one before in two properties; and two long names that begin alike. */
static void distances_follow_what_changes(void **state)
{
    static const char begin[] = "a name of more than forty-eight characters begins so";
    struct distances d = {0};
    (void)state;
    make_three();
    for (size_t i = 0; i < 2 * (size_t)N_PROPERTIES; i++) {
        size_t property = i % N_PROPERTIES;
        struct properties at = with(property, property < BY_IPUS ? arena_printf(&a, "%s %zu", i < N_PROPERTIES ? "another" : begin, i / 2) : "0.5");
        distances_find(&d, &three_groups, &at, &a);
        for (size_t k = 0; k < three_groups.n; k++) {
            const struct apart fresh = properties_apart(&at, &three[k].at);
            assert_true(d.items[k].apart.distance == fresh.distance && d.items[k].apart.unlike == fresh.unlike);
            assert_true(distance_is_of_kind(&d.items[k]) == (property > BY_MODE));
        }
    }
    struct properties long_name = with(BY_FRAMEWORK, arena_printf(&a, "%s, and ends so", begin)), other = with(BY_FRAMEWORK, arena_printf(&a, "%s, or not", begin));
    const struct references one_long = { .items = &(struct reference){ .at = long_name }, .n = 1 };
    struct distances of_long = {0};
    distances_find(&of_long, &one_long, &long_name, &a);
    assert_near(of_long.items[0].apart.distance, 0, 0);
    distances_find(&of_long, &one_long, &other, &a);
    assert_near(of_long.items[0].apart.distance, 1, 0);
    arena_free(&a);
}

/* ---- what to expect --------------------------------------------------------------------------------- */

static const double T_NINE_IN_TEN = 2.3533634348;       /* the 95 % quantile of Student's t with three degrees, from a table */

static struct reference at_ipus(const char *ipus, const char *origin, double left_out)
{
    return (struct reference){ .configuration = arena_printf(&a, "%s on %s", origin, ipus), .group = origin, .origin = origin, .role = FIGURE_VALIDATE,
                               .at = with(BY_IPUS, ipus), .left_out = left_out, .first_sight = NAN };
}

/* On 256 IPUs, published runs on 128 and 1024 are 0.25 and 0.5 away, at a quarter for each doubling. Their errors pull the middle, one run without
 * an error counts with them. */
static void neighbours_count_with_their_sign(void **state)
{
    (void)state;
    struct reference two[] = { at_ipus("128", "p", 0.08), at_ipus("1024", "q", -0.03) };
    const struct references both = { .items = two, .n = 2 };
    const struct spread s = { .base = 0.03, .far = 0.2, .host = 0.5, .vector = 0.7, .nine_in_ten = 1.7 };
    struct properties p = with(BY_IPUS, "256");
    p.vector_share = 0.5, p.off_amp_share = 0.1;       /* products without the AMP are vector work */
    const double v = exp(-0.25) / 0.35, u = exp(-0.5) / 0.6, weights = 1 + v + u, bias = (0.08 * v - 0.03 * u) / weights;
    struct expectation e = spread_expect_at(&s, &both, &p);
    assert_near(e.bias, bias, 1e-12);
    /* nearer than 1, so that far adds nothing; the host takes 0.04 of the step, at a distance of 0.25, where vector work is 0.6 of what is computed */
    const double host = 0.5 * 0.04 * log(1.25), vector = 0.7 * 0.36 * 0.5, apart = 0.1 * v * (0.08 - bias);
    const double about = 0.03 * 0.03 + host * host + vector * vector;
    assert_near(e.half_width, sqrt(1.7 * 1.7 * about + apart * apart), 1e-9);            /* the interval reaches the nearest run's error, whatever the number of spreads */
    assert_near(e.spread, sqrt(about + apart * apart / T_NINE_IN_TEN / T_NINE_IN_TEN), 1e-9);
    const struct references none = { .n = 0 };
    assert_true(spread_expect_at(&s, &none, &p).half_width == 0 && spread_expect_at(&(struct spread){0}, &both, &p).half_width == 0);
    arena_free(&a);
}

/* A run of the very configuration is 3 % too fast today, and would be 8 % without its group in the fit: the first counts for itself, the second for others. */
static void the_same_run_counts_as_it_is_fitted(void **state)
{
    (void)state;
    struct reference same = at_ipus("16", "p", 0.08);
    same.simulated = 103, same.published = 100;
    const struct references r = { .items = &same, .n = 1 };
    const struct spread s = { .base = 0.03, .nine_in_ten = 1.7 };
    assert_near(spread_expect_at(&s, &r, &same.at).bias, log(1.03) * 10 / 11, 1e-12);
    struct properties p = same.at;
    p.number[BY_IPUS] *= 2;
    const double w = exp(-0.25) / 0.35;
    assert_near(spread_expect_at(&s, &r, &p).bias, 0.08 * w / (1 + w), 1e-12);
    arena_free(&a);
}

/* An answer to a published configuration knows its own figure: at least 97 of 100 lie inside. Where neighbours of the same kind drowned it, 87 did. */
static void answers_hold_their_own_figures(void **state)
{
    struct references r;
    struct spread s;
    struct err err = {0};
    size_t inside = 0;
    (void)state;
    assert_true(references_load(&r, "results/validity/left-out.csv", &a, &err) && spread_load(&s, "results/validity/spread.csv", &a, &err));
    for (size_t i = 0; i < r.n; i++) {
        const struct reference *x = &r.items[i];
        struct expectation e = spread_expect_at(&s, &r, &x->at);
        double error = log(x->simulated / x->published) - e.bias;
        inside += error + x->open_low <= e.half_width && error + x->open_high >= -e.half_width;
    }
    assert_true(r.n > 100 && (double)inside >= 0.97 * (double)r.n);
    arena_free(&a);
}

/* Another family, inference instead of training, and half of the step spent otherwise are 10 away: 9 beyond 1. */
static void what_is_far_is_wide(void **state)
{
    (void)state;
    assert_near(student_nine_in_ten(), gsl_cdf_tdist_Pinv((1 + 0.9) / 2, SPREAD_DEGREES), 1e-15);
    struct reference one_run[] = { at_ipus("16", "p", 0) };
    const struct references r = { .items = one_run, .n = 1 };
    const struct spread s = { .base = 0.03, .far = 0.05, .host = 0.2, .vector = 0.4, .nine_in_ten = 1.7 };
    struct properties far = one;
    far.name[BY_FAMILY] = "another", far.name[BY_MODE] = "infer";
    far.number[BY_SHARES + CLASS_COMPUTE] -= 0.5, far.number[BY_SHARES + CLASS_HOST] += 0.5;      /* 0.5 unlike: 2 more */
    far.vector_share = 0.5;
    const double d = 10, host = 0.2 * 0.54 * log(1 + d), beyond = 0.05 * (d - 1), vector = 0.4 * 0.25;      /* vector work as at a distance of 1 */
    const double about = sqrt(0.0009 + beyond * beyond + host * host + vector * vector);
    assert_near(spread_expect_at(&s, &r, &far).half_width, T_NINE_IN_TEN * about, 1e-9);         /* a new family: Student's, as it is more than 1.7 */
    assert_near(spread_expect_at(&(struct spread){ .base = 0.03, .far = 0.05, .host = 0.2, .vector = 0.4, .nine_in_ten = 3.1 }, &r, &far).half_width, 3.1 * about, 1e-9);
    struct properties framework = one;
    framework.name[BY_FRAMEWORK] = "PyTorch";
    assert_near(spread_expect_at(&(struct spread){ .base = 0.03, .nine_in_ten = 1.7 }, &r, &framework).half_width, T_NINE_IN_TEN * 0.03, 1e-9);
    assert_near(spread_expect_at(&(struct spread){ .base = 0.03, .nine_in_ten = 1.7 }, &r, &one).half_width, 1.7 * 0.03, 1e-9);
    arena_free(&a);
}

/* An error of 30 % is explained as far as the slowest open reading goes, and one of -10 % by the fastest. */
static void open_readings_explain(void **state)
{
    (void)state;
    struct reference r = { .left_out = 0.3, .open_low = -0.2 };
    assert_near(reference_unexplained(&r), 0.1, 1e-12);
    r.open_low = -0.5;
    assert_near(reference_unexplained(&r), 0, 0);
    r = (struct reference){ .left_out = -0.1, .open_low = -0.5, .open_high = 0.04 };
    assert_near(reference_unexplained(&r), -0.06, 1e-12);
    r.open_high = 0;
    assert_near(reference_unexplained(&r), -0.1, 1e-12);
}

/* ---- the fit ------------------------------------------------------------------------------------------- */

/* Forty errors at each of two distances, 0 and 3, that are spread as Student's t with 0.05 and 0.4: so base is 0.05, and far x 2 the rest of 0.4. */
static void the_fit_finds_the_spread(void **state)
{
    enum { N = 40 };
    struct reference references[2 * N];
    struct question questions[2 * N];
    (void)state;
    for (size_t i = 0; i < 2 * N; i++) {
        double t = gsl_cdf_tdist_Pinv(((double)(i % N) + 0.5) / N, 3);
        references[i] = (struct reference){ .at = one };
        references[i].at.number[BY_SHARES + CLASS_HOST] = 0;
        questions[i] = (struct question){ .reference = &references[i], .error = (i < N ? 0.05 : 0.4) * t, .near = { .nearest = i < N ? 0 : 3 } };
    }
    struct spread s = spread_fit_questions(questions, 2 * N);
    assert_near(s.base, 0.05, 0.005);
    assert_near(s.far, sqrt(0.4 * 0.4 - 0.05 * 0.05) / 2, 0.02);
    assert_near(s.largest_error, questions[2 * N - 1].error, 1e-12);
    struct question backward[2 * N];            /* their order does not matter */
    for (size_t i = 0; i < 2 * N; i++)
        backward[i] = questions[2 * N - 1 - i];
    struct spread same = spread_fit_questions(backward, 2 * N);
    assert_near(same.base / s.base, 1, 1e-3);
    assert_near(same.far / s.far, 1, 1e-3);
    /* If the slowest reading is right for each, the rest is as small as the errors at 0. */
    for (size_t i = N; i < 2 * N; i++) {
        questions[i].error = questions[i - N].error + 0.9;
        questions[i].open_low = -0.9;
    }
    struct spread explained = spread_fit_questions(questions, 2 * N);
    assert_true(explained.far < 0.05 && explained.base < 0.07);
    assert_true(spread_fit_questions(questions, 3).base == 0);              /* too few */
}

/* The 12th smallest of 12 errors of 1 to 12 % holds nine in ten (0.9 x 13 = 11.7), and the 18th of 19 does. Open readings explain 0.5 % of each
 * error. Eight errors are too few. */
static void nine_in_ten_are_counted(void **state)
{
    struct reference references[19];
    struct question questions[19];
    (void)state;
    for (size_t i = 0; i < 19; i++) {
        references[i] = (struct reference){ .at = one };
        questions[i] = (struct question){ .reference = &references[i], .error = (i % 2 ? -0.01 : 0.01) * (double)(i + 1), .open_low = -0.005, .open_high = 0.005 };
    }
    struct spread s = spread_fit_questions(questions, 12);
    assert_near(s.nine_in_ten * s.base, 0.12 - 0.005, 1e-3);
    s = spread_fit_questions(questions, 19);
    assert_near(s.nine_in_ten * s.base, 0.18 - 0.005, 1e-3);
    assert_near(spread_fit_questions(questions, 8).nine_in_ten, T_NINE_IN_TEN, 1e-9);
    assert_near(question_outside(&questions[18], 0.1), 0.085, 1e-12);       /* 19 % too fast: the slowest reading explains 0.5, the interval 10 */
    assert_near(question_outside(&questions[17], 0.1), 0.075, 1e-12);       /* 18 % too slow */
    questions[18].near.apart = 0.15;                                        /* the interval always reaches the error of a run at no distance */
    questions[18].near.nearest = 0;
    const struct spread wide = { .base = 0.02 };
    assert_near(spreads_that_hold(&wide, &questions[18].near, &one, 0.17), sqrt(0.17 * 0.17 - 0.15 * 0.15) / 0.02, 1e-9);
    assert_near(spreads_that_hold(&wide, &questions[18].near, &one, 0.14), 0, 0);
}

/* A run that was known before asks all others, and one at first sight those of other origins, and with its first error. */
static void questions_leave_out_what_was_seen_together(void **state)
{
    (void)state;
    struct reference three_runs[] = { at_ipus("16", "p", 0.02), at_ipus("32", "p", -0.06), at_ipus("128", "q", 0.13) };
    const struct references all = { .items = three_runs, .n = 3 };
    struct question known = question_of(&all, &three_runs[0], false, NULL, &a), left_out = question_of(&all, &three_runs[0], true, NULL, &a);
    assert_near(known.near.nearest, 0.25, 1e-12);
    assert_near(left_out.near.nearest, 0.75, 1e-12);
    assert_near(known.error, 0.02, 0);
    three_runs[0].first_sight = 0.7, three_runs[0].first_open_low = -0.3, three_runs[0].open_low = -0.9;
    struct question first = question_of(&all, &three_runs[0], false, NULL, &a);
    assert_near(first.near.nearest, 0.75, 1e-12);
    assert_true(first.error == 0.7 && first.open_low == -0.3);
    assert_false(question_is_answered(&(struct question){ .near = question_of(&all, &three_runs[2], true, "p", &a).near }));
    assert_int_equal(first.likeness, LIKE_PROGRAM);
    three_runs[2].at.name[BY_CHIP] = "gc200";
    assert_int_equal(question_of(&all, &three_runs[0], true, NULL, &a).likeness, LIKE_FAMILY);
    three_runs[2].at.name[BY_FRAMEWORK] = "PyTorch";
    assert_int_equal(question_of(&all, &three_runs[0], true, NULL, &a).likeness, LIKE_NO_FRAMEWORK);
    three_runs[2].at.name[BY_MODE] = "infer";
    assert_int_equal(question_of(&all, &three_runs[0], true, NULL, &a).likeness, LIKE_NO_FAMILY);
    arena_free(&a);
}

/* ---- coverage ------------------------------------------------------------------------------------------ */

/* Ten origins at one place: nine with errors of 1 to 3 %, and one of 60 %, which lies outside of what the others let expect. */
static void coverage_by_hand(void **state)
{
    static const double errors[] = { 0.01, -0.02, 0.03, -0.01, 0.02, -0.03, 0.015, -0.025, 0.005, 0.6 };
    struct reference ten[10];
    struct interval_coverage c;
    (void)state;
    for (size_t i = 0; i < 10; i++)
        ten[i] = at_ipus("16", arena_printf(&a, "origin %zu", i), errors[i]);
    ten[3].at.name[BY_MODE] = "infer";
    const struct references all = { .items = ten, .n = 10 };
    interval_coverage(&c, &all, &a);
    assert_string_equal(c.rows[0].kind, "all, their origin left out");
    assert_true(c.rows[0].runs == 10 && c.rows[0].inside == 9);
    assert_near(c.rows[0].share, 0.9, 1e-12);
    assert_near(c.rows[0].chance, 1, 1e-9);                                  /* nine of ten is what is expected */
    assert_string_equal(c.rows[1].kind, "program and chip known");
    assert_true(c.rows[1].runs == 9 && c.rows[1].inside == 8);
    assert_true(c.rows[2].runs == 1 && c.rows[2].kind == likeness_names[LIKE_NO_FAMILY]);
    assert_true(c.rows[0].score > 20 * 0.1 / 10);                            /* one of ten misses by far more than a tenth */
    arena_free(&a);
}

static void coverage_as_text(void **state)
{
    struct interval_count rows[] = { { "all", 40, 37, 0.925, 0.75, 0.5, 1.25 }, { "training", 4, 1, 0.25, 0.0037, 0, 0 } };
    const struct interval_coverage c = { rows, 2 };
    struct table t = interval_coverage_table(&c);
    char *text;
    (void)state;
    PRINTED(text, table_write(f, FORMAT_TEXT, &t));
    assert_string_equal(text, "question  runs  inside   share  chance  median half width  Winkler's score\n"
                              "all         40      37  92.5 %    0.75             50.0 %             1.25\n"
                              "training     4       1  25.0 %    0.00              0.0 %             0.00\n");
    free(text);
    json_t *json = interval_coverage_json(&c);
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, "{\"level\":0.9,\"kinds\":[{\"kind\":\"all\",\"runs\":40,\"inside\":37,\"share\":0.925,\"chance\":0.75,\"median_half_width\":0.5,\"score\":1.25},"
                              "{\"kind\":\"training\",\"runs\":4,\"inside\":1,\"share\":0.25,\"chance\":0.0037,\"median_half_width\":0.0,\"score\":0.0}]}");
    free(text);
    json_decref(json);
}

/* ---- who published it ------------------------------------------------------------------------------------ */

static void origins_of_sources(void **state)
{
    static const struct { const char *source, *origin; } cases[] = {
        { "MLPerf Training v1.0 results, closed, Graphcore, ipu-pod16-TF1/resnet, 5 of 5 runs", "MLPerf Training v1.0 results" },
        { "CARAML, arXiv 2409.12994 / SC24-W (PDF in github some/papers paper/) Table II", "CARAML" },
        { "CARAML benchmark suite (Jülich); github FZJ-JSC/CARAML README.md (59cba3e)", "CARAML" },
        { "github FZJ-JSC/CARAML; README.md + llm_training", "CARAML" },
        { "graphcore/examples tutorials/tutorials/keras/README.md @3cc8f81f", "examples" },
        { "Graphcore performance results (CN site), Bow launch snapshot; https://www.graphcore.cn/x/", "Graphcore performance results" },
        { "github /tree/main of FZJ-JSC/CARAML", "CARAML" },
        { "huggingface/optimum-graphcore: notebooks/introduction.ipynb", "optimum-graphcore" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(figure_origin(&(struct figure){ .source = cases[i].source }, &a), cases[i].origin);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(distances_by_hand), cmocka_unit_test(weights_of_all_properties), cmocka_unit_test(distances_follow_what_changes),
    cmocka_unit_test(neighbours_count_with_their_sign), cmocka_unit_test(the_same_run_counts_as_it_is_fitted), cmocka_unit_test(answers_hold_their_own_figures), cmocka_unit_test(what_is_far_is_wide), cmocka_unit_test(open_readings_explain),
    cmocka_unit_test(the_fit_finds_the_spread), cmocka_unit_test(nine_in_ten_are_counted), cmocka_unit_test(questions_leave_out_what_was_seen_together), cmocka_unit_test(coverage_by_hand),
    cmocka_unit_test(coverage_as_text), cmocka_unit_test(origins_of_sources),
};

TAP_MAIN(tests)
