/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.h - why a step takes as long as it does: where its time goes, what bounds it, and what would help.
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H
#include "results/study/inputs.h"
#include "system-model/output/output.h"

/* ---- cost_tree.c: a step's time as a tree: part of the breakdown, phase, operation ------------- */

/* Counts are cycles times IPUs, whole numbers that add up exactly; divided by the IPUs and the clock they are the
 * seconds of the breakdown. */
struct cost {
    const char *name;
    uint64_t ipu_cycles;
    enum part part;             /* N_PARTS: the root */
    struct cost *children;      /* sorted, largest first; their ipu_cycles add up to this node's */
    size_t n_children;
};

/* The root has every part that took time, a part its phases, and a forward or backward phase its operations. */
void cost_tree_build(struct cost *root, const struct timeline *t, struct arena *a);
double cost_seconds(const struct cost *c, const struct timeline *t);    /* mean over the IPUs */
/* A node whose children do not add up to it, or NULL. */
const struct cost *cost_tree_wrong(const struct cost *root);
uint64_t timeline_ipus(const struct timeline *t);               /* how many IPUs the rows represent */

extern const char *const cost_formulas[N_PARTS];                /* how each part is counted */

/* ---- explain.c, explain_print.c ------------------------------------------------------------------- */

/* The bound of the run, taken from the IPU that waits least: the others wait for it. */
struct bound {
    bool memory, host_input;            /* memory: the recipe does not fit; host_input: the step cannot be shorter than its input takes to arrive */
    bool slow_chip;                     /* the time lost to the IPU's fault is larger than any class */
    enum part_class class;
    const struct cost *part, *phase, *operation;    /* the largest of the class; phase and operation may be NULL */
    uint32_t ipu, idlest_ipu;           /* numbers of the IPU within its replica */
    uint32_t ipu_of_machine;            /* `ipu` as the machine numbers it */
    double class_share;                 /* the share of the step on that IPU */
    double least_waiting_share, most_waiting_share;
    const char *link;                   /* kind of the busiest link; NULL if links are not the bound */
};

/* From the least time that the arithmetic can take to the predicted time, in steps that add up exactly. */
struct waterfall_item { const char *name; uint64_t from_ipu_cycles, to_ipu_cycles; };
enum { MAX_WATERFALL = N_PART_CLASSES + 4 };
struct waterfall { struct waterfall_item items[MAX_WATERFALL]; size_t n; };     /* the last item is the step, from 0 */

struct explanation {
    const struct simulation *sim;
    const struct result *result;
    struct cost tree;
    struct bound bound;
    struct waterfall waterfall;
    struct inputs inputs;
    struct moves moves;
    double uncertainty;                 /* half the interval of the throughput as a share of it; 0 if unknown */
    bool is_guess;                      /* no published run is near: CSV says so in its last line */
};

/* Simulates every move. sim and result are those of the request itself, and stay the caller's. */
void explain(struct explanation *out, const struct simulation *sim, const struct result *result, const struct simulation_request *q, struct arena *a);
void bound_find(struct bound *out, const struct simulation *sim, const struct cost *tree);
void waterfall_build(struct waterfall *out, const struct timeline *t);

/* The sheet values that a part of the breakdown depends on most. Returns how many, at most room. */
size_t part_inputs(const struct move **out, size_t room, const struct explanation *e, enum part part);

/* As text the conclusion, costs and moves, which take one screen; as CSV the waterfall, for the figure. */
void explain_document(struct document *d, const struct explanation *e);

#endif
