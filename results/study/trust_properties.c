/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust_properties.c - the properties that make two runs alike: names, counts, and classes of work in a step.
 */
#include "results/study/trust.h"

/* Rounds a share as the table does, so that a run has distance 0 from itself. */
static double to_four_digits(double share)
{
    return round(1e4 * share) / 1e4;
}

/* Fills the shares of the step's time, by class. */
static void fill_shares(struct properties *p, const struct simulation *sim)
{
    double part_s[N_PARTS], sum[N_PART_CLASSES] = {0}, step_s = (double)sim->timeline.step_cycles / sim->machine->chip.clock_hz;
    step_breakdown(part_s, &sim->timeline);
    for (int k = 0; k < N_PARTS; k++)
        sum[part_classes[k]] += part_s[k];
    for (int k = 0; k < N_PART_CLASSES; k++)
        p->number[BY_SHARES + k] = to_four_digits(sum[k] / step_s);
    double products_s = part_s[PART_MATMUL] + part_s[PART_CONV], computed_s = sum[CLASS_COMPUTE];
    p->vector_share = computed_s > 0 ? to_four_digits(1 - products_s / computed_s) : 0;
}

static double off_amp_share(const struct simulation *sim)
{
    uint64_t all = 0, off = 0;
    for (const struct stage_plan *s = sim->plan.stages; s < sim->plan.stages + sim->plan.n_stages; s++) {
        all += s->op_cycles;
        off += s->off_amp_cycles;
    }
    return to_four_digits((double)off / (double)all);
}

struct properties properties_of(const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    const struct workload *w = recipe_workload(r);
    bool own_length = w->traits & TAKES_SEQUENCES && r->model.sequence_length;
    struct properties p = {
        .number = { [BY_IPUS] = (double)(r->replicas * r->ipus_per_replica), [BY_WIDTH] = (double)r->ipus_per_replica,
                    [BY_MICRO_BATCH] = (double)r->model.micro_batch, [BY_GLOBAL_BATCH] = (double)recipe_global_batch(r),
                    [BY_SEQUENCE] = (double)(own_length ? r->model.sequence_length : w->default_sequence_length) },
    };
    program_names_of(p.name, sim, a);
    fill_shares(&p, sim);
    p.off_amp_share = off_amp_share(sim);
    return p;
}

bool property_names_equal(const struct properties *x, const struct properties *y, size_t property)
{
    return program_names_equal(x->name[property], y->name[property]);
}

const char *properties_group(const struct properties *x, struct arena *a)
{
    return arena_printf(a, "%s %s %s %s", x->name[BY_WORKLOAD], x->name[BY_MODE], x->name[BY_FRAMEWORK], x->name[BY_CHIP]);
}
