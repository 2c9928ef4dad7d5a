/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_points.c - loading rounds.csv and rcp.csv: every refused cell with its message, the limits, and the statistics of
 * records by hand.
 */
#include "tests/check.h"
#include "tests/rounds_folder.h"
#include "workloads/convergence/rcp_points.h"

static struct arena a;

/* A folder with two rounds that have these tables; for NULL those of the project. */
static const char *folder(const char *benchmarks, const char *rcp)
{
    const char *dir = arena_printf(&a, "/tmp/podbench-points-%ld", (long)getpid());
    static const char *const rounds[] = { "v2.0", "v4.1" };
    rounds_folder_remove(dir, &a);
    for (size_t i = 0; i < 2; i++) {
        rounds_folder_put(dir, rounds[i], benchmarks ? "benchmarks.csv" : NULL, benchmarks, &a);
        rounds_folder_put(dir, rounds[i], rcp ? "rcp.csv" : NULL, rcp, &a);
    }
    return dir;
}

static void remove_folder(void)
{
    rounds_folder_remove(folder(NULL, NULL), &a);
    arena_free(&a);
}

static const char *last_part(const struct err *err)
{
    const char *at = strrchr(err->msg, '/');
    return at && strstr(err->msg, "podbench-points") ? at + 1 : err->msg;
}

/* The usual row with one cell replaced. */
static const char *row(const char *head, const char *const *usual, size_t n, size_t changed, const char *text)
{
    for (size_t i = 0; i < n; i++)
        head = arena_printf(&a, "%s%s%s", head, i == changed ? text : usual[i], i + 1 < n ? "," : "\n");
    return head;
}

enum { BENCHMARK, ALLOWED, RUNS, DROPPED, MAY_FAIL, TESTED, UNIT, POINT_OF, POINT, WHERE, TAKE, TRAIN_SAMPLES, ALLOWANCE, SOURCE, N_CELLS };
static const char rounds_head[] =
    "benchmark,allowed,runs,dropped,may_fail,reference_convergence,unit,point_of,point,where,take,train_samples,allowance,source\n";
static const char *const usual_round[N_CELLS] = { "resnet", "yes", "5", "1", "2", "no", "epochs", "k", "p", "w", "", "yes", "", "somewhere" };

static const char *rounds_with(size_t cell, const char *text) { return row(rounds_head, usual_round, N_CELLS, cell, text); }

static void rounds_are_refused(void **state)
{
    static const struct { size_t cell; const char *text, *message; } cases[] = {
        { ALLOWED, "maybe", "allowed: 'maybe' is not one of: yes, no" }, { RUNS, "-1", "runs: '-1' is not a whole number from 0 up" },
        { RUNS, "1001", "runs: 1001 is outside 0 to 1000" }, { RUNS, "2", "runs: 2 leaves none when 1 are dropped at each end" },
        { DROPPED, "x", "dropped: 'x' is not a whole number from 0 up" }, { DROPPED, "3", "runs: 5 leaves none when 3 are dropped at each end" },
        { MAY_FAIL, "", "may_fail: '' is not a whole number from 0 up" }, { TESTED, "", "reference_convergence: '' is not one of: yes, no" },
        { TAKE, "any", "take: 'any' is not one of: last, first" }, { TRAIN_SAMPLES, "Yes", "train_samples: 'Yes' is not one of: yes, no" },
        { ALLOWANCE, "some", "allowance: 'some' is not a number" }, { ALLOWANCE, "-1", "allowance: -1 is outside 0 to inf" }, { SOURCE, "", "source: is empty" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct round_table t;
        struct err err;
        assert_false(round_table_load(&t, folder(rounds_with(cases[i].cell, cases[i].text), NULL), &a, &err));
        assert_string_equal(last_part(&err), arena_printf(&a, "benchmarks.csv:2: %s", cases[i].message));
    }
    remove_folder();
}

static struct round_terms terms_with(size_t cell, const char *text)
{
    struct round_table t;
    struct err err = { "" };
    if (!round_table_load(&t, folder(rounds_with(cell, text), NULL), &a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
    assert_int_equal(t.n, 2);
    return t.items[0];
}

static void rounds_are_read(void **state)
{
    (void)state;
    struct round_terms t = terms_with(N_CELLS, "");
    assert_true(t.allowed && !t.reference_convergence && t.train_samples && t.take == TAKE_LAST);
    assert_true(t.runs == 5 && t.dropped == 1 && t.may_fail == 2);
    assert_near(t.allowance, 0, 0);
    assert_string_equal(t.unit, "epochs");
    assert_true(text_is(t.point_of, "k") && text_is(t.point, "p") && text_is(t.where, "w") && text_is(t.source, "somewhere"));
    assert_int_equal(terms_with(RUNS, "1000").runs, 1000);
    assert_int_equal(terms_with(RUNS, "3").runs, 3);            /* one run is left */
    assert_int_equal(terms_with(DROPPED, "0").dropped, 0);
    assert_false(terms_with(ALLOWED, "no").allowed);
    assert_true(terms_with(TESTED, "yes").reference_convergence);
    assert_int_equal(terms_with(TAKE, "first").take, TAKE_FIRST);
    assert_int_equal(terms_with(TAKE, "last").take, TAKE_LAST);
    assert_near(terms_with(ALLOWANCE, "0.25").allowance, 0.25, 0);
    remove_folder();
}

enum { P_BENCHMARK, P_RECORD, P_BATCH, P_UNIT, P_VALUES, P_EDITION, P_HYPERPARAMETERS, P_SOURCE, P_CELLS };
static const char points_head[] = "benchmark,record,batch_size,unit,to_converge,edition,hyperparameters,source\n";
static const char *const usual_point[P_CELLS] = { "resnet", "r", "300", "epochs", "30 11 14 10 12", "both", "", "there" };

static bool load(struct rcp_table *t, const char *points, const char *round, enum rcp_edition edition, struct err *err)
{
    return rcp_load(t, "resnet", round, edition, folder(rounds_with(N_CELLS, ""), points), &a, err);
}

static const char *points_with(const char *before, size_t cell, const char *text) { return row(before, usual_point, P_CELLS, cell, text); }

static void points_are_refused(void **state)
{
    static const struct { size_t cell; const char *text, *message; } cases[] = {
        { P_BATCH, "many", ":2: batch_size: 'many' is not a number" }, { P_BATCH, "0", ":2: batch_size: 0 is outside 1 to 1000000000000" },
        { P_UNIT, "hours", ":2: unit: 'hours' is not one of: epochs, samples, steps" }, { P_VALUES, "1 2 3 x", ":2: to_converge: 'x' is not a number" },
        { P_VALUES, "1 2", ":2: to_converge has 2 runs, want at least 3" }, { P_SOURCE, "", ":2: source: is empty" },
        { P_EDITION, "deadline", ": no reference points of 'resnet'" }, { P_BENCHMARK, "bert", ": no reference points of 'resnet'" },
    };
    struct rcp_table t;
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(load(&t, points_with(points_head, cases[i].cell, cases[i].text), "v2.0", RCP_LATER, &err));
        assert_string_equal(last_part(&err), arena_printf(&a, "rcp.csv%s", cases[i].message));
    }
    assert_false(load(&t, points_with(points_head, P_CELLS, ""), "v2", RCP_LATER, &err));
    assert_string_equal(err.msg, "round 'v2' is unknown; known: v2.0, v4.1");
    assert_false(rcp_load(&t, "bert", "v2.0", RCP_LATER, folder(rounds_with(N_CELLS, ""), NULL), &a, &err));
    assert_string_equal(err.msg, "benchmark 'bert' is not one of v2.0; known: resnet");
    remove_folder();
}

/* 10 11 12 14 30 without the first and the last: mean 37/3, deviations -4/3 -1/3 5/3, variance 42/27. From 4.1.0 on
 * the spread is that of all five: mean 15.4, squares 29.16 19.36 11.56 1.96 213.16, variance 55.04. The least mean
 * that passes with 5 - 2 runs against these 3 is 37/3 - 2.131847 sd sqrt(2/3), or 0, where 2.131847 is t(0.95, 4).
 * If dropping two at each end leaves none of four, all count. */
static void records_by_hand(void **state)
{
    static const struct { const char *round; double variance; } rounds[] = { { "v2.0", 42.0 / 27 }, { "4.1.0", 55.04 } };
    struct rcp_table t;
    struct err err;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_true(load(&t, points_with(points_head, P_CELLS, ""), rounds[i].round, RCP_DEADLINE, &err));
        const struct rcp_point *p = &t.points[0];
        assert_true(t.n == 1 && p->n == 5 && p->batch == 300 && p->learning_rate == 0);
        assert_near(p->left, 3, 0);
        assert_near(p->mean, 37.0 / 3, 1e-12);
        assert_near(p->sd, sqrt(rounds[i].variance), 1e-12);
        assert_near(p->least, fmax(0, 37.0 / 3 - 2.131847 * sqrt(rounds[i].variance * 2 / 3)), 1e-4);
    }
    assert_string_equal(t.terms.edition->ruleset, "4.1.0");
    assert_true(rcp_load(&t, "resnet", "v2.0", RCP_DEADLINE, folder(rounds_with(DROPPED, "2"), points_with(points_head, P_VALUES, "10 1 2 3")), &a, &err));
    assert_near(t.points[0].left, 4, 0);
    assert_near(t.points[0].mean, 4, 0);
    assert_near(t.points[0].sd, sqrt((36 + 9 + 4 + 1) / 4.0), 1e-12);
    /* two runs are left, and one of a submission: t(0.95, 1) is 6.313752, so the limit is 0 */
    assert_true(rcp_load(&t, "resnet", "v2.0", RCP_DEADLINE, folder(rounds_with(RUNS, "3"), points_with(points_head, P_VALUES, "10 1 2 3")), &a, &err));
    assert_near(t.points[0].mean, 2.5, 0);
    assert_near(t.points[0].least, 0, 1e-4);
    assert_near(rcp_least_mean(100, 2, 1, 2), 100 - 6.313752 * 2 * sqrt(1.5), 1e-4);
    assert_near(rcp_least_mean(1e17, 2e15, 1, 2), 1e17 - 6.313752e15 * 2 * sqrt(1.5), 1e10);        /* neighbouring numbers are 16 apart */
    double four[] = { 10, 1, 2, 3 };
    assert_near(olympic_mean(four, 4, 2), 4, 0);
    assert_near(olympic_mean(four, 4, 1), 2.5, 0);
    remove_folder();
}

/* Three runs are enough; a single run left has no spread. Records are sorted by batch; two of the same batch keep
 * the order of the file. A record counts for its edition, or for both. */
static void records_in_order(void **state)
{
    struct rcp_table t;
    struct err err;
    (void)state;
    const char *points = points_with(points_head, P_VALUES, "7 9 8");
    points = points_with(points, P_BATCH, "5000.5");
    points = points_with(points, P_BATCH, "1");
    points = row(points, (const char *const[]){ "resnet", "d", "70", "epochs", "1 2 3", "deadline", "{a:1;opt_base_learning_rate:2e-3;b:4}", "s" },
                 P_CELLS, P_CELLS, "");
    points = row(points, (const char *const[]){ "resnet", "l", "70", "epochs", "4 5 6", "later", "{opt_base_learning_rate:0.25}", "s" },
                 P_CELLS, P_CELLS, "");
    points = points_with(points, P_VALUES, "6 5 7");
    for (int later = 0; later < 2; later++) {
        assert_true(load(&t, points, "v2.0", later ? RCP_LATER : RCP_DEADLINE, &err));
        assert_int_equal(t.n, 5);
        assert_true(t.points[0].batch == 1 && t.points[1].batch == 70 && t.points[2].batch == 300 && t.points[4].batch == 5000.5);
        assert_near(t.points[1].mean, later ? 5 : 2, 0);
        assert_near(t.points[1].learning_rate, later ? 0.25 : 0.002, 0);
        assert_near(t.points[2].mean, 8, 0);
        assert_near(t.points[2].sd, 0, 0);
        assert_near(t.points[2].least, 8, 0);
        assert_near(t.points[3].batch, 300, 0);
        assert_near(t.points[3].mean, 6, 0);
    }
    remove_folder();
}

/* Batches below the fastest are removed, then records slower than the line between their neighbours: 7 at batch 3. A
 * record on the line is kept. */
static void pruning_by_hand(void **state)
{
    static const struct { double slowness[5]; size_t n; double left[5]; } cases[] = {
        { { 5, 6, 7, 8, 9 }, 5, { 1, 2, 3, 4, 5 } }, { { 6, 5, 7.5, 8, 9 }, 2, { 2, 5 } }, { { 5, 6, 7.1, 8, 9 }, 4, { 1, 2, 4, 5 } },
        { { 5, 8, 7, 8, 9 }, 4, { 1, 3, 4, 5 } }, { { 5, 5, 7, 8, 9 }, 3, { 1, 2, 5 } }, { { 9, 8, 7, 6, 5 }, 1, { 5 } },
        { { 5, 5.5, 6.8, 7, 8 }, 4, { 1, 2, 4, 5 } }, { { 5, 8, 8, 8, 7 }, 2, { 1, 5 } },
    };
    static const struct edition by_mean = { .pruning = RCP_BY_MEAN }, by_least = { .pruning = RCP_BY_LEAST_MEAN }, never = { .pruning = RCP_UNPRUNED };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int least = 0; least < 2; least++) {
            struct rcp_point points[6] = { [5] = { .batch = 6 } };          /* not part of the table, and fastest of all */
            struct rcp_table t = { .edition = least ? &by_least : &by_mean, .points = points, .n = 5 };
            for (size_t k = 0; k < 5; k++)
                points[k] = (struct rcp_point){ .batch = (double)k + 1, .mean = least ? 1 : cases[i].slowness[k], .least = least ? cases[i].slowness[k] : 1 };
            rcp_prune(&t);
            assert_int_equal(t.n, cases[i].n);
            for (size_t k = 0; k < t.n; k++)
                assert_near(points[k].batch, cases[i].left[k], 0);
            t = (struct rcp_table){ .edition = &never, .points = points, .n = 5 };
            rcp_prune(&t);
            assert_int_equal(t.n, 5);
        }
}

/* A point gives its own values, a batch between two gives the line, a batch outside gives nothing. */
static void lines_between_points(void **state)
{
    struct rcp_point points[] = { { .batch = 10, .mean = 4, .sd = 0.5 }, { .batch = 20, .mean = 7, .sd = 0.25 }, { .batch = 60, .mean = 8, .sd = 1.25 } };
    const struct rcp_table t = { .points = points, .n = 3 };
    static const struct { double batch, mean, sd; } cases[] = { { 10, 4, 0.5 }, { 12, 4.6, 0.45 }, { 20, 7, 0.25 }, { 50, 7.75, 1 }, { 60, 8, 1.25 } };
    double mean = 0, sd = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(rcp_interpolate(&mean, &sd, &t, cases[i].batch));
        assert_near(mean, cases[i].mean, 1e-12);
        assert_near(sd, cases[i].sd, 1e-12);
    }
    assert_false(rcp_interpolate(&mean, &sd, &t, 9));
    assert_false(rcp_interpolate(&mean, &sd, &t, 61));
}

/* The limit for a batch: a record with the runs left in it, a line with twice a submission's runs, the first record
 * below all batches, nothing above. A submission passes from the least mean on, less the allowance. */
static void limits_at_batches(void **state)
{
    struct rcp_point points[] = { { .batch = 10, .mean = 4, .sd = 0.5, .left = 6 }, { .batch = 20, .mean = 7, .sd = 0.25, .left = 8 },
                                  { .batch = 60, .mean = 8, .sd = 1.25, .left = 16 } };
    const struct rcp_table t = { .points = points, .n = 3, .terms = { .runs = 5, .allowance = 0.125 } };
    for (size_t i = 0; i < 3; i++)
        points[i].least = rcp_least_mean(points[i].mean, points[i].sd, points[i].left, 3);
    static const struct { double batch; enum rcp_match match; double mean, sd, left; } cases[] = {
        { 10, RCP_EXACT, 4, 0.5, 6 }, { 20, RCP_EXACT, 7, 0.25, 8 }, { 60, RCP_EXACT, 8, 1.25, 16 }, { 12, RCP_INTERPOLATED, 4.6, 0.45, 10 },
        { 50, RCP_INTERPOLATED, 7.75, 1, 10 }, { 9, RCP_SMALLER_BATCH, 4, 0.5, 6 }, { 61, RCP_MISSING, 0, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rcp_limit l;
        rcp_limit_at(&l, &t, cases[i].batch);
        double least = l.match == RCP_MISSING ? 0 : rcp_least_mean(cases[i].mean, cases[i].sd, cases[i].left, 3);
        assert_int_equal(l.match, cases[i].match);
        assert_near(l.mean, cases[i].mean, 1e-12);
        assert_near(l.sd, cases[i].sd, 1e-12);
        assert_near(l.least_mean, least, 1e-9);
        assert_near(l.max_speedup, l.match == RCP_MISSING ? 0 : cases[i].mean / (least - 0.125), 1e-9);
        assert_true(l.match == RCP_MISSING || (least > 0.125 && least < l.mean));
    }
}

/* The rounds of MLPerf Training are in order, each with the one before it; the first has none. */
static void editions_follow_each_other(void **state)
{
    static const char *const rounds[][2] = {
        { "v0.7", "0.7.0" }, { "v1.0", "1.0.0" }, { "v1.1", "1.1.0" }, { "v2.0", "2.0.0" }, { "v2.1", "2.1.0" }, { "v3.0", "3.0.0" }, { "v3.1", "3.1.0" },
        { "v4.0", "4.0.0" }, { "v4.1", "4.1.0" }, { "v5.0", "5.0.0" }, { "v5.1", "5.1.0" }, { "v6.0", "6.0.0" }, { "v6.1", "6.1.0" },
    };
    (void)state;
    assert_null(edition_before(project_rounds(), NULL));
    assert_null(edition_before(project_rounds(), edition_find(project_rounds(), "v0.7")));
    assert_null(edition_before(project_rounds(), edition_find(project_rounds(), "hpc-v1.0")));
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        const struct edition *e = edition_find(project_rounds(), rounds[i][0]);
        assert_ptr_equal(e, edition_find(project_rounds(), rounds[i][1]));
        assert_string_equal(e->round, rounds[i][0]);
        assert_string_equal(e->ruleset, rounds[i][1]);
        if (i > 0)
            assert_ptr_equal(edition_before(project_rounds(), e), edition_find(project_rounds(), rounds[i - 1][0]));
    }
    assert_null(edition_find(project_rounds(), "v7.0"));
}

/* A new folder is a new round: its name gives its place, and its tables name what they lack. */
static void a_folder_is_a_round(void **state)
{
    static const struct { const char *edition, *want; } cases[] = {
        { NULL, NULL }, { "key,value,source\nruleset,9.9.0,s\n", "edition.csv: tag: missing" },
        { "key,value,source\nruleset,9.9.0,\n", "edition.csv:2: ruleset: source is empty" },
    };
    const char *dir = folder(NULL, NULL);
    struct round_table t;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = { "" };
        char *text;
        assert_true(read_text_file(&text, NULL, "workloads/convergence/rounds/v5.1/edition.csv", 1 << 16, &a, &err));
        rounds_folder_put(dir, "v10.0", "edition.csv", cases[i].edition ? cases[i].edition : text, &a);
        rounds_folder_put(dir, "v10.0", "benchmarks.csv", rounds_with(N_CELLS, ""), &a);
        assert_true(round_table_load(&t, dir, &a, &err) == !cases[i].want);
        assert_true(!cases[i].want || strstr(err.msg, cases[i].want));
        if (cases[i].want)
            continue;
        const struct edition *e = edition_find(&t, "v10.0");
        assert_string_equal(editions_known(&t, &a), "v2.0, v4.1, v10.0");
        assert_string_equal(edition_before(&t, e)->round, "v4.1");
        assert_true(round_terms_find(&t, "resnet", e) && !round_terms_find(&t, "bert", e));
    }
    rounds_folder_put(dir, "v10.0", "edition.csv", "key,value,source\nruleset,1,s\ntag,t,s\nreference_points,perhaps,s\n", &a);
    struct err err = { "" };
    assert_false(round_table_load(&t, dir, &a, &err));
    assert_non_null(strstr(err.msg, "v10.0/edition.csv:4: reference_points: 'perhaps'"));
    remove_folder();
}

/* The message names the benchmarks that the round allows. */
static void benchmarks_are_named(void **state)
{
    static struct edition editions[] = { { .ruleset = "1.1.0", .round = "v1.1" }, { .ruleset = "2.0.0", .round = "v2.0" } };
    static struct round_terms items[] = {
        { .edition = &editions[0], .benchmark = "unet", .allowed = true }, { .edition = &editions[1], .benchmark = "dlrm", .allowed = true },
        { .edition = &editions[1], .benchmark = "bert" }, { .edition = &editions[1], .benchmark = "rnnt", .allowed = true },
        { .edition = &editions[1], .benchmark = "ssd", .allowed = true },
    };
    struct err err;
    (void)state;
    assert_false(benchmark_unknown(&(struct round_table){ .items = items, .n = 4 }, "unet", &editions[1], &err));
    assert_string_equal(err.msg, "benchmark 'unet' is not one of v2.0; known: dlrm, rnnt");
}

/* Records in steps of 4 samples, and one that counts samples already. */
static void steps_become_samples(void **state)
{
    double values[] = { 3, 5, 7 };
    struct rcp_point points[] = { { .batch = 4, .unit = "steps", .values = values, .n = 3, .mean = 5, .sd = 2, .least = 3.5 }, { .batch = 8, .unit = "samples", .mean = 9 } };
    (void)state;
    rcp_count_samples(&(struct rcp_table){ .points = points, .n = 2 });
    assert_true(values[0] == 12 && values[1] == 20 && values[2] == 28 && points[0].mean == 20 && points[0].sd == 8 && points[0].least == 14);
    assert_true(text_is(points[0].unit, "samples") && points[1].mean == 9);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(steps_become_samples),
    cmocka_unit_test(editions_follow_each_other), cmocka_unit_test(a_folder_is_a_round),
    cmocka_unit_test(rounds_are_refused), cmocka_unit_test(rounds_are_read), cmocka_unit_test(points_are_refused), cmocka_unit_test(records_by_hand),
    cmocka_unit_test(records_in_order), cmocka_unit_test(pruning_by_hand), cmocka_unit_test(lines_between_points), cmocka_unit_test(limits_at_batches), cmocka_unit_test(benchmarks_are_named),
};
TAP_MAIN(tests)
