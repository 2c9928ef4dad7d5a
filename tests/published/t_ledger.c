/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_ledger.c - what the ledger refuses and reports, and that a validating row cannot calibrate. */
#include "tests/check.h"
#include "results/calibrate/calibration.h"
#include "results/published/published.h"
#include "tests/golden_text.h"

static const char header[] = "id,role,configuration,hash,why\n";

static struct figure row(const char *id, double value, enum role role)
{
    return (struct figure){ .id = id, .recipe = "r", .configuration = "r", .metric = "step_time_s", .unit = "s", .value = value,
                            .role = role, .path = "t.csv", .line = 7 };
}

static bool load(struct ledger *l, const char *lines, struct arena *a, struct err *err)
{
    const char *text = arena_printf(a, "%s%s", header, lines);
    return ledger_load(l, arena_strdup(a, temp_file(text, strlen(text), ".csv")), a, err);
}

static void the_last_line_of_an_id_holds(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct ledger l;
    assert_true(load(&l, "b,validate,r,1,\na,validate,r,2,\nb,context,r,1,seen\n", &a, &err));
    assert_int_equal(l.n_last, 2);
    assert_string_equal(ledger_find(&l, "b")->role, "context");
    assert_int_equal(ledger_find(&l, "b")->line, 4);
    assert_null(ledger_find(&l, "c"));
    assert_false(load(&l, "b,validate,r,1,\nb,calibrate,r,1,\n", &a, &err));
    assert_non_null(strstr(err.msg, ":3: why: is empty, and line 2 has b already; say why it changed"));
    assert_false(load(&l, "b,test,r,1,\n", &a, &err));
    assert_non_null(strstr(err.msg, ":2: role: 'test' is not one of: calibrate, validate, context, removed"));
    arena_free(&a);
}

/* One fault for each row, with the line that repairs it. */
static void every_change_is_noticed(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct ledger l;
    struct ledger_faults faults;
    struct figure items[] = { row("same", 2, FIGURE_VALIDATE), row("side", 3, FIGURE_CALIBRATE), row("value", 4, FIGURE_VALIDATE),
                              row("new", 5, FIGURE_CONTEXT), row("other", 6, FIGURE_VALIDATE) };
    struct figures figures = { .items = items, .n = 5, .cap = 5 };
    const char *lines = "";
    for (size_t i = 0; i < 5; i++)
        if (i != 3)
            lines = arena_printf(&a, "%s%s,validate,r,%s,\n", lines, items[i].id, figure_hash(&items[i], &a));
    assert_true(load(&l, arena_printf(&a, "%sgone,calibrate,r,1,\nleft,removed,r,1,\nzone,validate,r,1,\n", lines), &a, &err));
    items[2].value = 4.0001;
    items[4].configuration = "q";
    ledger_compare(&faults, &l, &figures, &a);
    static const char *const want[] = { "t.csv:7: side: role is calibrate; the ledger's line 3 has validate",
        "t.csv:7: value: recipe, metric, value or unit is not what it was at the ledger's line 4",
        "t.csv:7: new: is not in the ledger", "t.csv:7: other: configuration is q; the ledger's line 5 has r" };
    assert_int_equal(faults.n, 6);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(faults.items[i].what, want[i]);
    assert_non_null(strstr(faults.items[4].what, ":6: gone: is no longer in any table"));
    assert_string_equal(faults.items[4].wanted.role, "removed");
    assert_non_null(strstr(faults.items[5].what, ":8: zone: is no longer in any table"));
    arena_free(&a);
}

static void a_line_as_it_is_written(void **state)
{
    struct ledger_line line = { .id = "a", .role = "validate", .configuration = "r", .hash = "0f", .why = "one, and more" };
    char *text;
    (void)state;
    PRINTED(text, ledger_write_line(f, &line));
    assert_string_equal(text, "a,validate,r,0f,\"one, and more\"\n");
    free(text);
}

/* Hashes never change: the current rows have the hashes that the ledger holds. */
static void the_tables_agree_with_their_ledger(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct ledger l;
    struct figures figures;
    struct ledger_faults faults;
    (void)state;
    assert_true(published_load_derived(&figures, "results/published", "workloads/recipes", &a, &err));
    assert_true(ledger_load(&l, "results/published/ledger/ledger.csv", &a, &err));
    ledger_compare(&faults, &l, &figures, &a);
    for (size_t i = 0; i < faults.n; i++)
        print_error("%s\n", faults.items[i].what);
    assert_int_equal(faults.n, 0);
    assert_true(figures.n > 100);
    arena_free(&a);
}

static void what_a_row_says_is_in_its_hash(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct figure x = row("a", 2, FIGURE_VALIDATE), y = x;
    y.id = "b";
    y.role = FIGURE_CALIBRATE;
    assert_string_equal(figure_hash(&x, &a), figure_hash(&y, &a));
    y.recipe = "rstep_time_s";
    y.metric = "";
    assert_string_not_equal(figure_hash(&x, &a), figure_hash(&y, &a));      /* cells do not run together */
    y = x;
    y.unit = "min";
    assert_string_not_equal(figure_hash(&x, &a), figure_hash(&y, &a));
    arena_free(&a);
}

/* A validating row is found by its id, and by its content under a new id. */
static void a_row_that_validates_never_calibrates(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct ledger l;
    struct figure items[] = { row("a", 2, FIGURE_CALIBRATE), row("b", 3, FIGURE_CALIBRATE), row("c", 4, FIGURE_VALIDATE) };
    struct figures figures = { .items = items, .n = 3, .cap = 3 };
    assert_true(load(&l, arena_printf(&a, "a,calibrate,r,%s,\nb,calibrate,r,%s,\nc,validate,r,%s,\n", figure_hash(&items[0], &a),
                                      figure_hash(&items[1], &a), figure_hash(&items[2], &a)), &a, &err));
    assert_true(protocol_allows_rows(&figures, &l, &a, &err));
    items[2].role = FIGURE_CALIBRATE;
    assert_false(protocol_allows_rows(&figures, &l, &a, &err));
    assert_non_null(strstr(err.msg, "t.csv:7: c: calibrates here, but c validates by "));
    items[2].id = "renamed";
    assert_false(protocol_allows_rows(&figures, &l, &a, &err));
    assert_non_null(strstr(err.msg, "t.csv:7: renamed: calibrates here, but c validates by "));
    arena_free(&a);
}

static void a_run_calibrates_as_its_submission_does(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct figure score = row("a", 2, FIGURE_CALIBRATE);
    struct figures figures = { .items = &score, .n = 1, .cap = 1 };
    struct run_row items[] = { { .round = "v2.0", .division = "closed", .submitter = "G", .system = "s", .benchmark = "bert",
                                 .role = FIGURE_CALIBRATE, .source = "result_0.txt" } };
    struct run_rows runs = { items, 1 };
    score.source = "MLPerf Training v2.0 results, closed, G, s/bert, 10 of 10 runs successful";
    assert_true(protocol_allows_runs(&runs, &figures, &a, &err));
    score.role = FIGURE_VALIDATE;
    assert_false(protocol_allows_runs(&runs, &figures, &a, &err));
    assert_string_equal(err.msg, "result_0.txt: calibrates, but no published row of 'MLPerf Training v2.0 results, closed, G, s/bert' does");
    items[0].role = FIGURE_VALIDATE;
    assert_true(protocol_allows_runs(&runs, &figures, &a, &err));
    struct run_rows here;
    struct figures published;
    assert_true(run_rows_load(&here, "results/published/runs/mlperf_runs.csv", &a, &err));
    assert_true(published_load(&published, "results/published", &a, &err));
    assert_true(protocol_allows_runs(&here, &published, &a, &err));
    arena_free(&a);
}

static void ten_constants_and_no_more(void **state)
{
    (void)state;
    struct err err = { "" };
    assert_true(protocol_allows_constants(10, &err));
    assert_false(protocol_allows_constants(11, &err));
    assert_string_equal(err.msg, "11 constants to be fitted, at most 10: fix one at its source, or leave it out");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_last_line_of_an_id_holds), cmocka_unit_test(every_change_is_noticed), cmocka_unit_test(a_line_as_it_is_written),
    cmocka_unit_test(the_tables_agree_with_their_ledger),
    cmocka_unit_test(what_a_row_says_is_in_its_hash), cmocka_unit_test(a_row_that_validates_never_calibrates),
    cmocka_unit_test(a_run_calibrates_as_its_submission_does), cmocka_unit_test(ten_constants_and_no_more),
};
TAP_MAIN(tests)
