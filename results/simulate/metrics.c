/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.c - the table of metrics: as a list, as the page docs/formats.md, and as the JSON schema of run.
 */
#include "results/simulate/metrics.h"
#include "system-model/output/output.h"
#include <jansson.h>

enum { METRIC_FIELD_TEXT = FIELD_TEXT, METRIC_FIELD_COUNT = FIELD_U64, METRIC_FIELD_NUMBER = FIELD_F64, METRIC_FIELD_FLAG = FIELD_BOOL };

const struct metric metrics[N_METRICS] = {
#define METRIC(type, name, unit, group, place, absence, better, member, phrase, help) \
    { #name, unit, (enum field_type)METRIC_FIELD_##type, offsetof(struct result, name), METRICS_##group, place, absence, better, member, phrase, help },
#include "results/simulate/podbench_metrics.def"
#undef METRIC
};

const struct metric_heading metric_groups[N_METRIC_GROUPS] = {
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

const struct metric *metric_named(const char *name, size_t n)
{
    for (size_t i = 0; i < N_METRICS; i++)
        if (strlen(metrics[i].name) == n && memcmp(metrics[i].name, name, n) == 0)
            return &metrics[i];
    return NULL;
}

const char *part_column(char out[PART_COLUMN_ROOM], size_t part)
{
    snprintf(out, PART_COLUMN_ROOM, "breakdown_%s_s", part_names[part]);
    return out;
}

/* ---- the list of metrics -------------------------------------------------------------------- */

static const char *metric_full_name(char out[64], const struct metric *m)
{
    if (m->place == ROW)
        return m->name;
    snprintf(out, 64, "%s.%s", metric_groups[m->group].object, m->member);
    return out;
}

struct metric_row { const char *name, *group, *type, *unit; bool in_csv, may_be_unknown; const char *help; };
static const struct table_column metric_columns[] = {
#define C(member, ...) { COLUMN(struct metric_row, member), __VA_ARGS__ }
    C(name, .heading = "metric"), C(group), C(type), C(unit, .heading = "unit"), C(in_csv), C(may_be_unknown), C(help, .heading = "meaning"),
#undef C
};

/* Lists the metrics. Text and CSV also list the parts of a step; in JSON these have an object "breakdown" of their own. */
static void metrics_list(struct document *d)
{
    static const char *const types[] = { [FIELD_TEXT] = "text", [FIELD_U64] = "count", [FIELD_F64] = "number", [FIELD_BOOL] = "flag" };
    struct table *all = document_table(d, TABLE(metric_columns, struct metric_row, .formats = IN_TEXT | IN_CSV));
    char name[64];
    for (const struct metric *m = metrics; m < metrics + N_METRICS; m++)
        table_keep(all, &(struct metric_row){ metric_full_name(name, m), metric_groups[m->group].label, types[m->type], m->unit, m->place == ROW,
                                              m->absence == OR_UNKNOWN, m->help }, d->arena);
    document_table(d, TABLE_OF(metric_columns, (struct metric_row *)all->rows, N_METRICS, .formats = IN_JSON));
    for (size_t i = 0; i < N_PARTS; i++)
        table_keep(all, &(struct metric_row){ part_column(name, i), "breakdown", "number", "s", true, false, "mean over the IPUs, of one step" }, d->arena);
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

struct page_row { const char *name, *unit, *in_csv, *member, *unknown, *in_answer, *help; };
enum { PAGE_MEMBER = 3 };
static const struct table_column page_columns[] = {
#define C(member, text, ...) { COLUMN(struct page_row, member), .heading = text, __VA_ARGS__ }
    C(name, "name", .is_code = true), C(unit, "unit"), C(in_csv, "CSV"), C(member, NULL, .is_code = true), C(unknown, "may be unknown"),
    C(in_answer, "in the answer"), C(help, "meaning"),
#undef C
};

static void page_add_group(struct document *d, enum metric_group group)
{
    struct table *t = document_table(d, TABLE(page_columns, struct page_row, .formats = IN_MARKDOWN));
    const char *object = metric_groups[group].object;
    struct table_column *columns = ARENA_ARRAY(d->arena, struct table_column, t->n_columns);
    t->columns = memcpy(columns, page_columns, sizeof page_columns);
    t->title = arena_printf(d->arena, "\n## %s", metric_groups[group].title);
    if (object)
        columns[PAGE_MEMBER].heading = arena_printf(d->arena, "member of `%s`", object);
    for (const struct metric *m = metrics; m < metrics + N_METRICS; m++)
        if (m->group == group)
            table_add(t, &(struct page_row){ m->name, m->unit, m->place == ROW ? "yes" : "", m->member, m->absence == OR_UNKNOWN ? "yes" : "",
                                             is_in_answer(m) ? "yes" : "", m->help }, d->arena);
}

static void page_document(struct document *d)
{
    char name[64];
    document_line_for(d, IN_MARKDOWN, "# Formats: what a run gives\n\n"
          "`make readme` writes this page from results/simulate/podbench_metrics.def, the table from which the answer, `run --all`, JSON, CSV\n"
          "and the library's `struct podbench_result` come too. `podbench list metrics` prints it.\n\n"
          "- **Answer**: `podbench run RECIPE` prints the metrics marked below in a dozen lines; `--all` adds one line for each column of CSV.\n"
          "- **CSV**: `--format csv`, and the `rows.csv` of a run's folder. A value that is not known is an empty cell.\n"
          "- **JSON**: `--format json`; an array with an object for each recipe. Columns of CSV are members of the object, those under\n"
          "  Provenance in its member `made_by`; energy and money have objects of their own. A value that is not known is null.\n"
          "  `podbench list schema` prints its JSON Schema; docs/schema has those of all commands. There each member has a meaning, and each\n"
          "  number its unit; one without a unit is a count, a share, or in the unit that its row names.\n"
          "- **Library**: every number is a field of `struct podbench_result`; 0 where it is not known.\n\n"
          "The version of these formats is %d; JSON has it as `made_by.format`. Columns and members may be added at any time, so pick them by name.\n"
          "When one is renamed, goes, or changes its unit or meaning, the version grows, and CHANGELOG.md says what to change.", RESULT_FORMAT);
    for (int g = 0; g < N_METRIC_GROUPS; g++)
        page_add_group(d, (enum metric_group)g);
    document_line_for(d, IN_MARKDOWN, "\n## Parts of the step\n\nSeconds of one step, mean over the IPUs; they sum to `step_time_s`. JSON has them in the object `breakdown`.\n");
    for (size_t i = 0; i < N_PARTS; i++)
        document_line_for(d, IN_MARKDOWN, "- `%s`", part_column(name, i));
}

void metrics_document(struct document *d)
{
    metrics_list(d);
    page_document(d);
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

/* The schema of an object; `required` holds the names that the object always has. */
static json_t *schema_of_object(json_t *properties, json_t *required, const char *description)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "type", "object", "description", description, "properties", properties, "required", required);
}

/* The schema of a group's object. For N_METRIC_GROUPS it is the schema of the result, with its own metrics as members. */
static json_t *schema_of_group(int group, const char *description)
{
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < N_METRICS; i++) {
        const struct metric *m = &metrics[i];
        bool belongs = group == N_METRIC_GROUPS ? m->place == ROW && m->group != METRICS_PROVENANCE : (int)m->group == group && m->member;
        if (!belongs)
            continue;
        json_object_set_new(properties, group == N_METRIC_GROUPS ? m->name : m->member, schema_of_metric(m));
        if (group == N_METRIC_GROUPS)           /* an object of a group may hold only its first member, which says why the others are missing */
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
        if (metric_groups[g].object)
            json_object_set_new(properties, metric_groups[g].object, schema_of_group(g, metric_groups[g].title));
    return json_pack("{s:s, s:s, s:i, s:s, s:o}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title", "podbench run --format json", "version",
                     RESULT_FORMAT, "type", "array", "items", result);
}
