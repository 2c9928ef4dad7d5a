/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.h - simulated values set beside published ones: error, tolerance, verdict, and the accuracy by group.
 *
 * error = simulated / published - 1. A row passes when its error is within its tolerance and the model
 * fits the machine. Rows of role calibrate and validate decide the verdict of the whole; context never does.
 */
#ifndef RESULTS_CHECK_H
#define RESULTS_CHECK_H
#include "system-model/output/output.h"
#include "results/published/published.h"
#include "results/simulate/simulator.h"

enum verdict { VERDICT_PASS, VERDICT_OUT_OF_TOLERANCE, VERDICT_DOES_NOT_FIT, VERDICT_NO_RECIPE, VERDICT_NO_VALUE, N_VERDICTS };
extern const char *const verdict_names[N_VERDICTS];

/* How a row counts. A configuration that calibrates has been seen: its rows of role validate only repeat it, and validate nothing. A ratio
 * of two configurations, of either role, repeats them. */
enum standing { STANDS_CALIBRATE = FIGURE_CALIBRATE, STANDS_VALIDATE = FIGURE_VALIDATE, STANDS_CONTEXT = FIGURE_CONTEXT, STANDS_REPEAT,
                N_STANDINGS };
extern const char *const standing_names[N_STANDINGS];

struct check_row {
    const struct figure *figure;
    enum standing standing;
    size_t configuration;               /* its number: equal where the figures' configurations are equal */
    const char *workload, *system;      /* "-" when unknown */
    bool has_simulated;
    double simulated, error;            /* when has_simulated */
    bool has_predicted;                 /* a published time to train; the first row of its recipe */
    double predicted, predicted_error;  /* with samples to converge as predicted, not as published; when has_predicted */
    enum verdict verdict;
    bool fits;                          /* the run does, where it has been simulated */
    const char *why;                    /* for VERDICT_NO_RECIPE and NO_VALUE: one line */
};
struct check { struct check_row *rows; size_t n, n_configurations; };

/* Where simulated values come from. Recipes that are not in known are simulated and added to it. */
struct check_source {
    struct results known;
    struct simulator *simulator;
    void (*progress)(void *user, size_t done, size_t of); void *user;   /* may be NULL */
};

/* One row a figure, in the figures' order. Fails only on malformed input: a row without a value is a verdict. */
bool check_build(struct check *out, const struct figures *figures, struct check_source *from, struct arena *a, struct err *err);
/* True when every row of role calibrate or validate passes. */
bool check_passes(const struct check *c);

/* What a figure is of: a recipe or two, one kernel, one link or collective; an evaluation; whether a run fits; what follows from
 * published rows. The last three say again, or in part, what runs say: only their own groups count them. */
enum figure_kind { FIGURE_OF_RUN, FIGURE_OF_KERNEL, FIGURE_OF_LINK, FIGURE_OF_EVALUATION, FIGURE_OF_MEMORY, FIGURE_DERIVED,
                   N_FIGURE_KINDS };
extern const char *const figure_kind_names[N_FIGURE_KINDS];
enum figure_kind figure_kind(const struct figure *f);

/* ---- accuracy ------------------------------------------------------------------------ */

struct accuracy {
    const char *group, *name;           /* "role" "all"; "kind" "runs"; "workload" "resnet50"; "system" "bow-pod16" */
    enum standing standing;
    size_t n_rows, n_simulated, n_passed;
    size_t n_configurations;            /* of the simulated rows */
    /* Over the configurations, each with the mean of its simulated rows. The largest is that of one row. bias: of signed errors, positive
     * where predicted too fast: a time that is too short and a throughput that is too high do not cancel. */
    double median_abs_error, mean_abs_error, max_abs_error, bias;
    const struct check_row *worst;      /* NULL when none is simulated */
};

/* Times to train come in two manners: with the published samples to converge (the model of the system alone: simulated, error) and with
 * predicted ones (the whole: predicted, predicted_error). Both manners' groups hold the rows that have both; ANY: all rows, simulated. With
 * predicted samples a row counts by its role: what calibrated the speed of its configuration says nothing of its samples. */
enum check_manner { MANNER_ANY, MANNER_PUBLISHED_SAMPLES, MANNER_PREDICTED_SAMPLES };

struct check_group {
    enum figure_kind kind;              /* N_FIGURE_KINDS: runs, kernels and links */
    const char *metric;                 /* NULL: any */
    const char *workload, *system;      /* NULL: any */
    enum check_manner manner;
    const char *division;               /* of MLPerf, as the recipe's name has it; NULL: any */
};
struct accuracy check_accuracy(const struct check *c, enum standing standing, const struct check_group *group, struct arena *scratch);
/* By standing; by kind, metric of derived rows, workload and system, each by standing; times to train in both manners, all and by
 * workload. Groups without rows are left out. */
struct accuracy *check_summary(size_t *n, const struct check *c, struct arena *a);

/* Whether what was run is said to fit, and what is published as too large is not. Configurations count once. */
struct memory_check {
    size_t n_ran, n_ran_fits;           /* published as running; of these predicted to fit */
    size_t n_too_large, n_too_large_found;
};
struct memory_check check_memory(const struct check *c, struct arena *scratch);

/* ---- printing (check_print.c) ----------------------------------------------------------- */

/* Rows, times to train and the summary, and a judgement for each row; context rows are not judged. */
void check_document(struct document *d, const struct check *c);
void check_add_summary(struct document *d, const struct check *c);
void check_add_memory(struct document *d, const struct check *c);
struct table check_table(const struct check *c, struct arena *a);      /* all rows, for CSV and JSON */
struct json_t *accuracy_json(const struct accuracy *a);

#endif
