/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * accuracy.c - errors of configurations, and of a check's rows by group.
 */
#include "results/published/check.h"

/* ---- errors of configurations ---------------------------------------------------------------------------- */

struct error_summary errors_by_configuration(struct row_error *rows, size_t n_rows, struct arena *scratch)
{
    struct error_summary out = {0};
    double *means = ARENA_ROOM(scratch, double, n_rows), bias = 0;
    SORT_BY(rows, n_rows, RISING(struct row_error, configuration), RISING(struct row_error, error));
    for (size_t i = 0, end; i < n_rows; i = end) {
        double sum = 0, speed_sum = 0;
        for (end = i; end < n_rows && text_is(rows[end].configuration, rows[i].configuration); end++) {
            sum += fabs(rows[end].error);
            speed_sum += rows[end].speed_error;
        }
        means[out.n++] = sum / (double)(end - i);
        bias += speed_sum / (double)(end - i);
    }
    if (out.n) {
        out.median = statistics_median(means, out.n, scratch);
        out.mean = statistics_mean(means, out.n);
        out.bias = bias / (double)out.n;
    }
    return out;
}

struct error_summary errors_of_table(const struct csv_table *check, enum figure_kind kind, const char *counts_as, struct arena *scratch)
{
    struct row_error *errors = ARENA_ROOM(scratch, struct row_error, check->n_rows);
    size_t n = 0;
    for (size_t i = 0; i < check->n_rows; i++) {
        const struct csv_row *row = &check->rows[i];
        const char *its = csv_cell(check, row, "counts_as"), *its_kind = csv_cell(check, row, "kind");
        const char *configuration = csv_cell(check, row, "configuration");
        double error;
        if (text_is(*its ? its : csv_cell(check, row, "role"), counts_as) &&
            text_is(*its_kind ? its_kind : "runs", figure_kind_names[kind]) && parse_f64(csv_cell(check, row, "error"), &error))
            errors[n++] = (struct row_error){ *configuration ? configuration : row->cells[0], error, 0 };
    }
    return errors_by_configuration(errors, n, scratch);
}

/* ---- one group ------------------------------------------------------------------------------------------- */

static bool is_of_division(const struct figure *f, const char *division)
{
    char its[16] = "";
    return !division || (sscanf(f->recipe, "mlperf-%*[^-]-%15[^-]-", its) == 1 && text_is(its, division));
}

static bool is_any_or(const char *wanted, const char *text)
{
    return !wanted || text_is(wanted, text);
}

static bool in_group(const struct check_row *row, enum counts_as counts_as, const struct check_group *g)
{
    enum counts_as its = g->samples == SAMPLES_PREDICTED ? (enum counts_as)row->figure->role : row->counts_as;
    return its == counts_as && figure_kind(row->figure) == g->kind && is_of_division(row->figure, g->division) &&
           is_any_or(g->metric, row->figure->metric) && is_any_or(g->workload, row->workload) && is_any_or(g->system, row->system) &&
           (g->samples == SAMPLES_ANY || row->has_predicted);
}

/* Judges a time to train, simulated or predicted, by the tolerance of its published figure. */
static bool row_passes(const struct check_row *row, enum samples_used samples)
{
    if (samples != SAMPLES_PREDICTED)
        return row->verdict == VERDICT_PASS;
    return row->verdict != VERDICT_DOES_NOT_FIT && fabs(row->predicted_error) <= row->figure->tolerance;
}

struct accuracy check_accuracy(const struct check *c, enum counts_as counts_as, const struct check_group *group, struct arena *scratch)
{
    struct accuracy acc = { .kind = group->kind, .counts_as = counts_as };
    struct row_error *errors = ARENA_ROOM(scratch, struct row_error, c->n);
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        if (!in_group(row, counts_as, group))
            continue;
        acc.n_rows++;
        acc.n_passed += row_passes(row, group->samples);
        if (!row->has_simulated)
            continue;
        double error = group->samples == SAMPLES_PREDICTED ? row->predicted_error : row->error;
        errors[acc.n_simulated++] = (struct row_error){ row->figure->configuration, error, metric_faster(row->figure->metric) * error };
        if (!acc.worst || fabs(error) > acc.max_abs_error) {
            acc.worst = row;
            acc.max_abs_error = fabs(error);
        }
    }
    acc.errors = errors_by_configuration(errors, acc.n_simulated, scratch);
    return acc;
}

/* ---- all groups ------------------------------------------------------------------------------------------ */

struct summary { struct accuracy *items; size_t n, cap; const struct check *check; struct arena *a; };

static void add_group(struct summary *s, const char *group, const char *name, struct check_group g)
{
    for (int k = 0; k < N_COUNTS_AS; k++) {
        struct accuracy acc = check_accuracy(s->check, (enum counts_as)k, &g, s->a);
        acc.group = group;
        acc.name = name;
        if (!acc.n_rows)
            continue;
        LIST_ADD(s, s->a, acc);
    }
}

static const char *workload_of(const struct check_row *row) { return row->workload; }
static const char *system_of(const struct check_row *row) { return row->system; }
static const char *metric_of(const struct check_row *row) { return row->figure->metric; }

/* The distinct values of a column over the rows of this kind, in order of first appearance; "-" is left out. */
static const char **distinct(size_t *n, const struct summary *s, enum figure_kind kind, const char *(*value)(const struct check_row *))
{
    const char **values = ARENA_ROOM(s->a, const char *, s->check->n);
    *n = 0;
    for (size_t i = 0; i < s->check->n; i++) {
        if (figure_kind(s->check->rows[i].figure) != kind)
            continue;
        const char *text = value(&s->check->rows[i]);
        size_t j = 0;
        while (j < *n && !text_is(values[j], text))
            j++;
        if (j == *n && !text_is(text, "-"))
            values[(*n)++] = text;
    }
    return values;
}

static void add_by_workload_and_system(struct summary *s, enum figure_kind kind)
{
    size_t n;
    const char **workloads = distinct(&n, s, kind, workload_of);
    for (size_t i = 0; i < n; i++)
        add_group(s, "workload", workloads[i], (struct check_group){ .kind = kind, .workload = workloads[i] });
    const char **systems = distinct(&n, s, kind, system_of);
    for (size_t i = 0; i < n; i++)
        add_group(s, "system", systems[i], (struct check_group){ .kind = kind, .system = systems[i] });
}

static void add_by_metric(struct summary *s, enum figure_kind kind)
{
    size_t n;
    const char **metrics = distinct(&n, s, kind, metric_of);
    for (size_t i = 0; i < n; i++)
        add_group(s, "metric", metrics[i], (struct check_group){ .kind = kind, .metric = metrics[i] });
}

static void add_times_to_train(struct summary *s, const char *group, enum samples_used samples)
{
    static const char *const divisions[] = { "closed", "open" };
    size_t n;
    const char **workloads = distinct(&n, s, FIGURE_OF_RUN, workload_of);
    add_group(s, group, "all times to train", (struct check_group){ .samples = samples });
    for (size_t i = 0; i < 2; i++)
        add_group(s, group, arena_printf(s->a, "%s division", divisions[i]), (struct check_group){ .samples = samples, .division = divisions[i] });
    for (size_t i = 0; i < n; i++)
        add_group(s, group, workloads[i], (struct check_group){ .samples = samples, .workload = workloads[i] });
}

struct accuracy *check_summary(size_t *n, const struct check *c, struct arena *a)
{
    static const enum figure_kind kinds[] = { FIGURE_OF_RUN, FIGURE_OF_EVALUATION, FIGURE_DERIVED, FIGURE_OF_POWER, FIGURE_OF_KERNEL, FIGURE_OF_LINK };
    struct summary s = { .check = c, .a = a };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        add_group(&s, "all", figure_kind_names[kinds[k]], (struct check_group){ .kind = kinds[k] });
        if (kinds[k] == FIGURE_OF_RUN || kinds[k] == FIGURE_OF_KERNEL || kinds[k] == FIGURE_OF_LINK)
            add_by_workload_and_system(&s, kinds[k]);
        if (kinds[k] == FIGURE_OF_RUN) {
            add_times_to_train(&s, "given", SAMPLES_PUBLISHED);
            add_times_to_train(&s, "predicted", SAMPLES_PREDICTED);
        }
        if (kinds[k] == FIGURE_DERIVED || kinds[k] == FIGURE_OF_POWER)
            add_by_metric(&s, kinds[k]);
    }
    *n = s.n;
    return s.items;
}
