/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_random.c - random numbers as operations of the chip's generator (poprand), and the user's own operations (codelet.h).
 *
 * Bernoulli compares uniform numbers with probabilities. Multinomial takes the class whose logit less log(-log u) is largest, which is a draw by
 * the probabilities that the logits stand for (Gumbel 1954), as no vertex draws classes.
 */
#include "workloads/onnx/onnx_mapper.h"
#include "workloads/onnx/onnx_passes.h"
#include "workloads/onnx/onnx_shapes.h"

/* ---- shapes ------------------------------------------------------------------------------------------------------------------- */

static int type_of(const struct inference *s, int usual) { return (int)onnx_int(s->n, "dtype", usual); }

bool infer_random(const struct inference *s)
{
    const Onnx__AttributeProto *shape = onnx_attribute(s->n, "shape");
    uint64_t dims[ONNX_MAX_DIMS] = { 0 };
    if (!shape || shape->n_ints > ONNX_MAX_DIMS)
        return REFUSE(s, "its attribute shape is missing, or has more than %d sizes", ONNX_MAX_DIMS);
    for (size_t i = 0; i < shape->n_ints; i++) {
        if (shape->ints[i] < 0 || shape->ints[i] > UINT32_MAX)
            return REFUSE(s, "shape: %jd is not a size", (intmax_t)shape->ints[i]);
        dims[i] = (uint64_t)shape->ints[i];
    }
    return infer_set(s, 0, (uint32_t)shape->n_ints, dims, type_of(s, ONNX_FLOAT));
}

bool infer_random_like(const struct inference *s) { return infer_set(s, 0, s->x->n_dims, s->x->dims, type_of(s, s->x->type)); }

bool infer_multinomial(const struct inference *s)
{
    int64_t n = onnx_int(s->n, "sample_size", 1);
    if (s->x->n_dims != 2 || n < 1 || n > UINT32_MAX)
        return REFUSE(s, "wants logits of [batch, classes] and a sample_size of 1 or more");
    return infer_set(s, 0, 2, (uint64_t[]){ s->x->dims[0], (uint64_t)n }, type_of(s, ONNX_INT32));
}

/* ---- random numbers ------------------------------------------------------------------------------------------------------------- */

static uint32_t map_drawn(struct mapper *p, enum random_draw what, double low, double high, uint32_t n_dims, const uint64_t *dims)
{
    uint32_t seed = graph_tensor(p->g, "seed", ROLE_STATE, TYPE_INT32, 1, (uint64_t[]){ 2 });
    struct op_attributes at = { .draw = what, .low = low, .high = high, .to_type = p->o->type };
    memcpy(at.view, dims, n_dims * sizeof *dims);
    return map_emit1(p, OP_RANDOM, seed, at);
}

bool map_random(struct mapper *p)
{
    const struct onnx_operator *op = p->n->op;
    const struct onnx_value *y = map_out(p, 0);
    double low = onnx_float(p->n, op->low_name, op->low), high = onnx_float(p->n, op->high_name, op->high);
    uint64_t dims[ONNX_MAX_DIMS];
    uint32_t n = map_tensor_dims(dims, y);
    if (!onnx_is_float(y->type))
        return MAP_REFUSE(p, "draws floats only; cast them");
    if (op->draw == DRAW_NORMAL ? !(high >= 0) : !(high > low))
        return MAP_REFUSE(p, "%s=%g and %s=%g describe no distribution", op->low_name, low, op->high_name, high);
    return map_done(p, 0, map_drawn(p, op->draw, low, high, n, dims), false);
}

bool map_bernoulli(struct mapper *p)
{
    const struct onnx_value *y = map_out(p, 0);
    uint32_t chance = map_as_plain(p, map_in_id(p, 0));
    if (chance == NO_ID)
        return false;
    const struct tensor *t = &p->g->tensors[chance];
    uint32_t u = map_drawn(p, DRAW_UNIFORM, 0, 1, t->n_dims, t->dims);
    return map_done_as(p, "random, less", map_of_type(p, map_combined(p, FUNCTION_LESS, u, map_of_type(p, chance, p->o->type)), map_type(p, y->type)), false);
}

bool map_multinomial(struct mapper *p)
{
    const struct onnx_value *y = map_out(p, 0);
    uint64_t batch = y->dims[0], n = y->dims[1], classes = map_in(p, 0)->dims[1];
    uint32_t logits = map_as_plain(p, map_in_id(p, 0)), u = logits;
    if (logits == NO_ID)
        return false;
    u = map_drawn(p, DRAW_UNIFORM, 0, 1, 3, (uint64_t[]){ batch, n, classes });
    for (int i = 0; i < 2; i++)
        u = map_emit_function(p, FUNCTION_NEGATE, map_emit_function(p, FUNCTION_LOG, u));
    u = map_emit2(p, OP_ADD, u, VIEW(p, map_of_type(p, logits, p->o->type), batch, 1, classes), NO_ATTRIBUTES);
    u = map_emit1(p, OP_ARG_MAX, u, NO_ATTRIBUTES);
    return u != NO_ID && map_done_as(p, "random, arg-max", map_of_type(p, VIEW(p, u, batch, n), map_type(p, y->type)), false);
}

/* ---- operations of one's own ----------------------------------------------------------------------------------------------------- */

const struct codelet *onnx_codelet(const struct onnx_model *m, const struct onnx_node *n)
{
    return n->proto && n->proto->domain ? codelet_find(m->options->codelets, n->proto->domain, n->written) : NULL;
}

bool onnx_shape_codelet(struct onnx_model *m, const struct onnx_node *n, const struct codelet *c, struct err *err)
{
    const struct onnx_value *x = onnx_in(m, n, 0);
    const struct inference s = { m, n, x, onnx_in(m, n, 1), err };
    uint32_t n_dims = 0;
    if (!x || !x->shaped || x->n_dims <= c->axes[c->n_axes - 1] || x->n_dims > MAX_DIMS)
        return onnx_refuse(m, n, err, "its sheet cuts axis %u of its first input, which has %u dimensions; want %u to %d", c->axes[c->n_axes - 1],
                           x && x->shaped ? x->n_dims : 0, c->axes[c->n_axes - 1] + 1, MAX_DIMS);
    while (n_dims < MOST_OUTPUT_DIMS && c->output_dims[n_dims])
        n_dims++;
    for (uint32_t k = 0; k < n->n_outputs; k++)
        if (!infer_set(&s, k, n_dims ? n_dims : x->n_dims, n_dims ? c->output_dims : x->dims, x->type))
            return false;
    return true;
}

bool onnx_map_codelet(struct mapper *p, const struct codelet *c)
{
    uint32_t inputs[MAX_OP_INPUTS], n = 0;
    struct op_attributes at = { .codelet = c, .pieces = p->n->n_outputs };
    if (p->n->n_inputs > MAX_OP_INPUTS || p->n->n_outputs > MAX_OP_OUTPUTS)
        return MAP_REFUSE(p, "has %u inputs and %u outputs, at most %d and %d", p->n->n_inputs, p->n->n_outputs, MAX_OP_INPUTS, MAX_OP_OUTPUTS);
    if (!p->o->inference && !c->gradient)
        return MAP_REFUSE(p, "its sheet states no gradient; add a line with key gradient: the operation that computes it, or none");
    for (uint32_t i = 0; i < p->n->n_inputs; i++)
        if (map_in(p, i) && (inputs[n++] = map_as_plain(p, map_in_id(p, i))) == NO_ID)
            return false;
    memcpy(at.grid_ipus, p->o->grid_ipus, sizeof at.grid_ipus);
    memcpy(at.grid_tiles, p->o->grid_tiles, sizeof at.grid_tiles);
    uint32_t first = map_emit(p, OP_CODELET, inputs, n, at);
    for (uint32_t k = 0; k < p->n->n_outputs; k++)
        if (map_out(p, k) && !map_done(p, k, first + k, false))
            return false;
    p->into = "codelet";
    return true;
}
