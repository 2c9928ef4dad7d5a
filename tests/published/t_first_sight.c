/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_first_sight.c - which recipes are the same run, what was first predicted, and what a row keeps. */
#include "tests/check.h"
#include "results/published/published.h"
#include "workloads/recipe/recipe.h"

static const char recipes[] = "workloads/recipes", resnet[] = "vendor-c600-resnet50-b1-poprt";

static const char *hash_with(const char *set, struct arena *a)
{
    struct recipe r;
    struct err err = { "" };
    const char *hash = NULL;
    bool good = recipe_load(&r, resnet, recipes, set ? &set : NULL, set != NULL, a, &err) && recipe_hash(&hash, &r, NULL, a, &err);
    if (!good)
        print_error("%s\n", err.msg);
    assert_true(good);
    return hash;
}

/* A value counts as it was understood; what is at its default, what only documents and other readings do not. */
static void equal_runs_have_equal_hashes(void **state)
{
    static const char *const same[] = { "recipe.source=elsewhere", "recipe.no_figure=none", "data.dataset=flowers", "parallel.outlining=yes", "parallel.micro_batch=1",
                                        "hosts.sample_s=0", "precision.compute=fp16", "open.precision.partials=fp32", "parallel.rts=yes" };
    static const char *const other[] = { "parallel.micro_batch=2", "parallel.outlining=no", "parallel.available_memory=0.5", "framework.launch_s=4e-4",
                                         "recipe.system=bow-pod4", "data.synthetic=yes", "hosts.sample_s=1e-4" };
    struct arena a = { 0 };
    const char *plain = hash_with(NULL, &a);
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_string_equal(hash_with(same[i], &a), plain);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_string_not_equal(hash_with(other[i], &a), plain);
    assert_string_equal(hash_with("hosts.sample_s=1e-4", &a), hash_with("hosts.sample_s=0.0001", &a));
    assert_string_equal(hash_with("framework.launch_s=4e-4", &a), hash_with("framework.launch_s=0.0004", &a));
    arena_free(&a);
}

static bool load_sights(struct first_sight *out, const char *lines, struct arena *a, struct err *err)
{
    const char *text = arena_printf(a, "%s%s", first_sight_header, lines);
    return first_sight_load(out, arena_strdup(a, temp_file(text, strlen(text), ".csv")), a, err);
}

static void a_row_is_seen_once(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct first_sight seen;
    (void)state;
    assert_true(load_sights(&seen, "b,first,01,v1,7,,,,\nb,again,02,v9,8,6,11,,\nc,first,03,v2,13,,,,\na,first,04,v2,3,1,5,,\n", &a, &err));
    assert_int_equal(seen.n, 4);
    assert_near(first_sight_find(&seen, "b", false)->predicted, 7, 0);
    assert_near(first_sight_find(&seen, "b", true)->high, 11, 0);
    assert_near(first_sight_find(&seen, "a", true)->low, 1, 0);         /* no later program simulated it: its first sight */
    assert_true(isnan(first_sight_find(&seen, "c", false)->low));
    assert_null(first_sight_find(&seen, "d", false));
    assert_int_equal(first_sight_find(&seen, "b", false)->batch, 1);
    assert_int_equal(first_sight_find(&seen, "a", false)->batch, first_sight_find(&seen, "c", false)->batch);
    assert_int_equal(first_sight_find(&seen, "a", false)->batch, 2);
    assert_false(load_sights(&seen, "b,first,01,v1,7,,,,\nb,first,01,v2,8,,,,\n", &a, &err));
    assert_non_null(strstr(err.msg, ": b has two lines 'first'; want one"));
    assert_false(load_sights(&seen, "b,later,01,v1,7,,,,\n", &a, &err));
    assert_non_null(strstr(err.msg, ":2: seen: 'later' is not one of: first, again"));
    char *text;
    PRINTED(text, (first_sight_write(f, &(struct sight){ .id = "x", .seen = "first", .recipe = "0a", .version = "0.2 baseline 3", .predicted = 2.5, .low = 1, .high = 4, .open_low = 0.5, .open_high = 9 }),
                   first_sight_write(f, &(struct sight){ .id = "y", .seen = "first", .recipe = "0b", .version = "0.2", .predicted = 3, .low = NAN, .high = NAN, .open_low = NAN, .open_high = NAN })));
    assert_string_equal(text, "x,first,0a,0.2 baseline 3,2.5,1,4,0.5,9\ny,first,0b,0.2,3,,,,\n");
    free(text);
    arena_free(&a);
}

/* ---- what a row keeps ------------------------------------------------------------------------------------------ */

static bool load_kept(struct kept *out, const char *lines, struct arena *a, struct err *err)
{
    const char *text = arena_printf(a, "id,tolerance,recipe,why\n%s", lines);
    return kept_load(out, arena_strdup(a, temp_file(text, strlen(text), ".csv")), a, err);
}

static struct figure row_of(const char *id, double tolerance, enum role role)
{
    return (struct figure){ .id = id, .recipe = resnet, .configuration = resnet, .metric = "step_time_s", .unit = "s", .value = 3, .tolerance = tolerance,
                            .role = role, .path = "t.csv", .line = 5 };
}

static void a_row_keeps_its_tolerance_and_its_recipe(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct kept kept;
    struct kept_faults faults;
    struct figure items[] = { row_of("same", 0.1, FIGURE_VALIDATE), row_of("wider", 0.25, FIGURE_VALIDATE), row_of("new", 0.1, FIGURE_VALIDATE),
                              row_of("other", 0.1, FIGURE_VALIDATE), row_of("told", 0.1, FIGURE_CALIBRATE), row_of("context", 0.1, FIGURE_CONTEXT),
                              { .id = "none", .recipe = "", .without = "peer", .path = "t.csv", .line = 6 } };
    struct figures figures = { .items = items, .n = 7, .cap = 7 };
    const char *now = hash_with(NULL, &a);
    (void)state;
    assert_true(load_kept(&kept, arena_printf(&a, "same,0.1,%s,\nwider,0.1,%s,\nother,0.1,7f,\ntold,0.1,7f,\ncontext,0.1,7f,\ntold,0.1,%s,a reading\ncontext,0.1,%s,a reading\n",
                                              now, now, now, now), &a, &err));
    assert_true(kept_compare(&faults, &kept, &figures, recipes, &a, &err));
    static const char *const want[] = { "t.csv:5: wider: tolerance is 0.25; line 3 of ", "t.csv:5: new: is not in ", "t.csv:5: other: the values of its recipe are not those of line 4 of ",
                                        "t.csv:5: told: its recipe changed at line 7 of " };
    assert_int_equal(faults.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(strncmp(faults.items[i].what, want[i], strlen(want[i])), 0);
    assert_non_null(strstr(faults.items[3].what, ", after it was seen, so it is context and not calibrate"));
    assert_string_equal(faults.items[2].wanted.recipe, now);
    assert_false(load_kept(&kept, "a,0.1,7f,\na,0.2,7f,\n", &a, &err));
    assert_non_null(strstr(err.msg, ":3: why: is empty, and line 2 has a already; say why it changed"));
    arena_free(&a);
}

/* The tables of the project: every row that validates or calibrates has the recipe that it was first seen with. */
static void the_tables_keep_what_they_had(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct figures figures;
    struct kept kept;
    struct kept_faults faults;
    struct first_sight seen;
    (void)state;
    assert_true(published_load_derived(&figures, "results/published", recipes, &a, &err));
    assert_true(kept_load(&kept, "results/published/ledger/kept.csv", &a, &err));
    assert_true(kept_compare(&faults, &kept, &figures, recipes, &a, &err));
    for (size_t i = 0; i < faults.n; i++)
        print_error("%s\n", faults.items[i].what);
    assert_int_equal(faults.n, 0);
    assert_true(first_sight_load(&seen, "results/published/first-sight.csv", &a, &err));
    for (size_t i = 0; i < figures.n; i++)
        if (*figures.items[i].recipe && !first_sight_find(&seen, figures.items[i].id, false))
            (print_error("%s has no first sight\n", figures.items[i].id), _fail(__FILE__, __LINE__));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equal_runs_have_equal_hashes), cmocka_unit_test(a_row_is_seen_once),
        cmocka_unit_test(a_row_keeps_its_tolerance_and_its_recipe), cmocka_unit_test(the_tables_keep_what_they_had) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("first_sight", tests, NULL, NULL);
}
