/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - podbench plan: placement, cost by stage, and memory of a recipe. --all adds the pipeline, the weight update and every operation;
 * --update prints only the weight update, by tensor.
 */
#include "harness/harness.h"

static void print_plan(const struct plan *p, const struct options *o, struct session *s)
{
    struct document d = { .arena = &s->arena };
    if (o->update) {
        plan_tensors_document(&d, p);
    } else {
        plan_document(&d, p, o->all);
        document_line(&d, o->all ? "split: the number of parts of batch (b), field of positions (f), kernel (k), groups (g), input (i) and output (o) channels;\n"
                                   "serial: how many of them are computed one after the other; tiles: how many are used"
                                 : "--all adds the pipeline, the update, the call, and every operation with its split");
    }
    document_write(s->out, o->format, &d);
}

int command_plan(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    if (o->update && o->all)
        return bad_input(err, "plan: --update prints the weight update alone, tensor by tensor; leave --all out");
    bool good = simulate_argument(&sim, &r, o, s, err);
    if (good && o->update && !sim.plan.request.training)
        good = fail(err, "%s: --update: inference updates no weights; leave it out", r.id);
    if (good && o->update)
        warn_unfit(&r, s);
    if (good)
        print_plan(&sim.plan, o, s);
    simulation_free(&sim);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}
