/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - builds the plan from its parts, and prints it.
 */
#include "system-model/plan/plan_stages.h"
#include "system-model/graph/graph.h"

#include <inttypes.h>

static bool check_options(const struct plan *p, struct err *err)
{
    const struct plan_options *o = &p->options;
    const struct machine *m = p->topology->machine;
    uint64_t wanted = (uint64_t)o->n_replicas * o->ipus_per_replica;
    if (!o->n_replicas || !o->ipus_per_replica || !o->grad_accum)
        return fail(err, "parallel: replicas, ipus_per_replica and gradient_accumulation must be at least 1");
    if (wanted > m->n_ipus)
        return fail(err, "parallel: %u replicas of %u IPUs want %" PRIu64 " IPUs, %s has %" PRIu64 "; lower parallel.replicas or take a larger recipe.system",
                    o->n_replicas, o->ipus_per_replica, wanted, m->name, m->n_ipus);
    return true;
}

void plan_options_plain(struct plan_options *o)
{
    static const struct plan_options none;
    memcpy(o->checkpoints, none.checkpoints, sizeof o->checkpoints);
    memcpy(o->framework.sheets, none.framework.sheets, sizeof o->framework.sheets);
    memcpy(&o->fitted.sheet, &none.fitted.sheet, sizeof o->fitted.sheet);
    o->framework.name = o->framework.schedules = NULL;
    o->faults = NULL;
}

const struct stage_plan *stage_of(const struct plan *p, uint32_t layer_id)
{
    for (uint32_t s = 0; s < p->n_stages; s++)
        if (layer_id < end_layer(&p->stages[s]))
            return &p->stages[s];
    return &p->stages[p->n_stages - 1];
}

uint32_t ipu_layers(struct layer_range *ranges, const struct plan *p, uint32_t ipu)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        if (p->stages[s].ipu == ipu)
            ranges[n++] = (struct layer_range){ p->stages[s].compiled, p->stages[s].first_layer, p->stages[s].n_layers };
    return n;
}

uint32_t played_replicas(const struct plan *p, uint32_t n_ipus)
{
    const struct plan_options *o = &p->options;
    uint32_t in_domain = p->topology->ipus_per_domain;
    bool all = o->unfolded || o->faults || in_domain % n_ipus != 0;
    return all ? o->n_replicas : min_u32(o->n_replicas, in_domain / o->ipus_per_replica);
}

uint64_t sharing_ipus(const struct plan *p, uint64_t n_ipus)
{
    uint64_t in_use = (uint64_t)p->options.n_replicas * p->options.ipus_per_replica;
    return min_u64(n_ipus, in_use);
}

static void count_work(struct plan *p)
{
    uint64_t model = 0, hardware = 0;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        const struct stage_plan *stage = &p->stages[s];
        p->n_parameters += stage->n_parameters;
        model += stage->forward_mac + stage->backward_mac;
        hardware += stage->recompute_mac;
    }
    p->model_mac = model;
    p->hardware_mac = model + hardware;
    p->global_batch = p->graph->micro_batch * p->options.grad_accum * p->options.n_replicas;
}

/* Of a step that is too long: computing, as it comes, has the norms over replicas in it. */
static const char *longest_class(const struct plan *p, double computing, double copies, double update, double input)
{
    double norms = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        norms += ((double)p->stages[s].forward.part[PART_ALL_REDUCE] + (double)p->stages[s].backward.part[PART_ALL_REDUCE]) * p->options.grad_accum;
    const struct { const char *what; double cycles; } classes[] = {
        { "computing: lower parallel.micro_batch or gradient_accumulation, or the chip's slowdown in [faults]", computing - norms },
        { "norms over several replicas: raise the rates of the links, on the machine's sheets or in [faults]", norms },
        { "copies between stages: raise the rates of the links, on the machine's sheets or in [faults]", copies },
        { "the weight update: raise the rates of links and memory, on the machine's sheets or in [faults]", update },
        { "input from the host: raise hosts.decode_bytes_per_s, or the host's rates on the machine's sheets", input },
    };
    size_t most = 0;
    for (size_t i = 1; i < sizeof classes / sizeof *classes; i++)
        most = classes[i].cycles > classes[most].cycles ? i : most;
    return classes[most].what;
}

/* No step is longer than if everything ran one after the other; of each class of work as much. */
static bool check_length(const struct plan *p, struct err *err)
{
    double computing = 0, copies = 0, update = 0, input = (double)p->host_floor_cycles;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        double one = (double)p->stages[s].forward_cycles + (double)p->stages[s].backward_cycles;
        computing += one * p->options.grad_accum;
        input += (double)p->io_cycles[s] * p->options.grad_accum;
    }
    input += (double)p->fetch_cycles * p->options.grad_accum;
    for (uint32_t i = 0; i < p->n_runs; i++)
        copies += (double)p->runs[i].copy_cycles * p->runs[i].n_cycles;
    for (uint32_t i = 0; i < p->update.n_chains; i++)
        update += (double)p->update.chains[i].steps->n_cycles * p->update.chains[i].n_tensors;
    for (int i = 0; i < N_CALL_PARTS; i++)
        input += (double)p->call_cycles[i];
    double total = computing + copies + update + input;
    return total < (double)MOST_CYCLES || fail(err, "one step takes %.3g cycles or more, %.3g (2^53) are too many to time; most go to %s",
                                               total, (double)MOST_CYCLES, longest_class(p, computing, copies, update, input));
}

bool plan_once(struct plan *out, struct compiler *c, const struct plan_options *opt, struct arena *a, struct err *err)
{
    *out = (struct plan){ .graph = c->graph, .topology = c->topology, .options = *opt };
    if (!check_options(out, err) || !plan_place(out, c, a, err) || !plan_pipeline(out, c, a, err) || !plan_update(out, c, a, err))
        return false;
    plan_call(out);
    if (!check_length(out, err))
        return false;
    if (opt->timed_only)
        out->fits = true;
    else
        plan_memory(out, c, a);
    count_work(out);
    return true;
}

/* ---- printing ----------------------------------------------------------------------- */

static void print_stages(FILE *f, const struct plan *p)
{
    fprintf(f, "stages: %u on %u IPU%s, schedule %s, recompute %s\n", p->n_stages, p->options.ipus_per_replica, plural(p->options.ipus_per_replica),
            schedule_names[p->options.schedule], recompute_names[p->options.recompute]);
    fprintf(f, "  %-5s %-3s %-52s %12s %12s %12s %12s %12s %5s\n", "stage", "ipu", "layers", "parameters", "forward cyc",
            "backward cyc", "recompute", "stash B", "depth");
    for (uint32_t i = 0; i < p->n_stages; i++) {
        const struct stage_plan *s = &p->stages[i];
        char layers[80];
        snprintf(layers, sizeof layers, "%s .. %s", p->graph->layers[s->first_layer].name,
                 p->graph->layers[end_layer(s) - 1].name);
        fprintf(f, "  %-5u %-3u %-52s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %5u\n", i, s->ipu, layers,
                s->n_parameters, s->forward_cycles, s->backward_cycles, s->recompute_cycles, s->stash_bytes,
                s->stash_depth);
    }
}

static void print_split(FILE *f, const struct op_plan *o)
{
    const struct conv_split *s = &o->split;
    if (!s->batch)
        return;
    fprintf(f, "  b%u f%u k%u g%u i%u o%u", s->batch, s->field, s->kernel, s->conv_groups, s->in_chans, s->out_chans);
    if (s->serial_in > 1 || s->serial_out > 1)
        fprintf(f, " serial i%u o%u", s->serial_in, s->serial_out);
}

static void print_ops(FILE *f, const struct plan *p)
{
    const struct chip *chip = &p->topology->machine->chip;
    fprintf(f, "operations: one micro-batch, on the tiles of one IPU\n");
    fprintf(f, "  %-5s %-26s %-14s %-15s %10s %10s %8s %6s %6s %8s %8s %-12s split\n", "op", "layer", "kind", "pass", "compute",
            "exchange", "sync", "tiles", "peak%", "temp B", "code B", "vertex");
    for (uint32_t i = 0; i < p->graph->n_ops; i++) {
        const struct op *op = &p->graph->ops[i];
        const struct op_plan *o = stage_of(p, op->layer_id)->compiled->op_plans[i];
        uint64_t cycles = op_plan_cycles(o), rate = chip_mac_per_cycle(chip, p->graph->tensors[op->inputs[0]].type, p->options.partials);
        double peak = cycles ? 100.0 * (double)o->mac / ((double)cycles * (double)(chip->n_tiles * rate)) : 0;
        fprintf(f, "  %-5u %-26s %-14s %-15s %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %6" PRIu32 " %6.1f %8" PRIu64 " %8" PRIu64 " %-12s", i,
                p->graph->layers[op->layer_id].name, op_kind_names[op->kind], op_pass_names[op->pass], o->compute_cycles,
                o->exchange_cycles, o->sync_cycles, o->n_tiles_used, peak, o->temp_bytes_per_tile, o->code_bytes_per_tile,
                vertex_kind_names[o->vertex]);
        print_split(f, o);
        fputc('\n', f);
    }
}

static void print_memory(FILE *f, const struct plan *p)
{
    uint64_t capacity = p->topology->machine->chip.tile_memory_bytes;
    fprintf(f, "memory: bytes on the fullest tile of each IPU, of %" PRIu64 "\n  %-16s", capacity, "region");
    for (uint32_t i = 0; i < p->options.ipus_per_replica; i++)
        fprintf(f, " %9s%u", "ipu", i);
    fputc('\n', f);
    for (int r = 0; r <= N_REGIONS; r++) {
        fprintf(f, "  %-16s", r < N_REGIONS ? region_names[r] : "total");
        for (uint32_t i = 0; i < p->options.ipus_per_replica; i++)
            fprintf(f, " %10" PRIu64, r < N_REGIONS ? p->memory[i].bytes[r] : p->memory[i].total_bytes);
        fputc('\n', f);
    }
    plan_print_replanned(f, p, "  ");
    if (p->fits)
        fprintf(f, "  fits: %" PRIu64 " bytes free on the fullest tile (IPU %u)\n", capacity - p->memory[p->worst_ipu].total_bytes, p->worst_ipu);
    else
        fprintf(f, "  does not fit: %" PRIu64 " bytes too many on the fullest tile (IPU %u)\n", p->shortfall_bytes, p->worst_ipu);
}

static void print_pipeline(FILE *f, const struct plan *p)
{
    fprintf(f, "pipeline: tasks at work (F forward, B backward, by stage), cycles alike, copy cycles after each\n");
    for (uint32_t r = 0; r < p->n_runs; r++) {
        fprintf(f, "  %8u x", p->runs[r].n_cycles);
        for (uint32_t i = 0; i < p->n_tasks; i++)
            if (p->runs[r].active >> i & 1)
                fprintf(f, " %c%u", p->tasks[i].kind == TASK_FORWARD ? 'F' : 'B', p->tasks[i].stage);
        fprintf(f, "  copy %" PRIu64 "\n", p->runs[r].copy_cycles);
    }
}

static void print_head(FILE *f, const struct plan *p)
{
    if (p->graph->n_rough_ops)
        fprintf(f, "roughly: %u operations of %s stand for what is not modelled ('podbench workload' lists them)\n", p->graph->n_rough_ops,
                p->graph->name);
    fprintf(f, "plan of %s on %s: %u replica%s of %u IPU%s, micro-batch %" PRIu64 ", gradient accumulation %u, global batch %" PRIu64 "\n",
            p->graph->name, p->topology->machine->name, p->options.n_replicas, plural(p->options.n_replicas),
            p->options.ipus_per_replica, plural(p->options.ipus_per_replica), p->graph->micro_batch, p->options.grad_accum, p->global_batch);
}

void plan_print_summary(FILE *f, const struct plan *p)
{
    print_head(f, p);
    print_stages(f, p);
    print_memory(f, p);
}

void plan_print(FILE *f, const struct plan *p)
{
    plan_print_summary(f, p);
    print_pipeline(f, p);
    update_print(f, p);
    print_ops(f, p);
}
