/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * odd_machine.h - a machine whose plans no calibration moves: for texts of plans and of whole steps.
 */
#ifndef ODD_MACHINE_H
#define ODD_MACHINE_H
#include "system-model/plan/plan_request.h"
#include "tests/chip_fixture.h"
#include "tests/toy_machine.h"

/* Links of the toy machine, the small chip's arithmetic: no fitted constant of a chip moves the text. */
static inline struct machine odd_machine(void)
{
    struct machine m = toy_machine(12, 12, DOMAIN_LADDER, GATEWAY_NONE);
    struct chip links = m.chip;
    m.chip = small_chip(97);
    m.chip.n_links = links.n_links;
    m.chip.link_bytes_per_s = links.link_bytes_per_s;
    m.chip.link_efficiency = links.link_efficiency;
    m.chip.host_link_bytes_per_s = links.host_link_bytes_per_s;
    m.chip.global_sync_cycles = links.global_sync_cycles;
    return m;
}

/* No fitted constant of the system either, and none of what the recipe to start from keeps of a parameter. */
static inline void fix_constants(struct plan_request *o)
{
    o->fitted.unexplained_call_s = 0.011;
    o->fitted.output_reduction_s = 0.0007;
    o->fitted.streaming_s_per_byte = 7e-11;
    o->optimizer.state_bytes_per_param = 2;
}
#endif
