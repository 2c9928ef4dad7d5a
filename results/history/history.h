/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.h - predictions commit by commit, and changes of level in measured series.
 */
#ifndef HISTORY_H
#define HISTORY_H
#include "results/history/evidence.h"
#include "system-model/base/base.h"

/* ---- append.c: whole lines at the end of a file that several programs may write ------------------------- */

/* Appends whole lines under a lock, in one write that is on disk when it returns. Creates the file with the header; refuses a file that
 * begins otherwise. First removes an incomplete last line, which a killed writer left and never reported as written. */
bool append_lines(const char *path, const char *header, const char *lines, struct err *err);

/* ---- history.c: an append-only table, one line for each run and metric ----------------------------------- *
 *
 * label,time,version,inputs,recipe,metric,value,unit. A point is a label (a commit, a build); its lines are appended together. Branches
 * are merged by keeping the lines of both. If several lines have one label, recipe and metric, the last counts.
 */

struct history_point { const char *label, *time, *version, *inputs; double value; };
struct history_series { const char *recipe, *metric, *unit; struct history_point *points; size_t n, cap; };
struct history { struct history_series *items; size_t n, cap; bool is_cut; };     /* is_cut: the last line is incomplete, and left out */

/* The series of one metric and recipe (NULL: all). Points are ordered by time, and within one time as in the file. */
bool history_load(struct history *out, const char *path, const char *metric, const char *recipe, struct arena *a, struct err *err);
/* Appends a run's rows.csv and the mean error of the rows that validate as one point. error may be NaN: nothing validates. */
bool history_append(const char *path, const struct csv_table *rows, double error, const char *label, const char *time, struct err *err);
const char *history_time_from(const char *path, const char *time, struct arena *a);     /* the later of a time and the latest in the table */
double relative_change(double before, double after);    /* (after - before) / |before|; NaN if before is 0 or the quotient overflows */
const char *change_text(double before, double after, int digits, struct arena *a);     /* "+1.23 %", or "from nothing" */
/* One block character for each of the newest points, at most `most`, scaled from the lowest value to the highest. */
const char *sparkline(const struct history_series *s, size_t most, struct arena *a);

/* ---- series.c: has a measured series left its level? -------------------------------------------------------- *
 *
 * A verdict for each new point, by evidence that knows no unit and expects outliers and correlated neighbours. Measured by
 * `make gate-quality`: at most 1 % of unchanged histories of 100 points raise an alarm.
 */

enum { SERIES_FEWEST = LEAST_BEFORE + LEAST_AFTER };    /* a level with fewer points is not looked at */
/* With this many points, a lasting change of five standard deviations in the middle of a level is found half of the time. A level with fewer points
 * counts as not judged. */
enum { SERIES_JUDGED = 20 };

enum series_verdict { SERIES_STEADY, SERIES_WORSE, SERIES_BETTER, SERIES_CHANGED, N_SERIES_VERDICTS };
extern const char *const series_verdict_names[N_SERIES_VERDICTS];
bool is_verdict_worse(enum series_verdict v);           /* worse, or changed in an unknown direction */

struct series_rule {
    int better;                 /* +1: higher is better, -1: lower is, 0 if unknown, any change counts */
    double least_change;        /* share of the level before; smaller changes are not reported. 0: all are */
};

struct series_change {
    enum series_verdict verdict;
    size_t from, found;         /* index of the first point after the change, and of the point that revealed it */
    double before, after;       /* levels: means of points cleaned of outliers */
    double correlation;         /* correlation of neighbouring points, estimated together with the change */
};

/* The verdict when the newest point of a level has just arrived. */
struct series_change series_verdict(const struct level_points *l, struct level_evidence e, const struct series_rule *rule);
/* series_returns(): true if the newest points have left the level in this direction. A return to a known level needs less evidence than a change to a
 * new one. series_may_return() is the first part of the test, and takes constant time. */
bool series_may_return(struct level_evidence e);
bool series_returns(struct series_change *out, const struct level_points *l, struct level_evidence e, bool upwards, const struct series_rule *rule);
/* Compares the points from `split` on with those before; SERIES_STEADY if the evidence finds no difference. */
enum series_verdict series_compare(const struct level_points *l, size_t split, const struct series_rule *rule);

/* ---- levels.c: the accepted level, and a latest level that is worse ------------------------------- */

/* The end of a change. Its level lasts, and is worse than the accepted one; or it is better, and so accepted; or it is no worse than the accepted
 * one. A later change may repair it, or somebody accepts it with a reason. */
enum change_end { CHANGE_LASTS, CHANGE_BETTER, CHANGE_BACK, CHANGE_REPAIRED, CHANGE_ACCEPTED, N_CHANGE_ENDS };
extern const char *const change_end_names[N_CHANGE_ENDS];

struct series_acceptance { size_t point; const char *reason; };     /* the level that this point belongs to is accepted */
struct series_level {
    struct series_change change;        /* the change with which the level begins */
    enum change_end end;
    size_t ended_by;                    /* the index of the change that ended it */
    const char *reason;                 /* the reason for which the level was accepted; NULL: it was not */
};

/* Lists in order every change, after which the points before it are ignored, and each return to the accepted level that ends a change for the worse.
 * A return needs less evidence than a change. Returns their number. Takes the same time for each point, however many there are. */
size_t series_levels(struct series_level **out, const double *x, size_t n, const struct series_rule *rule, const struct series_acceptance *accepted,
                     size_t n_accepted, struct arena *a);
bool series_is_worse(const struct series_level *levels, size_t n);      /* the latest level is worse than the accepted one */

/* ---- measured.c: series as people have them ----------------------------------------------------------------- */

struct measured_series { const char *name, *metric; double *x; uint32_t *lines; const char **labels; size_t n; };   /* labels: "" for none */
struct measured { const char *path; struct measured_series *items; size_t n, cap; bool counts_points; };   /* lines are numbers of points */

/* Reads series from a CSV table with or without a header, or from JSON; path "-" is standard input. metrics: names of columns (or numbers
 * of them, without a header), separated by commas; NULL means the last. by: columns whose values tell series apart; NULL if none. */
bool measured_load(struct measured *out, const char *path, const char *metrics, const char *by, struct arena *a, struct err *err);

/* The file of acceptances next to a series: x.csv has x.accepted.csv, with the columns series, point and reason. */
const char *acceptances_path(const char *path, struct arena *a);
bool acceptances_load(struct series_acceptance **out, size_t *n, const struct measured_series *s, const char *path, struct arena *a, struct err *err);
bool acceptance_append(const char *path, const struct measured_series *s, const char *reason, struct err *err);     /* accepts the latest level */

#endif
