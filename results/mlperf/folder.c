/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.c - names a folder of logs by its path, then reads, judges and scores its logs; see mlperf.h.
 */
#include <fcntl.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/mlperf/mlperf_internal.h"

/* ---- names from a path -----------------------------------------------------------------------------
 *
 *     training_results_v2.0/ORG/results/SYSTEM/BENCHMARK      v2.0/closed/ORG/SYSTEM/BENCHMARK      SYSTEM/BENCHMARK
 *     hpc_results_v3.0/ORG/results/SYSTEM/strong/BENCHMARK    hpc_results_v3.0/ORG/results/SYSTEM/weak/BENCHMARK
 */

struct path_parts { char **names; size_t n; };

static const char *path_part(const struct path_parts *p, size_t from_end)
{
    return from_end <= p->n ? p->names[p->n - from_end] : "";
}

static void split_path(struct path_parts *p, const char *path, struct arena *a)
{
    char *rest = NULL;
    *p = (struct path_parts){ .names = ARENA_ROOM(a, char *, strlen(path)) };
    for (char *name = strtok_r(arena_strdup(a, path), "/", &rest); name; name = strtok_r(NULL, "/", &rest))
        p->names[p->n++] = name;
}

/* The round in a folder's name: "v2.0" in "v2.0" and "training_results_v2.0", "hpc-v3.0" in "hpc-v3.0" and "hpc_results_v3.0". An unknown
 * round such as v9.9 is returned, too, so that it is refused later. NULL if there is none. */
static const char *round_in(const char *name, struct arena *a)
{
    static const struct { const char *before, *suite; } forms[] = { { "training_results_", "" }, { "hpc_results_", "hpc-" }, { "hpc-", "hpc-" }, { "", "" } };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i].before);
        unsigned major, minor;
        int used = 0;
        if (strncmp(name, forms[i].before, n) == 0)
            return sscanf(name + n, "v%u.%u%n", &major, &minor, &used) == 2 && name[n + used] == 0 ? arena_printf(a, "%s%s", forms[i].suite, name + n) : NULL;
    }
    return NULL;
}

static bool is_metric(const char *name)
{
    return text_is(name, "strong") || text_is(name, "weak");
}

void folder_names_from(struct folder_names *out, const struct judge *j, const char *path, const char *logged_benchmark, struct arena *a)
{
    struct path_parts p;
    split_path(&p, path, a);
    *out = (struct folder_names){ "", "", "", "", "", "" };
    bool in_benchmark = judge_knows(j, path_part(&p, 1)) || text_is(path_part(&p, 1), logged_benchmark);
    size_t system_at = in_benchmark || text_is(path_part(&p, 3), "results") ? 2 : 1;
    if (system_at == 2)
        out->benchmark = path_part(&p, 1);
    if (in_benchmark && is_metric(path_part(&p, 2)))
        out->metric = path_part(&p, 2), system_at = 3;
    out->system = path_part(&p, system_at);
    bool in_results = text_is(path_part(&p, system_at + 1), "results");
    for (size_t i = 1; i <= p.n; i++) {
        if (!*out->division && (text_is(path_part(&p, i), "closed") || text_is(path_part(&p, i), "open")))
            out->division = path_part(&p, i);
        const char *round = round_in(path_part(&p, i), a);
        if (!*out->round && round)
            out->round = round;
    }
    const char *submitter = path_part(&p, system_at + (in_results ? 2 : 1));
    bool named = in_results || (*out->division && text_is(path_part(&p, system_at + 2), out->division));
    if (*submitter && named)
        out->submitter = submitter;
}

const char *folder_remark(const char *path_round, const struct edition *e, struct arena *a)
{
    bool other = e && *path_round && !text_is(path_round, e->round);
    const char *date = edition_provisional(e), *judged = other ? arena_printf(a, "judged as %s, though the path says %s", e->round, path_round) : "";
    return date ? arena_printf(a, "%s%s%s is provisional, rules of %s", judged, other ? "; " : "", e->round, date) : judged;
}

const char *ruleset_text(const struct edition *e, struct arena *a)
{
    const char *date = edition_provisional(e);
    return date ? arena_printf(a, "%s (provisional, rules of %s)", e->ruleset, date) : e->ruleset;
}

/* ---- names of a folder ------------------------------------------------------------------------------------------- */

/* The number of logs that threads judge together. The caller takes them in order, so results do not depend on the number of threads. */
enum { MOST_AT_ONCE = 16 };
struct judged_log { struct log_judgement judgement; const char *path; bool read; struct err why; struct arena arena; };

struct folder_reading {
    struct folder *f; struct judge *j; struct package package; log_sink *sink; void *user;
    const char *path_round;
    struct judged_log batch[MOST_AT_ONCE];
};

static void name_by_path(struct folder_reading *r, const char *logged_benchmark, struct arena *a)
{
    struct folder *f = r->f;
    struct folder_names names;
    folder_names_from(&names, r->j, utf8_text(f->dir, a), logged_benchmark, a);
    f->round = names.round, f->division = names.division, f->submitter = names.submitter, f->system = names.system;
    f->benchmark = names.benchmark;
    f->metric = names.metric;
    const char *wanted = r->j->options->ruleset ? r->j->options->ruleset : f->round;
    f->edition = edition_find(&r->j->rounds, wanted);
    f->remark = "", r->path_round = names.round;
    struct err why;
    if (*wanted && !f->edition && !edition_unknown(&r->j->rounds, wanted, &why))
        f->problem = arena_strdup(a, why.msg);
}

/* Fills in, from the first log, the names that the path does not have. */
static void name_by_log(struct folder *f, const struct log_judgement *l, struct arena *a)
{
    const struct { const char **slot, *logged; bool first; } names[] = {
        { &f->benchmark, l->benchmark, false }, { &f->division, l->division, false }, { &f->submitter, l->run.org, false },
        { &f->system, l->run.platform, false }, { &f->round, l->edition ? l->edition->round : NULL, true },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].logged && (names[i].first || !**names[i].slot))
            *names[i].slot = utf8_text(arena_strdup(a, names[i].logged), a);
    f->edition = l->edition;
    f->rules = l->rules;
    f->throughput_method = l->run.throughput_method;
}

/* ---- one log -------------------------------------------------------------------------------------------- */

/* Samples to converge: the convergence point if it counts samples or steps, or else those of the epochs. Old logs have a point of 1. */
static double samples_of(const struct log_judgement *l)
{
    const char *unit = l->rules ? l->rules->terms->unit : "";
    double each = text_is(unit, "samples") ? 1 : text_is(unit, "steps") ? l->batch : 0;
    return l->point > 1 && each != 0 ? l->point * each : l->run.samples_to_converge;
}

static void keep_measures(double *m, const struct run_log *r)
{
    m[MEASURE_EPOCHS] = r->epochs_trained;
    m[MEASURE_SAMPLES] = r->samples_to_converge;
    m[MEASURE_BATCH] = r->global_batch;
    m[MEASURE_ACCUMULATION] = r->grad_accum;
    m[MEASURE_THROUGHPUT] = r->throughput_samples_per_s;
    m[MEASURE_UNIT_TIME] = r->train_unit_s;
    m[MEASURE_EVAL_TIME] = r->eval_time_s;
    m[MEASURE_STARTUP] = r->startup_s;
    m[MEASURE_INIT] = r->init_s;
    m[MEASURE_INSTANCE] = r->nodes * fmax(r->accelerators_per_node, 1);
}

static void keep_seeds(struct package *p, const struct log_judgement *l, size_t index)
{
    for (size_t i = 0; i < l->n_seeds; i++) {
        p->seeds = arena_grow(p->a, p->seeds, p->n_seeds, &p->cap_seeds, sizeof *p->seeds);
        p->seeds[p->n_seeds] = l->seeds[i];
        p->seeds[p->n_seeds++].log = (uint32_t)index;
    }
}

static const char *first_refused_key(const struct compliance *c, struct arena *a)
{
    for (size_t i = 0; i < c->n_messages; i++)
        if (c->messages[i].severity == SEVERITY_ERROR)
            return arena_strdup(a, *c->messages[i].key ? c->messages[i].key : c->messages[i].text);
    return NULL;
}

static void keep_logged(struct package *p, const struct log_judgement *l)
{
    const struct { const char **slot, *logged; } texts[] = {
        { &p->logged.division, l->division }, { &p->logged.org, l->run.org }, { &p->logged.platform, l->run.platform }, { &p->logged.status, l->run.availability },
        { &p->logged.config, l->run.config },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!*texts[i].slot || !**texts[i].slot)
            *texts[i].slot = texts[i].logged ? utf8_text(arena_strdup(p->a, texts[i].logged), p->a) : "";
}

static void keep_run(struct folder_reading *r, const struct log_judgement *l, size_t index)
{
    struct run_entry *e = &r->f->runs[index];
    const struct run_log *run = &l->run;
    e->compliant = l->compliance.passed;
    e->converged = run->success;
    e->problem = run->problem;          /* the text is a constant, so it outlives the log */
    e->has_seed = l->n_seeds > 0, e->bad_seed = l->bad_seed != NULL, e->bad_lines = run->has_bad_line;
    e->start_ms = run->run_start_ms, e->minutes = run->time_to_train_s / 60, e->point = l->point, e->last_train_samples = l->last_train_samples;
    e->n_errors = l->compliance.n_errors, e->n_warnings = l->compliance.n_warnings;
    e->refused_key = first_refused_key(&l->compliance, r->package.a);
    e->benchmark = l->benchmark ? arena_strdup(r->package.a, l->benchmark) : "";
    e->stops = l->stops ? arena_strdup(r->package.a, l->stops) : NULL;
    keep_logged(&r->package, l);
    keep_measures(e->measures, run);
    e->measures[MEASURE_SAMPLES] = samples_of(l);
    keep_seeds(&r->package, l, index);
    if (!isnan(l->batch)) {
        r->package.batch_differs = r->package.batch_differs || l->batch_differs || (!isnan(r->f->batch) && r->f->batch != l->batch);
        r->f->batch = l->batch;
    }
}

/* Warns if path and log name different benchmarks or divisions. The package is judged by the path, the log by its own lines. */
static void warn_of_place(const struct folder *f, struct log_judgement *l, struct arena *a)
{
    const struct { const char *key, *logged, *by_path; } names[] = {
        { "submission_benchmark", l->benchmark, f->benchmark }, { "submission_division", l->division, f->division },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].logged && *names[i].by_path && !text_is(names[i].logged, names[i].by_path))
            compliance_say(&l->compliance, (struct log_message){ SEVERITY_WARNING, 0, names[i].key,
                arena_printf(a, "is '%.60s', and the log is among those of '%.60s'", names[i].logged, names[i].by_path) }, a);
}

static void take_log(struct folder_reading *r, struct judged_log *l, size_t index, struct arena *a)
{
    struct folder *f = r->f;
    const char *name = f->runs[index].file;
    if (!l->read) {
        size_t n = strlen(l->path);             /* most messages begin with the path, which is left out */
        f->problem = arena_printf(a, "%s%s", name, strncmp(l->why.msg, l->path, n) == 0 ? l->why.msg + n : arena_printf(a, ": %s", l->why.msg));
        return;
    }
    if (index == 0)
        name_by_log(f, &l->judgement, a);
    warn_of_place(f, &l->judgement, &l->arena);
    keep_run(r, &l->judgement, index);
    if (r->sink)
        r->sink(r->user, f, l->path, &l->judgement);
}

/* ---- logs judged by threads -------------------------------------------------------------------------------- */

/* A batch of logs. Threads use a copy of the caller's judge, which shares its tables and reports no progress. */
struct log_batch { const struct folder *f; struct judged_log *logs; size_t first; struct judge *judge, copy; };

static void judge_log(void *user, size_t i, uint32_t worker)
{
    struct log_batch *b = user;
    struct judged_log *l = &b->logs[i];
    const char *benchmark = *b->f->benchmark ? b->f->benchmark : NULL;
    l->path = arena_printf(&l->arena, "%s/%s", b->f->dir, b->f->runs[b->first + i].file);
    l->read = log_judge(&l->judgement, worker ? &b->copy : b->judge, l->path, false, b->f->edition, benchmark, &l->arena, &l->why);
}

/* Judges a batch of logs from `first` on, and returns their number. If the path does not name round and benchmark, the first log is judged
 * alone, as it names them for the others. Shared tables are loaded before threads start. */
static size_t judge_logs(struct folder_reading *r, size_t first)
{
    const struct rule_book *book;
    const struct benchmark_rules *rules;
    struct judge *j = r->j;
    bool alone = j->options->n_threads < 2 || !r->f->edition || !*r->f->benchmark;
    bool loaded = !alone && rules_of(&book, &j->library, r->f->edition, NULL) && judge_benchmark(&rules, j, r->f->edition, r->f->benchmark, NULL);
    struct log_batch b = { r->f, r->batch, first, j, *j };
    size_t n = alone ? 1 : min_u64(r->f->n - first, MOST_AT_ONCE);
    b.copy.options = &j->quiet;
    work_in_pieces(judge_log, &b, n, loaded ? j->options->n_threads : 1);
    return n;
}

static void read_logs(struct folder_reading *r, struct arena *a)
{
    for (size_t at = 0, n; at < r->f->n && !r->f->problem; at += n) {
        n = judge_logs(r, at);
        for (size_t i = 0; i < n && !r->f->problem; i++)
            take_log(r, &r->batch[i], at + i, a);
        for (size_t i = 0; i < n; i++)
            arena_reset(&r->batch[i].arena);
    }
    for (size_t i = 0; i < MOST_AT_ONCE; i++)
        arena_free(&r->batch[i].arena);
}

/* ---- the score -------------------------------------------------------------------------------------------- */

double olympic_minutes(double *minutes, size_t n, size_t dropped)
{
    size_t refused = 0;
    for (size_t i = 0; i < n; i++)
        refused += !isfinite(minutes[i]);
    gsl_sort(minutes, 1, n);
    return refused <= dropped && n > 2 * dropped ? gsl_stats_mean(minutes + dropped, 1, n - 2 * dropped) : (double)NAN;
}

static const char *say_no_score(const struct folder *f, size_t refused, struct arena *a)
{
    size_t dropped = f->rules->terms->dropped;
    for (size_t i = 0; i < f->n && refused > dropped; i++)
        if (f->runs[i].problem)
            return arena_printf(a, "%zu of %zu runs are refused (%s: %s), at most %zu may be", refused, f->n, f->runs[i].file,
                                f->runs[i].problem, dropped);
    if (refused > dropped)
        return arena_printf(a, "%zu of %zu runs are refused, at most %zu may be", refused, f->n, dropped);
    return arena_printf(a, "%zu runs, of which %zu are dropped, leave none", f->n, 2 * dropped);
}

/* Takes the factor from scaling.json, or from the reference test if the edition scales without that file. It is at least 1: a submission that
 * converges faster than the reference is slowed down to it. */
static void apply_scaling(struct folder *f, struct arena *a)
{
    static const double most = 1e6;     /* far above published factors, which are below 1.2 */
    const char *path = arena_printf(a, "%s/scaling.json", f->dir);
    json_t *doc = load_small_json(path);
    double x;
    if (mllog_number(json_object_get(doc, "scaling_factor"), &x) && x >= 1 && x <= most)
        f->scaling = x;
    else if (doc || access(path, F_OK) == 0)
        f->why_no_score = "scaling.json has no scaling_factor that is a number from 1";
    else if (f->edition->scales_unwritten && f->has_rcp && text_is(f->division, "closed"))
        f->scaling = f->rcp.scaling;
    json_decref(doc);
}

/* Scores weak scaling of MLPerf HPC: the time from the first run_start to the last run_stop over all models that comply. */
static void compute_weak_score(struct folder *f, struct arena *a)
{
    double first_ms = HUGE_VAL, last_ms = -HUGE_VAL;
    for (const struct run_entry *r = f->runs; r < f->runs + f->n; r++)
        if (r->compliant && !r->problem) {
            first_ms = fmin(first_ms, r->start_ms), last_ms = fmax(last_ms, r->start_ms + r->minutes * 60e3);
            f->n_models++;
        }
    f->olympic_minutes = f->score_minutes = (last_ms - first_ms) / 60e3;
    if (f->n_models >= f->rules->terms->runs)
        return;
    f->olympic_minutes = f->score_minutes = NAN;
    f->why_no_score = arena_printf(a, "%zu models trained by the rules, %s wants at least %u", f->n_models, f->edition->round, f->rules->terms->runs);
}

static void compute_score(struct folder *f, struct arena *a)
{
    if (text_is(f->metric, "weak")) {
        compute_weak_score(f, a);
        return;
    }
    double *minutes = ARENA_ARRAY(a, double, f->n);
    size_t refused = 0;
    for (size_t i = 0; i < f->n; i++) {
        bool counts = f->runs[i].compliant && !f->runs[i].problem;
        minutes[i] = counts ? f->runs[i].minutes : HUGE_VAL;
        refused += !counts;
    }
    f->olympic_minutes = olympic_minutes(minutes, f->n, f->rules->terms->dropped);
    if (f->edition->reads_scaling)
        apply_scaling(f, a);
    f->score_minutes = f->why_no_score ? (double)NAN : f->olympic_minutes * f->scaling;
    if (isnan(f->olympic_minutes))
        f->why_no_score = say_no_score(f, refused, a);
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */

static void refuse_folder(struct folder *f, struct judge *j, struct arena *a)
{
    struct err why;
    if (!f->problem && !f->rules) {
        benchmark_unknown(&j->rounds, f->benchmark, f->edition, &why);
        f->problem = arena_strdup(a, why.msg);
    } else if (!f->problem && !f->rules->terms->allowed) {
        f->problem = arena_printf(a, "benchmark '%s' is not one that %s takes", f->benchmark, f->edition->round);
    }
    if (f->problem)
        f->why_no_score = f->problem;
}

void folder_judge(struct folder *out, struct judge *j, const char *dir, char *const *logs, size_t n, log_sink *sink, void *user,
                  struct arena *a)
{
    *out = (struct folder){ .dir = dir, .n = n, .batch = NAN, .score_minutes = NAN, .olympic_minutes = NAN, .scaling = 1, .energy_j = NAN, .metric = "" };
    struct folder_reading r = { .f = out, .j = j, .package = { .f = out, .j = j, .a = a }, .sink = sink, .user = user };
    out->runs = ARENA_ARRAY(a, struct run_entry, n);
    name_by_path(&r, NULL, a);
    for (size_t i = 0; i < n; i++)
        out->runs[i].file = logs[i];
    read_logs(&r, a);
    out->remark = folder_remark(r.path_round, out->edition, a);
    refuse_folder(out, j, a);
    if (out->problem)
        return;
    package_judge(&r.package);
    compute_score(out, a);
    package_note_disagreements(&r.package);
    power_energy(&r.package);
}
