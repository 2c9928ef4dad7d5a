/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - reads an ONNX file: protobuf unpacked into the arena, names linked to indices.
 *
 * Weights may be missing, or lie in another file, which is never read: only shapes count. A node may read only what stands
 * before it, as the format demands and order.c sees to; so everything later walks the nodes once, in order.
 */
#include "workloads/onnx/model.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE_BYTES = INT32_MAX };        /* what protobuf can hold */

/* ---- protobuf in the arena ------------------------------------------------------------------ */

static void *arena_for_protobuf(void *arena, size_t n_bytes)
{
    return arena_alloc(arena, n_bytes);
}

static void keep_until_the_arena_goes(void *arena, void *data)
{
    (void)arena;
    (void)data;
}

static ProtobufCAllocator allocator_in(struct arena *a)
{
    return (ProtobufCAllocator){ arena_for_protobuf, keep_until_the_arena_goes, a };
}

const Onnx__GraphProto *onnx_unpack_graph(const ProtobufCBinaryData *bytes, struct arena *a)
{
    ProtobufCAllocator allocator = allocator_in(a);
    return onnx__graph_proto__unpack(&allocator, bytes->len, bytes->data);
}

static bool refuse_bytes(const char *path, uint64_t n, struct err *err)
{
    return fail(err, "%s: not an ONNX file: its %" PRIu64 " bytes are not a model in protobuf's format", path, n);
}

static bool read_all(uint8_t **bytes, size_t *n, FILE *f, uint64_t file_bytes, struct arena *a)
{
    *n = file_bytes;
    *bytes = arena_alloc(a, *n + 1);
    return fread(*bytes, 1, *n, f) == *n;
}

static bool read_bytes(uint8_t **bytes, size_t *n, const char *path, bool contents, struct arena *a, struct err *err)
{
    size_t size;
    struct err why;
    FILE *f = open_regular(&size, path, &why);
    if (!f)
        return fail(err, "%s; give the path of an ONNX file", why.msg);
    bool good = size <= MAX_FILE_BYTES || fail(err, "%s: %zu bytes, at most %d; export with external data: weights are not read", path, size,
                                               MAX_FILE_BYTES);
    if (good && !(contents ? read_all : onnx_skim)(bytes, n, f, size, a))
        good = contents || ferror(f) ? fail(err, "%s: cannot be read to its end", path) : refuse_bytes(path, size, err);
    fclose(f);
    return good;
}

static const Onnx__ModelProto *unpack(const char *path, bool contents, struct arena *a, struct err *err)
{
    struct arena raw = { 0 };
    uint8_t *bytes = NULL;
    size_t n = 0;
    const Onnx__ModelProto *model = NULL;
    ProtobufCAllocator allocator = allocator_in(a);
    if (read_bytes(&bytes, &n, path, contents, &raw, err)) {
        model = onnx__model_proto__unpack(&allocator, n, bytes);
        if (!model)
            refuse_bytes(path, n, err);
        else if (!model->graph)
            fail(err, "%s: a model without a graph", path);
    }
    arena_free(&raw);
    return model && model->graph ? model : NULL;
}

/* ---- values by name: open addressing, linear probing, at most half full ----------------------- */

static void grow_slots(struct onnx_model *m)
{
    m->n_slots = m->n_slots ? 2 * m->n_slots : 1024;
    m->slots = ARENA_ARRAY(m->arena, uint32_t, m->n_slots);
    for (size_t i = 0; i < m->n_values; i++) {
        size_t at = hash_bytes(m->values[i].name, strlen(m->values[i].name), 0) & (m->n_slots - 1);
        while (m->slots[at])
            at = (at + 1) & (m->n_slots - 1);
        m->slots[at] = (uint32_t)i + 1;
    }
}

/* The value's, or the empty one where it would stand. */
static size_t slot_of(const struct onnx_model *m, const char *name)
{
    size_t at = hash_bytes(name, strlen(name), 0) & (m->n_slots - 1);
    while (m->slots[at] && strcmp(m->values[m->slots[at] - 1].name, name) != 0)
        at = (at + 1) & (m->n_slots - 1);
    return at;
}

uint32_t onnx_value(struct onnx_model *m, const char *name)
{
    if (2 * m->n_values >= m->n_slots)
        grow_slots(m);
    size_t at = slot_of(m, name);
    if (m->slots[at])
        return m->slots[at] - 1;
    m->values = arena_grow(m->arena, m->values, m->n_values, &m->cap_values, sizeof *m->values);
    m->values[m->n_values] = (struct onnx_value){ .name = name, .producer = NO_ID };
    m->slots[at] = (uint32_t)m->n_values + 1;
    return (uint32_t)m->n_values++;
}

/* Names of a branch are seen in it and in the branches inside it; its scope, "3/7/", goes before them. */
static const char *in_scope(struct onnx_model *m, const char *scope, const char *name)
{
    return *scope ? arena_printf(m->arena, "%s%s", scope, name) : name;
}

static uint32_t bound_value(const struct onnx_model *m, uint32_t id)
{
    assert(id < m->n_values && m->values);
    return m->values[id].bound ? m->values[id].bound_to : id;
}

void onnx_bind(struct onnx_model *m, const char *scope, const char *name, uint32_t to)
{
    uint32_t id = onnx_value(m, in_scope(m, scope, name));
    m->values[id].bound = true;
    m->values[id].bound_to = to;
}

uint32_t onnx_value_seen(struct onnx_model *m, const char *scope, const char *name)
{
    for (size_t n = strlen(scope); n > 0; ) {
        const char *full = arena_printf(m->arena, "%.*s%s", (int)n, scope, name);
        if (m->slots[slot_of(m, full)])
            return bound_value(m, onnx_value(m, full));
        for (n--; n > 0 && scope[n - 1] != '/'; n--)
            ;
    }
    return onnx_value(m, name);
}

/* ---- contents ---------------------------------------------------------------------------------- */

static size_t number_bytes(int type)
{
    switch (type) {
    case ONNX_FLOAT: case ONNX_INT32: case ONNX_UINT32: return 4;
    case ONNX_DOUBLE: case ONNX_INT64: case ONNX_UINT64: return 8;
    case ONNX_FLOAT16: case ONNX_BFLOAT16: case ONNX_INT16: case ONNX_UINT16: return 2;
    case ONNX_UINT8: case ONNX_INT8: case ONNX_BOOL: return 1;
    default: return 0;
    }
}

bool onnx_is_whole(int type)
{
    return number_bytes(type) && type != ONNX_FLOAT && type != ONNX_DOUBLE && type != ONNX_FLOAT16 && type != ONNX_BFLOAT16 && type != ONNX_BOOL;
}

static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double x = exponent == 0 ? fraction * 0x1p-24
             : exponent == 31 ? (fraction ? NAN : INFINITY) : (1024 + fraction) * 0x1p-25 * (double)(1u << exponent);
    return bits >> 15 ? -x : x;
}

/* The upper half of a float. */
static double brain_float(uint16_t bits)
{
    uint32_t whole = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &whole, sizeof x);
    return (double)x;
}

static double raw_number(const uint8_t *p, int type)
{
    union { float f; double d; uint16_t h; int16_t s; int32_t i; uint32_t u; int64_t l; uint64_t v; } x;
    memcpy(&x, p, number_bytes(type));
    switch (type) {
    case ONNX_FLOAT: return (double)x.f;
    case ONNX_DOUBLE: return x.d;
    case ONNX_INT16: return x.s;
    case ONNX_UINT16: return x.h;
    case ONNX_INT32: return x.i;
    case ONNX_UINT32: return x.u;
    case ONNX_INT64: return (double)x.l;
    case ONNX_UINT64: return (double)x.v;
    case ONNX_FLOAT16: return half(x.h);
    case ONNX_BFLOAT16: return brain_float(x.h);
    case ONNX_INT8: return (int8_t)*p;
    default: return *p;
    }
}

/* Which of the fields holds the numbers depends on the type, or they lie as raw bytes. */
static bool number_at(double *out, const Onnx__TensorProto *t, size_t i)
{
    size_t size = number_bytes(t->data_type);
    if (t->has_raw_data && size && t->raw_data.len >= (i + 1) * size)
        *out = raw_number(t->raw_data.data + i * size, t->data_type);
    else if (i < t->n_float_data)
        *out = (double)t->float_data[i];
    else if (i < t->n_int64_data)
        *out = (double)t->int64_data[i];
    else if (i < t->n_int32_data)
        *out = t->data_type == ONNX_FLOAT16 ? half((uint16_t)t->int32_data[i])
             : t->data_type == ONNX_BFLOAT16 ? brain_float((uint16_t)t->int32_data[i]) : t->int32_data[i];
    else if (i < t->n_double_data)
        *out = t->double_data[i];
    else if (i < t->n_uint64_data)
        *out = (double)t->uint64_data[i];
    else
        return false;
    return true;
}

double *onnx_tensor_contents(const Onnx__TensorProto *t, uint64_t most, struct arena *a)
{
    uint64_t n = 1;
    double x;
    for (size_t i = 0; i < t->n_dims; i++) {
        if (t->dims[i] < 0 || (t->dims[i] && n > most / (uint64_t)t->dims[i]))
            return NULL;
        n *= (uint64_t)t->dims[i];
    }
    if (n > most || (n && !number_at(&x, t, n - 1)))
        return NULL;
    double *out = ARENA_ARRAY(a, double, n);
    for (uint64_t i = 0; i < n; i++)
        if (!number_at(&out[i], t, i))
            return NULL;
    return out;
}

/* ---- linking ------------------------------------------------------------------------------------- */

static bool too_many_dims(const struct onnx_model *m, const char *name, size_t n, struct err *err)
{
    return fail(err, "%s: %.80s has %zu dimensions, at most %d", m->path, name, n, ONNX_MAX_DIMS);
}

bool onnx_add_initialiser(struct onnx_model *m, const Onnx__TensorProto *t, const char *scope, struct err *err)
{
    uint32_t id = onnx_value(m, in_scope(m, scope, t->name ? t->name : ""));
    struct onnx_value *v = &m->values[id];
    if (t->n_dims > ONNX_MAX_DIMS)
        return too_many_dims(m, v->name, t->n_dims, err);
    v->type = t->data_type;
    v->shaped = v->constant = true;
    v->data = t;
    v->n_dims = (uint32_t)t->n_dims;
    for (uint32_t i = 0; i < v->n_dims; i++) {
        if (t->dims[i] < 0 || t->dims[i] > UINT32_MAX)
            return fail(err, "%s: %.80s: a dimension of %" PRId64 "; want 0 to 2^32 - 1", m->path, v->name, t->dims[i]);
        v->dims[i] = (uint64_t)t->dims[i];
    }
    if (!onnx_has_size(v->n_dims, v->dims))
        return fail(err, "%s: %.80s has more than 2^40 elements", m->path, v->name);
    v->known = onnx_tensor_contents(t, MOST_KNOWN, m->arena);
    return true;
}

/* What the file says of a value: for inputs it counts; for others shape.c finds it again. */
static bool add_info(struct onnx_model *m, uint32_t id, const Onnx__ValueInfoProto *info, struct err *err)
{
    struct onnx_value *v = &m->values[id];
    const Onnx__TypeProto__Tensor *t = info->type ? info->type->tensor_type : NULL;
    if (v->constant || !t)
        return true;
    v->type = t->elem_type;
    if (!t->shape)
        return true;
    if (t->shape->n_dim > ONNX_MAX_DIMS)
        return too_many_dims(m, v->name, t->shape->n_dim, err);
    v->n_dims = (uint32_t)t->shape->n_dim;
    v->shaped = true;
    for (uint32_t i = 0; i < v->n_dims; i++) {
        const Onnx__TensorShapeProto__Dimension *d = t->shape->dim[i];
        if (d->has_dim_value && d->dim_value > 0 && d->dim_value <= UINT32_MAX)
            v->dims[i] = (uint64_t)d->dim_value;
        else
            v->dim_names[i] = d->dim_param && *d->dim_param ? d->dim_param : arena_printf(m->arena, "%s.dim%u", v->name, i);
    }
    return true;
}

bool onnx_is_float(int type)
{
    return type == ONNX_FLOAT || type == ONNX_FLOAT16 || type == ONNX_BFLOAT16 || type == ONNX_DOUBLE;
}

bool onnx_holds_parameters(const struct onnx_model *m, const struct onnx_value *v)
{
    return v->data && (v->producer == NO_ID || m->weights_in_nodes) && onnx_is_float(v->type) && onnx_elements(v) > 1;
}

/* Some exporters (Paddle's) write all weights as Constant nodes. Where a file has no initialiser but single numbers, these are its parameters;
 * elsewhere they are numbers of the model's code. Files that are stripped of weights have their sizes as initialisers. */
static bool lacks_initialisers(const struct onnx_model *m)
{
    bool found = false;
    for (size_t i = 0; i < m->n_values && !found; i++)
        found = m->values[i].data && onnx_elements(&m->values[i]) > 1;
    return !found;
}

/* The tensor of a Constant node; NULL: it has none, or is another operator. */
static const Onnx__TensorProto *tensor_of_constant(const struct onnx_node *n)
{
    const Onnx__AttributeProto *p = text_is(n->op, "Constant") ? onnx_attribute(n, "value") : NULL;
    return p ? p->t : NULL;
}

bool onnx_link_node(struct onnx_model *m, uint32_t id, const Onnx__NodeProto *p, const char *scope, const struct onnx_call *call,
                    struct err *err)
{
    struct onnx_node *n = &m->nodes[id];
    *n = (struct onnx_node){ .op = p->op_type ? p->op_type : "", .name = p->name ? p->name : "", .proto = p,
                             .written = p->op_type ? p->op_type : "",
                             .n_inputs = (uint32_t)p->n_input, .n_outputs = (uint32_t)p->n_output, .scope = scope,
                             .call = call };
    n->inputs = ARENA_ARRAY(m->arena, uint32_t, p->n_input);
    n->outputs = ARENA_ARRAY(m->arena, uint32_t, p->n_output);
    for (size_t i = 0; i < p->n_input; i++) {
        n->inputs[i] = *p->input[i] ? onnx_value_seen(m, scope, p->input[i]) : NO_ID;
        struct onnx_value *v = onnx_in(m, n, (uint32_t)i);
        if (v && !v->constant && v->producer == NO_ID && !v->shaped && !v->type)
            return onnx_refuse(m, n, err, "reads %.80s, which nothing before it makes; is the file cut short?", v->name);
        if (v)
            v->n_readers++;
    }
    for (size_t i = 0; i < p->n_output; i++) {
        n->outputs[i] = *p->output[i] ? bound_value(m, onnx_value(m, in_scope(m, scope, p->output[i]))) : NO_ID;
        struct onnx_value *v = onnx_out(m, n, (uint32_t)i);
        if (v && (v->constant || v->producer != NO_ID))
            return onnx_refuse(m, n, err, "makes %.80s a second time", v->name);
        if (v)
            v->producer = id;
        if (v && i == 0)
            v->data = tensor_of_constant(n);
    }
    return true;
}

static bool link_inputs(struct onnx_model *m, const Onnx__GraphProto *g, struct err *err)
{
    m->inputs = ARENA_ARRAY(m->arena, uint32_t, g->n_input);
    for (size_t i = 0; i < g->n_input; i++) {
        uint32_t id = onnx_value(m, g->input[i]->name ? g->input[i]->name : "");
        if (m->values[id].constant)
            continue;
        if (!add_info(m, id, g->input[i], err))
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
        if (!add_info(m, onnx_value(m, g->value_info[i]->name ? g->value_info[i]->name : ""), g->value_info[i], err))
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
    const Onnx__ModelProto *model = unpack(path, contents, a, err);
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

/* ---- asking --------------------------------------------------------------------------------------- */

static const Onnx__AttributeProto *named(Onnx__AttributeProto *const *all, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (text_is(all[i]->name, name))
            return all[i];
    return NULL;
}

/* In a function it may be that of who calls it, or the function's own. */
const Onnx__AttributeProto *onnx_attribute(const struct onnx_node *n, const char *name)
{
    const Onnx__AttributeProto *p = n->proto ? named(n->proto->attribute, n->proto->n_attribute, name) : NULL;
    for (const struct onnx_call *c = n->call; p && p->ref_attr_name && *p->ref_attr_name; c = c->outer) {
        if (!c)
            return NULL;
        name = p->ref_attr_name;
        p = named(c->by->attribute, c->by->n_attribute, name);
        if (!p)
            return named(c->function->attribute_proto, c->function->n_attribute_proto, name);
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

struct onnx_value *onnx_in(const struct onnx_model *m, const struct onnx_node *n, uint32_t i)
{
    return i < n->n_inputs && n->inputs[i] != NO_ID ? &m->values[n->inputs[i]] : NULL;
}

struct onnx_value *onnx_out(const struct onnx_model *m, const struct onnx_node *n, uint32_t i)
{
    return i < n->n_outputs && n->outputs[i] != NO_ID ? &m->values[n->outputs[i]] : NULL;
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

/* The sum of a few of them is one too. */
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
    return fail(err, "%s: node %zu, %.40s '%.80s': %s", m->path, (size_t)(n - m->nodes), n->op, name, text);
}
