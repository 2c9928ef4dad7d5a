/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result.h - everything that one simulation found, as a row, as text and as JSON. podbench_metrics.def lists the metrics.
 */
#ifndef RESULT_H
#define RESULT_H
#include "system-model/compiler/compiler.h"

enum metric_group {
    METRICS_SETUP, METRICS_SPEED, METRICS_TRAINING, METRICS_MEMORY, METRICS_UTILISATION, METRICS_ENERGY, METRICS_MONEY, METRICS_FAULTS,
    METRICS_PROVENANCE, N_METRIC_GROUPS
};

#define METRIC_TEXT const char *
#define METRIC_COUNT uint64_t
#define METRIC_NUMBER double
#define METRIC_FLAG bool
struct result {
#define METRIC(type, name, ...) METRIC_##type name;
#include "results/simulate/podbench_metrics.def"
#undef METRIC
    double breakdown_s[N_PARTS];        /* means over the IPUs, which sum to step_time_s */
};

/* Times, energies and costs are 0 if they are unknown or do not apply to the run. */
static inline bool is_known(double value) { return value > 0; }

/* A model that fits with less certainty than this is said to fit "barely". */
#define FITS_SURELY 0.9
static inline bool result_fits_surely(const struct result *r) { return r->fits_probability >= FITS_SURELY; }

struct document;
void result_document(struct document *d, const struct result *r);      /* adds the result as text, one line per value */
/* The line of one group in the answer, "speed: ..., ..."; NULL if none of its phrases has a value. */
const char *result_line(enum metric_group group, const struct result *r, double uncertainty, struct arena *a);
const char *result_columns(struct arena *a);    /* the header of CSV, by which two versions can be compared */
void result_write_csv(FILE *f, const struct result *r);         /* writes the header if r is NULL */
struct table result_table(struct arena *a);     /* has the columns and no rows; a row may be a struct that begins with a result */
struct json_t *result_json(const struct result *r);             /* the caller owns the returned object */
void result_json_add_groups(struct json_t *object, const struct result *r);     /* "energy" and "money" */
enum better { LOWER = -1, NEITHER, HIGHER };                     /* says which values of a column are better */
enum better result_column_better(const char *name);             /* NEITHER for an unknown column */
bool result_column_is_provenance(const char *name);             /* true for a column that says how the row was made, such as its version */
/* Sorts the parts by absolute size, largest first. */
void parts_by_size(enum part out[N_PARTS], const double values[N_PARTS]);

void metrics_document(struct document *d);      /* lists all metrics; as Markdown it is docs/formats.md */

/* The version of CSV and JSON. It grows when a column or member is renamed, is removed, or changes its unit or meaning. */
enum { RESULT_FORMAT = 1 };
struct json_t *result_json_schema(void);        /* JSON Schema of `run --format json`; the caller owns it */

/* The results of a run, gathered while they are simulated or read from its rows; an absent value is read as 0. */
struct results { struct result *items; size_t n, cap; };
bool results_load(struct results *out, const char *rows_csv, struct arena *a, struct err *err);
struct result result_copy(const struct result *r, struct arena *a);         /* copies the texts into the arena, too */
void results_add(struct results *set, const struct result *r, struct arena *a);     /* adds a copy of r and its texts */
const struct result *results_find(const struct results *set, const char *id);       /* NULL if no result has this id */

#endif
