/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_plan.c - which planner makes the plan of an operation; plan_cache.c has the plans made before.
 */
#include "system-model/compiler/conv.h"
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

const char *const vertex_kind_names[N_VERTEX_KINDS] = {
    [VERTEX_NONE] = "vector", [VERTEX_AMP_1X1] = "amp-1x1", [VERTEX_AMP_NX1] = "amp-nx1", [VERTEX_SLIC] = "slic",
    [VERTEX_HMAC] = "hmac", [VERTEX_OUTER_PRODUCT] = "outer-product",
};

const char *const partials_type_names[] = { [PARTIALS_FP16] = "fp16", [PARTIALS_FP32] = "fp32", NULL };

uint64_t chip_mac_per_cycle(const struct chip *c, enum data_type type, enum partials_type partials)
{
    if (type == TYPE_FP32)
        return c->mac_fp32_per_cycle;
    if (type == TYPE_FP8)
        return c->mac_fp8_per_cycle;
    return partials == PARTIALS_FP16 ? c->mac_fp16_fp16_per_cycle : c->mac_fp16_fp32_per_cycle;
}

bool chip_multiplies(const struct chip *c, enum data_type type, const char *where, struct err *err)
{
    if (type != TYPE_FP8 || c->mac_fp8_per_cycle > 0)
        return true;
    return fail(err, "%s: fp8, but %s multiplies no 8-bit floats (mac_fp8_per_cycle is 0 on its sheet); want fp16, or a chip that does, "
                "such as c600", where, c->name);
}

/* ---- from the graph -------------------------------------------------------------------------------------------- */

/* Padding in front along one axis, 0 down and 1 across. The pad of a kernel of one element does not count. */
static uint32_t zeros_before(const struct op_attributes *at, uint32_t axis, uint32_t kernel)
{
    return (kernel > 1 ? at->pad : 0) + at->zeros[axis];
}

/* The result of a transposed convolution is the input of the convolution that it reverses. */
static struct conv_params conv_params(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    bool turned = f->kind == OP_CONV_TRANSPOSE;
    const struct tensor *w = &g->tensors[f->inputs[1]];
    const struct tensor *x = &g->tensors[turned ? f->outputs[0] : f->inputs[0]];
    const struct tensor *y = &g->tensors[turned ? f->inputs[0] : f->outputs[0]];
    uint32_t groups = f->at->groups ? f->at->groups : 1, kernel_h = (uint32_t)w->dims[0], kernel_w = (uint32_t)w->dims[1];
    return (struct conv_params){
        .groups = groups, .batch = (uint32_t)x->dims[0], .in_h = (uint32_t)x->dims[1], .in_w = (uint32_t)x->dims[2],
        .out_h = (uint32_t)y->dims[1], .out_w = (uint32_t)y->dims[2], .kernel_h = kernel_h, .kernel_w = kernel_w,
        .in_chans = (uint32_t)w->dims[2], .out_chans = (uint32_t)(w->dims[3] / groups), .stride = f->at->stride ? f->at->stride : 1,
        .type = x->type, .stride_w = f->at->stride_w, .pad_h = zeros_before(f->at, 0, kernel_h), .pad_w = zeros_before(f->at, 1, kernel_w),
        .dilation = f->at->dilation,
    };
}

/* The user's serialisation: n matmuls one after the other, each over a part of the columns. */
static void repeat_plan(struct op_plan *p, uint64_t n)
{
    p->compute_cycles *= n;
    p->exchange_cycles *= n;
    p->sync_cycles *= n;
    p->rearrange_cycles *= n;
    p->exchanged_bytes *= n;
    p->n_supersteps *= (uint32_t)n;
    p->mac *= n;
    p->padded_mac *= n;
}

static struct conv_shape matmul_pass_shape(const struct matmul_shape *m, enum data_type type, enum op_pass pass)
{
    uint32_t g = (uint32_t)m->groups, rows = (uint32_t)m->rows, inner = (uint32_t)m->inner;
    uint32_t columns = (uint32_t)m->columns;
    if (pass == PASS_BACKWARD_DATA)
        return matmul_conv_shape(g, rows, columns, inner, type, PASS_BACKWARD_DATA);
    if (pass == PASS_BACKWARD_WEIGHT)
        return matmul_conv_shape(g, inner, rows, columns, type, PASS_BACKWARD_WEIGHT);
    return matmul_conv_shape(g, rows, inner, columns, type, PASS_FORWARD);
}

/* True if an operation made the tensor and determined its layout; inputs and weights are laid out for their readers.
 * */
static uint32_t is_made(const struct graph *g, uint32_t tensor_id)
{
    return g->tensors[tensor_id].producer_op != NO_ID;
}

static void plan_matmul(struct op_plan *out, const struct graph *g, const struct op *op, const struct chip *chip,
                        const struct op_plan_options *opt, struct plan_cache *cache)
{
    const struct op *f = op_forward(g, op);
    struct matmul_shape m = op_matmul_shape(g, op);
    uint64_t steps = max_u64(1, f->at->serial_steps), mac = op_mac(g, op);
    enum data_type type = g->tensors[f->inputs[0]].type;
    m.columns = ceil_div(m.columns, steps);
    bool of_weight = g->tensors[f->inputs[1]].role == ROLE_WEIGHT;
    if (of_weight && !opt->inference && !opt->plain_products) {
        cached_fully_connected(out, &m, type, op->pass, chip, opt, cache);
    } else {
        struct conv_shape s = matmul_pass_shape(&m, type, op->pass);
        s.weights_elsewhere = is_made(g, f->inputs[0]);
        s.in_elsewhere = is_made(g, f->inputs[1]);
        s.weights_stay = opt->plain_products;
        cached_conv_plan(out, &s, chip, opt, cache);
    }
    repeat_plan(out, steps);
    out->mac = mac;
}

static enum op_pass turned_pass(enum op_pass pass)
{
    return pass == PASS_FORWARD ? PASS_BACKWARD_DATA : pass == PASS_BACKWARD_DATA ? PASS_FORWARD : pass;
}

/* An operation that makes a new layout does not depend on how its operands lie, apart from the crowding of the tiles that send a transpose. */
struct operands op_operands(const struct op *op, struct operands at)
{
    if (op_keeps_layout(op))
        return at;
    return (struct operands){ .imbalance = 1, .crowding = op->kind == OP_TRANSPOSE ? at.crowding : 0 };
}

static uint64_t listed_bytes(const struct graph *g, const uint32_t *ids, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += tensor_bytes(&g->tensors[ids[i]]);
    return sum;
}

static void add_function_copy(struct op_plan *out, uint64_t n_bytes, const struct chip *chip, const struct op_plan_options *opt)
{
    struct op_plan copy;
    copy_plan(&copy, n_bytes, chip, opt);
    out->compute_cycles += copy.compute_cycles;
    out->rearrange_cycles += copy.compute_cycles;
    out->sync_cycles += copy.sync_cycles;
    out->n_supersteps += copy.n_supersteps;
    out->code.supersteps += copy.code.supersteps;
    out->temp_bytes_per_tile += ceil_div(n_bytes, opt->n_tiles ? opt->n_tiles : chip->n_tiles);
}

/* TensorFlow makes these operations functions, of which equal ones are one, and copies operands into a function and results out of it at each call (graphcore/
 * tensorflow sdk 2.1.0 to 3.2.0 driver/tools/generic_graph_caching.cc, ops/custom_ops/popops/conv_ops.cc, popnn/norm.cc, ops/maths_ops.cc; PopLibs
 * lib/poputil/GraphFunction.cpp). The copies stay on their tiles: that operands of another call lie elsewhere is left out. Both gradients of a norm are one function. */
static void add_function_call(struct op_plan *out, const struct graph *g, const struct op *op, const struct chip *chip, const struct op_plan_options *opt)
{
    static const bool functions[N_OP_KINDS] = {
        [OP_CONV] = true, [OP_CONV_TRANSPOSE] = true, [OP_MATMUL] = true, [OP_BATCH_NORM] = true, [OP_GROUP_NORM] = true, [OP_LAYER_NORM] = true,
        [OP_LSTM] = true, [OP_GRU] = true,
    };
    bool with_data_pass = op_part(op) == PART_NORM && op->pass == PASS_BACKWARD_WEIGHT;
    if (!opt->operations_by_value || !functions[op->kind] || with_data_pass)
        return;
    add_function_copy(out, listed_bytes(g, op->inputs, op->n_inputs), chip, opt);
    add_function_copy(out, listed_bytes(g, op->outputs, op->n_outputs), chip, opt);
}

void op_plan_build(struct op_plan *out, const struct graph *g, uint32_t op_id, struct operands at, const struct chip *chip,
                   const struct op_plan_options *opt, struct plan_cache *cache)
{
    const struct op *op = &g->ops[op_id];
    if (op->kind == OP_MATMUL) {
        plan_matmul(out, g, op, chip, opt, cache);
    } else if (op->kind == OP_CONV || op->kind == OP_CONV_TRANSPOSE) {
        struct conv_params p = conv_params(g, op);
        enum op_pass pass = op->kind == OP_CONV ? op->pass : turned_pass(op->pass);
        struct conv_shape s = conv_shape_of_pass(&p, pass);
        s.in_elsewhere = op->pass != PASS_FORWARD || is_made(g, op->inputs[0]);   /* in a backward pass, the operand has always been laid out by another operation */
        cached_conv_plan(out, &s, chip, opt, cache);
    } else {
        vector_op_plan(out, g, op, op_operands(op, at), chip, opt, cache);
    }
    add_function_call(out, g, op, chip, opt);
}
