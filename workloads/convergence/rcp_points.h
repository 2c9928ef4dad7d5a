/*
 * rcp_points.h - reference convergence points: how many epochs or samples the reference needed, by global batch.
 *
 * The lists are those of mlcommons/logging (rcp_checker), carried in workloads/convergence/rcp.csv, one record a batch size.
 * Some records changed after a round's deadline: `edition` is "deadline" for one that only the checker of the deadline had, "later"
 * for one that only later tables have, "both" else. A record's mean drops the fastest and the slowest run; its spread is the population standard deviation of what is left.
 */
#ifndef RCP_POINTS_H
#define RCP_POINTS_H
#include "system-model/base/base.h"

enum rcp_edition { RCP_DEADLINE, RCP_LATER };   /* as judged at the round; as corrected since */

struct rcp_point {
    const char *record, *unit, *source; /* unit: "epochs" or "samples" */
    double batch;
    double *values;
    size_t n;
    double mean, sd;                    /* olympic, as above */
    double learning_rate;               /* the optimizer's, at its base; 0: not stated */
    double least;                       /* smallest mean that the one-sided test lets pass */
};

/* Sorted by batch. */
struct rcp_table {
    const char *ruleset, *benchmark;
    struct rcp_point *points;
    size_t n;
};

/* round: "v2.0" or its ruleset "2.0.0". data_dir: the folder that holds rcp.csv. An unknown round or benchmark names the known ones. */
bool rcp_load(struct rcp_table *out, const char *benchmark, const char *round, enum rcp_edition edition, const char *data_dir,
              struct arena *a, struct err *err);
/* The same from a table that is read already. */
bool rcp_take(struct rcp_table *out, const struct csv_table *csv, const char *benchmark, const char *round, enum rcp_edition edition,
              struct arena *a, struct err *err);

/* Records that are no faster than a mix of their neighbours go, as the checker of 2.0.0 and later does it. */
void rcp_prune(struct rcp_table *t);
/* The same comparing means, as the checker has done since 2024: what a prediction uses. */
void rcp_prune_by_mean(struct rcp_table *t);

/* Mean and spread at a batch, linear between records. False outside their range. */
bool rcp_interpolate(double *mean, double *sd, const struct rcp_table *t, double batch);

/* The smallest mean that passes, for a reference of n_reference runs left and a submission of n_submission left (after trimming):
 * mean - t(0.95, n_reference + n_submission - 2) * sd * sqrt(1/n_reference + 1/n_submission). */
double rcp_least_mean(double mean, double sd, double n_reference, double n_submission);

uint32_t rcp_runs(const char *benchmark);           /* 5, 10 ...; 0 for an unknown benchmark */
const char *rcp_ruleset(const char *round);         /* "v2.0" -> "2.0.0"; "" unknown */
const char *rcp_ruleset_before(const char *ruleset);    /* of the round before; "": none */
bool rcp_is_pruned(const char *ruleset);            /* from 2.0.0 on */

/* Mean of the middle: sorts values, drops the first and the last. */
double olympic_mean(double *values, size_t n);
#endif
