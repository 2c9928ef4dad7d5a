/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mllog_write.h - a simulated submission as an MLPerf results folder: system description and one log a run.
 *
 *     DIR/ORG/systems/NAME-simulated.json
 *     DIR/ORG/results/NAME-simulated/BENCHMARK/result_0.txt ... result_N-1.txt, and scaling.json, where the package checker leaves it
 *     DIR/ORG/benchmarks/BENCHMARK/implementations/podbench/README.md
 *
 * NAME is that of what was simulated (a recipe's id), so that several stand side by side. The official compliance and package checkers of
 * the round are to accept it; a run that did not converge is written as the failure it is, which they refuse. Organisation and platform
 * say that it is simulated, and each log carries a line that says so and one that names its round. Time stamps count from a fixed
 * instant: the same runs give the same bytes.
 */
#ifndef MLLOG_WRITE_H
#define MLLOG_WRITE_H
#include "results/mlperf/rules.h"
#include "results/submission/runs_distribution.h"

struct text_pair { const char *key, *value; };

struct submission_description {
    const char *system;                 /* "bow-pod64" */
    const char *name;                   /* of the folder; "-simulated" is added */
    const char *benchmark, *division, *ruleset;         /* "bert", "closed", "2.0.0" */
    const char *optimizer;              /* opt_name: sgd, lars, lamb */
    const struct text_pair *hyperparameters;            /* keys as logged; numbers as text */
    size_t n_hyperparameters;
    const struct text_pair *fields;     /* of the system description; those not given are said to be not modelled (counts: 1) */
    size_t n_fields;
    double global_batch, grad_accum;    /* samples a step; micro-batches a step */
    struct run_timing timing;
    double init_s;                      /* compile and load, outside the clock; 0: one minute */
    double eval_interval;               /* in the benchmark's unit; 0: the rules' */
    double scaling;                     /* of the score, above 1: in scaling.json */
    const char *rules_dir, *data_dir;
    const struct log_demands *demands;  /* NULL: loaded where needed */
    bool replaces;                      /* logs that are there already are replaced; else they are an error */
};

#define SIMULATED_ORG "podbench-simulated"

/* Fails, before anything is written, when keys that the rules require are neither given nor fixed by the rules: the message names all. */
bool mllog_write_submission(const char *dir, const struct submission_description *s, const struct drawn_run *runs, size_t n,
                            struct arena *a, struct err *err);
/* One log, for tests: run index i starts i days after the fixed instant. */
bool mllog_write_run(FILE *f, const struct submission_description *s, const struct drawn_run *run, size_t i, struct arena *a,
                     struct err *err);
#endif
