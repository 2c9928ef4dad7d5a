/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission_effects.c - how far submissions converge from the reference; see calibrate.h for the model.
 *
 * Likelihood: y ~ N(0, V), V = submitter^2 [same submitter] + round^2 [same submitter and round] + submission^2 [same].
 * GSL's Nelder-Mead simplex searches over the logarithms of the three spreads, from 5 % each. The conditional mean of
 * an effect with covariances c is w'y with V w = c, over the calibration submissions, by Cholesky's factors of V. If
 * the true spreads are others, V' and c', its mean square error is submitter'^2 + round'^2 + submission'^2 - 2 w'c' +
 * w'V'w: that is the width. Limits: the sampling noise of a submission's mean (5 to 10 runs) is part of the
 * submission's spread; v2.1 systems that were submitted before count in their first round.
 */
#include "results/calibrate/calibrate.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <jansson.h>

enum { N_SPREADS = 3, MOST_SIMPLEX_STEPS = 400 };

/* ---- submissions ------------------------------------------------------------------------------------------ */

static bool was_submitted_before(const struct run_rows *t, size_t first)
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
        if (!round_has_reference(r->round) || was_submitted_before(runs, i) || !convergence_reference(&c, tables, &terms, NULL))
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

struct effect_sample { const struct submission *const *of; size_t n; };

bool submission_has_effect(const struct submission *s, const char *benchmark)
{
    return !s->planned && text_is(s->first->benchmark, benchmark) && text_is(s->first->division, "closed");
}

static double covariance(const struct effect_spreads *s, const char *submitter, const char *round, const struct run_row *y)
{
    if (!text_is(submitter, y->submitter))
        return 0;
    return s->submitter * s->submitter + (text_is(round, y->round) ? s->round * s->round : 0);
}

static gsl_matrix *covariances(const struct effect_spreads *s, const struct effect_sample *x)
{
    gsl_matrix *v = gsl_matrix_alloc(x->n, x->n);
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < x->n; k++) {
            const struct run_row *r = x->of[i]->first;
            gsl_matrix_set(v, i, k, covariance(s, r->submitter, r->round, x->of[k]->first) + (i == k ? s->submission * s->submission : 0));
        }
    return v;
}

static gsl_vector *ratios(const struct effect_sample *x)
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
    const struct effect_sample *x = user;
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

static struct effect_spreads most_likely(struct effect_sample *x)
{
    gsl_multimin_function f = { minus_log_likelihood, N_SPREADS, x };
    gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, N_SPREADS);
    gsl_vector *start = gsl_vector_alloc(N_SPREADS), *step = gsl_vector_alloc(N_SPREADS);
    gsl_vector_set_all(start, log(0.05));
    gsl_vector_set_all(step, 0.5);
    gsl_multimin_fminimizer_set(m, &f, start, step);
    for (int i = 0; i < MOST_SIMPLEX_STEPS && gsl_multimin_fminimizer_iterate(m) == 0; i++)
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
    struct effect_sample x = { of, 0 };
    for (size_t i = 0; i < all->n; i++)
        if (submission_has_effect(&all->items[i], benchmark) && !text_is(all->items[i].first->submitter, without)
            && (what == SPREADS_FOR_WIDTHS || all->items[i].first->role != FIGURE_VALIDATE))
            of[x.n++] = &all->items[i];
    return x.n >= N_SPREADS ? most_likely(&x) : (struct effect_spreads){0};
}

/* ---- effects --------------------------------------------------------------------------------------------------- */

static gsl_vector *covariances_with(const struct effect_spreads *s, const struct effect_sample *x, const char *submitter, const char *round)
{
    gsl_vector *c = gsl_vector_alloc(x->n);
    for (size_t i = 0; i < x->n; i++)
        gsl_vector_set(c, i, covariance(s, submitter, round, x->of[i]->first));
    return c;
}

static double dot_product(const gsl_vector *x, const gsl_vector *y)
{
    double sum;
    gsl_blas_ddot(x, y, &sum);
    return sum;
}

/* The weights w of the conditional mean. */
static gsl_vector *mean_weights(const struct effect_spreads *s, const struct effect_sample *x, const char *submitter, const char *round)
{
    gsl_matrix *v = covariances(s, x);
    gsl_vector *w = covariances_with(s, x, submitter, round);
    gsl_linalg_cholesky_decomp1(v);
    gsl_linalg_cholesky_svx(v, w);
    gsl_matrix_free(v);
    return w;
}

/* w'V w - 2 w'c: what the calibration submissions add to the mean square error. */
static double square_of_seen(const struct effect_spreads *s, const struct effect_sample *x, const char *submitter, const char *round, const gsl_vector *w)
{
    gsl_matrix *v = covariances(s, x);
    gsl_vector *c = covariances_with(s, x, submitter, round), *vw = gsl_vector_calloc(x->n);
    gsl_blas_dsymv(CblasLower, 1, v, w, 0, vw);
    double square = dot_product(w, vw) - 2 * dot_product(w, c);
    gsl_vector_free(vw);
    gsl_vector_free(c);
    gsl_matrix_free(v);
    return square;
}

struct effect effect_of(const struct submissions *all, const struct effect_spreads *for_mean, const struct effect_spreads *for_width,
                        const char *benchmark, const char *submitter, const char *round, struct arena *a)
{
    const struct submission **of = ARENA_ROOM(a, const struct submission *, all->n);
    struct effect_sample x = { of, 0 };
    for (size_t i = 0; i < all->n; i++)
        if (submission_has_effect(&all->items[i], benchmark) && all->items[i].first->role == FIGURE_CALIBRATE
            && text_is(all->items[i].first->submitter, submitter))
            of[x.n++] = &all->items[i];
    if (!x.n)
        return (struct effect){ 0, effect_total(for_width), 0 };
    if (!for_mean->n)
        return (struct effect){ (double)NAN, (double)NAN, x.n };
    gsl_vector *w = mean_weights(for_mean, &x, submitter, round), *y = ratios(&x);
    struct effect e = { dot_product(w, y), sqrt(pow(effect_total(for_width), 2) + square_of_seen(for_width, &x, submitter, round, w)), x.n };
    gsl_vector_free(y);
    gsl_vector_free(w);
    return e;
}
