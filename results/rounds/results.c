/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results.c - the table of published results: its columns, its order, and the efficiencies that compare its rows; see rounds.h.
 *     scaling_efficiency = (samples/s / accelerators) / (samples/s / accelerators of the smallest system)
 *     time_efficiency    = (minutes x accelerators of the smallest system) / (minutes x accelerators)
 * The smallest system is the submitter's own with the same accelerator in that round, division and benchmark.
 */
#include "results/rounds/round_results.h"

#define C(member, ...) { COLUMN(struct round_result, member), .csv_digits = 12, __VA_ARGS__ }
#define SHOWN(text) .heading = text
const struct table_column round_result_columns[] = {
    C(round, SHOWN("round"), .help = "round of MLPerf Training"), C(date, .help = "day of the first run, in UTC"),
    C(division, SHOWN("division"), .help = "closed or open"), C(submitter, SHOWN("submitter"), .help = "folder of the submitter"),
    C(system, SHOWN("system"), .help = "folder of the system"),
    C(availability, .help = "status in the system description"), C(benchmark, SHOWN("benchmark"), .help = "folder of the benchmark"),
    C(accelerator, .help = "model in the system description; the processor of a system without accelerators"),
    C(vendor, .help = "vendor of the accelerator, by accelerators.csv"),
    C(accelerators, SHOWN("accelerators"), .help = "nodes x accelerators per node; processors of a system without accelerators"),
    C(nodes, .help = "number of nodes"), C(interconnect, .help = "between the accelerators of a node"), C(network, .help = "between nodes"),
    C(framework, .help = "framework in the system description"),
    C(global_batch, SHOWN("batch"), .format = "%.0f", .unit = "samples", .help = "global batch size"),
    C(samples_to_target, SHOWN("samples_to_target"), .format = "%.0f", .unit = "samples", .help = "median of the runs that converged"),
    C(epochs_to_target, .unit = "epochs", .help = "median of the runs that converged"),
    C(samples_per_s, SHOWN("samples/s"), .unit = "samples/s", .help = "median throughput; throughput_method says how it was measured"),
    C(minutes, SHOWN("minutes"), .format = "%.3f", .unit = "min", .help = "official score; empty where there is none"),
    C(spread, SHOWN("spread"), .format = "%.3f", .help = "slowest minus fastest run, over the mean"), C(runs, .help = "number of logs"),
    C(failed, .help = "logs that are refused"),
    C(scaling_efficiency, SHOWN("scaling"), .format = "%.3f", .help = "samples/s per accelerator, over that of smallest_system"),
    C(time_efficiency, .help = "the same for the score"), C(smallest_system, .help = "the submitter's smallest with this accelerator"),
    C(energy_j, SHOWN("energy_J"), .unit = "J", .help = "of a run, from power logs; empty without them"),
    C(power_w, .unit = "W", .help = "energy_j over the score"),
    C(converged_at, .help = "median convergence point, in unit"), C(reference_at, .help = "mean of the reference at this batch, in unit"),
    C(unit, .help = "unit of the round's convergence test"), C(ruleset, .help = "rules that the logs were judged by"),
    C(throughput_method, .help = "how throughput was measured"), C(note, SHOWN("note"), .help = "remarks, such as why there is no score"),
    C(path, .help = "folder of the logs"),
};
const size_t n_round_result_columns = sizeof round_result_columns / sizeof *round_result_columns;
#undef SHOWN
#undef C

void round_results_write(FILE *f, enum output_format format, const struct round_results *r)
{
    const struct table t = { .columns = round_result_columns, .n_columns = n_round_result_columns, .row_bytes = sizeof *r->items,
                             .rows = r->items, .n = r->n };
    table_write(f, format, &t);
}

void round_results_write_exactly(FILE *f, const struct round_results *r)
{
    enum { EXACT_DIGITS = 17 };
    struct arena a = {0};
    struct table_column *columns = ARENA_ROOM(&a, struct table_column, n_round_result_columns);
    for (size_t k = 0; k < n_round_result_columns; k++)
        columns[k] = round_result_columns[k], columns[k].csv_digits = EXACT_DIGITS;
    const struct table t = { .columns = columns, .n_columns = n_round_result_columns, .row_bytes = sizeof *r->items, .rows = r->items, .n = r->n };
    table_write(f, FORMAT_CSV, &t);
    arena_free(&a);
}

/* ---- reading a table back ------------------------------------------------------------------------------- */

static bool read_result_cell(struct round_result *row, const struct table_column *c, const char *text, const char *where, struct err *err)
{
    void *at = (char *)row + c->offset;
    if (c->type == CELL_TEXT)
        *(const char **)at = text;
    else if (*text && !parse_f64(text, at))
        return fail(err, "%s: %s: '%.60s' is not a number", where, c->name, text);
    return true;
}

static void set_unknown(struct round_result *row)
{
    *row = (struct round_result){0};
    for (size_t k = 0; k < n_round_result_columns; k++) {
        void *at = (char *)row + round_result_columns[k].offset;
        if (round_result_columns[k].type == CELL_TEXT)
            *(const char **)at = "";
        else
            *(double *)at = NAN;
    }
}

bool round_results_load(struct round_results *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    return csv_load(&t, path, a, err) && round_results_from(out, &t, a, err);
}

bool round_results_from(struct round_results *out, const struct csv_table *csv, struct arena *a, struct err *err)
{
    static const char *const needed[] = { "round", "submitter", "system", "benchmark", "minutes", "samples_per_s", NULL };
    if (!csv_has_columns(csv, needed, err))
        return false;
    for (size_t i = 0; i < csv->n_rows; i++) {
        out->items = arena_grow(a, out->items, out->n, &out->cap, sizeof *out->items);
        struct round_result *row = &out->items[out->n++];
        set_unknown(row);
        for (size_t k = 0; k < n_round_result_columns; k++)
            if (!read_result_cell(row, &round_result_columns[k], csv_cell(csv, &csv->rows[i], round_result_columns[k].name),
                                  arena_printf(a, "%s:%u", csv->path, csv->rows[i].line), err))
                return false;
    }
    return true;
}

/* ---- order and efficiencies -------------------------------------------------------------------------------- */

static int by_number(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* Sorts by round, benchmark, division, submitter and accelerator, then by the number of accelerators, then by names. */
static int by_row(const void *x, const void *y)
{
    const struct round_result *a = x, *b = y;
    const char *const texts[][2] = { { a->benchmark, b->benchmark }, { a->division, b->division }, { a->submitter, b->submitter },
                                     { a->accelerator, b->accelerator } };
    const char *const names[][2] = { { a->system, b->system }, { a->path, b->path } };
    int order = strverscmp(a->round, b->round);
    for (size_t i = 0; order == 0 && i < sizeof texts / sizeof *texts; i++)
        order = strcmp(texts[i][0], texts[i][1]);
    if (order == 0)
        order = by_number(a->accelerators, b->accelerators);
    for (size_t i = 0; order == 0 && i < sizeof names / sizeof *names; i++)
        order = strcmp(names[i][0], names[i][1]);
    return order;
}

static bool same_series(const struct round_result *a, const struct round_result *b)
{
    return text_is(a->round, b->round) && text_is(a->benchmark, b->benchmark) && text_is(a->division, b->division)
        && text_is(a->submitter, b->submitter) && text_is(a->accelerator, b->accelerator);
}

static void compare_with_smallest(struct round_result *row, const struct round_result *smallest)
{
    row->smallest_system = smallest->system;
    row->scaling_efficiency = (row->samples_per_s / row->accelerators) / (smallest->samples_per_s / smallest->accelerators);
    row->time_efficiency = (smallest->minutes * smallest->accelerators) / (row->minutes * row->accelerators);
}

void round_results_finish(struct round_results *r)
{
    size_t n = 0;
    sort_items(r->items, r->n, sizeof *r->items, by_row);
    for (size_t i = 0; i < r->n; i++)
        if (n == 0 || !*r->items[i].path || by_row(&r->items[n - 1], &r->items[i]) != 0)
            r->items[n++] = r->items[i];
    r->n = n;
    for (size_t i = 0, first = 0; i < r->n; i++) {
        if (!same_series(&r->items[first], &r->items[i]))
            first = i;
        compare_with_smallest(&r->items[i], &r->items[first]);
    }
}
