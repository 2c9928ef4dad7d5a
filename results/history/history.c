/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.c - the table of predictions, commit by commit.
 *
 * It is read line by line: an incomplete line that a killed writer left is skipped and counted, and the others are
 * used.
 */
#include "results/history/history.h"

enum { CELL_LABEL, CELL_TIME, CELL_VERSION, CELL_INPUTS, CELL_RECIPE, CELL_METRIC, CELL_VALUE, CELL_UNIT, N_HISTORY_CELLS };
static const char header[] = "label,time,version,inputs,recipe,metric,value,unit\n";

static const struct kept_column { const char *column, *unit; } history_metrics[] = {
    { "throughput_samples_per_s", "samples/s" }, { "time_to_train_s", "s" }, { "latency_s", "s" }, { "memory_peak_bytes_per_tile", "B" },
};

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Removes the quotes of a cell in place, and halves doubled ones inside. Returns its end, or NULL if it is not
 * closed. */
static char *unquote(char *cell)
{
    char *to = cell;
    for (const char *from = cell + 1; *from; from++) {
        if (*from == '"' && *++from != '"') {
            *to = '\0';
            return (char *)from;
        }
        *to++ = *from;
    }
    return NULL;
}

/* Cuts the line into cells, in place. */
static bool split_cells(char *cells[N_HISTORY_CELLS], char *line)
{
    for (size_t i = 0; i < N_HISTORY_CELLS; i++) {
        cells[i] = line;
        char *end = *line == '"' ? unquote(line) : line + strcspn(line, ",");
        if (!end || (*end && *end != ',') || (*end == ',') == (i + 1 == N_HISTORY_CELLS))
            return false;
        line = end + (*end == ',');
        *end = '\0';
    }
    return true;
}

static struct history_series *series_of(struct history *h, const char *recipe, const char *metric, const char *unit, struct arena *a)
{
    for (size_t i = 0; i < h->n; i++)
        if (text_is(h->items[i].recipe, recipe) && text_is(h->items[i].metric, metric))
            return &h->items[i];
    h->items = arena_grow(a, h->items, h->n, &h->cap, sizeof *h->items);
    h->items[h->n] = (struct history_series){ .recipe = recipe, .metric = metric, .unit = unit };
    return &h->items[h->n++];
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

/* A stable sort by time. */
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

static void read_history_line(struct history *out, char *line, const char *metric, const char *recipe, struct arena *a)
{
    char *c[N_HISTORY_CELLS];
    double value;
    if (!*line)
        return;
    if (!split_cells(c, line) || !parse_f64(c[CELL_VALUE], &value)) {
        out->n_broken++;
        return;
    }
    for (size_t i = 0; i < N_HISTORY_CELLS; i++)
        c[i] = csv_text_of_cell(c[i]);
    if ((metric && !text_is(c[CELL_METRIC], metric)) || (recipe && !text_is(c[CELL_RECIPE], recipe)))
        return;
    add_point(series_of(out, c[CELL_RECIPE], c[CELL_METRIC], c[CELL_UNIT], a), (struct history_point){ c[CELL_LABEL], c[CELL_TIME], c[CELL_VERSION], c[CELL_INPUTS], value }, a);
}

bool history_load(struct history *out, const char *path, const char *metric, const char *recipe, struct arena *a, struct err *err)
{
    char *text, *next;
    size_t n = strlen(header) - 1;
    *out = (struct history){0};
    if (!read_text_file(&text, NULL, path, LARGEST_FILE_BYTES, a, err))
        return false;
    text += byte_order_mark(text);
    if (strncmp(text, header, n) != 0 || !strchr("\r\n", text[n]) || !text[n])
        return fail(err, "%s:1: is not a history; want the header %.*s", path, (int)n, header);
    for (char *line = text + n + (text[n] == '\r') + 1; *line; line = next) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : line + strlen(line);
        if (end) {
            *end = '\0';
            line[strcspn(line, "\r")] = '\0';
            read_history_line(out, line, metric, recipe, a);
        } else {
            out->n_broken++;            /* the last line, cut short */
        }
    }
    for (size_t i = 0; i < out->n; i++)
        order_points(&out->items[i]);
    return true;
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
