/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result_fields.c - how a result prints: one table of columns for text, CSV and JSON.
 *
 * A value that is unknown (no published power, no way to converge) is absent: an empty cell, a JSON
 * null, a dash in text. The parts of the breakdown follow the columns, and sum to step_time_s. The same
 * table reads rows back.
 */
#include "results/simulate/result.h"
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum presence { KNOWN, ZERO_IS_UNKNOWN };

static const struct result_column {
    const char *name, *unit;
    enum field_type type;
    size_t offset;
    enum presence presence;
    enum better better;
    const char *help;
} columns[] = {
#define C(name, unit, type, presence, better, help) \
    { #name, unit, type, offsetof(struct result, name), presence, better, help }
    C(id,                              NULL,        FIELD_TEXT, KNOWN, NEITHER, "recipe"),
    C(workload,                        NULL,        FIELD_TEXT, KNOWN, NEITHER, "model"),
    C(system,                          NULL,        FIELD_TEXT, KNOWN, NEITHER, "machine"),
    C(ipus,                            "",          FIELD_U64,  KNOWN, NEITHER, "chips in use"),
    C(global_batch,                    "samples",   FIELD_F64,  KNOWN, NEITHER, "samples a weight update, counted as the source does"),
    C(throughput_samples_per_s,        "samples/s", FIELD_F64,  KNOWN, HIGHER, "steady state"),
    C(step_time_s,                     "s",         FIELD_F64,  KNOWN, LOWER, "one weight update, or one call"),
    C(latency_s,                       "s",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "inference: input to result"),
    C(samples_to_converge,             "samples",   FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "samples until the target is met"),
    C(train_time_s,                    "s",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "training proper"),
    C(eval_time_s,                     "s",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "evaluations inside the timed region, with their checkpoints"),
    C(evaluation_time_s,               "s",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "one evaluation, with its checkpoint"),
    C(startup_time_s,                  "s",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "from the start of timing to the first step"),
    C(tail_time_s,                     "s",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "from the last step to the end of timing"),
    C(scaling_time_s,                  "s",         FIELD_F64,  KNOWN, LOWER, "added where MLPerf scales runs that converge faster than its reference"),
    C(time_to_train_s,                 "s",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "training, evaluations, start, end and scaling"),
    C(predicted_samples_to_converge,   "samples",   FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "by the global batch, whatever the recipe gives"),
    C(predicted_time_to_train_s,       "s",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "with those"),
    C(fits,                            NULL,        FIELD_BOOL, KNOWN, HIGHER, "every tile holds what it must"),
    C(memory_peak_bytes_per_tile,      "B",         FIELD_U64,  KNOWN, LOWER, "on the fullest tile"),
    C(memory_shortfall_bytes_per_tile, "B",         FIELD_U64,  KNOWN, LOWER, "what the fullest tile lacks"),
    C(mfu,                             "",          FIELD_F64,  KNOWN, HIGHER, "model flop over peak flop"),
    C(hfu,                             "",          FIELD_F64,  KNOWN, HIGHER, "the same with recomputation counted"),
    C(energy_per_step_j,               "J",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "of a step, modelled from the power of boards or chips"),
    C(energy_j,                        "J",         FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "of the whole training, at the power of its steps"),
    C(cost_per_step,                   "",          FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "by the recipe's price for an hour, in its currency"),
    C(cost_to_train,                   "",          FIELD_F64,  ZERO_IS_UNKNOWN, LOWER, "of the whole training, likewise"),
    C(fault_cost_s,                    "s",         FIELD_F64,  KNOWN, LOWER, "of the step: what the recipe's faults cost"),
#undef C
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* What made the result: the last columns of a row. Rows of older versions have none. */
static const struct provenance_column { const char *name; size_t offset; } provenance[] = {
    { "version", offsetof(struct result, version) },
    { "inputs", offsetof(struct result, inputs) },
    { "overrides", offsetof(struct result, overrides) },
};
enum { N_PROVENANCE = sizeof provenance / sizeof *provenance };

bool result_column_is_provenance(const char *name)
{
    for (size_t i = 0; i < N_PROVENANCE; i++)
        if (text_is(provenance[i].name, name))
            return true;
    return false;
}

static const char **provenance_at(const struct result *r, size_t i)
{
    return (const char **)((const char *)r + provenance[i].offset);
}

/* What may be unknown are numbers with a fraction, all of them. */
static bool is_unknown(const struct result_column *c, const void *at)
{
    return c->presence == ZERO_IS_UNKNOWN && *(const double *)at == 0;
}

/* The cell's text; "" when unknown. Ten digits: enough to see any change, few enough not to show rounding. */
static void format_value(char *out, size_t n, const struct result_column *c, const struct result *r)
{
    const void *at = (const char *)r + c->offset;
    const char *text = c->type == FIELD_TEXT ? *(const char *const *)at : NULL;
    if (c->type == FIELD_TEXT)
        snprintf(out, n, "%s", text ? text : "");
    else if (c->type == FIELD_BOOL)
        strcpy(out, *(const bool *)at ? "yes" : "no");
    else if (is_unknown(c, at))
        *out = '\0';
    else if (c->type == FIELD_U64)
        format_u64(out, *(const uint64_t *)at);
    else
        format_g10(out, *(const double *)at);
}

void result_print_text(FILE *f, const struct result *r)
{
    char value[256];
    for (size_t i = 0; i < N_COLUMNS; i++) {
        format_value(value, sizeof value, &columns[i], r);
        bool has_unit = *value && columns[i].unit && *columns[i].unit;
        fprintf(f, "%-32s %s%s%s\n", columns[i].name, *value ? value : "-", has_unit ? " " : "", has_unit ? columns[i].unit : "");
    }
    fprintf(f, "%-32s\n", "breakdown");
    for (size_t i = 0; i < N_PARTS; i++)
        if (r->breakdown_s[i] != 0)
            fprintf(f, "  %-30s %.6g s  %5.1f %%\n", part_names[i], r->breakdown_s[i], 100 * r->breakdown_s[i] / r->step_time_s);
}

void result_write_csv_header(FILE *f)
{
    char name[64];
    for (size_t i = 0; i < N_COLUMNS; i++)
        csv_write_cell(f, columns[i].name, false);
    for (size_t i = 0; i < N_PARTS; i++) {
        snprintf(name, sizeof name, "breakdown_%s_s", part_names[i]);
        csv_write_cell(f, name, false);
    }
    for (size_t i = 0; i < N_PROVENANCE; i++)
        csv_write_cell(f, provenance[i].name, i + 1 == N_PROVENANCE);
}

const char *result_columns(struct arena *a)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = text_stream(&text, &n);
    result_write_csv_header(f);
    fclose(f);
    const char *header = arena_strdup(a, text);
    free(text);
    return header;
}

/* Numbers want no quotes: those that follow one another are written at once. */
void result_write_csv(FILE *f, const struct result *r)
{
    enum { LONGEST_NUMBER = 32 };
    char numbers[(N_COLUMNS + N_PARTS) * LONGEST_NUMBER], *end = numbers;
    for (size_t i = 0; i < N_COLUMNS; i++) {
        if (columns[i].type == FIELD_TEXT) {
            const char *text = *(const char *const *)((const char *)r + columns[i].offset);
            fwrite(numbers, 1, (size_t)(end - numbers), f);
            end = numbers;
            csv_write_cell(f, text ? text : "", false);
            continue;
        }
        format_value(end, LONGEST_NUMBER, &columns[i], r);
        end += strlen(end);
        *end++ = ',';
    }
    for (size_t i = 0; i < N_PARTS; i++) {
        end += format_g10(end, r->breakdown_s[i]);
        *end++ = ',';
    }
    fwrite(numbers, 1, (size_t)(end - numbers), f);
    for (size_t i = 0; i < N_PROVENANCE; i++) {
        const char *text = *provenance_at(r, i);
        csv_write_cell(f, text ? text : "", i + 1 == N_PROVENANCE);
    }
}

void result_write_csv_empty(FILE *f)
{
    for (size_t i = 1; i < N_COLUMNS + N_PARTS + N_PROVENANCE; i++)
        fputc(',', f);
    fputc('\n', f);
}

static json_t *column_json(const struct result_column *c, const struct result *r)
{
    const void *at = (const char *)r + c->offset;
    if (is_unknown(c, at))
        return json_null();
    switch (c->type) {
    case FIELD_TEXT: return *(const char *const *)at ? json_string(*(const char *const *)at) : json_null();
    case FIELD_BOOL: return json_boolean(*(const bool *)at);
    case FIELD_U64:  return json_integer((json_int_t)*(const uint64_t *)at);
    default:         return json_real(*(const double *)at);
    }
}

json_t *result_json(const struct result *r)
{
    json_t *object = json_object(), *breakdown = json_object();
    for (size_t i = 0; i < N_COLUMNS; i++)
        json_object_set_new(object, columns[i].name, column_json(&columns[i], r));
    for (size_t i = 0; i < N_PARTS; i++)
        json_object_set_new(breakdown, part_names[i], json_real(r->breakdown_s[i]));
    json_object_set_new(object, "breakdown", breakdown);
    return object;
}

enum better result_column_better(const char *name)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        if (text_is(columns[i].name, name))
            return columns[i].better;
    return strncmp(name, "breakdown_", strlen("breakdown_")) == 0 ? LOWER : NEITHER;
}

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

static bool read_cell(struct result *out, const struct result_column *c, const char *text, const char *where, struct err *err)
{
    if (!*text && (c->presence == ZERO_IS_UNKNOWN || c->type == FIELD_TEXT))
        return true;
    struct field f = { .name = c->name, .unit = c->unit, .type = c->type, .offset = c->offset, .min = 0, .max = HUGE_VAL };
    return field_set(out, &f, text, where, err);
}

static bool read_row(struct result *out, const struct csv_table *t, const struct csv_row *row, const size_t *at, struct err *err)
{
    char where[256];
    for (size_t i = 0; i < N_COLUMNS; i++) {
        snprintf(where, sizeof where, "%.200s:%u: %s", t->path, row->line, columns[i].name);
        if (at[i] != SIZE_MAX && !read_cell(out, &columns[i], row->cells[at[i]], where, err))
            return false;
    }
    for (size_t i = 0; i < N_PARTS; i++)
        if (!parse_f64(row->cells[at[N_COLUMNS + i]], &out->breakdown_s[i]))
            return fail(err, "%s:%u: breakdown_%s_s: '%.60s' is not a number", t->path, row->line, part_names[i],
                        row->cells[at[N_COLUMNS + i]]);
    size_t column;
    for (size_t i = 0; i < N_PROVENANCE; i++)
        if (csv_column(&column, t, provenance[i].name, NULL))
            *provenance_at(out, i) = row->cells[column];
    return true;
}

static bool check_ids(const struct results *all, const struct csv_table *t, struct arena *a, struct err *err)
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
    size_t at[N_COLUMNS + N_PARTS];
    char name[64];
    *out = (struct results){0};
    if (!csv_load(&t, rows_csv, a, err))
        return false;
    for (size_t i = 0; i < N_COLUMNS; i++)
        if (!csv_column(&at[i], &t, columns[i].name, columns[i].presence == KNOWN ? err : NULL)) {
            if (columns[i].presence == KNOWN)
                return false;
            at[i] = SIZE_MAX;           /* a run of an older version: unknown */
        }
    for (size_t i = 0; i < N_PARTS; i++) {
        snprintf(name, sizeof name, "breakdown_%s_s", part_names[i]);
        if (!csv_column(&at[N_COLUMNS + i], &t, name, err))
            return false;
    }
    for (size_t i = 0; i < t.n_rows; i++) {
        struct result r = {0};
        if (!read_row(&r, &t, &t.rows[i], at, err))
            return false;
        results_add(out, &r, a);
    }
    return check_ids(out, &t, a, err);
}

void results_add(struct results *set, const struct result *r, struct arena *a)
{
    set->items = arena_grow(a, set->items, set->n, &set->cap, sizeof *set->items);
    struct result *copy = &set->items[set->n++];
    *copy = *r;
    copy->id = r->id ? arena_strdup(a, r->id) : NULL;
    copy->workload = r->workload ? arena_strdup(a, r->workload) : NULL;
    copy->system = r->system ? arena_strdup(a, r->system) : NULL;
    for (size_t i = 0; i < N_PROVENANCE; i++)
        *provenance_at(copy, i) = *provenance_at(r, i) ? arena_strdup(a, *provenance_at(r, i)) : NULL;
}

const struct result *results_find(const struct results *set, const char *id)
{
    for (size_t i = 0; i < set->n; i++)
        if (text_is(set->items[i].id, id))
            return &set->items[i];
    return NULL;
}
