/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * streaming.c - memory off the chip: a board's streaming memory, or the host's where boards have none. This file says how fast it is, what lies
 * there, and if that fits.
 *
 * It holds the optimizer's state if that is off the chip, and in phases also weights, gradients and activations. Between phases the activations of
 * all micro-batches of a step lie in a buffer; in training a second buffer holds their gradients (graphcore/examples 3cc8f81
 * nlp/gpt_j/popxl/finetuning.py, x_buffer and dx_buffer).
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

const char *const off_chip_names[N_OFF_CHIP] = {
    [OFF_CHIP_WEIGHTS] = "weights", [OFF_CHIP_GRADIENTS] = "gradients", [OFF_CHIP_STATE] = "optimizer state", [OFF_CHIP_ACTIVATIONS] = "activations",
    [OFF_CHIP_CACHE] = "keys and values",
};

/* Elements of state of the IPU that streams the most. The chains of one IPU are neighbours in the list. */
static double most_streamed_elements(const struct plan *p)
{
    double n = 0, most = 0;
    for (uint32_t i = 0; i < p->update.n_chains; i++) {
        const struct update_chain *c = &p->update.chains[i];
        if (i == 0 || c->ipu != c[-1].ipu)
            n = 0;
        if (!c->is_merged && plan_streams(&p->request, c->n_elements))
            n += (double)c->n_tensors * (double)ceil_div(c->n_elements, c->steps->n_shards);
        most = fmax(most, n);
    }
    return most;
}

static void count_phases(struct off_chip *m, const struct plan *p)
{
    double width = plan_activation_shards(&p->request), activations = 0;
    for (const struct phase_bytes *b = p->phases; b < p->phases + p->n_stages; b++) {
        m->bytes[OFF_CHIP_WEIGHTS] += (double)b->local_weights;
        m->bytes[OFF_CHIP_GRADIENTS] += p->request.training && !b->updates_at_once ? (double)b->local_weights : 0;
        m->bytes[OFF_CHIP_CACHE] += (double)b->moves.cache * p->request.grad_accum;
        activations += (double)(b->moves.stored[TASK_FORWARD] + b->moves.stored[TASK_BACKWARD]);
    }
    m->bytes[OFF_CHIP_ACTIVATIONS] = activations * p->request.grad_accum / width;
}

void plan_off_chip(struct plan *p)
{
    const struct machine *m = p->topology->machine;
    struct off_chip *out = &p->off_chip;
    *out = (struct off_chip){ .bytes[OFF_CHIP_STATE] = most_streamed_elements(p) * p->request.optimizer.state_bytes_per_param };
    if (plan_is_phased(&p->request))
        count_phases(out, p);
    for (int k = 0; k < N_OFF_CHIP; k++)
        out->board_bytes += out->bytes[k] * (double)plan_sharing_ipus(p, m->ipus_per_board);
    out->capacity_bytes = m->streaming_bytes_per_s > 0 ? (double)m->streaming_bytes : 0;
    out->overflows = out->capacity_bytes > 0 && out->board_bytes > out->capacity_bytes;
}

/* In phases, a lack of memory is a verdict (`fits`) and not an error. */
bool plan_check_streaming(const struct plan *p, struct err *err)
{
    const struct machine *m = p->topology->machine;
    if (plan_is_phased(&p->request) || !p->off_chip.overflows)
        return true;
    return fail(err, "parallel.optimizer_state: streaming wants %.4g GB of a board's memory, %s has %.4g GB; "
                         "shard it (parallel.rts=yes) or use more IPUs a replica",
                    p->off_chip.board_bytes / 1e9, m->name, (double)m->streaming_bytes / 1e9);
}
