/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_framework.c - the framework that a recipe names: its sheet, overridden by what the recipe's own program sets.
 *
 * [framework] takes every key of a framework's sheet; hosts.steps_per_call overrides the sheet too. A pipeline must use
 * a schedule that the framework can run.
 */
#include "workloads/recipe/recipe_internal.h"

static bool apply_settings(struct framework *out, const struct recipe *r, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < r->n_framework_settings; i++) {
        const struct ini_entry *e = &r->framework_settings[i];
        const struct field *f = field_find(framework_fields, n_framework_fields, e->key);
        if (!recipe_set_field(out, f, r, e, a, err))
            return false;
    }
    if (r->steps_per_call >= 0)
        out->program.steps_per_call = r->steps_per_call;
    return true;
}

/* A sheet may list any names, as long as they fit the room; schedules are checked after that. */
static bool check_framework_names(const struct framework *f, struct arena *a, struct err *err)
{
    const char *list = f->schedules, *name;
    while ((name = text_item(&list, ',', a))) {
        size_t i = 0;
        while (i < N_SCHEDULES && !text_is(schedule_names[i], name))
            i++;
        if (i == N_SCHEDULES)
            return fail(err, "framework.schedules: '%.60s' of %s is not a schedule; known: %s", name, f->name,
                        names_list(schedule_names, N_SCHEDULES, a));
    }
    return true;
}

bool recipe_check_schedule(const struct plan_request *o, const struct framework *f, struct err *err)
{
    uint64_t multiple = f->program.accumulation_multiple;
    bool pipelined = o->n_stages > 1 || (!o->n_stages && o->ipus_per_replica > 1);
    bool in_turns = o->schedule == SCHEDULE_GROUPED || o->schedule == SCHEDULE_INTERLEAVED;
    uint64_t stages = o->n_stages ? o->n_stages : o->ipus_per_replica;
    if (!pipelined || !o->training || o->schedule == SCHEDULE_NONE || o->schedule == SCHEDULE_SEQUENTIAL)
        return true;
    if (!framework_can(f, schedule_names[o->schedule]))
        return fail(err, "parallel.schedule: %s cannot run %s; want one of: %s (or framework.schedules=%s for a program that can)", f->name,
                    schedule_names[o->schedule], f->schedules, schedule_names[o->schedule]);
    if (in_turns && multiple && o->grad_accum % (multiple * stages) != 0)
        return fail(err, "parallel.gradient_accumulation: %u, want a multiple of %ju: %s runs %s pipelines with multiples of %ju times their %ju stages", o->grad_accum,
                    (uintmax_t)(multiple * stages), f->name, schedule_names[o->schedule], (uintmax_t)multiple,
                    (uintmax_t)stages);
    return true;
}

bool recipe_framework(struct plan_request *out, struct framework *f, const struct recipe *r, struct arena *a, struct err *err)
{
    if (!apply_settings(f, r, a, err) || !check_framework_names(f, a, err))
        return false;
    out->program = f->program;
    out->framework_name = f->name;
    if (out->training && r->state_bytes_per_param == 0 && out->optimizer.moments_of_framework)
        out->optimizer.state_bytes_per_param = out->optimizer.n_moments * f->program.moment_bytes;
    return recipe_check_schedule(out, f, err);
}
