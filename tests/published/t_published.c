/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_published.c - published tables: refusals word by word, the split into roles, and every official score. */
#include "tests/check.h"
#include "results/published/published.h"
#include "workloads/recipe/recipe.h"

static const char tables[] = "results/published", recipes[] = "workloads/recipes", bad[] = "tests/bad/published";

static void load(struct figures *f, struct arena *a, const char *name)
{
    struct err err = { "" };
    char path[128];
    *a = (struct arena){ 0 };
    snprintf(path, sizeof path, "%s/%s", tables, name);
    bool good = published_load(f, path, a, &err);
    assert_string_equal(err.msg, "");
    assert_true(good);
}

static const struct { const char *file, *message; } refusals[] = {
    { "no-column", ":1: no column 'role'; there are: id, recipe, metric, value, unit, tolerance, source, quote, note" },
    { "more-columns", ":1: page: not a column of published figures; known: id,recipe,metric,value,unit,tolerance,role,source,quote,note, configuration "
      "where rows repeat one, and those of kernels and links" },
    { "neither-part-nor-recipe", ":1: no column 'recipe'; there are: id, metric, value, unit, tolerance, role, source, quote, note" },
    { "part-in-a-recipe", ":2: recipe: 'kernel:matmul;m=3': state a kernel or a link in columns, as kernels.csv and links.csv do" },
    { "part", ":3: m: missing: rows of the weights" },
    { "part-of-another", ":1: tiles: not a column of published figures; known: id,recipe,metric,value,unit,tolerance,role,source,quote,note, configuration "
      "where rows repeat one, and those of kernels and links" },
    { "role", ":2: role: 'train' is not one of: calibrate, validate, context" },
    { "value", ":2: value: 0 is outside 1e-100 to 1e+100" },
    { "tiny", ":2: value: 1e-101 is outside 1e-100 to 1e+100" },
    { "huge", ":2: value: 1e101 is outside 0 to 1e+100" },
    { "not-a-number", ":2: value: 'fast' is not a number" },
    { "unit", ":2: unit: 'images/s', want 'samples/s' for throughput_samples_per_s" },
    { "minutes", ":2: unit: 's', want 'min' for time_to_train_min" },
    { "tolerance", ":2: tolerance: '10 %' is not a number" },
    { "no-tolerance", ":2: tolerance: want a share above 0 and up to 1, as in 0.1 for 10 %" },
    { "no-source", ":2: source: is empty" },
    { "no-recipe", ":2: recipe: '' is no recipe; want the id of a recipe, or one of these reasons: none:needs A CAPABILITY, none:not stated (the configuration), none:peer (another vendor's), none:no run (a property)" },
    { "no-id", ":2: id: is empty" },
    { "repeated", ":3: id: 'a' is already in tests/bad/published/repeated.csv:2" },
    { "ratio-of-one", ":2: recipe: 'r', want two ids, A:B, for speedup_x" },
    { "ratio-of-three", ":2: recipe: 'r:s:t', want two ids, A:B, for speedup_x" },
    { "two-recipes", ":2: recipe: 'r:s' are two ids, want one for throughput_samples_per_s" },
    { "short-row", ":2: 4 cells, want 10 (id, ...)" },
    { "two-configurations", ":4: configuration: r, but tests/bad/published/two-configurations.csv:2 has s for the same recipe" },
};

static void bad_tables_are_refused(void **state)
{
    char **names;
    size_t n;
    struct arena a = { 0 };
    struct err err = { "" };
    (void)state;
    assert_true(list_folder(&names, &n, bad, ".csv", &a, &err));
    assert_int_equal(n, sizeof refusals / sizeof *refusals);
    for (size_t i = 0; i < n; i++) {
        struct figures f;
        char path[128], want[400];
        snprintf(path, sizeof path, "%s/%s.csv", bad, refusals[i].file);
        snprintf(want, sizeof want, "%s%s", path, refusals[i].message);
        assert_false(published_load(&f, path, &a, &err));
        assert_string_equal(err.msg, want);
    }
    arena_free(&a);
}

/* The figures of a table that is accepted. */
static struct figures figures_of(const char *text, struct arena *a)
{
    const char *path = temp_file(text, strlen(text), ".csv");
    struct err err = { "" };
    struct figures f;
    assert_true(published_load(&f, path, a, &err));
    unlink(path);
    return f;
}

/* Rows of operations and transfers have their cells instead of a recipe. "fits" is 0 or 1. Context rows need no
 * tolerance and no recipe. */
static void cells_that_may_be(void **state)
{
    static const char text[] = "id,kernel,n,link,machine,type,recipe,metric,value,unit,tolerance,role,source,quote,note\n"
        "a,triad,7,,bow,fp16,,time_s,2.5,s,0.1,validate,s,,\nb,,,hop,gc2,,,time_s,3,s,1,calibrate,s,,\nc,,,,,,r,fits,1,yes=1,0.1,validate,s,,\n"
        "d,,,,,,r,fits,0,yes=1,0.1,validate,s,,\ne,,,,,,none:not stated,step_time_s,5,s,,context,s,q,n\nf,,,,,,r:s,speedup_x,6,x,0.1,validate,s,,\n";
    static const char *const wrong[] = { "kernels:a,time_s,1,s,0.1", "r,fits,2.x,yes=1,0.1", "r,step_time_s,1,s,1.01", "r,step_time_s,0,s,1", "r:,speedup_x,1,x,1", "kernel:matmul;m=3,time_s,1,s,1", "link:p2p,latency_us,1,us,1", "r::,speedup_x,1,x,1", "r,step_time_s,1,s,0", "r,step_time_s,1,s,-1",
                                         ":r,speedup_x,1,x,1", "link,speedup_x,1,x,1", ",fits,1,yes=1,0.1", "none:,fits,1,yes=1,0.1",
                                         "none:needs ,fits,1,yes=1,0.1", "none:peers,fits,1,yes=1,0.1" };
    static const double values[] = { 2.5, 3, 1, 0, 5, 6 };
    struct arena a = { 0 };
    struct err err = { "" };
    struct figures f = figures_of(text, &a);
    (void)state;
    assert_int_equal(f.n, 6);
    for (size_t i = 0; i < 6; i++)
        assert_near(f.items[i].value, values[i], 0);
    assert_string_equal(f.items[0].recipe, "kernel:triad;machine=bow;n=7;type=fp16");
    assert_string_equal(f.items[1].configuration, "link:hop;machine=gc2");
    assert_true(f.items[0].kernel && !f.items[0].link && f.items[1].link && !f.items[1].kernel && !f.items[2].kernel && !f.items[2].link);
    assert_null(f.items[1].without);
    assert_string_equal(f.items[4].without, "not stated");
    assert_string_equal(f.items[4].recipe, "");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *row = arena_printf(&a, "id,recipe,metric,value,unit,tolerance,role,source,quote,note\na,%s,validate,s,,\n", wrong[i]);
        const char *path = temp_file(row, strlen(row), ".csv");
        assert_false(published_load(&f, path, &a, &err));
        unlink(path);
    }
    arena_free(&a);
}

/* Rows without a recipe, and rows of different recipes, may have any configuration. */
static void configurations_that_may_be(void **state)
{
    static const char text[] = "id,recipe,configuration,metric,value,unit,tolerance,role,source,quote,note\n"
        "a,none:peer,p,latency_s,3,s,,context,s,,\nb,none:no run,q,latency_s,5,s,,context,s,,\nc,r,p,latency_s,7,s,0.1,validate,s,,\nd,s,,latency_s,7,s,0.1,validate,s,,\n"
        "e,r,p,step_time_s,9,s,0.1,validate,s,,\n";
    struct arena a = { 0 };
    struct figures f = figures_of(text, &a);
    (void)state;
    assert_string_equal(f.items[4].configuration, "p");
    assert_string_equal(f.items[3].configuration, "s");
    arena_free(&a);
}

/* Two tables together follow the rules of one: nothing repeats or conflicts. */
static void tables_of_a_folder_agree(void **state)
{
    static const struct { const char *other, *message; } cases[] = {
        { "a,s,,step_time_s,5,s,0.1,validate,t,,", "id: 'a' is already in " },
        { "b,r,q,step_time_s,5,s,0.1,validate,t,,", "configuration: q, but " },
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static const char head[] = "id,recipe,configuration,metric,value,unit,tolerance,role,source,quote,note\n";
        struct arena a = { 0 };
        struct err err = { "" };
        struct figures f;
        char folder[] = "/tmp/podbench-tables-XXXXXX";
        assert_non_null(mkdtemp(folder));
        assert_int_equal(system(arena_printf(&a, "cd %s && printf '%%s\\n' '%.*s' 'a,r,,latency_s,3,s,0.1,validate,t,,' >one.csv && printf '%%s\\n' '%.*s' '%s' >two.csv",
                                             folder, (int)sizeof head - 2, head, (int)sizeof head - 2, head, cases[i].other)), 0);
        assert_false(published_load(&f, folder, &a, &err));
        const char *where = arena_printf(&a, "%s/two.csv:2: %s", folder, cases[i].message);
        assert_int_equal(strncmp(err.msg, where, strlen(where)), 0);
        assert_int_equal(system(arena_printf(&a, "rm -r %s", folder)), 0);
        arena_free(&a);
    }
}

/* A larger rate is faster, a larger time slower. A metric that is not simulated is neither. */
static void a_metric_says_what_is_faster(void **state)
{
    static const struct { const char *metric; int faster; } cases[] = {
        { "throughput_samples_per_s", 1 }, { "mfu", 1 }, { "hfu", 1 }, { "speedup_x", 1 }, { "time_to_train_speedup_x", 1 }, { "tflop_per_s", 1 },
        { "peak_share", 1 }, { "aggregate_gb_per_s", 1 }, { "fits", 1 }, { "step_time_s", -1 }, { "time_to_train_min", -1 }, { "time_to_train_s", -1 },
        { "latency_s", -1 }, { "latency_us", -1 }, { "samples_to_converge", -1 }, { "evaluation_time_s", -1 }, { "time_s", -1 }, { "cycles", -1 },
        { "loop_s_per_micro_batch", -1 }, { "update_s", -1 }, { "forward_s_per_micro_batch", -1 }, { "call_s", -1 }, { "step_increase_s", -1 },
        { "batch_s_per_sample", -1 }, { "batch_fixed_s", -1 },
        { "board_power_w", 0 }, { "", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(metric_faster(cases[i].metric), cases[i].faster);
}

/* ---- the tables that are here ----------------------------------------------------------------- */

static bool has_recipe(const char *id)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.ini", recipes, id);
    return access(path, R_OK) == 0;
}

static bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* The protocol: rows that validate are of more than 64 IPUs, more than 16 Bow IPUs, the open division, or a model
 * that was seen without calibrating (RNN-T). */
static bool never_calibrates(const char *id, struct arena *a)
{
    struct recipe r;
    struct err err = { "" };
    if (!recipe_load(&r, id, recipes, NULL, 0, a, &err))
        (print_error("%s\n", err.msg), _fail(__FILE__, __LINE__));
    uint64_t ipus = r.replicas * r.ipus_per_replica;
    return ipus > 64 || (ipus > 16 && strncmp(r.system, "bow", 3) == 0) || contains(id, "-open-")
        || text_is(r.workload, "transformer-transducer");
}

/* Every metric that is judged has a direction; a row without a recipe is not judged. */
static void every_judged_metric_has_a_direction(void **state)
{
    struct figures f;
    struct arena a;
    (void)state;
    load(&f, &a, "");
    for (size_t i = 0; i < f.n; i++)
        if (f.items[i].role != FIGURE_CONTEXT && *f.items[i].recipe && !metric_faster(f.items[i].metric))
            (print_error("%s: %s\n", f.items[i].id, f.items[i].metric), _fail(__FILE__, __LINE__));
    assert_true(f.n > 1000);
    arena_free(&a);
}

static void roles_keep_to_the_protocol(void **state)
{
    static const char *const files[] = { "mlperf.csv", "vendor.csv" };
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct figures f;
        struct arena a;
        load(&f, &a, files[k]);
        for (size_t i = 0; i < f.n; i++)
            if (f.items[i].role == FIGURE_CALIBRATE && has_recipe(f.items[i].recipe) && never_calibrates(f.items[i].recipe, &a))
                (print_error("%s calibrates\n", f.items[i].id), _fail(__FILE__, __LINE__));
        arena_free(&a);
    }
}

static void every_figure_names_recipes_that_are_here(void **state)
{
    static const char *const files[] = { "mlperf.csv", "vendor.csv", "memory.csv" };
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct figures f;
        struct arena a;
        load(&f, &a, files[k]);
        for (size_t i = 0; i < f.n; i++) {
            char first[200];
            const char *colon = strchr(f.items[i].recipe, ':');
            if (!*f.items[i].recipe)
                continue;
            snprintf(first, sizeof first, "%.*s", (int)strcspn(f.items[i].recipe, ":"), f.items[i].recipe);
            assert_true(has_recipe(first));
            if (colon)
                assert_true(has_recipe(colon + 1));
        }
        arena_free(&a);
    }
}

/* 27 submissions, each with throughput, step time and score, BERT also with its evaluation. One row of each kind is
 * checked by hand against its log. */
static void scores_are_the_official_ones(void **state)
{
    static const struct { const char *id; double value; enum role role; } known[] = {
        { "mlperf-v1.1-closed-ipu-pod16-resnet50.score", 28.33453, FIGURE_CALIBRATE },
        { "mlperf-v2.0-closed-bow-pod16-resnet50.score", 19.63516, FIGURE_CALIBRATE },
        { "mlperf-v1.1-closed-ipu-pod256-resnet50.score", 3.794889, FIGURE_VALIDATE },
        { "mlperf-v2.0-closed-bow-pod64-resnet50.score", 6.302183, FIGURE_VALIDATE },
        { "mlperf-v1.0-open-ipu-pod16-bert-large.score", 27.75386, FIGURE_VALIDATE },
        { "mlperf-v1.0-closed-ipu-pod16-bert-large.throughput", 1419.72, FIGURE_CALIBRATE },
        { "mlperf-v1.1-closed-ipu-pod64-resnet50.steady", 107027, FIGURE_CALIBRATE },
        { "mlperf-v2.0-closed-bow-pod16-bert-large-paddle-baidu.score", 20.80994, FIGURE_VALIDATE },
        { "mlperf-v2.0-closed-bow-pod256-bert-large.score", 3.184854, FIGURE_VALIDATE },
        { "mlperf-v2.0-open-bow-pod64-transformer-transducer.score", 109.3572, FIGURE_CONTEXT },
    };
    struct figures f;
    struct arena a;
    (void)state;
    load(&f, &a, "mlperf.csv");
    assert_int_equal(f.n, 107);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const struct figure *found = NULL;
        for (size_t i = 0; i < f.n; i++)
            if (text_is(f.items[i].id, known[k].id))
                found = &f.items[i];
        assert_non_null(found);
        assert_near(found->value, known[k].value, 1e-9);
        assert_int_equal(found->role, known[k].role);
    }
    arena_free(&a);
}

/* An empty configuration means the recipe. A table without that column repeats nothing. */
static void a_configuration_is_the_recipe_unless_it_says(void **state)
{
    static const struct { const char *file, *id, *configuration; } known[] = {
        { "mlperf.csv", "mlperf-v2.0-closed-bow-pod64-bert-large.score", "mlperf-v2.0-closed-bow-pod64-bert-large" },
        { "mlperf.csv", "mlperf-v2.0-closed-bow-pod64-bert-large-paddle-baidu.step", "mlperf-v2.0-closed-bow-pod64-bert-large" },
        { "mlperf.csv", "mlperf-v1.1-open-ipu-pod16-bert-large.score", "mlperf-v1.1-closed-ipu-pod16-bert-large" },
        { "vendor.csv", "vendor-D05", "mlperf-v1.1-closed-ipu-pod256-resnet50:mlperf-v1.1-closed-ipu-pod16-resnet50" },
        { "links.csv", "gc2-T4.1.001", "link:p2p;machine=dss8440;from=0;to=0" },
    };
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        struct figures f;
        struct arena a;
        size_t i = 0;
        load(&f, &a, known[k].file);
        while (i < f.n && !text_is(f.items[i].id, known[k].id))
            i++;
        assert_true(i < f.n);
        assert_string_equal(f.items[i].configuration, known[k].configuration);
        arena_free(&a);
    }
}

/* One measurement in three forms: the step time is the global batch over the throughput, within the printed digits. */
static void step_times_agree_with_throughput(void **state)
{
    struct figures f;
    struct arena a;
    struct err err = { "" };
    (void)state;
    load(&f, &a, "mlperf.csv");
    for (size_t i = 0; i + 1 < f.n; i++) {
        struct recipe r;
        if (!strstr(f.items[i].id, ".throughput"))
            continue;
        assert_string_equal(f.items[i + 1].metric, "step_time_s");
        assert_true(recipe_load(&r, f.items[i].recipe, recipes, NULL, 0, &a, &err));
        double batch = (double)recipe_global_batch(&r) * recipe_samples_per_item(&r);
        assert_near(batch / f.items[i].value / f.items[i + 1].value, 1, 1e-4);
    }
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bad_tables_are_refused), cmocka_unit_test(cells_that_may_be), cmocka_unit_test(configurations_that_may_be), cmocka_unit_test(tables_of_a_folder_agree), cmocka_unit_test(a_metric_says_what_is_faster), cmocka_unit_test(every_judged_metric_has_a_direction), cmocka_unit_test(roles_keep_to_the_protocol),
    cmocka_unit_test(every_figure_names_recipes_that_are_here), cmocka_unit_test(scores_are_the_official_ones),
    cmocka_unit_test(step_times_agree_with_throughput), cmocka_unit_test(a_configuration_is_the_recipe_unless_it_says),
};
TAP_MAIN(tests)
