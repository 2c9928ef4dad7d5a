/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * remedies.c - each remedy is a few overrides on top of the recipe's own; a simulation tells whether it fits and how fast it is.
 *
 * A smaller micro-batch keeps the global batch by more gradient accumulation; more IPUs for a replica keep the number of
 * IPUs by fewer replicas, with the layers spread evenly. Two changes together are tried only where no single one is enough, or only
 * one that has to be planned again, which may be much slower. A change that
 * cannot be simulated (a pipeline too short to fill, more stages than layers, no memory to stream to) is no remedy and is left out.
 */
#include "results/simulate/remedies.h"
#include "results/simulate/simulator.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct remedy *add(struct remedy *out, size_t *n, const char *what)
{
    struct remedy *r = &out[(*n)++];
    *r = (struct remedy){ .what = what };
    return r;
}

static void set(struct remedy *r, const char *text)
{
    assert(r->n_sets < MAX_REMEDY_SETS);
    r->sets[r->n_sets++] = text;
}

static void list_memory(struct remedy *out, size_t *n, const struct recipe *r, const struct plan_options *o, struct arena *a)
{
    if (o->training && o->recompute != RECOMPUTE_LAYER)
        set(add(out, n, "recompute every layer"), "parallel.recompute=layer");
    if (o->training && o->rts == RTS_NO && o->n_replicas > 1)
        set(add(out, n, "shard the optimizer state over the replicas"), "parallel.rts=yes");
    if (o->training && o->optimizer_place == OPTIMIZER_ON_CHIP)
        set(add(out, n, "stream the optimizer state"), "parallel.optimizer_state=streaming");
    if (o->training && o->stash_type != TYPE_FP8 && r->ipus_per_replica > 1)
        set(add(out, n, "stash activations as fp8"), "parallel.stash_type=fp8");
    set(add(out, n, "smaller temporaries"), "parallel.available_memory=0.1");
    if (o->io_tiles)
        set(add(out, n, "twice the I/O tiles"), arena_printf(a, "parallel.io_tiles=%u", 2 * o->io_tiles));
}

static void list_shape(struct remedy *out, size_t *n, const struct recipe *r, const struct plan_options *o, struct arena *a)
{
    if (r->model.micro_batch > 1) {
        struct remedy *half = add(out, n, "half the micro-batch");
        set(half, arena_printf(a, "parallel.micro_batch=%" PRIu64, r->model.micro_batch / 2));
        if (o->training)
            set(half, arena_printf(a, "parallel.gradient_accumulation=%" PRIu64, 2 * r->gradient_accumulation));
    }
    if (r->replicas % 2 == 0) {
        struct remedy *wider = add(out, n, "twice the IPUs per replica");
        set(wider, arena_printf(a, "parallel.ipus_per_replica=%" PRIu64, 2 * r->ipus_per_replica));
        set(wider, arena_printf(a, "parallel.replicas=%" PRIu64, r->replicas / 2));
        set(wider, "parallel.layers_per_ipu=");
        if (o->training && o->schedule == SCHEDULE_NONE)
            set(wider, "parallel.schedule=grouped");
    }
}

/* False: not to be simulated at all. */
static bool try_remedy(struct remedy *r, const char *recipe, const char *const *overrides, size_t n_overrides,
                       struct simulator *s, struct arena *a)
{
    const char **all = ARENA_ARRAY(a, const char *, n_overrides + r->n_sets);
    struct simulation sim;
    struct result result;
    if (overrides)
        memcpy(all, overrides, n_overrides * sizeof *all);
    memcpy(all + n_overrides, r->sets, r->n_sets * sizeof *all);
    bool good = simulator_run(s, &sim, &result, recipe, all, n_overrides + r->n_sets, NULL);
    if (good) {
        r->fits = result.fits;
        r->fits_as_asked = result.fits && !sim.plan.options.layer_memory;
        r->throughput_samples_per_s = result.throughput_samples_per_s;
        r->shortfall_bytes_per_tile = result.memory_shortfall_bytes_per_tile;
        simulation_free(&sim);
    }
    return good;
}

static int better(const void *x, const void *y)
{
    const struct remedy *a = x, *b = y;
    if (a->fits != b->fits)
        return a->fits ? -1 : 1;
    if (a->fits && a->throughput_samples_per_s != b->throughput_samples_per_s)
        return a->throughput_samples_per_s > b->throughput_samples_per_s ? -1 : 1;
    if (a->shortfall_bytes_per_tile != b->shortfall_bytes_per_tile)
        return a->shortfall_bytes_per_tile < b->shortfall_bytes_per_tile ? -1 : 1;
    return strcmp(a->what, b->what);
}

/* No two of those listed set the same key. */
static struct remedy joined(const struct remedy *x, const struct remedy *y, struct arena *a)
{
    struct remedy both = *x;
    for (uint32_t k = 0; k < y->n_sets; k++)
        set(&both, y->sets[k]);
    both.what = arena_printf(a, "%s, and %s", x->what, y->what);
    return both;
}

static size_t find_pairs(struct remedy *out, const struct remedy *listed, size_t n_listed, const char *recipe, const char *const *overrides,
                         size_t n_overrides, struct simulator *by, struct arena *a)
{
    struct remedy pairs[MAX_SINGLE_REMEDIES * MAX_SINGLE_REMEDIES];
    size_t n = 0, kept = 0, tried = 0;
    for (size_t j = 1; j < n_listed; j++)
        for (size_t i = 0; i < j; i++) {
            pairs[n] = joined(&listed[i], &listed[j], a);
            n += try_remedy(&pairs[n], recipe, overrides, n_overrides, by, a) && pairs[n].fits;
            watch_report(&by->watch, "trying remedies in pairs", ++tried, n_listed * (n_listed - 1) / 2);
        }
    sort_items(pairs, n, sizeof *pairs, better);
    for (; kept < n && kept < MAX_PAIRS; kept++)
        out[kept] = pairs[kept];
    return kept;
}

bool remedies_find(struct remedy *out, size_t *n, const struct simulation *sim, const char *recipe, const char *const *overrides,
                   size_t n_overrides, struct arena *a, struct err *err)
{
    struct remedy listed[MAX_SINGLE_REMEDIES];
    size_t n_listed = 0;
    if (sim->plan.fits)
        return fail(err, "%s fits: nothing to remedy", recipe);
    list_memory(listed, &n_listed, &sim->recipe, &sim->plan.options, a);
    list_shape(listed, &n_listed, &sim->recipe, &sim->plan.options, a);
    *n = 0;
    bool enough = false;
    for (size_t i = 0; i < n_listed; i++) {
        if (try_remedy(&listed[i], recipe, overrides, n_overrides, sim->by, a))
            out[(*n)++] = listed[i];
        enough = enough || listed[i].fits_as_asked;
        watch_report(&sim->by->watch, "trying remedies", i + 1, n_listed);
    }
    sort_items(out, *n, sizeof *out, better);
    if (!enough) {
        *n += find_pairs(out + *n, listed, n_listed, recipe, overrides, n_overrides, sim->by, a);
        sort_items(out, *n, sizeof *out, better);
    }
    return true;
}

void remedies_print(FILE *f, const struct remedy *r, size_t n)
{
    fprintf(f, "does not fit; what was tried:\n");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "  %-44s", r[i].what);
        if (r[i].fits)
            fprintf(f, " fits, %.6g samples/s:", r[i].throughput_samples_per_s);
        else
            fprintf(f, " %" PRIu64 " bytes too many on the fullest tile:", r[i].shortfall_bytes_per_tile);
        for (uint32_t k = 0; k < r[i].n_sets; k++)
            fprintf(f, " --set %s", r[i].sets[k]);
        fputc('\n', f);
    }
}

json_t *remedies_json(const struct remedy *r, size_t n)
{
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *sets = json_array();
        for (uint32_t k = 0; k < r[i].n_sets; k++)
            json_array_append_new(sets, json_string(r[i].sets[k]));
        json_array_append_new(all, json_pack("{s:s, s:o, s:b, s:f, s:I}", "what", r[i].what, "set", sets, "fits", r[i].fits,
                                             "throughput_samples_per_s", r[i].throughput_samples_per_s, "shortfall_bytes_per_tile",
                                             (json_int_t)r[i].shortfall_bytes_per_tile));
    }
    return all;
}
