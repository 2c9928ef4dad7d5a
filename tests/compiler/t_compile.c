/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_compile.c - what layers hold and cost, by hand: one operation a layer, so that no layer's largest hides another's.
 */
#include "tests/check.h"
#include "tests/moments.h"
#include "system-model/graph/graph.h"
#include "tests/chip_fixture.h"
#include "system-model/compiler/compiler.h"

struct unit { struct arena arena; struct graph graph; struct machine machine; struct topology topology; struct plan_cache cache; struct compiler compiler; };

static void start(struct unit *u)
{
    memset(u, 0, sizeof *u);
    u->machine = (struct machine){ .name = "unit", .chip = small_chip(7) };
    u->topology.machine = &u->machine;
    graph_start(&u->graph, "unit", 3, &u->arena);
}

static void stop(struct unit *u)
{
    plan_cache_free(&u->cache);
    arena_free(&u->arena);
}

static uint32_t tensor(struct unit *u, enum tensor_role role, enum data_type type, uint64_t rows, uint64_t columns)
{
    return graph_tensor(&u->graph, "t", role, type, columns ? 2 : 1, (uint64_t[]){ rows, columns });
}

static uint32_t layer_of(struct unit *u, uint32_t repeats, enum op_kind kind, uint32_t a, uint32_t b, struct op_attributes at)
{
    graph_layer(&u->graph, (struct layer){ .name = "layer", .role = LAYER_BODY, .n_parts = 1, .repeats = repeats });
    return graph_op(&u->graph, kind, (uint32_t[]){ a, b }, b == NO_ID ? 1 : 2, at);
}

/* Halves: the input is 3 x 11 (66 bytes), the first weight 11 x 5 (110), which is read again two layers on; a norm
 * has 2 x 11 of its own. */
static void add_layers(struct unit *u)
{
    const struct op_attributes none = {0};
    struct graph *g = &u->graph;
    graph_layer(g, (struct layer){ .name = "first", .role = LAYER_FIRST, .n_parts = 1 });
    uint32_t x = tensor(u, ROLE_INPUT, TYPE_FP16, 3, 11), w = tensor(u, ROLE_WEIGHT, TYPE_FP16, 11, 5), s = tensor(u, ROLE_STATE, TYPE_FP16, 3, 11);
    uint32_t y = graph_op(g, OP_MATMUL, (uint32_t[]){ x, w }, 2, none);
    y = layer_of(u, 0, OP_RELU, y, NO_ID, none);
    uint32_t tied = layer_of(u, 0, OP_MATMUL, y, w, (struct op_attributes){ .transpose_b = true });
    y = layer_of(u, 0, OP_ADD, tied, x, none);
    y = layer_of(u, 0, OP_ADD, y, tied, none);
    y = layer_of(u, 0, OP_MUL, y, s, none);
    y = layer_of(u, 0, OP_SOFTMAX, y, NO_ID, none);
    graph_layer(g, (struct layer){ .name = "norm", .role = LAYER_BODY, .n_parts = 1 });
    uint32_t gamma = tensor(u, ROLE_WEIGHT, TYPE_FP16, 11, 0), beta = tensor(u, ROLE_WEIGHT, TYPE_FP16, 11, 0);
    y = graph_op(g, OP_LAYER_NORM, (uint32_t[]){ y, gamma, beta }, 3, none);
    y = layer_of(u, 0, OP_SLICE, y, NO_ID, (struct op_attributes){ .axis = 1, .begin = 2, .length = 1 });
    y = layer_of(u, 0, OP_EXPAND, y, NO_ID, (struct op_attributes){ .view = { 3, 4 } });
    graph_layer(g, (struct layer){ .name = "loss", .role = LAYER_LAST, .n_parts = 1 });
    graph_op(g, OP_CROSS_ENTROPY, (uint32_t[]){ y, tensor(u, ROLE_INPUT, TYPE_INT32, 3, 0) }, 2, none);
}

enum { N_LAYERS = 11 };

/*
 * The sum of two gradients of one tensor, 66 each, belongs to the layer where the second arrives. Tensors that the chain rule reads are kept:
 * outputs of relu and softmax, inputs of products, norm and loss. The tied product's result lives for two layers. Nothing reads the loss, a float.
 */
static void layers_in_training(void **state)
{
    static const struct layer_cost want[N_LAYERS] = {
        { .n_parameters = 55, .weight_bytes = 110, .host_bytes = 66, .n_arrivals = 1, .output_bytes = 30 },
        { .output_bytes = 30, .kept_bytes = 30 },
        { .output_bytes = 66 },
        { .output_bytes = 66 + 66 },
        { .output_bytes = 66, .kept_bytes = 66 },
        { .output_bytes = 66 },
        { .output_bytes = 66, .kept_bytes = 66 },
        { .n_parameters = 22, .weight_bytes = 44, .output_bytes = 66 },
        { .output_bytes = 6 },
        { .output_bytes = 24, .kept_bytes = 24 },
        { .host_bytes = 12, .n_arrivals = 1, .result_bytes = 4, .n_results = 1 },
    };
    struct unit u;
    (void)state;
    start(&u);
    add_layers(&u);
    graph_add_backward(&u.graph);
    assert_int_equal(u.graph.n_layers, N_LAYERS);
    assert_memory_equal(layer_costs_unplanned(&u.graph, &u.arena), want, sizeof want);
    stop(&u);
}

/* Two inputs of one sum (3 x 11 halves, 66 bytes each) arrive together, a third arrives by itself, and one that is read again does not arrive again.
 * Nothing reads the two results. */
static void inputs_arrive_by_their_first_reader(void **state)
{
    static const struct layer_cost want = { .host_bytes = 3 * 66 + 1, .n_arrivals = 3, .result_bytes = 2 * 66 + 1, .n_results = 3, .output_bytes = 0 };
    const struct op_attributes none = {0};
    struct unit u;
    (void)state;
    start(&u);
    graph_layer(&u.graph, (struct layer){ .name = "all", .role = LAYER_FIRST, .n_parts = 1 });
    uint32_t x[3];
    for (int i = 0; i < 3; i++)
        x[i] = tensor(&u, ROLE_INPUT, TYPE_FP16, 3, 11);
    uint32_t sum = graph_op(&u.graph, OP_ADD, x, 2, none);
    graph_op(&u.graph, OP_MUL, (uint32_t[]){ sum, x[2] }, 2, none);
    graph_op(&u.graph, OP_MUL, (uint32_t[]){ sum, x[0] }, 2, none);
    uint32_t byte = tensor(&u, ROLE_INPUT, TYPE_FP8, 1, 0);
    graph_op(&u.graph, OP_RELU, &byte, 1, none);
    const struct layer_cost *costs = layer_costs_unplanned(&u.graph, &u.arena);
    assert_int_equal(costs->host_bytes, want.host_bytes);
    assert_int_equal(costs->n_arrivals, want.n_arrivals);
    assert_int_equal(costs->result_bytes, want.result_bytes);
    assert_int_equal(costs->n_results, want.n_results);
    stop(&u);
}

/* Nothing is kept. A tensor that is read for the last time is written over if the whole result fits there, but by
 * no norm; the tied product is not, as the layer after the next reads it again. */
static void layers_in_inference(void **state)
{
    static const uint64_t live_bytes[N_LAYERS] = { 30, 30, 30 + 66, 66 + 66, 66 + 66, 66 + 66, 66, 66 + 66, 66 + 6, 6 + 24, 24 + 4 };
    struct unit u;
    (void)state;
    start(&u);
    add_layers(&u);
    const struct layer_cost *costs = layer_costs_unplanned(&u.graph, &u.arena);
    const struct stage_layer *layers = moments_of(&u.graph, NULL, RECOMPUTE_NONE, &u.arena);
    for (size_t i = 0; i < N_LAYERS; i++) {
        assert_int_equal(layers[i].moments[TASK_FORWARD].live_bytes, live_bytes[i]);
        assert_int_equal(costs[i].kept_bytes + layers[i].stash_bytes + layers[i].moments[TASK_BACKWARD].live_bytes, 0);
    }
    stop(&u);
}

/* A tensor that is added to itself is freed once. Tanh, unlike the two before it, has no form in place. */
static void read_twice_freed_once(void **state)
{
    static const uint64_t live_bytes[] = { 66, 66, 66 + 66 };
    struct unit u;
    (void)state;
    start(&u);
    graph_layer(&u.graph, (struct layer){ .name = "first", .n_parts = 1 });
    uint32_t y = graph_op(&u.graph, OP_RELU, (uint32_t[]){ tensor(&u, ROLE_INPUT, TYPE_FP16, 3, 11) }, 1, (struct op_attributes){0});
    y = layer_of(&u, 0, OP_ADD, y, y, (struct op_attributes){0});
    layer_of(&u, 0, OP_TANH, y, NO_ID, (struct op_attributes){0});
    const struct stage_layer *layers = moments_of(&u.graph, NULL, RECOMPUTE_NONE, &u.arena);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(layers[i].moments[TASK_FORWARD].live_bytes, live_bytes[i]);
    stop(&u);
}

/* A layer that runs in two slices does all its work twice, and its forward pass again before its backward one. Products with one column
 * inside are outer products, which leave the AMP unused. */
static void slices_count(void **state)
{
    static const uint32_t repeats[] = { 1, 2, 0, 3, 1, 2, 1 };
    static const uint64_t widths[] = { 48, 48, 48, 48, 1, 48 };
    uint64_t all_off_amp = 0;
    struct unit u;
    (void)state;
    start(&u);
    graph_layer(&u.graph, (struct layer){ .name = "first", .n_parts = 1, .repeats = repeats[0] });
    uint32_t x = tensor(&u, ROLE_INPUT, TYPE_FP16, 30, 48), y = x;
    for (size_t i = 1; i < 6; i++)
        y = layer_of(&u, repeats[i], OP_MATMUL, y, tensor(&u, ROLE_WEIGHT, TYPE_FP16, widths[i - 1], widths[i]), (struct op_attributes){0});
    layer_of(&u, repeats[6], OP_CROSS_ENTROPY, y, tensor(&u, ROLE_INPUT, TYPE_INT32, 30, 0), (struct op_attributes){0});
    graph_add_backward(&u.graph);
    compiler_start(&u.compiler, &u.graph, &u.topology, &u.cache, &u.arena);
    const struct compiled *made = compile_graph(&u.compiler, &(struct op_plan_options){ .available_memory = 0.6, .n_tiles = 7 });
    for (uint32_t layer = 1; layer < 7; layer++) {
        uint64_t forward = 0, backward = 0, forward_mac = 0, backward_mac = 0, temp_bytes = 0, off_amp = 0, times = repeats[layer] ? repeats[layer] : 1;
        for (size_t i = 0; i < u.graph.n_ops; i++) {
            const struct op *op = &u.graph.ops[i];
            const struct op_plan *p = made->op_plans[i];
            if (op->layer_id != layer)
                continue;
            *(op->pass == PASS_FORWARD ? &forward : &backward) += times * op_plan_cycles(p);
            *(op->pass == PASS_FORWARD ? &forward_mac : &backward_mac) += times * p->mac;
            off_amp += p->vertex == VERTEX_HMAC || p->vertex == VERTEX_OUTER_PRODUCT ? times * op_plan_cycles(p) : 0;
            temp_bytes = p->temp_bytes_per_tile > temp_bytes ? p->temp_bytes_per_tile : temp_bytes;
        }
        const struct layer_cost *l = &made->layers[layer];
        assert_true(forward > 0 && backward > 0 && (layer == 6 || forward_mac == times * 30 * widths[layer - 1] * widths[layer]));
        assert_int_equal(l->forward_cycles, forward);
        assert_int_equal(l->backward_cycles, backward + (times > 1 ? forward : 0));
        assert_int_equal(l->forward_mac, forward_mac);
        assert_int_equal(l->backward_mac, backward_mac);
        assert_int_equal(l->again_mac, times > 1 ? forward_mac : 0);
        assert_int_equal(l->temp_bytes_per_tile, temp_bytes);
        assert_int_equal(cycles_total(&l->forward), forward);
        assert_int_equal(l->op_cycles, forward + backward);
        assert_int_equal(l->off_amp_cycles, off_amp);
        all_off_amp += times > 1 ? off_amp : 0;
    }
    assert_true(all_off_amp > 0);
    stop(&u);
}

/* If the sums of a convolution are not its result (they are floats, or several tiles share each), its temporaries add
 * to what is alive; in halves, split by the outputs alone, the result is in both and counts once. */
static void sums_beside_the_result(void **state)
{
    static const struct { uint64_t chans; enum partials_type partials; bool shared, twice; } cases[] = {
        { 24, PARTIALS_FP16, false, false }, { 24, PARTIALS_FP32, false, true }, { 1024, PARTIALS_FP16, true, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct unit u;
        start(&u);
        graph_layer(&u.graph, (struct layer){ .name = "first", .n_parts = 1 });
        uint32_t x = graph_tensor(&u.graph, "x", ROLE_INPUT, TYPE_FP16, 4, (uint64_t[]){ 1, 1, cases[i].shared ? 1 : 84, cases[i].chans });
        uint32_t w = graph_tensor(&u.graph, "w", ROLE_WEIGHT, TYPE_FP16, 4, (uint64_t[]){ 1, 1, cases[i].chans, 16 });
        graph_op(&u.graph, OP_CONV, (uint32_t[]){ x, w }, 2, (struct op_attributes){ .kernel_h = 1, .kernel_w = 1, .stride = 1, .groups = 1 });
        compiler_start(&u.compiler, &u.graph, &u.topology, &u.cache, &u.arena);
        const struct op_plan_options options = { .partials = cases[i].partials, .available_memory = 0.6, .n_tiles = 7, .inference = true };
        const struct compiled *made = compile_graph(&u.compiler, &options);
        const struct op_plan *p = made->op_plans[0];
        uint64_t result_bytes = (uint64_t)((cases[i].shared ? 1 : 84) * 16 * 2 * p->imbalance);
        assert_int_equal(p->split.in_chans > 1, cases[i].shared);
        const struct stage_moment *m = &moments_of(&u.graph, made, RECOMPUTE_NONE, &u.arena)->moments[TASK_FORWARD];
        assert_int_equal(m->live_bytes, result_bytes);
        assert_int_equal(m->temp_bytes_per_tile, p->temp_bytes_per_tile - (cases[i].twice ? 0 : result_bytes / 7));
        stop(&u);
    }
}

/* A compiled graph answers only the same options. Elementwise work is planned once whatever the memory; other tiles,
 * partial sums, or inference are planned anew. */
static void options_are_told_apart(void **state)
{
    static const struct { struct op_plan_options options; bool same_plan; } others[] = {
        { { .partials = PARTIALS_FP32, .available_memory = 0.6, .n_tiles = 7 }, false },
        { { .available_memory = 0.5, .n_tiles = 7 }, true },
        { { .available_memory = 0.6, .n_tiles = 7, .inference = true }, false },
        { { .available_memory = 0.6, .n_tiles = 5 }, false },
    };
    struct unit u;
    (void)state;
    start(&u);
    graph_layer(&u.graph, (struct layer){ .name = "first", .n_parts = 1 });
    uint32_t y = graph_op(&u.graph, OP_RELU, (uint32_t[]){ tensor(&u, ROLE_INPUT, TYPE_FP16, 30, 11) }, 1, (struct op_attributes){0});
    layer_of(&u, 0, OP_TANH, y, NO_ID, (struct op_attributes){0});
    compiler_start(&u.compiler, &u.graph, &u.topology, &u.cache, &u.arena);
    const struct compiled *first = compile_graph(&u.compiler, &(struct op_plan_options){ .available_memory = 0.6, .n_tiles = 7 });
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct compiled *other = compile_graph(&u.compiler, &others[i].options);
        assert_true(other != first && other == compile_graph(&u.compiler, &others[i].options));
        for (size_t op = 0; op < 2; op++)
            assert_int_equal(other->op_plans[op] == first->op_plans[op], others[i].same_plan);
    }
    assert_ptr_equal(compile_graph(&u.compiler, &first->options), first);
    stop(&u);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(layers_in_training), cmocka_unit_test(inputs_arrive_by_their_first_reader), cmocka_unit_test(layers_in_inference), cmocka_unit_test(read_twice_freed_once),
    cmocka_unit_test(slices_count), cmocka_unit_test(sums_beside_the_result), cmocka_unit_test(options_are_told_apart),
};
TAP_MAIN(tests)
