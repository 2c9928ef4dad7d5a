/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_assumptions.c - the effect of halving and doubling assumed values, by hand, and the printed list. */
#include "tests/study/asked.h"
#include "results/study/inputs.h"

#include <jansson.h>

static const struct assumption *assumption_at(const struct assumptions *all, const char *key, const char *path)
{
    const struct assumption *found = NULL;
    for (size_t i = 0; i < all->n; i++)
        if (text_is(all->items[i].key, key) && text_is(all->items[i].path, path)) {
            assert_null(found);
            found = &all->items[i];
        }
    assert_non_null(found);
    return found;
}

static void assert_in_order(const struct assumption *before, const struct assumption *x)
{
    double was = fmax(before->most->slower, -before->most->faster), is = fmax(x->most->slower, -x->most->faster);
    int by_path = strcmp(before->path, x->path);
    assert_true(was > is || (was == is && (by_path < 0 || (by_path == 0 && before->line < x->line))));
}

/* The host port's latency is doubled and halved: 12 times 8.83 us in the step of v1.1's ResNet-50, and 8 times in the shorter one of v1.0, which
 * changes more. A thread of TensorFlow that copies twice as fast has the first 40 images of a call sooner, of 80 steps in v1.1 and 133 in v1.0; PopART's
 * thread is on another sheet. A flag is turned. A value of 0, one that nothing reads and one that is no number are not moved. Sheets that
 * none of these recipes reads are listed too; measured values are not. */
static void assumptions_are_moved_both_ways(void **state)
{
    (void)state;
    static const char *const recipes[] = { "mlperf-v1.1-closed-ipu-pod16-resnet50", "mlperf-v1.0-closed-ipu-pod16-resnet50",
                                           "mlperf-v1.1-closed-ipu-pod16-bert-large", "vendor-ipu-m2000-bert-base-infer-b16" };
    static const char *const of[] = { "resnet50", "bert-large" };
    const char *board = "system-model/specs/ipu-m2000.csv", *tensorflow = "system-model/specs/frameworks/tensorflow-1-2.1.0.csv",
               *popart = "system-model/specs/frameworks/popart-2.1.0.csv";
    struct assumptions all;
    struct simulation sim = {0};
    struct result r[2];
    for (size_t i = 0; i < 2; i++) {
        run(&sim, &r[i], recipes[i], NULL);
        simulation_free(&sim);
    }
    assert_true(assumptions_list(&all, recipes, 4, of, 2, simulator(), NULL, &a, &err));
    for (size_t i = 0; i < all.n; i++) {
        assert_true(strncmp(all.items[i].source, "assumed", 7) == 0);
        if (i > 0)
            assert_in_order(&all.items[i - 1], &all.items[i]);
    }
    const struct assumption *x = assumption_at(&all, "host_latency_s", board);
    assert_true(x->effects[0].n_recipes == 2 && x->effects[1].n_recipes == 1 && x->effects[2].n_recipes == 1);
    assert_string_equal(x->effects[2].workload, "others");
    assert_near(x->effects[0].slower * r[0].step_time_s, (10 + 2 / 80.0) * 8.83e-6, 9e-9);
    assert_near(x->effects[0].faster * r[0].step_time_s, -(10 + 2 / 80.0) / 2 * 8.83e-6, 9e-9);
    assert_string_equal(x->effects[0].recipe, recipes[0]);
    assert_true(x->most != &x->effects[0]);
    x = assumption_at(&all, "callback_bytes_per_s", tensorflow);
    assert_true(x->effects[0].n_recipes == 2 && x->effects[1].n_recipes == 0 && x->most == &x->effects[0]);
    size_t most = text_is(x->effects[0].recipe, recipes[1]);
    assert_near(x->effects[0].faster * r[most].step_time_s, -40 * (224 * 224 * 3 + 4) / 7e9 / 2 / (most ? 133 : 80), 2e-9);
    x = assumption_at(&all, "callback_bytes_per_s", popart);
    assert_true(x->effects[0].n_recipes == 0 && x->effects[1].n_recipes == 1 && x->effects[1].faster < 0);
    x = assumption_at(&all, "rung_through_links", board);
    assert_true(x->effects[0].n_recipes == 2 && x->most->slower == 0 && x->most->faster == 0 && !x->most->recipe);
    x = assumption_at(&all, "engine", "system-model/specs/frameworks/default.csv");
    assert_true(x->effects[0].n_recipes == 0 && x->effects[1].n_recipes == 0 && x->effects[2].n_recipes == 0);
    arena_free(&a);
}

/* The step with one value replaced, over the step as it is. */
static double changed_by(const char *recipe, const char *set, const struct result *base)
{
    struct simulation sim = {0};
    struct result r;
    run(&sim, &r, recipe, set);
    simulation_free(&sim);
    return r.step_time_s / base->step_time_s - 1;
}

/* A share is halved, and doubled at most to 1. Progress is reported after each recipe. */
static void a_share_ends_at_one(void **state)
{
    static const char *const recipes[] = { "mlperf-v1.1-closed-ipu-pod16-resnet50", "mlperf-v1.1-closed-ipu-pod16-bert-large" };
    static const char *const of[] = { "resnet50", "bert-large" };
    struct assumptions all;
    size_t n = 2;
    (void)state;
    n_told = 0;
    assert_true(assumptions_list(&all, recipes, 2, of, 2, simulator(), &(struct watch){ count_told, &n }, &a, &err));
    assert_int_equal(n_told, 2);
    const struct assumption *x = assumption_at(&all, "link_efficiency", "system-model/specs/gc200.csv");
    assert_string_equal(x->value, "0.86");
    for (size_t i = 0; i < 2; i++) {
        struct simulation sim = {0};
        struct result base;
        run(&sim, &base, recipes[i], NULL);
        simulation_free(&sim);
        assert_near(x->effects[i].slower, changed_by(recipes[i], "machine.link_efficiency=0.43", &base), 1e-9);
        assert_near(x->effects[i].faster, changed_by(recipes[i], "machine.link_efficiency=1", &base), 1e-9);
        assert_true(x->effects[i].slower > 0.01 && x->effects[i].faster < -0.001 && !x->effects[i].fit_changes);
        assert_string_equal(x->effects[i].recipe, recipes[i]);
    }
    assert_true(x->effects[2].n_recipes == 0 && x->effects[2].slower == 0 && x->effects[2].faster == 0 && !x->effects[2].recipe);
    arena_free(&a);
}

static void assumptions_as_text(void **state)
{
    struct assumption_effect effects[] = {
        { .workload = "resnet50", .recipe = "r", .n_recipes = 3, .faster = -0.0125, .slower = 0.025, .fit_changes = true },
        { .workload = "bert", .n_recipes = 2 }, { .workload = "rnnt" },
    };
    struct assumption item = { .key = "chip.rate", .value = "3", .unit = "B/s", .path = "specs/x.csv", .line = 7, .source = "assumed", .effects = effects, .most = effects };
    const char *of[] = { "resnet50", "bert", "rnnt" };
    const struct assumptions all = { .items = &item, .n = 1, .of = of, .n_of = 3 };
    static const char expected[] =
        "key        value  unit            resnet50     bert      rnnt  moves most; sheet, line and reason\n"
        "chip.rate      3  B/s   -1.250 to +2.500 %  nothing  not read  r; specs/x.csv:7, assumed\n";
    struct document shown = { .arena = &a }, read = { .arena = &a };
    (void)state;
    assumptions_document(&shown, &all);
    char *text = document_text(&shown);
    const char *line = strchr(text, '\n') + 1;
    assert_true(strncmp(line, expected, strlen(expected)) == 0);
    free(text);
    assumptions_document(&read, &all);
    json_t *json = document_json_read(&read), *first = json_array_get(json, 0), *effect = json_array_get(json_object_get(first, "effects"), 0);
    assert_int_equal(json_integer_value(json_object_get(first, "line")), 7);
    assert_int_equal(json_array_size(json_object_get(first, "effects")), 3);
    assert_int_equal(json_integer_value(json_object_get(effect, "recipes")), 3);
    assert_true(json_is_true(json_object_get(effect, "changes_fit")) && json_array_size(json) > 3);
    json_decref(json);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(assumptions_are_moved_both_ways), cmocka_unit_test(a_share_ends_at_one), cmocka_unit_test(assumptions_as_text),
};

TAP_MAIN(tests)
