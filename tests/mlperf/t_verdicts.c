/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_verdicts.c - real logs of all rounds: every score, log, package and convergence verdict against the official tools'
 * own. Skipped, with a message, where the logs are missing.
 */
#include "tests/mlperf/judged.h"

static const char *cell(const struct csv_table *t, size_t row, const char *column)
{
    size_t c;
    assert_true(csv_column(&c, t, column, NULL));
    return t->rows[row].cells[c];
}
struct scored;
struct compared { struct csv_table official; bool *seen; size_t n_wrong, n_rows; struct judge *judge; struct arena *a; bool train_samples; struct scored *scored; };

static bool same_folder(const struct csv_table *t, size_t i, const struct folder *f)
{
    return text_is(cell(t, i, "round"), f->round) && text_is(cell(t, i, "division"), f->division)
        && text_is(cell(t, i, "submitter"), f->submitter) && text_is(cell(t, i, "system"), f->system)
        && text_is(cell(t, i, "benchmark"), f->benchmark);
}

static void wrong(struct compared *c, size_t i, const char *got)
{
    print_error("%s %s %s %s %s: %s, officially %s %s\n", cell(&c->official, i, "round"), cell(&c->official, i, "system"),
                cell(&c->official, i, "benchmark"), cell(&c->official, i, "file"), cell(&c->official, i, "check"), got,
                cell(&c->official, i, "verdict"), cell(&c->official, i, "detail"));
    c->n_wrong++;
}

/* Refused keys, one by one: the official list has "KEY (why)" between semicolons; some of ours have no key. */
static size_t count_refused(const struct compliance *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_messages; i++) {
        bool new = c->messages[i].severity == SEVERITY_ERROR;
        for (size_t k = 0; k < i && new; k++)
            new = c->messages[k].severity != SEVERITY_ERROR || !*c->messages[i].key || !text_is(c->messages[k].key, c->messages[i].key);
        n += new;
    }
    return n;
}

static void compare_keys(struct compared *c, size_t i, const struct compliance *ours)
{
    const char *detail = cell(&c->official, i, "detail");
    size_t n = *detail != 0;
    for (const char *at = detail; (at = strchr(at, ';')); at++)
        n++;
    for (size_t k = 0; k < ours->n_messages; k++)
        if (ours->messages[k].severity == SEVERITY_ERROR && *ours->messages[k].key && !strstr(detail, ours->messages[k].key))
            wrong(c, i, ours->messages[k].key);
    if (n != count_refused(ours))
        wrong(c, i, "another number of refused keys");
}

static void on_log(void *user, const struct folder *f, const char *path, const struct log_judgement *j)
{
    struct compared *c = user;
    const char *file = strrchr(path, '/') + 1;
    for (size_t i = 0; i < c->official.n_rows; i++) {
        if (!text_is(cell(&c->official, i, "file"), file) || !same_folder(&c->official, i, f))
            continue;
        c->seen[i] = true;
        if (!text_is(cell(&c->official, i, "verdict"), j->compliance.passed ? "pass" : "fail"))
            wrong(c, i, j->compliance.passed ? "pass" : "fail");
        compare_keys(c, i, &j->compliance);
    }
}

static void compare_number(struct compared *c, size_t i, const char *column, double got, double tolerance)
{
    double want;
    if (!parse_f64(cell(&c->official, i, column), &want) || fabs(got - want) <= tolerance * fmax(1, fabs(want)))
        return;
    char text[80];
    snprintf(text, sizeof text, "%s %.12g", column, got);
    wrong(c, i, text);
}

static void compare_convergence(struct compared *c, size_t i, const struct folder *f)
{
    const char *verdict = cell(&c->official, i, "verdict");
    bool passed = f->has_rcp && f->rcp.passed;
    if (text_is(verdict, "n/a") ? f->rules->has_reference : !text_is(verdict, passed ? "pass" : "fail"))
        wrong(c, i, f->parts[PACKAGE_CONVERGENCE].text);
    if (!f->has_rcp || f->rcp.limit.match == RCP_MISSING)
        return;
    compare_number(c, i, "submission_mean", f->rcp.submission_mean, 6e-5);
    compare_number(c, i, "rcp_mean", f->rcp.limit.mean, 1e-9);
    compare_number(c, i, "rcp_stdev", f->rcp.limit.sd, 1e-9);
    compare_number(c, i, "max_speedup", f->rcp.limit.max_speedup, 1e-9);
    compare_number(c, i, "min_mean", f->rcp.limit.least_mean, 1e-9);
    if (!strstr(cell(&c->official, i, "detail"), "did not normalise"))
        compare_number(c, i, "factor", f->rcp.scaling, 1e-9);
}

/* ---- scores ------------------------------------------------------------------------------------------------ */

struct scored { struct csv_table official; size_t n_wrong, n; struct judge *judge; bool has_measures; };

static const struct { const char *column; enum run_measure measure; double tolerance; } measured[] = {
    { "median_samples_to_converge", MEASURE_SAMPLES, 1e-9 }, { "median_epochs_to_converge", MEASURE_EPOCHS, 1e-9 },
    { "global_batch_size", MEASURE_BATCH, 1e-9 }, { "throughput_samples_s", MEASURE_THROUGHPUT, 1e-9 }, { "median_eval_s", MEASURE_EVAL_TIME, 1e-6 },
    { "median_pre_train_s", MEASURE_STARTUP, 1e-6 }, { "median_init_s", MEASURE_INIT, 1e-9 }, { "median_train_unit_s", MEASURE_UNIT_TIME, 1e-9 },
};

/* Medians over the runs that converged, as computed from the same logs elsewhere. */
static void compare_measures(struct scored *c, size_t i, const struct folder *f, struct arena *a)
{
    struct score_row row;
    score_row_fill(&row, f, a);
    for (size_t k = 0; k < sizeof measured / sizeof *measured; k++) {
        double want, got = row.measures[measured[k].measure];
        bool has = parse_f64(cell(&c->official, i, measured[k].column), &want);
        if (has ? !(fabs(got - want) <= measured[k].tolerance * fmax(1, fabs(want))) : !isnan(got)) {
            print_error("%s: %s is %.12g, want %.12g\n", f->dir, measured[k].column, got, has ? want : (double)NAN);
            c->n_wrong++;
        }
    }
}

static void compare_score(struct scored *c, const struct folder *f, struct arena *a)
{
    double want = NAN;
    for (size_t i = 0; i < c->official.n_rows; i++)
        if (same_folder(&c->official, i, f)) {
            c->n++;
            bool has = parse_f64(cell(&c->official, i, "score_minutes"), &want);
            if (has ? !(fabs(f->score_minutes - want) < 1e-6 * fmax(1, want)) : !isnan(f->score_minutes)) {
                print_error("%s: %.9g minutes, officially %.9g\n", f->dir, f->score_minutes, want);
                c->n_wrong++;
            }
            if (c->has_measures)
                compare_measures(c, i, f, a);
        }
}

static void score_folder(void *user, const char *dir, char *const *logs, size_t n, struct arena *a)
{
    struct scored *c = user;
    struct folder f;
    folder_judge(&f, c->judge, dir, logs, n, judged_no_log, NULL, a);
    compare_score(c, &f, a);
}

/* ---- verdicts ---------------------------------------------------------------------------------------------- */

/* An official verdict on this folder counts training samples. Other folders are not judged so. */
static bool counts_samples(const struct compared *c, const char *dir)
{
    for (size_t i = 0; i < c->official.n_rows; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s/%s/%s/%s", cell(&c->official, i, "round"), cell(&c->official, i, "division"), cell(&c->official, i, "submitter"),
                 cell(&c->official, i, "system"), cell(&c->official, i, "benchmark"));
        if ((text_is(cell(&c->official, i, "counts"), "train_samples") || strstr(cell(&c->official, i, "check"), "train_samples")) && strstr(dir, path))
            return true;
    }
    return false;
}

static void on_folder(void *user, const char *dir, char *const *logs, size_t n, struct arena *a)
{
    struct compared *c = user;
    struct folder f;
    if (c->train_samples && !counts_samples(c, dir))
        return;
    folder_judge(&f, c->judge, dir, logs, n, on_log, c, a);
    if (!c->train_samples)
        compare_score(c->scored, &f, a);
    for (size_t i = 0; i < c->official.n_rows; i++) {
        if (*cell(&c->official, i, "file") || !same_folder(&c->official, i, &f))
            continue;
        const char *check = cell(&c->official, i, "check");
        bool counts = text_is(cell(&c->official, i, "counts"), "train_samples") || strstr(check, "train_samples");
        if (counts != c->train_samples && (counts || text_is(check, "reference convergence")))
            continue;
        c->seen[i] = true;
        if (text_is(check, "reference convergence"))
            compare_convergence(c, i, &f);
        else if (!text_is(cell(&c->official, i, "verdict"), f.passed ? "pass" : "fail"))
            wrong(c, i, f.passed ? "pass" : "fail");
    }
}

static void no_notice_of(void *user, const char *path, const char *text)
{
    (void)user;
    print_error("%s: %s\n", path, text);
}

/* Returns the number of folders. */
static size_t compare_tree(struct compared *c, const char *dir, const char *table, bool train_samples)
{
    struct err err = { "" };
    struct judge_options options = { .data_dir = "workloads/convergence", .train_samples = train_samples };
    struct judge judge;
    struct tree_visit visit = { on_folder, no_notice_of, c, NULL, { 0 } };
    size_t n;
    c->judge = &judge, c->train_samples = train_samples;
    assert_true(csv_load(&c->official, table, c->a, &err));
    if (!c->seen)
        c->seen = ARENA_ARRAY(c->a, bool, c->official.n_rows);
    assert_true(judge_load(&judge, &options, c->a, &err));
    assert_true(tree_walk(&n, dir, &visit, &err));
    return n;
}

/* Prints the number of comparisons by round: "v1.0: 70 compliance, 6 reference convergence, 6 package". */
static void print_counts(const struct compared *c)
{
    static const char *const checks[] = { "compliance", "reference convergence", "package" };
    const char *round = "";
    for (size_t i = 0; i < c->official.n_rows; i++) {
        if (text_is(cell(&c->official, i, "round"), round))
            continue;
        round = cell(&c->official, i, "round");
        print_message("# %s:", round);
        for (size_t k = 0; k < 3; k++) {
            size_t n = 0;
            for (size_t r = 0; r < c->official.n_rows; r++)
                n += text_is(cell(&c->official, r, "round"), round) && !strncmp(cell(&c->official, r, "check"), checks[k], strlen(checks[k]));
            print_message(" %zu %s%s", n, checks[k], k < 2 ? "," : "\n");
        }
    }
    print_message("# %zu of %zu verdicts differ\n", c->n_wrong, c->official.n_rows);
}

static void check_scores(const struct scored *c, const char *dir, size_t n, size_t n_wanted)
{
    assert_int_equal(c->n, n);                  /* each folder has an official score */
    assert_true(n >= n_wanted);
    print_message("# %s: %zu of %zu scores differ\n", dir, c->n_wrong, c->n);
    assert_int_equal(c->n_wrong, 0);
}

static void compare_verdicts(const char *dir, const char *table, const char *scores, size_t n_wanted)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct scored scored = { .has_measures = false };
    struct compared c = { .a = &a, .scored = &scored };
    assert_true(csv_load(&scored.official, scores, &a, &err));
    size_t n = compare_tree(&c, dir, table, false);
    compare_tree(&c, dir, table, true);
    for (size_t i = 0; i < c.official.n_rows; i++)
        if (!c.seen[i])
            wrong(&c, i, "nothing said");
    print_counts(&c);
    assert_int_equal(c.n_wrong, 0);
    check_scores(&scored, dir, n, n_wanted);
    arena_free(&a);
}

static void test_all_rounds(void **state)
{
    (void)state;
    SKIP_WITHOUT("../shared/mlperf-all");
    compare_verdicts("../shared/mlperf-all", "../shared/mlperf-all/verdicts_all.csv", "../shared/mlperf-all/scores_all.csv", 87);
    SKIP_WITHOUT("../shared/mlperf-v6");
    compare_verdicts("../shared/mlperf-v6", "../shared/mlperf-v6/verdicts.csv", "../shared/mlperf-v6/scores.csv", 10);
}

/* Logs with measures that were computed elsewhere. */
static void test_measures(void **state)
{
    const char *dir = "../shared/mlperf-logs";
    struct arena a = { 0 };
    struct err err = { "" };
    struct judge_options options = { .data_dir = "workloads/convergence" };
    struct judge judge;
    struct scored c = { .judge = &judge, .has_measures = true };
    struct tree_visit visit = { score_folder, no_notice_of, &c, NULL, { 0 } };
    size_t n;
    (void)state;
    SKIP_WITHOUT(dir);
    assert_true(csv_load(&c.official, "../shared/data/mlperf_scores.csv", &a, &err));
    assert_true(judge_load(&judge, &options, &a, &err));
    assert_true(tree_walk(&n, dir, &visit, &err));
    check_scores(&c, dir, n, 37);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_all_rounds), cmocka_unit_test(test_measures) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
