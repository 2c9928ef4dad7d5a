/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_timeline.c - pipelines small enough for paper: who works when, under each schedule, and where the time goes.
 *
 * Stages are made by hand: stage s takes 100 + 7s cycles forward and 210 + 11s backward, unless a test says otherwise.
 */
#include "tests/check.h"
#include "system-model/graph/graph.h"
#include "tests/golden_text.h"
#include "system-model/plan/plan.h"
#include "system-model/timeline/timeline.h"

struct toy {
    struct machine machine;
    struct topology topology;
    struct graph graph;
    struct compiler compiler;
    struct plan plan;
    struct timeline timeline;
    struct arena arena;
    struct err err;
};

static void toy_start(struct toy *y, uint32_t n_stages, uint32_t n_ipus, enum schedule schedule, bool training, uint32_t grad_accum)
{
    memset(y, 0, sizeof *y);
    y->machine = (struct machine){ .name = "toy", .n_ipus = 64, .ipus_per_board = 4, .ipus_per_domain = 64, .pcie_shared_ipus = 1,
                                   .host_network_bytes_per_s = INFINITY };
    y->machine.chip = (struct chip){ .name = "toy", .n_tiles = 7, .clock_hz = 1e9, .tile_memory_bytes = 10000, .host_link_bytes_per_s = INFINITY };
    y->topology.machine = &y->machine;
    y->graph = (struct graph){ .name = "toy", .micro_batch = 3 };
    y->plan = (struct plan){ .graph = &y->graph, .topology = &y->topology, .n_stages = n_stages };
    y->plan.request = (struct plan_request){ .training = training, .schedule = schedule, .grad_accum = grad_accum, .n_replicas = 1,
                                             .ipus_per_replica = n_ipus };
    y->plan.stages = ARENA_ARRAY(&y->arena, struct stage_plan, n_stages);
    for (uint32_t s = 0; s < n_stages; s++) {
        y->plan.stages[s].ipu = s % n_ipus;
        y->plan.stages[s].forward.part[PART_MATMUL] = 100 + 7 * s;
        y->plan.stages[s].backward.part[PART_CONV] = 210 + 11 * s;
    }
}

/* One tensor of an IPU, or of all: reduced, updated, gathered; each step as long as it says. */
static void toy_update(struct toy *y, uint32_t ipu, uint32_t n_tensors, uint64_t reduce, uint64_t optimizer, uint64_t gather)
{
    struct update_program *u = &y->plan.update;
    const uint64_t cycles[] = { reduce, optimizer, gather };
    static const enum update_kind kinds[] = { UPDATE_REDUCE, UPDATE_OPTIMIZER, UPDATE_GATHER };
    static const enum part parts[] = { PART_ALL_REDUCE, PART_OPTIMIZER, PART_ALL_REDUCE };
    u->chains = arena_grow(&y->arena, u->chains, u->n_chains, &u->cap_chains, sizeof *u->chains);
    struct update_steps *steps = ARENA_NEW(&y->arena, struct update_steps);
    *steps = (struct update_steps){ ARENA_ARRAY(&y->arena, struct update_op, 3), 3, .n_cycles = reduce + optimizer + gather };
    u->chains[u->n_chains++] = (struct update_chain){ .ipu = ipu, .tensor = "w", .n_tensors = n_tensors, .steps = steps };
    for (int i = 0; i < 3; i++) {
        steps->ops[i] = (struct update_op){ .kind = kinds[i], .on_tiles = i == 1, .n_cycles = cycles[i] };
        steps->ops[i].cycles.part[parts[i]] = cycles[i];
        cycles_add(&steps->cycles, &steps->ops[i].cycles, 1);
    }
}

static void toy_run(struct toy *y)
{
    for (uint32_t s = 0; s < y->plan.n_stages; s++)
        stage_sum_cycles(&y->plan.stages[s]);
    update_sum_cycles(&y->plan.update, &y->arena);
    assert_true(plan_pipeline(&y->plan, &y->compiler, &y->arena, &y->err));
    assert_true(timeline_run(&y->timeline, &y->plan, &y->arena, &y->err));
    if (!timeline_check(&y->timeline, &y->err)) {
        print_error("%s\n", y->err.msg);
        assert_true(false);
    }
}

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

static void all_alike(struct toy *y, uint64_t forward, uint64_t backward)
{
    for (uint32_t s = 0; s < y->plan.n_stages; s++) {
        y->plan.stages[s].forward.part[PART_MATMUL] = forward;
        y->plan.stages[s].backward.part[PART_CONV] = backward;
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

static void assert_drawn(struct toy *y, uint32_t n_columns, const char *golden)
{
    char *text;
    PRINTED(text, timeline_draw(f, &y->timeline, n_columns));
    assert_golden(text, golden, &y->arena);
    free(text);
}

/* The white papers' pictures of four chips: inference, all busy from the fourth batch on; training: fill, steady state, drain. */
static void four_chips_as_the_white_papers_draw_them(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 4, 4, SCHEDULE_GROUPED, false, 10);
    all_alike(&y, 10, 0);
    toy_run(&y);
    assert_drawn(&y, 13, "tests/golden/pipeline_inference.txt");
    arena_free(&y.arena);
    toy_start(&y, 4, 4, SCHEDULE_GROUPED, true, 12);
    all_alike(&y, 10, 20);
    toy_update(&y, ALL_IPUS, 1, 50, 0, 0);
    toy_run(&y);
    assert_int_equal(y.timeline.step_cycles, 15 * 10 + 15 * 20 + 50);
    assert_drawn(&y, 50, "tests/golden/pipeline_training.txt");
    arena_free(&y.arena);
}

/* A stretch of 7 of 10 cycles takes the column from one of 3. */
static void a_picture_shows_what_fills_most_of_a_column(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 2, SCHEDULE_GROUPED, false, 1);
    y.plan.stages[0].forward.part[PART_MATMUL] = 13;
    y.plan.stages[1].forward.part[PART_MATMUL] = 17;
    toy_run(&y);
    char *text;
    PRINTED(text, timeline_draw(f, &y.timeline, 3));
    assert_string_equal(text, "  ipu 0  A..  43 % at work\n  ipu 1  .AA  57 % at work\n");
    free(text);
    arena_free(&y.arena);
}

/* One column for all: of equal stretches the first micro-batch's letter, a forward pass before a backward one, and waiting before both. */
static void a_picture_of_equals(void **state)
{
    static const struct { uint32_t n_ipus, n_batches; bool training; const char *want; } rows[] = {
        { 1, 2, false, "  ipu 0  A  100 % at work\n" }, { 1, 1, true, "  ipu 0  A  100 % at work\n" },
        { 2, 1, false, "  ipu 0  .  50 % at work\n  ipu 1  .  50 % at work\n" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct toy y;
        char *text;
        toy_start(&y, rows[i].n_ipus, rows[i].n_ipus, SCHEDULE_SEQUENTIAL, rows[i].training, rows[i].n_batches);
        all_alike(&y, 10, 10);
        toy_run(&y);
        PRINTED(text, timeline_draw(f, &y.timeline, 1));
        assert_string_equal(text, rows[i].want);
        free(text);
        arena_free(&y.arena);
    }
}

/* Behind the last letter of the alphabet follows the first again. */
static void letters_start_again(void **state)
{
    (void)state;
    for (int training = 0; training < 2; training++) {
        struct toy y;
        char *text;
        toy_start(&y, 1, 1, SCHEDULE_SEQUENTIAL, training, 28);
        all_alike(&y, 10, 10);
        toy_run(&y);
        PRINTED(text, timeline_draw(f, &y.timeline, training ? 56 : 28));
        assert_string_equal(text, training ? "  ipu 0  AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZzAaBb  100 % at work\n"
                                           : "  ipu 0  ABCDEFGHIJKLMNOPQRSTUVWXYZAB  100 % at work\n");
        free(text);
        arena_free(&y.arena);
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

/* The update side by side: IPU 1's optimizer takes 50 more, so IPU 0 waits for it; the parts still sum. */
static void the_update_waits_for_the_slowest(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, true, 1);
    toy_update(&y, 0, 1, 13, 17, 19);
    toy_update(&y, 1, 1, 13, 67, 19);
    y.plan.call_cycles[CALL_SESSION] = 16;
    y.plan.call_cycles[CALL_UPLOAD] = 7;
    toy_run(&y);
    assert_int_equal(y.timeline.step_cycles, 100 + 107 + 210 + 221 + 13 + 67 + 19 + 23);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_ALL_REDUCE], 32);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_OPTIMIZER], 17);
    assert_int_equal(y.timeline.rows[0].spent.part[PART_BUBBLE], 107 + 221 + 50);
    arena_free(&y.arena);
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
        y.plan.request.totals_only = true;
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

/* A chip that takes 1.5 times as long in replica 2 of 5: everyone waits for it; folded and unfolded agree. */
static void a_slow_chip_holds_all_replicas_up(void **state)
{
    (void)state;
    struct toy folded, unfolded;
    struct chip_fault fault = { .ipu = 2 * 3 + 1, .slowdown = 1.5 };
    struct faults faults = { .chips = &fault, .n_chips = 1 };
    toy_start(&folded, 3, 3, SCHEDULE_POPART, true, 9);
    toy_start(&unfolded, 3, 3, SCHEDULE_POPART, true, 9);
    folded.plan.request.faults = unfolded.plan.request.faults = &faults;
    folded.plan.request.n_replicas = unfolded.plan.request.n_replicas = 5;
    unfolded.plan.request.unfolded = true;
    toy_run(&folded);
    toy_run(&unfolded);
    assert_int_equal(folded.timeline.n_rows, 2 * 3);
    assert_int_equal(unfolded.timeline.n_rows, 5 * 3);
    assert_int_equal(folded.timeline.step_cycles, unfolded.timeline.step_cycles);
    struct cycles a = {0}, b = {0};
    for (uint32_t r = 0; r < folded.timeline.n_rows; r++)
        cycles_add(&a, &folded.timeline.rows[r].spent, folded.timeline.rows[r].n_alike);
    for (uint32_t r = 0; r < unfolded.timeline.n_rows; r++)
        cycles_add(&b, &unfolded.timeline.rows[r].spent, 1);
    assert_memory_equal(&a, &b, sizeof a);
    struct toy healthy;
    toy_start(&healthy, 3, 3, SCHEDULE_POPART, true, 9);
    toy_run(&healthy);
    assert_true(healthy.timeline.step_cycles < folded.timeline.step_cycles);
    arena_free(&folded.arena);
    arena_free(&unfolded.arena);
    arena_free(&healthy.arena);
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

/* 7 replicas of 3 IPUs in 2 processes of 3 threads: one of 4 replicas serves them in 2 turns of 17 cycles. All IPUs
 * wait that long for each of 5 micro-batches, in addition to 2 x 10 cycles of fill, 5 x 30 of work and 2 x 20 of
 * drain. With a thread for each replica, or several micro-batches kept ready, there is one turn; if nothing is read,
 * or requests overlap, there is none. Results of each micro-batch take as long again. */
static void a_replica_waits_for_its_turn_with_the_host(void **state)
{
    (void)state;
    static const struct { uint64_t host_bytes; uint32_t threads; bool training, evaluation; uint64_t want; bool outputs; uint64_t prefetch_depth; } cases[] = {
        { 6, 3, true, false, 210 + 5 * 2 * 2 * 17, true, 0 }, { 6, 3, true, false, 210 + 5 * 2 * 17, false, 0 },
        { 6, 0, true, false, 210 + 5 * 17, false, 0 }, { 6, 1, true, false, 210 + 5 * 4 * 17, false, 1 },
        { 6, 1, true, false, 210 + 5 * 17, false, 2 }, { 6, 1, true, false, 210 + 5 * 2 * 17, true, 3 }, { 0, 1, true, false, 210, false, 0 },
        { 6, 3, false, true, 7 * 10 + 5 * 2 * 17, false, 0 }, { 6, 3, false, false, 7 * 10, false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy y;
        toy_start(&y, 3, 3, SCHEDULE_POPART, cases[i].training, 5);
        all_alike(&y, 10, 20);
        y.machine.host_latency_s = 17e-9;
        y.plan.stages[0].host_bytes = cases[i].host_bytes;
        y.plan.request.n_replicas = 7;
        y.plan.request.n_instances = 2;
        y.plan.request.evaluation = cases[i].evaluation;
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
 * the sync of a superstep, 5 and 3, and 7 on the way. Nobody waits for the host, but the step is no shorter than the port takes. */
static void what_arrives_on_io_tiles_is_sent_on(void **state)
{
    (void)state;
    static const struct { uint64_t host_bytes; uint32_t io_tiles; double port; uint64_t want, host; } cases[] = {
        { 33, 2, 1e9, 4 * (100 + 24), 4 * 24 }, { 33, 5, 1e9, 4 * (100 + 24), 4 * 24 }, { 0, 2, 1e9, 400, 0 }, { 33, 2, 1e8, 1320, 1320 - 400 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy y;
        toy_start(&y, 1, 1, SCHEDULE_NONE, false, 4);
        y.machine.chip.exchange_bytes_per_cycle = 2;
        y.machine.chip.exchange_efficiency = 1;
        y.machine.chip.on_chip_sync_cycles = 5;
        y.machine.chip.compute_set_cycles = 3;
        y.machine.chip.exchange_transit_cycles = 7;
        y.machine.chip.host_link_bytes_per_s = cases[i].port;
        y.machine.host_latency_s = 17e-9;
        y.plan.request.evaluation = true;
        y.plan.request.io_tiles = cases[i].io_tiles;
        y.plan.stages[0].host_bytes = cases[i].host_bytes;
        toy_run(&y);
        assert_int_equal(y.timeline.step_cycles, cases[i].want);
        assert_int_equal(y.timeline.rows[0].spent.part[PART_HOST], cases[i].host);
        arena_free(&y.arena);
    }
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

/* 3 replicas read 5 micro-batches of 700 bytes each: 10,500 bytes through two hosts that prepare 7,000 B/s each: 0.75 s. One
 * board's network carries those of its own two replicas (4 IPUs, 2 each): 7,000 bytes at 14,000 B/s, 0.5 s. */
static void the_step_waits_for_its_input(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y, 2, 2, SCHEDULE_SEQUENTIAL, true, 5);
    y.plan.request.n_replicas = 3;
    y.plan.request.n_hosts = 2;
    y.plan.request.host_decode_bytes_per_s = 7000;
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
        y.plan.request.n_hosts = 1;
        y.plan.stages[0].host_bytes = 700;
        *(i == 0 ? &y.machine.host_network_bytes_per_s : i == 1 ? &y.plan.request.host_decode_bytes_per_s : &y.machine.chip.host_link_bytes_per_s) = 1;
        toy_run(&y);
        assert_int_equal(y.plan.host_floor_cycles, i < 2 ? 5 * 700 * UINT64_C(1000000000) : 0);
        assert_int_equal(y.plan.io_cycles[0], i < 2 ? 0 : 700 * UINT64_C(1000000000));
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_cycle_in_the_wrong_place_is_found),
    cmocka_unit_test(stages_keep_what_is_in_flight), cmocka_unit_test(a_slow_chip_takes_whole_cycles),
    cmocka_unit_test(the_step_waits_for_its_input), cmocka_unit_test(a_byte_a_second_is_a_rate), cmocka_unit_test(two_chips_share_a_port),
    cmocka_unit_test(four_chips_as_the_white_papers_draw_them), cmocka_unit_test(a_picture_shows_what_fills_most_of_a_column), cmocka_unit_test(a_picture_of_equals), cmocka_unit_test(letters_start_again),
    cmocka_unit_test(spans_that_recur_leave_room_for_each_other),
    cmocka_unit_test(inference_fills_four_chips_by_the_fourth_batch), cmocka_unit_test(popart_fills_and_drains),
    cmocka_unit_test(grouped_takes_the_slowest_of_each_kind), cmocka_unit_test(interleaved_neighbours_alternate),
    cmocka_unit_test(sequential_never_overlaps), cmocka_unit_test(two_stages_of_one_ipu_run_in_turn),
    cmocka_unit_test(a_short_popart_pipeline_is_refused), cmocka_unit_test(more_stages_than_can_be_played), cmocka_unit_test(the_update_waits_for_the_slowest), cmocka_unit_test(totals_are_those_of_the_spans), cmocka_unit_test(an_update_in_series_takes_turns),
    cmocka_unit_test(a_slow_chip_holds_all_replicas_up), cmocka_unit_test(input_that_is_not_hidden_stops_the_ipu),
    cmocka_unit_test(stages_of_one_ipu_read_their_own_input), cmocka_unit_test(laws_hold_for_every_schedule),
    cmocka_unit_test(a_replica_waits_for_its_turn_with_the_host),
    cmocka_unit_test(what_arrives_on_io_tiles_is_sent_on),
};
TAP_MAIN(tests)
