/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_inputs.c - the values of a simulation, where each comes from, and what moving one of them does. */
#include "tests/study/asked.h"

/* host_latency_s counts twice in every step, and in each of its 10 micro-batches: a tenth less of 8.83 us is 12 x 0.883 us less, each rounded up to
 * a cycle. */
static void moves_are_simulated(void **state)
{
    (void)state;
    const char *recipe = "mlperf-v1.1-closed-ipu-pod16-resnet50";
    struct simulation_request q = ask(recipe, NULL, 0);
    struct simulation sim = {0};
    struct result r;
    struct explanation e;
    size_t seen = 0;
    run(&sim, &r, recipe, NULL);
    explain(&e, &sim, &r, &q, &a);
    for (size_t i = 0; i < e.moves.n; i++) {
        const struct move *m = &e.moves.items[i];
        if (i)
            assert_true(m->refused || fabs(m->relative) <= fabs(e.moves.items[i - 1].relative));
        if (!text_is(m->input->name, "machine.host_latency_s"))
            continue;
        seen++;
        assert_near(m->step_time_s - r.step_time_s, -(10 + 2 / 80.0) * 0.883e-6, 9e-9);
        assert_near(m->breakdown_s[PART_HOST] - r.breakdown_s[PART_HOST], -(10 + 2 / 80.0) * 0.883e-6, 9e-9);
        assert_string_equal(m->input->path, "system-model/specs/ipu-m2000.csv");
        assert_true(m->input->line > 1);
    }
    assert_int_equal(seen, 1);
    const struct move *top[2];
    assert_int_equal(part_inputs(top, 2, &e, PART_EXCHANGE), 2);
    assert_true(fabs(top[0]->breakdown_s[PART_EXCHANGE] - r.breakdown_s[PART_EXCHANGE])
                >= fabs(top[1]->breakdown_s[PART_EXCHANGE] - r.breakdown_s[PART_EXCHANGE]));
    simulation_free(&sim);
    arena_free(&a);
}

/* Each input once. A value of the framework has line 0 of the recipe if it is set here, else the line of the first
 * sheet that states it. */
static void inputs_say_where_they_stand(void **state)
{
    static const char *const sets[] = { "framework.session_calls=3", "framework.fetch_threads=5" };
    struct simulation sim = {0};
    struct result r;
    struct inputs in;
    size_t n_set = 0, n_said = 0;
    (void)state;
    assert_true(simulate(&sim, &r, "mlperf-v2.0-closed-bow-pod16-bert-large", sets, 2, &paths, simulator()->plans, &err));
    inputs_list(&in, &sim, &a);
    for (size_t i = 0; i < in.n; i++) {
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(in.items[i].name, in.items[k].name);
        if (strncmp(in.items[i].name, "framework.", 10) != 0)
            continue;
        const char *key = in.items[i].name + 10, *path = NULL;
        uint32_t line = 0;
        bool set = text_is(key, "session_calls") || text_is(key, "fetch_threads"), own = false;
        for (size_t k = 0; k < sim.recipe.n_framework_settings && !set; k++)
            own |= text_is(sim.recipe.framework_settings[k].key, key);
        for (size_t s = 0; s < sim.framework.n_sheets && !path; s++)
            for (size_t k = 0; k < sim.framework.sheets[s].n_rows; k++)
                if (text_is(sim.framework.sheets[s].rows[k].key, key))
                    path = sim.framework.sheets[s].path, line = sim.framework.sheets[s].rows[k].line;
        assert_string_equal(in.items[i].path, set || own || !path ? sim.recipe.path : path);
        assert_true(own ? in.items[i].line > 0 : in.items[i].line == (set ? 0 : line));
        assert_int_equal(in.items[i].on_sheet, !set && !own && path);
        assert_int_equal(in.items[i].origin, in.items[i].on_sheet && strncmp(in.items[i].source, "assumed", 7) == 0 ? ORIGIN_ASSUMED : ORIGIN_SOURCED);
        assert_true(!set || text_is(in.items[i].value, *key == 's' ? "3" : "5"));
        n_set += set;
        n_said += !set && !own && path;
    }
    assert_true(n_set == 2 && n_said > 5);
    simulation_free(&sim);
    arena_free(&a);
}

/* A time moves down by a tenth and anything else up, whole numbers by at least one. A flag is turned, a number doubled
 * and halved. If both ways are refused, the first message is shown; a zero or a name is not moved, but for I/O tiles. */
static void steps_of_a_value_by_hand(void **state)
{
    static const char *const choices[] = { "red", "green", "blue", NULL };
    static const struct field truth = { .type = FIELD_BOOL }, choice = { .type = FIELD_CHOICE, .choices = choices }, whole = { .type = FIELD_U64 },
                              number = { .type = FIELD_F64 }, text = { .type = FIELD_TEXT }, share = { .name = "available_memory", .type = FIELD_TEXT }, io_tiles = { .name = "io_tiles", .type = FIELD_U64 };
    static const struct { const char *value, *unit; const struct field *field; bool idle; const char *to; } cases[] = {
        { "3", "", NULL, false, "4" }, { "35", "", NULL, false, "39" }, { "34", "B", NULL, false, "37" }, { "7", "cycles", NULL, false, "6" },
        { "1", "cycles", NULL, false, "0" }, { "5", "s/B", NULL, false, "4" }, { "44", "s", NULL, false, "40" }, { "0", "", NULL, false, "" }, { "0.0", "s", NULL, false, "" }, { "abc", "", NULL, false, "" },
        { "2.5", "B/s", NULL, false, "2.75" }, { "2.5", "s", NULL, false, "2.25" }, { "1e3", "Hz", NULL, false, "1100" },
        { "yes", "", &truth, false, "no" }, { "no", "", &truth, false, "yes" }, { "no", "", &truth, true, "" }, { "green", "", &choice, false, "blue red" },
        { "6", "", &whole, false, "12 3" }, { "7", "", &whole, false, "14 3" }, { "1", "", &whole, false, "2" }, { "0", "", &whole, false, "" },
        { "2.5", "", &number, false, "1.25 5" }, { "0", "", &number, false, "" }, { "x", "", &text, false, "" },
        { "0.15, 0.25", "", &share, false, "0.075,0.125 0.3,0.5" }, { "0.6", "", &share, false, "0.3 1" }, { "0.6,1", "", &share, false, "0.3,0.5 1,1" },
        { "1", "", &share, false, "0.5" }, { "0.2,x", "", &share, false, "" }, { "0", "", &io_tiles, false, "32" }, { "64", "", &io_tiles, false, "128 32" },
    };
    enum { N = sizeof cases / sizeof *cases };
    struct input items[N];
    size_t n = N;
    struct inputs in = { .items = items, .n = N };
    struct simulation_request q = ask("vendor-ipu-m2000-bert-base-infer-b16", NULL, 0);
    const struct result base = { .throughput_samples_per_s = 1 };
    struct moves moves;
    (void)state;
    for (size_t i = 0; i < N; i++)
        items[i] = (struct input){ .name = arena_printf(&a, "machine.none%zu", i), .value = cases[i].value, .unit = cases[i].unit,
                                   .of_recipe = cases[i].field != NULL, .field = cases[i].field, .idle = cases[i].idle };
    q.watch = (struct watch){ count_told, &n }, n_told = 0;
    moves_try(&moves, &in, &base, &q, &a);
    assert_int_equal(n_told, N);
    for (size_t i = 0; i < N; i++) {
        const char *to = "";
        for (size_t k = 0; k < moves.n; k++)
            if (moves.items[k].input == &items[i]) {
                assert_non_null(moves.items[k].refused);
                to = arena_printf(&a, "%s%s%s", to, *to ? " " : "", moves.items[k].to);
            }
        assert_string_equal(to, cases[i].to);
    }
    arena_free(&a);
}

/* For 1 s of convolutions: the sheet values that change it by at least half a per cent, the largest first; of equals
 * the first. */
static void values_that_a_part_depends_on(void **state)
{
    static const struct input own = { .name = "parallel.own", .of_recipe = true }, sheet = { .name = "machine.sheet" };
    static const struct move moves[] = {
        { .input = &sheet, .breakdown_s = { [PART_CONV] = 0.875 } }, { .input = &own, .breakdown_s = { [PART_CONV] = 0.1 } },
        { .input = &sheet, .breakdown_s = { [PART_CONV] = 1.25 } }, { .input = &sheet, .breakdown_s = { [PART_CONV] = 0.1 }, .refused = "no" },
        { .input = &sheet, .breakdown_s = { [PART_CONV] = 1.0049 } }, { .input = &sheet, .breakdown_s = { [PART_CONV] = 0.75 } },
        { .input = &sheet, .breakdown_s = { [PART_CONV] = 1.0051 } }, { .input = &sheet, .breakdown_s = { [PART_CONV] = 1, [PART_SYNC] = 9 } },
        { .input = &sheet, .breakdown_s = { [PART_CONV] = 0.5 } },
    };
    static const size_t want[] = { 8, 2, 5, 0, 6 };
    const struct result r = { .breakdown_s = { [PART_CONV] = 1, [PART_SYNC] = 3 } };
    const struct explanation e = { .result = &r, .moves = { .items = (struct move *)moves, .n = sizeof moves / sizeof *moves } };
    (void)state;
    for (size_t room = 0; room <= 7; room++) {
        const struct move *found[7];
        size_t n = part_inputs(found, room, &e, PART_CONV);
        assert_int_equal(n, room < 5 ? room : 5);
        for (size_t i = 0; i < n; i++)
            assert_ptr_equal(found[i], &moves[want[i]]);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(moves_are_simulated), cmocka_unit_test(inputs_say_where_they_stand),
    cmocka_unit_test(steps_of_a_value_by_hand), cmocka_unit_test(values_that_a_part_depends_on),
};
TAP_MAIN(tests)
