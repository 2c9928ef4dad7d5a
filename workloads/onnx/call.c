/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * call.c - functions of the file, in the place of the nodes that call them.
 *
 * A function sees its parameters and what its own nodes make. Its nodes are linked again for each call, under a scope of their own ("f3/"):
 * its parameters are the caller's values, its results too where the caller takes them. A result that is a parameter as it is, is copied.
 */
#include "workloads/onnx/model.h"
#include <string.h>

enum { DEEPEST = 32, MOST_CALLS = 50000 };

struct linker { struct onnx_model *m; uint32_t n_calls, depth; struct err *err; };

static const Onnx__FunctionProto *function_of(const struct onnx_model *m, const Onnx__NodeProto *p)
{
    for (size_t i = 0; i < m->file->n_functions; i++) {
        const Onnx__FunctionProto *f = m->file->functions[i];
        if (text_is(f->name, p->op_type) && text_is(f->domain ? f->domain : "", p->domain ? p->domain : ""))
            return f;
    }
    return NULL;
}

/* Room for one more node; NO_ID: too many. */
static uint32_t add_node(struct linker *l)
{
    struct onnx_model *m = l->m;
    if (m->n_nodes >= MOST_NODES) {
        fail(l->err, "%s: more than %d nodes with those of its functions", m->path, MOST_NODES);
        return NO_ID;
    }
    m->nodes = arena_grow(m->arena, m->nodes, m->n_nodes, &m->cap_nodes, sizeof *m->nodes);
    m->nodes[m->n_nodes] = (struct onnx_node){ .op = "", .name = "", .written = "", .scope = "" };
    return (uint32_t)m->n_nodes++;
}

static bool is_parameter(const Onnx__FunctionProto *f, const char *name)
{
    for (size_t i = 0; i < f->n_input; i++)
        if (text_is(f->input[i], name))
            return true;
    return false;
}

static bool copy_parameter(struct linker *l, uint32_t from, uint32_t to)
{
    struct onnx_model *m = l->m;
    uint32_t id = add_node(l);
    if (id == NO_ID)
        return false;
    struct onnx_node *n = &m->nodes[id];
    n->op = n->written = "Identity";
    n->n_inputs = n->n_outputs = 1;
    n->inputs = ARENA_ARRAY(m->arena, uint32_t, 1);
    n->outputs = ARENA_ARRAY(m->arena, uint32_t, 1);
    n->inputs[0] = from;
    n->outputs[0] = to;
    if (from == NO_ID || m->values[to].producer != NO_ID || m->values[to].constant)
        return onnx_refuse(m, n, l->err, "a function hands on a parameter that is left out, or makes a value a second time");
    m->values[from].n_readers++;
    m->values[to].producer = id;
    return true;
}

static bool link_nodes(struct linker *l, Onnx__NodeProto *const *nodes, size_t n, const char *scope, const struct onnx_call *call);

/* What the node read and made, the function's nodes will. */
static void bind_call(struct onnx_model *m, const struct onnx_node *by, const Onnx__FunctionProto *f, const char *inside)
{
    onnx_reads_no_more(m, by);
    for (uint32_t i = 0; i < by->n_outputs; i++)
        if (by->outputs[i] != NO_ID)
            m->values[by->outputs[i]].producer = NO_ID;
    for (size_t i = 0; i < f->n_input; i++)
        onnx_bind(m, inside, f->input[i], i < by->n_inputs ? by->inputs[i] : NO_ID);
    for (size_t i = 0; i < f->n_output && i < by->n_outputs; i++)
        if (by->outputs[i] != NO_ID && !is_parameter(f, f->output[i]))
            onnx_bind(m, inside, f->output[i], by->outputs[i]);
}

/* The node that calls stands for a moment, so that its names are found as any node's are. */
static bool link_call(struct linker *l, const Onnx__NodeProto *p, const Onnx__FunctionProto *f, const char *scope, const struct onnx_call *outer)
{
    struct onnx_model *m = l->m;
    uint32_t id = add_node(l);
    if (id == NO_ID || !onnx_link_node(m, id, p, scope, outer, l->err))
        return false;
    struct onnx_node by = m->nodes[id];
    if (++l->depth > DEEPEST || l->n_calls >= MOST_CALLS)
        return onnx_refuse(m, &m->nodes[id], l->err, "functions call each other more than %d deep, or %d times", DEEPEST, MOST_CALLS);
    m->n_nodes--;
    const char *inside = arena_printf(m->arena, "f%u/", l->n_calls++);
    struct onnx_call *call = ARENA_NEW(m->arena, struct onnx_call);
    *call = (struct onnx_call){ f, p, outer };
    bind_call(m, &by, f, inside);
    if (!link_nodes(l, f->node, f->n_node, inside, call))
        return false;
    for (size_t i = 0; i < f->n_output && i < by.n_outputs; i++)
        if (by.outputs[i] != NO_ID && is_parameter(f, f->output[i]) &&
            !copy_parameter(l, onnx_value_seen(m, inside, f->output[i]), by.outputs[i]))
            return false;
    l->depth--;
    return true;
}

static bool link_nodes(struct linker *l, Onnx__NodeProto *const *nodes, size_t n, const char *scope, const struct onnx_call *call)
{
    for (size_t i = 0; i < n; i++) {
        const Onnx__FunctionProto *f = function_of(l->m, nodes[i]);
        uint32_t id = f ? NO_ID : add_node(l);
        if (f ? !link_call(l, nodes[i], f, scope, call) : id == NO_ID || !onnx_link_node(l->m, id, nodes[i], scope, call, l->err))
            return false;
    }
    return true;
}

bool onnx_link_nodes(struct onnx_model *m, Onnx__NodeProto *const *nodes, size_t n, struct err *err)
{
    struct linker l = { .m = m, .err = err };
    return link_nodes(&l, nodes, n, "", NULL);
}
