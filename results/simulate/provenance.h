/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * provenance.h - what made a result: the version, the overrides, and a hash of every value that was read.
 *
 * Two results with the same version and inputs are the same to the bit; where inputs differ, a recipe or a sheet was changed.
 */
#ifndef PROVENANCE_H
#define PROVENANCE_H
#include "results/simulate/simulate.h"

/* Fills version, overrides ("a.b=1; c.d=2", in order) and inputs of a result; the texts live in sim's arena. */
void result_provenance(struct result *r, struct simulation *sim, const char *const *overrides, size_t n_overrides);
/* The same as an object, with the recipe's path and every sheet that was read. jansson; the caller owns it. */
struct json_t *provenance_json(const struct result *r, struct simulation *sim, const char *const *overrides, size_t n_overrides);

#endif
