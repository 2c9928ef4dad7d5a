/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_stages.h - the stages in which a plan is built, one file each; called by plan_build alone.
 */
#ifndef PLAN_STAGES_H
#define PLAN_STAGES_H
#include "system-model/plan/plan.h"

bool plan_place(struct plan *p, struct compiler *c, struct arena *a, struct err *err);     /* placement.c: layers on stages on IPUs */
bool plan_pipeline(struct plan *p, struct compiler *c, struct arena *a, struct err *err);  /* pipeline.c: tasks, cycles, copies, input */
bool plan_update(struct plan *p, struct compiler *c, struct arena *a, struct err *err);    /* update.c: tensor by tensor */
void stage_sum(struct stage_plan *s);                                                     /* placement.c: its cycles by kind of task */
void update_sum(struct update_program *u, struct arena *a);                               /* update.c: its chains by IPU */
uint64_t replicas_of_process(const struct plan *p);                                       /* call.c: of the one with most */
void plan_call(struct plan *p);                                                           /* call.c: what the host takes */
bool is_streamed(const struct plan_options *o, uint64_t n_elements);                       /* update.c: moments of a tensor as large */
void plan_memory(struct plan *p, struct compiler *c, struct arena *a);                    /* memory.c: bytes of the worst tile */

#endif
