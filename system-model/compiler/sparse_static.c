/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_static.c - the split of a product whose non-zero blocks have places that the program knows, as PopSparse searches it.
 *
 * Columns of the dense side are split 1 to 32 times, those of the sparse side into 1 to 128 bands with equal numbers of blocks. A tile has a run of
 * a band's blocks, row by row. Each split is priced by the planner's own estimate (graphcore/poplibs at 7eac0f26, StaticMatMulPartitioner.cpp):
 *     cycles = dense rows in + blocks in (if columns are split) + vertex + zeros + sums out + reduction + results moved, a byte a cycle
 *     bytes  = max(dense rows + blocks + sums, sums received + sums)
 * How many rows and columns a tile meets is the mean of a random pattern and one standard deviation. Rows and columns with less than a tenth of the
 * mean number of blocks are left out, as the program's preparation of the pattern does; here they are the mean of a random pattern, too.
 * Not modelled: a pattern that is not random, whose bands and tiles differ in width.
 */
#include "system-model/compiler/conv.h"
#include "system-model/compiler/sparse.h"
#include <gsl/gsl_cdf.h>

enum { MOST_COLUMN_SPLITS = 32, MOST_BANDS = 128, TILES_OF_BUS = 2, MOST_OFFSET = 65535 };

/* ---- the pattern -------------------------------------------------------------------------------------------------- */

/* The chance that a row of n places has no more than a tenth of the mean number of blocks. */
static double sparse_row_chance(double density, uint64_t n)
{
    return density < 1 ? gsl_cdf_binomial_P((unsigned)(density * (double)n / 10), density, (unsigned)n) : 0;
}

struct met_pattern { uint64_t rows, columns; double density; };     /* rows and columns of blocks, without those that are left out */

static struct met_pattern pattern_of(const struct sparse_shape *s)
{
    uint64_t rows = s->rows / s->block, columns = s->inner / s->block;
    double density = fmin(1, (double)s->n_blocks / ((double)rows * (double)columns));
    struct met_pattern p = { max_u64(1, (uint64_t)round((double)rows * (1 - sparse_row_chance(density, columns)))),
                         max_u64(1, (uint64_t)round((double)columns * (1 - sparse_row_chance(density, rows)))), 0 };
    p.density = fmin(1, (double)s->n_blocks / ((double)p.rows * (double)p.columns));
    return p;
}

/* ---- bands of columns, and their tiles ------------------------------------------------------------------------------ */

struct band { uint64_t columns, blocks; };
struct bands { struct band items[MOST_BANDS]; uint64_t n, widest; };     /* widest: columns */

/* Blocks are spread evenly over the columns: columns * n_blocks / p->columns of them lie before a column. A band ends at the first column where it
 * has the mean number of blocks, or more. */
static struct bands bands_of(const struct met_pattern *p, uint64_t n_blocks, uint64_t n)
{
    struct bands out = { .n = 0, .widest = 0 };
    uint64_t mean = ceil_div(n_blocks, n), column = 0, before = 0;
    while (out.n < n && column < p->columns) {
        uint64_t end = min_u64(p->columns, ceil_div((before + mean) * p->columns, n_blocks)), blocks = end * n_blocks / p->columns;
        out.items[out.n++] = (struct band){ end - column, blocks - before };
        out.widest = max_u64(out.widest, end - column);
        column = end;
        before = blocks;
    }
    return out;
}

/* The tiles that a band's share of all blocks gives it, without those that would get none. */
static uint64_t own_tiles(const struct band *b, uint64_t n_blocks, uint64_t n_tiles)
{
    uint64_t share = b->blocks * n_tiles / n_blocks, tiles = share ? share : min_u64(n_tiles, TILES_OF_BUS);
    uint64_t needed = ceil_div(b->blocks, ceil_div(b->blocks, tiles));
    return min_u64(TILES_OF_BUS * ceil_div(needed, TILES_OF_BUS), tiles);
}

/* The band whose tiles have most blocks each, and how many tiles it has; 0 if there are too few for all bands. */
static uint64_t fullest_band(struct band *out, const struct bands *all, uint64_t n_blocks, uint64_t n_tiles)
{
    uint64_t used = 0, own = 0, tiles_of_fullest = 0;
    double most = -1;
    for (uint64_t i = 0; i < all->n; i++) {
        const struct band *b = &all->items[i];
        own = i && b->blocks == b[-1].blocks ? own : own_tiles(b, n_blocks, n_tiles);
        uint64_t tiles = i + 1 == all->n ? n_tiles - used : own;
        tiles = tiles / TILES_OF_BUS * TILES_OF_BUS;
        tiles = min_u64(max_u64(tiles, TILES_OF_BUS), n_tiles - used);
        uint64_t kept = (all->n - 1 - i) * TILES_OF_BUS;
        tiles = min_u64(tiles, n_tiles > kept ? n_tiles - kept : 0);
        if (tiles == 0)
            return 0;
        used += tiles;
        if ((double)b->blocks / (double)tiles > most) {
            most = (double)b->blocks / (double)tiles;
            *out = *b;
            tiles_of_fullest = tiles;
        }
    }
    return tiles_of_fullest;
}

/* ---- splits of the dense side ------------------------------------------------------------------------------------------- */

/* Ranges of columns with their tiles. */
struct ranges { struct { uint64_t columns, tiles; } items[MOST_COLUMN_SPLITS]; uint64_t n; };

static struct ranges ranges_of(uint64_t columns, uint64_t grain, uint64_t n, uint64_t n_tiles)
{
    struct ranges out = { .n = 0 };
    uint64_t grains = ceil_div(columns, grain), each = ceil_div(grains, n), tile_grains = ceil_div(n_tiles, TILES_OF_BUS), start = 0;
    for (uint64_t at = 0; at < grains && out.n < n; at += each)
        out.items[out.n++].columns = min_u64(each, grains - at) * grain;
    uint64_t least = ceil_div(tile_grains, out.n);
    for (uint64_t i = 0; i < out.n; i++) {
        uint64_t share = ceil_div(tile_grains * out.items[i].columns, grains * grain + 1);
        uint64_t end = min_u64(start + max_u64(share - 1, least) * TILES_OF_BUS, n_tiles);
        end = i + 1 == out.n ? n_tiles : end;
        out.items[i].tiles = end - start;
        start = end;
    }
    return out;
}

/* ---- the price of a split ------------------------------------------------------------------------------------------------ */

static uint64_t least_blocks_met(double chance, uint64_t n)
{
    return min_u64(n, (uint64_t)ceil(chance * (double)n + ceil(sqrt(chance * (1 - chance) * (double)n))));
}

static double chance_of_any(double density, uint64_t n) { return 1 - pow(1 - density, (double)n); }

/* A strided reduction: a vector of sums at a time. */
static uint64_t reduction_cycles(uint64_t n_workers, uint64_t n, uint64_t depth, bool half)
{
    uint64_t vectors = ceil_div(ceil_div(n, n_workers), half ? 8 : 4);
    return (16 + vectors * ((half ? 8 : 5) + 6 + depth - 1)) * n_workers;
}

static void price_vertex(struct static_split *p, const struct sparse_shape *s, const struct chip *chip)
{
    uint64_t w = chip->n_workers, k = ceil_div(p->blocks, p->met_rows);
    uint64_t rows = s->block == 1 ? ceil_div(p->met_rows, w) : p->met_rows, columns = s->block == 1 ? p->columns : ceil_div(p->columns, w);
    p->compute = (uint64_t)static_sparse_cycles(w, (double)rows, (double)k, columns, s->block, s->type);
    uint64_t zeroed_bytes = p->met_rows * s->block * p->columns * data_type_bytes((enum data_type)s->type);
    p->zero = s->type == TYPE_FP16 || s->block < 8 ? 0 : (12 + ceil_div(zeroed_bytes / 8, w)) * w;
}

static void price_split(struct static_split *p, const struct sparse_shape *s, const struct chip *chip)
{
    uint64_t bytes = data_type_bytes((enum data_type)s->type), rate = chip->exchange_bytes_per_cycle, column_bytes = s->block * bytes;
    uint64_t dense_bytes = p->columns * p->met_columns * column_bytes, block_bytes = p->blocks * s->block * column_bytes;
    uint64_t sum_bytes = p->met_rows * p->columns * column_bytes, received = ceil_div(sum_bytes * (p->sources - 1), p->sources);
    p->dense_exchange = (uint64_t)((double)ceil_div(dense_bytes, TILES_OF_BUS * rate) * (double)p->band_blocks / (double)p->met_columns);
    p->block_exchange = p->n_splits > 1 ? ceil_div(block_bytes, rate) : 0;
    price_vertex(p, s, chip);
    p->sum_exchange = ceil_div(received, rate);
    p->sum_compute = p->sources == 1 ? 0 : reduction_cycles(chip->n_workers, ceil_div(sum_bytes / bytes, p->sources), p->sources, s->type == TYPE_FP16);
    uint64_t grain = 8 / bytes;
    p->move = ceil_div(s->rows * ceil_div(s->columns, grain) * grain * bytes, chip->n_tiles);
    p->cycles = p->dense_exchange + p->block_exchange + p->compute + p->zero + p->sum_exchange + p->sum_compute + p->move;
    p->bytes = max_u64(dense_bytes + block_bytes + sum_bytes, received + sum_bytes);
}

/* False if the tiles do not suffice, or offsets of the dense side do not fit into words of 16 bits. */
static bool fill_split(struct static_split *p, const struct sparse_shape *s, const struct met_pattern *pattern, const struct bands *bands, uint64_t n_tiles,
                       const struct chip *chip)
{
    struct band band;
    if (bands->widest * s->block * p->columns * data_type_bytes((enum data_type)s->type) > MOST_OFFSET * (s->block == 1 ? 1 : 8 * s->block))
        return false;
    uint64_t tiles = fullest_band(&band, bands, s->n_blocks, n_tiles);
    if (tiles == 0)
        return false;
    p->blocks = ceil_div(band.blocks, tiles);
    p->tile_rows = ceil_div(pattern->rows, tiles);
    p->band_blocks = p->tile_rows == 1 ? min_u64((uint64_t)ceil((double)band.blocks / pattern->density), pattern->columns) : band.columns;
    double row = chance_of_any(pattern->density, p->band_blocks), column = chance_of_any(pattern->density, p->tile_rows), n = (double)p->n_bands;
    p->met_rows = max_u64(1, least_blocks_met(row, p->tile_rows));
    p->met_columns = max_u64(1, least_blocks_met(column, p->band_blocks));
    p->sources = (uint64_t)ceil((row * n + ceil(sqrt(row * (1 - row) * n))) * (double)band.columns / (double)p->band_blocks);
    p->n_rows = pattern->rows;
    double width = (double)pattern->columns / n, blocks = (double)s->n_blocks / n;              /* columns and blocks of the mean band */
    p->row_chance = 1 - pow(1 - pattern->density, width);
    double row_blocks = pattern->density * width / p->row_chance;
    p->run_ends = fmax(0, ceil(blocks / (double)p->blocks) - 1) / ((double)pattern->rows * p->row_chance) * (1 - 1 / fmax(1, row_blocks));
    price_split(p, s, chip);
    return true;
}

/* Prices the ranges of columns, equal ones once: `out` has the slowest of them, with the bytes of the largest. False if one does not fit, or takes
 * too_many_cycles. */
static bool price_ranges(struct static_split *out, const struct sparse_shape *s, const struct met_pattern *pattern, const struct bands *bands,
                         const struct ranges *ranges, const struct chip *chip, uint64_t too_many_cycles)
{
    uint64_t bytes = 0;
    *out = (struct static_split){ 0 };
    for (uint64_t i = 0; i < ranges->n; i++) {
        struct static_split p = { .n_splits = ranges->n, .n_bands = bands->n, .columns = ranges->items[i].columns };
        bool again = i > 0 && ranges->items[i].columns == ranges->items[i - 1].columns && ranges->items[i].tiles == ranges->items[i - 1].tiles;
        if (again)
            continue;
        if (!fill_split(&p, s, pattern, bands, ranges->items[i].tiles, chip) || p.cycles >= too_many_cycles)
            return false;
        bytes = max_u64(bytes, p.bytes);
        *out = p.cycles > out->cycles ? p : *out;
    }
    out->bytes = bytes;
    return true;
}

struct static_split static_sparse_split(const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct static_split best = { .n_splits = 0, .cycles = UINT64_MAX };
    struct met_pattern pattern = pattern_of(s);
    uint64_t grain = 8 / data_type_bytes((enum data_type)s->type), n_tiles = opt->n_tiles / TILES_OF_BUS * TILES_OF_BUS;
    uint64_t most_splits = min_u64(MOST_COLUMN_SPLITS, ceil_div(s->columns, grain));
    uint64_t most_bands = min_u64(MOST_BANDS, ceil_div(pattern.columns, s->block == 1 ? 1 : grain));
    for (uint64_t n_bands = 1; n_bands <= most_bands; n_bands++) {
        struct bands bands = bands_of(&pattern, s->n_blocks, n_bands);
        for (uint64_t n = 1; n <= most_splits && n * n_bands <= n_tiles / TILES_OF_BUS; n++) {
            struct ranges ranges = ranges_of(s->columns, grain, n, n_tiles);
            struct static_split p;
            if (ranges.items[ranges.n - 1].tiles > 0 && price_ranges(&p, s, &pattern, &bands, &ranges, chip, best.cycles)
                && p.bytes <= conv_bound_bytes(chip, opt))
                best = p;
        }
    }
    return best;
}

uint64_t static_sparse_meta_bytes(uint64_t n_workers, uint64_t rows, uint64_t blocks, uint64_t block)
{
    return SPARSE_META_BYTES * (block == 1 ? 6 * n_workers + rows + blocks : 2 * n_workers + 1 + 2 * rows + blocks);
}
