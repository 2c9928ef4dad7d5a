/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_search.c - the search of splits for convolutions and matmuls.
 *
 * Parallel splits divide groups, output channels, input channels, kernel rows and field over the tiles. Serial splits
 * divide channels over the steps of a loop. Products are also tried transposed (swapOperands of poplin).
 * The search is exact: a branch is skipped only if no plan in it can be as fast as the best one so far, or if none fits
 * the memory (conv_bound.c). The most promising branch is searched first. That order changes the effort and not the
 * answer, because of equal plans conv_price keeps the same one in every order.
 * Limits: some splits leave a tile's share the same, and of these only the one with the fewest parts and the one with a
 * part more are tried. Nothing is split over chips. Kernels are split over their rows only. The last dimension of the
 * field gets whatever tiles are left.
 */
#include "system-model/compiler/conv.h"

/* Tries one row of positions over all the tiles that are left, then in four, three and two parts, and whole. Each try has larger parts than the one
 * before it, so the first that is too large ends the tries. */
static void search_flat_field(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles)
{
    uint64_t rows = shape_positions(&c->s), last = 0;
    t->batch = t->width = 1;
    t->p_batch = 1;
    for (uint64_t limit = 5; limit >= 1; limit--) {
        t->p_field = conv_fewest_parts(rows, limit == 5 ? tiles : min_u64(limit, tiles), &t->height);
        if (t->p_field != last && !conv_price(f, c, t))
            return;
        last = t->p_field;
    }
}

/* ---- splits of one dimension that may be best ------------------------------------------------------------------ */

struct splits { struct { uint64_t p; double cycles; } items[128]; size_t n; };
typedef void search_below(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles, uint64_t p);

static bool is_in_memory(struct search *f, struct least least)
{
    if (least.bytes <= (double)f->bound_bytes)
        return true;
    f->least_over_bytes = min_u64(f->least_over_bytes, (uint64_t)least.bytes);
    return false;
}

/* Searches the most promising split first, so that its plan may rule out the others. */
static void search_splits(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles, struct splits *s, search_below *below)
{
    size_t first = 0;
    f->effort.n_branches += s->n;
    for (size_t i = 1; i < s->n; i++)
        first = s->items[i].cycles < s->items[first].cycles ? i : first;
    for (size_t i = 0; i < s->n; i++) {
        size_t k = i == 0 ? first : i <= first ? i - 1 : i;
        if (conv_is_as_fast(f, s->items[k].cycles))
            below(f, c, t, tiles, s->items[k].p);
    }
    s->n = 0;
}

/* Keeps a split if the search below it may find a plan as good as the best, and within the memory. */
static void offer_split(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles, struct splits *s, uint64_t p,
                        enum open_splits open, search_below *below)
{
    struct least least = conv_least(f, c, t, (double)(tiles / p), open);
    if (!is_in_memory(f, least) || !conv_is_as_fast(f, least.cycles))
        return;
    s->items[s->n].p = p;
    s->items[s->n++].cycles = least.cycles;
    if (s->n == sizeof s->items / sizeof *s->items)
        search_splits(f, c, t, tiles, s, below);
}

/* True if a plan may be as good as the best, and within the memory, if each tile has 1 / n of the field. */
static bool may_be_best(struct search *f, const struct conv_candidate *c, const struct share *t, double n)
{
    struct least least = conv_least(f, c, t, n, OPEN_FIELD);
    return is_in_memory(f, least) && conv_is_as_fast(f, least.cycles);
}

/* Tries splits of the batch and the field. `parts` leaves out the tiles that get no share because the batch does not divide evenly. If that many
 * parts are too few for a good plan, so are fewer. */
static void search_field(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles)
{
    double too_few = 0;
    for (uint64_t batch = 1; batch && batch <= tiles; batch = conv_next_split(c->s.batch, batch)) {
        t->p_batch = batch;
        t->batch = ceil_div(c->s.batch, batch);
        double parts = (double)c->s.batch / (double)t->batch * (double)(tiles / batch);
        if (parts <= too_few)
            continue;
        if (!may_be_best(f, c, t, parts)) {
            too_few = parts;
            continue;
        }
        for (uint64_t high = 1; high && high <= tiles / batch; high = conv_next_split(c->s.field_h, high)) {
            t->height = ceil_div(c->s.field_h, high);
            t->p_field = high * conv_fewest_parts(c->s.field_w, tiles / batch / high, &t->width);
            conv_price(f, c, t);
        }
    }
}

static void search_kernel(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles)
{
    for (uint64_t p = 1; p && p <= tiles; p = conv_next_split(c->s.kernel_h, p)) {
        t->p_kernel = p;
        t->kernel_h = ceil_div(c->s.kernel_h, p);
        if (may_be_best(f, c, t, (double)(tiles / p)))
            search_field(f, c, t, tiles / p);
    }
    t->p_kernel = 1;
    t->kernel_h = c->s.kernel_h;
}

static void set_in(struct share *t, const struct conv_candidate *c, uint64_t p)
{
    t->p_in = p;
    t->in = ceil_div(ceil_div(ceil_div(c->s.in_chans, c->in_grain), t->serial_in), p);
}

static void below_in(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles, uint64_t p)
{
    set_in(t, c, p);
    if (c->flat)
        search_flat_field(f, c, t, tiles / p);
    else
        search_kernel(f, c, t, tiles / p);
}

static void offer_in(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles, struct splits *s, uint64_t p)
{
    set_in(t, c, p);
    offer_split(f, c, t, tiles, s, p, c->flat ? OPEN_FIELD : OPEN_KERNEL, below_in);
}

/* Tries the input channels whole, and in as many parts as conv_sum_range() allows, where kernel rows may multiply the parts of a sum. One part more than
   a share needs still shortens the sums, if there is a grain for each part. */
static void search_in_chans(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles)
{
    struct splits s;
    struct conv_range sums = conv_sum_range(f, c, t, (double)tiles);
    uint64_t grains = t->in, low = (uint64_t)fmax(2, fmin(sums.low / (double)t->kernel_h, (double)grains));
    s.n = 0;
    offer_in(f, c, t, tiles, &s, 1);
    for (uint64_t p = ceil_div(grains, ceil_div(grains, low)); p && p <= tiles && (double)p <= sums.high; p = conv_next_split(grains, p)) {
        if (p > 1)
            offer_in(f, c, t, tiles, &s, p);
        if (p < tiles && p < grains && ceil_div(grains, p + 1) == ceil_div(grains, p))
            offer_in(f, c, t, tiles, &s, p + 1);
    }
    search_splits(f, c, t, tiles, &s, below_in);
    set_in(t, c, 1);
}

static void set_out(struct share *t, const struct conv_candidate *c, uint64_t p)
{
    t->p_out = p;
    t->out = ceil_div(ceil_div(ceil_div(c->s.out_chans, c->out_grain), t->serial_out), p);
}

static void below_out(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles, uint64_t p)
{
    set_out(t, c, p);
    search_in_chans(f, c, t, tiles / p);
}

/* An odd split of the outputs is also tried one wider, so that pairs of tiles receive the same inputs together. */
static void search_out_chans(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles)
{
    struct splits s;
    uint64_t grains = t->out;
    s.n = 0;
    for (uint64_t first = 1; first && first <= tiles; first = conv_next_split(grains, first))
        for (uint64_t p = first; p <= first + first % 2 && p <= tiles; p++) {
            if (p > first && (p == 2 || p > grains))
                continue;
            set_out(t, c, p);
            offer_split(f, c, t, tiles, &s, p, OPEN_INPUTS, below_out);
        }
    search_splits(f, c, t, tiles, &s, below_out);
    set_out(t, c, 1);
}

static void set_groups(struct share *t, const struct conv_candidate *c, uint64_t p)
{
    t->p_groups = p;
    t->groups = ceil_div(c->s.groups, p);
}

static void below_groups(struct search *f, const struct conv_candidate *c, struct share *t, uint64_t tiles, uint64_t p)
{
    set_groups(t, c, p);
    search_out_chans(f, c, t, tiles / p);
}

static void search_groups(struct search *f, const struct conv_candidate *c, struct share *t)
{
    struct splits s;
    s.n = 0;
    for (uint64_t p = 1; p && p <= f->n_tiles; p = conv_next_split(c->s.groups, p)) {
        set_groups(t, c, p);
        offer_split(f, c, t, f->n_tiles, &s, p, OPEN_OUTPUTS, below_groups);
    }
    search_splits(f, c, t, f->n_tiles, &s, below_groups);
}

/* ---- vertices and serial steps ---------------------------------------------------------------------- */

/* PopLibs tries any number of steps up to the number of tiles; the input arrives anew in each step, or once for all (poplin ConvModel.cpp:3312-3352 at
 * 7eac0f26). Here the numbers after the first N_USUAL_SERIAL, and inputs that arrive in each step, are tried for the AMP alone, and only if nothing else is
 * within the memory. */
static const uint32_t serial_steps[] = { 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384 };
enum { N_SERIAL = sizeof serial_steps / sizeof *serial_steps, N_USUAL_SERIAL = 11 };
/* Kept small, as thousands of branches may lie on a thread's stack at once. */
struct serial_branch { const struct conv_candidate *c; double cycles; uint16_t serial_in, serial_out; bool in_each_step; };
struct serial_branches { struct serial_branch items[MAX_CANDIDATES * 3 * N_SERIAL]; size_t n; };

static struct share whole_of(const struct serial_branch *b)
{
    struct share t = conv_whole(b->c, b->serial_in, b->serial_out);
    t.in_each_step = b->in_each_step;
    return t;
}

static void offer_branch(struct serial_branches *b, struct search *f, const struct conv_candidate *c, uint64_t serial_in, uint64_t serial_out, bool in_each_step)
{
    struct serial_branch branch = { c, 0, (uint16_t)serial_in, (uint16_t)serial_out, in_each_step };
    struct share t = whole_of(&branch);
    struct least least = conv_least(f, c, &t, (double)f->n_tiles, OPEN_GROUPS);
    if (is_in_memory(f, least) && conv_is_as_fast(f, least.cycles))
        b->items[b->n++] = (struct serial_branch){ c, least.cycles, branch.serial_in, branch.serial_out, in_each_step };
}

/* The most serial steps that may still be as fast as the best plan: each step adds its own cost to the same work. */
static double most_steps(const struct search *f, const struct conv_candidate *c)
{
    struct share at_once = conv_whole(c, 1, 1);
    if (c->vertex == VERTEX_SLIC || c->vertex == VERTEX_OUTER_PRODUCT)
        return 0;
    return ((double)f->best_cycles - conv_least(f, c, &at_once, (double)f->n_tiles, OPEN_GROUPS).cycles) / c->units.serial;
}

/* The number of steps that n grains fill, if each step takes as many grains as one of `steps` steps does; any further step would be empty. */
static uint64_t filled_steps(uint64_t n, uint64_t steps) { return ceil_div(n, ceil_div(n, steps)); }

static void offer_serial(struct serial_branches *b, struct search *f, const struct conv_candidate *c)
{
    uint64_t out = ceil_div(c->s.out_chans, c->out_grain), in = ceil_div(c->s.in_chans, c->in_grain);
    double most = most_steps(f, c);
    bool wide = f->is_wide && (c->vertex == VERTEX_AMP_1X1 || c->vertex == VERTEX_AMP_NX1);
    for (size_t i = 0; i < (wide ? N_SERIAL : N_USUAL_SERIAL) && serial_steps[i] <= most; i++) {
        if (serial_steps[i] <= out)
            offer_branch(b, f, c, 1, wide ? filled_steps(out, serial_steps[i]) : serial_steps[i], false);
        if (serial_steps[i] <= out && wide)
            offer_branch(b, f, c, 1, filled_steps(out, serial_steps[i]), true);
        if (serial_steps[i] <= in)
            offer_branch(b, f, c, serial_steps[i], 1, false);
    }
}

/* Searches the most promising branch first, until none is as good as what was found. */
static void search_best_first(struct search *f, struct serial_branches *b)
{
    while (b->n > 0) {
        size_t best = 0;
        for (size_t i = 1; i < b->n; i++)
            best = b->items[i].cycles < b->items[best].cycles ? i : best;
        struct serial_branch next = b->items[best];
        if (!conv_is_as_fast(f, next.cycles))
            return;
        b->items[best] = b->items[--b->n];
        struct share whole = whole_of(&next);
        search_groups(f, next.c, &whole);
    }
}

/* Splits without serial steps come first: with enough memory, steps are seldom worth their cost. */
static void search_candidates(struct search *f, const struct candidates *list)
{
    struct serial_branches b;
    b.n = 0;
    for (size_t i = 0; i < list->n; i++)
        offer_branch(&b, f, &list->items[i], 1, 1, false);
    search_best_first(f, &b);
    b.n = 0;
    for (size_t i = 0; i < list->n; i++)
        offer_serial(&b, f, &list->items[i]);
    search_best_first(f, &b);
}

/* ---- one way round, or a product both ways ----------------------------------------------------------- */

struct way { struct search f; struct candidates list; };

static void start_way(struct way *w, const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    w->f = conv_search_start(s, chip, opt);
    conv_candidates(&w->list, s, chip, opt);
    for (size_t i = 0; i < w->list.n; i++)
        conv_add_units(&w->list.items[i], &w->f);
}

/* The form of the product that has the fastest split within the bound. If the forms are equal or none has a split, it is the first. */
static struct way *fastest_way(struct way *ways, size_t n_ways)
{
    struct way *best = &ways[0];
    for (size_t i = 0; i < n_ways; i++) {
        uint64_t so_far = best->f.best_cycles;
        ways[i].f.best_cycles = so_far;
        search_candidates(&ways[i].f, &ways[i].list);
        best = ways[i].f.best_cycles < so_far ? &ways[i] : best;
    }
    return best;
}

static uint64_t least_over_bytes(const struct way *ways, size_t n_ways)
{
    return min_u64(ways[0].f.least_over_bytes, ways[n_ways - 1].f.least_over_bytes);
}

/* The first call makes the search try more splits within the same bound. Later calls double the bound. */
static void grow_bound(struct way *ways, size_t n_ways)
{
    uint64_t bound = ways[0].f.bound_bytes, least_over = least_over_bytes(ways, n_ways);
    assert(bound != UINT64_MAX);
    while (ways[0].f.is_wide && bound != UINT64_MAX && (bound == ways[0].f.bound_bytes || bound < least_over))
        bound = bound > ways[0].f.chip->tile_memory_bytes ? UINT64_MAX : 2 * bound;
    for (size_t i = 0; i < n_ways; i++) {
        ways[i].f.is_wide = true;
        ways[i].f.bound_bytes = bound;
        ways[i].f.least_over_bytes = UINT64_MAX;
    }
}

/* If no plan fits the first bound, the result depends on where the bound began, and holds for that bound only. */
static struct bounds equal_bounds(const struct way *ways, size_t n_ways, const struct way *best, uint64_t asked_bytes)
{
    if (best->f.is_wide)
        return (struct bounds){ asked_bytes, asked_bytes };
    return (struct bounds){ best->f.best_cost.temp_bytes, max_u64(asked_bytes, least_over_bytes(ways, n_ways) - 1) };
}

static struct effort effort_of(const struct way *ways, size_t n_ways)
{
    struct effort sum = {0};
    for (size_t i = 0; i < n_ways; i++) {
        sum.n_branches += ways[i].f.effort.n_branches;
        sum.n_priced += ways[i].f.effort.n_priced;
    }
    return sum;
}

static struct conv_choice choice_of(const struct search *f, bool swapped, struct bounds within, struct effort effort)
{
    const struct conv_candidate *c = f->best_candidate;
    return (struct conv_choice){ swapped, c->order, c->vertex, c->in_grain, c->out_grain, f->best, within, effort };
}

static void search_ways(struct op_plan *out, struct conv_choice *choice, const struct conv_shape *s, const struct chip *chip,
                        const struct op_plan_options *opt)
{
    struct conv_shape swapped;
    struct way ways[2], *best;
    size_t n_ways = conv_shape_swapped(&swapped, s) ? 2 : 1;
    start_way(&ways[0], s, chip, opt);
    if (n_ways == 2)
        start_way(&ways[1], &swapped, chip, opt);
    while (best = fastest_way(ways, n_ways), best->f.best_cycles == UINT64_MAX)
        grow_bound(ways, n_ways);
    *choice = choice_of(&best->f, best != ways, equal_bounds(ways, n_ways, best, conv_bound_bytes(chip, opt)), effort_of(ways, n_ways));
    conv_fill_plan(out, &best->f);
}

bool conv_plan_as(struct op_plan *out, const struct conv_choice *choice, const struct conv_shape *s, const struct chip *chip,
                  const struct op_plan_options *opt)
{
    struct conv_shape swapped;
    struct candidates list;
    if (choice->swapped)
        conv_shape_swapped(&swapped, s);
    struct search f = conv_search_start(choice->swapped ? &swapped : s, chip, opt);
    conv_candidates(&list, f.shape, chip, opt);
    const struct conv_candidate *c = &list.items[choice->candidate];
    if (choice->candidate >= list.n || c->vertex != choice->vertex || c->in_grain != choice->in_grain || c->out_grain != choice->out_grain
        || tiles_in_use(&choice->share) > f.n_tiles)
        return false;
    f.bound_bytes = UINT64_MAX;
    conv_price(&f, c, &choice->share);
    conv_fill_plan(out, &f);
    return true;
}

void conv_plan_search(struct op_plan *out, struct conv_choice *choice, const struct conv_shape *s, const struct chip *chip,
                      const struct op_plan_options *opt)
{
    struct conv_shape in_place = *s;
    struct conv_choice own = {0};
    choice = choice ? choice : &own;
    in_place.in_elsewhere = in_place.weights_elsewhere = 0;
    search_ways(out, choice, &in_place, chip, opt);
    if (s->in_elsewhere || s->weights_elsewhere) {
        bool good = conv_plan_as(out, choice, s, chip, opt);
        assert(good);                   /* the choice was made on this chip, which therefore has it */
        (void)good;
    }
}
