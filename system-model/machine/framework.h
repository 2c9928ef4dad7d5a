/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework.h - what a release of a framework does around the operations: order and merging of the weight update, calls, schedules.
 *
 * A sheet (specs/frameworks/NAME-RELEASE.csv) states facts of a program, each with its source, and no fitted factors. The [framework] section
 * of a recipe overrides what its own program sets.
 */
#ifndef FRAMEWORK_H
#define FRAMEWORK_H
#include "system-model/machine/machine.h"

enum update_order { UPDATE_IN_SERIES, UPDATE_SIDE_BY_SIDE };
/* How rings on a torus exchange if replicas are wider than two IPUs: each exchange takes copies one link further, or over their whole route. */
enum torus_exchanges { TORUS_ONE_LINK_FURTHER, TORUS_FULL_ROUTES };
/* The aim of exchanges (internalExchangeOptimisationTarget): the fewest cycles, which is Poplar's default, or less code as well. */
enum exchange_target { EXCHANGE_FOR_CYCLES, EXCHANGE_BALANCED };
enum host_data { HOST_DATA_AHEAD, HOST_DATA_IN_CALL };

/* The framework's program, as numbers. */
struct program {
    int exchange_target;                /* enum exchange_target */
    bool calls_by_value;                /* a call of shared code copies its inputs in and its results out */
    bool operations_by_value;           /* a convolution, product, norm or recurrent layer is a function that copies its operands in and its results out */
    bool loops_by_value;                /* a loop on the device copies all that it carries out of its body and back in each round */
    bool log_softmax;                   /* losses of classes take the likelihood of log-probabilities */
    bool even_slices;                   /* each slice of a product's result is spread evenly over all tiles; else it stays on the tiles that made it */
    bool keeps_statistics;              /* the statistics that replicas share in batch norms are kept for recomputation */
    int torus_exchanges;                /* enum torus_exchanges */
    uint64_t accumulation_multiple;     /* grouped, interleaved: gradient accumulation is a multiple of this times the stages */
    bool phases;                        /* layers that are cut over IPUs can run in phases, with weights off the chip; fit and search then offer that */
    /* The weight update. */
    int update_order;                   /* order in which the IPUs of a replica update, if collectives or streamed state synchronise them */
    double merge_buffer_bytes;          /* all-reduces of tensors are merged up to this size; 0 means one per tensor */
    double merge_norm_bytes;            /* norms of tensors are reduced together up to this size of results; 0 means one at a time */
    uint64_t sharded_elements;          /* with replicated tensor sharding: smaller tensors are not sharded */
    uint64_t offloaded_elements;        /* moments of smaller tensors stay on the chip */
    bool rearrange_before_reduce;       /* a gradient is copied to another layout before its reduce-scatter, a weight back afterwards */
    bool clip_norm;                     /* gradients are clipped by their global norm */
    double moment_bytes;                /* bytes of one moment of one parameter, unless the recipe states them */
    bool merge_over_ipus;               /* true: a merged all-reduce takes tensors of all IPUs; false: of a single IPU */
    bool remote_together;               /* streamed state of several IPUs moves at the same time */
    uint64_t remote_alone_ipus;         /* the streamed state of this many first IPUs moves separately nevertheless */
    /* The call. */
    double steps_per_call;              /* weight updates in one call; 0 if the whole run is one call */
    uint64_t session_calls;             /* session calls that follow each other in a call; 0: a bare engine, whose start takes launch_s */
    bool calls_overlap;                 /* a call for inference is made while the previous one is still running */
    double launch_s;                    /* time to start an engine and to wait until it says that it is done */
    double dispatch_s;                  /* time of the framework's own part in a session's call */
    double unexplained_parameters;      /* a training call takes unexplained_call_s longer if the model has at least this many parameters; 0: never */
    double stream_copy_s;               /* time of a stream copy that waits for the host, besides that of its bytes */
    double stream_buffer_bytes;         /* bytes of the largest tensor that a stream carries for one micro-batch; 0: no limit */
    double callback_bytes_per_s;        /* rate of the one thread of a process that copies between its buffers and the streams of all its replicas */
    double result_bytes_per_s;          /* rate at which results are copied into fresh memory */
    double conversion_s_per_byte;       /* inference: time to copy a byte of input to another layout or type, in the call */
    double weight_reads;                /* how often a call reads all weights back */
    int host_data;                      /* input is prepared ahead by other threads, or in the call */
    double host_data_bytes_per_s;       /* rate at which one process prepares input */
    double uploads_per_call;            /* uploads of optimizer values before each call */
    double upload_s;                    /* time of one upload */
    double number_s;                    /* time in which one core prepares one whole number of an input row, besides hosts.sample_s */
    bool returns_results;               /* inference returns what the model computes; else a few numbers, such as a loss */
    uint64_t fetch_threads;             /* threads of a process that serve the fetches of its replicas; 0 means one per replica */
    uint64_t prefetch_depth;            /* micro-batches that the host keeps ready for a replica */
    bool outputs_each_micro_batch;      /* in training the results of every micro-batch go to the host, in a host exchange of their own */
    bool streams_apart;                 /* without buffered streams, each tensor of a program without a pipeline has host exchanges of its own */
    uint64_t output_reductions;         /* values averaged over the host processes in each call */
    /* The trainer's loop. */
    uint64_t evaluation_loads;          /* number of engine loads for an evaluation inside training: its program is loaded onto the IPUs, and afterwards the training program again */
    double engine_load_s, engine_load_s_per_ipu;
    double first_compile_s;             /* time to compile the program of the first evaluation inside training, in the timed region */
    double evaluation_fixed_s;          /* time to start an evaluation loop, compute its metric and end it */
    double checkpoint_s_per_parameter;  /* time to read a parameter back with its moments and write it, while training waits */
};

struct framework {
    struct program program;
    const char *name;                   /* the sheet's name: popart-2.1.0 */
    const char *schedules;              /* comma list: the pipeline schedules that it can run */
    struct sheet sheets[3];             /* its own sheet, its engine's, and the sheet of that engine's engine */
    size_t n_sheets;
};

extern const struct field framework_fields[];
extern const size_t n_framework_fields;

/* Loads the sheet of the framework that `name` begins with ("TensorFlow 1.15": tensorflow-1), of the newest release up to `sdk`, or the newest
 * of all if sdk is NULL. With a NULL name it loads default.csv. `changes` may be NULL. */
bool framework_load(struct framework *out, const char *name, const char *sdk, const char *specs_dir, const struct sheet_overrides *changes,
                    struct arena *a, struct err *err);
bool framework_can(const struct framework *f, const char *schedule);       /* true if the framework can run this pipeline schedule */
const char *framework_pipeline(const struct framework *f, struct arena *a);     /* the schedule for a model that is not pipelined yet: grouped, or else the first it can run */

/* Weight updates of a run that needs n_steps, rounded up to whole calls. With steps_per_call 0 the run is one call. */
double steps_in_whole_calls(double n_steps, double steps_per_call);

/* Weight updates of epoch k (1 to n): the updates of all calls that fit into epochs 1 to k, less those of earlier epochs. The last epoch has the
 * rest. */
double steps_of_epoch(double k, double n, double steps_per_epoch, double steps_per_call);

/* ---- the software release ------------------------------------------------------------- */

/* The host's work that a run does once, inside the time that the rules of a benchmark measure (specs/sdk/RELEASE.csv). The values are read off the
 * logs of runs that may calibrate. A release without a sheet costs nothing. */
struct sdk {
    const char *name;
    double checkpoint_start_s;  /* from the start of the clock to the first step, when training starts from a given checkpoint */
    double eval_switch_s;       /* from the end of training to the first evaluation, when evaluation is at the end */
    double evaluated_checkpoint_s_per_parameter;    /* a checkpoint that is evaluated at the end: training waits while it is written, evaluation while it is read */
    struct sheet sheet;         /* the rows that these values came from, if there is a sheet */
    const char *others;         /* if there is no sheet: the releases that have one */
    bool is_newest;             /* if there is no sheet: the release is newer than all that have one */
};

/* "2.5.1", or "2.5.1" followed by - or + and any text. */
bool is_release(const char *text);
/* Compares "2.5.1" with "2.10" number by number; a missing number counts as 0. */
int compare_releases(const char *a, const char *b);
/* Loads specs_dir/sdk/NAME.csv; `name` and `changes` may be NULL. */
bool sdk_load(struct sdk *out, const char *name, const char *specs_dir, const struct sheet_overrides *changes, struct arena *a, struct err *err);

#endif
