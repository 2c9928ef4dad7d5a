/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compiler.h - what the operations of a graph cost on the tiles of one IPU, layer by layer, and what collectives and
 * copies cost on its links.
 *
 * Read in order: parts of time (cycles.h), the plan of one operation (op_plan.h), work outside the graph (vector_work.h),
 * layers, the compiler. A plan splits one operation over the tiles and counts its supersteps: compute on the slowest tile, sync, exchange. Cycles are
 * those of the chip's clock, bytes are bytes, and counts are of one micro-batch unless said otherwise. The numbers
 * behind the cycles are PopLibs' (vertex_cost.h); what no source gives is in base/assumed.h.
 *
 * Functions that return a plan or a cost cannot fail: one that needs more memory than there is says so in its
 * temp_bytes_per_tile, and the plan of the whole step then does not fit. Results live in the arena or the cache that
 * is given, and never change once made.
 */
#ifndef COMPILER_H
#define COMPILER_H
#include "system-model/base/memo.h"
#include "system-model/compiler/vector_work.h"
#include "system-model/graph/types.h"
#include "system-model/network/collective.h"

/* ---- layer_costs.c: operations summed by layer ----------------------------------------------------------------- */

/* The costs of one layer for one micro-batch. */
struct layer_cost {
    struct cycles forward, backward;
    struct cycles shared;                               /* part of forward: statistics that several replicas share */
    struct { struct cycles cycles, shared; struct energy energy; uint64_t mac; } ahead[N_AHEADS];      /* part of forward that serves later layers alone, by the enum ahead that asks for it; shared: what `shared` above has of it */
    uint64_t forward_cycles, backward_cycles;           /* sums of forward and backward over all parts */
    uint64_t op_cycles, off_amp_cycles;                 /* op_cycles: cycles of all operations, forward and backward, each counted once; off_amp_cycles: the part in products that do not use the AMP */
    uint64_t codelet_cycles;                            /* the part of op_cycles in which codelets compute */
    struct energy forward_energy, backward_energy;      /* backward_energy includes the slices that are computed again */
    uint64_t forward_mac, backward_mac, again_mac;     /* again_mac: forward work of operations that op_runs_again() is true for */
    uint64_t n_parameters, n_spread;        /* n_parameters: trainable elements; n_spread: those in tables whose rows are spread over the replicas */
    uint64_t weight_bytes;
    uint64_t output_bytes;                  /* activations of this and earlier layers that later layers read */
    uint64_t kept_bytes;                    /* activations that backward passes read; without recomputation they live until then */
    uint64_t temp_bytes_per_tile, interleaved_bytes;        /* the most that any of its operations needs */
    uint64_t host_bytes, result_bytes;      /* host_bytes: inputs from the host; result_bytes: forward results that no operation reads */
    uint64_t n_arrivals, n_results;         /* n_arrivals: operations that are the first to read some input of the host */
    uint64_t code;                          /* a hash that layers of equal code have in common; 0 for a layer without operations */
};
/* The costs of all layers that need no plan: parameters and bytes, which are the same on every chip. */
const struct layer_cost *layer_costs_unplanned(const struct graph *g, struct arena *a);

/* ---- device_loop.c ------------------------------------------------------------------------------------------------- */

/* Plans one round of a loop on the device, which copies the graph's inputs and results, without the graph's own operations. */
void device_loop_plan(struct op_plan *out, const struct graph *g, const struct chip *chip, const struct op_plan_options *opt);
/* The bytes on a tile of the copies of all inputs and results that the loop keeps between two rounds; no plan counts them. */
uint64_t device_loop_bytes(const struct graph *g, uint64_t n_tiles);
/* The cycles of device_loop_plan() for all rounds of loops inside the graph: of operations with more rounds than the graph as a whole. */
uint64_t inner_loops_cycles(const struct graph *g, uint32_t outer_rounds, const struct chip *chip, const struct op_plan_options *opt);

/* ---- compiler.c: a graph compiled, and everything remembered --------------------------------------------------- */

enum { MAX_STAGES = 128, MAX_REPLICA_IPUS = 64 };      /* the most stages of a pipeline, and the most phases */

/* A graph compiled for one chip and one set of options. */
struct compiled {
    struct op_plan_options options;
    const struct op_plan **op_plans;        /* the plan of each operation of the graph; equal operations share a plan */
    struct layer_cost *layers;
    const struct tensor_room *tensors;      /* the bytes of each tensor of the graph */
};
/* bytes: the bytes of a tensor; lying_bytes: the bytes if every tile held as much of it as the fullest tile does. Results lie where their plan
 * computed them. */
struct tensor_room { uint64_t bytes, lying_bytes; };
const struct tensor_room *tensor_rooms(const struct graph *g, const struct op_plan *const *op_plans, struct arena *a);

struct tied_use { uint32_t layer_id, tensor_id; };      /* a layer that reads a weight of another layer */
typedef bool layer_test(const void *user, uint32_t layer_id);

/* Compiles on demand and remembers the results, so that a sweep over configurations of one graph on one machine pays for each layer and each
 * collective only once. compiler_start() sets it up; callers may then set the optional fields. */
struct compiler {
    /* Set by the caller; they outlive the compiler. */
    const struct graph *graph;
    const struct topology *topology;
    const struct chip *chip;                    /* the topology's chip, set by compiler_start() */
    struct plan_cache *cache;
    struct arena *arena;                        /* owns all artefacts that are compiled */
    const struct chip *splits_of;               /* optional: the chip whose splits all plans take (op_plan_options.splits_of) */
    const struct watch *watch;                  /* optional: told of operations as they are planned */
    const uint32_t *alike;                      /* optional: compile_equal_ops() of the graph; NULL: each operation is planned by itself */
    const struct layer_cost *layers;            /* optional: layer_costs_unplanned() of the graph; NULL: made on demand */
    struct compiler *of_graph;                  /* optional: compiler_of_graph(), which remembers what follows from the graph alone; NULL: itself */
    struct compiler *of_chip;                   /* optional: compiler_of_chip(), which compiles operations for all topologies of one chip; NULL: itself */
    /* Found in the graph by compiler_start(). */
    uint32_t *weights; uint32_t n_weights;      /* tensors that are weights */
    uint64_t input_numbers;                     /* graph_input_numbers() */
    uint32_t *spanning; uint32_t n_spanning;    /* operations that exchange something with neighbouring replicas */
    struct tied_use *tied; size_t n_tied, cap_tied;
    /* Results made so far: `memo` has parts, which many plans share, and `plans` has whole plans. The functions that make them may read the
     * compiler. */
    struct memo memo, plans;
    const struct compiled **variants; size_t n_variants, cap_variants;
    struct hash_table codes;
    struct collective_cache collective_cache;
};
/* True if c->tied[i] is the first use of its weight among the layers for which is_here() holds. They share one copy of the weight, however many read
 * it. */
bool tied_is_first(const struct compiler *c, size_t i, layer_test *is_here, const void *user);
void compiler_start(struct compiler *c, const struct graph *g, const struct topology *t, struct plan_cache *cache, struct arena *a);
/* Sets up a compiler that compiles nothing. It remembers what follows from the graph alone, for all compilers of that graph, whatever their
 * topology. */
void compiler_of_graph(struct compiler *c, const struct graph *g, struct arena *a);
/* Sets up a compiler without a topology, which plans operations for all compilers of this graph whose chips have equal values. */
void compiler_of_chip(struct compiler *c, const struct graph *g, const struct chip *chip, struct plan_cache *cache, struct arena *a);
void compiler_forget(struct compiler *c);       /* drops all remembered results; pointers to them stay valid */

/* For each operation, the first operation that gets the same plan if its operands have the same layout. The layers of most models repeat. */
const uint32_t *compile_equal_ops(const struct graph *g, struct arena *a);
/* The graph compiled with these options. Equal options give the same object. */
const struct compiled *compile_graph(struct compiler *c, const struct op_plan_options *opt);

const enum ahead *compile_ahead(struct compiler *c);      /* layer_costs.c: graph_for_later_layers(), remembered */

/* collective_run(), remembered. kind and method are enum collective_kind and collective_method. */
MEMO_INPUT(collective_question, uint32_t kind, method, unfolded, full_routes; struct rank_pattern ranks; uint64_t n_in_use; double bytes, port_bytes;);
bool compile_collective(struct collective_cost *out, struct compiler *c, const struct collective_question *q, struct err *err);

/* The cost, remembered, of flows that n_replicas send at the same time. `flows` are those of replica 0; each next replica is `width` IPUs further. */
struct flows_cost { double time_s, busiest_bytes[N_LINK_KINDS]; };
bool compile_flows(struct flows_cost *out, struct compiler *c, const struct flow *flows, size_t n, uint32_t n_replicas, uint32_t width,
                   struct err *err);

/* n compiled layers from `first` on. The ranges of one IPU are summed together. */
MEMO_INPUT(layer_range, struct owned compiled; uint32_t first, n;);
/* The code of operations with equal plans: one copy each, or one shared copy that they call. CODE_SHARED_BY_VALUE: each call also copies its
 * inputs. */
enum code_sharing { CODE_OWN, CODE_SHARED, CODE_SHARED_BY_VALUE };
/* image_code: an exchange between convolutions with different layouts has one instruction for each piece, because it is optimized for cycles and
 * not for code size. */
struct code_options { enum code_sharing sharing; bool image_code; };
/* The program on a tile besides its data (program_code.c). */
struct program_bytes compile_program(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges, struct code_options options);
/* vector_work_plan(), remembered. */
const struct op_plan *compile_vector_work(struct compiler *c, enum vector_work work, uint64_t n_elements, enum data_type type, double moment_bytes,
                                          const struct op_plan_options *opt);
/* The cycles of work over all weights of the layers, tensor by tensor. Compute cycles count as `part`. Optimizers are not priced here, as their
 * moments are not given. */
struct cycles compile_weight_work(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges, enum vector_work work,
                                  enum part part);

#endif
