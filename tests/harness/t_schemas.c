/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_schemas.c - docs/schema: the JSON Schema of each command's JSON, as the answers in tests/golden/printed have it. A member that comes, goes or
 * changes its type shows in a schema's diff. Each has a meaning and a unit: in docs/schema/fields.csv, or in the schema of a run.
 */
#include "harness/harness.h"
#include "results/simulate/result.h"
#include "tests/check.h"
#include "tests/golden_text.h"
#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void add_word(json_t *words, const char *word)
{
    const json_t *item;
    size_t i;
    json_array_foreach(words, i, item)
        if (strcmp(json_string_value(item), word) == 0)
            return;
    for (i = 0; i < json_array_size(words) && strcmp(json_string_value(json_array_get(words, i)), word) < 0; i++)
        ;
    json_array_insert_new(words, i, json_string(word));
}

static json_t *part_of(json_t *schema, const char *name, json_t *fresh)
{
    if (!json_object_get(schema, name))
        json_object_set(schema, name, fresh);
    json_decref(fresh);
    return json_object_get(schema, name);
}

/* Widens the schema until it describes the value. A member is required if every object of its place has it. */
static void widen(json_t *schema, const json_t *value)
{
    static const char *const types[] = { [JSON_OBJECT] = "object", [JSON_ARRAY] = "array", [JSON_STRING] = "string", [JSON_INTEGER] = "number",
                                         [JSON_REAL] = "number", [JSON_TRUE] = "boolean", [JSON_FALSE] = "boolean", [JSON_NULL] = "null" };
    const json_t *item;
    const char *key;
    size_t i;
    add_word(part_of(schema, "type", json_array()), types[json_typeof(value)]);
    json_array_foreach(value, i, item)
        widen(part_of(schema, "items", json_object()), item);
    if (!json_is_object(value))
        return;
    bool is_first = !json_object_get(schema, "properties");
    json_t *properties = part_of(schema, "properties", json_object()), *required = part_of(schema, "required", json_array());
    for (i = json_array_size(required); i-- > 0; )
        if (!json_object_get(value, json_string_value(json_array_get(required, i))))
            json_array_remove(required, i);
    json_object_foreach((json_t *)value, key, item) {
        if (is_first)
            add_word(required, key);
        widen(part_of(properties, key, json_object()), item);
    }
}

/* "list keys" is list-keys. */
static const char *name_of(const char *line, struct arena *a)
{
    char first[32] = "", second[32] = "";
    sscanf(line, "$ podbench %31s %31s", first, second);
    return strcmp(first, "list") == 0 ? arena_printf(a, "list-%s", second) : arena_strdup(a, first);
}

/* The JSON values after a command line, one after the other: sweep and lint print more than one. Other lines are messages and the status. */
static void read_answers(json_t *schemas, const char *name, const char *text, size_t n)
{
    while (n && strchr(" \n", *text))
        text++, n--;
    while (n && strchr("[{", *text)) {
        json_error_t error;
        json_t *value = json_loadb(text, n, JSON_DISABLE_EOF_CHECK, &error);
        if (!value)
            print_error("%s: %s\n", name, error.text), assert_true(false);
        widen(part_of(schemas, name, json_object()), value);
        json_decref(value);
        text += error.position, n -= (size_t)error.position;
        while (n && strchr(" \n", *text))
            text++, n--;
    }
}

static void read_printed(json_t *schemas, const char *path, struct arena *a)
{
    char *text;
    struct err err;
    assert_true(read_text_file(&text, NULL, path, 1 << 24, a, &err));
    for (char *at = text, *next; at; at = next) {
        char *end = strchr(at, '\n');
        next = strstr(at, "\n$ podbench ");
        next = next ? next + 1 : NULL;
        if (!end || strncmp(at, "$ podbench ", 11) != 0)
            continue;
        *end = 0;
        size_t n = next ? (size_t)(next - end - 1) : strlen(end + 1);
        if (strstr(at, " --format json"))
            read_answers(schemas, name_of(at, a), end + 1, n);
    }
}

static json_t *printed_schemas(struct arena *a)
{
    json_t *schemas = json_object();
    struct dirent **files;
    int n = scandir("tests/golden/printed", &files, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (files[i]->d_name[0] != '.')
            read_printed(schemas, arena_printf(a, "tests/golden/printed/%s", files[i]->d_name), a);
        free(files[i]);
    }
    free(files);
    return schemas;
}

/* docs/schema/fields.csv: what members mean, by name. A row PLACE.NAME is for members of PLACE, an object or a command, and goes first; PLACE.* is for all
 * other members of PLACE. Names of a run's metrics are described by its schema. */
struct fields { struct csv_table table; bool *is_used; json_t *run; struct arena *a; };

static const struct csv_row *field_named(struct fields *f, const char *name)
{
    for (size_t i = 0; i < f->table.n_rows; i++)
        if (text_is(f->table.rows[i].cells[0], name)) {
            f->is_used[i] = true;
            return &f->table.rows[i];
        }
    return NULL;
}

static const struct csv_row *field_of(struct fields *f, const char *place, const char *name)
{
    return field_named(f, arena_printf(f->a, "%s.%s", place, name));
}

static const json_t *property(const json_t *schema, const char *name)
{
    return json_object_get(json_object_get(schema, "properties"), name);
}

static void set_meaning(json_t *member, const char *unit, const char *meaning)
{
    const json_t *type;
    size_t i;
    json_object_set_new(member, "description", json_string(meaning));
    json_array_foreach(json_object_get(member, "type"), i, type)
        if (*unit && text_is(json_string_value(type), "number"))
            json_object_set_new(member, "unit", json_string(unit));
}

/* A metric has the types that its table gives it, whatever these answers had. */
static void add_types(json_t *member, const json_t *declared)
{
    const json_t *type;
    size_t i;
    json_array_foreach(declared, i, type)
        add_types(member, type);
    if (json_is_string(declared))
        add_word(json_object_get(member, "type"), text_is(json_string_value(declared), "integer") ? "number" : json_string_value(declared));
}

/* False where nothing says what the member means. */
static bool describe(json_t *member, const char *command, const char *place, const char *name, struct fields *f)
{
    bool is_part = property(property(f->run, "breakdown"), name);
    const json_t *metric = property(property(f->run, place), name) && !is_part ? property(property(f->run, place), name) : property(f->run, name);
    const struct csv_row *row = field_of(f, place, name);
    row = row ? row : field_of(f, command, name);
    row = row || !is_part ? row : field_of(f, place, "*");
    if (!row && json_object_get(metric, "description")) {
        add_types(member, json_object_get(metric, "type"));
        set_meaning(member, json_object_get(metric, "unit") ? json_string_value(json_object_get(metric, "unit")) : "", json_string_value(json_object_get(metric, "description")));
        return true;
    }
    row = row ? row : field_named(f, name);
    row = row ? row : field_of(f, place, "*");
    if (row)
        set_meaning(member, row->cells[1], row->cells[2]);
    return row;
}

/* Counts the members that nothing describes, and names them. */
static size_t describe_members(json_t *schema, const char *command, const char *place, struct fields *f)
{
    const char *name;
    json_t *member;
    size_t n_missing = 0;
    json_object_foreach(json_object_get(schema, "properties"), name, member) {
        if (!describe(member, command, place, name, f))
            print_error("docs/schema/fields.csv: has no meaning of %s.%s of %s\n", place, name, command), n_missing++;
        n_missing += describe_members(member, command, name, f);
    }
    json_t *items = json_object_get(schema, "items");
    return n_missing + (items ? describe_members(items, command, place, f) : 0);
}

/* On one line where it is short; else a line for each member. */
static void write_schema(FILE *f, json_t *schema, int depth)
{
    char *text = json_dumps(schema, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    const char *key;
    json_t *item, *sorted = json_is_object(schema) && strlen(text) > 140 ? json_loads(text, 0, NULL) : NULL;
    bool is_first = true;
    if (!sorted)
        fputs(text, f);
    json_object_foreach(sorted, key, item) {
        fprintf(f, "%s\n%*s\"%s\": ", is_first ? "{" : ",", depth + 1, "", key);
        write_schema(f, item, depth + 1);
        is_first = false;
    }
    if (sorted)
        fprintf(f, "\n%*s}", depth, "");
    json_decref(sorted);
    free(text);
}

static void schemas_describe_what_is_printed(void **state)
{
    struct arena a = {0};
    struct err err;
    json_t *schemas = printed_schemas(&a), *schema, *run = result_json_schema();
    struct fields f = { .run = json_object_get(run, "items"), .a = &a };
    const char *name;
    size_t n_wrong = 0;
    (void)state;
    assert_true(csv_load(&f.table, "docs/schema/fields.csv", &a, &err));
    f.is_used = ARENA_ARRAY(&a, bool, f.table.n_rows);
    json_object_foreach(schemas, name, schema)
        n_wrong += describe_members(schema, name, name, &f);
    for (size_t i = 0; i < f.table.n_rows; i++)
        if (!f.is_used[i])
            print_error("docs/schema/fields.csv: nothing has the member %s\n", f.table.rows[i].cells[0]), n_wrong++;
    assert_int_equal(n_wrong, 0);
    json_object_foreach(schemas, name, schema) {
        json_object_set_new(schema, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
        json_object_set_new(schema, "title", json_string(arena_printf(&a, "podbench %s --format json", name)));
        json_object_set_new(schema, "version", json_integer(RESULT_FORMAT));
        char *text;
        size_t n;
        FILE *out = text_stream(&text, &n);
        write_schema(out, schema, 0);
        fputc('\n', out);
        fclose(out);
        assert_golden(text, arena_printf(&a, "docs/schema/%s.json", name), &a);
        free(text);
    }
    json_decref(schemas);
    json_decref(run);
    arena_free(&a);
}

static void every_command_with_json_has_a_schema(void **state)
{
    struct arena a = {0};
    json_t *schemas = printed_schemas(&a);
    (void)state;
    for (size_t i = 0; i < n_commands; i++)
        if (commands[i].formats & FORMAT_BIT(FORMAT_JSON) && strcmp(commands[i].name, "list") != 0
            && !json_object_get(schemas, commands[i].name))
            print_error("%s\n", commands[i].name), assert_true(false);
    json_decref(schemas);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(schemas_describe_what_is_printed), cmocka_unit_test(every_command_with_json_has_a_schema),
};
TAP_MAIN(tests)
