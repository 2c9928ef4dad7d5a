/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * measured.c - measured series in common formats: a CSV table with or without a header, or JSON, from a file or from standard input; with one
 * column or several, and rows of several series one after the other. JSON is turned into a table: an array of numbers has one column, an array
 * of objects one for each member, an object of arrays one for each array.
 */
#include "results/history/history.h"
#include <jansson.h>

enum { MOST_INPUT_BYTES = 64 << 20, MOST_CHOSEN = 32 };

/* ---- the text ------------------------------------------------------------------------------------------ */

static bool read_stdin(char **out, size_t *n_bytes, struct arena *a, struct err *err)
{
    char *text = NULL;
    size_t cap = 0;
    ssize_t n = getdelim(&text, &cap, '\0', stdin);
    bool is_text = n < 0 || text[n - 1], is_short = n < MOST_INPUT_BYTES;
    *out = (char *)utf8_text(arena_strdup(a, n < 0 ? "" : text), a);
    *n_bytes = strlen(*out);
    free(text);
    return (is_text && is_short) || fail(err, "standard input: is %s", is_text ? "longer than 64 MB" : "binary, want text");
}

/* ---- JSON as a table ------------------------------------------------------------------------------------ */

/* The value as text; "" for null and for a missing value. */
static char *json_cell(const json_t *value, struct arena *a)
{
    if (!value || json_is_null(value))
        return arena_strdup(a, "");
    if (json_is_integer(value))
        return arena_printf(a, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value))
        return arena_printf(a, "%.17g", json_real_value(value));
    if (json_is_string(value))
        return arena_strdup(a, json_string_value(value));
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT), *cell = arena_printf(a, "%.60s", text);
    free(text);
    return cell;
}

/* Names the columns by the members of the first object, or by the arrays. */
static void name_columns(struct csv_table *t, json_t *members, struct arena *a)
{
    t->columns = ARENA_ARRAY(a, char *, json_object_size(members) + 1);
    for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at))
        t->columns[t->n_columns++] = arena_strdup(a, json_object_iter_key(at));
}

static const json_t *json_at(const json_t *root, const char *column, size_t row)
{
    if (json_is_object(root))
        return json_array_get(json_object_get(root, column), row);
    const json_t *item = json_array_get(root, row);
    return json_is_object(item) ? json_object_get(item, column) : item;
}

static bool json_table(struct csv_table *out, const char *path, const char *text, struct arena *a, struct err *err)
{
    json_error_t why;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &why), *value;
    const char *name;
    *out = (struct csv_table){ .path = arena_strdup(a, path) };
    if (!root)
        return fail(err, "%s:%d: %s", path, why.line, why.text);
    if (json_is_object(root) || json_is_object(json_array_get(root, 0)))
        name_columns(out, json_is_object(root) ? root : json_array_get(root, 0), a);
    else if (json_array_size(root)) {
        out->columns = ARENA_ARRAY(a, char *, 1);
        out->columns[out->n_columns++] = arena_strdup(a, "value");
    }
    out->n_rows = json_array_size(root);
    json_object_foreach(root, name, value) {
        if (json_array_size(value) > out->n_rows)
            out->n_rows = json_array_size(value);
    }
    out->rows = ARENA_ARRAY(a, struct csv_row, out->n_rows);
    bool good = true;
    for (size_t i = 0; i < out->n_rows; i++) {
        out->rows[i] = (struct csv_row){ (uint32_t)i + 1, ARENA_ARRAY(a, char *, out->n_columns) };
        bool known = out->n_columns == 0;
        for (size_t k = 0; k < out->n_columns; k++) {
            const json_t *cell = json_at(root, out->columns[k], i);
            known |= cell != NULL;
            out->rows[i].cells[k] = json_cell(cell, a);
        }
        if (!known && good)
            good = fail(err, "%s:%zu: has none of the members of the first point, such as %.60s", path, i + 1, out->columns[0]);
    }
    json_decref(root);
    return good && (out->n_columns > 0 || fail(err, "%s: holds no series; want an array of numbers or objects, or an object of arrays", path));
}

/* ---- columns ---------------------------------------------------------------------------------------------- */

static bool reads_as_number(const char *text)
{
    double x;
    return parse_f64(text, &x);
}

/* Finds the columns in a list of names separated by commas. */
static bool choose_columns(size_t *at, size_t *n, const struct csv_table *t, const char *names, bool by_number, struct arena *a, struct err *err)
{
    for (const char *p = names; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
        const char *name = arena_printf(a, "%.*s", (int)strcspn(p, ","), p);
        uint64_t number;
        if (*n == MOST_CHOSEN)
            return fail(err, "%.60s: names more than %d columns", names, MOST_CHOSEN);
        bool numbered = by_number && parse_u64(name, &number) && number >= 1 && number <= t->n_columns;
        if (numbered)
            at[*n] = number - 1;
        else if (!csv_column(&at[*n], t, name, err))
            return false;
        ++*n;
    }
    return true;
}

/* Turns a header that consists of numbers into the first row, and names the columns by their numbers. */
static void take_back_header(struct csv_table *t, struct arena *a)
{
    struct csv_row *rows = ARENA_ARRAY(a, struct csv_row, t->n_rows + 1);
    rows[0] = (struct csv_row){ 1, t->columns };
    if (t->n_rows)
        memcpy(rows + 1, t->rows, t->n_rows * sizeof *rows);
    t->columns = ARENA_ARRAY(a, char *, t->n_columns);
    for (size_t i = 0; i < t->n_columns; i++)
        t->columns[i] = t->n_columns == 1 ? arena_strdup(a, "value") : arena_printf(a, "%zu", i + 1);
    t->rows = rows;
    t->n_rows++;
}

/* ---- series -------------------------------------------------------------------------------------------------- */

struct chosen { size_t metrics[MOST_CHOSEN], n_metrics, by[MOST_CHOSEN], n_by; };

/* The name of a series, such as "resnet50 step_time_s": the values of the --by columns, then the metric. */
static const char *series_name(const struct csv_table *t, const struct csv_row *row, const struct chosen *c, size_t metric, struct arena *a)
{
    const char *name = "";
    for (size_t i = 0; i < c->n_by; i++)
        name = arena_printf(a, "%s%s ", name, row->cells[c->by[i]]);
    return arena_printf(a, "%s%s", name, t->columns[metric]);
}

static struct measured_series *series_named(struct measured *out, const char *name, const char *metric, size_t most, struct arena *a)
{
    for (size_t i = 0; i < out->n; i++)
        if (text_is(out->items[i].name, name))
            return &out->items[i];
    LIST_ADD(out, a, (struct measured_series){ .name = name, .metric = metric, .x = ARENA_ARRAY(a, double, most), .lines = ARENA_ARRAY(a, uint32_t, most),
                                               .labels = ARENA_ARRAY(a, const char *, most) });
    return &out->items[out->n - 1];
}

static bool measured_add(struct measured_series *s, const struct csv_table *t, const struct csv_row *row, size_t metric, struct err *err)
{
    static const double largest = 1e300;        /* limited so that the sum of two values is finite */
    const char *cell = row->cells[metric], *column = t->columns[metric];
    if (!parse_f64(cell, &s->x[s->n]))
        return fail(err, "%s:%u: %s: '%.60s' is not a number", t->path, row->line, column, cell);
    if (fabs(s->x[s->n]) > largest)
        return fail(err, "%s:%u: %s: %g is outside %g to %g", t->path, row->line, column, s->x[s->n], -largest, largest);
    s->lines[s->n] = row->line;
    s->labels[s->n] = metric > 0 ? row->cells[0] : "";
    s->n++;
    return true;
}

bool measured_load(struct measured *out, const char *path, const char *metrics, const char *by, struct arena *a, struct err *err)
{
    bool is_stdin = text_is(path, "-");
    const char *name = is_stdin ? "standard input" : path;
    struct csv_table t;
    struct chosen c = {0};
    char *text;
    size_t n;
    *out = (struct measured){ .path = name };
    if (!(is_stdin ? read_stdin(&text, &n, a, err) : read_text_file(&text, &n, path, MOST_INPUT_BYTES, a, err)))
        return false;
    size_t blank = strspn(text, " \t\r\n");
    bool is_json = text[blank] == '[' || text[blank] == '{';
    if (!(is_json ? json_table(&t, name, text, a, err) : csv_read_text(&t, name, text, n, a, err)))
        return false;
    bool no_header = !is_json && reads_as_number(t.columns[t.n_columns - 1]);
    if (no_header)
        take_back_header(&t, a);
    out->counts_points = is_json;
    if (!metrics)
        c.metrics[c.n_metrics++] = t.n_columns - 1;
    if ((metrics && !choose_columns(c.metrics, &c.n_metrics, &t, metrics, no_header, a, err)) || (by && !choose_columns(c.by, &c.n_by, &t, by, no_header, a, err)))
        return false;
    for (size_t m = 0; m < c.n_metrics; m++)
        for (size_t i = 0; i < t.n_rows; i++) {
            if (is_json && !*t.rows[i].cells[c.metrics[m]])     /* an array that is shorter than others, or a null */
                continue;
            const char *series = series_name(&t, &t.rows[i], &c, c.metrics[m], a);
            if (!measured_add(series_named(out, series, t.columns[c.metrics[m]], t.n_rows - i, a), &t, &t.rows[i], c.metrics[m], err))
                return false;
        }
    return out->n > 0 || fail(err, "%s: holds no values to judge; want rows of a table, an array of numbers or objects, or an object of arrays", name);
}

/* ---- levels that somebody accepts ------------------------------------------------------------------------------ */

static const char acceptance_header[] = "series,point,reason\n";

const char *acceptances_path(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t n = dot && (!slash || dot > slash + 1) && dot > path ? (size_t)(dot - path) : strlen(path);
    return arena_printf(a, "%.*s.accepted.csv", (int)n, path);
}

/* Finds the newest point with this label, or, if points have no labels, the point with this number. */
static bool find_point(size_t *out, const struct measured_series *s, const char *text)
{
    uint64_t number;
    for (size_t i = s->n; i-- > 0; )
        if (*s->labels[i] && text_is(s->labels[i], text)) {
            *out = i;
            return true;
        }
    if (s->n == 0 || *s->labels[0] || !parse_u64(text, &number) || number < 1 || number > s->n)
        return false;
    *out = number - 1;
    return true;
}

bool acceptances_load(struct series_acceptance **out, size_t *n, const struct measured_series *s, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t series, point, reason, n_bytes;
    char *text;
    *n = 0;
    if (!read_text_file(&text, &n_bytes, path, LARGEST_FILE_BYTES, a, err))
        return false;
    if (n_bytes == 0)                   /* an older version left an empty file if it was killed at its first acceptance */
        return true;
    if (!csv_read_text(&t, path, text, n_bytes, a, err) || !csv_column(&series, &t, "series", err) || !csv_column(&point, &t, "point", err) || !csv_column(&reason, &t, "reason", err))
        return false;
    *out = ARENA_ARRAY(a, struct series_acceptance, t.n_rows);
    for (size_t i = 0; i < t.n_rows; i++) {
        char **c = t.rows[i].cells;
        if (!text_is(c[series], s->name))
            continue;
        if (!*c[reason])
            return fail(err, "%s:%u: reason: is empty; say why the level of %.60s is accepted", path, t.rows[i].line, c[series]);
        if (!find_point(&(*out)[*n].point, s, c[point]))
            return fail(err, "%s:%u: point: %.60s has no point '%.60s'", path, t.rows[i].line, c[series], c[point]);
        (*out)[(*n)++].reason = c[reason];
    }
    return true;
}

bool acceptance_append(const char *path, const struct measured_series *s, const char *reason, struct err *err)
{
    struct arena scratch = {0};
    char *line = NULL;
    size_t n;
    const char *label = s->labels[s->n - 1];
    FILE *f = text_stream(&line, &n);
    csv_write_cell(f, s->name, false);
    csv_write_cell(f, *label ? label : arena_printf(&scratch, "%zu", s->n), false);
    csv_write_cell(f, reason, true);
    fclose(f);
    bool good = append_lines(path, acceptance_header, line, err);
    free(line);
    arena_free(&scratch);
    return good;
}
