/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawing.h - the data of a run's figures.
 *
 * Each figure has a table as CSV, which a gnuplot script draws, and a finding: one line, computed from the same numbers, that becomes its
 * title. Unknown values are written as NaN, which gnuplot skips. All arithmetic is done here; scripts only pick columns by name.
 */
#ifndef DRAWING_H
#define DRAWING_H
#include "results/published/published.h"
#include "results/simulate/simulator.h"
#include "results/study/novelty.h"
#include "results/study/trust.h"

/* The data from which figures are made. */
struct drawing_source {
    const struct results *results;              /* results of the run */
    const struct figures *published;
    const struct first_seen_rows *first_seen;   /* first and present predictions of published configurations; NULL if unknown */
    struct simulator *simulator;                /* simulates plans, timelines and variants, which the tables of a run do not have */
    const struct track_record *record;          /* judges predictions; NULL if they are not judged */
};

/* One figure. Its tables are written to `folder`, under names that begin with the figure's name. If the run has nothing to show in it,
 * `finding` stays NULL and `missing` says what the run lacks. */
enum { MOST_DRAWN_TABLES = 4 };
struct drawing {
    const char *folder; const struct drawing_source *from; struct arena *a;
    const char *finding, *missing;
    struct drawn_table { const char *name; FILE *f; char *text; size_t n_bytes; } tables[MOST_DRAWN_TABLES]; size_t n_tables;
    struct simulation *simulation;              /* the latest simulation, which the next one frees */
    struct result result;
    unsigned n_shown, n_guesses, n_without;     /* predictions in the figure, how many of them are guesses, and how many have no interval */
};

/* Saves all tables of a figure, or none if `good` is false or one of them fails. */
bool drawing_save(struct drawing *d, bool good, struct err *err);

/* ---- for those who make them ------------------------------------------------------------------- */

FILE *drawing_table(struct drawing *d, const char *name, const char *header);       /* FOLDER/NAME.csv */
/* Writes a row of n numbers, after a text unless that is NULL. */
void drawing_row(FILE *f, const char *text, const double *numbers, size_t n);
#define DRAWING_ROW(f, text, ...) \
    drawing_row(f, text, (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))
/* Simulates a recipe. NULL, with a message, if that fails. */
const struct simulation *drawing_simulate(struct drawing *d, const char *recipe, const char *const *sets, size_t n_sets, struct err *err);
/* Counts a prediction that the figure shows; `guess` is its row's cell of that name. drawing_say_guesses() adds the number of guesses to the
 * finding. */
void drawing_shows(struct drawing *d, const char *guess);
void drawing_say_guesses(struct drawing *d);
/* The column names of what drawing_memory() writes: the limit and the bytes of each category, in kB. */
const char *drawing_memory_heads(struct arena *a);
void drawing_memory(FILE *f, const struct tile_memory *m, uint64_t tile_bytes);
/* A short name for a recipe, such as "v2.0 closed bow-pod16 resnet50". */
const char *drawing_label(const char *id, struct arena *a);
/* The run that a report shows: of the training runs that fit, the one on most IPUs, and the last by name among equals. Runs of MLPerf's closed
 * division with a published throughput come before all others. NULL if no training run fits. */
const struct result *drawing_hero(const struct results *all, const struct figures *published);
/* The first training run in the order of `better`, or NULL. Runs of MLPerf's closed division with a published throughput come before all
 * others. */
const struct result *drawing_run(const struct drawing *d, bool (*better)(const struct result *x, const struct result *y));

/* ---- scaling.c: throughput and efficiency against chips, for the closed-division runs of one model in one MLPerf round - */

enum { N_SCALING_ROUNDS = 3, MOST_SIZES = 16 };
extern const char *const scaling_rounds[N_SCALING_ROUNDS];

/* The round and division in a recipe id "mlperf-ROUND-DIVISION-SYSTEM-WORKLOAD[-FRAMEWORK]". mlperf_id_parse() is false for other ids. */
struct mlperf_id { char round[8], division[8]; bool has_framework; };
bool mlperf_id_parse(struct mlperf_id *out, const struct result *r);

/* The first published figure of a recipe and metric, or NULL. */
const struct figure *published_figure(const struct figures *figures, const char *recipe, const char *metric);

/* One size of system. Ideal throughput and efficiency (%) are relative to the round's smallest system. Unknown values are NaN. */
struct scaling_point { double published, simulated, ideal, published_efficiency, simulated_efficiency; };
struct scaling { const char *workload; size_t n_sizes; uint64_t sizes[MOST_SIZES]; struct scaling_point points[N_SCALING_ROUNDS][MOST_SIZES]; };
void scaling_build(struct scaling *out, const char *workload, const struct results *results, const struct figures *figures);
/* Prints a line for each published size but the smallest: published and simulated efficiency, and their difference in points. */
void scaling_print(FILE *f, const struct scaling *s);

#endif
