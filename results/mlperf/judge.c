/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.c - the tables that logs are judged by, loaded once; see judge.h.
 */
#include "results/mlperf/judge.h"

static bool load_fields(struct judge *j, struct err *err)
{
    struct csv_table t;
    size_t at;
    if (!csv_load(&t, arena_printf(j->a, "%s/system_fields.csv", j->options->rules_dir), j->a, err) || !csv_column(&at, &t, "field", err))
        return false;
    for (size_t i = 0; i < t.n_rows; i++)
        name_list_add(&j->system_fields, t.rows[i].cells[at], j->a);
    return true;
}

bool judge_load(struct judge *out, const struct judge_options *options, struct arena *a, struct err *err)
{
    *out = (struct judge){ .a = a, .options = options };
    if (!rules_load(&out->library, options->rules_dir, a, err) || !round_table_load(&out->rounds, options->data_dir, a, err)
        || !csv_load(&out->points, arena_printf(a, "%s/rcp.csv", options->data_dir), a, err) || !load_fields(out, err))
        return false;
    out->cache = ARENA_ARRAY(a, struct benchmark_rules, out->rounds.n);
    return !options->ruleset || edition_find(options->ruleset)
        || fail(err, "round '%.60s' is unknown; known: %s", options->ruleset, editions_known(a));
}

static bool prepare(struct benchmark_rules *b, struct judge *j, const struct round_terms *terms, struct err *err)
{
    struct benchmark_rules ready = { .terms = terms, .has_reference = terms->reference_convergence };
    const struct expression_names names = { .variables = rule_variables };
    const char *where = arena_printf(j->a, "rounds.csv: %s %s", terms->ruleset, terms->benchmark);
    if ((*terms->point && !expression_parse(&ready.point, terms->point, &names, where, j->a, err))
        || (*terms->where && !expression_parse(&ready.where, terms->where, &names, where, j->a, err)))
        return false;
    if (ready.has_reference && !rcp_take(&ready.reference, &j->points, &j->rounds, terms->benchmark, terms->ruleset, RCP_DEADLINE, j->a, err))
        return false;
    if (ready.has_reference)
        rcp_prune(&ready.reference);
    *b = ready;                         /* not before it is whole: who asks again is refused again */
    return true;
}

bool judge_benchmark(const struct benchmark_rules **out, struct judge *j, const struct edition *e, const char *benchmark, struct err *err)
{
    const struct round_terms *terms = round_terms_find(&j->rounds, benchmark, e->ruleset);
    if (!terms)
        return benchmark_unknown(&j->rounds, benchmark, e, err);
    struct benchmark_rules *b = &j->cache[terms - j->rounds.items];
    *out = b;
    return b->terms || prepare(b, j, terms, err);
}

bool judge_knows(const struct judge *j, const char *benchmark)
{
    for (size_t i = 0; i < j->rounds.n; i++)
        if (text_is(j->rounds.items[i].benchmark, benchmark))
            return true;
    return false;
}
