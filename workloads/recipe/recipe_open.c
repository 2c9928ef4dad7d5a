/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_open.c - [open]: settings that a recipe's source leaves open, with the readings that are as possible as the one taken.
 *
 *     [open]
 *     precision.partials = fp32
 *     hosts.steps_per_call = 1 | 312
 * Each is checked as --set would be, and is another than the one taken. What --set gives is settled, and open no longer. Published figures choose
 * no reading.
 */
#include "workloads/recipe/recipe_internal.h"

#include <string.h>

static const char *slice(const char *from, const char *end, struct arena *a)
{
    while (from < end && *from == ' ')
        from++;
    while (from < end && end[-1] == ' ')
        end--;
    return memcpy(arena_alloc(a, (size_t)(end - from) + 1), from, (size_t)(end - from));
}

/* An entry of [open] as the entry that it is about; false: it is about none. */
static bool find_subject(struct ini_entry *out, const struct ini_entry *e, const char *place, struct arena *a, struct err *err)
{
    const char *dot = strchr(e->key, '.');
    if (!dot || dot == e->key || !dot[1])
        return fail(err, "%s: want section.key = another reading, as in precision.partials = fp32", place);
    *out = (struct ini_entry){ slice(e->key, dot, a), dot + 1, e->value, e->line };
    return true;
}

/* Where a reading is tried: the recipe, or its framework as far as the recipe sets it. */
struct tried { struct recipe recipe; struct framework framework; };
struct subject { struct ini_entry entry; const struct field *field; bool of_framework; const char *place; };

static bool find_field(struct subject *s, struct arena *a, struct err *err)
{
    const struct recipe_key *key = recipe_key_find(s->entry.section, s->entry.key);
    s->of_framework = text_is(s->entry.section, "framework");
    s->field = key ? &key->field : s->of_framework ? field_find(framework_fields, n_framework_fields, s->entry.key) : NULL;
    if (s->field)
        return true;
    if ((text_is(s->entry.section, "optimizer") && recipe_takes_hyperparameter(s->entry.key)) || text_is(s->entry.section, "faults"))
        return fail(err, "%s: has no readings; want a key that podbench list keys has a range of values for", s->place);
    return recipe_unknown_key(s->place, &s->entry, a, err);
}

static const struct ini_entry *entry_of(const struct recipe *r, const struct ini_entry *like)
{
    for (size_t i = 0; i < r->n_entries; i++)
        if (text_is(r->entries[i].section, like->section) && text_is(r->entries[i].key, like->key))
            return &r->entries[i];
    return NULL;
}

static bool is_same_value(const struct field *f, const void *x, const void *y)
{
    const char *p = (const char *)x + f->offset, *q = (const char *)y + f->offset;
    switch (f->type) {
    case FIELD_U64:    return *(const uint64_t *)p == *(const uint64_t *)q;
    case FIELD_U32:    return *(const uint32_t *)p == *(const uint32_t *)q;
    case FIELD_F64:    return *(const double *)p == *(const double *)q;
    case FIELD_BOOL:   return *(const bool *)p == *(const bool *)q;
    case FIELD_CHOICE: return *(const int *)p == *(const int *)q;
    case FIELD_TEXT:   return text_is(*(const char *const *)p, *(const char *const *)q);
    }
    return false;
}

/* What the recipe has, or a default; of the framework only what the recipe itself sets is known here. */
static bool is_taken(const struct subject *s, const struct recipe *r, const struct ini_entry *taken, const struct tried *with)
{
    struct framework own = {0};
    if (!s->of_framework)
        return is_same_value(s->field, r, &with->recipe);
    return taken && field_set(&own, s->field, taken->value, "", NULL) && is_same_value(s->field, &own, &with->framework);
}

static bool check_value(const struct subject *s, const struct recipe *r, const char *value, struct err *err)
{
    struct tried with = { .recipe = *r };
    const struct ini_entry *taken = entry_of(r, &s->entry);
    bool is_settled = taken && !taken->line;
    if (!*value)
        return fail(err, "%s: names an empty reading; want values with | between them", s->place);
    if (!field_set(s->of_framework ? (void *)&with.framework : &with.recipe, s->field, value, s->place, err))
        return false;
    if (!is_settled && is_taken(s, r, taken, &with))
        return fail(err, "%s: '%.60s' is the reading that is taken; name another, or take the line out", s->place, value);
    return recipe_check_sense(&with.recipe, err) || fail_at(err, s->place);
}

static bool add_reading(struct recipe *r, const struct subject *s, const char *value, struct arena *a, struct err *err)
{
    const struct ini_entry *taken = entry_of(r, &s->entry);
    const char *key = arena_printf(a, "%s.%s", s->entry.section, s->entry.key);
    if (!check_value(s, r, value, err))
        return false;
    for (size_t i = 0; i < r->n_readings; i++)
        if (text_is(r->readings[i].key, key) && text_is(r->readings[i].value, value))
            return fail(err, "%s: '%.60s' stands there twice", s->place, value);
    if (!taken || taken->line)
        r->readings[r->n_readings++] = (struct reading){ key, value };
    return true;
}

static bool add_readings(struct recipe *r, const struct ini_entry *e, struct arena *a, struct err *err)
{
    struct subject s = { .place = e->line ? arena_printf(a, "%s:%u: open.%s", r->path, e->line, e->key) : recipe_entry_place(r, e, a) };
    if (!find_subject(&s.entry, e, s.place, a, err) || !find_field(&s, a, err))
        return false;
    for (const char *from = e->value, *end; from; from = *end ? end + 1 : NULL) {
        end = strchrnul(from, '|');
        if (!add_reading(r, &s, slice(from, end, a), a, err))
            return false;
    }
    return true;
}

bool recipe_read_open(struct recipe *r, struct arena *a, struct err *err)
{
    size_t room = 0;
    r->n_readings = 0;
    for (size_t i = 0; i < r->n_open; i++)
        for (const char *p = r->open[i].value; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
            room++;
    r->readings = room ? ARENA_ARRAY(a, struct reading, room) : NULL;
    for (size_t i = 0; i < r->n_open; i++)
        if (!add_readings(r, &r->open[i], a, err))
            return false;
    return true;
}
