/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_recipes.c - podbench list recipes: the model, machine and framework of each recipe, its published figure, and the error of its
 * prediction. Words choose recipes.
 */
#include "harness/harness.h"
#include "results/published/published.h"
#include "results/simulate/simulate.h"
#include <ctype.h>
#include <jansson.h>

struct recipe_line {
    const char *id, *model, *machine, *framework, *metric, *unit, *why;
    uint64_t ipus;
    double published, predicted, error;
};
#define C(member, ...) { COLUMN(struct recipe_line, member), __VA_ARGS__ }
static const struct table_column recipe_columns[] = {
    C(id, .heading = "recipe"), C(model, .heading = "model"), C(machine, .heading = "machine"), C(ipus, .heading = "IPUs"),
    C(framework, .heading = "framework"), C(metric), C(published, .heading = "published", .format = "%.6g", .zero_is_unknown = true),
    C(unit, .heading = ""), C(predicted), C(error, .heading = "error", .format = "%+.1f %%", .scale = 100), C(why),
};
#undef C

static bool holds_text(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (; text && *text; text++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* True if every word is part of the id, model, machine or framework. */
static bool is_asked_for(const struct recipe_line *line, const char *const *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (!holds_text(line->id, words[i]) && !holds_text(line->model, words[i]) && !holds_text(line->machine, words[i]) &&
            !holds_text(line->framework, words[i]))
            return false;
    return true;
}

/* Fills the line. If the recipe cannot be read, its columns stay "-", and `why` has the reason. */
static void read_recipe_line(struct recipe_line *line, struct session *s)
{
    struct recipe r;
    struct err err = { "" };
    if (!recipe_load(&r, line->id, s->paths.recipes_dir, NULL, 0, &s->arena, &err)) {
        line->why = arena_strdup(&s->arena, err.msg);
        return;
    }
    line->model = r.workload;
    line->machine = r.system;
    line->framework = r.framework;
    line->ipus = r.replicas * r.ipus_per_replica;
}

/* Fills the published figure and the prediction's error. The figure is the first of throughput, else the first that the answer shows. */
static void compare_recipe(struct recipe_line *line, const struct figures *figures, struct session *s)
{
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    const struct figure *found = NULL;
    for (size_t i = 0; i < figures->n && !(found && text_is(found->metric, "throughput_samples_per_s")); i++) {
        const struct figure *g = &figures->items[i];
        bool better = !found || text_is(g->metric, "throughput_samples_per_s");
        found = text_is(g->recipe, line->id) && answer_shows(g) && better ? g : found;
    }
    if (!found)
        return;
    line->metric = found->metric;
    line->unit = found->unit;
    line->published = found->value;
    if (simulator_run(&s->simulator, &sim, &r, line->id, NULL, 0, &err)) {
        line->predicted = result_of_figure(found, &r);
        line->error = line->predicted / found->value - 1;
    } else {
        line->why = arena_strdup(&s->arena, err.msg);
    }
    simulation_free(&sim);
}

static bool told_of_refused(const struct table *t, struct err *err)
{
    const struct recipe_line *lines = t->rows, *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        n += lines[i].why != NULL;
        first = first || !lines[i].why ? first : &lines[i];
    }
    return first && !fail(err, "%zu of these recipes cannot be simulated, the first, %s: %s", n, first->id, first->why);
}

int list_recipes(const struct options *o, struct session *s, struct err *err)
{
    char **ids;
    size_t n;
    struct figures figures;
    struct progress p;
    struct table t = TABLE(recipe_columns, struct recipe_line);
    if (!all_recipes(&ids, &n, s, err) || (!o->names && !session_figures(&figures, o->published, s, err)))
        return EXIT_BAD_INPUT;
    progress_start(&p, s->log, "simulating");
    s->simulator.options.totals_only = true;
    for (size_t i = 0; i < n; i++) {
        struct recipe_line line = { .id = ids[i], .predicted = NAN, .error = NAN };
        read_recipe_line(&line, s);
        if (!is_asked_for(&line, o->arguments + 1, o->n_arguments - 1))
            continue;
        if (!o->names)
            compare_recipe(&line, &figures, s);
        progress_report(&p, "", i + 1, n);
        table_add(&t, &line, &s->arena);
    }
    progress_end(&p);
    if (!t.n)
        return bad_input(err, "list recipes: none of the %zu recipes has %s in its name, model, machine or framework", n,
                         names_list(o->arguments + 1, o->n_arguments - 1, &s->arena));
    if (o->names) {
        const struct recipe_line *lines = t.rows;
        for (n = 0; n < t.n; n++)
            ids[n] = arena_strdup(&s->arena, lines[n].id);
        return print_names((const char *const *)ids, n, s);
    }
    table_write(s->out, o->format, &t);
    return told_of_refused(&t, err) ? EXIT_BAD_INPUT : EXIT_DONE;
}
