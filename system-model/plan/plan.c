/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - builds a plan step by step, and refuses what cannot be planned.
 */
#include "system-model/plan/plan.h"
#include "system-model/graph/graph.h"

#include <inttypes.h>

static bool check_options(const struct plan *p, struct err *err)
{
    const struct plan_request *o = &p->request;
    const struct machine *m = p->topology->machine;
    uint64_t wanted = (uint64_t)o->n_replicas * o->ipus_per_replica;
    if (!o->n_replicas || !o->ipus_per_replica || !o->grad_accum)
        return fail(err, "parallel: replicas, ipus_per_replica and gradient_accumulation must be at least 1");
    if (wanted > m->n_ipus)
        return fail(err, "parallel: %u replicas of %u IPUs want %" PRIu64 " IPUs, %s has %" PRIu64 "; lower parallel.replicas or take a larger recipe.system",
                    o->n_replicas, o->ipus_per_replica, wanted, m->name, m->n_ipus);
    return true;
}

MEMO_INPUT(energy_input, struct owned chains; uint32_t n_chains, ipus_per_replica;);

/* Each step of the update reads or writes its tensors once in memory; each step of a collective sends them once over a link. */
static const void *sum_update_energy(void *world, const void *input, struct err *err)
{
    const struct energy_input *q = input;
    struct compiler *compiler = world;
    const struct chip *chip = compiler->chip;
    double running_cycle_j = chip_running_cycle_j(chip), memory_byte_j = chip_memory_byte_j(chip);
    struct energy *e = ARENA_NEW(compiler->plans.arena, struct energy);
    (void)err;
    for (const struct update_chain *chains = q->chains.at, *c = chains; c < chains + q->n_chains; c++) {
        double n = (double)c->n_tensors * (c->ipu == ALL_IPUS ? q->ipus_per_replica : 1);
        for (uint32_t k = 0; k < c->steps->n_ops; k++) {
            const struct update_op *op = &c->steps->ops[k];
            bool links = op->cycles.part[PART_ALL_REDUCE] > 0;
            if (op->on_tiles)
                e->j[ENERGY_RUNNING] += n * (double)op->n_cycles * (double)chip->n_tiles * running_cycle_j;
            e->j[links ? ENERGY_LINKS : ENERGY_VECTOR] += n * op->bytes * (links ? chip->link_byte_j : memory_byte_j);
        }
    }
    return e;
}

/* Activations cross a link to the next stage, and their gradients come back. */
static struct energy copies_energy(const struct plan *p)
{
    double bytes = 0;
    for (uint32_t s = 0; s + 1 < p->n_stages; s++)
        bytes += (double)p->stages[s].output_bytes * (p->request.training ? 2 : 1);
    return (struct energy){ .j[ENERGY_LINKS] = bytes * p->topology->machine->chip.link_byte_j };
}

static void count_energy(struct plan *p, struct compiler *c)
{
    const struct energy_input q = { { p->update.chains }, p->update.n_chains, p->request.ipus_per_replica };
    p->energy = *(const struct energy *)memo_get(&c->plans, sum_update_energy, &q, sizeof q, NULL).at;
    struct energy copies = copies_energy(p);
    energy_add(&p->energy, &copies, p->request.grad_accum);
    for (uint32_t s = 0; s < p->n_stages; s++)
        energy_add(&p->energy, &p->stages[s].energy, p->request.grad_accum);
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
    p->global_batch = p->graph->micro_batch * p->request.grad_accum * plan_data_replicas(&p->request);
}

/* Cycles of one part of the step, summed over the tasks of all micro-batches. */
static double part_of_tasks(const struct plan *p, enum part part)
{
    double cycles = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        cycles += (double)(p->stages[s].forward.part[part] + p->stages[s].backward.part[part]) * p->request.grad_accum;
    return cycles;
}

/* The name of the work that takes most of a step that is too long. `computing` includes exchanges inside a stage. */
static const char *longest_class(const struct plan *p, double computing, double copies, double update, double input)
{
    double norms = part_of_tasks(p, PART_ALL_REDUCE), activations = part_of_tasks(p, PART_ACTIVATIONS);
    const struct { const char *what; double cycles; } classes[] = {
        { "computing: lower parallel.micro_batch or gradient_accumulation, or the chip's slowdown in [faults]", computing - norms - activations },
        { "norms over several replicas: raise the rates of the links, on the machine's sheets or in [faults]", norms },
        { "sums of activations over IPUs: raise the rates of the links, on the machine's sheets or in [faults]", activations },
        { "copies between stages: raise the rates of the links, on the machine's sheets or in [faults]", copies },
        { "the weight update: raise the rates of links and memory, on the machine's sheets or in [faults]", update },
        { "input from the host: raise hosts.decode_bytes_per_s, or the host's rates on the machine's sheets", input },
    };
    size_t most = 0;
    for (size_t i = 1; i < sizeof classes / sizeof *classes; i++)
        most = classes[i].cycles > classes[most].cycles ? i : most;
    return classes[most].what;
}

/* The largest tensor that a stream carries for a micro-batch: an input, or in inference a result, which no operation reads. */
static const struct tensor *largest_streamed(const struct plan *p, struct arena *a)
{
    const struct graph *g = p->graph;
    const struct plan_request *o = &p->request;
    bool returns = !o->training && !o->evaluation && o->program.returns_results;
    bool *is_read = ARENA_ARRAY(a, bool, g->n_tensors), *is_made = ARENA_ARRAY(a, bool, g->n_tensors);
    const struct tensor *most = NULL;
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            is_read[g->ops[i].inputs[k]] = true;
        for (uint32_t k = 0; k < g->ops[i].n_outputs; k++)
            is_made[g->ops[i].outputs[k]] = true;
    }
    for (uint32_t t = 0; t < g->n_tensors; t++) {
        bool streamed = g->tensors[t].role == ROLE_INPUT || (returns && is_made[t] && !is_read[t]);
        if (streamed && (!most || tensor_bytes(&g->tensors[t]) > tensor_bytes(most)))
            most = &g->tensors[t];
    }
    return most;
}

static bool check_streams(const struct plan *p, struct arena *a, struct err *err)
{
    double limit = p->request.program.stream_buffer_bytes, most_bytes = 0;
    for (uint32_t s = 0; s < p->n_stages; s++)
        most_bytes = fmax(most_bytes, fmax((double)plan_port_bytes(p, s), (double)plan_result_bytes(p, s)));
    const struct tensor *largest = limit > 0 && most_bytes > limit ? largest_streamed(p, a) : NULL;
    if (!largest || (double)tensor_bytes(largest) <= limit)
        return true;
    return fail(err, "parallel.micro_batch: a micro-batch of %.60s has %.7g MB, but a stream to or from the host may have %.7g MB at most (framework.stream_buffer_bytes); "
                     "lower parallel.micro_batch, or return less", largest->name, 1e-6 * (double)tensor_bytes(largest), 1e-6 * limit);
}

/* An upper bound for the step: everything runs one after the other. */
static bool check_length(const struct plan *p, struct err *err)
{
    double computing = 0, copies = 0, update = 0, input = (double)p->host_floor_cycles;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        double one = (double)p->stages[s].forward_cycles + (double)p->stages[s].backward_cycles;
        computing += one * p->request.grad_accum;
        input += (double)(p->io_cycles[s] + p->result_cycles[s]) * p->request.grad_accum;
    }
    input += (double)p->fetch_cycles * p->request.grad_accum;
    for (uint32_t i = 0; i < p->n_runs; i++)
        computing += (double)p->runs[i].load_cycles;
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

bool plan_time(struct plan *out, struct compiler *c, const struct plan_request *request, struct arena *a, struct err *err)
{
    if (c->memo.is_off)
        compiler_forget(c);
    *out = (struct plan){ .graph = c->graph, .topology = c->topology, .request = *request, .input_numbers = c->input_numbers };
    if (!check_options(out, err) || !plan_place(out, c, a, err) || !check_streams(out, a, err) || !plan_phases(out, c, err) || !plan_pipeline(out, c, a, err) || !plan_update(out, c, err))
        return false;
    plan_off_chip(out);
    if (!plan_check_streaming(out, err))
        return false;
    plan_call(out);
    return check_length(out, err);
}

bool plan_build(struct plan *out, struct compiler *c, const struct plan_request *request, struct arena *a, struct err *err)
{
    if (!plan_time(out, c, request, a, err))
        return false;
    if (request->detail.timed_only)
        out->fits = true;
    else
        plan_memory(out, c);
    count_work(out);
    count_energy(out, c);
    return true;
}
