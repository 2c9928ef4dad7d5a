/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * score.c - the row of a folder's score, and its formats; see mlperf.h. The score itself is computed in folder.c.
 */
#include "results/mlperf/mlperf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void fill_spread(struct score_row *row, const struct folder *f)
{
    double sum = 0, low = HUGE_VAL, high = -HUGE_VAL;
    size_t n = 0;
    for (const struct run_entry *r = f->runs, *end = f->runs + f->n; r < end; r++) {
        if (!run_counts(r))
            continue;
        sum += r->minutes, n++;
        low = fmin(low, r->minutes), high = fmax(high, r->minutes);
    }
    row->failed = f->n - n;
    row->mean_minutes = n ? sum / (double)n : (double)NAN;
    row->min_minutes = n ? low : (double)NAN;
    row->max_minutes = n ? high : (double)NAN;
    row->spread = (row->max_minutes - row->min_minutes) / row->mean_minutes;
}

static const char *score_note(const struct folder *f, const struct score_row *row, struct arena *a)
{
    if (f->why_no_score)
        return f->why_no_score;
    const char *note = "";
    if (f->n != row->required_runs)
        note = arena_printf(a, "%zu logs, %s wants %llu: the package is refused", f->n, f->round, (unsigned long long)row->required_runs);
    if (row->failed)
        note = arena_printf(a, "%s%s%llu of %zu runs refused, counted as slowest", note, *note ? "; " : "", (unsigned long long)row->failed, f->n);
    return note;
}

void score_row_fill(struct score_row *row, const struct folder *f, struct arena *a)
{
    double *room = ARENA_ROOM(a, double, f->n);
    *row = (struct score_row){ .round = f->round, .division = f->division, .submitter = f->submitter, .system = f->system,
        .benchmark = f->benchmark, .runs = f->n, .required_runs = f->rules ? f->rules->terms->runs : 0, .dropped = f->rules ? f->rules->terms->dropped : 0,
        .score_minutes = f->score_minutes,
        .scaling = f->scaling, .throughput_method = f->throughput_method ? f->throughput_method : "",
        .ruleset = f->edition ? f->edition->ruleset : "", .recomputed_scaling = 1, .path = utf8_text(f->dir, a), .folder = f };
    fill_spread(row, f);
    for (int m = 0; m < N_MEASURES; m++)
        row->measures[m] = f->problem ? (double)NAN : median_over(f, m, room);
    if (f->has_rcp && text_is(f->division, "closed"))
        row->recomputed_scaling = f->rcp.scaling;
    row->recomputed_minutes = f->olympic_minutes * row->recomputed_scaling;
    row->note = score_note(f, row, a);
}

/* ---- printing: one table of columns for all formats ------------------------------------------------ */

enum score_kind { COLUMN_TEXT, COLUMN_COUNT, COLUMN_REAL };

#define T(member, width) { #member, COLUMN_TEXT, offsetof(struct score_row, member), width }
#define N(member, width) { #member, COLUMN_COUNT, offsetof(struct score_row, member), width }
#define R(member, width) { #member, COLUMN_REAL, offsetof(struct score_row, member), width }

#define M(name, measure, width) { name, COLUMN_REAL, offsetof(struct score_row, measures) + measure * sizeof(double), width }

/* A column of width 0 is not in the text table. */
static const struct score_column { const char *name; enum score_kind kind; size_t offset; int width; } score_columns[] = {
    T(round, 5), T(division, 8), T(submitter, 10), T(system, 30), T(benchmark, 9), N(runs, 4), N(failed, 6), N(required_runs, 0),
    R(score_minutes, 13), R(scaling, 0), R(mean_minutes, 0), R(min_minutes, 0), R(max_minutes, 0), R(spread, 8),
    M("epochs_to_converge", MEASURE_EPOCHS, 0), M("samples_to_converge", MEASURE_SAMPLES, 19), M("global_batch", MEASURE_BATCH, 12),
    M("grad_accum", MEASURE_ACCUMULATION, 0), M("throughput_samples_per_s", MEASURE_THROUGHPUT, 24),
    M("train_unit_s", MEASURE_UNIT_TIME, 0), M("eval_time_s", MEASURE_EVAL_TIME, 11), M("startup_time_s", MEASURE_STARTUP, 14),
    M("init_time_s", MEASURE_INIT, 0), T(throughput_method, 0), T(ruleset, 0), N(dropped, 0), R(recomputed_scaling, 0), R(recomputed_minutes, 0),
    T(note, 0), T(path, 0),
};
enum { N_SCORE_COLUMNS = sizeof score_columns / sizeof *score_columns };

static const char *score_text(const struct score_row *row, const struct score_column *c)
{
    return *(const char *const *)((const char *)row + c->offset);
}

static uint64_t score_count(const struct score_row *row, const struct score_column *c)
{
    return *(const uint64_t *)((const char *)row + c->offset);
}

static double score_real(const struct score_row *row, const struct score_column *c)
{
    return *(const double *)((const char *)row + c->offset);
}

enum { SCORE_CELL_BYTES = 64 };

static const char *score_cell(char out[SCORE_CELL_BYTES], const struct score_row *row, const struct score_column *c, int digits)
{
    if (c->kind == COLUMN_TEXT)
        return score_text(row, c);
    if (c->kind == COLUMN_COUNT)
        snprintf(out, SCORE_CELL_BYTES, "%llu", (unsigned long long)score_count(row, c));
    else if (isfinite(score_real(row, c)))
        snprintf(out, SCORE_CELL_BYTES, "%.*g", digits, score_real(row, c));
    else
        return "";
    return out;
}

/* Text has four decimals below a thousand, as scores are compared by a thousandth of a minute, and none above. */
static void print_score_cell(FILE *f, const struct score_row *row, const struct score_column *c)
{
    char room[SCORE_CELL_BYTES];
    const char *text = score_cell(room, row, c, 6);
    double x = c->kind == COLUMN_REAL ? score_real(row, c) : (double)NAN;
    if (isfinite(x))
        snprintf(room, sizeof room, x != floor(x) && fabs(x) < 1000 ? "%.4f" : "%.0f", x), text = room;
    fprintf(f, c->kind == COLUMN_TEXT ? "%-*s  " : "%*s  ", c->width, *text ? text : "-");
}

/* ---- text and CSV ------------------------------------------------------------------------------------ */

static void print_text_head(FILE *f)
{
    for (size_t c = 0; c < N_SCORE_COLUMNS; c++)
        if (score_columns[c].width)
            fprintf(f, score_columns[c].kind == COLUMN_TEXT ? "%-*s  " : "%*s  ", score_columns[c].width, score_columns[c].name);
    fprintf(f, "note\n");
}

static void print_text_row(FILE *f, const struct score_row *row)
{
    for (size_t c = 0; c < N_SCORE_COLUMNS; c++)
        if (score_columns[c].width)
            print_score_cell(f, row, &score_columns[c]);
    fprintf(f, "%s\n", *row->note ? row->note : "-");
}

static void print_csv_head(FILE *f)
{
    for (size_t c = 0; c < N_SCORE_COLUMNS; c++)
        csv_write_cell(f, score_columns[c].name, c + 1 == N_SCORE_COLUMNS);
}

static void print_csv_row(FILE *f, const struct score_row *row)
{
    char room[SCORE_CELL_BYTES];
    for (size_t c = 0; c < N_SCORE_COLUMNS; c++)
        csv_write_cell(f, score_cell(room, row, &score_columns[c], 12), c + 1 == N_SCORE_COLUMNS);
}

/* ---- JSON: an array of objects, each with its logs ------------------------------------------------------- */

static json_t *json_real_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *score_run_json(const struct run_entry *r)
{
    json_t *o = json_object();
    json_object_set_new(o, "file", json_string(r->file));
    json_object_set_new(o, "counts", json_boolean(run_counts(r)));
    json_object_set_new(o, "success", json_boolean(r->converged));
    json_object_set_new(o, "time_to_train_s", json_real_or_null(r->minutes * 60));
    json_object_set_new(o, "samples_to_converge", json_real_or_null(r->measures[MEASURE_SAMPLES]));
    json_object_set_new(o, "problem", r->problem ? json_string(r->problem) : json_null());
    return o;
}

/* Writes the logs one by one, as there may be any number. */
static void print_json_row(FILE *f, const struct score_row *row, bool first)
{
    json_t *o = json_object();
    for (size_t i = 0; i < N_SCORE_COLUMNS; i++) {
        const struct score_column *c = &score_columns[i];
        json_object_set_new(o, c->name, c->kind == COLUMN_TEXT ? json_string(score_text(row, c))
                          : c->kind == COLUMN_COUNT ? json_integer((json_int_t)score_count(row, c)) : json_real_or_null(score_real(row, c)));
    }
    char *text = json_dumps(o, JSON_REAL_PRECISION(15));
    fprintf(f, "%s%.*s, \"logs\": [", first ? "" : ",\n", (int)strlen(text) - 1, text);
    free(text);
    json_decref(o);
    for (size_t i = 0; !row->folder->problem && i < row->folder->n; i++) {
        json_t *run = score_run_json(&row->folder->runs[i]);
        fputs(i ? ",\n" : "\n", f);
        json_dumpf(run, f, JSON_REAL_PRECISION(15));
        json_decref(run);
    }
    fputs("]}", f);
}

/* ---- any format --------------------------------------------------------------------------------------------- */

void score_print_head(FILE *out, enum score_format format)
{
    if (format == SCORE_TEXT)
        print_text_head(out);
    else if (format == SCORE_CSV)
        print_csv_head(out);
    else
        fprintf(out, "[\n");
}

void score_print_row(FILE *out, enum score_format format, const struct score_row *row, bool first)
{
    if (format == SCORE_TEXT)
        print_text_row(out, row);
    else if (format == SCORE_CSV)
        print_csv_row(out, row);
    else
        print_json_row(out, row, first);
}

void score_print_foot(FILE *out, enum score_format format)
{
    if (format == SCORE_JSON)
        fprintf(out, "\n]\n");
}
