/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_internal.h - a collective while it is run: what collective.c decides, and the steps that collective_steps.c plays for it.
 */
#ifndef COLLECTIVE_INTERNAL_H
#define COLLECTIVE_INTERNAL_H
#include "system-model/network/collective_layout.h"
#include "system-model/network/collective_ways.h"

struct ring { uint32_t *ipus; uint32_t n; };

struct run {
    const struct topology *t;
    const struct collective_request *req;
    struct layout at;
    struct arena *a;
    struct collective_cost *cost;
    struct collective_ways *ways;
    double *total_bytes; size_t n_totals;   /* of all steps, by the links' numbers */
    double sync_s, slowdown;
    bool fold_domains;
    uint32_t n_shown;                       /* domains whose rings are made: of folded ones the first, and the one that it sends to */
};

/* Each adds its times and bytes to the run's cost, and fails where a flow has no route. Bytes are a rank's.
 * n_steps of these flows, each of so many bytes, after each of which every rank adds add_bytes. */
bool play_steps(struct run *run, const struct ends *ends, double bytes, uint32_t n_steps, double add_bytes, struct err *err);
/* Steps round each ring, `share` bytes to the next rank, or to both neighbours; first_only: only what the first rank of each sends. */
bool ring_steps(struct run *run, const struct ring *rings, size_t n_rings, uint32_t n_steps, double share, bool both_ways,
                bool add, bool first_only, struct err *err);
/* A reduce-scatter (add) or an all-gather of `bytes` on each ring; all rings are of one size. */
bool scatter_or_gather(struct run *run, const struct ring *rings, size_t n_rings, enum collective_method method, double bytes,
                       bool add, struct err *err);

#endif
