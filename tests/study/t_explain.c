/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_explain.c - costs and waterfall add up; causes are checked by hand where they are known. */
#include "tests/study/asked.h"
#include "system-model/graph/graph.h"

#include <jansson.h>

/* The tree's parts are those of the breakdown, and every node is the sum of its children. */
static void check_tree(const struct simulation *sim, const struct result *r)
{
    struct cost tree;
    double seconds[N_PARTS] = {0};
    cost_tree_build(&tree, &sim->timeline, &a);
    assert_null(cost_tree_wrong(&tree));
    for (size_t i = 0; i < tree.n_children; i++)
        seconds[tree.children[i].part] = cost_seconds(&tree.children[i], &sim->timeline);
    for (int k = 0; k < N_PARTS; k++)
        assert_near(seconds[k], r->breakdown_s[k], 1e-12 * r->step_time_s);
    assert_near(cost_seconds(&tree, &sim->timeline), r->step_time_s, 1e-12 * r->step_time_s);
}

static void check_waterfall(const struct simulation *sim, const struct result *r)
{
    struct waterfall w;
    waterfall_build(&w, &sim->timeline);
    uint64_t at = 0;
    for (size_t i = 0; i + 1 < w.n; i++) {
        assert_int_equal(w.items[i].from_ipu_cycles, at);
        assert_true(w.items[i].to_ipu_cycles > at);             /* nothing is faster than the ideal */
        at = w.items[i].to_ipu_cycles;
    }
    assert_int_equal(w.items[w.n - 1].to_ipu_cycles, at);
    assert_int_equal(at, sim->timeline.step_cycles * timeline_ipus(&sim->timeline));
    if (sim->recipe.mode == MODE_TRAIN && sim->plan.model_mac > 0)
        assert_near((double)w.items[0].to_ipu_cycles / (double)at, r->mfu, 1e-6 + 1e-4 * r->mfu);        /* whole cycles */
}

static void every_recipe_adds_up(void **state)
{
    (void)state;
    char **ids;
    size_t n;
    assert_true(list_folder(&ids, &n, paths.recipes_dir, ".ini", &a, &err));
    assert_true(n > 100);
    for (size_t i = 0; i < n; i++) {
        struct simulation sim = {0};
        struct result r = {0};
        run(&sim, &r, ids[i], NULL);
        check_tree(&sim, &r);
        check_waterfall(&sim, &r);
        simulation_free(&sim);
    }
    arena_free(&a);
}

/* A slow chip, and every replica played: the same laws. */
static void odd_timelines_add_up(void **state)
{
    (void)state;
    struct simulation sim = {0};
    struct result r = {0};
    run(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", "faults.chip=3 1.5");
    check_tree(&sim, &r);
    simulation_free(&sim);
    run(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", "precision.compute=fp32");       /* the ideal is at the rate of the type that is multiplied */
    check_waterfall(&sim, &r);
    simulation_free(&sim);
    arena_free(&a);
}

/* Preparing the input multiplies nothing: without it, the only convolution of a vision transformer is the first operation. */
static void the_first_operation_counts(void **state)
{
    (void)state;
    struct simulation sim = {0};
    struct result r = {0};
    struct waterfall w, first;
    run(&sim, &r, "vendor-c600-vit-b16-b32-poprt", "recipe.mode=infer");     /* no gradients, which refer to their operation by index */
    struct graph graph = *sim.plan.graph;
    struct plan plan = sim.plan;
    struct timeline timeline = sim.timeline;
    assert_int_equal(op_mac(&graph, &graph.ops[0]), 0);
    graph.ops++;
    graph.n_ops--;
    assert_int_equal(graph.ops[0].kind, OP_CONV);
    plan.graph = &graph;
    timeline.plan = &plan;
    waterfall_build(&w, &sim.timeline);
    waterfall_build(&first, &timeline);
    for (size_t i = 0; i < w.n; i++)
        assert_int_equal(first.items[i].to_ipu_cycles, w.items[i].to_ipu_cycles);
    simulation_free(&sim);
    arena_free(&a);
}

static const struct cost *named(const struct cost *c, const char *name)
{
    for (size_t i = 0; i < c->n_children; i++)
        if (text_is(c->children[i].name, name))
            return &c->children[i];
    return NULL;
}

/* Without recomputation that phase is gone, and nothing else of matmuls changes. */
static void recomputation_is_told_apart(void **state)
{
    (void)state;
    struct cost with, without;
    struct simulation x = {0}, y = {0};
    struct result r;
    run(&x, &r, "mlperf-v2.0-closed-bow-pod16-bert-large", NULL);
    run(&y, &r, "mlperf-v2.0-closed-bow-pod16-bert-large", "parallel.recompute=none");
    cost_tree_build(&with, &x.timeline, &a);
    cost_tree_build(&without, &y.timeline, &a);
    const struct cost *m = named(&with, "matmul"), *n = named(&without, "matmul");
    assert_non_null(named(m, "recomputation"));
    assert_null(named(n, "recomputation"));
    assert_int_equal(named(m, "forward")->ipu_cycles, named(n, "forward")->ipu_cycles);
    assert_int_equal(named(m, "backward")->ipu_cycles, named(n, "backward")->ipu_cycles);
    simulation_free(&x);
    simulation_free(&y);
    arena_free(&a);
}

/* A layer in two slices is recomputed like one in eight; a whole layer is not. */
static void slices_are_computed_again(void **state)
{
    static const struct { const char *set; bool again; } cases[] = {
        { "parallel.joint_slices=1", false }, { "parallel.joint_slices=2", true }, { "parallel.joint_slices=8", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulation sim = {0};
        struct result r;
        struct cost tree;
        bool again = false;
        const char *const sets[] = { cases[i].set, "parallel.recompute=none" };
        assert_true(simulate(&sim, &r, "prediction-ipu-pod16-rnnt", sets, 2, &paths, simulator()->plans, &err));
        cost_tree_build(&tree, &sim.timeline, &a);
        for (size_t k = 0; k < tree.n_children; k++)
            again |= named(&tree.children[k], "recomputation") != NULL;
        assert_int_equal(again, cases[i].again);
        simulation_free(&sim);
    }
    arena_free(&a);
}

static struct bound bound_of(const char *recipe, const char *override)
{
    struct simulation sim = {0};
    struct result r;
    struct cost tree;
    struct bound b;
    run(&sim, &r, recipe, override);
    cost_tree_build(&tree, &sim.timeline, &a);
    bound_find(&b, &sim, &tree);
    simulation_free(&sim);
    return b;
}

static void bounds_are_named(void **state)
{
    (void)state;
    const char *resnet = "mlperf-v1.1-closed-ipu-pod16-resnet50", *bert = "mlperf-v2.0-closed-bow-pod16-bert-large";
    struct bound b = bound_of(resnet, NULL);
    assert_int_equal(b.class, CLASS_COMPUTE);
    assert_int_equal(b.part->part, PART_CONV);
    assert_false(b.memory || b.host_input);
    b = bound_of(resnet, "hosts.decode_bytes_per_s=1e8");
    assert_true(b.host_input);
    assert_int_equal(b.class, CLASS_HOST);
    b = bound_of(resnet, "parallel.micro_batch=60");
    assert_true(b.memory);
    /* rungs carry as much or more, three times as fast as rails */
    b = bound_of(bert, "machine.link_bytes_per_s=1e8");
    assert_int_equal(b.class, CLASS_LINKS);
    assert_string_equal(b.link, "rail");
    b = bound_of(resnet, "machine.link_bytes_per_s=1e7");      /* with one stage there is only the all-reduce */
    assert_true(b.class == CLASS_LINKS && b.part->part == PART_ALL_REDUCE);
    assert_string_equal(b.link, "rail");
    b = bound_of("mlperf-v2.0-closed-bow-pod256-resnet50", "machine.gateway_bytes_per_s=1e7");
    assert_true(b.class == CLASS_LINKS && b.part->part == PART_ALL_REDUCE);
    assert_string_equal(b.link, "gateway");
    b = bound_of(bert, "machine.exchange_bytes_per_cycle=1");
    assert_int_equal(b.class, CLASS_EXCHANGE);
    assert_true(b.most_waiting_share > b.least_waiting_share);
    arena_free(&a);
}

/* The bound is named as deep as the tree goes. */
static void bounds_end_where_the_tree_does(void **state)
{
    struct cost operation = { .name = "operation" }, phase = { .name = "phase", .children = &operation };
    struct cost part = { .part = PART_CONV, .children = &phase };
    struct simulation sim = {0};
    struct result r;
    (void)state;
    run(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", NULL);
    for (size_t depth = 0; depth < 4; depth++) {
        struct bound b;
        part.n_children = depth > 1;
        phase.n_children = depth > 2;
        bound_find(&b, &sim, &(struct cost){ .children = &part, .n_children = depth > 0 });
        assert_ptr_equal(b.part, depth > 0 ? &part : NULL);
        assert_ptr_equal(b.phase, depth > 1 ? &phase : NULL);
        assert_ptr_equal(b.operation, depth > 2 ? &operation : NULL);
    }
    simulation_free(&sim);
    arena_free(&a);
}

/* Data sent in the last slot of every cycle counts like data in the first. Rungs are three times as fast as rails: 31
 * MB over rungs take longer than 10 MB over rails, 29 MB do not. If nothing is sent, no link is busy. */
static void copies_of_every_slot_count(void **state)
{
    static const struct { double rung_bytes, rail_bytes; const char *link; } cases[] = { { 31e6, 10e6, "rung" }, { 29e6, 10e6, "rail" }, { 0, 0, NULL } };
    struct simulation sim = {0};
    struct result r;
    struct cost tree;
    struct bound b;
    (void)state;
    run(&sim, &r, "vendor-bow-pod16-bert-large-ph1-tf1", "machine.link_bytes_per_s=1e7");
    cost_tree_build(&tree, &sim.timeline, &a);
    const uint32_t n_slots = sim.plan.n_slots;
    assert_true(n_slots > 1);
    struct pipeline_run *runs = ARENA_ARRAY(&a, struct pipeline_run, sim.plan.n_runs);
    memcpy(runs, sim.plan.runs, sim.plan.n_runs * sizeof *runs);
    sim.plan.runs = runs;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t k = 0; k < sim.plan.n_runs; k++) {
            runs[k].copies = ARENA_ARRAY(&a, struct stage_copy, n_slots);
            runs[k].copies[n_slots - 1].busiest_bytes[LINK_RUNG] = cases[i].rung_bytes;
            runs[k].copies[n_slots - 1].busiest_bytes[LINK_RAIL] = cases[i].rail_bytes;
        }
        bound_find(&b, &sim, &tree);
        assert_int_equal(b.part->part, PART_STAGE_COPY);
        assert_true(b.link && cases[i].link ? text_is(b.link, cases[i].link) : !b.link && !cases[i].link);
    }
    simulation_free(&sim);
    arena_free(&a);
}

/* A cut link is not the slowest: its data goes over rails. */
static void a_cut_link_is_not_the_busiest(void **state)
{
    static const char *const sets[] = { "machine.link_bytes_per_s=1e7", "faults.link=0-1 0" };
    struct simulation sim = {0};
    struct result r;
    struct cost tree;
    struct bound b;
    (void)state;
    assert_true(simulate(&sim, &r, "mlperf-v1.1-closed-ipu-pod16-resnet50", sets, 2, &paths, simulator()->plans, &err));
    cost_tree_build(&tree, &sim.timeline, &a);
    bound_find(&b, &sim, &tree);
    assert_int_equal(b.part->part, PART_ALL_REDUCE);
    assert_string_equal(b.link, "rail");
    simulation_free(&sim);
    arena_free(&a);
}

static void an_explanation_as_text(void **state)
{
    struct simulation sim = {0};
    struct result r = {0};
    struct simulation_request q = ask("vendor-ipu-pod16-resnet50-pipelined", NULL, 0);
    struct explanation e;
    char *text;
    (void)state;
    run(&sim, &r, q.recipe, NULL);
    explain(&e, &sim, &r, &q, &a);
    PRINTED(text, explain_write(f, FORMAT_TEXT, &e));
    assert_golden(text, "tests/golden/explain_pipelined.txt", &a);
    free(text);
    simulation_free(&sim);
    arena_free(&a);
}

/* A step of 1000 cycles on three IPUs: the second waits least, the third most; of equals the first counts. The largest
 * class on the IPU that waits least is named, by its largest part. */
static void the_bound_by_hand(void **state)
{
    struct cost operations[] = { { .name = "o", .part = PART_EXCHANGE, .ipu_cycles = 7 } },
                phases[] = { { .name = "p", .part = PART_EXCHANGE, .ipu_cycles = 9, .children = operations, .n_children = 1 } },
                parts[] = { { .name = "conv", .part = PART_CONV, .ipu_cycles = 11 },
                            { .name = "exchange", .part = PART_EXCHANGE, .ipu_cycles = 9, .children = phases, .n_children = 1 },
                            { .name = "norm", .part = PART_NORM, .ipu_cycles = 5 }, { .name = "host", .part = PART_HOST, .ipu_cycles = 2 } };
    const struct cost tree = { .children = parts, .n_children = 4 };
    struct timeline_row rows[] = {
        { .ipu = 4, .n_alike = 1, .spent.part = { [PART_BUBBLE] = 300, [PART_CONV] = 400, [PART_EXCHANGE] = 300 } },
        { .ipu = 7, .n_alike = 1, .spent.part = { [PART_BUBBLE] = 100, [PART_CONV] = 250, [PART_NORM] = 150, [PART_EXCHANGE] = 500 } },
        { .ipu = 9, .n_alike = 1, .spent.part = { [PART_BUBBLE] = 350, [PART_CONV] = 650 } },
        { .ipu = 2, .n_alike = 1, .spent.part = { [PART_BUBBLE] = 350, [PART_CONV] = 650 } },
        { .ipu = 3, .n_alike = 1, .spent.part = { [PART_BUBBLE] = 100, [PART_CONV] = 900 } },
    };
    struct simulation sim = { .plan = { .fits = true, .host_floor_cycles = 999 }, .timeline = { .step_cycles = 1000, .rows = rows, .n_rows = 5 } };
    struct bound b;
    (void)state;
    bound_find(&b, &sim, &tree);
    assert_true(b.class == CLASS_EXCHANGE && b.part == &parts[1] && b.phase == &phases[0] && b.operation == &operations[0]);
    assert_true(b.ipu == 7 && b.idlest_ipu == 9 && !b.memory && !b.host_input && !b.link);
    assert_near(b.class_share, 0.5, 0);
    assert_near(b.least_waiting_share, 0.1, 0);
    assert_near(b.most_waiting_share, 0.35, 0);
    rows[1].spent.part[PART_NORM]++;            /* 401 of two parts are more than 400 of one: that much less is sent */
    rows[1].spent.part[PART_EXCHANGE] = 400;
    bound_find(&b, &sim, &tree);
    assert_true(b.class == CLASS_COMPUTE && b.part == &parts[0] && !b.phase && !b.operation);
    assert_near(b.class_share, 0.401, 1e-15);
    rows[1].spent.part[PART_EXCHANGE]++;        /* the first of equal classes */
    bound_find(&b, &sim, &tree);
    assert_int_equal(b.class, CLASS_COMPUTE);
    sim.plan.fits = false, sim.plan.host_floor_cycles = 1000;
    bound_find(&b, &sim, &tree);
    assert_true(b.memory && b.host_input && b.class == CLASS_HOST && b.part == &parts[3] && !b.phase);
}

/* IPU 2 of replica 3 takes 402 of 1000 cycles longer than a sound one, counted with its bubble: it waits 48, less than
 * the others. The slow chip is the bound only if that is more than the largest class. */
static void a_slow_chip_is_the_bound(void **state)
{
    struct cost part = { .name = "conv", .part = PART_CONV, .ipu_cycles = 11 };
    const struct cost tree = { .children = &part, .n_children = 1 };
    struct timeline_row rows[] = {
        { .replica = 0, .ipu = 1, .n_alike = 1, .spent.part = { [PART_BUBBLE] = 300, [PART_CONV] = 700 } },
        { .replica = 3, .ipu = 2, .n_alike = 1, .spent.part = { [PART_BUBBLE] = 450, [PART_CONV] = 401, [PART_EXCHANGE] = 149 }, .slow_cycles = 402 },
    };
    struct simulation sim = { .plan = { .fits = true, .request.ipus_per_replica = 5 }, .timeline = { .step_cycles = 1000, .rows = rows, .n_rows = 2 } };
    struct bound b;
    (void)state;
    bound_find(&b, &sim, &tree);
    assert_true(b.slow_chip && !b.part && b.ipu == 2 && b.ipu_of_machine == 17 && b.idlest_ipu == 1);
    assert_near(b.class_share, 0.402, 1e-15);
    assert_near(b.least_waiting_share, 0.048, 1e-15);
    assert_near(b.most_waiting_share, 0.3, 1e-15);
    rows[1].spent.part[PART_CONV] = 402;
    bound_find(&b, &sim, &tree);
    assert_true(!b.slow_chip && b.class == CLASS_COMPUTE && b.part == &part);
    sim.plan.host_floor_cycles = 1000;
    rows[1].slow_cycles = 403;
    bound_find(&b, &sim, &tree);
    assert_true(b.host_input && b.class == CLASS_HOST && !b.part);
}

/* The slower of two slow chips is named, in both formats. */
static void a_slow_chip_is_named(void **state)
{
    static const char *const sets[] = { "faults.chip1=2 1.5", "faults.chip2=5 3" };
    struct simulation sim = {0};
    struct result r;
    struct simulation_request q = ask("mlperf-v1.1-closed-ipu-pod16-resnet50", sets, 2);
    struct explanation e;
    char *text;
    (void)state;
    assert_true(simulate(&sim, &r, q.recipe, sets, 2, &paths, simulator()->plans, &err));
    explain(&e, &sim, &r, &q, &a);
    PRINTED(text, explain_write(f, FORMAT_TEXT, &e));
    assert_non_null(strstr(text, "\nbound by a slow chip, IPU 5 of the machine\n  IPU 0 of a replica waits least: 0 % of its step; it spends 6"));
    assert_non_null(strstr(text, " % on what it takes longer; IPU 0 of others waits 6"));
    free(text);
    json_t *json = explained_json(&e), *bound = json_object_get(json, "bound");
    assert_string_equal(json_string_value(json_object_get(bound, "by")), "a slow chip");
    json_decref(json);
    simulation_free(&sim);
    arena_free(&a);
}

/* The lines from the first that contains `what`. */
static const char *lines_from(const char *text, const char *what, int n_lines)
{
    const char *from = strstr(text, what), *to = from;
    assert_non_null(from);
    while (from > text && from[-1] != '\n')
        from--;
    for (int i = 0; i < n_lines; i++)
        to = strchr(to, '\n') + 1;
    return arena_printf(&a, "%.*s", (int)(to - from), from);
}

/* With the moves of what_helps_by_hand: only those of the machine fit, or none. */
static void fewer_that_fit(struct explanation *e, struct move *moves, const struct input *sheet)
{
    char *text;
    moves[4].fits = moves[6].fits = moves[7].fits = false;      /* only the machine's, in either order */
    PRINTED(text, explain_write(f, FORMAT_TEXT, e));
    assert_non_null(strstr(text, "makes it fit with one change: machine.sheet 2 -> 40, at -20.0 % time"));
    free(text);
    moves[3].relative = 0.3;
    PRINTED(text, explain_write(f, FORMAT_TEXT, e));
    assert_non_null(strstr(text, "makes it fit with one change: machine.sheet 2 -> 30, at +10.0 % time"));
    free(text);
    e->moves.n = 3;
    PRINTED(text, explain_write(f, FORMAT_TEXT, e));
    assert_non_null(strstr(text, "  no change of a single value makes it fit; 'podbench run' tries combinations\n"));
    assert_null(strstr(text, "in the machine"));
    free(text);
    moves[0] = (struct move){ sheet, "40", NULL, true, 0.75, 0, -0.00052, { 0 }, 0, 0 };      /* a twentieth of a per cent is not shown, slightly more is */
    PRINTED(text, explain_write(f, FORMAT_TEXT, e));
    assert_string_equal(lines_from(text, "in the machine", 1), "  helps most in the machine: machine.sheet 2 -> 40 saves 0.1 % of the time per sample\n");
    free(text);
}

/* Two regions, the larger first; an empty third is not shown. */
static void a_tile_of_two_regions(struct explanation *e, struct simulation *sim)
{
    const struct tile_memory *counted = sim->plan.memory, tile = { .bytes = { [MEMORY_CONTROL_CODE] = 7, [MEMORY_TEMPORARIES] = 31 }, .total_bytes = 38 };
    char *text;
    sim->plan.memory = &tile;
    PRINTED(text, explain_write(f, FORMAT_TEXT, e));
    assert_string_equal(lines_from(text, "memory of the fullest", 1),
                        "  memory of the fullest tile, IPU 0: 38 B of 639 kB: temporaries 31 B, control code 7 B\n");
    free(text);
    sim->plan.memory = counted;
}

/* Moves of made-up values of the recipe, of the machine, and of data, task and measurement, which are not to be
 * changed: 300, 250, ... us less per sample. */
static void what_helps_by_hand(void **state)
{
    static const struct input own = { .name = "parallel.own", .value = "1", .unit = "", .of_recipe = true },
                              sheet = { .name = "machine.sheet", .value = "2", .unit = "", .path = "here", .line = 5 },
                              data = { .name = "data.set", .value = "3", .unit = "", .of_recipe = true },
                              task = { .name = "training.task", .value = "4", .unit = "", .of_recipe = true },
                              measured = { .name = "hosts.timed_steps", .value = "6", .unit = "", .of_recipe = true };
    struct move moves[] = {
        { &own, "70", "no", true, 0.5, 0, -0.5, { 0 }, 0, 0 }, { &data, "90", NULL, true, 0.6, 0, -0.4, { 0 }, 0, 0 }, { &own, "50", NULL, false, 0.7, 0, -0.3, { 0 }, 0, 0 },
        { &sheet, "40", NULL, true, 0.75, 0, -0.2, { 0 }, 0, 0 }, { &own, "60", NULL, true, 0.875, 0, -0.1, { 0 }, 0, 0 }, { &sheet, "30", NULL, true, 1.125, 0, 0.1, { 0 }, 0, 0 },
        { &own, "80", NULL, true, 1, 0, -0.00051, { 0 }, 0, 0 }, { &own, "20", NULL, true, 1, 0, -0.0005, { 0 }, 0, 0 }, { &task, "95", NULL, true, 0.5, 0, -0.9, { 0 }, 0, 0 },
        { &measured, "97", NULL, true, 0.5, 0, -0.8, { 0 }, 0, 0 },
    };
    struct simulation sim = {0};
    struct result r = {0};
    struct simulation_request q = ask("vendor-ipu-m2000-bert-base-infer-b16", NULL, 0);
    struct explanation e;
    char *text;
    (void)state;
    run(&sim, &r, q.recipe, NULL);
    explain(&e, &sim, &r, &q, &a);
    r.step_time_s = 1;
    e.moves = (struct moves){ .items = moves, .n = 10 };
    a_tile_of_two_regions(&e, &sim);
    e.bound.least_waiting_share = 0.7448, e.bound.most_waiting_share = 0.7488, e.bound.class_share = 0.62;
    PRINTED(text, explain_write(f, FORMAT_TEXT, &e));
    assert_string_equal(lines_from(text, "of a replica waits", 1), "  IPU 0 of a replica waits least: 74 % of its step; it spends 62 % on compute\n");
    assert_string_equal(lines_from(text, "helps most", 2), "  helps most in the recipe: parallel.own 1 -> 60 saves 10.0 % of the time per sample\n"
                                                           "  helps most in the machine: machine.sheet 2 -> 40 saves 20.0 % of the time per sample\n");
    assert_string_equal(strstr(text, "\none value changed"),
        "\none value changed, simulated again  time per sample     step\n"
        "  parallel.own 1 -> 50                      -30.0 %  -300 ms  does not fit\n"
        "  machine.sheet 2 -> 40                     -20.0 %  -250 ms\n"
        "  parallel.own 1 -> 60                      -10.0 %  -125 ms\n"
        "  parallel.own 1 -> 80                       -0.1 %  +0.00 s\n");
    assert_null(strstr(text, "makes it fit"));
    assert_null(strstr(text, "not said by the recipe"));
    free(text);
    moves[4].ipus = r.ipus + 1;                 /* more IPUs are no better recipe */
    PRINTED(text, explain_write(f, FORMAT_TEXT, &e));
    assert_string_equal(lines_from(text, "helps most", 2), "  helps most in the recipe: parallel.own 1 -> 80 saves 0.1 % of the time per sample\n"
                                                           "  on more IPUs: parallel.own 1 -> 60 saves 10.0 % of the time per sample\n");
    moves[4].ipus = 0;
    free(text);
    /* A model that does not fit is helped by moves that do not fit either; of those that make it fit, the recipe's
     * fastest is named. */
    r.fits = false, r.memory_shortfall_bytes_per_tile = 77;
    e.bound.memory = true, e.bound.most_waiting_share = 0.75, e.bound.idlest_ipu = 3;
    PRINTED(text, explain_write(f, FORMAT_TEXT, &e));
    assert_non_null(strstr(text, "bound by memory: the fullest tile lacks 77 bytes; if it had them, bound by compute: "));
    assert_non_null(strstr(text, "it spends 62 % on compute; IPU 3 waits 75 %\n"));
    assert_string_equal(lines_from(text, "makes it fit", 3),
        "  makes it fit with one change: parallel.own 1 -> 60, at -10.0 % time per sample\n"
        "  helps most in the recipe: parallel.own 1 -> 50 saves 30.0 % of the time per sample\n"
        "  helps most in the machine: machine.sheet 2 -> 40 saves 20.0 % of the time per sample\n");
    free(text);
    fewer_that_fit(&e, moves, &sheet);
    simulation_free(&sim);
    arena_free(&a);
}

/* The largest move of each value on a framework's sheet, from 1 % on, slower or faster; values that the recipe gives
 * are left out. */
static void what_a_recipe_leaves_to_a_sheet(void **state)
{
    static const struct input own = { .name = "framework.own", .value = "1", .of_recipe = true },
                              sheet = { .name = "machine.sheet", .value = "2", .path = "here", .line = 5, .on_sheet = true },
                              left = { .name = "framework.left", .value = "3", .path = "there", .line = 6, .of_recipe = true, .on_sheet = true },
                              also = { .name = "framework.also", .value = "4", .path = "there", .line = 7, .of_recipe = true, .on_sheet = true },
                              first = { .name = "framework.first", .value = "6", .path = "there", .line = 9, .of_recipe = true, .on_sheet = true },
                              same = { .name = "framework.same", .value = "5", .path = "there", .line = 8, .of_recipe = true, .on_sheet = true };
    struct move moves[] = {
        { &first, "60", NULL, true, 0.4, 0, -0.6, { 0 }, 0, 0 }, { &own, "70", NULL, true, 0.5, 0, -0.5, { 0 }, 0, 0 }, { &sheet, "80", NULL, true, 0.6, 0, -0.4, { 0 }, 0, 0 }, { &left, "50", NULL, true, 1.3, 0, 0.3, { 0 }, 0, 0 },
        { &left, "51", NULL, true, 0.8, 0, -0.2, { 0 }, 0, 0 }, { &also, "40", NULL, false, 0.99, 0, -0.01, { 0 }, 0, 0 }, { &same, "30", NULL, true, 1, 0, 0.0099, { 0 }, 0, 0 },
        { &same, "20", "no", true, 1, 0, 0.7, { 0 }, 0, 0 },
    };
    struct simulation sim = {0};
    struct result r = {0};
    struct simulation_request q = ask("vendor-ipu-m2000-bert-base-infer-b16", NULL, 0);
    struct explanation e;
    char *text;
    (void)state;
    run(&sim, &r, q.recipe, NULL);
    explain(&e, &sim, &r, &q, &a);
    e.moves = (struct moves){ .items = moves, .n = 8 };
    e.inputs = (struct inputs){ .items = (struct input[]){ own, sheet, left }, .n = 3 };
    PRINTED(text, explain_write(f, FORMAT_TEXT, &e));
    assert_string_equal(strstr(text, "\nnot said"), "\nnot said by the recipe: as the framework's sheet has it, and the most that another value would do\n"
                                                    "  framework.first = 6; 60: -60.0 % (there:9)\n"
                                                    "  framework.left = 3; 50: +30.0 % (there:6)\n"
                                                    "  framework.also = 4; 40: -1.0 % (there:7)\n");
    free(text);
    json_t *json = explained_json(&e), *framework = json_object_get(json, "framework");
    assert_int_equal(json_array_size(framework), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(framework, 0), "name")), "framework.own");
    assert_string_equal(json_string_value(json_object_get(json_array_get(framework, 0), "origin")), "recipe");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(framework, 1), "line")), 6);
    json_decref(json);
    simulation_free(&sim);
    arena_free(&a);
}

/* The largest number of items. */
static void a_whole_waterfall_as_json(void **state)
{
    struct simulation sim = {0};
    struct result r = {0};
    struct simulation_request q = ask("vendor-ipu-m2000-bert-base-infer-b16", NULL, 0);
    struct explanation e;
    (void)state;
    run(&sim, &r, q.recipe, NULL);
    explain(&e, &sim, &r, &q, &a);
    e.waterfall.n = MAX_WATERFALL;
    for (size_t i = 0; i < MAX_WATERFALL; i++)
        e.waterfall.items[i] = (struct waterfall_item){ "item", 3 * i, 7 * i };
    json_t *json = explained_json(&e), *items = json_object_get(json, "waterfall"), *last = json_array_get(items, MAX_WATERFALL - 1);
    assert_int_equal(json_array_size(items), MAX_WATERFALL);
    assert_int_equal(json_integer_value(json_object_get(last, "to_ipu_cycles")), 7 * (MAX_WATERFALL - 1));
    assert_near(json_number_value(json_object_get(last, "from_s")) / json_number_value(json_object_get(last, "to_s")), 3.0 / 7, 1e-12);
    json_decref(json);
    simulation_free(&sim);
    arena_free(&a);
}

/* Every part has its bound and its formula. */
static void every_part_has_its_formula(void **state)
{
    (void)state;
    for (int k = 0; k < N_PARTS; k++)
        if (!cost_formulas[k])
            assert_string_equal(part_names[k], "has a formula");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_recipe_adds_up), cmocka_unit_test(odd_timelines_add_up), cmocka_unit_test(the_first_operation_counts),
    cmocka_unit_test(recomputation_is_told_apart), cmocka_unit_test(slices_are_computed_again), cmocka_unit_test(bounds_are_named),
    cmocka_unit_test(bounds_end_where_the_tree_does), cmocka_unit_test(copies_of_every_slot_count), cmocka_unit_test(a_cut_link_is_not_the_busiest),
    cmocka_unit_test(an_explanation_as_text),
    cmocka_unit_test(the_bound_by_hand), cmocka_unit_test(a_slow_chip_is_the_bound), cmocka_unit_test(a_slow_chip_is_named),
    cmocka_unit_test(what_helps_by_hand), cmocka_unit_test(what_a_recipe_leaves_to_a_sheet),
    cmocka_unit_test(a_whole_waterfall_as_json), cmocka_unit_test(every_part_has_its_formula),
};

TAP_MAIN(tests)
