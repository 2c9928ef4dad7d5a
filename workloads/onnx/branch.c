/*
 * branch.c - the branch of an If whose condition is known, in the place of the If.
 *
 * Exporters write an If where a shape decides, as for a squeeze of a dimension that may be 1. With all sizes given the condition is
 * known, and the nodes of the branch that it takes are put behind it. Names of a branch get its scope in front: two branches may
 * have the same. What an If with an unknown condition would cost is not modelled.
 */
#include "workloads/onnx/model.h"
#include <string.h>

enum { MOST_BRANCHES = 1000 };

/* Opens n places behind a node. */
static void make_room(struct onnx_model *m, size_t behind, size_t n)
{
    struct onnx_node *nodes = ARENA_ARRAY(m->arena, struct onnx_node, m->n_nodes + n);
    memcpy(nodes, m->nodes, (behind + 1) * sizeof *nodes);
    memcpy(nodes + behind + 1 + n, m->nodes + behind + 1, (m->n_nodes - behind - 1) * sizeof *nodes);
    for (size_t i = 0; i < m->n_values; i++)
        if (m->values[i].producer != NO_ID && m->values[i].producer > behind)
            m->values[i].producer += (uint32_t)n;
    m->nodes = nodes;
    m->n_nodes += n;
}

/* Output i of the If is what the branch has as output i. */
static bool hand_over(struct onnx_model *m, uint32_t id, uint32_t result, const char *scope, const char *name, struct err *err)
{
    struct onnx_node *n = &m->nodes[id];
    *n = (struct onnx_node){ .op = "Identity", .name = "", .written = "Identity", .scope = "", .n_inputs = 1, .n_outputs = 1 };
    n->inputs = ARENA_ARRAY(m->arena, uint32_t, 1);
    n->outputs = ARENA_ARRAY(m->arena, uint32_t, 1);
    n->inputs[0] = onnx_value_seen(m, scope, name);
    n->outputs[0] = result;
    struct onnx_value *from = &m->values[n->inputs[0]];
    if (from->producer == NO_ID && !from->constant && !from->shaped)
        return onnx_refuse(m, n, err, "the branch does not make its output %.80s", name);
    from->n_readers++;
    m->values[result].producer = id;
    return true;
}

static bool insert(struct onnx_model *m, size_t id, const Onnx__GraphProto *g, struct err *err)
{
    struct onnx_node taken = m->nodes[id];
    const char *scope = arena_printf(m->arena, "%s%u/", taken.scope, m->n_branches++);
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!onnx_add_initialiser(m, g->initializer[i], scope, err))
            return false;
    make_room(m, id, g->n_node + taken.n_outputs);
    m->nodes[id].gone = true;
    m->nodes[id].n_outputs = 0;
    m->nodes[id].fused_as = "the branch that is taken";
    for (size_t i = 0; i < g->n_node; i++)
        if (!onnx_link_node(m, (uint32_t)(id + 1 + i), g->node[i], scope, taken.call, err))
            return false;
    for (uint32_t i = 0; i < taken.n_outputs; i++) {
        uint32_t at = (uint32_t)(id + 1 + g->n_node + i);
        m->nodes[at] = (struct onnx_node){ .op = "Identity", .name = "", .written = "Identity", .scope = "" };
        if (taken.outputs[i] != NO_ID && !hand_over(m, at, taken.outputs[i], scope, g->output[i]->name ? g->output[i]->name : "", err))
            return false;
    }
    return true;
}

bool onnx_condition_known(const struct onnx_model *m, const struct onnx_node *n)
{
    const struct onnx_value *condition = onnx_in(m, n, 0);
    return condition && condition->known && onnx_elements(condition) == 1;
}

bool onnx_take_branch(struct onnx_model *m, size_t node_id, struct err *err)
{
    const struct onnx_node *n = &m->nodes[node_id];
    if (!onnx_condition_known(m, n))
        return onnx_refuse(m, n, err, "its condition is computed while the model runs; export the model with one branch alone");
    if (m->n_branches >= MOST_BRANCHES)
        return onnx_refuse(m, n, err, "more than %d branches", MOST_BRANCHES);
    const Onnx__AttributeProto *p = onnx_attribute(n, onnx_in(m, n, 0)->known[0] != 0 ? "then_branch" : "else_branch");
    const Onnx__GraphProto *g = p && p->has_g ? onnx_unpack_graph(&p->g, m->arena) : NULL;
    if (!g || g->n_output != n->n_outputs)
        return onnx_refuse(m, n, err, "has no branch of %u outputs for its condition", n->n_outputs);
    return insert(m, node_id, g, err);
}
