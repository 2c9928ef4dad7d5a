/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scaling.h - throughput and efficiency against chips, for the closed-division runs of one model in one MLPerf round.
 */
#ifndef SCALING_H
#define SCALING_H
#include "results/published/published.h"
#include "results/simulate/result.h"

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
