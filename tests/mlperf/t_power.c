/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_power.c - power logs: the energy of a run by hand, where readings do not count, why there is none; and which runs the
 * package checker refuses for them. */
#include "tests/mlperf/judged.h"
#include "tests/test_folder.h"

static void put_line(FILE *f, int64_t ms, const char *key, const char *value, const char *metadata)
{
    mllog_write(f, &(struct mllog_entry){ "", key, MLLOG_POINT, ms, value, "t.py", 3, metadata });
}

/* Runs of 60, 72, 84, 96 and 108 s: the score counts those in the middle, 84 s on average. */
static const char *write_runs(const char *round, const char *benchmark, struct arena *a)
{
    const char *dir = arena_printf(a, "%s/%s/open/Acme/box/%s", top, round, benchmark);
    assert_true(make_folders(dir, NULL));
    for (int i = 0; i < 5; i++) {
        FILE *f = fopen(arena_printf(a, "%s/result_%d.txt", dir, i), "w");
        put_line(f, 1000, "submission_benchmark", arena_printf(a, "\"%s\"", benchmark), NULL);
        put_line(f, 1000, "submission_division", "\"open\"", NULL);
        put_line(f, 1000, "submission_org", "\"Acme\"", NULL);
        put_line(f, 1000, "submission_platform", "\"toy\"", NULL);
        put_line(f, 1000, "submission_status", "\"onprem\"", NULL);
        put_line(f, 1000, "cache_clear", "true", NULL);
        put_line(f, 1000, "init_start", NULL, NULL);
        put_line(f, 1000, "init_stop", NULL, NULL);
        put_line(f, 1000, "train_samples", "1300", NULL);
        put_line(f, 1000, "eval_samples", "7", NULL);
        put_line(f, 1000, "run_start", NULL, NULL);
        put_line(f, 2000, "block_start", NULL, "\"first_epoch_num\": 1, \"epoch_count\": 1");
        put_line(f, 2000, "epoch_start", NULL, "\"epoch_num\": 1");
        put_line(f, 3000, "epoch_stop", NULL, "\"epoch_num\": 1");
        put_line(f, 3000, "eval_start", NULL, "\"epoch_num\": 1");
        put_line(f, 3000, "eval_accuracy", "0.7", "\"epoch_num\": 1");
        put_line(f, 3000, "eval_stop", NULL, "\"epoch_num\": 1");
        put_line(f, 3000, "block_stop", NULL, "\"first_epoch_num\": 1");
        put_line(f, 61000 + 12000 * i, "run_stop", NULL, "\"status\": \"success\"");
        fclose(f);
    }
    return dir;
}

/* Words KEY@SECONDS or KEY@SECONDS=VALUE: one line each. */
static void write_power_log(const char *path, const char *words, struct arena *a)
{
    static const struct { const char *word, *key; } keys[] = {
        { "start", "power_measurement_start" }, { "stop", "power_measurement_stop" }, { "watts", "power_reading" }, { "eff", "conversion_eff" },
        { "est", "interconnect_power_est" },
    };
    FILE *f = fopen(path, "w");
    char *rest = arena_strdup(a, words), *word;
    assert_non_null(f);
    while ((word = strsep(&rest, " "))) {
        char *at = strchr(word, '@'), *value = strchr(word, '=');
        if (!at)
            continue;
        *at++ = 0;
        if (value)
            *value++ = 0;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (text_is(word, keys[i].word))
                put_line(f, (int64_t)(1000 * strtod(at, NULL)), keys[i].key, value, NULL);
    }
    fclose(f);
}

static void write_power_logs(const char *dir, const char *node, const char *sw, struct arena *a)
{
    for (int i = 0; i < 5; i++) {
        const char *power = arena_printf(a, "%s/power/result_%d", dir, i);
        assert_true(make_folders(power, NULL));
        write_power_log(arena_printf(a, "%s/node_0.txt", power), node, a);
        if (sw)
            write_power_log(arena_printf(a, "%s/sw_0.txt", power), sw, a);
    }
}

static const char *note_with(const struct folder *f, const char *text)
{
    for (size_t i = 0; i < f->n_notes; i++)
        if (strstr(f->notes[i].text, text))
            return f->notes[i].text;
    return NULL;
}

/* Three seconds of 700, 800 and 900 W are 800 W, at an efficiency of 1.1 and for 84 s 73,920 J. */
#define BASE "eff@0=1.1 start@0.5 watts@1.5=700 watts@2.5=800 watts@3.5=900 "
static const struct { const char *node, *sw; double joules; const char *note; } energies[] = {
    { BASE "stop@3.5", NULL, 73920, "power/result_1/node_0.txt: 3 readings, want at least 60 (3 such power logs in the runs that count)" },
    { BASE "stop@4.5", NULL, 55440, NULL },                                    /* 2400 J in four seconds */
    { BASE "stop@3.5 watts@63.5=5000", NULL, 73920, NULL },                    /* after the stop */
    { BASE "watts@0.2=5000 stop@3.5", NULL, 73920, NULL },                     /* before the start */
    { BASE, NULL, 73920, "power/result_1/node_0.txt: no power_measurement_stop: the last reading ends the measurement" },
    { BASE "stop@0.5", NULL, 73920, "power/result_1/node_0.txt:6: power_measurement_stop is not after the start: the last reading ends the measurement" },
    { "watts@2.5=800 stop@3.5 watts@3.5=900 watts@1.5=700 start@0.5 eff@9=1.1", NULL, 46200, NULL },        /* 900 W come after the stop of their time: 1500 J in 3 s */
    { "watts@2.5=800 watts@3.5=900 stop@3.5 watts@1.5=700 start@0.5 eff@9=1.1", NULL, 73920, NULL },        /* the order of times */
    { BASE "stop@3.5", "est@0=40", 73920 + 40 * 84, NULL },
    { BASE "stop@3.5", "eff@0=0.5 est@0=40", 73920 + 20 * 84, NULL },
    { BASE "stop@3.5", "est@0=40 eff@0=0.5", 73920 + 40 * 84, NULL },          /* efficiency after the estimate */
    { BASE "stop@3.5", "start@0 watts@1=30 watts@2=50 stop@2", 73920 + 40 * 84, NULL },       /* a switch that is measured */
    { "start@0.5 stop@3.5", NULL, NAN, "no energy: power/result_1/node_0.txt: no power_reading between start and stop" },
    { "watts@1.5=700 stop@3.5", NULL, NAN, "no energy: power/result_1/node_0.txt: no power_measurement_start" },
    { "start@0.5 watts@1.5=\"700\" stop@3.5", NULL, NAN, "no energy: power/result_1/node_0.txt:2: power_reading is not a number" },
    { BASE "stop@3.5", "eff@0=0.5", NAN, "no energy: power/result_1/sw_0.txt: no power_measurement_start" },
};

static void test_energies(void **state)
{
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof energies / sizeof *energies; i++) {
        const char *dir = write_runs("v2.0", "resnet", &a);
        write_power_logs(dir, energies[i].node, energies[i].sw, &a);
        struct judged_tree j = judge_tree(top, NULL, &a);
        double want = energies[i].joules, found = j.folder.energy_j;
        if (isnan(want) ? !isnan(found) : fabs(found - want) > 1e-6)
            print_error("case %zu: %.10g J, want %.10g\n", i, found, want);
        assert_true(isnan(want) ? isnan(found) : fabs(found - want) <= 1e-6);
        if (energies[i].note && !note_with(&j.folder, energies[i].note))
            print_error("case %zu: '%s', want '%s'\n", i, j.folder.n_notes ? j.folder.notes[j.folder.n_notes - 1].text : "", energies[i].note);
        assert_true(!energies[i].note || note_with(&j.folder, energies[i].note));
        tear_down(state);
    }
    arena_free(&a);
}

/* The factor that scales the score scales the energy, so that the power stays 880 W. */
static void test_scaled_energy(void **state)
{
    struct arena a = { 0 };
    struct score_row row;
    const char *dir = write_runs("v2.0", "resnet", &a);
    (void)state;
    write_power_logs(dir, BASE "stop@3.5", NULL, &a);
    FILE *f = fopen(arena_printf(&a, "%s/scaling.json", dir), "w");
    fputs("{\"scaling_factor\": 1.25}", f);
    fclose(f);
    struct judged_tree j = judge_tree(top, NULL, &a);
    score_row_fill(&row, &j.folder, &a);
    assert_near(row.score_minutes, 1.25 * 84 / 60, 1e-12);
    assert_near(row.energy_j, 1.25 * 73920, 1e-6);
    assert_near(row.power_w, 880, 1e-9);
    assert_non_null(strstr(row.shown_note, "energy 92400 J, mean power 880 W"));
    arena_free(&a);
}

/* Readings every two seconds, and fewer than sixty. */
static void test_how_often_readings_come(void **state)
{
    struct arena a = { 0 };
    const char *dir = write_runs("v2.0", "resnet", &a), *words = "start@0";
    (void)state;
    for (int i = 1; i <= 61; i++)
        words = arena_printf(&a, "%s watts@%d=7", words, 2 * i);
    write_power_logs(dir, arena_printf(&a, "%s stop@122", words), NULL, &a);
    struct judged_tree j = judge_tree(top, NULL, &a);
    assert_near(j.folder.energy_j, 7 * 84, 1e-9);
    assert_non_null(note_with(&j.folder, "power/result_1/node_0.txt: 61 readings in 122 s, 2 s between two of them, want one a second or more (3 such"));
    arena_free(&a);
}

/* The package checker of v5.0 and later refuses runs for their power logs; before it, power logs are not tested. */
static void test_refused_runs(void **state)
{
    static const struct { const char *command, *round, *want; } cases[] = {
        { "true", "v5.1", "0 of 5 logs refused, at most 1 may be" },
        { "rm -r '%s'/power/result_3", "v5.1", "; 1 for its power logs: power/result_3 is missing" },
        { "rm -r '%s'/power/result_[34]", "v5.1", "; 2 for their power logs: power/result_3 is missing" },
        { "mv '%s'/power/result_2/node_0.txt '%s'/power/result_2/node_5.txt", "v5.1",
          "; 1 for its power logs: power/result_2/node_5.txt is misnamed, want node_0.txt to node_0.txt" },
        { "cp '%s'/power/result_2/node_0.txt '%s'/power/result_2/node_1.txt", "v5.1",
          "; 1 for its power logs: power/result_2 has 2 nodes and 0 switches, most runs have 1 and 0" },
        { "cp '%s'/power/result_2/node_0.txt '%s'/power/result_2/sw_1.txt", "v5.1", "; 1 for its power logs: power/result_2/sw_1.txt is misnamed, want sw_0.txt to sw_0.txt" },
        { "rm -r '%s'/power/result_3", "v4.0", NULL },
    };
    struct arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *dir = write_runs(cases[i].round, text_is(cases[i].round, "v4.0") ? "resnet" : "retinanet", &a);
        char command[600];
        write_power_logs(dir, BASE "stop@3.5", NULL, &a);
        snprintf(command, sizeof command, cases[i].command, dir, dir);
        assert_int_equal(system(command), 0);
        struct judged_tree j = judge_tree(top, NULL, &a);
        const char *text = j.folder.parts[PACKAGE_COMPLIANCE].text;
        if (cases[i].want ? !strstr(text, cases[i].want) : strstr(text, "power") != NULL)
            print_error("%s: '%s', want '%s'\n", cases[i].command, text, cases[i].want ? cases[i].want : "nothing of power");
        assert_true(cases[i].want ? strstr(text, cases[i].want) != NULL : strstr(text, "power") == NULL);
        tear_down(state);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_energies, set_up, tear_down), cmocka_unit_test_setup_teardown(test_scaled_energy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_how_often_readings_come, set_up, tear_down), cmocka_unit_test_setup_teardown(test_refused_runs, set_up, tear_down),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
