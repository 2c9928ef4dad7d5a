/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_op_costs.c - one operation of each kind and size, forward and backward, digit for digit (tests/golden/op_plans.txt): its work, and
 * its plan on seven tiles and on a whole chip. Cases by hand are in t_vector_plan.c and t_vertex_cost.c.
 */
#include "tests/golden_text.h"
#include "tests/chip_fixture.h"
#include "system-model/graph/op_kinds.h"
#include "system-model/compiler/compiler.h"
#include "tests/conv_fixture.h"

/* One operation: x [dims], and further operands: weights 'w', activations 'x', whole numbers 'n'. */
struct operand { char what; uint64_t dims[MAX_DIMS]; };
struct op_case { enum op_kind kind; enum data_type type; uint64_t x[MAX_DIMS]; struct operand more[3]; struct op_attributes at; };
#define AT(...) { __VA_ARGS__ }
static const struct op_case cases[] = {
    { OP_CONV, TYPE_FP16, { 2, 9, 7, 6 }, { { 'w', { 3, 3, 6, 10 } } }, AT(.kernel_h = 3, .kernel_w = 3, .stride = 2, .pad = 1) },
    { OP_CONV, TYPE_FP16, { 2, 9, 7, 6 }, { { 'w', { 1, 3, 2, 12 } } }, AT(.kernel_h = 1, .kernel_w = 3, .stride = 1, .groups = 3, .zeros = { 0, 1, 0, 2 }) },
    { OP_CONV_TRANSPOSE, TYPE_FP16, { 2, 4, 4, 12 }, { { 'w', { 2, 2, 6, 12 } } }, AT(.kernel_h = 2, .kernel_w = 2, .stride = 2, .view = { 2, 8, 8, 6 }) },
    { OP_MATMUL, TYPE_FP16, { 9, 24 }, { { 'w', { 24, 40 } } }, AT(0) },
    { OP_MATMUL, TYPE_FP16, { 9, 24 }, { { 'w', { 24, 41 } } }, AT(.serial_steps = 3) },
    { OP_MATMUL, TYPE_FP32, { 3, 9, 24 }, { { 'x', { 3, 40, 24 } } }, AT(.transpose_b = true) },
    { OP_ADD, TYPE_FP16, { 5, 9, 24 }, { { 'x', { 5, 9, 24 } } }, AT(0) }, { OP_ADD, TYPE_FP16, { 5, 9, 24 }, { { 'x', { 5, 1, 24 } } }, AT(0) },
    { OP_MUL, TYPE_FP16, { 5, 9, 24 }, { { 'x', { 5, 9, 24 } } }, AT(0) }, { OP_MUL, TYPE_FP32, { 5, 9, 24 }, { { 'x', { 1, 9, 1 } } }, AT(0) },
    { OP_SCALE, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(.rate = 0.5) }, { OP_BIAS_ADD, TYPE_FP16, { 5, 9, 24 }, { { 'w', { 24 } } }, AT(0) },
    { OP_BIAS_ADD, TYPE_FP32, { 3, 2 }, { { 'w', { 2 } } }, AT(0) }, { OP_RELU, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(0) },
    { OP_RELU, TYPE_FP32, { 3, 1 }, { { 0 } }, AT(0) }, { OP_GELU, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(0) },
    { OP_TANH, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(0) }, { OP_SIGMOID, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(0) },
    { OP_SWISH, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(0) }, { OP_DROPOUT, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(.rate = 0.1) },
    { OP_SOFTMAX, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(0) }, { OP_SOFTMAX, TYPE_FP32, { 2, 4000 }, { { 0 } }, AT(0) },
    { OP_BATCH_NORM, TYPE_FP16, { 2, 6, 5, 24 }, { { 'w', { 24 } }, { 'w', { 24 } } }, AT(.norm_groups = 1) },
    { OP_BATCH_NORM, TYPE_FP16, { 2, 6, 5, 24 }, { { 'w', { 24 } }, { 'w', { 24 } } }, AT(.norm_groups = 2) },
    { OP_BATCH_NORM, TYPE_FP16, { 2, 6, 5, 24 }, { { 'w', { 24 } }, { 'w', { 24 } } }, AT(.norm_groups = 2, .stable = true) },
    { OP_GROUP_NORM, TYPE_FP16, { 2, 6, 5, 24 }, { { 'w', { 24 } }, { 'w', { 24 } } }, AT(.norm_groups = 3) },
    { OP_GROUP_NORM, TYPE_FP16, { 3, 5, 7, 24 }, { { 'w', { 24 } }, { 'w', { 24 } } }, AT(.norm_groups = 1) },
    { OP_LAYER_NORM, TYPE_FP16, { 2, 30, 24 }, { { 'w', { 24 } }, { 'w', { 24 } } }, AT(0) },
    { OP_MAX_POOL, TYPE_FP16, { 2, 9, 7, 6 }, { { 0 } }, AT(.kernel_h = 3, .kernel_w = 2, .stride = 2) },
    { OP_AVERAGE_POOL, TYPE_FP16, { 2, 9, 7, 6 }, { { 0 } }, AT(.kernel_h = 3, .kernel_w = 2, .stride = 2, .stride_w = 1, .pad = 1) },
    { OP_MAX_POOL, TYPE_FP16, { 2, 9, 7, 6 }, { { 0 } }, AT(.kernel_h = 9, .kernel_w = 7, .stride = 1) },
    { OP_AVERAGE_POOL, TYPE_FP32, { 2, 9, 7, 6 }, { { 0 } }, AT(.kernel_h = 9, .kernel_w = 7, .stride = 1) },
    { OP_AVERAGE_POOL, TYPE_FP16, { 2, 9, 7, 6 }, { { 0 } }, AT(.kernel_h = 9, .kernel_w = 3, .stride = 1) },
    { OP_GATHER, TYPE_FP16, { 50, 24 }, { { 'n', { 5, 9 } } }, AT(0) }, { OP_GATHER, TYPE_FP16, { 2, 50, 24 }, { { 'n', { 2, 9 } } }, AT(0) },
    { OP_GATHER, TYPE_FP32, { 3000, 8 }, { { 'n', { 500 } } }, AT(0) },
    { OP_TRANSPOSE, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(.order = { 1, 0, 2 }) }, { OP_TRANSPOSE, TYPE_FP32, { 45, 26 }, { { 0 } }, AT(.view = { 45, 2, 13 }, .order = { 0, 2, 1 }) },
    { OP_CONCAT, TYPE_FP16, { 5, 9, 24 }, { { 'x', { 5, 9, 16 } }, { 'x', { 5, 9, 8 } } }, AT(.axis = 2) },
    { OP_SLICE, TYPE_FP16, { 5, 9, 24 }, { { 0 } }, AT(.axis = 2, .pieces = 3) }, { OP_SLICE, TYPE_FP16, { 5, 9, 24 }, { { 0 } }, AT(.axis = 1, .begin = 2, .length = 5) },
    { OP_PAD, TYPE_FP16, { 5, 9, 24 }, { { 0 } }, AT(.axis = 1, .begin = 2, .length = 15) },
    { OP_LSTM, TYPE_FP16, { 3, 5, 8 }, { { 'w', { 8, 64 } }, { 'w', { 16, 64 } }, { 'w', { 128 } } }, AT(.hidden = 16) },
    { OP_LSTM, TYPE_FP16, { 40, 200, 100 }, { { 'w', { 100, 1600 } }, { 'w', { 400, 1600 } }, { 'w', { 3200 } } }, AT(.hidden = 400) },
    { OP_GRU, TYPE_FP16, { 3, 5, 8 }, { { 'w', { 8, 48 } }, { 'w', { 16, 48 } }, { 'w', { 96 } } }, AT(.hidden = 16) },
    { OP_GRU, TYPE_FP16, { 3, 5, 8 }, { { 'w', { 8, 48 } }, { 'w', { 16, 48 } }, { 'w', { 96 } } }, AT(.hidden = 16, .reset_before = true) },
    { OP_OUTER_ADD, TYPE_FP16, { 2, 9, 24 }, { { 'x', { 2, 5, 24 } } }, AT(0) },
    { OP_CROSS_ENTROPY, TYPE_FP16, { 5, 9, 24 }, { { 'n', { 5, 9 } } }, AT(0) }, { OP_CROSS_ENTROPY, TYPE_FP32, { 3, 2000 }, { { 'n', { 3 } } }, AT(0) },
    { OP_TRANSDUCER_LOSS, TYPE_FP16, { 2, 9, 6, 24 }, { { 'n', { 2, 5 } } }, AT(.labels_per_sample = 5) },
    { OP_TRANSDUCER_LOSS, TYPE_FP32, { 9, 3, 5, 10 }, { { 'n', { 9, 4 } } }, AT(.labels_per_sample = 4) },
    { OP_CAST, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(.to_type = TYPE_FP32) }, { OP_CAST, TYPE_FP32, { 5, 9, 25 }, { { 0 } }, AT(.to_type = TYPE_FP16) },
    { OP_MAP, TYPE_FP16, { 5, 9, 25 }, { { 0 } }, AT(.function = FUNCTION_ERF) }, { OP_MAP, TYPE_FP32, { 5, 9, 25 }, { { 0 } }, AT(.function = FUNCTION_HARD_SWISH) },
    { OP_SELECT, TYPE_FP16, { 5, 9, 24 }, { { 'n', { 5, 9, 24 } }, { 'x', { 5, 9, 1 } } }, AT(0) }, { OP_SELECT, TYPE_FP16, { 5, 9, 24 }, { { 'n', { 5, 1, 24 } } }, AT(.rate = 1) },
    { OP_VIEW, TYPE_FP16, { 5, 9, 24 }, { { 0 } }, AT(.view = { 45, 24 }) }, { OP_EXPAND, TYPE_FP16, { 5, 1, 24 }, { { 0 } }, AT(.view = { 5, 9, 24 }) },
    { OP_RESIZE, TYPE_FP16, { 2, 4, 5, 24 }, { { 0 } }, AT(.view = { 2, 8, 9, 24 }) }, { OP_RESIZE, TYPE_FP16, { 2, 4, 5, 24 }, { { 0 } }, AT(.view = { 2, 3, 3, 24 }, .linear = true) },
    { OP_LOCAL_NORM, TYPE_FP16, { 2, 4, 5, 24 }, { { 0 } }, AT(.kernel_w = 5, .rate = 1e-4, .low = 0.75, .high = 1) },
    { OP_ARG_MAX, TYPE_FP16, { 5, 9, 24 }, { { 0 } }, AT(0) }, { OP_ARG_MAX, TYPE_FP16, { 2, 3000 }, { { 0 } }, AT(0) },
    { OP_TOP_K, TYPE_FP16, { 2, 3000 }, { { 0 } }, AT(.length = 1) }, { OP_TOP_K, TYPE_FP16, { 2, 3000 }, { { 0 } }, AT(.length = 100) },
    { OP_SCATTER, TYPE_FP16, { 50, 24 }, { { 'n', { 9 } }, { 'x', { 9, 24 } } }, AT(0) },
    { OP_SCATTER, TYPE_FP16, { 50, 24 }, { { 'n', { 9 } }, { 'x', { 9, 24 } } }, AT(.scatter = SCATTER_ADD) },
};

static uint32_t n_dims_of(const uint64_t *dims)
{
    uint32_t n = 0;
    while (n < MAX_DIMS && dims[n])
        n++;
    return n;
}

/* The input is made from trained weights, so that it needs a gradient. */
static uint32_t activation(struct graph *g, const uint64_t *dims, enum data_type type)
{
    uint32_t n = n_dims_of(dims), in[2] = { graph_tensor(g, "in", ROLE_INPUT, type, n, dims), graph_tensor(g, "b", ROLE_WEIGHT, type, 1, &dims[n - 1]) };
    return graph_op(g, OP_BIAS_ADD, in, 2, (struct op_attributes){ 0 });
}

static void add_loss(struct graph *g, uint32_t y)
{
    const struct tensor *t = &g->tensors[y];
    uint32_t labels = graph_tensor(g, "labels", ROLE_INPUT, TYPE_INT32, t->n_dims - 1, t->dims);
    graph_op(g, OP_CROSS_ENTROPY, (uint32_t[]){ y, labels }, 2, (struct op_attributes){ 0 });
}

/* The case, its loss unless it is one, and the backward pass. Returns the operation. */
static uint32_t build_case(struct graph *g, const struct op_case *c, bool inference)
{
    uint32_t in[4] = { activation(g, c->x, c->type) }, n = 1;
    for (; n < 4 && c->more[n - 1].what; n++) {
        const struct operand *o = &c->more[n - 1];
        uint32_t rank = n_dims_of(o->dims);
        in[n] = o->what == 'x' ? activation(g, o->dims, c->type)
              : graph_tensor(g, "t", o->what == 'w' ? ROLE_WEIGHT : ROLE_INPUT, o->what == 'w' ? c->type : TYPE_INT32, rank, o->dims);
    }
    uint32_t y = graph_op(g, c->kind, in, n, c->at), id = g->tensors[y].producer_op;
    bool loss = c->kind == OP_CROSS_ENTROPY || c->kind == OP_TRANSDUCER_LOSS;
    if (inference || op_rules[c->kind].gradient.no_gradient)
        return id;
    if (!loss)
        add_loss(g, y);
    graph_add_backward(g);
    return id;
}

static void print_plan(FILE *f, const struct op_plan *p)
{
    fprintf(f, "%ju + %ju + %ju in %u on %u, mac %ju/%ju, sent %ju, temp %ju, code %ju, rearrange %ju, imbalance %.6g", (uintmax_t)p->compute_cycles,
            (uintmax_t)p->exchange_cycles, (uintmax_t)p->sync_cycles, p->n_supersteps, p->n_tiles_used, (uintmax_t)p->mac, (uintmax_t)p->padded_mac,
            (uintmax_t)p->exchanged_bytes, (uintmax_t)p->temp_bytes_per_tile, (uintmax_t)op_code_bytes(&p->code), (uintmax_t)p->rearrange_cycles,
            p->imbalance);
}

/* One worker and a path of 4 bytes on three tiles: next to nothing is lost to rounding, so that each element more
 * shows. */
static struct chip narrow_chip(void)
{
    struct chip c = small_chip(3);
    c.name = "narrow";
    c.n_workers = 1;
    c.vector_bytes_per_cycle = 4;
    return c;
}

struct target { const char *name; struct chip chip; struct op_plan_options opt; double imbalance; };

static const char *const type_names[N_DATA_TYPES] = {
    [TYPE_FP16] = "fp16", [TYPE_FP32] = "fp32", [TYPE_FP8] = "fp8", [TYPE_INT32] = "int32", [TYPE_UINT8] = "uint8",
};
static const char *const gradient_works[N_GRADIENT_WORKS] = {
    [WORK_ACCUMULATE] = "accumulate", [WORK_ZERO] = "zero", [WORK_REARRANGE] = "rearrange", [WORK_SQUARES] = "squares", [WORK_SCALE] = "scale",
};

static void print_case(FILE *f, const struct op_case *c, const struct target *targets, size_t n_targets, struct plan_cache *cache)
{
    struct arena a = { 0 };
    struct graph g;
    graph_start(&g, "toy", 1, &a);
    graph_layer(&g, (struct layer){ .name = "layer", .n_parts = 1 });
    uint32_t id = build_case(&g, c, false);
    fprintf(f, "%s of %s%s\n", op_kind_names[c->kind], type_names[c->type], op_keeps_layout(&g.ops[id]) ? ", stays" : "");
    for (uint32_t i = id; i < g.n_ops; i++) {
        if (i != id && g.ops[i].forward_op != id)
            continue;
        fprintf(f, "  %s: mac %ju flop %ju, %u to %u\n", op_pass_names[g.ops[i].pass], (uintmax_t)op_mac(&g, &g.ops[i]), (uintmax_t)op_flop(&g, &g.ops[i]),
                g.ops[i].n_inputs, g.ops[i].n_outputs);
        for (size_t k = 0; k < n_targets; k++) {
            struct op_plan p;
            if (targets[k].opt.inference && i != id)
                continue;
            op_plan_build(&p, &g, i, (struct operands){ .imbalance = targets[k].imbalance }, &targets[k].chip, &targets[k].opt, cache);
            fprintf(f, "    %s: ", targets[k].name);
            print_plan(f, &p);
            fputc('\n', f);
        }
    }
    arena_free(&a);
}

static void print_works(FILE *f, const struct target *t)
{
    static const uint64_t sizes[] = { 1, 5, 1001, 70000 };
    for (int work = 0; work < N_VECTOR_WORKS; work++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct op_plan p;
            enum data_type type = i % 2 ? TYPE_FP32 : TYPE_FP16;
            vector_work_plan(&p, (enum vector_work)work, sizes[i], type, 2, &t->chip, &t->opt);
            fprintf(f, "%s %s of %ju: ", t->name, work < N_GRADIENT_WORKS ? gradient_works[work] : optimizer_rule((enum vector_work)work)->name, (uintmax_t)sizes[i]);
            print_plan(f, &p);
            fputc('\n', f);
        }
}

/* Functions of one element; functions of two tensors, once with a second operand that is repeated along one
 * dimension. */
static void print_functions(FILE *f, const struct target *targets, struct plan_cache *cache)
{
    for (int k = 0; k < N_OP_FUNCTIONS; k++) {
        struct op_case c = { .kind = OP_MAP, .type = TYPE_FP16, .x = { 5, 9, 25 }, .at = { .function = (enum op_function)k, .low = 0.5 } };
        const char *name = op_function_name((enum op_function)k);
        if (op_function_is_of_two((enum op_function)k)) {
            c.kind = OP_COMBINE;
            c.more[0] = (struct operand){ 'x', { 5, 1, 25 } };
            fprintf(f, "function %s, repeated: ", name);
            print_case(f, &c, targets, 1, cache);
            c.more[0] = (struct operand){ 'x', { 5, 9, 25 } };
        }
        fprintf(f, "function %s: ", name);
        print_case(f, &c, targets, 1, cache);
    }
}

/* Each vertex for a few elements and for many, halves and floats, on the data path that its rows were read for and on
 * one twice as wide. */
static void print_vertices(FILE *f)
{
    static const uint64_t sizes[] = { 1, 25, 612, 6011 };
    struct chip chips[] = { small_chip(7), small_chip(7) };
    chips[1].vector_bytes_per_cycle = 16;
    chips[1].worker_turn_cycles = 4;
    for (int op = 0; op < N_MAP_OPS; op++) {
        fprintf(f, "vertex %s:", map_op_name((enum map_op)op));
        for (size_t i = 0; i < 2; i++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
                fprintf(f, " %ju %ju", (uintmax_t)map_cycles(&chips[i], (enum map_op)op, sizes[k], 2), (uintmax_t)map_cycles(&chips[i], (enum map_op)op, sizes[k], 4));
        fputc('\n', f);
    }
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const struct vertex_table *v = &vertex_table;
            const struct chip *c = &chips[i];
            uint64_t n = sizes[k];
            const uint64_t all[] = { slic_cycles(c, (struct conv_work){ 0, 3, 1, 1, n, 5, 3, 1, 1, .in_chans = 4 }, i ? 4 : 2),
                                     slic_cycles(c, (struct conv_work){ 0, 2, 1, 1, 7, n, 3, 2, 1, .in_chans = 2, .every_other = true }, i ? 2 : 4),
                                     hmac_cycles(c, 2, (struct conv_work){ 0, 3, 1, 5, 1, n, 1, 9, 1, .in_chans = 12 }),
                                     hmac_cycles(c, 4, (struct conv_work){ 0, 1, 1, 5, 1, 8, 1, 2, 1, .in_chans = n }), outer_product_cycles(c, 3, n, 21), reduce_cycles(v, c, n, 7, 2), reduce_cycles(v, c, n, 3, 4),
                                     cast_cycles(v, c, n, 2, 4), cast_cycles(v, c, n, 4, 2), cast_cycles(v, c, n, 2, 1), zero_cycles(v, c, n, 2), dynamic_slice_cycles(v, c, n),
                                     add_in_place_cycles(c, n, 2), add_in_place_cycles(c, n, 4), rearrange_cycles(v, c, n, 2, false), rearrange_cycles(v, c, n, 2, true),
                                     rearrange_cycles(v, c, n, 4, false), regroup_cycles(v, c, n), copy_pieces_cycles(v, n), copy_cycles(c, n), exchange_code_bytes(1, n),
                                     gather_cycles(c, n, n / 3, 24), scatter_add_cycles(c, n, n / 3, 25), pool_cycles(c, n, 5, 9, false),
                                     pool_cycles(c, n, 5, 9, true), transducer_cell_cycles(c, n) };
            fprintf(f, "vertices of %ju:", (uintmax_t)n);
            for (size_t q = 0; q < sizeof all / sizeof *all; q++)
                fprintf(f, " %ju", (uintmax_t)all[q]);
            fputc('\n', f);
        }
}

static void costs(void **state)
{
    struct arena a = { 0 };
    struct plan_cache cache = { 0 };
    char *text;
    (void)state;
    struct target targets[] = {
        { "7 tiles", small_chip(7), { .available_memory = 0.6 }, 1 }, { "uneven", small_chip(7), { .available_memory = 0.6, .inference = true }, 2.5 },
        { "chip", wide_chip(1417), { .available_memory = 0.6, .partials = PARTIALS_FP32, .n_tiles = 1400 }, 1 },
        { "one worker", narrow_chip(), { .available_memory = 0.6 }, 1 },
    };
    PRINTED(text,
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            print_case(f, &cases[i], targets, 4, &cache);
        print_functions(f, targets, &cache);
        print_works(f, &targets[0]);
        print_works(f, &targets[2]);
        print_works(f, &targets[3]);
        print_vertices(f));
    assert_digests(text, "", "tests/golden/op_plans.txt", &a);
    free(text);
    plan_cache_free(&cache);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(costs) };
TAP_MAIN(tests)
