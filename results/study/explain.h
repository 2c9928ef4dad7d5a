/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.h - an engineer's answer to "why does a step take so long": what bounds it, where the time goes, what would help.
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H
#include "results/study/cost_tree.h"
#include "results/study/inputs.h"

/* What the run is bound by, read off the IPU that waits least: the others wait for it. */
struct bound {
    bool memory, host_input;            /* does not fit; the step cannot be shorter than its input takes */
    bool slow_chip;                     /* what the IPU takes longer than a sound one is more than any class */
    enum part_class class;
    const struct cost *part, *phase, *operation;    /* the largest of the class; phase and operation may be NULL */
    uint32_t ipu, idlest_ipu;           /* within a replica */
    uint32_t ipu_of_machine;            /* the first of the two */
    double class_share;                 /* of the step, on that IPU */
    double least_waiting_share, most_waiting_share;
    const char *link;                   /* kind of the busiest link; NULL where links are not the bound */
};

/* From the least time the arithmetic can take to the time predicted, in steps that add up exactly. */
struct waterfall_item { const char *name; uint64_t from_ipu_cycles, to_ipu_cycles; };
enum { MAX_WATERFALL = N_PART_CLASSES + 4 };
struct waterfall { struct waterfall_item items[MAX_WATERFALL]; size_t n; };     /* the last: the step, from 0 */

struct explanation {
    const struct simulation *sim;
    const struct result *result;
    struct cost tree;
    struct bound bound;
    struct waterfall waterfall;
    struct inputs inputs;
    struct moves moves;
};

/* Simulates every move; sim and result are of the question itself, and stay the caller's. */
void explain(struct explanation *out, const struct simulation *sim, const struct result *result, const struct question *q, struct arena *a);
void bound_find(struct bound *out, const struct simulation *sim, const struct cost *tree);
void waterfall_build(struct waterfall *out, const struct timeline *t);

/* The sheet values that a part of the breakdown depends on most; returns how many, at most room. */
size_t part_inputs(const struct move **out, size_t room, const struct explanation *e, enum part part);

void explain_print(FILE *f, const struct explanation *e);               /* conclusion, costs, moves: one screen */
void waterfall_write_csv(FILE *f, const struct explanation *e);         /* for the figure */
struct json_t *explain_json(const struct explanation *e);

#endif
