/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_sparse_prices.c - prices of sparse products as one golden text, in which a change of any shows: of vertices by block, type, columns and pass, of splits
 * and sums by shape. t_sparse.c compares single prices with sums by hand.
 */
#include "system-model/compiler/conv.h"
#include "system-model/compiler/sparse.h"
#include "tests/conv_fixture.h"
#include "tests/golden_text.h"

static const uint64_t blocks[] = { 1, 4, 8, 16 }, columns[] = { 1, 2, 3, 4, 5, 7, 8, 11, 16, 19 };
enum { N_BLOCKS = sizeof blocks / sizeof *blocks, N_COLUMNS = sizeof columns / sizeof *columns };

static void print_static_vertices(FILE *f)
{
    for (int b = 0; b < N_BLOCKS; b++)
        for (int half = 0; half < 2; half++) {
            fprintf(f, "static vertex, block %ju, fp%d:", (uintmax_t)blocks[b], half ? 16 : 32);
            for (int n = 0; n < N_COLUMNS; n++)
                fprintf(f, " %g", static_sparse_cycles(6, 3, 5, columns[n], blocks[b], half ? TYPE_FP16 : TYPE_FP32));
            fputc('\n', f);
        }
}

/* Three buckets, one without work for the tile; 4 rows of 5 blocks for 3 workers, more than one of each. */
static void print_dynamic_vertices(FILE *f, enum op_pass pass, uint64_t block, uint64_t conv_units)
{
    static const struct { const char *name; uint64_t type, partials; } kinds[] = {
        { "fp32", TYPE_FP32, PARTIALS_FP32 }, { "fp16", TYPE_FP16, PARTIALS_FP32 }, { "fp16, narrow sums", TYPE_FP16, PARTIALS_FP16 } };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int estimated = 0; estimated < (block == 1 && pass == PASS_FORWARD ? 2 : 1); estimated++) {
            fprintf(f, "dynamic vertex, pass %d, block %ju, %ju units, %s%s:", pass, (uintmax_t)block, (uintmax_t)conv_units, kinds[k].name, estimated ? ", estimated" : "");
            for (int n = 0; n < N_COLUMNS; n++) {
                const struct bucket_work w = { .n_buckets = 3, .n_useful = 2, .x = 4, .y = 5, .z = columns[n], .block = block, .type = kinds[k].type, .partials = kinds[k].partials,
                                               .conv_units = conv_units, .n_workers = 3, .pass = pass, .estimated = estimated };
                fprintf(f, " %g", dynamic_sparse_cycles(&w));
            }
            fputc('\n', f);
        }
}

/* All members of a struct of uint64_t. */
static void print_numbers(FILE *f, const char *name, const void *numbers, size_t n_bytes)
{
    const uint64_t *at = numbers;
    fprintf(f, "    %s:", name);
    for (size_t i = 0; i < n_bytes / sizeof *at; i++)
        fprintf(f, " %ju", (uintmax_t)at[i]);
    fputc('\n', f);
}

static void print_static(FILE *f, const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct static_split p = static_sparse_split(s, chip, opt);
    fprintf(f, "    chance %.9g, ends %.9g\n", p.row_chance, p.run_ends);
    p.row_chance = p.run_ends = 0;
    print_numbers(f, "split", &p, sizeof p);
    p = static_sparse_split(s, chip, opt);
    struct static_sums sums = static_sparse_sums(&p, s, chip, opt->n_tiles);
    print_numbers(f, "sums", &sums, sizeof sums);
}

static void print_dynamic(FILE *f, const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct dynamic_search search = dynamic_sparse_search(s, chip, opt);
    struct dynamic_split p = dynamic_sparse_split(s, chip, opt);
    print_numbers(f, "split", &p, sizeof p);
    for (int pass = 0; pass < N_OP_PASSES; pass++) {
        struct dynamic_cost c = dynamic_sparse_pass(&search, &p, pass, p.most_blocks);
        fprintf(f, "    vertex %.9g\n", c.vertex);
        print_numbers(f, "pass", &c, offsetof(struct dynamic_cost, vertex));
    }
}

static void print_product(FILE *f, const struct sparse_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    fprintf(f, "%s %ju x %ju x %ju, block %ju, %ju blocks, %s, order %ju%s%s\n", s->dynamic ? "dynamic" : "static", (uintmax_t)s->rows, (uintmax_t)s->inner, (uintmax_t)s->columns,
            (uintmax_t)s->block, (uintmax_t)s->n_blocks, s->type == TYPE_FP16 ? "fp16" : "fp32", (uintmax_t)s->order, s->trains ? ", trains" : "", s->returns ? ", returns" : "");
    if (s->dynamic)
        print_dynamic(f, s, chip, opt);
    else
        print_static(f, s, chip, opt);
    for (int pass = 0; pass < (s->trains ? N_OP_PASSES : 1); pass++) {
        struct op_plan plan;
        struct sparse_bytes bytes = sparse_product_plan(&plan, s, pass, chip, opt);
        fprintf(f, "    plan: %ju %ju %ju %ju %ju, %ju %ju\n", (uintmax_t)plan.compute_cycles, (uintmax_t)plan.exchange_cycles, (uintmax_t)plan.rearrange_cycles,
                (uintmax_t)plan.n_supersteps, (uintmax_t)plan.temp_bytes_per_tile, (uintmax_t)bytes.values, (uintmax_t)bytes.meta);
    }
}

static void print_all(FILE *f)
{
    struct chip chip = small_chip(46);
    print_static_vertices(f);
    for (int pass = 0; pass < N_OP_PASSES; pass++)
        for (int b = 0; b < N_BLOCKS; b++)
            for (uint64_t units = 8; units <= (b == N_BLOCKS - 1 ? 16 : 8); units *= 2)
                print_dynamic_vertices(f, pass, blocks[b], units);
    for (int half = 0; half < 2; half++)
        for (int b = 0; b < N_BLOCKS; b++)
            for (int sparse = 0; sparse < 3; sparse++)
                for (int dynamic = 0; dynamic < 2; dynamic++) {
                    static const uint64_t share[] = { 2, 7, 31 };           /* one in so many blocks is not zero */
                    uint64_t rows = 13 + 6 * b, inner = 21 + 2 * b;
                    const struct sparse_shape s = { .rows = rows * blocks[b], .inner = inner * blocks[b], .columns = 23 + 9 * sparse, .block = blocks[b], .n_blocks = rows * inner / share[sparse],
                                                    .type = half ? TYPE_FP16 : TYPE_FP32, .dynamic = dynamic, .trains = dynamic && sparse > 0, .order = sparse, .returns = sparse == 1, .oversize = 0.3 };
                    print_product(f, &s, &chip, &(struct op_plan_options){ .available_memory = 0.6, .n_tiles = 45, .partials = sparse == 2 ? PARTIALS_FP16 : PARTIALS_FP32 });
                }
}

static void all_prices(void **state)
{
    struct arena a = { 0 };
    char *text;
    (void)state;
    PRINTED(text, print_all(f));
    assert_golden(text, "tests/golden/sparse_prices.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(all_prices) };
TAP_MAIN(tests)
