/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_log.c - one log file folded into one run.
 *
 * Time to train is the time from the last run_start before the first run_stop to that run_stop. Steady throughput is taken from the finest
 * marks of a log:
 *   epoch marks       train_samples / median(epoch_stop - epoch_start)
 *   block marks       train_samples / median((block_stop - block_start) / epoch_count); a block may include its evaluation
 *   sample blocks     median, over blocks after the first, of samples gained / (block_stop - block_start)
 *   sample evaluations median of samples gained / time between eval_accuracy lines after the first two; includes the evaluation
 *   none of these     samples to converge / time to train
 * The median epoch may have waited for a checkpoint or for the host, so logs of at least ten epochs also give the tenth percentile. A
 * benchmark that counts in samples (BERT) logs them as epoch_num of its eval_accuracy lines; older logs have epoch_num 1 and a train_samples
 * line at the end. Limits: only the first SERIES_LIMIT intervals of each kind enter a median.
 */
#include "results/mlperf/mllog.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

enum { SERIES_LIMIT = 1 << 16 };
static const double longest_run_ms = 10 * 366.0 * 86400e3;      /* no run takes longer than ten years */

struct series { double *v; size_t n, cap; };

/* Times are seconds since the first run_start; NaN if not logged. */
struct run_fold {
    struct run_log *run;
    struct arena *a;
    double init_start_ms, init_stop_ms, first_start_ms;
    double epoch_start, block_start, block_stop, block_epochs, eval_start, first_eval, last_eval, last_eval_point, first_unit, last_epoch_stop;
    uint64_t n_epochs, n_blocks;
    struct series epochs, blocks, evals, gaps, block_rates, eval_rates, eval_steps, eval_times;
};

static void push_series(struct run_fold *f, struct series *s, double v)
{
    if (s->n == SERIES_LIMIT || !isfinite(v))
        return;
    ARENA_APPEND(f->a, s->v, s->n, s->cap, v);
}

double median_of(double *values, size_t n)
{
    if (n == 0)
        return NAN;
    gsl_sort(values, 1, n);
    return gsl_stats_median_from_sorted_data(values, 1, n);
}

static double metadata_number(const json_t *metadata, const char *name)
{
    double x;
    return mllog_number_loose(json_object_get(metadata, name), &x) ? x : (double)NAN;
}

/* ---- one function a kind of line ---------------------------------------------------------- */

static void first_number(double *slot, const json_t *value)
{
    double x;
    if (isnan(*slot) && mllog_number_loose(value, &x))
        *slot = x;
}

static void first_text_value(const char **slot, const struct mllog_line *l, struct arena *a)
{
    if (!*slot)
        *slot = mllog_text(l->value, a);
}

static void on_unit_start(struct run_fold *f, double t)
{
    if (isnan(f->first_unit))
        f->first_unit = t;
}

static void on_block_start(struct run_fold *f, const struct mllog_line *l, double t)
{
    on_unit_start(f, t);
    f->block_start = t;
    f->block_epochs = metadata_number(l->metadata, "epoch_count");
}

static void on_block_stop(struct run_fold *f, double t)
{
    double epochs = f->block_epochs > 0 ? f->block_epochs : 1;
    push_series(f, &f->blocks, (t - f->block_start) / epochs);
    f->n_blocks++;
    f->block_stop = t;
}

static void on_epoch_stop(struct run_fold *f, double t)
{
    push_series(f, &f->epochs, t - f->epoch_start);
    f->epoch_start = NAN;
    f->last_epoch_stop = t;
    f->n_epochs++;
}

/* The progress of the run at an evaluation; later benchmarks log samples or steps under other names. */
static double eval_point(const struct mllog_line *l)
{
    double epoch = metadata_number(l->metadata, "epoch_num");
    double samples = isnan(epoch) ? metadata_number(l->metadata, "samples_count") : epoch;
    return isnan(samples) ? metadata_number(l->metadata, "step_num") : samples;
}

/* Adds the rates at which samples were gained since the last evaluation: over the last block, and over the time between evaluations.
 * push_series() drops the infinite rates that a clock set back would cause. */
static void on_accuracy(struct run_fold *f, const struct mllog_line *l, double t)
{
    struct run_log *r = f->run;
    double point = eval_point(l), gain = point - f->last_eval_point, block = f->block_stop - f->block_start;
    if (r->n_evals == 0)
        f->first_eval = t;
    push_series(f, &f->gaps, t - f->block_stop);
    if (gain > 0) {
        push_series(f, &f->eval_steps, gain);
        if (f->n_blocks > 1)
            push_series(f, &f->block_rates, gain / fmax(block, 0));
        if (r->n_evals > 1)
            push_series(f, &f->eval_rates, gain / fmax(t - f->last_eval, 0));
    }
    if (r->n_evals > 1)
        push_series(f, &f->eval_times, t - f->last_eval);
    f->last_eval = t;
    f->last_eval_point = point;
    r->n_evals++;
    r->convergence_point = point;
}

static void on_run_start(struct run_fold *f, const struct mllog_line *l)
{
    if (isnan(f->first_start_ms))
        f->first_start_ms = l->time_ms;
    f->run->run_start_ms = l->time_ms;
    f->run->run_start_line = l->line;
    f->run->n_run_starts++;
}

/* The first run_stop ends the run; a later one may give it another status. */
static void on_run_stop(struct run_fold *f, const struct mllog_line *l)
{
    struct run_log *r = f->run;
    const json_t *logged = json_object_get(l->metadata, "status");
    const char *status = logged ? mllog_text(logged, f->a) : NULL;
    bool first = isnan(r->run_stop_ms);
    if (!isnan(r->run_start_ms) && first)
        r->run_stop_ms = l->time_ms;
    if (!first)
        r->other_stop_line = text_is(status, r->status) || (!status && !r->status) ? 0 : l->line;
    r->status = status;
    r->success = text_is(status, "success");
}

static void on_interval(struct run_fold *f, const struct mllog_line *l)
{
    double t = (l->time_ms - f->first_start_ms) / 1e3;
    if (text_is(l->key, "block_start"))
        on_block_start(f, l, t);
    else if (text_is(l->key, "block_stop"))
        on_block_stop(f, t);
    else if (text_is(l->key, "epoch_start"))
        on_unit_start(f, t), f->epoch_start = t;
    else if (text_is(l->key, "epoch_stop"))
        on_epoch_stop(f, t);
    else if (text_is(l->key, "eval_start"))
        f->eval_start = t;
    else if (text_is(l->key, "eval_stop"))
        push_series(f, &f->evals, t - f->eval_start);
    else if (text_is(l->key, "eval_accuracy"))
        on_accuracy(f, l, t);
}

static void on_setting(struct run_fold *f, const struct mllog_line *l)
{
    struct run_log *r = f->run;
    const struct { const char *key; double *slot; } numbers[] = {
        { "global_batch_size", &r->global_batch }, { "gradient_accumulation_steps", &r->grad_accum },
        { "train_samples", &r->train_samples }, { "number_of_nodes", &r->nodes }, { "accelerators_per_node", &r->accelerators_per_node },
    };
    const struct { const char *key; const char **slot; } texts[] = { { "submission_org", &r->org }, { "submission_platform", &r->platform },
                                                                   { "submission_status", &r->availability }, { "config_filename", &r->config } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (text_is(l->key, numbers[i].key))
            first_number(numbers[i].slot, l->value);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (text_is(l->key, texts[i].key))
            first_text_value(texts[i].slot, l, f->a);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Samples in one unit of epoch_num, which is an epoch, a sample or a step. */
static double unit_samples(const struct run_log *r, const char *unit)
{
    return text_is(unit, "samples") ? 1 : text_is(unit, "steps") ? r->global_batch : r->train_samples;
}

static bool counts_epochs(const char *unit)
{
    return !text_is(unit, "samples") && !text_is(unit, "steps");
}

static void fold_samples(const struct run_fold *f, const char *unit)
{
    struct run_log *r = f->run;
    if (counts_epochs(unit))
        r->epochs_trained = f->n_epochs ? (double)f->n_epochs : r->convergence_point;
    double points = counts_epochs(unit) ? r->epochs_trained : r->convergence_point;
    r->samples_to_converge = !counts_epochs(unit) && points == 1 ? r->train_samples : points * unit_samples(r, unit);
}

/* Sets the rates of a series and returns its median. Values are the times of `samples` samples, or rates in units of that many; `first` is the
 * number of the first value. Rates are copied, because the median sorts the series. */
static double take_units(struct run_fold *f, const struct series *from, bool are_times, double samples, size_t first, const char *method)
{
    struct run_log *r = f->run;
    r->throughput_method = method;
    r->n_units = min_u64(from->n, MOST_UNITS);
    r->first_unit = first;
    r->unit_rates = ARENA_ARRAY(f->a, double, r->n_units);
    for (size_t i = 0; i < r->n_units; i++)
        r->unit_rates[i] = are_times ? samples / from->v[i] : samples * from->v[i];
    double median = median_of(from->v, from->n);
    r->throughput_samples_per_s = are_times ? samples / median : samples * median;
    return median;
}

/* The steady rate, from epochs only: the steps of a block are not logged, and the fastest blocks have one step less. */
static double steady_rate(const struct run_fold *f)
{
    enum { LEAST_EPOCHS = 10 };
    if (f->epochs.n < LEAST_EPOCHS)
        return NAN;
    return f->run->train_samples / gsl_stats_quantile_from_sorted_data(f->epochs.v, 1, f->epochs.n, STEADY_QUANTILE);
}

static void fold_throughput(struct run_fold *f, const char *unit)
{
    struct run_log *r = f->run;
    double samples = unit_samples(r, unit), unit_s = NAN;
    r->epoch_samples = counts_epochs(unit) && f->epochs.n > 0 ? samples : 0;
    if (counts_epochs(unit) && f->epochs.n > 0) {
        unit_s = take_units(f, &f->epochs, true, samples, 1, "train_samples / median(epoch_stop - epoch_start)");
        r->steady_samples_per_s = steady_rate(f);
    } else if (counts_epochs(unit) && f->blocks.n > 0) {
        unit_s = take_units(f, &f->blocks, true, samples, 1, "train_samples / median(block / epoch_count), a block may include its evaluation");
    } else if (f->blocks.n > 1 && f->block_rates.n > 0) {
        take_units(f, &f->block_rates, false, samples, 2, "median over blocks after the first of samples gained / block time");
        unit_s = median_of(f->blocks.v + 1, f->blocks.n - 1);   /* without the first block, which includes warming up */
    } else {
        take_units(f, &f->eval_rates, false, samples, 3, f->eval_rates.n > 0
                   ? "median of samples gained / time between evaluations, evaluation included" : "samples to converge / time to train");
    }
    r->train_unit_s = isnan(unit_s) ? median_of(f->eval_times.v, f->eval_times.n) : unit_s;
    if (!isfinite(r->throughput_samples_per_s))
        r->throughput_samples_per_s = r->samples_to_converge / r->time_to_train_s;
}

void run_fold_end(struct run_fold *f, const char *unit)
{
    struct run_log *r = f->run;
    r->problem = isnan(r->run_start_ms) ? "no run_start" : isnan(r->run_stop_ms) ? "no run_stop"
               : !(r->run_stop_ms > r->run_start_ms) ? "run_stop is not after run_start"
               : !(r->run_stop_ms - r->run_start_ms < longest_run_ms) ? "its time is longer than a run can be" : NULL;
    r->time_to_train_s = (r->run_stop_ms - r->run_start_ms) / 1e3;
    r->init_s = (f->init_stop_ms - f->init_start_ms) / 1e3;
    double late_s = (r->run_start_ms - f->first_start_ms) / 1e3;
    r->startup_s = f->first_unit - late_s;
    bool timed = f->evals.n > 0;
    r->eval_time_s = timed ? median_of(f->evals.v, f->evals.n)
                   : f->blocks.n > 1 ? median_of(f->gaps.v, f->gaps.n) : (double)NAN;
    r->last_eval_s = f->last_eval - late_s;
    r->evals_at_end = f->first_eval >= f->last_epoch_stop;
    r->eval_interval = median_of(f->eval_steps.v, f->eval_steps.n);
    fold_samples(f, unit);
    fold_throughput(f, unit);
}

struct run_fold *run_fold_start(struct run_log *out, const char *path, struct arena *a)
{
    struct run_fold *f = ARENA_NEW(a, struct run_fold);
    *out = (struct run_log){ .path = path, .run_start_ms = NAN, .run_stop_ms = NAN, .global_batch = NAN, .grad_accum = NAN,
        .train_samples = NAN, .nodes = NAN, .accelerators_per_node = NAN, .convergence_point = NAN, .epochs_trained = NAN,
        .steady_samples_per_s = NAN };
    *f = (struct run_fold){ .run = out, .a = a, .init_start_ms = NAN, .init_stop_ms = NAN, .first_start_ms = NAN, .epoch_start = NAN,
        .block_start = NAN, .block_stop = NAN, .eval_start = NAN, .first_eval = NAN, .last_eval = NAN, .last_eval_point = NAN, .first_unit = NAN,
        .last_epoch_stop = NAN };
    return f;
}

void run_fold_line(struct run_fold *f, const struct mllog_line *l)
{
    struct run_log *r = f->run;
    r->n_lines++;
    if (text_is(l->key, "init_start") && isnan(f->init_start_ms))
        f->init_start_ms = l->time_ms;
    else if (text_is(l->key, "init_stop") && isnan(f->init_stop_ms))
        f->init_stop_ms = l->time_ms;
    else if (text_is(l->key, "run_start") && isnan(r->run_stop_ms))
        on_run_start(f, l);
    on_setting(f, l);
    if (text_is(l->key, "run_stop"))
        on_run_stop(f, l);
    else if (!isnan(r->run_start_ms) && isnan(r->run_stop_ms))
        on_interval(f, l);
}

void run_fold_bad_line(struct run_fold *f)
{
    f->run->n_lines++;
    f->run->has_bad_line = true;
}
