/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inputs.h - every value that a simulation reads from a sheet or a recipe, and what happens when one of them moves.
 *
 * A sheet's number moves by a tenth towards a faster machine, or the other way if that is slower or not allowed. A
 * recipe's number, or each of a list of memory shares, is halved and doubled, and a choice takes each of its other
 * values. Every move is a whole simulation, plan included.
 */
#ifndef INPUTS_H
#define INPUTS_H
#include "results/simulate/simulator.h"
#include "system-model/output/output.h"

struct input {
    const char *name;                   /* as --set takes it: "machine.clock_hz", "parallel.micro_batch" */
    const char *value, *unit, *source;
    const char *path; uint32_t line;    /* line 0: set for this simulation, or a default */
    bool of_recipe;                     /* a key of the recipe sets it; true for all that a framework does, even if a sheet states it */
    bool on_sheet;
    enum origin origin;                 /* the origin of the value on its sheet */
    const struct field *field;          /* a recipe's key */
    bool idle;                          /* not moved: it changes nothing here, or is listed under another name, too */
};
struct inputs { struct input *items; size_t n, cap; const struct simulation *of; };
/* Sheets first, outermost first, each key once; then what the framework does; then the keys of the recipe that matter. */
const struct input *input_find(const struct inputs *in, const char *name);      /* NULL if no input has this name */
void inputs_list(struct inputs *out, const struct simulation *sim, struct arena *a);
void inputs_list_sheets(struct inputs *out, const struct simulation *sim, struct arena *a);     /* leaves out the recipe's keys */

struct move {
    const struct input *input;
    const char *to;
    const char *refused;                /* NULL if it was simulated */
    bool fits;
    double step_time_s, sample_time_s;  /* sample: step time over the global batch */
    double relative;                    /* change of the sample time: -0.05 is 5 % faster */
    double breakdown_s[N_PARTS];
    double energy_relative;             /* change of the energy of a sample, with hosts and cooling; 0 if that is not known */
    uint64_t ipus;                      /* chips in use with this value */
};
struct moves { struct move *items; size_t n, cap; };

/* Tries every move of every input. The largest change of the sample time is first; refused moves are last. */
void moves_try(struct moves *out, const struct inputs *inputs, const struct result *base, const struct simulation_request *q, struct arena *a);

/* The values that a key of the recipe may take next: each other choice, or twice the number and half of it. Returns how
 * many. */
enum { MOST_NEXT_VALUES = 16 };
size_t input_next_values(const char **to, size_t room, const struct input *in, struct arena *a);

/* The share of the step's time, 0 to 1, that rests on values of one origin: the relative change of the step when all of
 * them move by a tenth towards a slower machine, divided by that tenth. What a framework does is a name, a flag or a
 * small count, which no tenth can move: each of these takes its next values alone, and the larger change of the step is
 * its share. The splits over tiles stay as they were chosen, because the question is about this plan, and at the best
 * split a small change of the values costs the same either way. */
double inputs_share_of_origin(enum origin origin, const struct inputs *inputs, const struct simulation_request *q, struct arena *a);

/* ---- assumptions.c: numbers whose only source is an assumption, and what each could change at most ---- */

/* The effect of a value on one workload, or on all that are not asked for by name: the largest changes when it is
 * halved or doubled (a share at most to 1; a name or a flag takes each other value), over the recipes that read it, and
 * the recipe that changes most. */
struct assumption_effect { const char *workload, *recipe; double slower, faster; size_t n_recipes; bool fit_changes; };
struct assumption {
    const char *key, *value, *unit, *source, *path;
    uint32_t line;
    struct assumption_effect *effects;  /* one effect for each workload asked for, then one for all others */
    const struct assumption_effect *most;   /* the largest effect */
};
struct assumptions { struct assumption *items; size_t n, cap; const char **of; size_t n_of; };

/* Moves every assumed value of every sheet in every recipe that reads it; the largest effect first. of: workloads that
 * are shown one by one. watch may be NULL. */
bool assumptions_list(struct assumptions *out, const char *const *recipes, size_t n_recipes, const char *const *of, size_t n_of,
                      struct simulator *s, const struct watch *watch, struct arena *a, struct err *err);
void assumptions_document(struct document *d, const struct assumptions *all);

/* ---- shaped.c: what was taken from published rows, and what from no source, counted --------------------------- */

struct shaped { size_t n_fitted, n_from_runs, n_decisions, n_tried, n_assumed_on_sheets, n_assumed_in_code, n_in_code; };
/* decisions: the path of decisions.csv, which may be missing. */
bool shaped_count(struct shaped *out, const char *specs_dir, const char *decisions, struct arena *a, struct err *err);
void shaped_document(struct document *d, const struct shaped *s, const char *decisions);

#endif
