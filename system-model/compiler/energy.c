/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * energy.c - the energy of operations, by a law that follows from the chip's sheet.
 *
 *     energy = cycles in which tiles run x chip_running_cycle_j
 *            + cycles of a tile's AMP x chip_cycle_j + (bytes of vector work + 2 x bytes that tiles receive) x chip_memory_byte_j
 * A tile runs while it computes or exchanges: its clock switches and it fetches an instruction in every cycle. It rests while it waits for a
 * sync or has no part in an operation. One assumption stands behind the other prices (machine.c): a running chip draws its TDP when all its AMPs
 * multiply at their peak, whatever the type, and when all its tiles load and store at their peak. A byte that a tile receives was read on one
 * tile and is written on another; the wires between them have no source and cost nothing. What a chip draws while nothing runs is its idle power
 * times the time, counted where time is. Nothing is fitted. Products with padding take cycles of the AMP like others. At another clock than the sheet's
 * (power_clock_hz) a cycle costs the square of the voltage, which grows with the clock to voltage_exponent, and leakage grows with the voltage. Not modelled:
 * temperature, copies and sums inside a product.
 */
#include "system-model/compiler/op_plan.h"
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

/* Running and work together draw the TDP at the peak, so an error of running_power_w is the opposite error of the power of work. That power may be
 * off as well and, at another clock than the sheet's, so may all switching energy. */
double energy_error_j(const struct energy *e, const struct chip *c)
{
    double work_w = c->tdp_w - c->idle_power_w - c->running_power_w;
    double running_s = c->running_power_w > 0 ? e->j[ENERGY_RUNNING] / c->running_power_w : 0;
    double work_s = work_w > 0 ? (e->j[ENERGY_MAC] + e->j[ENERGY_VECTOR] + e->j[ENERGY_EXCHANGE]) / work_w : 0;
    double away = c->power_clock_hz > 0 ? fabs(log(c->clock_hz / c->power_clock_hz)) : 0, switched_j = energy_total(e) - e->j[ENERGY_LINKS];
    double voltage_j = switched_j * sinh(2 * c->voltage_exponent_error * away);
    return hypot(hypot((running_s - work_s) * c->running_power_error_w, work_s * c->work_power_error_w), voltage_j);
}

static double tensors_bytes(const struct graph *g, const uint32_t *ids, uint32_t n)
{
    double bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += (double)tensor_bytes(&g->tensors[ids[i]]);
    return bytes;
}

struct energy_prices energy_prices(const struct chip *chip)
{
    return (struct energy_prices){ chip, chip_cycle_j(chip), chip_running_cycle_j(chip), chip_memory_byte_j(chip) };
}

/* The products of one AMP cycle cost as much as that cycle, however many they are. */
struct energy op_energy(const struct graph *g, const struct op *op, const struct op_plan *p, const struct energy_prices *prices)
{
    const struct chip *chip = prices->chip;
    const double running_cycles = (double)p->compute_cycles * p->n_tiles_used + (double)p->exchange_cycles * (double)chip->n_tiles;
    struct energy e = { .j[ENERGY_RUNNING] = running_cycles * prices->running_cycle_j, .j[ENERGY_EXCHANGE] = 2 * (double)p->exchanged_bytes * prices->byte_j };
    if (p->mac)
        e.j[ENERGY_MAC] = (double)p->padded_mac * (prices->cycle_j / (double)chip_mac_per_cycle(chip, g->tensors[op_forward(g, op)->inputs[0]].type, p->partials));
    else
        e.j[ENERGY_VECTOR] = (tensors_bytes(g, op->inputs, op->n_inputs) + tensors_bytes(g, op->outputs, op->n_outputs)) * prices->byte_j;
    return e;
}
