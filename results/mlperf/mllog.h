/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mllog.h - MLPerf Training logs: lines read and written one at a time, and a whole log folded into one run.
 *
 * A line counts when it holds the token ":::MLLOG "; the text before its last token is ignored, and the rest must be one
 * JSON object as Python's json module reads it (so Infinity, -Infinity and NaN are numbers). The official parser reads
 * files as Latin-1; here bytes that are valid UTF-8 are kept. A line may end in \n, \r\n or \r, or at the end of the
 * file.
 *
 * Memory is bounded: a line without the token is skipped whatever its length, and an event longer than
 * MLLOG_LONGEST_EVENT bytes is reported as a bad line. Source of the rules: mlcommons/logging, mlp_parser and
 * mlp_compliance.
 */
#ifndef MLLOG_H
#define MLLOG_H
#include "system-model/base/base.h"
#include <jansson.h>

/* Repositories of results take no file above 100 MiB; a log that is not published may be larger. */
enum { MLLOG_LONGEST_EVENT = 1 << 20, MLLOG_LARGEST_BYTES = 256 << 20 };

struct mllog_reader {
    const char *path;
    FILE *f;
    uint64_t line;                      /* number of the line just read, from 1 */
    bool after_newline;
    bool lost_record;                   /* the line just read holds more tokens: only the record after the last one counts */
    struct arena arena;                 /* owns the three buffers */
    char *block; size_t at, end;        /* the part of the file that is being read, and what is left of that part */
    char *raw, *clean;
    size_t raw_cap, clean_cap, n_raw;
    json_t *event;                      /* the event of the last line; the next call frees it */
    char problem[160];                  /* why the last line was bad */
};

/* Borrowed from the reader; valid until the next call. */
struct mllog_line {
    uint64_t line;
    double time_ms;
    const char *key, *event_type;       /* event_type may be "" */
    const json_t *value, *metadata;     /* metadata is an object, or JSON null */
};

enum mllog_status { MLLOG_LINE, MLLOG_BAD_LINE, MLLOG_END };

/* Opens a regular file of at most MLLOG_LARGEST_BYTES. Devices, pipes and folders are refused, and symbolic links
 * unless follow is true. */
bool mllog_open(struct mllog_reader *out, const char *path, bool follow, struct err *err);
void mllog_open_stream(struct mllog_reader *out, FILE *f, const char *name);    /* the reader closes f */
enum mllog_status mllog_next(struct mllog_reader *r, struct mllog_line *out);
/* Like mllog_next, but skips events that mention none of these keys, without parsing them. */
enum mllog_status mllog_next_of(struct mllog_reader *r, const char *const *keys, size_t n, struct mllog_line *out);
void mllog_close(struct mllog_reader *r);

/* A number as Python has it: integer, real, Infinity, NaN; true is 1 and false is 0. */
bool mllog_number(const json_t *v, double *out);
/* Accepts a number in a string, too, and the mean of a list of numbers. */
bool mllog_number_loose(const json_t *v, double *out);
/* The value as Python's json prints it, cut at 60 bytes. */
enum { MLLOG_SHOWN_BYTES = 64 };
const char *mllog_show(const json_t *v, char out[MLLOG_SHOWN_BYTES]);
/* A string with its control characters replaced by spaces, or another value as mllog_show prints it. */
const char *mllog_text(const json_t *v, struct arena *a);

/* ---- writing ------------------------------------------------------------------------------ */

enum mllog_event { MLLOG_POINT, MLLOG_START, MLLOG_STOP };

struct mllog_entry {
    const char *name_space, *key;
    enum mllog_event event;
    int64_t time_ms;
    const char *value;                  /* JSON text; NULL is written as null */
    const char *file;
    int lineno;
    const char *metadata;               /* JSON members that follow file and lineno: "\"epoch_num\": 4"; may be NULL */
};

void mllog_write(FILE *f, const struct mllog_entry *e);
const char *mllog_quote(const char *text, struct arena *a);     /* a JSON string, in ASCII */
const char *mllog_real(double x, struct arena *a);      /* the shortest JSON number that reads back the same; whole numbers have no point */

/* ---- run_log.c: one log as one run: when it ran, whether it converged, how fast it trained ---------------- */

/* Numbers that the log does not have are NaN, texts NULL. */
struct run_log {
    const char *path;
    const char *org, *platform, *status;        /* status: the status of the last run_stop */
    const char *availability, *config;  /* submission_status, config_filename */
    uint64_t n_lines;
    bool has_bad_line;
    const char *problem;                /* why the times or counts are impossible; NULL if they are not */
    bool success;                       /* the status of the last run_stop, which the reference test reads */
    double run_start_ms, run_stop_ms;   /* the first run_stop and the last run_start before it, since the epoch */
    uint64_t run_start_line, n_run_starts;      /* run_start_line: the line of the run_start that counts; n_run_starts: how many such lines come before run_stop */
    uint64_t other_stop_line;           /* the line of the last run_stop, if its status differs from the one before; else 0 */
    double time_to_train_s;
    double init_s;                      /* first init_start to first init_stop */
    double startup_s;                   /* run_start to the first block or epoch */
    double global_batch, grad_accum, train_samples;
    double nodes, accelerators_per_node;        /* MLPerf HPC logs both of these */
    double convergence_point;           /* epoch_num of the last eval_accuracy before run_stop, which the reference test reads */
    double epochs_trained;
    double samples_to_converge;
    double last_eval_s;                 /* run_start to the last eval_accuracy before run_stop */
    bool evals_at_end;                  /* all evaluations follow the last epoch, as in runs that evaluate checkpoints */
    double eval_interval;               /* median step between evaluations, in the unit of epoch_num */
    uint64_t n_evals;
    double train_unit_s;                /* median epoch, or block between evaluations */
    double eval_time_s;                 /* median evaluation */
    double throughput_samples_per_s;
    const char *throughput_method;
    double steady_samples_per_s;        /* the STEADY_QUANTILE of the epoch times, if there are ten or more: such epochs wait for no checkpoint and no host */
    double *unit_rates;                 /* samples/s of each epoch or block in order, NaN where unknown; at most MOST_UNITS */
    size_t n_units, first_unit;         /* first_unit: the number of the first unit, counted from 1 */
    double epoch_samples;               /* the samples of each unit, where units are epochs; else 0 */
};
enum { MOST_UNITS = 512 };
#define STEADY_QUANTILE 0.1             /* a share of the epochs, the shortest first */

/* Folds lines that the caller reads. unit: what the benchmark's evaluations count: epochs, samples or steps. */
struct run_fold;
struct run_fold *run_fold_start(struct run_log *out, const char *path, struct arena *a);
void run_fold_line(struct run_fold *f, const struct mllog_line *l);
void run_fold_bad_line(struct run_fold *f);
void run_fold_end(struct run_fold *f, const char *unit);

double median_of(double *values, size_t n);     /* sorts the values; NaN when n is 0 */

#endif
