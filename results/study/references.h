/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * references.h - published configurations with the error of their prediction, made as if their group had not been seen by the fit.
 *
 * The table results/validity/left-out.csv is written by podbench validate --out and read by whoever wants to know how far an answer
 * can be trusted; simulating it anew takes seconds, an answer a few hundredths of one.
 */
#ifndef REFERENCES_H
#define REFERENCES_H
#include "results/published/published.h"
#include "results/simulate/simulator.h"
#include "results/study/property.h"

struct reference {
    const char *configuration, *recipe, *group;
    enum role role;
    struct properties at;
    double published, simulated;        /* samples/s */
    double left_out;                    /* ln(simulated / published), its group left out of the fit */
};
struct references { struct reference *items; size_t n, cap; };

/* One a configuration with a published throughput, context too: whoever is near it should know how far off it was. Simulates them, and
 * those that calibrate once more for each constant that was fitted to runs. Those whose recipe cannot be simulated are left out: podbench
 * check names them. */
void references_build(struct references *out, const struct figures *figures, struct simulator *simulator, struct arena *a);
void references_write(FILE *f, const struct references *r);
/* No such file: none. */
bool references_load(struct references *out, const char *path, struct arena *a, struct err *err);

#endif
