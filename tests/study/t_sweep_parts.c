/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_sweep_parts.c - merging parts of a sweep and resuming one: made-up rows, each way to spoil them, and the message it
 * gets. */
#include "tests/check.h"
#include "results/study/sweep.h"
#include "system-model/machine/machine.h"

enum { MOST_PARTS = 3 };
#define HEAD "configuration,of,sweep,x\n"
#define JSON(n, of, id, rest) "{\"configuration\":" #n ",\"of\":" #of ",\"sweep\":\"" #id "\"," rest "}\n"

/* Contents of files a, b and c; want: the merged rows, the last file given first, or the message without the folder. */
static const struct { const char *parts[MOST_PARTS], *text, *message; } joined[] = {
    { { HEAD "1,5,ab,p\n2,5,ab,q\n", HEAD "3,5,ab,r\n", HEAD "4,5,ab,s\n5,5,ab,t\n" }, HEAD "1,5,ab,p\n2,5,ab,q\n3,5,ab,r\n4,5,ab,s\n5,5,ab,t\n", NULL },
    { { HEAD "4,5,ab,s\n5,5,ab,t\n", HEAD "3,5,ab,r\n", HEAD "1,5,ab,p\n2,5,ab,q\n" }, HEAD "1,5,ab,p\n2,5,ab,q\n3,5,ab,r\n4,5,ab,s\n5,5,ab,t\n", NULL },
    { { HEAD "1,2,ab,p\n2,2,ab,q\n", HEAD, "" }, HEAD "1,2,ab,p\n2,2,ab,q\n", NULL },
    { { JSON(1, 3, ab, "\"y\":7"), JSON(2, 3, ab, "\"y\":9") JSON(3, 3, ab, ""), NULL },
      JSON(1, 3, ab, "\"y\":7") JSON(2, 3, ab, "\"y\":9") JSON(3, 3, ab, ""), NULL },
    { { HEAD "1,1,ffffffffffffffff,p\n", NULL, NULL }, HEAD "1,1,ffffffffffffffff,p\n", NULL },
    { { HEAD "1,2,ab,p\n", HEAD "2,2,cd,q\n", NULL }, NULL, "b: sweep 00000000000000cd, and a is of sweep 00000000000000ab: a recipe, a value, a sheet or the version differs" },
    { { HEAD "1,4,ab,p\n2,4,ab,q\n", HEAD "2,4,ab,q\n3,4,ab,q\n", HEAD "4,4,ab,q\n" }, NULL, "b: holds configuration 2, as a does" },
    { { HEAD "1,9,ab,p\n", HEAD "5,9,ab,q\n", NULL }, NULL, "configurations 2 to 4 are missing between a and b" },
    { { HEAD "3,9,ab,p\n", NULL, NULL }, NULL, "configurations 1 to 2 are missing between the beginning and a" },
    { { HEAD "1,9,ab,p\n2,9,ab,p\n", NULL, NULL }, NULL, "configurations 3 to 9 are missing after a" },
    { { HEAD "1,9,ab,p\n3,9,ab,p\n", NULL, NULL }, NULL, "configurations 2 to 2 are missing between a and a" },
    { { HEAD "1,2,ab,p\n", HEAD "2,2,ab,q", NULL }, NULL, "configurations 2 to 2 are missing after a" },        /* no whole row */
    { { HEAD "1,2,ab,p\n2,2,ab,q", NULL, NULL }, NULL, "a: its last row is cut short; finish it with --resume" },
    { { HEAD "1,2,ab,p\n2;2,ab,q\n", NULL, NULL }, NULL, "a: a line that is not a row" },
    { { HEAD "x,2,ab,p\n", NULL, NULL }, NULL, "a: is not a part of a sweep" },
    { { HEAD "1,2,ab,p\n", "configuration,of,sweep,z\n2,2,ab,q\n", NULL }, NULL, "a:1: other columns than b: parts of different sweeps or versions" },
    { { HEAD "1,2,ab,p\n", JSON(2, 2, ab, ""), NULL }, NULL, "a:1: is a table, and b is lines of JSON" },
    { { JSON(1, 2, ab, ""), HEAD "2,2,ab,p\n", NULL }, NULL, "a:1: is lines of JSON, and b is a table" },
    { { JSON(1, 1, ab, ""), HEAD, NULL }, NULL, "a:1: is lines of JSON, and b is a table" },
    { { JSON(1, 1, ab, ""), "", NULL }, JSON(1, 1, ab, ""), NULL },
    { { HEAD, HEAD, NULL }, NULL, "a: no part has a row" }, { { "", NULL, NULL }, NULL, "a: no part has a row" },
    { { HEAD "1,1,fffffffffffffffff,p\n", NULL, NULL }, NULL, "a: is not a part of a sweep" },                /* 17 digits */
    { { HEAD "0000000000000000001,1,ab,p\n", NULL, NULL }, HEAD "0000000000000000001,1,ab,p\n", NULL },       /* 19, and 20 */
    { { HEAD "00000000000000000001,1,ab,p\n", NULL, NULL }, NULL, "a: is not a part of a sweep" },
    { { HEAD "+1,1,ab,p\n", NULL, NULL }, NULL, "a: is not a part of a sweep" }, { { HEAD "1,1,,p\n", NULL, NULL }, NULL, "a: is not a part of a sweep" },
    { { HEAD "1,1,ab\n", NULL, NULL }, NULL, "a: is not a part of a sweep" }, { { HEAD "1,1,xb,p\n", NULL, NULL }, NULL, "a: is not a part of a sweep" },
};

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void parts_are_joined(void **state)
{
    char top[] = "/tmp/podbench-parts-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(top));
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++) {
        struct arena a = {0};
        struct err err = { "" };
        const char *paths[MOST_PARTS];
        size_t n = 0;
        char *text;
        bool good = false;
        for (size_t k = MOST_PARTS; k-- > 0;)
            if (joined[i].parts[k]) {
                paths[n] = arena_printf(&a, "%s/%c", top, 'a' + (int)k);
                write_file(paths[n++], joined[i].parts[k]);
            }
        PRINTED(text, good = parts_merge(f, "all.csv", paths, n, &a, &err));
        assert_true(good == !joined[i].message);
        if (good) {
            assert_string_equal(text, joined[i].text);
        } else {
            const char *said = err.msg, *at;        /* without the folder */
            while ((at = strstr(said, top)))
                said = arena_printf(&a, "%.*s%s", (int)(at - said), said, at + strlen(top) + 1);
            assert_string_equal(said, joined[i].message);
            assert_string_not_equal(text, HEAD);        /* with no row there is no header */
        }
        free(text);
        for (size_t k = 0; k < n; k++)
            unlink(paths[k]);
        arena_free(&a);
    }
    rmdir(top);
}

/* Configurations 4 to 6 of 7: how many rows a part has, and how many bytes; a row that is cut short does not count. */
static void what_a_part_has(void **state)
{
    static const char id[] = "00000000000000ab";
    static const struct { const char *rows; uint64_t n; const char *cut, *message; } cases[] = {
        { "", 0, "", NULL }, { "4,7,%s,p\n", 1, "", NULL }, { "4,7,%s,p\n5,7,%s,q\n", 2, "6,7,00", NULL }, { "", 0, "4", NULL },
        { "5,7,%s,p\n", 0, "", ": row 1 is configuration 5, want 4; remove the file to start anew" },
        { "4,7,%s,p\n4,7,%s,p\n", 0, "", ": row 2 is configuration 4, want 5; remove the file to start anew" },
        { "4,8,%s,p\n", 0, "", ": row 1 is of sweep 00000000000000ab, this is 00000000000000ab: a recipe, a value, a sheet or the version differs; "
                               "remove the file to start anew" },
        { "4,7,cd,p\n", 0, "", ": row 1 is of sweep 00000000000000cd, this is 00000000000000ab: a recipe, a value, a sheet or the version differs; "
                               "remove the file to start anew" },
        { "4,7,%s,p\nfour\n", 0, "", ": row 2 is not a row of a sweep; remove the file to start anew" },
    };
    struct space space = { .n = 7 };
    (void)state;
    for (int json = 0; json < 2; json++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct arena a = {0};
            struct err err = { "" };
            struct sweep w = { .space = &space, .identity = 0xab, .format = json ? SWEEP_JSON : SWEEP_CSV };
            uint64_t n_rows = 9, n_bytes = 9;
            char *header;
            PRINTED(header, sweep_write_header(f, &w));
            const char *rows = arena_printf(&a, cases[i].rows, id, id), *whole = arena_printf(&a, "%s%s", header, rows);
            const char *text = arena_printf(&a, "%s%s", whole, cases[i].cut), *path = temp_file(text, strlen(text), ".part");
            assert_true(part_look(&n_rows, &n_bytes, path, &w, 3, &err) == !cases[i].message);
            unlink(path);
            if (cases[i].message) {
                assert_string_equal(err.msg + strlen(path), cases[i].message);
            } else {
                assert_int_equal(n_rows, cases[i].n);
                assert_int_equal(n_bytes, strlen(whole));
            }
            free(header);
            arena_free(&a);
        }
    struct sweep w = { .space = &space, .identity = 0xab };
    struct err err = { "" };
    uint64_t n_rows, n_bytes;
    assert_true(part_look(&n_rows, &n_bytes, "/nowhere/at/all", &w, 3, &err) && n_rows == 0 && n_bytes == 0);
    const char *path = temp_file("other\n4,7,ab,p\n", 15, ".part");
    assert_false(part_look(&n_rows, &n_bytes, path, &w, 3, &err));
    unlink(path);
    assert_string_equal(err.msg + strlen(path), ":1: the columns are those of another sweep or version; remove the file to start anew");
}

/* A line of 2^20 - 1 bytes is a row; one byte more is longer than any row, and does not count. */
static void rows_are_no_longer_than_a_mebibyte(void **state)
{
    struct space space = { .n = 7 };
    struct sweep w = { .space = &space, .identity = 0xab, .format = SWEEP_JSON };
    (void)state;
    for (size_t longer = 0; longer < 2; longer++) {
        struct err err = { "" };
        uint64_t n_rows = 9, n_bytes = 9;
        size_t n = (1 << 20) - 1 + longer;
        char *text = malloc(n + 1), *path;
        memset(text, 'x', n);
        text[n] = 0, text[n - 1] = '\n';
        const char head[] = "{\"configuration\":1,\"of\":7,\"sweep\":\"ab\",";
        memcpy(text, head, sizeof head - 1);
        path = (char *)temp_file(text, n, ".part");
        assert_true(part_look(&n_rows, &n_bytes, path, &w, 0, &err));
        assert_int_equal(n_rows, !longer);
        assert_int_equal(n_bytes, longer ? 0 : n);
        unlink(path);
        free(text);
    }
}

struct told { uint64_t done[4], of; size_t n; };

static void told(void *user, const char *what, size_t done, size_t of)
{
    assert_string_equal(what, "");
    struct told *t = user;
    assert_true(t->n < 4);
    t->done[t->n++] = done;
    t->of = of;
}

/* The last 65 of 70 configurations of a missing recipe: 65 refused rows, in order, with progress as they are written. */
static void progress_is_told_to_the_last_row(void **state)
{
    static const char *const recipes[] = { "nowhere" };
    struct model_paths paths = { .specs_dir = "/nonexistent", .recipes_dir = "/nonexistent", .data_dir = "/nonexistent" };
    struct track_record record = { .spread = { 0 } };
    struct space space = {0};
    struct told seen = { .n = 0 };
    struct arena a = {0};
    struct err err = { "" };
    struct sweep_count count;
    struct sweep w = { .space = &space, .paths = &paths, .record = &record, .n_jobs = 2, .watch = { told, &seen } };
    char *text;
    (void)state;
    space_start(&space, recipes, 1);
    assert_true(space_over(&space, "a.b=1..70", &a, &err) && space_close(&space, &err));
    PRINTED(text, assert_true(sweep_run(f, &count, &w, 5, 70, &err)));
    assert_true(count.n_refused == 65 && count.n_fit == 0 && count.n_unfit == 0 && *count.first_reason);
    assert_true(seen.n == 3 && seen.of == 65 && seen.done[0] == 32 && seen.done[1] == 64 && seen.done[2] == 65);
    const char *at = text;
    for (size_t i = 6; i <= 70; i++) {
        const char *row = arena_printf(&a, "%zu,70,", i);
        assert_true(strncmp(at, row, strlen(row)) == 0);
        at = strchr(at, '\n') + 1;
    }
    assert_string_equal(at, "");
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(parts_are_joined), cmocka_unit_test(what_a_part_has), cmocka_unit_test(rows_are_no_longer_than_a_mebibyte),
                                           cmocka_unit_test(progress_is_told_to_the_last_row) };
TAP_MAIN(tests)
