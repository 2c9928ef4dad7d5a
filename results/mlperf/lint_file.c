/*
 * lint_file.c - one log against the rules: two passes, the first to learn which rules hold, the second to apply them line by line.
 */
#include "results/mlperf/lint_file.h"

#include <math.h>
#include <string.h>

#include "workloads/convergence/eval_schedule.h"

enum { MOST_MESSAGES_A_RULE = 3, MOST_NAMES_SHOWN = 3, MOST_BAD_LINES_SHOWN = 10 };

/* Keys whose place in the file matters. */
static const char *const ordered_keys[] = { "init_start", "init_stop", "run_start", "run_stop" };
enum { N_ORDERED = sizeof ordered_keys / sizeof *ordered_keys };

struct rule_state {
    uint64_t count, n_bad;
    bool passed_once, differs;
    json_t *first_value;
    char last_shown[64];                /* of a check that one line must pass */
    struct name_list tensors;
};

struct evaluations { double first, last; uint64_t n, n_off_schedule, first_off_line; double off_gap; };

struct pass {
    struct lint_report *report;
    struct lint_file *file;
    struct lint_facts *facts;
    const struct lint_options *opt;
    struct rule_set rules;
    struct rule_state *states;
    bool seen[N_ORDERED];
    struct rule_context context;
    bool success;
    double last_point, train_samples;
    struct eval_schedule schedule;
    bool scheduled;
    struct evaluations evals;
    struct arena *a;
};

void lint_add(struct lint_report *r, struct lint_file *f, struct lint_message m, struct arena *a)
{
    r->messages = arena_grow(a, r->messages, r->n_messages, &r->cap_messages, sizeof *r->messages);
    m.path = utf8_text(m.path, a);
    r->messages[r->n_messages++] = m;
    f->n_errors += m.severity == RULE_ERROR;
    f->n_warnings += m.severity == RULE_WARNING;
    f->n_reviews += m.severity == RULE_REVIEW;
}

static void say(struct pass *p, enum rule_severity severity, uint64_t line, const char *key, const char *text)
{
    struct lint_message m = { severity, p->file->path, line, arena_strdup(p->a, key), text };
    lint_add(p->report, p->file, m, p->a);
}

/* ---- first pass: which rules -------------------------------------------------------------------- */

static bool learn_facts(struct lint_facts *out, const char *path, struct arena *a, struct err *err)
{
    struct mllog_reader reader;
    struct mllog_line l;
    const struct { const char *key; const char **slot; } texts[] = {
        { "submission_benchmark", &out->benchmark }, { "submission_division", &out->division }, { "opt_name", &out->optimizer },
    };
    *out = (struct lint_facts){ .global_batch = NAN, .convergence_point = HUGE_VAL };
    if (!mllog_open(&reader, path, err))
        return false;
    for (enum mllog_status s; (s = mllog_next(&reader, &l)) != MLLOG_END; ) {
        for (size_t i = 0; s == MLLOG_LINE && i < sizeof texts / sizeof *texts; i++)
            if (!*texts[i].slot && text_is(l.key, texts[i].key) && json_is_string(l.value))
                *texts[i].slot = arena_strdup(a, json_string_value(l.value));
        double batch;
        if (s == MLLOG_LINE && isnan(out->global_batch) && text_is(l.key, "global_batch_size") && mllog_number_loose(l.value, &batch))
            out->global_batch = batch;
    }
    mllog_close(&reader);
    return true;
}

/* ---- second pass: one line against one rule -------------------------------------------------------- */

static bool seen(const void *state, const char *key)
{
    const struct pass *p = state;
    for (size_t i = 0; i < N_ORDERED; i++)
        if (text_is(ordered_keys[i], key))
            return p->seen[i];
    return false;
}

static void remember_value(struct rule_state *s, const struct mllog_line *l)
{
    s->count++;
    if (!s->first_value)
        s->first_value = json_incref((json_t *)l->value);
    else if (!json_equal(s->first_value, l->value))
        s->differs = true;
}

static void report_bad(struct pass *p, const struct rule *r, struct rule_state *s, const struct mllog_line *l)
{
    char shown[64];
    bool about_value = strcmp(r->check->name, "after") && strcmp(r->check->name, "before") && !strstr(r->check->name, "metadata")
                    && strcmp(r->check->name, "init_within");
    const char *found = about_value ? arena_printf(p->a, "is %s, ", mllog_show(l->value, shown)) : "";
    if (text_is(r->check->name, "init_within") && !isnan(p->context.init_start_ms))
        found = arena_printf(p->a, "%.1f minutes after init_start, ", (l->time_ms - p->context.init_start_ms) / 60e3);
    if (s->n_bad++ < MOST_MESSAGES_A_RULE)
        say(p, r->severity, l->line, l->key, arena_printf(p->a, "%swant %s (%s)", found, rule_want(r, p->a), r->layer));
}

static void take_tensor(struct pass *p, const struct rule *r, struct rule_state *s, const struct mllog_line *l)
{
    const json_t *name = json_object_get(l->metadata, "tensor");
    if (json_is_string(name) && s->tensors.n <= 2 * r->tensors.n)
        name_list_add(&s->tensors, json_string_value(name), p->a);
}

static void apply_rule(struct pass *p, const struct rule *r, struct rule_state *s, const struct mllog_line *l)
{
    if (!text_is(r->key, l->key))
        return;
    remember_value(s, l);
    bool first_only = !strncmp(r->key, "submission_", 11) && s->count > 1;
    if (rule_is_tensors(r))
        take_tensor(p, r, s, l);
    else if (r->check->pass(r, l, &p->context))
        s->passed_once = true;
    else if (!r->check->at_least_one && !first_only)
        report_bad(p, r, s, l);
    else
        mllog_show(l->value, s->last_shown);
}

/* ---- what reviewers look at ---------------------------------------------------------------------------- */

/* A gap may be off by the batch that the evaluation was rounded up to. */
static void review_gap(struct pass *p, double point, uint64_t line)
{
    struct evaluations *e = &p->evals;
    double slack = p->schedule.in_samples ? p->facts->global_batch : 0;
    double gap = e->n ? point - e->last : point, most = e->n ? p->schedule.interval : p->schedule.latest_first;
    bool off = gap > most + slack || (e->n && gap < p->schedule.interval - slack);
    if (off && e->n_off_schedule++ == 0)
        e->first_off_line = line, e->off_gap = gap;
    e->last = point;
    e->n++;
}

static void take_seed(struct pass *p, const struct mllog_line *l)
{
    char value[64], file[64], lineno[64];
    double x;
    if (p->facts->seed)
        return;
    p->facts->seed = arena_printf(p->a, "%s (%s:%s)", mllog_show(l->value, value), mllog_show(json_object_get(l->metadata, "file"), file),
                                  mllog_show(json_object_get(l->metadata, "lineno"), lineno));
    if (!mllog_number_loose(l->value, &x))
        say(p, RULE_REVIEW, l->line, "seed", arena_printf(p->a, "is %s, want a number", value));
}

static void take_facts(struct pass *p, const struct mllog_line *l)
{
    double x;
    if (text_is(l->key, "submission_division") && !p->context.division && json_is_string(l->value))
        p->context.division = arena_strdup(p->a, json_string_value(l->value));
    else if (text_is(l->key, "seed"))
        take_seed(p, l);
    else if (text_is(l->key, "train_samples") && mllog_number_loose(l->value, &x))
        p->train_samples = x;
    else if (text_is(l->key, "run_stop") && !p->seen[3])
        p->success = text_is(json_string_value(json_object_get(l->metadata, "status")), "success");
    else if (text_is(l->key, "eval_accuracy") && !p->seen[3] && mllog_number_loose(json_object_get(l->metadata, "epoch_num"), &x)) {
        p->last_point = x;
        if (p->scheduled)
            review_gap(p, x, l->line);
    }
    if (text_is(l->key, "init_start") && isnan(p->context.init_start_ms))
        p->context.init_start_ms = l->time_ms;
}

static void mark_seen(struct pass *p, const char *key)
{
    for (size_t i = 0; i < N_ORDERED; i++)
        if (text_is(ordered_keys[i], key))
            p->seen[i] = true;
}

static void review_file(struct pass *p)
{
    const struct evaluations *e = &p->evals;
    const char *unit = p->schedule.in_samples ? "samples" : "epochs";
    if (!text_is(p->facts->division, "closed"))
        return;
    if (!p->facts->seed)
        say(p, RULE_REVIEW, 0, "seed", "is not logged, want one in every file of the closed division");
    if (p->scheduled && e->n > 1 && e->last == 1 && p->schedule.in_samples)
        say(p, RULE_REVIEW, 0, "eval_accuracy", "epoch_num does not count samples: the evaluation schedule cannot be seen");
    else if (e->n_off_schedule)
        say(p, RULE_REVIEW, e->first_off_line, "eval_accuracy", arena_printf(p->a,
            "%.10g %s after the one before, want evaluations every %.10g %s (%llu of %llu are off the schedule)", e->off_gap, unit,
            p->schedule.interval, unit, (unsigned long long)e->n_off_schedule, (unsigned long long)e->n));
}

/* ---- the end of the file: how often, at least once, all tensors -------------------------------------------- */

static uint64_t count_of(const struct pass *p, const char *key)
{
    for (size_t i = 0; key && i < p->rules.n; i++)
        if (text_is(p->rules.items[i].key, key))
            return p->states[i].count;
    return 0;
}

static void check_count(struct pass *p, const struct rule *r, const struct rule_state *s)
{
    if (r->occurs == OCCURS_AT_LEAST_ONCE && s->count == 0 && count_of(p, r->instead) == 0)
        say(p, r->severity, 0, r->key, arena_printf(p->a, "is not logged, want it at least once%s%s (%s)", r->instead ? ", or " : "",
                                                    r->instead ? r->instead : "", r->layer));
    if (r->occurs == OCCURS_ONCE && s->count == 0)
        say(p, r->severity, 0, r->key, arena_printf(p->a, "is not logged, want it exactly once (%s)", r->layer));
    if (r->occurs == OCCURS_ONCE && s->count > 1)
        say(p, s->differs ? r->severity : RULE_WARNING, 0, r->key, arena_printf(p->a, "is logged %llu times%s, want it exactly once (%s)",
            (unsigned long long)s->count, s->differs ? " with different values" : " with one value", r->layer));
}

/* Walks two sorted lists; names what one has and the other has not. */
static void check_tensors(struct pass *p, const struct rule *r, struct rule_state *s)
{
    const char *missing = "", *extra = "";
    size_t i = 0, j = 0, n_missing = 0, n_extra = 0;
    name_list_sort(&s->tensors);
    while (i < r->tensors.n || j < s->tensors.n) {
        int order = i == r->tensors.n ? 1 : j == s->tensors.n ? -1 : strcmp(r->tensors.names[i], s->tensors.names[j]);
        if (order < 0 && n_missing++ < MOST_NAMES_SHOWN)
            missing = arena_printf(p->a, "%s %s", missing, r->tensors.names[i]);
        if (order > 0 && n_extra++ < MOST_NAMES_SHOWN)
            extra = arena_printf(p->a, "%s %.60s", extra, s->tensors.names[j]);
        i += order <= 0;
        j += order >= 0;
    }
    if (n_missing)
        say(p, r->severity, 0, r->key, arena_printf(p->a, "%zu of %zu tensors not listed:%s%s (%s)", n_missing, r->tensors.n, missing,
                                                    n_missing > MOST_NAMES_SHOWN ? " ..." : "", r->layer));
    if (n_extra)
        say(p, r->severity, 0, r->key, arena_printf(p->a, "%zu tensors unknown or listed twice:%s%s (%s)", n_extra, extra,
                                                    n_extra > MOST_NAMES_SHOWN ? " ..." : "", r->layer));
}

static void finish_rules(struct pass *p)
{
    for (size_t i = 0; i < p->rules.n; i++) {
        const struct rule *r = &p->rules.items[i];
        struct rule_state *s = &p->states[i];
        check_count(p, r, s);
        if (r->check->at_least_one && s->count > 0 && !s->passed_once)
            say(p, r->severity, 0, r->key, arena_printf(p->a, "none of %llu values passes, the last is %s, want %s (%s)",
                (unsigned long long)s->count, s->last_shown, rule_want(r, p->a), r->layer));
        if (rule_is_tensors(r))
            check_tensors(p, r, s);
        if (s->n_bad > MOST_MESSAGES_A_RULE)
            say(p, r->severity, 0, r->key, arena_printf(p->a, "%llu more lines like it",
                                                        (unsigned long long)s->n_bad - MOST_MESSAGES_A_RULE));
        json_decref(s->first_value);
    }
}

static bool read_lines(struct pass *p, struct err *err)
{
    struct mllog_reader reader;
    struct mllog_line l;
    uint64_t n_lines = 0, n_bad = 0;
    if (!mllog_open(&reader, p->file->path, err))
        return false;
    for (enum mllog_status s; (s = mllog_next(&reader, &l)) != MLLOG_END; n_lines++) {
        if (s == MLLOG_BAD_LINE && n_bad++ >= MOST_BAD_LINES_SHOWN)
            continue;
        if (s == MLLOG_BAD_LINE) {
            say(p, RULE_ERROR, reader.line, "", arena_strdup(p->a, reader.problem));
            continue;
        }
        take_facts(p, &l);
        for (size_t i = 0; i < p->rules.n; i++)
            apply_rule(p, &p->rules.items[i], &p->states[i], &l);
        mark_seen(p, l.key);
    }
    mllog_close(&reader);
    if (n_bad > MOST_BAD_LINES_SHOWN)
        say(p, RULE_ERROR, 0, "", arena_printf(p->a, "%llu more lines that cannot be read",
                                               (unsigned long long)n_bad - MOST_BAD_LINES_SHOWN));
    if (n_lines == 0)
        say(p, RULE_ERROR, 0, "", "has no :::MLLOG line");
    else
        finish_rules(p);
    return true;
}

bool lint_one(struct lint_report *r, struct lint_file *f, struct lint_facts *facts, const struct lint_options *opt, struct arena *a,
              struct err *err)
{
    struct pass p = { .report = r, .file = f, .facts = facts, .opt = opt, .a = a, .last_point = NAN, .train_samples = NAN };
    if (!learn_facts(facts, f->path, a, err))
        return false;
    if (!rules_load(&p.rules, opt->ruleset, facts->division, facts->benchmark, facts->optimizer, opt->rules_dir, a, err))
        return false;
    p.states = ARENA_ARRAY(a, struct rule_state, p.rules.n);
    p.context = (struct rule_context){ .seen = seen, .state = &p, .init_start_ms = NAN };
    p.scheduled = eval_schedule_of(&p.schedule, facts->benchmark, facts->global_batch);
    if (!read_lines(&p, err))
        return false;
    review_file(&p);
    if (p.success)
        facts->convergence_point = opt->count_train_samples && text_is(facts->benchmark, "bert") ? p.train_samples : p.last_point;
    f->passed = f->n_errors == 0;
    return true;
}
