/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_recipe.c - recipes become planner options; overrides; every refusal with its message; and every recipe of the
 * project loads. */
#include "tests/documents.h"
#include "system-model/graph/graph.h"
#include "tests/loaded_recipe.h"
#include "workloads/recipe/recipe_convergence.h"
#include <unistd.h>

static const char bad[] = "tests/bad/recipe";

/* ---- what a recipe says ---------------------------------------------------------------------- */

static void bert_on_four_ipus(void **state)
{
    static const uint32_t attention[] = { 0, 7, 6, 7, 4 }, feed_forward[] = { 0, 6, 7, 6, 5 };
    struct loaded l;
    (void)state;
    assert_true(load(&l, pod16, NULL, 0));
    assert_string_equal(l.r.id, pod16);
    assert_int_equal(recipe_global_batch(&l.r), 2 * 192 * 4);
    assert_near(recipe_samples_per_item(&l.r), 2.0368, 0);
    assert_int_equal(l.o.n_stages, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(l.o.stage_sizes[i].part_count[0], attention[i]);
        assert_int_equal(l.o.stage_sizes[i].part_count[1], feed_forward[i]);
    }
    assert_true(l.o.training);
    assert_int_equal(l.o.n_replicas, 4);
    assert_int_equal(l.o.ipus_per_replica, 4);
    assert_int_equal(l.o.grad_accum, 192);
    assert_int_equal(l.o.schedule, SCHEDULE_POPART);
    assert_int_equal(l.o.recompute, RECOMPUTE_LAYER);
    assert_int_equal(l.o.state.place, OPTIMIZER_STREAMING);
    assert_int_equal(l.o.state.rts, RTS_YES);
    assert_int_equal(l.o.n_available_memory, 1);
    assert_near(l.o.available_memory[0], 0.23, 0);
    assert_int_equal(l.o.optimizer.work, WORK_LAMB);
    assert_near(l.o.optimizer.state_bytes_per_param, 6, 0);
    assert_true(l.o.optimizer.norms == NORMS_OF_ALL && l.r.stochastic_rounding);
    assert_null(l.o.faults);
    arena_free(&l.a);
}

static void resnet_on_one_ipu(void **state)
{
    struct loaded l;
    (void)state;
    assert_true(load(&l, "mlperf-v2.0-closed-bow-pod16-resnet50", NULL, 0));
    assert_int_equal(recipe_global_batch(&l.r), 3520);
    assert_int_equal(l.o.n_stages, 0);
    assert_int_equal(l.o.n_checkpoints, 6);
    assert_string_equal(l.o.checkpoints[5], "stage3/unit4");
    assert_int_equal(l.r.model.batch_norm_span, 2);
    assert_int_equal(l.r.instances, 8);
    assert_near(l.r.epochs, 38, 0);
    bool lars = false;
    for (size_t i = 0; i < l.r.n_hyperparameters; i++)
        lars |= text_is(l.r.hyperparameters[i].key, "lars_opt_base_learning_rate") &&
                text_is(l.r.hyperparameters[i].value, "10.72");
    assert_true(lars);
    arena_free(&l.a);
}

/* ---- overrides --------------------------------------------------------------------------------- */

static void overrides_apply_in_order(void **state)
{
    struct loaded l;
    (void)state;
    assert_true(LOAD(&l, pod16, "parallel.replicas=3", "parallel.replicas=5", "parallel.io_tiles=32",
                     "parallel.layers_per_ipu=7, 6/5 ,11", "parallel.ipus_per_replica=3", "data.vocabulary="));
    assert_int_equal(l.o.n_replicas, 5);
    assert_int_equal(l.o.io_tiles, 32);
    assert_int_equal(l.o.n_stages, 3);
    assert_int_equal(l.o.stage_sizes[1].part_count[1], 5);
    assert_int_equal(l.r.model.vocabulary, 0);                    /* removed */
    arena_free(&l.a);
}

/* Overriding the first line of a file, or any other, leaves the key once. */
static void overrides_stand_in_place(void **state)
{
    static const char *const keys[] = { "recipe.id=other", "parallel.replicas=3" };
    struct loaded plain, l;
    (void)state;
    assert_true(load(&plain, pod16, NULL, 0));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_true(load(&l, pod16, &keys[i], 1));
        assert_int_equal(l.r.n_entries, plain.r.n_entries);
        for (size_t e = 0; e < l.r.n_entries; e++) {
            assert_string_equal(l.r.entries[e].section, plain.r.entries[e].section);
            assert_string_equal(l.r.entries[e].key, plain.r.entries[e].key);
        }
        arena_free(&l.a);
    }
    arena_free(&plain.a);
}

/* The length of training is given in one of three ways; an override replaces the one in the file. */
static void a_new_length_replaces_the_old(void **state)
{
    struct loaded l;
    (void)state;
    assert_true(LOAD(&l, pod16, "training.converge=model"));
    assert_string_equal(l.r.converge, "model");
    assert_near(l.r.samples_to_converge, 0, 0);
    arena_free(&l.a);
    assert_true(LOAD(&l, pod16, "training.converge=model", "training.samples_to_converge=1e6"));
    assert_null(l.r.converge);
    assert_near(l.r.samples_to_converge, 1e6, 0);
    arena_free(&l.a);
}

/* Hyperparameters and framework settings: a new value replaces the old, all others stay, and none is lost when a key of
 * the table is overridden too. */
static void settings_beside_the_table_are_overridden(void **state)
{
    struct loaded plain, l;
    (void)state;
    assert_true(load(&plain, pod16, NULL, 0));
    size_t n = plain.r.n_hyperparameters, n_settings = plain.r.n_framework_settings;
    assert_true(n > 5 && n_settings > 0);
    assert_string_equal(value_in(plain.r.framework_settings, n_settings, "clip_norm"), "yes");
    assert_true(LOAD(&l, pod16, "optimizer.opt_lamb_beta_1=0.25", "framework.sharded_elements=7", "parallel.replicas=3", "faults.chip=3 1.25"));
    assert_int_equal(l.r.n_hyperparameters, n);
    assert_string_equal(value_in(l.r.hyperparameters, n, "opt_lamb_beta_1"), "0.25");
    assert_string_equal(value_in(l.r.hyperparameters, n, "opt_lamb_beta_2"), "0.996");
    assert_int_equal(l.r.n_framework_settings, n_settings + 1);
    assert_string_equal(value_in(l.r.framework_settings, n_settings + 1, "clip_norm"), "yes");
    assert_string_equal(value_in(l.r.framework_settings, n_settings + 1, "sharded_elements"), "7");
    assert_int_equal(l.r.n_faults, 1);
    assert_int_equal(l.o.n_replicas, 3);
    arena_free(&l.a);
    arena_free(&plain.a);
}

static void faults_are_read(void **state)
{
    struct loaded l;
    (void)state;
    assert_true(LOAD(&l, pod16, "faults.link=0-1 0.5", "faults.link2=2-3  0", "faults.chip=3 1.25", "faults.flow=0-5 4e9"));
    assert_non_null(l.o.faults);
    assert_int_equal(l.o.faults->n_links, 2);
    assert_near(l.o.faults->links[0].rate_share, 0.5, 0);
    assert_int_equal(l.o.faults->links[1].from, 2);
    assert_near(l.o.faults->links[1].rate_share, 0, 0);
    assert_int_equal(l.o.faults->chips[0].ipu, 3);
    assert_near(l.o.faults->chips[0].slowdown, 1.25, 0);
    assert_int_equal(l.o.faults->background[0].to, 5);
    assert_near(l.o.faults->background[0].bytes, 4e9, 0);
    arena_free(&l.a);
}

static void refuses(const char *override, const char *message)
{
    struct loaded l;
    assert_false(load(&l, pod16, &override, 1));
    assert_string_equal(l.err.msg, message);
    arena_free(&l.a);
}

/* Rows of 128 tokens, a micro-batch of 4. */
static void generation_fits_its_rows(void **state)
{
    static const struct { const char *settings[4], *message; } cases[] = {
        { { "generation.prompt_tokens=28", "generation.new_tokens=100", "generation.cache=on-chip", "generation.prompts=4" }, "" },
        { { "generation.prompt_tokens=29", "generation.new_tokens=100" },
          ": new_tokens: 100 after a prompt of 29 are more than the 128 tokens of a row; lower them, or raise data.sequence_length" },
        { { "generation.new_tokens=100" }, ": prompt_tokens is missing in [generation]: new_tokens follow a prompt" },
        { { "generation.prompt_tokens=2", "generation.new_tokens=3", "generation.prompts=5" }, ": prompts: 5 are more than the micro-batch of 4; raise parallel.micro_batch" },
        { { "generation.prompt_tokens=2", "generation.new_tokens=3", "generation.cache=streaming" },
          ": cache: streaming, but weights stay on the chip; keys and values come and go in phases: set parallel.weights = streaming" },
        { { "generation.prompt_tokens=2", "generation.new_tokens=3", "generation.cache=on-chip", "recipe.workload=flan-t5-base" },
          ": cache: flan-t5-base has an encoder, and a cache is simulated for decoders alone; want none" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded l;
        const char *all[6] = { "data.sequence_length=128", "parallel.micro_batch=4" };
        size_t n = 2;
        for (int k = 0; k < 4 && cases[i].settings[k]; k++)
            all[n++] = cases[i].settings[k];
        assert_int_equal(load(&l, "field-ipu-pod16-gpt2-small-sl128-infer-optimum", all, n), !*cases[i].message);
        assert_string_equal(*cases[i].message ? strstr(l.err.msg, ": ") : l.err.msg, cases[i].message);
        arena_free(&l.a);
    }
}

static void overrides_are_named_in_refusals(void **state)
{
    (void)state;
    refuses("parallel.replicas=0", "--set parallel.replicas=0: 0 is outside 1 to 65536");
    refuses("optimizer.state_bytes_per_param=0", "--set optimizer.state_bytes_per_param=0: 0 is outside 0.125 to 64 B");
    refuses("cost.price_per_hour=0", "--set cost.price_per_hour=0: 0 is outside 1e-06 to 1000000000");
    refuses("replicas=3", "--set replicas=3: want section.key=value, as in parallel.replicas=3");
    refuses("parallel.=3", "--set parallel.=3: want section.key=value, as in parallel.replicas=4");
    refuses("precision.compute=bf16", "--set precision.compute=bf16: 'bf16' is not one of: fp16, fp32, fp8");
    refuses("precision.fp32_operations=norms", "workloads/recipes/mlperf-v1.1-closed-ipu-pod16-bert-large.ini: fp32_operations: 'norms' is not a kind of operation; did you mean 'rms-norm'? "
            "known: conv, matmul, add, mul, scale, bias-add, relu, gelu, tanh, sigmoid, swish, softmax, batch-norm, group-norm, layer-norm, dropout, max-pool, "
            "average-pool, gather, transpose, concat, slice, pad, lstm, gru, outer-add, cross-entropy, transducer-loss, map, combine, select, view, expand, "
            "resize, local-norm, ...");
    refuses("hosts.number=", "--set hosts.number=: unknown key in [hosts]; known: count, instances, decode_bytes_per_s, sample_s, cores, workers, requests, steps_per_call, timed_steps");
    refuses("recipe.micro_batch=3", "--set recipe.micro_batch=3: unknown key in [recipe]; did you mean 'parallel.micro_batch'?");
    refuses("recipe.optimizer=sgd", "--set recipe.optimizer=sgd: unknown key in [recipe]; did you mean 'optimizer.name'?");
    refuses("hosts.number=3", "--set hosts.number=3: unknown key in [hosts]; known: count, instances, decode_bytes_per_s, sample_s, cores, workers, requests, steps_per_call, timed_steps");
    refuses("parallel.layers_per_ipu=24", "--set parallel.layers_per_ipu=24: has 1 stage for 4 IPUs a replica; want at least one an IPU");
    refuses("parallel.replicas=", "workloads/recipes/mlperf-v1.1-closed-ipu-pod16-bert-large.ini: replicas is missing in [parallel]: copies of the model");
    refuses("training.epochs=1", "workloads/recipes/mlperf-v1.1-closed-ipu-pod16-bert-large.ini: samples_per_epoch is missing in [data]: "
            "[training] counts in epochs");
    refuses("parallel.stash_type=fp32", "workloads/recipes/mlperf-v1.1-closed-ipu-pod16-bert-large.ini: stash_type: fp32 is wider than what is "
            "computed; want fp16 or fp8");
    refuses("faults.rail=0-1 0.5", "--set faults.rail=0-1 0.5: unknown key in [faults]; known: link, chip, flow (and link1, link2...)");
    refuses("faults.chip=3 0.5", "--set faults.chip=3 0.5: 0.5 is below 1: how many times longer the chip computes");
}

/* The longest list for which there is room, of one item. */
static const char *list_of(const char *set, const char *item, uint32_t n, struct arena *a)
{
    for (uint32_t i = 0; i < n; i++)
        set = arena_printf(a, "%s%s%s", set, i ? "," : "", item);
    return set;
}

static void lists_and_faults_at_their_limits(void **state)
{
    static const struct { const char *set, *item; uint32_t n; const char *refused; } rows[] = {
        { "parallel.layers_per_ipu=", "10000", 4, NULL }, { "parallel.layers_per_ipu=", "10001", 4, "'10001' is not the size of a stage; want blocks" },
        { "parallel.layers_per_ipu=", "1/10000", 4, NULL }, { "parallel.layers_per_ipu=", "1/10001", 4, "'1/10001' is not the size of a stage; want blocks" },
        { "parallel.layers_per_ipu=", "0", MAX_STAGES, NULL }, { "parallel.layers_per_ipu=", "0", MAX_STAGES + 1, "has more than 128 stages" },
        { "parallel.layers_per_ipu=", "-1,1,1,1", 1, NULL }, { "parallel.layers_per_ipu=", "-1", 4, "has -1 in 4 places; one stage takes what the others leave" },
        { "parallel.layers_per_ipu=", "1", 3, "has 3 stages for 4 IPUs a replica; want at least one an IPU" }, { "parallel.layers_per_ipu=", "auto", 1, NULL },
        { "parallel.tensor_parallel=", "2x2x1", 1, "'2x2x1' is not a number of IPUs" }, { "parallel.tensor_parallel=", "x2", 1, "'x2' is not a number of IPUs" }, { "parallel.tensor_parallel=", "2x3", 1, "layers are cut over 6 IPUs, but a replica has 4; want a multiple" },
        { "parallel.tensor_parallel=", "2x", 1, "'2x' is not a number of IPUs; want 1 to 64, or two of them" }, { "parallel.tensor_parallel=", "0", 1, "'0' is not a number of IPUs" },
        { "parallel.phases=", "2", 1, "phases are for weights that lie off the chip; set parallel.weights = streaming" },
        { "parallel.weights=", "streaming", 1, "phases follow each other on the same IPUs; with parallel.weights = streaming, give parallel.phases instead" },
        { "parallel.available_memory=", "1", MAX_STAGES, NULL }, { "parallel.available_memory=", "1", MAX_STAGES + 1, "has more than 128 shares" },
        { "parallel.available_memory=", " 1e-9 ", 1, NULL }, { "parallel.available_memory=", "0", 1, "'0' is not a share; want more than 0, at most 1" },
        { "parallel.available_memory=", "1.001", 1, "'1.001' is not a share; want more than 0, at most 1" }, { "parallel.available_memory=", "-1", 1, "'-1' is not a share" },
        { "parallel.available_memory=", "nan", 1, "'nan' is not a share" }, { "parallel.recompute_checkpoints=", "a", MAX_CHECKPOINTS, NULL },
        { "parallel.recompute_checkpoints=", "a", MAX_CHECKPOINTS + 1, "has more than 64 layers" },
        { "parallel.recompute_checkpoints=", "layer1,,layer2", 1, "an empty name; want layers, as in stage1/unit1,stage2/unit1" },
        { "faults.link=", "0-1 1", 1, NULL }, { "faults.link=", "0-1 1.001", 1, "1.001 is outside 0 to 1" }, { "faults.link=", "0-1 -0.5", 1, "'0-1 -0.5' is not understood" },
        { "faults.link=", "0-4294967295 0.5", 1, NULL }, { "faults.link=", "0-4294967296 0.5", 1, "is not understood; want A-B SHARE, as in 0-1 0.5" },
        { "faults.link=", "4294967296-0 0.5", 1, "is not understood; want A-B SHARE, as in 0-1 0.5" }, { "faults.link=", "7-7 0.5", 1, "'7-7 0.5' is not understood" },
        { "faults.link=", "7 0.5", 1, "'7 0.5' is not understood" }, { "faults.chip=", "3-4 2", 1, "'3-4 2' is not understood" }, { "faults.chip=", "3  1", 1, NULL },
        { "faults.chip=", "3 0.999", 1, "0.999 is below 1" }, { "faults.chip=", "3", 1, "'3' is not understood; want IPU FACTOR, as in 3 1.2" },
        { "faults.flow=", "0-5 0", 1, NULL }, { "faults.flow=", "0-5 7e9", 1, NULL }, { "faults.flow=", "0-5 -1", 1, "'0-5 -1' is not understood; want A-B RATE, as in 0-5 4e9" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        struct arena a = { 0 };
        bool good = load(&l, pod16, (const char *const[]){ list_of(rows[i].set, rows[i].item, rows[i].n, &a) }, 1);
        if (good != !rows[i].refused || (rows[i].refused && !strstr(l.err.msg, rows[i].refused)))
            print_error("%s%s x %u: %s\n", rows[i].set, rows[i].item, rows[i].n, l.err.msg);
        assert_int_equal(good, !rows[i].refused);
        assert_true(good || strstr(l.err.msg, rows[i].refused));
        arena_free(&l.a);
        arena_free(&a);
    }
}

/* ---- refusals ------------------------------------------------------------------------------------- */

static const struct { const char *file, *message; } refusals[] = {
    { "unknown-key", ":12: microbatch: unknown key in [parallel]; did you mean 'micro_batch'? known: replicas, ipus_per_replica, micro_batch, "
      "gradient_accumulation, layers_per_ipu, tensor_parallel, attention_tensor_parallel, attention_serialisation, embedding_split, weights, phases, phase_io, schedule, recompute, recompute_checkpoints, stash_type, optimizer_state, rts, "
      "rts_domain, io_tiles, ..." },
    { "unknown-section", ":17: rts: unknown section [paralel]; did you mean 'parallel'? known: recipe, data, model, generation, parallel, precision, sparsity, optimizer, training, "
      "hosts, cost, framework, faults, open" },
    { "unknown-hyperparameter", ":15: learning_rate: unknown key in [optimizer]; known: name, state_bytes_per_param, "
      "hyperparameters as MLPerf logs name them" },
    { "repeated-key", ":12: parallel.micro_batch is already in line 11" },
    { "missing-key", ": replicas is missing in [parallel]: copies of the model" },
    { "missing-source", ": source is missing in [recipe]: where this configuration was published" },
    { "unknown-value", ":12: schedule: 'sideways' is not one of: none, sequential, grouped, interleaved, popart" },
    { "zero", ":9: replicas: 0 is outside 1 to 65536" },
    { "negative", ":9: replicas: '-16' is not a whole number from 0 up" },
    { "fraction", ":9: replicas: '1.5' is not a whole number from 0 up" },
    { "overflow", ":11: micro_batch: '18446744073709551616' is more than the largest number allowed, 18446744073709551615" },
    { "not-a-number", ":15: state_bytes_per_param: 'nan' is not a number" },
    { "empty-value", ":4: system: is empty" },
    { "unknown-workload", ": workload: unknown workload 'resnet51'; did you mean 'resnet50'? known: bert-tiny, bert-base, bert-large, bloom, bloom-560m, bloom-7b1, "
      "conformer-medium, conformer-transducer-s, conformer-transducer-m, conformer-transducer-l, dlrm, gpt2-small, gpt2-medium, gpt2-large, gpt2-xl, gpt2-tiny, "
      "gpt3-2.7b, gpt3-175b, gpt-j, inception-v3, efficientnet-b0, efficientnet-b1, ..." },
    { "no-optimizer", ": name is missing in [optimizer]: required in training; in inference it keeps the heads of pre-training; one of: sgd lars adam lamb adamw" },
    { "unknown-optimizer", ":14: name: 'sdg' is not known; want one of: sgd, lars, adam, lamb, adamw" },
    { "epochs-of-what", ": samples_per_epoch is missing in [data]: [training] counts in epochs" },
    { "two-lengths", ": [training] has more than one of epochs, samples_to_converge and converge; keep one" },
    { "two-other-lengths", ": [training] has more than one of epochs, samples_to_converge and converge; keep one" },
    { "converge-how", ": converge: 'soon' is not known; want model, or leave it out" },
    { "stage-size", ":12: layers_per_ipu: 'x/6' is not the size of a stage; want blocks, as in 3,7,7,7,0, or halves, as in "
      "7/6,6/7" },
    { "stage-missing", ":11: layers_per_ipu: has 2 stages for 4 IPUs a replica; want at least one an IPU" },
    { "stage-empty", ":12: layers_per_ipu: '' is not the size of a stage; want blocks, as in 3,7,7,7,0, or halves, as in 7/6,6/7" },
    { "share", ":12: available_memory: '1.2' is not a share; want more than 0, at most 1, as in 0.25" },
    { "checkpoints", ": recompute_checkpoints is missing in [parallel]: recompute = checkpoints needs layers" },
    { "fault-key", ":17: links: unknown key in [faults]; did you mean 'link'? known: link, chip, flow (and link1, link2...)" },
    { "fault-link", ":17: link: 1.5 is outside 0 to 1: the share of its rate that the link keeps" },
    { "fault-chip", ":17: chip: '3' is not understood; want IPU FACTOR, as in 3 1.2" },
    { "fault-itself", ":17: flow2: '5-5 4e9' is not understood; want A-B RATE, as in 0-5 4e9" },
    { "outside", ":1: key 'id' stands before any [section]" },
    { "empty", ": is empty, want sections of key = value" },
};

static void bad_recipes_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct loaded l;
        char path[128], want[600];
        snprintf(path, sizeof path, "%s/%s.ini", bad, refusals[i].file);
        snprintf(want, sizeof want, "%s%s", path, refusals[i].message);
        assert_false(load(&l, path, NULL, 0));
        assert_string_equal(l.err.msg, want);
        arena_free(&l.a);
    }
}

static void every_bad_recipe_has_its_message(void **state)
{
    char **names;
    size_t n;
    struct arena a = { 0 };
    struct err err;
    (void)state;
    assert_true(list_folder(&names, &n, bad, ".ini", &a, &err));
    assert_int_equal(n, sizeof refusals / sizeof *refusals);
    arena_free(&a);
}

static void unknown_recipes_name_near_ones(void **state)
{
    struct loaded l;
    (void)state;
    assert_false(load(&l, "mlperf-v1.1-closed-ipu-pod16-brt-large", NULL, 0));
    assert_string_equal(l.err.msg, "no recipe 'mlperf-v1.1-closed-ipu-pod16-brt-large' in workloads/recipes; nearest: "
                        "mlperf-v1.1-closed-ipu-pod16-bert-large, mlperf-v1.0-closed-ipu-pod16-bert-large, "
                        "mlperf-v1.1-closed-ipu-pod128-bert-large");
    arena_free(&l.a);
}

/* A name that ends in .ini is a file, wherever the name appears. */
static void a_file_needs_no_folder(void **state)
{
    struct loaded l = { 0 };
    char *here = getcwd(NULL, 0);
    (void)state;
    assert_int_equal(chdir(recipes), 0);
    bool loaded = recipe_load(&l.r, arena_printf(&l.a, "%s.ini", pod16), "nowhere", NULL, 0, &l.a, &l.err);
    assert_int_equal(chdir(here), 0);
    free(here);
    assert_string_equal(l.err.msg, "");
    assert_true(loaded);
    assert_string_equal(l.r.id, pod16);
    arena_free(&l.a);
}

/* Each key once, from the first to the last, with the recipe's value. */
static void settings_are_all_keys(void **state)
{
    struct loaded l;
    struct recipe_setting *settings;
    bool found = false;
    (void)state;
    assert_true(LOAD(&l, pod16, "parallel.replicas=5"));
    size_t n = recipe_settings(&settings, &l.r, &l.a);
    for (size_t i = 0; i < n; i++) {
        assert_true(settings[i].section && settings[i].field);
        if (text_is(settings[i].field->name, "replicas")) {
            assert_string_equal(settings[i].value, "5");
            assert_int_equal(settings[i].line, 0);
            found = true;
        }
    }
    assert_true(found);
    arena_free(&l.a);
}

/* Each required key, removed alone. */
static void required_keys_are_missed(void **state)
{
    struct loaded l, without;
    struct recipe_setting *settings;
    const char *required = "";
    (void)state;
    assert_true(load(&l, pod16, NULL, 0));
    size_t n = recipe_settings(&settings, &l.r, &l.a);
    for (size_t i = 0; i < n; i++) {
        const struct field *f = settings[i].field;
        const char *key = arena_printf(&l.a, "%s.%s", settings[i].section, f->name), *taken = arena_printf(&l.a, "%s=", key);
        if (!f->required)
            continue;
        required = arena_printf(&l.a, "%s%s%s", required, *required ? " " : "", key);
        assert_false(load(&without, pod16, &taken, 1));
        assert_string_equal(without.err.msg, arena_printf(&l.a, "%s: %s is missing in [%s]: %s", l.r.path, f->name, settings[i].section, f->help));
        arena_free(&without.a);
    }
    assert_string_equal(required, "recipe.id recipe.workload recipe.system recipe.source parallel.replicas parallel.ipus_per_replica parallel.micro_batch");
    arena_free(&l.a);
}

/* A key that is taken away is as one that the file never had, for each key of three recipes; and a file's bad value may be replaced, but not kept. */
static void a_removed_key_was_never_there(void **state)
{
    static const char *const ids[] = { pod16, "mlperf-v2.0-closed-bow-pod64-resnet50", "vendor-c600-resnet50-b1-poprt" };
    struct loaded l, without, never;
    size_t n_equal = 0;
    char *text;
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_true(load(&l, ids[i], NULL, 0));
        assert_true(read_text_file(&text, NULL, l.r.path, 1 << 20, &l.a, NULL));
        for (const struct ini_entry *e = l.r.entries; e < l.r.entries + l.r.n_entries; e++) {
            const char *line = text, *taken = arena_printf(&l.a, "%s.%s=", e->section, e->key);
            for (uint32_t k = 1; k < e->line; k++)
                line = strchr(line, '\n') + 1;
            const char *cut = arena_printf(&l.a, "%.*s%s", (int)(line - text), text, strchr(line, '\n') + 1);
            bool good = load(&without, ids[i], &taken, 1);
            assert_true(load(&never, temp_file(cut, strlen(cut), ".ini"), NULL, 0) == good);
            for (size_t k = 0; k < n_recipe_keys && good; k++, n_equal++)
                assert_string_equal(field_text(&recipe_keys[k].field, &without.r, &l.a), field_text(&recipe_keys[k].field, &never.r, &l.a));
            arena_free(&without.a);
            arena_free(&never.a);
        }
        const char *bad_value = arena_printf(&l.a, "%s\n[cost]\nprice_per_hour = dear\n", text), *path = temp_file(bad_value, strlen(bad_value), ".ini");
        assert_false(load(&without, path, NULL, 0));
        assert_non_null(strstr(without.err.msg, "price_per_hour: 'dear' is not a number"));
        arena_free(&without.a);
        assert_true(LOAD(&without, path, "cost.price_per_hour=3"));
        assert_true(without.r.price_per_hour == 3 && without.r.replicas == l.r.replicas);
        arena_free(&without.a);
        arena_free(&l.a);
    }
    assert_true(n_equal > 1000);
}

/* ---- every recipe that is here ------------------------------------------------------------------------ */

static uint64_t count_parts(const struct graph *g, uint32_t part)
{
    uint64_t n = 0;
    for (size_t i = 0; i < g->n_layers; i++)
        n += g->layers[i].role == LAYER_BODY && g->layers[i].part_id == (part < g->layers[i].n_parts ? part : 0);
    return n;
}

/* The stages of a placement hold all of the model's blocks. */
static void check_placement(const struct loaded *l, const struct graph *g)
{
    for (uint32_t part = 0; part < 2 && l->o.n_stages; part++) {
        uint64_t placed = 0;
        for (uint32_t i = 0; i < l->o.n_stages; i++)
            placed += l->o.stage_sizes[i].part_count[part];
        assert_int_equal(placed, count_parts(g, part));
    }
    for (uint32_t i = 0; i < l->o.n_checkpoints; i++) {
        bool found = false;
        for (size_t k = 0; k < g->n_layers; k++)
            found |= text_is(g->layers[k].name, l->o.checkpoints[i]);
        assert_true(found);
    }
}

static void every_recipe_is_sound(void **state)
{
    char **names;
    size_t n, n_mlperf = 0;
    struct arena a = { 0 };
    struct err err;
    (void)state;
    assert_true(list_folder(&names, &n, recipes, ".ini", &a, &err));
    for (size_t i = 0; i < n; i++) {
        struct loaded l;
        struct graph g;
        const char **unused = NULL;
        size_t n_unused;
        bool good = load(&l, names[i], NULL, 0);
        assert_string_equal(l.err.msg, "");
        assert_true(good);
        assert_string_equal(l.r.id, names[i]);
        assert_false(recipe_unused_keys(&unused, &n_unused, &l.r, NULL, &l.a));
        assert_true(recipe_graph(&g, &l.r, &l.a, &l.err));
        check_placement(&l, &g);
        n_mlperf += strncmp(names[i], "mlperf-", 7) == 0;
        arena_free(&l.a);
    }
    assert_true(n_mlperf >= 25);
    arena_free(&a);
}

/* SGD's moment has the weights' type, unless the recipe states its bytes. */
static void a_moment_is_as_wide_as_its_weight(void **state)
{
    static const struct { const char *compute, *bytes; double want; } rows[] = {
        { "precision.compute=fp16", "optimizer.state_bytes_per_param=", 2 }, { "precision.compute=fp32", "optimizer.state_bytes_per_param=", 4 },
        { "precision.compute=fp32", "optimizer.state_bytes_per_param=3", 3 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded l;
        assert_true(LOAD(&l, "vendor-ipu-pod4-resnet50-tf1", rows[i].compute, rows[i].bytes));
        assert_near(l.o.optimizer.state_bytes_per_param, rows[i].want, 0);
        arena_free(&l.a);
    }
}

static void an_optimizer_of_inference_is_known(void **state)
{
    struct loaded l;
    (void)state;
    assert_false(LOAD(&l, "vendor-ipu-m2000-bert-large-infer-b2", "optimizer.name=adagrad"));
    assert_string_equal(l.err.msg, "--set optimizer.name=adagrad: 'adagrad' is not known; want one of: sgd, lars, adam, lamb, adamw");
    arena_free(&l.a);
    assert_true(LOAD(&l, "vendor-ipu-m2000-bert-large-infer-b2", "optimizer.name=lamb"));
    assert_near(l.o.optimizer.state_bytes_per_param, 0, 0);         /* it updates nothing */
    arena_free(&l.a);
}

/* Momentum is one moment of two bytes, Adam's and LAMB's are two. */
static void optimizers_keep_their_moments(void **state)
{
    (void)state;
    static const struct { const char *set; double bytes; uint32_t n_moments; } cases[] = {
        { "optimizer.name=sgd", 2, 1 }, { "optimizer.name=lars", 2, 1 }, { "optimizer.name=adam", 4, 2 }, { "optimizer.name=lamb", 4, 2 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded l;
        assert_true(LOAD(&l, pod16, cases[i].set, "optimizer.state_bytes_per_param="));
        assert_near(l.o.optimizer.state_bytes_per_param, cases[i].bytes, 0);
        assert_int_equal(l.o.optimizer.n_moments, cases[i].n_moments);
        arena_free(&l.a);
    }
}

/* The expected evaluations: a mean, which may have a fraction and is at least 1, at the recipe's interval or that of
 * the rules; for a fixed schedule all, including its last. */
static void evaluations_expected(void **state)
{
    static const struct { uint64_t every; double interval, mean, planned, samples, evaluations; } rows[] = {
        { 2000, 9, 5000, 0, 5000, 2.5 }, { 2500, 9, 5000, 0, 5000, 2 }, { 3200, 9, 5000, 0, 5000, 1.5625 }, { 6000, 1, 5000, 0, 5000, 1 },
        { 500, 9, 5000, 0, 5000, 10 }, { 0, 1.25, 5000, 0, 5000, 4 }, { 2000, 9, 5000, 7, 7000, 4 }, { 2000, 9, 5000, 6, 6000, 3 }, { 0, 4, 5000, 6, 6000, 2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe r = { .eval_every = rows[i].every, .eval_placement = rows[i].planned > 0 ? EVAL_END : EVAL_INLINE };
        struct convergence c = { .samples_per_epoch = 1000, .mean_samples = rows[i].mean, .schedule.interval = rows[i].interval, .has_plan = true,
                                 .planned_epochs = rows[i].planned };
        struct expected_training t = expected_training(&r, &c);
        assert_near(t.samples, rows[i].samples, 0);
        assert_near(t.evaluations, rows[i].evaluations, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(optimizers_keep_their_moments), cmocka_unit_test(evaluations_expected),
    cmocka_unit_test(bert_on_four_ipus), cmocka_unit_test(resnet_on_one_ipu),
    cmocka_unit_test(overrides_apply_in_order), cmocka_unit_test(a_new_length_replaces_the_old),
    cmocka_unit_test(settings_beside_the_table_are_overridden), cmocka_unit_test(faults_are_read), cmocka_unit_test(generation_fits_its_rows), cmocka_unit_test(overrides_are_named_in_refusals), cmocka_unit_test(lists_and_faults_at_their_limits),
    cmocka_unit_test(bad_recipes_are_refused), cmocka_unit_test(every_bad_recipe_has_its_message),
    cmocka_unit_test(unknown_recipes_name_near_ones), cmocka_unit_test(a_file_needs_no_folder), cmocka_unit_test(settings_are_all_keys), cmocka_unit_test(overrides_stand_in_place), cmocka_unit_test(required_keys_are_missed),
    cmocka_unit_test(every_recipe_is_sound), cmocka_unit_test(a_removed_key_was_never_there),
    cmocka_unit_test(a_moment_is_as_wide_as_its_weight), cmocka_unit_test(an_optimizer_of_inference_is_known),
};
TAP_MAIN(tests)
