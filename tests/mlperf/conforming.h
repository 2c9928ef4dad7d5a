/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conforming.h - submissions of BERT and ResNet-50 that keep every rule, and a run of each.
 */
#ifndef CONFORMING_H
#define CONFORMING_H
#include "results/submission/submission_logs.h"
#include "tests/mllog_keys.h"

#include <math.h>

/* Three evaluations of 175,000 samples each (57 steps of 3,072 reach the first); 7 s of startup and 300 s in all. */
static inline struct submission_description bert(void)
{
    return (struct submission_description){ .system = "toy", .benchmark = "bert", .division = "closed", .ruleset = "2.0.0",
        .optimizer = "lamb", .hyperparameters = bert_keys, .n_hyperparameters = 9, .global_batch = 3072, .grad_accum = 7,
        .timing = { .step_time_s = 1.7, .startup_s = 7, .eval_time_s = 1.3 }, .data_dir = "workloads/convergence" };
}
static inline struct submission_description resnet(void)
{
    struct submission_description s = bert();
    s.benchmark = "resnet", s.optimizer = "lars", s.hyperparameters = lars_keys, s.n_hyperparameters = 5, s.global_batch = 3200;
    s.timing.eval_placement = EVAL_END;
    return s;
}
static const struct drawn_run bert_run = { .seed = 42, .converged = true, .samples = 525312, .epochs = NAN, .accuracy = 0.72,
                                           .n_evals = 3, .time_s = 300 };
static const struct drawn_run resnet_run = { .seed = 43, .converged = true, .samples = 38 * 1281167.0, .epochs = 38, .accuracy = 0.7593,
                                             .n_evals = 10, .time_s = 1700.125 };

#endif
