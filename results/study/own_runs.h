/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_runs.h - measurements on the user's own machine, which answers use as neighbours.
 *
 * podbench-measured.csv in a project's folder: recipe,sets,hash,version,samples_per_s,first_predicted,first_low,first_high. A line is written by
 * podbench measured, with the throughput that was predicted before anything was known of it, and its interval (empty where there was none). sets are
 * overrides, joined by "; ". A line stays in the file if its recipe has changed since, or is gone, but it no longer counts, and a note says so.
 */
#ifndef OWN_RUNS_H
#define OWN_RUNS_H
#include "results/study/trust.h"

struct own_run {
    const char *recipe, *sets, *hash, *version;         /* hash: recipe_hash() of the recipe with its overrides */
    double samples_per_s, first_predicted, first_low, first_high;       /* samples/s; first_low and first_high are NaN without an interval */
    uint32_t line;
    const char *why_not;                /* why it does not count; NULL if it does */
    double predicted;                   /* the throughput that this version predicts; 0 if the run does not count */
    bool is_guess;                      /* no published run was near when it was measured; set only at that time */
};
struct own_runs { const char *path; struct own_run *items; size_t n, cap; };

extern const char own_runs_file[];      /* the name of the file, in the current folder */
extern const char own_runs_origin[];    /* the origin that references of own runs have */
/* None without the file. */
bool own_runs_load(struct own_runs *out, const char *path, struct arena *a, struct err *err);
/* Simulates each run and adds it to the references, as a neighbour that counts as OWN_COUNTS published ones. */
void own_runs_reference(struct references *out, struct own_runs *runs, struct simulator *s, struct arena *a);
/* Writes the file whole, or leaves it as it was. */
bool own_runs_save(const struct own_runs *runs, struct err *err);
const struct own_run *own_run_find(const struct own_runs *runs, const char *recipe, const char *sets);

/* "1.4s" of a step, or "7260/s" samples a second; the steps of the result give one from the other. False for anything else. */
bool own_run_rate(double *samples_per_s, const char *text, const struct result *r);
bool own_run_is_inside(const struct own_run *m);  /* true if the measured rate lies within the interval that was first given; false without an interval */

/* The runs side by side: as first predicted and as predicted today. */
struct table own_runs_table(const struct own_runs *runs, struct arena *a);
/* For explain: which parts of the step could each explain the difference from this run. Adds nothing if the run does not count. */
void own_run_explain(struct document *d, const struct own_run *m, const struct simulation *sim, const struct result *r);
#endif
