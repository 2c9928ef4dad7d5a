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
struct history { struct history_series *items; size_t n, cap; bool is_cut; };     /* is_cut: the last line is incomplete, and left out */

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
 * histories of 100 points raise an alarm, for noise that is Gaussian, log-normal, of two modes, with outliers, or correlated by 0.5 or less.
 */

enum { SERIES_LEAST_POINTS = 30, SERIES_LEAST_NEW = 5 };       /* for these tests: points before the newest ones, and newest ones */
/* From so few points on, a large change is told: the newest five are all on one side of all before them, and farther from
 * them than these are from each other. */
enum { SERIES_FEWEST = 2 * SERIES_LEAST_NEW };

enum series_verdict { SERIES_STEADY, SERIES_WORSE, SERIES_BETTER, SERIES_CHANGED, SERIES_SHORT, N_SERIES_VERDICTS };
extern const char *const series_verdict_names[N_SERIES_VERDICTS];

struct series_rule {
    int better;                 /* +1: higher is better, -1: lower is, 0 if unknown, any change counts */
    double least_change;        /* share of the level before; smaller changes are not reported. 0: all are */
};

struct series_change {
    enum series_verdict verdict;
    size_t from, found;         /* index of the first point after the change, and of the point that revealed it */
    double before, after;       /* medians */
    double correlation;         /* the correlation of neighbouring points if it was removed, else 0 */
    double chance;              /* told by few points: how often such an order comes without a change; otherwise 0 */
};

/* The verdict when point n - 1 has just arrived, if the points before it have not changed. */
struct series_change series_judge(const double *x, size_t n, const struct series_rule *rule, struct arena *scratch);
/* True if the ranks of the newest m points (at most 20) say, with a chance of 1 in 100, that they have left those before
 * them; *from is since when. For a change that is expected, as a repair is: its level is far less strict. */
bool series_left(size_t *from, const double *x, size_t n, size_t m, bool upwards);

/* ---- levels.c: the accepted level, and a latest level that is worse ------------------------------- */

/* The end of a change: its level lasts and is worse than the accepted one, or is better and accepted, or is no worse
 * than the accepted one. A later change may repair it, or somebody accepts it with a reason. */
enum change_end { CHANGE_LASTS, CHANGE_BETTER, CHANGE_BACK, CHANGE_REPAIRED, CHANGE_ACCEPTED, N_CHANGE_ENDS };
extern const char *const change_end_names[N_CHANGE_ENDS];

struct series_acceptance { size_t point; const char *reason; };     /* the level that holds at this point is accepted */
struct series_level {
    struct series_change change;        /* it begins with this change */
    enum change_end end;
    size_t ended_by;                    /* index of the change that repaired it */
    const char *reason;                 /* why it was accepted; else NULL */
};

/* Every change, after which the points before it are ignored, and each return to the accepted level that ends a change for the worse, which needs
 * fewer points to be seen; in order. Returns their number. */
size_t series_levels(struct series_level **out, const double *x, size_t n, const struct series_rule *rule, const struct series_acceptance *accepted,
                     size_t n_accepted, struct arena *a);
bool series_is_worse(const struct series_level *levels, size_t n);      /* the latest level is worse than the accepted one */

/* ---- measured.c: series as people have them ----------------------------------------------------------------- */

struct measured_series { const char *name, *metric; double *x; uint32_t *lines; const char **labels; size_t n; };   /* labels: "" for none */
struct measured { const char *path; struct measured_series *items; size_t n, cap; bool counts_points; };   /* lines are numbers of points */

/* From a CSV table with or without a header, or JSON; path "-" is standard input. metrics: names of columns (or numbers
 * of them, without a header), separated by commas; NULL means the last. by: columns whose values tell series apart; NULL if none. */
bool measured_load(struct measured *out, const char *path, const char *metrics, const char *by, struct arena *a, struct err *err);

/* The file of acceptances next to a series: x.csv has x.accepted.csv, with the columns series, point and reason. */
const char *acceptances_path(const char *path, struct arena *a);
bool acceptances_load(struct series_acceptance **out, size_t *n, const struct measured_series *s, const char *path, struct arena *a, struct err *err);
bool acceptance_append(const char *path, const struct measured_series *s, const char *reason, struct err *err);     /* accepts the latest level */

#endif
