/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission_effects.c - see submission_effects.h.
 *
 * Likelihood: y ~ N(0, V), V = submitter^2 [same submitter] + round^2 [same submitter and round] + submission^2 [same]. Nelder and Mead's
 * simplex over the logarithms, by GSL, from 5 % each. The conditional mean of an effect with covariances c is w'y, V w = c, by Cholesky's factors
 * of V over the calibration submissions. Where the truth has other spreads, V' and c', it is off by submitter'^2 + round'^2 + submission'^2
 * - 2 w'c' + w'V'w, in the mean square: that is the width. Limits: sampling noise of a submission's mean (5 to 10 runs) is a part of the
 * submission's spread; v2.1 systems that were handed in before count in their first round.
 */
#include "results/calibrate/submission_effects.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

enum { N_SPREADS = 3, MOST_ITERATIONS = 400 };

/* ---- submissions ------------------------------------------------------------------------------------------ */

static bool handed_in_before(const struct run_rows *t, size_t first)
{
    const struct run_row *r = &t->items[first];
    for (const struct run_row *x = t->items; x < r; x++)
        if (text_is(x->submitter, r->submitter) && text_is(x->system, r->system) && text_is(x->benchmark, r->benchmark)
            && text_is(x->division, r->division) && x->samples_to_converge == r->samples_to_converge && x->time_to_train_s == r->time_to_train_s
            && (x->role != FIGURE_VALIDATE || r->role == FIGURE_VALIDATE))
            return true;
    return false;
}

bool submissions_of(struct submissions *out, const struct run_rows *runs, struct convergence_tables *tables, struct arena *a, struct err *err)
{
    *out = (struct submissions){ .items = ARENA_ROOM(a, struct submission, runs->n) };
    for (size_t i = 0, n; i < runs->n; i += n) {
        const struct run_row *r = &runs->items[i];
        struct submission_terms terms = terms_of_run(r);
        struct convergence c;
        n = run_rows_group(runs, i);
        if (!*rcp_ruleset(r->round) || handed_in_before(runs, i) || !convergence_reference(&c, tables, &terms, NULL))
            continue;
        double half_grid = r->eval_at_end ? 0 : c.schedule.interval / 2 * c.samples_per_epoch;
        double latent = run_rows_mean_samples(r, n) - half_grid;
        if (!(latent > 0))
            return fail(err, "%s %s %s %s: %.6g samples to converge, and evaluations are %.6g apart", r->round, r->submitter, r->system,
                        r->benchmark, run_rows_mean_samples(r, n), 2 * half_grid);
        out->items[out->n++] = (struct submission){ r, n, r->eval_at_end, log(latent / c.median_samples) };
    }
    return true;
}

/* ---- spreads ------------------------------------------------------------------------------------------------ */

struct sample { const struct submission *const *of; size_t n; };

static bool may_tell(const struct submission *s, const char *benchmark)
{
    return !s->planned && text_is(s->first->benchmark, benchmark) && text_is(s->first->division, "closed");
}

static double covariance(const struct effect_spreads *s, const char *submitter, const char *round, const struct run_row *y)
{
    if (!text_is(submitter, y->submitter))
        return 0;
    return s->submitter * s->submitter + (text_is(round, y->round) ? s->round * s->round : 0);
}

static gsl_matrix *covariances(const struct effect_spreads *s, const struct sample *x)
{
    gsl_matrix *v = gsl_matrix_alloc(x->n, x->n);
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < x->n; k++) {
            const struct run_row *r = x->of[i]->first;
            gsl_matrix_set(v, i, k, covariance(s, r->submitter, r->round, x->of[k]->first) + (i == k ? s->submission * s->submission : 0));
        }
    return v;
}

static gsl_vector *ratios(const struct sample *x)
{
    gsl_vector *y = gsl_vector_alloc(x->n);
    for (size_t i = 0; i < x->n; i++)
        gsl_vector_set(y, i, x->of[i]->ln_ratio);
    return y;
}

static struct effect_spreads spreads_at(const gsl_vector *ln)
{
    return (struct effect_spreads){ exp(gsl_vector_get(ln, 0)), exp(gsl_vector_get(ln, 1)), exp(gsl_vector_get(ln, 2)), 0 };
}

/* (ln |V| + y' V^-1 y) / 2 */
static double minus_log_likelihood(const gsl_vector *ln, void *user)
{
    const struct sample *x = user;
    struct effect_spreads s = spreads_at(ln);
    gsl_matrix *v = covariances(&s, x);
    gsl_vector *y = ratios(x), *solved = gsl_vector_alloc(x->n);
    double value = HUGE_VAL;
    if (gsl_linalg_cholesky_decomp1(v) == 0 && gsl_linalg_cholesky_solve(v, y, solved) == 0) {
        value = 0;
        for (size_t i = 0; i < x->n; i++)
            value += log(gsl_matrix_get(v, i, i)) + gsl_vector_get(y, i) * gsl_vector_get(solved, i) / 2;
    }
    gsl_vector_free(solved);
    gsl_vector_free(y);
    gsl_matrix_free(v);
    return value;
}

double effect_total(const struct effect_spreads *s)
{
    return sqrt(s->submitter * s->submitter + s->round * s->round + s->submission * s->submission);
}

static struct effect_spreads most_likely(struct sample *x)
{
    gsl_multimin_function f = { minus_log_likelihood, N_SPREADS, x };
    gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, N_SPREADS);
    gsl_vector *start = gsl_vector_alloc(N_SPREADS), *step = gsl_vector_alloc(N_SPREADS);
    gsl_vector_set_all(start, log(0.05));
    gsl_vector_set_all(step, 0.5);
    gsl_multimin_fminimizer_set(m, &f, start, step);
    for (int i = 0; i < MOST_ITERATIONS && gsl_multimin_fminimizer_iterate(m) == 0; i++)
        if (gsl_multimin_test_size(gsl_multimin_fminimizer_size(m), 1e-5) != GSL_CONTINUE)
            break;
    struct effect_spreads s = spreads_at(m->x);
    gsl_multimin_fminimizer_free(m);
    gsl_vector_free(start);
    gsl_vector_free(step);
    s.n = x->n;
    return s;
}

struct effect_spreads effect_spreads(const struct submissions *all, enum spreads_for what, const char *benchmark, const char *without,
                                     struct arena *a)
{
    const struct submission **of = ARENA_ROOM(a, const struct submission *, all->n);
    struct sample x = { of, 0 };
    for (size_t i = 0; i < all->n; i++)
        if (may_tell(&all->items[i], benchmark) && !text_is(all->items[i].first->submitter, without)
            && (what == SPREADS_FOR_WIDTHS || all->items[i].first->role != FIGURE_VALIDATE))
            of[x.n++] = &all->items[i];
    return x.n >= N_SPREADS ? most_likely(&x) : (struct effect_spreads){0};
}

/* ---- effects --------------------------------------------------------------------------------------------------- */

static gsl_vector *covariances_with(const struct effect_spreads *s, const struct sample *x, const char *submitter, const char *round)
{
    gsl_vector *c = gsl_vector_alloc(x->n);
    for (size_t i = 0; i < x->n; i++)
        gsl_vector_set(c, i, covariance(s, submitter, round, x->of[i]->first));
    return c;
}

static double product(const gsl_vector *x, const gsl_vector *y)
{
    double sum;
    gsl_blas_ddot(x, y, &sum);
    return sum;
}

/* The weights w of the conditional mean. */
static gsl_vector *weights_of(const struct effect_spreads *s, const struct sample *x, const char *submitter, const char *round)
{
    gsl_matrix *v = covariances(s, x);
    gsl_vector *w = covariances_with(s, x, submitter, round);
    gsl_linalg_cholesky_decomp1(v);
    gsl_linalg_cholesky_svx(v, w);
    gsl_matrix_free(v);
    return w;
}

/* w'V w - 2 w'c: what the submissions that were seen add to the mean square. */
static double square_of_seen(const struct effect_spreads *s, const struct sample *x, const char *submitter, const char *round, const gsl_vector *w)
{
    gsl_matrix *v = covariances(s, x);
    gsl_vector *c = covariances_with(s, x, submitter, round), *vw = gsl_vector_calloc(x->n);
    gsl_blas_dsymv(CblasLower, 1, v, w, 0, vw);
    double square = product(w, vw) - 2 * product(w, c);
    gsl_vector_free(vw);
    gsl_vector_free(c);
    gsl_matrix_free(v);
    return square;
}

struct effect effect_of(const struct submissions *all, const struct effect_spreads *for_mean, const struct effect_spreads *for_width,
                        const char *benchmark, const char *submitter, const char *round, struct arena *a)
{
    const struct submission **of = ARENA_ROOM(a, const struct submission *, all->n);
    struct sample x = { of, 0 };
    for (size_t i = 0; i < all->n; i++)
        if (may_tell(&all->items[i], benchmark) && all->items[i].first->role == FIGURE_CALIBRATE
            && text_is(all->items[i].first->submitter, submitter))
            of[x.n++] = &all->items[i];
    if (!x.n)
        return (struct effect){ 0, effect_total(for_width), 0 };
    if (!for_mean->n)
        return (struct effect){ (double)NAN, (double)NAN, x.n };
    gsl_vector *w = weights_of(for_mean, &x, submitter, round), *y = ratios(&x);
    struct effect e = { product(w, y), sqrt(pow(effect_total(for_width), 2) + square_of_seen(for_width, &x, submitter, round, w)), x.n };
    gsl_vector_free(y);
    gsl_vector_free(w);
    return e;
}

/* ---- leaving one submitter out ----------------------------------------------------------------------------------- */

/* The reference, and the others' spread about it with the noise of a run: the interval's ends as evaluations see them. */
static bool add_left_out(struct submitter_left_out *l, const struct submission *s, double spread, struct convergence_tables *tables, struct err *err)
{
    struct submission_terms terms = terms_of_run(s->first);
    struct convergence c;
    terms.submitter = NULL;
    if (!convergence_predict_from(&c, tables, &terms, err))
        return false;
    double error = exp(-s->ln_ratio) - 1, half = gsl_cdf_ugaussian_Pinv(0.95) * hypot(spread, c.sigma);
    double low = convergence_observed(&c, c.median_samples * exp(-half), 0), high = convergence_observed(&c, c.median_samples * exp(half), 0);
    l->n++;
    l->rms_error += error * error;
    l->mean_error += error;
    for (size_t i = 0; i < s->n_runs; i++) {
        double samples = s->first[i].samples_to_converge;
        l->n_runs++;
        l->n_inside += samples >= low - c.global_batch && samples <= high;
    }
    return true;
}

static bool leave_out(struct submitter_left_out *l, const struct submissions *all, struct convergence_tables *tables, struct arena *a, struct err *err)
{
    struct effect_spreads others = effect_spreads(all, SPREADS_FOR_WIDTHS, l->benchmark, l->submitter, a);
    l->n_others = others.n;
    for (size_t i = 0; others.n && i < all->n; i++)
        if (may_tell(&all->items[i], l->benchmark) && text_is(all->items[i].first->submitter, l->submitter)
            && !add_left_out(l, &all->items[i], effect_total(&others), tables, err))
            return false;
    if (l->n) {
        l->rms_error = sqrt(l->rms_error / (double)l->n);
        l->mean_error /= (double)l->n;
    }
    return true;
}

static bool is_listed(const struct submitters_left_out *l, const struct run_row *r)
{
    for (size_t i = 0; i < l->n; i++)
        if (text_is(l->items[i].submitter, r->submitter) && text_is(l->items[i].benchmark, r->benchmark))
            return true;
    return false;
}

bool submitters_left_out(struct submitters_left_out *out, const char *runs, const char *data_dir, struct arena *a, struct err *err)
{
    struct run_rows rows;
    struct convergence_tables *tables;
    struct submissions all;
    if (!run_rows_load(&rows, runs, a, err) || !convergence_tables_load(&tables, data_dir, a, err)
        || !submissions_of(&all, &rows, tables, a, err))
        return false;
    *out = (struct submitters_left_out){ .items = ARENA_ROOM(a, struct submitter_left_out, all.n) };
    for (size_t i = 0; i < all.n; i++) {
        const struct run_row *r = all.items[i].first;
        struct submitter_left_out l = { .submitter = r->submitter, .benchmark = r->benchmark };
        if (!may_tell(&all.items[i], r->benchmark) || is_listed(out, r))
            continue;
        if (!leave_out(&l, &all, tables, a, err))
            return false;
        out->items[out->n++] = l;
    }
    return true;
}

void submitters_left_out_print(FILE *f, const struct submitters_left_out *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct submitter_left_out *x = &l->items[i];
        if (x->n)
            fprintf(f, "%-10s %-7s %3zu submissions by the reference and %2zu of others: rms error %5.1f %%, mean %+5.1f %%; %zu of %zu runs inside "
                    "90 %% (%.1f %%)\n", x->submitter, x->benchmark, x->n, x->n_others, 100 * x->rms_error, 100 * x->mean_error, x->n_inside,
                    x->n_runs, 100.0 * (double)x->n_inside / (double)x->n_runs);
        else
            fprintf(f, "%-10s %-7s no other submitter's to tell the spread from\n", x->submitter, x->benchmark);
    }
}

json_t *submitters_left_out_json(const struct submitters_left_out *l)
{
    json_t *array = json_array();
    for (size_t i = 0; i < l->n; i++) {
        const struct submitter_left_out *x = &l->items[i];
        json_array_append_new(array, json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:I, s:I}", "submitter", x->submitter, "benchmark", x->benchmark,
            "submissions", (json_int_t)x->n, "others", (json_int_t)x->n_others, "rms_error", x->rms_error, "mean_error", x->mean_error,
            "runs", (json_int_t)x->n_runs, "inside", (json_int_t)x->n_inside));
    }
    return array;
}
