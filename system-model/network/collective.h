/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective.h - collectives over the IPUs of a machine, made of flows on its links.
 */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H
#include "system-model/base/hash_table.h"
#include "system-model/network/topology.h"

/* A row for each kind: its enumerator, its name, and its phases in order. The phases: a root scatters pieces, ranks reduce what others send, ranks
 * gather. */
#define COLLECTIVE_KINDS(KIND) \
    KIND(ALL_REDUCE,     "all-reduce",     false, true,  true) \
    KIND(REDUCE_SCATTER, "reduce-scatter", false, true,  false) \
    KIND(ALL_GATHER,     "all-gather",     false, false, true) \
    KIND(BROADCAST,      "broadcast",      true,  false, true)

/* A row for each method: its enumerator, its name, true if it handles several domains one by one, and two functions of collective_methods.c: the
 * check of the ranks, and the play of a phase. A method with NULL for the play stands for another one, chosen by size and topology. */
#define COLLECTIVE_METHODS(METHOD) \
    METHOD(AUTO,               "auto",               true,  any_ranks,             NULL) \
    METHOD(RING,               "ring",               false, any_ranks,             one_way) \
    METHOD(BIDIRECTIONAL_RING, "bidirectional-ring", false, any_ranks,             both_ways) \
    METHOD(MEET_IN_MIDDLE,     "meet-in-middle",     false, any_ranks,             meet_in_middle) \
    METHOD(QUAD_RING,          "quad-ring",          false, ranks_of_torus,        quad_ring) \
    METHOD(HIERARCHICAL,       "hierarchical",       true,  ranks_in_same_domains, NULL) \
    METHOD(BROADCAST,          "broadcast",          true,  ranks_spread_evenly,   send_to_all)

#define ENUMERATOR(name, ...) COLLECTIVE_##name,
enum collective_kind { COLLECTIVE_KINDS(ENUMERATOR) N_COLLECTIVE_KINDS };
#undef ENUMERATOR
#define ENUMERATOR(name, ...) METHOD_##name,
enum collective_method { COLLECTIVE_METHODS(ENUMERATOR) N_COLLECTIVE_METHODS };
#undef ENUMERATOR
extern const char *const collective_kind_names[N_COLLECTIVE_KINDS];
extern const char *const collective_method_names[N_COLLECTIVE_METHODS + 1];       /* NULL-ended, as field tables want */

/* Ranks by rule instead of by list: n_starts groups of n_ranks replicas that are `stride` apart. With stride 1 each group begins where the one before
 * it ended; otherwise groups interleave. These groups exist once for each of the replica's IPUs first_ipu to first_ipu + n_ipus - 1. width: IPUs of a
 * replica. If ranks are listed, only the width is read; 0 means the gap between the first two ranks. The struct is compared as bytes and has no
 * padding. */
MEMO_INPUT(rank_pattern, uint32_t n_ranks, stride, n_starts, width, first_ipu, n_ipus;);

/* Layouts of ranks and routes of steps that all collectives on one topology share. */
struct collective_cache { struct hash_table layouts, steps[2]; struct link_loads numbers; struct arena *a; };
struct collective_cache collective_cache_new(struct arena *a);

/* n_groups collectives at the same time, each over n_ranks IPUs, which share the links. ranks[g * n_ranks + r] is an IPU; if ranks is NULL the
 * pattern gives them. `bytes` is the whole vector of a rank, before a reduce-scatter or after an all-gather. */
struct collective_request {
    enum collective_kind kind;
    enum collective_method method;          /* METHOD_AUTO: by size and topology, as the communication library does */
    const uint32_t *ranks;
    struct rank_pattern pattern;
    uint32_t n_groups, n_ranks;
    double bytes;
    double port_bytes;                      /* bytes between domains if vectors differ by IPU: the mean over the IPUs behind one port; 0: `bytes` */
    uint32_t n_in_use;                      /* the first IPUs of the machine, which the program uses and a sync waits for; 0: only the ranks */
    bool full_routes;                       /* on a torus, with replicas wider than two IPUs: steps take full routes, first in one direction and then in the other */
    bool unfolded;                          /* play every group and domain even if they are alike */
    struct collective_cache *cache;           /* the cache of this topology; NULL: no cache */
};
struct collective_cost {
    double time_s;
    double link_s, reduce_s, sync_s, control_s;     /* the parts of time_s: on the links, adding on the tiles, syncs, keeping count of pieces and copying them */
    uint32_t n_steps;
    double bytes_sent_per_rank;             /* for a ring all-reduce 2 (n-1)/n x bytes; (n-1) x bytes if each rank sends its whole vector to all others */
    enum collective_method method;          /* the method that was used */
    double busiest_bytes[N_LINK_KINDS];     /* bytes on the busiest link of each kind */
};
/* Fails on a request that the machine cannot serve: an IPU that does not exist, ranks whose shape the method does not handle, a route that is cut. */
bool collective_run(struct collective_cost *out, const struct topology *t, const struct collective_request *req,
                    struct arena *scratch, struct err *err);

#endif
