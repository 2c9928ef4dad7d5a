/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology.h - the link graph of a machine, and flows on it.
 *
 * Nodes 0..n_ipus-1 are IPUs. After them come hubs (the gateway of a board, or the PCIe switch of several cards), streaming memories (one per
 * board), hosts, and the switches between gateways. A link is one way. A flow follows one route, and flows at the same time share links: a set
 * of flows takes the latency of the longest route plus the largest load (bytes over rate) on any link.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H
#include "system-model/base/memo.h"
#include "system-model/machine/machine.h"

enum link_kind { LINK_RUNG, LINK_RAIL, LINK_PORT, LINK_GATEWAY, LINK_SWITCH, LINK_HOST, LINK_STREAMING, N_LINK_KINDS };
/* rung and rail: IPU-Links; port: an IPU and its hub; gateway: a hub and the next hub or switch; switch: two switches;
 * host: a hub and its host; streaming: a hub and its memory. */
extern const char *const link_kind_names[N_LINK_KINDS];

struct link {
    uint32_t from, to;
    enum link_kind kind;
    bool through;                           /* a rung link that carries only traffic continuing along a rail (GC2) */
    double bytes_per_s, latency_s;          /* rate: nominal x efficiency, 0 if the link is cut */
};
struct topology {
    const struct machine *machine;
    const struct faults *faults;            /* NULL if none */
    enum domain_topology domain_topology;   /* the shape of the program's partition, or of the machine */
    uint32_t n_ipus, n_nodes, n_links;
    uint32_t n_domains, ipus_per_domain, ipus_per_hub;
    uint32_t first_hub, n_hubs, first_memory, n_memories, first_host, n_hosts, first_switch, n_switches;
    /* Links are numbered: IPU-Links domain by domain, then those of ports, streaming memories, hosts, gateways and the spine, all in pairs, there
     * and back. Domains are alike, so only the links of the first are listed; memory does not grow with the machine. */
    uint32_t domain_links, first_port, first_streaming, first_host_link, first_gateway, first_spine;
    struct link *domain;
    uint32_t *first_out, *out_links;        /* IPU i of a domain has out_links[first_out[i]] to out_links[first_out[i + 1] - 1] */
    double *rates;                          /* by link where links are faulty; NULL: all are nominal */
};

/* Faults of the machine during a run ([faults] of a recipe). */
struct link_fault { uint32_t from, to; double rate_share; };    /* the share left in both directions; 0 if the link is cut */
struct chip_fault { uint32_t ipu; double slowdown; };           /* at least 1: the factor by which its compute takes longer */
struct faults {
    const struct link_fault *links; size_t n_links;
    const struct chip_fault *chips; size_t n_chips;
    const struct flow *background; size_t n_background;         /* flows on the links all the time, in bytes per second */
};

MEMO_INPUT(flow, uint32_t from, to; double bytes;);

struct link topology_link(const struct topology *t, uint32_t link);        /* a link by its number, 0 to n_links - 1, with faults applied */
/* Links that leave a node, in the order of their numbers. */
uint32_t topology_n_out(const struct topology *t, uint32_t node);
uint32_t topology_out(const struct topology *t, uint32_t node, uint32_t i);

/* The machine and the faults must outlive the topology. Fails if a fault names IPUs without a link, or a background flow has no route. */
bool topology_build(struct topology *out, const struct machine *m, const struct faults *faults,
                    struct arena *a, struct err *err);
/* The shape of a domain's links for a program on the machine's first n_in_use IPUs. */
enum domain_topology topology_of_partition(const struct machine *m, uint64_t n_in_use);
/* topology_build() with domains of another shape than the sheet's. */
bool topology_build_as(struct topology *out, const struct machine *m, enum domain_topology shape, const struct faults *faults, struct arena *a,
                       struct err *err);
struct document;
/* The kinds of links and, if asked for and up to 64 IPUs, every link. */
void topology_document(struct document *d, const struct topology *t, bool links);
void topology_graph(struct document *d, const struct topology *t);      /* writes the link graph in DOT */

/* Seconds of a sync that reaches these IPUs: the fixed cost, the way to the farthest board and back and, if the IPUs are in more than one domain, the
 * gateways. */
double topology_sync_s(const struct topology *t, const uint32_t *ipus, size_t n);

enum { LARGEST_DOMAIN = 64, MAX_ROUTE = 2 * LARGEST_DOMAIN + 16 };      /* the most IPUs of a domain, the most links of a route */
/* The links of the route from one node to another, in order. Fails if cut links leave no route. */
bool topology_route(uint32_t *links, size_t max_links, size_t *n_links, const struct topology *t,
                    uint32_t from, uint32_t to, struct err *err);
double route_latency_s(const struct topology *t, const uint32_t *links, size_t n_links);

/* Bytes by link, only for links that carry any, in the order in which they were added. */
struct link_load { uint32_t link; double bytes; };
struct link_loads {
    struct link_load *items; size_t cap;
    uint32_t n;
    struct hash_table numbers;          /* numbers of items, by link */
    struct arena *a;
};
struct link_loads link_loads_new(struct arena *a);
double *link_loads_at(struct link_loads *loads, uint32_t link);        /* bytes on a link, 0 for a new one; the pointer is valid until the next call */

/* Seconds until all flows, started together, have arrived. Their bytes are added to `loads`, which may be NULL. */
bool topology_flows(double *time_s, const struct topology *t, const struct flow *flows, size_t n_flows,
                    struct link_loads *loads, struct arena *scratch, struct err *err);

#endif
