/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_compare.c - the comparison of two tables shows every change, its size and direction, and nothing for equal
 * tables. */
#include "tests/check.h"
#include <jansson.h>
#include "results/published/check.h"

static void load(struct csv_table *t, const char *text, struct arena *a)
{
    struct err err;
    assert_true(csv_load(t, temp_file(text, strlen(text), ".csv"), a, &err));
}

static void compare(struct comparison *c, const char *base, const char *run, struct arena *a)
{
    struct csv_table x, y;
    struct err err;
    load(&x, base, a);
    load(&y, run, a);
    assert_true(compare_tables(c, &x, &y, a, &err));
}

static char *printed(const struct comparison *c)
{
    struct arena a = {0};
    struct document d = { .arena = &a };
    char *text;
    compare_document(&d, c);
    PRINTED(text, document_write(f, FORMAT_TEXT, &d));
    arena_free(&a);
    return text;
}

static char *accuracy(const struct csv_table *base, const struct csv_table *run)
{
    struct arena a = {0};
    struct document d = { .arena = &a };
    char *text;
    compare_add_accuracy(&d, base, run);
    PRINTED(text, document_write(f, FORMAT_TEXT, &d));
    arena_free(&a);
    return text;
}

static void equal_tables_have_no_changes(void **state)
{
    (void)state;
    struct arena a = {0};
    struct comparison c = {0};
    compare(&c, "id,step_time_s\nx,0.5\ny,7\n", "id,step_time_s\ny,7\nx,0.5\n", &a);   /* the order of rows is no change */
    assert_int_equal(c.n, 0);
    char *text;
    text = printed(&c);
    assert_string_equal(text, "the same: 2 rows of 2 columns\n");
    free(text);
    arena_free(&a);
}

static void a_change_has_size_and_direction(void **state)
{
    (void)state;
    struct arena a = {0};
    struct comparison c = {0};
    compare(&c, "id,step_time_s,throughput_samples_per_s,fits,error\nx,0.5,100,yes,-0.2\n",
            "id,step_time_s,throughput_samples_per_s,fits,error\nx,0.4,90,no,0.1\n", &a);
    assert_int_equal(c.n, 4);
    const int verdict[] = { 1, -1, -1, 1 };
    const double relative[] = { -0.2, -0.1, 0, -1.5 };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(c.items[i].kind, CHANGE_CELL);
        assert_int_equal(c.items[i].verdict, verdict[i]);
        assert_near(c.items[i].relative, relative[i], 1e-12);
    }
    arena_free(&a);
}

/* A difference in the text alone is a change too. */
static void the_comparison_is_of_text(void **state)
{
    (void)state;
    struct arena a = {0};
    struct comparison c = {0};
    compare(&c, "id,ipus\nx,16\n", "id,ipus\nx,16.0\n", &a);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.items[0].verdict, 0);
    arena_free(&a);
}

/* Only a change from one number to another has a size, and not from 0. An error of the same size on the other side
 * of zero is neither better nor worse, and neither is the same number in other digits. */
static void changes_as_text(void **state)
{
    (void)state;
    struct arena a = {0};
    struct comparison c = {0};
    char *text;
    compare(&c, "id,status,step_time_s,throughput_samples_per_s,error,predicted_error\nw,a,1,2,3,4\nx,ok,0.5,0,-0.2,\ny,,2.0,4,0.3,0.1\n",
            "id,status,step_time_s,throughput_samples_per_s,error,predicted_error\nw,a,1,2,3,4\nx,ok,0.6,7,0.2,0.1\ny,new,2,5,0.4,-0.05\n", &a);
    text = printed(&c);
    assert_string_equal(text, "row  column                    change         by %  verdict\n"
                              "x    step_time_s               0.5 -> 0.6      +20  worse\n"
                              "x    throughput_samples_per_s  0 -> 7            -  better\n"
                              "x    error                     -0.2 -> 0.2    -200  -\n"
                              "x    predicted_error           - -> 0.1          -  -\n"
                              "y    status                    - -> new          -  -\n"
                              "y    step_time_s               2.0 -> 2         +0  -\n"
                              "y    throughput_samples_per_s  4 -> 5          +25  better\n"
                              "y    error                     0.3 -> 0.4    +33.3  worse\n"
                              "y    predicted_error           0.1 -> -0.05   -150  better\n"
                              "9 differences\n");
    free(text);
    c = (struct comparison){0};
    compare(&c, "id,v\nx,1\ny,2\nz,3\n", "id,v\nx,1\ny,2\nz,4\n", &a);
    text = printed(&c);
    assert_string_equal(text, "row  column  change   by %  verdict\nz    v       3 -> 4  +33.3  -\n1 difference\n");
    free(text);
    arena_free(&a);
}

static void rows_and_columns_come_and_go(void **state)
{
    (void)state;
    struct arena a = {0};
    struct comparison c = {0};
    compare(&c, "id,old,kept\nx,1,2\ny,1,2\n", "id,new,kept\ny,3,2\nz,3,2\n", &a);
    const enum change_kind want[] = { CHANGE_COLUMN_GONE, CHANGE_COLUMN_NEW, CHANGE_ROW_GONE, CHANGE_ROW_NEW };
    assert_int_equal(c.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(c.items[i].kind, want[i]);
    char *text;
    text = printed(&c);
    assert_string_equal(text, "row  column  change          by %  verdict\n-    old     column is gone     -  -\n-    new     column is new      -  -\n"
                              "x    -       row is gone        -  -\nz    -       row is new         -  -\n4 differences\n");
    free(text);
    arena_free(&a);
}

static void changes_as_json(void **state)
{
    (void)state;
    struct arena a = {0};
    struct comparison c = {0};
    compare(&c, "id,step_time_s,gone\nx,2,1\n", "id,step_time_s\nx,3\n", &a);
    struct table t = compare_table(&c, &a);
    json_t *json = table_json(&t), *gone = json_array_get(json, 0), *time = json_array_get(json, 1);
    assert_int_equal(json_array_size(json), 2);
    assert_string_equal(json_string_value(json_object_get(gone, "column")), "gone");
    assert_true(json_is_null(json_object_get(gone, "id")) && json_is_null(json_object_get(gone, "relative")));
    assert_string_equal(json_string_value(json_object_get(time, "before")), "2");
    assert_string_equal(json_string_value(json_object_get(time, "after")), "3");
    assert_near(json_number_value(json_object_get(time, "relative")), 0.5, 1e-12);
    assert_string_equal(json_string_value(json_object_get(time, "verdict")), "worse");
    json_decref(json);
    arena_free(&a);
}

static void accuracy_is_shown_by_role(void **state)
{
    (void)state;
    struct arena a = {0};
    struct csv_table x, y;
    char *text;
    load(&x, "id,role,error\np,validate,-0.3\nq,validate,0.1\nr,calibrate,0.1\n", &a);
    load(&y, "id,role,error\np,validate,0.2\nq,validate,\nr,calibrate,0.4\n", &a);
    text = accuracy(&x, &y);
    assert_string_equal(text, "accuracy of runs, calibrate: 1 -> 1 configurations, median 10.000 -> 40.000 %, mean 10.000 -> 40.000 %  worse\n"
                              "accuracy of runs, validate: 2 -> 1 configurations, median 20.000 -> 20.000 %, mean 20.000 -> 20.000 %  the same\n");
    free(text);
    arena_free(&a);
}

/* A mean that falls is better. */
static void accuracy_gets_better(void **state)
{
    (void)state;
    struct arena a = {0};
    struct csv_table x, y;
    char *text;
    load(&x, "id,role,error\np,context,-0.3\nq,context,0.1\nr,context,0.8\n", &a);
    load(&y, "id,role,error\np,context,-0.3\nq,context,0.2\nr,context,-0.1\n", &a);
    text = accuracy(&x, &y);
    assert_string_equal(text, "accuracy of runs, context: 3 -> 3 configurations, median 30.000 -> 20.000 %, mean 40.000 -> 20.000 %  better\n");
    free(text);
    load(&y, "id,role\np,context\n", &a);       /* no errors, none to tell of */
    text = accuracy(&y, &y);
    assert_string_equal(text, "");
    free(text);
    arena_free(&a);
}

/* p and q are one configuration, with an error of 0.2; the kernel r and the link u have lines of their own; s repeats, t is derived. */
static void accuracy_counts_configurations(void **state)
{
    (void)state;
    struct arena a = {0};
    struct csv_table x;
    char *text;
    load(&x, "id,role,error,configuration,counts_as,kind\np,validate,-0.3,c,validate,runs\nq,validate,0.1,c,validate,runs\n"
             "r,validate,0.4,r,validate,kernels\ns,validate,7,s,repeats,runs\nt,validate,7,t,validate,derived\nu,validate,0.3,u,validate,links\n", &a);
    text = accuracy(&x, &x);
    assert_string_equal(text, "accuracy of runs, validate: 1 -> 1 configurations, median 20.000 -> 20.000 %, mean 20.000 -> 20.000 %  the same\n"
                              "accuracy of kernels, validate: 1 -> 1 configurations, median 40.000 -> 40.000 %, mean 40.000 -> 40.000 %  the same\n"
                              "accuracy of links, validate: 1 -> 1 configurations, median 30.000 -> 30.000 %, mean 30.000 -> 30.000 %  the same\n");
    free(text);
    struct error_summary one = errors_of_table(&x, FIGURE_OF_RUN, "repeats", &a), none = errors_of_table(&x, FIGURE_OF_RUN, "calibrate", &a);
    assert_true(one.n == 1 && none.n == 0);
    assert_near(one.mean, 7, 1e-12);
    arena_free(&a);
}

static void tables_without_ids_are_refused(void **state)
{
    (void)state;
    struct arena a = {0};
    struct comparison c = {0};
    struct csv_table good, bad;
    struct err err;
    load(&good, "id,v\nx,1\n", &a);
    load(&bad, "name,v\nx,1\n", &a);
    assert_false(compare_tables(&c, &good, &bad, &a, &err));
    assert_non_null(strstr(err.msg, ":1: the first column is 'name', want 'id'"));
    assert_false(compare_tables(&c, &bad, &good, &a, &err));
    load(&bad, "id,v\nx,1\nx,2\n", &a);
    assert_false(compare_tables(&c, &good, &bad, &a, &err));
    assert_non_null(strstr(err.msg, ":3: id: x appears twice"));
    load(&bad, "id,v\nw,1\nx,1\ny,2\nz,2\ny,3\n", &a);
    assert_false(compare_tables(&c, &bad, &good, &a, &err));
    assert_non_null(strstr(err.msg, ":6: id: y appears twice"));
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_tables_have_no_changes),
    cmocka_unit_test(a_change_has_size_and_direction),
    cmocka_unit_test(the_comparison_is_of_text),
    cmocka_unit_test(rows_and_columns_come_and_go),
    cmocka_unit_test(changes_as_json),
    cmocka_unit_test(changes_as_text),
    cmocka_unit_test(accuracy_is_shown_by_role),
    cmocka_unit_test(accuracy_gets_better),
    cmocka_unit_test(accuracy_counts_configurations),
    cmocka_unit_test(tables_without_ids_are_refused),
};
TAP_MAIN(tests)
