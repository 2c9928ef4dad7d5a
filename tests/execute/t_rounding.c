/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_rounding.c - narrow formats against their definitions, ties and limits by hand, stochastic rounding by its probabilities, and the order of sums.
 */
#include "tests/check.h"
#include "system-model/base/base.h"
#include "system-model/execute/product.h"
#include "system-model/execute/rounding_lanes.h"
#include <math.h>

static struct rounding_counts counts;

static float nearest(double x, enum number_format f)
{
    float y = (float)x;
    round_elements(&y, 1, f, 0, &to_nearest, &counts);
    return y;
}

/* ---- every number of a format, from its definition ------------------------------------------------------- */

/* The numbers from 0 up to the largest: m / 2^bits times a power of two, and one more in front where the exponent is not the least. Returns how many. */
static size_t numbers_of(float *to, int bits, int bias, int largest_code)
{
    for (int code = 0; code <= largest_code; code++) {
        int exponent = code >> bits, m = code & ((1 << bits) - 1);
        to[code] = (float)(exponent ? (1 + m / (double)(1 << bits)) * pow(2, exponent - bias) : m / (double)(1 << bits) * pow(2, 1 - bias));
    }
    return (size_t)largest_code + 1;
}

/* Numbers stay; what is between two goes to the nearer; the middle goes to the even code. */
static void check_numbers(const float *x, size_t n, enum number_format f)
{
    for (size_t i = 0; i + 1 < n; i++) {
        double middle = ((double)x[i] + x[i + 1]) / 2, apart = x[i + 1] - x[i];
        assert_true(nearest(x[i], f) == x[i] && nearest(-x[i + 1], f) == -x[i + 1]);
        assert_true(nearest(middle, f) == x[i + i % 2] && nearest(-middle, f) == -x[i + i % 2]);
        assert_true(nearest(middle - apart / 64, f) == x[i] && nearest(middle + apart / 64, f) == x[i + 1]);
    }
}

static void every_number(void **state)
{
    static float x[0x7c00];
    size_t n = numbers_of(x, 10, 15, 0x7bff);
    (void)state;
    assert_true(x[n - 1] == 65504 && x[1] == 0x1p-24f && x[0x400] == 0x1p-14f);
    check_numbers(x, n, FORMAT_FP16);
    n = numbers_of(x, 3, 8, 0x7f);
    assert_true(x[n - 1] == 240 && x[1] == 0x1p-10f && x[8] == 0x1p-7f);
    check_numbers(x, n, FORMAT_E4M3);
    n = numbers_of(x, 2, 16, 0x7f);
    assert_true(x[n - 1] == 57344 && x[1] == 0x1p-17f && x[4] == 0x1p-15f);
    check_numbers(x, n, FORMAT_E5M2);
}

/* 65520 is half way to 2^16, the first number that fp16 does not have. */
static void limits(void **state)
{
    (void)state;
    counts = (struct rounding_counts){ 0 };
    assert_true(nearest(65519.99, FORMAT_FP16) == 65504 && counts.n_infinite == 0);
    assert_true(isinf(nearest(65520, FORMAT_FP16)) && nearest(-1e30, FORMAT_FP16) == -INFINITY && nearest(INFINITY, FORMAT_FP16) == INFINITY);
    assert_true(nearest(0x1p-25, FORMAT_FP16) == 0 && nearest(1.001 * 0x1p-25, FORMAT_FP16) == 0x1p-24f && isnan(nearest(NAN, FORMAT_FP16)));
    assert_true(signbit(nearest(-0.0, FORMAT_FP16)) && nearest(0, FORMAT_FP16) == 0 && nearest(1e-44, FORMAT_FP16) == 0);
    assert_true(counts.n_infinite == 3 && counts.n_not_a_number == 1 && counts.n_vanished == 2 && counts.n_saturated == 0 && counts.n_rounded == 10);
    counts = (struct rounding_counts){ 0 };
    assert_true(nearest(1000, FORMAT_E4M3) == 240 && nearest(-70000, FORMAT_E5M2) == -57344 && counts.n_saturated == 2 && counts.n_infinite == 0);
}

/* 300 does not fit E4M3; with a scale of 2 it becomes 150, which rounds to 144, half way between 144 and 160 being 152. */
static void scales(void **state)
{
    float x[] = { 300, -1, 0 };
    (void)state;
    assert_int_equal(rounding_scale(x, 3, FORMAT_E4M3), 1);
    assert_int_equal(rounding_scale(x + 1, 2, FORMAT_E4M3), -7);        /* 1 * 2^7 = 128 fits, 256 does not */
    assert_int_equal(rounding_scale(x + 2, 1, FORMAT_E4M3), 0);
    round_elements(x, 3, FORMAT_E4M3, 1, &to_nearest, &counts);
    assert_true(x[0] == 288 && x[1] == -1 && x[2] == 0);
}

/* ---- stochastic rounding ------------------------------------------------------------------------------------- */

/* The generator's own test vector: counter 0 and key 0 give 6627e8d5 e169c58d bc57ac4c 9b00dbd8, which are 0.399, 0.881, 0.736, 0.606 of 2^32. A share s
 * of the way to the next number is rounded up if it and the draw make 1. */
static void known_draws(void **state)
{
    const struct rounding_draws d = { .stochastic = true };
    const struct { double share; bool up[4]; } cases[] = {
        { 0, { 0, 0, 0, 0 } }, { 0.25, { 0, 1, 0, 0 } }, { 0.3125, { 0, 1, 1, 0 } }, { 0.5, { 0, 1, 1, 1 } }, { 0.625, { 1, 1, 1, 1 } },
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        float x[4], small[4];
        for (int i = 0; i < 4; i++)
            x[i] = (float)(-1 - cases[c].share * 0x1p-10), small[i] = (float)(cases[c].share * 0x1p-24);
        round_elements(x, 4, FORMAT_FP16, 0, &d, &counts);
        round_elements(small, 4, FORMAT_FP16, 0, &d, &counts);
        for (int i = 0; i < 4; i++)
            assert_true(x[i] == (cases[c].up[i] ? -1 - 0x1p-10f : -1) && small[i] == (cases[c].up[i] ? 0x1p-24f : 0));
    }
}

enum { N_DRAWS = 1 << 16 };
static float drawn[N_DRAWS];

/* 0.3 of the way: 0.3 of the elements go up, give or take five standard deviations; other steps and tensors draw others. */
static void without_bias(void **state)
{
    struct rounding_draws d = { true, 12345, 7, 0 };
    uint64_t first_ups = 0, both = 0;
    static float other[N_DRAWS];
    (void)state;
    for (int i = 0; i < N_DRAWS; i++)
        drawn[i] = other[i] = (float)(3 + 0.3 * 0x1p-9);
    round_elements(drawn, N_DRAWS, FORMAT_FP16, 0, &d, &counts);
    d.tensor_id = 8;
    round_elements(other, N_DRAWS, FORMAT_FP16, 0, &d, &counts);
    for (int i = 0; i < N_DRAWS; i++) {
        first_ups += drawn[i] > 3;
        both += drawn[i] > 3 && other[i] > 3;
    }
    assert_true(fabs((double)first_ups / N_DRAWS - 0.3) < 5 * sqrt(0.3 * 0.7 / N_DRAWS));
    assert_true(fabs((double)both / N_DRAWS - 0.09) < 5 * sqrt(0.09 * 0.91 / N_DRAWS));
}

/* A tensor that is rounded in parts: by shards, by pieces of a loop. */
/* Rows of 66: a group of 64 and one of 2. The first row's group goes from -1 to 2.75: scale 0.25, so that 0.4 is 5.6 steps above -1, the sixth: 0.5. A group of
 * equal numbers has no scale. */
static void groups_of_four_bits(void **state)
{
    enum { ROW = 66 };
    float x[2 * ROW], y[2 * ROW];
    (void)state;
    for (int i = 0; i < 2 * ROW; i++)
        x[i] = y[i] = i < ROW ? 0.4F : 0.001F * (float)((i * 37) % 101);
    x[3] = -1, x[7] = 2.75F, x[64] = 0.375F, x[65] = 0.375F;
    round_groups(x, 2, ROW);
    assert_true(x[0] == 0.5F && x[63] == 0.5F && x[3] == -1 && x[7] == 2.75F && x[64] == 0.375F && x[65] == 0.375F);
    for (int i = ROW; i < 2 * ROW; i++)
        assert_true(fabsf(x[i] - y[i]) <= 0.1F / 15 / 2 + 0.1F / 1024);
    float again[2 * ROW];
    memcpy(again, x, sizeof x);
    round_groups(again, 2, ROW);
    assert_memory_equal(again, x, ROW * sizeof *x);             /* scales that halves hold: 16 numbers stay themselves */
}

static void in_parts(void **state)
{
    float whole[1000], parts[1000];
    (void)state;
    for (int i = 0; i < 1000; i++)
        whole[i] = parts[i] = (float)sin(i) * 100;
    struct rounding_draws d = { true, 99, 3, 0 };
    round_elements(whole, 1000, FORMAT_FP16, 0, &d, &counts);
    for (uint64_t first = 0, n; first < 1000; first += n) {
        n = min_u64(1 + first % 37, 1000 - first);
        d.first_element = first;
        round_elements(parts + first, n, FORMAT_FP16, 0, &d, &counts);
    }
    assert_memory_equal(whole, parts, sizeof whole);
}

/* ---- the order of sums ------------------------------------------------------------------------------------------- */

static float sum_of(const float *a, const float *b, uint64_t inner, bool half)
{
    float c = 0;
    const struct product_way way = { .pass_inputs = 16, .half_partials = half };
    product_add((struct matrix){ &c, 1, false }, (struct matrix){ (float *)(uintptr_t)a, inner, false }, (struct matrix){ (float *)(uintptr_t)b, 1, false }, 1,
                inner, 1, &way);
    return c;
}

/* Between 2048 and 4096 fp16 has the even numbers, so that a half partial of 2048 loses a 1 in each pass, but no 2 that comes in one. */
static void passes_of_sixteen(void **state)
{
    float a[48] = { 2048 }, one[48];
    (void)state;
    for (int i = 0; i < 48; i++)
        one[i] = 1;
    a[15] = 1, a[16] = 1;
    assert_true(sum_of(a, one, 48, true) == 2048 && sum_of(a, one, 48, false) == 2050);
    a[16] = 0, a[14] = 1;
    assert_true(sum_of(a, one, 48, true) == 2050);
    a[14] = a[15] = 0, a[16] = a[17] = a[32] = 1;
    assert_true(sum_of(a, one, 48, true) == 2052);      /* 2050, then 2051, half way between 2050 and 2052, whose mantissa is even */
}

/* Within an instruction 4096 x 4096 loses each 1 that is added to it; the products of the next instruction are added up before they are added to it. */
static void chains_of_four(void **state)
{
    float a[16] = { 4096, 1, 1 }, later[16] = { 4096, 0, 0, 0, 1, 1 }, b[16] = { 4096, 1, 1, 1, 1, 1 };
    (void)state;
    assert_true(sum_of(a, b, 16, false) == 0x1p24f && sum_of(later, b, 16, false) == 0x1p24f + 2);
    assert_true(isinf(sum_of(a, b, 16, true)));
}

/* Any operand turned, any shape: the definition, element by element. */
static void any_shape(void **state)
{
    enum { ROWS = 5, INNER = 37, COLUMNS = 41 };
    float a[ROWS * INNER], b[INNER * COLUMNS], turned[INNER * COLUMNS], c[ROWS * COLUMNS] = { 0 }, want[ROWS * COLUMNS] = { 0 };
    (void)state;
    for (int i = 0; i < ROWS * INNER; i++)
        a[i] = nearest(sin(i), FORMAT_FP16);
    for (int i = 0; i < INNER * COLUMNS; i++)
        b[i] = turned[i % COLUMNS * INNER + i / COLUMNS] = nearest(cos(i), FORMAT_FP16);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        for (int pass = 0; pass < INNER; pass += 16) {
            for (int k = pass; k < pass + 16 && k < INNER; k += 4) {
                float chain = 0;
                for (int q = k; q < k + 4 && q < INNER; q++)
                    chain += a[i / COLUMNS * INNER + q] * b[q * COLUMNS + i % COLUMNS];
                want[i] += chain;
            }
            want[i] = nearest(want[i], FORMAT_FP16);
        }
    const struct product_way way = { .pass_inputs = 16, .half_partials = true };
    product_add((struct matrix){ c, COLUMNS, false }, (struct matrix){ a, INNER, false }, (struct matrix){ turned, INNER, true }, ROWS, INNER, COLUMNS, &way);
    assert_memory_equal(c, want, sizeof c);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_number), cmocka_unit_test(limits), cmocka_unit_test(scales), cmocka_unit_test(known_draws), cmocka_unit_test(without_bias),
    cmocka_unit_test(in_parts), cmocka_unit_test(groups_of_four_bits), cmocka_unit_test(passes_of_sixteen), cmocka_unit_test(chains_of_four), cmocka_unit_test(any_shape),
};
TAP_MAIN(tests)
