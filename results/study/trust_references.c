/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_references.c - errors of published configurations, each with its group left out of the fit.
 *
 * The constants of the software were fitted by least squares on r = ln(simulated / published) of the calibrating rows. A fit without the rows
 * of a group is approximated by one Gauss-Newton step d on the remaining rows:
 *     d = argmin |r + J d|,  J = dr / dln(constant) by simulation,  error left out = r_group + J_group d.
 * GSL's linear least squares drops directions that the remaining rows do not determine. A constant that moves none of them takes its default.
 * A row of another role was never in the fit, so its error is used unchanged. Constants of chips are fitted to hundreds of kernels and are not
 * refitted.
 *
 * The same is done with all runs of a family and mode left out, for rows that validate, too. In the case with nothing fitted, all constants
 * take their defaults, including those of chips.
 */
#include "results/study/trust.h"

#include <gsl/gsl_multifit.h>
#include <unistd.h>

/* ---- simulating ------------------------------------------------------------------------------- */

enum { N_CONSTANTS = N_SYSTEM_CONSTANTS };
static const double STEP = 0.1;

struct build {
    struct references *out;
    struct simulator *simulator;
    bool fitted[N_CONSTANTS]; double values[N_CONSTANTS];
    double (*slope)[N_CONSTANTS];       /* slopes of each reference; zeros for context rows */
    struct arena *a;
};

static void note_constants(struct build *b, const struct simulation *sim)
{
    for (int k = 0; k < N_CONSTANTS; k++) {
        const struct sheet_row *row = sheet_find(&sim->fitted.sheet, system_constants[k].field.name);
        b->fitted[k] = row && sheet_row_origin(row) == ORIGIN_FITTED && parse_f64(row->value, &b->values[k]);
    }
}

/* Simulates the open readings of a run and keeps the slowest and the fastest. */
static void span_readings(struct build *b, struct reference *r, const struct simulation *sim, const struct result *result)
{
    const struct simulation_request q = { .recipe = r->recipe, .simulator = b->simulator };
    const struct log_interval span = open_readings_span(sim, result, &q, b->a);
    r->open_low = span.low;
    r->open_high = span.high;
}

static bool simulate_reference(struct build *b, struct reference *r)
{
    struct simulation sim;
    struct result result;
    struct err no_model;
    if (!simulator_run(b->simulator, &sim, &result, r->recipe, NULL, 0, &no_model))
        return false;
    r->at = properties_of(&sim, b->a);
    r->group = properties_group(&r->at, b->a);
    r->simulated = result.throughput_samples_per_s;
    r->left_out = log(r->simulated / r->published);
    r->generation = sim.machine->chip.generation;
    note_constants(b, &sim);
    if (r->role != FIGURE_CONTEXT)
        known_values_add(&b->out->known, &sim, b->a);
    span_readings(b, r, &sim, &result);
    simulation_free(&sim);
    return true;
}

/* The change of ln(throughput) with these overrides; false if the recipe's sheets lack one of their keys. */
static bool moved_by_sets(double *moved, struct build *b, const struct reference *r, const char *const *sets, size_t n)
{
    struct simulation sim;
    struct result result;
    struct err unknown = {0};
    if (!simulator_run(b->simulator, &sim, &result, r->recipe, sets, n, &unknown))
        return false;
    simulation_free(&sim);
    *moved = log(result.throughput_samples_per_s / r->simulated);
    return true;
}

static const char *set_constant(size_t k, double value, struct arena *a)
{
    return arena_printf(a, SHEET_OVERRIDE_SECTION ".%s=%.10g", system_constants[k].field.name, value);
}

static double moved_by(struct build *b, const struct reference *r, size_t k, double value)
{
    const char *set = set_constant(k, value, b->a);
    double moved = 0;
    moved_by_sets(&moved, b, r, &set, 1);
    return moved;
}

/* ---- leaving out -------------------------------------------------------------------------------- */

typedef bool references_alike(const struct reference *x, const struct reference *y);
static bool of_one_group(const struct reference *x, const struct reference *y) { return text_is(x->group, y->group); }

static bool of_one_family(const struct reference *x, const struct reference *y)
{
    return property_names_equal(&x->at, &y->at, BY_FAMILY) && property_names_equal(&x->at, &y->at, BY_MODE);
}

static bool stays_without(const struct reference *r, const struct reference *left, references_alike *alike)
{
    return r->role == FIGURE_CALIBRATE && !alike(r, left);
}

/* The step d of the constants in a fit without the runs like `left`; false if too few rows remain. Zeros stand in the matrix for references
 * that are left out and for constants that are not fitted. */
static bool refit_without(double *d, const struct build *b, const struct reference *left, references_alike *alike)
{
    const struct references *all = b->out;
    size_t n_rows = 0, n_fitted = 0, rank;
    double chi;
    gsl_matrix *x = gsl_matrix_calloc(all->n + N_CONSTANTS, N_CONSTANTS), *covariance = gsl_matrix_alloc(N_CONSTANTS, N_CONSTANTS);
    gsl_vector *y = gsl_vector_calloc(all->n + N_CONSTANTS);
    gsl_vector_view step = gsl_vector_view_array(d, N_CONSTANTS);
    gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(all->n + N_CONSTANTS, N_CONSTANTS);
    for (size_t i = 0; i < all->n; i++) {
        const struct reference *r = &all->items[i];
        if (!stays_without(r, left, alike))
            continue;
        n_rows++;
        gsl_vector_set(y, i, -log(r->simulated / r->published));
        for (size_t k = 0; k < N_CONSTANTS; k++)
            gsl_matrix_set(x, i, k, b->slope[i][k]);
    }
    for (size_t k = 0; k < N_CONSTANTS; k++)
        n_fitted += b->fitted[k];
    bool good = n_fitted && n_rows > n_fitted && gsl_multifit_linear_tsvd(x, y, 1e-3, &step.vector, covariance, &chi, &rank, w) == 0;
    for (size_t k = 0; k < N_CONSTANTS; k++)
        d[k] = fmin(1, fmax(-1, d[k]));         /* limited to a factor of e, as a slope is only valid nearby */
    gsl_multifit_linear_free(w);
    gsl_vector_free(y);
    gsl_matrix_free(covariance);
    gsl_matrix_free(x);
    return good;
}

static bool others_depend_on(const struct build *b, const struct reference *left, references_alike *alike, size_t k)
{
    for (size_t i = 0; i < b->out->n; i++)
        if (stays_without(&b->out->items[i], left, alike) && b->slope[i][k] != 0)
            return true;
    return false;
}

/* The error of a reference in a fit without the runs that are alike. If too few other runs remain, the constants stay as they are. */
static double error_without(struct build *b, size_t i, references_alike *alike)
{
    const struct reference *r = &b->out->items[i];
    double d[N_CONSTANTS] = {0}, error = log(r->simulated / r->published);
    if (!refit_without(d, b, r, alike))
        return error;
    for (size_t k = 0; k < N_CONSTANTS; k++)
        if (b->fitted[k])
            error += others_depend_on(b, r, alike, k) ? b->slope[i][k] * d[k] : moved_by(b, r, k, system_constants[k].unfitted_value);
    return error;
}

/* The error with all constants at their defaults. Constants of the chip are skipped if its sheet lacks them. */
static double error_unfitted(struct build *b, const struct reference *r)
{
    const char *sets[N_CONSTANTS + MAX_FITTED];
    size_t n = 0, n_system;
    double moved = 0;
    for (size_t k = 0; k < N_CONSTANTS; k++)
        if (b->fitted[k])
            sets[n++] = set_constant(k, system_constants[k].unfitted_value, b->a);
    n_system = n;
    for (size_t k = 0; k < n_fitted_constants; k++)
        if (r->generation == fitted_constants[k].generation)
            sets[n++] = arena_printf(b->a, SHEET_OVERRIDE_SECTION ".%s.%s=%.10g", generation_names[r->generation], fitted_constants[k].field.name, fitted_constants[k].open_source_value);
    if (!moved_by_sets(&moved, b, r, sets, n))
        moved_by_sets(&moved, b, r, sets, n_system);
    return log(r->simulated / r->published) + moved;
}

static void leave_out(struct build *b)
{
    for (size_t i = 0; i < b->out->n; i++) {
        struct reference *r = &b->out->items[i];
        if (r->role == FIGURE_CALIBRATE)
            r->left_out = error_without(b, i, of_one_group);
        if (r->role != FIGURE_CONTEXT) {
            r->without_family = error_without(b, i, of_one_family);
            r->unfitted = error_unfitted(b, r);
        }
    }
}

/* ---- the list ------------------------------------------------------------------------------------ */

static bool is_reference(const struct figure *f)
{
    return text_is(f->metric, "throughput_samples_per_s") && *f->recipe && !strchr(f->recipe, ':');
}

static struct reference *find_configuration(const struct references *in, const char *configuration)
{
    for (size_t i = 0; i < in->n; i++)
        if (text_is(in->items[i].configuration, configuration))
            return &in->items[i];
    return NULL;
}

/* Adds a configuration, or merges the row into it. A configuration published twice is one measurement, which calibrates if either row does.
 * The last row of a run counts, which is its steady state if that is published next to a median. A context row counts only if there is no
 * other. */
static void add_figure(struct references *out, const struct figure *f, struct arena *a)
{
    struct reference *same = find_configuration(out, f->configuration);
    if (same) {
        if (f->role == FIGURE_CALIBRATE)
            same->role = FIGURE_CALIBRATE;
        /* This row names the run; other rows of its configuration repeat it. */
        if (f->role != FIGURE_CONTEXT && text_is(f->recipe, f->configuration)) {
            same->recipe = path_beside(f->path, f->recipe, a);
            same->published = f->value;
            same->id = f->id;
        }
        return;
    }
    LIST_ADD(out, a, (struct reference){ .configuration = f->configuration, .recipe = path_beside(f->path, f->recipe, a), .id = f->id,
                                         .origin = figure_origin(f, a), .role = f->role, .published = f->value, .first_sight = NAN });
}

/* Fills the first prediction, unless a line "again" shows that the row was known before the table began. The open readings are those of that
 * time. */
static void note_first_sight(struct reference *r, const struct first_sight *seen)
{
    const struct sight *first = first_sight_find(seen, r->id, false);
    if (!first || first != first_sight_find(seen, r->id, true))
        return;
    r->first_sight = log(first->predicted / r->published);
    r->first_open_low = first->open_low > 0 ? log(first->open_low / first->predicted) : 0;
    r->first_open_high = first->open_high > 0 ? log(first->open_high / first->predicted) : 0;
}

void references_build(struct references *out, const struct figures *figures, const struct first_sight *seen, struct simulator *simulator, struct arena *a)
{
    *out = (struct references){0};
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < figures->n; i++)
            if (is_reference(&figures->items[i]) && (figures->items[i].role == FIGURE_CONTEXT) == (pass == 1))
                add_figure(out, &figures->items[i], a);
    struct build b = { .out = out, .simulator = simulator, .a = a };
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++)
        if (simulate_reference(&b, &out->items[i])) {
            note_first_sight(&out->items[i], seen);
            out->items[n++] = out->items[i];
        }
    out->n = n;
    b.slope = arena_array(a, out->n + 1, sizeof *b.slope);
    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < N_CONSTANTS && out->items[i].role != FIGURE_CONTEXT; k++)
            if (b.fitted[k])
                b.slope[i][k] = moved_by(&b, &out->items[i], k, b.values[k] * (1 - STEP)) / log(1 - STEP);
    leave_out(&b);
}

/* ---- the table ------------------------------------------------------------------------------------- */

#define C(member, ...) { COLUMN(struct reference, member), __VA_ARGS__ }
#define N(id, column) { COLUMN_AS(struct reference, at.name[id], column) }
#define V(id, column) { COLUMN_AS(struct reference, at.number[id], column) }
static const struct table_column reference_columns[] = {
    C(configuration), C(recipe), { COLUMN_AS(struct reference, role_name, "role") }, C(group), C(origin),
    N(BY_FAMILY, "family"), N(BY_MODE, "mode"), N(BY_WORKLOAD, "workload"), N(BY_CHIP, "chip"), N(BY_FRAMEWORK, "framework"), N(BY_COMPUTE, "compute"),
    N(BY_INPUT, "input"), V(BY_IPUS, "ipus"), V(BY_WIDTH, "ipus_per_replica"), V(BY_MICRO_BATCH, "micro_batch"), V(BY_GLOBAL_BATCH, "global_batch"),
    V(BY_SEQUENCE, "sequence_length"), V(BY_SHARES + CLASS_COMPUTE, "compute_share"), V(BY_SHARES + CLASS_EXCHANGE, "exchange_share"),
    V(BY_SHARES + CLASS_SYNC, "sync_share"), V(BY_SHARES + CLASS_LINKS, "links_share"), V(BY_SHARES + CLASS_WAITING, "waiting_share"),
    V(BY_SHARES + CLASS_MEMORY, "memory_share"), V(BY_SHARES + CLASS_HOST, "host_share"),
    { COLUMN_AS(struct reference, at.off_amp_share, "off_amp_share") }, { COLUMN_AS(struct reference, at.vector_share, "vector_share") },
    { COLUMN_AS(struct reference, published, "published_samples_per_s") }, { COLUMN_AS(struct reference, simulated, "simulated_samples_per_s") },
    { COLUMN_AS(struct reference, left_out, "left_out_log_error"), .csv_digits = 6 },
    { COLUMN_AS(struct reference, without_family, "without_family_log_error"), .csv_digits = 6 }, { COLUMN_AS(struct reference, unfitted, "unfitted_log_error"), .csv_digits = 6 },
    { COLUMN_AS(struct reference, first_sight, "first_sight_log_error"), .csv_digits = 6 },
    { COLUMN_AS(struct reference, open_low, "open_low_log"), .csv_digits = 6 }, { COLUMN_AS(struct reference, open_high, "open_high_log"), .csv_digits = 6 },
    { COLUMN_AS(struct reference, first_open_low, "first_open_low_log"), .csv_digits = 6 },
    { COLUMN_AS(struct reference, first_open_high, "first_open_high_log"), .csv_digits = 6 },
};
#undef C
#undef N
#undef V
enum { N_REFERENCE_COLUMNS = sizeof reference_columns / sizeof *reference_columns, FIRST_PROPERTY = 5, N_ERRORS = 11 };
_Static_assert(N_REFERENCE_COLUMNS == FIRST_PROPERTY + N_PROPERTIES + N_ERRORS + 1, "a column for each property");

struct references references_without_group(const struct references *r, const char *group, struct arena *a)
{
    struct references others = { .items = ARENA_ROOM(a, struct reference, r->n) };
    for (size_t i = 0; i < r->n; i++)
        if (!text_is(r->items[i].group, group))
            others.items[others.n++] = r->items[i];
    return others;
}

const char *property_name(size_t property)
{
    return reference_columns[FIRST_PROPERTY + property].name;
}

void references_write(FILE *f, const struct references *r)
{
    struct table t = TABLE(reference_columns, struct reference);
    table_write_csv_row(f, &t, NULL);
    for (size_t i = 0; i < r->n; i++) {
        struct reference line = r->items[i];
        line.role_name = role_names[line.role];
        table_write_csv_row(f, &t, &line);
    }
}

static bool read_reference(struct reference *out, const struct csv_table *t, const struct csv_row *row, const size_t *at, struct err *err)
{
    for (size_t i = 0; i < N_REFERENCE_COLUMNS; i++) {
        const struct table_column *c = &reference_columns[i];
        void *member = (char *)out + c->offset;
        if (c->type == CELL_TEXT)
            *(const char **)member = row->cells[at[i]];
        else if (member == &out->first_sight && !*row->cells[at[i]])
            out->first_sight = NAN;
        else if (!parse_f64(row->cells[at[i]], member))
            return fail(err, "%s:%u: %s: '%.60s' is not a number", t->path, row->line, c->name, row->cells[at[i]]);
    }
    out->role = role_named(out->role_name);
    return out->role < N_FIGURE_ROLES || fail(err, "%s:%u: role: '%.40s' is not one of: calibrate, validate, context", t->path, row->line, out->role_name);
}

bool references_load(struct references *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t at[N_REFERENCE_COLUMNS];
    *out = (struct references){0};
    if (access(path, F_OK) != 0)
        return true;
    if (!csv_load(&t, path, a, err))
        return false;
    for (size_t i = 0; i < N_REFERENCE_COLUMNS; i++)
        if (!csv_column(&at[i], &t, reference_columns[i].name, err))
            return false;
    out->items = ARENA_ARRAY(a, struct reference, t.n_rows);
    for (; out->n < t.n_rows; out->n++)
        if (!read_reference(&out->items[out->n], &t, &t.rows[out->n], at, err))
            return false;
    return true;
}
