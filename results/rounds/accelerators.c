/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * accelerators.c - data sheets of accelerators, found by the names in system descriptions: the pattern "*a100*sxm*" matches "NVIDIA
 * A100-SXM4-80GB (400W)".
 */
#include "results/rounds/round_results.h"

#include <fnmatch.h>

#define F(member, ...) FIELD_OF(struct accelerator, member, __VA_ARGS__)
#define RATE .min = 1, .max = 1e18
static const struct field accelerator_fields[] = {
    F(pattern, .required = true), F(vendor), F(model), F(source, .required = true), F(peak_flop_per_s, RATE), F(memory_bytes_per_s, RATE),
    F(link_bytes_per_s, RATE), F(network_bytes_per_s, RATE), F(verified),
};
#undef RATE
#undef F

bool accelerators_load(struct accelerator_table *out, const char *data_dir, struct arena *a, struct err *err)
{
    struct csv_table t;
    return LIST_LOAD(out, &t, arena_printf(a, "%s/accelerators.csv", data_dir), accelerator_fields, a, err);
}

const struct accelerator *accelerator_find(const struct accelerator_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (fnmatch(t->items[i].pattern, name, FNM_CASEFOLD) == 0)
            return &t->items[i];
    return NULL;
}
