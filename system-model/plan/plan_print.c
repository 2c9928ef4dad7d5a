/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_print.c - the plan as text: stages, memory, pipeline, weight update, operations.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

/* ---- stages and memory ------------------------------------------------------------------ */

static void print_stages(FILE *f, const struct plan *p)
{
    fprintf(f, "stages: %u on %u IPU%s, schedule %s, recompute %s\n", p->n_stages, p->request.ipus_per_replica, plural(p->request.ipus_per_replica),
            schedule_names[p->request.schedule], recompute_names[p->request.recompute]);
    fprintf(f, "  %-5s %-3s %-52s %12s %12s %12s %12s %12s %5s\n", "stage", "ipu", "layers", "parameters", "forward cyc",
            "backward cyc", "recompute", "stash B", "depth");
    for (uint32_t i = 0; i < p->n_stages; i++) {
        const struct stage_plan *s = &p->stages[i];
        char layers[80];
        snprintf(layers, sizeof layers, "%s .. %s", p->graph->layers[s->first_layer].name,
                 p->graph->layers[stage_end(s) - 1].name);
        fprintf(f, "  %-5u %-3u %-52s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %5u\n", i, s->ipu, layers,
                s->n_parameters, s->forward_cycles, s->backward_cycles, s->recompute_cycles, s->stash_bytes,
                s->stash_depth);
    }
}

static void print_memory(FILE *f, const struct plan *p)
{
    uint64_t capacity = p->topology->machine->chip.tile_memory_bytes;
    fprintf(f, "memory: bytes on the fullest tile of each IPU, of %" PRIu64 "\n  %-16s", capacity, "region");
    for (uint32_t i = 0; i < p->request.ipus_per_replica; i++)
        fprintf(f, " %9s%u", "ipu", i);
    fputc('\n', f);
    for (int r = 0; r <= N_MEMORY_CATEGORIES; r++) {
        fprintf(f, "  %-16s", r < N_MEMORY_CATEGORIES ? memory_category_names[r] : "total");
        for (uint32_t i = 0; i < p->request.ipus_per_replica; i++)
            fprintf(f, " %10" PRIu64, r < N_MEMORY_CATEGORIES ? p->memory[i].bytes[r] : p->memory[i].total_bytes);
        fputc('\n', f);
    }
    if (p->fits)
        fprintf(f, "  fits: %" PRIu64 " bytes free on the fullest tile (IPU %u)\n", capacity - p->memory[p->worst_ipu].total_bytes, p->worst_ipu);
    else
        fprintf(f, "  does not fit: %" PRIu64 " bytes too many on the fullest tile (IPU %u)\n", p->shortfall_bytes, p->worst_ipu);
}

/* ---- pipeline ---------------------------------------------------------------------------- */

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

/* ---- weight update and call -------------------------------------------------------------- */

static double to_ms(const struct plan *p, uint64_t cycles)
{
    return 1e3 * (double)cycles / p->topology->machine->chip.clock_hz;
}

static void print_call(FILE *f, const struct plan *p)
{
        fprintf(f, "call: by %s, %g steps per call; ms per step:", p->request.framework_name, p->request.program.steps_per_call);
    for (int i = 0; i < N_CALL_PARTS; i++)
        fprintf(f, " %s %.3f", call_part_names[i], to_ms(p, p->call_cycles[i]));
    fprintf(f, "; each micro-batch waits %.4f ms for its host exchange\n", to_ms(p, p->fetch_cycles));
}

void plan_print_update(FILE *f, const struct plan *p)
{
    if (p->request.training) {
        fprintf(f, "update: cycles by IPU, %s; --update lists it tensor by tensor\n",
                p->update.in_series ? "one IPU after the other" : "side by side");
        fprintf(f, "  %-4s", "ipu");
        for (int k = 0; k < N_UPDATE_KINDS; k++)
            fprintf(f, " %11s", update_kind_names[k]);
        fputc('\n', f);
        for (uint32_t i = 0; i < p->request.ipus_per_replica; i++) {
            fprintf(f, "  %-4u", i);
            for (int k = 0; k < N_UPDATE_KINDS; k++)
                fprintf(f, " %11" PRIu64, update_cycles(p, i, (enum update_kind)k));
            fputc('\n', f);
        }
    }
    print_call(f, p);
}

static void print_chain(FILE *f, const struct plan *p, const struct update_chain *c)
{
    if (c->ipu == ALL_IPUS)
        fprintf(f, "all IPUs: %s, %u x %" PRIu64 " elements, merged", c->tensor, c->n_tensors, c->n_elements);
    else
        fprintf(f, "ipu %u: %u x %" PRIu64 " elements, as %s%s", c->ipu, c->n_tensors, c->n_elements, c->tensor, c->steps->sharded ? ", sharded" : "");
    fprintf(f, ": %.4f ms each, %.3f ms in all\n", to_ms(p, c->steps->n_cycles), to_ms(p, c->steps->n_cycles * c->n_tensors));
    for (uint32_t i = 0; i < c->steps->n_ops; i++) {
        const struct update_op *op = &c->steps->ops[i];
        fprintf(f, "  %-12s %12" PRIu64 " cycles %10.4f ms %14.0f B\n", update_kind_names[op->kind], op->n_cycles, to_ms(p, op->n_cycles), op->bytes);
    }
}

void plan_print_update_tensors(FILE *f, const struct plan *p)
{
    const struct update_program *u = &p->update;
    fprintf(f, "weight update of %s on %s, by %s: %s\n", p->graph->name, p->topology->machine->name, p->request.framework_name,
            u->in_series ? "one IPU after the other" : "IPUs side by side");
    for (uint32_t i = 0; i < u->n_chains; i++)
        print_chain(f, p, &u->chains[i]);
    print_call(f, p);
}

/* ---- operations -------------------------------------------------------------------------- */

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
        const struct op_plan *o = plan_stage_of(p, op->layer_id)->compiled->op_plans[i];
        uint64_t cycles = op_plan_cycles(o), rate = chip_mac_per_cycle(chip, p->graph->tensors[op->inputs[0]].type, p->request.partials);
        double peak = cycles ? 100.0 * (double)o->mac / ((double)cycles * (double)(chip->n_tiles * rate)) : 0;
        fprintf(f, "  %-5u %-26s %-14s %-15s %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %6" PRIu32 " %6.1f %8" PRIu64 " %8" PRIu64 " %-12s", i,
                p->graph->layers[op->layer_id].name, op_kind_names[op->kind], op_pass_names[op->pass], o->compute_cycles,
                o->exchange_cycles, o->sync_cycles, o->n_tiles_used, peak, o->temp_bytes_per_tile, op_code_bytes(&o->code),
                vertex_kind_names[o->vertex]);
        print_split(f, o);
        fputc('\n', f);
    }
}

/* ---- the whole plan ---------------------------------------------------------------------- */

static void print_head(FILE *f, const struct plan *p)
{
    if (p->graph->n_rough_ops)
        fprintf(f, "roughly: %u operations of %s stand for what is not modelled ('podbench workload' lists them)\n", p->graph->n_rough_ops,
                p->graph->name);
    fprintf(f, "plan of %s on %s: %u replica%s of %u IPU%s, micro-batch %" PRIu64 ", gradient accumulation %u, global batch %" PRIu64 "\n",
            p->graph->name, p->topology->machine->name, p->request.n_replicas, plural(p->request.n_replicas),
            p->request.ipus_per_replica, plural(p->request.ipus_per_replica), p->graph->micro_batch, p->request.grad_accum, p->global_batch);
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
    plan_print_update(f, p);
    print_ops(f, p);
}
