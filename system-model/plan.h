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
    uint32_t n_moments;                 /* state tensors a parameter: momentum 1, LAMB 2 */
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
    const char *checkpoints[MAX_CHECKPOINTS];   /* RECOMPUTE_CHECKPOINTS: names of layers whose input is kept */
    uint32_t n_checkpoints;
    enum data_type stash_type;
    enum optimizer_place optimizer_place;
    enum rts rts;
    enum rts_domain rts_domain;
    uint32_t io_tiles;
    double available_memory[MAX_STAGES];        /* by IPU of the replica; the last given value repeats */
    uint32_t n_available_memory;
    enum partials_type partials;
    bool stochastic_rounding;
    struct optimizer optimizer;
    enum collective_method all_reduce_method;
    uint32_t n_hosts, n_instances;
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

/* ---- memory of the worst tile, by region ----------------------------------------------- */

enum region {
    REGION_WEIGHTS, REGION_ACCUMULATORS, REGION_OPTIMIZER, REGION_STASH, REGION_CODE, REGION_VERTEX_STATE, REGION_IO_BUFFERS,
    REGION_ACTIVATIONS, REGION_TEMPORARIES,     /* not always live: their peak over the schedule */
    N_REGIONS
};
extern const char *const region_names[N_REGIONS];
struct tile_memory { uint64_t bytes[N_REGIONS]; uint64_t total_bytes; };

/* ---- the plan -------------------------------------------------------------------------- */

struct stage_plan {
    uint32_t ipu;                       /* within the replica */
    uint32_t first_layer, n_layers;
    struct cycles forward, backward, recompute;     /* one micro-batch */
    uint64_t forward_mac, backward_mac, recompute_mac;
    uint64_t n_parameters;
    uint64_t input_bytes, output_bytes; /* activations that cross stages, one micro-batch */
    uint64_t stash_bytes_per_micro_batch;
    uint32_t stash_depth;
};

/* Stages at work in one pipeline cycle; run-length coded over the step. */
enum task_kind { TASK_FORWARD, TASK_BACKWARD };
struct task { uint16_t stage; uint16_t kind; };
struct pipeline_cycle { uint32_t repeat; uint32_t first_task, n_tasks; uint64_t copy_cycles; uint64_t io_cycles; };

struct plan {
    const struct graph *graph;
    const struct topology *topology;
    struct plan_options options;
    uint32_t n_stages;
    struct stage_plan *stages;
    struct op_plan *op_plans;           /* one an operation of the graph */
    uint32_t *op_stage;
    struct pipeline_cycle *pipeline; uint32_t n_pipeline_cycles;    /* entries, not counting repeats */
    struct task *tasks; uint32_t n_tasks;
    struct cycles *update;              /* by IPU of the replica: accumulated once a step: reduce, optimizer, streaming, host */
    struct collective_cost gradient_collective, weight_collective;
    struct tile_memory *memory;         /* by IPU of the replica */
    uint32_t worst_ipu;
    bool fits;
    uint64_t shortfall_bytes;           /* of the worst tile */
    uint64_t global_batch;              /* micro_batch * grad_accum * n_replicas */
    uint64_t n_parameters;
    uint64_t mac_per_step, hardware_mac_per_step;   /* one replica; with recomputation */
};

bool plan_build(struct plan *out, const struct graph *g, const struct topology *t, const struct plan_options *opt,
                struct plan_cache *cache, struct arena *a, struct err *err);
void plan_print(FILE *f, const struct plan *p);

/* ---- timeline.c: the plan played against the clock ---------------------------------------- */

/* One stretch of time on one IPU; repeated `repeat` times, `period_cycles` apart. */
struct span {
    uint32_t ipu;                       /* of the machine (unfolded) or of the replica */
    uint64_t start_cycle, n_cycles;
    uint32_t repeat; uint64_t period_cycles;
    uint16_t stage;                     /* UINT16_MAX: none */
    uint16_t what;                      /* enum span_kind */
};
enum span_kind { SPAN_FORWARD, SPAN_BACKWARD, SPAN_COPY, SPAN_WAIT, SPAN_COLLECTIVE, SPAN_OPTIMIZER, SPAN_STREAMING, SPAN_HOST, N_SPAN_KINDS };
extern const char *const span_kind_names[N_SPAN_KINDS];

struct timeline {
    const struct plan *plan;
    uint64_t step_cycles;
    struct span *spans; size_t n_spans, cap_spans;
    struct cycles *by_ipu;              /* each sums to step_cycles */
    uint32_t n_ipus;                    /* rows: of a replica when folded, of the machine when not */
};
bool timeline_run(struct timeline *out, const struct plan *p, struct arena *a, struct err *err);
void timeline_print(FILE *f, const struct timeline *t);
bool timeline_write_trace(FILE *f, const struct timeline *t);   /* Chrome trace event JSON */
/* The laws: no two spans of an IPU overlap, each IPU's parts sum to the step. */
bool timeline_check(const struct timeline *t, struct err *err);

#endif
