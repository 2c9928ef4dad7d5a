/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_comparison.c - compares the logs of a submission with a simulation; see log_comparison.h.
 *
 * The time of a step in a log is the samples of a step over the logged rate of each epoch or block, as a median over the runs. If the logs
 * were written by the recipe's own program, an epoch consists of whole calls (steps_of_epoch) and holds fewer samples, so the time of a step
 * is the epoch's time over its steps. The simulated interval of a step is the model's error (1.645 standard deviations of the logarithm). The
 * intervals of samples, of a run and of the score are drawn with it.
 */
#include "results/published/log_comparison.h"
#include "system-model/output/output.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <jansson.h>

static const char *const time_part_names[N_TIME_PARTS] = {
    "samples to converge", "time of a step", "evaluations", "start-up", "after the last evaluation", "rest"
};
static const double normal_95 = 1.645;

struct comparing { struct log_comparison *out; const struct folder *f; const struct run_log *logs; const struct simulated_side *sim;
                   struct arena *a; };

/* ---- published: over the runs that converged and comply ------------------------------------------------- */

static struct compared_value logged_value(const char *what, const char *unit, double *values, size_t n)
{
    struct compared_value v = { what, unit, NAN, NAN, NAN, NAN, NAN, NAN };
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i]))
            values[kept++] = values[i];
    if (kept) {
        gsl_sort(values, 1, kept);
        v.published_low = values[0], v.published_high = values[kept - 1];
        v.published = gsl_stats_median_from_sorted_data(values, 1, kept);
    }
    return v;
}

static bool log_counts(const struct comparing *c, size_t run)
{
    return c->f->runs[run].converged && c->f->runs[run].compliant;
}

/* The number at this offset from each log that counts, multiplied by the factor. */
static double *run_numbers(const struct comparing *c, size_t offset, double factor, size_t *n)
{
    double *values = ARENA_ROOM(c->a, double, c->f->n);
    *n = 0;
    for (size_t i = 0; i < c->f->n; i++)
        if (log_counts(c, i))
            values[(*n)++] = *(const double *)((const char *)&c->logs[i] + offset) * factor;
    return values;
}

static void add_compared_value(struct log_comparison *out, struct compared_value v, double simulated, double low, double high, struct arena *a)
{
    v.simulated = simulated, v.simulated_low = low, v.simulated_high = high;
    ARENA_APPEND(a, out->values, out->n_values, out->cap_values, v);
}

static void add_compared_number(struct comparing *c, const char *what, const char *unit, size_t offset, double factor, double simulated)
{
    size_t n;
    double *values = run_numbers(c, offset, factor, &n);
    add_compared_value(c->out, logged_value(what, unit, values, n), simulated, NAN, NAN, c->a);
}

/* ---- steps ------------------------------------------------------------------------------------------------ */

static void add_step(struct comparing *c, struct compared_value v)
{
    double step = c->sim->result->step_time_s * 1e3, error = c->sim->timing.error;
    add_compared_value(c->out, v, step, error > 0 ? step * exp(-normal_95 * error) : (double)NAN, error > 0 ? step * exp(normal_95 * error) : (double)NAN, c->a);
}

/* Samples in a step of this log: its global batch, times the samples packed into one entry. */
static double step_samples(const struct comparing *c, const struct run_log *log)
{
    return log->global_batch * timing_samples_per_step(&c->sim->timing, c->sim->logged_batch) / c->sim->logged_batch;
}

/* Steps per call; 0 if the log's epochs do not consist of whole calls. */
static double steps_per_call_of(const struct comparing *c, const struct run_log *log)
{
    return c->sim->is_source && log->epoch_samples > 0 ? c->sim->timing.steps_per_call : 0;
}

/* The log's rate in epoch or block k. If epochs consist of whole calls, the rate is reduced to the samples in those calls. */
static double whole_rate(const struct comparing *c, const struct run_log *log, size_t k)
{
    double batch = step_samples(c, log), share = 1, calls = steps_per_call_of(c, log), epoch = log->epoch_samples / batch;
    if (calls > 0)
        share = steps_of_epoch((double)(log->first_unit + k), log->epochs_trained, epoch, calls) / epoch;
    return log->unit_rates[k] * share;
}

/* The rate at the quantile q of the epochs' times per sample. */
static double rate_quantile(const struct comparing *c, const struct run_log *log, double q)
{
    double *times = ARENA_ARRAY(c->a, double, log->n_units);
    for (size_t k = 0; k < log->n_units; k++)
        times[k] = 1 / whole_rate(c, log, k);
    gsl_sort(times, 1, log->n_units);
    return 1 / gsl_stats_quantile_from_sorted_data(times, 1, log->n_units, q);
}

static double typical_rate(const struct comparing *c, const struct run_log *log)
{
    return steps_per_call_of(c, log) > 0 ? rate_quantile(c, log, 0.5) : log->throughput_samples_per_s;
}

static void add_steady_step(struct comparing *c)
{
    double *values = ARENA_ARRAY(c->a, double, c->f->n);
    for (size_t i = 0; i < c->f->n; i++) {
        double steady = c->logs[i].steady_samples_per_s;
        if (isfinite(steady) && steps_per_call_of(c, &c->logs[i]) > 0)
            steady = rate_quantile(c, &c->logs[i], STEADY_QUANTILE);
        values[i] = log_counts(c, i) ? 1e3 * step_samples(c, &c->logs[i]) / steady : (double)NAN;
    }
    struct compared_value v = logged_value("step in steady state", "ms", values, c->f->n);
    if (isfinite(v.published))
        add_step(c, v);
}

static void add_step_times(struct comparing *c)
{
    size_t n = c->f->n, most = 0, first = 1;
    double *values = ARENA_ARRAY(c->a, double, n);
    for (size_t i = 0; i < n; i++) {
        values[i] = log_counts(c, i) ? 1e3 * step_samples(c, &c->logs[i]) / typical_rate(c, &c->logs[i]) : (double)NAN;
        if (log_counts(c, i) && c->logs[i].n_units > most)
            most = c->logs[i].n_units, first = c->logs[i].first_unit;
    }
    add_step(c, logged_value("step", "ms", values, n));
    add_steady_step(c);
    for (size_t k = 0; k < most; k++) {
        for (size_t i = 0; i < n; i++) {
            bool has = log_counts(c, i) && k < c->logs[i].n_units;
            values[i] = has ? 1e3 * step_samples(c, &c->logs[i]) / whole_rate(c, &c->logs[i], k) : (double)NAN;
        }
        add_step(c, logged_value(arena_printf(c->a, "step in block %zu", first + k), "ms", values, n));
    }
}

/* ---- where the time differs --------------------------------------------------------------------------------- */

struct mean_run { double time_s, samples, rate, evals, evals_s, startup_s, after_s; };

static double mean_of_runs(const struct comparing *c, size_t offset)
{
    size_t n;
    double *values = run_numbers(c, offset, 1, &n);
    return n ? gsl_stats_mean(values, 1, n) : (double)NAN;
}

/* The samples trained when this number is reached, rounded up to whole calls. */
static double samples_in_whole_calls(double samples, double step_samples, double steps_per_call)
{
    return steps_in_whole_calls(samples / step_samples, steps_per_call) * step_samples;
}

/* The time of all evaluations of a run. Evaluations at the end include saving the checkpoints. */
static double evals_time(const struct comparing *c, const struct run_log *log)
{
    if (!log->evals_at_end)
        return (double)log->n_evals * log->eval_time_s;
    return log->last_eval_s - log->startup_s - samples_in_whole_calls(log->samples_to_converge, step_samples(c, log), steps_per_call_of(c, log)) / typical_rate(c, log);
}

static struct mean_run published_run(const struct comparing *c)
{
    struct mean_run m = { .time_s = mean_of_runs(c, offsetof(struct run_log, time_to_train_s)), .startup_s = mean_of_runs(c, offsetof(struct run_log, startup_s)) };
    m.after_s = m.time_s - mean_of_runs(c, offsetof(struct run_log, last_eval_s));
    for (size_t i = 0; i < c->f->n; i++) {
        const struct run_log *log = &c->logs[i];
        if (!log_counts(c, i))
            continue;
        m.evals += (double)log->n_evals / (double)c->out->n_converged;
        m.evals_s += evals_time(c, log) / (double)c->out->n_converged;
        m.rate += typical_rate(c, log) / (double)c->out->n_converged;
        m.samples += samples_in_whole_calls(log->samples_to_converge, step_samples(c, log), steps_per_call_of(c, log)) / (double)c->out->n_converged;
    }
    return m;
}

/* The mean simulated run. in_calls: true if the published runs count samples in whole calls. */
static struct mean_run simulated_run(const struct simulated_side *s, bool in_calls)
{
    const struct drawn_runs *d = s->runs;
    const struct run_timing *t = &s->timing;
    double batch = timing_samples_per_step(t, s->logged_batch), calls = in_calls ? t->steps_per_call : 0, tail_s = t->tail_s + t->first_eval_extra_s;
    struct mean_run m = { .rate = batch / t->step_time_s, .startup_s = t->startup_s };
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct drawn_run *run = &d->runs[i];
        if (run->converged)
            m.samples += samples_in_whole_calls(run->samples, batch, calls), m.evals += (double)run->n_evals, m.time_s += run->time_s, m.after_s += run->scaling_s, n++;
    }
    m.samples /= (double)n, m.evals /= (double)n, m.time_s /= (double)n, m.after_s /= (double)n;
    m.evals_s = m.evals * t->eval_time_s;
    *(t->eval_placement == EVAL_END ? &m.evals_s : &m.after_s) += tail_s;
    return m;
}

static bool any_in_calls(const struct comparing *c)
{
    for (size_t i = 0; i < c->f->n; i++)
        if (log_counts(c, i) && steps_per_call_of(c, &c->logs[i]) > 0)
            return true;
    return false;
}

static void split_difference(struct log_comparison *out, const struct mean_run *p, const struct mean_run *s)
{
    double *parts = out->parts_s;
    out->difference_s = p->time_s - s->time_s;
    parts[TIME_SAMPLES] = (p->samples - s->samples) / s->rate;
    parts[TIME_STEP] = p->samples * (1 / p->rate - 1 / s->rate);
    parts[TIME_EVALUATIONS] = (isfinite(p->evals_s) ? p->evals_s : p->evals * s->evals_s / s->evals) - s->evals_s;
    parts[TIME_STARTUP] = p->startup_s - s->startup_s;
    parts[TIME_AFTER] = p->after_s - s->after_s;
    parts[TIME_REST] = out->difference_s;
    for (int i = 0; i < TIME_REST; i++)
        parts[TIME_REST] -= parts[i];
}

static void add_evaluation(struct comparing *c, const struct mean_run *simulated)
{
    double *each = ARENA_ARRAY(c->a, double, c->f->n);
    for (size_t i = 0; i < c->f->n; i++)
        each[i] = log_counts(c, i) ? evals_time(c, &c->logs[i]) / (double)c->logs[i].n_evals : (double)NAN;
    add_compared_value(c->out, logged_value("evaluation", "s", each, c->f->n), simulated->evals_s / simulated->evals, NAN, NAN, c->a);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void add_all(struct comparing *c, const struct mean_run *simulated)
{
    const struct drawn_runs *d = c->sim->runs;
    size_t n;
    add_step_times(c);
    add_evaluation(c, simulated);
    add_compared_number(c, "start-up, on the clock", "s", offsetof(struct run_log, startup_s), 1, c->sim->timing.startup_s);
    add_compared_number(c, "initialisation, off the clock", "s", offsetof(struct run_log, init_s), 1, NAN);
    double *samples = run_numbers(c, offsetof(struct run_log, samples_to_converge), 1, &n);
    add_compared_value(c->out, logged_value("samples to converge", "samples", samples, n), d->expected_samples, d->samples_low, d->samples_high, c->a);
    double *times = run_numbers(c, offsetof(struct run_log, time_to_train_s), 1 / 60.0, &n), mean_s = 0;
    for (size_t i = 0; i < d->n; i++)
        mean_s += d->runs[i].time_s / (double)d->n;
    add_compared_value(c->out, logged_value("one run", "min", times, n), mean_s / 60, d->run_low_s / 60, d->run_high_s / 60, c->a);
    struct compared_value score = { "score", "min", c->f->score_minutes, NAN, NAN, NAN, NAN, NAN };
    add_compared_value(c->out, score, d->expected_minutes, d->low_minutes, d->high_minutes, c->a);
}

void log_compare(struct log_comparison *out, const struct folder *f, const struct run_log *logs, const char *recipe,
                 const struct simulated_side *sim, struct arena *a)
{
    struct comparing c = { out, f, logs, sim, a };
    *out = (struct log_comparison){ .dir = f->dir, .round = f->round, .division = f->division, .submitter = f->submitter,
        .system = f->system, .benchmark = f->benchmark, .recipe = recipe, .n_logs = f->n };
    for (size_t i = 0; i < f->n; i++)
        out->n_converged += log_counts(&c, i);
    struct mean_run simulated = simulated_run(sim, any_in_calls(&c)), mean = published_run(&c);
    add_all(&c, &simulated);
    split_difference(out, &mean, &simulated);
}

/* ---- as a table ----------------------------------------------------------------------------------------------------- */

struct comparison_line {
    const char *round, *division, *submitter, *system, *benchmark, *recipe, *published_text, *published_range, *simulated_text, *interval, *inside;
    struct compared_value value;
    double error;
};
#define C(member, csv_name, ...) { COLUMN_AS(struct comparison_line, member, csv_name), __VA_ARGS__ }
#define SHOWN(member, text) { COLUMN_AS(struct comparison_line, member, NULL), .heading = text, .aligns_right = true }
static const struct table_column comparison_columns[] = {
    C(round, "round"), C(division, "division"), C(submitter, "submitter"), C(system, "system"), C(benchmark, "benchmark"), C(recipe, "recipe"),
    C(value.what, "quantity", .heading = "quantity"), C(value.unit, "unit", .heading = "unit"),
    C(value.published, "published"), SHOWN(published_text, "published"),
    C(value.published_low, "published_low"), C(value.published_high, "published_high"), SHOWN(published_range, "least .. largest"),
    C(value.simulated, "simulated"), SHOWN(simulated_text, "simulated"),
    C(value.simulated_low, "simulated_low"), C(value.simulated_high, "simulated_high"), SHOWN(interval, "90 % interval"),
    C(error, NULL, .heading = "error %", .format = "%+.2f", .scale = 100), C(inside, NULL, .heading = ""),
};
#undef SHOWN
#undef C

static const char *number_text(double x, struct arena *a)
{
    return isfinite(x) ? arena_printf(a, fabs(x) >= 1e5 ? "%.0f" : "%.5g", x) : NULL;
}

static const char *log_range_of(double low, double high, struct arena *a)
{
    return isfinite(low) ? arena_printf(a, "%s .. %s", number_text(low, a), number_text(high, a)) : NULL;
}

static const char *inside_text(const struct compared_value *v)
{
    if (!isfinite(v->simulated_low) || !isfinite(v->published))
        return "";
    return v->published >= v->simulated_low && v->published <= v->simulated_high ? "inside" : "outside";
}

static struct table comparison_table(const struct log_comparison *c, struct arena *a)
{
    struct table t = TABLE(comparison_columns, struct comparison_line);
    for (size_t i = 0; i < c->n_values; i++) {
        const struct compared_value *v = &c->values[i];
        table_add(&t, &(struct comparison_line){
            c->round, c->division, c->submitter, c->system, c->benchmark, c->recipe, number_text(v->published, a),
            log_range_of(v->published_low, v->published_high, a), number_text(v->simulated, a), log_range_of(v->simulated_low, v->simulated_high, a),
            inside_text(v), *v, v->simulated / v->published - 1 }, a);
    }
    t.indent = "  ";
    return t;
}

void log_comparison_print(FILE *out, const struct log_comparison *c)
{
    struct arena a = {0};
    struct table t = comparison_table(c, &a);
    fprintf(out, "%s %s %s %s %s: recipe %s; %zu of %zu logs comply and converged\n", c->round, c->division, c->submitter, c->system, c->benchmark,
            c->recipe, c->n_converged, c->n_logs);
    table_write(out, FORMAT_TEXT, &t);
    arena_free(&a);
    if (!isfinite(c->difference_s))
        return;
    fprintf(out, "  the mean run takes %+.2f min compared with the simulated one:", c->difference_s / 60);
    for (int i = 0; i < N_TIME_PARTS; i++)
        fprintf(out, " %s %+.2f%s", time_part_names[i], c->parts_s[i] / 60, i + 1 < N_TIME_PARTS ? "," : "\n");
}

struct table log_comparison_rows(void)
{
    return TABLE(comparison_columns, struct comparison_line, .formats = IN_CSV);
}

void log_comparison_add(struct table *rows, const struct log_comparison *c, struct arena *a)
{
    struct table t = comparison_table(c, a);
    for (size_t i = 0; i < t.n; i++)
        table_keep(rows, (const struct comparison_line *)t.rows + i, a);
}

json_t *log_comparison_json(const struct log_comparison *c)
{
    json_t *values = json_array(), *parts = json_object();
    for (size_t i = 0; i < c->n_values; i++) {
        const struct compared_value *v = &c->values[i];
        json_array_append_new(values, json_pack("{s:s, s:s, s:o, s:[o,o], s:o, s:[o,o]}", "quantity", v->what, "unit", v->unit, "published",
            json_number(v->published), "published_range", json_number(v->published_low), json_number(v->published_high), "simulated",
            json_number(v->simulated), "simulated_interval", json_number(v->simulated_low), json_number(v->simulated_high)));
    }
    for (int i = 0; i < N_TIME_PARTS; i++)
        json_object_set_new(parts, time_part_names[i], json_number(c->parts_s[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "round", c->round, "division", c->division, "submitter",
        c->submitter, "system", c->system, "benchmark", c->benchmark, "recipe", c->recipe, "logs", (json_int_t)c->n_logs, "converged",
        (json_int_t)c->n_converged, "values", values, "difference_s", json_number(c->difference_s), "difference_by_part_s", parts);
}
