/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_convergence_fit.c - the convergence sheet is reproduced exactly, and refused for runs that do not determine it;
 * runs that validate affect only intervals.
 */
#include "tests/check.h"
#include "tests/rounds_folder.h"
#include "results/calibrate/calibration.h"
#include "results/submission/drawn_runs.h"
#include <string.h>
#include <unistd.h>

static const char runs[] = "results/published/runs/mlperf_runs.csv", data_dir[] = "workloads/convergence";

static void the_sheet_comes_out_as_it_stands(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err = { "" };
    char *made = NULL, *kept;
    size_t n;
    FILE *f = open_memstream(&made, &n);
    assert_true(convergence_fit(f, data_dir, runs, &a, &err));
    fclose(f);
    assert_true(read_text_file(&kept, NULL, "workloads/convergence/fits.csv", 1 << 20, &a, &err));
    assert_string_equal(made, kept);
    free(made);
    arena_free(&a);
}

/* The message for the table of runs that keeps only these lines. */
static const char *refusal_of(bool (*stays)(const char *line), struct arena *a)
{
    struct err err = { "" };
    char path[64], *text, *made = NULL, *line, *rest;
    size_t n;
    snprintf(path, sizeof path, "/tmp/t_convergence_calibrate_%d.csv", (int)getpid());
    assert_true(read_text_file(&text, NULL, runs, 1 << 20, a, &err));
    FILE *few = fopen(path, "w"), *f = open_memstream(&made, &n);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (stays(line))
            fprintf(few, "%s\n", line);
    fclose(few);
    assert_false(convergence_fit(f, data_dir, path, a, &err));
    fclose(f);
    unlink(path);
    free(made);
    return arena_strdup(a, strchr(err.msg, ':'));
}

static bool but_plain_sgd(const char *line)
{
    return !strstr(line, ",sgd,") || !strstr(line, ",calibrate,");
}

static bool but_most_of_bert(const char *line)
{
    return !strstr(line, ",bert,") || strstr(line, ",validate,") || (strstr(line, ",ipu-pod16-POPART-closed,") && !strstr(line, "v1.1,"));
}

/* Without the runs trained by plain SGD the planned epochs of SGD are unknown; they were once written as "-nan". Two
 * submissions of BERT are too few to estimate the spread of a mean, however many validate. */
static void what_no_run_tells_is_refused(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_string_equal(refusal_of(but_plain_sgd, &a), ": too few runs of role calibrate to determine schedule_margin_sgd of resnet");
    assert_string_equal(refusal_of(but_most_of_bert, &a), ": too few runs of role calibrate to determine effect_Graphcore of bert");
    arena_free(&a);
}

/* A folder with the convergence tables, one of them replaced by this text; tables_drop removes it. */
static const char *const tables[] = { "benchmarks.csv", "fits.csv", "retuned.csv", "rounds" };
enum { N_TABLES = sizeof tables / sizeof *tables };

static const char *tables_with(const char *changed, const char *text, struct arena *a)
{
    char here[512];
    struct err err;
    const char *dir = arena_printf(a, "/tmp/t_convergence_calibrate_%d", (int)getpid());
    assert_non_null(getcwd(here, sizeof here));
    assert_true(make_folders(dir, &err));
    for (size_t i = 0; i < N_TABLES; i++)
        if (!text_is(tables[i], changed))
            assert_int_equal(symlink(arena_printf(a, "%s/%s/%s", here, data_dir, tables[i]), arena_printf(a, "%s/%s", dir, tables[i])), 0);
    FILE *f = fopen(arena_printf(a, "%s/%s", dir, changed), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return dir;
}

static void tables_drop(const char *dir, struct arena *a)
{
    for (size_t i = 0; i < N_TABLES; i++)
        unlink(arena_printf(a, "%s/%s", dir, tables[i]));
    rmdir(dir);
}

/* The sheet from other records of retuning, or the message if there is none; the other tables do not change. */
static char *sheet_of_retuned(const char *records, struct arena *a, struct err *err)
{
    char *made = NULL;
    size_t n;
    const char *dir = tables_with("retuned.csv", arena_printf(a, "benchmark,batch_size,before,after,unit,what,source\n%s", records), a);
    FILE *f = open_memstream(&made, &n);
    bool good = convergence_fit(f, dir, runs, a, err);
    fclose(f);
    tables_drop(dir, a);
    if (good)
        return made;
    free(made);
    return NULL;
}

/* ln 2 from one record; ln 4 and ln 1: mean ln 2, squares 2 (ln 2)^2 with one degree of freedom, as the third
 * benchmark has one record too. One more record of the first has a spread of sqrt(2 (ln 2)^2 (1 + 1)) = 1.386, one
 * of the second sqrt(2 (ln 2)^2 1.5) = 1.2006. */
static void gains_by_hand(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err = { "" };
    char *sheet = sheet_of_retuned("bert,1,3,6,u,w,s\nrnnt,1,1,4,u,w,s\nrnnt,1,5,5,u,w,s\nresnet,1,2,1,u,w,s\nother,1,7,9,u,w,s\n", &a, &err);
    assert_string_equal(err.msg, "");
    assert_non_null(strstr(sheet, "\nbert,any,open_gain,0.69314718,1.39,1,"));
    assert_non_null(strstr(sheet, "\nrnnt,any,open_gain,0.69314718,1.2,1,"));
    assert_non_null(strstr(sheet, "\nresnet,any,open_gain,-0.69314718,1.39,1,"));
    free(sheet);
    static const char *const bad[][3] = {
        { "0", "1", "before: 0 is outside 1e-09 to 1e+18" }, { "x", "1", "before: 'x' is not a number" }, { "1", "", "after: '' is not a number" },
        { "1", "-2", "after: -2 is outside 1e-09 to 1e+18" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(sheet_of_retuned(arena_printf(&a, "rnnt,1,1,2,u,w,s\nbert,1,%s,%s,u,w,s\n", bad[i][0], bad[i][1]), &a, &err));
        assert_string_equal(strchr(err.msg, ':'), arena_printf(&a, ":3: %s", bad[i][2]));
    }
    arena_free(&a);
}

/* ---- the noise of a batch ---------------------------------------------------------------------------------------- */

/* The numbers of a text, with their distances from the mean multiplied. */
static char *spread_out(const char *numbers, double times, struct arena *a)
{
    double values[64], sum = 0;
    char *rest = arena_strdup(a, numbers), *word, *out = arena_strdup(a, "");
    size_t n = 0;
    while ((word = strsep(&rest, " ")))
        sum += values[n++] = atof(word);
    for (size_t i = 0; i < n; i++)
        out = arena_printf(a, "%s%s%.12g", out, i ? " " : "", sum / (double)n + times * (values[i] - sum / (double)n));
    return out;
}

/* The round's reference points, with those of RNN-T at its largest batch spread so many times as far about their
 * means. */
static const char *points_spread(const char *round, double times, struct arena *a)
{
    struct csv_table t;
    size_t column, n;
    char *text = NULL;
    FILE *f = open_memstream(&text, &n);
    assert_true(csv_load(&t, arena_printf(a, "%s/rounds/%s/rcp.csv", data_dir, round), a, NULL) && csv_column(&column, &t, "to_converge", NULL));
    for (size_t c = 0; c < t.n_columns; c++)
        csv_write_cell(f, t.columns[c], c + 1 == t.n_columns);
    for (size_t i = 0; i < t.n_rows; i++) {
        if (text_is(csv_cell(&t, &t.rows[i], "benchmark"), "rnnt") && text_is(csv_cell(&t, &t.rows[i], "batch_size"), "6144"))
            t.rows[i].cells[column] = spread_out(t.rows[i].cells[column], times, a);
        for (size_t c = 0; c < t.n_columns; c++)
            csv_write_cell(f, t.rows[i].cells[c], c + 1 == t.n_columns);
    }
    fclose(f);
    const char *kept = arena_strdup(a, text);
    free(text);
    return kept;
}

/* The sheet fitted to those points. */
static char *sheet_of_spread(double times, struct arena *a)
{
    static const char *const rounds[] = { "v1.0", "v1.1", "v2.0", "v2.1" };
    struct err err = { "" };
    char *text = NULL, *made = NULL;
    size_t n;
    assert_true(read_text_file(&text, NULL, "workloads/convergence/fits.csv", 1 << 20, a, &err));
    const char *dir = tables_with("fits.csv", text, a);
    unlink(arena_printf(a, "%s/rounds", dir));
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++)
        rounds_folder_put(dir, rounds[i], "rcp.csv", points_spread(rounds[i], times, a), a);
    FILE *f = open_memstream(&made, &n);
    bool good = convergence_fit(f, dir, runs, a, &err);
    fclose(f);
    rounds_folder_remove(dir, a);
    if (!good)
        print_error("%s\n", err.msg);
    assert_true(good);
    return made;
}

/* The threshold is 5 %: at p = 5.2 % there is no slope with the batch, and the spread is that of all records; at 4.6
 * % there is one. */
static void a_slope_that_may_be_chance_is_none(void **state)
{
    static const struct { double times; const char *coefficient, *exponent, *source; } cases[] = {
        { 0.73, "0.047335091,,1", "0,,1", "pooled 0.0473; slope with batch: p = 0.052\"" },
        { 0.715, "0.50091811,0.535,1", "-0.33682129,0.143,1", "pooled 0.0472; slope with batch: p = 0.046\"" },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *source = arena_printf(&a, "\"spread of ln(to_converge) in 10 reference lists of rcp.csv, %s", cases[i].source);
        char *sheet = sheet_of_spread(cases[i].times, &a);
        assert_non_null(strstr(sheet, arena_printf(&a, "\nrnnt,any,noise_coefficient,%s,%s\nrnnt,any,noise_exponent,%s,%s\n", cases[i].coefficient, source,
                                                   cases[i].exponent, source)));
        free(sheet);
    }
    arena_free(&a);
}

/* ---- runs that validate ----------------------------------------------------------------------------------------- */

/* The table of runs without those that validate (by: 0), or with their numbers multiplied. */
static char *runs_with_validate(double by, struct arena *a)
{
    static const char *const numbers[] = { "samples_to_converge", "time_to_train_s", "epochs", "final_accuracy" };
    struct csv_table t;
    struct err err = { "" };
    size_t role, column;
    char *text = NULL;
    assert_true(csv_load(&t, runs, a, &err) && csv_column(&role, &t, "role", &err));
    for (size_t i = 0; i < t.n_rows; i++)
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers && text_is(t.rows[i].cells[role], "validate"); k++) {
            assert_true(csv_column(&column, &t, numbers[k], &err));
            char **cell = &t.rows[i].cells[column];
            if (**cell)
                *cell = arena_printf(a, "%.10g", by * atof(*cell));
        }
    FILE *f;
    size_t n;
    assert_non_null(f = open_memstream(&text, &n));
    for (size_t c = 0; c < t.n_columns; c++)
        csv_write_cell(f, t.columns[c], c + 1 == t.n_columns);
    for (size_t i = 0; i < t.n_rows; i++)
        for (size_t c = 0; c < t.n_columns && (by > 0 || !text_is(t.rows[i].cells[role], "validate")); c++)
            csv_write_cell(f, t.rows[i].cells[c], c + 1 == t.n_columns);
    fclose(f);
    return text;
}

static char *sheet_of_runs(const char *text, struct arena *a)
{
    struct err err = { "" };
    char *made = NULL;
    size_t n;
    const char *path = temp_file(text, strlen(text), ".csv");
    FILE *f = open_memstream(&made, &n);
    assert_true(convergence_fit(f, data_dir, path, a, &err));
    fclose(f);
    unlink(path);
    return made;
}

static bool makes_intervals_only(const struct csv_table *t, const struct csv_row *r, size_t column)
{
    bool is_spread = text_is(r->cells[2], "spread") || text_is(r->cells[2], "spread_dof"), is_effect = !strncmp(r->cells[2], "effect_", 7);
    return (is_spread && column > 2) || (is_effect && text_is(t->columns[column], "standard_error"));
}

/* Compares every cell except those that only affect intervals, and returns how many of these differ. */
static size_t compare_sheets(const char *sheet, struct arena *a)
{
    struct csv_table now, kept;
    struct err err = { "" };
    size_t differ = 0;
    const char *path = temp_file(sheet, strlen(sheet), ".csv");
    assert_true(csv_load(&now, path, a, &err) && csv_load(&kept, "workloads/convergence/fits.csv", a, &err));
    unlink(path);
    assert_int_equal(now.n_rows, kept.n_rows);
    for (size_t i = 0; i < kept.n_rows; i++)
        for (size_t c = 0; c < kept.n_columns; c++)
            if (makes_intervals_only(&kept, &kept.rows[i], c))
                differ += !text_is(now.rows[i].cells[c], kept.rows[i].cells[c]);
            else
                assert_string_equal(now.rows[i].cells[c], kept.rows[i].cells[c]);
    return differ;
}

static struct drawn_runs drawn(const struct convergence *c, bool open, struct arena *a)
{
    struct drawn_runs d;
    struct err err = { "" };
    const struct draw_request q = { .convergence = c, .seed = 3, .submissions = 60, .open_division = open, .data_dir = data_dir,
                                            .timing = { .step_time_s = 1.3, .startup_s = 7, .noise = -1 } };
    assert_true(runs_draw(&d, &q, a, &err));
    return d;
}

/* Compares the predicted samples and time of a submission by two sheets. Returns whether the interval differs. */
static bool predictions_are_the_same(const struct run_row *r, const char *dir, struct arena *a)
{
    struct convergence kept, now;
    struct err err = { "" };
    const struct submission_terms terms = terms_of_run(r);
    bool open = text_is(r->division, "open");
    assert_true(convergence_predict_for(&kept, &terms, data_dir, a, &err) && convergence_predict_for(&now, &terms, dir, a, &err));
    struct drawn_runs kept_runs = drawn(&kept, open, a), now_runs = drawn(&now, open, a);
    const double before[] = { kept.mean_samples, kept.median_samples, kept.planned_epochs, kept_runs.expected_samples, kept_runs.expected_minutes,
                              kept_runs.score_minutes };
    const double after[] = { now.mean_samples, now.median_samples, now.planned_epochs, now_runs.expected_samples, now_runs.expected_minutes,
                             now_runs.score_minutes };
    assert_memory_equal(before, after, sizeof before);
    return kept.error != now.error && (kept_runs.low_minutes != now_runs.low_minutes || kept_runs.high_minutes != now_runs.high_minutes);
}

static void runs_that_validate_make_intervals_only(void **state)
{
    static const double ways[] = { 0, 1.37, 0.81 };     /* left out; farther from the reference; nearer */
    struct arena a = { 0 };
    struct err err = { "" };
    struct run_rows all;
    (void)state;
    assert_true(run_rows_load(&all, runs, &a, &err));
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        char *text = runs_with_validate(ways[way], &a), *sheet = sheet_of_runs(text, &a);
        size_t n_moved = 0, n_bert = 0;
        assert_true(compare_sheets(sheet, &a) >= 3);    /* the effect, the spread and its source */
        const char *dir = tables_with("fits.csv", sheet, &a);
        for (size_t i = 0; i < all.n; i += run_rows_group(&all, i)) {
            const struct run_row *r = &all.items[i];
            bool moved = round_has_reference(r->round) && predictions_are_the_same(r, dir, &a);
            n_bert += round_has_reference(r->round) && text_is(r->benchmark, "bert");
            n_moved += moved;
        }
        tables_drop(dir, &a);
        assert_true(n_bert > 0 && n_moved == n_bert);
        free(sheet);
        free(text);
    }
    arena_free(&a);
}

/* Their place in the table does not matter either. */
static void runs_that_validate_may_stand_first(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    char *text, *line, *rest, *header, *others = "", *first = "";
    (void)state;
    assert_true(read_text_file(&text, NULL, runs, 1 << 20, &a, &err));
    header = strtok_r(text, "\n", &rest);
    while ((line = strtok_r(NULL, "\n", &rest))) {
        char **part = strstr(line, ",validate,") ? &first : &others;
        *part = arena_printf(&a, "%s%s\n", *part, line);
    }
    char *sheet = sheet_of_runs(arena_printf(&a, "%s\n%s%s", header, first, others), &a);
    assert_int_equal(compare_sheets(sheet, &a), 0);
    free(sheet);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(the_sheet_comes_out_as_it_stands), cmocka_unit_test(what_no_run_tells_is_refused),
                                          cmocka_unit_test(gains_by_hand), cmocka_unit_test(a_slope_that_may_be_chance_is_none), cmocka_unit_test(runs_that_validate_make_intervals_only),
                                          cmocka_unit_test(runs_that_validate_may_stand_first) };
TAP_MAIN(tests)
