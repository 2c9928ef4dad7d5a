/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * player.h - the plan being played: private to this room.
 */
#ifndef PLAYER_H
#define PLAYER_H
#include "system-model/timeline/timeline.h"

struct player {
    struct timeline *t;
    const struct plan *p;
    struct arena *a;
    uint32_t width;             /* IPUs of a replica */
    uint32_t first_row;         /* of the replica being played */
    uint64_t now;               /* its clock */
    struct { uint64_t input, work; uint32_t ipu; } tasks[2 * MAX_STAGES];  /* of the replica: reading input; work, as slow as the chip */
    uint64_t fetch_cycles, slot_cycles, copy_cycles;            /* of all its runs so far */
};

/* None where only totals are wanted, nor where it takes no time. Asked first: making a span takes longer than what it is made of. */
static inline bool wants_span(const struct player *pl, uint64_t n_cycles)
{
    return n_cycles && !pl->p->request.totals_only;
}
void add_span(struct player *pl, struct span s);     /* one that is wanted */
double slowdown(const struct plan *p, uint32_t ipu_of_machine);
uint64_t slowed(uint64_t cycles, double factor);    /* rounded up */
void play_update(struct player *pl, uint64_t *at);  /* play_update.c; at: the clock of each row */

#endif
