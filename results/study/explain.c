/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.c - what bounds a run, and the way from the ideal to the predicted step.
 *
 * Bound: the IPUs of a replica wait for the slowest of them, so the IPU that waits least shows where the time goes. A model that does not fit
 * is bound by memory, whatever its time. A step that is as long as the arrival of its input is bound by the host. A step that waits for a slow
 * chip is bound by that chip.
 * Waterfall: it begins with the model's multiply-accumulates on all IPUs at their full rate. It then adds
 * recomputation at that rate, the further time of matmuls and convolutions, and everything else by class.
 */
#include "results/study/explain.h"
#include "system-model/graph/graph.h"

/* ---- the bound -------------------------------------------------------------------------- */

/* The cycles of a class on an IPU. Time lost to a slow chip does not count as waiting. */
static uint64_t cycles_on(const struct timeline_row *row, enum part_class class)
{
    return cycles_of_class(&row->spent, class) - (class == CLASS_WAITING ? row->slow_cycles : 0);
}

static void find_ipus(struct bound *b, const struct timeline *t, uint32_t width)
{
    uint64_t least = UINT64_MAX, most = 0;
    uint32_t busiest_row = 0;
    for (uint32_t r = 0; r < t->n_rows; r++) {
        uint64_t waiting = cycles_on(&t->rows[r], CLASS_WAITING);
        if (waiting < least) {
            least = waiting;
            busiest_row = r;
        }
        if (waiting > most) {
            most = waiting;
            b->idlest_ipu = t->rows[r].ipu;
        }
    }
    const struct timeline_row *row = &t->rows[busiest_row];
    b->ipu = row->ipu;
    b->ipu_of_machine = row->replica * width + row->ipu;
    b->least_waiting_share = (double)least / (double)t->step_cycles;
    b->most_waiting_share = (double)most / (double)t->step_cycles;
    for (int c = 0; c < N_PART_CLASSES; c++)
        if (cycles_on(row, (enum part_class)c) > cycles_on(row, b->class))
            b->class = (enum part_class)c;
    uint64_t most_cycles = cycles_on(row, b->class);
    b->slow_chip = row->slow_cycles > most_cycles;
    b->class_share = (double)max_u64(most_cycles, row->slow_cycles) / (double)t->step_cycles;
}

/* Finds the rate of the slowest link of each kind; links that are cut do not count. */
static void slowest_links(double *bytes_per_s, const struct topology *t)
{
    for (int k = 0; k < N_LINK_KINDS; k++)
        bytes_per_s[k] = HUGE_VAL;
    for (uint32_t i = 0; i < t->n_links; i++) {
        struct link l = topology_link(t, i);
        if (l.bytes_per_s > 0)
            bytes_per_s[l.kind] = fmin(bytes_per_s[l.kind], l.bytes_per_s);
    }
}

/* The kind of link that needs most time for the part's traffic; NULL if the part sends nothing. */
static const char *busiest_link(const struct plan *p, enum part part)
{
    double bytes[N_LINK_KINDS] = {0}, bytes_per_s[N_LINK_KINDS];
    int busiest = 0;
    slowest_links(bytes_per_s, p->topology);
    for (int k = 0; k < N_LINK_KINDS; k++) {
        for (uint32_t i = 0; part != PART_STAGE_COPY && i < p->update.n_chains; i++)
            for (uint32_t o = 0; o < p->update.chains[i].steps->n_ops; o++)
                bytes[k] += p->update.chains[i].n_tensors * p->update.chains[i].steps->ops[o].busiest_bytes[k];
        for (uint32_t r = 0; part == PART_STAGE_COPY && r < p->n_runs; r++)
            for (uint32_t slot = 0; slot < p->n_slots; slot++)
                bytes[k] += p->runs[r].copies[slot].busiest_bytes[k] * p->runs[r].n_cycles;
    }
    for (int k = 1; k < N_LINK_KINDS; k++)
        if (bytes[k] / bytes_per_s[k] > bytes[busiest] / bytes_per_s[busiest])
            busiest = k;
    return bytes[busiest] > 0 ? link_kind_names[busiest] : NULL;
}

void bound_find(struct bound *out, const struct simulation *sim, const struct cost *tree)
{
    const struct plan *p = &sim->plan;
    *out = (struct bound){ .memory = !p->fits, .host_input = sim->timeline.step_cycles == p->host_floor_cycles };
    find_ipus(out, &sim->timeline, p->request.ipus_per_replica);
    if (out->host_input)
        out->class = CLASS_HOST;
    else if (out->slow_chip)
        return;
    for (size_t i = 0; i < tree->n_children && !out->part; i++)
        if (part_classes[tree->children[i].part] == out->class)
            out->part = &tree->children[i];
    if (out->part && out->part->n_children)
        out->phase = &out->part->children[0];
    if (out->phase && out->phase->n_children)
        out->operation = &out->phase->children[0];
    if (out->class == CLASS_LINKS && out->part)
        out->link = busiest_link(p, out->part->part);
}

/* ---- the waterfall ------------------------------------------------------------------------ */

static void fall(struct waterfall *w, const char *name, uint64_t to)
{
    uint64_t from = w->n ? w->items[w->n - 1].to_ipu_cycles : 0;
    if (to != from)
        w->items[w->n++] = (struct waterfall_item){ name, from, to };
}

/* The full rate of the fastest number format in which a product is computed. */
static uint64_t full_rate(const struct plan *p)
{
    const struct chip *c = &p->topology->machine->chip;
    uint64_t most = chip_mac_per_cycle(c, TYPE_FP32, p->request.partials);
    for (size_t i = 0; i < p->graph->n_ops; i++)
        if (op_mac(p->graph, &p->graph->ops[i]))
            most = max_u64(most, chip_mac_per_cycle(c, p->graph->tensors[p->graph->ops[i].inputs[0]].type, p->request.partials));
    return most;
}

/* Cycles, summed over IPUs, of `mac` multiply-accumulates per micro-batch at the full rate, for all micro-batches and replicas. */
static uint64_t at_full_rate(const struct plan *p, uint64_t mac)
{
    double rate = (double)full_rate(p) * (double)p->topology->machine->chip.n_tiles;
    return (uint64_t)((double)mac * p->request.grad_accum * p->request.n_replicas / rate);
}

static void sum_rows(struct cycles *sum, bool *has_mac, const struct timeline *t)
{
    const struct graph *g = t->plan->graph;
    for (uint32_t r = 0; r < t->n_rows; r++)
        cycles_add(sum, &t->rows[r].spent, t->rows[r].n_alike);
    for (size_t i = 0; i < g->n_ops; i++)
        if (op_mac(g, &g->ops[i]))
            has_mac[op_part(&g->ops[i])] = true;
}

void waterfall_build(struct waterfall *out, const struct timeline *t)
{
    struct cycles sum = {0};
    bool has_mac[N_PARTS] = {0};
    uint64_t in_mac = 0, at;
    sum_rows(&sum, has_mac, t);
    for (int k = 0; k < N_PARTS; k++)
        in_mac += has_mac[k] ? sum.part[k] : 0;
    *out = (struct waterfall){ .n = 0 };
    fall(out, "ideal: the model's arithmetic at the chips' full rate", at_full_rate(t->plan, t->plan->model_mac));
    fall(out, "recomputation, at the full rate", at_full_rate(t->plan, t->plan->hardware_mac));
    fall(out, "matmuls and convolutions below the full rate", at = in_mac);
    for (int k = 0; k < N_PARTS; k++)
        at += part_classes[k] == CLASS_COMPUTE && !has_mac[k] ? sum.part[k] : 0;
    fall(out, "other computing", at);
    for (int c = CLASS_COMPUTE + 1; c < N_PART_CLASSES; c++)
        fall(out, part_class_names[c], at += cycles_of_class(&sum, (enum part_class)c));
    out->items[out->n++] = (struct waterfall_item){ "predicted", 0, at };
}

/* ---- the whole ------------------------------------------------------------------------------ */

size_t part_inputs(const struct move **out, size_t room, const struct explanation *e, enum part part)
{
    size_t n = 0;
    double had = e->result->breakdown_s[part];
    for (size_t i = 0; i < e->moves.n; i++) {
        const struct move *m = &e->moves.items[i];
        if (m->refused || m->input->of_recipe || fabs(m->breakdown_s[part] - had) < 0.005 * had)
            continue;
        size_t at = n < room ? n++ : room;
        while (at > 0 && fabs(out[at - 1]->breakdown_s[part] - had) < fabs(m->breakdown_s[part] - had)) {
            if (at < room)
                out[at] = out[at - 1];
            at--;
        }
        if (at < room)
            out[at] = m;
    }
    return n;
}

void explain(struct explanation *out, const struct simulation *sim, const struct result *result, const struct simulation_request *q, struct arena *a)
{
    *out = (struct explanation){ .sim = sim, .result = result };
    cost_tree_build(&out->tree, &sim->timeline, a);
    bound_find(&out->bound, sim, &out->tree);
    waterfall_build(&out->waterfall, &sim->timeline);
    inputs_list(&out->inputs, sim, a);
    moves_try(&out->moves, &out->inputs, result, q, a);
}
