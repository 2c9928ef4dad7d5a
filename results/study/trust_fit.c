/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_fit.c - the four numbers of the spread, by maximum likelihood over published runs, and how many spreads hold nine in ten errors.
 *
 * Each published run asks one question: how far off is its prediction? If the run's first prediction was recorded, its error counts, judged by
 * runs of other origins, as for a question about something new. If not, today's error with its group left out of the fit counts, judged by all
 * other runs, as for a question near known runs. The likelihood of an error is Student's density about the bias of the neighbours. If readings
 * are open, it is the mean of three densities, for the answer, the slowest and the fastest reading, as each may be the true one. Nelder and
 * Mead's simplex (GSL) finds the maximum in the logarithms of the numbers, from three starts.
 *
 * The number of spreads on either side of an interval is counted instead of taken from a distribution: nine in ten errors of further questions
 * are below the 0.9 (n + 1)-th smallest error of n questions, in spreads, if they are alike (conformal prediction; Vovk, Gammerman and Shafer
 * 2005).
 */
#include "results/study/trust_internal.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>

enum { N_NUMBERS = 4, N_STARTS = 3, MOST_SPREAD_STEPS = 2000 };
static const double LEAST_LOG = -9, MOST_LOG = 3;

struct spread_data { const struct question *questions; size_t n; };

static struct spread spread_of_logs(const gsl_vector *x)
{
    double number[N_NUMBERS];
    for (size_t i = 0; i < N_NUMBERS; i++)
        number[i] = exp(fmin(MOST_LOG, fmax(LEAST_LOG, gsl_vector_get(x, i))));
    return (struct spread){ .base = number[0], .far = number[1], .host = number[2], .vector = number[3] };
}

static double density_of(const struct question *q, const struct spread *s)
{
    double spread = spread_at(s, &q->near, &q->reference->at), sum = 0;
    const double readings[] = { 0, q->open_low, q->open_high };
    size_t n = 1 + (readings[1] < 0) + (readings[2] > 0);
    for (size_t i = 0; i < 3; i++)
        if (i == 0 || readings[i] != 0)
            sum += gsl_ran_tdist_pdf((q->error + readings[i] - q->near.bias) / spread, SPREAD_DEGREES) / spread;
    return sum / (double)n;
}

static double minus_log_of_spread(const gsl_vector *x, void *user)
{
    const struct spread_data *data = user;
    const struct spread s = spread_of_logs(x);
    double sum = 0;
    for (size_t i = 0; i < data->n; i++)
        sum -= log(density_of(&data->questions[i], &s));
    for (size_t i = 0; i < N_NUMBERS; i++)              /* keeps numbers finite that the questions do not determine */
        sum += 1e-3 * gsl_pow_2(gsl_vector_get(x, i));
    return sum;
}

static double climb_from(double start, gsl_vector *best, struct spread_data *data)
{
    static const double first_logs[N_NUMBERS] = { -3.5, -3, -1, -2 };
    gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, N_NUMBERS);
    gsl_vector *step = gsl_vector_alloc(N_NUMBERS);
    gsl_multimin_function f = { minus_log_of_spread, N_NUMBERS, data };
    for (size_t i = 0; i < N_NUMBERS; i++)
        gsl_vector_set(best, i, first_logs[i] + start);
    gsl_vector_set_all(step, 0.5);
    gsl_multimin_fminimizer_set(m, &f, best, step);
    for (int i = 0; i < MOST_SPREAD_STEPS && gsl_multimin_fminimizer_iterate(m) == 0; i++)
        if (gsl_multimin_test_size(gsl_multimin_fminimizer_size(m), 1e-4) == GSL_SUCCESS)
            break;
    gsl_vector_memcpy(best, m->x);
    double value = m->fval;
    gsl_vector_free(step);
    gsl_multimin_fminimizer_free(m);
    return value;
}

static double nine_in_ten_of(const struct spread *s, const struct question *questions, size_t n)
{
    struct arena scratch = {0};
    double *spreads = ARENA_ROOM(&scratch, double, n + 1);
    size_t k = (9 * (n + 1) + 9) / 10;
    for (size_t i = 0; i < n; i++)
        spreads[i] = spreads_that_hold(s, &questions[i].near, &questions[i].reference->at, question_outside(&questions[i], 0));
    gsl_sort(spreads, 1, n);
    double found = k <= n ? spreads[k - 1] : student_nine_in_ten();         /* with fewer than nine questions there is no 0.9 (n + 1)-th error */
    arena_free(&scratch);
    return found;
}

struct spread spread_fit_questions(const struct question *questions, size_t n)
{
    static const double starts[N_STARTS] = { 0, 0.7, -0.7 };
    struct spread_data data = { questions, n };
    struct spread best = {0};
    double least = INFINITY;
    gsl_vector *x = gsl_vector_alloc(N_NUMBERS);
    for (int i = 0; i < N_STARTS && n >= N_NUMBERS; i++) {
        double value = climb_from(starts[i], x, &data);
        if (value < least) {
            least = value;
            best = spread_of_logs(x);
        }
    }
    gsl_vector_free(x);
    best.nine_in_ten = best.base > 0 ? nine_in_ten_of(&best, questions, n) : 0;
    for (size_t i = 0; i < n; i++)
        best.largest_error = fmax(best.largest_error, fabs(questions[i].error));
    return best;
}

/* ---- questions ------------------------------------------------------------------------------------------ */

struct asked_by { const struct reference *by; bool by_origin; const char *without_origin; };

static bool may_answer(const struct reference *r, const void *user)
{
    const struct asked_by *q = user;
    return r != q->by && !text_is(r->configuration, q->by->configuration) && !(q->by_origin && text_is(r->origin, q->by->origin))
        && !text_is(r->origin, q->without_origin);
}

struct question question_of(const struct references *r, const struct reference *x, bool by_origin, const char *without_origin, struct arena *scratch)
{
    const struct asked_by asked = { x, by_origin || !isnan(x->first_sight), without_origin };
    struct distances d = {0};
    bool first = !isnan(x->first_sight);
    distances_find(&d, r, &x->at, scratch);
    return (struct question){ .reference = x, .near = neighbourhood_of(r, &d, may_answer, &asked), .error = first ? x->first_sight : x->left_out,
                              .open_low = first ? x->first_open_low : x->open_low, .open_high = first ? x->first_open_high : x->open_high,
                              .likeness = likeness_among(r, &d, may_answer, &asked) };
}

bool question_is_answered(const struct question *q)
{
    return isfinite(q->near.nearest);
}

double question_outside(const struct question *q, double half_width)
{
    double beyond = q->near.bias - q->error;            /* ln(true / expected) */
    return fmax(0, q->open_low - half_width - beyond) + fmax(0, beyond - q->open_high - half_width);
}

static size_t list_questions(struct question *out, const struct references *r, const char *without_origin, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (text_is(r->items[i].origin, without_origin))
            continue;
        out[n] = question_of(r, &r->items[i], false, without_origin, a);
        n += question_is_answered(&out[n]);
    }
    return n;
}

struct spread spread_fit(const struct references *r, const char *without_origin, struct arena *a)
{
    struct question *questions = ARENA_ROOM(a, struct question, r->n + 1);
    return spread_fit_questions(questions, list_questions(questions, r, without_origin, a));
}

/* ---- the table ------------------------------------------------------------------------------------------- */

static const struct field spread_fields[] = { FIELD_OF(struct spread, base, .min = 0, .max = 100, .required = true), FIELD_OF(struct spread, far, .min = 0, .max = 100, .required = true),
    FIELD_OF(struct spread, host, .min = 0, .max = 100, .required = true),
    FIELD_OF(struct spread, vector, .min = 0, .max = 100, .required = true), FIELD_OF(struct spread, nine_in_ten, .min = 0, .max = 100, .required = true), FIELD_OF(struct spread, largest_error, .min = 0, .max = 100, .required = true),
    FIELD_OF(struct spread, n_runs, .unit = "", .min = 0, .max = 1e9, .required = true), FIELD_OF(struct spread, n_values, .unit = "", .min = 0, .max = 1e9, .required = true) };
static const struct table_column spread_columns[] = {
#define C(member) { COLUMN(struct spread, member), .csv_digits = 4 }
    C(base), C(far), C(host), C(vector), C(nine_in_ten), C(largest_error),
#undef C
    { COLUMN(struct spread, n_runs) }, { COLUMN(struct spread, n_values) },
};

void spread_write(FILE *f, const struct references *r)
{
    struct arena scratch = {0};
    struct spread s = spread_fit(r, NULL, &scratch);
    s.n_runs = r->n, s.n_values = r->known.n;
    struct table t = TABLE_OF(spread_columns, &s, 1);
    table_write(f, FORMAT_CSV, &t);
    arena_free(&scratch);
}

bool spread_load(struct spread *out, const char *path, struct arena *a, struct err *err)
{
    *out = (struct spread){0};
    return record_load(out, path, spread_fields, N_FIELDS(spread_fields), a, err);
}
