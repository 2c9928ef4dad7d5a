/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_names.c - the names of a simulated program, and how far apart two programs are by them.
 */
#include "results/simulate/program_names.h"
#include "system-model/graph/graph.h"

#include <ctype.h>
#include <strings.h>

const double program_name_weights[N_PROGRAM_NAMES] = {
    [BY_FAMILY] = 4, [BY_MODE] = 4, [BY_WORKLOAD] = 1, [BY_CHIP] = 1, [BY_FRAMEWORK] = 1, [BY_COMPUTE] = 1, [BY_INPUT] = 1,
};

/* The name without its version: TensorFlow for both "TensorFlow 1.15" and "TensorFlow-1-2.1.0". */
static const char *first_word(const char *text, struct arena *a)
{
    size_t n = 0;
    while (text && isalpha((unsigned char)text[n]))
        n++;
    return text ? arena_printf(a, "%.*s", (int)n, text) : "none";
}

/* The model's family; sparse products, layers cut over IPUs, and weights off the chip make it a family of its own. */
static const char *family_of(const struct simulation *sim, const struct workload *w, struct arena *a)
{
    const struct model_options *m = &sim->recipe.model;
    bool in_phases = sim->recipe.weights == WEIGHTS_STREAMING;
    const char *family = w->family;
    uint32_t kinds = 0;
    if (m->sparse.density > 0 || m->tensor_parallel || in_phases)
        family = arena_printf(a, "%s%s%s%s", family, m->sparse.density > 0 ? " sparse" : "", m->tensor_parallel ? " cut" : "", in_phases ? " in phases" : "");
    if (!m->file)
        return family;
    for (size_t i = 0; i < sim->graph->n_ops; i++)
        kinds = kinds * 31 + (uint32_t)sim->graph->ops[i].kind;
    return arena_printf(a, "%s %08" PRIx32, family, kinds);
}

void program_names_of(const char *name[N_PROGRAM_NAMES], const struct simulation *sim, struct arena *a)
{
    const struct recipe *r = &sim->recipe;
    name[BY_FAMILY] = family_of(sim, recipe_workload(r), a);
    name[BY_MODE] = r->mode == MODE_TRAIN ? "train" : "infer";
    name[BY_WORKLOAD] = arena_strdup(a, r->workload);
    name[BY_CHIP] = arena_strdup(a, sim->machine->chip_name);
    name[BY_FRAMEWORK] = first_word(r->framework, a);
    name[BY_COMPUTE] = float_type_names[r->model.compute];
    name[BY_INPUT] = r->synthetic_data ? "on the chip" : r->io_tiles ? "overlapped" : "in turn";
}

bool program_names_equal(const char *x, const char *y)
{
    return strcasecmp(x, y) == 0;
}

double program_names_apart(const char *const x[N_PROGRAM_NAMES], const char *const y[N_PROGRAM_NAMES])
{
    double distance = 0;
    for (size_t i = 0; i < N_PROGRAM_NAMES; i++)
        distance += program_names_equal(x[i], y[i]) ? 0 : program_name_weights[i];
    return distance;
}
