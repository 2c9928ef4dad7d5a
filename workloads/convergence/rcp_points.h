/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rcp_points.h - reference convergence points: how many epochs or samples the reference needed, by global batch.
 *
 * The lists are those of mlcommons/logging (rcp_checker), carried in workloads/convergence/rcp.csv, one record a batch size.
 * Some records changed after a round's deadline: `edition` is "deadline" for one that only the checker of the deadline had, "later"
 * for one that only later tables have, "both" else. A record's mean drops the fastest and the slowest runs; its
 * spread is the population standard deviation of what is left, or from 4.1.0 on of the whole list.
 */
#ifndef RCP_POINTS_H
#define RCP_POINTS_H
#include "workloads/convergence/editions.h"

enum rcp_edition { RCP_DEADLINE, RCP_LATER };   /* as judged at the round; as corrected since */

struct rcp_point {
    const char *record, *unit, *source; /* unit: "epochs", "samples" or "steps" */
    double batch;                       /* global, in samples */
    double *values;                     /* of each run, in the unit */
    size_t n;
    double left;                        /* runs after dropping */
    double mean, sd;                    /* olympic, as above */
    double learning_rate;               /* the optimizer's, at its base; 0: not stated */
    double least;                       /* smallest mean that the one-sided test lets pass */
};

/* Student's t at 0.95, of a test with so many degrees of freedom; 0: of none yet. */
struct quantile { double dof, t; };

/* Sorted by batch. */
struct rcp_table {
    const char *ruleset, *benchmark;
    const struct edition *edition;
    struct round_terms terms;
    struct rcp_point *points;
    size_t n;
    struct quantile between;            /* of the test on the line between two records */
};

/* round: "v2.0" or its ruleset "2.0.0". data_dir: the folder that holds rcp.csv. An unknown round or benchmark names the known ones. */
bool rcp_load(struct rcp_table *out, const char *benchmark, const char *round, enum rcp_edition edition, const char *data_dir,
              struct arena *a, struct err *err);
/* The same from tables that are read already: rcp.csv and rounds.csv. */
bool rcp_take(struct rcp_table *out, const struct csv_table *csv, const struct round_table *rounds, const char *benchmark, const char *round,
              enum rcp_edition edition, struct arena *a, struct err *err);

/* Records that are no faster than a mix of their neighbours go, as the edition's checker does it: not at all before 2.0.0. */
void rcp_prune(struct rcp_table *t);
/* The same comparing means, as the checker has done since 2024: what a prediction uses. */
void rcp_prune_by_mean(struct rcp_table *t);

/* Mean and spread at a batch, linear between records. False outside their range. */
bool rcp_interpolate(double *mean, double *sd, const struct rcp_table *t, double batch);

/* The smallest mean that passes, for a reference of n_reference runs left and a submission of n_submission left (after trimming):
 * mean - t(0.95, n_reference + n_submission - 2) * sd * sqrt(1/n_reference + 1/n_submission), to the checker's grid of below 1e-4. */
double rcp_least_mean(double mean, double sd, double n_reference, double n_submission);

/* What the test holds against a submission: the record of its batch; else the line between two; below all, the record of the smallest. */
enum rcp_match { RCP_EXACT, RCP_INTERPOLATED, RCP_SMALLER_BATCH, RCP_MISSING };
struct rcp_limit {
    enum rcp_match match;
    double mean, sd;                    /* of the reference; 0 when there is none */
    double least_mean, max_speedup;     /* a submission passes from mean / max_speedup up */
};
void rcp_limit_at(struct rcp_limit *out, const struct rcp_table *t, double batch);

/* By what the edition multiplies the times of a closed submission that took so much to converge: the reference's mean over its own, or 1. */
double rcp_scaling(const struct edition *e, const struct rcp_limit *limit, double submission_mean);

const char *rcp_ruleset(const char *round);         /* "v2.0" -> "2.0.0"; "" for one without reference points */
const char *rcp_ruleset_before(const char *ruleset);    /* of the round before; "": none */

/* Mean of the middle: sorts values, drops so many at each end; of all, where that leaves none. */
double olympic_mean(double *values, size_t n, size_t dropped);
#endif
