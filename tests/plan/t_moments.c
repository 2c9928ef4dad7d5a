/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_moments.c - what lives while the operations of one layer work, by hand. */
#include "tests/moments.h"
#include "tests/planned.h"
#include "system-model/graph/graph.h"

static const struct op_attributes one_element = { .kernel_h = 1, .kernel_w = 1, .stride = 1, .groups = 1 };

/* One layer for a model's inference, with an input of 8 x 8 x 24 halves, 3072 bytes, and behind it the weight of a 1x1 convolution. */
static uint32_t start_unit(struct planned *y, struct graph *g)
{
    start(y, "vendor-ipu-m2000-resnet50-infer-b4");
    graph_start(g, "unit", 1, &y->sim.arena);
    graph_layer(g, (struct layer){ .name = "unit", .role = LAYER_BODY, .n_parts = 1 });
    uint32_t x = graph_tensor(g, "x", ROLE_INPUT, TYPE_FP16, 4, (uint64_t[]){ 1, 8, 8, 24 });
    assert_int_equal(graph_tensor(g, "w", ROLE_WEIGHT, TYPE_FP16, 4, (uint64_t[]){ 1, 1, 24, 24 }), x + 1);
    return x;
}

static uint64_t live_bytes(struct planned *y, struct graph *g)
{
    return moments_of(g, NULL, RECOMPUTE_NONE, &y->sim.arena)->moments[TASK_FORWARD].live_bytes;
}

/* A graph is compiled once for each share of memory, and for each list of them by layer; what was compiled is known again. */
static void a_graph_is_compiled_once_for_each_share(void **state)
{
    (void)state;
    struct planned y;
    struct graph g;
    struct compiler c;
    enum { N = 70 };
    const struct compiled *made[N];
    uint32_t x = start_unit(&y, &g);
    x = graph_op(&g, OP_RELU, &x, 1, (struct op_attributes){0});
    graph_op(&g, OP_TANH, &x, 1, (struct op_attributes){0});
    compiler_start(&c, &g, y.sim.topology, &y.cache, &y.sim.arena);
    struct op_plan_options opt = { .inference = true, .n_tiles = 1472 };
    assert_int_equal(compile_graph(&c, &opt)->layers[0].result_bytes, 3072);       /* the second's: the first's are read */
    for (uint32_t i = 0; i < N; i++) {
        opt.available_memory = 0.01 * (i + 1);
        made[i] = compile_graph(&c, &opt);
        assert_true(i == 0 || made[i] != made[i - 1]);
    }
    opt.available_memory = 0.01 * 3;
    assert_ptr_equal(compile_graph(&c, &opt), made[2]);
    stop(&y);
}

/* Convolution, relu in place, convolution, and the addition of what came before it, each of 8 x 8 x 24 halves, 3072 bytes: two of
 * them live at once while the second convolution works, though it reads and writes no more than the first. */
static void inference_holds_what_is_read_later(void **state)
{
    (void)state;
    struct planned y;
    struct graph g;
    uint32_t x = start_unit(&y, &g), w = x + 1;
    uint32_t first = graph_op(&g, OP_RELU, (uint32_t[]){ graph_op(&g, OP_CONV, (uint32_t[]){ x, w }, 2, one_element) }, 1, (struct op_attributes){0});
    uint32_t second = graph_op(&g, OP_CONV, (uint32_t[]){ first, w }, 2, one_element);
    graph_op(&g, OP_ADD, (uint32_t[]){ second, first }, 2, (struct op_attributes){0});
    assert_int_equal(live_bytes(&y, &g), 2 * 3072);
    stop(&y);
}

/* A convolution takes 3072 bytes apart into three pieces. All three are live while the original is. */
static void inference_holds_all_pieces(void **state)
{
    (void)state;
    struct planned y;
    struct graph g;
    uint32_t x = start_unit(&y, &g), w = x + 1;
    uint32_t made = graph_op(&g, OP_CONV, (uint32_t[]){ x, w }, 2, one_element);
    uint32_t piece = graph_op(&g, OP_SLICE, &made, 1, (struct op_attributes){ .axis = 3, .pieces = 3 });
    graph_op(&g, OP_CONCAT, (uint32_t[]){ piece + 2, piece + 1, piece }, 3, (struct op_attributes){ .axis = 3 });
    assert_int_equal(live_bytes(&y, &g), 2 * 3072);
    stop(&y);
}

/* A convolution, a batch norm and a relu, each of 3072 bytes, and a loss. Forward, the norm reads its input, which is kept, and makes a copy of it and
 * its result; the relu works in place. Backward, the relu has its result, the gradient and a new one, while the norm's input waits; the norm has its
 * input's copy, the product of that and the gradient, the gradient and a new one, and its weights' gradients of 48 bytes each. In inference
 * the copy takes the place of an input that is not read again, and known statistics need none: the result alone is new. */
static void norms_work_on_copies(void **state)
{
    (void)state;
    struct planned y;
    struct graph g;
    uint32_t x = start_unit(&y, &g), w = x + 1;
    uint32_t gamma = graph_tensor(&g, "gamma", ROLE_WEIGHT, TYPE_FP16, 1, (uint64_t[]){ 24 }), beta = graph_tensor(&g, "beta", ROLE_WEIGHT, TYPE_FP16, 1, (uint64_t[]){ 24 });
    uint32_t norm = graph_op(&g, OP_BATCH_NORM, (uint32_t[]){ graph_op(&g, OP_CONV, (uint32_t[]){ x, w }, 2, one_element), gamma, beta }, 3, (struct op_attributes){ .norm_groups = 1 });
    uint32_t relu = graph_op(&g, OP_RELU, &norm, 1, (struct op_attributes){0});
    assert_int_equal(live_bytes(&y, &g), 2 * 3072);
    graph_layer(&g, (struct layer){ .name = "loss", .role = LAYER_BODY, .n_parts = 1 });
    uint32_t labels = graph_tensor(&g, "labels", ROLE_INPUT, TYPE_INT32, 3, (uint64_t[]){ 1, 8, 8 });
    graph_op(&g, OP_CROSS_ENTROPY, (uint32_t[]){ relu, labels }, 2, (struct op_attributes){0});
    graph_add_backward(&g);
    const struct stage_moment *m = moments_of(&g, NULL, RECOMPUTE_NONE, &y.sim.arena)[0].moments;
    assert_int_equal(m[TASK_FORWARD].live_bytes, 3 * 3072);
    assert_int_equal(m[TASK_BACKWARD].waiting_bytes + m[TASK_BACKWARD].live_bytes, 4 * 3072 + 2 * 48);
    stop(&y);
}

/*
 * Two convolutions of 3072 bytes each with one code, the first of which is read again by a sum at the end. Called by value, the second one has its weight of
 * 24 x 24 halves, 1152 bytes, twice, and its input: 2 x 3072 + 1152 + 3072. In place it would have 2 x 3072. A third convolution behind it takes
 * the second one's result, which goes into the call: 3 x 3072 + 1152; and copies its own out, 3 x 3072.
 */
static void calls_hold_operands_twice(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 3; n++) {
        struct planned y;
        struct graph g;
        uint32_t x = start_unit(&y, &g), w = x + 1;
        uint32_t first = graph_op(&g, OP_CONV, (uint32_t[]){ x, w }, 2, one_element), made = first;
        for (uint32_t i = 1; i < n; i++) {
            graph_layer(&g, (struct layer){ .name = "next", .role = LAYER_BODY, .n_parts = 1 });
            made = graph_op(&g, OP_CONV, (uint32_t[]){ made, w }, 2, one_element);
        }
        graph_layer(&g, (struct layer){ .name = "sum", .role = LAYER_BODY, .n_parts = 1 });
        graph_op(&g, OP_ADD, (uint32_t[]){ made, first }, 2, (struct op_attributes){0});
        const struct stage_layer *called = moments_of_calls(&g, NULL, RECOMPUTE_NONE, true, &y.sim.arena), *plain = moments_of(&g, NULL, RECOMPUTE_NONE, &y.sim.arena);
        assert_int_equal(plain[n - 1].moments[TASK_FORWARD].live_bytes, n * 3072);
        assert_int_equal(called[n - 1].moments[TASK_FORWARD].live_bytes, 3 * 3072 + 1152);
        stop(&y);
    }
}

/* Plans of one tile, in which operations are alike but for what they copy before serial steps. */
static const struct compiled *with_copies_before(const struct graph *g, struct op_plan plan, struct arena *a)
{
    struct compiled *made = ARENA_ARRAY(a, struct compiled, 1);
    struct op_plan *own = ARENA_ARRAY(a, struct op_plan, 1);
    plan.imbalance = 1;
    *own = plan;
    made->options.n_tiles = 1;
    made->op_plans = ARENA_ARRAY(a, const struct op_plan *, g->n_ops);
    for (size_t i = 0; i < g->n_ops; i++)
        made->op_plans[i] = own;
    made->tensors = tensor_rooms(g, made->op_plans, a);
    return made;
}

/* A convolution of the host's input into 1536 bytes, and another into 3072, at which 4608 live. Steps that read a copy leave the second's input out: 3072. A product that
 * is turned round has it as weights. An input that is read again stays. */
static void operands_go_when_steps_have_their_copy(void **state)
{
    static const struct { struct op_plan plan; bool read_again; uint64_t bytes; } cases[] = {
        { { 0 }, false, 1536 + 3072 }, { { .input_before = 1 }, false, 3072 }, { { .weights_before = 1 }, false, 1536 + 3072 },
        { { .weights_before = 1, .turned = 1 }, false, 3072 }, { { .input_before = 1, .turned = 1 }, false, 1536 + 3072 }, { { .input_before = 1 }, true, 1536 + 3072 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planned y;
        struct graph g;
        uint32_t x = start_unit(&y, &g);
        uint32_t narrow = graph_tensor(&g, "narrow", ROLE_WEIGHT, TYPE_FP16, 4, (uint64_t[]){ 1, 1, 24, 12 });
        uint32_t wide = graph_tensor(&g, "wide", ROLE_WEIGHT, TYPE_FP16, 4, (uint64_t[]){ 1, 1, 12, 24 });
        uint32_t first = graph_op(&g, OP_CONV, (uint32_t[]){ x, narrow }, 2, one_element);
        graph_op(&g, OP_CONV, (uint32_t[]){ first, wide }, 2, one_element);
        if (cases[i].read_again)
            graph_op(&g, OP_RELU, &first, 1, (struct op_attributes){0});
        const struct compiled *made = with_copies_before(&g, cases[i].plan, &y.sim.arena);
        assert_int_equal(moments_of(&g, made, RECOMPUTE_NONE, &y.sim.arena)->moments[TASK_FORWARD].live_bytes, cases[i].bytes);
        stop(&y);
    }
}

/* While the convolution works 3072 bytes are alive, and 6144 while its result is cut into pieces. The worst moment
 * is the convolution's, whose sums are its result. 192 of 1,472 tiles hold 16 bytes of it each (8 channels of one
 * position); it counts as if all tiles held as much, and is part of what is alive already. */
static void a_moment_is_one_operations(void **state)
{
    (void)state;
    struct planned y;
    struct graph g;
    struct compiler c;
    uint32_t x = start_unit(&y, &g), w = x + 1;
    uint32_t made = graph_op(&g, OP_CONV, (uint32_t[]){ x, w }, 2, one_element);
    uint32_t piece = graph_op(&g, OP_SLICE, &made, 1, (struct op_attributes){ .axis = 3, .pieces = 3 });
    graph_op(&g, OP_CONCAT, (uint32_t[]){ piece + 2, piece + 1, piece }, 3, (struct op_attributes){ .axis = 3 });
    const struct op_plan_options opt = { .available_memory = 0.6, .inference = true, .n_tiles = 1472 };
    compiler_start(&c, &g, y.sim.topology, &y.cache, &y.sim.arena);
    const struct compiled *made_of = compile_graph(&c, &opt);
    assert_non_null(made_of);
    const struct op_plan *conv = made_of->op_plans[0];
    assert_int_equal(conv->split.in_chans * conv->split.kernel * conv->split.serial_in * conv->split.serial_out, 1);
    assert_true(conv->temp_bytes_per_tile > made_of->op_plans[1]->temp_bytes_per_tile + 4);
    assert_near(conv->imbalance, 1472 / 192.0, 1e-12);
    const struct stage_moment *m = &moments_of(&g, made_of, RECOMPUTE_NONE, &y.sim.arena)->moments[TASK_FORWARD];
    assert_int_equal(m->live_bytes, 16 * 1472);
    assert_int_equal(m->temp_bytes_per_tile, conv->temp_bytes_per_tile - 16);
    stop(&y);
}

/* Results of one plan are laid out alike, and so are those of element-wise work on them, so adding them moves
 * nothing. An input has another layout, and so have pieces of one tensor; but a tensor that is added to itself is in
 * place. */
static void results_of_one_plan_lie_alike(void **state)
{
    (void)state;
    struct planned y;
    struct graph g;
    struct compiler c;
    uint32_t x = start_unit(&y, &g), w = x + 1;
    uint32_t before = graph_op(&g, OP_CONV, (uint32_t[]){ x, w }, 2, one_element);
    uint32_t first = graph_op(&g, OP_CONV, (uint32_t[]){ before, w }, 2, one_element);
    uint32_t second = graph_op(&g, OP_CONV, (uint32_t[]){ first, w }, 2, one_element);
    uint32_t relu = graph_op(&g, OP_RELU, &first, 1, (struct op_attributes){0});
    uint32_t sum = graph_op(&g, OP_ADD, (uint32_t[]){ second, relu }, 2, (struct op_attributes){0});
    graph_op(&g, OP_ADD, (uint32_t[]){ sum, first }, 2, (struct op_attributes){0});
    graph_op(&g, OP_ADD, (uint32_t[]){ sum, x }, 2, (struct op_attributes){0});
    uint32_t piece = graph_op(&g, OP_SLICE, &second, 1, (struct op_attributes){ .axis = 3, .pieces = 3 });
    graph_op(&g, OP_ADD, (uint32_t[]){ piece, piece + 1 }, 2, (struct op_attributes){0});
    graph_op(&g, OP_ADD, (uint32_t[]){ x, x }, 2, (struct op_attributes){0});
    static const struct { uint32_t op_id; bool together; } want[] = { { 4, true }, { 5, true }, { 6, false }, { 8, false }, { 9, true } };
    compiler_start(&c, &g, y.sim.topology, &y.cache, &y.sim.arena);
    const struct op_plan_options opt = { .available_memory = 0.6, .inference = true, .n_tiles = 1472 };
    const struct compiled *made = compile_graph(&c, &opt);
    assert_non_null(made);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct op_plan *p = made->op_plans[want[i].op_id];
        assert_int_equal(g.ops[want[i].op_id].kind, OP_ADD);
        assert_int_equal(p->together, want[i].together);
        assert_int_equal(p->exchange_cycles == 0, want[i].together);
    }
    stop(&y);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_graph_is_compiled_once_for_each_share), cmocka_unit_test(inference_holds_what_is_read_later),
    cmocka_unit_test(inference_holds_all_pieces), cmocka_unit_test(norms_work_on_copies), cmocka_unit_test(calls_hold_operands_twice),
    cmocka_unit_test(operands_go_when_steps_have_their_copy), cmocka_unit_test(a_moment_is_one_operations),
    cmocka_unit_test(results_of_one_plan_lie_alike),
};
TAP_MAIN(tests)
