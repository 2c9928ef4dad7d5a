/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * more_chips.c - the number of chips from which more chips do not pay.
 *
 * Strong scaling has two limits. With a fixed batch, the accumulation runs out and the all-reduce shows; with a larger batch, more samples are
 * needed to converge. For each size, halvings of the gradient accumulation are tried, with samples to converge and their spread from the
 * convergence model, and the shortest expected time to train is kept.
 */
#include "harness/harness.h"
#include "results/study/trust.h"

const struct scaling_case scaling_cases[] = {
    { "resnet50", "mlperf-v2.0-closed-bow-pod64-resnet50" }, { "bert-large", "mlperf-v2.0-closed-bow-pod64-bert-large" },
};
const size_t n_scaling_cases = sizeof scaling_cases / sizeof *scaling_cases;
const uint64_t scaling_sizes[] = { 16, 64, 128, 256, 1024 };
const size_t n_scaling_sizes = sizeof scaling_sizes / sizeof *scaling_sizes;

static double scaled_steps_per_call(const struct recipe *own, uint64_t accumulation, uint64_t replicas)
{
    double growth = (double)(accumulation * replicas) / (double)(own->gradient_accumulation * own->replicas);
    return own->steps_per_call > 1 ? fmax(1, floor(own->steps_per_call / growth)) : own->steps_per_call;
}

/* Tries one size and one gradient accumulation. False if it cannot run, for example because it does not fill the pipeline. */
static bool scaling_try(struct chips_point *out, const struct recipe *own, uint64_t chips, uint64_t accumulation, const struct track_record *by,
                        struct session *s)
{
    struct err unused;
    uint64_t replicas = chips / own->ipus_per_replica, hosts = ceil_div(chips * own->host_count, own->ipus_per_replica * own->replicas);
    const char *const sets[] = {
        arena_printf(&s->arena, "recipe.system=bow-pod%llu", (unsigned long long)chips),
        arena_printf(&s->arena, "parallel.replicas=%llu", (unsigned long long)replicas),
        arena_printf(&s->arena, "parallel.gradient_accumulation=%llu", (unsigned long long)accumulation),
        arena_printf(&s->arena, "hosts.count=%llu", (unsigned long long)hosts),
        arena_printf(&s->arena, "hosts.steps_per_call=%.10g", scaled_steps_per_call(own, accumulation, replicas)),
    };
    struct simulation sim = {0};
    struct result r;
    struct drawn_runs d;
    struct validity v;
    const struct submission_request q = { .seed = 1, .predict_schedule = true, .record = by };
    bool good = simulator_run(&s->simulator, &sim, &r, own->id, sets, sizeof sets / sizeof *sets, &unused) && r.fits &&
                submission_draw(&d, &sim, &r, &q, s, &unused) && d.expected_minutes > 0;
    if (good) {
        validity_of(&v, by, &sim, &r, NULL, &s->arena);
        *out = (struct chips_point){ chips, accumulation, r.global_batch, d.expected_minutes, d.low_minutes, d.high_minutes,
                                     d.expected_samples, validity_guess_name(&v) };
    }
    simulation_free(&sim);
    return good;
}

/* Tries halvings of the accumulation, starting at four times the recipe's. */
bool scaling_best(struct chips_point *best, const struct scaling_case *w, uint64_t chips, const struct track_record *by, struct session *s)
{
    struct recipe own;
    bool found = recipe_load(&own, w->recipe, s->paths.recipes_dir, NULL, 0, &s->arena, NULL);
    best->minutes = INFINITY;
    for (uint64_t g = found ? 4 * own.gradient_accumulation : 0; g > 0; g /= 2) {
        struct chips_point p;
        if (scaling_try(&p, &own, chips, g, by, s) && p.minutes < best->minutes)
            *best = p;
    }
    return best->minutes < INFINITY;
}
