/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.h - training in numbers: the plan that was timed is executed step by step on data, and evaluated on data that it has not seen.
 *
 * Every step is a weight update of the plan with its micro-batches, stages and replicas. Its time is that of the simulated machine:
 *     time = startup + steps * step time + evaluations * evaluation time
 * An epoch takes each item once, in an order drawn from the seed. An evaluation takes the forward pass with the current weights and without
 * dropout; batch norms take the statistics of the evaluated micro-batch, as no moving averages are kept. Quality is the share of labels that
 * the first loss predicts correctly or, for transducers, the share of wrong words after greedy decoding. The state of a training depends only
 * on recipe, seed and number of steps.
 */
#ifndef TRAIN_H
#define TRAIN_H
#include "results/simulate/simulate.h"
#include "system-model/execute/execution.h"
#include "workloads/data/data.h"

/* ---- rates.c: the optimizer's values at a step ------------------------------------------------------------- */

/* Learning rates and hyperparameters from [optimizer], under the names of MLPerf logs. */
struct rates {
    double base, end, power, warmup_steps, decay_steps;         /* with decay_steps 0 the rate stays constant after the warm-up */
    struct optimizer_values values;
    const char *unused;                 /* keys that execution ignores, or NULL */
};
bool rates_read(struct rates *out, const struct recipe *r, double steps_per_epoch, struct arena *a, struct err *err);
struct optimizer_values rates_at(const struct rates *r, uint64_t step);

/* ---- evaluate.c ----------------------------------------------------------------------------------------------- */

struct quality { const char *name; bool lower_is_better; };
struct quality quality_of(const struct graph *g);
uint64_t training_best_class(const float *scores, uint64_t n);        /* the class with the largest score; the first one among equals */
/* The fewest labels of a transducer to insert, remove or replace that turn one list into the other; n_b is at most MOST_LABELS. */
enum { MOST_LABELS = 64 };
uint64_t edit_distance(const float *a, uint64_t n_a, const float *b, uint64_t n_b);
struct decoded { uint64_t t, n; float labels[MOST_LABELS]; };
/* Reads scores[step][labels so far][class], whose last class is the blank, from step d->t on. Adds the next label that is no blank and returns
 * true; false at the end of the steps. The graph has room for u labels. */
bool decode_on(struct decoded *d, const float *scores, uint64_t steps, uint64_t u, uint64_t classes);
struct training_setup;
/* Sets the quality on the first items of the evaluation data, in whole micro-batches. */
bool training_evaluate(double *out, const struct execution *x, const struct training_setup *t, uint32_t n_threads, struct err *err);

/* ---- train.c ---------------------------------------------------------------------------------------------------- */

struct training_setup {
    const struct simulation *sim; const struct result *result;
    const struct dataset *data;
    struct rates rates;
    uint64_t items_per_step, eval_items, eval_every_steps;      /* items are rows of micro-batches, over all replicas */
    double samples_per_item, target;                            /* target: the quality to reach; 0 if the recipe states none */
    double startup_s, step_s, evaluation_s;                     /* times of the simulated machine */
    struct quality quality;
    struct precision precision;
    uint64_t identity;                  /* a hash of recipe and data; equal hashes mean equal trainings */
};
/* Opens the recipe's data. The setup keeps pointers to the simulation and its result. */
bool training_setup_make(struct training_setup *out, const struct simulation *sim, const struct result *r, struct arena *a, struct err *err);

struct training_request {
    uint64_t seed, last_step;           /* the run ends at last_step at the latest */
    bool until_target;                  /* if true, the run also ends once the target is reached */
    const char *checkpoint;             /* the file to write after each evaluation, or NULL */
    bool resumes;                       /* continues from the checkpoint, if there is one */
    uint32_t n_threads;
    void (*tell)(void *user, const char *text); void *user;     /* called after each evaluation; may be NULL */
};
/* The curve after one weight update; `quality` is NaN if it was not evaluated. */
struct training_point { uint64_t step; double samples, epoch, minutes, rate, loss, quality; };
struct training {
    uint64_t seed;
    struct training_point *points; size_t n, cap;
    size_t n_evaluations, n_skipped;    /* skipped: updates left out because gradients were not finite */
    bool reached;
    double samples, minutes, quality;   /* values at the end of the last evaluation */
};
/* Trains. Fails if the loss is no finite number, or if a hundred updates in a row were left out; the message says what to change. */
bool training_run(struct training *out, const struct training_setup *t, const struct training_request *q, struct arena *a, struct err *err);

/* ---- checkpoint.c -------------------------------------------------------------------------------------------------- */

/* Writes all that a training needs to continue: its points, weights and moments. The complete file replaces the old one at once. */
bool checkpoint_write(const char *path, const struct training *tr, struct execution *x, const struct training_setup *t, struct err *err);
/* Refuses a checkpoint of another recipe, seed, version or other data. */
bool checkpoint_read(struct training *tr, struct execution *x, const char *path, const struct training_setup *t, struct arena *a, struct err *err);

/* ---- training_log.c: MLPerf logs ------------------------------------------------------------------------------------ */

/* Writes DIR/result_0.txt, result_1.txt, ... with computed losses and qualities at simulated times. */
bool training_log_write(const char *dir, const struct training_setup *t, const struct training *runs, size_t n, struct arena *a, struct err *err);

/* ---- training_print.c ----------------------------------------------------------------------------------------------- */

void trainings_document(struct document *d, const struct training_setup *t, const struct training *runs, size_t n);
bool training_points_csv(const char *path, const struct training *runs, size_t n, struct err *err);       /* writes CSV for the figure */

#endif
