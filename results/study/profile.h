/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile.h - a step as a machine measured it, read from a table, and its differences from the prediction.
 */
#ifndef PROFILE_H
#define PROFILE_H
#include "results/simulate/simulate.h"
#include "system-model/output/output.h"

/* Groups of time in a profile. Each group stands for parts of the step, and each part belongs to one group. */
enum profile_group { IN_PRODUCTS, IN_NORMS, IN_SOFTMAX, IN_REARRANGEMENT, IN_VECTOR_WORK, IN_EXCHANGE, IN_WAITING, IN_LINKS, IN_HOST, N_PROFILE_GROUPS };

struct profile {
    const char *path;
    uint64_t steps;                             /* the number of steps in the file; 0 if not stated */
    uint32_t n_ipus;                            /* 0 if the table does not distinguish IPUs */
    double seconds[N_PROFILE_GROUPS];           /* sums over all steps, as means over the IPUs */
    bool has_group[N_PROFILE_GROUPS];
    double memory_bytes;                        /* bytes of the fullest tile; 0 if not in the file */
    uint32_t memory_ipu;
};

/* Reads a table kind,name,ipu,value,unit (docs/profiles.md). clock_hz converts cycles into seconds. */
bool profile_load(struct profile *out, const char *path, double clock_hz, struct arena *a, struct err *err);
/* Refuses a profile whose IPUs are neither those of a replica nor those of the whole machine. */
bool profile_check(const struct profile *p, const struct simulation *sim, struct err *err);
/* Writes measured and predicted seconds of a step by group, the largest difference, and the fullest tile. */
void profile_document(struct document *d, const struct profile *p, const struct simulation *sim, const struct result *r);

#endif
