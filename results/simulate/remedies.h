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
    double throughput_samples_per_s;
    uint64_t shortfall_bytes_per_tile;
};

/* Tries every change that is not in force already, and all pairs if no single one fits; the fastest pairs that
 * fit are kept. Those that fit come first, fastest first, then the others by shortfall. sim is the simulation that does
 * not fit, and overrides what it was made with. */
bool remedies_find(struct remedy *out, size_t *n, const struct simulation *sim, const char *recipe, const char *const *overrides,
                   size_t n_overrides, struct arena *a, struct err *err);
void remedies_print(FILE *f, const struct remedy *r, size_t n);
struct json_t *remedies_json(const struct remedy *r, size_t n);     /* an array; the caller owns it */

#endif
