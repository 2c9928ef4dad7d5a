/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_windows.c - convolutions and pools, borders, and the norms of images: outputs by hand.
 */
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

/* ---- windows ------------------------------------------------------------------------------------------------------- */

/* A convolution as the ONNX operator defines it, with uneven pads, strides and groups. */
static void convolution(void **state)
{
    (void)state;
    struct draft *d = draft_start(11);
    draft_text(d, "x: 1,4,7,5; w = 6,2,3,2; b = 6; "
                  "Conv x w b > y kernel_shape=3,2 strides=2,1 pads=1,0,0,1 group=2 dilations=1,2");
    struct imported *r = import(d, "y", infer);
    assert_false(r->good);
    assert_string_equal(strchr(r->err.msg, ':'), ": node 0, Conv 'n0': dilations of 1 and 2; want the same in both directions");
    done(r);
    d = draft_start(11);
    draft_text(d, "x: 1,4,7,5; w = 6,2,3,2; b = 6; Conv x w b > y kernel_shape=3,2 strides=2,1 pads=1,0,0,1 group=2");
    r = import(d, "y", infer);
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 6 * 3 * 5);     /* (7+1-3)/2+1, (5+1-2)+1 */
    for (uint64_t o = 0; o < 6; o++)
        for (uint64_t i = 0; i < 3; i++)
            for (uint64_t j = 0; j < 5; j++) {
                double sum = draft_noise("b", o);
                for (uint64_t k = 0; k < 12; k++) {
                    uint64_t c = k / 6, p = k / 2 % 3, q = k % 2, h = i * 2 + p - 1, w = j + q;
                    if (h < 7 && w < 5)
                        sum += draft_noise("x", ((o / 3 * 2 + c) * 7 + h) * 5 + w) * draft_noise("w", ((o * 2 + c) * 3 + p) * 2 + q);
                }
                assert_near(y[(o * 3 + i) * 5 + j], sum, 1e-6);
            }
    done(r);
}

/* A single spatial dimension is the width, as in PopLibs: 4 channels of 9 steps, kernel 3, stride 2, one zero before
 * and two after, then a mean of 2. */
static void one_dimension(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: batch,4,9; w = 6,2,3; Conv x w > c kernel_shape=3 strides=2 pads=1,2 group=2; "
                  "AveragePool c > y kernel_shape=2 strides=1");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    const struct tensor *t = &r->g.tensors[r->im.output];
    assert_int_equal(t->dims[1], 1);
    assert_int_equal(t->dims[2], 4);                /* (9 + 3 - 3) / 2 + 1 = 5, less 1 */
    for (uint64_t e = 0; e < 2 * 6 * 4; e++) {
        uint64_t b = e / 24, o = e / 4 % 6;
        double sum = 0;
        for (uint64_t k = 0; k < 12; k++) {
            uint64_t c = k / 3 % 2, at = (e % 4 + k / 6) * 2 + k % 3 - 1;
            if (at < 9)
                sum += draft_noise("x", (b * 4 + o / 3 * 2 + c) * 9 + at) * draft_noise("w", (o * 2 + c) * 3 + k % 3) / 2;
        }
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
}

/* Swin's windows of 2 x 2: six dimensions transposed, a mean over the tokens, and a constant mask. */
static void windowed(void **state)
{
    (void)state;
    struct draft *d = draft_start(18);
    draft_text(d, "x: batch,4,6,5; mask: int64 batch,6; cut = [-1,2,2,3,2,5]; rows = [-1,4,5]; again = [-1,6,4,5]; "
                  "two = [2]; new = [2,3]; w = 5,3");
    draft_number(d, "one", 1);
    draft_number(d, "much", -100);
    draft_text(d, "Reshape x cut > a; Transpose a > b perm=0,1,3,2,4,5; Reshape b rows > c; MatMul c w > m; "
                  "Reshape c again > c4; ReduceMean c4 two > mean keepdims=1; Cast mask > f to=1; Sub one f > g; "
                  "Mul g much > h; Unsqueeze h new > h4; Add mean h4 > y");
    struct imported *r = import(d, "y m", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    const struct tensor *t = &r->g.tensors[r->im.output];
    assert_int_equal(tensor_elements(t), 2 * 6 * 5);
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t c = i % 5, n = i / 5 % 6, b = i / 30, row = n / 3 * 2, column = n % 3 * 2;
        double sum = 0;
        for (uint64_t k = 0; k < 4; k++)
            sum += draft_noise("x", ((b * 4 + row + k / 2) * 6 + column + k % 2) * 5 + c) / 4;
        assert_near(y[i], sum + (1 - (double)((b * 6 + n) * 7 % 5)) * -100, 1e-6);
    }
    done(r);
}

/* A window with a depth, with strides, pads at both ends of the depth and before the rows, and dilation 1 or 2; then a
 * max pool of 2 x 2 x 1. */
static void windows_with_depth(void **state)
{
    (void)state;
    for (int apart = 1; apart < 3; apart++) {
        int deep = apart == 1 ? 3 : 2;          /* (6 + 1 + 1 - 2 apart - 1) / 2 + 1 */
        struct draft *d = draft_start(17);
        draft_text(d, "x: 2,2,6,4,5; w = 3,2,3,2,1; b = 3");
        draft_node(d, "Conv", "x w b", "c", arena_printf(&d->arena, "strides=2,1,1 pads=1,1,0,1,0,0 dilations=%d,1,1", apart));
        draft_node(d, "MaxPool", "c", "y", "kernel_shape=2,2,1");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r), c[2][3][3][4][5];
        assert_int_equal(graph_parameters(&r->g), 3 * 2 * 3 * 2 + 3);
        assert_int_equal(graph_forward_mac(&r->g), 2 * 3 * (deep * 4 * 5) * (2 * 3 * 2));
        for (int i = 0; i < 2 * 3 * deep * 4 * 5; i++) {
            int w = i % 5, h = i / 5 % 4, z = i / 20 % deep, o = i / (20 * deep) % 3, n = i / (60 * deep);
            double sum = draft_noise("b", (uint64_t)o);
            for (int k = 0; k < 2 * 3 * 2; k++) {
                int channel = k / 6, from_z = 2 * z - 1 + apart * (k / 2 % 3), from_h = h - 1 + k % 2;
                if (from_z >= 0 && from_z < 6 && from_h >= 0 && from_h < 4)
                    sum += draft_noise("x", (uint64_t)((((n * 2 + channel) * 6 + from_z) * 4 + from_h) * 5 + w)) * draft_noise("w", (uint64_t)(o * 12 + k));
            }
            c[n][o][z][h][w] = sum;
        }
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 3 * (deep - 1) * 3 * 5);
        for (int i = 0; i < 2 * 3 * (deep - 1) * 3 * 5; i++) {
            int w = i % 5, h = i / 5 % 3, z = i / 15 % (deep - 1), o = i / (15 * (deep - 1)) % 3, n = i / (45 * (deep - 1));
            double most = fmax(fmax(c[n][o][z][h][w], c[n][o][z + 1][h][w]), fmax(c[n][o][z][h + 1][w], c[n][o][z + 1][h + 1][w]));
            assert_near(y[i], most, 1e-6);
        }
        done(r);
    }
}

/* PyTorch exports F.pad as pairs, the last dimension first, which are reversed row by row. (1, 0, 2, 3) is one zero
 * before the columns, two before and three after the rows. */
static void padded(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_text(d, "x: batch,1,2,4; w = 1,1,1,1; zeros = [0,0,0,0]; given = [1,0,2,3]; pairs = [-1,2]; flat = [-1]; "
                  "from = [-1]");
    draft_whole(d, "to", WHOLE(INT64_MIN + 1));
    draft_text(d, "axis = [0]; Concat given zeros > all axis=0; Reshape all pairs > rows; "
                  "Slice rows from to axis from > turned; Transpose turned > columns perm=1,0; "
                  "Reshape columns flat > pads; Pad x pads > y; Conv y w > z kernel_shape=1,1");
    struct imported *r = import(d, "z", infer);
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), (2 + 2 + 3) * (4 + 1));
    for (uint64_t i = 0; i < 35; i++) {
        bool inside = i / 5 >= 2 && i / 5 < 4 && i % 5 >= 1;
        assert_near(y[i], inside ? draft_noise("x", (i / 5 - 2) * 4 + i % 5 - 1) * draft_noise("w", 0) : 0, 1e-7);
    }
    done(r);
}

/* Five numbers padded with three before and six after: reflect, edge, wrap. */
static void borders(void **state)
{
    static const struct border { const char *mode; uint64_t from[14]; } borders[] = {
        { "mode=reflect", { 3, 2, 1, 0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 2 } }, { "mode=edge", { 0, 0, 0, 0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4 } },
        { "mode=wrap", { 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0 } },
    };
    (void)state;
    for (size_t k = 0; k < sizeof borders / sizeof *borders; k++) {
        struct draft *d = draft_start(19);
        draft_text(d, "x: batch,2,5; w = 1,1; beside: batch,1; pads = [0,0,3,0,0,6]");
        draft_node(d, "Pad", "x pads", "y", borders[k].mode);
        draft_node(d, "MatMul", "beside w", "z", "");
        struct imported *r = import(d, "y z", infer);
        double *y = outputs(r);
        for (uint64_t i = 0; i < 28; i++)
            assert_near(y[i], draft_noise("x", i / 14 * 5 + borders[k].from[i % 14]), 1e-7);
        done(r);
    }
}

/* Joins by channel and means over the spatial dimensions keep the layout of images. */
static void images_joined_and_averaged(void **state)
{
    static const struct { const char *x; int64_t axes[2]; size_t n_axes; } cases[] = { { "2,2,4,6", { 2, 3 }, 2 }, { "2,2,24", { 2 }, 1 } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct draft *d = draft_start(18);
        draft_input(d, "x", ONNX_FLOAT, cases[i].x);
        draft_weight(d, "w", i ? 3 : 4, (uint64_t[]){ 3, 2, 1, 1 });
        draft_weight(d, "v", i ? 3 : 4, (uint64_t[]){ 3, 2, 1, 1 });
        draft_whole(d, "spatial", cases[i].n_axes, cases[i].axes);
        draft_text(d, "Conv x w > a; Conv x v > b; Concat a b > ab axis=1; ReduceMean ab spatial > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_true(r->im.output_is_image);
        assert_int_equal(count_kind(&r->g, OP_TRANSPOSE), 1);          /* the input's alone */
        for (uint64_t e = 0; e < 12; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 48; k++)
                sum += draft_noise("x", e / 6 * 48 + k) * draft_noise(e % 6 < 3 ? "w" : "v", e % 3 * 2 + k / 24) / 24;
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
    }
}

/* ---- sampling ------------------------------------------------------------------------------------------------------ */

/* Element of x [2, 3, 4, 5]; outside it is zero, or the element at the border. */
static double element(uint64_t n, uint64_t c, double h, double w, bool border)
{
    double y = fmin(fmax(h, 0), 3), x = fmin(fmax(w, 0), 4);
    return (y == h && x == w) || border ? draft_noise("x", ((n * 3 + c) * 4 + (uint64_t)y) * 5 + (uint64_t)x) : 0;
}

static double between(uint64_t n, uint64_t c, double h, double w, bool border)
{
    double y = floor(h), x = floor(w), sum = 0;
    for (int k = 0; k < 4; k++)
        sum += element(n, c, y + k / 2, x + k % 2, border) * (k / 2 ? h - y : 1 - h + y) * (k % 2 ? w - x : 1 - w + x);
    return sum;
}

/* No cast keeps the type. */
static void assert_casts_change_types(const struct graph *g)
{
    for (size_t i = 0; i < g->n_ops; i++)
        assert_true(g->ops[i].kind != OP_CAST || g->tensors[g->ops[i].inputs[0]].type != g->tensors[g->ops[i].outputs[0]].type);
}

/* Two images with six places each, some outside; with and without align_corners, for each padding and mode. */
static void grid_samples(void **state)
{
    (void)state;
    for (int way = 0; way < 16; way++) {
        bool corners = way & 1, border = way & 2, nearest = way & 4;
        struct draft *d = draft_start(17);
        draft_text(d, "x: batch,3,4,5; grid: batch,2,3,2");
        draft_number(d, "three", 3);
        draft_text(d, "w = 1,1; beside: batch,1; Mul grid three > wide");
        draft_node(d, "GridSample", "x wide", "y",
                   arena_printf(&d->arena, "align_corners=%d padding_mode=%s mode=%s", corners, border ? "border" : "zeros", nearest ? "nearest" : "bilinear"));
        draft_node(d, "MatMul", "beside w", "z", "");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2, .type = way & 8 ? TYPE_FP32 : TYPE_FP16 });
        double *y = outputs(r);
        assert_casts_change_types(&r->g);
        for (uint64_t i = 0; i < 36; i++) {
            uint64_t n = i / 18, c = i / 6 % 3, k = n * 6 + i % 6;
            double gx = 3 * draft_noise("grid", k * 2), gy = 3 * draft_noise("grid", k * 2 + 1);
            double w = corners ? (gx + 1) / 2 * 4 : ((gx + 1) * 5 - 1) / 2, h = corners ? (gy + 1) / 2 * 3 : ((gy + 1) * 4 - 1) / 2;
            assert_near(y[i], nearest ? element(n, c, nearbyint(h), nearbyint(w), border) : between(n, c, h, w, border), 1e-5);
        }
        assert_int_equal(r->g.n_rough_ops, 0);
        done(r);
    }
}

/* Three regions of two images, the last partly outside, in bins of 2 x 1, each the mean of 2 x 2 points. */
static void regions(void **state)
{
    static const double corners[3][4] = { { 1, 0.5, 7.5, 5.25 }, { 2, 3, 2.5, 3.5 }, { -6, -4, 12, 11 } };
    static const uint64_t image[] = { 1, 0, 1 };
    (void)state;
    for (int way = 0; way < 4; way++) {
        int half = way % 2;
        struct draft *d = draft_start(16);
        draft_input(d, "x", ONNX_FLOAT, "batch,3,4,5");
        draft_operand(d, "corners", (char[]){ "~3x4:1,0.5,7.5,5.25,2,3,2.5,3.5,-6,-4,12,11" });
        draft_operand(d, "image", (char[]){ "=1,0,1" });
        draft_text(d, "w = 1,1; beside: batch,1");
        draft_node(d, "RoiAlign", "x corners image", "y", arena_printf(&d->arena, "output_height=2 output_width=1 sampling_ratio=2 spatial_scale=0.5 "
                   "coordinate_transformation_mode=%s", half ? "half_pixel" : "output_half_pixel"));
        draft_node(d, "MatMul", "beside w", "z", "");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2, .type = way > 1 ? TYPE_FP32 : TYPE_FP16 });
        double *y = outputs(r);
        assert_casts_change_types(&r->g);
        for (uint64_t i = 0; i < 18; i++) {
            const double *at = corners[i / 6];
            double wide = (at[2] - at[0]) / 2, high = (at[3] - at[1]) / 2, sum = 0;
            wide = half ? wide : fmax(wide, 1);
            high = half ? high : fmax(high, 1);
            for (int k = 0; k < 4; k++) {
                double h = at[1] / 2 + high * ((double)(i % 2 * 2) + k / 2 + 0.5) / 4 - half * 0.5, w = at[0] / 2 + wide * (k % 2 + 0.5) / 2 - half * 0.5;
                bool out = h < -1 || h > 4 || w < -1 || w > 5;
                sum += out ? 0 : between(image[i / 6], i / 2 % 3, fmin(fmax(h, 0), 3), fmin(fmax(w, 0), 4), true) / 4;
            }
            assert_near(y[i], sum, 1e-5);
        }
        done(r);
    }
}

/* ---- norms --------------------------------------------------------------------------------------------------------- */

/* Batch norm in inference: folded into the convolution before it, bias included, or a factor and an addend; also
 * followed by Caffe's scale layer. */
static void batch_norm(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        bool folded = i > 0, biased = i > 1;
        struct draft *d = draft_start(9);
        draft_text(d, "x: 1,3,4,4; w = 3,3,1,1; s = 3; b = 3; mean = 3; bias = 3; two = 3,1,1; shift = 3,1,1");
        Onnx__TensorProto *v = draft_tensor(d, "v", ONNX_FLOAT, DIMS(3));
        v->n_float_data = 3;
        v->float_data = (float[]){ 1.5f, 2.25f, 0.75f };
        draft_node(d, "Conv", biased ? "x w bias" : folded ? "x w" : "n w", folded ? "c" : "y", "kernel_shape=1,1");
        Onnx__NodeProto *conv = d->nodes[0];
        d->graph.n_node = 0;
        if (folded)
            d->nodes[d->graph.n_node++] = conv;
        draft_node(d, "BatchNormalization", folded ? "c s b mean v" : "x s b mean v", "n1", "epsilon=0.125");
        draft_node(d, "Mul", "n1 two", "n2", "");
        draft_node(d, "Add", "n2 shift", folded ? "y" : "n", "");
        if (!folded)
            d->nodes[d->graph.n_node++] = conv;
        struct imported *r = import(d, "y", infer);
        double *y = outputs(r), var[] = { 1.5, 2.25, 0.75 };
        assert_int_equal(count_kind(&r->g, OP_MUL), folded ? 0 : 1);
        for (uint64_t o = 0; o < 3; o++)
            for (uint64_t k = 0; k < 16; k++) {
                double sum = biased ? draft_noise("bias", o) : 0;
                for (uint64_t c = 0; c < 3; c++) {
                    uint64_t n = folded ? o : c;
                    double x = draft_noise("x", c * 16 + k);
                    double norm = ((folded ? 0 : x) - draft_noise("mean", n)) / sqrt(var[n] + 0.125) * draft_noise("s", n) + draft_noise("b", n);
                    if (!folded)
                        sum += (norm * draft_noise("two", n) + draft_noise("shift", n)) * draft_noise("w", o * 3 + c);
                    else
                        sum += x * draft_noise("w", o * 3 + c);
                }
                if (folded)
                    sum = ((sum - draft_noise("mean", o)) / sqrt(var[o] + 0.125) * draft_noise("s", o) + draft_noise("b", o)) * draft_noise("two", o) +
                          draft_noise("shift", o);
                assert_near(y[o * 16 + k], sum, 1e-6);
            }
        done(r);
    }
}

/* TensorFlow's layer norm, x f + (beta - mean f), is one operation, unless others read its mean. */
static void norms_by_factor(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        struct draft *d = draft_start(11);
        draft_text(d, "x: batch,5; gamma = 5; beta = 5; w = 5,5");
        draft_number(d, "epsilon", 0.25);
        draft_text(d, "ReduceMean x > mean axes=-1; Sub x mean > less; Mul less less > squared; "
                      "ReduceMean squared > variance axes=-1; Add variance epsilon > above; Sqrt above > root; "
                      "Reciprocal root > one_by; Mul gamma one_by > f; Mul f x > xf; Mul mean f > mf; "
                      "Sub beta mf > shift; Add xf shift > n; MatMul n w > product");
        draft_node(d, "Add", read ? "product mean" : "product x", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2, .type = TYPE_FP32 });
        double *y = outputs(r);
        assert_int_equal(count_kind(&r->g, OP_LAYER_NORM), !read);
        for (uint64_t e = 0; e < 10; e++) {
            double mean = 0, variance = 0, sum = 0;
            for (uint64_t k = 0; k < 5; k++)
                mean += draft_noise("x", e / 5 * 5 + k) / 5;
            for (uint64_t k = 0; k < 5; k++)
                variance += pow(draft_noise("x", e / 5 * 5 + k) - mean, 2) / 5;
            for (uint64_t k = 0; k < 5; k++)
                sum += ((draft_noise("x", e / 5 * 5 + k) - mean) / sqrt(variance + 0.25) * draft_noise("gamma", k) + draft_noise("beta", k)) *
                       draft_noise("w", k * 5 + e % 5);
            assert_near(y[e], sum + (read ? mean : draft_noise("x", e)), 1e-6);
        }
        done(r);
    }
}

/* PyTorch writes a group norm as an instance norm of reshaped channels, then a gain and a bias by channel. */
static void group_norms(void **state)
{
    (void)state;
    float constants[2][6] = { { 1, 1, 1, 1, 1, 1 }, { 0 } };
    for (int64_t groups = 1; groups <= 6; groups += groups == 3 ? 3 : 1) {
        struct draft *d = draft_start(14);
        draft_text(d, "x: 2,6,4,3; w = 6,6,1,1");
        draft_whole(d, "apart", WHOLE(0, groups, -1));
        draft_whole(d, "together", WHOLE(2, 6, 4, 3));
        for (int i = 0; i < 2; i++) {
            Onnx__TensorProto *t = draft_tensor(d, i ? "zeros" : "ones", ONNX_FLOAT, DIMS((uint64_t)groups));
            t->n_float_data = (size_t)groups;
            t->float_data = constants[i];
        }
        draft_text(d, "gain = 6,1,1; bias = 6,1,1; Conv x w > c; Reshape c apart > g; "
                      "InstanceNormalization g ones zeros > n epsilon=0.25; Reshape n together > t; "
                      "Mul t gain > m; Add m bias > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_GROUP_NORM), 1);
        assert_int_equal(count_kind(&r->g, OP_MUL) + count_kind(&r->g, OP_BIAS_ADD) + count_kind(&r->g, OP_ADD), 0);
        const struct op *norm = r->g.ops;
        while (norm->kind != OP_GROUP_NORM)
            norm++;
        assert_int_equal(norm->at->norm_groups, groups);
        assert_near(norm->at->epsilon, 0.25, 0);
        assert_string_equal(r->g.tensors[norm->inputs[1]].name, "gain");
        assert_string_equal(r->g.tensors[norm->inputs[2]].name, "bias");
        done(r);
    }
}

/* A layer norm in pieces is fused only over the last dimension, however the axis is written. */
static void layer_norms_of_axes(void **state)
{
    static const struct { const char *mean, *variance; uint32_t n_norms; } cases[] = {
        { "axes=-1", "axes=-1", 1 }, { "axes=2", "axes=-1", 1 }, { "axes=-1", "axes=2", 1 }, { "axes=1", "axes=1", 0 },
        { "axes=1", "axes=-1", 0 }, { "axes=2", "axes=1", 0 }, { "axes=1,2", "axes=1,2", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(14);
        draft_text(d, "x: 2,3,4; w = 4,5");
        draft_number(d, "small", 0.25);
        draft_number(d, "two", 2);
        draft_node(d, "ReduceMean", "x", "mean", cases[i].mean);
        draft_text(d, "Sub x mean > less; Pow less two > squares");
        draft_node(d, "ReduceMean", "squares", "variance", cases[i].variance);
        draft_text(d, "Add variance small > more; Sqrt more > root; Div less root > n; MatMul n w > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_LAYER_NORM), cases[i].n_norms);
        done(r);
    }
}

/* A volume of twice the size, nearest: two operations, along the depth and then in the slices; one, if the depth
 * stays. */
static void volumes_of_other_sizes(void **state)
{
    (void)state;
    for (uint64_t deep = 1; deep <= 2; deep++) {
        struct draft *d = draft_start(13);
        draft_text(d, "x: 1,5,3,4,2; w = 5,5,1,1,1");
        draft_whole(d, "sizes", WHOLE(1, 5, 3 * (int64_t)deep, 8, 4));
        draft_text(d, "Resize x - - sizes > y mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor; "
                      "Conv x w > z");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true });
        double *v = outputs(r);
        assert_int_equal(count_kind(&r->g, OP_RESIZE), deep);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 5 * 3 * deep * 8 * 4);
        for (uint64_t i = 0; i < 5 * 3 * deep * 8 * 4; i++)
            assert_near(v[i], draft_noise("x", ((i / (96 * deep) * 3 + i / 32 % (3 * deep) / deep) * 4 + i / 4 % 8 / 2) * 2 + i % 4 / 2), 1e-6);
        done(r);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(convolution), cmocka_unit_test(one_dimension), cmocka_unit_test(windowed),
    cmocka_unit_test(windows_with_depth), cmocka_unit_test(padded), cmocka_unit_test(borders), cmocka_unit_test(grid_samples), cmocka_unit_test(regions), cmocka_unit_test(images_joined_and_averaged),
    cmocka_unit_test(batch_norm), cmocka_unit_test(norms_by_factor), cmocka_unit_test(group_norms),
    cmocka_unit_test(layer_norms_of_axes), cmocka_unit_test(volumes_of_other_sizes),
};
TAP_MAIN(tests)
