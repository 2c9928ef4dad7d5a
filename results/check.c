/*
 * check.c - simulated values set beside published ones.
 *
 * A figure names where its simulated value comes from in its recipe field: a recipe; "A:B" for a ratio of
 * two recipes; "kernel:..." and "link:..." for a measured kernel or link, which a predictor answers.
 */
#include "results/check.h"
#include "results/statistics.h"
#include <math.h>
#include <string.h>

const char *const verdict_names[N_VERDICTS] = { "pass", "out of tolerance", "does not fit", "no recipe", "no value" };

/* ---- metrics of one recipe ------------------------------------------------------------ */

static const struct metric {
    const char *name;
    size_t offset;                      /* of the double in struct result; 0 there: unknown */
    double per_unit;                    /* figure's unit = result's unit x this */
} metrics[] = {
    { "throughput_samples_per_s", offsetof(struct result, throughput_samples_per_s), 1 },
    { "time_to_train_min",        offsetof(struct result, time_to_train_s),          1 / 60.0 },
    { "latency_s",                offsetof(struct result, latency_s),                1 },
    { "samples_to_converge",      offsetof(struct result, samples_to_converge),      1 },
    { "step_time_s",              offsetof(struct result, step_time_s),              1 },
};

static const struct metric *metric_find(const char *name)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (text_is(metrics[i].name, name))
            return &metrics[i];
    return NULL;
}

static bool no_value(struct check_row *row, enum verdict verdict, const char *why)
{
    row->verdict = verdict;
    row->why = why;
    return false;
}

/* The result of a recipe: known, or simulated now. NULL when it cannot be loaded; why says so. */
static const struct result *result_of(struct check_source *from, const char *recipe, struct arena *a, struct err *why)
{
    const struct result *known = results_find(&from->known, recipe);
    if (known)
        return known;
    struct simulation sim = {0};
    struct result r;
    bool good = simulate(&sim, &r, recipe, NULL, 0, from->paths, from->cache, why);
    if (good)
        results_add(&from->known, &r, a);
    simulation_free(&sim);
    return good ? results_find(&from->known, recipe) : NULL;
}

static const struct result *needed_result(struct check_row *row, struct check_source *from, const char *recipe, struct arena *a)
{
    struct err why;
    const struct result *r = result_of(from, recipe, a, &why);
    if (!r)
        no_value(row, VERDICT_NO_RECIPE, arena_strdup(a, why.msg));
    return r;
}

static bool metric_value(struct check_row *row, const struct metric *m, const struct result *r, struct arena *a)
{
    double value = *(const double *)((const char *)r + m->offset);
    if (!(value > 0))
        return no_value(row, VERDICT_NO_VALUE, arena_printf(a, "%s has no %s", r->id, m->name));
    row->simulated = value * m->per_unit;
    return true;
}

static bool value_of_recipe(struct check_row *row, struct check_source *from, struct arena *a)
{
    const struct metric *m = metric_find(row->figure->metric);
    if (!m)
        return no_value(row, VERDICT_NO_VALUE, "no model of this metric");
    const struct result *r = needed_result(row, from, row->figure->recipe, a);
    if (!r)
        return false;
    row->workload = r->workload;
    row->system = r->system;
    row->verdict = r->fits ? VERDICT_PASS : VERDICT_DOES_NOT_FIT;
    return metric_value(row, m, r, a);
}

/* "A:B": how many times faster A is than B, by throughput or by time to train. */
static bool value_of_ratio(struct check_row *row, struct check_source *from, struct arena *a)
{
    const char *colon = strchr(row->figure->recipe, ':');
    const char *first = arena_printf(a, "%.*s", (int)(colon - row->figure->recipe), row->figure->recipe);
    bool by_time = text_is(row->figure->metric, "time_to_train_speedup_x");
    const struct metric *m = metric_find(by_time ? "time_to_train_min" : "throughput_samples_per_s");
    const struct result *x = needed_result(row, from, first, a);
    const struct result *y = x ? needed_result(row, from, colon + 1, a) : NULL;
    if (!y || !metric_value(row, m, x, a))
        return false;
    double of_first = row->simulated;
    if (!metric_value(row, m, y, a))
        return false;
    row->simulated = by_time ? row->simulated / of_first : of_first / row->simulated;
    row->workload = x->workload;
    row->system = x->system;
    row->verdict = x->fits && y->fits ? VERDICT_PASS : VERDICT_DOES_NOT_FIT;
    return true;
}

static bool value_of(struct check_row *row, struct check_source *from, struct arena *a)
{
    const char *recipe = row->figure->recipe;
    if (!*recipe)
        return no_value(row, VERDICT_NO_RECIPE, "the figure names no recipe");
    bool is_ratio = text_is(row->figure->metric, "speedup_x") || text_is(row->figure->metric, "time_to_train_speedup_x");
    if (is_ratio && strchr(recipe, ':'))
        return value_of_ratio(row, from, a);
    return value_of_recipe(row, from, a);
}

static void judge(struct check_row *row)
{
    const struct figure *f = row->figure;
    row->error = row->simulated / f->value - 1;
    if (row->verdict == VERDICT_PASS && !(fabs(row->error) <= f->tolerance))
        row->verdict = VERDICT_OUT_OF_TOLERANCE;
}

bool check_build(struct check *out, const struct figures *figures, struct check_source *from, struct arena *a, struct err *err)
{
    out->n = figures->n;
    out->rows = ARENA_ARRAY(a, struct check_row, figures->n);
    for (size_t i = 0; i < figures->n; i++) {
        struct check_row *row = &out->rows[i];
        *row = (struct check_row){ .figure = &figures->items[i], .workload = "-", .system = "-" };
        if (!(row->figure->value > 0))
            return fail(err, "%s:%u: %s: value %g is not above 0", row->figure->path, row->figure->line, row->figure->id,
                        row->figure->value);
        row->has_simulated = value_of(row, from, a);
        if (row->has_simulated)
            judge(row);
        if (from->progress)
            from->progress(from->user, i + 1, figures->n);
    }
    return true;
}

bool check_passes(const struct check *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->rows[i].figure->role != FIGURE_CONTEXT && c->rows[i].verdict != VERDICT_PASS)
            return false;
    return true;
}

/* ---- accuracy ------------------------------------------------------------------------- */

static bool in_group(const struct check_row *row, enum role role, const char *workload, const char *system)
{
    return row->figure->role == role && (!workload || text_is(row->workload, workload)) &&
           (!system || text_is(row->system, system));
}

struct accuracy check_accuracy(const struct check *c, enum role role, const char *workload, const char *system, struct arena *scratch)
{
    struct accuracy acc = { .role = role };
    double *signed_errors = ARENA_ARRAY(scratch, double, c->n + 1), *errors = ARENA_ARRAY(scratch, double, c->n + 1);
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        if (!in_group(row, role, workload, system))
            continue;
        acc.n_rows++;
        acc.n_passed += row->verdict == VERDICT_PASS;
        if (!row->has_simulated)
            continue;
        signed_errors[acc.n_simulated] = row->error;
        errors[acc.n_simulated++] = fabs(row->error);
        if (!acc.worst || fabs(row->error) > acc.max_abs_error) {
            acc.worst = row;
            acc.max_abs_error = fabs(row->error);
        }
    }
    if (acc.n_simulated) {
        acc.median_abs_error = statistics_median(errors, acc.n_simulated, scratch);
        acc.mean_abs_error = statistics_mean(errors, acc.n_simulated);
        acc.bias = statistics_mean(signed_errors, acc.n_simulated);
    }
    return acc;
}

static const char *group_name(const struct check_row *row, bool by_system)
{
    return by_system ? row->system : row->workload;
}

/* Names in the order they first appear, each once. */
static const char **group_names(size_t *n, const struct check *c, bool by_system, struct arena *a)
{
    const char **names = ARENA_ARRAY(a, const char *, c->n + 1);
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const char *name = group_name(&c->rows[i], by_system);
        size_t j = 0;
        while (j < *n && !text_is(names[j], name))
            j++;
        if (j == *n)
            names[(*n)++] = name;
    }
    return names;
}

struct accuracy *check_summary(size_t *n, const struct check *c, struct arena *a)
{
    size_t n_workloads_seen, n_systems;
    const char **by_workload = group_names(&n_workloads_seen, c, false, a), **by_system = group_names(&n_systems, c, true, a);
    struct accuracy *all = ARENA_ARRAY(a, struct accuracy, N_FIGURE_ROLES * (1 + n_workloads_seen + n_systems));
    *n = 0;
    for (size_t i = 0; i < 1 + n_workloads_seen + n_systems; i++)
        for (int role = 0; role < N_FIGURE_ROLES; role++) {
            bool is_workload = i >= 1 && i <= n_workloads_seen, is_system = i > n_workloads_seen;
            const char *workload = is_workload ? by_workload[i - 1] : NULL;
            const char *system = is_system ? by_system[i - 1 - n_workloads_seen] : NULL;
            struct accuracy acc = check_accuracy(c, (enum role)role, workload, system, a);
            acc.group = is_system ? "system" : is_workload ? "workload" : "role";
            acc.name = is_system ? system : is_workload ? workload : "all";
            if (acc.n_rows)
                all[(*n)++] = acc;
        }
    return all;
}
