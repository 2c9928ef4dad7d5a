/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.h - the table of metrics, which podbench_metrics.def lists, for the files that read and write results by it.
 */
#ifndef METRICS_H
#define METRICS_H
#include "results/simulate/result.h"

enum metric_place { ROW, OBJECT };
enum metric_absence { ALWAYS, OR_UNKNOWN };

struct metric {
    const char *name, *unit;
    enum field_type type;
    size_t offset;
    enum metric_group group;
    enum metric_place place;
    enum metric_absence absence;
    enum better better;
    const char *member, *phrase, *help;
};
enum {
#define METRIC(type, name, ...) METRIC_INDEX_##name,
#include "results/simulate/podbench_metrics.def"
#undef METRIC
    N_METRICS
};
extern const struct metric metrics[N_METRICS];
/* A group of metrics: the head of its line in the answer, its heading on the page, and its object in JSON, or NULL. */
extern const struct metric_heading { const char *label, *title, *object; } metric_groups[N_METRIC_GROUPS];

const struct metric *metric_named(const char *name, size_t n);         /* the metric whose name is the first n characters; NULL if there is none */
enum { PART_COLUMN_ROOM = 64 };
const char *part_column(char out[PART_COLUMN_ROOM], size_t part);     /* "breakdown_matmul_s" */

#endif
