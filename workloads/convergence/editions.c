/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * editions.c - see editions.h.
 *
 * Source: mlcommons/logging at each tag: mlp_compliance, package_checker, seed_checker, rcp_checker, result_summarizer,
 * system_desc_checker. 3.1.0 is commit acd623e of 2023-11-07, as the tag of that round cannot be run.
 *
 * scales_failed follows from logs, not from a checker. Two closed submissions of v1.1 fail the test, Graphcore's BERT
 * on 16 and 64 IPUs. In each of their 20 logs run_stop comes 1.098 or 1.118 times as late as the last evaluation, to
 * the millisecond. These are the reference's mean over that of their samples: 2764499 / 2517254 and 2764499 / 2473385.
 */
#include "workloads/convergence/editions.h"

#include <math.h>
#include <string.h>

/* The checkers from 4.0.0 on know these; 4.0.0 still passed packages with others. */
#define STATUSES_4 "Available on-premise|Available cloud|Research, Development, or Internal (RDI)|Preview"

static const struct edition editions[] = {
    { .ruleset = "0.7.0", .round = "v0.7", .tag = "0.7.1", .repeats_submission_keys = true },
    { .ruleset = "1.0.0", .round = "v1.0", .tag = "1.0.0", .reference_points = true, .repeats_submission_keys = true,
      .exact_count = true, .system_description = true, .seeds = SEEDS_IF_ANY },
    { .ruleset = "1.1.0", .round = "v1.1", .tag = "1.1.0-rc4", .reference_points = true, .repeats_submission_keys = true,
      .exact_count = true, .system_description = true, .scales_failed = true, .seeds = SEEDS_IF_ANY, .eval_error = EVAL_ERROR_INSTEAD },
    { .ruleset = "2.0.0", .round = "v2.0", .tag = "2.0.0-rc4", .reference_points = true, .exact_count = true,
      .system_description = true, .reads_scaling = true, .seeds = SEEDS_IF_ANY, .eval_error = EVAL_ERROR_INSTEAD,
      .pruning = RCP_BY_LEAST_MEAN },
    { .ruleset = "2.1.0", .round = "v2.1", .tag = "2.1.0", .reference_points = true, .exact_count = true, .system_description = true,
      .reads_scaling = true, .scales = true, .scales_unwritten = true, .seeds = SEEDS_IF_ANY, .eval_error = EVAL_ERROR_INSTEAD,
      .pruning = RCP_BY_LEAST_MEAN },
    { .ruleset = "3.0.0", .round = "v3.0", .tag = "3.0.0-rc2", .reference_points = true, .exact_count = true,
      .system_description = true, .reads_scaling = true, .scales = true, .one_batch = true, .seeds = SEEDS_IF_ANY,
      .eval_error = EVAL_ERROR_TOO, .pruning = RCP_BY_LEAST_MEAN },
    { .ruleset = "3.1.0", .round = "v3.1", .tag = "acd623e", .reference_points = true, .exact_count = true, .system_description = true,
      .reads_scaling = true, .scales = true, .one_batch = true, .seeds = SEEDS_IF_ANY, .eval_error = EVAL_ERROR_TOO,
      .pruning = RCP_BY_LEAST_MEAN },
    { .ruleset = "4.0.0", .round = "v4.0", .tag = "4.0.0-rc3-rcp-prunning", .reference_points = true, .exact_count = true,
      .system_description = true, .reads_scaling = true, .scales = true, .one_batch = true, .parameter_files = true,
      .seeds = SEEDS_IF_ANY, .eval_error = EVAL_ERROR_TOO, .pruning = RCP_BY_MEAN },
    { .ruleset = "4.1.0", .round = "v4.1", .tag = "4.1.0-rc4", .reference_points = true, .exact_count = true,
      .system_description = true, .reads_scaling = true, .scales = true, .one_batch = true, .parameter_files = true,
      .full_spread = true, .seeds = SEEDS_ALWAYS, .eval_error = EVAL_ERROR_TOO, .pruning = RCP_BY_MEAN, .statuses = STATUSES_4 },
    { .ruleset = "5.0.0", .round = "v5.0", .tag = "5.0.0-rc3", .reference_points = true, .exact_count = true,
      .system_description = true, .reads_scaling = true, .scales = true, .one_batch = true, .parameter_files = true,
      .full_spread = true, .seeds = SEEDS_ALWAYS, .eval_error = EVAL_ERROR_TOO, .pruning = RCP_BY_MEAN, .statuses = STATUSES_4 },
};
enum { N_EDITIONS = sizeof editions / sizeof *editions };

const struct edition *edition_find(const char *round_or_ruleset)
{
    for (size_t i = 0; i < N_EDITIONS; i++)
        if (text_is(editions[i].round, round_or_ruleset) || text_is(editions[i].ruleset, round_or_ruleset))
            return &editions[i];
    return NULL;
}

const struct edition *edition_before(const struct edition *e)
{
    return e && e > editions ? e - 1 : NULL;
}

const char *editions_known(struct arena *a)
{
    const char *names[N_EDITIONS];
    for (size_t i = 0; i < N_EDITIONS; i++)
        names[i] = editions[i].round;
    return names_list(names, N_EDITIONS, a);
}

/* ---- rounds.csv ---------------------------------------------------------------------------------- */

enum { RULESET, BENCHMARK, ALLOWED, RUNS, DROPPED, MAY_FAIL, TESTED, UNIT, POINT_OF, POINT, WHERE, TAKE, TRAIN_SAMPLES, ALLOWANCE, SOURCE,
       N_CELLS };
static const char *const columns[N_CELLS] = { "ruleset", "benchmark", "allowed", "runs", "dropped", "may_fail", "reference_convergence", "unit",
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
    *t = (struct round_terms){ .ruleset = c[RULESET], .benchmark = c[BENCHMARK], .unit = c[UNIT], .point_of = c[POINT_OF], .point = c[POINT],
                               .where = c[WHERE], .source = c[SOURCE] };
    bool takes_last = true;
    if (!read_choice(&t->allowed, "allowed", c[ALLOWED], "yes", "no", where, err) || !read_count(&t->runs, "runs", c[RUNS], where, err)
        || !read_count(&t->dropped, "dropped", c[DROPPED], where, err) || !read_count(&t->may_fail, "may_fail", c[MAY_FAIL], where, err)
        || !read_choice(&t->reference_convergence, "reference_convergence", c[TESTED], "yes", "no", where, err)
        || !read_choice(&t->train_samples, "train_samples", c[TRAIN_SAMPLES], "yes", "no", where, err))
        return false;
    if (*c[TAKE] && !read_choice(&takes_last, "take", c[TAKE], "last", "first", where, err))
        return false;
    t->takes_first = !takes_last;
    if (*c[ALLOWANCE] && !parse_f64(c[ALLOWANCE], &t->allowance))
        return fail(err, "%s: allowance: '%s' is not a number", where, c[ALLOWANCE]);
    if (t->runs <= 2 * t->dropped)
        return fail(err, "%s: runs: %u leaves none when %u are dropped at each end", where, t->runs, t->dropped);
    return *t->source || fail(err, "%s: source is empty", where);
}

bool round_table_load(struct round_table *out, const char *data_dir, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t at[N_CELLS];
    if (!csv_load(&t, arena_printf(a, "%s/rounds.csv", data_dir), a, err))
        return false;
    for (int c = 0; c < N_CELLS; c++)
        if (!csv_column(&at[c], &t, columns[c], err))
            return false;
    *out = (struct round_table){ .items = ARENA_ARRAY(a, struct round_terms, t.n_rows), .n = t.n_rows };
    for (size_t i = 0; i < t.n_rows; i++) {
        char *cells[N_CELLS];
        for (int c = 0; c < N_CELLS; c++)
            cells[c] = t.rows[i].cells[at[c]];
        if (!read_terms(&out->items[i], cells, arena_printf(a, "%s:%u", t.path, t.rows[i].line), err))
            return false;
    }
    return true;
}

const struct round_terms *round_terms_find(const struct round_table *t, const char *benchmark, const char *ruleset)
{
    for (size_t i = 0; i < t->n; i++)
        if (text_is(t->items[i].ruleset, ruleset) && text_is(t->items[i].benchmark, benchmark))
            return &t->items[i];
    return NULL;
}

bool benchmark_unknown(const struct round_table *t, const char *benchmark, const struct edition *e, struct err *err)
{
    struct arena scratch = {0};
    const char **names = ARENA_ARRAY(&scratch, const char *, t->n);
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (text_is(t->items[i].ruleset, e->ruleset) && t->items[i].allowed)
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
