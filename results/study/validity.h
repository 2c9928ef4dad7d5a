/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * validity.h - how far an answer can be trusted: an interval, the nearest published runs with their errors, what lies outside all of them, and
 * how much of the time rests on fitted and on assumed values.
 */
#ifndef VALIDITY_H
#define VALIDITY_H
#include "results/study/interval.h"
#include "results/study/readings.h"

enum { MAX_NEAREST = 3, NEAR_DISTANCE = 3, MAX_EXTRAPOLATES = MAX_PROPERTIES + 16 };
struct validity {
    double low, high;                   /* throughput, samples/s; 0: nothing to judge by */
    double distance;                    /* to the nearest published run; -1: none */
    double unlike, tested_unlike;       /* part of the step that is spent on other things than in the published runs about it, and as much of it
                                         * as was tested: beyond, the interval is wider */
    struct { const struct reference *reference; double distance; } nearest[MAX_NEAREST]; size_t n_nearest;
    const char *extrapolates[MAX_EXTRAPOLATES]; size_t n_extrapolates;
    bool same_kind;                     /* some published run is of this family of models and mode */
    bool near;                          /* and one lies within NEAR_DISTANCE: three names apart, or as much in doublings */
    struct open_readings open;
    double throughput, half_width;      /* what the interval is about, and half of its width as a logarithm, other readings apart */
    double from_fitted_share, from_assumed_share;   /* of the step's time; NAN: not asked for */
};

/* No such file: nothing to judge by. */
bool track_record_open(struct track_record *out, const char *left_out_csv, struct arena *a, struct err *err);

/* q: how the result was simulated, for the shares and other readings; NULL: they are not asked for. */
void validity_of(struct validity *out, const struct track_record *by, const struct simulation *sim, const struct result *r, const struct question *q,
                 struct arena *a);
/* The interval with other readings of what the recipe leaves open, set beside what the question gives as it is asked; validity_of does it where a
 * question is given. */
void validity_read(struct validity *v, const struct track_record *by, const struct result *as_asked, const struct question *q, struct arena *a);
void validity_print(FILE *f, const struct validity *v, const struct result *r);     /* two or three lines */
struct json_t *validity_json(const struct validity *v);

#endif
