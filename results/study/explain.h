/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.h - why a step takes as long as it does: where its time goes, what bounds it, and what would help.
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H
#include "results/study/inputs.h"
#include "system-model/output/output.h"

/* ---- cost_tree.c: a step's time as a tree: part of the breakdown, phase, operation ------------- */

/* A node of the tree. Its count is cycles times IPUs, a whole number, so counts add up exactly. Divided by IPUs and clock it gives the seconds
 * of the breakdown. */
struct cost {
    const char *name;
    uint64_t ipu_cycles;
    enum part part;             /* the part of the step; N_PARTS in the root */
    struct cost *children;      /* children, the largest first; their ipu_cycles add up to those of this node */
    size_t n_children;
};

/* Builds the tree: the root has every part that took time, a part has phases, and a forward or backward phase has operations. */
void cost_tree_build(struct cost *root, const struct timeline *t, struct arena *a);
double cost_seconds(const struct cost *c, const struct timeline *t);    /* returns a mean over the IPUs */
/* A node whose children do not add up to it, or NULL if there is none. */
const struct cost *cost_tree_wrong(const struct cost *root);
uint64_t timeline_ipus(const struct timeline *t);               /* the number of IPUs that the rows stand for */

extern const char *const cost_formulas[N_PARTS];                /* says how each part is computed */

/* ---- explain.c, explain_print.c ------------------------------------------------------------------- */

/* The bound of the run, as seen on the IPU that waits least; the others wait for it. */
struct bound {
    bool memory, host_input;            /* memory: the recipe does not fit; host_input: the step is as long as the arrival of its input */
    bool slow_chip;                     /* the IPU's fault costs more time than any class of work */
    enum part_class class;
    const struct cost *part, *phase, *operation;    /* the largest nodes within the class; phase and operation may be NULL */
    uint32_t ipu, idlest_ipu;           /* the IPUs that wait least and most, by number within the replica */
    uint32_t ipu_of_machine;            /* the number of `ipu` in the machine */
    double class_share;                 /* the class's share of the step on that IPU */
    double least_waiting_share, most_waiting_share;
    const char *link;                   /* the kind of the busiest link; NULL if links are not the bound */
};

/* One bar on the way from the least time of the arithmetic to the predicted time. Bars add up exactly. */
struct waterfall_item { const char *name; uint64_t from_ipu_cycles, to_ipu_cycles; };
enum { MAX_WATERFALL = N_PART_CLASSES + 4 };
struct waterfall { struct waterfall_item items[MAX_WATERFALL]; size_t n; };     /* the last item is the whole step */

struct explanation {
    const struct simulation *sim;
    const struct result *result;
    struct cost tree;
    struct bound bound;
    struct waterfall waterfall;
    struct inputs inputs;
    struct moves moves;
    double uncertainty;                 /* half the throughput's interval divided by the throughput; 0 if unknown */
    bool is_guess;                      /* no published run is near, which the last line of CSV says */
};

/* Explains a simulation, and simulates it again with each value moved. `sim` and `result` are those of the request, and stay the caller's. */
void explain(struct explanation *out, const struct simulation *sim, const struct result *result, const struct simulation_request *q, struct arena *a);
void bound_find(struct bound *out, const struct simulation *sim, const struct cost *tree);
void waterfall_build(struct waterfall *out, const struct timeline *t);

/* Lists the sheet values on which a part of the step depends most, at most `room`, and returns their number. */
size_t part_inputs(const struct move **out, size_t room, const struct explanation *e, enum part part);

/* Text has the conclusion, costs and moves on one screen; CSV has the waterfall, for the figure. */
void explain_document(struct document *d, const struct explanation *e);

#endif
