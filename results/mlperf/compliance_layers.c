/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compliance_layers.c - which layers of rules a log calls for.
 */
#include "results/mlperf/compliance.h"

#include <string.h>

void layer_calls_add(struct layer_calls *c, const struct mllog_line *l, struct arena *a)
{
    char shown[MLLOG_SHOWN_BYTES], cut[101];
    snprintf(cut, sizeof cut, "%s", json_is_string(l->value) ? json_string_value(l->value) : mllog_show(l->value, shown));
    for (size_t i = 0; i < c->n; i++)
        if (text_is(c->items[i].key, l->key) && text_is(c->items[i].value, cut))
            return;                     /* each host of a run may log it */
    if (c->n == MOST_CALLS)
        return;
    c->items[c->n].key = arena_strdup(a, l->key);
    c->items[c->n++].value = arena_strdup(a, cut);
}

/* The first; NULL: none. */
static const char *layer_calls_value(const struct layer_calls *c, const char *key)
{
    for (size_t i = 0; i < c->n; i++)
        if (text_is(c->items[i].key, key))
            return c->items[i].value;
    return NULL;
}

bool judged_once(const struct edition *e, const char *key)
{
    return !e->repeats_submission_keys && strstr(key, "submission_");
}

static void call_layer(struct layer_queue *q, const struct action *call, const char *value, const struct rule_book *b, struct arena *a)
{
    const char *hole = strstr(call->name, "{}");
    const char *name = hole ? arena_printf(a, "%.*s%s%s", (int)(hole - call->name), call->name, value, hole + 2) : call->name;
    const struct rule_layer *found = rule_layer_find(b, name);
    for (size_t i = 0; i < q->n; i++)
        if (q->layers[i] == found)
            return;
    if (found && q->n < MOST_LAYERS)
        q->layers[q->n++] = found;
    else if (!q->missing)
        q->missing = name;
}

static void call_layers_of(struct layer_queue *q, const struct rule_layer *l, const struct layer_calls *c, const struct rule_book *b,
                           struct arena *a)
{
    size_t at;
    for (size_t i = 0; i < c->n; i++) {
        const struct rule *r = rule_find(l, c->items[i].key, &at);
        bool first = text_is(layer_calls_value(c, c->items[i].key), c->items[i].value);
        for (size_t k = 0; r && k < r->n_actions; k++)
            if (r->actions[k].kind == ACTION_APPLY && (first || !judged_once(b->edition, r->key)))
                call_layer(q, &r->actions[k], c->items[i].value, b, a);
    }
}

void layer_queue_fill(struct layer_queue *out, const struct layer_calls *c, const struct rule_book *b, struct arena *a)
{
    *out = (struct layer_queue){ .n = 0 };
    call_layer(out, &(struct action){ .name = "common" }, "", b, a);
    for (size_t i = 0; i < out->n && !out->missing; i++)
        call_layers_of(out, out->layers[i], c, b, a);
}
