/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawn.h - helpers that draw runs, and one run by hand.
 */
#ifndef DRAWN_H
#define DRAWN_H
#include "tests/check.h"
#include "results/submission/submission_logs.h"

static const char data[] = "workloads/convergence";

static inline struct convergence predict(const char *benchmark, const char *round, double batch)
{
    static struct arena kept;           /* the prediction names its edition */
    struct err err;
    struct convergence c;
    assert_true(convergence_predict_for(&c, &(struct submission_terms){ .benchmark = benchmark, .round = round, .global_batch = batch }, data, &kept, &err));
    return c;
}

static inline struct drawn_runs draw(const struct draw_request *q, struct arena *a)
{
    struct err err = { "" };
    struct drawn_runs d;
    if (!runs_draw(&d, q, a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
    return d;
}

static const struct drawn_run toy_run = { .seed = 42, .converged = true, .samples = 3 * 278528, .epochs = 3, .accuracy = 0.0575,
                                          .convergence_point = 3, .n_evals = 3, .time_s = 337.3 };
#endif
