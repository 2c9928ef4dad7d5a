/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_demands.c - see log_demands.h. Layers are called for as a log with these values would call for them.
 */
#include "results/mlperf/log_demands.h"

#include "results/mlperf/compliance.h"

static void call(struct layer_calls *c, const char *key, const char *value)
{
    if (value) {
        c->items[c->n].key = key;
        c->items[c->n++].value = value;
    }
}

static bool named_later(const struct layer_queue *q, size_t layer, const char *key)
{
    size_t at;
    for (size_t i = layer + 1; i < q->n; i++)
        if (rule_find(q->layers[i], key, &at))
            return true;
    return false;
}

static void add_demand(struct log_demands *out, const struct rule *r)
{
    struct demand *d = &out->items[out->n++];
    *d = (struct demand){ .key = r->key, .layer = r->layer };
    struct expression left;
    for (size_t i = 0; i < r->n_checks && !d->fixed; i++)
        d->fixed = expression_asks_constant(&left, &d->value, &r->checks[i]) && expression_is_variable(&left, "v");
}

bool log_demands_load(struct log_demands *out, const char *round, const char *division, const char *benchmark, const char *optimizer,
                      const char *rules_dir, struct arena *a, struct err *err)
{
    struct rule_library library;
    const struct rule_book *book;
    struct layer_calls calls = { .n = 0 };
    struct layer_queue q;
    struct expression left;
    struct value wanted;
    if (!rules_load(&library, rules_dir, a, err) || !rules_of(&book, &library, round, err))
        return false;
    call(&calls, "submission_division", division);
    call(&calls, "submission_benchmark", benchmark);
    call(&calls, "opt_name", optimizer);
    layer_queue_fill(&q, &calls, book, a);
    *out = (struct log_demands){ .edition = book->edition, .items = ARENA_ROOM(a, struct demand, library.n_rules) };
    if (q.missing)
        return fail(err, "there are no rules '%s' in %s", q.missing, book->edition->ruleset);
    for (size_t i = 0; i < q.n; i++) {
        for (size_t k = 0; k < q.layers[i]->n_rules; k++)
            if (q.layers[i]->rules[k]->occurs == OCCURS_ONCE && !named_later(&q, i, q.layers[i]->rules[k]->key))
                add_demand(out, q.layers[i]->rules[k]);
        for (size_t k = 0; k < q.layers[i]->n_ends; k++)
            for (size_t c = 0; c < q.layers[i]->ends[k]->n_checks; c++)
                if (expression_asks_constant(&left, &wanted, &q.layers[i]->ends[k]->checks[c]) && value_names(&wanted))
                    out->names = value_names(&wanted);
    }
    return true;
}
