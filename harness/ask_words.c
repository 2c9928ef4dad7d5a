/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask_words.c - reads a model, a machine and goals from words as people type them.
 */
#include "harness/ask.h"
#include "workloads/onnx/onnx.h"
#include <ctype.h>

static const char usage[] = "ask MODEL on MACHINE [train|infer] [GOAL...], as in 'bert-large on bow-pod16', 'model.onnx on 16 bow infer', "
                            "'resnet50 on pod64 at least 100000/s'; goals: fastest, cheapest (fewest IPUs), least energy, shortest training, at least N/s, at least N tokens/s, for N texts (at a time; in training the global batch), rows of N tokens, fits with N %";

/* The size of a model that is meant if only its family is named. */
static const struct { const char *word, *model; } usual_models[] = {
    { "bert", "bert-large" }, { "resnet", "resnet50" }, { "gpt2", "gpt2-small" }, { "gpt", "gpt2-small" }, { "vit", "vit-b16" }, { "conformer", "conformer-medium" },
    { "efficientnet", "efficientnet-b4" }, { "resnext", "resnext101" }, { "inception", "inception-v3" }, { "mobilenet", "mobilenet-v2" }, { "vgg", "vgg16" },
    { "llama", "llama2-7b" }, { "llama2", "llama2-7b" }, { "gpt3", "gpt3-175b" }, { "t5", "flan-t5-base" }, { "flant5", "flan-t5-base" },
};

/* The letters and digits of a text, in lower case. */
static const char *plain_word(const char *text, struct arena *a)
{
    char *out = arena_strdup(a, text), *to = out;
    for (const char *c = text; *c; c++)
        if (isalnum((unsigned char)*c))
            *to++ = (char)tolower((unsigned char)*c);
    *to = '\0';
    return out;
}

static const char *name_like(const char *word, char *const *names, size_t n, struct arena *a)
{
    const char *plain = plain_word(word, a);
    for (size_t i = 0; i < n; i++)
        if (text_is(plain, plain_word(names[i], a)))
            return names[i];
    return NULL;
}

static bool read_model(struct asked *out, const char *word, struct session *s, struct err *err)
{
    char **names;
    size_t n;
    if (onnx_is_file(word)) {
        out->model = word;
        return true;
    }
    if (!all_workloads(&names, &n, s, err))
        return false;
    out->model = name_like(word, names, n, &s->arena);
    for (size_t i = 0; !out->model && i < sizeof usual_models / sizeof *usual_models; i++)
        if (text_is(plain_word(word, &s->arena), usual_models[i].word))
            out->model = usual_models[i].model;
    return out->model || fail(err, "ask: '%.60s' is neither a built-in model nor the path of an ONNX file; %spodbench list workloads has all", word,
                              words_suggestion((const char *const *)names, n, word, &s->arena));
}

/* ---- machines --------------------------------------------------------------------------------------- */

/* True for a chip or a board that has a host. The sheet of a chip alone has none, and an answer about it would leave the host out. */
static bool is_system(const struct machine *m)
{
    return m->n_ipus && m->host_latency_s > 0;
}

/* Finds the smallest system with this chip and at least n IPUs. */
static bool smallest_system(struct asked *out, const char *chip, uint64_t n, char *const *names, size_t n_names, struct session *s)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < n_names; i++) {
        struct machine m;
        if (!machine_load(&m, names[i], s->paths.specs_dir, &s->arena, NULL) || !is_system(&m) || !text_is(plain_word(m.chip_name, &s->arena), chip) || m.n_ipus < n || m.n_ipus >= least)
            continue;
        least = m.n_ipus;
        out->system = names[i];
        out->ipus = n;
    }
    return least < UINT64_MAX;
}

/* The system that "pod16" names: the one of that size with the newest chip. */
static const char *pod_named(const char *plain, char *const *names, size_t n, struct arena *a)
{
    static const char *const begins[] = { "bow", "ipu" };
    for (size_t i = 0; strncmp(plain, "pod", 3) == 0 && i < sizeof begins / sizeof *begins; i++) {
        const char *name = name_like(arena_printf(a, "%s%s", begins[i], plain), names, n, a);
        if (name)
            return name;
    }
    return NULL;
}

/* Reads a machine: one word, or a number and a chip in either order. Returns the number of words, 0 on failure. */
static size_t read_machine(struct asked *out, const char *const *words, size_t n, struct session *s, struct err *err)
{
    char **names;
    size_t n_names;
    uint64_t count;
    struct machine m;
    if (!all_machines(&names, &n_names, s, err))
        return 0;
    size_t n_before = n > 2 && TEXT_IS_ONE_OF(words[2], "tokens/s", "tokens", "texts", "text", "%") ? 1 : 2;      /* the number in "pod16 128 tokens" is none of chips */
    for (size_t i = 0; n > 1 && i < n_before; i++)
        if (parse_u64(words[i], &count) && count > 0)
            return smallest_system(out, plain_word(words[1 - i], &s->arena), count, names, n_names, s) ? 2
                 : (fail(err, "ask: no system has %ju '%.40s' chips; podbench list machines shows the systems", (uintmax_t)count, words[1 - i]), 0);
    const char *plain = plain_word(words[0], &s->arena);
    out->system = name_like(words[0], names, n_names, &s->arena);
    out->system = out->system ? out->system : pod_named(plain, names, n_names, &s->arena);
    if (!out->system)
        return fail(err, "ask: '%.60s' is neither a machine (podbench list machines) nor a number and a chip, as in '16 bow'; only IPUs are modelled", words[0]), 0;
    if (!machine_load(&m, out->system, s->paths.specs_dir, &s->arena, err))
        return 0;
    if (!is_system(&m))
        return smallest_system(out, plain, 1, names, n_names, s) ? 1 : (fail(err, "ask: %s is a chip or a board that no system has; name a system (podbench list machines)", out->system), 0);
    out->ipus = m.n_ipus;
    return 1;
}

/* ---- goals ------------------------------------------------------------------------------------------ */

/* "10,000/s", "10k/s". */
static bool read_rate(double *out, const char *word, struct arena *a)
{
    char *number = arena_strdup(a, word), *to = number;
    size_t n = strlen(word);
    if (n < 3 || strcmp(word + n - 2, "/s") != 0)
        return false;
    for (const char *c = word; c < word + n - 2; c++)
        if (*c != ',')
            *to++ = *c;
    double times = to > number && to[-1] == 'k' ? 1e3 : to > number && to[-1] == 'M' ? 1e6 : 1;
    to[times > 1 ? -1 : 0] = '\0';
    return parse_f64(number, out) && (*out *= times) > 0;
}

static bool read_percent(double *out, const char *word, struct arena *a)
{
    const char *digits = arena_printf(a, "%.*s", (int)strcspn(word, "%"), word);
    return parse_f64(digits, out) && *out >= 1 && *out <= 100 && (*out /= 100) > 0;
}

static bool is_filling(const char *word)
{
    return TEXT_IS_ONE_OF(word, "on", "at", "least", "fits", "with", "training", "the", "samples", "%", "and", "for", "rows", "of");
}

static bool is_first(bool is_said, const char *word, struct err *err)
{
    return !is_said || fail(err, "ask: '%.60s' says again what an earlier word has said; keep one of the two", word);
}

static bool read_goal(struct asked *out, const char *word, struct session *s, struct err *err)
{
    static const struct { const char *word; enum objective objective; } objectives[] = {
        { "fastest", MAXIMISE_THROUGHPUT }, { "cheapest", MINIMISE_IPUS }, { "energy", MINIMISE_ENERGY }, { "shortest", MINIMISE_TIME_TO_TRAIN } };
    double number;
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
        if (text_is(word, objectives[i].word)) {
            bool is_said = out->has_objective;
            out->has_objective = true;
            out->objective = objectives[i].objective;
            return is_first(is_said, word, err);
        }
    if (text_is(word, "train") || text_is(word, "infer") || text_is(word, "inference")) {
        bool is_said = out->mode != NULL;
        out->mode = text_is(word, "train") ? "train" : "infer";
        return is_first(is_said, word, err);
    }
    double *limit = read_rate(&number, word, &s->arena) ? &out->least_throughput : read_percent(&number, word, &s->arena) ? &out->least_fits : NULL;
    if (!limit)
        return is_filling(word) || fail(err, "ask: '%.60s' has no meaning here; want %s", word, usage);
    bool is_said = *limit > 0;
    *limit = number;
    return is_first(is_said, word, err);
}

/* Reads goals of two words, such as "10 tokens/s", "16 texts" and "128 tokens". */
static bool read_counted(bool *taken, struct asked *out, const char *number, const char *what, struct err *err)
{
    double n, whole = NAN;
    const struct { const char *word; uint64_t *count; } counts[] = { { "texts", &out->most_texts }, { "text", &out->most_texts }, { "tokens", &out->row_tokens } };
    bool is_rate = text_is(what, "tokens/s");
    uint64_t *count = NULL;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        count = text_is(what, counts[i].word) ? counts[i].count : count;
    *taken = (is_rate || count) && parse_f64(number, &n);
    if (!*taken)
        return true;
    if (!(n > 0 && n < 1e9) || (count && modf(n, &whole) > 0))
        return fail(err, "ask: '%.40s %s': want a number above 0%s", number, what, is_rate ? "" : ", without a fraction");
    bool is_said = is_rate ? out->least_token_rate > 0 : *count > 0;
    if (is_rate)
        out->least_token_rate = n;
    else
        *count = (uint64_t)n;
    return is_first(is_said, what, err);
}

bool ask_read_words(struct asked *out, const char *const *words, size_t n, struct session *s, struct err *err)
{
    *out = (struct asked){0};
    size_t at = n > 1 && text_is(words[1], "on") ? 2 : 1;
    if (n <= at)
        return fail(err, "ask: wants %s", usage);
    if (!read_model(out, words[0], s, err))
        return false;
    size_t taken = read_machine(out, words + at, n - at, s, err);
    if (!taken)
        return false;
    const struct workload *w = workload_find(out->model, NULL);
    for (size_t i = at + taken; i < n; i++) {
        bool is_counted = false;
        if (i + 1 < n && !read_counted(&is_counted, out, words[i], words[i + 1], err))
            return false;
        if (!is_counted && !read_goal(out, words[i], s, err))
            return false;
        i += is_counted;
    }
    if (out->most_texts && w && !w->default_sequence_length)
        return fail(err, "ask: %s has no texts; leave out their number", out->model);
    return !out->row_tokens || (w && w->default_sequence_length)
        || fail(err, w ? "ask: %s has no rows of tokens; leave out the number of tokens" : "ask: %s: a file has sizes of its own names; give them to podbench init, and its recipe to podbench search", out->model);
}
