/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_runs.c - the user's own measurements: their file, their references, and their effect on a prediction; see own_runs.h.
 */
#include "results/study/own_runs.h"
#include "workloads/recipe/recipe.h"

#include <ctype.h>
#include <jansson.h>

const char own_runs_file[] = "podbench-measured.csv";
const char own_runs_origin[] = "measured here";

/* ---- the file --------------------------------------------------------------------------------------------- */

#define F(member, ...) FIELD_OF(struct own_run, member, __VA_ARGS__)
static const struct field measured_fields[] = { F(recipe, .required = true), F(sets), F(hash, .required = true), F(version, .required = true),
    F(samples_per_s, .unit = "samples/s", .min = 1e-9, .max = 1e15, .required = true),
    F(first_predicted, .unit = "samples/s", .min = 1e-9, .max = 1e15, .required = true), F(first_low, FIELD_ANY), F(first_high, FIELD_ANY) };
#undef F

bool own_runs_load(struct own_runs *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct own_runs){ .path = path };
    if (is_missing(path))
        return true;
    if (!LIST_LOAD(out, &t, path, measured_fields, a, err))
        return false;
    for (struct own_run *m = out->items; m < out->items + out->n; m++) {
        m->line = t.rows[m - out->items].line;
        const struct own_run *same = own_run_find(out, m->recipe, m->sets);
        if (same != m)
            return fail(err, "%s:%u: %s is in line %u already; keep one of the two", path, m->line, m->recipe, same->line);
    }
    return true;
}

const struct own_run *own_run_find(const struct own_runs *runs, const char *recipe, const char *sets)
{
    for (size_t i = 0; i < runs->n; i++)
        if (text_is(runs->items[i].recipe, recipe) && text_is(runs->items[i].sets, sets))
            return &runs->items[i];
    return NULL;
}

static void write_number(FILE *f, double x, bool is_last)
{
    char text[32] = "";
    if (!isnan(x))
        snprintf(text, sizeof text, "%.10g", x);
    csv_write_cell(f, text, is_last);
}

bool own_runs_save(const struct own_runs *runs, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, runs->path, err))
        return false;
    for (size_t i = 0; i < N_FIELDS(measured_fields); i++)
        csv_write_cell(file.f, measured_fields[i].name, i + 1 == N_FIELDS(measured_fields));
    for (const struct own_run *m = runs->items; m < runs->items + runs->n; m++) {
        csv_write_cell(file.f, m->recipe, false);
        csv_write_cell(file.f, m->sets, false);
        csv_write_cell(file.f, m->hash, false);
        csv_write_cell(file.f, m->version, false);
        write_number(file.f, m->samples_per_s, false);
        write_number(file.f, m->first_predicted, false);
        write_number(file.f, m->first_low, false);
        write_number(file.f, m->first_high, true);
    }
    return new_file_save(&file, err);
}

/* ---- neighbours ------------------------------------------------------------------------------------------- */

/* Splits "a.b=1; c.d=2" into a list of settings. */
static size_t split_sets(const char ***out, const char *sets, struct arena *a)
{
    size_t n = 0, room = 1;
    for (const char *c = sets; *c; c++)
        room += *c == ';';
    const char **list = ARENA_ROOM(a, const char *, room);
    for (size_t length; *sets; sets += length + strspn(sets + length, "; ")) {
        length = strcspn(sets, ";");
        list[n++] = arena_printf(a, "%.*s", (int)length, sets);
    }
    *out = list;
    return n;
}

/* Simulates a measured run. False, with the reason in m->why_not, if its recipe is missing or has changed. */
static bool simulate_measured(struct reference *out, struct own_run *m, struct simulator *s, struct arena *a)
{
    struct simulation sim;
    struct result r;
    struct err err = {0};
    const char **sets, *hash;
    size_t n = split_sets(&sets, m->sets, a);
    if (!simulator_run(s, &sim, &r, m->recipe, sets, n, &err)) {
        m->why_not = arena_strdup(a, err.msg);
        return false;
    }
    if (!recipe_hash(&hash, &sim.recipe, NULL, a, &err) || !text_is(hash, m->hash))
        m->why_not = arena_printf(a, "%s changed after it was measured; take the line out and measure it again", m->recipe);
    m->predicted = m->why_not ? 0 : r.throughput_samples_per_s;
    *out = (struct reference){ .configuration = arena_printf(a, "%s%s%s, measured here", m->recipe, *m->sets ? " with " : "", m->sets), .recipe = m->recipe,
                               .origin = own_runs_origin, .role = FIGURE_CONTEXT, .is_own = true, .at = properties_of(&sim, a), .published = m->samples_per_s,
                               .simulated = m->predicted, .left_out = log(m->predicted / m->samples_per_s), .first_sight = log(m->first_predicted / m->samples_per_s) };
    out->group = properties_group(&out->at, a);
    simulation_free(&sim);
    return !m->why_not;
}

void own_runs_reference(struct references *out, struct own_runs *runs, struct simulator *s, struct arena *a)
{
    struct references all = { .items = ARENA_ROOM(a, struct reference, out->n + runs->n), .known = out->known };
    for (size_t i = 0; i < runs->n; i++)
        all.n += simulate_measured(&all.items[all.n], &runs->items[i], s, a);
    for (size_t i = 0; i < out->n; i++)             /* among equally near references, the user's own come first */
        all.items[all.n++] = out->items[i];
    *out = all;
}

bool own_run_rate(double *samples_per_s, const char *text, const struct result *r)
{
    double step_s;
    size_t n = strlen(text);
    char rate[64];
    if (n > 2 && n < sizeof rate && text_is(text + n - 2, "/s")) {
        memcpy(rate, text, n - 2);
        rate[n - 2] = '\0';
        return parse_quantity(rate, "", samples_per_s) && *samples_per_s > 0;
    }
    if (!parse_quantity(text, "s", &step_s) || !(step_s > 0) || !isalpha((unsigned char)text[n - 1]))
        return false;
    *samples_per_s = r->throughput_samples_per_s * r->step_time_s / step_s;
    return true;
}

bool own_run_is_inside(const struct own_run *m)
{
    return m->samples_per_s >= m->first_low && m->samples_per_s <= m->first_high;
}

/* ---- the table -------------------------------------------------------------------------------------------- */

/* Says if the first interval held the measured value. */
static const char *interval_words(const struct own_run *m)
{
    return isnan(m->first_low) ? "none" : own_run_is_inside(m) ? m->is_guess ? "yes, a guess" : "yes" : m->is_guess ? "no, a guess" : "no";
}

struct measured_line { const char *run; double samples_per_s, first_predicted, first_error; const char *inside; double predicted, error; const char *why_not; };
static const struct table_column measured_columns[] = {
#define C(member, ...) { COLUMN(struct measured_line, member), __VA_ARGS__ }
#define SHARE .format = "%+.1f %%", .scale = 100
    C(run, .heading = "measured here"), C(samples_per_s, .heading = "samples/s", .format = "%.6g"), C(first_predicted, .heading = "first predicted", .format = "%.6g"),
    C(first_error, .heading = "error", SHARE), C(inside, .heading = "in its interval"), C(predicted, .heading = "today", .format = "%.6g"),
    C(error, .heading = "error", SHARE), C(why_not, .heading = ""),
#undef SHARE
#undef C
};

struct table own_runs_table(const struct own_runs *runs, struct arena *a)
{
    struct measured_line *lines = ARENA_ROOM(a, struct measured_line, runs->n + 1);
    for (size_t i = 0; i < runs->n; i++) {
        const struct own_run *m = &runs->items[i];
        bool counts = m->predicted > 0;
        lines[i] = (struct measured_line){ arena_printf(a, "%s%s%s", m->recipe, *m->sets ? "; " : "", m->sets), m->samples_per_s, m->first_predicted,
            m->first_predicted / m->samples_per_s - 1, interval_words(m), counts ? m->predicted : NAN,
            counts ? m->predicted / m->samples_per_s - 1 : NAN, m->why_not ? arena_printf(a, "not counted: %s", m->why_not) : "" };
    }
    return TABLE_OF(measured_columns, lines, runs->n);
}

/* ---- which parts could carry the difference ---------------------------------------------------------------- */

struct carrier { const char *part; double seconds, factor; };

static int by_least_change(const void *x, const void *y)
{
    double a = fabs(log(((const struct carrier *)x)->factor)), b = fabs(log(((const struct carrier *)y)->factor));
    return a < b ? -1 : a > b;
}

static const struct table_column carrier_columns[] = {
    { COLUMN(struct carrier, part), .heading = "part alone" }, { COLUMN(struct carrier, seconds), .heading = "predicted s", .format = "%.4g" },
    { COLUMN(struct carrier, factor), .heading = "would have to be x", .format = "%.2f" },
};

void own_run_explain(struct document *d, const struct own_run *m, const struct simulation *sim, const struct result *r)
{
    double parts[N_PARTS], more_s = r->step_time_s * (r->throughput_samples_per_s / m->samples_per_s - 1);
    struct carrier *list = ARENA_ROOM(d->arena, struct carrier, N_PARTS);
    size_t n = 0, n_short = 0;
    if (m->why_not)
        return;
    step_breakdown(parts, &sim->timeline);
    for (int k = 0; k < N_PARTS; k++) {
        if (parts[k] > 0 && parts[k] + more_s > 0)
            list[n++] = (struct carrier){ part_names[k], parts[k], (parts[k] + more_s) / parts[k] };
        n_short += parts[k] > 0 && parts[k] + more_s <= 0;
    }
    sort_items(list, n, sizeof *list, by_least_change);
    document_gap(d);
    document_line(d, "measured here: %s samples/s, %s a step %s than predicted; of its parts, each alone, with the least change first:",
                  quantity_kept(m->samples_per_s, "", 4, d->arena), quantity_kept(fabs(more_s), "s", 3, d->arena), more_s < 0 ? "less" : "more");
    struct table *t = document_table(d, TABLE_OF(carrier_columns, list, n));
    t->name = "measured_carriers";
    t->formats = IN_TEXT | IN_JSON;
    if (n_short)
        document_line(d, "%zu smaller part%s cannot carry it alone", n_short, plural(n_short));
}
