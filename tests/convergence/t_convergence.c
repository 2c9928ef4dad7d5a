/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_convergence.c - laws, interpolation and noise of samples to the target; fits.csv agrees with a fit made now. */
#include "tests/check.h"
#include "results/calibrate/calibration.h"
#include "workloads/convergence/convergence.h"
#include "workloads/convergence/convergence_law.h"

static const char data[] = "workloads/convergence";

static struct convergence predict(const char *benchmark, const char *round, double batch, const char *optimizer)
{
    static struct arena a;              /* the prediction names its edition */
    struct err err = { "" };
    struct convergence c;
    struct submission_terms terms = { .benchmark = benchmark, .round = round, .global_batch = batch, .optimizer = optimizer };
    if (!convergence_predict_for(&c, &terms, data, &a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
    return c;
}

/* Points made by E0 = 34.2, Bc = 48490, g = 1.207 give the three back. */
static void test_law_recovers_itself(void **state)
{
    struct rcp_point points[7] = { { 0 } };
    struct rcp_table t = { .points = points, .n = 7 };
    struct convergence_law l, truth = { .e0 = 34.2, .bc = 48490, .g = 1.207 };
    struct err err;
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        points[i].batch = 300 * pow(2.7, (double)i);
        points[i].mean = law_at(&truth, points[i].batch);
    }
    assert_near(law_at(&truth, 48490), 2 * 34.2, 1e-12);
    assert_true(law_fit(&l, &t, true, &err));
    assert_near(l.e0, 34.2, 1e-5);
    assert_near(l.bc, 48490, 0.05);
    assert_near(l.g, 1.207, 1e-6);
    assert_true(l.rms < 1e-8 && l.loo < 1e-6);
    assert_true(law_choose(&l, &t, &err) && l.g > 1.2);
    /* steps have their minimum where 0.207 (B / Bc)^1.207 = 1: B = 48490 * 0.207^(-1/1.207) = 178801; twice that
     * takes twice the epochs */
    assert_near(law_beyond(&truth, 170000), law_at(&truth, 170000), 0);
    assert_near(law_beyond(&truth, 2 * 178801.44994038326), 2 * law_at(&truth, 178801.44994038326), 1e-6);
    truth.g = 1;
    for (size_t i = 0; i < 7; i++)
        points[i].mean = law_at(&truth, points[i].batch);
    assert_true(law_fit(&l, &t, false, &err));
    assert_near(l.bc, 48490, 0.05);
    assert_near(l.g, 1, 0);
    t.n = 2;
    assert_false(law_fit(&l, &t, true, &err));
    assert_string_equal(err.msg, "2 reference points are too few for a law of 3 parameters");
}

/* In all logs of v1.1's closed BERT on 16 and 64 IPUs run_stop comes 1.098 and 1.118 times as late as the last
 * evaluation; those on 128 passed the test. Samples: the means of the submissions. */
static void test_scaled_logs(void **state)
{
    static const struct { const char *round, *division; double batch, samples, want; } cases[] = {
        { "v1.1", "closed", 3072, 2517254, 1.098 }, { "v1.1", NULL, 3072, 2473385, 1.118 }, { "v1.1", "closed", 6144, 3388442, 1 },
        { "v1.1", "open", 3072, 2187500, 1 }, { "v1.0", "closed", 3072, 2561296, 1 }, { "v2.0", "closed", 3072, 2517254, 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct err err;
        struct convergence c;
        struct submission_terms terms = { .benchmark = "bert", .round = cases[i].round, .division = cases[i].division, .global_batch = cases[i].batch };
        assert_true(convergence_predict_for(&c, &terms, data, &a, &err));
        assert_near(round(1000 * convergence_scaling(&c, cases[i].samples)) / 1000, cases[i].want, 1e-12);
        arena_free(&a);
    }
    /* in epochs, from a table by hand whose runs are equally long */
    struct convergence c = predict("resnet", "v1.1", 3840, NULL);
    c.limit = (struct rcp_limit){ .match = RCP_EXACT, .mean = 40, .least_mean = 39, .max_speedup = 40 / 39.0 };
    assert_near(convergence_scaling(&c, 32 * c.samples_per_epoch), 1.25, 1e-12);
    assert_near(convergence_scaling(&c, 0), 1, 0);
    c.is_closed = false;
    assert_near(convergence_scaling(&c, 32 * c.samples_per_epoch), 1, 0);
}

/* A law takes so many records, and not one more. */
static void test_many_records(void **state)
{
    struct rcp_point points[65] = { { 0 } };
    struct rcp_table t = { .points = points, .n = 64 };
    struct convergence_law l, truth = { .e0 = 3.5, .bc = 700, .g = 1 };
    struct err err;
    (void)state;
    for (size_t i = 0; i < 65; i++) {
        points[i].batch = 10 * pow(1.1, (double)i);
        points[i].mean = law_at(&truth, points[i].batch);
    }
    assert_true(law_fit(&l, &t, false, &err));
    assert_near(l.bc, 700, 1e-3);
    assert_int_equal(l.n, 64);
    t.n = 65;
    assert_false(law_fit(&l, &t, false, &err));
    assert_string_equal(err.msg, "65 reference points, a law is fitted to at most 64");
}

static void test_interpolation(void **state)
{
    struct rcp_point points[] = { { .batch = 2, .mean = 10 }, { .batch = 3, .mean = 12 }, { .batch = 4, .mean = 20 } };
    struct rcp_table t = { .points = points, .n = 3 };
    double mean, sd;
    (void)state;
    points[0].sd = 1, points[1].sd = 3;
    assert_true(rcp_interpolate(&mean, &sd, &t, 2.25));
    assert_near(mean, 10.5, 1e-12);
    assert_near(sd, 1.5, 1e-12);
    assert_false(rcp_interpolate(&mean, &sd, &t, 4.01));
    assert_false(rcp_interpolate(&mean, &sd, &t, 1.99));
}

/* ResNet-50 of v2.0 at 5120: between 3264 (35.1538) and 32768 (56): 35.1538 + 20.8462 * 1856 / 29504 = 36.4652; less
 * half an epoch. */
static void test_between_records(void **state)
{
    struct convergence c = predict("resnet", "v2.0", 5120, NULL);
    (void)state;
    assert_int_equal(c.method, CONVERGENCE_INTERPOLATED);
    assert_near(c.reference, 36.46518, 1e-4);
    assert_near(c.median_samples / 1281167, 35.96518, 1e-4);
    c = predict("bert", "v2.0", 3072, NULL);
    assert_near(c.reference, 2764498.6667, 1e-3);
    assert_near(c.median_samples, 2751998.6667, 1e-3);
    assert_near(c.sigma, 0.33731571 * pow(3072, -0.25376433), 1e-8);
    assert_true(c.schedule.interval == 175000);
}

static void test_laws_carry_on_from_the_table(void **state)
{
    static const struct { const char *benchmark; double last; } ends[] = { { "resnet", 67840 }, { "bert", 16384 }, { "rnnt", 6144 } };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct convergence at = predict(ends[i].benchmark, "v2.0", ends[i].last, NULL);
        struct convergence just = predict(ends[i].benchmark, "v2.0", ends[i].last + 1, NULL);
        struct convergence far = predict(ends[i].benchmark, "v2.0", 3 * ends[i].last, NULL);
        assert_int_equal(at.method, CONVERGENCE_INTERPOLATED);
        assert_int_equal(just.method, CONVERGENCE_EXTRAPOLATED);
        assert_near(just.reference / at.reference, 1, 1e-3);
        assert_true(just.reference > at.reference && far.reference > just.reference);
        assert_true(just.error > at.error);
        assert_near(far.sigma, at.sigma, 0);            /* beyond the records the noise is that of the last one */
    }
    struct convergence one = predict("bert", "v2.0", 1, NULL), two = predict("bert", "v2.0", 2, NULL), last = predict("bert", "v2.0", 16384, NULL);
    assert_near(one.sigma, two.sigma, 0);
    assert_true(one.sigma != last.sigma);
}

/* Within every round's pruned table, a larger batch needs more samples and fewer steps. */
static void test_monotone_in_the_batch(void **state)
{
    static const char *const rounds[] = { "v1.0", "v1.1", "v2.0", "v2.1" }, *const benchmarks[] = { "resnet", "bert", "rnnt" };
    (void)state;
    for (size_t b = 0; b < 3; b++)
        for (size_t r = 0; r < 4; r++) {
            double before = 0, steps_before = HUGE_VAL;
            for (double batch = 3300; batch < 60000; batch *= 1.37) {
                struct convergence c = predict(benchmarks[b], rounds[r], batch, NULL);
                assert_true(c.reference > before && c.reference / batch <= steps_before * (1 + 1e-12));
                before = c.reference, steps_before = c.reference / batch;
            }
        }
}

static void test_evaluation_schedule(void **state)
{
    static const double intervals[][2] = { { 1, 150000 }, { 448, 150000 }, { 4344, 200000 }, { 1536, 150000 }, { 3072, 175000 }, { 4096, 175000 }, { 4608, 200000 },
        { 6144, 200000 }, { 6912, 225000 }, { 8192, 225000 }, { 8704, 250000 }, { 12288, 275000 }, { 13056, 300000 }, { 16384, 325000 } };
    struct eval_schedule s;
    (void)state;
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        assert_true(eval_schedule_of(&s, "bert", intervals[i][0]));
        assert_true(s.interval == intervals[i][1]);
    }
    assert_false(eval_schedule_of(&s, "gpt3", 1536));
    assert_false(eval_schedule_of(&s, "bert", 0) || eval_schedule_of(&s, "bert", NAN));
}

/* Batch 3072, interval 175,000: the point 600,000 is observed at the mark 700,000, which step 228 reaches at 700,416
 * samples. */
static void test_what_is_observed(void **state)
{
    struct convergence c = predict("bert", "v2.0", 3072, NULL);
    (void)state;
    assert_near(convergence_observed(&c, 600000, 0), 228 * 3072, 0);
    assert_near(convergence_observed(&c, 1, 0), 57 * 3072, 0);
    c = predict("resnet", "v2.0", 3520, NULL);
    assert_near(convergence_observed(&c, 34.2 * 1281167, 0), 36 * 1281167.0, 0);
    assert_near(convergence_observed(&c, 34.2 * 1281167, 1), 35 * 1281167.0, 0);
    assert_near(convergence_observed(&c, 34.2 * 1281167, 2), 38 * 1281167.0, 0);
}

/* The mean of what is observed is about half an interval beyond the point. */
static void test_mean_of_what_is_observed(void **state)
{
    struct convergence c = predict("bert", "v2.0", 3072, NULL);
    double mean_x = c.median_samples * exp(c.sigma * c.sigma / 2);
    (void)state;
    assert_near(c.mean_samples, mean_x + 175000 / 2.0 + 3072 / 2.0, 6000);
}

/* Graphcore's schedules of 38 (v1.1 at 3200 and 3840, v2.0 at 3520) and, with SGD, 44 and 45 epochs made the
 * margins. */
static void test_planned_epochs(void **state)
{
    (void)state;
    assert_near(predict("resnet", "v1.1", 3200, "lars").planned_epochs, 38, 0);
    assert_near(predict("resnet", "v1.1", 3840, "lars").planned_epochs, 38, 0);
    assert_near(predict("resnet", "v2.0", 3520, "lars").planned_epochs, 38, 0);
    assert_near(predict("resnet", "v1.0", 1920, "sgd").planned_epochs, 44, 0);
    assert_near(predict("resnet", "v1.0", 2560, "sgd").planned_epochs, 45, 0);
    assert_false(predict("bert", "v2.0", 3072, NULL).has_plan);
}

/* A submitter's effect multiplies the median and leaves less spread; an unknown submitter has none; the open
 * division adds its gain. */
static void test_effects_move_the_centre(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct convergence plain = predict("bert", "v1.1", 3072, NULL), c;
    struct submission_terms terms = { .benchmark = "bert", .round = "v1.1", .global_batch = 3072, .submitter = "Graphcore" };
    double effect, spread, gain, gain_spread;
    (void)state;
    assert_true(fit_value(&effect, &spread, "bert", "1.1.0", "effect_Graphcore", data, &a, &err));
    assert_true(fit_value(&gain, &gain_spread, "bert", "1.1.0", "open_gain", data, &a, &err));
    assert_true(convergence_predict_for(&c, &terms, data, &a, &err));
    assert_near(c.median_samples / plain.median_samples, exp(effect), 1e-12);
    assert_near(c.error, spread, 1e-12);
    assert_true(c.error < plain.error && effect < 0);
    terms.division = "open";
    assert_true(convergence_predict_for(&c, &terms, data, &a, &err));
    assert_near(c.median_samples / plain.median_samples, exp(effect + gain), 1e-12);
    assert_near(c.error, hypot(spread, gain_spread), 1e-12);
    terms = (struct submission_terms){ .benchmark = "bert", .round = "v1.1", .global_batch = 3072, .submitter = "Somebody" };
    assert_true(convergence_predict_for(&c, &terms, data, &a, &err));
    assert_near(c.median_samples, plain.median_samples, 1e-9);
    assert_near(c.error, plain.error, 0);
    arena_free(&a);
}

/* RNN-T at 1024: v2.0's record has learning rate 0.007447 and 44.5 epochs, v1.1's 0.004 and 58.44. Other rates use
 * v2.0's. */
static void test_the_record_is_that_of_the_learning_rate(void **state)
{
    static const struct { double rate, epochs; } cases[] = { { 0, 44.5 }, { 0.007447, 44.5 }, { 0.004, 58.444 }, { 0.0123, 44.5 },
        { 0.00403, 58.444 }, { 0.00397, 58.444 }, { 0.00405, 44.5 }, { 0.00395, 44.5 },
        { 0.0040396, 58.444 }, { 0.0039604, 58.444 }, { 0.004042, 44.5 }, { 0.003958, 44.5 } };   /* rates within 1 % are the same */
    struct arena a = { 0 };
    struct err err = { "" };
    struct convergence c;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct submission_terms terms = { .benchmark = "rnnt", .round = "v2.0", .global_batch = 1024, .base_learning_rate = cases[i].rate };
        assert_true(convergence_predict_for(&c, &terms, data, &a, &err));
        assert_near(c.reference, cases[i].epochs, 1e-3);
    }
    arena_free(&a);
}

/* With an evaluation every 10 samples and a median of 10 m, the mean is 10 times the sum of P(X > 10 k) over k from
 * 0. With very many evaluations it is the mean of X plus half an interval. */
static void test_mean_over_evaluations(void **state)
{
    static const double medians[] = { 0.5, 1, 3, 40 };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct convergence c = { .in_samples = true, .schedule = { 10, true, 10 }, .global_batch = 1, .samples_per_epoch = 1, .sigma = 0.75, .median_samples = 10 * medians[i] };
        double sum = 1;
        for (int k = 1; k < 100000; k++)
            sum += erfc(log(k / medians[i]) / 0.75 / sqrt(2)) / 2;
        assert_near(convergence_expected(&c), 10 * sum, 1e-7 * sum);
    }
    for (int many = 0; many < 2; many++) {
        struct convergence c = { .in_samples = true, .schedule = { 10, true, 10 }, .global_batch = 1, .samples_per_epoch = 1, .sigma = 0.1, .median_samples = 1e5 + many };
        assert_near(convergence_expected(&c), (1e5 + many) * exp(0.005) + 5, many ? 1e-9 : 0.01);
    }
}

/* A folder with this table. */
static const char *folder_with(const char *name, const char *text, struct arena *a)
{
    const char *dir = arena_printf(a, "/tmp/podbench-test-convergence-%ld", (long)getpid());
    assert_true(make_folders(dir, NULL));
    FILE *f = fopen(arena_printf(a, "%s/%s", dir, name), "w");
    fputs(text, f);
    fclose(f);
    return dir;
}

/* A benchmark that counts samples has one sample a unit, and a value without an error is exact; any other cell is a
 * number or refused. */
static void test_cells_of_tables(void **state)
{
    static const struct { const char *row, *column, *text; } bad[] = {
        { "chess,epochs,7,,0.5,higher,2", "eval_samples", "" }, { "chess,epochs,7,3,,higher,2", "target", "" }, { "chess,epochs,7,3,0.5,higher,", "reference_grid", "" },
        { "chess,epochs,x,3,0.5,higher,2", "samples_per_epoch", "x" }, { "chess,epochs,7,3,0.5 %,higher,2", "target", "0.5 %" },
    };
    static const char head[] = "benchmark,unit,samples_per_epoch,eval_samples,target,better,reference_grid\n";
    struct arena a = { 0 };
    struct err err = { "" };
    struct benchmark_facts facts;
    double value, error;
    (void)state;
    for (int empty = 0; empty < 2; empty++) {
        const char *dir = folder_with("benchmarks.csv", arena_printf(&a, "%schess,%s,%s,3,0.5,%s,2\n", head, empty ? "samples" : "epochs", empty ? "" : "7", empty ? "lower" : "higher"), &a);
        assert_true(benchmark_facts(&facts, "chess", dir, &a, &err));
        assert_near(facts.samples_per_epoch, empty ? 1 : 7, 0);
        assert_true(facts.eval_samples == 3 && facts.target == 0.5 && facts.reference_grid == 2 && facts.higher_is_better == !empty);
        assert_string_equal(facts.unit, empty ? "samples" : "epochs");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *dir = folder_with("benchmarks.csv", arena_printf(&a, "%s%s\n", head, bad[i].row), &a);
        assert_false(benchmark_facts(&facts, "chess", dir, &a, &err));
        assert_string_equal(err.msg, arena_printf(&a, "%s/benchmarks.csv:2: %s: '%s' is not a number", dir, bad[i].column, bad[i].text));
    }
    static const char fits[] = "benchmark,ruleset,key,value,standard_error\nchess,any,a,2.5,\nany,2.0.0,b,3.5,0.25\n";
    const char *dir = folder_with("fits.csv", fits, &a);
    assert_true(fit_value(&value, &error, "chess", "1.1.0", "a", dir, &a, &err) && value == 2.5 && error == 0);
    assert_true(fit_value(&value, &error, "go", "2.0.0", "b", dir, &a, &err) && value == 3.5 && error == 0.25);
    assert_true(fit_value(&value, NULL, "go", "2.0.0", "b", dir, &a, &err) && value == 3.5);
    assert_false(fit_value(&value, &error, "go", "1.1.0", "b", dir, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s/fits.csv: no row 'b' for go 1.1.0", dir));
    folder_with("fits.csv", arena_printf(&a, "%schess,2.0.0,c,,0.25\n", fits), &a);
    assert_false(fit_value(&value, &error, "chess", "1.1.0", "a", dir, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s/fits.csv:4: value: '' is not a number", dir));
    folder_with("fits.csv", arena_printf(&a, "%schess,2.0.0,d,1,x\n", fits), &a);
    assert_false(fit_value(&value, NULL, "chess", "1.1.0", "a", dir, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s/fits.csv:4: standard_error: 'x' is not a number", dir));
    unlink(arena_printf(&a, "%s/fits.csv", dir)), unlink(arena_printf(&a, "%s/benchmarks.csv", dir)), rmdir(dir);
    arena_free(&a);
}

static void test_refusals(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct convergence c;
    (void)state;
    assert_false(convergence_predict_for(&c, &(struct submission_terms){ .benchmark = "bart", .round = "v2.0", .global_batch = 3072 }, data, &a, &err));
    assert_string_equal(err.msg, "workloads/convergence/benchmarks.csv: no benchmark 'bart'; known: resnet, bert, rnnt");
    assert_false(convergence_predict_for(&c, &(struct submission_terms){ .benchmark = "bert", .round = "v0.7", .global_batch = 3072 }, data, &a, &err));
    assert_string_equal(err.msg, "workloads/convergence/rounds/v0.7/rcp.csv: v0.7 has no reference points");
    assert_false(convergence_predict_for(&c, &(struct submission_terms){ .benchmark = "bert", .round = "v2.0", .global_batch = 0 }, data, &a, &err));
    assert_string_equal(err.msg, "global batch 0, want a number above 0");
    assert_false(convergence_predict_for(&c, &(struct submission_terms){ .benchmark = "bert", .round = "v3.0", .global_batch = 1e6 }, data, &a, &err));
    assert_string_equal(err.msg, "workloads/convergence/fits.csv: no row 'law_e0' for bert 3.0.0");
    arena_free(&a);
}

static double number_in(const struct csv_table *t, size_t row, size_t column)
{
    double x = 0;
    const char *text = t->rows[row].cells[column];
    assert_true(!*text || parse_f64(text, &x));
    return x;
}

/* Compares the committed table with a fit made now. Digits may differ with the compiler; an outdated table differs
 * more. */
static void test_fits_are_what_the_fit_gives(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct csv_table now, kept;
    const char *path = arena_printf(&a, "/tmp/podbench-test-fits-%ld.csv", (long)getpid());
    FILE *f = fopen(path, "w");
    (void)state;
    assert_non_null(f);
    bool fitted = convergence_fit(f, data, "results/published/runs/mlperf_runs.csv", &a, &err);
    fclose(f);
    assert_string_equal(err.msg, "");
    assert_true(fitted && csv_load(&now, path, &a, &err) && csv_load(&kept, "workloads/convergence/fits.csv", &a, &err));
    unlink(path);
    assert_int_equal(now.n_rows, kept.n_rows);
    for (size_t i = 0; i < now.n_rows; i++) {
        for (size_t c = 0; c < 3; c++)
            assert_string_equal(now.rows[i].cells[c], kept.rows[i].cells[c]);
        double value = number_in(&kept, i, 3), error = number_in(&kept, i, 4);
        assert_near(number_in(&now, i, 3), value, 1e-5 * fabs(value));
        assert_near(number_in(&now, i, 4), error, 0.01 * error);
        assert_true(*kept.rows[i].cells[6] != 0);
    }
    arena_free(&a);
}

/* Two runs of 2.7 and 2.9 million samples have a mean of 2.8 million; the plan of 38 epochs is met. */
static void test_errors_by_submission(void **state)
{
    static const char rows[] = "round,division,submitter,system,accelerators,benchmark,run,role,status,time_to_train_s,startup_s,eval_placement,"
        "eval_s,post_train_s,global_batch,samples_to_converge,epochs,evals,final_accuracy,optimizer,throughput_samples_per_s,source\n"
        "v2.0,closed,A,s,8,bert,0,validate,success,7,,inline,,,3072,2700000,,,,lamb,,t\n"
        "v2.0,closed,A,s,8,bert,1,validate,success,7,,inline,,,3072,2900000,,,,lamb,,t\n"
        "v0.7,closed,A,s,8,bert,1,validate,success,7,,inline,,,3072,2900000,,,,lamb,,t\n"
        "v2.0,closed,A,s,8,resnet,0,calibrate,success,7,,end,,,3520,48684346,38,,,lars,,t\n";
    struct arena a = { 0 };
    struct err err = { "" };
    struct convergence_errors e;
    const char *path = temp_file(rows, strlen(rows), ".csv");
    char *text;
    (void)state;
    convergence_errors(&e, path, data, &a, &err);
    unlink(path);
    assert_string_equal(err.msg, "");
    assert_int_equal(e.n, 2);
    assert_near(e.items[0].published, 2.8e6, 0);
    assert_near(e.items[0].error, predict("bert", "v2.0", 3072, NULL).mean_samples / 2.8e6 - 1, 1e-12);
    assert_near(e.items[1].error, 0, 1e-12);
    struct document d = { .arena = &a };
    convergence_errors_document(&d, &e);
    PRINTED(text, document_write(f, FORMAT_TEXT, &d));
    assert_non_null(strstr(text, "\nresnet     calibrate            1          0.0    +0.0\n"));
    free(text);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law_recovers_itself), cmocka_unit_test(test_scaled_logs), cmocka_unit_test(test_interpolation), cmocka_unit_test(test_between_records),
        cmocka_unit_test(test_laws_carry_on_from_the_table), cmocka_unit_test(test_monotone_in_the_batch),
        cmocka_unit_test(test_evaluation_schedule), cmocka_unit_test(test_what_is_observed), cmocka_unit_test(test_mean_of_what_is_observed),
        cmocka_unit_test(test_planned_epochs), cmocka_unit_test(test_effects_move_the_centre),
    cmocka_unit_test(test_the_record_is_that_of_the_learning_rate), cmocka_unit_test(test_mean_over_evaluations), cmocka_unit_test(test_cells_of_tables), cmocka_unit_test(test_refusals), cmocka_unit_test(test_many_records), cmocka_unit_test(test_fits_are_what_the_fit_gives),
        cmocka_unit_test(test_errors_by_submission),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
