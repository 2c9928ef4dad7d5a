/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * energy.c - the energy of a run from the power logs next to its results; see rounds.h.
 *
 *     energy_j = (sum over nodes of conversion_eff * sum of P_i * (t_i - t_before)) * T / (stop - start)
 *              + sum over switches of interconnect_power_est * T
 *
 * T is the run's time to train; start and stop are the lines power_measurement_start and _stop of a node; t_before is
 * the time of the reading before, or start. A switch that logs readings counts as a node. Source:
 * mlcommons/training_policies power_measurement.adoc. Limit: the checks on sampling rate and accuracy are not made.
 */
#include "results/rounds/round_results.h"

#include <gsl/gsl_sort.h>
#include <unistd.h>

struct power_log { double start_ms, stop_ms, last_ms, joules, conversion, estimate_w; };

static void read_power_line(struct power_log *p, const struct mllog_line *l)
{
    double x;
    bool number = mllog_number(l->value, &x);
    if (text_is(l->key, "power_measurement_start"))
        p->start_ms = p->last_ms = l->time_ms;
    else if (text_is(l->key, "power_measurement_stop"))
        p->stop_ms = l->time_ms;
    else if (text_is(l->key, "power_reading") && number)
        p->joules += x * (l->time_ms - p->last_ms) / 1e3, p->last_ms = l->time_ms;
    else if (text_is(l->key, "conversion_eff") && number)
        p->conversion = x;
    else if (text_is(l->key, "interconnect_power_est") && number)
        p->estimate_w = x;
}

/* NaN for a log with neither readings nor an estimate. */
static double device_energy(const char *path, double run_s)
{
    static const char *const keys[] = { "power_measurement_start", "power_measurement_stop", "power_reading", "conversion_eff",
                                        "interconnect_power_est" };
    struct power_log p = { NAN, NAN, NAN, 0, 1, NAN };
    struct mllog_reader reader;
    struct mllog_line l;
    if (!mllog_open(&reader, path, false, NULL))
        return NAN;
    for (enum mllog_status s; (s = mllog_next_of(&reader, keys, sizeof keys / sizeof *keys, &l)) != MLLOG_END; )
        if (s == MLLOG_LINE)
            read_power_line(&p, &l);
    mllog_close(&reader);
    double measured_s = (p.stop_ms - p.start_ms) / 1e3;
    if (measured_s > 0)
        return p.conversion * p.joules * run_s / measured_s;
    return p.estimate_w * run_s;
}

static double run_energy(const struct folder *f, const struct run_entry *r, struct arena *a)
{
    const char *dir = arena_printf(a, "%s/power/%.*s", f->dir, (int)strlen(r->file) - 4, r->file);
    char **names;
    size_t n, n_devices = 0;
    double sum = 0;
    if (access(dir, R_OK) != 0 || !list_folder(&names, &n, dir, ".txt", a, NULL))
        return NAN;
    for (size_t i = 0; i < n; i++)
        if (strncmp(names[i], "node", 4) == 0 || strncmp(names[i], "sw", 2) == 0)
            sum += device_energy(arena_printf(a, "%s/%s.txt", dir, names[i]), r->minutes * 60), n_devices++;
    return n_devices ? sum : (double)NAN;
}

double folder_energy(const struct folder *f, struct arena *scratch)
{
    if (f->problem || f->why_no_score || access(arena_printf(scratch, "%s/power", f->dir), R_OK) != 0)
        return NAN;
    double *minutes = ARENA_ROOM(scratch, double, f->n), sum = 0;
    size_t *order = ARENA_ROOM(scratch, size_t, f->n), dropped = f->rules->terms->dropped;
    for (size_t i = 0; i < f->n; i++)
        minutes[i] = f->runs[i].compliant && !f->runs[i].problem ? f->runs[i].minutes : HUGE_VAL;
    gsl_sort_index(order, minutes, 1, f->n);
    for (size_t i = dropped; i + dropped < f->n; i++)
        sum += run_energy(f, &f->runs[order[i]], scratch);
    return sum / (double)(f->n - 2 * dropped);
}
