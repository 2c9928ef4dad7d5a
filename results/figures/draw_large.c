/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_large.c - models of 0.1 to 176 billion parameters on 4 to 256 IPUs: whether training fits on the chips or in phases, and its speed.
 *
 * Each cell trains rows of 1024 tokens in fp16 with AdamW, 128 rows a step, with the settings of a released program (base_recipe), on GC200s.
 * Every layer is cut over 4, 16 or 64 IPUs, whichever is fastest; the other IPUs are replicas. If weights and state alone exceed the memory of
 * the chips, training on the chips is not tried. Left out: pipelines, and micro-batches other than one.
 */
#include "results/figures/drawings.h"

static const char base_recipe[] = "vendor-ipu-pod16-gpt-j-popxl";
static const char *const models[] = { "gpt2-small", "gpt2-medium", "gpt2-large", "gpt2-xl", "gpt3-2.7b", "gpt-j", "llama2-13b", "llama2-70b", "bloom" };
static const unsigned sizes[] = { 4, 16, 64, 256 }, widths[] = { 4, 16, 64 };
enum { N_MODELS = sizeof models / sizeof *models, N_SIZES = sizeof sizes / sizeof *sizes, N_WIDTHS = sizeof widths / sizeof *widths,
       ROWS_A_STEP = 128, BYTES_A_PARAMETER = 2 + 2 + 8 };      /* weight, gradient and two moments */
enum place { NOWHERE, IN_PHASES, ON_CHIP };

/* The fastest way to train in one cell; width is 0 if nothing fits. */
struct cell { enum place place; unsigned width; double rows_per_s; const char *guess; };

static void try_width(struct cell *best, struct drawing *d, const char *model, unsigned n_ipus, unsigned width, enum place place)
{
    const char *const sets[] = {
        arena_printf(d->a, "recipe.workload=%s", model), arena_printf(d->a, "recipe.system=ipu-pod%u", n_ipus), arena_printf(d->a, "parallel.replicas=%u", n_ipus / width),
        arena_printf(d->a, "parallel.ipus_per_replica=%u", width), arena_printf(d->a, "parallel.tensor_parallel=%u", width),
        arena_printf(d->a, "parallel.gradient_accumulation=%u", ROWS_A_STEP * width / n_ipus), arena_printf(d->a, "parallel.weights=%s", place == ON_CHIP ? "on-chip" : "streaming"),
    };
    bool fits = drawing_simulate(d, base_recipe, sets, sizeof sets / sizeof *sets, NULL) && d->result.fits;
    if (fits && d->result.throughput_samples_per_s > best->rows_per_s)
        *best = (struct cell){ place, width, d->result.throughput_samples_per_s, d->result.guess };
}

/* The best way to train a model: on the chips if that fits, otherwise in phases. */
static struct cell best_of(struct drawing *d, const char *model, uint64_t n_parameters, unsigned n_ipus)
{
    struct cell best = { 0 };
    const double tile_bytes = 624 * 1024, n_tiles = 1472;       /* those of a GC200; they limit what is tried, and not what fits */
    for (int place = ON_CHIP; place > NOWHERE && !best.width; place--)
        for (size_t w = 0; w < N_WIDTHS && widths[w] <= n_ipus; w++)
            if (place != ON_CHIP || BYTES_A_PARAMETER * (double)n_parameters / widths[w] < tile_bytes * n_tiles)
                try_width(&best, d, model, n_ipus, widths[w], (enum place)place);
    return best;
}

static void write_cell(FILE *f, size_t x, size_t y, const char *model, const struct cell *c, struct drawing *d)
{
    static const char *const names[] = { [NOWHERE] = "does not fit", [IN_PHASES] = "in phases", [ON_CHIP] = "on chip" };
    fprintf(f, "%zu,%zu,%s,%u,%d,%s,%u,%s,%s\n", x, y, model, sizes[x], c->place, names[c->place], c->width,
            c->width ? arena_printf(d->a, "%.6g", c->rows_per_s) : "NaN", c->width ? arena_printf(d->a, c->rows_per_s < 100 ? "%.3g" : "%.0f", c->rows_per_s) : "no");
}

bool draw_large(struct drawing *d, struct err *err)
{
    const char *smallest = NULL;
    (void)err;
    d->missing = "the program whose settings are taken";
    if (!drawing_simulate(d, base_recipe, NULL, 0, NULL))
        return true;
    FILE *f = drawing_table(d, "large", "x,y,model,ipus,place,verdict,cut_over,rows_per_s,text");
    for (size_t y = 0; y < N_MODELS; y++) {
        uint64_t n = workload_parameters(models[y], d->a);
        unsigned on_chip = 0, in_all = 0;
        for (size_t x = 0; x < N_SIZES; x++) {
            struct cell c = best_of(d, models[y], n, sizes[x]);
            write_cell(f, x, y, models[y], &c, d);
            if (c.width)
                drawing_shows(d, c.guess);
            on_chip = on_chip || c.place != ON_CHIP ? on_chip : sizes[x];
            in_all = in_all || !c.width ? in_all : sizes[x];
        }
        if (in_all && !on_chip && !smallest)
            smallest = arena_printf(d->a, "From %s (%.2g billion parameters) on, training needs phases", models[y], 1e-9 * (double)n);
    }
    d->finding = smallest ? smallest : "Every model that fits at all fits on the chips";
    return true;
}
