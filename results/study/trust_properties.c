/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_properties.c - what makes two runs alike: names, counts, and the classes of work that a step is spent on.
 */
#include "results/study/trust.h"
#include "system-model/graph/graph.h"

#include <ctype.h>
#include <strings.h>

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

static double off_amp_share(const struct simulation *sim)
{
    uint64_t all = 0, off = 0;
    for (const struct stage_plan *s = sim->plan.stages; s < sim->plan.stages + sim->plan.n_stages; s++) {
        all += s->op_cycles;
        off += s->off_amp_cycles;
    }
    return round(1e4 * (double)off / (double)all) / 1e4;
}

/* A file has no family: another file of the same operations in the same order has the same name. */
static const char *family_of(const struct simulation *sim, const struct workload *w, struct arena *a)
{
    uint32_t kinds = 0;
    if (!sim->recipe.model.file)
        return w->family;
    for (size_t i = 0; i < sim->graph->n_ops; i++)
        kinds = kinds * 31 + (uint32_t)sim->graph->ops[i].kind;
    return arena_printf(a, "%s %08" PRIx32, w->family, kinds);
}

struct properties properties_of(const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    const struct workload *w = recipe_workload(r);
    bool own_length = w->traits & TAKES_SEQUENCES && r->model.sequence_length;
    struct properties p = {
        .name = { family_of(sim, w, a), r->mode == MODE_TRAIN ? "train" : "infer", arena_strdup(a, r->workload), arena_strdup(a, sim->machine->chip_name),
                  first_word(r->framework, a), float_type_names[r->model.compute], r->synthetic_data ? "on the chip" : r->io_tiles ? "overlapped" : "in turn" },
        .number = { [BY_IPUS] = (double)(r->replicas * r->ipus_per_replica), [BY_WIDTH] = (double)r->ipus_per_replica,
                    [BY_MICRO_BATCH] = (double)r->model.micro_batch, [BY_GLOBAL_BATCH] = (double)recipe_global_batch(r),
                    [BY_SEQUENCE] = (double)(own_length ? r->model.sequence_length : w->default_sequence_length) },
    };
    fill_shares(p.number + BY_SHARES, sim);
    p.off_amp_share = off_amp_share(sim);
    return p;
}

/* Upper and lower case are one name, as they are for sheets of frameworks. */
bool property_names_equal(const struct properties *x, const struct properties *y, size_t property)
{
    return strcasecmp(x->name[property], y->name[property]) == 0;
}

const char *properties_group(const struct properties *x, struct arena *a)
{
    return arena_printf(a, "%s %s %s %s", x->name[BY_WORKLOAD], x->name[BY_MODE], x->name[BY_FRAMEWORK], x->name[BY_CHIP]);
}
