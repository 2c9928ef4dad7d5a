/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.c - the power logs in a folder of logs: the energy of a run, and whether the package has all power logs; see mlperf.h.
 *     energy_j = (sum over nodes of conversion_eff * sum of P_i * (t_i - t_before)) * T / (stop - start)
 *              + sum over switches of conversion_eff * interconnect_power_est * T
 *
 * T is the run's time to train; start and stop are a node's lines power_measurement_start and _stop, and only readings between them count;
 * t_before is the time of the previous reading, or start. Lines are taken in the order of their times. A measurement without a stop ends with
 * its last reading. A switch that logs readings counts as a node; otherwise its efficiency is that of the last line before the estimate. The
 * energy of a folder is the olympic mean over the runs that the score counts, times the factor that scales the score. Sources:
 * mlcommons/training_policies power_measurement.adoc; mlcommons/logging result_summarizer and power_checker. Limit: the accuracy of meters is
 * not known here.
 */
#include <gsl/gsl_sort.h>
#include <unistd.h>

#include "results/mlperf/mlperf_internal.h"

enum { LEAST_READINGS = 60, MOST_POWER_EVENTS = 1 << 22 };
static const double slowest_reading_ms = 1000;

/* ---- one device --------------------------------------------------------------------------------------------- */

enum power_key { POWER_START, POWER_STOP, POWER_READING, POWER_EFFICIENCY, POWER_ESTIMATE, N_POWER_KEYS };
static const char *const power_keys[N_POWER_KEYS] = { "power_measurement_start", "power_measurement_stop", "power_reading", "conversion_eff",
                                                      "interconnect_power_est" };
struct power_event { double ms, value; uint64_t line; enum power_key key; };
struct power_log { const char *name; struct power_event *events; size_t n, cap; const char *problem; };     /* name: "power/result_0/node_0.txt" */

static void add_event(struct power_log *p, const struct mllog_line *l, struct arena *a)
{
    struct power_event e = { .ms = l->time_ms, .line = l->line };
    for (e.key = POWER_START; e.key < N_POWER_KEYS && !text_is(l->key, power_keys[e.key]); e.key++) {}
    bool measures = e.key == POWER_READING || e.key == POWER_EFFICIENCY || e.key == POWER_ESTIMATE;
    if (e.key == N_POWER_KEYS || p->n == MOST_POWER_EVENTS)
        return;
    if (measures && (!mllog_number(l->value, &e.value) || !isfinite(e.value))) {
        p->problem = p->problem ? p->problem : arena_printf(a, "%s:%" PRIu64 ": %s is not a number", p->name, l->line, l->key);
        return;
    }
    ARENA_APPEND(a, p->events, p->n, p->cap, e);
}

static void read_power_log(struct power_log *p, const char *path, struct arena *a)
{
    struct mllog_reader reader;
    struct mllog_line l;
    if (!mllog_open(&reader, path, false, NULL)) {
        p->problem = arena_printf(a, "%s cannot be read", p->name);
        return;
    }
    for (enum mllog_status s; (s = mllog_next_of(&reader, power_keys, N_POWER_KEYS, &l)) != MLLOG_END; )
        if (s == MLLOG_LINE)
            add_event(p, &l, a);
    mllog_close(&reader);
}

/* The readings from a start to its stop. without_stop: stops are ignored, and the measurement ends with its last reading. */
struct measurement { double start_ms, stop_ms, last_ms, watts_ms, longest_gap_ms; size_t n; uint64_t stop_line; bool started, stopped; };

static struct measurement measured(const struct power_log *p, bool without_stop)
{
    struct measurement m = { 0 };
    for (const struct power_event *e = p->events; e < p->events + p->n; e++) {
        if (e->key == POWER_START) {
            m.start_ms = m.last_ms = e->ms, m.started = true;
        } else if (e->key == POWER_STOP && !without_stop) {
            m.stop_ms = e->ms, m.stop_line = e->line, m.stopped = true;
        } else if (e->key == POWER_READING && m.started && !m.stopped) {
            m.watts_ms += e->value * (e->ms - m.last_ms);
            m.longest_gap_ms = fmax(m.longest_gap_ms, e->ms - m.last_ms);
            m.last_ms = e->ms, m.n++;
        }
    }
    if (!m.stopped)
        m.stop_ms = m.last_ms;
    return m;
}

/* The efficiency that applies to an estimate; with NULL, that of readings, which is the last one logged. */
static double efficiency(const struct power_log *p, const struct power_event *estimate)
{
    double conversion = 1;
    uint64_t last = 0;
    for (const struct power_event *e = p->events; e < p->events + p->n; e++) {
        bool later = estimate ? e->line > last && e->line < estimate->line : true;
        if (e->key == POWER_EFFICIENCY && later)
            conversion = e->value, last = e->line;
    }
    return conversion;
}

static const struct power_event *first_estimate(const struct power_log *p)
{
    const struct power_event *first = NULL;
    for (const struct power_event *e = p->events; e < p->events + p->n; e++)
        if (e->key == POWER_ESTIMATE && (!first || e->line < first->line))
            first = e;
    return first;
}

/* Notes demands of the rules on a measurement that the official tools do not test. */
static void note_measurement(struct package *p, const struct power_log *log, const struct measurement *m, bool ended_early)
{
    double seconds = (m->stop_ms - m->start_ms) / 1e3;
    const char *text = "";
    if (ended_early)
        text = m->stop_line ? arena_printf(p->a, "%s:%" PRIu64 ": power_measurement_stop is not after the start: the last reading ends the measurement", log->name, m->stop_line)
                            : arena_printf(p->a, "%s: no power_measurement_stop: the last reading ends the measurement", log->name);
    else if (m->n < LEAST_READINGS)
        text = arena_printf(p->a, "%s: %zu readings, want at least %d", log->name, m->n, LEAST_READINGS);
    else if ((double)m->n * slowest_reading_ms < (seconds - 1) * 1e3)
        text = arena_printf(p->a, "%s: %zu readings in %.10g s, %.10g s between two of them, want one a second or more", log->name, m->n, seconds, m->longest_gap_ms / 1e3);
    if (*text && p->n_power_notes++ == 0)
        p->power_note = text;
}

/* The energy of one device over a run. NaN, with the reason in log->problem, if it is unknown. */
static double device_energy(struct package *p, struct power_log *log, double run_s)
{
    SORT_BY(log->events, log->n, RISING(struct power_event, ms), RISING(struct power_event, line));
    const struct power_event *estimate = first_estimate(log);
    struct measurement m = measured(log, false);
    bool early = m.started && !(m.stopped && m.stop_ms > m.start_ms);
    if (early) {
        uint64_t line = m.stop_line;
        m = measured(log, true), m.stop_line = line;
    }
    if (!log->problem && estimate && !m.n)
        return efficiency(log, estimate) * estimate->value * run_s;
    if (!log->problem && !m.started)
        log->problem = arena_printf(p->a, "%s: no power_measurement_start", log->name);
    else if (!log->problem && (!m.n || m.stop_ms <= m.start_ms))
        log->problem = arena_printf(p->a, "%s: no power_reading between start and stop", log->name);
    if (log->problem)
        return NAN;
    note_measurement(p, log, &m, early);
    return efficiency(log, NULL) * m.watts_ms / 1e3 * run_s / ((m.stop_ms - m.start_ms) / 1e3);
}

/* ---- the devices of a run ----------------------------------------------------------------------------------- */

/* The power logs of one kind in a run's folder. `problem` says if they are not numbered from 0. */
struct power_files { char **names; size_t n, n_nodes, n_switches; const char *problem; };

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* The problem if the n files of this kind do not end in _0 to _(n-1), or NULL. */
static const char *misnamed(const struct power_files *f, const char *kind, size_t n, struct arena *a)
{
    bool *seen = ARENA_ARRAY(a, bool, n + 1);
    for (size_t i = 0; i < f->n; i++) {
        const char *last = strrchr(f->names[i], '_');
        uint64_t index;
        if (!begins(f->names[i], kind))
            continue;
        if (!last || !parse_u64(last + 1, &index) || index >= n || seen[index])
            return arena_printf(a, "%s.txt is misnamed, want %s_0.txt to %s_%zu.txt", f->names[i], kind, kind, n - 1);
        seen[index] = true;
    }
    return NULL;
}

static const char *run_name(const struct run_entry *r, struct arena *a)
{
    return arena_printf(a, "power/%.*s", (int)strlen(r->file) - 4, r->file);
}

static struct power_files power_files_of(const struct package *p, const struct run_entry *r)
{
    struct power_files f = { .n = 0 };
    const char *name = run_name(r, p->a), *dir = arena_printf(p->a, "%s/%s", p->f->dir, name);
    if (access(dir, R_OK) != 0 || !list_folder(&f.names, &f.n, dir, ".txt", p->a, NULL)) {
        f.problem = arena_printf(p->a, "%s is missing", name);
        return f;
    }
    for (size_t i = 0; i < f.n; i++)
        f.n_nodes += begins(f.names[i], "node"), f.n_switches += begins(f.names[i], "sw");
    const char *wrong = misnamed(&f, "node", f.n_nodes, p->a);
    wrong = wrong ? wrong : misnamed(&f, "sw", f.n_switches, p->a);
    f.problem = wrong ? arena_printf(p->a, "%s/%s", name, wrong) : NULL;
    return f;
}

static double run_energy(struct package *p, const struct run_entry *r, const char **problem)
{
    struct power_files f = power_files_of(p, r);
    double sum = 0;
    if (!f.names || !f.n_nodes) {
        *problem = f.names ? arena_printf(p->a, "%s has no node_N.txt", run_name(r, p->a)) : f.problem;
        return NAN;
    }
    for (size_t i = 0; i < f.n && !*problem; i++) {
        struct arena room = { 0 };
        struct power_log log = { .name = arena_printf(p->a, "%s/%s.txt", run_name(r, p->a), f.names[i]) };
        if (begins(f.names[i], "node") || begins(f.names[i], "sw")) {
            read_power_log(&log, arena_printf(p->a, "%s/%s", p->f->dir, log.name), &room);
            sum += device_energy(p, &log, r->minutes * 60);
            *problem = log.problem ? arena_strdup(p->a, log.problem) : NULL;
        }
        arena_free(&room);
    }
    return sum;
}

/* ---- the folder ----------------------------------------------------------------------------------------------- */

static bool has_power(const struct package *p)
{
    return access(arena_printf(p->a, "%s/power", p->f->dir), R_OK) == 0;
}

/* The most frequent number of devices per run; among equals, the one that comes first. */
static size_t commonest(const size_t *counts, size_t n)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        for (size_t k = 0; k < n; k++)
            same += counts[k] == counts[i];
        if (same > most)
            most = same, best = counts[i];
    }
    return best;
}

void power_judge(struct package *p)
{
    struct folder *f = p->f;
    if (!f->edition->power || !has_power(p))
        return;
    size_t *nodes = ARENA_ARRAY(p->a, size_t, f->n), *switches = ARENA_ARRAY(p->a, size_t, f->n), *of = ARENA_ARRAY(p->a, size_t, f->n), n = 0;
    for (size_t i = 0; i < f->n; i++) {
        struct power_files files = power_files_of(p, &f->runs[i]);
        f->runs[i].power_problem = files.problem;
        if (files.names)
            nodes[n] = files.n_nodes, switches[n] = files.n_switches, of[n++] = i;
    }
    size_t want[] = { commonest(nodes, n), commonest(switches, n) };
    for (size_t i = 0; i < n; i++) {
        struct run_entry *r = &f->runs[of[i]];
        if (!r->power_problem && (nodes[i] != want[0] || switches[i] != want[1]))
            r->power_problem = arena_printf(p->a, "%s has %zu nodes and %zu switches, most runs have %zu and %zu", run_name(r, p->a), nodes[i], switches[i], want[0],
                                            want[1]);
    }
}

void power_energy(struct package *p)
{
    struct folder *f = p->f;
    const char *problem = NULL;
    f->energy_j = NAN;
    if (!has_power(p) || f->why_no_score)
        return;
    double *minutes = ARENA_ROOM(p->a, double, f->n), sum = 0;
    size_t *order = ARENA_ROOM(p->a, size_t, f->n), dropped = f->rules->terms->dropped;
    for (size_t i = 0; i < f->n; i++)
        minutes[i] = f->runs[i].compliant && !f->runs[i].problem ? f->runs[i].minutes : HUGE_VAL;
    gsl_sort_index(order, minutes, 1, f->n);
    for (size_t i = dropped; i + dropped < f->n && !problem; i++)
        sum += run_energy(p, &f->runs[order[i]], &problem);
    if (problem)
        package_note(p, SEVERITY_WARNING, arena_printf(p->a, "no energy: %s", problem));
    else
        f->energy_j = sum / (double)(f->n - 2 * dropped) * f->scaling;
    if (p->n_power_notes)
        package_note(p, SEVERITY_REVIEW, arena_printf(p->a, "%s (%zu such power log%s in the runs that count)", p->power_note, p->n_power_notes, plural(p->n_power_notes)));
}
