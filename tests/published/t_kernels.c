/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_kernels.c - the cells of measured kernels, the fitted sheet of chips, and the refusals of both.
 */
#include "tests/golden_text.h"
#include "tests/chip_fixture.h"
#include "tests/part_cells.h"
#include "results/published/check.h"
#include "system-model/machine/fitted.h"
#include <sys/stat.h>

static const char matmul[] = "matmul;machine=bow;m=48;k=32;n=20;type=fp16;partials=fp32";

/* The kernel on a small chip. err "": it is planned. */
static struct op_plan plan_of(const char *text, struct err *err)
{
    struct arena a = { 0 };
    struct plan_cache cache = { 0 };
    struct chip chip = small_chip(7);
    struct op_plan p = { 0 };
    *err = (struct err){ "" };
    struct csv_table t = cells_of("kernel", text, &a);
    struct kernel_case c;
    if (kernel_case_read(&c, &t, t.rows, err))
        kernel_row_plan(&p, NULL, &c, &chip, &cache, &a, err);
    plan_cache_free(&cache);
    arena_free(&a);
    return p;
}

static struct op_plan row_plan(const char *text)
{
    struct err err;
    struct op_plan p = plan_of(text, &err);
    assert_string_equal(err.msg, "");
    return p;
}

static void test_cases_count_their_work(void **state)
{
    (void)state;
    struct op_plan p = row_plan(matmul);
    assert_int_equal(p.mac, 48 * 32 * 20);
    assert_int_equal(p.partials, PARTIALS_FP32);
    /* padded by one on each side, with stride 2: 9 become 5 */
    p = row_plan("conv;machine=gc2;batch=3;filter=3;input=9;in_chans=8;out_chans=10;stride=2;groups=2;type=fp16;partials=fp16");
    assert_int_equal(p.mac, 3 * 25 * 9 * 4 * 10);
    p = row_plan("conv;machine=gc2;batch=3;filter=3;input=9;in_chans=8;out_chans=10;stride=2;groups=2;pad=0;type=fp16;partials=fp16");
    assert_int_equal(p.mac, 3 * 16 * 9 * 4 * 10);
    /* two IPUs share nine rows: five are on the fuller one, with padding around them */
    p = row_plan("conv;machine=gc2;batch=3;filter=3;input=9;input_w=4;in_chans=8;out_chans=10;stride=1;groups=2;ipus=2;type=fp16;partials=fp16");
    assert_int_equal(p.mac, 3 * 5 * 4 * 9 * 4 * 10);
    /* a filter as wide as the padded input has one position */
    p = row_plan("conv;machine=gc2;batch=3;filter=5;input=3;in_chans=8;out_chans=10;stride=1;groups=2;pad=1;type=fp16;partials=fp16");
    assert_int_equal(p.mac, 3 * 1 * 25 * 4 * 10);
}

/* PopLibs' share of memory for temporaries, 180,000 B, although the operands take more than half of the tile's
 * 300,000. */
static void test_share_of_memory_is_the_default(void **state)
{
    (void)state;
    struct op_plan p = row_plan("matmul;machine=bow;m=512;k=512;n=16;type=fp32;partials=fp32");
    assert_in_range(p.temp_bytes_per_tile, 0.4 * 300000, 0.6 * 300000);
}

/* With 270,000 B for temporaries instead of 180,000 there is a plan that takes more memory and less time. */
static void test_share_of_memory_that_is_asked_for(void **state)
{
    static const char conv[] = "conv;machine=bow;batch=1;filter=3;input=48;in_chans=64;out_chans=64;stride=1;groups=1;%stype=fp16;partials=fp32";
    struct arena a = { 0 };
    (void)state;
    struct op_plan usual = row_plan(arena_printf(&a, conv, "")), more = row_plan(arena_printf(&a, conv, "available_memory=0.9;"));
    assert_true(usual.temp_bytes_per_tile <= 180000 && more.temp_bytes_per_tile > 180000 && more.temp_bytes_per_tile <= 270000);
    assert_true(op_plan_cycles(&more) < op_plan_cycles(&usual));
    arena_free(&a);
}

static void refuse(const char *text, const char *message)
{
    struct err err;
    plan_of(text, &err);
    assert_string_equal(err.msg, message);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("fft;n=3", "cells.csv:2: kernel: 'fft' is not one of: matmul, conv, gemm, fc, conv-layer, triad, static-sparse, dynamic-sparse");
    refuse("matmul;machine=bow;m=3;k=5;n=2;batch=3", "cells.csv:2: batch: '3': leave it empty, as a matmul has none");
    refuse("matmul;m=3;k=5;n=2;type=fp16;partials=fp32", "cells.csv:2: machine: missing: a chip's sheet");
    refuse("matmul;machine=bow;m=3;k=5", "cells.csv:2: n: missing: columns of the input, or elements of a vector");
    refuse("matmul;machine=bow;m=3;k=5;n=1000001;type=fp16;partials=fp16", "cells.csv:2: n: 1000001 is outside 1 to 1000000");
    refuse("triad;machine=bow;n=7;type=fp16;partials=fp16", "cells.csv:2: partials: 'fp16': leave it empty, as a triad has none");
    refuse("conv;machine=x;batch=1;filter=3;input=9;in_chans=9;out_chans=8;stride=1;groups=2;type=fp16;partials=fp16",
           "cells.csv:2: groups: 2 does not divide the channels");
    refuse("conv;machine=x;batch=1;filter=6;input=3;in_chans=8;out_chans=8;stride=1;groups=2;pad=1;type=fp16;partials=fp16",
           "cells.csv:2: filter: 6 is wider than the padded input");
    refuse("fc;machine=x;batch=1;in=3;out=5;type=fp16;partials=fp16", "only the memory of fc is predicted");
    refuse("matmul;machine=x;m=3;k=5;n=2;type=fp16;partials=fp16;layout=linear", "only the memory of a product with layout=linear is predicted");
}

/* 3x3 over 5 x 5 positions with padding of one: 13 of 15 pairs along each axis multiply input, 14 of 15 with a
 * stride of two over 10 x 10, and all without padding. The channels of groups count once. */
static void test_rates_leave_padding_out(void **state)
{
    static const struct { const char *shape; double products; } cases[] = {
        { "input=5;in_chans=128;out_chans=256;stride=1;groups=1", 13 * 13 * 128 * 256. },
        { "input=10;in_chans=128;out_chans=256;stride=2;groups=1", 14 * 14 * 128 * 256. },
        { "input=10;in_chans=128;out_chans=256;stride=2;groups=1;pad=0", 12 * 12 * 128 * 256. },
        { "input=5;in_chans=128;out_chans=256;stride=1;groups=8", 13 * 13 * 16 * 256. },
        { "input=5;input_w=8;in_chans=128;out_chans=256;stride=1;groups=1", 13 * 22 * 128 * 256. },    /* 8 + 2 x 7 */
    };
    (void)state;
    struct arena a = { 0 };
    struct plan_cache cache = { 0 };
    struct kernel_bench bench = { "system-model/specs", &cache, NULL, &a };
    struct err err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double rate, time_s;
        const struct kernel_case *c = kernel_of(arena_printf(&a, "conv;machine=gc2;batch=8;filter=3;%s;type=fp16;partials=fp32", cases[i].shape), &a);
        assert_true(kernel_row_predict(&time_s, c, "time_s", &bench, &err));
        assert_true(kernel_row_predict(&rate, c, "tflop_per_s", &bench, &err));
        assert_near(rate * time_s, 2e-12 * 8 * cases[i].products, 1e-15);
    }
    plan_cache_free(&cache);
    arena_free(&a);
}

/* Time, cycles, rate and share of peak are one value in four units. */
static void test_predictions_agree(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct plan_cache cache = { 0 };
    struct err err;
    double cycles, time_s, rate, share;
    struct kernel_bench bench = { "system-model/specs", &cache, NULL, &a };
    const struct kernel_case *product = kernel_of(matmul, &a), *unknown = kernel_of("matmul;machine=cow;m=48;k=32;n=20;type=fp16;partials=fp32", &a);
    assert_true(kernel_row_predict(&cycles, product, "cycles", &bench, &err));
    assert_true(kernel_row_predict(&time_s, product, "time_s", &bench, &err));
    assert_true(kernel_row_predict(&rate, product, "tflop_per_s", &bench, &err));
    assert_true(kernel_row_predict(&share, product, "peak_share", &bench, &err));
    assert_near(time_s, cycles / 1.85e9, 1e-15);
    assert_near(rate, 2e-12 * 48 * 32 * 20 / time_s, 1e-9);
    assert_near(share, 48 * 32 * 20 / cycles / (1472 * 32), 1e-12);
    assert_false(kernel_row_predict(&rate, product, "watts", &bench, &err));
    assert_string_equal(err.msg, "metric 'watts' of a kernel; known: tflop_per_s, time_s, cycles, energy_above_idle_j, peak_share");
    assert_false(kernel_row_predict(&rate, unknown, "cycles", &bench, &err));
    assert_non_null(strstr(err.msg, "unknown machine 'cow'"));
    plan_cache_free(&cache);
    arena_free(&a);
}

static bool energy_of(double *energy_j, const struct kernel_case *c, const struct chip *chip, struct plan_cache *cache, struct arena *a, struct err *err)
{
    struct op_plan p;
    struct energy energy;
    bool good = kernel_row_plan(&p, &energy, c, chip, cache, a, err);
    *energy_j = energy_total(&energy);
    return good;
}

/* Running takes the tiles in use while they compute, and all while they exchange. 900 W remain for work in both. */
static void runs_by_the_cycle(struct chip chip, struct plan_cache *cache, struct arena *a)
{
    const struct kernel_case *c = kernel_of("matmul;machine=gc200;m=48;k=32;n=20;type=fp16;partials=fp32", a);
    double without_j, with_j;
    struct op_plan p;
    struct err err;
    chip.tdp_w = chip.idle_power_w + 900;
    chip.running_power_w = 0;
    assert_true(energy_of(&without_j, c, &chip, cache, a, &err));
    chip.tdp_w += chip.running_power_w = 100;
    assert_true(energy_of(&with_j, c, &chip, cache, a, &err));
    assert_true(kernel_row_plan(&p, NULL, c, &chip, cache, a, &err));
    assert_true(p.n_tiles_used < 1472 && p.exchange_cycles > 0);
    double cycles = (double)p.compute_cycles * p.n_tiles_used + (double)p.exchange_cycles * 1472;
    assert_near((with_j - without_j) / (cycles * 100 / (1472 * 1.325e9)), 1, 1e-9);
}

/* 300 W at the peak of 1472 tiles, of which 41.6 W are idling and 99 W running: a tile's cycle is 1 / (1472 x 1.325e9) of the rest, and loads 16 and
 * stores 8 bytes. 13 floats of each of three vectors; 48 x 32 x 20 products, 32 a cycle of halves and 16 of floats, besides the bytes that tiles receive. */
static void test_energy_by_hand(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct plan_cache cache = { 0 };
    struct err err;
    struct machine m;
    double triad_j, half_j, float_j;
    assert_true(machine_load(&m, "gc200", "system-model/specs", &a, &err));
    assert_near(chip_cycle_j(&m.chip) * 1472 * 1.325e9, 300 - 41.6 - 99, 1e-9);
    assert_near(chip_running_cycle_j(&m.chip) * 1472 * 1.325e9, 99, 1e-9);
    assert_near(chip_memory_byte_j(&m.chip) * 1472 * 1.325e9 * 24, 300 - 41.6 - 99, 1e-9);
    runs_by_the_cycle(m.chip, &cache, &a);
    m.chip.running_power_w = 0;
    const struct kernel_case *triad = kernel_of("triad;machine=gc200;n=13;type=fp32", &a),
                             *halves = kernel_of("matmul;machine=gc200;m=48;k=32;n=20;type=fp16;partials=fp32", &a),
                             *floats = kernel_of("matmul;machine=gc200;m=48;k=32;n=20;type=fp32;partials=fp32", &a);
    const double cycle_j = chip_cycle_j(&m.chip), byte_j = cycle_j / 24;
    assert_true(energy_of(&triad_j, triad, &m.chip, &cache, &a, &err));
    assert_near(triad_j / (3 * 13 * 4 * byte_j), 1, 1e-12);
    assert_true(energy_of(&half_j, halves, &m.chip, &cache, &a, &err));
    assert_true(energy_of(&float_j, floats, &m.chip, &cache, &a, &err));
    assert_true(half_j > 48 * 32 * 20 * cycle_j / 32 && float_j > 48 * 32 * 20 * cycle_j / 16);
    double error_j;
    m.chip.running_power_w = 99, m.chip.running_power_error_w = 0, m.chip.work_power_error_w = (300 - 41.6 - 99) / 2;      /* half of all work */
    assert_true(kernel_row_predict(&error_j, triad, "energy_error_j", &(struct kernel_bench){ "system-model/specs", &cache, NULL, &a }, &err));
    const struct energy work = { .j = { [ENERGY_MAC] = 2, [ENERGY_VECTOR] = 1, [ENERGY_EXCHANGE] = 1, [ENERGY_LINKS] = 9 } };
    assert_true(error_j > 0);
    assert_near(energy_error_j(&work, &m.chip), 2, 1e-12);
    m.chip.running_power_w = 0;
    m.chip.vector_bytes_per_cycle = 1 << 30;        /* bytes cost next to nothing */
    assert_true(energy_of(&half_j, halves, &m.chip, &cache, &a, &err));
    assert_near(half_j / (48 * 32 * 20 * cycle_j / 32), 1, 1e-5);
    assert_true(energy_of(&float_j, floats, &m.chip, &cache, &a, &err));
    assert_near(float_j / (48 * 32 * 20 * cycle_j / 16), 1, 1e-5);
    m.chip.tdp_w = 0;
    assert_near(chip_cycle_j(&m.chip), 0, 0);
    plan_cache_free(&cache);
    arena_free(&a);
}

/* At 1.7 GHz, where the watts hold at 1.325, voltage is 1.283^0.4 = 1.1048 times as high: a cycle takes its square, leakage as much. What is not known of
 * the exponent, 0.1 either way, leaves sinh(0.2 x ln 1.283) of all that switches, here 4 J besides those of links. */
static void energy_at_another_clock(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err;
    struct machine m;
    struct power power;
    assert_true(machine_load(&m, "gc200", "system-model/specs", &a, &err));
    m.chip.clock_hz = 1.7e9;
    m.chip.voltage_exponent = 0.4;
    m.chip.voltage_exponent_error = 0.1;
    const double voltage = pow(1.7 / 1.325, 0.4);
    assert_near(chip_voltage(&m.chip), voltage, 1e-12);
    assert_near(chip_cycle_j(&m.chip) * 1472 * 1.325e9, (300 - 41.6 - 99) * voltage * voltage, 1e-9);
    assert_near(chip_running_cycle_j(&m.chip) * 1472 * 1.325e9, 99 * voltage * voltage, 1e-9);
    machine_power(&power, &m, 1);
    assert_near(power.idle_w, 41.6 * voltage, 1e-9);
    m.chip.running_power_error_w = m.chip.work_power_error_w = 0;
    const struct energy work = { .j = { [ENERGY_RUNNING] = 1, [ENERGY_MAC] = 2, [ENERGY_VECTOR] = 1, [ENERGY_LINKS] = 9 } };
    assert_near(energy_error_j(&work, &m.chip), 4 * sinh(0.2 * log(1.7 / 1.325)), 1e-9);
    m.chip.power_clock_hz = 0;                      /* watts that hold at any clock */
    assert_near(chip_cycle_j(&m.chip) * 1472 * 1.7e9, 300 - 41.6 - 99, 1e-9);
    assert_near(energy_error_j(&work, &m.chip), 0, 0);
    arena_free(&a);
}

/* Writes a fitted sheet into a new folder and applies it to a chip. */
static bool apply(struct chip *chip, const char *rows, struct err *err)
{
    struct arena a = { 0 };
    char folder[] = "/tmp/podbench-fitted-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = arena_printf(&a, "%s/fitted-chip.csv", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "key,value,unit,source\n%s", rows);
    fclose(f);
    struct sheet applied;
    bool good = fitted_chip_apply(chip, &applied, folder, NULL, &a, err);
    assert_true(!good || applied.n_rows <= 2);
    char *slash = strstr(err->msg, "fitted-chip.csv");
    if (!good && slash)
        memmove(err->msg, slash, strlen(slash) + 1);    /* without the folder's name */
    unlink(path);
    rmdir(folder);
    arena_free(&a);
    return good;
}

static void test_fitted_sheet(void **state)
{
    (void)state;
    struct err err = { "" };
    struct chip chip = small_chip(7);
    chip.generation = GENERATION_MK1;
    assert_true(apply(&chip, "mk1.compute_set_cycles,417,cycles,fitted\nmk1.amp_efficiency,0.83,share,fitted\n", &err));
    assert_int_equal(chip.compute_set_cycles, 417);
    assert_near(chip.amp_efficiency, 0.83, 0);
    assert_true(apply(&chip, "memory_error,0.2,share,fitted\n", &err) && chip.memory_error == 0.2);
    assert_true(apply(&chip, "memory_error,0.3,share,fitted\n", &err) && chip.memory_error == 0.2);      /* a chip keeps what its sheet has */
    chip = small_chip(7);               /* a chip of no generation keeps its own */
    assert_true(apply(&chip, "mk1.compute_set_cycles,417,cycles,fitted\n", &err));
    assert_int_equal(chip.compute_set_cycles, 0);
    assert_false(apply(&chip, "mk1.n_tiles,7,tiles,guess\n", &err));
    assert_string_equal(err.msg, "fitted-chip.csv:2: mk1.n_tiles: not a fitted constant; known: mk1.compute_set_cycles, mk1.amp_efficiency, mk2.compute_set_cycles, memory_error");
    assert_false(apply(&chip, "mk1.amp_efficiency,1.2,share,fitted\n", &err));
    assert_non_null(strstr(err.msg, "fitted-chip.csv:2: mk1.amp_efficiency: 1.2 is outside 0.5 to 1"));
    assert_false(apply(&chip, "mk1.amp_efficiency,0.9,%,fitted\n", &err));
    assert_string_equal(err.msg, "fitted-chip.csv:2: mk1.amp_efficiency is in '%', want 'share'");
}

/* Each key at both ends of its range, and beyond them. */
static void test_ranges(void **state)
{
    static const struct { const char *kind, *all; } kinds[] = {
        { "matmul", "m=3;k=3;n=3" }, { "conv", "batch=2;filter=1;input=9;in_chans=4;out_chans=4;stride=1;groups=1;pad=0" },
    };
    struct arena a = { 0 };
    struct plan_cache cache = { 0 };
    struct chip chip = small_chip(7);
    const char *text = "";
    char *rest = NULL;
    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (char *entry = strtok_r(arena_strdup(&a, kinds[k].all), ";", &rest); entry; entry = strtok_r(NULL, ";", &rest))
            for (int high = 0; high < 2; high++) {
                struct op_plan p;
                struct err err;
                const char *key = arena_printf(&a, "%.*s", (int)strcspn(entry, "="), entry), *value = !high ? "0" : text_is(key, "pad") ? "1001" : "1000001";
                const char *before = strstr(kinds[k].all, entry);
                const char *row = arena_printf(&a, "%s;machine=x;type=fp16;partials=fp16;%.*s%s=%s%s", kinds[k].kind, (int)(before - kinds[k].all),
                                               kinds[k].all, key, value, before + strlen(entry));
                struct csv_table t = cells_of("kernel", row, &a);
                struct kernel_case c;
                bool taken = kernel_case_read(&c, &t, t.rows, &err) && kernel_row_plan(&p, NULL, &c, &chip, &cache, &a, &err);
                text = arena_printf(&a, "%s%s%s\n", text, taken ? "taken: " : "", taken ? row : err.msg);
            }
    assert_golden(text, "tests/golden/kernel_ranges.txt", &a);
    plan_cache_free(&cache);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases_count_their_work), cmocka_unit_test(test_share_of_memory_is_the_default),
        cmocka_unit_test(test_share_of_memory_that_is_asked_for), cmocka_unit_test(test_refusals), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_predictions_agree), cmocka_unit_test(test_energy_by_hand), cmocka_unit_test(energy_at_another_clock), cmocka_unit_test(test_rates_leave_padding_out), cmocka_unit_test(test_fitted_sheet),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
