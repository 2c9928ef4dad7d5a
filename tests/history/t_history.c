/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_history.c - the table of predictions: read, written from a run's tables, drawn as blocks. */
#include "tests/check.h"
#include <math.h>
#include "results/history/history.h"

static const char header[] = "label,time,version,inputs,recipe,metric,value,unit\n";

/* Every series with its points, in order. */
static const char *loaded(const char *lines, const char *metric, const char *recipe, struct arena *a)
{
    struct history h;
    struct err err;
    const char *all = arena_printf(a, "%s%s", header, lines), *text = "";
    if (!history_load(&h, temp_file(all, strlen(all), ".csv"), metric, recipe, a, &err))
        return arena_strdup(a, err.msg);
    for (size_t i = 0; i < h.n; i++) {
        text = arena_printf(a, "%s%s %s %s:", text, h.items[i].recipe, h.items[i].metric, h.items[i].unit);
        for (size_t k = 0; k < h.items[i].n; k++) {
            const struct history_point *p = &h.items[i].points[k];
            text = arena_printf(a, "%s %s %s %s %s %g;", text, p->label, p->time, p->version, p->inputs, p->value);
        }
        text = arena_printf(a, "%s\n", text);
    }
    return h.is_cut ? arena_printf(a, "%scut", text) : text;
}

/* Points are ordered by time, and within one time as in the file. A label that is repeated replaces the earlier
 * point. */
static void points_are_in_order_of_time(void **state)
{
    static const char lines[] = "l1,t3,v,i,p,m,1.5,s\nl2,t1,v,i,p,m,2,s\nl3,t2,v,i,p,m,3,s\nl4,t2,v,i,p,m,4,s\nl5,t0,v,i,p,m,5,s\n"
                                "l1,t3,v,i,q,m,6,s\nl1,t3,v,i,q,n,7,B\nl2,t4,v,i,q,n,8,B\nl3,t2,w,j,p,m,9,s\nl4,t2,v,i,q,m,10,s\n";
    struct arena a = {0};
    (void)state;
    assert_string_equal(loaded(lines, NULL, NULL, &a), "p m s: l5 t0 v i 5; l2 t1 v i 2; l3 t2 w j 9; l4 t2 v i 4; l1 t3 v i 1.5;\n"
                                                       "q m s: l4 t2 v i 10; l1 t3 v i 6;\nq n B: l1 t3 v i 7; l2 t4 v i 8;\n");
    assert_string_equal(loaded(lines, "n", NULL, &a), "q n B: l1 t3 v i 7; l2 t4 v i 8;\n");
    assert_string_equal(loaded(lines, NULL, "q", &a), "q m s: l4 t2 v i 10; l1 t3 v i 6;\nq n B: l1 t3 v i 7; l2 t4 v i 8;\n");
    assert_string_equal(loaded(lines, "m", "q", &a), "q m s: l4 t2 v i 10; l1 t3 v i 6;\n");
    assert_string_equal(loaded(lines, "o", "q", &a), "");
    arena_free(&a);
}

/* An incomplete last line is left out; any other broken line is refused. */
static void broken_lines_are_refused(void **state)
{
    struct arena a = {0};
    struct history h;
    struct err err;
    (void)state;
    assert_string_equal(loaded("a,t,v,i,p,m,1,s\n\ne,t,v,i,p,m,2,s\ng,t,v,i,p,m,3,s", NULL, NULL, &a), "p m s: a t v i 1; e t v i 2;\ncut");
    assert_non_null(strstr(loaded("a,t,v,i,p,m,1,s\nb,t,v,i,p,m,1\n", NULL, NULL, &a), ":3: "));
    assert_non_null(strstr(loaded("a,t,v,i,p,m,x,s\n", NULL, NULL, &a), ":2: value: 'x' is not a number"));
    const char *path = temp_file("label,time\n", 11, ".csv");
    assert_false(history_load(&h, path, NULL, NULL, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s:1: no column 'version'; there are: label, time", path));
    assert_false(history_load(&h, "no/such.csv", NULL, NULL, &a, &err));
    arena_free(&a);
}

static struct csv_table table(const char *text, struct arena *a)
{
    struct csv_table t;
    struct err err;
    assert_true(csv_load(&t, temp_file(text, strlen(text), ".csv"), a, &err));
    return t;
}

static const char *written(const char *rows, double error, struct arena *a)
{
    struct err err;
    struct csv_table r = table(rows, a);
    const char *path = arena_printf(a, "/tmp/podbench-history-%ld.csv", (long)getpid());
    char *text;
    assert_true(history_append(path, &r, error, "here", "now", &err));
    assert_true(read_text_file(&text, NULL, path, 1 << 20, a, &err));
    unlink(path);
    assert_int_equal(strncmp(text, header, strlen(header)), 0);
    return text + strlen(header);
}

/* The metrics of each row, and the mean error of the rows that validate, if there is one. */
static void a_run_adds_its_lines(void **state)
{
    static const char rows[] = "id,version,inputs,latency_s,time_to_train_s,throughput_samples_per_s,memory_peak_bytes_per_tile,other\n"
                               "p,1.2,ab,0.5,60,700,9000,1\nq,1.2,cd,,,800,,1\n";
    struct arena a = {0};
    struct err err;
    (void)state;
    assert_string_equal(written(rows, 0.4, &a), "here,now,1.2,ab,p,throughput_samples_per_s,700,samples/s\nhere,now,1.2,ab,p,time_to_train_s,60,s\n"
                                                  "here,now,1.2,ab,p,latency_s,0.5,s\nhere,now,1.2,ab,p,memory_peak_bytes_per_tile,9000,B\n"
                                                  "here,now,1.2,cd,q,throughput_samples_per_s,800,samples/s\nhere,now,1.2,,validate,mean_abs_error,0.4,share\n");
    assert_string_equal(written("id,version\n", 0.25, &a), "here,now,,,validate,mean_abs_error,0.25,share\n");
    assert_string_equal(written(rows, NAN, &a) + strlen("here,now,1.2,ab,p,throughput_samples_per_s,700,samples/s\n"),
                        "here,now,1.2,ab,p,time_to_train_s,60,s\nhere,now,1.2,ab,p,latency_s,0.5,s\nhere,now,1.2,ab,p,memory_peak_bytes_per_tile,9000,B\n"
                        "here,now,1.2,cd,q,throughput_samples_per_s,800,samples/s\n");
    const struct csv_table none = table("id\n", &a);
    static const char *const labels[] = { "", "a,b", "a\"", "a\nb", "a\rb" };
    for (size_t i = 0; i < 5; i++) {
        assert_false(history_append("/tmp/no", &none, 0.4, labels[i], "now", &err));
        assert_non_null(strstr(err.msg, "': want a name without comma, quote or newline"));
    }
    arena_free(&a);
}

/* Eight heights from the least to the greatest value shown; a single value has the fourth. */
static void values_as_blocks(void **state)
{
    struct arena a = {0};
    struct history_point points[10];
    struct history_series s = { .points = points, .n = 10 };
    (void)state;
    for (size_t i = 0; i < 10; i++)
        points[i].value = i < 2 ? 500 : 7 + (double)(i * 3 % 8);        /* 13, 8, 11, 14, 9, 12, 7, 10 from the third on */
    assert_string_equal(sparkline(&s, 8, &a), "\u2587\u2582\u2585\u2588\u2583\u2586\u2581\u2584");
    assert_string_equal(sparkline(&s, 3, &a), "\u2588\u2581\u2585");
    assert_string_equal(sparkline(&s, 10, &a), "\u2588\u2588\u2581\u2581\u2581\u2581\u2581\u2581\u2581\u2581");
    assert_string_equal(sparkline(&s, 99, &a), "\u2588\u2588\u2581\u2581\u2581\u2581\u2581\u2581\u2581\u2581");
    s.n = 2;
    assert_string_equal(sparkline(&s, 8, &a), "\u2584\u2584");
    points[0].value = 1e308, points[1].value = -1e308;      /* their distance is not a finite number */
    assert_string_equal(sparkline(&s, 8, &a), "\u2588\u2581");
    arena_free(&a);
}

/* Relative to the absolute value before: an increase is positive below zero, too. */
static void changes_by_hand(void **state)
{
    static const struct { double before, after; const char *text; } changes[] = {
        { 4, 5, "+25.00 %" }, { 4, 3, "-25.00 %" }, { -4, -3, "+25.00 %" }, { -4, 3, "+175.00 %" }, { 4, -3, "-175.00 %" }, { 4, 0, "-100.00 %" },
        { 0, 0, "+0.00 %" }, { 0, 3, "from nothing" }, { -0.0, -3, "from nothing" }, { -1e308, 1e308, "+200.00 %" }, { 1e-300, 1e300, "from nothing" },
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        assert_string_equal(change_text(changes[i].before, changes[i].after, 2, &a), changes[i].text);
    assert_string_equal(change_text(3, 4, 1, &a), "+33.3 %");
    arena_free(&a);
}

/* The latest of all points, wherever it stands, or what the clock says. A table of half a header has none; another line is no header. */
static void time_does_not_go_back(void **state)
{
    static const struct { const char *text, *time; } cases[] = {
        { "l1,t4,v,i,p,m,1,s\nl2,t1,v,i,q,m,2,s\n", "t4" }, { "l1,t1,v,i,p,m,1,s\nl2,t3,v,i,q,m,2,s\nl3,t5,v,i,q,m,2,s\n", "t5" }, { "l1,t1,v,i,p,m,1,s\n", "t2" },
    };
    struct arena a = {0};
    struct history h;
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *all = arena_printf(&a, "%s%s", header, cases[i].text);
        assert_string_equal(history_time_from(temp_file(all, strlen(all), ".csv"), "t2", &a), cases[i].time);
    }
    assert_true(history_load(&h, temp_file("label,ti", 8, ".csv"), NULL, NULL, &a, &err) && h.is_cut && h.n == 0);
    assert_false(history_load(&h, temp_file("lable,ti", 8, ".csv"), NULL, NULL, &a, &err));
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(time_does_not_go_back),
    cmocka_unit_test(points_are_in_order_of_time), cmocka_unit_test(broken_lines_are_refused), cmocka_unit_test(a_run_adds_its_lines),
    cmocka_unit_test(values_as_blocks), cmocka_unit_test(changes_by_hand),
};
TAP_MAIN(tests)
