/*
 * score.h - the official score of every system and benchmark in a tree of MLPerf results.
 *
 * A score drops the fastest and the slowest run and takes the mean of the rest; one run that did not converge may count as the slowest.
 * Where more runs than required were submitted, the score is the median of the scores of all windows of consecutive runs.
 */
#ifndef SCORE_H
#define SCORE_H
#include "results/mlperf/run_log.h"

/* Absent numbers are NaN, absent texts "". Medians are over the runs that converged. */
struct score_row {
    const char *round, *division, *submitter, *system, *benchmark;
    uint64_t runs, failed, required_runs;
    double score_minutes;               /* NaN: not valid, see note */
    double scaling;                     /* from scaling.json, or from the reference points (v2.1 on); contained in the score */
    double mean_minutes, min_minutes, max_minutes;      /* of the runs that converged */
    double spread;                      /* (max - min) / mean */
    double epochs_to_converge, samples_to_converge, global_batch, grad_accum;
    double throughput_samples_per_s, train_unit_s, eval_time_s, startup_time_s, init_time_s;
    const char *throughput_method, *note, *path;  /* path: below the tree's top */
    struct run_log *logs;               /* runs of them */
};

struct score_table { struct score_row *items; size_t n, cap; };

/* The tree may be any part of round/division/submitter/system/benchmark/result_N.txt or submitter/results/system/benchmark/...,
 * down to one folder of logs. Names come from the path, or from the logs' submission_* lines. Rows are sorted by path.
 * data_dir: the folder of rcp.csv, for the scaling of v2.1 and later; NULL for none. Fails when there is no result file. */
bool score_tree(struct score_table *out, const char *dir, const char *data_dir, struct arena *a, struct err *err);

/* Minutes of the runs (HUGE_VAL: did not converge), in order of time. NaN when not valid; *note says why, or how (or ""). */
double olympic_score(const double *minutes, size_t n, const char *benchmark, const char **note, struct arena *a);

void score_print(FILE *f, const struct score_table *t);
void score_write_csv(FILE *f, const struct score_table *t);
json_t *score_json(const struct score_table *t);        /* an array of objects; the caller owns it */
#endif
