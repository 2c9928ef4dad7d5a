/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework.h - what a release of a framework does around the operations: order and merging of the weight update, calls, schedules.
 *
 * A sheet states facts of a program (specs/frameworks/NAME-RELEASE.csv), each with its source; it is no place for fitted
 * factors. A recipe's [framework] section overrides what its own program sets.
 */
#ifndef FRAMEWORK_H
#define FRAMEWORK_H
#include "system-model/machine/what_if.h"

enum update_order { UPDATE_IN_SERIES, UPDATE_SIDE_BY_SIDE };
enum host_data { HOST_DATA_AHEAD, HOST_DATA_IN_CALL };

struct framework {
    const char *name;                   /* of the sheet: popart-2.1.0 */
    /* The pipeline. */
    const char *schedules;              /* comma list: the pipeline schedules that it can run */
    uint64_t accumulation_multiple;     /* grouped, interleaved: gradient accumulation is a multiple of so many times the stages */
    /* The weight update. */
    int update_order;                   /* of the IPUs of a replica where collectives or streamed state hold them together */
    double merge_buffer_bytes;          /* all-reduces of tensors are merged up to so many bytes; 0: one a tensor */
    double merge_norm_bytes;            /* norms of tensors are reduced together up to so many bytes of results; 0: one by one */
    uint64_t sharded_elements;          /* with replicated tensor sharding: smaller tensors are not sharded */
    uint64_t offloaded_elements;        /* moments of smaller tensors stay on the chip */
    bool rearrange_before_reduce;       /* a gradient is copied to another layout before its reduce-scatter, a weight back afterwards */
    bool clip_norm;                     /* gradients are clipped by their global norm */
    double moment_bytes;                /* of a moment of one parameter, where the recipe does not say */
    bool remote_together;               /* streamed state of equal tensors of several IPUs moves at the same time */
    uint64_t remote_alone_ipus;         /* first IPUs whose state moves by itself all the same */
    /* The call. */
    double steps_per_call;              /* weight updates in one call; 0: the whole run is one call */
    uint64_t session_calls;             /* of the session, one after the other, in each call */
    int host_data;                      /* prepared ahead by other threads, or in the call */
    double host_data_bytes_per_s;       /* one process prepares input at this rate */
    double uploads_per_call;            /* optimizer values go to the chips so often, between calls */
    double upload_s;
    uint64_t fetch_threads;             /* of a process, which serve the fetches of its replicas */
    uint64_t prefetch_depth;            /* micro-batches that the host keeps ready for a replica */
    bool outputs_each_micro_batch;      /* results of each go to the host, in a host exchange of their own */
    uint64_t output_reductions;         /* numbers that are averaged over the host's processes, each call */
    struct sheet sheets[2];             /* its own and its engine's */
    size_t n_sheets;
};

extern const struct field framework_fields[];
extern const size_t n_framework_fields;

/* The sheet of the framework that `name` begins with ("TensorFlow 1.15": tensorflow-1), of the newest release up to `sdk`
 * (NULL: the newest). A NULL name: default.csv, what every recipe gets that names none. changes: values in place of the sheets'; may be NULL. */
bool framework_load(struct framework *out, const char *name, const char *sdk, const char *specs_dir, const struct what_ifs *changes,
                    struct arena *a, struct err *err);
bool framework_can(const struct framework *f, const char *schedule);

/* Weight updates of a run that needs n_steps: its last call has as many as the others. steps_per_call 0, or as many and more: one call. */
double steps_in_whole_calls(double n_steps, double steps_per_call);

/* Of them, those of epoch k of n, from 1: as many calls as fit into the epochs so far, less those before; the last takes what is left. */
double steps_of_epoch(double k, double n, double steps_per_epoch, double steps_per_call);

#endif
