/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mllog.h - MLPerf Training logs: lines read and written one at a time, and a whole log folded into one run.
 *
 * A line counts if it contains the token ":::MLLOG ". The text before its last token is ignored; the rest must be one JSON object as Python's
 * json module reads it (so Infinity, -Infinity and NaN are numbers). The official parser reads files as Latin-1; here bytes that are valid
 * UTF-8 are kept. A line may end in \n, \r\n or \r, or at the end of the file.
 *
 * Memory is bounded: a line without the token is skipped whatever its length, and an event longer than MLLOG_LONGEST_EVENT bytes is reported
 * as a bad line. Source of the rules: mlcommons/logging, mlp_parser and mlp_compliance.
 */
#ifndef MLLOG_H
#define MLLOG_H
#include "system-model/base/base.h"
#include <jansson.h>

/* Limits of an event and of a log. Repositories of results take no file above 100 MiB; an unpublished log may be larger. */
enum { MLLOG_LONGEST_EVENT = 1 << 20, MLLOG_LARGEST_BYTES = 256 << 20 };

struct mllog_reader {
    const char *path;
    FILE *f;
    uint64_t line;                      /* the number of the last line, from 1 */
    bool after_newline;
    bool lost_record;                   /* the last line had several tokens, so only its last record counts */
    struct arena arena;                 /* owns the three buffers */
    char *block; size_t at, end;        /* the block of the file that is being read, and the unread part of it */
    char *raw, *clean;
    size_t raw_cap, clean_cap, n_raw;
    json_t *event;                      /* the event of the last line; the next call frees it */
    char problem[160];                  /* why the last line was bad */
};

/* One line. Its texts and values belong to the reader, and are valid until the next call. */
struct mllog_line {
    uint64_t line;
    double time_ms;
    const char *key, *event_type;       /* event_type may be "" */
    const json_t *value, *metadata;     /* metadata is an object or JSON null */
};

enum mllog_status { MLLOG_LINE, MLLOG_BAD_LINE, MLLOG_END };

/* Opens a regular file of at most MLLOG_LARGEST_BYTES. Devices, pipes and folders are refused, and so are symbolic links unless `follow`. */
bool mllog_open(struct mllog_reader *out, const char *path, bool follow, struct err *err);
void mllog_open_stream(struct mllog_reader *out, FILE *f, const char *name);    /* the reader will close f */
enum mllog_status mllog_next(struct mllog_reader *r, struct mllog_line *out);
/* Like mllog_next(), but skips events that mention none of these keys, without parsing them. */
enum mllog_status mllog_next_of(struct mllog_reader *r, const char *const *keys, size_t n, struct mllog_line *out);
void mllog_close(struct mllog_reader *r);

/* Reads a number as Python has it: integer, real, Infinity, NaN, true as 1 or false as 0. */
bool mllog_number(const json_t *v, double *out);
/* Also accepts a number in a string, and takes the mean of a list of numbers. */
bool mllog_number_loose(const json_t *v, double *out);
/* Writes the value as Python's json does, cut at 60 bytes. */
enum { MLLOG_SHOWN_BYTES = 64 };
const char *mllog_show(const json_t *v, char out[MLLOG_SHOWN_BYTES]);
/* A string with spaces in place of control characters; another value as mllog_show() writes it. */
const char *mllog_text(const json_t *v, struct arena *a);

/* ---- writing ------------------------------------------------------------------------------ */

enum mllog_event { MLLOG_POINT, MLLOG_START, MLLOG_STOP };

struct mllog_entry {
    const char *name_space, *key;
    enum mllog_event event;
    int64_t time_ms;
    const char *value;                  /* a JSON text; NULL is written as null */
    const char *file;
    int lineno;
    const char *metadata;               /* JSON members after file and lineno, such as "\"epoch_num\": 4"; may be NULL */
};

void mllog_write(FILE *f, const struct mllog_entry *e);
const char *mllog_quote(const char *text, struct arena *a);     /* returns a JSON string in ASCII */
const char *mllog_real(double x, struct arena *a);      /* returns the shortest JSON number with the same value; whole numbers have no point */

/* ---- run_log.c: one log as one run: when it ran, whether it converged, how fast it trained ---------------- */

/* One run from its log. Numbers that the log does not have are NaN, and texts are NULL. */
struct run_log {
    const char *path;
    const char *org, *platform, *status;        /* `status` is that of the last run_stop */
    const char *availability, *config;  /* submission_status, config_filename */
    uint64_t n_lines;
    bool has_bad_line;
    const char *problem;                /* why times or counts are impossible, or NULL */
    bool success;                       /* true if the last run_stop has status success, as the reference test reads it */
    double run_start_ms, run_stop_ms;   /* times of the first run_stop and of the last run_start before it, since the epoch */
    uint64_t run_start_line, n_run_starts;      /* the line of the run_start that counts, and the number of run_starts before run_stop */
    uint64_t other_stop_line;           /* the line of the last run_stop if its status differs from the one before; otherwise 0 */
    double time_to_train_s;
    double init_s;                      /* time from the first init_start to the first init_stop */
    double startup_s;                   /* time from run_start to the first block or epoch */
    double global_batch, grad_accum, train_samples;
    double nodes, accelerators_per_node;        /* logged only in MLPerf HPC */
    double convergence_point;           /* epoch_num of the last eval_accuracy before run_stop, as the reference test reads it */
    double epochs_trained;
    double samples_to_converge;
    double last_eval_s;                 /* time from run_start to the last eval_accuracy before run_stop */
    bool evals_at_end;                  /* true if all evaluations follow the last epoch, as for runs that evaluate checkpoints */
    double eval_interval;               /* median distance of evaluations, in the unit of epoch_num */
    uint64_t n_evals;
    double train_unit_s;                /* median time of an epoch, or of a block between evaluations */
    double eval_time_s;                 /* median time of an evaluation */
    double throughput_samples_per_s;
    const char *throughput_method;
    /* the rate at the STEADY_QUANTILE of the epochs' times, if there are ten or more; such epochs wait for neither checkpoint nor host */
    double steady_samples_per_s;
    double *unit_rates;                 /* samples/s of each epoch or block in order, at most MOST_UNITS; NaN if unknown */
    size_t n_units, first_unit;         /* first_unit is the number of the first unit, counted from 1 */
    double epoch_samples;               /* samples of an epoch if units are epochs; otherwise 0 */
};
enum { MOST_UNITS = 512 };
#define STEADY_QUANTILE 0.1             /* a quantile of the epochs' times, so a small one belongs to fast epochs */

/* Folds lines that the caller reads. `unit` is what the benchmark's evaluations count: epochs, samples or steps. */
struct run_fold;
struct run_fold *run_fold_start(struct run_log *out, const char *path, struct arena *a);
void run_fold_line(struct run_fold *f, const struct mllog_line *l);
void run_fold_bad_line(struct run_fold *f);
void run_fold_end(struct run_fold *f, const char *unit);

double median_of(double *values, size_t n);     /* sorts the values; NaN if n is 0 */

#endif
