/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link_costs.c - what collectives and copies cost on the links of a compiler's machine, remembered by what they are.
 *
 * A collective is asked for by the pattern of its ranks, which are found, and routed, once.
 */
#include "system-model/compiler/compile.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool compile_collective(struct collective_cost *out, struct compiler *c, const struct collective_question *q, struct err *err)
{
    const struct collective_cost *known = hash_table_find(&c->collectives, q, sizeof *q);
    if (known) {
        *out = *known;
        return true;
    }
    struct arena scratch = {0};
    struct collective_request req = {
        .kind = (enum collective_kind)q->kind, .method = (enum collective_method)q->method, .bytes = q->bytes, .unfolded = q->unfolded,
        .n_in_use = q->n_in_use, .pattern = q->ranks, .n_ranks = q->ranks.n_ranks, .n_groups = q->ranks.n_ipus * q->ranks.n_starts,
        .ways = &c->ways,
    };
    bool good = collective_run(out, c->topology, &req, &scratch, err);
    arena_free(&scratch);
    if (good)
        *(struct collective_cost *)hash_table_add(&c->collectives, q, sizeof *q, sizeof *out, c->arena) = *out;
    return good;
}

/* ---- copies ------------------------------------------------------------------------------------- */

static bool run_flows(struct flows_cost *out, const struct flow *flows, size_t n, uint32_t n_replicas, uint32_t width, const struct topology *t,
                      struct err *err)
{
    struct arena scratch = {0};
    struct flow *all = ARENA_ARRAY(&scratch, struct flow, n * n_replicas);
    struct link_loads loads = link_loads_new(&scratch);
    *out = (struct flows_cost){0};
    for (size_t i = 0; i < n * n_replicas; i++) {
        uint32_t offset = (uint32_t)(i / n) * width;
        const struct flow *f = &flows[i % n];
        all[i] = (struct flow){ f->from + offset, f->to + offset, f->bytes };
    }
    bool good = topology_flows(&out->time_s, t, all, n * n_replicas, &loads, &scratch, err);
    for (uint32_t i = 0; good && i < loads.n; i++) {
        double *busiest = &out->busiest_bytes[topology_link(t, loads.items[i].link).kind];
        *busiest = fmax(*busiest, loads.items[i].bytes);
    }
    arena_free(&scratch);
    return good;
}

/* The flows themselves, and after them how many replicas of which width. */
enum { MOST_FLOWS = 2 * MAX_STAGES };
_Static_assert(sizeof(struct flow) == 2 * sizeof(uint32_t) + sizeof(double), "flows have no padding: they are compared as bytes");

bool compile_flows(struct flows_cost *out, struct compiler *c, const struct flow *flows, size_t n, uint32_t n_replicas, uint32_t width,
                   struct err *err)
{
    struct flow question[MOST_FLOWS + 1];
    assert(n <= MOST_FLOWS);
    memcpy(question, flows, n * sizeof *flows);
    question[n] = (struct flow){ .from = n_replicas, .to = width };
    size_t n_bytes = (n + 1) * sizeof *question;
    const struct flows_cost *known = hash_table_find(&c->flows, question, n_bytes);
    if (known) {
        *out = *known;
        return true;
    }
    if (!run_flows(out, flows, n, n_replicas, width, c->topology, err))
        return false;
    *(struct flows_cost *)hash_table_add(&c->flows, question, n_bytes, sizeof *out, c->arena) = *out;
    return true;
}
