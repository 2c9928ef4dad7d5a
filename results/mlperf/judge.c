/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.c - loads the tables by which logs are judged, and judges one log; see mlperf.h. A log is read twice: first to find its layers of
 * rules, then for its compliance and all other facts.
 */

#include "results/mlperf/mlperf_internal.h"

/* ---- tables ------------------------------------------------------------------------------------------- */

bool system_fields_load(struct name_list *out, const char *data_dir, const struct edition *e, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t at;
    if (!csv_load(&t, arena_printf(a, "%s/rounds/%s/system_fields.csv", data_dir, e->round), a, err) || !csv_column(&at, &t, "field", err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++)
        name_list_add(out, t.rows[i].cells[at], a);
    return true;
}

bool judge_load(struct judge *out, const struct judge_options *options, struct arena *a, struct err *err)
{
    *out = (struct judge){ .a = a, .options = options, .quiet = *options };
    out->quiet.watch = (struct watch){0};
    json_object_seed(0);                /* jansson's seed must be set before threads start */
    if (!round_table_load(&out->rounds, options->data_dir, a, err))
        return false;
    out->library = (struct rule_library){ .a = a, .rounds = &out->rounds };
    out->system_fields = ARENA_ARRAY(a, struct name_list, out->rounds.n_editions);
    out->cache = ARENA_ARRAY(a, struct benchmark_rules, out->rounds.n);
    return !options->ruleset || edition_find(&out->rounds, options->ruleset) || edition_unknown(&out->rounds, options->ruleset, err);
}

static bool prepare_benchmark(struct benchmark_rules *b, struct judge *j, const struct round_terms *terms, struct err *err)
{
    struct benchmark_rules ready = { .terms = terms, .has_reference = terms->reference_convergence };
    const struct expression_names names = { .variables = rule_variables };
    const char *where = arena_printf(j->a, "%s: %s", round_file(&j->rounds, terms->edition, "benchmarks.csv", j->a), terms->benchmark);
    if ((*terms->point && !expression_parse(&ready.point, terms->point, &names, where, j->a, err))
        || (*terms->where && !expression_parse(&ready.where, terms->where, &names, where, j->a, err)))
        return false;
    if (ready.has_reference && !rcp_load_with(&ready.reference, &j->rounds, terms->benchmark, terms->edition->round, RCP_DEADLINE, j->a, err))
        return false;
    if (ready.has_reference)
        rcp_prune(&ready.reference);
    struct name_list *fields = &j->system_fields[terms->edition - j->rounds.editions];
    if (terms->edition->system_description && !fields->n
        && !system_fields_load(fields, j->options->data_dir, terms->edition, j->a, err))
        return false;
    *b = ready;                         /* an incomplete entry is not stored, so that a second request fails like the first */
    return true;
}

bool judge_benchmark(const struct benchmark_rules **out, struct judge *j, const struct edition *e, const char *benchmark, struct err *err)
{
    const struct round_terms *terms = round_terms_find(&j->rounds, benchmark, e);
    if (!terms)
        return benchmark_unknown(&j->rounds, benchmark, e, err);
    struct benchmark_rules *b = &j->cache[terms - j->rounds.items];
    *out = b;
    return b->terms || prepare_benchmark(b, j, terms, err);
}

bool judge_knows(const struct judge *j, const char *benchmark)
{
    return FIND_TEXT(j->rounds.items, j->rounds.n, struct round_terms, benchmark, benchmark);
}

/* ---- evaluation schedules: an evaluation may be as late as the batch that follows its mark ------------------ */

void eval_review_line(struct eval_review *r, const char *benchmark, double batch, const struct mllog_line *l)
{
    struct eval_schedule s;
    double point;
    if (!text_is(l->key, "eval_accuracy") || !eval_schedule_of(&s, benchmark, batch)
        || !mllog_number_loose(json_object_get(l->metadata, "epoch_num"), &point))
        return;
    double slack = s.in_samples ? batch : 0, gap = r->n ? point - r->last : point, most = r->n ? s.interval : s.latest_first;
    bool off = gap > most + slack || (r->n && gap < s.interval - slack);
    if (off && r->n_off++ == 0)
        r->first_off_line = l->line, r->off_gap = gap;
    r->last = point;
    r->n++;
}

void eval_review_end(const struct eval_review *r, const char *benchmark, double batch, struct compliance *out, struct arena *a)
{
    struct eval_schedule s;
    if (!r->n_off || !eval_schedule_of(&s, benchmark, batch))
        return;
    const char *unit = s.in_samples ? "samples" : "epochs";
    struct log_message m = { SEVERITY_REVIEW, r->first_off_line, "eval_accuracy", NULL };
    if (r->n > 1 && r->last == 1 && s.in_samples)
        m.line = 0, m.text = "epoch_num does not count samples: the evaluation schedule cannot be seen";
    else
        m.text = arena_printf(a, "%.10g %s after the one before, want evaluations every %.10g %s (%llu of %llu are off the schedule)",
                              r->off_gap, unit, s.interval, unit, (unsigned long long)r->n_off, (unsigned long long)r->n);
    compliance_say(out, m, a);
}

enum { MOST_SEEDS = 4096 };
static const char round_key[] = "podbench_round";   /* simulated logs name their round in this key, for which official logs have none */

/* ---- the first reading ------------------------------------------------------------------------------------ */

static void first_text(const char **slot, const char *key, const struct mllog_line *l, struct arena *a)
{
    if (!*slot && text_is(l->key, key) && json_is_string(l->value))
        *slot = arena_printf(a, "%.60s", mllog_text(l->value, a));
}

/* Refuses, and suggests what to type: the newest round that has the benchmark, or the list of all rounds if none has it. */
static bool refuse_without_round(const struct judge *j, const char *benchmark, struct arena *a, struct err *err)
{
    const char **rounds = ARENA_ROOM(a, const char *, j->rounds.n);
    size_t n = 0;
    for (size_t i = 0; benchmark && i < j->rounds.n; i++)
        if (j->rounds.items[i].allowed && text_is(j->rounds.items[i].benchmark, benchmark))
            rounds[n++] = j->rounds.items[i].edition->round;
    if (n == 0)
        return fail(err, "neither the path nor the log names the round; add --ruleset ROUND, one of %s", editions_known(&j->rounds, a));
    return fail(err, "neither the path nor the log names the round; add --ruleset %s, or another of the rounds with %s: %s", rounds[n - 1], benchmark,
                names_list(rounds, n, a));
}

/* The edition that a log names; NULL, with a message, if it names none. `benchmark` is that of the path, or NULL. */
static const struct edition *logged_edition(const struct judge *j, const char *path, bool follow, const char *benchmark, struct arena *a, struct err *err)
{
    struct mllog_reader reader;
    struct mllog_line l;
    const char *round = NULL, *logged = NULL, *const wanted[] = { round_key, "submission_benchmark" };
    if (!mllog_open(&reader, path, follow, err))
        return NULL;
    while (!round && mllog_next_of(&reader, wanted, 2, &l) != MLLOG_END) {
        first_text(&round, round_key, &l, a);
        first_text(&logged, "submission_benchmark", &l, a);
    }
    mllog_close(&reader);
    const struct edition *e = round ? edition_find(&j->rounds, round) : NULL;
    if (!e)
        refuse_without_round(j, benchmark ? benchmark : logged, a, err);
    return e;
}

static bool find_layers(struct layer_calls *out, struct log_judgement *names, const struct rule_book *book, const char *path, bool follow,
                        struct arena *a, struct err *err)
{
    const struct name_list *keys = &book->apply_keys;
    const char **wanted = ARENA_ARRAY(a, const char *, keys->n + 2);
    struct mllog_reader reader;
    struct mllog_line l;
    char shown[MLLOG_SHOWN_BYTES];
    out->n = 0;
    for (size_t i = 0; i < keys->n; i++)
        wanted[i] = keys->names[i];
    wanted[keys->n] = round_key;
    wanted[keys->n + 1] = "submission_benchmark";
    if (!mllog_open(&reader, path, follow, err))
        return false;
    for (enum mllog_status s; (s = mllog_next_of(&reader, wanted, keys->n + 2, &l)) != MLLOG_END; )
        if (s == MLLOG_LINE) {
            if (name_list_has(keys, l.key))
                layer_calls_add(out, l.key, json_is_string(l.value) ? json_string_value(l.value) : mllog_show(l.value, shown), a);
            first_text(&names->round, round_key, &l, a);
            first_text(&names->benchmark, "submission_benchmark", &l, a);
        }
    mllog_close(&reader);
    return true;
}

/* ---- the second reading: facts beyond the rules ----------------------------------------------------------------- */

struct impossible { uint64_t line; const char *key, *text; };     /* text is NULL if there is no impossible number */
struct log_facts {
    struct log_judgement *out; struct eval_review evaluations;
    struct impossible number;
    /* Lines, 0 if there is none: an evaluation timed before run_start, one timed before its predecessor, and a seed unlike the others. */
    uint64_t early_line, back_line, other_seed_line;
    uint64_t lost_line, n_lost;         /* the first line that holds several records, and the number of such lines; 0 without any */
    uint64_t second_run_line;           /* the line of an init_start after run_stop; 0 if there is none */
    uint64_t n_other_lines;             /* lines without a record */
    double last_eval_ms, point;         /* point: the latest convergence point, which counts when a run_stop follows */
    const char *first_seed;
    const char *benchmark;              /* the benchmark that was logged so far, or NULL */
    bool initialised, stopped, has_error_line;
    struct arena *a;
};

static void note_batch(struct log_judgement *out, const struct mllog_line *l, struct arena *a)
{
    double batch;
    if (!text_is(l->key, "global_batch_size"))
        return;
    if (!mllog_number(l->value, &batch) && out->edition->one_batch && !out->stops)
        out->stops = arena_printf(a, "line %" PRIu64 ": global_batch_size is not a number", l->line);
    if (!mllog_number_loose(l->value, &batch))
        return;
    out->batch_differs = out->batch_differs || (!isnan(out->batch) && out->batch != batch);
    out->batch = batch;
}

const char *python_int(const json_t *v, struct arena *a)
{
    double x;
    const char *text = json_is_string(v) ? json_string_value(v) : "";
    if (json_is_integer(v))
        return arena_printf(a, "%lld", (long long)json_integer_value(v));
    if (mllog_number(v, &x))
        return isfinite(x) ? arena_printf(a, "%.0f", trunc(x) + 0.0) : NULL;
    text += strspn(text, " \t\r\n");
    bool minus = *text == '-';
    text += *text == '-' || *text == '+';
    size_t n = strspn(text, "0123456789"), zeros = strspn(text, "0");
    if (n == 0 || text[n + strspn(text + n, " \t\r\n")] != 0)
        return NULL;
    return zeros == n ? "0" : arena_printf(a, "%s%.*s", minus ? "-" : "", (int)(n - zeros), text + zeros);
}

static void note_seed(struct log_facts *f, const struct mllog_line *l)
{
    struct log_judgement *out = f->out;
    char shown[MLLOG_SHOWN_BYTES], file[MLLOG_SHOWN_BYTES], line[MLLOG_SHOWN_BYTES];
    if (!text_is(l->key, "seed") || out->n_seeds == MOST_SEEDS)
        return;
    mllog_show(l->value, shown);
    if (!f->first_seed)
        f->first_seed = arena_strdup(f->a, shown);
    else if (!f->other_seed_line && !text_is(f->first_seed, shown))
        f->other_seed_line = l->line;
    const char *seed = python_int(l->value, f->a);
    if (!json_object_get(l->metadata, "file") || !json_object_get(l->metadata, "lineno"))
        seed = NULL;
    if (!seed) {
        if (!out->bad_seed)
            out->bad_seed = arena_strdup(f->a, shown);
        return;
    }
    mllog_show(json_object_get(l->metadata, "file"), file);
    mllog_show(json_object_get(l->metadata, "lineno"), line);
    const char *all = arena_printf(f->a, "%s|%s|%s", file, line, seed);
    ARENA_APPEND(f->a, out->seeds, out->n_seeds, out->cap_seeds, (struct seed_seen){ .hash = hash_bytes(all, strlen(all), 0), .line = l->line });
}

static bool is_point_key(struct log_facts *f, const char *key)
{
    const struct log_judgement *out = f->out;
    if (text_is(key, out->rules->terms->point_of))
        return !(f->has_error_line && out->edition->eval_error == EVAL_ERROR_INSTEAD);
    if (!text_is(key, "eval_error") || out->edition->eval_error == EVAL_ERROR_UNREAD)
        return false;
    f->has_error_line = true;
    return true;
}

static void note_point(struct log_facts *f, const struct mllog_line *l)
{
    struct log_judgement *out = f->out;
    const struct benchmark_rules *b = out->rules;
    struct rule_scope s = rule_scope_of(l->value, l->metadata, l->time_ms, NULL);
    struct value v;
    if (b && text_is(b->terms->point, "m.samples_count") && is_point_key(f, l->key) && !f->benchmark && !out->stops)
        out->stops = arena_printf(f->a, "line %" PRIu64 ": %s comes before submission_benchmark", l->line, l->key);
    if (!b || !b->point.text || !is_point_key(f, l->key) || (b->terms->take == TAKE_FIRST && !isnan(f->point)))
        return;
    if (b->where.text && expression_holds(&b->where, s.variables) != TRUTH_YES)
        return;
    if (expression_compute(&v, &b->point, s.variables) && v.kind == VALUE_NUMBER)
        f->point = rint(v.number * 1e3) / 1e3;
    else if (!out->stops)
        out->stops = arena_printf(f->a, "line %" PRIu64 ": %s has no %s that is a number", l->line, l->key, strrchr(b->terms->point, '.') + 1);
}

/* Takes the latest point as the log's convergence point; a second run_stop does so again. */
static void note_stop(struct log_facts *f, const struct mllog_line *l)
{
    if (!text_is(l->key, "run_stop"))
        return;
    f->stopped = true;
    f->out->point = f->point;
    bool gathered = f->out->rules && f->out->rules->where.text;         /* gathered points come at the end of the log */
    if (!gathered && isnan(f->point) && text_is(json_string_value(json_object_get(l->metadata, "status")), "success") && !f->out->stops)
        f->out->stops = arena_printf(f->a, "line %" PRIu64 ": run_stop comes before any convergence point", l->line);
    if (!json_object_get(l->metadata, "status") && !f->out->stops)
        f->out->stops = arena_printf(f->a, "line %" PRIu64 ": run_stop has no status", l->line);
}

/* Notes the first batch or evaluation with a number that cannot be a count. An epoch_num that is not the convergence point may be a
 * placeholder. */
static void note_impossible_number(struct log_facts *f, const struct mllog_line *l)
{
    static const double most = 9007199254740992;        /* 2^53; larger counts are not exact */
    bool batch = text_is(l->key, "global_batch_size"), by_epoch = !f->out->rules || text_is(f->out->rules->terms->point, "m.epoch_num");
    const json_t *v = batch ? l->value : by_epoch && text_is(l->key, "eval_accuracy") ? json_object_get(l->metadata, "epoch_num") : NULL;
    double x;
    char shown[MLLOG_SHOWN_BYTES];
    if (!v || json_is_null(v) || f->number.text)
        return;
    if (!mllog_number_loose(v, &x) || !(x >= 0 && x <= most) || (batch && x == 0))
        f->number = (struct impossible){ l->line, batch ? "global_batch_size" : "eval_accuracy",
            arena_printf(f->a, "%s%s cannot be a count of samples or epochs, refused by podbench", batch ? "" : "epoch_num ", mllog_show(v, shown)) };
}

/* Counts a gathered line even after run_stop, because its evaluation came before. */
static void note_gathered_line(void *user, const struct mllog_line *l)
{
    struct log_facts *f = user;
    note_point(f, l);
    f->out->point = f->point;
}

static void note_times(struct log_facts *f, const struct mllog_line *l)
{
    if (!text_is(l->key, "eval_accuracy"))
        return;
    if (!f->early_line && l->time_ms < f->out->run.run_start_ms)
        f->early_line = l->line;
    else if (!f->back_line && l->time_ms < f->last_eval_ms)
        f->back_line = l->line;
    f->last_eval_ms = l->time_ms;
}

static void note_line(struct log_facts *f, const struct mllog_line *l)
{
    double samples;
    first_text(&f->out->division, "submission_division", l, f->a);
    first_text(&f->benchmark, "submission_benchmark", l, f->a);
    note_batch(f->out, l, f->a);
    note_impossible_number(f, l);
    note_seed(f, l);
    note_point(f, l);
    note_times(f, l);
    if (!f->stopped && f->out->rules)
        eval_review_line(&f->evaluations, f->out->rules->terms->benchmark, f->out->batch, l);
    if (text_is(l->key, "train_samples") && mllog_number_loose(l->value, &samples))
        f->out->last_train_samples = samples;
    note_stop(f, l);
    f->initialised = f->initialised || text_is(l->key, "init_stop");
    if (f->stopped && f->initialised && !f->second_run_line && text_is(l->key, "init_start"))
        f->second_run_line = l->line;
}

static bool read_log_lines(struct log_facts *f, const char *path, bool follow, struct compliance_run *c, const struct watch *watch, struct err *err)
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
        watch_report(watch, what, reader.line, 0);
        if (s == MLLOG_BAD_LINE) {
            compliance_bad_line(c, reader.line, reader.problem);
            run_fold_bad_line(fold);
            continue;
        }
        run_fold_line(fold, &l);
        note_line(f, &l);
        if (!f->second_run_line)        /* lines after the start of a second run are not judged */
            compliance_line(c, &l);
        if (reader.lost_record && f->n_lost++ == 0)
            f->lost_line = l.line;
    }
    f->n_other_lines = reader.line - out->run.n_lines;
    if (!f->stopped)
        out->point = f->point;
    mllog_close(&reader);
    watch_report(watch, NULL, 0, 0);
    run_fold_end(fold, out->rules ? out->rules->terms->unit : "");
    if (out->rules && text_is(out->division, "closed") && !out->edition->one_batch)      /* schedules of evaluations are known up to v2.1 */
        eval_review_end(&f->evaluations, out->rules->terms->benchmark, out->batch, &out->compliance, a);
    return true;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

static bool line_is_refused(const struct compliance *c, uint64_t line)
{
    bool found = false;
    for (size_t i = 0; i < c->n_messages && !found; i++)
        found = c->messages[i].line == line && c->messages[i].severity == SEVERITY_ERROR;
    return found;
}

/* Refuses a time or count that no run can have, unless a rule has refused it. The official checker does not test all of them. */
static void refuse_impossible(struct log_facts *f)
{
    struct log_judgement *out = f->out;
    struct run_log *r = &out->run;
    struct impossible found = f->number.text && !line_is_refused(&out->compliance, f->number.line) ? f->number : (struct impossible){ .text = NULL };
    if (r->problem && !isnan(r->run_start_ms) && !isnan(r->run_stop_ms))
        found = (struct impossible){ 0, "run_stop",
            arena_printf(f->a, "%s (run_start %.15g ms, run_stop %.15g ms): impossible, refused by podbench", r->problem, r->run_start_ms,
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

/* Warns of an unknown status. It passes the official check, but the run counts as not converged. */
static void warn_of_status(struct log_judgement *out, struct arena *a)
{
    const char *status = out->run.status;
    if (status && !text_is(status, "success") && !text_is(status, "aborted"))
        compliance_say(&out->compliance, (struct log_message){ SEVERITY_WARNING, 0, "run_stop",
            arena_printf(a, "status '%.60s' is neither success nor aborted: taken for a run that did not converge", status) }, a);
}

/* Warns of repeated lines that the official checkers ignore, and says which of them counts. */
static void warn_of_repeats(const struct log_facts *f)
{
    const struct run_log *r = &f->out->run;
    struct compliance *c = &f->out->compliance;
    if (f->n_lost)
        compliance_say(c, (struct log_message){ SEVERITY_WARNING, f->lost_line, "", arena_printf(f->a, "holds several records, of which only the last counts"
                       " (%" PRIu64 " such line%s in this log)", f->n_lost, plural(f->n_lost)) }, f->a);
    if (r->n_run_starts > 1)
        compliance_say(c, (struct log_message){ SEVERITY_WARNING, r->run_start_line, "run_start", "is the one that is scored: the last before run_stop" }, f->a);
    if (r->other_stop_line)
        compliance_say(c, (struct log_message){ SEVERITY_WARNING, r->other_stop_line, "run_stop", arena_printf(f->a, "has another status than the one before: "
                       "the first run_stop ends the time, the last says whether the run converged, here '%.60s'", r->status ? r->status : "") }, f->a);
}

static void refuse_second_run(const struct log_facts *f)
{
    struct compliance *c = &f->out->compliance;
    if (!f->second_run_line)
        return;
    compliance_say(c, (struct log_message){ SEVERITY_ERROR, f->second_run_line, "init_start",
                   "a second run begins here, after run_stop: a log holds one run, so split the file" }, f->a);
    c->passed = false;
}

/* Adds notes for reviewers, which fail nothing. */
static void add_review_notes(const struct log_facts *f)
{
    struct compliance *c = &f->out->compliance;
    if (f->out->edition->framework_log && f->n_other_lines == 0 && f->out->run.n_lines)
        compliance_say(c, (struct log_message){ SEVERITY_REVIEW, 0, "", "holds records alone: the written rules want the whole log of the framework in it" }, f->a);
    if (f->early_line)
        compliance_say(c, (struct log_message){ SEVERITY_REVIEW, f->early_line, "eval_accuracy", "its time is before run_start" }, f->a);
    if (f->back_line)
        compliance_say(c, (struct log_message){ SEVERITY_REVIEW, f->back_line, "eval_accuracy", "its time is before that of the evaluation before it" }, f->a);
    if (f->other_seed_line)
        compliance_say(c, (struct log_message){ SEVERITY_REVIEW, f->other_seed_line, "seed",
            arena_printf(f->a, "differs from the first seed of the log, %s", f->first_seed) }, f->a);
}

bool log_judge(struct log_judgement *out, struct judge *j, const char *path, bool follow, const struct edition *edition,
               const char *benchmark, struct arena *a, struct err *err)
{
    struct layer_calls calls;
    struct layer_queue queue;
    const struct rule_book *book;
    *out = (struct log_judgement){ .edition = edition, .batch = NAN, .point = NAN, .last_train_samples = NAN };
    if (!out->edition && !(out->edition = logged_edition(j, path, follow, benchmark, a, err)))
        return false;
    if (!rules_of(&book, &j->library, out->edition, err) || !find_layers(&calls, out, book, path, follow, a, err))
        return false;
    const char *name = benchmark ? benchmark : out->benchmark;
    bool has_terms = name && round_terms_find(&j->rounds, name, out->edition);     /* if the round has no terms, the caller decides */
    if (has_terms && !judge_benchmark(&out->rules, j, out->edition, name, err))
        return false;
    layer_queue_fill(&queue, &calls, book, a);
    if (out->rules && out->rules->has_reference)
        layer_queue_gather(&queue, name, book, a);
    struct log_facts facts = { .out = out, .point = NAN, .a = a };
    struct compliance_run *c = compliance_start(book, &queue, &out->compliance, note_gathered_line, &facts, a);
    if (!read_log_lines(&facts, path, follow, c, &j->options->watch, err))
        return false;
    compliance_end(c, out->run.n_lines);
    if (out->compliance.stopped)
        out->stops = out->compliance.stopped;
    refuse_second_run(&facts);
    refuse_impossible(&facts);
    warn_of_repeats(&facts);
    warn_of_status(out, a);
    add_review_notes(&facts);
    if (j->options->train_samples && out->rules && out->rules->terms->train_samples && !isnan(out->last_train_samples))
        out->point = out->last_train_samples;
    return true;
}
