/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage_store.c - the store of a stage: the tensors that it holds, and their bytes by category.
 */
#include "system-model/execute/execute_internal.h"

const char *const live_category_names[N_LIVE_CATEGORIES] = {
    [LIVE_WEIGHTS] = "weights", [LIVE_ACCUMULATORS] = "accumulators", [LIVE_STATE] = "optimizer state", [LIVE_STASH] = "stash",
    [LIVE_KEPT_INPUTS] = "kept inputs", [LIVE_INPUTS] = "inputs", [LIVE_HANDED_OVER] = "handed over", [LIVE_ACTIVATIONS] = "activations",
};

void live_add(struct live_bytes *l, enum live_category c, uint64_t bytes)
{
    l->now[c] += bytes;
    l->peak[c] = max_u64(l->peak[c], l->now[c]);
}

static uint64_t stored_bytes(const struct stage_store *s, uint32_t id) { return tensor_bytes(&s->g->tensors[id]); }

static enum live_category category_of(const struct stage_store *s, uint32_t id)
{
    return s->g->tensors[id].role == ROLE_INPUT ? LIVE_INPUTS : LIVE_ACTIVATIONS;
}

float *elements_new(uint64_t n)
{
    float *x = calloc(n, sizeof *x);
    if (!x)
        out_of_memory(n * sizeof *x);
    return x;
}

void store_make(struct stage_store *s, uint32_t id)
{
    struct tensor_value *v = &s->values[id];
    if (v->x)
        return;
    *v = (struct tensor_value){ elements_new(tensor_elements(&s->g->tensors[id])), tensor_elements(&s->g->tensors[id]) };
    live_add(&s->live, category_of(s, id), stored_bytes(s, id));
}

void store_drop(struct stage_store *s, uint32_t id)
{
    if (!s->values[id].x)
        return;
    free(s->values[id].x);
    s->values[id] = (struct tensor_value){ 0 };
    s->live.now[category_of(s, id)] -= stored_bytes(s, id);
}

void store_clear(struct stage_store *s)
{
    for (uint32_t i = 0; i < s->g->n_tensors; i++)
        if (s->g->tensors[i].role != ROLE_WEIGHT && s->g->tensors[i].role != ROLE_STATE)
            store_drop(s, i);
}

struct packet store_take(struct stage_store *s, const struct id_list *list, uint64_t micro_batch)
{
    struct packet p = { micro_batch, list, calloc(list->n + 1, sizeof *p.x) };
    if (!p.x)
        out_of_memory(list->n * sizeof *p.x);
    for (uint32_t i = 0; i < list->n; i++) {
        struct tensor_value *v = &s->values[list->ids[i]];
        p.x[i] = v->x;
        s->live.now[category_of(s, list->ids[i])] -= v->x ? stored_bytes(s, list->ids[i]) : 0;
        *v = (struct tensor_value){ 0 };
    }
    return p;
}

void store_put(struct stage_store *s, struct packet *p)
{
    for (uint32_t i = 0; i < p->list->n; i++) {
        uint32_t id = p->list->ids[i];
        if (!p->x[i])
            continue;
        store_drop(s, id);
        s->values[id] = (struct tensor_value){ p->x[i], tensor_elements(&s->g->tensors[id]) };
        live_add(&s->live, category_of(s, id), stored_bytes(s, id));
        p->x[i] = NULL;
    }
    packet_free(p);
}

uint64_t packet_bytes(const struct packet *p, const struct graph *g)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->list->n; i++)
        n += p->x[i] ? tensor_bytes(&g->tensors[p->list->ids[i]]) : 0;
    return n;
}

void packet_free(struct packet *p)
{
    for (uint32_t i = 0; p->list && i < p->list->n; i++)
        free(p->x[i]);
    free(p->x);
    *p = (struct packet){ 0 };
}
