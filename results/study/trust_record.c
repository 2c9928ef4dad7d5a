/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_record.c - the record of published runs, from which answers get their intervals, and the error of a step that follows from it.
 */
#include "results/study/trust_internal.h"
#include <gsl/gsl_cdf.h>

static const double LEVEL = 0.9;

double step_deviation(const struct simulation *sim, const struct track_record *by, bool without_group)
{
    struct arena scratch = {0};
    const struct properties at = properties_of(sim, &scratch);
    const struct references judges = without_group ? references_without_group(&by->references, properties_group(&at, &scratch), &scratch) : by->references;
    double deviation = spread_expect_at(&by->spread, &judges, &at).half_width / gsl_cdf_ugaussian_Pinv((1 + LEVEL) / 2);
    arena_free(&scratch);
    return deviation > 0 ? deviation : sim->fitted.throughput_error;
}

static bool has_all_lines(const char *dir, const char *name, uint64_t n, uint64_t n_written, struct err *err)
{
    return n == n_written || fail(err, "%s/%s: %" PRIu64 " lines, but %" PRIu64 " when spread.csv was written with it; 'make baseline' writes both", dir, name, n, n_written);
}

bool track_record_open(struct track_record *out, const char *validity_dir, struct arena *a, struct err *err)
{
    *out = (struct track_record){0};
    if (!references_load(&out->references, arena_printf(a, "%s/left-out.csv", validity_dir), a, err))
        return false;
    return !out->references.n || (known_values_load(&out->references.known, arena_printf(a, "%s/known-values.csv", validity_dir), a, err)
                                  && spread_load(&out->spread, arena_printf(a, "%s/spread.csv", validity_dir), a, err)
                                  && has_all_lines(validity_dir, "left-out.csv", out->references.n, out->spread.n_runs, err)
                                  && has_all_lines(validity_dir, "known-values.csv", out->references.known.n, out->spread.n_values, err));
}
