/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.h - predictions commit by commit, and changes of level in measured series.
 */
#ifndef HISTORY_H
#define HISTORY_H
#include "results/history/evidence.h"
#include "system-model/base/base.h"

/* ---- append.c: whole lines at the end of a file that several programs may write ------------------------- */

/* Appends complete lines under a lock, in a single write that is on disk when the function returns. Creates the file with the header, and
 * refuses a file that begins differently. An incomplete last line, which a killed writer left and never reported as written, is removed first. */
bool append_lines(const char *path, const char *header, const char *lines, struct err *err);

/* ---- history.c: an append-only table, one line for each run and metric ----------------------------------- *
 *
 * The columns are label,time,version,inputs,recipe,metric,value,unit. A point has a label (a commit, a build), and its lines are appended
 * together. Branches are merged by keeping the lines of both. If several lines have the same label, recipe and metric, the last counts.
 */

struct history_point { const char *label, *time, *version, *inputs; double value; };
struct history_series { const char *recipe, *metric, *unit; struct history_point *points; size_t n, cap; };
struct history { struct history_series *items; size_t n, cap; bool is_cut; };     /* is_cut: the last line was incomplete and is left out */

/* Loads the series of a metric and a recipe (NULL: all). Points are sorted by time; points of equal time keep their order. */
bool history_load(struct history *out, const char *path, const char *metric, const char *recipe, struct arena *a, struct err *err);
/* Appends a run's rows.csv, and the mean error of the rows that validate, as one point. `error` is NaN if nothing validates. */
bool history_append(const char *path, const struct csv_table *rows, double error, const char *label, const char *time, struct err *err);
const char *history_time_from(const char *path, const char *time, struct arena *a);     /* the later of this time and the latest time in the table */
double relative_change(double before, double after);    /* (after - before) / |before|; NaN if before is 0 or the quotient overflows */
const char *change_text(double before, double after, int digits, struct arena *a);     /* the change as text, such as "+1.23 %" or "from nothing" */
/* A line of block characters, one for each of the newest points (at most `most`), scaled from the lowest value to the highest. */
const char *sparkline(const struct history_series *s, size_t most, struct arena *a);

/* ---- series.c: has a measured series left its level? -------------------------------------------------------- *
 *
 * Each new point gets a verdict, by evidence that does not depend on units and allows for outliers and correlated neighbours. At most 1 % of
 * unchanged histories of 100 points raise an alarm, as `make gate-quality` measures.
 */

enum { SERIES_FEWEST = LEAST_BEFORE + LEAST_AFTER };    /* the fewest points of a level that can be tested */
/* The fewest points of a level that counts as judged. With this many, a lasting change of five standard deviations in the middle is found half
 * of the time. */
enum { SERIES_JUDGED = 20 };

enum series_verdict { SERIES_STEADY, SERIES_WORSE, SERIES_BETTER, SERIES_CHANGED, N_SERIES_VERDICTS };
extern const char *const series_verdict_names[N_SERIES_VERDICTS];
bool is_verdict_worse(enum series_verdict v);           /* true for a change to the worse or in an unknown direction */

struct series_rule {
    int better;                 /* +1 if higher is better, -1 if lower is, 0 if any change counts */
    double least_change;        /* smaller changes, as a share of the level before, are not reported */
};

struct series_change {
    enum series_verdict verdict;
    size_t from, found;         /* indices of the first point after the change, and of the point that revealed it */
    double before, after;       /* means of the points, cleaned of outliers */
    double correlation;         /* estimated correlation of neighbouring points */
};

/* The verdict after the newest point of a level has arrived. */
struct series_change series_verdict(const struct level_points *l, struct level_evidence e, const struct series_rule *rule);
/* series_returns() is true if the newest points have left the level in this direction. A return to a known level needs less evidence than a
 * change to a new one. series_may_return() is a first, quick part of this test. */
bool series_may_return(struct level_evidence e);
bool series_returns(struct series_change *out, const struct level_points *l, struct level_evidence e, bool upwards, const struct series_rule *rule);
/* Compares the points from `split` on with those before. SERIES_STEADY if the evidence shows no difference. */
enum series_verdict series_compare(const struct level_points *l, size_t split, const struct series_rule *rule);

/* ---- levels.c: the accepted level, and a latest level that is worse ------------------------------- */

/* The end of a change. LASTS: its level is worse than the accepted one and still counts. BETTER: its level is better and thereby accepted.
 * BACK: its level is no worse than the accepted one. REPAIRED: a later change ended it. ACCEPTED: somebody accepted it with a reason. */
enum change_end { CHANGE_LASTS, CHANGE_BETTER, CHANGE_BACK, CHANGE_REPAIRED, CHANGE_ACCEPTED, N_CHANGE_ENDS };
extern const char *const change_end_names[N_CHANGE_ENDS];

struct series_acceptance { size_t point; const char *reason; };     /* the level to which `point` belongs is accepted */
struct series_level {
    struct series_change change;        /* the change that begins the level */
    enum change_end end;
    size_t ended_by;                    /* index of the change that ended this one */
    const char *reason;                 /* the reason for accepting the level, or NULL */
};

/* Lists all changes in order, and all returns to the accepted level that end a change for the worse; returns their number. After a change,
 * earlier points are ignored. A return needs less evidence than a change. The time for each point does not depend on the number of points. */
size_t series_levels(struct series_level **out, const double *x, size_t n, const struct series_rule *rule, const struct series_acceptance *accepted,
                     size_t n_accepted, struct arena *a);
bool series_is_worse(const struct series_level *levels, size_t n);      /* true if the latest level is worse than the accepted one */

/* ---- measured.c: series as people have them ----------------------------------------------------------------- */

struct measured_series { const char *name, *metric; double *x; uint32_t *lines; const char **labels; size_t n; };   /* a point without a label has "" */
/* counts_points: `lines` has numbers of points */
struct measured { const char *path; struct measured_series *items; size_t n, cap; bool counts_points; };

/* Reads series from a CSV table with or without a header, or from JSON; the path "-" is standard input. `metrics` lists columns by name, or by
 * number if there is no header; NULL means the last column. `by` lists columns whose values distinguish series; it may be NULL. */
bool measured_load(struct measured *out, const char *path, const char *metrics, const char *by, struct arena *a, struct err *err);

/* The path of the acceptances for a series: x.csv has x.accepted.csv, with the columns series, point and reason. */
const char *acceptances_path(const char *path, struct arena *a);
bool acceptances_load(struct series_acceptance **out, size_t *n, const struct measured_series *s, const char *path, struct arena *a, struct err *err);
bool acceptance_append(const char *path, const struct measured_series *s, const char *reason, struct err *err);     /* accepts the latest level */

#endif
