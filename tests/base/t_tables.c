/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_tables.c - CSV and INI: what they accept and the exact words of what they refuse. */
#include "tests/check.h"
#include "tests/random.h"
#include "system-model/base/base.h"

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

/* Lines without quotes are cut at their commas, others go to libcsv: both trim blanks, skip blank lines and count the same lines. */
static void cells_are_read_alike_with_quotes(void **state)
{
    static const char *const cells[] = { "", "7", "b c", "'=1+1", "\xc3\xa9", "0" }, *const blanks[] = { "", "", " ", "\t  " }, *const ends[] = { "\n", "\r\n", " \n", "\n \t\n" };
    struct arena a = {0};
    struct csv_table plain, quoted;
    struct err err;
    uint64_t random = 1;
    (void)state;
    for (int i = 0; i < 50; i++) {
        const char *texts[] = { "k,l,m\n", "k,l,m\n" };
        for (int cell = 0; cell < 21; cell++) {
            const char *text = cells[random_below(&random, 6)], *before = blanks[random_below(&random, 4)], *after = blanks[random_below(&random, 4)];
            const char *end = cell % 3 < 2 ? "," : ends[random_below(&random, 4)];
            if (cell % 3 == 0 && !*text)            /* a row of three cells in any case */
                text = "first";
            texts[0] = arena_printf(&a, "%s%s%s%s%s", texts[0], before, text, after, end);
            texts[1] = arena_printf(&a, "%s%s\"%s\"%s%s", texts[1], before, text, after, end);
        }
        assert_true(csv_read_text(&plain, "plain", texts[0], strlen(texts[0]), &a, &err) && csv_read_text(&quoted, "quoted", texts[1], strlen(texts[1]), &a, &err));
        assert_int_equal(plain.n_rows, 7);
        for (size_t r = 0; r < 7; r++) {
            assert_int_equal(plain.rows[r].line, quoted.rows[r].line);
            for (size_t k = 0; k < 3; k++)
                assert_string_equal(plain.rows[r].cells[k], quoted.rows[r].cells[k]);
        }
    }
    arena_free(&a);
}

/* Only the end of the header line counts; an empty first line does not, and neither does a missing end. */
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
    assert_string_equal(CSV_MESSAGE(",b\n"), ":1: column 1 has no name");
    assert_string_equal(CSV_MESSAGE("a,b,a\n"), ":1: column 'a' appears twice");
    assert_string_equal(CSV_MESSAGE("a,b\n1,2\n3\n"), ":3: 1 cell, want 2 (a, ...)");
    assert_string_equal(CSV_MESSAGE("a,b\n1,\"2\n3,4\n"), ":2: a quote is not closed");
    assert_string_equal(CSV_MESSAGE("a,b\n1,2\n\"3,4\n"), ":3: a quote is not closed");
    assert_string_equal(CSV_MESSAGE("a,b\n1,2\n\"3\n\",4,5\n"), ":3: 3 cells, want 2 (a, ...)");
    assert_string_equal(CSV_MESSAGE("a,b\n1,2 \"inch\n"), ":2: a quote stands within a cell; put the whole cell in quotes, and double those in it");
    assert_string_equal(CSV_MESSAGE("a;b\n1;2\n"), ":1: cells are separated by semicolons, want commas");
    assert_string_equal(CSV_MESSAGE("a\tb;c\n1\t2\n"), ":1: cells are separated by tabs, want commas");
    assert_string_equal(CSV_MESSAGE("a;b,c\n1;2,3\n"), "");
    assert_string_equal(CSV_MESSAGE("a,b\n1,\0\n"), ": is binary (a zero byte at offset 6), want text");
}

/* Blanks around cells, line ends within quotes, and every kind of line end. */
static void csv_reads_what_spreadsheets_write(void **state)
{
    (void)state;
    struct arena a = {0};
    struct csv_table t;
    struct err err;
    char *got;
    const char *text = "one,two,three\r\n \t1  ,a b,caf\xc3\xa9 au lait\n\n \t\n\"x,y\" , \"two\r\n\n, three\",\"a \"\"b\"\"\"\r,\"\",\" \n4, 5\n\"";
    const char *path = temp_file(text, strlen(text), ".csv");
    assert_true(csv_load(&t, path, &a, &err));
    PRINTED(got, for (size_t i = 0; i < t.n_rows; i++) fprintf(f, "%u:%s|%s|%s\n", t.rows[i].line, t.rows[i].cells[0], t.rows[i].cells[1], t.rows[i].cells[2]));
    assert_string_equal(got, "2:1|a b|caf\xc3\xa9 au lait\n5:x,y|two\r\n\n, three|a \"b\"\n7:|| \n4, 5\n\n");        /* a lone carriage return ends a row */
    free(got);
    unlink(path);
    arena_free(&a);
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

static void ini_reads_keys_values_and_comments(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ini_file f;
    struct err err;
    const char *text = "\xef\xbb\xbf[parallel] ; first\r\nreplicas = 16\n  micro_batch = 20 ; images\n; = x\n# y\n \t\r\n[data]\ndataset = a b;c\n"
                       "onnx::If_52 = 1\nonnx::Less_3=x:y\nempty=\nby : colon";
    const char *path = temp_file(text, strlen(text), ".ini");
    assert_true(ini_load(&f, path, &a, &err));
    assert_int_equal(f.n_entries, 7);
    assert_string_equal(f.entries[1].key, "micro_batch");
    assert_string_equal(f.entries[1].value, "20");
    assert_int_equal(f.entries[1].line, 3);
    assert_string_equal(f.entries[2].section, "data");
    assert_int_equal(f.entries[2].line, 8);
    assert_string_equal(f.entries[2].value, "a b;c");
    assert_string_equal(f.entries[3].key, "onnx::If_52");
    assert_string_equal(f.entries[3].value, "1");
    assert_string_equal(f.entries[4].key, "onnx::Less_3");
    assert_string_equal(f.entries[4].value, "x:y");
    assert_string_equal(f.entries[5].value, "");
    assert_string_equal(f.entries[6].key, "by");
    assert_string_equal(f.entries[6].value, "colon");
    unlink(path);
    arena_free(&a);
}

static void ini_refuses(void **state)
{
    (void)state;
    assert_string_equal(ini_message(""), ": is empty, want sections of key = value");
    assert_string_equal(ini_message("replicas = 4\n"), ":1: key 'replicas' stands before any [section]");
    assert_string_equal(ini_message("[a]\nx = 1\n\nx = 2\n"), ":4: a.x is already in line 2");
    assert_string_equal(ini_message("[a]\njust words ; = x\n"), ":2: is neither [section] nor key = value");
    assert_string_equal(ini_message("[a]\n[b ; ]\n"), ":2: is neither [section] nor key = value");
}

/* Lines of 2,000 characters, without leading blanks and the line end, and of one more. A comment may be longer. */
static void lines_have_a_largest_length(void **state)
{
    (void)state;
    static const char refused[] = ":2: line is longer than 2000 characters; put what is no setting into a comment, which may be longer";
    for (size_t n = 2000; n <= 2001; n++) {
        char text[2100] = "[a]\n \tx = ";
        memset(text + strlen(text), 'y', n - 4);
        assert_string_equal(ini_message(text), n == 2000 ? "" : refused);
        strcat(text, "\nz = 1\n");
        assert_string_equal(ini_message(text), n == 2000 ? "" : refused);
        text[5] = ';';
        assert_string_equal(ini_message(text), "");
    }
}

/* 256 columns, and one more, in the header and below it. */
static void tables_have_a_largest_width(void **state)
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

/* A value of each type, read and written again. */
/* A text that a spreadsheet would compute has an apostrophe in the file, and none when it is read. Numbers have none. */
static void formulas_are_written_as_text(void **state)
{
    static const char *const cells[] = { "=cmd|x", "+a1", "@b", "-x,y", "-5.25", "+3", "-", "=", "'quoted", "a=b" };
    enum { N = sizeof cells / sizeof *cells };
    struct arena a = {0};
    struct csv_table t;
    struct err err = {0};
    char *text;
    (void)state;
    size_t n;
    FILE *f = text_stream(&text, &n);
    for (size_t i = 0; i < N; i++)
        fprintf(f, "c%zu%c", i, i + 1 < N ? ',' : '\n');
    for (size_t i = 0; i < N; i++)
        csv_write_cell(f, cells[i], i + 1 == N);
    fclose(f);
    assert_string_equal(strchr(text, '\n') + 1, "'=cmd|x,'+a1,'@b,\"'-x,y\",-5.25,+3,-,=,'quoted,a=b\n");
    const char *path = temp_file(text, n, ".csv");
    assert_true(csv_load(&t, path, &a, &err));
    for (size_t i = 0; i < N; i++)
        assert_string_equal(t.rows[0].cells[i], cells[i]);
    unlink(path);
    free(text);
    arena_free(&a);
}

static void fields_are_written_as_they_are_read(void **state)
{
    struct record { uint64_t most; const char *words; uint32_t count; double part; bool flag; int choice; } r = {0};
    static const char *const colours[] = { "red", "green", "blue", NULL };
    static const struct { struct field field; const char *empty, *read, *written; } rows[] = {
        { { .name = "most", .type = FIELD_U64, .offset = offsetof(struct record, most), .max = 1.8e19 }, "0", "012345678901234567", "12345678901234567" },
        { { .name = "words", .type = FIELD_TEXT, .offset = offsetof(struct record, words) }, "", "3,7,7", "3,7,7" },
        { { .name = "count", .type = FIELD_U32, .offset = offsetof(struct record, count), .max = 4e9 }, "0", "3000000019", "3000000019" },
        { { .name = "part", .type = FIELD_F64, .offset = offsetof(struct record, part), .max = 9 }, "0", "23456789.0125e-7", "2.34567890125" },
        { { .name = "flag", .type = FIELD_BOOL, .offset = offsetof(struct record, flag) }, "no", "yes", "yes" },
        { { .name = "choice", .type = FIELD_CHOICE, .offset = offsetof(struct record, choice), .choices = colours }, "red", "blue", "blue" },
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(field_text(&rows[i].field, &r, &a), rows[i].empty);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(field_set(&r, &rows[i].field, rows[i].read, rows[i].field.name, NULL));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(field_text(&rows[i].field, &r, &a), rows[i].written);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(csv_reads_quotes_and_counts_lines), cmocka_unit_test(cells_are_read_alike_with_quotes), cmocka_unit_test(line_ends_of_spreadsheets), cmocka_unit_test(csv_refuses),
    cmocka_unit_test(csv_reads_what_spreadsheets_write), cmocka_unit_test(ini_reads_keys_values_and_comments),
    cmocka_unit_test(ini_refuses), cmocka_unit_test(lines_have_a_largest_length),
    cmocka_unit_test(tables_have_a_largest_width), cmocka_unit_test(fields_are_written_as_they_are_read), cmocka_unit_test(formulas_are_written_as_text),
};
TAP_MAIN(tests)
