/*
 * plan.c - podbench plan: placement, cost by stage, memory and collectives of a recipe; --update: its weight update by tensor.
 */
#include "harness/harness.h"

int command_plan(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim = {0};
    struct result r;
    bool good = simulate_argument(&sim, &r, o, s, err);
    if (good)
        (o->update ? update_print_tensors : plan_print)(stdout, &sim.plan);
    simulation_free(&sim);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}
