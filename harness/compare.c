/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.c - podbench compare: what changed between two runs, and whether accuracy held. With --all, and for two tables, it lists every cell that
 * differs.
 */
#include "harness/harness.h"
#include "results/published/check.h"
#include "results/study/diff.h"
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- cells ------------------------------------------------------------------------------------------ */

static bool compare_cells(struct comparison *out, const struct csv_table *base, const struct csv_table *run, struct session *s,
                          struct err *err)
{
    *out = (struct comparison){0};
    return compare_tables(out, base, run, &s->arena, err);
}

static int compare_files(const struct options *o, struct session *s, struct err *err)
{
    struct csv_table base, run;
    struct comparison c;
    if (o->margin || (o->format != FORMAT_TEXT && o->format != FORMAT_JSON))
        return bad_input(err, "compare: two tables are compared cell by cell, as text or json; leave out --margin and --format %s",
                         format_names[o->format]);
    if (!csv_load(&base, o->arguments[0], &s->arena, err) || !csv_load(&run, o->arguments[1], &s->arena, err) ||
        !compare_cells(&c, &base, &run, s, err))
        return EXIT_BAD_INPUT;
    compare_document(&s->answer, &c);
    if (base.crlf != run.crlf)
        fprintf(s->log, "podbench: %s has CRLF line ends and %s has LF; only cells are compared\n",
                base.crlf ? base.path : run.path, base.crlf ? run.path : base.path);
    return c.n ? EXIT_OUT_OF_TOLERANCE : EXIT_DONE;
}

/* Loads the rows of both runs, to find the parts of steps whose time changed. */
static bool load_sides(struct results *a, struct results *b, const struct gate_tables *base, const struct gate_tables *run,
                       struct session *s)
{
    *a = *b = (struct results){0};
    return results_load(a, base->rows.path, &s->arena, NULL) && results_load(b, run->rows.path, &s->arena, NULL);
}

static void print_parts(const struct gate_tables *base, const struct gate_tables *run, struct session *s)
{
    struct results a, b;
    if (!load_sides(&a, &b, base, run, s))
        return;
    fprintf(s->out, "== why\n");
    for (size_t i = 0; i < b.n; i++) {
        const struct result *before = results_find(&a, b.items[i].id);
        if (before && before->step_time_s != b.items[i].step_time_s)
            diff_print_parts_line(s->out, before, &b.items[i]);
    }
}

static void add_parts(json_t *changes, const struct gate_tables *base, const struct gate_tables *run, struct session *s)
{
    struct results a, b;
    json_t *change;
    size_t i;
    if (!load_sides(&a, &b, base, run, s))
        return;
    json_array_foreach(changes, i, change) {
        const char *id = json_string_value(json_object_get(change, "id"));
        const struct result *x = id ? results_find(&a, id) : NULL, *y = id ? results_find(&b, id) : NULL;
        if (x && y && text_is(json_string_value(json_object_get(change, "column")), "step_time_s"))
            json_object_set_new(change, "parts", diff_parts_json(x, y));
    }
}

/* Prints every cell that differs, of both tables; in JSON they are one array. */
static bool print_cells(const struct options *o, const struct gate_tables *base, const struct gate_tables *run, struct session *s,
                        struct err *err)
{
    struct comparison rows, check;
    if (!compare_cells(&rows, &base->rows, &run->rows, s, err) || !compare_cells(&check, &base->check, &run->check, s, err))
        return false;
    if (o->format == FORMAT_JSON) {
        struct table of_rows = compare_table(&rows, &s->arena), of_check = compare_table(&check, &s->arena);
        json_t *all = table_json(&of_rows), *rest = table_json(&of_check);
        json_array_extend(all, rest);
        json_decref(rest);
        add_parts(all, base, run, s);
        print_json(s->out, all);
        return true;
    }
    struct document d = { .arena = &s->arena };
    document_line(&d, "== rows.csv");
    compare_document(&d, &rows);
    document_line(&d, "== check.csv");
    compare_document(&d, &check);
    document_write(s->out, FORMAT_TEXT, &d);
    print_parts(base, run, s);
    return true;
}

/* ---- gates ------------------------------------------------------------------------------------------ */

static bool load_tables(struct gate_tables *out, const char *run, struct session *s, struct err *err)
{
    const char *rows, *check;
    return run_open(run, NULL, s, err) &&
           run_table_path(&rows, run, "rows.csv", s, err) && run_table_path(&check, run, "check.csv", s, err) &&
           csv_load(&out->rows, rows, &s->arena, err) && csv_load(&out->check, check, &s->arena, err);
}

bool gate_of(struct gate *out, struct gate_tables *tables, const char *base, const char *run, double margin, struct session *s,
             struct err *err)
{
    const char *manifests[2];
    return load_tables(&tables[0], base, s, err) && load_tables(&tables[1], run, s, err) &&
           gate_build(out, &tables[0], &tables[1], margin, &s->arena, err) &&
           run_table_path(&manifests[0], base, "manifest.json", s, err) &&
           run_table_path(&manifests[1], run, "manifest.json", s, err) &&
           gate_inputs(out, manifests[0], manifests[1], &s->arena, err);
}

bool baseline_is_recorded(const char *baseline, struct arena *a)
{
    return access(arena_printf(a, "%s/manifest.json", baseline), F_OK) == 0;
}

bool margin_of(double *margin, const struct options *o, struct err *err)
{
    *margin = 0.01;
    if (o->margin && (!parse_f64(o->margin, margin) || *margin < 0))
        return fail(err, "--margin: '%.40s' is not a share from 0 up, as in 0.01 for one point of mean error", o->margin);
    return true;
}

int command_compare(const struct options *o, struct session *s, struct err *err)
{
    struct gate_tables tables[2];
    struct gate g;
    struct document d = { .arena = &s->arena };
    double margin;
    const char *run = o->arguments[o->n_arguments - 1], *base = o->n_arguments == 2 ? o->arguments[0] : s->baselines_dir;
    if (o->n_arguments == 2 && o->baseline)
        return bad_input(err, "compare: %s and --baseline %s both name the base; leave one of them out", base, o->baseline);
    if (o->n_arguments == 2 && (is_file(base) || is_file(run)))
        return compare_files(o, s, err);
    if (o->n_arguments == 1 && !baseline_is_recorded(base, &s->arena))
        return bad_input(err, "%s: no baseline yet: 'podbench baseline %s%s --reason first' records one%s", base, run,
                         o->baseline ? arena_printf(&s->arena, " --baseline %s", base) : "",
                         o->baseline ? ", as 'make baseline REASON=first' does in a project" : "");
    if (!margin_of(&margin, o, err) || !gate_of(&g, tables, base, run, margin, s, err))
        return EXIT_BAD_INPUT;
    gate_document(&d, &g);
    compare_add_accuracy(&d, &tables[0].check, &tables[1].check);
    if (o->format != FORMAT_JSON)
        document_write(s->out, o->format, &d);
    if ((o->format == FORMAT_JSON || (o->all && o->format == FORMAT_TEXT)) && !print_cells(o, &tables[0], &tables[1], s, err))
        return EXIT_BAD_INPUT;
    return judgements_pass(&d.judged) ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}
