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

static const struct CMUnitTest tests[] = { cmocka_unit_test(the_sheet_comes_out_as_it_stands), cmocka_unit_test(what_no_run_tells_is_refused) };
TAP_MAIN(tests)
