/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slice_cuts.c - where a model can be cut over IPUs that compute its parts side by side (tensor parallelism).
 *
 * A product of an activation that all IPUs have whole may begin a region: its weights are cut by columns, and so are its results. What follows works
 * on its part, until a product along the dimension that is cut: its weights are cut by rows, and its results are addends, which are summed over the
 * IPUs (Shoeybi et al. 2019, arXiv 1909.08053; graphcore/examples 3cc8f81 nlp/gpt_j/popxl/modelling). Tables of lookups are cut by rows: an
 * IPU looks up what it has. A loss or a softmax over the dimension that is cut needs the largest and the sum of all IPUs.
 *
 * Every product is taken to begin a region first. Where an operation needs all of an operand that is cut, the region is given up and its products stay
 * whole, and the search begins anew; so heads, feed-forward and vocabulary are found without being named. In inference, heads of the model
 * gather such an operand instead.
 *
 * A second axis of IPUs cuts the program of the first: its regions begin where those of the first end, with tables by columns and products whose columns
 * are whole, so that it cuts the results of layers, and a norm of their rows exchanges its sums (graphcore/examples 3cc8f81
 * nlp/gpt3_175B/popxl/modelling, the classes with TP2D).
 */
#include "system-model/graph/slice.h"

uint32_t cuts_region(const struct cuts *c, uint32_t region)
{
    while (c->regions[region].root != region)
        region = c->regions[region].root;
    return region;
}

uint32_t cuts_parts(const struct cuts *c, uint32_t region)
{
    return c->regions[cuts_region(c, region)].attends ? c->axis.attention_ipus : c->axis.n_ipus;
}

uint64_t cuts_local(const struct cuts *c, uint32_t region, uint64_t size)
{
    uint64_t n = c->regions[cuts_region(c, region)].n_units;
    return size / n * ceil_div(n, cuts_parts(c, region));
}

static uint64_t largest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- regions ------------------------------------------------------------------------------------------- */

static uint32_t new_region(struct cuts *c, uint64_t n_units)
{
    struct region r = { c->n_regions, n_units, false, false };
    ARENA_APPEND(c->a, c->regions, c->n_regions, c->cap_regions, r);
    return c->n_regions - 1;
}

static void unite(struct cuts *c, uint32_t a, uint32_t b)
{
    a = cuts_region(c, a);
    b = cuts_region(c, b);
    if (a == b)
        return;
    c->regions[a].n_units = largest_divisor(c->regions[a].n_units, c->regions[b].n_units);
    c->regions[a].attends |= c->regions[b].attends;
    c->regions[a].even |= c->regions[b].even;
    c->regions[b].root = a;
}

/* Lets the region have only as many units as also divide this size. */
static void add_size(struct cuts *c, uint32_t region, uint64_t size)
{
    struct region *r = &c->regions[cuts_region(c, region)];
    r->n_units = largest_divisor(r->n_units, size);
}

static void set_cut(struct cuts *c, uint32_t tensor, uint32_t dim, uint32_t pieces, uint32_t region)
{
    struct tensor_cut *t = &c->of[tensor];
    t->dim = dim + 1;
    t->pieces = pieces;
    t->region = region;
    add_size(c, region, c->g->tensors[tensor].dims[dim] / pieces);
}

static bool is_cut(const struct cuts *c, uint32_t tensor) { return c->of[tensor].dim > 0; }
static bool is_given(const struct tensor *t) { return t->role == ROLE_WEIGHT || t->role == ROLE_STATE || t->role == ROLE_INPUT; }

/* The weight that a tensor is, or is cast from; NO_ID if it is none. */
static uint32_t weight_behind(const struct cuts *c, uint32_t tensor)
{
    const struct tensor *t = &c->g->tensors[tensor];
    bool is_cast = t->producer_op != NO_ID && c->g->ops[t->producer_op].kind == OP_CAST;
    uint32_t id = is_cast ? c->g->ops[t->producer_op].inputs[0] : tensor;
    return c->g->tensors[id].role == ROLE_WEIGHT ? id : NO_ID;
}

static void count_readers(struct cuts *c)
{
    c->n_readers = ARENA_ARRAY(c->a, uint32_t, c->g->n_tensors);
    for (uint32_t i = 0; i < c->g->n_forward_ops; i++)
        for (uint32_t k = 0; k < c->g->ops[i].n_inputs; k++)
            c->n_readers[c->g->ops[i].inputs[k]]++;
}

/* True if every operation that reads the table looks up its rows, so that it may be cut. */
static bool is_only_looked_up(const struct cuts *c, uint32_t table)
{
    for (uint32_t i = 0; i < c->g->n_forward_ops; i++)
        for (uint32_t k = 0; k < c->g->ops[i].n_inputs; k++)
            if (c->g->ops[i].inputs[k] == table && (c->g->ops[i].kind != OP_GATHER || k > 0 || c->keeps_whole[i]))
                return false;
    return true;
}

/* The dimension of an operation's first input that becomes dimension `dim` of its result; NO_ID if none does. */
static uint32_t dim_before(const struct cuts *c, const struct op *op, uint32_t dim)
{
    const struct tensor *x = &c->g->tensors[op->inputs[0]];
    bool as_it_is = memcmp(op->at->view, x->dims, x->n_dims * sizeof *x->dims) == 0;
    if (op->kind == OP_CAST)
        return dim;
    if (op->kind == OP_TRANSPOSE)
        return as_it_is && op->at->merge < 2 ? op->at->order[dim] : NO_ID;
    for (uint32_t d = 0; d < x->n_dims && op->kind == OP_VIEW; d++)
        if (cuts_dim_in_view(x, d, op->at->view) == dim && x->dims[d] % c->g->tensors[op->outputs[0]].dims[dim] == 0)
            return d;
    return NO_ID;
}

/* An operand that is made of a weight alone is cut back to that weight: packed weights, for example, and biases of positions, which are looked up
   by head. */
static bool cut_back(struct cuts *c, uint32_t tensor, uint32_t dim, uint32_t pieces, uint32_t region)
{
    const struct tensor *t = &c->g->tensors[tensor];
    const struct op *op = t->producer_op == NO_ID ? NULL : &c->g->ops[t->producer_op];
    if (c->of[tensor].dim || c->n_readers[tensor] > 1)
        return false;
    if (!op) {
        if (t->role != ROLE_WEIGHT)
            return false;
    } else if (op->kind == OP_GATHER) {
        const struct tensor *table = &c->g->tensors[op->inputs[0]];
        if (dim != t->n_dims - 1 || table->n_dims != 2 || c->of[op->inputs[0]].dim || !is_only_looked_up(c, op->inputs[0]))
            return false;
        set_cut(c, op->inputs[0], 1, pieces, region);
    } else {
        uint32_t before = dim_before(c, op, dim);
        if (before == NO_ID || (op->kind != OP_CAST && pieces > 1) || !cut_back(c, op->inputs[0], before, pieces, region))
            return false;
    }
    set_cut(c, tensor, dim, pieces, region);
    return true;
}

/* Cuts an operand as others of the region are cut, if it is an input or made of a weight alone, and nothing reads it whole. An operand with a
   single element stays whole. */
static bool cut_operand(struct cuts *c, uint32_t tensor, uint32_t dim, uint32_t pieces, uint32_t region)
{
    const struct tensor *t = &c->g->tensors[tensor];
    struct tensor_cut *cut = &c->of[tensor];
    if (t->dims[dim] == 1)
        return !cut->dim;
    if (!cut->dim && is_given(t) && !cut->is_used_whole)
        set_cut(c, tensor, dim, pieces, region);
    else if (!cut->dim && !is_given(t))
        cut_back(c, tensor, dim, pieces, region);
    if (cut->dim != dim + 1 || cut->pieces != pieces)
        return false;
    unite(c, region, cut->region);
    return true;
}

/* ---- rules: each marks results and weights, and returns false where an operand must be whole -------------- */

typedef bool cut_rule(struct cuts *c, const struct op *op, uint32_t id);
static cut_rule *const rules[N_OP_KINDS];

/* The id of the first operand that is cut. */
static uint32_t cut_input(const struct cuts *c, const struct op *op)
{
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (is_cut(c, op->inputs[i]))
            return op->inputs[i];
    return NO_ID;
}

static bool elementwise(struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor_cut x = c->of[cut_input(c, op)];
    (void)id;
    if (c->g->tensors[op->outputs[0]].dims[x.dim - 1] != c->g->tensors[cut_input(c, op)].dims[x.dim - 1])
        return false;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (!cut_operand(c, op->inputs[i], x.dim - 1, x.pieces, x.region))
            return false;
    set_cut(c, op->outputs[0], x.dim - 1, x.pieces, x.region);
    return true;
}

static uint32_t last_dim_of(const struct cuts *c, uint32_t tensor) { return c->g->tensors[tensor].n_dims - 1; }

static uint64_t last_size(const struct cuts *c, uint32_t tensor) { return c->g->tensors[tensor].dims[last_dim_of(c, tensor)]; }

static bool bias(struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor_cut x = c->of[op->inputs[0]];
    (void)id;
    if (x.dim != last_dim_of(c, op->inputs[0]) + 1 || !cut_operand(c, op->inputs[1], 0, x.pieces, x.region))
        return false;
    set_cut(c, op->outputs[0], x.dim - 1, x.pieces, x.region);
    return true;
}

/* Cuts a softmax. If it runs along the cut dimension, the IPUs exchange the largest values and sums that each has found. */
static bool softmax(struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor_cut x = c->of[op->inputs[0]];
    (void)id;
    if (x.pieces > 1 && x.dim == last_dim_of(c, op->inputs[0]) + 1)
        return false;
    set_cut(c, op->outputs[0], x.dim - 1, x.pieces, x.region);
    return true;
}

static bool loss(struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor_cut x = c->of[op->inputs[0]];
    (void)id;
    return x.pieces == 1 && x.dim == last_dim_of(c, op->inputs[0]) + 1;
}

static bool begins_region(const struct cuts *c, const struct op *op, uint32_t id)
{
    if (op->kind != OP_MATMUL || c->keeps_whole[id] || weight_behind(c, op->inputs[1]) == NO_ID || is_cut(c, op->inputs[0]))
        return false;
    const struct tensor *w = &c->g->tensors[op->inputs[1]];
    return w->n_dims == 2 && !tensor_cut(w, op->at->transpose_b ? 0 : 1);
}

/* Cuts a norm of rows that are cut. The parts must be even, because padding would count in its sums. */
static bool row_norm(struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor_cut x = c->of[op->inputs[0]];
    (void)id;
    if (c->axis.axis == 0 || x.dim != last_dim_of(c, op->inputs[0]) + 1 || x.pieces > 1)
        return false;
    for (uint32_t i = 1; i < op->n_inputs; i++)
        if (!cut_operand(c, op->inputs[i], 0, 1, x.region))
            return false;
    c->regions[cuts_region(c, x.region)].even = true;
    set_cut(c, op->outputs[0], x.dim - 1, 1, x.region);
    return true;
}

static bool begin_product(struct cuts *c, const struct op *op, uint32_t id)
{
    uint32_t w = op->inputs[1], dim = op->at->transpose_b ? 0 : 1, y = op->outputs[0];
    uint32_t region = new_region(c, c->g->tensors[w].dims[dim]);
    (void)id;
    if (!cut_operand(c, w, dim, 1, region))
        return false;
    set_cut(c, y, last_dim_of(c, y), 1, region);
    return true;
}

/* Cuts a product. Cut groups, such as heads, stay cut; a product whose inner dimension is cut makes addends. */
static bool product(struct cuts *c, const struct op *op, uint32_t id)
{
    uint32_t a = op->inputs[0], b = op->inputs[1], inner = last_dim_of(c, a);
    const struct tensor_cut x = c->of[a];
    if (!x.dim)
        return is_cut(c, b) && begins_region(c, op, id) && begin_product(c, op, id);
    bool groups = x.dim - 1 < inner - 1 && c->g->tensors[b].n_dims == c->g->tensors[a].n_dims;
    if (groups && cut_operand(c, b, x.dim - 1, x.pieces, x.region)) {
        set_cut(c, op->outputs[0], x.dim - 1, x.pieces, x.region);
        c->regions[cuts_region(c, x.region)].attends = true;
        return true;
    }
    if (x.dim - 1 != inner || c->g->tensors[b].n_dims != 2 || !cut_operand(c, b, op->at->transpose_b ? 1 : 0, x.pieces, x.region))
        return false;
    c->sums[id] = true;
    return true;
}

uint32_t cuts_dim_in_view(const struct tensor *x, uint32_t dim, const uint64_t *view)
{
    uint64_t before = 1, seen = 1;
    uint32_t i = 0;
    for (uint32_t d = 0; d < dim; d++)
        before *= x->dims[d];
    while (i < MAX_VIEW_DIMS && view[i] && (seen < before || view[i] == 1))
        seen *= view[i++];
    return i < MAX_VIEW_DIMS && view[i] && seen == before ? i : NO_ID;
}

/* The dimension of the view that holds the cut dimension as its outermost factor, or the other way round; NO_ID if there is none. */
static uint32_t follow_view(struct cuts *c, uint32_t tensor, const uint64_t *view)
{
    const struct tensor_cut x = c->of[tensor];
    uint32_t i = x.pieces == 1 ? cuts_dim_in_view(&c->g->tensors[tensor], x.dim - 1, view) : NO_ID;
    if (i != NO_ID)
        add_size(c, x.region, view[i]);
    return i;
}

static bool transpose(struct cuts *c, const struct op *op, uint32_t id)
{
    uint32_t at = follow_view(c, op->inputs[0], op->at->view), n = 0, to = 0, y = op->outputs[0];
    (void)id;
    if (at == NO_ID)
        return false;
    while (n < MAX_VIEW_DIMS && op->at->view[n])
        n++;
    while (op->at->order[to] != at)
        to++;
    uint32_t first_merged = n - max_u32(1, op->at->merge);
    if (to > first_merged)
        return false;
    set_cut(c, y, to, 1, c->of[op->inputs[0]].region);
    return true;
}

/* The view may have joined the cut dimension with earlier ones, such as heads with samples: then each sample has a piece of its own. Or it may have
 * taken them apart. */
static bool view(struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor_cut x = c->of[op->inputs[0]];
    const uint64_t *view = op->at->view;
    uint64_t runs = x.pieces, before = 1;
    uint32_t i = 0;
    (void)id;
    for (uint32_t d = 0; d + 1 < x.dim; d++)
        runs *= c->g->tensors[op->inputs[0]].dims[d];
    while (i < MAX_VIEW_DIMS && view[i] && (view[i] == 1 || (before < runs && before * view[i] <= runs)))
        before *= view[i++];
    if (i == MAX_VIEW_DIMS || !view[i] || runs % before || view[i] % (runs / before))
        return false;
    set_cut(c, op->outputs[0], i, (uint32_t)(runs / before), x.region);
    return true;
}

/* Cuts rotary embeddings by whole heads, which lie side by side in the last dimension, or in a dimension of their own. */
static bool rotary(struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor_cut x = c->of[op->inputs[0]];
    (void)id;
    if (!x.dim || x.pieces > 1 || is_cut(c, op->inputs[1]) || is_cut(c, op->inputs[2]))
        return false;
    if (x.dim - 1 == last_dim_of(c, op->inputs[0]))
        add_size(c, x.region, op->at->groups);
    set_cut(c, op->outputs[0], x.dim - 1, 1, x.region);
    return x.dim - 1 == last_dim_of(c, op->inputs[0]) || x.dim < last_dim_of(c, op->inputs[0]);
}

/* A tensor that is about to be taken apart into equal pieces, such as queries, keys and values, is cut in each of them, and so are the weights that
 * made it. False if anything else reads it. */
static bool cut_in_pieces(struct cuts *c, uint32_t tensor, uint32_t pieces)
{
    struct tensor_cut *t = &c->of[tensor];
    uint32_t producer = c->g->tensors[tensor].producer_op;
    const struct op *op = producer == NO_ID ? NULL : &c->g->ops[producer];
    if (t->pieces == pieces)
        return true;
    bool keeps_rows = op && op->kind == OP_VIEW && last_size(c, op->inputs[0]) == last_size(c, tensor);
    if (c->n_readers[tensor] > 1 || (op && op->kind != OP_MATMUL && !keeps_rows && rules[op->kind] != bias && rules[op->kind] != elementwise))
        return false;
    t->pieces = pieces;
    add_size(c, t->region, c->g->tensors[tensor].dims[t->dim - 1] / pieces);
    bool good = !op || op->kind != OP_MATMUL || !is_cut(c, op->inputs[0]);
    for (uint32_t k = 0; op && k < op->n_inputs && good; k++)
        good = !is_cut(c, op->inputs[k]) || cut_in_pieces(c, op->inputs[k], pieces);
    return good;
}

static bool take_slice(struct cuts *c, const struct op *op, uint32_t id)
{
    struct tensor_cut x = c->of[op->inputs[0]];
    bool along = op->at->axis == x.dim - 1;
    (void)id;
    if (along && (!op->at->pieces || x.pieces > 1 || !cut_in_pieces(c, op->inputs[0], op->at->pieces)))
        return false;
    for (uint32_t i = 0; i < op->n_outputs; i++)
        set_cut(c, op->outputs[i], x.dim - 1, along ? 1 : x.pieces, x.region);
    return true;
}

static bool concat(struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor_cut x = c->of[cut_input(c, op)];
    (void)id;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (op->at->axis == x.dim - 1 || !cut_operand(c, op->inputs[i], x.dim - 1, x.pieces, x.region))
            return false;
    set_cut(c, op->outputs[0], x.dim - 1, x.pieces, x.region);
    return true;
}

/* If the columns of a table are cut, or those of each sample's table, the columns of the result are cut, too, such as the scores of all words when
 * one token's are picked. If the rows are cut, results are summed. */
static bool lookup(struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor_cut table = c->of[op->inputs[0]];
    uint32_t n_dims = c->g->tensors[op->inputs[0]].n_dims;
    if (!table.dim || table.pieces > 1 || (n_dims > 2 && table.dim != n_dims))
        return false;
    if (table.dim == n_dims)
        set_cut(c, op->outputs[0], last_dim_of(c, op->outputs[0]), 1, table.region);
    else
        c->sums[id] = true;
    return true;
}

static cut_rule *const rules[N_OP_KINDS] = {
    [OP_MATMUL] = product, [OP_BIAS_ADD] = bias, [OP_SOFTMAX] = softmax, [OP_CROSS_ENTROPY] = loss, [OP_TRANSPOSE] = transpose, [OP_VIEW] = view,
    [OP_SLICE] = take_slice, [OP_CONCAT] = concat, [OP_GATHER] = lookup, [OP_EXPAND] = elementwise,
    [OP_ADD] = elementwise, [OP_MUL] = elementwise, [OP_SCALE] = elementwise, [OP_RELU] = elementwise, [OP_GELU] = elementwise, [OP_TANH] = elementwise,
    [OP_SIGMOID] = elementwise, [OP_SWISH] = elementwise, [OP_DROPOUT] = elementwise, [OP_CAST] = elementwise, [OP_MAP] = elementwise,
    [OP_COMBINE] = elementwise, [OP_SELECT] = elementwise, [OP_ROTARY] = rotary, [OP_LAYER_NORM] = row_norm, [OP_RMS_NORM] = row_norm,
    [OP_ALL_REDUCE] = elementwise, [OP_SHARE] = elementwise,
};

/* ---- the search ------------------------------------------------------------------------------------------- */

/* True for state, or a view of it. */
static bool is_fixed_state(const struct cuts *c, uint32_t tensor)
{
    const struct tensor *t = &c->g->tensors[tensor];
    bool seen = t->producer_op != NO_ID && c->g->ops[t->producer_op].kind == OP_VIEW;
    return seen ? is_fixed_state(c, c->g->ops[t->producer_op].inputs[0]) : t->role == ROLE_STATE;
}

static uint32_t table_dim(const struct cuts *c) { return c->axis.axis == 0 ? 0 : 1; }

/* True if a lookup begins a region. A table with fewer rows than IPUs stays whole, and so does a bias, whose lookups are the same each time. */
static bool begins_table(const struct cuts *c, const struct op *op, uint32_t id)
{
    const struct tensor *t = &c->g->tensors[op->inputs[0]];
    return op->kind == OP_GATHER && !c->keeps_whole[id] && t->role == ROLE_WEIGHT && t->n_dims == 2 && t->dims[table_dim(c)] >= c->axis.n_ipus && !tensor_cut(t, table_dim(c)) &&
           !is_cut(c, op->inputs[0]) && !is_fixed_state(c, op->inputs[1]);
}

static void mark_whole(struct cuts *c, const struct op *op)
{
    for (uint32_t i = 0; i < op->n_inputs; i++)
        /* a cast weight is cut in the way that the cast's reader needs */
        if (!is_cut(c, op->inputs[i]) && weight_behind(c, op->outputs[0]) == NO_ID)
            c->of[op->inputs[i]].is_used_whole = true;
}

static bool may_gather(const struct cuts *c, const struct op *op)
{
    return c->g->layers[op->layer_id].role == LAYER_LAST && op->pass == PASS_FORWARD;
}

/* Carries the cut from an operation's operands to its results. False if the operation needs a whole operand, but that operand is cut. */
static bool visit_op(struct cuts *c, uint32_t id)
{
    const struct op *op = &c->g->ops[id];
    if (begins_table(c, op, id))
        cut_operand(c, op->inputs[0], table_dim(c), 1, new_region(c, c->g->tensors[op->inputs[0]].dims[table_dim(c)]));
    else if (cut_input(c, op) == NO_ID && begins_region(c, op, id) && begin_product(c, op, id))
        return true;
    if (cut_input(c, op) == NO_ID || (rules[op->kind] && rules[op->kind](c, op, id))) {
        mark_whole(c, op);
        return true;
    }
    return false;
}

/* True if the region has fewer units than IPUs, so that some have nothing to do, or if parts must be alike and the IPUs do not divide the units.
 * Heads are padded instead. */
static bool is_too_small(const struct cuts *c, uint32_t region)
{
    const struct region *r = &c->regions[cuts_region(c, region)];
    return (!r->attends && r->n_units < c->axis.n_ipus) || (r->even && r->n_units % c->axis.n_ipus);
}

/* The region of the operation's first operand or weight that is cut. */
static uint32_t region_of(const struct cuts *c, const struct op *op)
{
    uint32_t x = cut_input(c, op);
    return x == NO_ID ? NO_ID : cuts_region(c, c->of[x].region);
}

/* Gives up regions: their products and tables stay whole. True if there was any. */
static bool give_up(struct cuts *c, const bool *given_up)
{
    bool any = false;
    for (uint32_t i = 0; i < c->g->n_forward_ops; i++) {
        const struct op *op = &c->g->ops[i];
        bool begins = op->kind == OP_GATHER || (op->kind == OP_MATMUL && !is_cut(c, op->inputs[0]));
        uint32_t region = region_of(c, op);
        if (begins && region != NO_ID && !c->keeps_whole[i] && (given_up[region] || is_too_small(c, region)))
            any = c->keeps_whole[i] = true;
    }
    return any;
}

static bool search_once(struct cuts *c, bool trains)
{
    const struct graph *g = c->g;
    c->of = ARENA_ARRAY(c->a, struct tensor_cut, g->n_tensors);
    c->sums = ARENA_ARRAY(c->a, bool, g->n_ops);
    c->gathers = ARENA_ARRAY(c->a, bool, g->n_ops);
    c->n_regions = 0;
    bool *given_up = ARENA_ARRAY(c->a, bool, 2 * g->n_ops + 1);
    for (uint32_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        if (visit_op(c, i))
            continue;
        if (!trains && may_gather(c, op)) {
            c->gathers[i] = true;
            continue;
        }
        c->whole_layer = c->whole_layer ? c->whole_layer : g->layers[op->layer_id].name;
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (is_cut(c, op->inputs[k]))
                given_up[c->of[op->inputs[k]].region] = true;
    }
    bool *roots = ARENA_ARRAY(c->a, bool, 2 * g->n_ops + 1);        /* regions to which one that is given up was joined */
    for (uint32_t r = 0; r < c->n_regions; r++)
        roots[cuts_region(c, r)] |= given_up[r];
    return !give_up(c, roots);
}

/* Tensors whose gradient is wanted: those that depend on a weight. */
static void mark_wanted_tensors(struct cuts *c)
{
    for (uint32_t i = 0; i < c->g->n_tensors; i++)
        c->of[i].is_wanted = c->g->tensors[i].role == ROLE_WEIGHT;
    for (uint32_t i = 0; i < c->g->n_forward_ops; i++) {
        const struct op *op = &c->g->ops[i];
        bool wanted = false;
        for (uint32_t k = 0; k < op->n_inputs; k++)
            wanted |= c->of[op->inputs[k]].is_wanted;
        for (uint32_t k = 0; k < op->n_outputs; k++)
            c->of[op->outputs[k]].is_wanted = wanted && !op_rules[op->kind].gradient.no_gradient;
    }
}

/* True if the second axis cuts every product that the first axis has cut. */
static bool is_cut_throughout(const struct cuts *c)
{
    for (uint32_t i = 0; i < c->g->n_forward_ops && c->axis.axis > 0; i++) {
        const struct op *op = &c->g->ops[i];
        uint32_t w = op->kind == OP_MATMUL ? weight_behind(c, op->inputs[1]) : NO_ID;
        if (w != NO_ID && tensor_span(&c->g->tensors[w]) > 1 && !is_cut(c, w))
            return false;
    }
    return true;
}

bool cuts_find(struct cuts *c)
{
    bool trains = false;
    for (uint32_t i = 0; i < c->g->n_forward_ops; i++)
        trains |= c->g->ops[i].kind == OP_CROSS_ENTROPY || c->g->ops[i].kind == OP_TRANSDUCER_LOSS;
    c->keeps_whole = ARENA_ARRAY(c->a, bool, c->g->n_ops);
    count_readers(c);
    while (!search_once(c, trains))
        ;
    mark_wanted_tensors(c);
    return c->n_regions > 0 && is_cut_throughout(c);
}
