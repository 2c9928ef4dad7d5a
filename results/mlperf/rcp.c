/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rcp.c - the reference-convergence test of MLPerf Training.
 *
 * One-sided t-test at 5 % of the submission's olympic mean m against the reference's mean mu and spread sd:
 *     m >= mu - t(0.95, nr + ns - 2) * sd * sqrt(1/nr + 1/ns)
 * nr = reference runs left after dropping, or twice the required runs when interpolated; ns = required runs - 2, for every benchmark. The
 * record of the same batch is taken; else the line between two; below all, the record of the smallest batch; above all there is none and
 * the test fails (rcp_limit_at). Some benchmarks lower the limit by an allowance. Where the edition scales, a submission that is faster than mu and
 * passes has its score multiplied by mu / m.
 * Sources: mlcommons/training_policies, appendix on reference convergence points; mlcommons/logging rcp_checker 1.0.0 to 5.0.0.
 */
#include "results/mlperf/rcp.h"

#include <math.h>
#include <string.h>

static const double failed_run = 1e9;   /* what the checker writes for it */

static double submission_mean(const double *points, size_t n, size_t dropped, struct arena *a)
{
    double *sorted = ARENA_ARRAY(a, double, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = isfinite(points[i]) ? points[i] : failed_run;
    return olympic_mean(sorted, n, dropped);
}

static const char *verdict_text(const struct rcp_verdict *v, const struct rcp_table *t, struct arena *a)
{
    static const char *const how[] = { "reference points", "interpolated reference points", "smallest reference batch" };
    const char *unit = t->points[0].unit;
    if (v->limit.match == RCP_MISSING)
        return arena_printf(a, "no reference points at batch %g (largest %g): reference points must be supplied", v->batch,
                            t->points[t->n - 1].batch);
    const char *remedy = v->passed ? "" : v->limit.match == RCP_SMALLER_BATCH ? ": reference points must be supplied"
                       : ": faster than the reference allows";
    return arena_printf(a, "mean %.10g %s to converge against at least %.6g (%s: mean %.6g, largest speed-up %.5f)%s",
                        v->submission_mean, unit, v->limit.mean / v->limit.max_speedup, how[v->limit.match], v->limit.mean,
                        v->limit.max_speedup, remedy);
}

bool rcp_test(struct rcp_verdict *out, const struct rcp_table *t, double batch, const double *points, size_t n, struct arena *a,
              struct err *err)
{
    *out = (struct rcp_verdict){ .batch = batch, .scaling = 1 };
    size_t n_failed = 0, dropped = t->terms.dropped;
    for (size_t i = 0; i < n; i++)
        n_failed += !isfinite(points[i]);
    if (n <= 2 * dropped)
        return fail(err, "%s: %zu runs, the reference-convergence test wants %u", t->benchmark, n, t->terms.runs);
    out->submission_mean = submission_mean(points, n, dropped, a);
    rcp_limit_at(&out->limit, t, batch);
    out->passed = out->limit.match != RCP_MISSING && n_failed <= dropped && out->submission_mean >= out->limit.mean / out->limit.max_speedup;
    if (out->passed)
        out->scaling = rcp_scaling(t->edition, &out->limit, out->submission_mean);
    out->text = n_failed > dropped ? arena_printf(a, "%zu runs did not converge, at most %zu may", n_failed, dropped)
                                   : verdict_text(out, t, a);
    return true;
}
