/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.c - podbench fit: the largest sizes of a recipe that fit, what fills the fullest tile, and what would make a larger size fit.
 */
#include "harness/harness.h"
#include "results/study/fit.h"

int command_fit(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct progress p;
    struct fit_answer *answer = ARENA_NEW(&s->arena, struct fit_answer);
    const struct simulation_request as_asked = { .recipe = o->arguments[0], .overrides = o->sets, .n_overrides = o->n_sets,
                                                 .simulator = &s->simulator };
    const struct fit_request q = { .simulation = as_asked, .size = o->size };
    s->simulator.options.totals_only = true;
    bool good = simulate_argument(&sim, &r, o, s, err), fits = good && r.fits;
    simulation_free(&sim);
    progress_start(&p, s->log, "trying sizes");
    s->simulator.watch = (struct watch){ progress_report, &p };
    good = good && fit_find(answer, &q, &s->arena, err);
    progress_end(&p);
    s->simulator.watch = (struct watch){ NULL, NULL };
    if (!good)
        return EXIT_BAD_INPUT;
    fit_write(s->out, o->format, answer, &s->arena);
    return fits ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
