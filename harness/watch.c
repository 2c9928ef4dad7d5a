/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watch.c - podbench watch: whether a measured series has changed, and where.
 *
 * The series is a column of a table, oldest value first: scores, step times, anything. Every change is listed. A change
 * for the worse, or of unknown direction, fails until it is taken out of the table, or accepted by cutting the rows
 * before it.
 */
#include "harness/harness.h"
#include "results/history/history.h"
#include "results/simulate/result.h"
#include <math.h>
#include <string.h>

struct watched { const char *path, *metric; double *x; uint32_t *lines; const char **labels; size_t n; struct series_rule rule; };

static bool read_series(struct watched *w, const char *path, const char *metric, struct arena *a, struct err *err)
{
    static const double largest = 1e300;        /* the sum of two is still finite */
    struct csv_table t;
    if (!csv_load(&t, path, a, err))
        return false;
    size_t at = t.n_columns - 1;
    if (metric && !csv_column(&at, &t, metric, err))
        return false;
    *w = (struct watched){ .path = path, .metric = t.columns[at], .x = ARENA_ARRAY(a, double, t.n_rows),
                           .lines = ARENA_ARRAY(a, uint32_t, t.n_rows), .labels = ARENA_ARRAY(a, const char *, t.n_rows), .n = t.n_rows };
    for (size_t i = 0; i < t.n_rows; i++) {
        w->lines[i] = t.rows[i].line;
        w->labels[i] = at > 0 ? t.rows[i].cells[0] : "";
        if (!parse_f64(t.rows[i].cells[at], &w->x[i]))
            return fail(err, "%s:%u: %s: '%.60s' is not a number", path, t.rows[i].line, w->metric, t.rows[i].cells[at]);
        if (fabs(w->x[i]) > largest)
            return fail(err, "%s:%u: %s: %g is outside %g to %g", path, t.rows[i].line, w->metric, w->x[i], -largest, largest);
    }
    return true;
}

/* Judged by the metric's name: that of a result's column, or a word in it. */
static enum better better_of(const char *metric)
{
    static const struct { const char *word; enum better better; } words[] = {
        { "throughput", HIGHER }, { "samples_per_s", HIGHER }, { "per_s", HIGHER }, { "accuracy", HIGHER }, { "mfu", HIGHER }, { "minutes", LOWER },
        { "time", LOWER }, { "latency", LOWER }, { "seconds", LOWER }, { "_ms", LOWER }, { "_s", LOWER }, { "loss", LOWER }, { "error", LOWER },
        { "bytes", LOWER },
    };
    enum better of_column = result_column_better(metric);
    for (size_t i = 0; !of_column && i < sizeof words / sizeof *words; i++)
        if (strstr(metric, words[i].word))
            of_column = words[i].better;
    return of_column;
}

static bool read_rule(struct series_rule *rule, const char *metric, const struct options *o, struct err *err)
{
    *rule = (struct series_rule){ .better = (int)better_of(metric) };
    if (o->better && !text_is(o->better, "higher") && !text_is(o->better, "lower") && !text_is(o->better, "unknown"))
        return fail(err, "--better: '%.40s' is none of: higher, lower, unknown", o->better);
    if (o->better)
        rule->better = text_is(o->better, "higher") - text_is(o->better, "lower");
    if (o->least_change && (!parse_f64(o->least_change, &rule->least_change) || rule->least_change < 0))
        return fail(err, "--least-change: '%.40s' is not a share from 0 up, as in 0.01 for 1 %%", o->least_change);
    return true;
}

static bool is_alarm(const struct series_change *c)
{
    return c->verdict == SERIES_WORSE || c->verdict == SERIES_CHANGED;
}

static const char *describe(const struct watched *w, const struct series_change *c, struct arena *a)
{
    return arena_printf(a, "%s %s: %.6g before, %.6g after (%s), since line %u%s%s%s, noticed at line %u", w->metric,
                        series_verdict_names[c->verdict], c->before, c->after, change_text(c->before, c->after, 2, a), w->lines[c->from],
                        *w->labels[c->from] ? " (" : "", w->labels[c->from], *w->labels[c->from] ? ")" : "", w->lines[c->found]);
}

struct watch_line { const char *verdict, *label; uint32_t from_line, found_line; double before, after, correlation; };
#define C(member) { COLUMN(struct watch_line, member) }
static const struct table_column change_columns[] = {
    C(verdict), C(from_line), C(found_line), C(label), C(before), C(after), C(correlation),
};
#undef C
struct series_line { const char *series, *metric, *better; uint64_t points; };
#define C(member) { COLUMN(struct series_line, member) }
static const struct table_column series_columns[] = { C(series), C(metric), C(points), C(better) };
#undef C

static void add_json(struct document *d, const struct watched *w, const struct series_change *c, size_t n)
{
    struct table *head = document_table(d, TABLE(series_columns, struct series_line)), *changes = document_table(d, TABLE(change_columns, struct watch_line));
    head->is_object = true, changes->name = "changes";
    head->formats = changes->formats = IN_JSON;
    table_add(head, &(struct series_line){ w->path, w->metric, w->rule.better > 0 ? "higher" : w->rule.better < 0 ? "lower" : "unknown", w->n }, d->arena);
    for (size_t i = 0; i < n; i++)
        table_add(changes, &(struct watch_line){ series_verdict_names[c[i].verdict], w->labels[c[i].from], w->lines[c[i].from], w->lines[c[i].found],
                                                  c[i].before, c[i].after, c[i].correlation }, d->arena);
}

static void add_text(struct document *d, const struct watched *w, const struct series_change *c, size_t n)
{
    if (w->n < SERIES_LEAST_POINTS + SERIES_LEAST_NEW)
        document_line(d, "%s: too short to judge: %zu point%s, want at least %d", w->metric, w->n, plural(w->n), SERIES_LEAST_POINTS + SERIES_LEAST_NEW);
    else
        document_line(d, "%s: %s: %zu points, %zu change%s", w->metric, !judgements_pass(&d->judged) ? "CHANGED for the worse" : n ? "better" : "steady",
                      w->n, n, plural(n));
    for (size_t i = 0; i < n; i++)
        document_line(d, "  %s", describe(w, &c[i], d->arena));
}

static void judge_changes(struct judgements *set, const struct watched *w, const struct series_change *c, size_t n, struct arena *a)
{
    set->suite = "podbench watch";
    for (size_t i = 0; i < n; i++)
        judgements_add(set, (struct judgement){ .group = w->path, .name = arena_printf(a, "%s at line %u", w->metric, w->lines[c[i].from]),
                       .file = w->path, .line = w->lines[c[i].from], .judged = is_alarm(&c[i]) ? JUDGED_FAIL : JUDGED_PASS,
                       .message = describe(w, &c[i], a) }, a);
    bool is_short = w->n < SERIES_LEAST_POINTS + SERIES_LEAST_NEW;
    if (n == 0)
        judgements_add(set, (struct judgement){ .group = w->path, .name = w->metric,
                       .judged = is_short ? JUDGED_SKIP : JUDGED_PASS,
                       .message = is_short ? "too short to judge" : arena_printf(a, "steady over %zu points", w->n) }, a);
}

int command_watch(const struct options *o, struct session *s, struct err *err)
{
    struct watched w;
    struct series_change *changes;
    struct document d = { .arena = &s->arena };
    if (!read_series(&w, o->arguments[0], o->metric, &s->arena, err) || !read_rule(&w.rule, w.metric, o, err))
        return EXIT_BAD_INPUT;
    size_t n = series_scan(&changes, w.x, w.n, &w.rule, &s->arena);
    judge_changes(&d.judged, &w, changes, n, &s->arena);
    add_text(&d, &w, changes, n);
    add_json(&d, &w, changes, n);
    document_write(s->out, o->format, &d);
    return judgements_pass(&d.judged) ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
