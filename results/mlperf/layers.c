/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layers.c - the layers of rules that a log calls for, and the keys that these demand; see rules.h.
 */
#include "results/mlperf/rules.h"

void layer_calls_add(struct layer_calls *c, const char *key, const char *value, struct arena *a)
{
    char cut[101];
    snprintf(cut, sizeof cut, "%s", value);
    for (size_t i = 0; i < c->n; i++)
        if (text_is(c->items[i].key, key) && text_is(c->items[i].value, cut))
            return;                     /* each host of a run may log the same key */
    if (c->n == MOST_LAYER_CALLS)
        return;
    c->items[c->n].key = arena_strdup(a, key);
    c->items[c->n++].value = arena_strdup(a, cut);
}

/* The first value of the key, or NULL. */
static const char *layer_calls_value(const struct layer_calls *c, const char *key)
{
    const struct layer_call *call = FIND_TEXT(c->items, c->n, struct layer_call, key, key);
    return call ? call->value : NULL;
}

bool rule_judges_first(const struct edition *e, const char *key)
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
            if (r->actions[k].kind == ACTION_APPLY && (first || !rule_judges_first(b->edition, r->key))
                && (!r->actions[k].member || text_is(r->actions[k].member, c->items[i].value)))
                call_layer(q, &r->actions[k], c->items[i].value, b, a);
    }
}

void layer_queue_fill(struct layer_queue *out, const struct layer_calls *c, const struct rule_book *b, struct arena *a)
{
    *out = (struct layer_queue){ .n = 0 };
    call_layer(out, &(struct action){ .name = "common" }, "", b, a);
    for (size_t i = 0; i < out->n && !out->missing; i++)
        call_layers_of(out, out->layers[i], c, b, a);
    for (size_t i = 0, n = out->n; i < n && out->n < MOST_LAYERS; i++) {
        const struct rule_layer *review = rule_layer_find(b, arena_printf(a, "%s" LAYER_REVIEW, out->layers[i]->name));
        if (review)
            out->layers[out->n++] = review;
    }
}

void layer_queue_gather(struct layer_queue *q, const char *benchmark, const struct rule_book *b, struct arena *a)
{
    const struct rule_layer *l = rule_layer_find(b, arena_printf(a, "closed_%s", benchmark));
    bool gathers = false;
    for (size_t i = 0; l && i < l->n_begins; i++)
        for (size_t k = 0; k < l->begins[i]->n_actions; k++)
            gathers = gathers || l->begins[i]->actions[k].kind == ACTION_GATHER;
    for (size_t i = 0; i < q->n; i++)
        gathers = gathers && q->layers[i] != l;
    if (gathers && q->n < MOST_LAYERS)
        q->layers[q->n++] = l, q->gathers_last = true;
}

/* ---- demands: layers called for as a log with these values would ------------------------------------------- */

static void add_call(struct layer_calls *c, const char *key, const char *value)
{
    if (value) {
        c->items[c->n].key = key;
        c->items[c->n++].value = value;
    }
}

static bool later_layer_has(const struct layer_queue *q, size_t layer, const char *key)
{
    size_t at;
    for (size_t i = layer + 1; i < q->n; i++)
        if (!q->layers[i]->reviews && rule_find(q->layers[i], key, &at))
            return true;
    return false;
}

static void add_demand(struct log_demands *out, const struct rule *r)
{
    struct demand *d = &out->items[out->n++];
    *d = (struct demand){ .key = r->key, .layer = r->layer };
    struct expression left;
    for (size_t i = 0; i < r->n_checks && !d->fixed; i++)
        d->fixed = expression_asks_constant(&left, &d->value, &r->checks[i].condition) && expression_is_variable(&left, "v");
}

bool log_demands_load(struct log_demands *out, const char *round, const char *division, const char *benchmark, const char *optimizer,
                      const char *data_dir, struct arena *a, struct err *err)
{
    struct rule_library library;
    const struct rule_book *book;
    struct layer_calls calls = { .n = 0 };
    struct layer_queue q;
    struct expression left;
    struct value wanted;
    if (!rules_load(&library, data_dir, a, err) || !rules_of_round(&book, &library, round, err))
        return false;
    add_call(&calls, "submission_division", division);
    add_call(&calls, "submission_benchmark", benchmark);
    add_call(&calls, "opt_name", optimizer);
    layer_queue_fill(&q, &calls, book, a);
    *out = (struct log_demands){ .edition = book->edition, .items = ARENA_ROOM(a, struct demand, book->n_rules) };
    if (q.missing)
        return fail(err, "there are no rules '%s' in %s", q.missing, book->edition->ruleset);
    for (size_t i = 0; i < q.n; i++) {
        for (size_t k = 0; k < q.layers[i]->n_rules; k++)
            if (q.layers[i]->rules[k]->occurs == OCCURS_ONCE && !later_layer_has(&q, i, q.layers[i]->rules[k]->key))
                add_demand(out, q.layers[i]->rules[k]);
        for (size_t k = 0; k < q.layers[i]->n_ends; k++)
            for (size_t c = 0; c < q.layers[i]->ends[k]->n_checks; c++)
                if (expression_asks_constant(&left, &wanted, &q.layers[i]->ends[k]->checks[c].condition) && value_names(&wanted))
                    out->names = value_names(&wanted);
    }
    return true;
}
