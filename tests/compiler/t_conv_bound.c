/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_conv_bound.c - bounds and prices of given splits, digit for digit (tests/golden/conv_bounds.txt).
 *
 * t_conv_search.c tests that no bound is above a price. This test shows a bound that became looser, which costs search
 * time and nothing else, and a worse order of visits: how many branches a search looks into, and how many splits it
 * prices.
 */
#include "tests/golden_text.h"
#include "tests/chip_fixture.h"
#include "system-model/compiler/conv.h"

struct shape_case { const char *name; struct conv_params p; enum op_pass pass; };
static const struct shape_case convs[] = {
    { "3x3 of stride 2", { 1, 3, 15, 15, 8, 8, 3, 3, 48, 40, 2, TYPE_FP16, 0, 1, 1, 1 }, PASS_FORWARD },
    { "its data gradient", { 1, 3, 15, 15, 8, 8, 3, 3, 48, 40, 2, TYPE_FP16, 0, 1, 1, 1 }, PASS_BACKWARD_DATA },
    { "its weight gradient", { 1, 3, 15, 15, 8, 8, 3, 3, 48, 40, 2, TYPE_FP16, 0, 1, 1, 1 }, PASS_BACKWARD_WEIGHT },
    { "7x7 of 3 channels", { 1, 2, 32, 32, 16, 16, 7, 7, 3, 64, 2, TYPE_FP16, 0, 3, 3, 1 }, PASS_FORWARD },
    { "5x5 in floats", { 1, 2, 11, 11, 11, 11, 5, 5, 16, 24, 1, TYPE_FP32, 0, 2, 2, 1 }, PASS_FORWARD },
    { "depthwise", { 24, 2, 13, 13, 13, 13, 3, 3, 1, 1, 1, TYPE_FP16, 0, 1, 1, 1 }, PASS_FORWARD },
    { "depthwise, in two channels and a stride", { 12, 2, 14, 14, 7, 7, 3, 3, 2, 2, 2, TYPE_FP16, 0, 1, 1, 1 }, PASS_FORWARD },
    { "in groups", { 5, 2, 9, 9, 9, 9, 3, 3, 8, 12, 1, TYPE_FP16, 0, 1, 1, 1 }, PASS_FORWARD },
    { "in two thin groups", { 2, 2, 9, 9, 9, 9, 3, 3, 4, 12, 1, TYPE_FP16, 0, 1, 1, 1 }, PASS_FORWARD },
    { "in quarters", { 1, 2, 9, 9, 9, 9, 3, 3, 40, 36, 1, TYPE_FP8, 0, 1, 1, 1 }, PASS_FORWARD },
};
static const struct { const char *name; uint32_t groups, rows, inner, columns; enum data_type type; enum op_pass pass; } products[] = {
    { "product", 1, 130, 200, 90, TYPE_FP16, PASS_FORWARD }, { "its data gradient", 1, 130, 90, 200, TYPE_FP16, PASS_BACKWARD_DATA },
    { "its weight gradient", 1, 200, 130, 90, TYPE_FP16, PASS_BACKWARD_WEIGHT }, { "products in floats", 6, 33, 21, 50, TYPE_FP32, PASS_FORWARD },
    { "outer product", 1, 50, 1, 70, TYPE_FP16, PASS_FORWARD }, { "small products", 9, 40, 3, 5, TYPE_FP16, PASS_FORWARD },
};

static void print_units(FILE *f, const struct conv_candidate *c)
{
    const struct conv_units *u = &c->units;
    const double all[] = { u->turn, u->sync, u->rate, u->bus, u->fixed, u->once, u->positions, u->row, u->row_positions, u->load, u->position,
                           u->channel, u->loads, u->weights, u->weight_copy, u->input, u->thin_input, u->received, u->padding, u->slice,
                           u->results, u->outputs, u->partial_bytes, u->stage, u->exchanged, u->added, u->cast, u->cast_fixed, u->zero,
                           u->by_in, u->by_out };
    const struct conv_shape *s = &c->s;
    fprintf(f, "  %s, grains %ju in %ju out, filter %ju, %ju passes, %s, as %u x [%u, %u, %u, %ju] by %u x %u to %u, input %u x %u; amp %ju in %ju, "
            "%.9g core, %ju load, bytes %ju %ju %ju\n    units", vertex_kind_names[c->vertex], (uintmax_t)c->in_grain, (uintmax_t)c->out_grain,
            (uintmax_t)c->filter_height, (uintmax_t)c->passes, c->gathered ? "gathered" : c->joined ? "joined" : "as it is", s->groups, s->batch, s->field_h, s->field_w, (uintmax_t)s->in_chans,
            s->kernel_h, s->kernel_w, s->out_chans, s->in_h, s->in_w, (uintmax_t)c->amp.units, (uintmax_t)c->amp.in_grain,
            c->amp.core_cycles, (uintmax_t)c->amp.load_cycles, (uintmax_t)c->amp.element_bytes, (uintmax_t)c->amp.partial_bytes,
            (uintmax_t)c->amp.result_bytes);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fprintf(f, " %.9g", all[i]);
    fputc('\n', f);
}

/* Parts of groups, batch, rows, columns of the field, kernel rows, input and output channels, as far as there are so
 * many. */
static const struct { uint64_t groups, batch, rows, columns, kernel, in, out, serial_in, serial_out; } splits[] = {
    { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, { 2, 1, 3, 1, 1, 1, 2, 1, 1 }, { 1, 2, 1, 2, 1, 2, 1, 1, 1 }, { 1, 1, 2, 1, 3, 1, 3, 1, 1 },
    { 3, 1, 5, 1, 1, 4, 1, 1, 1 }, { 1, 1, 2, 1, 1, 1, 1, 2, 1 }, { 1, 1, 2, 1, 1, 2, 2, 1, 2 }, { 1, 1, 1, 1, 2, 3, 2, 2, 1 },
    { 1, 1, 7, 1, 1, 20, 1, 1, 1 }, { 1, 1, 1, 1, 1, 1, 1, 3, 1 }, { 1, 1, 1, 1, 1, 130, 1, 1, 1 },
};

static uint64_t parts(uint64_t n, uint64_t p, uint64_t *part)
{
    p = conv_fewest_parts(n, p, part);
    return p;
}

static struct share share_of(const struct conv_candidate *c, size_t i)
{
    uint64_t ins = ceil_div(c->s.in_chans, c->in_grain), outs = ceil_div(c->s.out_chans, c->out_grain), rows;
    struct share t = conv_whole(c, min_u64(splits[i].serial_in, ins), min_u64(splits[i].serial_out, outs));
    t.p_groups = parts(c->s.groups, splits[i].groups, &t.groups);
    t.p_in = parts(t.in, splits[i].in, &t.in);
    t.p_out = parts(t.out, splits[i].out, &t.out);
    if (c->flat) {
        t.batch = t.width = 1;
        t.p_field = parts(shape_positions(&c->s), splits[i].batch * splits[i].rows * splits[i].columns, &t.height);
        return t;
    }
    t.p_kernel = parts(c->s.kernel_h, splits[i].kernel, &t.kernel_h);
    t.p_batch = parts(c->s.batch, splits[i].batch, &t.batch);
    rows = parts(c->s.field_h, splits[i].rows, &t.height);
    t.p_field = rows * parts(c->s.field_w, splits[i].columns, &t.width);
    return t;
}

/* How many tiles may share a sum, where a plan is to be as good as this split and take no more memory, or 3 times as
 * much of both. */
static void print_shared(FILE *f, const struct search *start, const struct search *alone, const struct conv_candidate *c, const struct share *t)
{
    for (uint64_t times = 1; times <= 3 && t->p_in * t->p_kernel == 1; times += 2) {
        struct search asked = *start;
        asked.best_cycles = times * alone->best_cycles;
        asked.bound_bytes = times * alone->best_cost.temp_bytes;
        struct conv_range range = conv_sum_range(&asked, c, t, 60);
        fprintf(f, "; shared by %.9g to %.9g%s", range.low, range.high, asked.least_over_bytes == UINT64_MAX ? "" : ", others are too large");
    }
}

static void print_split(FILE *f, const struct search *start, const struct conv_candidate *c, size_t i)
{
    struct search alone = *start;
    struct share t = share_of(c, i);
    struct op_plan p;
    alone.best_cycles = alone.bound_bytes = UINT64_MAX;
    if (tiles_in_use(&t) > start->n_tiles)
        return;
    fprintf(f, "    split %zu:", i);
    for (int open = OPEN_FIELD; open <= OPEN_GROUPS; open++) {
        struct least least = conv_least(&alone, c, &t, open % 2 ? 5.5 : 60, (enum open_splits)open);
        fprintf(f, " %.10g/%.10g", least.cycles, least.bytes);
    }
    conv_price(&alone, c, &t);
    const struct conv_cost *k = &alone.best_cost;
    fprintf(f, "\n      %ju: compute %ju exchange %ju supersteps %ju rearrange %ju temp %ju received %ju copied %ju planned %ju", (uintmax_t)alone.best_cycles,
            (uintmax_t)k->compute, (uintmax_t)k->exchange, (uintmax_t)k->supersteps, (uintmax_t)k->rearrange, (uintmax_t)k->temp_bytes,
            (uintmax_t)k->received_bytes, (uintmax_t)k->copied_bytes, (uintmax_t)k->planned_copies);
    print_shared(f, start, &alone, c, &t);
    conv_fill_plan(&p, &alone);
    fprintf(f, "; pays %ju, %ju of it copies; on %u, padded to %ju, %ju B sent, %ju B code, imbalance %.6g\n", (uintmax_t)p.compute_cycles,
            (uintmax_t)p.rearrange_cycles, p.n_tiles_used, (uintmax_t)p.padded_mac,
            (uintmax_t)p.exchanged_bytes, (uintmax_t)op_code_bytes(&p.code), p.imbalance);
}

/* The best split under less and less memory, until only the smallest is left. */
static void print_best(FILE *f, const char *name, const struct conv_shape *s, const struct chip *chip, struct op_plan_options opt)
{
    static const double shares[] = { 0.6, 0.05, 0.01, 0.003, 0.001, 1e-5 };
    fprintf(f, "%s:", name);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct op_plan p;
        opt.available_memory = shares[i];
        struct conv_choice choice;
        conv_plan_search(&p, &choice, s, chip, &opt);
        fprintf(f, "%s %ju branches, %ju priced: %ju+%ju+%ju in %ju B, %s b%u f%u k%u g%u i%u o%u %u %u of %u %u", i ? ";" : "",
                (uintmax_t)choice.effort.n_branches, (uintmax_t)choice.effort.n_priced, (uintmax_t)p.compute_cycles, (uintmax_t)p.exchange_cycles,
                (uintmax_t)p.sync_cycles, (uintmax_t)p.temp_bytes_per_tile, vertex_kind_names[p.vertex], p.split.batch, p.split.field, p.split.kernel,
                p.split.conv_groups, p.split.in_chans, p.split.out_chans, p.split.serial_in, p.split.serial_out, p.split.in_grain, p.split.out_grain);
    }
    fputc('\n', f);
}

/* Every second split of every candidate: the others on the other chip. */
static void print_shape(FILE *f, const char *name, const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct search start = conv_search_start(s, chip, opt);
    struct candidates list;
    print_best(f, name, s, chip, *opt);
    conv_candidates(&list, s, chip, opt);
    for (size_t k = 0; k < list.n; k++) {
        conv_add_units(&list.items[k], &start);
        print_units(f, &list.items[k]);
        for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
            if ((i + k + (opt->partials == PARTIALS_FP32)) % 2 == 0)
                print_split(f, &start, &list.items[k], i);
    }
}

static void print_all(FILE *f, const struct chip *chip, const struct op_plan_options *opt)
{
    for (size_t i = 0; i < sizeof convs / sizeof *convs; i++) {
        struct conv_shape s = conv_shape_of_pass(&convs[i].p, convs[i].pass);
        if (s.type != TYPE_FP8 || chip->mac_fp8_per_cycle)
            print_shape(f, convs[i].name, &s, chip, opt);
    }
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        struct conv_shape s = matmul_conv_shape(products[i].groups, products[i].columns, products[i].inner, products[i].rows, products[i].type,
                                                products[i].pass);
        s.in_elsewhere |= i % 2;
        s.weights_elsewhere |= i == 3;
        print_shape(f, products[i].name, &s, chip, opt);
    }
}

/* Layers as large as models have them, for what the search takes. */
static void print_large(FILE *f, const struct chip *chip, const struct op_plan_options *opt)
{
    static const struct conv_params of_images[] = {
        { 1, 16, 57, 55, 57, 55, 3, 3, 64, 80, 1, TYPE_FP16, 0, 1, 1, 1 }, { 1, 5, 229, 231, 115, 116, 7, 7, 3, 64, 2, TYPE_FP16, 0, 3, 3, 1 },
        { 1152, 7, 14, 14, 14, 14, 5, 5, 1, 1, 1, TYPE_FP16, 0, 2, 2, 1 },
    };
    const struct conv_shape of_text[] = {
        matmul_conv_shape(1, 4096, 1024, 1536, TYPE_FP16, PASS_FORWARD), matmul_conv_shape(1, 30522, 1024, 510, TYPE_FP16, PASS_FORWARD),
        matmul_conv_shape(48, 384, 64, 384, TYPE_FP16, PASS_FORWARD),
    };
    for (size_t i = 0; i < sizeof of_images / sizeof *of_images; i++)
        for (int pass = PASS_FORWARD; pass < N_OP_PASSES; pass++) {
            struct conv_shape s = conv_shape_of_pass(&of_images[i], (enum op_pass)pass);
            print_best(f, "of images", &s, chip, *opt);
        }
    for (size_t i = 0; i < sizeof of_text / sizeof *of_text; i++)
        print_best(f, "of text", &of_text[i], chip, *opt);
}

static void bounds(void **state)
{
    struct arena a = { 0 };
    char *text;
    (void)state;
    struct chip first = small_chip(61), second = wide_chip(1317);
    const struct op_plan_options halves = { .partials = PARTIALS_FP16, .available_memory = 0.6 };
    const struct op_plan_options floats = { .partials = PARTIALS_FP32, .available_memory = 0.1, .n_tiles = 1000 };
    first.planner_copies = COPIES_ESTIMATED;
    PRINTED(text, print_all(f, &first, &halves); print_all(f, &second, &floats); print_large(f, &second, &halves));
    assert_digests(text, "", "tests/golden/conv_bounds.txt", &a);
    free(text);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(bounds) };
TAP_MAIN(tests)
