/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * evidence.h - how much likelier the points of a level are if its mean has moved.
 */
#ifndef EVIDENCE_H
#define EVIDENCE_H
#include "system-model/base/base.h"

enum { LEAST_BEFORE = 5, LEAST_AFTER = 5 };     /* points on each side of a change */

/* One cleaned point, and sums over the points before it: of values, of squares, of products of neighbours, and of index times value. */
struct level_sum { double y, sum, square, lagged, ramp; };

/* The points that have arrived since a level began. All memory is allocated once, for `room` points, and used again by the next level. */
struct level_points {
    const double *x; size_t n;
    double centre, unit;                /* cleaned values are (x - centre) * unit */
    struct level_sum *sums;             /* n + 1 sums */
    double *off;                        /* distances from the running median */
};

void level_points_create(struct level_points *out, const double *x, size_t room, struct arena *a);
void level_points_restart(struct level_points *l, const double *x);     /* the level begins at x, and no point of it has arrived */
void level_points_add(struct level_points *l);                          /* the next point arrives; constant time */
double level_points_mean(const struct level_points *l, size_t from, size_t end);        /* the mean of cleaned values, in the unit of x */

/* Natural logarithms of the odds that the level has risen or fallen; -INFINITY below evidence_floor. */
struct level_evidence { double up, down; };
extern const double evidence_floor;
struct level_evidence level_evidence(const struct level_points *l);
/* level_evidence() for a change at one point only. */
struct level_evidence level_evidence_at(const struct level_points *l, size_t split);
/* The first point after the likeliest step upwards or downwards, and the correlation of neighbours that goes best with it. */
size_t level_split(const struct level_points *l, bool upwards, double *correlation);

#endif
