/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_code.c - bytes of code and vertex state on a tile, in the categories of the vendor's profiler (PopVision).
 *
 *     vertex code    the codelets in use, once each on an IPU
 *     vertex state   the fields of all vertices
 *     vertex fields  what vertices read besides their operands: addresses and worklists (conv_code.c)
 *     control code   for each superstep its sync and the call of its vertices; for code that is shared, a call
 *     exchange code  for each exchange its start and end; for each piece received, where it goes
 *
 * Products with equal plans share one copy of code and state (outlining), and each further use costs a call; so do in PopART other operations in runs
 * that repeat, and in TensorFlow norms and recurrences. A call of a convolution of an image whose input comes from another convolution than the first caller's
 * brings it into the callee's layout by code of its own. A program may be compiled without outlining (parallel.outlining). Sizes are in base/assumed.h.
 * Left out: codelets for operands that are not aligned, what the linker adds, and a threshold of 10 instead of 1, with which runs are shared from a hundred
 * elementwise operations on (outlineThreshold; graphcore/examples 3cc8f81 nlp/gpt2/pytorch/ipu_options.py:94).
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/compiled.h"
#include "system-model/graph/codelet.h"
#include "system-model/graph/graph.h"

/* Bytes of the codelets of an operation, by the part of time that it counts as. Source: popliner, by operation; for lookups, the embedding's share
 * of the first half of BERT-Large. Operations that no profile shows (recurrences, losses, pooling, optimizers) are assumed to need a few of the
 * smallest codelets. */
static const uint32_t codelet_bytes[N_PARTS] = {
    [PART_MATMUL] = 1600, [PART_CONV] = 1600, [PART_NORM] = 2019, [PART_SOFTMAX] = 1559, [PART_EMBEDDING] = 1076,
};
static const uint32_t small_codelets[N_PARTS] = { [PART_ELEMENTWISE] = 1, [PART_REARRANGE] = 1, [PART_POOLING] = 1, [PART_LSTM] = 4, [PART_LOSS] = 2 };
/* EfficientNet-EdgeTPU-L (popliner, test_profile.py): convolutions of 1x1 1,379; of 3x3 2,248, and 543 more where tiles share sums (block 3 less block 0);
 * biases 621 to 838. */
enum { CONV_1X1_CODELET_BYTES = 1379, CONV_CODELET_BYTES = 2248, SUM_CODELET_BYTES = 543, VECTOR_CODELET_BYTES = 838 };
/* In the same profile the addition of an image's sums, which lie in several regions of a tile, has 112 bytes of state and 44 of control code. An
 * elementwise operation on an image has 24 and 21 in the mean, from the sums over all layers with and without shared code (22,059 and 12,622 B;
 * 8,831 and 6,020 B). */
enum { SUM_STATE_BYTES = 112, SUM_CONTROL_BYTES = 44, IMAGE_STATE_BYTES = 24, IMAGE_CONTROL_BYTES = 21 };

static bool of_image(const struct graph *g, const struct op *op) { return g->tensors[op->inputs[0]].n_dims == 4; }

static bool adds_sums(const struct graph *g, const struct op *op, const struct op_plan *p)
{
    return op_part(op) == PART_CONV && of_image(g, op) && p->split.in_chans * p->split.kernel > 1;
}

static uint32_t codelet_bytes_of(const struct graph *g, const struct op *op, const struct op_plan *p)
{
    enum part part = op_part(op);
    if (op->kind == OP_CODELET && op_codelet(g, op)->code_bytes)
        return (uint32_t)min_u64(op_codelet(g, op)->code_bytes, UINT32_MAX);
    if (part == PART_CONV)
        return p->vertex == VERTEX_AMP_1X1 ? CONV_1X1_CODELET_BYTES : CONV_CODELET_BYTES;
    return of_image(g, op) && op->kind == OP_BIAS_ADD && op->pass == PASS_FORWARD ? VECTOR_CODELET_BYTES : codelet_bytes[part] + small_codelets[part] * SMALL_CODELET_BYTES;
}

uint64_t vector_work_codelet_bytes(enum vector_work work)
{
    return work >= N_GRADIENT_WORKS ? 3 * SMALL_CODELET_BYTES : SMALL_CODELET_BYTES;
}

/* Products share codelets where vertex and types are equal; other operations where kind, direction and type are. */
static uint32_t codelet_id(const struct graph *g, const struct op *op, const struct op_plan *p)
{
    enum data_type type = g->tensors[op_forward(g, op)->inputs[0]].type;
    if (p->vertex != VERTEX_NONE)
        return ((uint32_t)p->vertex * 2 + p->partials) * N_DATA_TYPES + type;
    return (uint32_t)(N_VERTEX_KINDS * 2 + op->kind * 2 + (op->pass != PASS_FORWARD)) * N_DATA_TYPES + type;
}
enum { SUM_CODELET = (N_VERTEX_KINDS * 2 + N_OP_KINDS * 2) * N_DATA_TYPES, N_CODELETS };

void program_start(struct tile_program *out, const struct graph *g, size_t n_codes, struct code_options options, struct arena *a)
{
    *out = (struct tile_program){ .graph = g, .options = options, .callers = ARENA_ARRAY(a, uint32_t, n_codes), .laid_by = ARENA_ARRAY(a, uint32_t, g->n_tensors),
                                  .is_image = ARENA_ARRAY(a, bool, g->n_tensors),
                                  .has_codelet = ARENA_ARRAY(a, bool, N_CODELETS), .arena = a };
}

/* Adds the operation that the program runs next. */
void program_add_op(struct tile_program *out, const struct op *op, const struct op_plan *p)
{
    out->ops = arena_grow(out->arena, out->ops, out->n_ops, &out->cap_ops, sizeof *out->ops);
    enum part part = op_part(op);
    out->ops[out->n_ops++] = (struct program_op){ op, p, part == PART_CONV || part == PART_MATMUL, false };
}

enum { MOST_RUN = 64 };         /* runs with more products than this are not searched for */

/* Marks the operations of runs that have occurred before. A run has OUTLINED_RUN operations besides products, the last of which ends it. */
static void find_repeated(struct tile_program *out)
{
    struct hash_table seen = {0};
    uint32_t *codes = ARENA_ROOM(out->arena, uint32_t, out->n_ops), n_others = 0;
    for (size_t i = 0; i < out->n_ops; i++)
        codes[i] = out->ops[i].plan->code_id;
    for (uint32_t i = 0, end = 0, marked = 0; i < out->n_ops; n_others -= !out->ops[i++].is_product) {
        while (n_others < OUTLINED_RUN && end < out->n_ops)
            n_others += !out->ops[end++].is_product;
        bool is_run = n_others == OUTLINED_RUN && end - i <= MOST_RUN;
        if (is_run && hash_table_first(&seen, codes + i, (end - i) * sizeof *codes, i, out->arena) != i)
            for (marked = max_u32(marked, i); marked < end; marked++)
                out->ops[marked].repeated = true;
    }
}

/* The code of the product that laid a tensor out, from 1 on; operations that keep a layout hand it on. 0: none, or unknown. */
static uint32_t layout_of(const struct tile_program *out, const struct op *op) { return op->n_inputs ? out->laid_by[op->inputs[0]] : 0; }

static void note_layout(struct tile_program *out, const struct program_op *o)
{
    uint32_t layout = o->is_product ? o->plan->code_id + 1 : op_keeps_layout(o->op) ? layout_of(out, o->op) : 0;
    bool image = o->is_product ? op_part(o->op) == PART_CONV && of_image(out->graph, o->op) : op_keeps_layout(o->op) && o->op->n_inputs && out->is_image[o->op->inputs[0]];
    for (uint32_t k = 0; k < o->op->n_outputs; k++) {
        out->laid_by[o->op->outputs[k]] = layout;
        out->is_image[o->op->outputs[k]] = image;
    }
}

/* Bytes of code that bring an image into another layout: a word for each piece, up to the most pieces that profiles show. */
static uint64_t copy_in_bytes(const struct tile_program *out, const struct program_op *o)
{
    const struct tensor *x = &out->graph->tensors[o->op->inputs[0]];
    bool alike = out->options.sharing != CODE_SHARED_BY_VALUE || !out->options.image_code || !o->plan->code.field_pieces || layout_of(out, o->op) + 1 == out->callers[o->plan->code_id];
    uint64_t words = ceil_div(tensor_bytes(x), max_u64(1, o->plan->n_tiles_used) * sizeof(int32_t));
    return alike ? 0 : EXCHANGE_BYTES + INSTRUCTION_BYTES * min_u64(words, UNLIKE_COPY_PIECES);
}

/* A shared call that follows another one of the same layer and direction is a part of it. */
static void add_code_call(struct tile_program *out, const struct program_op *o)
{
    bool called = out->is_called && out->layer_id == o->op->layer_id && out->pass == o->op->pass;
    out->bytes.control_code += called ? 0 : CALL_BYTES;
    out->bytes.exchange_code += copy_in_bytes(out, o);
    out->is_called = true;
    out->layer_id = o->op->layer_id;
    out->pass = o->op->pass;
}

/* PopART outlines products and runs that repeat. TensorFlow caches products, norms and recurrences, and nothing else (graphcore/tensorflow 07cd7124
 * tensorflow/compiler/plugin/poplar/driver/passes/outline_instructions.cc:32-53; res.graph_cache.ExecuteCached in driver/ops). */
static bool is_called_again(const struct tile_program *out, const struct program_op *o)
{
    enum part part = op_part(o->op);
    bool cached = out->options.sharing == CODE_SHARED_BY_VALUE ? o->repeated : part == PART_NORM || part == PART_LSTM;
    return out->options.sharing != CODE_OWN && (o->is_product || cached);
}

static void add_codelet(struct tile_program *out, uint32_t id, uint32_t n_bytes)
{
    out->bytes.vertex_code += out->has_codelet[id] ? 0 : n_bytes;
    out->has_codelet[id] = true;
}

/* Adds the vertices, and their calls, that an operation needs on images beyond those that it needs on rows. */
static void add_image_vertices(struct tile_program *out, const struct program_op *o)
{
    bool sums = adds_sums(out->graph, o->op, o->plan), elementwise = op_part(o->op) == PART_ELEMENTWISE && out->is_image[o->op->inputs[0]];
    uint32_t steps = sums ? 1 : elementwise ? o->plan->code.supersteps : 0;
    out->bytes.vertex_state += (uint64_t)steps * ((sums ? SUM_STATE_BYTES : IMAGE_STATE_BYTES) - SUPERSTEP_STATE_BYTES);
    out->bytes.control_code += (uint64_t)steps * ((sums ? SUM_CONTROL_BYTES : IMAGE_CONTROL_BYTES) - SUPERSTEP_CONTROL_BYTES);
}

/* True if an earlier operation of the program has this vertex: all uses of one operation of the sheet share it. */
static bool has_own_vertex(const struct tile_program *out, const struct program_op *o)
{
    for (const struct program_op *x = out->ops; x < o; x++)
        if (x->op->kind == OP_CODELET && op_codelet(out->graph, x->op) == op_codelet(out->graph, o->op))
            return true;
    return false;
}

static void add_op_code(struct tile_program *out, const struct program_op *o)
{
    uint32_t *caller = &out->callers[o->plan->code_id], codelet = codelet_id(out->graph, o->op, o->plan);
    if (o->op->kind == OP_CODELET)
        out->has_codelet[codelet] = has_own_vertex(out, o);
    add_codelet(out, codelet, codelet_bytes_of(out->graph, o->op, o->plan));
    if (adds_sums(out->graph, o->op, o->plan))
        add_codelet(out, SUM_CODELET, SUM_CODELET_BYTES);
    if (*caller && is_called_again(out, o)) {
        add_code_call(out, o);
        return;
    }
    *caller = layout_of(out, o->op) + 1;
    out->is_called = false;
    struct op_code code = o->plan->code;
    code.field_pieces = out->options.image_code ? code.field_pieces : 0;
    program_bytes_add(&out->bytes, &code, 1);
    add_image_vertices(out, o);
}

struct program_bytes program_sum(struct tile_program *out)
{
    find_repeated(out);
    for (size_t i = 0; i < out->n_ops; i++) {
        if (out->ops[i].plan->code.supersteps > 0)
            add_op_code(out, &out->ops[i]);
        note_layout(out, &out->ops[i]);
    }
    return out->bytes;
}
