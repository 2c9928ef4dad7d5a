/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission_effects.h - how far submissions converge off the reference: what is known of a submitter and a round, and what is spread.
 *
 *     ln(latent mean of a submission / reference) = submitter + submitter in a round + submission
 *
 * Three normal effects about zero, whose spreads are estimated by maximum likelihood, twice. The mean of the first two is their
 * conditional mean given the submissions that calibrate, under the spreads of those that calibrate or are context: what validates moves no
 * prediction, not even by how far a mean is drawn to zero. How wide the interval about that mean is follows from the spreads of all closed
 * submissions at hand. So a bias that calibration runs show moves the prediction, and what they cannot tell stays spread.
 */
#ifndef SUBMISSION_EFFECTS_H
#define SUBMISSION_EFFECTS_H
#include "results/published/published.h"
#include "workloads/convergence/convergence.h"

struct submission {
    const struct run_row *first; size_t n_runs;
    bool planned;                       /* a fixed number of epochs, evaluated at the end */
    double ln_ratio;                    /* of its latent mean over the reference's */
};
struct submissions { struct submission *items; size_t n; };

/* Those whose batch lies inside the reference points. A system whose runs were handed in again in a later round counts once, but what
 * validates never stands for what does not. Fails on samples to converge that an evaluation cannot have seen. */
bool submissions_of(struct submissions *out, const struct run_rows *runs, struct convergence_tables *tables, struct arena *a, struct err *err);

struct effect_spreads { double submitter, round, submission; size_t n; };
enum spreads_for { SPREADS_FOR_MEANS, SPREADS_FOR_WIDTHS };        /* of all but those that validate; of all */
double effect_total(const struct effect_spreads *s);
/* Of a benchmark's closed submissions that evaluate as they train; without: a submitter that is left out, or NULL. n is 0 for fewer than 3. */
struct effect_spreads effect_spreads(const struct submissions *all, enum spreads_for what, const char *benchmark, const char *without,
                                     struct arena *a);

/* Of a next submission of a submitter in a round; round "" is one without calibration runs. spread: root mean square of how far it lies
 * from the mean, if the spreads are those for widths. The mean is NaN where calibration runs would move it and no spreads say how far. */
struct effect { double mean, spread; size_t n; };
struct effect effect_of(const struct submissions *all, const struct effect_spreads *for_mean, const struct effect_spreads *for_width,
                        const char *benchmark, const char *submitter, const char *round, struct arena *a);

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
