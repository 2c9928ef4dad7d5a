/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * published.h - tables of published figures: results/published/<table>.csv.
 */
#ifndef PUBLISHED_H
#define PUBLISHED_H
#include "system-model/base/base.h"

enum role { FIGURE_CALIBRATE, FIGURE_VALIDATE, FIGURE_CONTEXT, N_FIGURE_ROLES };
extern const char *const role_names[N_FIGURE_ROLES + 1];
enum role role_named(const char *text);                 /* N_FIGURE_ROLES: none is called that */
struct figure {
    const char *id, *recipe, *metric, *unit, *source, *quote, *note, *path;
    const char *configuration;          /* what was run; rows that share it count as one measurement */
    const struct figure *parents; size_t n_parents;     /* of a derived row (derived.h): the rows that it follows from */
    double value, tolerance;            /* tolerance: relative, 0.1 = 10 % */
    enum role role;
    uint32_t line;
};
struct figures {
    struct figure *items; size_t n, cap;
    size_t n_left_out; const char *left_out;    /* derived rows without a parent's recipe, and the first of them, as a message */
};
bool published_load(struct figures *out, const char *path, struct arena *a, struct err *err);   /* a file, or a folder of them */
/* Of the tables alone in which the recipe is named; the others are not looked at. */
bool published_load_naming(struct figures *out, const char *path, const char *recipe, struct arena *a, struct err *err);
bool figure_is_ratio(const struct figure *f);           /* of two recipes */
/* Whether more of it is faster (+1) or slower (-1); 0: the metric is not simulated. */
int metric_faster(const char *metric);

#endif
