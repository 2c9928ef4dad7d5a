/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * podbench.c - the public library: a simulator behind an opaque handle.
 */
#include "results/simulate/podbench.h"
#include "results/simulate/simulate.h"
#include "results/simulate/simulator.h"
#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <stdlib.h>

struct podbench { struct arena arena; struct model_paths paths; struct simulator simulator; struct err err; bool is_open; };

const char *podbench_version(void)
{
    return PODBENCH_VERSION;
}

struct podbench *podbench_open(const char *root)
{
    struct arena own = {0};
    struct podbench *p = ARENA_NEW(&own, struct podbench);
    p->arena = own;
    gsl_set_error_handler_off();
    const char *found = root_find(root, "the root", &p->arena, &p->err);
    if (!found)
        return p;
    p->paths.specs_dir = root_path(found, "system-model/specs", &p->arena);
    p->paths.recipes_dir = root_path(found, "workloads/recipes", &p->arena);
    p->paths.data_dir = root_path(found, "workloads/convergence", &p->arena);
    simulator_open(&p->simulator, &p->paths);
    p->is_open = true;
    return p;
}

void podbench_close(struct podbench *p)
{
    if (!p)
        return;
    if (p->is_open)
        simulator_close(&p->simulator);
    struct arena own = p->arena;        /* which holds p itself */
    arena_free(&own);
}

const char *podbench_message(const struct podbench *p)
{
    return p->err.msg;
}

static void copy_numbers(struct podbench_result *out, const struct result *r)
{
#define COPY_TEXT(name)
#define COPY_COUNT(name) out->name = r->name;
#define COPY_NUMBER(name) out->name = r->name;
#define COPY_FLAG(name) out->name = r->name;
#define METRIC(type, name, ...) COPY_##type(name)
#include "results/simulate/podbench_metrics.def"
#undef METRIC
}

static bool simulate_for(struct podbench *p, struct simulation *sim, struct result *r, const char *recipe, const char *const *sets,
                         size_t n_sets)
{
    if (!p->is_open)
        return false;                   /* the message of podbench_open stays */
    p->err = (struct err){ "" };
    return simulator_run(&p->simulator, sim, r, recipe, sets, n_sets, &p->err);
}

int podbench_run(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets, struct podbench_result *out)
{
    struct simulation sim;
    struct result r;
    if (!simulate_for(p, &sim, &r, recipe, sets, n_sets))
        return -1;
    copy_numbers(out, &r);
    simulation_free(&sim);
    return 0;
}

char *podbench_run_json(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets)
{
    struct simulation sim;
    struct result r;
    if (!simulate_for(p, &sim, &r, recipe, sets, n_sets))
        return NULL;
    result_provenance(&r, &sim, sets, n_sets);
    json_t *object = result_json(&r);
    json_object_set_new(object, "made_by", provenance_json(&r, &sim, sets, n_sets));
    result_json_add_groups(object, &r);
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(object);
    simulation_free(&sim);
    return text;
}
