/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.c - podbench explain: what bounds a recipe, where its time goes and what would help. CSV is the waterfall.
 */
#include "harness/harness.h"
#include "results/study/explain.h"
#include "results/study/own_runs.h"
#include "results/study/profile.h"
#include "results/study/trust.h"

int command_explain(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct explanation e;
    struct track_record record;
    struct own_runs own;
    struct validity v;
    struct progress p;
    struct profile measured;
    struct simulation_request q = { .recipe = o->arguments[0], .overrides = o->sets, .n_overrides = o->n_sets, .simulator = &s->simulator,
                          .watch = { progress_report, &p } };
    if (!session_record(&record, &own, s, err))
        return EXIT_BAD_INPUT;
    if (!simulate_argument(&sim, &r, o, s, err)) {
        simulation_free(&sim);
        return EXIT_BAD_INPUT;
    }
    if (o->profile && !(profile_load(&measured, o->profile, sim.machine->chip.clock_hz, &s->arena, err) && profile_check(&measured, &sim, err))) {
        simulation_free(&sim);
        return EXIT_BAD_INPUT;
    }
    progress_start(&p, s->log, "moving each value");
    explain(&e, &sim, &r, &q, &s->arena);
    progress_end(&p);
    validity_of(&v, &record, &sim, &r, &q, &s->arena);
    e.uncertainty = validity_uncertainty(&v);
    e.is_guess = validity_is_guess(&v);
    struct document d = { .arena = &s->arena };
    explain_document(&d, &e);
    if (o->profile)
        profile_document(&d, &measured, &sim, &r);
    document_member(&d, "validity", validity_json(&v));
    document_gap(&d);
    validity_document(&d, &v, &r);
    const struct own_run *here = own_run_find(&own, o->arguments[0], names_joined(o->sets, o->n_sets, "; ", &s->arena));
    if (here)
        own_run_explain(&d, here, &sim, &r);
    document_write(s->out, o->format, &d);
    simulation_free(&sim);
    return EXIT_DONE;
}
