/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_record.c - the programs whose memory is known, and how a program's distance from them makes its verdict less certain; see
 * memory_record.h.
 */
#include "results/simulate/memory_record.h"
#include "system-model/output/output.h"

#include <unistd.h>

/* ---- the tables ------------------------------------------------------------------------------------------ */

#define PROGRAM_TEXTS(X) X(origin, "origin") X(name[BY_FAMILY], "family") X(name[BY_MODE], "mode") X(name[BY_WORKLOAD], "workload") X(name[BY_CHIP], "chip") \
    X(name[BY_FRAMEWORK], "framework") X(name[BY_COMPUTE], "compute") X(name[BY_INPUT], "input")
#define F(member, text) FIELD_AS(struct memory_program, member, text, .required = true),
static const struct field program_fields[] = { PROGRAM_TEXTS(F) };
#undef F
#define C(member, text) { COLUMN_AS(struct memory_program, member, text) },
static const struct table_column program_columns[] = { PROGRAM_TEXTS(C) };
#undef C
static const struct field spread_fields[] = { FIELD_OF(struct memory_spread_far, far, .min = 0, .max = 10, .required = true),
                                              FIELD_OF(struct memory_spread_far, n_verdicts, .unit = "", .min = 0, .max = 1e6, .required = true) };
static const struct table_column spread_columns[] = { { COLUMN(struct memory_spread_far, far), .csv_digits = 4 }, { COLUMN(struct memory_spread_far, n_verdicts) } };

const char *const memory_outcome_names[N_MEMORY_OUTCOMES + 1] = { "unknown", "ran", "out of memory", NULL };
static const struct field published_fields[] = { FIELD_OF(struct memory_published, recipe, .required = true),
                                                 FIELD_OF(struct memory_published, hash, .required = true),
                                                 FIELD_OF(struct memory_published, outcome, .choices = memory_outcome_names, .required = true) };

bool memory_record_load(struct memory_record **out, const char *validity_dir, struct arena *a, struct err *err)
{
    struct memory_record *m = ARENA_NEW(a, struct memory_record);
    const char *dir = validity_dir ? validity_dir : "", *programs = arena_printf(a, "%s/memory-programs.csv", dir), *spread = arena_printf(a, "%s/memory-spread.csv", dir),
        *published = arena_printf(a, "%s/memory-published.csv", dir);
    struct csv_table t;
    bool good = true;
    if (validity_dir && access(programs, F_OK) == 0)
        good = (access(spread, F_OK) == 0 || fail(err, "%s: is missing; remove %s, and 'make baseline' writes both again", spread, programs))
            && LIST_LOAD(m, &t, programs, program_fields, a, err) && record_load(&m->spread, spread, spread_fields, N_FIELDS(spread_fields), a, err)
            && (access(published, F_OK) != 0 || LIST_LOAD(&m->published, &t, published, published_fields, a, err));
    *out = good ? m : NULL;
    return good;
}

void memory_programs_write(FILE *f, const struct memory_record *m)
{
    struct table t = TABLE_OF(program_columns, m->items, m->n);
    table_write(f, FORMAT_CSV, &t);
}

void memory_spread_write(FILE *f, const struct memory_record *m)
{
    struct table t = TABLE_OF(spread_columns, &m->spread, 1);
    table_write(f, FORMAT_CSV, &t);
}

struct published_line { const char *recipe, *hash, *outcome; };
static const struct table_column published_columns[] = { { COLUMN(struct published_line, recipe) }, { COLUMN(struct published_line, hash) },
                                                         { COLUMN(struct published_line, outcome) } };

void memory_published_write(FILE *f, const struct memory_record *m)
{
    struct arena a = {0};
    struct table t = TABLE(published_columns, struct published_line);
    for (size_t i = 0; i < m->published.n; i++) {
        const struct memory_published *p = &m->published.items[i];
        table_add(&t, &(struct published_line){ p->recipe, p->hash, memory_outcome_names[p->outcome] }, &a);
    }
    table_write(f, FORMAT_CSV, &t);
    arena_free(&a);
}

const struct memory_published *memory_record_published(const struct memory_record *m, const char *recipe)
{
    return FIND_TEXT(m->published.items, m->published.n, struct memory_published, recipe, recipe);
}

const struct memory_published *memory_record_of_hash(const struct memory_record *m, const char *hash)
{
    return FIND_TEXT(m->published.items, m->published.n, struct memory_published, hash, hash);
}

/* ---- the doubt ------------------------------------------------------------------------------------------- */

static double nearest_program(const struct memory_record *m, const char *const *name, const char *without_origin)
{
    double nearest = INFINITY;
    for (size_t i = 0; i < m->n && nearest > 0; i++)
        if (!text_is(m->items[i].origin, without_origin))
            nearest = fmin(nearest, program_names_apart(m->items[i].name, name));
    return nearest;
}

struct memory_doubt memory_record_doubt(const struct memory_record *m, const char *const *name, double memory_error, const char *without_origin)
{
    double distance = nearest_program(m, name, without_origin);
    if (distance == 0 || isinf(distance))
        return (struct memory_doubt){ 0, memory_error, 0 };
    return (struct memory_doubt){ distance, hypot(memory_error, m->spread.far * distance), 1 / ((double)m->spread.n_verdicts + 2) };
}

double memory_doubt_probability(const struct memory_doubt *d, double by_bytes)
{
    return d->least + (1 - 2 * d->least) * by_bytes;
}

const char *memory_doubt_reason(double distance)
{
    const double near = 1;              /* the distance of a program that differs only in its model, chip or framework */
    return distance > near ? ", as the memory of no program near it is known" : "";
}

const char *likely_text(double chance, struct arena *a)
{
    const double nearly = 0.995;        /* larger chances are never printed as 100 % */
    return chance >= nearly ? "over 99 % likely" : chance < 1 - nearly ? "below 1 % likely" : arena_printf(a, "%.0f %% likely", 100 * chance);
}

const char *memory_chance_text(const char *published, double counted, double distance, struct arena *a)
{
    const char *known = !published ? "" : text_is(published, memory_outcome_names[MEMORY_RAN]) ? "it ran; by its bytes alone " : "it was out of memory; by its bytes alone ";
    return arena_printf(a, "%s%s%s", known, likely_text(counted, a), memory_doubt_reason(distance));
}
