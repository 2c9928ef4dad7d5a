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
};

void keep_span(struct player *pl, const struct span *s);
/* None where it takes no time. Here, so that where only totals are wanted none is even made. */
static inline void add_span(struct player *pl, struct span s)
{
    if (!pl->p->options.totals_only && s.n_cycles)
        keep_span(pl, &s);
}
double slowdown(const struct plan *p, uint32_t ipu_of_machine);
uint64_t slowed(uint64_t cycles, double factor);    /* rounded up */
void play_update(struct player *pl, uint64_t *at);  /* play_update.c; at: the clock of each row */

#endif
