/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_known.c - the values of the chip, the board, the links and the host that published runs were simulated with.
 *
 * They are kept as a table, results/validity/known-values.csv, and not read from the sheets of today: a value edited on
 * a sheet is then as foreign as one that is set for a simulation, or one on a sheet of the user's own. Names of parts
 * do not count, so a copied sheet is known. Nor do watts and joules, which change no speed, nor the number of IPUs,
 * whose distance is a property's.
 */
#include "results/study/trust.h"
#include "system-model/output/output.h"

static bool counts_for_speed(const struct sheet_row *row)
{
    return !text_is(row->key, "chip") && !text_is(row->key, "board") && !text_is(row->key, "n_ipus") && *row->unit != 'W' && *row->unit != 'J';
}

/* True if the values have this one of the key, as text or as a number; or any of it, if value is NULL. */
static bool has_known_value(const struct known_values *known, const char *key, const char *value)
{
    double x, y;
    for (const struct known_value *k = known->items; k < known->items + known->n; k++)
        if (text_is(k->key, key) && (!value || text_is(k->value, value) || (parse_f64(k->value, &x) && parse_f64(value, &y) && x == y)))
            return true;
    return false;
}

/* The values of a machine, the outermost sheet's of each key; "" for keys of `keys` that it lacks. */
static struct known_values values_of_machine(const struct simulation *sim, const struct known_values *keys, struct arena *a)
{
    struct known_values out = {0};
    for (size_t i = 0; i <= sim->machine->n_sheets; i++) {
        const struct sheet *s = i < sim->machine->n_sheets ? &sim->machine->sheets[i] : &sim->fitted.sheet;
        for (const struct sheet_row *row = s->rows; row < s->rows + s->n_rows; row++)
            if (counts_for_speed(row) && !has_known_value(&out, row->key, NULL))
                LIST_ADD(&out, a, (struct known_value){ row->key, row->value });
    }
    for (size_t i = 0; i < keys->n; i++)
        if (!has_known_value(&out, keys->items[i].key, NULL))
            LIST_ADD(&out, a, (struct known_value){ keys->items[i].key, "" });
    return out;
}

static void note_known_value(struct known_values *known, const char *key, const char *value, struct arena *a)
{
    if (!has_known_value(known, key, value))
        LIST_ADD(known, a, (struct known_value){ arena_strdup(a, key), arena_strdup(a, value) });
}

void known_values_add(struct known_values *known, const struct simulation *sim, struct arena *a)
{
    struct known_values values = values_of_machine(sim, known, a);
    for (const struct known_value *x = values.items; x < values.items + values.n; x++) {
        if (known->n_runs && !has_known_value(known, x->key, NULL))        /* the runs before had no such key */
            note_known_value(known, x->key, "", a);
        note_known_value(known, x->key, x->value, a);
    }
    known->n_runs++;
}

struct known_values known_values_foreign(const struct known_values *known, const struct simulation *sim, struct arena *a)
{
    struct known_values values = values_of_machine(sim, known, a), out = {0};
    for (size_t i = 0; i < values.n && known->n; i++)
        if (!has_known_value(known, values.items[i].key, values.items[i].value))
            LIST_ADD(&out, a, values.items[i]);
    return out;
}

static const struct table_column known_columns[] = { { COLUMN(struct known_value, key) }, { COLUMN(struct known_value, value) } };

static int known_order(const void *a, const void *b)
{
    const struct known_value *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : strcmp(x->value, y->value);
}

void known_values_write(FILE *f, const struct known_values *known)
{
    struct table t = TABLE_OF(known_columns, known->items, known->n);
    sort_items(known->items, known->n, sizeof *known->items, known_order);
    table_write(f, FORMAT_CSV, &t);
}

bool known_values_load(struct known_values *out, const char *path, struct arena *a, struct err *err)
{
    static const char *const names[] = { "key", "value", NULL };
    struct csv_table t;
    *out = (struct known_values){0};
    if (!csv_load(&t, path, a, err) || !csv_has_columns(&t, names, err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++)
        LIST_ADD(out, a, (struct known_value){ csv_cell(&t, &t.rows[i], "key"), csv_cell(&t, &t.rows[i], "value") });
    return true;
}
