/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_codelet.c - the user's own operations, priced by their sheet (codelet.h): a grid cut over the tiles, and each tile's region among its
 * workers.
 *
 *     worker    fixed + rows x (row + elements of a row, rounded up to vectors, x element)        cycles of the busiest one; a tile's, times the turn
 *     halo      region with its halo less the region, received from neighbours before each call
 *     copies    regions of all workers with their halos, and results, copied where the vertex wants contiguous memory
 * A row is a run of elements along the last axis that is cut, with all axes that are not. All cuts are tried, those with the fewest cycles are taken; a
 * recipe may give them. A halo of an IPU's edge comes over the links (plan/placement.c). Limits: all tiles have the region of the largest one, corners
 * belong to the halo, and copies take COPIED_BYTES_PER_CYCLE.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

struct cut { uint64_t part[MOST_GRID_AXES]; };
struct grid {
    const struct codelet *c;
    const struct passes *p;
    uint64_t size[MOST_GRID_AXES];          /* the length of the IPU's part of the grid, along each axis that is cut */
    uint64_t inner;                         /* elements of a cell: along all other axes */
    uint64_t n_large;                       /* operands, besides the first, that have a value for each cell */
};

static uint64_t volume(const struct grid *g, const struct cut *region, uint64_t around)
{
    uint64_t n = g->inner;
    for (uint32_t i = 0; i < g->c->n_axes; i++)
        n *= region->part[i] + 2 * around;
    return n;
}

static struct cut cut_of(const struct grid *g, const uint64_t *size, const uint64_t *parts)
{
    struct cut out = {{ 1, 1, 1 }};
    for (uint32_t i = 0; i < g->c->n_axes; i++)
        out.part[i] = ceil_div(size[i], max_u64(parts[i], 1));
    return out;
}

/* ---- workers ------------------------------------------------------------------------------------------------------------------- */

static double codelet_worker_cycles(const struct grid *g, const struct cut *region)
{
    uint64_t rows = 1, last = region->part[g->c->n_axes - 1] * g->inner;
    for (uint32_t i = 0; i + 1 < g->c->n_axes; i++)
        rows *= region->part[i];
    double elements = (double)(ceil_div(last, g->c->vector) * g->c->vector);
    return g->c->cycles_fixed + (double)rows * (g->c->cycles_per_row + elements * g->c->cycles_per_element);
}

/* The axis that the workers divide most evenly: the remainder is the smallest share of its length. The first of equal ones. */
static uint32_t most_even_axis(const struct grid *g, const struct cut *region)
{
    uint32_t best = 0;
    uint64_t workers = g->p->chip->n_workers;
    for (uint32_t i = 1; i < g->c->n_axes; i++)
        if ((region->part[i] % workers) * region->part[best] < (region->part[best] % workers) * region->part[i])
            best = i;
    return best;
}

/* The way to cut a region among the workers that takes the fewest cycles; the first of equals. */
static struct cut best_workers(const struct grid *g, const struct cut *region)
{
    uint64_t n = g->p->chip->n_workers;
    struct cut best = {{ 0 }};
    double least = INFINITY;
    for (uint64_t i = 1; i <= n; i++)
        for (uint64_t j = 1; i * j <= n; j++) {
            const uint64_t parts[] = { i, g->c->n_axes > 1 ? j : 1, g->c->n_axes > 2 ? n / (i * j) : 1 };
            struct cut mine = cut_of(g, region->part, parts);
            double cycles = codelet_worker_cycles(g, &mine);
            if (cycles < least) {
                least = cycles;
                best = mine;
            }
        }
    return best;
}

/* The busiest worker's part of a region. */
static struct cut worker_region(const struct grid *g, const struct cut *region)
{
    uint64_t parts[MOST_GRID_AXES] = { 1, 1, 1 };
    switch (g->c->worker_rule) {
    case WORKERS_GIVEN:
        return cut_of(g, region->part, g->c->worker_parts);
    case WORKERS_ALONG_ONE_AXIS:
        parts[most_even_axis(g, region)] = g->p->chip->n_workers;
        return cut_of(g, region->part, parts);
    case WORKERS_BEST:
        break;
    }
    return best_workers(g, region);
}

/* ---- a tile ---------------------------------------------------------------------------------------------------------------------- */

static uint64_t halo_bytes(const struct grid *g, const struct cut *region)
{
    return (volume(g, region, g->c->halo) - volume(g, region, 0)) * g->p->element_bytes;
}

static uint64_t copied_in_bytes(const struct grid *g, const struct cut *worker)
{
    bool copied = g->c->copies != COPIES_NOTHING && g->c->halo > 0;
    return copied ? volume(g, worker, g->c->halo) * g->p->chip->n_workers * g->p->element_bytes : 0;
}

static uint64_t copied_out_bytes(const struct grid *g, const struct cut *region)
{
    return g->c->copies == COPIES_INPUTS_AND_RESULTS ? volume(g, region, 0) * g->p->element_bytes : 0;
}

static uint64_t codelet_vertex_cycles(const struct grid *g, const struct cut *worker)
{
    return (uint64_t)ceil((double)chip_turn_cycles(g->p->chip) * codelet_worker_cycles(g, worker));
}

static double tile_cycles(const struct grid *g, const struct cut *region)
{
    struct cut worker = worker_region(g, region);
    double moved = (double)halo_bytes(g, region) / chip_exchange_bytes_per_cycle(g->p->chip);
    return (double)codelet_vertex_cycles(g, &worker) + moved + (double)(copied_in_bytes(g, &worker) + copied_out_bytes(g, region)) / COPIED_BYTES_PER_CYCLE;
}

static struct cut best_region(const struct grid *g)
{
    uint64_t n = g->p->n_tiles;
    struct cut best = {{ 0 }};
    double least = INFINITY;
    for (uint64_t i = 1; i <= min_u64(n, g->size[0]); i++)
        for (uint64_t j = 1; i * j <= n && j <= g->size[1]; j++) {
            const uint64_t parts[] = { i, j, min_u64(n / (i * j), g->size[2]) };
            struct cut mine = cut_of(g, g->size, parts);
            double cycles = tile_cycles(g, &mine);
            if (cycles < least) {
                least = cycles;
                best = mine;
            }
        }
    return best;
}

static struct grid grid_of(const struct passes *p, const struct vector_op *w, const struct codelet *c)
{
    struct grid g = { .c = c, .p = p, .size = { 1, 1, 1 }, .inner = w->n };
    for (uint32_t i = 0; i < c->n_axes; i++) {
        g.size[i] = w->x->dims[c->axes[i]];
        g.inner /= g.size[i];
    }
    return g;
}

/* ---- the passes ---------------------------------------------------------------------------------------------------------------------- */

static void add_region_copy(struct passes *p, uint64_t bytes)
{
    uint64_t cycles = copy_cycles(p->chip, 0) + (uint64_t)ceil((double)bytes / COPIED_BYTES_PER_CYCLE);
    if (bytes == 0)
        return;
    passes_superstep(p, cycles);
    p->plan->rearrange_cycles += cycles;
    p->scratch_bytes += bytes;
}

static bool is_on_its_grid(const struct graph *g, const struct tensor *t)
{
    return t->producer_op == NO_ID || g->ops[t->producer_op].kind == OP_CODELET;
}

/* Brings results of other operations to the grid, and small operands to all tiles. */
static void add_operands(struct passes *p, const struct vector_op *w)
{
    for (uint32_t i = 0; i < w->op->n_inputs; i++) {
        const struct tensor *t = &w->g->tensors[w->op->inputs[i]];
        uint64_t n = tensor_elements(t);
        if (i > 0 && n < w->n)
            passes_broadcast(p, n, w->n);
        else if (!is_on_its_grid(w->g, t))
            passes_move(p, n);
    }
}

void plan_codelet(struct passes *p, const struct vector_op *w)
{
    struct grid g = grid_of(p, w, op_codelet(w->g, w->op));
    const uint32_t *given = w->forward->at->grid_tiles;
    const uint64_t parts[] = { given[0], given[1], given[2] };
    struct cut region = given[0] ? cut_of(&g, g.size, parts) : best_region(&g), worker = worker_region(&g, &region);
    add_operands(p, w);
    passes_exchange(p, halo_bytes(&g, &region) + g.c->broadcast_bytes);
    p->scratch_bytes = 0;
    add_region_copy(p, copied_in_bytes(&g, &worker));
    passes_superstep(p, codelet_vertex_cycles(&g, &worker));
    add_region_copy(p, copied_out_bytes(&g, &region));
    p->scratch_bytes += g.c->temporary_bytes + g.c->broadcast_bytes + (copied_in_bytes(&g, &worker) ? 0 : halo_bytes(&g, &region));
    uint64_t n_used = 1;
    for (uint32_t i = 0; i < g.c->n_axes; i++)
        n_used *= ceil_div(g.size[i], region.part[i]);
    p->plan->n_tiles_used = (uint32_t)min_u64(n_used, p->n_tiles);
}
