/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.h - the decisions of one step: which layer runs on which IPU, what each stage costs, in which order micro-batches run, which
 * collectives follow, what each tile holds. All of it is settled before time starts.
 *
 * A request (plan_request.h) becomes stages (placement.c), tasks and runs of the pipeline (pipeline.c), the weight update (update.c), the
 * host's call (call.c) and memory (memory.c), in this order; plan.c puts them together, and less_memory.c tries again what does not fit.
 */
#ifndef PLAN_H
#define PLAN_H
#include "system-model/plan/plan_request.h"
#include "system-model/plan/update.h"

/* ---- placement.c: stages ----------------------------------------------------------------- */

/* The bytes of a task while one operation works (stage_moments.c): waiting_bytes of its stash that it has not read yet; live_bytes of live
 * tensors, counted as if all tiles were as full as the fullest one; temporaries of the operation on the fullest tile. */
struct stage_moment { uint64_t waiting_bytes, live_bytes, temp_bytes_per_tile; };
/* A layer of a stage: its part of a micro-batch's stash (the first layer also counts the stage's input), and for each task_kind the moment at
 * which the layer needs most memory. */
struct stage_layer { uint64_t stash_bytes; struct stage_moment moments[2]; };

struct stage_plan {
    uint32_t ipu;                       /* number of the IPU within the replica */
    uint32_t first_layer, n_layers;
    const struct compiled *compiled;
    struct cycles phase_cycles[2];      /* by task_kind: cycles of a phase before its micro-batches, once in a step; see phases.c */
    struct cycles forward, backward;    /* cycles of one micro-batch; backward includes recomputation and the accumulation of gradients */
    uint64_t forward_cycles, backward_cycles;   /* sums over the parts */
    uint64_t recompute_cycles;          /* the part of backward_cycles that is recomputation */
    uint32_t n_layers_again;            /* the first n_layers_again layers are recomputed before their backward pass */
    uint64_t op_cycles, off_amp_cycles, codelet_cycles;     /* sums over its layers */
    uint64_t forward_mac, backward_mac, recompute_mac;
    struct energy energy;               /* one micro-batch, both passes, with recomputation */
    uint64_t n_parameters, n_spread;    /* n_spread: those in tables whose rows are spread over the replicas */
    uint64_t n_copied, weight_bytes;    /* n_copied: elements of tied weights that belong to another IPU; weight_bytes includes their copies */
    uint64_t output_bytes;              /* activations handed to the next stage, one micro-batch */
    uint64_t stash_bytes, kept_input_bytes;     /* activations, and inputs from the host, kept for one micro-batch in flight */
    uint64_t cache_bytes;               /* states of one micro-batch that stay on the chip from one call to the next */
    uint64_t activation_bytes;          /* the most bytes of live tensors in a task, including its own stash */
    uint64_t received_bytes[2];         /* bytes from a neighbour for one micro-batch, by task_kind */
    struct stage_layer *layers;         /* by layer of the stage */
    uint32_t stash_depth;               /* micro-batches in flight */
    uint64_t host_bytes, result_bytes;  /* host_bytes: input of one micro-batch; result_bytes: its results that no operation reads */
    uint64_t n_arrivals, n_results;     /* n_arrivals: operations that are the first to read some input of the host */
};
static inline uint32_t stage_end(const struct stage_plan *s) { return s->first_layer + s->n_layers; }   /* the layer after its last */
static inline uint64_t stage_link_cycles(const struct cycles *c) { return c->part[PART_ALL_REDUCE] + c->part[PART_ACTIVATIONS] + c->part[PART_STREAMING]; }     /* cycles that a slow chip does not lengthen */
void stage_sum_cycles(struct stage_plan *s);                /* fills forward_cycles and backward_cycles */

/* Activations and gradients that a phase loads from the memory off the chip and stores there for one micro-batch, by task_kind; 0 if they stay on the chip. */
struct phase_moves { uint64_t loaded[2], stored[2], cache, caches; };        /* cache: bytes of states that come and go with a call; caches: their number */
/* Bytes that a phase moves (phases.c). weights: weights that it reads, on one IPU. local_weights: the shards of those weights that a replica
 * keeps. between: the most bytes that one of its gathers brings from other groups (gathers_between()). updates_at_once: the backward phase has the
 * optimizer's state and updates its weights; their gradients do not leave the chip. */
struct phase_bytes { uint64_t weights, local_weights, local_elements, between, updates_at_once; struct phase_moves moves; };

/* ---- pipeline.c: tasks, runs, copies ------------------------------------------------------ */

/* A stage's forward or backward pass of one micro-batch. It runs in every cycle of the pipeline from first_cycle on, once for each
 * micro-batch, in the given slot. Slots of a cycle run one after the other; within a slot the IPUs run side by side, and the tasks of one
 * IPU one after the other. */
enum task_kind { TASK_FORWARD, TASK_BACKWARD };
struct task { uint32_t stage; enum task_kind kind; uint32_t first_cycle, slot; uint64_t n_cycles; };

/* Everything that moves between the IPUs after a slot, at the same time. */
struct stage_copy { uint64_t cycles; double busiest_bytes[N_LINK_KINDS]; };     /* bytes on the busiest link of each kind */

/* Consecutive cycles in which the same tasks are at work. Tasks are in the order in which they begin, and all take equally many cycles, so the
 * tasks at work are neighbours in the list. */
struct pipeline_run {
    uint32_t first_cycle, n_cycles;
    uint32_t first_task, end_task;
    const struct cycles *load; uint64_t load_cycles;    /* load: the cycles in which a phase loads its weights, once, before its first task, or NULL without phases; load_cycles: the sum of load */
    struct stage_copy *copies;                  /* copies of each cycle, by slot */
    uint64_t copy_cycles;                       /* the sum over copies */
};

/* ---- call.c: the host's time while the chips wait, a step's share of it -------------------- */

enum call_part {
    CALL_LATENCY,                       /* one message to the chip and one back */
    CALL_RUN,                           /* starting the engine, and waiting until it is done */
    CALL_FRAMEWORK,                     /* the framework's calls: arguments, checks, fresh outputs */
    CALL_UNEXPLAINED,                   /* a part of training calls of large models for which no source names a cause */
    CALL_DATA,                          /* preparing the input, unless another thread does, and copying it to another layout or type */
    CALL_FIRST_FETCH,                   /* the first micro-batch, which nothing has prefetched */
    CALL_LOADER,                        /* the loader makes the batch of a run's first step; shared by the steps that are timed */
    CALL_OUTPUTS,                       /* results to the program; averages over the host's processes */
    CALL_WEIGHTS,                       /* reading weights back to the host, where the program touches them */
    CALL_UPLOAD,                        /* optimizer values to the chips */
    N_CALL_PARTS
};
extern const char *const call_part_names[N_CALL_PARTS];

/* ---- memory.c: bytes on the fullest tile, by category ---------------------------------------- */

enum memory_category {
    MEMORY_WEIGHTS, MEMORY_ACCUMULATORS, MEMORY_OPTIMIZER, MEMORY_STASH, MEMORY_IO_BUFFERS,
    MEMORY_ACTIVATIONS, MEMORY_TEMPORARIES, MEMORY_GAPS,    /* activations and temporaries at the schedule's worst moment, and the gaps between them */
    MEMORY_VERTEX_CODE, MEMORY_VERTEX_STATE, MEMORY_VERTEX_FIELDS, MEMORY_CONTROL_CODE, MEMORY_EXCHANGE_CODE, MEMORY_STACK,
    N_MEMORY_CATEGORIES
};
extern const char *const memory_category_names[N_MEMORY_CATEGORIES];
struct tile_memory {
    uint64_t bytes[N_MEMORY_CATEGORIES];
    uint64_t io_tile_bytes, total_bytes;    /* total_bytes: on the fuller of the two kinds of tile */
    uint64_t end_bytes;                     /* the address behind the last byte in use (chip_end_of_memory()): this must not exceed the tile's memory */
};

/* ---- streaming.c: memory off the chip --------------------------------------------------------- */

enum off_chip_category { OFF_CHIP_WEIGHTS, OFF_CHIP_GRADIENTS, OFF_CHIP_STATE, OFF_CHIP_ACTIVATIONS, OFF_CHIP_CACHE, N_OFF_CHIP };
extern const char *const off_chip_names[N_OFF_CHIP];
struct off_chip {
    double bytes[N_OFF_CHIP];           /* by place: bytes of the IPU that has the most */
    double board_bytes, capacity_bytes; /* board_bytes: of all IPUs in use on a board; capacity_bytes: 0 for the host's memory, whose size is unknown */
    bool overflows;
};

/* ---- the plan ------------------------------------------------------------------------------- */

struct plan {
    const struct graph *graph;
    const struct topology *topology;
    struct plan_request request;
    uint64_t input_numbers;             /* graph_input_numbers() */
    const bool *named_checkpoints;      /* by layer: true if the recipe names it a checkpoint; NULL if it names none; owned by the memo */
    uint32_t n_stages;
    struct stage_plan *stages;
    const struct stage_plan *placed;    /* the memo's copy of the stages, without stash depths; NULL if the stages were made by hand */
    uint32_t n_tasks, n_slots;
    struct task *tasks;
    uint32_t n_runs;
    struct pipeline_run *runs;
    uint64_t *io_cycles, *result_cycles;        /* by stage. io_cycles: of a micro-batch's input at the host port, or between I/O tiles and the others; result_cycles: of its results on the same way */
    uint64_t fetch_cycles;              /* time that the replica waits for each micro-batch's host exchange, besides the transfer of its bytes */
    uint64_t overlapped_input_cycles;   /* time in which the host port moves a micro-batch while the chips work; 0 without I/O tiles */
    uint64_t host_floor_cycles;         /* a lower bound of the step: network and decoding of its input, and the port that fills I/O tiles */
    struct update_program update;
    uint64_t call_cycles[N_CALL_PARTS];
    const struct tile_memory *memory;   /* memory by IPU; NULL if it is not counted */
    uint32_t worst_ipu;
    const struct phase_bytes *phases;   /* the bytes that each phase moves, owned by the memo; NULL: weights stay on the chip */
    struct off_chip off_chip;
    bool fits;                          /* true if the plan fits the chip and the memory off it */
    uint64_t shortfall_bytes;           /* missing bytes on the fullest tile */
    uint64_t global_batch;              /* micro_batch * grad_accum * plan_data_replicas() */
    uint64_t n_parameters;
    struct energy energy;               /* the energy of a step's work, one replica */
    uint64_t model_mac, hardware_mac;   /* multiply-accumulates of one micro-batch of one replica; hardware_mac includes recomputation */
};

/* Decides everything for one step. A plan that does not fit the memory is a success with `fits` false. Fails on requests that no program can meet,
 * and on a step of MOST_CYCLES or more. The plan points into the compiler. */
bool plan_build(struct plan *out, struct compiler *c, const struct plan_request *request, struct arena *a, struct err *err);
/* plan_build() without memory, work and energy, for the timeline alone. */
bool plan_time(struct plan *out, struct compiler *c, const struct plan_request *request, struct arena *a, struct err *err);
/* Builds `first`, a plan that does not fit, again with smaller shares of memory for temporaries on the IPUs that are too full. out->request has
 * the shares. False if no shares make it fit. */
bool plan_with_less_memory(struct plan *out, struct compiler *c, const struct plan *first, struct arena *a);

/* ---- plan_query.c: what follows from a request or a plan ----------------------------------- */

double plan_available_memory(const struct plan_request *r, uint32_t ipu);   /* an IPU's share of tile memory for temporaries */
double share_of_ipu(const double *shares, uint32_t n, uint32_t ipu);        /* share_of_ipu() of a list of n shares */
uint32_t plan_tensor_replicas(const struct plan_request *r);    /* replicas that compute one copy of the model together; 1 without tensor parallelism */
uint32_t plan_activation_shards(const struct plan_request *r);  /* replicas of one copy of the model that hold the same result of a layer: those along the first axis */
uint32_t plan_data_replicas(const struct plan_request *r);      /* copies of the model, each with samples of its own */
bool plan_is_phased(const struct plan_request *r);              /* weights are off the chip; stages are phases */
bool plan_keeps_statistics(const struct plan_request *r);      /* statistics that replicas share are not recomputed */
/* True if a program in phases gathers from all replicas between the n members of a group, which are `stride` apart, and then keeps only the
 * group's data. A program gathers from the group alone if the members are neighbours, one in each domain, or go once round a torus
 * (graphcore/popxl-addons 7499fca ops/replicated_strided_collectives/mgcl.cpp: ringSupported, maskedAllGather). */
bool gathers_between(const struct topology *t, uint32_t n, uint32_t stride);
/* The bytes a second between an IPU and the memory off the chip, if n_moving IPUs of its board move data at the same time. s_per_byte is
   fitted.streaming_s_per_byte. */
double remote_rate(const struct machine *m, uint64_t n_moving, uint64_t n_in_use, double s_per_byte);
double plan_remote_rate(const struct plan *p);                  /* bytes a second of an IPU if all IPUs in use move data */
uint64_t plan_io_copy_cycles(const struct plan *p, uint64_t n_bytes);   /* cycles of a copy between I/O tiles and those that compute */
bool plan_keeps_gradients(const struct plan_request *r);    /* true if gradients are summed over micro-batches, or wait to be reduced */
bool plan_streams(const struct plan_request *r, uint64_t n_elements);       /* moments of a tensor of this size are in streaming memory */
uint64_t plan_port_bytes(const struct plan *p, uint32_t stage);     /* the part of a micro-batch's input that crosses the host's port */
uint64_t plan_result_bytes(const struct plan *p, uint32_t stage);   /* the part of a micro-batch's results that crosses the host's port: all in inference, next to nothing in other programs */
bool plan_requests_overlap(const struct plan_request *r);   /* inference: a request is made before the one before it has been answered */
bool plan_is_buffered(const struct plan_request *r);        /* the host fills and empties streams before the chips ask for it */
bool plan_returns_each_micro_batch(const struct plan_request *r);   /* true if every micro-batch's results go to the host; with synthetic data none do */
uint64_t plan_process_replicas(const struct plan_request *r);       /* replicas of the host process that has most */
uint64_t plan_parameters(const struct plan *p);                     /* parameters of a replica, over all stages */
uint64_t plan_own_parameters(const struct plan *p);                 /* the number of parameters without tables whose rows are spread over the replicas */
double plan_process_bytes(const struct plan *p);                    /* input of one micro-batch for all replicas of the host process that has most */
double plan_preparing_cores(const struct plan_request *r);          /* cores that prepare the input of one process at once; infinite if no limit is known */
double plan_preparing_s(const struct plan *p);                      /* time in which one core prepares the input of one process for a step; 0 in an evaluation */
double plan_feeding_s(const struct plan *p);                        /* the least time in which one process feeds its replicas for a step, if it works ahead */
const struct stage_plan *plan_stage_of(const struct plan *p, uint32_t layer_id);
const struct stage_plan *stage_holding(const struct stage_plan *stages, uint32_t n, uint32_t layer_id);
uint32_t ipu_layers(struct layer_range *ranges, const struct stage_plan *stages, uint32_t n, uint32_t ipu);     /* lists the ranges of layers on an IPU, at most MAX_STAGES, and returns how many there are */
bool is_checkpoint(const struct graph *g, enum recompute recompute, const bool *named, uint32_t layer_id);      /* true if the layer's output is kept until backward */
/* How many of n replicas' traffic must be played. One domain stands for all, unless groups of n_ipus do not fill it evenly, or `each` is set,
 * because of a fault or because nothing is folded. A replica has `width` IPUs. */
uint32_t played_replicas(const struct topology *t, uint32_t n, uint32_t width, bool each, uint32_t n_ipus);
uint32_t plan_played_replicas(const struct plan *p, uint32_t n_ipus);
uint64_t plan_sharing_ipus(const struct plan *p, uint64_t n_ipus);  /* how many of n IPUs behind one port or memory are in use */
uint32_t plan_shard_replicas(const struct plan *p);         /* replicas that share one copy of the optimizer state; 1 without rts */
/* Bytes needed on a tile. certain_bytes is the part that is known exactly: weights, gradients, optimizer state, stash and inputs. */
struct memory_need { uint64_t certain_bytes, needed_bytes; };
/* The chance that the need fits on a tile, if the uncertain bytes are off by a factor whose logarithm has the standard deviation `error`. With no
 * error it is 1 or 0. */
double memory_fits_probability(uint64_t tile_bytes, struct memory_need n, double error);
struct memory_need plan_memory_need(const struct plan *p, double error);    /* the need of the IPU that is least likely to fit */
double plan_fits_probability(const struct plan *p, double error);           /* the chance that the program fits on the IPU that is least likely to fit */
struct memory_need plan_counted_bytes(const struct plan *p, uint32_t ipu);  /* the bytes on the fullest tile of an IPU; needed_bytes leaves out the room that alignment loses */
/* The most bytes that have arrived from neighbours and wait for the stage's tasks. */
uint64_t plan_waiting_bytes(const struct plan *p, const struct stage_plan *s);
uint64_t update_cycles(const struct plan *p, uint32_t ipu, enum update_kind kind);  /* over all tensors of the IPU; merged steps count for every IPU */

/* ---- steps of plan_build(), in order ---------------------------------------------------------- */

/* stage_exchange.c: adds the collectives of one operation of the stage (op_exchange()), which all groups of neighbouring replicas run side by side. n_replicas: of
 * width IPUs each; each, unfolded: see played_replicas() and struct collective_request. */
struct exchange_place { uint32_t n_replicas, width; bool each, unfolded, keeps_statistics; };
bool stage_exchange(struct stage_plan *s, struct compiler *c, uint32_t op_id, const struct exchange_place *at, bool again, struct err *err);
void stage_calls(struct stage_plan *s, struct compiler *c);      /* stage_calls.c: adds the copies of calls of shared code; recomputation must be known */
bool plan_place(struct plan *p, struct compiler *c, struct arena *a, struct err *err);
bool plan_pipeline(struct plan *p, struct compiler *c, struct arena *a, struct err *err);
bool plan_update(struct plan *p, struct compiler *c, struct err *err);
/* phases.c: plans the moves of weights that are off the chip; does nothing if weights stay on it */
bool plan_phases(struct plan *p, struct compiler *c, struct err *err);
void plan_off_chip(struct plan *p);
/* Checks that a board's memory holds the state of all its IPUs in use. Each IPU is taken to have as much as the fullest one. */
bool plan_check_streaming(const struct plan *p, struct err *err);
void plan_call(struct plan *p);
void plan_memory(struct plan *p, struct compiler *c);
/* Returns, by layer, the bytes left for temporaries on the fullest tile. Always-live data, and activations that live while the layer works, are subtracted
 * from the tile's memory. */
const double *plan_layer_rooms(const struct plan *p, struct arena *a);
/* Bytes that a layer needs on a tile of its IPU. held_bytes: weights, gradients, optimizer state; stash_bytes: micro-batches in flight;
 * work_bytes: its worst moment, which layers have one after another. */
struct layer_memory { uint64_t held_bytes, stash_bytes, work_bytes; };
const struct layer_memory *plan_layer_memory(const struct plan *p, struct arena *a);     /* memory by layer of the graph */

/* ---- plan_print.c ----------------------------------------------------------------------------- */

struct document;
/* Prints placement, cost by stage, and memory; if `whole`, also the pipeline, the weight update, the call and every operation. */
void plan_document(struct document *d, const struct plan *p, bool whole);
void plan_update_document(struct document *d, const struct plan *p);       /* the update by IPU, and the call */
void plan_tensors_document(struct document *d, const struct plan *p);      /* each step of the update of each kind of tensor, and the call */

#endif
