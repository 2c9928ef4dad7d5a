/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * baseline.c - podbench baseline: records a run with which later runs are compared, and the reason for recording it.
 *
 * reasons.csv gets one line for each record: the version, the number of predictions that moved, the largest move, if accuracy held, and the
 * reason for accepting the change. Lines are only appended, so branches merge. The same holds for first-sight.csv, which keeps the first
 * prediction and its interval for each published row that no earlier baseline had.
 */
#include "harness/harness.h"
#include "results/published/check.h"
#include "results/history/history.h"
#include "results/simulate/run_folder.h"
#include "results/study/trust.h"
#include <unistd.h>

static const char header[] = "version,moved,better,worse,largest,accuracy,reason\n";

static const char *reason_line(const struct gate *g, const char *reason, struct arena *a)
{
    size_t n;
    char *text = NULL;
    FILE *f = text_stream(&text, &n);
    fprintf(f, "%s,%zu,%zu,%zu,", PODBENCH_VERSION, g->n_moves, g->n_better, g->n_worse);
    csv_write_cell(f, g->n_moves ? arena_printf(a, "%s: %s", g->moves[0].id, g->moves[0].what) : "", false);
    csv_write_cell(f, gate_accuracy_holds(g) ? "holds" : "worse", false);
    csv_write_cell(f, reason, true);
    return text_close(f, &text, a);
}

struct baseline_reason { const char *path, *line; };

static bool write_reason(void *what, struct err *err)
{
    const struct baseline_reason *r = what;
    return append_lines(r->path, header, r->line, err);
}

/* ---- first sight ------------------------------------------------------------------------------------------ */

/* Converts a range of rates into the row's unit. A time falls as the rate rises, so the ends of its range change places. */
static void set_range(double *low, double *high, bool by_time, double predicted, const struct result *r, double low_rate, double high_rate)
{
    double rate = r->throughput_samples_per_s;
    *low = by_time ? predicted * rate / high_rate : low_rate;
    *high = by_time ? predicted * rate / low_rate : high_rate;
}

static bool is_time_of_step(const char *metric)
{
    return TEXT_IS_ONE_OF(metric, "step_time_s", "device_time_s", "device_cycles", "codelet_cycles");
}

/* Adds the interval that podbench run prints, in the row's unit. Only rows of throughput and of times of a step have one. */
static bool add_interval(struct sight *out, const struct figure *f, const struct track_record *record, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    struct validity v;
    bool by_time = is_time_of_step(f->metric);
    if (strpbrk(f->recipe, ":+") || (!by_time && !text_is(f->metric, "throughput_samples_per_s")))
        return true;
    struct simulation_request q = { .recipe = path_beside(f->path, f->recipe, &s->arena), .simulator = &s->simulator };
    if (!simulator_run(&s->simulator, &sim, &r, q.recipe, NULL, 0, err))
        return false;
    validity_of(&v, record, &sim, &r, NULL, &s->arena);
    validity_add_readings(&v, record, &r, &q, &s->arena);
    if (validity_has_interval(&v)) {
        set_range(&out->low, &out->high, by_time, out->predicted, &r, v.low, v.high);
        const struct log_interval open = open_readings_interval(&v.open, (struct expectation){0});
        if (open.low < 0 || open.high > 0)
            set_range(&out->open_low, &out->open_high, by_time, out->predicted, &r, v.throughput * exp(open.low), v.throughput * exp(open.high));
    }
    simulation_free(&sim);
    return true;
}

/* A line with the bytes counted on the tightest tile. It is "" if the row is not about fitting, or already has such a line. */
static bool memory_line(const char **line, const struct figure *f, const struct memory_sights *counted, const char *version, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    char *text = NULL;
    size_t n;
    *line = "";
    if (!text_is(f->metric, "fits") || f->kernel || memory_sight_find(counted, f->id))
        return true;
    if (!simulator_run(&s->simulator, &sim, &r, path_beside(f->path, f->recipe, &s->arena), NULL, 0, err))
        return false;
    const struct memory_need need = plan_memory_need(&sim.plan, sim.machine->chip.memory_error);
    FILE *out = text_stream(&text, &n);
    memory_sight_write(out, &(struct memory_sight){ f->id, version, (double)need.certain_bytes, (double)need.needed_bytes });
    *line = text_close(out, &text, &s->arena);
    simulation_free(&sim);
    return true;
}

/* The number of recorded baselines, each of which has a reason. */
static size_t n_baselines(struct session *s)
{
    struct csv_table reasons;
    const char *path = arena_printf(&s->arena, "%s/reasons.csv", s->baselines_dir);
    return access(path, F_OK) == 0 && csv_load(&reasons, path, &s->arena, NULL) ? reasons.n_rows : 0;
}

/* Collects a line for each row that the run predicts and no earlier baseline had. */
static bool new_sights(const char **lines, const char **memory, size_t *n_new, const char *folder, const struct first_sight *seen, struct session *s, struct err *err)
{
    const char *version = arena_printf(&s->arena, "%s baseline %zu", PODBENCH_VERSION, n_baselines(s) + 1);
    struct figures figures;
    struct csv_table check;
    struct track_record record;
    struct memory_sights counted;
    char *text = NULL;
    size_t n;
    if (!session_figures(&figures, NULL, s, err) || !memory_sights_load(&counted, session_memory_sights_path(s), &s->arena, err) || !csv_load(&check, arena_printf(&s->arena, "%s/check.csv", folder), &s->arena, err) ||
        !track_record_open(&record, s->validity_dir, &s->arena, err))
        return false;
    FILE *out = text_stream(&text, &n);
    bool good = true;
    *n_new = 0;
    *memory = "";
    for (size_t i = 0; i < figures.n && good; i++) {
        const struct figure *f = &figures.items[i];
        const struct csv_row *row = first_sight_find(seen, f->id, false) ? NULL : csv_row_named(&check, f->id);
        struct sight sight = { .id = f->id, .seen = "first", .version = version, .low = NAN, .high = NAN, .open_low = NAN, .open_high = NAN };
        if (!row || !parse_f64(csv_cell(&check, row, "simulated"), &sight.predicted))
            continue;
        const char *line;
        good = figure_recipe_hash(&sight.recipe, f, s->paths.recipes_dir, &s->arena, err) && add_interval(&sight, f, &record, s, err) && memory_line(&line, f, &counted, version, s, err);
        first_sight_write(out, &sight);
        *memory = good ? arena_printf(&s->arena, "%s%s", *memory, line) : *memory;
        ++*n_new;
    }
    *lines = text_close(out, &text, &s->arena);
    return good;
}

/* Appends to the tables of first sights, which exist only for the program's own figures and baseline. */
static bool record_first_sight(struct document *d, const char *folder, const struct options *o, struct session *s, struct err *err)
{
    if (o->baseline || root_is_installed(s->root) || !session_has_own_rows(s, o))
        return true;
    const char *path = arena_printf(&s->arena, "%s/%s.csv", s->published_dir, first_sight_name), *lines, *memory;
    struct first_sight seen = { 0 };
    size_t n_new;
    if (!session_first_sight(&seen, s, err) || !new_sights(&lines, &memory, &n_new, folder, &seen, s, err))
        return false;
    if (n_new)
        document_line(d, "%zu row%s seen for the first time: %s", n_new, plural(n_new), path);
    /* The lines about memory are written first. If the program is killed before the rows' first sights are written, these rows are simulated again by the next
     * call. */
    return (!*memory || append_lines(session_memory_sights_path(s), memory_sight_header, memory, err))
        && (n_new == 0 || append_lines(path, first_sight_header, lines, err));
}

int command_baseline(const struct options *o, struct session *s, struct err *err)
{
    const char *run = o->n_arguments ? o->arguments[0] : "latest";
    struct gate_tables tables[2];
    struct gate g = {0};
    struct document d = { .arena = &s->arena };
    double margin;
    if (!o->reason || !o->reason[strspn(o->reason, " \t")])
        return bad_input(err, "baseline: want a reason: podbench baseline %s --reason \"why the predictions moved\"", run);
    bool first = !baseline_is_recorded(s->baselines_dir, &s->arena);
    const char *folder = NULL;
    if (!margin_of(&margin, o, err) || !run_open(run, NULL, s, err) || !run_folder(&folder, run, s, err) ||
        (!first && !gate_of(&g, tables, s->baselines_dir, run, margin, s, err)))
        return EXIT_BAD_INPUT;
    struct baseline_reason reason = { arena_printf(&s->arena, "%s/reasons.csv", s->baselines_dir), reason_line(&g, o->reason, &s->arena) };
    const struct run_record record = { write_reason, &reason };
    if (!record_first_sight(&d, folder, o, s, err) || !run_folder_copy(s->baselines_dir, folder, &record, err))
        return EXIT_BAD_INPUT;
    if (first)
        document_line(&d, "recorded %s as the first baseline in %s", run, s->baselines_dir);
    else {
        gate_document(&d, &g);
        document_line(&d, "recorded in %s: %s", s->baselines_dir, o->reason);
    }
    document_write(s->out, FORMAT_TEXT, &d);
    return EXIT_DONE;
}
