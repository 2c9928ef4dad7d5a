/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_phases.c - phases by hand: what an IPU loads and stores, how long that takes, what lies on the chip and off it.
 *
 * BERT Large over 4 IPUs of an M2000, micro-batches of one sequence of 512. An encoder has 1024 x 768 + 768 + 256 x 1024 + 3 x 1024 weights of attention and
 * 1024 x 1024 + 1024 + 1024 x 1024 + 3 x 1024 of feed-forward on an IPU: 3153664, 6307328 bytes. Between phases a micro-batch has 512 x 1024 halves,
 * 1048576 bytes, a quarter of them an IPU's.
 */
#include "tests/planned.h"
#include "system-model/output/output.h"
#include "system-model/plan/stage_program.h"
#include "system-model/timeline/timeline.h"
#include "system-model/graph/graph.h"

enum { ENCODER = 7, ENCODER_BYTES = 6307328, PART_BYTES = 262144 };

static const char *const cut[] = { "recipe.system=ipu-pod4", "parallel.ipus_per_replica=4", "parallel.replicas=1", "parallel.layers_per_ipu=", "parallel.micro_batch=1",
    "parallel.gradient_accumulation=9", "parallel.tensor_parallel=4", "parallel.weights=streaming", "parallel.recompute=stage", "parallel.rts=no", "data.sequence_length=512" };

static void plan_phased(struct planned *y, struct plan *p, const char *more)
{
    const char *sets[16];
    size_t n = sizeof cut / sizeof *cut;
    memcpy(sets, cut, sizeof cut);
    if (more)
        sets[n++] = more;
    memset(y, 0, sizeof *y);
    bool good = simulate(&y->sim, &y->r, "mlperf-v1.1-closed-ipu-pod16-bert-large", sets, n, &paths, &y->cache, &y->err);
    assert_string_equal(y->err.msg, "");
    assert_true(good);
    *p = y->sim.plan;
}

static uint64_t moved(const struct plan *p, double bytes, double bytes_per_s)
{
    return (uint64_t)ceil((p->topology->machine->host_latency_s + bytes / bytes_per_s) * p->topology->machine->chip.clock_hz);
}

/* The four IPUs share the memory behind the gateway. */
static double board_rate(const struct plan *p)
{
    const struct machine *m = p->topology->machine;
    return 1 / ((1 / (38.4e9 * 0.8) + p->request.fitted.streaming_s_per_byte) * 4) < m->chip.host_link_bytes_per_s
         ? 1 / ((1 / (38.4e9 * 0.8) + p->request.fitted.streaming_s_per_byte) * 4) : m->chip.host_link_bytes_per_s;
}

static const struct update_op *op_of(const struct update_chain *c, enum update_kind kind)
{
    for (uint32_t i = 0; i < c->steps->n_ops; i++)
        if (c->steps->ops[i].kind == kind)
            return &c->steps->ops[i];
    return NULL;
}

static void transfers_of_a_phase(void **state)
{
    struct planned y;
    struct plan p;
    (void)state;
    plan_phased(&y, &p, NULL);
    const struct stage_plan *s = &p.stages[ENCODER];
    double rate = board_rate(&p);
    assert_int_equal(p.n_stages, 26);
    assert_int_equal(s->phase_cycles[TASK_FORWARD].part[PART_STREAMING], moved(&p, ENCODER_BYTES, rate));
    assert_int_equal(s->phase_cycles[TASK_BACKWARD].part[PART_STREAMING], moved(&p, ENCODER_BYTES, rate) + 3 * moved(&p, 0, rate));
    assert_int_equal(s->phase_cycles[TASK_FORWARD].part[PART_ALL_REDUCE], 0);
    assert_int_equal(s->forward.part[PART_STREAMING], 2 * moved(&p, PART_BYTES, rate));
    assert_int_equal(s->backward.part[PART_STREAMING], moved(&p, 2 * PART_BYTES, rate) + moved(&p, PART_BYTES, rate));
    assert_int_equal(p.stages[0].forward.part[PART_STREAMING], moved(&p, PART_BYTES, rate));        /* the embedding only stores */
    assert_int_equal(p.stages[25].phase_cycles[TASK_BACKWARD].part[PART_STREAMING], 3 * moved(&p, 0, rate));       /* the head goes back at once */
    assert_int_equal(p.stages[25].forward.part[PART_STREAMING], moved(&p, PART_BYTES, rate));
    stop(&y);
}

/* An IPU that holds all of each phase gathers nothing, and loads and stores a micro-batch whole. */
static void one_ipu_gathers_nothing(void **state)
{
    static const char *const alone[] = { "recipe.system=ipu-pod4", "parallel.ipus_per_replica=1", "parallel.replicas=4", "parallel.layers_per_ipu=",
        "parallel.micro_batch=1", "parallel.gradient_accumulation=9", "parallel.weights=streaming", "parallel.recompute=stage", "data.sequence_length=512" };
    struct planned y = { 0 };
    (void)state;
    assert_true(simulate(&y.sim, &y.r, "mlperf-v1.1-closed-ipu-pod16-bert-large", alone, sizeof alone / sizeof *alone, &paths, &y.cache, &y.err));
    const struct plan *p = &y.sim.plan;
    for (uint32_t s = 0; s < p->n_stages; s++)
        assert_true(p->stages[s].forward.part[PART_ACTIVATIONS] == 0 && p->stages[s].backward.part[PART_ACTIVATIONS] == 0);
    assert_int_equal(p->stages[ENCODER].forward.part[PART_STREAMING], 2 * moved(p, 4 * PART_BYTES, board_rate(p)));
    stop(&y);
}

/* Four copies of four IPUs each: the members of a group are four apart. A ladder of 16 has no ring for them, so each gets what all 16 have: of the largest
 * part of a weight, 1024 x 1024 halves, 16 whole gradients, whether the weight is sharded over its copies or not. On the torus of 64, groups of 16 go
 * round. Neighbours need no others. */
static void groups_that_are_apart(void **state)
{
    static const struct { const char *system, *replicas, *rts; uint64_t between; } pods[] = {
        { "recipe.system=ipu-pod16", "parallel.replicas=4", "parallel.rts=yes", 16 * 2097152 }, { "recipe.system=ipu-pod64", "parallel.replicas=16", "parallel.rts=yes", 0 },
        { "recipe.system=ipu-pod16", "parallel.replicas=4", "parallel.rts=no", 16 * 2097152 } };
    static const struct { uint32_t n, stride; bool between[2]; } groups[] = { { 16, 1, { false, false } }, { 4, 4, { true, true } }, { 2, 8, { true, true } },
        { 4, 16, { false, false } }, { 16, 4, { true, false } }, { 2, 16, { false, true } }, { 2, 64, { true, false } } };
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct planned y = { 0 };
        const char *sets[16];
        memcpy(sets, cut, sizeof cut);
        sets[0] = pods[i].system, sets[2] = pods[i].replicas, sets[9] = pods[i].rts, sets[11] = "framework.sharded_elements=1";
        bool good = simulate(&y.sim, &y.r, "mlperf-v1.1-closed-ipu-pod16-bert-large", sets, 12, &paths, &y.cache, &y.err);
        assert_string_equal(y.err.msg, "");
        assert_true(good);
        const struct plan *p = &y.sim.plan;
        assert_int_equal(p->phases[ENCODER].between, pods[i].between);
        for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
            assert_int_equal(gathers_between(p->topology, groups[k].n, groups[k].stride), groups[k].between[i % 2]);
        for (uint32_t k = 0; k < p->update.n_chains; k++) {
            const struct update_chain *c = &p->update.chains[k];
            const struct update_op *reduce = c->n_elements == 1024 * 1024 && c->n_parts == 4 ? op_of(c, UPDATE_REDUCE) : NULL;
            assert_true(!reduce || reduce->bytes == 2097152.0 * (i == 1 ? 1 : 16));
        }
        stop(&y);
    }
}

/* Forward phase i begins after i x 9 micro-batches; the head's backward pass with its forward one, the first encoder's last but one. */
static void order_of_phases(void **state)
{
    struct planned y;
    struct plan p;
    struct timeline t;
    (void)state;
    plan_phased(&y, &p, NULL);
    assert_int_equal(p.n_runs, 26 + 25);
    assert_int_equal(p.tasks[3].first_cycle, 3 * 9);
    assert_int_equal(p.tasks[25].first_cycle, 25 * 9);
    assert_int_equal(p.tasks[26].first_cycle, 25 * 9);
    assert_int_equal(p.tasks[51].first_cycle, 50 * 9);
    assert_int_equal(p.stages[ENCODER].stash_depth, 9);
    assert_int_equal(p.stages[25].stash_depth, 1);
    assert_true(timeline_run(&t, &p, &y.sim.arena, &y.err) && timeline_check(&t, &y.err));
    stop(&y);
}

/* Transfers during the work of other micro-batches: what is longer remains, and once a phase the first comes and the last goes alone. */
static void overlapped_transfers(void **state)
{
    struct planned y, z;
    struct plan p, q;
    (void)state;
    plan_phased(&y, &p, NULL);
    plan_phased(&z, &q, "parallel.phase_io=overlapped");
    const struct stage_plan *s = &p.stages[ENCODER], *o = &q.stages[ENCODER];
    uint64_t moves = s->forward.part[PART_STREAMING], work = s->forward_cycles - moves - s->forward.part[PART_ACTIVATIONS] + 0;
    uint64_t sums = s->forward.part[PART_ACTIVATIONS];
    assert_true(o->forward.part[PART_STREAMING] < moves && o->forward.part[PART_ACTIVATIONS] == sums);
    assert_true(o->forward.part[PART_STREAMING] == 0 || o->forward_cycles <= max_u64(moves + sums, work + sums));
    assert_int_equal(o->phase_cycles[TASK_FORWARD].part[PART_STREAMING], s->phase_cycles[TASK_FORWARD].part[PART_STREAMING] + moves);
    stop(&y);
    stop(&z);
}

/* Off the chip: 24 encoders, the embeddings' and heads' weights, as many gradients; and a buffer of activations and one of their gradients. */
static void memory_on_and_off_the_chip(void **state)
{
    struct planned y;
    struct plan p;
    double weights = 0;
    char *text;
    (void)state;
    plan_phased(&y, &p, NULL);
    for (uint32_t s = 0; s < p.n_stages; s++)
        weights += (double)p.phases[s].weights;
    assert_int_equal(p.phases[ENCODER].weights, ENCODER_BYTES);
    assert_int_equal(p.phases[ENCODER].local_weights, ENCODER_BYTES);
    assert_true(p.off_chip.bytes[OFF_CHIP_WEIGHTS] == weights && p.off_chip.bytes[OFF_CHIP_GRADIENTS] == weights);
    assert_true(p.off_chip.bytes[OFF_CHIP_ACTIVATIONS] == 25.0 * 2 * 9 * PART_BYTES);
    assert_true(p.off_chip.board_bytes == 4 * (p.off_chip.bytes[0] + p.off_chip.bytes[1] + p.off_chip.bytes[2] + p.off_chip.bytes[3]));
    assert_true(p.fits && !p.off_chip.overflows && p.off_chip.capacity_bytes == 137438953472.0);
    assert_true(p.memory[0].bytes[MEMORY_STASH] == 0);
    DOCUMENTED(text, plan_document(d, &p, false));
    assert_non_null(strstr(text, arena_printf(&y.sim.arena, "\nmemory off the chip: bytes of the IPU with most\n  region               bytes\n  weights          %.0f\n"
        "  gradients        %.0f\n  optimizer state  %.0f\n  activations      117964800\n  keys and values          0\n  fits: %.0f of 137438953472 bytes of a board's streaming memory\n",
        weights, weights, p.off_chip.bytes[OFF_CHIP_STATE], p.off_chip.board_bytes)));
    free(text);
    stop(&y);
}

/* Clipping by a global norm needs all gradients first. So a gradient of 2 bytes is stored, and loaded with the weight's 2 bytes and the state; weight and state are
 * stored. Without clipping the backward phase loads the state and keeps it with weights and gradients. */
static void updates_at_once_or_apart(void **state)
{
    const char *clips[] = { "framework.clip_norm=yes", "framework.clip_norm=no" };
    (void)state;
    for (int at_once = 0; at_once < 2; at_once++) {
        struct planned y;
        struct plan p;
        plan_phased(&y, &p, clips[at_once]);
        const struct update_chain *c = &p.update.chains[0];
        assert_int_equal(p.phases[ENCODER].updates_at_once, at_once);
        double state_bytes = p.request.optimizer.state_bytes_per_param;
        assert_true((op_of(c, UPDATE_STORE_GRADIENT) == NULL) == at_once);
        assert_true(op_of(c, UPDATE_LOAD)->bytes == (double)c->n_elements * (state_bytes + (at_once ? 0 : 4)));
        assert_true(op_of(c, UPDATE_STORE)->bytes == (double)c->n_elements * (state_bytes + 2));
        assert_int_equal(p.stages[25].phase_cycles[TASK_BACKWARD].part[PART_STREAMING], (at_once ? 1 : 3) * moved(&p, 0, 1));
        assert_true((p.off_chip.bytes[OFF_CHIP_GRADIENTS] == 0) == at_once);
        assert_true((p.memory[0].bytes[MEMORY_OPTIMIZER] > 0 && p.memory[0].bytes[MEMORY_ACTIVATIONS] > 0) || !at_once);
        stop(&y);
    }
}

/* A layer's result goes to the memory once, however many phases read it: blocks of T5's decoder load the encoder's result, which the phases before them
 * do not touch. On eight IPUs 512 x 2048 halves are 2097152 bytes. */
static void tensors_skip_phases(void **state)
{
    enum { X = 2097152 };
    static const struct { uint32_t phase; uint64_t moves[4]; } cases[] = {          /* loaded and stored forward, then backward */
        { 3, { 2 * X, X, 4 * X, 2 * X } },      /* an encoder block with PopXL's second operand, whose gradient is added up */
        { 30, { 2 * X, X, 4 * X, 2 * X } },     /* a decoder block */
        { 49, { X, 0, 0, X } },                 /* the head */
    };
    struct planned y = { 0 };
    (void)state;
    assert_true(simulate(&y.sim, &y.r, "vendor-ipu-pod16-flan-t5-xl-popxl", NULL, 0, &paths, &y.cache, &y.err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 4; k++) {
            const struct phase_moves *m = &y.sim.plan.phases[cases[i].phase].moves;
            assert_int_equal(k % 2 ? m->stored[k / 2] : m->loaded[k / 2], cases[i].moves[k]);
        }
    stop(&y);
}

/* Llama 2 7B for two texts of 1024 tokens over 16 IPUs: in each of 32 layers an IPU has 2 heads of 128 keys and as many values, 1048576 bytes either. On the chip
 * they lie on 1472 tiles; off it they are loaded and stored one by one, and only one layer's are on the chip. */
static void keys_and_values(void **state)
{
    enum { HEADS = 1048576 };
    const char *places[] = { "generation.cache=on-chip", "generation.cache=streaming" };
    struct planned y[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        memset(&y[i], 0, sizeof y[i]);
        assert_true(simulate(&y[i].sim, &y[i].r, "vendor-ipu-pod16-llama2-7b-popxl", &places[i], 1, &paths, &y[i].cache, &y[i].err));
    }
    const struct plan *on = &y[0].sim.plan, *off = &y[1].sim.plan;
    uint64_t moves = off->stages[3].forward.part[PART_STREAMING] - on->stages[3].forward.part[PART_STREAMING];
    assert_int_equal(moves, (uint64_t)ceil(2 * (2 * 8.83e-6 + 2 * HEADS / board_rate(off)) * 1.325e9));
    assert_true(off->off_chip.bytes[OFF_CHIP_CACHE] == 32.0 * 2 * HEADS && on->off_chip.bytes[OFF_CHIP_CACHE] == 0);
    assert_int_equal(on->memory->bytes[MEMORY_STASH], 32 * 12 * 128);      /* 2 x 2 x 2 x 1023 x 128 halves: 2095104 bytes, 11.1 grains of 128 on a tile */
    assert_int_equal(off->memory->bytes[MEMORY_STASH], 0);
    for (int i = 0; i < 2; i++)
        stop(&y[i]);
}

/* With GC2 the host's memory serves, behind switches of four IPUs: 13.77 GB/s for all of them. */
static void host_memory_behind_a_switch(void **state)
{
    struct planned y;
    struct plan p;
    (void)state;
    plan_phased(&y, &p, "recipe.system=dss8440");
    assert_int_equal(p.stages[ENCODER].phase_cycles[TASK_FORWARD].part[PART_STREAMING], moved(&p, ENCODER_BYTES, 13.77e9 / 4));
    assert_true(p.off_chip.capacity_bytes == 0 && !p.off_chip.overflows);
    stop(&y);
}

/* A memory too small for it is a verdict, whatever the tiles say. */
static void off_chip_may_not_fit(void **state)
{
    struct planned y;
    struct plan p;
    (void)state;
    plan_phased(&y, &p, "machine.streaming_bytes=1000000000");
    assert_true(!p.fits && p.off_chip.overflows && p.shortfall_bytes == 0);
    struct machine full = *p.topology->machine;
    struct topology topology = { .machine = &full };
    p.topology = &topology;
    full.streaming_bytes = (uint64_t)p.off_chip.board_bytes;
    plan_off_chip(&p);
    assert_true(!p.off_chip.overflows && p.off_chip.capacity_bytes == p.off_chip.board_bytes);     /* full to the byte */
    full.streaming_bytes--;
    plan_off_chip(&p);
    assert_true(p.off_chip.overflows);
    full.streaming_bytes_per_s = 0;
    plan_off_chip(&p);
    assert_true(!p.off_chip.overflows);         /* the host's memory is not counted */
    stop(&y);
}

/* Bloom's head has 62,720 words of 3,584 columns on an IPU: 450 MB, or 319 kB on each of 1,408 tiles. Its product takes steps over the columns, whose
 * weights are sliced where they lie, so that they are not held twice. The pass of fully connected layers counts copies in the order of steps. */
static void weights_that_stay(void **state)
{
    struct planned y[2];
    const char *passes[] = { "parallel.fully_connected_pass=yes", "parallel.fully_connected_pass=no" };
    uint64_t bytes[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        memset(&y[i], 0, sizeof y[i]);
        assert_true(simulate(&y[i].sim, &y[i].r, "vendor-ipu-pod16-bloom-176b-generate-popxl", &passes[i], 1, &paths, &y[i].cache, &y[i].err));
        bytes[i] = y[i].sim.plan.memory->bytes[MEMORY_TEMPORARIES];
        stop(&y[i]);
        assert_true(bytes[i] < 319000);
    }
    assert_true(bytes[0] != bytes[1]);
}

/* The rows of GPT-J's head are output channels, in groups of 16. Steps over them take as many groups each but for the last, which has some. */
static void no_step_is_empty(void **state)
{
    struct planned y = { 0 };
    uint32_t n_split = 0;
    (void)state;
    assert_true(simulate(&y.sim, &y.r, "vendor-ipu-m2000-gpt-j-b16-generate-popxl", NULL, 0, &paths, &y.cache, &y.err));
    const struct stage_plan *s = &y.sim.plan.stages[y.sim.plan.n_stages - 1];
    for (size_t i = 0; i < y.sim.graph->n_ops; i++) {
        const struct op_plan *p = s->compiled->op_plans[i];
        const struct op *op = &y.sim.graph->ops[i];
        if (op->layer_id + 1 < y.sim.graph->n_layers || op->kind != OP_MATMUL)
            continue;
        const struct tensor *x = &y.sim.graph->tensors[op->inputs[0]];
        uint32_t groups = (uint32_t)(tensor_elements(x) / x->dims[x->n_dims - 1] + 15) / 16, of_a_step = (groups + p->split.serial_out - 1) / p->split.serial_out;
        assert_int_equal(p->split.out_grain, 16);
        assert_true(p->split.serial_out > 64 && p->split.serial_out == (groups + of_a_step - 1) / of_a_step);
        n_split++;
    }
    assert_int_equal(n_split, 1);
    stop(&y);
}

/* GPT-J's attention is in two pieces of five operations: two products, a factor, a mask and a softmax. A backward pass runs these twice: when the layer is
 * computed again, and before the piece's own backward operations. It runs all other forward operations once. */
static void pieces_run_again(void **state)
{
    struct planned y = { 0 };
    (void)state;
    assert_true(simulate(&y.sim, &y.r, "vendor-ipu-pod16-gpt-j-popxl", NULL, 0, &paths, &y.cache, &y.err));
    const struct graph *g = y.sim.plan.graph;
    const struct stage_layers layers = plan_stage_layers(&y.sim.plan, 3);
    const struct stage_program *program = compile_stage_program(y.sim.compiler, &layers);
    const struct id_list *ops = &program->pass[TASK_BACKWARD].ops;
    uint32_t n_again = 0, *runs = ARENA_ARRAY(&y.sim.arena, uint32_t, g->n_ops), part = 0;
    for (uint32_t i = 0; i < ops->n; i++) {
        const struct op *op = &g->ops[ops->ids[i]];
        runs[ops->ids[i]]++;
        if (op->pass == PASS_FORWARD && runs[ops->ids[i]] == 2)
            part = op->at->again;
        else if (op->pass != PASS_FORWARD && op->at->again)
            assert_int_equal(op->at->again, part);          /* the piece has just run again */
    }
    for (uint32_t i = 0; i < program->pass[TASK_FORWARD].ops.n; i++) {
        uint32_t id = program->pass[TASK_FORWARD].ops.ids[i];
        assert_int_equal(runs[id], g->ops[id].at->again ? 2 : 1);
        n_again += g->ops[id].at->again != 0;
    }
    assert_int_equal(n_again, 2 * 5);
    stop(&y);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(transfers_of_a_phase), cmocka_unit_test(one_ipu_gathers_nothing), cmocka_unit_test(groups_that_are_apart), cmocka_unit_test(order_of_phases), cmocka_unit_test(overlapped_transfers),
                                          cmocka_unit_test(memory_on_and_off_the_chip), cmocka_unit_test(updates_at_once_or_apart), cmocka_unit_test(tensors_skip_phases), cmocka_unit_test(keys_and_values), cmocka_unit_test(host_memory_behind_a_switch), cmocka_unit_test(off_chip_may_not_fit), cmocka_unit_test(weights_that_stay), cmocka_unit_test(no_step_is_empty), cmocka_unit_test(pieces_run_again) };
int main(void) { cmocka_set_message_output(CM_OUTPUT_TAP); return cmocka_run_group_tests(tests, NULL, NULL); }
