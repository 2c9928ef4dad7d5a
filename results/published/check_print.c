/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_print.c - a check as a document: its rows, times to train, the accuracy by group, and a judgement for each row.
 */
#include "results/published/check.h"
#include <jansson.h>

/* ---- rows --------------------------------------------------------------------------------------------- */

struct check_line {
    const char *id, *recipe, *metric, *role, *configuration, *counts_as, *kind, *source, *quote, *note, *workload, *system, *verdict, *without, *remark;
    double published, simulated, error, predicted, predicted_error, tolerance;
    bool pass;
};
#define C(member, ...) { COLUMN(struct check_line, member), __VA_ARGS__ }
static const struct table_column row_columns[] = {
    C(id, .heading = "figure"), C(recipe), C(metric, .heading = "metric"), C(role, .heading = "role"),
    C(configuration, .formats = IN_JSON), C(counts_as, .formats = IN_JSON), C(kind, .formats = IN_JSON), C(source, .formats = IN_JSON),
    C(quote, .formats = IN_JSON), C(note, .formats = IN_JSON), C(workload), C(system), C(published, .heading = "published"),
    C(simulated, .heading = "simulated"), C(error, .heading = "error %", .format = "%+.2f", .scale = 100),
    C(predicted, .formats = IN_JSON), C(predicted_error, .formats = IN_JSON), C(tolerance, .formats = IN_JSON), C(pass, .formats = IN_JSON),
    C(verdict, .formats = IN_JSON), C(tolerance, .heading = "tol %", .format = "%.3g", .scale = 100, .formats = IN_TEXT | IN_CSV),
    C(verdict, .heading = "verdict", .formats = IN_TEXT | IN_CSV), C(predicted, .formats = IN_CSV), C(predicted_error, .formats = IN_CSV),
    C(configuration, .formats = IN_CSV), C(counts_as, .formats = IN_CSV), C(kind, .formats = IN_CSV), C(without, .formats = IN_CSV | IN_JSON), C(remark, .heading = "", .formats = IN_TEXT),
};
static const struct table_column time_columns[] = {
    C(id, .heading = "minutes to train"), C(role, .heading = "role"), C(published, .heading = "published"),
    C(simulated, .heading = "samples as given"), C(error, .heading = "error %", .format = "%+.2f", .scale = 100),
    C(predicted, .heading = "samples predicted"), C(predicted_error, .heading = "error %", .format = "%+.2f", .scale = 100),
};
#undef C

/* The remark of a row: its recipe, unless the id begins with it, and the reason for a missing value. */
static const char *remark(const struct check_row *row, struct arena *a)
{
    const struct figure *g = row->figure;
    const char *recipe = strncmp(g->id, g->recipe, strlen(g->recipe)) == 0 ? "" : g->recipe, *why = row->why ? row->why : "";
    return arena_printf(a, "%s%s%s", recipe, *recipe && *why ? "  " : "", why);
}

static struct check_line line_of_check_row(const struct check_row *row, struct arena *a)
{
    const struct figure *g = row->figure;
    return (struct check_line){
        .id = g->id, .recipe = g->recipe, .metric = g->metric, .role = role_names[g->role], .configuration = g->configuration,
        .counts_as = counts_as_names[row->counts_as], .kind = figure_kind_names[figure_kind(g)], .source = g->source, .quote = g->quote,
        .note = g->note, .workload = row->workload, .system = row->system, 
        .verdict = verdict_names[row->verdict], .without = g->without, .remark = remark(row, a),
        .published = g->value, .simulated = row->has_simulated ? row->simulated : (double)NAN,
        .error = row->has_simulated ? row->error : (double)NAN, .predicted = row->has_predicted ? row->predicted : (double)NAN,
        .predicted_error = row->has_predicted ? row->predicted_error : (double)NAN, .tolerance = g->tolerance,
        .pass = row->verdict == VERDICT_PASS,
    };
}

struct table check_table(const struct check *c, struct arena *a)
{
    struct table t = TABLE(row_columns, struct check_line);
    for (size_t i = 0; i < c->n; i++)
        table_add(&t, (struct check_line[]){ line_of_check_row(&c->rows[i], a) }, a);
    return t;
}

/* ---- text: what a reader looks at ------------------------------------------------------------------------- */

static bool has_no_recipe(const struct check_row *row)
{
    return !*row->figure->recipe;
}

/* True for a row about one kernel or one transfer instead of a run. */
static bool is_part(const struct check_row *row)
{
    enum figure_kind kind = figure_kind(row->figure);
    return kind == FIGURE_OF_KERNEL || kind == FIGURE_OF_LINK;
}

static bool is_right_about_memory(const struct check_row *row)
{
    return figure_kind(row->figure) == FIGURE_OF_MEMORY && row->verdict == VERDICT_PASS;
}

static bool has_runs(const struct check *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (figure_kind(c->rows[i].figure) == FIGURE_OF_RUN)
            return true;
    return false;
}

/* The order of printing: runs, then rows derived from runs, then measured parts. */
static const enum figure_kind shown_kinds[] = { FIGURE_OF_RUN, FIGURE_OF_EVALUATION, FIGURE_DERIVED, FIGURE_OF_POWER, FIGURE_OF_MEMORY, FIGURE_OF_KERNEL,
                                                FIGURE_OF_LINK };

static void add_rows_of_kind(struct document *d, struct table *t, const struct check *c, enum figure_kind kind, bool runs_only)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        if (figure_kind(row->figure) != kind || has_no_recipe(row) || (runs_only && (is_part(row) || is_right_about_memory(row))))
            continue;
        table_add(t, (struct check_line[]){ line_of_check_row(row, d->arena) }, d->arena);
    }
}

static size_t count_without(const struct check *c, const char *beginning)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const char *why = c->rows[i].figure->without;
        n += why && strncmp(why, beginning, strlen(beginning)) == 0;
    }
    return n;
}

const char *figures_counted(const struct check *c, struct arena *a)
{
    static const struct { const char *reason, *text; } reasons[] = {
        { "needs", "need a capability that is missing" }, { "peer", "of other vendors' machines" },
        { "not stated", "whose configuration is not stated" }, { "no run", "that are properties and no runs" } };
    size_t n_simulated = 0, n_without = count_without(c, "");
    const char *text = "";
    for (size_t i = 0; i < c->n; i++)
        n_simulated += c->rows[i].has_simulated;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        size_t n = count_without(c, reasons[i].reason);
        if (n)
            text = arena_printf(a, "%s%s%zu %s", text, *text ? ", " : ": ", n, reasons[i].text);
    }
    size_t n_failed = c->n - n_simulated - n_without;
    return arena_printf(a, "%zu figure%s: %zu simulated, %zu without a recipe%s%s", c->n, plural(c->n), n_simulated, n_without, text,
                        n_failed ? arena_printf(a, "; %zu without a value", n_failed) : "");
}

/* Adds the table of rows. Where there are runs it leaves out kernels, links and right verdicts on memory; lines below count what is left out. */
static void add_shown_rows(struct document *d, const struct check *c)
{
    bool runs_only = has_runs(c);
    size_t n_without = 0, n_parts = 0, n_memory = 0;
    struct table *t = document_table(d, TABLE(row_columns, struct check_line, .formats = IN_TEXT));
    for (size_t k = 0; k < sizeof shown_kinds / sizeof *shown_kinds; k++)
        add_rows_of_kind(d, t, c, shown_kinds[k], runs_only);
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        n_without += has_no_recipe(row);
        n_parts += runs_only && is_part(row);
        n_memory += runs_only && !has_no_recipe(row) && is_right_about_memory(row);
    }
    if (n_parts)
        document_line(d, "and %zu measured kernels, links and collectives: shown by 'podbench bench --kernels', '--links', and --format csv", n_parts);
    if (n_memory)
        document_line(d, "and %zu row%s of memory within tolerance: summed up below, shown by --format csv", n_memory, plural(n_memory));
    if (n_without)
        document_line(d, "and %zu row%s without a recipe: shown, each with its reason, by --format csv", n_without, plural(n_without));
    document_line(d, "%s", figures_counted(c, d->arena));
}

/* Published times to train, with times simulated from published and from predicted samples. */
static void add_times_to_train_table(struct document *d, const struct check *c)
{
    struct table t = TABLE(time_columns, struct check_line, .formats = IN_TEXT);
    for (size_t i = 0; i < c->n; i++) {
        if (c->rows[i].has_predicted)
            table_add(&t, (struct check_line[]){ line_of_check_row(&c->rows[i], d->arena) }, d->arena);
    }
    if (!t.n)
        return;
    document_gap(d);
    document_table(d, t);
}

/* ---- accuracy by group ------------------------------------------------------------------------------------- */

struct accuracy_line { struct accuracy of; const char *role, *worst; };
#define C(member, csv_name, ...) { COLUMN_AS(struct accuracy_line, member, csv_name), __VA_ARGS__ }
#define PER_CENT(sign) .format = "%" sign ".2f", .scale = 100
static const struct table_column accuracy_columns[] = {
    C(of.group, NULL, .heading = "group"), C(of.name, NULL, .heading = "name"), C(role, NULL, .heading = "role"),
    C(of.n_rows, "rows", .heading = "rows"), C(of.errors.n, "configurations"), C(of.n_simulated, "simulated", .heading = "sim"),
    C(of.n_passed, "passed", .heading = "in tol"), C(of.errors.n, NULL, .heading = "conf"), C(of.errors.mean, "mean_abs_error"),
    C(of.errors.median, "median_abs_error", .heading = "median %", PER_CENT("")), C(of.errors.mean, NULL, .heading = "mean %", PER_CENT("")),
    C(of.max_abs_error, "max_abs_error", .heading = "max %", PER_CENT("")), C(of.errors.bias, "bias", .heading = "bias %", PER_CENT("+")),
    C(worst, "worst", .heading = "worst row"),
};
#undef PER_CENT
#undef C

static struct accuracy_line accuracy_line(const struct accuracy *a)
{
    struct accuracy_line line = { *a, counts_as_names[a->counts_as], a->worst ? a->worst->figure->id : NULL };
    if (!a->n_simulated)
        line.of.errors.mean = line.of.errors.median = line.of.max_abs_error = line.of.errors.bias = NAN;
    return line;
}

json_t *accuracy_json(const struct accuracy *a)
{
    struct accuracy_line line = accuracy_line(a);
    struct table t = TABLE_OF(accuracy_columns, &line, 1);
    return table_row_json(&t, &line);
}

static const char *const kind_titles[N_FIGURE_KINDS] = {
    [FIGURE_OF_RUN] = "runs: throughputs, step times and times to train of whole configurations",
    [FIGURE_OF_EVALUATION] = "evaluations of these runs",
    [FIGURE_DERIVED] = "derived from these runs: slopes, intercepts and differences",
    [FIGURE_OF_KERNEL] = "measured kernels: single operations, to which the constants of the chips are fitted",
    [FIGURE_OF_POWER] = "power: watts of chips and joules above idle, used by no fit",
    [FIGURE_OF_LINK] = "measured links: single transfers, used by no fit",
};

size_t check_within_stated(size_t *n, const struct check *c)
{
    size_t inside = *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        *n += row->stated_error > 0;
        inside += row->stated_error > 0 && fabs(row->simulated - row->figure->value) <= row->stated_error;
    }
    return inside;
}

/* The title of this kind's table. The title for powers also counts how many lie within the range that their answers state. */
static const char *kind_title(enum figure_kind kind, const struct check *c, struct arena *a)
{
    size_t n, inside = check_within_stated(&n, c);
    return n && kind == FIGURE_OF_POWER ? arena_printf(a, "%s; %zu of %zu within the range that answers state", kind_titles[kind], inside, n) : kind_titles[kind];
}

void check_add_summary(struct document *d, const struct check *c)
{
    size_t n;
    struct accuracy *all = check_summary(&n, c, d->arena);
    struct table *t = NULL;
    document_line(d, "A configuration (conf) counts once, with the mean error of its rows. A validate row whose configuration also calibrates repeats what\n"
                     "the fit has seen; so does a ratio of two configurations. Bias is the mean of the signed errors, positive where the prediction is\n"
                     "too fast.");
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || all[i].kind != all[i - 1].kind) {
            document_gap(d);
            t = document_table(d, TABLE(accuracy_columns, struct accuracy_line, .formats = IN_TEXT, .title = kind_title(all[i].kind, c, d->arena)));
        }
        table_add(t, (struct accuracy_line[]){ accuracy_line(&all[i]) }, d->arena);
    }
}

/* ---- judgements and the whole --------------------------------------------------------------------------------- */

/* One line with the published and simulated values, error and tolerance, or with the reason why there is no value. */
static const char *described(const struct check_row *row, struct arena *a)
{
    const struct figure *g = row->figure;
    if (row->has_simulated)
        return arena_printf(a, "%s %s: published %.6g, simulated %.6g, error %+.2f %%, tolerance %.3g %%", g->metric, role_names[g->role], g->value,
                            row->simulated, 100 * row->error, 100 * g->tolerance);
    return arena_printf(a, "%s %s: published %.6g, %s: %s", g->metric, role_names[g->role], g->value, verdict_names[row->verdict],
                        row->why ? row->why : "");
}

static void judge_rows(struct document *d, const struct check *c)
{
    d->judged.suite = "podbench check";
    for (size_t i = 0; i < c->n; i++) {
        const struct check_row *row = &c->rows[i];
        const struct figure *g = row->figure;
        enum judged judged = g->role == FIGURE_CONTEXT || has_no_recipe(row) ? JUDGED_SKIP : row->verdict == VERDICT_PASS ? JUDGED_PASS : JUDGED_FAIL;
        judgements_add(&d->judged, (struct judgement){ .group = g->recipe, .name = g->id, .file = g->path, .line = g->line, .judged = judged,
                       .message = described(row, d->arena) }, d->arena);
    }
}

void check_document(struct document *d, const struct check *c)
{
    struct table all = check_table(c, d->arena);
    all.formats = IN_CSV | IN_JSON;
    document_table(d, all);
    add_shown_rows(d, c);
    add_times_to_train_table(d, c);
    document_gap(d);
    check_add_summary(d, c);
    memory_document(d, c, NULL, 0);
    judge_rows(d, c);
}
