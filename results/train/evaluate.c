/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * evaluate.c - the quality of a model, from its forward pass on data that it was not trained on.
 *
 * A transducer is decoded greedily (Graves 2012, arXiv 1211.3711): at each step of time the best symbol is taken. A label is kept, and the
 * predictor reads it from then on; a blank moves on to the next step. Scores do not depend on later labels, so the joint network is computed
 * for the labels found so far, and again after each label. The number of wrong words is that of substitutions, insertions and deletions
 * (Levenshtein), over the words spoken.
 */
#include "results/train/train.h"

struct evaluation {
    const struct execution *x;
    const struct plan *p;
    const struct graph *g;
    const struct dataset *data;
    struct tensor_value *values;        /* the values of each tensor */
    uint64_t first;                     /* the first item of the micro-batch */
    uint64_t *items;
    struct op_context context;
    struct arena arena;
};

static const struct op *first_loss(const struct graph *g)
{
    for (size_t i = 0; i < g->n_forward_ops; i++)
        if (op_is_loss(&g->ops[i]))
            return &g->ops[i];
    return NULL;
}

struct quality quality_of(const struct graph *g)
{
    const struct op *loss = first_loss(g);
    return loss && loss->kind == OP_TRANSDUCER_LOSS ? (struct quality){ "word errors", true } : (struct quality){ "accuracy", false };
}

/* ---- the forward pass ------------------------------------------------------------------------------ */

static void make_values(struct evaluation *e)
{
    e->values = ARENA_ARRAY(&e->arena, struct tensor_value, e->g->n_tensors);
    e->items = ARENA_ARRAY(&e->arena, uint64_t, e->g->micro_batch);
    for (uint32_t i = 0; i < e->g->n_tensors; i++) {
        const struct tensor *t = &e->g->tensors[i];
        if (t->role == ROLE_GRADIENT || t->role == ROLE_WEIGHT_GRADIENT)
            continue;
        uint64_t n = tensor_elements(t);
        bool is_weight = t->role == ROLE_WEIGHT;
        e->values[i] = (struct tensor_value){ is_weight ? execution_weight(e->x, 0, plan_stage_of(e->p, t->layer_id)->ipu, i) : ARENA_ARRAY(&e->arena, float, n), n };
    }
}

static void fill_inputs(struct evaluation *e)
{
    for (uint64_t b = 0; b < e->g->micro_batch; b++)
        e->items[b] = e->first + b;
    for (uint32_t i = 0; i < e->g->n_tensors; i++)
        if (e->g->tensors[i].role == ROLE_INPUT || e->g->tensors[i].role == ROLE_STATE)
            dataset_fill(e->data, e->values[i].x, i, DATA_EVAL, e->items, 0);
}

static bool run(struct evaluation *e, uint32_t op_id, struct err *err)
{
    const struct op *op = &e->g->ops[op_id];
    if (op->kind != OP_DROPOUT)
        return op_execute(e->g, op_id, e->values, &e->context, err);
    memcpy(e->values[op->outputs[0]].x, e->values[op->inputs[0]].x, e->values[op->inputs[0]].n_elements * sizeof(float));
    return true;
}

/* ---- labels found --------------------------------------------------------------------------------------- */

uint64_t training_best_class(const float *scores, uint64_t n)
{
    uint64_t best = 0;
    for (uint64_t k = 1; k < n; k++)
        best = scores[k] > scores[best] ? k : best;
    return best;
}

struct answer_counts { double wrong, all; };

static void count_classes(struct answer_counts *c, const struct evaluation *e, const struct op *loss)
{
    const float *scores = e->values[loss->inputs[0]].x, *labels = e->values[loss->inputs[1]].x;
    uint64_t n = e->values[loss->inputs[1]].n_elements, classes = e->values[loss->inputs[0]].n_elements / n;
    for (uint64_t i = 0; i < n; i++)
        if (labels[i] >= 0) {
            c->all++;
            c->wrong += training_best_class(scores + i * classes, classes) != (uint64_t)labels[i];
        }
}

/* ---- transducers ---------------------------------------------------------------------------------------- */

uint64_t edit_distance(const float *a, uint64_t n_a, const float *b, uint64_t n_b)
{
    uint64_t row[MOST_LABELS + 1];
    for (uint64_t k = 0; k <= n_b; k++)
        row[k] = k;
    for (uint64_t i = 1; i <= n_a; i++) {
        uint64_t corner = row[0];
        row[0] = i;
        for (uint64_t k = 1; k <= n_b; k++) {
            uint64_t above = row[k];
            row[k] = min_u64(min_u64(above, row[k - 1]) + 1, corner + (a[i - 1] != b[k - 1]));
            corner = above;
        }
    }
    return row[n_b];
}

/* Marks the tensors that depend on an input, such as the labels read so far. */
static void mark_after(bool *after, const struct graph *g, uint32_t input)
{
    after[input] = true;
    for (size_t i = 0; i < g->n_forward_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            for (uint32_t m = 0; m < g->ops[i].n_outputs && after[g->ops[i].inputs[k]]; m++)
                after[g->ops[i].outputs[m]] = true;
}

bool decode_on(struct decoded *d, const float *scores, uint64_t steps, uint64_t u, uint64_t classes)
{
    for (; d->t < steps; d->t++) {
        uint64_t best = training_best_class(scores + (d->t * (u + 1) + d->n) * classes, classes);
        if (best + 1 < classes && d->n < u) {
            d->labels[d->n++] = (float)best;
            return true;
        }
    }
    return false;
}

static bool decode(struct answer_counts *c, struct evaluation *e, const struct op *loss, struct err *err)
{
    const struct tensor *s = &e->g->tensors[loss->inputs[0]];
    uint64_t u = s->dims[2] - 1, row = s->dims[1] * s->dims[2] * s->dims[3];
    struct decoded *found = ARENA_ARRAY(&e->arena, struct decoded, e->g->micro_batch);
    bool *after = ARENA_ARRAY(&e->arena, bool, e->g->n_tensors), more = true;
    uint32_t previous = NO_ID;
    for (uint32_t i = 0; i < e->g->n_tensors; i++)
        previous = text_is(e->g->tensors[i].name, "previous-labels") ? i : previous;
    if (previous == NO_ID || u > MOST_LABELS)
        return fail(err, "%s: cannot be decoded: it has no input of previous labels, or more than %d labels", e->g->name, MOST_LABELS);
    mark_after(after, e->g, previous);
    while (more) {
        more = false;
        for (uint64_t b = 0; b < e->g->micro_batch; b++)        /* the first entry of a row stands for the time before any label */
            memcpy(e->values[previous].x + b * (u + 1) + 1, found[b].labels, u * sizeof(float));
        for (uint32_t i = 0; i < e->g->n_forward_ops; i++)
            if (after[e->g->ops[i].outputs[0]] && &e->g->ops[i] != loss && !run(e, i, err))
                return false;
        for (uint64_t b = 0; b < e->g->micro_batch; b++)
            more |= decode_on(&found[b], e->values[loss->inputs[0]].x + b * row, s->dims[1], u, s->dims[3]);
    }
    for (uint64_t b = 0; b < e->g->micro_batch; b++) {
        c->wrong += (double)edit_distance(found[b].labels, found[b].n, e->values[loss->inputs[1]].x + b * u, u);
        c->all += (double)u;
    }
    return true;
}

/* ---- all of it ---------------------------------------------------------------------------------------------- */

static bool evaluate_batch(struct answer_counts *c, struct evaluation *e, const struct op *loss, struct err *err)
{
    fill_inputs(e);
    for (uint32_t i = 0; i < e->g->n_forward_ops; i++)
        if (!run(e, i, err))
            return false;
    if (loss->kind == OP_TRANSDUCER_LOSS)
        return decode(c, e, loss, err);
    count_classes(c, e, loss);
    return true;
}

bool training_evaluate(double *out, const struct execution *x, const struct training_setup *t, uint32_t n_threads, struct err *err)
{
    struct evaluation e = { .x = x, .p = &t->sim->plan, .g = t->sim->plan.graph, .data = t->data,
                            .context = { .mean_losses = true, .n_threads = n_threads, .precision = t->precision } };
    const struct op *loss = first_loss(e.g);
    struct answer_counts c = { 0, 0 };
    bool good = true;
    make_values(&e);
    for (; good && e.first + e.g->micro_batch <= t->eval_items; e.first += e.g->micro_batch)
        good = evaluate_batch(&c, &e, loss, err);
    arena_free(&e.arena);
    *out = t->quality.lower_is_better ? c.wrong / c.all : 1 - c.wrong / c.all;
    return good;
}
