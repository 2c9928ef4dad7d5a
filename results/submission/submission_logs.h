/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission_logs.h - writes a simulated submission as an MLPerf results folder: a system description, and one log for
 * each run.
 *
 *     DIR/ORG/systems/NAME-simulated.json
 *     DIR/ORG/results/NAME-simulated/BENCHMARK/result_0.txt ... result_N-1.txt, and scaling.json, where the package checker leaves it
 *     DIR/ORG/benchmarks/BENCHMARK/implementations/podbench/README.md
 *
 * NAME is the recipe's id, so that one folder can hold several submissions. The official compliance and package
 * checkers of the round accept runs that converged, and refuse the log of a run that did not. Organisation and platform
 * say that the submission is simulated; so does a line of each log, and another names the round. Time stamps start at a
 * fixed instant, so the same runs give the same bytes.
 */
#ifndef SUBMISSION_LOGS_H
#define SUBMISSION_LOGS_H
#include "results/mlperf/rules.h"
#include "results/submission/drawn_runs.h"

struct text_pair { const char *key, *value; };

struct submission_description {
    const char *system;                 /* "bow-pod64" */
    const char *name;                   /* name of the folder, to which "-simulated" is added */
    const char *benchmark, *division, *ruleset;         /* "bert", "closed", "2.0.0" */
    const char *optimizer;              /* value of opt_name: sgd, lars, lamb */
    const struct text_pair *hyperparameters;            /* keys as logged; numbers as text */
    size_t n_hyperparameters;
    const struct text_pair *fields;     /* system description; the fields not given are "not modelled", or 1 for a count */
    size_t n_fields;
    double global_batch, grad_accum;    /* global_batch: samples a step; grad_accum: micro-batches a step */
    struct run_timing timing;
    double init_s;                      /* compile and load, outside the clock; 0 means one minute */
    double eval_interval;               /* samples or epochs between evaluations; 0 means as the rules demand */
    double scaling;                     /* factor of the score; above 1 it is written to scaling.json */
    const char *data_dir;               /* workloads/convergence */
    const struct log_demands *demands;  /* NULL: loaded when needed */
    const char *trust;                  /* remarks on its interval (validity_note()); NULL: none */
    bool replaces;                      /* replace logs that exist already; else they are an error */
};

#define SIMULATED_ORG "podbench-simulated"

/* Fails before it writes anything when keys that the rules require are neither given nor fixed by the rules; the
 * message names all. */
bool submission_write(const char *dir, const struct submission_description *s, const struct drawn_run *runs, size_t n,
                            struct arena *a, struct err *err);
/* Writes one log; f NULL: only tells whether it can be written. Run i starts i days after the fixed instant. */
bool submission_write_log(FILE *f, const struct submission_description *s, const struct drawn_run *run, size_t i, struct arena *a,
                     struct err *err);
#endif
