/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * property.h - what makes one run like another: workload, chip, size, framework, shape of the replica, batch, what the step is spent on; and
 * how far two are apart.
 */
#ifndef PROPERTY_H
#define PROPERTY_H
#include "results/simulate/simulate.h"

enum { MAX_PROPERTIES = 20 };
/* A name; a count, which is compared in doublings; a share of the step. */
enum property_kind { PROPERTY_NAME, PROPERTY_COUNT, PROPERTY_SHARE };
struct property { const char *name; enum property_kind kind; double weight; const char *help; };
extern const struct property properties[];
extern const size_t n_properties;

/* In the table's order: names, counts with their logarithms (0 has none: -1), or shares, 0 to 1. */
struct properties {
    const char *name[MAX_PROPERTIES];
    uint64_t count[MAX_PROPERTIES], name_hash[MAX_PROPERTIES]; double log2_count[MAX_PROPERTIES], share[MAX_PROPERTIES];
};
void properties_settle(struct properties *p);   /* from names and counts: logarithms, and 64 bits that names are told apart by */
struct properties properties_of(const struct simulation *sim, struct arena *a);     /* the names live in the arena */

bool is_same_name(const struct properties *x, const struct properties *y, size_t property);
/* Sum of weights times difference: 1 for another name, the doublings between two counts, what one share is above the other; unlike: the
 * part of either's step that is spent on what the other's is not, half of all that shares differ by. */
struct apart { double distance, unlike; };
struct apart property_apart(const struct properties *x, const struct properties *y);
/* Of the same kind: one family of models, trained or run. */
bool is_same_kind(const struct properties *x, const struct properties *y);
/* "ResNet-50 trained by PopART on bow chips": what stands and falls together when it is left out. */
const char *property_group(const struct properties *x, struct arena *a);

#endif
