/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * derived.c - rows that are computed from published ones; see published.h.
 *
 * The time of a step is the recipe's global batch over a throughput. The time of a call is an evaluation's time over its number of calls,
 * which is the evaluation's samples over the batch, rounded up. A line over steps needs parents with one micro-batch and at least two
 * accumulations. A line over batches needs parents with one accumulation and at least two micro-batches; each micro-batch takes an equal part
 * of the step. A ratio (speedup_x) is checked like any other row "A:B"; only its value is computed here.
 *
 * If the slope of a line is listed, its intercept must be listed too, and the reverse, so that no number is left out because its prediction is
 * bad. Only a value that is not above 0 may be missing. Rows of one metric whose parents have the same configurations count as one.
 */
#include "results/published/published.h"

#include <gsl/gsl_fit.h>
#include <unistd.h>

#include "workloads/recipe/recipe.h"

enum use { SLOPE, INTERCEPT, DIFFERENCE, RATIO };
enum line_kind { OF_STEPS, OF_EVALUATIONS, OF_BATCHES };
static const struct derived_metric { const char *name, *unit; enum use use; enum line_kind line; } derived_metrics[] = {
    { "loop_s_per_micro_batch",    "s", SLOPE,      OF_STEPS       }, { "update_s",      "s", INTERCEPT, OF_STEPS       },
    { "forward_s_per_micro_batch", "s", SLOPE,      OF_EVALUATIONS }, { "call_s",        "s", INTERCEPT, OF_EVALUATIONS },
    { "batch_s_per_sample",        "s", SLOPE,      OF_BATCHES     }, { "batch_fixed_s", "s", INTERCEPT, OF_BATCHES     },
    { "step_increase_s",           "s", DIFFERENCE, OF_STEPS       }, { "speedup_x",     "x", RATIO,     OF_STEPS       },
};
enum { N_DERIVED_METRICS = sizeof derived_metrics / sizeof *derived_metrics, MOST_PARENTS = 16 };

static const struct derived_metric *derived_metric_find(const char *name)
{
    return FIND_TEXT(derived_metrics, N_DERIVED_METRICS, struct derived_metric, name, name);
}

/* ---- points and lines --------------------------------------------------------------------------- */

bool derived_point(struct derived_point *out, const struct figure *parent, double value, const char *recipes_dir, struct arena *a,
                   struct err *err)
{
    struct recipe r;
    if (!recipe_load(&r, parent->recipe, recipes_dir, NULL, 0, a, err))
        return false;
    double batch = (double)recipe_global_batch(&r) * recipe_samples_per_item(&r);
    *out = (struct derived_point){ (double)r.gradient_accumulation, value, (double)r.model.micro_batch };
    if (text_is(parent->metric, "throughput_samples_per_s"))
        out->seconds = batch / value;
    else if (text_is(parent->metric, "evaluation_time_s"))
        out->seconds = value / ceil((double)r.eval_samples / batch - 1e-9);
    return true;
}

double derived_value(const char *metric, const struct derived_point *points, size_t n)
{
    const struct derived_metric *m = derived_metric_find(metric);
    double x[MOST_PARENTS], y[MOST_PARENTS], intercept, slope, cov00, cov01, cov11, squares;
    assert(m);                          /* published_load() has refused all other metrics */
    for (size_t i = 0; i < n; i++) {
        x[i] = m->line == OF_BATCHES ? points[i].micro_batch : points[i].micro_batches;
        y[i] = m->line == OF_BATCHES ? points[i].seconds / points[i].micro_batches : points[i].seconds;
    }
    if (m->use == DIFFERENCE)
        return y[n - 1] - y[0];
    gsl_fit_linear(x, 1, y, 1, n, &intercept, &slope, &cov00, &cov01, &cov11, &squares);
    return m->use == SLOPE ? slope : intercept;
}

/* ---- the table of derived rows --------------------------------------------------------------------- */

struct derived_loader {
    struct figures *figures;
    size_t n_published;
    const char *path, *recipes_dir;
    struct arena *a;
    struct err *err;
};

static const struct figure *published_row(const struct derived_loader *l, const char *id)
{
    return FIND_TEXT(l->figures->items, l->n_published, struct figure, id, id);
}

static bool may_be_parent(const struct figure *f, const struct derived_metric *m)
{
    if (m->line == OF_EVALUATIONS)
        return text_is(f->metric, "evaluation_time_s");
    return text_is(f->metric, "throughput_samples_per_s") || text_is(f->metric, "step_time_s");
}

static bool read_parents(struct figure *f, const struct derived_metric *m, const char *text, const struct derived_loader *l)
{
    struct figure *parents = ARENA_ROOM(l->a, struct figure, MOST_PARENTS);
    char *rest = arena_strdup(l->a, text), *id;
    while ((id = strsep(&rest, "+"))) {
        const struct figure *parent = published_row(l, id);
        if (!parent)
            return fail(l->err, "%s:%u: parents: no published row '%.80s'", f->path, f->line, id);
        if (!may_be_parent(parent, m))
            return fail(l->err, "%s:%u: column parents: the metric of row %s is %s, but must be %s", f->path, f->line, id, parent->metric,
                        m->line == OF_EVALUATIONS ? "evaluation_time_s" : "throughput_samples_per_s or step_time_s");
        if (f->n_parents == MOST_PARENTS)
            return fail(l->err, "%s:%u: column parents names more than %d rows, which is the limit", f->path, f->line, MOST_PARENTS);
        parents[f->n_parents++] = *parent;
        f->role = parent->role > f->role ? parent->role : f->role;
        f->recipe = arena_printf(l->a, "%s%s%s", f->recipe, *f->recipe ? (m->use == RATIO ? ":" : "+") : "", parent->recipe);
    }
    f->parents = parents;
    return f->n_parents >= 2 || fail(l->err, "%s:%u: parents: '%.80s' is one row, want two or more, joined by +", f->path, f->line, text);
}

/* Checks that the parents lie on one line: they may differ in replicas and in either accumulation or micro-batch, nothing else. */
static bool check_line(const struct figure *f, const struct derived_metric *m, const struct derived_point *p, const struct derived_loader *l)
{
    struct recipe first, other;
    bool spread = false, over_batches = m->line == OF_BATCHES;
    if (!recipe_load(&first, f->parents[0].recipe, l->recipes_dir, NULL, 0, l->a, l->err))
        return false;
    for (size_t i = 1; i < f->n_parents; i++) {
        if (!recipe_load(&other, f->parents[i].recipe, l->recipes_dir, NULL, 0, l->a, l->err))
            return false;
        bool other_batch = p[i].micro_batch != p[0].micro_batch, other_number = p[i].micro_batches != p[0].micro_batches;
        if ((over_batches ? other_number : other_batch) || other.ipus_per_replica != first.ipus_per_replica)
            return fail(l->err, "%s:%u: parents: %s and %s differ in %s or IPUs a replica, so they are not on one line", f->path, f->line, f->parents[0].id,
                        f->parents[i].id, over_batches ? "accumulation" : "micro-batch");
        spread |= over_batches ? other_batch : other_number;
    }
    return spread || fail(l->err, "%s:%u: parents: all have %s of %g, so they give no line", f->path, f->line, over_batches ? "a micro-batch" : "an accumulation",
                          over_batches ? p[0].micro_batch : p[0].micro_batches);
}

static bool set_derived_value(struct figure *f, const struct derived_metric *m, const struct derived_loader *l)
{
    struct derived_point points[MOST_PARENTS];
    assert(f->n_parents >= 2);
    for (size_t i = 0; i < f->n_parents; i++)
        if (!derived_point(&points[i], &f->parents[i], f->parents[i].value, l->recipes_dir, l->a, l->err))
            return false;
    if (m->use == RATIO) {
        f->value = f->parents[0].value / f->parents[1].value;
        return true;
    }
    if (m->use != DIFFERENCE && !check_line(f, m, points, l))
        return false;
    f->value = derived_value(f->metric, points, f->n_parents);
    return f->value > 0 || fail(l->err, "%s:%u: %s: the parents give %g, want a value above 0", f->path, f->line, f->id, f->value);
}

/* The first parent's recipe that recipes_dir does not contain, or NULL. */
static const char *missing_recipe(const struct figure *f, const struct derived_loader *l)
{
    for (size_t i = 0; i < f->n_parents; i++) {
        if (recipe_is_missing(f->parents[i].recipe, l->recipes_dir, l->a))
            return f->parents[i].recipe;
    }
    return NULL;
}

static bool leave_row_out(const struct figure *f, const char *recipe, const struct derived_loader *l)
{
    if (!l->figures->n_left_out++)
        l->figures->left_out = arena_printf(l->a, "%s: no recipe '%s' in %s", f->id, recipe, l->recipes_dir);
    return true;
}

/* True if both rows have the same metric and parents of the same configurations in the same order. */
static bool have_one_configuration(const struct figure *f, const struct figure *g)
{
    bool alike = f->n_parents == g->n_parents && text_is(f->metric, g->metric);
    for (size_t i = 0; alike && i < f->n_parents; i++)
        alike = text_is(f->parents[i].configuration, g->parents[i].configuration);
    return alike;
}

/* The configuration of an earlier row that this row repeats, or else the row's own id. */
static const char *configuration_of(const struct figure *f, const struct derived_loader *l)
{
    for (size_t i = l->n_published; i < l->figures->n; i++)
        if (have_one_configuration(f, &l->figures->items[i]))
            return l->figures->items[i].configuration;
    return f->id;
}

static const char *source_of(const struct figure *f, struct arena *a)
{
    const char *text = "computed from";
    for (size_t i = 0; i < f->n_parents; i++)
        text = arena_printf(a, "%s %s%s", text, f->parents[i].id, i + 1 < f->n_parents ? "," : "");
    return text;
}

static bool read_derived_row(struct derived_loader *l, const struct csv_table *t, const struct csv_row *row)
{
    const char *tolerance = csv_cell(t, row, "tolerance");
    struct figure f = { .id = csv_cell(t, row, "id"), .recipe = "", .metric = csv_cell(t, row, "metric"), .quote = "", .note = csv_cell(t, row, "note"),
                        .path = t->path, .line = row->line };
    const struct derived_metric *m = derived_metric_find(f.metric);
    if (!m)
        return fail(l->err, "%s:%u: metric: '%.40s' is no derived metric; known: %s", f.path, f.line, f.metric,
                    names_list(TEXTS_OF(derived_metrics, N_DERIVED_METRICS, struct derived_metric, name, l->a), N_DERIVED_METRICS, l->a));
    f.unit = m->unit;
    if (!parse_f64(tolerance, &f.tolerance) || !(f.tolerance > 0))
        return fail(l->err, "%s:%u: tolerance: '%.40s' is not a share above 0", f.path, f.line, tolerance);
    if (published_row(l, f.id))
        return fail(l->err, "%s:%u: id: '%.80s' is the id of a published row", f.path, f.line, f.id);
    if (!read_parents(&f, m, csv_cell(t, row, "parents"), l))
        return false;
    const char *missing = missing_recipe(&f, l);
    if (missing)
        return leave_row_out(&f, missing, l);
    if (!set_derived_value(&f, m, l))
        return false;
    f.configuration = configuration_of(&f, l);
    f.source = source_of(&f, l->a);
    LIST_ADD(l->figures, l->a, f);
    return true;
}

/* ---- the other number of a line ------------------------------------------------------------------------ */

static bool has_parent(const struct figure *f, const char *id)
{
    return FIND_TEXT(f->parents, f->n_parents, struct figure, id, id);
}

static bool have_one_line(const struct figure *f, const struct figure *line)
{
    bool same = f->n_parents == line->n_parents;
    for (size_t i = 0; same && i < line->n_parents; i++)
        same = has_parent(f, line->parents[i].id);
    return same;
}

static bool line_is_listed(const struct figure *line, const struct derived_metric *m, const struct derived_loader *l)
{
    for (size_t i = l->n_published; i < l->figures->n; i++)
        if (text_is(l->figures->items[i].metric, m->name) && have_one_line(&l->figures->items[i], line))
            return true;
    return false;
}

/* The intercept that belongs to a slope, or the slope that belongs to an intercept; NULL for other metrics. */
static const struct derived_metric *other_number(const struct derived_metric *m)
{
    bool is_of_line = m->use == SLOPE || m->use == INTERCEPT;
    for (size_t i = 0; i < N_DERIVED_METRICS && is_of_line; i++)
        if (derived_metrics[i].use == (m->use == SLOPE ? INTERCEPT : SLOPE) && derived_metrics[i].line == m->line)
            return &derived_metrics[i];
    return NULL;
}

static bool check_line_is_whole(const struct figure *f, const struct derived_loader *l)
{
    const struct derived_metric *other = other_number(derived_metric_find(f->metric));
    if (!other || line_is_listed(f, other, l))
        return true;
    struct figure missing = *f;
    struct err none;
    missing.metric = other->name;
    struct derived_loader quiet = *l;
    quiet.err = &none;
    return !set_derived_value(&missing, other, &quiet)
        || fail(l->err, "%s:%u: parents: %s, %.6g s, follows from the same parents, but has no row; add one", f->path, f->line, other->name, missing.value);
}

bool published_load_derived(struct figures *out, const char *path, const char *recipes_dir, struct arena *a, struct err *err)
{
    static const char *const names[] = { "id", "metric", "parents", "tolerance", "note", NULL };
    const char *table = arena_printf(a, "%s/derived/derived.csv", path);
    struct csv_table t;
    if (!published_load(out, path, a, err))
        return false;
    if (access(table, F_OK) != 0)
        return true;
    struct derived_loader l = { out, out->n, table, recipes_dir, a, err };
    if (!csv_load(&t, table, a, err) || !csv_has_columns(&t, names, err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++)
        if (!read_derived_row(&l, &t, &t.rows[i]))
            return false;
    for (size_t i = l.n_published; i < out->n; i++)
        if (!check_line_is_whole(&out->items[i], &l))
            return false;
    return true;
}
