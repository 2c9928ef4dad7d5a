/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.h - predictions commit by commit, and changes of level in measured series.
 */
#ifndef HISTORY_H
#define HISTORY_H
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
struct history { struct history_series *items; size_t n, cap; size_t n_broken; };     /* n_broken: unreadable lines, which are skipped */

/* The series of one metric and recipe (NULL: all). Points are ordered by time, and within one time as in the file. */
bool history_load(struct history *out, const char *path, const char *metric, const char *recipe, struct arena *a, struct err *err);
/* Appends a run's rows.csv and the mean error of the rows that validate as one point. error may be NaN: nothing validates. */
bool history_append(const char *path, const struct csv_table *rows, double error, const char *label, const char *time, struct err *err);
double relative_change(double before, double after);    /* over |before|; NaN if before is 0 or the quotient overflows */
const char *change_text(double before, double after, int digits, struct arena *a);     /* "+1.23 %", or "from nothing" */
/* One block character for each of the newest points, at most `most`, scaled from the lowest value to the highest. */
const char *sparkline(const struct history_series *s, size_t most, struct arena *a);

/* ---- series.c: has a measured series changed? ------------------------------------------------------------ *
 *
 * A verdict for each new point, with few false alarms whatever the noise. Measured by `make gate-quality`: at most 1 % of unchanged
 * histories of 100 points raise an alarm, for noise that is Gaussian, log-normal, of two modes, with outliers, or correlated.
 */

enum { SERIES_LEAST_POINTS = 30, SERIES_LEAST_NEW = 5 };       /* for a verdict: points before the newest ones, and newest ones */

enum series_verdict { SERIES_STEADY, SERIES_WORSE, SERIES_BETTER, SERIES_CHANGED, SERIES_SHORT, N_SERIES_VERDICTS };
extern const char *const series_verdict_names[N_SERIES_VERDICTS];

struct series_rule {
    int better;                 /* +1: higher is better, -1: lower is, 0: unknown, any change counts */
    double least_change;        /* share of the level before; smaller changes are not reported. 0: all are */
};

struct series_change {
    enum series_verdict verdict;
    size_t from, found;         /* index of the first point after the change, and of the point that revealed it */
    double before, after;       /* medians */
    double correlation;         /* of neighbouring points, if it was removed; otherwise 0 */
};

/* The verdict when point n - 1 has just arrived, if the points before it have not changed. */
struct series_change series_judge(const double *x, size_t n, const struct series_rule *rule, struct arena *scratch);
/* Every change of a whole series, in order. After a change the points before it are ignored. Returns the number of changes. */
size_t series_scan(struct series_change **out, const double *x, size_t n, const struct series_rule *rule, struct arena *a);

#endif
