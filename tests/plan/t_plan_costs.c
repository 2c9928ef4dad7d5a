/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_plan_costs.c - what stages, calls and copies of a plan cost, by hand.
 */
#include "tests/moments.h"
#include "tests/planned.h"
#include "system-model/graph/graph.h"
#include "system-model/compiler/vertex_cost.h"

#include <math.h>

static const char bert[] = "mlperf-v1.1-closed-ipu-pod16-bert-large", resnet[] = "mlperf-v1.1-closed-ipu-pod16-resnet50";

/* Only chips in use share the resources of a board: a single one has the board's memory, network and port to itself. */
static void idle_chips_take_no_share(void **state)
{
    (void)state;
    struct planned y;
    struct plan one, three, four;
    start(&y, "vendor-ipu-pod4-resnet50-tf1");          /* a board of four: one chip a replica */
    y.opt.state.place = OPTIMIZER_STREAMING;
    y.sim.machine->host_latency_s = 0;
    y.opt.fitted.streaming_s_per_byte = 0;
    y.opt.program.host_data_bytes_per_s = y.opt.program.callback_bytes_per_s = 1e15;
    assert_true(build(&y, &four));
    y.opt.n_replicas = 1;
    assert_true(build(&y, &one));
    y.opt.n_replicas = 3;
    assert_true(build(&y, &three));
    const struct machine *m = y.sim.machine;           /* one chip is bound by its own port, four by the board's memory */
    uint64_t alone = update_cycles(&one, 0, UPDATE_LOAD), shared = update_cycles(&four, 0, UPDATE_LOAD);
    assert_true(alone > 0 && one.host_floor_cycles > 0);
    assert_near((double)shared / (double)alone, m->chip.host_link_bytes_per_s / (m->streaming_bytes_per_s * m->streaming_efficiency / 4), 1e-3);
    assert_near((double)four.host_floor_cycles / (double)one.host_floor_cycles, 4, 1e-4);
    assert_near((double)three.host_floor_cycles / (double)one.host_floor_cycles, 3, 1e-4);
    y.opt.host.n_hosts = 2;                                  /* two hosts decode a thousandth of what the network brings */
    y.opt.host.decode_bytes_per_s = y.sim.machine->host_network_bytes_per_s / 2000;
    assert_true(build(&y, &four));
    assert_near((double)four.host_floor_cycles / (double)three.host_floor_cycles, 1000, 1);
    stop(&y);
    memset(&y, 0, sizeof y);                            /* four chips behind 13.77 GB/s, 5.94 GB/s each */
    const char *const sets[] = { "recipe.system=dss8440" };
    assert_true(simulate(&y.sim, &y.r, "vendor-ipu-pod4-resnet50-tf1", sets, 1, &paths, &y.cache, &y.err));
    y.opt = y.sim.plan.request;
    y.opt.n_replicas = 1;
    assert_true(build(&y, &one));
    assert_near((double)y.sim.plan.io_cycles[0] / (double)one.io_cycles[0], 5.94 / (13.77 / 4), 1e-4);
    y.opt.host.synthetic_data = true;                        /* nothing crosses a port, but images take their memory */
    assert_true(build(&y, &four));
    assert_true(four.io_cycles[0] == 0 && four.host_floor_cycles == 0 && four.fetch_cycles == 0 && four.call_cycles[CALL_FIRST_FETCH] == 0);
    assert_true(four.stages[0].host_bytes == one.stages[0].host_bytes && four.memory[0].bytes[MEMORY_IO_BUFFERS] == one.memory[0].bytes[MEMORY_IO_BUFFERS]);
    stop(&y);
}

/* Three processes for 4 replicas of 20 images in 24 micro-batches: the fullest prepares 2 x 20 x 24 = 960 images of 7 ms, 6.72 s of one core. */
static void cores_prepare_samples(void **state)
{
    static const struct { uint32_t cores, hosts, workers; double at_once; } rows[] = {
        { 0, 1, 0, INFINITY }, { 12, 1, 0, 4 }, { 12, 2, 0, 8 }, { 0, 1, 5, 5 }, { 12, 1, 5, 4 }, { 12, 2, 5, 5 }, { 2, 1, 0, 2 / 3.0 } };
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "vendor-ipu-pod4-resnet50-tf1");
    const double hz = y.sim.machine->chip.clock_hz;
    y.opt.n_replicas = 4;
    y.opt.host.n_instances = 3;
    y.opt.program.host_data_bytes_per_s = y.opt.program.callback_bytes_per_s = 1e15;
    assert_true(build(&y, &p));
    const uint64_t port = p.host_floor_cycles;
    y.opt.host.sample_s = 0.007;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        y.opt.host.cores = rows[i].cores;
        y.opt.host.n_hosts = rows[i].hosts;
        y.opt.host.workers = rows[i].workers;
        assert_true(build(&y, &p));
        assert_true(isinf(rows[i].at_once) ? isinf(plan_preparing_cores(&y.opt)) : fabs(plan_preparing_cores(&y.opt) - rows[i].at_once) < 1e-12);
        assert_near(plan_preparing_s(&p), 6.72, 1e-12);
        assert_near((double)p.host_floor_cycles / hz, isinf(rows[i].at_once) ? (double)port / hz : 6.72 / rows[i].at_once, 1e-8);
    }
    uint64_t ahead = p.call_cycles[CALL_DATA];
    y.opt.program.host_data = HOST_DATA_IN_CALL;        /* one core prepares, while the chips wait */
    assert_true(build(&y, &p));
    assert_true(ahead == 0 && p.host_floor_cycles == port);
    assert_near((double)p.call_cycles[CALL_DATA] / hz, 6.72 + 960 * (224 * 224 * 3 + 4) / y.opt.program.host_data_bytes_per_s, 1e-3);
    y.opt.evaluation = true;
    assert_true(build(&y, &p));
    assert_near(plan_preparing_s(&p), 0, 0);
    y.opt.evaluation = false;
    y.opt.host.n_instances = 8;                              /* four of them feed */
    assert_true(build(&y, &p));
    assert_near(plan_preparing_s(&p), 3.36, 1e-12);
    assert_near(plan_preparing_cores(&y.opt), 2 / 4.0, 1e-12);
    stop(&y);
}

/* BERT's first and last stage are on the first of four IPUs: what fills their I/O tiles comes through one port, of a megabyte a second here. */
static void stages_of_one_ipu_share_its_port(void **state)
{
    (void)state;
    struct planned y = {0};
    const char *const sets[] = { "parallel.io_tiles=32", "machine.host_link_bytes_per_s=1e6" };
    assert_true(simulate(&y.sim, &y.r, bert, sets, 2, &paths, &y.cache, &y.err));
    const struct plan *p = &y.sim.plan;
    const struct stage_plan *first = &p->stages[0], *last = &p->stages[p->n_stages - 1];
    assert_true(p->n_stages == 5 && last->ipu == first->ipu && first->host_bytes && last->host_bytes);
    double port_s = (double)(first->host_bytes + last->host_bytes) * p->request.grad_accum / 1e6;
    assert_near((double)p->host_floor_cycles, ceil(port_s * y.sim.machine->chip.clock_hz), 1);
    stop(&y);
}

/* The share of a slice that the fullest tile holds, by hand: rows or columns of a product in equal parts, in order, of which a slice is a run. */
static double crowding_by_hand(uint64_t n, uint64_t parts, uint64_t slices)
{
    uint64_t on_tile = (n + parts - 1) / parts, slice = n / slices, held = on_tile < slice ? on_tile : slice;
    return (double)held / ((double)on_tile / (double)slices);
}

/* Scores of 1,040 rows and 1,200 columns: 8 slices of 130 rows, or 3 of 400 columns, lie where the product made them, and work on them takes as much
 * longer. Their gradients are a view of all side by side; what is copied to all tiles is even, but its way is as long as the fullest tile's share. */
static void slices_work_where_a_product_left_them(void **state)
{
    (void)state;
    static const struct { uint32_t axis, slices; } cases[] = { { 1, 8 }, { 2, 3 } };
    for (size_t i = 0; i < 2; i++) {
        struct planned y;
        struct graph g;
        struct compiler c;
        start(&y, resnet);
        graph_start(&g, "scores", 1, &y.sim.arena);
        graph_layer(&g, (struct layer){ .name = "scores", .role = LAYER_BODY, .n_parts = 1 });
        uint32_t x = graph_tensor(&g, "x", ROLE_INPUT, TYPE_FP16, 3, (uint64_t[]){ 1, 1040, 160 });
        uint32_t w = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 2, (uint64_t[]){ 160, 1200 });
        uint32_t scores = graph_op(&g, OP_MATMUL, (uint32_t[]){ x, w }, 2, (struct op_attributes){0});
        uint32_t piece = graph_op(&g, OP_SLICE, &scores, 1, (struct op_attributes){ .axis = cases[i].axis, .pieces = cases[i].slices });
        uint32_t scaled = graph_op(&g, OP_SCALE, &piece, 1, (struct op_attributes){ .rate = 0.5 });
        uint32_t apart = graph_op(&g, OP_TRANSPOSE, &scaled, 1, (struct op_attributes){ .order = { 0, 2, 1 } });
        graph_op(&g, OP_SCALE, &apart, 1, (struct op_attributes){ .rate = 0.5 });
        compiler_start(&c, &g, y.sim.topology, &y.cache, &y.sim.arena);
        const struct compiled *made = compile_graph(&c, &(struct op_plan_options){ .available_memory = 0.6, .n_tiles = 1472 });
        assert_non_null(made);
        const struct op_plan *const *p = made->op_plans;
        bool columns = cases[i].axis == 2, in_field = columns == (p[0]->turned == 1);
        double crowding = crowding_by_hand(columns ? 1200 : 1040, in_field ? p[0]->split.field : p[0]->split.out_chans, cases[i].slices);
        assert_true(crowding > 1.5);
        assert_near(p[1]->crowding, crowding, 1e-12);
        assert_near(p[2]->crowding, crowding, 1e-12);
        assert_int_equal(op_plan_cycles(p[1]), 0);
        uint64_t even = (1040 * 1200 / cases[i].slices / 4 + 1471) / 1472 * 4, fullest = (uint64_t)(p[0]->imbalance * crowding * (double)even);
        assert_int_equal(p[2]->compute_cycles, map_cycles(&y.sim.machine->chip, MAP_SCALAR, fullest, 2));
        assert_int_equal(p[3]->exchanged_bytes, (uint64_t)(crowding * (double)even) * 2 * 1472);
        assert_int_equal(p[4]->compute_cycles, map_cycles(&y.sim.machine->chip, MAP_SCALAR, even, 2));
        stop(&y);
    }
}

/* A product of 48 groups leaves its results on at most 1,440 of 1,472 tiles. The work that follows runs there, until
 * it has an operand that is spread more evenly, or another product fetches the results. */
static void work_runs_where_results_lie(void **state)
{
    (void)state;
    struct planned y;
    struct graph g;
    struct compiler c;
    start(&y, resnet);
    graph_start(&g, "scores", 1, &y.sim.arena);
    graph_layer(&g, (struct layer){ .name = "scores", .role = LAYER_BODY, .n_parts = 1 });
    uint32_t a = graph_tensor(&g, "a", ROLE_INPUT, TYPE_FP16, 3, (uint64_t[]){ 48, 512, 64 });
    uint32_t b = graph_tensor(&g, "b", ROLE_INPUT, TYPE_FP16, 3, (uint64_t[]){ 48, 64, 512 });
    uint32_t scores = graph_op(&g, OP_MATMUL, (uint32_t[]){ a, b }, 2, (struct op_attributes){0});
    uint32_t scaled = graph_op(&g, OP_SCALE, (uint32_t[]){ scores }, 1, (struct op_attributes){ .rate = 0.5 });
    uint32_t even = graph_tensor(&g, "even", ROLE_INPUT, TYPE_FP16, 3, (uint64_t[]){ 48, 512, 512 });
    uint32_t sum = graph_op(&g, OP_ADD, (uint32_t[]){ scaled, even }, 2, (struct op_attributes){0});
    graph_op(&g, OP_RELU, (uint32_t[]){ sum }, 1, (struct op_attributes){0});
    compiler_start(&c, &g, y.sim.topology, &y.cache, &y.sim.arena);
    const struct op_plan_options opt = { .available_memory = 0.6, .n_tiles = 1472 };
    const struct compiled *made = compile_graph(&c, &opt);
    assert_non_null(made);
    const struct op_plan *const *p = made->op_plans;
    assert_true(p[0]->imbalance * p[0]->n_tiles_used >= 1472 && p[0]->imbalance > 1.02);
    assert_near(p[1]->imbalance, p[0]->imbalance, 0);
    assert_near(p[2]->imbalance, 1, 0);
    assert_near(p[3]->imbalance, 1, 0);
    assert_int_equal(moments_of(&g, made, RECOMPUTE_NONE, &y.sim.arena)->moments[TASK_FORWARD].live_bytes, (uint64_t)(2 * 48 * 512 * 512 * p[0]->imbalance));      /* the fullest tile is what counts */
    assert_true((double)p[1]->compute_cycles > 1.01 * (double)(11 + 6 * (20 + 2 * 356)));    /* 8,548 elements a tile, were they even */
    stop(&y);
}

/* A product's gradient is brought to the output of the relu that it goes through, which is where the norm before has its input, so that
 * it moves once for both. */
static void a_gradient_stays_where_it_was_brought(void **state)
{
    (void)state;
    struct planned y;
    struct compiler c;
    size_t n_brought = 0, n_norms = 0;
    start(&y, resnet);
    const struct graph *g = y.sim.graph;
    compiler_start(&c, g, y.sim.topology, &y.cache, &y.sim.arena);
    const struct op_plan_options opt = { .available_memory = 0.15, .n_tiles = 1472 };
    const struct op_plan *const *p = compile_graph(&c, &opt)->op_plans;
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct op *norm = &g->ops[i];
        if (norm->kind != OP_BATCH_NORM || norm->pass != PASS_BACKWARD_DATA)
            continue;
        uint32_t relu = g->tensors[norm->inputs[0]].producer_op;
        if (g->ops[relu].kind != OP_RELU || op_forward(g, &g->ops[relu])->inputs[0] != op_forward(g, norm)->outputs[0])
            continue;
        assert_true(p[i]->together);
        n_brought += !p[relu]->together;
        n_norms++;
    }
    assert_int_equal(n_norms, 33);          /* two in each of 16 units, and the stem's */
    assert_true(n_brought > 30);
    stop(&y);
}

/* Neighbouring replicas share each norm's mean, a half, and mean square, a float, or backward two sums in halves, in groups side by side, IPU by IPU; the stable way the mean alone first,
 * so twice half as much. Layers that are computed again share theirs again. */
static uint64_t norms_by_hand(struct planned *y, const struct stage_plan *s, enum op_pass pass, uint32_t span, bool twice, uint32_t n_layers, const bool *unless)
{
    const struct plan_request *o = &y->sim.plan.request;
    uint32_t ranks[64];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->n_replicas; i++)
        ranks[i] = i * o->ipus_per_replica + s->ipu;
    for (size_t i = 0; i < y->sim.graph->n_ops; i++) {
        const struct op *op = &y->sim.graph->ops[i];
        if (op->kind != OP_BATCH_NORM || op->pass != pass || op->layer_id < s->first_layer || op->layer_id >= s->first_layer + n_layers || (unless && unless[i]))
            continue;
        const struct tensor *x = &y->sim.graph->tensors[op->inputs[0]];
        struct collective_request groups = { .kind = COLLECTIVE_ALL_REDUCE, .ranks = ranks, .n_groups = o->n_replicas / span, .n_ranks = span,
                                             .bytes = (double)x->dims[3] * (pass != PASS_FORWARD ? 4 : twice ? 3 : 6) };
        struct collective_cost cost;
        assert_true(collective_run(&cost, y->sim.topology, &groups, &y->sim.arena, &y->err));
        sum += cycles_of(y->sim.topology, cost.time_s) * (twice ? 2 : 1);
    }
    assert_true(sum > 0 || n_layers == 0);
    return sum;
}

/* A layer that is computed again runs all of its forward operations but statistics that are kept and, before a checkpoint, what serves later layers alone. */
static uint64_t again_by_hand(const struct graph *g, const struct stage_plan *s, uint32_t layer, bool kept, const bool *unless)
{
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < g->n_forward_ops; i++) {
        const struct op_plan *op = s->compiled->op_plans[i];
        if (g->ops[i].layer_id == layer && !unless[i])
            cycles += op_plan_cycles(op) - (kept ? op->shared_cycles[0] + op->shared_cycles[1] + op->shared_cycles[2] : 0);
    }
    return cycles;
}

/* By operation: true if it is not run again, although its layer is. */
static const bool *run_unless(struct simulation *sim, const struct stage_plan *s)
{
    const struct plan *p = &sim->plan;
    const enum ahead *ahead = graph_for_later_layers(p->graph, &sim->arena);
    bool *unless = ARENA_ARRAY(&sim->arena, bool, p->graph->n_ops);
    for (size_t i = 0; i < p->graph->n_forward_ops; i++) {
        uint32_t layer = p->graph->ops[i].layer_id;
        bool last = layer + 1 == s->first_layer + s->n_layers;
        unless[i] = last ? ahead[i] == AHEAD_OF_STAGE : ahead[i] != AHEAD_NEVER && is_checkpoint(p->graph, p->request.recompute, p->named_checkpoints, layer);
    }
    return unless;
}

/* Statistics that are kept are neither made nor reduced again; a grouped pipeline keeps none. */
static void norms_of_groups_by_hand(void **state)
{
    static const char pipelined[] = "vendor-ipu-pod16-resnet50-pipelined";
    static const struct { const char *recipe, *sets[4]; uint32_t span; bool stable, kept; } cases[] = {
        { resnet, { "parallel.batch_norm_span=2", "precision.stable_norm=no", "parallel.recompute=none", "parallel.replicas=16" }, 2, false, true },
        { resnet, { "parallel.batch_norm_span=2", "precision.stable_norm=yes", "parallel.recompute=none", "parallel.replicas=16" }, 2, true, true },
        { resnet, { "parallel.batch_norm_span=64", "precision.stable_norm=yes", "parallel.recompute=layer", "framework.keeps_statistics=no" }, 16, true, false },
        { resnet, { "parallel.batch_norm_span=2", "precision.stable_norm=no", "parallel.recompute=layer", "framework.keeps_statistics=yes" }, 2, false, true },
        { pipelined, { "parallel.batch_norm_span=2", "parallel.recompute=stage", "parallel.replicas=4", "framework.keeps_statistics=yes" }, 2, false, false },
        { pipelined, { "parallel.batch_norm_span=4", "parallel.recompute=layer", "parallel.replicas=4", "framework.keeps_statistics=yes" }, 4, false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planned y;
        memset(&y, 0, sizeof y);
        if (!simulate(&y.sim, &y.r, cases[i].recipe, cases[i].sets, 4, &paths, &y.cache, &y.err))
            print_error("%s\n", y.err.msg);
        assert_string_equal(y.err.msg, "");
        for (uint32_t k = 0; k < y.sim.plan.n_stages; k++) {
            const struct stage_plan *s = &y.sim.plan.stages[k];
            bool last = k + 1 == y.sim.plan.n_stages;
            const bool *unless = run_unless(&y.sim, s);
            uint32_t n_again = y.sim.plan.request.recompute == RECOMPUTE_NONE ? 0 : !last ? s->n_layers
                             : y.sim.plan.request.recompute == RECOMPUTE_LAYER ? s->n_layers - 1 : 0;
            uint64_t again = norms_by_hand(&y, s, PASS_FORWARD, cases[i].span, cases[i].stable, cases[i].kept ? 0 : n_again, unless), cycles = again;
            assert_int_equal(s->forward.part[PART_ALL_REDUCE], norms_by_hand(&y, s, PASS_FORWARD, cases[i].span, cases[i].stable, s->n_layers, NULL));
            assert_int_equal(s->backward.part[PART_ALL_REDUCE], norms_by_hand(&y, s, PASS_BACKWARD_DATA, cases[i].span, false, s->n_layers, NULL) + again);
            for (uint32_t layer = s->first_layer; layer < s->first_layer + n_again; layer++)
                cycles += again_by_hand(y.sim.graph, s, layer, cases[i].kept, unless);
            assert_int_equal(s->recompute_cycles, cycles);
        }
        stop(&y);
    }
}

/* A checkpoint a layer: a stage stashes its input and the outputs of all blocks but the last, and moves it all twice. */
static void checkpoints_are_stashed(void **state)
{
    (void)state;
    struct planned y;
    start(&y, bert);
    const struct stage_plan *s = &y.sim.plan.stages[1];
    uint64_t bytes = 0;
    for (uint32_t i = s->first_layer - 1; i + 1 < s->first_layer + s->n_layers; i++)
        bytes += i < s->first_layer || y.sim.graph->layers[i].part_id == 1 ? s->compiled->layers[i].output_bytes : 0;
    assert_int_equal(s->stash_bytes, bytes);
    assert_true(s->forward.part[PART_STAGE_COPY] > 0);
    assert_true(s->forward.part[PART_STAGE_COPY] < s->backward.part[PART_STAGE_COPY]);       /* read, it is copied to where it was as well */
    stop(&y);
}

/* Without recomputation the activations of all layers are stashed, including the last one's. A first stage of a
 * single layer has one tensor. */
static void all_layers_are_stashed(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, bert);
    y.opt.recompute = RECOMPUTE_NONE;
    sizes(&y.opt, (const uint32_t[][2]){ { 0, 0 }, { 2, 2 }, { 12, 12 }, { 10, 10 } }, 4);
    y.opt.detail.timed_only = true;
    assert_true(build(&y, &p));
    assert_int_equal(p.stages[0].n_layers, 1);
    for (uint32_t k = 0; k < p.n_stages; k++) {
        const struct stage_plan *s = &p.stages[k];
        struct stash all = { .n_bytes = s->stash_bytes, .n_tensors = k > 0 };
        struct op_plan write, read;
        for (uint32_t i = s->first_layer; i < s->first_layer + s->n_layers; i++)
            all.n_tensors += s->compiled->layers[i].kept_bytes > 0;
        stash_plan(&write, &read, &all, &y.sim.machine->chip, &s->compiled->options);
        assert_true(s->stash_bytes > 0 && s->forward.part[PART_STAGE_COPY] > 0);
        assert_int_equal(s->forward.part[PART_STAGE_COPY], op_plan_cycles(&write) - write.sync_cycles);
        assert_int_equal(s->backward.part[PART_STAGE_COPY], op_plan_cycles(&read) - read.sync_cycles);
    }
    stop(&y);
}

/* In the first cycles only stage 0 hands its output on: all replicas' copies at once, after a sync of the chips. */
static void a_copy_is_its_flows_and_a_sync(void **state)
{
    (void)state;
    struct planned y;
    struct flows_cost cost;
    start(&y, "vendor-ipu-pod16-resnet50-pipelined");
    const struct plan *p = &y.sim.plan;
    struct flow f = { 0, 1, (double)p->stages[0].output_bytes };
    assert_int_equal(tasks_of_run(p, 0), 1);
    assert_true(compile_flows(&cost, y.sim.compiler, &f, 1, plan_played_replicas(p, 4), 4, &y.err));
    assert_int_equal(p->runs[0].copy_cycles, cycles_of(p->topology, cost.time_s) + y.sim.machine->chip.global_sync_cycles);
    stop(&y);
}

/* The joint network runs slice by slice, and again for the backward pass: its forward work counts twice. */
static void slices_are_done_again(void **state)
{
    (void)state;
    struct planned y;
    uint64_t again_mac = 0;
    struct plan p;
    start(&y, "mlperf-v2.0-open-bow-pod64-transformer-transducer");
    y.opt.recompute = RECOMPUTE_NONE;
    y.opt.detail.timed_only = true;
    assert_true(build(&y, &p));
    for (size_t i = 0; i < y.sim.graph->n_layers; i++) {
        const struct layer_cost *l = &y.sim.plan.stages[1].compiled->layers[i];
        if (y.sim.graph->layers[i].repeats < 2)
            continue;
        assert_int_equal(l->again_mac, l->forward_mac);
        uint64_t backward = 0;
        for (size_t k = y.sim.graph->n_forward_ops; k < y.sim.graph->n_ops; k++)
            if (y.sim.graph->ops[k].layer_id == i)
                backward += op_plan_cycles(y.sim.plan.stages[1].compiled->op_plans[k]) * y.sim.graph->layers[i].repeats;
        assert_int_equal(cycles_total(&l->backward), backward + cycles_total(&l->forward));
        again_mac += l->again_mac;
    }
    assert_true(again_mac > 0);
    assert_int_equal(p.hardware_mac - p.model_mac, again_mac);         /* all that is computed twice */
    stop(&y);
}

/* Norms over more replicas move more numbers in more steps, beyond one link domain (64 IPUs) too. */
static void norms_over_domains_are_not_free(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    uint64_t before = 0;
    static const char *const spans[] = { "1", "32", "64", "128", "256" };
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        memset(&y, 0, sizeof y);
        char set[64];
        snprintf(set, sizeof set, "parallel.batch_norm_span=%s", spans[i]);
        const char *const sets[] = { set };
        assert_true(simulate(&y.sim, &y.r, "mlperf-v2.0-closed-bow-pod256-resnet50", sets, 1, &paths, &y.cache, &y.err));
        p = y.sim.plan;
        assert_true(p.stages[0].forward.part[PART_ALL_REDUCE] > before || i == 0);
        before = p.stages[0].forward.part[PART_ALL_REDUCE];
        stop(&y);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(idle_chips_take_no_share), cmocka_unit_test(stages_of_one_ipu_share_its_port),
    cmocka_unit_test(a_gradient_stays_where_it_was_brought),
    cmocka_unit_test(work_runs_where_results_lie), cmocka_unit_test(slices_work_where_a_product_left_them), cmocka_unit_test(norms_of_groups_by_hand),
    cmocka_unit_test(checkpoints_are_stashed), cmocka_unit_test(all_layers_are_stashed), cmocka_unit_test(a_copy_is_its_flows_and_a_sync),
    cmocka_unit_test(slices_are_done_again), cmocka_unit_test(norms_over_domains_are_not_free),
    cmocka_unit_test(cores_prepare_samples)
};
TAP_MAIN(tests)
