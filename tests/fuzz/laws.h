/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * laws.h - what holds of every simulation, whatever was simulated.
 *
 * No quantity is negative or not a number, the breakdown sums to the step, what fits has no shortfall, spans do not overlap; the interval
 * holds the prediction; shares of the time are shares.
 */
#ifndef LAWS_H
#define LAWS_H
#include "tests/fuzz/small.h"
#include "results/simulate/simulate.h"
#include "results/study/trust.h"

#include <math.h>

static inline void check_validity(const struct simulation *sim, const struct result *r, const struct track_record *by)
{
    struct arena a = {0};
    struct validity v;
    validity_of(&v, by, sim, r, NULL, &a);
    LAW(v.low >= 0 && v.low <= v.high && isfinite(v.high));
    const double expected = validity_expected(&v);      /* the prediction less the error of runs like this one */
    LAW(v.throughput == r->throughput_samples_per_s);
    LAW(v.high == 0 || (v.low <= expected * (1 + 1e-9) && v.high >= expected * (1 - 1e-9)));
    LAW(v.n_nearest <= MAX_NEAREST && v.n_extrapolates <= N_PROPERTIES);
    for (size_t i = 1; i < v.n_nearest; i++)
        LAW(v.nearest[i].distance >= v.nearest[i - 1].distance);
    LAW(!v.near || (v.n_nearest && v.distance == v.nearest[0].distance && v.distance >= 0));
    arena_free(&a);
}

static inline void check_result(const struct simulation *sim, const struct result *r)
{
    struct err err;
    double sum = 0, training = r->train_time_s + r->eval_time_s + r->startup_time_s + r->tail_time_s + r->scaling_time_s;
    for (int i = 0; i < N_PARTS; i++) {
        LAW(r->breakdown_s[i] >= 0 && isfinite(r->breakdown_s[i]));
        sum += r->breakdown_s[i];
    }
    LAW(isfinite(r->step_time_s) && r->step_time_s > 0 && fabs(sum / r->step_time_s - 1) < 1e-9);
    LAW(isfinite(r->throughput_samples_per_s) && r->throughput_samples_per_s > 0);
    LAW(r->mfu >= 0 && r->mfu <= r->hfu && r->hfu <= 1);
    LAW(r->fits == (r->memory_shortfall_bytes_per_tile == 0));
    LAW(!r->fits || r->memory_peak_bytes_per_tile <= sim->machine->chip.tile_memory_bytes);
    LAW(r->time_to_train_s == 0 || fabs(training / r->time_to_train_s - 1) < 1e-9);
    LAW(r->scaling_time_s >= 0 && isfinite(r->scaling_time_s));
    LAW(r->energy_per_step_j >= 0 && r->energy_j >= 0 && r->cost_per_step >= 0 && r->cost_to_train >= 0 && r->fault_cost_s >= 0);
    LAW(isfinite(r->energy_j) && isfinite(r->cost_to_train) && isfinite(r->predicted_time_to_train_s));
    LAW(timeline_check(&sim->timeline, &err));
}
#endif
