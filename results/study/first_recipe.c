/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * first_recipe.c - tries splits, batches and steps a call of a model that has no recipe yet.
 */
#include "results/study/first_recipe.h"
#include "workloads/onnx/onnx.h"
#include <unistd.h>

enum { WIDEST = 16, LARGEST_BATCH = 1024, MOST_STEPS = 10000, UPDATES_PER_STAGE = 8, N_SETTINGS = 10 };
/* pays: the least gain that justifies doubling the batch; call_share: the share of a step that calls may take */
static const double pays = 1.02, call_share = 0.05;

/* ---- facts from the file -------------------------------------------------------------------------------------------- */

/* Recognises the framework by the producer's name, such as "pytorch", "tf2onnx 1.9" or "PaddlePaddle". Files of other producers are read by
 * PopART itself. */
static const char *framework_of(const char *producer, bool *known)
{
    static const struct { const char *part, *framework; } producers[] = {
        { "pytorch", "PyTorch" }, { "torch", "PyTorch" }, { "tf2onnx", "TensorFlow 2" }, { "keras2onnx", "TensorFlow 2" }, { "tensorflow", "TensorFlow 2" },
        { "addle", "PaddlePaddle" } };
    *known = true;
    for (size_t i = 0; i < sizeof producers / sizeof *producers; i++)
        if (producer && strstr(producer, producers[i].part))
            return producers[i].framework;
    *known = false;
    return "PopART";
}

/* A first guess at a dimension's size, by its name. */
static uint64_t usual_size(const char *name)
{
    static const struct { const char *part; uint64_t size; } usual[] = {
        { "height", 224 }, { "width", 224 }, { "Height", 224 }, { "Width", 224 }, { "image", 224 }, { "frames", 512 }, { "time", 512 } };
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strstr(name, usual[i].part))
            return usual[i].size;
    return 128;
}

/* One trial: a setting that is NULL leaves its key at the default, and the user's settings come last. */
struct first_trial {
    const struct first_recipe_request *q;
    const char *path, *framework, *mode;
    bool training;
    uint64_t own_ipus;                      /* the IPUs of the system that the user gave; 0 if none was given */
    const char *settings[N_SETTINGS];
    struct arena *a;
};

/* The value in "key=value", or NULL if the text sets another key. */
static const char *set_value(const char *text, const char *key)
{
    size_t n = strlen(key);
    return strncmp(text, key, n) == 0 && text[n] == '=' ? text + n + 1 : NULL;
}

/* The last value that the user gave for a key, or `otherwise`. */
static const char *given_value(const struct first_recipe_request *q, const char *key, const char *otherwise)
{
    const char *value = NULL;
    for (size_t i = q->n_sets; i-- > 0 && !value; )
        value = set_value(q->sets[i], key);
    return value ? value : otherwise;
}

/* The sizes that were assumed for symbolic dimensions, such as "tokens = 128, ..."; NULL if none were. */
static const char *assumed_sizes(const struct first_recipe_request *q, const struct onnx_description *d, struct arena *a)
{
    const char *list = NULL;
    for (size_t i = 0; i < d->n_dimensions; i++) {
        const char *name = d->dimensions[i];
        if (!given_value(q, arena_printf(a, "data.%s", name), NULL))
            list = arena_printf(a, "%s%s%s = %ju", list ? list : "", list ? ", " : "", name, (uintmax_t)usual_size(name));
    }
    return list;
}

/* ---- trials ------------------------------------------------------------------------------------------------------------ */

enum setting { SET_SYSTEM, SET_WIDTH, SET_REPLICAS, SET_BATCH, SET_ACCUMULATION, SET_CALL, SET_SCHEDULE, SET_RECOMPUTE, SET_STATE, SET_MEMORY };
static const char *const setting_keys[N_SETTINGS] = { "recipe.system", "parallel.ipus_per_replica", "parallel.replicas", "parallel.micro_batch",
                                                      "parallel.gradient_accumulation", "hosts.steps_per_call", "parallel.schedule", "parallel.recompute",
                                                      "parallel.optimizer_state", "parallel.available_memory" };

static void set(struct first_trial *t, enum setting s, uint64_t value) { t->settings[s] = arena_printf(t->a, "%ju", (uintmax_t)value); }

/* Simulates the trial's settings, followed by the user's own. */
static bool simulate_settings(struct result *r, const struct first_trial *t, struct err *err)
{
    const char **all = ARENA_ROOM(t->a, const char *, N_SETTINGS + t->q->n_sets);
    size_t n = 0;
    for (int i = 0; i < N_SETTINGS; i++)
        if (t->settings[i])
            all[n++] = arena_printf(t->a, "%s=%s", setting_keys[i], t->settings[i]);
    for (size_t i = 0; i < t->q->n_sets; i++)
        all[n++] = t->q->sets[i];
    struct simulation_request s = { .recipe = t->path, .simulator = t->q->simulator };
    return result_with(r, &s, all, n, err);
}

/* True if trial a fits more surely than b, or equally surely and is faster. */
static bool is_better_trial(const struct result *a, const struct result *b)
{
    double x = fmin(a->fits_probability, FITS_SURELY), y = fmin(b->fits_probability, FITS_SURELY);
    return x != y ? x > y : a->throughput_samples_per_s > b->throughput_samples_per_s;
}

/* Tries ways to save memory, each with all schedules that the framework can run if several IPUs hold the model and no schedule is chosen.
 * Keeps the best. */
static bool simulate_trial(struct result *best, struct first_trial *t, struct err *err)
{
    static const char *const all_schedules[] = { "grouped", "interleaved", "popart", "sequential" };
    static const struct { const char *recompute, *state, *memory; } savings[] = {
        { NULL, NULL, NULL }, { "layer", NULL, NULL }, { "layer", "streaming", NULL }, { "layer", "streaming", "0.3" }, { "layer", "streaming", "0.15" } };
    const char *chosen[N_SETTINGS], *own = t->settings[SET_SCHEDULE];
    bool any = false, tries_all = !own && !text_is(t->settings[SET_WIDTH], "1");
    size_t n_schedules = tries_all ? sizeof all_schedules / sizeof *all_schedules : 1, n_savings = sizeof savings / sizeof *savings;
    for (size_t i = 0; i < n_schedules * n_savings; i++) {
        if (savings[i / n_schedules].memory ? any && result_fits_surely(best) : savings[i / n_schedules].recompute && !t->training)
            continue;
        struct result r;
        struct err why = { "" };
        t->settings[SET_SCHEDULE] = tries_all ? all_schedules[i % n_schedules] : own;
        t->settings[SET_RECOMPUTE] = t->training ? savings[i / n_schedules].recompute : NULL;
        t->settings[SET_STATE] = t->training ? savings[i / n_schedules].state : NULL;
        t->settings[SET_MEMORY] = savings[i / n_schedules].memory;
        if (simulate_settings(&r, t, i ? &why : err) && (!any || is_better_trial(&r, best))) {
            *best = r;
            any = true;
            memcpy(chosen, t->settings, sizeof chosen);
        }
    }
    if (any)
        memcpy(t->settings, chosen, sizeof chosen);
    return any;
}

/* The IPUs of the user's system, or else of a pod of four or sixteen. */
static uint64_t system_ipus(const struct first_trial *t, uint64_t width) { return t->own_ipus ? t->own_ipus : width <= 4 ? 4 : 16; }

/* Sets this width, with as many replicas as fill the system. */
static void set_width(struct first_trial *t, uint64_t width)
{
    uint64_t ipus = system_ipus(t, width);
    t->settings[SET_SYSTEM] = ipus == 4 ? "bow-pod4" : "bow-pod16";
    for (int i = SET_BATCH; i < N_SETTINGS; i++)
        t->settings[i] = NULL;              /* the trials choose this setting */
    set(t, SET_WIDTH, width);
    set(t, SET_REPLICAS, ipus / width);
    set(t, SET_ACCUMULATION, t->training || width > 1 ? UPDATES_PER_STAGE * width : 1);
}

/* Doubles the micro-batch as long as that pays. A model without a batch refuses the first doubling. */
static void find_batch(struct result *best, struct first_trial *t)
{
    for (uint64_t batch = 2; batch <= LARGEST_BATCH && result_fits_surely(best); batch *= 2) {
        struct result r = { 0 };
        struct err none = { "" };
        const char *before[N_SETTINGS];
        memcpy(before, t->settings, sizeof before);
        set(t, SET_BATCH, batch);
        if (!simulate_trial(&r, t, &none) || !result_fits_surely(&r) || r.throughput_samples_per_s < pays * best->throughput_samples_per_s) {
            memcpy(t->settings, before, sizeof before);
            return;
        }
        *best = r;
    }
}

/* Chooses the steps of a call. With n steps a call, a step takes a + c / n; two trials give a and c, and n is chosen so that calls take
 * call_share. In inference the steps of a call are its micro-batches. */
static void find_steps(struct result *best, struct first_trial *t)
{
    enum setting s = t->training ? SET_CALL : SET_ACCUMULATION;
    uint64_t own = t->training ? 1 : strtoull(t->settings[SET_ACCUMULATION], NULL, 10);
    struct result once, twice, r;
    struct err none = { "" };
    const char *before = t->settings[s];
    set(t, s, own);
    bool good = simulate_settings(&once, t, &none);
    set(t, s, 2 * own);
    good = good && simulate_settings(&twice, t, &none);
    double first = good ? 1 / once.throughput_samples_per_s : 0, second = good ? 1 / twice.throughput_samples_per_s : 0, each = 2 * second - first;
    double n = good && each > 0 ? ceil((first - each) / (call_share * each)) : 1;
    set(t, s, own * (uint64_t)fmin(fmax(n, 1), MOST_STEPS));
    if (good && simulate_settings(&r, t, &none) && r.fits == best->fits)
        *best = r;
    else
        t->settings[s] = before;
}

/* ---- the recipe -------------------------------------------------------------------------------------------------------- */

struct first_line { const char *key, *value; };     /* `key` includes the section */
struct first_lines { struct first_line *items; size_t n, cap; struct arena *a; };

/* Sets the line of a key; a later value replaces an earlier one. */
static void put_line(struct first_lines *l, const char *key, const char *value)
{
    for (size_t i = 0; i < l->n; i++)
        if (text_is(l->items[i].key, key)) {
            l->items[i].value = value;
            return;
        }
    ARENA_APPEND(l->a, l->items, l->n, l->cap, (struct first_line){ key, value });
}

/* The lines as text; sections come in the order of their first lines. */
static const char *lines_text(const struct first_lines *l)
{
    const char *text = "";
    bool *printed = ARENA_ARRAY(l->a, bool, l->n);
    for (size_t i = 0; i < l->n; i++) {
        size_t n = strcspn(l->items[i].key, ".") + 1;
        if (!printed[i])
            text = arena_printf(l->a, "%s\n[%.*s]\n", text, (int)n - 1, l->items[i].key);
        for (size_t k = i; k < l->n; k++)
            if (!printed[k] && strncmp(l->items[k].key, l->items[i].key, n) == 0) {
                text = arena_printf(l->a, "%s%s = %s\n", text, l->items[k].key + n, l->items[k].value);
                printed[k] = true;
            }
    }
    return text;
}

/* The text of a trial's recipe: facts from the file, then the trial's settings, then the user's own. */
static const char *recipe_text(const struct first_trial *t, const struct onnx_description *d, const char *model)
{
    struct first_lines l = { .a = t->a };
    const struct first_line known[] = { { "recipe.id", t->q->id }, { "recipe.workload", model }, { "recipe.system", "bow-pod4" },
                                         { "recipe.framework", t->framework }, { "recipe.mode", t->mode }, { "recipe.source", "my own" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        put_line(&l, known[i].key, known[i].value);
    for (size_t i = 0; i < d->n_dimensions; i++)
        put_line(&l, arena_printf(t->a, "data.%s", d->dimensions[i]), arena_printf(t->a, "%ju", (uintmax_t)usual_size(d->dimensions[i])));
    const struct first_line least[] = { { "parallel.replicas", "4" }, { "parallel.ipus_per_replica", "1" }, { "parallel.micro_batch", "1" } };
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        put_line(&l, least[i].key, least[i].value);
    for (int i = 0; i < N_SETTINGS; i++)
        if (t->settings[i])
            put_line(&l, setting_keys[i], t->settings[i]);
    put_line(&l, "precision.compute", "fp16");
    if (t->training)
        put_line(&l, "optimizer.name", "adam");
    for (size_t i = 0; i < t->q->n_sets; i++) {
        const char *equals = strchr(t->q->sets[i], '=');
        put_line(&l, arena_printf(t->a, "%.*s", (int)(equals - t->q->sets[i]), t->q->sets[i]), equals + 1);
    }
    return lines_text(&l);
}

/* The settings that the trials chose, without those that the user gave. */
static const char *chosen_settings(const struct first_trial *t)
{
    const char *list = "";
    for (int i = SET_WIDTH; i < N_SETTINGS; i++)
        if (t->settings[i] && !given_value(t->q, setting_keys[i], NULL))
            list = arena_printf(t->a, "%s%s%s = %s", list, *list ? ", " : "", strchr(setting_keys[i], '.') + 1, t->settings[i]);
    return list;
}

/* The comments at the head of the recipe: facts from the file, and assumed sizes. */
static const char *comment_of(const struct first_trial *t, const struct onnx_description *d, bool known, const char *assumed)
{
    const char *why = given_value(t->q, "recipe.mode", NULL) ? "as asked for" : d->training ? "as the file is exported for training"
                    : "as the file is exported for evaluation";
    return arena_printf(t->a, "# The first recipe of a model: %s, %s.\n# %s%s%s %s.\n%s%s%s", t->training ? "training" : "inference", why,
                        known ? "Its producer is " : "No framework is known for its producer ", d->producer, known ? ", so it is run by" : "; it is run by",
                        given_value(t->q, "recipe.framework", t->framework), assumed ? "# Sizes that nobody has given: " : "", assumed ? assumed : "",
                        assumed ? "\n" : "");
}

/* Tries wider and wider splits, each with its own batch and steps, until one that surely fits is no faster for each IPU than the last. */
static bool run_trials(struct first_recipe *out, struct first_trial *t, struct err *err)
{
    const char *found[N_SETTINGS] = { NULL };
    double best_each = 0;
    uint64_t own = strtoull(given_value(t->q, setting_keys[SET_WIDTH], "0"), NULL, 10), first = own ? own : 1;
    uint64_t last = own ? own : t->own_ipus ? min_u64(t->own_ipus, WIDEST) : WIDEST;
    for (uint64_t width = first; width <= last; width *= 2) {
        struct result r = { 0 };
        struct err why = { "" };
        set_width(t, width);
        if (!simulate_trial(&r, t, width == first ? err : &why)) {
            if (width == first)
                return false;
            break;                              /* the model has too few blocks for so many stages */
        }
        find_batch(&r, t);
        double one_call = r.throughput_samples_per_s;
        find_steps(&r, t);
        double each = r.throughput_samples_per_s / (double)r.ipus;
        bool fitted = width > first && result_fits_surely(&out->result);
        if (fitted && each <= best_each)
            break;
        if (width > first && !fitted && r.fits_probability <= out->result.fits_probability)
            continue;
        *out = (struct first_recipe){ .result = r, .one_call_throughput = one_call, .assumed = out->assumed };
        best_each = each;
        memcpy(found, t->settings, sizeof found);
    }
    memcpy(t->settings, found, sizeof found);
    return true;
}

/* Runs the trials with chances to fit that follow from bytes alone, because no setting changes the distance from known programs. The final
 * answer then includes the doubt by that distance. */
static bool run_counted_trials(struct first_recipe *out, struct first_trial *t, struct err *err)
{
    struct simulator_options *options = &t->q->simulator->options, own = *options;
    options->as_counted = true;
    bool good = run_trials(out, t, err);
    *options = own;
    return good && simulate_settings(&out->result, t, err);
}

/* Refuses overrides of sheets, which a recipe cannot hold, and reads the IPUs of the user's system. */
static bool check_own_sets(struct first_trial *t, struct err *err)
{
    const char *system = given_value(t->q, "recipe.system", NULL);
    struct machine m;
    for (size_t i = 0; i < t->q->n_sets; i++)
        if (is_sheet_override(t->q->sets[i]))
            return fail(err, "--set %.200s: is a value of a sheet, which a recipe cannot hold; give it to run, or set recipe.system to a sheet of your own", t->q->sets[i]);
    if (system && !machine_load(&m, system, t->q->simulator->paths->specs_dir, t->a, err))
        return false;
    t->own_ipus = system ? m.n_ipus : 0;
    return true;
}

/* Simulates trials from a file without the user's settings, so that messages name these settings as the user gave them. */
static bool try_in_folder(struct first_recipe *out, struct first_trial *t, const struct onnx_description *d, const char *model, struct err *err)
{
    char *folder = arena_printf(t->a, "%s/podbench-first-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder))
        return fail(err, "%s: %m", folder);
    t->path = arena_printf(t->a, "%s/%s.ini", folder, t->q->id);
    struct first_recipe_request alone = *t->q;
    struct first_trial base = *t;
    base.q = &alone;
    alone.n_sets = 0;
    bool good = write_text_file(t->path, recipe_text(&base, d, model), err) && run_counted_trials(out, t, err);
    size_t n = strlen(t->path);
    if (!good && strncmp(err->msg, t->path, n) == 0)
        fail_replace(err, n, t->q->model);
    unlink(t->path);
    rmdir(folder);
    return good;
}

bool first_recipe_find(struct first_recipe *out, const struct first_recipe_request *q, struct arena *a, struct err *err)
{
    struct onnx_description d;
    char *model = realpath(q->model, NULL);
    *out = (struct first_recipe){ 0 };
    if (!model || !onnx_describe(&d, model, a, err))
        return model ? (free(model), false) : fail(err, "%s: %m", q->model);
    bool known;
    const char *absolute = arena_strdup(a, model);
    free(model);
    struct first_trial t = { .q = q, .framework = framework_of(d.producer, &known), .mode = given_value(q, "recipe.mode", d.training ? "train" : "infer"), .a = a };
    t.training = text_is(t.mode, "train");
    out->assumed = assumed_sizes(q, &d, a);
    if (!check_own_sets(&t, err) || !try_in_folder(out, &t, &d, absolute, err))
        return false;
    out->chosen = chosen_settings(&t);
    out->text = arena_printf(a, "%s%s", comment_of(&t, &d, known, out->assumed), recipe_text(&t, &d, q->model));
    return true;
}
