/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * energy.c - the energy of operations, by a law of few terms.
 *
 *     energy = products x product_j x size of a product + products / (products of the AMP in a cycle) x amp_cycle_j
 *            + (bytes of vector work + bytes that tiles receive) x byte_j
 * Horowitz (ISSCC 2014, 45 nm) has 1.1 pJ for a product of halves, 3.7 pJ for one of floats and 0.2 pJ for one of eight bits. A cycle of the AMP
 * loads operands and moves partial sums whatever it multiplies, so that half partials, with twice the products, halve its share. What a chip
 * draws while nothing runs is its idle power times the time, counted where time is. The constants are fitted to measured chips (fitted.c). Not
 * modelled: temperature, voltage, products with padding, and what a program's control costs.
 */
#include "system-model/compiler/compiler_internal.h"
#include "system-model/graph/graph.h"

void energy_add(struct energy *to, const struct energy *e, double times)
{
    for (int i = 0; i < N_ENERGY_CAUSES; i++)
        to->j[i] += times * e->j[i];
}

double energy_total(const struct energy *e)
{
    double sum = 0;
    for (int i = 0; i < N_ENERGY_CAUSES; i++)
        sum += e->j[i];
    return sum;
}

static double product_j(const struct chip *chip, enum data_type type, enum partials_type partials)
{
    const double of_half = type == TYPE_FP32 ? 3.7 / 1.1 : type == TYPE_FP8 ? 0.2 / 1.1 : 1;
    return chip->product_j * of_half + chip->amp_cycle_j / (double)chip_mac_per_cycle(chip, type, partials);
}

static double tensors_bytes(const struct graph *g, const uint32_t *ids, uint32_t n)
{
    double bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += (double)tensor_bytes(&g->tensors[ids[i]]);
    return bytes;
}

struct energy op_energy(const struct graph *g, const struct op *op, const struct op_plan *p, const struct chip *chip)
{
    struct energy e = { .j[ENERGY_EXCHANGE] = (double)p->exchanged_bytes * chip->byte_j };
    if (p->mac)
        e.j[ENERGY_MAC] = (double)p->mac * product_j(chip, g->tensors[op_forward(g, op)->inputs[0]].type, p->partials);
    else
        e.j[ENERGY_VECTOR] = (tensors_bytes(g, op->inputs, op->n_inputs) + tensors_bytes(g, op->outputs, op->n_outputs)) * chip->byte_j;
    return e;
}
