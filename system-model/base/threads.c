/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * threads.c - threads that share the pieces of one work, each taking the next that is left.
 */
#include "system-model/base/base.h"

#include <pthread.h>
#include <stdatomic.h>

struct shared_work { piece_work *work; void *user; size_t n_pieces; atomic_size_t next; };
struct worker { struct shared_work *shared; uint32_t number; pthread_t thread; };

static void *take_pieces(void *user)
{
    const struct worker *w = user;
    plain_locale();
    for (size_t i; (i = atomic_fetch_add(&w->shared->next, 1)) < w->shared->n_pieces; )
        w->shared->work(w->shared->user, i, w->number);
    return NULL;
}

void work_in_pieces(piece_work *work, void *user, size_t n_pieces, uint32_t n_threads)
{
    struct shared_work s = { .work = work, .user = user, .n_pieces = n_pieces };
    struct worker workers[MOST_THREADS] = { { .shared = &s } };
    uint32_t n = 1, most = (uint32_t)min_u64(min_u32(n_threads, MOST_THREADS), n_pieces);
    for (; n < most; n++) {
        workers[n] = (struct worker){ .shared = &s, .number = n };
        if (pthread_create(&workers[n].thread, NULL, take_pieces, &workers[n]) != 0)
            break;
    }
    take_pieces(&workers[0]);
    while (n > 1)
        pthread_join(workers[--n].thread, NULL);
}
