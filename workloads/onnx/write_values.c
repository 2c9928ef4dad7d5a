/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write_values.c - the nodes and constants of a written graph, and each value in the layout that its reader wants.
 */
#include "workloads/onnx/write.h"
#include <string.h>

/* ---- messages -------------------------------------------------------------------------------------------------------- */

void *writer_append(struct writer *w, void *list, size_t *n, size_t *cap, void *one)
{
    void **all = arena_grow(&w->a, list, *n, cap, sizeof *all);
    all[(*n)++] = one;
    return all;
}

static void mark_layer(struct writer *w, Onnx__NodeProto *n)
{
    const struct layer *l = &w->g->layers[w->op->layer_id];
    const char *text = arena_printf(&w->a, "%d %u %u %u %s", (int)l->role, l->block_id, l->part_id, l->n_parts, l->name);
    n->metadata_props = ARENA_ARRAY(&w->a, Onnx__StringStringEntryProto *, 1);
    n->metadata_props[n->n_metadata_props++] = onnx_new_entry(&w->a, ONNX_LAYER_KEY, text);
}

Onnx__NodeProto *writer_node(struct writer *w, const char *op, const char *output, const char *const *inputs)
{
    Onnx__NodeProto *n = onnx_new_node(&w->a, op, arena_printf(&w->a, "%s:%s", output, op));
    n->input = ARENA_ARRAY(&w->a, char *, MAX_OP_INPUTS);
    for (; *inputs; inputs++)
        for (char *at = arena_strdup(&w->a, *inputs), *word; (word = strsep(&at, " ")); )
            n->input[n->n_input++] = word;
    n->output = ARENA_ARRAY(&w->a, char *, MAX_OP_OUTPUTS);
    n->output[n->n_output++] = arena_strdup(&w->a, output);
    if (w->op)
        mark_layer(w, n);
    w->graph.node = writer_append(w, w->graph.node, &w->graph.n_node, &w->cap_nodes, n);
    return n;
}

int writer_type_of(const struct tensor *t)
{
    return t->type == TYPE_INT32 ? ONNX_INT32 : t->type == TYPE_UINT8 ? ONNX_BOOL : ONNX_FLOAT;
}

const char *writer_constant(struct writer *w, Onnx__TensorProto *t)
{
    w->graph.initializer = writer_append(w, w->graph.initializer, &w->graph.n_initializer, &w->cap_weights, t);
    return t->name;
}

const char *writer_integers(struct writer *w, const char *name, uint32_t n, const uint64_t *numbers)
{
    return writer_constant(w, onnx_new_integers(&w->a, name, n, numbers));
}

const char *writer_floats(struct writer *w, const char *name, uint64_t n, double x)
{
    return writer_constant(w, onnx_new_floats(&w->a, name, 1, n, x));
}

const char *writer_number(struct writer *w, const char *name, double x)
{
    return writer_constant(w, onnx_new_floats(&w->a, name, 0, 1, x));
}

/* ---- weights ------------------------------------------------------------------------------------------------------------ */

static void write_data(struct writer *w, Onnx__TensorProto *to, uint32_t id, enum onnx_layout layout)
{
    uint64_t n_bytes = onnx_write_initial(w->data, w->g, id, layout, *w->seed);
    onnx_put_external(&w->a, to, w->location, w->n_data_bytes, n_bytes);
    w->n_data_bytes += n_bytes;
}

static const char *name_of(struct writer *w, uint32_t id)
{
    const struct tensor *t = &w->g->tensors[id];
    const char *layer = w->g->layers[t->layer_id].name;
    if (t->role == ROLE_INPUT)
        return t->name;
    return arena_printf(&w->a, "%s/%s_%u", layer, t->name ? t->name : op_kind_names[w->g->ops[t->producer_op].kind], id);
}

const char *writer_weight(struct writer *w, uint32_t id, enum onnx_layout layout, uint32_t n_dims, const uint64_t *dims)
{
    bool is_column = layout == ONNX_AS_IS && n_dims > 1 && w->g->tensors[id].n_dims == 1;
    const char *name = arena_printf(&w->a, "%s%s", name_of(w, id), is_column ? "_column" : "");
    Onnx__TensorProto *t = onnx_new_tensor(&w->a, name, ONNX_FLOAT, n_dims, dims);
    if (w->seed)
        write_data(w, t, id, layout);
    return writer_constant(w, t);
}

/* State is written as a Constant node, because an initialiser would be trained. */
static const char *state(struct writer *w, uint32_t id)
{
    const struct tensor *s = &w->g->tensors[id];
    double *from = ARENA_ROOM(&w->a, double, tensor_elements(s));
    onnx_initial(from, w->g, id, w->seed ? *w->seed : 0);
    Onnx__TensorProto *t = onnx_new_raw(&w->a, name_of(w, id), writer_type_of(s), s->n_dims, s->dims, from);
    onnx_put_attribute(&w->a, writer_node(w, "Constant", t->name, (const char *const[]){ NULL }), "value", ATTRIBUTE_TENSOR)->t = t;
    return t->name;
}

/* ---- values in both layouts ------------------------------------------------------------------------------------------------ */

const char *writer_plain(struct writer *w, uint32_t id)
{
    const struct tensor *t = &w->g->tensors[id];
    const char **name = &w->plain[id];
    if (w->plain[id])
        return w->plain[id];
    if (t->producer_op == NO_ID && t->role == ROLE_WEIGHT)
        return *name = writer_weight(w, id, ONNX_AS_IS, t->n_dims, t->dims);
    if (t->producer_op == NO_ID && t->role == ROLE_STATE)
        return *name = state(w, id);
    *name = arena_printf(&w->a, "%s_channels_last", w->image[id]);
    PUT_INTS(w, WRITE_NODE(w, "Transpose", *name, w->image[id]), "perm", 0, 2, 3, 1);
    return *name;
}

const char *writer_image(struct writer *w, uint32_t id)
{
    const struct tensor *t = &w->g->tensors[id];
    const char **name = &w->image[id];
    if (w->image[id])
        return w->image[id];
    uint64_t channels = t->dims[t->n_dims - 1];
    if (t->role == ROLE_WEIGHT && tensor_elements(t) == channels)
        return *name = writer_weight(w, id, ONNX_AS_IS, 3, (uint64_t[]){ channels, 1, 1 });
    const char *from = writer_plain(w, id);
    *name = arena_printf(&w->a, "%s_channels_first", from);
    PUT_INTS(w, WRITE_NODE(w, "Transpose", *name, from), "perm", 0, 3, 1, 2);
    return *name;
}

const char *writer_output(struct writer *w, uint32_t i) { return name_of(w, w->op->outputs[i]); }
const char *writer_part(struct writer *w, const char *tag) { return arena_printf(&w->a, "%s_%s", writer_output(w, 0), tag); }

const char *writer_result(struct writer *w) { return (w->as_image ? w->image : w->plain)[w->op->outputs[0]] = writer_output(w, 0); }
const char *writer_input(struct writer *w, uint32_t i) { return (w->as_image ? writer_image : writer_plain)(w, w->op->inputs[i]); }

const char *writer_inputs(struct writer *w)
{
    const char *names = writer_input(w, 0);
    for (uint32_t i = 1; i < w->op->n_inputs; i++)
        names = arena_printf(&w->a, "%s %s", names, writer_input(w, i));
    return names;
}
