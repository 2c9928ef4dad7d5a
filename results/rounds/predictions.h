/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * predictions.h - anybody's predictions of published MLPerf results, judged next to guesses that need no model.
 *
 * A file of predictions is a CSV with one row for each predicted number:
 *     round,division,submitter,system,benchmark   the result, as in the table of podbench rounds
 *     global_batch                                optional; if the result's differs, the row is refused as another configuration
 *     samples_per_s, minutes                      the prediction: one of the two
 *     low, high                                   optional: its 90 % interval
 *     guess                                       optional: yes if nothing like the configuration was known
 *     use                                         fitted: the result shaped the predictor; seen: the result was known when the
 *                                                 predictor was made; blind: it was not known
 * A result that is fitted in one row cannot be seen or blind in another. Rows of different uses are never averaged together.
 */
#ifndef PREDICTIONS_H
#define PREDICTIONS_H
#include "results/rounds/round_results.h"

enum prediction_use { USE_BLIND, USE_SEEN, USE_FITTED, N_PREDICTION_USES };
extern const char *const prediction_uses[N_PREDICTION_USES + 1];

struct result_prediction {
    const char *round, *division, *submitter, *system, *benchmark;
    double global_batch;                /* NaN if the row does not state it */
    double samples_per_s, minutes;      /* one of the two is given, and the other is NaN */
    double low, high;                   /* both are NaN without an interval */
    const char *use_name, *guess_name;
    int use, guess;                     /* guess is 1 if its author says so */
    uint32_t line;                      /* the line in the file; 0 if it is from no file */
};
struct predictions { struct result_prediction *items; size_t n, cap; };

bool predictions_load(struct predictions *out, const char *path, struct arena *a, struct err *err);
void predictions_write(FILE *f, const struct predictions *p);           /* writes CSV that predictions_load() reads */
/* Adds a prediction of a result; `value` is in samples/s or minutes. */
void prediction_add(struct predictions *p, const struct round_result *of, bool minutes, double value, double low, double high,
                    enum prediction_use use, bool guess, struct arena *a);

/* ---- errors: the statistics of a group of predictions -------------------------------------------------------- */

/* Statistics of errors. While errors are added, members are sums; error_stats_end() turns them into means, which are NaN without errors. */
struct error_stats {
    uint64_t n, n_intervals;
    double mean, median, worst;         /* mean and median of |predicted / published - 1|, and the worst error with its sign */
    double bias;                        /* the mean error with its sign */
    double inside, width;               /* the share of results inside their interval, and the mean width of an interval over its prediction */
    const char *worst_row;
    double *sizes;                      /* an array with room for all errors */
};
/* Adds an error. The text `row` is not copied, so it must live on. */
void error_stats_add(struct error_stats *s, double error, const char *row);
void error_stats_add_interval(struct error_stats *s, bool inside, double width);
void error_stats_end(struct error_stats *s);

/* ---- judging ----------------------------------------------------------------------------------------------- */

/* Guesses that need no model, from earlier results of the same benchmark and division:
 *
 *     nearest     the result whose accelerators x peak is nearest, scaled by accelerators x peak
 *     own last    in the submitter's last round, the result with the nearest number of accelerators, scaled by that number */
enum baseline { BASELINE_NEAREST, BASELINE_OWN_LAST, N_BASELINES };

struct judged_prediction {
    struct result_prediction prediction;
    const struct round_result *result;  /* NULL if it is not in the table */
    const char *metric, *refused;       /* refused: the reason if the prediction is not scored, or NULL */
    double published, predicted, error; /* numbers in the prediction's unit; the error is NaN if it is not scored */
    double guesses[N_BASELINES];        /* NaN without an earlier result */
    const char *guessed_from[N_BASELINES];      /* round, submitter and system of each guess's result */
};
struct judged_predictions {
    struct judged_prediction *items; size_t n, n_scored;
    size_t n_results;                   /* the number of results in the table */
    const char *unverified;             /* accelerators used by the baselines whose data sheets nobody has verified, such as "A100, H100"; or "" */
    const struct predictions *of;
};
void predictions_judge(struct judged_predictions *out, const struct predictions *p, const struct round_results *r,
                       const struct accelerator_table *accelerators, struct arena *a);

/* `name` is the predictor's. CSV has one row for each prediction; text has them, too, if `all`. */
void judged_predictions_document(struct document *d, const struct judged_predictions *j, const char *name, bool all);

/* ---- roofline.c -------------------------------------------------------------------------------------------- */

/* Adds predictions of throughput from data sheets alone, for results on A100 and H100. They are a baseline and not podbench's model. */
bool roofline_predict(struct predictions *out, const struct round_results *r, const struct accelerator_table *accelerators, const char *data_dir,
                      struct arena *a, struct err *err);

/* ---- left_out.c ---------------------------------------------------------------------------------------------- */

/* Writes how well samples to the target follow from the batch: each submitter's results are predicted from the reference points, with an
 * interval from the other submitters' results. If held_out[i], result i is judged but shapes no interval; held_out may be NULL. */
void convergence_left_out_document(struct document *d, const struct round_results *r, const bool *held_out, const char *data_dir);
#endif
