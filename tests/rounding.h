/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rounding.h - how far the law of the faster clock can hold.
 *
 * A faster clock never makes a step longer, but for rounding: what takes seconds (links, the host, streaming memory) is rounded up to whole
 * cycles, each such time of a micro-batch, of the update and of the call by less than one, and the same seconds may need more rounding at
 * another clock. Only times that are no whole cycles would make the law exact.
 */
#ifndef ROUNDING_H
#define ROUNDING_H
#include "results/simulate/simulate.h"

/* How much of a step may be rounding: a cycle for each operation of each micro-batch, and for each part of its tensor's update. */
static inline double rounding_s(const struct simulation *sim)
{
    enum { MOST_PARTS_OF_UPDATE = 4 };
    return (double)sim->graph->n_ops * ((double)sim->plan.request.grad_accum + MOST_PARTS_OF_UPDATE) / sim->machine->chip.clock_hz;
}

#endif
