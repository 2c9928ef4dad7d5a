/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * validate.c - podbench validate: the accuracy by role, and the fitted constants.
 */
#include "harness/harness.h"
#include "results/calibrate/calibration.h"
#include "results/published/check.h"
#include "results/study/gain.h"
#include "results/study/kernel_errors.h"
#include "results/study/memory_known.h"
#include "results/study/novelty.h"
#include "results/study/trust.h"
#include <jansson.h>

/* Loads a table of fitted values; a missing file is an empty table. */
static bool load_constants(struct csv_table *out, const char *path, struct session *s, struct err *err)
{
    *out = (struct csv_table){ .path = path };
    return is_missing(path) || csv_load(out, path, &s->arena, err);
}

/* The name of a constant: its key, or "benchmark.ruleset.key" in tables that have these columns. */
static const char *constant_name(const struct csv_table *t, const struct csv_row *row, struct arena *a)
{
    const char *benchmark = csv_cell(t, row, "benchmark"), *ruleset = csv_cell(t, row, "ruleset"), *key = csv_cell(t, row, "key");
    return *benchmark ? arena_printf(a, "%s.%s.%s", benchmark, ruleset, key) : key;
}

/* The standard error of a constant as text, from its column, or from the beginning of its note on a fitted sheet; "" if it was not fitted. */
static const char *standard_error(const struct csv_table *t, const struct csv_row *row, struct arena *a)
{
    static const char head[] = "standard error ";
    const char *note = csv_cell(t, row, "note"), *number = note + sizeof head - 1;
    if (strncmp(note, head, sizeof head - 1) != 0)
        return csv_cell(t, row, "standard_error");
    return arena_printf(a, "%.*s", (int)strcspn(number, ";"), number);
}

struct constant_line { const char *name, *written, *error, *unit, *source; double value, standard_error; };
#define C(member, csv_name, ...) { COLUMN_AS(struct constant_line, member, csv_name), __VA_ARGS__ }
static const struct table_column constant_columns[] = {
    C(name, "name", .heading = ""), C(written, NULL, .heading = "value", .aligns_right = true),
    C(error, NULL, .heading = "standard error", .aligns_right = true), C(value, "value"), C(unit, "unit", .heading = "unit"),
    C(standard_error, "standard_error"), C(source, "source"),
};
#undef C

static void add_constants(struct table *t, const struct csv_table *from, struct arena *a)
{
    for (size_t i = 0; i < from->n_rows; i++) {
        const struct csv_row *row = &from->rows[i];
        struct constant_line line = { constant_name(from, row, a), csv_cell(from, row, "value"), standard_error(from, row, a),
                                      csv_cell(from, row, "unit"), csv_cell(from, row, "source"), NAN, NAN };
        parse_f64(line.written, &line.value);
        parse_f64(line.error, &line.standard_error);
        table_add(t, &line, a);
    }
}

enum { N_CONSTANT_TABLES = 3 };
struct validation {
    struct check check;
    struct memory_edge *edges; size_t n_edges;
    struct coverage coverage;
    struct convergence_errors errors;
    struct interval_coverage intervals, kernel_intervals;
    struct kernel_errors kernels;
    struct memory_known memory;
    struct track_record record;
    struct ratio_test pairs;
    struct first_seen_group first_seen[N_NOVELTIES + 1]; size_t n_first_seen;
    struct submitters_left_out left;
    struct csv_table tables[N_CONSTANT_TABLES];         /* tables of fitted constants */
};

static json_t *by_role_json(const struct check *c, struct check_group g, struct arena *a)
{
    struct accuracy calibrate = check_accuracy(c, COUNTS_AS_CALIBRATE, &g, a), validate = check_accuracy(c, COUNTS_AS_VALIDATE, &g, a);
    return json_pack("{s:o, s:o}", "calibrate", accuracy_json(&calibrate), "validate", accuracy_json(&validate));
}

/* Adds the accuracy by kind of figure. In JSON, runs have the members "calibrate" and "validate", and each other kind has an object. */
static void add_accuracy(struct document *d, const struct check *c)
{
    struct check_group given = { .samples = SAMPLES_PUBLISHED }, predicted = { .samples = SAMPLES_PREDICTED };
    document_member(d, NULL, by_role_json(c, (struct check_group){ .kind = FIGURE_OF_RUN }, d->arena));
    for (int kind = FIGURE_OF_RUN + 1; kind < N_FIGURE_KINDS; kind++)
        if (kind != FIGURE_OF_MEMORY)
            document_member(d, figure_kind_names[kind], by_role_json(c, (struct check_group){ .kind = (enum figure_kind)kind }, d->arena));
    document_member(d, "time_to_train_published_samples", by_role_json(c, given, d->arena));
    document_member(d, "time_to_train_predicted_samples", by_role_json(c, predicted, d->arena));
    document_line(d, "%s\n", figures_counted(c, d->arena));
    document_member(d, "figures", json_string(figures_counted(c, d->arena)));
    check_add_summary(d, c);
}

static void add_memory_known(struct document *d, const struct memory_known *m)
{
    size_t n;
    const struct chance_bin *chances = memory_known_chances(&n, m, d->arena);
    document_gap(d);
    struct table *t = document_table(d, memory_chances_table(chances, n));
    t->name = "memory_chances_left_out";
    t->title = "memory, by the chance to fit that programs of other origins give: of bytes counted at first sight, where they were kept, or today";
    const struct memory_spread s = memory_error_fit(m);
    if (!isnan(s.likely))
        document_line(d, "errors of memory, by %zu verdicts and %zu fullest tiles that calibrate: root of the mean square %.3f (memory_error of podbench calibrate);\n"
                         "most likely %.3f (95 %%: %.3f to %.3f)", s.n_verdicts, s.n_known, s.mean_square_root, s.likely, s.low, s.high);
    if (m->record.n)
        document_line(d, "each unit of distance to programs whose memory is known (%zu) adds %.3f to the error of what is not certain; %" PRIu64 " verdicts that calibrate",
                      m->record.n, m->record.spread.far, m->record.spread.n_verdicts);
}

static void validation_document(struct document *d, const struct validation *v)
{
    size_t n_ranges, n_within = check_within_stated(&n_ranges, &v->check);
    add_accuracy(d, &v->check);
    document_member(d, "power_within_stated_range", json_pack("{s:I, s:I}", "rows", (json_int_t)n_ranges, "within", (json_int_t)n_within));
    if (v->n_first_seen) {
        document_line(d, "\nthroughputs when a version first predicted them, by what rows of earlier versions had in common with them; their first recipe by a later\n"
                         "program (first recipe); and today");
        document_table(d, first_seen_table(v->first_seen, v->n_first_seen));
    }
    const struct memory_spread spread = memory_error_fit(&v->memory);
    const struct table spread_table = memory_spread_table(&spread);
    json_t *memory = memory_judgement_json(&v->check, v->edges, v->n_edges, d->arena);
    json_object_set_new(memory, "spread", table_json(&spread_table));
    document_member(d, "memory", memory);
    memory_document(d, &v->check, v->edges, v->n_edges);
    add_memory_known(d, &v->memory);
    document_gap(d);
    struct table *fit = document_table(d, without_fit_table(&v->record.references, d->arena));
    fit->name = "without_fit";
    fit->title = without_fit_title;
    document_line(d, "\nthroughputs inside the 90 %% interval that follows from the errors of runs that others published; chance: of so few, or so many, if nine in ten were inside");
    document_table(d, interval_coverage_table(&v->intervals))->formats = IN_TEXT;
    document_member(d, "throughput_intervals", interval_coverage_json(&v->intervals));
    document_line(d, "\ntimes of single operations inside their 90 %% interval, each judged by the errors of the others of its kind");
    document_table(d, interval_coverage_table(&v->kernel_intervals))->formats = IN_TEXT;
    document_member(d, "kernel_intervals", interval_coverage_json(&v->kernel_intervals));
    document_gap(d);
    ratio_test_document(d, &v->pairs);
    document_gap(d);
    coverage_document(d, &v->coverage);
    document_gap(d);
    convergence_errors_document(d, &v->errors);
    document_gap(d);
    document_table(d, submitters_left_out_table(&v->left))->name = "one_submitter_left_out";
    document_gap(d);
    struct table *constants = document_table(d, TABLE(constant_columns, struct constant_line, .name = "constants", .title = "fitted constants"));
    for (size_t i = 0; i < N_CONSTANT_TABLES; i++)
        add_constants(constants, &v->tables[i], d->arena);
}

static void write_left_out(FILE *f, const struct validation *v) { references_write(f, &v->record.references); }
static void write_spread(FILE *f, const struct validation *v) { spread_write(f, &v->record.references); }
static void write_known_values(FILE *f, const struct validation *v) { known_values_write(f, &v->record.references.known); }
static void write_kernel_errors(FILE *f, const struct validation *v) { kernel_errors_write(f, &v->kernels); }
static void write_memory_programs(FILE *f, const struct validation *v) { memory_programs_write(f, &v->memory.record); }
static void write_memory_spread(FILE *f, const struct validation *v) { memory_spread_write(f, &v->memory.record); }
static void write_memory_published(FILE *f, const struct validation *v) { memory_published_write(f, &v->memory.record); }

/* The tables of --out, from which answers get their intervals. Readers open left-out.csv and memory-programs.csv first, so these follow the tables
 * that belong to them: without them a folder counts as empty. */
static const struct { const char *name; void (*write)(FILE *f, const struct validation *v); } validity_tables[] = {
    { "known-values.csv", write_known_values }, { "spread.csv", write_spread }, { "left-out.csv", write_left_out },
    { "kernel-errors.csv", write_kernel_errors }, { "memory-spread.csv", write_memory_spread },
    { "memory-published.csv", write_memory_published }, { "memory-programs.csv", write_memory_programs },
};

/* Gathers the known runs, operations and programs. Rows without a line in first-sight.csv, such as those of other projects, are judged by
 * today's errors. */
static bool gather_known(struct validation *v, const struct options *o, struct session *s, struct err *err)
{
    struct figures *figures = ARENA_NEW(&s->arena, struct figures);
    struct references *r = &v->record.references;
    struct first_sight seen;
    struct memory_sights sights;
    if (!simulator_memory_record(&s->simulator, err) ||
        !published_load(figures, o->published ? o->published : s->published_dir, &s->arena, err) || !session_first_sight(&seen, s, err) ||
        !memory_sights_load(&sights, session_memory_sights_path(s), &s->arena, err))
        return false;
    references_build(r, figures, &seen, &s->simulator, &s->arena);
    v->record.spread = spread_fit(r, NULL, &s->arena);
    interval_coverage(&v->intervals, r, &s->arena);
    kernel_errors_build(&v->kernels, &v->check, &seen, &s->simulator, &s->arena);
    kernel_coverage(&v->kernel_intervals, &v->kernels, &s->arena);
    return memory_known_build(&v->memory, figures, &seen, &sights, &s->simulator, &s->arena, err);
}

static bool write_validity(const struct validation *v, const char *folder, struct session *s, struct err *err)
{
    bool good = make_folders(folder, err);
    for (size_t i = 0; good && i < sizeof validity_tables / sizeof *validity_tables; i++) {
        struct new_file file;
        good = new_file_open(&file, arena_printf(&s->arena, "%s/%s", folder, validity_tables[i].name), err);
        if (!good)
            break;
        validity_tables[i].write(file.f, v);
        good = new_file_save(&file, err);
    }
    return good;
}

/* The error of a step, judged by references of other groups only, as if nothing like the run had been published. */
static double error_by_other_groups(void *user, const struct simulation *sim)
{
    return step_deviation(sim, user, true);
}

static void warn_of_unseen(const struct check *c, const struct first_sight *seen, const char *path, struct session *s)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->rows[i].has_simulated && !first_sight_find(seen, c->rows[i].figure->id, false);
    if (n)
        fprintf(s->log, "podbench: %s: %zu figures that are simulated have no first prediction, so today's stands for it; 'make baseline' adds new ones\n", path, n);
}

/* Finds the errors of first predictions. Tables without lines in first-sight.csv, such as those of other projects, have none. */
static bool find_first_seen(struct validation *v, const struct options *o, struct session *s, struct err *err)
{
    struct figures *figures = ARENA_NEW(&s->arena, struct figures);
    struct first_sight seen;
    struct first_seen_rows rows;
    const char *path = arena_printf(&s->arena, "%s/%s.csv", s->published_dir, first_sight_name);
    if (!session_has_own_rows(s, o) || is_missing(path))
        return true;
    if (!session_figures(figures, NULL, s, err) || !first_sight_load(&seen, path, &s->arena, err) ||
        !first_seen_build(&rows, figures, &seen, &s->simulator, &s->arena, err))
        return false;
    warn_of_unseen(&v->check, &seen, path, s);
    v->n_first_seen = first_seen_groups(v->first_seen, &rows, &s->arena);
    return true;
}

static bool validation_gather(struct validation *v, const struct options *o, struct session *s, struct err *err)
{
    const char *const paths[N_CONSTANT_TABLES] = { arena_printf(&s->arena, "%s/fitted-chip.csv", s->paths.specs_dir),
                                  arena_printf(&s->arena, "%s/fitted-system.csv", s->paths.specs_dir),
                                  arena_printf(&s->arena, "%s/fits.csv", s->paths.data_dir) };
    const char *runs = arena_printf(&s->arena, "%s/runs/mlperf_runs.csv", s->published_dir);
    for (size_t i = 0; i < N_CONSTANT_TABLES; i++)
        if (!load_constants(&v->tables[i], paths[i], s, err))
            return false;
    bool good = build_check(&v->check, o, s, err) && memory_edges(&v->edges, &v->n_edges, &v->check, &s->simulator, &s->arena, err)
        && find_first_seen(v, o, s, err) && gather_known(v, o, s, err) && (!o->out || write_validity(v, o->out, s, err))
        && simulated_coverage(&v->coverage, runs, &s->simulator, error_by_other_groups, &v->record, &s->arena, err)
        && convergence_errors(&v->errors, runs, s->paths.data_dir, &s->arena, err)
        && submitters_left_out(&v->left, runs, s->paths.data_dir, &s->arena, err);
    if (good)
        ratio_test(&v->pairs, &v->record.references, &v->record.spread, &s->arena);
    return good;
}

int command_validate(const struct options *o, struct session *s, struct err *err)
{
    struct validation *v = ARENA_NEW(&s->arena, struct validation);
    if (!validation_gather(v, o, s, err))
        return EXIT_BAD_INPUT;
    validation_document(&s->answer, v);
    return EXIT_DONE;
}
