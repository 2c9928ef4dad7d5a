/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_runs.h - measurements on the user's own machine, which answers use as neighbours.
 *
 * They are in podbench-measured.csv in a project's folder: recipe,sets,hash,version,samples_per_s,first_predicted,first_low,first_high.
 * `podbench measured` adds a line with the throughput that was predicted before the measurement was known, and its interval (empty if there
 * was none). `sets` has overrides, joined by "; ". If the recipe has changed or is missing, the line stays in the file, but no longer counts,
 * and a note says so.
 */
#ifndef OWN_RUNS_H
#define OWN_RUNS_H
#include "results/study/trust.h"

struct own_run {
    const char *recipe, *sets, *hash, *version;         /* hash is recipe_hash() of the recipe with its overrides */
    double samples_per_s, first_predicted, first_low, first_high;       /* in samples/s; first_low and first_high are NaN if there was no interval */
    uint32_t line;
    const char *why_not;                /* the reason why the run does not count; NULL if it does */
    double predicted;                   /* the throughput predicted by this version; 0 if the run does not count */
    bool is_guess;                      /* no published run was near the first prediction; set only when the run is measured */
};
struct own_runs { const char *path; struct own_run *items; size_t n, cap; };

extern const char own_runs_file[];      /* the file's name, in the current folder */
extern const char own_runs_origin[];    /* the origin of all references made from own runs */
/* Loads the runs; a missing file has none. */
bool own_runs_load(struct own_runs *out, const char *path, struct arena *a, struct err *err);
/* Simulates each run and adds it to the references. As a neighbour it counts as OWN_COUNTS published runs do. */
void own_runs_reference(struct references *out, struct own_runs *runs, struct simulator *s, struct arena *a);
/* Writes the complete file, or leaves the old file unchanged on failure. */
bool own_runs_save(const struct own_runs *runs, struct err *err);
const struct own_run *own_run_find(const struct own_runs *runs, const char *recipe, const char *sets);

/* Reads "1.4s" as the time of a step or "7260/s" as samples per second, and converts it by the steps of the result. False for other texts. */
bool own_run_rate(double *samples_per_s, const char *text, const struct result *r);
bool own_run_is_inside(const struct own_run *m);  /* true if the measured rate lies within the first interval; false if there was none */

/* A table of the runs, each as first predicted and as predicted today. */
struct table own_runs_table(const struct own_runs *runs, struct arena *a);
/* For explain: adds the parts of the step that could each alone explain this run's difference. Adds nothing if the run does not count. */
void own_run_explain(struct document *d, const struct own_run *m, const struct simulation *sim, const struct result *r);
#endif
