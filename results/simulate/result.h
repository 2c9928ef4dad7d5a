/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result.h - the ratios of one simulation, as a row, as text and as JSON.
 */
#ifndef RESULT_H
#define RESULT_H
#include "system-model/compiler/cycles.h"

struct result {
    const char *id, *workload, *system;
    uint64_t ipus;
    double global_batch;                /* samples as the source counts them */
    double throughput_samples_per_s;    /* steady state */
    double step_time_s;
    double latency_s;                   /* inference: one micro-batch from first byte in to result */
    double samples_to_converge;         /* 0: unknown */
    double train_time_s, eval_time_s, startup_time_s, tail_time_s;  /* time_to_train_s is the sum of these and the next */
    double scaling_time_s;              /* added where MLPerf scales runs that converge faster than its reference; nothing runs in it */
    double evaluation_time_s;           /* one evaluation, with its checkpoint where it has one; 0: none */
    double time_to_train_s;             /* 0: unknown */
    double predicted_samples_to_converge, predicted_time_to_train_s;    /* by the global batch, whatever is given; 0: unknown */
    bool fits;
    uint64_t memory_peak_bytes_per_tile;
    uint64_t memory_shortfall_bytes_per_tile;
    double mfu, hfu;
    double energy_per_step_j, energy_j; /* modelled (energy.h); the second of the whole training; 0: no published power, or not known how long */
    double cost_per_step, cost_to_train;    /* in the currency of the recipe's price; 0: none, or not known how long */
    double fault_cost_s;                /* of step_time_s: what the recipe's faults cost */
    double breakdown_s[N_PARTS];        /* mean over the IPUs; sums to step_time_s */
    const char *version, *overrides, *inputs;   /* what made it: provenance.h; NULL: not recorded */
};

/* Of times, energies and costs: 0 stands for what is not known, or is not there. */
static inline bool is_known(double value) { return value > 0; }

/* The columns of rows.csv and the members of the JSON object, in order; one table for both. */
void result_print_text(FILE *f, const struct result *r);
void result_write_csv_header(FILE *f);
const char *result_columns(struct arena *a);    /* the header as a text: equal where two versions write the same columns */
void result_write_csv(FILE *f, const struct result *r);
void result_write_csv_empty(FILE *f);           /* as many cells, all empty: where there is no result */
struct json_t *result_json(const struct result *r);             /* jansson; the caller owns it */
/* All parts, that of the largest value, whatever its sign, first. */
void parts_by_size(enum part out[N_PARTS], const double values[N_PARTS]);
enum better { LOWER = -1, NEITHER, HIGHER };                     /* which values of a column are better */
enum better result_column_better(const char *name);             /* NEITHER where there is no such column */
bool result_column_is_provenance(const char *name);             /* what made the row, no prediction */

/* The rows of a run, read back (absent values are 0), or gathered as they are simulated. */
struct results { struct result *items; size_t n, cap; };
bool results_load(struct results *out, const char *rows_csv, struct arena *a, struct err *err);
void results_add(struct results *set, const struct result *r, struct arena *a);     /* copies r and its texts */
const struct result *results_find(const struct results *set, const char *id);       /* NULL: not there */

#endif
