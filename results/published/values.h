/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.h - what a claim's expression may name.
 *
 *     sheet[MACHINE.KEY]            a value on a spec sheet, as it stands there; has[MACHINE.KEY]: 1 when the sheet has it, else 0
 *     fact[NAME]                    a row of facts.csv: what neither sheets nor logs hold
 *     figure[ID]                    a published value; logged[ID]: 1 when there is such a row, else 0
 *     recipe[ID/section.key]        a number in a recipe; section.key#2: the second of a list
 *     run[ID/metric]                of a simulation: any number of its result; run[ID;section.key=value/metric] with keys set
 *     workload[NAME/parameters]     or forward_mac of one sample
 *     recompute[NAME/memory_share]  least share of activations kept, over all ways to place checkpoints; extra_work_share: what that costs
 */
#ifndef AUDIT_VALUES_H
#define AUDIT_VALUES_H
#include "results/published/published.h"
#include "results/simulate/simulator.h"

struct audit_values {
    const struct figures *figures;
    const struct csv_table *facts;      /* name,value,unit,source */
    struct simulator *simulator;
    const struct model_paths *paths;
    struct arena *a;
};

bool audit_lookup(double *out, void *values, const char *kind, const char *argument, struct err *err);

#endif
