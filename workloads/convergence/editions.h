/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * editions.h - the editions of MLPerf Training and HPC, and what each asks of a benchmark.
 *
 * An edition is a round ("v2.0", or "hpc-v2.0" of MLPerf HPC) and the release of the official checkers that judged it ("2.0.0"). Each has a folder,
 * workloads/convergence/rounds/v2.0, and adding a round is adding a folder; docs/maintainers/mlperf.md describes its tables.
 * edition.csv says how the checkers differ (struct edition). A row of benchmarks.csv says how many runs a benchmark
 * needs, and where its logs say how long it took to converge (struct round_terms).
 */
#ifndef EDITIONS_H
#define EDITIONS_H
#include "system-model/base/base.h"

/* no seed is tested; every run needs one if an earlier run has one; every run needs one */
enum seed_rule { SEEDS_FREE, SEEDS_IF_ANY, SEEDS_ALWAYS };
enum eval_error_rule { EVAL_ERROR_UNREAD, EVAL_ERROR_INSTEAD, EVAL_ERROR_TOO };  /* which accuracy counts: eval_error replaces eval_accuracy once it is logged, or the last of both counts */
enum rcp_pruning { RCP_UNPRUNED, RCP_BY_LEAST_MEAN, RCP_BY_MEAN };      /* the quantity by which records are pruned */

enum parameter_places { PARAMETERS_NONE, PARAMETERS_PACKAGE, PARAMETERS_ALL };    /* the folders in which package_checker_params is read: none, the submitter's alone, or also those of a system and a benchmark */

struct edition {
    const char *ruleset, *round;
    const char *tag;                    /* tag of mlcommons/logging at the round's deadline, or "main of DATE" where there is none yet */
    bool reference_points;              /* the edition tests convergence against reference points */
    bool repeats_submission_keys;       /* each submission_ line is judged, not only the first of its key */
    bool exact_count;                   /* true: a package with another number of logs is refused */
    bool system_description;            /* system descriptions are checked, and their division decides if seeds and convergence are checked */
    const char *statuses;               /* statuses that a system description may have, separated by bars; or "any" */
    int seeds;                          /* enum seed_rule */
    int eval_error;                     /* enum eval_error_rule */
    bool one_batch;                     /* logs of different batch sizes stop the checker; else the last one counts */
    int pruning;                        /* enum rcp_pruning */
    bool full_spread;                   /* the spread is that of the whole reference list, not of the trimmed one */
    bool scales;                        /* a submission faster than the reference is scaled to it */
    bool scales_failed;                 /* in a submission that is faster than the test allows, the times in the logs were scaled */
    bool reads_scaling;                 /* the score uses scaling.json in the benchmark's folder */
    bool scales_unwritten;              /* without that file the checker's own factor is used: in v2.1 all submissions were scaled, later not */
    int parameter_files;                /* enum parameter_places */
    bool bypass;                        /* a failed reference test may be bypassed */
    bool power;                         /* the package checker tests power folders */
    bool framework_log;                 /* the written rules want the whole log of the framework in a result file */
    bool repository;                    /* there is a repository checker: names and sizes of files, and links */
};

enum point_take { TAKE_LAST, TAKE_FIRST };                              /* which line gives the convergence point */

/* One row of benchmarks.csv. */
struct round_terms {
    const struct edition *edition;
    const char *benchmark, *source;
    bool allowed;                       /* the package checker accepts the benchmark */
    uint32_t runs, dropped, may_fail;   /* dropped: number at each end, for the score and the convergence mean */
    bool reference_convergence;         /* tested against reference points */
    const char *unit;                   /* unit of the convergence point: epochs, samples or steps; "" without one */
    const char *point_of, *point, *where;       /* the convergence point is the expression `point` on a line of key point_of that fulfils `where` */
    int take;                           /* enum point_take */
    bool train_samples;                 /* the user may choose the last train_samples line instead */
    double allowance;                   /* how much the least reference mean is lowered, in `unit` */
};

/* All rounds, in order. */
struct round_table {
    const char *dir;                    /* workloads/convergence/rounds */
    struct edition *editions;
    struct round_terms *items;
    size_t n_editions, n;
};
/* data_dir: workloads/convergence. */
bool round_table_load(struct round_table *out, const char *data_dir, struct arena *a, struct err *err);
const char *round_file(const struct round_table *t, const struct edition *e, const char *name, struct arena *a);   /* the path of a file of this edition */

/* name: "v2.0" or "2.0.0". NULL for an unknown one. */
const struct edition *edition_find(const struct round_table *t, const char *name);
const struct edition *edition_before(const struct round_table *t, const struct edition *e);     /* the earlier edition; NULL if there is none, or e is NULL */
/* The date of the rules of a round without a tag, which may still change; NULL for a round with one. */
const char *edition_provisional(const struct edition *e);
const char *editions_known(const struct round_table *t, struct arena *a);                       /* "v0.7, v1.0, ..." */
bool edition_unknown(const struct round_table *t, const char *name, struct err *err);  /* fails with a message that names the known editions */
/* True for the name of v1.0 or a later round of MLPerf Training: those test closed submissions against reference points. */
bool round_has_reference(const char *round);

/* NULL if the edition does not have the benchmark. */
const struct round_terms *round_terms_find(const struct round_table *t, const char *benchmark, const struct edition *e);

/* "benchmark 'x' is not one of v3.0; known: ..."; returns false. */
bool benchmark_unknown(const struct round_table *t, const char *benchmark, const struct edition *e, struct err *err);

struct eval_schedule {
    double interval;                    /* samples or epochs between evaluations */
    bool in_samples;                    /* true: the interval counts samples; false: epochs */
    double latest_first;                /* the first evaluation is due by this number of samples or epochs */
};
/* How often the rules of v1.0 to v2.1 ask for an evaluation. Returns false for a benchmark without a known schedule. */
bool eval_schedule_of(struct eval_schedule *out, const char *benchmark, double global_batch);
#endif
