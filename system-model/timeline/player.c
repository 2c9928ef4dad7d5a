/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * player.c - what the players of a plan share: spans, and how much longer a slow chip takes.
 */
#include "system-model/timeline/player.h"

void add_span(struct player *pl, struct span s)
{
    struct timeline *t = pl->t;
    assert(wants_span(pl, s.n_cycles));
    ARENA_APPEND(pl->a, t->spans, t->n_spans, t->cap_spans, s);
}

double slowdown(const struct plan *p, uint32_t ipu_of_machine)
{
    const struct faults *f = p->request.faults;
    for (size_t i = 0; f && i < f->n_chips; i++)
        if (f->chips[i].ipu == ipu_of_machine)
            return f->chips[i].slowdown;
    return 1;
}

uint64_t slowed(uint64_t cycles, double factor)
{
    return factor == 1 ? cycles : (uint64_t)ceil((double)cycles * factor);
}
