/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_convergence_calibrate.c - the convergence sheet comes out as it stands, and not at all from runs that do not determine it.
 */
#include "tests/check.h"
#include "results/calibration/convergence_calibrate.h"
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
    assert_true(convergence_calibrate(f, data_dir, runs, &a, &err));
    fclose(f);
    assert_true(read_text_file(&kept, NULL, "workloads/convergence/fits.csv", 1 << 20, &a, &err));
    assert_string_equal(made, kept);
    free(made);
    arena_free(&a);
}

/* Without the runs trained by plain SGD nobody knows how many epochs one plans with it; it was written as "-nan". */
static void what_no_run_tells_is_refused(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err = { "" };
    char path[64], *text, *made = NULL, *line, *rest;
    size_t n;
    snprintf(path, sizeof path, "/tmp/t_convergence_calibrate_%d.csv", (int)getpid());
    assert_true(read_text_file(&text, NULL, runs, 1 << 20, &a, &err));
    FILE *few = fopen(path, "w"), *f = open_memstream(&made, &n);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (!strstr(line, ",sgd,") || !strstr(line, ",calibrate,"))
            fprintf(few, "%s\n", line);
    fclose(few);
    assert_false(convergence_calibrate(f, data_dir, path, &a, &err));
    fclose(f);
    assert_string_equal(strchr(err.msg, ':'), ": too few runs of role calibrate to tell schedule_margin_sgd of resnet");
    unlink(path);
    free(made);
    arena_free(&a);
}

/* The sheet from other records of retuning, or why there is none; the other tables as they are. */
static char *sheet_of_retuned(const char *records, struct arena *a, struct err *err)
{
    static const char *const others[] = { "benchmarks.csv", "fits.csv", "rcp.csv", "rounds.csv" };
    char here[512], *made = NULL;
    size_t n;
    const char *dir = arena_printf(a, "/tmp/t_convergence_calibrate_%d", (int)getpid()), *path = arena_printf(a, "%s/retuned.csv", dir);
    assert_non_null(getcwd(here, sizeof here));
    assert_true(make_folders(dir, err));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(symlink(arena_printf(a, "%s/%s/%s", here, data_dir, others[i]), arena_printf(a, "%s/%s", dir, others[i])), 0);
    FILE *out = fopen(path, "w"), *f = open_memstream(&made, &n);
    fprintf(out, "benchmark,batch_size,before,after,unit,what,source\n%s", records);
    fclose(out);
    bool good = convergence_calibrate(f, dir, runs, a, err);
    fclose(f);
    for (size_t i = 0; i < 4; i++)
        unlink(arena_printf(a, "%s/%s", dir, others[i]));
    unlink(path), rmdir(dir);
    if (good)
        return made;
    free(made);
    return NULL;
}

/* ln 2 of one record; ln 4 and ln 1: mean ln 2, squares 2 (ln 2)^2 with one degree of freedom, as a third benchmark has one record too. One
 * more of the first is off by sqrt(2 (ln 2)^2 (1 + 1)) = 1.386, of the second by sqrt(2 (ln 2)^2 1.5) = 1.2006. */
static void gains_by_hand(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err = { "" };
    char *sheet = sheet_of_retuned("bert,1,3,6,u,w,s\nrnnt,1,1,4,u,w,s\nrnnt,1,5,5,u,w,s\nresnet,1,2,1,u,w,s\nother,1,x,y,u,w,s\n", &a, &err);
    assert_string_equal(err.msg, "");
    assert_non_null(strstr(sheet, "\nbert,any,open_gain,0.69314718,1.39,1,"));
    assert_non_null(strstr(sheet, "\nrnnt,any,open_gain,0.69314718,1.2,1,"));
    assert_non_null(strstr(sheet, "\nresnet,any,open_gain,-0.69314718,1.39,1,"));
    free(sheet);
    static const char *const bad[][2] = { { "0", "1" }, { "x", "1" }, { "-1", "1" }, { "1", "0" }, { "1", "" }, { "1", "-2" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(sheet_of_retuned(arena_printf(&a, "rnnt,1,1,2,u,w,s\nbert,1,%s,%s,u,w,s\n", bad[i][0], bad[i][1]), &a, &err));
        assert_string_equal(strchr(err.msg, ':'), arena_printf(&a, ":3: before and after are '%s' and '%s', want numbers above 0", bad[i][0], bad[i][1]));
    }
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(the_sheet_comes_out_as_it_stands), cmocka_unit_test(what_no_run_tells_is_refused),
                                          cmocka_unit_test(gains_by_hand) };
TAP_MAIN(tests)
