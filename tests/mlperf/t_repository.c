/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_repository.c - a submitter's whole folder: names, sizes and links as the repository checker wants them, the code of a
 * benchmark, and the configuration that logs name. */
#include "tests/mlperf/judged.h"
#include "tests/test_folder.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static void shell(const char *format, ...)
{
    char command[600];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

/* A log that names its configuration, of a round with the repository checker or without. */
static const char *write_org(const char *round, struct arena *a)
{
    const char *org = arena_printf(a, "%s/training_results_%s/Acme", top, round);
    const char *dir = arena_printf(a, "%s/results/box/resnet", org);
    assert_true(make_folders(dir, NULL));
    assert_true(make_folders(arena_printf(a, "%s/benchmarks/resnet/implementations/x", org), NULL));
    FILE *f = fopen(arena_printf(a, "%s/result_0.txt", dir), "w");
    mllog_write(f, &(struct mllog_entry){ "", "config_filename", MLLOG_POINT, 1, "\"conf/seven.sh\"", "t.py", 3, NULL });
    fclose(f);
    return org;
}

static char *lint_org(const char *path, bool *passed)
{
    struct err err;
    char *text = lint_text(path, NULL, FORMAT_TEXT, passed, &err);
    assert_string_equal(err.msg, "");
    return text;
}

/* The most that is taken is 50 MiB, 52428800 bytes. The link to seven.sh leads somewhere, but not from where the checker is started. */
static const struct { const char *command, *round, *want; bool said; } cases[] = {
    { "true", "v2.0", "repository:", false },
    { "touch '%s/benchmarks/resnet/a b.py' '%s/benchmarks/resnet/.env'", "v2.0", "Acme: error: repository: 2 files or folders begin with a dot or have a space in their "
      "name; the first is ", true },
    { "mkdir '%s/benchmarks/resnet/.git'", "v2.0", "Acme/benchmarks/resnet/.git\n", true },
    { "touch '%s/benchmarks/resnet/a b.py'", "v1.1", "repository:", false },          /* there was no such checker yet */
    { "truncate -s 52428801 '%s/benchmarks/resnet/weights'", "v2.0", "Acme: error: repository: 1 files are larger than 50 MiB", true },
    { "truncate -s 52428800 '%s/benchmarks/resnet/weights'", "v2.0", "repository:", false },
    { "ln -s nowhere '%s/benchmarks/resnet/link'", "v2.0", "Acme: error: repository: 1 symbolic links lead nowhere; the first is ", true },
    { "touch '%s/benchmarks/resnet/seven.sh'; ln -s seven.sh '%s/benchmarks/resnet/link'", "v2.0",
      "Acme: warning: repository: 1 relative symbolic links are broken to the repository checker", true },
    { "ln -s '%s/benchmarks' '%s/benchmarks/resnet/link'", "v2.0", "repository:", false },      /* a link to a folder is not looked at */
    { "true", "v2.0", "review: the logs name config_filename 'conf/seven.sh', which is not in benchmarks/resnet", true },
    { "touch '%s/benchmarks/resnet/implementations/x/seven.sh'", "v2.0", "config_filename", false },
    { "mv '%s/benchmarks/resnet' '%s/benchmarks/bert'", "v2.0", "review: the submitter's benchmarks has no folder resnet with its code", true },
};

static void test_findings(void **state)
{
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *org = write_org(cases[i].round, &a);
        bool passed;
        shell(cases[i].command, org, org);
        char *text = lint_org(org, &passed);
        if ((strstr(text, cases[i].want) != NULL) != cases[i].said)
            print_error("%s: '%s' in\n%s", cases[i].command, cases[i].want, text);
        assert_true((strstr(text, cases[i].want) != NULL) == cases[i].said);
        assert_true(passed == !strstr(text, " error: "));
        free(text);
        tear_down(state);
    }
    arena_free(&a);
}

/* A part of the submitter's folder is judged without the rest; the whole is looked at once for all its benchmarks. */
static void test_whole_and_part(void **state)
{
    struct arena a = { 0 };
    const char *org = write_org("v2.0", &a);
    bool passed;
    (void)state;
    shell("cp -r '%s/results/box/resnet' '%s/results/box/bert'; touch '%s/results/.hidden'", org, org, org);
    char *whole = lint_org(org, &passed), *part = lint_org(arena_printf(&a, "%s/results/box", org), &passed), *first = strstr(whole, "error: repository:");
    assert_non_null(first);
    assert_null(strstr(first + 1, "error: repository:"));
    assert_null(strstr(part, "error: repository:"));
    free(whole), free(part);
    arena_free(&a);
}

/* A submission at its place, one at the root of all folders, and logs alone. */
static void test_places(void **state)
{
    static const struct { const char *dir, *results, *description; } places[] = {
        { "/a/org/results/sys/resnet", "/a/org/results", "/a/org/results/../systems/sys.json" }, { "/results/sys/resnet", "/results", "/results/../systems/sys.json" },
        { "/a/sys/resnet", NULL, "/a/sys/sys.json" }, { "/resnet", NULL, "/sys.json" }, { "/a/logs", NULL, "/a/logs/sys.json" }, { "resnet", NULL, "resnet/sys.json" },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct folder f = { .dir = places[i].dir, .system = "sys", .metric = "", .benchmark = "resnet" };
        const char *results = folder_results_path(&f, &a);
        assert_true(places[i].results ? results && text_is(results, places[i].results) : !results);
        assert_string_equal(folder_description_path(&f, &a), places[i].description);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places), cmocka_unit_test_setup_teardown(test_findings, set_up, tear_down), cmocka_unit_test_setup_teardown(test_whole_and_part, set_up, tear_down),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
