/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read.c - reads a file into a model: values by name, nodes by index, each after the nodes that make its inputs.
 *
 * The format demands that order, but tools that add nodes (casts to half precision) append them, as runtimes sort for
 * themselves; so nodes are sorted first. Functions of the file are expanded: their nodes are linked again for each
 * call, under a scope of their own ("f3/"), in which parameters and results are other names for the caller's values. A
 * result that is a parameter itself is copied.
 */
#include "workloads/onnx/onnx_message.h"
#include "workloads/onnx/onnx_passes.h"
#include <string.h>

/* ---- order: depth-first from the first node on; nodes of a cycle keep their order, and linking refuses them ---- */

/* The nodes that make what a node and its bodies read, in the order in which they read it. Those before `at` were visited. */
struct makers { uint32_t *nodes; size_t n, cap, at; bool known; };

struct sorter {
    struct onnx_model *m;
    Onnx__NodeProto *const *nodes, **sorted;
    size_t n_sorted, depth;
    uint32_t *maker;                        /* by value: its node + 1 */
    size_t n_makers;
    struct makers *made_by;                 /* makers by node */
    uint32_t *stack;
    bool *visited;
};

static void visit(struct sorter *s, uint32_t id)
{
    if (s->visited[id])
        return;
    s->visited[id] = true;
    s->stack[s->depth++] = id;
}

/* A body is unpacked once, however many of its values are made by later nodes. */
static void gather_makers(struct makers *out, const struct sorter *s, const Onnx__NodeProto *p, uint32_t depth)
{
    for (size_t i = 0; i < p->n_input; i++) {
        uint32_t value = *p->input[i] ? onnx_value(s->m, p->input[i]) : NO_ID;
        if (value < s->n_makers && s->maker[value])
            ARENA_APPEND(s->m->arena, out->nodes, out->n, out->cap, s->maker[value] - 1);
    }
    for (size_t i = 0; i < p->n_attribute && depth < DEEPEST_BODIES; i++) {
        const Onnx__GraphProto *g = p->attribute[i]->has_g ? onnx_unpack_graph(&p->attribute[i]->g, s->m->arena) : NULL;
        for (size_t k = 0; g && k < g->n_node; k++)
            gather_makers(out, s, g->node[k], depth + 1);
    }
}

/* The first unvisited node that makes something which a node reads; NO_ID if none. */
static uint32_t missing_before(struct sorter *s, uint32_t id)
{
    struct makers *from = &s->made_by[id];
    if (!from->known)
        gather_makers(from, s, s->nodes[id], 0);
    from->known = true;
    for (; from->at < from->n; from->at++)
        if (!s->visited[from->nodes[from->at]])
            return from->nodes[from->at];
    return NO_ID;
}

static void sort_from(struct sorter *s, uint32_t first)
{
    visit(s, first);
    while (s->depth) {
        uint32_t id = s->stack[s->depth - 1], before = missing_before(s, id);
        if (before != NO_ID)
            visit(s, before);
        else
            s->sorted[s->n_sorted++] = s->nodes[s->stack[--s->depth]];
    }
}

static Onnx__NodeProto *const *sorted_nodes(struct onnx_model *m, Onnx__NodeProto *const *nodes, size_t n)
{
    struct sorter s = { .m = m, .nodes = nodes, .sorted = ARENA_ARRAY(m->arena, Onnx__NodeProto *, n),
                        .made_by = ARENA_ARRAY(m->arena, struct makers, n), .stack = ARENA_ARRAY(m->arena, uint32_t, n), .visited = ARENA_ARRAY(m->arena, bool, n) };
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < nodes[i]->n_output; k++)
            onnx_value(m, nodes[i]->output[k]);
    s.n_makers = m->n_values;
    s.maker = ARENA_ARRAY(m->arena, uint32_t, s.n_makers);
    for (size_t i = n; i-- > 0; )               /* backwards, so that of two makers the first counts; the second is refused */
        for (size_t k = 0; k < nodes[i]->n_output; k++) {
            uint32_t value = onnx_value(m, nodes[i]->output[k]);
            s.maker[value] = m->values[value].constant ? 0 : (uint32_t)i + 1;       /* a weight exists before all nodes */
        }
    for (size_t i = 0; i < n; i++)
        sort_from(&s, (uint32_t)i);
    return s.sorted;
}

/* ---- functions ------------------------------------------------------------------------------------- */

enum { DEEPEST_CALLS = 32, MOST_CALLS = 50000 };

struct linker { struct onnx_model *m; uint32_t n_calls, depth; struct err *err; };

static const Onnx__FunctionProto *called_function(const struct onnx_model *m, const Onnx__NodeProto *p)
{
    for (size_t i = 0; i < m->file->n_functions; i++) {
        const Onnx__FunctionProto *f = m->file->functions[i];
        if (text_is(f->name, p->op_type) && text_is(f->domain ? f->domain : "", p->domain ? p->domain : ""))
            return f;
    }
    return NULL;
}

/* Adds an empty place for a node; NO_ID if there are too many nodes. */
static uint32_t add_node(struct linker *l)
{
    struct onnx_model *m = l->m;
    if (m->n_nodes >= MOST_NODES) {
        fail(l->err, "%s: more than %d nodes with those of its functions", m->path, MOST_NODES);
        return NO_ID;
    }
    m->nodes = arena_grow(m->arena, m->nodes, m->n_nodes, &m->cap_nodes, sizeof *m->nodes);
    m->nodes[m->n_nodes] = onnx_empty_node();
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
    n->op = onnx_operator_by_id(m->operators, ONNX_OP_IDENTITY);
    n->written = n->op->name;
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

/* Makes the function's names stand for the values that the calling node reads and makes. */
static void bind_call(struct onnx_model *m, const struct onnx_node *by, const Onnx__FunctionProto *f, const char *inside)
{
    onnx_drop_inputs(m, by);
    for (uint32_t i = 0; i < by->n_outputs; i++)
        if (by->outputs[i] != NO_ID)
            m->values[by->outputs[i]].producer = NO_ID;
    for (size_t i = 0; i < f->n_input; i++)
        onnx_bind(m, inside, f->input[i], i < by->n_inputs ? by->inputs[i] : NO_ID);
    for (size_t i = 0; i < f->n_output && i < by->n_outputs; i++)
        if (by->outputs[i] != NO_ID && !is_parameter(f, f->output[i]))
            onnx_bind(m, inside, f->output[i], by->outputs[i]);
}

/* The calling node is linked for a moment, to resolve its names like any node's. */
static bool link_call(struct linker *l, const Onnx__NodeProto *p, const Onnx__FunctionProto *f, const char *scope, const struct onnx_call *outer)
{
    struct onnx_model *m = l->m;
    uint32_t id = add_node(l);
    if (id == NO_ID || !onnx_link_node(m, id, p, scope, outer, l->err))
        return false;
    struct onnx_node by = m->nodes[id];
    if (++l->depth > DEEPEST_CALLS || l->n_calls >= MOST_CALLS)
        return onnx_refuse(m, &m->nodes[id], l->err, "functions call each other more than %d deep, or %d times", DEEPEST_CALLS, MOST_CALLS);
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
        const Onnx__FunctionProto *f = called_function(l->m, nodes[i]);
        uint32_t id = f ? NO_ID : add_node(l);
        if (f ? !link_call(l, nodes[i], f, scope, call) : id == NO_ID || !onnx_link_node(l->m, id, nodes[i], scope, call, l->err))
            return false;
    }
    return true;
}

/* ---- the whole file -------------------------------------------------------------------------------------- */

/* Some exporters (Paddle's) write all weights as Constant nodes. These are the parameters of a file whose initialisers
 * are single numbers at most; in other files they are numbers of the model's code. Files stripped of their weights
 * keep sizes as initialisers. */
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
        if (g->input[i]->type && !g->input[i]->type->tensor_type)
            return fail(err, "%s: input %.80s is a sequence, a map or an optional, and no tensor; export the model without the nodes that read it", m->path,
                        m->values[id].name);
        if (!onnx_add_info(m, id, g->input[i], err))
            return false;
        m->inputs[m->n_inputs++] = id;
    }
    return true;
}

/* Declared shapes of intermediate values are used where an operator has no shape rule. */
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

/* A sparse initialiser has the size of the dense tensor that it means; map_sparse.c reads its numbers. */
static bool add_sparse(struct onnx_model *m, const Onnx__SparseTensorProto *s, struct err *err)
{
    Onnx__TensorProto *dense = ONNX_NEW(m->arena, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT);
    if (!s->values || !s->values->name || !*s->values->name)
        return fail(err, "%s: a sparse initialiser has no values, or no name", m->path);
    dense->name = s->values->name;
    dense->has_data_type = true;
    dense->data_type = s->values->data_type;
    dense->n_dims = s->n_dims;
    dense->dims = s->dims;
    if (s->n_dims != 2 || !s->indices || s->values->n_dims != 1)
        return fail(err, "%s: sparse initialiser %.80s: want a matrix, with indices and a list of values", m->path, s->values->name);
    if (!onnx_add_initialiser(m, dense, "", err))
        return false;
    m->values[onnx_value(m, dense->name)].sparse = s;
    return true;
}

static bool check_opset(struct onnx_model *m, const Onnx__ModelProto *model, struct err *err)
{
    for (size_t i = 0; i < model->n_opset_import; i++)
        if (!model->opset_import[i]->domain || !*model->opset_import[i]->domain || text_is(model->opset_import[i]->domain, "ai.onnx"))
            m->opset = model->opset_import[i]->version;
    if (!m->opset)
        return fail(err, "%s: imports no opset of ai.onnx, so it has none of its operators", m->path);
    if (m->opset < OLDEST_OPSET || m->opset > NEWEST_OPSET)
        return fail(err, "%s: opset %" PRId64 ", want %d to %d; export again with opset_version=17", m->path, m->opset, OLDEST_OPSET,
                    NEWEST_OPSET);
    return true;
}

bool onnx_read(struct onnx_model *out, const char *path, bool contents, struct arena *a, struct err *err)
{
    *out = (struct onnx_model){ .path = path, .arena = a, .operators = &onnx_operators };
    const Onnx__ModelProto *model = onnx_unpack_model(path, contents, a, err);
    if (model && !contents && model->graph->n_sparse_initializer)      /* places of sparse elements decide how products are made, so contents are needed */
        model = onnx_unpack_model(path, true, a, err);
    if (!model || !check_opset(out, model, err))
        return false;
    const Onnx__GraphProto *g = model->graph;
    out->file = model;
    out->producer = model->producer_name && *model->producer_name ? model->producer_name : "not named";
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!onnx_add_initialiser(out, g->initializer[i], "", err))
            return false;
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        if (!add_sparse(out, g->sparse_initializer[i], err))
            return false;
    out->weights_in_nodes = lacks_initialisers(out);
    if (!link_inputs(out, g, err))
        return false;
    struct linker l = { .m = out, .err = err };
    return link_nodes(&l, sorted_nodes(out, g->node, g->n_node), g->n_node, "", NULL) && link_outputs(out, g, err);
}
