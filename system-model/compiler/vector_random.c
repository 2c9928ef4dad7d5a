/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_random.c - operations that draw from the generators of the chip, as poprand does: dropout, and random numbers.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/passes.h"
#include "system-model/graph/graph.h"

/* Numbers follow from a seed, so that the backward pass draws the same: the state of every worker's generator is read, set and put back. */
static void add_generator_states(struct passes *p)
{
    uint64_t states = copy_cycles(p->chip, p->chip->n_workers * GENERATOR_STATE_BYTES);
    for (int i = 0; i < DROPOUT_STATE_SUPERSTEPS; i++)
        passes_superstep(p, states);
    passes_exchange(p, DROPOUT_SEED_BYTES);
}

void plan_dropout(struct passes *p, const struct vector_op *w)
{
    add_generator_states(p);
    passes_map(p, MAP_DROPOUT, w->n);
}

void plan_random(struct passes *p, const struct vector_op *w)
{
    p->element_bytes = data_type_bytes(w->y->type);
    add_generator_states(p);
    passes_map(p, MAP_RANDOM, w->n_out);
}
