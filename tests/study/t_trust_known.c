/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_trust_known.c - the values of machines that published runs had, and those that none had. */
#include "tests/check.h"
#include "tests/golden_text.h"
#include "tests/model_paths.h"
#include "results/study/trust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena a;
static struct err err;

/* A machine of three sheets, outermost first, and one fitted constant. */
#define ROW(...) { __VA_ARGS__, "source", "", 1 }
static struct sheet_row system_rows[] = { ROW("board", "B", "name"), ROW("n_ipus", "4", "IPUs"), ROW("link_bytes_per_s", "2e9", "B/s") },
                        chip_rows[] = { ROW("link_bytes_per_s", "1e9", "B/s"), ROW("n_tiles", "10", "tiles"), ROW("tdp_w", "100", "W"), ROW("link_byte_j", "5", "J/B") },
                        fitted_rows[] = { ROW("unexplained_call_s", "0.04", "s") };
static struct sheet sheets[] = { { .rows = system_rows, .n_rows = 3 }, { .rows = chip_rows, .n_rows = 4 } };
static struct machine machine = { .sheets = sheets, .n_sheets = 2 };
static struct simulation by_hand = { .machine = &machine, .recipe.workload = "resnet50", .plan.request = { .n_replicas = 3, .ipus_per_replica = 2 }, .fitted = { .sheet = { .rows = fitted_rows, .n_rows = 1 } } };

static const char *texts(const struct known_values *values)
{
    const char *text = "";
    for (size_t i = 0; i < values->n; i++)
        text = arena_printf(&a, "%s%s=%s;", text, values->items[i].key, values->items[i].value);
    return text;
}

static const char *foreign_by_hand(const struct known_values *known)
{
    struct known_values foreign = known_values_foreign(known, &by_hand, &a);
    return texts(&foreign);
}

static void values_by_hand(void **state)
{
    struct known_values known = {0}, back;
    char *text;
    (void)state;
    assert_string_equal(foreign_by_hand(&known), "");                   /* nothing is foreign without a table */
    known_values_add(&known, &by_hand, &a);
    assert_string_equal(texts(&known), "link_bytes_per_s=2e9;n_tiles=10;unexplained_call_s=0.04;");         /* no names, numbers of IPUs, watts or joules */
    assert_string_equal(foreign_by_hand(&known), "");
    system_rows[0].value = "another", system_rows[1].value = "8", chip_rows[0].value = "3e9", chip_rows[2].value = "1";
    system_rows[2].value = "2000000000.0";                              /* the same number */
    assert_string_equal(foreign_by_hand(&known), "");
    system_rows[2].value = "3e9", chip_rows[1].value = "20", fitted_rows[0].value = "0.05";
    assert_string_equal(foreign_by_hand(&known), "link_bytes_per_s=3e9;n_tiles=20;unexplained_call_s=0.05;");
    by_hand.plan.request.ipus_per_replica = by_hand.plan.request.n_replicas = 1;          /* one IPU reads no links */
    assert_string_equal(foreign_by_hand(&known), "n_tiles=20;unexplained_call_s=0.05;");
    by_hand.plan.request.n_replicas = 2;
    assert_string_equal(foreign_by_hand(&known), "link_bytes_per_s=3e9;n_tiles=20;unexplained_call_s=0.05;");
    /* a second run lacks a key, and has one that the first lacked */
    sheets[1].n_rows = 1, fitted_rows[0].key = "loader_s", fitted_rows[0].value = "7";
    assert_string_equal(foreign_by_hand(&known), "link_bytes_per_s=3e9;loader_s=7;n_tiles=;unexplained_call_s=;");
    known_values_add(&known, &by_hand, &a);
    assert_string_equal(foreign_by_hand(&known), "");
    PRINTED(text, known_values_write(f, &known));
    assert_string_equal(text, "key,value\nlink_bytes_per_s,2e9\nlink_bytes_per_s,3e9\nloader_s,\nloader_s,7\nn_tiles,\nn_tiles,10\nunexplained_call_s,\nunexplained_call_s,0.04\n");
    assert_true(known_values_load(&back, temp_file(text, strlen(text), ".csv"), &a, &err));
    assert_string_equal(texts(&back), texts(&known));
    assert_false(known_values_load(&back, temp_file("key\nx\n", 6, ".csv"), &a, &err));
    free(text);
    arena_free(&a);
}

/* The table is that of the published runs as they are simulated today: 'make baseline' writes it. */
static void the_table_is_of_today(void **state)
{
    struct track_record record;
    struct simulator simulator;
    struct known_values known = {0};
    char *now;
    (void)state;
    assert_true(track_record_open(&record, "results/validity", &a, &err));
    simulator_open(&simulator, &paths);
    for (size_t i = 0; i < record.references.n; i++) {
        struct simulation sim;
        struct result r;
        if (record.references.items[i].role == FIGURE_CONTEXT)
            continue;
        assert_true(simulator_run(&simulator, &sim, &r, record.references.items[i].recipe, NULL, 0, &err));
        known_values_add(&known, &sim, &a);
        simulation_free(&sim);
    }
    simulator_close(&simulator);
    assert_true(known.n > 80);
    PRINTED(now, known_values_write(f, &known));
    assert_golden(now, "results/validity/known-values.csv", &a);
    free(now);
    arena_free(&a);
}

/* The foreign values of a chip's sheet with one row as the user has it; NULL if there are none. */
static const char *foreign_of(const char *from, const char *to, const char *override)
{
    char *sheet;
    assert_true(read_text_file(&sheet, NULL, "system-model/specs/c600.csv", 1 << 20, &a, &err));
    const char *at = strstr(sheet, from), *sets[2] = { NULL, override };
    assert_non_null(at);
    const char *own = arena_printf(&a, "%.*s%s%s", (int)(at - sheet), sheet, to, at + strlen(from));
    sets[0] = arena_printf(&a, "recipe.system=%s", temp_file(own, strlen(own), ".csv"));
    struct track_record record;
    struct simulator simulator;
    struct simulation sim;
    struct result r;
    struct validity v;
    assert_true(track_record_open(&record, "results/validity", &a, &err));
    simulator_open(&simulator, &paths);
    assert_true(simulator_run(&simulator, &sim, &r, "vendor-c600-resnet50-b1-poprt", sets, override ? 2 : 1, &err));
    validity_of(&v, &record, &sim, &r, NULL, &a);
    assert_true(validity_has_interval(&v) == !v.foreign && (v.foreign ? !v.near : true));
    simulation_free(&sim);
    simulator_close(&simulator);
    return v.foreign;
}

/* A copied sheet has another name and known values. An edited one has the value that it has, as one that is set. */
static void a_sheet_of_the_users_own(void **state)
{
    (void)state;
    assert_null(foreign_of("n_tiles,", "n_tiles,", NULL));
    assert_string_equal(foreign_of("n_tiles,1472", "n_tiles,2944", NULL), "machine.n_tiles=2944");
    assert_string_equal(foreign_of("n_tiles,1472", "n_tiles,1472", "machine.n_tiles=2944"), "machine.n_tiles=2944");
    assert_null(foreign_of("n_tiles,1472", "n_tiles,2944", "machine.n_tiles=1472"));
    assert_null(foreign_of("n_tiles,", "n_tiles,", "machine.clock_hz=1.85e9"));         /* Bow's clock */
    assert_string_equal(foreign_of("n_tiles,", "n_tiles,", "machine.host_latency_s="), "machine.host_latency_s unset");
    arena_free(&a);
}

/* True if the key's value times the factor is foreign to no cost of the recipe; then its throughput is that of the sheet's value. */
static bool is_not_read(const char *recipe, const char *key, double factor, struct simulator *s)
{
    const struct known_values another = { .items = &(struct known_value){ key, "-1" }, .n = 1 };
    struct simulation sim, moved;
    struct result r, r_moved;
    double x;
    bool unread = false;
    assert_true(simulator_run(s, &sim, &r, recipe, NULL, 0, &err));
    const struct sheet_row *row = machine_row(sim.machine, key, NULL);
    if (row && !text_is(key, "n_ipus") && parse_f64(row->value, &x) && x > 0) {
        const char *set = arena_printf(&a, "machine.%s=%.0f", key, x * factor + 1);
        if (x != floor(x) || x < 2)
            set = arena_printf(&a, "machine.%s=%.17g", key, x * factor);
        const struct known_values foreign = known_values_foreign(&another, &sim, &a);
        bool counts = false;
        for (size_t i = 0; i < foreign.n; i++)
            counts = counts || text_is(foreign.items[i].key, key);
        if (!counts && simulator_run(s, &moved, &r_moved, recipe, &set, 1, &err)) {
            unread = true;
            assert_near(r_moved.throughput_samples_per_s, r.throughput_samples_per_s, 0);
            simulation_free(&moved);
        }
    }
    simulation_free(&sim);
    return unread;
}

/* A value that counts as not read moves no throughput: each key of each recipe, larger and smaller. */
static void values_that_are_not_read(void **state)
{
    static const char *const recipes[] = { "vendor-c600-resnet50-b1-poprt", "vendor-ipu-pod4-resnet50-caraml-1ipu-gbs16", "mlperf-v2.0-closed-bow-pod16-resnet50",
                                           "mlperf-v2.0-closed-bow-pod64-bert-large", "mlperf-v1.1-closed-ipu-pod256-resnet50", "vendor-dss8440-resnet50-tf1" };
    static const double factors[] = { 0.9, 1.1 };
    struct simulator simulator;
    size_t n_unread = 0;
    (void)state;
    simulator_open(&simulator, &paths);
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        const char *key;
        for (size_t k = 0; (key = machine_key(k)); k++)
            for (size_t f = 0; f < 2; f++)
                n_unread += is_not_read(recipes[i], key, factors[f], &simulator);
    }
    assert_true(n_unread > 50);
    simulator_close(&simulator);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(values_by_hand), cmocka_unit_test(the_table_is_of_today), cmocka_unit_test(a_sheet_of_the_users_own), cmocka_unit_test(values_that_are_not_read) };

TAP_MAIN(tests)
