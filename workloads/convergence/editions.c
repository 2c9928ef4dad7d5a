/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * editions.c - loads the editions of MLPerf Training from their folders; see editions.h.
 *
 * Source: mlcommons/logging at each tag: mlp_compliance, package_checker, seed_checker, rcp_checker, result_summarizer,
 * system_desc_checker.
 *
 * scales_failed follows from logs, not from a checker. Two closed submissions of v1.1 fail the test, Graphcore's BERT
 * on 16 and 64 IPUs. In each of their 20 logs run_stop comes 1.098 or 1.118 times as late as the last evaluation, to
 * the millisecond. These are the reference's mean over that of their samples: 2764499 / 2517254 and 2764499 / 2473385.
 */
#include "workloads/convergence/editions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- edition.csv --------------------------------------------------------------------------------- */

static const char *const seed_rules[] = { "free", "if any", "always", NULL };
static const char *const eval_error_rules[] = { "unread", "instead", "too", NULL };
static const char *const prunings[] = { "none", "least mean", "mean", NULL };

#define MEMBER(member, type, ...) { #member, NULL, type, offsetof(struct edition, member), .required = true, __VA_ARGS__ }
static const struct field edition_fields[] = {
    MEMBER(ruleset, FIELD_TEXT), MEMBER(tag, FIELD_TEXT), MEMBER(reference_points, FIELD_BOOL), MEMBER(repeats_submission_keys, FIELD_BOOL),
    MEMBER(exact_count, FIELD_BOOL), MEMBER(system_description, FIELD_BOOL), MEMBER(statuses, FIELD_TEXT),
    MEMBER(seeds, FIELD_CHOICE, .choices = seed_rules), MEMBER(eval_error, FIELD_CHOICE, .choices = eval_error_rules),
    MEMBER(one_batch, FIELD_BOOL), MEMBER(pruning, FIELD_CHOICE, .choices = prunings), MEMBER(full_spread, FIELD_BOOL),
    MEMBER(scales, FIELD_BOOL), MEMBER(scales_failed, FIELD_BOOL), MEMBER(reads_scaling, FIELD_BOOL), MEMBER(scales_unwritten, FIELD_BOOL),
    MEMBER(parameter_files, FIELD_BOOL),
};
#undef MEMBER
enum { N_EDITION_FIELDS = sizeof edition_fields / sizeof *edition_fields };

static bool load_edition(struct edition *out, const char *path, const char *round, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct edition){ .round = round };
    if (!csv_load(&t, path, a, err))
        return false;
    for (size_t i = 0; i < N_EDITION_FIELDS; i++) {
        const struct field *f = &edition_fields[i];
        const struct csv_row *row = csv_row_named(&t, f->name);
        if (!row)
            return fail(err, "%s: %s: missing", path, f->name);
        if (!*csv_cell(&t, row, "source"))
            return fail(err, "%s:%u: %s: source is empty", path, row->line, f->name);
        if (!field_set(out, f, csv_cell(&t, row, "value"), arena_printf(a, "%s:%u: %s", path, row->line, f->name), err))
            return false;
    }
    for (size_t i = 0; i < t.n_rows; i++)
        if (!field_find(edition_fields, N_EDITION_FIELDS, t.rows[i].cells[0]))
            return fail(err, "%s:%u: '%.60s' is not a key of an edition", path, t.rows[i].line, t.rows[i].cells[0]);
    return true;
}

/* ---- benchmarks.csv -------------------------------------------------------------------------------- */

enum { TERM_BENCHMARK, TERM_ALLOWED, TERM_RUNS, TERM_DROPPED, TERM_MAY_FAIL, TERM_TESTED, TERM_UNIT, TERM_POINT_OF, TERM_POINT, TERM_WHERE,
       TERM_TAKE, TERM_TRAIN_SAMPLES, TERM_ALLOWANCE, TERM_SOURCE, N_TERMS };
static const char *const term_columns[N_TERMS] = { "benchmark", "allowed", "runs", "dropped", "may_fail", "reference_convergence", "unit",
    "point_of", "point", "where", "take", "train_samples", "allowance", "source" };

static bool read_count(uint32_t *out, const char *column, const char *text, const char *where, struct err *err)
{
    uint64_t x;
    if (!parse_u64(text, &x) || x > 1000)
        return fail(err, "%s: %s: '%s', want a whole number from 0 to 1000", where, column, text);
    *out = (uint32_t)x;
    return true;
}

static bool read_choice(bool *out, const char *column, const char *text, const char *yes, const char *no, const char *where, struct err *err)
{
    *out = text_is(text, yes);
    return *out || text_is(text, no) || fail(err, "%s: %s: '%s', want %s or %s", where, column, text, yes, *no ? no : "nothing");
}

static bool read_terms(struct round_terms *t, char *const *c, const char *where, struct err *err)
{
    *t = (struct round_terms){ .benchmark = c[TERM_BENCHMARK], .unit = c[TERM_UNIT], .point_of = c[TERM_POINT_OF], .point = c[TERM_POINT],
                               .where = c[TERM_WHERE], .source = c[TERM_SOURCE] };
    bool takes_last = true;
    if (!read_choice(&t->allowed, "allowed", c[TERM_ALLOWED], "yes", "no", where, err) || !read_count(&t->runs, "runs", c[TERM_RUNS], where, err)
        || !read_count(&t->dropped, "dropped", c[TERM_DROPPED], where, err) || !read_count(&t->may_fail, "may_fail", c[TERM_MAY_FAIL], where, err)
        || !read_choice(&t->reference_convergence, "reference_convergence", c[TERM_TESTED], "yes", "no", where, err)
        || !read_choice(&t->train_samples, "train_samples", c[TERM_TRAIN_SAMPLES], "yes", "no", where, err))
        return false;
    if (*c[TERM_TAKE] && !read_choice(&takes_last, "take", c[TERM_TAKE], "last", "first", where, err))
        return false;
    t->takes_first = !takes_last;
    if (*c[TERM_ALLOWANCE] && !parse_f64(c[TERM_ALLOWANCE], &t->allowance))
        return fail(err, "%s: allowance: '%s' is not a number", where, c[TERM_ALLOWANCE]);
    if (t->runs <= 2 * t->dropped)
        return fail(err, "%s: runs: %u leaves none when %u are dropped at each end", where, t->runs, t->dropped);
    return *t->source || fail(err, "%s: source is empty", where);
}

static bool load_terms(struct round_table *t, const struct edition *e, size_t *cap, struct arena *a, struct err *err)
{
    struct csv_table csv;
    size_t at[N_TERMS];
    if (!csv_load(&csv, round_file(t, e, "benchmarks.csv", a), a, err))
        return false;
    for (int c = 0; c < N_TERMS; c++)
        if (!csv_column(&at[c], &csv, term_columns[c], err))
            return false;
    for (size_t i = 0; i < csv.n_rows; i++) {
        char *cells[N_TERMS];
        for (int c = 0; c < N_TERMS; c++)
            cells[c] = csv.rows[i].cells[at[c]];
        t->items = arena_grow(a, t->items, t->n, cap, sizeof *t->items);
        if (!read_terms(&t->items[t->n], cells, arena_printf(a, "%s:%u", csv.path, csv.rows[i].line), err))
            return false;
        t->items[t->n++].edition = e;
    }
    return true;
}

/* ---- all rounds -------------------------------------------------------------------------------------- */

/* The number of "v5.1", to sort by; 0 for another name. */
static unsigned round_number(const char *name)
{
    unsigned major, minor;
    int used = 0;
    return sscanf(name, "v%3u.%3u%n", &major, &minor, &used) == 2 && !name[used] ? major * 1000 + minor : 0;
}

static int by_round_number(const void *x, const void *y)
{
    unsigned a = round_number(*(char *const *)x), b = round_number(*(char *const *)y);
    return a < b ? -1 : a > b;
}

bool round_table_load(struct round_table *out, const char *data_dir, struct arena *a, struct err *err)
{
    char **names;
    size_t n, cap = 0;
    *out = (struct round_table){ .dir = arena_printf(a, "%s/rounds", data_dir) };
    if (!list_folder(&names, &n, out->dir, "", a, err))
        return false;
    sort_items(names, n, sizeof *names, by_round_number);
    out->editions = ARENA_ARRAY(a, struct edition, n);
    for (size_t i = 0; i < n; i++) {
        struct edition *e = &out->editions[out->n_editions];
        if (!round_number(names[i]))
            continue;
        if (!load_edition(e, arena_printf(a, "%s/%s/edition.csv", out->dir, names[i]), names[i], a, err) || !load_terms(out, e, &cap, a, err))
            return false;
        out->n_editions++;
    }
    return out->n_editions > 0 || fail(err, "%s: no folder of a round, such as v5.0", out->dir);
}

const char *round_file(const struct round_table *t, const struct edition *e, const char *name, struct arena *a)
{
    return arena_printf(a, "%s/%s/%s", t->dir, e->round, name);
}

const struct edition *edition_find(const struct round_table *t, const char *name)
{
    for (size_t i = 0; i < t->n_editions; i++)
        if (text_is(t->editions[i].round, name) || text_is(t->editions[i].ruleset, name))
            return &t->editions[i];
    return NULL;
}

const struct edition *edition_before(const struct round_table *t, const struct edition *e)
{
    return e && e > t->editions ? e - 1 : NULL;
}

const char *editions_known(const struct round_table *t, struct arena *a)
{
    const char **names = ARENA_ARRAY(a, const char *, t->n_editions);
    for (size_t i = 0; i < t->n_editions; i++)
        names[i] = t->editions[i].round;
    return names_list(names, t->n_editions, a);
}

bool edition_unknown(const struct round_table *t, const char *name, struct err *err)
{
    struct arena scratch = {0};
    fail(err, "round '%.60s' is unknown; known: %s", name, editions_known(t, &scratch));
    arena_free(&scratch);
    return false;
}

bool round_has_reference(const char *round)
{
    return round && round_number(round) >= 1000;
}

const struct round_terms *round_terms_find(const struct round_table *t, const char *benchmark, const struct edition *e)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].edition == e && text_is(t->items[i].benchmark, benchmark))
            return &t->items[i];
    return NULL;
}

bool benchmark_unknown(const struct round_table *t, const char *benchmark, const struct edition *e, struct err *err)
{
    struct arena scratch = {0};
    const char **names = ARENA_ARRAY(&scratch, const char *, t->n);
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].edition == e && t->items[i].allowed)
            names[n++] = t->items[i].benchmark;
    fail(err, "benchmark '%.60s' is not one of %s; known: %s", benchmark, e->round, names_list(names, n, &scratch));
    arena_free(&scratch);
    return false;
}

/* ---- evaluation schedules ---------------------------------------------------------------------------
 *
 * ResNet-50 is evaluated every 4 epochs, with an offset of 0 to 3; RNN-T every epoch; BERT every FLOOR(0.05 * (230.23 *
 * batch + 3,000,000), 25,000) samples, which may be rounded up to the next batch. Source: mlcommons/training_policies
 * training_rules.adoc, table of quality targets.
 */

bool eval_schedule_of(struct eval_schedule *out, const char *benchmark, double global_batch)
{
    if (text_is(benchmark, "resnet")) {
        *out = (struct eval_schedule){ 4, false, 4 };
    } else if (text_is(benchmark, "rnnt")) {
        *out = (struct eval_schedule){ 1, false, 1 };
    } else if (text_is(benchmark, "bert") && global_batch > 0) {
        double interval = floor(0.05 * (230.23 * global_batch + 3e6) / 25000) * 25000;
        *out = (struct eval_schedule){ interval, true, interval };
    } else {
        return false;
    }
    return true;
}
