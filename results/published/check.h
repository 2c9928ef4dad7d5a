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
 * error = simulated / published - 1. A row passes if its error is within its tolerance and the model fits the machine. The check passes if all
 * rows that calibrate or validate pass; context rows do not count.
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
    const char *workload, *system;      /* both are "-" if unknown */
    bool has_simulated;
    double simulated, error;            /* both are set only if has_simulated */
    double stated_error;                /* the answer's own error bound of a power or an energy, in the row's unit; 0 for other rows */
    bool has_predicted;                 /* true for a published time to train, but only in the first row of its recipe */
    double predicted, predicted_error;  /* both use predicted samples to converge; set only if has_predicted */
    enum verdict verdict;
    bool fits;                          /* true if the simulated run fits in memory as configured */
    double fits_probability;
    bool fits_with_less_memory;         /* for metric "fits": true if the run fits as configured or with a smaller share of memory for temporaries */
    const char *why;                    /* one line with the reason of VERDICT_NO_RECIPE or VERDICT_NO_VALUE */
};
struct check { struct check_row *rows; size_t n; };

/* The source of simulated values. Recipes that are not among the known results are simulated and added to them. */
struct check_source {
    struct results known;
    struct simulator *simulator;
    struct link_bench links;            /* the caller sets links.costs_dir; the first judged link sets the rest */
    struct kernel_bench kernels;        /* the first judged kernel sets the bench */
    struct watch watch;                 /* reports how many figures have been judged */
    const char *broken;                 /* the message about an unreadable recipe or sheet, which ends the check; NULL at first */
};

/* One row for each figure, in the figures' order. Fails on malformed tables, recipes and sheets; a row without a value is a verdict. */
bool check_build(struct check *out, const struct figures *figures, struct check_source *from, struct arena *a, struct err *err);
/* n: the number of powers that have a range; returns how many were measured within their range */
size_t check_within_stated(size_t *n, const struct check *c);
bool check_passes(const struct check *c);       /* true if every row that calibrates or validates and has a recipe passes */

/* A sentence that counts all rows, such as "1823 figures: 1561 simulated; 262 without a recipe: 176 need a capability, ...". */
const char *figures_counted(const struct check *c, struct arena *a);
/* The document holds rows, times to train, the summary, and a judgement for each row that is not context. */
void check_document(struct document *d, const struct check *c);
void check_add_summary(struct document *d, const struct check *c);
struct table check_table(const struct check *c, struct arena *a);      /* a table of all rows, for CSV and JSON */

/* ---- table_rows.c ------------------------------------------------------------------------------------- */

/* The largest table with which the recipe fits, in thousands of rows. */
bool table_rows_predict(double *out, struct simulator *s, const char *recipe, struct err *err);

/* ---- accuracy.c: errors by group ---------------------------------------------------------------------- */

/* Each configuration counts once, with the mean |error| of its rows; n is the number of configurations. bias is the mean of the signed errors
 * of speed, positive if predictions are too fast. */
struct row_error { const char *configuration; double error, speed_error; };    /* speed_error is positive if the prediction is too fast */
struct error_summary { size_t n; double median, mean, bias; };
struct error_summary errors_by_configuration(struct row_error *rows, size_t n_rows, struct arena *scratch);    /* sorts `rows` in place */
/* The errors of a written check.csv, over the rows with this kind and counts_as. A row without a kind counts as a run. */
struct error_summary errors_of_table(const struct csv_table *check, enum figure_kind kind, const char *counts_as, struct arena *scratch);

struct accuracy {
    enum figure_kind kind;
    const char *group, *name;           /* "all" "runs"; "workload" "resnet50"; "system" "bow-pod16" */
    enum counts_as counts_as;
    size_t n_rows, n_simulated, n_passed;
    struct error_summary errors;        /* errors of the simulated rows */
    double max_abs_error;               /* the largest |error| of a row */
    const struct check_row *worst;      /* the row with the largest |error|; NULL if no row is simulated */
};

/* The samples to converge used to simulate a time to train. Published samples test only the model of the system; predicted samples test
 * convergence, too.
 * Both groups hold the rows that have both values. With predicted samples a row counts by its role, since calibrating the speed says nothing
 * about the samples. */
enum samples_used { SAMPLES_ANY, SAMPLES_PUBLISHED, SAMPLES_PREDICTED };

struct check_group {
    enum figure_kind kind;
    const char *metric, *workload, *system;     /* NULL: any */
    enum samples_used samples;
    const char *division;               /* MLPerf's division, from the recipe's name; NULL for all divisions */
};
struct accuracy check_accuracy(const struct check *c, enum counts_as counts_as, const struct check_group *group, struct arena *scratch);
/* Groups of runs come first (all, by workload, by system, times to train), then evaluations, derived rows, kernels and links. Empty groups are
 * left out. */
struct accuracy *check_summary(size_t *n, const struct check *c, struct arena *a);
struct json_t *accuracy_json(const struct accuracy *a);

/* ---- memory_check.c: does it fit? ------------------------------------------------------------------------- *
 *
 * A published run that fits is weak evidence: most configurations fit with room to spare. One that does not fit is
 * strong evidence, and so is a largest batch whose next size did not fit.
 */

/* Counts of published verdicts ("ran" or "too large") and of those that are predicted correctly. */
struct memory_verdicts {
    const char *evidence;
    uint64_t n_ran, n_ran_fits, n_too_large, n_too_large_found;
    double ran_fits_with_less_memory, too_large_found_with_less_memory;        /* both are NaN if unknown */
};
/* The first group holds published runs that state no memory (weak evidence); then come rows about memory by counts_as. Empty groups are left
 * out. */
struct memory_verdicts *memory_verdicts(size_t *n, const struct check *c, struct arena *a);

/* Statements grouped by their chance, in fifths of the range from `from` to 1: how many there are, how many came true, and how many should have by
 * these chances. surest_wrong is the configuration of the false statement with the highest chance, or NULL. */
enum { N_CHANCE_BINS = 5 };
struct chance_bin { const char *evidence; double from, to; uint64_t n, n_true; double expected; const char *surest_wrong; double surest; };
void chance_bins_add(struct chance_bin bins[N_CHANCE_BINS], double from, double chance, bool is_true, const char *configuration);
/* Writes the groups that are not empty, and returns how many there are. */
size_t chance_bins_end(struct chance_bin *out, const struct chance_bin bins[N_CHANCE_BINS], double from, const char *evidence);

/* Configurations by their predicted chance to fit; published runs are weak evidence, because nobody publishes what did not fit. For verdicts: rows
 * about whether a run fits, by the chance that the verdict is right. */
struct chance_bin *memory_chances(size_t *n, const struct check *c, bool for_verdicts, struct arena *a);
struct table memory_chances_table(const struct chance_bin *chances, size_t n);

/* Errors of published numbers of bytes, grouped by metric and by counts_as. */
struct memory_bytes { const char *metric, *counts_as; uint64_t n_rows, n_predicted, n_within_10, n_within_30; double median, mean, max; const char *worst; };
struct memory_bytes *memory_bytes_errors(size_t *n, const struct check *c, struct arena *a);

/* A published edge consists of two recipes that differ only in micro-batch: the largest that fits and the smallest that does not.
 * `predicted` is the largest micro-batch that is predicted to fit; `factor` is its distance from the edge, 1 if it lies within.
 * with_less_memory also counts runs that fit with a smaller share of memory for temporaries. */
struct memory_limit { uint64_t predicted; double factor; };
struct memory_edge { const char *recipe, *counts_as; uint64_t fits, too_large; struct memory_limit as_configured, with_less_memory; };
bool memory_edges(struct memory_edge **out, size_t *n, const struct check *c, struct simulator *s, struct arena *a, struct err *err);

/* The value of a metric of memory in this plan. Fails if the plan has no such category. */
bool memory_of_plan(double *out, const struct plan *p, const char *metric, struct err *err);
/* the bytes of the fullest tile; false if the metric is about something else */
bool memory_of_tile(struct memory_need *out, const struct plan *p, const char *metric);
void memory_document(struct document *d, const struct check *c, const struct memory_edge *edges, size_t n_edges);   /* adds tables for text output */
/* returns a JSON object of arrays */
struct json_t *memory_judgement_json(const struct check *c, const struct memory_edge *edges, size_t n_edges, struct arena *a);

/* ---- coverage.c: how many published runs lie inside the 90 % interval predicted for them ---------------------- */

struct run_timing simulated_timing(const struct simulation *sim, const struct result *r);

/* Finds, for each submission, the recipe that names it as source or that wrote it ("ID-simulated"); NULL if there is none. */
struct submission_names { const char *round, *submitter, *system, *benchmark; };
bool recipes_of_submissions(const char **out, const struct submission_names *names, size_t n, struct simulator *s, struct arena *a, struct err *err);

/* Predicts the times of a published run without using that run. Returns false if there is no prediction; then the run is left out. */
typedef bool coverage_timing(void *user, struct run_timing *out, const struct run_row *run, struct err *err);

struct coverage_count {
    const char *what;
    uint64_t n, samples_inside, time_inside;            /* counts of single runs */
    double submissions, samples_once, time_once;        /* the same counts with each submission weighted as one run */
};
struct coverage {
    struct coverage_count items[16];
    size_t n;                           /* items[0] holds all runs */
    uint64_t n_without_reference;       /* runs of rounds without reference convergence points */
    uint64_t n_without_timing;          /* runs for which the caller's model gives no timing */
};

/* Counts how many published runs have their samples to converge, and their time to train, inside the predicted 90 % interval. */
bool coverage_report(struct coverage *out, const char *runs, const char *data_dir, coverage_timing *timing, void *user, struct arena *a,
                     struct err *err);
/* The error of a simulated step time, as the standard deviation of its logarithm. */
typedef double step_error(void *user, const struct simulation *sim);
/* Coverage over runs whose submission a recipe names as source ("v2.0 results: SUBMITTER SYSTEM/BENCHMARK"). If `error` is NULL, the error on
 * the fitted sheet holds for all runs. */
bool simulated_coverage(struct coverage *out, const char *runs, struct simulator *s, step_error *error, void *user, struct arena *a,
                        struct err *err);
struct table coverage_table(const struct coverage *c, struct arena *a);        /* returns a table with one row for each group */
void coverage_document(struct document *d, const struct coverage *c);

/* ---- compare.c: two tables of the same shape, cell by cell ---------------------------------------------------- *
 *
 * Cells are compared as text: the model is deterministic, so any difference is a change that someone made. Columns that
 * say how a row was made (its version, the hash of its inputs) are skipped.
 */

enum change_kind { CHANGE_CELL, CHANGE_ROW_GONE, CHANGE_ROW_NEW, CHANGE_COLUMN_GONE, CHANGE_COLUMN_NEW };
struct table_change {
    enum change_kind kind;
    const char *id, *column;            /* id is the row's first cell, NULL if a column came or went; column is NULL if a row came or went */
    const char *before, *after;         /* cells */
    bool is_number;                     /* true if both cells are numbers and the earlier is not 0 */
    double relative;                    /* after / before - 1; set only if is_number */
    int verdict;                        /* +1 better, -1 worse, 0 neither or unknown */
};
struct comparison { struct table_change *items; size_t n, cap; size_t n_rows, n_columns; };

/* Matches rows by their first column, which must be "id" and must not repeat. */
bool compare_tables(struct comparison *out, const struct csv_table *base, const struct csv_table *run,
                    struct arena *a, struct err *err);
struct table compare_table(const struct comparison *c, struct arena *a);
void compare_document(struct document *d, const struct comparison *c);
/* Adds the accuracy of runs, kernels and links by role, before and after. Tables without columns role and error add nothing. */
void compare_add_accuracy(struct document *d, const struct csv_table *base, const struct csv_table *run);

/* ---- gate.c: a run against a recorded one --------------------------------------------------------------------- *
 *
 * There are two gates. Change: predictions are deterministic, so every move is a change that someone made. It is accepted by recording a baseline
 * with a reason. Moves are grouped by the part of the step that moved most. Accuracy: for rows that validate, the growth of |error|, as a mean over
 * configurations for each workload and metric. Errors that fell count as no growth, so that a repaired error cannot hide a new one.
 */

struct gate_tables { struct csv_table rows, check; };   /* the files rows.csv and check.csv of one run */

struct gate_move {
    const char *id, *cause, *what;      /* texts such as "exchange" or "kernel matmul" (cause) and "1525 -> 1480 samples/s" (what) */
    double relative;                    /* the relative change of throughput, or of the predicted kernel or link */
    int verdict;                        /* +1 better, -1 worse, 0 neither */
};
struct gate_group { const char *cause; uint64_t n; size_t n_better, n_worse; double low, high; const struct gate_move *largest; };
/* before, after and growth are means over n configurations; `worst` is the row whose error grew most. */
struct gate_accuracy { const char *name; size_t n; double before, after, growth; const char *worst; double worst_growth; bool holds; };

struct gate {
    struct gate_move *moves; size_t n_moves, cap_moves;      /* moves, the largest first */
    struct gate_group *groups; size_t n_groups;         /* groups, those with most rows first */
    struct gate_accuracy *accuracy; size_t n_accuracy;  /* accuracies, the largest growth first */
    size_t n_better, n_worse, n_rows, n_new, n_gone;
    double margin;                                      /* the relative growth of the mean |error| that is allowed */
    const char **inputs; size_t n_inputs;               /* the names of files whose hashes differ between the manifests */
    bool inputs_known;                                  /* true if both manifests list their inputs */
};

bool gate_build(struct gate *out, const struct gate_tables *base, const struct gate_tables *run, double margin, struct arena *a, struct err *err);
/* Collects the inputs whose hashes differ between two manifests. A missing manifest lists no inputs. */
bool gate_inputs(struct gate *out, const char *base_manifest, const char *run_manifest, struct arena *a, struct err *err);
bool gate_moved(const struct gate *g);
bool gate_accuracy_holds(const struct gate *g);
void gate_document(struct document *d, const struct gate *g);       /* The text fits one screen; each group gets a judgement. */

/* ---- audit.c: the numeric claims of the source documents, recomputed -------------------------------------------- *
 *
 * Each row of results/published/claims/claims.csv has what is claimed (relation and value), the expression to compare
 * it with, and, where the words allow another meaning, a reading with an expression of its own. The verdict follows:
 *     holds                          the expression meets the relation
 *     holds under a stated reading   only the reading's expression meets it
 *     does not hold                  neither expression meets it
 *     cannot be checked here         there is no expression; the row says why
 */

enum relation { RELATION_IS, RELATION_AT_LEAST, RELATION_AT_MOST, RELATION_BETWEEN, N_RELATIONS };
enum audit_verdict { AUDIT_HOLDS, AUDIT_READING, AUDIT_FAILS, AUDIT_UNCHECKED, N_AUDIT_VERDICTS };
extern const char *const relation_names[N_RELATIONS + 1], *const audit_verdict_names[N_AUDIT_VERDICTS];

struct claim {
    const char *id, *kind, *documents, *text, *unit, *expression, *reading, *reading_expression, *simulated_expression, *note;
    enum relation relation;
    double value, high;                 /* high is the upper end of "between" */
    double tolerance;                   /* a relative tolerance, which counts on the side on which the relation fails */
    uint32_t line;
    /* the verdict, which audit_run() sets */
    enum audit_verdict verdict;
    bool has_found, has_reading, has_simulated;
    double found, found_as_read, simulated;     /* values of the claim's three expressions; `simulated` is for comparison only */
};
struct claims { struct claim *items; size_t n; const char *path; };

/* The values that expressions may refer to; audit_values.c lists the forms. */
struct audit_values {
    const struct figures *figures;
    const struct csv_table *facts;      /* name,value,unit,source */
    const struct csv_table *numbers;    /* table id,value,low,high,holds,what of statements on number formats that were tried (make numbers) */
    struct simulator *simulator;
    const struct model_paths *paths;
    struct arena *a;
};
bool audit_lookup(double *out, void *values, const char *kind, const char *argument, struct err *err);

/* Refuses an unknown relation, a claim with neither an expression nor a note, and a reading without words. */
bool claims_load(struct claims *out, const char *path, struct arena *a, struct err *err);
bool claim_meets(const struct claim *c, double found);
bool audit_run(struct claims *claims, struct audit_values *values, const struct watch *watch, struct err *err);

/* Writes all claims as data and as a page. Text has the counts and the claims that do not hold, or all claims if `all`. */
void audit_document(struct document *d, const struct claims *c, bool all);

#endif
