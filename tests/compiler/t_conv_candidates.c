/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_conv_candidates.c - which vertices may compute a convolution, with which grains, and what shape each of them sees: whole lists by hand.
 *
 * A candidate is written as groups, vertex (A: AMP, kernel of one; N: AMP, larger kernels; S: slices; H: HMAC; O: outer product), grain in / grain
 * out, * kernel rows in a pass, p passes of a grain, : kernel and input channels as it sees them, j for joined, g for gathered.
 */
#include "tests/check.h"
#include "tests/chip_fixture.h"
#include "system-model/compiler/conv.h"

static void write_list(char *text, size_t size, const struct candidates *list)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->n; i++) {
        const struct conv_candidate *c = &list->items[i];
        n += (size_t)snprintf(text + n, size - n, "%s%u%c%u/%u", i ? " " : "", c->s.groups, "?ANSHO"[c->vertex],
                              (unsigned)c->in_grain, (unsigned)c->out_grain);
        if (c->filter_height > 1)
            n += (size_t)snprintf(text + n, size - n, "*%u", (unsigned)c->filter_height);
        if (c->passes > 1)
            n += (size_t)snprintf(text + n, size - n, "p%u", (unsigned)c->passes);
        n += (size_t)snprintf(text + n, size - n, ":%ux%ux%u%s%s", c->s.kernel_h, c->s.kernel_w, (unsigned)c->s.in_chans,
                              c->joined ? "j" : "", c->gathered ? "g" : "");
        assert_int_equal(c->order, i);
    }
}

struct conv_case { uint32_t groups, kernel_h, kernel_w, in_chans, out_chans, stride, stride_w; const char *want; };

static void check(const struct conv_case *cases, size_t n, const struct chip *chip, enum data_type type, enum partials_type partials,
                  uint32_t in_elsewhere)
{
    for (const struct conv_case *i = cases; i < cases + n; i++) {
        const struct conv_params p = { .groups = i->groups, .batch = 2, .in_h = 15, .in_w = 17, .out_h = 5, .out_w = 6, .kernel_h = i->kernel_h,
                                       .kernel_w = i->kernel_w, .in_chans = i->in_chans, .out_chans = i->out_chans, .stride = i->stride,
                                       .stride_w = i->stride_w, .type = type };
        const struct op_plan_options options = { .partials = partials, .available_memory = 0.6 };
        struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
        struct candidates list;
        char text[1024];
        s.in_elsewhere = in_elsewhere;
        conv_candidates(&list, &s, chip, &options);
        write_list(text, sizeof text, &list);
        assert_string_equal(text, i->want);
    }
}
#define CHECK(cases, ...) check(cases, sizeof cases / sizeof *cases, __VA_ARGS__)

/* 50 units make grains of 50 channels, or of 8 doubled while it is less, down to 8; 64 units work the same way. Four
 * channels give the same grains again for four kernel rows. */
static void test_many_units(void **state)
{
    (void)state;
    static const struct conv_case fifty[] = {
        { 1, 1, 1, 24, 20, 1, 1, "1A16/50:1x1x24 1A16/32:1x1x24 1A16/16:1x1x24 1A16/8:1x1x24 1H4/1:1x1x24" },
        { 1, 3, 1, 4, 20, 1, 1, "1N16/50:3x1x4 1N16/32:3x1x4 1N16/16:3x1x4 1N16/8:3x1x4 1N4/50*4:3x1x4 1N4/32*4:3x1x4 1N4/16*4:3x1x4 1N4/8*4:3x1x4 "
                                "1A16/50:1x1x12j 1A16/32:1x1x12j 1A16/16:1x1x12j 1A16/8:1x1x12j 1H4/1:3x1x4" },
    };
    static const struct conv_case sixty_four[] = { { 1, 1, 1, 24, 20, 1, 1, "1A16/64:1x1x24 1A16/32:1x1x24 1A16/16:1x1x24 1A16/8:1x1x24 1H4/1:1x1x24" } };
    struct chip chip = small_chip(7);
    chip.conv_units_fp16_fp16 = 50;
    CHECK(fifty, &chip, TYPE_FP16, PARTIALS_FP16, 0);
    chip.conv_units_fp16_fp16 = 64;
    CHECK(sixty_four, &chip, TYPE_FP16, PARTIALS_FP16, 0);
    /* the longest list: the AMP with eight grains of 1024 units and less, of the kernel's elements, its columns, and
     * these for two rows; HMAC twice */
    const struct conv_params p = { .groups = 2, .batch = 2, .in_h = 15, .in_w = 17, .out_h = 15, .out_w = 17, .kernel_h = 3, .kernel_w = 5, .in_chans = 8,
                                   .out_chans = 8, .stride = 1, .type = TYPE_FP16 };
    struct conv_shape s = conv_shape_of_pass(&p, PASS_FORWARD);
    struct candidates list;
    chip.conv_units_fp16_fp16 = 1024;
    conv_candidates(&list, &s, &chip, &(struct op_plan_options){ .partials = PARTIALS_FP16, .available_memory = 0.6 });
    assert_int_equal(list.n, 2 * 8 + 8 + 8 + 2);
}

/* The AMP's input chain takes 16 halves; its 16 units make 16 channels at once, or 8. If channels fill half of the
 * chain, or a quarter, two or four rows of a kernel share a pass. Columns, then all elements, of a kernel may become
 * channels; whole grains of them are laid out before the loop. */
static void test_halves(void **state)
{
    (void)state;
    static const struct conv_case cases[] = {
        { 1, 1, 1, 24, 20, 1, 1, "1A16/16:1x1x24 1A16/8:1x1x24 1H4/1:1x1x24" },
        { 1, 3, 5, 24, 20, 1, 1, "1N16/16:3x5x24 1N16/8:3x5x24 1N16/16:3x1x120j 1N16/8:3x1x120j 1A16/16:1x1x360j 1A16/8:1x1x360j 1H4/1:3x5x24" },
        { 1, 3, 5, 32, 20, 1, 1, "1N16/16:3x5x32 1N16/8:3x5x32 1N16/16:3x1x160jg 1N16/8:3x1x160jg 1A16/16:1x1x480jg 1A16/8:1x1x480jg 1H4/1:3x5x32" },
        { 1, 3, 5, 9, 20, 1, 1, "1N16/16:3x5x9 1N16/8:3x5x9 1N16/16:3x1x45j 1N16/8:3x1x45j 1A16/16:1x1x135j 1A16/8:1x1x135j 1H4/1:3x5x9" },
        { 1, 3, 5, 8, 20, 1, 1, "1N16/16:3x5x8 1N16/8:3x5x8 1N8/16*2:3x5x8 1N8/8*2:3x5x8 1N16/16:3x1x40j 1N16/8:3x1x40j "
                                "1A16/16:1x1x120j 1A16/8:1x1x120j 1H4/1:3x5x8" },
        { 1, 3, 5, 5, 20, 1, 1, "1N16/16:3x5x5 1N16/8:3x5x5 1N8/16*2:3x5x5 1N8/8*2:3x5x5 1N16/16:3x1x25j 1N16/8:3x1x25j "
                                "1A16/16:1x1x75j 1A16/8:1x1x75j 1H4/1:3x5x5" },
        { 1, 3, 5, 4, 20, 1, 1, "1N16/16:3x5x4 1N16/8:3x5x4 1N4/16*4:3x5x4 1N4/8*4:3x5x4 1N16/16:3x1x20j 1N16/8:3x1x20j "
                                "1A16/16:1x1x60j 1A16/8:1x1x60j 1H4/1:3x5x4" },
        { 1, 1, 3, 2, 20, 1, 1, "1N16/16:1x3x2 1N16/8:1x3x2 1A16/16:1x1x6j 1A16/8:1x1x6j 1H4/1:1x3x2" },
        { 1, 3, 1, 2, 20, 1, 1, "1N16/16:3x1x2 1N16/8:3x1x2 1N4/16*4:3x1x2 1N4/8*4:3x1x2 1A16/16:1x1x6j 1A16/8:1x1x6j 1H4/1:3x1x2" },
        { 1, 3, 2, 1, 20, 1, 1, "1N16/16:3x2x1 1N16/8:3x2x1 1N4/16*4:3x2x1 1N4/8*4:3x2x1 1N16/16:3x1x2j 1N16/8:3x1x2j 1N4/16*4:3x1x2j "
                                "1N4/8*4:3x1x2j 1A16/16:1x1x6j 1A16/8:1x1x6j 1H4/1:3x2x1" },
        { 1, 1, 1, 1, 20, 1, 1, "1A16/16:1x1x1 1A16/8:1x1x1 1H4/1:1x1x1 1O1/4:1x1x1" },
        { 3, 1, 1, 1, 20, 1, 1, "3H4/1:1x1x1 3O1/4:1x1x1" },
        { 1, 1, 1, 32, 20, 2, 2, "1A16/16:1x1x32jg 1A16/8:1x1x32jg 1H4/1:1x1x32j" },      /* positions that the stride leaves out are gone */
        { 1, 1, 1, 32, 20, 2, 1, "1A16/16:1x1x32jg 1A16/8:1x1x32jg 1H4/1:1x1x32j" },
        { 1, 1, 1, 32, 20, 1, 2, "1A16/16:1x1x32jg 1A16/8:1x1x32jg 1H4/1:1x1x32j" },
        { 1, 1, 1, 24, 20, 2, 2, "1A16/16:1x1x24j 1A16/8:1x1x24j 1H4/1:1x1x24j" },
    };
    struct chip chip = small_chip(7);
    CHECK(cases, &chip, TYPE_FP16, PARTIALS_FP16, 0);
    CHECK(cases, &chip, TYPE_FP16, PARTIALS_FP16, 1);           /* a chain of 16 is one group of results, so that nothing has to be gathered */
}

/* Groups that fill less than half of the chain are no work for the AMP. Slices take up to four channels, strides of
 * up to two, kernels with several columns: four groups of one or two of two together. HMAC may have columns as channels.
 * */
static void test_groups(void **state)
{
    (void)state;
    static const struct conv_case cases[] = {
        { 3, 3, 5, 8, 8, 1, 1, "3N16/16:3x5x8 3N16/8:3x5x8 3N8/16*2:3x5x8 3N8/8*2:3x5x8 3N16/16:3x1x40j 3N16/8:3x1x40j "
                               "3A16/16:1x1x120j 3A16/8:1x1x120j 3H4/1:3x5x8 3H4/1:3x1x40j" },
        { 3, 3, 5, 7, 8, 1, 1, "3H4/1:3x5x7 3H4/1:3x1x35j" },
        { 3, 3, 1, 7, 8, 1, 1, "3H4/1:3x1x7" },
        { 3, 3, 5, 4, 4, 1, 1, "3S4/4:3x5x4 3H4/1:3x5x4 3H4/1:3x1x20j" },
        { 3, 3, 5, 4, 5, 1, 1, "3H4/1:3x5x4 3H4/1:3x1x20j" },
        { 3, 3, 5, 5, 4, 1, 1, "3H4/1:3x5x5 3H4/1:3x1x25j" },
        { 3, 3, 5, 3, 4, 1, 1, "3S4/4:3x5x3 3H4/1:3x5x3 3H4/1:3x1x15j" },
        { 5, 3, 5, 2, 2, 1, 1, "3S4/4:3x5x4 5H4/1:3x5x2 5H4/1:3x1x10j" },
        { 6, 3, 5, 1, 1, 1, 1, "2S4/4:3x5x4 6H4/1:3x5x1 6H4/1:3x1x5j" },
        { 6, 3, 5, 1, 2, 1, 1, "6S4/4:3x5x1 6H4/1:3x5x1 6H4/1:3x1x5j" },
        { 3, 3, 1, 4, 4, 1, 1, "3H4/1:3x1x4" },
        { 3, 1, 5, 4, 4, 2, 2, "3S4/4:1x5x4 3H4/1:1x5x4 3H4/1:1x1x20j" },
        { 3, 3, 5, 4, 4, 3, 2, "3H4/1:3x5x4 3H4/1:3x1x20j" },
        { 3, 3, 5, 4, 4, 2, 3, "3H4/1:3x5x4 3H4/1:3x1x20j" },
    };
    static const struct conv_case first_generation[] = { { 3, 3, 5, 4, 4, 1, 1, "3H4/1:3x5x4 3H4/1:3x1x20j" } };
    struct chip chip = small_chip(7);
    CHECK(cases, &chip, TYPE_FP16, PARTIALS_FP16, 0);
    chip.conv_units_fp16_fp16 = 15;
    CHECK(first_generation, &chip, TYPE_FP16, PARTIALS_FP16, 0);
}

/* Floats: 8 in the chain, 8 units. Sums in floats: 8 units, two passes for 16. Quarters: 32 in the chain, which lie
 * in two groups of results where there are more than 16, and no other vertex multiplies them. Neither joins kernel elements of channels that are not
 * in fours. */
static void test_other_types(void **state)
{
    (void)state;
    static const struct conv_case floats[] = {
        { 3, 3, 5, 4, 4, 1, 1, "3N8/8:3x5x4 3N8/8:3x1x20j 3A8/8:1x1x60j 3H2/1:3x5x4 3H2/1:3x1x20j" },
        { 3, 3, 5, 3, 3, 1, 1, "3H2/1:3x5x3 3H2/1:3x1x15j" },
        { 1, 3, 5, 4, 20, 1, 1, "1N8/8:3x5x4 1N8/8:3x1x20j 1A8/8:1x1x60j 1H2/1:3x5x4" },
        { 1, 3, 5, 3, 20, 1, 1, "1N8/8:3x5x3 1H2/1:3x5x3" },
        { 1, 1, 1, 1, 20, 1, 1, "1A8/8:1x1x1 1H2/1:1x1x1 1O1/2:1x1x1" },
    }, sums_in_floats[] = { { 1, 1, 1, 24, 20, 1, 1, "1A16/16p2:1x1x24 1A16/8:1x1x24 1H4/1:1x1x24" } }, quarters[] = {
        { 1, 1, 1, 17, 20, 1, 1, "1A32/16:1x1x17g 1A32/8:1x1x17g" },
        { 1, 1, 1, 16, 20, 1, 1, "1A32/16:1x1x16 1A32/8:1x1x16" },
        { 3, 1, 1, 1, 20, 1, 1, "3A32/16:1x1x1 3A32/8:1x1x1" },
        { 1, 3, 1, 4, 20, 1, 1, "1N32/16:3x1x4 1N32/8:3x1x4 1A32/16:1x1x12j 1A32/8:1x1x12j" },
        { 1, 3, 1, 3, 20, 1, 1, "1N32/16:3x1x3 1N32/8:3x1x3" },
    }, quarters_there[] = { { 1, 1, 1, 17, 20, 1, 1, "1A32/16:1x1x17 1A32/8:1x1x17" } };
    struct chip chip = wide_chip(7);
    CHECK(floats, &chip, TYPE_FP32, PARTIALS_FP32, 0);
    CHECK(sums_in_floats, &chip, TYPE_FP16, PARTIALS_FP32, 0);
    CHECK(quarters, &chip, TYPE_FP8, PARTIALS_FP16, 1);
    CHECK(quarters_there, &chip, TYPE_FP8, PARTIALS_FP16, 0);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(test_many_units), cmocka_unit_test(test_halves), cmocka_unit_test(test_groups), cmocka_unit_test(test_other_types) };
TAP_MAIN(tests)
