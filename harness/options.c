/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.c - reads a command line: argp parses and prints the options of options.def.
 */
#include "harness/harness.h"
#include <argp.h>
#include <ctype.h>

enum option_type { TAKES_TEXT, TAKES_LIST, TAKES_NUMBER, TAKES_COUNT, TAKES_FORMAT, IS_FLAG, IS_SETTING, TAKES_SETTING };

static const struct option_row {
    enum option_type type;
    size_t offset;
    const char *name, *argument, *help;
} rows[] = {
#define OPTION(id, type, member, ...) [OPT_##id] = { type, offsetof(struct options, member), __VA_ARGS__ },
#include "harness/options.def"
#undef OPTION
};

/* Options that have another meaning in one command. */
static const struct { const char *command; enum option_id id; const char *argument, *help; } special_rows[] = {
    { "bench",     OPT_OUT,  "DIR",      "Write the run into this folder (default: results/runs/latest)" },
    { "bench",     OPT_PUBLISHED, "DIR", "Use this folder of tables of published figures instead of podbench's own" },
    { "watch",     OPT_OUT,  "FILE.svg", "Also draw the series with its levels, by gnuplot" },
    { "validate",  OPT_OUT,  "DIR",      "Write the tables that intervals are computed from into this folder: left-out.csv, known-values.csv and others" },
    { "ask",       OPT_OUT,  "FILE.ini", "Write the recipe to this file (default: a file in the current folder, named after model and machine)" },
    { "ask",       OPT_SECONDS, "S",     "Search for S seconds (default 20)" },
    { "execute",   OPT_SEED, "S",        "Seed of weights and inputs (default 1)" },
    { "sweep",     OPT_OUT,  "FILE",     "Write the rows to this file instead of standard output" },
    { "calibrate", OPT_OUT,  "DIR",      "Write the sheets into this folder, which must not be there yet" },
    { "history",   OPT_OUT,  "FILE.svg", "Draw the history instead of printing it" },
    { "history",   OPT_FROM, "FILE.csv", "Read this table of points (default: history.csv of the baseline)" },
    { "record",    OPT_FROM, "FILE.csv", "Append to this table of points (default: history.csv of the baseline)" },
    { "judge",     OPT_OUT,  "FILE.csv",  "Also write the predictions, as PREDICTIONS.csv has them" },
    { "rounds",    OPT_OUT,  "FILE.html", "Write the table as a page with figures, instead of printing it" },
    { "train",     OPT_MLLOG, "DIR",      "Write an MLPerf log of each training into this folder" },
    { "train",     OPT_SEED,  "S",        "Seed of first weights, order and dropout (default 1)" },
    { "train",     OPT_RESUME, NULL,      "Continue from the --checkpoint if it is there; the result is that of a training that was never stopped" },
    { "search",    OPT_OVER, "KEY=VALUES", "Also vary SECTION.KEY over these values, written as for sweep" },
};

enum { KEY_BASE = 1000 };

struct parse { struct options *out; const struct command *command; struct arena *arena; struct err *err; size_t caps[N_OPTIONS], cap_arguments; };

static const char *formats_help(const struct command *c, struct arena *a)
{
    const char *names[N_OUTPUT_FORMATS];
    size_t n = 0;
    for (int i = 0; i < N_OUTPUT_FORMATS; i++)
        if (c->formats & FORMAT_BIT(i))
            names[n++] = format_names[i];
    return arena_printf(a, "One of: %s", names_list(names, n, a));
}

static bool option_format(struct options *out, const struct command *c, const char *text, enum output_format *format, struct arena *a, struct err *err)
{
    for (int i = 0; i < N_OUTPUT_FORMATS; i++)
        if (c->formats & FORMAT_BIT(i) && text_is(format_names[i], text)) {
            *format = (enum output_format)i;
            out->is_format_given = true;
            return true;
        }
    return fail(err, "--format: unknown format '%.60s'. %s", text, formats_help(c, a));
}

static bool option_number(const struct option_row *row, const char *text, uint64_t *number, struct err *err)
{
    return parse_u64(text, number) || fail(err, "--%s: '%.60s' %s", row->name, text, why_no_u64(text));
}

/* Reads a count of at least 1; a 0 in struct options means that the option was not given. */
static bool option_count(const struct option_row *row, const char *text, uint64_t *number, struct err *err)
{
    return option_number(row, text, number, err) && (*number > 0 || fail(err, "--%s: '%.60s' is too small; want at least 1", row->name, text));
}

static bool option_name(const struct option_row *row, const char *text, const char **name, struct err *err)
{
    *name = text;
    return *text || fail(err, "--%s: the name is empty; want %s", row->name, row->argument);
}

static void list_append(const char ***list, size_t *n, size_t *cap, const char *text, struct arena *a)
{
    *list = arena_grow(a, *list, *n, cap, sizeof **list);
    (*list)[(*n)++] = text;
}

/* Appends an item to a list; in struct options each list is followed by its length. */
static bool option_item(void *at, size_t *cap, const char *text, struct arena *a)
{
    const char ***items = at;
    list_append(items, (size_t *)(items + 1), cap, text, a);
    return true;
}

static bool option_argument(struct parse *p, const char *text)
{
    const struct command *c = p->command;
    list_append(&p->out->arguments, &p->out->n_arguments, &p->cap_arguments, text, p->arena);
    return *text || fail(p->err, "%s: an argument is empty; usage: podbench %s [OPTION...] %s", c->name, c->name, c->arguments);
}

/* Refuses "--set KEY VALUE", in which VALUE would be taken for a recipe. */
static bool check_has_value(const struct option_row *row, const char *text, struct err *err)
{
    bool is_setting = row == &rows[OPT_SET] || row == &rows[OPT_OVER] || row == &rows[OPT_ZIP];
    const char *point = strchr(text, '.');
    return !is_setting || strchr(text, '=') || !point || point == text || !point[1] || fail(err, "--%s %.100s: has no value; write key and value as one word: --%s %.100s=VALUE", row->name, text, row->name, text);
}

static bool option_take(struct parse *p, const struct option_row *row, const char *text)
{
    void *at = (char *)p->out + row->offset;
    if (text && !check_has_value(row, text, p->err))
        return false;
    switch (row->type) {
    case TAKES_TEXT:   return option_name(row, text, at, p->err);
    case TAKES_LIST:   return option_item(at, &p->caps[row - rows], text, p->arena);
    case TAKES_NUMBER: return option_number(row, text, at, p->err);
    case TAKES_COUNT:  return option_count(row, text, at, p->err);
    case TAKES_FORMAT: return option_format(p->out, p->command, text, at, p->arena, p->err);
    case IS_FLAG:      return *(bool *)at = true;
    case IS_SETTING:   return option_item(at, &p->caps[OPT_SET], row->argument, p->arena);
    case TAKES_SETTING: return option_item(at, &p->caps[OPT_SET], arena_printf(p->arena, "recipe.%s=%s", row->name, text), p->arena);
    }
    return false;
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
    struct parse *p = state->input;
    if (key == ARGP_KEY_ARG)
        return option_argument(p, text) ? 0 : EINVAL;
    if (key < KEY_BASE || key >= KEY_BASE + N_OPTIONS)
        return ARGP_ERR_UNKNOWN;
    return option_take(p, &rows[key - KEY_BASE], text) ? 0 : EINVAL;
}

static const char *command_help(const struct command *c, struct arena *a)
{
    return arena_printf(a, "%s.%s%s", c->summary, c->detail ? " " : "", c->detail ? c->detail : "");
}

bool option_of(struct option_view *out, const struct command *c, size_t i, struct arena *a)
{
    if (i >= N_OPTIONS)
        return false;
    bool has = i == OPT_ROOT || c->options & OPTION_BIT(i) || (i == OPT_FORMAT && c->formats);
    const struct option_row *row = &rows[i];
    *out = (struct option_view){ has ? row->name : NULL, row->type == IS_SETTING ? NULL : row->argument, i == OPT_FORMAT ? formats_help(c, a) : row->help };
    for (size_t k = 0; k < sizeof special_rows / sizeof *special_rows; k++)
        if (special_rows[k].id == i && text_is(special_rows[k].command, c->name)) {
            out->argument = special_rows[k].argument;
            out->help = special_rows[k].help;
        }
    return true;
}

static void fill_argp_options(struct argp_option *out, const struct command *c, struct arena *a)
{
    size_t n = 0;
    struct option_view v;
    for (size_t i = 0; option_of(&v, c, i, a); i++)
        if (v.name)
            out[n++] = (struct argp_option){ .name = v.name, .key = KEY_BASE + (int)i, .arg = v.argument, .doc = v.help,
                                             .group = i == OPT_ROOT ? 1 : 0 };
    out[n] = (struct argp_option){0};
}

bool command_takes(const struct command *c, size_t n_arguments)
{
    size_t least = 0, most = 0;
    for (const char *word = c->arguments; *word; word += strspn(word, " ")) {
        least += *word != '[';
        most++;
        word += strcspn(word, " ");
    }
    return n_arguments >= least && (n_arguments <= most || strstr(c->arguments, "..."));
}

/* The option whose name is the typed text or begins with it; NULL if there is none. argp itself refuses an ambiguous beginning. */
static const struct argp_option *option_typed(const struct argp_option *list, const char *typed, size_t n)
{
    const struct argp_option *found = NULL;
    for (; list->name; list++)
        if (strncmp(list->name, typed, n) == 0) {
            if (strlen(list->name) == n)
                return list;
            found = list;
        }
    return found;
}

/* Refuses an unknown option, and suggests the nearest one, which argp would not do. */
static bool check_option_names(const struct argp_option *list, const struct command *c, int argc, char **argv, struct arena *a, struct err *err)
{
    static const char *const of_argp[] = { "help", "usage", "version" };
    const char *names[N_OPTIONS + 1];
    size_t n_names = 0;
    for (; list[n_names].name; n_names++)
        names[n_names] = list[n_names].name;
    for (int i = 1; i < argc && !text_is(argv[i], "--"); i++) {
        size_t n = strcspn(argv[i], "=");
        if (argv[i][0] == '-' && isalpha((unsigned char)argv[i][1]) && argv[i][1] != 'V')
            return fail(err, "%s: '%.60s' is no option; all but -V and -? begin with two dashes: %s", c->name, argv[i], names_list(names, n_names, a));
        bool known = strncmp(argv[i], "--", 2) != 0;
        for (size_t k = 0; k < sizeof of_argp / sizeof *of_argp; k++)
            known |= n > 2 && strncmp(argv[i] + 2, of_argp[k], n - 2) == 0;
        const struct argp_option *option = known ? NULL : option_typed(list, argv[i] + 2, n - 2);
        if (!known && !option)
            return fail(err, "%s: unknown option '%.60s'; %sknown: %s", c->name, arena_printf(a, "%.*s", (int)n, argv[i]),
                        names_suggestion(names, n_names, arena_printf(a, "%.*s", (int)n - 2, argv[i] + 2), a), names_list(names, n_names, a));
        i += option && option->arg && !argv[i][n];      /* skips the option's value */
    }
    return true;
}

bool options_parse(struct options *out, const struct command *c, int argc, char **argv, unsigned argp_flags, struct arena *a, struct err *err)
{
    struct argp_option list[N_OPTIONS + 1];
    fill_argp_options(list, c, a);
    struct argp argp = { .options = list, .parser = on_option, .args_doc = c->arguments, .doc = command_help(c, a) };
    struct parse p = { .out = out, .command = c, .arena = a, .err = err };
    *out = (struct options){ .seed = 1 };
    if (!check_option_names(list, c, argc, argv, a, err))
        return false;
    /* arguments keep their order even if POSIXLY_CORRECT is set */
    if (argp_parse(&argp, argc, argv, argp_flags | ARGP_IN_ORDER, NULL, &p) != 0)
        return !*err->msg && fail(err, "%s: an option is unknown, or its value is missing", c->name);
    return command_takes(c, out->n_arguments)
        || fail(err, "%s: %zu argument%s given, usage: podbench %s [OPTION...] %s", c->name, out->n_arguments, plural(out->n_arguments), c->name,
                c->arguments);
}
