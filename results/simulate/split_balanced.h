/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split_balanced.h - the division of layers whose longest stage is as short as can be. Private to split.c.
 */
#ifndef SPLIT_BALANCED_H
#define SPLIT_BALANCED_H
#include "system-model/plan/plan.h"

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
