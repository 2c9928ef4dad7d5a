/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write.c - a forward graph as an ONNX file, which ONNX Runtime runs, and which the files of this folder read back as the same graph.
 *
 * The file is of opset 17, the first with LayerNormalization; what came later (Gelu, GroupNormalization) is written in pieces, as PyTorch does. RMS norms and
 * rotary embeddings have no pieces that a reader could put together again: a file with one of them is of opset 23, IR 11.
 * Images are written channels first, as ONNX has them; a value that is needed in the other layout is transposed, which the reader undoes. A
 * bias joins the convolution before it. The metadata_props of each node name its layer, so that the reader places it alike. Losses are left out;
 * the reader adds them to the outputs. Weights are drawn from a seed into a second file (external data), or left out.
 */
#include "workloads/onnx/write.h"
#include <errno.h>

enum { WRITTEN_OPSET = 17, WRITTEN_IR = 8, NEWER_OPSET_IR = 11 };

static bool is_loss(enum op_kind kind) { return kind == OP_CROSS_ENTROPY || kind == OP_TRANSDUCER_LOSS; }

/* Pictures come channels first, as floats; labels belong to the losses. */
static Onnx__ValueInfoProto *info(struct writer *w, const char *name, int type, const struct tensor *t, bool as_image)
{
    const uint64_t turned[] = { t->dims[0], t->dims[t->n_dims - 1], t->dims[1], t->dims[2] };
    return onnx_new_info(&w->a, name, type, t->n_dims, as_image ? turned : t->dims, NULL);
}

static void write_input(struct writer *w, uint32_t id)
{
    const struct tensor *t = &w->g->tensors[id];
    uint32_t input;
    const struct op *by = onnx_first_reader(&input, w->g, id);
    if (t->role != ROLE_INPUT || (by && is_loss(by->kind)))
        return;
    bool picture = t->n_dims == 4 && by && (by->kind == OP_INPUT_PREPARE || by->kind == OP_CONV);
    int type = t->type == TYPE_INT32 ? ONNX_INT32 : ONNX_FLOAT;
    (picture ? w->image : w->plain)[id] = t->name;
    w->graph.input = writer_append(w, w->graph.input, &w->graph.n_input, &w->cap_inputs, info(w, t->name, type, t, picture));
}

/* The outputs are what losses read, or else results that nothing reads. Casts that nothing reads are left out. */
static void write_outputs(struct writer *w)
{
    uint32_t input;
    for (uint32_t id = 0; id < w->g->n_tensors; id++) {
        const struct tensor *t = &w->g->tensors[id];
        const struct op *by = onnx_first_reader(&input, w->g, id), *from = t->producer_op == NO_ID ? NULL : &w->g->ops[t->producer_op];
        if (!from || from->pass != PASS_FORWARD || is_loss(from->kind) || from->kind == OP_CAST || (by && !(is_loss(by->kind) && input == 0)))
            continue;
        const char *name = w->plain[id] ? w->plain[id] : w->image[id];
        w->graph.output = writer_append(w, w->graph.output, &w->graph.n_output, &w->cap_outputs, info(w, name, writer_type_of(t), t, !w->plain[id]));
    }
}

static bool check_operations(const struct graph *g, struct err *err)
{
    for (const struct op *op = g->ops; op < g->ops + g->n_forward_ops; op++)
        if (!writings[op->kind].write || (op->kind == OP_MAP && op->at->function != FUNCTION_CLIP && op->at->function != FUNCTION_DIVIDE_BY))
            return fail(err, "%s: no ONNX operator is known for %s%s", g->name,
                        op->kind == OP_MAP ? op_function_name(op->at->function) : op_kind_names[op->kind],
                        op->kind == OP_TRANSDUCER_LOSS ? "; write the model's inference: --set recipe.mode=infer" : "");
    return true;
}

static int opset_of(const struct graph *g)
{
    int newest = WRITTEN_OPSET;
    for (size_t i = 0; i < g->n_forward_ops; i++)
        newest = writings[g->ops[i].kind].opset > newest ? writings[g->ops[i].kind].opset : newest;
    return newest;
}

static bool pack(struct writer *w, FILE *f)
{
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = { &opset };
    opset.domain = arena_strdup(&w->a, "");
    opset.has_version = model.has_ir_version = true;
    opset.version = w->opset;
    model.ir_version = w->opset > WRITTEN_OPSET ? NEWER_OPSET_IR : WRITTEN_IR;
    model.producer_name = arena_strdup(&w->a, "podbench");
    Onnx__StringStringEntryProto *props[] = { onnx_new_entry(&w->a, ONNX_LOSS_KEY, op_kind_names[OP_CROSS_ENTROPY]) };
    for (size_t i = 0; i < w->g->n_forward_ops; i++)
        if (is_loss(w->g->ops[i].kind))
            model.n_metadata_props = 1;
    model.metadata_props = props;
    model.opset_import = opsets;
    model.n_opset_import = 1;
    model.graph = &w->graph;
    w->graph.name = arena_strdup(&w->a, w->g->name);
    size_t n = onnx__model_proto__get_packed_size(&model);
    uint8_t *bytes = arena_alloc(&w->a, n);
    onnx__model_proto__pack(&model, bytes);
    errno = 0;
    return fwrite(bytes, 1, n, f) == n && fflush(f) == 0;
}

static bool is_written_as_image(const struct writer *w)
{
    uint32_t x = w->op->inputs[0];
    bool is_image = w->g->tensors[x].n_dims == 4;
    return w->how->layout == WRITTEN_IMAGE || (w->how->layout == WRITTEN_BY_RANK && is_image) ||
           (w->how->layout == WRITTEN_AS_FIRST && is_image && w->image[x] && !w->plain[x]);
}

static void write_graph(struct writer *w)
{
    w->plain = ARENA_ARRAY(&w->a, const char *, w->g->n_tensors);
    w->image = ARENA_ARRAY(&w->a, const char *, w->g->n_tensors);
    w->done = ARENA_ARRAY(&w->a, bool, w->g->n_ops);
    for (uint32_t i = 0; i < w->g->n_tensors; i++)
        write_input(w, i);
    for (size_t i = 0; i < w->g->n_forward_ops; i++) {
        w->op = &w->g->ops[i];
        w->how = &writings[w->op->kind];
        w->as_image = is_written_as_image(w);
        if (!w->done[i])
            w->how->write(w);
    }
    w->op = NULL;
    write_outputs(w);
}

static bool write_both(struct writer *w, struct new_file *model, struct new_file *data, const char *path, struct err *err)
{
    w->data = data->f;
    write_graph(w);
    return (pack(w, model->f) || fail(err, "%s: cannot be written completely: %s", path, write_cause())) &&
           (!w->seed || new_file_save(data, err)) && new_file_save(model, err);
}

bool onnx_write(const char *path, const struct graph *g, const uint64_t *seed, struct err *err)
{
    struct writer w = { .g = g, .seed = seed, .opset = opset_of(g), .graph = ONNX__GRAPH_PROTO__INIT };
    struct new_file model = { 0 }, data = { 0 };
    const char *data_path = arena_printf(&w.a, "%s.data", path);
    w.location = path_name(data_path);
    bool good = check_operations(g, err) && new_file_open(&model, path, err) && (!seed || new_file_open(&data, data_path, err)) &&
                write_both(&w, &model, &data, path, err);
    new_file_drop(&model);                  /* removes what was saved */
    new_file_drop(&data);
    arena_free(&w.a);
    return good;
}
