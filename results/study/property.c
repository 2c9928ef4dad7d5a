/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * property.c - the properties that runs are compared by. Weights are a judgement, not a fit: another model of the family, another
 * framework, another chip or type count 1; twice the replica's width or the sequence a half; twice the IPUs, the micro-batch or the
 * global batch a quarter each; another family, or inference for training, 4: nothing else brings that near. A step that is all spent on
 * what the other's is not is as far as another family; each share stands in half of that twice, for what is more and what is less.
 */
#include "results/study/property.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { FAMILY, MODE, WORKLOAD, CHIP, FRAMEWORK, COMPUTE, IPUS, WIDTH, MICRO_BATCH, GLOBAL_BATCH, SEQUENCE, SHARES, SHARES_WEIGHT = 2 };
const struct property properties[] = {
    [FAMILY]       = { "family", PROPERTY_NAME, 4, "family of models" },
    [MODE]         = { "mode", PROPERTY_NAME, 4, "train or infer" },
    [WORKLOAD]     = { "workload", PROPERTY_NAME, 1, "model" },
    [CHIP]         = { "chip", PROPERTY_NAME, 1, "its sheet" },
    [FRAMEWORK]    = { "framework", PROPERTY_NAME, 1, "without its release" },
    [COMPUTE]      = { "compute", PROPERTY_NAME, 1, "type" },
    [IPUS]         = { "ipus", PROPERTY_COUNT, 0.25, "in use" },
    [WIDTH]        = { "ipus_per_replica", PROPERTY_COUNT, 0.5, "IPUs" },
    [MICRO_BATCH]  = { "micro_batch", PROPERTY_COUNT, 0.25, "samples" },
    [GLOBAL_BATCH] = { "global_batch", PROPERTY_COUNT, 0.25, "samples, packs or utterances" },
    [SEQUENCE]     = { "sequence_length", PROPERTY_COUNT, 0.5, "tokens or frames; 0: none" },
    [SHARES + CLASS_COMPUTE]  = { "compute_share", PROPERTY_SHARE, SHARES_WEIGHT, "of the step, mean of the IPUs" },
    [SHARES + CLASS_EXCHANGE] = { "exchange_share", PROPERTY_SHARE, SHARES_WEIGHT, "on the chip" },
    [SHARES + CLASS_SYNC]     = { "sync_share", PROPERTY_SHARE, SHARES_WEIGHT, "of the tiles" },
    [SHARES + CLASS_LINKS]    = { "links_share", PROPERTY_SHARE, SHARES_WEIGHT, "between IPUs" },
    [SHARES + CLASS_WAITING]  = { "waiting_share", PROPERTY_SHARE, SHARES_WEIGHT, "of other stages or chips" },
    [SHARES + CLASS_MEMORY]   = { "memory_share", PROPERTY_SHARE, SHARES_WEIGHT, "streaming memory" },
    [SHARES + CLASS_HOST]     = { "host_share", PROPERTY_SHARE, SHARES_WEIGHT, "input that is not hidden, calls" },
};
const size_t n_properties = sizeof properties / sizeof *properties;
enum { N_NAMES = IPUS };                /* names come first, then counts, then shares */
_Static_assert(sizeof properties / sizeof *properties == SHARES + N_PART_CLASSES, "a share of each class");
_Static_assert(sizeof properties / sizeof *properties <= MAX_PROPERTIES, "room for all");

/* "TensorFlow 1.15" is TensorFlow, and so is tensorflow-1-2.1.0. */
static const char *first_word(const char *text, struct arena *a)
{
    size_t n = 0;
    if (!text)
        return "none";
    while (isalpha((unsigned char)text[n]))
        n++;
    return memcpy(arena_alloc(a, n + 1), text, n);
}

/* Sheets of frameworks are found whatever the case of the recipe's letters. */
static uint64_t hash_of_name(const char *name)
{
    uint64_t hash = 0;
    for (; *name; name++) {
        char c = (char)tolower((unsigned char)*name);
        hash = hash_bytes(&c, 1, hash);
    }
    return hash;
}

static uint64_t sequence_length(const struct recipe *r, const struct workload *w)
{
    return w->traits & TAKES_SEQUENCES && r->model.sequence_length ? r->model.sequence_length : w->default_sequence_length;
}

/* Of the step's time, as a table holds them: four digits, so that a run is no distance from itself. */
static void fill_shares(double *share, const struct simulation *sim)
{
    double part_s[N_PARTS], sum[N_PART_CLASSES] = {0}, step_s = (double)sim->timeline.step_cycles / sim->machine->chip.clock_hz;
    step_breakdown(part_s, &sim->timeline);
    for (int k = 0; k < N_PARTS; k++)
        sum[part_classes[k]] += part_s[k];
    for (int k = 0; k < N_PART_CLASSES; k++)
        share[SHARES + k] = round(1e4 * sum[k] / step_s) / 1e4;
}

struct properties properties_of(const struct simulation *sim, struct arena *a)
{
    static const char *const computes[] = { "fp16", "fp32", "fp8" };
    const struct recipe *r = &sim->recipe;
    const struct workload *w = recipe_workload(r);
    struct properties p = {0};
    p.name[FAMILY] = w->family;
    p.name[MODE] = r->mode == MODE_TRAIN ? "train" : "infer";
    p.name[WORKLOAD] = arena_strdup(a, r->workload);
    p.name[CHIP] = arena_strdup(a, sim->machine->chip_name);
    p.name[FRAMEWORK] = first_word(r->framework, a);
    p.name[COMPUTE] = computes[r->model.compute];
    p.count[IPUS] = r->replicas * r->ipus_per_replica;
    p.count[WIDTH] = r->ipus_per_replica;
    p.count[MICRO_BATCH] = r->model.micro_batch;
    p.count[GLOBAL_BATCH] = recipe_global_batch(r);
    p.count[SEQUENCE] = sequence_length(r, w);
    fill_shares(p.share, sim);
    properties_settle(&p);
    return p;
}

void properties_settle(struct properties *p)
{
    for (size_t i = 0; i < n_properties; i++)
        if (properties[i].kind == PROPERTY_COUNT)
            p->log2_count[i] = log2((double)p->count[i]);
        else if (properties[i].kind == PROPERTY_NAME)
            p->name_hash[i] = hash_of_name(p->name[i]);
}

bool is_same_name(const struct properties *x, const struct properties *y, size_t i)
{
    return x->name_hash[i] == y->name_hash[i];
}

/* To or from nothing at all counts as one. */
static double doublings(double x, double y)
{
    return isfinite(x) && isfinite(y) ? fabs(x - y) : x != y;
}

struct apart property_apart(const struct properties *x, const struct properties *y)
{
    struct apart apart = {0};
    for (size_t i = 0; i < N_NAMES; i++)
        apart.distance += is_same_name(x, y, i) ? 0 : properties[i].weight;
    for (size_t i = N_NAMES; i < SHARES; i++)
        apart.distance += properties[i].weight * doublings(x->log2_count[i], y->log2_count[i]);
    for (size_t i = SHARES; i < n_properties; i++)
        apart.unlike += fabs(x->share[i] - y->share[i]) / 2;
    apart.distance += SHARES_WEIGHT * 2 * apart.unlike;
    return apart;
}

bool is_same_kind(const struct properties *x, const struct properties *y)
{
    return is_same_name(x, y, FAMILY) && is_same_name(x, y, MODE);
}

const char *property_group(const struct properties *x, struct arena *a)
{
    return arena_printf(a, "%s %s %s %s", x->name[WORKLOAD], x->name[MODE], x->name[FRAMEWORK], x->name[CHIP]);
}
