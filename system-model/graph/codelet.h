/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * codelet.h - the user's own operations: what a sheet says about the vertices that compute them.
 *
 * A sheet is domain,name,key,value,unit,source, a line for each key of each operation. An operation works on a grid: some axes of its first input
 * are cut over the tiles, and a tile's region among its workers; the other axes stay whole.
 */
#ifndef CODELET_H
#define CODELET_H
#include "system-model/base/base.h"

enum { MOST_GRID_AXES = 3, MOST_OUTPUT_DIMS = 5 };

/* Copies on a tile, made because a vertex reads or writes contiguous memory: none; of inputs with their halos; of results too. */
enum codelet_copies { COPIES_NOTHING, COPIES_INPUTS, COPIES_INPUTS_AND_RESULTS };

/* How a tile's region is cut among its workers: in the way that takes the fewest cycles; along the one axis that divides most evenly (the first of
   equals); or in given numbers of parts. */
enum worker_rule { WORKERS_BEST, WORKERS_ALONG_ONE_AXIS, WORKERS_GIVEN };

struct codelet {
    const char *domain, *name;
    uint32_t line;                          /* its first line in the sheet */
    const char *output;                     /* "input": results are like the first input; else sizes: 8x16 */
    uint64_t output_dims[MOST_OUTPUT_DIMS]; /* the sizes of `output`, 0 behind the last; all 0: like the first input */
    const char *split, *worker_split;       /* the sheet's own text */
    uint32_t axes[MOST_GRID_AXES], n_axes;  /* axes of the first input that are cut; the last one is the innermost */
    enum worker_rule worker_rule;
    uint64_t worker_parts[MOST_GRID_AXES];  /* WORKERS_GIVEN: parts along each of the axes */
    double cycles_per_element, cycles_per_row, cycles_fixed;    /* cycles of a worker for each element, for each run along the last axis, and for each call */
    uint64_t vector;                        /* elements that are computed at once; the number of elements in a row is rounded up to a multiple of it */
    uint64_t halo;                          /* cells around a region of the first input, along each of the axes */
    int copies;                             /* enum codelet_copies */
    uint64_t broadcast_bytes, temporary_bytes, code_bytes;      /* broadcast_bytes: received by each tile; the others: held on each tile */
    const struct codelet *gradient_of;      /* the operation that `gradient` names; NULL: there is none */
    const char *gradient;                   /* the operation of the sheet that computes the gradient; "none": there is none; NULL: not stated */
};

struct codelets { const char *path; struct codelet *items; size_t n, cap; };
/* Refuses an unknown key, a value out of range, another unit, a line without a source, and an operation that lacks a key that it needs. */
bool codelets_load(struct codelets *out, const char *path, struct arena *a, struct err *err);
const struct codelet *codelet_find(const struct codelets *all, const char *domain, const char *name);     /* NULL if there is none */
/* Reads "4x4" as numbers of parts of the axes, at most MOST_GRID_AXES of them, each at least 1. False for any other text. */
bool parse_parts(uint64_t out[MOST_GRID_AXES], uint32_t *n, const char *text);

#endif
