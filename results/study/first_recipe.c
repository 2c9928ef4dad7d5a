/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * first_recipe.c - tries splits, batches and steps a call of a model that has no recipe yet.
 */
#include "results/study/first_recipe.h"
#include "workloads/onnx/onnx.h"
#include <unistd.h>

enum { WIDEST = 16, LARGEST_BATCH = 1024, MOST_STEPS = 10000, UPDATES_PER_STAGE = 8, MOST_OWN_SETS = 16, N_SETTINGS = 10 };
static const double pays = 1.02, call_share = 0.05;     /* a doubled batch must give so much more; what calls may cost of a step */

/* ---- facts from the file -------------------------------------------------------------------------------------------- */

/* Producers write their names in various ways: "pytorch", "tf2onnx 1.9", "PaddlePaddle". Others are read by PopART itself. */
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

/* A size to begin with, by what the dimension's name says. */
static uint64_t usual_size(const char *name)
{
    static const struct { const char *part; uint64_t size; } usual[] = {
        { "height", 224 }, { "width", 224 }, { "Height", 224 }, { "Width", 224 }, { "image", 224 }, { "frames", 512 }, { "time", 512 } };
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strstr(name, usual[i].part))
            return usual[i].size;
    return 128;
}

struct first_trial { const struct first_recipe_request *q; const char *path; bool training; const char *settings[N_SETTINGS]; struct arena *a; };

/* The value of "key=value"; NULL means the text sets another key. */
static const char *set_value(const char *text, const char *key)
{
    size_t n = strlen(key);
    return strncmp(text, key, n) == 0 && text[n] == '=' ? text + n + 1 : NULL;
}

static const char *given_value(const struct first_recipe_request *q, const char *key, const char *otherwise)
{
    const char *value = NULL;
    for (size_t i = 0; i < q->n_sets && !value; i++)
        value = set_value(q->sets[i], key);
    return value ? value : otherwise;
}

/* The sizes of symbolic dimensions as lines of [data], assumed where nobody gave them. */
static const char *data_lines(const char **assumed, const struct first_recipe_request *q, const struct onnx_description *d, struct arena *a)
{
    const char *lines = "";
    *assumed = NULL;
    for (size_t i = 0; i < d->n_dimensions; i++) {
        const char *name = d->dimensions[i];
        if (given_value(q, arena_printf(a, "data.%s", name), NULL))
            continue;
        uint64_t size = usual_size(name);
        lines = arena_printf(a, "%s%s = %ju\n", lines, name, (uintmax_t)size);
        *assumed = arena_printf(a, "%s%s%s = %ju", *assumed ? *assumed : "", *assumed ? ", " : "", name, (uintmax_t)size);
    }
    return lines;
}

/* ---- trials ------------------------------------------------------------------------------------------------------------ */

enum setting { SET_SYSTEM, SET_WIDTH, SET_REPLICAS, SET_BATCH, SET_ACCUMULATION, SET_CALL, SET_SCHEDULE, SET_RECOMPUTE, SET_STATE, SET_MEMORY };
static const char *const setting_keys[N_SETTINGS] = { "recipe.system", "parallel.ipus_per_replica", "parallel.replicas", "parallel.micro_batch",
                                                      "parallel.gradient_accumulation", "hosts.steps_per_call", "parallel.schedule", "parallel.recompute",
                                                      "parallel.optimizer_state", "parallel.available_memory" };

static void set(struct first_trial *t, enum setting s, uint64_t value) { t->settings[s] = arena_printf(t->a, "%ju", (uintmax_t)value); }

/* The user's own settings come last. */
static bool simulate_settings(struct result *r, const struct first_trial *t, struct err *err)
{
    const char *all[N_SETTINGS + MOST_OWN_SETS];
    size_t n = 0;
    for (int i = 0; i < N_SETTINGS; i++)
        if (t->settings[i])
            all[n++] = arena_printf(t->a, "%s=%s", setting_keys[i], t->settings[i]);
    for (size_t i = 0; i < t->q->n_sets && i < MOST_OWN_SETS; i++)
        all[n++] = t->q->sets[i];
    struct simulation_request s = { .recipe = t->path, .simulator = t->q->simulator };
    return result_with(r, &s, all, n, err);
}

/* The one that fits more surely, or else the faster one. */
static bool is_better_trial(const struct result *a, const struct result *b)
{
    double x = fmin(a->fits_probability, FITS_SURELY), y = fmin(b->fits_probability, FITS_SURELY);
    return x != y ? x > y : a->throughput_samples_per_s > b->throughput_samples_per_s;
}

/* With what saves memory, or without it, and with the schedule that is best, of those that the framework can run, where several IPUs hold a
 * model and no schedule is chosen yet. Less memory for temporaries than usual is tried where nothing else fits. */
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

static uint64_t pod_ipus(uint64_t width) { return width <= 4 ? 4 : 16; }

/* One pod of four or sixteen IPUs, full of replicas. */
static void set_width(struct first_trial *t, uint64_t width)
{
    uint64_t ipus = pod_ipus(width);
    t->settings[SET_SYSTEM] = ipus == 4 ? "bow-pod4" : "bow-pod16";
    for (int i = SET_BATCH; i < N_SETTINGS; i++)
        t->settings[i] = NULL;              /* to be found */
    set(t, SET_WIDTH, width);
    set(t, SET_REPLICAS, ipus / width);
    set(t, SET_ACCUMULATION, t->training || width > 1 ? UPDATES_PER_STAGE * width : 1);
}

/* Doubles the micro-batch. A model without a batch refuses the first doubling. */
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

/* With n steps a call a step takes a + c / n; two trials give a and c, and n makes c / n a share of a. In inference the steps of a call are
 * its micro-batches. */
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

/* The file that trials simulate; they vary the rest by settings. */
static const char *base_text(const struct first_recipe_request *q, const char *model, const char *framework, const char *mode, const char *data, struct arena *a)
{
    return arena_printf(a, "[recipe]\nid = %s\nworkload = %s\nsystem = bow-pod4\nframework = %s\nmode = %s\nsource = my own\n\n[data]\n%s\n[parallel]\n"
                        "replicas = 4\nipus_per_replica = 1\nmicro_batch = 1\n\n[precision]\ncompute = fp16\n%s", q->id, model, framework, mode, data,
                        text_is(mode, "train") ? "\n[optimizer]\nname = adam\n" : "");
}

static const char *setting_of(const struct first_trial *t, enum setting s, const char *otherwise)
{
    return given_value(t->q, setting_keys[s], t->settings[s] ? t->settings[s] : otherwise);
}

/* Lines of a section that the user set and that have no place of their own. */
static const char *other_lines(const struct first_trial *t, const char *section)
{
    static const char *const own[] = { "recipe.framework", "recipe.mode", "recipe.workload" };
    const char *lines = "";
    size_t n = strlen(section);
    for (size_t i = 0; i < t->q->n_sets; i++) {
        const char *s = t->q->sets[i];
        bool placed = strncmp(s, section, n) != 0 || s[n] != '.';
        for (int k = 0; k < N_SETTINGS; k++)
            placed |= set_value(s, setting_keys[k]) != NULL;
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            placed |= set_value(s, own[k]) != NULL;
        const char *equals = strchr(s, '=');
        if (!placed && equals)
            lines = arena_printf(t->a, "%s%.*s = %s\n", lines, (int)(equals - s - n - 1), s + n + 1, equals + 1);
    }
    return lines;
}

static const char *recipe_text(const struct first_trial *t, const char *framework, const char *mode, const char *data, const char *comment)
{
    bool training = text_is(mode, "train");
    const char *call = training && t->settings[SET_CALL] ? arena_printf(t->a, "[hosts]\nsteps_per_call = %s\n\n", setting_of(t, SET_CALL, "1")) : "";
    const char *how = "";
    for (int i = SET_SCHEDULE; i < N_SETTINGS; i++)
        if (t->settings[i])
            how = arena_printf(t->a, "%s%s = %s\n", how, strchr(setting_keys[i], '.') + 1, setting_of(t, i, ""));
    return arena_printf(t->a, "%s\n[recipe]\nid = %s\nworkload = %s\nsystem = %s\nframework = %s\nmode = %s\nsource = my own\n%s\n[data]\n%s%s\n[parallel]\n"
                        "replicas = %s\nipus_per_replica = %s\nmicro_batch = %s\ngradient_accumulation = %s\n%s%s\n%s[precision]\ncompute = fp16\n%s%s", comment,
                        t->q->id, given_value(t->q, "recipe.workload", t->q->model), setting_of(t, SET_SYSTEM, ""), given_value(t->q, "recipe.framework", framework),
                        mode, other_lines(t, "recipe"), data, other_lines(t, "data"), setting_of(t, SET_REPLICAS, ""), setting_of(t, SET_WIDTH, ""),
                        setting_of(t, SET_BATCH, "1"), setting_of(t, SET_ACCUMULATION, "1"),
                        how, other_lines(t, "parallel"), call,
                        other_lines(t, "precision"), training ? "\n[optimizer]\nname = adam\n" : "");
}

/* Settings that the user did not give, as the recipe has them. */
static const char *chosen_settings(const struct first_trial *t)
{
    const char *list = "";
    for (int i = SET_WIDTH; i < N_SETTINGS; i++)
        if (t->settings[i] && !given_value(t->q, setting_keys[i], NULL))
            list = arena_printf(t->a, "%s%s%s = %s", list, *list ? ", " : "", strchr(setting_keys[i], '.') + 1, t->settings[i]);
    return list;
}

/* Comments before the recipe: facts from the file, and assumed sizes. */
static const char *comment_of(const struct onnx_description *d, const char *framework, bool known, const char *assumed, bool training, struct arena *a)
{
    return arena_printf(a, "# The first recipe of a model: %s, as the file is %s.\n# %s%s%s\n%s%s%s", training ? "training" : "inference",
                        training ? "exported for training" : "exported for evaluation", known ? "Its producer is " : "No framework is known for its producer ",
                        d->producer, known ? arena_printf(a, ", so it is run by %s.", framework) : arena_printf(a, "; it is run by %s.", framework),
                        assumed ? "# Sizes that nobody has given: " : "", assumed ? assumed : "", assumed ? "\n" : "");
}

static bool write_trial(const char *path, const char *text, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    fputs(text, file.f);
    return new_file_save(&file, err);
}

/* Splits over more IPUs, each with its own batch and steps, until one that fits with certainty is no longer better for each IPU. */
static bool run_trials(struct first_recipe *out, struct first_trial *t, struct err *err)
{
    const char *found[N_SETTINGS] = { NULL };
    double best_each = 0;
    for (uint64_t width = 1; width <= WIDEST; width *= 2) {
        struct result r = { 0 };
        struct err why = { "" };
        set_width(t, width);
        if (!simulate_trial(&r, t, width == 1 ? err : &why)) {
            if (width == 1)
                return false;
            break;                              /* more stages than the model has blocks */
        }
        find_batch(&r, t);
        double one_call = r.throughput_samples_per_s;
        find_steps(&r, t);
        double each = r.throughput_samples_per_s / (double)pod_ipus(width);
        bool fitted = width > 1 && result_fits_surely(&out->result);
        if (fitted && each <= best_each)
            break;
        if (width > 1 && !fitted && r.fits_probability <= out->result.fits_probability)
            continue;
        *out = (struct first_recipe){ .result = r, .one_call_throughput = one_call, .assumed = out->assumed };
        best_each = each;
        memcpy(found, t->settings, sizeof found);
    }
    memcpy(t->settings, found, sizeof found);
    return true;
}

bool first_recipe_find(struct first_recipe *out, const struct first_recipe_request *q, struct arena *a, struct err *err)
{
    struct onnx_description d;
    char *model = realpath(q->model, NULL), *folder = arena_printf(a, "%s/podbench-first-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    *out = (struct first_recipe){ 0 };
    if (!model || !onnx_describe(&d, model, a, err))
        return model ? (free(model), false) : fail(err, "%s: %m", q->model);
    bool known;
    const char *framework = framework_of(d.producer, &known), *mode = given_value(q, "recipe.mode", d.training ? "train" : "infer");
    const char *data = data_lines(&out->assumed, q, &d, a), *absolute = arena_strdup(a, model);
    bool training = text_is(mode, "train");
    free(model);
    if (!mkdtemp(folder))
        return fail(err, "%s: %m", folder);
    struct first_trial t = { .q = q, .path = arena_printf(a, "%s/%s.ini", folder, q->id), .training = training, .a = a };
    bool good = write_trial(t.path, base_text(q, absolute, framework, mode, data, a), err) && run_trials(out, &t, err);
    unlink(t.path);
    rmdir(folder);
    out->chosen = chosen_settings(&t);
    if (good)
        out->text = recipe_text(&t, framework, mode, data, comment_of(&d, framework, known, out->assumed, training, a));
    return good;
}
