/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective.h - collectives over the IPUs of a machine, made of flows on its links.
 */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H
#include "system-model/base/hash_table.h"
#include "system-model/network/topology.h"

enum collective_kind { COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_GATHER,
                       COLLECTIVE_BROADCAST, N_COLLECTIVE_KINDS };
enum collective_method { METHOD_AUTO, METHOD_RING, METHOD_BIDIRECTIONAL_RING, METHOD_MEET_IN_MIDDLE,
                         METHOD_QUAD_RING, METHOD_HIERARCHICAL, METHOD_BROADCAST, N_COLLECTIVE_METHODS };
extern const char *const collective_kind_names[N_COLLECTIVE_KINDS];
extern const char *const collective_method_names[N_COLLECTIVE_METHODS];

/* Replicas `stride` apart, n_ranks to a group, n_starts groups that share none of them (stride 1: each begins where the one before
 * ended; longer: they interleave); and of each such group one for each of n_ipus IPUs of the replica, which is `width` wide. No padding:
 * it is compared as bytes. */
struct rank_pattern { uint32_t n_ranks, stride, n_starts, width, first_ipu, n_ipus; };

/* Where ranks are and which way steps go, found once for all collectives on one topology. */
struct collective_ways { struct hash_table layouts, steps[2]; struct link_loads numbers; struct arena *a; };
struct collective_ways collective_ways_new(struct arena *a);

/* n_groups collectives at the same time, each over n_ranks IPUs, sharing the links. bytes: per rank, the
 * whole vector (before reduce-scatter, after all-gather). ranks[g * n_ranks + r] is an IPU; NULL: they are those of the pattern. */
struct collective_request {
    enum collective_kind kind;
    enum collective_method method;          /* METHOD_AUTO: by size and topology, as the communication library does */
    const uint32_t *ranks;
    struct rank_pattern pattern;
    uint32_t n_groups, n_ranks;
    double bytes;
    uint32_t n_in_use;                      /* IPUs of the program, the machine's first ones, which a sync holds; 0: the ranks alone */
    bool unfolded;                          /* simulate every group and domain even where symmetric */
    struct collective_ways *ways;           /* of this topology; NULL: none are kept */
};
struct collective_cost {
    double time_s;
    double link_s, reduce_s, sync_s;        /* sum to time_s: on the links, adding on the tiles, steps' sync */
    uint32_t n_steps;
    double bytes_sent_per_rank;             /* 2 (n-1)/n bytes for a ring all-reduce, n-1 times the bytes where each sends all of them to all */
    enum collective_method method;          /* the one used */
    double busiest_bytes[N_LINK_KINDS];     /* on the busiest link of each kind */
};
/* Fails on a request that the machine cannot serve: an IPU that it has not, a method that wants another shape, a route that is cut. */
bool collective_run(struct collective_cost *out, const struct topology *t, const struct collective_request *req,
                    struct arena *scratch, struct err *err);

#endif
