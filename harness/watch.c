/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watch.c - podbench watch: judges if the latest level of a measured series is worse than the accepted one, and says where it changed.
 *
 * A series is a column of a table, with the oldest value first: scores, times of steps, or anything else. A change for the worse, or in an
 * unknown direction, makes the command fail until its level is accepted with a reason (--accept), or until the series returns. Acceptances are
 * kept in a file next to the series.
 */
#include "harness/harness.h"
#include "results/history/history.h"
#include "results/simulate/result.h"
#include <jansson.h>

struct watched {
    const struct measured *in;
    const struct measured_series *series;
    struct series_rule rule;
    struct series_level *levels; size_t n;
};

/* The better direction of a metric: that of the result's column with this name, or of a word in the name. */
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

/* Reads the rule for a series. The better direction follows from the column's name, or else from the series' name, which includes the values
 * of the --by columns. */
static bool read_rule(struct series_rule *rule, const struct measured_series *s, const struct options *o, struct err *err)
{
    *rule = (struct series_rule){ .better = (int)better_of(s->metric) };
    if (!rule->better)
        rule->better = (int)better_of(s->name);
    if (o->better && !text_is(o->better, "higher") && !text_is(o->better, "lower") && !text_is(o->better, "unknown"))
        return fail(err, "--better: '%.40s' is none of: higher, lower, unknown", o->better);
    if (o->better)
        rule->better = text_is(o->better, "higher") - text_is(o->better, "lower");
    if (o->least_change && (!parse_f64(o->least_change, &rule->least_change) || rule->least_change < 0))
        return fail(err, "--least-change: '%.40s' is not a share from 0 up, as in 0.01 for 1 %%", o->least_change);
    return true;
}

/* ---- words -------------------------------------------------------------------------------------------------- */

/* The place of a point, such as "line 7", or "point 6" if points are not on lines of their own. */
static const char *place_of(const struct watched *w, size_t point, struct arena *a)
{
    const char *label = w->series->labels[point];
    return arena_printf(a, "%s %u%s%s%s", w->in->counts_points ? "point" : "line", w->series->lines[point], *label ? " (" : "", label, *label ? ")" : "");
}

/* How a change ended, as text; "" while it lasts, and for a change for the better. */
static const char *end_text(const struct watched *w, const struct series_level *l, struct arena *a)
{
    switch (l->end) {
    case CHANGE_LASTS: case CHANGE_BETTER: break;
    case CHANGE_BACK:     return "; back at the accepted level";
    case CHANGE_REPAIRED: return arena_printf(a, "; repaired since %s", place_of(w, w->levels[l->ended_by].change.from, a));
    case CHANGE_ACCEPTED: return arena_printf(a, "; accepted: %s", l->reason);
    case N_CHANGE_ENDS:   assert(false);
    }
    return "";
}

static const char *describe(const struct watched *w, const struct series_level *l, struct arena *a)
{
    const struct series_change *c = &l->change;
    return arena_printf(a, "%s %s: %.6g before, %.6g after (%s), since %s, noticed at %s %u%s", w->series->name, series_verdict_names[c->verdict], c->before,
                        c->after, change_text(c->before, c->after, 2, a), place_of(w, c->from, a), w->in->counts_points ? "point" : "line",
                        w->series->lines[c->found], end_text(w, l, a));
}

/* The number of the point at which the latest level begins to count as judged. */
static size_t judged_from(const struct watched *w)
{
    return (w->n ? w->levels[w->n - 1].change.from : 0) + SERIES_JUDGED;
}

static bool is_judged(const struct watched *w)
{
    return w->series->n >= judged_from(w) || series_is_worse(w->levels, w->n);
}

/* Says where judging begins, such as "not judged before line 21". It counts points if not every line has exactly one. */
static const char *unjudged_text(const struct watched *w, struct arena *a)
{
    const struct measured_series *s = w->series;
    size_t point = judged_from(w);
    bool by_line = !w->in->counts_points && s->lines[s->n - 1] - s->lines[0] + 1 == s->n;
    return arena_printf(a, "not judged before %s %zu", by_line ? "line" : "point", by_line ? s->lines[0] + point - 1 : point);
}

static const char *series_state(const struct watched *w)
{
    if (series_is_worse(w->levels, w->n))
        return w->levels[w->n - 1].change.verdict == SERIES_CHANGED ? "CHANGED" : "CHANGED for the worse";
    if (!is_judged(w))
        return "not judged";
    if (w->n == 0)
        return "steady";
    enum change_end end = w->levels[w->n - 1].end;
    return end == CHANGE_ACCEPTED ? "accepted" : end == CHANGE_BACK ? "back at the accepted level" : "better";
}

/* ---- output --------------------------------------------------------------------------------------------------- */

struct watch_line { const char *verdict, *end, *label, *reason; uint32_t from_line, found_line; double before, after, correlation; };
#define C(member, ...) { COLUMN(struct watch_line, member), __VA_ARGS__ }
static const struct table_column change_columns[] = {
    C(verdict), C(end), C(from_line), C(found_line), C(label), C(before), C(after), C(correlation), C(reason),
};
#undef C
struct series_line { const char *metric, *better, *state; uint64_t points, judged_from; json_t *changes; };
#define C(member) { COLUMN(struct series_line, member) }
static const struct table_column series_columns[] = { C(metric), C(points), C(judged_from), C(better), C(state), C(changes) };
#undef C

static void add_json(struct table *out, const struct watched *w, struct arena *a)
{
    struct table changes = TABLE(change_columns, struct watch_line);
    for (size_t i = 0; i < w->n; i++) {
        const struct series_change *c = &w->levels[i].change;
        table_add(&changes, &(struct watch_line){ series_verdict_names[c->verdict], change_end_names[w->levels[i].end], w->series->labels[c->from],
                  w->levels[i].reason, w->series->lines[c->from], w->series->lines[c->found], c->before, c->after, c->correlation }, a);
    }
    table_add(out, &(struct series_line){ w->series->name, w->rule.better > 0 ? "higher" : w->rule.better < 0 ? "lower" : "unknown", series_state(w),
                                          w->series->n, judged_from(w), table_json(&changes) }, a);
}

static void add_text(struct document *d, const struct watched *w)
{
    size_t n = w->series->n;
    const char *state = is_judged(w) ? series_state(w) : unjudged_text(w, d->arena);
    if (w->n == 0)
        document_line(d, "%s: %s: %zu point%s", w->series->name, state, n, plural(n));
    else
        document_line(d, "%s: %s: %zu points, %zu change%s", w->series->name, state, n, w->n, plural(w->n));
    for (size_t i = 0; i < w->n; i++)
        document_line(d, "  %s", describe(w, &w->levels[i], d->arena));
}

static void judge_changes(struct judgements *set, const struct watched *w, struct arena *a)
{
    const struct measured_series *s = w->series;
    for (size_t i = 0; i < w->n; i++)
        judgements_add(set, (struct judgement){ .group = w->in->path, .name = arena_printf(a, "%s at %s %u", s->name, w->in->counts_points ? "point" : "line",
                       s->lines[w->levels[i].change.from]), .file = w->in->path, .line = s->lines[w->levels[i].change.from],
                       .judged = w->levels[i].end == CHANGE_LASTS ? JUDGED_FAIL : JUDGED_PASS, .message = describe(w, &w->levels[i], a) }, a);
    bool judged = is_judged(w);
    if (w->n == 0)
        judgements_add(set, (struct judgement){ .group = w->in->path, .name = s->name, .judged = judged ? JUDGED_PASS : JUDGED_SKIP,
                       .message = judged ? arena_printf(a, "steady over %zu points", s->n) : unjudged_text(w, a) }, a);
}

/* ---- the drawing ------------------------------------------------------------------------------------------------ */

static bool is_drawn_worse(const struct watched *w, size_t level)
{
    return level > 0 && (w->levels[level - 1].end == CHANGE_LASTS || w->levels[level - 1].end == CHANGE_REPAIRED);
}

static void write_points(FILE *f, const struct watched *w, struct arena *a)
{
    const double *x = w->series->x;
    fprintf(f, "point,value,accepted,worse,mark\n");
    for (size_t level = 0; level <= w->n; level++) {
        size_t from = level ? w->levels[level - 1].change.from : 0, end = level < w->n ? w->levels[level].change.from : w->series->n;
        double median = statistics_median(x + from, end - from, a);
        bool worse = is_drawn_worse(w, level);
        for (size_t i = from; i < end; i++) {
            fprintf(f, "%zu,%.10g,%s,%s,", i + 1, x[i], worse ? "NaN" : arena_printf(a, "%.10g", median), worse ? arena_printf(a, "%.10g", median) : "NaN");
            csv_write_cell(f, level && i == from ? change_end_names[w->levels[level - 1].end] : "", true);
        }
    }
}

static bool draw_series(const struct watched *w, const char *picture, struct session *s, struct err *err)
{
    struct arena *a = &s->arena;
    struct new_file data;
    size_t n = strlen(picture);
    if (n < 5 || !text_is(picture + n - 4, ".svg"))
        return fail(err, "--out: '%.200s': want a name ending in .svg", picture);
    if (!may_replace(picture, "<?xml", "a picture", err) || !new_file_open(&data, picture, err))
        return false;
    write_points(data.f, w, a);
    char *title = arena_printf(a, "%s: %s", w->series->name, series_state(w));
    for (char *p = title; *p; p++)
        *p = *p == '_' ? ' ' : *p;              /* gnuplot takes an underscore for a subscript */
    const char *settings = arena_printf(a, "data=%s; name=%s; finding=%s; style=%s", gnuplot_string(data.temp_path, a), gnuplot_string(w->series->name, a),
                                        gnuplot_string(title, a), gnuplot_string(arena_printf(a, "%s/style.gp", s->plots_dir), a));
    bool good = fflush(data.f) == 0 || fail(err, "%s: cannot be written: %s", picture, write_cause());
    good = good && gnuplot_draw(picture, arena_printf(a, "%s/single/watch.gp", s->plots_dir), settings, ".", err);
    new_file_drop(&data);
    return good;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static bool judge_series(struct watched *out, const struct measured *in, size_t i, const char *accepted, const struct options *o, struct arena *a,
                         struct err *err)
{
    struct series_acceptance *accepts = NULL;
    size_t n = 0;
    *out = (struct watched){ .in = in, .series = &in->items[i] };
    if (!read_rule(&out->rule, out->series, o, err)
        || (accepted && !is_missing(accepted) && !acceptances_load(&accepts, &n, out->series, accepted, a, err)))
        return false;
    out->n = series_levels(&out->levels, out->series->x, out->series->n, &out->rule, accepts, n, a);
    return true;
}

/* Accepts the latest level of every series in which it is worse. */
static int accept_levels(const struct watched *all, size_t n, const char *accepted, const struct options *o, struct session *s, struct err *err)
{
    size_t n_accepted = 0;
    if (!*o->accept)
        return bad_input(err, "--accept: the reason is empty; say why the level is accepted");
    for (size_t i = 0; i < n; i++) {
        if (!series_is_worse(all[i].levels, all[i].n))
            continue;
        if (!acceptance_append(accepted, all[i].series, o->accept, err))
            return EXIT_BAD_INPUT;
        struct document said = { .arena = &s->arena };          /* at once, as a later series may be refused */
        document_line(&said, "%s: accepted in %s", all[i].series->name, accepted);
        document_write(s->out, FORMAT_TEXT, &said);
        n_accepted++;
    }
    return n_accepted ? EXIT_DONE : bad_input(err, "--accept: no series of %s is worse than its accepted level", o->arguments[0]);
}

int command_watch(const struct options *o, struct session *s, struct err *err)
{
    const char *path = o->arguments[0];
    struct measured in;
    struct document d = { .arena = &s->arena, .judged.suite = "podbench watch" };
    if (o->accept && !o->accepted && text_is(path, "-"))
        return bad_input(err, "--accept: a series from standard input has no file beside it; name one by --accepted FILE");
    if (o->accept && (o->out || o->is_format_given))
        return bad_input(err, "--accept: only writes the acceptance; leave out %s, and run watch again for that", o->out ? "--out" : "--format");
    if (o->accepted && !o->accept && is_missing(o->accepted))
        fprintf(s->log, "podbench: --accepted %.200s: No such file or directory; so no level counts as accepted\n", o->accepted);
    const char *accepted = o->accepted ? o->accepted : text_is(path, "-") ? NULL : acceptances_path(path, &s->arena);
    if (!measured_load(&in, path, o->metric, o->by, &s->arena, err))
        return EXIT_BAD_INPUT;
    struct watched *all = ARENA_ARRAY(&s->arena, struct watched, in.n);
    struct table series = TABLE(series_columns, struct series_line, .name = "metrics", .formats = IN_JSON);
    struct table *json = document_table(&d, series);
    for (size_t i = 0; i < in.n; i++)
        if (!judge_series(&all[i], &in, i, accepted, o, &s->arena, err))
            return EXIT_BAD_INPUT;
    if (o->accept)
        return accept_levels(all, in.n, accepted, o, s, err);
    if (o->out && in.n != 1)
        return bad_input(err, "--out: draws one series, and %s has %zu; name one by --metric", in.path, in.n);
    if (o->out && !draw_series(&all[0], o->out, s, err))
        return EXIT_BAD_INPUT;
    document_member(&d, "series", json_string(in.path));
    for (size_t i = 0; i < in.n; i++) {
        judge_changes(&d.judged, &all[i], &s->arena);
        add_text(&d, &all[i]);
        if (o->format == FORMAT_JSON)
            add_json(json, &all[i], &s->arena);
    }
    document_write(s->out, o->format, &d);
    return judgements_pass(&d.judged) ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
