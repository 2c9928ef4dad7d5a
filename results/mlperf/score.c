/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * score.c - the row of a folder's score, and its formats; see mlperf.h. folder.c computes the score.
 */
#include "results/mlperf/mlperf_internal.h"

#include <gsl/gsl_statistics_double.h>

/* ---- a row of a folder --------------------------------------------------------------------------- */

static bool run_counts(const struct run_entry *r)
{
    return r->compliant && !r->problem;
}

static double median_over(const struct folder *f, enum run_measure m, double *room)
{
    size_t n = 0;
    bool any = false;
    const struct run_entry *end = f->runs + f->n;
    for (const struct run_entry *r = f->runs; r < end; r++)
        any = any || r->converged;
    for (const struct run_entry *r = f->runs; r < end; r++)
        if (isfinite(r->measures[m]) && !r->problem && (!any || r->converged))
            room[n++] = r->measures[m];
    return median_of(room, n);
}

static void fill_spread(struct score_row *row, const struct folder *f, double *room)
{
    size_t n = 0;
    row->mean_minutes = row->min_minutes = row->max_minutes = NAN;
    for (size_t i = 0; i < f->n && !f->problem; i++)
        if (run_counts(&f->runs[i]))
            room[n++] = f->runs[i].minutes;
    row->failed = f->problem ? (double)NAN : (double)(f->n - n);
    if (n) {
        row->mean_minutes = statistics_mean(room, n);
        gsl_stats_minmax(&row->min_minutes, &row->max_minutes, room, 1, n);
    }
    row->spread = (row->max_minutes - row->min_minutes) / row->mean_minutes;
}

static const char *score_note(const struct folder *f, const struct score_row *row, struct arena *a)
{
    if (f->why_no_score)
        return f->why_no_score;
    const char *note = "";
    if (f->n != row->required_runs && !(text_is(f->metric, "weak") && f->n > row->required_runs))
        note = arena_printf(a, "%zu logs, %s wants %llu: the package is refused", f->n, f->round, (unsigned long long)row->required_runs);
    if (row->failed > 0)
        note = arena_printf(a, "%s%s%.0f of %zu runs refused, counted as slowest", note, *note ? "; " : "", row->failed, f->n);
    for (size_t i = 0; i < f->n_notes; i++)
        if (f->notes[i].severity == SEVERITY_WARNING)
            note = arena_printf(a, "%s%s%s", note, *note ? "; " : "", f->notes[i].text);
    return *f->remark ? arena_printf(a, "%s%s%s", note, *note ? "; " : "", f->remark) : note;
}

void score_row_fill(struct score_row *row, const struct folder *f, struct arena *a)
{
    double *room = ARENA_ROOM(a, double, f->n);
    *row = (struct score_row){ .round = f->round, .division = f->division, .submitter = f->submitter, .system = f->system,
        .benchmark = f->benchmark, .runs = f->n, .required_runs = f->rules ? f->rules->terms->runs : 0, .dropped = f->rules ? f->rules->terms->dropped : 0,
        .score_minutes = f->score_minutes,
        .scaling = f->scaling, .throughput_method = f->throughput_method ? f->throughput_method : "",
        .ruleset = f->edition ? ruleset_text(f->edition, a) : "", .recomputed_scaling = 1, .metric = f->metric, .models = *f->metric == 'w' ? (double)f->n_models : (double)NAN, .path = utf8_text(f->dir, a) };
    fill_spread(row, f, room);
    for (int m = 0; m < N_MEASURES; m++)
        row->measures[m] = f->problem ? (double)NAN : median_over(f, (enum run_measure)m, room);
    if (f->has_rcp && text_is(f->division, "closed"))
        row->recomputed_scaling = f->rcp.scaling;
    row->recomputed_minutes = f->olympic_minutes * row->recomputed_scaling;
    row->energy_j = f->energy_j, row->power_w = f->energy_j / (f->score_minutes * 60);
    row->note = row->shown_note = score_note(f, row, a);
    if (!isnan(row->models))
        row->shown_note = arena_printf(a, "weak scaling: the time for all of %.0f models, each on %.10g accelerators%s%s", row->models, row->measures[MEASURE_INSTANCE],
                                       *row->note ? "; " : "", row->note);
    if (!isnan(row->energy_j))
        row->shown_note = arena_printf(a, "energy %.6g J, mean power %.6g W%s%s", row->energy_j, row->power_w, *row->note ? "; " : "", row->note);
}

/* ---- printing ----------------------------------------------------------------------------------------- */

#define C(member, ...) { COLUMN(struct score_row, member), .csv_digits = 12, __VA_ARGS__ }
#define M(name, measure, ...) { COLUMN_AS(struct score_row, measures[measure], name), .csv_digits = 12, __VA_ARGS__ }
static const struct table_column score_columns[] = {
    C(round, .heading = "round"), C(division, .heading = "division"), C(submitter, .heading = "submitter"), C(system, .heading = "system"),
    C(benchmark, .heading = "benchmark"), C(runs, .heading = "runs"), C(failed, .heading = "failed"), C(required_runs),
    C(score_minutes, .heading = "score_minutes", .format = "%.4f"), C(scaling), C(mean_minutes), C(min_minutes), C(max_minutes),
    C(spread, .heading = "spread", .format = "%.4f"), M("epochs_to_converge", MEASURE_EPOCHS),
    M("samples_to_converge", MEASURE_SAMPLES, .heading = "samples_to_converge", .format = "%.0f"),
    M("global_batch", MEASURE_BATCH, .heading = "global_batch", .format = "%.0f"), M("grad_accum", MEASURE_ACCUMULATION),
    M("throughput_samples_per_s", MEASURE_THROUGHPUT, .heading = "throughput_samples_per_s"), M("train_unit_s", MEASURE_UNIT_TIME),
    M("eval_time_s", MEASURE_EVAL_TIME, .heading = "eval_time_s", .format = "%.4f"),
    M("startup_time_s", MEASURE_STARTUP, .heading = "startup_time_s", .format = "%.4f"), M("init_time_s", MEASURE_INIT), C(throughput_method),
    C(ruleset), C(dropped), C(recomputed_scaling), C(recomputed_minutes), C(energy_j, .unit = "J"), C(power_w, .unit = "W"), C(metric), C(models), M("instance_scale", MEASURE_INSTANCE), C(note), { COLUMN_AS(struct score_row, shown_note, NULL), .heading = "note" }, C(path), C(logs, .formats = IN_JSON),
};
#undef M
#undef C

struct scored_run { const char *file, *problem; bool counts, success; double time_to_train_s, samples_to_converge; };
#define C(member) { COLUMN(struct scored_run, member) }
static const struct table_column run_columns[] = {
    C(file), C(counts), C(success), C(time_to_train_s), C(samples_to_converge), C(problem),
};
#undef C

static json_t *logs_json(const struct folder *f)
{
    struct arena scratch = {0};
    struct table runs = TABLE(run_columns, struct scored_run);
    for (size_t i = 0; !f->problem && i < f->n; i++) {
        const struct run_entry *r = &f->runs[i];
        table_add(&runs, &(struct scored_run){ r->file, r->problem, run_counts(r), r->converged, r->minutes * 60, r->measures[MEASURE_SAMPLES] },
                  &scratch);
    }
    json_t *logs = table_json(&runs);
    arena_free(&scratch);
    return logs;
}

struct table score_table(void)
{
    return TABLE(score_columns, struct score_row);
}

void score_add(struct table *t, const struct folder *f, struct arena *a)
{
    struct score_row row;
    score_row_fill(&row, f, a);
    row.logs = logs_json(f);
    table_keep(t, &row, a);
}
