/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split.h - layers on stages by themselves, where a recipe gives no list of its own.
 */
#ifndef SPLIT_H
#define SPLIT_H
#include "system-model/timeline/timeline.h"

/* Where options name no stages and a replica has several IPUs: settles them so that a step is short and each IPU's memory is
 * enough. Options that name stages stay as they are. */
bool split_layers(struct plan_request *opt, struct compiler *c, uint32_t most_attempts, struct err *err);
/* The division as parallel.layers_per_ipu takes it: 3,7,7,7,0 or 7/6,6/7. */
void split_text(char *out, size_t n, const struct plan_request *o);

#endif
