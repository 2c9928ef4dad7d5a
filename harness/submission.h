/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission.h - one simulated run as a submission of many: drawn, scored as MLPerf does, written as its logs.
 */
#ifndef SUBMISSION_H
#define SUBMISSION_H
#include "harness/harness.h"
#include "results/submission/drawn_runs.h"
#include "results/study/trust.h"

struct submission_request {
    uint64_t runs, seed;                /* runs, 0: as many as the rules ask for */
    const char *mllog;                  /* a folder to write the logs to; NULL: none */
    const struct references *references;        /* whose errors say how far the step's time may be off; NULL: the fitted sheet does */
    bool until_valid;                   /* draw again until the submission has a score and passes */
    bool replaces;                      /* logs that are there already */
    bool predict_schedule;              /* epochs and evaluations as the rules and the convergence model have them, not the recipe */
};
bool submission_draw(struct drawn_runs *out, const struct simulation *sim, const struct result *r,
                     const struct submission_request *q, struct session *s, struct err *err);

#endif
