/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile.h - a step as a machine measured it, read from a table, and how the prediction differs from it.
 */
#ifndef PROFILE_H
#define PROFILE_H
#include "results/simulate/simulate.h"
#include "system-model/output/output.h"

/* Kinds of time that a profile distinguishes. Each stands for parts of the breakdown, and each part belongs to one kind. */
enum profile_group { IN_PRODUCTS, IN_NORMS, IN_SOFTMAX, IN_REARRANGEMENT, IN_VECTOR_WORK, IN_EXCHANGE, IN_WAITING, IN_LINKS, IN_HOST, N_PROFILE_GROUPS };

struct profile {
    const char *path;
    uint64_t steps;                             /* the number of steps that the file covers; 0: not stated */
    uint32_t n_ipus;                            /* 0: the table does not distinguish IPUs */
    double seconds[N_PROFILE_GROUPS];           /* summed over all steps, mean over the IPUs */
    bool has_group[N_PROFILE_GROUPS];
    double memory_bytes;                        /* the fullest tile; 0: not in the file */
    uint32_t memory_ipu;
};

/* Reads a table of kind,name,ipu,value,unit: docs/profiles.md. clock_hz turns cycles into seconds. */
bool profile_load(struct profile *out, const char *path, double clock_hz, struct arena *a, struct err *err);
/* Refuses a profile of other IPUs than those of a replica or of the whole machine. */
bool profile_check(const struct profile *p, const struct simulation *sim, struct err *err);
/* Measured and predicted seconds of a step by group, what differs most, and the fullest tile. */
void profile_document(struct document *d, const struct profile *p, const struct simulation *sim, const struct result *r);

#endif
