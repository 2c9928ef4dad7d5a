/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_narrow_registers.c - roundings and products of a processor without wide registers: the same bits. Both files are compiled here once more,
 * as if for such a processor.
 */
#include "tests/check.h"
#include "tests/random.h"
#include "system-model/execute/product.h"
#include "system-model/execute/rounding_lanes.h"

#undef HAS_WIDE_REGISTERS
#define HAS_WIDE_REGISTERS false
#define number_format_of narrow_number_format_of
#define round_elements narrow_round_elements
#define round_groups narrow_round_groups
#define rounding_scale narrow_rounding_scale
#define amp_product_add narrow_amp_product_add
#include "system-model/execute/rounding.c"
#include "system-model/execute/amp_product.c"
#undef round_elements
#undef amp_product_add

static uint64_t draws = 7;
static float drawn(void) { return ldexpf((float)random_below(&draws, 1 << 24) - (float)(1 << 23), (int)random_below(&draws, 50) - 50); }

static void roundings_have_the_same_bits(void **state)
{
    (void)state;
    for (int format = FORMAT_FP16; format < N_NUMBER_FORMATS; format++)
        for (int stochastic = 0; stochastic < 2; stochastic++) {
            const struct rounding_draws d = { stochastic, 99, 3, 5 };
            struct rounding_counts wide_counts = { 0 }, narrow_counts = { 0 };
            float wide[1003], narrow[1003];
            for (int i = 0; i < 1003; i++)
                wide[i] = narrow[i] = i % 101 ? drawn() : i % 2 ? INFINITY : NAN;
            round_elements(wide, 1003, (enum number_format)format, 2, &d, &wide_counts);
            narrow_round_elements(narrow, 1003, (enum number_format)format, 2, &d, &narrow_counts);
            assert_memory_equal(wide, narrow, sizeof wide);
            assert_memory_equal(&wide_counts, &narrow_counts, sizeof wide_counts);
            assert_int_equal(wide_counts.n_rounded, 1003);
        }
}

/* 11 rows of 37 inputs, to 45 columns. */
static void products_have_the_same_bits(void **state)
{
    enum { ROWS = 11, INNER = 37, COLUMNS = 45 };
    float a[ROWS * INNER], b[INNER * COLUMNS], wide[ROWS * COLUMNS], narrow[ROWS * COLUMNS];
    (void)state;
    for (int half = 0; half < 2; half++) {
        const struct product_way way = { 1, 16, half };
        for (int i = 0; i < ROWS * INNER; i++)
            a[i] = (float)random_below(&draws, 2001) / 1000 - 1;
        for (int i = 0; i < INNER * COLUMNS; i++)
            b[i] = (float)random_below(&draws, 2001) / 1000 - 1;
        for (int i = 0; i < ROWS * COLUMNS; i++)
            wide[i] = narrow[i] = (float)i / 64;
        amp_product_add((struct matrix){ wide, COLUMNS, false }, (struct matrix){ a, INNER, false }, (struct matrix){ b, COLUMNS, false }, ROWS, INNER, COLUMNS, &way);
        narrow_amp_product_add((struct matrix){ narrow, COLUMNS, false }, (struct matrix){ a, INNER, false }, (struct matrix){ b, COLUMNS, false }, ROWS, INNER, COLUMNS, &way);
        assert_memory_equal(wide, narrow, sizeof wide);
        assert_true(wide[5] != 5.0F / 64);
    }
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(roundings_have_the_same_bits), cmocka_unit_test(products_have_the_same_bits) };
TAP_MAIN(tests)
