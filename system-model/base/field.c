/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * field.c - field tables: a record's members by name, with type, unit and range.
 */
#include "system-model/base/base.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

const struct field *field_find(const struct field *fields, size_t n_fields, const char *name)
{
    return FIND_TEXT(fields, n_fields, struct field, name, name);
}

/* A blank and the unit; "" for counts and shares. */
static const char *blank_and_unit(const struct field *f, char text[40])
{
    bool is_bare = !f->unit || !*f->unit || text_is(f->unit, "1") || text_is(f->unit, "share");
    snprintf(text, 40, "%s%s", is_bare ? "" : " ", is_bare ? "" : f->unit);
    return text;
}

static bool in_range(const struct field *f, double v, const char *text, const char *where, struct err *err)
{
    char unit[40];
    if (v < f->min || v > f->max)
        return fail(err, "%s: %s is outside %.15g to %.15g%s", where, text, f->min, f->max, blank_and_unit(f, unit));
    return true;
}

static bool ends_in_other_case(const char *text, const char *unit)
{
    size_t n = strlen(text), n_unit = strlen(unit);
    return n > n_unit && strcasecmp(text + n - n_unit, unit) == 0;
}

static bool field_set_number(void *at, const struct field *f, const char *text, const char *where, struct err *err)
{
    static const double most_exact = 0x1p53;
    double v;
    uint64_t u;
    bool has_unit = f->unit && *f->unit, is_quantity = parse_quantity(text, f->unit, &v);
    bool other_unit = has_unit && !is_quantity && isdigit((unsigned char)*text) && isalpha((unsigned char)text[strlen(text) - 1]);
    if (other_unit && ends_in_other_case(text, f->unit))
        return fail(err, "%s: '%.60s' is not in %s: small and capital letters differ; write %.*s%s", where, text, f->unit,
                    (int)(strlen(text) - strlen(f->unit)), text, f->unit);
    if (other_unit)
        return fail(err, "%s: '%.60s' is not in %s, with or without a prefix such as k or M", where, text, f->unit);
    if (f->type == FIELD_F64) {
        if (!is_quantity)
            return fail(err, "%s: '%.60s' is not a number", where, text);
        *(double *)at = v;
        return in_range(f, v, text, where, err);
    }
    bool ends_in_unit = has_unit && is_quantity && isalpha((unsigned char)text[strlen(text) - 1]);
    if (ends_in_unit && v >= 0 && v < most_exact && v == floor(v))
        u = (uint64_t)v;
    else if (ends_in_unit)
        return fail(err, "%s: '%.60s' is not a whole number of %s", where, text, f->unit);
    else if (!parse_u64(text, &u))
        return fail(err, "%s: '%.60s' %s", where, text, why_no_u64(text));
    if (!in_range(f, (double)u, text, where, err))
        return false;
    assert(f->type != FIELD_U32 || u <= UINT32_MAX);        /* a field's range is within its type */
    if (f->type == FIELD_U32)
        *(uint32_t *)at = (uint32_t)u;
    else
        *(uint64_t *)at = u;
    return true;
}

static bool field_set_choice(void *at, const struct field *f, const char *text, const char *where, struct err *err)
{
    char known[256] = "";
    int n = 0;
    while (f->choices[n] && !text_is(f->choices[n], text))
        n++;
    if (f->choices[n]) {
        *(int *)at = n;
        return true;
    }
    for (int i = 0; i < n; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", f->choices[i]);
    }
    return fail(err, "%s: '%.60s' is not one of: %s", where, text, known);
}

bool field_set(void *record, const struct field *f, const char *text, const char *where, struct err *err)
{
    void *at = (char *)record + f->offset;
    switch (f->type) {
    case FIELD_U64:
    case FIELD_U32:
    case FIELD_F64:
        return field_set_number(at, f, text, where, err);
    case FIELD_CHOICE:
        return field_set_choice(at, f, text, where, err);
    case FIELD_TEXT:
        *(const char **)at = text;
        return *text ? true : fail(err, "%s: is empty", where);
    case FIELD_BOOL:
        if (!text_is(text, "yes") && !text_is(text, "no"))
            return fail(err, "%s: '%.60s' is not one of: yes, no", where, text);
        *(bool *)at = text_is(text, "yes");
        return true;
    }
    assert(false && "a field type");
    return false;
}

size_t field_bytes(const struct field *f)
{
    static const size_t n_bytes[] = { [FIELD_U64] = sizeof(uint64_t), [FIELD_U32] = sizeof(uint32_t), [FIELD_F64] = sizeof(double),
                                      [FIELD_TEXT] = sizeof(char *), [FIELD_BOOL] = sizeof(bool), [FIELD_CHOICE] = sizeof(int) };
    return n_bytes[f->type];
}

bool fields_load(struct csv_table *out, const char *path, const struct field *fields, size_t n_fields, struct arena *a, struct err *err)
{
    size_t at;
    bool good = csv_load(out, path, a, err);
    for (const struct field *f = fields; good && f < fields + n_fields; f++)
        good = csv_column(&at, out, f->name, err);
    return good;
}

bool fields_from_row(void *record, const struct field *fields, size_t n_fields, const struct csv_table *t, const struct csv_row *row, struct err *err)
{
    char where[300];
    for (const struct field *f = fields; f < fields + n_fields; f++) {
        const char *cell = csv_cell(t, row, f->name);
        void *member = (char *)record + f->offset;
        if (*cell || f->required) {
            if (field_set(record, f, cell, "", NULL))
                continue;
            snprintf(where, sizeof where, "%.200s:%u: %s", t->path, row->line, f->name);
            return field_set(record, f, cell, where, err);
        } else if (f->type == FIELD_F64) {
            *(double *)member = NAN;
        } else if (f->type == FIELD_TEXT) {
            *(const char **)member = "";
        }
    }
    return true;
}

void *records_load(struct csv_table *t, size_t record_bytes, const char *path, const struct field *fields, size_t n_fields, struct arena *a, struct err *err)
{
    if (!fields_load(t, path, fields, n_fields, a, err))
        return NULL;
    char *records = arena_array(a, t->n_rows, record_bytes);
    for (size_t i = 0; i < t->n_rows; i++)
        if (!fields_from_row(records + i * record_bytes, fields, n_fields, t, &t->rows[i], err))
            return NULL;
    return records;
}

bool record_load(void *record, const char *path, const struct field *fields, size_t n_fields, struct arena *a, struct err *err)
{
    struct csv_table t;
    if (!fields_load(&t, path, fields, n_fields, a, err))
        return false;
    if (t.n_rows != 1)
        return fail(err, "%s: %zu rows, want one; 'make baseline' writes it", path, t.n_rows);
    return fields_from_row(record, fields, n_fields, &t, &t.rows[0], err);
}

const char *field_text(const struct field *f, const void *record, struct arena *a)
{
    const void *at = (const char *)record + f->offset;
    switch (f->type) {
    case FIELD_U64:    return arena_printf(a, "%" PRIu64, *(const uint64_t *)at);
    case FIELD_U32:    return arena_printf(a, "%" PRIu32, *(const uint32_t *)at);
    case FIELD_F64:    return arena_printf(a, "%.15g", *(const double *)at);
    case FIELD_BOOL:   return *(const bool *)at ? "yes" : "no";
    case FIELD_CHOICE: return f->choices[*(const int *)at];
    case FIELD_TEXT:   return *(const char *const *)at ? *(const char *const *)at : "";
    }
    assert(false && "a field type");
    return "";
}
