/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_fits.c - models that fit, the smaller shares of memory with which others would, and the remedies for those that do not. */
#include "system-model/output/output.h"
#include "tests/golden_text.h"
#include "tests/random.h"
#include "system-model/graph/graph.h"
#include "tests/simulated.h"
#include "results/simulate/simulate.h"
#include <jansson.h>

struct remedied { struct simulator s; struct simulation sim; struct result r; struct remedy list[MAX_REMEDIES]; size_t n; };

/* The remedies for a recipe with these settings. */
static void find_remedies(struct remedied *y, const char *recipe, const char *const *sets, size_t n_sets)
{
    struct err err = { "" };
    *y = (struct remedied){ .n = 0 };
    simulator_open(&y->s, &paths);
    assert_true(simulator_run(&y->s, &y->sim, &y->r, recipe, sets, n_sets, &err));
    assert_true(remedies_find(y->list, &y->n, &(struct remedy_request){ &y->sim, recipe, sets, n_sets, false }, &y->sim.arena, &err));
}

static void forget_remedies(struct remedied *y)
{
    simulation_free(&y->sim);
    simulator_close(&y->s);
}

/* 13 changes are tried: every one of memory, half the micro-batch, and 2 to 128 IPUs per replica. Lists of 12 were once too short for them. */
static void many_remedies_are_listed(void **state)
{
    struct remedied *y = calloc(1, sizeof *y);
    (void)state;
    find_remedies(y, "vendor-bow-pod128-efficientnet-b4-g16-tf1", (const char *const[]){ "parallel.micro_batch=8" }, 1);
    assert_true(y->n > 8 && y->n <= MAX_REMEDIES);
    forget_remedies(y);
    free(y);
}

/* A listed remedy is what simulating it gives. Those that fit come first, the fastest leading; pairs are tried if no
 * single remedy fits. */
static void remedies_do_what_they_say(void **state)
{
    static const struct { const char *recipe, *override; bool fits, pairs; } cases[] = {
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=48", true, false },
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=64", true, true },
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=160", false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulation again = {0};
        struct result r;
        struct err err = { "" };
        struct remedied y;
        find_remedies(&y, cases[i].recipe, &cases[i].override, 1);
        assert_false(y.r.fits);
        const struct remedy *list = y.list;
        assert_true(list[0].fits == cases[i].fits && (strstr(list[0].what, ", and ") != NULL) == cases[i].pairs);
        for (size_t k = 0; k < y.n; k++) {
            const char *sets[MAX_REMEDY_SETS + 1] = { cases[i].override };
            for (uint32_t m = 0; m < list[k].n_sets; m++)
                sets[m + 1] = list[k].sets[m];
            if (!simulator_run(&y.s, &again, &r, cases[i].recipe, sets, list[k].n_sets + 1, &err))
                print_error("%s: %s\n", list[k].what, err.msg);
            assert_true(r.fits == list[k].fits && r.throughput_samples_per_s == list[k].throughput_samples_per_s);
            assert_true(r.memory_shortfall_bytes_per_tile == list[k].shortfall_bytes_per_tile);
            assert_true(list[k].fits || !strstr(list[k].what, ", and "));
            assert_true(k == 0 || list[k - 1].fits > list[k].fits || (list[k - 1].fits == list[k].fits && (list[k].fits
                        ? list[k - 1].throughput_samples_per_s >= list[k].throughput_samples_per_s
                        : list[k - 1].shortfall_bytes_per_tile <= list[k].shortfall_bytes_per_tile)));
            simulation_free(&again);
        }
        assert_true(y.n > 2);
        forget_remedies(&y);
    }
}

/* Changes already in force are not tried, nor those that the machine or the mode cannot use: a ResNet-50 on single IPUs
 * stashes nothing and has no pipeline, cards stream from the host's memory, this BERT recomputes, streams and shards
 * already, and inference trains nothing. */
static void what_is_tried(void **state)
{
    static const char *const whats[] = { "recompute every layer", "shard the optimizer state over the replicas", "stream the optimizer state",
                                         "stash activations as fp8", "less memory for temporaries", "twice the I/O tiles", "half the micro-batch",
                                         "twice the IPUs per replica" };
    enum { N_WHATS = sizeof whats / sizeof *whats };
    static const struct { const char *recipe, *override, *tried; } cases[] = {
        { "mlperf-v1.1-closed-ipu-pod16-resnet50", "parallel.micro_batch=48", "yyy-y-yy" },
        { "vendor-ipu-pod16-resnet50-pipelined", "parallel.micro_batch=300", "yyyyy-yy" },
        { "vendor-dss8440-resnet50-tf1", "parallel.micro_batch=100", "yyyyy-yy" },
        { "mlperf-v1.1-closed-ipu-pod16-bert-large", "parallel.micro_batch=100", "---yy-yy" },
        { "vendor-ipu-m2000-resnet50-infer-b16", "parallel.micro_batch=800", "----yyyy" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char tried[N_WHATS + 1] = "--------";
        bool pipelines = false;         /* a recipe without a pipeline asks for one on more IPUs */
        struct remedied y;
        find_remedies(&y, cases[i].recipe, &cases[i].override, 1);
        for (size_t k = 0; k < y.n; k++)
            for (size_t w = 0; w < N_WHATS; w++)
                tried[w] = text_is(y.list[k].what, whats[w]) ? 'y' : tried[w];
        for (size_t k = 0; k < y.n; k++)
            for (uint32_t s = 0; s < y.list[k].n_sets; s++)
                pipelines |= strncmp(y.list[k].sets[s], "parallel.schedule=", 18) == 0;
        assert_string_equal(tried, cases[i].tried);
        assert_int_equal(pipelines, y.sim.recipe.mode == MODE_TRAIN && y.sim.recipe.schedule == SCHEDULE_NONE);
        forget_remedies(&y);
    }
}

/* The remedies try as many IPUs as the recipe uses, or 16 if the system has them and the recipe uses fewer. A replica's limit of IPUs holds, too. */
static void how_many_ipus_are_tried(void **state)
{
    static const struct { uint64_t replicas, width, n_ipus, most; } cases[] = { { 3, 8, 256, 24 }, { 3, 2, 256, 16 }, { 3, 2, 8, 8 }, { 5, 16, 256, 64 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct recipe r = { .replicas = cases[i].replicas, .ipus_per_replica = cases[i].width };
        const struct machine m = { .n_ipus = cases[i].n_ipus };
        assert_int_equal(most_ipus_tried(&r, &m), cases[i].most);
    }
}

/* Four processes have a replica each. If one replica takes all their IPUs, one process is left. */
static void one_replica_is_one_process(void **state)
{
    struct remedied y;
    int n_wider = 0;
    (void)state;
    find_remedies(&y, "vendor-ipu-m2000-resnet50-infer-b16", (const char *const[]){ "recipe.system=ipu-pod16", "parallel.micro_batch=800", "hosts.instances=4" }, 3);
    for (size_t k = 0; k < y.n; k++) {
        uint64_t width = 0;
        bool one = false;
        for (uint32_t s = 0; s < y.list[k].n_sets; s++) {
            sscanf(y.list[k].sets[s], "parallel.ipus_per_replica=%" SCNu64, &width);
            one |= text_is(y.list[k].sets[s], "hosts.instances=1");
        }
        assert_int_equal(one, width > 4);
        n_wider += width > 4;
    }
    assert_true(n_wider > 0);
    forget_remedies(&y);
}

/* A remedy that fits prints its rate, one that does not prints the shortfall; both print how to ask for them. */
static void remedies_as_text(void **state)
{
    static const struct remedy list[] = {
        { .what = "half of it", .sets = { "parallel.micro_batch=3", "parallel.rts=yes" }, .n_sets = 2, .fits = true,
          .fits_probability = 0.75, .throughput_samples_per_s = 1234.5 },
        { .what = "less", .sets = { "parallel.available_memory=0.1" }, .n_sets = 1, .shortfall_bytes_per_tile = 777 },
    };
    (void)state;
    char *text;
    DOCUMENTED(text, remedies_document(d, list, 2));
    assert_string_equal(text, "does not fit; what was tried:\n"
                              "  half of it  fits (75 % likely), 1234.5 samples/s:  --set parallel.micro_batch=3 --set parallel.rts=yes\n"
                              "  less        777 B too many on the fullest tile:    --set parallel.available_memory=0.1\n");
    free(text);
    json_t *json = remedies_json(list, 2);
    text = json_dumps(json, JSON_COMPACT);
    assert_string_equal(text, "[{\"what\":\"half of it\",\"set\":[\"parallel.micro_batch=3\",\"parallel.rts=yes\"],\"fits\":true,"
                              "\"fits_probability\":0.75,\"throughput_samples_per_s\":1234.5,\"shortfall_bytes_per_tile\":0},"
                              "{\"what\":\"less\",\"set\":[\"parallel.available_memory=0.1\"],\"fits\":false,"
                              "\"fits_probability\":0.0,\"throughput_samples_per_s\":0.0,\"shortfall_bytes_per_tile\":777}]");
    free(text);
    json_decref(json);
}

/* Twice the I/O tiles are tried if there are any. */
static void twice_the_tiles_that_load(void **state)
{
    static const char *const sets[][2] = { { "parallel.micro_batch=160", "parallel.io_tiles=0" }, { "parallel.micro_batch=160", "parallel.io_tiles=40" } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        size_t found = 0;
        struct remedied y;
        find_remedies(&y, "mlperf-v1.1-closed-ipu-pod16-resnet50", sets[i], 2);
        for (size_t k = 0; k < y.n; k++)
            found += y.list[k].n_sets == 1 && text_is(y.list[k].sets[0], "parallel.io_tiles=80");
        assert_int_equal(found, i);
        forget_remedies(&y);
    }
}

/* A micro-batch of 2 can be halved, with twice the accumulation; a micro-batch of 1 cannot. */
static void a_micro_batch_of_one_is_not_halved(void **state)
{
    (void)state;
    for (int micro_batch = 1; micro_batch <= 2; micro_batch++) {
        bool halves = false;
        const char *const sets[] = { micro_batch == 1 ? "parallel.micro_batch=1" : "parallel.micro_batch=2", "parallel.gradient_accumulation=7",
                                     "machine.tile_memory_bytes=180000", "machine.interleaved_bytes=131072" };
        struct remedied y;
        find_remedies(&y, "mlperf-v1.1-closed-ipu-pod16-resnet50", sets, 4);
        assert_false(y.r.fits);
        for (size_t k = 0; k < y.n; k++)
            if (text_is(y.list[k].what, "half the micro-batch")) {
                halves = true;
                assert_int_equal(y.list[k].n_sets, 2);
                assert_string_equal(y.list[k].sets[0], "parallel.micro_batch=1");
                assert_string_equal(y.list[k].sets[1], "parallel.gradient_accumulation=14");
            }
        assert_true(y.n > 0 && halves == (micro_batch == 2));
        forget_remedies(&y);
    }
}

/* Temporaries of 0.6 of tile memory do not fit together with the activations of 24 images. A smaller share is named, and is what it says: with it
 * the recipe fits, in the time that was told. A simulator that is asked for verdicts only names none. */
static void a_smaller_share_is_what_it_says(void **state)
{
    static const char *const recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    static const char *const asked[] = { "parallel.micro_batch=24", "parallel.available_memory=0.6" };
    (void)state;
    struct simulator s;
    struct simulation sim;
    struct result large, small;
    struct err err = { "" };
    char set[80];
    simulator_open(&s, &paths);
    assert_true(simulator_run(&s, &sim, &large, recipe, asked, 2, &err));
    assert_true(!large.fits && large.fits_probability < 0.5 && large.smaller_available_memory);
    assert_true(strtod(large.smaller_available_memory, NULL) < 0.6);
    snprintf(set, sizeof set, "parallel.available_memory=%s", large.smaller_available_memory);
    simulation_free(&sim);
    const char *sets[] = { asked[0], set };
    assert_true(simulator_run(&s, &sim, &small, recipe, sets, 2, &err));
    assert_true(small.fits && small.fits_probability >= 0.5 && !small.smaller_available_memory);
    assert_true(small.step_time_s == large.smaller_memory_step_time_s);
    simulation_free(&sim);
    s.options.verdict_only = true;
    assert_true(simulator_run(&s, &sim, &large, recipe, asked, 2, &err));
    assert_true(!large.fits && !large.smaller_available_memory && large.smaller_memory_step_time_s == 0);
    simulation_free(&sim);
    simulator_close(&s);
}

/* The chance falls as bytes grow, and is a half where they are what the tile has. The 200 bytes of weights are certain. */
static void the_chance_to_fit_follows_the_bytes(void **state)
{
    struct chip chip = { .tile_memory_bytes = 1000, };
    struct machine machine = { .chip = chip };
    struct topology topology = { .machine = &machine };
    struct tile_memory memory[2] = { { .total_bytes = 1000, .bytes[MEMORY_WEIGHTS] = 200 }, { .total_bytes = 7 } };
    struct plan p = { .topology = &topology, .memory = memory, .fits = true, .request.ipus_per_replica = 2 };
    (void)state;
    assert_near(plan_fits_probability(&p, 0.05), 0.5, 1e-12);
    memory[0].total_bytes = 961;           /* ln(800 / 761) = 0.0499792, 0.99958 deviations: 0.84124 */
    assert_near(plan_fits_probability(&p, 0.05), 0.84124, 1e-5);
    memory[0].total_bytes = 1084;          /* ln(800 / 884) = -0.0998453, 1.9969 deviations below: 0.02292 */
    assert_near(plan_fits_probability(&p, 0.05), 0.02292, 1e-5);
    memory[1] = (struct tile_memory){ .total_bytes = 1300, .bytes[MEMORY_STASH] = 1001 };       /* the other IPU is full with what is certain */
    assert_true(plan_fits_probability(&p, 0.05) == 0);
    memory[0].total_bytes = 961, memory[1] = memory[0];
    assert_true(plan_fits_probability(&p, 0) == 1);         /* without an error the verdict is all there is */
    memory[1].total_bytes = 1084;
    const struct memory_need tightest = plan_memory_need(&p, 0.05);
    assert_true(tightest.certain_bytes == 200 && tightest.needed_bytes == 1084);
}

static void known_misfits_do_not_fit(void **state)
{
    (void)state;
    struct result bert = result_of("mlperf-v1.1-closed-ipu-pod16-bert-large",
                                   (struct texts){ { "parallel.optimizer_state=on-chip", "parallel.rts=no" }, 2 });
    assert_false(bert.fits);        /* fp32 moments: 8 bytes a parameter */
    struct result resnet = result_of("mlperf-v1.1-closed-ipu-pod16-resnet50",
                                     (struct texts){ { "parallel.recompute=none", "parallel.micro_batch=20" }, 2 });
    assert_false(resnet.fits);
    assert_true(resnet.memory_shortfall_bytes_per_tile > 0);
}

/* Settings of a model, by chance: some are far too large for an IPU. */
static size_t random_model(const char *sets[8], uint64_t *random, struct arena *a)
{
    static const char *const models[] = { "resnet18", "vit-b16", "bert-base", "gpt2-small" }, *const frameworks[] = { "PyTorch", "TensorFlow 1.15", "PopART" };
    size_t n = 0;
    uint32_t model = random_below(random, 4), micro_batch = 1u << random_below(random, model ? 4 : 9);
    sets[n++] = arena_printf(a, "recipe.workload=%s", models[model]);
    sets[n++] = arena_printf(a, "recipe.framework=%s", frameworks[random_below(random, 3)]);
    sets[n++] = arena_printf(a, "recipe.mode=%s", random_below(random, 3) ? "train" : "infer");
    sets[n++] = arena_printf(a, "precision.compute=%s", random_below(random, 2) ? "fp16" : "fp32");
    sets[n++] = arena_printf(a, "parallel.micro_batch=%u", micro_batch);
    sets[n++] = arena_printf(a, "parallel.gradient_accumulation=%u", 1 + random_below(random, 9));
    sets[n++] = arena_printf(a, "optimizer.name=%s", random_below(random, 2) ? "sgd" : "adam");
    return n;
}

/* True if it fits on more IPUs, whose schedule and accumulation a user would choose as the framework asks. */
static bool fits_on_more(struct simulator *s, const char *recipe, const char *const *sets, size_t n, const char *schedule)
{
    for (uint32_t width = 2; width <= 16; width *= 2) {
        const char *more[16];
        char ipus[64], rounded[64];
        struct simulation sim;
        struct result r;
        memcpy(more, sets, n * sizeof *sets);
        snprintf(ipus, sizeof ipus, "parallel.ipus_per_replica=%u", width);
        snprintf(rounded, sizeof rounded, "parallel.gradient_accumulation=%u", 12 * width);
        more[n] = ipus, more[n + 1] = schedule, more[n + 2] = rounded;
        if (!simulator_run(s, &sim, &r, recipe, more, n + 3, NULL))
            continue;
        bool fits = r.fits;
        simulation_free(&sim);
        if (fits)
            return true;
    }
    return false;
}

/* BERT-Large trains on the 16 IPUs of one DSS 8440 if its word table is on two of them: the table and the heads' product are too much for one, whatever the
 * division of the layers. Both changes divide the layers anew, once. */
static void a_table_goes_over_stages(void **state)
{
    static const char *const sets[] = { "recipe.system=dss8440", "parallel.micro_batch=1" };
    struct remedied *y = calloc(1, sizeof *y);
    uint32_t n_divided = 0;
    (void)state;
    find_remedies(y, "vendor-ipu-pod16-bert-large-ph1-popart", sets, 2);
    const struct remedy *r = &y->list[0];
    assert_true(r->fits && !y->list[1].fits);
    assert_string_equal(r->what, "the word table over 2 stages, and 16 IPUs per replica");
    assert_string_equal(r->sets[0], "parallel.embedding_split=2");
    for (uint32_t i = 0; i < r->n_sets; i++)
        n_divided += strncmp(r->sets[i], "parallel.layers_per_ipu=0,", 26) == 0;
    assert_int_equal(n_divided, 1);
    forget_remedies(y);
    free(y);
}

/* Four rows of 512 fit 16 GC2 by none of the other remedies, nor by several together. One copy of the model fits with layers cut over four IPUs and
 * weights off the chip, unless the framework has no phases. Four copies do not, as IPUs with the same part of the word table gather the gradients of all 16;
 * two copies over eight IPUs each do, and keep the global batch of 4 x 192 micro-batches. */
static void phases_are_the_last_resort(void **state)
{
    static const char *const sets[] = { "recipe.system=dss8440", "parallel.micro_batch=4", "parallel.replicas=1", "framework.phases=no" };
    (void)state;
    for (size_t n_sets = 2; n_sets <= 4; n_sets++) {
        struct remedied *y = calloc(1, sizeof *y);
        find_remedies(y, "mlperf-v1.0-closed-ipu-pod16-bert-large", sets, n_sets);
        assert_true(y->list[0].fits == (n_sets <= 3));
        if (n_sets == 2) {
            assert_string_equal(y->list[0].what, "weights off the chip, in phases of one block, on 8 IPUs per replica");
            assert_string_equal(y->list[0].sets[y->list[0].n_sets - 1], "parallel.gradient_accumulation=384");
        }
        const struct remedy *narrow = FIND_TEXT(y->list, y->n, struct remedy, what, "weights off the chip, in phases of one block");
        assert_true(n_sets == 4 ? !narrow : narrow->fits == (n_sets == 3));
        if (narrow)
            assert_string_equal(narrow->sets[1], "parallel.tensor_parallel=4");
        forget_remedies(y);
        free(y);
    }
}

/* Fifty models of one IPU: if a model fits on more IPUs, one of its remedies fits, too. */
static void a_remedy_is_found_where_more_ipus_are_one(void **state)
{
    static const char text[] = "[recipe]\nid = any\nworkload = resnet18\nsystem = ipu-pod16\nsdk = 3.1.0\nmode = train\nsource = a test\n"
                               "[parallel]\nreplicas = 1\nipus_per_replica = 1\nmicro_batch = 1\n[precision]\ncompute = fp16\npartials = fp32\n[optimizer]\nname = sgd\n";
    const char *recipe = temp_file(text, sizeof text - 1, ".ini");
    struct arena a = {0};
    struct simulator s;
    uint64_t random = 77;
    size_t n_helped = 0;
    (void)state;
    simulator_open(&s, &paths);
    for (int i = 0; i < 50; i++) {
        const char *sets[16];
        size_t n = random_model(sets, &random, &a), n_found;
        struct simulation sim;
        struct result r;
        struct remedy list[MAX_REMEDIES];
        struct err err = { "" };
        if (!simulator_run(&s, &sim, &r, recipe, sets, n, &err))
            continue;                                           /* no stream has room for its results */
        bool tensorflow = strstr(sets[1], "TensorFlow") != NULL;
        if (!r.fits && fits_on_more(&s, recipe, sets, n, tensorflow ? "parallel.schedule=grouped" : "parallel.schedule=popart")) {
            assert_true(remedies_find(list, &n_found, &(struct remedy_request){ &sim, recipe, sets, n, false }, &a, &err));
            if (!n_found || !list[0].fits)
                print_error("%s\n", names_joined(sets, n, " ", &a));
            assert_true(n_found > 0 && list[0].fits);
            n_helped++;
        }
        simulation_free(&sim);
    }
    assert_true(n_helped >= 5);
    simulator_close(&s);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(known_misfits_do_not_fit), cmocka_unit_test(a_smaller_share_is_what_it_says), cmocka_unit_test(the_chance_to_fit_follows_the_bytes),
    cmocka_unit_test(remedies_do_what_they_say), cmocka_unit_test(many_remedies_are_listed), cmocka_unit_test(what_is_tried), cmocka_unit_test(how_many_ipus_are_tried), cmocka_unit_test(one_replica_is_one_process), cmocka_unit_test(remedies_as_text),
    cmocka_unit_test(twice_the_tiles_that_load), cmocka_unit_test(a_micro_batch_of_one_is_not_halved), cmocka_unit_test(a_remedy_is_found_where_more_ipus_are_one), cmocka_unit_test(a_table_goes_over_stages), cmocka_unit_test(phases_are_the_last_resort),
};
TAP_MAIN(tests)
