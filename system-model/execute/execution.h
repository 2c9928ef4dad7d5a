/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execution.h - computes what graph and plan describe: numbers for tensors, operation by operation, task by task.
 *
 * Read in order: one operation (op_execute.c), a plan's training step (plan_execute.c).
 * Every element is held as fp32, whatever its tensor's type; whole numbers are exact up to 2^24. With struct precision it is a number of the tensor's
 * type. The caller owns all elements. Results depend neither on the number of threads nor on anything but the arguments; between processors
 * those in fp32 may differ in the last bits, as oneDNN multiplies by the processor it finds.
 */
#ifndef EXECUTION_H
#define EXECUTION_H
#include "system-model/execute/rounding.h"
#include "system-model/graph/graph.h"
#include "system-model/plan/plan.h"

/* ---- op_execute.c: one pass of one operation ---------------------------------------------------------- */

/* Elements of a tensor in row-major order; x NULL: the tensor is not there. */
struct tensor_value { float *x; uint64_t n_elements; };

/* Numbers in the types of their tensors; all zero: in fp32. Products of fp16 and fp8 are then added up as the AMP unit adds (amp_product.c), other
 * results are computed in fp32 or wider, and each result is rounded once, when its operation is done. fp8 is E4M3 or E5M2, scaled so that
 * the tensor's largest element fits. */
struct precision {
    bool by_type;
    enum partials_type partials;        /* the partials of products in fp16 and fp8 */
    bool stochastic_rounding;           /* rounds results stochastically; partial sums and sums over replicas are rounded to the nearest */
    bool fp8_is_e5m2;                   /* true: E5M2; false: E4M3 */
};

/* The values that an operation's result depends on besides its operands. */
struct op_context {
    /* A hash of seed, step, replica and micro-batch. All passes of a dropout draw one mask from it, and a tensor that is recomputed is rounded
     * alike. */
    uint64_t dropout_key;
    struct precision precision;
    struct rounding_counts *counts;     /* counts by role of the tensor, to which the operation adds; NULL: nothing is counted */
    uint32_t rank;                      /* the replica's number; if a tensor is cut, the replica has part number rank mod parts */
    /* Values of the replicas with which the operation exchanges data (op_exchange()), in their order, its own included; n_peers is 0 if it is
     * alone. The inputs of the operation must be among the values of each. */
    const struct tensor_value *const *peers; uint32_t n_peers;
    bool mean_losses;                   /* a loss is the mean of its rows (transducer: samples) and not their sum; rows with a negative label do
                                           not count */
    double loss_factor;                 /* loss scaling, a factor of all gradients; 0 means 1 */
    uint32_t n_threads;                 /* 0 means 1 */
};

/* Computes one operation: values[i] is tensor i; those of its outputs are overwritten. Fails, naming operation, layer and tensor, if an input or
 * output is not there or has not the tensor's size, if an index is beyond its table or a label beyond its classes, and on what is not
 * executed: the backward pass of an LSTM that hands on its cell state. */
bool op_execute(const struct graph *g, uint32_t op_id, const struct tensor_value *values, const struct op_context *c, struct err *err);
/* False with the reason for a graph that cannot be executed: a layer that is described by one of its slices (layer.repeats). */
bool graph_is_executable(const struct graph *g, struct err *err);
bool op_is_loss(const struct op *op);   /* the forward pass of a loss: its output is one number */
const char *execute_library(void);      /* the library of products: "oneDNN", or "plain loops" where it is not installed */

/* ---- plan_execute.c: steps of a plan ---------------------------------------------------------------------------

 * Tasks run in the order of the plan's cycles and slots, on all replicas side by side, operation by operation. A stage reads nothing but
 * its own store: the weights of its IPU, the host's input, what neighbours handed over for this micro-batch, and what it stashed. What it keeps
 * between the passes follows the plan's rule: its input, and the outputs of its checkpoints or, without recomputation, all that backward passes
 * read; the rest is dropped when it is read for the last time. The stash is a FIFO of the plan's depth.
 *
 * Inference runs the forward tasks alone: it stashes nothing and updates nothing.
 *
 * Copies of tied weights on other IPUs: their gradients are added up before the update, which the plan's update does not price. */

enum reduction_order { REDUCE_AS_TREE, REDUCE_AS_RING };        /* the order of a sum: by halves of the replicas, or around a ring, chunk by chunk */

/* Settings of a step; all zero is a sum of losses without scaling, on one thread. */
struct execution_options {
    struct optimizer_values optimizer;
    enum reduction_order reduction;
    uint64_t seed;                      /* seeds dropout */
    bool mean_losses;
    double loss_scale;                  /* a factor of all gradients until the update divides by it; 0 means 1 */
    struct precision precision;         /* numbers are rounded by type: accumulators and sums over replicas after each addition, moments of 2 bytes
                                           and weights after the update */
    uint32_t n_threads;
    /* Fills a host input, a state tensor such as a mask (before each task that reads it), or a weight (when the execution starts; micro_batch is
     * then UINT64_MAX). Otherwise micro_batch counts from 0 in each step and replica. If IPUs share layers, tensor_id and its elements are those
     * of the whole model, and replica counts copies of the model. Equal arguments must give equal numbers. */
    bool (*fill)(void *user, float *to, uint32_t tensor_id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err);
    /* Called before each operation of replica 0, in the order of execution; may be NULL. */
    void (*watch)(void *user, uint32_t stage, enum task_kind kind, uint64_t micro_batch, uint32_t op_id);
    void *user;
};

/* Live bytes of a stage on one replica, by the tensors' own types. */
enum live_category {
    LIVE_WEIGHTS, LIVE_ACCUMULATORS, LIVE_STATE,        /* copies of tied weights included */
    LIVE_STASH,                         /* tensors kept between passes, of all micro-batches in flight */
    LIVE_KEPT_INPUTS,                   /* inputs of the host that are kept for the backward pass */
    LIVE_INPUTS,                        /* inputs of the task at work */
    LIVE_HANDED_OVER,                   /* tensors that a neighbour sent and whose task has not begun */
    LIVE_ACTIVATIONS,                   /* activations of the task at work, with gradients; what an operation in place writes over does not count twice */
    N_LIVE_CATEGORIES
};
extern const char *const live_category_names[N_LIVE_CATEGORIES];
struct live_bytes {
    uint64_t now[N_LIVE_CATEGORIES], peak[N_LIVE_CATEGORIES];
    uint64_t entry_bytes;               /* stash of one micro-batch */
    uint32_t deepest;                   /* micro-batches in flight, at most */
};

struct step_result {
    double loss;                        /* mean over micro-batches and replicas */
    uint64_t n_not_finite;              /* elements of the weights' gradients, summed over micro-batches and replicas, that are infinite or not a number */
    bool skipped;                       /* a gradient was not finite, so no weight was changed */
    struct rounding_counts rounded[N_TENSOR_ROLES];     /* by the role of the tensor that was written, moments with the weights; all replicas */
};

enum { MAX_REPLICAS = 256 };            /* the most replicas that can be executed */
struct execution;                       /* owns all numbers; points into the plan */
/* NULL on a plan with a stash in fp8, on a graph that is not executable, or if fill() fails. */
struct execution *execution_start(const struct plan *p, const struct execution_options *o, struct err *err);
/* One weight update, or inference on as many micro-batches. Fails where a task reads a tensor that its stage does not hold, when a FIFO is full or out of order, and where the update
 * does not reduce, change and gather every element of every weight once; messages name tensor, task and plan. Then nothing more can be executed. */
bool execution_step(struct execution *x, struct step_result *out, struct err *err);
void execution_set(struct execution *x, const struct optimizer_values *o);      /* values for the steps that follow */
float *execution_weight(const struct execution *x, uint32_t replica, uint32_t ipu, uint32_t tensor_id);    /* NULL if the IPU does not hold this weight */
/* The direction of the last step: for SGD without weight decay the mean gradient. */
const float *execution_direction(const struct execution *x, uint32_t replica, uint32_t ipu, uint32_t tensor_id);
const struct tensor_value *execution_output(const struct execution *x);     /* inference's output: the last operation's on micro-batch 0 of replica 0 */
const struct live_bytes *execution_live(const struct execution *x, uint32_t stage);         /* live bytes of replica 0 */
/* Visits the weights and moments of all replicas, in an order that depends on the plan alone. They and the number of steps are the whole state of an
 * execution. */
void execution_state(const struct execution *x, void (*visit)(void *user, float *elements, uint64_t n), void *user);
void execution_set_step(struct execution *x, uint64_t n_done);
void execution_end(struct execution *x);
/* Host memory that a step takes, without the buffers of single operations. */
uint64_t execution_host_bytes(const struct plan *p);
/* Estimates how long the step's products take on this host, from one small product. Other operations come on top, and large products are faster. */
double execution_host_seconds(const struct plan *p, const struct execution_options *o);
bool execution_fits_host(const struct plan *p, struct err *err);         /* false if it would take nearly all memory of the host */

/* ---- noise.c: something to compute with ------------------------------------------------------------------------- */

/* A fill function whose user is the graph. Weights have variance 1 / rows, scales are 1 and biases 0, masks let everything through, inputs are
   noise by step, replica and micro-batch, and indices and labels lie within their tables. */
bool fill_with_noise(void *graph, float *to, uint32_t tensor_id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err);

#endif
