/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mllog.h - the lines of an MLPerf Training log, read one at a time and written one at a time.
 *
 * A line counts when it holds the token ":::MLLOG "; whatever stands before it is dropped, and the rest must be one
 * JSON object as Python's json module reads it (so Infinity, -Infinity and NaN are numbers). Files are Latin-1 by the
 * official parser; bytes that are valid UTF-8 are kept as such. A line may end in \n, \r\n or \r, or at the end of the file.
 *
 * Memory is bounded: lines without the token are passed over whatever their length, and an event longer than
 * MLLOG_LONGEST_EVENT bytes is reported as a bad line. Source of the rules: mlcommons/logging, mlp_parser and mlp_compliance.
 */
#ifndef MLLOG_H
#define MLLOG_H
#include "system-model/base/base.h"
#include <jansson.h>

/* Results are published in repositories that take no file above 100 MiB; a log of one's own may be somewhat larger. */
enum { MLLOG_LONGEST_EVENT = 1 << 20, MLLOG_LARGEST_BYTES = 256 << 20 };

struct mllog_reader {
    const char *path;
    FILE *f;
    uint64_t line;                      /* of the record just read, from 1 */
    bool after_newline;
    struct arena arena;                 /* the two buffers */
    char *raw, *clean;
    size_t raw_cap, clean_cap, n_raw;
    json_t *event;                      /* of the last line; freed by the next call */
    char problem[160];                  /* what was wrong with a bad line */
};

/* Borrowed from the reader; valid until the next call. */
struct mllog_line {
    uint64_t line;
    double time_ms;
    const char *key, *event_type;       /* event_type may be "" */
    const json_t *value, *metadata;     /* metadata is an object, or json null */
};

enum mllog_status { MLLOG_LINE, MLLOG_BAD_LINE, MLLOG_END };

/* Takes regular files alone, of at most MLLOG_LARGEST_BYTES: a device, pipe or folder is refused, as is a symbolic link when follow is false. */
bool mllog_open(struct mllog_reader *out, const char *path, bool follow, struct err *err);
void mllog_open_stream(struct mllog_reader *out, FILE *f, const char *name);    /* takes f over */
enum mllog_status mllog_next(struct mllog_reader *r, struct mllog_line *out);
/* The same, passing over events that mention none of these keys: a first look that costs little. */
enum mllog_status mllog_next_of(struct mllog_reader *r, const char *const *keys, size_t n, struct mllog_line *out);
void mllog_close(struct mllog_reader *r);

/* A number as Python has it: integer, real, Infinity, NaN; true is 1 and false 0. */
bool mllog_number(const json_t *v, double *out);
/* The same, and the mean of a list of numbers, and a number in a string: what people log. */
bool mllog_number_loose(const json_t *v, double *out);
/* The value as Python's json prints it, for messages; cut at 60 bytes. */
enum { MLLOG_SHOWN_BYTES = 64 };
const char *mllog_show(const json_t *v, char out[MLLOG_SHOWN_BYTES]);
/* A text, its control characters as spaces, which a terminal would obey; other values as mllog_show has them. In the arena. */
const char *mllog_text(const json_t *v, struct arena *a);

/* ---- writing ------------------------------------------------------------------------------ */

enum mllog_event { MLLOG_POINT, MLLOG_START, MLLOG_STOP };

struct mllog_entry {
    const char *name_space, *key;
    enum mllog_event event;
    int64_t time_ms;
    const char *value;                  /* JSON text; NULL is null */
    const char *file;
    int lineno;
    const char *metadata;               /* JSON members after file and lineno: "\"epoch_num\": 4"; may be NULL */
};

void mllog_write(FILE *f, const struct mllog_entry *e);
/* JSON text of a string (ASCII, escaped) and of a number (shortest that reads back the same; integers without a point). */
const char *mllog_quote(const char *text, struct arena *a);
const char *mllog_real(double x, struct arena *a);

#endif
