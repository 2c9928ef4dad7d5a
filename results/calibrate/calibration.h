/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibration.h - the fits of constants, the rules that they keep, and how well samples to converge are predicted.
 */
#ifndef CALIBRATION_H
#define CALIBRATION_H
#include "results/published/published.h"
#include "results/simulate/simulate.h"
#include "system-model/output/output.h"
#include "system-model/machine/fitted.h"

/* ---- protocol.c: rows that the ledger lets calibrate, and at most ten constants ------------------------------ */

enum { MOST_CONSTANTS = 10 };

/* Refuses a row of role calibrate that validates in the ledger, either under its own id or, by its hash, under another id. */
bool protocol_allows_rows(const struct figures *figures, const struct ledger *ledger, struct arena *a, struct err *err);
/* Refuses a single run that calibrates if no published row of its submission does. The source of such a row names the submission: "MLPerf
 * Training v2.0 results, closed, Graphcore, ipu-pod16-TF1-closed/resnet". */
bool protocol_allows_runs(const struct run_rows *runs, const struct figures *figures, struct arena *a, struct err *err);
bool protocol_allows_constants(size_t n, struct err *err);

/* ---- fit.c: bounded nonlinear least squares on log ratios, with standard errors ------------------------------- */

enum { MAX_FIT_PARAMETERS = 16 };

struct fit_parameter {
    const char *name;
    double low, high, start;            /* low < start < high */
    double step;                        /* the step of the Jacobian's differences, as a share of high - low */
};
struct fit_value { double value, standard_error; bool at_bound; };

/* Sets log(predicted / measured) of every row. False, with a message, if a row cannot be predicted. */
typedef bool fit_log_ratios(double *out, const double *x, void *user, struct err *err);

struct fit_problem {
    const struct fit_parameter *parameters;
    size_t n_parameters, n_rows;
    const double *weights;              /* weights of the rows, where 0 leaves a row out; NULL weights all rows 1 */
    fit_log_ratios *log_ratios;
    void *user;
};
bool fit_run(struct fit_value *out, const struct fit_problem *problem, struct err *err);

/* The format of all sheets that fits write: a table without rows. */
struct fitted_value { const char *key, *value, *unit, *source, *note; };
struct table fitted_sheet(void);

/* ---- chip_fit.c: the constants of the chips, fitted to measured kernels and runs ------------------------------- */

/* One row of a fit. `share` is the part of the row's time that each constant's distance from its open-source value causes. */
struct chip_fit_row { const char *recipe; double share[MAX_FITTED], error; };
struct chip_fit {
    struct fit_value values[MAX_FITTED];    /* the constants, in the order of fitted_constants */
    struct chip_fit_row *rows;
    size_t n_rows;
    double median_before, median_after;     /* median |relative error| of the rows, with open-source and with fitted values */
    double median_default[MAX_FITTED];      /* median |relative error| with one constant at its open-source value and the others fitted */
};
/* Fits to the rows of role calibrate that measure kernels or throughputs of runs. Each recipe counts once. `watch` may be NULL. */
bool chip_fit_run(struct chip_fit *out, const struct figures *figures, const struct model_paths *paths, const struct watch *watch,
                  struct arena *a, struct err *err);
/* Writes the sheet, and the value `also` if it has a key. `table` is the path of the rows. */
void chip_fit_write(FILE *f, const struct chip_fit *fit, const char *table, const struct fitted_value *also);
void chip_fit_print(FILE *f, const struct chip_fit *fit);                       /* also prints each constant's share of each row */

/* ---- system_fit.c: the constants of the software around the chips, fitted to published runs ---------------------- */

/* A published time as a linear function of the constants: seconds = base_s + sum of slope x (constant - default). */
struct system_row {
    const struct figure *figure;
    double published_s, base_s, slope[N_SYSTEM_CONSTANTS];
    double loop_s;                              /* the part of base_s that is spent in micro-batches */
    size_t group;                               /* the index of the row's loop_group */
    double weight;                              /* rows of one configuration have weights that sum to 1 */
};

/* Rows of one family of models, either training or forward passes. All loops of a group may be too fast or too slow by a common share, which
 * is fitted together with the constants so that it is not mistaken for one. The share is reported, and no prediction uses it. */
enum { MAX_LOOP_GROUPS = 8 };
struct loop_group { const char *family; bool training; size_t n_rows; struct fit_value error; };

struct system_fit {
    struct loop_group groups[MAX_LOOP_GROUPS]; size_t n_groups;
    struct fit_value values[N_SYSTEM_CONSTANTS];
    bool fitted[N_SYSTEM_CONSTANTS];            /* false if the rows do not determine the constant, which then keeps its default */
    struct system_row *rows;
    size_t n_rows, n_configurations;
    double median_unfitted, median_fitted;      /* median |relative error| of the rows */
    double median_default[N_SYSTEM_CONSTANTS];  /* median |relative error| with one constant at its default and the others fitted */
    double median_left_out;                     /* median |relative error| if each row is predicted by a fit to all other configurations */
    double left_out_spread;                     /* root mean square of the log ratios of these predictions */
};
/* Fits to throughputs and evaluation times of role calibrate whose recipe exists, including one-chip inference, which no constant moves. Rows
 * that validate are never read. `watch` may be NULL. */
bool system_fit_run(struct system_fit *out, const struct figures *figures, const struct model_paths *paths, const struct watch *watch,
                    struct arena *a, struct err *err);
/* Fits rows and groups that are already set, and simulates nothing. */
bool system_fit_lines(struct system_fit *fit, struct arena *a, struct err *err);
void system_fit_write(FILE *f, const struct system_fit *fit);   /* writes fitted-system.csv */
void system_fit_print(FILE *f, const struct system_fit *fit);   /* also prints each constant's share of each row */

struct moments { double sum, squares, n; };
static inline void moments_add(struct moments *m, double x) { m->sum += x, m->squares += x * x, m->n++; }
static inline double moments_within(const struct moments *m) { return m->squares - m->sum * m->sum / m->n; }     /* the sum of squares about the mean */

/* ---- submission_effects.c: how far submissions converge from the reference ---------------------------------------- *
 *
 *     ln(latent mean of a submission / reference) = submitter + submission
 *
 * Both effects are normal about zero, and their spreads are estimated twice by maximum likelihood. A third effect, of a submitter in a round,
 * was found to be nothing in the benchmarks that use effects (5e-9, and 0.06 of a submitter's).
 * Means: the prediction is the conditional mean of the submitter's effect, given the calibrating submissions, under the spreads of submissions
 * that calibrate or are context. Rows that validate move no prediction, not even through these spreads.
 * Widths: the interval about that mean uses the spreads of all closed submissions. So a bias that calibration runs show moves the prediction,
 * and what they leave open widens the interval.
 */

struct submission {
    const struct run_row *first; size_t n_runs;
    bool planned;                       /* true if it trained a fixed number of epochs and evaluated at the end */
    double ln_ratio;                    /* ln(latent mean / reference's mean) */
};
struct submissions { struct submission *items; size_t n; };

/* Lists the submissions whose batch lies among the reference points. If a system's runs were submitted again in a later round, they count
 * once; a row that validates never replaces another. Fails if no evaluation can have seen the samples to converge of a run. */
bool submissions_of(struct submissions *out, const struct run_rows *runs, struct convergence_tables *tables, struct arena *a, struct err *err);
/* True for a closed submission of the benchmark that evaluates during training; only those have effects. */
bool submission_has_effect(const struct submission *s, const char *benchmark);

struct effect_spreads { double submitter, submission; size_t n; };
enum spreads_for { SPREADS_FOR_MEANS, SPREADS_FOR_WIDTHS };        /* spreads for means leave out submissions that validate; those for widths use all */
double effect_total(const struct effect_spreads *s);
/* The spreads of one benchmark. `without` is a submitter to leave out, or NULL. n is 0 if there are fewer than 3 submissions. */
struct effect_spreads effect_spreads(const struct submissions *all, enum spreads_for what, const char *benchmark, const char *without,
                                     struct arena *a);

/* The predicted effect of a submitter's next submission. `spread` is the root mean square distance from the mean, if the spreads for_width are
 * right. The mean is NaN if calibration runs would move it, but no spreads say how far. */
struct effect { double mean, spread; size_t n; };
struct effect effect_of(const struct submissions *all, const struct effect_spreads *for_mean, const struct effect_spreads *for_width,
                        const char *benchmark, const char *submitter);

/* ---- convergence_fit.c: workloads/convergence/fits.csv ------------------------------------------------------------- */

/* Writes every fitted value of the convergence model with its standard error. data_dir is workloads/convergence (rcp.csv, benchmarks.csv),
 * `runs` is results/published/runs/mlperf_runs.csv. */
bool convergence_fit(FILE *f, const char *data_dir, const char *runs, struct arena *a, struct err *err);

/* ---- convergence_errors.c: predicted and published samples to converge ---------------------------------------------- */

struct convergence_error {
    const char *round, *division, *system, *benchmark, *role_name;
    int role;                           /* an enum role */
    double global_batch;                /* samples per step */
    double published, predicted;        /* means over the runs: the published samples, and the expected samples or those of the planned epochs */
    double error;                       /* predicted / published - 1 */
};
struct convergence_errors { struct convergence_error *items; size_t n, cap; };

/* Makes one item for each submission. Rounds without reference points are left out. */
bool convergence_errors(struct convergence_errors *out, const char *runs, const char *data_dir, struct arena *a, struct err *err);
/* Writes all submissions but context, then root mean square and mean errors by benchmark and role. */
void convergence_errors_document(struct document *d, const struct convergence_errors *e);

/* The closed submissions of one submitter, predicted from the reference and the spread of all other submitters. */
struct submitter_left_out {
    const char *submitter, *benchmark;
    size_t n, n_others;
    double rms_error, mean_error;       /* predicted / published - 1, samples */
    size_t n_runs, n_inside;            /* n_inside: single runs inside their 90 % interval */
    double share_inside;
};
struct submitters_left_out { struct submitter_left_out *items; size_t n; };
bool submitters_left_out(struct submitters_left_out *out, const char *runs, const char *data_dir, struct arena *a, struct err *err);
struct table submitters_left_out_table(const struct submitters_left_out *l);    /* has one row for each item */

#endif
