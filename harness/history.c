/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.c - podbench record, which appends a run to the history, and podbench history, which prints how a metric changed. --out FILE.svg
 * draws the eight series that changed most with plots/single/history.gp, and writes their data to FILE.svg.csv.
 */
#include "harness/harness.h"
#include "results/published/check.h"
#include "results/history/history.h"
#include <jansson.h>
#include <time.h>
#include <stdlib.h>

static bool names_one_place(const struct options *o, struct err *err)
{
    return !o->from || !o->baseline
        || fail(err, "--from %s and --baseline %s: both say where the points are; leave one of them out", o->from, o->baseline);
}

static const char *history_path(const struct options *o, struct session *s)
{
    return o->from ? o->from : arena_printf(&s->arena, "%s/history.csv", s->baselines_dir);
}

/* ---- record ------------------------------------------------------------------------------------------- */

/* The time of SOURCE_DATE_EPOCH, or of the clock, in UTC; but the newest point's time if the clock was set back behind it. */
static const char *time_text(const char *path, struct arena *a)
{
    uint64_t seconds;
    struct tm tm;
    char text[32];
    source_date(&seconds, (uint64_t)time(NULL), NULL);
    time_t t = (time_t)seconds;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
    return getenv("SOURCE_DATE_EPOCH") ? arena_strdup(a, text) : history_time_from(path, arena_strdup(a, text), a);
}

/* The mean error of the runs that validate; NAN if there are none. */
static double validate_error(const struct csv_table *check, struct arena *a)
{
    struct error_summary x = errors_of_table(check, FIGURE_OF_RUN, "validate", a);
    return x.n ? x.mean : NAN;
}

int command_record(const struct options *o, struct session *s, struct err *err)
{
    const char *run = o->n_arguments ? o->arguments[0] : "latest", *rows_path, *check_path, *path = history_path(o, s);
    struct csv_table rows, check;
    struct made_folders made = { .path = "" };
    if (!o->label)
        return bad_input(err, "record: want a label: podbench record %s --label \"$(git describe --always)\"", run);
    if (!names_one_place(o, err) || !run_open(run, NULL, s, err) ||
        !run_table_path(&rows_path, run, "rows.csv", s, err) || !csv_load(&rows, rows_path, &s->arena, err) ||
        !run_table_path(&check_path, run, "check.csv", s, err) || !csv_load(&check, check_path, &s->arena, err))
        return EXIT_BAD_INPUT;
    if ((!o->from && !made_folders_make(&made, s->baselines_dir, &s->arena, err)) ||
        !history_append(path, &rows, validate_error(&check, &s->arena), o->label, time_text(path, &s->arena), err)) {
        made_folders_drop(&made);
        return EXIT_BAD_INPUT;
    }
    fprintf(s->out, "recorded %s as %s in %s\n", run, o->label, path);
    return EXIT_DONE;
}

/* ---- history ------------------------------------------------------------------------------------------ */

struct point_line { uint64_t point; const char *label, *time, *version, *inputs, *recipe, *metric, *unit, *change, *remark; double value; };
#define C(member, ...) { COLUMN(struct point_line, member), __VA_ARGS__ }
static const struct table_column point_columns[] = {
    C(point, .formats = IN_CSV), C(label, .heading = "label"), C(time, .heading = "time"), C(version, .heading = "version", .formats = IN_TEXT | IN_JSON),
    C(inputs, .formats = IN_JSON), C(recipe, .formats = IN_CSV), C(metric, .formats = IN_CSV), C(value, .heading = "value"),
    C(unit, .formats = IN_CSV), C(change, .heading = "change", .formats = IN_TEXT, .aligns_right = true),
    C(remark, .heading = "", .formats = IN_TEXT),
};
#undef C
struct series_row { const char *recipe, *metric, *unit; json_t *points; };
#define C(member) { COLUMN(struct series_row, member) }
static const struct table_column series_columns[] = { C(recipe), C(metric), C(unit), C(points) };
#undef C

static void add_points(struct table *out, const struct history_series *s, struct arena *a)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct history_point *p = &s->points[i];
        bool changed = i && p->value != p[-1].value;
        table_add(out, &(struct point_line){ i + 1, p->label, p->time, p->version, p->inputs, s->recipe, s->metric, s->unit,
                                             changed ? change_text(p[-1].value, p->value, 2, a) : "",
                                             changed && !text_is(p->inputs, p[-1].inputs) ? "inputs differ" : "", p->value }, a);
    }
}

static void add_series(struct document *d, const struct history_series *s, bool with_points)
{
    enum { SPARK = 40 };
    const struct history_point *first = &s->points[0], *last = &s->points[s->n - 1];
    document_line(d, "%s  %s  %.6g -> %.6g %s (%s), %zu point%s", sparkline(s, SPARK, d->arena), s->recipe, first->value, last->value, s->unit,
                  change_text(first->value, last->value, 2, d->arena), s->n, plural(s->n));
    struct table t = TABLE(point_columns, struct point_line, .formats = IN_TEXT);
    if (with_points)
        add_points(document_table(d, t), s, d->arena);
}

static void print_history(FILE *f, const struct history *h, const struct options *o, struct arena *a)
{
    struct document d = { .arena = a };
    struct table *points = document_table(&d, TABLE(point_columns, struct point_line)), *series = document_table(&d, TABLE(series_columns, struct series_row));
    points->formats = IN_CSV, series->formats = IN_JSON;
    for (size_t i = 0; i < h->n; i++) {
        const struct history_series *s = &h->items[i];
        struct table own = TABLE(point_columns, struct point_line);
        add_points(points, s, a);
        add_points(&own, s, a);
        table_add(series, &(struct series_row){ s->recipe, s->metric, s->unit, table_json(&own) }, a);
        add_series(&d, s, o->all || h->n == 1);
    }
    document_write(f, o->format, &d);
}

/* ---- the figure: the series that changed most, each relative to its first point ------------------------------- */

enum { MOST_LINES = 8 };

static double size_of_change(const struct history_series *s)
{
    double change = relative_change(s->points[0].value, s->points[s->n - 1].value);
    return isnan(change) ? HUGE_VAL : fabs(change);
}

static int by_change(const void *a, const void *b)
{
    const struct history_series *x = a, *y = b;
    double p = size_of_change(x), q = size_of_change(y);
    return p != q ? (p < q) - (p > q) : strcmp(x->recipe, y->recipe);
}

static double change_percent(const struct history_series *s, size_t point)
{
    return 100 * relative_change(s->points[0].value, s->points[point].value);
}

static double last_change(const struct history_series *s)
{
    return change_percent(s, s->n - 1);
}

struct line_end { size_t line; double change; };

/* Places the name of each line at the line's end. From the highest line down, each name is at least a share of the height below the last one. */
static void place_names(double at[MOST_LINES], const struct history *h, size_t n_lines)
{
    const double apart = 0.045;
    struct line_end ends[MOST_LINES];
    double low = 0, high = 0, last = INFINITY;
    for (size_t k = 0; k < n_lines; k++) {
        double end = last_change(&h->items[k]);
        ends[k] = (struct line_end){ k, isnan(end) ? 0 : end };         /* a series without a change is placed at 0 */
        for (size_t i = 0; i < h->items[k].n; i++) {
            low = fmin(low, change_percent(&h->items[k], i));
            high = fmax(high, change_percent(&h->items[k], i));
        }
    }
    SORT_BY(ends, n_lines, FALLING(struct line_end, change), RISING(struct line_end, line));
    for (size_t k = 0; k < n_lines; k++)
        last = at[ends[k].line] = fmin(ends[k].change, last - apart * (high > low ? high - low : 1));
}

static void write_cells(FILE *f, const struct history_series *s, size_t point, double name_at, bool last)
{
    bool there = point < s->n;
    double change = there ? change_percent(s, point) : (double)NAN;
    fprintf(f, isnan(change) ? "NaN," : "%.6g,", change);
    csv_write_cell(f, s->recipe, false);
    fprintf(f, point + 1 == s->n ? "%.6g" : "NaN", name_at);
    fputc(last ? '\n' : ',', f);
}

static bool write_drawing(const char *path, const struct history *h, size_t n_lines, struct err *err)
{
    struct new_file data;
    size_t most = 0;
    double at[MOST_LINES];
    place_names(at, h, n_lines);
    if (!new_file_open(&data, path, err))
        return false;
    fprintf(data.f, "point");
    for (size_t k = 0; k < n_lines; k++) {
        fprintf(data.f, ",series %zu,name %zu,name at %zu", k + 1, k + 1, k + 1);
        most = max_u64(most, h->items[k].n);
    }
    fputc('\n', data.f);
    for (size_t i = 0; i < most; i++) {
        fprintf(data.f, "%zu,", i + 1);
        for (size_t k = 0; k < n_lines; k++)
            write_cells(data.f, &h->items[k], i, at[k], k + 1 == n_lines);
    }
    return new_file_save(&data, err);
}

/* The finding that heads the figure. Underscores are replaced, because gnuplot takes them for subscripts. */
static const char *finding(const struct history *h, struct arena *a)
{
    const struct history_series *s = &h->items[0];
    char *text = size_of_change(s) == 0 ? arena_printf(a, "%s: none of %zu moved over %zu points", s->metric, h->n, s->n)
               : arena_printf(a, "%s: %s moved most, %s over %zu points", s->metric, s->recipe,
                                 change_text(s->points[0].value, s->points[s->n - 1].value, 1, a), s->n);
    for (char *p = text; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    return text;
}

static bool draw(const struct history *h, const char *picture, struct session *s, struct err *err)
{
    struct arena *a = &s->arena;
    size_t n_lines = min_u64(h->n, MOST_LINES), n = strlen(picture);
    if (n < 5 || !text_is(picture + n - 4, ".svg"))
        return fail(err, "--out: '%.200s': want a name ending in .svg", picture);
    sort_items(h->items, h->n, sizeof *h->items, by_change);
    const char *data = arena_printf(a, "%s.csv", picture);
    if (!may_replace(picture, "<?xml", "a picture", err) || !may_replace(data, "point,series 1", "a picture's data", err)
        || !write_drawing(data, h, n_lines, err))
        return false;
    const char *settings = arena_printf(a, "data=%s; series=%zu; finding=%s; style=%s", gnuplot_string(data, a), n_lines,
                                        gnuplot_string(finding(h, a), a),
                                        gnuplot_string(arena_printf(a, "%s/style.gp", s->plots_dir), a));
    const char *script = arena_printf(a, "%s/single/history.gp", s->plots_dir);
    return gnuplot_draw(picture, script, settings, ".", err);
}

/* Refuses a history without series. The message lists the recipes that have the metric or, if none has it, the metrics. */
static bool refuse_empty(const struct history *h, const char *metric, const char *recipe, const char *path, struct session *s, struct err *err)
{
    struct history of_metric, all;
    if (h->n || !history_load(&of_metric, path, metric, NULL, &s->arena, err) || !history_load(&all, path, NULL, NULL, &s->arena, err))
        return false;
    if (all.n == 0)
        return !fail(err, "%s: holds no point%s: 'podbench record RUN --label COMMIT' adds one", path, all.is_cut ? " that is whole" : " yet");
    const struct history *from = of_metric.n ? &of_metric : &all;
    const char **names = ARENA_ROOM(&s->arena, const char *, from->n);
    size_t n = 0;
    for (size_t i = 0; i < from->n; i++) {
        const char *name = of_metric.n ? from->items[i].recipe : from->items[i].metric;
        if (!find_text(names, n, sizeof *names, 0, name))
            names[n++] = name;
    }
    fail(err, "%s: no such %s in %s; %sknown: %s", of_metric.n ? recipe : metric, of_metric.n ? "recipe with this metric" : "metric", path,
         names_suggestion(names, n, of_metric.n ? recipe : metric, &s->arena), names_list(names, n, &s->arena));
    return true;
}

int command_history(const struct options *o, struct session *s, struct err *err)
{
    struct history h;
    const char *path = history_path(o, s), *recipe = o->n_arguments > 1 ? o->arguments[1] : NULL;
    if (!names_one_place(o, err))
        return EXIT_BAD_INPUT;
    if (o->out && o->format != FORMAT_TEXT)
        return bad_input(err, "history: --out draws the points, --format %s prints them; leave one of them out", format_names[o->format]);
    if (is_missing(path))
        return bad_input(err, "%s: no history yet: 'podbench record RUN --label COMMIT' starts one", path);
    if (!history_load(&h, path, o->arguments[0], recipe, &s->arena, err) || refuse_empty(&h, o->arguments[0], recipe, path, s, err))
        return EXIT_BAD_INPUT;
    if (h.is_cut)
        fprintf(s->log, "podbench: %s: the last line is incomplete, and left out\n", path);
    if (o->out)
        return draw(&h, o->out, s, err) ? EXIT_DONE : EXIT_BAD_INPUT;
    print_history(s->out, &h, o, &s->arena);
    return EXIT_DONE;
}
