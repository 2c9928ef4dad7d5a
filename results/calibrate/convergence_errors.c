/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * convergence_errors.c - how well reference points foretell what submissions logged; see convergence_errors.h.
 */
#include "results/calibrate/convergence_errors.h"

#include <math.h>

#include "workloads/convergence/convergence.h"

static bool add_submission(struct convergence_errors *out, const struct run_row *first, size_t n, const char *data_dir, struct arena *a,
                           struct err *err)
{
    struct convergence c;
    struct submission_terms terms = terms_of_run(first);
    if (!convergence_predict_for(&c, &terms, data_dir, a, err))
        return false;
    struct convergence_error e = { first->round, first->division, first->system, first->benchmark, first->role, first->global_batch,
                                   run_rows_mean_samples(first, n), c.mean_samples, 0 };
    if (c.has_plan && first->eval_at_end)
        e.predicted = c.planned_epochs * c.samples_per_epoch;
    e.error = e.predicted / e.published - 1;
    out->items = arena_grow(a, out->items, out->n, &out->cap, sizeof *out->items);
    out->items[out->n++] = e;
    return true;
}

bool convergence_errors(struct convergence_errors *out, const char *runs, const char *data_dir, struct arena *a, struct err *err)
{
    struct run_rows t;
    *out = (struct convergence_errors){ 0 };
    if (!run_rows_load(&t, runs, a, err))
        return false;
    for (size_t i = 0, n; i < t.n; i += n) {
        n = run_rows_group(&t, i);
        if (*rcp_ruleset(t.items[i].round) && !add_submission(out, &t.items[i], n, data_dir, a, err))
            return false;
    }
    return true;
}

static void print_summary(FILE *f, const struct convergence_errors *e, const char *benchmark, enum role role, const char *role_name)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t i = 0; i < e->n; i++)
        if (text_is(e->items[i].benchmark, benchmark) && e->items[i].role == role) {
            sum += e->items[i].error;
            squares += e->items[i].error * e->items[i].error;
            n++;
        }
    if (n > 0)
        fprintf(f, "%-7s %-10s %3.0f submissions, rms error %5.1f %%, mean %+5.1f %%\n", benchmark, role_name, n, 100 * sqrt(squares / n),
                100 * sum / n);
}

void convergence_errors_print(FILE *f, const struct convergence_errors *e)
{
    static const char *const roles[] = { "calibrate", "validate", "context" }, *const benchmarks[] = { "resnet", "bert", "rnnt" };
    fprintf(f, "%-5s %-7s %-30s %-7s %-10s %6s %11s %11s %8s\n", "round", "div", "system", "bench", "role", "batch", "published",
            "predicted", "error");
    for (size_t i = 0; i < e->n; i++) {
        const struct convergence_error *x = &e->items[i];
        if (x->role != FIGURE_CONTEXT)
            fprintf(f, "%-5s %-7s %-30s %-7s %-10s %6.0f %11.0f %11.0f %+6.1f %%\n", x->round, x->division, x->system, x->benchmark,
                    roles[x->role], x->global_batch, x->published, x->predicted, 100 * x->error);
    }
    for (size_t b = 0; b < 3; b++)
        for (int r = 0; r < 3; r++)
            print_summary(f, e, benchmarks[b], (enum role)r, roles[r]);
}
