/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.c - the table of predictions, commit by commit. An incomplete last line, which a killed writer left, is skipped.
 */
#include "results/history/history.h"

static const char header[] = "label,time,version,inputs,recipe,metric,value,unit\n";

static const struct kept_column { const char *column, *unit; } history_metrics[] = {
    { "throughput_samples_per_s", "samples/s" }, { "time_to_train_s", "s" }, { "latency_s", "s" }, { "memory_peak_bytes_per_tile", "B" },
};

/* ---- reading ------------------------------------------------------------------------------------------- */

static struct history_series *series_of(struct history *h, const char *recipe, const char *metric, const char *unit, struct arena *a)
{
    for (size_t i = 0; i < h->n; i++)
        if (text_is(h->items[i].recipe, recipe) && text_is(h->items[i].metric, metric))
            return &h->items[i];
    LIST_ADD(h, a, (struct history_series){ .recipe = recipe, .metric = metric, .unit = unit });
    return &h->items[h->n - 1];
}

static void add_point(struct history_series *s, struct history_point p, struct arena *a)
{
    for (size_t i = 0; i < s->n; i++)
        if (text_is(s->points[i].label, p.label)) {
            s->points[i] = p;
            return;
        }
    ARENA_APPEND(a, s->points, s->n, s->cap, p);
}

/* Sorts the points by time; points of equal time keep their order. */
static void order_points(struct history_series *s)
{
    for (size_t i = 1; i < s->n; i++) {
        struct history_point p = s->points[i];
        size_t at = i;
        for (; at > 0 && strcmp(s->points[at - 1].time, p.time) > 0; at--)
            s->points[at] = s->points[at - 1];
        s->points[at] = p;
    }
}

static bool read_history_row(struct history *out, const struct csv_table *t, const struct csv_row *row, const char *metric, const char *recipe,
                             struct arena *a, struct err *err)
{
    const char *own_recipe = csv_cell(t, row, "recipe"), *own_metric = csv_cell(t, row, "metric"), *value = csv_cell(t, row, "value");
    struct history_point p = { csv_cell(t, row, "label"), csv_cell(t, row, "time"), csv_cell(t, row, "version"), csv_cell(t, row, "inputs"), 0 };
    if (!parse_f64(value, &p.value))
        return fail(err, "%s:%u: value: '%.60s' is not a number", t->path, row->line, value);
    if ((!metric || text_is(own_metric, metric)) && (!recipe || text_is(own_recipe, recipe)))
        add_point(series_of(out, own_recipe, own_metric, csv_cell(t, row, "unit"), a), p, a);
    return true;
}

bool history_load(struct history *out, const char *path, const char *metric, const char *recipe, struct arena *a, struct err *err)
{
    static const char *const columns[] = { "label", "time", "version", "inputs", "recipe", "metric", "value", "unit", NULL };
    struct csv_table t;
    char *text;
    size_t n;
    *out = (struct history){0};
    if (!read_text_file(&text, &n, path, LARGEST_FILE_BYTES, a, err))
        return false;
    const char *newline = strrchr(text, '\n');
    size_t whole = newline ? (size_t)(newline + 1 - text) : 0;
    out->is_cut = whole < n;
    if (whole == 0 && n < sizeof header && strncmp(text, header, n) == 0)      /* the writer was killed within the header */
        return true;
    if (!csv_read_text(&t, path, text, whole, a, err) || !csv_has_columns(&t, columns, err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++)
        if (!read_history_row(out, &t, &t.rows[i], metric, recipe, a, err))
            return false;
    for (size_t i = 0; i < out->n; i++)
        order_points(&out->items[i]);
    return true;
}

const char *history_time_from(const char *path, const char *time, struct arena *a)
{
    struct history h;
    if (!history_load(&h, path, NULL, NULL, a, NULL))
        return time;
    for (size_t i = 0; i < h.n; i++)
        for (size_t k = 0; k < h.items[i].n; k++)
            time = strcmp(h.items[i].points[k].time, time) > 0 ? h.items[i].points[k].time : time;
    return time;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

bool history_append(const char *path, const struct csv_table *rows, double error, const char *label, const char *time, struct err *err)
{
    char *text = NULL;
    size_t n;
    if (!*label || strpbrk(label, ",\"\r\n"))
        return fail(err, "--label: '%.60s': want a name without comma, quote or newline", label);
    FILE *f = text_stream(&text, &n);
    for (size_t i = 0; i < rows->n_rows; i++)
        for (size_t k = 0; k < sizeof history_metrics / sizeof *history_metrics; k++) {
            const struct csv_row *r = &rows->rows[i];
            if (!*csv_cell(rows, r, history_metrics[k].column))
                continue;
            csv_write_cell(f, label, false);
            fprintf(f, "%s,%s,%s,", time, csv_cell(rows, r, "version"), csv_cell(rows, r, "inputs"));
            csv_write_cell(f, r->cells[0], false);
            fprintf(f, "%s,%s,%s\n", history_metrics[k].column, csv_cell(rows, r, history_metrics[k].column), history_metrics[k].unit);
        }
    if (!isnan(error)) {
        csv_write_cell(f, label, false);
        fprintf(f, "%s,%s,,validate,mean_abs_error,%.10g,share\n", time, rows->n_rows ? csv_cell(rows, &rows->rows[0], "version") : "", error);
    }
    fclose(f);
    bool good = append_lines(path, header, text, err);
    free(text);
    return good;
}

/* ---- changes ----------------------------------------------------------------------------------------------- */

double relative_change(double before, double after)
{
    double change = after == before ? 0 : after / fabs(before) - copysign(1, before);
    return isfinite(change) ? change : (double)NAN;
}

const char *change_text(double before, double after, int digits, struct arena *a)
{
    double change = 100 * relative_change(before, after);
    return isnan(change) ? "from nothing" : arena_printf(a, "%+.*f %%", digits, change);
}

/* ---- a line of blocks ------------------------------------------------------------------------------------ */

const char *sparkline(const struct history_series *s, size_t most, struct arena *a)
{
    static const char *const blocks[] = { "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588" };
    size_t first = s->n - min_u64(s->n, most);
    double low = INFINITY, high = -INFINITY;
    char *text = arena_alloc(a, 3 * (s->n - first) + 1), *p = text;
    for (size_t i = first; i < s->n; i++) {
        low = fmin(low, s->points[i].value);
        high = fmax(high, s->points[i].value);
    }
    for (size_t i = first; i < s->n; i++) {
        size_t at = high > low ? (size_t)(7.999 * ((s->points[i].value / 2 - low / 2) / (high / 2 - low / 2))) : 3;
        p = stpcpy(p, blocks[at]);
    }
    return text;
}
