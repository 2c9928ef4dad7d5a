/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.h - why two simulations differ: their keys and sheet values are changed one after the other, from A to B.
 *
 * Keys are changed first, in the order of podbench list keys, then sheet values, outermost sheet first. The effect of a cause is the change of
 * time when it is added to the causes before it, so the effects add up to the whole difference. The effect of the cause alone on A is listed,
 * too; the two effects differ by the cause's interaction with the causes before it. A change that is not possible yet waits until other
 * changes make it possible. Changes that are only possible together count as one. Times are whole picoseconds (times of a sample:
 * femtoseconds), so that sums are exact.
 */
#ifndef DIFF_H
#define DIFF_H
#include "results/study/inputs.h"
#include "system-model/output/output.h"

struct diff_times { int64_t step_ps, sample_fs; };

struct diff_cause {
    const char *what;                   /* text such as "parallel.micro_batch 3 -> 4"; changes made together are joined by " with " */
    const char **sets; size_t n_sets;   /* overrides in the form of --set */
    struct diff_times change;           /* the change of time when it is added to the causes before it */
    bool possible_alone;                /* false if the change is refused without the causes before it */
    struct diff_times alone;            /* the change of time when it is made alone on A */
};
struct diff {
    struct result a, b;
    struct diff_cause *causes; size_t n;        /* causes in the order in which the changes are made */
    struct diff_times whole, rest;      /* `rest` is the difference that no key or value explains; it is the last summand */
};

bool diff_simulations(struct diff *out, const struct simulation_request *a, const struct simulation_request *b, struct arena *arena, struct err *err);
void diff_document(struct document *d, const struct diff *diff);        /* writes text and JSON */

/* The difference of two rows of one recipe by parts of the step, in whole picoseconds that add up. rounding_ps is the error by which the rows'
 * parts were rounded. */
struct diff_parts { int64_t whole_ps, part_ps[N_PARTS], rounding_ps; };
struct diff_parts diff_parts(const struct result *a, const struct result *b);
void diff_print_parts_line(FILE *f, const struct result *a, const struct result *b);    /* prints the parts that changed most, in per cent of a's step */
void diff_parts_document(struct document *d, const struct result *a, const struct result *b);       /* text */
struct json_t *diff_parts_json(const struct result *a, const struct result *b);

#endif
