/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator_pool.c - many simulations on several threads. A thread lives for one simulator_pool_run(): starting it
 * costs two simulations.
 */
#include "results/simulate/simulator.h"

#include <pthread.h>
#include <stdatomic.h>

enum { POOL_BYTES = 192 << 20 };

void simulator_pool_open(struct simulator_pool *out, const struct model_paths *paths, uint32_t n_threads, struct simulator_options options)
{
    *out = (struct simulator_pool){ calloc(n_threads, sizeof *out->simulators), n_threads };
    if (!out->simulators)
        out_of_memory(n_threads * sizeof *out->simulators);
    for (uint32_t i = 0; i < n_threads; i++) {
        simulator_open(&out->simulators[i], paths);
        out->simulators[i].options = options;
        out->simulators[i].limit_bytes = min_u64(out->simulators[i].limit_bytes, POOL_BYTES / n_threads);
    }
}

void simulator_pool_close(struct simulator_pool *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        simulator_close(&p->simulators[i]);
    free(p->simulators);
    *p = (struct simulator_pool){0};
}

struct pool_task { size_t n, chunk; simulator_job *job; void *user; atomic_size_t next; };
struct pool_worker { struct pool_task *task; struct simulator *simulator; pthread_t thread; };

static void *pool_work(void *user)
{
    struct pool_worker *w = user;
    struct pool_task *t = w->task;
    for (size_t first; (first = atomic_fetch_add(&t->next, t->chunk)) < t->n; )
        for (size_t i = first; i < t->n && i < first + t->chunk; i++)
            t->job(t->user, i, w->simulator);
    return NULL;
}

void simulator_pool_run(struct simulator_pool *p, size_t n, size_t chunk, simulator_job *job, void *user)
{
    struct pool_task task = { .n = n, .chunk = chunk, .job = job, .user = user };
    struct arena a = {0};
    struct pool_worker *workers = ARENA_ARRAY(&a, struct pool_worker, p->n);
    uint32_t n_started = 1, most = (uint32_t)min_u64(p->n, ceil_div(n, chunk));
    for (uint32_t i = 0; i < p->n; i++)
        workers[i] = (struct pool_worker){ .task = &task, .simulator = &p->simulators[i] };
    while (n_started < most && pthread_create(&workers[n_started].thread, NULL, pool_work, &workers[n_started]) == 0)
        n_started++;
    pool_work(&workers[0]);
    for (uint32_t i = 1; i < n_started; i++)
        pthread_join(workers[i].thread, NULL);
    arena_free(&a);
}
