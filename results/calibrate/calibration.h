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

/* False, with a message, if a row of role calibrate validates by the ledger: under its own id or, by its hash, under
 * another. */
bool protocol_allows_rows(const struct figures *figures, const struct ledger *ledger, struct arena *a, struct err *err);
/* False, with a message, if a single run calibrates but no published row of its submission does. A row's source
 * names its submission as "MLPerf Training v2.0 results, closed, Graphcore, ipu-pod16-TF1-closed/resnet". */
bool protocol_allows_runs(const struct run_rows *runs, const struct figures *figures, struct arena *a, struct err *err);
bool protocol_allows_constants(size_t n, struct err *err);

/* ---- fit.c: bounded nonlinear least squares on log ratios, with standard errors ------------------------------- */

enum { MAX_FIT_PARAMETERS = 16 };

struct fit_parameter {
    const char *name;
    double low, high, start;            /* low < high, and start lies between them */
    double step;                        /* the step of the Jacobian's differences, as a share of high - low */
};
struct fit_value { double value, standard_error; bool at_bound; };

/* Sets log(predicted / measured) for every row; false, with a message, when a row cannot be predicted. */
typedef bool fit_log_ratios(double *out, const double *x, void *user, struct err *err);

struct fit_problem {
    const struct fit_parameter *parameters;
    size_t n_parameters, n_rows;
    const double *weights;              /* one a row, 0 leaves the row out; NULL: each is 1 */
    fit_log_ratios *log_ratios;
    void *user;
};
bool fit_run(struct fit_value *out, const struct fit_problem *problem, struct err *err);

/* A sheet without rows, as every fit writes it. */
struct fitted_value { const char *key, *value, *unit, *source, *note; };
struct table fitted_sheet(void);

/* ---- chip_fit.c: the constants of the chips, fitted to measured kernels and runs ------------------------------- */

/* share: by constant, the part of the row's time that is due to the constant's distance from its open-source value. */
struct chip_fit_row { const char *recipe; double share[MAX_FITTED], error; };
struct chip_fit {
    struct fit_value values[MAX_FITTED];    /* one for each of fitted_constants, in their order */
    struct chip_fit_row *rows;
    size_t n_rows;
    double median_before, median_after;     /* absolute relative error of the rows, with open-source and with fitted values */
    double median_default[MAX_FITTED];      /* median error with this one constant at its open-source value, the others fitted */
};
/* Uses rows of role calibrate: measured kernels, and throughputs of runs. Each recipe counts once. watch may be
 * NULL. */
bool chip_fit_run(struct chip_fit *out, const struct figures *figures, const struct model_paths *paths, const struct watch *watch,
                  struct arena *a, struct err *err);
void chip_fit_write(FILE *f, const struct chip_fit *fit, const char *table, const struct fitted_value *also);  /* writes the sheet, with one more row if it has a key; table: the path of the rows */
void chip_fit_print(FILE *f, const struct chip_fit *fit);                       /* prints the fit, with each constant's share of each row */

/* ---- system_fit.c: the constants of the software around the chips, fitted to published runs ---------------------- */

/* A published time as a linear function of the constants: seconds = base_s + sum of slope x (constant - its
 * default). */
struct system_row {
    const struct figure *figure;
    double published_s, base_s, slope[N_SYSTEM_CONSTANTS];
    double loop_s;                              /* the part of base_s that micro-batches take */
    size_t group;                               /* index of its loop_group */
    double weight;                              /* the weights of the rows of one configuration sum to 1 */
};

/* Rows of one model family, of training or of forward passes. The loops of a group may all be too fast or too slow
 * by a share. It is fitted together with the constants, so that it is not mistaken for one of them, and reported; no
 * prediction uses it. */
enum { MAX_LOOP_GROUPS = 8 };
struct loop_group { const char *family; bool training; size_t n_rows; struct fit_value error; };

struct system_fit {
    struct loop_group groups[MAX_LOOP_GROUPS]; size_t n_groups;
    struct fit_value values[N_SYSTEM_CONSTANTS];
    bool fitted[N_SYSTEM_CONSTANTS];            /* false: the rows do not tell the constant from its default, which it then keeps */
    struct system_row *rows;
    size_t n_rows, n_configurations;
    double median_unfitted, median_fitted;      /* absolute relative error of the rows */
    double median_default[N_SYSTEM_CONSTANTS];  /* median error with this one constant at its default, the others fitted */
    double median_left_out;                     /* each row predicted by the fit to all other configurations */
    double left_out_spread;                     /* the spread about zero of the log ratios of these predictions */
};
/* Uses throughputs and evaluation times of role calibrate, one-chip inference among them (which no constant moves),
 * where their recipe exists. Rows that validate are never read. watch may be NULL. */
bool system_fit_run(struct system_fit *out, const struct figures *figures, const struct model_paths *paths, const struct watch *watch,
                    struct arena *a, struct err *err);
/* Fits rows and groups that are already set, without any simulation. */
bool system_fit_lines(struct system_fit *fit, struct arena *a, struct err *err);
void system_fit_write(FILE *f, const struct system_fit *fit);   /* the sheet fitted-system.csv */
void system_fit_print(FILE *f, const struct system_fit *fit);   /* prints the fit, with each constant's share of each row */

struct moments { double sum, squares, n; };
static inline void moments_add(struct moments *m, double x) { m->sum += x, m->squares += x * x, m->n++; }
static inline double moments_within(const struct moments *m) { return m->squares - m->sum * m->sum / m->n; }     /* squares about the mean */

/* ---- submission_effects.c: how far submissions converge from the reference ---------------------------------------- *
 *
 *     ln(latent mean of a submission / reference) = submitter + submission
 *
 * These are two normal effects about zero, whose spreads are estimated twice by maximum likelihood. A third one, of a
 * submitter in a round, came out as nothing (5e-9, and 0.06 of a submitter) where effects are used. Means: the conditional mean of the
 * submitter's effect, given the submissions that calibrate, under the spreads of those that calibrate or are context. What
 * validates moves no prediction, not even through these spreads. Widths: the interval about that mean uses the spreads of
 * all closed submissions. So a bias that calibration runs show moves the prediction, and what they cannot tell widens the
 * interval.
 */

struct submission {
    const struct run_row *first; size_t n_runs;
    bool planned;                       /* a fixed number of epochs, evaluated at the end */
    double ln_ratio;                    /* latent mean over the reference's, logarithm */
};
struct submissions { struct submission *items; size_t n; };

/* The submissions whose batch lies inside the reference points. A system whose runs were submitted again in a later
 * round counts once; a row that validates never replaces one that does not. Fails on samples to converge that no
 * evaluation can have seen. */
bool submissions_of(struct submissions *out, const struct run_rows *runs, struct convergence_tables *tables, struct arena *a, struct err *err);
/* True for a closed submission of the benchmark that evaluates while it trains; only those have effects. */
bool submission_has_effect(const struct submission *s, const char *benchmark);

struct effect_spreads { double submitter, submission; size_t n; };
enum spreads_for { SPREADS_FOR_MEANS, SPREADS_FOR_WIDTHS };        /* the spreads follow from all submissions but those that validate; from all */
double effect_total(const struct effect_spreads *s);
/* without: a submitter that is left out, or NULL. n is 0 for fewer than 3 submissions. */
struct effect_spreads effect_spreads(const struct submissions *all, enum spreads_for what, const char *benchmark, const char *without,
                                     struct arena *a);

/* The effect of a submitter's next submission. spread: root mean square distance from the mean, if for_width is right.
 * The mean is NaN if calibration runs would move it but there are no spreads to say how far. */
struct effect { double mean, spread; size_t n; };
struct effect effect_of(const struct submissions *all, const struct effect_spreads *for_mean, const struct effect_spreads *for_width,
                        const char *benchmark, const char *submitter);

/* ---- convergence_fit.c: workloads/convergence/fits.csv ------------------------------------------------------------- */

/* Writes every fitted value of the convergence model with its standard error. data_dir: workloads/convergence
 * (rcp.csv, benchmarks.csv); runs: results/published/runs/mlperf_runs.csv. */
bool convergence_fit(FILE *f, const char *data_dir, const char *runs, struct arena *a, struct err *err);

/* ---- convergence_errors.c: predicted and published samples to converge ---------------------------------------------- */

struct convergence_error {
    const char *round, *division, *system, *benchmark, *role_name;
    int role;                           /* enum role */
    double global_batch;                /* samples a step */
    double published, predicted;        /* published: mean samples over the runs; predicted: the expected samples, or those of the planned epochs */
    double error;                       /* predicted / published - 1 */
};
struct convergence_errors { struct convergence_error *items; size_t n, cap; };

/* One item for each submission. Rounds without reference points are left out. */
bool convergence_errors(struct convergence_errors *out, const char *runs, const char *data_dir, struct arena *a, struct err *err);
/* Every submission that is not context, then root mean square and mean error by benchmark and role. */
void convergence_errors_document(struct document *d, const struct convergence_errors *e);

/* A submitter's closed submissions, predicted by the reference and the spread of all other submitters' submissions. */
struct submitter_left_out {
    const char *submitter, *benchmark;
    size_t n, n_others;
    double rms_error, mean_error;       /* predicted / published - 1, samples */
    size_t n_runs, n_inside;            /* single runs inside their 90 % interval */
    double share_inside;
};
struct submitters_left_out { struct submitter_left_out *items; size_t n; };
bool submitters_left_out(struct submitters_left_out *out, const char *runs, const char *data_dir, struct arena *a, struct err *err);
struct table submitters_left_out_table(const struct submitters_left_out *l);    /* a table of the items */

#endif
