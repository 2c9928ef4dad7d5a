/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * measured.c - podbench measured: keeps a run that was measured on the user's own machine, and says how well it was predicted.
 */
#include "harness/harness.h"
#include "results/simulate/run_folder.h"
#include "results/study/own_runs.h"
#include "workloads/recipe/recipe.h"

#include <errno.h>
#include <unistd.h>

/* A measured run. `where` says how its name and time were given: by --step, or in a line of a table. */
struct asked_run { const char *recipe, *const *sets; size_t n_sets; const char *step, *where; };

/* Requires a project's folder, so that no other folder gets a file by mistake. */
static bool is_project(struct err *err)
{
    return (is_folder("recipes") && is_folder("published"))
        || fail(err, "measured: this folder is no project; 'podbench init DIR' starts one, whose folder keeps %s", own_runs_file);
}

/* Adds a run with its prediction, which is made before the run counts as known. */
static bool add_measured(struct own_runs *runs, const struct asked_run *q, const struct track_record *record, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct validity v;
    struct arena *a = &s->arena;
    struct own_run m = { .recipe = q->recipe, .sets = names_joined(q->sets, q->n_sets, "; ", a), .version = PODBENCH_VERSION, .first_low = NAN, .first_high = NAN };
    const struct simulation_request request = { .recipe = q->recipe, .overrides = q->sets, .n_overrides = q->n_sets, .simulator = &s->simulator };
    const struct own_run *same = own_run_find(runs, m.recipe, m.sets);
    if (same)
        return fail(err, "%s: %.200s is measured already, %.6g samples/s; take its line out of %s to measure it anew", q->where, m.recipe, same->samples_per_s, own_runs_file);
    if (!simulator_run(&s->simulator, &sim, &r, q->recipe, q->sets, q->n_sets, err))
        return false;
    bool good = own_run_rate(&m.samples_per_s, q->step, &r)
             || fail(err, "%s: '%.40s': want the time of a step, as in 1.4s or 35ms, or a rate, as in 7260/s", q->where, q->step);
    if (good && recipe_hash(&m.hash, &sim.recipe, NULL, a, err)) {
        validity_of(&v, record, &sim, &r, &request, a);
        m.predicted = m.first_predicted = r.throughput_samples_per_s;
        if (validity_has_interval(&v))
            m.first_low = v.low, m.first_high = v.high;
        m.is_guess = validity_is_guess(&v);
        LIST_ADD(runs, a, m);
    } else {
        good = false;
    }
    simulation_free(&sim);
    return good;
}

struct measured_cell { const char *recipe, *step; };
static const struct field cell_fields[] = { FIELD_OF(struct measured_cell, recipe, .required = true), FIELD_OF(struct measured_cell, step, .required = true) };

/* Reads a table "recipe,step" whose cells are written as on the command line. Adds all rows or none. */
static bool add_table(struct own_runs *runs, const char *path, const struct track_record *record, struct session *s, struct err *err)
{
    struct csv_table t;
    const struct measured_cell *cells = records_load(&t, sizeof *cells, path, cell_fields, N_FIELDS(cell_fields), &s->arena, err);
    if (!cells)
        return false;
    for (size_t i = 0; i < t.n_rows; i++) {
        const struct asked_run q = { .recipe = cells[i].recipe, .step = cells[i].step, .where = arena_printf(&s->arena, "%s:%u", path, t.rows[i].line) };
        if (!add_measured(runs, &q, record, s, err))
            return false;
    }
    return t.n_rows > 0 || fail(err, "%s: holds no run; want rows below the header recipe,step", path);
}

static int keep_measured(const char *what, bool is_table, const struct options *o, struct session *s, struct err *err)
{
    struct own_runs runs;
    struct track_record record;
    if (!session_record(&record, &runs, s, err))
        return EXIT_BAD_INPUT;
    size_t n_before = runs.n;
    const struct asked_run q = { what, o->sets, o->n_sets, o->step, "measured" };
    if (!(is_table ? add_table(&runs, what, &record, s, err) : add_measured(&runs, &q, &record, s, err)) || !own_runs_save(&runs, err))
        return EXIT_BAD_INPUT;
    const struct own_runs added = { .items = runs.items + n_before, .n = runs.n - n_before };
    struct table *t = document_table(&s->answer, own_runs_table(&added, &s->arena));
    t->name = "measured";
    document_line(&s->answer, "kept in %s; answers near %s use %s from now on", own_runs_file, added.n == 1 ? "it" : "them", added.n == 1 ? "it" : "them");
    return EXIT_DONE;
}

int command_measured(const struct options *o, struct session *s, struct err *err)
{
    const char *what = o->arguments[0];
    size_t n = strlen(what);
    bool is_table = n > 4 && text_is(what + n - 4, ".csv");
    if (is_table && (o->step || o->n_sets))
        return bad_input(err, "measured: a table has the steps of its runs; leave out --step and --set");
    if (!is_table && !o->step)
        return bad_input(err, "measured: want --step, the time of a step (1.4s) or a rate (7260/s), or a table recipe,step");
    if (!is_project(err))
        return EXIT_BAD_INPUT;
    int lock = lock_folder(".");        /* commands at the same time take turns: each reads the file and writes it anew, with a line more */
    if (lock == -1)
        return bad_input(err, "measured: this folder cannot be locked: %s", strerror(errno));
    int status = keep_measured(what, is_table, o, s, err);
    close(lock);
    return status;
}
