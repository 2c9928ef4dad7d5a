/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draft.h - writes small ONNX files for tests of the reader.
 *
 *     struct draft *d = draft_start(17);
 *     draft_text(d, "x: batch,3,8,8; w = 4,3,3,3; Conv x w > y pads=1,1,1,1");
 *     draft_write(d, "y", path);
 */
#ifndef DRAFT_H
#define DRAFT_H
#include "workloads/onnx/onnx_message.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DRAFTED = 4000 };
struct draft {
    struct arena arena;
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__OperatorSetIdProto opset, *opsets[1];
    Onnx__NodeProto *nodes[MOST_DRAFTED];
    Onnx__TensorProto *weights[MOST_DRAFTED];
    Onnx__ValueInfoProto *inputs[16], *outputs[32];
};

static inline struct draft *draft_start(int64_t opset)
{
    struct draft *d = calloc(1, sizeof *d);
    d->model = (Onnx__ModelProto)ONNX__MODEL_PROTO__INIT;
    d->graph = (Onnx__GraphProto)ONNX__GRAPH_PROTO__INIT;
    d->opset = (Onnx__OperatorSetIdProto)ONNX__OPERATOR_SET_ID_PROTO__INIT;
    d->opset.has_version = true;
    d->opset.version = opset;
    d->opsets[0] = &d->opset;
    d->model.n_opset_import = 1;
    d->model.opset_import = d->opsets;
    d->model.graph = &d->graph;
    d->graph.node = d->nodes;
    d->graph.initializer = d->weights;
    d->graph.input = d->inputs;
    d->graph.output = d->outputs;
    return d;
}

static inline void draft_end(struct draft *d)
{
    arena_free(&d->arena);
    free(d);
}

/* "batch,3,8,tokens": numbers, and names of symbolic dimensions. */
static inline Onnx__ValueInfoProto *draft_info(struct draft *d, const char *name, int type, const char *dims)
{
    uint64_t sizes[12] = { 0 };
    char *names[12];
    size_t n = 0;
    for (char *at = arena_strdup(&d->arena, dims), *item; (item = strsep(&at, ",")); n++)
        names[n] = parse_u64(item, &sizes[n]) ? NULL : item;
    return onnx_new_info(&d->arena, name, type, n, sizes, names);
}

static inline void draft_input(struct draft *d, const char *name, int type, const char *dims)
{
    d->inputs[d->graph.n_input++] = draft_info(d, name, type, dims);
}

static inline Onnx__TensorProto *draft_tensor(struct draft *d, const char *name, int type, size_t n_dims, const uint64_t *dims)
{
    assert(d->graph.n_initializer < MOST_DRAFTED);
    return d->weights[d->graph.n_initializer++] = onnx_new_tensor(&d->arena, name, type, n_dims, dims);
}

#define DRAFT_DIMS(...) (sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)), (const uint64_t[]){ __VA_ARGS__ }

static inline double draft_noise(const char *name, uint64_t i)
{
    return (double)(hash_bytes(&i, sizeof i, hash_bytes(name, strlen(name), 3)) % 2003) / 2003 - 0.5;
}

static inline void draft_weight(struct draft *d, const char *name, size_t n_dims, const uint64_t *dims)
{
    Onnx__TensorProto *t = draft_tensor(d, name, ONNX_FLOAT, n_dims, dims);
    t->n_float_data = 1;
    for (size_t i = 0; i < n_dims; i++)
        t->n_float_data *= dims[i];
    t->float_data = ARENA_ARRAY(&d->arena, float, t->n_float_data);
    for (size_t i = 0; i < t->n_float_data; i++)
        t->float_data[i] = (float)draft_noise(name, i);
}

static inline void draft_number(struct draft *d, const char *name, double x)
{
    Onnx__TensorProto *t = draft_tensor(d, name, ONNX_FLOAT, 0, NULL);
    t->n_float_data = 1;
    t->float_data = ARENA_ARRAY(&d->arena, float, 1);
    t->float_data[0] = (float)x;
}

static inline void draft_whole(struct draft *d, const char *name, size_t n, const int64_t *numbers)
{
    Onnx__TensorProto *t = draft_tensor(d, name, ONNX_INT64, 1, (const uint64_t[]){ n });
    t->n_int64_data = n;
    t->int64_data = ARENA_ARRAY(&d->arena, int64_t, n + 1);
    memcpy(t->int64_data, numbers, n * sizeof *numbers);
}
#define WHOLE(...) (sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), (const int64_t[]){ __VA_ARGS__ }

static inline char **draft_words(struct draft *d, const char *text, size_t *n)
{
    char **words = ARENA_ARRAY(&d->arena, char *, strlen(text) + 1);
    *n = 0;
    for (char *at = arena_strdup(&d->arena, text), *word; (word = strsep(&at, " ")); )
        words[(*n)++] = text_is(word, "-") ? arena_strdup(&d->arena, "") : word;
    return words;
}

/* "value" is a tensor of integers. A number with a point is a float; a comma, or a name in the list below, makes a
 * list; a letter makes a string. */
static inline Onnx__AttributeProto *draft_attribute(struct draft *d, char *text)
{
    static const char *const lists[] = { "axes", "perm", "split", "strides", "dilations", "starts", "ends", "kernel_shape", "pads",
                                         "scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions" };
    Onnx__AttributeProto *p = onnx_new_attribute(&d->arena, strsep(&text, "="));
    bool list = strchr(text, ',') != NULL;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        list |= text_is(lists[i], p->name);
    if (text_is(p->name, "equation")) {
        p->has_s = true;
        p->s = (ProtobufCBinaryData){ strlen(text), (uint8_t *)text };
    } else if (text_is(p->name, "value") && !strchr(text, '.')) {
        int64_t numbers[8];
        size_t n = 0;
        for (char *item; (item = strsep(&text, ",")); )
            numbers[n++] = strtol(item, NULL, 10);
        draft_whole(d, "", n, numbers);
        p->t = d->weights[--d->graph.n_initializer];
    } else if (list && strchr(text, '.')) {
        p->floats = ARENA_ARRAY(&d->arena, float, strlen(text));
        for (char *item; (item = strsep(&text, ",")); )
            p->floats[p->n_floats++] = strtof(item, NULL);
    } else if (list) {
        p->ints = ARENA_ARRAY(&d->arena, int64_t, strlen(text));
        for (char *item; (item = strsep(&text, ",")); )
            p->ints[p->n_ints++] = strtol(item, NULL, 10);
    } else if (strpbrk(text, "abcdefghijklmnopqrstuvwxyzACDRW")) {
        p->has_s = true;
        p->s = (ProtobufCBinaryData){ strlen(text), (uint8_t *)text };
    } else if (strchr(text, '.')) {
        p->has_f = true;
        p->f = strtof(text, NULL);
    } else {
        p->has_i = true;
        p->i = strtol(text, NULL, 10);
    }
    return p;
}

/* Inputs, outputs and attributes are separated by blanks; "-" leaves an input out. */
static inline void draft_node(struct draft *d, const char *op, const char *inputs, const char *outputs, const char *attributes)
{
    Onnx__NodeProto *n = onnx_new_node(&d->arena, op, arena_printf(&d->arena, "n%zu", d->graph.n_node));
    n->input = draft_words(d, inputs, &n->n_input);
    n->output = draft_words(d, outputs, &n->n_output);
    char **words = draft_words(d, attributes, &n->n_attribute);
    n->attribute = ARENA_ARRAY(&d->arena, Onnx__AttributeProto *, n->n_attribute + 1);
    if (!*attributes)
        n->n_attribute = 0;
    if (n->n_input == 1 && !*inputs)
        n->n_input = 0;
    for (size_t i = 0; i < n->n_attribute; i++)
        n->attribute[i] = draft_attribute(d, words[i]);
    assert(d->graph.n_node < MOST_DRAFTED);
    d->nodes[d->graph.n_node++] = n;
}

/* "Conv x w > y pads=1,1", cut at the " > ". Attributes begin with the first word after it that has a '='. */
static inline void draft_node_text(struct draft *d, char *op, char *outputs)
{
    char *inputs = op, *attributes = outputs;
    strsep(&inputs, " ");
    inputs = inputs ? inputs : op + strlen(op);
    while ((attributes = strchr(attributes, ' ')) && strcspn(attributes + 1, "=") >= strcspn(attributes + 1, " "))
        attributes++;
    if (attributes)
        *attributes++ = '\0';
    draft_node(d, op, inputs, outputs, attributes ? attributes : "");
}

/* "batch,3" or "int64 4" */
static inline void draft_input_text(struct draft *d, const char *name, char *type)
{
    static const struct { const char *name; int type; } types[] = {
        { "bool", ONNX_BOOL }, { "int64", ONNX_INT64 }, { "string", ONNX_STRING }, { "uint8", ONNX_UINT8 } };
    char *dims = strchr(type, ' ');
    if (!dims) {
        draft_input(d, name, ONNX_FLOAT, type);
        return;
    }
    *dims++ = '\0';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (text_is(types[i].name, type))
            draft_input(d, name, types[i].type, dims);
}

static inline void draft_floats(struct draft *d, const char *name, bool list, char *text)
{
    Onnx__TensorProto *t = draft_tensor(d, name, ONNX_FLOAT, list, (uint64_t[]){ 0 });
    t->float_data = ARENA_ARRAY(&d->arena, float, strlen(text));
    for (text += list; *text && *text != ']' && *text != '.'; text += *text == ',')
        t->float_data[t->n_float_data++] = strtof(text, &text);
    for (size_t i = 0; i < t->n_dims; i++)
        t->dims[i] = (int64_t)t->n_float_data;
}

/* "3,2" or "[1,-2]"; floats have points: "[1.0,-2.5]" or "0.5" */
static inline void draft_constant_text(struct draft *d, const char *name, char *text)
{
    int64_t numbers[64];
    size_t n = 0;
    bool list = *text == '[';
    if (strchr(text, '.')) {
        draft_floats(d, name, list, text);
        return;
    }
    for (text += list; *text && *text != ']'; text += *text == ',')
        numbers[n++] = strtoll(text, &text, 10);
    if (list)
        draft_whole(d, name, n, numbers);
    else
        draft_weight(d, name, n, (const uint64_t *)numbers);
}

/*
 * Adds statements, separated by "; ":
 *     x: batch,3                   an input of floats; "x: int64 4" has another type
 *     w = 3,2                      a weight of random floats
 *     k = [1,-2]                   a constant list of integers; of floats: [1.0,-2.5], one: 0.5, or none: [.]
 *     Conv x w > y pads=1,1        a node: inputs > outputs attributes
 */
static inline void draft_text(struct draft *d, const char *text)
{
    for (char *next = arena_strdup(&d->arena, text), *s; (s = next); ) {
        char *end = strstr(s, "; "), *at;
        next = end ? end + 2 : NULL;
        if (end)
            *end = '\0';
        if ((at = strstr(s, " > "))) {
            *at = '\0';
            draft_node_text(d, s, at + 3);
        } else if ((at = strstr(s, ": "))) {
            *at = '\0';
            draft_input_text(d, s, at + 2);
        } else if ((at = strstr(s, " = "))) {
            *at = '\0';
            draft_constant_text(d, s, at + 3);
        }
    }
}

/* Turns the last weight into a Constant node, as Paddle's exporter writes all weights. */
static inline void draft_as_node(struct draft *d)
{
    Onnx__TensorProto *t = d->weights[--d->graph.n_initializer];
    Onnx__AttributeProto *p = onnx_new_attribute(&d->arena, "value");
    draft_node(d, "Constant", "", t->name, "");
    p->t = t;
    d->nodes[d->graph.n_node - 1]->attribute[0] = p;
    d->nodes[d->graph.n_node - 1]->n_attribute = 1;
}

/* Turns a draft into a function of another one, in the domain "ours"; attributes given here are its defaults. */
static inline void draft_function(struct draft *d, struct draft *body, const char *name, const char *inputs, const char *outputs,
                                  const char *attributes)
{
    Onnx__FunctionProto *f = ARENA_NEW(&d->arena, Onnx__FunctionProto), **all = ARENA_ARRAY(&d->arena, Onnx__FunctionProto *, 40);
    *f = (Onnx__FunctionProto)ONNX__FUNCTION_PROTO__INIT;
    f->name = arena_strdup(&d->arena, name);
    f->domain = arena_strdup(&d->arena, "ours");
    f->input = draft_words(d, inputs, &f->n_input);
    f->output = draft_words(d, outputs, &f->n_output);
    f->n_node = body->graph.n_node;
    f->node = body->nodes;
    if (*attributes) {
        f->n_attribute_proto = 1;
        f->attribute_proto = ARENA_ARRAY(&d->arena, Onnx__AttributeProto *, 1);
        f->attribute_proto[0] = draft_attribute(d, arena_strdup(&d->arena, attributes));
    }
    for (size_t i = 0; i < d->model.n_functions; i++)
        all[i] = d->model.functions[i];
    all[d->model.n_functions++] = f;
    d->model.functions = all;
}

static inline void draft_outputs(struct draft *d, const char *outputs)
{
    char **names = draft_words(d, outputs, &d->graph.n_output);
    for (size_t i = 0; i < d->graph.n_output; i++) {
        d->outputs[i] = ARENA_NEW(&d->arena, Onnx__ValueInfoProto);
        *d->outputs[i] = (Onnx__ValueInfoProto)ONNX__VALUE_INFO_PROTO__INIT;
        d->outputs[i]->name = names[i];
    }
}

/* Gives the last node a graph as an attribute: a branch, or the body of a loop. */
static inline void draft_body(struct draft *d, const char *name, struct draft *body, const char *outputs)
{
    Onnx__NodeProto *n = d->nodes[d->graph.n_node - 1];
    Onnx__AttributeProto *p = onnx_new_attribute(&d->arena, name), **all = ARENA_ARRAY(&d->arena, Onnx__AttributeProto *, n->n_attribute + 1);
    draft_outputs(body, outputs);
    p->has_g = true;
    p->g.len = onnx__graph_proto__get_packed_size(&body->graph);
    p->g.data = ARENA_ARRAY(&d->arena, uint8_t, p->g.len + 1);
    onnx__graph_proto__pack(&body->graph, p->g.data);
    for (size_t i = 0; i < n->n_attribute; i++)
        all[i] = n->attribute[i];
    all[n->n_attribute++] = p;
    n->attribute = all;
}

static inline void draft_pack(struct draft *d, const char *path)
{
    uint8_t *bytes = ARENA_ARRAY(&d->arena, uint8_t, onnx__model_proto__get_packed_size(&d->model) + 1);
    size_t n_bytes = onnx__model_proto__pack(&d->model, bytes);
    FILE *f = fopen(path, "wb");
    assert(f && fwrite(bytes, 1, n_bytes, f) == n_bytes && fclose(f) == 0);
}

static inline void draft_write(struct draft *d, const char *outputs, const char *path)
{
    draft_outputs(d, outputs);
    draft_pack(d, path);
}
#endif
