/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h - a sweep's output in several files: shards, and what an interrupted one left behind.
 */
#ifndef PARTS_H
#define PARTS_H
#include "results/study/sweep.h"

/* One of n parts of a sweep, counted from 1: neighbouring configurations first to end - 1, numbered from 0. */
struct shard { uint32_t index, n; const char *by; };    /* by: who says so, for messages */
void shard_range(uint64_t *first, uint64_t *end, const struct shard *shard, uint64_t n_configurations);
/* text: "I/N", or "/N" where the environment gives I. NULL: both from the environment of Slurm, Open MPI or MPICH; one of one
 * outside them. get: getenv, or a test's own. */
bool shard_find(struct shard *out, const char *text, const char *(*get)(const char *name), struct err *err);

/* How many whole rows of this sweep, from configuration `first` (from 0) on, a file holds; *n_bytes: where they end. A file that
 * is of another sweep, or does not begin there, is refused. */
bool part_look(uint64_t *n_rows, uint64_t *n_bytes, const char *path, const struct sweep *w, uint64_t first, struct err *err);

/* Writes the rows of all parts to f, which is called path, in order. Refuses parts of different sweeps or versions, a configuration that
 * is missing, or that two parts hold. */
bool parts_merge(FILE *f, const char *path, const char *const *paths, size_t n, struct arena *scratch, struct err *err);

#endif
