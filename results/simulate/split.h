/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split.h - divides layers over stages, if a recipe gives no list of its own.
 */
#ifndef SPLIT_H
#define SPLIT_H
#include "system-model/timeline/timeline.h"

/* Chooses the stages of a request that names none and has several IPUs a replica, so that each IPU's memory is enough and the step is short. Plays
 * at most most_attempts divisions from each start; 0 means the usual number. */
bool split_layers(struct plan_request *opt, struct compiler *c, uint32_t most_attempts, struct err *err);
/* Writes the division in the form of parallel.layers_per_ipu: 3,7,7,7,0 or 7/6,6/7. */
void split_text(char *out, size_t n, const struct plan_request *o);

/* ---- split_balanced.c: the division whose longest stage is as short as can be. Private to split.c. ---- */

/* The layers of blocks in order. time and bytes are sums over the units before a border, so they have n + 1 values; first_time and last_time are
 * those of the layers before and after the blocks. */
struct units { uint32_t n, *layer; uint64_t *time, *fixed_bytes, *kept_bytes; uint64_t first_time, last_time; };
/* Measures the layers of a plan, however they are divided in it. */
void units_of_plan(struct units *u, const struct plan *p, struct arena *a);

/* Borders between stages, in units; border[n_stages] is the end, and those after it are 0. */
struct split { uint32_t n_stages, border[MAX_STAGES + 1]; bool valid, fits; uint64_t shortfall, step_cycles; };
/* alone: the heads get a stage of their own after the n_stages, on the first IPU. Not valid if every division has a stage without room. */
struct split split_balanced(const struct units *u, const struct chip *chip, const struct plan_request *asked, uint32_t n_stages, bool alone);

#endif
