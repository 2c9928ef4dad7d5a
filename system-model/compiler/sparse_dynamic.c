/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_dynamic.c - the split of a product that reads where its non-zero blocks are, as PopSparse searches it.
 *
 * Rows are split in x, the inner dimension in y, columns in z partitions, a tile each. Every tile has a bucket of the same size, of values and of words
 * that say where they are; the z tiles of a partition of rows and inner dimension share their blocks. By the planner's estimate
 * (graphcore/poplibs at 7eac0f26, FullyConnectedPlan.cpp; partial sums are wide unless the program asks for others):
 *     cycles = dense rows in + z buckets in + zeros + vertex + sums out + reduction or cast
 * for the forward pass, and where the product trains for both gradients, whose splits are the same. Data that two tiles of a bus receive comes at twice the rate.
 * Blocks that a bucket has no room for lie in others, and come by steps of propagation, for which the planner counts no time (sparse_buckets.c).
 */
#include "system-model/compiler/conv.h"
#include "system-model/compiler/sparse.h"

enum { SUB_GROUPS = 2 };                /* parts of a bucket; the planner has room for the words of this many */

static uint64_t elements_bytes(const struct sparse_shape *s) { return data_type_bytes((enum data_type)s->type); }

/* The rows that have non-zero blocks in an even pattern, and the blocks of each such row. */
struct met { uint64_t x, y; };

static struct met blocks_met(double density, uint64_t x, uint64_t y)
{
    uint64_t met = max_u64(1, (uint64_t)ceil((double)x * (1 - pow(1 - density, (double)y))));
    return (struct met){ met, max_u64(1, ceil_div((uint64_t)ceil((double)x * (double)y * density), met)) };
}

/* The words of a bucket's metadata: a head for each sub-group, each worker, each row and each block. */
static uint64_t meta_words(const struct dynamic_search *f, uint64_t x, uint64_t y)
{
    struct met m = blocks_met(f->density, x, y);
    uint64_t workers = f->chip->n_workers, fixed = f->s->block == 1 ? 9 + workers * (5 + (f->s->trains ? 5 : 0)) : 7 + workers * (f->s->trains ? 4 : 0);
    uint64_t words = fixed * SUB_GROUPS + (uint64_t)ceil((double)(m.x * (2 + m.y)) * (1 + f->s->oversize));
    return ceil_div(words, 4) * 4;
}

static uint64_t blocks_of_bucket(const struct dynamic_search *f, uint64_t n_tiles)
{
    uint64_t block_bytes = f->s->block * f->s->block * elements_bytes(f->s), atom = f->chip->exchange_bytes_per_cycle;
    uint64_t grain = block_bytes % atom == 0 ? 1 : atom / block_bytes;
    uint64_t blocks = (uint64_t)round((double)ceil_div(f->s->n_blocks, n_tiles) * (1 + f->s->oversize));
    return ceil_div(blocks, grain) * grain;
}

static uint64_t bus_rate(const struct dynamic_search *f, uint64_t alike, uint64_t n_tiles)
{
    bool together = f->chip->tiles_per_exchange_bus == 2 && (alike == n_tiles || alike % 2 == 0);
    return f->chip->exchange_bytes_per_cycle * (together ? 2 : 1);
}

/* ---- one pass ------------------------------------------------------------------------------------------------------- */

/* The sizes of a tile's part. x, y: blocks of rows and of the inner dimension; dense_bytes: what it reads of the dense side; bucket_bytes: one bucket;
 * sums: elements of the result. */
struct tile_part { uint64_t x, y, columns, dense_bytes, bucket_bytes, sums; };

static struct tile_part tile_part_of(const struct dynamic_search *f, const struct dynamic_split *p)
{
    const struct sparse_shape *s = f->s;
    struct tile_part t = { .x = ceil_div(s->rows / s->block, p->x), .y = ceil_div(s->inner / s->block, p->y),
                           .columns = ceil_div(ceil_div(s->columns, f->grain), p->z) * f->grain };
    t.dense_bytes = t.y * s->block * t.columns * elements_bytes(s);
    t.bucket_bytes = p->blocks * s->block * s->block * elements_bytes(s) + p->meta * SPARSE_META_BYTES;
    t.sums = t.x * s->block * t.columns;
    return t;
}

static uint64_t conv_units(const struct chip *c, uint64_t type, enum partials_type partials)
{
    return type == TYPE_FP32 ? c->conv_units_fp32 : partials == PARTIALS_FP32 ? c->conv_units_fp16_fp32 : c->conv_units_fp16_fp16;
}

/* Rows and columns are divided among workers so that the busiest has as little work as possible (splitTileBetweenWorkers). Blocks of several elements
 * have only their columns divided. */
struct busiest { double rows; uint64_t columns; };

static struct busiest busiest_worker(uint64_t rows, uint64_t vectors, uint64_t n_workers)
{
    struct busiest best = { (double)rows, vectors };
    for (uint64_t r = 1; r <= n_workers; r++) {
        struct busiest b = { (double)ceil_div(rows, r), ceil_div(vectors, n_workers / r) };
        best = b.rows * (double)b.columns < best.rows * (double)best.columns ? b : best;
    }
    return best;
}

/* The host cuts a partition's elements evenly into buckets, row after row, so that a row may be in two of them. Where a bucket has more than two rows a
 * worker, it cuts the rows by their elements, and the busiest worker has up to a row more than its share (SparsePartitionerImpl.cpp:145-185,
 * FullyConnectedUtils.cpp:177-211). */
static struct busiest busiest_of_bucket(uint64_t rows, uint64_t vectors, uint64_t n_workers)
{
    if (rows > 2 * n_workers)
        return (struct busiest){ (double)rows / (double)n_workers + 1, vectors };
    return busiest_worker(rows, vectors, n_workers);
}

/* blocks: in all rows of the tile; 0: as many as an even pattern has. */
static double bucket_vertex_cycles(const struct dynamic_search *f, const struct dynamic_split *p, const struct tile_part *t, enum op_pass pass, uint64_t blocks)
{
    uint64_t w = f->chip->n_workers, vector = 8 / elements_bytes(f->s), turns = pass == PASS_BACKWARD_WEIGHT ? p->z : 1;
    struct met m = blocks_met(f->density, ceil_div(t->x, turns), t->y);
    struct bucket_work work = { .n_buckets = p->z / turns, .n_useful = p->z / turns, .x = (double)m.x, .block = f->s->block, .type = f->s->type, .z = t->columns,
                                .y = blocks ? (double)blocks / (double)turns / (double)m.x : (double)m.y, .partials = f->opt->partials,
                                .conv_units = conv_units(f->chip, f->s->type, f->opt->partials), .n_workers = w, .pass = pass,
                                .estimated = blocks == 0 };
    if (f->s->block > 1 && pass != PASS_BACKWARD_WEIGHT)
        work.z = ceil_div(t->columns, w);
    if (f->s->block == 1 && pass == PASS_FORWARD) {
        uint64_t rows = blocks ? ceil_div(m.x, p->z) + (p->z > 1) : m.x;
        struct busiest b = blocks ? busiest_of_bucket(rows, ceil_div(t->columns, vector), w) : busiest_worker(rows, ceil_div(t->columns, vector), w);
        work.x = (blocks ? (double)p->z : 1) * b.rows;
        work.y *= (double)m.x / (blocks ? (double)(rows * p->z) : (double)m.x);
        work.z = b.columns * vector;
    }
    if (f->s->block == 1 && pass == PASS_BACKWARD_WEIGHT)
        work.x = (double)ceil_div(m.x, w);
    return (double)turns * dynamic_sparse_cycles(&work);
}

/* Cycles of a sum over `depth` tiles, or of a cast if depth is 1. */
static uint64_t reduce_or_cast(const struct dynamic_search *f, uint64_t sums, uint64_t depth)
{
    uint64_t w = f->chip->n_workers;
    bool wide = f->opt->partials == PARTIALS_FP32, half = f->s->type == TYPE_FP16;
    if (depth == 1)
        return wide == !half ? 0 : (26 + ceil_div(ceil_div(sums, w), 2)) * w;
    uint64_t loops = ceil_div(ceil_div(sums, depth), wide ? 4 : 8);
    return (32 + ceil_div(loops, w) * (3 * depth + (wide ? half ? 6 : 7 : 8))) * w;
}

/* The cost of a pass, without the cycles of its vertices. */
static struct dynamic_cost cost_around(const struct dynamic_search *f, const struct dynamic_split *p, const struct tile_part *t, enum op_pass pass)
{
    bool turned = pass == PASS_BACKWARD_DATA, gradient = pass == PASS_BACKWARD_WEIGHT;
    uint64_t n_tiles = p->x * p->y * p->z, bytes = elements_bytes(f->s), rate = f->chip->exchange_bytes_per_cycle;
    uint64_t result_bytes = t->x * f->s->block * t->columns * bytes, read = turned ? result_bytes : t->dense_bytes;
    uint64_t sums = gradient ? p->blocks * f->s->block * f->s->block : turned ? t->y * f->s->block * t->columns : t->sums;
    uint64_t readers = turned ? p->y : p->x, depth = gradient ? 1 : turned ? p->x : p->y, sum_bytes = f->opt->partials == PARTIALS_FP32 ? 4 : 2;
    struct dynamic_cost c = { .dense_bytes = readers > 1 ? read : 0, .bucket_bytes = t->bucket_bytes, .sums = sums, .depth = depth };
    c.exchange = ceil_div(c.dense_bytes, bus_rate(f, readers, n_tiles)) + (gradient && p->y > 1 ? ceil_div(result_bytes, rate) : 0);
    if (p->z > 1 && gradient)
        c.exchange += min_u64(ceil_div(t->bucket_bytes, rate), ceil_div(t->dense_bytes + result_bytes, rate)) * p->z;
    else if (p->z > 1)
        c.exchange += ceil_div(p->z * t->bucket_bytes, bus_rate(f, readers == 1 ? p->z : 1, n_tiles));
    c.turn = turned && f->s->block > 1 ? transpose_cycles(f->chip->n_workers, p->blocks, f->s->block, f->s->block, f->s->type) : 0;
    c.sum_exchange = depth > 1 ? ceil_div(sums * sum_bytes, rate) : 0;
    c.sum_compute = reduce_or_cast(f, sums, depth);
    c.bytes = (p->z - 1) * t->bucket_bytes + c.dense_bytes + (gradient ? result_bytes : 0) + sums * sum_bytes + max_u64(2 * t->bucket_bytes, depth > 1 ? sums * sum_bytes : 0);
    return c;
}

struct dynamic_cost dynamic_sparse_pass(const struct dynamic_search *f, const struct dynamic_split *p, enum op_pass pass, uint64_t blocks)
{
    const struct tile_part t = tile_part_of(f, p);
    struct dynamic_cost c = cost_around(f, p, &t, pass);
    c.vertex = bucket_vertex_cycles(f, p, &t, pass, blocks);
    return c;
}

/* ---- the search ----------------------------------------------------------------------------------------------------- */

/* True if the offset of each element in a row of the dense side fits into 16 bits. Offsets count elements or pairs of them. */
static bool has_offsets(const struct sparse_shape *s, const struct tile_part *t)
{
    return s->block > 1 || (t->y - 1) * t->columns * (s->type == TYPE_FP32 ? 4 : 2) <= 65535;
}

/* Prices all passes of a split as the planner does, which counts a worker's cycle for each sum that is set to zero. False if the split does not fit,
 * or is no faster than the best one. */
static bool price_partitions(struct dynamic_split *p, const struct dynamic_search *f, uint64_t best_cycles)
{
    p->blocks = blocks_of_bucket(f, p->x * p->y * p->z);
    const struct tile_part t = tile_part_of(f, p);
    if (!has_offsets(f->s, &t))
        return false;
    for (int pass = PASS_FORWARD; pass <= (f->s->trains ? PASS_BACKWARD_WEIGHT : PASS_FORWARD); pass++) {
        struct dynamic_cost c = cost_around(f, p, &t, (enum op_pass)pass);
        uint64_t zero = ceil_div(c.sums, f->chip->n_workers) * f->chip->n_workers;
        p->cycles += c.exchange + c.turn + zero + c.sum_exchange + c.sum_compute;
        p->bytes = max_u64(p->bytes, c.bytes);
        if (p->cycles >= best_cycles || p->bytes > conv_bound_bytes(f->chip, f->opt))
            return false;
        p->cycles += (uint64_t)bucket_vertex_cycles(f, p, &t, (enum op_pass)pass, 0);
    }
    return p->cycles < best_cycles;
}

static void search_partitions(struct dynamic_split *best, const struct dynamic_search *f)
{
    uint64_t rows = f->s->rows / f->s->block, inner = f->s->inner / f->s->block, vectors = ceil_div(f->s->columns, f->grain), n = f->opt->n_tiles;
    for (uint64_t x = 1; x && x <= n; x = conv_next_split(rows, x))
        for (uint64_t y = 1; y && x * y <= n; y = conv_next_split(inner, y)) {
            uint64_t meta = meta_words(f, ceil_div(rows, x), ceil_div(inner, y));
            for (uint64_t z = 1; z && x * y * z <= n; z = conv_next_split(vectors, z)) {
                struct dynamic_split p = { .x = x, .y = y, .z = z, .meta = meta };
                if (vectors % z == 0 && price_partitions(&p, f, best->cycles))
                    *best = p;
            }
        }
}

struct dynamic_search dynamic_sparse_search(const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    double places = (double)(s->rows / s->block) * (double)(s->inner / s->block);
    return (struct dynamic_search){ s, chip, opt, s->block == 1 ? 8 / elements_bytes(s) : 1, fmin(1, (double)s->n_blocks / places) };
}

struct dynamic_split dynamic_sparse_split(const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct dynamic_split best = { .x = 0, .cycles = UINT64_MAX };
    struct dynamic_search f = dynamic_sparse_search(s, chip, opt);
    search_partitions(&best, &f);
    uint64_t amp_grain = s->type == TYPE_FP32 ? 8 : 16;
    if (s->block > 1 && s->columns % amp_grain == 0) {          /* another method for the gradient, which takes amp_grain columns at once */
        f.grain = amp_grain;
        search_partitions(&best, &f);
    }
    if (best.x)
        sparse_buckets_fill(&best, s);
    return best;
}
