/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sequence.c - sequences of tensors whose lengths are known: what chunks, stacks and lists are exported as.
 *
 * A sequence is the list of its items' values. Who makes or changes one is gone; who reads an item is a copy of it, who joins them a Concat.
 * Positions must be known, as they are where the loop around them was run (control.c).
 */
#include "workloads/onnx/model.h"
#include <math.h>

enum { MOST_ITEMS = 1000 };

bool onnx_is_of_sequence(const struct onnx_model *m, const struct onnx_node *n)
{
    static const char *const ops[] = { "SequenceEmpty", "SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt", "SequenceLength",
                                       "SplitToSequence", "ConcatFromSequence" };
    const struct onnx_value *x = onnx_in(m, n, 0);
    bool found = text_is(n->op, "Identity") && x && x->items;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        found |= text_is(n->op, ops[i]);
    return found && !n->gone;
}

static const struct onnx_items *new_items(const struct onnx_model *m, uint32_t n, const uint32_t *values)
{
    struct onnx_items *items = ARENA_NEW(m->arena, struct onnx_items);
    *items = (struct onnx_items){ n, values };
    return items;
}

static void become_sequence(struct onnx_model *m, size_t id, uint32_t n, const uint32_t *values)
{
    struct onnx_value *out = onnx_out(m, &m->nodes[id], 0);
    if (out)
        out->items = new_items(m, n, values);
    onnx_retire(m, id, "who reads its items");
}

/* Which of n items input i says, the last where it is left out; behind them too: where one is put. Below zero it counts from their end. False:
 * not known, or outside. */
static bool place_of(uint32_t *at, const struct onnx_model *m, const struct onnx_node *n, uint32_t i, uint32_t items, bool behind)
{
    const struct onnx_value *v = onnx_in(m, n, i);
    if (v && (!v->known || onnx_elements(v) != 1))
        return false;
    int64_t place = v ? onnx_whole(v->known[0]) : (int64_t)items + behind - 1;
    return onnx_axis(at, place, place < 0 ? items : items + behind);
}

static bool refuse_place(const struct onnx_model *m, const struct onnx_node *n, struct err *err)
{
    return onnx_refuse(m, n, err, "a place in a sequence that is outside it, or known only while the model runs; export tensors");
}

static bool insert(struct onnx_model *m, size_t id, const struct onnx_items *old, struct err *err)
{
    const struct onnx_node *n = &m->nodes[id];
    uint32_t at, *values = ARENA_ARRAY(m->arena, uint32_t, old->n + 1);
    if (!onnx_in(m, n, 1) || old->n == MOST_ITEMS || !place_of(&at, m, n, 2, old->n, true))
        return refuse_place(m, n, err);
    for (uint32_t i = 0; i < old->n; i++)
        values[i + (i >= at)] = old->values[i];
    values[at] = n->inputs[1];
    become_sequence(m, id, old->n + 1, values);
    return true;
}

static bool erase(struct onnx_model *m, size_t id, const struct onnx_items *old, struct err *err)
{
    uint32_t at, *values = ARENA_ARRAY(m->arena, uint32_t, old->n);
    if (!place_of(&at, m, &m->nodes[id], 1, old->n, false))
        return refuse_place(m, &m->nodes[id], err);
    for (uint32_t i = 0; i + 1 < old->n; i++)
        values[i] = old->values[i + (i >= at)];
    become_sequence(m, id, old->n - 1, values);
    return true;
}

/* Other inputs, with their readers counted. */
static void read_instead(struct onnx_model *m, struct onnx_node *n, const char *op, uint32_t n_inputs, const uint32_t *inputs)
{
    onnx_reads_no_more(m, n);
    n->inputs = ARENA_ARRAY(m->arena, uint32_t, n_inputs);
    for (uint32_t i = 0; i < n_inputs; i++)
        m->values[n->inputs[i] = inputs[i]].n_readers++;
    n->n_inputs = n_inputs;
    n->op = op;
}

static bool take(struct onnx_model *m, size_t id, const struct onnx_items *items, struct err *err)
{
    uint32_t at;
    if (!place_of(&at, m, &m->nodes[id], 1, items->n, false))
        return refuse_place(m, &m->nodes[id], err);
    read_instead(m, &m->nodes[id], "Identity", 1, &items->values[at]);
    return true;
}

/* With a new axis each item gets a dimension first. */
static bool join(struct onnx_model *m, size_t id, const struct onnx_items *items, struct err *err)
{
    bool stacked = onnx_flag(&m->nodes[id], "new_axis", false);
    int64_t axis = onnx_int(&m->nodes[id], "axis", 0);
    uint32_t *rows = ARENA_ARRAY(m->arena, uint32_t, items->n);
    if (!items->n || !onnx_out(m, &m->nodes[id], 0))
        return onnx_refuse(m, &m->nodes[id], err, "joins nothing, or has no output");
    const char *name = onnx_out(m, &m->nodes[id], 0)->name;
    if (stacked && !onnx_make_room(m, id, items->n, err))
        return false;
    for (uint32_t i = 0; i < items->n; i++) {
        rows[i] = items->values[i];
        if (!stacked)
            continue;
        rows[i] = onnx_value(m, arena_printf(m->arena, "#item%u of %s", i, name));
        onnx_put_axis(m, id + i, "Unsqueeze", items->values[i], rows[i], axis);
    }
    read_instead(m, &m->nodes[id + (stacked ? items->n : 0)], "Concat", items->n, rows);
    return true;
}

static bool measure(struct onnx_model *m, size_t id, const struct onnx_items *items)
{
    uint32_t n = onnx_number(m, arena_printf(m->arena, "#length%zu", m->n_values), ONNX_INT64, items->n);
    read_instead(m, &m->nodes[id], "Identity", 1, &n);
    return true;
}

/* Sizes of the parts: one for each, one for all but the last, or of one element. 0 parts: refused. */
static uint32_t part_sizes(const struct onnx_model *m, const struct onnx_node *n, uint64_t size, double **sizes, struct err *err)
{
    const struct onnx_value *split = onnx_in(m, n, 1);
    bool each = split && split->n_dims == 1;
    uint64_t all = split && split->known && onnx_elements(split) ? (uint64_t)onnx_whole(fmax(split->known[0], 1)) : 1;
    uint64_t parts = each ? onnx_elements(split) : ceil_div(size, all);
    if ((split && !split->known) || !parts || parts > MOST_ITEMS) {
        onnx_refuse(m, n, err, "its parts are known only while the model runs, or more than %d", MOST_ITEMS);
        return 0;
    }
    *sizes = ARENA_ARRAY(m->arena, double, parts);
    for (uint64_t i = 0; i < parts; i++)
        (*sizes)[i] = each ? split->known[i] : (double)min_u64(all, size - i * all);
    return (uint32_t)parts;
}

/* The node becomes a Split; where the axis goes, each part has a Squeeze behind it. */
static void split_into(struct onnx_model *m, size_t id, uint32_t n, double *sizes, bool squeezed, int64_t axis)
{
    uint32_t *parts = ARENA_ARRAY(m->arena, uint32_t, n), *items = ARENA_ARRAY(m->arena, uint32_t, n), whole = m->nodes[id].outputs[0];
    const char *name = m->values[whole].name;
    for (uint32_t i = 0; i < n; i++) {
        parts[i] = items[i] = onnx_value(m, arena_printf(m->arena, "#part%u of %s", i, name));
        m->values[parts[i]].producer = (uint32_t)id;
        if (squeezed) {
            items[i] = onnx_value(m, arena_printf(m->arena, "#item%u of %s", i, name));
            onnx_put_axis(m, id + 1 + i, "Squeeze", parts[i], items[i], axis);
        }
    }
    uint32_t inputs[2] = { m->nodes[id].inputs[0], onnx_number(m, arena_printf(m->arena, "#sizes of %s", name), ONNX_INT64, 0) };
    struct onnx_value *v = &m->values[inputs[1]];
    v->n_dims = 1;
    v->dims[0] = n;
    v->known = sizes;
    read_instead(m, &m->nodes[id], "Split", 2, inputs);
    m->nodes[id].outputs = parts;
    m->nodes[id].n_outputs = n;
    m->values[whole].items = new_items(m, n, items);
}

static bool split(struct onnx_model *m, size_t id, struct err *err)
{
    uint32_t axis;
    double *sizes;
    const struct onnx_value *x = onnx_in(m, &m->nodes[id], 0);
    int64_t given = onnx_int(&m->nodes[id], "axis", 0);
    if (!x || !x->shaped || !onnx_axis(&axis, given, x->n_dims) || !onnx_out(m, &m->nodes[id], 0))
        return onnx_refuse(m, &m->nodes[id], err, "axis is out of range, or its input has no shape");
    uint32_t n = part_sizes(m, &m->nodes[id], x->dims[axis], &sizes, err);
    bool squeezed = !onnx_in(m, &m->nodes[id], 1) && !onnx_flag(&m->nodes[id], "keepdims", true);
    if (!n || !onnx_make_room(m, id + 1, squeezed ? n : 0, err))
        return false;
    split_into(m, id, n, sizes, squeezed, given);
    return true;
}

bool onnx_open_sequence(struct onnx_model *m, size_t id, struct err *err)
{
    const struct onnx_node *n = &m->nodes[id];
    const struct onnx_value *x = onnx_in(m, n, 0);
    const char *op = n->op;
    bool made = text_is(op, "SequenceEmpty") || text_is(op, "SequenceConstruct");
    for (uint32_t i = 0; i < n->n_inputs && made; i++)
        if (n->inputs[i] == NO_ID)
            return onnx_refuse(m, n, err, "leaves an item out");
    if (made)
        become_sequence(m, id, n->n_inputs, n->inputs);
    else if (text_is(op, "SplitToSequence"))
        return split(m, id, err);
    else if (!x || !x->items)
        return onnx_refuse(m, n, err, "reads a sequence that nothing here makes; export tensors");
    else if (text_is(op, "Identity"))
        become_sequence(m, id, x->items->n, x->items->values);
    else
        return text_is(op, "SequenceInsert") ? insert(m, id, x->items, err) : text_is(op, "SequenceErase") ? erase(m, id, x->items, err)
             : text_is(op, "SequenceAt") ? take(m, id, x->items, err) : text_is(op, "SequenceLength") ? measure(m, id, x->items)
             : join(m, id, x->items, err);
    return true;
}
