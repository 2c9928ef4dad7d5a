/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * answer.h - a run in a dozen lines: whether it fits, how fast it is, what bounds it, how long it trains, what was
 * changed and published.
 */
#ifndef ANSWER_H
#define ANSWER_H
#include "results/published/published.h"
#include "results/simulate/simulate.h"

/* Shows the published figures of this recipe, unless figures is NULL. r holds its provenance. With colour a verdict of
 * no is red. */
void answer_print(FILE *f, const struct simulation *sim, const struct result *r, const struct figures *figures, bool colour);

/* True if f is a terminal and NO_COLOR is not set. */
bool in_colour(FILE *f);

#endif
