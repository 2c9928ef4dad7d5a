/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.c - podbench search: finds the best configuration under limits, and says why it is best and how much memory it needs.
 */
#include "harness/harness.h"
#include "results/simulate/memory_record.h"
#include "results/study/framework_options.h"
#include "results/study/gain.h"
#include "results/study/search.h"
#include "results/study/sweep.h"
#include "results/study/trust.h"
#include <jansson.h>

/* Limits of a search. The layers of a model from a file share few shapes, so each configuration takes long, and the search gets a limit of
 * time. */
enum { USUAL_MOST = 1000000, EXHAUSTIVE = 1000, USUAL_SECONDS_OF_FILE = 45 };

/* A value of the objective as text, in the unit that other lines use. */
static const char *objective_text(enum objective o, double value, struct arena *a)
{
    switch (o) {
    case MAXIMISE_THROUGHPUT:    return arena_printf(a, "%s samples/s", quantity_kept(value, "", 4, a));
    case MINIMISE_TIME_TO_TRAIN: return arena_printf(a, "%.4g min", value / 60);
    case MINIMISE_ENERGY:        return quantity_kept(value, "J", 4, a);
    case MINIMISE_IPUS:
    case N_OBJECTIVES:           break;
    }
    return arena_printf(a, "%.4g IPU%s", value, value == 1 ? "" : "s");
}

/* ---- the request ------------------------------------------------------------------------------- */

static bool read_objective(struct search_request *q, const struct options *o, struct err *err)
{
    const char *name = o->maximise ? o->maximise : o->minimise ? o->minimise : "throughput";
    if (o->maximise && o->minimise)
        return fail(err, "search: --maximise and --minimise: give one of them");
    for (int i = 0; i < N_OBJECTIVES; i++)
        if (text_is(name, objective_names[i]) && (i == MAXIMISE_THROUGHPUT) == !o->minimise) {
            q->objective = (enum objective)i;
            return true;
        }
    return fail(err, "search: cannot %s '%.40s'; --maximise throughput, or --minimise time-to-train, energy or ipus",
                o->minimise ? "minimise" : "maximise", name);
}

/* Reads "N" or "LOW..HIGH", with a unit if the quantity has one; LOW.. and ..HIGH are open ranges. */
static bool read_range(struct limit *l, const char *text, const char *unit)
{
    const char *dots = strstr(text, "..");
    char low[40] = "";
    if (!dots)
        return parse_quantity(text, unit, &l->low) && (l->high = l->low) > 0;
    if (dots - text >= (ptrdiff_t)sizeof low)
        return false;
    memcpy(low, text, (size_t)(dots - text));
    l->high = NO_LIMIT;
    return (!*low || parse_quantity(low, unit, &l->low)) && (!dots[2] || parse_quantity(dots + 2, unit, &l->high)) && l->high >= l->low && l->high > 0;
}

static bool read_limit(struct search_request *q, const char *text, struct err *err)
{
    const struct { const char *name; struct limit *limit; const char *unit; } known[] = {
        { "ipus", &q->ipus, "" }, { "global_batch", &q->global_batch, "" }, { "tokens", &q->tokens, "" }, { "throughput", &q->throughput, "" },
        { "token_rate", &q->token_rate, "" }, { "fits", &q->fits, "" }, { "memory", &q->memory_bytes, "B" } };
    const char *equals = strchr(text, '=');
    for (size_t i = 0; equals && i < sizeof known / sizeof *known; i++) {
        struct limit *l = known[i].limit;
        if (strlen(known[i].name) != (size_t)(equals - text) || strncmp(known[i].name, text, strlen(known[i].name)) != 0)
            continue;
        if (l->high > 0)
            return fail(err, "--limit %.60s: %s has a limit already; give LOW..HIGH for both ends", text, known[i].name);
        if (!read_range(l, equals + 1, known[i].unit))
            break;
        if (l == &q->fits && (l->low > 1 || (l->high > 1 && l->high < NO_LIMIT)))
            return fail(err, "--limit %.60s: a chance is from 0 to 1, as in fits=0.9..", text);
        return true;
    }
    return fail(err, "--limit %.60s: want ipus, global_batch, tokens, throughput, token_rate, fits or memory = N or LOW..HIGH, as in ipus=64, fits=0.8.. or memory=..600kB", text);
}

static bool read_limits(struct search_request *q, const struct options *o, struct err *err)
{
    for (size_t i = 0; i < o->n_limits; i++)
        if (!read_limit(q, o->limits[i], err))
            return false;
    return q->objective != MINIMISE_IPUS || q->throughput.high > 0
        || fail(err, "search: --minimise ipus needs a throughput to reach, as in --limit throughput=5000..");
}

static bool read_over_values(struct search_request *q, const struct options *o, struct arena *a, struct err *err)
{
    struct space space;
    space_start(&space, o->arguments, 1);
    for (size_t i = 0; i < o->n_overs; i++)
        if (!space_over(&space, o->overs[i], a, err))
            return false;
    if (!space_close(&space, err))
        return false;
    for (size_t i = 0; i < space.n_axes; i++) {
        const struct axis *x = &space.axes[i];
        if (i == MAX_DIMENSIONS || x->n > MAX_VALUES)
            return fail(err, "--over %s: want at most %d keys with %d values each; sweep takes more", x->keys[0], MAX_DIMENSIONS, MAX_VALUES);
        struct dimension *d = &q->given[q->n_given++];
        *d = (struct dimension){ .key = x->keys[0] };
        for (size_t k = 0; k < x->n; k++)
            d->values[d->n++] = strchr(x->settings[k], '=') + 1;
    }
    return true;
}

static bool accepts(const struct search_request *q, const char *setting, struct session *s, struct err *err)
{
    struct arena *a = &s->arena;
    const char **sets = ARENA_ARRAY(a, const char *, q->n_sets + 1), **of_recipe;
    size_t n;
    struct sheet_overrides of_sheets;
    struct recipe rec;
    struct simulation sim;
    struct result r;
    for (size_t i = 0; i < q->n_sets; i++)
        sets[i] = q->sets[i];
    sets[q->n_sets] = setting;
    if (!sheet_overrides_split(&of_sheets, &of_recipe, &n, sets, q->n_sets + 1, a, err)
        || !recipe_load(&rec, q->recipe, s->paths.recipes_dir, of_recipe, n, a, err))
        return false;
    bool good = !is_sheet_override(setting) || simulator_run(&s->simulator, &sim, &r, q->recipe, sets, q->n_sets + 1, err);
    if (good && is_sheet_override(setting))
        simulation_free(&sim);
    return good;
}

/* Warns of values that are refused, and refuses a key if all its values are. */
static bool check_values(const struct search_request *q, struct session *s, struct err *err)
{
    struct err why;
    for (size_t i = 0; i < q->n_given; i++) {
        const struct dimension *d = &q->given[i];
        size_t n_refused = 0;
        for (size_t k = 0; k < d->n; k++)
            n_refused += !accepts(q, arena_printf(&s->arena, "%s=%s", d->key, d->values[k]), s, &why);
        if (n_refused == d->n)
            return fail(err, "search: no value of --over %s can be tried: %s", d->key, why.msg);
        if (n_refused)
            fprintf(s->log, "podbench: search: %zu of %zu values of --over %s cannot be tried: %s\n", n_refused, d->n, d->key, why.msg);
    }
    return true;
}

/* ---- what was found ------------------------------------------------------------------------------------ */

static json_t *found_json(const struct found *x)
{
    json_t *object = result_json(&x->r);
    json_object_set_new(object, "set", json_words(x->settings, x->n_settings));
    return object;
}

static void add_found(struct document *d, const char *name, const struct found *x, const struct found *own)
{
    const struct result *r = &x->r;
    const char *gain = x == own ? "" : arena_printf(d->arena, " (%+.1f %%)", 100 * (r->throughput_samples_per_s / own->r.throughput_samples_per_s - 1));
    const char *train = is_known(r->time_to_train_s) ? arena_printf(d->arena, ", %.4g min to train", r->time_to_train_s / 60) : "";
    bool trains = is_known(r->energy_site_to_train_j);
    double energy_j = trains ? r->energy_site_to_train_j : r->energy_site_j / r->global_batch;
    const char *energy = !is_known(energy_j) ? "" : arena_printf(d->arena, ", %s%s of %s%s", quantity_kept(energy_j, "J", 3, d->arena), trains ? "" : " a sample",
                                                                 r->energy_counts, r->energy_site_j > r->energy_per_step_j ? ", hosts and cooling" : "");
    document_line(d, "%-9s %s samples/s%s, %s per step, global batch %.6g on %" PRIu64 " IPU%s%s%s", name,
                  quantity_kept(r->throughput_samples_per_s, "", 4, d->arena), gain, quantity_kept(r->step_time_s, "s", 4, d->arena), r->global_batch, r->ipus,
                  plural(r->ipus), train, energy);
    document_line(d, "%9s %s on the fullest tile: %s (%s)", "", quantity_kept((double)r->memory_peak_bytes_per_tile, "B", 3, d->arena),
                  r->fits ? "fits" : "does not fit", likely_text(r->fits_probability, d->arena));
    document_line(d, "%9s %s%s", "", x->n_settings ? "--set " : "(the recipe unchanged)", names_joined(x->settings, x->n_settings, " --set ", d->arena));
    document_member(d, name, found_json(x));
}

/* Adds the parts of the time per sample on one IPU that differ most. */
static void add_why(struct document *d, const struct found *best, const struct found *own)
{
    double change[N_PARTS], before = (double)own->r.ipus / own->r.throughput_samples_per_s, after = (double)best->r.ipus / best->r.throughput_samples_per_s;
    enum part parts[N_PARTS];
    const char *text = "";
    for (int k = 0; k < N_PARTS; k++)
        change[k] = best->r.breakdown_s[k] / best->r.step_time_s * after - own->r.breakdown_s[k] / own->r.step_time_s * before;
    parts_by_size(parts, change);
    for (int n = 0; n < 4; n++)
        text = arena_printf(d->arena, "%s%s %s %+.3g", text, n ? "," : "", part_names[parts[n]], 1e3 * change[parts[n]]);
    if (best->n_settings)
        document_line(d, "why       %.4g IPU-ms per sample instead of %.4g:%s", 1e3 * after, 1e3 * before, text);
}

/* A bound on the value of all configurations that were left out, in words. */
static const char *bound_text(const struct search_result *s, const struct search_request *q, struct arena *a)
{
    if (!is_known(s->best_bound))
        return "how much better the others can be is not known";
    if (isinf(s->best_bound))
        return "none of the others reaches the limits";
    const char *gain = s->any ? arena_printf(a, " (%+.1f %% of the best found)", 100 * (s->best_bound / s->best.value - 1)) : "";
    return arena_printf(a, "%s of the others is at best %s%s", objective_names[q->objective], objective_text(q->objective, s->best_bound, a), gain);
}

static void add_proof(struct document *d, const struct search_result *s, const struct search_request *q)
{
    const char *proof = s->whole ? "every one that may fit" : s->exact && !s->stopped ? "best bound first; none of the others is better"
                      : arena_printf(d->arena, "%s%s", s->stopped && !is_known(s->best_bound) ? "stopped early, before every graph was planned; "
                                     : s->stopped ? "stopped early; " : "best bound first; with layers divided better, ", bound_text(s, q, d->arena));
    document_line(d, "searched  %.4g configuration%s, %" PRIu64 " simulated (%" PRIu64 " did not fit, %" PRIu64 " refused): %s", s->space,
                  s->space == 1 ? "" : "s", s->n_simulated, s->n_unfit, s->n_refused, proof);
    document_member(d, "configurations", json_real(s->space));
    document_member(d, "simulated", json_integer((json_int_t)s->n_simulated));
    document_member(d, "method", json_string(s->whole ? "exhaustive" : "best bound first"));
    document_member(d, "exact", json_boolean(s->exact));
    document_member(d, "bound", s->exact ? json_null() : json_number(s->best_bound));
}

static void add_front(struct document *d, struct search_result *s, const struct search_request *q)
{
    json_t *front = json_array();
    SORT_BY(s->front, s->n_front, RISING(struct found, r.memory_peak_bytes_per_tile));
    if (s->any)
        document_line(d, "front     %s against memory, of the configurations simulated:", objective_names[q->objective]);
    for (size_t i = 0; i < s->n_front; i++) {
        json_array_append_new(front, found_json(&s->front[i]));
        if (s->any)
            document_line(d, "          %7s on the fullest tile  %s", quantity_kept((double)s->front[i].r.memory_peak_bytes_per_tile, "B", 3, d->arena),
                          objective_text(q->objective, s->front[i].value, d->arena));
    }
    document_member(d, "pareto_front", front);
}

/* Adds a key of --over with its value in the best configuration, or with its first value if the best is the recipe itself. */
static void add_given(struct configuration *c, const struct dimension *d, const struct found *best, struct arena *a)
{
    const char **values = ARENA_ARRAY(a, const char *, d->n), *own = NULL;
    for (size_t i = 0; i < d->n; i++)
        values[i] = arena_printf(a, "%s=%s", d->key, d->values[i]);
    for (size_t i = 0; i < best->n_settings; i++)
        own = setting_is_of(best->settings[i], d->key) ? best->settings[i] : own;
    configuration_vary(c, own ? own : values[0], values, d->n, 1, a);
}

static bool is_given_value(const char *setting, const struct search_request *q)
{
    for (size_t i = 0; i < q->n_given; i++)
        if (setting_is_of(setting, q->given[i].key))
            return true;
    return false;
}

static void search_warn_idle_keys(const struct found *best, const struct search_request *q, json_t *notes, struct session *s)
{
    struct configuration c = { .recipe = q->recipe, .is_of_many = true };
    configuration_add(&c, q->sets, q->n_sets, &s->arena);
    for (size_t i = 0; i < q->n_given; i++)
        add_given(&c, &q->given[i], best, &s->arena);
    for (size_t i = 0; i < best->n_settings; i++)
        if (!is_given_value(best->settings[i], q)) {
            configuration_add(&c, &best->settings[i], 1, &s->arena);
            c.settings[c.n - 1].is_choice = true;
        }
    warn_idle_settings(&c, "best", notes, s);
}

/* A configuration that is simulated again, with how far it can be trusted, and its options in the framework. */
struct found_again { struct validity validity; struct result r; struct properties at; const char *framework; struct table options; };

static bool judge_found(struct found_again *out, const struct found *x, const struct search_request *q, const struct track_record *record, struct session *session,
                        struct err *err)
{
    struct simulation sim;
    if (!search_simulate(&sim, &out->r, q->simulator, q, x->settings, x->n_settings, err))
        return false;
    struct simulation_request as_found = { .recipe = q->recipe, .overrides = search_sets(q, x->settings, x->n_settings, &session->arena),
                                 .n_overrides = q->n_sets + x->n_settings, .simulator = q->simulator };
    validity_of(&out->validity, record, &sim, &out->r, NULL, &session->arena);
    validity_add_readings(&out->validity, record, &out->r, &as_found, &session->arena);
    out->at = properties_of(&sim, &session->arena);
    out->framework = sim.recipe.framework ? arena_strdup(&session->arena, framework_options_name(&sim)) : NULL;
    out->options = framework_options(&sim, &session->arena);
    simulation_free(&sim);
    return true;
}

/* The best configuration and the recipe, the gain between them, and the settings of the best that no published run had. */
struct judged_gain { struct found_again best, own; struct gain gain; struct novel_settings novel; };

static bool judge_gain(struct judged_gain *g, const struct search_result *s, const struct search_request *q, struct session *session, struct err *err)
{
    struct track_record record;
    struct ratio_test pairs;
    if (!session_record(&record, NULL, session, err) || !judge_found(&g->best, &s->best, q, &record, session, err)
        || !judge_found(&g->own, &s->own, q, &record, session, err))
        return false;
    ratio_test(&pairs, &record.references, &record.spread, &session->arena);
    double ratio = g->best.r.throughput_samples_per_s / g->own.r.throughput_samples_per_s;
    g->gain = !s->best.n_settings ? (struct gain){ 1, 1, 1, 1, 0 }
            : !g->best.validity.near ? (struct gain){ ratio, NAN, NAN, NAN, 0 }     /* a gain is judged by pairs of published programs */
            : gain_of(&pairs, ratio, g->best.validity.expected.spread, s->family_values, q->objective == MINIMISE_IPUS ? 0 : s->n_family_values, s->best.value);
    settings_never_published(&g->novel, s->best.settings, s->best.n_settings, &record.references, &g->best.at, session->paths.recipes_dir, &session->arena);
    return true;
}

static void add_gain(struct document *d, const struct judged_gain *g, const struct found *best)
{
    const struct gain *x = &g->gain;
    const char *rivals = x->n_rivals > 1 ? arena_printf(d->arena, "the best of %" PRIu64 " that are as good: ", x->n_rivals) : "";
    if (best->n_settings && is_known(x->low))
        document_line(d, "gain      %+.1f %% predicted, not tested; %sexpect %+.1f %%, 90 %% interval %+.1f to %+.1f %%, from pairs of "
                      "published runs of one program", 100 * (x->ratio - 1), rivals, 100 * (x->expected - 1), 100 * (x->low - 1), 100 * (x->high - 1));
    else if (best->n_settings)
        document_line(d, "gain      %+.1f %% predicted, not tested; no published run is near, so that no pair of them tells how sure it is", 100 * (x->ratio - 1));
    if (best->n_settings && g->novel.n)
        document_line(d, "          no published run of this framework (%" PRIu64 " are known) had %s", g->novel.n_runs,
                      names_joined(g->novel.settings, g->novel.n, ", ", d->arena));
    document_member(d, "gain", json_pack("{s:f, s:o, s:o, s:o, s:I, s:o}", "throughput_ratio", x->ratio, "expected", json_number(x->expected), "low", json_number(x->low),
                                         "high", json_number(x->high), "as_good", (json_int_t)x->n_rivals, "never_published", json_words(g->novel.settings, g->novel.n)));
}

/* ---- while it runs ------------------------------------------------------------------------------------------- */

struct search_talk { struct progress progress; double most_s; const enum objective *objective; };

/* Shows the best result so far. A log and the explorer's page also get its settings, which would be lost if the search were killed. */
static void show_best(void *user, size_t n_simulated, const struct found *best)
{
    struct search_talk *talk = user;
    struct arena scratch = {0};
    const char *so_far = best ? arena_printf(&scratch, ", best so far: %s", objective_text(*talk->objective, best->value, &scratch)) : "";
    const char *sets = !best || !best->n_settings || takes_escapes(talk->progress.log) ? ""
                     : arena_printf(&scratch, " with --set %s", names_joined(best->settings, best->n_settings, " --set ", &scratch));
    progress_tell(&talk->progress, arena_printf(&scratch, "searching: %zu simulated%s%s", n_simulated, so_far, sets));
    arena_free(&scratch);
}

static bool must_stop(void *user)
{
    const struct search_talk *talk = user;
    return was_interrupted() || (talk->most_s > 0 && progress_seconds(&talk->progress) > talk->most_s);
}

static double time_left(void *user)
{
    const struct search_talk *talk = user;
    return talk->most_s > 0 ? fmax(0, 1 - progress_seconds(&talk->progress) / talk->most_s) : 1;
}

/* Reads --seconds. There is no limit by default, except for the model of a file; 0 means no limit, too. */
static bool read_seconds(double *out, const struct options *o, struct session *s, struct err *err)
{
    struct recipe rec;
    if (o->seconds)
        return (parse_f64(o->seconds, out) && *out >= 0) || fail(err, "--seconds: '%.40s' is not a number from 0 up", o->seconds);
    if (!recipe_load(&rec, o->arguments[0], s->paths.recipes_dir, NULL, 0, &s->arena, err))
        return false;
    *out = rec.model.file && !o->most ? USUAL_SECONDS_OF_FILE : 0;
    return true;
}

/* ---- the command ----------------------------------------------------------------------------------------- */

/* Runs the search; an interruption ends it with the best result so far. */
static bool search_until_stopped(struct search_result *found, const struct search_request *q, struct search_talk *talk, struct session *s, struct err *err)
{
    progress_start(&talk->progress, s->log, "searching");
    interrupts_catch();
    bool good = search(found, q, &s->arena, err);
    bool was_stopped = interrupts_release();
    progress_end(&talk->progress);
    if (good && was_stopped)
        fprintf(s->log, "podbench: search: interrupted; the best so far follows\n");
    return good;
}

static void add_best_found(struct document *d, const struct search_result *found, const struct judged_gain *gain, const struct search_request *q, const struct options *o)
{
    static const char *const members[] = { "best", "validity", "framework_options", "gain" };
    for (size_t i = 0; !found->any && i < sizeof members / sizeof *members; i++)
        document_member(d, members[i], json_null());
    if (!found->any) {
        document_line(d, "best      none: no configuration that was simulated fits within the limits%s", q->fits.high > 0 ? "" :
                      " with a chance of 90 %; --limit fits=0.. takes what may fit");
        return;
    }
    add_found(d, "best", &found->best, &found->own);
    add_why(d, &found->best, &found->own);
    add_gain(d, gain, &found->best);
    validity_document(d, &gain->best.validity, &gain->best.r);
    document_member(d, "validity", validity_json(&gain->best.validity));
    if (o->framework_options)
        framework_options_document(d, gain->best.framework, &gain->best.options);
    document_member(d, "framework_options", table_json(&gain->best.options));
}

int command_search(const struct options *o, struct session *s, struct err *err)
{
    struct search_request q = { .recipe = o->arguments[0], .sets = o->sets, .n_sets = o->n_sets, .most = o->most ? o->most : USUAL_MOST,
                                .exhaustive = EXHAUSTIVE, .simulator = &s->simulator, .tell = show_best, .stop = must_stop, .left = time_left };
    struct search_result *found = ARENA_NEW(&s->arena, struct search_result);
    struct judged_gain *gain = ARENA_NEW(&s->arena, struct judged_gain);
    struct search_talk talk = { .objective = &q.objective };
    q.user = &talk;
    if (!count_threads(&q.n_threads, o, err) || !read_objective(&q, o, err) || !read_limits(&q, o, err) || !read_over_values(&q, o, &s->arena, err)
        || !check_values(&q, s, err) || !read_seconds(&talk.most_s, o, s, err))
        return EXIT_BAD_INPUT;
    s->simulator.options.totals_only = true;
    if (!search_until_stopped(found, &q, &talk, s, err) || (found->any && !judge_gain(gain, found, &q, s, err)))
        return EXIT_BAD_INPUT;
    struct document *d = &s->answer;
    json_t *notes = json_array();
    if (found->any) {
        search_warn_idle_keys(&found->best, &q, notes, s);
        found->best.n_settings = settings_that_matter(found->best.settings, found->best.n_settings, q.recipe, q.sets, q.n_sets, s);
    }
    document_member(d, "objective", json_string(objective_names[q.objective]));
    add_found(d, "recipe", &found->own, &found->own);
    add_best_found(d, found, gain, &q, o);
    document_member(d, "notes", notes);
    add_front(d, found, &q);
    add_proof(d, found, &q);
    return found->any ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
