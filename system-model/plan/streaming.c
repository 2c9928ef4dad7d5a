/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * streaming.c - the memory of a board, which holds the optimizer's state where that is streamed: is there one, and is it large enough?
 */
#include "system-model/plan/plan.h"

/* Bytes of the IPU that streams most. Chains of one IPU are neighbours. */
static double most_streamed_bytes(const struct plan *p)
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
    return most * p->request.optimizer.state_bytes_per_param;
}

bool plan_has_streaming(const struct plan *p, struct err *err)
{
    const struct machine *m = p->topology->machine;
    if (p->request.state.place != OPTIMIZER_STREAMING || m->streaming_bytes_per_s > 0)
        return true;
    return fail(err, "parallel.optimizer_state: streaming, but %s has no streaming memory; use on-chip", m->name);
}

bool plan_check_streaming(const struct plan *p, struct err *err)
{
    const struct machine *m = p->topology->machine;
    double wanted = most_streamed_bytes(p) * (double)plan_sharing_ipus(p, m->ipus_per_board);
    if (wanted > (double)m->streaming_bytes)
        return fail(err, "parallel.optimizer_state: streaming wants %.4g GB of a board's memory, %s has %.4g GB; "
                         "shard it (parallel.rts=yes) or use more IPUs a replica",
                    wanted / 1e9, m->name, (double)m->streaming_bytes / 1e9);
    return true;
}
