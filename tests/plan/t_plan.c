/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_plan.c - refusals of the planner, word by word; that a plan adds up; and that what is remembered changes none.
 */
#include "system-model/output/output.h"
#include "tests/planned.h"
#include "system-model/graph/graph.h"
#include "tests/golden_text.h"
#include "tests/odd_machine.h"
#include "system-model/plan/stage_program.h"
#include "results/simulate/split.h"

/* ---- refusals ------------------------------------------------------------------------------------- */

/* BERT-Large: 24 blocks; four IPUs a replica, five stages. ResNet-50: 16 blocks. */
static const char bert[] = "mlperf-v1.1-closed-ipu-pod16-bert-large", resnet[] = "mlperf-v1.1-closed-ipu-pod16-resnet50";

static void more_ipus_than_there_are(struct plan_request *o) { o->n_replicas = 7; }
static void no_replica(struct plan_request *o)               { o->n_replicas = 0; }
static void too_many_stages(struct plan_request *o)          { o->n_stages = 0; o->ipus_per_replica = 16; o->n_replicas = 1; }
static void too_few_blocks(struct plan_request *o)           { sizes(o, (const uint32_t[][2]){ { 11, 11 }, { 12, 12 } }, 2); }
static void feed_forwards_missing(struct plan_request *o)    { sizes(o, (const uint32_t[][2]){ { 12, 12 }, { 12, 11 } }, 2); }
static void attentions_missing(struct plan_request *o)       { sizes(o, (const uint32_t[][2]){ { 12, 12 }, { 11, 12 } }, 2); }
static void halves_out_of_order(struct plan_request *o)      { sizes(o, (const uint32_t[][2]){ { 13, 11 }, { 11, 13 } }, 2); }
static void empty_stage(struct plan_request *o)              { sizes(o, (const uint32_t[][2]){ { 11, 11 }, { 0, 0 }, { 13, 13 } }, 3); }
static void halves_on_stages(struct plan_request *o, uint32_t n)     /* one each, the last has the others */
{
    uint32_t counts[33][2] = { { 0 } };
    for (uint32_t i = 0; i + 1 < n; i++)
        counts[i][i % 2] = 1;
    counts[n - 1][0] = 24 - n / 2;
    counts[n - 1][1] = 24 - (n - 1) / 2;
    sizes(o, counts, n);
    o->grad_accum = 63;
}
static void deep_pipeline(struct plan_request *o)            { halves_on_stages(o, 33); }
static void short_pipeline(struct plan_request *o)           { o->grad_accum = 3; }
static void all_tiles_for_io(struct plan_request *o)         { o->io_tiles = 1472; }
static void odd_pods(struct plan_request *o)                 { o->n_replicas = 12; }
static void no_such_layer(struct plan_request *o)
{
    o->recompute = RECOMPUTE_CHECKPOINTS;
    o->checkpoints[0] = "stage1/unit1";
    o->checkpoints[1] = "stage7/unit9";
    o->n_checkpoints = 2;
}

static const struct refusal { const char *recipe; void (*spoil)(struct plan_request *o); const char *message; } refusals[] = {
    { bert, more_ipus_than_there_are, "parallel: 7 replicas of 4 IPUs want 28 IPUs, ipu-pod16 has 16; lower parallel.replicas or take a larger recipe.system" },
    { bert, no_replica, "parallel: replicas, ipus_per_replica and gradient_accumulation must be at least 1" },
    { "mlperf-v2.0-closed-bow-pod256-bert-large", odd_pods,
      "parallel.rts_domain: pod, but 12 replicas are not a multiple of the 8 of a pod; use all, or change parallel.replicas" },
    { resnet, all_tiles_for_io, "parallel.io_tiles: 1472 of the gc200's 1472 tiles leaves none to compute" },
    { resnet, no_such_layer, "parallel.recompute_checkpoints: resnet50 has no layer 'stage7/unit9'; its layers are listed by 'podbench workload resnet50'" },
    { bert, too_few_blocks, "parallel.layers_per_ipu: adds up to 23, want the 24 blocks of bert-large" },
    { bert, feed_forwards_missing, "parallel.layers_per_ipu: adds up to 23, want the 24 blocks of bert-large" },
    { bert, attentions_missing, "parallel.layers_per_ipu: adds up to 23, want the 24 blocks of bert-large" },
    { bert, halves_out_of_order, "parallel.layers_per_ipu: layer encoder12/attention would go back from stage 1 to stage 0; its halves must follow each other" },
    { bert, empty_stage, "parallel.layers_per_ipu: stage 1 of 3 holds no layer of bert-large" },
    { bert, deep_pipeline, "parallel.layers_per_ipu: 33 stages, at most 32 can be scheduled" },
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

/* BERT-Large has 24 blocks, here on 4 IPUs. If the word table is in two parts, IPU 0 has the first part and no block; IPU 1 has the second part and 8 blocks,
 * as have IPUs 2 and 3; products with the two parts are stages 4 and 5. If it is in four parts, IPU 3 has all 24 blocks. */
static void a_table_of_parts_is_spread(void **state)
{
    static const struct { const char *parts; uint32_t n, sizes[8][2]; } cases[] = {
        { "parallel.embedding_split=2", 6, { { 0 }, { 8, 8 }, { 8, 8 }, { 8, 8 } } }, { "parallel.embedding_split=4", 8, { [3] = { 24, 24 } } } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planned y = { 0 };
        struct plan p;
        assert_true(simulate(&y.sim, &y.r, bert, (const char *[]){ "parallel.layers_per_ipu=", cases[i].parts }, 2, &paths, &y.cache, &y.err));
        y.opt = y.sim.plan.request;
        y.opt.n_stages = 0;
        assert_true(build(&y, &p));
        assert_int_equal(p.n_stages, cases[i].n);
        assert_memory_equal(p.request.stage_sizes, cases[i].sizes, cases[i].n * sizeof *cases[i].sizes);
        y.opt.ipus_per_replica = 3;
        assert_int_equal(build(&y, &p), i == 0);
        assert_string_equal(y.err.msg, i ? "parallel.embedding_split: 4 parts for 3 IPUs a replica; give at most one an IPU" : "");
        stop(&y);
    }
}

/* A stage of -1 has the blocks that the others leave: 24 - 5 - 6 - 3 attentions and 24 - 5 - 7 - 3 feed-forwards. In phases of five blocks there are seven:
 * the embedding's, four of five blocks, one of four, and the head's. */
static void stages_of_what_is_left(void **state)
{
    struct planned y;
    struct plan p;
    (void)state;
    start(&y, bert);
    sizes(&y.opt, (const uint32_t[][2]){ { 5, 5 }, { STAGE_REST, STAGE_REST }, { 6, 7 }, { 3, 3 } }, 4);
    assert_true(build(&y, &p));
    assert_memory_equal(p.request.stage_sizes, ((uint32_t[][2]){ { 5, 5 }, { 10, 9 }, { 6, 7 }, { 3, 3 } }), 4 * sizeof *p.request.stage_sizes);
    sizes(&y.opt, (const uint32_t[][2]){ { 13, 1 }, { STAGE_REST, STAGE_REST }, { 12, 12 } }, 3);
    assert_false(build(&y, &p));
    assert_string_equal(y.err.msg, "parallel.layers_per_ipu: 25 blocks are more than the 24 of bert-large, and leave none for the stage of -1");
    y.opt.phase_blocks = 5;
    assert_false(build(&y, &p) && p.n_stages != 7);
    assert_int_equal(p.n_stages, 7);
    assert_memory_equal(p.request.stage_sizes, ((uint32_t[][2]){ { 0 }, { 5, 5 }, { 5, 5 }, { 5, 5 }, { 5, 5 }, { 4, 4 }, { 0 } }), 7 * sizeof *p.request.stage_sizes);
    stop(&y);
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
    y.opt.ipus_per_replica = 4;
    halves_on_stages(&y.opt, 32);       /* and so are 32 stages: as many micro-batches as fill and empty them */
    assert_true(build(&y, &p));
    assert_int_equal(p.n_tasks, 64);
    assert_int_equal(tasks_of_run(&p, p.n_runs - 1), (uint64_t)1 << 63);
    assert_int_equal(p.runs[p.n_runs - 1].first_cycle, 62 + 63 - 1);
    stop(&y);
}

/* 4 IPUs a board with 25,557,032 parameters each, of which tensors of less than 12,500 stay: norms 53,120, the classifier's bias 1000, the first
 * kernel 9408 and the first 1x1 one 4096. 2 bytes a parameter: 0.2039 GB; three replicas hold a third of each tensor, rounded up. */
static void streamed_state_must_fit_the_memory(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "vendor-ipu-pod4-resnet50-tf1");
    y.opt.state.place = OPTIMIZER_STREAMING;
    y.sim.machine->streaming_bytes = 4 * 25489408 * 2;
    assert_true(build(&y, &p));
    y.opt.optimizer.state_bytes_per_param = 0;          /* no state wants no memory */
    y.sim.machine->streaming_bytes = 0;
    assert_true(build(&y, &p));
    y.opt.optimizer.state_bytes_per_param = 2;
    y.sim.machine->streaming_bytes = 4 * 25489408 * 2 - 1;
    assert_false(build(&y, &p));
    assert_string_equal(y.err.msg, "parallel.optimizer_state: streaming wants 0.2039 GB of a board's memory, ipu-pod4 has 0.2039 GB; "
                                   "shard it (parallel.rts=yes) or use more IPUs a replica");
    y.opt.state.rts = RTS_YES;
    assert_true(build(&y, &p));
    uint64_t thirds = 0;
    for (uint32_t i = 0; i < p.update.n_chains; i++)
        if (p.update.chains[i].ipu == 0 && p.update.chains[i].n_elements >= 12500)
            thirds += p.update.chains[i].n_tensors * ((p.update.chains[i].n_elements + 2) / 3);
    y.opt.n_replicas = 3;
    y.sim.machine->streaming_bytes = 3 * thirds * 2;
    assert_true(build(&y, &p));
    y.sim.machine->streaming_bytes = 3 * thirds * 2 - 1;
    assert_false(build(&y, &p));
    stop(&y);
}

/* A board of 4 IPUs has room for four times what IPU 0 streams, which has the word table. Each tensor that is not
 * too small is sharded over 4 replicas. */
static void the_ipu_with_most_state_counts(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, bert);
    assert_true(build(&y, &p) && p.request.state.place == OPTIMIZER_STREAMING && p.request.n_replicas == 4 && p.request.ipus_per_replica == 4);
    uint64_t first = 0, last = 0;
    for (uint32_t i = 0; i < p.update.n_chains; i++) {
        const struct update_chain *c = &p.update.chains[i];
        uint64_t part = c->n_tensors * (c->steps->n_shards > 1 ? (c->n_elements + 3) / 4 : c->n_elements);
        first += c->ipu == 0 && c->n_elements >= p.request.program.offloaded_elements ? part : 0;
        last += c->ipu == 3 && c->n_elements >= p.request.program.offloaded_elements ? part : 0;
    }
    assert_true(first > last && last > 0);
    y.sim.machine->streaming_bytes = (uint64_t)((double)(4 * first) * y.opt.optimizer.state_bytes_per_param);
    assert_true(build(&y, &p));
    y.sim.machine->streaming_bytes--;
    assert_false(build(&y, &p));
    stop(&y);
}

/* A step is refused where its parts, one after the other, take 2^53 cycles, 6.77e6 s at 1.33 GHz; told is what takes most. */
static void steps_too_long_to_time_are_refused(void **state)
{
    struct planned y;
    struct plan p;
    (void)state;
    start(&y, "vendor-ipu-pod16-resnet50-pipelined");
    y.opt.fitted.streaming_s_per_byte = 1;
    y.opt.state.place = OPTIMIZER_STREAMING;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "most go to the weight update: raise the rates of links and memory"));
    y.opt = y.sim.plan.request;
    y.opt.grad_accum = 4000000000u;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "most go to computing: lower parallel.micro_batch"));
    y.opt = y.sim.plan.request;
    y.opt.fitted.unexplained_call_s = 1e9;
    y.opt.host.decode_bytes_per_s = 1;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "most go to input from the host: raise hosts.decode_bytes_per_s"));
    y.opt = y.sim.plan.request;                         /* each image over a link of a byte in a thousand seconds; then a host that takes a day to answer */
    y.opt.io_tiles = 0;
    y.sim.machine->chip.host_link_bytes_per_s = 1e-3;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "most go to input from the host: raise hosts.decode_bytes_per_s"));
    y.sim.machine->chip.host_link_bytes_per_s = 1e9;
    y.sim.machine->host_latency_s = 86400;
    y.opt.program.fetch_threads = 1;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "most go to input from the host: raise hosts.decode_bytes_per_s"));
    y.opt.host.synthetic_data = true;                        /* no step waits for the host then, however far it is */
    y.sim.machine->host_latency_s = 40 * 86400;
    assert_true(build(&y, &p));
    y.opt.training = false;                                 /* a request that overlaps others is asked for and answered, in two times 40 days */
    y.opt.program.calls_overlap = true;
    assert_false(build(&y, &p));
    assert_non_null(strstr(y.err.msg, "most go to input from the host: raise hosts.decode_bytes_per_s"));
    stop(&y);
}

/* 2^53 cycles are refused and one less is taken, by a clock of 2^30 Hz and an upload that fills a step up to them. */
static void the_longest_step_of_all(void **state)
{
    struct planned y;
    struct plan p;
    (void)state;
    start(&y, "vendor-ipu-pod16-resnet50-pipelined");
    y.sim.machine->chip.clock_hz = 1 << 30;
    y.opt.io_tiles = 0;
    y.opt.program.fetch_threads = 1;
    y.opt.program.steps_per_call = y.opt.program.uploads_per_call = 1;
    y.opt.program.upload_s = 0;
    assert_true(build(&y, &p));
    uint64_t rest = p.host_floor_cycles + p.fetch_cycles * y.opt.grad_accum, copies = 0, update = 0;
    for (uint32_t s = 0; s < p.n_stages; s++)
        rest += (p.stages[s].forward_cycles + p.stages[s].backward_cycles + p.io_cycles[s] + p.result_cycles[s]) * y.opt.grad_accum;
    for (uint32_t i = 0; i < p.n_runs; i++)
        copies += p.runs[i].copy_cycles * p.runs[i].n_cycles;
    for (uint32_t i = 0; i < p.update.n_chains; i++)
        update += p.update.chains[i].steps->n_cycles * p.update.chains[i].n_tensors;
    for (int i = 0; i < N_CALL_PARTS; i++)
        rest += p.call_cycles[i];
    assert_true(copies > 0 && update > 0 && p.io_cycles[0] > 0 && p.fetch_cycles > 0 && p.host_floor_cycles > 0);
    rest += copies + update;
    y.opt.program.upload_s = ldexp((double)((UINT64_C(1) << 53) - 1 - rest), -30);
    assert_true(build(&y, &p));
    y.opt.program.upload_s += ldexp(1, -30);
    assert_false(build(&y, &p));
    assert_string_equal(y.err.msg, "one step takes 9.01e+15 cycles or more, 9.01e+15 (2^53) are too many to time; most go to input from the host: "
                                   "raise hosts.decode_bytes_per_s, or the host's rates on the machine's sheets");
    stop(&y);
}

/* PopLibs' default where none is given; one for all; a share each, the last for what follows. */
static void shares_of_memory_by_ipu(void **state)
{
    struct plan_request o = { .available_memory = { 0.35, 0.2, 0.45 } };
    (void)state;
    assert_near(plan_available_memory(&o, 2), 0.6, 0);
    o.n_available_memory = 1;
    assert_near(plan_available_memory(&o, 3), 0.35, 0);
    o.n_available_memory = 3;
    assert_near(plan_available_memory(&o, 0), 0.35, 0);
    assert_near(plan_available_memory(&o, 1), 0.2, 0);
    assert_near(plan_available_memory(&o, 3), 0.45, 0);
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
        const struct op_plan *o = p.stages[0].compiled->op_plans[i];
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
/* One compute set over bytes that lie evenly: 48 cycles a worker and one for each 8 bytes, six workers in turn. */
static uint64_t copied_cycles(const struct chip *chip, uint64_t n_tiles, uint64_t bytes)
{
    uint64_t words = ((bytes + 7) / 8 + n_tiles - 1) / n_tiles, worker = (words + 5) / 6;
    return bytes ? 6 * (48 + worker) + superstep_cycles(chip) : 0;
}

/* A stage's attentions share their code, and its feed-forward halves theirs, as each has several here: a forward call copies weights and input in, the
 * output and what backward passes read out. The embeddings, alone of their kind, are not called. */
static void calls_copy_what_they_take(void **state)
{
    (void)state;
    struct planned y;
    struct plan without, with;
    start(&y, bert);
    y.opt.program.calls_by_value = false;
    assert_true(build(&y, &without));
    y.opt.program.calls_by_value = true;
    assert_true(build(&y, &with));
    uint64_t n_called = 0;
    for (uint32_t s = 0; s < with.n_stages; s++) {
        const struct stage_plan *stage = &with.stages[s];
        uint64_t want = 0, tiles = stage->compiled->options.n_tiles, n_body = 0;
        for (uint32_t i = stage->first_layer; i < stage_end(stage); i++)
            n_body += with.graph->layers[i].role == LAYER_BODY;
        for (uint32_t i = stage->first_layer; i < stage_end(stage) && n_body > 3; i++) {
            const struct layer_cost *l = &stage->compiled->layers[i];
            if (with.graph->layers[i].role != LAYER_BODY)
                continue;
            n_called++;
            want += copied_cycles(&y.sim.machine->chip, tiles, l->weight_bytes + l[-1].output_bytes);
            want += copied_cycles(&y.sim.machine->chip, tiles, l->output_bytes + l->kept_bytes);
        }
        assert_int_equal(cycles_total(&stage->forward) - cycles_total(&without.stages[s].forward), want);
    }
    assert_true(n_called > 40);
    y.opt.outlining = OUTLINING_NO;
    assert_true(build(&y, &with));
    assert_int_equal(with.stages[1].forward_cycles, without.stages[1].forward_cycles);
    stop(&y);
}

static void recomputation_is_counted_once(void **state)
{
    (void)state;
    struct planned y;
    struct plan none, layer;
    start(&y, bert);
    y.opt.recompute = RECOMPUTE_NONE;
    y.opt.outlining = OUTLINING_NO;         /* no calls, which copy */
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
            double energy_j = 0;                /* its layers forward twice, and backward, but for what makes a block's output alone: the second half's norm */
            for (uint32_t i = stage->first_layer; i < stage->first_layer + stage->n_layers; i++) {
                const struct layer_cost *l = &stage->compiled->layers[i];
                bool ends = is_checkpoint(layer.graph, layer.request.recompute, layer.named_checkpoints, i) || i + 1 == stage->first_layer + stage->n_layers;
                uint64_t norm = cycles_total(&l->ahead[AHEAD_OF_STAGE].cycles);
                assert_true(norm > 0 && norm < cycles_total(&l->forward) && norm == cycles_total(&l->ahead[AHEAD_OF_CHECKPOINT].cycles));
                layers += cycles_total(&l->forward) - (ends ? norm : 0);
                energy_j += 2 * energy_total(&l->forward_energy) + energy_total(&l->backward_energy) - (ends ? energy_total(&l->ahead[AHEAD_OF_STAGE].energy) : 0);
            }
            assert_int_equal(stage->recompute_cycles, layers);
            assert_near(energy_total(&stage->energy) / energy_j, 1, 1e-12);
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
        assert_int_equal(p.global_batch, p.graph->micro_batch * p.request.grad_accum);
    }
    stop(&y);
}

/* ---- asked again --------------------------------------------------------------------------------------- */

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
                assert_true(a.runs[r].copy_cycles == b.runs[r].copy_cycles && tasks_of_run(&a, r) == tasks_of_run(&b, r));
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

/* Gradients are accumulated where there are several micro-batches, whatever was planned before. */
static void an_accumulation_is_another_question(void **state)
{
    static const uint32_t n[] = { 1, 2, 1, 16, 2 };
    struct planned y;
    struct plan p;
    uint64_t accumulating = 0;
    (void)state;
    start(&y, resnet);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        y.opt.grad_accum = n[i];
        assert_true(build(&y, &p));
        assert_int_equal(p.n_stages, 1);
        uint64_t cycles = p.stages[0].backward.part[PART_ACCUMULATE];
        accumulating = i == 1 ? cycles : accumulating;
        assert_int_equal(cycles, n[i] == 1 ? 0 : accumulating);
    }
    assert_true(accumulating > 0);
    stop(&y);
}

/* Layers named as checkpoints, after others: as many, of names as long, in another order, fewer. */
static void checkpoints_are_those_named_now(void **state)
{
    static const struct { uint32_t n; const char *names[3]; } lists[] = {
        { 2, { "stage1/unit1", "stage2/unit2" } }, { 2, { "stage1/unit1", "stage3/unit2" } }, { 2, { "stage3/unit2", "stage2/unit1" } },
        { 3, { "stage1/unit1", "stage2/unit2", "stage3/unit1" } }, { 1, { "stage1/unit1" } }, { 2, { "stage1/unit1", "stage1/unit1" } },
    };
    struct planned y;
    struct plan p;
    (void)state;
    start(&y, resnet);
    y.opt.recompute = RECOMPUTE_CHECKPOINTS;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        y.opt.n_checkpoints = lists[i].n;
        for (uint32_t k = 0; k < lists[i].n; k++)
            y.opt.checkpoints[k] = lists[i].names[k];
        assert_true(build(&y, &p));
        for (uint32_t l = 0; l < p.graph->n_layers; l++) {
            bool named = false;
            for (uint32_t k = 0; k < lists[i].n; k++)
                named = named || text_is(p.graph->layers[l].name, lists[i].names[k]);
            assert_int_equal(is_checkpoint(p.graph, p.request.recompute, p.named_checkpoints, l), named);
        }
    }
    stop(&y);
}

/* Compilers of one graph share what its stages run, unless layers are named, which each compiler keeps by itself. */
static void programs_of_stages_belong_to_the_graph(void **state)
{
    (void)state;
    struct planned y;
    struct compiler other;
    start(&y, bert);
    compiler_start(&other, y.sim.graph, y.sim.topology, &y.cache, &y.sim.arena);
    other.of_graph = y.sim.compiler->of_graph;
    bool *named = ARENA_ARRAY(&y.sim.arena, bool, y.sim.graph->n_layers);
    struct stage_layers stage = { .first = 1, .n = 3, .recompute = RECOMPUTE_CHECKPOINTS };
    assert_ptr_equal(compile_stage_program(&other, &stage), compile_stage_program(y.sim.compiler, &stage));
    stage.checkpoints = named;
    assert_ptr_not_equal(compile_stage_program(&other, &stage), compile_stage_program(y.sim.compiler, &stage));
    stop(&y);
}

/* 1000 and 700 parameters, of which 30 and 50 are in tables whose rows are spread over the replicas. */
static void own_parameters_by_hand(void **state)
{
    struct stage_plan stages[] = { { .n_parameters = 1000, .n_spread = 30 }, { .n_parameters = 700, .n_spread = 50 } };
    const struct plan p = { .stages = stages, .n_stages = 2 };
    (void)state;
    assert_int_equal(plan_parameters(&p), 1700);
    assert_int_equal(plan_own_parameters(&p), 1620);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(own_parameters_by_hand), cmocka_unit_test(malformed_requests_are_refused), cmocka_unit_test(programs_of_stages_belong_to_the_graph), cmocka_unit_test(a_table_of_parts_is_spread), cmocka_unit_test(stages_of_what_is_left), cmocka_unit_test(more_stages_than_blocks),
    cmocka_unit_test(streamed_state_must_fit_the_memory), cmocka_unit_test(the_ipu_with_most_state_counts), cmocka_unit_test(steps_too_long_to_time_are_refused), cmocka_unit_test(the_longest_step_of_all),
    cmocka_unit_test(shares_of_memory_by_ipu), cmocka_unit_test(operations_sum_to_the_timeline),
    cmocka_unit_test(recomputation_is_counted_once), cmocka_unit_test(calls_copy_what_they_take), cmocka_unit_test(placement_conserves_the_model),
    cmocka_unit_test(memory_of_earlier_plans_changes_nothing), cmocka_unit_test(a_border_moved_is_another_question), cmocka_unit_test(checkpoints_are_those_named_now), cmocka_unit_test(an_accumulation_is_another_question),
};
TAP_MAIN(tests)
