/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place.c - nodes of ours in the place of others, whose work they do.
 */
#include "workloads/onnx/model.h"
#include <string.h>

bool onnx_make_room(struct onnx_model *m, size_t from, size_t n, struct err *err)
{
    if (m->n_nodes + n > MOST_NODES)
        return fail(err, "%s: more than %d nodes with those of its branches and loops", m->path, MOST_NODES);
    for (size_t i = 0; i < n; i++)
        m->nodes = arena_grow(m->arena, m->nodes, m->n_nodes + i, &m->cap_nodes, sizeof *m->nodes);
    memmove(m->nodes + from + n, m->nodes + from, (m->n_nodes - from) * sizeof *m->nodes);
    for (size_t i = 0; i < m->n_values; i++)
        if (m->values[i].producer != NO_ID && m->values[i].producer >= from)
            m->values[i].producer += (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        m->nodes[from + i] = (struct onnx_node){ .op = "", .name = "", .written = "", .scope = "", .gone = true };
    m->n_nodes += n;
    return true;
}

void onnx_put(struct onnx_model *m, size_t at, const char *op, uint32_t n_inputs, const uint32_t *inputs, uint32_t result)
{
    struct onnx_node *n = &m->nodes[at];
    *n = (struct onnx_node){ .op = op, .name = "", .written = op, .scope = "", .n_inputs = n_inputs, .n_outputs = 1 };
    n->inputs = ARENA_ARRAY(m->arena, uint32_t, n_inputs);
    n->outputs = ARENA_ARRAY(m->arena, uint32_t, 1);
    n->outputs[0] = result;
    for (uint32_t i = 0; i < n_inputs; i++) {
        n->inputs[i] = inputs[i];
        m->values[inputs[i]].n_readers++;
    }
    m->values[result].producer = (uint32_t)at;
}

void onnx_put_axis(struct onnx_model *m, size_t at, const char *op, uint32_t input, uint32_t result, int64_t axis)
{
    Onnx__NodeProto *n = ARENA_NEW(m->arena, Onnx__NodeProto);
    Onnx__AttributeProto *p = ARENA_NEW(m->arena, Onnx__AttributeProto);
    *n = (Onnx__NodeProto)ONNX__NODE_PROTO__INIT;
    *p = (Onnx__AttributeProto)ONNX__ATTRIBUTE_PROTO__INIT;
    p->name = arena_strdup(m->arena, "axes");
    p->n_ints = n->n_attribute = 1;
    p->ints = ARENA_ARRAY(m->arena, int64_t, 1);
    p->ints[0] = axis;
    n->attribute = ARENA_ARRAY(m->arena, Onnx__AttributeProto *, 1);
    n->attribute[0] = p;
    onnx_put(m, at, op, 1, &input, result);
    m->nodes[at].proto = n;
}

void onnx_reads_no_more(struct onnx_model *m, const struct onnx_node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_ID)
            m->values[n->inputs[i]].n_readers--;
}

void onnx_retire(struct onnx_model *m, size_t id, const char *why)
{
    struct onnx_node *n = &m->nodes[id];
    onnx_reads_no_more(m, n);
    n->n_inputs = n->n_outputs = 0;
    n->gone = true;
    n->fused_as = why;
}

uint32_t onnx_number(struct onnx_model *m, const char *name, int type, double x)
{
    uint32_t id = onnx_value(m, name);
    struct onnx_value *v = &m->values[id];
    v->type = type;
    v->shaped = v->constant = true;
    v->known = ARENA_ARRAY(m->arena, double, 1);
    v->known[0] = x;
    return id;
}
