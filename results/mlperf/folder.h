/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.h - one folder of logs, the runs of one system and benchmark, as the package checker and the result summariser see it.
 *
 * The package's verdict has parts; it passes when none of them fails. The score follows the summariser: refused logs count as slowest, so
 * many are dropped at each end, and the rest are averaged; scaling.json multiplies it where the edition reads that file.
 */
#ifndef FOLDER_H
#define FOLDER_H
#include "results/mlperf/judge.h"

enum package_part { PACKAGE_FILES, PACKAGE_COMPLIANCE, PACKAGE_SEEDS, PACKAGE_CONVERGENCE, PACKAGE_DESCRIPTION, N_PACKAGE_PARTS };
extern const char *const package_part_names[N_PACKAGE_PARTS];
enum part_state { PART_UNTESTED, PART_PASSED, PART_FAILED, PART_BYPASSED };     /* bypassed: it fails, and does not count */
extern const char *const part_state_names[4];
struct part_verdict { enum part_state state; const char *text; };

/* Of each log only this is kept. */
enum run_measure { MEASURE_EPOCHS, MEASURE_SAMPLES, MEASURE_BATCH, MEASURE_ACCUMULATION, MEASURE_THROUGHPUT, MEASURE_UNIT_TIME,
                   MEASURE_EVAL_TIME, MEASURE_STARTUP, MEASURE_INIT, N_MEASURES };
struct run_entry {
    const char *file, *problem;         /* problem: why it has no time; NULL: it has one */
    bool compliant, converged;          /* converged: its status says success */
    bool has_seed, bad_seed, bad_lines;
    double start_ms, minutes, point;    /* point: NaN: none */
    double measures[N_MEASURES];        /* NaN: not known */
    uint64_t n_errors, n_warnings;
};

struct folder {
    const char *dir;                    /* as found */
    const char *round, *division, *submitter, *system, *benchmark;      /* "" where unknown */
    const struct edition *edition;
    const struct benchmark_rules *rules;
    const char *problem;                /* why it cannot be judged at all; NULL: it can */
    struct run_entry *runs;
    size_t n;
    const char *throughput_method;      /* of the first log */
    struct part_verdict parts[N_PACKAGE_PARTS];
    bool passed;
    bool has_rcp;
    struct rcp_verdict rcp;             /* also in the open division, where it does not count */
    double batch;                       /* global, in samples; NaN: not logged */
    double score_minutes;               /* official; NaN: none */
    double olympic_minutes;             /* before scaling */
    double scaling;                     /* of scaling.json; 1 without */
    const char *why_no_score;           /* NULL: there is one */
};

/* Takes what is said of each log as it is read; the judgement is gone afterwards. */
typedef void log_sink(void *user, const struct folder *f, const char *path, const struct log_judgement *j);

/* dir holds the named logs, of which each is a regular file. top: where the tree begins. Never fails: what cannot be judged says so. */
void folder_judge(struct folder *out, struct judge *j, const char *dir, char *const *logs, size_t n, log_sink *sink, void *user,
                  struct arena *a);

/* Olympic mean of minutes (HUGE_VAL: refused or not converged), so many dropped at each end; NaN when too few are left. Sorts. */
double olympic_minutes(double *minutes, size_t n, size_t dropped);

/* A small JSON file; NULL when it is none, is no regular file, or is larger than 1 MB. The caller owns it. */
json_t *load_small_json(const char *path);
#endif
