/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * workload.c - finds workloads: rows of the model families, each in its own file, or an ONNX file.
 */
#include "workloads/models/builders.h"
#include "workloads/onnx/onnx.h"

/* families.h, which bench.mk writes, has a line for each file of this folder with a table of WORKLOADS. */
#define FAMILY(name) extern const struct workload name##_workloads[];
#include "workloads/models/families.h"
#undef FAMILY
static const struct workload *const families[] = {
#define FAMILY(name) name##_workloads,
#include "workloads/models/families.h"
#undef FAMILY
};

const struct workload *workload_at(size_t i)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct workload *w = families[f]; w->name; w++)
            if (i-- == 0)
                return w;
    return NULL;
}

size_t workload_count(void)
{
    size_t n = 0;
    while (workload_at(n))
        n++;
    return n;
}

/* ---- ONNX files --------------------------------------------------------------------------------- */

/* "tokens=128,frames=1220,sampling_rate=16000" */
static bool read_dimensions(struct onnx_options *out, const char *text, struct arena *a, struct err *err)
{
    size_t at = 0;
    struct onnx_dimension *all = ARENA_ARRAY(a, struct onnx_dimension, text ? strlen(text) : 0);        /* room for more dimensions than the text can hold */
    for (char *item = text ? arena_strdup(a, text) : NULL, *next; item && *item; item = next) {
        next = item + strcspn(item, ",");
        if (*next)
            *next++ = '\0';
        char *equals = strrchr(item, '=');
        if (!equals)
            return fail(err, "data.%.60s: want NAME=SIZE", item);
        *equals = '\0';
        if (!parse_u64(equals + 1, &all[at].size) || all[at].size > 1u << 24)
            return fail(err, "data.%.60s: '%.40s' is not a size or a number; want a whole number from 0 to 16777216", item, equals + 1);
        all[at++].name = item;
    }
    out->dimensions = all;
    out->n_dimensions = at;
    return true;
}

/* "24x49"; the recipe has checked it. */
static void read_grid(uint32_t out[MOST_GRID_AXES], const char *text)
{
    uint64_t parts[MOST_GRID_AXES];
    uint32_t n = 0;
    if (text)
        parse_parts(parts, &n, text);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint32_t)parts[i];
}

bool onnx_file_import(struct graph *g, struct onnx_import *import, const struct model_options *o, struct arena *a, struct err *err)
{
    struct onnx_options reader = {
        .batch = o->micro_batch, .inference = o->inference, .forward_only = o->tensor_parallel || o->embedding_split > 1, .byte_images = o->input_type == INPUT_UINT8, .float_images = o->input_type == INPUT_FP32, .approximate = o->approximate, .output = o->output,
        .sparse = o->sparse, .shard_tables = o->shard_tables, .n_shards = o->n_shards, .batch_norm_span = (uint32_t)o->batch_norm_span, .type = o->compute == COMPUTE_FP32 ? TYPE_FP32 : TYPE_FP16,
    };
    struct codelets *own = o->operators ? ARENA_NEW(a, struct codelets) : NULL;
    reader.codelets = own;
    reader.rounds = (uint32_t)o->repeat;
    read_grid(reader.grid_ipus, o->grid_ipus);
    read_grid(reader.grid_tiles, o->grid_tiles);
    if (own && !codelets_load(own, o->operators, a, err))
        return false;
    if (o->compute == COMPUTE_FP8)
        return fail(err, "%s: precision.compute: fp8 for an ONNX file is not modelled; want fp16 or fp32", o->where);
    return op_kinds_read(&reader.fp32_kinds, o->fp32_operations, err) && read_dimensions(&reader, o->dimensions, a, err) && onnx_build(g, import, o->file, &reader, a, err);
}

static const struct workload any_file = { "model.onnx", "onnx", "a model of your own, from an ONNX file", "sample", .traits = IS_FILE | TAKES_IMAGES };

const struct workload *workload_find(const char *name, struct err *err)
{
    if (onnx_is_file(name))
        return &any_file;
    const struct workload *w;
    for (size_t i = 0; (w = workload_at(i)); i++)
        if (text_is(w->name, name))
            return w;
    struct arena scratch = { 0 };
    size_t n = workload_count();
    const char **names = ARENA_ARRAY(&scratch, const char *, n);
    for (size_t i = 0; i < n; i++)
        names[i] = workload_at(i)->name;
    if (strpbrk(name, "/."))
        fail(err, "'%.60s' is no model: neither built in nor an ONNX file, whose name ends in .onnx; built in: %s", name, names_list(names, n, &scratch));
    else
        fail(err, "unknown workload '%.60s'; %sknown: %s", name, names_suggestion(names, n, name, &scratch), names_list(names, n, &scratch));
    arena_free(&scratch);
    return NULL;
}

/* The planner counts the rows of a product in 32 bits. */
static bool check_products(const struct graph *g, const struct model_options *o, struct err *err)
{
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        uint64_t rows = op->kind == OP_MATMUL ? op_matmul_shape(g, op).rows : 0;
        if (rows > UINT32_MAX)
            return fail(err, "%s: parallel.micro_batch: %llu: a product of layer %s has %llu rows, at most %llu; lower it",
                        o->where, (unsigned long long)g->micro_batch, g->layers[op->layer_id].name,
                        (unsigned long long)rows, (unsigned long long)UINT32_MAX);
    }
    return true;
}

const struct model_options own_options = { .where = "workload", .micro_batch = 1, .batch_norm_span = 1, .sequences_per_pack = 1, .sparse.block = 1 };

static bool forward_graph(struct graph *out, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err)
{
    uint64_t fp32_kinds;
    struct onnx_import import;
    if (!op_kinds_read(&fp32_kinds, o->fp32_operations, err))
        return false;
    if (w->traits & IS_FILE)
        return (o->file || fail(err, "%s: no file is given", w->name)) && onnx_file_import(out, &import, o, a, err);
    struct builder b = builder_start(out, w->name, o, a);
    if (!w->build(&b, w, err))
        return false;
    if (b.undivided_queries)
        return fail(err, "%s: parallel.attention_serialisation: %ju pieces do not divide the %ju queries of %s; take another number", o->where,
                    (uintmax_t)o->attention_serialisation, (uintmax_t)b.undivided_queries, w->name);
    if (!graph_shard_tables(out, o->shard_tables, o->n_shards, err) || !graph_make_sparse(out, &o->sparse, err))
        return false;
    graph_keep_fp32(out, fp32_kinds);
    return true;
}

static bool cut_along(struct graph *out, const struct model_options *o, struct slice_axis axis, struct arena *a, struct err *err)
{
    struct graph *whole = ARENA_NEW(a, struct graph);
    const char *whole_layer;
    if (axis.n_ipus < 2)
        return true;
    *whole = *out;
    if (graph_slice(out, whole, axis, &whole_layer, a))
        return true;
    if (axis.axis && whole_layer)
        return fail(err, "%s: parallel.tensor_parallel: %s of %s needs whole rows of what a second axis cuts; give one number", o->where, whole_layer, whole->name);
    return fail(err, axis.axis ? "%s: parallel.tensor_parallel: layers of %s have no results that can be cut over %u IPUs of a second axis; give one number"
                               : "%s: parallel.tensor_parallel: %s has no products that can be cut over %u IPUs; leave it out", o->where, whole->name, axis.n_ipus);
}

/* Cuts the graph into the part that one IPU has, as tensor_parallel says; IPUs along the second axis are neighbours. The plan reads and checks the
 * same text again. */
static bool cut_graph(struct graph *out, const struct model_options *o, struct arena *a, struct err *err)
{
    uint32_t n[2];
    if (!tensor_axes(n, o->tensor_parallel))
        return true;
    uint32_t attention = o->attention_tensor_parallel ? (uint32_t)o->attention_tensor_parallel : n[0];
    return cut_along(out, o, (struct slice_axis){ 0, n[0], attention, n[1] }, a, err) && cut_along(out, o, (struct slice_axis){ 1, n[1], n[1], 1 }, a, err);
}

/* Splits a word table over several stages, if the options ask for it. */
static bool split_table(struct graph *out, const struct model_options *o, struct arena *a, struct err *err)
{
    if (o->embedding_split < 2)
        return true;
    if (o->tensor_parallel)
        return fail(err, "%s: parallel.embedding_split: tensor_parallel cuts the table already; leave one of them out", o->where);
    if (o->embedding_split > MAX_TABLE_PARTS)
        return fail(err, "%s: parallel.embedding_split: %ju parts, at most %d", o->where, (uintmax_t)o->embedding_split, MAX_TABLE_PARTS);
    struct graph *whole = ARENA_NEW(a, struct graph);
    *whole = *out;
    return graph_split_table(out, whole, (uint32_t)o->embedding_split, a)
        || fail(err, "%s: parallel.embedding_split: %s has no word table of %ju parts", o->where, whole->name, (uintmax_t)o->embedding_split);
}

bool workload_graph(struct graph *out, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err)
{
    o = o ? o : &own_options;
    if (!forward_graph(out, w, o, a, err))
        return false;
    if (!split_table(out, o, a, err) || !cut_graph(out, o, a, err))
        return false;
    if (!o->inference && out->n_ops == out->n_forward_ops)
        graph_add_backward(out);
    return check_products(out, o, err);
}

uint64_t workload_parameters(const char *name, struct arena *a)
{
    struct graph g;
    struct model_options o = own_options;
    const struct workload *w = workload_find(name, NULL);
    o.inference = true;
    return w && !(w->traits & IS_FILE) && workload_graph(&g, w, &o, a, NULL) ? graph_parameters(&g) : 0;
}
