/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split.h - divides layers over stages, if a recipe gives no list of its own.
 */
#ifndef SPLIT_H
#define SPLIT_H
#include "system-model/timeline/timeline.h"

/* Chooses the stages of a request that names none and has several IPUs a replica, so that each IPU's memory is enough and the step is short. Plays
 * at most most_attempts divisions from each start; 0: the usual number. */
bool split_layers(struct plan_request *opt, struct compiler *c, uint32_t most_attempts, struct err *err);
/* Writes the division in the form of parallel.layers_per_ipu: 3,7,7,7,0 or 7/6,6/7. */
void split_text(char *out, size_t n, const struct plan_request *o);

#endif
