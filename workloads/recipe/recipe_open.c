/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_open.c - [open]: settings that a recipe's source leaves open, with other readings that are as possible as the
 * one taken.
 *
 *     [open]
 *     precision.partials = fp32
 *     hosts.steps_per_call = 1 | 312
 * A reading is a valid value of its key, and differs from the one taken. Whether it goes with the recipe's other keys,
 * and with overrides, shows when it is simulated. A key that --set gives is no longer open. Published figures never
 * choose a reading.
 */
#include "workloads/recipe/recipe_internal.h"

/* Splits an entry of [open] into the section and key that it is about; false if it names none. */
static bool find_subject(struct ini_entry *out, const struct ini_entry *e, const char *place, struct arena *a, struct err *err)
{
    const char *dot = strchr(e->key, '.');
    if (!dot || dot == e->key || !dot[1])
        return fail(err, "%s: want section.key = another reading, as in precision.partials = fp32", place);
    *out = (struct ini_entry){ arena_printf(a, "%.*s", (int)(dot - e->key), e->key), dot + 1, e->value, e->line, 0 };
    return true;
}

/* The field that a key is read into. */
union record { struct recipe recipe; struct framework framework; };
struct subject { struct ini_entry entry; const struct field *field; bool of_framework; const char *place; };

static bool find_field(struct subject *s, struct arena *a, struct err *err)
{
    const struct recipe_key *key = recipe_key_find(s->entry.section, s->entry.key);
    s->of_framework = text_is(s->entry.section, "framework");
    s->field = key ? &key->field : s->of_framework ? field_find(framework_fields, n_framework_fields, s->entry.key) : NULL;
    if (s->field)
        return true;
    if (recipe_is_hyperparameter(&s->entry) || text_is(s->entry.section, "faults"))
        return fail(err, "%s: has no readings; want a key that podbench list keys has a range of values for", s->place);
    return recipe_unknown_key(s->place, &s->entry, a, err);
}

/* The value as podbench writes it (7 for 07), or NULL if the key cannot have it. */
static const char *plain_text(const struct subject *s, const char *value, struct arena *a, struct err *err)
{
    union record with = {0};
    return field_set(&with, s->field, value, s->place, err) ? field_text(s->field, &with, a) : NULL;
}

static bool add_reading(struct recipe *r, const struct subject *s, const char *value, struct arena *a, struct err *err)
{
    const char *key = arena_printf(a, "%s.%s", s->entry.section, s->entry.key);
    const struct ini_entry *taken = recipe_entry(r, key);
    if (!*value)
        return fail(err, "%s: names an empty reading; want values with | between them", s->place);
    const char *plain = plain_text(s, value, a, err);
    if (!plain || (taken && !taken->line))
        return plain;
    /* compared with the recipe's value or its default; a key that only the framework's sheet states has neither */
    if (text_is(!s->of_framework ? field_text(s->field, r, a) : taken ? plain_text(s, taken->value, a, NULL) : NULL, plain))
        return fail(err, "%s: '%.60s' is the reading that is taken; name another, or take the line out", s->place, value);
    for (size_t i = 0; i < r->n_readings; i++)
        if (text_is(r->readings[i].key, key) && text_is(plain_text(s, r->readings[i].value, a, NULL), plain))
            return fail(err, "%s: '%.60s' is listed twice", s->place, value);
    r->readings[r->n_readings++] = (struct reading){ key, value };
    return true;
}

bool recipe_check_open(const struct ini_entry *e, const char *place, struct arena *a, struct err *err)
{
    struct subject s = { .place = place };
    return find_subject(&s.entry, e, place, a, err) && find_field(&s, a, err);
}

static bool add_readings(struct recipe *r, const struct ini_entry *e, struct arena *a, struct err *err)
{
    struct subject s = { .place = e->line ? arena_printf(a, "%s:%u: open.%s", r->path, e->line, e->key) : recipe_entry_place(r, e, a) };
    if (!find_subject(&s.entry, e, s.place, a, err) || !find_field(&s, a, err))
        return false;
    for (const char *list = e->value, *value; (value = text_item(&list, '|', a)); )
        if (!add_reading(r, &s, value, a, err))
            return false;
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
