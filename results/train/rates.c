/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rates.c - the optimizer's values by step, from the hyperparameters of a recipe.
 *
 *     rate = base step / warm-up                                                  before the warm-up's end
 *     rate = end + (base - end) (1 - (step - warm-up) / decay steps)^power       until decay steps after it
 */
#include "results/train/train.h"

/* Names under which MLPerf's benchmarks log one value; the first one that is given counts. */
struct value_names { size_t offset; double usual; const char *names[6]; };
#define AT(member) offsetof(struct rates, member)
static const struct value_names value_names[] = {
    { AT(base), 0, { "opt_base_learning_rate", "sgd_opt_base_learning_rate", "lars_opt_base_learning_rate" } },
    { AT(end), 0, { "opt_end_learning_rate", "sgd_opt_end_learning_rate", "lars_opt_end_learning_rate", "opt_lamb_learning_rate_min" } },
    { AT(power), 1, { "sgd_opt_learning_rate_decay_poly_power", "lars_opt_learning_rate_decay_poly_power", "opt_lamb_learning_rate_decay_poly_power" } },
    { AT(warmup_steps), 0, { "opt_learning_rate_warmup_steps", "num_warmup_steps" } },
    { AT(decay_steps), 0, { "opt_learning_rate_decay_steps", "sgd_opt_learning_rate_decay_steps", "lars_opt_learning_rate_decay_steps", "opt_learning_rate_training_steps" } },
    { AT(values.momentum), 0.9, { "opt_momentum", "sgd_opt_momentum", "lars_opt_momentum", "opt_lamb_beta_1" } },
    { AT(values.second_momentum), 0.999, { "opt_lamb_beta_2" } },
    { AT(values.epsilon), 1e-6, { "opt_epsilon", "lars_epsilon", "opt_lamb_epsilon" } },
    { AT(values.weight_decay), 0, { "opt_weight_decay", "sgd_opt_weight_decay", "lars_opt_weight_decay", "opt_lamb_weight_decay_rate" } },
    { AT(values.clip_norm), 0, { "opt_gradient_clip_norm" } },
};
#undef AT
static const char *const epochs_of_warmup[] = { "opt_learning_rate_warmup_epochs", "lars_opt_learning_rate_warmup_epochs", NULL };
enum { N_VALUES = sizeof value_names / sizeof *value_names };

static const struct ini_entry *given(const struct recipe *r, const char *const *names)
{
    for (; *names; names++)
        for (size_t i = 0; i < r->n_hyperparameters; i++)
            if (text_is(r->hyperparameters[i].key, *names))
                return &r->hyperparameters[i];
    return NULL;
}

static bool read_value(double *out, const struct recipe *r, const struct ini_entry *e, struct err *err)
{
    return (parse_f64(e->value, out) && *out >= 0) || fail(err, "%s: optimizer.%s is '%.40s'; want a number of 0 or more", r->path, e->key, e->value);
}

static bool is_followed(const struct recipe *r, const struct ini_entry *e)
{
    for (size_t i = 0; i < N_VALUES; i++)
        if (given(r, value_names[i].names) == e)
            return true;
    return given(r, epochs_of_warmup) == e;
}

bool rates_read(struct rates *out, const struct recipe *r, double steps_per_epoch, struct arena *a, struct err *err)
{
    *out = (struct rates){ .values.trust = 1e-3 };
    for (size_t i = 0; i < N_VALUES; i++) {
        double *value = (double *)((char *)out + value_names[i].offset);
        const struct ini_entry *e = given(r, value_names[i].names);
        *value = value_names[i].usual;
        if (e && !read_value(value, r, e, err))
            return false;
    }
    const struct ini_entry *epochs = given(r, epochs_of_warmup);
    if (epochs && !read_value(&out->warmup_steps, r, epochs, err))
        return false;
    out->warmup_steps = epochs ? ceil(out->warmup_steps * steps_per_epoch) : out->warmup_steps;
    for (size_t i = 0; i < r->n_hyperparameters; i++)
        if (!is_followed(r, &r->hyperparameters[i]))
            out->unused = arena_printf(a, "%s%s%s", out->unused ? out->unused : "", out->unused ? ", " : "", r->hyperparameters[i].key);
    return out->base > 0 || fail(err, "%s: [optimizer] has no opt_base_learning_rate, without which nothing is learned", r->path);
}

struct optimizer_values rates_at(const struct rates *r, uint64_t step)
{
    struct optimizer_values v = r->values;
    double at = (double)step + 1, left = r->decay_steps > 0 ? fmax(0, 1 - fmax(0, at - 1 - r->warmup_steps) / r->decay_steps) : 1;
    v.learning_rate = at <= r->warmup_steps ? r->base * at / r->warmup_steps : r->decay_steps > 0 ? r->end + (r->base - r->end) * pow(left, r->power) : r->base;
    return v;
}
