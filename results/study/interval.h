/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interval.h - how far a throughput may be off, by how far the run is from anything published; and how often that holds.
 */
#ifndef INTERVAL_H
#define INTERVAL_H
#include "results/study/references.h"

/* What is left out of the references: groups, or one configuration; NULL: none. */
struct left_out { const char *group, *other_group, *configuration; };

/* Nine in ten errors |ln(simulated / published)| stay within quantile x size; farthest: the largest distance tested; unlike: nine in ten
 * were tested on runs that less of the step is unlike. */
struct spread { double mean_error, farthest, unlike, quantile; size_t n_errors; };

/* How far off published runs were when they were left out: what answers are judged by. Made once, read by many. */
struct track_record { struct references references; struct spread spread; };

/* From the references' errors, each with its own group left out; those of `without` altogether (NULL: none). */
struct spread spread_of(const struct references *r, const char *without, struct arena *scratch);
/* Half the interval's width at these properties, as a logarithm: throughput x exp(+-this). */
double spread_half_width(const struct spread *s, const struct references *r, const struct properties *at, const struct left_out *out);
/* The same from how far each reference is, infinite where it is left out; and the part of the step that is spent on other things than in the
 * references about it, 0 to 0.99. */
struct expected_error { double half_width, unlike; };
struct expected_error spread_expect(const struct spread *s, const struct references *r, const struct apart *apart);
/* The half width as one standard deviation of the logarithm of a normal error; group: left out, as an unknown one would be (NULL: none). 0: there
 * is nothing to judge by. */
double spread_deviation(const struct references *r, const struct properties *at, const char *group, struct arena *scratch);

/* Left one group out: its errors against the interval that the other groups give. near: each configuration left out by itself, its
 * group known, as it is for an answer close to published ones. */
struct interval_count { const char *what; size_t n, inside; double mean_half_width; };
struct interval_coverage { struct interval_count all, near; struct interval_count *groups; size_t n_groups; };
void interval_coverage(struct interval_coverage *out, const struct references *r, struct arena *a);
void interval_coverage_print(FILE *f, const struct interval_coverage *c);
struct json_t *interval_coverage_json(const struct interval_coverage *c);

#endif
