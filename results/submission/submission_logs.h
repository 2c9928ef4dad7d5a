/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission_logs.h - writes a simulated submission as an MLPerf results folder: a system description, and one log for each run.
 *     DIR/ORG/systems/NAME-simulated.json
 *     DIR/ORG/results/NAME-simulated/BENCHMARK/result_0.txt ... result_N-1.txt, and scaling.json, where the package checker leaves it
 *     DIR/ORG/benchmarks/BENCHMARK/implementations/podbench/README.md
 *
 * NAME is the recipe's id, so that one folder can hold several submissions. The official compliance and package checkers of the round accept
 * runs that converged, and refuse the log of a run that did not. Organisation and platform say that the submission is simulated. So does a
 * line of each log; another line names the round. Time stamps start at a fixed instant, so the same runs give the same bytes.
 */
#ifndef SUBMISSION_LOGS_H
#define SUBMISSION_LOGS_H
#include "results/mlperf/rules.h"
#include "results/submission/drawn_runs.h"

struct text_pair { const char *key, *value; };

struct submission_description {
    const char *system;                 /* "bow-pod64" */
    const char *name;                   /* the folder's name, to which "-simulated" is added */
    const char *benchmark, *division, *ruleset;         /* "bert", "closed", "2.0.0" */
    const char *optimizer;              /* the value of opt_name, such as sgd, lars or lamb */
    const struct text_pair *hyperparameters;            /* keys as logged, with numbers as text */
    size_t n_hyperparameters;
    const struct text_pair *fields;     /* fields of the system description; others are "not modelled", or 1 for counts */
    size_t n_fields;
    double global_batch, grad_accum;    /* samples and micro-batches of a step */
    struct run_timing timing;
    double init_s;                      /* time to compile and load, which is not scored; 0 stands for one minute */
    double eval_interval;               /* samples or epochs between evaluations; 0 for what the rules demand */
    double scaling;                     /* the score's factor; one above 1 is written to scaling.json */
    const char *data_dir;               /* workloads/convergence */
    const struct log_demands *demands;  /* if NULL, they are loaded when needed */
    const char *trust;                  /* a remark on the interval (validity_note()), or NULL */
    bool replaces;                      /* replaces existing logs, which are refused otherwise */
};

#define SIMULATED_ORG "podbench-simulated"

/* Writes a submission. Before writing anything it fails if keys that the rules demand are neither given nor fixed by the rules; the message
 * names all of them. */
bool submission_write(const char *dir, const struct submission_description *s, const struct drawn_run *runs, size_t n,
                            struct arena *a, struct err *err);
/* Writes one log, or only checks that it can be written if f is NULL. Run i starts i days after the fixed instant. */
bool submission_write_log(FILE *f, const struct submission_description *s, const struct drawn_run *run, size_t i, struct arena *a,
                     struct err *err);
#endif
