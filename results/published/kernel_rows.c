/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_rows.c - a measured kernel, from the cells of its row to the planner's value for it.
 *
 * Operands are on the chip before and after the kernel. Temporaries may take 0.6 of tile memory, which is PopLibs' default, since PopLibs'
 * planner does not know what else is in memory; the row of a convolution may state another share. Convolutions are padded by half the filter
 * unless the row says otherwise. Several IPUs each have the same number of rows of the field and run at the same time; the exchange of rows at
 * their borders is left out.
 *
 * Rates do not count multiplications with padding, which is how poplin counts a convolution (getFwdFlops). Measurements on GC2 support this:
 * SSD's Conv6 and Conv8 (arXiv:1912.03413 Table 5.5) have the same channels, kernel and 5 x 5 output positions, but strides 2 and 1. The one
 * of stride 1 reads a quarter of the input. If padding counts, it is 18 to 22 % slower over batches of 1 to 8; otherwise it is 1 to 5 %
 * slower.
 */
#include "results/published/parts.h"
#include "system-model/graph/graph.h"
#include "system-model/machine/machine.h"
#include "system-model/plan/plan.h"

const char *const kernel_kind_names[] = { "matmul", "conv", "gemm", "fc", "conv-layer", "triad", "static-sparse", "dynamic-sparse", NULL };
enum { LAYOUT_PLANNED, LAYOUT_LINEAR };
static const char *const layout_names[] = { "planned", "linear", NULL };
static const char *const host_type_names[] = { "none", "fp32", NULL };

enum { NO_PAD = 1000, MOST_KERNEL_COLUMNS = 1000000, MOST_FILTER = 10000 };    /* MOST_FILTER limits time, as all elements of a filter are visited */
enum { PRODUCT = 1 << KERNEL_MATMUL | 1 << KERNEL_GEMM, CONV = 1 << KERNEL_CONV | 1 << KERNEL_CONV_LAYER, FC = 1 << KERNEL_FC, TRIAD = 1 << KERNEL_TRIAD,
       SPARSE = 1 << KERNEL_STATIC_SPARSE | 1 << KERNEL_DYNAMIC_SPARSE, MULTIPLIES = PRODUCT | CONV | FC | SPARSE, ANY_KERNEL = MULTIPLIES | TRIAD };
#define COUNT(member, least, most, may, must, text) { FIELD_OF(struct kernel_case, member, .min = least, .max = most, .help = text), may, must }
#define CHOICE(member, names, may, must, text) { FIELD_OF(struct kernel_case, member, .choices = names, .help = text), may, must }
const struct part_field kernel_fields[] = {
    { { .name = "kernel", .type = FIELD_CHOICE, .offset = offsetof(struct kernel_case, kind), .choices = kernel_kind_names }, ANY_KERNEL, ANY_KERNEL },
    { FIELD_OF(struct kernel_case, machine, .help = "a chip's sheet"), ANY_KERNEL, ANY_KERNEL },
    COUNT(m, 1, 1e6, PRODUCT | SPARSE, PRODUCT | SPARSE, "rows of the weights"), COUNT(k, 1, 1e6, PRODUCT | SPARSE, PRODUCT | SPARSE, "columns of the weights"),
    COUNT(n, 1, 1e9, PRODUCT | TRIAD | SPARSE, PRODUCT | TRIAD, "columns of the input, or elements of a vector"),
    COUNT(block, 1, 16, SPARSE, SPARSE, "rows and columns of a block"), COUNT(density, 1e-6, 1, SPARSE, SPARSE, "share of the blocks that are there"),
    COUNT(batch, 1, 1e6, CONV | FC, CONV | FC, "images, or rows of the input"),
    COUNT(in, 1, 1e6, FC, FC, "columns of the input"), COUNT(out, 1, 1e6, FC, FC, "columns of the output"),
    COUNT(filter, 1, MOST_FILTER, CONV, CONV, "height and width of the kernel"), COUNT(input, 1, 1e6, CONV, CONV, "height of the field, and its width"),
    COUNT(input_w, 1, 1e6, CONV, 0, "width of the field if that is not its height"),
    COUNT(in_chans, 1, 1e6, CONV, CONV, "input channels"), COUNT(out_chans, 1, 1e6, CONV, CONV, "output channels"),
    COUNT(stride, 1, 1e6, CONV, CONV, "of the kernel"), COUNT(groups, 1, 1e6, CONV | FC, CONV, "of channels, or layers side by side"),
    COUNT(available_memory, 0.01, 1, CONV, 0, "share of tile memory for temporaries"),
    COUNT(ipus, 1, 64, CONV, 0, "which share the rows of the field"),
    COUNT(pad, 0, NO_PAD, CONV, 0, "on each side; half the filter if not given"),
    CHOICE(type, float_type_names, ANY_KERNEL, ANY_KERNEL, "of the operands"), CHOICE(partials, partials_type_names, MULTIPLIES, MULTIPLIES, "of partial sums"),
    CHOICE(layout, layout_names, PRODUCT | SPARSE, 0, "linear: operands lie in order, so that the product works on copies as it plans them"),
    CHOICE(host_type, host_type_names, SPARSE, 0, "fp32: the dense operand and the result also lie in this type, for the host"),
};
const size_t n_kernel_fields = N_FIELDS(kernel_fields);
#undef COUNT
#undef CHOICE

/* ---- the cells of a case --------------------------------------------------------------- */

static bool is_conv(const struct kernel_case *c) { return c->kind == KERNEL_CONV || c->kind == KERNEL_CONV_LAYER; }

bool kernel_case_read(struct kernel_case *c, const struct csv_table *t, const struct csv_row *row, struct err *err)
{
    *c = (struct kernel_case){ .pad = NO_PAD, .ipus = 1, .groups = 1 };
    if (!part_read(c, kernel_fields, n_kernel_fields, t, row, err))
        return false;
    if (c->input_w == 0)
        c->input_w = c->input;
    c->input = ceil_div(c->input, c->ipus);
    if (c->pad == NO_PAD)
        c->pad = is_conv(c) ? (c->filter - 1) / 2 : 0;
    if (c->kind != KERNEL_TRIAD && c->n > MOST_KERNEL_COLUMNS)
        return fail(err, "%s:%u: n: %" PRIu64 " is outside 1 to %d", t->path, row->line, c->n, MOST_KERNEL_COLUMNS);
    if (is_conv(c) && (c->in_chans % c->groups != 0 || c->out_chans % c->groups != 0))
        return fail(err, "%s:%u: groups: %" PRIu64 " does not divide the channels", t->path, row->line, c->groups);
    if (is_conv(c) && c->filter > min_u64(c->input, c->input_w) + 2 * c->pad)
        return fail(err, "%s:%u: filter: %" PRIu64 " is wider than the padded input", t->path, row->line, c->filter);
    return true;
}

/* ---- a graph of one operation ------------------------------------------------------------ */

static void build_graph(struct graph *g, const struct kernel_case *c, struct arena *a)
{
    enum data_type type = (enum data_type)c->type;
    graph_start(g, "kernel", 1, a);
    graph_layer(g, (struct layer){ .name = "kernel", .role = LAYER_BODY, .n_parts = 1 });
    uint32_t inputs[2];
    if (c->kind == KERNEL_TRIAD) {      /* a triad, a = b + 2 c, is one pass over two vectors */
        inputs[0] = graph_tensor(g, "b", ROLE_INPUT, type, 1, (uint64_t[]){ c->n });
        inputs[1] = graph_tensor(g, "c", ROLE_INPUT, type, 1, (uint64_t[]){ c->n });
        graph_op(g, OP_ADD, inputs, 2, (struct op_attributes){ 0 });
        return;
    }
    if (!is_conv(c)) {     /* matMul(weights, input) */
        inputs[0] = graph_tensor(g, "weights", ROLE_WEIGHT, type, 3, (uint64_t[]){ c->groups, c->m, c->k });
        inputs[1] = graph_tensor(g, "input", ROLE_INPUT, type, 3, (uint64_t[]){ c->groups, c->k, c->n });
        graph_op(g, OP_MATMUL, inputs, 2, (struct op_attributes){ 0 });
        return;
    }
    struct op_attributes at = { .kernel_h = (uint32_t)c->filter, .kernel_w = (uint32_t)c->filter,
                                .stride = (uint32_t)c->stride, .pad = (uint32_t)c->pad, .groups = (uint32_t)c->groups };
    inputs[0] = graph_tensor(g, "input", ROLE_INPUT, type, 4, (uint64_t[]){ c->batch, c->input, c->input_w, c->in_chans });
    inputs[1] = graph_tensor(g, "weights", ROLE_WEIGHT, type, 4,
                             (uint64_t[]){ c->filter, c->filter, c->in_chans / c->groups, c->out_chans });
    graph_op(g, OP_CONV, inputs, 2, at);
}

static void plan_case(struct op_plan *out, struct energy *energy, const struct kernel_case *c, enum op_pass pass, const struct chip *chip,
                      struct plan_cache *cache, struct arena *a)
{
    const struct energy_prices prices = energy_prices(chip);
    struct graph g;
    build_graph(&g, c, a);
    if (pass != PASS_FORWARD) {         /* backward passes are planned from the shapes of the forward operation */
        uint32_t result = graph_tensor(&g, "gradient", ROLE_GRADIENT, (enum data_type)c->type, 1, (uint64_t[]){ 1 });
        graph_append(&g, (struct op){ .kind = g.ops[0].kind, .pass = pass, .at = g.ops[0].at, .n_outputs = 1, .outputs = &result });
    }
    struct op_plan_options opt = { .partials = c->partials == 0 ? PARTIALS_FP16 : PARTIALS_FP32, .inference = true,
                                   /* the benchmark sets no fullyConnectedPass (ipu/matmul_bench.cpp:293) */
                                   .plain_products = c->kind == KERNEL_MATMUL || c->kind == KERNEL_GEMM,
                                   .available_memory = c->available_memory > 0 ? c->available_memory : 0.6, .n_tiles = chip->n_tiles };
    op_plan_build(out, &g, (uint32_t)g.n_ops - 1, (struct operands){ .imbalance = 1, .together = true }, chip, &opt, cache);
    if (energy)
        *energy = op_energy(&g, &g.ops[0], out, &prices);
}

static bool multiplies(const struct kernel_case *c, const struct chip *chip, struct err *err)
{
    return chip_multiplies(chip, (enum data_type)c->type, "type", err);
}

static uint64_t positions(const struct kernel_case *c, uint64_t input) { return (input + 2 * c->pad - c->filter) / c->stride + 1; }

/* Along one axis, the pairs of an output position and a kernel element that read input and no padding. */
static uint64_t pairs_on_input(const struct kernel_case *c, uint64_t input)
{
    const struct conv_axis axis = { positions(c, input), c->filter, c->stride, c->pad, input, 1 };
    uint64_t n = 0;
    for (uint64_t k = 0; k < c->filter; k++)
        n += conv_axis_met(&axis, 0, axis.positions, k, k);
    return n;
}

double kernel_row_flop_per_s(const struct kernel_case *c, const struct op_plan *plan, const struct chip *chip)
{
    double products = c->kind == KERNEL_TRIAD ? (double)c->n : (double)c->m * (double)c->k * (double)c->n;
    if (is_conv(c)) {
        products = (double)pairs_on_input(c, c->input) * (double)pairs_on_input(c, c->input_w) * (double)c->batch * (double)c->in_chans * (double)c->out_chans / (double)c->groups;
    }
    return 2 * products * chip->clock_hz / (double)op_plan_cycles(plan);
}

/* Refuses kernels for which only the memory is predicted, and sparse products, which have a plan of their own. */
static bool has_time(const struct kernel_case *c, struct err *err)
{
    if (c->density > 0)
        return fail(err, "a sparse product has no dense plan");
    if (c->layout == LAYOUT_LINEAR)
        return fail(err, "only the memory of a product with layout=linear is predicted");
    return (c->kind != KERNEL_FC && c->kind != KERNEL_CONV_LAYER) || fail(err, "only the memory of %s is predicted", kernel_kind_names[c->kind]);
}

bool kernel_row_plan(struct op_plan *out, struct energy *energy, const struct kernel_case *c, const struct chip *chip, struct plan_cache *cache,
                     struct arena *a, struct err *err)
{
    if (!has_time(c, err) || !multiplies(c, chip, err))
        return false;
    plan_case(out, energy, c, PASS_FORWARD, chip, cache, a);
    return true;
}

struct kernel_machine { const char *name; struct machine machine; struct kernel_machine *next; };

const struct machine *kernel_machine(struct kernel_bench *b, const char *name, struct err *err)
{
    for (const struct kernel_machine *m = b->machines; m; m = m->next)
        if (text_is(m->name, name))
            return &m->machine;
    struct kernel_machine *m = ARENA_NEW(b->arena, struct kernel_machine);
    if (!machine_load(&m->machine, name, b->specs_dir, b->arena, err))
        return NULL;
    m->name = arena_strdup(b->arena, name);
    m->next = b->machines;
    b->machines = m;
    return &m->machine;
}

bool kernel_row_predict(double *value, const struct kernel_case *c, const char *metric, struct kernel_bench *bench, struct err *err)
{
    const struct machine *m = kernel_machine(bench, c->machine, err);
    const struct chip *chip = m ? &m->chip : NULL;
    struct op_plan plan;
    struct energy energy;
    if (!chip || !kernel_row_plan(&plan, &energy, c, chip, bench->plans, bench->arena, err))
        return false;
    uint64_t peak_mac = chip_mac_per_cycle(chip, (enum data_type)c->type, c->partials == 0 ? PARTIALS_FP16 : PARTIALS_FP32);
    double time_s = (double)op_plan_cycles(&plan) / chip->clock_hz, flop_per_s = kernel_row_flop_per_s(c, &plan, chip);
    if (text_is(metric, "tflop_per_s"))
        *value = flop_per_s / 1e12;
    else if (text_is(metric, "time_s"))
        *value = time_s;
    else if (text_is(metric, "cycles"))
        *value = (double)op_plan_cycles(&plan);
    else if (text_is(metric, "energy_above_idle_j"))
        *value = energy_total(&energy);
    else if (text_is(metric, "energy_error_j"))
        *value = energy_error_j(&energy, chip);
    else if (text_is(metric, "peak_share"))
        *value = flop_per_s / chip_peak_flop_per_s(chip, peak_mac);
    else
        return fail(err, "metric '%.60s' of a kernel; known: tflop_per_s, time_s, cycles, energy_above_idle_j, peak_share", metric);
    return true;
}

/* ---- memory of a kernel -------------------------------------------------------------------- */

static void add_pass(struct kernel_memory *m, const struct kernel_case *c, enum op_pass pass, const struct chip *chip, struct plan_cache *cache, struct arena *a)
{
    struct op_plan plan;
    plan_case(&plan, NULL, c, pass, chip, cache, a);
    m->temporary_bytes = max_u64(m->temporary_bytes, plan.temp_bytes_per_tile * plan.n_tiles_used);
    m->code_bytes += op_code_bytes(&plan.code) * plan.n_tiles_used;
    m->tile_temporary_bytes = max_u64(m->tile_temporary_bytes, plan.temp_bytes_per_tile);
    m->tile_code_bytes += op_code_bytes(&plan.code);
    m->interleaved_bytes = max_u64(m->interleaved_bytes, plan.interleaved_bytes);
}

static void add_product(struct kernel_memory *m, const struct kernel_case *like, uint64_t rows, uint64_t inner, uint64_t columns,
                        const struct chip *chip, struct plan_cache *cache, struct arena *a)
{
    struct kernel_case c = *like;
    c.kind = KERNEL_MATMUL;
    c.m = rows, c.k = inner, c.n = columns;
    add_pass(m, &c, PASS_FORWARD, chip, cache, a);
}

/* Elements of a training layer: input, output and their gradients, and the weights, which are updated in place. */
static uint64_t layer_elements(uint64_t input, uint64_t output, uint64_t weights)
{
    return 2 * (input + output) + weights;
}

/* The forward pass is planned as PopLibs does with fullyConnectedPass: outputs are the field and the batch is the output channels. The data
 * gradient swaps inputs and outputs; the weight gradient swaps batch and inputs. So planned, the sums of 11 of 32 calibrating programs match
 * their fullest tile; with the batch as field, 8 do. */
static void fc_memory(struct kernel_memory *m, const struct kernel_case *c, const struct chip *chip, struct plan_cache *cache, struct arena *a)
{
    m->operand_bytes = c->groups * layer_elements(c->batch * c->in, c->batch * c->out, c->in * c->out) * data_type_bytes((enum data_type)c->type);
    add_product(m, c, c->batch, c->in, c->out, chip, cache, a);
    add_product(m, c, c->batch, c->out, c->in, chip, cache, a);
    add_product(m, c, c->in, c->batch, c->out, chip, cache, a);
}

static void conv_layer_memory(struct kernel_memory *m, const struct kernel_case *c, const struct chip *chip, struct plan_cache *cache, struct arena *a)
{
    uint64_t input = c->batch * c->input * c->input_w * c->in_chans;
    uint64_t output = c->batch * positions(c, c->input) * positions(c, c->input_w) * c->out_chans;
    uint64_t weights = c->filter * c->filter * c->in_chans / c->groups * c->out_chans;
    m->operand_bytes = layer_elements(input, output, weights) * data_type_bytes((enum data_type)c->type);
    for (int pass = PASS_FORWARD; pass < N_OP_PASSES; pass++)
        add_pass(m, c, (enum op_pass)pass, chip, cache, a);
}

static void product_memory(struct kernel_memory *m, const struct kernel_case *c, const struct chip *chip, struct plan_cache *cache, struct arena *a)
{
    uint64_t read_bytes = (c->m * c->k + c->k * c->n) * data_type_bytes((enum data_type)c->type);
    m->operand_bytes = read_bytes * (c->layout == LAYOUT_LINEAR ? 2 : 1) + c->m * c->n * data_type_bytes((enum data_type)c->type);
    add_product(m, c, c->m, c->k, c->n, chip, cache, a);
}

bool kernel_row_memory(struct kernel_memory *out, const struct kernel_case *c, struct kernel_bench *bench, struct err *err)
{
    const struct machine *m = kernel_machine(bench, c->machine, err);
    const struct chip *chip = m ? &m->chip : NULL;
    *out = (struct kernel_memory){0};
    if (!chip || !multiplies(c, chip, err))
        return false;
    if (c->kind == KERNEL_CONV || c->kind == KERNEL_TRIAD)
        return fail(err, "the memory of %s is not predicted", kernel_kind_names[c->kind]);
    if (c->kind == KERNEL_FC)
        fc_memory(out, c, chip, bench->plans, bench->arena);
    else if (c->kind == KERNEL_CONV_LAYER)
        conv_layer_memory(out, c, chip, bench->plans, bench->arena);
    else
        product_memory(out, c, chip, bench->plans, bench->arena);
    out->n_tiles = chip->n_tiles;
    out->max_tile_bytes = ceil_div(out->operand_bytes, chip->n_tiles) + out->tile_temporary_bytes + out->tile_code_bytes;
    uint64_t gaps_bytes = (uint64_t)(chip->memory_gaps_share * (double)out->tile_temporary_bytes);
    out->max_tile_with_gaps_bytes = chip_end_of_memory(chip, out->max_tile_bytes + gaps_bytes, out->interleaved_bytes);
    out->fits = out->max_tile_with_gaps_bytes <= chip->tile_memory_bytes;
    out->fits_probability = memory_fits_probability(chip->tile_memory_bytes, (struct memory_need){ ceil_div(out->operand_bytes, chip->n_tiles), out->max_tile_with_gaps_bytes },
                                                    chip->memory_error);
    return true;
}
