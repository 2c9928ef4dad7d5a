/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_split.c - layers divided by themselves: never worse than every split there is, on few stages; than those published, on many.
 */
#include "tests/planned.h"
#include "results/simulate/split.h"

struct outcome { bool built, fits; uint64_t shortfall, step_cycles; };

static struct outcome play(struct planned *y, const struct plan_request *opt)
{
    struct arena scratch = { 0 };
    struct plan p;
    struct timeline t;
    struct outcome o = { .built = plan_build(&p, y->sim.compiler, opt, &scratch, NULL) && timeline_run(&t, &p, &scratch, NULL) };
    if (o.built)
        o = (struct outcome){ true, p.fits, p.shortfall_bytes, t.step_cycles };
    arena_free(&scratch);
    return o;
}

static bool no_worse(const struct outcome *a, const struct outcome *b)
{
    if (!b->built || a->fits != b->fits)
        return !b->built || a->fits;
    return a->fits ? a->step_cycles <= b->step_cycles : a->shortfall <= b->shortfall;
}

static struct outcome automatic(struct planned *y, struct plan_request *opt)
{
    opt->n_stages = 0;
    assert_true(split_layers(opt, y->sim.compiler, 0, &y->err));
    assert_true(opt->n_stages >= opt->ipus_per_replica);
    struct outcome o = play(y, opt);
    assert_true(o.built);
    return o;
}

/* ResNet-50 has 16 blocks: 15 ways to cut once; on a chip of less and less memory, until nothing fits. */
static void as_good_as_any_of_two_stages(void **state)
{
    static const uint64_t memory_bytes[] = { 638976, 300000, 180000, 100000 };
    (void)state;
    for (size_t m = 0; m < sizeof memory_bytes / sizeof *memory_bytes; m++) {
        struct planned y;
        start(&y, "vendor-ipu-pod16-resnet50-pipelined");
        y.opt.ipus_per_replica = 2;
        y.sim.machine->chip.tile_memory_bytes = memory_bytes[m];
        struct plan_request opt = y.opt;
        struct outcome found = automatic(&y, &opt);
        for (uint32_t cut = 0; cut <= 16; cut++) {
            struct plan_request other = y.opt;
            other.n_stages = 2;
            other.stage_sizes[0] = (struct stage_size){ { cut, cut } };
            other.stage_sizes[1] = (struct stage_size){ { 16 - cut, 16 - cut } };
            struct outcome o = play(&y, &other);
            assert_true(no_worse(&found, &o));
        }
        stop(&y);
    }
}

/* Three IPUs: 153 ways to cut 16 blocks twice, empty stages among them; on a chip of less and less memory. */
static void as_good_as_any_of_three_stages(void **state)
{
    static const uint64_t memory_bytes[] = { 638976, 300000, 180000, 100000 };
    (void)state;
    for (size_t m = 0; m < sizeof memory_bytes / sizeof *memory_bytes; m++) {
        struct planned y;
        start(&y, "vendor-ipu-pod16-resnet50-pipelined");
        y.opt.ipus_per_replica = 3;
        y.sim.machine->chip.tile_memory_bytes = memory_bytes[m];
        struct plan_request opt = y.opt, other = y.opt;
        struct outcome found = automatic(&y, &opt);
        other.n_stages = 3;
        for (uint32_t first = 0; first <= 16; first++)
            for (uint32_t second = 0; first + second <= 16; second++) {
                const uint32_t sizes[] = { first, second, 16 - first - second };
                for (uint32_t s = 0; s < 3; s++)
                    other.stage_sizes[s] = (struct stage_size){ { sizes[s], sizes[s] } };
                struct outcome o = play(&y, &other);
                assert_true(no_worse(&found, &o));
            }
        stop(&y);
    }
}

/* By blocks, by halves, with the heads back on the first IPU, grouped and not. */
static void no_worse_than_published(void **state)
{
    static const char *const recipes[] = { "mlperf-v1.1-closed-ipu-pod16-bert-large", "mlperf-v2.0-closed-bow-pod64-bert-large",
                                           "vendor-bow-pod16-bert-base-ph1-popart", "vendor-bow-pod16-resnext101-tf1" };
    (void)state;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct planned y;
        start(&y, recipes[i]);
        struct outcome given = play(&y, &y.opt);
        struct plan_request opt = y.opt;
        struct outcome found = automatic(&y, &opt);
        assert_true(given.built && no_worse(&found, &given));
        stop(&y);
    }
}

/* Stages that a recipe names are kept; one IPU has nothing to divide. */
static void given_splits_stay(void **state)
{
    (void)state;
    struct planned y;
    start(&y, "mlperf-v1.1-closed-ipu-pod16-bert-large");
    struct plan_request opt = y.opt;
    assert_true(split_layers(&opt, y.sim.compiler, 0, &y.err));
    assert_int_equal(opt.n_stages, 5);
    assert_memory_equal(opt.stage_sizes, y.opt.stage_sizes, sizeof opt.stage_sizes);
    stop(&y);
}

/* One question, one answer, wherever its texts lie; another accumulation, or other checkpoints, is another question. */
static void remembered(void **state)
{
    (void)state;
    struct planned y;
    if (memo_is_off())
        skip();
    char first[] = "encoder3/attention", again[] = "encoder3/attention", other[] = "encoder4/attention", longer[] = "encoder11/attention";
    start(&y, "vendor-bow-pod16-bert-base-ph1-popart");
    y.opt.recompute = RECOMPUTE_CHECKPOINTS;
    y.opt.n_checkpoints = 2;
    y.opt.n_stages = 0;
    const struct { char *names[2]; uint32_t grad_accum; bool is_known; } asked[] = {
        { { first, longer }, 512, false }, { { again, longer }, 512, true }, { { first, longer }, 256, false }, { { other, longer }, 512, false },
        { { again, longer }, 256, true }, { { longer, again }, 512, false }, { { longer, other }, 512, false },
    };
    struct plan_request answers[sizeof asked / sizeof *asked];
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        answers[i] = y.opt;
        memcpy(answers[i].checkpoints, asked[i].names, sizeof asked[i].names);
        answers[i].grad_accum = asked[i].grad_accum;
        uint64_t n_made = y.sim.compiler->memo.n_made;
        assert_true(split_layers(&answers[i], y.sim.compiler, 0, &y.err));
        assert_int_equal(y.sim.compiler->memo.n_made == n_made, asked[i].is_known);
    }
    assert_int_equal(answers[0].n_stages, answers[1].n_stages);
    assert_memory_equal(answers[0].stage_sizes, answers[1].stage_sizes, sizeof answers[0].stage_sizes);
    assert_memory_equal(answers[2].stage_sizes, answers[4].stage_sizes, sizeof answers[2].stage_sizes);
    stop(&y);
}

/* Halves of a block are written apart; text that does not fit the room is left out. */
static void splits_as_text(void **state)
{
    const struct plan_request o = { .n_stages = 3, .stage_sizes = { { { 3, 3 } }, { { 7, 6 } }, { { 0, 0 } }, { { 5, 5 } } } };
    char text[20];
    (void)state;
    split_text(text, sizeof text, &o);
    assert_string_equal(text, "3,7/6,0");
    split_text(text, 5, &o);
    assert_string_equal(text, "3,7/");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(splits_as_text), cmocka_unit_test(as_good_as_any_of_two_stages), cmocka_unit_test(as_good_as_any_of_three_stages), cmocka_unit_test(no_worse_than_published), cmocka_unit_test(given_splits_stay), cmocka_unit_test(remembered),
};
TAP_MAIN(tests)
