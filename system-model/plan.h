/*
 * plan.h - decisions: which layer on which IPU, what each stage costs, what each tile holds, in which order
 * micro-batches run, which collectives follow. Everything here is settled before time starts.
 */
#ifndef PLAN_H
#define PLAN_H
#include "system-model/graph.h"
#include "system-model/op_plan.h"
#include "system-model/topology.h"

enum { MAX_STAGES = 64, MAX_CHECKPOINTS = 64 };

enum schedule { SCHEDULE_NONE, SCHEDULE_SEQUENTIAL, SCHEDULE_GROUPED, SCHEDULE_INTERLEAVED, SCHEDULE_POPART, N_SCHEDULES };
enum recompute { RECOMPUTE_NONE, RECOMPUTE_STAGE, RECOMPUTE_LAYER, RECOMPUTE_CHECKPOINTS, N_RECOMPUTES };
enum optimizer_place { OPTIMIZER_ON_CHIP, OPTIMIZER_STREAMING };
enum rts { RTS_NO, RTS_YES };
enum rts_domain { RTS_DOMAIN_ALL, RTS_DOMAIN_POD };
extern const char *const schedule_names[N_SCHEDULES + 1];       /* NULL-ended, as field tables want */
extern const char *const recompute_names[N_RECOMPUTES + 1];

/* How many block parts a stage holds: layer i of kind part p belongs to the stage where the count of part-p layers
 * reaches it. "7/6" is {7, 6}: seven attention halves and six feed-forward halves; "7" is {7, 7}. */
struct stage_size { uint32_t part_count[2]; };

struct optimizer {
    enum vector_work work;              /* the update's arithmetic */
    double state_bytes_per_param;       /* all moments together */
    bool needs_norms;                   /* LARS, LAMB: norms of weight and update, over shards too */
};

struct plan_options {
    bool training;
    uint32_t n_replicas, ipus_per_replica;
    uint32_t grad_accum;                /* micro-batches a weight update; inference: micro-batches a call */
    struct stage_size stage_sizes[MAX_STAGES];
    uint32_t n_stages;                  /* 0: one stage, or an even split over ipus_per_replica. Stage i is on IPU i mod ipus_per_replica */
    enum schedule schedule;
    enum recompute recompute;
    const char *checkpoints[MAX_CHECKPOINTS];   /* RECOMPUTE_CHECKPOINTS: names of layers whose output is kept */
    uint32_t n_checkpoints;
    enum data_type stash_type;
    enum optimizer_place optimizer_place;
    enum rts rts;
    enum rts_domain rts_domain;
    uint32_t io_tiles;
    double available_memory[MAX_STAGES];        /* by IPU of the replica; the last given value repeats */
    uint32_t n_available_memory;
    enum partials_type partials;
    struct optimizer optimizer;
    enum collective_method all_reduce_method;
    uint32_t n_hosts;
    double host_call_s;                 /* what the host takes between two calls of the session */
    double steps_per_call;              /* weight updates in one call; 0: the whole run is one call */
    double host_decode_bytes_per_s;     /* one host's input pipeline; 0: not a limit */
    const struct faults *faults;        /* NULL: none */
    bool unfolded;                      /* simulate every replica instead of one for all that are alike */
};

/* ---- cycles, by what they are spent on; the parts of a breakdown --------------------- */

enum part {
    PART_MATMUL, PART_CONV, PART_NORM, PART_ELEMENTWISE, PART_SOFTMAX, PART_EMBEDDING, PART_POOLING, PART_LSTM, PART_LOSS,
    PART_REARRANGE,
    PART_EXCHANGE, PART_SYNC,
    PART_STAGE_COPY,                    /* activations and gradients between the replica's IPUs */
    PART_BUBBLE,                        /* waiting: fill, drain, uneven stages, slower chips */
    PART_ACCUMULATE,
    PART_ALL_REDUCE, PART_OPTIMIZER,
    PART_STREAMING,                     /* optimizer state to and from streaming memory */
    PART_HOST,                          /* input that is not hidden, barriers */
    N_PARTS
};
extern const char *const part_names[N_PARTS];
struct cycles { uint64_t part[N_PARTS]; };
uint64_t cycles_total(const struct cycles *c);
void cycles_add(struct cycles *to, const struct cycles *c, uint64_t times);
void cycles_add_plan(struct cycles *to, const struct op_plan *p, enum part part);   /* compute to part; exchange and sync to theirs */

/* ---- memory of the worst tile, by region ----------------------------------------------- */

enum region {
    REGION_WEIGHTS, REGION_ACCUMULATORS, REGION_OPTIMIZER, REGION_STASH, REGION_CODE, REGION_IO_BUFFERS,
    REGION_ACTIVATIONS, REGION_TEMPORARIES,     /* not always live: their peak over the schedule */
    N_REGIONS
};
extern const char *const region_names[N_REGIONS];
struct tile_memory { uint64_t bytes[N_REGIONS]; uint64_t io_tile_bytes, total_bytes; };     /* total: of the fuller kind of tile */

/* ---- compile.c: what each layer costs on this chip ---------------------------------------- */

/* One layer, one micro-batch. Sums over its operations' plans. */
struct layer_cost {
    struct cycles forward, backward;
    uint64_t forward_mac, backward_mac, slices_mac;     /* slices: done again, slice by slice, for the backward pass */
    uint64_t n_parameters;                  /* trainable elements */
    uint32_t n_weight_tensors;
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
    struct op_plan *op_plans;               /* one an operation of the graph */
    struct layer_cost *layers;
};

/* Compiles on demand and remembers, so that a sweep over configurations of one graph on one machine
 * pays for each layer and each collective once. */
struct compiler {
    const struct graph *graph;
    const struct topology *topology;
    struct plan_cache *cache;
    struct arena *arena;
    struct compiled *variants[MAX_STAGES]; uint32_t n_variants;
    struct collective_memo *collectives; size_t n_collectives, cap_collectives;
    struct flows_memo *flows; size_t n_flows, cap_flows;
    uint32_t *spanning; uint32_t n_spanning;    /* operations that gather statistics over neighbouring replicas */
    struct tied_use { uint32_t layer_id, tensor_id; } *tied; size_t n_tied, cap_tied;  /* weights that another layer than their own reads */
    struct range_memo *sums; size_t n_sums, cap_sums;
};
void compiler_start(struct compiler *c, const struct graph *g, const struct topology *t, struct plan_cache *cache, struct arena *a);
const struct compiled *compile_graph(struct compiler *c, const struct op_plan_options *opt, struct err *err);
/* collective_run, remembered by its arguments. */
bool compile_collective(struct collective_cost *out, struct compiler *c, const struct collective_request *req, struct err *err);
/* Flows of replica 0, made by n_replicas at the same time, each `width` IPUs after the one before; remembered likewise. */
struct flows_cost { double time_s, busiest_bytes[N_LINK_KINDS]; };
bool compile_flows(struct flows_cost *out, struct compiler *c, const struct flow *flows, size_t n, uint32_t n_replicas, uint32_t width,
                   struct err *err);
/* Layers n from first on, as compiled; code of several such ranges on one IPU: operations with equal plans share it. */
struct layer_range { const struct compiled *compiled; uint32_t first, n; };
uint64_t compile_code_bytes(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges);
/* Vector work over all their weights, tensor by tensor; of a tensor of at least SHARDED_ELEMENTS one of n_shards (PopART's
 * threshold for replicated tensor sharding). Compute goes to part; exchange and sync to theirs. */
enum { SHARDED_ELEMENTS = 8192 };
struct range_question { bool code; enum vector_work work; uint64_t n_shards; enum part part; };
struct cycles compile_weight_work(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges, enum vector_work work,
                                  uint64_t n_shards, enum part part);
/* Seconds on this chip's clock, rounded up. */
uint64_t cycles_of(const struct topology *t, double time_s);

/* ---- the plan -------------------------------------------------------------------------- */

struct stage_plan {
    uint32_t ipu;                       /* within the replica */
    uint32_t first_layer, n_layers;
    const struct compiled *compiled;
    struct cycles forward, backward;    /* one micro-batch; backward holds recomputation and gradient accumulation */
    uint64_t recompute_cycles;          /* of backward */
    uint32_t n_layers_again;            /* so many of its first layers are computed again before their backward pass */
    uint64_t forward_mac, backward_mac, recompute_mac;
    uint64_t n_parameters, weight_bytes;    /* bytes: with copies of tied weights that live on another IPU */
    uint32_t n_weight_tensors;
    uint64_t output_bytes;              /* activations handed to the next stage, one micro-batch */
    uint64_t stash_bytes;               /* kept for one micro-batch in flight */
    uint32_t stash_depth;               /* micro-batches in flight */
    uint64_t host_bytes;                /* one micro-batch */
};

/* One task: a stage's forward or backward of one micro-batch. In the pipeline it runs in every cycle from
 * first_cycle on, once a micro-batch, in the given slot; slots of a cycle run one after the other, and
 * within a slot IPUs run side by side, the tasks of one IPU one after the other. */
enum task_kind { TASK_FORWARD, TASK_BACKWARD };
struct task { uint32_t stage; enum task_kind kind; uint32_t first_cycle, slot; uint64_t n_cycles; };

/* Cycles in which the same tasks are at work; the pipeline as a run-length code. */
struct pipeline_run {
    uint32_t first_cycle, n_cycles;
    uint64_t active;                            /* bit mask over tasks */
    uint64_t copy_cycles;                       /* after each cycle */
    double busiest_bytes[N_LINK_KINDS];         /* of one copy, on the busiest link of each kind */
};

/* What follows the accumulated micro-batches, once a step; by IPU of the replica. */
struct update_plan {
    uint64_t gradient_cycles, weight_cycles;    /* collectives: reduce and, with rts, gather of the new weights */
    uint64_t norm_cycles;                       /* small all-reduces of norms over shards */
    struct cycles optimizer;
    uint64_t streaming_cycles;
    uint64_t host_cycles;                       /* the step's barrier with the host */
};

struct plan {
    const struct graph *graph;
    const struct topology *topology;
    struct plan_options options;
    uint32_t n_stages;
    struct stage_plan *stages;
    uint32_t n_tasks, n_slots;
    struct task *tasks;
    uint32_t n_runs;
    struct pipeline_run *runs;
    uint64_t *io_cycles;                /* by stage: reading one micro-batch's input from the host port, where not overlapped */
    uint64_t host_floor_cycles;         /* the step cannot be shorter: network and decoding of its input */
    struct update_plan *update;         /* by IPU */
    struct collective_cost gradient_collective, weight_collective;
    struct tile_memory *memory;         /* by IPU */
    uint32_t worst_ipu;
    bool fits;
    uint64_t shortfall_bytes;           /* of the worst tile */
    uint64_t global_batch;              /* micro_batch * grad_accum * n_replicas */
    uint64_t n_parameters;
    uint64_t model_mac, hardware_mac;   /* one micro-batch of one replica; hardware: with recomputation */
};

bool plan_build(struct plan *out, struct compiler *c, const struct plan_options *opt, struct arena *a, struct err *err);
void plan_print(FILE *f, const struct plan *p);
bool is_checkpoint(const struct plan *p, uint32_t layer_id);    /* its output is kept between forward and backward */
uint64_t stage_input_bytes(const struct stage_plan *s);     /* what earlier stages hand it, one micro-batch */
const struct stage_plan *stage_of(const struct plan *p, uint32_t layer_id);
uint32_t ipu_layers(struct layer_range *ranges, const struct plan *p, uint32_t ipu);  /* of its stages, room for MAX_STAGES; how many */
/* Replicas whose traffic has to be played: those of one domain stand for all, unless groups of n_ipus do not fill it evenly, or
 * something is at fault, or nothing is to be folded. */
uint32_t played_replicas(const struct plan *p, uint32_t n_ipus);
uint64_t sharing_ipus(const struct plan *p, uint64_t n_ipus);  /* of n IPUs behind one port or memory, those in use */
uint32_t shard_replicas(const struct plan *p);      /* replicas that share one copy of the optimizer state; 1 without rts */

/* The stages of a plan, one file each: */
bool plan_place(struct plan *p, struct compiler *c, struct arena *a, struct err *err);     /* placement.c: layers on stages on IPUs */
bool plan_pipeline(struct plan *p, struct compiler *c, struct arena *a, struct err *err);  /* pipeline.c: tasks, cycles, copies, input */
bool plan_update(struct plan *p, struct compiler *c, struct arena *a, struct err *err);    /* update.c: collectives, optimizer, streaming */
void plan_memory(struct plan *p, struct compiler *c, struct arena *a);                    /* memory.c: bytes of the worst tile */

/* ---- timeline.c: the plan played against the clock ---------------------------------------- */

/* One stretch of time on one IPU; it recurs `repeat` times, `period_cycles` apart. */
struct span {
    uint32_t row;                       /* into timeline.rows */
    uint32_t repeat;
    uint64_t start_cycle, n_cycles, period_cycles;
    uint16_t stage;                     /* UINT16_MAX: none */
    uint16_t kind;                      /* enum span_kind */
    uint32_t which;                     /* forward, backward: its first micro-batch; copy: the run it belongs to */
};
enum span_kind { SPAN_FORWARD, SPAN_BACKWARD, SPAN_COPY, SPAN_INPUT, SPAN_WAIT, SPAN_REDUCE, SPAN_OPTIMIZER, SPAN_STREAMING,
                 SPAN_GATHER, SPAN_HOST, N_SPAN_KINDS };
extern const char *const span_kind_names[N_SPAN_KINDS];

/* A row is one IPU of one replica; it stands for that IPU in n_alike replicas that do the same (1 when unfolded). */
struct timeline_row { uint32_t replica, ipu; uint32_t n_alike; struct cycles spent; };      /* spent sums to step_cycles */

struct timeline {
    const struct plan *plan;
    uint64_t step_cycles;
    uint64_t first_output_cycles;       /* when the first micro-batch has left the last stage: inference latency */
    struct span *spans; size_t n_spans, cap_spans;
    struct timeline_row *rows; uint32_t n_rows;
};
bool timeline_run(struct timeline *out, const struct plan *p, struct arena *a, struct err *err);
void timeline_print(FILE *f, const struct timeline *t);
/* What one recurrence of a span was spent on; all of a row's spans sum to its `spent`. */
struct cycles span_parts(const struct timeline *t, const struct span *s);
bool timeline_write_trace(FILE *f, const struct timeline *t, struct err *err);  /* Chrome trace event JSON; refuses what no viewer opens */
void timeline_write_csv(FILE *f, const struct timeline *t);     /* a row a span, recurring ones each time */
/* The first replica as a picture of n_columns: a line a chip, A B C.. the forward passes of micro-batches, a b c.. the backward
 * ones, - copies, # what follows the micro-batches, . waiting. Each column shows what fills most of it. */
enum { MAX_PICTURE_COLUMNS = 400 };
void timeline_draw(FILE *f, const struct timeline *t, uint32_t n_columns);
/* The laws: spans of a row do not overlap and leave no gap, each row's parts sum to the step. */
bool timeline_check(const struct timeline *t, struct err *err);

#endif
