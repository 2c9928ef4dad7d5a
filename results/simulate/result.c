/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result.c - how a result is written and read, by the table of metrics.
 *
 * The parts of the breakdown follow the columns of the table, and sum to step_time_s; provenance is last. A run of an
 * older version may lack columns that may be unknown.
 */
#include "results/simulate/result.h"
#include "system-model/output/output.h"
#include <jansson.h>

enum metric_place { ROW, OBJECT };
enum metric_absence { ALWAYS, OR_UNKNOWN };
enum { METRIC_FIELD_TEXT = FIELD_TEXT, METRIC_FIELD_COUNT = FIELD_U64, METRIC_FIELD_NUMBER = FIELD_F64, METRIC_FIELD_FLAG = FIELD_BOOL };

static const struct metric {
    const char *name, *unit;
    enum field_type type;
    size_t offset;
    enum metric_group group;
    enum metric_place place;
    enum metric_absence absence;
    enum better better;
    const char *member, *phrase, *help;
} metrics[] = {
#define METRIC(type, name, unit, group, place, absence, better, member, phrase, help) \
    { #name, unit, (enum field_type)METRIC_FIELD_##type, offsetof(struct result, name), METRICS_##group, place, absence, better, member, phrase, help },
#include "results/simulate/podbench_metrics.def"
#undef METRIC
};
enum { N_METRICS = sizeof metrics / sizeof *metrics };

static const struct { const char *label, *title, *object; } groups[N_METRIC_GROUPS] = {
    [METRICS_SETUP] = { "setup", "What ran", NULL },
    [METRICS_SPEED] = { "throughput", "Speed", NULL },
    [METRICS_TRAINING] = { "time to train", "Training", NULL },
    [METRICS_MEMORY] = { "memory", "Memory", NULL },
    [METRICS_UTILISATION] = { "utilisation", "Utilisation", NULL },
    [METRICS_ENERGY] = { "energy", "Energy", "energy" },
    [METRICS_MONEY] = { "money", "Money", "money" },
    [METRICS_FAULTS] = { "faults", "Faults", NULL },
    [METRICS_PROVENANCE] = { "provenance", "Provenance", NULL },
};

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
    default:         return 0;
    }
}

/* False for 0 and for no text, even for metrics that may have these values. */
static bool metric_is_given(const struct metric *m, const struct result *r)
{
    return m->type == FIELD_TEXT ? *metric_text(m, r) != '\0' : metric_number(m, r) != 0;
}

static bool metric_is_unknown(const struct metric *m, const struct result *r)
{
    return m->absence == OR_UNKNOWN && !metric_is_given(m, r);
}

static const struct metric *metric_named(const char *name, size_t n)
{
    for (size_t i = 0; i < N_METRICS; i++)
        if (strlen(metrics[i].name) == n && memcmp(metrics[i].name, name, n) == 0)
            return &metrics[i];
    return NULL;
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

static const char *part_column(char out[64], size_t part)
{
    snprintf(out, 64, "breakdown_%s_s", part_names[part]);
    return out;
}

/* The columns of CSV in their order: predictions, parts and provenance. JSON has the predictions, and text too. */
struct result_table { struct table_column columns[N_METRICS + N_PARTS]; char part_names[N_PARTS][64]; size_t n; };

static void add_metric_columns(struct result_table *out, bool provenance)
{
    static const enum cell_type cells[] = { [FIELD_TEXT] = CELL_TEXT, [FIELD_U64] = CELL_U64, [FIELD_F64] = CELL_REAL, [FIELD_BOOL] = CELL_BOOL };
    for (size_t i = 0; i < N_METRICS; i++)
        if (provenance ? is_provenance(&metrics[i]) : is_prediction(&metrics[i]))
            out->columns[out->n++] = (struct table_column){ .name = metrics[i].name, .type = cells[metrics[i].type], .offset = metrics[i].offset,
                                                            .heading = metrics[i].name, .unit = metrics[i].unit, .format = "%.10g",
                                                            .formats = provenance ? IN_CSV : 0, .zero_is_unknown = metrics[i].absence == OR_UNKNOWN };
}

static struct table result_table(struct result_table *room, const struct result *r)
{
    room->n = 0;
    add_metric_columns(room, false);
    for (size_t i = 0; i < N_PARTS; i++)
        room->columns[room->n++] = (struct table_column){ .name = part_column(room->part_names[i], i), .type = CELL_REAL, .formats = IN_CSV,
                                                          .offset = offsetof(struct result, breakdown_s) + i * sizeof(double) };
    add_metric_columns(room, true);
    return (struct table){ .columns = room->columns, .n_columns = room->n, .row_bytes = sizeof *r, .rows = (void *)r, .n = r != NULL };
}

void result_print_text(FILE *f, const struct result *r)
{
    struct result_table room;
    const struct table t = result_table(&room, r);
    table_write_lines(f, &t);
    fprintf(f, "%-32s\n", "breakdown");
    for (size_t i = 0; i < N_PARTS; i++)
        if (r->breakdown_s[i] != 0)
            fprintf(f, "  %-30s %.6g s  %5.1f %%\n", part_names[i], r->breakdown_s[i], 100 * r->breakdown_s[i] / r->step_time_s);
}

void result_write_csv_header(FILE *f)
{
    struct result_table room;
    const struct table t = result_table(&room, NULL);
    table_write_csv_row(f, &t, NULL);
}

void result_write_csv(FILE *f, const struct result *r)
{
    struct result_table room;
    const struct table t = result_table(&room, r);
    for (size_t i = 1; !r && i < t.n_columns; i++)
        fputc(',', f);
    if (r)
        table_write_csv_row(f, &t, r);
    else
        fputc('\n', f);
}

const char *result_columns(struct arena *a)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = text_stream(&text, &n);
    result_write_csv_header(f);
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
    default:         return json_real(*(const double *)at);
    }
}

json_t *result_json(const struct result *r)
{
    struct result_table room;
    const struct table t = result_table(&room, r);
    json_t *object = table_row_json(&t, r), *breakdown = json_object();
    for (size_t i = 0; i < N_PARTS; i++)
        json_object_set_new(breakdown, part_names[i], json_real(r->breakdown_s[i]));
    json_object_set_new(object, "breakdown", breakdown);
    return object;
}

/* An object that says why it is missing says nothing else after that. */
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
        if (groups[g].object)
            json_object_set_new(object, groups[g].object, group_json((enum metric_group)g, r));
}

/* ---- the answer's lines ------------------------------------------------------------------- */

struct phrase { FILE *f; const struct result *r; double uncertainty; bool all_given; };

/* The value as a quantity, for "~unit]" or for "~]", which has the metric's own unit. Returns what follows. */
static const char *print_phrase_quantity(FILE *f, const char *at, const struct metric *m, double value, double uncertainty)
{
    char room[QUANTITY_ROOM], unit[16];
    size_t n = strcspn(at, "]");
    snprintf(unit, sizeof unit, "%.*s", (int)n, at);
    fputs(quantity_text(room, value, n ? unit : m->unit, digits_within(value, uncertainty * fabs(value))), f);
    return at + n;
}

/* Prints the value of a "name/divisor digits]" and returns what follows; clears all_given if the metric is not given. */
static const char *print_phrase_value(struct phrase *p, const char *at)
{
    size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    const struct metric *m = metric_named(at, n);
    assert(m && "a phrase names metrics");
    FILE *f = p->f;
    char *end = (char *)at + n, operation = *end;
    double value = metric_number(m, p->r);
    if (operation == '/' || operation == '*') {
        double by = strtod(end + 1, &end);
        value = operation == '/' ? value / by : value * by;
    }
    if (m->type == FIELD_TEXT)
        fputs(metric_text(m, p->r), f);
    else if (*end == '~')
        end = (char *)print_phrase_quantity(f, end + 1, m, value, p->uncertainty);
    else if (*end == ' ')
        fprintf(f, "%.*g", (int)strtol(end, &end, 10), value);
    else
        fprintf(f, "%.0f", value);
    assert(*end == ']' && "[name/divisor digits]");
    p->all_given = p->all_given && metric_is_given(m, p->r);
    return end + 1;
}

/* Prints a phrase up to its end or a closing brace, and returns what follows. */
static const char *print_phrase(struct phrase *p, const char *at)
{
    while (*at && *at != '}') {
        if (*at == '[') {
            at = print_phrase_value(p, at + 1);
        } else if (*at == '{') {
            char *part = NULL;
            size_t n = 0;
            struct phrase in = { text_stream(&part, &n), p->r, p->uncertainty, true };
            at = print_phrase(&in, at + 1);
            fclose(in.f);
            fputs(in.all_given ? part : "", p->f);
            free(part);
        } else {
            fputc(*at++, p->f);
        }
    }
    return *at ? at + 1 : at;
}

void result_print_line(FILE *f, enum metric_group group, const struct result *r, double uncertainty)
{
    struct phrase p = { f, r, uncertainty, true };
    const struct metric *first = NULL;
    for (size_t i = 0; i < N_METRICS; i++) {
        const struct metric *m = &metrics[i];
        if (m->group != group || !m->phrase || !metric_is_given(m, r))
            continue;
        bool is_alternative = first && *m->phrase == ';';
        if (is_alternative && metric_number(m, r) == metric_number(first, r))
            continue;
        fprintf(f, "%s%s", first ? "" : groups[group].label, !first ? ": " : is_alternative ? "" : ", ");
        print_phrase(&p, m->phrase);
        first = first ? first : m;
    }
    if (first)
        fputc('\n', f);
}

/* ---- the list of metrics -------------------------------------------------------------------- */

static const char *metric_full_name(char out[64], const struct metric *m)
{
    if (m->place == ROW)
        return m->name;
    snprintf(out, 64, "%s.%s", groups[m->group].object, m->member);
    return out;
}

void metrics_print(FILE *f)
{
    char name[64];
    for (size_t i = 0; i < N_METRICS; i++)
        fprintf(f, "%-32s %-10s %s\n", metric_full_name(name, &metrics[i]), *metrics[i].unit ? metrics[i].unit : "-", metrics[i].help);
    for (size_t i = 0; i < N_PARTS; i++)
        fprintf(f, "%-32s %-10s %s\n", part_column(name, i), "s", "mean over the IPUs, of one step");
}

json_t *metrics_json(void)
{
    static const char *const types[] = { [FIELD_TEXT] = "text", [FIELD_U64] = "count", [FIELD_F64] = "number", [FIELD_BOOL] = "flag" };
    json_t *all = json_array();
    char name[64];
    for (size_t i = 0; i < N_METRICS; i++) {
        const struct metric *m = &metrics[i];
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:s}", "name", metric_full_name(name, m), "group", groups[m->group].label,
                                             "type", types[m->type], "unit", m->unit, "in_csv", m->place == ROW, "may_be_unknown",
                                             m->absence == OR_UNKNOWN, "help", m->help));
    }
    return all;
}

/* ---- the schema of JSON ----------------------------------------------------------------------- */

static json_t *schema_of_type(const char *type, bool may_be_null)
{
    return may_be_null ? json_pack("[s, s]", type, "null") : json_string(type);
}

static json_t *schema_of_metric(const struct metric *m)
{
    static const char *const types[] = { [FIELD_TEXT] = "string", [FIELD_U64] = "integer", [FIELD_F64] = "number", [FIELD_BOOL] = "boolean" };
    json_t *property = json_pack("{s:o, s:s}", "type", schema_of_type(types[m->type], m->absence == OR_UNKNOWN), "description", m->help);
    if (*m->unit)
        json_object_set_new(property, "unit", json_string(m->unit));
    return property;
}

/* An object of these properties; required holds the names that it never lacks. */
static json_t *schema_of_object(json_t *properties, json_t *required, const char *description)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "type", "object", "description", description, "properties", properties, "required", required);
}

/* The metrics of a group as members of an object, or with N_METRIC_GROUPS those that are members of the result itself. */
static json_t *schema_of_group(int group, const char *description)
{
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < N_METRICS; i++) {
        const struct metric *m = &metrics[i];
        bool belongs = group == N_METRIC_GROUPS ? m->place == ROW && m->group != METRICS_PROVENANCE : (int)m->group == group && m->member;
        if (!belongs)
            continue;
        json_object_set_new(properties, group == N_METRIC_GROUPS ? m->name : m->member, schema_of_metric(m));
        if (group == N_METRIC_GROUPS)           /* the members of an object are left out where the first says why */
            json_array_append_new(required, json_string(m->name));
    }
    return schema_of_object(properties, required, description);
}

static json_t *schema_of_breakdown(void)
{
    json_t *parts = json_object(), *required = json_array();
    for (size_t i = 0; i < N_PARTS; i++) {
        json_object_set_new(parts, part_names[i], json_pack("{s:s, s:s}", "type", "number", "unit", "s"));
        json_array_append_new(required, json_string(part_names[i]));
    }
    return schema_of_object(parts, required, "the seconds of a step, mean over the IPUs; they sum to step_time_s");
}

static json_t *schema_of_provenance(void)
{
    json_t *texts = json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string");
    json_t *properties = json_pack("{s:{s:s}, s:{s:s}, s:{s:s}, s:O, s:O, s:{s:s}}", "podbench", "type", "string", "format", "type", "integer", "recipe", "type",
                                   "string", "overrides", texts, "sheets", texts, "inputs", "type", "string");
    json_decref(texts);
    return schema_of_object(properties, json_pack("[s, s, s, s, s, s]", "podbench", "format", "recipe", "overrides", "sheets", "inputs"), "what made the result");
}

json_t *result_json_schema(void)
{
    json_t *result = schema_of_group(N_METRIC_GROUPS, "the result of one recipe"), *properties = json_object_get(result, "properties");
    static const char *const always[] = { "breakdown", "made_by", "validity", "notes", "framework_options" };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        json_array_append_new(json_object_get(result, "required"), json_string(always[i]));
    json_object_set_new(properties, "breakdown", schema_of_breakdown());
    json_object_set_new(properties, "made_by", schema_of_provenance());
    json_object_set_new(properties, "validity", json_pack("{s:s, s:s}", "type", "object", "description", "how far the throughput can be trusted"));
    json_object_set_new(properties, "notes", json_pack("{s:s, s:{s:s}, s:s}", "type", "array", "items", "type", "string", "description",
                                                       "what may not mean what was expected: settings without effect, rough prices, rerouted traffic"));
    json_object_set_new(properties, "framework_options", json_pack("{s:s, s:s}", "type", "array", "description", "the configuration as options of its framework"));
    for (int g = 0; g < N_METRIC_GROUPS; g++)
        if (groups[g].object)
            json_object_set_new(properties, groups[g].object, schema_of_group(g, groups[g].title));
    return json_pack("{s:s, s:s, s:i, s:s, s:o}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title", "podbench run --format json", "version",
                     RESULT_FORMAT, "type", "array", "items", result);
}

/* ---- the page of formats ---------------------------------------------------------------------- */

static bool is_in_answer(const struct metric *m)
{
    char bracket[64];
    size_t n = (size_t)snprintf(bracket, sizeof bracket, "[%s", m->name);
    for (size_t i = 0; i < N_METRICS; i++) {
        const char *at = metrics[i].phrase ? strstr(metrics[i].phrase, bracket) : NULL;
        if (at && strchr(" ~]/*", at[n]))
            return true;
    }
    return false;
}

static void print_group_markdown(FILE *f, enum metric_group group)
{
    const char *object = groups[group].object;
    fprintf(f, "\n## %s\n\n| name | unit | CSV |%s%s%s may be unknown | in the answer | meaning |\n|---|---|---|%s---|---|---|\n", groups[group].title,
            object ? " member of `" : "", object ? object : "", object ? "` |" : "", object ? "---|" : "");
    for (size_t i = 0; i < N_METRICS; i++) {
        const struct metric *m = &metrics[i];
        if (m->group != group)
            continue;
        fprintf(f, "| `%s` | %s | %s |", m->name, m->unit, m->place == ROW ? "yes" : "");
        if (object)
            fprintf(f, " `%s` |", m->member ? m->member : "-");
        fprintf(f, " %s | %s | %s |\n", m->absence == OR_UNKNOWN ? "yes" : "", is_in_answer(m) ? "yes" : "", m->help);
    }
}

void metrics_print_markdown(FILE *f)
{
    char name[64];
    fputs("# Formats: what a run gives\n\n"
          "`make readme` writes this page from results/simulate/podbench_metrics.def, the table from which the answer, `run --all`, JSON, CSV\n"
          "and the library's `struct podbench_result` come too. `podbench list metrics` prints it.\n\n"
          "- **Answer**: `podbench run RECIPE` prints the metrics marked below in a dozen lines; `--all` adds one line for each column of CSV.\n"
          "- **CSV**: `--format csv`, and the `rows.csv` of a run's folder. A value that is not known is an empty cell.\n"
          "- **JSON**: `--format json`; an array with an object for each recipe. Columns of CSV are members of the object, those under\n"
          "  Provenance in its member `made_by`; energy and money have objects of their own. A value that is not known is null.\n"
          "  `podbench list schema` prints its JSON Schema; docs/schema has those of all commands. There each member has a meaning, and each\n"
          "  number its unit; one without a unit is a count, a share, or in the unit that its row names.\n"
          "- **Library**: every number is a field of `struct podbench_result`; 0 where it is not known.\n\n", f);
    fprintf(f, "The version of these formats is %d; JSON has it as `made_by.format`. Columns and members may be added at any time, so pick them by name.\n"
               "When one is renamed, goes, or changes its unit or meaning, the version grows, and CHANGELOG.md says what to change.\n", RESULT_FORMAT);
    for (int g = 0; g < N_METRIC_GROUPS; g++)
        print_group_markdown(f, (enum metric_group)g);
    fputs("\n## Parts of the step\n\nSeconds of one step, mean over the IPUs; they sum to `step_time_s`. JSON has them in the object `breakdown`.\n\n", f);
    for (size_t i = 0; i < N_PARTS; i++)
        fprintf(f, "- `%s`\n", part_column(name, i));
}

/* ---- parts ---------------------------------------------------------------------------------- */

struct sized_part { enum part part; double size; };

static int by_size(const void *x, const void *y)
{
    const struct sized_part *a = x, *b = y;
    return a->size != b->size ? (a->size < b->size) - (a->size > b->size) : (int)a->part - (int)b->part;
}

void parts_by_size(enum part out[N_PARTS], const double values[N_PARTS])
{
    struct sized_part sized[N_PARTS];
    for (int k = 0; k < N_PARTS; k++)
        sized[k] = (struct sized_part){ (enum part)k, fabs(values[k]) };
    sort_items(sized, N_PARTS, sizeof *sized, by_size);
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

/* The column of each metric and part, or SIZE_MAX if the table has none. */
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
    for (size_t i = 0; i < set->n; i++)
        if (text_is(set->items[i].id, id))
            return &set->items[i];
    return NULL;
}
