/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - the loop: steps, their times, and from time to time an evaluation and a checkpoint. Weights begin uniformly distributed with
 * variance 1 / rows, and lookup tables with 1 / columns; scales begin as 1 and biases as 0. All are drawn from the seed, tensor by tensor.
 */
#include "results/train/train.h"
#include <unistd.h>

enum { MOST_ROWS = 4096 };

/* ---- what is trained on what --------------------------------------------------------------------- */

static uint64_t identity_of(const struct training_setup *t, struct arena *a)
{
    const struct recipe *r = &t->sim->recipe;
    const char *text = arena_printf(a, "%s %a %a %a", dataset_line(t->data, a), t->startup_s, t->step_s, t->evaluation_s);
    uint64_t id = hash_bytes(text, strlen(text), 1);
    for (size_t i = 0; i < r->n_entries; i++) {
        text = arena_printf(a, "%s.%s=%s", r->entries[i].section, r->entries[i].key, r->entries[i].value);
        id = hash_bytes(text, strlen(text), id);
    }
    return id;
}

static double known_or_0(double x) { return is_known(x) ? x : 0; }

bool training_setup_make(struct training_setup *out, const struct simulation *sim, const struct result *r, struct arena *a, struct err *err)
{
    const struct recipe *rec = &sim->recipe;
    const struct plan *p = &sim->plan;
    struct dataset *data;
    if (!p->request.training)
        return fail(err, "%s: mode is infer; want mode = train", rec->path);
    if (p->graph->micro_batch > MOST_ROWS)
        return fail(err, "%s: a micro-batch to be trained has at most %d rows; lower parallel.micro_batch", rec->path, MOST_ROWS);
    struct data_request q = { p->graph, rec->path, rec->data_path, (uint32_t)ceil(rec->model.sequences_per_pack) };
    if (!graph_is_executable(p->graph, err) || !execution_fits_host(p, err) || !dataset_open(&data, &q, a, err))
        return false;
    uint64_t items = (uint64_t)p->request.n_replicas * p->request.grad_accum * p->graph->micro_batch, there = dataset_items(data, DATA_EVAL);
    double samples = dataset_samples_per_item(data), every = rec->eval_every ? (double)rec->eval_every : samples * (double)dataset_items(data, DATA_TRAIN);
    uint64_t wanted = rec->eval_samples ? min_u64(there, (uint64_t)ceil((double)rec->eval_samples / samples)) : there;
    *out = (struct training_setup){ .sim = sim, .result = r, .data = data, .items_per_step = items, .samples_per_item = samples, .target = rec->target,
        .eval_items = wanted / p->graph->micro_batch * p->graph->micro_batch, .eval_every_steps = max_u64(1, (uint64_t)llround(every / samples / (double)items)),
        .startup_s = known_or_0(r->startup_time_s), .step_s = r->step_time_s, .evaluation_s = known_or_0(sim->evaluation_s), .quality = quality_of(p->graph),
        .precision = { rec->model.compute != COMPUTE_FP32, p->request.partials, rec->stochastic_rounding, false } };
    out->identity = identity_of(out, a);
    if (out->eval_items == 0)
        return fail(err, "%s: a micro-batch of %ju is more than the %ju items to evaluate on; lower parallel.micro_batch or raise training.eval_samples", rec->path,
                    (uintmax_t)p->graph->micro_batch, (uintmax_t)wanted);
    return rates_read(&out->rates, rec, (double)dataset_items(data, DATA_TRAIN) / (double)items, a, err);
}

/* ---- inputs and first weights ------------------------------------------------------------------------- */

struct feeder { const struct training_setup *t; uint64_t seed; };

static uint64_t drawn(uint64_t seed, uint64_t a, uint64_t b)
{
    const uint64_t question[] = { seed, a, b };
    return hash_bytes(question, sizeof question, 31);
}

static bool is_lookup_table(const struct graph *g, uint32_t id)
{
    for (size_t i = 0; i < g->n_forward_ops; i++)
        if (g->ops[i].kind == OP_GATHER && g->ops[i].inputs[0] == id)
            return true;
    return false;
}

static void first_weight(float *to, const struct graph *g, uint32_t id, uint64_t seed)
{
    const struct tensor *t = &g->tensors[id];
    uint64_t n = tensor_elements(t), columns = t->dims[t->n_dims - 1];
    double bound = sqrt(3.0 / (double)(is_lookup_table(g, id) ? columns : n / columns)), vector = text_is(t->name, "gamma");
    for (uint64_t i = 0; i < n; i++)
        to[i] = (float)(t->n_dims > 1 ? bound * ((double)(drawn(seed, id, i) >> 11) * 0x1p-52 - 1) : vector);
}

static bool feed(void *user, float *to, uint32_t id, uint64_t step, uint32_t replica, uint64_t micro_batch, struct err *err)
{
    const struct feeder *f = user;
    const struct plan *p = &f->t->sim->plan;
    const struct graph *g = p->graph;
    uint64_t items[MOST_ROWS], n = dataset_items(f->t->data, DATA_TRAIN);
    if (micro_batch == UINT64_MAX) {
        first_weight(to, g, id, f->seed);
        return true;
    }
    (void)err;
    uint64_t first = ((step * p->request.n_replicas + replica) * p->request.grad_accum + micro_batch) * g->micro_batch;
    for (uint64_t b = 0; b < g->micro_batch; b++)
        items[b] = shuffled((first + b) % n, n, drawn(f->seed, (first + b) / n, 0));
    dataset_fill(f->t->data, to, id, DATA_TRAIN, items, drawn(f->seed, first / n, 1));
    return true;
}

/* ---- the loop -------------------------------------------------------------------------------------------- */

enum { MOST_SKIPPED = 100 };

struct loop { struct training *tr; const struct training_setup *t; const struct training_request *q; struct execution *x; struct arena *a; size_t n_skipped; };

static bool is_reached(const struct training_setup *t, double quality)
{
    return t->target > 0 && (t->quality.lower_is_better ? quality <= t->target : quality >= t->target);
}

static double minutes_at(const struct training_setup *t, double steps, double evaluations)
{
    return (t->startup_s + steps * t->step_s + evaluations * t->evaluation_s) / 60;
}

static bool check_step(struct loop *l, const struct step_result *r, uint64_t step, struct err *err)
{
    l->n_skipped = r->skipped ? l->n_skipped + 1 : 0;
    l->tr->n_skipped += r->skipped;
    if (l->n_skipped == MOST_SKIPPED)
        return fail(err, "%s: the gradients of %d updates in a row were not finite; lower precision.loss_scale or optimizer.opt_base_learning_rate",
                    l->t->sim->recipe.path, MOST_SKIPPED);
    return isfinite(r->loss) || fail(err, "%s: diverged: the loss of step %ju is no finite number; lower the learning rate, or warm up for longer",
                                     l->t->sim->recipe.path, (uintmax_t)step);
}

static bool evaluate_point(struct loop *l, struct training_point *p, struct err *err)
{
    struct training *tr = l->tr;
    if (!training_evaluate(&p->quality, l->x, l->t, l->q->n_threads, err))
        return false;
    p->minutes = minutes_at(l->t, (double)p->step, (double)++tr->n_evaluations);
    tr->reached = is_reached(l->t, p->quality);
    if (l->q->tell)
        l->q->tell(l->q->user, arena_printf(l->a, "seed %ju: %.0f samples, loss %.4g, %s %.4g", (uintmax_t)tr->seed, p->samples, p->loss, l->t->quality.name, p->quality));
    return !l->q->checkpoint || checkpoint_write(l->q->checkpoint, tr, l->x, l->t, err);
}

static bool train_step(struct loop *l, struct err *err)
{
    struct training *tr = l->tr;
    const struct training_setup *t = l->t;
    struct optimizer_values values = rates_at(&t->rates, tr->n);
    struct step_result r;
    uint64_t step = tr->n + 1;
    execution_set(l->x, &values);
    if (!execution_step(l->x, &r, err) || !check_step(l, &r, step, err))
        return false;
    double items = (double)step * (double)t->items_per_step;
    tr->points = arena_grow(l->a, tr->points, tr->n, &tr->cap, sizeof *tr->points);
    struct training_point *p = &tr->points[tr->n++];
    *p = (struct training_point){ step, items * t->samples_per_item, items / (double)dataset_items(t->data, DATA_TRAIN),
                                  minutes_at(t, (double)step, (double)tr->n_evaluations), values.learning_rate, r.loss, NAN };
    return (step % t->eval_every_steps && step != l->q->last_step) || evaluate_point(l, p, err);
}

static bool run_loop(struct loop *l, struct err *err)
{
    struct training *tr = l->tr;
    if (l->q->resumes && access(l->q->checkpoint, F_OK) == 0 && !checkpoint_read(tr, l->x, l->q->checkpoint, l->t, l->a, err))
        return false;
    while (tr->n < l->q->last_step && !(tr->reached && l->q->until_target))
        if (!train_step(l, err))
            return false;
    const struct training_point *last = &tr->points[tr->n - 1];
    tr->samples = last->samples, tr->minutes = last->minutes, tr->quality = last->quality;
    return true;
}

bool training_run(struct training *out, const struct training_setup *t, const struct training_request *q, struct arena *a, struct err *err)
{
    struct feeder f = { t, q->seed };
    struct execution_options o = { .seed = q->seed, .mean_losses = true, .loss_scale = t->sim->recipe.loss_scale, .precision = t->precision,
                                   .n_threads = q->n_threads, .fill = feed, .user = &f, .optimizer = rates_at(&t->rates, 0) };
    *out = (struct training){ .seed = q->seed };
    struct loop l = { out, t, q, execution_start(&t->sim->plan, &o, err), a, 0 };
    bool good = l.x && run_loop(&l, err);
    execution_end(l.x);
    return good;
}
