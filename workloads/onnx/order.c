/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.c - a file's nodes in the order that the format demands, where a tool has left them in another.
 *
 * Each node must stand behind what makes its inputs. Runtimes sort for themselves, so tools that add nodes (casts to half precision) put them
 * at the end. From the first node on, what a node reads and what is made later goes before it; the rest keeps its order. A circle stays: who
 * links the nodes refuses it.
 */
#include "workloads/onnx/model.h"
#include <string.h>

struct sorter {
    struct onnx_model *m;
    Onnx__NodeProto *const *nodes, **sorted;
    size_t n_sorted, depth;
    uint32_t *maker;                        /* by value: node + 1 */
    size_t n_makers;
    uint32_t *stack;
    bool *met;
};

static void open_node(struct sorter *s, uint32_t id)
{
    if (s->met[id])
        return;
    s->met[id] = true;
    s->stack[s->depth++] = id;
}

/* The first node not met yet that makes what this one reads; NO_ID: none. */
static uint32_t missing(const struct sorter *s, char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t value = *names[i] ? onnx_value(s->m, names[i]) : NO_ID;
        uint32_t made_by = value < s->n_makers ? s->maker[value] : 0;
        if (made_by && !s->met[made_by - 1])
            return made_by - 1;
    }
    return NO_ID;
}

/* Also what the branches of an If or the rounds of a Loop read, as deep as they may stand in each other. */
static uint32_t missing_inside(const struct sorter *s, const Onnx__NodeProto *p, uint32_t depth)
{
    uint32_t found = missing(s, p->input, p->n_input);
    for (size_t i = 0; i < p->n_attribute && found == NO_ID && depth < DEEPEST_BODIES; i++) {
        const Onnx__GraphProto *g = p->attribute[i]->has_g ? onnx_unpack_graph(&p->attribute[i]->g, s->m->arena) : NULL;
        for (size_t k = 0; g && k < g->n_node && found == NO_ID; k++)
            found = missing_inside(s, g->node[k], depth + 1);
    }
    return found;
}

static void sort_from(struct sorter *s, uint32_t first)
{
    open_node(s, first);
    while (s->depth) {
        uint32_t id = s->stack[s->depth - 1], before = missing_inside(s, s->nodes[id], 0);
        if (before != NO_ID)
            open_node(s, before);
        else
            s->sorted[s->n_sorted++] = s->nodes[s->stack[--s->depth]];
    }
}

Onnx__NodeProto *const *onnx_in_order(struct onnx_model *m, Onnx__NodeProto *const *nodes, size_t n)
{
    struct sorter s = { .m = m, .nodes = nodes, .sorted = ARENA_ARRAY(m->arena, Onnx__NodeProto *, n),
                        .stack = ARENA_ARRAY(m->arena, uint32_t, n), .met = ARENA_ARRAY(m->arena, bool, n) };
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < nodes[i]->n_output; k++)
            onnx_value(m, nodes[i]->output[k]);
    s.n_makers = m->n_values;
    s.maker = ARENA_ARRAY(m->arena, uint32_t, s.n_makers);
    for (size_t i = n; i-- > 0; )               /* of two that make the same the first: the second will be refused */
        for (size_t k = 0; k < nodes[i]->n_output; k++)
            s.maker[onnx_value(m, nodes[i]->output[k])] = (uint32_t)i + 1;
    for (size_t i = 0; i < n; i++)
        sort_from(&s, (uint32_t)i);
    return s.sorted;
}
