/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mlperf.h - judges real MLPerf results as the official tools do: a log, a folder of logs, a tree of folders.
 *     struct judge         rules, rounds and reference points, and the user's options; loaded once
 *     struct log_judgement one log: its compliance, and the facts that scores and tests need
 *     struct folder        one system's logs of one benchmark: the parts of the package's verdict, and the score
 *     struct score_row     a folder's score, as `podbench score` prints it
 *     struct lint          the verdicts on files and trees, as `podbench lint` prints them
 */
#ifndef MLPERF_H
#define MLPERF_H
#include "results/mlperf/mllog.h"
#include "results/mlperf/rules.h"
#include "system-model/output/output.h"
#include "workloads/convergence/rcp_points.h"

/* ---- compliance.c: one log against the rules ---------------------------------------------------------- */

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_REVIEW };
extern const char *const severity_names[3];

struct log_message {
    enum severity severity;
    uint64_t line;                      /* 0 for the log as a whole */
    const char *key, *text;             /* key may be "" */
};

struct compliance {
    bool passed;
    const char *stopped;                /* why the official checker ends with an exception; NULL if it does not */
    uint64_t n_errors, n_warnings;
    struct log_message *messages;
    size_t n_messages, cap_messages;
};
void compliance_say(struct compliance *c, struct log_message m, struct arena *a);

/* ---- package.c: the reference-convergence test: a submission must not converge much faster than the reference did - */

struct rcp_verdict {
    struct rcp_limit limit;
    bool passed;
    double batch;                       /* the global batch in samples */
    double submission_mean;             /* the olympic mean; a failed run counts as the slowest */
    double scaling;                     /* the checker's factor for a submission that passes: mean / submission_mean if the edition scales, else 1 */
    const char *text;                   /* rcp_verdict_text(), if it was asked for */
};

/* The reference-convergence test. `points` has the epochs or samples in which each run converged, HUGE_VAL if it failed. `t` is pruned by the
 * edition's rules. */
bool rcp_test(struct rcp_verdict *out, const struct rcp_table *t, double batch, const double *points, size_t n, struct arena *a,
              struct err *err);
/* The verdict in one line. */
const char *rcp_verdict_text(const struct rcp_verdict *v, const struct rcp_table *t, const double *points, size_t n, struct arena *a);

/* ---- judge.c: the tables, and one log ------------------------------------------------------------------- */

struct judge_options {
    const char *ruleset;                /* the round or edition to judge by; NULL: that of the path or else of the log */
    const char *data_dir;               /* workloads/convergence */
    bool train_samples;                 /* in rounds that allow it, the last train_samples line is the convergence point */
    bool rcp_bypass, seed_bypass;       /* options of the package checker: a failed test is reported, but does not count */
    bool only_failures;                 /* lint prints only errors and failed verdicts */
    uint32_t n_threads;                 /* threads for the logs of a folder; 0 and 1 use only the caller's thread */
    struct watch watch;                 /* reports each line of a log */
};

/* A round's demands on a benchmark, with parsed expressions. */
struct benchmark_rules {
    const struct round_terms *terms;
    struct expression point, where;     /* if the round lacks the expression, its text is NULL */
    bool has_reference;
    struct rcp_table reference;         /* pruned */
};

struct judge {
    struct arena *a;                    /* lives as long as the judge */
    const struct judge_options *options;
    struct judge_options quiet;         /* the options without the callback that reports progress, which only one thread may call */
    struct rule_library library;
    struct round_table rounds;
    struct benchmark_rules *cache;      /* one entry for each edition and benchmark in `rounds` */
    struct name_list *system_fields;    /* the fields of each edition, loaded when needed */
};

bool judge_load(struct judge *out, const struct judge_options *options, struct arena *a, struct err *err);
/* Finds the demands on a benchmark. Fails if the edition does not have it. */
bool judge_benchmark(const struct benchmark_rules **out, struct judge *j, const struct edition *e, const char *benchmark, struct err *err);
bool judge_knows(const struct judge *j, const char *benchmark);         /* true if any edition has the benchmark */
/* Loads the fields that a system description must have in this edition. */
bool system_fields_load(struct name_list *out, const char *data_dir, const struct edition *e, struct arena *a, struct err *err);

struct seed_seen { uint64_t hash, line; uint32_t log; };                /* hash of source file, line and value */

struct log_judgement {
    struct compliance compliance;
    struct run_log run;
    const char *round, *benchmark, *division;   /* names in the log, or NULL */
    const struct edition *edition;
    const struct benchmark_rules *rules;        /* NULL if the benchmark has no rules */
    double batch;                       /* the global batch logged last, or NaN */
    bool batch_differs;
    double point;                       /* the convergence point, or NaN */
    double last_train_samples;
    struct seed_seen *seeds;
    size_t n_seeds, cap_seeds;
    const char *bad_seed;               /* a seed that is not a whole number, or NULL */
    const char *stops;                  /* the place where the official checkers end with an exception, such as "line 7: ...", or NULL */
};

/* Judges a log. `edition` and `benchmark` come from the path; if NULL, the log names them. Fails if the file cannot be read or its round is
 * unknown. */
bool log_judge(struct log_judgement *out, struct judge *j, const char *path, bool follow, const struct edition *edition,
               const char *benchmark, struct arena *a, struct err *err);

/* ---- folder.c: the runs of one system and benchmark ------------------------------------------------------
 *
 * The package's verdict has parts, and the package passes if none of them fails. The score follows the official summariser: refused logs
 * count as slowest, a number of runs is dropped at each end, and the rest are averaged. In editions that read scaling.json, its factor
 * multiplies the mean.
 */

enum package_part { PACKAGE_FILES, PACKAGE_COMPLIANCE, PACKAGE_SEEDS, PACKAGE_CONVERGENCE, PACKAGE_DESCRIPTION, N_PACKAGE_PARTS };
extern const char *const package_part_names[N_PACKAGE_PARTS];
enum part_state { PART_UNTESTED, PART_PASSED, PART_FAILED, PART_BYPASSED };     /* a bypassed part has failed, but does not count */
extern const char *const part_state_names[4];
struct part_verdict { enum part_state state; const char *text; };

/* The numbers kept from each log. */
enum run_measure { MEASURE_EPOCHS, MEASURE_SAMPLES, MEASURE_BATCH, MEASURE_ACCUMULATION, MEASURE_THROUGHPUT, MEASURE_UNIT_TIME,
                   MEASURE_EVAL_TIME, MEASURE_STARTUP, MEASURE_INIT, MEASURE_INSTANCE, N_MEASURES };
struct run_entry {
    const char *file, *problem;         /* problem: why the run has no time, or NULL */
    bool compliant, converged;          /* converged: the run's status is success */
    bool has_seed, bad_seed, bad_lines;
    double start_ms, minutes, point;    /* point: the quality that was reached; NaN if none was logged */
    double last_train_samples;
    double measures[N_MEASURES];        /* unknown measures are NaN */
    uint64_t n_errors, n_warnings;
    const char *refused_key;            /* the key of the first error, or its text; NULL without errors */
    const char *benchmark;              /* the benchmark in the log, or "" */
    const char *stops;                  /* the same as in struct log_judgement */
    const char *power_problem;          /* why the package checker refuses its power logs, or NULL */
};

struct folder {
    const char *dir;
    const char *round, *division, *submitter, *system, *benchmark;      /* unknown names are "" */
    const char *metric;                 /* in MLPerf HPC "strong", or "weak" if many models are trained at once; "" otherwise */
    const struct edition *edition;      /* the edition by which the folder is judged; --ruleset may choose another than the path's */
    const struct benchmark_rules *rules;
    const char *remark;                 /* such as "judged as v2.1, though the path says v2.0", or that the rules are provisional; or "" */
    const char *problem;                /* why it cannot be judged at all, or NULL */
    struct run_entry *runs;
    size_t n;
    const char *throughput_method;      /* the throughput method of the first log */
    struct part_verdict parts[N_PACKAGE_PARTS];
    bool passed;
    struct log_message *notes;          /* warnings and review notes about the package */
    size_t n_notes, cap_notes;
    bool has_rcp;
    struct rcp_verdict rcp;             /* the reference test; it is also made in the open division, where it does not count */
    double batch;                       /* the global batch in samples; NaN if not logged */
    double score_minutes;               /* the official score, or NaN */
    double olympic_minutes;             /* before scaling; in weak scaling, the minutes for all models */
    size_t n_models;                    /* in weak scaling, the number of models that comply */
    double scaling;                     /* the factor in scaling.json, or 1 */
    const char *why_no_score;           /* NULL if there is a score */
    double energy_j;                    /* the olympic mean over the runs, scaled like the score; NaN without power logs or if a note says why */
};

/* Receives the judgement of each log; it is freed afterwards. */
typedef void log_sink(void *user, const struct folder *f, const char *path, const struct log_judgement *j);

/* Judges the named logs, each a regular file, in `dir`. Never fails: a folder that cannot be judged says why. `sink` may be NULL. */
void folder_judge(struct folder *out, struct judge *j, const char *dir, char *const *logs, size_t n, log_sink *sink, void *user,
                  struct arena *a);

/* ORG/results for a folder ORG/results/SYSTEM/BENCHMARK; NULL for other folders. */
const char *folder_results_path(const struct folder *f, struct arena *a);
/* The path of the system description, which need not exist: ORG/systems/SYSTEM.json for ORG/results/SYSTEM/BENCHMARK, otherwise
 * SYSTEM/SYSTEM.json. */
const char *folder_description_path(const struct folder *f, struct arena *a);
/* the beginning of hw_notes in the system description of a simulated submission */
#define SIMULATED_NOTE "Simulated by podbench; no such run took place"
/* Loads a JSON file, which the caller owns. NULL if it is not JSON, not a regular file, or larger than 1 MB. */
json_t *load_small_json(const char *path);

/* The olympic mean, without `dropped` values at each end; NaN if too few are left. Refused or failed runs have HUGE_VAL. Sorts the values. */
double olympic_minutes(double *minutes, size_t n, size_t dropped);

/* ---- tree.c: the folders of logs in a tree -----------------------------------------------------------------
 *
 * A log is a regular file named result_*.txt. Nothing else is opened and no symbolic link is followed; a notice says what was skipped.
 * Folders are visited in the order of their names. Only the names in the folders between the top and the current one are kept in memory.
 */

struct tree_visit {
    void (*folder)(void *user, const char *dir, char *const *logs, size_t n, struct arena *a);  /* `a` is freed after the call */
    void (*notice)(void *user, const char *path, const char *text);
    void *user;
    uint64_t *n_skipped;                /* the number of skipped paths; may be NULL */
    struct watch watch;                 /* reports each folder that is searched */
};

bool is_result_name(const char *name);  /* result_*.txt */
/* The suite to which a file of this name belongs, such as "MLPerf Inference"; NULL if it may belong to Training or HPC. */
const char *foreign_log(const char *name);
/* Visits all folders of logs in `dir`, and sets their number. Fails if `dir` cannot be read or holds no log. */
bool tree_walk(size_t *n_folders, const char *dir, const struct tree_visit *v, struct err *err);

/* ---- score.c: the official score of each folder, one row each --------------------------------------------- */

/* The score of one system on one benchmark. Medians are over the runs that converged, or over all runs if none did. Unknown numbers are NaN. */
struct score_row {
    const char *round, *division, *submitter, *system, *benchmark;      /* from the path, else from the logs; "" if unknown */
    uint64_t runs, required_runs;
    double failed;                      /* runs that are refused or have no time; NaN if the folder cannot be judged */
    uint64_t dropped;                   /* the number of fastest, and of slowest, runs that the score leaves out; failed runs are the slowest */
    double score_minutes;               /* the official score; NaN if there is none, and then the note says why */
    double scaling;                     /* the factor in score_minutes; 1 without a scaling.json that the edition reads */
    double mean_minutes, min_minutes, max_minutes, spread;      /* spread: (max - min) / mean */
    double measures[N_MEASURES];
    const char *throughput_method, *ruleset;
    double recomputed_scaling;          /* the factor of the reference-convergence test, or 1 */
    double recomputed_minutes;          /* the score with recomputed_scaling */
    double energy_j, power_w;           /* energy_j is the energy of a run, power_w is energy_j over the score's time; NaN without power logs */
    const char *metric;                 /* the same as in struct folder */
    double models;                      /* in weak scaling, the models trained at once, each on MEASURE_INSTANCE accelerators; otherwise NaN */
    const char *note;                   /* why there is no score, or a remark about it */
    const char *shown_note;             /* the note in words, with the energy */
    const char *path;
    struct json_t *logs;                /* JSON objects of its logs; NULL if not made yet */
};

void score_row_fill(struct score_row *out, const struct folder *f, struct arena *a);

struct table score_table(void);         /* a table whose rows are struct score_row */
void score_add(struct table *t, const struct folder *f, struct arena *a);      /* the table's texts live in `a` */

/* ---- lint.c: the verdicts on files and trees, as one document -----------------------------------------------
 *
 * Lint passes when every log given by name complies and every folder passes as a package.
 */

struct lint_counts { uint64_t folders, folders_passed, logs, logs_passed, errors, warnings, reviews, skipped; };

typedef void lint_notice(const char *path, const char *text);   /* is called for each skipped path, with the reason */

struct lint {
    lint_notice *notice;
    enum output_format format;
    struct judge *judge;
    struct lint_counts counts;
    struct document d;
    FILE *out;                          /* receives text or CSV */
    struct json_t *folders, *messages;  /* members of the JSON object */
    const char *org;                    /* the submitter of the last folder, or NULL */
    const char *top;                    /* the folder that the user named */
    const char *provisional;            /* the date of provisional rules; NULL if the rules are final */
    bool failed;                        /* something did not pass, or a file could not be read */
};

void lint_begin(struct lint *l, enum output_format format, struct judge *j, lint_notice *notice, struct arena *a);
/* Judges a file, or all folders of logs in a folder. Fails if it cannot be read or holds no logs. */
bool lint_path(struct lint *l, const char *path, struct err *err);
void lint_end(struct lint *l, FILE *out);       /* writes the document, unless nothing was judged */
#endif
