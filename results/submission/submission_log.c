/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission_log.c - writes the log of one simulated run; see submission_logs.h.
 *
 * A log has the keys that the rules demand. A hyperparameter that is not given takes the value that the rules fix; one message names all
 * hyperparameters that are neither given nor fixed. The training interval is divided as the run was timed: startup, epochs or blocks,
 * evaluations, tail; run_stop comes exactly at the drawn time to train. Accuracies before the last evaluation are made up: they rise smoothly
 * towards the target.
 */

#include "results/mlperf/mllog.h"
#include "results/submission/submission_logs.h"

/* The first run starts at 2022-01-01 00:00:00 UTC, and the others a day apart. */
static const int64_t first_run_ms = 1640995200000, day_ms = 86400000;
static const double default_init_s = 60;

struct log_writer {
    FILE *f;
    const struct submission_description *s;
    const struct drawn_run *run;
    struct benchmark_facts facts;
    const struct log_demands *demands;
    int64_t time_ms;                    /* time of the next line */
    int lineno;                         /* a made-up line number of source code, different in each line of the log */
    double interval;                    /* samples or epochs between evaluations */
    struct arena *a;
    struct err *err;
};

static void write_line(struct log_writer *w, enum mllog_event event, const char *key, const char *value, const char *metadata)
{
    struct mllog_entry e = { .name_space = "podbench", .key = key, .event = event, .time_ms = w->time_ms, .value = value,
                             .file = "podbench", .lineno = ++w->lineno, .metadata = metadata };
    mllog_write(w->f, &e);
}

static void write_text_line(struct log_writer *w, const char *key, const char *value)
{
    write_line(w, MLLOG_POINT, key, mllog_quote(value, w->a), NULL);
}

static void write_number_line(struct log_writer *w, const char *key, double value)
{
    write_line(w, MLLOG_POINT, key, mllog_real(value, w->a), NULL);
}

/* ---- before the clock ----------------------------------------------------------------------- */

static const char *json_value(const char *value, struct arena *a)
{
    double x;
    if (parse_f64(value, &x))
        return mllog_real(x, a);
    if (text_is(value, "Infinity") || text_is(value, "inf"))
        return "Infinity";
    if (text_is(value, "true") || text_is(value, "false"))
        return value;
    return mllog_quote(value, a);
}

static bool has_hyperparameter(const struct submission_description *s, const char *key)
{
    return FIND_TEXT(s->hyperparameters, s->n_hyperparameters, struct text_pair, key, key);
}

/* True for keys that other functions of this file write. */
static bool is_structural(const char *key)
{
    return !strncmp(key, "submission_", 11)
        || TEXT_IS_ONE_OF(key, "cache_clear", "init_start", "init_stop", "run_start", "run_stop", "block_start", "block_stop", "epoch_start", "epoch_stop",
                          "eval_start", "eval_stop", "eval_accuracy", "train_samples", "eval_samples", "global_batch_size",
                          "gradient_accumulation_steps", "opt_name", "weights_initialization");
}

static void fixed_value(struct log_writer *w, const struct demand *d)
{
    const char *text = d->value.kind == VALUE_TEXT ? mllog_quote(d->value.text, w->a)
                     : d->value.kind == VALUE_BOOL ? (d->value.number != 0 ? "true" : "false") : mllog_real(d->value.number, w->a);
    write_line(w, MLLOG_POINT, d->key, text, NULL);
}

static bool is_open_demand(const struct submission_description *s, const struct demand *d)
{
    return !is_structural(d->key) && !has_hyperparameter(s, d->key);
}

/* Refuses a submission that lacks keys which the rules demand and leave open; the message names all of them. */
static bool check_hyperparameters(const struct log_writer *w)
{
    const char *missing = "";
    for (size_t i = 0; i < w->demands->n; i++) {
        const struct demand *d = &w->demands->items[i];
        if (is_open_demand(w->s, d) && !d->fixed)
            missing = arena_printf(w->a, "%s%s%s", missing, *missing ? ", " : "", d->key);
    }
    return !*missing || fail(w->err, "%s: [optimizer] lacks %s, which the rules of %s demand of %s %s: set optimizer.KEY for each",
                          w->s->name ? w->s->name : w->s->system, missing,
                          w->demands->edition->round, w->s->division, w->s->benchmark);
}

static void write_hyperparameters(struct log_writer *w)
{
    const struct submission_description *s = w->s;
    write_text_line(w, "opt_name", s->optimizer);
    for (size_t i = 0; i < s->n_hyperparameters; i++)
        if (!is_structural(s->hyperparameters[i].key))
            write_line(w, MLLOG_POINT, s->hyperparameters[i].key, json_value(s->hyperparameters[i].value, w->a), NULL);
    for (size_t i = 0; i < w->demands->n; i++)
        if (is_open_demand(s, &w->demands->items[i]))
            fixed_value(w, &w->demands->items[i]);
}

static void write_tensors(struct log_writer *w)
{
    const struct name_list *names = w->demands->names;
    for (size_t k = 0; names && k < names->n; k++)
        write_line(w, MLLOG_POINT, "weights_initialization", NULL, arena_printf(w->a, "\"tensor\": %s", mllog_quote(names->names[k], w->a)));
}

static bool counts_samples(const struct log_writer *w)
{
    return text_is(w->facts.unit, "samples");
}

static void write_log_head(struct log_writer *w)
{
    const struct submission_description *s = w->s;
    write_text_line(w, "submission_division", s->division);
    write_text_line(w, "submission_benchmark", s->benchmark);
    write_text_line(w, "submission_org", SIMULATED_ORG);
    write_text_line(w, "submission_platform", arena_printf(w->a, "%s-simulated", s->system));
    write_text_line(w, "submission_status", "research");
    write_text_line(w, "podbench_note", arena_printf(w->a, "simulated: no such run took place%s%s", s->trust ? "; " : "", s->trust ? s->trust : ""));
    write_text_line(w, "podbench_round", w->demands->edition->round);
    write_line(w, MLLOG_POINT, "cache_clear", "true", NULL);
    write_line(w, MLLOG_START, "init_start", NULL, NULL);
    write_line(w, MLLOG_POINT, "seed", arena_printf(w->a, "%llu", (unsigned long long)w->run->seed), NULL);
    write_number_line(w, "global_batch_size", round(s->global_batch));
    write_number_line(w, "gradient_accumulation_steps", s->grad_accum);
    if (!counts_samples(w)) {
        write_number_line(w, "train_samples", w->facts.samples_per_epoch);
        write_number_line(w, "eval_samples", w->facts.eval_samples);
    }
    write_hyperparameters(w);
    write_tensors(w);
    w->time_ms += (int64_t)llround((s->init_s > 0 ? s->init_s : default_init_s) * 1e3);
    write_line(w, MLLOG_STOP, "init_stop", NULL, NULL);
}

/* ---- on the clock -------------------------------------------------------------------------------- */

/* Seconds of the run's parts, stretched so that they sum to its time to train before scaling. Scaling moves only run_stop. */
struct run_parts { double startup_s, step_s, eval_s, tail_s; int64_t start_ms; double now_s; };

static struct run_parts parts_of(const struct log_writer *w)
{
    const struct run_timing *t = &w->s->timing;
    double n_steps = steps_in_whole_calls(w->run->samples / timing_samples_per_step(t, w->s->global_batch), t->steps_per_call);
    double tail = t->tail_s + t->first_eval_extra_s;
    double sum = t->startup_s + n_steps * t->step_time_s + (double)w->run->n_evals * t->eval_time_s + tail;
    double stretch = sum > 0 ? (w->run->time_s - w->run->scaling_s) / sum : 0;
    return (struct run_parts){ t->startup_s * stretch, t->step_time_s * stretch, t->eval_time_s * stretch, tail * stretch, w->time_ms, 0 };
}

static void pass_time(struct log_writer *w, struct run_parts *p, double seconds)
{
    p->now_s += seconds;
    w->time_ms = p->start_ms + (int64_t)llround(p->now_s * 1e3);
}

static const char *at(struct log_writer *w, const char *name, double value)
{
    return arena_printf(w->a, "\"%s\": %s", name, mllog_real(value, w->a));
}

/* The accuracy of evaluation k. The last one is the drawn accuracy, moved to the failing side of the target if the run did not converge, and
 * to the target if it did. */
static double eval_accuracy(const struct log_writer *w, uint64_t k, uint64_t n)
{
    double target = w->facts.target, sign = w->facts.higher_is_better ? 1 : -1, last = w->run->accuracy;
    double margin = 1e-4 * target;
    bool reaches = sign * (last - target) >= 0;
    if (k == n)
        return reaches == w->run->converged ? last : w->run->converged ? target : target - sign * margin;
    double rise = margin + target * 0.5 * exp(-4.0 * (double)k / (double)n);
    return round((target - sign * rise) * 1e6) / 1e6;   /* six digits give the same bytes with any libm */
}

static void write_eval(struct log_writer *w, struct run_parts *p, uint64_t k, uint64_t n, double epoch_num, double extra_s)
{
    const char *epoch = at(w, "epoch_num", epoch_num);
    write_line(w, MLLOG_START, "eval_start", NULL, epoch);
    pass_time(w, p, p->eval_s + extra_s);
    write_line(w, MLLOG_POINT, "eval_accuracy", mllog_real(eval_accuracy(w, k, n), w->a), epoch);
    write_line(w, MLLOG_STOP, "eval_stop", NULL, epoch);
}

static void start_block(struct log_writer *w, double first, double count)
{
    write_line(w, MLLOG_START, "block_start", NULL, arena_printf(w->a, "%s, %s", at(w, "first_epoch_num", first), at(w, "epoch_count", count)));
}

static void stop_block(struct log_writer *w, double first)
{
    write_line(w, MLLOG_STOP, "block_stop", NULL, at(w, "first_epoch_num", first));
}

static void write_epochs(struct log_writer *w, struct run_parts *p, double first, double last)
{
    const struct run_timing *t = &w->s->timing;
    double steps = w->facts.samples_per_epoch / timing_samples_per_step(t, w->s->global_batch);
    for (double e = first; e <= last; e++) {
        write_line(w, MLLOG_START, "epoch_start", NULL, at(w, "epoch_num", e));
        pass_time(w, p, p->step_s * steps_of_epoch(e, w->run->epochs, steps, t->steps_per_call));
        write_line(w, MLLOG_STOP, "epoch_stop", NULL, at(w, "epoch_num", e));
    }
}

/* The epoch of evaluation k in a schedule whose last evaluation follows the last epoch. */
static double eval_epoch(const struct log_writer *w, uint64_t k)
{
    double epoch = w->run->epochs - (double)(w->run->n_evals - k) * w->interval;
    return fmax(epoch, 1);
}

static void write_epochs_end(struct log_writer *w, struct run_parts *p)
{
    uint64_t n = w->run->n_evals;
    start_block(w, 1, w->run->epochs);
    write_epochs(w, p, 1, w->run->epochs);
    stop_block(w, 1);
    for (uint64_t k = 1; k <= n; k++)
        write_eval(w, p, k, n, eval_epoch(w, k), k == 1 ? p->tail_s : 0);
}

static void write_epochs_inline(struct log_writer *w, struct run_parts *p)
{
    double done = 0;
    for (uint64_t k = 1; k <= w->run->n_evals; k++) {
        double until = eval_epoch(w, k);
        start_block(w, done + 1, fmax(until - done, 1));
        write_epochs(w, p, done + 1, until);
        stop_block(w, done + 1);
        write_eval(w, p, k, w->run->n_evals, until, 0);
        done = until;
    }
}

/* Writes blocks of samples. Each evaluation comes after the batch that reaches the evaluation's samples. */
static void write_samples(struct log_writer *w, struct run_parts *p)
{
    double done = 0, batch = w->s->global_batch;
    double per_sample_s = p->step_s * steps_in_whole_calls(w->run->samples / timing_samples_per_step(&w->s->timing, batch), w->s->timing.steps_per_call)
                        / w->run->samples;
    for (uint64_t k = 1; k <= w->run->n_evals; k++) {
        double due = ceil(ceil((double)k * w->interval / batch) * batch - 1e-6), until = k == w->run->n_evals ? w->run->samples : due;
        start_block(w, (double)k, 1);
        pass_time(w, p, (until - done) * per_sample_s);
        stop_block(w, (double)k);
        write_eval(w, p, k, w->run->n_evals, until, 0);
        done = until;
    }
    write_number_line(w, "train_samples", w->run->samples);
    write_number_line(w, "eval_samples", w->facts.eval_samples);
}

static void write_run_lines(struct log_writer *w)
{
    struct run_parts p = parts_of(w);
    write_line(w, MLLOG_START, "run_start", NULL, NULL);
    pass_time(w, &p, p.startup_s);
    if (counts_samples(w))
        write_samples(w, &p);
    else if (w->s->timing.eval_placement == EVAL_END)
        write_epochs_end(w, &p);
    else
        write_epochs_inline(w, &p);
    w->time_ms = p.start_ms + (int64_t)llround(w->run->time_s * 1e3);
    write_line(w, MLLOG_STOP, "run_stop", NULL, w->run->converged ? "\"status\": \"success\"" : "\"status\": \"aborted\"");
}

/* ---- the whole ------------------------------------------------------------------------------------- */

/* Limits of a log; no published one has 1000 evaluations or epochs. */
enum { MOST_EVALUATIONS = 100000, MOST_EPOCHS = 100000 };

static bool check_description(const struct submission_description *s, const struct drawn_run *run, struct err *err)
{
    if (!text_is(s->division, "closed") && !text_is(s->division, "open"))
        return fail(err, "division '%s', want closed or open", s->division);
    if (!(s->global_batch > 0) || !(s->grad_accum > 0))
        return fail(err, "global batch %g with %g accumulation steps, want numbers above 0", s->global_batch, s->grad_accum);
    if (!(run->time_s > 0) || run->n_evals == 0)
        return fail(err, "a run of %g s with %llu evaluations, want both above 0", run->time_s, (unsigned long long)run->n_evals);
    if (run->n_evals > MOST_EVALUATIONS || run->epochs > MOST_EPOCHS)
        return fail(err, "a log of %.6g epochs and %llu evaluation%s, want at most %d and %d; raise training.eval_every, or lower training.epochs",
                    isnan(run->epochs) ? 0 : run->epochs, (unsigned long long)run->n_evals, plural(run->n_evals), MOST_EPOCHS, MOST_EVALUATIONS);
    return true;
}

bool submission_write_log(FILE *f, const struct submission_description *s, const struct drawn_run *run, size_t i, struct arena *a,
                     struct err *err)
{
    struct log_writer w = { .f = f, .s = s, .run = run, .a = a, .err = err, .time_ms = first_run_ms + (int64_t)i * day_ms,
                            .demands = s->demands };
    struct eval_schedule schedule;
    struct log_demands own;
    if (!check_description(s, run, err) || !benchmark_facts(&w.facts, s->benchmark, s->data_dir, a, err))
        return false;
    if (!w.demands) {
        if (!log_demands_load(&own, s->ruleset, s->division, s->benchmark, s->optimizer, s->data_dir, a, err))
            return false;
        w.demands = &own;
    }
    w.interval = eval_schedule_of(&schedule, s->benchmark, s->global_batch) ? schedule.interval : 1;
    if (s->eval_interval > 0)
        w.interval = s->eval_interval;
    if (!check_hyperparameters(&w))
        return false;
    if (f)
        write_log_head(&w), write_run_lines(&w);
    return true;
}
