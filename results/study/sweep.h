/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.h - many configurations, simulated and written one row each, in the order of their numbers.
 *
 * A row has: configuration, of, sweep, recipe, the swept keys, status (fits, does not fit, refused), reason, notes (fits
 * barely, no effect, no published run is near), how far it
 * can be trusted (interval of the throughput, nearest published run, what is beyond all of them), and the result's
 * columns. The cell `sweep` is one hash of version, columns, recipes, values and every input file, so it is the same
 * for all rows of one sweep and differs for any other sweep. Configurations are independent: threads take them in
 * chunks, and the output is the same for any number of threads.
 */
#ifndef SWEEP_H
#define SWEEP_H
#include "results/study/trust.h"
#include "system-model/output/output.h"

/* ---- sweep_space.c: the configurations, recipes times axes, each numbered -------------------- */

/* An axis sets one key, or several in parallel. Configuration 1 has the first value of every axis; the last axis varies
 * fastest. */
struct axis {
    const char **keys; size_t n_keys;
    const char **settings; size_t n;        /* value i of key k: settings[i * n_keys + k], as "key=value" */
};
struct space {
    const char *const *recipes; size_t n_recipes;
    struct axis *axes; size_t n_axes, cap_axes;
    size_t n_keys;                          /* the keys of all axes */
    uint64_t n;                             /* configurations */
};

void space_start(struct space *s, const char *const *recipes, size_t n_recipes);
/* Adds an axis from "key=values". Values are a,b,c; or a;b;c, for values that hold commas; or FROM..TO, FROM..TO+STEP,
 * FROM..TO*FACTOR. A list that names a value twice is refused, and so is a step of a --zip or a row of a table that
 * repeats an earlier one. */
bool space_over(struct space *s, const char *text, struct arena *a, struct err *err);
/* Adds one axis that sets the keys of several such texts together; all have the same number of values. */
bool space_zip(struct space *s, const char *const *texts, size_t n, struct arena *a, struct err *err);
/* Adds one axis from the rows of a table whose columns are keys. An empty cell keeps the recipe's own value. */
bool space_from(struct space *s, const char *path, struct arena *a, struct err *err);
/* Counts the configurations; refuses a key that two axes set, and more configurations than can be numbered. */
bool space_close(struct space *s, struct err *err);

/* The recipe of configuration `number` (from 0). settings has room for n_keys texts; "" keeps the recipe's own value. */
const char *space_configuration(const char **settings, const struct space *s, uint64_t number);

/* ---- sweep.c: simulating and writing ----------------------------------------------------------- */

enum sweep_format { SWEEP_CSV, SWEEP_JSON };     /* JSON: one object per line */

struct sweep {
    const struct space *space;
    const char *const *sets; size_t n_sets;     /* settings of all configurations, before the swept keys */
    const struct model_paths *paths;
    const struct track_record *record;          /* judges each answer */
    const char *idle;                           /* note of the first recipe's rows: sheet values found without effect; NULL if none */
    enum sweep_format format;
    const char *output;                         /* the output's name in messages */
    uint32_t n_jobs;
    uint64_t identity;
    struct watch watch;                         /* receives how many configurations are done */
};

struct sweep_count { uint64_t n_fit, n_unfit, n_refused; char first_reason[512]; };     /* first_reason: why the first refused row was refused */

/* Hashes everything the sweep depends on; fails if an input cannot be read. */
bool sweep_identity(uint64_t *out, const struct sweep *w, struct arena *scratch, struct err *err);
void sweep_write_header(FILE *f, const struct sweep *w);        /* the line of column names; nothing for JSON */
/* Simulates configurations first to end - 1, numbered from 0. f is flushed after each chunk, so that what an
 * interrupted sweep has written is its first rows, whole. Fails only if f cannot be written. */
bool sweep_run(FILE *f, struct sweep_count *count, const struct sweep *w, uint64_t first, uint64_t end, struct err *err);

/* ---- sweep_parts.c: a sweep's output in several files ------------------------------------------- */

/* Part `index` of n, counted from 1: neighbouring configurations first to end - 1, numbered from 0. */
struct shard { uint32_t index, n; const char *by; };    /* by: what assigned it, for messages */
void shard_range(uint64_t *first, uint64_t *end, const struct shard *shard, uint64_t n_configurations);
/* text: "I/N", or "/N" if the environment gives I. NULL means both come from the environment of Slurm, Open MPI or MPICH,
 * and outside them it is part 1 of 1. get: getenv, or a test's own. */
bool shard_find(struct shard *out, const char *text, const char *(*get)(const char *name), struct err *err);

/* How many whole rows of this sweep a file holds, beginning with configuration `first` (from 0); *n_bytes is where they
 * end. A file that belongs to another sweep, or begins elsewhere, is refused. */
bool part_look(uint64_t *n_rows, uint64_t *n_bytes, const char *path, const struct sweep *w, uint64_t first, struct err *err);

/* Writes the rows of all parts to f, whose name is path, in order. Refuses parts of different sweeps or versions, a
 * missing configuration, and one that two parts hold. */
bool parts_merge(FILE *f, const char *path, const char *const *paths, size_t n, struct arena *scratch, struct err *err);

#endif
