/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rates.c - the optimizer's values at each step, from the hyperparameters of a recipe.
 *     rate = base step / warm-up                                                  before the warm-up's end
 *     rate = end + (base - end) (1 - (step - warm-up) / decay steps)^power       for `decay steps` steps after it
 */
#include "results/train/train.h"

/* A setting's usual value, and the names under which MLPerf's benchmarks log it for all optimizers. An optimizer's own name for it
 * (optimizers.c) is looked for first. */
struct value_names { size_t offset; double usual; const char *names[3]; };
#define AT(member) offsetof(struct rates, member)
static const struct value_names value_names[] = {
    [SETTING_BASE] = { AT(base), 0, { "opt_base_learning_rate" } },
    [SETTING_END] = { AT(end), 0, { "opt_end_learning_rate" } },
    [SETTING_POWER] = { AT(power), 1, { NULL } },
    [SETTING_WARMUP_STEPS] = { AT(warmup_steps), 0, { "opt_learning_rate_warmup_steps", "num_warmup_steps" } },
    [SETTING_DECAY_STEPS] = { AT(decay_steps), 0, { "opt_learning_rate_decay_steps", "opt_learning_rate_training_steps" } },
    [SETTING_MOMENTUM] = { AT(values.momentum), 0.9, { "opt_momentum" } },
    [SETTING_SECOND_MOMENTUM] = { AT(values.second_momentum), 0.999, { NULL } },
    [SETTING_EPSILON] = { AT(values.epsilon), 1e-6, { "opt_epsilon" } },
    [SETTING_WEIGHT_DECAY] = { AT(values.weight_decay), 0, { "opt_weight_decay" } },
    [SETTING_CLIP_NORM] = { AT(values.clip_norm), 0, { "opt_gradient_clip_norm" } },
};
#undef AT
_Static_assert(sizeof value_names / sizeof *value_names == N_OPTIMIZER_SETTINGS, "one row a setting");
static const char *const epochs_of_warmup[] = { "opt_learning_rate_warmup_epochs", "lars_opt_learning_rate_warmup_epochs", NULL };

static const struct ini_entry *given(const struct recipe *r, const char *const *names)
{
    const struct ini_entry *found = NULL;
    for (; *names && !found; names++)
        found = FIND_TEXT(r->hyperparameters, r->n_hyperparameters, struct ini_entry, key, *names);
    return found;
}

static const struct ini_entry *given_setting(const struct recipe *r, size_t setting)
{
    const struct optimizer_rule *rule = optimizer_find(r->optimizer_name);
    const char *own[] = { rule ? rule->settings[setting] : NULL, NULL };
    const struct ini_entry *e = given(r, own);
    return e ? e : given(r, value_names[setting].names);
}

static bool read_value(double *out, const struct recipe *r, const struct ini_entry *e, struct err *err)
{
    return (parse_f64(e->value, out) && *out >= 0) || fail(err, "%s: optimizer.%s is '%.40s'; want a number of 0 or more", r->path, e->key, e->value);
}

static bool is_followed(const struct recipe *r, const struct ini_entry *e)
{
    for (size_t i = 0; i < N_OPTIMIZER_SETTINGS; i++)
        if (given_setting(r, i) == e)
            return true;
    return given(r, epochs_of_warmup) == e;
}

bool rates_read(struct rates *out, const struct recipe *r, double steps_per_epoch, struct arena *a, struct err *err)
{
    *out = (struct rates){ .values.trust = 1e-3 };
    for (size_t i = 0; i < N_OPTIMIZER_SETTINGS; i++) {
        double *value = (double *)((char *)out + value_names[i].offset);
        const struct ini_entry *e = given_setting(r, i);
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
    double at = (double)step + 1, left = fmax(0, 1 - fmax(0, at - 1 - r->warmup_steps) / r->decay_steps);
    v.learning_rate = at <= r->warmup_steps ? r->base * at / r->warmup_steps : r->decay_steps > 0 ? r->end + (r->base - r->end) * pow(left, r->power) : r->base;
    return v;
}
