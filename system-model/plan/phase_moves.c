/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase_moves.c - activations and gradients that a phase loads for a micro-batch from the memory off the chip, and those that it stores there.
 *
 * A tensor is stored by the phase that makes it and loaded by each that reads it; phases between them do not touch it (graphcore/popxl-addons 7499fca
 * transforms/batch_serialisation.py: load_handles, store_buffers; graphcore/examples 3cc8f81 nlp/t5/popxl/graphs/encoder_decoder.py).
 *
 *     forward     loads activations of earlier phases; stores its own that later phases read or that its backward task needs
 *     backward    loads what the forward task read or stored, as far as it needs it, and gradients of later phases; stores gradients for earlier ones
 *
 * States off the chip are caches: the forward task loads each, and stores it with what it has added.
 * The last phase does both passes of a micro-batch at once. If several phases read a tensor, its gradient is added up here from one phase to the next. Programs
 * store an addend for each phase and add them afterwards, which moves as many bytes.
 */
#include "system-model/plan/stage_program.h"
#include "system-model/graph/graph.h"

struct move_count { const struct graph *g; uint32_t first, end; bool is_last, *seen; struct phase_moves *out; };

/* Bytes of the tensor, if it has this role and was not counted before. */
static uint64_t bytes_once(struct move_count *m, uint32_t id, enum tensor_role role)
{
    const struct tensor *t = &m->g->tensors[id];
    if (t->role != role || t->producer_op == NO_ID || m->seen[id])
        return 0;
    m->seen[id] = true;
    return tensor_bytes(t);
}

static uint32_t maker_layer(const struct move_count *m, uint32_t id) { return m->g->ops[m->g->tensors[id].producer_op].layer_id; }

/* Adds the tensors that a task reads and another phase has made, and those that it makes and another phase reads. */
static void count_task(struct move_count *m, const struct id_list *ops, enum task_kind task)
{
    enum tensor_role role = task == TASK_FORWARD ? ROLE_ACTIVATION : ROLE_GRADIENT;
    for (uint32_t i = 0; i < ops->n; i++) {
        const struct op *op = &m->g->ops[ops->ids[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const struct tensor *t = &m->g->tensors[op->inputs[k]];
            if (t->role == role && t->producer_op != NO_ID && (maker_layer(m, op->inputs[k]) < m->first || maker_layer(m, op->inputs[k]) >= m->end))
                m->out->loaded[task] += bytes_once(m, op->inputs[k], role);
        }
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const struct tensor *t = &m->g->tensors[op->outputs[k]];
            if (task == TASK_FORWARD ? t->last_reader >= m->end : t->first_reader < m->first)
                m->out->stored[task] += bytes_once(m, op->outputs[k], role);
        }
    }
}

/* Adds tensors that wait off the chip for the backward task. The forward task stores each tensor once, if it has made it. */
static void count_kept(struct move_count *m, const struct stage_program *program)
{
    for (uint32_t i = 0; i < program->kept.n && !m->is_last; i++) {
        uint32_t id = program->kept.ids[i];
        if (program->kept_as[i] != KEPT_IN_STASH)
            continue;
        m->out->loaded[TASK_BACKWARD] += tensor_bytes(&m->g->tensors[id]);
        if (maker_layer(m, id) >= m->first)
            m->out->stored[TASK_FORWARD] += bytes_once(m, id, ROLE_ACTIVATION);
    }
}

/* The states of earlier tokens (keys and values) are loaded whole, get the newest row, and are stored whole (graphcore/examples 3cc8f81
 * nlp/llama/popxl/inference.py: past_k_buffer). */
static void count_caches(struct move_count *m, const struct id_list *ops)
{
    for (uint32_t i = 0; i < ops->n; i++) {
        const struct op *op = &m->g->ops[ops->ids[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (m->g->tensors[op->inputs[k]].place == STATE_OFF_CHIP) {
                m->out->cache += tensor_bytes(&m->g->tensors[op->outputs[0]]);
                m->out->caches++;
            }
    }
}

struct phase_moves phase_moves(const struct graph *g, const struct stage_program *program, const struct stage_layers *layers)
{
    struct arena scratch = {0};
    struct phase_moves out = {0};
    struct move_count m = { g, layers->first, layers->first + layers->n, layers->first + layers->n == g->n_layers, ARENA_ARRAY(&scratch, bool, g->n_tensors), &out };
    for (int task = TASK_FORWARD; task <= TASK_BACKWARD; task++)
        count_task(&m, &program->pass[task].ops, (enum task_kind)task);
    count_kept(&m, program);
    count_caches(&m, &program->pass[TASK_FORWARD].ops);
    arena_free(&scratch);
    return out;
}
