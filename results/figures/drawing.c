/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawing.c - one figure: its tables, its simulations, and the runs that several figures show.
 */
#include "results/figures/drawing.h"

FILE *drawing_table(struct drawing *d, const char *name, const char *header)
{
    assert(d->n_tables < MOST_DRAWN_TABLES);
    struct drawn_table *t = &d->tables[d->n_tables++];
    t->name = name;
    t->f = text_stream(&t->text, &t->n_bytes);
    fprintf(t->f, "%s\n", header);
    return t->f;
}

void drawing_row(FILE *f, const char *text, const double *numbers, size_t n)
{
    if (text)
        csv_write_cell(f, text, n == 0);
    for (size_t i = 0; i < n; i++)
        fprintf(f, isnan(numbers[i]) ? "NaN%c" : "%2$.8g%1$c", i + 1 < n ? ',' : '\n', numbers[i]);
}

const struct simulation *drawing_simulate(struct drawing *d, const char *recipe, const char *const *sets, size_t n_sets, struct err *err)
{
    if (d->simulation)
        simulation_free(d->simulation);
    struct simulation *room = ARENA_NEW(d->a, struct simulation);
    d->simulation = simulator_run(d->from->simulator, room, &d->result, recipe, sets, n_sets, err) ? room : NULL;
    if (d->simulation && d->from->record) {
        struct validity v;
        validity_of(&v, d->from->record, room, &d->result, NULL, &room->arena);
        d->result.guess = validity_guess_name(&v);
    }
    return d->simulation;
}

void drawing_shows(struct drawing *d, const char *guess)
{
    if (!d->from->record)
        return;
    d->n_shown++;
    d->n_guesses += guess && text_is(guess, "yes");
    d->n_without += !guess || !*guess;
}

void drawing_say_guesses(struct drawing *d)
{
    if (!d->finding || !(d->n_guesses + d->n_without))
        return;
    const char *guesses = d->n_guesses ? arena_printf(d->a, "%u of %u a guess: no published run is near", d->n_guesses, d->n_shown) : "";
    const char *without = d->n_without ? arena_printf(d->a, "%s%u of %u without an interval", d->n_guesses ? "; " : "", d->n_without, d->n_shown) : "";
    d->finding = arena_printf(d->a, "%s (%s%s)", d->finding, guesses, without);
}

static bool save_table(const struct drawn_table *t, const struct drawing *d, struct err *err)
{
    return write_text_file(arena_printf(d->a, "%s/%s.csv", d->folder, t->name), t->text, err);
}

bool drawing_save(struct drawing *d, bool good, struct err *err)
{
    if (d->simulation)
        simulation_free(d->simulation);
    d->simulation = NULL;
    for (struct drawn_table *t = d->tables; t < d->tables + d->n_tables; t++) {
        fclose(t->f);
        good = good && save_table(t, d, err);
        free(t->text);
    }
    d->n_tables = 0;
    return good;
}

const char *drawing_label(const char *id, struct arena *a)
{
    static const char *const prefixes[] = { "mlperf-", "vendor-" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(id, prefixes[i], strlen(prefixes[i])) == 0)
            id += strlen(prefixes[i]);
    char *label = arena_strdup(a, id);
    int n_spaces = 0;
    for (char *p = label; *p && *label == 'v' && n_spaces < 2; p++)     /* turns "v2.0-closed-bow-pod16-..." into "v2.0 closed bow-pod16-..." */
        if (*p == '-') {
            *p = ' ';
            n_spaces++;
        }
    return label;
}

/* True for a training run that fits; only inference has a latency. */
static bool is_training(const struct result *r)
{
    return r->fits && r->step_time_s > 0 && !is_known(r->latency_s);
}

static bool is_published_closed(const struct result *r, const struct figures *published)
{
    struct mlperf_id id;
    return mlperf_id_parse(&id, r) && !id.has_framework && text_is(id.division, "closed") && published_figure(published, r->id, "throughput_samples_per_s");
}

const struct result *drawing_run(const struct drawing *d, bool (*better)(const struct result *x, const struct result *y))
{
    const struct result *best = NULL;
    bool best_is_closed = false;
    for (size_t i = 0; i < d->from->results->n; i++) {
        const struct result *r = &d->from->results->items[i];
        bool is_closed = is_published_closed(r, d->from->published);
        if (is_training(r) && (!best || (is_closed && !best_is_closed) || (is_closed == best_is_closed && better(r, best))))
            best = r, best_is_closed = is_closed;
    }
    return best;
}

const struct result *drawing_hero(const struct results *all, const struct figures *published)
{
    const struct result *best = NULL;
    bool best_is_closed = false;
    for (size_t i = 0; i < all->n; i++) {
        const struct result *r = &all->items[i];
        bool is_closed = is_published_closed(r, published), is_as_good = best && is_closed == best_is_closed;
        if (is_training(r) && (!best || (is_closed && !best_is_closed) || (is_as_good && (r->ipus != best->ipus ? r->ipus > best->ipus : strcmp(r->id, best->id) > 0))))
            best = r, best_is_closed = is_closed;
    }
    return best;
}
