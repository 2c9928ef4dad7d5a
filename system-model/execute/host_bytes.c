/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_bytes.c - what a step of a plan takes of the host: time, and memory, which is weights, gradients, moments and stashes of all replicas, and the
 * tensors of the task that needs most, found by going through its operations without running them.
 */
#include "system-model/execute/execute_internal.h"
#include "system-model/execute/product.h"
#include <time.h>
#include <unistd.h>

struct walk { const struct graph *g; bool *there; uint64_t now, peak; };

static void hold(struct walk *w, uint32_t id, bool there)
{
    enum tensor_role role = w->g->tensors[id].role;
    if (w->there[id] == there || role == ROLE_WEIGHT || role == ROLE_STATE)
        return;
    uint64_t bytes = tensor_elements(&w->g->tensors[id]) * sizeof(float);
    w->there[id] = there;
    w->now = there ? w->now + bytes : w->now - bytes;
    w->peak = max_u64(w->peak, w->now);
}

static uint64_t peak_of(const struct op_sequence *q, const struct id_list *before, const struct graph *g, struct arena *a)
{
    struct walk w = { g, ARENA_ARRAY(a, bool, g->n_tensors), 0, 0 };
    for (uint32_t i = 0; i < before->n; i++)
        hold(&w, before->ids[i], true);
    for (uint32_t i = 0; i < q->ops.n; i++) {
        const struct op *op = &g->ops[q->ops.ids[i]];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++)
            hold(&w, k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs], true);
        for (uint32_t k = q->freed_first[i]; k < q->freed_first[i + 1]; k++)
            hold(&w, q->freed.ids[k], false);
    }
    return w.peak;
}

static uint64_t list_bytes(const struct id_list *l, const struct graph *g)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < l->n; i++)
        n += tensor_elements(&g->tensors[l->ids[i]]) * sizeof(float);
    return n;
}

uint64_t execution_host_bytes(const struct plan *p)
{
    struct arena a = { 0 };
    const enum ahead *ahead = graph_for_later_layers(p->graph, &a);
    uint64_t kept = 0, at_work = 0, n_weights = 0, weight_arrays = 2 + p->request.optimizer.n_moments;
    for (uint32_t s = 0; s < p->n_stages; s++) {
        struct stage_program program;
        const struct stage_layers layers = plan_stage_layers(p, s);
        stage_program_make(&program, p->graph, &layers, ahead, &a);
        kept += list_bytes(&program.kept, p->graph) * p->stages[s].stash_depth;
        n_weights += p->stages[s].n_parameters + p->stages[s].n_copied;
        for (int k = 0; k < 2; k++)
            at_work = max_u64(at_work, peak_of(&program.pass[k], k == TASK_BACKWARD ? &program.kept : &program.inputs, p->graph, &a));
    }
    arena_free(&a);
    return (kept + at_work + n_weights * weight_arrays * sizeof(float)) * p->request.n_replicas;
}

bool execution_fits_host(const struct plan *p, struct err *err)
{
    double wanted = (double)execution_host_bytes(p), most = 0.9 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return wanted < most || fail(err, "%s: executing it takes %.3g GB of host memory, and the limit is %.3g GB, 90 %% of it; lower parallel.replicas, "
                                      "parallel.micro_batch or parallel.gradient_accumulation (which a pipeline needs at 2 x stages - 1 or more)", p->graph->name, wanted / 1e9, most / 1e9);
}

static double clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void multiply_squares(real *x, uint64_t side, const struct product_way *way)
{
    uint64_t n = side * side;
    product_add((struct matrix){ x, side, false }, (struct matrix){ x + n, side, false }, (struct matrix){ x + 2 * n, side, false }, side, side, side, way);
}

/* The rate of a square product, computed as the execution computes products. A first product is not timed, because the library initialises itself in
 * it. */
static double measured_mac_per_s(const struct execution_options *o)
{
    enum { SIDE = 256 };
    static const double least_s = 0.02;
    struct arena a = { 0 };
    real *x = arena_alloc(&a, 3 * SIDE * SIDE * sizeof *x);
    const struct product_way way = { o->n_threads, o->precision.by_type ? AMP_UNIT_BYTES / 2 : 0, o->precision.partials == PARTIALS_FP16 };
    multiply_squares(x, SIDE, &way);
    double started_s = clock_s(), n = 0, taken_s = 0;
    for (; taken_s < least_s; taken_s = clock_s() - started_s, n++)
        multiply_squares(x, SIDE, &way);
    arena_free(&a);
    return n * SIDE * SIDE * SIDE / taken_s;
}

double execution_host_seconds(const struct plan *p, const struct execution_options *o)
{
    return (double)p->hardware_mac * p->request.grad_accum * p->request.n_replicas / measured_mac_per_s(o);
}
