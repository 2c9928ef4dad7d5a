/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare_logs.c - podbench compare-logs: compares the logs of real submissions with the simulation of their recipes.
 *
 * The recipe of a folder is the one whose source states its system and round; --recipe names one recipe for all folders. Samples to converge
 * and the schedule of evaluations are predicted, even if the recipe states what was logged.
 */
#include "results/published/log_comparison.h"

#include <jansson.h>

#include "harness/harness.h"
#include "results/published/check.h"
#include "results/mlperf/mlperf.h"

struct logs_command {
    const struct options *o;
    struct session *s;
    struct judge judge;
    struct run_log *logs;               /* logs of the current folder */
    size_t n_logs;
    struct arena *folder_arena;
    uint64_t n_compared;
    FILE *text;                         /* receives the document's text */
    struct table *rows;                 /* CSV, */
    json_t *all;                        /* the document as JSON */
    struct err *err;
    bool failed;
};

static void collect_log(void *user, const struct folder *f, const char *path, const struct log_judgement *j)
{
    struct logs_command *c = user;
    (void)f, (void)path;
    struct run_log *kept = &c->logs[c->n_logs++];
    *kept = j->run;
    kept->unit_rates = ARENA_ARRAY(c->folder_arena, double, j->run.n_units);
    if (j->run.n_units)
        memcpy(kept->unit_rates, j->run.unit_rates, j->run.n_units * sizeof *kept->unit_rates);
}

static void add_comparison(struct logs_command *c, const struct log_comparison *found)
{
    fputs(c->n_compared++ ? "\n" : "", c->text);
    log_comparison_print(c->text, found);
    log_comparison_add(c->rows, found, &c->s->arena);
    json_array_append_new(c->all, log_comparison_json(found));
}

static void skip_folder(const struct logs_command *c, const char *dir, const char *why)
{
    fprintf(c->s->log, "podbench: %s: %s\n", dir, why);
}

static bool compare_folder(struct logs_command *c, const struct folder *f, const char *recipe, bool is_source, struct arena *a)
{
    struct simulation sim;
    struct result r;
    struct drawn_runs d;
    struct log_comparison found = {0};
    struct submission_request q = { .seed = c->o->seed, .predict_schedule = true };
    if (!simulator_run(&c->s->simulator, &sim, &r, recipe, c->o->sets, c->o->n_sets, c->err))
        return false;
    struct convergence predicted;
    bool good = submission_draw(&d, &sim, &r, &q, c->s, c->err) && simulator_convergence(&predicted, &c->s->simulator, &sim.recipe, c->err);
    if (good) {
        struct simulated_side side = { &r, simulated_timing(&sim, &r), &d, predicted.global_batch, is_source };
        log_compare(&found, f, c->logs, recipe, &side, a);
        if (found.n_converged)
            add_comparison(c, &found);
        else
            skip_folder(c, f->dir, "no log converged and complies: podbench lint says why");
    }
    simulation_free(&sim);
    return good;
}

static void compare_logs_folder(void *user, const char *dir, char *const *logs, size_t n, struct arena *a)
{
    struct logs_command *c = user;
    struct folder f;
    const char *recipe = c->o->recipe;
    if (c->failed)
        return;
    c->logs = ARENA_ROOM(a, struct run_log, n);
    c->n_logs = 0;
    c->folder_arena = a;
    folder_judge(&f, &c->judge, dir, logs, n, collect_log, c, a);
    if (f.problem) {
        skip_folder(c, dir, f.problem);
        return;
    }
    const char *source;
    struct submission_names names = { f.round, f.submitter, f.system, f.benchmark };
    if (!recipes_of_submissions(&source, &names, 1, &c->s->simulator, a, c->err))
        c->failed = true;
    else if (!recipe && !source)
        skip_folder(c, dir, "no recipe states this submission as its source: name one by --recipe");
    else
        c->failed = !compare_folder(c, &f, recipe ? recipe : source, !recipe || (source && text_is(recipe, source)), a);
}

int command_compare_logs(const struct options *o, struct session *s, struct err *err)
{
    struct document d = { .arena = &s->arena };
    struct logs_command c = { .o = o, .s = s, .text = document_stream(&d, IN_TEXT), .rows = document_table(&d, log_comparison_rows()), .all = json_array(),
                              .err = err };
    struct progress progress;
    struct judge_options options = logs_options(o, s, &progress);
    struct tree_visit visit = { compare_logs_folder, logs_on_notice, &c, NULL, options.watch };
    size_t n_folders;
    const char *dir = logs_folder(o->arguments[0], s, err);
    document_member(&d, NULL, c.all);
    bool good = dir && judge_load(&c.judge, &options, &s->arena, err) && tree_walk(&n_folders, dir, &visit, err) && !c.failed;
    if (good && (c.n_compared || o->format == FORMAT_JSON))
        document_write(s->out, o->format, &d);
    else
        document_drop(&d);
    return !good ? EXIT_BAD_INPUT : c.n_compared ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
