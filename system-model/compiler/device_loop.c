/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * device_loop.c - a round of a framework's loop on the device, without its body.
 *
 * PopART's Loop carries all inputs and results by value (graphcore/popart at d2f20d78, willow/src/popx/op/loopx.cpp, grow; poptorch.for_loop is such a loop,
 * graphcore/poptorch at c2a8b177, python/ops.py). In each round a condition is computed, and the results of the round before are copied into the body's
 * inputs. After the body its results are copied out, and a counter is incremented. Inputs lie alike in all copies, so they stay on their tiles. A result
 * lies as its operation's plan says, but returns as an input that no operation reads, which is spread evenly over the tiles. It crosses the exchange.
 * The result of a product whose sparse side stands first lies in blocks of columns (popsparse/StaticMatMul.cpp, graphcore/poplibs at 7eac0f26): Poplar copies it
 * element by element. A loop inside the graph, whose body stands for all its rounds, hands on its results in the same way. Not modelled: what the loop does
 * once, before its first round and after its last one; other layouts of small pieces; loops in loops, whose parts are taken for loops of their own.
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

struct loop_marks { struct arena scratch; bool *read, *planned, *in_blocks; };

static struct loop_marks marks_of(const struct graph *g)
{
    struct loop_marks m = { .scratch = {0} };
    m.read = ARENA_ARRAY(&m.scratch, bool, g->n_tensors);
    m.planned = ARENA_ARRAY(&m.scratch, bool, g->n_tensors);
    m.in_blocks = ARENA_ARRAY(&m.scratch, bool, g->n_tensors);
    mark_forward(m.read, m.planned, g);
    mark_in_blocks(m.in_blocks, g);
    return m;
}

static void add_carried(struct carried *out, const struct graph *g, uint32_t id, const struct loop_marks *m, uint64_t n_tiles)
{
    const struct tensor *t = &g->tensors[id];
    uint64_t bytes = carried_tile_bytes(tensor_bytes(t), n_tiles);
    if (m->in_blocks[id]) {
        out->apart_bytes += bytes;
        out->element_bytes = data_type_bytes(t->type);
    }
    *(m->planned[id] ? &out->moved_bytes : &out->kept_bytes) += bytes;
}

static struct carried carried_by(const struct graph *g, uint64_t n_tiles)
{
    struct loop_marks m = marks_of(g);
    struct carried out = {0};
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        enum tensor_role role = g->tensors[i].role;
        if (role == ROLE_INPUT ? m.read[i] : role == ROLE_ACTIVATION && !m.read[i])
            add_carried(&out, g, i, &m, n_tiles);
    }
    arena_free(&m.scratch);
    return out;
}

void device_loop_plan(struct op_plan *out, const struct graph *g, const struct chip *chip, const struct op_plan_options *opt)
{
    struct passes p = passes_start(out, chip, opt, 1);
    struct carried c = carried_by(g, p.n_tiles);
    passes_loop_round(&p, &c);
}

uint64_t device_loop_bytes(const struct graph *g, uint64_t n_tiles)
{
    struct carried c = carried_by(g, n_tiles);
    return c.kept_bytes + c.moved_bytes;
}

/* ---- loops inside the graph -------------------------------------------------------------------------------------------- */

static uint32_t rounds_of(const struct graph *g, const struct op *op) { return max_u32(g->layers[op->layer_id].rounds, 1); }

static bool reads(const struct op *op, uint32_t tensor)
{
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (op->inputs[k] == tensor)
            return true;
    return false;
}

/* True if no operation of a loop's body reads this result of it, or one outside does: it is handed to the next round. */
static bool leaves_body(const struct graph *g, const struct op *body, const struct op *end, uint32_t tensor)
{
    bool inside = false, outside = false;
    for (const struct op *op = g->ops; op < g->ops + g->n_forward_ops; op++)
        *(op >= body && op < end ? &inside : &outside) |= reads(op, tensor);
    return outside || !inside;
}

static uint64_t body_round_cycles(const struct graph *g, const struct op *body, const struct op *end, const struct loop_marks *m, const struct chip *chip,
                                  const struct op_plan_options *opt)
{
    struct op_plan plan;
    struct passes p = passes_start(&plan, chip, opt, 1);
    struct carried c = {0};
    for (const struct op *op = body; op < end; op++)
        for (uint32_t k = 0; k < op->n_outputs; k++)
            if (leaves_body(g, body, end, op->outputs[k]))
                add_carried(&c, g, op->outputs[k], m, p.n_tiles);
    passes_loop_round(&p, &c);
    return op_plan_cycles(&plan);
}

uint64_t inner_loops_cycles(const struct graph *g, uint32_t outer_rounds, const struct chip *chip, const struct op_plan_options *opt)
{
    struct loop_marks m = marks_of(g);
    uint64_t sum = 0;
    for (const struct op *body = g->ops, *end; body < g->ops + g->n_forward_ops; body = end) {
        uint32_t rounds = rounds_of(g, body);
        for (end = body; end < g->ops + g->n_forward_ops && rounds_of(g, end) == rounds; end++)
            ;
        if (rounds > outer_rounds)
            sum += body_round_cycles(g, body, end, &m, chip, opt) * rounds;
    }
    arena_free(&m.scratch);
    return sum;
}
