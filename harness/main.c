/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - the program: dispatch, streams, exit status. Data goes to stdout, and messages go to stderr as "podbench: message". Exit status: 0
 * done, 1 judged and refused, 2 bad usage or bad input, 3 out of host memory.
 */
#include "harness/harness.h"
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <unistd.h>


static void print_help(FILE *f)
{
    fprintf(f, "Usage: podbench COMMAND [OPTION...] [ARGUMENT...]\n"
               "Predicts machine-learning runs on Graphcore IPU systems and compares them with published figures.\n\n");
    for (size_t i = 0; i < n_commands; i++) {
        const struct command *c = &commands[i];
        if (c->group)
            fprintf(f, "%s:\n", c->group);
        int width = fprintf(f, "  %s %s", c->name, strlen(c->arguments) < 20 ? c->arguments : "WHAT");
        fprintf(f, "%*s%s\n%s", 28 - width, "", c->summary, i + 1 == n_commands || commands[i + 1].group ? "\n" : "");
    }
    fprintf(f, "RECIPE is an id (podbench list recipes) or the path of a file. RUN is a folder that bench wrote, or its name in\n"
               "results/runs. 'podbench COMMAND --help' says more and lists the options. PODBENCH_ROOT or --root names the\n"
               "folder that holds podbench's data; podbench --home prints it. 'podbench list words' says what replica,\n"
               "micro-batch, bubble, RTS and other words mean.\n"
               "Exit status: 0 done; 1 judged and refused; 2 bad usage or input; 3 out of memory.\n");
}

static int refuse_command(const char *name)
{
    struct err err = { "" };
    int status = command_unknown(name, &err);
    fprintf(stderr, "podbench: %s\n", err.msg);
    return status;
}

static int flush_stdout(int status)
{
    errno = 0;
    fflush(stdout);
    if (!ferror(stdout))
        return status;
    fprintf(stderr, "podbench: cannot write all of standard output%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
    return EXIT_BAD_INPUT;
}

/* Checks at exit that all output was written, since argp calls exit() itself after printing help. */
static void check_stdout(void)
{
    if (flush_stdout(EXIT_DONE) != EXIT_DONE)
        _exit(EXIT_BAD_INPUT);
}

/* The folder of podbench's data, which the caller frees. NULL, with a message, if there is none. */
static char *find_home(struct err *err)
{
    struct session s = { .out = stdout, .log = stderr };
    char *path = session_open(&s, NULL, "--root", err) ? realpath(s.root, NULL) : NULL;
    session_close(&s);
    return path;
}

/* Prints the folder of podbench's data, for makefiles of projects. */
static int print_home(void)
{
    struct err err = {0};
    char *path = find_home(&err);
    if (path)
        printf("%s\n", path);
    else
        fprintf(stderr, "podbench: %s\n", err.msg);
    free(path);
    return path ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* Prints version, commit and data; argp calls this for a command's --version. */
static void print_version(FILE *f, struct argp_state *state)
{
    struct err err = {0};
    char *path = find_home(&err);
    (void)state;
    fprintf(f, "podbench %s, commit %s\ndata: %s\n", PODBENCH_VERSION, podbench_commit, path ? path : err.msg);
    free(path);
}
void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

static int run_command(const struct command *c, int argc, char **argv)
{
    struct session s = { .out = stdout, .log = stderr };
    struct options o;
    struct err err = {0};
    char name[64];
    snprintf(name, sizeof name, "podbench %s", c->name);
    argv[0] = name;
    bool good = options_parse(&o, c, argc, argv, 0, &s.arena, &err) && session_open(&s, o.root, "--root", &err);
    FILE *terminal = good && o.format == FORMAT_TEXT ? terminal_stream(stdout) : NULL;
    s.in_terminal = terminal != NULL;
    s.in_colour = terminal && in_colour(stdout);
    s.out = terminal ? terminal : stdout;
    int status = good ? command_call(c, &o, &s, &err) : EXIT_BAD_INPUT;
    if (terminal)
        fclose(terminal);
    if (*err.msg)
        fprintf(stderr, "podbench: %s\n", err.msg);
    session_close(&s);
    return status;
}

static int complete(int n, char **words)
{
    const char *list = completion_offer((const char *const *)words, (size_t)n);
    return list ? run_command(command_find("list"), 3, (char *[]){ "list", (char *)list, "--names", NULL }) : EXIT_DONE;
}

/* Refuses control characters in arguments, since messages that repeat them could change the terminal. */
static bool is_printable(int argc, char **argv)
{
    struct err err = {0};
    for (int i = 1; i < argc; i++)
        if (!check_printable(argv[i], &err)) {
            fprintf(stderr, "podbench: argument %d: %s\n", i, err.msg);
            return false;
        }
    return true;
}

/* Opens /dev/null for reading in place of standard streams that are closed. Otherwise the next file opened would take a stream's number and
 * receive its output. */
static void fill_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    gsl_set_error_handler_off();
    signal(SIGXFSZ, SIG_IGN);               /* a write beyond the limit of a file's size then fails instead of ending the program */
    unsetenv("ARGP_HELP_FMT");              /* help is then the same on all terminals */
    atexit(check_stdout);
    argp_err_exit_status = EXIT_BAD_INPUT;
    if (argc < 2) {
        print_help(stderr);
        return EXIT_BAD_INPUT;
    }
    if (!is_printable(argc, argv))
        return EXIT_BAD_INPUT;
    const struct command *asked = text_is(argv[1], "help") && argc > 2 ? command_find(argv[2]) : NULL;
    if (asked)
        return run_command(asked, 2, (char *[]){ argv[2], "--help", NULL });
    if (text_is(argv[1], "help") && argc > 2)
        return refuse_command(argv[2]);
    if (text_is(argv[1], "--help") || text_is(argv[1], "-?") || text_is(argv[1], "-h") || text_is(argv[1], "help")) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (text_is(argv[1], "--commands")) {
        for (size_t i = 0; i < n_commands; i++)
            printf("%s\n", commands[i].name);
        return EXIT_DONE;
    }
    if (text_is(argv[1], "--complete"))
        return complete(argc - 2, argv + 2);
    if (text_is(argv[1], "--home"))
        return print_home();
    if (text_is(argv[1], "--version") || text_is(argv[1], "-V")) {
        print_version(stdout, NULL);
        return EXIT_DONE;
    }
    const struct command *c = command_find(argv[1]);
    return c ? run_command(c, argc - 1, argv + 1) : refuse_command(argv[1]);
}
