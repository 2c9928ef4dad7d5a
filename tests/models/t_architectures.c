/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_architectures.c - parameters and multiply-accumulates of each stage, computed from the tables of the papers:
 * widths, kernels and sides of the convolutions of a stage.
 */
#include "tests/built_graph.h"
#include "workloads/models/builders.h"
#include "workloads/models/models.h"

struct sums { uint64_t parameters, mac; };

/* Sums over the layers whose names begin with `begin`. */
static struct sums of_layers(const struct graph *g, const char *begin)
{
    struct sums s = { 0, 0 };
    for (size_t i = 0; i < g->n_forward_ops; i++)
        if (strncmp(g->layers[g->ops[i].layer_id].name, begin, strlen(begin)) == 0)
            s.mac += op_mac(g, &g->ops[i]);
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].role == ROLE_WEIGHT && strncmp(g->layers[g->tensors[i].layer_id].name, begin, strlen(begin)) == 0)
            s.parameters += tensor_elements(&g->tensors[i]);
    return s;
}

static void check(const struct graph *g, const char *name, const char *layers, struct sums want)
{
    struct sums found = of_layers(g, layers);
    if (found.parameters != want.parameters || found.mac != want.mac)
        print_error("%s, %s\n", name, layers);
    assert_int_equal(found.parameters, want.parameters);
    assert_int_equal(found.mac, want.mac);
}

/* A convolution on side x side positions; vectors: biases, or gamma and beta, for each output channel. */
static void add_conv(struct sums *s, uint64_t weights, uint64_t channels, uint64_t vectors, uint64_t side)
{
    s->parameters += weights + vectors * channels;
    s->mac += weights * side * side;
}

/* ---- residual networks: He et al. 2015, table 1; Xie et al. 2016, table 1; the stride of a bottleneck in its 3 x 3 ------------------------ */

/* n units of width c (inner: width of a bottleneck's 3 x 3; 0: two 3 x 3) from `in` channels, with results of side x
 * side. */
static struct sums residual_stage(uint64_t n, uint64_t in, uint64_t c, uint64_t inner, uint64_t groups, uint64_t side, bool halves)
{
    struct sums s = { 0, 0 };
    uint64_t out = inner ? 4 * c : c, before = halves ? 2 * side : side;
    for (uint64_t i = 0; i < n; i++, in = out, before = side) {
        if (inner) {
            add_conv(&s, in * inner, inner, 2, before);
            add_conv(&s, 9 * inner * inner / groups, inner, 2, side);
            add_conv(&s, inner * out, out, 2, side);
        } else {
            add_conv(&s, 9 * in * c, c, 2, side);
            add_conv(&s, 9 * c * c, c, 2, side);
        }
        if (in != out)
            add_conv(&s, in * out, out, 2, side);
    }
    return s;
}

static void residual_stages(void **state)
{
    static const struct { const char *name; uint64_t units[4], inner[4], groups; } nets[] = {
        { "resnet18", { 2, 2, 2, 2 }, { 0 }, 1 }, { "resnet34", { 3, 4, 6, 3 }, { 0 }, 1 },
        { "resnet50", { 3, 4, 6, 3 }, { 64, 128, 256, 512 }, 1 }, { "resnet101", { 3, 4, 23, 3 }, { 64, 128, 256, 512 }, 1 },
        { "resnet152", { 3, 8, 36, 3 }, { 64, 128, 256, 512 }, 1 }, { "resnext50", { 3, 4, 6, 3 }, { 128, 256, 512, 1024 }, 32 },
        { "resnext101", { 3, 4, 23, 3 }, { 128, 256, 512, 1024 }, 32 },
    };
    static const uint64_t widths[] = { 64, 128, 256, 512 }, sides[] = { 56, 28, 14, 7 };
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct graph g;
        struct arena a;
        uint64_t in = 64;
        build(&g, nets[i].name, NULL, &a);
        check(&g, nets[i].name, "stem", (struct sums){ 9408 + 128, 112 * 112 * 9408 });         /* 7 x 7 x 3 x 64 */
        for (int k = 0; k < 4; k++) {
            check(&g, nets[i].name, arena_printf(&a, "stage%d/", k + 1),
                  residual_stage(nets[i].units[k], in, widths[k], nets[i].inner[k], nets[i].groups, sides[k], k > 0));
            in = nets[i].inner[k] ? 4 * widths[k] : widths[k];
        }
        check(&g, nets[i].name, "head", (struct sums){ 1001 * in - in + 1000, 1000 * in });
        arena_free(&a);
    }
}

/* ---- inverted residuals: Tan and Le 2019, table 1, and their code for B1 to B7; Sandler et al. 2018, table 2 ------------------------------ */

struct inverted { const char *name; uint64_t side, stem, channels[7], repeats[7], head; };
static const struct inverted efficientnets[] = {
    { "efficientnet-b0", 224, 32, { 16, 24, 40, 80, 112, 192, 320 }, { 1, 2, 2, 3, 3, 4, 1 }, 1280 },
    { "efficientnet-b1", 240, 32, { 16, 24, 40, 80, 112, 192, 320 }, { 2, 3, 3, 4, 4, 5, 2 }, 1280 },
    { "efficientnet-b2", 260, 32, { 16, 24, 48, 88, 120, 208, 352 }, { 2, 3, 3, 4, 4, 5, 2 }, 1408 },
    { "efficientnet-b3", 300, 40, { 24, 32, 48, 96, 136, 232, 384 }, { 2, 3, 3, 5, 5, 6, 2 }, 1536 },
    { "efficientnet-b4", 380, 48, { 24, 32, 56, 112, 160, 272, 448 }, { 2, 4, 4, 6, 6, 8, 2 }, 1792 },
    { "efficientnet-b5", 456, 48, { 24, 40, 64, 128, 176, 304, 512 }, { 3, 5, 5, 7, 7, 9, 3 }, 2048 },
    { "efficientnet-b6", 528, 56, { 32, 40, 72, 144, 200, 344, 576 }, { 3, 6, 6, 8, 8, 11, 3 }, 2304 },
    { "efficientnet-b7", 600, 64, { 32, 48, 80, 160, 224, 384, 640 }, { 4, 7, 7, 10, 10, 13, 4 }, 2560 },
};
static const struct inverted mobilenets[] = { { "mobilenet-v2", 224, 32, { 16, 24, 32, 64, 96, 160, 320 }, { 1, 2, 3, 4, 3, 3, 1 }, 1280 } };

static uint64_t halved(uint64_t side) { return (side + 1) / 2; }

/* n blocks: widen t times, k x k for each channel, weigh by a quarter of the input channels (weighs), narrow to c; the
 * first one strides. */
static struct sums inverted_stage(uint64_t n, uint64_t in, uint64_t c, uint64_t t, uint64_t k, bool weighs, uint64_t before, uint64_t side)
{
    struct sums s = { 0, 0 };
    for (uint64_t i = 0; i < n; i++, in = c, before = side) {
        uint64_t wide = in * t, few = in / 4;
        if (t > 1)
            add_conv(&s, in * wide, wide, 2, before);
        add_conv(&s, k * k * wide, wide, 2, side);
        if (weighs) {
            add_conv(&s, wide * few, few, 1, 1);
            add_conv(&s, few * wide, wide, 1, 1);
        }
        add_conv(&s, wide * c, c, 2, side);
    }
    return s;
}

static void check_inverted(const struct inverted *nets, size_t n, const uint64_t kernels[7], const bool strides[7], bool weighs)
{
    for (size_t i = 0; i < n; i++) {
        const struct inverted *net = &nets[i];
        struct graph g;
        struct arena a;
        uint64_t in = net->stem, side = halved(net->side);
        build(&g, net->name, NULL, &a);
        check(&g, net->name, "stem", (struct sums){ 27 * in + 2 * in, 27 * in * side * side });
        for (int k = 0; k < 7; k++) {
            uint64_t after = strides[k] ? halved(side) : side;
            check(&g, net->name, arena_printf(&a, "block%d", k + 1),
                  inverted_stage(net->repeats[k], in, net->channels[k], k ? 6 : 1, kernels[k], weighs, side, after));
            in = net->channels[k], side = after;
        }
        struct sums head = { 1001 * net->head - net->head + 1000, 1000 * net->head };
        add_conv(&head, in * net->head, net->head, 2, side);
        check(&g, net->name, "head", head);
        arena_free(&a);
    }
}

static void inverted_stages(void **state)
{
    static const uint64_t mixed[] = { 3, 3, 5, 3, 5, 5, 3 }, threes[] = { 3, 3, 3, 3, 3, 3, 3 };
    static const bool tan_le[] = { false, true, true, true, false, true, false }, sandler[] = { false, true, true, true, false, true, false };
    (void)state;
    check_inverted(efficientnets, sizeof efficientnets / sizeof *efficientnets, mixed, tan_le, true);
    check_inverted(mobilenets, 1, threes, sandler, false);
}

/* ---- VGG: Simonyan and Zisserman 2014, table 1 -------------------------------------------------------------------------------------------- */

static void plain_stages(void **state)
{
    static const struct { const char *name; uint64_t convs[5]; } nets[] = {
        { "vgg11", { 1, 1, 2, 2, 2 } }, { "vgg13", { 2, 2, 2, 2, 2 } }, { "vgg16", { 2, 2, 3, 3, 3 } }, { "vgg19", { 2, 2, 4, 4, 4 } },
    };
    static const uint64_t widths[] = { 64, 128, 256, 512, 512 }, sides[] = { 224, 112, 56, 28, 14 };
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct graph g;
        struct arena a;
        uint64_t in = 3;
        build(&g, nets[i].name, NULL, &a);
        for (int k = 0; k < 5; k++) {
            struct sums s = { 0, 0 };
            for (uint64_t n = 0; n < nets[i].convs[k]; n++, in = widths[k])
                add_conv(&s, 9 * in * widths[k], widths[k], 1, sides[k]);
            check(&g, nets[i].name, arena_printf(&a, "stage%d/", k + 1), s);
        }
        check(&g, nets[i].name, "dense1", (struct sums){ 7 * 7 * 512 * 4096 + 4096, 7 * 7 * 512 * 4096 });
        check(&g, nets[i].name, "dense2", (struct sums){ 4096 * 4096 + 4096, 4096 * 4096 });
        check(&g, nets[i].name, "head", (struct sums){ 4096 * 1000 + 1000, 4096 * 1000 });
        arena_free(&a);
    }
}

/* ---- U-Net: Ronneberger et al. 2015, figure 1 ---------------------------------------------------------------------------------------------- */

/* Two unpadded 3 x 3 convolutions from `in` to c channels; side: pixels after the first. */
static void add_pair(struct sums *s, uint64_t in, uint64_t c, uint64_t side)
{
    add_conv(s, 9 * in * c, c, 1, side);
    add_conv(s, 9 * c * c, c, 1, side - 2);
}

static void unet_levels(void **state)
{
    static const struct { const char *name; uint64_t in, c, side; } downs[] = {
        { "down1", 1, 64, 570 }, { "down2", 64, 128, 282 }, { "down3", 128, 256, 138 }, { "down4", 256, 512, 66 }, { "bottom", 512, 1024, 30 },
    }, ups[] = { { "up4", 1024, 512, 54 }, { "up3", 512, 256, 102 }, { "up2", 256, 128, 198 }, { "up1", 128, 64, 390 } };
    struct graph g;
    struct arena a;
    (void)state;
    build(&g, "unet", NULL, &a);
    for (size_t i = 0; i < sizeof downs / sizeof *downs; i++) {
        struct sums s = { 0, 0 };
        add_pair(&s, downs[i].in, downs[i].c, downs[i].side);
        check(&g, "unet", downs[i].name, s);
    }
    for (size_t i = 0; i < sizeof ups / sizeof *ups; i++) {
        uint64_t below = (ups[i].side + 2) / 2, c = ups[i].c;       /* each pixel below becomes 2 x 2 of half the
                                                                     * channels */
        struct sums s = { 4 * 2 * c * c + c, 4 * 2 * c * c * below * below };
        add_pair(&s, ups[i].in, c, ups[i].side);
        check(&g, "unet", ups[i].name, s);
    }
    check(&g, "unet", "head", (struct sums){ 64 * 2 + 2, 64 * 2 * 388 * 388 });
    arena_free(&a);
}

/* ---- transformers: Dosovitskiy et al. 2020, table 1; Touvron et al. 2020, table 1; Radford et al. 2019, table 2; Devlin et al. 2018 -------- */

/* Queries, keys, values and output of width h, scores and weighted mean over t tokens, and the norm before them; then
 * h to 4 h and back. */
static struct sums attention(uint64_t t, uint64_t h) { return (struct sums){ 4 * (h * h + h) + 2 * h, 4 * t * h * h + 2 * t * t * h }; }
static struct sums feed_forward(uint64_t t, uint64_t h) { return (struct sums){ 8 * h * h + 5 * h + 2 * h, 8 * t * h * h }; }

static void vision_transformers(void **state)
{
    static const struct { const char *name; uint64_t layers, h, patch, tokens; } nets[] = {
        { "vit-s16", 12, 384, 16, 196 }, { "vit-b16", 12, 768, 16, 196 }, { "vit-b32", 12, 768, 32, 49 }, { "vit-l16", 24, 1024, 16, 196 },
        { "vit-l32", 24, 1024, 32, 49 }, { "vit-h14", 32, 1280, 14, 256 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct graph g;
        struct arena a;
        uint64_t n = nets[i].layers, h = nets[i].h, t = nets[i].tokens + 1, weights = nets[i].patch * nets[i].patch * 3 * h;
        struct sums one = attention(t, h), two = feed_forward(t, h);
        build(&g, nets[i].name, NULL, &a);
        check(&g, nets[i].name, "embeddings", (struct sums){ weights + h + h + t * h, weights * nets[i].tokens });      /* bias, class, positions */
        check(&g, nets[i].name, "encoder", (struct sums){ n * (one.parameters + two.parameters), n * (one.mac + two.mac) });
        check(&g, nets[i].name, "head", (struct sums){ 2 * h + 1000 * h + 1000, 1000 * h });
        check(&g, nets[i].name, "encoder1/attention", one);
        check(&g, nets[i].name, arena_printf(&a, "encoder%ju/feed-forward", (uintmax_t)n - 1), two);
        arena_free(&a);
    }
}

static void text_transformers(void **state)
{
    static const struct { const char *name, *layers; uint64_t n, h, positions, vocabulary, tables; } nets[] = {
        { "gpt2-small", "decoder", 12, 768, 1024, 50257, 2 }, { "gpt2-medium", "decoder", 24, 1024, 1024, 50257, 2 }, { "gpt2-large", "decoder", 36, 1280, 1024, 50257, 2 },
        { "gpt2-xl", "decoder", 48, 1600, 1024, 50257, 2 }, { "bert-base", "encoder", 12, 768, 512, 30522, 3 }, { "bert-large", "encoder", 24, 1024, 512, 30522, 3 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct graph g;
        struct arena a;
        uint64_t n = nets[i].n, h = nets[i].h, t = nets[i].positions, v = nets[i].vocabulary;
        bool bert = nets[i].tables == 3;                /* and two segments, and a norm of the sum */
        struct sums one = attention(t, h), two = feed_forward(t, h);
        build(&g, nets[i].name, NULL, &a);
        check(&g, nets[i].name, "embeddings", (struct sums){ (v + t) * h + (bert ? 2 * h + 2 * h : 0), 0 });
        check(&g, nets[i].name, nets[i].layers, (struct sums){ n * (one.parameters + two.parameters), n * (one.mac + two.mac) });
        if (!bert)
            check(&g, nets[i].name, "lm-head", (struct sums){ 2 * h, t * h * v });
        else {
            check(&g, nets[i].name, "mlm-head", (struct sums){ h * h + h + 2 * h + v, 76 * h * (h + v) });
            check(&g, nets[i].name, "nsp-head", (struct sums){ h * h + h + 2 * h + 2, h * h + 2 * h });
        }
        arena_free(&a);
    }
}

/* Tan and Le's published code (params_dict): width, depth, image and dropout. Rounding hides some digits of the depth
 * from the layers. */
static void compound_coefficients(void **state)
{
    static const struct { double width, depth; uint64_t image; double dropout; } published[] = {
        { 1.0, 1.0, 224, 0.2 }, { 1.0, 1.1, 240, 0.2 }, { 1.1, 1.2, 260, 0.3 }, { 1.2, 1.4, 300, 0.3 }, { 1.4, 1.8, 380, 0.4 },
        { 1.6, 2.2, 456, 0.4 }, { 1.8, 2.6, 528, 0.5 }, { 2.0, 3.1, 600, 0.5 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        for (int grouped = 0; grouped < 2; grouped++) {
            char name[40];
            struct err err;
            snprintf(name, sizeof name, "efficientnet-b%zu%s", i, grouped ? "-g16" : "");
            const struct inverted_config *c = workload_find(name, &err)->config;
            assert_int_equal(c->width_tenths, lround(10 * published[i].width));
            assert_int_equal(c->depth_tenths, lround(10 * published[i].depth));
            assert_int_equal(c->image, published[i].image);
            assert_near(c->dropout, published[i].dropout, 0);
            assert_true(c->group == (grouped ? 16 : 1) && c->expansion == (grouped ? 4 : 6));
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(residual_stages), cmocka_unit_test(inverted_stages), cmocka_unit_test(compound_coefficients), cmocka_unit_test(plain_stages), cmocka_unit_test(unet_levels),
    cmocka_unit_test(vision_transformers), cmocka_unit_test(text_transformers),
};
TAP_MAIN(tests)
