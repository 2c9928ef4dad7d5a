/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_command.c - the program itself, one command after the other, in a folder in memory with the files that they read.
 *
 * A line "$ COMMAND ARGUMENT..." is a command; "====NAME" begins a file, up to the next line of either kind. Laws: the status is 0, 1 or
 * 2, and 2 has one line that says why; JSON is JSON, a table has as many cells in each row, TAP keeps its plan, JUnit counts its cases;
 * a command that writes no file says the same when it is asked again.
 *
 * Passed over: what only takes long (recipes that are not small, sweeps of many configurations, numbers of many digits, calibrate), paths from the
 * root or upwards. gnuplot is one that does nothing.
 */
#include "tests/fuzz/box.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/small.h"
#include "harness/harness.h"
#include "results/simulate/simulator.h"
#include "results/study/sweep.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

enum { MOST_COMMANDS = 5, MOST_WORDS = 24, MOST_DIGITS = 3, MOST_CONFIGURATIONS = 8, MOST_RUNS = 12, MOST_SIMULATED = 12,
       MOST_ACCUMULATION = 300 };

static struct plan_cache plans;         /* warm, for all inputs */

/* A pool of one thread: nothing else reads these meanwhile. */
void __real_simulator_pool_open(struct simulator_pool *out, const struct model_paths *paths, uint32_t n_threads, struct simulator_options options);
void __wrap_simulator_pool_open(struct simulator_pool *out, const struct model_paths *paths, uint32_t n_threads, struct simulator_options options);
void __wrap_simulator_pool_open(struct simulator_pool *out, const struct model_paths *paths, uint32_t n_threads, struct simulator_options options)
{
    __real_simulator_pool_open(out, paths, n_threads, options);
    if (n_threads == 1)
        out->simulators[0].plans = &plans;
}

struct answer { int status; char *text, *talk; size_t n, n_talk; struct err err; };        /* talk: what is said on stderr */

/* ---- what is passed over ------------------------------------------------------------------------------------ */

static bool has_long_number(const char *text)
{
    size_t digits = 0;
    for (const char *p = text; *p; p++) {
        digits = *p >= '0' && *p <= '9' ? digits + 1 : 0;
        if (digits > MOST_DIGITS && !(p - text >= (ptrdiff_t)digits && p[-(ptrdiff_t)digits] >= 'a' && p[-(ptrdiff_t)digits] <= 'z'))
            return true;
    }
    return false;
}

static bool may_say(const char *word)
{
    const char *value = strchr(word, '=');
    value = value && strncmp(word, "--", 2) == 0 ? value + 1 : word;
    return *value != '/' && !strstr(word, "../") && !strstr(word, "/..") && !text_is(value, "..")
        && (strncmp(word, "--set=", 6) != 0 || strncmp(word, "--set=machine.", 14) == 0 || !has_long_number(word));
}

/* True if the command has this option. argp would end the program at an unknown one. */
static bool knows_option(const struct command *c, const char *word, struct arena *a)
{
    const char *equals = strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    struct option_view v;
    uint64_t number;
    if (!*word || !strncmp(word, "--root", 6))
        return false;
    for (size_t i = 0; option_of(&v, c, i, a); i++)
        if (v.name && strlen(v.name) == n && strncmp(v.name, word + 2, n) == 0) {
            bool is_number = v.argument && (text_is(v.argument, "N") || text_is(v.argument, "S"));
            bool writes = text_is(v.name, "out") || text_is(v.name, "mllog") || text_is(v.name, "trace");
            return !v.argument == !equals && (!equals || equals[1]) && (!is_number || parse_u64(equals + 1, &number))
                && (!writes || box_may_write(equals + 1));
        }
    return false;
}

static bool knows_format(const struct command *c, const char *word)
{
    if (strncmp(word, "--format=", 9) != 0)
        return true;
    for (int i = 0; i < N_OUTPUT_FORMATS; i++)
        if (c->formats & FORMAT_BIT(i) && text_is(format_names[i], word + 9))
            return true;
    return false;
}

static const struct command *command_of(char **words, int n, struct arena *a)
{
    size_t n_arguments = 0;
    const struct command *c = NULL;
    for (size_t i = 0; i < n_commands && n; i++)
        c = text_is(commands[i].name, words[0]) ? &commands[i] : c;
    for (int i = 1; i < n && c; i++) {
        bool option = words[i][0] == '-';
        n_arguments += !option;
        if (!may_say(words[i]) || (option && (strncmp(words[i], "--", 2) != 0 || !knows_option(c, words[i], a) || !knows_format(c, words[i]))))
            return NULL;
    }
    return c && command_takes(c, n_arguments) ? c : NULL;
}

static bool space_is_small(const struct options *o, struct arena *a)
{
    struct space space;
    space_start(&space, o->arguments, o->n_arguments);
    bool good = (!o->from || space_from(&space, o->from, a, NULL)) && (!o->n_zips || space_zip(&space, o->zips, o->n_zips, a, NULL));
    for (size_t i = 0; i < o->n_overs && good; i++)
        good = !has_long_number(o->overs[i]) && space_over(&space, o->overs[i], a, NULL);
    return !good || !space_close(&space, NULL) || space.n <= MOST_CONFIGURATIONS;
}

/* Commands of recipes are quick if all their recipes are small. The other commands read the box, which is small. */
static bool is_quick(struct options *o, const struct command *c, const struct session *s, struct arena *a)
{
    bool recipes = strncmp(c->arguments, "RECIPE", 6) == 0 || text_is(c->name, "diff");
    for (size_t i = 0; i < o->n_arguments && recipes; i++)
        if (!is_small(o->arguments[i], s->paths.recipes_dir, o->sets, o->n_sets, MOST_ACCUMULATION))
            return false;
    o->most = o->most && o->most < MOST_SIMULATED ? o->most : MOST_SIMULATED;
    o->jobs = 1;
    return !text_is(c->name, "calibrate") && o->runs <= MOST_RUNS && space_is_small(o, a);
}

/* ---- laws ------------------------------------------------------------------------------------------------------ */

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static void check_json(const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        json_error_t e;
        json_t *j = json_loadb(text, (size_t)(end - text), JSON_DISABLE_EOF_CHECK, &e);
        LAW(j);
        json_decref(j);
        text += e.position;
        text += strspn(text, "\n ");
    }
}

static void check_tap(const char *text)
{
    const char *plan = strncmp(text, "1..", 3) == 0 ? text : strstr(text, "\n1..");
    LAW(plan);
    size_t cases = count(text, "\nok ") + count(text, "\nnot ok ") + (strncmp(text, "ok ", 3) == 0) + (strncmp(text, "not ok ", 7) == 0);
    LAW(strtoul(strstr(plan, "1..") + 3, NULL, 10) == cases);
}

/* Over all suites: what they say they hold is there. */
static void check_junit(const char *text)
{
    size_t tests = 0, failures = 0;
    LAW(strncmp(text, "<?xml", 5) == 0);
    for (const char *p = text; (p = strstr(p, "<testsuite ")); p++) {
        tests += strtoul(strstr(p, " tests=\"") + 8, NULL, 10);
        failures += strtoul(strstr(p, " failures=\"") + 11, NULL, 10);
    }
    LAW(tests == count(text, "<testcase ") && failures == count(text, "<failure"));
}

static void check_table(const char *text)
{
    struct arena a = {0};
    struct csv_table t;
    struct err err = { "" };
    LAW(box_write("answer.csv", text, strlen(text)));
    if (!csv_load(&t, "answer.csv", &a, &err))
        fprintf(stderr, "%s\n", err.msg);
    LAW(!*err.msg);
    remove("answer.csv");
    arena_free(&a);
}

static void check_answer(const struct answer *x, const struct command *c, const struct options *o)
{
    LAW(x->status >= EXIT_DONE && x->status <= EXIT_BAD_INPUT);
    LAW(x->status == EXIT_BAD_INPUT || !*x->err.msg);
    LAW(x->status != EXIT_BAD_INPUT || *x->err.msg || x->n_talk);       /* refusals of several recipes are told as they come */
    LAW(!strchr(x->err.msg, '\n'));
    if (x->status == EXIT_BAD_INPUT || !x->n)
        return;
    if (o->format == FORMAT_JSON)
        check_json(x->text);
    if (o->format == FORMAT_CSV && !text_is(c->name, "ledger"))     /* its lines are meant for the end of a table */
        check_table(x->text);
    if (o->format == FORMAT_TAP)
        check_tap(x->text);
    if (o->format == FORMAT_JUNIT)
        check_junit(x->text);
}

/* ---- a command ------------------------------------------------------------------------------------------------- */

static void open_session(struct session *s, struct err *err)
{
    const struct box *b = box_open();
    LAW(session_open(s, b->source, "--root", err));
    s->simulator.plans = &plans;
    s->paths.recipes_dir = arena_printf(&s->arena, "%s/recipes", b->folder);
    s->published_dir = access("published", R_OK) == 0 ? "published" : arena_printf(&s->arena, "%s/published", b->folder);
    s->validity_dir = access("validity", R_OK) == 0 ? "validity" : s->validity_dir;
    s->paths.data_dir = arena_printf(&s->arena, "%s/convergence", b->folder);
    s->runs_dir = "runs";
    s->baselines_dir = "baseline";
}

/* False: passed over. */
static bool ask(struct answer *out, const struct command *c, int argc, char **argv, struct options *o)
{
    struct session s = {0};
    *out = (struct answer){ .status = EXIT_BAD_INPUT };
    bool parsed = options_parse(o, c, argc, argv, 0, &s.arena, &out->err);
    open_session(&s, &out->err);
    bool asks = parsed && is_quick(o, c, &s, &s.arena);
    if (asks) {
        s.out = text_stream(&out->text, &out->n);
        s.log = text_stream(&out->talk, &out->n_talk);
        if (session_folders(&s, o, &out->err))
            out->status = session_answer(c->run, o, &s, &out->err);
        fclose(s.out);
        fclose(s.log);
    }
    session_close(&s);
    return asks;
}

static bool writes_files(const struct options *o, const struct command *c)
{
    static const char *const writers[] = { "bench", "baseline", "record", "init", "plot", "report" };
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (text_is(c->name, writers[i]))
            return true;
    return o->out || o->mllog || o->trace;
}

static bool run_line(char *line)
{
    struct arena a = {0};
    char *words[MOST_WORDS + 1] = {0};
    int n = 0;
    struct answer first, second = {0};
    struct options o;
    for (char *w = strtok(line, " \t\r"); w && n < MOST_WORDS; w = strtok(NULL, " \t\r"))
        words[n++] = w;
    const struct command *c = command_of(words, n, &a);
    bool asked = c && ask(&first, c, n, words, &o);
    if (asked) {
        check_answer(&first, c, &o);
        if (!writes_files(&o, c) && first.n && first.n % 8 == 0 && ask(&second, c, n, words, &o))
            LAW(second.status == first.status && text_is(first.text, second.text) && text_is(first.err.msg, second.err.msg));
        free(first.text);
        free(second.text);
        free(first.talk);
        free(second.talk);
    }
    arena_free(&a);
    return asked;
}

/* The next line of the script, or the file that begins here. NULL means the end. */
static char *step(char *at, char *end, int *n_asked)
{
    char *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline ? newline + 1 : end;
    if (newline)
        *newline = 0;
    if (strncmp(at, "$ ", 2) == 0)
        *n_asked += run_line(at + 2) ? 1 : MOST_COMMANDS;
    if (strncmp(at, "====", 4) != 0)
        return next;
    char *file_end = next;
    while (file_end < end && strncmp(file_end, "====", 4) != 0 && strncmp(file_end, "$ ", 2) != 0) {
        newline = memchr(file_end, '\n', (size_t)(end - file_end));
        file_end = newline ? newline + 1 : end;
    }
    return box_write(at + 4, next, (size_t)(file_end - next)) ? file_end : end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    int n_asked = 0;
    struct arena a = {0};
    char *text = arena_alloc(&a, n + 1), *at = text, *end = text + n;
    memcpy(text, data, n);
    gsl_set_error_handler_off();
    box_enter();
    while (at < end && n_asked < MOST_COMMANDS)
        at = step(at, end, &n_asked);
    box_leave();
    arena_free(&a);
    if (plans.plans.n > 200000)
        plan_cache_free(&plans);
    return 0;
}
