/*
 * submission.h - one simulated run as a submission of many: drawn, scored as MLPerf does, written as its logs.
 */
#ifndef SUBMISSION_H
#define SUBMISSION_H
#include "harness/harness.h"
#include "results/runs_distribution.h"

/* Draws o->runs runs (0: as many as the rules ask for) and, with o->mllog, writes them there. */
bool submission_draw(struct run_distribution *out, const struct simulation *sim, const struct result *r, const struct options *o,
                     struct session *s, struct err *err);

#endif
