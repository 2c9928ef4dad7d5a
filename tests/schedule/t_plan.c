/*
 * t_plan.c - refusals of the planner, word by word; what a plan adds up to, by hand and against the timeline.
 */
#include "tests/planned.h"
#include "tests/golden_text.h"
#include "tests/odd_machine.h"
#include <math.h>

static bool build(struct planned *y, struct plan *p)
{
    return plan_build(p, y->sim.compiler, &y->opt, &y->sim.arena, &y->err);
}

/* ---- refusals ------------------------------------------------------------------------------------- */

/* BERT-Large: 24 blocks; four IPUs a replica, five stages. ResNet-50: 16 blocks. */
static const char bert[] = "mlperf-v1.1-closed-ipu-pod16-bert-large", resnet[] = "mlperf-v1.1-closed-ipu-pod16-resnet50";

static void sizes(struct plan_options *o, const uint32_t (*counts)[2], uint32_t n)
{
    o->n_stages = n;
    for (uint32_t i = 0; i < n; i++)
        o->stage_sizes[i] = (struct stage_size){ { counts[i][0], counts[i][1] } };
}

static void more_ipus_than_there_are(struct plan_options *o) { o->n_replicas = 7; }
static void no_replica(struct plan_options *o)               { o->n_replicas = 0; }
static void too_many_stages(struct plan_options *o)          { o->n_stages = 0; o->ipus_per_replica = 16; o->n_replicas = 1; }
static void too_few_blocks(struct plan_options *o)           { sizes(o, (const uint32_t[][2]){ { 11, 11 }, { 12, 12 } }, 2); }
static void feed_forwards_missing(struct plan_options *o)    { sizes(o, (const uint32_t[][2]){ { 12, 12 }, { 12, 11 } }, 2); }
static void attentions_missing(struct plan_options *o)       { sizes(o, (const uint32_t[][2]){ { 12, 12 }, { 11, 12 } }, 2); }
static void halves_out_of_order(struct plan_options *o)      { sizes(o, (const uint32_t[][2]){ { 13, 11 }, { 11, 13 } }, 2); }
static void empty_stage(struct plan_options *o)              { sizes(o, (const uint32_t[][2]){ { 11, 11 }, { 0, 0 }, { 13, 13 } }, 3); }
static void short_pipeline(struct plan_options *o)           { o->grad_accum = 3; }
static void all_tiles_for_io(struct plan_options *o)         { o->io_tiles = 1472; }
static void streams(struct plan_options *o)                  { o->optimizer_place = OPTIMIZER_STREAMING; }
static void odd_pods(struct plan_options *o)                 { o->n_replicas = 12; }
static void no_such_layer(struct plan_options *o)
{
    o->recompute = RECOMPUTE_CHECKPOINTS;
    o->checkpoints[0] = "stage1/unit1";
    o->checkpoints[1] = "stage7/unit9";
    o->n_checkpoints = 2;
}

static const struct refusal { const char *recipe; void (*spoil)(struct plan_options *o); const char *message; } refusals[] = {
    { bert, more_ipus_than_there_are, "parallel: 7 replicas of 4 IPUs want 28 IPUs, ipu-pod16 has 16; lower parallel.replicas or take a larger recipe.system" },
    { bert, no_replica, "parallel: replicas, ipus_per_replica and gradient_accumulation must be at least 1" },
    { "vendor-dss8440-resnet50-tf1", streams, "parallel.optimizer_state: streaming, but dss8440 has no streaming memory; use on-chip" },
    { "mlperf-v2.0-closed-bow-pod256-bert-large", odd_pods,
      "parallel.rts_domain: pod, but 12 replicas are no multiple of the 8 of a pod; use all, or change parallel.replicas" },
    { resnet, all_tiles_for_io, "parallel.io_tiles: 1472 of the gc200's 1472 tiles leaves none to compute" },
    { resnet, no_such_layer, "parallel.recompute_checkpoints: resnet50 has no layer 'stage7/unit9'; its layers are listed by 'podbench workload resnet50'" },
    { bert, too_few_blocks, "parallel.layers_per_ipu: adds up to 23, want the 24 blocks of bert-large" },
    { bert, feed_forwards_missing, "parallel.layers_per_ipu: adds up to 23, want the 24 blocks of bert-large" },
    { bert, attentions_missing, "parallel.layers_per_ipu: adds up to 23, want the 24 blocks of bert-large" },
    { bert, halves_out_of_order, "parallel.layers_per_ipu: layer encoder12/attention would go back from stage 1 to stage 0; its halves must follow each other" },
    { bert, empty_stage, "parallel.layers_per_ipu: stage 1 of 3 holds no layer of bert-large" },
    { bert, short_pipeline, "parallel.gradient_accumulation: 3 micro-batches cannot fill a popart pipeline of 5 stages; want at least 9 (2 x stages - 1)" },
};

static void malformed_requests_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct planned y;
        struct plan p;
        start(&y, refusals[i].recipe);
        refusals[i].spoil(&y.opt);
        assert_false(build(&y, &p));
        assert_string_equal(y.err.msg, refusals[i].message);
        stop(&y);
    }
}

/* ResNet-50 has 16 blocks: 17 IPUs a replica are one stage too many. */
static void more_stages_than_blocks(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "mlperf-v1.1-closed-ipu-pod64-resnet50");
    y.opt.ipus_per_replica = 17;
    y.opt.n_replicas = 1;
    assert_false(build(&y, &p));
    assert_string_equal(y.err.msg, "parallel.ipus_per_replica: 17 stages for the 16 blocks of resnet50; give at most one stage a block");
    stop(&y);
    start(&y, bert);
    too_many_stages(&y.opt);
    assert_true(build(&y, &p));         /* 24 blocks on 16 IPUs are fine */
    assert_int_equal(p.n_stages, 16);
    stop(&y);
}

/* ---- sums -------------------------------------------------------------------------------------------- */

/* One stage, nothing recomputed, one micro-batch: the sum over operation passes is the stage, and the timeline spends just that. */
static void operations_sum_to_the_timeline(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    struct timeline t;
    start(&y, "mlperf-v1.1-closed-ipu-pod16-resnet50");
    y.opt.recompute = RECOMPUTE_NONE;
    y.opt.grad_accum = 1;
    y.opt.n_replicas = 1;               /* no distributed norms */
    y.opt.n_checkpoints = 0;
    assert_true(build(&y, &p));
    assert_true(timeline_run(&t, &p, &y.sim.arena, &y.err));
    uint64_t forward = 0, backward = 0, spent = 0, mac = 0;
    for (size_t i = 0; i < p.graph->n_ops; i++) {
        const struct op_plan *o = &p.stages[0].compiled->op_plans[i];
        *(p.graph->ops[i].pass == PASS_FORWARD ? &forward : &backward) += op_plan_cycles(o);
        mac += o->mac;
    }
    assert_int_equal(cycles_total(&p.stages[0].forward), forward);
    assert_int_equal(cycles_total(&p.stages[0].backward), backward);
    assert_int_equal(p.model_mac, mac);
    assert_int_equal(p.hardware_mac, mac);
    for (int k = PART_MATMUL; k <= PART_SYNC; k++)
        spent += t.rows[0].spent.part[k];
    uint64_t update = 0;
    for (uint32_t i = 0; i < p.update.n_chains; i++)
        for (uint32_t k = 0; k < p.update.chains[i].steps->n_ops; k++) {
            const struct update_op *op = &p.update.chains[i].steps->ops[k];
            update += p.update.chains[i].n_tensors * (op->n_cycles - op->cycles.part[PART_OPTIMIZER]);
        }
    assert_int_equal(spent, forward + backward + update);       /* the optimizer's exchange and sync count as such */
    stop(&y);
}

/* Recomputation adds the forward pass of all segments but the last to the backward pass, and to hardware work alone. */
static void recomputation_is_counted_once(void **state)
{
    (void)state;
    struct planned y;
    struct plan none, layer;
    start(&y, bert);
    y.opt.recompute = RECOMPUTE_NONE;
    assert_true(build(&y, &none));
    y.opt.recompute = RECOMPUTE_LAYER;
    assert_true(build(&y, &layer));
    assert_int_equal(none.model_mac, layer.model_mac);
    assert_int_equal(none.hardware_mac, none.model_mac);
    uint64_t again = 0;
    for (uint32_t s = 0; s < layer.n_stages; s++) {
        const struct stage_plan *stage = &layer.stages[s];
        again += stage->recompute_mac;
        if (s + 1 < layer.n_stages) {
            assert_int_equal(stage->recompute_mac, stage->forward_mac);
            uint64_t layers = 0;
            for (uint32_t i = stage->first_layer; i < stage->first_layer + stage->n_layers; i++)
                layers += cycles_total(&stage->compiled->layers[i].forward);
            assert_int_equal(stage->recompute_cycles, layers);
        }
    }
    assert_int_equal(layer.hardware_mac - layer.model_mac, again);
    stop(&y);
}

/* Every layer is on one stage; work and parameters do not depend on where they are. */
static void placement_conserves_the_model(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, bert);
    uint64_t mac = y.sim.plan.model_mac, parameters = graph_parameters(y.sim.graph);
    for (uint32_t n = 1; n <= 16; n++) {
        y.opt.n_stages = 0;
        y.opt.ipus_per_replica = n;
        y.opt.n_replicas = 1;
        y.opt.n_available_memory = 0;
        assert_true(build(&y, &p));
        uint32_t next = 0;
        for (uint32_t s = 0; s < p.n_stages; s++) {
            assert_int_equal(p.stages[s].first_layer, next);
            next += p.stages[s].n_layers;
        }
        assert_int_equal(next, p.graph->n_layers);
        assert_int_equal(p.n_parameters, parameters);
        assert_int_equal(p.model_mac, mac);
        assert_int_equal(p.global_batch, p.graph->micro_batch * p.options.grad_accum);
    }
    stop(&y);
}

/* BERT's word table serves its last layer too: heads on the table's own IPU share it, heads elsewhere keep a copy of it. */
static void tied_weights_are_copied_to_other_ipus(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, bert);
    uint64_t bytes = 0, weights = 2 * graph_parameters(y.sim.graph), table = 2 * y.sim.recipe.model.vocabulary * 1024;
    assert_true(table > 0);
    for (uint32_t s = 0; s < y.sim.plan.n_stages; s++)
        bytes += y.sim.plan.stages[s].weight_bytes;
    assert_int_equal(bytes, weights);   /* 3,7,7,7,0: stage 4 is on IPU 0 */
    y.opt.n_stages = 0;
    assert_true(build(&y, &p));
    bytes = 0;
    for (uint32_t s = 0; s < p.n_stages; s++)
        bytes += p.stages[s].weight_bytes;
    assert_int_equal(bytes, weights + table);
    assert_true(p.memory[3].bytes[REGION_WEIGHTS] > p.memory[2].bytes[REGION_WEIGHTS] + table / 1472);
    uint32_t n_first = 0, n_last = 0;           /* both are reduced and updated */
    for (uint32_t i = 0; i < p.update.n_chains; i++) {
        const struct update_chain *chain = &p.update.chains[i];
        n_first += chain->ipu == 0 && 2 * chain->n_elements == table ? chain->n_tensors : 0;
        n_last += chain->ipu == 3 && 2 * chain->n_elements == table ? chain->n_tensors : 0;
        assert_true(i == 0 || chain[-1].ipu == ALL_IPUS || chain[-1].ipu < chain->ipu
                    || (chain[-1].ipu == chain->ipu && chain[-1].n_elements <= chain->n_elements));
    }
    assert_true(n_first == 1 && n_last == 1);
    stop(&y);
}

/* What chips of a board share is shared by those in use: one alone has the board's memory, network and port for itself. */
static void idle_chips_take_no_share(void **state)
{
    (void)state;
    struct planned y;
    struct plan one, three, four;
    start(&y, "vendor-ipu-pod4-resnet50-tf1");          /* a board of four: one chip a replica */
    y.opt.optimizer_place = OPTIMIZER_STREAMING;
    y.opt.fitted.remote_access_s = 0;
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
    y.opt.n_hosts = 2;                                  /* two hosts decode a thousandth of what the network brings */
    y.opt.host_decode_bytes_per_s = y.sim.machine->host_network_bytes_per_s / 2000;
    assert_true(build(&y, &four));
    assert_near((double)four.host_floor_cycles / (double)three.host_floor_cycles, 1000, 1);
    stop(&y);
    memset(&y, 0, sizeof y);                            /* four chips behind 13.77 GB/s, 5.94 GB/s each */
    const char *const sets[] = { "recipe.system=dss8440" };
    assert_true(simulate(&y.sim, &y.r, "vendor-ipu-pod4-resnet50-tf1", sets, 1, &paths, &y.cache, &y.err));
    y.opt = y.sim.plan.options;
    y.opt.n_replicas = 1;
    assert_true(build(&y, &one));
    assert_near((double)y.sim.plan.io_cycles[0] / (double)one.io_cycles[0], 5.94 / (13.77 / 4), 1e-4);
    stop(&y);
}

/* 4 IPUs a board with 25,557,032 parameters each and 2 bytes a parameter: 0.2045 GB. */
static void streamed_state_must_fit_the_memory(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "vendor-ipu-pod4-resnet50-tf1");
    y.opt.optimizer_place = OPTIMIZER_STREAMING;
    y.sim.machine->streaming_bytes = 4 * 25557032 * 2;
    assert_true(build(&y, &p));
    y.sim.machine->streaming_bytes--;
    assert_false(build(&y, &p));
    assert_string_equal(y.err.msg, "parallel.optimizer_state: streaming wants 0.2045 GB of a board's memory, ipu-pod4 has 0.2045 GB; "
                                   "shard it (parallel.rts=yes) or use more IPUs a replica");
    y.opt.rts = RTS_YES;
    assert_true(build(&y, &p));
    stop(&y);
}

/* A step is refused where its parts, one after the other, take 2^53 cycles, 6.77e6 s at 1.33 GHz; told is what takes most. */
static void steps_too_long_to_time_are_refused(void **state)
{
    struct planned y;
    struct plan p;
    (void)state;
    start(&y, "vendor-ipu-pod16-resnet50-pipelined");
    y.opt.fitted.remote_access_s = 1e5;
    y.opt.optimizer_place = OPTIMIZER_STREAMING;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "most go to the weight update: raise the rates of links and memory"));
    y.opt = y.sim.plan.options;
    y.opt.grad_accum = 4000000000u;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "most go to computing: lower parallel.micro_batch"));
    y.opt = y.sim.plan.options;
    y.opt.fitted.call_s = 1e9;
    y.opt.host_decode_bytes_per_s = 1;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "most go to input from the host: raise hosts.decode_bytes_per_s"));
    stop(&y);
}

/* PopLibs' default where none is given; one for all; a share each, the last for what follows. */
static void shares_of_memory_by_ipu(void **state)
{
    struct plan_options o = { .available_memory = { 0.35, 0.2, 0.45 } };
    (void)state;
    assert_near(ipu_available_memory(&o, 2), 0.6, 0);
    o.n_available_memory = 1;
    assert_near(ipu_available_memory(&o, 3), 0.35, 0);
    o.n_available_memory = 3;
    assert_near(ipu_available_memory(&o, 0), 0.35, 0);
    assert_near(ipu_available_memory(&o, 1), 0.2, 0);
    assert_near(ipu_available_memory(&o, 3), 0.45, 0);
}

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
    graph_add_backward(&g);
    compiler_start(&c, &g, &links, &y.cache, &y.sim.arena);
    struct plan_options o = y.opt;
    fix_constants(&o);
    o.n_replicas = 6;
    o.ipus_per_replica = 2;
    o.grad_accum = 8;
    sizes(&o, (const uint32_t[][2]){ { 1, 1 }, { 1, 1 } }, 2);
    if (!plan_build(&p, &c, &o, &y.sim.arena, &y.err))
        print_error("%s\n", y.err.msg);
    assert_true(timeline_run(&t, &p, &y.sim.arena, &y.err));
    PRINTED(text, (plan_print(f, &p), timeline_print(f, &t, true), timeline_write_csv(f, &t)));
    assert_golden(text, "tests/golden/plan_unit.txt", &y.sim.arena);
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
                struct plan_options o = y.opt;
                four_layers(&g, &y.sim.arena);
                compiler_start(&c, &g, &t, &y.cache, &y.sim.arena);
                fix_constants(&o);
                o.n_replicas = 3;
                o.ipus_per_replica = 4;
                o.grad_accum = 9;
                o.schedule = (enum schedule)schedule;
                o.recompute = (enum recompute)recompute;
                o.optimizer_place = ways[way].place;
                o.rts = ways[way].rts;
                o.framework.offloaded_elements = 25;        /* norms have 24 */
                o.framework.sharded_elements = 24;
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
                    fprintf(f, " %u x %jx copy %ju", p.runs[i].n_cycles, (uintmax_t)p.runs[i].active, (uintmax_t)p.runs[i].copy_cycles);
                fputc('\n', f);
                update_print(f, &p);
            }
    fclose(f);
    assert_golden(text, "tests/golden/plan_schedules.txt", &y.sim.arena);
    free(text);
    stop(&y);
}

/* Convolution, relu in place, convolution, and the addition of what came before it, each of 8 x 8 x 24 halves, 3072 bytes: two of
 * them live at once while the second convolution works, though it reads and writes no more than the first. */
static void inference_holds_what_is_read_later(void **state)
{
    (void)state;
    struct planned y;
    struct graph g;
    struct compiler c;
    start(&y, "vendor-ipu-m2000-resnet50-infer-b4");
    graph_start(&g, "unit", 1, &y.sim.arena);
    graph_layer(&g, (struct layer){ .name = "unit", .role = LAYER_BODY, .n_parts = 1 });
    struct op_attributes at = { .kernel_h = 1, .kernel_w = 1, .stride = 1, .groups = 1 };
    uint32_t x = graph_tensor(&g, "x", ROLE_INPUT, TYPE_FP16, 4, (uint64_t[]){ 1, 8, 8, 24 });
    uint32_t w = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 4, (uint64_t[]){ 1, 1, 24, 24 });
    uint32_t first = graph_op(&g, OP_RELU, (uint32_t[]){ graph_op(&g, OP_CONV, (uint32_t[]){ x, w }, 2, at) }, 1, (struct op_attributes){0});
    uint32_t second = graph_op(&g, OP_CONV, (uint32_t[]){ first, w }, 2, at);
    graph_op(&g, OP_ADD, (uint32_t[]){ second, first }, 2, (struct op_attributes){0});
    compiler_start(&c, &g, y.sim.topology, &y.cache, &y.sim.arena);
    const struct op_plan_options opt = { .available_memory = 0.6, .inference = true, .n_tiles = 1472 };
    const struct compiled *made = compile_graph(&c, &opt, &y.err);
    assert_non_null(made);
    assert_int_equal(made->layers[0].forward_live_bytes, 2 * 3072);
    stop(&y);
}

/* A product of 48 groups leaves its results on 1,440 of 1,472 tiles at most: what follows runs there, until an operand that lies more
 * evenly comes in, or another product fetches them. */
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
    const struct compiled *made = compile_graph(&c, &opt, &y.err);
    assert_non_null(made);
    const struct op_plan *p = made->op_plans;
    assert_true(p[0].imbalance * p[0].n_tiles_used >= 1472 && p[0].imbalance > 1.02);
    assert_near(p[1].imbalance, p[0].imbalance, 0);
    assert_near(p[2].imbalance, 1, 0);
    assert_near(p[3].imbalance, 1, 0);
    assert_true((double)p[1].compute_cycles > 1.01 * (double)(11 + 6 * (20 + 2 * 356)));    /* 8,548 elements a tile, were they even */
    stop(&y);
}

/* Neighbouring replicas share each norm's mean and variance, floats, in groups side by side, IPU by IPU; the stable way the mean alone first,
 * so twice half as much. Layers that are computed again share theirs again. */
static uint64_t norms_by_hand(struct planned *y, const struct stage_plan *s, enum op_pass pass, uint32_t span, bool twice, uint32_t n_layers)
{
    const struct plan_options *o = &y->sim.plan.options;
    uint32_t ranks[64];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->n_replicas; i++)
        ranks[i] = i * o->ipus_per_replica + s->ipu;
    for (size_t i = 0; i < y->sim.graph->n_ops; i++) {
        const struct op *op = &y->sim.graph->ops[i];
        if (op->kind != OP_BATCH_NORM || op->pass != pass || op->layer_id < s->first_layer || op->layer_id >= s->first_layer + n_layers)
            continue;
        const struct tensor *x = &y->sim.graph->tensors[op->inputs[0]];
        struct collective_request groups = { .kind = COLLECTIVE_ALL_REDUCE, .ranks = ranks, .n_groups = o->n_replicas / span, .n_ranks = span,
                                             .bytes = (double)(x->dims[3] * (twice ? 1 : 2) * 4) };
        struct collective_cost cost;
        assert_true(collective_run(&cost, y->sim.topology, &groups, &y->sim.arena, &y->err));
        sum += cycles_of(y->sim.topology, cost.time_s) * (twice ? 2 : 1);
    }
    assert_true(sum > 0 || n_layers == 0);
    return sum;
}

static void norms_of_groups_by_hand(void **state)
{
    static const char pipelined[] = "vendor-ipu-pod16-resnet50-pipelined";
    static const struct { const char *recipe, *sets[3]; uint32_t span; bool stable; } cases[] = {
        { resnet, { "parallel.batch_norm_span=2", "precision.stable_norm=no", "parallel.recompute=none" }, 2, false },
        { resnet, { "parallel.batch_norm_span=2", "precision.stable_norm=yes", "parallel.recompute=none" }, 2, true },
        { resnet, { "parallel.batch_norm_span=64", "precision.stable_norm=yes", "parallel.recompute=layer" }, 16, true },
        { pipelined, { "parallel.batch_norm_span=2", "parallel.recompute=stage", "parallel.replicas=4" }, 2, false },
        { pipelined, { "parallel.batch_norm_span=4", "parallel.recompute=layer", "parallel.replicas=4" }, 4, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planned y;
        memset(&y, 0, sizeof y);
        if (!simulate(&y.sim, &y.r, cases[i].recipe, cases[i].sets, 3, &paths, &y.cache, &y.err))
            print_error("%s\n", y.err.msg);
        assert_string_equal(y.err.msg, "");
        for (uint32_t k = 0; k < y.sim.plan.n_stages; k++) {
            const struct stage_plan *s = &y.sim.plan.stages[k];
            bool last = k + 1 == y.sim.plan.n_stages;
            uint32_t n_again = y.sim.plan.options.recompute == RECOMPUTE_NONE ? 0 : !last ? s->n_layers
                             : y.sim.plan.options.recompute == RECOMPUTE_LAYER ? s->n_layers - 1 : 0;
            uint64_t again = norms_by_hand(&y, s, PASS_FORWARD, cases[i].span, cases[i].stable, n_again), cycles = again;
            assert_int_equal(s->forward.part[PART_ALL_REDUCE], norms_by_hand(&y, s, PASS_FORWARD, cases[i].span, cases[i].stable, s->n_layers));
            assert_int_equal(s->backward.part[PART_ALL_REDUCE], norms_by_hand(&y, s, PASS_BACKWARD_DATA, cases[i].span, false, s->n_layers) + again);
            for (uint32_t layer = s->first_layer; layer < s->first_layer + n_again; layer++)
                cycles += cycles_total(&s->compiled->layers[layer].forward);
            assert_int_equal(s->recompute_cycles, cycles);
        }
        stop(&y);
    }
}

/* Tensors that are alike go one after the other; merged ones first, then by IPU, small ones first, halves before floats. */
static void tensors_in_order(void **state)
{
    static const struct { const char *name; enum data_type type; uint64_t n; } weights[] = {
        { "a", TYPE_FP32, 48 }, { "b", TYPE_FP16, 48 }, { "c", TYPE_FP32, 48 }, { "d", TYPE_FP32, 14 }, { "e", TYPE_FP16, 48 }, { "f", TYPE_FP16, 14 } };
    static const struct { const char *name; enum data_type type; uint64_t n; uint32_t n_tensors; } want[] = {
        { "f", TYPE_FP16, 14, 1 }, { "d", TYPE_FP32, 14, 1 }, { "b", TYPE_FP16, 48, 2 }, { "a", TYPE_FP32, 48, 2 } };
    struct planned y;
    struct machine m = odd_machine();
    struct topology t;
    struct graph g;
    struct compiler c;
    struct plan p;
    (void)state;
    start(&y, resnet);
    assert_true(topology_build(&t, &m, NULL, &y.sim.arena, &y.err));
    graph_start(&g, "types", 2, &y.sim.arena);
    graph_layer(&g, (struct layer){ .name = "layer", .role = LAYER_BODY, .n_parts = 1 });
    uint32_t last = NO_ID;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        const uint64_t dims[] = { 2, weights[i].n / 2 };
        uint32_t w = graph_tensor(&g, weights[i].name, ROLE_WEIGHT, weights[i].type, 2, dims), in = graph_tensor(&g, "x", ROLE_INPUT, weights[i].type, 2, dims);
        last = graph_op(&g, OP_ADD, (uint32_t[]){ in, w }, 2, (struct op_attributes){0});
    }
    uint32_t labels = graph_tensor(&g, "labels", ROLE_INPUT, TYPE_INT32, 1, (uint64_t[]){ 2 });
    graph_op(&g, OP_CROSS_ENTROPY, (uint32_t[]){ last, labels }, 2, (struct op_attributes){0});
    graph_add_backward(&g);
    compiler_start(&c, &g, &t, &y.cache, &y.sim.arena);
    y.opt.n_replicas = 2, y.opt.ipus_per_replica = 1, y.opt.grad_accum = 1, y.opt.recompute = RECOMPUTE_NONE;
    if (!plan_build(&p, &c, &y.opt, &y.sim.arena, &y.err))
        print_error("%s\n", y.err.msg);
    assert_string_equal(y.err.msg, "");
    uint32_t at = 0;
    while (at < p.update.n_chains && p.update.chains[at].ipu == ALL_IPUS)
        at++;
    assert_int_equal(p.update.n_chains - at, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct update_chain *chain = &p.update.chains[at + i];
        assert_string_equal(chain->tensor, want[i].name);
        assert_true(chain->type == want[i].type && chain->n_elements == want[i].n && chain->n_tensors == want[i].n_tensors);
    }
    stop(&y);
}

static const struct update_op *step_of(const struct update_chain *chain, enum update_kind kind)
{
    for (uint32_t k = 0; k < chain->steps->n_ops; k++)
        if (chain->steps->ops[k].kind == kind)
            return &chain->steps->ops[k];
    return NULL;
}

/* The largest tensors of an IPU. */
static const struct update_chain *largest_of(const struct plan *p, uint32_t ipu)
{
    const struct update_chain *last = NULL;
    for (uint32_t i = 0; i < p->update.n_chains; i++)
        if (p->update.chains[i].ipu == ipu)
            last = &p->update.chains[i];
    assert_non_null(last);
    return last;
}

/* 32 replicas of 8 in pods of 8: a feed-forward matrix of 4 M halves on IPU 3 is reduce-scattered in its four pods at the same time,
 * one IPU of each replica alone on the links, and its eighths all-reduced between pods; in one pod nothing is between. */
static void pods_reduce_and_gather_apart(void **state)
{
    (void)state;
    struct planned y;
    struct plan one;
    start(&y, "mlperf-v2.0-closed-bow-pod256-bert-large");
    struct plan unmerged;
    uint64_t merged = update_cycles(&y.sim.plan, 3, UPDATE_REDUCE_PODS), one_by_one = 0;
    y.opt.framework.merge_buffer_bytes = 0;
    assert_true(build(&y, &unmerged));
    const struct plan *p = &unmerged;
    const struct update_chain *matrix = largest_of(p, 3);
    for (uint32_t i = 0; i < 8; i++)
        one_by_one += update_cycles(p, i, UPDATE_REDUCE_PODS);
    assert_true(0 < merged && merged < one_by_one);                                    /* one all-reduce of all IPUs' shards at once */
    assert_null(step_of(largest_of(&y.sim.plan, 3), UPDATE_REDUCE_PODS));
    assert_true(matrix->steps->sharded && matrix->n_elements == 4096 * 1024 && matrix->n_tensors >= 6);
    uint32_t ranks[32];
    for (uint32_t i = 0; i < 32; i++)
        ranks[i] = i * 8;
    struct collective_request scatter = { .kind = COLLECTIVE_REDUCE_SCATTER, .ranks = ranks, .n_groups = 4, .n_ranks = 8,
                                          .bytes = 2 * 4096 * 1024.0, .n_in_use = 256 };
    struct collective_cost cost;
    assert_true(collective_run(&cost, p->topology, &scatter, &y.sim.arena, &y.err));
    assert_near(cost.split_s, cost.link_s + cost.sync_s, 1e-15);                     /* all steps are on a torus */
    uint64_t want = cycles_of(p->topology, cost.reduce_s + y.opt.fitted.torus_exchanges * cost.split_s);
    assert_int_equal(step_of(matrix, UPDATE_REDUCE)->n_cycles, want);
    for (uint32_t i = 0; i < 32; i++)
        ranks[i] = (i / 4 + i % 4 * 8) * 8;     /* replica i / 4 of pod i % 4 */
    struct collective_request between = { .kind = COLLECTIVE_ALL_REDUCE, .ranks = ranks, .n_groups = 8, .n_ranks = 4,
                                          .bytes = 2 * 4096 * 128.0, .n_in_use = 256 };
    assert_true(collective_run(&cost, p->topology, &between, &y.sim.arena, &y.err));
    assert_near(cost.split_s, 0, 0);                                                 /* none is */
    want = cycles_of(p->topology, cost.time_s);
    assert_int_equal(step_of(matrix, UPDATE_REDUCE_PODS)->n_cycles, want);
    y.opt.n_replicas = 8;
    assert_true(build(&y, &one));
    assert_null(step_of(largest_of(&one, 3), UPDATE_REDUCE_PODS));
    assert_true(step_of(largest_of(&one, 3), UPDATE_GATHER)->n_cycles < step_of(matrix, UPDATE_GATHER)->n_cycles);   /* no sync leaves the pod */
    stop(&y);
}

/* What a framework does changes what is done: merging takes the small all-reduces and norms out of the chains, side by side shares
 * the links but not the time, no other layout saves the copies, clipping adds a step, and a smaller shard more tensors. */
static void a_framework_orders_the_update(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "mlperf-v1.1-closed-ipu-pod64-bert-large");
    const struct plan *base = &y.sim.plan;
    const struct update_chain *matrix = largest_of(base, 3);
    static const enum update_kind order[] = { UPDATE_ZERO, UPDATE_REARRANGE, UPDATE_REDUCE, UPDATE_CLIP, UPDATE_OPTIMIZER, UPDATE_NORMS,
                                              UPDATE_GATHER, UPDATE_COPY_BACK };
    assert_int_equal(matrix->steps->n_ops, 8);
    for (uint32_t k = 0; k < 8; k++)
        assert_int_equal(matrix->steps->ops[k].kind, order[k]);
    y.opt.framework.merge_buffer_bytes = 1e12;
    y.opt.framework.clip_norm = false;
    y.opt.framework.rearrange_before_reduce = false;
    assert_true(build(&y, &p));
    assert_int_equal(largest_of(&p, 3)->steps->n_ops, 3);      /* reduce, optimizer, gather */
    assert_true(p.update.chains[0].ipu == ALL_IPUS && p.update.chains[1].ipu == ALL_IPUS && p.update.chains[2].ipu == 0);
    assert_true(p.update.in_series && p.update.chains[2].steps->n_ops == 1 && !p.update.chains[2].steps->sharded);
    assert_int_equal(update_cycles(&p, 3, UPDATE_ZERO) + update_cycles(&p, 3, UPDATE_CLIP), 0);
    y.opt.framework.update_order = UPDATE_SIDE_BY_SIDE;
    struct plan beside;
    assert_true(build(&y, &beside));
    assert_false(beside.update.in_series);
    assert_true(update_cycles(&beside, 3, UPDATE_GATHER) > update_cycles(&p, 3, UPDATE_GATHER));
    y.opt.framework.sharded_elements = 1;
    assert_true(build(&y, &p));
    assert_true(p.update.chains[p.update.n_chains - 1].steps->sharded && p.update.chains[1].steps->sharded);
    stop(&y);
}

/* 25,557,032 halves in buffers of two fifths of them: three all-reduces of a third. */
static void merged_gradients_fill_buffers(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, resnet);
    y.opt.framework.merge_buffer_bytes = 25557032 * 2 / 2.5;
    assert_true(build(&y, &p));
    assert_true(p.update.chains[0].ipu == ALL_IPUS);
    assert_int_equal(p.update.chains[0].n_tensors, 3);
    assert_near(p.update.chains[0].steps->ops[0].bytes, 25557032 * 2 / 3.0, 1e-3);
    stop(&y);
}

/* State of 2 bytes a parameter, tensor by tensor, there and back at a quarter of the board's memory, each time after an access. */
static void streamed_state_by_hand(void **state)
{
    (void)state;
    struct planned y;
    struct plan p, twice;
    uint64_t want = 0;
    start(&y, "vendor-ipu-pod4-resnet50-tf1");
    const struct machine *m = y.sim.machine;
    y.opt.optimizer_place = OPTIMIZER_STREAMING;
    y.opt.framework.offloaded_elements = 2;
    y.opt.fitted.remote_access_s = 3.7e-6;
    assert_true(build(&y, &p));
    double rate = m->streaming_bytes_per_s * m->streaming_efficiency / 4;
    for (size_t i = 0; i < p.graph->n_tensors; i++)
        if (p.graph->tensors[i].role == ROLE_WEIGHT)
            want += (uint64_t)ceil((3.7e-6 + 2.0 * (double)tensor_elements(&p.graph->tensors[i]) / rate) * m->chip.clock_hz);
    assert_int_equal(update_cycles(&p, 0, UPDATE_LOAD), want);
    assert_int_equal(update_cycles(&p, 0, UPDATE_STORE), want);
    y.opt.framework.offloaded_elements = 100000000;
    assert_true(build(&y, &twice));
    assert_int_equal(update_cycles(&twice, 0, UPDATE_LOAD), 0);
    y.opt.grad_accum *= 2;
    assert_true(build(&y, &twice));
    assert_near((double)twice.host_floor_cycles / (double)p.host_floor_cycles, 2, 1e-6);
    stop(&y);
}

/* Seven steps a call of two session calls of 0.13 s, with three averages of 0.011 s; 20 images of 150,528 bytes a micro-batch for
 * the two replicas of each of two processes, prepared at 1.1 GB/s in the call; an upload every other step. */
static void a_call_by_hand(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "vendor-ipu-pod4-resnet50-tf1");
    const struct machine *m = y.sim.machine;
    double hz = m->chip.clock_hz, fetch_s = 2 * 20 * (double)(224 * 224 * 3) / 1.1e9;
    y.opt.framework.steps_per_call = 7;
    y.opt.framework.session_calls = 2;
    y.opt.framework.output_reductions = 3;
    y.opt.framework.host_data = HOST_DATA_IN_CALL;
    y.opt.framework.host_data_bytes_per_s = 1.1e9;
    y.opt.framework.uploads_per_step = 0.5;
    y.opt.framework.upload_s = 0.017;
    y.opt.fitted.call_s = 0.13;
    y.opt.fitted.output_reduction_s = 0.011;
    assert_true(build(&y, &p));
    assert_int_equal(p.call_cycles[CALL_LATENCY], ceil(2 * m->host_latency_s * hz));
    assert_int_equal(p.call_cycles[CALL_SESSION], ceil(2 * 0.13 / 7 * hz));
    assert_near((double)p.call_cycles[CALL_DATA] / hz, fetch_s * y.opt.grad_accum, 2e-3 * fetch_s);
    assert_near((double)p.call_cycles[CALL_FIRST_FETCH] / hz, fetch_s / 7, 2e-3 * fetch_s);
    assert_int_equal(p.call_cycles[CALL_OUTPUTS], ceil(3 * 0.011 / 7 * hz));
    assert_int_equal(p.call_cycles[CALL_UPLOAD], ceil(0.5 * 0.017 * hz));
    y.opt.framework.host_data = HOST_DATA_AHEAD;
    y.opt.framework.steps_per_call = 0;         /* the run is one call */
    y.opt.n_instances = 1;
    assert_true(build(&y, &p));
    assert_int_equal(p.call_cycles[CALL_SESSION] + p.call_cycles[CALL_DATA] + p.call_cycles[CALL_OUTPUTS], 0);
    y.opt.training = false;                     /* requests overlap, an evaluation's calls do not */
    assert_true(build(&y, &p));
    assert_int_equal(p.call_cycles[CALL_SESSION], 0);
    y.opt.evaluation = true;
    assert_true(build(&y, &p));
    assert_int_equal(p.call_cycles[CALL_SESSION], ceil(2 * 0.13 * hz));
    assert_int_equal(p.call_cycles[CALL_UPLOAD], 0);
    stop(&y);
}

/* A checkpoint a layer: a stage stashes its input and the outputs of all its layers but the last, and moves it all twice. */
static void checkpoints_are_stashed(void **state)
{
    (void)state;
    struct planned y;
    start(&y, bert);
    const struct stage_plan *s = &y.sim.plan.stages[1];
    uint64_t bytes = 0;
    for (uint32_t i = s->first_layer - 1; i + 1 < s->first_layer + s->n_layers; i++)
        bytes += s->compiled->layers[i].output_bytes;
    assert_int_equal(s->stash_bytes, bytes);
    assert_true(s->forward.part[PART_STAGE_COPY] > 0);
    assert_int_equal(s->forward.part[PART_STAGE_COPY], s->backward.part[PART_STAGE_COPY]);
    stop(&y);
}

/* Gradients are added up where there is more than one micro-batch; a sharded optimizer does less; collectives and norms take
 * the time that was planned for them. */
static void what_an_update_is_spent_on(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, bert);
    const struct plan *base = &y.sim.plan;
    for (uint32_t r = 0; r < y.sim.timeline.n_rows; r++) {
        uint64_t norms = update_cycles(base, r, UPDATE_NORMS), gather = update_cycles(base, r, UPDATE_GATHER), clip = 0;
        for (uint32_t k = 0; k < base->update.n_chains; k++) {
            const struct update_op *op = step_of(&base->update.chains[k], UPDATE_CLIP);
            clip += op && base->update.chains[k].ipu == r ? base->update.chains[k].n_tensors * op->cycles.part[PART_ALL_REDUCE] : 0;
        }
        assert_true(norms > 0 && gather > 0);
        assert_int_equal(y.sim.timeline.rows[r].spent.part[PART_ALL_REDUCE], update_cycles(base, r, UPDATE_REDUCE) + clip + norms + gather);
    }
    assert_true(y.sim.plan.stages[1].backward.part[PART_ACCUMULATE] > 0);
    uint64_t sharded = update_cycles(base, 1, UPDATE_OPTIMIZER);
    y.opt.rts = RTS_NO;
    assert_true(build(&y, &p));
    assert_true(sharded < update_cycles(&p, 1, UPDATE_OPTIMIZER));
    y.opt.schedule = SCHEDULE_SEQUENTIAL;
    y.opt.grad_accum = 1;
    assert_true(build(&y, &p));
    assert_int_equal(p.stages[1].backward.part[PART_ACCUMULATE], 0);
    stop(&y);
}

/* In the first cycles stage 0 alone hands on: all replicas' copies at once, after a sync of the chips. */
static void a_copy_is_its_flows_and_a_sync(void **state)
{
    (void)state;
    struct planned y;
    struct flows_cost cost;
    start(&y, "vendor-ipu-pod16-resnet50-pipelined");
    const struct plan *p = &y.sim.plan;
    struct flow f = { 0, 1, (double)p->stages[0].output_bytes };
    assert_int_equal(p->runs[0].active, 1);
    assert_true(compile_flows(&cost, y.sim.compiler, &f, 1, played_replicas(p, 4), 4, &y.err));
    assert_int_equal(p->runs[0].copy_cycles, cycles_of(p->topology, cost.time_s) + y.sim.machine->chip.global_sync_cycles);
    stop(&y);
}

/* The joint network runs slice by slice, and again for the backward pass: its forward work counts twice. */
static void slices_are_done_again(void **state)
{
    (void)state;
    struct planned y;
    uint64_t slices_mac = 0;
    start(&y, "mlperf-v2.0-open-bow-pod64-transformer-transducer");
    for (size_t i = 0; i < y.sim.graph->n_layers; i++) {
        const struct layer_cost *l = &y.sim.plan.stages[1].compiled->layers[i];
        if (y.sim.graph->layers[i].repeats < 2)
            continue;
        assert_int_equal(l->slices_mac, l->forward_mac);
        uint64_t backward = 0;
        for (size_t k = y.sim.graph->n_forward_ops; k < y.sim.graph->n_ops; k++)
            if (y.sim.graph->ops[k].layer_id == i)
                backward += op_plan_cycles(&y.sim.plan.stages[1].compiled->op_plans[k]) * y.sim.graph->layers[i].repeats;
        assert_int_equal(cycles_total(&l->backward), backward + cycles_total(&l->forward));
        slices_mac += l->slices_mac;
    }
    assert_true(slices_mac > 0 && y.sim.plan.hardware_mac - y.sim.plan.model_mac >= slices_mac);
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

/* A configuration planned twice, and after others, is the same to the cycle: what is remembered is what would be found. */
static void memory_of_earlier_plans_changes_nothing(void **state)
{
    (void)state;
    struct planned warm, cold;
    struct plan a, b;
    start(&warm, bert);
    for (uint32_t replicas = 1; replicas <= 4; replicas++)
        for (int schedule = 0; schedule < N_SCHEDULES; schedule++) {
            warm.opt.n_replicas = replicas;
            warm.opt.schedule = (enum schedule)schedule;
            assert_true(build(&warm, &a));
            start(&cold, bert);
            struct compiler c;
            compiler_start(&c, cold.sim.graph, cold.sim.topology, &cold.cache, &cold.sim.arena);
            assert_true(plan_build(&b, &c, &warm.opt, &cold.sim.arena, &cold.err));
            assert_int_equal(a.n_runs, b.n_runs);
            assert_int_equal(a.update.n_chains, b.update.n_chains);
            for (uint32_t i = 0; i < a.update.n_chains; i++) {
                const struct update_steps *x = a.update.chains[i].steps, *y = b.update.chains[i].steps;
                assert_int_equal(x->n_ops, y->n_ops);
                assert_memory_equal(x->ops, y->ops, x->n_ops * sizeof *x->ops);
            }
            assert_memory_equal(a.memory, b.memory, warm.opt.ipus_per_replica * sizeof *a.memory);
            for (uint32_t r = 0; r < a.n_runs; r++)
                assert_true(a.runs[r].copy_cycles == b.runs[r].copy_cycles && a.runs[r].active == b.runs[r].active);
            stop(&cold);
        }
    stop(&warm);
}

/* Two stages an IPU: where the border between the third and the fourth moves, the first IPU has the same first layers and more of them, with
 * another code: ResNet-50's 14th block is the first of its last kind. */
static void a_border_moved_is_another_question(void **state)
{
    static const uint32_t borders[][4][2] = { { { 4, 4 }, { 4, 4 }, { 2, 2 }, { 6, 6 } }, { { 4, 4 }, { 4, 4 }, { 6, 6 }, { 2, 2 } },
                                              { { 2, 2 }, { 6, 6 }, { 2, 2 }, { 6, 6 } } };
    struct planned warm, cold;
    struct plan a, b;
    (void)state;
    start(&warm, "vendor-ipu-pod16-resnet50-pipelined");
    warm.opt.ipus_per_replica = 2;
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        sizes(&warm.opt, borders[i], 4);
        assert_true(build(&warm, &a));
        assert_true(a.stages[2].ipu == 0 && a.stages[3].ipu == 1);
        start(&cold, "vendor-ipu-pod16-resnet50-pipelined");
        struct compiler c;
        compiler_start(&c, cold.sim.graph, cold.sim.topology, &cold.cache, &cold.sim.arena);
        assert_true(plan_build(&b, &c, &warm.opt, &cold.sim.arena, &cold.err));
        assert_memory_equal(a.memory, b.memory, 2 * sizeof *a.memory);
        stop(&cold);
    }
    stop(&warm);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(malformed_requests_are_refused), cmocka_unit_test(more_stages_than_blocks),
    cmocka_unit_test(operations_sum_to_the_timeline), cmocka_unit_test(recomputation_is_counted_once),
    cmocka_unit_test(placement_conserves_the_model), cmocka_unit_test(tied_weights_are_copied_to_other_ipus), cmocka_unit_test(idle_chips_take_no_share),
    cmocka_unit_test(norms_over_domains_are_not_free), cmocka_unit_test(work_runs_where_results_lie), cmocka_unit_test(norms_of_groups_by_hand), cmocka_unit_test(tensors_in_order), cmocka_unit_test(what_an_update_is_spent_on),
    cmocka_unit_test(a_copy_is_its_flows_and_a_sync), cmocka_unit_test(slices_are_done_again), cmocka_unit_test(pods_reduce_and_gather_apart),
    cmocka_unit_test(streamed_state_by_hand), cmocka_unit_test(a_call_by_hand),
        cmocka_unit_test(a_framework_orders_the_update), cmocka_unit_test(merged_gradients_fill_buffers), cmocka_unit_test(checkpoints_are_stashed), cmocka_unit_test(shares_of_memory_by_ipu), cmocka_unit_test(steps_too_long_to_time_are_refused), cmocka_unit_test(a_plan_as_text), cmocka_unit_test(schedules_as_text), cmocka_unit_test(inference_holds_what_is_read_later), cmocka_unit_test(streamed_state_must_fit_the_memory), cmocka_unit_test(memory_of_earlier_plans_changes_nothing), cmocka_unit_test(a_border_moved_is_another_question),
};
TAP_MAIN(tests)
