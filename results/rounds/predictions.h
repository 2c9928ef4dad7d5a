/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * predictions.h - anybody's predictions of published MLPerf results, judged next to what a reader would guess.
 *
 * A file of predictions is a CSV with one row for each predicted number:
 *
 *     round,division,submitter,system,benchmark   the result, as in the table of podbench rounds
 *     global_batch                                optional; refused as another configuration where the result differs
 *     samples_per_s, minutes                      the prediction: one of the two
 *     low, high                                   optional: its 90 % interval
 *     guess                                       optional: yes where nothing like the configuration was known
 *     use                                         fitted: the result shaped the predictor; seen: it was known when the
 *                                                 predictor was made; blind: it was not
 *
 * A result that is fitted in one row cannot be seen or blind in another. Uses are never averaged together.
 */
#ifndef PREDICTIONS_H
#define PREDICTIONS_H
#include "results/rounds/round_results.h"

enum prediction_use { USE_BLIND, USE_SEEN, USE_FITTED, N_PREDICTION_USES };
extern const char *const prediction_uses[N_PREDICTION_USES + 1];

struct result_prediction {
    const char *round, *division, *submitter, *system, *benchmark;
    double global_batch;                /* NaN if not stated */
    double samples_per_s, minutes;      /* one of the two is given, and the other is NaN */
    double low, high;                   /* NaN if none */
    const char *use_name, *guess_name;
    int use, guess;                     /* guess: 1 if its author says so */
    uint32_t line;                      /* line in the file; 0 if the prediction is not from a file */
};
struct predictions { struct result_prediction *items; size_t n, cap; };

bool predictions_load(struct predictions *out, const char *path, struct arena *a, struct err *err);
void predictions_write(FILE *f, const struct predictions *p);           /* writes CSV that predictions_load() reads */
/* Adds a prediction of a result. value: samples/s, or minutes. */
void prediction_add(struct predictions *p, const struct round_result *of, bool minutes, double value, double low, double high,
                    enum prediction_use use, bool guess, struct arena *a);

/* ---- errors: the statistics of a group of predictions -------------------------------------------------------- */

/* While errors are added, the members are sums. error_stats_end() turns them into means, which are NaN where nothing was added. */
struct error_stats {
    uint64_t n, n_intervals;
    double mean, median, worst;         /* the error is predicted / published - 1: mean and median of its size, and the worst with its sign */
    double bias;                        /* mean with the sign */
    double inside, width;               /* inside: the share of results inside their interval; width: of the interval, over the prediction */
    const char *worst_row;
    double *sizes;                      /* room for all errors */
};
/* Adds an error. Keeps the pointer `row`, not a copy of its text. */
void error_stats_add(struct error_stats *s, double error, const char *row);
void error_stats_add_interval(struct error_stats *s, bool inside, double width);
void error_stats_end(struct error_stats *s);

/* ---- judging ----------------------------------------------------------------------------------------------- */

/* Guesses that need no model, from results of earlier rounds of the benchmark, in the same division:
 *
 *     nearest     the result whose accelerators x peak is nearest, scaled by accelerators x peak
 *     own last    in the submitter's last round, the result with the nearest number of accelerators, scaled by it
 */
enum baseline { BASELINE_NEAREST, BASELINE_OWN_LAST, N_BASELINES };

struct judged_prediction {
    struct result_prediction prediction;
    const struct round_result *result;  /* NULL if not in the table */
    const char *metric, *refused;       /* refused: why the prediction is not scored; NULL if it is */
    double published, predicted, error; /* in the unit of the prediction; the error is NaN if it is not scored */
    double guesses[N_BASELINES];        /* NaN if no earlier result */
    const char *guessed_from[N_BASELINES];      /* round, submitter and system of the result that each guess comes from */
};
struct judged_predictions {
    struct judged_prediction *items; size_t n, n_scored;
    size_t n_results;                   /* the number of the table's results */
    const char *unverified;             /* models whose data sheets the baselines use and nobody has verified: "A100, H100"; "" if none */
    const struct predictions *of;
};
void predictions_judge(struct judged_predictions *out, const struct predictions *p, const struct round_results *r,
                       const struct accelerator_table *accelerators, struct arena *a);

/* name: of the predictor. As CSV: one row for each prediction. all: those rows in text too. */
void judged_predictions_document(struct document *d, const struct judged_predictions *j, const char *name, bool all);

/* ---- roofline.c -------------------------------------------------------------------------------------------- */

/* Adds predictions of throughput from data sheets alone, for results on A100 and H100; a baseline, not podbench's
 * model. */
bool roofline_predict(struct predictions *out, const struct round_results *r, const struct accelerator_table *accelerators, const char *data_dir,
                      struct arena *a, struct err *err);

/* ---- left_out.c ---------------------------------------------------------------------------------------------- */

/* How well samples to the target follow from the batch: each submitter's results predicted from the reference points,
 * with an interval from the other submitters' results. held_out[i]: result i is judged and shapes no interval; NULL: all
 * shape. */
void convergence_left_out_document(struct document *d, const struct round_results *r, const bool *held_out, const char *data_dir);
#endif
