/*
 * compare.c - podbench compare: two runs, cell by cell.
 */
#include "harness/harness.h"
#include "results/accuracy/compare.h"
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
    if (o->format == FORMAT_JSON)
        print_json(stdout, compared_json(c, n));
    else
        print_compared(c, n, tables, &s->arena);
    return n_changes ? EXIT_OUT_OF_TOLERANCE : EXIT_DONE;
}
