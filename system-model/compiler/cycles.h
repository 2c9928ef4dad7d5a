/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cycles.h - cycles by what they are spent on: the parts of a breakdown.
 */
#ifndef CYCLES_H
#define CYCLES_H
#include "system-model/compiler/op_plan.h"
#include "system-model/network/topology.h"

enum part {
    PART_MATMUL, PART_CONV, PART_NORM, PART_ELEMENTWISE, PART_SOFTMAX, PART_EMBEDDING, PART_POOLING, PART_LSTM, PART_LOSS,
    PART_REARRANGE,
    PART_EXCHANGE, PART_SYNC,
    PART_STAGE_COPY,                    /* activations and gradients between the replica's IPUs */
    PART_BUBBLE,                        /* waiting: fill, drain, uneven stages, slower chips */
    PART_ACCUMULATE,
    PART_ALL_REDUCE, PART_OPTIMIZER,
    PART_STREAMING,                     /* optimizer state to and from streaming memory */
    PART_HOST,                          /* input that is not hidden, barriers */
    N_PARTS
};
extern const char *const part_names[N_PARTS];
/* What a part keeps busy: what a step can be bound by. */
enum part_class { CLASS_COMPUTE, CLASS_EXCHANGE, CLASS_SYNC, CLASS_LINKS, CLASS_WAITING, CLASS_MEMORY, CLASS_HOST, N_PART_CLASSES };
extern const char *const part_class_names[N_PART_CLASSES];
extern const enum part_class part_classes[N_PARTS];
struct cycles { uint64_t part[N_PARTS]; };
uint64_t cycles_total(const struct cycles *c);                                  /* of all parts */
uint64_t cycles_of_class(const struct cycles *c, enum part_class class);
void cycles_add(struct cycles *to, const struct cycles *c, uint64_t times);     /* part by part, times over */
/* Compute to part; exchange and sync to theirs. */
void cycles_add_plan(struct cycles *to, const struct op_plan *p, enum part part, uint64_t times);
/* Seconds on this chip's clock, rounded up; MOST_CYCLES where it is more, or not a number. plan_build refuses a step as long as that
 * (2^53 cycles, 56 days at 1.85 GHz): below it, sums keep every cycle in 64 bits and in a double. */
#define MOST_CYCLES ((uint64_t)1 << 53)
uint64_t cycles_of(const struct topology *t, double time_s);

#endif
