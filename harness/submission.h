/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission.h - a submission of many runs drawn from one simulated run, scored by the rules of MLPerf and written as
 * its logs.
 */
#ifndef SUBMISSION_H
#define SUBMISSION_H
#include "harness/harness.h"
#include "results/submission/drawn_runs.h"
#include "results/study/trust.h"

struct submission_request {
    uint64_t runs, seed;                /* runs 0: as many as the rules require */
    const char *mllog;                  /* the folder for the logs; NULL if they are not written */
    const struct references *references;        /* whose errors give the uncertainty of the step time; NULL if the fitted sheet gives it */
    bool until_valid;                   /* draw again until the submission has a score and passes */
    bool replaces;                      /* existing logs */
    bool predict_schedule;              /* epochs and evaluations follow the rules and the convergence model, not the recipe */
};
bool submission_draw(struct drawn_runs *out, const struct simulation *sim, const struct result *r,
                     const struct submission_request *q, struct session *s, struct err *err);

#endif
