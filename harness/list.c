/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list.c - podbench list: the names of what there is, the keys of a recipe, the metrics of a run, and the values that
 * are assumed.
 */
#include "harness/harness.h"
#include "results/study/inputs.h"
#include <jansson.h>

bool all_machines(char ***names, size_t *n, struct session *s, struct err *err)
{
    return machine_names(names, n, s->paths.specs_dir, &s->arena, err);
}

bool all_workloads(char ***names, size_t *n, struct session *s, struct err *err)
{
    (void)err;
    *names = ARENA_ARRAY(&s->arena, char *, workload_count());
    for (*n = 0; *n < workload_count(); (*n)++)
        (*names)[*n] = arena_strdup(&s->arena, workload_at(*n)->name);
    return true;
}

bool all_frameworks(char ***names, size_t *n, struct session *s, struct err *err)
{
    return list_folder(names, n, arena_printf(&s->arena, "%s/frameworks", s->paths.specs_dir), ".csv", &s->arena, err);
}

static const struct listing { const char *name; names_lister *names; } listings[] = {
    { "machines", all_machines }, { "workloads", all_workloads }, { "frameworks", all_frameworks },
};

int print_names(const char *const *names, size_t n, const struct options *o, struct session *s)
{
    if (o->format == FORMAT_JSON)
        print_json(s->out, json_words(names, n));
    else if (o->format == FORMAT_CSV)
        fputs("name\n", s->out);
    for (size_t i = 0; i < n && o->format != FORMAT_JSON; i++)
        fprintf(s->out, "%s\n", names[i]);
    return EXIT_DONE;
}

int list_names(names_lister *lister, const struct options *o, struct session *s, struct err *err)
{
    char **names;
    size_t n;
    return lister(&names, &n, s, err) ? print_names((const char *const *)names, n, o, s) : EXIT_BAD_INPUT;
}

static int list_assumptions(const struct options *o, struct session *s, struct err *err)
{
    static const char *const surveyed[] = { "bert-large", "resnet50" };
    struct assumptions all;
    struct progress p;
    char **ids;
    size_t n;
    if (!all_recipes(&ids, &n, s, err))
        return EXIT_BAD_INPUT;
    progress_start(&p, s->log, "moving what is assumed");
    bool good = assumptions_list(&all, (const char *const *)ids, n, surveyed, sizeof surveyed / sizeof *surveyed, &s->simulator, progress_show,
                                 &p, &s->arena, err);
    progress_end(&p);
    if (!good)
        return EXIT_BAD_INPUT;
    struct document d = { .arena = &s->arena };
    assumptions_document(&d, &all);
    document_write(s->out, o->format, &d);
    return EXIT_DONE;
}

static int list_metrics(const struct options *o, struct session *s)
{
    if (o->format == FORMAT_JSON)
        print_json(s->out, metrics_json());
    else if (o->format == FORMAT_MARKDOWN)
        metrics_print_markdown(s->out);
    else
        metrics_print(s->out);
    return EXIT_DONE;
}

int command_list(const struct options *o, struct session *s, struct err *err)
{
    if (text_is(o->arguments[0], "recipes"))
        return list_recipes(o, s, err);
    if (text_is(o->arguments[0], "metrics") && o->format != FORMAT_CSV)
        return list_metrics(o, s);
    if (o->n_arguments > 1)
        return bad_input(err, "list %.60s: takes no word such as '%.60s'; only recipes do: podbench list recipes WORD...", o->arguments[0], o->arguments[1]);
    if (o->format == FORMAT_MARKDOWN || o->format == FORMAT_CSV)
        return bad_input(err, "list: only %s listed as %s", o->format == FORMAT_CSV ? "recipes are" : "metrics and recipes are", format_names[o->format]);
    if (text_is(o->arguments[0], "keys") && o->names) {
        if (o->format == FORMAT_JSON)
            return bad_input(err, "list: --names prints keys as text; without it --format json has the keys and what they take");
        recipe_keys_write(s->out);
        machine_keys_write(s->out);
        return EXIT_DONE;
    }
    if (text_is(o->arguments[0], "keys")) {
        struct document d = { .arena = &s->arena };
        recipe_keys_document(&d);
        document_write(s->out, o->format, &d);
        return EXIT_DONE;
    }
    if (text_is(o->arguments[0], "schema")) {
        print_json(s->out, result_json_schema());
        return EXIT_DONE;
    }
    if (text_is(o->arguments[0], "assumptions"))
        return list_assumptions(o, s, err);
    for (size_t i = 0; i < sizeof listings / sizeof *listings; i++)
        if (text_is(listings[i].name, o->arguments[0]))
            return list_names(listings[i].names, o, s, err);
    return bad_input(err, "list: '%.60s' cannot be listed; known: recipes, machines, workloads, frameworks, keys, metrics, schema, assumptions",
                     o->arguments[0]);
}
