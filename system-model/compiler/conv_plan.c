/*
 * conv_plan.c - the search of splits for convolutions and matmuls.
 *
 * Parallel splits of groups, output channels, input channels, kernel rows and field whose product is at
 * most the tiles, and serial splits of channels. Only splits that change a tile's share are tried; where the
 * arithmetic, the exchange and the syncs of an even split are slower than the best so far, the branch is left.
 * Limits: of the splits that leave a tile's share the same only those with the fewest parts, or one more, are tried; one level (no
 * split over chips), kernel split over rows only, the field's last dimension takes what tiles are left.
 */
#include "system-model/compiler/conv_internal.h"

/* The smallest p for each value that ceil(n / p) can take, p at most limit. */
size_t conv_distinct_splits(uint32_t *out, uint64_t n, uint64_t limit)
{
    size_t count = 0;
    for (uint64_t p = 1; p <= limit && count < MAX_SPLITS;) {
        out[count++] = (uint32_t)p;
        uint64_t part = ceil_div(n, p);
        if (part == 1)
            break;
        p = ceil_div(n, part - 1);
    }
    return count;
}

uint64_t conv_fewest_parts(uint64_t n, uint64_t limit, uint64_t *part)
{
    *part = ceil_div(n, min_u64(n, limit));
    return ceil_div(n, *part);
}

/* Positions as one row: not at all, in two, three or four, and over all the tiles that are left. */
static void search_flat_field(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint64_t rows = shape_positions(&c->s), last = 0;
    for (uint64_t limit = 1; limit <= 5; limit++) {
        t->batch = t->width = 1;
        t->p_batch = 1;
        t->p_field = conv_fewest_parts(rows, limit == 5 ? tiles : min_u64(limit, tiles), &t->height);
        if (t->p_field != last)
            conv_price(f, c, t);
        last = t->p_field;
    }
}

static void search_field(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint32_t batches[MAX_SPLITS], heights[MAX_SPLITS];
    size_t n_batches = conv_distinct_splits(batches, c->s.batch, tiles);
    for (size_t i = 0; i < n_batches; i++) {
        t->p_batch = batches[i];
        t->batch = ceil_div(c->s.batch, batches[i]);
        size_t n_heights = conv_distinct_splits(heights, c->s.field_h, tiles / batches[i]);
        for (size_t j = 0; j < n_heights; j++) {
            t->height = ceil_div(c->s.field_h, heights[j]);
            uint64_t p = conv_fewest_parts(c->s.field_w, tiles / batches[i] / heights[j], &t->width);
            t->p_field = heights[j] * p;
            conv_price(f, c, t);
        }
    }
}

/* Cycles that no split of the field over so many tiles gets below: the vertex with an even share of positions, the
 * input that is not there, the partial sums of a split reduction, the syncs. */
static uint64_t least_cycles(const struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint64_t positions = ceil_div(shape_positions(&c->s), tiles), steps = t->serial_in * t->serial_out;
    uint64_t es = c->amp.element_bytes, depth = t->p_in * t->p_kernel, rate = 2 * f->chip->exchange_bytes_per_cycle;
    uint64_t compute, bytes = conv_missing_part(positions * t->groups * t->in * c->in_grain * es, t->p_out) / c->s.in_expand;
    if (c->vertex == VERTEX_AMP_1X1 || c->vertex == VERTEX_AMP_NX1) {
        uint64_t loads = t->groups * t->in * t->out * c->passes * ceil_div(t->kernel_h, c->filter_height) * c->s.kernel_w;
        uint64_t fixed = c->amp.load_cycles + 25 + chip_turn_cycles(f->chip) * 19;
        compute = loads * (fixed + (uint64_t)(c->amp.core_cycles * (double)positions));
    } else {
        t->batch = t->width = 1;
        t->height = positions;
        compute = c->vertex == VERTEX_SLIC ? 0 : conv_vertex_cycles(f, c, t);
    }
    uint64_t sums = depth > 1 ? t->groups * positions * t->out * c->out_grain * c->amp.partial_bytes / 2 : 0;
    uint64_t exchange = bytes / rate / (t->serial_out > 1 ? steps : 1) + 2 * sums / rate;
    return steps * (compute + exchange + (depth > 1 ? 2 : 1) * superstep_cycles(f->chip));
}

static void search_kernel(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint32_t splits[MAX_SPLITS];
    size_t n = conv_distinct_splits(splits, c->s.kernel_h, c->flat ? 1 : tiles);
    for (size_t i = 0; i < n; i++) {
        t->p_kernel = splits[i];
        t->kernel_h = ceil_div(c->s.kernel_h, splits[i]);
        if (least_cycles(f, c, t, tiles / splits[i]) >= f->best_cycles)
            continue;
        if (c->flat)
            search_flat_field(f, c, t, tiles / splits[i]);
        else
            search_field(f, c, t, tiles / splits[i]);
    }
}

static void search_in_chans(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint32_t splits[MAX_SPLITS];
    uint64_t grains = ceil_div(ceil_div(c->s.in_chans, c->in_grain), t->serial_in);
    size_t n = conv_distinct_splits(splits, grains, tiles);
    for (size_t i = 0; i < n; i++) {
        t->in = ceil_div(grains, splits[i]);
        t->p_in = splits[i];
        search_kernel(f, c, t, tiles / t->p_in);
        t->p_in++;                      /* where the share stays the same, one more part shortens the sums */
        if (splits[i] > 1 && t->p_in <= tiles && ceil_div(grains, t->p_in) == t->in)
            search_kernel(f, c, t, tiles / t->p_in);
    }
}

/* An odd split of the outputs is tried one wider too: pairs of tiles then receive the same inputs together. */
static void search_out_chans(struct search *f, const struct candidate *c, struct share *t, uint64_t tiles)
{
    uint32_t splits[MAX_SPLITS];
    uint64_t grains = ceil_div(ceil_div(c->s.out_chans, c->out_grain), t->serial_out);
    size_t n = conv_distinct_splits(splits, grains, tiles);
    for (size_t i = 0; i < n; i++)
        for (uint32_t p = splits[i]; p <= splits[i] + splits[i] % 2 && p <= tiles; p++) {
            if (p > splits[i] && (p == 2 || p > grains))
                continue;
            t->p_out = p;
            t->out = ceil_div(grains, p);
            search_in_chans(f, c, t, tiles / p);
        }
}

static void search_groups(struct search *f, const struct candidate *c, struct share *t)
{
    uint32_t splits[MAX_SPLITS];
    size_t n = conv_distinct_splits(splits, c->s.groups, f->n_tiles);
    for (size_t i = 0; i < n; i++) {
        t->p_groups = splits[i];
        t->groups = ceil_div(c->s.groups, splits[i]);
        search_out_chans(f, c, t, f->n_tiles / splits[i]);
    }
}

static uint64_t hmac_lanes(const struct chip *chip, const struct amp *a)
{
    return chip->vector_bytes_per_cycle / a->element_bytes;
}

static void search_candidate(struct search *f, const struct candidate *c)
{
    static const uint32_t steps[] = { 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 };
    struct share t = { .serial_in = 1, .serial_out = 1 };
    if (c->vertex == VERTEX_HMAC && conv_shape_mac(&c->s) / (f->n_tiles * hmac_lanes(f->chip, &c->amp)) >= f->best_cycles)
        return;
    search_groups(f, c, &t);
    if (c->vertex == VERTEX_SLIC || c->vertex == VERTEX_OUTER_PRODUCT)
        return;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] <= ceil_div(c->s.out_chans, c->out_grain)) {
            t.serial_out = steps[i];
            search_groups(f, c, &t);
            t.serial_out = 1;
        }
        if (steps[i] <= ceil_div(c->s.in_chans, c->in_grain)) {
            t.serial_in = steps[i];
            search_groups(f, c, &t);
            t.serial_in = 1;
        }
    }
}

void conv_plan_search(struct op_plan *out, const struct conv_shape *s, const struct chip *chip,
                      const struct op_plan_options *opt)
{
    struct search f = conv_search_start(s, chip, opt);
    struct candidates list;
    conv_candidates(&list, s, chip, opt);
    for (;;) {
        for (size_t i = 0; i < list.n; i++)
            search_candidate(&f, &list.items[i]);
        if (f.best_cycles != UINT64_MAX)
            break;
        f.bound_bytes = f.bound_bytes > chip->tile_memory_bytes ? UINT64_MAX : 2 * f.bound_bytes;
    }
    conv_fill_plan(out, &f);
}
