/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage_moments.c - the bytes that live while a stage's tasks run, operation by operation.
 *
 * While an operation works, these live: tensors that were made, received or restored and that the task still reads or keeps (stage_program.c); the
 * results of the operation, unless it works in place; the copies that a norm makes; and temporaries. The host's inputs are counted apart, as buffers.
 * A tensor counts as if every tile held as much of it as the fullest tile, which must have room for it. A tensor that only waits for its backward
 * operation counts as spread evenly, because waiting tensors are full on different tiles.
 *
 * A product whose code others share runs in a subgraph that PopART calls by value (willow/src/popx/op/callx.cpp:94-190). During the call its weights
 * exist twice, and so does its input, if the caller reads it again; at the end its result exists twice, while it is copied out. The
 * vendor's BERT, GPT-2 and ViT copy each input when it is first read (subgraphCopyingStrategy JustInTime; graphcore/examples 3cc8f81
 * nlp/bert/pytorch/ipu_options.py:113). Left out: other programs copy on entry, the default, so that a called run of several operations holds the weights of
 * all of them.
 *
 * Before serial steps begin, the input that they share is copied to the tiles that multiply it, and weights are copied into the order of the steps;
 * the steps read these copies (poplin Convolution.cpp:2234-2243, 2400-2448 and 2660-2676 at 7eac0f26: transformPreSerial, tileLevelActs). If nothing
 * else reads an operand, it is freed before the steps make their results.
 *
 * A backward task takes over the stash of its micro-batch tensor by tensor, each when it is first read; until then the tensor is `waiting`.
 */
#include "system-model/plan/stage_program.h"
#include "system-model/graph/graph.h"

struct stage_walk {
    const struct graph *g; const struct stage_plan *s;
    bool *there, *waits;                /* by tensor. there: it is live; waits: it is in the stash of the task's micro-batch */
    uint64_t waiting_bytes, live_bytes; /* the bytes of waiting tensors, and of live ones */
    uint64_t tile_bytes;                /* live_bytes, each tensor counted as uneven as it lies, unless it only waits for a backward operation */
    uint64_t most_bytes, received_bytes;        /* received_bytes: bytes of the tensors that the neighbour has sent to the task */
    const uint32_t *code_uses;          /* by code: how often the stage runs it; NULL if calls work on their operands in place */
};

static bool lives(const struct stage_walk *w, uint32_t id)
{
    enum tensor_role role = w->g->tensors[id].role;
    return role == ROLE_ACTIVATION || role == ROLE_GRADIENT || role == ROLE_WEIGHT_GRADIENT;
}

static uint64_t lying_bytes(const struct stage_walk *w, uint32_t id) { return w->s->compiled->tensors[id].lying_bytes; }

/* Adds or removes a tensor that is not in use. A tensor that only waits for a backward operation counts as even, any other as uneven as it lies. */
static void hold_tensor(struct stage_walk *w, uint32_t id, bool there)
{
    if (w->there[id] == there || !lives(w, id))
        return;
    const struct tensor_room *room = &w->s->compiled->tensors[id];
    uint64_t bytes = room->bytes, at_rest = w->g->tensors[id].read_backward ? bytes : room->lying_bytes;
    w->there[id] = there;
    w->live_bytes = there ? w->live_bytes + bytes : w->live_bytes - bytes;
    w->tile_bytes = there ? w->tile_bytes + at_rest : w->tile_bytes - at_rest;
    w->waiting_bytes -= there && w->waits[id] ? bytes : 0;
    w->waits[id] &= !there;
}

static bool is_earlier_input(const struct op *op, uint32_t k, uint32_t id)
{
    for (uint32_t j = 0; j < k && j < op->n_inputs; j++)
        if (op->inputs[j] == id)
            return true;
    return false;
}

/* The bytes that operands, results and state of an operation take while it works, less those that they take at rest. */
static uint64_t more_at_work(const struct stage_walk *w, const struct op *op)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
        uint32_t id = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
        if (w->there[id] && w->g->tensors[id].read_backward)
            bytes += is_earlier_input(op, k, id) ? 0 : lying_bytes(w, id) - w->s->compiled->tensors[id].bytes;
        else if (w->g->tensors[id].role == ROLE_STATE && w->g->tensors[id].place != STATE_ON_CHIP)
            bytes += w->s->compiled->tensors[id].bytes;
    }
    return bytes;
}

static bool is_freed(const struct op_sequence *q, uint32_t i, uint32_t id)
{
    for (uint32_t k = q->freed_first[i]; k < q->freed_first[i + 1]; k++)
        if (q->freed.ids[k] == id)
            return true;
    return false;
}

/* The bytes of the copy that a norm makes of its input. The norm whitens the copy, from which it makes its result; in its backward pass it
 * multiplies the copy by the gradient, which makes one more tensor (poplin's normWhiten, normScale, normParamGradients). The copy takes the place
 * of an input that is not read again. A batch norm whose statistics are known makes no copy. */
static uint64_t normalised_bytes(const struct stage_walk *w, const struct op_sequence *q, uint32_t i)
{
    const struct op *op = &w->g->ops[q->ops.ids[i]];
    bool known = op->kind == OP_BATCH_NORM && w->s->compiled->options.inference, forward = op->pass == PASS_FORWARD;
    uint32_t input = op_forward(w->g, op)->inputs[0];
    if (op->kind == OP_RMS_NORM)            /* the input in fp32, and its square or gradient */
        return 8 * lying_bytes(w, input) / data_type_bytes(w->g->tensors[input].type);
    if ((op->kind != OP_BATCH_NORM && op->kind != OP_GROUP_NORM && op->kind != OP_LAYER_NORM) || known || (forward && is_freed(q, i, input)))
        return 0;
    return lying_bytes(w, input);
}

/* The bytes that an operation takes besides live tensors. The sums of a convolution are its result if no tiles share them, nothing casts them and
 * no steps assemble them; such sums count only once. */
static uint64_t temp_bytes_besides(const struct stage_walk *w, uint32_t op_id)
{
    const struct op *op = &w->g->ops[op_id];
    const struct op_plan *p = w->s->compiled->op_plans[op_id];
    if (op->kind != OP_CONV)
        return p->temp_bytes_per_tile;
    bool one_step = p->split.in_chans == 1 && p->split.kernel == 1 && p->split.serial_in == 1 && p->split.serial_out == 1;
    bool same_type = data_type_bytes(w->g->tensors[op->outputs[0]].type) == data_type_bytes(p->partials == PARTIALS_FP16 ? TYPE_FP16 : TYPE_FP32);
    if (!one_step || !same_type)
        return p->temp_bytes_per_tile;
    return p->temp_bytes_per_tile - min_u64(lying_bytes(w, op->outputs[0]) / w->s->compiled->options.n_tiles, p->temp_bytes_per_tile);
}

static bool is_called(const struct stage_walk *w, uint32_t op_id)
{
    enum part part = op_part(&w->g->ops[op_id]);
    return (part == PART_CONV || part == PART_MATMUL) && w->code_uses && w->code_uses[w->s->compiled->op_plans[op_id]->code_id] > 1;
}

/* The bytes of a call's operands that exist a second time while it works, because they live on outside the call. */
static uint64_t called_bytes(const struct stage_walk *w, const struct op_sequence *q, uint32_t i)
{
    const struct op *op = &w->g->ops[q->ops.ids[i]];
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        bytes += is_freed(q, i, op->inputs[k]) ? 0 : lying_bytes(w, op->inputs[k]);
    return bytes;
}

static uint64_t moment_tile_bytes(const struct stage_walk *w, const struct stage_moment *m)
{
    return ceil_div(m->waiting_bytes + m->live_bytes, w->s->compiled->options.n_tiles) + m->temp_bytes_per_tile;
}

/* Keeps the moment if its layer never needed more; of equal moments the last is kept. */
static void keep_most(struct stage_walk *w, uint32_t layer_id, struct stage_moment now, enum task_kind task)
{
    struct stage_moment *most = &w->s->layers[layer_id - w->s->first_layer].moments[task];
    if (moment_tile_bytes(w, &now) >= moment_tile_bytes(w, most))
        *most = now;
}

/* The bytes that a product saves by freeing its first operand, once it is copied, before results are made. It saves at most the results' bytes,
 * because the copy and the operand exist together before that. In a product that is turned round the first operand serves as weights. */
static uint64_t taken_over_bytes(const struct stage_walk *w, const struct op_sequence *q, uint32_t i)
{
    const struct op *op = &w->g->ops[q->ops.ids[i]];
    const struct op_plan *p = w->s->compiled->op_plans[q->ops.ids[i]];
    if (op->pass == PASS_BACKWARD_WEIGHT || !(p->turned ? p->weights_before : p->input_before) || !is_freed(q, i, op->inputs[0]) || !w->there[op->inputs[0]])
        return 0;
    return min_u64(lying_bytes(w, op->inputs[0]), lying_bytes(w, op->outputs[0]));
}

static void note(struct stage_walk *w, const struct op_sequence *q, uint32_t i, bool called, enum task_kind task)
{
    uint32_t op_id = q->ops.ids[i];
    const struct op *op = &w->g->ops[op_id];
    uint64_t live = w->tile_bytes + more_at_work(w, op) + normalised_bytes(w, q, i) + (called ? called_bytes(w, q, i) : 0) - taken_over_bytes(w, q, i);
    keep_most(w, op->layer_id, (struct stage_moment){ w->waiting_bytes, live, temp_bytes_besides(w, op_id) }, task);
    w->most_bytes = max_u64(w->most_bytes, w->waiting_bytes + w->live_bytes);
}

static void hold_results(struct stage_walk *w, const struct op *op)
{
    for (uint32_t k = 0; k < op->n_outputs; k++)
        hold_tensor(w, op->outputs[k], true);
}

static void free_after(struct stage_walk *w, const struct op_sequence *q, uint32_t i)
{
    for (uint32_t k = q->freed_first[i]; k < q->freed_first[i + 1]; k++)
        hold_tensor(w, q->freed.ids[k], false);
}

/* Takes the tensors that a neighbour has handed over: those that the task reads without making or restoring them, and those that it only passes
 * on. */
static void hold_received(struct stage_walk *w, const struct op_sequence *q, const struct id_list *handed, struct arena *a)
{
    bool *made = ARENA_ARRAY(a, bool, w->g->n_tensors);
    for (uint32_t i = 0; i < q->ops.n; i++) {
        const struct op *op = &w->g->ops[q->ops.ids[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (!made[op->inputs[k]] && !w->waits[op->inputs[k]])
                hold_tensor(w, op->inputs[k], true);
        for (uint32_t k = 0; k < op->n_outputs; k++)
            made[op->outputs[k]] = true;
    }
    for (uint32_t i = 0; i < handed->n; i++)
        if (!made[handed->ids[i]])
            hold_tensor(w, handed->ids[i], true);
}

/* Notes the moment at the end of a call: the result exists twice, in the caller and in the subgraph, and the operands are freed. */
static void note_copied_out(struct stage_walk *w, uint32_t op_id, enum task_kind task)
{
    const struct op *op = &w->g->ops[op_id];
    keep_most(w, op->layer_id, (struct stage_moment){ w->waiting_bytes, w->tile_bytes + lying_bytes(w, op->outputs[0]), 0 }, task);
}

/* In place, an input that is read for the last time becomes the result. */
static void walk_op(struct stage_walk *w, const struct op_sequence *q, uint32_t i, enum task_kind task)
{
    const struct op *op = &w->g->ops[q->ops.ids[i]];
    bool called = is_called(w, q->ops.ids[i]);
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (w->waits[op->inputs[k]])
            hold_tensor(w, op->inputs[k], true);
    if (!q->in_place[i])
        hold_results(w, op);
    note(w, q, i, called, task);
    free_after(w, q, i);
    if (called)
        note_copied_out(w, q->ops.ids[i], task);
    if (q->in_place[i]) {
        hold_results(w, op);
        free_after(w, q, i);
    }
}

static void walk_task(struct stage_walk *w, const struct stage_program *program, enum task_kind task, struct arena *a)
{
    w->there = ARENA_ARRAY(a, bool, w->g->n_tensors);
    w->waits = ARENA_ARRAY(a, bool, w->g->n_tensors);
    w->waiting_bytes = w->live_bytes = w->tile_bytes = 0;
    for (uint32_t i = 0; i < program->kept.n && task == TASK_BACKWARD; i++)
        if (program->kept_as[i] == KEPT_IN_STASH) {
            w->waits[program->kept.ids[i]] = true;
            w->waiting_bytes += w->s->compiled->tensors[program->kept.ids[i]].bytes;
        }
    hold_received(w, &program->pass[task], &program->handed[task], a);
    w->received_bytes = w->live_bytes;
    for (uint32_t i = 0; i < program->kept.n && task == TASK_BACKWARD; i++)
        w->received_bytes -= program->kept_as[i] == KEPT_CARRIED ? w->s->compiled->tensors[program->kept.ids[i]].bytes : 0;
    for (uint32_t i = 0; i < program->pass[task].ops.n; i++)
        walk_op(w, &program->pass[task], i, task);
}

static void add_kept(struct stage_plan *s, const struct graph *g, const struct stage_program *program)
{
    s->stash_bytes = s->kept_input_bytes = s->cache_bytes = 0;
    for (uint32_t i = 0; i < program->states.n; i++)
        s->cache_bytes += g->tensors[program->states.ids[i]].place == STATE_ON_CHIP ? tensor_bytes(&g->tensors[program->states.ids[i]]) : 0;
    for (uint32_t i = 0; i < program->kept.n; i++) {
        const struct tensor *t = &g->tensors[program->kept.ids[i]];
        uint32_t layer = max_u32(t->layer_id, s->first_layer) - s->first_layer;
        if (program->kept_as[i] == KEPT_INPUT)
            s->kept_input_bytes += tensor_bytes(t);
        if (program->kept_as[i] != KEPT_IN_STASH)
            continue;
        s->stash_bytes += tensor_bytes(t);
        s->layers[layer].stash_bytes += tensor_bytes(t);
    }
}

static const uint32_t *uses_of_codes(const struct stage_plan *s, const struct stage_program *program, struct arena *a)
{
    uint32_t n_codes = 0;
    for (int task = TASK_FORWARD; task <= TASK_BACKWARD; task++)
        for (uint32_t i = 0; i < program->pass[task].ops.n; i++)
            n_codes = max_u32(n_codes, s->compiled->op_plans[program->pass[task].ops.ids[i]]->code_id + 1);
    uint32_t *uses = ARENA_ARRAY(a, uint32_t, n_codes);
    for (int task = TASK_FORWARD; task <= TASK_BACKWARD; task++)
        for (uint32_t i = 0; i < program->pass[task].ops.n; i++)
            uses[s->compiled->op_plans[program->pass[task].ops.ids[i]]->code_id]++;
    return uses;
}

void stage_moments(struct stage_plan *s, const struct graph *g, const struct stage_program *program, bool timed_only, bool calls_by_value, struct arena *a)
{
    struct arena scratch = {0};
    s->layers = ARENA_ARRAY(a, struct stage_layer, s->n_layers);
    struct stage_walk w = { .g = g, .s = s, .code_uses = calls_by_value ? uses_of_codes(s, program, &scratch) : NULL };
    add_kept(s, g, program);
    for (int task = TASK_FORWARD; task <= TASK_BACKWARD && !timed_only; task++) {
        walk_task(&w, program, (enum task_kind)task, &scratch);
        s->received_bytes[task] = w.received_bytes;
    }
    s->activation_bytes = w.most_bytes;
    arena_free(&scratch);
}
