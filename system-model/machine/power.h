/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.h - what a machine's IPUs draw, from its sheets.
 *
 * Of the IPUs in use, with their share of the boards that hold them; hosts, switches and cooling are not counted.
 */
#ifndef POWER_H
#define POWER_H
#include "system-model/machine/machine.h"

struct power {
    double at_work_w;                   /* 0: no source gives it; missing says so */
    double waiting_w;                   /* while chips wait for each other or the host; at_work_w where no source gives it */
    double cap_w;                       /* what boards never exceed; 0: not known */
    bool knows_waiting;
    const char *of;                     /* "boards", "chips" */
    const struct sheet_row *row; const struct sheet *sheet;     /* where at_work_w comes from */
    const char *missing;                /* NULL: it is known */
};
/* Of the first n_ipus of the machine. */
void machine_power(struct power *out, const struct machine *m, uint64_t n_ipus);
/* Mean power of a step that waits for this share of its time. */
double power_mean_w(const struct power *p, double waiting_share);

#endif
