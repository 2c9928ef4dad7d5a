/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run.c - podbench run: simulates the named recipes and prints their results.
 *
 * Text is an answer of a dozen lines for one recipe, and a table of several; with --all the answer of each and its whole
 * row. All recipes are simulated before
 * anything is printed. When one cannot be simulated, a message says why, the others are still printed, and the exit status
 * is 2.
 */
#include "results/published/published.h"
#include "harness/harness.h"
#include "results/study/framework_options.h"
#include "results/study/trust.h"
#include "system-model/graph/graph.h"
#include <jansson.h>

/* Changes that would make a model fit; none when it fits. */
struct tried { struct remedy items[MAX_REMEDIES]; size_t n; };

/* The last cells of a row of CSV; low and high are NAN where there is no interval. */
struct run_tail { const char *notes; double interval_low, interval_high; };

/* Arrays with an item for each result; distributions only when runs are drawn. */
struct run_state {
    struct results results;
    struct drawn_runs *distributions;
    struct tried *tried;
    char **answers;                     /* with --all, for a single recipe, and where runs are drawn; else lines */
    struct run_summary *lines;
    json_t **made_by, **validities;
    struct run_tail *tails;
    const char **notes;                 /* the warnings, a line each */
    struct table *framework_options;
    struct track_record record;
    struct progress progress;
    bool draws, is_table;
    int status;
};

/* Operators of an ONNX file that are not modelled, and have a rough price because --approximate allows it. */
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

/* Warns when the release has no sheet of its own: always when its host work would count, otherwise only when the user
 * asked for a release that is newer than all sheets. */
static void warn_software(FILE *log, const struct simulation *sim, const struct options *o, struct arena *scratch)
{
    const struct recipe *r = &sim->recipe;
    const char *what = r->sdk ? arena_printf(scratch, "%s has no sheet of its own", r->sdk) : "not given";
    bool host_works = r->initial_checkpoint || r->eval_placement == EVAL_END;
    if (sim->sdk.others && (host_works || (sim->sdk.is_newest && sets_key(o, "recipe.sdk"))))
        fprintf(log, "podbench: %s: recipe.sdk: %s (known: %s); using the framework sheet %s%s\n", r->id, what, sim->sdk.others,
                sim->framework.name, host_works ? ", and the host's work on checkpoints counts no time" : "");
}

/* Without a schedule only one stage works at a time, which is seldom intended. */
static void warn_no_pipeline(FILE *log, const struct simulation *sim)
{
    const struct recipe *r = &sim->recipe;
    if (!recipe_entry(r, "parallel.schedule") && sim->plan.n_stages > 1)
        fprintf(log, "podbench: %s: parallel.schedule is not set, so only one stage works at a time; pipelines of %s: %s\n", r->id, sim->framework.name,
                sim->framework.schedules);
}

/* A cut link can cost less than a slow one, because its traffic takes other links. */
static void warn_rerouted(FILE *log, const struct simulation *sim)
{
    const struct faults *f = sim->plan.request.faults;
    for (size_t i = 0; f && i < f->n_links; i++)
        if (f->links[i].rate_share == 0)
            fprintf(log, "podbench: %s: link %u-%u is cut: its traffic takes other links; a slow link keeps its traffic, and can cost more\n",
                    sim->recipe.id, f->links[i].from, f->links[i].to);
}

/* A process feeds at least one replica. */
static void warn_idle_processes(FILE *log, const struct recipe *r)
{
    if (r->instances > r->replicas && r->mode == MODE_TRAIN)
        fprintf(log, "podbench: %s: hosts.instances: %" PRIu64 " processes for %" PRIu64 " replica%s; only %" PRIu64 " are counted\n", r->id, r->instances,
                r->replicas, plural(r->replicas), r->replicas);
}

/* The cost of a call is spread over its steps, even when the run has fewer steps than a call. */
static void warn_short_run(FILE *log, const struct simulation *sim, const struct result *r)
{
    double n_steps = ceil(r->samples_to_converge / r->global_batch), call = sim->plan.request.program.steps_per_call;
    if (n_steps > 0 && n_steps < call)
        fprintf(log, "podbench: %s: the run has %.15g step%s of the %.15g of a call, so it counts %.2g %% of the cost of a call; hosts.steps_per_call=%.15g "
                "counts all of it\n", r->id, n_steps, plural((uint64_t)n_steps), call, 100 * n_steps / call, n_steps);
}

/* Drawn runs take these keys from the reference points of MLPerf rounds. */
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

/* Judges how far the result can be trusted. The shares of assumed and fitted values need a dozen more simulations,
 * which --unfolded leaves out because each may take long. */
static void judge_result(struct validity *out, const struct run_state *state, const struct simulation *sim, const struct result *r,
                  const char *recipe, const struct options *o, struct session *s)
{
    struct simulation_request q = { .recipe = recipe, .overrides = o->sets, .n_overrides = o->n_sets, .simulator = &s->simulator };
    bool wants_shares = !o->unfolded && o->format != FORMAT_CSV;
    validity_of(out, &state->record, sim, r, wants_shares ? &q : NULL, &s->arena);
    if (!wants_shares)
        validity_add_readings(out, &state->record, r, &q, &s->arena);
}

/* Reads only those tables of published figures that name the recipe. */
static bool keep_answer(struct run_state *state, struct simulation *sim, const struct result *r, const struct validity *v, const struct options *o,
                        struct session *s, struct err *err)
{
    struct figures figures;
    char *text = NULL;
    size_t n;
    if (!published_load_naming(&figures, s->published_dir, r->id, &sim->arena, err))
        return false;
    if (state->is_table) {
        state->lines[state->results.n] = run_summary(r, v, &figures, &s->arena);
        return true;
    }
    FILE *f = text_stream(&text, &n);
    answer_print(f, sim, r, validity_uncertainty(v), &figures, s->in_colour);
    validity_print(f, v, r);
    if (o->framework_options)
        framework_options_print(f, sim->recipe.framework, &state->framework_options[state->results.n]);
    fclose(f);
    state->answers[state->results.n] = arena_strdup(&s->arena, text);
    free(text);
    return true;
}

static bool judges(const struct options *o)
{
    return o->format == FORMAT_TEXT || o->format == FORMAT_JSON || o->format == FORMAT_MARKDOWN || o->format == FORMAT_CSV;
}

/* Joins lines of the form "podbench: TEXT" to one line, without the prefix. */
static const char *notes_line(const char *lines, struct arena *a)
{
    const char *notes = "";
    for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
        notes = arena_printf(a, "%s%s%.*s", notes, *notes ? "; " : "", (int)(end - lines - (int)strlen("podbench: ")), lines + strlen("podbench: "));
    return notes;
}

/* Keeps what will be printed; the simulation is freed afterwards. */
static bool keep_run_result(struct run_state *state, struct simulation *sim, struct result *r, const char *recipe, const struct options *o,
                 struct session *s, struct err *err)
{
    size_t i = state->results.n;
    struct validity v = {0};
    result_provenance(r, sim, o->sets, o->n_sets);
    if (judges(o))
        judge_result(&v, state, sim, r, recipe, o, s);
    bool known = validity_has_interval(&v);
    const char *notes = notes_line(state->notes[i], &s->arena);
    if (v.foreign)
        notes = arena_printf(&s->arena, "%s%sno interval: no published run has %s", notes, *notes ? "; " : "", v.foreign);
    state->tails[i] = (struct run_tail){ notes, known ? v.low : (double)NAN, known ? v.high : (double)NAN };
    if (v.foreign && state->draws)
        fprintf(s->log, "podbench: %s: the drawn runs spread as published ones do, of which none has %s\n", r->id, v.foreign);
    if (o->format == FORMAT_JSON) {
        state->made_by[i] = provenance_json(r, sim, o->sets, o->n_sets);
        state->validities[i] = validity_json(&v);
    }
    if (o->format == FORMAT_JSON || o->framework_options)
        state->framework_options[i] = framework_options(sim, &s->arena);
    if ((o->format == FORMAT_TEXT || o->format == FORMAT_MARKDOWN) && !keep_answer(state, sim, r, &v, o, s, err))
        return false;
    results_add(&state->results, r, &s->arena);
    return true;
}

/* Warns of anything in the request that may not mean what the user expects. */
static void warn_about_run(const struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s,
                 struct arena *a)
{
    warn_unused_keys(sim, r, recipe, o, s, a);
    warn_rough_operations(s->log, sim);
    warn_software(s->log, sim, o, a);
    warn_no_pipeline(s->log, sim);
    warn_rerouted(s->log, sim);
    warn_idle_processes(s->log, &sim->recipe);
    warn_short_run(s->log, sim, r);
}

/* Warns, and returns the warnings, a line each. */
static const char *warn_and_keep(struct simulation *sim, const struct result *r, const char *recipe, const struct options *o, struct session *s)
{
    FILE *log = s->log;
    char *text = NULL;
    size_t n;
    s->log = text_stream(&text, &n);
    warn_about_run(sim, r, recipe, o, s, &sim->arena);
    fclose(s->log);
    s->log = log;
    fputs(text, log);
    const char *kept = arena_strdup(&s->arena, text);
    free(text);
    return kept;
}

/* Lines "podbench: TEXT" as an array of texts. */
static json_t *notes_json(const char *lines)
{
    json_t *notes = json_array();
    for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
        json_array_append_new(notes, json_stringn(lines + strlen("podbench: "), (size_t)(end - lines) - strlen("podbench: ")));
    return notes;
}

static bool run_one(struct run_state *state, const char *recipe, const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct err law = {0};
    bool good = simulator_run(&s->simulator, &sim, &r, recipe, o->sets, o->n_sets, err);
    progress_end(&state->progress);     /* messages may follow */
    if (good)
        state->notes[state->results.n] = warn_and_keep(&sim, &r, recipe, o, s);
    if (good && state->draws)
        warn_not_drawn(s->log, &sim.recipe, o, &sim.arena);
    if (good && o->check && !timeline_check(&sim.timeline, &law)) {
        fprintf(s->log, "podbench: %s: the timeline is inconsistent: %s\n", r.id, law.msg);
        state->status = EXIT_OUT_OF_TOLERANCE;
    }
    struct submission_request q = { .runs = o->runs, .seed = o->seed, .mllog = o->mllog, .references = &state->record.references,
                                    .until_valid = o->until_valid, .replaces = o->force };
    if (good && state->draws)
        good = submission_draw(&state->distributions[state->results.n], &sim, &r, &q, s, err);
    if (good && state->draws && !isfinite(state->distributions[state->results.n].score_minutes)) {
        fprintf(s->log, "podbench: %s: the drawn submission has no score because too many of its runs did not converge; "
                "--draw-until-valid draws until one does\n", r.id);
        state->status = EXIT_OUT_OF_TOLERANCE;
    }
    struct tried *tried = &state->tried[state->results.n];
    if (good && !r.fits && !state->is_table && (o->format == FORMAT_TEXT || o->format == FORMAT_JSON))
        good = remedies_find(tried->items, &tried->n, &(struct remedy_request){ &sim, recipe, o->sets, o->n_sets, false }, &s->arena, err);
    if (good)
        good = keep_run_result(state, &sim, &r, recipe, o, s, err);
    if (good && (!r.fits || (o->require_fit && !result_fits_surely(&r))))
        state->status = EXIT_OUT_OF_TOLERANCE;
    simulation_free(&sim);
    return good;
}

static json_t *one_json(const struct run_state *state, size_t i)
{
    json_t *object = result_json(&state->results.items[i]);
    json_object_set_new(object, "made_by", state->made_by[i]);
    json_object_set_new(object, "validity", state->validities[i]);
    json_object_set_new(object, "notes", notes_json(state->notes[i]));
    json_object_set_new(object, "framework_options", table_json(&state->framework_options[i]));
    result_json_add_groups(object, &state->results.items[i]);
    if (state->draws)
        json_object_set_new(object, "distribution", drawn_runs_json(&state->distributions[i]));
    if (!state->results.items[i].fits)
        json_object_set_new(object, "remedies", remedies_json(state->tried[i].items, state->tried[i].n));
    return object;
}

static const struct table_column tail_columns[] = { { COLUMN(struct run_tail, notes) }, { COLUMN(struct run_tail, interval_low) },
                                                    { COLUMN(struct run_tail, interval_high) } };

static void print_results_csv(FILE *f, const struct run_state *state, struct arena *a)
{
    struct table tail = TABLE(tail_columns, struct run_tail);
    const char *header = result_columns(a);
    fprintf(f, "%.*s,", (int)strlen(header) - 1, header);
    table_write_row(f, FORMAT_CSV, &tail, NULL);
    for (size_t i = 0; i < state->results.n; i++) {
        char *row = NULL;
        size_t n;
        FILE *text = text_stream(&row, &n);
        result_write_csv(text, &state->results.items[i]);
        fclose(text);
        fprintf(f, "%.*s,", (int)n - 1, row);
        free(row);
        table_write_row(f, FORMAT_CSV, &tail, &state->tails[i]);
    }
}

static void print_results_json(FILE *f, const struct run_state *state)
{
    json_t *array = json_array();
    for (size_t i = 0; i < state->results.n; i++)
        json_array_append_new(array, one_json(state, i));
    print_json(f, array);
}

static void print_results_text(FILE *f, const struct run_state *state, bool all)
{
    for (size_t i = 0; i < state->results.n; i++) {
        if (i)
            fprintf(f, "\n");
        fputs(state->answers[i], f);
        if (!state->results.items[i].fits)
            remedies_print(f, state->tried[i].items, state->tried[i].n);
        if (state->draws)
            drawn_runs_print(f, &state->distributions[i]);
        if (all)
            result_print_text(f, &state->results.items[i]);
    }
}

/* One judgement for each recipe: whether it fits. */
static void judge_fits(struct judgements *out, const struct run_state *state, struct arena *a)
{
    *out = (struct judgements){ .suite = "podbench run" };
    for (size_t i = 0; i < state->results.n; i++) {
        const struct result *r = &state->results.items[i];
        const char *speed = arena_printf(a, "%.6g samples/s on %s", r->throughput_samples_per_s, r->system);
        judgements_add(out, (struct judgement){ .group = r->system, .name = r->id, .judged = r->fits ? JUDGED_PASS : JUDGED_FAIL,
                       .message = r->fits ? speed : arena_printf(a, "does not fit: %llu B more than a tile has",
                                                                 (unsigned long long)r->memory_shortfall_bytes_per_tile) }, a);
    }
}

static void print_results(const struct options *o, struct run_state *state, struct session *s)
{
    enum output_format format = o->format;
    struct judgements judged;
    if (state->draws && format != FORMAT_TEXT && format != FORMAT_JSON)
        fprintf(s->log, "podbench: drawn runs are printed only as text and json; %s has the recipe's row\n", format_names[format]);
    if (o->framework_options && o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
        fprintf(s->log, "podbench: --framework-options is printed only as text and json\n");
    judge_fits(&judged, state, &s->arena);
    if (format == FORMAT_MARKDOWN)
        run_table_print(s->out, format, state->lines, state->results.n);
    if (judgements_write(s->out, format, &judged)) {
        state->status = judgements_pass(&judged) ? state->status : EXIT_OUT_OF_TOLERANCE;
        return;
    }
    if (format == FORMAT_JSON) {
        print_results_json(s->out, state);
        return;
    }
    if (format == FORMAT_TEXT) {
        if (state->is_table)
            run_table_print(s->out, format, state->lines, state->results.n);
        else
            print_results_text(s->out, state, o->all);
        return;
    }
    print_results_csv(s->out, state, &s->arena);
}

static bool check_drawing(const struct options *o, struct err *err)
{
    const char *how = o->until_valid ? "--draw-until-valid" : o->seed != 1 ? "--seed" : NULL;
    if (o->force && !o->mllog)
        return fail(err, "run: --force replaces logs: it needs --mllog DIR");
    return !how || o->runs || o->mllog || fail(err, "run: %s is for drawn runs: it needs --runs N or --mllog DIR", how);
}

static struct run_state run_state_of(const struct options *o, struct arena *a)
{
    size_t n = o->n_arguments;
    return (struct run_state){
        .status = EXIT_DONE, .draws = o->runs || o->mllog,
        .distributions = ARENA_ARRAY(a, struct drawn_runs, n), .tried = ARENA_ARRAY(a, struct tried, n),
        .is_table = o->format == FORMAT_MARKDOWN || (n > 1 && !o->all && !o->framework_options && !o->runs && !o->mllog), .lines = ARENA_ARRAY(a, struct run_summary, n),
        .answers = ARENA_ARRAY(a, char *, n), .made_by = ARENA_ARRAY(a, json_t *, n),
        .validities = ARENA_ARRAY(a, json_t *, n), .tails = ARENA_ARRAY(a, struct run_tail, n), .notes = ARENA_ARRAY(a, const char *, n), .framework_options = ARENA_ARRAY(a, struct table, n),
    };
}

int command_run(const struct options *o, struct session *s, struct err *err)
{
    struct run_state state = run_state_of(o, &s->arena);
    if (!check_drawing(o, err))
        return EXIT_BAD_INPUT;
    if (!recipes_check_unique(o->arguments, o->n_arguments, s->paths.recipes_dir, err)) {
        fail_at(err, "run");
        return EXIT_BAD_INPUT;
    }
    if ((judges(o) || state.draws) && !track_record_open(&state.record, s->validity_dir, &s->arena, err))
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
        progress_show(&state.progress, i + 1, o->n_arguments);
    }
    progress_end(&state.progress);
    s->simulator.watch = (struct watch){ NULL, NULL };
    if (state.results.n)
        print_results(o, &state, s);
    return refused ? EXIT_BAD_INPUT : state.status;
}
