/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_code.c - bytes of code and vertex state on a tile, in the categories of the vendor's profiler (PopVision).
 *
 *     vertex code    the codelets in use, once each on an IPU
 *     vertex state   for each compute set the addresses of its operands, and worklists
 *     control code   for each superstep its sync and the call of its vertices; for code that is shared, a call
 *     exchange code  for each exchange its start and end; for each piece received, where it goes
 *
 * Products with equal plans share one copy of code and state (outlining), and each further use costs a call; so do other operations in runs
 * that repeat. A call of a convolution of an image whose input comes from another convolution than the first caller's
 * brings it into the callee's layout by code of its own. A program may be compiled without outlining (parallel.outlining). Sizes are in base/assumed.h.
 * Left out: codelets for operands that are not aligned, and what the linker adds.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/compiled.h"
#include "system-model/graph/graph.h"

/* Bytes of the codelets of an operation, by the part of time that it counts as. popliner, by operation; lookups: the embedding's share of
 * the first half of BERT-Large. What no profile shows is assumed to be a few of the smallest: recurrences, losses, pooling, optimizers. */
static const uint32_t codelet_bytes[N_PARTS] = {
    [PART_MATMUL] = 1600, [PART_CONV] = 1600, [PART_NORM] = 2019, [PART_SOFTMAX] = 1559, [PART_EMBEDDING] = 1076,
};
static const uint32_t small_codelets[N_PARTS] = { [PART_ELEMENTWISE] = 1, [PART_REARRANGE] = 1, [PART_POOLING] = 1, [PART_LSTM] = 4, [PART_LOSS] = 2 };
/* EfficientNet-EdgeTPU-L (popliner, test_profile.py): convolutions of 1x1 1,379; of 3x3 2,248 to 2,791; scale and bias 621 to 838. */
enum { CONV_1X1_CODELET_BYTES = 1379, CONV_CODELET_BYTES = 2520, VECTOR_CODELET_BYTES = 730 };

static uint32_t codelet_bytes_of(const struct graph *g, const struct op *op, const struct op_plan *p)
{
    bool image = g->tensors[op->inputs[0]].n_dims == 4;
    enum part part = op_part(op);
    if (part == PART_CONV)
        return p->vertex == VERTEX_AMP_1X1 ? CONV_1X1_CODELET_BYTES : CONV_CODELET_BYTES;
    return image && op->kind == OP_BIAS_ADD && op->pass == PASS_FORWARD ? VECTOR_CODELET_BYTES : codelet_bytes[part] + small_codelets[part] * SMALL_CODELET_BYTES;
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
enum { N_CODELETS = (N_VERTEX_KINDS * 2 + N_OP_KINDS * 2) * N_DATA_TYPES };

void program_start(struct tile_program *out, const struct graph *g, size_t n_codes, struct code_options options, struct arena *a)
{
    *out = (struct tile_program){ .graph = g, .options = options, .callers = ARENA_ARRAY(a, uint32_t, n_codes), .laid_by = ARENA_ARRAY(a, uint32_t, g->n_tensors),
                                  .has_codelet = ARENA_ARRAY(a, bool, N_CODELETS), .arena = a };
}

/* The program's operations, in its order. */
void program_add_op(struct tile_program *out, const struct op *op, const struct op_plan *p)
{
    out->ops = arena_grow(out->arena, out->ops, out->n_ops, &out->cap_ops, sizeof *out->ops);
    enum part part = op_part(op);
    out->ops[out->n_ops++] = (struct program_op){ op, p, part == PART_CONV || part == PART_MATMUL, false };
}

enum { MOST_RUN = 64 };         /* a run with more products among its operations is not looked for */

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
    for (uint32_t k = 0; k < o->op->n_outputs; k++)
        out->laid_by[o->op->outputs[k]] = layout;
}

/* Counts a word for each piece of the image, up to the most that were seen. */
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

static void add_op_code(struct tile_program *out, const struct program_op *o)
{
    uint32_t codelet = codelet_id(out->graph, o->op, o->plan), *caller = &out->callers[o->plan->code_id];
    out->bytes.vertex_code += out->has_codelet[codelet] ? 0 : codelet_bytes_of(out->graph, o->op, o->plan);
    out->has_codelet[codelet] = true;
    if (out->options.sharing != CODE_OWN && *caller && (o->is_product || o->repeated)) {
        add_code_call(out, o);
        return;
    }
    *caller = layout_of(out, o->op) + 1;
    out->is_called = false;
    struct op_code code = o->plan->code;
    code.field_pieces = out->options.image_code ? code.field_pieces : 0;
    program_bytes_add(&out->bytes, &code, 1);
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
