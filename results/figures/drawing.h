/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawing.h - the data of a run's figures. Each figure has a table as CSV, which a gnuplot script draws, and a
 * finding, one line computed from the same numbers that heads the figure.
 *
 * Unknown values are written as NaN, which gnuplot skips. All arithmetic is here; scripts pick columns by name.
 */
#ifndef DRAWING_H
#define DRAWING_H
#include "results/published/published.h"
#include "results/simulate/simulator.h"
#include "results/study/novelty.h"
#include "results/study/trust.h"

/* The data that figures are made from. */
struct drawing_source {
    const struct results *results;              /* the results of the run */
    const struct figures *published;
    const struct first_seen_rows *first_seen;   /* published configurations, as predicted when they were first simulated, and now; NULL if that is not known */
    struct simulator *simulator;                /* simulates what a run's tables do not hold: plans, timelines, variants */
    const struct track_record *record;          /* judges predictions; NULL: they are not judged */
};

/* One figure being made. Its tables go into folder, under names that begin with the figure's. If the run holds nothing
 * that the figure could show, finding stays NULL and missing says what is not there. */
enum { MOST_DRAWN_TABLES = 4 };
struct drawing {
    const char *folder; const struct drawing_source *from; struct arena *a;
    const char *finding, *missing;
    struct drawn_table { const char *name; FILE *f; char *text; size_t n_bytes; } tables[MOST_DRAWN_TABLES]; size_t n_tables;
    struct simulation *simulation;              /* the latest simulation; the next one frees it */
    struct result result;
    unsigned n_shown, n_guesses, n_without;     /* n_shown: predictions of the figure; n_guesses: how many are guesses; n_without: how many have no interval */
};

/* Saves all tables of a figure, or none if `good` is false or one fails. */
bool drawing_save(struct drawing *d, bool good, struct err *err);

/* ---- for those who make them ------------------------------------------------------------------- */

FILE *drawing_table(struct drawing *d, const char *name, const char *header);       /* FOLDER/NAME.csv */
/* Writes a row: n numbers, after a text unless it is NULL. */
void drawing_row(FILE *f, const char *text, const double *numbers, size_t n);
#define DRAWING_ROW(f, text, ...) \
    drawing_row(f, text, (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))
/* NULL, with a message, if the recipe cannot be simulated. */
const struct simulation *drawing_simulate(struct drawing *d, const char *recipe, const char *const *sets, size_t n_sets, struct err *err);
/* Counts a prediction that the figure shows. `guess` is that column of its row. drawing_say_guesses() adds to the finding how many of them are guesses. */
void drawing_shows(struct drawing *d, const char *guess);
void drawing_say_guesses(struct drawing *d);
/* Writes the cells of a table about tile memory: the limit and the bytes of each category, in kB. */
const char *drawing_memory_heads(struct arena *a);
void drawing_memory(FILE *f, const struct tile_memory *m, uint64_t tile_bytes);
/* A recipe's id in short: "v2.0 closed bow-pod16 resnet50". */
const char *drawing_label(const char *id, struct arena *a);
/* The run that a report shows: a training run that fits, on most IPUs, the last by name. If runs of MLPerf's closed division with a published
 * throughput fit, it is one of these. NULL if no training run fits. */
const struct result *drawing_hero(const struct results *all, const struct figures *published);
/* The training run that comes first by `better`, or NULL; those of MLPerf's closed division with a published throughput come before others. */
const struct result *drawing_run(const struct drawing *d, bool (*better)(const struct result *x, const struct result *y));

/* ---- scaling.c: throughput and efficiency against chips, for the closed-division runs of one model in one MLPerf round - */

enum { N_SCALING_ROUNDS = 3, MOST_SIZES = 16 };
extern const char *const scaling_rounds[N_SCALING_ROUNDS];

/* Round and division of a recipe id "mlperf-ROUND-DIVISION-SYSTEM-WORKLOAD[-FRAMEWORK]"; false for other ids. */
struct mlperf_id { char round[8], division[8]; bool has_framework; };
bool mlperf_id_parse(struct mlperf_id *out, const struct result *r);

/* The first figure of a recipe and metric, or NULL. */
const struct figure *published_figure(const struct figures *figures, const char *recipe, const char *metric);

/* Ideal throughput and efficiency (%) are relative to the round's smallest system. Unknown values are NaN. */
struct scaling_point { double published, simulated, ideal, published_efficiency, simulated_efficiency; };
struct scaling { const char *workload; size_t n_sizes; uint64_t sizes[MOST_SIZES]; struct scaling_point points[N_SCALING_ROUNDS][MOST_SIZES]; };
void scaling_build(struct scaling *out, const char *workload, const struct results *results, const struct figures *figures);
/* Prints one line for each published size but the smallest: efficiency published, simulated, and the difference in points. */
void scaling_print(FILE *f, const struct scaling *s);

#endif
