/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_plan.c - which planner makes the plan of an operation, and the cache of plans made before.
 *
 * Plans are found by the shape of the convolution (matmuls are one) and by a digest of the chip's rates and the
 * options. The digest has 64 bits: two chips or option sets with the same digest are not told apart (chance 2^-64 a
 * pair). The memory for temporaries is not in the key: a plan holds for every bound from what it takes itself up to
 * the least that was left out for its memory.
 */
#include "system-model/compiler/compiler_internal.h"
#include "system-model/graph/graph.h"

const char *const vertex_kind_names[N_VERTEX_KINDS] = {
    [VERTEX_NONE] = "vector", [VERTEX_AMP_1X1] = "amp-1x1", [VERTEX_AMP_NX1] = "amp-nx1", [VERTEX_SLIC] = "slic",
    [VERTEX_HMAC] = "hmac", [VERTEX_OUTER_PRODUCT] = "outer-product",
};

/* ---- the cache ------------------------------------------------------------------------------------------------- */

/* splits_of is the digest of the chip whose splits are priced; 0 if splits are searched. */
struct plan_key { struct conv_shape shape; uint64_t digest, splits_of, fully_connected; };
_Static_assert(offsetof(struct conv_shape, rearrange_out) + sizeof(uint32_t) == sizeof(struct conv_shape), "a shape ends without padding");
_Static_assert(sizeof(struct plan_key) == sizeof(struct conv_shape) + 3 * sizeof(uint64_t), "so does a key");

/* One answer to a key, for a range of bounds on the memory. */
struct known_plan {
    struct bounds within;               /* bounds on the chip that the splits are for */
    struct op_plan *plans;              /* one for each pass of a fully connected layer, else one */
    const struct plan_choice *choice;   /* NULL if the splits are another chip's */
    struct known_plan *next;
};

/* Everything of the chip and the options that a plan may depend on, apart from the memory for temporaries. Training
 * or inference decides which planner is asked for a product, and is in the key by that; an evaluation then shares the
 * plans of the training's forward pass. */
static uint64_t chip_digest(const struct chip *c, const struct op_plan_options *o)
{
    const uint64_t words[] = {
        c->n_tiles, c->n_workers, chip_turn_cycles(c), c->tile_memory_bytes, c->interleaved_bytes, c->load_bytes_per_cycle,
        c->mac_fp16_fp16_per_cycle, c->mac_fp16_fp32_per_cycle, c->mac_fp32_per_cycle, c->mac_fp8_per_cycle, c->vector_bytes_per_cycle,
        c->weight_load_bytes_per_cycle,
        c->conv_units_fp16_fp16, c->conv_units_fp16_fp32, c->conv_units_fp32, c->exchange_bytes_per_cycle,
        c->tiles_per_exchange_bus, (uint64_t)c->planner_copies, (uint64_t)c->planner_input, superstep_cycles(c), c->exchange_transit_cycles,
        o->n_tiles, (uint64_t)o->partials,
    };
    const double rates[] = { chip_exchange_bytes_per_cycle(c), c->amp_efficiency };
    return hash_bytes(rates, sizeof rates, hash_bytes(words, sizeof words, 0));
}

void plan_cache_free(struct plan_cache *c)
{
    arena_free(&c->arena);
    *c = (struct plan_cache){ 0 };
}

static struct layer_shape layer_shape_of(const struct conv_shape *s)
{
    return (struct layer_shape){ s->groups, s->field_h, (uint32_t)s->in_chans, s->out_chans, (enum data_type)s->type };
}

static void search_plan(struct known_plan *out, const struct plan_key *key, const struct chip *chip, const struct op_plan_options *opt, struct arena *a)
{
    struct layer_shape layer = layer_shape_of(&key->shape);
    struct plan_choice *choice = ARENA_NEW(a, struct plan_choice);
    if (key->fully_connected) {
        conv_plan_fully_connected(out->plans, choice, &layer, chip, opt);
    } else {
        conv_plan_search(&out->plans[0], &choice->of_pass[0], &key->shape, chip, opt);
        choice->within = choice->of_pass[0].within;
    }
    out->within = choice->within;
    out->choice = choice;
}

static bool plan_as(struct known_plan *out, const struct plan_key *key, const struct plan_choice *choice, const struct chip *chip,
                    const struct op_plan_options *opt)
{
    struct layer_shape layer = layer_shape_of(&key->shape);
    out->within = choice->within;
    return key->fully_connected ? conv_plan_fully_connected_as(out->plans, choice, &layer, chip, opt)
                                : conv_plan_as(&out->plans[0], &choice->of_pass[0], &key->shape, chip, opt);
}

static const struct known_plan *cached(const struct plan_key *key, const struct chip *chip, const struct op_plan_options *opt, struct plan_cache *c);

/* If the splits are another chip's, the choice made there is looked up first. A chip that cannot use it searches
 * again. */
static struct known_plan *plan_anew(const struct plan_key *key, uint64_t bound_bytes, const struct chip *chip, const struct op_plan_options *opt,
                                    struct plan_cache *c)
{
    struct known_plan *out = ARENA_NEW(&c->arena, struct known_plan);
    out->plans = ARENA_ARRAY(&c->arena, struct op_plan, key->fully_connected ? N_OP_PASSES : 1);
    if (key->splits_of) {
        struct plan_key there = *key;
        there.digest = key->splits_of;
        there.splits_of = 0;
        if (plan_as(out, key, cached(&there, opt->splits_of, opt, c)->choice, chip, opt))
            return out;
    }
    search_plan(out, key, chip, opt, &c->arena);
    if (key->splits_of)
        out->within = (struct bounds){ bound_bytes, bound_bytes };
    return out;
}

static const struct known_plan *cached(const struct plan_key *key, const struct chip *chip, const struct op_plan_options *opt, struct plan_cache *c)
{
    uint64_t bound_bytes = conv_bound_bytes(key->splits_of ? opt->splits_of : chip, opt);
    struct known_plan **list = hash_table_find(&c->plans, key, sizeof *key);
    for (const struct known_plan *p = list ? *list : NULL; p; p = p->next)
        if (p->within.least_bytes <= bound_bytes && bound_bytes <= p->within.most_bytes) {
            c->hits++;
            return p;
        }
    struct known_plan *p = plan_anew(key, bound_bytes, chip, opt, c);
    c->misses++;
    list = list ? list : hash_table_add(&c->plans, key, sizeof *key, sizeof *list, &c->arena);
    p->next = *list;
    return *list = p;
}

static struct plan_key plan_key_of(const struct conv_shape *s, bool fully_connected, const struct chip *chip, const struct op_plan_options *opt)
{
    return (struct plan_key){ *s, chip_digest(chip, opt), opt->splits_of ? chip_digest(opt->splits_of, opt) : 0, fully_connected };
}

void cached_conv_plan(struct op_plan *out, const struct conv_shape *s, const struct chip *chip,
                      const struct op_plan_options *opt, struct plan_cache *cache)
{
    struct plan_key key = plan_key_of(s, false, chip, opt);
    *out = cached(&key, chip, opt, cache)->plans[0];
}

static void cached_fully_connected(struct op_plan *out, const struct matmul_shape *m, enum data_type type,
                                   enum op_pass pass, const struct chip *chip, const struct op_plan_options *opt,
                                   struct plan_cache *cache)
{
    struct conv_shape s = matmul_conv_shape((uint32_t)m->groups, (uint32_t)m->rows, (uint32_t)m->inner, (uint32_t)m->columns,
                                            type, PASS_FORWARD);
    struct plan_key key = plan_key_of(&s, true, chip, opt);
    *out = cached(&key, chip, opt, cache)->plans[pass];
}

uint64_t chip_mac_per_cycle(const struct chip *c, enum data_type type, enum partials_type partials)
{
    if (type == TYPE_FP32)
        return c->mac_fp32_per_cycle;
    if (type == TYPE_FP8)
        return c->mac_fp8_per_cycle;
    return partials == PARTIALS_FP16 ? c->mac_fp16_fp16_per_cycle : c->mac_fp16_fp32_per_cycle;
}

bool chip_multiplies(const struct chip *c, enum data_type type, const char *where, struct err *err)
{
    if (type != TYPE_FP8 || c->mac_fp8_per_cycle > 0)
        return true;
    return fail(err, "%s: fp8, but %s multiplies no 8-bit floats (mac_fp8_per_cycle is 0 on its sheet); want fp16, or a chip that does, "
                "such as c600", where, c->name);
}

/* ---- from the graph -------------------------------------------------------------------------------------------- */

/* Padding in front along one axis, 0 down and 1 across. The pad of a kernel of one element does not count. */
static uint32_t zeros_before(const struct op_attributes *at, uint32_t axis, uint32_t kernel)
{
    return (kernel > 1 ? at->pad : 0) + at->zeros[axis];
}

/* The result of a transposed convolution is the input of the convolution that it reverses. */
static struct conv_params conv_params(const struct graph *g, const struct op *op)
{
    const struct op *f = op_forward(g, op);
    bool turned = f->kind == OP_CONV_TRANSPOSE;
    const struct tensor *w = &g->tensors[f->inputs[1]];
    const struct tensor *x = &g->tensors[turned ? f->outputs[0] : f->inputs[0]];
    const struct tensor *y = &g->tensors[turned ? f->inputs[0] : f->outputs[0]];
    uint32_t groups = f->at->groups ? f->at->groups : 1, kernel_h = (uint32_t)w->dims[0], kernel_w = (uint32_t)w->dims[1];
    return (struct conv_params){
        .groups = groups, .batch = (uint32_t)x->dims[0], .in_h = (uint32_t)x->dims[1], .in_w = (uint32_t)x->dims[2],
        .out_h = (uint32_t)y->dims[1], .out_w = (uint32_t)y->dims[2], .kernel_h = kernel_h, .kernel_w = kernel_w,
        .in_chans = (uint32_t)w->dims[2], .out_chans = (uint32_t)(w->dims[3] / groups), .stride = f->at->stride ? f->at->stride : 1,
        .type = x->type, .stride_w = f->at->stride_w, .pad_h = zeros_before(f->at, 0, kernel_h), .pad_w = zeros_before(f->at, 1, kernel_w),
        .dilation = f->at->dilation,
    };
}

/* The user's serialisation: n matmuls one after the other, each over a part of the columns. */
static void repeat_plan(struct op_plan *p, uint64_t n)
{
    p->compute_cycles *= n;
    p->exchange_cycles *= n;
    p->sync_cycles *= n;
    p->rearrange_cycles *= n;
    p->exchanged_bytes *= n;
    p->n_supersteps *= (uint32_t)n;
    p->mac *= n;
    p->padded_mac *= n;
}

static struct conv_shape matmul_pass_shape(const struct matmul_shape *m, enum data_type type, enum op_pass pass)
{
    uint32_t g = (uint32_t)m->groups, rows = (uint32_t)m->rows, inner = (uint32_t)m->inner;
    uint32_t columns = (uint32_t)m->columns;
    if (pass == PASS_BACKWARD_DATA)
        return matmul_conv_shape(g, rows, columns, inner, type, PASS_BACKWARD_DATA);
    if (pass == PASS_BACKWARD_WEIGHT)
        return matmul_conv_shape(g, inner, rows, columns, type, PASS_BACKWARD_WEIGHT);
    return matmul_conv_shape(g, rows, inner, columns, type, PASS_FORWARD);
}

/* True if an operation made the tensor and determined its layout; inputs and weights are laid out for their readers.
 * */
static uint32_t is_made(const struct graph *g, uint32_t tensor_id)
{
    return g->tensors[tensor_id].producer_op != NO_ID;
}

static void plan_matmul(struct op_plan *out, const struct graph *g, const struct op *op, const struct chip *chip,
                        const struct op_plan_options *opt, struct plan_cache *cache)
{
    const struct op *f = op_forward(g, op);
    struct matmul_shape m = op_matmul_shape(g, op);
    uint64_t steps = max_u64(1, f->at->serial_steps), mac = op_mac(g, op);
    enum data_type type = g->tensors[f->inputs[0]].type;
    m.columns = ceil_div(m.columns, steps);
    if (g->tensors[f->inputs[1]].role == ROLE_WEIGHT && !opt->inference) {
        cached_fully_connected(out, &m, type, op->pass, chip, opt, cache);
    } else {
        struct conv_shape s = matmul_pass_shape(&m, type, op->pass);
        s.in_elsewhere = is_made(g, f->inputs[0]);
        s.weights_elsewhere = is_made(g, f->inputs[1]);
        cached_conv_plan(out, &s, chip, opt, cache);
    }
    repeat_plan(out, steps);
    out->mac = mac;
}

static enum op_pass turned_pass(enum op_pass pass)
{
    return pass == PASS_FORWARD ? PASS_BACKWARD_DATA : pass == PASS_BACKWARD_DATA ? PASS_FORWARD : pass;
}

void op_plan_build(struct op_plan *out, const struct graph *g, uint32_t op_id, struct operands at, const struct chip *chip,
                   const struct op_plan_options *opt, struct plan_cache *cache)
{
    const struct op *op = &g->ops[op_id];
    if (op->kind == OP_MATMUL) {
        plan_matmul(out, g, op, chip, opt, cache);
    } else if (op->kind == OP_CONV || op->kind == OP_CONV_TRANSPOSE) {
        struct conv_params p = conv_params(g, op);
        enum op_pass pass = op->kind == OP_CONV ? op->pass : turned_pass(op->pass);
        struct conv_shape s = conv_shape_of_pass(&p, pass);
        s.in_elsewhere = op->pass != PASS_FORWARD || is_made(g, op->inputs[0]);   /* gradients always were */
        cached_conv_plan(out, &s, chip, opt, cache);
    } else {
        vector_op_plan(out, g, op, op_keeps_layout(op) ? at : even_operands, chip, opt, cache);
    }
}
