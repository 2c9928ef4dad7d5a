/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.h - is it right? Simulated values compared with published ones, runs compared with recorded ones, and claims
 * recomputed.
 *
 * In order: check (one verdict for each figure), accuracy (errors by group), memory (what fits), coverage (how many
 * runs lie inside their interval), compare and gate (two runs of podbench against each other), audit (the numeric
 * claims of the source documents).
 */
#ifndef RESULTS_CHECK_H
#define RESULTS_CHECK_H
#include "results/published/parts.h"
#include "results/published/published.h"
#include "results/simulate/simulator.h"
#include "results/submission/drawn_runs.h"
#include "system-model/output/output.h"

/* ---- check.c: one verdict for each figure ----------------------------------------------------------------- *
 *
 * error = simulated / published - 1. A row passes when its error is within its tolerance and the model fits the
 * machine. Rows of role calibrate and validate decide whether the check passes; context rows never do.
 */

enum verdict { VERDICT_PASS, VERDICT_OUT_OF_TOLERANCE, VERDICT_DOES_NOT_FIT, VERDICT_NO_RECIPE, VERDICT_NO_VALUE, N_VERDICTS };
extern const char *const verdict_names[N_VERDICTS];

/* How a row counts. A row of role validate whose configuration also calibrates is a repeat: it tests nothing new. So
 * is a ratio of two configurations. */
enum counts_as { COUNTS_AS_CALIBRATE = FIGURE_CALIBRATE, COUNTS_AS_VALIDATE = FIGURE_VALIDATE, COUNTS_AS_CONTEXT = FIGURE_CONTEXT,
                 COUNTS_AS_REPEAT, N_COUNTS_AS };
extern const char *const counts_as_names[N_COUNTS_AS];

struct check_row {
    const struct figure *figure;
    enum counts_as counts_as;
    const char *workload, *system;      /* "-" when unknown */
    bool has_simulated;
    double simulated, error;            /* known if has_simulated */
    double stated_error;                /* how far the answer says that a power or an energy may be off, in the row's unit; else 0 */
    bool has_predicted;                 /* for a published time to train; only the first row of a recipe has such times */
    double predicted, predicted_error;  /* with predicted instead of published samples to converge, if has_predicted */
    enum verdict verdict;
    bool fits;                          /* the simulated run fits as it is configured */
    double fits_probability;
    bool fits_with_less_memory;         /* in a "fits" row: the run fits as configured, or with a smaller share of memory for temporaries */
    const char *why;                    /* one line that says why, for VERDICT_NO_RECIPE and NO_VALUE */
};
struct check { struct check_row *rows; size_t n; };

/* The source of simulated values. Recipes that are not among the known results are simulated and added to them. */
struct check_source {
    struct results known;
    struct simulator *simulator;
    struct link_bench links;            /* the caller sets its costs_dir; the rest is set when the first link is judged */
    struct kernel_bench kernels;        /* set when the first kernel is judged */
    struct watch watch;                 /* receives how many figures are judged */
    const char *broken;                 /* a recipe or sheet that cannot be read, which ends the check; NULL at first */
};

/* One row for each figure, in the figures' order. Fails on malformed tables, recipes and sheets; a row without a value is a verdict. */
bool check_build(struct check *out, const struct figures *figures, struct check_source *from, struct arena *a, struct err *err);
size_t check_within_stated(size_t *n, const struct check *c);       /* n: powers that have a range; returns how many were measured within it */
bool check_passes(const struct check *c);       /* every row of role calibrate or validate that has a recipe passes */

/* "1823 figures: 1561 simulated; 262 without a recipe: 176 need a capability, 78 of other vendors (peer), ..." Every row is counted. */
const char *figures_counted(const struct check *c, struct arena *a);
/* Rows, times to train and the summary, and a judgement for each row; context rows are not judged. */
void check_document(struct document *d, const struct check *c);
void check_add_summary(struct document *d, const struct check *c);
struct table check_table(const struct check *c, struct arena *a);      /* a table of all rows, for CSV and JSON */

/* ---- table_rows.c ------------------------------------------------------------------------------------- */

/* The most rows of the recipe's table that fit, in thousands. */
bool table_rows_predict(double *out, struct simulator *s, const char *recipe, struct err *err);

/* ---- accuracy.c: errors by group ---------------------------------------------------------------------- */

/* A configuration counts once, with the mean |error| of its rows. n: configurations. bias: mean of signed errors,
 * positive where predicted too fast, so that a time that is too short and a throughput that is too high do not
 * cancel. */
struct row_error { const char *configuration; double error, speed_error; };    /* speed_error: > 0 if too fast */
struct error_summary { size_t n; double median, mean, bias; };
struct error_summary errors_by_configuration(struct row_error *rows, size_t n_rows, struct arena *scratch);    /* sorts the rows */
/* errors_by_configuration() of the rows of a written check.csv that have this kind and this counts_as. A row without a kind is a run. */
struct error_summary errors_of_table(const struct csv_table *check, enum figure_kind kind, const char *counts_as, struct arena *scratch);

struct accuracy {
    enum figure_kind kind;
    const char *group, *name;           /* "all" "runs"; "workload" "resnet50"; "system" "bow-pod16" */
    enum counts_as counts_as;
    size_t n_rows, n_simulated, n_passed;
    struct error_summary errors;        /* errors of the simulated rows */
    double max_abs_error;               /* the largest error of a row */
    const struct check_row *worst;      /* NULL when none is simulated */
};

/* A time to train can be simulated with the published samples to converge, which tests the model of the system alone (simulated, error), or with
 * predicted ones, which tests the whole (predicted, predicted_error). Groups of both kinds hold the same rows, those that have both values. With
 * predicted samples a row counts by its role, because what calibrated its configuration's speed says nothing about its samples. */
enum samples_used { SAMPLES_ANY, SAMPLES_PUBLISHED, SAMPLES_PREDICTED };

struct check_group {
    enum figure_kind kind;
    const char *metric, *workload, *system;     /* NULL: any */
    enum samples_used samples;
    const char *division;               /* MLPerf's division, taken from the recipe's name; NULL: any */
};
struct accuracy check_accuracy(const struct check *c, enum counts_as counts_as, const struct check_group *group, struct arena *scratch);
/* Runs first: all, by workload, by system, and times to train; then evaluations, derived rows, kernels and links.
 * Memory has its own summary. Groups without rows are left out. */
struct accuracy *check_summary(size_t *n, const struct check *c, struct arena *a);
struct json_t *accuracy_json(const struct accuracy *a);

/* ---- memory_check.c: does it fit? ------------------------------------------------------------------------- *
 *
 * A published run that fits is weak evidence: most configurations fit with room to spare. One that does not fit is
 * strong evidence, and so is a largest batch whose next size did not fit.
 */

/* Configurations by what was published and what is predicted. */
struct memory_verdicts {
    const char *evidence;
    uint64_t n_ran, n_ran_fits, n_too_large, n_too_large_found;
    double ran_fits_with_less_memory, too_large_found_with_less_memory;        /* NaN if not known */
};
/* Published runs of other metrics (weak evidence), then rows of memory by how they count. Groups without
 * configurations are left out. */
struct memory_verdicts *memory_verdicts(size_t *n, const struct check *c, struct arena *a);

/* Configurations by the chance to fit that is predicted for them: how many fit by that, on average, and how many ran. Published runs say little here,
 * because nobody publishes what did not fit. */
struct memory_chances { const char *evidence; double from, to; uint64_t n, n_ran; double expected; };
struct memory_chances *memory_chances(size_t *n, const struct check *c, struct arena *a);
struct table memory_chances_table(const struct memory_chances *chances, size_t n);

/* Verdicts grouped by their own chance to be right, which is the chance to fit or, if the verdict was "does not fit", not to fit. expected: how many
 * are right by these chances. surest_wrong: the configuration of the surest wrong verdict, or NULL. Only rows that say whether a run fits are
 * counted. */
struct memory_sureness { const char *evidence; double from, to; uint64_t n, n_right; double expected; const char *surest_wrong; double surest; };
struct memory_sureness *memory_sureness(size_t *n, const struct check *c, struct arena *a);

/* Errors of published bytes by metric and by how the rows count. */
struct memory_bytes { const char *metric, *counts_as; uint64_t n_rows, n_predicted, n_within_10, n_within_30; double median, mean, max; const char *worst; };
struct memory_bytes *memory_bytes_errors(size_t *n, const struct check *c, struct arena *a);

/* A published edge: of recipes that differ in their micro-batch alone, the largest that fits and the smallest that
 * does not. predicted: the largest micro-batch that is predicted to fit. factor: how far outside the edge that is, 1
 * if it is inside. with_less_memory: where a smaller share of memory for temporaries counts, too. */
struct memory_limit { uint64_t predicted; double factor; };
struct memory_edge { const char *recipe, *counts_as; uint64_t fits, too_large; struct memory_limit as_configured, with_less_memory; };
bool memory_edges(struct memory_edge **out, size_t *n, const struct check *c, struct simulator *s, struct arena *a, struct err *err);

/* The value of a metric of memory from a plan; false, with a message, for a category that the plan does not have. */
bool memory_of_plan(double *out, const struct plan *p, const char *metric, struct err *err);
bool memory_of_tile(struct memory_need *out, const struct plan *p, const char *metric);  /* the bytes counted on a fullest tile; false for other metrics */
void memory_document(struct document *d, const struct check *c, const struct memory_edge *edges, size_t n_edges);   /* tables, as text */
struct json_t *memory_judgement_json(const struct check *c, const struct memory_edge *edges, size_t n_edges, struct arena *a);     /* an object of arrays */

/* ---- coverage.c: how many published runs lie inside the 90 % interval predicted for them ---------------------- */

struct run_timing simulated_timing(const struct simulation *sim, const struct result *r);

/* For each submission the recipe whose source names it, or that wrote it ("ID-simulated"); NULL if no recipe does. */
struct submission_names { const char *round, *submitter, *system, *benchmark; };
bool recipes_of_submissions(const char **out, const struct submission_names *names, size_t n, struct simulator *s, struct arena *a, struct err *err);

/* Sets the time of a training step and of everything else in a published run, without using that run. False: no
 * prediction for this run, which is left out. */
typedef bool coverage_timing(void *user, struct run_timing *out, const struct run_row *run, struct err *err);

struct coverage_count {
    const char *what;
    uint64_t n, samples_inside, time_inside;            /* single runs */
    double submissions, samples_once, time_once;        /* the same numbers, where each submission counts once, however many runs it has */
};
struct coverage {
    struct coverage_count items[16];
    size_t n;                           /* the first group holds all runs */
    uint64_t n_without_reference;       /* runs of rounds that have no reference points */
    uint64_t n_without_timing;          /* runs whose timing the caller's model does not know */
};

/* For every run of the table: are its samples to converge and its time to train inside the 90 % interval predicted
 * for it? */
bool coverage_report(struct coverage *out, const char *runs, const char *data_dir, coverage_timing *timing, void *user, struct arena *a,
                     struct err *err);
/* The relative error of a simulated step: one standard deviation of its logarithm. */
typedef double step_error(void *user, const struct simulation *sim);
/* Over the runs whose submission is named in a recipe's source ("v2.0 results: SUBMITTER SYSTEM/BENCHMARK"). error
 * may be NULL: then the fitted sheet's value holds for all. */
bool simulated_coverage(struct coverage *out, const char *runs, struct simulator *s, step_error *error, void *user, struct arena *a,
                        struct err *err);
struct table coverage_table(const struct coverage *c, struct arena *a);        /* one row for each group */
void coverage_document(struct document *d, const struct coverage *c);

/* ---- compare.c: two tables of the same shape, cell by cell ---------------------------------------------------- *
 *
 * Cells are compared as text: the model is deterministic, so any difference is a change that someone made. Columns that
 * say how a row was made (its version, the hash of its inputs) are skipped.
 */

enum change_kind { CHANGE_CELL, CHANGE_ROW_GONE, CHANGE_ROW_NEW, CHANGE_COLUMN_GONE, CHANGE_COLUMN_NEW };
struct table_change {
    enum change_kind kind;
    const char *id, *column;            /* id: the first cell of the row; NULL for a change of columns. column: NULL for a change of rows */
    const char *before, *after;         /* cells */
    bool is_number;                     /* both cells hold numbers, and the earlier one is not 0 */
    double relative;                    /* after / before - 1, if is_number */
    int verdict;                        /* +1 better, -1 worse, 0 neither or unknown */
};
struct comparison { struct table_change *items; size_t n, cap; size_t n_rows, n_columns; };

/* Rows are matched by their first column, which must be "id" and must not repeat. */
bool compare_tables(struct comparison *out, const struct csv_table *base, const struct csv_table *run,
                    struct arena *a, struct err *err);
struct table compare_table(const struct comparison *c, struct arena *a);
void compare_document(struct document *d, const struct comparison *c);
/* The accuracy of runs, kernels and links by role, before and after. Adds nothing for tables without role and error. */
void compare_add_accuracy(struct document *d, const struct csv_table *base, const struct csv_table *run);

/* ---- gate.c: a run against a recorded one --------------------------------------------------------------------- *
 *
 * Two gates. Change: predictions are deterministic, so any move is a change that someone made, and is accepted by
 * recording a baseline with a reason; moves are grouped by the part of the step that moved most. Accuracy: for rows
 * that validate, by workload and metric, the mean over configurations of how much |error| grew where it grew. What got
 * better is not set against it, so that one repaired error cannot hide a new one.
 */

struct gate_tables { struct csv_table rows, check; };   /* rows.csv and check.csv of one run */

struct gate_move {
    const char *id, *cause, *what;      /* cause: "exchange", "kernel matmul", "fits"...; what: "1525 -> 1480 samples/s" */
    double relative;                    /* the change of throughput, or of the part's own prediction; >0: more */
    int verdict;                        /* +1 better, -1 worse, 0 neither of the two */
};
struct gate_group { const char *cause; size_t n, n_better, n_worse; double low, high; const struct gate_move *largest; };
/* before, after and growth are means over n configurations; worst is the row that grew most. */
struct gate_accuracy { const char *name; size_t n; double before, after, growth; const char *worst; double worst_growth; bool holds; };

struct gate {
    struct gate_move *moves; size_t n_moves, cap_moves;      /* largest first */
    struct gate_group *groups; size_t n_groups;         /* those with most rows first */
    struct gate_accuracy *accuracy; size_t n_accuracy;  /* largest growth first */
    size_t n_better, n_worse, n_rows, n_new, n_gone;
    double margin;                                      /* the growth of mean |error| that is allowed, as a share */
    const char **inputs; size_t n_inputs;               /* files whose content differs, by the manifests */
    bool inputs_known;                                  /* both manifests list their inputs */
};

bool gate_build(struct gate *out, const struct gate_tables *base, const struct gate_tables *run, double margin, struct arena *a, struct err *err);
/* The inputs that two manifests list with different hashes. A manifest that is not there lists nothing. */
bool gate_inputs(struct gate *out, const char *base_manifest, const char *run_manifest, struct arena *a, struct err *err);
bool gate_moved(const struct gate *g);
bool gate_accuracy_holds(const struct gate *g);
void gate_document(struct document *d, const struct gate *g);       /* text is a screen at most; each group gets a judgement */

/* ---- audit.c: the numeric claims of the source documents, recomputed -------------------------------------------- *
 *
 * Each row of results/published/claims/claims.csv has what is claimed (relation and value), the expression to compare
 * it with, and, where the words allow another meaning, a reading with an expression of its own. The verdict follows:
 *     holds                          the expression meets the relation
 *     holds under a stated reading   the expression does not, or there is none, and the reading's does
 *     does not hold                  neither does
 *     cannot be checked here         there is no expression; the row says why
 */

enum relation { RELATION_IS, RELATION_AT_LEAST, RELATION_AT_MOST, RELATION_BETWEEN, N_RELATIONS };
enum audit_verdict { AUDIT_HOLDS, AUDIT_READING, AUDIT_FAILS, AUDIT_UNCHECKED, N_AUDIT_VERDICTS };
extern const char *const relation_names[N_RELATIONS + 1], *const audit_verdict_names[N_AUDIT_VERDICTS];

struct claim {
    const char *id, *kind, *documents, *text, *unit, *expression, *reading, *reading_expression, *simulated_expression, *note;
    enum relation relation;
    double value, high;                 /* high: the upper end of "between" */
    double tolerance;                   /* relative; it counts on the side of the relation that fails */
    uint32_t line;
    /* set by audit_run */
    enum audit_verdict verdict;
    bool has_found, has_reading, has_simulated;
    double found, found_as_read, simulated;     /* the values of the three expressions; `simulated` is for comparison only */
};
struct claims { struct claim *items; size_t n; const char *path; };

/* The values that expressions may refer to; audit_values.c lists the forms. */
struct audit_values {
    const struct figures *figures;
    const struct csv_table *facts;      /* name,value,unit,source */
    const struct csv_table *numbers;    /* id,value,low,high,holds,what: statements on number formats that were tried (make numbers) */
    struct simulator *simulator;
    const struct model_paths *paths;
    struct arena *a;
};
bool audit_lookup(double *out, void *values, const char *kind, const char *argument, struct err *err);

/* Refuses an unknown relation, a claim without an expression that does not say why, and a reading without words. */
bool claims_load(struct claims *out, const char *path, struct arena *a, struct err *err);
bool claim_meets(const struct claim *c, double found);
bool audit_run(struct claims *claims, struct audit_values *values, const struct watch *watch, struct err *err);

/* All claims as data and as a page; as text the counts and, unless all are asked for, the claims that do not hold. */
void audit_document(struct document *d, const struct claims *c, bool all);

#endif
