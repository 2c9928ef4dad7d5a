/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runs_table.c - loads the table of published single runs.
 */
#include "results/published/published.h"

static const char *const statuses[] = { "aborted", "success", NULL }, *const placements[] = { "inline", "end", NULL };
#define F(member, ...) FIELD_OF(struct run_row, member, FIELD_ANY, __VA_ARGS__)
static const struct field run_fields[] = {
    F(round), F(division), F(submitter), F(system), F(benchmark), F(optimizer), F(source, .required = true), F(accelerators), F(time_to_train_s), F(startup_s),
    F(eval_s), F(post_train_s), F(global_batch), F(samples_to_converge), F(epochs), F(evals), F(final_accuracy),
    F(throughput_samples_per_s), F(role, .choices = role_names, .required = true), FIELD_AS(struct run_row, success, "status", .choices = statuses, .required = true),
    FIELD_AS(struct run_row, eval_at_end, "eval_placement", .choices = placements, .required = true), F(base_learning_rate),
};
enum { N_NEEDED_FIELDS = N_FIELDS(run_fields) - 1 };        /* the last field, learning rates, is optional */
#undef F

bool run_rows_load(struct run_rows *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    if (!fields_load(&t, path, run_fields, N_NEEDED_FIELDS, a, err))
        return false;
    *out = (struct run_rows){ ARENA_ARRAY(a, struct run_row, t.n_rows), t.n_rows };
    for (size_t i = 0; i < t.n_rows; i++)
        if (!fields_from_row(&out->items[i], run_fields, N_FIELDS(run_fields), &t, &t.rows[i], err))
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
