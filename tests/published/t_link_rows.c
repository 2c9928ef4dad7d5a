/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_link_rows.c - micro-benchmark cases: by hand from the sheet's values, every published case predicts, refusals. */
#include "tests/golden_text.h"
#include "tests/part_cells.h"
#include "results/published/check.h"
#include "system-model/machine/machine.h"

static struct arena a;
static struct err err;

/* Predicts "p2p;machine=c2;from=1": the first cell, and cells by their columns. */
static bool predict_on(double *value, const char *text, const char *metric, const char *specs_dir)
{
    struct link_bench bench = { .specs_dir = specs_dir, .costs_dir = "results/published/links", .arena = &a };
    struct link_case c;
    struct csv_table t = cells_of("link", text, &a);
    return link_case_read(&c, &t, t.rows, &err) && link_row_predict(value, &c, metric, &bench, &err);
}

static double predict(const char *text, const char *metric)
{
    double value = 0;
    if (!predict_on(&value, text, metric, "system-model/specs"))
        print_error("%s\n", err.msg);
    return value;
}

/* 600 cycles at 1.6 GHz, a hop, and 30 ns of sync for each card beyond the first. */
static void latencies_by_hand(void **state)
{
    (void)state;
    assert_near(predict("p2p;machine=dss8440;from=0;to=1", "latency_us"), 0.375 + 0.255 + 4 / 6387.2, 1e-6);
    assert_near(predict("p2p;machine=dss8440;from=12;to=9", "latency_us"),
                0.375 + 0.255 + 2 * 0.131 + 6 * 0.030 + 4 / 6387.2, 1e-6);
    /* 1216 messages of tiles in order: 3.1 ns a pair of links, two pairs */
    assert_near(predict("p2p;machine=dss8440;from=0;to=1;tiles=1216", "latency_us"), 0.63 + 1216 * 3.1e-3 / 2, 1e-6);
    assert_near(predict("p2p;machine=dss8440;from=0;to=1;tiles=2", "latency_us"), 0.63 + 2 * 3.1e-3 / 2, 1e-6);
    /* a pair at random: 59 + half of the 98 cycles to the farthest; four pairs: 4/5 of them; all-to-all: as many as
     * it has tiles */
    assert_near(predict("p2p;machine=dss8440;from=0;to=0", "latency_us"), (106 + 59 + 49) / 1600.0 + 4 / (6400 * 0.998), 1e-6);
    assert_near(predict("all-to-all;machine=dss8440;from=0;to=0;tiles=48", "latency_us"), (106 + 59 + 96) / 1600.0 + 48 * 4 / (6400 * 0.998), 1e-6);
    assert_near(predict("p2p;machine=dss8440;from=0;to=0;tiles=4", "latency_us"), (106 + 59 + 78.4) / 1600 + 4 / (6400 * 0.998), 1e-6);
    arena_free(&a);
}

static void rates_by_hand(void **state)
{
    (void)state;
    double rail = 2 * 16 * 0.86, time_us = 0.375 + 0.131 + 0.030 + 1216 * 102400 / (rail * 1e3);
    assert_near(predict("p2p;machine=dss8440;from=0;to=2;tiles=1216;bytes=102400", "aggregate_gb_per_s"),
                1216 * 102400 / time_us / 1e3, 1e-6);
    assert_near(predict("halves;machine=dss8440;from=0;to=2;ipus=2;tiles=1216;bytes=102400", "aggregate_gb_per_s"), 2 * 1216 * 102400 / time_us / 1e3, 1e-6);
    assert_near(predict("host;machine=dss8440;ipus=16;tiles=1216;bytes=40000", "aggregate_gb_per_s"),
                16 * 48.64e6 / (8.83e-6 + 4 * 48.64e6 / 13.77e9) / 1e9, 1e-6);
    arena_free(&a);
}

/* Each IPU is fed by the host that it belongs to: one of the second machine's 64 as one of the first's; and 128 by
 * both, in the time of one. */
static void hosts_feed_their_own(void **state)
{
    (void)state;
    double one_us = predict("host;machine=ipu-pod128;to=5;bytes=3000;tiles=7", "latency_us");
    assert_near(predict("host;machine=ipu-pod128;to=69;bytes=3000;tiles=7", "latency_us"), one_us, 1e-9);
    assert_near(predict("host;machine=ipu-pod128;to=127;bytes=3000;tiles=7", "latency_us"), one_us, 1e-9);
    arena_free(&a);
}

/* The mean over all pairs so many of the eight boards apart, each way; both ways at once twice the bytes pass in the
 * same time. */
static void hops_are_means_of_pairs(void **state)
{
    static const struct { const char *column; uint32_t apart, from_column, to_column; } cases[] = {
        { "same", 1, 0, 0 }, { "other", 1, 0, 1 }, { "same", 3, 0, 0 }, { "other", 0, 0, 1 }, { "other", 7, 0, 1 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double sum_us = 0;
        uint32_t n = 0;
        for (uint32_t board = 0; board + cases[k].apart < 8; board++)
            for (uint32_t turned = 0; turned < 4; turned++) {   /* column for column, and there and back */
                uint32_t x = 2 * board + (cases[k].from_column ^ (turned & 1)), y = 2 * (board + cases[k].apart) + (cases[k].to_column ^ (turned & 1));
                const char *pair = arena_printf(&a, "p2p;machine=dss8440;from=%u;to=%u;tiles=7;bytes=12", turned & 2 ? y : x, turned & 2 ? x : y);
                double one_us = predict(pair, "latency_us");
                assert_near(predict(pair, "aggregate_gb_per_s"), 7 * 12 / one_us / 1e3, 1e-12);
                assert_near(predict(arena_printf(&a, "%s;both=yes", pair), "aggregate_gb_per_s"), 2 * 7 * 12 / one_us / 1e3, 1e-9);
                sum_us += one_us, n++;
            }
        const char *hop = arena_printf(&a, "hop;machine=dss8440;apart=%u;column=%s;tiles=7;bytes=12", cases[k].apart, cases[k].column);
        assert_near(predict(hop, "latency_us"), sum_us / n, 1e-9);
        assert_near(predict(hop, "aggregate_gb_per_s"), 7 * 12 / (sum_us / n) / 1e3, 1e-9);
    }
    arena_free(&a);
}

/* The published time that 912 more tiles of 160 bytes take is one word per cycle at the one tile, without sync or
 * transit. */
static void slope_is_a_word_a_cycle(void **state)
{
    (void)state;
    static const struct { const char *kind; double published_us; } slopes[] = {
        { "gather", 194560 / 6303.0 - 48640 / 6063.0 },         /* Table 4.12 */
        { "scatter", 194560 / 6360.0 - 48640 / 6279.0 },        /* Table 4.14 */
    };
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        double all_us = predict(arena_printf(&a, "%s;machine=dss8440;tiles=1216;bytes=160", slopes[i].kind), "latency_us");
        double some_us = predict(arena_printf(&a, "%s;machine=dss8440;tiles=304;bytes=160", slopes[i].kind), "latency_us");
        assert_near(all_us - some_us, slopes[i].published_us, 0.001 * slopes[i].published_us);
    }
    arena_free(&a);
}

/* Eight IPUs: 90 ns of sync, a rung and three rails to IPU 7; 100 KiB at one tile's rate over a link, and twice more
 * over a rail, as the third and the fourth board wait for the one before. Between the words of a message are gaps,
 * 14/86 of a word over one pair of links, half as much over the two of a rung; single words have none. */
static void collectives_by_hand(void **state)
{
    (void)state;
    double latency_us = 0.375 + 3 * 0.030 + 0.255 + 3 * 0.131, rail = 2 * 16e3 * 0.86, word_us = 4 / 6387.2, gap_us = word_us * 14 / 86;
    double time_us = latency_us + 157 / 1600.0 + 25600 * word_us + 25599 * gap_us + 2 * 102400 / rail;
    assert_near(predict("broadcast;machine=dss8440;ipus=8;tiles=1216;bytes=102400", "aggregate_gb_per_s"),
                8 * 1216 * 102400 / time_us / 1e3, 1e-6);
    /* to two IPUs: the source's own chip is served apart, two tiles at a time on its buses */
    time_us = 0.375 + 0.255 + 157 / 1600.0 + 25600 * word_us / 2 + 25600 * word_us + 25599 * gap_us / 2;
    assert_near(predict("broadcast;machine=dss8440;ipus=2;tiles=1216;bytes=102400", "aggregate_gb_per_s"),
                2 * 1216 * 102400 / time_us / 1e3, 1e-6);
    latency_us = 0.375 + 0.030 + 0.255 + 0.131;
    assert_near(predict("scatter;machine=dss8440;ipus=4;tiles=1216", "latency_us"), latency_us + 4864 * word_us, 1e-6);
    /* three words a message: to IPU 1 over both pairs, to 2 and 3 over one; a gather's come in any order, over one,
     * and wait a superstep */
    assert_near(predict("scatter;machine=dss8440;ipus=4;tiles=1216;bytes=12", "latency_us"),
                latency_us + 1216 * (12 * word_us + 2 * 2.5 * gap_us), 1e-6);
    time_us = 0.375 + 0.255 + 1216 * (20 * word_us + 19 * gap_us + 20 * word_us);
    double gather_us = predict("gather;machine=dss8440;from=0;to=1;ipus=2;tiles=1216;bytes=80", "latency_us"), chip_us =
        predict("gather;machine=dss8440;tiles=50;bytes=160", "latency_us") - 8000 / 6387.2 - 119 / 1600.0;
    assert_near(gather_us, time_us + chip_us, 1e-6);
    /* from one to another alone: two boards more are two rails and two boards' syncs more */
    assert_near(predict("reduce;machine=dss8440;from=0;to=6;tiles=1", "latency_us")
                - predict("reduce;machine=dss8440;from=0;to=2;tiles=1", "latency_us"), 2 * (0.030 + 0.131), 1e-6);
    arena_free(&a);
}

/* One IPU and another, wherever they are: a rung, and 30 ns for each card before theirs. With ipus=2 the tile's own
 * chip takes part too. */
static void one_to_another_by_hand(void **state)
{
    (void)state;
    static const struct { uint32_t from, to; } pairs[] = { { 0, 1 }, { 6, 7 }, { 13, 12 } };
    for (size_t i = 0; i < 3; i++) {
        double word_us = 4 / 6387.2, rung_us = 0.375 + 0.255 + 0.030 * (pairs[i].from / 2);
        const char *case_of = arena_printf(&a, "machine=dss8440;from=%u;to=%u;tiles=7", pairs[i].from, pairs[i].to);
        assert_near(predict(arena_printf(&a, "scatter;%s", case_of), "latency_us"), rung_us + 7 * word_us, 1e-9);
        assert_near(predict(arena_printf(&a, "scatter;%s;ipus=2", case_of), "latency_us"), rung_us + 14 * word_us, 1e-9);
        assert_near(predict(arena_printf(&a, "gather;%s", case_of), "latency_us"), rung_us + 7 * (3.1e-3 + word_us), 1e-9);
        assert_near(predict(arena_printf(&a, "gather;%s;ipus=2", case_of), "latency_us"), rung_us + 7 * (3.1e-3 + 2 * word_us), 1e-9);
        assert_near(predict(arena_printf(&a, "broadcast;%s", case_of), "latency_us"), rung_us + 157 / 1600.0 + word_us, 1e-9);
        assert_near(predict(arena_printf(&a, "broadcast;%s;ipus=2", case_of), "latency_us"), rung_us + 157 / 1600.0 + 1.5 * word_us, 1e-9);
    }
    arena_free(&a);
}

/* The rate counts these bytes over the time of a case. */
static void bytes_that_count(void **state)
{
    (void)state;
    static const struct { const char *recipe; double bytes; } cases[] = {
        { "p2p;machine=dss8440;to=3", 7 * 12 }, { "p2p;machine=dss8440;to=3;both=yes", 2 * 7 * 12 }, { "halves;machine=dss8440;ipus=6", 6 * 7 * 12 },
        { "broadcast;machine=dss8440;ipus=3", 3 * 7 * 12 }, { "broadcast;machine=dss8440", 7 * 12 }, { "gather;machine=dss8440;ipus=3", 3 * 7 * 12 },
        { "gather;machine=dss8440;from=2;to=5", 7 * 12 }, { "gather;machine=dss8440", 7 * 12 }, { "scatter;machine=dss8440;ipus=3", 3 * 7 * 12 },
        { "scatter;machine=dss8440;from=2;to=5", 7 * 12 }, { "scatter;machine=dss8440", 7 * 12 }, { "all-to-all;machine=dss8440", 49 * 12 },
        { "reduce;machine=dss8440;ipus=3;operands=5", 3 * 7 * 5 * 4 }, { "reduce;machine=dss8440;operands=5", 7 * 5 * 4 }, { "host;machine=dss8440;ipus=3", 3 * 7 * 12 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *recipe = arena_printf(&a, "%s;tiles=7;bytes=12", cases[i].recipe);
        assert_near(predict(recipe, "aggregate_gb_per_s"), cases[i].bytes / predict(recipe, "latency_us") / 1e3, 1e-9);
    }
    arena_free(&a);
}

/* A broadcast to four tiles or more has the rate of two tiles, both on one chip and on the source's own chip. */
static void broadcasts_below_an_island(void **state)
{
    (void)state;
    const double rates[] = { [3] = 6387.2, [4] = 2 * 6387.2 };
    for (uint32_t tiles = 3; tiles <= 4; tiles++) {
        assert_near(predict(arena_printf(&a, "broadcast;machine=dss8440;tiles=%u;bytes=12", tiles), "latency_us"), 150 / 1600.0 + 12 / rates[tiles], 1e-9);
        assert_near(predict(arena_printf(&a, "broadcast;machine=dss8440;ipus=2;tiles=%u", tiles), "latency_us"),
                    0.375 + 0.255 + 157 / 1600.0 + 4 / rates[tiles] + 4 / 6387.2, 1e-9);
    }
    arena_free(&a);
}

/* Sums of 64 IPUs, one a tile, are added in two stages, the second over the links again: twice all of it. */
static void a_second_stage_between_chips(void **state)
{
    (void)state;
    struct machine m;
    assert_true(machine_load(&m, "gc200", "system-model/specs", &a, &err));
    const double clock_mhz = m.chip.clock_hz / 1e6, word_us = 4 / ((double)m.chip.exchange_bytes_per_cycle * m.chip.exchange_efficiency * clock_mhz);
    const double links_us = predict("scatter;machine=ipu-pod64;ipus=64", "latency_us") - 64 * word_us;
    const double stage_us = ((double)(m.chip.on_chip_sync_cycles + m.chip.compute_set_cycles) + (double)m.chip.supervisor_cycles + 6 * 26) / clock_mhz;
    assert_near(predict("reduce;machine=ipu-pod64;ipus=64", "latency_us"), 2 * (stage_us + links_us), 1e-9);
    arena_free(&a);
}

/* One tile sends or receives all words. With few tiles, which are near, it takes at least 150 cycles. Longer
 * messages of a gather take a superstep of the chip's sheet more. */
static void one_tile_by_hand(void **state)
{
    (void)state;
    assert_near(predict("gather;machine=dss8440;from=0;to=0;tiles=50", "latency_us"), 119 / 1600.0 + 200 / 6387.2, 1e-6);
    assert_near(predict("gather;machine=dss8440;from=0;to=0;tiles=29", "latency_us"), 150 / 1600.0, 1e-6);
    assert_near(predict("scatter;machine=dss8440;from=0;to=0;tiles=29", "latency_us"), 287 / 1600.0 + 116 / 6387.2, 1e-6);
    assert_near(predict("broadcast;machine=dss8440;from=0;to=0;tiles=76;bytes=12", "latency_us"), 150 / 1600.0 + 12 / 12774.4, 1e-6);
    assert_near(predict("broadcast;machine=dss8440;from=0;to=0;tiles=77;bytes=12", "latency_us"), (106 + 157) / 1600.0 + 12 / 12774.4, 1e-6);
    struct machine m;
    assert_true(machine_load(&m, "gc2", "system-model/specs", &a, &err));
    assert_near(predict("gather;machine=dss8440;from=0;to=0;tiles=50;bytes=160", "latency_us"),
                (119 + 106 + (double)m.chip.compute_set_cycles) / 1600 + 8000 / 6387.2, 1e-6);
    arena_free(&a);
}

/* How long 1216 messages hold the pairs of their route: 2.63 ns a rung's pass-through pair and 1.65 a rail's, 0.83
 * each rail straight on. When halves exchange, the messages wait for each of three rails in turn. */
static void messages_by_hand(void **state)
{
    (void)state;
    double latency_us = 0.375 + 0.030 + 0.255 + 0.131, word_us = 4 / 6387.2;
    assert_near(predict("p2p;machine=dss8440;from=0;to=3;tiles=1216", "latency_us"), latency_us + 1.216 * (2.63 + 1.65), 1e-6);
    assert_near(predict("halves;machine=dss8440;ipus=4;tiles=1216", "latency_us"), latency_us + 1.216 * (2.63 + 1.65), 1e-6);
    latency_us += 2 * (0.030 + 0.131);
    assert_near(predict("halves;machine=dss8440;ipus=8;tiles=1216", "latency_us"), latency_us + 3 * 1.216 * (2.63 + 1.65), 1e-6);
    assert_near(predict("gather;machine=dss8440;ipus=8;tiles=1216", "latency_us"),
                latency_us + 1.216 * (2.63 + 1.65 + 2 * 0.83) + 8 * 1216 * word_us, 1e-6);
    /* from the column's first to its third: the second rail goes straight on */
    assert_near(predict("gather;machine=dss8440;from=0;to=4;ipus=2;tiles=1216", "latency_us"),
                0.375 + 2 * (0.030 + 0.131) + 1.216 * (1.65 + 0.83) + 2 * 1216 * word_us, 1e-6);
    /* two IPUs of a column: one rail and no turn; of a board: the rung alone */
    assert_near(predict("halves;machine=dss8440;from=0;to=2;ipus=2;tiles=1216", "latency_us"), 0.375 + 0.030 + 0.131 + 1.216 * 1.65, 1e-6);
    assert_near(predict("halves;machine=dss8440;from=0;to=1;ipus=2;tiles=1216", "latency_us"), 0.375 + 0.255 + 1.216 * 3.1, 1e-6);
    arena_free(&a);
}

/* Supersteps as the chip's sheets have them, and vertices of 11 + 6 x 26 cycles: one for a tile's own operands, one
 * that adds what comes from other tiles, 15 cycles of a worker each, or where that is more a second stage with an
 * exchange of its own. Hundreds of operands are shared by the workers, in a superstep more. */
static void reductions_by_hand(void **state)
{
    (void)state;
    struct machine m;
    assert_true(machine_load(&m, "gc2", "system-model/specs", &a, &err));
    double superstep_us = (106 + (double)m.chip.compute_set_cycles) / 1600, vertex_us = 167 / 1600.0, word_us = 4 / 6387.2, far_us = (106 + 157) / 1600.0;
    assert_near(predict("reduce;machine=dss8440;tiles=1;operands=1", "latency_us"), superstep_us + vertex_us, 1e-6);
    assert_near(predict("reduce;machine=dss8440;tiles=6;operands=1", "latency_us"), superstep_us + vertex_us + (150 + 5 * 90) / 1600.0, 1e-6);
    assert_near(predict("reduce;machine=dss8440;tiles=61;operands=36", "latency_us"),
                2 * superstep_us + 3 * vertex_us + far_us + 36 * word_us + 119 / 1600.0 + 61 * word_us, 1e-6);
    assert_near(predict("reduce;machine=dss8440;tiles=61;operands=37", "latency_us"),
                3 * superstep_us + 3 * vertex_us + far_us + 37 * word_us + 119 / 1600.0 + 61 * word_us, 1e-6);
    assert_near(predict("reduce;machine=dss8440;from=0;to=2;ipus=2;tiles=1216;operands=1", "latency_us"),
                2 * superstep_us + 2 * vertex_us + far_us + 0.375 + 0.030 + 0.131 + 1.216 * 1.65, 1e-6);
    /* a tile of each of eight IPUs: a second stage would go over the links again */
    assert_near(predict("reduce;machine=dss8440;ipus=8;tiles=1;operands=1", "latency_us"),
                superstep_us + vertex_us + 0.375 + 3 * 0.030 + 0.255 + 3 * 0.131 + 7 * 90 / 1600.0, 1e-6);
    arena_free(&a);
}

/* A sheet may state that a hop takes no time: the route is there all the same. */
static void hops_that_take_no_time(void **state)
{
    (void)state;
    static const char *const names[] = { "gc2.csv", "c2.csv", "dss8440.csv" };
    char folder[] = "/tmp/podbench-links-XXXXXX";
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 3; i++) {
        struct csv_table t;
        assert_true(csv_load(&t, arena_printf(&a, "system-model/specs/%s", names[i]), &a, &err));
        FILE *f = fopen(arena_printf(&a, "%s/%s", folder, names[i]), "w");
        assert_non_null(f);
        fprintf(f, "key,value,unit,source\n");
        for (size_t r = 0; r < t.n_rows; r++) {
            bool hop = strstr(t.rows[r].cells[0], "_latency_s") && !strstr(t.rows[r].cells[0], "host");
            fprintf(f, "%s,%s,%s,test\n", t.rows[r].cells[0], hop ? "0" : t.rows[r].cells[1], t.rows[r].cells[2]);
        }
        fclose(f);
    }
    double got_us = 0;
    assert_true(predict_on(&got_us, "broadcast;machine=dss8440;from=0;to=2;ipus=2;tiles=1216;bytes=8", "latency_us", folder));
    assert_near(got_us, 0.375 + 157 / 1600.0 + 8 / 12774.4 + (8 + 4 * 14 / 86.0) / 6387.2, 1e-6);      /* a rail: the whole gap between two words */
    for (size_t i = 0; i < 3; i++)
        unlink(arena_printf(&a, "%s/%s", folder, names[i]));
    rmdir(folder);
    arena_free(&a);
}

/* More tiles never take less time (from an island on: below it a broadcast has half the rate). */
static void more_takes_longer(void **state)
{
    (void)state;
    static const char *const kinds[] = { "p2p", "broadcast", "gather", "scatter", "all-to-all", "reduce", "host" };
    for (size_t k = 0; k < 7; k++) {
        double before = 0;
        for (uint32_t tiles = 5; tiles <= 1216; tiles *= 6) {
            const char *recipe = arena_printf(&a, "%s;machine=dss8440;from=0;tiles=%u;bytes=24;operands=9", kinds[k], tiles);
            double time_us = predict(recipe, "latency_us");
            assert_true(time_us > 0 && time_us >= before);
            before = time_us;
        }
    }
    arena_free(&a);
}

/* How near is the business of podbench check. */
static void every_published_case_predicts(void **state)
{
    (void)state;
    struct figures f;
    struct link_bench bench = { .specs_dir = "system-model/specs", .costs_dir = "results/published/links", .arena = &a };
    assert_true(published_load(&f, "results/published/links.csv", &a, &err));
    assert_true(f.n > 600);
    for (size_t i = 0; i < f.n; i++) {
        double got;
        assert_true(link_row_predict(&got, f.items[i].link, f.items[i].metric, &bench, &err));
        assert_true(got > 0 && isfinite(got));
    }
    arena_free(&a);
}

static void refusals(void **state)
{
    (void)state;
    static const struct { const char *text, *metric, *message; } bad[] = {
        { "p2p;from=0", "latency_us", "cells.csv:2: machine: missing: sheet" },
        { "push;machine=c2", "latency_us", "cells.csv:2: link: 'push' is not one of: p2p, halves, hop, broadcast, gather, scatter, all-to-all, reduce, host" },
        { "p2p;machine=c2;from=0;to=2", "latency_us", "c2 has only IPUs 0 to 1" },
        { "p2p;machine=c2;tiles=1217", "latency_us", "1217 tiles, but a chip has 1216" },
        { "p2p;machine=c2;from=2", "latency_us", "c2 has only IPUs 0 to 1" },
        { "p2p;machine=c2;from=2;to=0", "latency_us", "c2 has only IPUs 0 to 1" },
        { "gather;machine=c2;ipus=3", "latency_us", "c2 has only IPUs 0 to 1" },
        { "all-to-all;machine=c2;from=0;to=1", "latency_us", "all-to-all: is modelled on one chip only" },
        { "halves;machine=c2", "latency_us", "halves: ipus 1, want an even number" },
        { "p2p;machine=c2", "speed", "unknown metric 'speed'; known: latency_us, aggregate_gb_per_s" },
        { "gather;machine=c600", "latency_us", "gather: the costs of small messages on c600 are not known" },
        { "hop;machine=c2;apart=1", "latency_us", "hop: no two IPUs of c2 are 1 boards apart" },
        { "halves;machine=dss8440;ipus=5", "latency_us", "halves: ipus 5, want an even number" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value;
        assert_false(predict_on(&value, bad[i].text, bad[i].metric, "system-model/specs"));
        assert_string_equal(err.msg, bad[i].message);
    }
    arena_free(&a);
}

/* A table of costs is whole, in its units, and holds nothing else. */
static void costs_of_messages(void **state)
{
    static const struct { const char *cut, *put, *message; } bad[] = {
        { "\nexchange_columns,16", "\nexchange_rows,16", "c2.csv:3: exchange_rows: is no known cost of small messages" },
        { "1.65e-9,s,", "1.65e-9,ns,", "c2.csv:10: rail_message_s is in 'ns', want 's'" },
        { "\nexchange_least_cycles,150", "\nexchange_least_cycles,0", "c2.csv:5: exchange_least_cycles: 0 is outside 1 to 1000000 cycles" },
        { "\nexchange_island_tiles,4,tiles,iPUG 2021 (Burchard et al.),\n", "\n", "c2.csv: exchange_island_tiles: missing" },
    };
    char folder[] = "/tmp/podbench-costs-XXXXXX", *whole;
    struct message_costs costs;
    struct machine m;
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_true(machine_load(&m, "dss8440", "system-model/specs", &a, &err) && read_text_file(&whole, NULL, "results/published/links/c2.csv", 1 << 16, &a, &err));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = strstr(whole, bad[i].cut), *path = arena_printf(&a, "%s/c2.csv", folder);
        assert_non_null(at);
        FILE *f = fopen(path, "w");
        fprintf(f, "%.*s%s%s", (int)(at - whole), whole, bad[i].put, at + strlen(bad[i].cut));
        fclose(f);
        assert_false(message_costs_load(&costs, folder, &m, &a, &err));
        assert_string_equal(strstr(err.msg, "c2.csv"), bad[i].message);
        unlink(path);
    }
    assert_true(message_costs_load(&costs, folder, &m, &a, &err));      /* no table: every word is as far as the farthest */
    assert_int_equal(costs.exchange_near_cycles, 157);
    assert_int_equal(costs.exchange_least_cycles, 0);
    rmdir(folder);
    arena_free(&a);
}

/* Each key at its ends, and beyond. */
static void ranges(void **state)
{
    static const char *const beyond[] = { "from=1000001", "to=1000001", "ipus=0", "ipus=65", "tiles=0", "tiles=1000001", "bytes=0.9", "bytes=1000000001",
                                          "operands=0", "operands=1000001", "apart=1001", "both=2", "column=neither" };
    static const char *const ends[] = { "from=1000000", "to=1000000", "ipus=1", "ipus=64", "tiles=1", "tiles=1000000", "bytes=1", "bytes=1e9", "operands=1",
                                        "operands=1e6", "apart=1000", "both=yes", "column=other" };
    const char *text = "";
    double value;
    (void)state;
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_false(predict_on(&value, arena_printf(&a, "p2p;machine=c2;%s", beyond[i]), "latency_us", "system-model/specs"));
        text = arena_printf(&a, "%s%s\n", text, err.msg);
    }
    assert_golden(text, "tests/golden/link_ranges.txt", &a);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!predict_on(&value, arena_printf(&a, "p2p;machine=c2;%s", ends[i]), "latency_us", "system-model/specs"))
            assert_null(strstr(err.msg, "outside"));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_by_hand),
        cmocka_unit_test(rates_by_hand), cmocka_unit_test(hosts_feed_their_own), cmocka_unit_test(hops_are_means_of_pairs),
        cmocka_unit_test(slope_is_a_word_a_cycle),
        cmocka_unit_test(collectives_by_hand),
        cmocka_unit_test(one_to_another_by_hand), cmocka_unit_test(bytes_that_count), cmocka_unit_test(broadcasts_below_an_island),
        cmocka_unit_test(a_second_stage_between_chips), cmocka_unit_test(one_tile_by_hand),
        cmocka_unit_test(messages_by_hand),
        cmocka_unit_test(reductions_by_hand),
        cmocka_unit_test(hops_that_take_no_time),
        cmocka_unit_test(more_takes_longer),
        cmocka_unit_test(every_published_case_predicts),
        cmocka_unit_test(refusals), cmocka_unit_test(costs_of_messages), cmocka_unit_test(ranges),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
