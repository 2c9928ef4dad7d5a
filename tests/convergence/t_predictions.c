/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_predictions.c - reference points, their laws and predictions, digit for digit (tests/golden/predictions.txt). The
 * points are those of workloads/convergence; the fits are a frozen copy (tests/convergence/fits.csv), so that a new
 * calibration changes nothing here.
 */
#include "tests/golden_text.h"
#include "workloads/convergence/convergence.h"
#include "workloads/convergence/convergence_law.h"
#include <gsl/gsl_cdf.h>
#include <unistd.h>

static const char data[] = "workloads/convergence";
static const char *const benchmarks[] = { "resnet", "bert", "rnnt" }, *const rounds[] = { "v1.0", "v1.1", "v2.0", "v2.1" };

static void print_law(FILE *f, const char *name, const struct rcp_table *t, bool free_g)
{
    struct convergence_law l;
    struct err err;
    if (!law_fit(&l, t, free_g, &err)) {
        fprintf(f, "  %s: %s\n", name, err.msg);
        return;
    }
    fprintf(f, "  %s: e0 %.6g +- %.4g, bc %.6g +- %.4g, g %.6g +- %.4g, rms %.5g, left out %.5g, of %zu; at 1000 %.6g, beyond %.6g\n", name, l.e0, l.e0_error,
            l.bc, l.bc_error, l.g, l.g_error, l.rms, l.loo, l.n, law_at(&l, 1000), law_beyond(&l, 300000));
}

static void print_points(FILE *f, const char *benchmark, const char *round, enum rcp_edition edition)
{
    struct arena a = { 0 };
    struct rcp_table t;
    struct err err;
    double mean, sd;
    fprintf(f, "%s %s, %s:", benchmark, round, edition == RCP_LATER ? "later" : "at the deadline");
    if (!rcp_load(&t, benchmark, round, edition, data, &a, &err)) {
        fprintf(f, " %s\n", err.msg);
        arena_free(&a);
        return;
    }
    for (size_t i = 0; i < t.n; i++)
        fprintf(f, "%s %.9g: %zu runs, %g left, %.8g +- %.6g, least %.8g, rate %g", i ? ";" : "", t.points[i].batch, t.points[i].n, t.points[i].left,
                t.points[i].mean, t.points[i].sd, t.points[i].least, t.points[i].learning_rate);
    fputs("\n  between:", f);
    for (double batch = t.points[0].batch / 2; batch < 3 * t.points[t.n - 1].batch; batch *= 1.9)
        if (rcp_interpolate(&mean, &sd, &t, batch))
            fprintf(f, " %.6g: %.7g +- %.5g", batch, mean, sd);
    fputc('\n', f);
    print_law(f, "steep", &t, false);
    print_law(f, "free", &t, true);
    size_t n = t.n;
    rcp_prune(&t);
    fprintf(f, "  pruned: %zu of %zu, from %g", t.n, n, t.points[0].batch);
    t.n = 0;
    assert_true(rcp_load(&t, benchmark, round, edition, data, &a, &err));
    rcp_prune_by_mean(&t);
    fprintf(f, "; by mean: %zu, from %g\n", t.n, t.points[0].batch);
    arena_free(&a);
}

/* A folder with the tables and the frozen fits. */
static const char *frozen_data(struct arena *a)
{
    static const char *const names[] = { "benchmarks.csv", "rounds", "retuned.csv" };
    char folder[] = "/tmp/podbench-predictions-XXXXXX", *here = getcwd(NULL, 0);
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(symlink(arena_printf(a, "%s/%s/%s", here, data, names[i]), arena_printf(a, "%s/%s", folder, names[i])), 0);
    assert_int_equal(symlink(arena_printf(a, "%s/tests/convergence/fits.csv", here), arena_printf(a, "%s/fits.csv", folder)), 0);
    free(here);
    return arena_strdup(a, folder);
}

static void remove_folder(const char *folder, struct arena *a)
{
    static const char *const names[] = { "benchmarks.csv", "rounds", "retuned.csv", "fits.csv" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(arena_printf(a, "%s/%s", folder, names[i]));
    rmdir(folder);
}

static void print_prediction(FILE *f, struct convergence_tables *tables, const struct submission_terms *terms)
{
    struct convergence c, reference;
    struct err err = { "" };
    fprintf(f, "%s %s %s %s %s batch %.9g rate %g: ", terms->benchmark, terms->round, terms->division ? terms->division : "-", terms->submitter ? terms->submitter : "-",
            terms->optimizer ? terms->optimizer : "-", terms->global_batch, terms->base_learning_rate);
    if (!convergence_predict_from(&c, tables, terms, &err)) {
        fprintf(f, "%s\n", strrchr(err.msg, '/') ? strrchr(err.msg, '/') + 1 : err.msg);
        return;
    }
    fprintf(f, "%s, reference %.8g, median %.9g, sigma %.6g, mean %.9g, effect %.6g, error %.6g of %.4g; every %.6g from %.6g%s", c.method == CONVERGENCE_INTERPOLATED ? "interpolated" : "extrapolated",
            c.reference, c.median_samples, c.sigma, c.mean_samples, c.effect, c.error, c.error_dof, c.schedule.interval, c.schedule.latest_first,
            c.schedule.in_samples ? " samples" : "");
    for (int k = 0; k < 3; k++)
        fprintf(f, ", seen %.9g", convergence_observed(&c, c.median_samples * (0.7 + 0.3 * k), k));
    if (c.has_plan)
        fprintf(f, "; plan %.6g +- %.6g of %.4g, accuracy %.6g +- %.6g, passes %.6g", c.planned_epochs, c.plan_error, c.plan_dof, c.accuracy_mean,
                c.accuracy_sd, gsl_cdf_ugaussian_P((c.accuracy_mean - c.target) / c.accuracy_sd * (c.higher_is_better ? 1 : -1)));
    fprintf(f, "; %s\n", convergence_reference(&reference, tables, terms, &err) ? "within" : err.msg);
}

/* A learning rate within 1 % of that of the round before selects its record. */
static void print_rates(FILE *f, struct convergence_tables *tables)
{
    static const double factors[] = { 0.9896, 0.9905, 1, 1.0095, 1.0104 };
    for (size_t r = 1; r < 4; r++) {
        struct arena a = { 0 };
        struct rcp_table before;
        struct convergence c;
        struct err err;
        assert_true(rcp_load(&before, "resnet", rounds[r - 1], RCP_LATER, data, &a, &err));
        for (size_t i = 0; i < before.n; i++)
            for (size_t k = 0; k < sizeof factors / sizeof *factors && before.points[i].learning_rate > 0; k++)
                if (convergence_predict_from(&c, tables, &(struct submission_terms){ .benchmark = "resnet", .round = rounds[r], .global_batch = before.points[i].batch,
                    .base_learning_rate = factors[k] * before.points[i].learning_rate }, &err))
                    fprintf(f, "%s%.6g at %.6g: %.9g", k ? "; " : "", before.points[i].batch, factors[k] * before.points[i].learning_rate, c.reference);
        fputc('\n', f);
        arena_free(&a);
    }
}

static void print_predictions(FILE *f, struct convergence_tables *tables)
{
    static const double batches[] = { 0, 100, 256, 1024, 3072, 3584, 5000, 14336, 70000, 1e6 };
    for (size_t b = 0; b < 3; b++)
        for (size_t r = 0; r < 4; r++)
            for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
                print_prediction(f, tables, &(struct submission_terms){ .benchmark = benchmarks[b], .round = rounds[r], .global_batch = batches[i],
                                 .division = i % 3 == 2 ? "open" : i % 3 ? "closed" : NULL, .submitter = i % 2 ? "Graphcore" : NULL,
                                 .optimizer = i % 4 == 1 ? "sgd" : i % 4 ? "lars" : NULL, .base_learning_rate = i % 5 == 3 ? 10.5 : 0 });
    print_prediction(f, tables, &(struct submission_terms){ .benchmark = "dlrm", .round = "v2.0", .global_batch = 10 });
    print_prediction(f, tables, &(struct submission_terms){ .benchmark = "bert", .round = "v9.0", .global_batch = 10 });
}

/* A batch of a million utterances needs 4549 epochs, and one of 2 x 10^12 so many that a closed form replaces the
 * sum: the mean exceeds the median by half an interval and by the skew of the distribution. */
static void many_evaluations(void **state)
{
    (void)state;
    for (double batch = 1e5; batch < 1e13; batch *= 1.7) {
        struct arena a = { 0 };
        struct err err;
        struct convergence c;
        assert_true(convergence_predict_for(&c, &(struct submission_terms){ .benchmark = "rnnt", .round = "v1.0", .global_batch = batch }, data, &a, &err));
        double expected = c.median_samples * exp(c.sigma * c.sigma / 2) + c.schedule.interval * c.samples_per_epoch / 2;
        assert_near(c.mean_samples, expected, 1e-6 * expected);
        arena_free(&a);
    }
}

static void predictions(void **state)
{
    struct arena a = { 0 };
    struct err err;
    struct convergence_tables *tables;
    char *text;
    (void)state;
    const char *folder = frozen_data(&a);
    assert_true(convergence_tables_load(&tables, folder, &a, &err));
    PRINTED(text,
        for (size_t b = 0; b < 3; b++)
            for (size_t r = 0; r < 4; r++)
                for (int edition = 0; edition < 2; edition++)
                    print_points(f, benchmarks[b], rounds[r], (enum rcp_edition)edition);
        print_rates(f, tables);
        print_predictions(f, tables));
    remove_folder(folder, &a);
    assert_golden(text, "tests/golden/predictions.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(predictions), cmocka_unit_test(many_evaluations) };
TAP_MAIN(tests)
