/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * control.c - control flow and sequences that are known before the model runs: their nodes are replaced.
 *
 * Exporters write an If where a shape decides (a squeeze of a dimension that may be 1), a Loop for ranges of numbers
 * or the images of a batch, and a Scan to run a body for each row of a tensor. Once all sizes are given, conditions
 * and trip counts follow. The nodes of the branch are put after the If; those of a round before the Loop, which is met
 * again after them. Each body gets a scope, so that names may repeat. A condition that depends on data may be given by
 * the options; else it is refused, or guessed with --approximate.
 *
 * A sequence is the list of its items' values, which chunks, stacks and lists are exported as. Nodes that build
 * sequences disappear; a node that reads an item becomes a copy of it, one that joins them a Concat. Positions must be
 * known, as they are in unrolled loops.
 */
#include "workloads/onnx/onnx_passes.h"

enum { MOST_BODIES = 1000 };

/* A loop between two rounds: the values carried to the next one, and the values of all rounds that will be stacked. */
struct onnx_loop {
    const Onnx__GraphProto *body;
    uint64_t done;
    uint32_t n_carried, n_stacked, n_scanned, condition, *carried, *stacked;
    uint32_t rolled;                        /* the number of equal rounds that one round stands for; 0: each round is written out */
    const char *scope;                      /* the scope of the last round */
    bool scan;                              /* the body of a Scan has no trip count and no condition */
};

/* Opens a scope inside the scope of the node; NULL if it is refused. Calls of functions count as levels, too. */
static const char *scope_inside(struct onnx_model *m, const struct onnx_node *n, struct err *err)
{
    uint32_t depth = 0;
    for (const char *c = n->scope; *c; c++)
        depth += *c == '/';
    if (depth >= DEEPEST_BODIES)
        onnx_refuse(m, n, err, "branches and loops are nested more than %d deep", DEEPEST_BODIES);
    else if (m->n_bodies >= MOST_BODIES)
        onnx_refuse(m, n, err, "more than %d branches and rounds of loops", MOST_BODIES);
    else
        return arena_printf(m->arena, "%s%u/", n->scope, m->n_bodies++);
    return NULL;
}

/* Links the initialisers of a body, and its nodes, for which empty places exist from `from` on. Each node runs this many rounds. */
static bool link_body(struct onnx_model *m, size_t from, const Onnx__GraphProto *g, const char *scope, const struct onnx_call *call, uint32_t rounds,
                      struct err *err)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!onnx_add_initialiser(m, g->initializer[i], scope, err))
            return false;
    for (size_t i = 0; i < g->n_node; i++)
        if (!onnx_link_node(m, (uint32_t)(from + i), g->node[i], scope, call, err))
            return false;
        else
            m->nodes[from + i].rounds = rounds;
    return true;
}

/* The value of a body's output; NO_ID, with a refusal, if nothing makes it. */
static uint32_t made_inside(struct onnx_model *m, const struct onnx_node *n, const Onnx__ValueInfoProto *output, const char *scope, struct err *err)
{
    uint32_t id = onnx_value_seen(m, scope, output->name ? output->name : "");
    if (m->values[id].producer != NO_ID || m->values[id].constant || m->values[id].shaped)
        return id;
    onnx_refuse(m, n, err, "its body does not make its output %.80s", output->name ? output->name : "");
    return NO_ID;
}

/* ---- If ------------------------------------------------------------------------------------------------------------- */

static bool is_settled(const struct onnx_model *m, uint32_t value)
{
    return value != NO_ID && m->values[value].known && onnx_elements(&m->values[value]) == 1;
}

static const Onnx__GraphProto *body_of(const struct onnx_model *m, const struct onnx_node *n, const char *name)
{
    const Onnx__AttributeProto *p = onnx_attribute(n, name);
    return p && p->has_g ? onnx_unpack_graph(&p->g, m->arena) : NULL;
}

static const Onnx__GraphProto *longer_branch(const struct onnx_model *m, const struct onnx_node *n)
{
    const Onnx__GraphProto *a = body_of(m, n, "then_branch"), *b = body_of(m, n, "else_branch");
    return a && b && b->n_node > a->n_node ? b : a;
}

/* The input that a user can set to settle a value: the only input that the value depends on, or the value itself. NULL if neither is a single
   number. */
static const struct onnx_value *chosen_by(const struct onnx_model *m, uint32_t value, uint32_t depth)
{
    const struct onnx_value *v = &m->values[value], *by = NULL;
    const struct onnx_node *n = v->producer == NO_ID ? NULL : &m->nodes[v->producer];
    uint32_t n_open = 0;
    for (uint32_t i = 0; n && depth && i < n->n_inputs; i++)
        if (onnx_in(m, n, i) && !onnx_in(m, n, i)->constant && !onnx_in(m, n, i)->known) {
            by = chosen_by(m, n->inputs[i], depth - 1);
            n_open++;
        }
    if (n_open == 1 && by && by->producer == NO_ID)
        return by;
    return v->shaped && onnx_elements(v) == 1 ? v : NULL;
}

static const char *how_to_choose(const struct onnx_model *m, uint32_t value)
{
    enum { DEEPEST_CHOICE = 8 };
    const struct onnx_value *v = value == NO_ID ? NULL : chosen_by(m, value, DEEPEST_CHOICE);
    const char *want = !v ? "" : v->type == ONNX_BOOL ? "1 or 0" : "NUMBER";
    return v ? arena_printf(m->arena, "say what it will be with --set data.%.80s=%s", v->name, want) : "export the model without it";
}

bool unfold_if(struct onnx_model *m, size_t id, struct err *err)
{
    struct onnx_node taken = m->nodes[id];
    bool known = taken.n_inputs && is_settled(m, taken.inputs[0]);
    if (!known && !m->approximate)
        return onnx_refuse(m, &m->nodes[id], err, "its condition is known only while the model runs; %s, or price the longer branch with "
                                                  "--approximate", how_to_choose(m, taken.n_inputs ? taken.inputs[0] : NO_ID));
    const Onnx__GraphProto *g = known ? body_of(m, &taken, m->values[taken.inputs[0]].known[0] != 0 ? "then_branch" : "else_branch")
                                      : longer_branch(m, &taken);
    if (!g || g->n_output != taken.n_outputs)
        return onnx_refuse(m, &m->nodes[id], err, "has no branch of %u outputs for its condition", taken.n_outputs);
    const char *scope = scope_inside(m, &m->nodes[id], err);
    if (!scope || !onnx_make_room(m, id + 1, g->n_node + taken.n_outputs, err))
        return false;
    onnx_retire(m, id, known ? "the branch that is taken" : "the longer of two branches that data choose from");
    m->nodes[id].rough = !known;
    if (!link_body(m, id + 1, g, scope, taken.call, taken.rounds, err))
        return false;
    for (uint32_t i = 0; i < taken.n_outputs; i++) {
        uint32_t from = made_inside(m, &m->nodes[id], g->output[i], scope, err);
        if (from == NO_ID)
            return false;
        if (taken.outputs[i] != NO_ID)
            onnx_put(m, id + 1 + g->n_node + i, ONNX_OP_IDENTITY, 1, &from, taken.outputs[i]);
    }
    return true;
}

/* ---- Loop, Scan ----------------------------------------------------------------------------------------------------------- */

static bool carry(struct onnx_model *m, struct onnx_node *n, struct onnx_loop *l, uint32_t first, struct err *err)
{
    l->carried = ARENA_ARRAY(m->arena, uint32_t, l->n_carried);
    for (uint32_t i = 0; i < l->n_carried; i++) {
        l->carried[i] = n->inputs[first + i];
        if (l->carried[i] == NO_ID)
            return onnx_refuse(m, n, err, "carries a value that is left out");
    }
    n->loop = l;
    return true;
}

/* Inputs: values carried, then tensors read row by row. Outputs: values carried, then values stacked. */
static bool start_scan(struct onnx_model *m, struct onnx_node *n, struct err *err)
{
    static const char *const others[] = { "scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions" };
    const Onnx__GraphProto *g = body_of(m, n, "body");
    int64_t scanned = onnx_int(n, "num_scan_inputs", 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const Onnx__AttributeProto *p = onnx_attribute(n, others[i]);
        for (size_t k = 0; p && k < p->n_ints; k++)
            if (p->ints[k] != 0)
                return onnx_refuse(m, n, err, "%s: want rows along the first dimension, forwards", others[i]);
    }
    if (m->opset < 9)
        return onnx_refuse(m, n, err, "has another form before opset 9; export again");
    if (!g || scanned < 1 || scanned > n->n_inputs || g->n_input != n->n_inputs || g->n_output != n->n_outputs ||
        n->n_outputs < n->n_inputs - (uint32_t)scanned)
        return onnx_refuse(m, n, err, "its body does not have the inputs and outputs of a scan of %jd inputs", (intmax_t)scanned);
    struct onnx_loop *l = ARENA_NEW(m->arena, struct onnx_loop);
    uint32_t n_carried = n->n_inputs - (uint32_t)scanned;
    *l = (struct onnx_loop){ .body = g, .scan = true, .n_carried = n_carried, .n_stacked = n->n_outputs - n_carried,
                             .n_scanned = (uint32_t)scanned, .condition = NO_ID };
    return carry(m, n, l, 0, err);
}

/* Inputs: trip count, condition, values carried. Outputs: values carried, then values stacked. */
static bool start_loop(struct onnx_model *m, struct onnx_node *n, struct err *err)
{
    const Onnx__GraphProto *g = body_of(m, n, "body");
    uint32_t n_carried = max_u32(n->n_inputs, 2) - 2;
    if (!g || g->n_input != n_carried + 2 || g->n_output != n->n_outputs + 1 || n->n_outputs < n_carried)
        return onnx_refuse(m, n, err, "its body does not have the inputs and outputs of a loop that carries %u values", n_carried);
    struct onnx_loop *l = ARENA_NEW(m->arena, struct onnx_loop);
    *l = (struct onnx_loop){ .body = g, .n_carried = n_carried, .n_stacked = n->n_outputs - n_carried,
                             .condition = n->n_inputs > 1 ? n->inputs[1] : NO_ID };
    return carry(m, n, l, 2, err);
}

/* A Gather reads this round's row of each scanned tensor. The body's inputs are the values carried, then the rows. */
static void bind_rows(struct onnx_model *m, size_t at, const struct onnx_loop *l, const uint32_t *inputs, const char *scope)
{
    uint32_t round = onnx_number(m, arena_printf(m->arena, "%s#round", scope), ONNX_INT64, (double)l->done);
    for (uint32_t i = 0; i < l->n_scanned; i++) {
        uint32_t row = onnx_value(m, arena_printf(m->arena, "%s#row%u", scope, i));
        onnx_put(m, at + i, ONNX_OP_GATHER, 2, (uint32_t[]){ inputs[l->n_carried + i], round }, row);
        onnx_bind(m, scope, l->body->input[l->n_carried + i]->name, row);
    }
    for (uint32_t i = 0; i < l->n_carried; i++)
        onnx_bind(m, scope, l->body->input[i]->name, l->carried[i]);
}

static void bind_round(struct onnx_model *m, struct onnx_loop *l, const char *scope)
{
    const char *round = arena_printf(m->arena, "%s#round", scope), *going = arena_printf(m->arena, "%s#going", scope);
    uint32_t condition = l->condition == NO_ID ? onnx_number(m, going, ONNX_BOOL, 1) : l->condition;
    onnx_bind(m, scope, l->body->input[0]->name, onnx_number(m, round, ONNX_INT64, (double)l->done));
    onnx_bind(m, scope, l->body->input[1]->name, condition);
    for (uint32_t i = 0; i < l->n_carried; i++)
        onnx_bind(m, scope, l->body->input[2 + i]->name, l->carried[i]);
}

/* Puts the nodes of one round before the Loop. Their results become the Loop's carried and stacked values. */
static bool run_round(struct onnx_model *m, size_t id, struct err *err)
{
    struct onnx_loop *l = m->nodes[id].loop;
    const struct onnx_call *call = m->nodes[id].call;
    uint32_t rounds = max_u32(m->nodes[id].rounds, 1) * max_u32(l->rolled, 1);
    const char *scope = l->scope = scope_inside(m, &m->nodes[id], err);
    size_t n_new = l->n_scanned + l->body->n_node;
    if (!scope || !onnx_make_room(m, id, n_new, err))
        return false;
    if (l->scan)
        bind_rows(m, id, l, m->nodes[id + n_new].inputs, scope);
    else
        bind_round(m, l, scope);
    if (!link_body(m, id + l->n_scanned, l->body, scope, call, rounds > 1 ? rounds : 0, err))
        return false;
    uint32_t *stacked = ARENA_ARRAY(m->arena, uint32_t, (l->done + 1) * l->n_stacked);
    if (l->done)
        memcpy(stacked, l->stacked, l->done * l->n_stacked * sizeof *stacked);
    for (uint32_t i = 0; i < l->body->n_output; i++) {
        uint32_t made = made_inside(m, &m->nodes[id + n_new], l->body->output[i], scope, err), k = l->scan ? i + 1 : i;
        if (made == NO_ID)
            return false;
        *(k == 0 ? &l->condition : k <= l->n_carried ? &l->carried[k - 1] : &stacked[l->done * l->n_stacked + k - 1 - l->n_carried]) = made;
    }
    l->stacked = stacked;
    l->done++;
    return true;
}

/* Joins result i of all rounds along a new first dimension. */
static void stack(struct onnx_model *m, size_t at, const struct onnx_loop *l, uint32_t i, uint32_t result)
{
    uint32_t *rows = ARENA_ARRAY(m->arena, uint32_t, l->done);
    for (uint64_t r = 0; r < l->done; r++) {
        rows[r] = onnx_value(m, arena_printf(m->arena, "%s#row%ju", m->values[result].name, (uintmax_t)r));
        onnx_put_axis(m, at + r, ONNX_OP_UNSQUEEZE, l->stacked[r * l->n_stacked + i], rows[r], 0);
    }
    onnx_put(m, at + l->done, ONNX_OP_CONCAT, (uint32_t)l->done, rows, result);
}

static bool end_loop(struct onnx_model *m, size_t id, struct err *err)
{
    struct onnx_loop *l = m->nodes[id].loop;
    uint32_t *outputs = m->nodes[id].outputs;
    for (uint32_t i = l->n_carried; i < m->nodes[id].n_outputs && !l->done; i++)
        if (outputs[i] != NO_ID && m->values[outputs[i]].n_readers)
            return onnx_refuse(m, &m->nodes[id], err, "its body never runs, but another node reads an output that it would stack");
    if (!onnx_make_room(m, id + 1, l->n_carried + l->n_stacked * (l->done + 1), err))
        return false;
    onnx_retire(m, id, m->nodes[id].rough ? "one of the rounds that data count" : "its rounds");
    for (uint32_t i = 0; i < l->n_carried; i++)
        if (outputs[i] != NO_ID)
            onnx_put(m, id + 1 + i, ONNX_OP_IDENTITY, 1, &l->carried[i], outputs[i]);
    for (uint32_t i = 0; i < l->n_stacked && l->done; i++)
        if (outputs[l->n_carried + i] != NO_ID)
            stack(m, id + 1 + l->n_carried + i * (l->done + 1), l, i, outputs[l->n_carried + i]);
    return true;
}

/* ---- a Loop of equal rounds --------------------------------------------------------------------------------------- */

enum { LEAST_ROLLED = 17 };             /* loops of fewer rounds are written out */

static bool body_reads(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_input; k++)
            if (text_is(g->node[i]->input[k], name))
                return true;
    return false;
}

/* True if no round differs from another: the body has no bodies of its own, and neither reads the round's number nor stacks results. */
static bool has_equal_rounds(const struct onnx_loop *l)
{
    for (size_t i = 0; i < l->body->n_node; i++)
        for (size_t k = 0; k < l->body->node[i]->n_attribute; k++)
            if (l->body->node[i]->attribute[k]->has_g)
                return false;
    return !l->n_stacked && l->n_carried && l->body->input[0]->name && !body_reads(l->body, l->body->input[0]->name);
}

/* One round stands for all of them in inference without contents. Training and execution need each round. */
static void roll(struct onnx_model *m, const struct onnx_node *n, double trips)
{
    const struct onnx_options *o = m->options;
    bool wanted = trips >= LEAST_ROLLED && trips <= UINT32_MAX / max_u32(n->rounds, 1) && o->inference && !o->contents;
    n->loop->rolled = wanted && has_equal_rounds(n->loop) ? (uint32_t)trips : 0;
}

/* Checks after the first round that it hands on tensors of the sizes that it got, so that the next round is equal. If not, the rounds are written
   out after all. */
static void check_roll(struct onnx_model *m, const struct onnx_node *n, const uint32_t *first)
{
    bool alike = true;
    for (uint32_t i = 0; i < n->loop->n_carried; i++) {
        const struct onnx_value *a = &m->values[first[i]], *b = &m->values[n->loop->carried[i]];
        alike &= a->shaped && b->shaped && a->n_dims == b->n_dims && memcmp(a->dims, b->dims, a->n_dims * sizeof *a->dims) == 0 && !b->known;
    }
    for (size_t i = 0; i < m->n_nodes && !alike; i++)
        if (m->nodes[i].scope == n->loop->scope)
            m->nodes[i].rounds = n->rounds;
    n->loop->rolled = alike ? n->loop->rolled : 0;
}

/* With --approximate, a trip count that depends on data is taken to be one. */
bool unfold_loop(struct onnx_model *m, size_t id, struct err *err)
{
    struct onnx_node *n = &m->nodes[id];
    if (!n->loop && !start_loop(m, n, err))
        return false;
    uint32_t trips = n->n_inputs ? n->inputs[0] : NO_ID, condition = n->loop->condition;
    bool known = (trips != NO_ID || condition != NO_ID) && (trips == NO_ID || is_settled(m, trips)) &&
                 (condition == NO_ID || is_settled(m, condition));
    if (!known && !m->approximate)
        return onnx_refuse(m, n, err, "its number of rounds is known only while the model runs; %s, or price a single round with --approximate",
                           how_to_choose(m, trips == NO_ID || is_settled(m, trips) ? condition : trips));
    n->rough |= !known;
    if (known && n->loop->done == 0 && trips != NO_ID)
        roll(m, n, m->values[trips].known[0]);
    if (n->loop->rolled && n->loop->done == 1)
        check_roll(m, n, n->inputs + 2);
    bool ended = n->loop->rolled && n->loop->done && (condition == NO_ID || m->values[condition].known[0] != 0) ? true : known ? (trips != NO_ID && (double)n->loop->done >= m->values[trips].known[0]) ||
                         (condition != NO_ID && m->values[condition].known[0] == 0) : n->loop->done > 0;
    return ended ? end_loop(m, id, err) : run_round(m, id, err);
}

bool unfold_scan(struct onnx_model *m, size_t id, struct err *err)
{
    struct onnx_node *n = &m->nodes[id];
    if (!n->loop && !start_scan(m, n, err))
        return false;
    const struct onnx_value *rows = onnx_in(m, n, n->loop->n_carried);
    if (!rows || !rows->n_dims)
        return onnx_refuse(m, n, err, "the tensor that it reads row by row has no rows");
    return n->loop->done < rows->dims[0] ? run_round(m, id, err) : end_loop(m, id, err);
}

/* ---- sequences ------------------------------------------------------------------------------------------ */

enum { MOST_ITEMS = 1000 };

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

/* The items of the sequence that the node reads first; NULL if refused. */
static const struct onnx_items *items_read(const struct onnx_model *m, size_t id, struct err *err)
{
    const struct onnx_value *x = onnx_in(m, &m->nodes[id], 0);
    if (!x || !x->items)
        onnx_refuse(m, &m->nodes[id], err, "reads a sequence that nothing here makes; export tensors");
    return x ? x->items : NULL;
}

bool unfold_sequence_construct(struct onnx_model *m, size_t id, struct err *err)
{
    const struct onnx_node *n = &m->nodes[id];
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] == NO_ID)
            return onnx_refuse(m, n, err, "leaves an item out");
    become_sequence(m, id, n->n_inputs, n->inputs);
    return true;
}

/* Replaces an Identity of a sequence. */
bool unfold_sequence_alias(struct onnx_model *m, size_t id, struct err *err)
{
    const struct onnx_items *items = items_read(m, id, err);
    if (items)
        become_sequence(m, id, items->n, items->values);
    return items;
}

/* The position in a sequence that input i gives; by default the last one. Negative positions count from the end, and an insertion may be past the
 * last item. False if the position is not known, or out of range. */
static bool item_position(uint32_t *at, const struct onnx_model *m, const struct onnx_node *n, uint32_t i, uint32_t items, bool insertion)
{
    const struct onnx_value *v = onnx_in(m, n, i);
    if (v && (!v->known || onnx_elements(v) != 1))
        return false;
    int64_t place = v ? onnx_whole(v->known[0]) : (int64_t)items + insertion - 1;
    return onnx_axis(at, place, place < 0 ? items : items + insertion);
}

static bool refuse_position(const struct onnx_model *m, const struct onnx_node *n, struct err *err)
{
    return onnx_refuse(m, n, err, "a place in a sequence that is outside it, or known only while the model runs; export tensors");
}

static bool change_sequence(struct onnx_model *m, size_t id, bool insertion, struct err *err)
{
    const struct onnx_items *old = items_read(m, id, err);
    const struct onnx_node *n = &m->nodes[id];
    uint32_t at, made = 0, *values = old ? ARENA_ARRAY(m->arena, uint32_t, old->n + 1) : NULL;
    if (!old)
        return false;
    if ((insertion && (!onnx_in(m, n, 1) || old->n == MOST_ITEMS)) || !item_position(&at, m, n, insertion ? 2 : 1, old->n, insertion))
        return refuse_position(m, n, err);
    for (uint32_t i = 0; i < old->n; i++) {
        if (i == at && insertion)
            values[made++] = n->inputs[1];
        if (i != at || insertion)
            values[made++] = old->values[i];
    }
    if (at == old->n)
        values[made++] = n->inputs[1];
    become_sequence(m, id, made, values);
    return true;
}

bool unfold_sequence_insert(struct onnx_model *m, size_t id, struct err *err) { return change_sequence(m, id, true, err); }
bool unfold_sequence_erase(struct onnx_model *m, size_t id, struct err *err) { return change_sequence(m, id, false, err); }

/* Turns a node into another operator with other inputs, and counts their readers. */
static void become_reader(struct onnx_model *m, struct onnx_node *n, enum onnx_op op, uint32_t n_inputs, const uint32_t *inputs)
{
    onnx_drop_inputs(m, n);
    n->inputs = ARENA_ARRAY(m->arena, uint32_t, n_inputs);
    for (uint32_t i = 0; i < n_inputs; i++)
        m->values[n->inputs[i] = inputs[i]].n_readers++;
    n->n_inputs = n_inputs;
    n->op = onnx_operator_by_id(m->operators, op);
}

bool unfold_sequence_at(struct onnx_model *m, size_t id, struct err *err)
{
    const struct onnx_items *items = items_read(m, id, err);
    uint32_t at;
    if (!items)
        return false;
    if (!item_position(&at, m, &m->nodes[id], 1, items->n, false))
        return refuse_position(m, &m->nodes[id], err);
    become_reader(m, &m->nodes[id], ONNX_OP_IDENTITY, 1, &items->values[at]);
    return true;
}

/* With new_axis, each item is unsqueezed first. */
bool unfold_sequence_concat(struct onnx_model *m, size_t id, struct err *err)
{
    const struct onnx_items *items = items_read(m, id, err);
    if (!items)
        return false;
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
        onnx_put_axis(m, id + i, ONNX_OP_UNSQUEEZE, items->values[i], rows[i], axis);
    }
    become_reader(m, &m->nodes[id + (stacked ? items->n : 0)], ONNX_OP_CONCAT, items->n, rows);
    return true;
}

bool unfold_sequence_length(struct onnx_model *m, size_t id, struct err *err)
{
    const struct onnx_items *items = items_read(m, id, err);
    if (!items)
        return false;
    uint32_t n = onnx_number(m, arena_printf(m->arena, "#length%zu", m->n_values), ONNX_INT64, items->n);
    become_reader(m, &m->nodes[id], ONNX_OP_IDENTITY, 1, &n);
    return true;
}

/* Sizes of the parts, given one by one, as one size for all but the last, or 1 by default. Returns their number; 0:
 * refused. */
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

/* The node becomes a Split; if the axis disappears, each part is squeezed. */
static void split_into(struct onnx_model *m, size_t id, uint32_t n, double *sizes, bool squeezed, int64_t axis)
{
    uint32_t *parts = ARENA_ARRAY(m->arena, uint32_t, n), *items = ARENA_ARRAY(m->arena, uint32_t, n), whole = m->nodes[id].outputs[0];
    const char *name = m->values[whole].name;
    for (uint32_t i = 0; i < n; i++) {
        parts[i] = items[i] = onnx_value(m, arena_printf(m->arena, "#part%u of %s", i, name));
        m->values[parts[i]].producer = (uint32_t)id;
        if (squeezed) {
            items[i] = onnx_value(m, arena_printf(m->arena, "#item%u of %s", i, name));
            onnx_put_axis(m, id + 1 + i, ONNX_OP_SQUEEZE, parts[i], items[i], axis);
        }
    }
    uint32_t inputs[2] = { m->nodes[id].inputs[0], onnx_number(m, arena_printf(m->arena, "#sizes of %s", name), ONNX_INT64, 0) };
    struct onnx_value *v = &m->values[inputs[1]];
    v->n_dims = 1;
    v->dims[0] = n;
    v->known = sizes;
    become_reader(m, &m->nodes[id], ONNX_OP_SPLIT, 2, inputs);
    m->nodes[id].outputs = parts;
    m->nodes[id].n_outputs = n;
    m->values[whole].items = new_items(m, n, items);
}

bool unfold_sequence_split(struct onnx_model *m, size_t id, struct err *err)
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

