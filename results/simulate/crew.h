/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crew.h - threads with a simulator each, for many simulations whose results are put in order afterwards.
 *
 * Who asks keeps a place for each item's result, so that nothing depends on which thread works on it, or when.
 */
#ifndef CREW_H
#define CREW_H
#include "results/simulate/simulator.h"

struct crew { struct simulator *simulators; uint32_t n; };

/* paths stay the caller's; options are those of each simulator. */
void crew_open(struct crew *out, const struct model_paths *paths, uint32_t n_threads, struct simulator_options options);
void crew_close(struct crew *c);                /* after the last of its simulators' simulations is freed */
/* Calls job(user, i, simulator) for each i below n, `chunk` neighbours on one thread; returns when all are done. The first thread is
 * the caller's own. */
typedef void crew_job(void *user, size_t i, struct simulator *s);
void crew_run(struct crew *c, size_t n, size_t chunk, crew_job *job, void *user);

#endif
