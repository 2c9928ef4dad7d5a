/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_append.c - lines at the end of a shared file: many writers, an incomplete line left by a kill, one header. */
#include "tests/check.h"
#include "results/history/history.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/podbench-append-XXXXXX";

static char *content(struct arena *a)
{
    char *text;
    struct err err;
    assert_true(read_text_file(&text, NULL, path, 1 << 20, a, &err));
    return text;
}

static void begin(void)
{
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    close(mkstemp(path));
    remove(path);
}

static void a_new_file_has_its_header_once(void **state)
{
    struct arena a = {0};
    struct err err;
    (void)state;
    begin();
    assert_true(append_lines(path, "h\n", "1\n2\n", &err));
    assert_true(append_lines(path, "h\n", "3\n", &err));
    assert_string_equal(content(&a), "h\n1\n2\n3\n");
    remove(path);
    arena_free(&a);
}

/* Spreadsheets write a byte order mark. */
static void a_marked_header_is_a_header(void **state)
{
    struct arena a = {0};
    struct err err;
    (void)state;
    begin();
    assert_true(write_text_file(path, "\xEF\xBB\xBFh,i\n1\n", &err));
    assert_true(append_lines(path, "h,i\n", "2\n", &err));
    assert_string_equal(content(&a) + byte_order_mark(content(&a)), "h,i\n1\n2\n");
    remove(path);
    arena_free(&a);
}

static void half_a_line_is_cut_off_and_whole_ones_stay(void **state)
{
    struct arena a = {0};
    struct err err;
    (void)state;
    begin();
    FILE *f = fopen(path, "w");
    fputs("h\n1\n2,hal", f);
    fclose(f);
    assert_true(append_lines(path, "h\n", "3\n", &err));
    assert_string_equal(content(&a), "h\n1\n3\n");
    assert_true(write_text_file(path, "h\n1\n2", &err) && append_lines(path, "h\n", "3\n", &err));
    assert_string_equal(content(&a), "h\n1\n2\n3\n");
    f = fopen(path, "w");
    fputs("hea", f);
    fclose(f);
    assert_true(append_lines(path, "head\n", "3\n", &err));
    assert_string_equal(content(&a), "head\n3\n");
    remove(path);
    arena_free(&a);
}

/* Eight writers, 50 blocks of two lines each: 800 lines and the header, every block whole and together. */
static void writers_do_not_lose_each_others_lines(void **state)
{
    enum { WRITERS = 8, BLOCKS = 50 };
    struct arena a = {0};
    struct err err;
    char line[64];
    (void)state;
    begin();
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0) {
            for (int b = 0; b < BLOCKS; b++) {
                snprintf(line, sizeof line, "a%d.%d\nb%d.%d\n", w, b, w, b);
                if (!append_lines(path, "h\n", line, &err))
                    _exit(1);
            }
            _exit(0);
        }
    int status, good = 0;
    for (int w = 0; w < WRITERS; w++)
        good += wait(&status) > 0 && status == 0;
    assert_int_equal(good, WRITERS);
    char *text = content(&a);
    assert_int_equal(strncmp(text, "h\n", 2), 0);
    for (int w = 0; w < WRITERS; w++)
        for (int b = 0; b < BLOCKS; b++) {
            snprintf(line, sizeof line, "\na%d.%d\nb%d.%d\n", w, b, w, b);
            assert_non_null(strstr(text, line));
        }
    remove(path);
    arena_free(&a);
}

/* A failure of an earlier call is not a reason to ask for the lock again and again. */
static void an_interruption_of_before_is_none_of_now(void **state)
{
    struct arena a = {0};
    struct err err;
    (void)state;
    begin();
    errno = EINTR;
    assert_true(append_lines(path, "h\n", "1\n", &err));
    assert_string_equal(content(&a), "h\n1\n");
    remove(path);
    arena_free(&a);
}

/* A file that begins otherwise belongs to someone else and stays as it is. A spreadsheet's byte order mark and line
 * ends are accepted. */
static void another_table_is_refused(void **state)
{
    static const struct { const char *before, *after; } files[] = {
        { "a,c\n1,2\n", NULL }, { "a,b2\n", NULL }, { "a\n", NULL }, { "notes", NULL }, { "b", NULL }, { "a,b,", NULL },
        { "a,b\n1,2\n", "a,b\n1,2\n3,4\n" }, { "a,b\r\n1,2\r\n", "a,b\r\n1,2\r\n3,4\n" }, { "\xef\xbb\xbf" "a,b\r\n", "\xef\xbb\xbf" "a,b\r\n3,4\n" },
        { "a,b", "a,b\n3,4\n" }, { "", "a,b\n3,4\n" },
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct err err = {0};
        begin();
        FILE *f = fopen(path, "w");
        fputs(files[i].before, f);
        fclose(f);
        assert_true(append_lines(path, "a,b\n", "3,4\n", &err) == !!files[i].after);
        assert_string_equal(content(&a), files[i].after ? files[i].after : files[i].before);
        assert_string_equal(err.msg, files[i].after ? "" : arena_printf(&a, "%s:1: is another table; want the header a,b", path));
        remove(path);
    }
    arena_free(&a);
}

static void a_folder_is_refused(void **state)
{
    struct err err;
    (void)state;
    assert_false(append_lines("/tmp", "h\n", "1\n", &err));
    assert_non_null(strstr(err.msg, "/tmp: "));
}

/* A pipe can be opened for reading and writing, but not cut where a writer was killed. */
static void a_pipe_is_refused(void **state)
{
    struct arena a = {0};
    struct err err;
    (void)state;
    begin();
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(append_lines(path, "h\n", "1\n", &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: is not a regular file", path));
    remove(path);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_new_file_has_its_header_once), cmocka_unit_test(a_marked_header_is_a_header), cmocka_unit_test(half_a_line_is_cut_off_and_whole_ones_stay),
    cmocka_unit_test(writers_do_not_lose_each_others_lines), cmocka_unit_test(a_folder_is_refused), cmocka_unit_test(a_pipe_is_refused),
    cmocka_unit_test(an_interruption_of_before_is_none_of_now), cmocka_unit_test(another_table_is_refused),
};
TAP_MAIN(tests)
