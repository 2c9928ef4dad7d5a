/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_internal.h - what the files of the collectives share: where ranks are, the routes of a step, and a collective while it is played.
 */
#ifndef COLLECTIVE_INTERNAL_H
#define COLLECTIVE_INTERNAL_H
#include "system-model/network/collective.h"
#include "system-model/network/topology_internal.h"

/* ---- collective_kinds.c: the phases of each kind, in order --------------------------------- */

struct collective_phases { bool root_scatters, reduces, gathers; };
const struct collective_phases *collective_phases_of(enum collective_kind kind);

/* ---- collective_layout.c: where the ranks are, by group and domain -------------------------- */

/* The ranks of one group in one domain; bit i is set if IPU i of the domain takes part. */
struct group_place { uint32_t domain; uint64_t positions; };

/* The places of all groups, which group_place_at() reads. If all groups are alike, one list of domains and the positions of each group are enough. */
struct collective_layout {
    uint32_t n_groups, n_domains, n_local;  /* n_domains: most domains of a group; n_local: most ranks of a group in one domain */
    struct group_place *places;             /* by domain: group g has places[first[g]] to places[first[g + 1] - 1]; if groups are alike, the places of group 0 */
    uint32_t *first;                        /* alike: NULL */
    uint64_t *positions;                    /* if groups are alike: for each group its positions, the same in each domain; else NULL */
    bool spanning;                          /* every group has n_domains domains */
    bool regular;                           /* spanning, and every group has n_local ranks in each domain */
    bool alike;                             /* regular, and all groups have the same domains with the same positions */
};

static inline uint32_t group_n_places(const struct collective_layout *at, uint32_t g)
{
    return at->alike ? at->n_domains : at->first[g + 1] - at->first[g];
}

static inline struct group_place group_place_at(const struct collective_layout *at, uint32_t g, uint32_t k)
{
    return at->alike ? (struct group_place){ at->places[k].domain, at->positions[g] } : at->places[at->first[g] + k];
}

/* The IPU of rank i of group g. */
static inline uint32_t collective_rank(const struct collective_request *r, uint32_t g, uint32_t i)
{
    const struct rank_pattern *p = &r->pattern;
    if (r->ranks)
        return r->ranks[(size_t)g * r->n_ranks + i];
    uint32_t start = g / p->n_ipus, first = start / p->stride * p->stride * p->n_ranks + start % p->stride;
    return (first + i * p->stride) * p->width + p->first_ipu + g % p->n_ipus;
}

/* Fails if a rank is not an IPU of the machine or appears twice in a group. The layout of a pattern is cached. */
bool collective_layout_find(struct collective_layout *at, const struct topology *t, const struct collective_request *r,
                            struct collective_cache *cache, struct arena *scratch, struct err *err);

/* ---- collective_routes.c: the flows of a step and the links that they use ---------------------- */

/* Flows at the same time, all of the same size. link_by_link: on a torus each exchange takes them one link further. */
struct step_flows { struct { uint32_t from, to; } *items; size_t n; bool link_by_link; };
struct step_flows step_flows_new(size_t capacity, struct arena *a);
void step_flows_add(struct step_flows *e, uint32_t from, uint32_t to);

/* A link that flows use, and how many of them. `number` counts the links met on this topology. */
struct step_link { uint32_t number, n_flows; enum link_kind kind; };
/* Flows that move at once: the most flows on a link of each rate, and the longest latency. All take as long as the slowest. */
struct step_exchange { struct step_rate { double bytes_per_s; uint32_t most_flows; } *rates; uint32_t n_rates; double latency_s; };
struct step_routes { struct step_link *links; uint32_t n_links, most_flows; struct step_exchange *exchanges; uint32_t n_exchanges; };
bool step_routes_find(const struct step_routes **out, struct collective_cache *cache, const struct topology *t, const struct step_flows *e,
                      struct arena *scratch, struct err *err);
/* The time of all exchanges without their syncs. by_flows[n]: the bytes on a link that n flows use. */
double step_routes_time_s(const struct step_routes *routes, const double *by_flows);

/* ---- collective_steps.c: the steps of a collective, played on the links ------------------------ */

struct ring { uint32_t *ipus; uint32_t n; };

/* A collective while it is played. */
struct collective {
    const struct topology *t;
    const struct collective_phases *phases;
    const struct collective_request *req;
    struct collective_layout at;
    struct arena *a;
    struct collective_cost *cost;
    struct collective_cache *cache;
    double *total_bytes; size_t n_totals;   /* bytes of all steps on each link, in the order of `number` */
    double sync_s, slowdown;
    bool fold_domains;                      /* domains are alike, and only the first is played */
    uint32_t width;                         /* IPUs of a replica */
    uint32_t n_shown;                       /* domains whose rings are made; if folded, only the first domain and the one that it sends to */
};

/* A reduce-scatter or an all-gather of `bytes` on each of several rings of one size. */
struct ring_phase {
    const struct ring *rings;
    size_t n_rings;
    double bytes;
    bool adds;                              /* reduce-scatter: what arrives is added */
    bool first_rank_only;                   /* folded rings over domains: only the flows that leave the first domain */
};
enum ring_direction { RING_FORWARD, RING_BACKWARD, RING_BOTH_WAYS };

/* The functions below add times and bytes to the cost of the collective, and fail if a flow has no route. Bytes are those of one rank.
 * Plays n_steps of these flows, each of `bytes`; after each step every rank adds add_bytes. */
bool collective_play(struct collective *run, const struct step_flows *flows, double bytes, uint32_t n_steps, double add_bytes, struct err *err);
/* Plays steps in which every rank sends `share` bytes to the next rank of its ring, or to both neighbours. */
/* Plays n_iterations over full routes, forward and then backward. Each direction also has an exchange without data for every further pair of the
 * replica's IPUs. */
bool ring_phase_full_routes(struct collective *run, const struct ring_phase *p, uint32_t n_iterations, double share, struct err *err);
bool ring_phase_steps(struct collective *run, const struct ring_phase *p, uint32_t n_steps, double share, enum ring_direction direction,
                      struct err *err);
/* Adds supersteps on the chips that keep count of slices and copy them. */
void collective_control(struct collective *run, uint32_t n_supersteps);
/* Adds one more step, in which nothing is sent and every rank adds add_bytes. */
void collective_join(struct collective *run, double add_bytes);
void step_flows_add_rings(struct step_flows *e, const struct ring_phase *p, enum ring_direction direction);

/* ---- collective_methods.c: how a method plays a phase -------------------------------------------- */

/* Fails on ranks that the requested method cannot serve. by_domain: several domains are handled one by one; `local` is the method in each. */
bool collective_method_settle(enum collective_method *local, bool *by_domain, const struct collective *run, struct err *err);
bool ring_phase_play(struct collective *run, const struct ring_phase *p, enum collective_method method, struct err *err);

#endif
