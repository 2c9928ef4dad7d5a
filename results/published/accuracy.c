/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * accuracy.c - how far a check's rows are off, by group; see check.h.
 *
 * A configuration counts once, with the mean of its rows. Medians are of configurations too; the largest error is that of one row. Signed
 * errors are turned by their metric before they are averaged, so that + is predicted too fast.
 */
#include "results/published/check.h"

#include <math.h>
#include <string.h>

#include "system-model/base/statistics.h"

static bool is_of_division(const struct figure *f, const char *division)
{
    char its[16] = "";
    return !division || (sscanf(f->recipe, "mlperf-%*[^-]-%15[^-]-", its) == 1 && text_is(its, division));
}

static bool in_group(const struct check_row *row, enum standing standing, const struct check_group *g)
{
    enum standing its = g->manner == MANNER_PREDICTED_SAMPLES ? (enum standing)row->figure->role : row->standing;
    enum figure_kind kind = figure_kind(row->figure);
    return its == standing && is_of_division(row->figure, g->division) &&
           (g->kind == N_FIGURE_KINDS ? kind <= FIGURE_OF_LINK : kind == g->kind) &&
           (!g->metric || text_is(row->figure->metric, g->metric)) &&
           (!g->workload || text_is(row->workload, g->workload)) && (!g->system || text_is(row->system, g->system)) &&
           (g->manner == MANNER_ANY || row->has_predicted);
}

/* A prediction passes by the tolerance of the same figure. */
static bool row_passes(const struct check_row *row, enum check_manner manner)
{
    if (manner != MANNER_PREDICTED_SAMPLES)
        return row->verdict == VERDICT_PASS;
    return row->verdict != VERDICT_DOES_NOT_FIT && fabs(row->predicted_error) <= row->figure->tolerance;
}

/* Errors of one configuration: sums over its rows. */
struct errors { double absolute, of_sign, n; };

static void add_error(struct accuracy *acc, struct errors *of, const struct check_row *row, double error)
{
    acc->n_simulated++;
    acc->n_configurations += of->n == 0;
    of->absolute += fabs(error);
    of->of_sign += metric_faster(row->figure->metric) * error;
    of->n++;
    if (!acc->worst || fabs(error) > acc->max_abs_error) {
        acc->worst = row;
        acc->max_abs_error = fabs(error);
    }
}

static void take_means(struct accuracy *acc, const struct errors *of, size_t n_of, struct arena *scratch)
{
    double *absolute = ARENA_ROOM(scratch, double, n_of), *of_sign = ARENA_ROOM(scratch, double, n_of);
    size_t n = 0;
    for (size_t i = 0; i < n_of; i++)
        if (of[i].n > 0) {
            absolute[n] = of[i].absolute / of[i].n;
            of_sign[n++] = of[i].of_sign / of[i].n;
        }
    if (n == 0)
        return;
    acc->median_abs_error = statistics_median(absolute, n, scratch);
    acc->mean_abs_error = statistics_mean(absolute, n);
    acc->bias = statistics_mean(of_sign, n);
}

struct accuracy check_accuracy(const struct check *c, enum standing standing, const struct check_group *group, struct arena *scratch)
{
    struct accuracy acc = { .standing = standing };
    struct errors *of = ARENA_ARRAY(scratch, struct errors, c->n_configurations);
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        if (!in_group(row, standing, group))
            continue;
        acc.n_rows++;
        acc.n_passed += row_passes(row, group->manner);
        if (row->has_simulated)
            add_error(&acc, &of[row->configuration], row, group->manner == MANNER_PREDICTED_SAMPLES ? row->predicted_error : row->error);
    }
    take_means(&acc, of, c->n_configurations, scratch);
    return acc;
}

/* Names in the order they first appear, each once. */
static const char **group_names(size_t *n, const struct check *c, bool by_system, struct arena *a)
{
    const char **names = ARENA_ROOM(a, const char *, c->n);
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const char *name = by_system ? c->rows[i].system : c->rows[i].workload;
        size_t j = 0;
        while (j < *n && !text_is(names[j], name))
            j++;
        if (j == *n)
            names[(*n)++] = name;
    }
    return names;
}

static struct accuracy *add_groups(struct accuracy *out, const struct check *c, const char *group, const char *name,
                                   const struct check_group *g, struct arena *a)
{
    for (int standing = 0; standing < N_STANDINGS; standing++) {
        struct accuracy acc = check_accuracy(c, (enum standing)standing, g, a);
        acc.group = group;
        acc.name = name;
        if (acc.n_rows)
            *out++ = acc;
    }
    return out;
}

static struct accuracy *add_manner(struct accuracy *end, const struct check *c, const char *group, enum check_manner manner,
                                   const char *const *workloads_of, size_t n, struct arena *a)
{
    static const char *const divisions[] = { "closed", "open" };
    end = add_groups(end, c, group, "all times to train", &(struct check_group){ .kind = N_FIGURE_KINDS, .manner = manner }, a);
    for (size_t i = 0; i < 2; i++)
        end = add_groups(end, c, group, arena_printf(a, "%s division", divisions[i]),
                         &(struct check_group){ .kind = N_FIGURE_KINDS, .manner = manner, .division = divisions[i] }, a);
    for (size_t i = 0; i < n; i++)
        end = add_groups(end, c, group, workloads_of[i],
                         &(struct check_group){ .kind = N_FIGURE_KINDS, .workload = workloads_of[i], .manner = manner }, a);
    return end;
}

/* Derived rows by what they are of. */
static struct accuracy *add_derived(struct accuracy *end, const struct check *c, struct arena *a)
{
    for (size_t i = 0; i < c->n; i++) {
        struct check_group g = { .kind = FIGURE_DERIVED, .metric = c->rows[i].figure->metric };
        size_t earlier = 0;
        while (earlier < i && !(c->rows[earlier].figure->n_parents && text_is(c->rows[earlier].figure->metric, g.metric)))
            earlier++;
        if (c->rows[i].figure->n_parents && earlier == i)
            end = add_groups(end, c, "derived", g.metric, &g, a);
    }
    return end;
}

struct memory_check check_memory(const struct check *c, struct arena *scratch)
{
    struct memory_check m = {0};
    bool *counted = ARENA_ARRAY(scratch, bool, c->n_configurations);
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        enum figure_kind kind = figure_kind(row->figure);
        bool too_large = kind == FIGURE_OF_MEMORY && !(row->figure->value > 0);
        if (!row->has_simulated || (kind != FIGURE_OF_RUN && kind != FIGURE_OF_MEMORY) || strchr(row->figure->recipe, ':') ||
            counted[row->configuration])
            continue;
        counted[row->configuration] = true;
        m.n_ran += !too_large;
        m.n_ran_fits += !too_large && row->fits;
        m.n_too_large += too_large;
        m.n_too_large_found += too_large && !row->fits;
    }
    return m;
}

struct accuracy *check_summary(size_t *n, const struct check *c, struct arena *a)
{
    size_t n_names, n_systems;
    const char **by_workload = group_names(&n_names, c, false, a), **by_system = group_names(&n_systems, c, true, a);
    struct accuracy *all = ARENA_ROOM(a, struct accuracy, N_STANDINGS * (16 + N_FIGURE_KINDS + 3 * n_names + n_systems)), *end = all;
    struct check_group any = { .kind = N_FIGURE_KINDS };
    end = add_groups(end, c, "role", "all", &any, a);
    for (int kind = 0; kind < N_FIGURE_KINDS; kind++)
        end = add_groups(end, c, "kind", figure_kind_names[kind], &(struct check_group){ .kind = (enum figure_kind)kind }, a);
    end = add_derived(end, c, a);
    for (size_t i = 0; i < n_names; i++)
        end = add_groups(end, c, "workload", by_workload[i], &(struct check_group){ .kind = N_FIGURE_KINDS, .workload = by_workload[i] }, a);
    for (size_t i = 0; i < n_systems; i++)
        end = add_groups(end, c, "system", by_system[i], &(struct check_group){ .kind = N_FIGURE_KINDS, .system = by_system[i] }, a);
    end = add_manner(end, c, "given", MANNER_PUBLISHED_SAMPLES, by_workload, n_names, a);
    end = add_manner(end, c, "predicted", MANNER_PREDICTED_SAMPLES, by_workload, n_names, a);
    *n = (size_t)(end - all);
    return all;
}
