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
enum role role_named(const char *text);                 /* N_FIGURE_ROLES: no role has that name */
struct kernel_case;
struct link_case;
struct figure {
    const char *id, *recipe, *metric, *unit, *source, *quote, *note, *path;
    const char *without;                /* why it has no recipe: "needs X", "not stated", "peer" or "no run"; NULL if it has one */
    const char *configuration;          /* names the run; rows with the same name count as one measurement */
    const struct figure *parents; size_t n_parents;     /* the rows that a derived row follows from */
    const struct kernel_case *kernel;   /* the measured part, which has the name `recipe`; NULL for other rows */
    const struct link_case *link;
    double value, tolerance;            /* tolerance: relative, 0.1 = 10 % */
    enum role role;
    uint32_t line;
};
struct figures {
    struct figure *items; size_t n, cap;
    size_t n_left_out; const char *left_out;    /* derived rows whose parents lack a recipe, and a message about the first of them */
};
bool published_load(struct figures *out, const char *path, struct arena *a, struct err *err);   /* path is a table, or a folder of tables */
/* Reads only the tables whose text contains the recipe's name. */
bool published_load_naming(struct figures *out, const char *path, const char *recipe, struct arena *a, struct err *err);
/* Who published it: the repository's name, or what its source says up to a comma, a semicolon, a colon or an @. Rows of one origin were seen together. */
const char *figure_origin(const struct figure *f, struct arena *a);
bool figure_is_ratio(const struct figure *f);           /* true for a ratio of two recipes */
/* A metric that is simulated. */
struct published_metric {
    const char *name, *unit;            /* unit NULL: any */
    int faster;                         /* +1 if a larger value is faster, -1 if it is slower */
    double per_unit;                    /* for a metric of one run: this times the number in struct result; 0 for other metrics */
    size_t result_offset;
};
const struct published_metric *published_metric(const char *name);     /* NULL if not simulated */
const char *published_run_metrics(struct arena *a);                    /* the names of the metrics of one run */
int metric_faster(const char *metric);                                 /* 0 for a metric that is not simulated */

/* The kinds of figure. Evaluations, memory and derived rows are left out of the accuracy of runs: they repeat a
 * part of what runs say. */
enum figure_kind { FIGURE_OF_RUN, FIGURE_OF_KERNEL, FIGURE_OF_LINK, FIGURE_OF_EVALUATION, FIGURE_OF_MEMORY, FIGURE_DERIVED, FIGURE_OF_POWER,
                   N_FIGURE_KINDS };
extern const char *const figure_kind_names[N_FIGURE_KINDS];
enum figure_kind figure_kind(const struct figure *f);

/* ---- derived.c: slopes and intercepts of step time over gradient accumulation or batch, and differences ---- *
 *
 * Runs that differ only in gradient accumulation or in replicas lie on a line: step = loop x micro-batches + update.
 * Two published throughputs therefore give two further numbers. results/published/derived/derived.csv names them:
 * id,metric,parents,tolerance,note; parents are ids of published rows joined by +. Value, unit, role and source follow
 * from the parents; the role is the strictest of theirs. A line of which only the slope or only the intercept is listed
 * is refused.
 */

struct derived_point { double micro_batches, seconds, micro_batch; };   /* one call of a run; micro_batch: its size in samples */

/* value: published or simulated, of the parent's metric: throughput_samples_per_s, step_time_s or evaluation_time_s
 * (many calls). */
bool derived_point(struct derived_point *out, const struct figure *parent, double value, const char *recipes_dir, struct arena *a,
                   struct err *err);
/* loop_s_per_micro_batch, forward_s_per_micro_batch: slope of the least-squares line; update_s, call_s: its intercept;
 * batch_s_per_sample, batch_fixed_s: slope and intercept of a micro-batch's time over its size; step_increase_s: the last point minus the first. */
double derived_value(const char *metric, const struct derived_point *points, size_t n);
/* published_load, and derived/derived.csv where path is a folder that holds it. Rows with a parent whose recipe is
 * not in recipes_dir are counted as left out. */
bool published_load_derived(struct figures *out, const char *path, const char *recipes_dir, struct arena *a, struct err *err);

/* ---- ledger.c: the role and configuration of every published row, and a hash of its content ---------------- *
 *
 * results/published/ledger/ledger.csv: id,role,configuration,hash,why. Lines are only added; the last line of an id
 * holds. The first line of an id needs no reason; every later one does (why). A row that left the tables ends with the
 * role "removed". So no row can change its role, its value or its configuration, or disappear, without a line that says
 * why.
 */

struct ledger_line {
    const char *id, *role, *configuration, *hash, *why;
    uint32_t line;
};
struct ledger {
    const char *path;
    struct ledger_line *last; size_t n_last;    /* the last line of each id, sorted by id */
    struct ledger_change { const char *id, *why; } *changes; size_t n_changes;      /* the lines that give a reason, in the order of the file */
};

/* Refuses an unknown role, and a later line of an id that gives no reason. */
bool ledger_load(struct ledger *out, const char *path, struct arena *a, struct err *err);
const struct ledger_line *ledger_find(const struct ledger *l, const char *id);     /* NULL if the ledger has no such line */
/* A hash of recipe, metric, value and unit: 16 hexadecimal digits. Id, role and configuration are not part of it. */
const char *figure_hash(const struct figure *f, struct arena *a);

/* The faults of the ledger, each with the line that would repair it. */
struct ledger_fault { const char *what; struct ledger_line wanted; };
struct ledger_faults { struct ledger_fault *items; size_t n, cap; };
void ledger_compare(struct ledger_faults *out, const struct ledger *l, const struct figures *figures, struct arena *a);
void ledger_write_line(FILE *f, const struct ledger_line *line);

/* ---- first_sight.c: what was predicted for a row when it was first simulated -------------------------------- *
 *
 * results/published/first-sight.csv: id,seen,recipe,version,predicted,low,high,open_low,open_high. Lines are only added, by podbench
 * baseline, once for each row that has a prediction. seen is "first" for what the version that first had the row
 * predicted. A row whose first prediction is older than this table has another line, "again": its first committed
 * recipe, simulated by the version named. low and high are the interval printed with it, and open_low and open_high the slowest and the
 * fastest of its open readings; empty where none was.
 */

struct sight {
    const char *id, *seen, *recipe, *version;   /* recipe: figure_recipe_hash() when the row was seen */
    double predicted, low, high, open_low, open_high;       /* in the row's unit; NaN without an interval, and without readings */
    size_t batch;                       /* rows of one version were seen together; a later version has a larger number */
};
struct first_sight { struct sight *items; size_t n; };  /* sorted by id */
extern const char first_sight_header[], first_sight_name[];      /* the file's name without .csv */
bool first_sight_load(struct first_sight *out, const char *path, struct arena *a, struct err *err);
/* by_later_program: returns the row's line "again" if there is one. NULL: the row has not been seen. */
const struct sight *first_sight_find(const struct first_sight *all, const char *id, bool by_later_program);
void first_sight_write(FILE *f, const struct sight *s);
/* The recipe_hash() values of the row's recipes, joined by +; for a kernel or a link a hash of its text; "" if the row has no recipe. */
bool figure_recipe_hash(const char **out, const struct figure *f, const char *recipes_dir, struct arena *a, struct err *err);

/* ---- memory_sight.c: the bytes that were counted when it was first predicted whether a published run fits --------- *
 *
 * results/published/ledger/first-memory.csv: id,version,certain_bytes,needed_bytes, of the tightest tile (struct memory_need). Lines are only added, by
 * podbench baseline. A row that is older has the bytes that the first version which builds counts, and what is certain by the program of November 2026.
 */

struct memory_sight { const char *id, *version; double certain_bytes, needed_bytes; };
struct memory_sights { struct memory_sight *items; size_t n, cap; };
extern const char memory_sight_header[];
bool memory_sights_load(struct memory_sights *out, const char *path, struct arena *a, struct err *err);         /* without the file there are none */
const struct memory_sight *memory_sight_find(const struct memory_sights *all, const char *id);          /* NULL if it was not kept */
void memory_sight_write(FILE *f, const struct memory_sight *s);

/* ---- kept.c: the tolerance of every row that has a recipe, and a hash of its recipe's values ------------------- *
 *
 * results/published/ledger/kept.csv: id,tolerance,recipe,why. As in the ledger, lines are only added, the last of an id
 * holds, and each later one says why. So no row can get a wider tolerance, or another configuration under the same name,
 * without a line; and a row whose recipe changes after it was seen is context from then on.
 */

struct kept_line { const char *id, *recipe, *why; double tolerance; uint32_t line; bool was_another; };  /* recipe: figure_recipe_hash(); was_another: an earlier line has another hash */
struct kept { const char *path; struct kept_line *last; size_t n; };                    /* sorted by id */
struct kept_fault { const char *what; struct kept_line wanted; };
struct kept_faults { struct kept_fault *items; size_t n, cap; };
bool kept_load(struct kept *out, const char *path, struct arena *a, struct err *err);
/* Compares each row with its line in kept.csv. Fails if a recipe cannot be read. */
bool kept_compare(struct kept_faults *out, const struct kept *k, const struct figures *figures, const char *recipes_dir, struct arena *a, struct err *err);
void kept_write_line(FILE *f, const struct kept_line *line);

/* ---- runs_table.c: single runs of MLPerf submissions, results/published/runs/mlperf_runs.csv ----------------- */

/* One result file. Absent numbers are NaN. */
struct run_row {
    const char *round, *division, *submitter, *system, *benchmark, *optimizer, *source;
    int role;                           /* enum role */
    int success, eval_at_end;           /* 1: true */
    double accelerators, time_to_train_s, startup_s, eval_s, post_train_s;
    double global_batch, base_learning_rate, samples_to_converge, epochs, evals, final_accuracy, throughput_samples_per_s;
};
struct run_rows { struct run_row *items; size_t n; };

bool run_rows_load(struct run_rows *out, const char *path, struct arena *a, struct err *err);
struct submission_terms terms_of_run(const struct run_row *r);         /* the terms of a submission that are known before the run starts */
/* The number of rows from the first on that belong to the same submission and role. Runs of a submission are
 * adjacent. */
size_t run_rows_group(const struct run_rows *t, size_t first);
double run_rows_mean_samples(const struct run_row *rows, size_t n);    /* samples to converge, as the mean over n runs */

#endif
