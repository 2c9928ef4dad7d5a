/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe.c - reading a recipe's file, overriding its values, and refusing what makes no sense together.
 *
 * The table of keys is in recipe_keys.c.
 */
#include "system-model/graph/graph.h"
#include "system-model/machine/framework.h"
#include "workloads/convergence/rcp_points.h"
#include "workloads/recipe/recipe_internal.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- reading -------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* True if the id is a path. */
static const char *recipe_path(const char *id, const char *dir, struct arena *a)
{
    return ends_with(id, ".ini") || strchr(id, '/') ? id : arena_printf(a, "%s/%s.ini", dir, id);
}

/* A missing file may have the id of a published run as its name, with .ini added. The message then says so, instead of an error of reading. */
static bool check_published_name(const char *path, const char *dir, struct arena *a, struct err *err)
{
    bool is_published = !strchr(path, '/') && access(arena_printf(a, "%s/%s", dir, path), F_OK) == 0;
    return !is_published || fail(err, "%.200s: is no file here; the published run of this name is asked for without .ini: %.*s", path, (int)(strlen(path) - 4), path);
}

static bool find_recipe(const char **path, const char *id, const char *dir, struct arena *a, struct err *err)
{
    char **names;
    size_t n;
    *path = recipe_path(id, dir, a);
    if (ends_with(id, ".onnx"))
        return fail(err, "%.200s: is a model, and a recipe says how it runs: 'podbench init DIR --model %.200s' writes one; 'podbench "
                         "workload %.200s' prints the model", id, id, id);
    if (access(*path, F_OK) == 0)
        return true;
    if (*path == id)
        return check_published_name(id, dir, a, err);
    if (access(arena_printf(a, "%s.ini", id), F_OK) == 0)
        return fail(err, "no recipe '%.80s' in %s; to read the file in this folder, name it with its ending: %.80s.ini", id, dir, id);
    if (!list_folder(&names, &n, dir, ".ini", a, err))
        return false;
    const char *nearest[3];
    size_t n_nearest = names_nearest(nearest, 3, (const char *const *)names, n, id);
    size_t n_holding = 0;
    for (size_t i = 0; i < n; i++)
        n_holding += strstr(names[i], id) != NULL;
    const char *more = n_holding > n_nearest ? arena_printf(a, "; %zu recipes have it in their name: podbench list recipes %.80s", n_holding, id) : "";
    return fail(err, "no recipe '%.80s' in %s; %s%s%s", id, dir, n ? "nearest: " : "the folder has none", names_list(nearest, n_nearest, a), more);
}

bool recipe_is_missing(const char *id, const char *recipes_dir, struct arena *a)
{
    return !strchr(id, '/') && access(arena_printf(a, "%s/%s.ini", recipes_dir, id), F_OK) != 0;
}

bool recipes_check_unique(const char *const *ids, size_t n, const char *recipes_dir, struct err *err)
{
    struct arena scratch = {0};
    const char **paths = ARENA_ROOM(&scratch, const char *, n);
    for (size_t i = 0; i < n; i++)
        paths[i] = recipe_path(ids[i], recipes_dir, &scratch);
    bool good = files_are_distinct(ids, paths, n, err);
    arena_free(&scratch);
    return good;
}

const struct recipe recipe_defaults = { .steps_per_call = -INFINITY, .gradient_accumulation = 1, .model.sequences_per_pack = 1, .host_count = 1,
                                        .model.batch_norm_span = 1, .model.sparse.block = 1 };

static void drop_entry(struct recipe *r, const char *section, const char *key)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n_entries; i++) {
        const struct ini_entry e = r->entries[i];
        bool is_dropped = text_is(e.key, key) && text_is(e.section, section);
        const struct recipe_key *k = is_dropped ? recipe_key_of(&e) : NULL;
        if (!is_dropped)
            r->entries[kept++] = e;
        else if (k)
            memcpy((char *)r + k->field.offset, (const char *)&recipe_defaults + k->field.offset, field_bytes(&k->field));
    }
    r->n_entries = kept;
}

/* The length of training is given in one of three ways; a new one replaces the old. */
static void drop_rivals(struct recipe *r, const struct ini_entry *e)
{
    static const char *const rivals[] = { "epochs", "samples_to_converge", "converge" };
    enum { N = sizeof rivals / sizeof *rivals };
    bool is_one = text_is(e->section, "training") && find_text(rivals, N, sizeof *rivals, 0, e->key);
    for (size_t i = 0; i < N && is_one; i++)
        drop_entry(r, "training", rivals[i]);
}

static const char *slice(const char *text, size_t n, struct arena *a) { return memcpy(arena_alloc(a, n + 1), text, n); }

/* Refuses a key that no recipe has. Keys of [data] may also name symbolic dimensions of ONNX files, which only the rest of the recipe can confirm;
 * with of_any, every such key passes. */
static bool check_key(const struct ini_entry *e, const char *text, bool of_any, struct arena *a, struct err *err)
{
    const char *place = arena_printf(a, "--set %.100s", text);
    if (text_is(e->section, "open"))
        return recipe_check_open(e, place, a, err);
    return recipe_key_find(e->section, e->key) || (of_any && text_is(e->section, "data"))
        || recipe_is_hyperparameter(e)
        || (text_is(e->section, "faults") && recipe_takes_fault(e->key))
        || (text_is(e->section, "framework") && field_find(framework_fields, n_framework_fields, e->key)) || recipe_unknown_key(place, e, a, err);
}

const char *recipe_setting_example(const char *text, const char *otherwise, struct arena *a)
{
    size_t n = strcspn(text, "=");
    const struct recipe_key *found = NULL;
    for (size_t i = 0; i < n_recipe_keys && !found && text[n]; i++)
        if (text_is(recipe_keys[i].field.name, slice(text, n, a)))
            found = &recipe_keys[i];
    return found ? arena_printf(a, "%s.%.100s", found->section, text) : otherwise;
}

static bool split_setting(struct ini_entry *out, const char *text, struct arena *a, struct err *err)
{
    const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
    if (!dot || !equals || dot > equals || dot == text || equals == dot + 1)
        return fail(err, "--set %.100s: want section.key=value, as in %s", text, recipe_setting_example(text, "parallel.replicas=4", a));
    *out = (struct ini_entry){ slice(text, (size_t)(dot - text), a), slice(dot + 1, (size_t)(equals - dot - 1), a),
                               arena_strdup(a, equals + 1), 0, 0 };
    return true;
}

static bool remove_setting(struct recipe *r, const struct ini_entry *e, const char *text, struct arena *a, struct err *err)
{
    size_t n = r->n_entries;
    drop_entry(r, e->section, e->key);
    if (r->n_entries == n && !check_key(e, text, false, a, err))
        return false;
    drop_entry(r, "open", slice(text, strcspn(text, "="), a));
    return true;
}

/* "section.key=value" replaces or adds an entry, for which there must be room; "section.key=" removes the entry. Both also remove the key's open
 * readings. */
static bool override(struct recipe *r, const char *text, struct arena *a, struct err *err)
{
    struct ini_entry e;
    if (!split_setting(&e, text, a, err))
        return false;
    if (!*e.value)
        return remove_setting(r, &e, text, a, err);
    drop_rivals(r, &e);
    for (size_t i = 0; i < r->n_entries; i++)
        if (text_is(r->entries[i].section, e.section) && text_is(r->entries[i].key, e.key)) {
            e.place = r->entries[i].place;
            r->entries[i] = e;
            return true;
        }
    recipe_place_entry(&e);
    r->entries[r->n_entries++] = e;
    return true;
}

bool recipe_setting_check(const char *setting, struct arena *a, struct err *err)
{
    struct ini_entry e;
    return is_sheet_override(setting) || (split_setting(&e, setting, a, err) && check_key(&e, setting, true, a, err));
}

static bool is_onnx_recipe(const struct recipe *r)
{
    const struct ini_entry *e = recipe_entry(r, "recipe.workload");
    const struct workload *w = e ? workload_find(e->value, NULL) : NULL;
    return w && w->traits & IS_FILE;
}

static bool read_other(struct recipe *r, const struct ini_entry *e, struct arena *a, struct err *err)
{
    if (recipe_is_hyperparameter(e)) {
        r->hyperparameters[r->n_hyperparameters++] = *e;
    } else if (text_is(e->section, "framework") && field_find(framework_fields, n_framework_fields, e->key)) {
        r->framework_settings[r->n_framework_settings++] = *e;
    } else if (text_is(e->section, "faults") && recipe_takes_fault(e->key)) {
        r->faults[r->n_faults++] = *e;
    } else if (text_is(e->section, "open")) {
        r->open[r->n_open++] = *e;
    } else if (text_is(e->section, "data") && is_onnx_recipe(r)) {      /* a symbolic dimension of the file */
        r->model.dimensions = arena_printf(a, "%s%s%s=%s", r->model.dimensions ? r->model.dimensions : "",
                                           r->model.dimensions ? "," : "", e->key, e->value);
    } else {
        return recipe_unknown_key(recipe_entry_place(r, e, a), e, a, err);
    }
    return true;
}

bool recipe_set_field(void *record, const struct field *f, const struct recipe *r, const struct ini_entry *e, struct arena *a, struct err *err)
{
    struct err wrong;
    return field_set(record, f, e->value, "", &wrong) || fail(err, "%s%s", recipe_entry_place(r, e, a), wrong.msg);
}

static bool read_key_value(struct recipe *r, const struct recipe_key *key, struct ini_entry *e, struct arena *a, struct err *err)
{
    e->value = plain_number(e->value, key->field.unit, a);
    return recipe_set_field(r, &key->field, r, e, a, err);
}

/* Reads the overrides, and the entries whose values the file's loader has not read. */
static bool read_entries(struct recipe *r, bool has_values, struct arena *a, struct err *err)
{
    struct ini_entry **others[] = { &r->hyperparameters, &r->framework_settings, &r->faults, &r->open };     /* the lists of entries whose keys are not in the table */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        *others[i] = ARENA_ARRAY(a, struct ini_entry, r->n_entries + 1);
    for (size_t i = 0; i < r->n_entries; i++) {
        struct ini_entry *e = &r->entries[i];
        const struct recipe_key *key = recipe_key_of(e);
        bool is_read = key && has_values && e->line;
        if (!is_read && !(key ? read_key_value(r, key, e, a, err) : read_other(r, e, a, err)))
            return false;
    }
    return true;
}

/* Names all missing keys together. */
static bool check_required(const struct recipe *r, struct err *err)
{
    struct arena scratch = {0};
    const struct recipe_key *first = NULL;
    const char *list = "";
    bool *is_given = ARENA_ARRAY(&scratch, bool, n_recipe_keys + 2);     /* the last two places are for other keys and for hyperparameters */
    size_t n = 0;
    for (size_t i = 0; i < r->n_entries; i++)
        is_given[r->entries[i].place - 1] = true;
    for (size_t i = 0; i < n_recipe_keys; i++) {
        const struct recipe_key *k = &recipe_keys[i];
        bool is_needed = k->field.required || (r->mode == MODE_TRAIN && text_is(k->section, "optimizer") && text_is(k->field.name, "name"));
        if (!is_needed || is_given[i])
            continue;
        first = n++ ? first : k;
        list = arena_printf(&scratch, "%s%s%s.%s", list, n > 1 ? ", " : "", k->section, k->field.name);
    }
    if (n == 1)
        fail(err, "%s: %s is missing in [%s]: %s", r->path, first->field.name, first->section, first->field.help);
    else if (n > 1)
        fail(err, "%s: %zu keys are missing: %s; podbench list keys says what each is", r->path, n, list);
    arena_free(&scratch);
    return n == 0;
}

/* Checks names of operations, and refuses fp32 for products of 8-bit factors. */
static bool check_fp32_operations(const struct recipe *r, struct err *err)
{
    struct err unknown = { "" };
    uint64_t kinds;
    if (!op_kinds_read(&kinds, r->model.fp32_operations, &unknown))
        return fail(err, "%s: fp32_operations: %s", r->path, unknown.msg);
    if (r->model.compute == COMPUTE_FP8 && kinds & (op_kind_bit(OP_CONV) | op_kind_bit(OP_MATMUL)))
        return fail(err, "%s: fp32_operations: conv and matmul have factors in fp8 here (compute); leave them out", r->path);
    return true;
}

static bool find_family(struct recipe *r, struct arena *a, struct err *err)
{
    struct err unknown = { "" };
    if (!r->model_family || !text_is(r->model_family->name, r->workload))
        r->model_family = workload_find(r->workload, &unknown);
    if (r->model_family && r->model_family->traits & IS_FILE)
        r->model.file = path_beside(r->path, r->workload, a);
    r->model.operators = r->operators ? path_beside(r->path, r->operators, a) : NULL;
    return r->model_family || fail(err, "%s: workload: %s", r->path, unknown.msg);
}

static bool check_generation(const struct recipe *r, struct err *err)
{
    const struct text_generation *g = &r->model.generation;
    const struct workload *w = recipe_workload(r);
    uint64_t room = r->model.sequence_length ? r->model.sequence_length : w ? w->default_sequence_length : 0;
    if (!g->new_tokens)
        return true;
    if (!g->prompt_tokens)
        return fail(err, "%s: prompt_tokens is missing in [generation]: new_tokens follow a prompt", r->path);
    if (g->prompt_tokens + g->new_tokens > room)
        return fail(err, "%s: new_tokens: %ju after a prompt of %ju are more than the %ju tokens of a row; lower them, or raise data.sequence_length", r->path,
                    (uintmax_t)g->new_tokens, (uintmax_t)g->prompt_tokens, (uintmax_t)room);
    if (g->prompts > r->model.micro_batch)
        return fail(err, "%s: prompts: %ju are more than the micro-batch of %ju; raise parallel.micro_batch", r->path, (uintmax_t)g->prompts, (uintmax_t)r->model.micro_batch);
    if (g->cache != CACHE_NONE && w && w->traits & HAS_TWO_SIDES)
        return fail(err, "%s: cache: %s has an encoder, and a cache is simulated for decoders alone; want none", r->path, r->workload);
    return g->cache != CACHE_STREAMING || r->weights == WEIGHTS_STREAMING ||
           fail(err, "%s: cache: streaming, but weights stay on the chip; keys and values come and go in phases: set parallel.weights = streaming", r->path);
}

/* The number of IPUs that share a grid; 1 if each replica has its own. The text has been checked. */
static uint64_t grid_ipus(const struct recipe *r)
{
    uint64_t parts[MOST_GRID_AXES], n_ipus = 1;
    uint32_t n = 0;
    if (r->model.grid_ipus)
        parse_parts(parts, &n, r->model.grid_ipus);
    for (uint32_t i = 0; i < n; i++)
        n_ipus *= parts[i];
    return n_ipus;
}

static bool check_grid(const struct recipe *r, struct err *err)
{
    const struct { const char *key, *value; } keys[] = { { "grid_ipus", r->model.grid_ipus }, { "grid_tiles", r->model.grid_tiles } };
    uint64_t parts[MOST_GRID_AXES];
    uint32_t n;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].value && !parse_parts(parts, &n, keys[i].value))
            return fail(err, "%s: %s: '%.40s': want a number of parts for each axis, such as 1x4", r->path, keys[i].key, keys[i].value);
    if (r->replicas % grid_ipus(r) != 0 || (grid_ipus(r) > 1 && r->ipus_per_replica > 1))
        return fail(err, "%s: grid_ipus: %s is %ju IPUs, each a replica of its own; want replicas of one IPU, in a multiple of that number, not %ju replicas of %ju",
                    r->path, r->model.grid_ipus, (uintmax_t)grid_ipus(r), (uintmax_t)r->replicas, (uintmax_t)r->ipus_per_replica);
    if (r->model.repeat > 1 && r->mode == MODE_TRAIN)
        return fail(err, "%s: repeat: a training step has one round, not %ju; want mode = infer", r->path, (uintmax_t)r->model.repeat);
    return true;
}

/* Checks that concern several keys. */
static bool check_sense(const struct recipe *r, struct err *err)
{
    if (r->mode == MODE_TRAIN && r->model.sparse.density > 0 && r->model.sparse.pattern == PATTERN_STATIC)
        return fail(err, "%s: sparsity.pattern: static products have no gradients in PopSparse; want pattern = dynamic, or mode = infer", r->path);
    if (r->sdk && !is_release(r->sdk))
        return fail(err, "%s: sdk: '%.40s' is not a release; want numbers with points between, such as 2.5.1", r->path, r->sdk);
    if (r->reference_round && !round_has_reference(r->reference_round))
        return fail(err, "%s: reference_round: '%.40s' is not a round with reference points, such as v2.1", r->path, r->reference_round);
    if (r->converge && !recipe_may_converge(r))
        return fail(err, "%s: converge: %s has no MLPerf reference; give epochs or samples_to_converge", r->path, r->workload);
    if (r->converge && !text_is(r->converge, "model"))
        return fail(err, "%s: converge: '%.40s' is not known; want model, or leave it out", r->path, r->converge);
    if ((r->epochs > 0) + (r->samples_to_converge > 0) + (r->converge != NULL) > 1)
        return fail(err, "%s: [training] has more than one of epochs, samples_to_converge and converge; keep one", r->path);
    if (r->epochs > 0 && !r->samples_per_epoch)
        return fail(err, "%s: samples_per_epoch is missing in [data]: [training] counts in epochs", r->path);
    if (r->stash_type == TYPE_FP32 && r->model.compute != COMPUTE_FP32)
        return fail(err, "%s: stash_type: fp32 is wider than what is computed; want fp16 or fp8", r->path);
    return check_generation(r, err) && check_grid(r, err) && check_fp32_operations(r, err);
}

/* ---- a file read once, overridden many times ------------------------------------------------- */

/* Reads a file. If one value is bad, no value is kept, because an override may still replace the bad one. */
bool recipe_file_load(struct recipe_file *out, const char *id, const char *recipes_dir, struct arena *a, struct err *err)
{
    const char *path;
    if (!find_recipe(&path, id, recipes_dir, a, err) || !ini_load(&out->file, path, a, err))
        return false;
    struct recipe *r = &out->values;
    *r = recipe_defaults;
    r->path = out->file.path;
    r->n_entries = out->file.n_entries;
    r->entries = memcpy(ARENA_ARRAY(a, struct ini_entry, r->n_entries), out->file.entries, r->n_entries * sizeof *r->entries);
    struct recipe with_values = *r;
    out->has_values = true;
    for (size_t i = 0; i < r->n_entries; i++) {
        recipe_place_entry(&r->entries[i]);
        const struct recipe_key *key = recipe_key_of(&r->entries[i]);
        out->has_values = out->has_values && (!key || read_key_value(&with_values, key, &r->entries[i], a, NULL));
    }
    if (out->has_values)
        *r = with_values;
    r->model_family = r->workload ? workload_find(r->workload, NULL) : NULL;
    return true;
}

bool recipe_override(struct recipe *out, const struct recipe_file *file, const char *const *overrides, size_t n_overrides,
                     struct arena *a, struct err *err)
{
    *out = file->values;
    out->entries = memcpy(ARENA_ARRAY(a, struct ini_entry, out->n_entries + n_overrides), out->entries, out->n_entries * sizeof *out->entries);
    for (size_t i = 0; i < n_overrides; i++)
        if (!override(out, overrides[i], a, err))
            return false;
    return read_entries(out, file->has_values, a, err) && check_required(out, err) && find_family(out, a, err) && check_sense(out, err)
        && recipe_read_open(out, a, err);
}

bool recipe_has_other_number(const struct recipe *r, const struct recipe_file *file, const struct plan *p)
{
    double now, own;
    for (size_t i = 0; i < r->n_entries && i < file->values.n_entries; i++) {
        const struct ini_entry *x = &r->entries[i], *y = &file->values.entries[i];      /* an override keeps the place of the entry that it replaces */
        if (x->value != y->value && text_is(x->key, y->key) && text_is(x->section, y->section) && parse_f64(x->value, &now) && parse_f64(y->value, &own) && now != own
            && !recipe_key_is_idle(r, p, x))
            return true;
    }
    return false;
}

bool recipe_load(struct recipe *out, const char *id, const char *recipes_dir, const char *const *overrides, size_t n_overrides,
                 struct arena *a, struct err *err)
{
    struct recipe_file file;
    return recipe_file_load(&file, id, recipes_dir, a, err) && recipe_override(out, &file, overrides, n_overrides, a, err);
}

/* ---- asking --------------------------------------------------------------------------------- */

uint64_t recipe_global_batch(const struct recipe *r)
{
    return r->model.micro_batch * r->gradient_accumulation * r->replicas;
}

double recipe_samples_per_item(const struct recipe *r)
{
    double graphs = r->model.file && r->graphs_per_pack > 0 ? r->graphs_per_pack : 1;
    return recipe_is_packed(r) ? r->model.sequences_per_pack : graphs / (double)grid_ipus(r);
}
