/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * protocol.c - what a calibration may use; see calibration.h.
 *
 * The limit counts the constants of the models of time and of energy, over all sheets. Values fitted to convergence describe other data and
 * change no time of a step.
 */
#include "results/calibrate/calibration.h"

static bool refuse_validating_row(const struct figure *f, const struct ledger *l, const struct ledger_line *line, struct err *err)
{
    return fail(err, "%s:%u: %s: calibrates here, but %s validates by %s:%u: a row that has validated never shapes a constant", f->path,
                f->line, f->id, line->id, l->path, line->line);
}

/* The ledger's line that makes this row validate, by its id or, if it has none, by its hash; NULL if there is none. */
static const struct ledger_line *validating_line(const struct ledger *l, const struct figure *f, struct arena *a)
{
    const struct ledger_line *own = ledger_find(l, f->id);
    const char *hash = figure_hash(f, a);
    if (own)
        return text_is(own->role, "validate") ? own : NULL;
    for (size_t i = 0; i < l->n_last; i++)
        if (text_is(l->last[i].hash, hash) && text_is(l->last[i].role, "validate"))
            return &l->last[i];
    return NULL;
}

bool protocol_allows_rows(const struct figures *figures, const struct ledger *ledger, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < figures->n; i++) {
        const struct figure *f = &figures->items[i];
        const struct ledger_line *line = f->role == FIGURE_CALIBRATE ? validating_line(ledger, f, a) : NULL;
        if (line)
            return refuse_validating_row(f, ledger, line, err);
    }
    return true;
}

static bool submission_calibrates(const struct figures *figures, const char *submission)
{
    for (size_t i = 0; i < figures->n; i++)
        if (figures->items[i].role == FIGURE_CALIBRATE && strstr(figures->items[i].source, submission))
            return true;
    return false;
}

bool protocol_allows_runs(const struct run_rows *runs, const struct figures *figures, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < runs->n; i += run_rows_group(runs, i)) {
        const struct run_row *r = &runs->items[i];
        const char *submission = arena_printf(a, "MLPerf Training %s results, %s, %s, %s/%s", r->round, r->division, r->submitter, r->system,
                                              r->benchmark);
        if (r->role == FIGURE_CALIBRATE && !submission_calibrates(figures, submission))
            return fail(err, "%s: calibrates, but no published row of '%s' does", r->source, submission);
    }
    return true;
}

bool protocol_allows_constants(size_t n, struct err *err)
{
    return n <= MOST_CONSTANTS || fail(err, "%zu constants to be fitted, at most %d: fix one at its source, or leave it out", n, MOST_CONSTANTS);
}
