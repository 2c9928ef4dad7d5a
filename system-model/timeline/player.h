/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * player.h - a plan that is being played. Private to this folder.
 */
#ifndef PLAYER_H
#define PLAYER_H
#include "system-model/timeline/timeline.h"

struct player {
    struct timeline *t;
    const struct plan *p;
    struct arena *a;
    uint32_t width;             /* IPUs of a replica */
    uint32_t first_row;         /* the first row of the replica being played */
    uint64_t now;               /* the time that this IPU has reached */
    struct played_task { uint64_t input, work, results, all; uint32_t ipu; } *tasks;    /* cycles of a task of the replica. input: reading it; work: at the chip's speed; results: handing them over; all: the sum of these */
    uint64_t fetch_cycles, slot_cycles, copy_cycles;            /* cycles of all runs so far of this replica */
};

/* True if a span is to be added: not if only totals are wanted or it takes no time. The caller asks before it makes the span, which is slow. */
static inline bool wants_span(const struct player *pl, uint64_t n_cycles)
{
    return n_cycles && !pl->p->request.detail.totals_only;
}
void add_span(struct player *pl, struct span s);     /* call this only if wants_span() */
double slowdown(const struct plan *p, uint32_t ipu_of_machine);
uint64_t slowed(uint64_t cycles, double factor);    /* rounded up */
void play_update(struct player *pl, uint64_t *at);  /* play_update.c; at: the clock of each row */

#endif
