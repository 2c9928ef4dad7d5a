/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_request.h - what a plan is asked for: replicas, stages, schedule, recomputation, optimizer, host, and the program that runs it.
 */
#ifndef PLAN_REQUEST_H
#define PLAN_REQUEST_H
#include "system-model/compiler/compiler.h"
#include "system-model/machine/fitted.h"
#include "system-model/machine/framework.h"

enum { MAX_CHECKPOINTS = 64 };

enum schedule { SCHEDULE_NONE, SCHEDULE_SEQUENTIAL, SCHEDULE_GROUPED, SCHEDULE_INTERLEAVED, SCHEDULE_POPART, N_SCHEDULES };
enum recompute { RECOMPUTE_NONE, RECOMPUTE_STAGE, RECOMPUTE_LAYER, RECOMPUTE_CHECKPOINTS, N_RECOMPUTES };
enum weights_place { WEIGHTS_ON_CHIP, WEIGHTS_STREAMING };
enum phase_io { PHASE_IO_IN_TURN, PHASE_IO_OVERLAPPED };     /* transfers before and after a micro-batch's work, or during the work of others */
enum optimizer_place { OPTIMIZER_ON_CHIP, OPTIMIZER_STREAMING };
enum rts { RTS_NO, RTS_YES };
enum rts_domain { RTS_DOMAIN_ALL, RTS_DOMAIN_POD };
enum fully_connected_pass { FULLY_CONNECTED_YES, FULLY_CONNECTED_NO };      /* no: see op_plan_options.plain_products */
enum outlining { OUTLINING_YES, OUTLINING_NO };         /* no: each layer has code of its own, even if others are alike */
extern const char *const schedule_names[N_SCHEDULES + 1];       /* NULL-ended, as field tables want */
extern const char *const recompute_names[N_RECOMPUTES + 1];

/* How many block parts a stage holds. A block may have two parts, its attention half and its feed-forward half: "7/6" is {7, 6}, seven of the
   first and six of the second; "7" is {7, 7}. */
struct stage_size { uint32_t part_count[2]; };
#define STAGE_REST UINT32_MAX           /* in part_count[0]: this stage takes all blocks that the other stages leave */

/* The place of the optimizer's state, and the replicas that share it: update.c and memory.c. */
struct state_request { enum optimizer_place place; enum rts rts; enum rts_domain rts_domain; };

/* The machines that feed the program: pipeline.c and call.c. */
struct host_request {
    uint32_t n_hosts, n_instances;      /* n_hosts: machines; n_instances: processes on all of them together */
    uint32_t requests;                  /* inference: micro-batches of requests under way at once; 0: as the framework does */
    double decode_bytes_per_s;          /* rate of one host's input pipeline; 0 if it is no limit */
    uint32_t cores, workers;            /* cores: of a host; workers: of a process, each on a core; both are 0 if they set no limit */
    double sample_s;                    /* time in which one core prepares a sample; 0 if it is no limit */
    bool synthetic_data;                /* input is made on the chip, and none is read from the host */
};

/* The parts of a plan that are wanted, and their detail. */
struct plan_detail {
    uint64_t timed_steps;               /* the published rate is the mean over this many steps from the start of a run; 0: the mean of later steps */
    bool totals_only;                   /* the timeline keeps no spans, only what each IPU's cycles were spent on */
    bool timed_only;                    /* memory is not counted: the plan is taken to fit */
    bool unfolded;                      /* every replica is simulated, instead of one for all that are alike */
};

struct plan_request {
    /* Read by all parts of a plan. */
    bool training, evaluation;          /* evaluation: inference in calls of a training program */
    /* A replica is a copy of the program: with tensor parallelism, tensor_parallel[0] x [1] neighbouring ones compute one copy of the model. */
    uint32_t n_replicas, ipus_per_replica;
    uint32_t tensor_parallel[2];        /* replicas along two axes; 0 means 1 */
    uint32_t grad_accum;                /* micro-batches for each weight update; inference: for each call */
    enum schedule schedule;
    const struct faults *faults;        /* NULL if none */
    /* Read by placement.c, and by memory.c. */
    struct stage_size stage_sizes[MAX_STAGES];
    enum weights_place weights;
    enum phase_io phase_io;
    uint32_t phase_blocks;              /* streaming: blocks in each phase, with embeddings and heads in phases of their own; 0: stages are phases */
    uint32_t n_stages;                  /* 0 means one stage, or an even division over ipus_per_replica. Stage i is on IPU i mod ipus_per_replica */
    enum recompute recompute;
    const char *checkpoints[MAX_CHECKPOINTS];   /* RECOMPUTE_CHECKPOINTS: names of layers whose output is kept */
    uint32_t n_checkpoints;
    enum data_type stash_type;
    enum outlining outlining;
    enum fully_connected_pass fully_connected_pass;
    uint32_t io_tiles;
    double available_memory[MAX_STAGES];        /* share for temporaries, by IPU of the replica; the last given value repeats */
    uint32_t n_available_memory;
    enum partials_type partials;
    /* Read by update.c and memory.c. */
    struct optimizer optimizer;
    struct state_request state;
    enum collective_method all_reduce_method;
    /* Read by pipeline.c, update.c and call.c. */
    struct program program;             /* the framework's values, with the recipe's own settings applied */
    struct system_times fitted;
    struct host_request host;
    /* Read by plan.c and the timeline. */
    struct plan_detail detail;
    const char *framework_name;         /* printed only */
};

#endif
