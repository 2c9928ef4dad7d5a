/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compiler.c - a graph compiled for one chip: every operation planned over the tiles, costs summed by layer
 * (layer_costs.c), and the costs of collectives and copies on the links.
 *
 * Layers are the units of a plan: placement, recomputation and schedules only add and multiply layer costs. Compiled
 * graphs and collectives are remembered, so that a sweep over replicas, gradient accumulation and schedules of one
 * graph never plans an operation twice.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/compiled.h"
#include "system-model/graph/graph.h"

/* ---- operations planned ---------------------------------------------------------------------------------------- */

static void find_weights(struct compiler *c, const struct graph *g)
{
    size_t cap = 0;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].role == ROLE_WEIGHT) {
            ARENA_APPEND(c->arena, c->weights, c->n_weights, cap, i);
        }
}

/* Lists each use of a weight by a layer that does not own it (tied weights). */
static void find_tied(struct compiler *c, const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            struct tied_use use = { op->layer_id, op->inputs[k] };
            const struct tensor *t = &g->tensors[use.tensor_id];
            if (t->role != ROLE_WEIGHT || t->layer_id == op->layer_id)
                continue;
            ARENA_APPEND(c->arena, c->tied, c->n_tied, c->cap_tied, use);
        }
    }
}

bool tied_is_first(const struct compiler *c, size_t i, layer_test *is_here, const void *user)
{
    for (size_t k = 0; k < i; k++)
        if (c->tied[k].tensor_id == c->tied[i].tensor_id && is_here(user, c->tied[k].layer_id))
            return false;
    return is_here(user, c->tied[i].layer_id);
}

void compiler_start(struct compiler *c, const struct graph *g, const struct topology *t, struct plan_cache *cache, struct arena *a)
{
    *c = (struct compiler){ .graph = g, .topology = t, .chip = &t->machine->chip, .cache = cache, .arena = a, .spanning = ARENA_ARRAY(a, uint32_t, g->n_ops),
                            .collective_cache = collective_cache_new(a), .input_numbers = graph_input_numbers(g) };
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (op_exchange(g, &g->ops[i]).n)
            c->spanning[c->n_spanning++] = i;
    memo_start(&c->memo, c, a);
    memo_start(&c->plans, c, a);
    find_weights(c, g);
    find_tied(c, g);
}

void compiler_of_graph(struct compiler *c, const struct graph *g, struct arena *a)
{
    *c = (struct compiler){ .graph = g, .arena = a };
    memo_start(&c->memo, c, a);
}

void compiler_of_chip(struct compiler *c, const struct graph *g, const struct chip *chip, struct plan_cache *cache, struct arena *a)
{
    compiler_of_graph(c, g, a);
    c->chip = chip;
    c->cache = cache;
}

static struct compiler *compiler_of_operations(struct compiler *c) { return c->of_chip ? c->of_chip : c; }

void compiler_forget(struct compiler *c)
{
    if (c->of_chip)
        compiler_forget(c->of_chip);
    memo_forget(&c->memo);
    memo_forget(&c->plans);
    if (c->of_graph)
        memo_forget(&c->of_graph->memo);
    c->n_variants = 0;
    c->collective_cache = collective_cache_new(c->arena);
}

static bool same_options(const struct op_plan_options *a, const struct op_plan_options *b)
{
    return a->partials == b->partials && a->available_memory == b->available_memory && a->inference == b->inference && a->log_softmax == b->log_softmax &&
           a->plain_products == b->plain_products && a->even_slices == b->even_slices && a->operations_by_value == b->operations_by_value && a->n_tiles == b->n_tiles;
}

/* How the results of an operation are laid out. imbalance: their bytes on the fullest tile over an even share. laid_by: the plan that put them there;
 * NULL: no other tensor has this layout. groups, turned and crowding: as in struct op_plan. */
struct op_layout { double imbalance; const struct op_plan *laid_by; uint32_t groups; bool turned; double crowding; };
static const struct op_layout lying_alone = { 1, NULL, 0, false, 0 };

static const struct op_layout *result_layout_of(const struct tensor *t, const struct op_layout *places)
{
    return t->producer_op == NO_ID ? &lying_alone : &places[t->producer_op];
}

/* True if both tensors surely lie on the same tiles: they have one shape, and equal plans laid them out. */
static bool lie_alike(const struct tensor *a, const struct op_layout *at, const struct tensor *b, const struct op_layout *bt)
{
    return RESULTS_LIE_ALIKE && at->laid_by && bt->laid_by && tensor_is_same_shape(a, b)
        && (at->laid_by == bt->laid_by || memcmp(at->laid_by, bt->laid_by, sizeof *at->laid_by) == 0);
}

/* The layout of an element-wise operation is that of its most even operand (poputil, createOutputForElementWiseOp). A gradient is moved to the
 * layout of the tensor that the forward pass kept. */
static struct operands operands_of(const struct graph *g, const struct op *op, const struct op_layout *places, const struct op_layout **taken)
{
    uint64_t n = tensor_elements(&g->tensors[op->kind == OP_CROSS_ENTROPY ? op->inputs[0] : op->outputs[0]]);
    const struct tensor *first = NULL;
    const struct op_layout *first_at = NULL;
    bool several = false, alike = true, to_kept = op->pass == PASS_BACKWARD_DATA && op->forward_op != NO_ID;
    *taken = &lying_alone;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const struct tensor *t = &g->tensors[op->inputs[k]];
        if (tensor_elements(t) < n)
            continue;
        const struct op_layout *at = result_layout_of(t, places);
        if (!first) {
            first = t;
            *taken = first_at = at;
            continue;
        }
        several = true;
        alike = alike && (t == first || lie_alike(first, first_at, t, at));     /* a tensor has the same layout as itself, even if that is unknown */
        *taken = to_kept || at->imbalance < (*taken)->imbalance ? at : *taken;
    }
    return (struct operands){ (*taken)->imbalance, several && alike, (*taken)->groups, (*taken)->turned, (*taken)->crowding };
}

/* An axis of n elements lies on the tiles in equal parts, and each `period` of its elements is cut into `slices` equal slices. Returns the
 * elements of one slice on its fullest tile over an even share. */
static double crowding_along(uint64_t n, uint64_t parts, uint64_t period, uint64_t slices)
{
    uint64_t on_tile = ceil_div(n, max_u64(1, parts)), slice = period / slices;
    uint64_t held = on_tile >= period ? ceil_div(on_tile, period) * slice : min_u64(on_tile, slice);
    return fmax(1, (double)(held * slices) / (double)on_tile);
}

/* A slice of a product's result is a view (PopART willow/src/popx/op/slicex.cpp, SliceInplaceOpx) and lies on the tiles that made its rows or columns. */
static double crowding_of_slices(const struct graph *g, const struct op *op, const struct op_layout *of)
{
    const struct tensor *t = &g->tensors[op->inputs[0]];
    if (!of->laid_by || op->pass != PASS_FORWARD)
        return of->crowding;
    uint32_t axis = op->at->axis, last = (uint32_t)t->n_dims - 1;
    const struct conv_split *s = &of->laid_by->split;
    bool columns = axis == last, in_field = columns == (of->laid_by->turned != 0);
    uint64_t width = t->dims[last], rows = tensor_elements(t) / width, period = columns ? width : 1;
    for (uint32_t d = axis; d < last; d++)
        period *= t->dims[d];
    uint64_t n = columns ? width : rows, steps = in_field ? 1 : max_u32(1, s->serial_out);      /* each step has rows or columns of its own, on all tiles */
    if (steps >= op->at->pieces)
        return fmax(1, of->crowding);
    return fmax(1, of->crowding) * crowding_along(n / steps, in_field ? s->field * s->batch : s->out_chans, max_u64(1, period / steps), op->at->pieces / steps);
}

static struct operands layout_found(const struct graph *g, const struct op *op, const struct op_layout *places, bool even_slices, const struct op_layout **taken)
{
    struct operands found = op_operands(op, operands_of(g, op, places, taken));
    if (op_takes_apart(op))
        found.crowding = even_slices ? 1 : crowding_of_slices(g, op, *taken);
    return found;
}

/* Element-wise results lie where the operand lies, and results of products where they were computed. All other layouts are unknown. */
static const struct op_plan *results_laid_by(const struct op *op, const struct op_plan *p, const struct op_layout *taken)
{
    enum part part = op_part(op);
    if (part == PART_CONV || part == PART_MATMUL)
        return p;
    return op_is_elementwise(op) ? taken->laid_by : NULL;
}

/* Code is numbered from 0, in the order in which it is first needed. */
static uint32_t code_of(struct compiler *c, const struct op *op, const struct op_plan *p)
{
    const uint64_t what[] = { op->kind, op->pass, ((uint64_t)p->code.supersteps << 32) + p->code.pieces, op_plan_cycles(p), p->mac };
    return hash_table_first(&c->codes, what, sizeof what, (uint32_t)c->codes.n, c->arena);
}

/* A plan of vector work does not depend on the memory for temporaries, unless it is a lookup. A plan made for other memory is therefore reused if
 * its operands are laid out alike. */
static const struct op_plan *plan_with_other_memory(const struct compiler *c, uint32_t op_id, struct operands at, const struct op_plan_options *opt)
{
    const struct op *op = &c->graph->ops[op_id];
    static const bool heeds_memory[N_PARTS] = { [PART_MATMUL] = true, [PART_CONV] = true, [PART_LSTM] = true, [PART_EMBEDDING] = true };
    for (size_t i = 0; i < c->n_variants && !heeds_memory[op_part(op)]; i++) {
        const struct op_plan *p = c->variants[i]->op_plans[op_id];
        struct op_plan_options other = c->variants[i]->options;
        other.available_memory = opt->available_memory;
        if (same_options(&other, opt) && p->imbalance == at.imbalance && p->together == at.together && p->groups == at.groups && p->turned == at.turned && p->crowding == at.crowding)
            return p;
    }
    return NULL;
}

static const struct op_plan *plan_op(struct compiler *c, uint32_t op_id, struct operands at, const struct op_plan_options *opt)
{
    const struct op_plan *known = plan_with_other_memory(c, op_id, at, opt);
    if (known)
        return known;
    struct op_plan *p = ARENA_NEW(c->arena, struct op_plan);
    op_plan_build(p, c->graph, op_id, at, c->chip, opt, c->cache);
    p->code_id = code_of(c, &c->graph->ops[op_id], p);
    return p;
}

static bool same_operands(const struct operands *a, const struct operands *b)
{
    return a->imbalance == b->imbalance && a->together == b->together && a->groups == b->groups && a->turned == b->turned && a->crowding == b->crowding;
}

/* Equal operations share a plan if their operands are laid out alike. */
static void plan_ops(const struct op_plan **out, struct compiler *c, const struct op_plan_options *opt)
{
    const struct graph *g = c->graph;
    struct arena scratch = {0};
    struct op_plan_options all = *opt;
    all.splits_of = c->splits_of;
    struct op_layout *places = ARENA_ROOM(&scratch, struct op_layout, g->n_ops);
    struct operands *found = ARENA_ROOM(&scratch, struct operands, g->n_ops);       /* by operation: how its operands are laid out */
    uint32_t *next = ARENA_ARRAY(&scratch, uint32_t, g->n_ops);             /* the next equal operation with a plan of its own; 0 if none yet */
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        uint64_t known = c->cache->misses;
        uint32_t like = c->alike ? c->alike[i] : i;
        const struct op_layout *taken = &lying_alone;
        found[i] = layout_found(g, op, places, all.even_slices, &taken);
        while (!same_operands(&found[like], &found[i])) {
            if (!next[like])
                next[like] = i;
            like = next[like];
        }
        out[i] = like == i ? plan_op(c, i, found[i], &all) : out[like];
        places[i] = (struct op_layout){ out[i]->imbalance, results_laid_by(op, out[i], taken), out[i]->groups, out[i]->turned, op_keeps_layout(op) ? out[i]->crowding : 0 };
        if (c->cache->misses != known)
            watch_report(c->watch, "planning operations", i + 1, g->n_ops);
    }
    arena_free(&scratch);
}

const struct tensor_room *tensor_rooms(const struct graph *g, const struct op_plan *const *op_plans, struct arena *a)
{
    struct tensor_room *rooms = ARENA_ROOM(a, struct tensor_room, g->n_tensors);
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = &g->tensors[i];
        uint64_t bytes = tensor_bytes(t);
        rooms[i] = (struct tensor_room){ bytes, (uint64_t)((double)bytes * (t->producer_op == NO_ID ? 1 : op_plans[t->producer_op]->imbalance)) };
    }
    return rooms;
}

MEMO_INPUT(compiled_input, uint64_t n_tiles; double available_memory; uint32_t partials, inference, log_softmax, plain_products, even_slices, operations_by_value;);

static const void *make_compiled(void *world, const void *input, struct err *err)
{
    const struct compiled_input *q = input;
    struct compiler *c = world;
    struct compiled *out = ARENA_NEW(c->arena, struct compiled);
    (void)err;
    out->options = (struct op_plan_options){
        .partials = (enum partials_type)q->partials, .available_memory = q->available_memory, .inference = q->inference,
        .log_softmax = q->log_softmax, .plain_products = q->plain_products, .even_slices = q->even_slices, .operations_by_value = q->operations_by_value, .n_tiles = q->n_tiles,
    };
    out->op_plans = ARENA_ARRAY(c->arena, const struct op_plan *, c->graph->n_ops);
    plan_ops(out->op_plans, c, &out->options);
    compile_layers(out, c);
    out->tensors = tensor_rooms(c->graph, out->op_plans, c->arena);
    ARENA_APPEND(c->arena, c->variants, c->n_variants, c->cap_variants, out);
    return out;
}

const struct compiled *compile_graph(struct compiler *c, const struct op_plan_options *opt)
{
    const struct compiled_input q = { opt->n_tiles, opt->available_memory, opt->partials, opt->inference, opt->log_softmax, opt->plain_products, opt->even_slices, opt->operations_by_value };
    return memo_get(&compiler_of_operations(c)->memo, make_compiled, &q, sizeof q, NULL).at;
}

/* ---- sums over layers of one IPU, remembered ------------------------------------------------------------------- */

static bool in_ranges(uint32_t layer, const struct layer_range *ranges, size_t n, const struct compiled **compiled)
{
    for (size_t i = 0; i < n; i++) {
        if (layer >= ranges[i].first && layer < ranges[i].first + ranges[i].n) {
            *compiled = ranges[i].compiled.at;
            return true;
        }
    }
    return false;
}

MEMO_INPUT(program_input, struct owned ranges; uint64_t n_ranges; uint32_t sharing, image_code;);

static const void *sum_program(void *world, const void *input, struct err *err)
{
    const struct program_input *q = input;
    struct compiler *c = world;
    const struct graph *g = c->graph;
    struct arena scratch = {0};
    struct tile_program program;
    (void)err;
    program_start(&program, g, c->codes.n, (struct code_options){ (enum code_sharing)q->sharing, q->image_code }, &scratch);
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct compiled *compiled;
        if (in_ranges(g->ops[i].layer_id, q->ranges.at, q->n_ranges, &compiled))
            program_add_op(&program, &g->ops[i], compiled->op_plans[i]);
    }
    struct program_bytes *out = ARENA_NEW(c->arena, struct program_bytes);
    *out = program_sum(&program);
    arena_free(&scratch);
    return out;
}

struct program_bytes compile_program(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges, struct code_options options)
{
    struct memo *m = &compiler_of_operations(c)->memo;
    const struct program_input q = { memo_own(m, ranges, n_ranges * sizeof *ranges), n_ranges, options.sharing, options.image_code };
    return *(const struct program_bytes *)memo_get(m, sum_program, &q, sizeof q, NULL).at;
}

MEMO_INPUT(vector_work_input, uint64_t n_elements, n_tiles; double moment_bytes; uint32_t work, type;);

static const void *make_vector_work(void *world, const void *input, struct err *err)
{
    const struct vector_work_input *q = input;
    struct compiler *c = world;
    const struct op_plan_options opt = { .n_tiles = q->n_tiles };
    struct op_plan *out = ARENA_NEW(c->arena, struct op_plan);
    (void)err;
    vector_work_plan(out, (enum vector_work)q->work, q->n_elements, (enum data_type)q->type, q->moment_bytes, c->chip, &opt);
    return out;
}

const struct op_plan *compile_vector_work(struct compiler *c, enum vector_work work, uint64_t n_elements, enum data_type type, double moment_bytes,
                                          const struct op_plan_options *opt)
{
    const struct vector_work_input q = { n_elements, opt->n_tiles, moment_bytes, work, type };
    return memo_get(&compiler_of_operations(c)->memo, make_vector_work, &q, sizeof q, NULL).at;
}

MEMO_INPUT(weight_work_input, struct owned ranges; uint64_t n_ranges; uint32_t work, part;);

/* Every weight tensor has compute sets of its own. */
static const void *sum_weight_work(void *world, const void *input, struct err *err)
{
    const struct weight_work_input *q = input;
    struct compiler *c = world;
    const struct graph *g = c->graph;
    struct cycles *out = ARENA_NEW(c->arena, struct cycles);
    (void)err;
    for (uint32_t i = 0; i < c->n_weights; i++) {
        const struct tensor *t = &g->tensors[c->weights[i]];
        const struct compiled *compiled;
        if (!in_ranges(t->layer_id, q->ranges.at, q->n_ranges, &compiled))
            continue;
        cycles_add_plan(out, compile_vector_work(c, (enum vector_work)q->work, tensor_elements(t), t->type, 0, &compiled->options), (enum part)q->part, 1);
    }
    return out;
}

struct cycles compile_weight_work(struct compiler *c, const struct layer_range *ranges, uint32_t n_ranges, enum vector_work work,
                                  enum part part)
{
    const struct weight_work_input q = { memo_own(&c->memo, ranges, n_ranges * sizeof *ranges), n_ranges, work, part };
    return *(const struct cycles *)memo_get(&c->memo, sum_weight_work, &q, sizeof q, NULL).at;
}

/* Everything that a plan may read of an operation and its tensors, in words without padding, so that equal forms give equal plans. Equal
 * attributes are the same object. forward: for a backward pass, the first operation that equals its forward operation; else NO_ID. of_input: for a
 * result, the index of the forward input whose gradient it is. Each tensor is followed by its dimensions. */
struct tensor_form { uint8_t type, role, is_made, n_dims; uint32_t of_input; };
struct op_form { uint64_t attributes; uint32_t kind, pass, forward, n_inputs; };
struct longest_form { struct op_form op; struct { struct tensor_form form; uint64_t dims[MAX_DIMS]; } tensors[MAX_OP_INPUTS + MAX_OP_OUTPUTS]; };
enum { MOST_FORM_WORDS = sizeof(struct longest_form) / sizeof(uint64_t) };

/* The index of the differentiated input, the last one if a tensor is read twice; NO_ID if there is none. */
static uint32_t differentiated_input(const struct graph *g, const struct op *op, const struct tensor *result)
{
    const struct op *forward = op_forward(g, op);
    uint32_t k = forward->n_inputs;
    while (k-- > 0 && forward->inputs[k] != result->of_tensor) {}
    return k;
}

static uint64_t *add_tensor_form(uint64_t *out, const struct tensor *t, uint32_t of_input)
{
    const struct tensor_form form = { (uint8_t)t->type, (uint8_t)t->role, t->producer_op != NO_ID, (uint8_t)t->n_dims, of_input };
    _Static_assert(sizeof form == sizeof *out, "a word");
    memcpy(out++, &form, sizeof form);
    for (uint32_t i = 0; i < t->n_dims; i++)
        *out++ = t->dims[i];
    return out;
}

/* Returns the number of bytes written. */
static size_t op_form(uint64_t out[MOST_FORM_WORDS], const struct graph *g, const struct op *op, const uint32_t *alike)
{
    const struct op_form form = { (uintptr_t)op->at, op->kind, op->pass, op->forward_op == NO_ID ? NO_ID : alike[op->forward_op], op->n_inputs };
    uint64_t *end = mempcpy(out, &form, sizeof form);
    for (uint32_t k = 0; k < op->n_inputs; k++)
        end = add_tensor_form(end, &g->tensors[op->inputs[k]], NO_ID);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const struct tensor *result = &g->tensors[op->outputs[k]];
        end = add_tensor_form(end, result, differentiated_input(g, op, result));
    }
    return (size_t)((char *)end - (char *)out);
}

const uint32_t *compile_equal_ops(const struct graph *g, struct arena *a)
{
    struct arena scratch = {0};
    struct hash_table forms = {0};
    uint32_t *alike = ARENA_ARRAY(a, uint32_t, g->n_ops);
    uint64_t form[MOST_FORM_WORDS];
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        assert(op->n_inputs <= MAX_OP_INPUTS && op->n_outputs <= MAX_OP_OUTPUTS && (op->forward_op == NO_ID || op->forward_op < i));
        size_t n_bytes = op_form(form, g, op, alike);
        alike[i] = hash_table_first(&forms, form, n_bytes, i, &scratch);
    }
    arena_free(&scratch);
    return alike;
}

static const void *run_collective(void *world, const void *input, struct err *err)
{
    const struct collective_question *q = input;
    struct compiler *c = world;
    struct arena scratch = {0};
    struct collective_cost cost;
    struct collective_request req = {
        .kind = (enum collective_kind)q->kind, .method = (enum collective_method)q->method, .bytes = q->bytes, .port_bytes = q->port_bytes, .unfolded = q->unfolded, .full_routes = q->full_routes,
        .n_in_use = (uint32_t)q->n_in_use, .pattern = q->ranks, .n_ranks = q->ranks.n_ranks, .n_groups = q->ranks.n_ipus * q->ranks.n_starts,
        .cache = &c->collective_cache,
    };
    bool good = collective_run(&cost, c->topology, &req, &scratch, err);
    arena_free(&scratch);
    return good ? memcpy(ARENA_NEW(c->arena, struct collective_cost), &cost, sizeof cost) : NULL;
}

bool compile_collective(struct collective_cost *out, struct compiler *c, const struct collective_question *q, struct err *err)
{
    const struct collective_cost *cost = memo_get(&c->memo, run_collective, q, sizeof *q, err).at;
    if (cost)
        *out = *cost;
    return cost;
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

MEMO_INPUT(flows_input, struct owned flows; uint64_t n; uint32_t n_replicas, width;);

static const void *run_flows(void *world, const void *input, struct err *err)
{
    const struct flows_input *q = input;
    const struct compiler *c = world;
    const struct flow *flows = q->flows.at;
    size_t n = q->n * q->n_replicas;
    struct arena scratch = {0};
    struct flow *all = ARENA_ARRAY(&scratch, struct flow, n);
    struct link_loads loads = link_loads_new(&scratch);
    struct flows_cost *out = ARENA_NEW(c->arena, struct flows_cost);
    for (size_t i = 0; i < n; i++) {
        uint32_t offset = (uint32_t)(i / q->n) * q->width;
        const struct flow *f = &flows[i % q->n];
        all[i] = (struct flow){ f->from + offset, f->to + offset, f->bytes };
    }
    bool good = topology_flows(&out->time_s, c->topology, all, n, &loads, &scratch, err);
    for (uint32_t i = 0; good && i < loads.n; i++) {
        double *busiest = &out->busiest_bytes[topology_link(c->topology, loads.items[i].link).kind];
        *busiest = fmax(*busiest, loads.items[i].bytes);
    }
    arena_free(&scratch);
    return good ? out : NULL;
}

bool compile_flows(struct flows_cost *out, struct compiler *c, const struct flow *flows, size_t n, uint32_t n_replicas, uint32_t width,
                   struct err *err)
{
    const struct flows_input q = { memo_own(&c->memo, flows, n * sizeof *flows), n, n_replicas, width };
    const struct flows_cost *cost = memo_get(&c->memo, run_flows, &q, sizeof q, err).at;
    if (cost)
        *out = *cost;
    return cost;
}
