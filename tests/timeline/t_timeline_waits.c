/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_timeline_waits.c - the waits of a step: for the update, a slow chip, the host and input. */
#include "tests/timeline/toy_pipeline.h"

/* The update side by side: IPU 1's optimizer takes 50 more, so IPU 0 waits for it; the parts still sum. */
static void the_update_waits_for_the_slowest(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, true, 1);
    toy_update(&y, 0, 1, 13, 17, 19);
    toy_update(&y, 1, 1, 13, 67, 19);
    y.plan.call_cycles[CALL_FRAMEWORK] = 16;
    y.plan.call_cycles[CALL_UPLOAD] = 7;
    toy_run(&y);
    assert_int_equal(y.timeline.step_cycles, 100 + 107 + 210 + 221 + 13 + 67 + 19 + 23);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_ALL_REDUCE], 32);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_OPTIMIZER], 17);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_BUBBLE], 107 + 221 + 50);
    arena_free(&y.arena);
}

/* In series: a merged collective of 5 for both, then two tensors of 13 + 17 + 19 on IPU 0 while IPU 1 waits, then one of
 * 13 + 67 + 19 on IPU 1 while IPU 0 waits. Equal tensors are one recurring span a step. */
static void an_update_in_series_takes_turns(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, true, 1);
    toy_update(&y, ALL_IPUS, 1, 5, 0, 0);
    toy_update(&y, 0, 2, 13, 17, 19);
    toy_update(&y, 1, 1, 13, 67, 19);
    y.plan.update.in_series = true;
    toy_run(&y);
    uint64_t loop = 100 + 107 + 210 + 221;
    assert_int_equal(y.timeline.step_cycles, loop + 5 + 2 * 49 + 99);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_ALL_REDUCE], 5 + 2 * 32);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_OPTIMIZER], 2 * 17);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_BUBBLE], 107 + 221 + 99);
    assert_int_equal(y.timeline.rows[1].spent.part[PART_BUBBLE], 100 + 210 + 2 * 49);
    uint32_t recurring = 0;
    for (size_t i = 0; i < y.timeline.n_spans; i++) {
        const struct span *s = &y.timeline.spans[i];
        if (s->row == 0 && s->repeat == 2 && s->kind == SPAN_OPTIMIZER) {
            recurring++;
            assert_true(s->start_cycle == loop + 5 + 13 && s->period_cycles == 49);
        }
    }
    assert_int_equal(recurring, 1);
    arena_free(&y.arena);
}

/* One of three chips takes 1.5 times as long in one of five replicas: everyone waits for it; folded and unfolded agree. */
static uint64_t step_with_slow_chip(uint32_t ipu)
{
    struct toy folded, unfolded;
    struct chip_fault fault = { .ipu = ipu, .slowdown = 1.5 };
    struct faults faults = { .chips = &fault, .n_chips = 1 };
    toy_start(&folded, 3, 3, SCHEDULE_POPART, true, 9);
    toy_start(&unfolded, 3, 3, SCHEDULE_POPART, true, 9);
    folded.plan.request.faults = unfolded.plan.request.faults = &faults;
    folded.plan.request.n_replicas = unfolded.plan.request.n_replicas = 5;
    unfolded.plan.request.detail.unfolded = true;
    toy_run(&folded);
    toy_run(&unfolded);
    assert_int_equal(folded.timeline.n_rows, 2 * 3);
    assert_int_equal(unfolded.timeline.n_rows, 5 * 3);
    uint64_t step = folded.timeline.step_cycles;
    assert_int_equal(step, unfolded.timeline.step_cycles);
    struct cycles a = {0}, b = {0};
    for (uint32_t r = 0; r < folded.timeline.n_rows; r++)
        cycles_add(&a, &folded.timeline.rows[r].spent, folded.timeline.rows[r].n_alike);
    for (uint32_t r = 0; r < unfolded.timeline.n_rows; r++)
        cycles_add(&b, &unfolded.timeline.rows[r].spent, 1);
    assert_memory_equal(&a, &b, sizeof a);
    arena_free(&folded.arena);
    arena_free(&unfolded.arena);
    return step;
}

/* It does not matter which replica has the slow chip. */
static void a_slow_chip_holds_all_replicas_up(void **state)
{
    (void)state;
    struct toy healthy;
    toy_start(&healthy, 3, 3, SCHEDULE_POPART, true, 9);
    toy_run(&healthy);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t first = step_with_slow_chip(i), third = step_with_slow_chip(2 * 3 + i);
        assert_int_equal(first, third);
        assert_true(healthy.timeline.step_cycles < first);
    }
    arena_free(&healthy.arena);
}

/* A slowdown of 1.37 makes 146.59 of 107 cycles, rounded up to 147. If 40 of the 107 are on links, the other 67
 * become 91.79: 132 in all. */
static void a_slow_chip_takes_whole_cycles(void **state)
{
    (void)state;
    struct toy y;
    const struct chip_fault chip = { .ipu = 1, .slowdown = 1.37 };
    const struct faults faults = { .chips = &chip, .n_chips = 1 };
    for (uint64_t on_links = 0; on_links <= 40; on_links += 40) {
        size_t n = 0;
        toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, false, 3);
        y.plan.request.faults = &faults;
        y.plan.stages[1].forward.part[PART_ALL_REDUCE] = on_links;
        y.plan.stages[1].forward.part[PART_MATMUL] = 107 - on_links;
        toy_run(&y);
        for (size_t i = 0; i < y.timeline.n_spans; i++)
            if (y.timeline.spans[i].kind == SPAN_FORWARD && y.timeline.spans[i].stage == 1) {
                assert_int_equal(y.timeline.spans[i].n_cycles, on_links ? 132 : 147);
                n++;
            }
        assert_true(n > 0);
        arena_free(&y.arena);
    }
}

static void input_that_is_not_hidden_stops_the_ipu(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 1, 1, SCHEDULE_NONE, true, 4);
    y.machine.chip.host_link_bytes_per_s = 1.6e10;
    y.plan.stages[0].host_bytes = 801;      /* 801 / 16 = 50.06 cycles of 1 ns: 51 */
    toy_run(&y);
    assert_int_equal(y.timeline.step_cycles, 4 * (100 + 210 + 51));
    assert_int_equal(y.timeline.rows[0].spent.part[PART_HOST], 4 * 51);
    arena_free(&y.arena);
}

/* Two stages of one IPU read what is theirs, once: 801 / 16 and 1290 / 16 are 51 and 81 cycles. */
static void stages_of_one_ipu_read_their_own_input(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 1, SCHEDULE_SEQUENTIAL, true, 4);
    y.machine.chip.host_link_bytes_per_s = 1.6e10;
    y.plan.stages[0].host_bytes = 801;
    y.plan.stages[1].host_bytes = 1290;
    toy_run(&y);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_HOST], 4 * (51 + 81));
    arena_free(&y.arena);
}

/* 7 replicas of 3 IPUs in 2 processes of 3 threads: one of 4 replicas serves them in 2 turns. All IPUs wait for a copy of 23 cycles and for a sync
 * of 17 of the other turn, for each of 5 micro-batches, in addition to 2 x 10 cycles of fill, 5 x 30 of work and 2 x 20 of
 * drain. With a thread for each replica there is one turn. If several micro-batches are kept ready, there is a sync and no wait for a copy; if
 * nothing is read, there is none. Results of each micro-batch take as long again, which inference always has. */
static void a_replica_waits_for_its_turn_with_the_host(void **state)
{
    (void)state;
    static const struct { uint64_t host_bytes; uint32_t threads; bool training, evaluation; uint64_t want; bool outputs; uint64_t prefetch_depth; } cases[] = {
        { 6, 3, true, false, 210 + 5 * 2 * (23 + 17), true, 0 }, { 6, 3, true, false, 210 + 5 * (23 + 17), false, 0 },
        { 6, 0, true, false, 210 + 5 * 23, false, 0 }, { 6, 1, true, false, 210 + 5 * (23 + 3 * 17), false, 1 },
        { 6, 1, true, false, 210 + 5 * 17, false, 2 }, { 6, 1, true, false, 210 + 5 * 2 * 17, true, 3 }, { 0, 1, true, false, 210, false, 0 },
        { 6, 3, false, true, 7 * 10 + 5 * (23 + 17), false, 0 }, { 6, 3, false, false, 7 * 10 + 5 * 2 * (23 + 17), false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy y;
        toy_start(&y, 3, 3, SCHEDULE_POPART, cases[i].training, 5);
        all_alike(&y, 10, 20);
        y.machine.host_latency_s = 17e-9;
        y.plan.stages[0].host_bytes = cases[i].host_bytes;
        y.plan.request.n_replicas = 7;
        y.plan.request.host.n_instances = 2;
        y.plan.request.evaluation = cases[i].evaluation;
        y.plan.request.program.stream_copy_s = 23e-9;
        y.plan.request.program.fetch_threads = cases[i].threads;
        y.plan.request.program.outputs_each_micro_batch = cases[i].outputs;
        y.plan.request.program.prefetch_depth = cases[i].prefetch_depth;
        toy_run(&y);
        assert_int_equal(y.timeline.step_cycles, cases[i].want);
        for (uint32_t r = 0; r < 3; r++)
            assert_int_equal(y.timeline.rows[r].spent.part[PART_HOST], cases[i].want - (cases[i].training ? 210 : 70));
        arena_free(&y.arena);
    }
}

/* Each of 4 micro-batches of 33 bytes, 100 cycles long, is sent on from 2 of 7 tiles, or to the 2 that I/O tiles leave: 17 bytes of one, 9 cycles,
 * the sync of a superstep, 5 and 3, and 7 on the way. Results of 12 bytes take the same way back: 6 bytes of one, 3 cycles and 15. All wait 17 cycles for
 * the host's sync, however many results there are, and the step is no shorter than the port takes in either direction. Without I/O tiles bytes of
 * both directions are waited for, and two copies of 19 cycles; in training the results stay. */
static void io_tiles_pass_on_input_and_results(void **state)
{
    (void)state;
    static const struct { bool training; uint64_t host_bytes, result_bytes; uint32_t io_tiles; double port; uint64_t want, host; } cases[] = {
        { false, 33, 0, 2, 1e9, 4 * (100 + 24 + 17), 4 * (24 + 17) }, { false, 33, 0, 5, 1e9, 4 * (100 + 24 + 17), 4 * (24 + 17) },
        { false, 0, 0, 2, 1e9, 400, 0 }, { false, 33, 0, 2, 1e8, 1320, 1320 - 400 },
        { false, 33, 12, 2, 1e9, 4 * (100 + 24 + 18 + 17), 4 * (24 + 18 + 17) }, { false, 33, 66, 2, 1e8, 2640, 2640 - 400 },
        { false, 33, 12, 0, 1e9, 4 * (100 + 33 + 12 + 2 * 19), 4 * (33 + 12 + 2 * 19) }, { true, 33, 12, 2, 1e9, 4 * (100 + 210 + 24 + 17), 4 * (24 + 17) },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy y;
        toy_start(&y, 1, 1, SCHEDULE_NONE, cases[i].training, 4);
        y.machine.chip.exchange_bytes_per_cycle = 2;
        y.machine.chip.exchange_efficiency = 1;
        y.machine.chip.on_chip_sync_cycles = 5;
        y.machine.chip.compute_set_cycles = 3;
        y.machine.chip.exchange_transit_cycles = 7;
        y.machine.chip.host_link_bytes_per_s = cases[i].port;
        y.machine.host_latency_s = 17e-9;
        y.plan.request.program.stream_copy_s = 19e-9;
        y.plan.request.program.outputs_each_micro_batch = i == 0;
        y.plan.request.io_tiles = cases[i].io_tiles;
        y.plan.stages[0].host_bytes = cases[i].host_bytes;
        y.plan.stages[0].result_bytes = cases[i].result_bytes;
        toy_run(&y);
        assert_int_equal(y.timeline.step_cycles, cases[i].want);
        assert_int_equal(y.timeline.rows[0].spent.part[PART_HOST], cases[i].host);
        arena_free(&y.arena);
    }
}

/* 3 replicas read 5 micro-batches of 700 bytes each: 10,500 bytes through two hosts that prepare 7,000 B/s each: 0.75 s. One
 * board's network carries those of its own two replicas (4 IPUs, 2 each): 7,000 bytes at 14,000 B/s, 0.5 s. */
static void the_step_waits_for_its_input(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, true, 5);
    y.plan.request.n_replicas = 3;
    y.plan.request.host.n_hosts = 2;
    y.plan.request.host.decode_bytes_per_s = 7000;
    y.machine.host_network_bytes_per_s = 14000;
    y.plan.stages[0].host_bytes = 700;
    toy_run(&y);
    assert_int_equal(y.plan.host_floor_cycles, 750000000);
    arena_free(&y.arena);
    toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, true, 5);
    y.plan.request.n_replicas = 3;
    y.machine.host_network_bytes_per_s = 14000;
    y.plan.stages[0].host_bytes = 700;
    toy_run(&y);
    assert_int_equal(y.plan.host_floor_cycles, 500000000);
    arena_free(&y.arena);
}

/* Two chips behind a port of 12 GB/s read at 6 each, one alone at the 8 of its own: 12,000 bytes in 2 or 1.5 us. */
static void two_chips_share_a_port(void **state)
{
    (void)state;
    for (uint32_t n_replicas = 1; n_replicas <= 2; n_replicas++) {
        struct toy y;
        toy_start(&y, 1, 1, SCHEDULE_NONE, true, 3);
        y.plan.request.n_replicas = n_replicas;
        y.machine.pcie_shared_ipus = 2;
        y.machine.pcie_shared_bytes_per_s = 12e9;
        y.machine.chip.host_link_bytes_per_s = 8e9;
        y.plan.stages[0].host_bytes = 12000;
        toy_run(&y);
        assert_int_equal(y.plan.io_cycles[0], n_replicas == 2 ? 2000 : 1500);
        arena_free(&y.arena);
    }
}

/* 5 micro-batches of 700 bytes, at a byte a second through the network, the host or the chip's own port: slow, but there. */
static void a_byte_a_second_is_a_rate(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct toy y;
        toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, true, 5);
        y.plan.request.host.n_hosts = 1;
        y.plan.stages[0].host_bytes = 700;
        *(i == 0 ? &y.machine.host_network_bytes_per_s : i == 1 ? &y.plan.request.host.decode_bytes_per_s : &y.machine.chip.host_link_bytes_per_s) = 1;
        toy_run(&y);
        assert_int_equal(y.plan.host_floor_cycles, i < 2 ? 5 * 700 * UINT64_C(1000000000) : 0);
        assert_int_equal(y.plan.io_cycles[0], i < 2 ? 0 : 700 * UINT64_C(1000000000));
        arena_free(&y.arena);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_update_waits_for_the_slowest), cmocka_unit_test(an_update_in_series_takes_turns),
    cmocka_unit_test(a_slow_chip_holds_all_replicas_up), cmocka_unit_test(a_slow_chip_takes_whole_cycles),
    cmocka_unit_test(input_that_is_not_hidden_stops_the_ipu), cmocka_unit_test(stages_of_one_ipu_read_their_own_input),
    cmocka_unit_test(a_replica_waits_for_its_turn_with_the_host), cmocka_unit_test(io_tiles_pass_on_input_and_results),
    cmocka_unit_test(the_step_waits_for_its_input), cmocka_unit_test(two_chips_share_a_port),
    cmocka_unit_test(a_byte_a_second_is_a_rate),
};
TAP_MAIN(tests)
