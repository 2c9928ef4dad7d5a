/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * derived.h - figures that follow from published ones: the slope and the intercept of step time over accumulation, and differences.
 *
 * Runs that differ only in gradient accumulation or in replicas lie on a line: step = loop x micro-batches + update. So two published
 * throughputs state two facts more. results/published/derived/derived.csv names them: id,metric,parents,tolerance,note; parents are
 * ids of published rows joined by +. Value, unit, role and source follow: the role is the strictest of the parents'.
 * A line of which only the slope or only the intercept is listed is refused.
 */
#ifndef DERIVED_H
#define DERIVED_H
#include "results/published/published.h"

/* One run as a point of the line: micro-batches a call, and the seconds of the call. */
struct derived_point { double micro_batches, seconds; };

/* value: published or simulated, of the parent's metric: throughput_samples_per_s, step_time_s or evaluation_time_s (many calls). */
bool derived_point(struct derived_point *out, const struct figure *parent, double value, const char *recipes_dir, struct arena *a,
                   struct err *err);
/* loop_s_per_micro_batch, forward_s_per_micro_batch: slope of the least-squares line; update_s, call_s: its intercept;
 * step_increase_s: the last point over the first. */
double derived_value(const char *metric, const struct derived_point *points, size_t n);

/* published_load, and where path is a folder with derived/derived.csv those rows too; but for rows whose recipes_dir lacks the recipe of a
 * parent: they are counted as left out. */
bool published_load_derived(struct figures *out, const char *path, const char *recipes_dir, struct arena *a, struct err *err);

#endif
