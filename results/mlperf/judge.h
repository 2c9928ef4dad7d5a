/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.h - judging real MLPerf results: the tables loaded once, one log, and one folder of logs as the package checker sees it.
 *
 *     struct judge         rules, rounds and reference points, and what the user asked for
 *     struct log_judgement one log: compliance, and the facts that scores and tests need of it
 *     struct folder        one system's logs of one benchmark: who, which round, the parts of the package's verdict, the score
 */
#ifndef JUDGE_H
#define JUDGE_H
#include "results/mlperf/compliance.h"
#include "results/mlperf/rcp.h"
#include "results/mlperf/run_log.h"

struct judge_options {
    const char *ruleset;                /* or a round; NULL: by path, else as a log says */
    const char *rules_dir, *data_dir;   /* results/rules, workloads/convergence */
    bool train_samples;                 /* the last train_samples line is the convergence point, where the round offers it */
    bool rcp_bypass, seed_bypass;       /* as the package checker's options: a failed test is reported and does not count */
    struct watch watch;                 /* told of each line of a log */
};

/* What a round asks of a benchmark, ready for use. */
struct benchmark_rules {
    const struct round_terms *terms;
    struct expression point, where;     /* text NULL: none */
    bool has_reference;
    struct rcp_table reference;         /* pruned */
};

struct judge {
    struct arena *a;                    /* lives as long as the judge */
    const struct judge_options *options;
    struct rule_library library;
    struct round_table rounds;
    struct csv_table points;
    struct benchmark_rules *cache;      /* one a row of rounds */
    struct name_list system_fields;
};

bool judge_load(struct judge *out, const struct judge_options *options, struct arena *a, struct err *err);
/* Fails on a benchmark that the edition does not have. */
bool judge_benchmark(const struct benchmark_rules **out, struct judge *j, const struct edition *e, const char *benchmark, struct err *err);
bool judge_knows(const struct judge *j, const char *benchmark);         /* in any edition */

/* ---- log_judge.c ---------------------------------------------------------------------------------- */

struct seed_seen { uint64_t hash, line; uint32_t log; };                /* hash: of source file, line and value */

struct log_judgement {
    struct compliance compliance;
    struct run_log run;
    const char *round, *benchmark, *division;   /* as it says itself; NULL: it does not */
    const struct edition *edition;
    const struct benchmark_rules *rules;        /* NULL: none for its benchmark */
    double batch;                       /* the last logged; NaN: none */
    bool batch_differs;
    double point;                       /* convergence point; NaN: none */
    double last_train_samples;
    struct seed_seen *seeds;
    size_t n_seeds, cap_seeds;
    const char *bad_seed;               /* a seed that is no whole number; NULL: none */
};

/* edition and benchmark: from the path; NULL: as the log says. Fails when the file cannot be read, or its round is not known. */
bool log_judge(struct log_judgement *out, struct judge *j, const char *path, bool follow, const struct edition *edition,
               const char *benchmark, struct arena *a, struct err *err);
#endif
