/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mixture.c - the root of 1/n sum Phi((x - mean) / deviation) = p, which lies between the lowest and the highest p-quantile of the parts.
 */
#include "results/study/mixture.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_roots.h>
#include <math.h>

enum { MOST_STEPS = 200 };
static const double NEAR_ENOUGH = 1e-12;

struct mixture { const struct normal *parts; size_t n; double p; };

static double above(double x, void *user)
{
    const struct mixture *m = user;
    double sum = 0;
    for (size_t i = 0; i < m->n; i++)
        sum += gsl_cdf_gaussian_P(x - m->parts[i].mean, m->parts[i].deviation);
    return sum / (double)m->n - m->p;
}

double mixture_quantile(double p, const struct normal *parts, size_t n)
{
    struct mixture m = { parts, n, p };
    gsl_function f = { above, &m };
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double quantile = parts[i].mean + gsl_cdf_gaussian_Pinv(p, parts[i].deviation);
        low = fmin(low, quantile);
        high = fmax(high, quantile);
    }
    if (!(above(low, &m) < 0) || !(above(high, &m) > 0))       /* all in one place, as far as numbers tell */
        return low;
    gsl_root_fsolver *s = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    gsl_root_fsolver_set(s, &f, low, high);
    for (int i = 0; i < MOST_STEPS && high - low > NEAR_ENOUGH; i++) {
        gsl_root_fsolver_iterate(s);
        low = gsl_root_fsolver_x_lower(s);
        high = gsl_root_fsolver_x_upper(s);
    }
    double x = gsl_root_fsolver_root(s);
    gsl_root_fsolver_free(s);
    return x;
}
