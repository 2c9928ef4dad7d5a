/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_execute.c - runs one operation's kernel in fp32, after a look at its operands, and rounds its results to their types.
 */
#include "system-model/execute/execute_internal.h"
#include "system-model/execute/kernels.h"

const char *execute_library(void) { return product_library(); }

bool op_is_loss(const struct op *op)
{
    return (op->kind == OP_CROSS_ENTROPY || op->kind == OP_TRANSDUCER_LOSS) && op->pass == PASS_FORWARD;
}

bool graph_is_executable(const struct graph *g, struct err *err)
{
    for (size_t i = 0; i < g->n_layers; i++)
        if (g->layers[i].repeats > 1)
            return fail(err, "layer %s is described by one of %u slices, which cannot be executed; leave it whole (parallel.joint_slices=1)", g->layers[i].name, g->layers[i].repeats);
    for (size_t i = 0; i < g->n_layers; i++)
        if (g->layers[i].rounds > 1)
            return fail(err, "layer %s stands for %u rounds and describes only one, which cannot be executed; run one (recipe.repeat=1), or a loop of few rounds",
                        g->layers[i].name, g->layers[i].rounds);
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == OP_CODELET)
            return fail(err, "operation %zu, %s of layer %s, is described by a sheet, which says what it costs and not what it computes: it cannot be executed; "
                             "stop before it with --set recipe.output=NAME", i, g->ops[i].at->codelet->name, g->layers[g->ops[i].layer_id].name);
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].sharded)
            return fail(err, "table %s of layer %s has its rows on several replicas, which cannot be executed; leave out parallel.shard_tables",
                        g->tensors[i].name, g->layers[g->tensors[i].layer_id].name);
    return true;
}

/* ---- operands --------------------------------------------------------------------------------------- */

#define OP_TEXT "operation %u (%s %s of layer %s)"
#define OP_NAMES(g, op) (unsigned)((op) - (g)->ops), op_kind_names[(op)->kind], op_pass_names[(op)->pass], (g)->layers[(op)->layer_id].name

static bool check_operands(const struct graph *g, const struct op *op, const uint32_t *ids, uint32_t n, const struct tensor_value *values, const char *does,
                           struct err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct tensor *t = &g->tensors[ids[i]];
        if (!values[ids[i]].x)
            return fail(err, OP_TEXT " %s tensor %u (%s of layer %s), which is not there", OP_NAMES(g, op), does, ids[i], t->name,
                        g->layers[t->layer_id].name);
        if (values[ids[i]].n_elements != tensor_elements(t))
            return fail(err, OP_TEXT " %s tensor %u (%s) of %ju elements, want %ju", OP_NAMES(g, op), does, ids[i], t->name,
                        (uintmax_t)values[ids[i]].n_elements, (uintmax_t)tensor_elements(t));
    }
    return true;
}

/* The operation's indices or labels, which are its second forward operand, and the number that they must stay below. Scores of a transducer end
   with the blank, which is no label. */
static uint64_t indices_limit(uint64_t *least, const struct graph *g, const struct op *f)
{
    const struct tensor *t = &g->tensors[f->inputs[0]];
    uint64_t rows = t->n_dims > 1 ? tensor_whole_size(t, t->n_dims - 2) : 0, classes = tensor_whole_size(t, t->n_dims - 1);
    *least = 0;
    if (f->kind == OP_GATHER || f->kind == OP_SCATTER)
        return *least = rows;
    if (f->kind == OP_TRANSDUCER_LOSS)
        return classes - 1;
    *least = f->kind == OP_CROSS_ENTROPY;
    return f->kind == OP_CROSS_ENTROPY ? classes : 0;
}

static bool check_indices(const struct graph *g, const struct op *op, const struct tensor_value *values, struct err *err)
{
    const struct op *f = op_forward(g, op);
    uint64_t least, limit = op->forward_op == NO_ID && op->pass != PASS_FORWARD ? 0 : indices_limit(&least, g, f);
    const struct tensor_value *at = limit ? &values[f->inputs[1]] : NULL;
    for (uint64_t i = 0; at && at->x && i < at->n_elements; i++)
        if (!((double)at->x[i] >= -(double)least && (double)at->x[i] < (double)limit))
            return fail(err, OP_TEXT ": element %ju of tensor %u (%s) is %g, want %s%ju to %ju", OP_NAMES(g, op), (uintmax_t)i, f->inputs[1],
                        g->tensors[f->inputs[1]].name, (double)at->x[i], least ? "-" : "", (uintmax_t)least, (uintmax_t)(limit - 1));
    return true;
}

/* ---- execution ----------------------------------------------------------------------------------------- */

static real **elements_of(const struct graph *g, const struct tensor_value *values, struct arena *a)
{
    real **v = ARENA_ARRAY(a, real *, g->n_tensors);
    for (size_t i = 0; i < g->n_tensors; i++)
        v[i] = values[i].x;
    return v;
}

static struct product_way way_of(const struct graph *g, const struct op *op, const struct op_context *c)
{
    enum data_type type = g->tensors[op_forward(g, op)->inputs[0]].type;
    bool narrow = c->precision.by_type && number_format_of(type) != FORMAT_FP32;
    return (struct product_way){ c->n_threads, narrow ? AMP_UNIT_BYTES / (uint32_t)data_type_bytes(type) : 0, c->precision.partials == PARTIALS_FP16 };
}

static void round_tensor(const struct graph *g, uint32_t id, float *x, uint64_t key, const struct precision *p, struct rounding_counts *counts)
{
    const struct tensor *t = &g->tensors[id];
    enum number_format f = t->type == TYPE_FP8 && p->fp8_is_e5m2 ? FORMAT_E5M2 : number_format_of(t->type);
    const struct rounding_draws draws = { p->stochastic_rounding, key, id, 0 };
    struct rounding_counts ignored = { 0 };
    if (p->by_type && f != FORMAT_FP32)
        round_elements(x, tensor_elements(t), f, t->type == TYPE_FP8 ? rounding_scale(x, tensor_elements(t), f) : 0, &draws, counts ? &counts[t->role] : &ignored);
}

void round_given(const struct execution *x, uint32_t id, float *values)
{
    const struct precision nearest = { .by_type = x->o.precision.by_type, .fp8_is_e5m2 = x->o.precision.fp8_is_e5m2 };
    const struct tensor *t = &x->g->tensors[id];
    if (t->type == TYPE_INT4 && nearest.by_type)
        round_groups(values, tensor_elements(t) / t->dims[t->n_dims - 1], t->dims[t->n_dims - 1]);
    else
        round_tensor(x->g, id, values, 0, &nearest, NULL);
}

static bool check_peers(const struct graph *g, const struct op *op, const struct op_context *c, struct err *err)
{
    for (uint32_t p = 0; p < c->n_peers; p++)
        if (!check_operands(g, op, op->inputs, op->n_inputs, c->peers[p], "reads on another replica", err))
            return false;
    return true;
}

bool op_execute(const struct graph *g, uint32_t op_id, const struct tensor_value *values, const struct op_context *c, struct err *err)
{
    const struct op *op = &g->ops[op_id];
    if (op->kind == OP_LSTM && op->at->with_cell && op->pass != PASS_FORWARD)
        return fail(err, OP_TEXT ": an LSTM that hands on its cell state is executed forward only", OP_NAMES(g, op));
    if (!check_operands(g, op, op->inputs, op->n_inputs, values, "reads", err)
        || !check_operands(g, op, op->outputs, op->n_outputs, values, "writes", err)
        || !check_indices(g, op, values, err) || !check_peers(g, op, c, err))
        return false;
    struct arena a = { 0 };
    struct run r = { .g = g, .op = op, .v = elements_of(g, values, &a), .mean_losses = c->mean_losses, .rank = c->rank, .way = way_of(g, op, c),
                     .loss_factor = c->loss_factor > 0 ? c->loss_factor : 1,
                     .dropout_key = { op->forward_op == NO_ID ? op_id : op->forward_op, c->dropout_key } };
    real *const **peers = ARENA_ARRAY(&a, real *const *, max_u32(c->n_peers, 1));
    peers[0] = r.v;
    for (uint32_t p = 0; p < c->n_peers; p++)
        peers[p] = elements_of(g, c->peers[p], &a);
    r.peers = peers, r.n_peers = max_u32(c->n_peers, 1);
    run_kernel(&r);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        round_tensor(g, op->outputs[k], values[op->outputs[k]].x, c->dropout_key, &c->precision, c->counts);
    arena_free(&a);
    return true;
}
