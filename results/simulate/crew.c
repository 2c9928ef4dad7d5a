/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crew.c - see crew.h. Threads live as long as one crew_run(): starting one takes as long as two simulations.
 */
#include "results/simulate/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SIMULATORS_BYTES = 192 << 20 };

void crew_open(struct crew *out, const struct model_paths *paths, uint32_t n_threads, struct simulator_options options)
{
    *out = (struct crew){ calloc(n_threads, sizeof *out->simulators), n_threads };
    if (!out->simulators)
        out_of_memory(n_threads * sizeof *out->simulators);
    for (uint32_t i = 0; i < n_threads; i++) {
        simulator_open(&out->simulators[i], paths);
        out->simulators[i].options = options;
        out->simulators[i].limit_bytes = min_u64(out->simulators[i].limit_bytes, SIMULATORS_BYTES / n_threads);
    }
}

void crew_close(struct crew *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        simulator_close(&c->simulators[i]);
    free(c->simulators);
    *c = (struct crew){0};
}

struct errand { size_t n, chunk; crew_job *job; void *user; atomic_size_t next; };
struct worker { struct errand *task; struct simulator *simulator; pthread_t thread; };

static void *work_on(void *user)
{
    struct worker *w = user;
    struct errand *t = w->task;
    for (size_t first; (first = atomic_fetch_add(&t->next, t->chunk)) < t->n; )
        for (size_t i = first; i < t->n && i < first + t->chunk; i++)
            t->job(t->user, i, w->simulator);
    return NULL;
}

void crew_run(struct crew *c, size_t n, size_t chunk, crew_job *job, void *user)
{
    struct errand task = { .n = n, .chunk = chunk, .job = job, .user = user };
    struct arena a = {0};
    struct worker *workers = ARENA_ARRAY(&a, struct worker, c->n);
    uint32_t n_started = 1, most = (uint32_t)min_u64(c->n, ceil_div(n, chunk));
    for (uint32_t i = 0; i < c->n; i++)
        workers[i] = (struct worker){ .task = &task, .simulator = &c->simulators[i] };
    while (n_started < most && pthread_create(&workers[n_started].thread, NULL, work_on, &workers[n_started]) == 0)
        n_started++;
    work_on(&workers[0]);
    for (uint32_t i = 1; i < n_started; i++)
        pthread_join(workers[i].thread, NULL);
    arena_free(&a);
}
