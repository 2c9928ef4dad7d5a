/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_novelty.c - how new a row was, by what earlier versions had seen; and what was taken from rows, counted. */
#include "tests/check.h"
#include "results/study/inputs.h"
#include "results/study/novelty.h"

static struct figure figure_of(const char *id, const char *recipe, double value)
{
    return (struct figure){ .id = id, .recipe = recipe, .configuration = recipe, .metric = "throughput_samples_per_s", .unit = "samples/s", .value = value,
                            .path = "t.csv", .line = 3 };
}

/* Rows of one version do not know each other, and what a row was predicted then has no part in it. */
static void a_row_is_as_new_as_what_came_before(void **state)
{
    static const char lines[] = "a,first,0,v1,60,,,,\nb,first,0,v2,150,,,,\nc,first,0,v2,90,,,,\nd,first,0,v2,100,,,,\ne,first,0,v2,25,,,,\ne,again,0,v9,110,,,,\nf,first,0,v2,100,,,,\n"
                                "g,first,0,v3,130,,,,\n";
    struct figure items[] = { figure_of("a", "vendor-ipu-pod16-resnet50-tf1", 100), figure_of("b", "vendor-ipu-pod4-resnet50-tf1", 100),
                              figure_of("c", "vendor-bow-pod16-resnet50-tf1", 100), figure_of("d", "vendor-ipu-pod16-efficientnet-b4-g16-tf1", 100),
                              figure_of("e", "vendor-ipu-pod16-bert-large-ph1-popart", 100), figure_of("f", "vendor-bow-pod16-bert-large-ph1-popart", 100),
                              figure_of("g", "vendor-ipu-pod64-bert-large-ph1-popart", 100), figure_of("unseen", "vendor-bow-pod64-resnet50-tf1", 100) };
    static const enum novelty want[] = { NOVELTY_ALL, NOVELTY_KNOWN, NOVELTY_FAMILY_KNOWN, NOVELTY_NEW_FAMILY, NOVELTY_NEW_AROUND, NOVELTY_NEW_AROUND, NOVELTY_KNOWN };
    const struct model_paths paths = { .specs_dir = "system-model/specs", .recipes_dir = "workloads/recipes", .data_dir = "workloads/convergence" };
    const struct figures figures = { .items = items, .n = 8, .cap = 8 };
    struct arena a = { 0 };
    struct err err = { "" };
    struct simulator s;
    struct first_sight seen;
    struct first_seen_rows rows;
    const char *text = arena_printf(&a, "%s%s", first_sight_header, lines);
    (void)state;
    simulator_open(&s, &paths);
    assert_true(first_sight_load(&seen, temp_file(text, strlen(text), ".csv"), &a, &err));
    assert_true(first_seen_build(&rows, &figures, &seen, &s, &a, &err));
    assert_int_equal(rows.n, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(novelty_names[rows.items[i].novelty], novelty_names[want[i]]);
    assert_near(rows.items[0].error_then, 0.4, 1e-12);
    assert_near(rows.items[4].error_then, 0.75, 1e-12);
    assert_near(rows.items[4].error_again, 0.1, 1e-12);
    assert_near(rows.items[1].error_again, 0.5, 1e-12);
    struct first_seen_group groups[N_NOVELTIES + 1];
    assert_int_equal(first_seen_groups(groups, &rows, &a), 6);
    assert_string_equal(groups[1].kind, "program and machine known");
    assert_int_equal(groups[1].n, 2);
    assert_near(groups[1].then_mean, 0.4, 1e-12);           /* 0.5 and 0.3 */
    assert_near(groups[1].then_max, 0.5, 1e-12);
    assert_near(groups[4].again_median, 0.05, 1e-12);       /* 0.1 and 0 */
    assert_string_equal(groups[5].kind, "all");
    assert_int_equal(groups[5].n, 7);
    simulator_close(&s);
    arena_free(&a);
}

static void what_was_taken_is_counted(void **state)
{
    static const char sheet[] = "key,value,unit,source,note\nx,1,s,\"fitted by podbench calibrate to 3 rows\",\nclock_hz,2,Hz,a data sheet,\nz,3,s,assumed: it has to be something,\n"
                                "w,4,s,\"from published runs: median of five logs\",\n";
    static const char decisions[] = "kind,name,file,rows,tried,what\ndecision,one,a.c,r,3,why\ndecision,two,a.c,,2,why\ncode,three,b.c,,1,why\n";
    struct arena a = { 0 };
    struct err err = { "" };
    struct shaped n;
    char folder[] = "/tmp/podbench-shaped-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(system(arena_printf(&a, "mkdir %s/sdk %s/frameworks", folder, folder)), 0);
    for (int i = 0; i < 2; i++) {           /* a value of the same source on two sheets counts once */
        FILE *f = fopen(arena_printf(&a, "%s/sdk/%d.csv", folder, i), "w");
        assert_non_null(f);
        fputs(sheet, f);
        fclose(f);
    }
    assert_true(shaped_count(&n, folder, temp_file(decisions, strlen(decisions), ".csv"), &a, &err));
    assert_int_equal(n.n_fitted, 1);
    assert_int_equal(n.n_from_runs, 1);
    assert_int_equal(n.n_assumed_on_sheets, 1);
    assert_int_equal(n.n_decisions, 2);
    assert_int_equal(n.n_tried, 5);
    assert_int_equal(n.n_in_code, 1);
    assert_true(n.n_assumed_in_code > 10);
    static const char wrong[] = "kind,name,file,rows,tried,what\nchoice,one,a.c,r,3,why\n";
    assert_false(shaped_count(&n, folder, temp_file(wrong, strlen(wrong), ".csv"), &a, &err));
    assert_non_null(strstr(err.msg, ":2: kind: 'choice' is not one of: decision, code"));
    assert_int_equal(system(arena_printf(&a, "rm -r %s", folder)), 0);
    arena_free(&a);
}

/* Every line of the table names a file that is there. */
static void decisions_name_files(void **state)
{
    struct arena a = { 0 };
    struct err err = { "" };
    struct csv_table t;
    (void)state;
    assert_true(csv_load(&t, "results/published/ledger/decisions.csv", &a, &err));
    assert_true(t.n_rows > 10);
    for (size_t i = 0; i < t.n_rows; i++)
        if (access(csv_cell(&t, &t.rows[i], "file"), R_OK) != 0)
            (print_error("%s: %s is not there\n", csv_cell(&t, &t.rows[i], "name"), csv_cell(&t, &t.rows[i], "file")), _fail(__FILE__, __LINE__));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_row_is_as_new_as_what_came_before), cmocka_unit_test(what_was_taken_is_counted), cmocka_unit_test(decisions_name_files) };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("novelty", tests, NULL, NULL);
}
