/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.c - power from the sheets: a board's where its sheet has it, else the chip's alone.
 *
 * power = at work x (1 - waiting share) + waiting x waiting share; waiting: IPUs that wait for each other or for the host. No source
 * gives what a waiting board draws: without board_idle_power_w on the sheet waiting counts as work, and power is an upper bound. A
 * board that is used in part counts in part.
 */
#include "system-model/machine/power.h"

void machine_power(struct power *out, const struct machine *m, uint64_t n_ipus)
{
    double boards = (double)n_ipus / (double)m->ipus_per_board;
    bool of_boards = m->board_power_w > 0;
    *out = (struct power){ .of = of_boards ? "boards" : "chips" };
    if (!of_boards && !(m->chip.tdp_w > 0)) {
        out->missing = "no source gives the power of this board or of its chip; --set machine.board_power_w=W says what if";
        return;
    }
    out->row = machine_row(m, of_boards ? "board_power_w" : "tdp_w", &out->sheet);
    out->at_work_w = of_boards ? boards * m->board_power_w : (double)n_ipus * m->chip.tdp_w;
    out->knows_waiting = of_boards && m->board_idle_power_w > 0;
    out->waiting_w = out->knows_waiting ? boards * m->board_idle_power_w : out->at_work_w;
    out->cap_w = boards * m->board_power_cap_w;
}

double power_mean_w(const struct power *p, double waiting_share)
{
    return p->at_work_w + (p->waiting_w - p->at_work_w) * waiting_share;
}
