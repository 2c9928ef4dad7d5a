/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_results.c - a result as text, CSV, JSON and answer, its provenance, and its breakdown. */
#include "system-model/output/output.h"
#include "tests/golden_text.h"
#include "tests/simulated.h"
#include "results/simulate/simulate.h"
#include <jansson.h>

/* Every column of a row with odd values as text, and again after reading back its CSV. */
static void a_result_as_text_and_back(void **state)
{
    struct arena a = {0};
    struct err err = { "" };
    struct results back = {0};
    struct result r = { .id = "x", .workload = "w", .system = "s", .ipus = 7, .global_batch = 33, .throughput_samples_per_s = 1320.5, .step_time_s = 0.025,
                        .latency_s = 0.0035, .samples_to_converge = 1.25e6, .train_time_s = 900, .eval_time_s = 30.5, .startup_time_s = 4, .tail_time_s = 3, .scaling_time_s = 12.5,
                        .evaluation_time_s = 2.75, .time_to_train_s = 950, .predicted_samples_to_converge = 1.5e6, .predicted_time_to_train_s = 1111,
                        .fits = true, .memory_peak_bytes_per_tile = 456789, .mfu = 0.31, .hfu = 0.37, .energy_per_step_j = 12.5, .energy_j = 468750,
                        .cost_per_step = 0.001, .cost_to_train = 37.5, .fault_cost_s = 0.0005, .version = "v", .overrides = "", .inputs = "" };
    char *text, *csv;
    (void)state;
    r.breakdown_s[PART_MATMUL] = 0.02;
    r.breakdown_s[PART_HOST] = 0.005;
    DOCUMENTED(text, result_document(d, &r));
    assert_golden(text, "tests/golden/result_text.txt", &a);
    free(text);
    const char *expected = "fits fits_probability fits_probability_counted mfu hfu throughput_samples_per_s logged_samples_per_s throughput_tokens_per_s";       /* higher is better; lower: times, energy, cost, memory */
    char *columns = arena_strdup(&a, result_columns(&a)), *column;
    while ((column = strsep(&columns, ",\n")) && *column) {
        bool better = strstr(expected, column) != NULL, neutral = strstr("id workload system ipus global_batch fits_published smaller_available_memory version overrides inputs guess", column) != NULL;
        if (result_column_better(column) != (better ? HIGHER : neutral ? NEITHER : LOWER))
            print_error("%s\n", column);
        assert_int_equal(result_column_better(column), better ? HIGHER : neutral ? NEITHER : LOWER);
    }
    assert_true(result_column_is_provenance("version") && result_column_is_provenance("inputs") && result_column_is_provenance("overrides") && result_column_is_provenance("guess"));
    assert_false(result_column_is_provenance("id") || result_column_is_provenance("fault_cost_s"));
    PRINTED(csv, (result_write_csv(f, NULL), result_write_csv(f, &r)));
    const char *path = temp_file(csv, strlen(csv), ".csv");
    assert_true(results_load(&back, path, &a, &err));
    unlink(path);
    free(csv);
    assert_int_equal(back.n, 1);
    DOCUMENTED(text, result_document(d, &back.items[0]));
    assert_golden(text, "tests/golden/result_text.txt", &a);
    free(text);
    arena_free(&a);
}

static const char *groups_json(const struct result *r, const char *group, struct arena *a)
{
    json_t *object = json_object();
    result_json_add_groups(object, r);
    char *text = json_dumps(json_object_get(object, group), JSON_REAL_PRECISION(6));
    const char *kept = arena_strdup(a, text);
    free(text);
    json_decref(object);
    return kept;
}

/* The lines of the answer for odd values: a 0 is left out, 30 of 930 s are MLPerf's scaling, and a prediction is shown
 * if it differs. */
static void lines_of_an_answer(void **state)
{
    static const struct { enum metric_group group; struct result r; const char *want; } cases[] = {
        { METRICS_SETUP, { .id = "x" }, "" }, { METRICS_TRAINING, { .samples_to_converge = 7 }, "" },
        { METRICS_SPEED, { .throughput_samples_per_s = 1320.5, .step_time_s = 0.025, .global_batch = 33 }, "throughput: 1320 samples/s, 25.00 ms per step of 33 samples" },
        { METRICS_SPEED, { .throughput_samples_per_s = 1320.5, .step_time_s = 0.025, .global_batch = 33, .latency_s = 0.0035 },
          "throughput: 1320 samples/s, 25.00 ms per step of 33 samples, 3.500 ms from input to result" },
        { METRICS_TRAINING, { .time_to_train_s = 930, .samples_to_converge = 1.5e6, .predicted_time_to_train_s = 930, .predicted_samples_to_converge = 1.5e6 },
          "time to train: 15.50 min for 1500000 samples" },
        { METRICS_TRAINING, { .time_to_train_s = 930, .samples_to_converge = 1.5e6, .scaling_time_s = 30, .predicted_time_to_train_s = 993,
                              .predicted_samples_to_converge = 1234567 },
          "time to train: 15.50 min for 1500000 samples, 0.5000 min of it MLPerf's scaling to its reference; 16.55 min for the 1234567 predicted from the batch size" },
        { METRICS_ENERGY, { .energy_per_step_j = 12.5, .energy_per_sample_j = 12.5 / 33, .mean_power_w = 500, .energy_counts = "boards", .energy_file = "box.csv",
                            .energy_line = 7, .energy_note = "" }, "energy: 12.50 J per step, 378.8 mJ per sample, 500.0 W of boards (modelled, box.csv:7)" },
        { METRICS_ENERGY, { .energy_per_step_j = 12.5, .energy_per_sample_j = 12.5, .mean_power_w = 500, .energy_counts = "chips", .energy_file = "box.csv",
                            .energy_line = 7, .energy_note = "perhaps" }, "energy: 12.50 J per step, 12.50 J per sample, 500.0 W of chips (modelled, box.csv:7, perhaps)" },
        { METRICS_ENERGY, { .energy_missing = "no sheet says" }, "energy: not known: no sheet says" },
        { METRICS_MONEY, { .cost_missing = "no price" }, "" }, { METRICS_MONEY, { .cost_per_million_samples = 30.303 }, "money: 30.3 per million samples" },
        { METRICS_MONEY, { .cost_per_million_samples = 30.303, .cost_to_train = 0.5 }, "money: 30.3 per million samples, 0.5 to train" },
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *line = result_line(cases[i].group, &cases[i].r, 0, &a);
        assert_string_equal(line ? line : "", cases[i].want);
    }
    /* An interval of 5 % to either side leaves three or four digits. */
    assert_string_equal(result_line(METRICS_SPEED, &cases[2].r, 0.05, &a), "throughput: 1320 samples/s, 25.0 ms per step of 33 samples");
    arena_free(&a);
}

/* An unknown value is null; an object that says why it is missing says nothing more. */
static void energy_and_money_as_json(void **state)
{
    const struct result r = { .energy_modelled = true, .energy_per_step_j = 12.5, .energy_per_sample_j = 0.378788, .energy_j = 0.5, .mean_power_w = 500,
                              .power_at_work_w = 600, .power_waiting_w = 0.7, .energy_counts = "boards", .energy_source = "measured", .energy_file = "box.csv",
                              .energy_line = 7, .energy_note = "", .cost_per_step = 0.001, .cost_per_million_samples = 30.303 },
        none = { .energy_modelled = true, .energy_missing = "no sheet says", .cost_missing = "no price" };
    struct arena a = {0};
    (void)state;
    assert_string_equal(groups_json(&r, "energy", &a), "{\"modelled\": true, \"missing\": null, \"per_step_j\": 12.5, \"per_sample_j\": 0.378788, "
        "\"to_train_j\": 0.5, \"ipu_power_w\": null, \"ipu_power_error_w\": null, \"mean_power_w\": 500.0, \"site_per_step_j\": null, \"site_to_train_j\": null, "
        "\"idle_j\": null, \"running_j\": null, \"products_j\": null, \"vector_j\": null, \"exchange_j\": null, \"links_j\": null, \"boards_j\": null, "
        "\"hosts_j\": null, \"cooling_j\": null, \"carbon_per_step_g\": null, \"carbon_to_train_kg\": null, \"power_at_work_w\": 600.0, \"power_waiting_w\": 0.7, \"power_cap_w\": null, "
        "\"counts\": \"boards\", \"source\": \"measured\", \"file\": \"box.csv\", \"line\": 7, \"note\": \"\"}");
    assert_string_equal(groups_json(&r, "money", &a), "{\"missing\": null, \"per_step\": 0.001, \"per_million_samples\": 30.303, \"energy_per_step\": null, \"energy_to_train\": null, \"to_train\": null}");
    assert_string_equal(groups_json(&none, "energy", &a), "{\"modelled\": true, \"missing\": \"no sheet says\"}");
    assert_string_equal(groups_json(&none, "money", &a), "{\"missing\": \"no price\"}");
    arena_free(&a);
}

/* A header and a row, with one cell of the row changed, or with the column left out if there is no text for it. */
static const char *rows_with(const char *csv, const char *column, const char *text, struct arena *a)
{
    char *header = arena_strdup(a, csv), *row = strchr(header, '\n') + 1, *name, *cell;
    const char *names = "", *cells = "";
    row[-1] = *strchr(row, '\n') = '\0';
    while ((name = strsep(&header, ",")) && (cell = strsep(&row, ","))) {
        bool is_it = text_is(name, column);
        if (is_it && !text)
            continue;
        names = arena_printf(a, "%s%s%s", names, *names ? "," : "", name);
        cells = arena_printf(a, "%s%s%s", cells, *cells ? "," : "", is_it ? text : cell);
    }
    return arena_printf(a, "%s\n%s\n", names, cells);
}

/* Rows of an older version may lack columns that may be unknown. All other columns are required, and their numbers must
 * be numbers. */
static void results_of_other_versions(void **state)
{
    static const struct { const char *column, *text, *want; } cases[] = {
        { "latency_s", NULL, NULL }, { "evaluation_time_s", NULL, NULL }, { "version", NULL, NULL }, { "latency_s", "", NULL },
        { "ipus", NULL, "no column 'ipus'" }, { "fits", NULL, "no column 'fits'" }, { "breakdown_conv_s", NULL, "no column 'breakdown_conv_s'" },
        { "breakdown_matmul_s", "x", ":2: breakdown_matmul_s: 'x' is not a number" }, { "ipus", "x", ":2: ipus: 'x' " }, { "mfu", "", ":2: mfu: '' " },
        { "fits", "maybe", ":2: fits: 'maybe' " }, { "step_time_s", "-1", ":2: step_time_s: -1 " },
    };
    struct result r = { .id = "x", .workload = "w", .system = "s", .ipus = 7, .global_batch = 33, .throughput_samples_per_s = 1320.5, .step_time_s = 0.025,
                        .latency_s = 0.0035, .fits = true, .mfu = 0.31, .hfu = 0.37, .version = "v", .overrides = "o", .inputs = "i" };
    char *csv;
    (void)state;
    PRINTED(csv, (result_write_csv(f, NULL), result_write_csv(f, &r)));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err err = { "" };
        struct results back = {0};
        const char *text = rows_with(csv, cases[i].column, cases[i].text, &a), *path = temp_file(text, strlen(text), ".csv");
        bool good = results_load(&back, path, &a, &err);
        if (cases[i].want ? !strstr(err.msg, cases[i].want) : !good)
            print_error("%s: %s\n", cases[i].column, err.msg);
        assert_true(good == !cases[i].want && (good || strstr(err.msg, cases[i].want)));
        if (good)
            assert_true(back.items[0].latency_s == (text_is(cases[i].column, "latency_s") ? 0 : 0.0035) && back.items[0].mfu == 0.31 && text_is(back.items[0].inputs, "i"));
        unlink(path);
        arena_free(&a);
    }
    free(csv);
}

/* A name that appears a second time is refused at that row, and an earlier load does not matter. */
static void rows_have_names_of_their_own(void **state)
{
    static const char *const names[] = { "a", "b", "c", "b", "d" };
    (void)state;
    struct arena a = {0};
    struct results back = {0};
    for (int reads = 0; reads < 2; reads++) {
        char *csv;
        PRINTED(csv, {
            result_write_csv(f, NULL);
            for (size_t i = reads ? 0 : 1; i < (reads ? 5 : 3); i++)
                result_write_csv(f, &(struct result){ .id = names[i], .workload = "w", .system = "s", .ipus = 7, .global_batch = 33,
                                                      .throughput_samples_per_s = 1, .step_time_s = 1, .version = "v", .overrides = "", .inputs = "i" });
        });
        struct err err = { "" };
        const char *path = temp_file(csv, strlen(csv), ".csv");
        assert_int_equal(results_load(&back, path, &a, &err), !reads);
        unlink(path);
        free(csv);
        assert_true(reads || (back.n == 2 && text_is(back.items[1].id, "c")));
        assert_non_null(strstr(err.msg, reads ? ".csv:5: id: b appears twice" : ""));
    }
    arena_free(&a);
}

static const char *inputs_of(struct simulation *sim)
{
    static const char *const overrides[] = { "a.b=1", "c.d=2", "e.f=3" };
    struct result r;
    result_provenance(&r, sim, overrides, 3);
    assert_string_equal(r.overrides, "a.b=1; c.d=2; e.f=3");
    return r.inputs;
}

static void assert_counts(struct simulation *sim, const char **text, const char *before, bool counts)
{
    const char *own = *text;
    *text = "another";
    if (text_is(inputs_of(sim), before) == counts)
        print_error("%s\n", own);
    assert_true(text_is(inputs_of(sim), before) != counts);
    *text = own;
}

/* The hash covers every entry of the recipe and every row of every sheet, except names. */
static void what_was_read_is_hashed(void **state)
{
    struct simulation sim;
    struct result r;
    struct plan_cache cache = {0};
    const struct sheet *sheets[MAX_SHEETS];
    (void)state;
    run_with(&sim, &r, "mlperf-v2.0-closed-bow-pod16-bert-large", (struct texts){ { NULL }, 0 }, &paths, &cache);
    const char *before = inputs_of(&sim);
    assert_string_equal(inputs_of(&sim), before);
    for (size_t i = 0; i < sim.recipe.n_entries; i++) {
        struct ini_entry *e = (struct ini_entry *)&sim.recipe.entries[i];
        bool names = text_is(e->section, "recipe") && (text_is(e->key, "id") || text_is(e->key, "source") || text_is(e->key, "system"));
        assert_counts(&sim, &e->value, before, !names);
        assert_counts(&sim, &e->key, before, true);
        assert_counts(&sim, &e->section, before, true);
    }
    size_t n = simulation_sheets(sheets, &sim);
    assert_true(n > 4);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sheets[i]->n_rows; k++) {
            struct sheet_row *row = &sheets[i]->rows[k];
            assert_counts(&sim, &row->value, before, !text_is(row->key, "chip") && !text_is(row->key, "board"));
            assert_counts(&sim, &row->key, before, true);
        }
    simulation_free(&sim);
    plan_cache_free(&cache);
}

/* The breakdown is the mean over all IPUs, for pipelines, whose IPUs differ, and for rows that represent several IPUs. */
static void a_breakdown_is_the_mean_of_all_rows(void **state)
{
    static const struct { const char *recipe; struct texts sets; } cases[] = {
        { "vendor-ipu-pod16-resnet50-pipelined", { { NULL }, 0 } }, { "mlperf-v1.1-closed-ipu-pod16-resnet50", { { "faults.chip=3 1.5" }, 1 } },
    };
    struct plan_cache cache = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulation sim;
        struct result r;
        run_with(&sim, &r, cases[i].recipe, cases[i].sets, &paths, &cache);
        assert_true(sim.timeline.n_rows > 1);
        for (int k = 0; k < N_PARTS; k++) {
            double sum = 0, n = 0;
            for (uint32_t row = sim.timeline.n_rows; row-- > 0;) {
                sum += (double)sim.timeline.rows[row].spent.part[k] * sim.timeline.rows[row].n_alike;
                n += sim.timeline.rows[row].n_alike;
            }
            assert_near(r.breakdown_s[k], sum / n / sim.machine->chip.clock_hz, 1e-12 * r.step_time_s);
        }
        simulation_free(&sim);
    }
    plan_cache_free(&cache);
}

/* Sorted by size, whatever the sign; of equal parts the first in the enum comes first. */
static void parts_from_the_largest(void **state)
{
    double values[N_PARTS] = {0};
    enum part parts[N_PARTS];
    (void)state;
    values[N_PARTS - 1] = -7, values[2] = 3, values[5] = -5, values[0] = 1, values[4] = 5;
    parts_by_size(parts, values);
    const int want[] = { N_PARTS - 1, 4, 5, 2, 0, 1, 3, 6 };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(parts[i], want[i]);
    for (int i = 8; i < N_PARTS; i++)
        assert_int_equal(parts[i], i - 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_have_names_of_their_own), cmocka_unit_test(a_result_as_text_and_back), cmocka_unit_test(lines_of_an_answer),
    cmocka_unit_test(energy_and_money_as_json),
    cmocka_unit_test(results_of_other_versions), cmocka_unit_test(parts_from_the_largest),
    cmocka_unit_test(a_breakdown_is_the_mean_of_all_rows), cmocka_unit_test(what_was_read_is_hashed),
};
TAP_MAIN(tests)
