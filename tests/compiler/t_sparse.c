/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_sparse.c - sparse products: vertices, splits, buckets and their overflow, worked out on paper.
 */
#include "system-model/compiler/sparse.h"
#include "tests/check.h"
#include "tests/conv_fixture.h"

/* m rows of k blocks: each number below is the source's formula with the values put in. */
static void test_static_vertices(void **state)
{
    (void)state;
    static const struct { double m, k; uint64_t n, block, type; double cycles; } cases[] = {
        { 3, 5, 4, 1, TYPE_FP16, 6 * (31 + 3 * (7 + 8)) }, { 3, 5, 8, 1, TYPE_FP16, 6 * (31 + 3 * (8 + 12)) },
        { 3, 5, 20, 1, TYPE_FP16, 6 * (33 + 3 * (11 + 2 * (14 + 12) + 9 + 8)) },
        { 3, 5, 2, 1, TYPE_FP32, 6 * (29 + 3 * (5 + 8)) }, { 3, 5, 4, 1, TYPE_FP32, 6 * (30 + 3 * (6 + 12)) },
        { 3, 5, 10, 1, TYPE_FP32, 6 * (31 + 3 * (12 + 2 * (10 + 12) + 10 + 8)) },
        /* 16 + b b s / 8 cycles of the supervisor for each block, and those of 6 workers */
        { 3, 5, 7, 4, TYPE_FP16, 30 + 17 * 6 + 3 * (6 + 17 + 5 * (16 + 4 + 20 * 6)) }, { 3, 5, 2, 4, TYPE_FP16, 30 + 17 * 6 + 3 * (6 + 17 + 5 * (16 + 4 + 9 * 6)) },
        { 3, 5, 7, 4, TYPE_FP32, 30 + 13 * 6 + 3 * (6 + 17 + 5 * (16 + 8 + 36 * 6)) },
        { 3, 5, 7, 8, TYPE_FP16, 30 + 13 * 6 + 3 * (6 + 17 + 5 * (16 + 16 + 26 * 6)) }, { 3, 5, 7, 8, TYPE_FP32, 30 + 13 * 6 + 3 * (24 + 17 + 5 * (16 + 32 + 67 * 6)) },
        { 3, 5, 7, 16, TYPE_FP16, 30 + 13 * 6 + 3 * (6 + 17 + 5 * (16 + 64 + 43 * 6)) },
        { 3, 5, 7, 16, TYPE_FP32, 30 + 16 * 6 + 3 * (24 + 17 + 5 * (16 + 128 + 170 * 6)) }, { 3, 5, 1, 16, TYPE_FP32, 30 + 16 * 6 + 3 * (24 + 17 + 5 * (16 + 128 + 58 * 6)) },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_near(static_sparse_cycles(6, cases[i].m, cases[i].k, cases[i].n, cases[i].block, cases[i].type), cases[i].cycles, 1e-9);
}

static struct bucket_work bucket(uint64_t block, uint64_t type, uint64_t partials, uint64_t z, enum op_pass pass)
{
    return (struct bucket_work){ .n_buckets = 3, .n_useful = 2, .x = 4, .y = 5, .z = z, .block = block, .type = type, .partials = partials,
                                 .conv_units = 8, .n_workers = 6, .pass = pass };
}

/* Three buckets, one of which holds nothing for the tile; 4 rows of 5 blocks. */
static void test_dynamic_vertices(void **state)
{
    (void)state;
    static const struct { uint64_t block, type, partials, z; enum op_pass pass; double cycles; } cases[] = {
        { 1, TYPE_FP16, 1, 8, PASS_FORWARD, 30 + 32 + 2 * 93 + 6 * (28 + 4 * (15 + 15)) }, { 1, TYPE_FP16, 1, 4, PASS_FORWARD, 30 + 32 + 186 + 6 * (30 + 4 * (11 + 10)) },
        { 1, TYPE_FP16, 1, 20, PASS_FORWARD, 30 + 32 + 186 + 6 * (33 + 4 * (12 + 2 * (17 + 15) + 16 + 10)) },
        { 1, TYPE_FP32, 1, 4, PASS_FORWARD, 30 + 32 + 186 + 6 * (25 + 4 * (13 + 15)) }, { 1, TYPE_FP32, 1, 2, PASS_FORWARD, 30 + 32 + 186 + 6 * (27 + 4 * (11 + 10)) },
        { 1, TYPE_FP32, 1, 10, PASS_FORWARD, 30 + 32 + 186 + 6 * (30 + 4 * (12 + 2 * (12 + 15) + 13 + 10)) },
        { 1, TYPE_FP16, 1, 16, PASS_FORWARD, 30 + 32 + 186 + 6 * (33 + 4 * (12 + 2 * (17 + 15) + 1)) },
        /* the workers share the 5 elements of a row, so one has 1 */
        { 1, TYPE_FP16, 1, 8, PASS_BACKWARD_DATA, 30 + 32 + 2 * 112 + 6 * (20 + 4 * (18 + 10)) }, { 1, TYPE_FP32, 1, 6, PASS_BACKWARD_DATA, 30 + 32 + 224 + 6 * (23 + 4 * (32 + 11)) },
        { 1, TYPE_FP16, 1, 4, PASS_BACKWARD_DATA, 30 + 32 + 224 + 6 * (20 + 4 * (21 + 7)) }, { 1, TYPE_FP16, 1, 6, PASS_BACKWARD_DATA, 30 + 32 + 224 + 6 * (26 + 4 * (30 + 7 + 11)) },
        { 1, TYPE_FP32, 1, 7, PASS_BACKWARD_DATA, 30 + 32 + 224 + 6 * (23 + 4 * (32 + 11 + 4)) },
        { 1, TYPE_FP16, 1, 4, PASS_BACKWARD_WEIGHT, 75 + 52 + 6 * (32 + 4 * (10 + 20)) }, { 1, TYPE_FP32, 1, 4, PASS_BACKWARD_WEIGHT, 75 + 52 + 6 * (30 + 4 * (9 + 25)) },
        { 1, TYPE_FP32, 1, 2, PASS_BACKWARD_WEIGHT, 75 + 52 + 6 * (32 + 4 * (7 + 20)) }, { 1, TYPE_FP32, 1, 7, PASS_BACKWARD_WEIGHT, 75 + 52 + 6 * (34 + 4 * (9 + 5 * (9 + 3 + 1))) },
        { 1, TYPE_FP16, 1, 8, PASS_BACKWARD_WEIGHT, 75 + 2 * 26 + 6 * (30 + 4 * (11 + 25)) }, { 1, TYPE_FP16, 1, 14, PASS_BACKWARD_WEIGHT, 75 + 52 + 6 * (35 + 4 * (8 + 5 * (11 + 3 + 3))) },
        { 4, TYPE_FP16, 1, 7, PASS_FORWARD, 40 + 33 + 2 * 102 + 2 + 4 * (5 * (4 + 3 + 12) + 1) + 6 * (26 + 20 * (19 + 14 - 3)) },
        { 4, TYPE_FP32, 1, 7, PASS_FORWARD, 40 + 33 + 204 + 2 + 4 * (5 * (8 + 15) + 1) + 6 * (26 + 20 * (14 + 28 - 3)) },
        { 8, TYPE_FP16, 1, 7, PASS_BACKWARD_DATA, 40 + 33 + 204 + 2 + 4 * 5 * (16 + 15) + 6 * (20 + 20 * (23 + 28)) },
        /* 8 units take a block of 16 in two passes */
        { 16, TYPE_FP16, 1, 7, PASS_FORWARD, 40 + 33 + 204 + 2 + 4 * (5 * (64 + 3 + 24) + 1) + 6 * (23 + 20 * 2 * (24 + 28 - 3)) },
        /* each worker has 20 / 6 of the blocks, in at least one row */
        { 4, TYPE_FP16, 0, 7, PASS_BACKWARD_WEIGHT, 75 + 52 + 6 * (26 + 9 + 20 / 6.0 * (29 + 42)) },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bucket_work w = bucket(cases[i].block, cases[i].type, cases[i].partials, cases[i].z, cases[i].pass);
        assert_near(dynamic_sparse_cycles(&w), cases[i].cycles, 1e-9);
    }
    /* the planner counts the instructions around a vector of columns once a row */
    struct bucket_work halves = bucket(1, TYPE_FP16, 1, 20, PASS_FORWARD), floats = bucket(1, TYPE_FP32, 1, 9, PASS_FORWARD);
    halves.estimated = floats.estimated = true;
    assert_near(dynamic_sparse_cycles(&halves), 30 + 32 + 186 + 6 * (33 + 4 * (12 + 16 + 2 * 15 + 13 + 10)), 1e-9);
    assert_near(dynamic_sparse_cycles(&floats), 30 + 32 + 186 + 6 * (30 + 4 * (13 + 12 + 2 * 15 + 8 + 10 + 3)), 1e-9);
    floats.z = 6;
    assert_near(dynamic_sparse_cycles(&floats), 30 + 32 + 186 + 6 * (30 + 4 * (13 + 12 + 15 + 8 + 30 + 3)), 1e-9);
    assert_near(zero_partials_cycles(6, 9, PARTIALS_FP32, true), (3 + 10 + 5) * 6, 0);
    assert_near(zero_partials_cycles(6, 9, PARTIALS_FP16, false), (5 + 10 + 3) * 6, 0);
}

/* 48 x 40 blocks of 4, all of them: rows and columns that a tile meets are those it has. */
static void test_static_split_of_all_blocks(void **state)
{
    (void)state;
    struct chip chip = small_chip(12);
    const struct sparse_shape s = { .rows = 48 * 4, .inner = 40 * 4, .columns = 16, .block = 4, .n_blocks = 48 * 40, .type = TYPE_FP16 };
    struct static_split p = static_sparse_split(&s, &chip, &(struct op_plan_options){ .available_memory = 0.6, .n_tiles = 12 });
    assert_true(p.n_splits >= 1 && p.n_splits * p.n_bands <= 6);
    assert_int_equal(p.met_rows, p.tile_rows);
    assert_int_equal(p.met_columns, p.band_blocks);
    assert_int_equal(p.sources, p.n_bands);
    assert_int_equal(p.move, 48 * 4 * 16 * 2 / 12);
    assert_int_equal(p.cycles, p.dense_exchange + p.block_exchange + p.compute + p.zero + p.sum_exchange + p.sum_compute + p.move);
    assert_int_equal(p.compute, (uint64_t)static_sparse_cycles(6, (double)p.met_rows, (double)ceil_div(p.blocks, p.met_rows), ceil_div(p.columns, 6), 4, TYPE_FP16));
}

/* 128 x 32,752 results of halves on 1,472 tiles: 2,848 each, as ReductionPlan.cpp prices them with 126 cycles a sync and 4 bytes a cycle. */
static struct static_sums sums_of(uint64_t n_bands, double row_chance, double run_ends, uint64_t n_rows, uint64_t region)
{
    struct chip chip = small_chip(1472);
    chip.on_chip_sync_cycles = 126;
    const struct static_split p = { .n_splits = n_rows / 8, .n_bands = n_bands, .columns = region / 16, .n_rows = 8, .row_chance = row_chance, .run_ends = run_ends };
    const struct sparse_shape s = { .rows = 128, .columns = 32752, .block = 16, .type = TYPE_FP16 };
    return static_sparse_sums(&p, &s, &chip, 1472);
}

static void test_static_sums(void **state)
{
    (void)state;
    struct static_sums all_twice = sums_of(2, 1, 0, 400, 4096), some_twice = sums_of(1, 1, 0.25, 400, 4096), many = sums_of(20, 0.5, 0, 1000, 2048);
    /* two sources of each row: 1424 + 2 x 712 + 126 where the result lies, 2848 + 1424 + 1424 + 252 spread; six workers have 475 elements, 119 vectors */
    assert_int_equal(all_twice.place_bytes, 2 * 2848 * 2);
    assert_int_equal(all_twice.compute, 6 * (16 + 119 * (8 + 6 + 1)));
    assert_int_equal(all_twice.copied_bytes + all_twice.spread_bytes + all_twice.move_bytes, 0);
    /* three rows of four are copied. The others have two workers, and 712 elements of each tile: 2974 where the result lies, 2744 spread */
    assert_int_equal(some_twice.copied_bytes, 2848 * 2);
    assert_int_equal(some_twice.spread_bytes, 2 * 712 * 2);
    assert_int_equal(some_twice.place_bytes, 0);
    assert_int_equal(some_twice.move_bytes, 2848 * 2);
    assert_int_equal(some_twice.compute, 6 * (16 + 89 * (8 + 6 + 1)));
    /* 3 to 17 sources of 20: no number has more than 18 % of the rows, so that all are spread */
    assert_int_equal(many.place_bytes, 0);
    assert_int_equal(many.move_bytes, 2848 * 2);
    assert_in_range(many.spread_bytes, 10 * 2848 * 2 * 99 / 100, 10 * 2848 * 2 + 15 * 17 * 8 * 2);
}

/* Words: 6 a worker, one a row and one a block; blocks wider than 1: 2 a worker, one, 2 a row and one a block. */
static void test_static_words(void **state)
{
    (void)state;
    assert_int_equal(static_sparse_meta_bytes(6, 5, 13, 1), 2 * (36 + 5 + 13));
    assert_int_equal(static_sparse_meta_bytes(6, 5, 13, 8), 2 * (12 + 1 + 10 + 13));
}

/* A bucket of 7 tiles for 61 blocks: ceil(61 / 7) = 9, 1.3 times is 11.7, 12 as they are. */
static void test_buckets(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    const struct sparse_shape s = { .rows = 20 * 8, .inner = 10 * 8, .columns = 7, .block = 8, .n_blocks = 61, .type = TYPE_FP16, .dynamic = true, .oversize = 0.3 };
    struct dynamic_split p = dynamic_sparse_split(&s, &chip, &(struct op_plan_options){ .available_memory = 0.6, .n_tiles = 7, .partials = PARTIALS_FP32 });
    assert_true(p.x * p.y * p.z <= 7 && p.x * p.y * p.z > 0);
    assert_int_equal(p.blocks, (uint64_t)round((double)ceil_div(61, p.x * p.y * p.z) * 1.3));
}

/* One tile, 13 of 20 blocks in a column: each row that is met has one. 7 words twice, and 13 rows of 3, 1.3 times: 65, a multiple of 4: 68.
 * For the gradient of the dense side 13 blocks of 1.3 times the room, 17, are transposed, 3 of them by the busiest worker: 2 rows and 2 columns of grains each. */
static void test_words_and_turns(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    const struct op_plan_options opt = { .available_memory = 0.6, .n_tiles = 1, .partials = PARTIALS_FP32 };
    const struct sparse_shape s = { .rows = 20 * 8, .inner = 8, .columns = 7, .block = 8, .n_blocks = 13, .type = TYPE_FP16, .dynamic = true, .oversize = 0.3 };
    struct dynamic_search f = dynamic_sparse_search(&s, &chip, &opt);
    struct dynamic_split p = dynamic_sparse_split(&s, &chip, &opt);
    assert_true(p.x == 1 && p.y == 1 && p.z == 1);
    assert_int_equal(p.blocks, 17);
    assert_int_equal(p.meta, 68);
    assert_int_equal(dynamic_sparse_pass(&f, &p, PASS_BACKWARD_DATA, 0).turn, 7 + 6 * (29 + 3 * (18 + 2 * (12 + 2 * 4 - 2 * 4))));
    assert_int_equal(dynamic_sparse_pass(&f, &p, PASS_FORWARD, 0).turn, 0);
}

/* With room for all nothing travels; with too little everything does, and no partition has more than its room. */
static void test_overflow(void **state)
{
    (void)state;
    const struct sparse_shape s = { .rows = 64 * 4, .inner = 64 * 4, .columns = 8, .block = 4, .n_blocks = 64 * 64 / 4, .type = TYPE_FP16, .dynamic = true };
    struct dynamic_split p = { .x = 8, .y = 8, .z = 3, .blocks = 22 };      /* 66 places for 16 on average of 64 */
    sparse_buckets_fill(&p, &s);
    assert_int_equal(p.steps, 0);
    assert_true(p.most_blocks > 16 && p.most_blocks <= 66);
    p.blocks = 6;                                                           /* 18 places */
    sparse_buckets_fill(&p, &s);
    assert_true(p.steps > 0 && p.steps % 3 == 0);
    assert_true(p.most_blocks <= 18);
    p = (struct dynamic_split){ .x = 8, .y = 8, .z = 1, .blocks = 17 };     /* rows of 8 partitions hold 136 of 128 on average: some send to the rows before them */
    sparse_buckets_fill(&p, &s);
    assert_true(p.steps >= 2 * 8 - 1 && p.steps % 8 == 7);                  /* (d + 1) y z - z */
}

static struct op_plan planned_product(const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct op_plan plan;
    sparse_product_plan(&plan, s, PASS_FORWARD, chip, opt);
    return plan;
}

/* Twice the density is never faster by the planners' estimates. The program may be: small buckets of a dynamic product overflow more, and rows of a
 * static product differ more in their sources, so that fewer workers add each of them. */
static void test_density(void **state)
{
    (void)state;
    struct chip chip = small_chip(64);
    const struct op_plan_options opt = { .available_memory = 0.6, .n_tiles = 64, .partials = PARTIALS_FP32 };
    uint64_t before[2] = { 0, 0 };
    for (uint64_t n_blocks = 64; n_blocks <= 1024; n_blocks *= 2) {
        const struct sparse_shape fixed = { 256, 256, 48, 8, n_blocks, TYPE_FP16, .oversize = 0.3 }, moving = { 256, 256, 48, 8, n_blocks, TYPE_FP16, .dynamic = true, .oversize = 0.3 };
        struct op_plan plan = planned_product(&fixed, &chip, &opt);
        struct static_split bands = static_sparse_split(&fixed, &chip, &opt);
        struct dynamic_split split = dynamic_sparse_split(&moving, &chip, &opt);
        assert_true(bands.cycles > before[0] && split.cycles > before[1]);
        assert_true(plan.temp_bytes_per_tile > 0 && plan.temp_bytes_per_tile <= chip.tile_memory_bytes);
        before[0] = bands.cycles;
        before[1] = split.cycles;
        plan = planned_product(&moving, &chip, &opt);
        assert_int_equal(plan.n_supersteps, 1 + 2 + 6 * split.steps + 1);      /* product, control, each step's control and product, cast or sum */
    }
}

/* A product that no split fits asks for more than a tile has. */
static void test_product_too_large(void **state)
{
    (void)state;
    struct chip chip = small_chip(8);
    const struct op_plan_options opt = { .available_memory = 0.0001, .n_tiles = 8, .partials = PARTIALS_FP32 };
    for (uint64_t dynamic = 0; dynamic < 2; dynamic++) {
        const struct sparse_shape s = { 256, 256, 48, 8, 512, TYPE_FP16, .dynamic = dynamic, .oversize = 0.3 };
        assert_int_equal(planned_product(&s, &chip, &opt).temp_bytes_per_tile, 2 * chip.tile_memory_bytes);
    }
}

/* 700 elements in 40 rows for two buckets: 21 rows each, one of them cut, and 16.67 elements a row. A worker has 3.5 rows and one more, in each bucket. The
 * planner has 16 elements in each of 40 rows, 7 for a worker. */
static void test_busiest_worker(void **state)
{
    (void)state;
    struct chip chip = small_chip(2);
    const struct op_plan_options opt = { .available_memory = 0.6, .n_tiles = 2, .partials = PARTIALS_FP32 };
    const struct sparse_shape s = { .rows = 40, .inner = 64, .columns = 40, .block = 1, .n_blocks = 640, .type = TYPE_FP16, .dynamic = true, .oversize = 0.3 };
    const struct dynamic_split p = { .x = 1, .y = 1, .z = 2, .blocks = 416 };
    struct dynamic_search f = dynamic_sparse_search(&s, &chip, &opt);
    assert_near(dynamic_sparse_pass(&f, &p, PASS_FORWARD, 700).vertex, 30 + 2 * 93 + 6 * (33 + 9 * (12 + 2 * (17 + 3 * 50 / 3.0) + 16 + 2 * 50 / 3.0)), 1e-9);
    assert_near(dynamic_sparse_pass(&f, &p, PASS_FORWARD, 0).vertex, 30 + 2 * 93 + 6 * (33 + 7 * (12 + 16 + 2 * 48 + 13 + 32)), 1e-9);
}

/* Six workers; grains of 4 x 4 halves take 4 cycles, of 2 x 2 floats 3. 13 matrices are 3 of the busiest worker. */
static void test_transposes(void **state)
{
    (void)state;
    assert_int_equal(transpose_cycles(6, 1, 4, 4, TYPE_FP16), 7 + 6 * 29);
    assert_int_equal(transpose_cycles(6, 13, 4, 4, TYPE_FP16), 7 + 6 * (37 + 4));
    assert_int_equal(transpose_cycles(6, 13, 12, 4, TYPE_FP16), 7 + 6 * (27 + 3 * (35 + 4)));
    assert_int_equal(transpose_cycles(6, 13, 16, 20, TYPE_FP16), 7 + 6 * (29 + 3 * (18 + 4 * (12 + 3 * 4))));
    assert_int_equal(transpose_cycles(6, 13, 4, 6, TYPE_FP32), 7 + 6 * (29 + 3 * (18 + 2 * (12 + 3))));
}

/* 256 matrices of 16 x 2048 halves: at most 1,472 times 3 of them (steps of 1,536 vectors of 512), so 16 parts each, 3 of 16 x 128 on a tile. */
static void test_matrices(void **state)
{
    (void)state;
    struct sparse_shape s = { .rows = 4096, .inner = 4096, .columns = 2048, .block = 16, .n_blocks = 1024, .type = TYPE_FP16, .order = ORDER_BY_COLUMNS };
    struct turned_matrices t = sparse_turned_matrices(&s, 1472, 6);
    assert_true(t.n == 3 && t.rows == 16 && t.columns == 128);
    s.columns = 2046;                                           /* no whole number of grains */
    assert_int_equal(sparse_turned_matrices(&s, 1472, 6).n, 0);
}

/* 12 tiles. By columns: 104 x 28 halves are 26 matrices of 4 x 28 for blocks of 4, 3 on a tile, 672 bytes; the result, 448 bytes of a tile, is copied out, and
 * returns in pieces of a half at 5.15 cycles a byte. By the inner dimension blocks are fetched as they lie. Elements are the other way round: one matrix of 28 x 104
 * is cut into 7, and the result, copied twice, stays on its tiles. */
static void test_orders(void **state)
{
    (void)state;
    struct chip chip = small_chip(12);
    const struct op_plan_options opt = { .available_memory = 0.6, .n_tiles = 12 };
    struct sparse_shape s = { .rows = 96, .inner = 104, .columns = 28, .block = 4, .n_blocks = 97, .type = TYPE_FP16 };
    struct op_plan planned = planned_product(&s, &chip, &opt), other;
    s.order = ORDER_BY_INNER;
    other = planned_product(&s, &chip, &opt);
    assert_memory_equal(&other, &planned, sizeof other);
    s.order = ORDER_BY_COLUMNS;
    other = planned_product(&s, &chip, &opt);
    assert_int_equal(other.compute_cycles - planned.compute_cycles, 7 + 6 * (29 + 18 + 12 + 5 * 4));
    assert_int_equal(other.exchange_cycles - planned.exchange_cycles, 672 / 4 + 1 + 37);
    s.returns = true;
    struct op_plan round = planned_product(&s, &chip, &opt);
    assert_int_equal(round.compute_cycles - other.compute_cycles, 2 * 40 + 587 + 2308 + copy_cycles(&chip, 448));
    assert_int_equal(round.exchange_cycles - other.exchange_cycles, 448 / 4 + 1 + 37);
    s.block = 1;
    assert_int_equal(planned_product(&s, &chip, &opt).rearrange_cycles, 2 * 40 + 2 * copy_cycles(&chip, 448) + 4 * 101);
    s.returns = false;
    assert_int_equal(planned_product(&s, &chip, &opt).rearrange_cycles, 0);
    s.order = ORDER_BY_INNER;
    other = planned_product(&s, &chip, &opt);
    s.order = ORDER_PLANNED;
    assert_int_equal(other.compute_cycles - planned_product(&s, &chip, &opt).compute_cycles, 7 + 6 * (29 + 18 + 12 + 24 * 4));
}

/* 12 tiles. 104 x 26 halves for blocks of 4: 26 is no multiple of 4, so an even share, 228 elements in whole atoms of 8 bytes, crosses into a padded tensor in pieces of a half. */
static void test_padded(void **state)
{
    (void)state;
    struct chip chip = small_chip(12);
    const struct op_plan_options opt = { .available_memory = 0.6, .n_tiles = 12 };
    struct sparse_shape s = { .rows = 96, .inner = 104, .columns = 26, .block = 4, .n_blocks = 97, .type = TYPE_FP16 };
    struct op_plan planned = planned_product(&s, &chip, &opt), other;
    s.order = ORDER_BY_COLUMNS;
    other = planned_product(&s, &chip, &opt);
    assert_int_equal(other.compute_cycles - planned.compute_cycles, 587 + 2349);
    assert_int_equal(other.exchange_cycles - planned.exchange_cycles, 456 / 4 + 1 + 37);
    s.order = ORDER_BY_INNER;                                   /* the 4 elements of a block's column are together: 0.44 cycles a byte */
    assert_int_equal(planned_product(&s, &chip, &opt).compute_cycles - planned.compute_cycles, 587 + 201);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_vertices), cmocka_unit_test(test_dynamic_vertices), cmocka_unit_test(test_static_split_of_all_blocks), cmocka_unit_test(test_static_sums),
        cmocka_unit_test(test_static_words), cmocka_unit_test(test_buckets), cmocka_unit_test(test_words_and_turns), cmocka_unit_test(test_overflow), cmocka_unit_test(test_density), cmocka_unit_test(test_product_too_large),
        cmocka_unit_test(test_transposes), cmocka_unit_test(test_matrices), cmocka_unit_test(test_orders), cmocka_unit_test(test_padded), cmocka_unit_test(test_busiest_worker),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
