/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_steps.c - whole steps of a toy model on a toy machine, digit for digit (tests/golden/steps.txt): one line of the table changes one
 * thing of what is asked, and the text shows all that follows from it.
 */
#include "system-model/output/output.h"
#include "tests/planned.h"
#include "system-model/graph/graph.h"
#include "tests/golden_text.h"
#include "tests/odd_machine.h"
#include "results/simulate/split.h"

/* ---- the model: a table, six blocks of two halves, scores by the table ---------------------------------------------- */

static uint32_t weight(struct graph *g, uint32_t n_dims, uint64_t rows, uint64_t columns)
{
    return graph_tensor(g, "w", ROLE_WEIGHT, TYPE_FP16, n_dims, (uint64_t[]){ rows, columns });
}

static uint32_t normed(struct graph *g, uint32_t x)
{
    const uint32_t three[] = { x, weight(g, 1, 24, 0), weight(g, 1, 24, 0) };
    return graph_op(g, OP_LAYER_NORM, three, 3, (struct op_attributes){ 0 });
}

static uint32_t dense(struct graph *g, uint32_t x, uint64_t in, uint64_t out)
{
    const uint32_t two[] = { x, weight(g, 2, in, out) };
    const uint32_t biased[] = { graph_op(g, OP_MATMUL, two, 2, (struct op_attributes){ 0 }), weight(g, 1, out, 0) };
    return graph_op(g, OP_BIAS_ADD, biased, 2, (struct op_attributes){ 0 });
}

/* The halves grow with the block, so that no two stages are alike. */
static uint32_t half(struct graph *g, uint32_t x, uint32_t block, uint32_t part, struct arena *a)
{
    uint64_t inner = part ? 48 + 8 * block : 24;
    graph_layer(g, (struct layer){ .name = arena_printf(a, "block%u/%s", block, part ? "second" : "first"), .role = LAYER_BODY, .block_id = block,
                                   .part_id = part, .n_parts = 2 });
    uint32_t y = dense(g, normed(g, x), 24, inner);
    y = graph_op(g, part ? OP_GELU : OP_DROPOUT, &y, 1, (struct op_attributes){ .rate = part ? 0 : 0.1 });
    return graph_op(g, OP_ADD, (uint32_t[]){ x, part ? dense(g, y, inner, 24) : y }, 2, (struct op_attributes){ 0 });
}

/* Adds half a block and takes it away again, so that the arrays hold operations behind the model's end. */
static void leave_behind(struct graph *g, uint32_t x, struct arena *a)
{
    size_t n_layers = g->n_layers, n_ops = g->n_ops, n_tensors = g->n_tensors, n_forward_ops = g->n_forward_ops;
    g->n_forward_ops = n_ops;
    half(g, x, 6, 0, a);
    g->n_forward_ops = n_forward_ops;
    g->n_layers = n_layers;
    g->n_ops = n_ops;
    g->n_tensors = n_tensors;
}

static void toy_model(struct graph *g, bool training, struct arena *a)
{
    graph_start(g, "toy", 2, a);
    graph_layer(g, (struct layer){ .name = "table", .role = LAYER_FIRST, .n_parts = 1 });
    uint32_t table = weight(g, 2, 40, 24), tokens = graph_tensor(g, "tokens", ROLE_INPUT, TYPE_INT32, 2, (uint64_t[]){ 2, 15 });
    uint32_t x = graph_op(g, OP_GATHER, (uint32_t[]){ table, tokens }, 2, (struct op_attributes){ 0 });
    for (uint32_t i = 0; i < 12; i++)
        x = half(g, x, i / 2, i % 2, a);
    graph_layer(g, (struct layer){ .name = "scores", .role = LAYER_LAST, .n_parts = 1 });
    const uint32_t two[] = { normed(g, x), table }, hidden = x;
    x = graph_op(g, OP_MATMUL, two, 2, (struct op_attributes){ .transpose_b = true });
    uint32_t labels = graph_tensor(g, "labels", ROLE_INPUT, TYPE_INT32, 2, (uint64_t[]){ 2, 15 });
    graph_op(g, OP_CROSS_ENTROPY, (uint32_t[]){ x, labels }, 2, (struct op_attributes){ 0 });
    if (training)
        graph_add_backward(g);
    leave_behind(g, hidden, a);
}

/* Sixteen IPUs in two ladders behind gateways, with memory next to the boards and a host for each ladder. */
static struct machine two_ladders(void)
{
    struct machine m = odd_machine();
    m.n_ipus = 16;
    m.ipus_per_domain = m.ipus_per_host = 8;
    m.gateway_topology = GATEWAY_DIRECT;
    m.chip.tile_memory_bytes = 9700;
    return m;
}

/* ---- what is asked ------------------------------------------------------------------------------------------------------ */

static void stages(struct plan_request *o, uint32_t n, const uint32_t (*counts)[2])
{
    o->n_stages = n;
    for (uint32_t i = 0; i < n; i++)
        o->stage_sizes[i] = (struct stage_size){ { counts[i][0], counts[i][1] } };
}

static void base(struct plan_request *o)
{
    fix_constants(o);
    o->n_replicas = 4;
    o->ipus_per_replica = 4;
    o->grad_accum = 16;
    o->host.n_hosts = o->host.n_instances = 2;
    o->schedule = SCHEDULE_GROUPED;
    o->recompute = RECOMPUTE_STAGE;
    o->program.offloaded_elements = o->program.sharded_elements = 100;
    o->program.accumulation_multiple = 0;
    stages(o, 4, (const uint32_t[][2]){ { 1, 1 }, { 2, 1 }, { 1, 2 }, { 2, 2 } });
}

#define ASK(name, ...) static void name(struct plan_request *o) { base(o); __VA_ARGS__; }
ASK(grouped, (void)o)
ASK(interleaved, o->schedule = SCHEDULE_INTERLEAVED)
ASK(sequential, o->schedule = SCHEDULE_SEQUENTIAL; o->grad_accum = 5)
ASK(as_popart, o->schedule = SCHEDULE_POPART)
ASK(heads_come_back, stages(o, 5, (const uint32_t[][2]){ { 1, 1 }, { 2, 1 }, { 1, 2 }, { 2, 2 }, { 0, 0 } }))
ASK(interleaved_heads_come_back, o->schedule = SCHEDULE_INTERLEAVED; stages(o, 5, (const uint32_t[][2]){ { 1, 1 }, { 2, 1 }, { 1, 2 }, { 2, 2 }, { 0, 0 } }))
ASK(layers_again, o->recompute = RECOMPUTE_LAYER)
ASK(checkpoints, o->recompute = RECOMPUTE_CHECKPOINTS; o->n_checkpoints = 2; o->checkpoints[0] = "block1/first"; o->checkpoints[1] = "block4/second")
ASK(nothing_again, o->recompute = RECOMPUTE_NONE)
ASK(one_ipu, o->n_stages = 0; o->ipus_per_replica = 1; o->n_replicas = 16; o->schedule = SCHEDULE_NONE; o->grad_accum = 3)
ASK(one_micro_batch, o->n_stages = 0; o->ipus_per_replica = 1; o->n_replicas = 1; o->schedule = SCHEDULE_NONE; o->grad_accum = 1)
ASK(one_replica, o->n_replicas = 1)
ASK(one_replica_streaming, o->n_replicas = 1; o->state.place = OPTIMIZER_STREAMING)
ASK(infers, o->training = false; o->recompute = RECOMPUTE_NONE)
ASK(evaluates, o->training = false; o->evaluation = true; o->recompute = RECOMPUTE_NONE; o->grad_accum = 7)
ASK(infers_in_turn, o->training = false; o->schedule = SCHEDULE_SEQUENTIAL; o->recompute = RECOMPUTE_NONE)
ASK(sharded, o->state.rts = RTS_YES)
ASK(sharded_streaming, o->state.rts = RTS_YES; o->state.place = OPTIMIZER_STREAMING)
ASK(sharded_by_pod, o->state.rts = RTS_YES; o->state.rts_domain = RTS_DOMAIN_POD; o->state.place = OPTIMIZER_STREAMING)
ASK(streaming, o->state.place = OPTIMIZER_STREAMING)
ASK(streaming_together, o->state.place = OPTIMIZER_STREAMING; o->program.remote_together = true; o->program.remote_alone_ipus = 1)
ASK(streaming_in_series, o->state.place = OPTIMIZER_STREAMING; o->program.update_order = UPDATE_IN_SERIES)
ASK(side_by_side, o->state.rts = RTS_YES; o->program.update_order = UPDATE_SIDE_BY_SIDE)
ASK(one_by_one, o->program.merge_buffer_bytes = 0; o->program.update_order = UPDATE_IN_SERIES)
ASK(merged, o->program.merge_buffer_bytes = 3000; o->program.update_order = UPDATE_SIDE_BY_SIDE)
ASK(rearranged, o->state.rts = RTS_YES; o->program.rearrange_before_reduce = true)
ASK(clipped, o->program.clip_norm = true)
ASK(clipped_shards, o->program.clip_norm = true; o->state.rts = RTS_YES)
ASK(by_lamb, o->optimizer = ((struct optimizer){ WORK_LAMB, WORK_ADAM, 4, NORMS_OF_ALL, 2, true }); o->program.moment_bytes = 4; o->optimizer.state_bytes_per_param = 8)
ASK(by_lamb_sharded, o->optimizer = ((struct optimizer){ WORK_LAMB, WORK_ADAM, 8, NORMS_OF_ALL, 2, true }); o->state.rts = RTS_YES; o->state.place = OPTIMIZER_STREAMING)
ASK(by_lamb_merged, o->optimizer = ((struct optimizer){ WORK_LAMB, WORK_ADAM, 8, NORMS_OF_ALL, 2, true }); o->state.rts = RTS_YES; o->program.merge_buffer_bytes = 3000)
ASK(by_adam, o->optimizer = ((struct optimizer){ WORK_ADAM, WORK_ADAM, 8, NORMS_NONE, 2, true }))
ASK(by_lars, o->optimizer = ((struct optimizer){ WORK_LARS, WORK_SGD_MOMENTUM, 2, NORMS_OF_KERNELS, 1, false }))
ASK(by_lars_merged, o->optimizer = ((struct optimizer){ WORK_LARS, WORK_SGD_MOMENTUM, 2, NORMS_OF_KERNELS, 1, false }); o->program.merge_norm_bytes = 20)
ASK(stash_in_floats, o->stash_type = TYPE_FP32)
ASK(stash_in_quarters, o->stash_type = TYPE_FP8)
ASK(with_io_tiles, o->io_tiles = 9)
ASK(many_hosts, o->host.n_hosts = 2; o->host.n_instances = 8; o->program.output_reductions = 3; o->program.fetch_threads = 1; o->program.session_calls = 2)
ASK(data_in_calls, o->program.host_data = HOST_DATA_IN_CALL; o->program.host_data_bytes_per_s = 3e6; o->program.steps_per_call = 3)
ASK(first_steps_timed, o->detail.timed_steps = 9; o->fitted.loader_s_per_byte = 4e-10)
ASK(slow_decoding, o->host.decode_bytes_per_s = 1e6)
ASK(uploads, o->program.uploads_per_call = 2; o->program.upload_s = 4e-5; o->program.steps_per_call = 1)
ASK(one_long_call, o->program.steps_per_call = 0)
ASK(by_rings, o->all_reduce_method = METHOD_RING)
ASK(hierarchical, o->all_reduce_method = METHOD_HIERARCHICAL)
ASK(each_replica_alone, o->detail.unfolded = true)
ASK(in_floats, o->partials = PARTIALS_FP32)
ASK(little_memory, o->n_available_memory = 2; o->available_memory[0] = 0.05; o->available_memory[1] = 0.1)
ASK(more_memory_asked_than_fits, o->n_available_memory = 1; o->available_memory[0] = 0.95; o->recompute = RECOMPUTE_NONE; o->grad_accum = 8)
ASK(three_replicas, o->n_replicas = 3)
ASK(two_ipus, o->n_replicas = 8; o->ipus_per_replica = 2; stages(o, 2, (const uint32_t[][2]){ { 3, 2 }, { 3, 4 } }))
ASK(by_itself, o->n_stages = 0)
ASK(by_itself_on_two, o->n_stages = 0; o->ipus_per_replica = 2; o->n_replicas = 5)
ASK(by_itself_on_five, o->n_stages = 0; o->ipus_per_replica = 5; o->n_replicas = 3; o->recompute = RECOMPUTE_LAYER)
ASK(by_itself_interleaved, o->n_stages = 0; o->schedule = SCHEDULE_INTERLEAVED; o->recompute = RECOMPUTE_NONE)
ASK(by_itself_in_turn, o->n_stages = 0; o->schedule = SCHEDULE_SEQUENTIAL; o->state.rts = RTS_YES)
ASK(by_itself_infers, o->n_stages = 0; o->training = false; o->recompute = RECOMPUTE_NONE)
ASK(by_itself_as_popart, o->n_stages = 0; o->schedule = SCHEDULE_POPART; o->state.place = OPTIMIZER_STREAMING)
ASK(two_replicas, o->n_replicas = 2; o->program.merge_buffer_bytes = 0)
ASK(two_replicas_sharded, o->n_replicas = 2; o->state.rts = RTS_YES)
ASK(two_replicas_streaming, o->n_replicas = 2; o->state.rts = RTS_YES; o->state.place = OPTIMIZER_STREAMING)
ASK(two_of_one_ipu, o->n_stages = 0; o->ipus_per_replica = 1; o->n_replicas = 2; o->schedule = SCHEDULE_NONE; o->grad_accum = 2)

#define ROW(name) { #name, name }
static const struct { const char *name; void (*ask)(struct plan_request *o); } asked[] = {
    ROW(grouped), ROW(interleaved), ROW(sequential), ROW(as_popart), ROW(heads_come_back), ROW(interleaved_heads_come_back), ROW(layers_again),
    ROW(checkpoints), ROW(nothing_again), ROW(one_ipu), ROW(one_micro_batch), ROW(one_replica), ROW(one_replica_streaming),
    ROW(infers), ROW(evaluates), ROW(infers_in_turn), ROW(sharded),
    ROW(sharded_streaming), ROW(sharded_by_pod), ROW(streaming), ROW(streaming_together), ROW(streaming_in_series), ROW(side_by_side), ROW(one_by_one),
    ROW(merged), ROW(rearranged), ROW(clipped), ROW(clipped_shards), ROW(by_lamb), ROW(by_lamb_sharded), ROW(by_lamb_merged), ROW(by_adam), ROW(by_lars), ROW(by_lars_merged),
    ROW(stash_in_floats), ROW(stash_in_quarters), ROW(with_io_tiles), ROW(many_hosts), ROW(data_in_calls), ROW(first_steps_timed), ROW(slow_decoding), ROW(uploads),
    ROW(one_long_call), ROW(by_rings), ROW(hierarchical), ROW(each_replica_alone), ROW(in_floats), ROW(little_memory), ROW(more_memory_asked_than_fits),
    ROW(three_replicas), ROW(two_ipus), ROW(by_itself), ROW(by_itself_on_two), ROW(by_itself_on_five), ROW(by_itself_interleaved), ROW(by_itself_in_turn),
    ROW(by_itself_infers), ROW(by_itself_as_popart), ROW(two_replicas), ROW(two_replicas_sharded), ROW(two_replicas_streaming), ROW(two_of_one_ipu),
};

/* ---- what follows ----------------------------------------------------------------------------------------------------------- */

static void print_stages(FILE *f, const struct plan *p)
{
    for (uint32_t i = 0; i < p->n_stages; i++) {
        const struct stage_plan *s = &p->stages[i];
        fprintf(f, "stage %u on %u: layers %u + %u, %u again; %ju forward, %ju backward, %ju of them again; stash %ju B x %u, out %ju B, host %ju B, io %ju, weights %ju B of %ju\n",
                i, s->ipu, s->first_layer, s->n_layers, s->n_layers_again, (uintmax_t)cycles_total(&s->forward), (uintmax_t)cycles_total(&s->backward),
                (uintmax_t)s->recompute_cycles, (uintmax_t)s->stash_bytes, s->stash_depth, (uintmax_t)s->output_bytes, (uintmax_t)s->host_bytes,
                (uintmax_t)p->io_cycles[i], (uintmax_t)s->weight_bytes, (uintmax_t)s->n_parameters);
    }
}

static void print_memory(FILE *f, const struct plan *p)
{
    for (uint32_t i = 0; i < p->request.ipus_per_replica; i++) {
        fprintf(f, "memory %u:", i);
        for (int k = 0; k < N_MEMORY_CATEGORIES; k++)
            fprintf(f, " %ju", (uintmax_t)p->memory[i].bytes[k]);
        fprintf(f, ", io %ju, all %ju\n", (uintmax_t)p->memory[i].io_tile_bytes, (uintmax_t)p->memory[i].total_bytes);
    }
    fprintf(f, "%s: worst IPU %u, short of %ju B; batch %ju, %ju parameters, %ju MAC, %ju done\n", p->fits ? "fits" : "does not fit", p->worst_ipu,
            (uintmax_t)p->shortfall_bytes, (uintmax_t)p->global_batch, (uintmax_t)p->n_parameters, (uintmax_t)p->model_mac, (uintmax_t)p->hardware_mac);
}

static void print_update(FILE *f, const struct plan *p)
{
    const struct update_program *u = &p->update;
    fprintf(f, "update %s:\n", u->in_series ? "in series" : "side by side");
    for (uint32_t i = 0; i < u->n_chains; i++) {
        const struct update_chain *c = &u->chains[i];
        const struct update_steps *s = c->steps;
        fprintf(f, "  %d: %u x %ju%s %ju:", (int)c->ipu, c->n_tensors, (uintmax_t)c->n_elements, s->n_shards > 1 ? " sharded" : "", (uintmax_t)s->n_cycles);
        for (uint32_t k = 0; k < s->n_ops; k++)
            fprintf(f, " %s%s %ju/%.10g", update_kind_names[s->ops[k].kind], s->ops[k].on_tiles ? "" : "*", (uintmax_t)s->ops[k].n_cycles, s->ops[k].bytes);
        fputc('\n', f);
    }
}

static void print_time(FILE *f, const struct timeline *t)
{
    const struct plan *p = t->plan;
    fprintf(f, "call:");
    for (int i = 0; i < N_CALL_PARTS; i++)
        fprintf(f, " %ju", (uintmax_t)p->call_cycles[i]);
    fprintf(f, ", fetch %ju, floor %ju; runs:", (uintmax_t)p->fetch_cycles, (uintmax_t)p->host_floor_cycles);
    for (uint32_t i = 0; i < p->n_runs; i++)
        fprintf(f, " %u+%u x%jx %ju", p->runs[i].first_cycle, p->runs[i].n_cycles, (uintmax_t)tasks_of_run(p, i), (uintmax_t)p->runs[i].copy_cycles);
    fprintf(f, "\nstep %ju, first output %ju, %zu spans\n", (uintmax_t)t->step_cycles, (uintmax_t)t->first_output_cycles, t->n_spans);
    for (uint32_t i = 0; i < t->n_rows; i++) {
        fprintf(f, "  %u.%u x %u:", t->rows[i].replica, t->rows[i].ipu, t->rows[i].n_alike);
        for (int k = 0; k < N_PARTS; k++)
            if (t->rows[i].spent.part[k])
                fprintf(f, " %s %ju", part_names[k], (uintmax_t)t->rows[i].spent.part[k]);
        fputc('\n', f);
    }
}

static void print_step(FILE *f, struct compiler *c, struct plan_request *o, struct arena *a)
{
    struct err err;
    struct plan p;
    struct timeline t;
    bool divided = o->n_stages == 0;
    if (!split_layers(o, c, 0, &err) || !plan_build(&p, c, o, a, &err) || !timeline_run(&t, &p, a, &err)) {
        fprintf(f, "refused: %s\n", err.msg);
        return;
    }
    assert_true(timeline_check(&t, &err));
    for (uint32_t i = 0; i < o->n_stages && divided; i++)
        fprintf(f, "%s%u/%u", i ? " " : "divided: ", o->stage_sizes[i].part_count[0], o->stage_sizes[i].part_count[1]);
    if (divided)
        fputc('\n', f);
    print_stages(f, &p);
    print_memory(f, &p);
    if (p.request.training)
        print_update(f, &p);
    print_time(f, &t);
}

/* The inputs of a plan: a recipe's options to start from, the links, and the model with and without its backward
 * pass. */
struct bench { struct planned y; struct machine m; struct topology t; struct graph graphs[2]; struct compiler compilers[2]; };

static void set_up(struct bench *b)
{
    start(&b->y, "vendor-ipu-pod16-resnet50-pipelined");
    b->m = two_ladders();
    assert_true(topology_build(&b->t, &b->m, NULL, &b->y.sim.arena, &b->y.err));
    for (int i = 0; i < 2; i++) {
        toy_model(&b->graphs[i], i, &b->y.sim.arena);
        compiler_start(&b->compilers[i], &b->graphs[i], &b->t, &b->y.cache, &b->y.sim.arena);
    }
}

static void steps(void **state)
{
    struct bench b;
    char *text;
    (void)state;
    set_up(&b);
    PRINTED(text,
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            struct plan_request o = b.y.opt;
            asked[i].ask(&o);
            fprintf(f, "== %s\n", asked[i].name);
            print_step(f, &b.compilers[o.training], &o, &b.y.sim.arena);
        });
    assert_digests(text, "== ", "tests/golden/steps.txt", &b.y.sim.arena);
    free(text);
    stop(&b.y);
}

ASK(short_step, o->grad_accum = 4; o->n_replicas = 5; o->ipus_per_replica = 2; stages(o, 2, (const uint32_t[][2]){ { 3, 3 }, { 3, 3 } });
    o->state.rts = RTS_YES; o->state.place = OPTIMIZER_STREAMING; o->program.merge_buffer_bytes = 3000; o->program.rearrange_before_reduce = true)
ASK(short_answer, o->grad_accum = 3; o->training = false; o->recompute = RECOMPUTE_NONE; o->program.steps_per_call = 1;
    stages(o, 5, (const uint32_t[][2]){ { 1, 1 }, { 2, 1 }, { 1, 2 }, { 2, 2 }, { 0, 0 } }))

/* Two short steps in all the ways that a timeline is written. */
static void steps_are_written(void **state)
{
    static void (*const ask[])(struct plan_request *o) = { short_answer, short_step };
    struct bench b;
    char *text;
    (void)state;
    set_up(&b);
    PRINTED(text,
        for (size_t i = 0; i < 2; i++) {
            struct plan p;
            struct timeline t;
            struct plan_request o = b.y.opt;
            ask[i](&o);
            assert_true(plan_build(&p, &b.compilers[o.training], &o, &b.y.sim.arena, &b.y.err) && timeline_run(&t, &p, &b.y.sim.arena, &b.y.err));
            PRINT_DOCUMENT(f, plan_document(d, &p, true); timeline_document(d, &t, true); timeline_picture(d, &t, 61));
            timeline_write_csv(f, &t);
            PRINT_DOCUMENT(f, plan_tensors_document(d, &p));
            assert_true(timeline_write_trace(f, &t, NULL, &b.y.err));
        });
    assert_digests(text, "plan of ", "tests/golden/steps_written.txt", &b.y.sim.arena);
    free(text);
    stop(&b.y);
}

/* Layers divided by themselves, over more and more IPUs of less and less memory. */
static void divisions(void **state)
{
    static const uint64_t memory_bytes[] = { 20000, 8800, 7300, 5600 };
    struct arena a = { 0 };
    char *text;
    (void)state;
    PRINTED(text,
        for (size_t i = 0; i < sizeof memory_bytes / sizeof *memory_bytes; i++) {
            struct bench b;
            set_up(&b);
            b.m.chip.tile_memory_bytes = memory_bytes[i];
            for (uint32_t k = 0; k < 4 * 3 * 3; k++) {
                struct plan p;
                struct timeline t;
                struct plan_request o = b.y.opt;
                base(&o);
                o.n_stages = 0;
                o.ipus_per_replica = 2 + k % 4;
                o.n_replicas = 3;
                o.schedule = k / 4 % 3 ? k / 4 % 3 == 1 ? SCHEDULE_GROUPED : SCHEDULE_INTERLEAVED : SCHEDULE_SEQUENTIAL;
                o.recompute = k / 12 ? k / 12 == 1 ? RECOMPUTE_STAGE : RECOMPUTE_LAYER : RECOMPUTE_NONE;
                fprintf(f, "%ju B, %u IPUs, %s, %s:", (uintmax_t)memory_bytes[i], o.ipus_per_replica, schedule_names[o.schedule], recompute_names[o.recompute]);
                if (!split_layers(&o, &b.compilers[1], 0, &b.y.err) || !plan_build(&p, &b.compilers[1], &o, &b.y.sim.arena, &b.y.err) ||
                    !timeline_run(&t, &p, &b.y.sim.arena, &b.y.err)) {
                    fprintf(f, " %s\n", b.y.err.msg);
                    continue;
                }
                for (uint32_t s = 0; s < o.n_stages; s++)
                    fprintf(f, " %u/%u", o.stage_sizes[s].part_count[0], o.stage_sizes[s].part_count[1]);
                fprintf(f, ", %ju cycles, short of %ju B\n", (uintmax_t)t.step_cycles, (uintmax_t)p.shortfall_bytes);
            }
            stop(&b.y);
        });
    assert_golden(text, "tests/golden/divisions.txt", &a);
    free(text);
    arena_free(&a);
}

static void far_host(struct machine *m)     { m->host_latency_s = 3000; }
static void thin_links(struct machine *m)   { m->chip.link_bytes_per_s = 1e-5; }
static void long_update(struct plan_request *o) { base(o); o->grad_accum = 16; o->schedule = SCHEDULE_NONE; o->ipus_per_replica = 1; o->n_stages = 0; o->n_replicas = 8; }
ASK(many_micro_batches, o->grad_accum = 100000; o->program.fetch_threads = 1)
ASK(no_decoding, o->host.decode_bytes_per_s = 1e-9)
static void one_alone(struct plan_request *o) { long_update(o); o->n_replicas = 1; o->grad_accum = 1000000; }
static void slow_clock(struct machine *m)   { m->chip.on_chip_sync_cycles = 1000000000; }

/* Steps that no clock of 53 bits can time say what most of them goes to. */
static void too_long(void **state)
{
    static const struct { void (*spoil)(struct machine *m); void (*ask)(struct plan_request *o); } rows[] = {
        { far_host, many_micro_batches }, { thin_links, many_micro_batches }, { thin_links, long_update }, { NULL, no_decoding }, { slow_clock, one_alone },
        { NULL, many_micro_batches },
    };
    char *text;
    (void)state;
    PRINTED(text,
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct bench b;
            struct compiler c;
            set_up(&b);
            struct plan_request o = b.y.opt;
            struct plan p;
            struct err err;
            if (rows[i].spoil)
                rows[i].spoil(&b.m);
            assert_true(topology_build(&b.t, &b.m, NULL, &b.y.sim.arena, &b.y.err));
            compiler_start(&c, &b.graphs[1], &b.t, &b.y.cache, &b.y.sim.arena);
            rows[i].ask(&o);
            fprintf(f, "%zu: %s\n", i, plan_build(&p, &c, &o, &b.y.sim.arena, &err) ? "planned" : err.msg);
            stop(&b.y);
        });
    struct arena a = { 0 };
    assert_golden(text, "tests/golden/steps_too_long.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(steps), cmocka_unit_test(steps_are_written), cmocka_unit_test(divisions), cmocka_unit_test(too_long) };
TAP_MAIN(tests)
