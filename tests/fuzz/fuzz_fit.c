/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_fit.c - any bytes as a table of published MLPerf runs: the convergence model fitted to it, its errors and its coverage; or refused. And
 * a fit whose answer is known.
 *
 * Laws: the fitted sheet is a table of numbers, and so are errors; no more runs lie inside an interval than there are; a constant that
 * explains its rows exactly is found, within its bounds.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small.h"
#include "results/calibrate/calibration.h"
#include "results/published/check.h"

#include <gsl/gsl_errno.h>
#include <math.h>

enum { MOST_ROWS = 75, N_FIT_ROWS = 6 };
static const char data_dir[] = "workloads/convergence";

/* ---- what is made of published runs ----------------------------------------------------------------------- */

static void check_sheet(const char *runs, struct arena *a)
{
    struct err err = { "" };
    struct csv_table t;
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    bool good = convergence_fit(f, data_dir, runs, a, &err);
    fclose(f);
    LAW(good || (*err.msg && !strchr(err.msg, '\n')));
    if (good) {
        const char *path = fuzz_file((const uint8_t *)text, n, ".fits.csv");
        LAW(csv_load(&t, path, a, &err));
        LAW(!strstr(text, "nan") && !strstr(text, "inf"));
        unlink(path);
    }
    free(text);
}

static void check_errors(const char *runs, struct arena *a)
{
    struct err err = { "" };
    struct convergence_errors e;
    struct submitters_left_out l;
    FILE *nowhere = fopen("/dev/null", "w");
    if (convergence_errors(&e, runs, data_dir, a, &err)) {
        for (size_t i = 0; i < e.n; i++)
            LAW(e.items[i].predicted > 0 && fabs(e.items[i].predicted / e.items[i].published - 1 - e.items[i].error) <= 1e-9 * fabs(1 + e.items[i].error));
        struct document d = { .arena = a };
        convergence_errors_document(&d, &e);
        document_write(nowhere, FORMAT_TEXT, &d);
    }
    if (submitters_left_out(&l, runs, data_dir, a, &err)) {
        for (size_t i = 0; i < l.n; i++)
            LAW(l.items[i].n_inside <= l.items[i].n_runs && (l.items[i].n == 0 || l.items[i].rms_error >= fabs(l.items[i].mean_error) * (1 - 1e-9)));
        struct table t = submitters_left_out_table(&l);
        table_write(nowhere, FORMAT_TEXT, &t);
    }
    fclose(nowhere);
}

static bool second_a_step(void *user, struct run_timing *out, const struct run_row *run, struct err *err)
{
    (void)user, (void)run, (void)err;
    *out = (struct run_timing){ .step_time_s = 1 };
    return true;
}

static void check_coverage(const char *runs, struct arena *a)
{
    struct err err = { "" };
    struct coverage c;
    FILE *nowhere = fopen("/dev/null", "w");
    if (coverage_report(&c, runs, data_dir, second_a_step, NULL, a, &err)) {
        for (size_t i = 0; i < c.n; i++)
            LAW(c.items[i].samples_inside <= c.items[i].n && c.items[i].time_inside <= c.items[i].n
                && c.items[i].samples_once <= c.items[i].submissions + 1e-9);
        struct document d = { .arena = a };
        coverage_document(&d, &c);
        document_write(nowhere, FORMAT_TEXT, &d);
    }
    fclose(nowhere);
}

static size_t lines_in(const uint8_t *data, size_t n)
{
    size_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += data[i] == '\n';
    return lines;
}

/* ---- a fit with a known answer -------------------------------------------------------------------------------- */

struct known { double x[N_FIT_ROWS], slope, base; };

static bool log_ratios(double *out, const double *x, void *user, struct err *err)
{
    const struct known *k = user;
    (void)err;
    for (int i = 0; i < N_FIT_ROWS; i++)
        out[i] = log((x[0] + x[1] * k->x[i]) / (k->base + k->slope * k->x[i]));
    return true;
}

static void check_fit(const uint8_t *data)
{
    struct known k = { .slope = 0.06 + data[0] / 64.0, .base = 1 + data[1] / 16.0 };   /* a hundredth of the range from the bounds */
    struct fit_parameter parameters[] = { { "base", 0.5, 20, 5, 1e-4 }, { "slope", 0.001, 5, 1, 1e-4 } };
    struct fit_value found[2];
    struct err err = { "" };
    for (int i = 0; i < N_FIT_ROWS; i++)
        k.x[i] = 1 + 3 * i + data[2 + i] / 128.0;
    struct fit_problem p = { .parameters = parameters, .n_parameters = 2, .n_rows = N_FIT_ROWS, .log_ratios = log_ratios, .user = &k };
    LAW(fit_run(found, &p, &err));
    for (int i = 0; i < 2; i++)
        LAW(found[i].value >= parameters[i].low && found[i].value <= parameters[i].high && found[i].standard_error >= 0);
    LAW(fabs(found[0].value / k.base - 1) < 1e-3 && fabs(found[1].value / k.slope - 1) < 1e-3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    gsl_set_error_handler_off();
    if (n < 2 + N_FIT_ROWS || lines_in(data, n) > MOST_ROWS)
        return 0;
    check_fit(data + n - 2 - N_FIT_ROWS);
    const char *runs = arena_strdup(&a, fuzz_file(data, n, ".csv"));
    check_sheet(runs, &a);
    check_errors(runs, &a);
    check_coverage(runs, &a);
    unlink(runs);
    arena_free(&a);
    return 0;
}
