/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - reads an ONNX file into a model: its initialisers, inputs, nodes in order, outputs.
 */
#include "workloads/onnx/model.h"
#include <inttypes.h>

/* Some exporters (Paddle's) write all weights as Constant nodes. Where a file has no initialiser but single numbers, these are its parameters;
 * elsewhere they are numbers of the model's code. Files that are stripped of weights have their sizes as initialisers. */
static bool lacks_initialisers(const struct onnx_model *m)
{
    bool found = false;
    for (size_t i = 0; i < m->n_values && !found; i++)
        found = m->values[i].data && onnx_elements(&m->values[i]) > 1;
    return !found;
}

static bool link_inputs(struct onnx_model *m, const Onnx__GraphProto *g, struct err *err)
{
    m->inputs = ARENA_ARRAY(m->arena, uint32_t, g->n_input);
    for (size_t i = 0; i < g->n_input; i++) {
        uint32_t id = onnx_value(m, g->input[i]->name ? g->input[i]->name : "");
        if (m->values[id].constant)
            continue;
        if (!onnx_add_info(m, id, g->input[i], err))
            return false;
        m->inputs[m->n_inputs++] = id;
    }
    return true;
}

/* Shapes that the file gives for values in between serve operations whose own shape is not known. */
static bool link_outputs(struct onnx_model *m, const Onnx__GraphProto *g, struct err *err)
{
    m->outputs = ARENA_ARRAY(m->arena, uint32_t, g->n_output);
    for (size_t i = 0; i < g->n_output; i++) {
        uint32_t id = onnx_value(m, g->output[i]->name ? g->output[i]->name : "");
        if (m->values[id].producer == NO_ID)
            return fail(err, "%s: output %.80s is made by no node", m->path, m->values[id].name);
        m->values[id].output = true;
        m->outputs[m->n_outputs++] = id;
    }
    if (!m->n_outputs)
        return fail(err, "%s: the graph has no output", m->path);
    for (size_t i = 0; i < g->n_value_info; i++)
        if (!onnx_add_info(m, onnx_value(m, g->value_info[i]->name ? g->value_info[i]->name : ""), g->value_info[i], err))
            return false;
    return true;
}

static bool check_opset(struct onnx_model *m, const Onnx__ModelProto *model, struct err *err)
{
    for (size_t i = 0; i < model->n_opset_import; i++)
        if (!model->opset_import[i]->domain || !*model->opset_import[i]->domain || text_is(model->opset_import[i]->domain, "ai.onnx"))
            m->opset = model->opset_import[i]->version;
    if (m->opset < OLDEST_OPSET || m->opset > NEWEST_OPSET)
        return fail(err, "%s: opset %" PRId64 ", want %d to %d; export again with opset_version=17", m->path, m->opset, OLDEST_OPSET,
                    NEWEST_OPSET);
    return true;
}

bool onnx_read(struct onnx_model *out, const char *path, bool contents, struct arena *a, struct err *err)
{
    *out = (struct onnx_model){ .path = path, .arena = a };
    const Onnx__ModelProto *model = onnx_unpack_model(path, contents, a, err);
    if (!model || !check_opset(out, model, err))
        return false;
    const Onnx__GraphProto *g = model->graph;
    out->file = model;
    out->producer = model->producer_name && *model->producer_name ? model->producer_name : "not named";
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!onnx_add_initialiser(out, g->initializer[i], "", err))
            return false;
    out->weights_in_nodes = lacks_initialisers(out);
    if (!link_inputs(out, g, err))
        return false;
    return onnx_link_nodes(out, onnx_in_order(out, g->node, g->n_node), g->n_node, err) && link_outputs(out, g, err);
}
