/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * podbench.c - the public library: an open session behind an opaque handle. After each answer it is as it was when opened, except for its
 * cache.
 */
#include "harness/podbench.h"
#include "harness/harness.h"
#include "results/simulate/simulate.h"
#include <argp.h>
#include <gsl/gsl_errno.h>
#include <jansson.h>

struct podbench { struct arena arena; struct session session; struct err err; char *notes; bool is_open; };

const char *podbench_version(void)
{
    return PODBENCH_VERSION;
}

struct podbench *podbench_open(const char *root)
{
    struct arena own = {0};
    struct podbench *p = ARENA_NEW(&own, struct podbench);
    p->arena = own;
    gsl_set_error_handler_off();
    locale_t callers = plain_locale();
    p->is_open = session_open(&p->session, root, "the root", &p->err);
    uselocale(callers);
    return p;
}

void podbench_close(struct podbench *p)
{
    if (!p)
        return;
    session_close(&p->session);
    free(p->notes);
    struct arena own = p->arena;        /* copied, because the arena contains *p itself */
    arena_free(&own);
}

const char *podbench_message(const struct podbench *p)
{
    return p ? p->err.msg : "the handle is NULL; podbench_open() returns one";
}

const char *podbench_notes(const struct podbench *p)
{
    return p && p->notes ? p->notes : "";
}

static bool has_null(const char *const *texts, size_t n)
{
    bool found = n && !texts;
    for (size_t i = 0; i < n && !found; i++)
        found = !texts[i];
    return found;
}

static void copy_numbers(struct podbench_result *out, const struct result *r)
{
#define COPY_TEXT(name)
#define COPY_COUNT(name) out->name = r->name;
#define COPY_NUMBER(name) out->name = r->name;
#define COPY_FLAG(name) out->name = r->name;
#define METRIC(type, name, ...) COPY_##type(name)
#include "results/simulate/podbench_metrics.def"
#undef METRIC
}

int podbench_run(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets, struct podbench_result *out)
{
    struct simulation sim;
    struct result r;
    if (!p || !p->is_open)
        return -1;                      /* keeps the message of podbench_open() */
    p->err = (struct err){ "" };
    if (!recipe || !out || has_null(sets, n_sets)) {
        fail(&p->err, "podbench_run: the recipe, one of its sets or the result is NULL");
        return -1;
    }
    /* the caller gets only numbers, for which spans are not needed */
    p->session.simulator.options = (struct simulator_options){ .totals_only = true };
    locale_t callers = plain_locale();
    bool good = simulator_run(&p->session.simulator, &sim, &r, recipe, sets, n_sets, &p->err);
    uselocale(callers);
    if (!good)
        return -1;
    copy_numbers(out, &r);
    simulation_free(&sim);
    return 0;
}

/* The words as an argv, with the program's name first; argp may reorder it. */
static char **argument_vector(const struct command *c, const char *const *words, size_t n_words, struct arena *a)
{
    char **argv = ARENA_ARRAY(a, char *, n_words + 1);
    argv[0] = arena_printf(a, "podbench %s", c->name);
    for (size_t i = 1; i < n_words; i++)
        argv[i] = arena_strdup(a, words[i]);
    return argv;
}

static int run_words(struct session *s, const char *const *words, size_t n_words, struct err *err)
{
    struct options o;
    if (has_null(words, n_words))
        return bad_input(err, "podbench_answer: one of the words is NULL");
    const struct command *c = n_words ? command_find(words[0]) : NULL;
    if (!c)
        return command_unknown(n_words ? words[0] : "", err);
    for (size_t i = 1; i < n_words; i++)
        if (!check_printable(words[i], err))
            return EXIT_BAD_INPUT;
    char **argv = argument_vector(c, words, n_words, &s->arena);
    if (!options_parse(&o, c, (int)n_words, argv, ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_NO_ERRS, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (o.root || o.recipes)
        return bad_input(err, "%s: a library keeps the data that it was opened with; open another one for --root or --recipes", c->name);
    return command_call(c, &o, s, err);
}

char *podbench_answer(struct podbench *p, const char *const *words, size_t n_words, int *status)
{
    char *text = NULL;
    size_t n_text, n_notes;
    int own_status = EXIT_BAD_INPUT;
    status = status ? status : &own_status;
    *status = EXIT_BAD_INPUT;
    if (!p)
        return strdup("");
    struct session *s = &p->session, before = *s;
    locale_t callers = plain_locale();
    free(p->notes);
    p->notes = NULL;
    s->out = text_stream(&text, &n_text);
    s->log = text_stream(&p->notes, &n_notes);
    s->arena = (struct arena){0};
    s->simulator.options = (struct simulator_options){0};
    if (p->is_open) {
        p->err = (struct err){ "" };
        *status = run_words(s, words, n_words, &p->err);
    }
    fclose(s->out);
    fclose(s->log);
    arena_free(&s->arena);
    struct simulator simulator = s->simulator;
    simulator.watch = before.simulator.watch;
    *s = before;
    s->simulator = simulator;
    uselocale(callers);
    return text;
}

char *podbench_run_json(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets)
{
    if (p && (!recipe || has_null(sets, n_sets))) {
        fail(&p->err, "podbench_run_json: the recipe or one of its sets is NULL");
        return NULL;
    }
    struct arena a = {0};
    const char **words = ARENA_ARRAY(&a, const char *, 2 * n_sets + 5);
    size_t n = 0;
    int status;
    words[n++] = "run";
    for (size_t i = 0; i < n_sets; i++) {
        words[n++] = "--set";
        words[n++] = sets[i];
    }
    words[n++] = "--format=json";
    words[n++] = "--";
    words[n++] = recipe;
    char *text = podbench_answer(p, words, n, &status);
    json_t *array = status == EXIT_BAD_INPUT ? NULL : json_loads(text, 0, NULL);
    free(text);
    text = array ? json_dumps(json_array_get(array, 0), JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(array);
    arena_free(&a);
    return text;
}
