/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * coverage.c - how often published single runs lie within the 90 % interval predicted for them.
 *
 * Samples: the interval of the convergence model for the run's benchmark, round, division, submitter, batch and way of evaluating; of the
 * submission it knows no more. Time: the same draws through a time for each step, which the caller's model gives, or else the median time
 * a sample of the submission's other runs; runs that the model does not know are left out. A run that was aborted has no end: it counts
 * as inside when the interval reaches beyond where it stopped.
 */
#include "results/published/coverage.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "results/mlperf/mllog.h"

enum { DRAWS = 400 };

struct report {
    struct coverage *out;
    const struct run_rows *rows;
    const char *data_dir;
    coverage_timing *timing;
    void *user;
    struct arena *a;
    struct err *err;
};

static struct coverage_count *count_named(struct coverage *c, const char *what)
{
    for (size_t i = 0; i < c->n; i++)
        if (text_is(c->items[i].what, what))
            return &c->items[i];
    if (c->n == sizeof c->items / sizeof *c->items)
        return &c->items[0];
    c->items[c->n] = (struct coverage_count){ .what = what };
    return &c->items[c->n++];
}

static bool inside(const struct run_row *r, double x, double low, double high)
{
    if (!r->success && !r->eval_at_end)
        return high > x;
    return x >= low && x <= high;
}

/* share: of its submission, one over its runs. */
static void tally(struct report *w, const struct run_row *r, const struct run_distribution *d, double share)
{
    static const char *const roles[] = { "calibrate", "validate", "context" };
    const char *const groups[] = { "all", r->benchmark, r->division, roles[r->role] };
    /* Without a log of samples at the evaluation, the interval's rounding up to a batch is not seen: compare at one evaluation's grain. */
    bool samples_in = inside(r, r->samples_to_converge, d->samples_low - r->global_batch, d->samples_high);
    bool time_in = inside(r, r->time_to_train_s, d->run_low_s, d->run_high_s);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct coverage_count *c = count_named(w->out, groups[i]);
        c->n++;
        c->samples_inside += samples_in;
        c->time_inside += time_in;
        c->submissions += share;
        c->samples_once += share * samples_in;
        c->time_once += share * time_in;
    }
}

/* One of its submission's n runs. */
static bool test_run(struct report *w, const struct convergence *c, const struct run_row *r, size_t n)
{
    struct distribution_request q = { .convergence = c, .submissions = DRAWS, .seed = 1,
                                      .open_division = text_is(r->division, "open"), .data_dir = w->data_dir };
    struct run_distribution d;
    struct err why;
    if (!w->timing(w->user, &q.timing, r, &why)) {
        w->out->n_without_timing++;
        return true;
    }
    if (!distribution_draw(&d, &q, w->a, w->err))
        return false;
    tally(w, r, &d, 1.0 / (double)n);
    return true;
}

static bool test_group(struct report *w, size_t first, size_t n)
{
    const struct run_row *r = &w->rows->items[first];
    struct convergence c;
    if (!*rcp_ruleset(r->round)) {
        w->out->n_without_reference += n;
        return true;
    }
    struct submission_terms terms = terms_of_run(r);
    if (!convergence_predict_for(&c, &terms, w->data_dir, w->a, w->err))
        return false;
    for (size_t i = first; i < first + n; i++)
        if (!test_run(w, &c, &w->rows->items[i], n))
            return false;
    return true;
}

bool coverage_report(struct coverage *out, const char *runs, const char *data_dir, coverage_timing *timing, void *user, struct arena *a,
                     struct err *err)
{
    struct run_rows rows;
    struct report w = { out, &rows, data_dir, timing, user, NULL, err };
    *out = (struct coverage){ .n = 0 };
    if (!run_rows_load(&rows, runs, a, err))
        return false;
    count_named(out, "all");
    bool done = true;
    for (size_t i = 0, n; done && i < rows.n; i += n) {
        struct arena scratch = { 0 };
        w.a = &scratch;
        n = run_rows_group(&rows, i);
        done = test_group(&w, i, n);
        arena_free(&scratch);
    }
    return done;
}

static void print_shares(FILE *f, const struct coverage_count *k)
{
    const double of_runs = 100.0 / (double)k->n, of_submissions = 100 / k->submissions;
    fprintf(f, " %9llu (%4.1f %%) %9llu (%4.1f %%)", (unsigned long long)k->samples_inside, of_runs * (double)k->samples_inside,
            (unsigned long long)k->time_inside, of_runs * (double)k->time_inside);
    fprintf(f, " %12.0f %12.1f %12.1f\n", k->submissions, of_submissions * k->samples_once, of_submissions * k->time_once);
}

void coverage_print(FILE *f, const struct coverage *c)
{
    fprintf(f, "%-10s %6s %18s %18s %12s %12s %12s\n", "runs", "number", "samples inside", "time inside", "submissions", "samples %",
            "time %");
    for (size_t i = 0; i < c->n; i++) {
        const struct coverage_count *k = &c->items[i];
        fprintf(f, "%-10s %6llu", k->what, (unsigned long long)k->n);
        if (k->n)
            print_shares(f, k);
        else
            fprintf(f, " %18s %18s %12s %12s %12s\n", "-", "-", "-", "-", "-");
    }
    fprintf(f, "90 %% intervals; the last two columns count each submission once. Left out: %llu runs of rounds without reference points, %llu of systems that are not simulated\n",
            (unsigned long long)c->n_without_reference, (unsigned long long)c->n_without_timing);
}

static json_t *share_json(double part, double whole)
{
    return whole > 0 ? json_real(part / whole) : json_null();
}

json_t *coverage_json(const struct coverage *c)
{
    json_t *array = json_array();
    for (size_t i = 0; i < c->n; i++) {
        const struct coverage_count *k = &c->items[i];
        json_array_append_new(array, json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:o, s:o}", "of", k->what, "runs", (json_int_t)k->n,
            "samples_inside", (json_int_t)k->samples_inside, "timed_runs", (json_int_t)k->n, "time_inside", (json_int_t)k->time_inside,
            "submissions", k->submissions, "samples_share", share_json(k->samples_once, k->submissions),
            "time_share", share_json(k->time_once, k->submissions)));
    }
    return array;
}
