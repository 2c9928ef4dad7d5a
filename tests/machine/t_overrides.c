/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_overrides.c - values in place of those on the sheets: which row they change, what they leave alone, how they are refused. */
#include "tests/golden_text.h"
#include "tests/model_paths.h"
#include "results/simulate/simulate.h"

static struct arena a;
static struct err err;

static struct sheet_overrides take(const char *const *overrides, size_t n)
{
    struct sheet_overrides w;
    const char **rest;
    size_t n_rest;
    assert_true(sheet_overrides_split(&w, &rest, &n_rest, overrides, n, &a, &err));
    return w;
}

static bool load(struct machine *m, const char *name, const char *override)
{
    struct sheet_overrides w = take(&override, 1);
    return machine_load_changed(m, name, paths.specs_dir, &w, &a, &err);
}

static void parted_from_the_recipes_own(void **state)
{
    (void)state;
    const char *const all[] = { "parallel.replicas=2", "machine.clock_hz=1e9", "machines.x=1", "machine.clock_hz=3e9", "hosts.count=1" };
    struct sheet_overrides w;
    const char **rest;
    size_t n;
    assert_true(sheet_overrides_split(&w, &rest, &n, all, 5, &a, &err));
    assert_int_equal(n, 3);
    assert_string_equal(rest[0], "parallel.replicas=2");
    assert_string_equal(rest[1], "machines.x=1");
    assert_string_equal(rest[2], "hosts.count=1");
    assert_int_equal(w.n, 1);
    assert_string_equal(w.items[0].value, "3e9");           /* the last one holds */
    const char *const again[] = { "machine.clock_hz=1e9", "machine.n_links=9", "machine.n_tiles=7", "machine.n_links=8", "machine.n_tiles=5", "machine.n_links=6" };
    w = take(again, 6);
    assert_int_equal(w.n, 3);
    assert_string_equal(w.items[0].value, "1e9");
    assert_string_equal(w.items[1].value, "6");
    assert_string_equal(w.items[2].value, "5");
    assert_false(sheet_overrides_split(&w, &rest, &n, (const char *const[]){ "machine.clock_hz" }, 1, &a, &err));
    assert_string_equal(err.msg, "--set machine.clock_hz: want machine.KEY=value, as in machine.clock_hz=2e9");
    arena_free(&a);
}

/* The chip has 23.8e9 and the board 11.9e9, which wins: the given value has to win over both. */
static void reaches_the_row_that_holds(void **state)
{
    (void)state;
    struct machine m;
    const struct sheet *sheet;
    assert_true(load(&m, "bow-pod16", "machine.host_link_bytes_per_s=7e9"));
    assert_near(m.chip.host_link_bytes_per_s, 7e9, 0);
    const struct sheet_row *row = machine_row(&m, "host_link_bytes_per_s", &sheet);
    assert_string_equal(sheet->name, "bow-2000");
    assert_int_equal(row->line, 0);
    assert_non_null(strstr(row->source, "--set; the sheet has 11.9e9 (system-model/specs/bow-2000.csv:"));
    assert_true(load(&m, "bow-pod16", "machine.mk2.compute_set_cycles=7"));
    assert_int_equal(m.chip.compute_set_cycles, 7);
    assert_true(load(&m, "bow-pod16", "machine.chip=gc200"));
    assert_near(m.chip.clock_hz, 1.325e9, 0);
    arena_free(&a);
}

static void adds_and_takes_away(void **state)
{
    (void)state;
    struct machine m;
    assert_true(load(&m, "bow-pod16", "machine.pcie_shared_bytes_per_s=7e9"));      /* a key that no sheet of it has */
    assert_near(m.pcie_shared_bytes_per_s, 7e9, 0);
    assert_string_equal(machine_row(&m, "pcie_shared_bytes_per_s", NULL)->unit, "B/s");
    assert_true(load(&m, "bow-pod16", "machine.board_power_w="));
    assert_near(m.board_power_w, 0, 0);
    assert_null(machine_row(&m, "board_power_w", NULL));
    arena_free(&a);
}

static void refused_as_a_sheets_value_is(void **state)
{
    (void)state;
    struct machine m;
    assert_false(load(&m, "bow-pod16", "machine.link_efficiency=1.5"));
    assert_string_equal(err.msg, "--set machine.link_efficiency=1.5: 1.5 is outside 0.01 to 1");
    assert_false(load(&m, "bow-pod16", "machine.clock_hz="));
    assert_string_equal(err.msg, "system-model/specs/bow.csv: clock_hz: missing (tile clock, in Hz)");
    assert_false(load(&m, "bow-pod16", "machine.chip=abacus"));
    assert_string_equal(err.msg, "--set machine.chip=abacus: no sheet 'abacus' (looked for system-model/specs/abacus.csv)");
    arena_free(&a);
}

/* One beyond what goes together and what just does, on a pod of 64 a domain. */
static const struct { const char *sets[5], *refused; } belonging[] = {
    { { "interleaved_bytes=638976" }, NULL }, { { "interleaved_bytes=638977" }, "interleaved_bytes: 638977 are more than the 638976 of a tile" },
    { { "n_links=10" }, NULL },
    { { "idle_power_w=110" }, "idle_power_w and running_power_w: 363 W are more than the 362 W of tdp_w" }, { { "idle_power_w=109" }, NULL },
    { { "board_power_w=1701" }, "board_power_w: 1701 W are more than the 1700 W of board_power_cap_w" },
    { { "board_idle_power_w=1250.5" }, "board_idle_power_w: 1250.5 W are more than the 1250 W of board_power_w" },
    { { "board_power_w=1700" }, NULL }, { { "board_idle_power_w=1250" }, NULL }, { { "board_power_w=1701", "board_power_cap_w=" }, NULL },
    { { "n_links=9" }, "rung_links: 6, and twice 2 rail_links, are more than the 9 n_links of bow" },
    { { "rung_through_links=5" }, NULL },
    { { "rung_through_links=6" }, "rung_through_links: 6 of 6 rung_links leave none for the two chips themselves" },
    { { "mac_fp16_fp16_per_cycle=4" }, NULL },
    { { "mac_fp16_fp16_per_cycle=3" }, "mac_fp16_fp16_per_cycle: 3, but the workers' dot products of 8 bytes a cycle do 4; raise it or lower "
      "vector_bytes_per_cycle" },
    { { "mac_fp16_fp16_per_cycle=65" }, "mac_fp16_fp16_per_cycle: 65, but 16 units fed 8 bytes a cycle do at most 64; lower it or raise conv_units_fp16_fp16" },
    { { "mac_fp16_fp32_per_cycle=4" }, NULL },
    { { "mac_fp16_fp32_per_cycle=3" }, "mac_fp16_fp32_per_cycle: 3, but the workers' dot products of 8 bytes a cycle do 4; raise it or lower "
      "vector_bytes_per_cycle" },
    { { "mac_fp16_fp32_per_cycle=33" }, "mac_fp16_fp32_per_cycle: 33, but 8 units fed 8 bytes a cycle do at most 32; lower it or raise conv_units_fp16_fp32" },
    { { "mac_fp32_per_cycle=2" }, NULL },
    { { "mac_fp32_per_cycle=17" }, "mac_fp32_per_cycle: 17, but 8 units fed 8 bytes a cycle do at most 16; lower it or raise conv_units_fp32" },
    { { "mac_fp8_per_cycle=8" }, NULL }, { { "mac_fp8_per_cycle=128" }, NULL },
    { { "mac_fp8_per_cycle=7" }, "mac_fp8_per_cycle: 7, but the workers' dot products of 8 bytes a cycle do 8; raise it or lower vector_bytes_per_cycle" },
    { { "mac_fp8_per_cycle=129" }, "mac_fp8_per_cycle: 129, but 16 units fed 8 bytes a cycle do at most 128; lower it or raise conv_units_fp16_fp16" },
    { { "n_ipus=258" }, "n_ipus: 258 is not a multiple of ipus_per_board, 4" },
    { { "n_ipus=260" }, "n_ipus: 260 is not a multiple of ipus_per_domain, 64" },
    { { "ipus_per_domain=2" }, "ipus_per_domain: 2 is not a multiple of ipus_per_board, 4" },
    { { "ipus_per_board=1", "ipus_per_domain=3", "n_ipus=6" }, "ipus_per_domain: 3 is odd, want two columns" },
    { { "ipus_per_board=1", "ipus_per_domain=1", "n_ipus=6", "domain_topology=none" }, NULL },
    { { "domain_topology=none" }, "domain_topology: none, but 64 IPUs in a domain; want ladder or torus" },
    { { "ipus_per_board=2", "ipus_per_domain=2", "domain_topology=none" }, "domain_topology: none, but 2 IPUs in a domain; want ladder or torus" },
    { { "ipus_per_board=2", "ipus_per_domain=2", "rail_links=0" }, NULL },
    { { "ipus_per_domain=4", "rail_links=0" }, "rail_links: 0, but the 4 IPUs of a domain need links to each other" },
    { { "ipus_per_board=2", "ipus_per_domain=2", "rung_links=0" }, "rung_links: 0, but the 2 IPUs of a domain need links to each other" },
    { { "gateway_topology=none" }, "gateway_topology: none, but the 4 domains need links to each other" },
    { { "gateway_topology=none", "n_ipus=64" }, NULL },
    { { "gateway_bytes_per_s=" }, "gateway_bytes_per_s: missing, but the 4 domains need links to each other" },
    { { "gateway_efficiency=" }, "gateway_efficiency: missing, but the 4 domains need links to each other" },
    { { "gateway_topology=direct" }, "gateway_topology: direct links two domains, not 4; want switched or network" },
    { { "gateway_topology=direct", "n_ipus=128", "switch_latency_s=" }, NULL },
    { { "switch_latency_s=" }, "gateway_topology: switched, want switch_latency_s too" },
    { { "switch_latency_s=", "gateway_topology=network" }, "gateway_topology: network, want switch_latency_s too" },
    { { "streaming_bytes=" }, "streaming_bytes_per_s: given, want streaming_efficiency and streaming_bytes too" },
    { { "streaming_efficiency=" }, "streaming_bytes_per_s: given, want streaming_efficiency and streaming_bytes too" },
    { { "streaming_bytes_per_s=", "streaming_efficiency=", "streaming_bytes=" }, NULL },
    { { "pcie_shared_ipus=1" }, NULL }, { { "pcie_shared_ipus=2" }, "pcie_shared_ipus: 2, want pcie_shared_bytes_per_s too" },
    { { "pcie_shared_ipus=2", "pcie_shared_bytes_per_s=1e9" }, NULL },
    { { "pcie_shared_ipus=3", "pcie_shared_bytes_per_s=1e9" }, "ipus_per_domain: 64 is not a multiple of pcie_shared_ipus, 3" },
};

static void what_belongs_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof belonging / sizeof *belonging; i++) {
        const char *sets[5];
        size_t n = 0;
        for (; n < 5 && belonging[i].sets[n]; n++)
            sets[n] = arena_printf(&a, "machine.%s", belonging[i].sets[n]);
        struct sheet_overrides w = take(sets, n);
        struct machine m;
        snprintf(err.msg, sizeof err.msg, "taken");
        bool good = machine_load_changed(&m, "bow-pod256", paths.specs_dir, &w, &a, &err);
        assert_string_equal(err.msg, belonging[i].refused ? arena_printf(&a, "system-model/specs/bow-pod256.csv: %s", belonging[i].refused) : "taken");
        assert_int_equal(good, belonging[i].refused == NULL);
    }
    arena_free(&a);
}

static double step_s(const char *override)
{
    struct simulation sim = {0};
    struct plan_cache cache = {0};
    struct result r = {0};
    bool good = simulate(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", &override, override ? 1 : 0, &paths, &cache, &err);
    simulation_free(&sim);
    plan_cache_free(&cache);
    return good ? r.step_time_s : -1;
}

static void reaches_the_simulation(void **state)
{
    (void)state;
    double as_it_is = step_s(NULL);
    assert_true(as_it_is > 0);
    assert_true(step_s("machine.clock_hz=2.65e9") < as_it_is);
    assert_true(step_s("machine.host_latency_s=1e-3") > as_it_is);
    assert_near(step_s("machine.clock_hz=1.325e9"), as_it_is, 0);
    assert_near(step_s("machine.clok_hz=1e9"), -1, 0);
    assert_non_null(strstr(err.msg, "--set machine.clok_hz=1e9: no sheet of this machine has such a key; nearest: clock_hz, "));
}

/* Every key refuses a number that is too large for all of them. */
static void print_limit(FILE *f, const char *sheet, const char *machine, const char *key)
{
    static const char huge[] = "18446744073709551615";      /* a whole number, too */
    struct machine m;
    err.msg[0] = '\0';
    bool good = load(&m, machine, arena_printf(&a, "machine.%s=%s", key, huge));
    const char *said = strstr(err.msg, " is ");
    fprintf(f, "%s %s%s\n", sheet, key, good ? " taken" : said ? said : ": a sheet");
}

/* The range of each key of a sheet, and a key that no sheet has. */
static void limits_of_every_key(void **state)
{
    static const struct { const char *sheet, *machine; } sheets[] = {
        { "gc2", "dss8440" }, { "c2", "dss8440" }, { "dss8440", "dss8440" }, { "gc200", "ipu-pod16" }, { "ipu-m2000", "ipu-pod16" },
        { "ipu-pod16", "ipu-pod16" }, { "bow-pod256", "bow-pod256" },
    };
    char *text, *written, *line;
    size_t size;
    FILE *f = open_memstream(&written, &size);
    (void)state;
    for (size_t i = 0; i < sizeof sheets / sizeof *sheets; i++) {
        assert_true(read_text_file(&text, NULL, arena_printf(&a, "system-model/specs/%s.csv", sheets[i].sheet), 1 << 20, &a, &err));
        strsep(&text, "\n");
        while ((line = strsep(&text, "\n")) && *line)
            print_limit(f, sheets[i].sheet, sheets[i].machine, arena_printf(&a, "%.*s", (int)strcspn(line, ","), line));
    }
    print_limit(f, "none", "ipu-pod16", "board_idle_power_w");
    fclose(f);
    assert_golden(written, "tests/golden/machine_limits.txt", &a);
    free(written);
    arena_free(&a);
}

enum kind_of_sheet { OF_CHIP, OF_SYSTEM, OF_SDK };

static bool load_kind(enum kind_of_sheet kind, const char *machine, const char *override)
{
    struct machine m;
    struct fitted_system fitted;
    struct sdk sdk;
    struct sheet_overrides w = take(&override, 1);
    return kind == OF_CHIP     ? machine_load_changed(&m, machine, paths.specs_dir, &w, &a, &err)
           : kind == OF_SYSTEM ? fitted_system_load(&fitted, paths.specs_dir, &w, &a, &err)
                               : sdk_load(&sdk, "2.1.0", paths.specs_dir, &w, &a, &err);
}

/* Constants that may be fitted and times of a release have the limits of their tables: what is at a limit is taken, what is beyond is not. */
static void limits_of_constants_and_releases(void **state)
{
    static const struct { enum kind_of_sheet kind; const char *machine, *key; double low, high; } rows[] = {
        { OF_CHIP, "dss8440", "mk1.compute_set_cycles", 0, 1000 }, { OF_CHIP, "dss8440", "mk1.amp_efficiency", 0.5, 1 },
        { OF_CHIP, "ipu-pod16", "mk2.compute_set_cycles", 0, 1000 }, { OF_SYSTEM, NULL, "unexplained_call_s", 0, 1 },
        { OF_SYSTEM, NULL, "output_reduction_s", 0, 0.01 }, { OF_SYSTEM, NULL, "streaming_s_per_byte", 0, 1e-9 }, { OF_SYSTEM, NULL, "loader_s_per_byte", 0, 1e-6 },
        { OF_SYSTEM, NULL, "throughput_error", 0, 10 }, { OF_SDK, NULL, "checkpoint_start_s", 0, 1e5 }, { OF_SDK, NULL, "eval_switch_s", 0, 1e5 },
        { OF_SDK, NULL, "evaluated_checkpoint_s_per_parameter", 0, 1e5 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *set = arena_printf(&a, "machine.%s", rows[i].key);
        assert_true(load_kind(rows[i].kind, rows[i].machine, arena_printf(&a, "%s=%.15g", set, rows[i].low)));
        assert_true(load_kind(rows[i].kind, rows[i].machine, arena_printf(&a, "%s=%.15g", set, rows[i].high)));
        assert_false(load_kind(rows[i].kind, rows[i].machine, arena_printf(&a, "%s=1000000", set)));
        const char *want = arena_printf(&a, "--set %s=1000000: 1000000 is outside %.15g to %.15g", set, rows[i].low, rows[i].high);
        assert_memory_equal(err.msg, want, strlen(want));       /* the unit follows */
    }
    struct fitted_system none;
    fitted_system_defaults(&none);
    assert_true(none.times.unexplained_call_s == 0 && none.times.output_reduction_s == 0.005 && none.times.streaming_s_per_byte == 0 && none.times.loader_s_per_byte == 0);
    assert_true(none.throughput_error == 0 && none.sheet.n_rows == 0);
    arena_free(&a);
}

/* Overrides of one machine do not change the cached sheets that the next one reads; each file is read once. */
static void a_cache_keeps_sheets_unchanged(void **state)
{
    (void)state;
    struct arena read_once = {0};
    struct sheet_cache cache = { .arena = &read_once };
    struct machine m, own;
    const char *const overrides[] = { "machine.clock_hz=1e9", "machine.n_tiles=7", "machine.chip=gc200", "machine.rail_latency_s=1e-6" };
    size_t n_sheets = 0;
    for (int i = 0; i < 8; i++) {
        struct sheet_overrides w = take(&overrides[i / 2], 1);
        w.cache = i % 2 ? &cache : NULL;
        assert_true(machine_load_changed(i % 2 ? &m : &own, "bow-pod16", paths.specs_dir, &w, &a, &err));
        if (i == 1)
            n_sheets = cache.n;
        if (i % 2 == 0)
            continue;
        assert_int_equal(m.n_sheets, own.n_sheets);
        for (size_t s = 0; s < m.n_sheets; s++) {
            assert_int_equal(m.sheets[s].n_rows, own.sheets[s].n_rows);
            for (size_t r = 0; r < m.sheets[s].n_rows; r++)
                assert_true(text_is(m.sheets[s].rows[r].value, own.sheets[s].rows[r].value) && m.sheets[s].rows[r].line == own.sheets[s].rows[r].line);
        }
        assert_near(m.chip.clock_hz, own.chip.clock_hz, 0);
    }
    assert_int_equal(n_sheets, 4);              /* system, board, chip, what was fitted */
    assert_int_equal(cache.n, 5);               /* and the other chip */
    arena_free(&read_once);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_cache_keeps_sheets_unchanged),
    cmocka_unit_test(limits_of_every_key), cmocka_unit_test(limits_of_constants_and_releases),
    cmocka_unit_test(parted_from_the_recipes_own), cmocka_unit_test(reaches_the_row_that_holds),
    cmocka_unit_test(adds_and_takes_away), cmocka_unit_test(refused_as_a_sheets_value_is), cmocka_unit_test(what_belongs_together),
    cmocka_unit_test(reaches_the_simulation),
};

TAP_MAIN(tests)
