/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * submission_effects.c - how far submissions converge from the reference; see calibration.h for the model.
 *
 * Likelihood: the n ratios of one submitter have the variance submission^2 about their mean, and n x mean^2 has the variance submission^2 + n
 * submitter^2. GSL's Nelder-Mead simplex searches over the logarithms of both spreads, starting from 5 % each. The conditional mean of a
 * submitter's effect is w times the sum of its n ratios, with w = submitter^2 / (submission^2 + n submitter^2). If the true spreads are
 * submitter' and submission', its mean square error is (1 - n w)^2 submitter'^2 + n w^2 submission'^2. A further submission adds submission'^2
 * of its own; the sum is the squared width. Limits: the sampling noise of a submission's mean (5 to 10 runs) is part of the submission's
 * spread; v2.1 systems that were submitted before count in their first round.
 */
#include "results/calibrate/calibration.h"

#include <gsl/gsl_multimin.h>

enum { N_SPREADS = 2, LEAST_SUBMISSIONS = 3, MOST_SIMPLEX_STEPS = 400 };

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
            return fail(err, "%s %s %s %s: %.6g samples to converge are too few: with evaluations every %.6g samples none comes that early", r->round, r->submitter, r->system,
                        r->benchmark, run_rows_mean_samples(r, n), 2 * half_grid);
        out->items[out->n++] = (struct submission){ r, n, r->eval_at_end, log(latent / c.median_samples) };
    }
    return true;
}

/* ---- spreads ------------------------------------------------------------------------------------------------ */

bool submission_has_effect(const struct submission *s, const char *benchmark)
{
    return !s->planned && text_is(s->first->benchmark, benchmark) && text_is(s->first->division, "closed");
}

/* The moments of each submitter's ratios. */
struct effect_sample { const char **submitters; struct moments *ratios; size_t n; };

static void add_ratio(struct effect_sample *x, const char *submitter, double ln_ratio)
{
    size_t i = 0;
    while (i < x->n && !text_is(x->submitters[i], submitter))
        i++;
    if (i == x->n)
        x->submitters[x->n++] = submitter;
    moments_add(&x->ratios[i], ln_ratio);
}

static double minus_log_likelihood(const gsl_vector *ln, void *user)
{
    const struct effect_sample *x = user;
    double submitter = exp(2 * gsl_vector_get(ln, 0)), submission = exp(2 * gsl_vector_get(ln, 1)), value = 0;
    for (const struct moments *m = x->ratios; m < x->ratios + x->n; m++) {
        double variance = submission + m->n * submitter;
        value += (m->n - 1) * log(submission) + log(variance) + moments_within(m) / submission + m->sum * m->sum / m->n / variance;
    }
    return value / 2;
}

double effect_total(const struct effect_spreads *s)
{
    return hypot(s->submitter, s->submission);
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
    struct effect_spreads s = { exp(gsl_vector_get(m->x, 0)), exp(gsl_vector_get(m->x, 1)), 0 };
    gsl_multimin_fminimizer_free(m);
    gsl_vector_free(start);
    gsl_vector_free(step);
    return s;
}

struct effect_spreads effect_spreads(const struct submissions *all, enum spreads_for what, const char *benchmark, const char *without,
                                     struct arena *a)
{
    struct effect_sample x = { ARENA_ROOM(a, const char *, all->n), ARENA_ARRAY(a, struct moments, all->n), 0 };
    size_t n = 0;
    for (const struct submission *s = all->items; s < all->items + all->n; s++)
        if (submission_has_effect(s, benchmark) && !text_is(s->first->submitter, without) && (what == SPREADS_FOR_WIDTHS || s->first->role != FIGURE_VALIDATE))
            add_ratio(&x, s->first->submitter, s->ln_ratio), n++;
    struct effect_spreads spreads = {0};
    if (n >= LEAST_SUBMISSIONS)
        spreads = most_likely(&x), spreads.n = n;
    return spreads;
}

/* ---- effects --------------------------------------------------------------------------------------------------- */

struct effect effect_of(const struct submissions *all, const struct effect_spreads *for_mean, const struct effect_spreads *for_width,
                        const char *benchmark, const char *submitter)
{
    struct moments seen = {0};
    for (const struct submission *s = all->items; s < all->items + all->n; s++)
        if (submission_has_effect(s, benchmark) && s->first->role == FIGURE_CALIBRATE && text_is(s->first->submitter, submitter))
            moments_add(&seen, s->ln_ratio);
    if (seen.n > 0 && !for_mean->n)
        return (struct effect){ NAN, NAN, (size_t)seen.n };
    double weight = seen.n > 0 ? pow(for_mean->submitter, 2) / (pow(for_mean->submission, 2) + seen.n * pow(for_mean->submitter, 2)) : 0;
    double known = (1 - seen.n * weight) * for_width->submitter, seen_noise = sqrt(seen.n) * weight * for_width->submission;
    return (struct effect){ weight * seen.sum, hypot(hypot(known, seen_noise), for_width->submission), (size_t)seen.n };
}
