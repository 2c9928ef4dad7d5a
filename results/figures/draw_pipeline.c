/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_pipeline.c - what each IPU of a ResNet-50 pipeline does when, from the timeline; a picture that white papers show.
 */
#include "results/figures/drawings.h"

static const char pipeline_recipe[] = "vendor-ipu-pod16-resnet50-pipelined";
static const struct pipeline_picture { const char *name, *sets[2]; } pipelines[] = {
    { "pipeline-inference", { "recipe.mode=infer", "parallel.gradient_accumulation=8" } },
    { "pipeline-training", { "recipe.mode=train", "parallel.gradient_accumulation=16" } },
};

/* One bar per span: from and to (ms) in the columns of its kind; the chip's line is 0.8 high. */
static void write_span_bar(FILE *f, const struct timeline *t, const struct span *s, uint32_t k)
{
    static const enum span_kind shown[] = { SPAN_FORWARD, SPAN_BACKWARD, SPAN_COPY };
    double ms = 1e3 / t->plan->topology->machine->chip.clock_hz;
    double from = (double)(s->start_cycle + k * s->period_cycles) * ms, to = from + (double)s->n_cycles * ms;
    uint32_t ipu = t->rows[s->row].ipu;
    bool numbered = s->kind == SPAN_FORWARD || s->kind == SPAN_BACKWARD;
    fprintf(f, "%u,%.1f,%.1f,%.6g,", ipu, ipu - 0.4, ipu + 0.4, (from + to) / 2);
    if (numbered)
        fprintf(f, "%u", s->which + k + 1);
    for (size_t i = 0; i <= sizeof shown / sizeof *shown; i++) {
        bool other = s->kind != SPAN_FORWARD && s->kind != SPAN_BACKWARD && s->kind != SPAN_COPY;
        bool mine = i < sizeof shown / sizeof *shown ? s->kind == shown[i] : other;
        fprintf(f, mine ? ",%.6g,%.6g" : ",NaN,NaN", from, to);
    }
    fputc('\n', f);
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
    struct simulation sim;
    struct result r;
    struct new_file file;
    if (!simulator_run(d->from->simulator, &sim, &r, pipeline_recipe, pic->sets, 2, err) ||
        !drawing_open(&file, d, pic->name, err))
        return false;
    *busy = busy_share(&sim.timeline);
    fprintf(file.f, "chip,low,high,middle,micro-batch,forward,forward end,backward,backward end,copy,copy end,update,update end\n");
    for (size_t i = 0; i < sim.timeline.n_spans; i++)
        for (uint32_t k = 0; !span_is_waiting(sim.timeline.spans[i].kind) && k < sim.timeline.spans[i].repeat; k++)
            write_span_bar(file.f, &sim.timeline, &sim.timeline.spans[i], k);
    simulation_free(&sim);
    return new_file_save(&file, err);
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
