/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result.c - how a result is written and read, by the table of metrics.
 *
 * The parts of the breakdown follow the columns of the table, and sum to step_time_s; provenance is last. A run of an
 * older version may lack columns that may be unknown.
 */
#include "results/simulate/metrics.h"
#include "system-model/output/output.h"
#include <jansson.h>

static const void *metric_at(const struct metric *m, const struct result *r)
{
    return (const char *)r + m->offset;
}

static const char *metric_text(const struct metric *m, const struct result *r)
{
    const char *text = *(const char *const *)metric_at(m, r);
    return text ? text : "";
}

static double metric_number(const struct metric *m, const struct result *r)
{
    const void *at = metric_at(m, r);
    switch (m->type) {
    case FIELD_BOOL: return *(const bool *)at;
    case FIELD_U64:  return (double)*(const uint64_t *)at;
    case FIELD_F64:  return *(const double *)at;
    case FIELD_U32: case FIELD_TEXT: case FIELD_CHOICE: break;
    }
    return 0;
}

/* True if the metric has a value; 0 and empty text count as no value, even for metrics for which they are legal. */
static bool metric_is_given(const struct metric *m, const struct result *r)
{
    return m->type == FIELD_TEXT ? *metric_text(m, r) != '\0' : metric_number(m, r) != 0;
}

static bool metric_is_unknown(const struct metric *m, const struct result *r)
{
    return m->absence == OR_UNKNOWN && !metric_is_given(m, r);
}

/* ---- columns ----------------------------------------------------------------------------- */

static bool is_prediction(const struct metric *m)
{
    return m->place == ROW && m->group != METRICS_PROVENANCE;
}

static bool is_provenance(const struct metric *m)
{
    return m->group == METRICS_PROVENANCE;
}

bool result_column_is_provenance(const char *name)
{
    const struct metric *m = metric_named(name, strlen(name));
    return m && is_provenance(m);
}

enum better result_column_better(const char *name)
{
    const struct metric *m = metric_named(name, strlen(name));
    return m ? m->better : strncmp(name, "breakdown_", strlen("breakdown_")) == 0 ? LOWER : NEITHER;
}

/* Adds the columns of CSV in order. Text and JSON leave out columns of provenance. */
static struct table_column *add_metric_columns(struct table_column *at, bool provenance)
{
    static const enum cell_type cells[] = { [FIELD_TEXT] = CELL_TEXT, [FIELD_U64] = CELL_U64, [FIELD_F64] = CELL_REAL, [FIELD_BOOL] = CELL_BOOL };
    for (size_t i = 0; i < N_METRICS; i++)
        if (provenance ? is_provenance(&metrics[i]) : is_prediction(&metrics[i]))
            *at++ = (struct table_column){ .name = metrics[i].name, .type = cells[metrics[i].type], .offset = metrics[i].offset,
                                           .heading = metrics[i].name, .unit = metrics[i].unit, .format = "%.10g",
                                           .formats = provenance ? IN_CSV : 0, .zero_is_unknown = metrics[i].absence == OR_UNKNOWN };
    return at;
}

struct table result_table(struct arena *a)
{
    struct table_column *columns = ARENA_ARRAY(a, struct table_column, N_METRICS + N_PARTS), *at = add_metric_columns(columns, false);
    for (size_t i = 0; i < N_PARTS; i++)
        *at++ = (struct table_column){ .name = part_column(arena_alloc(a, PART_COLUMN_ROOM), i), .type = CELL_REAL, .formats = IN_CSV,
                                       .offset = offsetof(struct result, breakdown_s) + i * sizeof(double) };
    at = add_metric_columns(at, true);
    return (struct table){ .columns = columns, .n_columns = (size_t)(at - columns), .row_bytes = sizeof(struct result) };
}

struct part_line { const char *name; double seconds, share; };
static const struct table_column part_columns[] = {
#define C(member, ...) { COLUMN(struct part_line, member), .heading = "", __VA_ARGS__ }
    C(name), C(seconds, .format = "%.6g s"), C(share, .format = "%.1f %%", .scale = 100),
#undef C
};

void result_document(struct document *d, const struct result *r)
{
    struct table *all = document_table(d, result_table(d->arena));
    all->formats = IN_TEXT, all->as_lines = true;
    table_keep(all, r, d->arena);
    struct table *parts = document_table(d, TABLE(part_columns, struct part_line, .formats = IN_TEXT, .title = "breakdown", .indent = "  "));
    for (size_t i = 0; i < N_PARTS; i++)
        if (r->breakdown_s[i] != 0)
            table_add(parts, &(struct part_line){ part_names[i], r->breakdown_s[i], r->breakdown_s[i] / r->step_time_s }, d->arena);
}

void result_write_csv(FILE *f, const struct result *r)
{
    struct arena scratch = {0};
    const struct table t = result_table(&scratch);
    table_write_csv_row(f, &t, r);
    arena_free(&scratch);
}

const char *result_columns(struct arena *a)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = text_stream(&text, &n);
    result_write_csv(f, NULL);
    return text_close(f, &text, a);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static json_t *metric_json(const struct metric *m, const struct result *r)
{
    const void *at = metric_at(m, r);
    if (metric_is_unknown(m, r))
        return json_null();
    switch (m->type) {
    case FIELD_TEXT: return *(const char *const *)at ? json_string(*(const char *const *)at) : json_null();
    case FIELD_BOOL: return json_boolean(*(const bool *)at);
    case FIELD_U64:  return json_integer((json_int_t)*(const uint64_t *)at);
    case FIELD_F64:  return json_real(*(const double *)at);
    case FIELD_U32: case FIELD_CHOICE: break;
    }
    assert(false);
    return NULL;
}

json_t *result_json(const struct result *r)
{
    struct arena scratch = {0};
    const struct table t = result_table(&scratch);
    json_t *object = table_row_json(&t, r), *breakdown = json_object();
    arena_free(&scratch);
    for (size_t i = 0; i < N_PARTS; i++)
        json_object_set_new(breakdown, part_names[i], json_real(r->breakdown_s[i]));
    json_object_set_new(object, "breakdown", breakdown);
    return object;
}

/* A group as a JSON object. If it has the member "missing", which says why the group has no values, the rest is left out. */
static json_t *group_json(enum metric_group group, const struct result *r)
{
    json_t *object = json_object();
    for (size_t i = 0; i < N_METRICS; i++) {
        if (metrics[i].group != group || !metrics[i].member)
            continue;
        json_object_set_new(object, metrics[i].member, metric_json(&metrics[i], r));
        if (text_is(metrics[i].member, "missing") && metric_is_given(&metrics[i], r))
            break;
    }
    return object;
}

void result_json_add_groups(json_t *object, const struct result *r)
{
    for (int g = 0; g < N_METRIC_GROUPS; g++)
        if (metric_groups[g].object)
            json_object_set_new(object, metric_groups[g].object, group_json((enum metric_group)g, r));
}

/* ---- the answer's lines ------------------------------------------------------------------- */

/* A phrase that is being written; all_given turns false when one of its metrics has no value. */
struct phrase { struct arena *a; const struct result *r; double uncertainty; const char *text; bool all_given; };

static void phrase_add(struct phrase *p, const char *text, size_t n)
{
    p->text = arena_printf(p->a, "%s%.*s", p->text, (int)n, text);
}

/* Adds a value with its unit. `at` is at the unit, or at "]" for the metric's own unit. Returns the text from "]" on. */
static const char *phrase_add_quantity(struct phrase *p, const char *at, const struct metric *m, double value)
{
    size_t n = strcspn(at, "]");
    const char *unit = n ? arena_printf(p->a, "%.*s", (int)n, at) : m->unit;
    const char *text = quantity_kept(value, unit, digits_within(value, p->uncertainty * fabs(value)), p->a);
    phrase_add(p, text, strlen(text));
    return at + n;
}

/* Adds the value that "[name/divisor digits]" asks for, and returns the text after it. `at` is behind the bracket. */
static const char *phrase_add_value(struct phrase *p, const char *at)
{
    size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    const struct metric *m = metric_named(at, n);
    assert(m && "a phrase names metrics");
    char *end = (char *)at + n, operation = *end;
    double value = metric_number(m, p->r);
    if (operation == '/' || operation == '*') {
        double by = strtod(end + 1, &end);
        value = operation == '/' ? value / by : value * by;
    }
    if (m->type == FIELD_TEXT)
        p->text = arena_printf(p->a, "%s%s", p->text, metric_text(m, p->r));
    else if (*end == '~')
        end = (char *)phrase_add_quantity(p, end + 1, m, value);
    else if (*end == ' ')
        p->text = arena_printf(p->a, "%s%.*g", p->text, (int)strtol(end, &end, 10), value);
    else
        p->text = arena_printf(p->a, "%s%.0f", p->text, value);
    assert(*end == ']' && "[name/divisor digits]");
    p->all_given = p->all_given && metric_is_given(m, p->r);
    return end + 1;
}

/* Adds a phrase up to its end or a closing brace, and returns the text after it. A part in braces is dropped if a metric in it has no value. */
static const char *phrase_write(struct phrase *p, const char *at)
{
    while (*at && *at != '}') {
        size_t n = strcspn(at, "[{}");
        phrase_add(p, at, n);
        at += n;
        if (*at == '[') {
            at = phrase_add_value(p, at + 1);
        } else if (*at == '{') {
            struct phrase in = { p->a, p->r, p->uncertainty, "", true };
            at = phrase_write(&in, at + 1);
            phrase_add(p, in.text, in.all_given ? strlen(in.text) : 0);
        }
    }
    return *at ? at + 1 : at;
}

const char *result_line(enum metric_group group, const struct result *r, double uncertainty, struct arena *a)
{
    struct phrase p = { a, r, uncertainty, "", true };
    const struct metric *first = NULL;
    for (size_t i = 0; i < N_METRICS; i++) {
        const struct metric *m = &metrics[i];
        if (m->group != group || !m->phrase || !metric_is_given(m, r))
            continue;
        bool is_alternative = first && *m->phrase == ';';
        if (is_alternative && metric_number(m, r) == metric_number(first, r))
            continue;
        p.text = arena_printf(a, "%s%s%s", p.text, first ? "" : metric_groups[group].label, !first ? ": " : is_alternative ? "" : ", ");
        phrase_write(&p, m->phrase);
        first = first ? first : m;
    }
    return first ? p.text : NULL;
}

/* ---- parts ---------------------------------------------------------------------------------- */

struct sized_part { enum part part; double size; };

void parts_by_size(enum part out[N_PARTS], const double values[N_PARTS])
{
    struct sized_part sized[N_PARTS];
    for (int k = 0; k < N_PARTS; k++)
        sized[k] = (struct sized_part){ (enum part)k, fabs(values[k]) };
    SORT_BY(sized, N_PARTS, FALLING(struct sized_part, size), RISING(struct sized_part, part));
    for (int k = 0; k < N_PARTS; k++)
        out[k] = sized[k].part;
}

/* ---- reading back --------------------------------------------------------------------- */

static bool read_cell(struct result *out, const struct metric *m, const char *text, const char *where, struct err *err)
{
    if (!*text && (m->absence == OR_UNKNOWN || m->type == FIELD_TEXT))
        return true;
    struct field f = { .name = m->name, .unit = m->unit, .type = m->type, .offset = m->offset, .min = 0, .max = HUGE_VAL };
    return field_set(out, &f, text, where, err);
}

/* The place of each metric and part among a table's columns, or SIZE_MAX if the table lacks it. */
struct result_columns { size_t metric[N_METRICS], part[N_PARTS]; };

static bool find_result_columns(struct result_columns *out, const struct csv_table *t, struct err *err)
{
    char name[64];
    for (size_t i = 0; i < N_METRICS; i++) {
        bool needed = metrics[i].place == ROW && metrics[i].absence == ALWAYS;
        if (!csv_column(&out->metric[i], t, metrics[i].name, needed ? err : NULL)) {
            if (needed)
                return false;
            out->metric[i] = SIZE_MAX;
        }
    }
    for (size_t i = 0; i < N_PARTS; i++)
        if (!csv_column(&out->part[i], t, part_column(name, i), err))
            return false;
    return true;
}

static bool read_result(struct result *out, const struct csv_table *t, const struct csv_row *row, const struct result_columns *at, struct err *err)
{
    char where[256], name[64];
    for (size_t i = 0; i < N_METRICS; i++) {
        snprintf(where, sizeof where, "%.200s:%u: %s", t->path, row->line, metrics[i].name);
        if (at->metric[i] != SIZE_MAX && !read_cell(out, &metrics[i], row->cells[at->metric[i]], where, err))
            return false;
    }
    for (size_t i = 0; i < N_PARTS; i++)
        if (!parse_f64(row->cells[at->part[i]], &out->breakdown_s[i]))
            return fail(err, "%s:%u: %s: '%.60s' is not a number", t->path, row->line, part_column(name, i), row->cells[at->part[i]]);
    return true;
}

static bool check_result_ids(const struct results *all, const struct csv_table *t, struct arena *a, struct err *err)
{
    const char **ids = ARENA_ARRAY(a, const char *, all->n + 1);
    size_t earlier;
    for (size_t i = 0; i < all->n; i++)
        ids[i] = all->items[i].id ? all->items[i].id : "";
    size_t again = first_repeated(&earlier, ids, all->n);
    return again == all->n ? true : fail(err, "%s:%u: id: %s appears twice", t->path, t->rows[again].line, ids[again]);
}

bool results_load(struct results *out, const char *rows_csv, struct arena *a, struct err *err)
{
    struct csv_table t;
    struct result_columns at;
    *out = (struct results){0};
    if (!csv_load(&t, rows_csv, a, err) || !find_result_columns(&at, &t, err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++) {
        struct result r = {0};
        if (!read_result(&r, &t, &t.rows[i], &at, err))
            return false;
        results_add(out, &r, a);
    }
    return check_result_ids(out, &t, a, err);
}

struct result result_copy(const struct result *r, struct arena *a)
{
    struct result copy = *r;
    for (size_t i = 0; i < N_METRICS; i++) {
        const char **text = (const char **)((char *)&copy + metrics[i].offset);
        if (metrics[i].type == FIELD_TEXT && *text)
            *text = arena_strdup(a, *text);
    }
    return copy;
}

void results_add(struct results *set, const struct result *r, struct arena *a)
{
    LIST_ADD(set, a, result_copy(r, a));
}

const struct result *results_find(const struct results *set, const char *id)
{
    return FIND_TEXT(set->items, set->n, struct result, id, id);
}
