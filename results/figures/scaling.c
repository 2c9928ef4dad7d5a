/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scaling.c - throughput and efficiency over the number of chips.
 */
#include "results/figures/drawing.h"

const char *const scaling_rounds[N_SCALING_ROUNDS] = { "v1.0", "v1.1", "v2.0" };

bool mlperf_id_parse(struct mlperf_id *out, const struct result *r)
{
    if (sscanf(r->id, "mlperf-%7[^-]-%7[^-]-", out->round, out->division) != 2)
        return false;
    size_t n = strlen(r->id), end = strlen(r->workload);
    out->has_framework = n < end || !text_is(r->id + n - end, r->workload);
    return true;
}

const struct figure *published_figure(const struct figures *figures, const char *recipe, const char *metric)
{
    for (size_t i = 0; i < figures->n; i++)
        if (text_is(figures->items[i].recipe, recipe) && text_is(figures->items[i].metric, metric))
            return &figures->items[i];
    return NULL;
}

/* The published value of a recipe's metric; NaN if there is none. */
static double published_value(const struct figures *figures, const char *recipe, const char *metric)
{
    const struct figure *f = published_figure(figures, recipe, metric);
    return f ? f->value : NAN;
}

/* The result of a round's closed division with this many chips and the vendor's own framework. */
static const struct result *scaling_result(const struct results *results, const char *workload, const char *round, uint64_t ipus)
{
    for (size_t i = 0; i < results->n; i++) {
        const struct result *r = &results->items[i];
        struct mlperf_id id;
        if (text_is(r->workload, workload) && r->ipus == ipus && mlperf_id_parse(&id, r) && text_is(id.round, round) &&
            text_is(id.division, "closed") && !id.has_framework)
            return r;
    }
    return NULL;
}

/* Finds the sizes of systems. They are powers of two, so there are at most MOST_SIZES. */
static void find_sizes(struct scaling *out, const struct results *results)
{
    for (uint64_t ipus = 1; ipus <= 1024; ipus *= 2)
        for (size_t k = 0; k < N_SCALING_ROUNDS; k++)
            if (scaling_result(results, out->workload, scaling_rounds[k], ipus)) {
                assert(out->n_sizes < MOST_SIZES);
                out->sizes[out->n_sizes++] = ipus;
                break;
            }
}

static void build_round(struct scaling *out, size_t round, const struct results *results, const struct figures *figures)
{
    double published_each = NAN, simulated_each = NAN;
    for (size_t i = 0; i < out->n_sizes; i++) {
        const struct result *r = scaling_result(results, out->workload, scaling_rounds[round], out->sizes[i]);
        struct scaling_point *p = &out->points[round][i];
        *p = (struct scaling_point){ NAN, NAN, NAN, NAN, NAN };
        if (!r)
            continue;
        double chips = (double)out->sizes[i];
        p->simulated = r->throughput_samples_per_s;
        p->published = published_value(figures, r->id, "throughput_samples_per_s");
        if (isnan(simulated_each))
            simulated_each = p->simulated / chips;
        if (isnan(published_each))
            published_each = p->published / chips;
        p->ideal = published_each * chips;
        p->published_efficiency = 100 * p->published / chips / published_each;
        p->simulated_efficiency = 100 * p->simulated / chips / simulated_each;
    }
}

void scaling_build(struct scaling *out, const char *workload, const struct results *results, const struct figures *figures)
{
    *out = (struct scaling){ .workload = workload };
    find_sizes(out, results);
    for (size_t k = 0; k < N_SCALING_ROUNDS; k++)
        build_round(out, k, results, figures);
}

void scaling_print(FILE *f, const struct scaling *s)
{
    for (size_t k = 0; k < N_SCALING_ROUNDS; k++)
        for (size_t i = 1; i < s->n_sizes; i++) {
            const struct scaling_point *p = &s->points[k][i];
            if (!isnan(p->published_efficiency) && !isnan(p->simulated_efficiency))
                fprintf(f, "scaling   %-24s %-9s %5" PRIu64 " IPUs: published %.1f %%, simulated %.1f %%, %+.1f points\n", s->workload,
                        scaling_rounds[k], s->sizes[i], p->published_efficiency, p->simulated_efficiency,
                        p->simulated_efficiency - p->published_efficiency);
        }
}
