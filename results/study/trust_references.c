/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_references.c - the properties of runs, and errors of published configurations, each with its group left out of
 * the fit.
 *
 * The constants of the software were fitted by least squares on r = ln(simulated / published) of the calibrating rows.
 * A fit without the rows of a group is approximated by one Gauss-Newton step d on the remaining rows:
 *     d = argmin |r + J d|,  J = dr / dln(constant) by simulation,  error left out = r_group + J_group d.
 * GSL's linear least squares drops directions that the remaining rows do not determine. A constant that moves none of
 * them takes its default. A row of another role was never in the fit, so its error is used as it is. Constants of chips
 * are fitted to hundreds of kernels and are not refitted.
 *
 * The weights of the properties are a judgement, not a fit. Another model of the family, another framework, another
 * chip or type, or input that overlaps where the other's does not, counts 1; twice the replica's width or the sequence a half; twice the IPUs, the micro-batch or the
 * global batch a quarter each; another family, or inference for training, 4, which nothing else makes up for. Two steps
 * without a common class of work are as far apart as two families.
 */
#include "results/study/trust.h"

#include <gsl/gsl_multifit.h>
#include <ctype.h>
#include <unistd.h>

/* ---- properties ------------------------------------------------------------------------------- */

enum {
    BY_FAMILY, BY_MODE, BY_WORKLOAD, BY_CHIP, BY_FRAMEWORK, BY_COMPUTE, BY_INPUT, BY_IPUS, BY_WIDTH, BY_MICRO_BATCH, BY_GLOBAL_BATCH, BY_SEQUENCE, BY_SHARES,
    SHARES_WEIGHT = 2,
};
const struct property properties[] = {
    [BY_FAMILY]       = { "family", PROPERTY_NAME, 4, "family of models" },
    [BY_MODE]         = { "mode", PROPERTY_NAME, 4, "train or infer" },
    [BY_WORKLOAD]     = { "workload", PROPERTY_NAME, 1, "model" },
    [BY_CHIP]         = { "chip", PROPERTY_NAME, 1, "its sheet" },
    [BY_FRAMEWORK]    = { "framework", PROPERTY_NAME, 1, "without its release" },
    [BY_COMPUTE]      = { "compute", PROPERTY_NAME, 1, "type" },
    [BY_INPUT]        = { "input", PROPERTY_NAME, 1, "overlapped with the work by I/O tiles, in turn, or made on the chip" },
    [BY_IPUS]         = { "ipus", PROPERTY_COUNT, 0.25, "in use" },
    [BY_WIDTH]        = { "ipus_per_replica", PROPERTY_COUNT, 0.5, "IPUs" },
    [BY_MICRO_BATCH]  = { "micro_batch", PROPERTY_COUNT, 0.25, "samples" },
    [BY_GLOBAL_BATCH] = { "global_batch", PROPERTY_COUNT, 0.25, "samples, packs or utterances" },
    [BY_SEQUENCE]     = { "sequence_length", PROPERTY_COUNT, 0.5, "tokens or frames; 0: none" },
    [BY_SHARES + CLASS_COMPUTE]  = { "compute_share", PROPERTY_SHARE, SHARES_WEIGHT, "of the step, mean of the IPUs" },
    [BY_SHARES + CLASS_EXCHANGE] = { "exchange_share", PROPERTY_SHARE, SHARES_WEIGHT, "on the chip" },
    [BY_SHARES + CLASS_SYNC]     = { "sync_share", PROPERTY_SHARE, SHARES_WEIGHT, "of the tiles" },
    [BY_SHARES + CLASS_LINKS]    = { "links_share", PROPERTY_SHARE, SHARES_WEIGHT, "between IPUs" },
    [BY_SHARES + CLASS_WAITING]  = { "waiting_share", PROPERTY_SHARE, SHARES_WEIGHT, "of other stages or chips" },
    [BY_SHARES + CLASS_MEMORY]   = { "memory_share", PROPERTY_SHARE, SHARES_WEIGHT, "streaming memory" },
    [BY_SHARES + CLASS_HOST]     = { "host_share", PROPERTY_SHARE, SHARES_WEIGHT, "input that is not hidden, calls" },
};
const size_t n_properties = sizeof properties / sizeof *properties;
enum { N_NAMES = BY_IPUS };            /* names come first, then counts, then shares */
_Static_assert(sizeof properties / sizeof *properties == BY_SHARES + N_PART_CLASSES, "a share of each class");
_Static_assert(sizeof properties / sizeof *properties <= MAX_PROPERTIES, "room for all");

/* "TensorFlow 1.15" is TensorFlow, and so is tensorflow-1-2.1.0. */
static const char *first_word(const char *text, struct arena *a)
{
    size_t n = 0;
    if (!text)
        return "none";
    while (isalpha((unsigned char)text[n]))
        n++;
    return memcpy(arena_alloc(a, n + 1), text, n);
}

/* Upper and lower case are one name, as they are for sheets of frameworks. */
static uint64_t hash_of_name(const char *name)
{
    uint64_t hash = 0;
    for (; *name; name++) {
        char c = (char)tolower((unsigned char)*name);
        hash = hash_bytes(&c, 1, hash);
    }
    return hash;
}

static uint64_t sequence_length(const struct recipe *r, const struct workload *w)
{
    return w->traits & TAKES_SEQUENCES && r->model.sequence_length ? r->model.sequence_length : w->default_sequence_length;
}

/* Shares of the step's time, rounded to the four digits of the table, so that a run has distance 0 from itself. */
static void fill_shares(double *share, const struct simulation *sim)
{
    double part_s[N_PARTS], sum[N_PART_CLASSES] = {0}, step_s = (double)sim->timeline.step_cycles / sim->machine->chip.clock_hz;
    step_breakdown(part_s, &sim->timeline);
    for (int k = 0; k < N_PARTS; k++)
        sum[part_classes[k]] += part_s[k];
    for (int k = 0; k < N_PART_CLASSES; k++)
        share[BY_SHARES + k] = round(1e4 * sum[k] / step_s) / 1e4;
}

struct properties properties_of(const struct simulation *sim, struct arena *a)
{
    static const char *const computes[] = { "fp16", "fp32", "fp8" };
    const struct recipe *r = &sim->recipe;
    const struct workload *w = recipe_workload(r);
    struct properties p = {0};
    p.name[BY_FAMILY] = w->family;
    p.name[BY_MODE] = r->mode == MODE_TRAIN ? "train" : "infer";
    p.name[BY_WORKLOAD] = arena_strdup(a, r->workload);
    p.name[BY_CHIP] = arena_strdup(a, sim->machine->chip_name);
    p.name[BY_FRAMEWORK] = first_word(r->framework, a);
    p.name[BY_COMPUTE] = computes[r->model.compute];
    p.name[BY_INPUT] = r->synthetic_data ? "on the chip" : r->io_tiles ? "overlapped" : "in turn";
    p.count[BY_IPUS] = r->replicas * r->ipus_per_replica;
    p.count[BY_WIDTH] = r->ipus_per_replica;
    p.count[BY_MICRO_BATCH] = r->model.micro_batch;
    p.count[BY_GLOBAL_BATCH] = recipe_global_batch(r);
    p.count[BY_SEQUENCE] = sequence_length(r, w);
    fill_shares(p.share, sim);
    properties_prepare(&p);
    return p;
}

void properties_prepare(struct properties *p)
{
    for (size_t i = 0; i < n_properties; i++)
        if (properties[i].kind == PROPERTY_COUNT)
            p->log2_count[i] = log2((double)p->count[i]);
        else if (properties[i].kind == PROPERTY_NAME)
            p->name_hash[i] = hash_of_name(p->name[i]);
}

size_t property_find(const char *name)
{
    size_t i = 0;
    while (i < n_properties && !text_is(properties[i].name, name))
        i++;
    return i;
}

bool property_names_equal(const struct properties *x, const struct properties *y, size_t i)
{
    return x->name_hash[i] == y->name_hash[i];
}

/* A count against none (0) is one doubling. */
static double doublings(double x, double y)
{
    return isfinite(x) && isfinite(y) ? fabs(x - y) : x != y;
}

struct apart properties_apart(const struct properties *x, const struct properties *y)
{
    struct apart apart = {0};
    for (size_t i = 0; i < N_NAMES; i++)
        apart.distance += property_names_equal(x, y, i) ? 0 : properties[i].weight;
    for (size_t i = N_NAMES; i < BY_SHARES; i++)
        apart.distance += properties[i].weight * doublings(x->log2_count[i], y->log2_count[i]);
    for (size_t i = BY_SHARES; i < n_properties; i++)
        apart.unlike += fabs(x->share[i] - y->share[i]) / 2;
    apart.distance += SHARES_WEIGHT * 2 * apart.unlike;
    return apart;
}

bool properties_same_kind(const struct properties *x, const struct properties *y)
{
    return property_names_equal(x, y, BY_FAMILY) && property_names_equal(x, y, BY_MODE);
}

const char *properties_group(const struct properties *x, struct arena *a)
{
    return arena_printf(a, "%s %s %s %s", x->name[BY_WORKLOAD], x->name[BY_MODE], x->name[BY_FRAMEWORK], x->name[BY_CHIP]);
}

/* ---- building references ------------------------------------------------------------------------ */

enum { MAX_CONSTANTS = 8 };
static const double STEP = 0.1;

struct build {
    struct references *out;
    struct simulator *simulator;
    const char *constants[MAX_CONSTANTS]; double values[MAX_CONSTANTS]; size_t n_constants;
    double (*slope)[MAX_CONSTANTS];     /* by reference; zeros where it does not calibrate */
    struct arena *a;
};

/* ---- simulating ------------------------------------------------------------------------------- */

/* Lists the fitted constants of the software: fitted rows of the sheets after the machine's. */
static void list_constants(struct build *b, const struct simulation *sim)
{
    const struct sheet *sheets[MAX_SHEETS];
    size_t n = simulation_sheets(sheets, sim);
    for (size_t i = sim->machine->n_sheets; i < n; i++)
        for (size_t k = 0; k < sheets[i]->n_rows && b->n_constants < MAX_CONSTANTS; k++) {
            const struct sheet_row *row = &sheets[i]->rows[k];
            bool known = false;
            for (size_t j = 0; j < b->n_constants; j++)
                known |= text_is(b->constants[j], row->key);
            if (known || sheet_row_origin(row) != ORIGIN_FITTED || !parse_f64(row->value, &b->values[b->n_constants]))
                continue;
            b->constants[b->n_constants++] = arena_strdup(b->a, row->key);
        }
}

static bool simulate_reference(struct build *b, struct reference *r)
{
    struct simulation sim;
    struct result result;
    struct err no_model;
    bool good = simulator_run(b->simulator, &sim, &result, r->recipe, NULL, 0, &no_model);
    if (good) {
        r->at = properties_of(&sim, b->a);
        r->group = properties_group(&r->at, b->a);
        r->simulated = result.throughput_samples_per_s;
        r->left_out = log(r->simulated / r->published);
        list_constants(b, &sim);
        simulation_free(&sim);
    }
    return good;
}

/* The change of ln(throughput) with constant k at another value; 0 if no sheet of this recipe has the constant. */
static double moved_by(struct build *b, const struct reference *r, size_t k, double value)
{
    const char *set = arena_printf(b->a, SHEET_OVERRIDE_SECTION ".%s=%.10g", b->constants[k], value);
    struct simulation sim;
    struct result moved;
    struct err unknown = {0};
    if (!simulator_run(b->simulator, &sim, &moved, r->recipe, &set, 1, &unknown))
        return 0;
    simulation_free(&sim);
    return log(moved.throughput_samples_per_s / r->simulated);
}

static void find_slopes(struct build *b, const struct reference *r, double *slope)
{
    for (size_t k = 0; k < b->n_constants; k++)
        slope[k] = moved_by(b, r, k, b->values[k] * (1 - STEP)) / log(1 - STEP);
}

/* ---- leaving out -------------------------------------------------------------------------------- */

/* The step d of the constants without one group; false if too few rows remain. */
static bool refit_without(double *d, const struct build *b, const char *group)
{
    const struct references *all = b->out;
    size_t n = 0, k = b->n_constants, row = 0;
    for (size_t i = 0; i < all->n; i++)
        n += all->items[i].role == FIGURE_CALIBRATE && !text_is(all->items[i].group, group);
    if (!k || n <= k)
        return false;
    gsl_matrix *x = gsl_matrix_calloc(n, k), *covariance = gsl_matrix_alloc(k, k);
    gsl_vector *y = gsl_vector_alloc(n), *c = gsl_vector_alloc(k);
    gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(n, k);
    for (size_t i = 0; i < all->n; i++) {
        const struct reference *r = &all->items[i];
        if (r->role != FIGURE_CALIBRATE || text_is(r->group, group))
            continue;
        for (size_t j = 0; j < k; j++)
            gsl_matrix_set(x, row, j, b->slope[i][j]);
        gsl_vector_set(y, row++, -log(r->simulated / r->published));
    }
    double chi;
    size_t rank;
    bool good = gsl_multifit_linear_tsvd(x, y, 1e-3, c, covariance, &chi, &rank, w) == 0;
    for (size_t j = 0; j < k; j++)
        d[j] = fmin(1, fmax(-1, gsl_vector_get(c, j)));     /* at most a factor of e, as slopes say nothing of larger ones */
    gsl_multifit_linear_free(w);
    gsl_vector_free(c);
    gsl_vector_free(y);
    gsl_matrix_free(covariance);
    gsl_matrix_free(x);
    return good;
}

static bool others_depend_on(const struct build *b, const char *group, size_t k)
{
    const struct references *all = b->out;
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].role == FIGURE_CALIBRATE && !text_is(all->items[i].group, group) && b->slope[i][k] != 0)
            return true;
    return false;
}

static double default_of(const char *constant)
{
    int k = 0;
    while (!text_is(system_constants[k].field.name, constant))
        k++;
    return system_constants[k].unfitted_value;
}

static void leave_out_groups(struct build *b)
{
    for (size_t i = 0; i < b->out->n; i++) {
        struct reference *r = &b->out->items[i];
        double d[MAX_CONSTANTS] = {0};
        if (r->role != FIGURE_CALIBRATE || !refit_without(d, b, r->group))
            continue;
        for (size_t j = 0; j < b->n_constants; j++)
            r->left_out += others_depend_on(b, r->group, j) ? b->slope[i][j] * d[j] : moved_by(b, r, j, default_of(b->constants[j]));
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

/* A configuration that is published twice is one measurement, and calibrates if either row does. The last row of a run
 * counts: its steady state, if that is published besides its median. A context row counts only if there is no other. */
static void add_figure(struct references *out, const struct figure *f, struct arena *a)
{
    struct reference *same = find_configuration(out, f->configuration);
    if (same) {
        if (f->role == FIGURE_CALIBRATE)
            same->role = FIGURE_CALIBRATE;
        if (f->role != FIGURE_CONTEXT && text_is(f->recipe, f->configuration)) {        /* the run itself, not one that repeats it */
            same->recipe = path_beside(f->path, f->recipe, a);
            same->published = f->value;
        }
        return;
    }
    LIST_ADD(out, a, (struct reference){ .configuration = f->configuration, .recipe = path_beside(f->path, f->recipe, a),
                                               .role = f->role, .published = f->value });
}

void references_build(struct references *out, const struct figures *figures, struct simulator *simulator, struct arena *a)
{
    *out = (struct references){0};
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < figures->n; i++)
            if (is_reference(&figures->items[i]) && (figures->items[i].role == FIGURE_CONTEXT) == (pass == 1))
                add_figure(out, &figures->items[i], a);
    struct build b = { .out = out, .simulator = simulator, .a = a };
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++)
        if (simulate_reference(&b, &out->items[i]))
            out->items[n++] = out->items[i];
    out->n = n;
    b.slope = arena_array(a, out->n + 1, sizeof *b.slope);
    for (size_t i = 0; i < out->n; i++)
        if (out->items[i].role == FIGURE_CALIBRATE)
            find_slopes(&b, &out->items[i], b.slope[i]);
    leave_out_groups(&b);
}

/* ---- the table ------------------------------------------------------------------------------------- */

static void write_property(FILE *f, const struct properties *p, size_t i)
{
    if (properties[i].kind == PROPERTY_COUNT)
        fprintf(f, "%" PRIu64 ",", p->count[i]);
    else if (properties[i].kind == PROPERTY_SHARE)
        fprintf(f, "%.10g,", p->share[i]);
    else
        csv_write_cell(f, p->name[i], false);
}

void references_write(FILE *f, const struct references *r)
{
    fputs("configuration,recipe,role,group,", f);
    for (size_t i = 0; i < n_properties; i++)
        fprintf(f, "%s,", properties[i].name);
    fputs("published_samples_per_s,simulated_samples_per_s,left_out_log_error\n", f);
    for (size_t i = 0; i < r->n; i++) {
        const struct reference *x = &r->items[i];
        csv_write_cell(f, x->configuration, false);
        csv_write_cell(f, x->recipe, false);
        csv_write_cell(f, role_names[x->role], false);
        csv_write_cell(f, x->group, false);
        for (size_t k = 0; k < n_properties; k++)
            write_property(f, &x->at, k);
        fprintf(f, "%.10g,%.10g,%.6g\n", x->published, x->simulated, x->left_out);
    }
}

enum { FIRST_CONFIGURATION, FIRST_RECIPE, FIRST_ROLE, FIRST_GROUP, N_FIRST };
static const char *const first_columns[N_FIRST] = { "configuration", "recipe", "role", "group" };
enum { LAST_PUBLISHED, LAST_SIMULATED, LAST_LEFT_OUT, N_LAST };
static const char *const last_columns[N_LAST] = { "published_samples_per_s", "simulated_samples_per_s", "left_out_log_error" };

static bool find_reference_columns(size_t *at, const struct csv_table *t, struct err *err)
{
    for (size_t i = 0; i < N_FIRST; i++)
        if (!csv_column(at++, t, first_columns[i], err))
            return false;
    for (size_t i = 0; i < n_properties; i++)
        if (!csv_column(at++, t, properties[i].name, err))
            return false;
    for (size_t i = 0; i < N_LAST; i++)
        if (!csv_column(at++, t, last_columns[i], err))
            return false;
    return true;
}

/* A name is any text. */
static bool read_property(struct properties *out, size_t i, const char *cell)
{
    if (properties[i].kind == PROPERTY_COUNT)
        return parse_u64(cell, &out->count[i]);
    if (properties[i].kind == PROPERTY_SHARE)
        return parse_f64(cell, &out->share[i]) && out->share[i] >= 0 && out->share[i] <= 1;
    out->name[i] = cell;
    return true;
}

static bool read_reference(struct reference *out, const struct csv_table *t, const struct csv_row *row, const size_t *at, struct err *err)
{
    double *numbers[N_LAST] = { &out->published, &out->simulated, &out->left_out };
    *out = (struct reference){ .configuration = row->cells[at[FIRST_CONFIGURATION]], .recipe = row->cells[at[FIRST_RECIPE]],
                               .group = row->cells[at[FIRST_GROUP]],
                               .role = role_named(row->cells[at[FIRST_ROLE]]) };
    if (out->role == N_FIGURE_ROLES)
        return fail(err, "%s:%u: role: '%.40s' is not one of: calibrate, validate, context", t->path, row->line, row->cells[at[FIRST_ROLE]]);
    for (size_t i = 0; i < n_properties; i++)
        if (!read_property(&out->at, i, row->cells[at[N_FIRST + i]]))
            return fail(err, "%s:%u: %s: '%.60s' is not %s", t->path, row->line, properties[i].name, row->cells[at[N_FIRST + i]],
                        properties[i].kind == PROPERTY_COUNT ? "a whole number" : "a share from 0 to 1");
    properties_prepare(&out->at);
    for (size_t i = 0; i < N_LAST; i++) {
        const char *cell = row->cells[at[N_FIRST + n_properties + i]];
        if (!parse_f64(cell, numbers[i]))
            return fail(err, "%s:%u: %s: '%.60s' is not a number", t->path, row->line, last_columns[i], cell);
    }
    return true;
}

bool references_load(struct references *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t at[N_FIRST + MAX_PROPERTIES + N_LAST];
    *out = (struct references){0};
    if (access(path, F_OK) != 0)
        return true;
    if (!csv_load(&t, path, a, err) || !find_reference_columns(at, &t, err))
        return false;
    out->items = ARENA_ROOM(a, struct reference, t.n_rows);
    for (; out->n < t.n_rows; out->n++)
        if (!read_reference(&out->items[out->n], &t, &t.rows[out->n], at, err))
            return false;
    return true;
}
