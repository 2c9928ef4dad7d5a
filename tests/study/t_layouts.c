/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_layouts.c - stages and layouts of models small enough for paper.
 */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/study/layouts.h"
#include "results/simulate/simulate.h"
#include "system-model/compiler/op_plan.h"

/* ---- a stem, two blocks and heads ------------------------------------------------------------------------------ */

/* Two tiles, and A bytes are a grain of activations on each. A cycle is an eighth of a second; a byte of input takes two cycles. */
enum { N_LAYERS = 4, A = 2 * 128 };
struct toy { struct layer layers[N_LAYERS]; struct layer_cost costs[N_LAYERS]; struct graph g; struct layer_work w; };

static const uint64_t accumulate[N_LAYERS] = { 1, 2, 3, 4 };

static void toy_fill(struct toy *t)
{
    static const struct { uint64_t forward, backward, output, kept, forward_live, backward_live, weight, parameters, host, temp; } rows[N_LAYERS] = {
        { 4, 6, 2 * A, 4 * A, 3 * A, 1 * A, 1000, 40, 100, 10 }, { 3, 5, 1 * A, 2 * A, 4 * A, 3 * A, 30, 60, 0, 20 },
        { 2, 7, 3 * A, 5 * A, 2 * A, 6 * A, 500, 10, 0, 30 }, { 1, 3, 7 * A, 1 * A, 1 * A, 2 * A, 20, 5, 0, 40 },
    };
    memset(t, 0, sizeof *t);
    for (int i = 0; i < N_LAYERS; i++) {
        t->layers[i] = (struct layer){ .role = i == 0 ? LAYER_FIRST : i + 1 < N_LAYERS ? LAYER_BODY : LAYER_LAST, .n_parts = 1 };
        t->costs[i] = (struct layer_cost){ .output_bytes = rows[i].output, .kept_bytes = rows[i].kept, .forward_live_bytes = rows[i].forward_live,
            .backward_live_bytes = rows[i].backward_live, .weight_bytes = rows[i].weight, .n_parameters = rows[i].parameters,
            .host_bytes = rows[i].host, .temp_bytes_per_tile = rows[i].temp };
        t->costs[i].forward_cycles = rows[i].forward;
        t->costs[i].backward_cycles = rows[i].backward;
    }
    t->g = (struct graph){ .layers = t->layers, .n_layers = N_LAYERS };
    t->w = (struct layer_work){ .graph = &t->g, .layers = t->costs, .n_layers = N_LAYERS, .first_body = 1, .n_body = 2, .n_tiles = 2, .tile_bytes = 1 << 20,
                                .chip = { .clock_hz = 8, .global_sync_cycles = 5 }, .accumulate_cycles = accumulate, .input_s_per_byte = 0.25 };
}

static void work_of_a_layer_by_hand(void **state)
{
    static const struct { struct layout_rules r; bool last; uint64_t cycles; } cases[] = {
        { { .recompute = RECOMPUTE_STAGE, .accumulates = true }, false, 3 },
        { { .training = true }, false, 3 + 5 },
        { { .training = true, .accumulates = true }, false, 3 + 5 + 2 },
        { { .training = true, .accumulates = true, .recompute = RECOMPUTE_STAGE }, false, 3 + 3 + 5 + 2 },
        { { .training = true, .accumulates = true, .recompute = RECOMPUTE_LAYER }, true, 3 + 5 + 2 },
    };
    struct toy t;
    (void)state;
    toy_fill(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(layer_work_cycles(&t.w, &cases[i].r, 1, cases[i].last), cases[i].cycles);
}

/* Of 7 cycles of layers 0 and 1 all is done again, for a stage comes after them; of layers 2 and 3 what stands before a checkpoint. The
 * input's 100 bytes take 200 cycles; accumulation 1 + 2 and 3 + 4. */
static void cycles_of_a_stage_by_hand(void **state)
{
    static const bool at_stem[N_LAYERS] = { true }, at_ends[N_LAYERS] = { false, true, true, true };
    static const struct { enum recompute recompute; const bool *named; uint64_t again[2], alone; } cases[] = {
        { RECOMPUTE_NONE, NULL, { 0, 0 }, 0 }, { RECOMPUTE_STAGE, NULL, { 7, 0 }, 0 }, { RECOMPUTE_LAYER, NULL, { 7, 2 }, 9 },
        { RECOMPUTE_CHECKPOINTS, NULL, { 7, 0 }, 0 }, { RECOMPUTE_CHECKPOINTS, at_stem, { 7, 0 }, 4 }, { RECOMPUTE_CHECKPOINTS, at_ends, { 7, 2 }, 9 },
    };
    struct toy t;
    (void)state;
    toy_fill(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout_rules r = { .training = true, .accumulates = true, .recompute = cases[i].recompute, .schedule = SCHEDULE_GROUPED };
        t.w.named_checkpoints = cases[i].named;
        struct stage_cost front = stage_cost(&t.w, &r, (struct stage_place){ 0, 2, 2, 0, 2 }), back = stage_cost(&t.w, &r, (struct stage_place){ 1, 2, 2, 2, 4 });
        assert_int_equal(front.forward, 4 + 3 + 200);
        assert_int_equal(front.backward, 6 + 5 + 1 + 2 + cases[i].again[0]);
        assert_int_equal(back.forward, 2 + 1);
        assert_int_equal(back.backward, 7 + 3 + 3 + 4 + cases[i].again[1]);
        assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 0, 1, 1, 0, 4 }).backward, 21 + 10 + cases[i].alone);
        r.training = false;
        assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 0, 2, 2, 0, 2 }).backward, 0);
    }
}

/* Layers 1 and 2 keep 2A + 2A + 5A of a micro-batch in three tensors; half as many elements. Alone there is no stash. */
static void a_stash_is_copied_in_and_out(void **state)
{
    static const struct { bool half; uint32_t n_stages; } cases[] = { { false, 3 }, { true, 3 }, { false, 2 }, { false, 1 } };
    struct toy t;
    (void)state;
    toy_fill(&t);
    t.w.chip = (struct chip){ .clock_hz = 8, .n_tiles = 2, .n_workers = 6, .vector_bytes_per_cycle = 8, .supervisor_cycles = 11, .tile_memory_bytes = 1 << 20 };
    t.w.options.n_tiles = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout_rules r = { .training = true, .schedule = SCHEDULE_GROUPED, .stash_is_known = true, .half_stash = cases[i].half };
        struct stage_place at = { 0, cases[i].n_stages, cases[i].n_stages, 1, 3 };
        struct stash stash = { .n_bytes = 9 * A, .n_tensors = 3, .fp8 = cases[i].half };
        struct op_plan write, read;
        stash_plan(&write, &read, &stash, &t.w.chip, &t.w.options);
        bool stashes = cases[i].n_stages > 1;
        assert_true(op_plan_cycles(&write) > 0 && op_plan_cycles(&read) > op_plan_cycles(&write) / 2);
        assert_int_equal(stage_cost(&t.w, &r, at).forward, 3 + 2 + (stashes ? op_plan_cycles(&write) : 0));
        assert_int_equal(stage_cost(&t.w, &r, at).backward, 5 + 7 + (stashes ? op_plan_cycles(&read) : 0));
    }
    /* Of a layer that keeps nothing there is no tensor. */
    struct layout_rules r = { .training = true, .schedule = SCHEDULE_GROUPED, .stash_is_known = true };
    struct stash two = { .n_bytes = 4 * A, .n_tensors = 2 };
    struct op_plan write, read;
    t.costs[2].kept_bytes = 0;
    stash_plan(&write, &read, &two, &t.w.chip, &t.w.options);
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 0, 3, 3, 1, 3 }).forward, 3 + 2 + op_plan_cycles(&write));
}

/* Layers 0 and 1: 1030 bytes of weights are 5 grains of 256, so 3 on a tile; 100 parameters of 40 bytes 16, so 8; the input a grain of 128. */
static void what_a_stage_holds_always(void **state)
{
    uint64_t code[(N_LAYERS + 1) * (N_LAYERS + 1)];
    struct layout_rules r = { .training = true, .keeps_gradients = true, .state_bytes_per_param = 40 };
    struct stage_place front = { 0, 2, 2, 0, 2 };
    struct toy t;
    (void)state;
    toy_fill(&t);
    for (uint64_t i = 0; i < sizeof code / sizeof *code; i++)
        code[i] = 100 + i;
    assert_int_equal(stage_cost(&t.w, &r, front).lasting_bytes, 2 * 768 + 2048 + 128);
    assert_int_equal(stage_cost(&t.w, &r, front).code_bytes, 0);
    t.w.code_bytes = code;
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 1, 3, 3, 1, 3 }).code_bytes, 100 + 5 + 3);
    r.keeps_gradients = false;
    assert_int_equal(stage_cost(&t.w, &r, front).lasting_bytes, 768 + 2048 + 128);
    r = (struct layout_rules){ .keeps_gradients = true };
    assert_int_equal(stage_cost(&t.w, &r, front).lasting_bytes, 768 + 128);
    assert_int_equal(stage_cost(&t.w, &r, front).output_bytes, 1 * A);
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 1, 2, 2, 2, 4 }).output_bytes, 0);
    t.costs[1].weight_bytes = 512, t.costs[1].n_parameters = 128;       /* to the grain */
    r.state_bytes_per_param = 4;
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 1, 3, 3, 1, 2 }).lasting_bytes, 256 + 256);
}

/* Heads of 20 bytes read the stem's 1000: with those 4 grains, 2 on a tile; else one. */
static void a_copy_of_a_tied_weight(void **state)
{
    static const struct { struct stage_place at; uint64_t bytes; } cases[] = {
        { { 1, 2, 2, 3, 4 }, 512 }, { { 0, 1, 1, 0, 4 }, 1024 }, { { 1, 2, 2, 1, 4 }, 1024 },
        { { 2, 3, 2, 3, 4 }, 256 },             /* back beside the stem */
        { { 1, 3, 2, 3, 4 }, 512 }, { { 0, 2, 2, 0, 3 }, 768 }, { { 0, 2, 2, 0, 1 }, 512 }, { { 1, 3, 3, 1, 3 }, 512 },
    };
    struct tied heads = { 3, 0, 1000, 0 };
    struct layout_rules r = { .training = false };
    struct toy t;
    (void)state;
    toy_fill(&t);
    t.costs[0].host_bytes = 0;
    t.w.tied = &heads, t.w.n_tied = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(stage_cost(&t.w, &r, cases[i].at).lasting_bytes, cases[i].bytes);
    heads.n_elements = 300;                     /* with moments: those and 10 of the heads' own, 4 bytes each, 5 grains, so 3 on a tile; else one */
    t.costs[3].n_parameters = 10;
    r.state_bytes_per_param = 4;
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 1, 2, 2, 3, 4 }).lasting_bytes, 512 + 768);
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 2, 3, 2, 3, 4 }).lasting_bytes, 256 + 256);
    r.state_bytes_per_param = 0;
    heads = (struct tied){ 0, 2, 1000, 0 };        /* the stem reads layer 2's: the first stage that does not hold it ends before it */
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 0, 2, 2, 0, 3 }).lasting_bytes, 768);
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 0, 2, 2, 0, 2 }).lasting_bytes, 1024);
    t.w.tied = (struct tied[]){ { 3, 2, 1000, 0 }, { 0, 2, 1000, 0 } }, t.w.n_tied = 2;
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 0, 2, 2, 0, 2 }).lasting_bytes, 1024);
}

/* Layers 1 and 2 of three stages: the input is 2A, one stage behind. Without recomputation a micro-batch leaves 9A, and the last moment has
 * (2 + 5) kept and 6 of gradients; by layers 2A + 1A, and the last moment (5 + 6). */
static void what_a_stage_holds_at_worst(void **state)
{
    static const struct { enum recompute recompute; enum schedule schedule; bool training, half; uint64_t stash, moment; } cases[] = {
        { RECOMPUTE_NONE, SCHEDULE_GROUPED, true, false, (18 + 2) * 128, 13 * 128 + 30 },
        { RECOMPUTE_LAYER, SCHEDULE_GROUPED, true, false, (6 + 2 + 1) * 128, 11 * 128 + 30 },
        { RECOMPUTE_LAYER, SCHEDULE_POPART, true, false, (6 + 2 + 1) * 128, 11 * 128 + 30 },
        { RECOMPUTE_LAYER, SCHEDULE_POPART, true, true, 5 * 128, 11 * 128 + 30 },
        { RECOMPUTE_LAYER, SCHEDULE_INTERLEAVED, true, false, (3 + 2 + 1) * 128, 11 * 128 + 30 },
        { RECOMPUTE_LAYER, SCHEDULE_SEQUENTIAL, true, false, (2 + 1) * 128, 11 * 128 + 30 },
        { RECOMPUTE_STAGE, SCHEDULE_GROUPED, true, false, (4 + 2) * 128, 13 * 128 + 30 },
        { RECOMPUTE_CHECKPOINTS, SCHEDULE_GROUPED, true, false, (4 + 2) * 128, 11 * 128 + 30 },     /* not known which */
        { RECOMPUTE_NONE, SCHEDULE_GROUPED, false, true, 0, 4 * 128 + 20 }, { RECOMPUTE_NONE, SCHEDULE_GROUPED, false, false, 0, 4 * 128 + 20 },
    };
    struct toy t;
    (void)state;
    toy_fill(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout_rules r = { .training = cases[i].training, .recompute = cases[i].recompute, .schedule = cases[i].schedule, .half_stash = cases[i].half };
        struct stage_cost c = stage_cost(&t.w, &r, (struct stage_place){ 1, 3, 3, 1, 3 });
        assert_int_equal(c.stash_bytes, cases[i].stash);
        assert_int_equal(c.moment_bytes, cases[i].moment);
    }
    struct layout_rules by_stage = { .training = true, .recompute = RECOMPUTE_STAGE, .schedule = SCHEDULE_GROUPED };
    assert_int_equal(stage_cost(&t.w, &by_stage, (struct stage_place){ 0, 2, 2, 0, 2 }).stash_bytes, 0);        /* reads the host's */
}

/* What the last stage reads it reads at once, and stores it as fp8 only where it is not known to be the last of a pipeline. */
static void the_last_stage_keeps_its_input_whole(void **state)
{
    struct layout_rules r = { .training = true, .recompute = RECOMPUTE_STAGE, .schedule = SCHEDULE_GROUPED, .half_stash = true };
    struct toy t;
    (void)state;
    toy_fill(&t);
    t.w.chip = (struct chip){ .clock_hz = 8, .n_tiles = 2, .n_workers = 6, .vector_bytes_per_cycle = 8, .supervisor_cycles = 11, .tile_memory_bytes = 1 << 20 };
    t.w.options.n_tiles = 2;
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 2, 3, 3, 3, 4 }).stash_bytes, 2 * 128);
    r.stash_is_known = true;
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 2, 3, 3, 3, 4 }).stash_bytes, 3 * 128);
    assert_int_equal(stage_cost(&t.w, &r, (struct stage_place){ 1, 3, 3, 1, 3 }).stash_bytes, (4 + 2) / 2 * 128);
}

static void a_tile_filled_to_the_byte(void **state)
{
    struct toy t;
    (void)state;
    toy_fill(&t);
    t.w.tile_bytes = 11 * 128;                  /* layer 2: 5 + 6 */
    assert_false(activations_fill_a_tile(&t.w, true));
    t.w.tile_bytes--;
    assert_true(activations_fill_a_tile(&t.w, true));
    t.w.tile_bytes = 4 * 128;                   /* layer 1 forward */
    assert_false(activations_fill_a_tile(&t.w, false));
    t.w.tile_bytes--;
    assert_true(activations_fill_a_tile(&t.w, false));
    t.costs[1].forward_live_bytes = 0;          /* the stem */
    t.w.tile_bytes = 3 * 128;
    assert_false(activations_fill_a_tile(&t.w, false));
    t.w.tile_bytes--;
    assert_true(activations_fill_a_tile(&t.w, false));
}

static void two_stages_of_an_ipu(void **state)
{
    static const struct stage_cost a = { .lasting_bytes = 1, .stash_bytes = 10, .moment_bytes = 100, .code_bytes = 1000 },
                                   b = { .lasting_bytes = 2, .stash_bytes = 20, .moment_bytes = 50, .code_bytes = 3000 };
    (void)state;
    assert_int_equal(ipu_bytes(&a, NULL), 1111);
    assert_int_equal(ipu_bytes(&a, &b), 3 + 30 + 100 + 3000);
    assert_int_equal(ipu_bytes(&b, &a), 3 + 30 + 100 + 3000);
}

/* ---- how long a step takes ------------------------------------------------------------------------------------- */

/* To the next IPU 1 s and A bytes a second, back 2 s and A/2; home 3 s, out 4 s and A. Eight cycles a second and 5 for the sync. */
static void toy_hops(struct toy *t)
{
    toy_fill(t);
    t->w.input_s_per_byte = 0;
    for (int i = 0; i < MAX_STAGES; i++) {
        t->w.forth[i] = (struct hop){ 1, 1.0 / A };
        t->w.back[i] = (struct hop){ 2, 2.0 / A };
        t->w.home[i] = (struct hop){ 3, 1.0 / A };
        t->w.out[i] = (struct hop){ 4, 1.0 / A };
    }
}

static void cut_time(struct layout *l, const struct layer_work *w, const struct layout_rules *r, uint32_t n_ipus)
{
    struct stage_cost costs[MAX_STAGES + 1];
    for (uint32_t s = 0; s < l->n_stages; s++)
        costs[s] = stage_cost(w, r, (struct stage_place){ s, l->n_stages, n_ipus, s ? l->cuts[s - 1] : 0, s + 1 < l->n_stages ? l->cuts[s] : w->n_layers });
    layout_time(l, costs, w, r, n_ipus);
}

/* Layers 0 1 | 2 3: forward 7 and 3, backward 11 and 10; A bytes go over in 2 s, so 16 + 5 cycles, and back in 4 s, 32 + 5.
 * Grouped: 7 + 11 + 21 + 37. Of two micro-batches the second IPU, 13 after 18, is later. Interleaved: forward beside the other's
 * backward, 10 + 11, and copies side by side. PopART: 18 in one slot, and copies in two cycles more. */
static void two_stages_in_time(void **state)
{
    static const struct { enum schedule schedule; bool training; uint64_t grad_accum, each, once; } cases[] = {
        { SCHEDULE_GROUPED, true, 100, 18 + 58, 0 }, { SCHEDULE_GROUPED, true, 2, 13 + 58, 18 }, { SCHEDULE_INTERLEAVED, true, 100, 21 + 37, 0 },
        { SCHEDULE_POPART, true, 100, 18 + 37, 2 * 37 }, { SCHEDULE_SEQUENTIAL, true, 100, 31 + 58, 0 }, { SCHEDULE_NONE, true, 100, 31 + 58, 0 },
        { SCHEDULE_GROUPED, false, 100, 7 + 21, 0 }, { SCHEDULE_POPART, false, 100, 7 + 21, 0 }, { SCHEDULE_SEQUENTIAL, false, 100, 10 + 21, 0 },
    };
    struct toy t;
    (void)state;
    toy_hops(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout l = { .n_stages = 2, .cuts = { 2 } };
        struct layout_rules r = { .training = cases[i].training, .schedule = cases[i].schedule, .grad_accum = cases[i].grad_accum };
        cut_time(&l, &t.w, &r, 2);
        assert_int_equal(l.each_cycles, cases[i].each);
        assert_int_equal(l.once_cycles, cases[i].once);
        assert_int_equal(l.step_cycles, r.grad_accum * cases[i].each + cases[i].once);
        r.each_cycles = 3, r.once_cycles = 11;
        cut_time(&l, &t.w, &r, 2);
        assert_int_equal(l.each_cycles, cases[i].each + 3);
        assert_int_equal(l.once_cycles, cases[i].once + 11);
        assert_int_equal(l.step_cycles, r.grad_accum * (cases[i].each + 3) + cases[i].once + 11);
        r.floor_cycles = 1000;
        cut_time(&l, &t.w, &r, 2);
        assert_int_equal(l.step_cycles, r.grad_accum * 1000);
    }
}

/* Stem | blocks | heads, the heads back on the first: forward 4 + 1 and 5, backward 6 + 3 and 12. Forward the stem's 2A in 3 s, the blocks'
 * 3A home in 6 s; back the latter out in 7 s, the former in 6 s: the longer of each are 53 and 61. The second IPU begins after 10. */
static void heads_beside_the_stem_in_time(void **state)
{
    struct layout l = { .n_stages = 3, .cuts = { 1, 3 } };
    struct layout_rules r = { .training = true, .schedule = SCHEDULE_GROUPED, .grad_accum = 100 };
    struct toy t;
    (void)state;
    toy_hops(&t);
    cut_time(&l, &t.w, &r, 2);
    assert_int_equal(l.step_cycles, 100 * (5 + 12 + 53 + 61) + 10);
    r.schedule = SCHEDULE_POPART;
    cut_time(&l, &t.w, &r, 2);
    assert_int_equal(l.step_cycles, 100 * (17 + 61) + 10 + 4 * 61);
    r.schedule = SCHEDULE_SEQUENTIAL;
    cut_time(&l, &t.w, &r, 2);
    assert_int_equal(l.step_cycles, 100 * (31 + 29 + 53 + 53 + 61));
    t.w.forth[0].s_per_byte = 0;                /* no such hop */
    cut_time(&l, &t.w, &r, 2);
    assert_int_equal(l.step_cycles, 100 * (31 + 53 + 53 + 61));
    t.costs[2].output_bytes = 0;
    cut_time(&l, &t.w, &r, 2);
    assert_int_equal(l.step_cycles, 100 * (31 + 53));
    l = (struct layout){ .n_stages = 1 };
    cut_time(&l, &t.w, &r, 1);
    assert_int_equal(l.step_cycles, 3100);
}

/* Stem | blocks | heads on an IPU each: of two micro-batches the second one's 2 x 17 after the first's 10 are more than the third one's 2 x 4
 * after 27, and than the 2 x (5 + 12) of the busiest. Copies of 3A, 37 forward and 69 back. */
static void the_latest_of_three_ipus(void **state)
{
    struct layout l = { .n_stages = 3, .cuts = { 1, 3 } };
    struct layout_rules r = { .training = true, .schedule = SCHEDULE_GROUPED, .grad_accum = 2 };
    struct toy t;
    (void)state;
    toy_hops(&t);
    cut_time(&l, &t.w, &r, 3);
    assert_int_equal(l.step_cycles, 2 * (17 + 37 + 69) + 10);
}

/* With recomputation 14 + 11 + 11 + 5, in the last stage 10 + 8 + 9 + 4; the stem's is 1.4 times as much. */
static void the_least_step_by_hand(void **state)
{
    static const struct { uint32_t n_ipus; enum schedule schedule; uint64_t each; } cases[] = {
        { 1, SCHEDULE_GROUPED, 31 }, { 2, SCHEDULE_SEQUENTIAL, 31 }, { 2, SCHEDULE_NONE, 31 }, { 2, SCHEDULE_GROUPED, 17 },     /* 41 / 2.4 */
        { 3, SCHEDULE_GROUPED, 12 }, { 4, SCHEDULE_GROUPED, 10 },           /* 41 / 3.4; 41 / 4.4 is less than the stem's 10 */
    };
    struct toy t;
    (void)state;
    toy_hops(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout_rules r = { .training = true, .recompute = RECOMPUTE_STAGE, .schedule = cases[i].schedule, .grad_accum = 7, .each_cycles = 3, .once_cycles = 11 };
        assert_int_equal(least_step_cycles(&t.w, &r, cases[i].n_ipus), 7 * (cases[i].each + 3) + 11);
        r.floor_cycles = 50;
        assert_int_equal(least_step_cycles(&t.w, &r, cases[i].n_ipus), 7 * 50);
    }
    struct layout_rules forward = { .schedule = SCHEDULE_GROUPED, .grad_accum = 1 };
    assert_int_equal(least_step_cycles(&t.w, &forward, 2), 4);      /* 10 on two: a hair below 5, whatever the division rounds */
}

/* ---- what is kept of a plan ------------------------------------------------------------------------------------ */

/* The same as the compiler says of each run of layers. */
static void assert_kept(const struct layer_work *w, const struct simulation *sim)
{
    const struct compiled *compiled = sim->plan.stages[0].compiled;
    assert_int_equal(w->n_layers, sim->graph->n_layers);
    for (uint32_t i = 0; i < w->n_layers; i++) {
        struct cycles sum = compile_weight_work(sim->compiler, &(struct layer_range){ compiled, i, 1 }, 1, WORK_ACCUMULATE, PART_ACCUMULATE);
        assert_int_equal(w->accumulate_cycles[i], cycles_total(&sum));
        assert_memory_equal(&w->layers[i], &compiled->layers[i], sizeof *w->layers);
        assert_ptr_equal(w->graph->layers[i].name, sim->graph->layers[i].name);
        for (uint32_t end = i + 1; end <= w->n_layers; end++)
            assert_int_equal(w->code_bytes[i * (w->n_layers + 1) + end], compile_code_bytes(sim->compiler, &(struct layer_range){ compiled, i, end - i }, 1));
    }
}

/* A hop by its route: latencies add up, and the slowest link sets the rate. */
static void assert_hop(const struct hop *h, const struct topology *t, uint32_t from, uint32_t to)
{
    double latency_s = 0, slowest = INFINITY;
    uint32_t links[64];
    size_t n;
    assert_true(topology_route(links, 64, &n, t, from, to, NULL) && n > 0);
    for (size_t i = 0; i < n; i++) {
        latency_s += topology_link(t, links[i]).latency_s;
        slowest = fmin(slowest, topology_link(t, links[i]).bytes_per_s);
    }
    assert_near(h->latency_s, latency_s, 1e-12);
    assert_near(h->s_per_byte * slowest, 1, 1e-12);
}

static void assert_hops(const struct layer_work *w, const struct topology *t)
{
    for (uint32_t i = 0; i + 1 < t->n_ipus && i < MAX_STAGES; i++) {
        assert_hop(&w->forth[i], t, i, i + 1);
        assert_hop(&w->back[i], t, i + 1, i);
    }
    for (uint32_t i = 1; i < t->n_ipus && i < MAX_STAGES; i++) {
        assert_hop(&w->home[i], t, i, 0);
        assert_hop(&w->out[i], t, 0, i);
    }
    assert_true(w->home[0].latency_s == 0 && w->out[0].s_per_byte == 0);
    for (uint32_t i = t->n_ipus; i < MAX_STAGES; i++)
        assert_true(w->forth[i].s_per_byte == 0 && w->back[i].s_per_byte == 0 && w->home[i].s_per_byte == 0 && w->out[i].s_per_byte == 0);
    assert_true(w->forth[t->n_ipus - 1].s_per_byte == 0 && w->back[t->n_ipus - 1].s_per_byte == 0);
}

/* First layers, then at least one of the body, then heads. */
static void assert_one_body(const struct simulation *sim)
{
    static const struct { const char *roles; bool good; uint32_t first_body, n_body; } cases[] = {
        { "fbbl", true, 1, 2 }, { "bl", true, 0, 1 }, { "b", true, 0, 1 }, { "fl", false, 1, 0 }, { "fblb", false, 1, 1 }, { "fbf", false, 1, 1 }, { "ffbl", true, 2, 1 },
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan p = sim->plan;
        struct graph g = *p.graph;
        struct layer_work w;
        size_t n = strlen(cases[i].roles);
        g.layers = ARENA_ARRAY(&a, struct layer, g.n_layers);
        for (size_t k = 0; k < g.n_layers; k++) {
            char c = cases[i].roles[k < n ? k : n - 1];
            g.layers[k].role = c == 'f' ? LAYER_FIRST : c == 'b' ? LAYER_BODY : LAYER_LAST;
        }
        p.graph = &g;
        assert_true(layer_work_of(&w, &p, sim->compiler, &a) == cases[i].good);
        assert_true(!cases[i].good || w.first_body == cases[i].first_body);
        assert_true(!cases[i].good || w.n_body == (cases[i].roles[n - 1] == 'b' ? g.n_layers : cases[i].n_body));
    }
    arena_free(&a);
}

/* Where no link to the host is known, its input takes no time. */
static void assert_no_host_link(const struct simulation *sim)
{
    struct machine m = *sim->plan.topology->machine;
    struct topology t = *sim->plan.topology;
    struct plan p = sim->plan;
    struct layer_work w;
    struct arena a = {0};
    m.chip.host_link_bytes_per_s = 0;
    t.machine = &m, p.topology = &t;
    assert_true(layer_work_of(&w, &p, sim->compiler, &a));
    assert_near(w.input_s_per_byte, 0, 0);
    arena_free(&a);
}

static void what_a_plan_leaves_for_the_search(void **state)
{
    static const struct { const char *recipe, *sets[2]; bool beside; size_t n_tied; } cases[] = {
        { "mlperf-v1.1-closed-ipu-pod16-bert-large", { "parallel.ipus_per_replica=1", "parallel.layers_per_ipu=" }, false, 1 },
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", { "parallel.io_tiles=32", "parallel.recompute=layer" }, true, 0 },
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", { "parallel.io_tiles=0", "parallel.recompute=layer" }, false, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulation sim;
        struct result r;
        struct layer_work w;
        struct err err = { "" };
        struct arena a = {0};
        if (!simulate(&sim, &r, cases[i].recipe, cases[i].sets, 2, &paths, NULL, &err))
            print_error("%s\n", err.msg);
        assert_string_equal(err.msg, "");
        assert_true(layer_work_of(&w, &sim.plan, sim.compiler, &a));
        assert_kept(&w, &sim);
        assert_hops(&w, sim.topology);
        assert_one_body(&sim);
        assert_no_host_link(&sim);
        assert_int_equal(w.n_tied, cases[i].n_tied);
        assert_near(w.input_s_per_byte * sim.machine->chip.host_link_bytes_per_s, cases[i].beside ? 0 : 1, 1e-12);
        for (uint32_t k = 0; k < w.n_layers; k++)
            assert_int_equal(w.graph->layers[k].role, k < w.first_body ? LAYER_FIRST : k < w.first_body + w.n_body ? LAYER_BODY : LAYER_LAST);
        for (size_t k = 0; k < w.n_tied; k++)
            assert_true(w.tied[k].owner < w.first_body && w.tied[k].layer >= w.first_body + w.n_body && w.tied[k].bytes == 2 * sim.recipe.model.vocabulary * 1024
                        && w.tied[k].n_elements == sim.recipe.model.vocabulary * 1024);
        arena_free(&a);
        simulation_free(&sim);
    }
}

/* ---- layouts --------------------------------------------------------------------------------------------------- */

/* Halves of blocks where a cut parts them; one number where both halves are as many. */
static void layouts_as_text(void **state)
{
    static const struct { uint32_t n_stages; uint16_t cuts[2]; const char *text; } cases[] = {
        { 1, { 0 }, "2" }, { 2, { 2 }, "1,1" }, { 2, { 1 }, "1/0,1/2" }, { 3, { 1, 3 }, "1/0,1,0/1" }, { 2, { 4 }, "2,0" },
    };
    struct toy t;
    struct arena a = {0};
    (void)state;
    toy_fill(&t);
    for (uint32_t i = 0; i < N_LAYERS; i++)
        t.layers[i] = (struct layer){ .role = LAYER_BODY, .part_id = i % 2, .n_parts = 2 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout l = { .n_stages = cases[i].n_stages, .cuts = { cases[i].cuts[0], cases[i].cuts[1] } };
        assert_string_equal(layout_text(&t.w, &l, &a), cases[i].text);
    }
    arena_free(&a);
}

/* What a walk leaves out takes as long or longer: nothing is below the best, and the best is there below one cycle more. */
static void a_limit_to_the_cycle(void **state)
{
    struct toy t;
    (void)state;
    toy_hops(&t);
    for (int schedule = 0; schedule < N_SCHEDULES; schedule++)
        for (int training = 0; training < 2; training++)
            for (uint32_t i = 0; i < 6; i++) {
                uint32_t n_ipus = 1 + i / 2;
                struct layout_rules r = { .training = training, .schedule = (enum schedule)schedule, .recompute = i & 1 ? RECOMPUTE_STAGE : RECOMPUTE_NONE,
                                          .grad_accum = 9, .each_cycles = 3, .once_cycles = 11, .most_cuts = MOST_CUTS };
                struct arena a = {0};
                struct layouts all, one, none;
                for (int k = 0; k < N_LAYERS; k++)
                    t.costs[k].output_bytes = A, t.w.back[k] = t.w.forth[k];        /* copies alike: the bound is the time itself */
                layouts_list(&all, &t.w, &r, n_ipus, UINT64_MAX, 100, &a);
                assert_true(all.n > 0);
                layouts_list(&one, &t.w, &r, n_ipus, all.items[0].step_cycles + 1, 100, &a);
                layouts_list(&none, &t.w, &r, n_ipus, all.items[0].step_cycles, 100, &a);
                assert_true(one.n > 0 && one.items[0].step_cycles == all.items[0].step_cycles);
                assert_int_equal(none.n, 0);
                arena_free(&a);
            }
}

/* A stem of 4 cycles, blocks of 3, 1, 2, 5, heads of 2; two IPUs, 100 micro-batches; the second IPU begins when the first has done one.
 * Stem 3 1 | 2 5 heads: 100 x 9 + 8; stem 3 1 2 | 5 heads: 100 x 10; stem 3 | 1 2 5 heads: 100 x 10 + 7; stem |: 1304; | heads: 1500.
 * With the heads back on the first: stem 3 + 2 | 1 2 5: 100 x 9; stem 3 1 + 2 | 2 5: 1000; stem 3 1 2 + 2 | 5: 1200; stem + 2 |: 1104. */
static void layouts_of_five_layers(void **state)
{
    (void)state;
    struct layer layers[] = { { .role = LAYER_FIRST }, { .role = LAYER_BODY, .n_parts = 1 }, { .role = LAYER_BODY, .n_parts = 1 },
                              { .role = LAYER_BODY, .n_parts = 1 }, { .role = LAYER_BODY, .n_parts = 1 }, { .role = LAYER_LAST } };
    static const uint64_t cycles[] = { 4, 3, 1, 2, 5, 2 };
    struct layer_cost costs[6];
    memset(costs, 0, sizeof costs);
    for (int i = 0; i < 6; i++)
        costs[i].forward_cycles = cycles[i];
    struct graph g = { .layers = layers, .n_layers = 6 };
    struct layer_work w = { .graph = &g, .layers = costs, .n_layers = 6, .first_body = 1, .n_body = 4, .n_tiles = 1, .tile_bytes = 1000 };
    struct layout_rules rules = { .training = false, .schedule = SCHEDULE_GROUPED, .grad_accum = 100, .most_cuts = MOST_CUTS };
    struct arena a = {0};
    struct layouts list;
    assert_int_equal(least_step_cycles(&w, &rules, 2), 800);    /* 17 cycles on two, rounded down */
    layouts_list(&list, &w, &rules, 2, UINT64_MAX, 100, &a);
    assert_int_equal(list.n, 5 + 4);                            /* the last stage has the heads: it may have no block; not so where they are back */
    static const struct { const char *text; uint64_t cycles; } fastest[] = { { "1,3,0", 900 }, { "2,2", 908 }, { "3,1", 1000 }, { "2,2,0", 1000 }, { "1,3", 1007 } };
    for (int i = 0; i < 5; i++) {
        assert_string_equal(layout_text(&w, &list.items[i], &a), fastest[i].text);
        assert_int_equal(list.items[i].step_cycles, fastest[i].cycles);
    }
    layouts_list(&list, &w, &rules, 2, 1100, 100, &a);
    assert_int_equal(list.n, 5);
    layouts_list(&list, &w, &rules, 2, UINT64_MAX, 2, &a);      /* room for two: the best stays, and what goes is told */
    assert_string_equal(layout_text(&w, &list.items[0], &a), "1,3,0");
    assert_int_equal(list.items[1].step_cycles, 908);           /* 1304, 1007 and 1000 went, one by one; longer ones were never made */
    assert_true(list.n == 2 && list.n_dropped == 3 && list.least_dropped == 1000);
    /* What the host adds to each micro-batch and to a step. Three IPUs: two places of five to cut, or with the heads back two of four. */
    rules.each_cycles = 3, rules.once_cycles = 11;
    assert_int_equal(least_step_cycles(&w, &rules, 2), 100 * (8 + 3) + 11);
    layouts_list(&list, &w, &rules, 2, UINT64_MAX, 100, &a);
    assert_int_equal(list.items[0].step_cycles, 900 + 311);
    rules.each_cycles = rules.once_cycles = 0;
    layouts_list(&list, &w, &rules, 3, UINT64_MAX, 100, &a);
    assert_int_equal(list.n, 10 + 6);
    rules.schedule = SCHEDULE_SEQUENTIAL;
    layouts_list(&list, &w, &rules, 2, UINT64_MAX, 100, &a);
    assert_int_equal(list.items[0].step_cycles, 1700);
    rules.schedule = SCHEDULE_GROUPED;
    costs[4].weight_bytes = 1300;                               /* alone more than a tile holds */
    layouts_list(&list, &w, &rules, 2, UINT64_MAX, 100, &a);
    assert_int_equal(list.n, 0);
    arena_free(&a);
}

/* Given up before the first layout, a walk tells the best that it knew possible. Of two stages cut at 1, 2, 3 one takes at least: 9 micro-batches
 * of the first's work, or of the second's after the first's one: 199, 162, 243 cycles; of three stages cut at 1 and 2 135. Forward alone 58,
 * and where the last layer is back on the first IPU 9 x 5 + 4. The host's 3 of each and 11; and A bytes to the next IPU, 21 cycles, or 37
 * to one that is farther: of each micro-batch, in both slots, or in PopART's fill and drain too. */
static void what_a_walk_knows_before_it_begins(void **state)
{
    static const struct { uint32_t n_ipus; enum schedule schedule; bool training, heads; enum recompute recompute; uint64_t work, copies; } cases[] = {
        { 2, SCHEDULE_GROUPED, true, false, RECOMPUTE_NONE, 162, 9 * 2 * 21 },      { 2, SCHEDULE_SEQUENTIAL, true, false, RECOMPUTE_NONE, 279, 9 * 2 * 21 },
        { 2, SCHEDULE_POPART, true, false, RECOMPUTE_NONE, 162, 11 * 21 },          { 2, SCHEDULE_INTERLEAVED, true, false, RECOMPUTE_NONE, 162, 9 * 21 },
        { 2, SCHEDULE_GROUPED, false, false, RECOMPUTE_NONE, 58, 9 * 21 },          { 2, SCHEDULE_SEQUENTIAL, false, false, RECOMPUTE_NONE, 90, 9 * 21 },
        { 2, SCHEDULE_POPART, false, false, RECOMPUTE_NONE, 58, 9 * 21 },           { 3, SCHEDULE_GROUPED, true, false, RECOMPUTE_NONE, 135, 9 * 2 * 37 },
        { 2, SCHEDULE_GROUPED, true, false, RECOMPUTE_STAGE, 203, 9 * 2 * 21 },     { 2, SCHEDULE_GROUPED, false, true, RECOMPUTE_NONE, 49, 9 * 21 },
        { 1, SCHEDULE_GROUPED, true, true, RECOMPUTE_STAGE, 279, 0 },               { 2, SCHEDULE_SEQUENTIAL, false, true, RECOMPUTE_NONE, 90, 9 * 21 },
        { 2, SCHEDULE_SEQUENTIAL, true, true, RECOMPUTE_NONE, 279, 9 * 2 * 21 },
    };
    struct toy t;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout_rules r = { .training = cases[i].training, .schedule = cases[i].schedule, .recompute = cases[i].recompute, .grad_accum = 9,
                                  .each_cycles = 3, .once_cycles = 11 };
        struct arena a = {0};
        struct layouts list;
        toy_hops(&t);
        t.w.forth[1].latency_s = 5;
        if (!cases[i].heads)
            t.w.n_body = 3, t.layers[3].role = LAYER_BODY;
        layouts_list(&list, &t.w, &r, cases[i].n_ipus, UINT64_MAX, 100, &a);
        assert_int_equal(list.n, 0);
        assert_int_equal(list.n_dropped, cases[i].heads && cases[i].n_ipus > 1 ? 2 : 1);
        assert_int_equal(list.least_dropped, cases[i].work + cases[i].copies + 9 * 3 + 11);
        arena_free(&a);
    }
}

/* Cut at 1, 2 or 3 of the four; given up after the first stage's and the first of the second's. */
static void what_a_walk_has_when_it_gives_up(void **state)
{
    struct layout_rules r = { .schedule = SCHEDULE_GROUPED, .grad_accum = 9, .most_cuts = 2 };
    struct toy t;
    struct arena a = {0};
    struct layouts list;
    (void)state;
    toy_hops(&t);
    t.w.n_body = 3, t.layers[3].role = LAYER_BODY;
    layouts_list(&list, &t.w, &r, 2, UINT64_MAX, 100, &a);
    assert_int_equal(list.n, 1);
    assert_string_equal(layout_text(&t.w, &list.items[0], &a), "0,3");
    assert_int_equal(list.n_dropped, 1);
    assert_int_equal(list.least_dropped, 58 + 9 * 21);
    r.most_cuts = 4;                            /* one for the walk, one for each cut */
    layouts_list(&list, &t.w, &r, 2, UINT64_MAX, 100, &a);
    assert_true(list.n == 3 && list.n_dropped == 0);
    arena_free(&a);
}

/* 58, 63 and 81 cycles, with room for two: when the third comes the second goes, and the third is no shorter. */
static void the_longer_half_goes(void **state)
{
    struct layout_rules r = { .schedule = SCHEDULE_GROUPED, .grad_accum = 9, .most_cuts = MOST_CUTS };
    struct toy t;
    struct arena a = {0};
    struct layouts list;
    (void)state;
    toy_fill(&t);
    t.w.input_s_per_byte = 0, t.w.n_body = 3, t.layers[3].role = LAYER_BODY;
    layouts_list(&list, &t.w, &r, 2, UINT64_MAX, 2, &a);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].step_cycles, 58);
    assert_int_equal(list.n_dropped, 2);
    assert_int_equal(list.least_dropped, 63);
    r.floor_cycles = 100;                       /* all alike: none is below another, or below the floor */
    layouts_list(&list, &t.w, &r, 2, UINT64_MAX, 2, &a);
    assert_true(list.n == 1 && list.items[0].step_cycles == 900 && list.n_dropped == 2 && list.least_dropped == 900);
    layouts_list(&list, &t.w, &r, 2, 900, 2, &a);
    assert_true(list.n == 0 && list.n_dropped == 0);
    arena_free(&a);
}

/* One stage on one IPU fits to the byte or not. */
static void a_stage_fits_to_the_byte(void **state)
{
    struct layout_rules r = { .schedule = SCHEDULE_GROUPED, .grad_accum = 9, .most_cuts = MOST_CUTS };
    struct toy t;
    struct arena a = {0};
    struct layouts list;
    (void)state;
    toy_hops(&t);
    struct stage_cost all = stage_cost(&t.w, &r, (struct stage_place){ 0, 1, 1, 0, 4 });
    t.w.tile_bytes = ipu_bytes(&all, NULL);
    layouts_list(&list, &t.w, &r, 1, UINT64_MAX, 100, &a);
    assert_int_equal(list.n, 1);
    t.w.tile_bytes--;
    layouts_list(&list, &t.w, &r, 1, UINT64_MAX, 100, &a);
    assert_true(list.n == 0 && list.n_dropped == 0);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(work_of_a_layer_by_hand), cmocka_unit_test(cycles_of_a_stage_by_hand), cmocka_unit_test(a_stash_is_copied_in_and_out),
    cmocka_unit_test(what_a_stage_holds_always), cmocka_unit_test(a_copy_of_a_tied_weight), cmocka_unit_test(what_a_stage_holds_at_worst),
    cmocka_unit_test(the_last_stage_keeps_its_input_whole), cmocka_unit_test(a_tile_filled_to_the_byte), cmocka_unit_test(two_stages_of_an_ipu),
    cmocka_unit_test(two_stages_in_time), cmocka_unit_test(heads_beside_the_stem_in_time), cmocka_unit_test(the_latest_of_three_ipus),
    cmocka_unit_test(the_least_step_by_hand),
    cmocka_unit_test(what_a_plan_leaves_for_the_search), cmocka_unit_test(layouts_as_text),
    cmocka_unit_test(a_limit_to_the_cycle), cmocka_unit_test(layouts_of_five_layers), cmocka_unit_test(what_a_walk_knows_before_it_begins),
    cmocka_unit_test(what_a_walk_has_when_it_gives_up), cmocka_unit_test(a_stage_fits_to_the_byte),
    cmocka_unit_test(the_longer_half_goes),
};
TAP_MAIN(tests)
