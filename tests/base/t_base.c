/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_base.c - numbers, arena, files, CSV and INI: what they accept and the exact words of what they refuse. */
#include "tests/check.h"
#include "system-model/base/base.h"
#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void numbers_are_whole_texts(void **state)
{
    (void)state;
    uint64_t u = 7;
    double d = 7;
    assert_true(parse_u64("18446744073709551615", &u));
    assert_true(u == UINT64_MAX);
    assert_false(parse_u64("18446744073709551616", &u));
    assert_false(parse_u64("-1", &u));
    assert_false(parse_u64("", &u));
    assert_false(parse_u64("12 ", &u));
    assert_true(parse_f64("-1.25e2", &d));
    assert_near(d, -125, 0);
    assert_false(parse_f64("nan", &d));
    assert_false(parse_f64("1e999", &d));
    assert_false(parse_f64("0x10", &d));
    assert_false(parse_f64("1,5", &d));
    assert_false(parse_f64("1..5", &d));
    assert_false(parse_f64("1.2.5", &d));
    assert_false(parse_f64("..", &d));
}

static void small_arithmetic(void **state)
{
    (void)state;
    assert_int_equal(ceil_div(2640, 91), 30);       /* 91 * 29 = 2639 */
    assert_int_equal(ceil_div(2639, 91), 29);
}

static void arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    struct arena a = {0};
    for (int round = 0; round < 3; round++) {       /* a block that is used again, large pieces too */
        for (size_t i = 1; i < 300000; i += 37 + i / 2) {
            unsigned char *p = arena_alloc(&a, i);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t k = 0; k < i; k++)
                assert_int_equal(p[k], 0);
            memset(p, 0xab, i);
        }
        arena_reset(&a);
    }
    assert_string_equal(arena_printf(&a, "%d tiles", 1472), "1472 tiles");
    for (int n = 120; n < 140; n++)
        assert_int_equal(strlen(arena_printf(&a, "%*d", n, 7)), n);
    arena_free(&a);
    assert_null(a.head);
}

static void grown_arrays_keep_their_items(void **state)
{
    (void)state;
    struct arena a = {0};
    uint32_t *items = NULL;
    size_t cap = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        items = arena_grow(&a, items, i, &cap, sizeof *items);
        items[i] = i * 3;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i * 3);
    arena_free(&a);
}

/* Loads text as CSV; returns the message, or "" when it is accepted. */
static const char *csv_message(const char *text, size_t n)
{
    static struct err err;
    struct arena a = {0};
    struct csv_table t;
    const char *path = temp_file(text, n, ".csv");
    err.msg[0] = 0;
    bool good = csv_load(&t, path, &a, &err);
    arena_free(&a);
    unlink(path);
    assert_int_equal(good, err.msg[0] == 0);
    const char *colon = strstr(err.msg, ".csv");
    return colon ? colon + 4 : err.msg;
}
#define CSV_MESSAGE(text) csv_message(text, sizeof(text) - 1)

static void csv_reads_quotes_and_counts_lines(void **state)
{
    (void)state;
    struct arena a = {0};
    struct csv_table t;
    struct err err;
    const char *text = "\xef\xbb\xbfkey,value\nclock,\"1,325\"\n\"two\nlines\",7\nlast,\"a \"\"quote\"\"\"\n";
    const char *path = temp_file(text, strlen(text), ".csv");
    assert_true(csv_load(&t, path, &a, &err));
    assert_int_equal(t.n_rows, 3);
    assert_string_equal(t.columns[0], "key");       /* without the byte order mark of spreadsheets */
    assert_string_equal(t.rows[0].cells[1], "1,325");
    assert_string_equal(t.rows[1].cells[0], "two\nlines");
    assert_int_equal(t.rows[2].line, 5);
    assert_string_equal(t.rows[2].cells[1], "a \"quote\"");
    unlink(path);
    arena_free(&a);
}

/* Rows of another value are passed over, whatever else they hold; a row that is too short to have the column, and lines, still count. */
static void csv_takes_rows_of_one_value(void **state)
{
    (void)state;
    struct arena a = {0};
    struct csv_table t;
    struct err err;
    const char *text = "key,kind,value\na,odd,1\nb,even,2,too,many\n\"c\nd\",odd,3\n\"e\nf\",even,4\ng,\"odd\",7\n";
    const char *path = temp_file(text, strlen(text), ".csv");
    assert_true(csv_load_where(&t, path, "kind", "odd", &a, &err));
    assert_int_equal(t.n_rows, 3);
    assert_string_equal(t.rows[0].cells[2], "1");
    assert_string_equal(t.rows[1].cells[0], "c\nd");
    assert_string_equal(t.rows[2].cells[2], "7");
    assert_int_equal(t.rows[2].line, 8);
    assert_false(csv_load_where(&t, path, "size", "odd", &a, &err));
    assert_non_null(strstr(err.msg, ".csv:1: no column 'size'"));
    unlink(path);
    text = "key,kind\na,odd\nb\n";
    path = temp_file(text, strlen(text), ".csv");
    assert_false(csv_load_where(&t, path, "kind", "odd", &a, &err));
    assert_non_null(strstr(err.msg, ".csv:3: 1 cell, want 2 (key, ...)"));
    unlink(path);
    arena_free(&a);
}

/* How the header line ends; a line end without a header, and none, are no \r\n. */
static void line_ends_of_spreadsheets(void **state)
{
    static const struct { const char *text; bool crlf; } cases[] = {
        { "a,b\r\n1,2\r\n", true }, { "a,b\n1,2\r\n", false }, { "\na,b\r\n", false }, { "a,b", false }, { "a,b\r\n1,2\n", true }, { "a,b\r1,2\n", false },
    };
    struct arena a = {0};
    struct csv_table t;
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = temp_file(cases[i].text, strlen(cases[i].text), ".csv");
        assert_true(csv_load(&t, path, &a, &err));
        assert_string_equal(t.columns[1], "b");
        assert_int_equal(t.crlf, cases[i].crlf);
        unlink(path);
    }
    arena_free(&a);
}

static void csv_refuses(void **state)
{
    (void)state;
    assert_string_equal(CSV_MESSAGE(""), ": is empty, want a header line");
    assert_string_equal(CSV_MESSAGE("a,,c\n"), ":1: column 2 has no name");
    assert_string_equal(CSV_MESSAGE("a,b,a\n"), ":1: column 'a' stands twice");
    assert_string_equal(CSV_MESSAGE("a,b\n1,2\n3\n"), ":3: 1 cell, want 2 (a, ...)");
    assert_string_equal(CSV_MESSAGE("a,b\n1,\"2\n3,4\n"), ":2: a quote is not closed");
    assert_string_equal(CSV_MESSAGE("a,b\n1,2 \"inch\n"), ":2: a quote stands within a cell; put the whole cell in quotes, and double those in it");
    assert_string_equal(CSV_MESSAGE("a;b\n1;2\n"), ":1: cells are separated by semicolons, want commas");
    assert_string_equal(CSV_MESSAGE("a\tb;c\n1\t2\n"), ":1: cells are separated by tabs, want commas");
    assert_string_equal(CSV_MESSAGE("a;b,c\n1;2,3\n"), "");
    assert_string_equal(CSV_MESSAGE("a,b\n1,\0\n"), ": is binary (a zero byte at offset 6), want text");
}

/* ---- tables beside libcsv alone --------------------------------------------------- */

static void write_cell(void *text, size_t n, void *f) { fprintf(f, "%.*s|", (int)n, (const char *)text); }
static void write_row(int end, void *f) { (void)end; fputc('\n', f); }

static const char *draw_text(uint64_t *state, const char *const *texts, size_t n)
{
    *state = *state * 48271 % 2147483647;
    return texts[*state % n];
}

/* Rows of three cells: some in quotes, with commas, line ends and quotes in them; blanks around them; every kind of line end, and none. */
static void write_table(FILE *f, uint64_t *seed)
{
    static const char *const blanks[] = { "", "", "", " ", "\t ", "  " };
    static const char *const cells[] = { "", "1", "a b", "caf\xc3\xa9 au lait", "\"x,y\"", "\"two\nlines\"", "\"two\r\n\n, three\"", "\"a \"\"b\"\"\"", "\"\"" };
    static const char *const ends[] = { "\n", "\n", "\n", "\r\n", "\n\n", "\n \t\n", "\r", "\n\r\n" };
    fputs("one,two,three\n", f);
    for (int row = 0; row < 9; row++)
        for (int i = 0; i < 3; i++) {
            fputs(draw_text(seed, blanks, sizeof blanks / sizeof *blanks), f);
            fputs(draw_text(seed, cells, sizeof cells / sizeof *cells), f);
            fputs(draw_text(seed, blanks, sizeof blanks / sizeof *blanks), f);
            fputs(i < 2 ? "," : row < 8 ? draw_text(seed, ends, sizeof ends / sizeof *ends) : "", f);
        }
}

static char *table_text(const char *path)
{
    struct csv_table t;
    struct arena a = {0};
    struct err err;
    char *text;
    size_t n;
    assert_true(csv_load(&t, path, &a, &err));
    FILE *f = open_memstream(&text, &n);
    for (size_t i = 0; i <= t.n_rows; i++, fputc('\n', f))
        for (size_t k = 0; k < t.n_columns; k++)
            fprintf(f, "%s|", i ? t.rows[i - 1].cells[k] : t.columns[k]);
    fclose(f);
    arena_free(&a);
    return text;
}

/* Lines that are cut without libcsv come out as libcsv has them. */
static void tables_are_as_libcsv_has_them(void **state)
{
    (void)state;
    uint64_t seed = 4711;
    for (int i = 0; i < 500; i++) {
        char *table, *expected, *got;
        size_t n, m;
        struct csv_parser p;
        FILE *f = open_memstream(&table, &n);
        write_table(f, &seed);
        fclose(f);
        const char *path = temp_file(table, n, ".csv");
        f = open_memstream(&expected, &m);
        assert_int_equal(csv_init(&p, CSV_STRICT | CSV_STRICT_FINI), 0);
        assert_int_equal(csv_parse(&p, table, n, write_cell, write_row, f), n);
        assert_int_equal(csv_fini(&p, write_cell, write_row, f), 0);
        csv_free(&p);
        fclose(f);
        got = table_text(path);
        assert_string_equal(got, expected);
        unlink(path);
        free(table);
        free(expected);
        free(got);
    }
}

static const char *ini_message(const char *text)
{
    static struct err err;
    struct arena a = {0};
    struct ini_file f;
    const char *path = temp_file(text, strlen(text), ".ini");
    err.msg[0] = 0;
    ini_load(&f, path, &a, &err);
    arena_free(&a);
    unlink(path);
    const char *colon = strstr(err.msg, ".ini");
    return colon ? colon + 4 : err.msg;
}

/* Also names with colons, as exporters of models write them. */
static void ini_reads_indented_lines_apart(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ini_file f;
    struct err err;
    const char *text = "[parallel]\nreplicas = 16\n  micro_batch = 20 ; images\n\n[data]\ndataset = a b\n"
                       "onnx::If_52 = 1\nonnx::Less_3=x:y\n";
    const char *path = temp_file(text, strlen(text), ".ini");
    assert_true(ini_load(&f, path, &a, &err));
    assert_int_equal(f.n_entries, 5);
    assert_string_equal(f.entries[1].key, "micro_batch");
    assert_string_equal(f.entries[1].value, "20");
    assert_int_equal(f.entries[1].line, 3);
    assert_string_equal(f.entries[2].section, "data");
    assert_int_equal(f.entries[2].line, 6);
    assert_string_equal(f.entries[3].key, "onnx::If_52");
    assert_string_equal(f.entries[3].value, "1");
    assert_string_equal(f.entries[4].key, "onnx::Less_3");
    assert_string_equal(f.entries[4].value, "x:y");
    unlink(path);
    arena_free(&a);
}

static void ini_refuses(void **state)
{
    (void)state;
    char longer[400] = "[data]\ndataset = ";
    memset(longer + strlen(longer), 'x', 250);
    assert_string_equal(ini_message(""), ": is empty, want sections of key = value");
    assert_string_equal(ini_message("replicas = 4\n"), ":1: key 'replicas' stands before any [section]");
    assert_string_equal(ini_message("[a]\nx = 1\n\nx = 2\n"), ":4: a.x stands already in line 2");
    assert_string_equal(ini_message("[a]\njust words\n"), ":2: is neither [section] nor key = value");
    assert_string_equal(ini_message(longer), ":2: line is longer than 190 characters");
}

/* Lines of 190 characters without their end, in blanks that do not count, and of one more. */
static void lines_as_long_as_may_be(void **state)
{
    (void)state;
    for (size_t n = 190; n <= 191; n++) {
        char text[300] = "[a]\n \tx = ";
        memset(text + strlen(text), 'y', n - 4);
        assert_string_equal(ini_message(text), n == 190 ? "" : ":2: line is longer than 190 characters");
        strcat(text, "\nz = 1\n");
        assert_string_equal(ini_message(text), n == 190 ? "" : ":2: line is longer than 190 characters");
    }
}

/* 256 columns, and one more, in the header and below it. */
static void tables_as_wide_as_may_be(void **state)
{
    (void)state;
    for (size_t n = 256; n <= 257; n++) {
        struct arena a = {0};
        const char *header = "c0", *row = "0";
        for (size_t i = 1; i < n; i++)
            header = arena_printf(&a, "%s,c%zu", header, i), row = arena_printf(&a, "%s,%zu", row, i);
        const char *plain = arena_printf(&a, "%s\n%s\n", header, row), *quoted = arena_printf(&a, "\"%s\n%s\n", arena_printf(&a, "c0\"%s", header + 2), row);
        assert_string_equal(csv_message(plain, strlen(plain)), n == 256 ? "" : ":1: more than 256 columns");
        assert_string_equal(csv_message(quoted, strlen(quoted)), n == 256 ? "" : ":1: more than 256 columns");
        arena_free(&a);
    }
}

static void files_appear_whole_or_not_at_all(void **state)
{
    (void)state;
    struct err err = {0};
    struct new_file f;
    char path[64];
    snprintf(path, sizeof path, "/tmp/podbench-test-%ld.new-file", (long)getpid());
    assert_true(new_file_open(&f, path, &err));
    fputs("half", f.f);
    assert_int_not_equal(access(path, F_OK), 0);
    new_file_drop(&f);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(new_file_open(&f, path, &err));
    fputs("whole", f.f);
    assert_true(new_file_save(&f, &err));
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
    assert_false(new_file_open(&f, "/nowhere/at/all", &err));
    assert_string_equal(err.msg, "/nowhere/at/all: cannot be written: No such file or directory");
}

static void folders_appear_whole_or_not_at_all(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena a = {0};
    struct new_folder f;
    struct stat st;
    const char *top = arena_printf(&a, "/tmp/podbench-test-%ld.folders", (long)getpid()), *path = arena_printf(&a, "%s/a/b", top);
    const char *leftover = arena_printf(&a, "%s.4194999.new", path);
    assert_true(make_folders(arena_printf(&a, "%s/c", leftover), &err));
    assert_true(new_folder_open(&f, arena_printf(&a, "%s//", path), &err));
    assert_string_equal(f.path, path);
    assert_int_not_equal(access(leftover, F_OK), 0);
    fclose(fopen(arena_printf(&a, "%s/one", f.temp_path), "w"));
    int here = open(".", O_RDONLY);
    assert_true(here >= 0 && chdir(top) == 0 && make_folders("p/q", &err) && access("p/q", F_OK) == 0);     /* names of one letter, from here on */
    assert_true(fchdir(here) == 0 && close(here) == 0);
    new_folder_drop(&f);
    const char *own = arena_printf(&a, "b.%ld.new", (long)getpid());
    errno = ESRCH;                      /* of another process, asked for before */
    assert_false(is_leftover(own, "b"));
    assert_true(is_leftover("b.4194999.new", "b") && !is_leftover("b.4194999.newer", "b") && !is_leftover("c.4194999.new", "b"));
    assert_true(!is_leftover("b.-4194999.new", "b") && !is_leftover("b..new", "b") && !is_leftover("b.4194999", "b"));
    assert_true(new_folder_open(&f, path, &err));
    fclose(fopen(arena_printf(&a, "%s/two", f.temp_path), "w"));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(new_folder_save(&f, &err));
    assert_true(access(arena_printf(&a, "%s/two", path), F_OK) == 0 && access(arena_printf(&a, "%s/one", path), F_OK) != 0);
    assert_false(new_folder_open(&f, path, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: is there already, and is not replaced; name a folder that is not there yet", path));
    assert_int_equal(symlink("nowhere", arena_printf(&a, "%s/link", top)), 0);
    assert_false(new_folder_open(&f, arena_printf(&a, "%s/link", top), &err));
    assert_false(new_folder_open(&f, "/", &err));
    assert_string_equal(err.msg, "/: is there already, and is not replaced; name a folder that is not there yet");
    assert_false(new_folder_open(&f, "", &err));
    assert_string_equal(err.msg, "an empty folder name; name a folder to write to");
    assert_false(new_folder_open(&f, "/dev/null/x", &err));
    assert_string_equal(err.msg, "/dev/null/x: cannot be made: Not a directory");
    assert_true(lstat(arena_printf(&a, "%s/link", top), &st) == 0 && system(arena_printf(&a, "rm -r %s", top)) == 0);
    arena_free(&a);
}

/* Of the first two of three: what is asked by the third's name is not there. */
static void fields_are_found_by_name(void **state)
{
    (void)state;
    static const struct field fields[] = { { .name = "first" }, { .name = "second" }, { .name = "third" } };
    assert_ptr_equal(field_find(fields, 2, "first"), &fields[0]);
    assert_ptr_equal(field_find(fields, 2, "second"), &fields[1]);
    assert_null(field_find(fields, 2, "third"));
    assert_null(field_find(fields, 2, "sec"));
}

/* Nothing that stands there when the folder is complete is replaced: the new one is dropped. */
static void a_folder_that_came_in_between_stays(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena a = {0};
    struct new_folder f;
    const char *path = arena_printf(&a, "/tmp/podbench-test-%ld.between", (long)getpid());
    assert_true(new_folder_open(&f, path, &err) && make_folders(arena_printf(&a, "%s/in", path), &err));
    const char *temp_path = arena_strdup(&a, f.temp_path);
    assert_false(new_folder_save(&f, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: could not be written whole: Directory not empty", path));
    assert_true(access(temp_path, F_OK) != 0 && access(arena_printf(&a, "%s/in", path), F_OK) == 0);
    assert_int_equal(system(arena_printf(&a, "rm -r %s", path)), 0);
    arena_free(&a);
}

/* More bytes than can be counted are more than there are, also where their number, cut to 64 bits, would be small. */
static void too_much_ends_the_program(void **state)
{
    static const struct { size_t n, item_bytes; bool too_much; } cases[] = {
        { SIZE_MAX / 8 + 2, 8, true }, { SIZE_MAX, 2, true }, { SIZE_MAX / 2 + 2, 2, true }, { 3, 8, false }, { 3, 0, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            struct arena a = {0};
            assert_int_equal(close(STDERR_FILENO), 0);
            arena_array(&a, cases[i].n, cases[i].item_bytes);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[i].too_much ? EXIT_OUT_OF_MEMORY : 0);
    }
}

/* Of a writer that is dead; not of one that lives, of another file, or of no writer at all. No process has a number above 2^22. */
static void leftovers_are_removed(void **state)
{
    static const struct { const char *suffix; bool stays; } files[] = { { ".4194999.new", false }, { ".4194998.new", false }, { ".x.new", true }, { ".0.new", true },
        { ".4194999.new.new", true }, { "2.4194999.new", true }, { ".1.new", true }, { ".4194999", true } };
    struct err err = {0};
    struct arena a = {0};
    struct new_file f;
    const char *path = arena_printf(&a, "/tmp/podbench-test-%ld.whole", (long)getpid());
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        fclose(fopen(arena_printf(&a, "%s%s", path, files[i].suffix), "w"));
    assert_true(new_file_open(&f, path, &err));
    new_file_drop(&f);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *name = arena_printf(&a, "%s%s", path, files[i].suffix);
        if ((access(name, F_OK) == 0) != files[i].stays)
            print_error("%s\n", name);
        assert_true((access(name, F_OK) == 0) == files[i].stays);
        unlink(name);
    }
    assert_false(new_file_open(&f, "", &err));
    assert_string_equal(err.msg, "an empty file name; name a file to write");
    arena_free(&a);
}

static void files_as_long_as_may_be(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err;
    char *text;
    size_t n;
    const char *path = temp_file("seventeen letters", 17, ".txt");
    assert_true(read_text_file(&text, &n, path, 17, &a, &err) && n == 17);
    assert_string_equal(text, "seventeen letters");
    assert_false(read_text_file(&text, &n, path, 16, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: 17 bytes, more than the 16 that such a file may have", path));
    unlink(path);
    struct csv_table table;
    struct ini_file ini;
    path = temp_file("", 0, ".txt");
    assert_int_equal(truncate(path, (64 << 20) + 1), 0);    /* of a hole, which is not read */
    assert_false(csv_load(&table, path, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: 67108865 bytes, more than the 67108864 that such a file may have", path));
    assert_int_equal(truncate(path, (1 << 20) + 1), 0);
    assert_false(ini_load(&ini, path, &a, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: 1048577 bytes, more than the 1048576 that such a file may have", path));
    assert_int_equal(truncate(path, 0), 0);
    assert_true(read_text_file(&text, NULL, path, 0, &a, &err));
    assert_string_equal(text, "");
    assert_true(file_has_text(path, "one"));            /* what is empty is not looked into */
    unlink(path);
    arena_free(&a);
}

static void a_text_is_found_in_a_file_or_taken_to_be(void **state)
{
    (void)state;
    static const char text[] = "one\0two, three";
    const char *path = temp_file(text, sizeof text - 1, ".csv");
    assert_true(file_has_text(path, "one") && file_has_text(path, "two, three") && file_has_text(path, ""));
    assert_false(file_has_text(path, "four") || file_has_text(path, "three."));
    assert_true(file_has_text(path, "\x80") && !file_has_text(path, "\x7f"));
    assert_true(file_has_text(path, "d\xc3\xa9j\xc3\xa0"));      /* as Latin-1 it would be other bytes */
    unlink(path);
    assert_true(file_has_text(path, "one") && file_has_text("tests", "one"));       /* gone; a folder */
}

static void a_device_is_written_straight_and_writers_do_not_meet(void **state)
{
    (void)state;
    struct err err = {0};
    struct new_file f;
    assert_true(new_file_open(&f, "/dev/null", &err));
    assert_string_equal(f.temp_path, "/dev/null");
    assert_true(new_file_save(&f, &err));
    char own[32];
    snprintf(own, sizeof own, ".%ld.new", (long)getpid());
    assert_true(new_file_open(&f, "/tmp/podbench-test", &err));
    assert_non_null(strstr(f.temp_path, own));
    new_file_drop(&f);
}

/* As the standard output's name, which is a link to the file that a shell opened: the file is written anew, and the link stays. */
static void what_a_link_stands_for_is_written(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena a = {0};
    struct new_file f;
    struct stat st;
    char *text;
    const char *path = temp_file("old", 3, ".txt"), *link = arena_printf(&a, "%s.link", path), *again = arena_printf(&a, "%s.again", path);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(symlink(link, again), 0);
    assert_true(new_file_open(&f, again, &err));
    assert_string_equal(f.path, path);
    fputs("new one", f.f);
    assert_true(new_file_save(&f, &err));
    assert_true(lstat(again, &st) == 0 && S_ISLNK(st.st_mode) && lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    assert_true(read_text_file(&text, NULL, path, 100, &a, &err));
    assert_string_equal(text, "new one");
    unlink(path);
    assert_false(new_file_open(&f, link, &err));
    assert_string_equal(err.msg, arena_printf(&a, "%s: cannot be written: it is a link to nothing", link));
    unlink(link);
    unlink(again);
    arena_free(&a);
}

static void a_path_stands_beside_the_file_that_gives_it(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *path = temp_file("x", 1, ".txt"), *name = strrchr(path, '/') + 1;
    assert_string_equal(path_beside("/tmp/other.csv", name, &a), path);
    assert_string_equal(path_beside("/tmp/other.csv", path, &a), path);
    assert_string_equal(path_beside("here.csv", name, &a), name);
    assert_string_equal(path_beside("/tmp/other.csv", "nothing.ini", &a), "nothing.ini");
    assert_string_equal(path_beside("R", "EADME.md", &a), "EADME.md");      /* a file here has a folder of no letters, not of its own first */
    assert_string_equal(path_beside("/other.csv", "tmp", &a), "tmp");       /* a folder is no file */
    unlink(path);
    arena_free(&a);
}

static void bytes_that_are_not_utf8_are_latin1(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err;
    char *text;
    size_t n;
    const char *whole = "caf\xc3\xa9 \xf0\x9f\x99\x82";
    assert_ptr_equal(utf8_text(whole, &a), whole);
    assert_string_equal(utf8_text("caf\xe9 \xb1 1", &a), "caf\xc3\xa9 \xc2\xb1 1");
    assert_string_equal(utf8_text("\xc3", &a), "\xc3\x83");        /* cut short */
    assert_string_equal(utf8_text("\xc0\x80", &a), "\xc3\x80\xc2\x80");   /* over-long */
    const char *path = temp_file("\xe9", 1, ".txt");
    assert_true(read_text_file(&text, &n, path, 10, &a, &err));
    assert_string_equal(text, "\xc3\xa9");
    assert_int_equal(n, 2);
    unlink(path);
    arena_free(&a);
}

/* Ends of the ranges of one to four bytes (RFC 3629), what lies between and beyond them, over-long forms, and what is cut short; each
 * behind words of ASCII, which are read eight bytes at a time. */
static void utf8_by_its_ranges(void **state)
{
    static const struct { const char *bytes; bool good; } cases[] = {
        { "\x7f", true }, { "\x80", false }, { "\xbf", false }, { "\xc1\xbf", false }, { "\xc2\x80", true }, { "\xdf\xbf", true }, { "\xc2\x7f", false },
        { "\xc2\xc0", false }, { "\xe0\x9f\xbf", false }, { "\xe0\xa0\x80", true }, { "\xed\x9f\xbf", true }, { "\xed\xa0\x80", false },
        { "\xed\xbf\xbf", false }, { "\xee\x80\x80", true }, { "\xef\xbf\xbf", true }, { "\xf0\x8f\xbf\xbf", false }, { "\xf0\x90\x80\x80", true },
        { "\xf4\x8f\xbf\xbf", true }, { "\xf4\x90\x80\x80", false }, { "\xf8\x88\x80\x80\x80", false }, { "\xff", false }, { "\xe0\xa0", false },
        { "\xf0\x90\x80", false }, { "\xc2\x80\x80", false }, { "\xe2\x82\xac\xc3\xa9", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t before = 0; before < 18; before++) {
            char text[64];
            int n = snprintf(text, sizeof text, "%.*s%s", (int)before, "seventeen letters", cases[i].bytes);
            if (is_utf8(text, (size_t)n) != cases[i].good)
                print_error("case %zu behind %zu\n", i, before);
            assert_true(is_utf8(text, (size_t)n) == cases[i].good);
        }
}

/* Names up to 300 letters with the commas between them; then dots. */
static void long_lists_of_names_are_cut(void **state)
{
    struct arena a = {0};
    char first[149], last[152];
    (void)state;
    memset(first, 'a', sizeof first);
    memset(last, 'b', sizeof last);
    first[148] = last[150] = last[151] = '\0';
    const char *const names[] = { first, last, "c" };
    assert_int_equal(strlen(names_list(names, 2, &a)), 300);
    assert_string_equal(names_list(names, 3, &a) + 300, ", ...");
    last[150] = 'b';
    assert_string_equal(names_list(names, 2, &a) + 148, ", ...");
    assert_string_equal(names_list(names, 0, &a), "");
    arena_free(&a);
}

static void text_in_xml(void **state)
{
    char *text;
    (void)state;
    PRINTED(text, write_xml_text(f, "a<b>&\"c\"\x1f\x20\t\xc3\xa9"));
    assert_string_equal(text, "a&lt;b&gt;&amp;&quot;c&quot;   \xc3\xa9");
    free(text);
}

static void a_folder_or_a_missing_file_is_refused(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err err;
    char *text;
    assert_false(read_text_file(&text, NULL, "/tmp", 10, &a, &err));
    assert_string_equal(err.msg, "/tmp: is not a regular file");
    assert_false(read_text_file(&text, NULL, "/tmp/podbench-no-such", 10, &a, &err));
    assert_string_equal(err.msg, "/tmp/podbench-no-such: No such file or directory");
    const char *path = temp_file("twelve bytes", 12, ".txt");
    assert_false(read_text_file(&text, NULL, path, 11, &a, &err));
    assert_non_null(strstr(err.msg, ": 12 bytes, more than the 11 that such a file may have"));
    unlink(path);
    arena_free(&a);
}

static void the_first_repeated_name_is_found(void **state)
{
    (void)state;
    size_t earlier = 99;
    const char *const names[] = { "c", "a", "b", "d", "a", "c", "e" };
    assert_int_equal(first_repeated(&earlier, names, 7), 4);
    assert_int_equal(earlier, 1);
    assert_int_equal(first_repeated(&earlier, names, 4), 4);
    assert_int_equal(first_repeated(&earlier, names, 0), 0);
}

/* Against printf: numbers of every size, halves, neighbours of powers of ten, whole numbers. */
static void numbers_print_as_printf_does(void **state)
{
    (void)state;
    uint64_t random = 1;
    char got[64], want[64];
    static const double some[] = { 0, -0.0, 1, -1, 0.5, 1e-4, 9.99999999949e-5, 9.9999999995, 9999999999.5, 1e10, 1e-5, 123456789.05, 12345678905e-11,
                                   0.1, 1.0 / 3, 2.0 / 3, 1e300, 1e-300, 5e-324, 999999999.95, 0.00099999999995, INFINITY, NAN };
    for (size_t i = 0; i < 400000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double v = (double)(random >> 11) * pow(10, (double)(random % 21) - 20);
        if (i % 3 == 0)
            v = round(v * 1e5) / 1e5;
        if (i % 7 == 0)
            v = (double)(random >> 44) + 0.5 * pow(0.1, (double)(i % 12));
        v = i < sizeof some / sizeof *some ? some[i] : i % 2 ? v : -v;
        size_t n = format_g10(got, v);
        snprintf(want, sizeof want, "%.10g", v);
        if (strcmp(got, want) != 0)
            print_error("%.17g\n", v);
        assert_string_equal(got, want);
        assert_int_equal(n, strlen(want));
    }
    assert_int_equal(format_u64(got, 0), 1);
    assert_string_equal(got, "0");
    assert_int_equal(format_u64(got, UINT64_MAX), 20);
    assert_string_equal(got, "18446744073709551615");
}

/* Whatever the input held: one line without control characters; letters beyond ASCII stay. */
static void messages_are_one_line(void **state)
{
    struct err err;
    (void)state;
    assert_false(fail(&err, "%s", "a\tb\nc\x7f" "d\x80 e~"));
    assert_string_equal(err.msg, "a?b?c?d\x80 e~");
    assert_false(fail_at(&err, "place"));
    assert_string_equal(err.msg, "place: a?b?c?d\x80 e~");
    assert_false(fail_at(&err, "place"));
    assert_string_equal(err.msg, "place: a?b?c?d\x80 e~");
    assert_false(fail(NULL, "nothing"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(messages_are_one_line), cmocka_unit_test(numbers_print_as_printf_does), cmocka_unit_test(the_first_repeated_name_is_found),
    cmocka_unit_test(numbers_are_whole_texts), cmocka_unit_test(small_arithmetic),
    cmocka_unit_test(arena_gives_zeroed_aligned_memory), cmocka_unit_test(grown_arrays_keep_their_items),
    cmocka_unit_test(csv_reads_quotes_and_counts_lines), cmocka_unit_test(csv_takes_rows_of_one_value), cmocka_unit_test(line_ends_of_spreadsheets), cmocka_unit_test(csv_refuses), cmocka_unit_test(tables_are_as_libcsv_has_them),
    cmocka_unit_test(ini_reads_indented_lines_apart), cmocka_unit_test(ini_refuses), cmocka_unit_test(lines_as_long_as_may_be), cmocka_unit_test(tables_as_wide_as_may_be),
    cmocka_unit_test(utf8_by_its_ranges), cmocka_unit_test(long_lists_of_names_are_cut), cmocka_unit_test(text_in_xml),
    cmocka_unit_test(bytes_that_are_not_utf8_are_latin1), cmocka_unit_test(a_device_is_written_straight_and_writers_do_not_meet),
    cmocka_unit_test(what_a_link_stands_for_is_written), cmocka_unit_test(a_path_stands_beside_the_file_that_gives_it),
    cmocka_unit_test(files_as_long_as_may_be), cmocka_unit_test(a_text_is_found_in_a_file_or_taken_to_be),
    cmocka_unit_test(files_appear_whole_or_not_at_all), cmocka_unit_test(folders_appear_whole_or_not_at_all),
    cmocka_unit_test(a_folder_that_came_in_between_stays), cmocka_unit_test(fields_are_found_by_name), cmocka_unit_test(leftovers_are_removed), cmocka_unit_test(too_much_ends_the_program), cmocka_unit_test(a_folder_or_a_missing_file_is_refused),
};
TAP_MAIN(tests)
