/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_gate.c - the gates on tables small enough for paper. */
#include "tests/check.h"
#include "results/published/check.h"
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

static char *printed(const struct gate *g)
{
    struct arena a = {0};
    struct document d = { .arena = &a };
    char *text;
    gate_document(&d, g);
    PRINTED(text, document_write(f, FORMAT_TEXT, &d));
    arena_free(&a);
    return text;
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
    struct document d = { .arena = &p.a };
    (void)state;
    build(&p, rows, check, rows, check);
    assert_false(gate_moved(&p.g));
    assert_true(gate_accuracy_holds(&p.g));
    gate_document(&d, &p.g);
    assert_true(judgements_pass(&d.judged));
    assert_int_equal(p.g.n_rows, 4 + 3);
    arena_free(&p.a);
}

/* Each of the four tables is checked. */
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

/* At most twelve groups, eight accuracies and six files are shown, then how many more there are. A group that did
 * not change is not shown. */
static void long_lists_are_cut(void **state)
{
    struct gate_move move = { .id = "r", .what = "moved" };
    struct gate_group groups[13];
    struct gate_accuracy accuracy[11];
    const char *inputs[] = { "a", "b", "c", "d", "e", "f", "g" };
    (void)state;
    for (size_t i = 0; i < 13; i++)
        groups[i] = (struct gate_group){ .cause = "c", .n = 1, .low = 0.1, .high = 0.1, .largest = &move };
    for (size_t i = 0; i < 11; i++)
        accuracy[i] = (struct gate_accuracy){ .name = "g", .n = 1, .before = 0.1, .after = i < 2 ? 0.1 : 0.05, .growth = i == 1 ? 0.005 : 0, .holds = true };
    for (size_t more = 0; more < 2; more++) {
        struct gate g = { .groups = groups, .n_groups = 12 + more, .n_moves = 13, .accuracy = accuracy, .n_accuracy = 9 + more, .inputs = inputs,
                          .n_inputs = 6 + more, .inputs_known = true, .margin = 0.01 };
        char *text;
        size_t n_lines = 0;
        text = printed(&g);
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            n_lines++;
        assert_int_equal(n_lines, 1 + 1 + 1 + 12 + more + 1 + 1 + 8 + more + 1);
        assert_int_equal(strstr(text, "  inputs that differ: a, b, c, d, e, f, and 1 more\n") != NULL, more);
        assert_int_equal(strstr(text, "  and 1 more: --all lists every cell\n") != NULL, more);
        assert_int_equal(strstr(text, "  and 1 more groups that moved less\n") != NULL, more);
        assert_non_null(strstr(text, "   0.50  -\n"));
        free(text);
    }
    /* A group has no range if one of its rows no longer fits. */
    struct gate_group mixed = { .cause = "memory", .n = 2, .low = -0.5, .high = INFINITY, .largest = &move };
    struct gate one = { .groups = &mixed, .n_groups = 1, .n_moves = 2 };
    char *text_of_one = printed(&one);
    assert_non_null(strstr(text_of_one, "memory              2  -   "));
    free(text_of_one);
    /* Nothing moved: neither files nor the program are mentioned. */
    struct gate still = { .inputs_known = true, .n_rows = 3 };
    char *text;
    text = printed(&still);
    assert_string_equal(strtok(text, "\n"), "change: none, the same: 3 rows");
    assert_true(strncmp(strtok(NULL, "\n"), "accuracy", 8) == 0);
    free(text);
}

/* p: 100 -> 90, host 0.4 -> 0.5; q: 200 -> 196, host +0.01; r no longer fits; s: only its memory; k: 11 -> 10.5,
 * error 10 -> 5 %. */
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
    /* errors of 1 and 5 % become 9 and 0 %: the mean grows from 3 to 4.5 %, and the growth is (8 + 0) / 2 = 4 points */
    assert_false(gate_accuracy_holds(&p.g));
    assert_int_equal(p.g.n_accuracy, 1);
    assert_near(p.g.accuracy[0].growth, 0.04, 1e-12);
    assert_string_equal(p.g.accuracy[0].worst, "p.t");
    text = printed(&p.g);
    assert_non_null(strstr(text, "change: 5 predictions moved (2 better, 3 worse)\n"));
    assert_non_null(strstr(text, "  host                2  -10 to -2 %  p: 100 -> 90 samples/s\n"));
    assert_non_null(strstr(text, "  bert throughput               2      3.00     4.50            4.00  p.t      TOO MUCH\n"));
    free(text);
    arena_free(&p.a);
}

/* An error of the same size with the other sign is neither better nor worse. */
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
    text = printed(&p.g);
    assert_non_null(strstr(text, "change: 2 predictions moved (0 better, 1 worse)\n"));
    free(text);
    arena_free(&p.a);
}

/* A value that was 0 has no relative growth. If no input differs, the program does. */
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
    text = printed(&p.g);
    assert_null(strstr(text, "inputs that differ"));
    free(text);
    p.g.inputs_known = true;
    text = printed(&p.g);
    assert_non_null(strstr(text, "  inputs that differ: none; the program itself differs\n"));
    free(text);
    arena_free(&p.a);
}

/* p and q are one configuration: 2 and 4 % become 8 and 1 %, so 3 becomes 4.5 % and the growth is 3 points; r's 10 %
 * become 12 %. */
static void rows_of_a_configuration_share_its_weight(void **state)
{
    static const char header[] = "id,recipe,metric,role,workload,configuration,error,predicted_error\n";
    struct pair p = {0};
    (void)state;
    load(&p.base.rows, rows_header, "", &p.a);
    load(&p.run.rows, rows_header, "", &p.a);
    load(&p.base.check, header, "p,p,step,validate,bert,c,-0.02,\nr,r,step,validate,bert,r,0.1,\nq,q,step,validate,bert,c,0.04,\n", &p.a);
    load(&p.run.check, header, "p,p,step,validate,bert,c,-0.08,\nr,r,step,validate,bert,r,0.12,\nq,q,step,validate,bert,c,0.01,\n", &p.a);
    assert_true(gate_build(&p.g, &p.base, &p.run, 0.024, &p.a, &p.err));
    assert_int_equal(p.g.n_accuracy, 1);
    assert_int_equal(p.g.accuracy[0].n, 2);
    assert_near(p.g.accuracy[0].before, 0.065, 1e-12);
    assert_near(p.g.accuracy[0].after, 0.0825, 1e-12);
    assert_near(p.g.accuracy[0].growth, 0.025, 1e-12);
    assert_string_equal(p.g.accuracy[0].worst, "p");
    assert_false(p.g.accuracy[0].holds);
    arena_free(&p.a);
}

/* p's error falls from 9 to 1 % while q's grows from 1 to 5 %: the mean is better, but the gate fails. */
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

/* An error that grows by exactly the margin, from 25 to 50 %, holds, and so does a smaller growth; a larger one does
 * not. */
static void an_error_may_grow_by_the_margin(void **state)
{
    static const struct { const char *after; bool holds; } cases[] = { { "0.5", true }, { "0.4999", true }, { "0.5001", false } };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct pair p = {0};
        build(&p, rows, "p.t,p,throughput,validate,bert,pod,100,91,0.25,\n", rows, arena_printf(&p.a, "p.t,p,throughput,validate,bert,pod,100,91,-%s,\n", cases[i].after));
        assert_true(gate_build(&p.g, &p.base, &p.run, 0.25, &p.a, &p.err));
        assert_true(p.g.n_accuracy == 1 && gate_accuracy_holds(&p.g) == cases[i].holds);
        arena_free(&p.a);
    }
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

/* Each cause in a row of its own: a by its convolutions, b by no part and so by its batch, c to g by the other
 * columns; h fits now; i and j are gone, x, y and z are new. Kernels k and l move, link m changes the sign of its
 * error; n is gone, o and p are new. Only errors of rows that count as validate are compared: 2 and 8 % become 5 and
 * 4 %, so 5 becomes 4.5 % and the growth is 3 points over two rows; with predicted samples 10 and 20 % become 4 and
 * 10 %. */
static const char every_cause[] =
    "change: 11 predictions moved (6 better, 4 worse), 5 rows are new, 3 are gone\n"
    "  what moved most          rows  by            the largest\n"
    "  kernel conv                 2  -15 to +20 %  k: 10 -> 12 tflop_per_s\n"
    "  batch                       1  -25 %         b: 200 -> 150 samples/s\n"
    "  conv                        1  +4 %          a: 100 -> 104 samples/s\n"
    "  energy                      1  -25 %         g: 0.8 -> 0.6 J\n"
    "  evaluation and start-up     1  -5 %          e: 60 -> 57 s to train\n"
    "  fits                        1  -             h: fits: no -> yes\n"
    "  link p2p                    1  +10 %         m: 0.5 -> 0.55 latency_us\n"
    "  memory                      1  +10 %         c: 1000 -> 1100 B a tile\n"
    "  predicted convergence       1  +10 %         f: 70 -> 77 s to train, predicted\n"
    "  samples to converge         1  -10 %         d: 50 -> 45 samples to converge\n"
    "accuracy of validate rows: WORSE (the mean |error| of a group may grow by 1 percentage point; gains elsewhere do not offset it)\n"
    "  group                               configurations  before %  after %  growth, points  most in\n"
    "  bert throughput                                  2      5.00     4.50            1.50  a.t      TOO MUCH\n"
    "  bert throughput, samples predicted               2     15.00     7.00            0.00  -\n"
    "verdict: predictions moved; if this is intended: make baseline REASON=\"why\"\n";

static void every_cause_is_told(void **state)
{
    static const char told[] = "id,throughput_samples_per_s,memory_peak_bytes_per_tile,samples_to_converge,time_to_train_s,predicted_time_to_train_s,"
                               "energy_j,fits,breakdown_conv_s,breakdown_host_s\n";
    static const char checked[] = "id,recipe,metric,role,counts_as,workload,simulated,error,predicted_error\n";
    static const char *const names[] = { "change of kernel conv", "change of batch", "change of conv", "change of energy", "change of evaluation and start-up",
        "change of fits", "change of link p2p", "change of memory", "change of predicted convergence", "change of samples to converge", "rows",
        "accuracy of bert throughput", "accuracy of bert throughput, samples predicted", "accuracy of resnet throughput" };
    struct pair p = {0};
    struct document d = { .arena = &p.a };
    char *text;
    (void)state;
    load(&p.base.rows, told, "a,100,1000,50,60,70,80,yes,0.6,0.4\nb,200,1000,50,60,70,80,yes,0.6,0.4\nc,100,1000,50,60,70,80,yes,0.6,0.4\n"
         "d,100,1000,50,60,70,80,yes,0.6,0.4\ne,100,1000,50,60,70,80,yes,0.6,0.4\nf,100,1000,50,60,70,80,yes,0.6,0.4\ng,100,1000,50,60,70,0.8,yes,0.6,0.4\n"
         "h,100,1000,50,60,70,80,no,0.6,0.4\ni,100,1000,50,60,70,80,yes,0.6,0.4\nj,100,1000,50,60,70,80,yes,0.6,0.4\n", &p.a);
    load(&p.run.rows, told, "x,1,1,1,1,1,1,yes,1,1\na,104,1000,50,60,70,80,yes,0.55,0.41\nb,150,1100,50,60,70,80,yes,0.6,0.4\nc,100,1100,45,60,70,80,yes,0.6,0.4\n"
         "d,100,1000,45,60,70,80,yes,0.6,0.4\ne,100,1000,50,57,77,80,yes,0.6,0.4\nf,100,1000,50,60,77,90,yes,0.6,0.4\ng,100,1000,50,60,70,0.6,yes,0.6,0.4\n"
         "h,90,1000,50,60,70,80,yes,0.6,0.4\ny,1,1,1,1,1,1,yes,1,1\nz,1,1,1,1,1,1,yes,1,1\n", &p.a);
    load(&p.base.check, checked, "a.t,a,throughput,validate,,bert,100,0.02,0.10\nb.t,b,throughput,context,validate,bert,200,-0.08,0.6\n"
         "c.t,c,throughput,calibrate,,bert,100,0.5,0.5\nd.t,d,throughput,validate,repeat,bert,100,0.5,0.2\ne.t,e,throughput,validate,,resnet,100,0.03,\n"
         "k,kernel:conv,tflop_per_s,calibrate,,kernel conv,10,0.3,\nl,kernel:conv,tflop_per_s,calibrate,,kernel conv,20,-0.1,\n"
         "m,link:p2p,latency_us,calibrate,,link p2p,0.5,0.2,\nn,link:p2p,latency_us,calibrate,,link p2p,5,0.2,\n", &p.a);
    load(&p.run.check, checked, "a.t,a,throughput,validate,,bert,104,0.05,-0.04\nb.t,b,throughput,context,validate,bert,150,0.04,0.9\n"
         "c.t,c,throughput,calibrate,,bert,100,0.9,0.9\nd.t,d,throughput,validate,repeat,bert,100,0.9,0.1\ne.t,e,throughput,validate,,resnet,100,-0.03,\n"
         "k,kernel:conv,tflop_per_s,calibrate,,kernel conv,12,0.1,\nl,kernel:conv,tflop_per_s,calibrate,,kernel conv,17,0.2,\n"
         "m,link:p2p,latency_us,calibrate,,link p2p,0.55,-0.2,\no,link:p2p,latency_us,calibrate,,link p2p,5,0.2,\np,kernel:conv,t,calibrate,,kernel conv,5,0.2,\n", &p.a);
    assert_true(gate_build(&p.g, &p.base, &p.run, 0.01, &p.a, &p.err));
    text = printed(&p.g);
    assert_string_equal(text, every_cause);
    free(text);
    assert_int_equal(p.g.n_rows, 11 + 10);
    assert_true(p.g.groups[0].n_better == 1 && p.g.groups[0].n_worse == 1 && p.g.groups[1].n_better == 0 && p.g.groups[1].n_worse == 1);
    assert_true(p.g.groups[2].n_better == 1 && p.g.groups[2].n_worse == 0);
    gate_document(&d, &p.g);
    assert_int_equal(d.judged.n, sizeof names / sizeof *names);
    for (size_t i = 0; i < d.judged.n; i++) {
        assert_string_equal(d.judged.items[i].name, names[i]);
        assert_int_equal(d.judged.items[i].judged, i < 12 ? JUDGED_FAIL : JUDGED_PASS);
    }
    assert_string_equal(d.judged.items[0].message, "2 predictions moved, -15 to +20 %; the largest: k, 10 -> 12 tflop_per_s");
    assert_string_equal(d.judged.items[10].message, "5 rows are new, 3 are gone");
    assert_string_equal(d.judged.items[11].message, "mean error of 2 configurations 5.00 -> 4.50 %, grew by 1.50 points");
    arena_free(&p.a);
}

static const char *manifest(const char *text, const char *suffix, struct arena *a)
{
    return arena_strdup(a, temp_file(text, strlen(text), suffix));
}

/* One file changed, one is new, one is gone, one is the same. Without one of the manifests nothing is known. */
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
    cmocka_unit_test(equal_runs_pass), cmocka_unit_test(every_cause_is_told), cmocka_unit_test(long_lists_are_cut), cmocka_unit_test(tables_without_ids_are_refused), cmocka_unit_test(inputs_that_changed_are_named), cmocka_unit_test(moves_are_grouped_by_what_moved_most),
    cmocka_unit_test(rows_of_a_configuration_share_its_weight), cmocka_unit_test(one_mended_error_does_not_hide_another), cmocka_unit_test(an_error_may_grow_by_the_margin), cmocka_unit_test(what_was_nothing), cmocka_unit_test(as_far_off_on_the_other_side), cmocka_unit_test(rows_that_come_and_go_are_a_change),
};
TAP_MAIN(tests)
