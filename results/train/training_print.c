/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_print.c - trainings as tables: step by step, evaluation by evaluation, run by run. */
#include "results/train/train.h"
#include <gsl/gsl_sort.h>

struct point_row { uint64_t seed; struct training_point p; };
static const struct table_column point_columns[] = {
#define P(text, member, digits) { COLUMN_AS(struct point_row, p.member, #member), .heading = text, .format = digits, .aligns_right = true }
    { COLUMN(struct point_row, seed), .formats = IN_CSV | IN_JSON }, P("step", step, NULL), P("samples", samples, "%.0f"), P("epoch", epoch, "%.3f"),
    P("minutes", minutes, "%.4g"), P("rate", rate, "%.4g"), P("loss", loss, "%.4g"), P("quality", quality, "%.4f"),
#undef P
};

struct training_row { uint64_t seed; bool reached; double samples, minutes, quality; };
static const struct table_column run_columns[] = {
    { COLUMN(struct training_row, seed), .heading = "seed" }, { COLUMN(struct training_row, reached), .heading = "reached" },
    { COLUMN(struct training_row, samples), .heading = "samples", .format = "%.0f" }, { COLUMN(struct training_row, minutes), .heading = "minutes", .format = "%.4g" },
    { COLUMN(struct training_row, quality), .heading = "quality", .format = "%.4f" },
};

static void add_training_points(struct table *every, struct table *evaluated, const struct training *tr, struct arena *a)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < tr->n; i++) {
        struct point_row row = { tr->seed, tr->points[i] };
        table_add(every, &row, a);
        sum += row.p.loss, n++;
        if (isnan(row.p.quality))
            continue;
        row.p.loss = sum / n;
        table_add(evaluated, &row, a);
        sum = n = 0;
    }
}

/* Adds the lowest, median and highest value of the runs that reached the target. */
static void add_run_spread(struct document *d, const char *what, const struct training *runs, size_t n, size_t member)
{
    double *x = ARENA_ARRAY(d->arena, double, n);
    size_t n_reached = 0;
    for (size_t i = 0; i < n; i++)
        if (runs[i].reached)
            x[n_reached++] = *(const double *)((const char *)&runs[i] + member);
    if (n_reached == 0)
        return;
    gsl_sort(x, 1, n_reached);
    double mean = statistics_mean(x, n_reached), squares = 0;
    for (size_t i = 0; i < n_reached; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    document_line(d, "%s to the target: %.5g to %.5g, median %.5g, mean %.5g +- %.3g (%zu of %zu runs)", what, x[0], x[n_reached - 1],
                  statistics_median(x, n_reached, d->arena), mean, n_reached > 1 ? sqrt(squares / (double)(n_reached - 1)) : 0, n_reached, n);
}

static void add_notes(struct document *d, const struct training_setup *t, const struct training *runs, size_t n)
{
    const struct recipe *r = &t->sim->recipe;
    size_t n_skipped = 0;
    for (size_t i = 0; i < n; i++)
        n_skipped += runs[i].n_skipped;
    if (n_skipped)
        document_line(d, "%zu update%s left out, as gradients were not finite", n_skipped, plural(n_skipped));
    if (t->rates.unused)
        document_line(d, "not followed: optimizer.%s", t->rates.unused);
    if (t->rates.values.clip_norm > 0 && !t->sim->plan.request.program.clip_norm)
        document_line(d, "gradients are not clipped, as the framework's program does not (framework.clip_norm)");
    if (fabs(recipe_samples_per_item(r) / t->samples_per_item - 1) > 0.01)
        document_line(d, "data.sequences_per_pack is %.4g, and the data has %.4g: podbench run counts other samples a step", recipe_samples_per_item(r), t->samples_per_item);
    if (t->evaluation_s <= 0)
        document_line(d, "minutes are without evaluations, whose time needs training.samples_to_converge, eval_every and eval_samples");
}

void trainings_document(struct document *d, const struct training_setup *t, const struct training *runs, size_t n)
{
    const struct plan *p = &t->sim->plan;
    unsigned points_in = FORMAT_BIT(FORMAT_JSON) | (n == 1 ? FORMAT_BIT(FORMAT_CSV) : 0);
    document_line(d, "%s on %s: %u replica%s, %u stage%s, %u micro-batch%s of %ju; %.4g ms a step", p->graph->name, t->result->system, p->request.n_replicas,
                  plural(p->request.n_replicas), p->n_stages, plural(p->n_stages), p->request.grad_accum, p->request.grad_accum == 1 ? "" : "es",
                  (uintmax_t)p->graph->micro_batch, t->step_s * 1e3);
    document_line(d, "%s", dataset_line(t->data, d->arena));
    document_line(d, "quality is %s, on %ju items; loss is the mean since the last evaluation", t->quality.name, (uintmax_t)t->eval_items);
    struct table *every = document_table(d, TABLE(point_columns, struct point_row, .name = "points", .formats = points_in));
    if (n == 1) {
        struct table *evaluated = document_table(d, TABLE(point_columns, struct point_row, .formats = IN_TEXT | IN_MARKDOWN));
        add_training_points(every, evaluated, runs, d->arena);
    } else {
        struct table unshown = TABLE(point_columns, struct point_row);
        for (size_t i = 0; i < n; i++)
            add_training_points(every, &unshown, &runs[i], d->arena);
    }
    struct table *table = document_table(d, TABLE(run_columns, struct training_row, .name = "runs", .formats = n == 1 ? FORMAT_BIT(FORMAT_JSON) : 0));
    for (size_t i = 0; i < n; i++)
        table_add(table, &(struct training_row){ runs[i].seed, runs[i].reached, runs[i].samples, runs[i].minutes, runs[i].quality }, d->arena);
    if (t->target > 0 && n == 1)
        document_line(d, "target %.4g: %s after %.0f samples and %.4g minutes", t->target, runs->reached ? "reached" : "not reached", runs->samples, runs->minutes);
    if (t->target > 0 && n > 1) {
        add_run_spread(d, "samples", runs, n, offsetof(struct training, samples));
        add_run_spread(d, "simulated minutes", runs, n, offsetof(struct training, minutes));
    }
    add_notes(d, t, runs, n);
}

bool training_points_csv(const char *path, const struct training *runs, size_t n, struct err *err)
{
    struct new_file file;
    struct arena a = { 0 };
    if (!new_file_open(&file, path, err))
        return false;
    struct table every = TABLE(point_columns, struct point_row), unshown = TABLE(point_columns, struct point_row);
    for (size_t i = 0; i < n; i++)
        add_training_points(&every, &unshown, &runs[i], &a);
    table_write(file.f, FORMAT_CSV, &every);
    arena_free(&a);
    return new_file_save(&file, err);
}
