/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_memory_record.c - a verdict on memory is as sure as the program is like those whose memory is known. */
#include "tests/check.h"
#include "tests/test_folder.h"
#include "results/simulate/memory_record.h"
#include "results/simulate/simulator.h"

#include <sys/stat.h>

#define NAMES(family, mode, workload, chip, framework) { family, mode, workload, chip, framework, "fp16", "in turn" }
static struct memory_program two_programs[] = { { "here", NAMES("bert", "train", "bert-base", "gc200", "PyTorch") },
                                                { "there", NAMES("resnet", "infer", "resnet50", "gc200", "PopRT") } };
static const struct memory_record two = { .items = two_programs, .n = 2, .spread = { .far = 0.04, .n_verdicts = 98 } };

static struct memory_doubt doubt_of(const char *family, const char *mode, const char *workload, const char *framework, const char *without_origin)
{
    const char *name[N_PROGRAM_NAMES] = NAMES(family, mode, workload, "gc200", framework);
    return memory_record_doubt(&two, name, 0.03, without_origin);
}

/* A known program has the chip's error. Another model of the family is 1 away: sqrt(0.03^2 + 0.04^2) = 0.05, and one of the 98 + 2 verdicts is left to
 * either side. With 200 bytes certain and 961 needed, ln(800 / 761) is 0.99958 deviations, 0.84124. */
static void doubt_grows_with_the_distance(void **state)
{
    const struct memory_need need = { 200, 961 };
    struct memory_doubt known = doubt_of("bert", "train", "bert-base", "pytorch", NULL), near = doubt_of("bert", "train", "bert-large", "PyTorch", NULL),
                        far = doubt_of("conformer", "train", "conformer", "PyTorch", NULL), alone = doubt_of("bert", "train", "bert-base", "PyTorch", "here");
    (void)state;
    assert_true(known.distance == 0 && known.error == 0.03 && known.least == 0);
    assert_true(near.distance == 1 && far.distance == 5);
    assert_near(near.error, 0.05, 1e-12);
    assert_near(near.least, 0.01, 1e-12);
    assert_near(far.error, sqrt(0.0009 + 0.04), 1e-12);
    assert_near(memory_doubt_probability(&near, memory_fits_probability(1000, need, near.error)), 0.01 + 0.98 * 0.84124, 1e-5);
    assert_near(alone.distance, 4 + 4 + 1 + 1, 0);          /* from the other origin: family, mode, model and framework */
    assert_string_equal(memory_doubt_reason(1), "");
    assert_string_equal(memory_doubt_reason(2), ", as the memory of no program near it is known");
}

/* Whatever is counted, away from known programs it is never certain; and the farther, the nearer to a half. */
static void nothing_unlike_is_certain(void **state)
{
    static const struct memory_need needs[] = { { 0, 1 }, { 200, 300 }, { 200, 900 }, { 200, 1100 }, { 200, 9000 }, { 1001, 1002 } };
    struct memory_program program = two_programs[0];
    struct memory_record one = { .items = &program, .n = 1, .spread = two.spread };
    (void)state;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        double before = 2;
        for (size_t unlike = 0; unlike < N_PROGRAM_NAMES; unlike++) {
            const char *name[N_PROGRAM_NAMES];
            memcpy(name, program.name, sizeof name);
            for (size_t k = 0; k < unlike; k++)
                name[k] = "another";
            const struct memory_doubt doubt = memory_record_doubt(&one, name, 0.05, NULL);
            double chance = memory_doubt_probability(&doubt, memory_fits_probability(1000, needs[i], doubt.error)), side = fabs(chance - 0.5);
            assert_true(unlike == 0 || (chance >= 0.01 && chance <= 0.99));
            assert_true(side <= before);
            before = side;
        }
    }
}

static void write_in_top(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", top, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A published outcome makes the probability 1 or 0. Another value of the recipe or of the machine, or a row that is judged, is not
 * told of it. A key that has no effect leaves the configuration the same: moments in inference, and stream copies of requests that overlap. */
static void a_published_run_is_known(void **state)
{
    static const char recipe[] = "vendor-c600-resnet50-b80-uint8-poprt", other[] = "parallel.micro_batch=81", same[] = "parallel.micro_batch=80", clock[] = "machine.clock_hz=1.5e9",
                      idle[] = "framework.moment_bytes=2", idle_in_plan[] = "framework.stream_copy_s=0.001", read[] = "framework.exchange_target=balanced";
    static const struct { const char *outcome, *set; bool judges, known; } cases[] = {
        { "ran", NULL, false, true }, { "out of memory", NULL, false, true }, { "ran", NULL, true, false }, { "ran", other, false, false }, { "ran", same, false, true },
        { "ran", clock, false, false }, { "ran", idle, false, true }, { "ran", idle_in_plan, false, true }, { "ran", read, false, false },
    };
    const struct model_paths published = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes", .data_dir = "workloads/convergence", .validity_dir = top };
    struct arena a = {0};
    struct err err = {0};
    struct recipe r;
    const char *hash;
    char *programs, *spread;
    (void)state;
    assert_true(recipe_load(&r, recipe, published.recipes_dir, NULL, 0, &a, &err) && recipe_hash(&hash, &r, NULL, &a, &err));
    PRINTED(programs, memory_programs_write(f, &two));
    PRINTED(spread, memory_spread_write(f, &two));
    write_in_top("memory-programs.csv", programs);
    write_in_top("memory-spread.csv", spread);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulator s;
        struct simulation sim;
        struct result x;
        write_in_top("memory-published.csv", arena_printf(&a, "recipe,hash,outcome\n%s,%s,%s\n", recipe, hash, cases[i].outcome));
        simulator_open(&s, &published);
        s.options.judges = cases[i].judges;
        assert_true(simulator_run(&s, &sim, &x, recipe, &cases[i].set, cases[i].set != NULL, &err));
        assert_true(!x.fits_published == !cases[i].known && x.fits_probability_counted > 0 && x.fits_probability_counted < 1);
        assert_true(cases[i].known ? text_is(x.fits_published, cases[i].outcome) && x.fits == text_is(cases[i].outcome, "ran") && x.fits_probability == x.fits
                                   : x.fits_probability == x.fits_probability_counted && x.fits == sim.plan.fits);
        simulation_free(&sim);
        simulator_close(&s);
    }
    assert_string_equal(likely_text(0.995, &a), "over 99 % likely");
    assert_string_equal(likely_text(0.9949, &a), "99 % likely");
    assert_string_equal(likely_text(0.0051, &a), "1 % likely");
    assert_string_equal(likely_text(0.0049, &a), "below 1 % likely");
    assert_string_equal(memory_chance_text("ran", 0.5, 1, &a), "it ran; by its bytes alone 50 % likely");
    assert_string_equal(memory_chance_text(NULL, 0.25, 2, &a), "25 % likely, as the memory of no program near it is known");
    free(programs);
    free(spread);
    arena_free(&a);
}

/* Nothing is known without the tables; what was written is read; one table without the other is refused, and so is an empty one. */
static void the_tables(void **state)
{
    struct arena a = {0};
    struct err err = {0};
    struct memory_record *read;
    char *programs, *spread;
    (void)state;
    assert_int_equal(mkdir(top, 0700), 0);
    PRINTED(programs, memory_programs_write(f, &two));
    PRINTED(spread, memory_spread_write(f, &two));
    assert_true(memory_record_load(&read, NULL, &a, &err) && read->n == 0 && memory_record_load(&read, top, &a, &err) && read->n == 0);
    write_in_top("memory-programs.csv", programs);
    assert_false(memory_record_load(&read, top, &a, &err));
    assert_null(read);                  /* a simulator that asks again is refused again */
    assert_string_equal(err.msg, arena_printf(&a, "%s/memory-spread.csv: is missing; remove %s/memory-programs.csv, and 'make baseline' writes both again", top, top));
    write_in_top("memory-spread.csv", "far,n_verdicts\n");
    assert_false(memory_record_load(&read, top, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s/memory-spread.csv: 0 rows, want one; 'make baseline' writes it", top));
    write_in_top("memory-spread.csv", spread);
    assert_true(memory_record_load(&read, top, &a, &err) && read->n == 2 && read->spread.far == 0.04 && read->spread.n_verdicts == 98);
    assert_string_equal(read->items[1].origin, "there");
    assert_near(program_names_apart(read->items[1].name, two_programs[1].name), 0, 0);
    free(programs);
    free(spread);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(doubt_grows_with_the_distance), cmocka_unit_test(nothing_unlike_is_certain), cmocka_unit_test(the_tables),
                                        cmocka_unit_test(a_published_run_is_known) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("memory_record", tests, set_up, tear_down);
}
