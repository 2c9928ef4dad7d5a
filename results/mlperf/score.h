/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * score.h - the official score of each folder of logs in a tree, one row each, printed as it is found.
 */
#ifndef SCORE_H
#define SCORE_H
#include "results/mlperf/folder.h"

/* One system and benchmark. Medians are over the runs that converged (over all, when none did). NaN: not known. */
struct score_row {
    const char *round, *division, *submitter, *system, *benchmark;      /* from the path, or else the logs; "" unknown */
    uint64_t runs, failed, required_runs;       /* failed: refused, or without a time */
    uint64_t dropped;                   /* fastest, and as many slowest, that the score leaves out; failed runs are the slowest */
    double score_minutes;               /* the official score; NaN: there is none, the note says why */
    double scaling;                     /* already in score_minutes; 1 when there is no scaling.json, or the edition does not read it */
    double mean_minutes, min_minutes, max_minutes, spread;      /* spread: (max - min) / mean */
    double measures[N_MEASURES];
    const char *throughput_method, *ruleset;
    double recomputed_scaling;          /* what the reference-convergence test gives; 1: none */
    double recomputed_minutes;          /* the score with that */
    const char *note;                   /* why there is no score, or what to know about it */
    const char *path;
    const struct folder *folder;
};

void score_row_take(struct score_row *out, const struct folder *f, struct arena *a);

enum score_format { SCORE_TEXT, SCORE_CSV, SCORE_JSON };
void score_print_head(FILE *out, enum score_format format);
void score_print_row(FILE *out, enum score_format format, const struct score_row *row, bool first);
void score_print_foot(FILE *out, enum score_format format);
#endif
