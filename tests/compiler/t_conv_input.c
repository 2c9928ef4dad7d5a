/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_conv_input.c - what the kernels of a convolution meet of their input, by hand: padding, dilation, strides, columns that become channels.
 */
#include "tests/check.h"
#include "system-model/graph/graph.h"
#include "tests/conv_fixture.h"

/* conv_axis_met() agrees with counting one by one, for any part of the field and of the kernel. */
static void test_what_kernels_meet(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (int i = 0; i < 2000; i++) {
        const struct conv_axis x = { draw(&seed, 1, 12), draw(&seed, 1, 7), draw(&seed, 1, 4), draw(&seed, 0, 9), draw(&seed, 1, 30),
                                     draw(&seed, 1, 3) };
        uint64_t first = draw(&seed, 0, x.positions - 1), n = draw(&seed, 1, x.positions - first);
        uint64_t from = draw(&seed, 0, x.kernel - 1), to = draw(&seed, from, x.kernel - 1), met = 0;
        for (uint64_t p = first; p < first + n; p++) {
            uint64_t low = p * x.stride + from * x.dilation, high = p * x.stride + to * x.dilation;
            met += high >= x.pad_before && low < x.pad_before + x.in;
        }
        assert_int_equal(conv_axis_met(&x, first, n, from, to), met);
    }
}

static struct conv_shape square(uint32_t in, uint32_t out, uint32_t stride, enum op_pass pass)
{
    const struct conv_params p = { .groups = 1, .batch = 1, .in_h = in, .in_w = in, .out_h = out, .out_w = out, .kernel_h = 3, .kernel_w = 3,
                                   .in_chans = 16, .out_chans = 16, .stride = stride, .pad_h = 1, .pad_w = 1, .type = TYPE_FP16 };
    return conv_shape_of_pass(&p, pass);
}

/* A 3x3 kernel over 7 x 7 positions on one tile: its outer rows and columns meet 6 of 7. A worker's 9 positions in
 * three pieces take 3 x 16 + 36 = 84; of 6 rows of 7 it has one row, 16 + 28; of 7 rows of 6 it has 7 positions in
 * three pieces, 48 + 28; of 6 rows of 6 it has one row, 16 + 24. On seven tiles, with a row each, the middle ones
 * have no padding above or below. A worker has two positions of a row of 7, 16 + 8, and one of a row of 6, 16 + 4. */
static void test_padding_is_left_out(void **state)
{
    (void)state;
    struct chip one = small_chip(1);
    struct conv_shape s = square(7, 7, 1, PASS_FORWARD), full = without_padding(s);
    struct conv_choice choice;
    struct op_plan all, got;
    conv_plan_search(&all, &choice, &full, &one, &options);
    assert_int_equal(choice.vertex, VERTEX_AMP_NX1);
    for (uint64_t n = 1; n <= 7; n += 6) {
        struct chip chip = small_chip(n);
        choice.share.p_field = n;
        choice.share.height = 7 / n;
        assert_true(conv_plan_as(&all, &choice, &full, &chip, &options));
        assert_true(conv_plan_as(&got, &choice, &s, &chip, &options));
        uint64_t less = n == 1 ? 2 * (84 - 44) + 2 * (84 - 76) + 4 * (84 - 40) : 3 * 2 * (24 - 20);
        assert_int_equal(all.compute_cycles - got.compute_cycles, 6 * less);
        assert_int_equal(all.exchange_cycles, got.exchange_cycles);
        assert_int_equal(all.temp_bytes_per_tile, got.temp_bytes_per_tile);
    }
}

/* In a field of one column, two of three columns of the kernel meet nothing: of six passes over its 7 positions, two
 * a worker, 16 + 8, two passes remain with 6 positions, 16 + 4. */
static void test_padding_beside_one_column(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    const struct conv_params p = { .groups = 1, .batch = 1, .in_h = 7, .in_w = 1, .out_h = 7, .out_w = 1, .kernel_h = 3, .kernel_w = 3,
                                   .in_chans = 16, .out_chans = 16, .stride = 1, .pad_h = 1, .pad_w = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD), full = without_padding(s);
    struct conv_choice choice;
    struct op_plan all, got;
    conv_plan_search(&all, &choice, &full, &chip, &options);
    assert_int_equal(choice.vertex, VERTEX_AMP_NX1);
    assert_true(conv_plan_as(&got, &choice, &s, &chip, &options));
    assert_int_equal(all.compute_cycles - got.compute_cycles, 6 * (6 * 24 + 2 * (24 - 20)));
}

/* The cycles that 3x3 kernels leave out on one tile when the padding is the operation's own. A stride of 2 over an
 * even field has padding only before it. Counted as in the test above, all positions take 84, 6 rows of 7 take 44, 7
 * rows of 6 take 76, and 6 rows of 6 take 40. A stride of 3 over 9 leaves over as much input as there is padding: 3
 * x 3 takes 28, or 20 if a row or a column is missing. Dilated by 2, with two rows of padding, the outer elements
 * meet 5 of 7: 5 rows of 7 take 44, a row each; 7 rows of 5 take 72; 5 rows of 5 take 36. */
static void test_padding_is_the_operations_own(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    static const struct { uint32_t in, out, stride, pad, dilation; enum op_pass pass; uint64_t less; } cases[] = {
        { 14, 7, 2, 1, 1, PASS_FORWARD, 2 * (84 - 44) + 2 * (84 - 76) + 84 - 40 }, { 15, 7, 2, 0, 1, PASS_FORWARD, 0 },
        { 13, 7, 2, 1, 1, PASS_FORWARD, 2 * (84 - 44) + 2 * (84 - 76) + 4 * (84 - 40) },
        { 13, 7, 2, 1, 1, PASS_BACKWARD_DATA, 2 * (84 - 44) + 2 * (84 - 76) + 4 * (84 - 40) },
        { 9, 3, 3, 1, 1, PASS_FORWARD, 5 * (28 - 20) }, { 9, 3, 3, 0, 1, PASS_FORWARD, 0 },
        { 7, 7, 1, 2, 2, PASS_FORWARD, 2 * (84 - 44) + 2 * (84 - 72) + 4 * (84 - 36) }, { 7, 7, 1, 1, 0, PASS_BACKWARD_WEIGHT, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t in = cases[i].in, out = cases[i].out, pad = cases[i].pad;
        const struct conv_params p = { .groups = 1, .batch = 1, .in_h = in, .in_w = in, .out_h = out, .out_w = out, .kernel_h = 3,
                                       .kernel_w = 3, .in_chans = 16, .out_chans = 16, .stride = cases[i].stride, .type = TYPE_FP16,
                                       .pad_h = pad, .pad_w = pad, .dilation = cases[i].dilation };
        struct conv_shape s = conv_shape_of_pass(&p, cases[i].pass);
        struct candidates list;
        conv_candidates(&list, &s, &chip, &options);
        struct share whole = conv_whole(&list.items[0], 1, 1);
        assert_int_equal(list.items[0].vertex, s.pass == PASS_BACKWARD_WEIGHT ? VERTEX_AMP_1X1 : VERTEX_AMP_NX1);
        assert_int_equal(conv_padding_cycles(&(struct search){ .vertices = &vertex_table, .chip = &chip }, &list.items[0], &whole), 6 * cases[i].less);
    }
}

/* Elements of a kernel that are three apart reach over six rows and columns more: a tile with a row of 9 holds 7 of
 * the input instead of 3. */
static void test_dilated_kernels_reach_farther(void **state)
{
    (void)state;
    struct conv_params p = { .groups = 1, .batch = 1, .in_h = 9, .in_w = 9, .out_h = 9, .out_w = 9, .kernel_h = 3, .kernel_w = 3,
                             .in_chans = 16, .out_chans = 16, .stride = 1, .pad_h = 3, .pad_w = 3, .dilation = 3, .type = TYPE_FP16 };
    struct chip chip = small_chip(9);
    struct conv_shape wide = conv_shape_of_pass(&p, PASS_FORWARD), narrow;
    p.pad_h = p.pad_w = p.dilation = 1;
    narrow = conv_shape_of_pass(&p, PASS_FORWARD);
    struct conv_choice choice;
    struct op_plan far, near;
    conv_plan_search(&near, &choice, &narrow, &chip, &options);
    choice.share.p_field = choice.share.width = 9;
    choice.share.p_kernel = choice.share.p_in = choice.share.p_out = choice.share.height = 1;
    choice.share.kernel_h = 3;
    assert_true(conv_plan_as(&near, &choice, &narrow, &chip, &options));
    assert_true(conv_plan_as(&far, &choice, &wide, &chip, &options));
    assert_int_equal(far.temp_bytes_per_tile - near.temp_bytes_per_tile, 4 * 9 * 16 * 2);
    assert_int_equal(far.exchanged_bytes - near.exchanged_bytes, 9 * 4 * 9 * 16 * 2);
}

/* The bytes of input on a tile, without weights and sums, for the candidate of this order and kernel width. */
static uint64_t input_bytes(const struct conv_shape *s, const struct chip *chip, uint32_t kernel_w)
{
    struct candidates list;
    size_t i = 0;
    conv_candidates(&list, s, chip, &options);
    while (list.items[i].s.kernel_w != kernel_w || list.items[i].s.kernel_h == 1)
        i++;
    struct share t = conv_whole(&list.items[i], 1, 1);
    struct search f = conv_search_start(s, chip, &options);
    t.p_field = 5;
    t.width = 4;
    f.bound_bytes = UINT64_MAX;
    conv_price(&f, &list.items[i], &t);
    uint64_t weights = t.in * list.items[i].in_grain * t.out * list.items[i].out_grain * t.kernel_h * kernel_w * 2;
    uint64_t sums = share_positions(&t) * t.out * list.items[i].out_grain * 2, copies = conv_pads_tiles(&f, &list.items[i]) ? 2 : 1;
    return (f.best_cost.temp_bytes - weights - sums) / copies;
}

/* A stride of 2 across and 1 down: 4 of 20 columns of positions reach over 3 x 2 + 5 columns of the input, and all 9
 * rows with it. Columns that have become channels, 5 x 16 of them, are copied for each position, without a stride
 * between them. */
static void test_strides_differ(void **state)
{
    (void)state;
    struct chip chip = small_chip(5);
    const struct conv_params p = { .groups = 1, .batch = 1, .in_h = 9, .in_w = 40, .out_h = 9, .out_w = 20, .kernel_h = 3, .kernel_w = 5,
                                   .in_chans = 16, .out_chans = 16, .stride = 1, .type = TYPE_FP16, .stride_w = 2, .pad_h = 1, .pad_w = 2 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD), back = conv_shape_of_pass(&p, PASS_BACKWARD_DATA);
    assert_int_equal(input_bytes(&s, &chip, 5), 9 * (3 * 2 + 5) * 16 * 2);
    assert_int_equal(input_bytes(&s, &chip, 1), 9 * 4 * 5 * 16 * 2);
    assert_true(back.out_stride_h == 1 && back.out_stride_w == 2);
}

/* 3 channels of 10 x 10 positions on one tile: filled up to 4, 800 B, one by one, 587 + 5.15 a byte whatever the
 * planner. Three columns make 9 of them, filled up to 16, 10 x 10 x 32 B: by single elements as measured, and 5/4 cycles
 * an element of two bytes where the planner has the rule of channels in fours alone. */
static void test_copies_as_planned(void **state)
{
    (void)state;
    struct chip measured = small_chip(1), of_fours = measured;
    of_fours.planner_copies = COPIES_ESTIMATED;
    const struct conv_params p = { .groups = 1, .batch = 1, .in_h = 10, .in_w = 10, .out_h = 10, .out_w = 10, .kernel_h = 3, .kernel_w = 3,
                                   .in_chans = 3, .out_chans = 16, .stride = 1, .type = TYPE_FP16, .pad_h = 1, .pad_w = 1 };
    const struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    for (int fours = 0; fours <= 1; fours++) {
        struct candidates list;
        const struct chip *chip = fours ? &of_fours : &measured;
        conv_candidates(&list, &s, chip, &options);
        for (size_t i = 0; i < list.n; i++) {
            const struct conv_candidate *c = &list.items[i];
            if (c->vertex != VERTEX_AMP_NX1 || (c->s.kernel_w == 3 ? c->in_grain != 4 : c->in_grain != 16))
                continue;
            struct search f = conv_search_start(&s, chip, &options);
            const struct share t = conv_whole(c, 1, 1);
            f.bound_bytes = UINT64_MAX;
            conv_price(&f, c, &t);
            uint64_t bytes = c->s.kernel_w == 3 ? 100 * 4 * 2 : 100 * 16 * 2;
            assert_int_equal(f.best_cost.copied_bytes, bytes);
            assert_int_equal(f.best_cost.planned_copies, fours && c->s.kernel_w == 1 ? bytes * 5 / 4 / 2 : 587 + (bytes * 515 + 99) / 100);
        }
    }
}

/* Three columns of 16 channels are three grains: all 8 x 8 x 48 halves are laid out before, 5/4 cycles for 8 bytes
 * and a word a cycle, and then sent to the tile that takes them. 24 channels are no whole grains of 16: the columns are
 * copied on the tile, by fours, 5/4 cycles an element. */
static void test_columns_of_whole_grains_are_gathered(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    for (uint32_t chans = 16; chans <= 24; chans += 8) {
        const struct conv_params p = { .groups = 1, .batch = 1, .in_h = 8, .in_w = 8, .out_h = 8, .out_w = 8, .kernel_h = 3, .kernel_w = 3,
                                       .in_chans = chans, .out_chans = 16, .stride = 1, .type = TYPE_FP16, .pad_h = 1, .pad_w = 1 };
        struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
        struct candidates list;
        size_t i = 0;
        conv_candidates(&list, &s, &chip, &options);
        while (list.items[i].s.kernel_w != 1 || list.items[i].s.kernel_h == 1)
            i++;
        struct search f = conv_search_start(&s, &chip, &options);
        struct share t = conv_whole(&list.items[i], 1, 1);
        f.bound_bytes = UINT64_MAX;
        conv_price(&f, &list.items[i], &t);
        bool whole = chans == 16;
        uint64_t bytes = 64 * (whole ? 48 : 80) * 2;
        assert_true(list.items[i].joined && list.items[i].gathered == whole);
        assert_int_equal(f.best_cost.copied_bytes, whole ? 0 : bytes);
        assert_int_equal(f.best_cost.rearrange, whole ? bytes * 5 / 4 / 8 + bytes / 4 + 1 + 37 : bytes * 5 / 4 / 2);
        assert_int_equal(f.best_cost.received_bytes, whole ? 2 * bytes : 0);
        assert_int_equal(f.best_cost.supersteps, 2);
    }
}

/* With a stride of 2, 3x3 kernels read all 8 rows of the input and make 4: 8 x 4 positions of 48 halves are laid
 * out. If whole kernels become channels, there are 4 x 4 copies. */
static void test_rows_of_a_stride_are_gathered_too(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    const struct conv_params p = { .groups = 1, .batch = 1, .in_h = 8, .in_w = 8, .out_h = 4, .out_w = 4, .kernel_h = 3, .kernel_w = 3,
                                   .in_chans = 16, .out_chans = 16, .stride = 2, .type = TYPE_FP16, .pad_h = 0, .pad_w = 0 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct candidates list;
    uint32_t n_columns = 0, n_kernels = 0;
    struct search f = conv_search_start(&s, &chip, &options);
    conv_candidates(&list, &s, &chip, &options);
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i].gathered) {
            bool whole = list.items[i].s.kernel_h == 1;
            struct conv_cost k = conv_gathering(&f, &list.items[i]);
            assert_int_equal(k.received_bytes, (whole ? 4 * 4 * 144 : 8 * 4 * 48) * 2);
            n_columns += !whole;
            n_kernels += whole;
        }
    assert_true(n_columns > 0 && n_kernels > 0);
}

/* Results lie in groups of 16 channels, and chains of quarters take 32: what an operation has made, 8 x 8 positions
 * on 64 tiles, is brought together, 5/4 cycles for 8 bytes and a word a cycle. Inputs and operands that are laid out
 * anew come as they are read, one group is filled up on each tile, and a chain of halves takes one group. Results come
 * 16 at a time, as many as the units of the AMP, or 8. */
static void test_quarters_are_brought_together(void **state)
{
    (void)state;
    struct chip chip = small_chip(64);
    chip.mac_fp8_per_cycle = 128;
    static const struct { enum data_type type; uint32_t chans, elsewhere, anew; bool together; } cases[] = {
        { TYPE_FP8, 64, 1, 0, true }, { TYPE_FP8, 40, 1, 0, true }, { TYPE_FP8, 64, 0, 0, false }, { TYPE_FP8, 16, 1, 0, false },
        { TYPE_FP8, 64, 1, 1, false }, { TYPE_FP16, 64, 1, 0, false },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct conv_params p = { .groups = 1, .batch = 1, .in_h = 8, .in_w = 8, .out_h = 8, .out_w = 8, .kernel_h = 1, .kernel_w = 1,
                                       .in_chans = cases[k].chans, .out_chans = 64, .stride = 1, .type = cases[k].type };
        struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
        struct candidates list;
        uint64_t bytes = cases[k].chans;            /* the bytes of a tile, a position each */
        s.in_elsewhere = cases[k].elsewhere;
        s.rearrange_in = cases[k].anew;
        conv_candidates(&list, &s, &chip, &options);
        struct search f = conv_search_start(&s, &chip, &options);
        for (size_t i = 0; i < list.n && list.items[i].vertex == VERTEX_AMP_1X1; i++) {
            struct conv_cost gathering = conv_gathering(&f, &list.items[i]);
            assert_true(list.items[i].out_grain == 16 || list.items[i].out_grain == 8);
            assert_int_equal(gathering.rearrange, cases[k].together ? ceil_div(bytes * 5, 4 * 8) + bytes / 4 + 1 + chip.exchange_transit_cycles : 0);
            assert_int_equal(gathering.supersteps, cases[k].together);
        }
    }
}

/* A 1x1 kernel with a stride of 2 meets 4 x 4 of 8 x 8 positions, 16 channels each: 512 B are laid out, 5/4 cycles
 * for 8 bytes and a word a cycle, and sent to the tile that takes them. The gradient to that input has all of its own,
 * and writes every second element. */
static void test_a_stride_leaves_out_what_it_does_not_meet(void **state)
{
    (void)state;
    struct chip chip = small_chip(1);
    const struct conv_params p = { .groups = 1, .batch = 1, .in_h = 8, .in_w = 8, .out_h = 4, .out_w = 4, .kernel_h = 1, .kernel_w = 1,
                                   .in_chans = 16, .out_chans = 16, .stride = 2, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD), dense = s, back = conv_shape_of_pass(&p, PASS_BACKWARD_DATA);
    dense.in_stride_h = dense.in_stride_w = 1;
    dense.in_h = dense.in_w = 4;
    struct op_plan strided = planned(&s, &chip, &options), beside = planned(&dense, &chip, &options);
    assert_int_equal(strided.rearrange_cycles - beside.rearrange_cycles, 512 * 5 / 4 / 8 + 512 / 4 + 1 + 37);
    assert_int_equal(strided.exchanged_bytes, beside.exchanged_bytes + 2 * 512);
    assert_int_equal(strided.n_supersteps, beside.n_supersteps + 1);
    assert_int_equal(strided.compute_cycles, beside.compute_cycles + 512 * 5 / 4 / 8);
    /* its gradient is made for the elements that it met, and a 3 x 3 kernel's for all, 2 x 2 with each sum */
    assert_true(back.in_stride_h == 1 && back.out_stride_h == 1 && back.out_stride_w == 1);
    struct conv_params wide = p;
    wide.kernel_h = 3;
    back = conv_shape_of_pass(&wide, PASS_BACKWARD_DATA);
    assert_true(back.out_stride_h == 2 && back.out_stride_w == 1);
}

/* Three rows of a kernel behind two of padding, and five rows of positions, three of them on one tile: there they
 * meet 1, 2 and 3 rows, on the other 2 each, which are as many. The first one counts. A dot of four channels takes 7 + 8
 * cycles, a row 19 besides, of 5 positions for six workers: of one row 34, of two 68, of three 83. */
static void test_the_first_of_the_busiest_counts(void **state)
{
    (void)state;
    struct chip chip = small_chip(2);
    const struct conv_params p = { .groups = 2, .batch = 1, .in_h = 5, .in_w = 5, .out_h = 5, .out_w = 5, .kernel_h = 3, .kernel_w = 1,
                                   .in_chans = 4, .out_chans = 3, .stride = 1, .pad_h = 2, .type = TYPE_FP16 };
    struct conv_candidate c = { .vertex = VERTEX_HMAC, .s = conv_shape_of_pass(&p, PASS_FORWARD), .in_grain = 4, .out_grain = 1, .filter_height = 1,
                           .passes = 1, .amp = { .element_bytes = 2 } };
    struct share t = conv_whole(&c, 1, 1);
    t.p_field = 2;
    t.height = 3;
    assert_int_equal(conv_padding_cycles(&(struct search){ .vertices = &vertex_table, .chip = &chip }, &c, &t), 2 * 3 * 6 * (83 - 34 + 83 - 68));
    c.flat = true;
    assert_int_equal(conv_padding_cycles(&(struct search){ .vertices = &vertex_table, .chip = &chip }, &c, &t), 0);
    c.flat = false;
    c.vertex = VERTEX_SLIC;
    assert_int_equal(conv_padding_cycles(&(struct search){ .vertices = &vertex_table, .chip = &chip }, &c, &t), 0);
}

static struct op_plan planned_in_graph(enum op_kind kind, const struct conv_params *p, enum op_pass pass, const struct chip *chip)
{
    const uint64_t in[] = { p->batch, p->in_h, p->in_w, 2 * p->in_chans }, out[] = { p->batch, p->out_h, p->out_w, 2 * p->out_chans };
    const uint64_t weights[] = { p->kernel_h, p->kernel_w, p->in_chans, 2 * p->out_chans };
    struct op_attributes at = { .kernel_h = p->kernel_h, .kernel_w = p->kernel_w, .stride = 2, .stride_w = 3, .pad = 1, .zeros = { 1, 2, 3, 4 },
                                .dilation = 2, .groups = 2 };
    struct arena a = { 0 };
    struct plan_cache cache = { 0 };
    struct graph g;
    struct op_plan plan;
    graph_start(&g, "one", p->batch, &a);
    graph_layer(&g, (struct layer){ .name = "layer", .n_parts = 1 });
    if (kind == OP_CONV_TRANSPOSE)
        memcpy(at.view, in, sizeof in);
    uint32_t x = graph_tensor(&g, "x", ROLE_INPUT, TYPE_FP16, 4, kind == OP_CONV ? in : out);
    uint32_t w = graph_tensor(&g, "w", ROLE_WEIGHT, TYPE_FP16, 4, weights);
    uint32_t y = graph_op(&g, kind, (uint32_t[]){ x, w }, 2, at);
    if (pass != PASS_FORWARD)
        graph_append(&g, (struct op){ .kind = kind, .pass = pass, .forward_op = 0, .at = g.ops[0].at, .n_inputs = 1, .inputs = &y, .n_outputs = 1,
                                      .outputs = pass == PASS_BACKWARD_DATA ? &x : &w });
    op_plan_build(&plan, &g, (uint32_t)g.n_ops - 1, even_operands, chip, &options, &cache);
    plan_cache_free(&cache);
    arena_free(&a);
    return plan;
}

/* A graph's convolution of odd numbers all round, forward and back, and turned: 17 x 19 with a pad of 1 and 1, 2, 3
 * and 4 zeros more give 10 x 7. A kernel of one row has no pad of its own above. The graph's input is laid out as
 * its reader wants it; gradients come from other tiles. */
static void test_what_a_graph_says(void **state)
{
    (void)state;
    static const struct { enum op_kind kind; uint32_t kernel_h, out_h, pad_h; } cases[] = {
        { OP_CONV, 3, 10, 2 }, { OP_CONV, 1, 11, 1 }, { OP_CONV_TRANSPOSE, 3, 10, 2 },
    };
    struct chip chip = wide_chip(5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int pass = 0; pass < N_OP_PASSES; pass++) {
            bool turned = cases[i].kind == OP_CONV_TRANSPOSE;
            const struct conv_params p = { .groups = 2, .batch = 3, .in_h = 17, .in_w = 19, .out_h = cases[i].out_h, .out_w = 7,
                                           .kernel_h = cases[i].kernel_h, .kernel_w = 5, .in_chans = 16, .out_chans = 20, .stride = 2, .stride_w = 3,
                                           .pad_h = cases[i].pad_h, .pad_w = 3, .dilation = 2, .type = TYPE_FP16 };
            static const enum op_pass turned_round[] = { PASS_BACKWARD_DATA, PASS_FORWARD, PASS_BACKWARD_WEIGHT };
            struct conv_shape s = conv_shape_of_pass(&p, turned ? turned_round[pass] : (enum op_pass)pass);
            s.in_elsewhere = pass != PASS_FORWARD;        /* the input alone is nobody's result */
            struct op_plan want = planned(&s, &chip, &options), got = planned_in_graph(cases[i].kind, &p, (enum op_pass)pass, &chip);
            assert_memory_equal(&got, &want, sizeof got);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_kernels_meet), cmocka_unit_test(test_padding_is_left_out), cmocka_unit_test(test_padding_beside_one_column),
    cmocka_unit_test(test_padding_is_the_operations_own), cmocka_unit_test(test_dilated_kernels_reach_farther),
    cmocka_unit_test(test_strides_differ), cmocka_unit_test(test_copies_as_planned),
    cmocka_unit_test(test_columns_of_whole_grains_are_gathered), cmocka_unit_test(test_rows_of_a_stride_are_gathered_too),
    cmocka_unit_test(test_quarters_are_brought_together), cmocka_unit_test(test_the_first_of_the_busiest_counts),
    cmocka_unit_test(test_what_a_graph_says),
    cmocka_unit_test(test_a_stride_leaves_out_what_it_does_not_meet),
};
TAP_MAIN(tests)
