/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_results.c - the table of published results: rows of a made-up tree by hand, the cache, energy, the table read back,
 * the page.
 */
#include "tests/check.h"
#include "results/rounds/round_results.h"
#include "tests/test_folder.h"
#include <jansson.h>

/* ---- a tree: one submitter, ResNet-50 in the open division of v2.0, on 7 and on 2 x 21 accelerators ------------ */

static void put(FILE *f, int64_t ms, const char *key, const char *value, const char *metadata)
{
    struct mllog_entry e = { "", key, MLLOG_POINT, ms, value, "t.py", 3, metadata };
    mllog_write(f, &e);
}

static const int64_t day_ms = INT64_C(1650000000000);        /* 2022-04-15 */

/* A run of so many seconds, with an epoch of 1300 samples in a quarter of it. */
static void write_run(const char *dir, int i, int64_t seconds)
{
    char path[300];
    int64_t start = day_ms + 9000;
    snprintf(path, sizeof path, "%s/result_%d.txt", dir, i);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    put(f, day_ms, "submission_benchmark", "\"resnet\"", NULL);
    put(f, day_ms, "submission_division", "\"open\"", NULL);
    put(f, day_ms, "submission_org", "\"Somebody\"", NULL);
    put(f, day_ms, "submission_platform", "\"toy\"", NULL);
    put(f, day_ms, "submission_status", "\"onprem\"", NULL);
    put(f, day_ms, "cache_clear", "true", NULL);
    put(f, day_ms, "global_batch_size", "13", NULL);
    put(f, day_ms, "train_samples", "1300", NULL);
    put(f, day_ms, "eval_samples", "7", NULL);
    put(f, day_ms + 1000, "init_start", NULL, NULL);
    put(f, day_ms + 8000, "init_stop", NULL, NULL);
    put(f, start, "run_start", NULL, NULL);
    put(f, start + seconds * 250, "epoch_start", NULL, "\"epoch_num\": 1");
    put(f, start + seconds * 500, "epoch_stop", NULL, "\"epoch_num\": 1");
    put(f, start + seconds * 500, "eval_start", NULL, "\"epoch_num\": 1");
    put(f, start + seconds * 600, "eval_accuracy", "0.8", "\"epoch_num\": 1");
    put(f, start + seconds * 600, "eval_stop", NULL, "\"epoch_num\": 1");
    put(f, start + seconds * 1000, "run_stop", NULL, "\"status\": \"success\"");
    fclose(f);
}

static const char *write_system(const char *system, const char *nodes, const char *per_node, int64_t seconds, struct arena *a)
{
    const char *dir = arena_printf(a, "%s/v2.0/open/Somebody/%s/resnet", top, system);
    assert_true(make_folders(dir, NULL));
    FILE *f = fopen(arena_printf(a, "%s/../%s.json", dir, system), "w");
    assert_non_null(f);
    fprintf(f, "{\"number_of_nodes\": \"%s\", \"accelerators_per_node\": \"%s\", \"accelerator_model_name\": \"NVIDIA A100-SXM4-80GB (400W)\","
               " \"framework\": \"toy 1.0\", \"status\": \"onprem\", \"host_processors_per_node\": 3, \"host_processor_model_name\": \"Toy CPU\"}\n",
            nodes, per_node);
    fclose(f);
    for (int i = 0; i < 5; i++)
        write_run(dir, i, seconds + 12 * i);
    return dir;
}

static void no_notice(void *user, const char *path, const char *text)
{
    (void)user, (void)path, (void)text;
}

static struct round_results read_top(struct rounds_counts *counts, const char *cache, uint32_t n_threads, struct arena *a)
{
    struct round_results r = {0};
    struct err err = { "" };
    const char *dirs[] = { arena_printf(a, "%s/v2.0", top) };
    struct rounds_request q = { .data_dir = "workloads/convergence", .cache_dir = cache, .program_hash = "7", .n_threads = n_threads, .notice = no_notice };
    if (!rounds_read(&r, counts, dirs, 1, &q, a, &err))
        print_error("%s\n", err.msg);
    assert_string_equal(err.msg, "");
    return r;
}

/* Scores: mean of 72, 84 and 96 s of 60 to 108 s; 36, 48 and 60 s of 24 to 72 s. Throughput: 1300 samples in a quarter
 * of the median run, 84 and 48 s. Efficiency: (1300 / 12 / 42) / (1300 / 21 / 7) = 21 * 7 / (12 * 42). */
static void test_rows_by_hand(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rounds_counts counts;
    write_system("small", "1", "7 (all)", 60, &a);
    write_system("large", "2", "21", 24, &a);
    struct round_results r = read_top(&counts, NULL, 2, &a);
    assert_int_equal(r.n, 2);
    const struct round_result *small = &r.items[0], *large = &r.items[1];
    assert_string_equal(small->system, "small");
    assert_string_equal(small->date, "2022-04-15");
    assert_string_equal(small->vendor, "NVIDIA");
    assert_string_equal(small->framework, "toy 1.0");
    assert_near(small->accelerators, 7, 0);
    assert_near(large->accelerators, 42, 0);
    assert_near(small->minutes, 84 / 60.0, 1e-12);
    assert_near(large->minutes, 48 / 60.0, 1e-12);
    assert_near(small->samples_per_s, 1300 / 21.0, 1e-9);
    assert_near(large->samples_per_s, 1300 / 12.0, 1e-9);
    assert_near(small->scaling_efficiency, 1, 0);
    assert_near(large->scaling_efficiency, 21.0 * 7 / (12 * 42), 1e-12);
    assert_near(large->time_efficiency, 84.0 * 7 / (48 * 42), 1e-12);
    assert_string_equal(large->smallest_system, "small");
    assert_near(large->converged_at, 1, 0);
    assert_near(large->samples_to_target, 1300, 0);
    assert_true(isnan(large->energy_j));
    arena_free(&a);
}

/* A system without accelerators counts its processors. */
static void test_processors(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rounds_counts counts;
    write_system("cpu", "5", "0", 60, &a);
    struct round_results r = read_top(&counts, NULL, 1, &a);
    assert_near(r.items[0].accelerators, 15, 0);
    assert_string_equal(r.items[0].accelerator, "Toy CPU");
    assert_string_equal(r.items[0].vendor, "");
    /* nor does one have them that states no number and names none */
    static const char *const names[] = { "", "N/A", "None", "-", "Accelerator" };
    const char *dir = write_system("cpu", "5", "", 60, &a);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(system(arena_printf(&a, "sed -i 's,\\(accelerator_model_name\": \"\\)[^\"]*,\\1%s,' '%s/../cpu.json'", names[i], dir)), 0);
        r = read_top(&counts, NULL, 1, &a);
        assert_true(i < 4 ? r.items[0].accelerators == 15 : isnan(r.items[0].accelerators));
        assert_string_equal(r.items[0].accelerator, i < 4 ? "Toy CPU" : "Accelerator");
    }
    arena_free(&a);
}

/* ---- the cache ------------------------------------------------------------------------------------------------------ */

static char *as_csv(const struct round_results *r)
{
    char *text;
    PRINTED(text, round_results_write(f, FORMAT_CSV, r));
    return text;
}

static void test_cache(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rounds_counts counts;
    const char *dir = write_system("small", "1", "7", 60, &a), *cache = arena_printf(&a, "%s/cache", top);
    write_system("large", "2", "21", 24, &a);
    assert_true(make_folders(cache, NULL));
    struct round_results r = read_top(&counts, cache, 2, &a);
    char *fresh = as_csv(&r);
    assert_int_equal(counts.cached, 0);
    r = read_top(&counts, cache, 1, &a);
    char *cached = as_csv(&r);
    assert_int_equal(counts.cached, 2);
    assert_string_equal(cached, fresh);
    for (int bit = 0; bit < 8; bit++) { /* a spoilt file is read anew: one bit in each eighth of each */
        char command[300];
        snprintf(command, sizeof command, "for f in '%s'/*.csv; do n=$(($(wc -c <\"$f\") * %d / 8)); printf \"$(printf '\\\\%%03o' $(( $(od -An -tu1 -j$n -N1 \"$f\") ^ (1 << %d) )))\" |"
                 " dd of=\"$f\" bs=1 seek=$n conv=notrunc 2>/dev/null; done", cache, bit, bit);
        assert_int_equal(system(command), 0);
        r = read_top(&counts, cache, 1, &a);
        char *again = as_csv(&r);
        assert_int_equal(counts.cached, 0);
        assert_string_equal(again, fresh);
        free(again);
    }
    char command[300];                  /* nor is a whole file of another folder taken for one's own */
    snprintf(command, sizeof command, "cd '%s' && set -- *.csv && mv $1 x && mv $2 $1 && mv x $2", cache);
    assert_int_equal(system(command), 0);
    r = read_top(&counts, cache, 1, &a);
    char *exchanged = as_csv(&r);
    assert_int_equal(counts.cached, 0);
    assert_string_equal(exchanged, fresh);
    free(exchanged);
    write_run(dir, 2, 85);              /* the third of five: the mean of 72, 85 and 96 s */
    r = read_top(&counts, cache, 1, &a);
    assert_int_equal(counts.cached, 1);
    assert_near(r.items[0].minutes, (72 + 85 + 96) / 180.0, 1e-12);
    free(fresh), free(cached);
    arena_free(&a);
}

/* ---- energy: two nodes of 3 readings, a switch of which only an estimate is known --------------------------------- */

static void write_power(const char *path, double conversion, const double *watts, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    char text[40];
    snprintf(text, sizeof text, "%g", conversion);
    put(f, day_ms, "conversion_eff", text, NULL);
    put(f, day_ms + 500, "power_measurement_start", NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%g", watts[i]);
        put(f, day_ms + 500 + 1000 * (int64_t)(i + 1), "power_reading", text, NULL);
    }
    put(f, day_ms + 500 + 1000 * (int64_t)n, "power_measurement_stop", NULL, NULL);
    fclose(f);
}

/* In run i: node 0 reads 700, 800 and 900 + 30 i W for 3 s at a conversion of 1.1, node 1 reads 500 W at 1, the switch
 * is estimated at 40 W; each counts for the whole run. Scored runs: 1, 2 and 3, of 72, 84 and 96 s. */
static void test_energy(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rounds_counts counts;
    const char *dir = write_system("small", "1", "7", 60, &a);
    double joules = 0;
    for (int i = 0; i < 5; i++) {
        const char *power = arena_printf(&a, "%s/power/result_%d", dir, i);
        double last = 900 + 30.0 * i, seconds = 60 + 12.0 * i;
        assert_true(make_folders(power, NULL));
        write_power(arena_printf(&a, "%s/node_0.txt", power), 1.1, (double[]){ 700, 800, last }, 3);
        write_power(arena_printf(&a, "%s/node_1.txt", power), 1, (double[]){ 500, 500 }, 2);
        FILE *f = fopen(arena_printf(&a, "%s/sw_0.txt", power), "w");
        put(f, day_ms, "interconnect_power_est", "40", NULL);
        fclose(f);
        if (i >= 1 && i <= 3)
            joules += seconds * (1.1 * (700 + 800 + last) / 3 + 500 + 40) / 3;
    }
    struct round_results r = read_top(&counts, NULL, 1, &a);
    assert_near(r.items[0].energy_j, joules, 1e-6);
    assert_int_equal(unlink(arena_printf(&a, "%s/power/result_2/node_0.txt", dir)), 0);
    assert_int_equal(unlink(arena_printf(&a, "%s/power/result_2/node_1.txt", dir)), 0);
    assert_int_equal(unlink(arena_printf(&a, "%s/power/result_2/sw_0.txt", dir)), 0);
    r = read_top(&counts, NULL, 1, &a);
    assert_true(isnan(r.items[0].energy_j));        /* a scored run without its logs */
    arena_free(&a);
}

/* ---- the table read back, and the page ------------------------------------------------------------------------------- */

static void test_read_back(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rounds_counts counts;
    struct err err = { "" };
    write_system("small", "1", "7", 60, &a);
    struct round_results r = read_top(&counts, NULL, 1, &a), again = {0};
    char *text = as_csv(&r);
    assert_true(round_results_load(&again, temp_file(text, strlen(text), ".csv"), &a, &err));
    char *back = as_csv(&again);
    assert_string_equal(back, text);
    static const char odd[] = "round,submitter,system,benchmark,minutes,samples_per_s\nv2.0,S,x,bert,slow,1\n";
    assert_false(round_results_load(&again, temp_file(odd, strlen(odd), ".csv"), &a, &err));
    assert_non_null(strstr(err.msg, ":2: minutes: 'slow' is not a number"));
    free(text), free(back);
    arena_free(&a);
}

/* The JSON in the page is JSON, and names the folder of the logs relative to the page. */
static void test_page(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rounds_counts counts;
    struct err err = { "" };
    char *page;
    write_system("a<b", "1", "7", 60, &a);
    struct round_results r = read_top(&counts, NULL, 1, &a);
    assert_true(make_folders(arena_printf(&a, "%s/pages/of", top), NULL));
    PRINTED(page, assert_true(rounds_page_write(f, &r, arena_printf(&a, "%s/pages/of/x.html", top), "plots", "workloads/convergence", &a, &err)));
    char *rows = strstr(page, "id=\"rows\">") + strlen("id=\"rows\">"), *end = strstr(rows, "</script>");
    json_t *doc = json_loadb(rows, (size_t)(end - rows), 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json_array_get(doc, 0), "link")), "../../v2.0/open/Somebody/a<b/resnet");
    assert_non_null(strstr(page, "\"round\":\"v2.1\""));        /* the reference points of all rounds */
    json_decref(doc);
    free(page);
    arena_free(&a);
}

static void test_accelerators(void **state)
{
    (void)state;
    struct arena a = {0};
    struct accelerator_table t;
    struct err err = { "" };
    static const struct { const char *name, *model; } names[] = {
        { "NVIDIA A100-SXM4-40GB (400W)", "A100 SXM 40 GB" }, { "NVIDIA A100-SXM-80GB", "A100 SXM 80 GB" }, { "NVIDIA A100-PCIe-80GB", "A100 PCIe 80 GB" },
        { "NVIDIA Blackwell GPU (GB200)", "GB200" }, { "Intel(R) Gaudi(R) 2 AI Accelerator", "Gaudi 2" }, { "TPU-v5p", "TPU v5p" },
        { "Graphcore IPU GC200", "GC200" }, { "NVIDIA H100-PCIe-80GB", "H100 PCIe" }, { "TPU tpu-v4-128-JAX", "TPU v4" },
    };
    assert_true(accelerators_load(&t, "workloads/convergence", &a, &err));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(accelerator_find(&t, names[i].name)->model, names[i].model);
    assert_null(accelerator_find(&t, "Toy CPU"));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
        IN_FOLDER(test_rows_by_hand), IN_FOLDER(test_processors), IN_FOLDER(test_cache), IN_FOLDER(test_energy), IN_FOLDER(test_read_back),
        IN_FOLDER(test_page),
        cmocka_unit_test(test_accelerators),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
