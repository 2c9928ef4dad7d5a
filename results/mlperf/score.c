/*
 * score.c - walks a tree of MLPerf results and scores it; see score.h.
 *
 * Rules: mlcommons/training_policies, "Benchmark results" and "Number of runs". A benchmark asks for 5 or 10 runs (unet3d 40, of which
 * 4 fastest and 4 slowest are dropped). With fewer runs than asked for the plain mean is given, and the note says so.
 */
#include "results/mlperf/score.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/mlperf/rcp.h"

enum { DEEPEST_TREE = 16 };

/* ---- the score --------------------------------------------------------------------------- */

static size_t runs_dropped(const char *benchmark)
{
    return text_is(benchmark, "unet3d") ? 4 : 1;    /* at each end; as many may fail */
}

static double window_score(const double *minutes, size_t n, size_t dropped)
{
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return NAN;
    memcpy(sorted, minutes, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    bool valid = n > 2 * dropped && isfinite(sorted[n - dropped - 1]);
    double score = valid ? gsl_stats_mean(sorted + dropped, 1, n - 2 * dropped) : HUGE_VAL;
    free(sorted);
    return score;
}

static double median_window(const double *minutes, size_t n, size_t required, size_t dropped, struct arena *a)
{
    size_t n_windows = n - required + 1;
    double *scores = ARENA_ARRAY(a, double, n_windows);
    for (size_t i = 0; i < n_windows; i++)
        scores[i] = window_score(minutes + i, required, dropped);
    gsl_sort(scores, 1, n_windows);
    return scores[n_windows / 2];
}

static double mean_finite(const double *v, size_t n)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(v[i]))
            sum += v[i], count++;
    return count > 0 ? sum / count : (double)NAN;
}

double olympic_score(const double *minutes, size_t n, const char *benchmark, const char **note, struct arena *a)
{
    uint32_t required = rcp_runs(benchmark);
    size_t dropped = runs_dropped(benchmark), n_failed = 0;
    for (size_t i = 0; i < n; i++)
        n_failed += !isfinite(minutes[i]);
    *note = "";
    if (!*benchmark) {
        *note = "no benchmark named: plain mean";
        return mean_finite(minutes, n);
    }
    if (required == 0) {
        *note = arena_printf(a, "'%s' is no benchmark with a known number of runs: plain mean", benchmark);
        return mean_finite(minutes, n);
    }
    if (n < required) {
        *note = arena_printf(a, "%zu of %u runs: plain mean, not a score", n, required);
        return mean_finite(minutes, n);
    }
    double score = n == required ? window_score(minutes, n, dropped) : median_window(minutes, n, required, dropped, a);
    if (!isfinite(score)) {
        *note = arena_printf(a, "%zu runs did not converge, at most %zu may", n_failed, dropped);
        return NAN;
    }
    if (n > required)
        *note = arena_printf(a, "%zu runs: median over windows of %u", n, required);
    return score;
}

/* ---- names from the path ------------------------------------------------------------------- */

struct parts { char *names[64]; size_t n; };

static const char *part(const struct parts *p, size_t from_end)
{
    return from_end <= p->n ? p->names[p->n - from_end] : "";
}

static void split_path(struct parts *p, const char *path, struct arena *a)
{
    char *rest = NULL;
    *p = (struct parts){ .n = 0 };
    for (char *name = strtok_r(arena_strdup(a, path), "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
        if (p->n == sizeof p->names / sizeof *p->names)
            memmove(p->names, p->names + 1, --p->n * sizeof *p->names);
        p->names[p->n++] = name;
    }
}

/* "v2.0" of "v2.0" and of "training_results_v2.0". */
static const char *round_in(const char *name)
{
    const char *v = strncmp(name, "training_results_", 17) ? name : name + 17;
    return *rcp_ruleset(v) && *v == 'v' ? v : "";
}

static void names_from_path(struct score_row *row, const char *path, struct arena *a)
{
    struct parts p;
    split_path(&p, path, a);
    bool in_benchmark = rcp_runs(part(&p, 1)) > 0 || text_is(part(&p, 1), row->logs[0].benchmark);
    size_t system_at = in_benchmark ? 2 : 1;
    if (in_benchmark && !*row->benchmark)
        row->benchmark = part(&p, 1);
    row->system = part(&p, system_at);
    bool in_results = text_is(part(&p, system_at + 1), "results");
    const char *submitter = part(&p, system_at + (in_results ? 2 : 1));
    for (size_t i = 1; i <= p.n; i++) {
        if (text_is(part(&p, i), "closed") || text_is(part(&p, i), "open"))
            row->division = !*row->division ? part(&p, i) : row->division;
        if (!*row->round)
            row->round = round_in(part(&p, i));
    }
    bool named = in_results || (*row->division && text_is(part(&p, system_at + 2), row->division));
    if (*submitter && named)
        row->submitter = submitter;
}

static void name_row(struct score_row *row, const char *path, struct arena *a)
{
    const struct run_log *first = row->logs;
    row->benchmark = first->benchmark ? first->benchmark : "";
    row->round = row->system = row->division = row->submitter = "";
    names_from_path(row, path, a);
    if (first->division)
        row->division = first->division;
    if (!*row->submitter && first->org)
        row->submitter = first->org;
    if (!*row->system && first->platform)
        row->system = first->platform;
}

/* ---- one folder of logs ------------------------------------------------------------------------ */

static double median_over(const struct score_row *row, size_t offset, struct arena *a)
{
    double *v = ARENA_ARRAY(a, double, row->runs);
    size_t n = 0;
    bool all = row->failed == row->runs;
    for (size_t i = 0; i < row->runs; i++) {
        double x = *(const double *)((const char *)&row->logs[i] + offset);
        if (isfinite(x) && (all || row->logs[i].success))
            v[n++] = x;
    }
    return median_of(v, n);
}

#define MEDIAN(member) median_over(row, offsetof(struct run_log, member), a)

static void take_medians(struct score_row *row, struct arena *a)
{
    row->epochs_to_converge = MEDIAN(epochs_trained);
    row->samples_to_converge = MEDIAN(samples_to_converge);
    row->global_batch = MEDIAN(global_batch);
    row->grad_accum = MEDIAN(grad_accum);
    row->throughput_samples_per_s = MEDIAN(throughput_samples_per_s);
    row->train_unit_s = MEDIAN(train_unit_s);
    row->eval_time_s = MEDIAN(eval_time_s);
    row->startup_time_s = MEDIAN(startup_s);
    row->init_time_s = MEDIAN(init_s);
    row->throughput_method = row->logs[0].throughput_method;
}

static int by_start(const void *x, const void *y)
{
    const struct run_log *a = x, *b = y;
    if (a->run_start_ms != b->run_start_ms && !isnan(a->run_start_ms) && !isnan(b->run_start_ms))
        return a->run_start_ms < b->run_start_ms ? -1 : 1;
    return strcmp(a->path, b->path);
}

/* The runs' minutes in order of time; HUGE_VAL for one that did not converge. */
static double *take_minutes(struct score_row *row, struct arena *a)
{
    struct run_log *ordered = ARENA_ARRAY(a, struct run_log, row->runs);
    double *minutes = ARENA_ARRAY(a, double, row->runs);
    memcpy(ordered, row->logs, row->runs * sizeof *ordered);
    qsort(ordered, row->runs, sizeof *ordered, by_start);
    row->min_minutes = HUGE_VAL, row->max_minutes = -HUGE_VAL;
    for (size_t i = 0; i < row->runs; i++) {
        bool converged = ordered[i].success && !ordered[i].problem;
        minutes[i] = converged ? ordered[i].time_to_train_s / 60 : HUGE_VAL;
        row->failed += !converged;
        if (converged && minutes[i] < row->min_minutes)
            row->min_minutes = minutes[i];
        if (converged && minutes[i] > row->max_minutes)
            row->max_minutes = minutes[i];
    }
    return minutes;
}

static bool read_scaling(struct score_row *row, const char *dir, struct arena *a)
{
    char *path = arena_printf(a, "%s/scaling.json", dir);
    json_t *doc = json_load_file(path, 0, NULL);
    bool found = mllog_number(json_object_get(doc, "scaling_factor"), &row->scaling);
    json_decref(doc);
    return found;
}

/* Where the committee's file is absent: from 2.1.0 on a submission faster than the reference is brought back to it. */
static void compute_scaling(struct score_row *row, const char *data_dir, struct arena *a)
{
    struct rcp_verdict v;
    double *points = ARENA_ARRAY(a, double, row->runs);
    for (size_t i = 0; i < row->runs; i++)
        points[i] = row->logs[i].success ? row->logs[i].convergence_point : HUGE_VAL;
    if (data_dir && strcmp(rcp_ruleset(row->round), "2.1.0") >= 0 && text_is(row->division, "closed")
        && rcp_check(&v, row->benchmark, row->round, row->global_batch, points, row->runs, data_dir, a, NULL))
        row->scaling = v.scaling;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void score_row_finish(struct score_row *row, const char *dir, const char *data_dir, struct arena *a)
{
    name_row(row, utf8_text(dir, a), a);
    double *minutes = take_minutes(row, a);
    take_medians(row, a);
    row->required_runs = rcp_runs(row->benchmark);
    row->scaling = 1;
    if (!read_scaling(row, dir, a))
        compute_scaling(row, data_dir, a);
    row->score_minutes = row->scaling * olympic_score(minutes, row->runs, row->benchmark, &row->note, a);
    for (size_t i = 0; i < row->runs; i++)
        if (row->logs[i].problem)
            row->note = arena_printf(a, "%s%s%s: %s", row->note, *row->note ? "; " : "", file_name(row->logs[i].path), row->logs[i].problem);
    row->mean_minutes = mean_finite(minutes, row->runs);
    row->spread = (row->max_minutes - row->min_minutes) / row->mean_minutes;
}

/* ---- the tree ----------------------------------------------------------------------------------- */

struct walk { struct score_table *table; const char *top, *data_dir; struct arena *a; struct err *err; };

static bool is_result(const char *name)
{
    size_t n = strlen(name);
    return n > 11 && !strncmp(name, "result_", 7) && text_is(name + n - 4, ".txt");
}

static bool add_folder(struct walk *w, const char *dir, char **names, size_t n)
{
    struct score_table *t = w->table;
    struct score_row row = { .logs = ARENA_ARRAY(w->a, struct run_log, n) };
    for (size_t i = 0; i < n; i++)
        if (is_result(names[i])
            && !run_log_read(&row.logs[row.runs++], arena_printf(w->a, "%s/%s", dir, names[i]), w->a, w->err))
            return false;
    if (row.runs == 0)
        return true;
    row.path = utf8_text(dir[strlen(w->top)] ? dir + strlen(w->top) + 1 : ".", w->a);
    score_row_finish(&row, dir, w->data_dir, w->a);
    t->items = arena_grow(w->a, t->items, t->n, &t->cap, sizeof *t->items);
    t->items[t->n++] = row;
    return true;
}

static bool walk_folder(struct walk *w, const char *dir, int depth)
{
    char **names;
    size_t n;
    struct stat s;
    if (!list_folder(&names, &n, dir, "", w->a, w->err) || !add_folder(w, dir, names, n))
        return false;
    for (size_t i = 0; i < n && depth < DEEPEST_TREE; i++) {
        char *path = arena_printf(w->a, "%s/%s", dir, names[i]);
        if (stat(path, &s) == 0 && S_ISDIR(s.st_mode) && !walk_folder(w, path, depth + 1))
            return false;
    }
    return true;
}

bool score_tree(struct score_table *out, const char *dir, const char *data_dir, struct arena *a, struct err *err)
{
    char top[PATH_MAX];
    struct walk w = { out, top, data_dir, a, err };
    *out = (struct score_table){ 0 };
    if (!realpath(dir, top))
        return fail(err, "%s: no such folder, want one that holds result_N.txt files somewhere below", dir);
    if (!walk_folder(&w, arena_strdup(a, top), 0))
        return false;
    return out->n > 0 || fail(err, "%s: no result_N.txt in it or below it", dir);
}

/* ---- printing: one table of columns for all formats ------------------------------------------------ */

enum column_kind { COLUMN_TEXT, COLUMN_COUNT, COLUMN_REAL };

#define T(member, width) { #member, COLUMN_TEXT, offsetof(struct score_row, member), width }
#define N(member, width) { #member, COLUMN_COUNT, offsetof(struct score_row, member), width }
#define R(member, width) { #member, COLUMN_REAL, offsetof(struct score_row, member), width }

/* width 0: not in the text table. */
static const struct column { const char *name; enum column_kind kind; size_t offset; int width; } columns[] = {
    T(round, 5), T(division, 8), T(submitter, 10), T(system, 30), T(benchmark, 9), N(runs, 4), N(failed, 6), N(required_runs, 0),
    R(score_minutes, 13), R(scaling, 0), R(mean_minutes, 0), R(min_minutes, 0), R(max_minutes, 0), R(spread, 8),
    R(epochs_to_converge, 0), R(samples_to_converge, 19), R(global_batch, 12), R(grad_accum, 0), R(throughput_samples_per_s, 24),
    R(train_unit_s, 0), R(eval_time_s, 11), R(startup_time_s, 14), R(init_time_s, 0), T(throughput_method, 0), T(note, 0), T(path, 0),
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static const char *text_at(const struct score_row *row, const struct column *c)
{
    return *(const char *const *)((const char *)row + c->offset);
}

static uint64_t count_at(const struct score_row *row, const struct column *c)
{
    return *(const uint64_t *)((const char *)row + c->offset);
}

static double real_at(const struct score_row *row, const struct column *c)
{
    return *(const double *)((const char *)row + c->offset);
}

static const char *cell(char out[64], const struct score_row *row, const struct column *c, int digits)
{
    if (c->kind == COLUMN_TEXT)
        return text_at(row, c);
    if (c->kind == COLUMN_COUNT)
        snprintf(out, 64, "%llu", (unsigned long long)count_at(row, c));
    else if (isfinite(real_at(row, c)))
        snprintf(out, 64, "%.*g", digits, real_at(row, c));
    else
        return "";
    return out;
}

/* Text: four decimals below a thousand (a score is judged by its thousandth of a minute), none above. */
static void print_cell(FILE *f, const struct score_row *row, const struct column *c)
{
    char room[64];
    const char *text = cell(room, row, c, 6);
    double x = c->kind == COLUMN_REAL ? real_at(row, c) : (double)NAN;
    if (isfinite(x) && x != floor(x))
        snprintf(room, sizeof room, fabs(x) < 1000 ? "%.4f" : "%.0f", x), text = room;
    else if (isfinite(x))
        snprintf(room, sizeof room, "%.0f", x), text = room;
    fprintf(f, c->kind == COLUMN_TEXT ? "%-*s  " : "%*s  ", c->width, *text ? text : "-");
}

void score_print(FILE *f, const struct score_table *t)
{
    for (size_t c = 0; c < N_COLUMNS; c++)
        if (columns[c].width)
            fprintf(f, columns[c].kind == COLUMN_TEXT ? "%-*s  " : "%*s  ", columns[c].width, columns[c].name);
    fprintf(f, "note\n");
    for (size_t i = 0; i < t->n; i++) {
        for (size_t c = 0; c < N_COLUMNS; c++)
            if (columns[c].width)
                print_cell(f, &t->items[i], &columns[c]);
        fprintf(f, "%s\n", *t->items[i].note ? t->items[i].note : "-");
    }
}

void score_write_csv(FILE *f, const struct score_table *t)
{
    char room[64];
    for (size_t c = 0; c < N_COLUMNS; c++)
        csv_write_cell(f, columns[c].name, c + 1 == N_COLUMNS);
    for (size_t i = 0; i < t->n; i++)
        for (size_t c = 0; c < N_COLUMNS; c++)
            csv_write_cell(f, cell(room, &t->items[i], &columns[c], 12), c + 1 == N_COLUMNS);
}

static json_t *run_json(const struct run_log *r)
{
    json_t *o = json_object();
    json_object_set_new(o, "file", json_string(file_name(r->path)));
    json_object_set_new(o, "success", json_boolean(r->success));
    json_object_set_new(o, "time_to_train_s", isfinite(r->time_to_train_s) ? json_real(r->time_to_train_s) : json_null());
    json_object_set_new(o, "samples_to_converge", isfinite(r->samples_to_converge) ? json_real(r->samples_to_converge) : json_null());
    json_object_set_new(o, "seed", r->seed ? json_string(r->seed) : json_null());
    return o;
}

static json_t *row_json(const struct score_row *row)
{
    json_t *o = json_object(), *runs = json_array();
    for (size_t i = 0; i < N_COLUMNS; i++) {
        const struct column *c = &columns[i];
        json_object_set_new(o, c->name, c->kind == COLUMN_TEXT ? json_string(text_at(row, c))
                          : c->kind == COLUMN_COUNT ? json_integer((json_int_t)count_at(row, c))
                          : isfinite(real_at(row, c)) ? json_real(real_at(row, c)) : json_null());
    }
    for (size_t i = 0; i < row->runs; i++)
        json_array_append_new(runs, run_json(&row->logs[i]));
    json_object_set_new(o, "logs", runs);
    return o;
}

json_t *score_json(const struct score_table *t)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < t->n; i++)
        json_array_append_new(rows, row_json(&t->items[i]));
    return rows;
}
