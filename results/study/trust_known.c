/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_known.c - the values of the chip, the board, the links and the host with which published runs were simulated.
 *
 * The values are in a table, results/validity/known-values.csv, instead of being read from today's sheets. So a value that is edited on a
 * sheet, set for a simulation, or stated on a user's own sheet is equally foreign. Names of parts do not count, so a copied sheet is known.
 * Watts and joules do not count, because they change no speed; nor does the number of IPUs, which enters distances; nor does a value that no
 * cost of this simulation reads.
 */
#include "results/study/trust.h"
#include "system-model/output/output.h"

struct machine_value { const struct sheet_row *row; size_t place; };

static bool counts_for_speed(const struct sheet_row *row)
{
    return !text_is(row->key, "chip") && !text_is(row->key, "board") && !text_is(row->key, "n_ipus") && *row->unit != 'W' && *row->unit != 'J';
}

/* The parts of a machine that only some simulations read. Keys belong to a part by their beginning; READS_NO_SPEED keys change no speed. */
enum { READS_LINKS = 1, READS_GATEWAYS = 2, READS_STREAMING = 4, READS_FP8 = 8, READS_NO_SPEED = 0 };
static const struct { const char *begins; unsigned read_by; } readers[] = {
    { "rung_", READS_LINKS }, { "rail_", READS_LINKS }, { "link_", READS_LINKS }, { "sync_hop_", READS_LINKS }, { "gateway_", READS_GATEWAYS },
    { "switch_", READS_GATEWAYS }, { "streaming_", READS_STREAMING }, { "mac_fp8_", READS_FP8 }, { "memory_error", READS_NO_SPEED },
    { "interleaved_load_", READS_NO_SPEED }, { "n_links", READS_NO_SPEED },
};

unsigned machine_values_read(const struct simulation *sim)
{
    const struct plan_request *r = &sim->plan.request;
    uint64_t n_ipus = (uint64_t)r->n_replicas * r->ipus_per_replica;
    const struct workload *w = recipe_workload(&sim->recipe);
    bool may_be_fp8 = sim->recipe.model.compute == COMPUTE_FP8 || (w && w->traits & IS_FILE);
    return (n_ipus > 1 ? READS_LINKS : 0) | (n_ipus > sim->machine->ipus_per_domain ? READS_GATEWAYS : 0)
        | (r->state.place == OPTIMIZER_STREAMING ? READS_STREAMING : 0) | (may_be_fp8 ? READS_FP8 : 0);
}

static bool is_value_read(const char *key, unsigned reads)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strncmp(key, readers[i].begins, strlen(readers[i].begins)) == 0)
            return (readers[i].read_by & reads) != 0;
    return true;
}

static bool is_same_value(const char *x, const char *y)
{
    double a, b;
    return text_is(x, y) || (parse_f64(x, &a) && parse_f64(y, &b) && a == b);
}

static int outermost_first(const void *a, const void *b)
{
    const struct machine_value *x = a, *y = b;
    int order = strcmp(x->row->key, y->row->key);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* The values of a machine by key. If several sheets state a key, the outermost counts. */
static struct known_values values_of_machine(const struct simulation *sim, struct arena *a)
{
    struct { struct machine_value *items; size_t n, cap; } rows = {0};
    struct known_values out = {0};
    size_t place = 0;
    for (size_t i = 0; i <= sim->machine->n_sheets; i++) {
        const struct sheet *s = i < sim->machine->n_sheets ? &sim->machine->sheets[i] : &sim->fitted.sheet;
        for (const struct sheet_row *row = s->rows; row < s->rows + s->n_rows; row++, place++)
            if (counts_for_speed(row))
                LIST_ADD(&rows, a, (struct machine_value){ row, place });
    }
    sort_items(rows.items, rows.n, sizeof *rows.items, outermost_first);
    for (size_t i = 0; i < rows.n; i++)
        if (!out.n || !text_is(out.items[out.n - 1].key, rows.items[i].row->key))
            LIST_ADD(&out, a, (struct known_value){ rows.items[i].row->key, rows.items[i].row->value });
    return out;
}

/* The values of a machine that are not among the known ones; "" for a known key that the machine lacks. Both lists are sorted. */
static struct known_values values_beyond(const struct known_values *known, const struct simulation *sim, struct arena *a)
{
    struct known_values values = values_of_machine(sim, a), out = {0};
    for (size_t i = 0, k = 0; i < values.n || k < known->n;) {
        int order = i == values.n ? 1 : k == known->n ? -1 : strcmp(values.items[i].key, known->items[k].key);
        struct known_value x = order <= 0 ? values.items[i++] : (struct known_value){ known->items[k].key, "" };
        bool is_known = false;
        for (; k < known->n && text_is(known->items[k].key, x.key); k++)
            is_known = is_known || is_same_value(known->items[k].value, x.value);
        if (!is_known)
            LIST_ADD(&out, a, x);
    }
    return out;
}

static bool has_key(const struct known_values *known, const char *key)
{
    return FIND_TEXT(known->items, known->n, struct known_value, key, key);
}

void known_values_add(struct known_values *known, const struct simulation *sim, struct arena *a)
{
    struct known_values beyond = values_beyond(known, sim, a);
    for (const struct known_value *x = beyond.items; x < beyond.items + beyond.n; x++) {
        const char *key = arena_strdup(a, x->key);
        if (known->n_runs && !has_key(known, key))                      /* the runs added earlier lack this key */
            LIST_ADD(known, a, (struct known_value){ key, "" });
        LIST_ADD(known, a, (struct known_value){ key, arena_strdup(a, x->value) });
    }
    SORT_BY(known->items, known->n, RISING(struct known_value, key), RISING(struct known_value, value));
    known->n_runs++;
}

struct known_values known_values_foreign(const struct known_values *known, const struct simulation *sim, struct arena *a)
{
    struct known_values beyond = known->n ? values_beyond(known, sim, a) : (struct known_values){0}, out = {0};
    for (const struct known_value *x = beyond.items; x < beyond.items + beyond.n; x++)
        if (is_value_read(x->key, machine_values_read(sim)))
            LIST_ADD(&out, a, *x);
    return out;
}

/* A key that some runs lack has an empty value for them. */
static const struct field known_fields[] = { FIELD_OF(struct known_value, key, .required = true), FIELD_OF(struct known_value, value) };
static const struct table_column known_columns[] = { { COLUMN(struct known_value, key) }, { COLUMN(struct known_value, value) } };

void known_values_write(FILE *f, const struct known_values *known)
{
    struct table t = TABLE_OF(known_columns, known->items, known->n);
    table_write(f, FORMAT_CSV, &t);
}

bool known_values_load(struct known_values *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct known_values){0};
    if (!LIST_LOAD(out, &t, path, known_fields, a, err))
        return false;
    SORT_BY(out->items, out->n, RISING(struct known_value, key), RISING(struct known_value, value));
    return true;
}
