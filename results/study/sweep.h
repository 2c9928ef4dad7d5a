/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.h - many configurations simulated and written, a row each, in the order of their numbers.
 *
 * A row: configuration, of, sweep, recipe, the swept keys, status (fits, does not fit, refused), reason, how far it can be trusted
 * (interval of the throughput, nearest published run, what lies outside all of them), and the result's columns.
 * `sweep` is the same for all rows of one sweep and for no other: a hash of version, columns, recipes, values and every input file.
 * Configurations are independent: threads take them in chunks, and the output is the same for any number of threads.
 */
#ifndef SWEEP_H
#define SWEEP_H
#include "results/simulate/simulator.h"
#include "results/study/space.h"
#include "results/study/validity.h"

enum sweep_format { SWEEP_CSV, SWEEP_JSON };     /* JSON: an object a line */

struct sweep {
    const struct space *space;
    const char *const *sets; size_t n_sets;     /* of all configurations, before the swept keys */
    const struct model_paths *paths;
    const struct track_record *record;          /* what each answer is judged by */
    enum sweep_format format;
    const char *output;                         /* what its rows are written to, in messages */
    uint32_t n_jobs;
    uint64_t identity;
    void (*progress)(void *user, size_t done, size_t of); void *user;   /* may be NULL */
};

struct sweep_count { uint64_t n_fit, n_unfit, n_refused; char first_reason[512]; };     /* first_reason: of a refusal */

/* Hashes what the sweep stands on; fails when an input cannot be read. */
bool sweep_identity(uint64_t *out, const struct sweep *w, struct arena *scratch, struct err *err);
/* The line of column names; JSON has none. */
void sweep_write_header(FILE *f, const struct sweep *w);
/* Configurations first to end - 1, numbered from 0. f is flushed after each chunk, so that what is written is whole rows of the
 * first of them. Fails only when f does not take them. */
bool sweep_run(FILE *f, struct sweep_count *count, const struct sweep *w, uint64_t first, uint64_t end, struct err *err);

#endif
