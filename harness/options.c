/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.c - every option of every command, described once; argp parses and prints them.
 */
#include "harness/harness.h"
#include <argp.h>

enum option_type { TAKES_TEXT, TAKES_LIST, TAKES_NUMBER, TAKES_COUNT, TAKES_FORMAT, IS_FLAG, IS_SETTING };

static const struct option_row {
    const char *name, *argument, *help;
    enum option_type type;
    size_t offset;
} rows[] = {
#define AT(member) offsetof(struct options, member)
    [OPT_ROOT]      = { "root", "DIR", "The folder of podbench's data: system-model, workloads, results", TAKES_TEXT, AT(root) },
    [OPT_FORMAT]    = { "format", "FORMAT", NULL, TAKES_FORMAT, AT(format) },
    [OPT_SET]       = { "set", "SECTION.KEY=VALUE", "Override a key of the recipe, or a value on a sheet (machine.KEY, framework.KEY); may be repeated. The key's unit may follow, as in 32GB or 1.5ms", TAKES_LIST, AT(sets) },
    [OPT_OUT]       = { "out", "PATH", "Write to this file", TAKES_TEXT, AT(out) },
    [OPT_TRACE]     = { "trace", "FILE", "Write a trace for Perfetto or chrome://tracing", TAKES_TEXT, AT(trace) },
    [OPT_MLLOG]     = { "mllog", "DIR", "Write the runs as MLPerf results", TAKES_TEXT, AT(mllog) },
    [OPT_PUBLISHED] = { "published", "FILE", "Use this table of published figures, or folder of tables, instead of podbench's own", TAKES_TEXT, AT(published) },
    [OPT_RULESET]   = { "ruleset", "VERSION", "Judge by this MLPerf round, such as v5.1 (default: as the path or the log says)", TAKES_TEXT, AT(ruleset) },
    [OPT_TRAIN_SAMPLES] = { "train-samples", NULL, "Where the round offers it (BERT), take the samples to converge from the last train_samples line",
                            IS_FLAG, AT(train_samples) },
    [OPT_RCP_BYPASS]    = { "rcp-bypass", NULL, "Report the reference-convergence test, but do not count it", IS_FLAG, AT(rcp_bypass) },
    [OPT_SEED_BYPASS]   = { "seed-bypass", NULL, "Report the seed test, but do not count it", IS_FLAG, AT(seed_bypass) },
    [OPT_TOP]           = { "top", "N", "Print a table of the N best rows, by --sort or by throughput", TAKES_COUNT, AT(top) },
    [OPT_SORT]          = { "sort", "COLUMN", "Print a table sorted by this column of the CSV, the best first", TAKES_TEXT, AT(sort) },
    [OPT_COLUMNS]       = { "columns", "LIST", "Print a table of these columns of the CSV, separated by commas", TAKES_TEXT, AT(columns) },
    [OPT_NAMES]         = { "names", NULL, "The names of recipes or keys alone, one a line; keys of sheets too", IS_FLAG, AT(names) },
    [OPT_RECIPE]        = { "recipe", "RECIPE", "The recipe that the logs belong to (default: found by round and name of the system)", TAKES_TEXT,
                            AT(recipe) },
    [OPT_ONLY_FAILURES] = { "only-failures", NULL, "Print errors and failed verdicts, nothing else", IS_FLAG, AT(only_failures) },
    [OPT_FORCE]         = { "force", NULL, "Replace logs that are there already", IS_FLAG, AT(force) },
    [OPT_UNTIL_VALID]   = { "draw-until-valid", NULL, "Draw submissions until one passes and has a score, and say how many it took", IS_FLAG,
                            AT(until_valid) },
    [OPT_RUNS]      = { "runs", "N", "Draw N training runs and score them", TAKES_COUNT, AT(runs) },
    [OPT_SEED]      = { "seed", "S", "Seed of the drawn runs (default 1)", TAKES_NUMBER, AT(seed) },
    [OPT_CHECK]     = { "check", NULL, "Also check the timeline: spans do not overlap, leave no gap, and sum to the step", IS_FLAG, AT(check) },
    [OPT_TOPOLOGY]  = { "topology", NULL, "Print the link graph", IS_FLAG, AT(topology) },
    [OPT_KERNELS]   = { "kernels", NULL, "Only the measured kernels", IS_FLAG, AT(kernels) },
    [OPT_LINKS]     = { "links", NULL, "Only the measured links and collectives", IS_FLAG, AT(links) },
    [OPT_UNFOLDED]  = { "unfolded", NULL, "Simulate every replica and every domain of a collective, instead of one for all that are alike", IS_FLAG,
                        AT(unfolded) },
    [OPT_ALL]       = { "all", NULL, "Print everything that is known, not only the answer", IS_FLAG, AT(all) },
    [OPT_FRAMEWORK_OPTIONS] = { "framework-options", NULL, "Also print the configuration as options of its framework, to try it on a machine", IS_FLAG,
                                AT(framework_options) },
    [OPT_REQUIRE_FIT] = { "require-fit", NULL, "Exit 1 also when a recipe fits its machine barely: with less than 90 % certainty", IS_FLAG, AT(require_fit) },
    [OPT_UPDATE]    = { "update", NULL, "Print the weight update, tensor by tensor, instead", IS_FLAG, AT(update) },
    [OPT_OPS]       = { "ops", NULL, "Print one line per operation instead of one per layer", IS_FLAG, AT(ops) },
    [OPT_OVER]      = { "over", "KEY=VALUES", "Vary SECTION.KEY over several values: a,b,c (a;b;c where values hold commas), FROM..TO, FROM..TO+STEP or "
                        "FROM..TO*FACTOR. Repeated: every combination; the last key varies fastest", TAKES_LIST, AT(overs) },
    [OPT_ZIP]       = { "zip", "KEY=VALUES", "Like --over, for keys that vary together: the first value of each, then the second, and so on", TAKES_LIST, AT(zips) },
    [OPT_FROM]      = { "from", "FILE.csv", "Read configurations from a table: one column per key, one row per configuration", TAKES_TEXT, AT(from) },
    [OPT_JOBS]      = { "jobs", "N", "Threads (default: one per core)", TAKES_COUNT, AT(jobs) },
    [OPT_SHARD]     = { "shard", "I/N", "Simulate part I of N only. Slurm, Open MPI and MPICH name it themselves; under GNU parallel give /N", TAKES_TEXT, AT(shard) },
    [OPT_RESUME]    = { "resume", NULL, "Continue a sweep to the same --out that was interrupted", IS_FLAG, AT(resume) },
    [OPT_MAXIMISE]  = { "maximise", "WHAT", "What is to be as large as possible: throughput (the default)", TAKES_TEXT, AT(maximise) },
    [OPT_MINIMISE]  = { "minimise", "WHAT", "What is to be as small as possible: time-to-train, energy or ipus", TAKES_TEXT, AT(minimise) },
    [OPT_LIMIT]     = { "limit", "WHAT=N|LOW..HIGH", "Keep WHAT at N, or within LOW..HIGH: ipus (default: the recipe's), global_batch (default: within 5 % of "
                        "the recipe's), tokens (of a batch) or throughput", TAKES_LIST, AT(limits) },
    [OPT_MOST]      = { "most", "N", "Simulate at most N configurations (default 1000000)", TAKES_COUNT, AT(most) },
    [OPT_SECONDS]   = { "seconds", "S", "Stop after S seconds, and say how much better the rest could be (default: 45 for the model of a file, if --most is "
                        "not given; else 0, never)", TAKES_TEXT, AT(seconds) },
    [OPT_APPROXIMATE] = { "approximate", "recipe.approximate=yes", "Give operators of an ONNX file that are not modelled a rough price, and list "
                          "them, instead of refusing the file", IS_SETTING, AT(sets) },
    [OPT_SIZE]      = { "size", "N", "List the changes that make micro-batch N fit (default: the recipe's own, where it does not fit)", TAKES_COUNT, AT(size) },
    [OPT_ONNX]      = { "onnx", "FILE.onnx", "Write the model as an ONNX file, which may be read back, or run by others", TAKES_TEXT, AT(onnx) },
    [OPT_MODEL]     = { "model", "FILE.onnx", "Write a recipe for this model, with sizes, split, batch and steps a call that fit", TAKES_TEXT, AT(model) },
    [OPT_WEIGHTS]   = { "weights", "SEED", "With --onnx, draw weights from this seed into FILE.onnx.data (default: shapes without weights)", TAKES_TEXT, AT(weights) },
    [OPT_EXPECT]    = { "expect", "FILE.csv", "Table of expected failures: id,reason; * in an id stands for any text", TAKES_TEXT, AT(expect) },
    [OPT_MARGIN]    = { "margin", "SHARE", "How much the mean error of a group of validate rows may grow (default 0.01: one percentage point)", TAKES_TEXT, AT(margin) },
    [OPT_REASON]    = { "reason", "TEXT", "Why the predictions moved; recorded beside the baseline", TAKES_TEXT, AT(reason) },
    [OPT_RECIPES]   = { "recipes", "DIR", "Use the recipes in this folder instead of podbench's own", TAKES_TEXT, AT(recipes) },
    [OPT_BASELINE]  = { "baseline", "DIR", "The folder of the baseline (default: results/baselines)", TAKES_TEXT, AT(baseline) },
    [OPT_LABEL]     = { "label", "TEXT", "The name of the point, such as a commit or a build", TAKES_TEXT, AT(label) },
    [OPT_METRIC]    = { "metric", "COLUMN,...", "The columns that are series (default: the last one)", TAKES_TEXT, AT(metric) },
    [OPT_BY]        = { "by", "COLUMN,...", "Rows with other values in these columns are another series", TAKES_TEXT, AT(by) },
    [OPT_ACCEPT]    = { "accept", "REASON", "Accept the latest level of every series that is worse, with this reason", TAKES_TEXT, AT(accept) },
    [OPT_ACCEPTED]  = { "accepted", "FILE.csv", "The table of accepted levels: series,point,reason (default: SERIES.accepted.csv beside SERIES.csv)", TAKES_TEXT,
                        AT(accepted) },
    [OPT_BETTER]    = { "better", "higher|lower|unknown", "Which direction is better (default: by the name of the metric, else unknown)", TAKES_TEXT, AT(better) },
    [OPT_LEAST_CHANGE] = { "least-change", "SHARE", "Do not report smaller changes of level: 0.01 is 1 % (default 0)", TAKES_TEXT, AT(least_change) },
    [OPT_UNTIL]      = { "until", "target|SAMPLES", "Stop at the recipe's target (the default, if there is one), or after so many samples", TAKES_TEXT, AT(until) },
    [OPT_SEEDS]      = { "seeds", "N", "Train N times, from --seed on, and print samples and minutes to the target of all", TAKES_COUNT, AT(seeds) },
    [OPT_CHECKPOINT] = { "checkpoint", "FILE", "Write everything that the training needs to go on into this file, after each evaluation", TAKES_TEXT, AT(checkpoint) },
    [OPT_PLOT]       = { "plot", "FILE.svg", "Also draw loss and quality, by gnuplot, and write their points to FILE.svg.csv", TAKES_TEXT, AT(plot) },
#undef AT
};
_Static_assert(sizeof rows / sizeof *rows == N_OPTIONS, "one row per option");

/* Options that mean something else to one command than to the others. */
static const struct { const char *command; enum option_id id; const char *argument, *help; } special_rows[] = {
    { "bench",     OPT_OUT,  "DIR",      "Write the run into this folder (default: results/runs/latest)" },
    { "watch",     OPT_OUT,  "FILE.svg", "Also draw the series with its levels, by gnuplot" },
    { "validate",  OPT_OUT,  "DIR",      "Write what answers are judged by into this folder: left-out.csv, known-values.csv" },
    { "calibrate", OPT_OUT,  "DIR",      "Write the sheets into this folder, which must not be there yet" },
    { "history",   OPT_OUT,  "FILE.svg", "Draw the history instead of printing it" },
    { "history",   OPT_FROM, "FILE.csv", "Read this table of points (default: history.csv of the baseline)" },
    { "record",    OPT_FROM, "FILE.csv", "Append to this table of points (default: history.csv of the baseline)" },
    { "judge",     OPT_OUT,  "FILE.csv",  "Also write the predictions, as PREDICTIONS.csv has them" },
    { "rounds",    OPT_OUT,  "FILE.html", "Write the table as a page with figures, instead of printing it" },
    { "train",     OPT_MLLOG, "DIR",      "Write an MLPerf log of each training into this folder" },
    { "train",     OPT_SEED,  "S",        "Seed of first weights, order and dropout (default 1)" },
    { "train",     OPT_RESUME, NULL,      "Go on from the --checkpoint if it is there: with the answer of a training that was never stopped" },
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

/* A count cannot be 0, which in struct options means that the option was not given. */
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

/* In struct options each list is followed by its length. */
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

static bool option_take(struct parse *p, const struct option_row *row, const char *text)
{
    void *at = (char *)p->out + row->offset;
    switch (row->type) {
    case TAKES_TEXT:   return option_name(row, text, at, p->err);
    case TAKES_LIST:   return option_item(at, &p->caps[row - rows], text, p->arena);
    case TAKES_NUMBER: return option_number(row, text, at, p->err);
    case TAKES_COUNT:  return option_count(row, text, at, p->err);
    case TAKES_FORMAT: return option_format(p->out, p->command, text, at, p->arena, p->err);
    case IS_FLAG:      return *(bool *)at = true;
    case IS_SETTING:   return option_item(at, &p->caps[OPT_SET], row->argument, p->arena);
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

const char *command_help(const struct command *c, struct arena *a)
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

/* argp's own options, and getopt_long's rule: a beginning that only one option has is that option. */
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

/* Refuses an option that is not there with the one that is nearest, before argp refuses it without. */
static bool check_option_names(const struct argp_option *list, const struct command *c, int argc, char **argv, struct arena *a, struct err *err)
{
    static const char *const of_argp[] = { "help", "usage", "version" };
    const char *names[N_OPTIONS + 1];
    size_t n_names = 0;
    for (; list[n_names].name; n_names++)
        names[n_names] = list[n_names].name;
    for (int i = 1; i < argc && !text_is(argv[i], "--"); i++) {
        size_t n = strcspn(argv[i], "=");
        bool known = strncmp(argv[i], "--", 2) != 0;
        for (size_t k = 0; k < sizeof of_argp / sizeof *of_argp; k++)
            known |= n > 2 && strncmp(argv[i] + 2, of_argp[k], n - 2) == 0;
        const struct argp_option *option = known ? NULL : option_typed(list, argv[i] + 2, n - 2);
        if (!known && !option)
            return fail(err, "%s: unknown option '%.60s'; %sknown: %s", c->name, arena_printf(a, "%.*s", (int)n, argv[i]),
                        names_suggestion(names, n_names, arena_printf(a, "%.*s", (int)n - 2, argv[i] + 2), a), names_list(names, n_names, a));
        i += option && option->arg && !argv[i][n];      /* its value is the next argument */
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
    if (argp_parse(&argp, argc, argv, argp_flags, NULL, &p) != 0)
        return !*err->msg && fail(err, "%s: an option that it does not have, or a value that is missing", c->name);
    return command_takes(c, out->n_arguments)
        || fail(err, "%s: %zu argument%s given, usage: podbench %s [OPTION...] %s", c->name, out->n_arguments, plural(out->n_arguments), c->name,
                c->arguments);
}
