/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_options.h - what a plan is asked for: replicas, stages, schedule, recomputation, optimizer, host.
 */
#ifndef PLAN_OPTIONS_H
#define PLAN_OPTIONS_H
#include "system-model/compiler/compiler.h"
#include "system-model/machine/fitted.h"
#include "system-model/machine/framework.h"

enum { MAX_CHECKPOINTS = 64 };

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

/* LARS leaves tensors of one dimension out (biases, parameters of norms): MLPerf's ResNet-50 merges its norms in 216 B, 54 kernels' of fp32. */
enum norms { NORMS_NONE, NORMS_OF_KERNELS, NORMS_OF_ALL };

struct optimizer {
    enum vector_work work;              /* the update's arithmetic */
    enum vector_work work_without_norms;        /* the same of tensors that have none, or whose norms are merged */
    double state_bytes_per_param;       /* all moments together */
    enum norms norms;                   /* LARS, LAMB: of weight and gradient or update, over shards too */
    uint32_t n_moments;
    bool moments_of_framework;          /* their type is the framework's choice; else the weights' */
};

struct plan_options {
    bool training, evaluation;          /* evaluation: inference in calls of a training program */
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
    const double *layer_memory;         /* by layer, where it is less: of a plan that was planned again; NULL: nowhere */
    enum partials_type partials;
    struct optimizer optimizer;
    enum collective_method all_reduce_method;
    uint32_t n_hosts, n_instances;      /* machines; processes on all of them together */
    uint64_t timed_steps;               /* the published rate is the mean of so many steps from the start of a run; 0: of any later ones */
    struct framework framework;         /* what the program around the operations does, the recipe's settings applied */
    struct fitted_system fitted;        /* what a call, a collective and an access to streaming memory take */
    double host_decode_bytes_per_s;     /* one host's input pipeline; 0: not a limit */
    const struct faults *faults;        /* NULL: none */
    bool totals_only;                   /* its timeline keeps no spans: what each IPU's cycles were spent on, and no more */
    bool timed_only;                    /* its memory is not counted: it is taken to fit */
    bool as_asked;                      /* not planned again with less memory for temporaries where that would fit */
    bool unfolded;                      /* simulate every replica instead of one for all that are alike */
};

#endif
