/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission_effects.h - how far submissions converge off the reference: what is known of a submitter and a round, and what is spread.
 *
 *     ln(latent mean of a submission / reference) = submitter + submitter in a round + submission
 *
 * Three normal effects about zero. Their spreads are estimated by maximum likelihood on all closed submissions at hand; the values of
 * the first two by their conditional mean given the submissions that may calibrate, no others. So a bias that calibration runs show
 * moves the prediction, and what they cannot tell stays spread.
 */
#ifndef SUBMISSION_EFFECTS_H
#define SUBMISSION_EFFECTS_H
#include "results/published/runs_table.h"
#include "workloads/convergence/convergence.h"

struct submission {
    const struct run_row *first; size_t n_runs;
    bool planned;                       /* a fixed number of epochs, evaluated at the end */
    double ln_ratio;                    /* of its latent mean over the reference's */
};
struct submissions { struct submission *items; size_t n; };

/* Those whose batch lies inside the reference points. A system whose runs were handed in again in a later round counts once.
 * Fails on samples to converge that an evaluation cannot have seen. */
bool submissions_of(struct submissions *out, const struct run_rows *runs, struct convergence_tables *tables, struct arena *a, struct err *err);

struct effect_spreads { double submitter, round, submission; size_t n; };
double effect_total(const struct effect_spreads *s);
/* Of a benchmark's closed submissions that evaluate as they train; without: a submitter that is left out, or NULL. n is 0 for fewer than 3. */
struct effect_spreads effect_spreads(const struct submissions *all, const char *benchmark, const char *without, struct arena *a);

/* Of a next submission of a submitter in a round; round "" is one without calibration runs. */
struct effect { double mean, spread; size_t n; };
struct effect effect_of(const struct submissions *all, const struct effect_spreads *s, const char *benchmark, const char *submitter,
                        const char *round, struct arena *a);

/* ---- leaving one submitter out ---------------------------------------------------------------------------- */

/* Its closed submissions, predicted by the reference and the spread of all other submitters' submissions. */
struct submitter_left_out {
    const char *submitter, *benchmark;
    size_t n, n_others;
    double rms_error, mean_error;       /* of predicted over published, samples */
    size_t n_runs, n_inside;            /* single runs within their 90 % interval */
};
struct submitters_left_out { struct submitter_left_out *items; size_t n; };
bool submitters_left_out(struct submitters_left_out *out, const char *runs, const char *data_dir, struct arena *a, struct err *err);
void submitters_left_out_print(FILE *f, const struct submitters_left_out *l);
struct json_t *submitters_left_out_json(const struct submitters_left_out *l);

#endif
