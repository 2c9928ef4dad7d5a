/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate.h - a run against a recorded one: what moved, grouped by cause; and whether accuracy still holds. Two gates, kept apart.
 *
 * Change    predictions are deterministic, so any move is a change that someone made: each counts, and is accepted by recording a baseline
 *           with a reason. Moves are grouped by the part of the step that moved most, the largest group first.
 * Accuracy  of rows that validate, by kind, model and metric: the mean over a group's configurations of how much |error| grew, where it
 *           grew; rows of one configuration share its weight. What got better is not set against it, so that one mended error cannot hide
 *           another.
 */
#ifndef GATE_H
#define GATE_H
#include "system-model/output/output.h"

struct gate_tables { struct csv_table rows, check; };   /* of one run: rows.csv and check.csv */

struct gate_move {
    const char *id, *cause, *what;      /* cause: "exchange", "kernel matmul", "fits"...; what: "1525 -> 1480 samples/s" */
    double relative;                    /* of throughput, or of the part's own prediction; >0: more */
    int verdict;                        /* +1 better, -1 worse, 0 neither */
};
struct gate_group { const char *cause; size_t n, n_better, n_worse; double low, high; const struct gate_move *largest; };
/* n: configurations, which is what its rows weigh together; before, after, growth: means over them; worst: the row that grew most. */
struct accuracy_group { const char *name; size_t n; double weight, before, after, growth; const char *worst; double worst_growth; bool holds; };

struct gate {
    struct gate_move *moves; size_t n_moves, cap_moves;      /* largest first */
    struct gate_group *groups; size_t n_groups;         /* most rows first */
    struct accuracy_group *accuracy; size_t n_accuracy;
    size_t n_better, n_worse, n_rows, n_new, n_gone;
    double margin;                                      /* of mean |error|, as a share */
    const char **inputs; size_t n_inputs;               /* files whose content differs, by the manifests */
    bool inputs_known;                                  /* both manifests list theirs */
};

bool gate_build(struct gate *out, const struct gate_tables *base, const struct gate_tables *run, double margin, struct arena *a, struct err *err);
/* The inputs that two manifests list with different hashes. A manifest that is not there lists nothing. */
bool gate_inputs(struct gate *out, const char *base_manifest, const char *run_manifest, struct arena *a, struct err *err);
bool gate_moved(const struct gate *g);
bool gate_accuracy_holds(const struct gate *g);

void gate_print(FILE *f, const struct gate *g);                     /* a screen */
void gate_judgements(struct judgements *out, const struct gate *g, struct arena *a);

#endif
