/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.c - values by name, operators by name; attributes, operands, sizes and lists of nodes; how a node is refused, and nodes that replace others.
 */
#include "workloads/onnx/onnx_message.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- rows of the table --------------------------------------------------------------------------------- */

static const struct onnx_operator no_operator = { .name = "" };

const struct onnx_operator *onnx_operator_named(const struct onnx_operators *all, const char *name, struct arena *a)
{
    const struct onnx_operator *known = FIND_TEXT(all->rows, all->n, struct onnx_operator, name, name);
    if (known)
        return known;
    struct onnx_operator *unknown = ARENA_NEW(a, struct onnx_operator);
    *unknown = (struct onnx_operator){ .name = name };
    return unknown;
}

const struct onnx_operator *onnx_operator_by_id(const struct onnx_operators *all, enum onnx_op id)
{
    size_t i = 0;
    while (all->rows[i].id != id)           /* a test checks that each id has a row */
        i++;
    return &all->rows[i];
}

struct onnx_node onnx_empty_node(void) { return (struct onnx_node){ .op = &no_operator, .name = "", .written = "", .scope = "" }; }

/* ---- values --------------------------------------------------------------------------------------------- */

uint32_t onnx_value(struct onnx_model *m, const char *name)
{
    size_t n = strlen(name);
    uint32_t *id = hash_table_find(&m->names, name, n);
    if (id)
        return *id;
    m->values = arena_grow(m->arena, m->values, m->n_values, &m->cap_values, sizeof *m->values);
    m->values[m->n_values] = (struct onnx_value){ .name = name, .producer = NO_ID };
    id = hash_table_add(&m->names, name, n, sizeof *id, m->arena);
    return *id = (uint32_t)m->n_values++;
}

/* ---- attributes, operands, lists ----------------------------------------------------------------------- */

static const Onnx__AttributeProto *attribute_named(Onnx__AttributeProto *const *all, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (text_is(all[i]->name, name))
            return all[i];
    return NULL;
}

const char *onnx_metadata(Onnx__StringStringEntryProto *const *props, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (text_is(props[i]->key, key))
            return props[i]->value;
    return NULL;
}

/* In a function of the file, a node's attribute may refer to an attribute of the node that calls the function; if the call lacks it, the function may
 * have a default. */
const Onnx__AttributeProto *onnx_attribute(const struct onnx_node *n, const char *name)
{
    const Onnx__AttributeProto *p = n->proto ? attribute_named(n->proto->attribute, n->proto->n_attribute, name) : NULL;
    for (const struct onnx_call *c = n->call; p && p->ref_attr_name && *p->ref_attr_name; c = c->outer) {
        if (!c)
            return NULL;
        name = p->ref_attr_name;
        p = attribute_named(c->by->attribute, c->by->n_attribute, name);
        if (!p)
            return attribute_named(c->function->attribute_proto, c->function->n_attribute_proto, name);
    }
    return p;
}

int64_t onnx_int(const struct onnx_node *n, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *p = onnx_attribute(n, name);
    return p ? p->i : otherwise;
}

bool onnx_flag(const struct onnx_node *n, const char *name, bool otherwise)
{
    return onnx_int(n, name, otherwise) != 0;
}

double onnx_float(const struct onnx_node *n, const char *name, double otherwise)
{
    const Onnx__AttributeProto *p = onnx_attribute(n, name);
    return p ? (double)p->f : otherwise;
}

const char *onnx_string(const struct onnx_node *n, const char *name, const char *otherwise, struct arena *a)
{
    const Onnx__AttributeProto *p = onnx_attribute(n, name);
    return p && p->has_s ? arena_printf(a, "%.*s", (int)p->s.len, (const char *)p->s.data) : otherwise;
}

struct op_attributes onnx_function_attributes(const struct onnx_node *n)
{
    const struct onnx_operator *op = n->op;
    return (struct op_attributes){ .function = op->function, .low = op->low_name ? onnx_float(n, op->low_name, op->low) : 0,
                                   .high = op->high_name ? onnx_float(n, op->high_name, op->high) : 0 };
}

struct onnx_value *onnx_in(const struct onnx_model *m, const struct onnx_node *n, uint32_t i)
{
    return i < n->n_inputs && n->inputs[i] != NO_ID ? &m->values[n->inputs[i]] : NULL;
}

struct onnx_value *onnx_out(const struct onnx_model *m, const struct onnx_node *n, uint32_t i)
{
    return i < n->n_outputs && n->outputs[i] != NO_ID ? &m->values[n->outputs[i]] : NULL;
}

bool onnx_holds_parameters(const struct onnx_model *m, const struct onnx_value *v)
{
    return v->data && (v->producer == NO_ID || m->weights_in_nodes) && onnx_is_float(v->type) && onnx_elements(v) > 1;
}

uint64_t onnx_elements_between(const struct onnx_value *v, uint32_t first, uint32_t end)
{
    uint64_t n = 1;
    for (uint32_t i = first; i < end; i++)
        n *= v->dims[i];
    return n;
}

uint64_t onnx_elements(const struct onnx_value *v)
{
    return onnx_elements_between(v, 0, v->n_dims);
}

void onnx_copy_dims(uint64_t dims[ONNX_MAX_DIMS], const struct onnx_value *v)
{
    for (uint32_t i = 0; i < ONNX_MAX_DIMS; i++)
        dims[i] = v->dims[i];
}

bool onnx_has_size(uint32_t n_dims, const uint64_t *dims)
{
    uint64_t elements = 1;
    for (uint32_t i = 0; i < n_dims; i++) {
        if (dims[i] > UINT32_MAX || (dims[i] && elements > (UINT64_C(1) << 40) / dims[i]))
            return false;
        elements *= dims[i];
    }
    return true;
}

bool onnx_axis(uint32_t *axis, int64_t given, uint32_t n_dims)
{
    if (given < -(int64_t)n_dims || given >= (int64_t)n_dims)
        return false;
    *axis = (uint32_t)(given < 0 ? given + n_dims : given);
    return true;
}

/* Whole numbers are limited so that a few of them can be added. */
int64_t onnx_whole(double x)
{
    return isnan(x) ? 0 : (int64_t)fmin(fmax(x, -0x1p60), 0x1p60);
}

bool onnx_list(struct onnx_list *out, const struct onnx_model *m, const struct onnx_node *n, const char *attribute, uint32_t input)
{
    const Onnx__AttributeProto *p = onnx_attribute(n, attribute);
    const struct onnx_value *v = onnx_in(m, n, input);
    size_t most = sizeof out->at / sizeof *out->at;
    *out = (struct onnx_list){ 0 };
    if (p && p->n_ints <= most)
        for (; out->n < p->n_ints; out->n++)
            out->at[out->n] = onnx_whole((double)p->ints[out->n]);
    if (p || !v)
        return !p || p->n_ints <= most;
    if (!v->known || onnx_elements(v) > most)
        return false;
    for (uint64_t i = 0; i < onnx_elements(v); i++)
        out->at[out->n++] = onnx_whole(v->known[i]);
    return true;
}

bool onnx_refuse(const struct onnx_model *m, const struct onnx_node *n, struct err *err, const char *format, ...)
{
    char text[320];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *name = *n->name ? n->name : n->n_outputs && n->outputs[0] != NO_ID ? m->values[n->outputs[0]].name : "";
    return fail(err, "%s: node %zu, %.40s '%.80s': %s", m->path, (size_t)(n - m->nodes), n->op->name, name, text);
}

/* ---- nodes that replace others --------------------------------------------------------------------- */

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
        m->nodes[from + i] = (struct onnx_node){ .op = &no_operator, .name = "", .written = "", .scope = "", .gone = true };
    m->n_nodes += n;
    return true;
}

void onnx_put(struct onnx_model *m, size_t at, enum onnx_op op, uint32_t n_inputs, const uint32_t *inputs, uint32_t result)
{
    struct onnx_node *n = &m->nodes[at];
    const struct onnx_operator *row = onnx_operator_by_id(m->operators, op);
    *n = (struct onnx_node){ .op = row, .name = "", .written = row->name, .scope = "", .n_inputs = n_inputs, .n_outputs = 1 };
    n->inputs = ARENA_ARRAY(m->arena, uint32_t, n_inputs);
    n->outputs = ARENA_ARRAY(m->arena, uint32_t, 1);
    n->outputs[0] = result;
    for (uint32_t i = 0; i < n_inputs; i++) {
        n->inputs[i] = inputs[i];
        m->values[inputs[i]].n_readers++;
    }
    m->values[result].producer = (uint32_t)at;
}

void onnx_put_axis(struct onnx_model *m, size_t at, enum onnx_op op, uint32_t input, uint32_t result, int64_t axis)
{
    Onnx__NodeProto *n = ONNX_NEW(m->arena, Onnx__NodeProto, ONNX__NODE_PROTO__INIT);
    Onnx__AttributeProto *p = onnx_new_attribute(m->arena, "axes");
    p->n_ints = n->n_attribute = 1;
    p->ints = ARENA_ARRAY(m->arena, int64_t, 1);
    p->ints[0] = axis;
    n->attribute = ARENA_ARRAY(m->arena, Onnx__AttributeProto *, 1);
    n->attribute[0] = p;
    onnx_put(m, at, op, 1, &input, result);
    m->nodes[at].proto = n;
}

void onnx_drop_inputs(struct onnx_model *m, const struct onnx_node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_ID)
            m->values[n->inputs[i]].n_readers--;
}

void onnx_retire(struct onnx_model *m, size_t id, const char *why)
{
    struct onnx_node *n = &m->nodes[id];
    onnx_drop_inputs(m, n);
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
