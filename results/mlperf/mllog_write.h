/*
 * mllog_write.h - a simulated submission as an MLPerf results folder: system description and one log a run.
 *
 *     DIR/ORG/systems/SYSTEM.json
 *     DIR/ORG/results/SYSTEM/BENCHMARK/result_0.txt ... result_N-1.txt
 *     DIR/ORG/benchmarks/BENCHMARK/implementations/podbench/README.md
 *
 * The official compliance and package checkers of 1.0.0, 1.1.0 and 2.0.0 are to accept it. Organisation and platform say that it is
 * simulated, and each log carries a line that says so. Time stamps count from a fixed instant: the same runs give the same bytes.
 */
#ifndef MLLOG_WRITE_H
#define MLLOG_WRITE_H
#include "results/mlperf/runs_distribution.h"

struct text_pair { const char *key, *value; };

struct submission_description {
    const char *system;                 /* "bow-pod64": names the folder; "-simulated" is added */
    const char *benchmark, *division, *ruleset;         /* "bert", "closed", "2.0.0" */
    const char *optimizer;              /* opt_name: sgd, lars, lamb */
    const struct text_pair *hyperparameters;            /* keys as logged; numbers as text */
    size_t n_hyperparameters;
    const struct text_pair *fields;     /* of the system description; those not given are "" (counts "1") */
    size_t n_fields;
    double global_batch, grad_accum;
    struct run_timing timing;
    double init_s;                      /* compile and load, outside the clock; 0: one minute */
    double eval_interval;               /* in the benchmark's unit; 0: the rules' */
    const char *rules_dir, *data_dir;
};

#define SIMULATED_ORG "podbench-simulated"
/* The 33 members that a system description must have, in order. */
extern const char *const system_fields[];
extern const size_t n_system_fields;

/* Existing files are replaced. Fails when a key that the rules require is neither given nor fixed by the rules. */
bool mllog_write_submission(const char *dir, const struct submission_description *s, const struct drawn_run *runs, size_t n,
                            struct arena *a, struct err *err);
/* One log, for tests: run index i starts i days after the fixed instant. */
bool mllog_write_run(FILE *f, const struct submission_description *s, const struct drawn_run *run, size_t i, struct arena *a,
                     struct err *err);
#endif
