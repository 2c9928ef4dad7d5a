/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * novelty.h - errors of first predictions, by how new the run was at that time.
 */
#ifndef NOVELTY_H
#define NOVELTY_H
#include "results/published/published.h"
#include "results/simulate/simulator.h"
#include "results/study/trust.h"

/* How much of a run was known from rows seen before. NEW_AROUND is a new host: no process of the framework had prepared input in that place
 * (in the call, or ahead), or none had fed several replicas as this one does. */
enum novelty { NOVELTY_ALL, NOVELTY_KNOWN, NOVELTY_FAMILY_KNOWN, NOVELTY_NEW_FAMILY, NOVELTY_NEW_AROUND, N_NOVELTIES };
extern const char *const novelty_names[N_NOVELTIES];

/* A configuration with a published throughput, and its errors |simulated / published - 1|. */
struct first_seen {
    const struct figure *figure;
    enum novelty novelty;
    /* Errors at three times. error_then: in the version that first saw the row. error_again: of the first recipe in a later version, or else
       error_then. error_now: today. */
    double error_then, error_again, error_now;
    double ratio_then, ratio_now;       /* predicted / published, by the version that first saw the row and today */
};
struct first_seen_rows { struct first_seen *items; size_t n, cap; };

/* Leaves out rows without a line in first-sight.csv and rows whose recipe is not in the folder. Fails if a recipe cannot be simulated. */
bool first_seen_build(struct first_seen_rows *out, const struct figures *figures, const struct first_sight *seen, struct simulator *simulator, struct arena *a,
                      struct err *err);

struct first_seen_group {
    const char *kind;
    size_t n;
    double then_median, then_mean, then_max, again_median, again_mean, again_max, now_median, now_mean, now_max;
};
/* Fills one group for each kind of novelty that has rows, then one for all rows; returns the number of groups. */
size_t first_seen_groups(struct first_seen_group out[N_NOVELTIES + 1], const struct first_seen_rows *rows, struct arena *scratch);
struct table first_seen_table(const struct first_seen_group *groups, size_t n);

#endif
