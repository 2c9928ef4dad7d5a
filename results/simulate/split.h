/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split.h - layers on stages by themselves, where a recipe gives no list of its own.
 */
#ifndef SPLIT_H
#define SPLIT_H
#include "system-model/timeline/timeline.h"

/* Where options name no stages and a replica has several IPUs: settles them so that a step is short and each IPU's memory is
 * enough. Options that name stages stay as they are. */
bool split_layers(struct plan_options *opt, struct compiler *c, struct err *err);

#endif
