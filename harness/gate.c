/*
 * gate.c - the gate: check (against what was published), validate (accuracy by role), compare (against a run before).
 */
#include "harness/harness.h"
#include "results/check.h"
#include "results/compare.h"
#include <jansson.h>
#include <sys/stat.h>

/* ---- check and validate ------------------------------------------------------------------------ */

/* Values come from the run that is named, else every recipe is simulated as it is needed. */
static bool build_check(struct check *out, const struct options *o, struct session *s, struct err *err)
{
    struct figures *figures = ARENA_NEW(&s->arena, struct figures);
    struct progress p;
    struct check_source from = { .paths = &s->paths, .cache = &s->cache, .progress = progress_show, .user = &p };
    const char *rows;
    if (!published_load(figures, o->published ? o->published : s->published_dir, &s->arena, err))
        return false;
    if (o->n_arguments && (!run_table_path(&rows, o->arguments[0], "rows.csv", s, err) ||
                           !results_load(&from.known, rows, &s->arena, err)))
        return false;
    progress_start(&p, "checking");
    bool good = check_build(out, figures, &from, &s->arena, err);
    progress_end(&p);
    return good;
}

int command_check(const struct options *o, struct session *s, struct err *err)
{
    struct check c;
    if (!build_check(&c, o, s, err))
        return EXIT_BAD_INPUT;
    switch (o->format) {
    case FORMAT_JSON:  print_json(stdout, check_json(&c)); break;
    case FORMAT_CSV:   check_write_csv(stdout, &c); break;
    case FORMAT_TAP:   check_print_tap(stdout, &c); break;
    case FORMAT_JUNIT: check_print_junit(stdout, &c); break;
    default:           check_print_text(stdout, &c, &s->arena);
    }
    return check_passes(&c) ? EXIT_DONE : EXIT_OUT_OF_TOLERANCE;
}

int command_validate(const struct options *o, struct session *s, struct err *err)
{
    struct check c;
    if (!build_check(&c, o, s, err))
        return EXIT_BAD_INPUT;
    const struct check_group any = { .kind = N_FIGURE_KINDS };
    struct accuracy calibrate = check_accuracy(&c, FIGURE_CALIBRATE, &any, &s->arena);
    struct accuracy validate = check_accuracy(&c, FIGURE_VALIDATE, &any, &s->arena);
    if (o->format == FORMAT_JSON) {
        json_t *object = json_object();
        json_object_set_new(object, "calibrate", accuracy_json(&calibrate));
        json_object_set_new(object, "validate", accuracy_json(&validate));
        json_object_set_new(object, "constants", json_array());
        print_json(stdout, object);
    } else {
        check_print_summary(stdout, &c, &s->arena);
        printf("no constant is fitted: every number comes from a spec sheet\n");
    }
    return EXIT_DONE;
}

/* ---- compare -------------------------------------------------------------------------------------- */

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
