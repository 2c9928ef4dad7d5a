/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * round_results.h - the history of MLPerf Training: published results of any rounds as one table, and pages made from it.
 *     struct round_result     one system and benchmark: what was run, how fast it was, how it converged
 *     struct round_results    the table; read from folders of logs (cached by content) or from the CSV that rounds prints
 *     rounds_page_write()     the table as one self-contained HTML page
 * predictions.h judges predictions of these results.
 */
#ifndef ROUND_RESULTS_H
#define ROUND_RESULTS_H
#include "results/mlperf/mlperf.h"

/* ---- accelerators.c: data sheets of accelerators, workloads/convergence/accelerators.csv -------------------- */

/* The data sheet of an accelerator. Numbers that it does not state are NaN. */
struct accelerator {
    const char *pattern;                /* a file pattern for the model's name, without regard to case; the first row that matches counts */
    const char *vendor, *model, *source;
    double peak_flop_per_s;             /* the peak of dense products in fp16 or bf16 */
    double memory_bytes_per_s, link_bytes_per_s;        /* links: the sum of one chip's links to other chips, in one direction */
    double network_bytes_per_s;         /* one chip's share of its node's network, in one direction */
    bool verified;                      /* true if the numbers were compared with the document that `source` names */
};
struct accelerator_table { struct accelerator *items; size_t n; };
bool accelerators_load(struct accelerator_table *out, const char *data_dir, struct arena *a, struct err *err);
/* The accelerator that a system description names; NULL if it is not in the table. */
const struct accelerator *accelerator_find(const struct accelerator_table *t, const char *name);

/* ---- results.c: the table --------------------------------------------------------------------------------------- */

/* One row of the table. Unknown texts are "" and unknown numbers NaN. Medians are over runs that converged. */
struct round_result {
    const char *round, *date;           /* date: that of the first run, as YYYY-MM-DD in UTC */
    const char *submitter, *system, *division, *availability, *benchmark;
    const char *accelerator, *vendor;   /* as in the system description; a system without accelerators has its processor here */
    double accelerators, nodes;
    const char *interconnect, *network, *framework;     /* interconnect is between accelerators, network is between nodes */
    double global_batch, samples_to_target, epochs_to_target;
    double samples_per_s;
    double minutes, spread;             /* the official score, and slowest minus fastest run over their mean */
    double runs, failed;
    double scaling_efficiency;          /* samples/s per accelerator over that of the submitter's smallest similar system */
    double time_efficiency;             /* the same efficiency with 1 / minutes instead of samples/s */
    const char *smallest_system;
    double energy_j, power_w;           /* the energy of a run, and that energy over the score's time; NaN without power logs */
    double converged_at, reference_at;  /* in the unit of the round's convergence test; reference_at is the reference's mean at this batch */
    const char *unit;                   /* epochs, samples or steps */
    const char *ruleset, *throughput_method, *note, *path;
};
struct round_results { struct round_result *items; size_t n, cap; };
extern const struct table_column round_result_columns[];
extern const size_t n_round_result_columns;

/* Writes the table as text, CSV or JSON. */
void round_results_write(FILE *f, enum output_format format, const struct round_results *r);
void round_results_write_exactly(FILE *f, const struct round_results *r);       /* writes CSV with all digits */
/* Reads a table that round_results_write() wrote as CSV. Only the columns that identify a row must be there. */
bool round_results_load(struct round_results *out, const char *path, struct arena *a, struct err *err);
bool round_results_from(struct round_results *out, const struct csv_table *csv, struct arena *a, struct err *err);
/* Sorts the table by round, benchmark, division, submitter, accelerators and names, keeps one row of each folder, and fills the efficiencies. */
void round_results_finish(struct round_results *r);

/* ---- read.c: folders of logs into the table ----------------------------------------------------------------------- */

struct rounds_request {
    const char *data_dir;               /* workloads/convergence */
    const char *cache_dir;              /* has rows under the hash of their inputs; NULL if nothing is cached */
    const char *program_hash;           /* is part of the hash, so that another program does not use old rows */
    uint32_t n_threads;
    void (*notice)(void *user, const char *path, const char *text); void *user;
    struct watch watch;
};
/* The hash, in hexadecimal, of the program and of the tables of all rounds. */
const char *rounds_program_hash(const char *data_dir, struct arena *a);
struct rounds_counts { size_t folders, cached; };
/* Reads the logs in all these folders. Fails if one cannot be read, or holds no log. */
bool rounds_read(struct round_results *out, struct rounds_counts *counts, const char *const *dirs, size_t n, const struct rounds_request *q,
                 struct arena *a, struct err *err);

/* ---- page.c -------------------------------------------------------------------------------------------------------- */

/* Writes one HTML page with the table and its reference points. plots_dir has the assets of pages. Links to logs are relative to the page. */
bool rounds_page_write(FILE *f, const struct round_results *r, const char *page_path, const char *plots_dir, const char *data_dir,
                       struct arena *a, struct err *err);
#endif
