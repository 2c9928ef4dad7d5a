/*
 * gate.c - the gate: check (against what was published), validate (accuracy by role), compare (against a run before).
 */
#include "harness/harness.h"
#include "results/accuracy/convergence_errors.h"
#include "results/accuracy/check.h"
#include "results/accuracy/compare.h"
#include "results/calibration/convergence_calibrate.h"
#include "results/calibration/kernel_fit.h"
#include "results/accuracy/simulated_runs.h"
#include "results/calibration/system_fit.h"
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- the fitted constants ------------------------------------------------------------------------- */

/* Where fitted values stand: a chip's over its sheet, and the laws of convergence. */
static bool load_constants(struct csv_table *out, const char *path, struct session *s, struct err *err)
{
    *out = (struct csv_table){ .path = path };
    return access(path, F_OK) != 0 || csv_load(out, path, &s->arena, err);
}

static const char *cell_of(const struct csv_table *t, const struct csv_row *row, const char *column)
{
    size_t at;
    return csv_column(&at, t, column, NULL) ? row->cells[at] : "";
}

/* "key", with what it is of before it where the table says so. */
static const char *constant_name(const struct csv_table *t, const struct csv_row *row, struct arena *a)
{
    const char *benchmark = cell_of(t, row, "benchmark"), *ruleset = cell_of(t, row, "ruleset"), *key = cell_of(t, row, "key");
    return *benchmark ? arena_printf(a, "%s.%s.%s", benchmark, ruleset, key) : key;
}

static void add_constants_json(json_t *array, const struct csv_table *t, struct arena *a)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct csv_row *row = &t->rows[i];
        double value, error;
        json_t *o = json_object();
        json_object_set_new(o, "name", json_string(constant_name(t, row, a)));
        json_object_set_new(o, "value", parse_f64(cell_of(t, row, "value"), &value) ? json_real(value) : json_null());
        json_object_set_new(o, "unit", json_string(cell_of(t, row, "unit")));
        json_object_set_new(o, "standard_error", parse_f64(cell_of(t, row, "standard_error"), &error) ? json_real(error) : json_null());
        json_object_set_new(o, "source", json_string(cell_of(t, row, "source")));
        json_array_append_new(array, o);
    }
}

static void print_constants(const struct csv_table *t, struct arena *a)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct csv_row *row = &t->rows[i];
        const char *error = cell_of(t, row, "standard_error");
        printf("%-42s %s%s%s %s\n", constant_name(t, row, a), cell_of(t, row, "value"), *error ? " +- " : "", error,
               cell_of(t, row, "unit"));
    }
}

static json_t *by_role_json(const struct check *c, const struct check_group *g, struct arena *a)
{
    struct accuracy calibrate = check_accuracy(c, STANDS_CALIBRATE, g, a), validate = check_accuracy(c, STANDS_VALIDATE, g, a);
    return json_pack("{s:o, s:o}", "calibrate", accuracy_json(&calibrate), "validate", accuracy_json(&validate));
}

static void print_validate_json(const struct check *c, const struct coverage *coverage, const struct csv_table *tables, size_t n,
                                struct arena *a)
{
    const struct check_group any = { .kind = N_FIGURE_KINDS };
    struct accuracy calibrate = check_accuracy(c, STANDS_CALIBRATE, &any, a);
    struct accuracy validate = check_accuracy(c, STANDS_VALIDATE, &any, a);
    const struct check_group given = { .kind = N_FIGURE_KINDS, .manner = MANNER_PUBLISHED_SAMPLES };
    const struct check_group whole = { .kind = N_FIGURE_KINDS, .manner = MANNER_PREDICTED_SAMPLES };
    json_t *object = json_object(), *constants = json_array();
    for (size_t i = 0; i < n; i++)
        add_constants_json(constants, &tables[i], a);
    json_object_set_new(object, "calibrate", accuracy_json(&calibrate));
    json_object_set_new(object, "validate", accuracy_json(&validate));
    json_object_set_new(object, "constants", constants);
    json_object_set_new(object, "time_to_train_published_samples", by_role_json(c, &given, a));
    json_object_set_new(object, "time_to_train_predicted_samples", by_role_json(c, &whole, a));
    json_object_set_new(object, "coverage", coverage_json(coverage));
    print_json(stdout, object);
}

int command_validate(const struct options *o, struct session *s, struct err *err)
{
    struct check c;
    struct coverage coverage = {0};
    struct convergence_errors errors = {0};
    struct csv_table tables[3];
    const char *const paths[] = { arena_printf(&s->arena, "%s/fitted-chip.csv", s->paths.specs_dir),
                                  arena_printf(&s->arena, "%s/fitted-system.csv", s->paths.specs_dir),
                                  arena_printf(&s->arena, "%s/fits.csv", s->paths.data_dir) };
    for (size_t i = 0; i < 3; i++)
        if (!load_constants(&tables[i], paths[i], s, err))
            return EXIT_BAD_INPUT;
    const char *runs = arena_printf(&s->arena, "%s/runs/mlperf_runs.csv", s->published_dir);
    if (!build_check(&c, o, s, err) || !simulated_coverage(&coverage, runs, &s->paths, &s->cache, &s->arena, err)
        || !convergence_errors(&errors, runs, s->paths.data_dir, &s->arena, err))
        return EXIT_BAD_INPUT;
    if (o->format == FORMAT_JSON) {
        print_validate_json(&c, &coverage, tables, 3, &s->arena);
        return EXIT_DONE;
    }
    check_print_summary(stdout, &c, &s->arena);
    printf("\nsingle runs of simulated systems within the interval predicted for them\n");
    coverage_print(stdout, &coverage);
    printf("\nsamples to converge: mean of a submission's runs, and as predicted from its batch\n");
    convergence_errors_print(stdout, &errors);
    printf("\nfitted constants\n");
    for (size_t i = 0; i < 3; i++)
        print_constants(&tables[i], &s->arena);
    return EXIT_DONE;
}

/* ---- calibrate --------------------------------------------------------------------------------------- */

/* Fits that build on each other: the system's uses the chips' as just fitted. */
struct calibration { struct session *s; double chip_constants[MAX_FITTED]; };

static bool fit_chip(FILE *f, struct calibration *c, struct err *err)
{
    struct session *s = c->s;
    struct figures figures = {0};
    struct kernel_fit fit;
    if (!published_load(&figures, s->published_dir, &s->arena, err) || !kernel_fit_run(&fit, &figures, &s->paths, &s->arena, err))
        return false;
    for (size_t i = 0; i < n_fitted_constants; i++)
        c->chip_constants[i] = fit.values[i].value;
    kernel_fit_write(f, &fit, "the kernels and one-chip inference runs of results/published");
    fprintf(stderr, "podbench: %zu measured kernels and one-chip runs: median error %.2f %% with open-source constants, %.2f %% fitted\n", fit.n_rows,
            100 * fit.median_before, 100 * fit.median_after);
    return true;
}

static bool fit_convergence(FILE *f, struct calibration *c, struct err *err)
{
    struct session *s = c->s;
    const char *runs = arena_printf(&s->arena, "%s/runs/mlperf_runs.csv", s->published_dir);
    return convergence_calibrate(f, s->paths.data_dir, runs, &s->arena, err);
}

static bool fit_system(FILE *f, struct calibration *c, struct err *err)
{
    struct session *s = c->s;
    struct model_paths paths = s->paths;
    paths.chip_constants = c->chip_constants;
    struct figures figures = {0};
    struct system_fit fit;
    if (!published_load(&figures, s->published_dir, &s->arena, err) || !system_fit_run(&fit, &figures, &paths, &s->arena, err))
        return false;
    system_fit_write(f, &fit);
    system_fit_print(stderr, &fit);
    return true;
}

/* One sheet each, in the order in which they build on each other. */
static const struct fit { const char *file; bool (*run)(FILE *f, struct calibration *c, struct err *err); } fits[] = {
    { "fitted-chip.csv", fit_chip }, { "fitted-system.csv", fit_system }, { "fits.csv", fit_convergence },
};
enum { N_FITS = sizeof fits / sizeof *fits };

static bool write_fit(const struct fit *fit, const char *folder, struct calibration *c, struct err *err)
{
    struct new_file file;
    if (!make_folders(folder, err) || !new_file_open(&file, arena_printf(&c->s->arena, "%s/%s", folder, fit->file), err))
        return false;
    if (fit->run(file.f, c, err))
        return new_file_save(&file, err);
    new_file_drop(&file);
    return false;
}

int command_calibrate(const struct options *o, struct session *s, struct err *err)
{
    struct calibration c = { .s = s };
    for (int i = 0; i < N_FITS; i++) {
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "podbench: fitting %s\n", fits[i].file);
        bool good = o->out ? write_fit(&fits[i], o->out, &c, err) : printf("# %s\n", fits[i].file) > 0 && fits[i].run(stdout, &c, err);
        if (!good)
            return EXIT_BAD_INPUT;
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
