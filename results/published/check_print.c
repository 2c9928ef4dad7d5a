/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_print.c - a check as a table, TAP, JUnit XML, CSV and JSON.
 */
#include "results/published/check.h"
#include <jansson.h>
#include <string.h>

static const char *cell(char *out, size_t n, bool known, const char *format, double value)
{
    if (known)
        snprintf(out, n, format, value);
    else
        snprintf(out, n, "-");
    return out;
}

static int widest_id(const struct check *c)
{
    size_t width = 6;
    for (size_t i = 0; i < c->n; i++) {
        size_t n = strlen(c->rows[i].figure->id);
        width = max_u64(n, width);
    }
    return (int)min_u64(width, 64);
}

/* A context row that no recipe describes: nothing to compare, the summary counts it. */
static bool stands_alone(const struct check_row *row)
{
    return row->figure->role == FIGURE_CONTEXT && !*row->figure->recipe;
}

/* One operation or one transfer. */
static bool is_part(const struct figure *f)
{
    return figure_kind(f) == FIGURE_OF_KERNEL || figure_kind(f) == FIGURE_OF_LINK;
}

static bool has_runs(const struct check *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (figure_kind(c->rows[i].figure) == FIGURE_OF_RUN)
            return true;
    return false;
}

/* The recipe where the id does not begin with it, and why there is no value. */
static const char *remark(const struct check_row *row, struct arena *a)
{
    const struct figure *g = row->figure;
    bool told = strncmp(g->id, g->recipe, strlen(g->recipe)) == 0;
    return arena_printf(a, "%s%s%s%s", told ? "" : "  ", told ? "" : g->recipe, row->why ? "  " : "", row->why ? row->why : "");
}

/* Published times to train, with the published samples to converge and with the predicted ones. */
static void print_manners(FILE *f, const struct check *c, int width)
{
    static const char title[] = "minutes to train";
    bool any = false;
    width = width < (int)strlen(title) ? (int)strlen(title) : width;
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        char given[32], error[32];
        if (!row->has_predicted)
            continue;
        if (!any)
            fprintf(f, "\n%-*s  %-9s %12s %16s %9s %18s %9s\n", width, title, "role", "published", "samples as given",
                    "error %", "samples predicted", "error %");
        any = true;
        fprintf(f, "%-*s  %-9s %12.6g %16s %9s %18.6g %+9.2f\n", width, row->figure->id, role_names[row->figure->role],
                row->figure->value, cell(given, sizeof given, row->has_simulated, "%.6g", row->simulated),
                cell(error, sizeof error, row->has_simulated, "%+.2f", 100 * row->error), row->predicted, 100 * row->predicted_error);
    }
}

void check_print_text(FILE *f, const struct check *c, struct arena *scratch)
{
    int width = widest_id(c);
    char simulated[32], error[32];
    size_t n_alone = 0, n_parts = 0;
    bool runs_only = has_runs(c);
    fprintf(f, "%-*s  %-26s %-9s %12s %12s %9s %6s  %s\n", width, "figure", "metric", "role", "published", "simulated", "error %",
            "tol %", "verdict");
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        const struct figure *g = row->figure;
        n_alone += stands_alone(row);
        n_parts += runs_only && is_part(g);
        if (stands_alone(row) || (runs_only && is_part(g)))
            continue;
        cell(simulated, sizeof simulated, row->has_simulated, "%.6g", row->simulated);
        cell(error, sizeof error, row->has_simulated, "%+.2f", 100 * row->error);
        fprintf(f, "%-*s  %-26s %-9s %12.6g %12s %9s %6.3g  %s%s\n", width, g->id, g->metric, role_names[g->role], g->value,
                simulated, error, 100 * g->tolerance, verdict_names[row->verdict], remark(row, scratch));
    }
    if (n_parts)
        fprintf(f, "and %zu measured kernels, links and collectives: shown by 'podbench bench --kernels', '--links', and --format csv\n", n_parts);
    if (n_alone)
        fprintf(f, "and %zu context rows without a recipe (scores of other machines, statements): shown by --format csv\n", n_alone);
    print_manners(f, c, width);
    fprintf(f, "\n");
    check_print_summary(f, c, scratch);
}

void check_print_summary(FILE *f, const struct check *c, struct arena *scratch)
{
    fputs("Errors are per configuration (conf), each the mean over its rows. A validate row whose configuration also calibrates repeats what\n"
          "has been seen, and is listed as such; so is a ratio of two configurations. Bias is the mean of signed errors, + where predicted too\n"
          "fast: a time is turned round (of memory, + where predicted to fit).\n", f);
    size_t n;
    struct accuracy *all = check_summary(&n, c, scratch);
    fprintf(f, "%-9s %-24s %-9s %5s %5s %6s %5s %9s %9s %9s %9s  %s\n", "summary", "of", "role", "rows", "sim", "passed", "conf",
            "median %", "mean %", "max %", "bias %", "worst row");
    for (size_t i = 0; i < n; i++) {
        const struct accuracy *acc = &all[i];
        char median[32], mean[32], max[32], bias[32];
        bool known = acc->n_simulated > 0;
        fprintf(f, "%-9s %-24s %-9s %5zu %5zu %6zu %5zu %9s %9s %9s %9s  %s\n", acc->group, acc->name,
                standing_names[acc->standing], acc->n_rows, acc->n_simulated, acc->n_passed, acc->n_configurations,
                cell(median, sizeof median, known, "%.2f", 100 * acc->median_abs_error),
                cell(mean, sizeof mean, known, "%.2f", 100 * acc->mean_abs_error),
                cell(max, sizeof max, known, "%.2f", 100 * acc->max_abs_error),
                cell(bias, sizeof bias, known, "%+.2f", 100 * acc->bias), acc->worst ? acc->worst->figure->id : "-");
    }
}

void check_print_memory(FILE *f, const struct check *c, struct arena *scratch)
{
    struct memory_check m = check_memory(c, scratch);
    fprintf(f, "fits: %zu of %zu configurations that ran are predicted to fit; %zu of %zu published as too large are predicted not to\n",
            m.n_ran_fits, m.n_ran, m.n_too_large_found, m.n_too_large);
}

/* "published 42029, simulated 41000, error -2.45 %, tolerance 10 %" - or why there is no value. */
static void describe(char *out, size_t n, const struct check_row *row)
{
    if (row->has_simulated)
        snprintf(out, n, "published %.6g, simulated %.6g, error %+.2f %%, tolerance %.3g %%", row->figure->value,
                 row->simulated, 100 * row->error, 100 * row->figure->tolerance);
    else
        snprintf(out, n, "published %.6g, %s: %s", row->figure->value, verdict_names[row->verdict], row->why ? row->why : "");
}

void check_judgements(struct judgements *out, const struct check *c, struct arena *a)
{
    char text[768];
    *out = (struct judgements){ .suite = "podbench check" };
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        const struct figure *g = row->figure;
        enum judged judged = g->role == FIGURE_CONTEXT ? JUDGED_SKIP : row->verdict == VERDICT_PASS ? JUDGED_PASS : JUDGED_FAIL;
        describe(text, sizeof text, row);
        judgements_add(out, (struct judgement){ .group = g->recipe, .name = g->id, .file = g->path, .line = g->line, .judged = judged,
                       .message = arena_printf(a, "%s %s: %s", g->metric, role_names[g->role], text) }, a);
    }
}

void check_write_csv(FILE *f, const struct check *c)
{
    static const char *const names[] = { "id", "recipe", "metric", "role", "workload", "system", "published", "simulated",
                                         "error", "tolerance", "verdict", "predicted", "predicted_error", "configuration", "counts_as",
                                         "kind" };
    enum { N = sizeof names / sizeof *names };
    char text[32];
    for (size_t i = 0; i < N; i++)
        csv_write_cell(f, names[i], i + 1 == N);
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        const struct figure *g = row->figure;
        const char *const words[] = { g->id, g->recipe, g->metric, role_names[g->role], row->workload, row->system };
        const double numbers[] = { g->value, row->simulated, row->error, g->tolerance };
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            csv_write_cell(f, words[k], false);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            bool known = row->has_simulated || k == 0 || k == 3;
            snprintf(text, sizeof text, "%.10g", numbers[k]);
            csv_write_cell(f, known ? text : "", false);
        }
        csv_write_cell(f, verdict_names[row->verdict], false);
        const double predicted[] = { row->predicted, row->predicted_error };
        for (size_t k = 0; k < 2; k++) {
            snprintf(text, sizeof text, "%.10g", predicted[k]);
            csv_write_cell(f, row->has_predicted ? text : "", false);
        }
        const char *const counting[] = { g->configuration, standing_names[row->standing], figure_kind_names[figure_kind(g)] };
        for (size_t k = 0; k < 3; k++)
            csv_write_cell(f, counting[k], k == 2);
    }
}

json_t *check_json(const struct check *c)
{
    json_t *array = json_array();
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        const struct figure *g = row->figure;
        json_t *o = json_object();
        json_object_set_new(o, "id", json_string(g->id));
        json_object_set_new(o, "recipe", json_string(g->recipe));
        json_object_set_new(o, "metric", json_string(g->metric));
        json_object_set_new(o, "role", json_string(role_names[g->role]));
        json_object_set_new(o, "configuration", json_string(g->configuration));
        json_object_set_new(o, "counts_as", json_string(standing_names[row->standing]));
        json_object_set_new(o, "kind", json_string(figure_kind_names[figure_kind(g)]));
        json_object_set_new(o, "source", json_string(g->source));
        json_object_set_new(o, "quote", json_string(g->quote));
        json_object_set_new(o, "note", json_string(g->note));
        json_object_set_new(o, "workload", json_string(row->workload));
        json_object_set_new(o, "system", json_string(row->system));
        json_object_set_new(o, "published", json_real(g->value));
        json_object_set_new(o, "simulated", row->has_simulated ? json_real(row->simulated) : json_null());
        json_object_set_new(o, "error", row->has_simulated ? json_real(row->error) : json_null());
        json_object_set_new(o, "predicted", row->has_predicted ? json_real(row->predicted) : json_null());
        json_object_set_new(o, "predicted_error", row->has_predicted ? json_real(row->predicted_error) : json_null());
        json_object_set_new(o, "tolerance", json_real(g->tolerance));
        json_object_set_new(o, "pass", json_boolean(row->verdict == VERDICT_PASS));
        json_object_set_new(o, "verdict", json_string(verdict_names[row->verdict]));
        json_array_append_new(array, o);
    }
    return array;
}

json_t *accuracy_json(const struct accuracy *a)
{
    json_t *o = json_object();
    bool known = a->n_simulated > 0;
    json_object_set_new(o, "rows", json_integer((json_int_t)a->n_rows));
    json_object_set_new(o, "configurations", json_integer((json_int_t)a->n_configurations));
    json_object_set_new(o, "simulated", json_integer((json_int_t)a->n_simulated));
    json_object_set_new(o, "passed", json_integer((json_int_t)a->n_passed));
    json_object_set_new(o, "mean_abs_error", known ? json_real(a->mean_abs_error) : json_null());
    json_object_set_new(o, "median_abs_error", known ? json_real(a->median_abs_error) : json_null());
    json_object_set_new(o, "max_abs_error", known ? json_real(a->max_abs_error) : json_null());
    json_object_set_new(o, "bias", known ? json_real(a->bias) : json_null());
    json_object_set_new(o, "worst", a->worst ? json_string(a->worst->figure->id) : json_null());
    return o;
}
