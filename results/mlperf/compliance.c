/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compliance.c - one log against the rules of an edition, as the official compliance checker judges it; see mlperf_internal.h.
 *
 * Source: mlcommons/logging, mlp_compliance of each edition. If a later layer has a rule for a key, the findings of earlier layers about that
 * key do not count. Three kinds of findings always count: no line fulfils ONCE, a group is missing, and a check at the end fails.
 */
#include "results/mlperf/mlperf_internal.h"

enum { MOST_SHOWN = 3, MOST_GATHERED = 4096, MOST_NAMES = 100000 };

const char *const severity_names[3] = { "error", "warning", "review" };

void compliance_say(struct compliance *c, struct log_message m, struct arena *a)
{
    ARENA_APPEND(a, c->messages, c->n_messages, c->cap_messages, m);
    c->n_errors += m.severity == SEVERITY_ERROR;
    c->n_warnings += m.severity == SEVERITY_WARNING;
}

/* ---- states ---------------------------------------------------------------------------------------------- */

struct finding { uint64_t line; const char *text; };

/* The findings of one layer about one key. */
struct key_state {
    uint64_t count, n_bad, last_line;
    struct finding bad[MOST_SHOWN];
    bool fulfilled, differs;            /* fulfilled: some line fulfils `once`; differs: the key's values differ */
    json_t *first_value;
    char last_shown[MLLOG_SHOWN_BYTES];
};

struct gathered { json_t *by, *object; };

struct layer_run {
    const struct rule_layer *layer;
    struct rule_state st;
    struct key_state *keys;             /* one state for each rule's key */
    const struct action *gather;
    bool only_gathers;                  /* a layer that only gathers values judges nothing */
    struct gathered *groups;
    size_t n_groups, cap_groups;
};

/* The keys of the log for which no layer has a rule, each with its first line. */
enum { MOST_UNKNOWN = 256 };
struct unknown_keys { const char *names[MOST_UNKNOWN]; uint64_t lines[MOST_UNKNOWN]; size_t n; };

struct compliance_run {
    const struct rule_book *book;
    struct layer_run layers[MOST_LAYERS];
    size_t n_layers;
    const char *stopped;                /* why the official checker would end with an exception; NULL if it would not */
    uint64_t n_bad_lines;
    struct unknown_keys unknown;
    struct compliance *out;
    line_observer *observer;            /* receives gathered lines; may be NULL */
    void *user;
    struct arena *a;
};

static void say(struct compliance_run *r, enum severity severity, uint64_t line, const char *key, const char *text)
{
    compliance_say(r->out, (struct log_message){ severity, line, key, text }, r->a);
}

static void stop_checker(struct compliance_run *r, const char *why)
{
    if (!r->stopped)
        r->stopped = why;
}

/* ---- actions ------------------------------------------------------------------------------------------------- */

/* Sets a state to a value. Values other than numbers, truth values and lists of names become null, which equals no number. */
static void action_set(struct compliance_run *r, struct layer_run *l, const struct action *act, const struct rule_scope *s)
{
    struct value v;
    if (!expression_compute(&v, &act->value, s->variables))
        return;
    if (v.kind == VALUE_TEXT || v.kind == VALUE_OBJECT)
        v = (struct value){ .kind = VALUE_NULL };
    if (!rule_state_set(&l->st, act->name, &v))
        stop_checker(r, "the rules keep more states than a log can have");
}

static void action_append(struct compliance_run *r, struct layer_run *l, const struct action *act, const struct rule_scope *s)
{
    struct value v, *list = rule_state_find(&l->st, act->name);
    struct name_list *names = list ? (struct name_list *)value_names(list) : NULL;     /* run_actions() made the list, so it may be changed */
    if (!names || !expression_compute(&v, &act->value, s->variables))
        return;
    if (names->n >= MOST_NAMES)
        stop_checker(r, "more names are listed than any model has");
    else
        name_list_add(names, v.kind == VALUE_TEXT ? v.text : "", r->a);
}

static void run_actions(struct compliance_run *r, struct layer_run *l, const struct rule *rule, const struct rule_scope *s)
{
    for (size_t i = 0; i < rule->n_actions; i++) {
        const struct action *a = &rule->actions[i];
        struct value names;
        switch (a->kind) {
        case ACTION_SET: action_set(r, l, a, s); break;
        case ACTION_APPEND: action_append(r, l, a, s); break;
        case ACTION_GATHER: l->gather = a; break;
        case ACTION_NEW_NAMES:
            names = value_of_names(ARENA_NEW(r->a, struct name_list));
            rule_state_set(&l->st, a->name, &names);
            break;
        case ACTION_APPLY: break;       /* the first reading of the log has applied it */
        }
    }
}

/* ---- one line ---------------------------------------------------------------------------------------------------- */

static bool mentions_value(const char *text)
{
    for (const char *at = text; (at = strchr(at, 'v')); at++)
        if ((at == text || !strchr("_.abcdefghijklmnopqrstuvwxyz\"", at[-1])) && !strchr("_abcdefghijklmnopqrstuvwxyz", at[1] ? at[1] : ' '))
            return true;
    return false;
}

/* The end of a message about a condition that computes a number: the number wanted in this log and the one found, such as
   ", here 1199872 and not 1200000". It is "" if the condition computes no number, and says so if a line that it needs is missing. */
static const char *computed_demand(const struct rule_check *check, const struct rule_scope *s, struct arena *a)
{
    struct expression left, wanted;
    struct value x, v;
    if (!expression_asks_computed(&left, &wanted, &check->condition))
        return "";
    if (!expression_compute(&v, &wanted, s->variables) || v.kind != VALUE_NUMBER)
        return ", which cannot be computed here: a line that it needs is missing before this one";
    const char *here = arena_printf(a, ", here %.10g", v.number);
    if (mentions_value(check->condition.text) || !expression_compute(&x, &left, s->variables) || x.kind != VALUE_NUMBER)
        return here;
    return arena_printf(a, "%s and not %.10g", here, x.number);
}

/* A hint if a demand such as has(m.samples_count) meets a similar member: ", which has sample_count: is it misspelt?". */
static const char *misspelt_member(const struct rule_check *check, const json_t *metadata, struct arena *a)
{
    static const char asked[] = "has(m.";
    const char **members = ARENA_ROOM(a, const char *, json_object_size(metadata) + 1), *name, *near = NULL;
    size_t n = 0;
    json_t *value;
    json_object_foreach((json_t *)metadata, name, value)
        members[n++] = name;
    for (const char *at = check->condition.text; !near && (at = strstr(at, asked)); at++)
        near = names_within(members, n, arena_printf(a, "%.*s", (int)strcspn(at + sizeof asked - 1, ")"), at + sizeof asked - 1), 5);
    return near ? arena_printf(a, ", which has %s: is it misspelt?", near) : "";
}

static void note_failed_check(struct compliance_run *r, const struct rule *rule, struct key_state *k, const struct rule_check *check,
                     const struct mllog_line *l, const struct rule_scope *s)
{
    char shown[MLLOG_SHOWN_BYTES];
    double number;
    if (k->n_bad++ >= MOST_SHOWN)
        return;
    bool is_text = json_is_string(l->value) && parse_f64(json_string_value(l->value), &number);
    const char *is = !mentions_value(check->condition.text) ? "" : arena_printf(r->a, "is %s%s, ", is_text ? "the text " : "", mllog_show(l->value, shown));
    const char *here = arena_printf(r->a, "%s%s", computed_demand(check, s, r->a), misspelt_member(check, l->metadata, r->a));
    k->bad[k->n_bad - 1] = (struct finding){ l->line, arena_printf(r->a, "%s%s", is, rule_wants(check, here, rule, r->book->edition, r->a)) };
}

static void count_line(struct key_state *k, const struct mllog_line *l)
{
    k->count++, k->last_line = l->line;
    if (!k->first_value) {
        k->first_value = json_incref((json_t *)l->value);
        return;
    }
    struct value a = value_of_json(k->first_value), b = value_of_json(l->value);
    k->differs = k->differs || !values_equal(&a, &b);
}

static void judge_key(struct compliance_run *r, struct layer_run *layer, const struct rule *rule, struct key_state *k,
                      const struct mllog_line *l)
{
    struct rule_scope s = rule_scope_of(l->value, l->metadata, l->time_ms, &layer->st);
    count_line(k, l);
    if (k->count > 1 && rule_judges_first(r->book->edition, rule->key))
        return;
    for (size_t i = 0; i < rule->n_checks; i++)
        if (expression_holds(&rule->checks[i].condition, s.variables) != TRUTH_YES)
            note_failed_check(r, rule, k, &rule->checks[i], l, &s);
    run_actions(r, layer, rule, &s);
    if (!rule->once.text)
        return;
    enum truth t = expression_holds(&rule->once.condition, s.variables);
    k->fulfilled = k->fulfilled || t == TRUTH_YES;
    mllog_show(l->value, k->last_shown);
    if (t == TRUTH_NONE && !r->stopped)     /* a stopped checker reports only the first such line */
        stop_checker(r, arena_printf(r->a, "line %llu: %s is %s, and %s cannot be computed", (unsigned long long)l->line, rule->key, k->last_shown,
                             rule->once.condition.text));
}

/* ---- gathering: the measures of one evaluation, logged on lines of their own, as one line at the end ---------------- */

static struct gathered *gathered_group(struct compliance_run *r, struct layer_run *l, json_t *by)
{
    struct value wanted = value_of_json(by), have;
    for (size_t i = l->n_groups; i-- > 0; ) {
        have = value_of_json(l->groups[i].by);
        if (values_equal(&wanted, &have))
            return &l->groups[i];
    }
    if (l->n_groups == MOST_GATHERED)
        return NULL;
    l->groups = arena_grow(r->a, l->groups, l->n_groups, &l->cap_groups, sizeof *l->groups);
    l->groups[l->n_groups] = (struct gathered){ json_incref(by), json_object() };
    json_object_set(l->groups[l->n_groups].object, l->gather->member, by);
    return &l->groups[l->n_groups++];
}

static void gather_line(struct compliance_run *r, struct layer_run *layer, const struct mllog_line *l)
{
    char shown[MLLOG_SHOWN_BYTES];
    const json_t *metric = json_object_get(l->metadata, "metric");
    json_t *by = json_object_get(l->metadata, layer->gather->member);
    if (!metric)
        return;
    struct gathered *g = by ? gathered_group(r, layer, by) : NULL;
    if (!g && !r->stopped)
        stop_checker(r, arena_printf(r->a, "line %llu: %s %s", (unsigned long long)l->line, l->key,
                             by ? "is one of too many evaluations" : arena_printf(r->a, "has a metric without '%s'", layer->gather->member)));
    else if (g)
        json_object_set(g->object, json_is_string(metric) ? json_string_value(metric) : mllog_show(metric, shown), (json_t *)l->value);
}

static void judge_gathered_lines(struct compliance_run *r, struct layer_run *l)
{
    size_t at;
    if (!l->gather)
        return;
    const struct rule *rule = rule_find(l->layer, l->gather->name, &at);
    json_t *none = json_object();
    for (size_t i = 0; i < l->n_groups; i++) {
        struct mllog_line line = { .key = l->gather->name, .event_type = "", .value = l->groups[i].object, .metadata = none };
        if (rule && !l->only_gathers)
            judge_key(r, l, rule, &l->keys[at], &line);
        if (r->observer)
            r->observer(r->user, &line);
        json_decref(l->groups[i].by);
        json_decref(l->groups[i].object);
    }
    json_decref(none);
}

/* ---- start and lines ---------------------------------------------------------------------------------------------------- */

struct compliance_run *compliance_start(const struct rule_book *b, const struct layer_queue *q, struct compliance *out, line_observer *observer, void *user,
                                        struct arena *a)
{
    struct compliance_run *r = ARENA_NEW(a, struct compliance_run);
    r->observer = observer, r->user = user;
    *out = (struct compliance){ .passed = false };
    r->book = b, r->out = out, r->a = a, r->n_layers = q->n;
    if (q->missing)
        stop_checker(r, arena_printf(a, "there are no rules '%s' in %s", q->missing, b->edition->ruleset));
    for (size_t i = 0; i < q->n; i++) {
        r->layers[i] = (struct layer_run){ .layer = q->layers[i], .only_gathers = q->gathers_last && i == q->n - 1, .keys = ARENA_ARRAY(a, struct key_state, q->layers[i]->n_rules) };
        struct rule_scope s = rule_scope_of(NULL, NULL, 0, &r->layers[i].st);
        for (size_t k = 0; k < q->layers[i]->n_begins; k++)
            run_actions(r, &r->layers[i], q->layers[i]->begins[k], &s);
    }
    return r;
}

static void note_unknown_key(struct compliance_run *r, const struct mllog_line *l)
{
    struct unknown_keys *u = &r->unknown;
    for (size_t i = 0; i < u->n; i++)
        if (text_is(u->names[i], l->key))
            return;
    if (u->n == MOST_UNKNOWN)
        return;
    u->names[u->n] = arena_strdup(r->a, l->key);
    u->lines[u->n++] = l->line;
}

void compliance_line(struct compliance_run *r, const struct mllog_line *l)
{
    size_t at;
    bool known = false;
    for (size_t i = 0; i < r->n_layers; i++) {
        const struct rule *rule = r->layers[i].only_gathers ? NULL : rule_find(r->layers[i].layer, l->key, &at);
        if (rule)
            judge_key(r, &r->layers[i], rule, &r->layers[i].keys[at], l);
        bool gathers = r->layers[i].gather && text_is(r->layers[i].gather->key, l->key);
        if (gathers)
            gather_line(r, &r->layers[i], l);
        known = known || rule || gathers;
    }
    if (!known)
        note_unknown_key(r, l);
}

void compliance_bad_line(struct compliance_run *r, uint64_t line, const char *problem)
{
    if (r->n_bad_lines++ < 10)
        say(r, SEVERITY_ERROR, line, "", arena_strdup(r->a, problem));
}

/* ---- the end --------------------------------------------------------------------------------------------------------------- */

/* True if a later layer has a rule for the key, so that this layer's findings do not count. */
static bool overridden(const struct compliance_run *r, size_t layer, const char *key)
{
    size_t at;
    for (size_t i = layer + 1; i < r->n_layers; i++)
        if (!r->layers[i].layer->reviews && !r->layers[i].only_gathers && rule_find(r->layers[i].layer, key, &at))
            return true;
    return false;
}

static enum severity severity_of(const struct rule *rule)
{
    return rule->only_reviews ? SEVERITY_REVIEW : rule->only_warns ? SEVERITY_WARNING : SEVERITY_ERROR;
}

static const char *with_place(const struct compliance_run *r, const struct rule *rule, const char *text)
{
    return arena_printf(r->a, "%s (%s %s)", text, r->book->edition->ruleset, rule->layer);
}

static void report_count(struct compliance_run *r, const struct rule *rule, const struct key_state *k)
{
    unsigned long long n = k->count;
    enum severity absent = rule->absent_warns ? SEVERITY_WARNING : severity_of(rule);
    if (rule->occurs == OCCURS_ONCE && n == 0)
        say(r, absent, 0, rule->key, with_place(r, rule, "is not logged, want it exactly once"));
    else if (rule->occurs == OCCURS_ONCE && n > 1)
        say(r, k->differs ? SEVERITY_ERROR : SEVERITY_WARNING, 0, rule->key,
            with_place(r, rule, arena_printf(r->a, "is logged %llu times with %s, the last on line %llu, want it exactly once", n,
                                         k->differs ? "different values" : "one value", (unsigned long long)k->last_line)));
    else if (rule->occurs == OCCURS_TIMES && n < rule->at_least)
        say(r, absent, 0, rule->key,
            with_place(r, rule, n || rule->at_least > 1 ? arena_printf(r->a, "is logged %llu time%s, want it at least %llu times", n, plural(n),
                                                                   (unsigned long long)rule->at_least)
                                                    : "is not logged, want it at least once"));
}

static void report_once(struct compliance_run *r, const struct rule *rule, const struct key_state *k)
{
    if (rule->once.text && k->count > 0 && !k->fulfilled)
        say(r, SEVERITY_ERROR, 0, rule->key,
            arena_printf(r->a, "none of %llu value%s is enough: the last is %s, one %s", (unsigned long long)k->count,
                         plural(k->count), k->last_shown, rule_wants(&rule->once, "", rule, r->book->edition, r->a)));
}

static void report_key(struct compliance_run *r, size_t layer, const struct rule *rule, const struct key_state *k)
{
    report_once(r, rule, k);
    if (overridden(r, layer, rule->key))
        return;
    for (size_t i = 0; i < k->n_bad && i < MOST_SHOWN; i++)
        say(r, severity_of(rule), k->bad[i].line, rule->key, k->bad[i].text);
    if (k->n_bad > MOST_SHOWN)
        say(r, severity_of(rule), 0, rule->key,
            arena_printf(r->a, "and on %llu more lines", (unsigned long long)(k->n_bad - MOST_SHOWN)));
    report_count(r, rule, k);
}

/* The keys of a rule's group as "a or b"; "" if it has none. */
static const char *any_of_names(const struct rule *rule, struct arena *a)
{
    const char *names = "";
    for (size_t i = 0; i < rule->n_of; i++)
        names = arena_printf(a, "%s%s%s", names, *names ? " or " : "", rule->any_of[i]);
    return names;
}

/* Reports a group of which the log has no key; each group is reported once. */
static void report_group(struct compliance_run *r, const struct layer_run *l, size_t rule_index)
{
    const struct rule *rule = l->layer->rules[rule_index];
    size_t at;
    for (size_t i = 0; i < rule->n_of; i++)
        if (rule_find(l->layer, rule->any_of[i], &at) && l->keys[at].count > 0)
            return;
    if (l->keys[rule_index].count > 0)
        return;
    const char *names = any_of_names(rule, r->a);
    for (size_t i = 0; i < rule_index; i++)
        if (text_is(any_of_names(l->layer->rules[i], r->a), names))
            return;
    say(r, SEVERITY_ERROR, 0, names, with_place(r, rule, "is not logged, want one of them at least once"));
}

/* Compares two sorted lists, and names the first few entries that only one of them has. */
static const char *names_differ(const struct name_list *logged, const struct name_list *wanted, struct arena *a)
{
    const char *missing = "", *extra = "";
    size_t i = 0, j = 0, n_missing = 0, n_extra = 0;
    while (i < wanted->n || j < logged->n) {
        bool is_missing = j == logged->n || (i < wanted->n && strcmp(wanted->names[i], logged->names[j]) < 0);
        bool is_extra = i == wanted->n || (j < logged->n && strcmp(wanted->names[i], logged->names[j]) > 0);
        if (is_missing && n_missing++ < MOST_SHOWN)
            missing = arena_printf(a, "%s %s", missing, wanted->names[i]);
        if (is_extra && n_extra++ < MOST_SHOWN)
            extra = arena_printf(a, "%s %.60s", extra, logged->names[j]);
        i += !is_extra;
        j += !is_missing;
    }
    if (n_missing)
        missing = arena_printf(a, "%zu of %zu names not listed:%s%s; ", n_missing, wanted->n, missing, n_missing > MOST_SHOWN ? " ..." : "");
    if (n_extra)
        extra = arena_printf(a, "%zu unknown or listed twice:%s%s; ", n_extra, extra, n_extra > MOST_SHOWN ? " ..." : "");
    return arena_printf(a, "%s%s", missing, extra);
}

static void finish_checks(struct compliance_run *r, struct layer_run *l, const struct rule *rule)
{
    struct rule_scope s = rule_scope_of(NULL, NULL, 0, &l->st);
    for (size_t i = 0; i < rule->n_checks; i++) {
        const struct expression *e = &rule->checks[i].condition;
        struct expression left;
        struct value logged, wanted;
        if (expression_holds(e, s.variables) == TRUTH_YES)
            continue;
        bool are_names = expression_asks_constant(&left, &wanted, e) && value_names(&wanted) && expression_compute(&logged, &left, s.variables)
                      && value_names(&logged);
        const char *why = are_names ? names_differ(value_names(&logged), value_names(&wanted), r->a) : "";
        say(r, severity_of(rule), 0, "",
            arena_printf(r->a, "%s%s", why, rule_wants(&rule->checks[i], "", rule, r->book->edition, r->a)));
    }
    run_actions(r, l, rule, &s);
}

static void finish_layer(struct compliance_run *r, size_t index)
{
    struct layer_run *l = &r->layers[index];
    judge_gathered_lines(r, l);
    for (size_t i = 0; i < l->layer->n_rules && !l->only_gathers; i++) {
        report_key(r, index, l->layer->rules[i], &l->keys[i]);
        if (l->layer->rules[i]->occurs == OCCURS_ANY_OF)
            report_group(r, l, i);
        json_decref(l->keys[i].first_value);
    }
    for (size_t i = 0; i < l->layer->n_ends && !l->only_gathers; i++)
        finish_checks(r, l, l->layer->ends[i]);
}

/* Suggests a key that the log lacks for each similar unknown key, which is probably misspelt. */
static void suggest_keys(struct compliance_run *r)
{
    const char **missing = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < r->n_layers; i++)
        for (size_t k = 0; k < r->layers[i].layer->n_rules && !r->layers[i].only_gathers; k++)
            if (r->layers[i].keys[k].count == 0) {
                ARENA_APPEND(r->a, missing, n, cap, r->layers[i].layer->rules[k]->key);
            }
    for (size_t i = 0; i < r->unknown.n; i++) {
        const char *near = names_within(missing, n, r->unknown.names[i], strlen(r->unknown.names[i]) < 16 ? 5 : 8);
        if (near)
            say(r, SEVERITY_REVIEW, r->unknown.lines[i], r->unknown.names[i],
                arena_printf(r->a, "is not a key of the rules; did you mean %s, which is not logged?", near));
    }
}

void compliance_end(struct compliance_run *r, uint64_t n_lines)
{
    struct compliance *out = r->out, unsaid = { .passed = false };
    if (n_lines == 0)
        r->out = &unsaid;               /* a log without lines gets only the message below */
    for (size_t i = 0; i < r->n_layers; i++)
        finish_layer(r, i);
    suggest_keys(r);
    r->out = out;
    if (n_lines == 0)
        say(r, SEVERITY_ERROR, 0, "", "has no :::MLLOG line");
    else if (r->stopped)
        say(r, SEVERITY_ERROR, 0, "", arena_printf(r->a, "the official checker stops here: %s", r->stopped));
    out->stopped = r->stopped;
    out->passed = out->n_errors == 0;
}
