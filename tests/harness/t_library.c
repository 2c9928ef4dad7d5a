/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_library.c - the library gives the results of a simulator and the answers of the program, reports failures, and finds its root. */
#include "tests/check.h"
#include "harness/podbench.h"
#include "results/simulate/simulate.h"
#include "results/simulate/simulator.h"

#include <jansson.h>
#include <locale.h>
#include <pthread.h>
#include <sys/wait.h>

static const char recipe[] = "vendor-c600-resnet50-b1-poprt", training[] = "mlperf-v2.0-closed-bow-pod16-resnet50";

static struct result simulated(const char *id, const char *set, struct err *err)
{
    static const struct model_paths paths = { .specs_dir = "tests/root/system-model/specs", .recipes_dir = "tests/root/workloads/recipes",
                                              .data_dir = "tests/root/workloads/convergence" };
    struct simulator s;
    struct simulation sim;
    struct result r = { 0 };
    simulator_open(&s, &paths);
    if (simulator_run(&s, &sim, &r, id, &set, set != NULL, err))
        simulation_free(&sim);
    simulator_close(&s);
    return r;
}

static void a_library_says_what_a_simulator_says(void **state)
{
    static const char *const sets[] = { NULL, "parallel.micro_batch=64" };
    struct podbench *p = podbench_open("tests/root");
    struct err err;
    (void)state;
    assert_string_equal(podbench_message(p), "");
    assert_string_equal(podbench_version(), PODBENCH_VERSION);
    for (size_t i = 0; i < 4; i++) {
        const char *id = i % 2 ? training : recipe, *set = sets[i / 2];
        struct result want = simulated(id, set, &err);
        struct podbench_result got;
        assert_int_equal(podbench_run(p, id, &set, set != NULL, &got), 0);
#define SAME_TEXT(name)
#define SAME_COUNT(name) assert_int_equal(got.name, want.name);
#define SAME_FLAG(name) assert_int_equal(got.name, want.name);
#define SAME_NUMBER(name) assert_true(got.name == want.name);
#define METRIC(type, name, ...) SAME_##type(name)
#include "results/simulate/podbench_metrics.def"
#undef METRIC
        char *text = podbench_run_json(p, id, &set, set != NULL);
        json_t *object = json_loads(text, 0, NULL);
        assert_string_equal(json_string_value(json_object_get(object, "id")), id);
        assert_near(json_real_value(json_object_get(object, "throughput_samples_per_s")), want.throughput_samples_per_s, 1e-9);
        assert_int_equal(json_array_size(json_object_get(json_object_get(object, "made_by"), "overrides")), set != NULL);
        json_decref(object);
        free(text);
    }
    podbench_close(p);
}

static void failures_are_told(void **state)
{
    struct podbench *p = podbench_open("tests/root");
    struct podbench_result r;
    (void)state;
    assert_int_equal(podbench_run(p, "none", NULL, 0, &r), -1);
    assert_non_null(strstr(podbench_message(p), "no recipe 'none'"));
    assert_int_equal(podbench_run(p, recipe, (const char *[]){ "data.dataste=" }, 1, &r), -1);
    assert_non_null(strstr(podbench_message(p), "--set data.dataste=: unknown key in [data]; did you mean 'dataset'?"));
    assert_int_equal(podbench_run(p, recipe, (const char *[]){ "faults.link7=" }, 1, &r), 0);
    assert_int_equal(podbench_run(p, recipe, NULL, 0, &r), 0);
    assert_string_equal(podbench_message(p), "");
    assert_null(podbench_run_json(p, "none", NULL, 0));
    podbench_close(p);
    podbench_close(NULL);
    p = podbench_open("tests/none");
    for (int i = 0; i < 2; i++) {
        assert_string_equal(podbench_message(p), "tests/none: holds no system-model/specs (the root)");
        assert_int_equal(podbench_run(p, recipe, NULL, 0, &r), -1);
        assert_null(podbench_run_json(p, recipe, NULL, 0));
    }
    podbench_close(p);
}

static char *answer_of(struct podbench *p, const char *line, int *status)
{
    char copy[400];
    const char *words[16];
    size_t n = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *rest, *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        words[n++] = w;
    return podbench_answer(p, words, n, status);
}

static const char *const questions[] = {
    "run mlperf-v2.0-closed-bow-pod16-resnet50 --format json", "run vendor-c600-resnet50-b1-poprt --all --set parallel.micro_batch=4",
    "explain vendor-c600-resnet50-b1-poprt --format json", "diff vendor-c600-resnet50-b1-poprt mlperf-v2.0-closed-bow-pod16-resnet50",
    "sweep vendor-c600-resnet50-b1-poprt --over parallel.micro_batch=1,2,900 --jobs 2", "machine bow-pod16", "list keys --format json",
    "run vendor-c600-resnet50-b1-poprt --unfolded", "fit vendor-c600-resnet50-b1-poprt --format json",
};
enum { N_QUESTIONS = sizeof questions / sizeof *questions };

/* The library prints what the program prints, in whatever order it is asked. */
static void an_answer_is_what_the_program_prints(void **state)
{
    struct podbench *p = podbench_open("tests/root");
    char *first[N_QUESTIONS];
    int status;
    (void)state;
    for (size_t i = 0; i < N_QUESTIONS; i++) {
        char command[600], *text = NULL;
        size_t n = 0;
        snprintf(command, sizeof command, "\"${PODBENCH:-build/podbench}\" %s --root tests/root 2>/dev/null", questions[i]);
        FILE *program = popen(command, "r"), *printed = open_memstream(&text, &n);
        for (int c; (c = fgetc(program)) != EOF; )
            fputc(c, printed);
        fclose(printed);
        int ended = pclose(program);
        first[i] = answer_of(p, questions[i], &status);
        assert_string_equal(first[i], text);
        assert_int_equal(WEXITSTATUS(ended), status);
        free(text);
    }
    for (size_t i = N_QUESTIONS; i-- > 0; ) {
        char *again = answer_of(p, questions[i], &status);
        assert_string_equal(again, first[i]);
        free(again);
        free(first[i]);
    }
    podbench_close(p);
}

/* A value has one of the types that its schema names; an object has what it must have, and nothing that the schema does not know. */
static void check_schema(const json_t *value, const json_t *schema, const char *name)
{
    static const struct { json_type type; const char *name; } types[] = {
        { JSON_OBJECT, "object" }, { JSON_ARRAY, "array" }, { JSON_STRING, "string" }, { JSON_INTEGER, "integer" }, { JSON_REAL, "number" },
        { JSON_TRUE, "boolean" }, { JSON_FALSE, "boolean" }, { JSON_NULL, "null" },
    };
    const json_t *type = json_object_get(schema, "type"), *properties = json_object_get(schema, "properties"), *item;
    bool is_of_type = false;
    size_t i;
    const char *key;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        for (i = 0; types[k].type == json_typeof(value) && i < (json_is_array(type) ? json_array_size(type) : 1); i++)
            is_of_type |= strcmp(json_string_value(json_is_array(type) ? json_array_get(type, i) : type), types[k].name) == 0;
    if (!is_of_type)
        print_error("%s is of another type\n", name), assert_true(false);
    json_array_foreach(json_object_get(schema, "required"), i, item)
        if (!json_object_get(value, json_string_value(item)))
            print_error("%s lacks %s\n", name, json_string_value(item)), assert_true(false);
    if (properties)
        json_object_foreach((json_t *)value, key, item) {
            if (!json_object_get(properties, key))
                print_error("%s.%s is not in the schema\n", name, key), assert_true(false);
            check_schema(item, json_object_get(properties, key), key);
        }
    json_array_foreach(value, i, item)
        if (json_object_get(schema, "items"))
            check_schema(item, json_object_get(schema, "items"), name);
}

static void json_keeps_its_schema(void **state)
{
    static const char *const lines[] = { "run mlperf-v2.0-closed-bow-pod16-resnet50 --format json",
                                         "run vendor-c600-resnet50-b1-poprt mlperf-v2.0-closed-bow-pod16-resnet50 --format json",
                                         "run mlperf-v2.0-closed-bow-pod16-resnet50 --set cost.price_per_hour=3 --format json" };
    struct podbench *p = podbench_open("tests/root");
    int status;
    char *text = answer_of(p, "list schema", &status);
    json_t *schema = json_loads(text, 0, NULL);
    (void)state;
    free(text);
    assert_non_null(schema);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        text = answer_of(p, lines[i], &status);
        json_t *answer = json_loads(text, 0, NULL);
        check_schema(answer, schema, "answer");
        json_decref(answer);
        free(text);
    }
    json_decref(schema);
    podbench_close(p);
}

static void refused_words_are_told(void **state)
{
    static const struct { const char *words, *message; } cases[] = {
        { "rnu x", "unknown command 'rnu'; did you mean 'run'?" }, { "run", "run: 0 arguments given, usage: podbench run [OPTION...] RECIPE..." },
        { "run x --nonsense", "run: unknown option '--nonsense'" }, { "run --help", "run: an option is unknown" },
        { "run x --format xml", "--format: unknown format 'xml'" }, { "run none", "no recipe 'none'" },
        { "list recipes --root .", "list: a library keeps the data that it was opened with" },
    };
    struct podbench *p = podbench_open("tests/root");
    int status;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = answer_of(p, cases[i].words, &status);
        assert_string_equal(text, "");
        assert_int_equal(status, 2);
        assert_non_null(strstr(podbench_message(p), cases[i].message));
        free(text);
    }
    free(podbench_answer(p, NULL, 0, &status));
    assert_int_equal(status, 2);
    free(answer_of(p, "run vendor-c600-resnet50-b1-poprt --set training.samples_to_converge=3000", &status));
    assert_int_equal(status, 0);
    assert_string_equal(podbench_message(p), "");
    assert_string_equal(podbench_notes(p), "podbench: vendor-c600-resnet50-b1-poprt: no effect here: training.samples_to_converge\n");
    free(answer_of(p, "list recipes", &status));
    assert_string_equal(podbench_notes(p), "");
    podbench_close(p);
}

static void *ask_alone(void *out)
{
    struct podbench *p = podbench_open("tests/root");
    int status;
    *(char **)out = answer_of(p, questions[0], &status);
    for (int i = 0; i < 3; i++)
        free(answer_of(p, questions[i], &status));
    podbench_close(p);
    return NULL;
}

static void threads_with_handles_of_their_own_agree(void **state)
{
    enum { N_THREADS = 4 };
    pthread_t threads[N_THREADS];
    char *said[N_THREADS];
    (void)state;
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_alone, &said[i]), 0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < N_THREADS; i++) {
        assert_string_equal(said[i], said[0]);
        if (i)
            free(said[i]);
    }
    free(said[0]);
}

static void write_in(const char *folder, const char *name, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A locale whose numbers have a decimal comma, as German ones have. The character map is our own, as a bare machine has none. */
static void set_comma_locale(void)
{
    char folder[] = "/tmp/podbench-locale-XXXXXX", command[200];
    assert_non_null(mkdtemp(folder));
    write_in(folder, "source", "LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n");
    write_in(folder, "map", "<code_set_name> ANSI_X3.4-1968\n<comment_char> %\n<escape_char> /\nCHARMAP\n<U0000>..<U007F> /x00 ASCII\nEND CHARMAP\n");
    snprintf(command, sizeof command, "cd %s && localedef -c -i source -f ./map ./comma >/dev/null 2>&1; test -d comma", folder);
    assert_int_equal(system(command), 0);
    setenv("LOCPATH", folder, 1);
    assert_non_null(setlocale(LC_NUMERIC, "comma"));
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void answers_do_not_depend_on_the_locale(void **state)
{
    static const char *const asked[] = { "run --format=json vendor-c600-resnet50-b1-poprt",
        "sweep --over=parallel.available_memory=0.25,0.5 --jobs=2 vendor-c600-resnet50-b1-poprt",
        "search --most=40 --jobs=2 --format=json vendor-c600-resnet50-b1-poprt" }, *const set = "parallel.available_memory=0.25";
    struct podbench_result numbers[2];
    char *said[2][4];
    (void)state;
    for (int k = 0; k < 2; k++) {
        if (k)
            set_comma_locale();
        struct podbench *p = podbench_open("tests/root");
        int status;
        for (int i = 0; i < 3; i++)
            said[k][i] = answer_of(p, asked[i], &status);
        said[k][3] = podbench_run_json(p, recipe, &set, 1);
        assert_int_equal(podbench_run(p, recipe, &set, 1, &numbers[k]), 0);
        podbench_close(p);
    }
    assert_string_equal(localeconv()->decimal_point, ",");      /* the caller's own stays */
    setlocale(LC_NUMERIC, "C");
    assert_true(numbers[0].throughput_samples_per_s == numbers[1].throughput_samples_per_s);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(said[1][i], said[0][i]);
        free(said[0][i]);
        free(said[1][i]);
    }
}

/* The root comes from the argument, the environment, or the program's own place; the working folder is "." */
static void roots(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    (void)state;
    assert_string_equal(root_find("tests/root", "--root", &a, &err), "tests/root");
    assert_null(root_find("tests", "--root", &a, &err));
    assert_string_equal(err.msg, "tests: holds no system-model/specs (--root)");
    setenv("PODBENCH_ROOT", "tests/root", 1);
    assert_string_equal(root_find(NULL, "--root", &a, &err), "tests/root");
    assert_string_equal(root_find(".", "--root", &a, &err), ".");
    setenv("PODBENCH_ROOT", "tests", 1);
    assert_null(root_find(NULL, "--root", &a, &err));
    assert_string_equal(err.msg, "tests: holds no system-model/specs (PODBENCH_ROOT)");
    setenv("PODBENCH_ROOT", "", 1);
    assert_string_equal(root_find(NULL, "--root", &a, &err), ".");
    unsetenv("PODBENCH_ROOT");
    assert_string_equal(root_find(NULL, "--root", &a, &err), ".");
    assert_string_equal(root_path(".", "plots", &a), "plots");
    assert_string_equal(root_path("/usr/share/podbench", "plots", &a), "/usr/share/podbench/plots");
    assert_true(root_is_installed("/usr/share/podbench") && root_is_installed("x/share/podbench"));
    assert_false(root_is_installed("/share/podbench") || root_is_installed("/usr/share/podbench2") || root_is_installed("podbench") || root_is_installed("."));
    arena_free(&a);
}

/* NULL in each place where a caller may leave one. */
static void null_is_refused(void **state)
{
    struct podbench *p = podbench_open(NULL);
    struct podbench_result r;
    const char *none[] = { "run", NULL };
    int status = -1;
    (void)state;
    podbench_close(NULL);
    assert_string_equal(podbench_message(NULL), "the handle is NULL; podbench_open() returns one");
    assert_string_equal(podbench_notes(NULL), "");
    assert_int_equal(podbench_run(NULL, "x", NULL, 0, &r), -1);
    assert_int_equal(podbench_run(p, NULL, NULL, 0, &r), -1);
    assert_string_equal(podbench_message(p), "podbench_run: the recipe, one of its sets or the result is NULL");
    assert_int_equal(podbench_run(p, "x", NULL, 3, &r), -1);
    assert_int_equal(podbench_run(p, "x", none, 2, &r), -1);
    assert_int_equal(podbench_run(p, "x", NULL, 0, NULL), -1);
    assert_null(podbench_run_json(NULL, "x", NULL, 0));
    assert_null(podbench_run_json(p, NULL, NULL, 0));
    assert_null(podbench_run_json(p, "x", NULL, 1));
    assert_string_equal(podbench_message(p), "podbench_run_json: the recipe or one of its sets is NULL");
    char *text = podbench_answer(NULL, none, 1, &status);
    assert_true(status == 2 && !*text);
    free(text);
    text = podbench_answer(p, none, 2, NULL);
    assert_string_equal(podbench_message(p), "podbench_answer: one of the words is NULL");
    free(text);
    text = podbench_answer(p, NULL, 1, &status);
    assert_true(status == 2 && !*text);
    free(text);
    podbench_close(p);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(null_is_refused), cmocka_unit_test(a_library_says_what_a_simulator_says), cmocka_unit_test(failures_are_told),
    cmocka_unit_test(an_answer_is_what_the_program_prints), cmocka_unit_test(json_keeps_its_schema),
    cmocka_unit_test(refused_words_are_told), cmocka_unit_test(threads_with_handles_of_their_own_agree),
    cmocka_unit_test(answers_do_not_depend_on_the_locale), cmocka_unit_test(roots) };
TAP_MAIN(tests)
