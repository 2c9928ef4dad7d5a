/*
 * main.c - the program: a table of commands, dispatch, exit status.
 *
 * Data goes to stdout, talk to stderr as "podbench: message". Exit: 0 done, 1 out of tolerance or moved,
 * 2 bad usage or bad input, 3 out of host memory.
 */
#include "harness/judge.h"
#include <argp.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *argp_program_version = "podbench " PODBENCH_VERSION;

#define TEXT_CSV_JSON (FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_CSV) | FORMAT_BIT(FORMAT_JSON))
#define TEXT_JSON (FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_JSON))

const struct command commands[] = {
    { "list", "recipes|machines|workloads|frameworks|keys|assumptions", "Print the names, one a line; the keys of a recipe with what they take; the values "
      "that no source states, with what each could change.", 1, 1, 0, TEXT_JSON, command_list },
    { "machine", "[NAME]", "Print a spec sheet with its sources, what follows from it, and its kinds of links (--topology: every link); or the names.", 0, 1,
      OPTION_BIT(OPT_TOPOLOGY), TEXT_CSV_JSON | FORMAT_BIT(FORMAT_DOT), command_machine },
    { "workload", "[NAME]", "Print a model's layers, parameters and work; or the names.", 0, 1,
      OPTION_BIT(OPT_OPS) | OPTION_BIT(OPT_SET) | OPTION_BIT(OPT_APPROXIMATE), TEXT_JSON, command_workload },
    { "plan", "RECIPE", "Print the plan: placement, cost by stage, memory by region and IPU; --all: every operation too.", 1, 1,
      OPTION_BIT(OPT_SET) | OPTION_BIT(OPT_ALL) | OPTION_BIT(OPT_UPDATE) | OPTION_BIT(OPT_APPROXIMATE), 0, command_plan },
    { "timeline", "RECIPE", "Print one step against the clock: a picture, and what each IPU spends it on; --all: every span.", 1, 1,
      OPTION_BIT(OPT_ALL) | OPTION_BIT(OPT_SET) | OPTION_BIT(OPT_TRACE) | OPTION_BIT(OPT_UNFOLDED) | OPTION_BIT(OPT_APPROXIMATE), FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_CSV),
      command_timeline },
    { "run", "RECIPE...", "Simulate recipes, by id or by path; as tap, junit, markdown or annotations: whether each fits.", 1, SIZE_MAX,
      OPTION_BIT(OPT_SET) | OPTION_BIT(OPT_CHECK) | OPTION_BIT(OPT_RUNS) | OPTION_BIT(OPT_SEED) | OPTION_BIT(OPT_MLLOG) |
      OPTION_BIT(OPT_FORCE) | OPTION_BIT(OPT_UNTIL_VALID) |
      OPTION_BIT(OPT_UNFOLDED) | OPTION_BIT(OPT_ALL) | OPTION_BIT(OPT_REQUIRE_FIT) | OPTION_BIT(OPT_APPROXIMATE), TEXT_CSV_JSON | JUDGING_FORMATS,
      command_run },
    { "explain", "RECIPE", "What bounds a recipe, where its step goes with the sources of each cost, and what would help; csv: from the ideal "
      "to the predicted.", 1, 1, OPTION_BIT(OPT_SET), TEXT_CSV_JSON, command_explain },
    { "diff", "A B", "Why two recipes, or two runs, differ: the keys and sheet values that do, each with its share. --set is for B; "
      "--set a:KEY=VALUE for A.", 2, 2, OPTION_BIT(OPT_SET), TEXT_JSON, command_diff },
    { "sweep", "RECIPE...", "Simulate a recipe over lists and ranges of its keys: a row a configuration, as CSV or lines of JSON.", 1, SIZE_MAX,
      OPTION_BIT(OPT_SET) | OPTION_BIT(OPT_OVER) | OPTION_BIT(OPT_ZIP) | OPTION_BIT(OPT_FROM) | OPTION_BIT(OPT_JOBS) | OPTION_BIT(OPT_SHARD) |
      OPTION_BIT(OPT_RESUME) | OPTION_BIT(OPT_OUT) | OPTION_BIT(OPT_UNFOLDED), FORMAT_BIT(FORMAT_CSV) | FORMAT_BIT(FORMAT_JSON), command_sweep },
    { "merge", "PART...", "Join the shards of a sweep; refuses gaps, overlaps and parts of another sweep or version.", 1, SIZE_MAX,
      OPTION_BIT(OPT_OUT), 0, command_merge },
    { "search", "RECIPE", "The best configuration of a recipe under limits: micro-batch, memory share, I/O tiles, IPUs of a replica, cuts into stages, "
      "schedule, recomputation, optimizer's place, sharding; exact, or how far from it.", 1, 1,
      OPTION_BIT(OPT_SET) | OPTION_BIT(OPT_OVER) | OPTION_BIT(OPT_MAXIMISE) | OPTION_BIT(OPT_MINIMISE) | OPTION_BIT(OPT_LIMIT) | OPTION_BIT(OPT_MOST) | OPTION_BIT(OPT_JOBS),
      TEXT_JSON, command_search },
    { "bench", "", "Simulate every recipe, write a run, and print it beside the published figures.", 0, 0,
      OPTION_BIT(OPT_OUT) | OPTION_BIT(OPT_RECIPES) | OPTION_BIT(OPT_PUBLISHED) | OPTION_BIT(OPT_KERNELS) | OPTION_BIT(OPT_LINKS) | OPTION_BIT(OPT_JOBS),
      TEXT_CSV_JSON, command_bench },
    { "check", "[RUN]", "Set a run (or, without one, a fresh simulation) beside the published figures. "
      "Exit 1 when a calibrate or validate row is out of tolerance.", 0, 1, OPTION_BIT(OPT_PUBLISHED) | OPTION_BIT(OPT_EXPECT) | OPTION_BIT(OPT_RECIPES),
      TEXT_CSV_JSON | JUDGING_FORMATS, command_check },
    { "validate", "[RUN]", "The accuracy by role: on rows that may shape constants, and on those that never do; --out: the errors that "
      "intervals are made of (results/validity).", 0, 1, OPTION_BIT(OPT_PUBLISHED) | OPTION_BIT(OPT_OUT), TEXT_JSON, command_validate },
    { "calibrate", "", "Fit the constants that may be fitted, to the rows that may shape them; print the sheets, or write them to --out.",
      0, 0, OPTION_BIT(OPT_OUT), 0, command_calibrate },
    { "ledger", "", "Whether every published row has the role, the configuration and the value that the ledger says. Exit 1 when one has not.",
      0, 0, 0, FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_CSV) | JUDGING_FORMATS, command_ledger },
    { "audit", "", "Every numeric claim of the source documents, recomputed: counts, and those that do not hold; --all has all.", 0, 0,
      OPTION_BIT(OPT_ALL), TEXT_CSV_JSON | FORMAT_BIT(FORMAT_MARKDOWN), command_audit },
    { "watch", "SERIES.csv", "Whether a measured series has changed: a column of a table, judged by statistics that hold for any noise. "
      "Exit 1 when it got worse.", 1, 1, OPTION_BIT(OPT_METRIC) | OPTION_BIT(OPT_BETTER) | OPTION_BIT(OPT_LEAST_CHANGE), TEXT_JSON | JUDGING_FORMATS,
      command_watch },
    { "compare", "[BASE] RUN", "The gates between two runs, or the baseline and a run: what moved, by cause, and whether accuracy holds; --all: every cell. "
      "Exit 1 when anything moved.", 1, 2,
      OPTION_BIT(OPT_ALL) | OPTION_BIT(OPT_BASELINE) | OPTION_BIT(OPT_MARGIN), TEXT_JSON | JUDGING_FORMATS, command_compare },
    { "baseline", "[RUN]", "Record a run as the baseline that later ones are compared with, with the reason why predictions moved.", 0, 1,
      OPTION_BIT(OPT_REASON) | OPTION_BIT(OPT_MARGIN) | OPTION_BIT(OPT_BASELINE), 0, command_baseline },
    { "score", "DIR", "The official score of every system and benchmark in a tree of MLPerf results. Exit 1 where there is none.", 1, 1,
      OPTION_BIT(OPT_RULESET) | OPTION_BIT(OPT_TRAIN_SAMPLES), TEXT_CSV_JSON, command_score },
    { "lint", "FILE...", "Check MLPerf logs as the compliance checker does, and folders of them as the package checker does. Exit 1 when "
      "something does not pass.", 1, SIZE_MAX,
      OPTION_BIT(OPT_RULESET) | OPTION_BIT(OPT_TRAIN_SAMPLES) | OPTION_BIT(OPT_RCP_BYPASS) | OPTION_BIT(OPT_SEED_BYPASS),
      TEXT_CSV_JSON | JUDGING_FORMATS, command_lint },
    { "compare-logs", "DIR", "Real MLPerf logs beside the simulation of the recipe they belong to: steps by block, evaluations, start-up, samples, "
      "score, and where the time differs.", 1, 1,
      OPTION_BIT(OPT_RECIPE) | OPTION_BIT(OPT_SET) | OPTION_BIT(OPT_SEED) | OPTION_BIT(OPT_RULESET) | OPTION_BIT(OPT_TRAIN_SAMPLES),
      TEXT_CSV_JSON, command_compare_logs },
    { "record", "[RUN]", "Append a run to the history as a point: --label COMMIT; --from FILE: to another file than the baseline's history.csv.", 0, 1,
      OPTION_BIT(OPT_LABEL) | OPTION_BIT(OPT_FROM) | OPTION_BIT(OPT_BASELINE), 0, command_record },
    { "history", "METRIC [RECIPE]", "How a metric went, point by point; --out FILE.svg draws it.", 1, 2,
      OPTION_BIT(OPT_ALL) | OPTION_BIT(OPT_FROM) | OPTION_BIT(OPT_OUT) | OPTION_BIT(OPT_BASELINE), TEXT_CSV_JSON, command_history },
    { "init", "DIR", "Write a project of your own into a folder: a makefile of three lines, a recipe, a table of figures.", 1, 1, 0, 0, command_init },
    { "manual", "[COMMAND]", "Print a man page, of the program or of a command.", 0, 1, 0, 0, command_manual },
    { "completion", "bash|zsh|fish", "Print the completion of a shell.", 1, 1, 0, 0, command_completion },
    { "plot", "[RUN]", "Write a run's figures: CSV, SVG and PNG, by gnuplot.", 0, 1, OPTION_BIT(OPT_RECIPES) | OPTION_BIT(OPT_PUBLISHED), 0, command_plot },
    { "report", "[RUN]", "Write a run as one self-contained HTML page.", 0, 1, OPTION_BIT(OPT_RECIPES) | OPTION_BIT(OPT_PUBLISHED), 0, command_report },
};
const size_t n_commands = sizeof commands / sizeof *commands;

int bad_input(struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->msg, sizeof err->msg, format, args);
    va_end(args);
    return EXIT_BAD_INPUT;
}

static void print_help(FILE *f)
{
    fprintf(f, "Usage: podbench COMMAND [OPTION...] [ARGUMENT...]\n"
               "Simulates published machine-learning runs on IPU systems and checks them.\n\n");
    for (size_t i = 0; i < n_commands; i++)
        fprintf(f, "  %-9s %-32s %s\n", commands[i].name, commands[i].arguments, commands[i].help);
    fprintf(f, "\nRECIPE is an id (podbench list recipes) or the path of a file; RUN is a folder that bench wrote, or its name in results/runs.\n"
               "'podbench COMMAND --help' lists a command's options. PODBENCH_ROOT or --root names the data folder.\n"
               "Exit status: 0 done; 1 judged and refused; 2 bad usage or input; 3 out of memory.\n");
}

static const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < n_commands; i++)
        if (text_is(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    struct arena a = {0};
    const char **names = ARENA_ARRAY(&a, const char *, n_commands);
    for (size_t i = 0; i < n_commands; i++)
        names[i] = commands[i].name;
    fprintf(stderr, "podbench: unknown command '%.60s'; %sknown: %s\n", name, names_suggestion(names, n_commands, name, &a),
            names_list(names, n_commands, &a));
    arena_free(&a);
    return EXIT_BAD_INPUT;
}

static int flush_stdout(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "podbench: standard output could not be written whole\n");
    return EXIT_BAD_INPUT;
}

/* argp prints its help and leaves by exit(). */
static void check_stdout(void)
{
    if (flush_stdout(EXIT_DONE) != EXIT_DONE)
        _exit(EXIT_BAD_INPUT);
}

static int run_command(const struct command *c, int argc, char **argv)
{
    struct session s = {0};
    struct options o;
    struct err err = {0};
    char name[64];
    snprintf(name, sizeof name, "podbench %s", c->name);
    argv[0] = name;
    options_parse(&o, c, argc, argv, &s.arena);
    int status = session_open(&s, o.root, &err) && session_folders(&s, &o, &err) ? c->run(&o, &s, &err) : EXIT_BAD_INPUT;
    if (*err.msg)
        fprintf(stderr, "podbench: %s\n", err.msg);
    session_close(&s);
    return status;
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    signal(SIGXFSZ, SIG_IGN);               /* a write past the file size limit fails with a message instead */
    atexit(check_stdout);
    argp_err_exit_status = EXIT_BAD_INPUT;
    if (argc < 2) {
        print_help(stderr);
        return EXIT_BAD_INPUT;
    }
    if (text_is(argv[1], "--help") || text_is(argv[1], "-?") || text_is(argv[1], "-h") || text_is(argv[1], "help")) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (text_is(argv[1], "--commands")) {
        for (size_t i = 0; i < n_commands; i++)
            printf("%s\n", commands[i].name);
        return EXIT_DONE;
    }
    if (text_is(argv[1], "--version") || text_is(argv[1], "-V")) {
        printf("%s\n", argp_program_version);
        return EXIT_DONE;
    }
    const struct command *c = command_find(argv[1]);
    return c ? run_command(c, argc - 1, argv + 1) : unknown_command(argv[1]);
}
