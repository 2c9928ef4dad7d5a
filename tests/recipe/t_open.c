/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_open.c - the open readings of a recipe: their order, what settles them, and every refusal with its message. */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "workloads/recipe/recipe.h"

#include <string.h>

static struct arena a;
static struct err err;
static const char bow[] = "mlperf-v2.0-closed-bow-pod16-resnet50";

/* A recipe with overrides, and its readings as one text. */
static const char *readings(const char *id, const char *const *overrides, size_t n)
{
    struct recipe r;
    const char *all = "";
    if (!recipe_load(&r, id, "workloads/recipes", overrides, n, &a, &err))
        return err.msg;
    for (size_t i = 0; i < r.n_readings; i++)
        all = arena_printf(&a, "%s%s=%s;", all, r.readings[i].key, r.readings[i].value);
    return all;
}

static void readings_in_order(void **state)
{
    (void)state;
    const char *two[] = { "open.hosts.steps_per_call= 1|312 |  7", "open.precision.partials=fp32" };
    assert_string_equal(readings(bow, NULL, 0), "");
    assert_string_equal(readings(bow, two, 2), "hosts.steps_per_call=1;hosts.steps_per_call=312;hosts.steps_per_call=7;precision.partials=fp32;");
    /* a default, what the framework does, and the machine */
    assert_string_equal(readings(bow, (const char *[]){ "open.parallel.split_qkv=yes", "open.framework.clip_norm=yes", "open.recipe.system=bow-pod64" }, 3),
                        "parallel.split_qkv=yes;framework.clip_norm=yes;recipe.system=bow-pod64;");
    arena_free(&a);
}

static const char *recipe_with(const char *lines)
{
    char *text;
    size_t n;
    assert_true(read_text_file(&text, &n, arena_printf(&a, "workloads/recipes/%s.ini", bow), 1 << 20, &a, &err));
    const char *whole = arena_printf(&a, "%s\n[open]\n%s", text, lines);
    return temp_file(whole, strlen(whole), ".ini");
}

/* A key that is overridden is no longer open, whatever its value; an empty reading removes the line. */
static void overrides_settle(void **state)
{
    (void)state;
    char *path = arena_strdup(&a, recipe_with("precision.partials = fp32\nparallel.io_tiles = 32\t|\t64\n"));
    assert_string_equal(readings(path, NULL, 0), "precision.partials=fp32;parallel.io_tiles=32;parallel.io_tiles=64;");
    assert_string_equal(readings(path, (const char *[]){ "precision.partials=fp32" }, 1), "parallel.io_tiles=32;parallel.io_tiles=64;");
    assert_string_equal(readings(path, (const char *[]){ "parallel.io_tiles=48" }, 1), "precision.partials=fp32;");
    assert_string_equal(readings(path, (const char *[]){ "open.precision.partials=" }, 1), "parallel.io_tiles=32;parallel.io_tiles=64;");
    assert_string_equal(readings(path, (const char *[]){ "open.parallel.io_tiles=16" }, 1), "precision.partials=fp32;parallel.io_tiles=16;");
    /* the key is removed, so its default is used; a reading added after that is open */
    assert_string_equal(readings(path, (const char *[]){ "parallel.io_tiles=" }, 1), "precision.partials=fp32;");
    assert_string_equal(readings(path, (const char *[]){ "parallel.io_tiles=", "open.parallel.io_tiles=16" }, 2), "precision.partials=fp32;parallel.io_tiles=16;");
    assert_string_equal(readings("vendor-bow-pod16-bert-large-ph1-pytorch", (const char *[]){ "hosts.timed_steps=" }, 1), "");
    arena_free(&a);
}

/* Two texts of one value are the same reading, but only for values of one key. */
static void values_of_another_key_are_no_twins(void **state)
{
    (void)state;
    assert_string_equal(readings(bow, (const char *[]){ "open.parallel.io_tiles=32|64", "open.parallel.micro_batch=64|32" }, 2),
                        "parallel.io_tiles=32;parallel.io_tiles=64;parallel.micro_batch=64;parallel.micro_batch=32;");
    arena_free(&a);
}

/* A reading that conflicts with an override does not refuse the override. */
static void what_makes_no_sense_together_is_told_later(void **state)
{
    (void)state;
    char *path = arena_strdup(&a, recipe_with("training.samples_to_converge = 1e6\nparallel.stash_type = fp32\n"));
    assert_string_equal(readings(path, NULL, 0), "training.samples_to_converge=1e6;parallel.stash_type=fp32;");
    assert_string_equal(readings(path, (const char *[]){ "training.epochs=3" }, 1), "training.samples_to_converge=1e6;parallel.stash_type=fp32;");
    arena_free(&a);
}

static void refuses(const char *reading, const char *message)
{
    const char *override = arena_printf(&a, "open.%s", reading);
    assert_string_equal(readings(bow, &override, 1), arena_printf(&a, "--set %s: %s", override, message));
}

static void what_is_refused(void **state)
{
    (void)state;
    refuses("partials=fp32", "want section.key = another reading, as in precision.partials = fp32");
    refuses(".partials=fp32", "want section.key = another reading, as in precision.partials = fp32");
    refuses("precision.=fp32", "want section.key = another reading, as in precision.partials = fp32");
    refuses("precision.partial=fp32", "unknown key in [precision]; did you mean 'partials'? known: compute, all_products_fp8, partials, fp32_operations, stable_norm, stochastic_rounding, loss_scale");
    refuses("recipe.iid=3", "unknown key in [recipe]; did you mean 'id'? known: id, workload, system, framework, sdk, mode, approximate, output, operators, repeat, source, no_figure");
    refuses("precise.partials=fp32", "unknown section [precise]; did you mean 'precision'? known: recipe, data, model, generation, parallel, precision, sparsity, optimizer, training, hosts, "
            "cost, framework, faults, open");
    refuses("optimizer.opt_momentum=0.8", "has no readings; want a key that podbench list keys has a range of values for");
    refuses("optimizer.momentum=0.8", "unknown key in [optimizer]; known: name, state_bytes_per_param, hyperparameters as MLPerf logs name them");
    refuses("precision.opt_momentum=0.8", "unknown key in [precision]; known: compute, all_products_fp8, partials, fp32_operations, stable_norm, stochastic_rounding, loss_scale");
    refuses("faults.chip=3 1.5", "has no readings; want a key that podbench list keys has a range of values for");
    refuses("precision.partials=bf16", "'bf16' is not one of: fp16, fp32");
    refuses("parallel.micro_batch=0", "0 is outside 1 to 65536");
    refuses("precision.partials=fp16", "'fp16' is the reading that is taken; name another, or take the line out");
    refuses("parallel.micro_batch=21|22", "'22' is the reading that is taken; name another, or take the line out");
    refuses("parallel.io_tiles=0", "'0' is the reading that is taken; name another, or take the line out");            /* by default */
    refuses("framework.merge_buffer_bytes=52428800", "'52428800' is the reading that is taken; name another, or take the line out");
    refuses("framework.merge_buffer_bytes=5.2428800e7", "'5.2428800e7' is the reading that is taken; name another, or take the line out");
    refuses("parallel.micro_batch=21|23|21", "'21' is listed twice");
    refuses("parallel.micro_batch=21|23|023", "'023' is listed twice");                                                /* another text of the same value */
    refuses("hosts.steps_per_call=7|1e1|70e-1", "'70e-1' is listed twice");
    refuses("parallel.micro_batch=21|", "names an empty reading; want values with | between them");
    refuses("parallel.micro_batch=21||23", "names an empty reading; want values with | between them");
    refuses("precision .partials=fp32", "unknown section [precision ]; did you mean 'precision'? known: recipe, data, model, generation, parallel, precision, sparsity, optimizer, "
            "training, hosts, cost, framework, faults, open");
    arena_free(&a);
}

/* For a file the message has the line and the key as written. */
static void refusals_name_the_line(void **state)
{
    (void)state;
    char *path = arena_strdup(&a, recipe_with("# why\nprecision.partials = half\n"));
    const char *said = readings(path, NULL, 0), *at = strstr(said, ".ini:");
    assert_non_null(at);
    assert_string_equal(at + strspn(at + 5, "0123456789") + 5, ": open.precision.partials: 'half' is not one of: fp16, fp32");
    arena_free(&a);
}

/* Every reading of every recipe differs from the one taken, and can be set alone. */
static void readings_of_all_recipes(void **state)
{
    char **names;
    size_t n, n_open = 0;
    (void)state;
    assert_true(list_folder(&names, &n, "workloads/recipes", ".ini", &a, &err));
    for (size_t i = 0; i < n; i++) {
        struct recipe r;
        assert_true(recipe_load(&r, names[i], "workloads/recipes", NULL, 0, &a, &err));
        n_open += r.n_readings > 0;
        for (size_t k = 0; k < r.n_readings; k++) {
            const char *set = arena_printf(&a, "%s=%s", r.readings[k].key, r.readings[k].value);
            struct recipe other;
            struct plan_request options;
            assert_true(recipe_load(&other, names[i], "workloads/recipes", &set, 1, &a, &err) && recipe_plan_request(&options, &other, &a, &err));
        }
    }
    assert_true(n_open >= 30);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(readings_in_order), cmocka_unit_test(overrides_settle), cmocka_unit_test(values_of_another_key_are_no_twins),
    cmocka_unit_test(what_makes_no_sense_together_is_told_later), cmocka_unit_test(what_is_refused),
    cmocka_unit_test(refusals_name_the_line), cmocka_unit_test(readings_of_all_recipes),
};

TAP_MAIN(tests)
