/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * energy.c - energy of a step: its mean power (power.h) times its time; of a training, the same power to its end. Money is the recipe's price
 * for an hour of all IPUs in use.
 */
#include "results/simulate/energy.h"

#include <jansson.h>

#include "results/simulate/result.h"

static const char *bound_note(const struct power *p)
{
    return p->knows_waiting ? "" : ", an upper bound: no source gives the power of waiting IPUs";
}

void energy_print(FILE *f, const struct power *p, const struct result *r)
{
    if (p->missing)
        fprintf(f, "energy: not known: %s", p->missing);
    else
        fprintf(f, "energy: %.6g J per step, %.4g J per sample, %.6g W of %s (modelled, %s:%u%s)", r->energy_per_step_j,
                r->energy_per_step_j / r->global_batch, r->energy_per_step_j / r->step_time_s, p->of, p->sheet->path, p->row->line,
                bound_note(p));
    if (is_known(r->cost_per_step))
        fprintf(f, "; money: %.4g per million samples", 1e6 * r->cost_per_step / r->global_batch);
    if (is_known(r->cost_to_train))
        fprintf(f, ", %.4g to train", r->cost_to_train);
    fputc('\n', f);
}

json_t *energy_json(const struct power *p, const struct result *r)
{
    json_t *o = json_object();
    json_object_set_new(o, "modelled", json_true());
    json_object_set_new(o, "missing", p->missing ? json_string(p->missing) : json_null());
    if (p->missing)
        return o;
    json_object_set_new(o, "per_step_j", json_real(r->energy_per_step_j));
    json_object_set_new(o, "per_sample_j", json_real(r->energy_per_step_j / r->global_batch));
    json_object_set_new(o, "to_train_j", is_known(r->energy_j) ? json_real(r->energy_j) : json_null());
    json_object_set_new(o, "mean_power_w", json_real(r->energy_per_step_j / r->step_time_s));
    json_object_set_new(o, "power_at_work_w", json_real(p->at_work_w));
    json_object_set_new(o, "power_waiting_w", p->knows_waiting ? json_real(p->waiting_w) : json_null());
    json_object_set_new(o, "power_cap_w", p->cap_w > 0 ? json_real(p->cap_w) : json_null());
    json_object_set_new(o, "counts", json_string(p->of));
    json_object_set_new(o, "source", json_string(p->row->source));
    json_object_set_new(o, "file", json_string(p->sheet->path));
    json_object_set_new(o, "line", json_integer(p->row->line));
    json_object_set_new(o, "note", json_string(p->knows_waiting ? "" : "no source gives the power of waiting IPUs: they count as working, an upper bound"));
    return o;
}

json_t *money_json(const struct result *r)
{
    json_t *o = json_object();
    bool known = is_known(r->cost_per_step);
    json_object_set_new(o, "missing", known ? json_null() : json_string("the recipe states no price: --set cost.price_per_hour=PRICE"));
    if (!known)
        return o;
    json_object_set_new(o, "per_step", json_real(r->cost_per_step));
    json_object_set_new(o, "per_million_samples", json_real(1e6 * r->cost_per_step / r->global_batch));
    json_object_set_new(o, "to_train", is_known(r->cost_to_train) ? json_real(r->cost_to_train) : json_null());
    return o;
}
