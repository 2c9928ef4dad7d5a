/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mlperf_internal.h - functions that the files of results/mlperf share.
 */
#ifndef MLPERF_INTERNAL_H
#define MLPERF_INTERNAL_H
#include "results/mlperf/mlperf.h"

/* ---- compliance.c --------------------------------------------------------------------------------------
 *
 * A log is read twice: the first reading finds the layers of rules that it calls for, and the second applies all of them to each line. Only
 * the states of the rules are kept, so a log may have any size. compliance_end() frees the JSON values in these states.
 */

/* Receives, at the end of a log, each line that the rules gather from several lines. */
typedef void line_observer(void *user, const struct mllog_line *l);

struct compliance_run;
/* Starts judging a log. `observer` may be NULL. */
struct compliance_run *compliance_start(const struct rule_book *b, const struct layer_queue *q, struct compliance *out, line_observer *observer, void *user,
                                        struct arena *a);
void compliance_line(struct compliance_run *r, const struct mllog_line *l);
void compliance_bad_line(struct compliance_run *r, uint64_t line, const char *problem);
void compliance_end(struct compliance_run *r, uint64_t n_lines);

/* ---- judge.c: the schedule of evaluations in a closed log, which reviewers test and the checkers do not ---- */

struct eval_review { double last, off_gap; uint64_t n, n_off, first_off_line; };
/* Takes one evaluation of an unfinished run with this global batch. */
void eval_review_line(struct eval_review *r, const char *benchmark, double batch, const struct mllog_line *l);
/* Adds a review note if evaluations do not follow the schedule. */
void eval_review_end(const struct eval_review *r, const char *benchmark, double batch, struct compliance *out, struct arena *a);

/* ---- folder.c: who and what a folder of logs is about, from its path; "" where the path does not say -------- */

struct folder_names { const char *round, *division, *submitter, *system, *benchmark, *metric; };      /* metric: "strong" or "weak", in MLPerf HPC */
/* Names a folder by its path. logged_benchmark is the benchmark in the logs, or NULL. */
void folder_names_from(struct folder_names *out, const struct judge *j, const char *path, const char *logged_benchmark, struct arena *a);
/* A remark for a folder or log that is judged by another round than its path names, or by provisional rules; "" if neither holds. */
const char *folder_remark(const char *path_round, const struct edition *e, struct arena *a);

/* ---- package.c: the parts of the package checker's verdict --------------------------------------------------- */

struct package {
    struct folder *f;
    struct judge *j;
    struct seed_seen *seeds;
    size_t n_seeds, cap_seeds;
    bool batch_differs;
    struct { const char *division, *org, *platform, *status, *config; } logged;  /* all from the first log that names a system; "" if none does */
    const char *description_division;   /* NULL if there is no system description */
    const char *power_note;             /* a note on the first power log that reviewers should look at */
    size_t n_power_notes;
    bool rcp_bypass, seed_bypass, train_samples;
    struct arena *a;
};
/* Fills the parts of the folder's verdict, its reference test, and whether it passes. */
void package_judge(struct package *p);
/* power.c: power_judge() finds the runs whose power logs the package checker refuses, and power_energy() the folder's energy, once it has a
 * score. */
void power_judge(struct package *p);
void power_energy(struct package *p);
/* package_notes.c */
void package_note(struct package *p, enum severity severity, const char *text);
/* Adds notes about disagreements within the folder, once it has a score. */
void package_note_disagreements(struct package *p);
/* judge.c: the text of the number that Python's int() makes of a value. Fractions are dropped; a text must be a whole number. NULL for other
 * values. */
const char *python_int(const json_t *v, struct arena *a);
/* The ruleset as documents write it, such as "6.1.0", with a mark on provisional rules. */
const char *ruleset_text(const struct edition *e, struct arena *a);

/* ---- repository.c ---------------------------------------------------------------------------------------------- */

enum { MOST_REPOSITORY_MESSAGES = 4 };
/* Lists the repository checker's complaints about a submitter's folder, and returns their number. */
size_t repository_check(struct log_message out[MOST_REPOSITORY_MESSAGES], const char *org, struct arena *a);
bool folder_holds(const char *dir, const char *name);                   /* true if a file of this name exists at any depth */

/* ---- lint_print.c: the formats of lint ------------------------------------------------------------------------ */

void lint_print_head(struct lint *l);
/* Prints the judgement of a log. `f` is its folder, or NULL for a log that was named on the command line. */
void lint_print_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a);
void lint_print_folder(struct lint *l, const struct folder *f, struct arena *a);
/* Prints a message about a file or folder, before the folder of logs to which it belongs. `check` is the name of the check in CSV. */
void lint_print_remark(struct lint *l, const char *path, const char *check, const struct log_message *m);
void lint_print_foot(struct lint *l);
#endif
