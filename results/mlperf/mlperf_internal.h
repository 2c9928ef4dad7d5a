/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mlperf_internal.h - what the files of results/mlperf ask of each other.
 */
#ifndef MLPERF_INTERNAL_H
#define MLPERF_INTERNAL_H
#include "results/mlperf/mlperf.h"

/* ---- compliance.c --------------------------------------------------------------------------------------
 *
 * A log is read twice: the first reading finds the layers of rules that it calls for, the second applies all of them to
 * each line. Only the rules' states are kept, so a log may have any size. compliance_end frees the JSON values that the
 * states hold.
 */

/* Receives, at the end, each line that the rules gather from several lines. */
typedef void line_observer(void *user, const struct mllog_line *l);

struct compliance_run;
/* observer may be NULL. */
struct compliance_run *compliance_start(const struct rule_book *b, const struct layer_queue *q, struct compliance *out, line_observer *observer, void *user,
                                        struct arena *a);
void compliance_line(struct compliance_run *r, const struct mllog_line *l);
void compliance_bad_line(struct compliance_run *r, uint64_t line, const char *problem);
void compliance_end(struct compliance_run *r, uint64_t n_lines);

/* ---- judge.c: whether a closed log is evaluated as often as the rules ask; reviewers test that, the checkers do
 * not ---- */

struct eval_review { double last, off_gap; uint64_t n, n_off, first_off_line; };
/* Takes one evaluation of a run with this global batch; the run has not ended yet. */
void eval_review_line(struct eval_review *r, const char *benchmark, double batch, const struct mllog_line *l);
/* Adds a review note where evaluations do not follow the schedule. */
void eval_review_end(const struct eval_review *r, const char *benchmark, double batch, struct compliance *out, struct arena *a);

/* ---- folder.c: who and what a folder of logs is about, from its path; "" where the path does not say -------- */

struct folder_names { const char *round, *division, *submitter, *system, *benchmark, *metric; };      /* metric: strong or weak, of MLPerf HPC */
/* logged_benchmark: what the logs say; NULL: nothing. */
void folder_names_from(struct folder_names *out, const struct judge *j, const char *path, const char *logged_benchmark, struct arena *a);
/* The remark of a folder, or a log, that is judged by another round than its path names, or by provisional rules; "" for none. */
const char *folder_remark(const char *path_round, const struct edition *e, struct arena *a);

/* ---- package.c: the parts of the package checker's verdict --------------------------------------------------- */

struct package {
    struct folder *f;
    struct judge *j;
    struct seed_seen *seeds;
    size_t n_seeds, cap_seeds;
    bool batch_differs;
    struct { const char *division, *org, *platform, *status, *config; } logged;  /* from the first log that names a system; "" if none does */
    const char *description_division;   /* NULL if there is no description */
    const char *power_note;             /* a note about the first power log that reviewers should look at */
    size_t n_power_notes;
    bool rcp_bypass, seed_bypass, train_samples;
    struct arena *a;
};
/* Fills the folder's parts, its convergence verdict and whether it passes. */
void package_judge(struct package *p);
/* power.c: which runs the package checker refuses for their power logs, and the folder's energy, once it has a score. */
void power_judge(struct package *p);
void power_energy(struct package *p);
/* package_notes.c */
void package_note(struct package *p, enum severity severity, const char *text);
/* Adds the folder's notes, once it has a score. */
void package_note_disagreements(struct package *p);
/* judge.c: what Python's int() makes of a value, as text; numbers lose their fraction, and a text must be a whole number. NULL for anything else. */
const char *python_int(const json_t *v, struct arena *a);
/* The ruleset as documents name it: "6.1.0", marked where the rules are provisional. */
const char *ruleset_text(const struct edition *e, struct arena *a);

/* ---- repository.c ---------------------------------------------------------------------------------------------- */

enum { MOST_REPOSITORY_MESSAGES = 4 };
/* The complaints of the repository checker about a submitter's whole folder. Returns their number. */
size_t repository_check(struct log_message out[MOST_REPOSITORY_MESSAGES], const char *org, struct arena *a);
bool folder_holds(const char *dir, const char *name);                   /* a file of this name, at any depth */

/* ---- lint_print.c: the formats of lint ------------------------------------------------------------------------ */

void lint_print_head(struct lint *l);
/* f NULL: the log was given by name. */
void lint_print_log(struct lint *l, const struct folder *f, const char *path, const struct log_judgement *j, struct arena *a);
void lint_print_folder(struct lint *l, const struct folder *f, struct arena *a);
/* A message about a file or folder, shown before the folder of logs that it belongs to. check: the name of the check in CSV. */
void lint_print_remark(struct lint *l, const char *path, const char *check, const struct log_message *m);
void lint_print_foot(struct lint *l);
#endif
