/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_machine.c - spec sheets: what every sheet of the project gives, what is derived from it, what is refused and in which words. */
#include "tests/check.h"
#include "tests/check.h"
#include "system-model/machine/machine.h"

#define SPECS "system-model/specs"
#define BAD "tests/bad/machine/"

static struct arena a;
static struct err err;

static struct machine load(const char *name)
{
    struct machine m;
    if (!machine_load(&m, name, SPECS, &a, &err))
        print_error("%s\n", err.msg);
    assert_non_null(m.chip.name);
    return m;
}

/* Published peaks, each reproduced from tiles, clock and MAC a cycle. */
static void peaks_are_derived(void **state)
{
    (void)state;
    const struct { const char *chip; double fp16, fp16_fp32, fp32, sram_mib; } want[] = {
        { "gc2", 124.5e12, 124.5e12, 31.1e12, 304 },
        { "gc200", 249.65e12, 124.8e12, 62.4e12, 897 },
        { "bow", 348.57e12, 174.3e12, 87.1e12, 897 },
        { "c600", 282.6e12, 141.3e12, 70.7e12, 897 },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct machine m = load(want[i].chip);
        const struct chip *c = &m.chip;
        assert_near(chip_peak_flop_per_s(c, c->mac_fp16_fp16_per_cycle), want[i].fp16, 0.001 * want[i].fp16);
        assert_near(chip_peak_flop_per_s(c, c->mac_fp16_fp32_per_cycle), want[i].fp16_fp32, 0.001 * want[i].fp16_fp32);
        assert_near(chip_peak_flop_per_s(c, c->mac_fp32_per_cycle), want[i].fp32, 0.001 * want[i].fp32);
        assert_near((double)(c->n_tiles * c->tile_memory_bytes) / 1048576, want[i].sram_mib, 0);
        assert_int_equal(m.n_ipus, 1);
        assert_string_equal(m.chip_name, want[i].chip);
    }
    arena_free(&a);
}

static void systems_have_their_size(void **state)
{
    (void)state;
    const struct { const char *name, *board, *chip; uint64_t n_ipus, per_domain; int domain, gateway; } want[] = {
        { "c2", "c2", "gc2", 2, 2, DOMAIN_LADDER, GATEWAY_NONE },
        { "dss8440", "c2", "gc2", 16, 16, DOMAIN_LADDER, GATEWAY_NONE },
        { "ipu-m2000", "ipu-m2000", "gc200", 4, 4, DOMAIN_LADDER, GATEWAY_NONE },
        { "bow-2000", "bow-2000", "bow", 4, 4, DOMAIN_LADDER, GATEWAY_NONE },
        { "ipu-pod4", "ipu-m2000", "gc200", 4, 4, DOMAIN_LADDER, GATEWAY_NONE },
        { "ipu-pod16", "ipu-m2000", "gc200", 16, 16, DOMAIN_LADDER, GATEWAY_NONE },
        { "ipu-pod64", "ipu-m2000", "gc200", 64, 64, DOMAIN_TORUS, GATEWAY_NONE },
        { "ipu-pod128", "ipu-m2000", "gc200", 128, 64, DOMAIN_TORUS, GATEWAY_DIRECT },
        { "ipu-pod256", "ipu-m2000", "gc200", 256, 64, DOMAIN_TORUS, GATEWAY_SWITCHED },
        { "bow-pod4", "bow-2000", "bow", 4, 4, DOMAIN_LADDER, GATEWAY_NONE },
        { "bow-pod16", "bow-2000", "bow", 16, 16, DOMAIN_LADDER, GATEWAY_NONE },
        { "bow-pod64", "bow-2000", "bow", 64, 64, DOMAIN_TORUS, GATEWAY_NONE },
        { "bow-pod128", "bow-2000", "bow", 128, 64, DOMAIN_TORUS, GATEWAY_DIRECT },
        { "bow-pod256", "bow-2000", "bow", 256, 64, DOMAIN_TORUS, GATEWAY_SWITCHED },
        { "bow-pod1024", "bow-2000", "bow", 1024, 64, DOMAIN_TORUS, GATEWAY_SWITCHED },
        { "ipu-65536", "ipu-m2000", "gc200", 65536, 64, DOMAIN_TORUS, GATEWAY_NETWORK },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct machine m = load(want[i].name);
        assert_string_equal(m.name, want[i].name);
        assert_string_equal(m.board_name, want[i].board);
        assert_string_equal(m.chip_name, want[i].chip);
        assert_int_equal(m.n_ipus, want[i].n_ipus);
        assert_int_equal(m.ipus_per_domain, want[i].per_domain);
        assert_int_equal(m.domain_topology, want[i].domain);
        assert_int_equal(m.gateway_topology, want[i].gateway);
    }
    arena_free(&a);
}

/* Links, gateways and memories do not know the chip's clock. */
static void off_chip_rates_are_those_of_the_board(void **state)
{
    (void)state;
    struct machine m2000 = load("ipu-pod64"), bow = load("bow-pod64");
    assert_true(bow.chip.clock_hz > m2000.chip.clock_hz);
    assert_near(bow.chip.link_bytes_per_s, m2000.chip.link_bytes_per_s, 0);
    assert_near(bow.chip.host_link_bytes_per_s, m2000.chip.host_link_bytes_per_s, 0);
    assert_near(bow.gateway_bytes_per_s, m2000.gateway_bytes_per_s, 0);
    assert_near(bow.streaming_bytes_per_s, m2000.streaming_bytes_per_s, 0);
    struct machine alone = load("gc200");
    assert_true(alone.chip.host_link_bytes_per_s > m2000.chip.host_link_bytes_per_s);     /* the board gives eight lanes of sixteen */
    arena_free(&a);
}

/* Every sheet in the folder loads as a machine, and each of its rows has a unit and a source. */
static void every_sheet_loads(void **state)
{
    (void)state;
    char **names;
    size_t n, n_rows = 0;
    assert_true(machine_names(&names, &n, SPECS, &a, &err));
    assert_int_equal(n, 21);
    for (size_t i = 0; i < n; i++) {
        struct machine m = load(names[i]);
        for (size_t s = 0; s < m.n_sheets; s++) {
            for (size_t r = 0; r < m.sheets[s].n_rows; r++, n_rows++) {
                assert_true(*m.sheets[s].rows[r].unit);
                assert_true(strlen(m.sheets[s].rows[r].source) > 3);
            }
        }
    }
    assert_true(n_rows > 500);
    arena_free(&a);
}

static void a_path_is_a_machine_too(void **state)
{
    (void)state;
    struct machine by_name = load("bow-pod16"), by_path = load(SPECS "/bow-pod16.csv");
    assert_string_equal(by_path.name, by_name.name);
    assert_near(by_path.chip.clock_hz, by_name.chip.clock_hz, 0);
    arena_free(&a);
}

static void sheets_have_a_largest_size(void **state)
{
    (void)state;
    for (uint32_t n = 1000; n <= 1001; n++) {
        const char *text = "key,value,unit,source\n";
        char *path = NULL;
        struct sheet s;
        struct err why = { "" };
        FILE *f = fopen(path = arena_strdup(&a, temp_file("", 0, ".csv")), "w");
        assert_non_null(f);
        fputs(text, f);
        for (uint32_t i = 0; i < n; i++)
            fprintf(f, "key%u,1,B,here\n", i);
        fclose(f);
        bool good = sheet_load(&s, path, &a, &why);
        unlink(path);
        assert_true(good == (n == 1000));
        assert_non_null(strstr(why.msg, good ? "" : ": 1001 rows, a spec sheet has at most 1000"));
    }
    arena_free(&a);
}

/* gc2.csv without the rate of interleaved loads. */
static void keys_that_no_cost_needs_may_be_missing(void **state)
{
    (void)state;
    struct csv_table t;
    struct machine m;
    assert_true(csv_load(&t, SPECS "/gc2.csv", &a, &err));
    char *text, *printed;
    PRINTED(text, fputs("key,value,unit,source\n", f); for (size_t i = 0; i < t.n_rows; i++) {
        if (!text_is(t.rows[i].cells[0], "interleaved_load_bytes_per_cycle"))
            fprintf(f, "%s,%s,%s,here\n", t.rows[i].cells[0], t.rows[i].cells[1], t.rows[i].cells[2]);
    });
    const char *path = temp_file(text, strlen(text), ".csv");
    assert_true(machine_load(&m, path, SPECS, &a, &err));
    PRINTED(printed, machine_print(f, &m));
    assert_null(strstr(printed, "load rate"));
    free(printed);
    free(text);
    unlink(path);
    arena_free(&a);
}

/* 128 products of 8 bits a tile and cycle on 1,472 tiles at 1.5 GHz; a Bow has none. */
static void only_chips_with_fp8_print_its_peak(void **state)
{
    (void)state;
    for (int bow = 0; bow < 2; bow++) {
        struct machine m = load(bow ? "bow-pod4" : "c600");
        char *text;
        PRINTED(text, machine_print(f, &m));
        assert_int_equal(strstr(text, "  peak fp8                                 565.248 Tflop/s") != NULL, !bow);
        assert_int_equal(strstr(text, "peak fp8") != NULL, !bow);
        free(text);
    }
    arena_free(&a);
}

/* Six IPUs, four a board: 1.5 boards. At 1.3 times the power's clock the voltage is its root, and a cycle takes 1.3 times the energy. */
static void power_by_hand(void **state)
{
    struct machine m = { .ipus_per_board = 4, .chip = { .n_tiles = 7, .clock_hz = 1.3e9, .tdp_w = 0.7 } };
    struct power p;
    (void)state;
    machine_power(&p, &m, 6);
    assert_true(!p.missing && !p.has_law && !p.knows_waiting && text_is(p.of, "chips"));
    assert_near(p.at_work_w, 4.2, 1e-12);
    assert_near(p.waiting_w, 4.2, 1e-12);
    m.board_power_w = 300, m.board_idle_power_w = 110, m.board_power_cap_w = 350;
    machine_power(&p, &m, 6);
    assert_true(p.knows_waiting && text_is(p.of, "boards") && p.at_work_w == 450 && p.waiting_w == 165 && p.cap_w == 525);
    assert_near(power_mean_w(&p, 0.25), 378.75, 1e-12);
    m.board_idle_power_w = 0;
    machine_power(&p, &m, 6);
    assert_true(!p.knows_waiting && p.waiting_w == 450);
    m.board_power_w = 0, m.board_idle_power_w = 110;           /* nobody states what the board takes at work */
    machine_power(&p, &m, 6);
    assert_true(!p.knows_waiting && p.waiting_w == p.at_work_w);
    m.board_power_w = 300;
    m.chip.tdp_w = 150, m.chip.idle_power_w = 40, m.chip.running_power_w = 10, m.chip.power_clock_hz = 1e9, m.chip.voltage_exponent = 0.5;
    m.chip.interleaved_load_bytes_per_cycle = 16, m.chip.vector_bytes_per_cycle = 8, m.board_rest_power_w = 0.5;
    machine_power(&p, &m, 6);
    assert_true(p.has_law && text_is(p.of, "chips and boards") && p.boards_rest_w == 0.75);
    assert_near(p.idle_w, 240 * sqrt(1.3), 1e-9);
    assert_near(chip_cycle_j(&m.chip), 1.3 * 100 / 7e9, 1e-20);
    assert_near(chip_running_cycle_j(&m.chip), 1.3 * 10 / 7e9, 1e-20);
    assert_near(chip_memory_byte_j(&m.chip), 1.3 * 100 / 7e9 / 24, 1e-20);
    m.board_rest_power_w = 0;
    machine_power(&p, &m, 6);
    assert_string_equal(p.of, "chips");
    m.chip.tdp_w = 0;
    assert_true(chip_cycle_j(&m.chip) == 0);
}

/* Power that no sheet gives is printed as unknown, not as 0. */
static void power_without_a_source_is_reported_missing(void **state)
{
    (void)state;
    struct machine m = load("bow-pod256");
    char *text;
    PRINTED(text, machine_print(f, &m));
    assert_non_null(strstr(text, "  power without work"));
    free(text);
    m.chip.idle_power_w = 0;
    m.board_power_w = 0;
    PRINTED(text, machine_print(f, &m));
    assert_null(strstr(text, "not known"));                 /* that of its chips */
    free(text);
    m.chip.tdp_w = 0;
    PRINTED(text, machine_print(f, &m));
    assert_non_null(strstr(text, "  power                                  not known W         no source gives the power of this board or of its chip; "
                                 "--set machine.board_power_w=W says what if\n"));
    free(text);
    arena_free(&a);
}

static const struct { const char *name, *message; } bad_sheets[] = {
    { BAD "all_through.csv", BAD "all_through.csv: rung_through_links: 6 of 6 rung_links leave none for the two chips themselves" },
    { BAD "binary.csv", BAD "binary.csv: is binary (a zero byte at offset 36), want text" },
    { BAD "board_is_chip.csv", BAD "board_is_chip.csv:2: board: gc2 is the sheet of a chip, want a board" },
    { BAD "direct_of_three.csv", BAD "direct_of_three.csv: gateway_topology: direct links two domains, not 3; want switched or network" },
    { BAD "empty.csv", BAD "empty.csv: is empty, want a header line" },
    { BAD "header_only.csv", BAD "header_only.csv: n_tiles: missing (tiles of a chip, in tiles)" },
    { BAD "interleaved.csv", BAD "interleaved.csv: interleaved_bytes: 262145 are more than the 262144 of a tile" },
    { BAD "loop.csv", BAD "loop.csv:2: board: loop is the sheet of a system, want a board" },
    { BAD "no_generation.csv", BAD "no_generation.csv: generation: missing (design of the chip, which selects its fitted constants; other has none, in name)" },
    { BAD "missing_key.csv", BAD "missing_key.csv: link_efficiency: missing (of the nominal rate, in share)" },
    { BAD "nan.csv", BAD "nan.csv:4: clock_hz: 'nan' is not a number" },
    { BAD "negative.csv", BAD "negative.csv:3: n_workers: '-6' is not a whole number from 0 up" },
    { BAD "no_gateway.csv", BAD "no_gateway.csv: gateway_topology: none, but the 2 domains need links to each other" },
    { BAD "no_gateway_rate.csv", BAD "no_gateway_rate.csv: gateway_bytes_per_s: missing, but the 2 domains need links to each other" },
    { BAD "no_switch.csv", BAD "no_switch.csv: gateway_topology: switched, want switch_latency_s too" },
    { BAD "no_links.csv", BAD "no_links.csv: rung_links: 0, but the 2 IPUs of a domain need links to each other" },
    { BAD "no_part.csv", BAD "no_part.csv:2: chip: no sheet 'gc3' (looked for system-model/specs/gc3.csv)" },
    { BAD "no_shared_rate.csv", BAD "no_shared_rate.csv: pcie_shared_ipus: 2, want pcie_shared_bytes_per_s too" },
    { BAD "no_source.csv", BAD "no_source.csv:3: clock_hz: no source; say where 1.3e9 comes from" },
    { BAD "blank_source.csv", BAD "blank_source.csv:3: clock_hz: no source; say where 1.3e9 comes from" },
    { BAD "no_table.csv", BAD "no_table.csv:1: 1 column, want key,value,unit,source[,note]" },
    { BAD "no_topology.csv", BAD "no_topology.csv: domain_topology: none, but 16 IPUs in a domain; want ladder or torus" },
    { BAD "no_unit.csv", BAD "no_unit.csv:3: clock_hz: no unit; want that of the same key on other sheets, as B/s, or name" },
    { BAD "no_value.csv", BAD "no_value.csv:2: n_tiles: no value; leave the row out where nothing is known" },
    { BAD "odd_count.csv", BAD "odd_count.csv: n_ipus: 15 is not a multiple of ipus_per_board, 2" },
    { BAD "open_quote.csv", BAD "open_quote.csv:2: a quote is not closed" },
    { BAD "overflow.csv", BAD "overflow.csv:5: tile_memory_bytes: '99999999999999999999' is more than the largest number allowed, 18446744073709551615" },
    { BAD "part_path.csv", BAD "part_path.csv:2: chip: '../gc2' is not the name of a sheet" },
    { BAD "part_unit.csv", BAD "part_unit.csv:2: board is in 'card', want 'name'" },
    { BAD "repeated.csv", BAD "repeated.csv:4: n_tiles: is already in line 2" },
    { BAD "ring_topology.csv", BAD "ring_topology.csv:5: domain_topology: 'ring' is not one of: none, ladder, torus" },
    { BAD "shared_across.csv", BAD "shared_across.csv: ipus_per_domain: 2 is not a multiple of pcie_shared_ipus, 4" },
    { BAD "short_row.csv", BAD "short_row.csv:2: 3 cells, want 5 (key, ...)" },
    { BAD "too_fast.csv", BAD "too_fast.csv: mac_fp16_fp16_per_cycle: 64, but 8 units fed 8 bytes a cycle do at most 32; lower it or raise "
      "conv_units_fp16_fp16" },
    { BAD "too_large.csv", BAD "too_large.csv:3: n_ipus: 2000000 is outside 1 to 1000000 IPUs" },
    { BAD "too_many_links.csv", BAD "too_many_links.csv: rung_links: 6, and twice 3 rail_links, are more than the 10 n_links of gc2" },
    { BAD "two_parts.csv", BAD "two_parts.csv:8: chip: does not belong on the sheet of a system" },
    { BAD "too_slow.csv", BAD "too_slow.csv: mac_fp32_per_cycle: 1, but the workers' dot products of 8 bytes a cycle do 2; raise it or lower "
      "vector_bytes_per_cycle" },
    { BAD "wrong_columns.csv", BAD "wrong_columns.csv:1: column 3 is 'units', want 'unit'" },
    { BAD "wrong_level.csv", BAD "wrong_level.csv:30: rail_links: does not belong on the sheet of a chip (links to each rail neighbour)" },
    { BAD "wrong_unit.csv", BAD "wrong_unit.csv:4: clock_hz is in 'GHz', want 'Hz'" },
    { BAD "zero.csv", BAD "zero.csv:4: clock_hz: 0 is outside 1000000 to 100000000000 Hz" },
    { BAD "absent.csv", BAD "absent.csv: No such file or directory" },
    { "../specs/gc2", "../specs/gc2: No such file or directory" },
    { "x.csv", "x.csv: No such file or directory" },
    { ".csv", "unknown machine '.csv'; only IPUs have sheets, and a machine of your own gets one by 'podbench machine NAME --copy MINE'; known: bow, bow-2000, bow-pod1024, bow-pod128, bow-pod16, bow-pod256, bow-pod4, bow-pod64, c2, c600, "
      "dss8440, dss8440-cluster, gc2, gc200, ipu-65536, ipu-m2000, ipu-pod128, ipu-pod16, ipu-pod256, ipu-pod4, ipu-pod64" },
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_sheets / sizeof *bad_sheets; i++) {
        struct machine m;
        assert_false(machine_load(&m, bad_sheets[i].name, SPECS, &a, &err));
        assert_string_equal(err.msg, bad_sheets[i].message);
    }
    struct machine m;
    assert_false(machine_load(&m, BAD "unknown_key.csv", SPECS, &a, &err));
    const char *head = BAD "unknown_key.csv:2: n_tiels: not a key of a chip; known: n_tiles, n_workers, worker_turn_cycles, clock_hz, ";
    assert_int_equal(strncmp(err.msg, head, strlen(head)), 0);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_derived),
        cmocka_unit_test(systems_have_their_size),
        cmocka_unit_test(off_chip_rates_are_those_of_the_board),
        cmocka_unit_test(every_sheet_loads),
        cmocka_unit_test(a_path_is_a_machine_too),
        cmocka_unit_test(sheets_have_a_largest_size), cmocka_unit_test(keys_that_no_cost_needs_may_be_missing), cmocka_unit_test(only_chips_with_fp8_print_its_peak), cmocka_unit_test(power_without_a_source_is_reported_missing), cmocka_unit_test(power_by_hand),
        cmocka_unit_test(refusals),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
