/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * training_log.c - trainings as MLPerf logs: losses and qualities that were computed, at the times of the simulated machine. A block is the
 * time between two evaluations. Runs start a day apart from a fixed instant, so that the same runs give the same bytes. If the workload is no
 * MLPerf benchmark, its own name is logged as the benchmark.
 */
#include "results/mlperf/mllog.h"
#include "results/train/train.h"

static const int64_t first_run_ms = 1640995200000, day_ms = 86400000;       /* the first run starts at 2022-01-01 00:00:00 UTC, the others a day apart */

struct training_log { FILE *f; const struct training_setup *t; const struct training *run; int64_t start_ms, time_ms; int lineno; struct arena *a; };

static void log_line(struct training_log *l, enum mllog_event event, const char *key, const char *value, const char *metadata)
{
    struct mllog_entry e = { "podbench", key, event, l->time_ms, value, "podbench", ++l->lineno, metadata };
    mllog_write(l->f, &e);
}

static void log_text(struct training_log *l, const char *key, const char *value) { log_line(l, MLLOG_POINT, key, mllog_quote(value, l->a), NULL); }
static void log_number(struct training_log *l, const char *key, double value) { log_line(l, MLLOG_POINT, key, mllog_real(value, l->a), NULL); }

static void at_minutes(struct training_log *l, double minutes) { l->time_ms = l->start_ms + llround(minutes * 60e3); }

static void write_start(struct training_log *l)
{
    const struct recipe *r = &l->t->sim->recipe;
    const struct workload *w = recipe_workload(r);
    log_text(l, "submission_division", "open");
    log_text(l, "submission_benchmark", w->benchmark ? w->benchmark : w->name);
    log_text(l, "submission_org", "podbench-simulated");
    log_text(l, "submission_platform", arena_printf(l->a, "%s-simulated", l->t->result->system));
    log_text(l, "submission_status", "research");
    log_text(l, "podbench_note", "losses and qualities are computed, times are simulated");
    log_line(l, MLLOG_POINT, "cache_clear", "true", NULL);
    log_line(l, MLLOG_START, "init_start", NULL, NULL);
    log_line(l, MLLOG_POINT, "seed", arena_printf(l->a, "%ju", (uintmax_t)l->run->seed), NULL);
    log_number(l, "global_batch_size", round((double)l->t->items_per_step * l->t->samples_per_item));
    log_number(l, "gradient_accumulation_steps", l->t->sim->plan.request.grad_accum);
    log_number(l, "train_samples", round((double)dataset_items(l->t->data, DATA_TRAIN) * l->t->samples_per_item));
    log_number(l, "eval_samples", round((double)l->t->eval_items * l->t->samples_per_item));
    log_text(l, "opt_name", r->optimizer_name);
    for (size_t i = 0; i < r->n_hyperparameters; i++) {
        double x;
        const char *value = r->hyperparameters[i].value;
        log_line(l, MLLOG_POINT, r->hyperparameters[i].key, parse_f64(value, &x) ? mllog_real(x, l->a) : mllog_quote(value, l->a), NULL);
    }
    log_line(l, MLLOG_STOP, "init_stop", NULL, NULL);
    log_line(l, MLLOG_START, "run_start", NULL, NULL);
}

/* The metadata of a block, which has the epochs from one evaluation to the next. */
static const char *block(struct training_log *l, double first)
{
    double count = (double)l->t->eval_every_steps * (double)l->t->items_per_step / (double)dataset_items(l->t->data, DATA_TRAIN);
    return arena_printf(l->a, "\"first_epoch_num\": %s, \"epoch_count\": %s", mllog_real(first, l->a), mllog_real(count, l->a));
}

static const char *epoch(struct training_log *l, double e) { return arena_printf(l->a, "\"epoch_num\": %s", mllog_real(e, l->a)); }

static void write_log_points(struct training_log *l)
{
    const struct training_setup *t = l->t;
    double first_epoch = 0;
    bool opens = true;
    at_minutes(l, t->startup_s / 60);
    for (size_t i = 0; i < l->run->n; i++) {
        const struct training_point *p = &l->run->points[i];
        bool evaluated = !isnan(p->quality);
        if (opens)
            log_line(l, MLLOG_START, "block_start", NULL, block(l, first_epoch));
        at_minutes(l, p->minutes - (evaluated ? t->evaluation_s / 60 : 0));
        log_line(l, MLLOG_POINT, "train_loss", mllog_real(p->loss, l->a), arena_printf(l->a, "%s, \"step_num\": %ju", epoch(l, p->epoch), (uintmax_t)p->step));
        opens = evaluated;
        if (!evaluated)
            continue;
        log_line(l, MLLOG_STOP, "block_stop", NULL, block(l, first_epoch));
        log_line(l, MLLOG_START, "eval_start", NULL, epoch(l, p->epoch));
        at_minutes(l, p->minutes);
        log_line(l, MLLOG_POINT, "eval_accuracy", mllog_real(p->quality, l->a), epoch(l, p->epoch));
        log_line(l, MLLOG_STOP, "eval_stop", NULL, epoch(l, p->epoch));
        first_epoch = p->epoch;
    }
}

static bool write_training_log(const char *path, struct training_log *l, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    l->f = file.f;
    write_start(l);
    write_log_points(l);
    log_line(l, MLLOG_STOP, "run_stop", NULL, l->run->reached ? "\"status\": \"success\"" : "\"status\": \"aborted\"");
    return new_file_save(&file, err);
}

bool training_log_write(const char *dir, const struct training_setup *t, const struct training *runs, size_t n, struct arena *a, struct err *err)
{
    bool good = make_folders(dir, err);
    for (size_t i = 0; i < n && good; i++) {
        int64_t start = first_run_ms + (int64_t)i * day_ms;
        struct training_log l = { .t = t, .run = &runs[i], .start_ms = start, .time_ms = start, .a = a };
        good = write_training_log(arena_printf(a, "%s/result_%zu.txt", dir, i), &l, err);
    }
    return good;
}
