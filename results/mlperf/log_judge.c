/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_judge.c - one log, read twice: which rules it calls for, then all that is to be known of it; see judge.h.
 */
#include "results/mlperf/judge.h"

#include <math.h>
#include <string.h>

#include "results/mlperf/eval_review.h"

enum { MOST_SEEDS = 4096 };
static const char round_key[] = "podbench_round";   /* simulated logs name their round; official ones have no key for it */

/* ---- first reading ------------------------------------------------------------------------------------ */

struct first_look { struct layer_calls calls; const char *round, *benchmark; };

static void take_text(const char **slot, const char *key, const struct mllog_line *l, struct arena *a)
{
    if (!*slot && text_is(l->key, key) && json_is_string(l->value))
        *slot = arena_printf(a, "%.60s", mllog_text(l->value, a));
}

static bool look(struct first_look *out, const struct judge *j, const char *path, bool follow, struct arena *a, struct err *err)
{
    const struct name_list *keys = &j->library.apply_keys;
    const char **wanted = ARENA_ARRAY(a, const char *, keys->n + 2);
    struct mllog_reader reader;
    struct mllog_line l;
    *out = (struct first_look){ .round = NULL };
    for (size_t i = 0; i < keys->n; i++)
        wanted[i] = keys->names[i];
    wanted[keys->n] = round_key;
    wanted[keys->n + 1] = "submission_benchmark";
    if (!mllog_open(&reader, path, follow, err))
        return false;
    for (enum mllog_status s; (s = mllog_next_of(&reader, wanted, keys->n + 2, &l)) != MLLOG_END; )
        if (s == MLLOG_LINE) {
            if (name_list_has(keys, l.key))
                layer_calls_add(&out->calls, &l, a);
            take_text(&out->round, round_key, &l, a);
            take_text(&out->benchmark, "submission_benchmark", &l, a);
        }
    mllog_close(&reader);
    return true;
}

/* ---- second reading: facts beyond the rules ----------------------------------------------------------------- */

struct impossible { uint64_t line; const char *key, *text; };     /* text NULL: none */
struct facts { struct log_judgement *out; struct eval_review evaluations; struct impossible number; bool stopped, has_error_line; struct arena *a; };

static void take_batch(struct log_judgement *out, const struct mllog_line *l)
{
    double batch;
    if (!text_is(l->key, "global_batch_size") || !mllog_number_loose(l->value, &batch))
        return;
    out->batch_differs = out->batch_differs || (!isnan(out->batch) && out->batch != batch);
    out->batch = batch;
}

/* What Python's int() takes: numbers, and text of a whole number. */
static bool is_integral(const json_t *v)
{
    double x;
    uint64_t n;
    const char *text = json_is_string(v) ? json_string_value(v) : "";
    if (mllog_number(v, &x))
        return isfinite(x);
    return parse_u64(text + strspn(text, " +-"), &n);
}

static void take_seed(struct facts *f, const struct mllog_line *l)
{
    struct log_judgement *out = f->out;
    char shown[MLLOG_SHOWN_BYTES], file[MLLOG_SHOWN_BYTES], line[MLLOG_SHOWN_BYTES];
    if (!text_is(l->key, "seed") || out->n_seeds == MOST_SEEDS)
        return;
    mllog_show(l->value, shown);
    if (!is_integral(l->value)) {
        if (!out->bad_seed)
            out->bad_seed = arena_strdup(f->a, shown);
        return;
    }
    mllog_show(json_object_get(l->metadata, "file"), file);
    mllog_show(json_object_get(l->metadata, "lineno"), line);
    char all[200];
    int n = snprintf(all, sizeof all, "%s|%s|%s", file, line, shown);
    out->seeds = arena_grow(f->a, out->seeds, out->n_seeds, &out->cap_seeds, sizeof *out->seeds);
    out->seeds[out->n_seeds++] = (struct seed_seen){ .hash = hash_bytes(all, (size_t)n, 0), .line = l->line };
}

static bool reads_point(struct facts *f, const char *key)
{
    const struct log_judgement *out = f->out;
    if (text_is(key, out->rules->terms->point_of))
        return !(f->has_error_line && out->edition->eval_error == EVAL_ERROR_INSTEAD);
    if (!text_is(key, "eval_error") || out->edition->eval_error == EVAL_ERROR_UNREAD)
        return false;
    f->has_error_line = true;
    return true;
}

static void take_point(struct facts *f, const struct mllog_line *l)
{
    struct log_judgement *out = f->out;
    const struct benchmark_rules *b = out->rules;
    struct rule_scope s = rule_scope_of(l->value, l->metadata, l->time_ms, NULL);
    struct value v;
    if (!b || !b->point.text || f->stopped || !reads_point(f, l->key) || (b->terms->takes_first && !isnan(out->point)))
        return;
    if ((!b->where.text || expression_holds(&b->where, s.variables) == TRUTH_YES) && expression_compute(&v, &b->point, s.variables) && v.kind == VALUE_NUMBER)
        out->point = rint(v.number * 1e3) / 1e3;
}

/* The first batch or evaluation whose number cannot be a count. */
static void take_impossible_number(struct facts *f, const struct mllog_line *l)
{
    static const double most = 9007199254740992;        /* 2^53: counts beyond it are not exact */
    bool batch = text_is(l->key, "global_batch_size");
    const json_t *v = batch ? l->value : text_is(l->key, "eval_accuracy") ? json_object_get(l->metadata, "epoch_num") : NULL;
    double x;
    char shown[MLLOG_SHOWN_BYTES];
    if (!v || json_is_null(v) || f->number.text)
        return;
    if (!mllog_number_loose(v, &x) || !(x >= 0 && x <= most) || (batch && x == 0))
        f->number = (struct impossible){ l->line, batch ? "global_batch_size" : "eval_accuracy",
            arena_printf(f->a, "%s%s cannot be a count of samples or epochs, refused by podbench", batch ? "" : "epoch_num ", mllog_show(v, shown)) };
}

/* Lines that the rules gather stand for evaluations already made, whatever the run's state. */
static void take_gathered(void *user, const struct mllog_line *l)
{
    struct facts *f = user;
    bool stopped = f->stopped;
    f->stopped = false;
    take_point(f, l);
    f->stopped = stopped;
}

static void take_line(struct facts *f, const struct mllog_line *l)
{
    double samples;
    take_text(&f->out->division, "submission_division", l, f->a);
    take_batch(f->out, l);
    take_impossible_number(f, l);
    take_seed(f, l);
    take_point(f, l);
    if (!f->stopped && f->out->rules)
        eval_review_line(&f->evaluations, f->out->rules->terms->benchmark, f->out->batch, l);
    if (text_is(l->key, "train_samples") && mllog_number_loose(l->value, &samples))
        f->out->last_train_samples = samples;
    f->stopped = f->stopped || text_is(l->key, "run_stop");
}

static bool read_lines(struct facts *f, const char *path, bool follow, struct compliance_run *c, const struct watch *watch, struct err *err)
{
    struct log_judgement *out = f->out;
    struct arena *a = f->a;
    struct mllog_reader reader;
    struct mllog_line l;
    const char *slash = strrchr(path, '/'), *what = arena_printf(a, "lines of %.60s", slash ? slash + 1 : path);
    struct run_fold *fold = run_fold_start(&out->run, path, a);
    if (!mllog_open(&reader, path, follow, err))
        return false;
    for (enum mllog_status s; (s = mllog_next(&reader, &l)) != MLLOG_END; ) {
        watch_tell(watch, what, reader.line, 0);
        if (s == MLLOG_BAD_LINE) {
            compliance_bad_line(c, reader.line, reader.problem);
            run_fold_bad_line(fold);
            continue;
        }
        compliance_line(c, &l);
        run_fold_line(fold, &l);
        take_line(f, &l);
    }
    mllog_close(&reader);
    watch_tell(watch, NULL, 0, 0);
    run_fold_end(fold, out->rules ? out->rules->terms->unit : "");
    if (out->rules && text_is(out->division, "closed") && !out->edition->one_batch)      /* the schedules known are those up to v2.1 */
        eval_review_end(&f->evaluations, out->rules->terms->benchmark, out->batch, &out->compliance, a);
    return true;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

static bool find_rules(struct log_judgement *out, struct judge *j, const struct edition *edition, const char *benchmark,
                       const struct rule_book **book, struct arena *a, struct err *err)
{
    out->edition = edition ? edition : out->round ? edition_find(out->round) : NULL;
    if (!out->edition)
        return fail(err, "the round is not known: neither the path nor the log names it; name it by --ruleset, %s", editions_known(a));
    if (!rules_of(book, &j->library, out->edition->ruleset, err))
        return false;
    const char *name = benchmark ? benchmark : out->benchmark;
    if (name && !round_terms_find(&j->rounds, name, out->edition->ruleset))
        name = NULL;                    /* who wants it names it */
    return !name || judge_benchmark(&out->rules, j, out->edition, name, err);
}

static bool is_refused(const struct compliance *c, uint64_t line)
{
    bool found = false;
    for (size_t i = 0; i < c->n_messages && !found; i++)
        found = c->messages[i].line == line && c->messages[i].severity == SEVERITY_ERROR;
    return found;
}

/* A time or a count that no run can have is refused here, where the rules have not: the official checker does not look at all of them. */
static void refuse_impossible(struct facts *f)
{
    struct log_judgement *out = f->out;
    struct run_log *r = &out->run;
    struct impossible found = f->number.text && !is_refused(&out->compliance, f->number.line) ? f->number : (struct impossible){ .text = NULL };
    if (r->problem && !isnan(r->run_start_ms) && !isnan(r->run_stop_ms))
        found = (struct impossible){ 0, "run_stop",
            arena_printf(f->a, "%s (run_start %.0f ms, run_stop %.0f ms): impossible, refused by podbench", r->problem, r->run_start_ms,
                         r->run_stop_ms) };
    else if (r->init_s < 0)
        found = (struct impossible){ 0, "init_stop", "init_stop is before init_start: impossible, refused by podbench" };
    if (found.text && !r->problem)
        r->problem = "a number that no run can have";
    if (!found.text)
        return;
    compliance_say(&out->compliance, (struct log_message){ SEVERITY_ERROR, found.line, found.key, found.text }, f->a);
    out->compliance.passed = false;
}

/* A status of no kind does not fail the official check; here it is said, for the run counts as one that did not converge. */
static void warn_of_status(struct log_judgement *out, struct arena *a)
{
    const char *status = out->run.status;
    if (status && !text_is(status, "success") && !text_is(status, "aborted"))
        compliance_say(&out->compliance, (struct log_message){ SEVERITY_WARNING, 0, "run_stop",
            arena_printf(a, "status '%.60s' is neither success nor aborted: taken for a run that did not converge", status) }, a);
}

bool log_judge(struct log_judgement *out, struct judge *j, const char *path, bool follow, const struct edition *edition,
               const char *benchmark, struct arena *a, struct err *err)
{
    struct first_look first;
    struct layer_queue queue;
    const struct rule_book *book;
    *out = (struct log_judgement){ .batch = NAN, .point = NAN, .last_train_samples = NAN };
    if (!look(&first, j, path, follow, a, err))
        return false;
    out->round = first.round, out->benchmark = first.benchmark;
    if (!find_rules(out, j, edition, benchmark, &book, a, err))
        return false;
    layer_queue_fill(&queue, &first.calls, book, a);
    struct compliance_run *c = compliance_start(book, &queue, &out->compliance, a);
    struct facts facts = { .out = out, .a = a };
    compliance_observe(c, take_gathered, &facts);       /* called by compliance_end too */
    if (!read_lines(&facts, path, follow, c, &j->options->watch, err))
        return false;
    compliance_end(c, out->run.n_lines);
    refuse_impossible(&facts);
    warn_of_status(out, a);
    if (j->options->train_samples && out->rules && out->rules->terms->train_samples && !isnan(out->last_train_samples))
        out->point = out->last_train_samples;
    return true;
}
