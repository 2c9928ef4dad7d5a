/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * evidence.h - the evidence that the mean of a level has moved.
 */
#ifndef EVIDENCE_H
#define EVIDENCE_H
#include "system-model/base/base.h"

enum { LEAST_BEFORE = 5, LEAST_AFTER = 5 };     /* the fewest points on each side of a change */

/* One cleaned point, and sums over all points before it: of values, of squares, of products of neighbours, and of index times value. */
struct level_sum { double y, sum, square, lagged, ramp; };

/* The points that arrived since a level began. Memory is allocated once, for `room` points, and is reused by the next level. */
struct level_points {
    const double *x; size_t n;
    double centre, unit;                /* a cleaned value is (x - centre) * unit */
    struct level_sum *sums;             /* sums over the points before each index, n + 1 of them */
    double *off;                        /* each point's distance from the running median */
};

void level_points_create(struct level_points *out, const double *x, size_t room, struct arena *a);
void level_points_restart(struct level_points *l, const double *x);     /* starts a level at x, without points */
void level_points_add(struct level_points *l);                          /* adds the next point in constant time */
double level_points_mean(const struct level_points *l, size_t from, size_t end);        /* the mean of cleaned values, in the unit of x */

/* Natural logarithms of the odds that the level has risen or fallen. Values below evidence_floor are -INFINITY. */
struct level_evidence { double up, down; };
extern const double evidence_floor;
struct level_evidence level_evidence(const struct level_points *l);
/* Like level_evidence(), but for a change at one given point. */
struct level_evidence level_evidence_at(const struct level_points *l, size_t split);
/* The first point after the likeliest step in this direction, and the correlation of neighbours that fits best with it. */
size_t level_split(const struct level_points *l, bool upwards, double *correlation);

#endif
