/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.h - why two simulations differ: the keys and sheet values that do, changed one after the other from A to B.
 *
 * Order: the recipe's keys as podbench list keys has them, then sheet values, outermost sheet first. Each cause counts what the time
 * changes as it is added to those before it, so the causes add up to the whole; what it changes alone on A is set beside it, and the
 * difference of the two is its interaction with those before it. A change that is not possible yet waits for those that make it so;
 * changes that are possible only together count as one.
 * Times are whole picoseconds (of a sample: femtoseconds), so that sums are exact.
 */
#ifndef DIFF_H
#define DIFF_H
#include "results/study/inputs.h"

struct diff_times { int64_t step_ps, sample_fs; };

struct diff_cause {
    const char *what;                   /* "parallel.micro_batch 3 -> 4"; several that go together are joined by " with " */
    const char **sets; size_t n_sets;   /* as --set takes them */
    struct diff_times change;           /* in order; they add up to the whole */
    bool stands_alone;                  /* false: refused without those before it */
    struct diff_times alone;            /* the same change on A */
};
struct diff {
    struct result a, b;
    struct diff_cause *causes; size_t n;        /* in order */
    struct diff_times whole, rest;      /* rest: what no key or value states; the last summand */
};

bool diff_simulations(struct diff *out, const struct simulation_request *a, const struct simulation_request *b, struct arena *arena, struct err *err);
void diff_print(FILE *f, const struct diff *d);
struct json_t *diff_json(const struct diff *d);

/* Two rows of one recipe by the parts of their breakdown: whole picoseconds that add up, what the tables rounded away last. */
struct diff_parts { int64_t whole_ps, part_ps[N_PARTS], rounding_ps; };
struct diff_parts diff_parts(const struct result *a, const struct result *b);
void diff_print_parts_line(FILE *f, const struct result *a, const struct result *b);    /* the largest parts, in per cent of a's step */
void diff_print_parts(FILE *f, const struct result *a, const struct result *b);
struct json_t *diff_parts_json(const struct result *a, const struct result *b);

#endif
