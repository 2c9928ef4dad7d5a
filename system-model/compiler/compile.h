/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compile.h - what each layer of a graph costs on one chip, and what collectives and flows cost on its links; all of it remembered.
 */
#ifndef COMPILE_H
#define COMPILE_H
#include "system-model/base/hash_table.h"
#include "system-model/compiler/cycles.h"
#include "system-model/graph/graph.h"
#include "system-model/network/collective.h"

enum { MAX_STAGES = 64 };

/* One layer, one micro-batch. Sums over its operations' plans. */
struct layer_cost {
    struct cycles forward, backward;
    uint64_t forward_cycles, backward_cycles;           /* their sums */
    uint64_t forward_mac, backward_mac, slices_mac;     /* slices: done again, slice by slice, for the backward pass */
    uint64_t n_parameters;                  /* trainable elements */
    uint64_t weight_bytes;
    uint64_t output_bytes;                  /* activations of this and earlier layers that later layers read */
    uint64_t kept_bytes;                    /* activations that backward passes read: live until then without recomputation */
    uint64_t forward_live_bytes;            /* activations that one of its forward operations reads and writes, at most */
    uint64_t backward_live_bytes;           /* gradients likewise, backward */
    uint64_t temp_bytes_per_tile;           /* worst operation */
    uint64_t host_bytes;                    /* inputs from the host */
};

/* A graph compiled for one chip and one set of options. */
struct compiled {
    struct op_plan_options options;
    const struct op_plan **op_plans;        /* one an operation of the graph; operations alike share theirs */
    struct layer_cost *layers;
};

/* Compiles on demand and remembers, so that a sweep over configurations of one graph on one machine
 * pays for each layer and each collective once. */
struct compiler {
    const struct graph *graph;
    const struct topology *topology;
    struct plan_cache *cache;
    struct arena *arena;
    const struct chip *splits_of;               /* of another chip, or NULL: the topology's own are searched */
    const struct watch *watch;                  /* of who simulates, or NULL: told of operations that are planned anew */
    struct compiled **variants; size_t n_variants, cap_variants;
    struct hash_table layer_memories;                 /* of shares by layer, one array for all that are equal */
    struct hash_table collectives, flows, sums, codes;
    struct collective_ways ways;
    struct hash_table checkpoints;                    /* the schedule's: by layer, whether it is one, by their names */
    struct hash_table stages, placements, memories, rooms, updates;  /* what follows from a stage's layers; from where all layers are */
    struct hash_table splits;                         /* the timeline's: layers that were divided over stages by themselves */
    const uint32_t *alike;                      /* of the graph, or NULL: each operation is planned by itself */
    const struct layer_cost *layers;            /* of the graph, without plans; or NULL: made when they are wanted */
    uint32_t *weights; uint32_t n_weights;      /* tensors that are */
    uint32_t *spanning; uint32_t n_spanning;    /* operations that gather statistics over neighbouring replicas */
    struct tied_use { uint32_t layer_id, tensor_id; } *tied; size_t n_tied, cap_tied;  /* weights that another layer than their own reads */
};
/* By operation the first one that is planned as it is, where their operands lie alike: the layers of most models repeat. */
const uint32_t *ops_alike(const struct graph *g, struct arena *a);
/* What a layer's cost is before its operations are planned: parameters and bytes, the same on every chip. */
const struct layer_cost *layers_without_plans(const struct graph *g, struct arena *a);
/* Graph, topology and cache are the caller's, and outlive it; all that is compiled lies in the arena. */
void compiler_start(struct compiler *c, const struct graph *g, const struct topology *t, struct plan_cache *cache, struct arena *a);
/* Never fails: what takes more memory than it is given says so in its costs. The same for equal options. */
const struct compiled *compile_graph(struct compiler *c, const struct op_plan_options *opt);
/* Shares of tile memory by layer, as the options take them; NULL stays NULL. */
const double *compile_layer_memory(struct compiler *c, const double *shares);
enum part op_part(enum op_kind kind);       /* what an operation's computing counts as; its exchange and sync have parts of their own */
/* kind, method: enum collective_kind, collective_method. No padding: it is compared as bytes. */
struct collective_question { uint32_t kind, method, unfolded, n_in_use; struct rank_pattern ranks; double bytes; };
/* collective_run, remembered by its question. */
bool compile_collective(struct collective_cost *out, struct compiler *c, const struct collective_question *q, struct err *err);
/* Flows of replica 0, made by n_replicas at the same time, each `width` IPUs after the one before; remembered likewise. */
struct flows_cost { double time_s, busiest_bytes[N_LINK_KINDS]; };
bool compile_flows(struct flows_cost *out, struct compiler *c, const struct flow *flows, size_t n, uint32_t n_replicas, uint32_t width,
                   struct err *err);
/* Layers n from first on, as compiled; code of several such ranges on one IPU: operations with equal plans share it. */
struct layer_range { const struct compiled *compiled; uint32_t first, n; };
uint64_t compile_code_bytes(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges);
/* Vector work over all their weights, tensor by tensor; none of an optimizer's, whose moments are not known here. Compute goes to part;
 * exchange and sync to theirs. */
struct cycles compile_weight_work(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges, enum vector_work work,
                                  enum part part);

#endif
