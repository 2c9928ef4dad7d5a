/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology.h - the link graph of a machine, and flows on it.
 *
 * Nodes 0..n_ipus-1 are IPUs; then come hubs (a board's gateway, or the PCIe switch of several cards), streaming
 * memories (one a board), hosts, and the switches between gateways. A link is one way. A flow follows one
 * route, and flows at the same time share the links they meet on: the time of a set of flows is the
 * latency of the longest route plus the largest load (bytes over rate) that any link has to carry.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H
#include "system-model/machine/machine.h"

enum link_kind { LINK_RUNG, LINK_RAIL, LINK_PORT, LINK_GATEWAY, LINK_SWITCH, LINK_HOST, LINK_STREAMING, N_LINK_KINDS };
/* rung and rail: IPU-Links; port: an IPU and its hub; gateway: a hub and the next hub or switch; switch: two switches;
 * host: a hub and its host; streaming: a hub and its memory. */
extern const char *const link_kind_names[N_LINK_KINDS];

struct link {
    uint32_t from, to;
    enum link_kind kind;
    bool through;                           /* a rung kept for traffic that goes on along a rail (GC2) */
    double bytes_per_s, latency_s;          /* rate: nominal x efficiency; 0: cut */
};
struct topology {
    const struct machine *machine;
    const struct faults *faults;            /* NULL: none */
    enum domain_topology domain_topology;   /* of the partition that a program has, or of the machine */
    uint32_t n_ipus, n_nodes, n_links;
    uint32_t n_domains, ipus_per_domain, ipus_per_hub;
    uint32_t first_hub, n_hubs, first_memory, n_memories, first_host, n_hosts, first_switch, n_switches;
    /* Links by their numbers: IPU-Links domain by domain, then ports, streaming, hosts', gateways', the spine's. All are in pairs, there
     * and back. Domains are alike, so that only the first one's links are listed, and a machine of any size takes as little memory. */
    uint32_t domain_links, first_port, first_streaming, first_host_link, first_gateway, first_spine;
    struct link *domain;
    uint32_t *first_out, *out_links;        /* of a domain's IPU i: out_links[first_out[i] .. first_out[i+1]) */
    double *rates;                          /* by link, where something is at fault; NULL: nominal */
};

/* What is wrong with the machine in this run (a recipe's [faults]). */
struct link_fault { uint32_t from, to; double rate_share; };    /* 0: the link is gone; applies both ways */
struct chip_fault { uint32_t ipu; double slowdown; };           /* > 1: its compute takes that much longer */
struct faults {
    const struct link_fault *links; size_t n_links;
    const struct chip_fault *chips; size_t n_chips;
    const struct flow *background; size_t n_background;         /* flows that share the links all the time, bytes a second */
};

struct flow { uint32_t from, to; double bytes; };

struct link topology_link(const struct topology *t, uint32_t link);        /* by its number, 0 to n_links - 1, with what is at fault */
/* Links that leave a node, in the order of their numbers. */
uint32_t topology_n_out(const struct topology *t, uint32_t node);
uint32_t topology_out(const struct topology *t, uint32_t node, uint32_t i);

/* The links lie in the arena; the machine and the faults, which the caller keeps, are pointed to. Fails where a fault names IPUs without a
 * link, or a background flow has no route. */
bool topology_build(struct topology *out, const struct machine *m, const struct faults *faults,
                    struct arena *a, struct err *err);
/* The shape of a domain's links for a program on the machine's first n_in_use IPUs. */
enum domain_topology topology_of_partition(const struct machine *m, uint64_t n_in_use);
/* All of the machine, with domains of this shape instead of the sheet's. */
bool topology_build_as(struct topology *out, const struct machine *m, enum domain_topology shape, const struct faults *faults, struct arena *a,
                       struct err *err);
void topology_print_kinds(FILE *f, const struct topology *t);    /* without the single links */
void topology_print(FILE *f, const struct topology *t);         /* text: nodes by kind, links by kind, rates */
void topology_print_dot(FILE *f, const struct topology *t);

/* Seconds of a sync that has to reach these IPUs: the fixed cost, and there and back to the farthest board, and over the gateways where
 * they are in more than one domain. */
double topology_sync_s(const struct topology *t, const uint32_t *ipus, size_t n);

/* The links of the route from one node to another, in order; false when there is none (a cut link). */
bool topology_route(uint32_t *links, size_t max_links, size_t *n_links, const struct topology *t,
                    uint32_t from, uint32_t to, struct err *err);

/* Bytes by link, for those that carry any, in the order they were met. */
struct link_load { uint32_t link; double bytes; };
struct link_loads {
    struct link_load *items;
    uint32_t n, n_slots, *slots;        /* slots: hashed; 0: free, else an item's place + 1 */
    struct arena *a;
};
struct link_loads link_loads_new(struct arena *a);
double *link_loads_at(struct link_loads *loads, uint32_t link);        /* 0 where it is new; until the next one is asked for */

/* Seconds until all flows, started together, have arrived. loads (may be NULL) is added to. */
bool topology_flows(double *time_s, const struct topology *t, const struct flow *flows, size_t n_flows,
                    struct link_loads *loads, struct arena *scratch, struct err *err);

#endif
