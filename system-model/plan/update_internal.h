/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * update_internal.h - what the weight update of a plan follows from: the memo's inputs of its parts. Private to plan_update.c and update.c.
 */
#ifndef UPDATE_INTERNAL_H
#define UPDATE_INTERNAL_H
#include "system-model/plan/plan.h"

/* All that the update depends on, apart from where the layers are. */
MEMO_INPUT(update_terms,
    struct owned compiled;              /* the graph compiled for the first stage; vector work is planned with its options */
    double merge_buffer_bytes, merge_norm_bytes, streaming_s_per_byte, state_bytes_per_param;
    uint64_t sharded_elements, offloaded_elements, remote_alone_ipus, phased, tensor_replicas;      /* tensor_replicas: those that compute one copy of the model */
    uint32_t n_replicas, ipus_per_replica, shard;       /* shard: replicas that share the state of a tensor, if each of them has the whole tensor */
    uint32_t streams, in_series, remote_together, rearrange_before_reduce, clip_norm, all_reduce_method, each_replica, unfolded, has_faults;
    uint32_t work, work_without_norms, norms, n_moments, full_routes, merge_over_ipus;
);
/* The inputs of a tensor's steps, of a stage's place, of an IPU's update and of a replica's. */
MEMO_INPUT(steps_input, struct owned terms; uint64_t n_elements, has_norms, n_parts, apart; uint32_t ipu, type;);
MEMO_INPUT(stage_place, uint32_t ipu, first_layer, n_layers;);
MEMO_INPUT(ipu_update_input, struct owned terms, places; uint32_t ipu, n_places;);
MEMO_INPUT(update_input, struct owned terms, places; uint64_t n_stages;);

/* Makes a struct update_program of a struct update_input; the world is the compiler. */
const void *make_update(void *world, const void *input, struct err *err);

#endif
