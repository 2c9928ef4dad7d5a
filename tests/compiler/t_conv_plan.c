/*
 * t_conv_plan.c - the search of splits: one case on paper, and laws over random shapes.
 */
#include "tests/check.h"
#include "tests/chip_fixture.h"
#include "system-model/compiler/conv_internal.h"

static const struct op_plan_options options = { .partials = PARTIALS_FP16, .available_memory = 0.6 };

static struct op_plan planned(const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct op_plan p;
    conv_plan_search(&p, NULL, s, chip, opt);
    return p;
}

/* 13 x 16 x 16 on 7 tiles, input from elsewhere. Best: columns in two grains of 8, rows in three: 5, 5, 3, on six tiles.
 *   compute   50 + 6 x 7 + 13 + 15 + (19 + 6 + 32 + 6 x 26) = 333, and 40 half sums set to zero, seven a worker in two words: 6 x (5 + 2)
 *   exchange  weights 256 B; input 160 B at double rate as both tiles of a pair take it: (256 + 80) / 4 -> 85, and 37 transit
 *   one superstep: 101. Results stay: 40 on the fullest tile, of 208 for seven. */
static void test_one_block(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    struct conv_shape s = matmul_conv_shape(1, 13, 16, 16, TYPE_FP16, PASS_FORWARD);
    s.in_elsewhere = s.weights_elsewhere = 1;
    struct op_plan p = planned(&s, &chip, &options);
    assert_int_equal(p.vertex, VERTEX_AMP_1X1);
    assert_int_equal(p.split.field, 3);
    assert_int_equal(p.split.out_chans, 2);
    assert_int_equal(p.n_tiles_used, 6);
    assert_int_equal(p.compute_cycles, 333 + 42);
    assert_int_equal(p.exchange_cycles, 85 + 37);
    assert_int_equal(p.sync_cycles, 101);
    assert_int_equal(p.n_supersteps, 1);
    assert_int_equal(p.exchanged_bytes, 6 * (256 + 160));
    assert_int_equal(p.temp_bytes_per_tile, 160 + 256 + 80);
    assert_int_equal(p.mac, 13 * 16 * 16);
    assert_int_equal(p.padded_mac, 6 * 5 * 16 * 8);
    assert_near(p.imbalance, 40 * 7 / 208.0, 1e-12);
}

/* Batch 3, 10 x 9 field, 5 x 5 kernel of stride 2 to 5 x 5, 6 to 7 channels in two groups: work is the same in all passes. */
static void test_passes_have_the_same_work(void **state)
{
    (void)state;
    const struct conv_params p = { .groups = 2, .batch = 3, .in_h = 10, .in_w = 9, .out_h = 5, .out_w = 5, .kernel_h = 5,
                                   .kernel_w = 5, .in_chans = 6, .out_chans = 7, .stride = 2, .type = TYPE_FP16 };
    for (int pass = 0; pass < N_OP_PASSES; pass++) {
        struct conv_shape s = conv_shape_of_pass(&p, (enum op_pass)pass);
        assert_int_equal(conv_shape_mac(&s), 2 * 3 * 25 * 25 * 6 * 7);
    }
    struct conv_shape w = conv_shape_of_pass(&p, PASS_BACKWARD_WEIGHT);
    assert_int_equal(w.in_chans, 3 * 25);               /* batch and field are summed over */
    assert_int_equal(w.field_h, 6 * 25);                /* each channel and kernel element is a row */
    assert_int_equal(w.in_expand, 6);                   /* 25 kernel elements, one in four starts a window */
}

/* Four groups of one channel fill a slice vertex as one of four does, moved and multiplied together: all that is more is the order of
 * their weights, 12 cycles a turn for each of 3 rows of a kernel slice. Five groups leave three of eight channels empty. */
static void test_depthwise_groups_go_together(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    chip.conv_units_fp16_fp16 = 16;
    struct op_plan p[3];
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t groups[] = { 1, 4, 5 }, chans = i ? 1 : 4;
        const struct conv_params in = { .groups = groups[i], .batch = 1, .in_h = 11, .in_w = 13, .out_h = 11, .out_w = 13, .kernel_h = 3,
                                        .kernel_w = 3, .in_chans = chans, .out_chans = chans, .stride = 1, .type = TYPE_FP16 };
        struct conv_shape s = conv_shape_of_pass(&in, PASS_FORWARD);
        s.groups = s.groups > 1 ? s.groups : 2;         /* slices are for groups */
        p[i] = planned(&s, &chip, &options);
        assert_int_equal(p[i].vertex, VERTEX_SLIC);
        assert_int_equal(p[i].mac, 11 * 13 * 9 * s.groups * chans * chans);
    }
    uint64_t turn = chip_turn_cycles(&chip), one = p[0].compute_cycles - 50;        /* two groups of four channels */
    assert_int_equal(p[1].compute_cycles - 50, one / 2 + 3 * 12 * turn);
    assert_int_equal(p[2].compute_cycles - 50, one + 2 * 3 * 12 * turn);
    assert_int_equal(p[1].n_supersteps, p[0].n_supersteps);
}

/* 65536 samples of 2048 x 2048 positions are 2^38 input channels of the weight gradient: counted in 32 bits they were none, and divided by. */
static void test_more_positions_than_32_bits_hold(void **state)
{
    (void)state;
    const struct conv_params p = { .groups = 1, .batch = 65536, .in_h = 4096, .in_w = 4096, .out_h = 2048, .out_w = 2048, .kernel_h = 7,
                                   .kernel_w = 7, .in_chans = 3, .out_chans = 64, .stride = 2, .type = TYPE_FP16 };
    struct chip chip = small_chip(1472);
    struct conv_shape s = conv_shape_of_pass(&p, PASS_BACKWARD_WEIGHT);
    struct op_plan plan = planned(&s, &chip, &options);
    assert_true(plan.mac == (UINT64_C(1) << 38) * 49 * 3 * 64);
    assert_true(plan.compute_cycles > plan.mac / 64 / 1472);
}

/* Where every dimension divides, nothing is padded: 64 tiles, 512 rows, 64 x 64 channels. */
static void test_no_padding_where_all_divides(void **state)
{
    (void)state;
    struct chip chip = small_chip(64);
    struct conv_shape s = matmul_conv_shape(1, 512, 64, 64, TYPE_FP16, PASS_FORWARD);
    struct op_plan p = planned(&s, &chip, &options);
    assert_int_equal(p.padded_mac, p.mac);
}

static uint32_t draw32(uint64_t *seed, uint64_t low, uint64_t high) { return (uint32_t)draw(seed, low, high); }

static struct conv_shape random_shape(uint64_t *seed)
{
    enum data_type type = draw(seed, 0, 3) ? TYPE_FP16 : TYPE_FP32;
    enum op_pass pass = (enum op_pass)draw(seed, 0, 2);
    uint32_t groups = draw(seed, 0, 4) ? 1 : draw32(seed, 2, 9);
    if (draw(seed, 0, 1))
        return matmul_conv_shape(groups, draw32(seed, 1, 300), draw32(seed, 1, 400), draw32(seed, 1, 400), type, pass);
    uint32_t kernel = 1 + 2 * draw32(seed, 0, 2), stride = draw32(seed, 1, 2), out = draw32(seed, 1, 23);
    struct conv_params p = { .groups = groups, .batch = draw32(seed, 1, 5), .in_h = out * stride, .in_w = out * stride,
                             .out_h = out, .out_w = out, .kernel_h = kernel, .kernel_w = kernel,
                             .in_chans = 4 * draw32(seed, 1, 30), .out_chans = draw32(seed, 1, 120), .stride = stride, .type = type };
    return conv_shape_of_pass(&p, pass);
}

static uint64_t peak(const struct chip *c, const struct conv_shape *s)
{
    return s->type == TYPE_FP32 ? c->mac_fp32_per_cycle : c->mac_fp16_fp16_per_cycle;
}

static uint64_t split_product(const struct conv_split *s)
{
    return (uint64_t)s->batch * s->field * s->kernel * s->conv_groups * s->in_chans * s->out_chans;
}

enum { N_RANDOM = 300 };

static void test_laws(void **state)
{
    (void)state;
    uint64_t seed = 20231;
    for (int i = 0; i < N_RANDOM; i++) {
        struct chip chip = small_chip(draw(&seed, 1, 90));
        struct conv_shape s = random_shape(&seed);
        struct op_plan p = planned(&s, &chip, &options);
        assert_int_equal(p.mac, conv_shape_mac(&s));
        assert_true(p.padded_mac >= p.mac);                         /* no work is lost */
        assert_int_equal(split_product(&p.split), p.n_tiles_used);
        assert_true(p.n_tiles_used <= chip.n_tiles);
        assert_true(p.compute_cycles * peak(&chip, &s) * p.n_tiles_used >= p.mac);      /* never above peak */
        assert_true(p.exchange_cycles * 2 * chip.exchange_bytes_per_cycle * p.n_tiles_used >= p.exchanged_bytes);
        assert_int_equal(p.sync_cycles, p.n_supersteps * chip.on_chip_sync_cycles);
        assert_true(p.rearrange_cycles <= p.compute_cycles + p.exchange_cycles);
        assert_true(p.imbalance >= 1 && p.imbalance <= 16 * 16 * (double)chip.n_tiles);     /* grains padded, at worst, from one channel */
        if (p.split.in_chans * p.split.kernel == 1)                 /* results lie where they were computed: no tile has more than the fullest */
            assert_true(p.imbalance * p.n_tiles_used >= (double)chip.n_tiles * (1 - 1e-12));
        assert_true(p.temp_bytes_per_tile * p.n_tiles_used >= conv_shape_mac(&s) * 2 / ((uint64_t)s.in_chans * s.kernel_h * s.kernel_w));
    }
}

/* Channels that are not in fours and are padded, or that kernel elements join: copies by single elements. */
static bool copies_elements(const struct conv_shape *s)
{
    return s->in_chans % 4 != 0 && (s->in_chans < 16 || s->kernel_h > 1);
}

/* More of anything never makes a plan slower. */
static void test_more_is_never_slower(void **state)
{
    (void)state;
    uint64_t seed = 977;
    for (int i = 0; i < N_RANDOM; i++) {
        struct chip chip = small_chip(draw(&seed, 1, 60));
        struct conv_shape s = random_shape(&seed);
        uint64_t cycles;
        struct op_plan p = planned(&s, &chip, &options);
        cycles = op_plan_cycles(&p);
        bool within = p.temp_bytes_per_tile <= (uint64_t)(0.6 * (double)chip.tile_memory_bytes);
        struct chip more = chip;
        more.n_tiles += draw(&seed, 1, 9);
        p = planned(&s, &more, &options);
        if (within && op_plan_cycles(&p) > cycles)
            print_error("shape %d: %u tiles %lu, %u tiles %lu\n", i, (unsigned)chip.n_tiles, (unsigned long)cycles,
                        (unsigned)more.n_tiles, (unsigned long)op_plan_cycles(&p));
        assert_true(!within || op_plan_cycles(&p) <= cycles);
        more = chip;
        more.exchange_bytes_per_cycle += 3;
        p = planned(&s, &more, &options);
        assert_true(op_plan_cycles(&p) <= cycles);
        more = chip;
        more.tile_memory_bytes += draw(&seed, 1, 300000);
        p = planned(&s, &more, &options);
        assert_true(!within || op_plan_cycles(&p) <= cycles);
    }
}

/* A wider vector unit, or one more worker up to the six whose turns the pipeline has, never makes a plan slower. */
static void test_wider_units_are_never_slower(void **state)
{
    (void)state;
    uint64_t seed = 4711;
    for (int i = 0; i < N_RANDOM / 3; i++) {
        struct chip chip = small_chip(draw(&seed, 1, 60)), wider = chip, fewer = chip;
        struct conv_shape s = random_shape(&seed);
        chip.worker_turn_cycles = fewer.worker_turn_cycles = 6;
        wider.vector_bytes_per_cycle = 16;
        fewer.n_workers = draw(&seed, 1, 5);
        struct op_plan p = planned(&s, &chip, &options), w = planned(&s, &wider, &options), f = planned(&s, &fewer, &options);
        assert_true(op_plan_cycles(&w) <= op_plan_cycles(&p));
        assert_true(op_plan_cycles(&f) >= op_plan_cycles(&p));
    }
}

/* A planner that chooses by an estimate of copies that is too low pays what they cost: never less than one that knows. */
static void test_a_wrong_estimate_is_never_faster(void **state)
{
    (void)state;
    uint64_t seed = 53, n_slower = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        struct chip chip = small_chip(draw(&seed, 1, 60)), of_2019 = chip;
        struct conv_shape s = random_shape(&seed);
        of_2019.planner_copies = COPIES_ESTIMATED;
        struct op_plan p = planned(&s, &chip, &options), q = planned(&s, &of_2019, &options);
        assert_true(op_plan_cycles(&q) >= op_plan_cycles(&p));
        assert_true(copies_elements(&s) || op_plan_cycles(&q) == op_plan_cycles(&p));
        n_slower += op_plan_cycles(&q) > op_plan_cycles(&p);
    }
    assert_true(n_slower > 0);
}

/* ---- the search beside one that tries every split, one after the other --------------------------------------------- */

/* inputs: the share above the split that is tried, with its input channels whole, and the tiles that are left there. */
struct reference { struct search best; uint64_t n_priced, n_ties; struct share inputs; uint64_t tiles; };

/* The next larger count of parts that makes the largest smaller; more than limit where there is none. */
static uint64_t next_parts(uint64_t n, uint64_t p, uint64_t limit)
{
    uint64_t next = p + 1;
    while (next <= limit && ceil_div(n, next) == ceil_div(n, p))
        next++;
    return next;
}

/* Where the split itself is the best, and as large as may be, as many as share its sums are in the range. */
static void is_in_range(const struct reference *r, const struct search *alone, const struct candidate *c, const struct share *t)
{
    struct search known = *alone;
    known.bound_bytes = alone->best_cost.temp_bytes;
    struct range range = conv_sum_range(&known, c, &r->inputs, (double)r->tiles);
    double n = (double)(t->p_in * t->p_kernel);
    assert_true(n == 1 || (range.low <= n && n <= range.high));
}

/* A split alone, with no plan to beat; kept where it is faster than all before. least: of the branches it hangs on. */
static void try_split(struct reference *r, const struct candidate *c, const struct share *t, const struct least *least, size_t n_least)
{
    struct search alone = r->best;
    alone.best_cycles = alone.bound_bytes = UINT64_MAX;
    conv_price(&alone, c, t);
    for (size_t i = 0; i < n_least; i++) {
        assert_true(least[i].cycles <= (double)alone.best_cycles);
        assert_true(least[i].bytes <= (double)alone.best_cost.temp_bytes);
    }
    is_in_range(r, &alone, c, t);
    r->n_priced++;
    if (alone.best_cost.temp_bytes > r->best.bound_bytes)
        return;
    r->n_ties += alone.best_cycles == r->best.best_cycles;
    if (alone.best_cycles < r->best.best_cycles) {
        alone.bound_bytes = r->best.bound_bytes;
        r->best = alone;
    }
}

/* With no plan known, as one that is known cuts the reckoning short. */
static struct least bound(const struct reference *r, const struct candidate *c, const struct share *t, double tiles, enum open_splits open)
{
    struct search none = r->best;
    none.best_cycles = UINT64_MAX;
    return conv_least(&none, c, t, tiles, open);
}

static void try_fields(struct reference *r, const struct candidate *c, struct share *t, uint64_t tiles, struct least *least, size_t n)
{
    least[n++] = bound(r, c, t, (double)tiles, OPEN_FIELD);
    struct share u = *t;
    if (c->flat) {
        uint64_t positions = shape_positions(&c->s), last = 0;
        for (uint64_t limit = 1; limit <= 5; limit++) {
            u.batch = u.width = 1;
            u.p_field = conv_fewest_parts(positions, limit == 5 ? tiles : min_u64(limit, tiles), &u.height);
            if (u.p_field != last)
                try_split(r, c, &u, least, n);
            last = u.p_field;
        }
        return;
    }
    for (uint64_t b = 1; b <= tiles; b = next_parts(c->s.batch, b, tiles))
        for (uint64_t h = 1; h <= tiles / b; h = next_parts(c->s.field_h, h, tiles / b)) {
            u.p_batch = b;
            u.batch = ceil_div(c->s.batch, b);
            u.height = ceil_div(c->s.field_h, h);
            least[n] = bound(r, c, &u, (double)c->s.batch / (double)u.batch * (double)(tiles / b), OPEN_FIELD);
            u.p_field = h * conv_fewest_parts(c->s.field_w, tiles / b / h, &u.width);
            try_split(r, c, &u, least, n + 1);
        }
}

static void try_kernels(struct reference *r, const struct candidate *c, struct share *t, uint64_t tiles, struct least *least, size_t n)
{
    least[n++] = bound(r, c, t, (double)tiles, c->flat ? OPEN_FIELD : OPEN_KERNEL);
    struct share u = *t;
    for (uint64_t p = 1; p <= tiles; p = next_parts(c->s.kernel_h, p, tiles)) {
        u.p_kernel = p;
        u.kernel_h = ceil_div(c->s.kernel_h, p);
        try_fields(r, c, &u, tiles / p, least, n);
    }
}

static void try_inputs(struct reference *r, const struct candidate *c, struct share *t, uint64_t tiles, struct least *least, size_t n)
{
    least[n++] = bound(r, c, t, (double)tiles, OPEN_INPUTS);
    r->inputs = *t;
    r->tiles = tiles;
    struct share u = *t;
    for (uint64_t p = 1; p <= tiles; p = next_parts(t->in, p, tiles))
        for (uint64_t q = p; q <= p + (p > 1) && q <= tiles; q++) {
            if (ceil_div(t->in, q) != ceil_div(t->in, p))
                continue;
            u.p_in = q;
            u.in = ceil_div(t->in, q);
            try_kernels(r, c, &u, tiles / q, least, n);
        }
}

static void try_outputs(struct reference *r, const struct candidate *c, struct share *t, uint64_t tiles, struct least *least, size_t n)
{
    least[n++] = bound(r, c, t, (double)tiles, OPEN_OUTPUTS);
    struct share u = *t;
    for (uint64_t p = 1; p <= tiles; p = next_parts(t->out, p, tiles))
        for (uint64_t q = p; q <= p + (p % 2 && p > 1) && q <= tiles && q <= max_u64(p, t->out); q++) {
            u.p_out = q;
            u.out = ceil_div(t->out, q);
            try_inputs(r, c, &u, tiles / q, least, n);
        }
}

static void try_groups(struct reference *r, const struct candidate *c, uint64_t serial_in, uint64_t serial_out)
{
    struct least least[8];
    struct share t = conv_whole(c, serial_in, serial_out), at_once = conv_whole(c, 1, 1);
    least[0] = bound(r, c, &t, (double)r->best.n_tiles, OPEN_GROUPS);
    least[1] = bound(r, c, &at_once, (double)r->best.n_tiles, OPEN_GROUPS);
    least[1].bytes = 0;                 /* steps take less memory, never fewer cycles */
    for (uint64_t p = 1; p <= r->best.n_tiles; p = next_parts(c->s.groups, p, r->best.n_tiles)) {
        t.p_groups = p;
        t.groups = ceil_div(c->s.groups, p);
        try_outputs(r, c, &t, r->best.n_tiles / p, least, 2);
    }
}

static void try_candidates(struct reference *r, const struct candidates *list)
{
    static const uint64_t steps[] = { 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 };
    for (size_t i = 0; i < list->n; i++) {
        const struct candidate *c = &list->items[i];
        try_groups(r, c, 1, 1);
        if (c->vertex == VERTEX_SLIC || c->vertex == VERTEX_OUTER_PRODUCT)
            continue;
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            if (steps[k] <= ceil_div(c->s.out_chans, c->out_grain))
                try_groups(r, c, 1, steps[k]);
            if (steps[k] <= ceil_div(c->s.in_chans, c->in_grain))
                try_groups(r, c, steps[k], 1);
        }
    }
}

/* Rates that no chip here has too: odd buses, workers, memories so small that the bound must grow. */
static struct chip random_chip(uint64_t *seed)
{
    struct chip chip = small_chip(draw(seed, 1, 40));
    chip.n_workers = draw(seed, 3, 8);
    chip.worker_turn_cycles = draw(seed, 0, 1) * 6;
    chip.vector_bytes_per_cycle = draw(seed, 0, 1) ? 8 : draw(seed, 4, 20);
    chip.weight_load_bytes_per_cycle = draw(seed, 0, 1) ? 8 : draw(seed, 2, 20);
    chip.conv_units_fp16_fp16 = 8 * draw(seed, 1, 2);
    chip.mac_fp16_fp16_per_cycle = 8 * draw(seed, 2, 16);
    chip.amp_efficiency = (double)draw(seed, 5, 10) / 10;
    chip.exchange_bytes_per_cycle = draw(seed, 1, 9);
    chip.exchange_efficiency = (double)draw(seed, 3, 10) / 10;
    chip.tiles_per_exchange_bus = draw(seed, 1, 4);
    chip.on_chip_sync_cycles = draw(seed, 0, 300);
    chip.compute_set_cycles = draw(seed, 0, 70);
    chip.exchange_transit_cycles = draw(seed, 0, 90);
    chip.planner_copies = draw(seed, 0, 1) ? COPIES_ESTIMATED : COPIES_MEASURED;
    chip.tile_memory_bytes = draw(seed, 0, 2) ? 300000 : draw(seed, 300, 9000);
    return chip;
}

static struct conv_shape any_shape(uint64_t *seed)
{
    static const uint32_t thin[] = { 1, 2, 3, 4 };
    struct conv_shape s = random_shape(seed);
    if (draw(seed, 0, 3) == 0)
        s.in_chans = thin[draw(seed, 0, 3)];
    if (draw(seed, 0, 5) == 0)
        s.out_chans = thin[draw(seed, 0, 3)];
    if (s.kernel_w > 1 && draw(seed, 0, 2) == 0) {      /* what slice vertices are for */
        s.groups = draw32(seed, 2, 30);
        s.in_chans = s.out_chans = thin[draw(seed, 0, 3)];
    }
    s.in_elsewhere = (uint32_t)draw(seed, 0, 1);
    s.weights_elsewhere = (uint32_t)draw(seed, 0, 1);
    return s;
}

static void candidates_with_units(struct candidates *list, const struct search *f)
{
    conv_candidates(list, f->shape, f->chip, f->opt);
    for (size_t i = 0; i < list->n; i++)
        conv_add_units(&list->items[i], f);
}

/* The search leaves branches out by their bounds and visits the promising first; it finds the very plan, of equals the same one, of a
 * search that tries each split in turn. And each bound holds for each split below it. */
static void test_search_is_exhaustive(void **state)
{
    (void)state;
    uint64_t seed = 90901, n_priced = 0, n_ties = 0, n_grown = 0, n_turned = 0, n_best[N_VERTEX_KINDS] = { 0 };
    for (int i = 0; i < N_RANDOM; i++) {
        struct chip chip = random_chip(&seed);
        struct conv_shape s = any_shape(&seed);
        struct op_plan_options opt = { .partials = draw(&seed, 0, 1) ? PARTIALS_FP16 : PARTIALS_FP32, .available_memory = 0.6 };
        struct conv_shape turned = s;
        bool turns = conv_shape_swapped(&turned, &s);
        struct reference r = { .best = conv_search_start(&s, &chip, &opt) }, q = { .best = conv_search_start(&turned, &chip, &opt) };
        struct candidates list, other;
        struct op_plan expected, found = planned(&s, &chip, &opt);
        candidates_with_units(&list, &r.best);
        candidates_with_units(&other, &q.best);
        while (try_candidates(&r, &list), turns ? try_candidates(&q, &other) : (void)0,
               r.best.best_cycles == UINT64_MAX && q.best.best_cycles == UINT64_MAX) {
            r.best.bound_bytes = q.best.bound_bytes = r.best.bound_bytes > chip.tile_memory_bytes ? UINT64_MAX : 2 * r.best.bound_bytes;
            n_grown++;
        }
        n_turned += q.best.best_cycles < r.best.best_cycles;
        conv_fill_plan(&expected, q.best.best_cycles < r.best.best_cycles ? &q.best : &r.best);
        if (memcmp(&expected, &found, sizeof found) != 0)
            print_error("shape %d: %lu cycles, the search of all %lu\n", i, (unsigned long)op_plan_cycles(&found),
                        (unsigned long)op_plan_cycles(&expected));
        assert_memory_equal(&expected, &found, sizeof found);
        n_best[found.vertex]++;
        n_priced += r.n_priced + q.n_priced;
        n_ties += r.n_ties;
    }
    assert_true(n_priced > 1000000 && n_ties > 200 && n_grown > 20 && n_turned > 5);
    for (int vertex = VERTEX_AMP_1X1; vertex < N_VERTEX_KINDS; vertex++)
        assert_true(n_best[vertex] > 0);
}

/* The split that was chosen, priced again: the same plan on the same chip; on a slower one no faster than the best there, as it is one of
 * those that the search there tries (plans that pay more than the estimate they are chosen by aside). Too few tiles for it are told. */
static void test_a_choice_is_priced_elsewhere(void **state)
{
    (void)state;
    uint64_t seed = 31337, n_slower = 0, n_refused = 0, n_turned = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        struct chip chip = random_chip(&seed);
        struct conv_shape s = any_shape(&seed);
        struct conv_choice choice;
        struct op_plan own, again, best;
        conv_plan_search(&own, &choice, &s, &chip, &options);
        assert_true(conv_plan_as(&again, &choice, &s, &chip, &options));
        assert_memory_equal(&own, &again, sizeof own);
        n_turned += choice.turned;
        struct chip slow = chip;
        slow.exchange_efficiency /= 1.5;
        slow.compute_set_cycles += 40;
        slow.planner_copies = COPIES_MEASURED;
        conv_plan_search(&best, NULL, &s, &slow, &options);
        assert_true(conv_plan_as(&again, &choice, &s, &slow, &options));
        assert_memory_equal(&own.split, &again.split, sizeof own.split);
        assert_true(op_plan_cycles(&again) >= op_plan_cycles(&best));
        n_slower += op_plan_cycles(&again) > op_plan_cycles(&best);
        chip.n_tiles = own.n_tiles_used - 1;
        n_refused += own.n_tiles_used > 1 && !conv_plan_as(&again, &choice, &s, &chip, &options);
    }
    assert_true(n_slower > N_RANDOM / 20 && n_refused > N_RANDOM / 2 && n_turned > 0);
}

static struct share random_share(uint64_t *seed, const struct candidate *c, uint64_t n_tiles)
{
    struct share t = { .p_kernel = 1, .p_batch = 1, .batch = 1, .width = 1, .kernel_h = 1, .serial_in = 1, .serial_out = 1 };
    uint64_t in = ceil_div(c->s.in_chans, c->in_grain), out = ceil_div(c->s.out_chans, c->out_grain);
    t.p_groups = draw(seed, 1, min_u64(c->s.groups, n_tiles));
    t.p_out = draw(seed, 1, min_u64(out, n_tiles / t.p_groups));
    t.p_in = draw(seed, 1, min_u64(in, n_tiles / t.p_groups / t.p_out));
    t.p_field = draw(seed, 1, min_u64(shape_positions(&c->s), n_tiles / t.p_groups / t.p_out / t.p_in));
    t.groups = ceil_div(c->s.groups, t.p_groups);
    t.out = ceil_div(out, t.p_out);
    t.in = ceil_div(in, t.p_in);
    t.height = ceil_div(shape_positions(&c->s), t.p_field);
    return t;
}

/* What is pruned is never better: no split drawn at random, on any vertex, beats the plan that was found. */
static void test_no_random_split_is_faster(void **state)
{
    (void)state;
    uint64_t seed = 4711, n_priced = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        struct chip chip = small_chip(draw(&seed, 1, 200));
        struct conv_shape s = random_shape(&seed);
        struct op_plan p = planned(&s, &chip, &options);
        struct candidates list;
        conv_candidates(&list, &s, &chip, &options);
        for (size_t k = 0; k < 40 * list.n; k++) {
            const struct candidate *c = &list.items[k % list.n];
            struct search f = conv_search_start(&s, &chip, &options);
            struct share t = random_share(&seed, c, chip.n_tiles);
            if (!c->flat || c->expand > 1 || s.in_chans % 4 != 0)
                continue;
            conv_price(&f, c, &t);
            n_priced += f.best_cycles != UINT64_MAX;
            assert_true(f.best_cycles >= op_plan_cycles(&p));
        }
    }
    assert_true(n_priced > 5000);
}

/* 400 x 192 x 256 fp32 on four tiles: a quarter of the rows (77 kB), all weights (197 kB) and the sums (102 kB), or any other
 * quarter, do not fit in 0.6 of 300 kB, so the outputs come in steps, the tile's share of all weights (49 kB) with them. */
static void test_memory_forces_serial_steps(void **state)
{
    (void)state;
    struct chip chip = small_chip(4);
    struct conv_shape s = matmul_conv_shape(1, 400, 192, 256, TYPE_FP32, PASS_FORWARD);
    struct op_plan p = planned(&s, &chip, &options);
    assert_true(p.split.serial_out * p.split.serial_in > 1);
    assert_true(p.temp_bytes_per_tile <= 180000);
    assert_true(p.temp_bytes_per_tile >= 400 * 192 * 4 / 4 + 192 * 256 * 4 / 4);
    assert_int_equal(p.rearrange_cycles, 49152 / 4 + 1 + 37);       /* all weights into the order of the steps, once */
    chip.tile_memory_bytes = 100 * 1000 * 1000;
    p = planned(&s, &chip, &options);
    assert_int_equal(p.split.serial_out * p.split.serial_in, 1);
}

/* 3 groups of 4 to 16 channels, 26 x 26 positions, 4 tiles, one each for the groups: HMAC holds 676 x 4 inputs in 5.4 kB, and 16
 * output channels in floats, 43 kB. In 30 kB it takes 2 steps of 8, 21.6 kB, where once no vertex but the AMP took steps. */
static void test_hmac_takes_steps(void **state)
{
    (void)state;
    struct chip chip = small_chip(3);
    struct conv_params p = { .groups = 3, .batch = 1, .in_h = 26, .in_w = 26, .out_h = 26, .out_w = 26, .kernel_h = 1,
                             .kernel_w = 1, .in_chans = 4, .out_chans = 16, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan wide = planned(&s, &chip, &options);
    assert_int_equal(wide.vertex, VERTEX_HMAC);
    assert_int_equal(wide.split.serial_out, 1);
    struct op_plan_options tight = { .partials = PARTIALS_FP16, .available_memory = 0.1 };
    struct op_plan stepped = planned(&s, &chip, &tight);
    assert_int_equal(stepped.vertex, VERTEX_HMAC);
    assert_int_equal(stepped.split.serial_out, 2);
    assert_true(stepped.temp_bytes_per_tile <= 30000);
}

/* The same with a 3 x 3 kernel: three columns become channels, so that a dot of 12 takes 7 + 3 where three of 4 take 24. One group on one
 * tile: 65 + 38 + 16 x (10 + 6 x (16 + 3 rows x (19 + 113 positions x 17))) = 560519; 1803 floats a worker are cast, two a cycle,
 * 6 x (26 + 902); and the input's columns are copied. */
static void test_hmac_takes_columns_as_channels(void **state)
{
    (void)state;
    struct chip chip = small_chip(3);
    struct conv_params p = { .groups = 3, .batch = 1, .in_h = 26, .in_w = 26, .out_h = 26, .out_w = 26, .kernel_h = 3,
                             .kernel_w = 3, .in_chans = 4, .out_chans = 16, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan got = planned(&s, &chip, &options);
    assert_int_equal(got.vertex, VERTEX_HMAC);
    assert_int_equal(got.compute_cycles - got.rearrange_cycles, 65 + 38 + 16 * (10 + 6 * (16 + 3 * (19 + 113 * 17))) + 6 * (26 + 902));
    assert_true(got.rearrange_cycles > 0);
}

/* Two channels do not fill the four that HMAC reads together: they are copied into them, one by one, as before any other vertex. */
static void test_hmac_pads_channels(void **state)
{
    (void)state;
    struct chip chip = small_chip(3);
    struct conv_params p = { .groups = 3, .batch = 1, .in_h = 26, .in_w = 26, .out_h = 26, .out_w = 26, .kernel_h = 1,
                             .kernel_w = 1, .in_chans = 2, .out_chans = 4, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan got = planned(&s, &chip, &options);
    assert_int_equal(got.vertex, VERTEX_HMAC);
    assert_int_equal(got.rearrange_cycles, 587 + (676 * 4 * 2 * 515 + 99) / 100);
}

/* 8 channels, 3 x 3 kernel: two kernel rows share a pass, so that a fourth row of zeros joins the weights of each tile:
 * 8 x 8 x 9 x 2 B = 1152 B, 587 + 507 cycles. A kernel of two rows needs none. */
static void test_kernel_rows_are_padded(void **state)
{
    (void)state;
    struct chip chip = small_chip(13);
    struct conv_params p = { .groups = 1, .batch = 2, .in_h = 56, .in_w = 56, .out_h = 56, .out_w = 56, .kernel_h = 3,
                             .kernel_w = 3, .in_chans = 8, .out_chans = 8, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct op_plan three = planned(&s, &chip, &options);
    assert_int_equal(three.vertex, VERTEX_AMP_NX1);
    assert_int_equal(three.split.in_grain, 8);
    assert_int_equal(three.split.kernel, 1);
    assert_int_equal(three.rearrange_cycles, 587 + 507);
    s.kernel_h = 2;
    assert_int_equal(planned(&s, &chip, &options).rearrange_cycles, 0);
}

/* A gradient of weights over an odd number of rows turns both operands in fours too, the last one filled up: 1021 rows of 64 cost no more
 * than 1024. Turned by single elements they would cost 587 + 5.15 a byte. */
static void test_odd_lengths(void **state)
{
    (void)state;
    struct chip chip = small_chip(64);
    struct conv_shape even = matmul_conv_shape(1, 64, 1024, 64, TYPE_FP16, PASS_BACKWARD_WEIGHT);
    struct conv_shape odd = matmul_conv_shape(1, 64, 1021, 64, TYPE_FP16, PASS_BACKWARD_WEIGHT);
    struct op_plan p = planned(&even, &chip, &options), q = planned(&odd, &chip, &options);
    assert_true(op_plan_cycles(&q) <= op_plan_cycles(&p));
    /* 1024 x 64 halves over 64 tiles, 2048 bytes: 1280 cycles, 513 to arrive, 37 on the way; the other operand's 1021 x 64, 2042 bytes */
    assert_int_equal(q.rearrange_cycles, 1280 + 513 + 37 + 1277 + 511 + 37);
}

/* Partials in floats halve the AMP's rate and double what is added up. */
static void test_partials(void **state)
{
    (void)state;
    struct chip chip = small_chip(56);
    struct conv_shape s = matmul_conv_shape(1, 700, 512, 512, TYPE_FP16, PASS_FORWARD);
    struct op_plan_options floats = options;
    floats.partials = PARTIALS_FP32;
    struct op_plan half = planned(&s, &chip, &options), full = planned(&s, &chip, &floats);
    assert_int_equal(full.partials, PARTIALS_FP32);
    assert_true(full.compute_cycles > half.compute_cycles * 3 / 2);
}

/* Sums are set to zero once, however many grains of input channels are added to them: on one tile 16 rows of 16 columns, 256 halves,
 * 43 a worker in eleven words. Of floats there are 22. */
static void test_sums_start_at_zero(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    struct op_plan_options floats = options;
    floats.partials = PARTIALS_FP32;
    for (uint32_t grains = 1; grains <= 4; grains++) {
        struct conv_shape s = matmul_conv_shape(1, 16, 16 * grains, 16, TYPE_FP16, PASS_FORWARD);
        struct op_plan half = planned(&s, &chip, &options), full = planned(&s, &chip, &floats);
        struct amp h = amp_for(&chip, TYPE_FP16, PARTIALS_FP16), f = amp_for(&chip, TYPE_FP16, PARTIALS_FP32);
        assert_int_equal(half.compute_cycles, amp_1x1_cycles(&chip, &h, 1, grains, 1, 16) + 6 * (5 + 11));
        assert_int_equal(full.compute_cycles, amp_1x1_cycles(&chip, &f, 1, grains, 2, 16) + 6 * (5 + 22) + cast_cycles(&chip, 256, 4, 2));
    }
}

/* Few rows of floats leave the AMP idle between loads of weights. Turned round, the 1024 columns are 128 positions a tile, in eight
 * grains of channels and one of outputs, and all is laid out anew, by fours of floats:
 *   1024 x 64 weights   32,768 B a tile: 10,240 and 8192 + 1 + 37
 *   64 x 4 inputs       128 B: 40 and 32 + 1 + 37;     1024 x 4 results   2048 B: 640 and 512 + 1 + 37
 *   compute             50 + 6 x (7 + 3 x 7) + 13 + 8 x (15 + 19 + 6 + 32 + 6 x 107), sums at zero 6 x (5 + 86) */
static void test_products_turn_round(void **state)
{
    (void)state;
    struct chip chip = small_chip(8);
    struct conv_shape s = matmul_conv_shape(1, 4, 64, 1024, TYPE_FP32, PASS_FORWARD), t;
    struct op_plan p = planned(&s, &chip, &options);
    assert_int_equal(p.split.field, 8);
    assert_int_equal(p.split.out_chans, 1);
    assert_int_equal(p.rearrange_cycles, 10240 + 8230 + 40 + 70 + 640 + 550);
    assert_int_equal(p.compute_cycles, 10240 + 40 + 640 + 50 + 168 + 13 + 8 * 714 + 546);
    assert_int_equal(p.mac, 4 * 64 * 1024);
    assert_true(conv_shape_swapped(&t, &s) && t.field_h == 1024 && t.out_chans == 4 && t.in_chans == 64);
    s = matmul_conv_shape(1, 256, 64, 64, TYPE_FP32, PASS_FORWARD);         /* rows enough, and no reason to */
    assert_int_equal(planned(&s, &chip, &options).rearrange_cycles, 0);
    const struct conv_params c = { .groups = 1, .batch = 1, .in_h = 5, .in_w = 5, .out_h = 5, .out_w = 5, .kernel_h = 1, .kernel_w = 1,
                                   .in_chans = 64, .out_chans = 16, .stride = 1, .type = TYPE_FP16 };
    s = conv_shape_of_pass(&c, PASS_FORWARD);
    assert_false(conv_shape_swapped(&t, &s));
}

/* What is filled up with zeros is there twice while it is copied: eight channels as a grain of sixteen, 512 B; with a kernel of three
 * rows, of which two share a pass, 1024 B of input and 2304 B of weights for a fourth row. */
static void test_padding_takes_memory(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    struct conv_params c = { .groups = 1, .batch = 1, .in_h = 4, .in_w = 4, .out_h = 4, .out_w = 4, .kernel_h = 1, .kernel_w = 1,
                             .in_chans = 8, .out_chans = 16, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&c, PASS_FORWARD);
    assert_int_equal(planned(&s, &chip, &options).temp_bytes_per_tile, 2 * 512 + 16 * 16 * 2 + 16 * 16 * 2);
    c.in_h = c.in_w = c.out_h = c.out_w = 8;
    c.kernel_h = c.kernel_w = 3;
    s = conv_shape_of_pass(&c, PASS_FORWARD);
    assert_int_equal(planned(&s, &chip, &options).temp_bytes_per_tile, 2 * 1024 + 2 * 2304 + 64 * 16 * 2);
}

/* 64 rows of 16 channels to 8 in float sums: operands and results 2048 + 256 + 1024 B, temporaries 2048 + 256 + 2048, 7680 in all. A worker's
 * 11 positions take 4 / 0.8 cycles each where all of it is interleaved memory; where 2680 are beyond, 4 x 2680 / 7680 more.
 *   50 + 42 + 13 + 15 + 19 + 6 + 32 + 6 x (19 + 55 or 71);   sums at zero 6 x (5 + 43), cast 6 x (26 + 43)
 * A chip that loses nothing there has no conflict either, nor have half sums of eight units, which leave ports idle. */
static void test_loads_beyond_interleaved_memory(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    struct conv_shape s = matmul_conv_shape(1, 64, 16, 8, TYPE_FP16, PASS_FORWARD);
    struct op_plan_options floats = options;
    floats.partials = PARTIALS_FP32;
    uint64_t lossless = planned(&s, &chip, &floats).compute_cycles;
    chip.interleaved_bytes = 7680;
    assert_int_equal(planned(&s, &chip, &floats).compute_cycles, lossless);
    chip.amp_efficiency = 0.8;
    assert_int_equal(planned(&s, &chip, &floats).compute_cycles, 177 + 6 * (19 + 55) + 288 + 414);
    chip.interleaved_bytes = 5000;
    assert_int_equal(planned(&s, &chip, &floats).compute_cycles, 177 + 6 * (19 + 71) + 288 + 414);
    chip.conv_units_fp16_fp16 = 8;
    chip.mac_fp16_fp16_per_cycle = 32;
    uint64_t halves = planned(&s, &chip, &options).compute_cycles;
    chip.interleaved_bytes = 0;
    assert_int_equal(planned(&s, &chip, &options).compute_cycles, halves);
}

/* An operand that another operation has laid out moves whole: 5 x 16 halves for one column grain, no share of them there. Of weights
 * that are there, a third is. Where all are there, one tile computes five rows (365 cycles, and 54 for 80 sums at zero) and nothing
 * moves. */
static void test_operands_from_elsewhere(void **state)
{
    (void)state;
    struct chip chip = small_chip(7);
    uint64_t seed = 31;
    struct conv_shape s = matmul_conv_shape(1, 5, 16, 16, TYPE_FP16, PASS_FORWARD);
    struct op_plan p = planned(&s, &chip, &options);
    assert_int_equal(p.exchange_cycles, 0);
    assert_int_equal(p.compute_cycles, 365 + 54);
    assert_near(p.imbalance, 7, 0);
    s = matmul_conv_shape(1, 13, 16, 16, TYPE_FP16, PASS_FORWARD);
    s.in_elsewhere = 1;
    p = planned(&s, &chip, &options);
    assert_int_equal(p.exchanged_bytes, 6 * (171 + 160));           /* as test_one_block, but for the weights */
    assert_int_equal(p.exchange_cycles, 62 + 1 + 37);               /* (171 + 80) / 4 */
    for (int i = 0; i < N_RANDOM; i++) {
        struct conv_shape here = random_shape(&seed), there = here;
        chip.n_tiles = draw(&seed, 1, 60);
        there.in_elsewhere = there.weights_elsewhere = 1;
        struct op_plan near = planned(&here, &chip, &options), far = planned(&there, &chip, &options);
        assert_true(op_plan_cycles(&far) >= op_plan_cycles(&near));
    }
}

/* A layer of few rows keeps its weights in place, a layer of many does not: then each pass has its own plan. */
static void test_fully_connected(void **state)
{
    (void)state;
    struct chip chip = small_chip(60);
    struct op_plan joint[N_OP_PASSES], apart[N_OP_PASSES];
    const struct conv_shape own[] = {
        matmul_conv_shape(1, 4, 512, 768, TYPE_FP16, PASS_FORWARD),
        matmul_conv_shape(1, 4, 768, 512, TYPE_FP16, PASS_BACKWARD_DATA),
        matmul_conv_shape(1, 512, 4, 768, TYPE_FP16, PASS_BACKWARD_WEIGHT),
    };
    uint64_t joint_cycles = 0, apart_cycles = 0;
    const struct layer_shape layer = { 1, 4, 512, 768, TYPE_FP16 };
    struct plan_choice choice;
    conv_plan_fully_connected(joint, &choice, &layer, &chip, &options);
    for (int pass = 0; pass < N_OP_PASSES; pass++) {
        conv_plan_search(&apart[pass], NULL, &own[pass], &chip, &options);
        joint_cycles += op_plan_cycles(&joint[pass]);
        apart_cycles += op_plan_cycles(&apart[pass]);
        assert_int_equal(joint[pass].mac, 4 * 512 * 768);
    }
    assert_true(joint_cycles < apart_cycles);
    assert_int_equal(joint[PASS_FORWARD].split.out_chans, 1);
    assert_int_equal(joint[PASS_FORWARD].split.in_chans, joint[PASS_BACKWARD_DATA].split.field);
    assert_int_equal(joint[PASS_FORWARD].split.field, joint[PASS_BACKWARD_DATA].split.in_chans);
    conv_plan_fully_connected_as(apart, &choice, &layer, &chip, &options);
    assert_memory_equal(apart, joint, sizeof joint);
}

/* The gradient of a 2 x 2 convolution of stride 2: 16 positions of 4 elements and 16 channels, 1024 outputs. Four tiles take 256 each, of
 * 5 or 7 that is 5 / 4 or 7 / 4 of an even share; two of three take 512. */
static void test_imbalance_of_a_dilated_gradient(void **state)
{
    (void)state;
    const struct conv_params p = { .groups = 1, .batch = 1, .in_h = 8, .in_w = 8, .out_h = 4, .out_w = 4, .kernel_h = 2, .kernel_w = 2,
                                   .in_chans = 16, .out_chans = 16, .stride = 2, .type = TYPE_FP16 };
    static const struct { uint64_t n_tiles, n_used; } cases[] = { { 1, 1 }, { 3, 2 }, { 4, 4 }, { 5, 4 }, { 7, 4 } };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_BACKWARD_DATA);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chip chip = small_chip(cases[i].n_tiles);
        struct op_plan q = planned(&s, &chip, &options);
        assert_int_equal(q.n_tiles_used, cases[i].n_used);
        assert_near(q.imbalance, (double)cases[i].n_tiles / (double)cases[i].n_used, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_block), cmocka_unit_test(test_more_positions_than_32_bits_hold), cmocka_unit_test(test_passes_have_the_same_work),
        cmocka_unit_test(test_depthwise_groups_go_together), cmocka_unit_test(test_no_padding_where_all_divides), cmocka_unit_test(test_laws),
        cmocka_unit_test(test_more_is_never_slower), cmocka_unit_test(test_wider_units_are_never_slower),
        cmocka_unit_test(test_a_wrong_estimate_is_never_faster),
        cmocka_unit_test(test_search_is_exhaustive), cmocka_unit_test(test_a_choice_is_priced_elsewhere), cmocka_unit_test(test_no_random_split_is_faster), cmocka_unit_test(test_memory_forces_serial_steps),
        cmocka_unit_test(test_hmac_takes_steps), cmocka_unit_test(test_hmac_takes_columns_as_channels),
        cmocka_unit_test(test_hmac_pads_channels), cmocka_unit_test(test_kernel_rows_are_padded), cmocka_unit_test(test_partials),
        cmocka_unit_test(test_odd_lengths), cmocka_unit_test(test_imbalance_of_a_dilated_gradient),
        cmocka_unit_test(test_sums_start_at_zero),
        cmocka_unit_test(test_loads_beyond_interleaved_memory), cmocka_unit_test(test_products_turn_round),
        cmocka_unit_test(test_padding_takes_memory), cmocka_unit_test(test_operands_from_elsewhere),
        cmocka_unit_test(test_fully_connected),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
