/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_timeline.c - the schedules of a pipeline: who works when. */
#include "tests/timeline/toy_pipeline.h"
#include "system-model/timeline/player.h"

/* One letter a cycle of `grain` cycles: F forward, B backward, . waiting. */
static void draw(char *to, const struct timeline *t, uint32_t row, uint64_t grain)
{
    uint64_t n = t->step_cycles / grain;
    memset(to, '.', n);
    to[n] = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct span *s = &t->spans[i];
        if (s->row != row || span_is_waiting(s->kind))
            continue;
        for (uint32_t k = 0; k < s->repeat; k++)
            for (uint64_t c = 0; c < s->n_cycles / grain; c++)
                to[(s->start_cycle + k * s->period_cycles) / grain + c] = s->kind == SPAN_FORWARD ? 'F' : 'B';
    }
}

static void assert_picture(struct toy *y, uint64_t grain, const char *const *want)
{
    char got[400];
    for (uint32_t i = 0; i < y->timeline.n_rows; i++) {
        draw(got, &y->timeline, i, grain);
        assert_string_equal(got, want[i]);
    }
}

/* Three spans that recur every 100 cycles: the last of them may reach as far as the first begins again, and no further. */
static void spans_that_recur_leave_room_for_each_other(void **state)
{
    static const struct { uint64_t last_cycles; const char *message; } rows[] = {
        { 60, "" }, { 61, "timeline: row 0: call from cycle 0 and call from cycle 40 overlap (step of 162)" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t starts[] = { 0, 20, 40 }, lengths[] = { 10, 10, rows[i].last_cycles };
        struct err err = { "" };
        struct plan p = { .n_stages = 0 };
        struct span spans[3];
        struct timeline_row row = { .n_alike = 1 };
        struct timeline t = { .plan = &p, .spans = spans, .n_spans = 3, .rows = &row, .n_rows = 1 };
        for (int k = 0; k < 3; k++) {
            spans[k] = (struct span){ .repeat = 2, .period_cycles = 100, .start_cycle = starts[k], .n_cycles = lengths[k], .stage = UINT16_MAX, .kind = SPAN_CALL };
            t.step_cycles += 2 * lengths[k];
        }
        row.spent.part[PART_HOST] = t.step_cycles;
        assert_int_equal(timeline_check(&t, &err), i == 0);
        assert_string_equal(err.msg, rows[i].message);
    }
}

/* Four chips, six batches: all are busy from the fourth batch on. */
static void inference_fills_four_chips_by_the_fourth_batch(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 4, 4, SCHEDULE_GROUPED, false, 6);
    all_alike(&y, 10, 0);
    toy_run(&y);
    static const char *const want[] = { "FFFFFF...", ".FFFFFF..", "..FFFFFF.", "...FFFFFF" };
    assert_picture(&y, 10, want);
    assert_int_equal(y.timeline.first_output_cycles, 40);
    arena_free(&y.arena);
}

/* PopART, four chips, eight micro-batches: fill, all busy with both, drain; 8 + 2*4 - 2 = 14 cycles. Backward takes twice as long. */
static void popart_fills_and_drains(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 4, 4, SCHEDULE_POPART, true, 8);
    all_alike(&y, 10, 20);
    toy_run(&y);
    static const char *const want[] = {
        "FFF" "F..F..F.." "FBBFBB" "BB.BB.BB." "BBBBBB",
        ".FF" "F..F..FBB" "FBBFBB" "FBBBB.BB." "BBBB..",
        "..F" "F..FBBFBB" "FBBFBB" "FBBFBBBB." "BB....",
        "..." "FBBFBBFBB" "FBBFBB" "FBBFBBFBB" "......",
    };
    assert_picture(&y, 10, want);
    assert_int_equal(y.timeline.step_cycles, 3 * 10 + 8 * 30 + 3 * 20);
    arena_free(&y.arena);
}

/* Grouped: all forwards together, then all backwards: (GA + S - 1) * (slowest forward + slowest backward). */
static void grouped_takes_the_slowest_of_each_kind(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 3, 3, SCHEDULE_GROUPED, true, 5);
    toy_run(&y);
    /* forwards run in 7 cycles: alone 0: 100, 0-1: 107, then 114 five times; backwards in 7: three stages' 232 five times, then 221, 210 */
    assert_int_equal(y.timeline.step_cycles, 100 + 107 + 5 * 114 + 5 * 232 + 221 + 210);
    arena_free(&y.arena);
}

static void interleaved_neighbours_alternate(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 2, SCHEDULE_INTERLEAVED, true, 3);
    all_alike(&y, 10, 10);
    toy_run(&y);
    static const char *const want[] = { "F.FBFB.B", ".FBFBFB." };
    assert_picture(&y, 10, want);
    arena_free(&y.arena);
}

static void sequential_never_overlaps(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 3, 3, SCHEDULE_SEQUENTIAL, true, 4);
    toy_run(&y);
    assert_int_equal(y.timeline.step_cycles, 4 * (100 + 107 + 114 + 210 + 221 + 232));
    arena_free(&y.arena);
}

/* Five stages on four IPUs: the first IPU does stages 0 and 4 in turn. One steady PopART cycle by hand:
 * IPU 0: 100 + 210 + 128 + 254 = 692; IPU 3: 121 + 243 = 364; so 692 a cycle. */
static void two_stages_of_one_ipu_run_in_turn(void **state)
{
    (void)state;
    struct toy y, longer;
    toy_start(&y, 5, 4, SCHEDULE_POPART, true, 20);
    toy_run(&y);
    toy_start(&longer, 5, 4, SCHEDULE_POPART, true, 31);
    toy_run(&longer);
    assert_int_equal(longer.timeline.step_cycles - y.timeline.step_cycles, 11 * 692);
    assert_int_equal(y.plan.stages[0].stash_depth, 9);
    assert_int_equal(y.plan.stages[3].stash_depth, 3);
    assert_int_equal(y.plan.stages[4].stash_depth, 1);
    arena_free(&y.arena);
    arena_free(&longer.arena);
}

static void a_short_popart_pipeline_is_refused(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 5, 4, SCHEDULE_POPART, true, 8);
    assert_false(plan_pipeline(&y.plan, &y.compiler, &y.arena, &y.err));
    assert_string_equal(y.err.msg, "parallel.gradient_accumulation: 8 micro-batches cannot fill a popart pipeline of 5 stages; "
                                   "want at least 9 (2 x stages - 1)");
    arena_free(&y.arena);
}

/* As many stages as a word has bits for their tasks, and one more; as many IPUs as are played, and one more. */
static void more_stages_than_can_be_played(void **state)
{
    (void)state;
    for (uint32_t n = 32; n <= 33; n++) {
        struct toy y;
        toy_start(&y, n, 4, SCHEDULE_GROUPED, true, 2);
        for (uint32_t s = 0; s < n; s++)
            stage_sum_cycles(&y.plan.stages[s]);
        assert_int_equal(plan_pipeline(&y.plan, &y.compiler, &y.arena, &y.err), n == 32);
        if (n == 33)
            assert_string_equal(y.err.msg, "parallel.layers_per_ipu: 33 stages, at most 32 can be scheduled");
        arena_free(&y.arena);
    }
    for (uint32_t width = MAX_STAGES; width <= MAX_STAGES + 1; width++) {
        struct toy y;
        toy_start(&y, 1, 1, SCHEDULE_NONE, true, 2);
        toy_run(&y);
        y.plan.request.ipus_per_replica = width;
        assert_int_equal(timeline_run(&y.timeline, &y.plan, &y.arena, &y.err), width == MAX_STAGES);
        if (width > MAX_STAGES)
            assert_string_equal(y.err.msg, arena_printf(&y.arena, "parallel.ipus_per_replica: %d, at most %d", MAX_STAGES + 1, MAX_STAGES));
        arena_free(&y.arena);
    }
}

/* Leaving out spans changes neither the step nor how each IPU's cycles are spent, whether a chip is slow or not. Three tensors' optimizers of 17 on a
 * chip that takes twice as long: 51 more, and as much waiting on the other IPU. */
static void totals_are_those_of_the_spans(void **state)
{
    (void)state;
    static const double slowdowns[] = { 1, 2, 1.37 };
    uint64_t first_cycles = 0;
    for (size_t i = 0; i < sizeof slowdowns / sizeof *slowdowns; i++) {
        const struct chip_fault fault = { .ipu = 1, .slowdown = slowdowns[i] };
        const struct faults faults = { .chips = &fault, .n_chips = 1 };
        struct toy y;
        struct timeline totals;
        toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, false, 3);
        toy_update(&y, 0, 3, 13, 17, 19);
        toy_update(&y, 1, 3, 13, 17, 19);
        y.plan.request.faults = &faults;
        y.plan.stages[1].forward.part[PART_MATMUL] = 0;
        toy_run(&y);
        y.plan.request.detail.totals_only = true;
        assert_true(timeline_run(&totals, &y.plan, &y.arena, &y.err));
        assert_int_equal(totals.n_spans, 0);
        assert_int_equal(totals.step_cycles, y.timeline.step_cycles);
        for (uint32_t r = 0; r < y.timeline.n_rows; r++)
            assert_memory_equal(&totals.rows[r].spent, &y.timeline.rows[r].spent, sizeof totals.rows[r].spent);
        first_cycles = i ? first_cycles : totals.step_cycles;
        assert_int_equal(totals.rows[0].slow_cycles, 0);
        if (slowdowns[i] == 2) {
            assert_int_equal(totals.step_cycles, first_cycles + 51);
            assert_int_equal(totals.rows[1].slow_cycles, 51);
        }
        arena_free(&y.arena);
    }
}

/* Two stages of 100 and 107 forward, 210 and 221 backward, five micro-batches one after the other; IPU 1 takes twice as long: it is still at its own
 * work for five times 107 + 221 more. */
static void a_slow_chip_works_longer_at_each_micro_batch(void **state)
{
    const struct chip_fault fault = { .ipu = 1, .slowdown = 2 };
    const struct faults faults = { .chips = &fault, .n_chips = 1 };
    struct toy y;
    (void)state;
    toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, true, 5);
    y.plan.request.faults = &faults;
    toy_run(&y);
    assert_int_equal(y.timeline.rows[0].slow_cycles, 0);
    assert_int_equal(y.timeline.rows[1].slow_cycles, 5 * (107 + 221));
    assert_int_equal(y.timeline.rows[1].spent.part[PART_MATMUL], 5 * 107);
    assert_int_equal(y.timeline.rows[1].spent.part[PART_CONV], 5 * 221);
    arena_free(&y.arena);
}

/* Every schedule, several depths: the parts sum and no spans overlap (asserted by toy_run). */
static void laws_hold_for_every_schedule(void **state)
{
    (void)state;
    for (int schedule = 0; schedule < N_SCHEDULES; schedule++)
        for (uint32_t stages = 1; stages <= 9; stages++)
            for (uint32_t accum = 2 * stages - 1; accum < 2 * stages + 30; accum += 7) {
                struct toy y;
                toy_start(&y, stages, stages > 3 ? stages - 1 : stages, (enum schedule)schedule, true, accum);
                y.machine.host_latency_s = 13e-9;
                y.plan.stages[0].host_bytes = 1;
                toy_run(&y);
                uint64_t busy = 0;
                for (uint32_t s = 0; s < stages; s++)
                    busy += 310 + 18 * s;
                uint64_t spent = 0;
                for (uint32_t r = 0; r < y.timeline.n_rows; r++)
                    spent += y.timeline.rows[r].spent.part[PART_MATMUL] + y.timeline.rows[r].spent.part[PART_CONV];
                assert_int_equal(spent, busy * accum);      /* every task ran once a micro-batch */
                arena_free(&y.arena);
            }
}

/* Micro-batches whose activations a stage of four keeps: all that enter before its backward pass comes back. Slots: one for all that runs side
 * by side, two where passes or neighbours alternate, one for each task where all go in turn. */
static void stages_keep_what_is_in_flight(void **state)
{
    (void)state;
    static const struct { enum schedule schedule; uint32_t n_slots, depth[4]; } cases[] = {
        { SCHEDULE_POPART, 1, { 7, 5, 3, 1 } }, { SCHEDULE_GROUPED, 2, { 7, 5, 3, 1 } }, { SCHEDULE_INTERLEAVED, 2, { 4, 3, 2, 1 } },
        { SCHEDULE_SEQUENTIAL, 8, { 1, 1, 1, 1 } }, { SCHEDULE_NONE, 8, { 1, 1, 1, 1 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy y;
        toy_start(&y, 4, 4, cases[i].schedule, true, 8);
        toy_run(&y);
        assert_int_equal(y.plan.n_slots, cases[i].n_slots);
        for (uint32_t s = 0; s < 4; s++)
            assert_int_equal(y.plan.stages[s].stash_depth, cases[i].depth[s]);
        arena_free(&y.arena);
    }
}

/* A cycle booked under another part leaves the sum as it was; a step of a cycle more leaves the parts: each alone is found. */
static void a_cycle_in_the_wrong_place_is_found(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, true, 3);
    toy_run(&y);
    y.timeline.rows[1].spent.part[PART_MATMUL]--;
    y.timeline.rows[1].spent.part[PART_CONV]++;
    assert_false(timeline_check(&y.timeline, &y.err));
    unsigned long long step = y.timeline.step_cycles;
    assert_string_equal(y.err.msg, arena_printf(&y.arena, "timeline: row 1: parts sum to %llu and spans to %llu cycles, the step has %llu", step,
                                                step, step));
    y.timeline.rows[1].spent.part[PART_MATMUL]++;
    y.timeline.rows[1].spent.part[PART_CONV]--;
    assert_true(timeline_check(&y.timeline, &y.err));
    y.timeline.step_cycles++;
    assert_false(timeline_check(&y.timeline, &y.err));
    assert_int_equal(strncmp(y.err.msg, "timeline: row 0: parts sum to ", 30), 0);
    arena_free(&y.arena);
}

/* Each of two slow chips has its own factor, and the others have none. */
static void each_slow_chip_has_its_factor(void **state)
{
    const struct chip_fault chips[] = { { 2, 1.5 }, { 5, 3 } };
    const struct faults faults = { .chips = chips, .n_chips = 2 };
    const struct plan p = { .request = { .faults = &faults } }, healthy = { .request = { .faults = NULL } };
    (void)state;
    assert_true(slowdown(&p, 2) == 1.5 && slowdown(&p, 5) == 3 && slowdown(&p, 1) == 1 && slowdown(&healthy, 2) == 1);
    assert_true(slowed(7, 1.5) == 11 && slowed(7, 1) == 7);          /* 10.5 */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_slow_chip_has_its_factor), cmocka_unit_test(spans_that_recur_leave_room_for_each_other),
    cmocka_unit_test(inference_fills_four_chips_by_the_fourth_batch), cmocka_unit_test(popart_fills_and_drains),
    cmocka_unit_test(grouped_takes_the_slowest_of_each_kind), cmocka_unit_test(a_slow_chip_works_longer_at_each_micro_batch), cmocka_unit_test(interleaved_neighbours_alternate),
    cmocka_unit_test(sequential_never_overlaps), cmocka_unit_test(two_stages_of_one_ipu_run_in_turn),
    cmocka_unit_test(a_short_popart_pipeline_is_refused), cmocka_unit_test(more_stages_than_can_be_played),
    cmocka_unit_test(totals_are_those_of_the_spans), cmocka_unit_test(laws_hold_for_every_schedule),
    cmocka_unit_test(stages_keep_what_is_in_flight), cmocka_unit_test(a_cycle_in_the_wrong_place_is_found),
};
TAP_MAIN(tests)
