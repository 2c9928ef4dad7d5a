/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_memory_check.c - what fits: verdicts, bytes and edges by hand, categories of a plan, and the memory of kernels. */
#include "tests/check.h"
#include "tests/part_cells.h"
#include "results/published/check.h"
#include <math.h>

static struct figure figure(const char *id, const char *recipe, const char *metric, double value)
{
    return (struct figure){ .id = id, .recipe = recipe, .configuration = recipe, .metric = metric, .path = "t.csv", .value = value, .role = FIGURE_VALIDATE };
}

static struct check_row row_of(const struct figure *f, enum counts_as counts_as, bool fits)
{
    return (struct check_row){ .figure = f, .counts_as = counts_as, .has_simulated = true, .fits = fits, .fits_with_less_memory = fits };
}

static void assert_verdicts(const struct memory_verdicts *v, const char *evidence, uint64_t ran, uint64_t ran_fits, uint64_t large, uint64_t found)
{
    assert_string_equal(v->evidence, evidence);
    assert_true(v->n_ran == ran && v->n_ran_fits == ran_fits && v->n_too_large == large && v->n_too_large_found == found);
}

/* Published runs first, each configuration once; ratios, rows without a prediction and rows of bytes say nothing. */
static void verdicts_by_evidence(void **state)
{
    const struct figure f[] = {
        figure("a", "r", "throughput_samples_per_s", 9), figure("b", "r", "step_time_s", 9), figure("c", "s", "step_time_s", 9),
        figure("d", "r:s", "speedup_x", 2), figure("e", "t", "fits", 1), figure("f", "u", "fits", 0), figure("g", "v", "fits", 0),
        figure("h", "w", "fits", 0), figure("i", "x", "fits", 1), figure("j", "y", "max_tile_bytes", 7), figure("k", "z", "fits", 0),
    };
    struct check_row rows[11];
    struct arena a = {0};
    size_t n;
    (void)state;
    for (size_t i = 0; i < 11; i++)
        rows[i] = row_of(&f[i], i < 8 ? COUNTS_AS_VALIDATE : COUNTS_AS_CALIBRATE, i != 2 && i != 5);
    rows[10].has_simulated = false;
    rows[6].fits_with_less_memory = rows[8].fits_with_less_memory = false;
    const struct check c = { rows, 11 };
    const struct memory_verdicts *v = memory_verdicts(&n, &c, &a);
    assert_int_equal(n, 3);
    assert_verdicts(&v[0], "runs", 2, 1, 0, 0);
    assert_verdicts(&v[1], "calibrate", 1, 1, 0, 0);
    assert_verdicts(&v[2], "validate", 1, 1, 3, 1);
    assert_true(isnan(v[0].ran_fits_with_less_memory) && isnan(v[0].too_large_found_with_less_memory));
    assert_true(v[1].ran_fits_with_less_memory == 0 && v[2].ran_fits_with_less_memory == 1 && v[2].too_large_found_with_less_memory == 2);
    arena_free(&a);
}

/* Errors of 5, -20 and 40 %, and one row that is not predicted; another metric and another role are groups of their
 * own. */
static void bytes_by_metric_and_role(void **state)
{
    const struct figure f[] = {
        figure("a", "r", "total_bytes", 100), figure("b", "s", "total_bytes", 100), figure("c", "t", "total_bytes", 100), figure("d", "u", "total_bytes", 100),
        figure("e", "r", "max_tile_bytes", 100), figure("f", "v", "total_bytes", 100), figure("g", "w", "fits", 1),
    };
    static const double errors[] = { 0.05, -0.2, 0.4, 0, 0.1, 0.3, 0 };
    struct check_row rows[7];
    struct arena a = {0};
    size_t n;
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        rows[i] = row_of(&f[i], i == 5 ? COUNTS_AS_CALIBRATE : COUNTS_AS_VALIDATE, true);
        rows[i].error = errors[i];
    }
    rows[3].has_simulated = false;
    const struct check c = { rows, 7 };
    const struct memory_bytes *b = memory_bytes_errors(&n, &c, &a);
    assert_int_equal(n, 3);
    assert_string_equal(b[0].metric, "total_bytes");
    assert_true(b[0].n_rows == 4 && b[0].n_predicted == 3 && b[0].n_within_10 == 1 && b[0].n_within_30 == 2);
    assert_near(b[0].median, 0.2, 1e-12);
    assert_near(b[0].mean, 0.65 / 3, 1e-12);
    assert_near(b[0].max, 0.4, 1e-12);
    assert_string_equal(b[0].worst, "c");
    assert_true(b[1].n_rows == 1 && b[1].n_within_10 == 1);
    assert_string_equal(b[2].counts_as, "calibrate");
    assert_true(b[2].n_rows == 1 && b[2].n_within_10 == 0 && b[2].n_within_30 == 1);
    arena_free(&a);
}

/* Two IPUs; the second is fuller: 3, 5, 7... bytes a region, code apart. */
static void categories_of_a_plan(void **state)
{
    struct machine m = { .chip = { .n_tiles = 11 } };
    struct topology topology = { .machine = &m };
    struct tile_memory memory[2] = { { .total_bytes = 1 } };
    uint64_t variables = 0;
    struct err err;
    double x;
    (void)state;
    for (int r = 0; r < N_MEMORY_CATEGORIES; r++) {
        memory[1].bytes[r] = 3 + 2 * (uint64_t)r;
        memory[1].total_bytes += memory[1].bytes[r];
    }
    for (int r = 0; r < N_MEMORY_CATEGORIES; r++)
        variables += strstr(memory_category_names[r], "code") || strstr(memory_category_names[r], "vertex") || strstr(memory_category_names[r], "stack") ? 0 : memory[1].bytes[r];
    const struct plan p = { .memory = memory, .topology = &topology, .worst_ipu = 1, .request.ipus_per_replica = 2 };
    assert_true(memory_of_plan(&x, &p, "max_tile_bytes", &err));
    assert_near(x, (double)memory[1].total_bytes, 0);
    assert_true(memory_of_plan(&x, &p, "ipu_0_max_tile_bytes", &err));
    assert_near(x, 1, 0);
    struct memory_need need;            /* weights to buffers are certain: 3 + 5 + 7 + 9 + 11 */
    assert_true(memory_of_tile(&need, &p, "ipu_1_max_tile_bytes") && need.certain_bytes == 35 && need.needed_bytes == memory[1].total_bytes);
    assert_false(memory_of_tile(&need, &p, "total_bytes"));
    memory[1].end_bytes = 7654;
    assert_true(memory_of_plan(&x, &p, "max_tile_including_gaps_bytes", &err));
    assert_near(x, 7654, 0);
    assert_true(memory_of_plan(&x, &p, "total_bytes", &err));
    assert_near(x, 11 * (double)memory[1].total_bytes, 0);
    assert_true(memory_of_plan(&x, &p, "variables_bytes", &err));
    assert_near(x, 11 * (double)variables, 0);
    assert_true(memory_of_plan(&x, &p, "weights_bytes", &err));
    assert_near(x, 11 * (double)memory[1].bytes[MEMORY_WEIGHTS], 0);
    assert_true(memory_of_plan(&x, &p, "optimizer_state_bytes", &err));
    assert_near(x, 11 * (double)memory[1].bytes[MEMORY_OPTIMIZER], 0);
    assert_false(memory_of_plan(&x, &p, "banana_peel_bytes", &err));
    assert_string_equal(err.msg, "the plan has no category 'banana peel'");
}

static const struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes", .data_dir = "workloads/convergence" };

static bool fits_at(struct simulator *s, const char *recipe, uint64_t micro_batch, bool with_less_memory)
{
    char set[64];
    const char *sets[] = { set };
    struct simulation sim;
    struct result r;
    struct err err;
    snprintf(set, sizeof set, "parallel.micro_batch=%llu", (unsigned long long)micro_batch);
    assert_true(simulator_run(s, &sim, &r, recipe, sets, 1, &err));
    bool fits = r.fits || (with_less_memory && r.smaller_available_memory);
    simulation_free(&sim);
    return fits;
}

/* The edge is from 90 to 96. */
static void assert_limit(const struct memory_limit *l, const char *recipe, bool with_less_memory, struct simulator *s)
{
    assert_true(fits_at(s, recipe, l->predicted, with_less_memory) && !fits_at(s, recipe, l->predicted + 1, with_less_memory));
    double want = l->predicted < 90 ? 90 / (double)l->predicted : l->predicted < 96 ? 1 : (double)l->predicted / 95;
    assert_near(l->factor, want, 1e-12);
}

/* A family is what differs in its batch alone: the program with Gelu in fp16 is another, which no failure bounds,
 * and has no edge. */
static void edges_of_families(void **state)
{
    static const char b90[] = "vendor-c600-resnet50-b90-uint8-poprt";
    struct figure f[] = {
        figure("a", b90, "fits", 1), figure("b", "vendor-c600-resnet50-b96-uint8-poprt", "fits", 0),
        figure("c", "vendor-c600-resnet50-b80-uint8-poprt", "fits", 1), figure("d", "vendor-c600-bert-base-sl256-fp16-b16-poprt", "fits", 1),
        figure("e", "vendor-c600-bert-base-sl256-fp16-gelu-b32-poprt", "fits", 0), figure("f", "kernel:triad", "fits", 0),
    };
    struct check_row rows[6];
    struct arena a = {0};
    struct err err = { "" };
    struct memory_edge *e;
    struct simulator s;
    size_t n;
    (void)state;
    f[5].kernel = kernel_of("triad;machine=gc200;n=3;type=fp16", &a);
    for (size_t i = 0; i < 6; i++)
        rows[i] = row_of(&f[i], i < 3 ? COUNTS_AS_VALIDATE : COUNTS_AS_CALIBRATE, true);
    const struct check c = { rows, 6 };
    simulator_open(&s, &paths);
    assert_true(memory_edges(&e, &n, &c, &s, &a, &err));
    assert_int_equal(n, 1);
    assert_string_equal(e->recipe, b90);
    assert_string_equal(e->counts_as, "validate");
    assert_true(e->fits == 90 && e->too_large == 96);
    assert_limit(&e->as_configured, b90, false, &s);
    assert_limit(&e->with_less_memory, b90, true, &s);
    assert_true(e->with_less_memory.predicted >= e->as_configured.predicted);
    simulator_close(&s);
    arena_free(&a);
}

/* Operands of 2 bytes: 1000 x 64, 64 x 20000 and 1000 x 20000 of the product, of which two exist twice if they lie in order; input and output, their
 * gradients and the weights of the layer, or of twelve side by side; 4 images of 9 x 9 x 16 that become 5 x 5 x 32 by 3 x 3 kernels. */
static void memory_of_kernels(void **state)
{
    static const struct { const char *text, *message; uint64_t operand_bytes; bool fits; } cases[] = {
        { "kernel:gemm;machine=gc200;m=1000;k=64;n=20000;type=fp16;partials=fp16", "", 2 * (64000 + 1280000 + 20000000), true },
        { "kernel:fc;machine=gc200;batch=128;in=768;out=3072;type=fp16;partials=fp16", "", 2 * (2 * 128 * (768 + 3072) + 768 * 3072), true },
        { "kernel:gemm;machine=gc200;m=1000;k=64;n=20000;type=fp16;partials=fp16;layout=linear", "", 2 * (2 * (64000 + 1280000) + 20000000), true },
        { "kernel:fc;machine=gc200;batch=128;in=64;out=96;groups=12;type=fp16;partials=fp16", "", 12 * 2 * (2 * 128 * (64 + 96) + 64 * 96), true },
        { "kernel:conv-layer;machine=gc200;batch=4;filter=3;input=9;in_chans=16;out_chans=32;stride=2;groups=1;type=fp16;partials=fp16", "",
          2 * (2 * 4 * (81 * 16 + 25 * 32) + 9 * 16 * 32), true },
        { "kernel:matmul;machine=gc200;m=20000;k=20000;n=20000;type=fp32;partials=fp32", "", 4 * 3 * 400000000ull, false },
        { "kernel:conv;machine=gc200;batch=1;filter=1;input=8;in_chans=16;out_chans=16;stride=1;groups=1;type=fp16;partials=fp16",
          "the memory of conv is not predicted", 0, false },
    };
    struct plan_cache cache = {0};
    struct arena a = {0};
    struct kernel_bench bench = { paths.specs_dir, &cache, NULL, &a };
    struct kernel_memory m;
    double x;
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool good = kernel_row_memory(&m, kernel_of(cases[i].text, &a), &bench, &err);
        assert_int_equal(good, !*cases[i].message);
        if (!good) {
            assert_string_equal(err.msg, cases[i].message);
            continue;
        }
        assert_int_equal(m.operand_bytes, cases[i].operand_bytes);
        assert_int_equal(m.fits, cases[i].fits);
        assert_true(m.temporary_bytes > 0 && m.code_bytes > 0);
        assert_int_equal(m.max_tile_bytes, (m.operand_bytes + 1471) / 1472 + m.tile_temporary_bytes + m.tile_code_bytes);
        assert_true(m.temporary_bytes <= 1472 * m.tile_temporary_bytes && m.code_bytes <= 3 * 1472 * m.tile_code_bytes);
    }
    /* Sums of 4 bytes for 20000 / 81 rows and 7 of the 125 groups of 8 columns, behind 638976 - 425984 bytes. PopLibs: 268344. */
    assert_true(kernel_row_memory(&m, kernel_of("kernel:gemm;machine=gc200;m=1000;k=64;n=20000;type=fp16;partials=fp32", &a), &bench, &err));
    assert_int_equal(m.interleaved_bytes, 4 * 247 * 56);
    assert_int_equal(m.max_tile_with_gaps_bytes, 212992 + 4 * 247 * 56);
    /* 3072 outputs / 23 tiles and 768 inputs / 8 of the weights, 128 rows / 8 and the same inputs, in halves, and their sums; nothing besides for the sums of
     * seven other tiles. PopLibs: 221592, and 63.13 MB in all. */
    assert_true(kernel_row_memory(&m, kernel_of("kernel:fc;machine=gc200;batch=128;in=768;out=3072;type=fp16;partials=fp32", &a), &bench, &err));
    assert_int_equal(m.tile_temporary_bytes, 2 * 134 * 96 + 2 * 16 * 96 + 4 * 134 * 16);
    assert_int_equal(m.max_tile_with_gaps_bytes, 212992 + 4 * 134 * 16);
    assert_near((double)(m.operand_bytes + m.temporary_bytes + m.code_bytes), 63.13e6, 0.02 * 63.13e6);
    assert_false(kernel_row_predict(&x, kernel_of(cases[1].text, &a), "cycles", &bench, &err));
    assert_non_null(strstr(err.msg, "only the memory of fc is predicted"));
    assert_false(kernel_row_predict(&x, kernel_of(cases[2].text, &a), "cycles", &bench, &err));
    assert_non_null(strstr(err.msg, "only the memory of a product with layout=linear is predicted"));
    plan_cache_free(&cache);
    arena_free(&a);
}

/* A kernel's row of memory is compared with bytes, not with a time. */
static void rows_of_kernels(void **state)
{
    static const char text[] = "kernel:gemm;machine=gc200;m=1000;k=64;n=20000;type=fp16;partials=fp32";
    struct figure f[] = { figure("a", text, "total_bytes", 183780128), figure("b", text, "total_bytes", 1e6),
                          figure("c", text, "max_tile_including_gaps_bytes", 268344), figure("d", text, "fits", 1) };
    const struct figures list = { .items = f, .n = 4 };
    struct simulator s;
    simulator_open(&s, &paths);
    struct check_source from = { .simulator = &s };
    struct kernel_memory m;
    struct arena a = {0};
    struct check c;
    struct err err;
    (void)state;
    for (size_t i = 0; i < 4; i++)
        f[i].kernel = kernel_of(text, &a);
    assert_true(kernel_row_memory(&m, f[0].kernel, &(struct kernel_bench){ paths.specs_dir, s.plans, NULL, &a }, &err) && check_build(&c, &list, &from, &a, &err));
    double counted = (double)(m.temporary_bytes + m.code_bytes);
    assert_near(c.rows[0].simulated, (double)m.operand_bytes + counted, 0);
    assert_near(c.rows[2].simulated, 268344, 200);
    assert_true(c.rows[3].simulated == 1 && c.rows[3].fits_probability == m.fits_probability && m.fits_probability > 0.99);
    simulator_close(&s);
    arena_free(&a);
}

/* Chances of 0.1 and 0.15 in one fifth, 1 in the last; one of each two configurations ran. */
static void chances_by_fifths(void **state)
{
    static const double chances[] = { 0.1, 0.15, 1, 0.1, 1 };
    const struct figure f[] = { figure("a", "r", "fits", 1), figure("b", "s", "fits", 0), figure("c", "t", "fits", 1), figure("d", "r", "fits", 1), figure("e", "u", "fits", 0) };
    struct check_row rows[5];
    struct arena a = {0};
    size_t n;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        rows[i] = row_of(&f[i], COUNTS_AS_CALIBRATE, true);
        rows[i].fits_probability = chances[i];
    }
    const struct check c = { rows, 5 };
    const struct chance_bin *x = memory_chances(&n, &c, false, &a);
    assert_int_equal(n, 2);
    assert_true(x[0].from == 0 && x[0].to == 0.2 && x[0].n == 2 && x[0].n_true == 1);
    assert_near(x[0].expected, 0.25, 1e-12);
    assert_true(x[1].from == 0.8 && x[1].n == 2 && x[1].n_true == 1 && x[1].expected == 2);
    arena_free(&a);
}

/* Two of the three verdicts that are 50 to 60 % sure are wrong, and so is one of the two that are 90 % sure or more. Each group names its surest
 * wrong verdict. */
static void verdicts_by_sureness(void **state)
{
    static const struct { double chance; bool fits; } said[] = { { 0.55, true }, { 0.42, false }, { 0.47, false }, { 0.03, false }, { 0.99, true } };
    const struct figure f[] = { figure("a", "r", "fits", 1), figure("b", "s", "fits", 1), figure("c", "t", "fits", 1), figure("d", "u", "fits", 1), figure("e", "v", "fits", 1) };
    struct check_row rows[5];
    struct arena a = {0};
    size_t n;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        rows[i] = row_of(&f[i], COUNTS_AS_VALIDATE, said[i].fits);
        rows[i].fits_probability = said[i].chance;
    }
    const struct check c = { rows, 5 };
    const struct chance_bin *x = memory_chances(&n, &c, true, &a);
    assert_int_equal(n, 2);
    assert_true(x[0].from == 0.5 && x[0].to == 0.6 && x[0].n == 3 && x[0].n_true == 1);
    assert_near(x[0].expected, 0.55 + 0.58 + 0.53, 1e-12);
    assert_string_equal(x[0].surest_wrong, f[1].configuration);
    assert_near(x[0].surest, 0.58, 1e-12);
    assert_true(x[1].from == 0.9 && x[1].n == 2 && x[1].n_true == 1 && text_is(x[1].surest_wrong, f[3].configuration));
    assert_near(x[1].expected, 0.97 + 0.99, 1e-12);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(verdicts_by_evidence), cmocka_unit_test(bytes_by_metric_and_role), cmocka_unit_test(categories_of_a_plan),
    cmocka_unit_test(edges_of_families), cmocka_unit_test(memory_of_kernels), cmocka_unit_test(rows_of_kernels), cmocka_unit_test(chances_by_fifths), cmocka_unit_test(verdicts_by_sureness),
};
TAP_MAIN(tests)
