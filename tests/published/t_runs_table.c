/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_runs_table.c - the table of single runs: every cell in its member, refusals, and which runs belong to one
 * submission. */
#include "tests/check.h"
#include "results/published/published.h"

static const char header[] = "round,division,submitter,system,accelerators,benchmark,run,role,status,time_to_train_s,startup_s,eval_placement,"
                             "eval_s,post_train_s,global_batch,samples_to_converge,epochs,evals,final_accuracy,optimizer,base_learning_rate,"
                             "throughput_samples_per_s,source\n";

static bool load(struct run_rows *out, const char *head, const char *lines, struct arena *a, struct err *err)
{
    const char *text = arena_printf(a, "%s%s", head, lines), *path = temp_file(text, strlen(text), ".csv");
    bool good = run_rows_load(out, arena_strdup(a, path), a, err);
    unlink(path);
    return good;
}

static void each_cell_in_its_place(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct run_rows t;
    (void)state;
    assert_true(load(&t, header, "v2.0,closed,G,pod,16,bert,0,calibrate,success,1.5,2.5,end,3.5,4.5,5.5,6.5,7.5,8.5,9.5,lamb,10.5,11.5,here\n"
                                 "v2.1,open,H,mat,,resnet,1,context,aborted,,,inline,,,,,,,,,,,there\n", &a, &err));
    assert_int_equal(t.n, 2);
    const struct run_row *r = &t.items[0], *none = &t.items[1];
    assert_string_equal(arena_printf(&a, "%s %s %s %s %s %s %s", r->round, r->division, r->submitter, r->system, r->benchmark, r->optimizer, r->source),
                        "v2.0 closed G pod bert lamb here");
    const double numbers[] = { r->time_to_train_s, r->startup_s, r->eval_s, r->post_train_s, r->global_batch, r->samples_to_converge, r->epochs,
                               r->evals, r->final_accuracy, r->base_learning_rate, r->throughput_samples_per_s };
    for (int i = 0; i < 11; i++)
        assert_near(numbers[i], i + 1.5, 0);
    assert_near(r->accelerators, 16, 0);
    assert_true(r->role == FIGURE_CALIBRATE && r->success && r->eval_at_end);
    assert_true(none->role == FIGURE_CONTEXT && !none->success && !none->eval_at_end);
    assert_true(isnan(none->accelerators) && isnan(none->time_to_train_s) && isnan(none->base_learning_rate));
    struct submission_terms of = terms_of_run(r), of_none = terms_of_run(none);
    assert_string_equal(arena_printf(&a, "%s %s %s %s %s", of.benchmark, of.round, of.division, of.submitter, of.optimizer), "bert v2.0 closed G lamb");
    assert_near(of.global_batch, 5.5, 0);
    assert_near(of.base_learning_rate, 10.5, 0);
    assert_near(of_none.base_learning_rate, 0, 0);
    arena_free(&a);
}

static void bad_rows_are_refused(void **state)
{
    static const struct { const char *row, *want; } bad[] = {
        { "v,c,G,p,1,b,0,train,success,,,end,,,,,,,,,,,s\n", ":2: role: 'train' is not one of: calibrate, validate, context" },
        { "v,c,G,p,1,b,0,validate,stopped,,,end,,,,,,,,,,,s\n", ":2: status: 'stopped' is not one of: aborted, success" },
        { "v,c,G,p,1,b,0,validate,success,,,late,,,,,,,,,,,s\n", ":2: eval_placement: 'late' is not one of: inline, end" },
        { "v,c,G,p,1,b,0,validate,success,fast,,end,,,,,,,,,,,s\n", ":2: time_to_train_s: 'fast' is not a number" },
        { "v,c,G,p,1,b,0,validate,success,,,end,,,,,,,,,,,\n", ":2: source: is empty" },
    };
    struct arena a = { 0 };
    struct run_rows t;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = { "" };
        assert_false(load(&t, header, bad[i].row, &a, &err));
        assert_non_null(strstr(err.msg, bad[i].want));
    }
    arena_free(&a);
}

/* Only the column of the base learning rate is optional. */
static void one_column_may_be_missing(void **state)
{
    static const char rest[] = "round,division,submitter,system,accelerators,benchmark,time_to_train_s,startup_s,eval_s,post_train_s,global_batch,"
                               "samples_to_converge,epochs,evals,final_accuracy,optimizer,throughput_samples_per_s,source,role,status,eval_placement";
    struct arena a = { 0 };
    struct err err = { "" };
    struct run_rows t;
    (void)state;
    assert_true(load(&t, arena_printf(&a, "%s\n", rest), "v,c,G,p,1,b,2,3,4,5,6,7,8,9,10,lamb,11,s,validate,success,inline\n", &a, &err));
    assert_true(t.n == 1 && isnan(t.items[0].base_learning_rate) && t.items[0].throughput_samples_per_s == 11);
    char *columns = arena_strdup(&a, rest), *column;
    while ((column = strsep(&columns, ","))) {
        char *without = arena_printf(&a, ",%s,", rest), *at = strstr(without, arena_printf(&a, ",%s,", column));
        memset(at + 1, 'x', strlen(column));
        without[strlen(without) - 1] = 0;
        assert_false(load(&t, arena_printf(&a, "%s\n", without + 1), "", &a, &err));
        assert_non_null(strstr(err.msg, arena_printf(&a, "no column '%s'", column)));
    }
    arena_free(&a);
}

static void runs_of_one_submission_stand_together(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct run_rows t;
    static const char *const names[] = { "v,c,G,p,,b", "v,c,G,p,,b", "w,c,G,p,,b", "w,d,G,p,,b", "w,d,H,p,,b", "w,d,H,q,,b", "w,d,H,q,,r", "w,d,H,q,,r", "w,d,H,q,,r", "w,d,H,q,,r" };
    static const size_t groups[] = { 2, 1, 1, 1, 1, 1, 3, 2, 1, 1 };   /* from each row on; the last has another role */
    const char *lines = "";
    (void)state;
    for (size_t i = 0; i < 10; i++)
        lines = arena_printf(&a, "%s%s,0,%s,success,,,end,,,,,,,,,,,s\n", lines, names[i], i < 9 ? "context" : "validate");
    assert_true(load(&t, header, lines, &a, &err));
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(run_rows_group(&t, i), groups[i]);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_cell_in_its_place), cmocka_unit_test(bad_rows_are_refused), cmocka_unit_test(one_column_may_be_missing),
    cmocka_unit_test(runs_of_one_submission_stand_together),
};
TAP_MAIN(tests)
