/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_comparison.h - the logs of a real submission compared with the simulation of its recipe.
 *
 * Each quantity has a published value (median, least and largest over the runs that converged and comply) and a
 * simulated one, with its 90 % interval if one is known. The difference between the mean published run and the
 * simulated one is split into parts that sum to it: more samples at the simulated rate, slower samples, evaluations,
 * start-up, what follows the last evaluation, and the rest. Evaluations at the end are of checkpoints that were saved
 * on the way, so they include everything from start-up to the last of them that is no step.
 */
#ifndef LOG_COMPARISON_H
#define LOG_COMPARISON_H
#include "results/mlperf/mlperf.h"
#include "results/submission/drawn_runs.h"
#include "results/simulate/simulate.h"

struct compared_value {
    const char *what, *unit;
    double published, published_low, published_high;    /* NaN if not logged */
    double simulated, simulated_low, simulated_high;    /* NaN if not simulated; low and high are NaN without an interval */
};

enum time_part { TIME_SAMPLES, TIME_STEP, TIME_EVALUATIONS, TIME_STARTUP, TIME_AFTER, TIME_REST, N_TIME_PARTS };

struct log_comparison {
    const char *dir, *round, *division, *submitter, *system, *benchmark, *recipe;
    size_t n_logs, n_converged;                         /* n_converged: the logs that converged and comply */
    struct compared_value *values;
    size_t n_values, cap_values;
    double difference_s, parts_s[N_TIME_PARTS];         /* the mean published run less the simulated one; NaN unless both are known */
};

/* The simulation: the result of the recipe, the timing of its runs, their predicted distribution, and the global batch as the logs state it, which
 * differs from the samples of a step for packed sequences. is_source: the recipe describes these logs, so that their epochs consist of whole calls,
 * as its own do. */
struct simulated_side { const struct result *result; struct run_timing timing; const struct drawn_runs *runs; double logged_batch; bool is_source; };

void log_compare(struct log_comparison *out, const struct folder *f, const struct run_log *logs, const char *recipe,
                 const struct simulated_side *sim, struct arena *a);

void log_comparison_print(FILE *out, const struct log_comparison *c);
struct table log_comparison_rows(void);         /* the lines of all comparisons, for CSV */
void log_comparison_add(struct table *rows, const struct log_comparison *c, struct arena *a);
struct json_t *log_comparison_json(const struct log_comparison *c);     /* a JSON value, which the caller owns */
#endif
