/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask.c - podbench ask: a model and a machine in one line, and one page that answers what to run, how fast it is, whether it fits, and how sure that is.
 *
 * It begins with the model's published recipe that is nearest to the machine, or with the recipe that init makes for an ONNX file. It searches
 * around that recipe for a limited time, writes the best configuration as a recipe, and simulates that file as run does. The functions of
 * these commands do the work.
 */
#include "harness/ask.h"
#include "results/study/first_recipe.h"
#include "results/study/framework_options.h"
#include "results/study/gain.h"
#include "workloads/onnx/onnx.h"
#include <jansson.h>
#include <unistd.h>

enum { USUAL_SECONDS = 20, MOST_BEGINNING_SETS = 14 };
static const char first_line[] = "# Asked: podbench ask";

/* ---- where to begin ------------------------------------------------------------------------------------ */

/* The distance of a recipe's model from the one asked for. If no recipe has the model, one of its family, or else one with the same kind of
 * sample, is used. */
static double unlike_model(const char *workload, const char *model)
{
    const struct workload *x = workload_find(workload, NULL), *y = workload_find(model, NULL);
    if (text_is(workload, model))
        return 0;
    if (!x || !y || x->traits & IS_FILE)
        return INFINITY;
    return text_is(x->family, y->family) ? 200 : text_is(x->sample, y->sample) ? 400 : (double)INFINITY;
}

/* Distances between that of another chip and that of another family of models. */
enum { FAR_BY_A_FACTOR_OF_TWO = 30, OF_OTHER_ROWS = 50 };

/* The distance of a recipe from what is asked. Another chip or number of IPUs adds least, another mode more, and another model most. It is
 * infinite if the recipe lacks the optimizer that training needs. */
static double unlike(const struct recipe *r, const struct asked *q, const struct machine *wanted, struct session *s)
{
    struct machine m;
    bool infers = q->mode && text_is(q->mode, "infer");
    double distance = unlike_model(r->workload, q->model) + (q->mode && infers != (r->mode != MODE_TRAIN) ? 100 : 0);
    if (!machine_load(&m, r->system, s->paths.specs_dir, &s->arena, NULL) || (q->mode && !infers && !r->optimizer_name))
        return INFINITY;
    distance += text_is(m.chip_name, wanted->chip_name) ? 0 : 10;
    distance += q->row_tokens && r->model.sequence_length != q->row_tokens ? OF_OTHER_ROWS : 0;
    distance += r->model.compute == COMPUTE_FP16 ? 0 : 5;          /* half precision is the usual one */
    distance += !q->mode && r->mode != MODE_TRAIN ? 20 : 0;
    return distance + fabs(log2((double)(r->replicas * r->ipus_per_replica) / (double)q->ipus));
}

/* Finds the recipe nearest to what is asked; the first of equals. If `length` is not 0, only recipes of the model with shorter rows take part. */
static bool nearest_recipe(const char **id, struct recipe *out, const struct asked *q, uint64_t length, struct session *s, struct err *err)
{
    char **ids;
    size_t n;
    struct machine wanted;
    double least = INFINITY, own = NAN;
    if (!all_recipes(&ids, &n, s, err) || !machine_load(&wanted, q->system, s->paths.specs_dir, &s->arena, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct recipe r;
        if (!recipe_load(&r, ids[i], s->paths.recipes_dir, NULL, 0, &s->arena, NULL) || (length && (r.model.sequence_length >= length || !text_is(r.workload, q->model))))
            continue;
        double distance = unlike(&r, q, &wanted, s);
        if (distance < least && !text_is(r.workload, q->model)) {
            own = isnan(own) ? (double)workload_parameters(q->model, &s->arena) : own;
            distance += FAR_BY_A_FACTOR_OF_TWO * fabs(log2((double)workload_parameters(r.workload, &s->arena) / own));
        }
        if (distance >= least)
            continue;
        least = distance;
        *id = ids[i];
        *out = r;
    }
    return isfinite(least) || fail(err, "ask: no recipe has %s or a similar model, so a search has no start; write a recipe (podbench list keys) and give it to podbench search", q->model);
}

/* length: tokens in a row; cuts_rows: one of `sets` states it */
struct beginning { const char *recipe, *said; const char *sets[MOST_BEGINNING_SETS]; size_t n_sets; uint64_t length; bool is_other_model, cuts_rows; };

static void begin_with_setting(struct beginning *b, const char *key, uint64_t value, struct arena *a)
{
    b->sets[b->n_sets++] = arena_printf(a, "%s=%ju", key, (uintmax_t)value);
}

/* Cuts layers over `width` IPUs, which are all of the replica, if the recipe cuts them over more. */
static void cut_over_fewer(struct beginning *b, const struct recipe *r, uint64_t width, struct arena *a)
{
    uint32_t n[2];
    if (!tensor_axes(n, r->model.tensor_parallel) || n[0] * n[1] <= width)
        return;
    begin_with_setting(b, "parallel.tensor_parallel", width, a);
    if (r->model.attention_tensor_parallel > width)
        begin_with_setting(b, "parallel.attention_tensor_parallel", width, a);
}

static const char rows_key[] = "data.sequence_length";

/* Sets the length of rows, in place of an earlier setting. */
static void set_rows(struct beginning *b, uint64_t length, struct arena *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->n_sets; i++)
        if (!setting_is_of(b->sets[i], rows_key))
            b->sets[kept++] = b->sets[i];
    b->n_sets = kept;
    b->cuts_rows = true;
    b->length = length;
    begin_with_setting(b, rows_key, length, a);
}

/* Keeps the published recipe's sequence length if it is shorter than the default of the model asked for. */
static void take_rows(struct beginning *b, const struct recipe *r, const struct asked *q, struct arena *a)
{
    uint64_t own = workload_find(q->model, NULL)->default_sequence_length, length = r->model.sequence_length;
    b->length = own;
    if (length && length < own)
        set_rows(b, length, a);
}

/* Begins with a published recipe, moved to the machine: with as many replicas as fit on it, and about the same global batch. */
static bool begin_with_published(struct beginning *b, const struct asked *q, uint64_t shorter_than, struct session *s, struct err *err)
{
    struct recipe r = {0};
    struct machine wanted;
    *b = (struct beginning){ 0 };
    if (!nearest_recipe(&b->recipe, &r, q, shorter_than, s, err) || !machine_load(&wanted, q->system, s->paths.specs_dir, &s->arena, err))
        return false;
    b->length = r.model.sequence_length;
    uint64_t width = min_u64(r.ipus_per_replica, q->ipus), replicas = q->ipus / width, accumulation = r.gradient_accumulation * r.replicas / replicas;
    b->said = arena_printf(&s->arena, "the published recipe %s", b->recipe);
    b->sets[b->n_sets++] = arena_printf(&s->arena, "recipe.system=%s", q->system);
    if (q->mode)
        b->sets[b->n_sets++] = arena_printf(&s->arena, "recipe.mode=%s", q->mode);
    /* the machine has no memory to stream from */
    if (r.optimizer_state == OPTIMIZER_STREAMING && !(wanted.streaming_bytes_per_s > 0) && wanted.pcie_shared_ipus <= 1)
        b->sets[b->n_sets++] = "parallel.optimizer_state=on-chip";
    if (!text_is(r.workload, q->model)) {
        b->sets[b->n_sets++] = arena_printf(&s->arena, "recipe.workload=%s", q->model);
        b->sets[b->n_sets++] = "parallel.layers_per_ipu=";
        b->sets[b->n_sets++] = "parallel.recompute_checkpoints=";
        b->sets[b->n_sets++] = r.mode == MODE_TRAIN ? "parallel.recompute=layer" : "parallel.recompute=none";
        b->sets[b->n_sets++] = "recipe.source=asked; no published run has this model";
        b->is_other_model = true;
        take_rows(b, &r, q, &s->arena);
        b->said = arena_printf(&s->arena, b->cuts_rows ? "%s, which has another model and rows of %ju tokens" : "%s, which has another model", b->said, (uintmax_t)b->length);
    }
    if (q->row_tokens && b->length != q->row_tokens) {
        set_rows(b, q->row_tokens, &s->arena);
        b->said = arena_printf(&s->arena, "%s, with rows of %ju tokens", b->said, (uintmax_t)b->length);
    }
    if (replicas != r.replicas || width != r.ipus_per_replica) {
        begin_with_setting(b, "parallel.replicas", replicas, &s->arena);
        begin_with_setting(b, "parallel.ipus_per_replica", width, &s->arena);
        begin_with_setting(b, "parallel.gradient_accumulation", accumulation ? accumulation : 1, &s->arena);
        if (width != r.ipus_per_replica)
            b->sets[b->n_sets++] = "parallel.layers_per_ipu=";
        cut_over_fewer(b, &r, width, &s->arena);
    }
    return true;
}

/* ---- the recipe ---------------------------------------------------------------------------------------- */

/* True for entries about samples, convergence and the optimizer, which do not apply to another model. */
static bool is_of_model(const struct recipe *r, const struct ini_entry *e)
{
    for (size_t i = 0; i < r->n_hyperparameters; i++)
        if (text_is(e->section, "optimizer") && text_is(r->hyperparameters[i].key, e->key))
            return true;
    return text_is(e->section, "data") || text_is(e->section, "training") || text_is(e->section, "model");
}

static void drop_entries_of_model(struct recipe *r, const struct beginning *b)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_entries; i++) {
        bool is_set = text_is(r->entries[i].section, "data") && text_is(r->entries[i].key, "sequence_length") && b->cuts_rows;
        if (is_set || !is_of_model(r, &r->entries[i]))
            r->entries[n++] = r->entries[i];
    }
    r->n_entries = n;
}

/* True for an open reading whose key is set, so that the reading no longer applies. */
static bool is_answered(const struct ini_entry *e, const char *const *sets, size_t n)
{
    for (size_t i = 0; i < n && text_is(e->section, "open"); i++)
        if (setting_is_of(sets[i], e->key))
            return true;
    return false;
}

/* Writes the entries under this id. Sections come in the order of their first keys. */
static void write_entries(FILE *f, const struct recipe *r, const char *id, const char *const *sets, size_t n)
{
    for (size_t i = 0; i < r->n_entries; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first &= !text_is(r->entries[k].section, r->entries[i].section);
        if (!is_first)
            continue;
        fprintf(f, "\n[%s]\n", r->entries[i].section);
        for (size_t k = i; k < r->n_entries; k++)
            if (text_is(r->entries[k].section, r->entries[i].section) && !is_answered(&r->entries[k], sets, n))
                fprintf(f, "%s = %s\n", r->entries[k].key, text_is(r->entries[k].section, "recipe") && text_is(r->entries[k].key, "id") ? id : r->entries[k].value);
    }
}

/* Writes the recipe with the settings of the beginning and those that the search chose (`sets`). */
static bool write_asked_recipe(const char *path, const char *id, const struct beginning *b, const char *const *sets, size_t n, struct session *s, struct err *err)
{
    struct recipe r;
    struct new_file file;
    const char **all = ARENA_ARRAY(&s->arena, const char *, b->n_sets + n);
    for (size_t i = 0; i < b->n_sets; i++)
        all[i] = b->sets[i];
    for (size_t i = 0; i < n; i++)
        all[b->n_sets + i] = sets[i];
    if (!recipe_load(&r, b->recipe, s->paths.recipes_dir, all, b->n_sets + n, &s->arena, err) || !may_replace(path, first_line, "an answer of podbench ask", err)
        || !new_file_open(&file, path, err))
        return false;
    fprintf(file.f, "%s, from %s.\n", first_line, b->said);
    if (b->is_other_model)
        drop_entries_of_model(&r, b);
    write_entries(file.f, &r, id, all, b->n_sets + n);
    return new_file_save(&file, err);
}

/* Begins with the recipe that init makes for the model's file. */
static bool begin_with_file(struct beginning *b, const struct asked *q, const char *path, const char *id, struct session *s, struct err *err)
{
    struct first_recipe first;
    struct new_file file;
    const char *sets[2];
    size_t n = 0;
    sets[n++] = arena_printf(&s->arena, "recipe.system=%s", q->system);
    if (q->mode)
        sets[n++] = arena_printf(&s->arena, "recipe.mode=%s", q->mode);
    struct first_recipe_request request = { .model = q->model, .id = id, .sets = sets, .n_sets = n, .simulator = &s->simulator };
    if (!first_recipe_find(&first, &request, &s->arena, err) || !may_replace(path, first_line, "an answer of podbench ask", err) || !new_file_open(&file, path, err))
        return false;
    fprintf(file.f, "%s.\n%s", first_line, first.text);
    b->recipe = path;
    b->said = "podbench init";
    return new_file_save(&file, err);
}

/* ---- the search ----------------------------------------------------------------------------------------- */

struct ask_talk { struct progress progress; double most_s; uint32_t n_threads; };

static void tell_best(void *user, size_t n_simulated, const struct found *best)
{
    char text[120];
    struct ask_talk *talk = user;
    snprintf(text, sizeof text, "searching: %zu simulated%s", n_simulated, best ? "" : ", nothing fits yet");
    progress_tell(&talk->progress, text);
}

static bool time_is_over(void *user)
{
    const struct ask_talk *talk = user;
    return was_interrupted() || progress_seconds(&talk->progress) > talk->most_s;
}

static double time_left_to_ask(void *user)
{
    const struct ask_talk *talk = user;
    return fmax(0, 1 - progress_seconds(&talk->progress) / talk->most_s);
}

static bool read_effort(struct ask_talk *talk, const struct options *o, struct err *err)
{
    if (o->seconds && !(parse_f64(o->seconds, &talk->most_s) && talk->most_s > 0))
        return fail(err, "--seconds: '%.40s' is not a number above 0", o->seconds);
    return count_threads(&talk->n_threads, o, err);
}

static bool look_around(struct search_result *out, struct ask_talk *talk, const struct asked *q, const struct beginning *b, const struct options *o, struct session *s,
                        struct err *err)
{
    struct search_request request = { .recipe = b->recipe, .sets = b->sets, .objective = q->objective, .most = o->most ? o->most : 1000000,
        .exhaustive = 1000, .n_threads = talk->n_threads, .simulator = &s->simulator, .tell = tell_best, .stop = time_is_over, .left = time_left_to_ask, .user = talk };
    bool is_sought = q->objective == MINIMISE_IPUS;
    request.ipus = (struct limit){ is_sought ? 1 : (double)q->ipus, (double)q->ipus };
    if (q->least_throughput > 0 || is_sought)
        request.throughput = (struct limit){ fmax(q->least_throughput, 1e-9), NO_LIMIT };        /* accepts any throughput */
    if (q->least_token_rate > 0)
        request.token_rate = (struct limit){ q->least_token_rate, NO_LIMIT };
    if (q->most_texts)
        request.global_batch = (struct limit){ 1, (double)q->most_texts };
    if (q->least_fits > 0)
        request.fits = (struct limit){ q->least_fits, 1 };
    interrupts_catch();
    s->simulator.options.totals_only = true;
    bool good = search(out, &request, &s->arena, err);
    s->simulator.options.totals_only = false;
    interrupts_release();
    return good;
}

/* Opens the simulator anew, because it reads each file only once, and the recipe was written again. */
static void forget_files(struct session *s)
{
    struct simulator_options options = s->simulator.options;
    simulator_close(&s->simulator);
    simulator_open(&s->simulator, &s->paths);
    s->simulator.options = options;
}

enum { SHORTEST_ROWS = 128 };

/* Begins with the nearest recipe of the model with shorter rows. If there are only recipes of other models, halves the rows. False if nothing
 * shorter is left to try. */
static bool begin_with_shorter_rows(struct beginning *b, const struct asked *q, struct session *s)
{
    if (!b->is_other_model)
        return b->length && begin_with_published(b, q, b->length, s, NULL);
    set_rows(b, b->length / 2, &s->arena);
    return b->length >= SHORTEST_ROWS;
}

/* Searches again with shorter rows, within the same time, as long as no configuration fits. If none ever fits, the page describes the first
 * search. */
static bool look_with_shorter_rows(struct search_result *found, struct beginning *b, struct ask_talk *talk, const struct asked *q, const char *path, const char *id,
                                   const struct options *o, struct session *s, struct err *err)
{
    struct beginning next = *b, written = { .recipe = path };
    while (!found->any && !q->row_tokens && !time_is_over(talk) && (!o->most || found->n_simulated < o->most) && begin_with_shorter_rows(&next, q, s)) {
        struct search_result shorter;
        const char *from = next.is_other_model ? b->said : next.said;
        next.said = arena_printf(&s->arena, "%s, with rows of %ju tokens, as those of %ju fit in no way that was tried", from, (uintmax_t)next.length, (uintmax_t)b->length);
        forget_files(s);
        if (!write_asked_recipe(path, id, &next, NULL, 0, s, err) || !look_around(&shorter, talk, q, &written, o, s, err))
            return false;
        shorter.n_simulated += found->n_simulated;
        if (shorter.any)
            *b = next, *found = shorter;
        found->n_simulated = shorter.n_simulated;
        found->stopped |= shorter.stopped;
    }
    return found->any || !b->length || q->row_tokens || write_asked_recipe(path, id, b, NULL, 0, s, err);
}

/* ---- the page -------------------------------------------------------------------------------------------- */

/* The limits as text, such as "17 IPUs, at least 2000 samples/s, fits with 95 %". */
static const char *limits_text(const struct asked *q, struct arena *a)
{
    const char *most = q->objective == MINIMISE_IPUS ? "at most " : "";
    const char *rate = q->least_throughput > 0 ? arena_printf(a, ", at least %.10g samples/s", q->least_throughput) : "";
    const char *tokens = q->least_token_rate > 0 ? arena_printf(a, ", at least %.10g tokens/s", q->least_token_rate) : "";
    bool infers = q->mode && text_is(q->mode, "infer");
    const char *texts = q->most_texts ? arena_printf(a, ", %sat most %" PRIu64 " text%s%s", infers ? "" : "a global batch of ", q->most_texts, plural(q->most_texts), infers ? " at a time" : "") : "";
    return arena_printf(a, "%s%" PRIu64 " IPU%s%s%s%s, fits with %.10g %%", most, q->ipus, plural(q->ipus), rate, tokens, texts, 100 * (q->least_fits > 0 ? q->least_fits : FITS_SURELY));
}

/* Settings as a list. One without a value takes the recipe's line away. */
static const char *settings_text(const char *const *settings, size_t n, struct arena *a)
{
    const char *text = "";
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(settings[i]);
        bool is_unset = length && settings[i][length - 1] == '=';
        text = arena_printf(a, "%s%s%.*s%s", text, i ? ", " : "", (int)(length - is_unset), settings[i], is_unset ? " not set" : "");
    }
    return text;
}

static void add_searched(struct document *d, const struct search_result *found, const struct asked *q, const struct beginning *b)
{
    const struct result *own = &found->own.r, *best = found->any ? &found->best.r : own;
    document_line(d, "began with: %s: %s samples/s%s; %" PRIu64 " configurations%s simulated%s", b->said,
                  quantity_kept(own->throughput_samples_per_s, "", 4, d->arena), own->fits ? "" : ", which does not fit", found->n_simulated,
                  b->length ? arena_printf(d->arena, " with rows of %ju tokens", (uintmax_t)b->length) : "",
                  found->stopped ? ", as many as --seconds and --most allow" : "");
    if (found->any && found->best.n_settings)
        document_line(d, "changed: %s (%+.1f %% in throughput, predicted and not tested)", settings_text(found->best.settings, found->best.n_settings, d->arena),
                      100 * (best->throughput_samples_per_s / own->throughput_samples_per_s - 1));
    if (!found->any)
        document_line(d, "nothing that was tried keeps the limits (%s); the page shows where it began", limits_text(q, d->arena));
}

static void add_more(struct document *d, const char *path)
{
    document_line(d, "\nmore: podbench explain %s    what bounds it, and what would help", path);
    document_line(d, "      podbench fit %s        what fills the memory, and the largest batch", path);
    document_line(d, "      podbench search %s     the next best, and what a gain is worth", path);
    document_line(d, "      podbench run %s        this answer again", path);
}

/* Adds the answer about the recipe that was written. */
static bool add_answer_page(struct document *d, const char *path, struct session *s, struct err *err)
{
    struct track_record record;
    struct simulation sim;
    struct result r;
    struct validity v;
    const struct figures none = {0};
    struct simulation_request q = { .recipe = path, .simulator = &s->simulator };
    forget_files(s);
    if (!session_record(&record, NULL, s, err))
        return false;
    if (!simulator_run(&s->simulator, &sim, &r, path, NULL, 0, err))
        return false;
    result_provenance(&r, &sim, NULL, 0);
    validity_of(&v, &record, &sim, &r, &q, &s->arena);
    struct table options = framework_options(&sim, &s->arena);
    answer_document(d, &sim, &r, validity_uncertainty(&v), &none, s->in_colour);
    validity_document(d, &v, &r);
    framework_options_document(d, framework_options_name(&sim), &options);
    document_member(d, "result", result_json(&r));
    document_member(d, "validity", validity_json(&v));
    document_member(d, "framework_options", table_json(&options));
    simulation_free(&sim);
    return true;
}

/* Chooses the file of the answer: NAME.ini in the current folder, or the one that --out names. */
static void name_answer(const char **path, const char **id, const struct asked *q, const struct options *o, struct arena *a)
{
    const char *model = path_name(q->model);
    size_t n = onnx_is_file(model) ? strlen(model) - strlen(".onnx") : strlen(model);
    *id = arena_printf(a, "ask-%.*s-%s%s%s", (int)n, model, q->system, q->mode ? "-" : "", q->mode ? q->mode : "");
    *path = o->out ? o->out : arena_printf(a, "%s.ini", *id);
}

/* Searches, writes the best configuration as a recipe, and prints the page. */
static bool answer(bool *any, const struct asked *q, struct ask_talk *talk, const char *path, const char *id, const struct options *o, struct session *s, struct err *err)
{
    struct beginning b = {0}, written = { .recipe = path };
    struct search_result *found = ARENA_NEW(&s->arena, struct search_result);
    if (onnx_is_file(q->model) ? !begin_with_file(&b, q, path, id, s, err)
                               : !begin_with_published(&b, q, 0, s, err) || !write_asked_recipe(path, id, &b, NULL, 0, s, err))
        return false;
    progress_start(&talk->progress, s->log, "searching");
    bool good = look_around(found, talk, q, &written, o, s, err) && look_with_shorter_rows(found, &b, talk, q, path, id, o, s, err);
    progress_end(&talk->progress);
    written.said = b.said;
    if (good && found->any)
        found->best.n_settings = settings_that_matter(found->best.settings, found->best.n_settings, path, NULL, 0, s);
    if (!good || (found->any && !write_asked_recipe(path, id, &written, found->best.settings, found->best.n_settings, s, err)))
        return false;
    struct document *d = &s->answer;
    document_line(d, "wrote %s", path);
    add_searched(d, found, q, &b);
    document_gap(d);
    if (!add_answer_page(d, path, s, err))
        return false;
    document_member(d, "recipe", json_string(path));
    document_member(d, "simulated", json_integer((json_int_t)found->n_simulated));
    add_more(d, path);
    *any = found->any;
    return true;
}

/* Makes the file what it was before: this text, or missing if that is NULL. A device or a file of somebody's own was never written. */
static void take_back(const char *path, const char *before)
{
    struct err err;
    if (is_device(path) || !may_replace(path, first_line, "an answer of podbench ask", &err))
        return;
    if (before)
        write_text_file(path, before, &err);
    else
        remove(path);
}

int command_ask(const struct options *o, struct session *s, struct err *err)
{
    struct asked q;
    struct ask_talk talk = { .most_s = USUAL_SECONDS };
    const char *path, *id;
    char *before = NULL;
    bool any;
    if (!ask_read_words(&q, o->arguments, o->n_arguments, s, err) || !read_effort(&talk, o, err))
        return EXIT_BAD_INPUT;
    name_answer(&path, &id, &q, o, &s->arena);
    if (access(path, F_OK) == 0 && !is_device(path) && !read_text_file(&before, NULL, path, LARGEST_FILE_BYTES, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (answer(&any, &q, &talk, path, id, o, s, err))
        return any ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
    take_back(path, before);
    return EXIT_BAD_INPUT;
}
