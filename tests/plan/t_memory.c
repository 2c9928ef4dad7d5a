/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_memory.c - bytes on the worst tile: a toy by hand, and what never needs more.
 */
#include "tests/planned.h"
#include "system-model/graph/graph.h"
#include "system-model/plan/plan.h"

/* ---- by hand ------------------------------------------------------------------------------------ */

/*
 * Two stages of one layer each on two IPUs of 7 tiles, popart, 5 micro-batches; moments of 6 bytes a parameter over one replica.
 *                     stage 0    stage 1
 *   weights            5000 B    12345 B     grains of 256: 20 on 7 tiles: 3 -> 768; 49 on 7: 7 -> 1792
 *   accumulators       the same
 *   optimizer       2500 x 6    6172 x 6     15000: 59 grains, 9 -> 2304; 37032: 145 grains, 21 -> 5376
 *   stash depth           3          1
 *   input (of 0: host)    0       4000       made by stage 0's layer
 *   stash a micro-batch 900       4000       kept bytes; the input
 *   kept inputs         500          0
 */
struct toy {
    struct machine machine;
    struct topology topology;
    struct layer layers[2];
    struct graph graph;
    struct compiler compiler;
    struct compiled compiled;
    struct layer_cost costs[2];
    struct stage_layer layer[2];
    struct stage_plan stages[2];
    struct plan plan;
    struct arena arena;
};

static void toy_start(struct toy *y)
{
    memset(y, 0, sizeof *y);
    y->machine.chip = (struct chip){ .name = "toy", .n_tiles = 7, .tile_memory_bytes = 20000, .memory_gaps_share = 0.13,
                                      .n_workers = 6, .vector_bytes_per_cycle = 8, .exchange_bytes_per_cycle = 4, .exchange_efficiency = 1 };
    y->topology.machine = &y->machine;
    y->layers[0].name = "one";
    y->layers[1].name = "two";
    y->graph = (struct graph){ .name = "toy", .layers = y->layers, .n_layers = 2 };
    y->compiled = (struct compiled){ .options.n_tiles = 7, .layers = y->costs };
    y->layer[0] = (struct stage_layer){ 900, { { 0, 1500, 33 }, { 900, 2700, 33 } } };
    y->layer[1] = (struct stage_layer){ 4000, { { 0, 5000, 77 }, { 4000, 300, 77 } } };
    y->stages[0] = (struct stage_plan){ .ipu = 0, .first_layer = 0, .n_layers = 1, .compiled = &y->compiled, .n_parameters = 2500,
                                        .weight_bytes = 5000, .stash_bytes = 900, .kept_input_bytes = 500, .stash_depth = 3, .host_bytes = 1000, .layers = &y->layer[0] };
    y->stages[1] = (struct stage_plan){ .ipu = 1, .first_layer = 1, .n_layers = 1, .compiled = &y->compiled, .n_parameters = 6172,
                                        .weight_bytes = 12345, .stash_bytes = 4000, .stash_depth = 1, .layers = &y->layer[1] };
    y->plan = (struct plan){ .graph = &y->graph, .topology = &y->topology, .n_stages = 2, .stages = y->stages };
    y->plan.request = (struct plan_request){ .training = true, .n_replicas = 1, .ipus_per_replica = 2, .grad_accum = 5,
                                             .optimizer.state_bytes_per_param = 6 };
    compiler_start(&y->compiler, &y->graph, &y->topology, NULL, &y->arena);
}

/* The code of every program (an adder's profile); the toy has no operations and updates no tensor. */
#define PROGRAM [MEMORY_VERTEX_CODE] = 140, [MEMORY_CONTROL_CODE] = 700, [MEMORY_STACK] = 3168
enum { PROGRAM_BYTES = 140 + 700 + 3168, STREAM_BYTES = 289 };

static void assert_regions(const struct tile_memory *m, const uint64_t *want)
{
    for (int r = 0; r < N_MEMORY_CATEGORIES; r++) {
        if (m->bytes[r] != want[r])
            print_error("%s: %llu, want %llu\n", memory_category_names[r], (unsigned long long)m->bytes[r], (unsigned long long)want[r]);
        assert_int_equal(m->bytes[r], want[r]);
    }
}

/*
 * Grains of 128 for activations. Stage 0, backward: the stash of two other micro-batches and its own, 2700, and two inputs, 1000: 29 grains on 7 tiles:
 * 5 -> 640; live 2700: 22 grains: 4 -> 512 (forward: 2800: 4 -> 512 and 1500: 2 -> 256). Input buffer 1000: 8 grains: 2 -> 256.
 * Gaps are 0.13 of activations and temporaries: 0.13 x 545 = 70.85, and 0.13 x 845 = 109.85.
 * Stage 1 has one micro-batch in flight and no stash: forward 5000: 40 grains: 6 -> 768 (backward 4000 that wait and 300: 34 grains: 5 -> 640).
 */
static void a_toy_by_hand(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y);
    plan_memory(&y.plan, &y.compiler);
    assert_regions(&y.plan.memory[0], (const uint64_t[N_MEMORY_CATEGORIES]){
        [MEMORY_WEIGHTS] = 768, [MEMORY_ACCUMULATORS] = 768, [MEMORY_OPTIMIZER] = 2304, [MEMORY_STASH] = 640, [MEMORY_IO_BUFFERS] = 256,
        [MEMORY_ACTIVATIONS] = 512, [MEMORY_TEMPORARIES] = 33, [MEMORY_GAPS] = 70, PROGRAM, [MEMORY_EXCHANGE_CODE] = STREAM_BYTES });
    assert_regions(&y.plan.memory[1], (const uint64_t[N_MEMORY_CATEGORIES]){
        [MEMORY_WEIGHTS] = 1792, [MEMORY_ACCUMULATORS] = 1792, [MEMORY_OPTIMIZER] = 5376,
        [MEMORY_ACTIVATIONS] = 768, [MEMORY_TEMPORARIES] = 77, [MEMORY_GAPS] = 109, PROGRAM });
    assert_int_equal(y.plan.memory[1].total_bytes, 1792 + 1792 + 5376 + 768 + 77 + 109 + PROGRAM_BYTES);
    assert_int_equal(y.plan.worst_ipu, 1);
    assert_true(y.plan.fits);
    y.machine.chip.tile_memory_bytes = 9804 + 109 + PROGRAM_BYTES;
    plan_memory(&y.plan, &y.compiler);
    assert_false(y.plan.fits);
    assert_int_equal(y.plan.shortfall_bytes, 1);
    y.machine.chip.tile_memory_bytes = 9805 + 109 + PROGRAM_BYTES;               /* all of it is enough */
    plan_memory(&y.plan, &y.compiler);
    assert_true(y.plan.fits);
    assert_int_equal(y.plan.shortfall_bytes, 0);
    y.stages[0] = y.stages[1];                              /* the first of two alike is named */
    y.stages[0].ipu = 0;
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].total_bytes, y.plan.memory[1].total_bytes);
    y.plan.worst_ipu = 7;
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.worst_ipu, 0);
    arena_free(&y.arena);
}

/* Sums of 350 B lie behind the 20000 - 600 B that are not interleaved: the tile ends there, and is full if the sums are more than the region. */
static void sums_are_interleaved(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y);
    y.machine.chip.interleaved_bytes = 600;
    y.costs[0].interleaved_bytes = 350;
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].end_bytes, 19400 + 350);
    assert_int_equal(y.plan.memory[1].end_bytes, y.plan.memory[1].total_bytes);
    assert_true(y.plan.fits);
    assert_int_equal(y.plan.worst_ipu, 1);
    y.costs[0].interleaved_bytes = 607;
    plan_memory(&y.plan, &y.compiler);
    assert_false(y.plan.fits);
    assert_int_equal(y.plan.worst_ipu, 0);
    assert_int_equal(y.plan.shortfall_bytes, 7);
    arena_free(&y.arena);
}

/* Both stages on one IPU: always-live regions add up, of the moments the worse one counts (768 + 77). */
static void stages_of_one_ipu_share_it(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y);
    y.stages[1].ipu = 0;
    y.plan.request.ipus_per_replica = 1;
    plan_memory(&y.plan, &y.compiler);
    assert_regions(&y.plan.memory[0], (const uint64_t[N_MEMORY_CATEGORIES]){
        [MEMORY_WEIGHTS] = 768 + 1792, [MEMORY_ACCUMULATORS] = 768 + 1792, [MEMORY_OPTIMIZER] = 2304 + 5376, [MEMORY_STASH] = 640,
        [MEMORY_IO_BUFFERS] = 256, [MEMORY_ACTIVATIONS] = 768, [MEMORY_TEMPORARIES] = 77, [MEMORY_GAPS] = 109, PROGRAM, [MEMORY_EXCHANGE_CODE] = STREAM_BYTES });
    arena_free(&y.arena);
}

/* With no error a need fits if it is not larger than the tile, also where it fills the tile. */
static void a_need_without_error(void **state)
{
    (void)state;
    assert_true(memory_fits_probability(100, (struct memory_need){ 40, 100 }, 0) == 1);
    assert_true(memory_fits_probability(100, (struct memory_need){ 40, 101 }, 0) == 0);
    assert_near(memory_fits_probability(100, (struct memory_need){ 40, 100 }, 0.3), 0.5, 1e-12);
    assert_true(memory_fits_probability(100, (struct memory_need){ 100, 101 }, 0.3) == 0);
}

/* A layer that holds nothing but a byte of temporaries, and next to it one that holds nothing at all. */
static void the_least_that_can_be_held(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y);
    y.layer[0] = (struct stage_layer){ .moments = { { 0, 0, 1 } } };
    y.layer[1] = (struct stage_layer){ 0 };
    for (int s = 0; s < 2; s++)
        y.stages[s].stash_bytes = y.stages[s].kept_input_bytes = y.stages[s].host_bytes = 0;
    plan_memory(&y.plan, &y.compiler);
    assert_regions(&y.plan.memory[0], (const uint64_t[N_MEMORY_CATEGORIES]){
        [MEMORY_WEIGHTS] = 768, [MEMORY_ACCUMULATORS] = 768, [MEMORY_OPTIMIZER] = 2304, [MEMORY_TEMPORARIES] = 1, PROGRAM });
    assert_regions(&y.plan.memory[1], (const uint64_t[N_MEMORY_CATEGORIES]){ [MEMORY_WEIGHTS] = 1792, [MEMORY_ACCUMULATORS] = 1792, [MEMORY_OPTIMIZER] = 5376, PROGRAM });
    assert_int_equal(y.plan.memory[0].total_bytes, 768 + 768 + 2304 + 1 + PROGRAM_BYTES);
    arena_free(&y.arena);
}

/* IPU 1 updates a tensor of 9000 bytes, which is copied for its collective, with moments of 50000 from streaming memory: 231 grains of 256: 33 -> 8448,
 * more than 768 + 77 of its layers. A merged copy of 60000 bytes is on both: 235 grains: 34 -> 8704. No activation lives then.
 * Its program has five compute sets (one clears, two copy, one accumulates, and the update is taken for another accumulation) of three kinds, of which
 * all but the first move the element; a collective of 279018 pieces of 512 bytes on each of 7 tiles; and 14 pieces from streaming memory. */
static void the_update_is_a_moment(void **state)
{
    struct update_op ops[] = { { .kind = UPDATE_ZERO, .bytes = 8000 }, { .kind = UPDATE_REARRANGE, .bytes = 9000 }, { .kind = UPDATE_REDUCE, .bytes = 1e9 },
                               { .kind = UPDATE_LOAD, .bytes = 50000 }, { .kind = UPDATE_COPY_BACK, .bytes = 7000 } };
    struct update_op merged_op = { .kind = UPDATE_ZERO, .bytes = 60000 };
    const struct update_steps steps = { .ops = ops, .n_ops = 5 }, merged = { .ops = &merged_op, .n_ops = 1 };
    struct update_chain chains[] = { { .ipu = 1, .n_elements = 1, .type = TYPE_FP16, .n_tensors = 1, .steps = &steps },
                                     { .ipu = ALL_IPUS, .is_merged = true, .n_elements = 1, .type = TYPE_FP16, .n_tensors = 1, .steps = &merged } };
    struct toy y;
    (void)state;
    toy_start(&y);
    y.plan.update.chains = chains;
    y.plan.update.n_chains = 1;
    update_sum_cycles(&y.plan.update, &y.arena);
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_TEMPORARIES], 33);
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_TEMPORARIES], 8448);
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_ACTIVATIONS], 0);
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_GAPS], 1098);        /* 0.13 x 8448 = 1098.24 */
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_VERTEX_CODE], 140 + 3 * 200);
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_VERTEX_STATE], 5 * 11);
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_CONTROL_CODE], 700 + 5 * 17);
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_EXCHANGE_CODE], 4 * 12 + 12 + 279018 / 2 + 12 + 14 / 2);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_VERTEX_CODE], 140);
    chains[0].n_tensors = 3;                                            /* the update is called twice more, and so is the accumulation */
    compiler_forget(&y.compiler);                                       /* chains never change but here */
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_CONTROL_CODE], 700 + 5 * 17 + 2 * 2 * 17);
    y.plan.update = (struct update_program){ .chains = chains, .n_chains = 2 };
    update_sum_cycles(&y.plan.update, &y.arena);
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_TEMPORARIES], 8704);
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_TEMPORARIES], 8704);
    arena_free(&y.arena);
}

/* Layers by IPU, in the order of its stages; of an IPU without stages none. */
static void layers_of_an_ipu(void **state)
{
    (void)state;
    struct toy y;
    struct layer_range ranges[3];
    toy_start(&y);
    assert_int_equal(ipu_layers(ranges, y.stages, 2, 1), 1);
    assert_true(ranges[0].compiled.at == &y.compiled && ranges[0].first == 1 && ranges[0].n == 1);
    assert_int_equal(ipu_layers(ranges, y.stages, 2, 2), 0);
    y.stages[1].ipu = 0;
    y.stages[1].n_layers = 5;
    assert_int_equal(ipu_layers(ranges, y.stages, 2, 0), 2);
    assert_true(ranges[0].first == 0 && ranges[0].n == 1 && ranges[1].first == 1 && ranges[1].n == 5);
    arena_free(&y.arena);
}

/* Held evenly: 5000 bytes twice and 2500 x 6 of state: 25000 on 7 tiles: 3572; 12345 twice and 6172 x 6: 61722: 8818. Three micro-batches of 900
 * bytes in flight: 386; one is work, two of 4000 bytes: 1143. The work is the moments of a_toy_by_hand(). In phases nothing is in flight. */
static void memory_by_layer(void **state)
{
    (void)state;
    struct toy y;
    const struct phase_bytes none[2] = {{0}};
    toy_start(&y);
    y.costs[0].weight_bytes = 5000, y.costs[0].n_parameters = 2500;
    y.costs[1].weight_bytes = 12345, y.costs[1].n_parameters = 6172;
    const struct layer_memory *layers = plan_layer_memory(&y.plan, &y.arena);
    assert_int_equal(layers[0].held_bytes, 3572);
    assert_int_equal(layers[1].held_bytes, 8818);
    assert_int_equal(layers[0].stash_bytes, 386);
    assert_int_equal(layers[1].stash_bytes, 0);
    assert_int_equal(layers[0].work_bytes, 512 + 33);
    assert_int_equal(layers[1].work_bytes, 768 + 77);
    y.stages[1].stash_depth = 2;
    assert_int_equal(plan_layer_memory(&y.plan, &y.arena)[1].stash_bytes, 1143);
    y.plan.phases = none;
    assert_int_equal(plan_layer_memory(&y.plan, &y.arena)[0].stash_bytes, 0);
    arena_free(&y.arena);
}

/* One micro-batch an update needs no accumulators, but gradients wait to be reduced where there are replicas; streamed state no place;
 * three replicas with rts hold a third each: 5000 bytes: 20 grains, 3 -> 768. fp8 halves what stage 0 keeps of activations: 1350, and 1000 of inputs:
 * 19 grains: 3 -> 384. PopART's stash has three slots of 450 and 500 bytes, 2850: 23 grains: 4 -> 512. */
static void options_that_save(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y);
    y.plan.request.grad_accum = 1;
    y.plan.request.n_replicas = 3;
    y.plan.request.state.rts = RTS_YES;
    y.plan.request.stash_type = TYPE_FP8;
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_ACCUMULATORS], 768);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_OPTIMIZER], 768);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_STASH], 384);
    assert_int_equal(y.plan.memory[1].bytes[MEMORY_STASH], 0);
    y.plan.request.schedule = SCHEDULE_POPART;
    y.stages[0].received_bytes[TASK_BACKWARD] = 9000, y.stages[0].received_bytes[TASK_FORWARD] = 800;      /* 2700 + 800 backward, 1500 + 9000 forward: 83 grains: 12 -> 1536 */
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_STASH], 512);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_ACTIVATIONS], 1536);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_EXCHANGE_CODE], STREAM_BYTES + 12 + 3 / 2 + 12 + 1 / 2);     /* 3 and 1 pieces on a tile */
    y.plan.request.state.place = OPTIMIZER_STREAMING;
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_OPTIMIZER], 0);
    y.plan.request.n_replicas = 1;
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_ACCUMULATORS], 0);
    arena_free(&y.arena);
}

/* Two packets of 700 and 1,100 bytes both wait where a stage runs forward and backward in each cycle; elsewhere the larger one counts. */
static void packets_that_wait(void **state)
{
    static const struct { enum schedule schedule; uint64_t bytes; } cases[] = {
        { SCHEDULE_SEQUENTIAL, 1100 }, { SCHEDULE_INTERLEAVED, 1100 }, { SCHEDULE_GROUPED, 1800 }, { SCHEDULE_POPART, 1800 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plan p = { .request.schedule = cases[i].schedule };
        struct stage_plan s = { 0 };
        s.received_bytes[TASK_FORWARD] = 700;
        s.received_bytes[TASK_BACKWARD] = 1100;
        assert_int_equal(plan_waiting_bytes(&p, &s), cases[i].bytes);
    }
}

/* A third of IPU 0's 15000 bytes is 768 with padding, and a third of IPU 1's 37032 is 49 grains: 1792. Tensors that
 * are not sharded count in full: three of 190 elements are 2280 bytes, 9 grains, 2 -> 512; one of 100 is 256. When
 * state is streamed, tensors below 191 elements stay on the chip, 3420 and 600 bytes; with a bound of 501 a third of
 * 2000 stays too, 7420: 29 grains, 5 -> 1280. A repeated request gives the same. */
static void moments_of_small_tensors_stay(void **state)
{
    static const struct { enum optimizer_place place; uint64_t offloaded, bytes[2]; } cases[] = {
        { OPTIMIZER_ON_CHIP, 191, { 768 + 512, 1792 + 256 } }, { OPTIMIZER_STREAMING, 191, { 512, 256 } }, { OPTIMIZER_STREAMING, 190, { 0, 256 } },
        { OPTIMIZER_STREAMING, 501, { 1280, 256 } }, { OPTIMIZER_STREAMING, 100, { 0, 0 } },
    };
    const struct update_steps sharded = { .n_shards = 3 }, whole = { .n_shards = 1 };
    struct update_chain chains[] = {
        { .ipu = ALL_IPUS, .is_merged = true, .n_elements = 99999, .n_tensors = 2, .steps = &whole }, { .ipu = 0, .n_elements = 500, .n_tensors = 4, .steps = &sharded },
        { .ipu = 0, .n_elements = 190, .n_tensors = 3, .steps = &whole }, { .ipu = 1, .n_elements = 100, .n_tensors = 1, .steps = &whole },
    };
    (void)state;
    struct toy y;
    toy_start(&y);
    y.plan.update = (struct update_program){ .chains = chains, .n_chains = 4 };
    update_sum_cycles(&y.plan.update, &y.arena);
    y.plan.request.n_replicas = 3;
    y.plan.request.state.rts = RTS_YES;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        y.plan.placed = i % 2 ? y.stages : NULL;
        y.plan.request.state.place = cases[i / 2].place;
        y.plan.request.program.offloaded_elements = cases[i / 2].offloaded;
        plan_memory(&y.plan, &y.compiler);
        assert_int_equal(y.plan.memory[0].bytes[MEMORY_OPTIMIZER], cases[i / 2].bytes[0]);
        assert_int_equal(y.plan.memory[1].bytes[MEMORY_OPTIMIZER], cases[i / 2].bytes[1]);
    }
    arena_free(&y.arena);
}

/* Memory that is kept for a placement does not answer other requests: gradients are kept over two micro-batches, and for two replicas. */
static void remembered_for_equal_options(void **state)
{
    static const struct { uint32_t grad_accum, n_replicas; uint64_t bytes; } cases[] = {
        { 1, 1, 0 }, { 2, 1, 768 }, { 1, 1, 0 }, { 1, 2, 768 }, { 2, 2, 768 },
    };
    (void)state;
    struct toy y;
    toy_start(&y);
    y.plan.placed = y.stages;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        y.plan.request.grad_accum = cases[i].grad_accum;
        y.plan.request.n_replicas = cases[i].n_replicas;
        plan_memory(&y.plan, &y.compiler);
        assert_int_equal(y.plan.memory[0].bytes[MEMORY_ACCUMULATORS], cases[i].bytes);
    }
    arena_free(&y.arena);
}

/* Two I/O tiles hold the 1000 bytes of input: 8 grains: 4 -> 512, the code to pass them on (an exchange: 12, its piece: 0), that of the host's
 * streams, and a stack; the other five have the code to receive them. With a batch of a megabyte they are the fuller kind of tile, with 977
 * pieces of 512 bytes, and as well with a megabyte of results, unless these stay as in training. */
static void io_tiles_hold_input_and_results(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y);
    y.plan.request.io_tiles = 2;
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].io_tile_bytes, 512 + 12 + STREAM_BYTES + 3168);
    assert_int_equal(y.plan.memory[0].bytes[MEMORY_EXCHANGE_CODE], STREAM_BYTES + 12);
    y.stages[0].host_bytes = 1000003;       /* 7813 grains on 2 tiles: 3907 -> 500096 */
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].io_tile_bytes, 500096 + 12 + 977 / 2 + STREAM_BYTES + 3168);
    assert_int_equal(y.plan.memory[0].total_bytes, y.plan.memory[0].io_tile_bytes);
    assert_false(y.plan.fits);
    y.stages[0].host_bytes = 3;
    y.stages[0].result_bytes = 1000000;
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].io_tile_bytes, 128 + 12 + STREAM_BYTES + 3168);
    y.plan.request.training = false;
    plan_memory(&y.plan, &y.compiler);
    assert_int_equal(y.plan.memory[0].io_tile_bytes, 500096 + 12 + 977 / 2 + STREAM_BYTES + 3168);
    arena_free(&y.arena);
}

/* Whichever phase and task moves it: 5000 bytes loaded, 3000 stored and 1000 of input on two I/O tiles: 71 grains: 36 -> 4608, 9 pieces. */
static void io_tiles_hold_what_a_phase_moves(void **state)
{
    (void)state;
    struct toy y;
    toy_start(&y);
    y.plan.request.io_tiles = 2;
    for (int i = 0; i < 4; i++) {
        struct phase_bytes phases[2] = {{0}};
        phases[i / 2].moves.loaded[i % 2] = 5000;
        phases[i / 2].moves.stored[i % 2] = 3000;
        y.plan.phases = phases;
        plan_memory(&y.plan, &y.compiler);
        assert_int_equal(y.plan.memory[0].io_tile_bytes, 4608 + 12 + 9 / 2 + STREAM_BYTES + 3168);
    }
    arena_free(&y.arena);
}

/* ---- laws on real models ----------------------------------------------------------------------------- */

static void assert_regions_sum(const struct plan *p)
{
    for (uint32_t i = 0; i < p->request.ipus_per_replica; i++) {
        uint64_t sum = 0;
        for (int r = 0; r < N_MEMORY_CATEGORIES; r++)
            sum += p->memory[i].bytes[r];
        assert_true(p->memory[i].total_bytes == (sum > p->memory[i].io_tile_bytes ? sum : p->memory[i].io_tile_bytes));
        assert_true(p->memory[i].total_bytes <= p->memory[p->worst_ipu].total_bytes);
    }
    uint64_t worst = p->memory[p->worst_ipu].total_bytes, capacity = p->topology->machine->chip.tile_memory_bytes;
    assert_true(p->fits == (worst <= capacity));
    assert_int_equal(p->shortfall_bytes, worst > capacity ? worst - capacity : 0);
}

/* Bytes of the worst tile of each IPU, summed. */
static uint64_t needed(struct planned *y)
{
    struct plan p;
    uint64_t sum = 0;
    if (!plan_build(&p, y->sim.compiler, &y->opt, &y->sim.arena, &y->err)) {
        print_error("%s\n", y->err.msg);
        assert_true(false);
    }
    assert_regions_sum(&p);
    for (uint32_t i = 0; i < p.request.ipus_per_replica; i++)
        sum += p.memory[i].total_bytes;
    return sum;
}

static const char *const models[] = { "mlperf-v1.1-closed-ipu-pod16-bert-large", "vendor-ipu-pod16-resnet50-pipelined",
                                      "mlperf-v1.1-closed-ipu-pod16-resnet50" };

/* Each of 24 layers has code of its own then; the codelets are the same, and so are variables but for what calls hold twice. */
static void layers_that_are_not_outlined(void **state)
{
    struct planned y;
    struct plan outlined, apart;
    (void)state;
    start(&y, "vendor-gc200-bert-large-infer-b1-popart");
    assert_int_equal(y.opt.outlining, OUTLINING_NO);
    assert_true(plan_build(&apart, y.sim.compiler, &y.opt, &y.sim.arena, &y.err));
    y.opt.outlining = OUTLINING_YES;
    assert_true(plan_build(&outlined, y.sim.compiler, &y.opt, &y.sim.arena, &y.err));
    for (int k = 0; k < N_MEMORY_CATEGORIES; k++) {
        uint64_t once = outlined.memory[0].bytes[k], each = apart.memory[0].bytes[k];
        bool of_layers = k == MEMORY_VERTEX_STATE || k == MEMORY_VERTEX_FIELDS || k == MEMORY_CONTROL_CODE || k == MEMORY_EXCHANGE_CODE;
        bool at_work = k == MEMORY_ACTIVATIONS || k == MEMORY_GAPS;         /* a call has its operands twice */
        assert_true(of_layers ? each > 5 * once && each < 24 * once : at_work ? each <= once : each == once);
    }
    stop(&y);
}

static void recomputing_never_needs_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct planned y;
        start(&y, models[i]);
        y.opt.recompute = RECOMPUTE_NONE;
        y.opt.n_checkpoints = 0;
        uint64_t all = needed(&y);
        y.opt.recompute = RECOMPUTE_STAGE;
        uint64_t stage = needed(&y);
        y.opt.recompute = RECOMPUTE_LAYER;
        uint64_t layer = needed(&y);
        if (stage > all || layer > all)
            print_error("%s: %llu none, %llu stage, %llu layer\n", models[i], (unsigned long long)all, (unsigned long long)stage,
                        (unsigned long long)layer);
        assert_true(stage <= all && layer <= all);
        assert_true(stage < all || layer < all);
        stop(&y);
    }
}

static void more_replicas_with_rts_never_need_more(void **state)
{
    (void)state;
    struct planned y;
    start(&y, "mlperf-v1.1-closed-ipu-pod64-bert-large");
    y.opt.state.rts = RTS_YES;
    y.opt.state.place = OPTIMIZER_ON_CHIP;
    y.opt.n_replicas = 2;                       /* one replica has no code of collectives */
    uint64_t before = needed(&y), two = before;
    for (uint32_t n = 3; n <= 8; n++) {
        y.opt.n_replicas = n;
        uint64_t after = needed(&y);
        assert_true(after <= before);
        before = after;
    }
    assert_true(before < two);
    y.opt.state.rts = RTS_NO;
    uint64_t eight = needed(&y);
    y.opt.n_replicas = 2;
    assert_int_equal(needed(&y), eight);        /* without it, their number changes nothing */
    stop(&y);
}

static void streaming_and_deeper_schedules(void **state)
{
    (void)state;
    struct planned y;
    start(&y, models[1]);
    y.opt.schedule = SCHEDULE_SEQUENTIAL;
    uint64_t sequential = needed(&y);
    y.opt.schedule = SCHEDULE_INTERLEAVED;
    uint64_t interleaved = needed(&y);
    y.opt.schedule = SCHEDULE_GROUPED;
    uint64_t grouped = needed(&y);
    assert_true(sequential <= interleaved && interleaved <= grouped && sequential < grouped);
    y.opt.state.place = OPTIMIZER_STREAMING;
    assert_true(needed(&y) < grouped);
    stop(&y);
}

static void every_recipe_sums(void **state)
{
    (void)state;
    char **ids;
    size_t n;
    struct arena a = {0};
    struct err err;
    assert_true(list_folder(&ids, &n, paths.recipes_dir, ".ini", &a, &err));
    for (size_t i = 0; i < n; i++) {
        struct planned y;
        start(&y, ids[i]);
        assert_regions_sum(&y.sim.plan);
        assert_true(y.r.fits == y.sim.plan.fits);
        stop(&y);
    }
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_need_without_error), cmocka_unit_test(a_toy_by_hand), cmocka_unit_test(sums_are_interleaved), cmocka_unit_test(stages_of_one_ipu_share_it), cmocka_unit_test(options_that_save), cmocka_unit_test(packets_that_wait),
    cmocka_unit_test(the_least_that_can_be_held), cmocka_unit_test(layers_of_an_ipu), cmocka_unit_test(memory_by_layer), cmocka_unit_test(io_tiles_hold_what_a_phase_moves),
    cmocka_unit_test(moments_of_small_tensors_stay), cmocka_unit_test(remembered_for_equal_options), cmocka_unit_test(the_update_is_a_moment), cmocka_unit_test(io_tiles_hold_input_and_results), cmocka_unit_test(layers_that_are_not_outlined),
    cmocka_unit_test(recomputing_never_needs_more),
    cmocka_unit_test(more_replicas_with_rts_never_need_more), cmocka_unit_test(streaming_and_deeper_schedules),
    cmocka_unit_test(every_recipe_sums),
};
TAP_MAIN(tests)
