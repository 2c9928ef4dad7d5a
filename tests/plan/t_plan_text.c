/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_plan_text.c - plans as text: stages, splits, verdicts, schedules.
 */
#include "system-model/output/output.h"
#include "tests/planned.h"
#include "system-model/graph/graph.h"
#include "tests/golden_text.h"
#include "tests/odd_machine.h"
#include "results/simulate/split.h"

static const char bert[] = "mlperf-v1.1-closed-ipu-pod16-bert-large", resnet[] = "mlperf-v1.1-closed-ipu-pod16-resnet50";

/* A convolution and an addition in two stages on two IPUs, eight micro-batches: every part of the texts of its plan and its timeline. */
static void a_plan_as_text(void **state)
{
    (void)state;
    struct planned y;
    struct graph g;
    struct compiler c;
    struct plan p;
    struct timeline t;
    struct machine m = odd_machine();
    struct topology links;
    char *text;
    start(&y, "vendor-ipu-pod16-resnet50-pipelined");
    assert_true(topology_build(&links, &m, NULL, &y.sim.arena, &y.err));
    graph_start(&g, "unit", 2, &y.sim.arena);
    struct op_attributes at = { .kernel_h = 3, .kernel_w = 3, .pad = 1, .stride = 1, .groups = 1 };
    uint32_t x = NO_ID;
    for (uint32_t i = 0; i < 2; i++) {
        graph_layer(&g, (struct layer){ .name = i ? "second" : "first", .role = LAYER_BODY, .block_id = i, .n_parts = 1 });
        x = i ? x : graph_tensor(&g, "x", ROLE_INPUT, TYPE_FP16, 4, (uint64_t[]){ 2, 8, 8, 24 });
        uint32_t w = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 4, (uint64_t[]){ 3, 3, 24, 24 });
        x = graph_op(&g, OP_ADD, (uint32_t[]){ x, graph_op(&g, OP_CONV, (uint32_t[]){ x, w }, 2, at) }, 2, (struct op_attributes){0});
    }
    graph_op(&g, OP_VIEW, &x, 1, (struct op_attributes){ .view = { 16, 192 } });        /* costs nothing */
    graph_add_backward(&g);
    compiler_start(&c, &g, &links, &y.cache, &y.sim.arena);
    struct plan_request o = y.opt;
    fix_constants(&o);
    o.n_replicas = 6;
    o.ipus_per_replica = 2;
    o.grad_accum = 8;
    sizes(&o, (const uint32_t[][2]){ { 1, 1 }, { 1, 1 } }, 2);
    if (!plan_build(&p, &c, &o, &y.sim.arena, &y.err))
        print_error("%s\n", y.err.msg);
    assert_true(timeline_run(&t, &p, &y.sim.arena, &y.err));
    PRINTED(text, PRINT_DOCUMENT(f, plan_document(d, &p, true); timeline_document(d, &t, true)); timeline_write_csv(f, &t));
    assert_golden(text, "tests/golden/plan_unit.txt", &y.sim.arena);
    free(text);
    stop(&y);
}

/* A product's split is printed after its operation: parts by dimension, and the number of serial steps, if there are any. */
static void splits_as_text(void **state)
{
    static const struct { uint32_t serial_in, serial_out; const char *text; } rows[] = {
        { 1, 1, " b2 f3 k5 g7 i11 o13\n" }, { 17, 1, " b2 f3 k5 g7 i11 o13 serial i17 o1\n" }, { 1, 19, " b2 f3 k5 g7 i11 o13 serial i1 o19\n" },
    };
    struct planned y;
    (void)state;
    start(&y, resnet);
    struct plan p = y.sim.plan;
    struct compiled made = *p.stages[0].compiled;
    struct op_plan op = *made.op_plans[0];
    const struct op_plan **plans = ARENA_ARRAY(&y.sim.arena, const struct op_plan *, p.graph->n_ops);
    for (size_t i = 0; i < p.graph->n_ops; i++)
        plans[i] = &op;
    made.op_plans = plans;
    p.stages[0].compiled = &made;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text;
        op.split = (struct conv_split){ .batch = 2, .field = 3, .kernel = 5, .conv_groups = 7, .in_chans = 11, .out_chans = 13,
                                        .serial_in = rows[i].serial_in, .serial_out = rows[i].serial_out };
        DOCUMENTED(text, plan_document(d, &p, true));
        assert_non_null(strstr(text, rows[i].text));
        free(text);
    }
    stop(&y);
}

/* A plan begins with what is only roughly known, and says of its memory what is free, or what is too much, and where. */
static void verdicts_as_text(void **state)
{
    struct planned y;
    char *text;
    (void)state;
    start(&y, bert);
    struct plan p = y.sim.plan;
    struct tile_memory memory[4] = { { .total_bytes = 5 }, { .total_bytes = 7 }, { .total_bytes = 638976 - 3 }, { .total_bytes = 11 } };
    struct graph g = *p.graph;
    assert_int_equal(p.topology->machine->chip.tile_memory_bytes, 638976);
    p.memory = memory;
    p.graph = &g;
    p.worst_ipu = 2;
    p.fits = true;
    DOCUMENTED(text, plan_document(d, &p, false));
    assert_non_null(strstr(text, "\n  fits: 3 bytes free on the fullest tile (IPU 2)\n"));
    assert_null(strstr(text, "roughly"));
    free(text);
    g.n_rough_ops = 1;
    p.fits = false;
    p.shortfall_bytes = 13;
    DOCUMENTED(text, plan_document(d, &p, false));
    assert_int_equal(strncmp(text, "roughly: 1 operations of bert-large stand for what is not modelled ('podbench workload' lists them)\n"
                                   "plan of bert-large on ipu-pod16: 4 replicas of 4 IPUs, micro-batch ", 163), 0);
    assert_non_null(strstr(text, "\n  does not fit: 13 B too many on the fullest tile (IPU 2)\n"));
    free(text);
    stop(&y);
}

/* Four layers of a convolution, a norm, a relu and an addition, with a loss: everything that a stage may stash. */
static void four_layers(struct graph *g, struct arena *a)
{
    struct op_attributes at = { .kernel_h = 3, .kernel_w = 3, .pad = 1, .stride = 1, .groups = 1 };
    uint32_t x = NO_ID;
    graph_start(g, "four", 2, a);
    for (uint32_t i = 0; i < 4; i++) {
        graph_layer(g, (struct layer){ .name = arena_printf(a, "layer%u", i), .role = LAYER_BODY, .block_id = i, .n_parts = 1 });
        x = i ? x : graph_tensor(g, "x", ROLE_INPUT, TYPE_FP16, 4, (uint64_t[]){ 2, 7, 7, 24 });
        uint32_t w = graph_tensor(g, "w", ROLE_WEIGHT, TYPE_FP16, 4, (uint64_t[]){ 3, 3, 24, 24 });
        uint32_t norm[] = { graph_op(g, OP_CONV, (uint32_t[]){ x, w }, 2, at), graph_tensor(g, "gamma", ROLE_WEIGHT, TYPE_FP16, 1, (uint64_t[]){ 24 }),
                            graph_tensor(g, "beta", ROLE_WEIGHT, TYPE_FP16, 1, (uint64_t[]){ 24 }) };
        uint32_t y = graph_op(g, OP_BATCH_NORM, norm, 3, (struct op_attributes){ .norm_groups = 1 });
        x = graph_op(g, OP_ADD, (uint32_t[]){ x, graph_op(g, OP_RELU, &y, 1, (struct op_attributes){0}) }, 2, (struct op_attributes){0});
    }
    uint32_t labels = graph_tensor(g, "labels", ROLE_INPUT, TYPE_INT32, 3, (uint64_t[]){ 2, 7, 7 });
    graph_op(g, OP_CROSS_ENTROPY, (uint32_t[]){ x, labels }, 2, (struct op_attributes){0});
    graph_add_backward(g);
}

/* A graph of blocks alone, neither stem nor heads, is divided in two: every block is in one half. */
static void blocks_alone_are_divided(void **state)
{
    struct planned y;
    struct machine m = odd_machine();
    struct topology t;
    struct graph g;
    struct compiler c;
    (void)state;
    start(&y, "vendor-ipu-pod16-resnet50-pipelined");
    assert_true(topology_build(&t, &m, NULL, &y.sim.arena, &y.err));
    four_layers(&g, &y.sim.arena);
    compiler_start(&c, &g, &t, &y.cache, &y.sim.arena);
    struct plan_request o = y.opt;
    o.n_replicas = 2;
    o.ipus_per_replica = 2;
    o.n_stages = 0;
    assert_true(split_layers(&o, &c, 0, &y.err));
    assert_int_equal(o.n_stages, 2);
    for (int part = 0; part < 2; part++)
        assert_int_equal(o.stage_sizes[0].part_count[part] + o.stage_sizes[1].part_count[part], 4);
    assert_true(o.stage_sizes[0].part_count[0] == o.stage_sizes[0].part_count[1] && o.stage_sizes[0].part_count[0] > 0 && o.stage_sizes[1].part_count[0] > 0);
    stop(&y);
}

/* Every schedule with every recomputation and some ways of the weight update: stages, memory, pipeline, update, and the step. */
static void schedules_as_text(void **state)
{
    static const struct { enum optimizer_place place; enum rts rts; } ways[] = {
        { OPTIMIZER_ON_CHIP, RTS_NO }, { OPTIMIZER_STREAMING, RTS_NO }, { OPTIMIZER_STREAMING, RTS_YES } };
    struct planned y;
    struct machine m = odd_machine();
    struct topology t;
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    (void)state;
    start(&y, "vendor-ipu-pod16-resnet50-pipelined");
    assert_true(topology_build(&t, &m, NULL, &y.sim.arena, &y.err));
    for (int schedule = 0; schedule < N_SCHEDULES; schedule++)
        for (int recompute = 0; recompute < N_RECOMPUTES; recompute++)
            for (size_t way = 0; way < (schedule ? 1 : 3); way++) {
                struct graph g;
                struct compiler c;
                struct plan p;
                struct timeline line;
                struct plan_request o = y.opt;
                four_layers(&g, &y.sim.arena);
                compiler_start(&c, &g, &t, &y.cache, &y.sim.arena);
                fix_constants(&o);
                o.n_replicas = 3;
                o.ipus_per_replica = 4;
                o.grad_accum = 9;
                o.schedule = (enum schedule)schedule;
                o.recompute = (enum recompute)recompute;
                o.state.place = ways[way].place;
                o.state.rts = ways[way].rts;
                o.program.offloaded_elements = 25;        /* norms have 24 */
                o.program.sharded_elements = 24;
                sizes(&o, (const uint32_t[][2]){ { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } }, 4);
                fprintf(f, "== %s %s %zu\n", schedule_names[schedule], recompute_names[recompute], way);
                if (!plan_build(&p, &c, &o, &y.sim.arena, &y.err) || !timeline_run(&line, &p, &y.sim.arena, &y.err)) {
                    fprintf(f, "refused: %s\n", y.err.msg);
                    continue;
                }
                for (uint32_t i = 0; i < p.n_stages; i++)
                    fprintf(f, "stage %u: forward %ju backward %ju again %ju cycles, stash %ju B x %u, fullest tile %ju B, busy %ju of %ju cycles\n", i,
                            (uintmax_t)cycles_total(&p.stages[i].forward), (uintmax_t)cycles_total(&p.stages[i].backward),
                            (uintmax_t)p.stages[i].recompute_cycles, (uintmax_t)p.stages[i].stash_bytes, p.stages[i].stash_depth,
                            (uintmax_t)p.memory[i].total_bytes, (uintmax_t)(line.step_cycles - line.rows[i].spent.part[PART_BUBBLE]),
                            (uintmax_t)line.step_cycles);
                fprintf(f, "pipeline:");
                for (uint32_t i = 0; i < p.n_runs; i++)
                    fprintf(f, " %u x %jx copy %ju", p.runs[i].n_cycles, (uintmax_t)tasks_of_run(&p, i), (uintmax_t)p.runs[i].copy_cycles);
                fputc('\n', f);
                PRINT_DOCUMENT(f, plan_update_document(d, &p));
            }
    fclose(f);
    assert_golden(text, "tests/golden/plan_schedules.txt", &y.sim.arena);
    free(text);
    stop(&y);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_plan_as_text), cmocka_unit_test(splits_as_text), cmocka_unit_test(verdicts_as_text),
    cmocka_unit_test(blocks_alone_are_divided), cmocka_unit_test(schedules_as_text),
};
TAP_MAIN(tests)
