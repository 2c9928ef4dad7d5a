/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.c - an ONNX file as a graph: its inputs, its nodes in order, the loss, layers, and the backward pass.
 *
 * The first output is what is trained: softmax, if it ends in one, and cross-entropy against one label a row. A loss in the file is that.
 */
#include "workloads/onnx/map_internal.h"
#include <string.h>

/* ---- inputs and outputs ------------------------------------------------------------------------------------------------ */

/* A window reads it, perhaps behind a few operations element by element. */
static bool goes_to_window(const struct onnx_model *m, uint32_t value, uint32_t depth)
{
    static const char *const windows[] = { "Conv", "MaxPool", "AveragePool" };
    static const char *const between[] = { "Sub", "Div", "Mul", "Add", "Cast", "Pad", "Identity", "BatchNormalization", "Resize", "Transpose",
                                           "Slice", "Concat" };
    for (const struct onnx_node *n = m->nodes, *end = m->nodes + m->n_nodes; n < end; n++) {
        bool passes = false;
        if (n->gone || n->n_inputs == 0 || n->inputs[0] != value)
            continue;
        for (size_t k = 0; k < sizeof windows / sizeof *windows; k++)
            if (text_is(n->op, windows[k]))
                return true;
        for (size_t k = 0; k < sizeof between / sizeof *between; k++)
            passes |= text_is(n->op, between[k]);
        if (passes && depth > 0 && onnx_out(m, n, 0) && goes_to_window(m, n->outputs[0], depth - 1))
            return true;
    }
    return false;
}

/* Four dimensions of floats, or five, with one, three or four channels, under a window, are pictures. */
static bool is_picture(const struct onnx_model *m, uint32_t value)
{
    const struct onnx_value *v = &m->values[value];
    return (v->n_dims == 4 || v->n_dims == 5) && (v->type == ONNX_FLOAT || v->type == ONNX_FLOAT16) &&
           (v->dims[1] == 1 || v->dims[1] == 3 || v->dims[1] == 4) && goes_to_window(m, value, 3);
}

static void map_input(struct mapper *p, uint32_t value, size_t i)
{
    const struct onnx_value *v = &p->m->values[value];
    uint64_t dims[ONNX_MAX_DIMS];
    bool picture = is_picture(p->m, value);
    uint32_t n = map_tensor_dims(dims, v);
    if (picture)
        image_dims(dims, v);
    n = picture ? 4 : n;
    bool bytes = picture && p->o->byte_images;
    uint32_t tensor = graph_tensor(p->g, v->name, ROLE_INPUT, bytes ? TYPE_UINT8 : map_type(p, v->type), n, dims);
    p->import->inputs[i] = tensor;
    p->import->input_is_image[i] = picture;
    if (bytes)
        tensor = graph_op(p->g, OP_INPUT_PREPARE, &tensor, 1, AT(.to_type = p->o->type));
    p->of[value] = (struct mapped){ tensor, NO_ID, picture, false };
}

static bool add_loss(struct mapper *p, uint32_t tensor)
{
    const struct tensor *t = &p->g->tensors[tensor];
    uint32_t n = t->n_dims > 1 ? t->n_dims - 1 : 1;
    uint64_t dims[MAX_DIMS], last = t->dims[t->n_dims - 1], rows = tensor_elements(t) / last;
    memcpy(dims, t->dims, sizeof dims);
    if (t->n_dims < 2) {
        tensor = VIEW(p, tensor, rows, last);
        dims[0] = rows;
    }
    uint32_t labels = graph_tensor(p->g, "labels", ROLE_INPUT, TYPE_INT32, n, dims);
    graph_op(p->g, OP_CROSS_ENTROPY, (uint32_t[]){ tensor, labels }, 2, NO_ATTRIBUTES);
    return true;
}

static bool ends_in_softmax(const struct mapper *p, uint32_t value)
{
    const struct onnx_value *v = &p->m->values[value];
    const struct onnx_node *n = v->producer == NO_ID ? NULL : &p->m->nodes[v->producer];
    return n && (text_is(n->op, "Softmax") || text_is(n->op, "LogSoftmax"));
}

static bool is_loss(const struct mapper *p, uint32_t value)
{
    const struct onnx_value *v = &p->m->values[value];
    const struct onnx_node *n = v->producer == NO_ID ? NULL : &p->m->nodes[v->producer];
    return n && (text_is(n->op, "SoftmaxCrossEntropyLoss") || text_is(n->op, "NegativeLogLikelihoodLoss"));
}

static void make_part_of_loss(struct mapper *p)
{
    struct onnx_node *n = &p->m->nodes[p->m->values[p->m->outputs[0]].producer];
    n->fused_as = "the loss";
    n->gone = true;
    p->m->outputs[0] = n->inputs[0];
    p->m->values[n->inputs[0]].output = true;
}

/* A loss that the file has is the one that is added, and the softmax before it is part of it. */
static void drop_loss(struct mapper *p)
{
    if (!p->o->inference && is_loss(p, p->m->outputs[0]))
        make_part_of_loss(p);
    if (!p->o->inference && ends_in_softmax(p, p->m->outputs[0]))
        make_part_of_loss(p);
}

static bool refuse_idle(const struct mapper *p)
{
    return fail(p->err, "%s: no product or convolution in it; nothing to simulate", p->m->path);
}

static bool map_output(struct mapper *p)
{
    uint32_t value = p->m->outputs[0];
    if (p->m->values[value].producer == NO_ID)
        return refuse_idle(p);              /* the loss of an input */
    p->n = &p->m->nodes[p->m->values[value].producer];
    bool image = is_image(p, value);
    uint32_t tensor = image ? as_image(p, value) : p->m->values[value].n_dims > MAX_DIMS ? any_plain(p, value) : as_plain(p, value);
    if (tensor == NO_ID)
        return false;
    p->import->output = tensor;
    p->import->output_is_image = image;
    if (p->o->inference)
        return true;
    p->import->loss = p->m->values[value].name;
    return add_loss(p, tensor);
}

static bool has_work(const struct graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (op_mac(g, &g->ops[i]))
            return true;
    return false;
}

static bool map_all(struct mapper *p)
{
    struct onnx_model *m = p->m;
    p->import->inputs = ARENA_ARRAY(m->arena, uint32_t, m->n_inputs);
    p->import->input_is_image = ARENA_ARRAY(m->arena, bool, m->n_inputs);
    p->import->n_inputs = m->n_inputs;
    for (size_t i = 0; i < m->n_values; i++)
        p->of[i] = (struct mapped){ NO_ID, NO_ID, false, false };
    for (size_t i = 0; i < m->n_inputs; i++)
        map_input(p, m->inputs[i], i);
    drop_loss(p);
    p->wanted = map_wanted(p);
    for (size_t i = 0; i < m->n_nodes; i++) {
        p->n = &m->nodes[i];
        if (!map_node(p))
            return false;
    }
    return map_output(p);
}

bool onnx_is_file(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n > 5 && strcmp(name + n - 5, ".onnx") == 0;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool onnx_build(struct graph *out, struct onnx_import *import, const char *path, const struct onnx_options *o, struct arena *a,
                struct err *err)
{
    struct onnx_model *m = ARENA_NEW(a, struct onnx_model);
    *import = (struct onnx_import){ .model = m };
    if (!onnx_read(m, path, o->contents, a, err) || !onnx_reach(m, o, err) || !onnx_infer(m, o, err))
        return false;
    onnx_fuse(m);
    import->producer = m->producer;
    import->opset = m->opset;
    import->n_nodes = m->n_nodes;
    graph_start(out, file_name(path), o->batch, a);
    graph_layer(out, (struct layer){ .name = "all" });
    struct mapper p = { .m = m, .g = out, .o = o, .import = import, .of = ARENA_ARRAY(a, struct mapped, m->n_values), .err = err };
    if (!map_all(&p))
        return false;
    if (!has_work(out))
        return refuse_idle(&p);
    onnx_group_layers(out);
    if (!o->inference)
        graph_add_backward(out);
    return true;
}
