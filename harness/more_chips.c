/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * more_chips.c - where more chips stop paying.
 *
 * Strong scaling has two ends: with the batch held, accumulation runs out and the all-reduce shows; with the batch
 * grown, more samples are needed to converge. On each size every halving of the gradient accumulation is tried, samples to
 * converge and their spread come from the convergence model, and the shortest expected time to train is kept.
 */
#include "harness/more_chips.h"
#include "harness/submission.h"

#include <math.h>

const struct sweep sweeps[] = {
    { "resnet50",   "mlperf-v2.0-closed-bow-pod64-resnet50",   1, 16, 16, 1281167 / 5.0 },    /* logs five times an epoch */
    { "bert-large", "mlperf-v2.0-closed-bow-pod64-bert-large", 8, 384, 64, 0 },               /* returns after each update */
};
const size_t n_sweeps = sizeof sweeps / sizeof *sweeps;
const uint64_t sweep_sizes[] = { 16, 64, 128, 256, 1024 };
const size_t n_sweep_sizes = sizeof sweep_sizes / sizeof *sweep_sizes;

/* One size, one gradient accumulation. False, without a message, when that cannot run (a pipeline that cannot be filled). */
static bool sweep_try(struct sweep_point *out, const struct sweep *w, uint64_t chips, uint64_t accumulation, struct session *s)
{
    struct err unused;
    struct recipe recipe;
    if (!recipe_load(&recipe, w->recipe, s->paths.recipes_dir, NULL, 0, &s->arena, &unused))
        return false;
    uint64_t replicas = chips / w->ipus_per_replica;
    double batch = (double)(recipe.model.micro_batch * accumulation * replicas);
    const char *const sets[] = {
        arena_printf(&s->arena, "recipe.system=bow-pod%llu", (unsigned long long)chips),
        arena_printf(&s->arena, "parallel.replicas=%llu", (unsigned long long)replicas),
        arena_printf(&s->arena, "parallel.gradient_accumulation=%llu", (unsigned long long)accumulation),
        arena_printf(&s->arena, "hosts.count=%llu", (unsigned long long)ceil_div(chips, w->ipus_per_host)),
        arena_printf(&s->arena, "hosts.steps_per_call=%.10g", fmax(1, floor(w->samples_per_call / batch))),
    };
    size_t n_sets = w->samples_per_call > 0 ? 5 : 4;
    struct simulation sim = {0};
    struct result r;
    struct run_distribution d;
    const struct submission_request q = { .seed = 1, .predict_schedule = true };
    bool good = simulator_run(&s->simulator, &sim, &r, w->recipe, sets, n_sets, &unused) && r.fits &&
                submission_draw(&d, &sim, &r, &q, s, &unused) && d.expected_minutes > 0;
    if (good)
        *out = (struct sweep_point){ chips, accumulation, r.global_batch, d.expected_minutes, d.low_minutes, d.high_minutes,
                                     d.expected_samples };
    simulation_free(&sim);
    return good;
}

bool sweep_best(struct sweep_point *best, const struct sweep *w, uint64_t chips, struct session *s)
{
    bool found = false;
    for (uint64_t g = w->largest_accumulation; g > 0; g /= 2) {
        struct sweep_point p;
        if (sweep_try(&p, w, chips, g, s) && (!found || p.minutes < best->minutes)) {
            *best = p;
            found = true;
        }
    }
    return found;
}
