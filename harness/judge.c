/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.c - podbench judge: predictions of published MLPerf results, judged next to guesses that need no model.
 *
 * Predictions come from a file, or the command makes them by one of three models. The model podbench predicts the results that a recipe
 * describes: their throughput, and the score of drawn runs, whose samples to converge are predicted from the batch. The other two are a
 * roofline and the model of convergence.
 */
#include "harness/harness.h"
#include "results/rounds/round_results.h"
#include "results/published/check.h"
#include "results/rounds/predictions.h"
#include "results/study/trust.h"

#include <sys/stat.h>

/* ---- podbench's own ------------------------------------------------------------------------------------------ */

/* The use of a recipe: its rows of role calibrate have shaped constants; all other rows were seen. */
static enum prediction_use use_of_recipe(const struct figures *figures, const char *recipe)
{
    for (size_t i = 0; i < figures->n; i++)
        if (figures->items[i].role == FIGURE_CALIBRATE && text_is(figures->items[i].recipe, recipe))
            return USE_FITTED;
    return USE_SEEN;
}

/* Predicts one result by its recipe. Throughput counts samples as the logs do, which for packed sequences differ from the model's. */
static bool predict_by_recipe(struct predictions *out, const struct round_result *of, const char *recipe, enum prediction_use use,
                              const struct track_record *record, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct drawn_runs drawn;
    struct validity v;
    struct convergence c;
    struct submission_request q = { .seed = 1, .record = record, .predict_schedule = true };
    if (!simulator_run(&s->simulator, &sim, &r, recipe, NULL, 0, err))
        return false;
    bool good = simulator_convergence(&c, &s->simulator, &sim.recipe, err) && submission_draw(&drawn, &sim, &r, &q, s, err);
    if (good) {
        struct run_timing timing = simulated_timing(&sim, &r);
        double rate = timing_samples_per_step(&timing, c.global_batch) / r.step_time_s;
        validity_of(&v, record, &sim, &r, NULL, &s->arena);
        double scale = validity_has_interval(&v) ? rate / v.throughput : (double)NAN;
        prediction_add(out, of, false, rate, scale * v.low, scale * v.high, use, validity_is_guess(&v), &s->arena);
        prediction_add(out, of, true, drawn.expected_minutes, drawn.low_minutes, drawn.high_minutes, use, validity_is_guess(&v), &s->arena);
    }
    simulation_free(&sim);
    return good;
}

/* The recipe that describes each result, or NULL. */
static const char **recipes_of_results(const struct round_results *r, struct session *s, struct err *err)
{
    struct submission_names *names = ARENA_ROOM(&s->arena, struct submission_names, r->n);
    const char **recipes = ARENA_ROOM(&s->arena, const char *, r->n);
    for (size_t i = 0; i < r->n; i++)
        names[i] = (struct submission_names){ r->items[i].round, r->items[i].submitter, r->items[i].system, r->items[i].benchmark };
    return recipes_of_submissions(recipes, names, r->n, &s->simulator, &s->arena, err) ? recipes : NULL;
}

static bool predict_by_podbench(struct predictions *out, const struct round_results *r, const struct options *o, struct session *s, struct err *err)
{
    struct track_record record;
    struct figures figures;
    const char **recipes;
    if (!track_record_open(&record, s->validity_dir, &s->arena, err)
        || !session_figures(&figures, o->published, s, err) || !(recipes = recipes_of_results(r, s, err)))
        return false;
    for (size_t i = 0; i < r->n; i++)
        if (recipes[i] && !predict_by_recipe(out, &r->items[i], recipes[i], use_of_recipe(&figures, recipes[i]), &record, s, err))
            return false;
    return out->n > 0 || fail(err, "no recipe describes any of these results: podbench has nothing to predict");
}

/* Judges the convergence model. Results whose recipe does not calibrate are predicted by it and shape no part of it. */
static bool judge_left_out(struct document *d, const struct round_results *r, const struct options *o, struct session *s, struct err *err)
{
    struct figures figures;
    const char **recipes;
    bool *held_out = ARENA_ARRAY(&s->arena, bool, r->n);
    if (!session_figures(&figures, o->published, s, err) || !(recipes = recipes_of_results(r, s, err)))
        return false;
    for (size_t i = 0; i < r->n; i++)
        held_out[i] = recipes[i] && use_of_recipe(&figures, recipes[i]) != USE_FITTED;
    convergence_left_out_document(d, r, held_out, s->paths.data_dir);
    return true;
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

/* Loads results from one table that podbench rounds wrote as CSV, or from folders of logs. */
static bool load_results(struct round_results *out, const struct options *o, struct session *s, struct err *err)
{
    struct stat st;
    struct rounds_counts counts;
    const char *const *from = o->arguments + 1;
    *out = (struct round_results){0};
    if (stat(from[0], &st) == 0 && S_ISDIR(st.st_mode))
        return results_from_folders(out, &counts, from, o->n_arguments - 1, o, s, err);
    if (o->n_arguments > 2)
        return fail(err, "%s: want one table of results, or folders of logs", from[0]);
    if (!round_results_load(out, from[0], &s->arena, err))
        return false;
    round_results_finish(out);
    return out->n > 0 || fail(err, "%s: holds no result; want rows below the header", from[0]);
}

static bool get_predictions(struct predictions *out, const struct round_results *r, const struct accelerator_table *accelerators, const struct options *o,
                            struct session *s, struct err *err)
{
    *out = (struct predictions){0};
    if (text_is(o->arguments[0], "podbench"))
        return predict_by_podbench(out, r, o, s, err);
    if (text_is(o->arguments[0], "roofline"))
        return roofline_predict(out, r, accelerators, s->paths.data_dir, &s->arena, err);
    return predictions_load(out, o->arguments[0], &s->arena, err);
}

static bool save_predictions(const struct predictions *p, const char *path, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    predictions_write(file.f, p);
    return new_file_save(&file, err);
}

int command_judge(const struct options *o, struct session *s, struct err *err)
{
    struct round_results results;
    struct accelerator_table accelerators;
    struct predictions predictions;
    struct judged_predictions judged;
    if (!load_results(&results, o, s, err) || !accelerators_load(&accelerators, s->paths.data_dir, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (text_is(o->arguments[0], "convergence"))
        return judge_left_out(&s->answer, &results, o, s, err) ? EXIT_DONE : EXIT_BAD_INPUT;
    if (!get_predictions(&predictions, &results, &accelerators, o, s, err) || (o->out && !save_predictions(&predictions, o->out, err)))
        return EXIT_BAD_INPUT;
    predictions_judge(&judged, &predictions, &results, &accelerators, &s->arena);
    judged_predictions_document(&s->answer, &judged, o->arguments[0], o->all);
    return judged.n_scored ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
