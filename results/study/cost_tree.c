/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cost_tree.c - where the time of one step goes: part, phase, operation.
 *
 * Parts and phases are sums over the spans of the timeline. In a forward or backward phase, each operation's plan counts as often as its stage
 * ran; recomputation consists of the forward plans of the layers that run again. The phase minus its operations is the remainder, for which no
 * plan accounts: stash copies, accumulation, shared norms, a slow chip. Layers that differ only by their number are shown as one:
 * encoder3/attention and encoder7/attention become encoder/attention.
 */
#include "results/study/explain.h"
#include "system-model/graph/graph.h"
#include "system-model/plan/stage_program.h"

#include <ctype.h>

#define VECTOR "worst tile: elements over tiles and workers x cycles of the vertex's inner loop, plus its start"
const char *const cost_formulas[N_PARTS] = {
    [PART_MATMUL] = "worst tile: padded MAC / MAC per cycle / efficiency of the inner loop, plus weight loads and vertex starts",
    [PART_CONV] = "worst tile: padded MAC / MAC per cycle / efficiency of the inner loop, plus weight loads and vertex starts",
    [PART_NORM] = VECTOR,
    [PART_ELEMENTWISE] = VECTOR,
    [PART_SOFTMAX] = VECTOR,
    [PART_EMBEDDING] = VECTOR,
    [PART_POOLING] = VECTOR,
    [PART_LSTM] = "time steps x (matmuls of the gates + element-wise cell)",
    [PART_LOSS] = VECTOR,
    [PART_REARRANGE] = "bytes per tile / copy rate, plus vertex starts",
    [PART_EXCHANGE] = "worst tile: bytes received / (B/cycle x efficiency), plus the transit of a word across the chip",
    [PART_SYNC] = "supersteps x (sync of the tiles + start of a compute set)",
    [PART_ACTIVATIONS] = "all-reduce of activations, and of their gradients, over the IPUs that a layer is cut over: as all_reduce",
    [PART_STAGE_COPY] = "in each pipeline cycle: bytes on the busiest link / (rate x efficiency) + hops + sync; and the copies of the stash",
    [PART_BUBBLE] = "pipeline cycles x (slowest stage - own stage), fill and drain, and other IPUs' turns in the weight update",
    [PART_ACCUMULATE] = VECTOR,
    [PART_ALL_REDUCE] = "steps of the collective x (bytes on the busiest link / (rate x efficiency) + hops + sync) + sums on the tiles",
    [PART_OPTIMIZER] = VECTOR,
    [PART_STREAMING] = "moments x host latency + bytes of state x IPUs that move state x (1 / (rate of the board x efficiency) + time of the gateway), in and out",
    [PART_HOST] = "launch, input and outputs of a call / steps per call; uploads of optimizer values; in each micro-batch, a turn with the host and the part of input and results that is not hidden, such as their way over I/O tiles",
};
#undef VECTOR

/* ---- leaves ----------------------------------------------------------------------------- */

struct leaf { enum part part; const char *phase, *operation; uint64_t ipu_cycles; };
struct leaves {
    struct leaf *items; size_t n, cap;
    const struct timeline *t;
    const char **layer_classes;         /* names of layers without their numbers */
    const enum ahead *ahead;            /* graph_for_later_layers() */
    struct arena *a;
};

static void add_leaf(struct leaves *l, enum part part, const char *phase, const char *operation, uint64_t ipu_cycles)
{
    if (!ipu_cycles)
        return;
    for (size_t i = 0; i < l->n; i++) {
        struct leaf *at = &l->items[i];
        if (at->part == part && text_is(at->phase, phase) && strcmp(at->operation, operation) == 0) {
            at->ipu_cycles += ipu_cycles;
            return;
        }
    }
    LIST_ADD(l, l->a, (struct leaf){ part, phase, operation, ipu_cycles });
}

static const char *without_numbers(const char *name, struct arena *a)
{
    char *text = arena_strdup(a, name), *to = text;
    for (const char *from = text; *from; from++)
        if (!isdigit((unsigned char)*from))
            *to++ = *from;
    *to = 0;
    return text;
}

static void add_ipu_cycles(struct leaves *l, const char *phase, const char *operation, const struct cycles *c, uint64_t times)
{
    for (int k = 0; k < N_PARTS; k++)
        add_leaf(l, (enum part)k, phase, operation, c->part[k] * times);
}

static void subtract_costs(struct cycles *from, const struct cycles *c, uint64_t times)
{
    for (int k = 0; k < N_PARTS; k++)
        from->part[k] -= c->part[k] * times;
}

enum pass_kind { RUN_FORWARD, RUN_BACKWARD, RUN_AGAIN, RUN_ANYWAY };

/* Adds `times` runs of one operation in one pass, and subtracts its cycles from the phase's remainder. */
static void add_operation(struct leaves *l, struct cycles *left, const struct stage_plan *s, uint32_t op_id, enum pass_kind pass, const char *phase,
                          uint64_t times)
{
    const struct graph *g = l->t->plan->graph;
    const struct op *op = &g->ops[op_id];
    const struct op_plan *plan = s->compiled->op_plans[op_id];
    struct cycles all = {0}, shared = {0};
    cycles_add_plan(&all, plan, op_part(op), op_repeats(g, op));
    if (pass == RUN_AGAIN && plan_keeps_statistics(&l->t->plan->request))
        cycles_add_shared(&shared, plan, op_part(op), op_repeats(g, op));
    subtract_costs(&all, &shared, 1);
    const char *name = arena_printf(l->a, "%s of %s", op_kind_names[op->kind], l->layer_classes[op->layer_id]);
    add_ipu_cycles(l, phase, name, &all, times);
    subtract_costs(left, &all, times);
}

/* True if the pass runs this operation. What runs again in any backward pass counts as recomputation, too. */
static bool runs_in(const struct leaves *l, const struct stage_layers *s, uint32_t op_id, enum pass_kind pass)
{
    const struct graph *g = l->t->plan->graph;
    const struct op *op = &g->ops[op_id];
    assert(op->layer_id < g->n_layers);
    if (op->layer_id < s->first || op->layer_id >= s->first + s->n)
        return false;
    if (pass == RUN_AGAIN)
        return stage_runs_again(g, s, op_id, l->ahead);
    if (pass == RUN_ANYWAY)
        return op_runs_again(g, op);
    return (op->pass == PASS_FORWARD) == (pass != RUN_BACKWARD);
}

static void add_op_pass(struct leaves *l, struct cycles *left, const struct stage_plan *s, enum pass_kind pass, const char *phase,
                     uint64_t times)
{
    const struct plan *p = l->t->plan;
    const struct stage_layers layers = plan_stage_layers(p, (uint32_t)(s - p->stages));
    for (uint32_t i = 0; i < p->graph->n_ops; i++)
        if (runs_in(l, &layers, i, pass))
            add_operation(l, left, s, i, pass, phase, times);
}

/* Adds the forward or backward phase of a stage, which ran `times` times and took `total` cycles by part. */
static void add_stage_costs(struct leaves *l, const struct stage_plan *s, bool forward, const struct cycles *total, uint64_t times)
{
    const char *phase = span_kind_names[forward ? SPAN_FORWARD : SPAN_BACKWARD];
    struct cycles left = *total;
    add_op_pass(l, &left, s, forward ? RUN_FORWARD : RUN_BACKWARD, phase, times);
    if (!forward) {
        add_op_pass(l, &left, s, RUN_AGAIN, "recomputation", times);
        add_op_pass(l, &left, s, RUN_ANYWAY, "recomputation", times);
    }
    add_ipu_cycles(l, phase, "between operations", &left, 1);
}

/* ---- folds over the spans ------------------------------------------------------------------ */

struct stage_sum { struct cycles spent; uint64_t times; };

static void fold_spans(struct leaves *l, struct stage_sum *stages)
{
    const struct timeline *t = l->t;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct span *s = &t->spans[i];
        uint64_t times = (uint64_t)s->repeat * t->rows[s->row].n_alike;
        struct cycles parts = span_parts(t, s);
        if (s->kind == SPAN_FORWARD || s->kind == SPAN_BACKWARD) {
            struct stage_sum *sum = &stages[2 * s->stage + (s->kind == SPAN_BACKWARD)];
            cycles_add(&sum->spent, &parts, times);
            sum->times += times;
        } else {
            add_ipu_cycles(l, span_kind_names[s->kind], "", &parts, times);
        }
    }
}

static void collect_costs(struct leaves *l)
{
    const struct plan *p = l->t->plan;
    struct stage_sum *stages = ARENA_ARRAY(l->a, struct stage_sum, 2 * (size_t)p->n_stages);
    l->layer_classes = ARENA_ARRAY(l->a, const char *, p->graph->n_layers);
    l->ahead = graph_for_later_layers(p->graph, l->a);
    for (size_t i = 0; i < p->graph->n_layers; i++)
        l->layer_classes[i] = without_numbers(p->graph->layers[i].name, l->a);
    fold_spans(l, stages);
    for (uint32_t i = 0; i < 2 * p->n_stages; i++)
        if (stages[i].times)
            add_stage_costs(l, &p->stages[i / 2], i % 2 == 0, &stages[i].spent, stages[i].times);
}

/* ---- the tree ---------------------------------------------------------------------------------- */

static struct cost *child(struct cost *parent, const char *name, enum part part, size_t room, struct arena *a)
{
    for (size_t i = 0; i < parent->n_children; i++)
        if (text_is(parent->children[i].name, name))
            return &parent->children[i];
    if (!parent->children)
        parent->children = ARENA_ROOM(a, struct cost, room);
    parent->children[parent->n_children] = (struct cost){ .name = name, .part = part };
    return &parent->children[parent->n_children++];
}

static void sort(struct cost *c)
{
    for (size_t i = 0; i < c->n_children; i++)
        sort(&c->children[i]);
    SORT_BY(c->children, c->n_children, FALLING(struct cost, ipu_cycles), RISING(struct cost, name));
}

void cost_tree_build(struct cost *root, const struct timeline *t, struct arena *a)
{
    struct leaves l = { .t = t, .a = a };
    collect_costs(&l);
    *root = (struct cost){ .name = "step", .part = N_PARTS, .ipu_cycles = t->step_cycles * timeline_ipus(t) };
    for (size_t i = 0; i < l.n; i++) {
        const struct leaf *at = &l.items[i];
        struct cost *part = child(root, part_names[at->part], at->part, N_PARTS, a);
        struct cost *phase = child(part, at->phase, at->part, N_SPAN_KINDS + 1, a);
        part->ipu_cycles += at->ipu_cycles;
        phase->ipu_cycles += at->ipu_cycles;
        if (*at->operation)
            child(phase, at->operation, at->part, l.n, a)->ipu_cycles = at->ipu_cycles;
    }
    sort(root);
}

uint64_t timeline_ipus(const struct timeline *t)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < t->n_rows; r++)
        n += t->rows[r].n_alike;
    return n;
}

double cost_seconds(const struct cost *c, const struct timeline *t)
{
    return (double)c->ipu_cycles / (double)timeline_ipus(t) / t->plan->topology->machine->chip.clock_hz;
}

const struct cost *cost_tree_wrong(const struct cost *root)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < root->n_children; i++) {
        const struct cost *wrong = cost_tree_wrong(&root->children[i]);
        if (wrong)
            return wrong;
        if (root->children[i].ipu_cycles > root->ipu_cycles)
            return root;
        sum += root->children[i].ipu_cycles;
    }
    return root->n_children && sum != root->ipu_cycles ? root : NULL;
}
