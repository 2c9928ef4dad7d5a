/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_own_runs.c - measurements of one's own: their file, what they say of answers near them, and of the parts of a step. */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "tests/test_folder.h"
#include "results/study/own_runs.h"
#include "results/study/trust_internal.h"

#include <sys/stat.h>

/* 200 samples in a step of 0.5 s are 400/s; a step of 250 ms would be 800/s. */
static void a_step_or_a_rate(void **state)
{
    const struct result r = { .throughput_samples_per_s = 400, .step_time_s = 0.5 };
    static const char *const wrong[] = { "", "0.25", "/s", "s", "-1s", "0s", "0/s", "3m", "1.4 h", "x/s", "1e400s", "7.26k/s" };
    double rate;
    (void)state;
    assert_true(own_run_rate(&rate, "250ms", &r));
    assert_near(rate, 800, 1e-9);
    assert_true(own_run_rate(&rate, "0.25 s", &r));
    assert_near(rate, 800, 1e-9);
    assert_true(own_run_rate(&rate, "7260/s", &r));
    assert_near(rate, 7260, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(own_run_rate(&rate, wrong[i], &r));
}

static const char stock[] = "vendor-ipu-m2000-bert-base-infer-b16";

/* Saved, loaded and saved again the file is the same; a second line of a run is refused; without the file there is none. */
static void the_file(void **state)
{
    struct own_run items[] = { { .recipe = "a", .sets = "x.y=1; z.w=2", .hash = "01", .version = "v", .samples_per_s = 100, .first_predicted = 110, .first_low = 90, .first_high = 130 },
                                    { .recipe = "a", .sets = "", .hash = "02", .version = "v", .samples_per_s = 5, .first_predicted = 6, .first_low = NAN, .first_high = NAN } };
    struct own_runs runs = { .items = items, .n = 2 }, read;
    struct arena a = {0};
    struct err err = {0};
    char *text, *again;
    (void)state;
    assert_int_equal(mkdir(top, 0700), 0);
    runs.path = arena_printf(&a, "%s/m.csv", top);
    assert_true(own_runs_load(&read, runs.path, &a, &err) && read.n == 0);
    assert_true(own_runs_save(&runs, &err) && read_text_file(&text, NULL, runs.path, 4096, &a, &err));
    assert_string_equal(text, "recipe,sets,hash,version,samples_per_s,first_predicted,first_low,first_high\na,x.y=1; z.w=2,01,v,100,110,90,130\na,,02,v,5,6,,\n");
    assert_true(own_runs_load(&read, runs.path, &a, &err) && read.n == 2 && own_run_is_inside(&read.items[0]) && !own_run_is_inside(&read.items[1]));
    assert_true(own_runs_save(&read, &err) && read_text_file(&again, NULL, runs.path, 4096, &a, &err));
    assert_string_equal(again, text);
    items[1].sets = items[0].sets;
    assert_true(own_runs_save(&runs, &err));
    assert_false(own_runs_load(&read, runs.path, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s:3: a is in line 2 already; keep one of the two", runs.path));
    runs.path = arena_printf(&a, "%s/nowhere/m.csv", top);
    assert_false(own_runs_save(&runs, &err));
    arena_free(&a);
}

/* A run that was twice as slow as predicted: asked again, with no other run, 9 of 10 parts of its error are expected, as one run without an error counts, too.
 * Two that are gone, or whose values changed, do not count, and say why. */
static void a_measurement_is_a_neighbour(void **state)
{
    struct arena a = {0};
    struct err err = {0};
    struct simulator s;
    struct simulation sim;
    struct result r;
    const char *hash = NULL;
    (void)state;
    simulator_open(&s, &paths);
    assert_true(simulator_run(&s, &sim, &r, stock, NULL, 0, &err) && recipe_hash(&hash, &sim.recipe, NULL, &a, &err));
    struct own_run items[] = { { .recipe = stock, .sets = "", .hash = hash, .samples_per_s = r.throughput_samples_per_s / 2, .first_predicted = r.throughput_samples_per_s * 2 },
                                    { .recipe = "gone", .sets = "", .hash = hash, .samples_per_s = 1, .first_predicted = 1 },
                                    { .recipe = stock, .sets = "parallel.micro_batch=8", .hash = hash, .samples_per_s = 1, .first_predicted = 1 } };
    struct own_runs runs = { .items = items, .n = 3 };
    struct references own = {0};
    own_runs_reference(&own, &runs, &s, &a);
    assert_int_equal(own.n, 1);
    assert_true(own.items[0].is_own && !items[0].why_not && items[0].predicted == r.throughput_samples_per_s);
    assert_near(own.items[0].left_out, log(2), 1e-12);
    assert_near(own.items[0].first_sight, log(4), 1e-12);
    assert_non_null(strstr(items[1].why_not, "gone"));
    assert_string_equal(items[2].why_not, arena_printf(&a, "%s changed after it was measured; take the line out and measure it again", stock));
    struct distances d = {0};
    distances_find(&d, &own, &own.items[0].at, &a);
    assert_near(neighbourhood_of(&own, &d, NULL, NULL).bias, 0.9 * log(2), 1e-12);
    /* a published run at the same distance of 0, right as it was predicted, says nothing that the own one does not say of this machine */
    struct references both = { .items = (struct reference[]){ own.items[0], own.items[0] }, .n = 2 };
    struct distances of_both = {0};
    both.items[1].is_own = false, both.items[1].left_out = 0;
    distances_find(&of_both, &both, &own.items[0].at, &a);
    assert_near(neighbourhood_of(&both, &of_both, NULL, NULL).bias, 0.9 * log(2), 1e-12);
    simulation_free(&sim);
    simulator_close(&s);
    arena_free(&a);
}

/* Measured at half the rate, a step takes its own time more, so a part p of a step T would be (p + T) / p as long. At the predicted rate nothing changes. */
static void parts_that_could_carry_it(void **state)
{
    struct arena a = {0};
    struct err err = {0};
    struct simulator s;
    struct simulation sim;
    struct result r;
    double parts[N_PARTS];
    size_t largest = 0;
    (void)state;
    simulator_open(&s, &paths);
    assert_true(simulator_run(&s, &sim, &r, stock, NULL, 0, &err));
    step_breakdown(parts, &sim.timeline);
    for (size_t k = 0; k < N_PARTS; k++)
        largest = parts[k] > parts[largest] ? k : largest;
    struct own_run m = { .recipe = stock, .sets = "", .samples_per_s = r.throughput_samples_per_s / 2 };
    char *text;
    DOCUMENTED(text, own_run_explain(d, &m, &sim, &r));
    const char *line = strstr(text, part_names[largest]);
    char name[32];
    double seconds = 0, factor = 0;
    assert_true(line && sscanf(line, "%31s %lf %lf", name, &seconds, &factor) == 3);
    assert_near(factor, (parts[largest] + r.step_time_s) / parts[largest], 0.006);
    free(text);
    m.samples_per_s = r.throughput_samples_per_s;
    DOCUMENTED(text, own_run_explain(d, &m, &sim, &r));
    line = strstr(text, part_names[largest]);
    assert_true(line && sscanf(line, "%31s %lf %lf", name, &seconds, &factor) == 3 && factor == 1);
    free(text);
    simulation_free(&sim);
    simulator_close(&s);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_step_or_a_rate), cmocka_unit_test(the_file), cmocka_unit_test(a_measurement_is_a_neighbour),
                                        cmocka_unit_test(parts_that_could_carry_it) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("own_runs", tests, set_up, tear_down);
}
