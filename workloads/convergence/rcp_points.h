/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rcp_points.h - reference convergence points: how many epochs or samples the reference needed, by global batch.
 *
 * The lists come from mlcommons/logging (rcp_checker), one record for each batch size. Some records changed after a
 * round's deadline: `edition` is "deadline" for a record that only the checker of the deadline had, "later" for one
 * that only later tables have, else "both". A record's mean drops the fastest and the slowest runs; its spread is the
 * population standard deviation of the rest, or from 4.1.0 on of the whole list.
 */
#ifndef RCP_POINTS_H
#define RCP_POINTS_H
#include "workloads/convergence/editions.h"

enum rcp_edition { RCP_DEADLINE, RCP_LATER };   /* the records of the deadline, or as corrected since */

struct rcp_point {
    const char *record, *unit, *source; /* unit: "epochs", "samples" or "steps" */
    double batch;                       /* global, in samples */
    double *values;                     /* one value for each run, in epochs or samples */
    size_t n;
    double left;                        /* number of runs after dropping */
    double mean, sd;                    /* mean and spread after dropping */
    double learning_rate;               /* base learning rate; 0 if not stated */
    double least;                       /* smallest mean that passes the one-sided test */
};

/* Sorted by batch. */
struct rcp_table {
    const char *benchmark;
    const struct edition *edition;
    struct round_terms terms;
    struct rcp_point *points;
    size_t n;
};

/* round: "v2.0" or its ruleset "2.0.0". data_dir: workloads/convergence. An unknown round or benchmark names the known
 * ones. */
bool rcp_load(struct rcp_table *out, const char *benchmark, const char *round, enum rcp_edition edition, const char *data_dir,
              struct arena *a, struct err *err);
/* Loads the records with rounds that are loaded already. */
bool rcp_load_with(struct rcp_table *out, const struct round_table *rounds, const char *benchmark, const char *round, enum rcp_edition edition,
                   struct arena *a, struct err *err);

/* Removes records that are no faster than a mix of their neighbours, as the edition's checker does; before 2.0.0 it
 * removes none. */
void rcp_prune(struct rcp_table *t);
/* rcp_prune() by means, as the checker does since 2024. Predictions use this in every round. */
void rcp_prune_by_mean(struct rcp_table *t);

/* Turns steps into samples, in means and spreads, too; epochs stay. A table must be counted so before a law is fitted to it. */
void rcp_count_samples(struct rcp_table *t);

/* Mean and spread at a batch, linear between records. Returns false outside their range. */
bool rcp_interpolate(double *mean, double *sd, const struct rcp_table *t, double batch);

/* The smallest mean that passes, for n_reference runs of the reference and n_submission of the submission, after
 * dropping: mean - t(0.95, n_reference + n_submission - 2) * sd * sqrt(1/n_reference + 1/n_submission), to the
 * checker's grid of below 1e-4. */
double rcp_least_mean(double mean, double sd, double n_reference, double n_submission);

/* The reference that a submission is tested against: the record of its batch, else the line between two records, else the record
 * of the smallest batch. */
enum rcp_match { RCP_EXACT, RCP_INTERPOLATED, RCP_SMALLER_BATCH, RCP_MISSING };
struct rcp_limit {
    enum rcp_match match;
    double mean, sd;                    /* the reference's mean and deviation; 0 for RCP_MISSING */
    double least_mean, max_speedup;     /* a submission passes from mean / max_speedup up */
};
void rcp_limit_at(struct rcp_limit *out, const struct rcp_table *t, double batch);

/* The factor by which the edition scales the times of a closed submission with this mean to convergence: the reference's mean over it; 1 if it
 * does not scale them. */
double rcp_scaling(const struct edition *e, const struct rcp_limit *limit, double submission_mean);

/* Sorts values and returns the mean without this many at each end, or of all where that leaves none. */
double olympic_mean(double *values, size_t n, size_t dropped);
#endif
