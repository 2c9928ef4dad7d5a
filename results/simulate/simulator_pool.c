/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator_pool.c - many simulations on several threads. A thread lives for one call of simulator_pool_run(), since starting it costs only as
 * much as two simulations.
 */
#include "results/simulate/simulator.h"

enum { POOL_BYTES = 96 << 20 };

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

struct pool_task { size_t n, chunk; simulator_job *job; void *user; struct simulator *simulators; };

static void run_chunk(void *user, size_t piece, uint32_t worker)
{
    struct pool_task *t = user;
    for (size_t i = piece * t->chunk; i < t->n && i < (piece + 1) * t->chunk; i++)
        t->job(t->user, i, &t->simulators[worker]);
}

void simulator_pool_run(struct simulator_pool *p, size_t n, size_t chunk, simulator_job *job, void *user)
{
    struct pool_task task = { n, chunk, job, user, p->simulators };
    work_in_pieces(run_chunk, &task, ceil_div(n, chunk), p->n);
}
