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

/* ---- edition.csv --------------------------------------------------------------------------------- */

static const char *const seed_rules[] = { "free", "if any", "always", NULL };
static const char *const eval_error_rules[] = { "unread", "instead", "too", NULL };
static const char *const prunings[] = { "none", "least mean", "mean", NULL };
static const char *const parameter_places[] = { "none", "package", "all", NULL };

#define F(member, ...) FIELD_OF(struct edition, member, .required = true, __VA_ARGS__)
static const struct field edition_fields[] = {
    F(ruleset), F(tag), F(reference_points), F(repeats_submission_keys), F(exact_count), F(system_description), F(statuses), F(seeds, .choices = seed_rules),
    F(eval_error, .choices = eval_error_rules), F(one_batch), F(pruning, .choices = prunings), F(full_spread), F(scales), F(scales_failed), F(reads_scaling),
    F(scales_unwritten), F(parameter_files, .choices = parameter_places), F(bypass), F(power), F(framework_log),
    F(repository),
};
#undef F

static bool load_edition(struct edition *out, const char *path, const char *round, struct arena *a, struct err *err)
{
    struct csv_table t;
    *out = (struct edition){ .round = round };
    if (!csv_load(&t, path, a, err))
        return false;
    for (size_t i = 0; i < N_FIELDS(edition_fields); i++) {
        const struct field *f = &edition_fields[i];
        const struct csv_row *row = csv_row_named(&t, f->name);
        if (!row)
            return fail(err, "%s: %s: missing", path, f->name);
        if (!*csv_cell(&t, row, "source"))
            return fail(err, "%s:%u: %s: source is empty", path, row->line, f->name);
        const char *value = csv_cell(&t, row, "value");
        if (!field_set(out, f, value, "", NULL))
            return field_set(out, f, value, arena_printf(a, "%s:%u: %s", path, row->line, f->name), err);
    }
    for (size_t i = 0; i < t.n_rows; i++)
        if (!field_find(edition_fields, N_FIELDS(edition_fields), t.rows[i].cells[0]))
            return fail(err, "%s:%u: '%.60s' is not a key of an edition", path, t.rows[i].line, t.rows[i].cells[0]);
    return true;
}

/* ---- benchmarks.csv -------------------------------------------------------------------------------- */

static const char *const takes[] = { "last", "first", NULL };

#define F(member, ...) FIELD_OF(struct round_terms, member, __VA_ARGS__)
#define NEEDED .required = true
#define COUNT .max = 1000, NEEDED
static const struct field term_fields[] = {
    F(benchmark, NEEDED), F(allowed, NEEDED), F(runs, COUNT), F(dropped, COUNT), F(may_fail, COUNT), F(reference_convergence, NEEDED), F(unit), F(point_of),
    F(point), F(where), F(take, .choices = takes), F(train_samples, NEEDED), F(allowance, .max = HUGE_VAL), F(source, NEEDED),
};
#undef COUNT
#undef NEEDED
#undef F

static bool read_terms(struct round_terms *out, const struct csv_table *t, const struct csv_row *row, struct err *err)
{
    if (!fields_from_row(out, term_fields, N_FIELDS(term_fields), t, row, err))
        return false;
    out->allowance = isnan(out->allowance) ? 0 : out->allowance;
    return out->runs > 2 * out->dropped
        || fail(err, "%s:%u: runs: %u leaves none when %u are dropped at each end", t->path, row->line, out->runs, out->dropped);
}

static bool load_terms(struct round_table *t, const struct edition *e, size_t *cap, struct arena *a, struct err *err)
{
    struct csv_table csv;
    if (!fields_load(&csv, round_file(t, e, "benchmarks.csv", a), term_fields, N_FIELDS(term_fields), a, err))
        return false;
    for (size_t i = 0; i < csv.n_rows; i++) {
        struct round_terms terms = { .edition = e };
        if (!read_terms(&terms, &csv, &csv.rows[i], err))
            return false;
        ARENA_APPEND(a, t->items, t->n, *cap, terms);
    }
    return true;
}

/* ---- all rounds -------------------------------------------------------------------------------------- */

static const char hpc[] = "hpc-";      /* begins the names of rounds of MLPerf HPC */
enum { HPC_FIRST = 1000000 };

/* Moves the text behind a letter and one to three digits; -1 if it does not begin with them. */
static int number_after(char letter, const char **text)
{
    int number = 0, n = 0;
    const char *at = *text + 1;
    if (**text != letter)
        return -1;
    for (; n < 3 && *at >= '0' && *at <= '9'; n++)
        number = 10 * number + (*at++ - '0');
    *text = at;
    return n ? number : -1;
}

/* The number of "v5.1" or "hpc-v3.0", to sort by; 0 for another name. */
static unsigned round_number(const char *name)
{
    unsigned first = strncmp(name, hpc, sizeof hpc - 1) ? 0 : HPC_FIRST;
    name += first ? sizeof hpc - 1 : 0;
    int major = number_after('v', &name), minor = major < 0 ? -1 : number_after('.', &name);
    return minor < 0 || *name ? 0 : first + (unsigned)(major * 1000 + minor);
}

static bool edition_is_hpc(const struct edition *e)
{
    return e && round_number(e->round) >= HPC_FIRST;
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
    return e && e > t->editions && edition_is_hpc(e) == edition_is_hpc(e - 1) ? e - 1 : NULL;
}

const char *edition_provisional(const struct edition *e)
{
    static const char untagged[] = "main of ";
    return e && !strncmp(e->tag, untagged, sizeof untagged - 1) ? e->tag + sizeof untagged - 1 : NULL;
}

const char *editions_known(const struct round_table *t, struct arena *a)
{
    return names_list(TEXTS_OF(t->editions, t->n_editions, struct edition, round, a), t->n_editions, a);
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
    return round && round_number(round) >= 1000 && round_number(round) < HPC_FIRST;
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
