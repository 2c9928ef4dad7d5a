/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_sliced.c - layers that are cut over IPUs (tensor parallelism), and layers in phases, compute what whole ones do, and hold the bytes that the plan
 * counts.
 *
 * Sizes are odd: 3 heads over 2 IPUs, 10 columns over 3, 13 and 11 rows of a vocabulary over 2 and 4 leave padding. Sums of parts are added up in
 * another order than whole ones, so that weights agree to 1e-5 of the largest change and not to the bit.
 */
#include "tests/execute/planned_model.h"

static struct planned base;

static struct execution_options options_of(const struct graph *g)
{
    return (struct execution_options){ .optimizer = { .learning_rate = 0.03, .momentum = 0.875, .second_momentum = 0.99, .weight_decay = 0.01, .epsilon = 1e-3, .trust = 0.01,
                                                      .clip_norm = 0.5 },
                                       .seed = 7, .mean_losses = true, .fill = fill_noise, .user = (void *)(uintptr_t)(g->whole ? g->whole : g) };
}

/* The model and its plan, executed for two steps. */
struct run_model { struct planned_model m; struct execution *x; double loss; };

static void run_steps(struct run_model *r, const struct small_model *s, const struct variant *v)
{
    bool planned = plan_model(&r->m, &base, s, v);
    assert_string_equal(r->m.err.msg, "");
    assert_true(planned);
    struct execution_options o = options_of(&r->m.g);
    struct step_result result;
    r->x = execution_start(&r->m.p, &o, &r->m.err);
    assert_string_equal(r->m.err.msg, "");
    for (int step = 0; step < 2; step++) {
        bool good = execution_step(r->x, &result, &r->m.err);
        assert_string_equal(r->m.err.msg, "");
        assert_true(good && !result.skipped);
    }
    r->loss = result.loss;
}

static void end_run(struct run_model *r)
{
    execution_end(r->x);
    arena_free(&r->m.arena);
}

static const float *weight_of_model(const struct run_model *r, uint32_t replica, uint32_t id)
{
    return execution_weight(r->x, replica, plan_stage_of(&r->m.p, r->m.g.tensors[id].layer_id)->ipu, id);
}

/* Every element of every part on every replica against that of the whole; padding stays 0. Returns how many weights are cut. */
static uint32_t compare_weights(const struct run_model *cut, const struct run_model *whole)
{
    uint32_t n_cut = 0;
    for (uint32_t i = 0; i < cut->m.g.n_tensors; i++) {
        const struct tensor *t = &cut->m.g.tensors[i];
        if (t->role != ROLE_WEIGHT)
            continue;
        n_cut += t->cuts[0].dim || t->cuts[1].dim;
        for (uint32_t r = 0; r < cut->m.p.request.n_replicas; r++) {
            const float *w = weight_of_model(cut, r, i), *all = weight_of_model(whole, 0, cut->m.g.whole ? cut->m.g.whole_ids[i] : i);
            for (uint64_t e = 0; e < tensor_elements(t); e++) {
                uint64_t from = tensor_whole_element(t, e, r);
                double want = from == NO_ID64 ? 0 : (double)all[from];
                if (fabs((double)w[e] - want) > 1e-5)
                    print_error("%s: %s of layer %s, replica %u, element %ju: %.9g, want %.9g\n", cut->m.g.name, t->name, cut->m.g.layers[t->layer_id].name, r,
                                (uintmax_t)e, (double)w[e], want);
                assert_true(fabs((double)w[e] - want) <= 1e-5);
            }
        }
    }
    return n_cut;
}

static void check_cut(const struct small_model *s, struct variant v, uint32_t want_cut)
{
    struct run_model cut, whole;
    run_steps(&cut, s, &v);
    v.tensor_parallel = v.second_axis = v.attention_parts = v.phase_blocks = v.embedding_split = 0;
    run_steps(&whole, s, &v);
    assert_near(cut.loss, whole.loss, 1e-5 * whole.loss);
    assert_int_equal(compare_weights(&cut, &whole), want_cut);
    end_run(&cut);
    end_run(&whole);
}

static const struct decoder_config still_gpt2 = { .kind = DECODER_GPT2, .n_layers = 4, .hidden = 6, .heads = 2, .vocabulary = 11, .positions = 9 };     /* dropout would draw other masks */
static const struct small_model still = { { .name = "gpt2", .build = decoder_build, .config = &still_gpt2, .default_sequence_length = 7 }, { .micro_batch = 2 } };
/* A block has weights and bias of queries, keys and values in one, and rows of the output; feed-forward as many. Tables of words and of positions
 * are cut, too. */
enum { CUT_OF_GPT2 = 4 * 6 + 2 };

static void parts_agree(void **state)
{
    (void)state;
    for (uint32_t ipus = 2; ipus <= 4; ipus++) {
        struct variant v = { .n_replicas = 1, .n_ipus = 1, .grad_accum = 2, .tensor_parallel = ipus, .recompute = RECOMPUTE_LAYER };
        check_cut(&still, v, CUT_OF_GPT2);
        v.n_replicas = 2, v.rts = RTS_YES, v.sharded_elements = 1, v.work = WORK_ADAM;
        check_cut(&still, v, CUT_OF_GPT2);
        v.n_ipus = 2, v.grad_accum = 3, v.schedule = SCHEDULE_POPART, v.clip = true;
        check_cut(&still, v, CUT_OF_GPT2);
        v.work = WORK_LAMB;
        check_cut(&still, v, CUT_OF_GPT2);
    }
}

/* GPT-J's block has 5 cut tensors, its head two besides the table; Llama's 6; Bloom's as GPT-2's; T5's 4 in the encoder and 7 in the decoder, whose
 * position biases are cut by head in their tables. Three IPUs share two heads, so that one has padding. A second axis cuts the vectors of norms, and the biases
 * of products that end a half. All of it in phases, too. */
static void large_families_agree(void **state)
{
    static const struct { const char *name; uint32_t n_cut, second, more; } families[] = {
        { "gptj", 4 * 5 + 3, 2, 4 * 3 + 2 }, { "llama", 4 * 6 + 2, 2, 4 * 2 + 1 }, { "bloom", 4 * 6 + 1, 3, 4 * 6 + 4 }, { "t5", 2 * 4 + 2 * 7 + 4, 2, 2 * 2 + 2 * 3 + 2 } };
    (void)state;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t i = 0; i < N_SMALL_MODELS; i++)
            for (uint32_t ipus = 2; ipus <= 3 && text_is(small_models[i].w.name, families[f].name); ipus++) {
                struct variant v = { .n_replicas = 1, .n_ipus = 1, .grad_accum = 2, .tensor_parallel = ipus, .recompute = RECOMPUTE_LAYER, .work = WORK_ADAMW };
                check_cut(&small_models[i], v, families[f].n_cut);
                v.phase_blocks = 1;
                check_cut(&small_models[i], v, families[f].n_cut);
                v.second_axis = families[f].second;
                check_cut(&small_models[i], v, families[f].n_cut + families[f].more);
                v.phase_blocks = 0;
                check_cut(&small_models[i], v, families[f].n_cut + families[f].more);
            }
}

/* A second axis cuts the rows of layers' results, so that norms' vectors and the biases of the output products are cut as well: 6 more a block, and 2
 * of the last norm. Alone it leaves the biases of a block's columns whole. */
static void two_axes_agree(void **state)
{
    static const struct { uint32_t ipus[2], n_cut; } axes[] = { { { 2, 2 }, CUT_OF_GPT2 + 4 * 6 + 2 }, { { 2, 3 }, CUT_OF_GPT2 + 4 * 6 + 2 }, { { 3, 2 }, CUT_OF_GPT2 + 4 * 6 + 2 },
                                                              { { 1, 3 }, CUT_OF_GPT2 + 4 * 4 + 2 } };
    (void)state;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        struct variant v = { .n_replicas = 1, .n_ipus = 1, .grad_accum = 2, .tensor_parallel = axes[i].ipus[0], .second_axis = axes[i].ipus[1], .recompute = RECOMPUTE_LAYER };
        check_cut(&still, v, axes[i].n_cut);
        v.n_replicas = 2, v.rts = RTS_YES, v.sharded_elements = 1, v.work = WORK_LAMB, v.clip = true;
        check_cut(&still, v, axes[i].n_cut);
        v.phase_blocks = 1;
        check_cut(&still, v, axes[i].n_cut);
    }
}

/* Heads over 2 of 4 IPUs, each half of which has them twice. */
static void attention_may_have_fewer_parts(void **state)
{
    struct variant v = { .n_replicas = 2, .n_ipus = 1, .grad_accum = 2, .tensor_parallel = 4, .attention_parts = 2, .rts = RTS_YES, .sharded_elements = 1, .work = WORK_ADAM };
    (void)state;
    check_cut(&still, v, CUT_OF_GPT2);
}

/* Queries, keys and values as three products: 4 more weights a block. */
static void separate_products_are_cut(void **state)
{
    struct variant v = { .n_replicas = 1, .n_ipus = 2, .grad_accum = 3, .schedule = SCHEDULE_POPART, .tensor_parallel = 3 };
    struct small_model split = still;
    (void)state;
    split.o.split_qkv = true;
    check_cut(&split, v, CUT_OF_GPT2 + 4 * 4);
}

/* Each stage of an executed plan holds the bytes that are counted for it: weights, what waits for its backward pass, and activations at work. */
static void check_held(const struct small_model *s, const struct variant *v)
{
    struct run_model r;
    run_steps(&r, s, v);
    for (uint32_t i = 0; i < r.m.p.n_stages; i++) {
        const struct live_bytes *l = execution_live(r.x, i);
        const struct stage_plan *stage = &r.m.p.stages[i];
        assert_int_equal(l->peak[LIVE_WEIGHTS], stage->weight_bytes);
        assert_int_equal(l->entry_bytes, stage->stash_bytes);
        assert_int_equal(l->peak[LIVE_STASH], stage->stash_bytes * stage->stash_depth);
        assert_int_equal(l->peak[LIVE_ACTIVATIONS], stage->activation_bytes);
    }
    end_run(&r);
}

/* An IPU holds the bytes of its parts that the plan counts, in every family and along one axis or two. */
static void parts_hold_what_is_counted(void **state)
{
    static const struct { const char *name; uint32_t second; } families[] = { { "gptj", 2 }, { "llama", 2 }, { "bloom", 3 }, { "t5", 2 } };
    (void)state;
    for (int recompute = RECOMPUTE_NONE; recompute < RECOMPUTE_CHECKPOINTS; recompute++) {
        struct variant v = { .n_replicas = 1, .n_ipus = 2, .grad_accum = 3, .schedule = SCHEDULE_POPART, .tensor_parallel = 3, .recompute = (enum recompute)recompute };
        check_held(&still, &v);
        v.n_ipus = 1, v.schedule = SCHEDULE_NONE;
        for (size_t i = 0; i < N_SMALL_MODELS; i++)
            for (size_t f = 0; f < sizeof families / sizeof *families; f++)
                if (text_is(small_models[i].w.name, families[f].name)) {
                    v.second_axis = 0;
                    check_held(&small_models[i], &v);
                    v.second_axis = families[f].second;
                    check_held(&small_models[i], &v);
                }
        v.second_axis = 2;
        check_held(&still, &v);
    }
}

/* The table of 11 words in 2 parts of 6 and 5, or 3 of 4, 4 and 3, on as many stages; the product with it comes back to their IPUs as the last stages. */
static void tables_in_parts_agree(void **state)
{
    (void)state;
    for (uint32_t parts = 2; parts <= 3; parts++) {
        struct variant v = { .n_replicas = 2, .n_ipus = 3, .grad_accum = 11, .schedule = SCHEDULE_POPART, .recompute = RECOMPUTE_LAYER, .embedding_split = parts };
        check_cut(&still, v, parts);
        v.schedule = SCHEDULE_INTERLEAVED, v.rts = RTS_YES, v.sharded_elements = 1, v.work = WORK_ADAM;
        check_cut(&still, v, parts);
    }
}

/* Phase by phase, with weights that come and go: alone, with replicas that share them, and cut over IPUs as well. */
static void phases_agree(void **state)
{
    (void)state;
    for (int recompute = RECOMPUTE_NONE; recompute < RECOMPUTE_CHECKPOINTS; recompute++) {
        struct variant v = { .n_replicas = 1, .n_ipus = 1, .grad_accum = 3, .recompute = (enum recompute)recompute, .phase_blocks = 1, .work = WORK_ADAM };
        check_cut(&still, v, 0);
        v.phase_blocks = 3, v.n_replicas = 2, v.rts = RTS_YES, v.sharded_elements = 1, v.clip = true;
        check_cut(&still, v, 0);
        v.tensor_parallel = 2;
        check_cut(&still, v, CUT_OF_GPT2);
    }
}

/* A phase has one micro-batch at a time on the chip; off it, what the execution keeps for all of them is what the plan counts: the stash of each phase but the
 * last, of which its input is counted as what the phase before stored. */
static void phases_hold_what_is_counted(void **state)
{
    struct variant v = { .n_replicas = 1, .n_ipus = 1, .grad_accum = 3, .phase_blocks = 1 };
    struct run_model r;
    (void)state;
    for (int recompute = RECOMPUTE_NONE; recompute < RECOMPUTE_CHECKPOINTS; recompute++) {
        v.recompute = (enum recompute)recompute;
        run_steps(&r, &still, &v);
        const struct plan *p = &r.m.p;
        double kept = 0, weights = 0;
        assert_int_equal(p->n_stages, 6);
        for (uint32_t s = 0; s < p->n_stages; s++) {
            const struct live_bytes *l = execution_live(r.x, s);
            bool last = s + 1 == p->n_stages;
            assert_int_equal(l->peak[LIVE_ACTIVATIONS], p->stages[s].activation_bytes);
            assert_int_equal(l->peak[LIVE_STASH], p->stages[s].stash_bytes * (last ? 1 : 3));
            kept += (double)(p->phases[s].moves.stored[TASK_FORWARD] + p->phases[s].moves.stored[TASK_BACKWARD]);
        }
        for (uint32_t i = 0; i < r.m.g.n_tensors; i++)
            weights += r.m.g.tensors[i].role == ROLE_WEIGHT ? (double)tensor_bytes(&r.m.g.tensors[i]) : 0;
        weights += 11.0 * 6 * 2;        /* the head reads the words' table of 11 rows, 6 halves each */
        assert_true(p->off_chip.bytes[OFF_CHIP_ACTIVATIONS] == 3 * kept);
        assert_true(p->off_chip.bytes[OFF_CHIP_WEIGHTS] == weights);
        end_run(&r);
    }
}

static int setup(void **state) { (void)state; start(&base, "mlperf-v2.0-closed-bow-pod16-bert-large"); return 0; }
static int teardown(void **state) { (void)state; stop(&base); return 0; }

static const struct CMUnitTest tests[] = { cmocka_unit_test(large_families_agree), cmocka_unit_test(parts_agree), cmocka_unit_test(two_axes_agree), cmocka_unit_test(attention_may_have_fewer_parts), cmocka_unit_test(separate_products_are_cut),
                                          cmocka_unit_test(parts_hold_what_is_counted), cmocka_unit_test(tables_in_parts_agree), cmocka_unit_test(phases_agree), cmocka_unit_test(phases_hold_what_is_counted) };
int main(void) { cmocka_set_message_output(CM_OUTPUT_TAP); return cmocka_run_group_tests(tests, setup, teardown); }
