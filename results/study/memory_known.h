/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_known.h - the programs whose memory is known, how much less sure a verdict is for each unit of distance from them, and how often programs
 * with such a chance fitted.
 *
 * Each published row that says whether a run fits, or how many bytes its fullest tile has, is predicted again: from the bytes that were counted for
 * its first prediction, or from today's if those were not kept; and from the programs of other origins. Only rows that calibrate shape the spread.
 */
#ifndef MEMORY_KNOWN_H
#define MEMORY_KNOWN_H
#include "results/published/check.h"
#include "results/simulate/memory_record.h"

struct memory_question {
    const struct figure *figure;
    const char *origin, *name[N_PROGRAM_NAMES];
    struct memory_need need, counted;   /* need: the bytes counted at first sight, if they were kept; counted: those counted today */
    double tile_bytes, memory_error;
    double published_bytes;             /* bytes of the fullest tile; 0 where the row only says that the run fitted or was too large */
    bool at_first_sight;
};
struct memory_known {
    struct memory_question *items; size_t n, cap;      /* each configuration once */
    struct memory_record record;
};
/* The spread of ln(bytes needed / bytes counted) for the bytes that are not certain, by questions that calibrate and today's counts. Published
 * runs are left out: they were chosen because they ran. mean_square_root, which is memory_error (podbench calibrate), is a mean over all spreads,
 * weighted by their likelihood: so few rows leave the spread open, and the chance of a verdict has to allow for large ones. Every order of
 * magnitude is equally likely beforehand. NaN if there is no such question. */
struct memory_spread { double likely, low, high, mean_square_root; size_t n_verdicts, n_known; };
struct memory_spread memory_error_fit(const struct memory_known *m);
struct table memory_spread_table(const struct memory_spread *s);
bool memory_known_build(struct memory_known *out, const struct figures *figures, const struct first_sight *seen, const struct memory_sights *sights,
                        struct simulator *s, struct arena *a, struct err *err);
/* Fits the spread by maximum likelihood, leaving out what one origin published (NULL: nothing). Returns 0 if no question calibrates. */
double memory_far_fit(const struct memory_known *m, const char *without_origin);
/* Verdicts grouped by the chance that was stated: by how the row counts, for first predictions and for today's. */
struct memory_chances *memory_known_chances(size_t *n, const struct memory_known *m, struct arena *a);
#endif
