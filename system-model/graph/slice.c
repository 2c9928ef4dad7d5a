/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slice.c - the graph that one of several IPUs runs when they compute a model's layers together (tensor parallelism): its tensors are parts of the
 * whole model's, and sums over the IPUs stand where parts meet.
 *
 * All IPUs run the same graph on other numbers. An operand that all have alike passes OP_SHARE on its way into a region that is cut: forward nothing
 * happens, backward each IPU has a part of its gradient, and they are summed. Addends are summed by OP_ALL_REDUCE, whose gradient all IPUs
 * have alike. PopXL's programs have these as replicated_all_reduce_identical_inputs and _identical_grad_inputs (graphcore/popxl-addons 7499fca
 * ops/replicated_all_reduce_TP). Addends of lookups that are added up are summed once (graphcore/examples 3cc8f81
 * nlp/gpt3_175B/popxl/modelling/embedding.py). A dimension that its IPUs do not divide is padded.
 */
#include "system-model/graph/slice.h"

struct slicer {
    struct cuts c;
    struct graph *out;
    uint32_t *to;                       /* by tensor of the whole graph: its part */
    bool *is_addend;                    /* by tensor of the whole graph: true while each IPU has only its addend of the tensor */
    struct shared { uint32_t tensor, region, to; } *shared; uint32_t n_shared; size_t cap_shared;     /* operands that are shared among the IPUs of a region */
    uint32_t *whole_ids; uint32_t n_ids; size_t cap_ids;
    uint32_t *given; uint32_t n_given;  /* tensors that no operation makes: weights, inputs and state */
};

/* ---- tensors --------------------------------------------------------------------------------------------- */

static uint64_t local_size(const struct slicer *s, uint32_t tensor)
{
    const struct tensor_cut *cut = &s->c.of[tensor];
    return cuts_local(&s->c, cut->region, s->c.g->tensors[tensor].dims[cut->dim - 1] / cut->pieces) * cut->pieces;
}

static void set_tensor_part(struct slicer *s, uint32_t tensor, uint32_t part_id)
{
    const struct tensor_cut *cut = &s->c.of[tensor];
    const struct tensor *whole = &s->c.g->tensors[tensor];
    struct tensor *part = &s->out->tensors[part_id];
    memcpy(part->cuts, whole->cuts, sizeof part->cuts);
    if (cut->dim)
        part->cuts[s->c.axis.axis] = (struct tensor_part){ cut->dim, cuts_parts(&s->c, cut->region), cut->pieces, s->c.axis.stride, whole->dims[cut->dim - 1], 0 };
    while (s->n_ids <= part_id)
        ARENA_APPEND(s->out->arena, s->whole_ids, s->n_ids, s->cap_ids, NO_ID);
    s->whole_ids[part_id] = s->c.g->whole ? s->c.g->whole_ids[tensor] : tensor;
    s->to[tensor] = part_id;
}

static void list_given_tensors(struct slicer *s)
{
    s->given = ARENA_ARRAY(s->c.a, uint32_t, s->c.g->n_tensors);
    for (uint32_t i = 0; i < s->c.g->n_tensors; i++)
        if (s->c.g->tensors[i].producer_op == NO_ID)
            s->given[s->n_given++] = i;
}

static void add_given_tensors(struct slicer *s, uint32_t layer)
{
    for (uint32_t k = 0; k < s->n_given; k++) {
        uint32_t i = s->given[k];
        const struct tensor *t = &s->c.g->tensors[i];
        uint64_t dims[MAX_DIMS];
        if (t->layer_id != layer)
            continue;
        memcpy(dims, t->dims, sizeof dims);
        if (s->c.of[i].dim)
            dims[s->c.of[i].dim - 1] = local_size(s, i);
        set_tensor_part(s, i, graph_tensor(s->out, t->name, t->role, t->type, t->n_dims, dims));
        s->out->tensors[s->to[i]].n_joined = t->n_joined;
        s->out->tensors[s->to[i]].sharded = t->sharded;
        s->out->tensors[s->to[i]].place = t->place;
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------- */

static uint32_t summed(struct slicer *s, uint32_t part_id, uint32_t ranks)
{
    return graph_op(s->out, OP_ALL_REDUCE, &part_id, 1, (struct op_attributes){ .ranks = ranks, .stride = s->c.axis.stride });
}

static uint32_t share(struct slicer *s, uint32_t tensor, uint32_t region)
{
    for (uint32_t i = s->n_shared; i-- > 0; )
        if (s->shared[i].tensor == tensor && s->shared[i].region == region)
            return s->shared[i].to;
    uint32_t x = s->to[tensor], to = graph_op(s->out, OP_SHARE, &x, 1, (struct op_attributes){ .ranks = cuts_parts(&s->c, region), .stride = s->c.axis.stride });
    ARENA_APPEND(s->c.a, s->shared, s->n_shared, s->cap_shared, (struct shared){ tensor, region, to });
    return to;
}

static uint32_t gathered(struct slicer *s, uint32_t tensor)
{
    const struct tensor_cut *cut = &s->c.of[tensor];
    uint32_t x = s->to[tensor];
    struct op_attributes at = { .ranks = cuts_parts(&s->c, cut->region), .stride = s->c.axis.stride, .axis = cut->dim - 1, .length = s->c.g->tensors[tensor].dims[cut->dim - 1] };
    return graph_op(s->out, OP_ALL_GATHER, &x, 1, at);
}

/* ---- operations --------------------------------------------------------------------------------------------- */

/* The region in which an operation works on parts; NO_ID: on whole tensors. */
static uint32_t op_region(const struct slicer *s, const struct op *op, uint32_t id)
{
    for (uint32_t i = 0; i < op->n_inputs && !s->c.gathers[id]; i++)
        if (s->c.of[op->inputs[i]].dim)
            return cuts_region(&s->c, s->c.of[op->inputs[i]].region);
    return NO_ID;
}

/* True for a sum of addends, or a view of an addend: its result is an addend, too. */
static bool adds_addends(const struct slicer *s, const struct op *op)
{
    return s->is_addend[op->inputs[0]] && (op->kind == OP_VIEW || (op->kind == OP_ADD && s->is_addend[op->inputs[1]]));
}

/* The operand as the operation needs it: whole, shared with the IPUs of its region, or a part. */
static uint32_t part_operand(struct slicer *s, const struct op *op, uint32_t id, uint32_t k, uint32_t region)
{
    uint32_t x = op->inputs[k];
    const struct tensor_cut *cut = &s->c.of[x];
    if (s->is_addend[x] && !adds_addends(s, op)) {
        s->to[x] = summed(s, s->to[x], s->c.axis.n_ipus);
        s->is_addend[x] = false;
    }
    if (cut->dim)
        return s->c.gathers[id] ? gathered(s, x) : s->to[x];
    bool is_made = s->c.g->tensors[x].role == ROLE_ACTIVATION;
    return region != NO_ID && is_made && cut->is_wanted ? share(s, x, region) : s->to[x];
}

/* The operation's attributes, with the sizes of an IPU's part in place of the whole. */
static struct op_attributes local_attributes(const struct slicer *s, const struct op *op)
{
    struct op_attributes at = *op->at;
    const struct tensor_cut *x = &s->c.of[op->inputs[0]], *y = &s->c.of[op->outputs[0]];
    const struct tensor *whole = &s->c.g->tensors[op->inputs[0]];
    if (op->kind == OP_TRANSPOSE && x->dim) {
        uint64_t *size = &at.view[cuts_dim_in_view(whole, x->dim - 1, op->at->view)];
        *size = cuts_local(&s->c, x->region, *size);
    } else if ((op->kind == OP_VIEW || op->kind == OP_EXPAND) && y->dim) {
        at.view[y->dim - 1] = local_size(s, op->outputs[0]);
    } else if (op->kind == OP_ROTARY && x->dim == whole->n_dims) {
        at.groups = (uint32_t)cuts_local(&s->c, x->region, at.groups);
    }
    return at;
}

static void add_part_op(struct slicer *s, uint32_t id)
{
    const struct op *op = &s->c.g->ops[id];
    uint32_t inputs[MAX_OP_INPUTS], region = op_region(s, op, id);
    bool adds = adds_addends(s, op), is_lookup = op->kind == OP_GATHER;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        inputs[k] = part_operand(s, op, id, k, region);
    uint32_t y = graph_op(s->out, op->kind, inputs, op->n_inputs, local_attributes(s, op));
    if (s->c.sums[id] && !is_lookup)
        y = summed(s, y, cuts_parts(&s->c, region));
    s->is_addend[op->outputs[0]] = adds || (s->c.sums[id] && is_lookup);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        set_tensor_part(s, op->outputs[k], y + k);
}

/* Opens the first n layers, with their weights, inputs and state, unless they are open. */
static void open_layers(struct slicer *s, uint32_t n)
{
    while (s->out->n_layers < n) {
        graph_layer(s->out, s->c.g->layers[s->out->n_layers]);
        add_given_tensors(s, (uint32_t)s->out->n_layers - 1);
    }
}

bool graph_slice(struct graph *out, const struct graph *whole, struct slice_axis axis, const char **whole_layer, struct arena *a)
{
    struct arena scratch = {0};
    struct slicer s = { .c = { .g = whole, .axis = axis, .a = &scratch }, .out = out,
                        .to = ARENA_ARRAY(&scratch, uint32_t, whole->n_tensors), .is_addend = ARENA_ARRAY(&scratch, bool, whole->n_tensors) };
    assert(whole->n_ops == whole->n_forward_ops && axis.n_ipus > 1 && axis.attention_ipus > 0);
    bool is_cut = cuts_find(&s.c);
    *whole_layer = s.c.whole_layer;
    list_given_tensors(&s);
    graph_start(out, whole->name, whole->micro_batch, a);
    for (uint32_t id = 0; id < whole->n_ops; id++) {
        uint32_t layer = whole->ops[id].layer_id, n_open = (uint32_t)out->n_layers;
        open_layers(&s, layer + 1);
        n_open = max_u32(n_open, layer + 1);
        out->n_layers = layer + 1;      /* operations go to the last layer, as a file's losses follow all layers */
        add_part_op(&s, id);
        out->n_layers = n_open;
    }
    open_layers(&s, (uint32_t)whole->n_layers);
    out->n_rough_ops = whole->n_rough_ops;
    out->whole = whole->whole ? whole->whole : whole;
    while (s.n_ids < out->n_tensors)
        ARENA_APPEND(a, s.whole_ids, s.n_ids, s.cap_ids, NO_ID);
    out->whole_ids = s.whole_ids;
    arena_free(&scratch);
    return is_cut;
}
