/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_pipeline.c - the work of each IPU of a ResNet-50 pipeline over time, from the timeline; white papers show such a picture.
 */
#include "results/figures/drawings.h"

static const char pipeline_recipe[] = "vendor-ipu-pod16-resnet50-pipelined";
static const struct pipeline_picture { const char *name, *sets[2]; } pipelines[] = {
    { "pipeline-inference", { "recipe.mode=infer", "parallel.gradient_accumulation=8" } },
    { "pipeline-training", { "recipe.mode=train", "parallel.gradient_accumulation=16" } },
};

/* Writes one bar: start and end (ms) go into the columns of the span's kind. */
static void write_span_bar(FILE *f, const struct timeline *t, const struct span *s, uint32_t k)
{
    double ms = 1e3 / t->plan->topology->machine->chip.clock_hz, from = (double)(s->start_cycle + k * s->period_cycles) * ms;
    double cells[] = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    size_t kind = s->kind == SPAN_FORWARD ? 0 : s->kind == SPAN_BACKWARD ? 1 : s->kind == SPAN_COPY ? 2 : 3;
    cells[2 * kind] = from, cells[2 * kind + 1] = from + (double)s->n_cycles * ms;
    fprintf(f, kind < 2 ? "%u,%u," : "%u,,", t->rows[s->row].ipu, s->which + k + 1);
    drawing_row(f, NULL, cells, sizeof cells / sizeof *cells);
}

/* The share of all IPUs' time that is spent in forward and backward passes. */
static double busy_share(const struct timeline *t)
{
    double busy = 0;
    for (size_t i = 0; i < t->n_spans; i++)
        if (t->spans[i].kind == SPAN_FORWARD || t->spans[i].kind == SPAN_BACKWARD)
            busy += (double)t->spans[i].n_cycles * t->spans[i].repeat;
    return busy / ((double)t->step_cycles * t->n_rows);
}

static bool write_pipeline(struct drawing *d, const struct pipeline_picture *pic, double *busy, struct err *err)
{
    const struct simulation *sim = drawing_simulate(d, pipeline_recipe, pic->sets, 2, err);
    if (!sim)
        return false;
    const struct timeline *t = &sim->timeline;
    FILE *f = drawing_table(d, pic->name, "chip,micro-batch,forward,forward end,backward,backward end,copy,copy end,update,update end");
    *busy = busy_share(t);
    for (size_t i = 0; i < t->n_spans; i++)
        for (uint32_t k = 0; !span_is_waiting(t->spans[i].kind) && k < t->spans[i].repeat; k++)
            write_span_bar(f, t, &t->spans[i], k);
    return true;
}

bool draw_pipeline(struct drawing *d, struct err *err)
{
    double inference, training;
    if (!results_find(d->from->results, pipeline_recipe)) {
        d->missing = arena_printf(d->a, "no recipe %s", pipeline_recipe);
        return true;
    }
    if (!write_pipeline(d, &pipelines[0], &inference, err) || !write_pipeline(d, &pipelines[1], &training, err))
        return false;
    d->finding = arena_printf(d->a, "ResNet-50 on four IPUs, computing %.0f %% of the time in inference of 8 micro-batches, %.0f %% in a training step of 16",
                              100 * inference, 100 * training);
    return true;
}
