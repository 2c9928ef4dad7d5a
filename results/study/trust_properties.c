/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_properties.c - what makes two runs alike.
 *
 * The weights are a judgement, not a fit. Another model of the family, another framework, another chip or type, or
 * input that overlaps where the other's does not, counts 1; twice the replica's width or the sequence a half; twice the
 * IPUs, the micro-batch or the global batch a quarter each; another family, or inference for training, 4, which nothing
 * else makes up for. Two steps without a common class of work are as far apart as two families.
 */
#include "results/study/trust.h"

#include <ctype.h>
#include <strings.h>

static const double weights[BY_SHARES] = { 4, 4, 1, 1, 1, 1, 1, 0.25, 0.5, 0.25, 0.25, 0.5 }, ALL_UNLIKE = 4;

/* "TensorFlow 1.15" is TensorFlow, and so is tensorflow-1-2.1.0. */
static const char *first_word(const char *text, struct arena *a)
{
    size_t n = 0;
    while (text && isalpha((unsigned char)text[n]))
        n++;
    return text ? arena_printf(a, "%.*s", (int)n, text) : "none";
}

/* Shares of the step's time, rounded to the four digits of the table, so that a run has distance 0 from itself. */
static void fill_shares(double *share, const struct simulation *sim)
{
    double part_s[N_PARTS], sum[N_PART_CLASSES] = {0}, step_s = (double)sim->timeline.step_cycles / sim->machine->chip.clock_hz;
    step_breakdown(part_s, &sim->timeline);
    for (int k = 0; k < N_PARTS; k++)
        sum[part_classes[k]] += part_s[k];
    for (int k = 0; k < N_PART_CLASSES; k++)
        share[k] = round(1e4 * sum[k] / step_s) / 1e4;
}

struct properties properties_of(const struct simulation *sim, struct arena *a)
{
    static const char *const computes[] = { "fp16", "fp32", "fp8" };
    const struct recipe *r = &sim->recipe;
    const struct workload *w = recipe_workload(r);
    bool own_length = w->traits & TAKES_SEQUENCES && r->model.sequence_length;
    struct properties p = {
        .name = { w->family, r->mode == MODE_TRAIN ? "train" : "infer", arena_strdup(a, r->workload), arena_strdup(a, sim->machine->chip_name),
                  first_word(r->framework, a), computes[r->model.compute], r->synthetic_data ? "on the chip" : r->io_tiles ? "overlapped" : "in turn" },
        .number = { [BY_IPUS] = (double)(r->replicas * r->ipus_per_replica), [BY_WIDTH] = (double)r->ipus_per_replica,
                    [BY_MICRO_BATCH] = (double)r->model.micro_batch, [BY_GLOBAL_BATCH] = (double)recipe_global_batch(r),
                    [BY_SEQUENCE] = (double)(own_length ? r->model.sequence_length : w->default_sequence_length) },
    };
    fill_shares(p.number + BY_SHARES, sim);
    return p;
}

/* Upper and lower case are one name, as they are for sheets of frameworks. */
bool property_names_equal(const struct properties *x, const struct properties *y, size_t property)
{
    return strcasecmp(x->name[property], y->name[property]) == 0;
}

/* A count against none (0) is one doubling. */
static double doublings(double x, double y)
{
    return x == y ? 0 : x > 0 && y > 0 ? fabs(log2(x / y)) : 1;
}

struct apart properties_apart(const struct properties *x, const struct properties *y)
{
    struct apart apart = {0};
    for (size_t i = 0; i < BY_IPUS; i++)
        apart.distance += property_names_equal(x, y, i) ? 0 : weights[i];
    for (size_t i = BY_IPUS; i < BY_SHARES; i++)
        apart.distance += weights[i] * doublings(x->number[i], y->number[i]);
    for (size_t i = BY_SHARES; i < N_PROPERTIES; i++)
        apart.unlike += fabs(x->number[i] - y->number[i]) / 2;
    apart.distance += ALL_UNLIKE * apart.unlike;
    return apart;
}

bool properties_same_kind(const struct properties *x, const struct properties *y)
{
    return property_names_equal(x, y, BY_FAMILY) && property_names_equal(x, y, BY_MODE);
}

const char *properties_group(const struct properties *x, struct arena *a)
{
    return arena_printf(a, "%s %s %s %s", x->name[BY_WORKLOAD], x->name[BY_MODE], x->name[BY_FRAMEWORK], x->name[BY_CHIP]);
}
