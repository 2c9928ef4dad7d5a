/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.h - many configurations, simulated and written one row each, in the order of their numbers.
 *
 * A row has the columns configuration, of, sweep, recipe, the swept keys, status (fits, does not fit, refused), reason, notes (fits barely, no
 * effect, no published run is near), how far it can be trusted (interval of the throughput, nearest published run, properties outside all
 * published runs), and those of the result. The cell `sweep` is one hash of version, columns, recipes, values and every input file, so it is
 * the same for all rows of one sweep and differs for any other sweep. Configurations are independent: threads take them in chunks, and the
 * output is the same for any number of threads.
 */
#ifndef SWEEP_H
#define SWEEP_H
#include "results/study/trust.h"
#include "system-model/output/output.h"

/* ---- sweep_space.c: the configurations, recipes times axes, each numbered -------------------- */

/* One axis, which sets one key, or several together. Configuration 1 has the first value of every axis; the last axis changes fastest. */
struct axis {
    const char **keys; size_t n_keys;
    const char **settings; size_t n;        /* "key=value"; value i of key k is settings[i * n_keys + k] */
};
struct space {
    const char *const *recipes; size_t n_recipes;
    struct axis *axes; size_t n_axes, cap_axes;
    size_t n_keys;                          /* keys of all axes */
    uint64_t n;                             /* configurations */
};

void space_start(struct space *s, const char *const *recipes, size_t n_recipes);
/* Adds an axis from "key=values". Values are a,b,c; or a;b;c if they contain commas; or FROM..TO, FROM..TO+STEP, FROM..TO*FACTOR. Refuses a
 * list that repeats a value. */
bool space_over(struct space *s, const char *text, struct arena *a, struct err *err);
/* Adds one axis that sets the keys of several such texts together. All texts must have the same number of values, and no two steps may be
 * equal. */
bool space_zip(struct space *s, const char *const *texts, size_t n, struct arena *a, struct err *err);
/* Adds one axis from the rows of a table whose columns are keys. An empty cell keeps the recipe's own value; no two rows may be equal. */
bool space_from(struct space *s, const char *path, struct arena *a, struct err *err);
/* Counts the configurations. Refuses a key on two axes, and more configurations than can be numbered. */
bool space_close(struct space *s, struct err *err);

/* Returns the recipe of configuration `number` (from 0), and fills n_keys settings; "" keeps the recipe's own value. */
const char *space_configuration(const char **settings, const struct space *s, uint64_t number);

/* ---- sweep.c: simulating and writing ----------------------------------------------------------- */

enum sweep_format { SWEEP_CSV, SWEEP_JSON };     /* JSON has one object per line */

struct sweep {
    const struct space *space;
    const char *const *sets; size_t n_sets;     /* settings of all configurations, applied before the swept keys */
    const struct model_paths *paths;
    const struct track_record *record;          /* the record by which answers are judged */
    const char *idle;                           /* a note for rows of the first recipe about overrides of sheets without effect; may be NULL */
    enum sweep_format format;
    const char *output;                         /* the output's name, for messages */
    uint32_t n_jobs;
    uint64_t identity;
    struct watch watch;                         /* reports how many configurations are done */
};

struct sweep_count { uint64_t n_fit, n_unfit, n_refused; char first_reason[512]; };     /* first_reason: the reason of the first refused row */

/* A hash of everything that the sweep depends on. Fails if an input cannot be read. */
bool sweep_identity(uint64_t *out, const struct sweep *w, struct arena *scratch, struct err *err);
void sweep_write_header(FILE *f, const struct sweep *w);        /* writes the line of column names; JSON has none */
/* Simulates configurations first to end - 1, numbered from 0. Flushes f after each chunk, so that an interrupted sweep leaves complete first
 * rows. Fails only if f cannot be written. */
bool sweep_run(FILE *f, struct sweep_count *count, const struct sweep *w, uint64_t first, uint64_t end, struct err *err);

/* ---- sweep_parts.c: a sweep's output in several files ------------------------------------------- */

/* Part `index` of n parts, counted from 1. It has the consecutive configurations first to end - 1, numbered from 0. */
struct shard { uint32_t index, n; const char *by; };    /* by: the launcher or option that assigned it, for messages */
void shard_range(uint64_t *first, uint64_t *end, const struct shard *shard, uint64_t n_configurations);
/* Finds the part of this process. `text` is "I/N", or "/N" if the environment states I, or NULL if the environment of Slurm, Open MPI or MPICH
 * states both; without these it is part 1 of 1. `get` is getenv or a test's own function. */
bool shard_find(struct shard *out, const char *text, const char *(*get)(const char *name), struct err *err);

/* Counts the complete rows of this sweep in a file that must begin with configuration `first` (from 0). *n_bytes is where they end. Refuses a
 * file of another sweep, or with another beginning. */
bool part_look(uint64_t *n_rows, uint64_t *n_bytes, const char *path, const struct sweep *w, uint64_t first, struct err *err);

/* Writes the rows of all parts to f in order; `path` is the name of f. Refuses parts of different sweeps or versions, and missing or repeated
 * configurations. */
bool parts_merge(FILE *f, const char *path, const char *const *paths, size_t n, struct arena *scratch, struct err *err);

#endif
