/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cycles.h - cycles and energy by what they are spent on.
 */
#ifndef CYCLES_H
#define CYCLES_H
#include "system-model/network/topology.h"

/* ---- layer_costs.c: cycles by what they are spent on ----------------------------------------------------------- */

enum part {
    PART_MATMUL, PART_CONV, PART_NORM, PART_ELEMENTWISE, PART_SOFTMAX, PART_EMBEDDING, PART_POOLING, PART_LSTM, PART_LOSS,
    PART_REARRANGE,
    PART_EXCHANGE, PART_SYNC,
    PART_ACTIVATIONS,                   /* sums of activations and of their gradients over the IPUs that share a layer */
    PART_STAGE_COPY,                    /* activations and gradients between the replica's IPUs */
    PART_BUBBLE,                        /* waiting: fill, drain, uneven stages, slower chips */
    PART_ACCUMULATE,
    PART_ALL_REDUCE, PART_OPTIMIZER,
    PART_STREAMING,                     /* optimizer state to and from streaming memory */
    PART_HOST,                          /* input that no work hides, and barriers */
    N_PARTS
};
extern const char *const part_names[N_PARTS];

/* The resource that a part occupies, and by which a step can be bound. */
enum part_class { CLASS_COMPUTE, CLASS_EXCHANGE, CLASS_SYNC, CLASS_LINKS, CLASS_WAITING, CLASS_MEMORY, CLASS_HOST, N_PART_CLASSES };
extern const char *const part_class_names[N_PART_CLASSES];
extern const enum part_class part_classes[N_PARTS];

struct cycles { uint64_t part[N_PARTS]; };
uint64_t cycles_total(const struct cycles *c);
uint64_t cycles_of_class(const struct cycles *c, enum part_class class);
void cycles_add(struct cycles *to, const struct cycles *c, uint64_t times);     /* to += times * c, part by part */

/* Seconds as cycles of this chip's clock, rounded up; MOST_CYCLES if they are more or not a number. plan_build()
 * refuses a step that long (2^53 cycles are 56 days at 1.85 GHz), so that sums of cycles are exact in 64 bits and in a
 * double. */
#define MOST_CYCLES ((uint64_t)1 << 53)
uint64_t cycles_of(const struct topology *t, double time_s);

/* ---- energy.c: what work costs besides time ------------------------------------------------------------------- */

enum energy_cause { ENERGY_RUNNING, ENERGY_MAC, ENERGY_VECTOR, ENERGY_EXCHANGE, ENERGY_LINKS, N_ENERGY_CAUSES };
struct energy { double j[N_ENERGY_CAUSES]; };
void energy_add(struct energy *to, const struct energy *e, double times);       /* to += times * e, cause by cause */
double energy_total(const struct energy *e);
double energy_error_j(const struct energy *e, const struct chip *chip);         /* how far the energy may be off, because of what the chip's sheet leaves open */

#endif
