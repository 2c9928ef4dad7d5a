/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inputs.h - every value that a simulation reads from a sheet or a recipe, and what happens when one of them moves.
 *
 * A sheet's number moves by a tenth towards a faster machine, or in the other direction if the first move is slower or not allowed. A recipe's
 * number, or each share in a list, is halved and doubled, and a choice takes each of its other values. Every move is a whole simulation that
 * includes the plan.
 */
#ifndef INPUTS_H
#define INPUTS_H
#include "results/simulate/simulator.h"
#include "system-model/output/output.h"

struct input {
    const char *name;                   /* in the form of --set, such as "machine.clock_hz" or "parallel.micro_batch" */
    const char *value, *unit, *source;
    const char *path; uint32_t line;    /* line is 0 for an override or a default */
    bool of_recipe;                     /* true for keys of the recipe and for all values of a framework, even those on a sheet */
    bool on_sheet;
    enum origin origin;                 /* the origin that the sheet states */
    const struct field *field;          /* the field of a key, or NULL for a value on a machine's sheet */
    bool idle;                          /* true if it is not moved, because it has no effect or is also listed under another name */
};
struct inputs { struct input *items; size_t n, cap; const struct simulation *of; };
/* Lists all inputs: sheets, outermost first, with each key once; then the framework's values; then the recipe's keys that matter. */
const struct input *input_find(const struct inputs *in, const char *name);      /* NULL if no input has this name */
void inputs_list(struct inputs *out, const struct simulation *sim, struct arena *a);
void inputs_list_sheets(struct inputs *out, const struct simulation *sim, struct arena *a);     /* leaves out the recipe's keys */

struct move {
    const struct input *input;
    const char *to;
    const char *refused;                /* the reason if the move cannot be simulated, or NULL */
    bool fits;
    double step_time_s, sample_time_s;  /* sample_time_s is the step's time over the global batch */
    double relative;                    /* change of the time per sample: -0.05 is 5 % faster */
    double breakdown_s[N_PARTS];
    double energy_relative;             /* change of the energy per sample, including hosts and cooling; 0 if unknown */
    uint64_t ipus;                      /* the number of IPUs used with this value */
};
struct moves { struct move *items; size_t n, cap; };

/* Tries every move of every input. Moves are sorted by the change of the time per sample, largest first; refused moves come last. */
void moves_try(struct moves *out, const struct inputs *inputs, const struct result *base, const struct simulation_request *q, struct arena *a);

/* Lists the next values of a recipe's key: all other choices, or twice and half the number. Returns how many there are. */
enum { MOST_NEXT_VALUES = 16 };
size_t input_next_values(const char **to, size_t room, const struct input *in, struct arena *a);

/* The share of the step's time, 0 to 1, that rests on values of one origin: the relative change of the step when all of them move by a tenth
 * towards a slower machine, divided by that tenth. Values of a framework are names, flags and small counts, which cannot move by a tenth; each
 * takes its next values alone, and its largest change counts. The splits over tiles are kept, because the question is about this plan, and at
 * the best split a small change costs the same with or without a new split. */
double inputs_share_of_origin(enum origin origin, const struct inputs *inputs, const struct simulation_request *q, struct arena *a);

/* ---- assumptions.c: numbers whose only source is an assumption, and what each could change at most ---- */

/* The effect of a value on one workload, or on all workloads that were not asked for by name. It holds the largest changes over the recipes
 * that read the value when it is halved or doubled (a share goes up to 1; a name or flag takes each other value), and the recipe that changes
 * most. */
struct assumption_effect { const char *workload, *recipe; double slower, faster; size_t n_recipes; bool fit_changes; };
struct assumption {
    const char *key, *value, *unit, *source, *path;
    uint32_t line;
    struct assumption_effect *effects;  /* the effect on each workload asked for, then the one on all others */
    const struct assumption_effect *most;   /* the largest of the effects */
};
struct assumptions { struct assumption *items; size_t n, cap; const char **of; size_t n_of; };

/* Moves every assumed value of every sheet in every recipe that reads it, and sorts by effect, largest first. `of` lists workloads to show
 * separately. `watch` may be NULL. */
bool assumptions_list(struct assumptions *out, const char *const *recipes, size_t n_recipes, const char *const *of, size_t n_of,
                      struct simulator *s, const struct watch *watch, struct arena *a, struct err *err);
void assumptions_document(struct document *d, const struct assumptions *all);

/* ---- shaped.c: what was taken from published rows, and what from no source, counted --------------------------- */

struct shaped { size_t n_fitted, n_from_runs, n_decisions, n_tried, n_assumed_on_sheets, n_assumed_in_code, n_in_code; };
/* Counts the shaped numbers and decisions. `decisions` is the path of decisions.csv, which need not exist. */
bool shaped_count(struct shaped *out, const char *specs_dir, const char *decisions, struct arena *a, struct err *err);
void shaped_document(struct document *d, const struct shaped *s, const char *decisions);

#endif
