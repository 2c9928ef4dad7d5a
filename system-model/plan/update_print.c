/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * update_print.c - the weight update as text: one line per IPU, or what each kind of tensor goes through; and the host's call.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

#include <inttypes.h>

uint64_t update_cycles(const struct plan *p, uint32_t ipu, enum update_kind kind)
{
    const struct update_program *u = &p->update;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < u->n_chains; i++) {
        const struct update_chain *c = &u->chains[i];
        if (c->ipu != ipu && c->ipu != ALL_IPUS)
            continue;
        for (uint32_t k = 0; k < c->steps->n_ops; k++)
            sum += c->steps->ops[k].kind == kind ? c->n_tensors * c->steps->ops[k].n_cycles : 0;
    }
    return sum;
}

static double to_ms(const struct plan *p, uint64_t cycles)
{
    return 1e3 * (double)cycles / p->topology->machine->chip.clock_hz;
}

static void print_call(FILE *f, const struct plan *p)
{
    const struct framework *fw = &p->options.framework;
    fprintf(f, "call: by %s, %g steps per call; ms per step:", fw->name, fw->steps_per_call);
    for (int i = 0; i < N_CALL_PARTS; i++)
        fprintf(f, " %s %.3f", call_part_names[i], to_ms(p, p->call_cycles[i]));
    fprintf(f, "; each micro-batch waits %.4f ms for its host exchange\n", to_ms(p, p->fetch_cycles));
}

void update_print(FILE *f, const struct plan *p)
{
    if (p->options.training) {
        fprintf(f, "update: cycles by IPU, %s; --update lists it tensor by tensor\n",
                p->update.in_series ? "one IPU after the other" : "side by side");
        fprintf(f, "  %-4s", "ipu");
        for (int k = 0; k < N_UPDATE_KINDS; k++)
            fprintf(f, " %11s", update_kind_names[k]);
        fputc('\n', f);
        for (uint32_t i = 0; i < p->options.ipus_per_replica; i++) {
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

void update_print_tensors(FILE *f, const struct plan *p)
{
    const struct update_program *u = &p->update;
    fprintf(f, "weight update of %s on %s, by %s: %s\n", p->graph->name, p->topology->machine->name, p->options.framework.name,
            u->in_series ? "one IPU after the other" : "IPUs side by side");
    for (uint32_t i = 0; i < u->n_chains; i++)
        print_chain(f, p, &u->chains[i]);
    print_call(f, p);
}
