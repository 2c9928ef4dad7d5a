/*
 * compare.c - podbench compare: two runs, cell by cell, and why step times moved.
 */
#include "harness/harness.h"
#include "results/accuracy/compare.h"
#include "results/explain/diff.h"
#include <jansson.h>
#include <sys/stat.h>

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

struct compared { struct csv_table base, run; struct comparison comparison; };

static bool compare_table(struct compared *out, const struct options *o, const char *table, struct session *s, struct err *err)
{
    const char *base_path, *run_path;
    return run_table_path(&base_path, o->arguments[0], table, s, err) &&
           run_table_path(&run_path, o->arguments[1], table, s, err) &&
           csv_load(&out->base, base_path, &s->arena, err) && csv_load(&out->run, run_path, &s->arena, err) &&
           compare_tables(&out->comparison, &out->base, &out->run, &s->arena, err);
}

static void print_compared(const struct compared *c, size_t n, const char *const *tables, struct arena *scratch)
{
    for (size_t i = 0; i < n; i++) {
        printf("== %s\n", tables[i]);
        compare_print_text(stdout, &c[i].comparison);
        compare_print_accuracy(stdout, &c[i].base, &c[i].run, scratch);
    }
}

/* ---- why: inputs that differ, and what the moved steps are spent on ------------------------------------ */

/* Both runs' rows; false where one is no whole run. */
static bool load_sides(struct results *a, struct results *b, const struct options *o, struct session *s)
{
    const char *path;
    *a = *b = (struct results){0};
    return run_table_path(&path, o->arguments[0], "rows.csv", s, NULL) && results_load(a, path, &s->arena, NULL)
        && run_table_path(&path, o->arguments[1], "rows.csv", s, NULL) && results_load(b, path, &s->arena, NULL);
}

static json_t *manifest_inputs(const char *run, struct session *s)
{
    const char *path;
    json_t *manifest = run_table_path(&path, run, "manifest.json", s, NULL) ? json_load_file(path, 0, NULL) : NULL;
    json_t *inputs = json_incref(json_object_get(manifest, "inputs"));
    json_decref(manifest);
    return inputs;
}

static void print_changed_inputs(const struct options *o, struct session *s)
{
    json_t *a = manifest_inputs(o->arguments[0], s), *b = manifest_inputs(o->arguments[1], s), *hash;
    const char *name;
    size_t n = 0;
    json_object_foreach(b, name, hash)
        if (!json_equal(hash, json_object_get(a, name)))
            printf("%s%s", n++ ? ", " : "inputs that differ: ", name);
    json_object_foreach(a, name, hash)
        if (!json_object_get(b, name))
            printf("%s%s (gone)", n++ ? ", " : "inputs that differ: ", name);
    if (a && b)
        fputs(n ? "\n" : "inputs that differ: none; the program does\n", stdout);
    json_decref(a);
    json_decref(b);
}

static void print_why(const struct options *o, struct session *s)
{
    struct results a, b;
    size_t n = 0;
    if (!load_sides(&a, &b, o, s))
        return;
    for (size_t i = 0; i < b.n; i++) {
        const struct result *before = results_find(&a, b.items[i].id);
        if (!before || before->step_time_s == b.items[i].step_time_s)
            continue;
        if (!n++)
            printf("== why\n");
        diff_print_parts_line(stdout, before, &b.items[i]);
    }
    if (n)
        print_changed_inputs(o, s);
}

/* A changed step time says what it is made of. */
static void add_parts(json_t *changes, const struct options *o, struct session *s)
{
    struct results a, b;
    json_t *change;
    size_t i;
    if (!load_sides(&a, &b, o, s))
        return;
    json_array_foreach(changes, i, change) {
        const char *id = json_string_value(json_object_get(change, "id"));
        const struct result *x = id ? results_find(&a, id) : NULL, *y = id ? results_find(&b, id) : NULL;
        if (x && y && text_is(json_string_value(json_object_get(change, "column")), "step_time_s"))
            json_object_set_new(change, "parts", diff_parts_json(x, y));
    }
}

static json_t *compared_json(const struct compared *c, size_t n)
{
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *part = compare_json(&c[i].comparison);
        json_array_extend(all, part);
        json_decref(part);
    }
    return all;
}

int command_compare(const struct options *o, struct session *s, struct err *err)
{
    static const char *const tables[] = { "rows.csv", "check.csv" };
    size_t n = is_file(o->arguments[0]) || is_file(o->arguments[1]) ? 1 : 2, n_changes = 0;
    struct compared c[2] = {0};
    if (!run_open(o->arguments[0], NULL, s, err) || !run_open(o->arguments[1], NULL, s, err))
        return EXIT_BAD_INPUT;
    for (size_t i = 0; i < n; i++) {
        if (!compare_table(&c[i], o, tables[i], s, err))
            return EXIT_BAD_INPUT;
        n_changes += c[i].comparison.n;
    }
    if (o->format == FORMAT_JSON) {
        json_t *changes = compared_json(c, n);
        add_parts(changes, o, s);
        print_json(stdout, changes);
    } else {
        print_compared(c, n, tables, &s->arena);
        print_why(o, s);
    }
    return n_changes ? EXIT_OUT_OF_TOLERANCE : EXIT_DONE;
}
