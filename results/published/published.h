/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * published.h - published figures: their tables, what follows from them, the ledger of their roles, and single MLPerf
 * runs.
 */
#ifndef PUBLISHED_H
#define PUBLISHED_H
#include "system-model/base/base.h"
#include "workloads/convergence/convergence.h"

/* ---- published.c: results/published/<table>.csv ---------------------------------------------------- */

enum role { FIGURE_CALIBRATE, FIGURE_VALIDATE, FIGURE_CONTEXT, N_FIGURE_ROLES };
extern const char *const role_names[N_FIGURE_ROLES + 1];
enum role role_named(const char *text);                 /* N_FIGURE_ROLES if no role has that name */
struct kernel_case;
struct link_case;
struct figure {
    const char *id, *recipe, *metric, *unit, *source, *quote, *note, *path;
    const char *without;                /* the reason why there is no recipe: "needs X", "not stated", "peer" or "no run"; NULL if there is one */
    const char *configuration;          /* names the run; rows with the same configuration count as one measurement */
    const struct figure *parents; size_t n_parents;     /* the rows from which a derived row is computed */
    const struct kernel_case *kernel;   /* the measured kernel, or NULL; `recipe` then holds its name */
    const struct link_case *link;
    double value, tolerance;            /* tolerance: relative, 0.1 = 10 % */
    enum role role;
    uint32_t line;
};
struct figures {
    struct figure *items; size_t n, cap;
    size_t n_left_out; const char *left_out;    /* derived rows left out because a parent has no recipe, and a message about the first of them */
};
bool published_load(struct figures *out, const char *path, struct arena *a, struct err *err);   /* `path` is a table or a folder of tables */
/* Reads only tables whose text contains the recipe's name. */
bool published_load_naming(struct figures *out, const char *path, const char *recipe, struct arena *a, struct err *err);
/* The publisher: a repository's name, or the source up to the first comma, semicolon, colon or @. */
const char *figure_origin(const struct figure *f, struct arena *a);
bool figure_is_ratio(const struct figure *f);           /* true if the row compares two recipes */
/* A metric that can be simulated. */
struct published_metric {
    const char *name, *unit;            /* a NULL unit allows any unit */
    int faster;                         /* +1 if a larger value is faster, -1 if it is slower */
    double per_unit;                    /* factor from the number in struct result to the metric; 0 if the metric is not one of a single run */
    size_t result_offset;
};
const struct published_metric *published_metric(const char *name);     /* NULL if the metric is not simulated */
const char *published_run_metrics(struct arena *a);                    /* all metrics of a single run, joined as text */
int metric_faster(const char *metric);                                 /* +1, -1, or 0 if the metric is not simulated */

/* The kinds of figure. The accuracy of runs leaves out evaluations, memory and derived rows, which repeat part of what runs say. */
enum figure_kind { FIGURE_OF_RUN, FIGURE_OF_KERNEL, FIGURE_OF_LINK, FIGURE_OF_EVALUATION, FIGURE_OF_MEMORY, FIGURE_DERIVED, FIGURE_OF_POWER,
                   N_FIGURE_KINDS };
extern const char *const figure_kind_names[N_FIGURE_KINDS];
enum figure_kind figure_kind(const struct figure *f);

/* ---- derived.c: slopes and intercepts of step time over gradient accumulation or batch, and differences ---- *
 *
 * Runs that differ only in gradient accumulation or in replicas lie on a line: step = loop x micro-batches + update.
 * So two published throughputs give two further numbers, which results/published/derived/derived.csv lists: id,metric,parents,tolerance,note.
 * `parents` has ids of published rows joined by +. Value, unit, role and source follow from the parents; the role is the strictest of their
 * roles. If only the slope or only the intercept of a line is listed, the table is refused.
 */

struct derived_point { double micro_batches, seconds, micro_batch; };   /* micro_batch is the size in samples, micro_batches their number in one call */

/* The point of one parent. `value` is published or simulated, in the parent's metric: throughput_samples_per_s, step_time_s, or
 * evaluation_time_s, which covers many calls. */
bool derived_point(struct derived_point *out, const struct figure *parent, double value, const char *recipes_dir, struct arena *a,
                   struct err *err);
/* Computes a derived metric from points. Slopes of the least-squares line are loop_s_per_micro_batch and forward_s_per_micro_batch, its
 * intercepts update_s and call_s.
 * batch_s_per_sample and batch_fixed_s are slope and intercept of a micro-batch's time over its size. step_increase_s is the last point minus
 * the first. */
double derived_value(const char *metric, const struct derived_point *points, size_t n);
/* Loads published rows and, if `path` is a folder with derived/derived.csv, derived rows. Derived rows whose parents' recipes are not in
 * recipes_dir are counted as left out. */
bool published_load_derived(struct figures *out, const char *path, const char *recipes_dir, struct arena *a, struct err *err);

/* ---- ledger.c: the role and configuration of every published row, and a hash of its content ---------------- *
 *
 * results/published/ledger/ledger.csv has the columns id,role,configuration,hash,why. Lines are only added, and the last line of an id counts. The
 * first line of an id needs no reason; every later line needs one (why). The last line of a row that left the tables has the role "removed". So no
 * row can change its role, value or configuration, or disappear, without a line that says why.
 */

struct ledger_line {
    const char *id, *role, *configuration, *hash, *why;
    uint32_t line;
};
struct ledger {
    const char *path;
    struct ledger_line *last; size_t n_last;    /* the last line of each id, sorted by id */
    struct ledger_change { const char *id, *why; } *changes; size_t n_changes;      /* the lines that state a reason, in the file's order */
};

/* Refuses an unknown role, and a later line for an id without a reason. */
bool ledger_load(struct ledger *out, const char *path, struct arena *a, struct err *err);
const struct ledger_line *ledger_find(const struct ledger *l, const char *id);     /* NULL if the ledger has no such line */
/* A hash of recipe, metric, value and unit as 16 hexadecimal digits. Id, role and configuration do not enter it. */
const char *figure_hash(const struct figure *f, struct arena *a);

/* One fault of the ledger, and the line that would mend it. */
struct ledger_fault { const char *what; struct ledger_line wanted; };
struct ledger_faults { struct ledger_fault *items; size_t n, cap; };
void ledger_compare(struct ledger_faults *out, const struct ledger *l, const struct figures *figures, struct arena *a);
void ledger_write_line(FILE *f, const struct ledger_line *line);

/* ---- first_sight.c: what was predicted for a row when it was first simulated -------------------------------- *
 *
 * results/published/first-sight.csv has the columns id,seen,recipe,version,predicted,low,high,open_low,open_high. podbench baseline adds a line once
 * for each row that is predicted; lines are never changed. A line "first" has the prediction of the version that first had the row. A row whose first
 * prediction is older than this table has a second line, "again": its first committed recipe, simulated by the named version. low and high are the
 * interval that was printed, and open_low and open_high the slowest and the fastest open reading; cells without a value are empty.
 */

struct sight {
    const char *id, *seen, *recipe, *version;   /* `recipe` is figure_recipe_hash() when the line was written */
    double predicted, low, high, open_low, open_high;       /* in the row's unit; an interval or open range that is unknown is NaN */
    size_t batch;                       /* rows first seen by one version share a number; later versions have larger numbers */
};
struct first_sight { struct sight *items; size_t n; };  /* sorted by id */
extern const char first_sight_header[], first_sight_name[];      /* first_sight_name is the file's name without .csv */
bool first_sight_load(struct first_sight *out, const char *path, struct arena *a, struct err *err);
/* The row's line "first" or, if by_later_program and there is one, its line "again". NULL if the row has not been seen. */
const struct sight *first_sight_find(const struct first_sight *all, const char *id, bool by_later_program);
void first_sight_write(FILE *f, const struct sight *s);
/* The hashes of the row's recipes, joined by +. A kernel or link has a hash of its text; a row without a recipe has "". */
bool figure_recipe_hash(const char **out, const struct figure *f, const char *recipes_dir, struct arena *a, struct err *err);

/* ---- memory_sight.c: the bytes that were counted when it was first predicted whether a published run fits --------- *
 *
 * results/published/ledger/first-memory.csv has the columns id,version,certain_bytes,needed_bytes, for the tightest tile (struct memory_need). podbench
 * baseline adds lines, which are never changed. Rows older than this table have the needed bytes of the oldest version that still builds, and the
 * certain bytes of the program of November 2026.
 */

struct memory_sight { const char *id, *version; double certain_bytes, needed_bytes; };
struct memory_sights { struct memory_sight *items; size_t n, cap; };
extern const char memory_sight_header[];
bool memory_sights_load(struct memory_sights *out, const char *path, struct arena *a, struct err *err);         /* a missing file means no rows */
const struct memory_sight *memory_sight_find(const struct memory_sights *all, const char *id);          /* NULL if the row is not in the file */
void memory_sight_write(FILE *f, const struct memory_sight *s);

/* ---- kept.c: the tolerance of every row that has a recipe, and a hash of its recipe's values ------------------- *
 *
 * results/published/ledger/kept.csv has the columns id,tolerance,recipe,why. As in the ledger, lines are only added, the last line of an id counts, and
 * each later line says why. So no row can get a wider tolerance, or another configuration under the same name, without a line. A row whose recipe
 * changes after it was seen becomes context.
 */

/* `recipe` is figure_recipe_hash(); was_another: an earlier line of this id has another hash */
struct kept_line { const char *id, *recipe, *why; double tolerance; uint32_t line; bool was_another; };
struct kept { const char *path; struct kept_line *last; size_t n; };                    /* sorted by id */
struct kept_fault { const char *what; struct kept_line wanted; };
struct kept_faults { struct kept_fault *items; size_t n, cap; };
bool kept_load(struct kept *out, const char *path, struct arena *a, struct err *err);
/* Compares each row with its line in kept.csv. Fails if a recipe cannot be read. */
bool kept_compare(struct kept_faults *out, const struct kept *k, const struct figures *figures, const char *recipes_dir, struct arena *a, struct err *err);
void kept_write_line(FILE *f, const struct kept_line *line);

/* ---- runs_table.c: single runs of MLPerf submissions, results/published/runs/mlperf_runs.csv ----------------- */

/* One published run. Numbers that are not stated are NaN. */
struct run_row {
    const char *round, *division, *submitter, *system, *benchmark, *optimizer, *source;
    int role;                           /* an enum role */
    int success, eval_at_end;           /* 1: true */
    double accelerators, time_to_train_s, startup_s, eval_s, post_train_s;
    double global_batch, base_learning_rate, samples_to_converge, epochs, evals, final_accuracy, throughput_samples_per_s;
};
struct run_rows { struct run_row *items; size_t n; };

bool run_rows_load(struct run_rows *out, const char *path, struct arena *a, struct err *err);
struct submission_terms terms_of_run(const struct run_row *r);         /* the terms of the submission that are known before a run starts */
/* The number of consecutive rows, from `first`, with the same submission and role. Runs of a submission are adjacent. */
size_t run_rows_group(const struct run_rows *t, size_t first);
double run_rows_mean_samples(const struct run_row *rows, size_t n);    /* the mean samples to converge of n runs */

#endif
