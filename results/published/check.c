/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.c - the simulated value of every published figure, and its verdict.
 *
 * A figure says where its simulated value comes from: a recipe, "A:B" for the ratio of two recipes, or a measured kernel
 * or transfer. A derived row is computed from its parents' simulated values in the way it was computed from their
 * published ones.
 */
#include "results/published/check.h"
#include <unistd.h>

const char *const counts_as_names[N_COUNTS_AS] = { "calibrate", "validate", "context", "repeats" };
const char *const verdict_names[N_VERDICTS] = { "pass", "out of tolerance", "does not fit", "no recipe", "no value" };

/* ---- metrics of one recipe ------------------------------------------------------------ */

static bool no_value(struct check_row *row, enum verdict verdict, const char *why)
{
    row->verdict = verdict;
    row->why = why;
    return false;
}

/* Ends the check, because a recipe or sheet that exists cannot be read; that is an error of the input and not a verdict on the row. */
static bool is_broken(struct check_row *row, struct check_source *from, const struct err *why, struct arena *a)
{
    from->broken = from->broken ? from->broken : arena_printf(a, "%s:%u: %s: %s", row->figure->path, row->figure->line, row->figure->id, why->msg);
    return no_value(row, VERDICT_NO_VALUE, from->broken);
}

/* The known result of a recipe, or else a simulation of it. NULL, with the reason in `why`, if the recipe cannot be loaded. */
static const struct result *known_or_new_result(struct check_source *from, const char *recipe, struct arena *a, struct err *why)
{
    const struct result *known = results_find(&from->known, recipe);
    if (known)
        return known;
    struct simulation sim;
    struct result r;
    bool good = simulator_run(from->simulator, &sim, &r, recipe, NULL, 0, why);
    r.id = recipe;
    if (good)
        results_add(&from->known, &r, a);
    simulation_free(&sim);
    return good ? results_find(&from->known, recipe) : NULL;
}

static const struct result *row_result(struct check_row *row, struct check_source *from, const char *recipe, struct arena *a)
{
    struct err why;
    const char *path = path_beside(row->figure->path, recipe, a);
    const struct result *r = known_or_new_result(from, path, a, &why);
    if (!r && recipe_is_missing(path, from->simulator->paths->recipes_dir, a))
        no_value(row, VERDICT_NO_RECIPE, "no recipe yet");
    else if (!r)
        is_broken(row, from, &why, a);
    return r;
}

static bool metric_value(struct check_row *row, const struct published_metric *m, const struct result *r, struct arena *a)
{
    assert(m && m->per_unit > 0);       /* published_load() has refused all other metrics */
    double value = *(const double *)((const char *)r + m->result_offset);
    if (!(value > 0))
        return no_value(row, VERDICT_NO_VALUE, arena_printf(a, "%s has no %s", r->id, m->name));
    row->simulated = value * m->per_unit;
    return true;
}

static void set_predicted(struct check_row *row, const struct result *r)
{
    row->has_predicted = text_is(row->figure->metric, "time_to_train_min") && is_known(r->predicted_time_to_train_s);
    row->predicted = r->predicted_time_to_train_s / 60;
    row->predicted_error = row->predicted / row->figure->value - 1;
}

static void describe_run(struct check_row *row, const struct result *r)
{
    row->workload = r->workload;
    row->system = r->system;
    row->fits = r->fits;
    row->fits_probability = r->fits_probability;
    row->verdict = r->fits ? VERDICT_PASS : VERDICT_DOES_NOT_FIT;
}

/* Gives the row names such as workload "kernel matmul" and system "bow". */
static void name_part(struct check_row *row, struct arena *a)
{
    const struct figure *f = row->figure;
    row->workload = f->kernel ? arena_printf(a, "kernel %s", kernel_kind_names[f->kernel->kind])
                              : arena_printf(a, "link %s", exchange_kind_names[f->link->request.kind]);
    row->system = f->kernel ? f->kernel->machine : f->link->machine;
}

/* A missing sheet leaves the row without a value; a sheet that exists but cannot be read ends the check. */
static bool part_without_value(struct check_row *row, struct check_source *from, const struct err *why, struct arena *a)
{
    bool has_sheet = access(arena_printf(a, "%s/%s.csv", from->simulator->paths->specs_dir, row->system), F_OK) == 0;
    return has_sheet ? is_broken(row, from, why, a) : no_value(row, VERDICT_NO_VALUE, arena_strdup(a, why->msg));
}

static struct kernel_bench *kernels_of(struct check_source *from, struct arena *a)
{
    from->kernels = (struct kernel_bench){ from->simulator->paths->specs_dir, from->simulator->plans, from->kernels.machines, a };
    return &from->kernels;
}

static bool simulate_kernel_memory(struct check_row *row, struct check_source *from, struct arena *a)
{
    const struct figure *f = row->figure;
    struct kernel_memory m;
    struct err why = {0};
    name_part(row, a);
    if (!kernel_row_memory(&m, f->kernel, kernels_of(from, a), &why))
        return part_without_value(row, from, &why, a);
    row->fits = row->fits_with_less_memory = m.fits;
    row->fits_probability = m.fits_probability;
    if (text_is(f->metric, "total_bytes"))
        row->simulated = (double)(m.operand_bytes + m.temporary_bytes + m.code_bytes);
    else if (text_is(f->metric, "max_tile_bytes"))
        row->simulated = (double)m.max_tile_bytes;
    else if (text_is(f->metric, "max_tile_including_gaps_bytes"))
        row->simulated = (double)m.max_tile_with_gaps_bytes;
    else if (text_is(f->metric, "fits"))
        row->simulated = m.fits;
    else
        return no_value(row, VERDICT_NO_VALUE, arena_printf(a, "a kernel has no %s", f->metric));
    return true;
}

/* Simulates again, because results do not keep the plan that holds the bytes of a category. */
static bool simulate_category(struct check_row *row, struct check_source *from, struct arena *a)
{
    struct simulation sim;
    struct result r;
    struct err why = {0};
    bool good = simulator_run(from->simulator, &sim, &r, path_beside(row->figure->path, row->figure->recipe, a), NULL, 0, &why) &&
                memory_of_plan(&row->simulated, &sim.plan, row->figure->metric, &why);
    simulation_free(&sim);
    return good || no_value(row, VERDICT_NO_VALUE, arena_strdup(a, why.msg));
}

static bool simulate_memory(struct check_row *row, struct check_source *from, struct arena *a)
{
    if (row->figure->kernel)
        return simulate_kernel_memory(row, from, a);
    const struct result *r = row_result(row, from, row->figure->recipe, a);
    if (!r)
        return false;
    describe_run(row, r);
    row->verdict = VERDICT_PASS;        /* a row with metric "fits" needs no further value */
    if (!text_is(row->figure->metric, "fits"))
        return simulate_category(row, from, a);
    row->simulated = r->fits;
    row->fits_with_less_memory = r->fits || r->smaller_available_memory;
    return true;
}

/* Searches the largest table that fits. The published sizes differ from the recipe's, so the result only serves for its machine. */
static bool simulate_entities(struct check_row *row, struct check_source *from, const struct result *r, struct arena *a)
{
    struct err why = {0};
    bool good = table_rows_predict(&row->simulated, from->simulator, r->id, &why);
    row->verdict = VERDICT_PASS;
    return good || no_value(row, VERDICT_NO_VALUE, arena_strdup(a, why.msg));
}

static bool simulate_recipe(struct check_row *row, struct check_source *from, struct arena *a)
{
    const bool of_entities = text_is(row->figure->metric, "entities");
    const struct published_metric *m = published_metric(row->figure->metric);
    if (!m || (m->per_unit == 0 && !of_entities))
        return no_value(row, VERDICT_NO_VALUE, arena_printf(a, "no model of this metric; known: %s", published_run_metrics(a)));
    const struct result *r = row_result(row, from, row->figure->recipe, a);
    if (!r)
        return false;
    describe_run(row, r);
    if (of_entities)
        return simulate_entities(row, from, r, a);
    set_predicted(row, r);
    row->stated_error = text_is(m->name, "ipu_power_w") ? r->ipu_power_error_w : 0;
    return metric_value(row, m, r, a);
}

/* The ratio of recipes "A:B": the speed of A over that of B, by throughput or by time to train. */
static bool simulate_ratio(struct check_row *row, struct check_source *from, struct arena *a)
{
    const char *colon = strchr(row->figure->recipe, ':');
    const char *first = arena_printf(a, "%.*s", (int)(colon - row->figure->recipe), row->figure->recipe);
    bool by_time = text_is(row->figure->metric, "time_to_train_speedup_x");
    const struct published_metric *m = published_metric(by_time ? "time_to_train_min" : "throughput_samples_per_s");
    const struct result *x = row_result(row, from, first, a);
    const struct result *y = x ? row_result(row, from, colon + 1, a) : NULL;
    if (!y || !metric_value(row, m, x, a))
        return false;
    double of_first = row->simulated;
    if (!metric_value(row, m, y, a))
        return false;
    row->simulated = by_time ? row->simulated / of_first : of_first / row->simulated;
    describe_run(row, x);
    row->verdict = x->fits && y->fits ? VERDICT_PASS : VERDICT_DOES_NOT_FIT;
    return true;
}

/* Computes a derived value from the simulated values of its parent rows. */
static bool simulate_derived(struct check_row *row, struct check_source *from, struct arena *a)
{
    const struct figure *f = row->figure;
    struct derived_point *points = ARENA_ARRAY(a, struct derived_point, f->n_parents);
    struct err why = {0};
    bool fits = true;
    for (size_t i = 0; i < f->n_parents; i++) {
        const struct result *r = row_result(row, from, f->parents[i].recipe, a);
        if (!r || !metric_value(row, published_metric(f->parents[i].metric), r, a))
            return false;
        if (!derived_point(&points[i], &f->parents[i], row->simulated, from->simulator->paths->recipes_dir, a, &why))
            return no_value(row, VERDICT_NO_VALUE, arena_strdup(a, why.msg));
        fits &= r->fits;
        describe_run(row, r);
    }
    row->simulated = derived_value(f->metric, points, f->n_parents);
    row->verdict = fits ? VERDICT_PASS : VERDICT_DOES_NOT_FIT;
    return true;
}

/* ---- measured parts: kernels and links ------------------------------------------------- */

static bool simulate_part(struct check_row *row, struct check_source *from, struct arena *a)
{
    const struct figure *f = row->figure;
    struct err why = {0};
    name_part(row, a);
    from->links.specs_dir = from->simulator->paths->specs_dir;
    from->links.arena = a;
    bool (*predict)(double *, const struct kernel_case *, const char *, struct kernel_bench *, struct err *)
        = f->kernel && kernel_is_sparse(f->kernel) ? sparse_row_predict : kernel_row_predict;
    bool good = f->kernel ? predict(&row->simulated, f->kernel, f->metric, kernels_of(from, a), &why)
                          : link_row_predict(&row->simulated, f->link, f->metric, &from->links, &why);
    if (good && figure_kind(f) == FIGURE_OF_POWER)
        kernel_row_predict(&row->stated_error, f->kernel, "energy_error_j", kernels_of(from, a), &why);
    return good || part_without_value(row, from, &why, a);
}

static bool simulate_row_value(struct check_row *row, struct check_source *from, struct arena *a)
{
    const struct figure *f = row->figure;
    enum figure_kind kind = figure_kind(f);
    if (!*f->recipe)
        return no_value(row, VERDICT_NO_RECIPE, f->without);
    if (kind == FIGURE_OF_MEMORY)
        return simulate_memory(row, from, a);
    if (f->kernel || f->link)
        return simulate_part(row, from, a);
    if (figure_is_ratio(f))
        return simulate_ratio(row, from, a);
    return kind == FIGURE_DERIVED ? simulate_derived(row, from, a) : simulate_recipe(row, from, a);
}

static void judge_row(struct check_row *row)
{
    const struct figure *f = row->figure;
    bool is_verdict = text_is(f->metric, "fits");
    row->error = is_verdict ? row->simulated - f->value : row->simulated / f->value - 1;
    if (row->verdict == VERDICT_PASS && !(fabs(row->error) <= (is_verdict ? 0 : f->tolerance)))
        row->verdict = VERDICT_OUT_OF_TOLERANCE;
}

/* Removes the row's prediction if an earlier row has one of the same recipe, because the two rows publish one score. */
static void drop_restated(const struct check *c, struct check_row *row)
{
    for (const struct check_row *before = c->rows; before < row && row->has_predicted; before++)
        if (before->has_predicted && text_is(before->figure->recipe, row->figure->recipe))
            row->has_predicted = false;
}

static bool is_of_time(const struct figure *f)
{
    return figure_kind(f) != FIGURE_OF_MEMORY && figure_kind(f) != FIGURE_OF_POWER;
}

/* True if another row of this configuration calibrates the same quantity: time, power, or the same category of memory. */
static bool calibrates_too(const struct check *c, const struct figure *f)
{
    bool is_memory = figure_kind(f) == FIGURE_OF_MEMORY;
    for (size_t i = 0; i < c->n; i++) {
        const struct figure *other = c->rows[i].figure;
        if (other->role == FIGURE_CALIBRATE && *f->configuration && text_is(other->configuration, f->configuration)
            && (is_memory ? text_is(other->metric, f->metric) : is_of_time(other) == is_of_time(f)))
            return true;
    }
    return false;
}

/* How the figure counts. A ratio of two recipes repeats two configurations; a derived ratio repeats none. */
static enum counts_as counts_as(const struct check *c, const struct figure *f)
{
    bool repeats = (f->role == FIGURE_VALIDATE && calibrates_too(c, f)) ||
                   (f->role != FIGURE_CONTEXT && figure_is_ratio(f) && !f->n_parents);
    return repeats ? COUNTS_AS_REPEAT : (enum counts_as)f->role;
}

bool check_build(struct check *out, const struct figures *figures, struct check_source *from, struct arena *a, struct err *err)
{
    out->n = figures->n;
    from->simulator->options.judges = true;
    out->rows = ARENA_ARRAY(a, struct check_row, figures->n);
    for (size_t i = 0; i < figures->n; i++) {
        struct check_row *row = &out->rows[i];
        *row = (struct check_row){ .figure = &figures->items[i], .workload = "-", .system = "-" };
        if (!(row->figure->value > 0) && figure_kind(row->figure) != FIGURE_OF_MEMORY)
            return fail(err, "%s:%u: %s: value %g is not above 0", row->figure->path, row->figure->line, row->figure->id,
                        row->figure->value);
        row->has_simulated = simulate_row_value(row, from, a);
        if (from->broken)
            return fail(err, "%s", from->broken);
        if (row->has_simulated)
            judge_row(row);
        drop_restated(out, row);
        watch_report(&from->watch, "", i + 1, figures->n);
    }
    for (size_t i = 0; i < out->n; i++)
        out->rows[i].counts_as = counts_as(out, out->rows[i].figure);
    return true;
}

bool check_passes(const struct check *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->rows[i].figure->role != FIGURE_CONTEXT && *c->rows[i].figure->recipe && c->rows[i].verdict != VERDICT_PASS)
            return false;
    return true;
}
