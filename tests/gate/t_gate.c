/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_gate.c - the gates on tables small enough for paper. */
#include "tests/check.h"
#include "results/gate/gate.h"
#include <stdlib.h>
#include <string.h>

static const char rows_header[] = "id,throughput_samples_per_s,time_to_train_s,fits,memory_peak_bytes_per_tile,breakdown_conv_s,breakdown_host_s\n";
static const char check_header[] = "id,recipe,metric,role,workload,system,published,simulated,error,predicted_error\n";

static void load(struct csv_table *t, const char *header, const char *body, struct arena *a)
{
    char path[] = "/tmp/podbench-gate-XXXXXX";
    struct err err;
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "%s%s", header, body);
    fclose(f);
    assert_true(csv_load(t, path, a, &err));
    remove(path);
}

struct pair { struct arena a; struct gate_tables base, run; struct gate g; struct err err; };

static void build(struct pair *p, const char *rows, const char *check, const char *new_rows, const char *new_check)
{
    load(&p->base.rows, rows_header, rows, &p->a);
    load(&p->base.check, check_header, check, &p->a);
    load(&p->run.rows, rows_header, new_rows, &p->a);
    load(&p->run.check, check_header, new_check, &p->a);
    assert_true(gate_build(&p->g, &p->base, &p->run, 0.01, &p->a, &p->err));
}

static const char rows[] = "p,100,60,yes,1000,0.6,0.4\nq,200,60,yes,1000,0.3,0.2\nr,50,,yes,1000,1,1\ns,10,,yes,1000,5,5\n";
static const char check[] = "p.t,p,throughput,validate,bert,pod,100,101,0.01,\nq.t,q,throughput,validate,bert,pod,200,190,-0.05,\n"
                            "k,kernel:conv,tflop_per_s,calibrate,kernel conv,bow,10,11,0.1,\n";

static void equal_runs_pass(void **state)
{
    struct pair p = {0};
    struct judgements j;
    (void)state;
    build(&p, rows, check, rows, check);
    assert_false(gate_moved(&p.g));
    assert_true(gate_accuracy_holds(&p.g));
    gate_judgements(&j, &p.g, &p.a);
    assert_true(judgements_pass(&j));
    assert_int_equal(p.g.n_rows, 4 + 3);
    arena_free(&p.a);
}

/* Each of the four tables is looked at. */
static void tables_without_ids_are_refused(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        struct pair p = {0};
        struct csv_table *tables[] = { &p.base.rows, &p.base.check, &p.run.rows, &p.run.check };
        for (int i = 0; i < 4; i++)
            load(tables[i], i == wrong ? "name,id\n" : i % 2 ? check_header : rows_header, "", &p.a);
        assert_false(gate_build(&p.g, &p.base, &p.run, 0.01, &p.a, &p.err));
        assert_string_equal(p.err.msg, arena_printf(&p.a, "%s:1: the first column is 'name', want 'id'", tables[wrong]->path));
        arena_free(&p.a);
    }
}

/* Twelve groups and eight accuracies are shown, six files; of more, how many. A group that stayed as it was is none. */
static void long_lists_are_cut(void **state)
{
    struct gate_move move = { .id = "r", .what = "moved" };
    struct gate_group groups[13];
    struct accuracy_group accuracy[11];
    const char *inputs[] = { "a", "b", "c", "d", "e", "f", "g" };
    (void)state;
    for (size_t i = 0; i < 13; i++)
        groups[i] = (struct gate_group){ .cause = "c", .n = 1, .low = 0.1, .high = 0.1, .largest = &move };
    for (size_t i = 0; i < 11; i++)
        accuracy[i] = (struct accuracy_group){ .name = "g", .n = 1, .before = 0.1, .after = i < 2 ? 0.1 : 0.05, .growth = i == 1 ? 0.005 : 0, .holds = true };
    for (size_t more = 0; more < 2; more++) {
        struct gate g = { .groups = groups, .n_groups = 12 + more, .n_moves = 13, .accuracy = accuracy, .n_accuracy = 9 + more, .inputs = inputs,
                          .n_inputs = 6 + more, .inputs_known = true, .margin = 0.01 };
        char *text;
        size_t n_lines = 0;
        PRINTED(text, gate_print(f, &g));
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            n_lines++;
        assert_int_equal(n_lines, 1 + 1 + 1 + 12 + more + 1 + 8 + more + 1);
        assert_int_equal(strstr(text, "  inputs that differ: a, b, c, d, e, f, and 1 more\n") != NULL, more);
        assert_int_equal(strstr(text, "  and 1 more: --all lists every cell\n") != NULL, more);
        assert_int_equal(strstr(text, "  and 1 more groups that moved less\n") != NULL, more);
        assert_non_null(strstr(text, "grew by 0.50 points"));
        free(text);
    }
    /* Nothing moved, and nothing that was read differs: no word of the program. */
    struct gate still = { .inputs_known = true, .n_rows = 3 };
    char *text;
    PRINTED(text, gate_print(f, &still));
    assert_string_equal(strtok(text, "\n"), "change: none, the same: 3 rows");
    assert_true(strncmp(strtok(NULL, "\n"), "accuracy", 8) == 0);
    free(text);
}

/* p: 100 -> 90, host 0.4 -> 0.5; q: 200 -> 196, host +0.01; r does not fit any more; s: memory alone; k: 11 -> 10.5, error 10 -> 5 %. */
static void moves_are_grouped_by_what_moved_most(void **state)
{
    struct pair p = {0};
    char *text;
    (void)state;
    build(&p, rows, check, "p,90,66,yes,1000,0.61,0.5\nq,196,61,yes,1000,0.3,0.21\nr,50,,no,1000,1,1\ns,10,,yes,990,5,5\n",
          "p.t,p,throughput,validate,bert,pod,100,91,-0.09,\nq.t,q,throughput,validate,bert,pod,200,200,0,\n"
          "k,kernel:conv,tflop_per_s,calibrate,kernel conv,bow,10,10.5,0.05,\n");
    assert_int_equal(p.g.n_moves, 5);
    assert_int_equal(p.g.n_groups, 4);
    assert_string_equal(p.g.groups[0].cause, "host");
    assert_int_equal(p.g.groups[0].n, 2);
    assert_int_equal(p.g.groups[0].n_worse, 2);
    assert_near(p.g.groups[0].low, -0.1, 1e-12);
    assert_near(p.g.groups[0].high, -0.02, 1e-12);
    assert_string_equal(p.g.groups[0].largest->what, "100 -> 90 samples/s");
    /* errors 1 and 5 % become 9 and 0 %: the mean falls from 3 to 4.5, and what grew is (8 + 0) / 2 = 4 points */
    assert_false(gate_accuracy_holds(&p.g));
    assert_int_equal(p.g.n_accuracy, 1);
    assert_near(p.g.accuracy[0].growth, 0.04, 1e-12);
    assert_string_equal(p.g.accuracy[0].worst, "p.t");
    PRINTED(text, gate_print(f, &p.g));
    assert_non_null(strstr(text, "change: 5 predictions moved (2 better, 3 worse)\n"));
    assert_non_null(strstr(text, "  host                         2  -10 to -2 %            p: 100 -> 90 samples/s\n"));
    assert_non_null(strstr(text, "bert throughput                                         2 rows    3.00 -> 4.50 %, grew by 4.00 points, most: p.t  TOO MUCH\n"));
    free(text);
    arena_free(&p.a);
}

/* An error as large on the other side is neither better nor worse. */
static void as_far_off_on_the_other_side(void **state)
{
    struct pair p = {0};
    char *text;
    (void)state;
    build(&p, "", "k,kernel:conv,tflop_per_s,calibrate,kernel conv,bow,10,11,0.1,\nl,kernel:conv,tflop_per_s,calibrate,kernel conv,bow,10,12,0.2,\n", "",
          "k,kernel:conv,tflop_per_s,calibrate,kernel conv,bow,10,9,-0.1,\nl,kernel:conv,tflop_per_s,calibrate,kernel conv,bow,10,7,-0.3,\n");
    assert_int_equal(p.g.n_moves, 2);
    assert_true(p.g.groups[0].n == 2 && p.g.groups[0].n_better == 0 && p.g.groups[0].n_worse == 1);
    assert_true(p.g.n_better == 0 && p.g.n_worse == 1);
    PRINTED(text, gate_print(f, &p.g));
    assert_non_null(strstr(text, "change: 2 predictions moved (0 better, 1 worse)\n"));
    free(text);
    arena_free(&p.a);
}

/* What was nothing has grown by no share of itself; and where no file that was read differs, the program does. */
static void what_was_nothing(void **state)
{
    struct pair p = {0};
    char *text;
    (void)state;
    build(&p, "p,0,60,yes,1000,0.6,0.4\n", "k,kernel:conv,tflop_per_s,calibrate,kernel conv,bow,10,0,-1,\n",
          "p,5,60,yes,1000,0.6,0.4\n", "k,kernel:conv,tflop_per_s,calibrate,kernel conv,bow,10,7,-0.3,\n");
    assert_int_equal(p.g.n_moves, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(p.g.moves[i].what, text_is(p.g.moves[i].id, "p") ? "0 -> 5 samples/s" : "0 -> 7 tflop_per_s");
        assert_near(p.g.moves[i].relative, 0, 0);
        assert_int_equal(p.g.moves[i].verdict, 1);
    }
    PRINTED(text, gate_print(f, &p.g));
    assert_null(strstr(text, "inputs that differ"));
    free(text);
    p.g.inputs_known = true;
    PRINTED(text, gate_print(f, &p.g));
    assert_non_null(strstr(text, "  inputs that differ: none; the program itself differs\n"));
    free(text);
    arena_free(&p.a);
}

/* p's error falls from 9 to 1 % while q's grows from 1 to 5 %: the mean is better, the gate fails all the same. */
static void one_mended_error_does_not_hide_another(void **state)
{
    struct pair p = {0};
    (void)state;
    build(&p, rows, "p.t,p,throughput,validate,bert,pod,100,91,-0.09,\nq.t,q,throughput,validate,bert,pod,200,202,0.01,\n",
          rows, "p.t,p,throughput,validate,bert,pod,100,101,0.01,\nq.t,q,throughput,validate,bert,pod,200,190,-0.05,\n");
    assert_true(p.g.accuracy[0].after < p.g.accuracy[0].before);
    assert_false(gate_accuracy_holds(&p.g));
    arena_free(&p.a);
}

static void rows_that_come_and_go_are_a_change(void **state)
{
    struct pair p = {0};
    (void)state;
    build(&p, rows, check, "p,100,60,yes,1000,0.6,0.4\nz,1,,yes,1,1,1\n", check);
    assert_int_equal(p.g.n_moves, 0);
    assert_int_equal(p.g.n_new, 1);
    assert_int_equal(p.g.n_gone, 3);
    assert_true(gate_moved(&p.g));
    arena_free(&p.a);
}

static const char *manifest(const char *text, const char *suffix, struct arena *a)
{
    return arena_strdup(a, temp_file(text, strlen(text), suffix));
}

/* One file changed, one new, one gone, one the same; without one of the manifests nothing is known. */
static void inputs_that_changed_are_named(void **state)
{
    struct arena a = {0};
    struct err err = { "" };
    struct gate g = {0};
    (void)state;
    const char *before = manifest("{\"inputs\": {\"changed\": \"1\", \"same\": \"2\", \"gone\": \"3\"}}", ".before", &a);
    const char *after = manifest("{\"inputs\": {\"changed\": \"9\", \"same\": \"2\", \"new\": \"4\"}}", ".after", &a);
    assert_true(gate_inputs(&g, before, after, &a, &err));
    assert_true(g.inputs_known);
    assert_int_equal(g.n_inputs, 3);
    assert_string_equal(g.inputs[0], "changed");
    assert_string_equal(g.inputs[1], "new");
    assert_string_equal(g.inputs[2], "gone");
    g = (struct gate){0};
    assert_true(gate_inputs(&g, "/nowhere/at/all", after, &a, &err));
    assert_false(g.inputs_known);
    assert_int_equal(g.n_inputs, 0);
    assert_false(gate_moved(&g));
    assert_true(gate_moved(&(struct gate){ .n_new = 1 }) && gate_moved(&(struct gate){ .n_gone = 1 }) && gate_moved(&(struct gate){ .n_moves = 1 }));
    unlink(before);
    unlink(after);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_runs_pass), cmocka_unit_test(long_lists_are_cut), cmocka_unit_test(tables_without_ids_are_refused), cmocka_unit_test(inputs_that_changed_are_named), cmocka_unit_test(moves_are_grouped_by_what_moved_most),
    cmocka_unit_test(one_mended_error_does_not_hide_another), cmocka_unit_test(what_was_nothing), cmocka_unit_test(as_far_off_on_the_other_side), cmocka_unit_test(rows_that_come_and_go_are_a_change),
};
TAP_MAIN(tests)
