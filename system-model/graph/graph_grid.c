/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * graph_grid.c - one grid over several IPUs: each has a part of every tensor that lies on the grid.
 *
 * The IPUs do the same at the same time, so that the graph of the one with the largest part stands for all. What they exchange, halos, is counted where
 * stages are placed (plan/placement.c). Only operations that work cell by cell, or are codelets on the same grid, can be cut so.
 */
#include "system-model/graph/graph.h"

static bool works_by_cell(const struct op *op)
{
    static const enum op_kind kinds[] = { OP_CODELET, OP_ADD, OP_MUL, OP_SCALE, OP_RELU, OP_GELU, OP_TANH, OP_SIGMOID, OP_SWISH, OP_MAP, OP_COMBINE,
                                          OP_SELECT, OP_CAST, OP_RANDOM };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (op->kind == kinds[i])
            return true;
    return false;
}

static const struct op *first_codelet(const struct graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == OP_CODELET)
            return &g->ops[i];
    return NULL;
}

/* True if the tensor has the grid's length along this axis. Other tensors are the same on all IPUs. */
static bool has_axis(const struct tensor *t, const struct tensor *grid, uint32_t axis)
{
    return t->n_dims == grid->n_dims && t->dims[axis] == grid->dims[axis];
}

static bool check_ops(const struct graph *g, const struct codelet *c, const struct tensor *grid, struct err *err)
{
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        if (!works_by_cell(op))
            return fail(err, "parallel.grid_ipus: operation %zu (%s) is neither a codelet nor element by element, so that IPUs cannot share its grid; "
                             "want 1", i, op_kind_names[op->kind]);
        if (op->kind == OP_CODELET && (!tensor_is_same_shape(&g->tensors[op->inputs[0]], grid) || !text_is(op->at->codelet->split, c->split) || c->output_dims[0]))
            return fail(err, "parallel.grid_ipus: %s and %s work on grids that differ, or make other sizes; IPUs can share only one grid", c->name,
                        op->at->codelet->name);
    }
    return true;
}

bool graph_cut_grid(struct graph *g, const uint32_t ipus[MOST_GRID_AXES], struct err *err)
{
    const struct op *op = first_codelet(g);
    if (!op || (ipus[0] <= 1 && ipus[1] <= 1 && ipus[2] <= 1))
        return true;
    const struct codelet *c = op->at->codelet;
    const struct tensor grid = g->tensors[op->inputs[0]];
    if (!check_ops(g, c, &grid, err))
        return false;
    for (uint32_t i = 0; i < MOST_GRID_AXES; i++) {
        uint64_t parts = max_u32(ipus[i], 1);
        if (parts > 1 && (i >= c->n_axes || grid.dims[c->axes[i]] < parts))
            return fail(err, "parallel.grid_ipus: %s cuts %u axes, of which number %u cannot be cut in %ju", c->name, c->n_axes, i + 1, (uintmax_t)parts);
        for (size_t t = 0; t < g->n_tensors && i < c->n_axes; t++)
            if (has_axis(&g->tensors[t], &grid, c->axes[i]))
                g->tensors[t].dims[c->axes[i]] = ceil_div(grid.dims[c->axes[i]], parts);
    }
    return true;
}
