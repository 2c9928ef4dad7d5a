/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.h - what was predicted, point by point: an append-only table, a line a run and metric.
 *
 * label,time,version,inputs,recipe,metric,value,unit. A point is a label (a commit, a build); its lines are appended together. Branches
 * merge by keeping the lines of both. A line that stands twice for one label, recipe and metric counts once: the last.
 */
#ifndef HISTORY_H
#define HISTORY_H
#include "system-model/base/base.h"

struct history_point { const char *label, *time, *version, *inputs; double value; };
struct history_series { const char *recipe, *metric, *unit; struct history_point *points; size_t n, cap; };
struct history { struct history_series *items; size_t n, cap; size_t n_broken; };     /* n_broken: lines passed over, left by a kill */

/* The series of one metric (NULL: all), of one recipe (NULL: all), points ordered by time, then as they stand. */
bool history_load(struct history *out, const char *path, const char *metric, const char *recipe, struct arena *a, struct err *err);
/* Appends a run's rows.csv, and the mean error of what validates, as one point. NAN: there is none. */
bool history_append(const char *path, const struct csv_table *rows, double error, const char *label, const char *time, struct err *err);
/* Relative to the size of what was before; NaN: from nothing to something, or beyond any number. */
double relative_change(double before, double after);
const char *change_text(double before, double after, int digits, struct arena *a);     /* "+1.23 %", or "from nothing" */
/* One character a value, from the lowest to the highest; the newest `most`. */
const char *sparkline(const struct history_series *s, size_t most, struct arena *a);

#endif
