/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run.c - podbench run: simulates the named recipes and prints their results.
 *
 * As text, one recipe gets an answer of a dozen lines, and several get a table; --all prints the answer and the whole row of each. All recipes
 * are simulated before anything is printed. If one cannot be simulated, a message says why, the others are printed, and the exit status is 2.
 */
#include "results/published/published.h"
#include "harness/harness.h"
#include "results/study/framework_options.h"
#include "results/study/trust.h"
#include "system-model/graph/graph.h"
#include <jansson.h>

/* One recipe, simulated and judged. */
struct run_found {
    const char *recipe, *notes;         /* notes: the warnings, one on each line */
    struct simulation sim;
    struct result r;
    struct validity validity;
    struct drawn_runs drawn;            /* the drawn runs, if any were asked for */
    struct remedy remedies[MAX_REMEDIES]; size_t n_remedies;        /* changes with which a recipe that does not fit would fit */
    struct table framework_options;
};

/* The output so far, in the requested format. */
struct run_state {
    struct document d;
    struct results results;
    struct run_summary *lines;          /* the lines of a table, one for each result */
    struct table *csv;
    json_t *json;
    struct track_record record;
    struct progress progress;
    bool draws, is_table;
    int status;
};

/* Warns of operators of an ONNX file that are not modelled, but have a rough price because --approximate allows it. */
static void warn_rough_operations(FILE *log, const struct simulation *sim)
{
    const struct graph *g = sim->graph;
    if (g->n_rough_ops)
        fprintf(log, "podbench: %s: %u of %zu forward operations are priced roughly; podbench workload %s --approximate lists them\n",
                sim->recipe.id, g->n_rough_ops, g->n_forward_ops, sim->recipe.model.file);
}

static bool sets_key(const struct options *o, const char *key)
{
    for (size_t i = 0; i < o->n_sets; i++)
        if (setting_is_of(o->sets[i], key))
            return true;
    return false;
}

/* Warns if the release has no sheet of its own: always if its host work would count, otherwise only if the user asked for a release newer than
 * all sheets. */
static void warn_software(FILE *log, const struct simulation *sim, const struct options *o, struct arena *scratch)
{
    const struct recipe *r = &sim->recipe;
    const char *what = r->sdk ? arena_printf(scratch, "%s has no sheet of its own", r->sdk) : "not given";
    bool host_works = r->initial_checkpoint || r->eval_placement == EVAL_END;
    if (sim->sdk.others && (host_works || (sim->sdk.is_newest && sets_key(o, "recipe.sdk"))))
        fprintf(log, "podbench: %s: recipe.sdk: %s (known: %s); using the framework sheet %s%s\n", r->id, what, sim->sdk.others,
                sim->framework.name, host_works ? ", and the host's work on checkpoints counts no time" : "");
}

/* Warns of stages without a schedule, of which only one works at a time. */
static void warn_no_pipeline(FILE *log, const struct simulation *sim)
{
    const struct recipe *r = &sim->recipe;
    if (!recipe_entry(r, "parallel.schedule") && sim->plan.n_stages > 1 && !plan_is_phased(&sim->plan.request))
        fprintf(log, "podbench: %s: parallel.schedule is not set, so only one stage works at a time; pipelines of %s: %s\n", r->id, sim->framework.name,
                sim->framework.schedules);
}

/* Warns of cut links. Since its traffic takes other links, a cut link can cost less than a slow one. */
static void warn_rerouted(FILE *log, const struct simulation *sim)
{
    const struct faults *f = sim->plan.request.faults;
    for (size_t i = 0; f && i < f->n_links; i++)
        if (f->links[i].rate_share == 0)
            fprintf(log, "podbench: %s: link %u-%u is cut: its traffic takes other links; a slow link keeps its traffic, and can cost more\n",
                    sim->recipe.id, f->links[i].from, f->links[i].to);
}

/* Warns of more processes than replicas, as each process feeds at least one replica. */
static void warn_idle_processes(FILE *log, const struct simulation *sim)
{
    const struct recipe *r = &sim->recipe;
    uint32_t n = sim->plan.request.n_replicas;
    if (r->instances > n && r->mode == MODE_TRAIN)
        fprintf(log, "podbench: %s: hosts.instances: %" PRIu64 " processes for %" PRIu32 " replica%s; only %" PRIu32 " are counted\n", r->id, r->instances,
                n, plural(n), n);
}

/* Warns if a run has fewer steps than a call, since it then counts only a part of the call's cost. */
static void warn_short_run(FILE *log, const struct simulation *sim, const struct result *r)
{
    double n_steps = ceil(r->samples_to_converge / r->global_batch), call = sim->plan.request.program.steps_per_call;
    if (n_steps > 0 && n_steps < call)
        fprintf(log, "podbench: %s: the run has %.15g step%s of the %.15g of a call, so it counts %.2g %% of the cost of a call; hosts.steps_per_call=%.15g "
                "counts all of it\n", r->id, n_steps, plural((uint64_t)n_steps), call, 100 * n_steps / call, n_steps);
}

/* Tokens of a row, as given or as the model has them. */
static uint64_t row_tokens(const struct recipe *r)
{
    const struct workload *w = recipe_workload(r);
    return r->model.sequence_length || !w ? r->model.sequence_length : w->default_sequence_length;
}

/* Warns of samples to converge that were counted with another model, optimizer, length or type, as nothing says what these change. */
static void warn_convergence(const struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s, struct arena *a)
{
    const struct recipe *now = &sim->recipe;
    struct recipe own;
    const char *other[4];
    size_t n = 0;
    if (!o->n_sets || !(r->time_to_train_s > 0) || sets_key(o, "training.samples_to_converge") || !recipe_load(&own, recipe, s->paths.recipes_dir, NULL, 0, a, NULL))
        return;
    const struct { const char *key; bool is_other; } changes[] = {
        { "recipe.workload", !text_is(own.workload, now->workload) }, { "data.sequence_length", row_tokens(&own) != row_tokens(now) },
        { "optimizer.name", !text_is(own.optimizer_name, now->optimizer_name) }, { "precision.compute", own.model.compute != now->model.compute } };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (changes[i].is_other)
            other[n++] = changes[i].key;
    if (n)
        fprintf(s->log, "podbench: %s: the time to train takes samples that were counted with another %s, and no change of convergence is modelled; "
                "training.samples_to_converge sets them\n", r->id, names_list(other, n, a));
}

/* Warns of keys that drawn runs ignore, because they take them from the reference points of MLPerf rounds. */
static void warn_not_drawn(FILE *log, const struct recipe *r, const struct options *o, struct arena *a)
{
    static const char *const keys[] = { "training.samples_to_converge", "training.evaluations" };
    const char *set[sizeof keys / sizeof *keys];
    size_t n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sets_key(o, keys[i]))
            set[n++] = keys[i];
    if (n)
        fprintf(log, "podbench: %s: no effect on the drawn runs: %s\n", r->id, names_list(set, n, a));
}

/* Judges how far the result can be trusted. --unfolded leaves out the shares of assumed and fitted values, which need a dozen further
 * simulations. */
static void judge_result(struct run_found *x, const struct run_state *state, const struct options *o, struct session *s)
{
    struct simulation_request q = { .recipe = x->recipe, .overrides = o->sets, .n_overrides = o->n_sets, .simulator = &s->simulator };
    bool wants_shares = !o->unfolded && o->format != FORMAT_CSV;
    validity_of(&x->validity, &state->record, &x->sim, &x->r, wants_shares ? &q : NULL, &s->arena);
    if (!wants_shares)
        validity_add_readings(&x->validity, &state->record, &x->r, &q, &s->arena);
    x->r.guess = validity_guess_name(&x->validity);
}

static bool judges(const struct options *o)
{
    return o->format == FORMAT_TEXT || o->format == FORMAT_JSON || o->format == FORMAT_MARKDOWN || o->format == FORMAT_CSV;
}

/* Warns of settings that may not mean what the user expects. */
static void warn_about_run(const struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s,
                 struct arena *a)
{
    warn_unused_keys(sim, r, recipe, o, s, a);
    warn_rough_operations(s->log, sim);
    warn_software(s->log, sim, o, a);
    warn_no_pipeline(s->log, sim);
    warn_rerouted(s->log, sim);
    warn_idle_processes(s->log, sim);
    warn_short_run(s->log, sim, r);
    warn_convergence(sim, r, recipe, o, s, a);
}

/* Prints the warnings, and returns them, one on each line. */
static const char *warn_and_keep(struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s)
{
    FILE *log = s->log;
    char *text = NULL;
    size_t n;
    s->log = text_stream(&text, &n);
    warn_about_run(sim, r, recipe, o, s, &sim->arena);
    const char *kept = text_close(s->log, &text, &s->arena);
    s->log = log;
    fputs(kept, log);
    return kept;
}

/* ---- output ------------------------------------------------------------------------------------------- */

/* Turns lines "podbench: TEXT" into an array of texts. */
static json_t *notes_json(const char *lines)
{
    json_t *notes = json_array();
    for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
        json_array_append_new(notes, json_stringn(lines + strlen("podbench: "), (size_t)(end - lines) - strlen("podbench: ")));
    return notes;
}

static void add_run_json(struct run_state *state, struct run_found *x, const struct options *o)
{
    json_t *object = result_json(&x->r);
    json_object_set_new(object, "made_by", provenance_json(&x->r, &x->sim, o->sets, o->n_sets));
    json_object_set_new(object, "validity", validity_json(&x->validity));
    json_object_set_new(object, "notes", notes_json(x->notes));
    json_object_set_new(object, "framework_options", table_json(&x->framework_options));
    result_json_add_groups(object, &x->r);
    if (state->draws)
        json_object_set_new(object, "distribution", drawn_runs_json(&x->drawn));
    if (!x->r.fits)
        json_object_set_new(object, "remedies", remedies_json(x->remedies, x->n_remedies));
    if (!state->json)
        document_member(&state->d, NULL, state->json = json_array());
    json_array_append_new(state->json, object);
}

/* A row of CSV; low and high are NAN if there is no interval. */
struct answer_row { struct result r; const char *notes; double interval_low, interval_high; };
static const struct table_column tail_columns[] = { { COLUMN(struct answer_row, notes) }, { COLUMN(struct answer_row, interval_low) },
                                                    { COLUMN(struct answer_row, interval_high) } };

/* A table with the result's columns, followed by the notes and the interval. */
static struct table run_rows(struct arena *a)
{
    struct table result = result_table(a), t = TABLE(tail_columns, struct answer_row, .formats = IN_CSV);
    struct table_column *columns = ARENA_ARRAY(a, struct table_column, result.n_columns + t.n_columns);
    memcpy(columns, result.columns, result.n_columns * sizeof *columns);
    memcpy(columns + result.n_columns, tail_columns, sizeof tail_columns);
    t.columns = columns;
    t.n_columns += result.n_columns;
    return t;
}

static void add_run_csv(struct run_state *state, const struct run_found *x, struct arena *a)
{
    const struct validity *v = &x->validity;
    json_t *said = notes_json(x->notes), *note;
    const char *notes = "";
    size_t n;
    json_array_foreach(said, n, note)
        notes = arena_printf(a, "%s%s%s", notes, *notes ? "; " : "", json_string_value(note));
    json_decref(said);
    const char *trust[] = { v->as_if_fitted ? as_if_fitted_note : NULL, validity_note(v, a) };
    for (size_t i = 0; i < sizeof trust / sizeof *trust; i++)
        if (trust[i])
            notes = arena_printf(a, "%s%s%s", notes, *notes ? "; " : "", trust[i]);
    bool known = validity_has_interval(v);
    if (!state->csv)
        state->csv = document_table(&state->d, run_rows(a));
    table_keep(state->csv, &(struct answer_row){ x->r, notes, known ? v->low : (double)NAN, known ? v->high : (double)NAN }, a);
}

/* Adds the answer of a recipe. Only those tables of published figures are read that name the recipe. */
static bool add_run_text(struct run_state *state, struct run_found *x, const struct options *o, struct session *s, struct err *err)
{
    struct figures figures;
    struct result *r = &x->r;
    if (!published_load_naming(&figures, s->published_dir, r->id, &x->sim.arena, err))
        return false;
    if (state->is_table) {
        state->lines[state->results.n] = run_summary(r, &x->validity, &figures, &s->arena);
        return true;
    }
    if (state->results.n)
        document_gap(&state->d);
    struct document *d = &state->d;
    answer_document(d, &x->sim, r, validity_uncertainty(&x->validity), &figures, s->in_colour);
    validity_document(d, &x->validity, r);
    answer_add_outside(d, r, &x->validity, &figures);
    if (o->framework_options)
        framework_options_document(d, framework_options_name(&x->sim), &x->framework_options);
    if (!r->fits)
        remedies_document(d, x->remedies, x->n_remedies);
    if (state->draws)
        drawn_runs_document(d, &x->drawn);
    if (o->all)
        result_document(d, r);
    return true;
}

/* Adds a judgement for the recipe: it fits, or does not. */
static void judge_fit(struct judgements *out, const struct result *r, struct arena *a)
{
    const char *speed = arena_printf(a, "%.6g samples/s on %s", r->throughput_samples_per_s, r->system);
    judgements_add(out, (struct judgement){ .group = r->system, .name = r->id, .judged = r->fits ? JUDGED_PASS : JUDGED_FAIL,
                   .message = r->fits ? speed : unfit_text(r, a) }, a);
}

/* Adds the output of a recipe, whose simulation is freed afterwards. */
static bool add_run(struct run_state *state, struct run_found *x, const struct options *o, struct session *s, struct err *err)
{
    result_provenance(&x->r, &x->sim, o->sets, o->n_sets);
    if (judges(o))
        judge_result(x, state, o, s);
    if (x->validity.foreign && state->draws)
        fprintf(s->log, "podbench: %s: the drawn runs spread as published ones do, of which none has %s\n", x->r.id, x->validity.foreign);
    if (o->format == FORMAT_JSON || o->framework_options)
        x->framework_options = framework_options(&x->sim, &s->arena);
    if (o->format == FORMAT_JSON)
        add_run_json(state, x, o);
    else if (o->format == FORMAT_CSV)
        add_run_csv(state, x, &s->arena);
    else if ((o->format == FORMAT_TEXT || o->format == FORMAT_MARKDOWN) && !add_run_text(state, x, o, s, err))
        return false;
    results_add(&state->results, &x->r, &s->arena);
    const struct result *kept = &state->results.items[state->results.n - 1];
    judge_fit(&state->d.judged, kept, &s->arena);
    if (state->is_table)
        state->lines[state->results.n - 1].id = kept->id;
    return true;
}

static bool draw_runs(struct run_found *x, struct run_state *state, const struct options *o, struct session *s, struct err *err)
{
    struct submission_request q = { .runs = o->runs, .seed = o->seed, .mllog = o->mllog, .record = &state->record,
                                    .until_valid = o->until_valid, .replaces = o->force };
    if (!submission_draw(&x->drawn, &x->sim, &x->r, &q, s, err))
        return false;
    if (!isfinite(x->drawn.score_minutes)) {
        fprintf(s->log, "podbench: %s: the drawn submission has no score: %s%s\n", x->r.id, drawn_runs_why_no_score(&x->drawn, &s->arena),
                drawn_runs_are_few(&x->drawn) ? "" : "; --draw-until-valid draws until one has");
        state->status = EXIT_OUT_OF_TOLERANCE;
    }
    return true;
}

static bool run_one(struct run_state *state, const char *recipe, const struct options *o, struct session *s, struct err *err)
{
    struct run_found x = { .recipe = recipe };
    struct err law = {0};
    bool good = simulator_run(&s->simulator, &x.sim, &x.r, recipe, o->sets, o->n_sets, err);
    progress_end(&state->progress);     /* ends the line of progress, as messages may follow */
    if (good)
        x.notes = warn_and_keep(&x.sim, &x.r, recipe, o, s);
    if (good && state->draws)
        warn_not_drawn(s->log, &x.sim.recipe, o, &x.sim.arena);
    if (good && o->check && !timeline_check(&x.sim.timeline, &law)) {
        fprintf(s->log, "podbench: %s: the timeline is inconsistent: %s\n", x.r.id, law.msg);
        state->status = EXIT_OUT_OF_TOLERANCE;
    }
    good = good && (!state->draws || draw_runs(&x, state, o, s, err));
    if (good && !x.r.fits && !x.sim.plan.fits && !state->is_table && (o->format == FORMAT_TEXT || o->format == FORMAT_JSON))
        good = remedies_find(x.remedies, &x.n_remedies, &(struct remedy_request){ &x.sim, recipe, o->sets, o->n_sets, false }, &s->arena, err);
    good = good && add_run(state, &x, o, s, err);
    if (good && (!x.r.fits || (o->require_fit && !result_fits_surely(&x.r))))
        state->status = EXIT_OUT_OF_TOLERANCE;
    simulation_free(&x.sim);
    return good;
}

/* The sum of the times to train, for recipes that are phases of one training; 0 unless each has a time. */
static double minutes_together(const struct run_state *state)
{
    double sum = 0;
    for (size_t i = 0; i < state->results.n; i++) {
        if (!(state->lines[i].train_min > 0))
            return 0;
        sum += state->lines[i].train_min;
    }
    return state->results.n > 1 ? sum : 0;
}

static void print_runs(const struct options *o, struct run_state *state, struct session *s)
{
    struct document table = { .arena = &s->arena };
    enum output_format format = o->format;
    if (state->draws && format != FORMAT_TEXT && format != FORMAT_JSON)
        fprintf(s->log, "podbench: drawn runs are printed only as text and json; %s has the recipe's row\n", format_names[format]);
    if (o->framework_options && format != FORMAT_TEXT && format != FORMAT_JSON)
        fprintf(s->log, "podbench: --framework-options is printed only as text and json\n");
    if (state->is_table && FORMAT_BIT(format) & (IN_TEXT | IN_MARKDOWN)) {
        document_table(&table, run_table(state->lines, state->results.n));
        if (minutes_together(state) > 0)
            document_line(&table, "one after the other: %.1f minutes", minutes_together(state));
        document_line(&table, "%s", format == FORMAT_MARKDOWN ? "" : "--all prints the whole answer of each");
        document_write(s->out, format, &table);         /* in Markdown, judgements follow the table */
    }
    if (FORMAT_BIT(format) & JUDGING_FORMATS && !judgements_pass(&state->d.judged))
        state->status = EXIT_OUT_OF_TOLERANCE;
    document_write(s->out, format, &state->d);
}

static bool check_drawing(const struct options *o, struct err *err)
{
    const char *how = o->until_valid ? "--draw-until-valid" : o->seed != 1 ? "--seed" : NULL;
    if (o->force && !o->mllog)
        return fail(err, "run: --force replaces logs: it needs --mllog DIR");
    return !how || o->runs || o->mllog || fail(err, "run: %s is for drawn runs: it needs --runs N or --mllog DIR", how);
}

static void start_output(struct run_state *out, const struct options *o, struct arena *a)
{
    *out = (struct run_state){
        .d = { .arena = a, .judged.suite = "podbench run" }, .status = EXIT_DONE, .draws = o->runs || o->mllog,
        .is_table = o->format == FORMAT_MARKDOWN || (o->n_arguments > 1 && !o->all && !o->framework_options && !o->runs && !o->mllog),
        .lines = ARENA_ARRAY(a, struct run_summary, o->n_arguments),
    };
}

int command_run(const struct options *o, struct session *s, struct err *err)
{
    struct run_state state;
    if (!check_drawing(o, err))
        return EXIT_BAD_INPUT;
    if (!recipes_check_unique(o->arguments, o->n_arguments, s->paths.recipes_dir, err)) {
        fail_at(err, "run");
        return EXIT_BAD_INPUT;
    }
    start_output(&state, o, &s->arena);
    if ((judges(o) || state.draws) && !session_record(&state.record, NULL, s, err))
        return EXIT_BAD_INPUT;
    bool refused = false;
    s->paths.unfolded = o->unfolded;
    s->simulator.options.totals_only = !o->check;       /* only --check needs spans */
    progress_start(&state.progress, s->log, "simulating");
    s->simulator.watch = (struct watch){ progress_report, &state.progress };
    for (size_t i = 0; i < o->n_arguments; i++) {
        bool good = run_one(&state, o->arguments[i], o, s, err);
        progress_end(&state.progress);
        if (!good) {
            if (o->n_arguments == 1)
                return EXIT_BAD_INPUT;
            fprintf(s->log, "podbench: %s\n", err->msg);
            *err = (struct err){0};
            refused = true;
        }
        progress_report(&state.progress, "", i + 1, o->n_arguments);
    }
    progress_end(&state.progress);
    s->simulator.watch = (struct watch){ NULL, NULL };
    if (state.results.n)
        print_runs(o, &state, s);
    return refused ? EXIT_BAD_INPUT : state.status;
}
