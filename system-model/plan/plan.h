/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.h - decisions: which layer on which IPU, what each stage costs, what each tile holds, in which order
 * micro-batches run, which collectives follow. Everything here is settled before time starts.
 */
#ifndef PLAN_H
#define PLAN_H
#include "system-model/plan/plan_options.h"
#include "system-model/plan/update.h"

/* ---- memory of the worst tile, by region ----------------------------------------------- */

enum region {
    REGION_WEIGHTS, REGION_ACCUMULATORS, REGION_OPTIMIZER, REGION_STASH, REGION_CODE, REGION_IO_BUFFERS,
    REGION_ACTIVATIONS, REGION_TEMPORARIES,     /* not always live: their peak over the schedule */
    N_REGIONS
};
extern const char *const region_names[N_REGIONS];
struct tile_memory { uint64_t bytes[N_REGIONS]; uint64_t io_tile_bytes, total_bytes; };     /* total: of the fuller kind of tile */

/* ---- the plan -------------------------------------------------------------------------- */

struct stage_plan {
    uint32_t ipu;                       /* within the replica */
    uint32_t first_layer, n_layers;
    const struct compiled *compiled;
    struct cycles forward, backward;    /* one micro-batch; backward holds recomputation and gradient accumulation */
    uint64_t forward_cycles, backward_cycles;   /* their sums */
    uint64_t recompute_cycles;          /* of backward */
    uint32_t n_layers_again;            /* first layers that are computed again before their backward pass */
    uint64_t forward_mac, backward_mac, recompute_mac;
    uint64_t n_parameters, n_copied, weight_bytes;  /* copied: of tied weights that live on another IPU; bytes: with them */
    uint64_t output_bytes;              /* activations handed to the next stage, one micro-batch */
    uint64_t stash_bytes;               /* kept for one micro-batch in flight */
    uint32_t stash_depth;               /* micro-batches in flight */
    uint64_t host_bytes;                /* one micro-batch */
};
static inline uint32_t end_layer(const struct stage_plan *s) { return s->first_layer + s->n_layers; }       /* behind its last */

/* One task: a stage's forward or backward of one micro-batch. In the pipeline it runs in every cycle from
 * first_cycle on, once a micro-batch, in the given slot; slots of a cycle run one after the other, and
 * within a slot IPUs run side by side, the tasks of one IPU one after the other. */
enum task_kind { TASK_FORWARD, TASK_BACKWARD };
struct task { uint32_t stage; enum task_kind kind; uint32_t first_cycle, slot; uint64_t n_cycles; };

void place_task(struct task *t, enum schedule schedule, uint32_t n_stages, bool training);    /* cycle and slot, from its stage and kind */

/* What moves between the IPUs after a slot, all at once. */
struct stage_copy { uint64_t cycles; double busiest_bytes[N_LINK_KINDS]; };     /* on the busiest link of each kind */

/* Cycles in which the same tasks are at work; the pipeline as a run-length code. */
struct pipeline_run {
    uint32_t first_cycle, n_cycles;
    uint64_t active;                            /* bit mask over tasks */
    struct stage_copy *copies;                  /* by slot, in each cycle */
    uint64_t copy_cycles;                       /* their sum */
};

/* What the host takes for itself, a step's share of it; the chips wait. */
enum call_part {
    CALL_LATENCY,                       /* a word there and back */
    CALL_SESSION,                       /* the framework's calls: launch, results, the next launch */
    CALL_DATA,                          /* preparing the input, where no other thread does */
    CALL_FIRST_FETCH,                   /* the first micro-batch, which nothing has prefetched; where the call prepares it, its port time */
    CALL_LOADER,                        /* the loader makes the batch of a run's first step: shared out over the steps that are timed */
    CALL_OUTPUTS,                       /* averages over the host's processes */
    CALL_UPLOAD,                        /* optimizer values to the chips */
    N_CALL_PARTS
};
extern const char *const call_part_names[N_CALL_PARTS];

struct plan {
    const struct graph *graph;
    const struct topology *topology;
    struct plan_options options;        /* as planned: with less memory for temporaries than asked where only that fits */
    const bool *named_checkpoints;      /* by layer; NULL: none are named */
    uint32_t n_stages;
    struct stage_plan *stages;
    const struct stage_plan *placed;    /* the stages as they are remembered, before they have a schedule; NULL: made by hand */
    uint32_t n_tasks, n_slots;
    struct task *tasks;
    uint32_t *slot_tasks, *slot_first;  /* tasks of slot i: slot_tasks[slot_first[i] .. slot_first[i + 1]) */
    uint32_t n_runs;
    struct pipeline_run *runs;
    uint64_t *io_cycles;                /* by stage: reading one micro-batch's input from the host port, or sending it on from I/O tiles */
    uint64_t fetch_cycles;              /* a replica waits so long for each micro-batch's host exchange, beside its bytes */
    uint64_t beside_cycles;             /* the port's time for a micro-batch that it brings beside the work; 0 without I/O tiles */
    uint64_t host_floor_cycles;         /* the step cannot be shorter: network and decoding of its input, and the port that fills I/O tiles */
    struct update_program update;
    uint64_t call_cycles[N_CALL_PARTS];
    const struct tile_memory *memory;   /* by IPU; NULL: not counted */
    uint32_t worst_ipu;
    bool fits;
    uint64_t shortfall_bytes;           /* of the worst tile */
    uint64_t global_batch;              /* micro_batch * grad_accum * n_replicas */
    uint64_t n_parameters;
    uint64_t model_mac, hardware_mac;   /* one micro-batch of one replica; hardware: with recomputation */
};

/* Every decision of one step. What does not fit the memory is no failure but a plan that says so (fits); fails on options that no program
 * can have, and on a step of MOST_CYCLES or more. The plan points into the compiler. */
bool plan_build(struct plan *out, struct compiler *c, const struct plan_options *opt, struct arena *a, struct err *err);
bool plan_once(struct plan *out, struct compiler *c, const struct plan_options *opt, struct arena *a, struct err *err);   /* plan.c: as asked */
double ipu_available_memory(const struct plan_options *o, uint32_t ipu);    /* share of tile memory for temporaries */
/* Bytes by layer: what the fullest tile has for temporaries beside what is there all along, and what is alive while the layer is at work. Kept by
 * the compiler, or in the arena. */
const double *plan_layer_rooms(const struct plan *p, struct compiler *c, struct arena *a);
void plan_print_replanned(FILE *f, const struct plan *p, const char *before);   /* a line, where less was taken than asked */
/* What has arrived on I/O tiles is sent on to the tiles that compute, an exchange on which all tiles wait: it is no part of the transfer that is
 * hidden (PopART's copy between the two kinds of tiles). Few tiles send what many receive. */
uint64_t io_copy_cycles(const struct chip *chip, uint64_t io_tiles, uint64_t n_bytes);
void plan_print(FILE *f, const struct plan *p);
void plan_print_summary(FILE *f, const struct plan *p);         /* placement, cost by stage, memory */
bool is_checkpoint(const struct plan *p, uint32_t layer_id);    /* its output is kept between forward and backward */
uint64_t stage_input_bytes(const struct stage_plan *s);     /* what earlier stages hand it, one micro-batch */
/* Leaves out texts, where values came from and faults, which are the topology's: of options as questions only values count. */
void plan_options_plain(struct plan_options *o);
const struct stage_plan *stage_of(const struct plan *p, uint32_t layer_id);
uint32_t ipu_layers(struct layer_range *ranges, const struct plan *p, uint32_t ipu);  /* of its stages, room for MAX_STAGES; how many */
/* Replicas whose traffic has to be played: those of one domain stand for all, unless groups of n_ipus do not fill it evenly, or
 * something is at fault, or nothing is to be folded. */
uint32_t played_replicas(const struct plan *p, uint32_t n_ipus);
uint64_t sharing_ipus(const struct plan *p, uint64_t n_ipus);  /* of n IPUs behind one port or memory, those in use */
bool keeps_gradients(const struct plan_options *o); /* they are summed over micro-batches, or wait to be reduced */
uint32_t shard_replicas(const struct plan *p);      /* replicas that share one copy of the optimizer state; 1 without rts */
uint64_t update_cycles(const struct plan *p, uint32_t ipu, enum update_kind kind);  /* of all its tensors; merged ones count for each IPU */
void update_print(FILE *f, const struct plan *p);           /* one line per IPU */
void update_print_tensors(FILE *f, const struct plan *p);   /* a line a step of each kind of tensor */

#endif
