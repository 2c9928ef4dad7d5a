/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_table.c - tables and documents in every format, to the byte. */
#include "tests/check.h"
#include "system-model/output/output.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct line { const char *name, *note; double share, limit; uint64_t n; uint32_t row; int64_t change; bool good; json_t *all; };

static const struct table_column columns[] = {
    { COLUMN(struct line, name), .heading = "what" },
    { COLUMN(struct line, share), .heading = "share %", .format = "%+.1f", .scale = 100 },
    { COLUMN(struct line, n), .heading = "n" },
    { COLUMN(struct line, limit), .zero_is_unknown = true, .csv_digits = 3 },
    { COLUMN(struct line, row), .formats = FORMAT_BIT(FORMAT_CSV) },
    { COLUMN(struct line, change), .formats = FORMAT_BIT(FORMAT_JSON) },
    { COLUMN_AS(struct line, good, "pass"), .heading = "good" },
    { COLUMN(struct line, all) , .formats = FORMAT_BIT(FORMAT_JSON) },
    { COLUMN_AS(struct line, note, NULL), .heading = "", .is_code = true },
};

static void fill(struct table *t, struct arena *a)
{
    table_add(t, &(struct line){ "a|b", "<x>", 0.1234567890123, 2.0 / 3, 7, 3, -5, true, json_pack("[s]", "q") }, a);
    table_add(t, &(struct line){ "\303\244, =1", NULL, NAN, 0, 123456789012, 4, 5, false, NULL }, a);
    table_add(t, &(struct line){ NULL, "", -INFINITY, -2, 0, 5, 0, true, NULL }, a);
}

static void formats_of_one_table(void **state)
{
    static const struct { enum output_format format; const char *text; } cases[] = {
        { FORMAT_TEXT, "title\n> what   share %             n  good\n> a|b      +12.3             7  yes   <x>\n"
                       "> \303\244, =1        -  123456789012  no    -\n> -            -             0  yes\n" },
        { FORMAT_CSV, "name,share,n,limit,row,pass\na|b,0.123456789,7,0.667,3,yes\n\"\303\244, =1\",,123456789012,,4,no\n,,0,-2,5,yes\n" },
        { FORMAT_MARKDOWN, "title\n\n| what | share % | n | good |  |\n|---|---|---|---|---|\n| a\\|b | +12.3 | 7 | yes | `<x>` |\n"
                           "| \303\244, =1 | - | 123456789012 | no | `-` |\n| - | - | 0 | yes |  |\n" },
        { FORMAT_JSON, "[{\"name\": \"a|b\", \"share\": 0.1234567890123, \"n\": 7, \"limit\": 0.666666666666667, \"change\": -5, \"pass\": true, "
                       "\"all\": [\"q\"]}, {\"name\": \"\303\244, =1\", \"share\": null, \"n\": 123456789012, \"limit\": null, \"change\": 5, "
                       "\"pass\": false, \"all\": null}, {\"name\": null, \"share\": null, \"n\": 0, \"limit\": -2.0, \"change\": 0, "
                       "\"pass\": true, \"all\": null}]" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct table t = TABLE(columns, struct line);
        char *text;
        t.title = "title", t.indent = "> ";
        fill(&t, &a);
        if (cases[i].format == FORMAT_JSON) {
            json_t *json = table_json(&t);
            text = json_dumps(json, JSON_REAL_PRECISION(15));
            json_decref(json);
        } else {
            PRINTED(text, table_write(f, cases[i].format, &t));
            table_drop_json(&t);
        }
        assert_string_equal(text, cases[i].text);
        free(text);
        arena_free(&a);
    }
}

/* A kept row has its own texts. The longest heading sets the width of lines, and a quantity has its unit with it. */
static void kept_rows_are_printed_as_lines(void **state)
{
    static const struct table_column lines[] = {
        { COLUMN(struct line, name), .heading = "the longest" }, { COLUMN(struct line, note), .heading = "note" },
        { COLUMN(struct line, share), .heading = "time", .unit = "s", .digits = 3, .scale = 1000 }, { COLUMN(struct line, limit), .heading = "rate", .unit = "s", .digits = 2 },
        { COLUMN(struct line, n), .heading = "size", .unit = "B", .digits = 2 },
    };
    struct arena a = {0};
    struct table t = TABLE(lines, struct line);
    char name[] = "one", note[] = "two", *text;
    (void)state;
    table_keep(&t, &(struct line){ .name = name, .note = note, .share = 0.0572, .limit = 0.25, .n = 4200 }, &a);
    *name = *note = '-';
    t.as_lines = true;
    PRINTED(text, table_write(f, FORMAT_TEXT, &t));
    assert_string_equal(text, "the longest  one\nnote         two\ntime         57.2 s\nrate         250 ms\nsize         4.2 kB\n");
    free(text);
    arena_free(&a);
}

/* A text that is not UTF-8 is taken for Latin-1; control characters do not break a line. */
static void texts_are_made_fit(void **state)
{
    static const struct table_column name[] = { { COLUMN(struct line, name), .heading = "" } };
    const struct line line = { .name = "\344\n" };
    struct table t = TABLE_OF(name, &line, 1);
    char *text, *json;
    (void)state;
    PRINTED(json, table_write(f, FORMAT_JSON, &t));
    PRINTED(text, table_write(f, FORMAT_TEXT, &t));
    assert_string_equal(json, "[\n  {\n    \"name\": \"\303\244\\n\"\n  }\n]\n");
    assert_string_equal(text, "\344 \n");
    free(text);
    free(json);
}

static void a_document_has_its_parts_in_order(void **state)
{
    static const struct table_column name[] = { { COLUMN(struct line, name), .heading = "name" } };
    static const struct { enum output_format format; const char *text; } cases[] = {
        { FORMAT_TEXT, "head 7\nname\none\ntail\n" }, { FORMAT_CSV, "name\none\n" }, { FORMAT_MARKDOWN, "head 7\n| name |\n|---|\n| one |\n" },
        { FORMAT_JSON, "{\n  \"name\": \"two\",\n  \"rows\": [\n    {\n      \"name\": \"one\"\n    }\n  ],\n  \"more\": 5\n}\n" },
        { FORMAT_TAP, "1..1\nok 1 - one: good\n" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct document d = { .arena = &a };
        struct table one = TABLE(name, struct line), two = TABLE(name, struct line);
        char *text;
        one.name = "rows", two.is_object = true, two.formats = FORMAT_BIT(FORMAT_JSON);
        document_line(&d, "head %d", 7);
        table_add(document_table(&d, two), &(struct line){ .name = "two" }, &a);
        table_add(document_table(&d, one), &(struct line){ .name = "one" }, &a);
        document_line_for(&d, FORMAT_BIT(FORMAT_TEXT), "tail");
        document_member(&d, "more", json_integer(5));
        if (cases[i].format == FORMAT_TAP) {
            d.judged.suite = "s";
            judgements_add(&d.judged, (struct judgement){ .name = "one", .message = "good" }, &a);
        }
        PRINTED(text, document_write(f, cases[i].format, &d));
        assert_string_equal(text, cases[i].text);
        free(text);
        arena_free(&a);
    }
}

/* A stream stands where it was opened, in its formats, whenever it is written to; a document that is dropped leaks nothing. */
static void streams_are_parts(void **state)
{
    static const struct { enum output_format format; const char *text; } cases[] = {
        { FORMAT_TEXT, "head\nlate\ntail\n" }, { FORMAT_MARKDOWN, "head\ntail\n" }, { FORMAT_JSON, "{\n  \"n\": 5\n}\n" }, { N_OUTPUT_FORMATS, "" },
    };
    (void)state;
    char *text;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct document d = { .arena = &a };
        document_line(&d, "head");
        FILE *late = document_stream(&d, IN_TEXT);
        document_line(&d, "tail");
        document_member(&d, "n", json_integer(5));
        fputs("late\n", late);
        PRINTED(text, cases[i].format < N_OUTPUT_FORMATS ? document_write(f, cases[i].format, &d) : document_drop(&d));
        assert_string_equal(text, cases[i].text);
        free(text);
        arena_free(&a);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(formats_of_one_table), cmocka_unit_test(texts_are_made_fit), cmocka_unit_test(a_document_has_its_parts_in_order),
    cmocka_unit_test(streams_are_parts), cmocka_unit_test(kept_rows_are_printed_as_lines),
};
TAP_MAIN(tests)
