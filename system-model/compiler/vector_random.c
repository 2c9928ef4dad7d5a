/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vector_random.c - operations that draw from the generators of the chip, as poprand does: dropout, and random numbers; and dropout in place, as
 * PopTorch makes it of several.
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

/* The backward pass draws the same mask by drawing it where the forward pass did: the gradient is brought there (PopART willow/src/op/dropout.cpp:79,
 * poprand's RandomGen.cpp: dropout clones its reference). */
void plan_dropout(struct passes *p, const struct vector_op *w)
{
    if (w->backward)
        passes_move(p, w->n);
    add_generator_states(p);
    passes_map(p, MAP_DROPOUT, w->n);
}

/* PopTorch's bernoulli draws uniform numbers, compares them with the share that is kept, and casts the truth values to numbers. Then torch divides by
 * that share. */
void plan_noise(struct passes *p, const struct vector_op *w)
{
    static const enum map_op steps[] = { MAP_RANDOM, MAP_COMPARE_NUMBER, MAP_CAST_ELEMENT, MAP_DIVIDE_NUMBER };
    add_generator_states(p);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        passes_map(p, steps[i], w->n);
}

void plan_random(struct passes *p, const struct vector_op *w)
{
    p->element_bytes = data_type_bytes(w->y->type);
    add_generator_states(p);
    passes_map(p, MAP_RANDOM, w->n_out);
}
