/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_comparison.h - the logs of a real submission compared with the simulation of its recipe.
 *
 * Each quantity has a published value (median, least and largest over the runs that converged and comply) and a simulated value, with its 90 %
 * interval if one is known. The difference between the mean published run and the mean simulated run is the sum of six parts: more samples,
 * slower samples, evaluations, start-up, the time after the last evaluation, and the rest. Evaluations at the end of training read checkpoints
 * that were saved during training, so their part holds all time between start-up and the last evaluation that is not spent in steps.
 */
#ifndef LOG_COMPARISON_H
#define LOG_COMPARISON_H
#include "results/mlperf/mlperf.h"
#include "results/submission/drawn_runs.h"
#include "results/simulate/simulate.h"

struct compared_value {
    const char *what, *unit;
    double published, published_low, published_high;    /* all are NaN if not logged */
    double simulated, simulated_low, simulated_high;    /* NaN if not simulated; low and high are NaN without an interval */
};

enum time_part { TIME_SAMPLES, TIME_STEP, TIME_EVALUATIONS, TIME_STARTUP, TIME_AFTER, TIME_REST, N_TIME_PARTS };

struct log_comparison {
    const char *dir, *round, *division, *submitter, *system, *benchmark, *recipe;
    size_t n_logs, n_converged;                         /* n_converged: the logs that converged and comply */
    struct compared_value *values;
    size_t n_values, cap_values;
    double difference_s, parts_s[N_TIME_PARTS];         /* the mean published run minus the mean simulated run, and its parts; NaN unless both are known */
};

/* The simulated side: the recipe's result, timing and predicted runs. logged_batch is the global batch as logs state it, in packed entries.
 * is_source: the logs were written by this recipe's program, so their epochs consist of whole calls. */
struct simulated_side { const struct result *result; struct run_timing timing; const struct drawn_runs *runs; double logged_batch; bool is_source; };

void log_compare(struct log_comparison *out, const struct folder *f, const struct run_log *logs, const char *recipe,
                 const struct simulated_side *sim, struct arena *a);

void log_comparison_print(FILE *out, const struct log_comparison *c);
struct table log_comparison_rows(void);         /* an empty table for the lines of all comparisons, as CSV */
void log_comparison_add(struct table *rows, const struct log_comparison *c, struct arena *a);
struct json_t *log_comparison_json(const struct log_comparison *c);     /* the caller owns the returned value */
#endif
