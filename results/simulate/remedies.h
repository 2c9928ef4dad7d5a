/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * remedies.h - what would make a model fit: changes of its recipe, simulated, and what each costs.
 */
#ifndef REMEDIES_H
#define REMEDIES_H
#include "results/simulate/simulate.h"

enum { MAX_SINGLE_REMEDIES = 8, MAX_PAIRS = 3, MAX_REMEDIES = MAX_SINGLE_REMEDIES + MAX_PAIRS, MAX_REMEDY_SETS = 8 };
struct remedy {
    const char *what;                   /* "recompute every layer" */
    const char *sets[MAX_REMEDY_SETS];  /* overrides, as --set takes them */
    uint32_t n_sets;
    bool fits;
    double fits_probability;
    double throughput_samples_per_s;
    uint64_t shortfall_bytes_per_tile;
    const char *division;               /* the layers of each IPU as found, a set of parallel.layers_per_ipu; NULL if it divides none anew */
};

/* The simulation that does not fit, and what it was made with. */
struct remedy_request {
    const struct simulation *sim;
    const char *recipe;
    const char *const *overrides; size_t n_overrides;
    bool keeps_micro_batch;             /* a smaller micro-batch is no remedy */
};

/* Tries every change that is not in force already, and all pairs if no single one fits; the fastest pairs that fit are kept. Those that fit
 * come first, fastest first, then the others by shortfall. */
bool remedies_find(struct remedy *out, size_t *n, const struct remedy_request *q, struct arena *a, struct err *err);
void remedies_print(FILE *f, const struct remedy *r, size_t n);
struct json_t *remedies_json(const struct remedy *r, size_t n);     /* an array; the caller owns it */

#endif
