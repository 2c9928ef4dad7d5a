/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inputs.h - every value that a simulation read from a sheet or a recipe, where it stands, and what happens when it moves by a step.
 *
 * A sheet's number moves by a tenth towards a faster machine, and the other way where that is slower or not allowed; a recipe's number is
 * halved and doubled, a choice takes each of its other values. Every move is simulated anew, plan and all.
 */
#ifndef INPUTS_H
#define INPUTS_H
#include "results/simulate/simulator.h"

struct input {
    const char *name;                   /* as --set takes it: "machine.clock_hz", "parallel.micro_batch" */
    const char *value, *unit, *source;
    const char *path; uint32_t line;    /* where it stands; line 0: given for this simulation, or a default */
    bool of_recipe;                     /* set by a key of the recipe, as what a framework does is, though a sheet may have said it */
    bool on_sheet;
    enum origin origin;                 /* of a sheet's value */
    const struct field *field;          /* of a recipe's key */
    bool idle;                          /* not to be moved: it changes nothing here, or is listed under another name too */
};
struct inputs { struct input *items; size_t n, cap; const struct simulation *of; };
/* Sheets first, outermost first, each key once; then what the framework does; then the recipe's keys that matter. */
void inputs_list(struct inputs *out, const struct simulation *sim, struct arena *a);
void inputs_of_sheets(struct inputs *out, const struct simulation *sim, struct arena *a);     /* without the recipe's keys */

struct move {
    const struct input *input;
    const char *to;
    const char *refused;                /* NULL: simulated */
    bool fits;
    double step_time_s, sample_time_s;  /* sample: step time over the global batch */
    double relative;                    /* change of the sample time: -0.05 is 5 % faster */
    double breakdown_s[N_PARTS];
};
struct moves { struct move *items; size_t n, cap; };

/* What is simulated, and how. */
struct question {
    const char *recipe;
    const char *const *overrides; size_t n_overrides;
    struct simulator *simulator;
    struct simulator_options options;   /* totals are all that is asked for, whatever it says of spans */
    void (*progress)(void *user, size_t done, size_t of); void *user;   /* may be NULL */
};
/* The question with more overrides after its own. False when it is refused; err says why. sim: as simulated, which the caller frees. */
bool ask_again_kept(struct simulation *sim, struct result *out, const struct question *q, const char *const *more, size_t n_more, struct err *err);
bool ask_again(struct result *out, const struct question *q, const char *const *more, size_t n_more, struct err *err);

/* Every move of every input, the largest change of the sample time first; those that were refused last. */
void moves_try(struct moves *out, const struct inputs *inputs, const struct result *base, const struct question *q, struct arena *a);

/* The values that a key of the recipe may take next: each other choice, or twice the number and half of it. Returns how many. */
enum { MOST_NEXT_VALUES = 16 };
size_t next_values(const char **to, size_t room, const struct input *in, struct arena *a);

/* How much of the step's time rests on values of one origin, 0 to 1: the step's relative change when all of them move by a tenth towards a
 * slower machine, over that tenth. What a framework does is a name, a flag or a count too small for a tenth: each of these takes its next
 * values by itself, and the largest change of the step, either way, is its share. The splits over tiles stay those that were chosen: at the
 * best of them a small change of the values costs the same whether they may change or not, and it is this plan that is asked about. */
double share_of_origin(enum origin origin, const struct inputs *inputs, const struct question *q, struct arena *a);

#endif
