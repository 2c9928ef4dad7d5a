/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_roofline.c - the operations of a step on each chip's roofline: flop/s reached against flop for each byte exchanged between tiles.
 *
 * The chip keeps everything in its tiles' memory, so the exchange feeds the arithmetic. The slope is the rate at which all tiles together can
 * receive data, and the roof is the matrix units' peak (Williams, Waterman and Patterson 2009, applied to this memory).
 */
#include "results/figures/drawings.h"
#include "system-model/graph/graph.h"

enum { MOST_CHIPS = 4 };

struct roof { const char *chip; double peak, exchange; size_t n_near, n; };

static struct roof roof_of(const struct simulation *sim)
{
    const struct chip *c = &sim->machine->chip;
    uint64_t mac = chip_mac_per_cycle(c, (enum data_type)sim->recipe.model.compute, sim->plan.request.partials);
    return (struct roof){ .chip = c->name, .peak = chip_peak_flop_per_s(c, mac),
                          .exchange = (double)(c->n_tiles * c->exchange_bytes_per_cycle) * c->clock_hz };
}

struct roof_point { double intensity, rate; };

/* True if an equal point is there; operations of different layers are often alike. */
static bool is_drawn(const struct roof_point *points, size_t n, double intensity, double rate)
{
    for (size_t i = 0; i < n; i++)
        if (points[i].intensity == intensity && points[i].rate == rate)
            return true;
    return false;
}

/* Writes one point for each operation of a stage with multiply-accumulates, and equal points once. `points` has room for all stages. */
static void write_stage(FILE *f, const struct simulation *sim, const struct stage_plan *stage, struct roof *roof, size_t chip, struct roof_point *points, size_t *n)
{
    for (uint32_t i = 0; i < sim->graph->n_ops; i++) {
        const struct op *op = &sim->graph->ops[i];
        const struct op_plan *p = stage->compiled->op_plans[i];
        if (op->layer_id < stage->first_layer || op->layer_id >= stage->first_layer + stage->n_layers || !p->mac || !p->exchanged_bytes)
            continue;
        double flop = 2 * (double)p->mac, rate = flop / (double)op_plan_cycles(p) * sim->machine->chip.clock_hz;
        double intensity = flop / (double)p->exchanged_bytes, limit = fmin(roof->peak, intensity * roof->exchange);
        if (is_drawn(points, *n, intensity, rate))
            continue;
        roof->n++;
        roof->n_near += rate > 0.5 * limit;
        points[(*n)++] = (struct roof_point){ intensity, rate };
        DRAWING_ROW(f, NULL, (double)chip, intensity, rate / 1e12);
    }
}

/* Writes each chip's line: both ends, and the point where the slope meets the roof. */
static void write_roofs(struct drawing *d, const struct roof *roofs, size_t n)
{
    FILE *f = drawing_table(d, "roofline-roofs", "name,chip,intensity,limit");
    for (size_t i = 0; i < n; i++) {
        double knee = roofs[i].peak / roofs[i].exchange;
        const double at[] = { 1, knee, 6 * knee };
        for (size_t k = 0; k < 3; k++)
            DRAWING_ROW(f, k == 2 ? roofs[i].chip : "", (double)i + 1, at[k], fmin(roofs[i].peak, at[k] * roofs[i].exchange) / 1e12);
    }
}

static bool is_new(const struct roof *roofs, size_t n, const char *chip)
{
    for (size_t i = 0; i < n; i++)
        if (text_is(roofs[i].chip, chip))
            return false;
    return true;
}

/* Writes the points of a run, unless a run on its chip has been drawn. */
static bool write_run_points(FILE *f, struct roof *roofs, size_t *n, const struct result *r, struct drawing *d, struct err *err)
{
    const struct simulation *sim = drawing_simulate(d, r->id, NULL, 0, err);
    if (!sim)
        return false;
    struct roof roof = roof_of(sim);
    if (!is_new(roofs, *n, roof.chip))
        return true;
    struct roof_point *points = ARENA_ARRAY(d->a, struct roof_point, sim->graph->n_ops);
    size_t n_points = 0;
    roof.chip = arena_strdup(d->a, roof.chip);
    for (uint32_t s = 0; s < sim->plan.n_stages; s++)
        write_stage(f, sim, &sim->plan.stages[s], &roof, *n + 1, points, &n_points);
    roofs[(*n)++] = roof;
    return true;
}

bool draw_roofline(struct drawing *d, struct err *err)
{
    struct roof roofs[MOST_CHIPS];
    size_t n = 0, near = 0, points = 0;
    const struct results *all = d->from->results;
    FILE *f = drawing_table(d, "roofline", "chip,intensity,rate");
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].fits && !is_known(all->items[i].latency_s) && n < MOST_CHIPS && !write_run_points(f, roofs, &n, &all->items[i], d, err))
            return false;
    for (size_t i = 0; i < n; i++)
        near += roofs[i].n_near, points += roofs[i].n;
    d->missing = "no training run that fits";
    if (points)
        d->finding = arena_printf(d->a, "%.0f %% of the different matrix products and convolutions reach more than half of what their chip's units and exchange allow",
                                  100 * (double)near / (double)points);
    write_roofs(d, roofs, n);
    return true;
}
