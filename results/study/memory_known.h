/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_known.h - the programs whose memory is known, how much certainty a verdict loses with each unit of distance from them, and how often
 * programs with such a chance did fit.
 *
 * Each published row about whether a run fits, or about the bytes of its fullest tile, is predicted again from programs of other origins. The
 * prediction takes the bytes counted for the row's first prediction, or today's bytes if those were not recorded. Only calibrating rows shape
 * the spread.
 */
#ifndef MEMORY_KNOWN_H
#define MEMORY_KNOWN_H
#include "results/published/check.h"
#include "results/simulate/memory_record.h"

struct memory_question {
    const struct figure *figure;
    const char *origin, *name[N_PROGRAM_NAMES];
    struct memory_need need, counted;   /* `need` has the bytes counted at first sight, if recorded; `counted` has today's */
    double tile_bytes, memory_error;
    double published_bytes;             /* bytes of the fullest tile; 0 if the row only says whether the run fitted */
    bool at_first_sight;
};
struct memory_known {
    struct memory_question *items; size_t n, cap;      /* questions, one for each configuration */
    struct memory_record record;
};
/* The spread of ln(bytes needed / bytes counted) of the uncertain bytes, from calibrating questions and today's counts. Published runs are
 * left out, because only runs that fit are published. mean_square_root, which is memory_error (podbench calibrate), is a mean over all
 * spreads weighted by their likelihood: so few rows leave the spread open, and a verdict has to allow for large ones. Before the rows are
 * seen, every order of magnitude is equally likely. NaN without questions. */
struct memory_spread { double likely, low, high, mean_square_root; size_t n_verdicts, n_known; };
struct memory_spread memory_error_fit(const struct memory_known *m);
struct table memory_spread_table(const struct memory_spread *s);
bool memory_known_build(struct memory_known *out, const struct figures *figures, const struct first_sight *seen, const struct memory_sights *sights,
                        struct simulator *s, struct arena *a, struct err *err);
/* Fits the spread by maximum likelihood, without the rows of one origin (NULL: all rows). Returns 0 if no question calibrates. */
double memory_far_fit(const struct memory_known *m, const char *without_origin);
/* Verdicts grouped by the chance that was stated, both for first predictions and for today's, and by how the row counts. */
struct chance_bin *memory_known_chances(size_t *n, const struct memory_known *m, struct arena *a);
#endif
