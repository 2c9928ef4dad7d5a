/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_convergence.c - see recipe_convergence.h.
 *
 * Packed BERT submissions log two sequences per pack, whatever a pack holds on average, and the rules use the logged number.
 */
#include "workloads/recipe/recipe_convergence.h"

/* Copies the next word of a text, which ends before one of the characters in `ends`. The word is cut to the room. */
static bool take_word(char *out, size_t room, const char **text, const char *ends)
{
    size_t n = strcspn(*text, ends), taken = n < room ? n : room - 1;
    if (n == 0)
        return false;
    memcpy(out, *text, taken);
    out[taken] = '\0';
    *text += n + ((*text)[n] != '\0');
    return true;
}

/* mlperf-ROUND-DIVISION-... */
static bool terms_by_id(struct recipe_terms *out, const char *id)
{
    static const char start[] = "mlperf-";
    if (strncmp(id, start, sizeof start - 1) != 0)
        return false;
    id += sizeof start - 1;
    return take_word(out->round, sizeof out->round, &id, "-") && take_word(out->division, sizeof out->division, &id, "-");
}

struct recipe_terms recipe_terms(const struct recipe *r)
{
    struct recipe_terms t = { "v2.0", "closed", "Graphcore", false }, by_id = { .submitter = "Graphcore", .named = true };
    if (terms_by_id(&by_id, r->id) && round_has_reference(by_id.round))
        t = by_id;
    if (t.named && r->submitter)
        snprintf(t.submitter, sizeof t.submitter, "%s", r->submitter);
    if (r->reference_round) {
        snprintf(t.round, sizeof t.round, "%s", r->reference_round);
        t.named = true;
    }
    return t;
}

double recipe_base_learning_rate(const struct recipe *r)
{
    double value;
    for (size_t i = 0; i < r->n_hyperparameters; i++) {
        const char *key = strstr(r->hyperparameters[i].key, "opt_base_learning_rate");
        if (key && parse_f64(r->hyperparameters[i].value, &value))
            return value;
    }
    return 0;
}

double recipe_true_batch(const struct recipe *r)
{
    return (double)recipe_global_batch(r) * recipe_samples_per_item(r);
}

double recipe_logged_batch(const struct recipe *r)
{
    if (r->model.sequences_per_pack > 1 && r->logged_sequences_per_pack > 0)
        return (double)recipe_global_batch(r) * r->logged_sequences_per_pack;
    return recipe_true_batch(r);
}

bool recipe_convergence(struct convergence *out, const struct recipe *r, struct convergence_tables *tables, struct err *err)
{
    const struct workload *w = r->model_family ? r->model_family : workload_find(r->workload, err);
    if (!w)
        return false;
    if (!w->benchmark)
        return fail(err, "%s: %s is not an MLPerf benchmark: its convergence is unknown", r->id, r->workload);
    struct recipe_terms t = recipe_terms(r);
    return convergence_predict_from(out, tables, &(struct submission_terms){ w->benchmark, t.round, t.division, t.submitter, r->optimizer_name,
                                                                             recipe_logged_batch(r), recipe_base_learning_rate(r) }, err);
}

double recipe_eval_interval(const struct recipe *r, const struct convergence *c)
{
    return r->eval_every ? (double)r->eval_every / c->samples_per_epoch : 0;
}

struct expected_training expected_training(const struct recipe *r, const struct convergence *c)
{
    double interval = recipe_eval_interval(r, c);
    if (!(interval > 0))
        interval = c->schedule.interval;
    if (r->eval_placement == EVAL_END && c->has_plan)
        return (struct expected_training){ c->planned_epochs * c->samples_per_epoch, ceil(c->planned_epochs / interval - 1e-6) };
    return (struct expected_training){ c->mean_samples, fmax(c->mean_samples / c->samples_per_epoch / interval, 1) };
}
