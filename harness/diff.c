/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.c - podbench diff: why two recipes, or two runs, differ.
 */
#include "harness/harness.h"
#include "results/study/diff.h"
#include "results/study/trust.h"
#include <jansson.h>

/* Splits the settings: "a:section.key=value" is for A; "b:..." and settings without a prefix are for B. */
static void part_sets(struct simulation_request *a, struct simulation_request *b, const struct options *o, struct arena *arena)
{
    const char **of_a = ARENA_ROOM(arena, const char *, o->n_sets), **of_b = ARENA_ROOM(arena, const char *, o->n_sets);
    for (size_t i = 0; i < o->n_sets; i++) {
        const char *text = o->sets[i];
        bool named = (text[0] == 'a' || text[0] == 'b') && text[1] == ':';
        if (named && text[0] == 'a')
            of_a[a->n_overrides++] = text + 2;
        else
            of_b[b->n_overrides++] = text + (named ? 2 : 0);
    }
    a->overrides = of_a;
    b->overrides = of_b;
}

/* Says if one side is a guess, or has no interval at all, because no published run is near it. The difference is then a guess, too. */
static bool add_guess(struct document *d, const char *side, const struct simulation_request *q, const struct track_record *record, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct validity v;
    if (!simulator_run(&s->simulator, &sim, &r, q->recipe, q->overrides, q->n_overrides, err))
        return false;
    validity_of(&v, record, &sim, &r, NULL, &s->arena);
    document_member(d, arena_printf(d->arena, "%s_guess", side), json_boolean(validity_is_guess(&v)));
    if (validity_is_guess(&v))
        document_line(d, "%s is A GUESS: no published run is near; of its throughput, 90 %% interval x %.2g to x %.2g", side, v.low / v.throughput, v.high / v.throughput);
    document_member(d, arena_printf(d->arena, "%s_foreign", side), v.foreign ? json_string(v.foreign) : json_null());
    if (v.foreign)
        document_line(d, "%s has %s", side, validity_note(&v, d->arena));
    simulation_free(&sim);
    return true;
}

static int diff_recipes(const struct options *o, struct session *s, struct err *err)
{
    struct progress p;
    struct diff *d = ARENA_NEW(&s->arena, struct diff);
    struct simulation_request a = { .recipe = o->arguments[0], .simulator = &s->simulator, .watch = { progress_report, &p } }, b = a;
    b.recipe = o->arguments[1];
    part_sets(&a, &b, o, &s->arena);
    progress_start(&p, s->log, "changing one value after the other");
    bool good = diff_simulations(d, &a, &b, &s->arena, err);
    progress_end(&p);
    if (!good)
        return EXIT_BAD_INPUT;
    struct track_record record;
    diff_document(&s->answer, d);
    if (!session_record(&record, NULL, s, err) || !add_guess(&s->answer, "a", &a, &record, s, err) || !add_guess(&s->answer, "b", &b, &record, s, err))
        return EXIT_BAD_INPUT;
    return EXIT_DONE;
}

static bool load_run(struct results *out, const char *run, struct session *s, struct err *err)
{
    const char *path;
    *out = (struct results){0};
    return run_open(run, NULL, s, err) && run_table_path(&path, run, "rows.csv", s, err) && results_load(out, path, &s->arena, err);
}

/* Names recipes that only one of the runs has, which cannot be compared. */
static void print_unmatched(const char *run, const struct results *has, const struct results *lacks, struct session *s)
{
    const char **names = ARENA_ROOM(&s->arena, const char *, has->n);
    size_t n = 0;
    for (size_t i = 0; i < has->n; i++)
        if (!results_find(lacks, has->items[i].id))
            names[n++] = has->items[i].id;
    if (n)
        fprintf(s->log, "podbench: %zu recipe%s only in %s: %s\n", n, plural(n), run, names_list(names, n, &s->arena));
}

struct moved_row { const char *id; double a_step_time_s, b_step_time_s; struct json_t *parts; };
static const struct table_column moved_columns[] = {
#define C(member) { COLUMN(struct moved_row, member) }
    C(id), C(a_step_time_s), C(b_step_time_s), C(parts),
#undef C
};

static int diff_runs(const struct options *o, struct session *s, struct err *err)
{
    struct results a, b;
    if (o->n_sets)
        return bad_input(err, "diff: --set is for recipes; %s and %s are runs", o->arguments[0], o->arguments[1]);
    if (!load_run(&a, o->arguments[0], s, err) || !load_run(&b, o->arguments[1], s, err))
        return EXIT_BAD_INPUT;
    print_unmatched(o->arguments[0], &a, &b, s);
    print_unmatched(o->arguments[1], &b, &a, s);
    struct table *moved = document_table(&s->answer, TABLE(moved_columns, struct moved_row));
    moved->formats = IN_JSON;
    for (size_t i = 0; i < b.n; i++) {
        const struct result *before = results_find(&a, b.items[i].id), *after = &b.items[i];
        if (!before || before->step_time_s == after->step_time_s)
            continue;
        table_add(moved, &(struct moved_row){ after->id, before->step_time_s, after->step_time_s, diff_parts_json(before, after) }, &s->arena);
        diff_parts_document(&s->answer, before, after);
    }
    document_line(&s->answer, "%zu of %zu recipes take another time", moved->n, b.n);
    return EXIT_DONE;
}

/* True if the name is a run: a table or folder. The path of a recipe is a file, too, but ends in .ini. */
static bool is_run(const char *name, struct session *s)
{
    const char *path, *end = strrchr(name, '.');
    return !text_is(end, ".ini") && run_table_path(&path, name, "rows.csv", s, NULL);
}

int command_diff(const struct options *o, struct session *s, struct err *err)
{
    bool a = is_run(o->arguments[0], s), b = is_run(o->arguments[1], s);
    if (a && b)
        return diff_runs(o, s, err);
    return diff_recipes(o, s, err);
}
