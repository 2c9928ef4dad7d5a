/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_large.c - models of 0.1 to 176 billion parameters on 4 to 256 IPUs: whether training fits on the chips or in phases, and its speed.
 *
 * Each cell trains rows of 1024 tokens in fp16 with AdamW on GC200s, 128 rows a step, by the settings of a released program (base_recipe). Layers are cut over
 * 4, 16 or 64 IPUs, along one axis or two; the other IPUs are replicas. A cell is dark if the model fits on the chips in some way, and light if it fits in
 * phases alone; its rate is that of the fastest way. A model whose weights and state alone are more than the chips hold is not tried on the chips. Left out:
 * pipelines, and other micro-batches than one.
 */
#include "results/figures/drawings.h"

static const char base_recipe[] = "vendor-ipu-pod16-gpt-j-popxl";
static const char *const models[] = { "gpt2-small", "gpt2-medium", "gpt2-large", "gpt2-xl", "gpt3-2.7b", "gpt-j", "llama2-13b", "llama2-70b", "bloom" };
static const unsigned sizes[] = { 4, 16, 64, 256 };
static const struct model_cut { unsigned n_ipus; const char *axes; } cuts[] = { { 4, "4" }, { 16, "16" }, { 16, "4x4" }, { 64, "64" }, { 64, "8x8" }, { 64, "16x4" } };
static const char *const domains[] = { "pod", "all" };         /* replicas over which state is sharded: GPT-J's program, and GPT-3 175B's */
static const char *const shares[] = { "0.2", "0.15", "0.1" };         /* shares of memory for temporaries, of which the first that fits is taken */
enum { N_MODELS = sizeof models / sizeof *models, N_SIZES = sizeof sizes / sizeof *sizes, N_CUTS = sizeof cuts / sizeof *cuts, N_MEMORY_SHARES = sizeof shares / sizeof *shares,
       IPUS_OF_A_DOMAIN = 64, ROWS_A_STEP = 128, BYTES_A_PARAMETER = 2 + 2 + 8 };      /* bytes of weight, gradient and two moments */
enum place { NOWHERE, IN_PHASES, ON_CHIP };

/* The place where training fits, and the fastest way to train. If `cut` is NULL, nothing fits. */
struct cell { enum place place, fastest; const struct model_cut *cut; double rows_per_s; const char *guess; };

/* Simulates a model whose layers are cut in this way; false if it does not fit. */
static bool fits_cut(struct drawing *d, const char *model, unsigned n_ipus, const struct model_cut *cut, const char *domain, enum place place)
{
    for (size_t i = 0; i < N_MEMORY_SHARES; i++) {
        const char *const sets[] = {
            arena_printf(d->a, "recipe.workload=%s", model), arena_printf(d->a, "recipe.system=ipu-pod%u", n_ipus), arena_printf(d->a, "parallel.replicas=%u", n_ipus / cut->n_ipus),
            arena_printf(d->a, "parallel.ipus_per_replica=%u", cut->n_ipus), arena_printf(d->a, "parallel.tensor_parallel=%s", cut->axes),
            arena_printf(d->a, "parallel.gradient_accumulation=%u", ROWS_A_STEP * cut->n_ipus / n_ipus), arena_printf(d->a, "parallel.weights=%s", place == ON_CHIP ? "on-chip" : "streaming"),
            arena_printf(d->a, "parallel.available_memory=%s", shares[i]), arena_printf(d->a, "parallel.rts_domain=%s", domain),
        };
        if (drawing_simulate(d, base_recipe, sets, sizeof sets / sizeof *sets, NULL) && d->result.fits)
            return true;
    }
    return false;
}

static void try_cut(struct cell *best, struct drawing *d, const char *model, unsigned n_ipus, const struct model_cut *cut, enum place place)
{
    for (size_t i = n_ipus > IPUS_OF_A_DOMAIN ? 0 : 1; i < sizeof domains / sizeof *domains; i++) {
        if (!fits_cut(d, model, n_ipus, cut, domains[i], place))
            continue;
        best->place = best->place ? best->place : place;
        if (d->result.throughput_samples_per_s > best->rows_per_s)
            *best = (struct cell){ best->place, place, cut, d->result.throughput_samples_per_s, d->result.guess };
    }
}

static struct cell best_of(struct drawing *d, const char *model, uint64_t n_parameters, unsigned n_ipus)
{
    struct cell best = { 0 };
    const double tile_bytes = 624 * 1024, n_tiles = 1472;       /* the tiles of a GC200; they limit what is tried, and not what fits */
    for (int place = ON_CHIP; place > NOWHERE; place--)
        for (const struct model_cut *cut = cuts; cut < cuts + N_CUTS && cut->n_ipus <= n_ipus; cut++)
            if (place != ON_CHIP || BYTES_A_PARAMETER * (double)n_parameters / cut->n_ipus < tile_bytes * n_tiles)
                try_cut(&best, d, model, n_ipus, cut, (enum place)place);
    return best;
}

static void write_cell(FILE *f, size_t x, size_t y, const char *model, const struct cell *c, struct drawing *d)
{
    static const char *const names[] = { [NOWHERE] = "does not fit", [IN_PHASES] = "in phases", [ON_CHIP] = "on chip" };
    fprintf(f, "%zu,%zu,%s,%u,%d,%s,%s,%s,%s,%s\n", x, y, model, sizes[x], c->place, names[c->place], names[c->fastest], c->cut ? c->cut->axes : "0",
            c->cut ? arena_printf(d->a, "%.6g", c->rows_per_s) : "NaN", c->cut ? arena_printf(d->a, c->rows_per_s < 100 ? "%.3g" : "%.0f", c->rows_per_s) : "no");
}

bool draw_large(struct drawing *d, struct err *err)
{
    const char *smallest = NULL;
    (void)err;
    d->missing = "the program whose settings are taken";
    if (!drawing_simulate(d, base_recipe, NULL, 0, NULL))
        return true;
    FILE *f = drawing_table(d, "large", "x,y,model,ipus,place,fits,fastest,cut_over,rows_per_s,text");
    for (size_t y = 0; y < N_MODELS; y++) {
        uint64_t n = workload_parameters(models[y], d->a);
        unsigned on_chip = 0, in_all = 0;
        for (size_t x = 0; x < N_SIZES; x++) {
            struct cell c = best_of(d, models[y], n, sizes[x]);
            write_cell(f, x, y, models[y], &c, d);
            if (c.cut)
                drawing_shows(d, c.guess);
            on_chip = on_chip || c.place != ON_CHIP ? on_chip : sizes[x];
            in_all = in_all || !c.cut ? in_all : sizes[x];
        }
        if (in_all && !on_chip && !smallest)
            smallest = arena_printf(d->a, "From %s (%.2g billion parameters) on, training needs phases", models[y], 1e-9 * (double)n);
    }
    d->finding = smallest ? smallest : "Every model that fits at all fits on the chips";
    return true;
}
