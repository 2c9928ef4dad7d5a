/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reach.c - which nodes count: those that lead to the outputs, or to the values that the recipe stops at.
 *
 * What only leads elsewhere is neither shaped nor refused: further outputs of a model that is trained, or what a detector does with its boxes.
 * A body of an If or a Loop may read any value that is made before it, so all that stands before one that counts does too.
 */
#include "workloads/onnx/model.h"
#include <string.h>

/* "boxes,scores" instead of the file's own outputs. */
static bool stop_at(struct onnx_model *m, const char *names, struct err *err)
{
    size_t n = 0, cap = 0;
    uint32_t *outputs = NULL;
    const char **own = ARENA_ARRAY(m->arena, const char *, m->n_outputs);
    for (size_t i = 0; i < m->n_outputs; i++) {
        own[i] = m->values[m->outputs[i]].name;
        m->values[m->outputs[i]].output = false;
    }
    for (char *rest = arena_strdup(m->arena, names), *name; (name = strsep(&rest, ",")); ) {
        uint32_t id = onnx_value(m, name);
        if (m->values[id].producer == NO_ID)
            return fail(err, "%s: recipe.output: no node makes '%.80s'; take the name of a node's output, as those of the file itself: %s",
                        m->path, name, names_list(own, m->n_outputs, m->arena));
        m->values[id].output = true;
        outputs = arena_grow(m->arena, outputs, n, &cap, sizeof *outputs);
        outputs[n++] = id;
    }
    m->outputs = outputs;
    m->n_outputs = n;
    return true;
}

bool onnx_reach(struct onnx_model *m, const struct onnx_options *o, struct err *err)
{
    if (o->output && !stop_at(m, o->output, err))
        return false;
    bool *wanted = ARENA_ARRAY(m->arena, bool, m->n_values), all = false;
    for (size_t i = 0; i < m->n_outputs && (i == 0 || o->inference); i++)
        wanted[m->outputs[i]] = true;
    for (size_t i = m->n_nodes; i-- > 0; ) {
        const struct onnx_node *n = &m->nodes[i];
        bool any = all;
        for (uint32_t k = 0; k < n->n_outputs; k++)
            any |= n->outputs[k] != NO_ID && wanted[n->outputs[k]];
        all |= any && onnx_is_control(n);
        for (uint32_t k = 0; k < n->n_inputs && any; k++)
            if (n->inputs[k] != NO_ID)
                wanted[n->inputs[k]] = true;
        if (!any)
            onnx_retire(m, i, NULL);
    }
    return true;
}
