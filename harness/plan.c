/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - podbench plan: placement, cost by stage and memory of a recipe. --all adds the pipeline, the weight update
 * and every operation; --update prints the weight update by tensor instead.
 */
#include "harness/harness.h"

static void print(FILE *f, const struct plan *p, const struct options *o)
{
    if (o->update) {
        plan_print_update_tensors(f, p);
        return;
    }
    if (!o->all) {
        plan_print_summary(f, p);
        fprintf(f, "--all adds the pipeline, the update, the call, and every operation with its split\n");
        return;
    }
    plan_print(f, p);
    fprintf(f, "split: the number of parts of batch (b), field of positions (f), kernel (k), groups (g), input (i) and output (o) channels;\n"
           "serial: how many of them are computed one after the other; tiles: how many are used\n");
}

int command_plan(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    if (o->update && o->all)
        return bad_input(err, "plan: --update prints the weight update alone, tensor by tensor; leave --all out");
    bool good = simulate_argument(&sim, &r, o, s, err);
    if (good && o->update && !sim.plan.request.training)
        good = fail(err, "%s: --update: inference updates no weights", r.id);
    if (good && o->update)
        warn_unfit(&r, s);
    if (good)
        print(s->out, &sim.plan, o);
    simulation_free(&sim);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}
