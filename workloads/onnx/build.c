/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.c - an ONNX file as a graph: its inputs, its nodes in order, the loss, layers, and the backward pass; and the
 * report of operators.
 *
 * A node that only computes constants makes no operation. Training adds a cross-entropy against one label for each row
 * to the first output, or to each output that recipe.output names; a softmax at its end, or a loss in the file,
 * becomes part of it.
 */
#include "workloads/onnx/onnx_mapper.h"
#include "workloads/onnx/onnx_passes.h"
#include <string.h>

static void count_fate(struct mapper *p, const char *op, enum onnx_fate fate, const char *into)
{
    struct onnx_import *im = p->import;
    for (size_t i = 0; i < im->n_counts; i++)
        if (im->counts[i].fate == fate && text_is(im->counts[i].op, op) && text_is(im->counts[i].into, into)) {
            im->counts[i].n++;
            return;
        }
    ARENA_APPEND(p->m->arena, im->counts, im->n_counts, im->cap_counts, (struct onnx_count){ op, into, fate, 1 });
}

/* Prices a node without a mapping as one pass over its result, the least that it can cost. */
static bool approximate(struct mapper *p)
{
    for (uint32_t i = 0; i < p->n->n_outputs; i++) {
        const struct onnx_value *y = map_out(p, i);
        uint64_t dims[ONNX_MAX_DIMS];
        if (!y)
            continue;
        uint32_t x = map_in_id(p, 0) == NO_ID ? NO_ID : map_any_plain(p, map_in_id(p, 0)), n = map_plain_dims(dims, y);
        if (x == NO_ID)
            return false;
        if (tensor_elements(&p->g->tensors[x]) != onnx_elements(y) || p->g->tensors[x].type != map_type(p, y->type)) {
            if (n > MAX_DIMS)
                return MAP_REFUSE(p, "cannot be priced: its result has %u dimensions, at most %d", n, MAX_DIMS);
            x = graph_tensor(p->g, y->name, ROLE_STATE, map_type(p, y->type), n, dims);
        }
        if (!map_done(p, i, map_emit1(p, OP_SCALE, x, WITH(.rate = 1)), false))
            return false;
        p->g->n_rough_ops++;
    }
    return true;
}

static bool node_is_wanted(const struct mapper *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->n->n_outputs; i++)
        any |= p->n->outputs[i] != NO_ID && p->wanted[p->n->outputs[i]];
    return any;
}

static bool has_empty(const struct mapper *p)
{
    bool empty = false;
    for (uint32_t i = 0; i < p->n->n_inputs && !onnx_has(p->n, ONNX_PASSES_EMPTY); i++)
        empty |= map_in(p, i) && onnx_elements(map_in(p, i)) == 0;
    for (uint32_t i = 0; i < p->n->n_outputs; i++)
        empty |= map_out(p, i) && map_out(p, i)->shaped && onnx_elements(map_out(p, i)) == 0;
    return empty;
}

static bool map_node(struct mapper *p)
{
    const char *op = p->n->written;
    const struct onnx_value *y = map_out(p, 0);
    const struct codelet *own = onnx_codelet(p->m, p->n);
    bool (*map)(struct mapper *p) = p->n->op->map;
    p->into = NULL;
    if (p->n->gone) {
        if (*op && !p->n->fused_as)
            count_fate(p, op, ONNX_UNUSED, "nothing reads it");
        else if (*op)                       /* a node without an operator is an empty place, and not counted */
            count_fate(p, op, p->n->rough ? ONNX_APPROXIMATED : ONNX_FUSED, p->n->fused_as);
        p->g->n_rough_ops += p->n->rough;
        return true;
    }
    if (!node_is_wanted(p) || (y && y->constant)) {
        count_fate(p, op, y && y->constant ? ONNX_FOLDED : ONNX_UNUSED, y && y->constant ? "constants" : "nothing reads it");
        return true;
    }
    if (map && map_reads_sparse(p) && map != map_matmul && map != map_gemm)
        return MAP_REFUSE(p, "reads a sparse initialiser, which MatMul and Gemm alone may; give it as a dense one");
    if (has_empty(p))
        return MAP_REFUSE(p, "works on a tensor without elements");
    if (own)
        return onnx_map_codelet(p, own) && (count_fate(p, op, ONNX_MAPPED, p->into), true);
    if (!map && !p->o->approximate)
        return MAP_REFUSE(p, "is not modelled where data go through it; change the model, or price it roughly with --approximate");
    if (map ? map(p) : approximate(p)) {
        bool rough = !map || p->n->rough;
        p->g->n_rough_ops += map && rough;
        count_fate(p, op, rough ? ONNX_APPROXIMATED : p->n->fused_as ? ONNX_FUSED : ONNX_MAPPED, p->n->fused_as ? p->n->fused_as : p->into);
        return true;
    }
    if (!p->o->approximate || !map || !approximate(p))
        return p->err && *p->err->msg ? false : MAP_REFUSE(p, "lacks an input that it needs");
    if (p->err)
        *p->err = (struct err){ "" };       /* the rough price replaces the refusal */
    count_fate(p, op, ONNX_APPROXIMATED, "one pass over its result");
    return true;
}

/* Marks the values that a wanted output needs. Conditions that the options give are computed in any case. */
static bool *map_wanted(const struct mapper *p)
{
    const struct onnx_model *m = p->m;
    bool *wanted = ARENA_ARRAY(m->arena, bool, m->n_values);
    for (size_t i = 0; i < m->n_wanted; i++)
        wanted[m->outputs[i]] = true;
    for (size_t i = 0; i < m->n_values; i++)
        wanted[i] |= m->values[i].given;
    for (size_t i = m->n_nodes; i-- > 0; ) {
        const struct onnx_node *n = &m->nodes[i];
        bool any = false;
        for (uint32_t k = 0; k < n->n_outputs; k++)
            any |= n->outputs[k] != NO_ID && wanted[n->outputs[k]];
        for (uint32_t k = 0; k < n->n_inputs && any && !n->gone; k++)
            if (n->inputs[k] != NO_ID)
                wanted[map_read_id(m, n, k)] = true;
    }
    return wanted;
}

/* ---- inputs and outputs ------------------------------------------------------------------------------------------------ */

/* True if a window reads the value, directly or after at most `depth` operations that prepare images. */
static bool goes_to_window(const struct onnx_model *m, uint32_t value, uint32_t depth)
{
    for (const struct onnx_node *n = m->nodes, *end = m->nodes + m->n_nodes; n < end; n++) {
        if (n->gone || n->n_inputs == 0 || n->inputs[0] != value)
            continue;
        if (onnx_has(n, ONNX_WINDOW))
            return true;
        if (onnx_has(n, ONNX_PREPARES | ONNX_ARITHMETIC) && depth > 0 && onnx_out(m, n, 0) && goes_to_window(m, n->outputs[0], depth - 1))
            return true;
    }
    return false;
}

/* Pictures are floats of four or five dimensions with one, three or four channels that a window reads. */
static bool is_picture(const struct onnx_model *m, uint32_t value)
{
    const struct onnx_value *v = &m->values[value];
    return (v->n_dims == 4 || v->n_dims == 5) && (v->type == ONNX_FLOAT || v->type == ONNX_FLOAT16) &&
           (v->dims[1] == 1 || v->dims[1] == 3 || v->dims[1] == 4) && goes_to_window(m, value, 3);
}

static void map_input(struct mapper *p, uint32_t value, size_t i)
{
    const struct onnx_value *v = &p->m->values[value];
    uint64_t dims[ONNX_MAX_DIMS];
    bool picture = is_picture(p->m, value);
    uint32_t n = map_tensor_dims(dims, v);
    if (picture)
        map_image_dims(dims, v);
    n = picture ? 4 : n;
    bool bytes = picture && p->o->byte_images, floats = picture && p->o->float_images && p->o->type != TYPE_FP32;
    uint32_t tensor = graph_tensor(p->g, v->name, ROLE_INPUT, bytes ? TYPE_UINT8 : floats ? TYPE_FP32 : map_type(p, v->type), n, dims);
    p->import->inputs[i] = tensor;
    p->import->input_is_image[i] = picture;
    if (bytes)
        tensor = graph_op(p->g, OP_INPUT_PREPARE, &tensor, 1, WITH(.to_type = p->o->type));
    if (floats)
        tensor = graph_op(p->g, OP_CAST, &tensor, 1, WITH(.to_type = p->o->type));
    p->of[value] = (struct mapped){ tensor, NO_ID, picture, false };
}

static bool add_loss(struct mapper *p, uint32_t tensor)
{
    const struct tensor *t = &p->g->tensors[tensor];
    uint32_t n = t->n_dims > 1 ? t->n_dims - 1 : 1;
    uint64_t dims[MAX_DIMS], last = t->dims[t->n_dims - 1], rows = tensor_elements(t) / last;
    memcpy(dims, t->dims, sizeof dims);
    if (t->n_dims < 2) {
        tensor = VIEW(p, tensor, rows, last);
        dims[0] = rows;
    }
    uint32_t labels = graph_tensor(p->g, "labels", ROLE_INPUT, TYPE_INT32, n, dims);
    graph_op(p->g, OP_CROSS_ENTROPY, (uint32_t[]){ tensor, labels }, 2, NO_ATTRIBUTES);
    p->g->tensors[labels].layer_id = p->g->ops[p->g->n_ops - 1].layer_id = p->g->tensors[tensor].layer_id;
    return true;
}

static const struct onnx_node *maker_of(const struct mapper *p, uint32_t value)
{
    uint32_t producer = p->m->values[value].producer;
    return producer == NO_ID ? NULL : &p->m->nodes[producer];
}

static bool is_softmax(const struct onnx_node *n) { return onnx_is(n, ONNX_OP_SOFTMAX) || onnx_is(n, ONNX_OP_LOG_SOFTMAX); }

static void make_part_of_loss(struct mapper *p, uint32_t *output)
{
    struct onnx_node *n = &p->m->nodes[p->m->values[*output].producer];
    n->fused_as = "the loss";
    n->gone = true;
    *output = n->inputs[0];
    p->m->values[n->inputs[0]].output = true;
}

/* In training the added losses replace those of the file, and include a softmax before them, unless another output
 * reads it. */
static void drop_losses(struct mapper *p)
{
    for (size_t i = 0; i < p->m->n_wanted && !p->o->inference; i++) {
        uint32_t *output = &p->m->outputs[i];
        if (onnx_has(maker_of(p, *output), ONNX_LOSS))
            make_part_of_loss(p, output);
        if (is_softmax(maker_of(p, *output)) && (p->m->n_wanted == 1 || p->m->values[*output].n_readers == 0))
            make_part_of_loss(p, output);
    }
}

static bool refuse_idle(const struct mapper *p)
{
    return fail(p->err, "%s: no operation that computes anything%s; nothing to simulate", p->m->path, p->o->inference ? "" : ", or no weight that is trained");
}

static bool map_output(struct mapper *p, size_t i)
{
    uint32_t value = p->m->outputs[i];
    if (p->m->values[value].producer == NO_ID)
        return refuse_idle(p);              /* the file has nothing but a loss */
    p->n = &p->m->nodes[p->m->values[value].producer];
    bool image = map_is_image(p, value);
    uint32_t tensor = image ? map_as_image(p, value) : p->m->values[value].n_dims > MAX_DIMS ? map_any_plain(p, value) : map_as_plain(p, value);
    if (tensor == NO_ID)
        return false;
    if (i == 0) {
        p->import->output = tensor;
        p->import->output_is_image = image;
    }
    return p->o->inference || add_loss(p, tensor);
}

/* True if the input is only compared, or only decides which elements are taken: no gradient reaches it. */
static bool only_decides(const struct op *op, uint32_t input)
{
    if (op->kind == OP_MAP || op->kind == OP_COMBINE)
        return op_function_is_flat(op->at->function);
    bool picks = op->kind == OP_SELECT || op->kind == OP_GATHER || op->kind == OP_SCATTER;
    return (picks && input == 1) || op->kind == OP_ARG_MAX || op->kind == OP_TOP_K;
}

/* True if the input has a row for each row of the scores, and is the same for all samples and heads. It is then a mask that is added before a
 * softmax;
   learnt positions differ by head. */
static bool is_mask_of_scores(const struct graph *g, const struct op *op, uint32_t input)
{
    const struct tensor *mask = &g->tensors[op->inputs[input]], *scores = &g->tensors[op->outputs[0]];
    uint32_t n = mask->n_dims, m = scores->n_dims;
    bool has_rows = op->kind == OP_ADD && n > 1 && m > 2 && mask->dims[n - 2] > 1 && mask->dims[n - 2] == scores->dims[m - 2];
    return has_rows && mask->dims[n - 1] == scores->dims[m - 1] && tensor_elements(mask) == mask->dims[n - 2] * mask->dims[n - 1] &&
           tensor_elements(mask) < tensor_elements(scores);
}

/* Floats of the file that no gradient can reach are state, not parameters: causal masks that are compared, or added to scores. */
static void find_state(struct graph *g)
{
    struct arena scratch = { 0 };
    bool *is_read = ARENA_ARRAY(&scratch, bool, g->n_tensors), *is_smooth = ARENA_ARRAY(&scratch, bool, g->n_tensors);
    bool *is_softened = ARENA_ARRAY(&scratch, bool, g->n_tensors);
    for (size_t i = g->n_ops; i-- > 0; ) {
        const struct op *op = &g->ops[i];
        bool smooth = false;
        for (uint32_t k = 0; k < op->n_outputs; k++)
            smooth |= is_smooth[op->outputs[k]] || !is_read[op->outputs[k]];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            bool is_mask = is_softened[op->outputs[0]] && is_mask_of_scores(g, op, k);
            is_read[op->inputs[k]] = true;
            is_softened[op->inputs[k]] |= op->kind == OP_SOFTMAX || (op->kind == OP_VIEW && is_softened[op->outputs[0]]);
            is_smooth[op->inputs[k]] |= smooth && !is_mask && !only_decides(op, k);
        }
    }
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].role == ROLE_WEIGHT && is_read[i] && !is_smooth[i])
            g->tensors[i].role = ROLE_STATE;
    arena_free(&scratch);
}

/* True if the graph computes something: a view of a tensor, or a piece of it, does not count. Training also needs something to train. */
static bool has_work(const struct graph *g, bool inference)
{
    bool works = false, learns = false;
    for (size_t i = 0; i < g->n_ops; i++)
        works |= g->ops[i].kind != OP_VIEW && !(g->ops[i].kind == OP_SLICE && g->ops[i].at->pieces);
    for (size_t i = 0; i < g->n_tensors; i++)
        learns |= g->tensors[i].role == ROLE_WEIGHT;
    return works && (inference || learns);
}

static const char *output_names(const struct onnx_model *m, size_t first, size_t end)
{
    const char **names = ARENA_ARRAY(m->arena, const char *, end - first);
    for (size_t i = first; i < end; i++)
        names[i - first] = m->values[m->outputs[i]].name;
    return names_list(names, end - first, m->arena);
}

/* The operations that a node has made run as often as the node. */
static void note_rounds(struct mapper *p)
{
    while (p->rounds.n < p->g->n_ops)
        LIST_ADD(&p->rounds, p->m->arena, max_u32(p->n ? p->n->rounds : 0, 1));
}

static bool map_all(struct mapper *p)
{
    struct onnx_model *m = p->m;
    p->import->inputs = ARENA_ARRAY(m->arena, uint32_t, m->n_inputs);
    p->import->input_is_image = ARENA_ARRAY(m->arena, bool, m->n_inputs);
    p->import->n_inputs = m->n_inputs;
    for (size_t i = 0; i < m->n_values; i++)
        p->of[i] = (struct mapped){ NO_ID, NO_ID, false, false };
    for (size_t i = 0; i < m->n_inputs; i++)
        map_input(p, m->inputs[i], i);
    note_rounds(p);
    drop_losses(p);
    p->wanted = map_wanted(p);
    for (size_t i = 0; i < m->n_nodes; i++) {
        p->n = &m->nodes[i];
        size_t n_ops = p->g->n_ops;
        bool named = onnx_open_layer(p->g, p->n);
        if (!map_node(p))
            return false;
        p->layers_named &= named || p->g->n_ops == n_ops;
        note_rounds(p);
    }
    for (size_t i = 0; i < (p->o->inference ? 1 : m->n_wanted); i++)
        if (!map_output(p, i))
            return false;
    if (!p->o->inference) {
        p->import->loss = output_names(m, 0, m->n_wanted);
        p->import->ignored = m->n_wanted < m->n_outputs ? output_names(m, m->n_wanted, m->n_outputs) : NULL;
    }
    return true;
}

bool onnx_is_file(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n > 5 && strcmp(name + n - 5, ".onnx") == 0;
}

bool onnx_build(struct graph *out, struct onnx_import *import, const char *path, const struct onnx_options *o, struct arena *a,
                struct err *err)
{
    struct onnx_model *m = ARENA_NEW(a, struct onnx_model);
    *import = (struct onnx_import){ .model = m };
    if (!onnx_read(m, path, o->contents, a, err) || !onnx_reach(m, o, err) || !onnx_infer(m, o, err))
        return false;
    onnx_fuse(m);
    import->producer = m->producer;
    import->opset = m->opset;
    import->n_nodes = m->n_nodes;
    graph_start(out, path_name(path), o->batch, a);
    graph_layer(out, (struct layer){ .name = "all" });
    struct mapper p = { .m = m, .g = out, .o = o, .import = import, .of = ARENA_ARRAY(a, struct mapped, m->n_values), .layers_named = true,
                        .err = err };
    if (!map_all(&p))
        return false;
    if (!has_work(out, o->inference))
        return refuse_idle(&p);
    find_state(out);
    p.n = NULL;
    note_rounds(&p);
    if (!p.layers_named)
        onnx_group_layers(out, p.rounds.items);
    if (!graph_shard_tables(out, o->shard_tables, o->n_shards, err) || !graph_make_sparse(out, &o->sparse, err))
        return false;
    if (!graph_cut_grid(out, o->grid_ipus, err))
        return fail_at(err, path);
    for (size_t i = 0; i < out->n_layers && o->rounds > 1; i++)
        out->layers[i].rounds = max_u32(out->layers[i].rounds, 1) * o->rounds;
    graph_keep_fp32(out, o->fp32_kinds);
    if (!o->inference && !o->forward_only)
        graph_add_backward(out);
    return true;
}

/* ---- report ---------------------------------------------------------------------------------------------------------- */

const char *const onnx_fate_names[N_ONNX_FATES] = {
    [ONNX_MAPPED] = "mapped", [ONNX_FUSED] = "fused", [ONNX_FOLDED] = "folded", [ONNX_UNUSED] = "unused",
    [ONNX_APPROXIMATED] = "approximated",
};

void onnx_print(FILE *f, const struct onnx_import *im)
{
    fprintf(f, "producer %s, opset %jd: %zu nodes\n", im->producer, (intmax_t)im->opset, im->n_nodes);
    for (int fate = 0; fate < N_ONNX_FATES; fate++)
        for (const struct onnx_count *c = im->counts, *end = c + im->n_counts; c < end; c++)
            if (c->fate == (enum onnx_fate)fate)
                fprintf(f, "  %-12s %5u x %-24s %s\n", onnx_fate_names[fate], c->n, c->op, c->into ? c->into : "");
    const struct onnx_value *first = NULL;
    uint32_t n_largest = 0;
    for (const struct onnx_value *v = im->model->values, *end = v + im->model->n_values; v < end; v++) {
        if (v->bounded)
            fprintf(f, "  given: %s has %ju elements\n", v->name, (uintmax_t)onnx_elements(v));
        else if (v->given)
            fprintf(f, "  given: %s = %g\n", v->name, v->known[0]);
        first = v->largest && !first ? v : first;
        n_largest += v->largest;
    }
    if (first)
        fprintf(f, "  largest possible: %u sizes that depend on data, so that every expert of a sparse mixture gets every token; bound them as in "
                "--set data.%s=NUMBER\n", n_largest, first->name);
    if (im->loss)
        fprintf(f, "  loss: cross-entropy of %s\n", im->loss);
    if (im->ignored)
        fprintf(f, "  not trained: %s; recipe.output names the outputs to train on\n", im->ignored);
}
