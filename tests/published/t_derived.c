/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_derived.c - rows that follow from published ones: the line by hand, the stricter role, and refusals. */
#include "tests/check.h"
#include "results/published/published.h"
#include <limits.h>

static const char recipes[] = "workloads/recipes";
static const char header[] = "id,recipe,metric,value,unit,tolerance,role,source,quote,note\n";
static const char spec_header[] = "id,metric,parents,tolerance,note\n";

/* A folder with one table of published rows and one of derived rows. */
static const char *folder_of(const char *rows, const char *derived, struct arena *a)
{
    char name[] = "/tmp/podbench-derived-XXXXXX";
    struct err err;
    const char *folder = arena_strdup(a, mkdtemp(name));
    assert_true(make_folders(arena_printf(a, "%s/derived", folder), &err));
    FILE *f = fopen(arena_printf(a, "%s/rows.csv", folder), "w");
    fprintf(f, "%s%s", header, rows);
    fclose(f);
    f = fopen(arena_printf(a, "%s/derived/derived.csv", folder), "w");
    fprintf(f, "%s%s", spec_header, derived);
    fclose(f);
    return folder;
}

static void remove_folder(const char *folder, struct arena *a)
{
    unlink(arena_printf(a, "%s/derived/derived.csv", folder));
    unlink(arena_printf(a, "%s/rows.csv", folder));
    rmdir(arena_printf(a, "%s/derived", folder));
    rmdir(folder);
}

/* 65,536 sequences a step: 65536 / 5179 = 12.6542 s with an accumulation of 2048, 65536 / 19353 = 3.38635 s with
 * 512. Slope: 9.26783 / 1536 = 6.03375 ms; intercept: 3.38635 - 512 x 0.00603375 = 0.29707 s. */
static const char rows[] =
    "a,vendor-bow-pod16-bert-large-ph1-popart,throughput_samples_per_s,5179,samples/s,0.1,calibrate,a test,,\n"
    "b,vendor-bow-pod64-bert-large-ph1-popart,throughput_samples_per_s,19353,samples/s,0.1,validate,a test,,\n"
    "c,mlperf-v2.0-closed-bow-pod128-bert-large,evaluation_time_s,0.3,s,0.1,validate,a test,,\n"
    "d,mlperf-v2.0-closed-bow-pod256-bert-large,evaluation_time_s,0.2,s,0.1,calibrate,a test,,\n"
    "e,vendor-bow-pod16-bert-large-ph2-popart,throughput_samples_per_s,1470,samples/s,0.1,calibrate,a test,,\n"
    "f,mlperf-v1.1-closed-ipu-pod16-resnet50,time_to_train_min,28,min,0.1,calibrate,a test,,\n"
    "g,vendor-bow-pod64-bert-large-ph1-popart,throughput_samples_per_s,21000,samples/s,0.1,validate,a test,,\n"
    "h,vendor-bow-pod16-bert-large-ph1-popart,throughput_samples_per_s,5000,samples/s,0.1,calibrate,a test,,\n";

static void a_line_has_a_slope_and_an_intercept(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct figures f;
    const char *folder = folder_of(rows, "loop,loop_s_per_micro_batch,a+b,0.05,\nupdate,update_s,a+b,0.1,\nfaster,speedup_x,b+a,0.1,\n"
                                         "less,step_increase_s,b+a,0.1,\n", &a);
    published_load_derived(&f, folder, recipes, &a, &err);
    assert_string_equal(err.msg, "");
    assert_int_equal(f.n, 12);
    assert_near(f.items[8].value, (65536.0 / 5179 - 65536.0 / 19353) / 1536, 1e-12);
    assert_near(f.items[9].value, 0.29707, 1e-5);
    assert_near(f.items[10].value, 19353.0 / 5179, 1e-12);
    assert_near(f.items[11].value, 65536.0 / 5179 - 65536.0 / 19353, 1e-12);
    assert_int_equal(f.items[8].role, FIGURE_VALIDATE);         /* from calibrate and validate */
    assert_string_equal(f.items[8].source, "computed from a, b");
    assert_string_equal(f.items[10].recipe, "vendor-bow-pod64-bert-large-ph1-popart:vendor-bow-pod16-bert-large-ph1-popart");
    remove_folder(folder, &a);
    arena_free(&a);
}

/* 10,000 sequences over batches of 3072 and 3456 rows of 2.0368: two calls each. Slope: (0.15 - 0.1) / (64 - 36). */
static void an_evaluation_is_as_many_calls_as_it_needs(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct figures f;
    const char *folder = folder_of(rows, "forward,forward_s_per_micro_batch,c+d,0.05,\ncall,call_s,c+d,0.1,\n", &a);
    published_load_derived(&f, folder, recipes, &a, &err);
    assert_string_equal(err.msg, "");
    assert_near(f.items[8].value, 0.05 / 28, 1e-12);
    assert_near(f.items[9].value, 0.1 - 36 * 0.05 / 28, 1e-12);
    remove_folder(folder, &a);
    arena_free(&a);
}

/* 128 batches of 1 image and of 4: 0.2 and 0.5 ms each. */
static void a_batch_takes_its_samples_and_what_is_fixed(void **state)
{
    static const char sweep[] = "b1,vendor-c600-resnet50-b1-poprt,throughput_samples_per_s,5000,samples/s,0.1,calibrate,a test,,\n"
                                "b4,vendor-c600-resnet50-b4-poprt,throughput_samples_per_s,8000,samples/s,0.1,calibrate,a test,,\n"
                                "t,vendor-ipu-pod4-resnet50-tf1,throughput_samples_per_s,8000,samples/s,0.1,calibrate,a test,,\n";
    static const struct { const char *row, *message; } refusals[] = {
        { "x,batch_s_per_sample,b1+b1,0.1,\n", "2: parents: all have a micro-batch of 1, so they give no line" },
        { "x,batch_s_per_sample,b1+t,0.1,\n", "2: parents: b1 and t differ in accumulation or IPUs a replica, so they are not on one line" },
        { "x,batch_s_per_sample,b1+b4,0.1,\n", "2: parents: batch_fixed_s, 0.0001 s, follows from the same parents, but has no row; add one" },
    };
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct figures f;
    const char *folder = folder_of(sweep, "slope,batch_s_per_sample,b1+b4,0.03,\nfixed,batch_fixed_s,b1+b4,0.1,\n", &a);
    published_load_derived(&f, folder, recipes, &a, &err);
    assert_string_equal(err.msg, "");
    assert_near(f.items[3].value, 1e-4, 1e-15);
    assert_near(f.items[4].value, 1e-4, 1e-15);
    remove_folder(folder, &a);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        folder = folder_of(sweep, refusals[i].row, &a);
        assert_false(published_load_derived(&f, folder, recipes, &a, &err));
        assert_string_equal(strstr(err.msg, "derived.csv:") + strlen("derived.csv:"), refusals[i].message);
        remove_folder(folder, &a);
    }
    arena_free(&a);
}

/* 3,200 images a batch: 6,400 images take two calls, 6,401 take three. */
static void whole_batches_need_no_more(void **state)
{
    static const struct { int samples; double calls; } cases[] = { { 1, 1 }, { 3200, 1 }, { 3201, 2 }, { 6400, 2 }, { 6401, 3 } };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[] = "/tmp/podbench-derived-XXXXXX";
        struct err err = { "" };
        struct derived_point p;
        assert_non_null(mkdtemp(folder));
        assert_int_equal(system(arena_printf(&a, "sed 's/^eval_samples.*/eval_samples = %d/' %s/mlperf-v1.1-closed-ipu-pod16-resnet50.ini > %s/r.ini",
                                             cases[i].samples, recipes, folder)), 0);
        bool good = derived_point(&p, &(struct figure){ .recipe = "r", .metric = "evaluation_time_s" }, 6, folder, &a, &err);
        assert_string_equal(err.msg, "");
        assert_true(good);
        assert_near(p.seconds, 6 / cases[i].calls, 1e-12);
        assert_int_equal(system(arena_printf(&a, "rm -r %s", folder)), 0);
    }
    arena_free(&a);
}

static void three_points_by_least_squares(void **state)
{
    (void)state;
    const struct derived_point p[] = { { 1, 3, 1 }, { 2, 5, 1 }, { 6, 10, 1 } };    /* mean (3, 6): slope (6 + 1 + 12) / 14 */
    assert_near(derived_value("loop_s_per_micro_batch", p, 3), 19 / 14.0, 1e-12);
    assert_near(derived_value("update_s", p, 3), 6 - 3 * 19 / 14.0, 1e-12);
    assert_near(derived_value("step_increase_s", p, 3), 7, 1e-12);
}

static void what_makes_no_line_is_refused(void **state)
{
    (void)state;
    static const struct { const char *row, *message; } refusals[] = {
        { "x,bananas,a+b,0.1,", "2: metric: 'bananas' is no derived metric; known: loop_s_per_micro_batch, update_s, forward_s_per_micro_batch, "
                                "call_s, batch_s_per_sample, batch_fixed_s, step_increase_s, speedup_x" },
        { "x,update_s,a,0.1,", "2: parents: 'a' is one row, want two or more, joined by +" },
        { "x,update_s,a+b+a+b+a+b+a+b+a+b+a+b+a+b+a+b+a,0.1,", "2: column parents names more than 16 rows, which is the limit" },
        { "x,step_increase_s,a+b+a+b+a+b+a+b+a+b+a+b+a+b+a+b,0.1,", "2: x: the parents give -9.26783, want a value above 0" },
        { "x,update_s,a+z,0.1,", "2: parents: no published row 'z'" },
        { "x,update_s,a+f,0.1,", "2: column parents: the metric of row f is time_to_train_min, but must be throughput_samples_per_s or step_time_s" },
        { "x,call_s,c+a,0.1,", "2: column parents: the metric of row a is throughput_samples_per_s, but must be evaluation_time_s" },
        { "x,update_s,a+e,0.1,", "2: parents: a and e differ in micro-batch or IPUs a replica, so they are not on one line" },
        { "x,update_s,a+b+e,0.1,", "2: parents: a and e differ in micro-batch or IPUs a replica, so they are not on one line" },
        { "x,update_s,a+a,0.1,", "2: parents: all have an accumulation of 2048, so they give no line" },
        { "x,step_increase_s,a+b,0.1,", "2: x: the parents give -9.26783, want a value above 0" },
        { "x,step_increase_s,a+a,0.1,", "2: x: the parents give 0, want a value above 0" },
        { "a,update_s,a+b,0.1,", "2: id: 'a' is the id of a published row" },
        { "x,update_s,a+b,-1,", "2: tolerance: '-1' is not a share above 0" },
        { "x,update_s,a+b,0.1,", "2: parents: loop_s_per_micro_batch, 0.00603374 s, follows from the same parents, but has no row; add one" },
        { "x,loop_s_per_micro_batch,b+a,0.1,", "2: parents: update_s, 0.297071 s, follows from the same parents, but has no row; add one" },
        { "x,call_s,c+d,0.1,", "2: parents: forward_s_per_micro_batch, 0.00178571 s, follows from the same parents, but has no row; add one" },
        { "x,loop_s_per_micro_batch,a+b,0.1,\ny,update_s,h+b,0.1,",
          "2: parents: update_s, 0.297071 s, follows from the same parents, but has no row; add one" },
        { "x,loop_s_per_micro_batch,a+b,0.1,\ny,update_s,a+b+h,0.1,",
          "2: parents: update_s, 0.297071 s, follows from the same parents, but has no row; add one" },
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct arena a = { 0 };
        struct err err = { "" };
        struct figures f;
        const char *folder = folder_of(rows, arena_printf(&a, "%s\n", refusals[i].row), &a);
        assert_false(published_load_derived(&f, folder, recipes, &a, &err));
        assert_string_equal(strstr(err.msg, "derived.csv:") + strlen("derived.csv:"), refusals[i].message);
        remove_folder(folder, &a);
        arena_free(&a);
    }
}

/* Parents in any order are one line. 65536 / 21000 = 3.12076 s gives an intercept of -0.057 s, which need not be
 * listed. */
static void a_line_is_listed_whole(void **state)
{
    static const char *const whole[] = { "loop,loop_s_per_micro_batch,a+b,0.05,\nupdate,update_s,b+a,0.1,\n",
                                         "forward,forward_s_per_micro_batch,c+d,0.05,\ncall,call_s,d+c,0.1,\n",
                                         "loop,loop_s_per_micro_batch,a+g,0.05,\n", "more,step_increase_s,b+a,0.05,\n" };
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct arena a = { 0 };
        struct err err = { "" };
        struct figures f;
        const char *folder = folder_of(rows, whole[i], &a);
        bool good = published_load_derived(&f, folder, recipes, &a, &err);
        assert_string_equal(err.msg, "");
        assert_true(good);
        remove_folder(folder, &a);
        arena_free(&a);
    }
}

/* h and a are of one recipe. */
static void what_is_derived_again_is_one_configuration(void **state)
{
    static const char *const want[] = { "other", "rest", "loop", "update", "loop", "update" };
    struct arena a = { 0 };
    struct err err = { "" };
    struct figures f;
    const char *folder = folder_of(rows, "other,loop_s_per_micro_batch,a+b+h,0.05,\nrest,update_s,a+b+h,0.1,\nloop,loop_s_per_micro_batch,a+b,0.05,\n"
                                         "update,update_s,a+b,0.1,\nloop-2,loop_s_per_micro_batch,h+b,0.05,\nupdate-2,update_s,h+b,0.1,\n", &a);
    (void)state;
    published_load_derived(&f, folder, recipes, &a, &err);
    assert_string_equal(err.msg, "");
    assert_int_equal(f.n, 8 + 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(f.items[8 + i].configuration, want[i]);
    remove_folder(folder, &a);
    arena_free(&a);
}

/* The aims: 3 % of a slope, 10 % of an intercept or a difference. */
static void tolerances_here_are_the_aims(void **state)
{
    static const struct { const char *metric; double tolerance; } aims[] = { { "loop_s_per_micro_batch", 0.03 }, { "forward_s_per_micro_batch", 0.03 },
        { "batch_s_per_sample", 0.03 },
        { "update_s", 0.1 }, { "call_s", 0.1 }, { "batch_fixed_s", 0.1 }, { "step_increase_s", 0.1 } };
    struct arena a = { 0 };
    struct err err = { "" };
    struct figures f;
    enum { N_AIMS = sizeof aims / sizeof *aims };
    size_t n[N_AIMS] = { 0 };
    (void)state;
    assert_true(published_load_derived(&f, "results/published", recipes, &a, &err));
    for (size_t i = 0; i < f.n; i++)
        for (size_t k = 0; k < N_AIMS; k++)
            if (text_is(f.items[i].metric, aims[k].metric)) {
                assert_near(f.items[i].tolerance, aims[k].tolerance, 0);
                n[k]++;
            }
    for (size_t k = 0; k < N_AIMS; k++)
        assert_true(n[k] > 0);
    arena_free(&a);
}

/* With a user's folder of recipes, rows whose parents have no recipe there are left out and counted. */
static void without_a_recipe_a_row_is_left_out(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct err err = { "" };
    struct figures f;
    char own[] = "/tmp/podbench-recipes-XXXXXX", here[PATH_MAX];
    const char *folder = folder_of(rows, "loop,loop_s_per_micro_batch,a+b,0.05,\nsame,speedup_x,a+a,0.1,\nupdate,update_s,b+a,0.1,\n", &a);
    assert_non_null(mkdtemp(own));
    assert_non_null(realpath(recipes, here));
    const char *copy = arena_printf(&a, "%s/vendor-bow-pod16-bert-large-ph1-popart.ini", own);
    assert_int_equal(symlink(arena_printf(&a, "%s/%s", here, strrchr(copy, '/') + 1), copy), 0);
    assert_true(published_load_derived(&f, folder, own, &a, &err));
    assert_int_equal(f.n, 9);
    assert_string_equal(f.items[8].id, "same");
    assert_int_equal(f.n_left_out, 2);
    assert_string_equal(f.left_out, arena_printf(&a, "loop: no recipe 'vendor-bow-pod64-bert-large-ph1-popart' in %s", own));
    unlink(copy);
    rmdir(own);
    remove_folder(folder, &a);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_batch_takes_its_samples_and_what_is_fixed), cmocka_unit_test(a_line_has_a_slope_and_an_intercept), cmocka_unit_test(an_evaluation_is_as_many_calls_as_it_needs),
    cmocka_unit_test(whole_batches_need_no_more), cmocka_unit_test(three_points_by_least_squares), cmocka_unit_test(what_makes_no_line_is_refused),
    cmocka_unit_test(a_line_is_listed_whole), cmocka_unit_test(what_is_derived_again_is_one_configuration), cmocka_unit_test(tolerances_here_are_the_aims),
    cmocka_unit_test(without_a_recipe_a_row_is_left_out),
};
TAP_MAIN(tests)
