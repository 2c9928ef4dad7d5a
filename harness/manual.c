/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * manual.c - podbench manual and completion: man pages and shell completion, made from the same tables as --help.
 */
#include "harness/harness.h"

/* ---- man pages ------------------------------------------------------------------------------------ */

/* Escapes what roff would interpret: backslashes, hyphens, and a dot or quote at the start. */
static void write_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++)
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
}

static void write_exit_status(void)
{
    printf(".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nJudged and refused: out of tolerance, moved, does not fit, breaks a rule.\n"
           ".TP\n2\nBad usage or bad input.\n.TP\n3\nOut of memory.\n");
}

static void write_option(const struct option_view *v)
{
    printf(".TP\n\\fB\\-\\-");
    write_roff(v->name);
    printf("\\fR");
    if (v->argument) {
        printf("=\\fI");
        write_roff(v->argument);
        printf("\\fR");
    }
    printf("\n");
    write_roff(v->help);
    printf("\n");
}

/* Each is run by tests/cli/t_examples.sh, in this order and in one folder. */
static const struct { const char *command, *line, *does; } examples[] = {
    { "list", "podbench list recipes bert pod64", "Recipes with both words in their name, model, machine or framework." },
    { "machine", "podbench machine bow-pod16", "The pod's sheet, its boards' and chips', each value with its source." },
    { "framework", "podbench framework tensorflow-2", "What TensorFlow 2 programs do unless a recipe says otherwise." },
    { "workload", "podbench workload resnet50 --ops", "Every operation of ResNet-50." },
    { "run", "podbench run mlperf-v2.0-closed-bow-pod16-resnet50", "One published configuration." },
    { "run", "podbench run vendor-ipu-pod16-resnet50-tf1 --set parallel.micro_batch=8 --set machine.clock_hz=1.5GHz", "Another batch and another clock." },
    { "run", "podbench run vendor-ipu-pod16-resnet50-tf1 vendor-ipu-pod64-bert-large-ph1-tf1 --format csv", "Two recipes as a table for other programs." },
    { "fit", "podbench fit vendor-ipu-pod16-resnet50-tf1", "The largest batch that fits, and what a larger one wants." },
    { "explain", "podbench explain vendor-ipu-pod16-resnet50-tf1", "What bounds the run, and what would help." },
    { "plan", "podbench plan vendor-ipu-pod16-resnet50-tf1", "Which layer lies where, and memory by IPU." },
    { "timeline", "podbench timeline vendor-ipu-pod16-resnet50-tf1 --trace trace.json", "One step, and a trace for Perfetto." },
    { "diff", "podbench diff mlperf-v2.0-closed-bow-pod16-resnet50 mlperf-v1.1-closed-ipu-pod16-resnet50", "What made Bow faster." },
    { "sweep", "podbench sweep vendor-ipu-pod16-resnet50-tf1 --over parallel.micro_batch=4,8,16 --sort throughput_samples_per_s --top 3", "The best of three batches." },
    { "search", "podbench search vendor-ipu-pod16-resnet50-tf1 --most 50", "The fastest split that 50 simulations find." },
    { "init", "podbench init my-runs", "A project with a recipe, figures to check it by, and workflows for CI." },
    { "watch", "podbench watch step-times.csv --better lower", "Whether the last column's latest level is worse than the accepted one." },
    { "completion", "podbench completion bash", "To be read by ~/.bashrc: . <(podbench completion bash)" },
};

static void write_examples(const struct command *c)
{
    bool any = false;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        if (!text_is(examples[i].command, c->name))
            continue;
        printf("%s.TP\n.B ", any ? "" : ".SH EXAMPLES\n");
        write_roff(examples[i].line);
        printf("\n");
        write_roff(examples[i].does);
        printf("\n");
        any = true;
    }
}

static void command_page(const struct command *c, struct arena *a)
{
    printf(".TH PODBENCH-%s 1 \"\" \"podbench %s\"\n.SH NAME\npodbench\\-%s \\- ", c->name, PODBENCH_VERSION, c->name);
    write_roff(c->summary);
    printf("\n.SH SYNOPSIS\n.B podbench %s\n[\\fIOPTION\\fR...] ", c->name);
    write_roff(c->arguments);
    printf("\n.SH DESCRIPTION\n");
    write_roff(command_help(c, a));
    printf("\n.SH OPTIONS\n");
    struct option_view v;
    for (size_t i = 0; option_of(&v, c, i, a); i++)
        if (v.name)
            write_option(&v);
    write_exit_status();
    write_examples(c);
    printf(".SH SEE ALSO\n.BR podbench (1)\n");
}

static void main_page(void)
{
    printf(".TH PODBENCH 1 \"\" \"podbench %s\"\n.SH NAME\npodbench \\- predicts machine-learning runs on Graphcore IPU systems\n"
           ".SH SYNOPSIS\n.B podbench\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
           ".SH DESCRIPTION\nA recipe is named by its id (podbench list recipes) or by its path, a run by its folder or its name in results/runs. Data goes to standard output, messages to standard error.\n"
           ".SH COMMANDS\n", PODBENCH_VERSION);
    for (size_t i = 0; i < n_commands; i++) {
        if (commands[i].group)
            printf(".SS %s\n", commands[i].group);
        printf(".TP\n\\fB%s\\fR ", commands[i].name);
        write_roff(commands[i].arguments);
        printf("\n");
        write_roff(commands[i].summary);
        printf(". See podbench\\-%s(1).\n", commands[i].name);
    }
    write_exit_status();
    printf(".SH ENVIRONMENT\n.TP\nPODBENCH_ROOT\nThe folder of podbench's data: system\\-model, workloads, results.\n"
           ".TP\nSOURCE_DATE_EPOCH\nThe time that JUnit reports and points of a history carry, in seconds since 1970.\n.TP\nNO_COLOR\nIf set, no colours, even on a terminal.\n");
}

static const struct command *command_named(const char *name, struct arena *a, struct err *err)
{
    const char **names = ARENA_ARRAY(a, const char *, n_commands);
    for (size_t i = 0; i < n_commands; i++) {
        names[i] = commands[i].name;
        if (text_is(name, names[i]))
            return &commands[i];
    }
    fail(err, "unknown command '%.60s'; %sknown: %s", name, names_suggestion(names, n_commands, name, a), names_list(names,
            n_commands, a));
    return NULL;
}

int command_manual(const struct options *o, struct session *s, struct err *err)
{
    if (o->n_arguments == 0) {
        main_page();
        return EXIT_DONE;
    }
    const struct command *c = command_named(o->arguments[0], &s->arena, err);
    if (!c)
        return EXIT_BAD_INPUT;
    command_page(c, &s->arena);
    return EXIT_DONE;
}

/* ---- completion --------------------------------------------------------------------------------------- */

/* The list that completes a command's arguments: "recipes", "machines"...; NULL for file names. */
static const char *listed(const struct command *c)
{
    static const struct { const char *word, *list; } lists[] = {
        { "RECIPE", "recipes --names" }, { "A B", "recipes --names" }, { "[NAME]", NULL }, { "recipes|", NULL },
    };
    if (text_is(c->name, "machine"))
        return "machines";
    if (text_is(c->name, "framework"))
        return "frameworks";
    if (text_is(c->name, "workload"))
        return "workloads";
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strncmp(c->arguments, lists[i].word, strlen(lists[i].word)) == 0)
            return lists[i].list;
    return NULL;
}

/* True if the option's value begins with a key of recipes. */
static bool completes_keys(const struct option_view *v)
{
    return text_is(v->name, "set") || text_is(v->name, "over") || text_is(v->name, "zip");
}

static void write_words(const struct command *c, const char *between, struct arena *a)
{
    struct option_view v;
    bool any = false;
    for (size_t i = 0; option_of(&v, c, i, a); i++)
        if (v.name) {
            printf("%s--%s%s", any ? between : "", v.name, v.argument ? "=" : "");
            any = true;
        }
}

static void write_bash(struct arena *a)
{
    printf("# bash completion of podbench %s\n_podbench() {\n    local word=${COMP_WORDS[COMP_CWORD]} words= before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    if [ \"$word\" = = ]; then word=; elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='", PODBENCH_VERSION);
    for (size_t i = 0; i < n_commands; i++)
        printf("%s%s", i ? " " : "", commands[i].name);
    printf("'\n    elif [[ $before = --set || $before = --over || $before = --zip ]]; then\n"
           "        words=$(podbench list keys --names 2>/dev/null | sed 's/$/=/')\n    else\n        case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < n_commands; i++) {
        printf("        %s) words='", commands[i].name);
        write_words(&commands[i], " ", a);
        printf("'");
        if (listed(&commands[i]))
            printf("; [ \"${word#-}\" != \"$word\" ] || words=$(podbench list %s 2>/dev/null)", listed(&commands[i]));
        printf(" ;;\n");
    }
    printf("        esac\n    fi\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    case ${COMPREPLY[0]-} in *=) compopt -o nospace ;; esac\n"
           "}\ncomplete -o default -F _podbench podbench\n");
}

/* Escapes text for single quotes in any shell, without : [ and ], which zsh interprets in descriptions. */
static void write_quoted(const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(strchr(":[]", *text) ? ' ' : *text);
}

static void write_zsh(struct arena *a)
{
    printf("#compdef podbench\n# zsh completion of podbench %s\nlocal -a commands\ncommands=(\n", PODBENCH_VERSION);
    for (size_t i = 0; i < n_commands; i++) {
        printf("    '%s:", commands[i].name);
        write_quoted(commands[i].summary);
        printf("'\n");
    }
    printf(")\nif (( CURRENT == 2 )); then\n    _describe command commands\n    return\nfi\ncase $words[2] in\n");
    for (size_t i = 0; i < n_commands; i++) {
        struct option_view v;
        printf("%s) _arguments -S", commands[i].name);
        for (size_t k = 0; option_of(&v, &commands[i], k, a); k++) {
            if (!v.name)
                continue;
            printf(" '--%s%s[", v.name, v.argument ? "=" : "");
            write_quoted(v.help);
            printf("]%s'", completes_keys(&v) ? ":key:{compadd -S \"\" $(podbench list keys --names 2>/dev/null | sed s/\\$/=/)}"
                   : v.argument ? ":value:_files" : "");
        }
        if (listed(&commands[i]))
            printf(" '*:name:{compadd $(podbench list %s 2>/dev/null); _files}' ;;\n", listed(&commands[i]));
        else
            printf(" '*:file:_files' ;;\n");
    }
    printf("esac\n");
}

static void write_fish(struct arena *a)
{
    printf("# fish completion of podbench %s\n", PODBENCH_VERSION);
    for (size_t i = 0; i < n_commands; i++) {
        const struct command *c = &commands[i];
        struct option_view v;
        printf("complete -c podbench -n __fish_use_subcommand -a %s -d '", c->name);
        write_quoted(c->summary);
        printf("'\n");
        if (listed(c))
            printf("complete -c podbench -n '__fish_seen_subcommand_from %s' -a '(podbench list %s 2>/dev/null)'\n", c->name,
                   listed(c));
        for (size_t k = 0; option_of(&v, c, k, a); k++) {
            if (!v.name)
                continue;
            printf("complete -c podbench -n '__fish_seen_subcommand_from %s' -l %s%s -d '", c->name, v.name,
                   completes_keys(&v) ? " -x -a '(podbench list keys --names 2>/dev/null | sed s/\\$/=/)'" : v.argument ? " -r" : "");
            write_quoted(v.help);
            printf("'\n");
        }
    }
}

int command_completion(const struct options *o, struct session *s, struct err *err)
{
    static const struct { const char *shell; void (*write)(struct arena *a); } shells[] = {
        { "bash", write_bash }, { "zsh", write_zsh }, { "fish", write_fish },
    };
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (text_is(o->arguments[0], shells[i].shell)) {
            shells[i].write(&s->arena);
            return EXIT_DONE;
        }
    return bad_input(err, "completion: unknown shell '%.60s'; known: bash, zsh, fish", o->arguments[0]);
}
