/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_warm_cold.c - one process that answers many questions says what a fresh process says to each of them, to the byte.
 *
 * Keys and values are drawn from the program's own tables: all sections of a recipe, all framework keys, and the keys of the machine's sheets.
 * A result that is remembered under too few fields shows here, whatever the field. PODBENCH_SECONDS=N goes on with new draws for N seconds
 * (make warm-cold SECONDS=N), PODBENCH_SEED=N begins with other ones.
 */
#include "tests/check.h"
#include "harness/podbench.h"
#include "tests/random.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

static const char *const recipes[] = {
    "vendor-ipu-pod16-bert-large-ph1-tf1", "vendor-ipu-pod16-resnet50-pipelined", "mlperf-v2.0-closed-bow-pod16-bert-large",
    "mlperf-v2.0-closed-bow-pod16-resnet50", "vendor-ipu-pod16-bert-base-ph1-popart", "prediction-ipu-pod16-rnnt",
};
enum { N_RECIPES = sizeof recipes / sizeof *recipes, MOST_KEYS = 256, MOST_VALUES = 12, MOST_SETS = 3, N_QUESTIONS = 14, MOST_WORDS = 16 };

/* ---- what can be set ----------------------------------------------------------------------------------- */

struct key { char name[96]; char values[MOST_VALUES][64]; uint32_t n; };
struct space { struct key keys[MOST_KEYS]; uint32_t n; };

/* Keys whose values are no range of numbers. */
static const struct { const char *name, *values[8]; } texts[] = {
    { "parallel.layers_per_ipu", { "", "7,7,7,3", "3,7,7,7", "8,8,8", "0" } }, { "parallel.available_memory", { "0.2", "0.4", "0.15,0.3", "0.9,0.1" } },
    { "parallel.recompute_checkpoints", { "encoder3/attention", "encoder4/attention,encoder7/attention", "stage1/unit1,stage2/unit1" } },
    { "recipe.system", { "ipu-pod16", "bow-pod16", "ipu-pod64" } }, { "recipe.sdk", { "2.0.0", "2.3.0", "2.5.1" } },
    { "recipe.framework", { "PopART", "TensorFlow 1.15", "PyTorch" } }, { "optimizer.name", { "sgd", "lars", "adam", "lamb" } },
};
static const double numbers[] = { 0, 1e-5, 0.25, 0.5, 0.9, 1, 2, 3, 4, 8, 16, 60, 1000, 1e5, 1e8 };

static void add_value(struct key *k, const char *text)
{
    for (uint32_t i = 0; i < k->n; i++)
        if (strcmp(k->values[i], text) == 0)
            return;
    if (k->n < MOST_VALUES)
        snprintf(k->values[k->n++], sizeof k->values[0], "%s", text);
}

static void add_range(struct key *k, const json_t *row)
{
    bool whole = strcmp(json_string_value(json_object_get(row, "type")), "count") == 0;
    double low = json_number_value(json_object_get(row, "minimum"));
    const json_t *most = json_object_get(row, "maximum");
    char text[32];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] >= low && (!json_is_number(most) || numbers[i] <= json_number_value(most)) && (!whole || numbers[i] == floor(numbers[i]))) {
            snprintf(text, sizeof text, "%.15g", numbers[i]);
            add_value(k, text);
        }
}

static struct key *add_key(struct space *s, const char *name)
{
    assert_true(s->n < MOST_KEYS);
    struct key *k = &s->keys[s->n++];
    *k = (struct key){ .n = 0 };
    snprintf(k->name, sizeof k->name, "%s", name);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t v = 0; strcmp(name, texts[i].name) == 0 && v < 8 && texts[i].values[v]; v++)
            add_value(k, texts[i].values[v]);
    return k;
}

static json_t *asked(struct podbench *p, const char *const *words, size_t n)
{
    int status;
    char *text = podbench_answer(p, words, n, &status);
    json_t *out = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(out);
    return out;
}

static void add_recipe_keys(struct space *s, struct podbench *p)
{
    json_t *rows = asked(p, (const char *[]){ "list", "keys", "--format", "json" }, 4), *row, *choice;
    size_t i, c;
    json_array_foreach(rows, i, row) {
        char name[96];
        const char *type = json_string_value(json_object_get(row, "type"));
        snprintf(name, sizeof name, "%s.%s", json_string_value(json_object_get(row, "section")), json_string_value(json_object_get(row, "key")));
        struct key *k = add_key(s, name);
        json_array_foreach(json_object_get(row, "choices"), c, choice)
            add_value(k, json_string_value(choice));
        if (strcmp(type, "yes|no") == 0)
            add_value(k, "yes"), add_value(k, "no");
        else if (!k->n && strcmp(type, "text") != 0)
            add_range(k, row);
        s->n -= k->n == 0;
    }
    json_decref(rows);
}

/* The numbers of the machine's sheets, halved, doubled, and a little more. */
static void add_machine_keys(struct space *s, struct podbench *p)
{
    json_t *machine = asked(p, (const char *[]){ "machine", "bow-pod64", "--format", "json" }, 4), *row;
    size_t i;
    json_array_foreach(json_object_get(machine, "rows"), i, row) {
        char name[96], text[32], *end;
        double value = strtod(json_string_value(json_object_get(row, "value")), &end);
        if (*end || end == json_string_value(json_object_get(row, "value")))
            continue;
        snprintf(name, sizeof name, "machine.%s", json_string_value(json_object_get(row, "key")));
        struct key *k = add_key(s, name);
        for (int by = 0; by < 3; by++) {
            snprintf(text, sizeof text, "%.9g", value * (const double[]){ 0.5, 2, 1.03125 }[by]);
            add_value(k, text);
        }
    }
    json_decref(machine);
}

/* ---- questions ------------------------------------------------------------------------------------------- */

struct question { char words[MOST_WORDS][256]; size_t n; };

static void add_word(struct question *q, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_word(struct question *q, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    assert_true(q->n < MOST_WORDS);
    vsnprintf(q->words[q->n++], sizeof q->words[0], format, args);
    va_end(args);
}

/* Keys that shape a plan are drawn four times as often as others. */
static const struct key *drawn_key(const struct space *s, uint64_t *state)
{
    for (;;) {
        const struct key *k = &s->keys[random_below(state, s->n)];
        if (strncmp(k->name, "parallel", 8) == 0 || strncmp(k->name, "framework", 9) == 0 || strncmp(k->name, "optimizer", 9) == 0
            || random_below(state, 4) == 0)
            return k;
    }
}

static const char *drawn_value(const struct key *k, uint64_t *state) { return k->values[random_below(state, k->n)]; }

static struct question drawn_run(const struct space *s, const char *recipe, uint64_t *state)
{
    struct question q = { .n = 0 };
    add_word(&q, "run");
    add_word(&q, "%s", recipe);
    for (uint32_t n = 1 + random_below(state, MOST_SETS); n; n--) {
        const struct key *k = drawn_key(s, state);
        add_word(&q, "--set");
        add_word(&q, "%s=%s", k->name, drawn_value(k, state));
    }
    add_word(&q, "--format");
    add_word(&q, "json");
    return q;
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

/* The status, the output and the last message, each ended by a line. */
static void answer(FILE *out, struct podbench *p, const struct question *q)
{
    const char *words[MOST_WORDS];
    int status;
    for (size_t i = 0; i < q->n; i++)
        words[i] = q->words[i];
    char *text = podbench_answer(p, words, q->n, &status);
    fprintf(out, "%d\n%s\n%s%c", status, text ? text : "", podbench_message(p), 0);
    free(text);
}

/* Answers to n questions by one new process: a text for each, ended by a zero. */
static char *answers(const struct question *q, size_t n)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct podbench *p = podbench_open(".");
        for (size_t i = 0; i < n; i++)
            answer(out, p, &q[i]);
        fflush(out);
        podbench_close(p);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    long n_bytes = ftell(out) >= 0 && fseek(out, 0, SEEK_END) == 0 ? ftell(out) : 0;
    char *text = calloc(1, (size_t)n_bytes + 1);
    rewind(out);
    assert_int_equal(fread(text, 1, (size_t)n_bytes, out), n_bytes);
    fclose(out);
    return text;
}

static void print_question(const struct question *q)
{
    for (size_t i = 0; i < q->n; i++)
        print_error(" '%s'", q->words[i]);
    print_error("\n");
}

static void assert_same(const struct question *q, const char *warm, const char *cold)
{
    size_t at = 0;
    while (warm[at] && warm[at] == cold[at])
        at++;
    if (warm[at] != cold[at]) {
        print_question(q);
        print_error("warm: ..%.200s\ncold: ..%.200s\n", warm + (at > 60 ? at - 60 : 0), cold + (at > 60 ? at - 60 : 0));
    }
    assert_string_equal(warm, cold);
}

/* Goes on with new draws until the time that was asked for is over; without one, there is one round. */
static bool goes_on(uint64_t *state)
{
    static uint64_t round;
    static time_t end;
    const char *seconds = getenv("PODBENCH_SECONDS"), *seed = getenv("PODBENCH_SEED");
    if (!round++) {
        end = time(NULL) + (seconds ? atol(seconds) : 0);
        *state = seed ? strtoull(seed, NULL, 10) : 7;
        return true;
    }
    return time(NULL) < end;
}

/* ---- tests ---------------------------------------------------------------------------------------------------- */

static void compare_runs(const struct space *s, uint64_t *state)
{
    for (size_t r = 0; r < N_RECIPES; r++) {
        struct question q[N_QUESTIONS];
        for (size_t i = 0; i < N_QUESTIONS; i++)
            q[i] = drawn_run(s, recipes[r], state);
        char *warm = answers(q, N_QUESTIONS), *at = warm;
        for (size_t i = 0; i < N_QUESTIONS; i++) {
            char *cold = answers(&q[i], 1);
            assert_same(&q[i], at, cold);
            at += strlen(at) + 1;
            free(cold);
        }
        free(warm);
    }
}

/* The result in a row, without the row's number and the notes on the whole sweep; NULL if it was refused. */
static char *result_of_row(const char *answer, size_t row)
{
    for (const char *at = strchr(answer, '\n'); at; at = strchr(at + 1, '\n'))
        if (at[1] == '{' && row-- == 0) {
            char *line = strndup(at + 1, strcspn(at + 1, "\n")), *result = strstr(line, "\"id\":");
            char *out = result ? strdup(result) : NULL;
            free(line);
            return out;
        }
    return NULL;
}

/* Two values of one key and three of another. */
struct grid { const struct key *a, *b; const char *values[2][3]; };

static struct question sweep_over(const char *recipe, const struct grid *g, size_t first_a, size_t n_a, size_t first_b, size_t n_b)
{
    const char *const head[] = { "sweep", recipe, "--format", "json", "--jobs", "1" };
    struct question q = { .n = 0 };
    char list[2][128] = { "", "" };
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        add_word(&q, "%s", head[i]);
    for (size_t i = 0; i < n_a; i++)
        strcat(strcat(list[0], g->values[0][first_a + i]), ";");
    for (size_t i = 0; i < n_b; i++)
        strcat(strcat(list[1], g->values[1][first_b + i]), ";");
    add_word(&q, "--over");
    add_word(&q, "%s=%s", g->a->name, list[0]);
    add_word(&q, "--over");
    add_word(&q, "%s=%s", g->b->name, list[1]);
    return q;
}

static void compare_row(const char *recipe, const struct grid *g, const char *warm, size_t i)
{
    struct question one = sweep_over(recipe, g, i / 3, 1, i % 3, 1);
    char *cold = answers(&one, 1), *row = result_of_row(warm, i), *alone = result_of_row(cold, 0);
    if (!row != !alone)
        assert_same(&one, warm, cold);
    else if (row)
        assert_same(&one, row, alone);
    free(row);
    free(alone);
    free(cold);
}

/* A sweep over two keys; each row must be that of a sweep over its values alone. */
static void compare_sweeps(const struct space *s, uint64_t *state)
{
    for (size_t r = 0; r < N_RECIPES; r++) {
        struct grid g = { .a = drawn_key(s, state), .b = drawn_key(s, state) };
        if (g.a == g.b || g.a->n < 2 || g.b->n < 3)
            continue;
        for (uint32_t i = 0; i < 3; i++) {
            g.values[0][i] = g.a->values[i % 2];
            g.values[1][i] = g.b->values[g.b->n - 1 - i];
        }
        struct question whole = sweep_over(recipes[r], &g, 0, 2, 0, 3);
        char *warm = answers(&whole, 1);
        for (size_t i = 0; i < 6 && *warm == '0'; i++)
            compare_row(recipes[r], &g, warm, i);
        free(warm);
    }
}

/* The last of several searches says what it says alone. */
static void compare_searches(uint64_t *state)
{
    struct question q[3] = { { .n = 0 } };
    const char *recipe = recipes[random_below(state, N_RECIPES)];
    for (size_t i = 0; i < 3; i++) {
        add_word(&q[i], "search");
        add_word(&q[i], "%s", recipe);
        add_word(&q[i], "--most");
        add_word(&q[i], "%u", 20 + random_below(state, 20));
        add_word(&q[i], i == 2 ? "--minimise" : "--maximise");
        add_word(&q[i], i == 2 ? "energy" : "throughput");
        add_word(&q[i], "--format");
        add_word(&q[i], "json");
    }
    char *warm = answers(q, 3), *cold = answers(&q[2], 1), *last = warm;
    for (int i = 0; i < 2; i++)
        last += strlen(last) + 1;
    assert_same(&q[2], last, cold);
    free(warm);
    free(cold);
}

static void warm_is_cold(void **state)
{
    static struct space s;
    uint64_t seed = 0;
    (void)state;
    struct podbench *p = podbench_open(".");
    add_recipe_keys(&s, p);
    add_machine_keys(&s, p);
    podbench_close(p);
    assert_in_range(s.n, 100, MOST_KEYS);
    while (goes_on(&seed)) {
        compare_runs(&s, &seed);
        compare_sweeps(&s, &seed);
        compare_searches(&seed);
    }
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(warm_is_cold) };
TAP_MAIN(tests)
