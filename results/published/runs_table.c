/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runs_table.c - loads the table of published single runs.
 */
#include "results/published/published.h"

enum run_cell { RUN_TEXT, RUN_NUMBER };
#define T(member) { #member, RUN_TEXT, offsetof(struct run_row, member) }
#define N(member) { #member, RUN_NUMBER, offsetof(struct run_row, member) }
static const struct run_column { const char *name; enum run_cell kind; size_t offset; } run_columns[] = {
    T(round), T(division), T(submitter), T(system), T(benchmark), T(optimizer), T(source), N(accelerators), N(time_to_train_s),
    N(startup_s), N(eval_s), N(post_train_s), N(global_batch), N(base_learning_rate), N(samples_to_converge), N(epochs), N(evals), N(final_accuracy),
    N(throughput_samples_per_s),
};
static const char optional[] = "base_learning_rate";
enum { N_RUN_COLUMNS = sizeof run_columns / sizeof *run_columns };

static bool read_run_cell(struct run_row *row, const struct run_column *c, const char *text, const char *where, struct err *err)
{
    void *slot = (char *)row + c->offset;
    if (c->kind == RUN_TEXT) {
        *(const char **)slot = text;
        return true;
    }
    *(double *)slot = NAN;
    return !*text || parse_f64(text, slot) || fail(err, "%s: %s: '%s' is not a number", where, c->name, text);
}

static bool read_run_choice(int *out, const char *text, const char *const *names, const char *column, const char *where, struct err *err)
{
    for (*out = 0; names[*out]; ++*out)
        if (text_is(names[*out], text))
            return true;
    return fail(err, "%s: %s: '%s' is unknown", where, column, text);
}

struct choice_columns { size_t role, status, placement; };

static bool read_run_row(struct run_row *row, const struct csv_table *t, size_t i, const size_t at[N_RUN_COLUMNS],
                     const struct choice_columns *c, struct arena *a, struct err *err)
{
    static const char *const statuses[] = { "aborted", "success", NULL }, *const placements[] = { "inline", "end", NULL };
    const char *where = arena_printf(a, "%s:%u", t->path, t->rows[i].line);
    char **cells = t->rows[i].cells;
    int role, status, placement;
    for (size_t k = 0; k < N_RUN_COLUMNS; k++)
        if (!read_run_cell(row, &run_columns[k], at[k] < t->n_columns ? cells[at[k]] : "", where, err))
            return false;
    if (!read_run_choice(&role, cells[c->role], role_names, "role", where, err)
        || !read_run_choice(&status, cells[c->status], statuses, "status", where, err)
        || !read_run_choice(&placement, cells[c->placement], placements, "eval_placement", where, err))
        return false;
    row->role = (enum role)role;
    row->success = status == 1;
    row->eval_at_end = placement == 1;
    return *row->source || fail(err, "%s: source is empty", where);
}

bool run_rows_load(struct run_rows *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t at[N_RUN_COLUMNS];
    struct choice_columns c;
    if (!csv_load(&t, path, a, err) || !csv_column(&c.role, &t, "role", err) || !csv_column(&c.status, &t, "status", err)
        || !csv_column(&c.placement, &t, "eval_placement", err))
        return false;
    for (size_t k = 0; k < N_RUN_COLUMNS; k++)
        if (!csv_column(&at[k], &t, run_columns[k].name, text_is(run_columns[k].name, optional) ? NULL : err)) {
            if (!text_is(run_columns[k].name, optional))
                return false;
            at[k] = t.n_columns;        /* beyond the cells: absent */
        }
    *out = (struct run_rows){ ARENA_ARRAY(a, struct run_row, t.n_rows), t.n_rows };
    for (size_t i = 0; i < t.n_rows; i++)
        if (!read_run_row(&out->items[i], &t, i, at, &c, a, err))
            return false;
    return true;
}

static bool same_submission(const struct run_row *x, const struct run_row *y)
{
    return text_is(x->round, y->round) && text_is(x->division, y->division) && text_is(x->submitter, y->submitter)
        && text_is(x->system, y->system) && text_is(x->benchmark, y->benchmark) && x->role == y->role;
}

struct submission_terms terms_of_run(const struct run_row *r)
{
    return (struct submission_terms){ r->benchmark, r->round, r->division, r->submitter, r->optimizer, r->global_batch,
                                      isfinite(r->base_learning_rate) ? r->base_learning_rate : 0 };
}

size_t run_rows_group(const struct run_rows *t, size_t first)
{
    size_t n = 1;
    while (first + n < t->n && same_submission(&t->items[first], &t->items[first + n]))
        n++;
    return n;
}

double run_rows_mean_samples(const struct run_row *rows, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += rows[i].samples_to_converge;
    return sum / (double)n;
}
