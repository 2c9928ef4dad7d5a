/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list.c - podbench list: the names that other commands take, the keys of a recipe, the operators of ONNX, the metrics of a run, and the
 * assumed values.
 */
#include "harness/harness.h"
#include "results/study/inputs.h"
#include "results/study/trust.h"
#include "workloads/onnx/onnx.h"
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

/* ---- what is listed ------------------------------------------------------------------------- */

static int list_keys(const struct options *o, struct session *s, struct err *err)
{
    (void)err;
    size_t n;
    if (o->names) {
        const char **names = recipe_setting_keys(&n, &s->arena);
        return print_names(names, n, s);
    }
    recipe_keys_document(&s->answer);
    return EXIT_DONE;
}

static int list_metrics(const struct options *o, struct session *s, struct err *err)
{
    (void)o, (void)err;
    metrics_document(&s->answer);
    return EXIT_DONE;
}

static int list_schema(const struct options *o, struct session *s, struct err *err)
{
    if (o->is_format_given && o->format != FORMAT_JSON)
        return bad_input(err, "list schema: is JSON, and has no other format");
    print_json(s->out, result_json_schema());
    return EXIT_DONE;
}

static int list_assumptions(const struct options *o, struct session *s, struct err *err)
{
    (void)o;
    static const char *const surveyed[] = { "bert-large", "resnet50" };
    struct assumptions all;
    struct progress p;
    char **ids;
    size_t n;
    if (!all_recipes(&ids, &n, s, err))
        return EXIT_BAD_INPUT;
    progress_start(&p, s->log, "moving what is assumed");
    bool good = assumptions_list(&all, (const char *const *)ids, n, surveyed, sizeof surveyed / sizeof *surveyed, &s->simulator,
                                 &(struct watch){ progress_report, &p }, &s->arena, err);
    progress_end(&p);
    struct shaped shaped;
    const char *decisions = arena_printf(&s->arena, "%s/ledger/decisions.csv", s->published_dir);
    if (!good || !shaped_count(&shaped, s->paths.specs_dir, decisions, &s->arena, err))
        return EXIT_BAD_INPUT;
    struct document *d = &s->answer;
    struct references known;
    if (!references_load(&known, arena_printf(&s->arena, "%s/left-out.csv", s->validity_dir), &s->arena, err))
        return EXIT_BAD_INPUT;
    assumptions_document(d, &all);
    shaped_document(d, &shaped, decisions);
    document_gap(d);
    struct table *fit = document_table(d, without_fit_table(&known, &s->arena));
    fit->formats = IN_TEXT;
    fit->title = without_fit_title;
    return EXIT_DONE;
}

static const struct table_column operator_columns[] = {
    { COLUMN(struct onnx_known_operator, name), .heading = "operator" }, { COLUMN(struct onnx_known_operator, read_as), .heading = "read as" },
};

static int list_operators(const struct options *o, struct session *s, struct err *err)
{
    (void)o, (void)err;
    size_t n;
    const struct onnx_known_operator *known = onnx_known_operators(&n, &s->arena);
    struct table *t = document_table(&s->answer, TABLE(operator_columns, struct onnx_known_operator));
    for (size_t i = 0; i < n; i++)
        table_add(t, &known[i], &s->arena);
    document_member(&s->answer, NULL, table_json(t));
    return EXIT_DONE;
}

static const struct listing { const char *name; command_function *list; names_lister *names; } listings[] = {
    { "recipes", list_recipes, NULL }, { "machines", NULL, all_machines }, { "workloads", NULL, all_workloads }, { "frameworks", NULL, all_frameworks },
    { "keys", list_keys, NULL }, { "operators", list_operators, NULL }, { "metrics", list_metrics, NULL }, { "schema", list_schema, NULL },
    { "assumptions", list_assumptions, NULL }, { "words", list_words, NULL },
};
enum { N_LISTINGS = sizeof listings / sizeof *listings };

int command_list(const struct options *o, struct session *s, struct err *err)
{
    const char *what = o->arguments[0], **names = TEXTS_OF(listings, N_LISTINGS, struct listing, name, &s->arena);
    const struct listing *found = FIND_TEXT(listings, N_LISTINGS, struct listing, name, what);
    if (found && o->n_arguments > 1 && found->list != list_recipes)
        return bad_input(err, "list %s: takes no word such as '%.60s'; only recipes do: podbench list recipes WORD...", what, o->arguments[1]);
    if (found)
        return found->names ? list_names(found->names, s, err) : found->list(o, s, err);
    return bad_input(err, "list: '%.60s' cannot be listed; %sknown: %s", what, words_suggestion(names, N_LISTINGS, what, &s->arena), names_list(names, N_LISTINGS, &s->arena));
}
