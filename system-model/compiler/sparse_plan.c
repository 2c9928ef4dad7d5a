/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_plan.c - what the chip pays for the chosen split of a sparse product: supersteps, exchanges, bytes.
 *
 * The planner's estimates choose the split (sparse_static.c, sparse_dynamic.c). The program then has one superstep for the product and one for the
 * reduction; exchanges and supersteps have the chip's price, which the planner leaves out. Vertices are priced for the rows and blocks that there are,
 * where the planner rounds the blocks of a row up. A dynamic product asks on each run whether blocks lie elsewhere: a cast, a product of three numbers and a
 * branch on one tile. Each step of propagation is a pass of buckets to the next tile and a product, within loops whose counters are one tile's too
 * (graphcore/poplibs at 7eac0f26, FullyConnected.cpp).
 */
#include "system-model/compiler/passes.h"
#include "system-model/compiler/sparse.h"
#include "system-model/graph/graph.h"

enum { CONTROL_SETS = 2, STEP_CONTROL_SETS = 5 };      /* compute sets on one tile: once in a pass, and in each step of propagation */

/* Adds the exchange that the planner estimates to take this many cycles. */
static void add_exchange(struct passes *p, uint64_t cycles) { passes_exchange(p, cycles * p->chip->exchange_bytes_per_cycle); }

/* A worker takes rows of elements until it has its share, so that the busiest has up to a row more (StaticMatMul.cpp:92-130). */
static double busiest_rows(const struct static_split *best, uint64_t block, uint64_t n_workers)
{
    double rows = (double)best->met_rows;
    return block == 1 ? fmin(rows, rows / (double)n_workers + 1) : rows;
}

static void add_static_sums(struct passes *p, const struct sparse_shape *s, const struct static_split *best)
{
    struct static_sums sums = static_sparse_sums(best, s, p->chip, p->n_tiles);
    passes_exchange(p, sums.copied_bytes);
    passes_exchange(p, sums.place_bytes + sums.spread_bytes);
    if (sums.compute)
        passes_superstep(p, sums.compute);
    passes_exchange(p, sums.move_bytes);
}

static void add_static(struct passes *p, const struct sparse_shape *s, const struct static_split *best)
{
    uint64_t w = p->chip->n_workers, columns = s->block == 1 ? best->columns : ceil_div(best->columns, w);
    double k = (double)best->blocks / (double)best->met_rows;
    add_exchange(p, best->dense_exchange + best->block_exchange);
    passes_superstep(p, (uint64_t)static_sparse_cycles(w, busiest_rows(best, s->block, w), k, columns, s->block, s->type) + best->zero);
    add_static_sums(p, s, best);
    p->scratch_bytes = best->bytes;
}

static void add_propagation(struct passes *p, const struct sparse_shape *s, const struct dynamic_split *best, const struct dynamic_cost *c)
{
    const struct bucket_work passed_by = { .n_buckets = 1, .n_useful = 0, .z = 1, .block = s->block, .type = s->type, .partials = p->plan->partials,
                                           .n_workers = p->chip->n_workers, .conv_units = p->chip->conv_units_fp16_fp32, .pass = PASS_FORWARD };
    for (uint64_t i = 0; i < best->steps; i++) {
        passes_control(p, STEP_CONTROL_SETS);
        passes_exchange(p, c->bucket_bytes);
        passes_superstep(p, (uint64_t)dynamic_sparse_cycles(&passed_by));
    }
}

static void add_dynamic(struct passes *p, const struct sparse_shape *s, const struct dynamic_split *best, enum op_pass pass, const struct op_plan_options *opt)
{
    struct dynamic_search f = dynamic_sparse_search(s, p->chip, opt);
    struct dynamic_cost c = dynamic_sparse_pass(&f, best, pass, best->most_blocks);
    if (c.turn)
        passes_superstep(p, c.turn);
    add_exchange(p, c.exchange);
    uint64_t zero = (uint64_t)zero_partials_cycles(p->chip->n_workers, ceil_div(c.sums, p->chip->n_workers), opt->partials, s->block > 1);
    passes_superstep(p, zero + (uint64_t)c.vertex);
    passes_control(p, CONTROL_SETS);
    add_propagation(p, s, best, &c);
    add_exchange(p, c.sum_exchange);
    if (c.sum_compute)
        passes_superstep(p, c.sum_compute);
    p->scratch_bytes = c.bytes;
}

/* The words that say where blocks are, and the room in buckets beyond an even share, live on a tile as long as the program does. All passes share
   them. */
static uint64_t living_bytes(const struct sparse_shape *s, const struct sparse_bytes *all, uint64_t n_tiles)
{
    uint64_t values = s->n_blocks * s->block * s->block * data_type_bytes((enum data_type)s->type);
    return ceil_div(all->meta + (all->values > values ? all->values - values : 0), n_tiles);
}

/* The result of elements lies evenly by rows (StaticMatMul.cpp:507-509), as the input does that it becomes; that of blocks lies in blocks of columns,
   and is copied into rows element by element. */
static void add_loop_round(struct passes *p, const struct sparse_shape *s)
{
    uint64_t bytes = carried_tile_bytes(s->rows * s->columns * p->element_bytes, p->n_tiles), turned = s->block > 1 ? bytes : 0;
    struct carried c = { .kept_bytes = bytes - turned, .moved_bytes = turned, .apart_bytes = turned, .element_bytes = p->element_bytes };
    passes_loop_round(p, &c);
}

/* Columns that are no multiple of 8 bytes are copied into a padded tensor first, each tile an even share (StaticMatMul.cpp:512-532): in pieces of a block's
   elements if these are together, else element by element. */
static void add_padding(struct passes *p, const struct sparse_shape *s)
{
    uint64_t bytes = passes_share(p, s->inner * s->columns) * p->element_bytes;
    bool together = s->block > 1 && !sparse_lies_turned(s);
    passes_exchange(p, bytes);
    passes_superstep(p, together ? copy_pieces_cycles(&vertex_table, bytes) : rearrange_cycles(&vertex_table, p->chip, bytes, p->element_bytes, false));
}

/* A dense side that lies the other way is moved into matrices, which are transposed. If its inner side is no multiple of a matrix' smallest side, each tile
   copies the part that it fetches, of fetched_bytes, element by element. */
static void add_layout(struct passes *p, const struct sparse_shape *s, uint64_t fetched_bytes)
{
    uint64_t before = op_plan_cycles(p->plan), w = p->chip->n_workers;
    struct turned_matrices t = sparse_turned_matrices(s, p->n_tiles, w);
    if (t.n) {
        passes_exchange(p, t.n * t.rows * t.columns * p->element_bytes);
        passes_superstep(p, transpose_cycles(w, t.n, t.rows, t.columns, s->type));
    } else if (s->order != ORDER_PLANNED && s->columns % (8 / p->element_bytes))
        add_padding(p, s);
    else if (sparse_lies_turned(s))
        passes_superstep(p, rearrange_cycles(&vertex_table, p->chip, fetched_bytes, p->element_bytes, false));
    if (s->returns)
        add_loop_round(p, s);
    p->plan->rearrange_cycles += op_plan_cycles(p->plan) - before;
}

static struct sparse_bytes static_operand_bytes(const struct sparse_shape *s, const struct static_split *p, uint64_t n_workers, uint64_t n_tiles)
{
    return (struct sparse_bytes){ s->n_blocks * s->block * s->block * data_type_bytes((enum data_type)s->type),
                                  n_tiles * static_sparse_meta_bytes(n_workers, p->met_rows, p->blocks, s->block) };
}

static struct sparse_bytes dynamic_operand_bytes(const struct sparse_shape *s, const struct dynamic_split *p)
{
    uint64_t n = p->x * p->y * p->z;
    return (struct sparse_bytes){ n * p->blocks * s->block * s->block * data_type_bytes((enum data_type)s->type), n * p->meta * SPARSE_META_BYTES };
}

struct sparse_bytes sparse_product_plan(struct op_plan *out, const struct sparse_shape *s, enum op_pass pass, const struct chip *chip,
                                        const struct op_plan_options *given)
{
    struct passes p = passes_start(out, chip, given, data_type_bytes((enum data_type)s->type));
    struct op_plan_options opt = *given;
    struct sparse_bytes operand;
    uint64_t fetched_bytes;
    bool fits;
    opt.n_tiles = p.n_tiles;
    out->n_tiles_used = (uint32_t)p.n_tiles;
    if (s->dynamic) {
        struct dynamic_split best = dynamic_sparse_split(s, chip, &opt);
        if ((fits = best.x))
            add_dynamic(&p, s, &best, pass, &opt);
        out->n_tiles_used = (uint32_t)(best.x * best.y * best.z);
        operand = dynamic_operand_bytes(s, &best);
        fetched_bytes = fits ? ceil_div(s->inner, best.y) * ceil_div(s->columns, best.z) * p.element_bytes : 0;
    } else {
        struct static_split best = static_sparse_split(s, chip, &opt);
        if ((fits = best.n_splits))
            add_static(&p, s, &best);
        operand = static_operand_bytes(s, &best, chip->n_workers, opt.n_tiles);
        fetched_bytes = best.columns * best.met_columns * s->block * p.element_bytes;
    }
    add_layout(&p, s, fetched_bytes);
    out->temp_bytes_per_tile = fits ? p.scratch_bytes : 2 * chip->tile_memory_bytes;        /* if no split fits, the model does not fit either */
    out->code.field_bytes += pass == PASS_FORWARD ? (uint32_t)living_bytes(s, &operand, opt.n_tiles) : 0;
    return operand;
}

/* In PopSparse the sparse matrix is the first operand. If it is the second one here, its columns serve as rows. Operands come from operations with
 * layouts of their own. */
void plan_sparse_matmul(struct passes *p, const struct vector_op *w)
{
    const struct op_attributes *at = w->forward->at;
    const struct tensor *values = &w->g->tensors[w->forward->inputs[1]];
    const struct sparse_shape s = { .rows = at->sparse.outer, .inner = at->sparse.inner, .columns = w->n / at->sparse.inner, .block = at->sparse.block,
                                    .n_blocks = values->dims[0], .type = w->x->type, .dynamic = at->sparse.dynamic, .trains = !w->opt->inference,
                                    .order = at->sparse_first ? ORDER_BY_COLUMNS : ORDER_BY_INNER, .oversize = at->sparse.oversize };
    sparse_product_plan(p->plan, &s, w->op->pass, p->chip, w->opt);
    p->plan->mac = p->plan->padded_mac = op_mac(w->g, w->op);
}
