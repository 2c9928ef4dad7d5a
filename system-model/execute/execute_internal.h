/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execute_internal.h - what the files of this folder share: a stage's store, its IPU's weights.
 */
#ifndef EXECUTE_INTERNAL_H
#define EXECUTE_INTERNAL_H
#include "system-model/execute/execution.h"
#include "system-model/plan/stage_program.h"

/* ---- stage_store.c --------------------------------------------------------------------------- */

/* The tensors that a stage of a replica holds for the task at work. Weights and state are borrowed: not counted, never freed. */
struct stage_store { const struct graph *g; struct tensor_value *values; struct live_bytes live; };
void live_add(struct live_bytes *l, enum live_category c, uint64_t bytes);
void store_make(struct stage_store *s, uint32_t tensor_id);         /* adds an activation or gradient with undefined contents; does nothing if it is there */
void store_drop(struct stage_store *s, uint32_t tensor_id);
/* Tensors that left the store for a while, in the order of the list; NULL where one was not there. */
struct packet { uint64_t micro_batch; const struct id_list *list; float **x; };
struct packet store_take(struct stage_store *s, const struct id_list *list, uint64_t micro_batch);
void store_put(struct stage_store *s, struct packet *p);            /* puts the tensors back, or into a neighbour's store, and empties the packet */
uint64_t packet_bytes(const struct packet *p, const struct graph *g);
void packet_free(struct packet *p);                                 /* frees the packet and its tensors */
float *elements_new(uint64_t n);                                    /* zeros; ends the program where the host has no memory left */
void store_clear(struct stage_store *s);                            /* drops all activations, gradients and inputs */

/* ---- weights ------------------------------------------------------------------------------------- */

/* A weight on an IPU of a replica. With sharding, moments and the reduced gradient are of its own part of n_local elements. */
struct weight {
    uint32_t tensor_id, ipu, stage;     /* stage: the first one on that IPU that reads it */
    bool is_copy;                       /* a copy of a tied weight that belongs to another IPU */
    bool has_norms, sharded;            /* its update needs norms; replicas share its state */
    uint32_t n_shards, n_parts;         /* n_shards: replicas that share its moments, or 1; n_parts: replicas that the whole tensor is cut over, or 1 */
    const struct update_steps *steps;   /* the steps of its update */
    uint64_t n, n_local;
    float *x, *gradient, *moments[2];
    bool is_reduced, is_reduced_between;        /* is_reduced: reduced in this update over the replicas of a shard group; is_reduced_between: between the groups */
};

/* A replica's stage: its store, what its neighbours handed over, and its stash. list NULL: no packet. */
struct stage_state {
    struct stage_store store;
    struct packet sent[2];              /* packets sent to a neighbour in this slot, by task_kind */
    struct packet *handed[2]; uint32_t n_handed[2];     /* packets that came from a neighbour for later tasks, the oldest first; there is room for one or, in phases, for all of a step */
    struct packet *entries; uint32_t n_entries;         /* FIFO, the oldest first; room for the plan's depth */
};

struct execution {
    const struct plan *p;
    const struct graph *g;
    struct execution_options o;
    struct arena arena;
    struct stage_program *programs;     /* by stage */
    struct stage_state *states;         /* [replica][stage] */
    struct weight *weights; uint32_t n_weights;         /* [replica][weight], the same weights in the same order on each */
    uint32_t shard;                     /* replicas that share a tensor's moments */
    uint64_t step;
    struct tensor_value output;         /* the output of inference */
    double loss;                        /* sum over micro-batches and replicas */
    struct rounding_counts rounded[N_TENSOR_ROLES];
};
static inline struct stage_state *stage_state_of(const struct execution *x, uint32_t replica, uint32_t stage) { return &x->states[replica * x->p->n_stages + stage]; }
static inline struct weight *weight_of(const struct execution *x, uint32_t replica, uint32_t i) { return &x->weights[replica * x->n_weights + i]; }

/* weights.c */
bool weights_start(struct execution *x, struct err *err);
void weights_end(struct execution *x);
/* Asks fill() for a tensor. If the tensor is cut, the replica gets its part, with zeros as padding. */
bool fill_part(const struct execution *x, float *to, uint32_t tensor_id, uint32_t replica, uint64_t micro_batch, struct err *err);
struct weight *weight_on(const struct execution *x, uint32_t replica, uint32_t ipu, uint32_t tensor_id);     /* NULL if the IPU has no such weight */
void accumulate(struct execution *x, uint32_t replica, uint32_t ipu, uint32_t gradient_id, const float *gradient, uint64_t key);
void clear_gradients(struct execution *x);
bool update_execute(struct execution *x, struct step_result *out, struct err *err);     /* update_execute.c */
/* reduction.c: to += more. The sum is rounded to the weight's type if numbers are to be rounded. */
void add_gradient(struct execution *x, uint32_t tensor_id, float *to, const float *more, uint64_t n, const struct rounding_draws *d);
/* Adds up elements begin to end of a weight's gradient over n replicas, first, first + stride, ...; all of them get the sum. */
void reduce_gradients(struct execution *x, uint32_t weight, uint32_t first, uint32_t stride, uint32_t n, uint64_t begin, uint64_t end);

/* op_execute.c: rounds a tensor's elements to its type, if numbers are to be rounded. */
void round_given(const struct execution *x, uint32_t id, float *values);        /* rounds to the nearest, after fill() */

#endif
