/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * answer.h - a run in a dozen lines: whether it fits, how fast it is, what bounds it, what was changed, what is published, how long to train.
 */
#ifndef ANSWER_H
#define ANSWER_H
#include "results/published/published.h"
#include "results/simulate/simulate.h"

/* figures: published ones, of which those of this recipe are shown; NULL: none are looked at. r holds its provenance. colour: a verdict of no is
 * red. */
void answer_print(FILE *f, const struct simulation *sim, const struct result *r, const struct figures *figures, bool colour);

/* A terminal, and NO_COLOR is not set. */
bool in_colour(FILE *f);

#endif
