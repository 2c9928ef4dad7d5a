/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split.h - divides layers over stages if the recipe does not list its own division.
 */
#ifndef SPLIT_H
#define SPLIT_H
#include "system-model/timeline/timeline.h"

/* Chooses the stages of a request that names none and has several IPUs a replica: each IPU's memory must suffice, and the step should be
 * short. At most most_attempts divisions are played from each start; 0 means the usual number. */
bool split_layers(struct plan_request *opt, struct compiler *c, uint32_t most_attempts, struct err *err);
/* Writes the division as a value of parallel.layers_per_ipu, such as 3,7,7,7,0 or 7/6,6/7. */
void split_text(char *out, size_t n, const struct plan_request *o);

/* ---- split_balanced.c: the division whose longest stage is as short as can be. Private to split.c. ---- */

/* The layers of blocks in order. `time` and the bytes are sums over all units before a border and have n + 1 values. first_time and last_time
 * belong to the layers before and after the blocks. */
struct units { uint32_t n, *layer; uint64_t *time, *fixed_bytes, *kept_bytes; uint64_t first_time, last_time; };
/* Measures the layers of a plan, whatever its own division is. */
void units_of_plan(struct units *u, const struct plan *p, struct arena *a);

/* The borders between stages, in units. border[n_stages] is the end; later borders are 0. */
struct split { uint32_t n_stages, border[MAX_STAGES + 1]; bool valid, fits; uint64_t shortfall, step_cycles; };
/* The division with the shortest longest stage. If `alone`, the heads get a further stage on the first IPU. The split is not valid if every
 * division has a stage that lacks room. */
struct split split_balanced(const struct units *u, const struct chip *chip, const struct plan_request *asked, uint32_t n_stages, bool alone);

#endif
