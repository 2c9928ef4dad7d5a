/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_framework.c - a framework's sheet: which one a name and a release find, what it must hold, how it refuses.
 */
#include "tests/golden_text.h"
#include "system-model/machine/framework.h"
#include "system-model/machine/framework.h"
#include "system-model/machine/framework.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char specs[] = "system-model/specs";

static void write_sheet(const char *path, const char *rows)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "key,value,unit,source,note\n%s", rows);
    fclose(f);
}

/* Names begin alike: the longest that fits wins, and the newest release up to the one asked for. */
static void a_name_and_a_release_find_a_sheet(void **state)
{
    (void)state;
    static const struct { const char *framework, *sdk, *sheet; } cases[] = {
        { "PopART", "2.5.1", "popart-2.1.0" }, { "PyTorch", "3.1.0", "pytorch-2.1.0" }, { "PyTorch/optimum-graphcore", NULL, "pytorch-2.1.0" },
        { "TensorFlow 1.15", "2.10", "tensorflow-1-2.1.0" }, { "TensorFlow 2.6.3", "3.1.0", "tensorflow-2-2.1.0" },
        { "PaddlePaddle develop b2d8f6d", "2.5.1", "paddlepaddle-2.1.0" }, { NULL, NULL, "default" },
    };
    struct arena a = {0};
    struct framework f;
    struct err err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(framework_load(&f, cases[i].framework, cases[i].sdk, specs, NULL, &a, &err));
        assert_string_equal(f.name, cases[i].sheet);
    }
    assert_false(framework_load(&f, "PopARTist", "2.5.1", specs, NULL, &a, &err));
    assert_non_null(strstr(err.msg, "recipe.framework: 'PopARTist' has no sheet NAME-RELEASE.csv in system-model/specs/frameworks; known: "));
    assert_non_null(strstr(err.msg, "popart, poprt, pytorch, tensorflow-1, tensorflow-2"));
    assert_false(framework_load(&f, "PopART", "1.4", specs, NULL, &a, &err));
    assert_string_equal(err.msg, "recipe.sdk: 1.4 is older than the oldest sheet of PopART, release 2.1.0; write a sheet in "
                                 "system-model/specs/frameworks, or name a newer release");
    arena_free(&a);
}

/* The sheets of this folder all load, each as its own framework. */
static void every_sheet_is_found_by_its_name(void **state)
{
    (void)state;
    struct arena a = {0};
    struct framework f;
    struct err err;
    char **files;
    size_t n;
    assert_true(list_folder(&files, &n, "system-model/specs/frameworks", ".csv", &a, &err));
    for (size_t i = 0; i < n; i++) {
        const char *dash = strrchr(files[i], '-'), *name = dash ? arena_printf(&a, "%.*s", (int)(dash - files[i]), files[i]) : NULL;
        if (!framework_load(&f, name, dash ? dash + 1 : NULL, specs, NULL, &a, &err)) {
            print_error("%s\n", err.msg);
            _fail(__FILE__, __LINE__);
        }
        assert_string_equal(f.name, files[i]);
    }
    arena_free(&a);
}

/* Values come from the engine's sheet unless the framework's own sheet replaces them. */
static void an_engine_holds_the_rest(void **state)
{
    (void)state;
    struct arena a = {0};
    struct framework torch, popart;
    struct err err;
    assert_true(framework_load(&torch, "PyTorch", NULL, specs, NULL, &a, &err) && framework_load(&popart, "PopART", NULL, specs, NULL, &a, &err));
    assert_int_equal(torch.program.sharded_elements, popart.program.sharded_elements);
    assert_int_equal(torch.program.sharded_elements, 8192);
    assert_true(popart.program.phases && !torch.program.phases);
    assert_true(torch.program.host_data == HOST_DATA_AHEAD && popart.program.host_data == HOST_DATA_IN_CALL);
    assert_true(framework_can(&popart, "popart") && !framework_can(&popart, "grouped") && !framework_can(&popart, "pop"));
    arena_free(&a);
}

/* The folder of sheets in one that is made by its template. */
static const char *make_sheets(char *folder, struct arena *a)
{
    assert_non_null(mkdtemp(folder));
    const char *sheets = arena_printf(a, "%s/frameworks", folder);
    assert_int_equal(mkdir(sheets, 0700), 0);
    return sheets;
}

/* 2.10 is newer than 2.9, and 3 than both; every key must be on a sheet; an engine's engine cannot have an engine. */
static void own_sheets(void **state)
{
    (void)state;
    char folder[] = "/tmp/podbench-frameworks-XXXXXX";
    struct arena a = {0};
    struct framework f;
    struct err err;
    const char *sheets = make_sheets(folder, &a);
    const char *nine = arena_printf(&a, "%s/toy-2.9.csv", sheets), *ten = arena_printf(&a, "%s/toy-2.10.csv", sheets);
    write_sheet(nine, "upload_s,0.004,s,a test,\n");
    write_sheet(ten, "engine,toy-2.9,name,a test,\n");
    assert_false(framework_load(&f, "Toy", "2.9.9", folder, NULL, &a, &err));
    assert_non_null(strstr(err.msg, "toy-2.9.csv: schedules is missing: pipeline schedules that it can run"));
    assert_false(framework_load(&f, "Toy", "3", folder, NULL, &a, &err));
    assert_string_equal(f.name, "toy-2.10");
    write_sheet(nine, "engine,toy-2.10,name,a test,\n");
    assert_false(framework_load(&f, "Toy", "3", folder, NULL, &a, &err));
    assert_non_null(strstr(err.msg, "toy-2.10.csv:2: engine: this sheet is already the engine of an engine"));
    write_sheet(nine, "upload_s,4,ms,a test,\n");
    assert_false(framework_load(&f, "Toy", "2.9", folder, NULL, &a, &err));
    assert_non_null(strstr(err.msg, "toy-2.9.csv:2: upload_s is in 'ms', want 's'"));
    write_sheet(nine, "uplaod_s,4,s,a test,\n");
    assert_false(framework_load(&f, "Toy", "2.9", folder, NULL, &a, &err));
    assert_non_null(strstr(err.msg, "toy-2.9.csv:2: uplaod_s: unknown key; known: engine, schedules, "));
    unlink(nine);
    unlink(ten);
    rmdir(sheets);
    rmdir(folder);
    arena_free(&a);
}

/* Each name is listed once, the first and the last too; a file without a release is not listed. */
static void frameworks_by_name(void **state)
{
    static const char *const names[] = { "alpha-1", "middle-2", "middle-2.1", "middle-2.1.0", "plain", "worded-v2", "zeta-1" };
    (void)state;
    char folder[] = "/tmp/podbench-frameworks-XXXXXX";
    struct arena a = {0};
    struct framework f;
    struct err err;
    const char *sheets = make_sheets(folder, &a);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        write_sheet(arena_printf(&a, "%s/%s.csv", sheets, names[i]), "");
    assert_false(framework_load(&f, "Toy", NULL, folder, NULL, &a, &err));
    assert_non_null(strstr(err.msg, "; known: alpha, middle, zeta"));
    assert_false(framework_load(&f, "Middle", "2.1", folder, NULL, &a, &err));
    assert_string_equal(f.name, "middle-2.1");                                      /* the first of two names of one release */
    assert_false(framework_load(&f, "P", NULL, folder, NULL, &a, &err));            /* as plain begins */
    assert_non_null(strstr(err.msg, "recipe.framework: 'P' has no sheet NAME-RELEASE.csv in "));
    assert_false(framework_load(&f, "Worded", NULL, folder, NULL, &a, &err));
    assert_non_null(strstr(err.msg, "recipe.framework: 'Worded' has no sheet NAME-RELEASE.csv in "));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(arena_printf(&a, "%s/%s.csv", sheets, names[i]));
    rmdir(sheets);
    rmdir(folder);
    arena_free(&a);
}

/* The largest value of each key is accepted; ten times as much, or less than the smallest, is refused. */
static void limits_of_numbers(void **state)
{
    static const struct { const char *key, *least, *below, *most, *above, *range; } rows[] = {
        { "accumulation_multiple", "0", "-1", "64", "65", "0 to 64" }, { "merge_buffer_bytes", "0", "-1", "1e15", "1.01e15", "0 to 1e+15" },
        { "merge_norm_bytes", "0", "-1", "1e15", "1.01e15", "0 to 1e+15" },
        { "sharded_elements", "0", "-1", "1000000000000", "1000000000001", "0 to 1000000000000" },
        { "offloaded_elements", "0", "-1", "1000000000000", "1000000000001", "0 to 1000000000000" }, { "moment_bytes", "1", "0.99", "8", "8.01", "1 to 8" },
        { "remote_alone_ipus", "0", "-1", "64", "65", "0 to 64" }, { "steps_per_call", "0", "-1", "1e9", "1.01e9", "0 to 1000000000" },
        { "session_calls", "0", "-1", "100", "101", "0 to 100" }, { "host_data_bytes_per_s", "1e3", "999", "1e15", "1.01e15", "1000 to 1e+15" },
        { "uploads_per_call", "0", "-1", "1000", "1000.1", "0 to 1000" }, { "upload_s", "0", "-1", "10", "10.01", "0 to 10" },
        { "fetch_threads", "0", "-1", "10000", "10001", "0 to 10000" }, { "prefetch_depth", "1", "0", "10000", "10001", "1 to 10000" },
        { "dispatch_s", "0", "-1", "10", "10.01", "0 to 10" }, { "stream_copy_s", "0", "-1", "1", "1.01", "0 to 1" },
        { "stream_buffer_bytes", "0", "-1", "1e15", "1.01e15", "0 to 1e+15" },
        { "callback_bytes_per_s", "1e3", "999", "1e15", "1.01e15", "1000 to 1e+15" }, { "result_bytes_per_s", "1e3", "999", "1e15", "1.01e15", "1000 to 1e+15" },
        { "conversion_s_per_byte", "0", "-1", "1", "1.01", "0 to 1" }, { "weight_reads", "0", "-1", "1000", "1000.1", "0 to 1000" },
        { "number_s", "0", "-1", "1", "1.01", "0 to 1" }, { "evaluation_loads", "0", "-1", "100", "101", "0 to 100" },
        { "engine_load_s", "0", "-1", "1e4", "1.01e4", "0 to 10000" }, { "engine_load_s_per_ipu", "0", "-1", "1e4", "1.01e4", "0 to 10000" },
        { "first_compile_s", "0", "-1", "1e5", "1.01e5", "0 to 100000" }, { "evaluation_fixed_s", "0", "-1", "1e4", "1.01e4", "0 to 10000" },
        { "checkpoint_s_per_parameter", "0", "-1", "1", "1.01", "0 to 1" },
        { "unexplained_parameters", "0", "-1", "1e15", "1.01e15", "0 to 1e+15" },
        { "launch_s", "0", "-1", "10", "10.01", "0 to 10" }, { "output_reductions", "0", "-1", "1000", "1001", "0 to 1000" },
    };
    struct arena a = {0};
    struct framework f;
    struct err err;
    size_t n_numbers = 0;
    (void)state;
    for (size_t i = 0; i < n_framework_fields; i++)
        n_numbers += framework_fields[i].type == FIELD_U64 || framework_fields[i].type == FIELD_F64;
    assert_int_equal(n_numbers, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const values[] = { rows[i].least, rows[i].most, rows[i].below, rows[i].above };
        for (size_t k = 0; k < 4; k++) {
            struct sheet_override one = { rows[i].key, values[k], false };
            const char *said = arena_printf(&a, "--set machine.%s=%s: ", one.key, one.value);
            bool good = framework_load(&f, "PopART", NULL, specs, &(struct sheet_overrides){ .items = &one, .n = 1 }, &a, &err);
            assert_int_equal(good, k < 2);
            if (!good && strstr(err.msg, "whole number"))
                assert_string_equal(err.msg, arena_printf(&a, "%s'-1' is not a whole number from 0 up", said));
            else if (!good) {
                const char *unit = field_find(framework_fields, n_framework_fields, one.key)->unit;
                assert_string_equal(err.msg, arena_printf(&a, "%s%s is outside %s%s%s", said, one.value, rows[i].range, text_is(unit, "1") ? "" : " ", text_is(unit, "1") ? "" : unit));
            }
        }
    }
    arena_free(&a);
}

/* Numbers with points between, and what a + or a - adds. */
static void names_of_releases(void **state)
{
    static const char *const good[] = { "2", "2.5.1", "2.10", "2.5.1+1001", "3.0-rc", "10", "2.5.1-" }, *const bad[] = { "", "2.", ".2", "2..1", "2.x", "v2", "2 ", "2.5.", "x", "+1", "-1",
        "2.5.1x", "2.+1", " 2", "PopART 2.5.0", "2.5.1-/../x" };
    static const struct { const char *a, *b; int order; } pairs[] = {
        { "2.9", "2.10", -1 }, { "2.10", "2.9", 1 }, { "3", "2.10", 1 }, { "2", "2.0.0", 0 }, { "2.1", "2", 1 }, { "2", "2.1", -1 }, { "2.5.1+7", "2.5.1", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(is_release(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(is_release(bad[i]));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_int_equal(compare_releases(pairs[i].a, pairs[i].b), pairs[i].order);
}

/* A release's sheet is read or refused; without one, the other releases are listed, and whether it is newer than all of them. */
static void releases_times(void **state)
{
    static const struct { const char *row, *message; } rows[] = {
        { "eval_switch_s,12.5,s,a test,", NULL }, { "eval_switch_s,0,s,a test,", NULL }, { "eval_switch_s,1e5,s,a test,", NULL },
        { "eval_switch_s,12.5,ms,a test,", "is in 'ms', want 's'" }, { "eval_switch_s,-1,s,a test,", "-1 is outside 0 to 100000" },
        { "eval_switch_s,100001,s,a test,", "100001 is outside 0 to 100000" }, { "eval_switch_s,soon,s,a test,", "'soon' is not a number" },
        { "eval_switches_s,1,s,a test,", "unknown key; known: checkpoint_start_s, eval_switch_s, evaluated_checkpoint_s_per_parameter" },
    };
    char folder[] = "/tmp/podbench-sdk-XXXXXX";
    struct arena a = {0};
    struct sdk sdk;
    struct err err;
    (void)state;
    assert_non_null(mkdtemp(folder));
    const char *sheets = arena_printf(&a, "%s/sdk", folder), *sheet = arena_printf(&a, "%s/2.9.csv", sheets);
    assert_int_equal(mkdir(sheets, 0700), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_sheet(sheet, arena_printf(&a, "checkpoint_start_s,3,s,a test,\n%s\n", rows[i].row));
        bool good = sdk_load(&sdk, "2.9", folder, NULL, &a, &err);
        assert_true(good == !rows[i].message);
        if (good)
            assert_true(sdk.sheet.n_rows == 2 && sdk.checkpoint_start_s == 3 && !sdk.others && !sdk.is_newest);
        else
            assert_true(strstr(err.msg, rows[i].message) && strstr(err.msg, "2.9.csv:3: eval_switch"));
    }
    write_sheet(sheet, "eval_switch_s,12.5,s,a test,\n");
    assert_true(sdk_load(&sdk, "2.9", folder, NULL, &a, &err) && sdk.eval_switch_s == 12.5);
    static const struct { const char *name; bool is_newest; } without[] = { { "2.8", false }, { "2.9.0", false }, { "2.9.1", true }, { "2.10", true }, { NULL, false } };
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        assert_true(sdk_load(&sdk, without[i].name, folder, NULL, &a, &err));
        assert_true(!sdk.sheet.path && sdk.is_newest == without[i].is_newest && sdk.eval_switch_s == 0);
        assert_string_equal(sdk.others, "2.9");
    }
    assert_true(sdk_load(&sdk, "2.9", "/tmp/podbench-no-such-folder", NULL, &a, &err) && !sdk.others);
    unlink(sheet);
    rmdir(sheets);
    rmdir(folder);
    arena_free(&a);
}

/* Releases are compared number by number; a missing number counts as 0, and other text ends the comparison. */
static void releases(void **state)
{
    static const char *const files[] = { "toy-2.9", "toy-2.10", "toy-2.10.1", "toy-3", "toy-bar-1.5", "to-9" };
    static const struct { const char *name, *sdk, *found; } cases[] = {
        { "Toy", "2.9", "toy-2.9" }, { "Toy", "2.9.0", "toy-2.9" }, { "Toy", "2.9.9", "toy-2.9" }, { "Toy", "2.10", "toy-2.10" }, { "Toy", "2.10.0", "toy-2.10" },
        { "Toy", "2.10.1", "toy-2.10.1" }, { "Toy", "2.10.10", "toy-2.10.1" }, { "Toy", "2.11", "toy-2.10.1" }, { "Toy", "3", "toy-3" }, { "Toy", "3.0.0", "toy-3" },
        { "Toy", "10", "toy-3" }, { "Toy", NULL, "toy-3" }, { "Toy", "2.10-rc1", "toy-2.10.1" }, { "toy bar 7", NULL, "toy-bar-1.5" }, { "TOY BARN", "3", "toy-3" },
        { "to", NULL, "to-9" }, { "Toy", "2.8", NULL }, { "Toy", "1", NULL },
    };
    struct arena a = {0};
    struct err err;
    char folder[] = "/tmp/podbench-releases-XXXXXX", *whole;
    (void)state;
    assert_non_null(mkdtemp(folder));
    const char *sheets = arena_printf(&a, "%s/frameworks", folder);
    assert_int_equal(mkdir(sheets, 0700), 0);
    assert_true(read_text_file(&whole, NULL, "system-model/specs/frameworks/popart-2.1.0.csv", 1 << 20, &a, &err));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *f = fopen(arena_printf(&a, "%s/%s.csv", sheets, files[i]), "w");
        fputs(whole, f);
        fclose(f);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct framework f;
        bool found = framework_load(&f, cases[i].name, cases[i].sdk, folder, NULL, &a, &err);
        if (found != (cases[i].found != NULL))
            print_error("%s %s: %s\n", cases[i].name, cases[i].sdk ? cases[i].sdk : "", err.msg);
        assert_true(found == (cases[i].found != NULL));
        if (found)
            assert_string_equal(f.name, cases[i].found);
        else
            assert_non_null(strstr(err.msg, "is older than the oldest sheet of Toy, release 2.9; write a sheet"));
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(arena_printf(&a, "%s/%s.csv", sheets, files[i]));
    rmdir(sheets);
    rmdir(folder);
    arena_free(&a);
}

/* A release without a sheet has no costs, names those that have one, and knows whether it is newer than each. */
static void software_without_a_sheet(void **state)
{
    static const struct { const char *name; bool is_newest; } cases[] = { { "2.4.0", false }, { "2.5.2", true }, { "2.10", true }, { "1", false }, { NULL, false } };
    struct arena a = {0};
    struct sdk s;
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(sdk_load(&s, cases[i].name, specs, NULL, &a, &err));
        assert_string_equal(s.others, "2.1.0, 2.3.0, 2.5.1");
        assert_true(s.is_newest == cases[i].is_newest);
        assert_true(s.sheet.n_rows == 0 && s.checkpoint_start_s == 0 && s.eval_switch_s == 0);
    }
    assert_true(sdk_load(&s, "2.5.1", specs, NULL, &a, &err));
    assert_true(!s.others && !s.is_newest && s.sheet.n_rows > 0 && s.checkpoint_start_s > 0);
    assert_true(sdk_load(&s, "2.5.1", "tests/none", NULL, &a, &err));
    assert_true(!s.others && !s.is_newest);
    arena_free(&a);
}

/* Every key with its unit and range. */
static void keys(void **state)
{
    struct arena a = {0};
    char *text;
    (void)state;
    PRINTED(text,
        for (size_t i = 0; i < n_framework_fields; i++) {
            const struct field *k = &framework_fields[i];
            fprintf(f, "%s (%s) %g..%g", k->name, k->unit, k->min, k->max);
            for (int c = 0; k->choices && k->choices[c]; c++)
                fprintf(f, " %s", k->choices[c]);
            fprintf(f, ": %s\n", k->help);
        });
    assert_golden(text, "tests/golden/framework_keys.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_name_and_a_release_find_a_sheet), cmocka_unit_test(every_sheet_is_found_by_its_name), cmocka_unit_test(an_engine_holds_the_rest), cmocka_unit_test(own_sheets), cmocka_unit_test(frameworks_by_name), cmocka_unit_test(limits_of_numbers), cmocka_unit_test(releases_times), cmocka_unit_test(names_of_releases), cmocka_unit_test(releases),
    cmocka_unit_test(software_without_a_sheet), cmocka_unit_test(keys),
};
TAP_MAIN(tests)
