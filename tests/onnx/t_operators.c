/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_operators.c - operators on elements and rows, and operators that become several operations: outputs by hand.
 */
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

/* ---- one or a few operations each ---------------------------------------------------------------------------------- */

/* Broadcasts of [2, 3, 4], [4] and [2, 1, 1], a scalar, and a reshape: y = ((x - a) * b + 2) as [2, 12]. */
static void arithmetic(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: batch,3,4; b: batch,1,1; a = 4; m = 12,5");
    draft_number(d, "two", 2);
    draft_text(d, "shape = [0,-1]; Sub a x > ax; Mul ax b > axb; Sub two axb > y; Reshape y shape > flat; "
                  "MatMul flat m > z");
    struct imported *r = import(d, "z", (struct onnx_options){ .inference = true, .batch = 2 });
    double *z = outputs(r);
    for (uint64_t s = 0; s < 2; s++)
        for (uint64_t j = 0; j < 5; j++) {
            double sum = 0;
            for (uint64_t k = 0; k < 12; k++)
                sum += (2 - (draft_noise("a", k % 4) - draft_noise("x", s * 12 + k)) * draft_noise("b", s)) * draft_noise("m", k * 5 + j);
            assert_near(z[s * 5 + j], sum, 1e-6);
        }
    done(r);
}

/* Products with a vector on either side, limits that are tensors, Where of two numbers, Trilu, GatherElements. */
static void small_operators(void **state)
{
    (void)state;
    struct draft *d = draft_start(18);
    draft_text(d, "x: batch,3,5; at: int64 batch,3,2; v = 5; low = 3,1");
    draft_number(d, "yes", 2.5);
    draft_number(d, "no", -1.25);
    draft_text(d, "k = [-1]; apart = [1,2]; MatMul x v > xv; Unsqueeze xv k > column; Clip x low column > clipped; "
                  "Greater clipped low > above; Where above yes no > chosen; Squeeze k > diagonal; "
                  "Trilu x diagonal > upper upper=1; GatherElements upper at > picked axis=-1; "
                  "ReduceSum picked k > sums; Add chosen sums > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    for (uint64_t e = 0; e < 30; e++) {
        uint64_t b = e / 15, i = e / 5 % 3;
        double product = 0, sum = 0, low = draft_noise("low", i);
        for (uint64_t k = 0; k < 5; k++)
            product += draft_noise("x", b * 15 + i * 5 + k) * draft_noise("v", k);
        double clipped = fmin(fmax(draft_noise("x", e), low), product);
        for (uint64_t k = 0; k < 2; k++) {
            uint64_t at = ((b * 3 + i) * 2 + k) * 7 % 5;
            sum += at + 1 >= i ? draft_noise("x", b * 15 + i * 5 + at) : 0;
        }
        assert_near(y[e], (clipped > low ? 2.5 : -1.25) + sum, 1e-6);
    }
    done(r);
}

/* Both parts of a constant that is split are known: y = x w + (3, 4) - (1, 2) = x w + 2. */
static void parts_of_numbers(void **state)
{
    (void)state;
    struct draft *d = draft_start(16);
    draft_text(d, "x: batch,3; w = 3,2; numbers = [1,2,3,4]; Cast numbers > floats to=1; Split floats > p q; "
                  "MatMul x w > h; Add h q > more; Sub more p > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    for (uint64_t e = 0; e < 4; e++) {
        double want = 2;
        for (uint64_t k = 0; k < 3; k++)
            want += draft_noise("x", e / 2 * 3 + k) * draft_noise("w", k * 2 + e % 2);
        assert_near(y[e], want, 1e-6);
    }
    done(r);
}

/* One-hot of two and of three columns. */
static void one_hot(void **state)
{
    (void)state;
    for (int64_t depth = 2; depth < 4; depth++) {
        struct draft *d = draft_start(16);
        draft_input(d, "at", ONNX_INT64, "2,5");
        draft_constant(d, "depth", arena_printf(&d->arena, "='%jd", (intmax_t)depth));
        draft_constant(d, "off-on", "~0.25,2");
        draft_text(d, "beside: 2,1; one = 1,1; OneHot at depth off-on > y; MatMul beside one > z");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t e = 0; e < 10 * (uint64_t)depth; e++)
            assert_near(y[e], e / (uint64_t)depth * 7 % 5 == e % (uint64_t)depth ? 2 : 0.25, 1e-9);
        done(r);
    }
}

/* Slopes by channel for images, else by the last dimension; a vector of slopes is by channel if only the channels
 * match its length. */
static void slopes(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        bool image = way == 1;
        struct draft *d = draft_start(16);
        draft_text(d, "x: 2,2,4,6; u = 2; w = 3,2,1,1; s = 3,1,1; v = 6; beside: 2,1; one = 1,1; Conv x w > c");
        draft_node(d, "PRelu", image ? "c s" : way ? "x u" : "x v", "y", "");
        draft_node(d, "MatMul", "beside one", "z", "");
        struct imported *r = import(d, image ? "y z" : "y z c", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_true(r->im.output_is_image == (way > 0));
        for (uint64_t e = 0; e < (image ? 144 : 96); e++) {
            double x = image ? 0 : draft_noise("x", e), slope = image ? draft_noise("s", e / 24 % 3) : way ? draft_noise("u", e / 24 % 2) : draft_noise("v", e % 6);
            for (uint64_t c = 0; image && c < 2; c++)
                x += draft_noise("x", (e / 72 * 2 + c) * 24 + e % 24) * draft_noise("w", e / 24 % 3 * 2 + c);
            assert_near(y[e], fmax(x, 0) + slope * fmin(x, 0), 1e-6);
        }
        done(r);
    }
}

/* Tile broadcasts dimensions of size 1, and concatenates copies along others. */
static void repeated(void **state)
{
    static const struct { int64_t times[3]; uint32_t n_expands, n_copies; } cases[] = {
        { { 1, 2, 1 }, 1, 0 }, { { 1, 3, 1 }, 1, 0 }, { { 1, 1, 2 }, 0, 1 }, { { 2, 1, 1 }, 0, 1 }, { { 2, 2, 3 }, 1, 2 }, { { 1, 1, 1 }, 0, 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t rows = (uint64_t)cases[i].times[1], columns = 3 * (uint64_t)cases[i].times[2], n = 2 * (uint64_t)cases[i].times[0] * rows * columns;
        struct draft *d = draft_start(18);
        draft_text(d, "x: 2,1,3; beside: 2,1; w = 1,1");
        draft_whole(d, "times", 3, cases[i].times);
        draft_text(d, "Tile x times > y; MatMul beside w > z");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(count_kind(&r->g, OP_EXPAND), cases[i].n_expands);
        assert_int_equal(count_kind(&r->g, OP_CONCAT), cases[i].n_copies);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), n);
        for (uint64_t e = 0; e < n; e++)
            assert_near(y[e], draft_noise("x", e / (rows * columns) % 2 * 3 + e % columns % 3), 1e-6);
        done(r);
    }
}

/* A reshape whose sizes follow from part of a shape, a size, a triangle and a join along the second dimension. */
static void shape_arithmetic(void **state)
{
    (void)state;
    struct draft *d = draft_start(15);
    draft_text(d, "x: batch,2,3,4; w = 24,3; ones = [1,1,1,1]; two = [2,2]; zero = [0]; three = [3]");
    draft_node(d, "Shape", "x", "part", "start=-3 end=-1");         /* 2, 3 */
    draft_text(d, "Size part > two0; Reshape ones two > square");
    draft_node(d, "Trilu", "square", "lower", "upper=0");           /* 1 0; 1 1 */
    draft_node(d, "Concat", "square lower", "wide", "axis=1");      /* 1 1 1 0; 1 1 1 1 */
    draft_node(d, "ReduceProd", "wide", "none", "keepdims=0");      /* 0 */
    draft_text(d, "ReduceProd part > six keepdims=0; Mul six two0 > twelve; Mul twelve two0 > all; "
                  "Add all none > columns; Unsqueeze columns zero > last; Gather last zero > again");
    draft_node(d, "Concat", "zero again", "flat", "axis=0");        /* 0 means the batch as it is, 24 */
    draft_text(d, "Reshape x flat > rows; MatMul rows w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 6);
    for (uint64_t e = 0; e < 6; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 24; k++)
            sum += draft_noise("x", e / 3 * 24 + k) * draft_noise("w", k * 3 + e % 3);
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
}

static void draft_bytes(struct draft *d, const char *name, int type, size_t n_dims, const uint64_t *dims, const int32_t *numbers)
{
    Onnx__TensorProto *t = draft_tensor(d, name, type, n_dims, dims);
    for (t->n_int32_data = 1; n_dims > 0; n_dims--)
        t->n_int32_data *= dims[n_dims - 1];
    t->int32_data = ARENA_ARRAY(&d->arena, int32_t, t->n_int32_data);
    memcpy(t->int32_data, numbers, t->n_int32_data * sizeof *numbers);
}

/* QDQ: x to bytes in steps of 1/8, limited to 0 to 255, and back; a matrix of bytes with a scale for each column or
 * row counts as floats. */
static void quantised_by(uint64_t axis)
{
    static const int32_t zero[] = { 3 }, bytes[] = { -128, 127, 5, -7, 11, 64 }, zeros[] = { 1, -2, 4 };
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "batch,3");
    draft_number(d, "scale", 0.125);
    draft_bytes(d, "zero", ONNX_UINT8, 0, NULL, zero);
    draft_bytes(d, "matrix", ONNX_INT8, DIMS(3, 2), bytes);
    draft_bytes(d, "zeros", ONNX_INT8, DIMS(3 - axis), zeros);
    draft_weight(d, "scales", DIMS(3 - axis));
    draft_text(d, "QuantizeLinear x scale zero > q; DequantizeLinear q scale zero > f");
    draft_node(d, "DequantizeLinear", "matrix scales zeros", "w", axis ? "axis=1" : "axis=0");
    draft_node(d, "MatMul", "f w", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 4 });
    double *y = outputs(r);
    for (uint64_t i = 0; i < 8; i++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++) {
            double q = fmin(fmax(nearbyint(draft_noise("x", i / 2 * 3 + k) * 8) + 3, 0), 255);
            uint64_t at = axis ? i % 2 : k;
            sum += (q - 3) * 0.125 * (bytes[k * 2 + i % 2] - zeros[at]) * draft_noise("scales", at);
        }
        assert_near(y[i], sum, 1e-6);
    }
    assert_int_equal(graph_parameters(&r->g), 3 * 2);
    assert_int_equal(r->g.n_rough_ops, 0);
    done(r);
}

static void quantised_and_back(void **state)
{
    (void)state;
    quantised_by(1);
    quantised_by(0);
}

/* Each type, with and without a zero point, limits -0.5 to 0.5 at both ends, as the steps are too small for either. */
static void quantised_types(void **state)
{
    static const struct { int type; double scale, zero, least, most; } types[] = {
        { ONNX_UINT8, 0.001953125, 7, 0, 255 }, { ONNX_INT8, 0.001953125, -5, -128, 127 }, { ONNX_UINT16, 3.814697265625e-06, 9, 0, 65535 },
        { ONNX_INT16, 3.814697265625e-06, 11, -32768, 32767 }, { ONNX_UINT8, 0.001953125, 0, 0, 255 },
    };
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const int32_t zero = (int32_t)types[t].zero;
        uint64_t n_cut = 0;
        struct draft *d = draft_start(21);
        draft_input(d, "x", ONNX_FLOAT, "batch,40");
        draft_number(d, "scale", types[t].scale);
        if (zero)
            draft_bytes(d, "zero", types[t].type, 0, NULL, &zero);
        draft_node(d, "QuantizeLinear", zero ? "x scale zero" : "x scale", "q", "");
        draft_node(d, "DequantizeLinear", zero ? "q scale zero" : "q scale", "y", "");
        draft_text(d, "w = 1,1; beside: batch,1; MatMul beside w > z");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t i = 0; i < 80; i++) {
            double q = nearbyint(draft_noise("x", i) / types[t].scale) + zero, kept = fmin(fmax(q, types[t].least), types[t].most);
            n_cut += q > types[t].most || q < types[t].least;
            assert_near(y[i], (kept - zero) * types[t].scale, 1e-9);
        }
        assert_true(n_cut > 10 && n_cut < 70);
        done(r);
    }
}

/* Operations that only the last of several outputs needs are made. */
static void later_outputs(void **state)
{
    (void)state;
    struct draft *d = draft_start(18);
    draft_text(d, "x: batch,6; w = 2,1; sizes = [3,1,2]; Exp x > e; Split e sizes > a b c axis=1; MatMul c w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    for (uint64_t i = 0; i < 2; i++)
        assert_near(y[i], exp(draft_noise("x", i * 6 + 4)) * draft_noise("w", 0) + exp(draft_noise("x", i * 6 + 5)) * draft_noise("w", 1), 1e-6);
    done(r);
}

/* ---- several operations each --------------------------------------------------------------------------------------- */

#define X(b, i, j, k) draft_noise("x", (((b) * 3 + (i)) * 4 + (j)) * 5 + (k))

/* x [2, 3, 4, 5] through one node; the callers compute what its n results must be. */
static double *through(const char *op, const char *more, const char *attributes, uint64_t n, struct imported **r)
{
    struct draft *d = draft_start(18);
    draft_text(d, "x: batch,3,4,5; apart = [1,3]; from = [1]; to = [5]; last = [3]; two = [2]; m = 5,2,3; w = 1,1; "
                  "beside: batch,1");
    draft_node(d, op, more, "y", attributes);
    draft_node(d, "MatMul", "beside w", "z", "");
    *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(*r);
    assert_int_equal(tensor_elements(&(*r)->g.tensors[(*r)->im.output]), n);
    return y;
}

static void composed(void **state)
{
    struct imported *r;
    (void)state;
    double *y = through("ReduceLogSumExp", "x apart", "keepdims=0", 2 * 4, &r);     /* axes that are not neighbours */
    for (uint64_t e = 0; e < 8; e++) {
        double sum = 0;
        for (uint64_t n = 0; n < 15; n++)
            sum += exp(X(e / 4, n / 5, e % 4, n % 5));
        assert_near(y[e], log(sum), 1e-6);
    }
    done(r);
    y = through("Softmax", "x", "axis=2", 120, &r);
    for (uint64_t e = 0; e < 120; e++) {
        double sum = 0;
        for (uint64_t j = 0; j < 4; j++)
            sum += exp(X(e / 60, e / 20 % 3, j, e % 5));
        assert_near(y[e], exp(draft_noise("x", e)) / sum, 1e-6);
    }
    done(r);
    y = through("Slice", "x from to last two", "", 2 * 3 * 4 * 2, &r);              /* elements 1 and 3 of five */
    for (uint64_t e = 0; e < 48; e++)
        assert_near(y[e], X(e / 24, e / 8 % 3, e / 2 % 4, 1 + 2 * (e % 2)), 1e-9);
    done(r);
    y = through("ArgMin", "x", "axis=1 keepdims=0", 2 * 4 * 5, &r);
    for (uint64_t e = 0; e < 40; e++) {
        uint64_t at = 0;
        for (uint64_t i = 1; i < 3; i++)
            at = X(e / 20, i, e / 5 % 4, e % 5) < X(e / 20, at, e / 5 % 4, e % 5) ? i : at;
        assert_near(y[e], (double)at, 1e-9);
    }
    done(r);
    y = through("CumSum", "x two", "reverse=1 exclusive=1", 120, &r);
    for (uint64_t e = 0; e < 120; e++) {
        double sum = 0;
        for (uint64_t j = e / 5 % 4 + 1; j < 4; j++)
            sum += X(e / 60, e / 20 % 3, j, e % 5);
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
}

static double f_selu(double x) { return 1.5 * (x > 0 ? x : 0.7 * (exp(x) - 1)); }
static double f_celu(double x) { return x > 0 ? x : 0.7 * (exp(x / 0.7) - 1); }
static double f_mish(double x) { return x * tanh(log(1 + exp(x))); }
static double f_softsign(double x) { return x / (1 + fabs(x)); }
static double f_thresholded(double x) { return x > 0.125 ? x : 0; }
static double f_sign(double x) { return x > 0 ? 1 : -1; }
static double f_is_inf(double x) { (void)x; return 0; }

static double f_swish(double x) { return x / (1 + exp(-0.7 * x)); }

/* Functions composed of others. */
static void composed_functions(void **state)
{
    static const struct { const char *op, *attributes; double (*f)(double x); } rows[] = {
        { "Selu", "alpha=0.7 gamma=1.5", f_selu }, { "Celu", "alpha=0.7", f_celu }, { "Mish", "", f_mish }, { "Softsign", "", f_softsign },
        { "ThresholdedRelu", "alpha=0.125", f_thresholded }, { "Floor", "", floor }, { "Ceil", "", ceil }, { "Round", "", nearbyint },
        { "Swish", "alpha=0.7", f_swish }, { "Sign", "", f_sign }, { "IsInf", "", f_is_inf }, { "IsNaN", "", f_is_inf },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct imported *r;
        double *y = through(rows[i].op, "x", rows[i].attributes, 120, &r);
        for (uint64_t e = 0; e < 120; e++)
            assert_near(y[e], rows[i].f(draft_noise("x", e)), 1e-6);
        done(r);
    }
}

/* x / sqrt(mean of x^2 + 1/8) g over the last two of [2, 3, 4, 5]. */
static void root_mean_squares(void **state)
{
    (void)state;
    struct draft *d = draft_start(23);
    draft_text(d, "x: 2,3,4,5; u: 2,1; v = 1,2; g = 4,5; RMSNormalization x g > y axis=2 epsilon=0.125; MatMul u v > z");
    struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    for (uint64_t e = 0; e < 120; e++) {
        double squares = 0;
        for (uint64_t k = 0; k < 20; k++)
            squares += pow(draft_noise("x", e / 20 * 20 + k), 2);
        assert_near(y[e], draft_noise("x", e) / sqrt(squares / 20 + 0.125) * draft_noise("g", e % 20), 1e-6);
    }
    assert_int_equal(graph_parameters(&r->g), 4 * 5 + 2);
    done(r);
}

/* Over the second and the last dimension. */
static void reductions(void **state)
{
    static const char *const ops[] = { "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare" };
    (void)state;
    for (int k = 0; k < 7; k++) {
        struct imported *r;
        double *y = through(ops[k], "x apart", "", 2 * 4, &r);
        for (uint64_t e = 0; e < 8; e++) {
            double sum = 0, most = -1, least = 1, size = 0, squares = 0;
            for (uint64_t n = 0; n < 15; n++) {
                double x = X(e / 4, n / 5, e % 4, n % 5);
                sum += x;
                most = fmax(most, x);
                least = fmin(least, x);
                size += fabs(x);
                squares += x * x;
            }
            const double want[] = { sum / 15, sum, most, least, size, sqrt(squares), squares };
            assert_near(y[e], want[k], 1e-6);
        }
        done(r);
    }
}

/* "bijk,kni->bnj": no letter is a group, two are summed, and the result is in another order. */
static void einsum(void **state)
{
    struct imported *r;
    (void)state;
    double *y = through("Einsum", "x m", "equation=bijk,kni->bnj", 2 * 2 * 4, &r);
    for (uint64_t e = 0; e < 16; e++) {
        double sum = 0;
        for (uint64_t n = 0; n < 15; n++)
            sum += X(e / 8, n / 5, e % 4, n % 5) * draft_noise("m", (n % 5 * 2 + e / 4 % 2) * 3 + n / 5);
        assert_near(y[e], sum, 1e-6);
    }
    assert_int_equal(graph_forward_mac(&r->g), 2 * 2 * 4 * 15 + 2);
    done(r);
}

/* Operands in an order that a product can read are not transposed; the second may have rows and columns exchanged. */
static void einsum_moves_nothing(void **state)
{
    static const struct { const char *equation, *x; uint32_t n_dims; uint64_t dims[3], along_k, along_j, stack; } cases[] = {
        { "equation=bij,bjk->bik", "2,3,4", 3, { 2, 4, 5 }, 1, 5, 2 }, { "equation=bij,bkj->bik", "2,3,4", 3, { 2, 5, 4 }, 4, 1, 2 },
        { "equation=ij,jk->ik", "3,4", 2, { 4, 5 }, 1, 5, 1 }, { "equation=ij,kj->ik", "3,4", 2, { 5, 4 }, 4, 1, 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(18);
        draft_input(d, "x", ONNX_FLOAT, cases[i].x);
        draft_weight(d, "w", cases[i].n_dims, cases[i].dims);
        draft_node(d, "Einsum", "x w", "y", cases[i].equation);
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = cases[i].stack == 2 ? 2 : 3 });
        double *y = outputs(r);
        assert_int_equal(count_kind(&r->g, OP_TRANSPOSE), 0);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), cases[i].stack * 15);
        for (size_t k = 0; k < r->g.n_forward_ops; k++)
            if (r->g.ops[k].kind == OP_MATMUL)
                assert_int_equal(r->g.tensors[r->g.ops[k].outputs[0]].n_dims, cases[i].n_dims);
        for (uint64_t e = 0; e < cases[i].stack * 15; e++) {
            double sum = 0;
            for (uint64_t j = 0; j < 4; j++)
                sum += draft_noise("x", e / 5 * 4 + j) * draft_noise("w", e / 15 * 20 + e % 5 * cases[i].along_k + j * cases[i].along_j);
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
    }
}

/* Dots are the dimensions without a letter, and blanks ('_' here) are ignored; without an arrow the dots come before
 * the letters that occur once. */
static void einsum_with_dots(void **state)
{
    static const char *const equations[] = { "...ij,jk->...ik", "_...ij_,_jk_->_..._ik_", "_..._ij,jk", "bij,_jk->b__ik", "...ij,_...jk->...ik" };
    (void)state;
    for (size_t i = 0; i < sizeof equations / sizeof *equations; i++) {
        struct draft *d = draft_start(18);
        draft_text(d, "x: 2,3,4; w = 4,5");
        draft_node(d, "Einsum", "x w", "y", arena_printf(&d->arena, "equation=%s", equations[i]));
        ProtobufCBinaryData *text = &d->nodes[0]->attribute[0]->s;
        for (size_t k = 0; k < text->len; k++)
            text->data[k] = text->data[k] == '_' ? ' ' : text->data[k];
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 30);
        for (uint64_t e = 0; e < 30; e++) {
            double sum = 0;
            for (uint64_t j = 0; j < 4; j++)
                sum += draft_noise("x", e / 5 * 4 + j) * draft_noise("w", j * 5 + e % 5);
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
    }
}

/* Old exporters write a range as NonZero of ones: here rows 0, 1, 2 of a table. Then the last dimension is reversed. */
static void ranges_by_nonzero(void **state)
{
    (void)state;
    struct draft *d = draft_start(10);
    draft_text(d, "x: 3,2; table = 7,2; w = 2,2; first = [-1]");
    draft_whole(d, "end", WHOLE(INT32_MIN));
    draft_text(d, "axis = [1]; ones = [1,1,1]; NonZero ones > places; Squeeze places > index axes=0; "
                  "Gather table index > taken; Slice taken first end axis first > turned; Add turned x > sum; "
                  "MatMul sum w > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 3 });
    double *y = outputs(r);
    for (uint64_t e = 0; e < 6; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 2; k++)
            sum += (draft_noise("table", e / 2 * 2 + 1 - k) + draft_noise("x", e / 2 * 2 + k)) * draft_noise("w", k * 2 + e % 2);
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
}

/* A constant with a number for each channel meets an image and a plain tensor: it becomes two tensors. */
static void a_constant_in_two_forms(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: 2,6,3,4; kernel = 6,6,1,1; matrix = 4,4; shift = 6,1,1; Conv x kernel > c; "
                      "MatMul x matrix > p; Mul c shift > image; Mul p shift > rows");
        struct imported *r = import(d, plain ? "rows image" : "image rows", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t i = 0; i < 2 * 6 * 3 * 4; i++) {
            uint64_t column = i % 4, channel = i / 12 % 6, n = i / 72;
            double sum = 0;
            for (uint64_t k = 0; k < (plain ? 4 : 6); k++)
                sum += plain ? draft_noise("x", i - column + k) * draft_noise("matrix", k * 4 + column)
                             : draft_noise("x", n * 72 + k * 12 + i % 12) * draft_noise("kernel", channel * 6 + k);
            assert_near(y[i], sum * draft_noise("shift", channel), 1e-6);
        }
        done(r);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_constant_in_two_forms),
    cmocka_unit_test(arithmetic), cmocka_unit_test(small_operators), cmocka_unit_test(slopes), cmocka_unit_test(one_hot), cmocka_unit_test(parts_of_numbers), cmocka_unit_test(repeated),
    cmocka_unit_test(shape_arithmetic), cmocka_unit_test(quantised_and_back), cmocka_unit_test(later_outputs), cmocka_unit_test(quantised_types), cmocka_unit_test(composed),
    cmocka_unit_test(composed_functions), cmocka_unit_test(root_mean_squares), cmocka_unit_test(reductions), cmocka_unit_test(einsum),
    cmocka_unit_test(einsum_moves_nothing), cmocka_unit_test(einsum_with_dots), cmocka_unit_test(ranges_by_nonzero),
};
TAP_MAIN(tests)
