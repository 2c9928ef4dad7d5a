/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_update.c - the weight update that a plan holds: its steps, their order and their cycles, by hand.
 */
#include "tests/planned.h"
#include "system-model/graph/graph.h"
#include "tests/odd_machine.h"

static const char bert[] = "mlperf-v1.1-closed-ipu-pod16-bert-large", resnet[] = "mlperf-v1.1-closed-ipu-pod16-resnet50";

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
    assert_true(p.memory[3].bytes[MEMORY_WEIGHTS] > p.memory[2].bytes[MEMORY_WEIGHTS] + table / 1472);
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

/* The copy has moments of its own: all that is updated on an IPU has them there, of each replica a half where they are sharded. */
static void copies_have_moments(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, bert);
    y.opt.n_stages = 0;
    y.opt.state.place = OPTIMIZER_ON_CHIP;
    for (uint32_t n = 1; n < 3; n++) {
        double elements = 0;
        y.opt.n_replicas = n;
        y.opt.program.sharded_elements = 0;
        assert_true(build(&y, &p));
        for (uint32_t i = 0; i < p.update.n_chains; i++)
            elements += p.update.chains[i].ipu == 3 ? (double)p.update.chains[i].n_tensors * (double)p.update.chains[i].n_elements : 0;
        uint64_t grains = ceil_div((uint64_t)(elements * y.opt.optimizer.state_bytes_per_param / n), 256);
        assert_true(elements > (double)y.sim.recipe.model.vocabulary * 1024);
        assert_int_equal(p.memory[3].bytes[MEMORY_OPTIMIZER], ceil_div(grains, 1472) * 256);
    }
    stop(&y);
}

/* Two layers on other IPUs read the word table; each has a copy that is updated. */
static void every_copy_is_updated(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, bert);
    uint64_t table = y.sim.recipe.model.vocabulary * 1024;
    y.opt.n_stages = 0;
    assert_true(build(&y, &p) && y.sim.compiler->n_tied == 1);
    struct tied_use uses[] = { { p.stages[2].first_layer, y.sim.compiler->tied[0].tensor_id }, y.sim.compiler->tied[0] };
    y.sim.compiler->tied = uses, y.sim.compiler->n_tied = 2;
    y.opt.program.sharded_elements = 7;       /* another program than the one that is known */
    assert_true(build(&y, &p));
    for (uint32_t ipu = 0; ipu < 4; ipu++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < p.update.n_chains; i++)
            n += p.update.chains[i].ipu == ipu && p.update.chains[i].n_elements == table ? p.update.chains[i].n_tensors : 0;
        assert_int_equal(n, ipu != 1);
    }
    stop(&y);
}

/* Rows of entities that are spread over the replicas have no gradient to reduce, and no shards to gather; the table of relations has. */
static void spread_rows_are_updated_where_they_are(void **state)
{
    struct planned y;
    bool reduced[2] = { false, false }, seen[2] = { false, false };
    (void)state;
    start(&y, "field-ipu-pod4-transe-wikikg2-bess");
    for (uint32_t i = 0; i < y.sim.plan.update.n_chains; i++) {
        const struct update_chain *chain = &y.sim.plan.update.chains[i];
        const bool entities = chain->n_elements > 10000000;         /* the other table has 535 rows */
        seen[entities] = true;
        assert_int_equal(chain->apart, entities);
        for (uint32_t k = 0; k < chain->steps->n_ops; k++)
            reduced[entities] |= chain->steps->ops[k].kind == UPDATE_REDUCE || chain->steps->ops[k].kind == UPDATE_GATHER;
    }
    assert_true(seen[0] && seen[1] && reduced[0] && !reduced[1]);
    stop(&y);
}

/* Tensors that are alike go one after the other; merged ones first, then by IPU, small ones first, halves before floats. Merged norms are of
 * the widest. */
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
    y.opt.program.merge_norm_bytes = 216;
    if (!plan_build(&p, &c, &y.opt, &y.sim.arena, &y.err))
        print_error("%s\n", y.err.msg);
    assert_string_equal(y.err.msg, "");
    uint32_t at = 0;
    while (at < p.update.n_chains && p.update.chains[at].ipu == ALL_IPUS)
        at++;
    double norm_bytes = 0;              /* two norms of all of them in one reduction, of floats as some are */
    for (uint32_t i = 0; i < at; i++)
        norm_bytes += text_is(p.update.chains[i].tensor, "norms") ? p.update.chains[i].steps->ops[0].bytes : 0;
    assert_near(norm_bytes, 2 * (4 * 48 + 2 * 14) * 4, 0);
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
        if (p->update.chains[i].ipu == ipu && !p->update.chains[i].is_merged)
            last = &p->update.chains[i];
    assert_non_null(last);
    return last;
}

static uint64_t work_cycles(const struct plan *p, enum vector_work work, uint64_t n)
{
    struct op_plan plan;
    struct cycles c = {0};
    vector_work_plan(&plan, work, n, TYPE_FP16, 2, &p->topology->machine->chip, &p->stages[0].compiled->options);
    cycles_add_plan(&c, &plan, PART_OPTIMIZER, 1);
    return cycles_total(&c);
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
    y.opt.program.merge_buffer_bytes = 0;
    y.opt.program.torus_exchanges = TORUS_ONE_LINK_FURTHER;
    assert_true(build(&y, &unmerged));
    const struct plan *p = &unmerged;
    const struct update_chain *matrix = largest_of(p, 3);
    for (uint32_t i = 0; i < 8; i++)
        one_by_one += update_cycles(p, i, UPDATE_REDUCE_PODS);
    assert_true(0 < merged && merged < one_by_one);                                    /* one all-reduce of all IPUs' shards at once */
    assert_null(step_of(largest_of(&y.sim.plan, 3), UPDATE_REDUCE_PODS));
    assert_true(matrix->steps->n_shards > 1 && matrix->n_elements == 4096 * 1024 && matrix->n_tensors >= 6);
    uint32_t ranks[32];
    for (uint32_t i = 0; i < 32; i++)
        ranks[i] = i * 8;
    struct collective_request scatter = { .kind = COLLECTIVE_REDUCE_SCATTER, .ranks = ranks, .n_groups = 4, .n_ranks = 8,
                                          .bytes = 2 * 4096 * 1024.0, .n_in_use = 256 };
    struct collective_cost cost;
    assert_true(collective_run(&cost, p->topology, &scatter, &y.sim.arena, &y.err));
    uint64_t want = cycles_of(p->topology, cost.time_s);
    assert_int_equal(step_of(matrix, UPDATE_REDUCE)->n_cycles, want);
    for (uint32_t i = 0; i < 32; i++)
        ranks[i] = (i / 4 + i % 4 * 8) * 8;     /* replica i / 4 of pod i % 4 */
    struct collective_request between = { .kind = COLLECTIVE_ALL_REDUCE, .ranks = ranks, .n_groups = 8, .n_ranks = 4,
                                          .bytes = 2 * 4096 * 128.0, .n_in_use = 256 };
    assert_true(collective_run(&cost, p->topology, &between, &y.sim.arena, &y.err));
    want = cycles_of(p->topology, cost.time_s);
    assert_int_equal(step_of(matrix, UPDATE_REDUCE_PODS)->n_cycles, want);
    y.opt.n_replicas = 8;
    assert_true(build(&y, &one));
    assert_null(step_of(largest_of(&one, 3), UPDATE_REDUCE_PODS));
    assert_true(step_of(largest_of(&one, 3), UPDATE_GATHER)->n_cycles < step_of(matrix, UPDATE_GATHER)->n_cycles);   /* no sync leaves the pod */
    stop(&y);
}

/* Sixteen replicas of one IPU: what the links of each kind carry for an all-reduce of gradients is what a collective of all puts on them. */
static void links_carry_the_collectives_bytes(void **state)
{
    (void)state;
    struct planned y;
    size_t n = 0;
    start(&y, resnet);
    const struct plan *p = &y.sim.plan;
    uint32_t ranks[16];
    for (uint32_t i = 0; i < 16; i++)
        ranks[i] = i;
    for (uint32_t i = 0; i < p->update.n_chains; i++) {
        const struct update_op *op = step_of(&p->update.chains[i], UPDATE_REDUCE);
        if (!op)
            continue;
        struct collective_request all = { .kind = COLLECTIVE_ALL_REDUCE, .ranks = ranks, .n_groups = 1, .n_ranks = 16, .bytes = op->bytes,
                                          .n_in_use = 16 };
        struct collective_cost cost;
        assert_true(collective_run(&cost, p->topology, &all, &y.sim.arena, &y.err));
        assert_true(cost.busiest_bytes[LINK_RUNG] > 0 && cost.busiest_bytes[LINK_RAIL] > 0);
        assert_memory_equal(op->busiest_bytes, cost.busiest_bytes, sizeof cost.busiest_bytes);
        n++;
    }
    assert_true(n > 0);
    stop(&y);
}

/* The framework's program changes the steps: merging takes the small all-reduces and norms out of the chains, side by side all IPUs' copies
 * go round a torus in step, no two on a rail at once, no other layout saves the copies, clipping adds a step, and a smaller shard more tensors. */
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
    y.opt.program.clip_norm = false;
    y.opt.program.rearrange_before_reduce = false;
    for (double buffer_bytes = 4; buffer_bytes <= 4e12; buffer_bytes *= 1e12) {        /* as small as a norm on its way */
        y.opt.program.merge_buffer_bytes = buffer_bytes;
        assert_true(build(&y, &p));
        assert_int_equal(largest_of(&p, 3)->steps->n_ops, 3);      /* reduce, optimizer, gather */
    }
    assert_true(p.update.chains[0].ipu == ALL_IPUS && p.update.chains[1].ipu == ALL_IPUS && p.update.chains[2].ipu == 0);
    assert_true(p.update.in_series && p.update.chains[2].steps->n_ops == 1 && p.update.chains[2].steps->n_shards == 1);
    assert_int_equal(update_cycles(&p, 3, UPDATE_ZERO) + update_cycles(&p, 3, UPDATE_CLIP), 0);
    y.opt.program.torus_exchanges = TORUS_ONE_LINK_FURTHER;
    assert_true(build(&y, &p));
    y.opt.program.update_order = UPDATE_SIDE_BY_SIDE;
    struct plan beside;
    assert_true(build(&y, &beside));
    assert_false(beside.update.in_series);
    assert_true(update_cycles(&beside, 3, UPDATE_GATHER) == update_cycles(&p, 3, UPDATE_GATHER));
    y.opt.program.sharded_elements = 1;
    assert_true(build(&y, &p));
    assert_true(p.update.chains[p.update.n_chains - 1].steps->n_shards > 1 && p.update.chains[1].steps->n_shards > 1);
    stop(&y);
}

/* With two IPUs the second sends its word to the first and gets one back; a single IPU has nobody to send to. */
static void words_of_a_clip_go_round(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= 2; width++) {
        struct planned y;
        struct plan p;
        struct flows_cost flow = {0};
        const struct flow word = { 1, 0, 4 };
        start(&y, "vendor-ipu-pod16-resnet50-pipelined");
        y.opt.program.clip_norm = true;
        y.opt.ipus_per_replica = width;
        y.opt.n_stages = 0;
        assert_true(build(&y, &p));
        assert_true(width == 1 || compile_flows(&flow, y.sim.compiler, &word, 1, y.opt.n_replicas, width, &y.err));
        const struct update_op *clip = step_of(largest_of(&p, width - 1), UPDATE_CLIP);
        uint64_t words = 2 * (cycles_of(y.sim.topology, flow.time_s) + y.sim.machine->chip.global_sync_cycles);
        assert_int_equal(clip->cycles.part[PART_ALL_REDUCE], width == 1 ? 0 : words);
        stop(&y);
    }
}

/* A sharded chain of IPU 3 clips: its shard is squared and scaled, a word goes to the next IPU of the replica and one comes back, each with
 * a sync, and the shards' sums are added up, 4 bytes; merged with others or of one replica they are added elsewhere or not at all. */
static void a_clip_by_hand(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "mlperf-v1.1-closed-ipu-pod64-bert-large");
    const struct update_chain *matrix = largest_of(&y.sim.plan, 3);
    uint32_t width = y.opt.ipus_per_replica, n = y.opt.n_replicas, ranks[64];
    assert_true(matrix->steps->n_shards > 1 && width == 8 && n == 8);
    const struct flow word = { 3, 4, 4 };
    struct flows_cost flow;
    struct collective_cost sums;
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = i * width + 3;
    struct collective_request request = { .kind = COLLECTIVE_ALL_REDUCE, .ranks = ranks, .n_groups = 1, .n_ranks = n, .bytes = 4, .n_in_use = 64 };
    assert_true(compile_flows(&flow, y.sim.compiler, &word, 1, n, width, &y.err));
    assert_true(collective_run(&sums, y.sim.topology, &request, &y.sim.arena, &y.err));
    uint64_t words = 2 * (cycles_of(y.sim.topology, flow.time_s) + y.sim.machine->chip.global_sync_cycles);
    const struct update_op *clip = step_of(matrix, UPDATE_CLIP);
    uint64_t n_local = ceil_div(matrix->n_elements, n), work = work_cycles(&y.sim.plan, WORK_SQUARES, n_local) + work_cycles(&y.sim.plan, WORK_SCALE, n_local);
    assert_int_equal(clip->cycles.part[PART_ALL_REDUCE], words + cycles_of(y.sim.topology, sums.time_s));
    assert_int_equal(clip->n_cycles, clip->cycles.part[PART_ALL_REDUCE] + work);
    assert_near(clip->bytes, 2 * 2 * (double)n_local + 4, 0);           /* halves read twice, a word added up */
    const struct update_op *norms = step_of(matrix, UPDATE_NORMS);
    assert_int_equal(norms->n_cycles, 2 * cycles_of(y.sim.topology, sums.time_s));      /* the weight's and the update's, a word each */
    assert_near(norms->bytes, 2 * 4, 0);
    y.opt.program.merge_buffer_bytes = 1e12;
    assert_true(build(&y, &p));
    assert_int_equal(step_of(largest_of(&p, 3), UPDATE_CLIP)->cycles.part[PART_ALL_REDUCE], words);
    y.opt.program.merge_buffer_bytes = 0;
    y.opt.state.rts = RTS_NO;
    assert_true(build(&y, &p));
    assert_int_equal(step_of(largest_of(&p, 3), UPDATE_CLIP)->cycles.part[PART_ALL_REDUCE], words);
    stop(&y);
}

/* ResNet-50's kernels and biases of 262,144 halves and more are larger than a buffer of 524,287 B and go alone, each
 * for its own IPU; the others together fill buffers. With one byte more the buffer has room for the smallest of the
 * former too. A buffer of 7 B has room for nothing. */
static void what_a_buffer_has_no_room_for_goes_alone(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, resnet);
    const double buffers[] = { 524287, 524288, 7 };
    for (uint32_t i = 0; i < 3; i++) {
        double small_bytes = 0, alone_bytes = 0;
        y.opt.program.merge_buffer_bytes = buffers[i];
        assert_true(build(&y, &p));
        for (size_t k = 0; k < p.graph->n_tensors; k++) {
            double bytes = (double)tensor_bytes(&p.graph->tensors[k]);
            if (p.graph->tensors[k].role == ROLE_WEIGHT && bytes <= buffers[i])
                small_bytes += bytes;
        }
        for (uint32_t k = 0; k < p.update.n_chains; k++) {
            const struct update_chain *chain = &p.update.chains[k];
            const struct update_op *reduce = step_of(chain, UPDATE_REDUCE);
            if (chain->ipu == ALL_IPUS) {
                assert_int_equal(chain->n_tensors, (uint32_t)ceil(small_bytes / buffers[i]));
                assert_near(reduce->bytes, small_bytes / chain->n_tensors, 1e-3);
            } else {
                assert_true((reduce != NULL) == ((double)(2 * chain->n_elements) > buffers[i]));
                alone_bytes += reduce ? chain->n_tensors * reduce->bytes : 0;
            }
        }
        assert_true(p.update.chains[0].ipu == (small_bytes > 0 ? ALL_IPUS : 0));
        assert_near(small_bytes + alone_bytes, 2 * 25557032, 0);
    }
    stop(&y);
}

/* Shards between pods, squares and norms on 128 IPUs: a word needs a buffer of 4 B, a shard one of its own size. If
 * all go alone, nothing is merged, as without a buffer. */
static void words_and_shards_are_merged_where_they_fit(void **state)
{
    (void)state;
    struct planned y;
    struct plan p, none;
    start(&y, "mlperf-v1.1-closed-ipu-pod128-bert-large");
    y.opt.program.clip_norm = true;
    y.opt.program.merge_buffer_bytes = 0;
    assert_true(build(&y, &none));
    const struct update_chain *alone = largest_of(&none, 3);
    double shard_bytes = step_of(alone, UPDATE_REDUCE_PODS)->bytes;
    const struct { double buffer_bytes; bool words, shards; } rows[] = { { 3, false, false }, { 4, true, false }, { shard_bytes - 1, true, false },
                                                                         { shard_bytes, true, true } };
    for (uint32_t i = 0; i < 4; i++) {
        y.opt.program.merge_buffer_bytes = rows[i].buffer_bytes;
        assert_true(build(&y, &p));
        const struct update_chain *chain = largest_of(&p, 3);
        assert_int_equal(chain->n_elements, alone->n_elements);
        assert_true((step_of(chain, UPDATE_NORMS) == NULL) == rows[i].words);
        assert_true((step_of(chain, UPDATE_CLIP)->n_cycles < step_of(alone, UPDATE_CLIP)->n_cycles) == rows[i].words);
        assert_true((step_of(chain, UPDATE_REDUCE_PODS) == NULL) == rows[i].shards);
        assert_true((p.update.chains[0].ipu == ALL_IPUS) == rows[i].words);
        if (!rows[i].words)
            assert_int_equal(p.update.n_chains, none.update.n_chains);
    }
    stop(&y);
}

static double squares_bytes(const struct plan *p)
{
    double bytes = 0;
    for (uint32_t i = 0; i < p->update.n_chains; i++)
        if (p->update.chains[i].ipu == ALL_IPUS && strcmp(p->update.chains[i].tensor, "squares") == 0)
            bytes += p->update.chains[i].n_tensors * p->update.chains[i].steps->ops[0].bytes;
    return bytes;
}

/* Every replica has all of a tensor that is not sharded, and so its squares: a word goes round for each sharded one, of the IPU with most. */
static void squares_of_shards_alone_go_round(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "mlperf-v1.1-closed-ipu-pod64-bert-large");
    y.opt.program.clip_norm = true;
    y.opt.program.merge_buffer_bytes = 1e12;
    for (int k = 0; k < 2; k++) {
        uint32_t n[64] = {0}, most = 0, n_whole = 0;
        assert_true(build(&y, &p));
        for (uint32_t i = 0; i < p.update.n_chains; i++) {
            const struct update_chain *c = &p.update.chains[i];
            if (c->ipu != ALL_IPUS && c->steps->n_shards > 1)
                most = max_u32(most, n[c->ipu] += c->n_tensors);
            n_whole += c->ipu != ALL_IPUS && c->steps->n_shards == 1;
        }
        assert_true(n_whole > 0 && (most > 0) == (k == 0));
        assert_near(squares_bytes(&p), 4.0 * most, 0);
        y.opt.program.sharded_elements = 1000000000;
    }
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
    y.opt.state.place = OPTIMIZER_STREAMING;
    y.opt.program.offloaded_elements = 2;
    y.sim.machine->host_latency_s = 3.7e-6;
    y.opt.fitted.streaming_s_per_byte = 2e-11;
    assert_true(build(&y, &p));
    double rate = 1 / (4 * (1 / (m->streaming_bytes_per_s * m->streaming_efficiency) + 2e-11));
    for (size_t i = 0; i < p.graph->n_tensors; i++)
        if (p.graph->tensors[i].role == ROLE_WEIGHT)
            want += (uint64_t)ceil((3.7e-6 + 2.0 * (double)tensor_elements(&p.graph->tensors[i]) / rate) * m->chip.clock_hz);
    assert_int_equal(update_cycles(&p, 0, UPDATE_LOAD), want);
    assert_int_equal(update_cycles(&p, 0, UPDATE_STORE), want);
    y.opt.program.offloaded_elements = 100000000;
    assert_true(build(&y, &twice));
    assert_int_equal(update_cycles(&twice, 0, UPDATE_LOAD), 0);
    y.opt.grad_accum *= 2;
    assert_true(build(&y, &twice));
    assert_near((double)twice.host_floor_cycles / (double)p.host_floor_cycles, 2, 1e-6);
    stop(&y);
}

/* LARS takes norms of ResNet-50's 54 kernels (25,557,032 parameters without 53,120 of batch norms and 1,000 biases), of no vector. Two
 * norms of fp32 each make 432 B: two reductions of 216 B, or five of 100 B, in which every kernel is read once. LAMB has norms of all. */
static void norms_are_taken_of_kernels_one_by_one_or_merged(void **state)
{
    const struct { double buffer_bytes; uint32_t n_merged; } rows[] = { { 0, 0 }, { 216, 2 }, { 100, 5 } };
    struct planned y;
    (void)state;
    start(&y, resnet);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan p;
        uint32_t n_kernels = 0, n_merged = 0;
        y.opt.program.merge_norm_bytes = rows[i].buffer_bytes;
        assert_true(build(&y, &p));
        for (uint32_t k = 0; k < p.update.n_chains; k++) {
            const struct update_chain *chain = &p.update.chains[k];
            const struct update_op *optimizer = step_of(chain, UPDATE_OPTIMIZER), *merged = step_of(chain, UPDATE_NORMS);
            if (merged) {
                n_merged += chain->n_tensors;
                assert_true(chain->ipu == ALL_IPUS && chain->n_elements == ceil_div(2 * UINT64_C(25502912), rows[i].n_merged));
                assert_int_equal(merged->n_cycles, work_cycles(&p, WORK_SQUARES, chain->n_elements));
            }
            if (!optimizer)
                continue;
            n_kernels += chain->has_norms ? chain->n_tensors : 0;
            assert_int_equal(optimizer->n_cycles,
                             work_cycles(&p, chain->has_norms && !rows[i].n_merged ? WORK_LARS : WORK_SGD_MOMENTUM, chain->n_elements));
        }
        assert_true(n_kernels == 54 && n_merged == rows[i].n_merged);
    }
    stop(&y);
    start(&y, bert);
    for (uint32_t k = 0; k < y.sim.plan.update.n_chains; k++)
        assert_true(y.sim.plan.update.chains[k].has_norms || y.sim.plan.update.chains[k].ipu == ALL_IPUS);
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
    y.opt.state.rts = RTS_NO;
    assert_true(build(&y, &p));
    assert_true(sharded < update_cycles(&p, 1, UPDATE_OPTIMIZER));
    y.opt.schedule = SCHEDULE_SEQUENTIAL;
    y.opt.grad_accum = 1;
    assert_true(build(&y, &p));
    assert_int_equal(p.stages[1].backward.part[PART_ACCUMULATE], 0);
    stop(&y);
}

/* All moments together are told, and the arithmetic goes by one: of LAMB's 4, 6 and 8 bytes by 2, 3 and 4, of SGD's one moment by all. */
static void the_arithmetic_is_as_wide_as_a_moment(void **state)
{
    static const struct { const char *recipe; double state_bytes, moment_bytes; } rows[] = {
        { "mlperf-v2.0-closed-bow-pod16-bert-large", 4, 2 }, { "mlperf-v2.0-closed-bow-pod16-bert-large", 6, 3 },
        { "mlperf-v2.0-closed-bow-pod16-bert-large", 8, 4 }, { "vendor-ipu-pod4-resnet50-tf1", 2, 2 }, { "vendor-ipu-pod4-resnet50-tf1", 4, 4 },
    };
    uint64_t halves = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct planned y;
        struct plan p;
        struct op_plan work;
        struct cycles want = {0};
        start(&y, rows[i].recipe);
        y.opt.optimizer.state_bytes_per_param = rows[i].state_bytes;
        assert_true(build(&y, &p));
        const struct update_chain *c = largest_of(&p, 0);
        vector_work_plan(&work, c->has_norms ? y.opt.optimizer.work : y.opt.optimizer.work_without_norms,
                         c->steps->n_shards > 1 ? c->n_elements / 2 : c->n_elements, c->type, rows[i].moment_bytes, &p.topology->machine->chip, &p.stages[0].compiled->options);
        cycles_add_plan(&want, &work, PART_OPTIMIZER, 1);
        assert_int_equal(step_of(c, UPDATE_OPTIMIZER)->n_cycles, cycles_total(&want));
        assert_true(rows[i].moment_bytes == 2 || step_of(c, UPDATE_OPTIMIZER)->n_cycles > halves);
        halves = rows[i].moment_bytes == 2 ? step_of(c, UPDATE_OPTIMIZER)->n_cycles : halves;
        stop(&y);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_arithmetic_is_as_wide_as_a_moment), cmocka_unit_test(tied_weights_are_copied_to_other_ipus), cmocka_unit_test(copies_have_moments), cmocka_unit_test(every_copy_is_updated), cmocka_unit_test(spread_rows_are_updated_where_they_are), cmocka_unit_test(tensors_in_order),
    cmocka_unit_test(pods_reduce_and_gather_apart), cmocka_unit_test(links_carry_the_collectives_bytes),
    cmocka_unit_test(a_framework_orders_the_update),
    cmocka_unit_test(a_clip_by_hand), cmocka_unit_test(words_of_a_clip_go_round),
    cmocka_unit_test(what_a_buffer_has_no_room_for_goes_alone),
    cmocka_unit_test(words_and_shards_are_merged_where_they_fit), cmocka_unit_test(squares_of_shards_alone_go_round), cmocka_unit_test(streamed_state_by_hand),
    cmocka_unit_test(norms_are_taken_of_kernels_one_by_one_or_merged), cmocka_unit_test(what_an_update_is_spent_on),
};
TAP_MAIN(tests)
