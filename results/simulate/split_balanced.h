/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split_balanced.h - where the division of layers starts: the split whose longest stage is as short as can be. Private to split.c.
 */
#ifndef SPLIT_BALANCED_H
#define SPLIT_BALANCED_H
#include "system-model/plan/plan.h"

/* The layers of blocks in order, by what they take: sums up to a unit, of n + 1 borders. What stands before and behind the blocks has a time. */
struct units { uint32_t n, *layer; uint64_t *time, *fixed_bytes, *kept_bytes; uint64_t first_time, last_time; };
/* Of a plan that has compiled every layer, however they are divided. */
void units_of_plan(struct units *u, const struct plan *p, struct arena *a);

/* Borders between stages, in units; border[n_stages] is the end, what is behind it 0. */
struct split { uint32_t n_stages, border[MAX_STAGES + 1]; bool valid, fits; uint64_t shortfall, step_cycles; };
/* alone: the heads get a stage of their own behind the n_stages, on the first IPU. Not valid: some stage has no room, however they are divided. */
struct split split_balanced(const struct units *u, const struct chip *chip, const struct plan_request *asked, uint32_t n_stages, bool alone);

#endif
