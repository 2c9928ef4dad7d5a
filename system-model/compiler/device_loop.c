/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * device_loop.c - a round of a framework's loop on the device, without its body.
 *
 * PopART's Loop carries all inputs and results by value (graphcore/popart at d2f20d78, willow/src/popx/op/loopx.cpp, grow; poptorch.for_loop is such a loop,
 * graphcore/poptorch at c2a8b177, python/ops.py). In each round a condition is computed, and the results of the round before are copied into the body's
 * inputs. After the body its results are copied out, and a counter is incremented. Inputs lie alike in all copies, so they stay on their tiles. A result
 * lies as its operation's plan says, but returns as an input that no operation reads, which is spread evenly over the tiles. It crosses the exchange.
 * The result of a product whose sparse side stands first lies in blocks of columns (popsparse/StaticMatMul.cpp, graphcore/poplibs at 7eac0f26): Poplar copies it
 * element by element. Not modelled: what the loop does once, before its first round and after its last one; other layouts of small pieces.
 */
#include "system-model/compiler/compiler.h"
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

/* planned: tensors that lie as an operation's own plan has them. */
static void mark_forward(bool *read, bool *planned, const struct graph *g)
{
    for (const struct op *op = g->ops; op < g->ops + g->n_forward_ops; op++) {
        bool own = !op_keeps_layout(op) && !op_is_elementwise(op);
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            read[op->inputs[k]] = true;
            own = own || planned[op->inputs[k]];
        }
        for (uint32_t k = 0; k < op->n_outputs; k++)
            planned[op->outputs[k]] = own;
    }
}

static void mark_in_blocks(bool *in_blocks, const struct graph *g)
{
    for (const struct op *op = g->ops; op < g->ops + g->n_forward_ops; op++)
        if (op->kind == OP_SPARSE_MATMUL && op->at->sparse_first && op->at->sparse.block > 1)
            in_blocks[op->outputs[0]] = true;
}

static struct carried carried_by(const struct graph *g, uint64_t n_tiles)
{
    struct arena scratch = {0};
    struct carried out = {0};
    bool *read = ARENA_ARRAY(&scratch, bool, g->n_tensors), *planned = ARENA_ARRAY(&scratch, bool, g->n_tensors),
         *in_blocks = ARENA_ARRAY(&scratch, bool, g->n_tensors);
    mark_forward(read, planned, g);
    mark_in_blocks(in_blocks, g);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = &g->tensors[i];
        bool carried = t->role == ROLE_INPUT ? read[i] : t->role == ROLE_ACTIVATION && !read[i];
        if (carried && in_blocks[i]) {
            out.apart_bytes += carried_tile_bytes(tensor_bytes(t), n_tiles);
            out.element_bytes = data_type_bytes(t->type);
        }
        if (carried)
            *(planned[i] ? &out.moved_bytes : &out.kept_bytes) += carried_tile_bytes(tensor_bytes(t), n_tiles);
    }
    arena_free(&scratch);
    return out;
}

void device_loop_plan(struct op_plan *out, const struct graph *g, const struct chip *chip, const struct op_plan_options *opt)
{
    struct passes p = passes_start(out, chip, opt, 1);
    struct carried c = carried_by(g, p.n_tiles);
    passes_loop_round(&p, &c);
}
