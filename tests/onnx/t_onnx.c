/*
 * t_onnx.c - ONNX operators become the operations that they mean: outputs by hand.
 */
#include "tests/onnx/import.h"

/* ---- outputs by hand ------------------------------------------------------------------------------------------ */

/* A convolution in the file's own order of dimensions, as the ONNX operator is defined, with uneven pads, strides and groups. */
static void convolution(void **state)
{
    (void)state;
    struct draft *d = draft_start(11);
    draft_input(d, "x", ONNX_FLOAT, "1,4,7,5");
    draft_weight(d, "w", DIMS(6, 2, 3, 2));
    draft_weight(d, "b", DIMS(6));
    draft_node(d, "Conv", "x w b", "y", "kernel_shape=3,2 strides=2,1 pads=1,0,0,1 group=2 dilations=1,2");
    struct imported *r = import(d, "y", infer);
    assert_false(r->good);
    assert_string_equal(strchr(r->err.msg, ':'), ": node 0, Conv 'n0': dilations of 1 and 2; want the same in both directions");
    done(r);
    d = draft_start(11);
    draft_input(d, "x", ONNX_FLOAT, "1,4,7,5");
    draft_weight(d, "w", DIMS(6, 2, 3, 2));
    draft_weight(d, "b", DIMS(6));
    draft_node(d, "Conv", "x w b", "y", "kernel_shape=3,2 strides=2,1 pads=1,0,0,1 group=2");
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

/* One spatial dimension lies along the width, where PopLibs has it: 4 channels of 9 steps, kernel 3, stride 2, one zero before and two
 * behind, then a mean of 2. */
static void one_dimension(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "batch,4,9");
    draft_weight(d, "w", DIMS(6, 2, 3));
    draft_node(d, "Conv", "x w", "c", "kernel_shape=3 strides=2 pads=1,2 group=2");
    draft_node(d, "AveragePool", "c", "y", "kernel_shape=2 strides=1");
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

/* The last dimension alone, all but the last, and one column of all. */
static void flattened(void **state)
{
    static const struct { const char *attributes; uint64_t rows, columns; } rows[] = {
        { "axis=-1", 24, 5 }, { "axis=3", 24, 5 }, { "axis=-4", 1, 120 }, { "axis=4", 120, 1 }, { "", 2, 60 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct draft *d = draft_start(13);
        draft_input(d, "x", ONNX_FLOAT, "batch,3,4,5");
        draft_weight(d, "w", DIMS(rows[i].columns, 2));
        draft_node(d, "Flatten", "x", "f", rows[i].attributes);
        draft_node(d, "MatMul", "f w", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * rows[i].rows);
        done(r);
    }
}

/* [2, 3, 4] and [4] and [2, 1, 1]: broadcasts, a scalar, and a reshape between. y = ((x - a) * b + 2) reshaped to [2, 12]. */
static void arithmetic(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "batch,3,4");
    draft_input(d, "b", ONNX_FLOAT, "batch,1,1");
    draft_weight(d, "a", DIMS(4));
    draft_weight(d, "m", DIMS(12, 5));
    draft_number(d, "two", 2);
    draft_whole(d, "shape", WHOLE(0, -1));
    draft_node(d, "Sub", "a x", "ax", "");
    draft_node(d, "Mul", "ax b", "axb", "");
    draft_node(d, "Sub", "two axb", "y", "");
    draft_node(d, "Reshape", "y shape", "flat", "");
    draft_node(d, "MatMul", "flat m", "z", "");
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

/* Batch norm in inference: folded into the convolution before it, or a factor and an addend; with Caffe's scale layer behind it. */
static void batch_norm(void **state)
{
    (void)state;
    for (int folded = 0; folded < 2; folded++) {
        struct draft *d = draft_start(9);
        draft_input(d, "x", ONNX_FLOAT, "1,3,4,4");
        draft_weight(d, "w", DIMS(3, 3, 1, 1));
        draft_weight(d, "s", DIMS(3));
        draft_weight(d, "b", DIMS(3));
        draft_weight(d, "mean", DIMS(3));
        draft_weight(d, "two", DIMS(3, 1, 1));
        draft_weight(d, "shift", DIMS(3, 1, 1));
        Onnx__TensorProto *v = draft_tensor(d, "v", ONNX_FLOAT, DIMS(3));
        v->n_float_data = 3;
        v->float_data = (float[]){ 1.5f, 2.25f, 0.75f };
        draft_node(d, "Conv", folded ? "x w" : "n w", folded ? "c" : "y", "kernel_shape=1,1");
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
            for (uint64_t i = 0; i < 16; i++) {
                double sum = 0;
                for (uint64_t c = 0; c < 3; c++) {
                    uint64_t n = folded ? o : c;
                    double x = draft_noise("x", c * 16 + i);
                    double norm = ((folded ? 0 : x) - draft_noise("mean", n)) / sqrt(var[n] + 0.125) * draft_noise("s", n) + draft_noise("b", n);
                    if (!folded)
                        sum += (norm * draft_noise("two", n) + draft_noise("shift", n)) * draft_noise("w", o * 3 + c);
                    else
                        sum += x * draft_noise("w", o * 3 + c);
                }
                if (folded)
                    sum = ((sum - draft_noise("mean", o)) / sqrt(var[o] + 0.125) * draft_noise("s", o) + draft_noise("b", o)) * draft_noise("two", o) +
                          draft_noise("shift", o);
                assert_near(y[o * 16 + i], sum, 1e-6);
            }
        done(r);
    }
}

/* ShuffleNet's exchange of channels between groups, and SqueezeNet's head: a softmax over the channels of one pixel. */
static void shuffled(void **state)
{
    (void)state;
    struct draft *d = draft_start(9);
    draft_input(d, "x", ONNX_FLOAT, "1,6,2,3");
    draft_weight(d, "w", DIMS(4, 6, 1, 1));
    draft_whole(d, "apart", WHOLE(1, 2, 3, 2, 3));
    draft_whole(d, "together", WHOLE(1, 6, 2, 3));
    draft_node(d, "Reshape", "x apart", "a", "");
    draft_node(d, "Transpose", "a", "t", "perm=0,2,1,3,4");
    draft_node(d, "Reshape", "t together", "s", "");
    draft_node(d, "Conv", "s w", "c", "kernel_shape=1,1");
    draft_node(d, "GlobalAveragePool", "c", "g", "");
    draft_node(d, "Softmax", "g", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    for (uint64_t b = 0; b < 2; b++) {
        double score[4], sum = 0;
        for (uint64_t o = 0; o < 4; o++) {
            score[o] = 0;
            for (uint64_t c = 0; c < 6; c++)
                for (uint64_t i = 0; i < 6; i++)        /* channel c is now channel (c % 2) 3 + c / 2 */
                    score[o] += draft_noise("x", (b * 6 + c % 2 * 3 + c / 2) * 6 + i) * draft_noise("w", o * 6 + c) / 6;
            sum += exp(score[o]);
        }
        for (uint64_t o = 0; o < 4; o++)
            assert_near(y[b * 4 + o], exp(score[o]) / sum, 1e-6);
    }
    done(r);
}

/* Windows of 2 x 2 as Swin cuts them: six dimensions moved, mean over the tokens, and a mask made of numbers. */
static void windowed(void **state)
{
    (void)state;
    struct draft *d = draft_start(18);
    draft_input(d, "x", ONNX_FLOAT, "batch,4,6,5");
    draft_input(d, "mask", ONNX_INT64, "batch,6");
    draft_whole(d, "cut", WHOLE(-1, 2, 2, 3, 2, 5));
    draft_whole(d, "rows", WHOLE(-1, 4, 5));
    draft_whole(d, "again", WHOLE(-1, 6, 4, 5));
    draft_whole(d, "two", WHOLE(2));
    draft_whole(d, "new", WHOLE(2, 3));
    draft_weight(d, "w", DIMS(5, 3));
    draft_number(d, "one", 1);
    draft_number(d, "much", -100);
    draft_node(d, "Reshape", "x cut", "a", "");
    draft_node(d, "Transpose", "a", "b", "perm=0,1,3,2,4,5");
    draft_node(d, "Reshape", "b rows", "c", "");
    draft_node(d, "MatMul", "c w", "m", "");
    draft_node(d, "Reshape", "c again", "c4", "");
    draft_node(d, "ReduceMean", "c4 two", "mean", "keepdims=1");
    draft_node(d, "Cast", "mask", "f", "to=1");
    draft_node(d, "Sub", "one f", "g", "");
    draft_node(d, "Mul", "g much", "h", "");
    draft_node(d, "Unsqueeze", "h new", "h4", "");
    draft_node(d, "Add", "mean h4", "y", "");
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

/* ---- operators that become several, or none ------------------------------------------------------------------------ */

#define X(b, i, j, k) draft_noise("x", (((b) * 3 + (i)) * 4 + (j)) * 5 + (k))

/* x [2, 3, 4, 5] through one node; what element (b, i, j, k) of the result must be is given by the caller's sum over it. */
static double *through(const char *op, const char *more, const char *attributes, uint64_t n, struct imported **r)
{
    struct draft *d = draft_start(18);
    draft_input(d, "x", ONNX_FLOAT, "batch,3,4,5");
    draft_whole(d, "apart", WHOLE(1, 3));
    draft_whole(d, "from", WHOLE(1));
    draft_whole(d, "to", WHOLE(5));
    draft_whole(d, "last", WHOLE(3));
    draft_whole(d, "two", WHOLE(2));
    draft_weight(d, "m", DIMS(5, 2, 3));
    draft_weight(d, "w", DIMS(1, 1));
    draft_input(d, "beside", ONNX_FLOAT, "batch,1");
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
    double *y = through("ReduceLogSumExp", "x apart", "keepdims=0", 2 * 4, &r);     /* axes that do not follow each other */
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

/* Functions without an operation of their own. */
static void composed_functions(void **state)
{
    static const struct { const char *op, *attributes; double (*f)(double x); } rows[] = {
        { "Selu", "alpha=0.7 gamma=1.5", f_selu }, { "Celu", "alpha=0.7", f_celu }, { "Mish", "", f_mish }, { "Softsign", "", f_softsign },
        { "ThresholdedRelu", "alpha=0.125", f_thresholded }, { "Floor", "", floor }, { "Ceil", "", ceil }, { "Round", "", nearbyint },
        { "Sign", "", f_sign }, { "IsInf", "", f_is_inf }, { "IsNaN", "", f_is_inf },
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

/* Products with vectors on either side, limits that are tensors, a choice between two numbers, a triangle, rows by their own indices. */
static void small_operators(void **state)
{
    (void)state;
    struct draft *d = draft_start(18);
    draft_input(d, "x", ONNX_FLOAT, "batch,3,5");
    draft_input(d, "at", ONNX_INT64, "batch,3,2");
    draft_weight(d, "v", DIMS(5));
    draft_weight(d, "low", DIMS(3, 1));
    draft_number(d, "yes", 2.5);
    draft_number(d, "no", -1.25);
    draft_whole(d, "k", WHOLE(-1));
    draft_whole(d, "apart", WHOLE(1, 2));
    draft_node(d, "MatMul", "x v", "xv", "");
    draft_node(d, "Unsqueeze", "xv k", "column", "");
    draft_node(d, "Clip", "x low column", "clipped", "");
    draft_node(d, "Greater", "clipped low", "above", "");
    draft_node(d, "Where", "above yes no", "chosen", "");
    draft_node(d, "Squeeze", "k", "diagonal", "");
    draft_node(d, "Trilu", "x diagonal", "upper", "upper=1");
    draft_node(d, "GatherElements", "upper at", "picked", "axis=-1");
    draft_node(d, "ReduceSum", "picked k", "sums", "");
    draft_node(d, "Add", "chosen sums", "y", "");
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

/* Constants that follow from shapes: a part of a shape, its size, a triangle, a join along the second dimension; all become one reshape. */
static void shape_arithmetic(void **state)
{
    (void)state;
    struct draft *d = draft_start(15);
    draft_input(d, "x", ONNX_FLOAT, "batch,2,3,4");
    draft_weight(d, "w", DIMS(24, 3));
    draft_whole(d, "ones", WHOLE(1, 1, 1, 1));
    draft_whole(d, "two", WHOLE(2, 2));
    draft_whole(d, "zero", WHOLE(0));
    draft_whole(d, "three", WHOLE(3));
    draft_node(d, "Shape", "x", "part", "start=-3 end=-1");         /* 2, 3 */
    draft_node(d, "Size", "part", "two0", "");
    draft_node(d, "Reshape", "ones two", "square", "");
    draft_node(d, "Trilu", "square", "lower", "upper=0");           /* 1 0; 1 1 */
    draft_node(d, "Concat", "square lower", "wide", "axis=1");      /* 1 1 1 0; 1 1 1 1 */
    draft_node(d, "ReduceProd", "wide", "none", "keepdims=0");      /* 0 */
    draft_node(d, "ReduceProd", "part", "six", "keepdims=0");
    draft_node(d, "Mul", "six two0", "twelve", "");
    draft_node(d, "Mul", "twelve two0", "all", "");
    draft_node(d, "Add", "all none", "columns", "");
    draft_node(d, "Unsqueeze", "columns zero", "last", "");
    draft_node(d, "Gather", "last zero", "again", "");
    draft_node(d, "Concat", "zero again", "flat", "axis=0");        /* 0: the batch as it is, 24 */
    draft_node(d, "Reshape", "x flat", "rows", "");
    draft_node(d, "MatMul", "rows w", "y", "");
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

/* The borders of PyTorch's F.pad, as it exports them: pairs last dimension first, turned round row by row. (1, 0, 2, 3) becomes one
 * zero before the columns, two before and three behind the rows. */
static void padded(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "batch,1,2,4");
    draft_weight(d, "w", DIMS(1, 1, 1, 1));
    draft_whole(d, "zeros", WHOLE(0, 0, 0, 0));
    draft_whole(d, "given", WHOLE(1, 0, 2, 3));
    draft_whole(d, "pairs", WHOLE(-1, 2));
    draft_whole(d, "flat", WHOLE(-1));
    draft_whole(d, "from", WHOLE(-1));
    draft_whole(d, "to", WHOLE(INT64_MIN + 1));
    draft_whole(d, "axis", WHOLE(0));
    draft_node(d, "Concat", "given zeros", "all", "axis=0");
    draft_node(d, "Reshape", "all pairs", "rows", "");
    draft_node(d, "Slice", "rows from to axis from", "turned", "");
    draft_node(d, "Transpose", "turned", "columns", "perm=1,0");
    draft_node(d, "Reshape", "columns flat", "pads", "");
    draft_node(d, "Pad", "x pads", "y", "");
    draft_node(d, "Conv", "y w", "z", "kernel_shape=1,1");
    struct imported *r = import(d, "z", infer);
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), (2 + 2 + 3) * (4 + 1));
    for (uint64_t i = 0; i < 35; i++) {
        bool inside = i / 5 >= 2 && i / 5 < 4 && i % 5 >= 1;
        assert_near(y[i], inside ? draft_noise("x", (i / 5 - 2) * 4 + i % 5 - 1) * draft_noise("w", 0) : 0, 1e-7);
    }
    done(r);
}

/* "bijk,kni->bnj": a letter that is a stack for nobody, one summed up in the product, and the result in another order. */
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

/* Two operands that lie as a product reads them are not moved, whichever way the second one lies; one matrix is no stack. */
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

/* Dots are the dimensions without a letter, and spaces ('_' here) mean nothing; without an arrow the dots stand before the letters that are
 * there once. */
static void einsum_with_dots(void **state)
{
    static const char *const equations[] = { "...ij,jk->...ik", "_...ij_,_jk_->_..._ik_", "_..._ij,jk", "bij,_jk->b__ik", "...ij,_...jk->...ik" };
    (void)state;
    for (size_t i = 0; i < sizeof equations / sizeof *equations; i++) {
        struct draft *d = draft_start(18);
        draft_input(d, "x", ONNX_FLOAT, "2,3,4");
        draft_weight(d, "w", DIMS(4, 5));
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

/* What is turned for a product alone costs nothing: the product reads it so. */
static void turned_operands(void **state)
{
    static const struct { bool read_twice; uint32_t n_transposes; const char *into; } cases[] = {
        { false, 0, "the product that reads it" }, { true, 1, "transpose" } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct draft *d = draft_start(18);
        draft_input(d, "q", ONNX_FLOAT, "batch,3,4");
        draft_input(d, "k", ONNX_FLOAT, "batch,5,4");
        draft_node(d, "Transpose", "k", "t", "perm=0,2,1");
        draft_node(d, "MatMul", "q t", "y", "");
        struct imported *r = import(d, cases[i].read_twice ? "y t" : "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(count_kind(&r->g, OP_TRANSPOSE), cases[i].n_transposes);
        bool told = false;
        for (size_t k = 0; k < r->im.n_counts; k++)
            told |= text_is(r->im.counts[k].into, cases[i].into);
        assert_true(told);
        for (uint64_t e = 0; e < 30; e++) {
            double sum = 0;
            for (uint64_t c = 0; c < 4; c++)
                sum += draft_noise("q", e / 5 * 4 + c) * draft_noise("k", (e / 15 * 5 + e % 5) * 4 + c);
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
    }
}

/* As TensorFlow's files have it: channels stand last, and are put first around each convolution. The graph has them last anyway. */
static void channels_stand_last(void **state)
{
    static const struct { const char *x, *before, *after; uint32_t n_dims; } cases[] = {
        { "2,6,4,3", "perm=0,3,1,2", "perm=0,2,3,1", 4 }, { "2,3,24", NULL, "perm=0,2,1", 3 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(18);
        draft_input(d, "x", ONNX_FLOAT, cases[i].x);
        draft_weight(d, "w", cases[i].n_dims, (uint64_t[]){ 5, 3, 1, 1 });
        draft_weight(d, "m", DIMS(5, 2));
        if (cases[i].before)
            draft_node(d, "Transpose", "x", "first", cases[i].before);
        draft_node(d, "Conv", cases[i].before ? "first w" : "x w", "c", "");
        draft_node(d, "Transpose", "c", "last", cases[i].after);
        draft_node(d, "MatMul", "last m", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(count_kind(&r->g, OP_TRANSPOSE), cases[i].before ? 0 : 1);
        for (uint64_t e = 0; e < 96; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 15; k++) {
                uint64_t at = e / 2, c = k % 3, x = cases[i].before ? at * 3 + c : (at / 24 * 3 + c) * 24 + at % 24;
                sum += draft_noise("x", x) * draft_noise("w", k) * draft_noise("m", k / 3 * 2 + e % 2);
            }
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
    }
}

/* Five dimensions that all change places are one transpose, whatever dimensions of one lie between; six are refused. */
static void many_dimensions_moved(void **state)
{
    static const struct { const char *x, *perm, *why; int64_t n, dims[6]; } cases[] = {
        { "2,36", "perm=4,3,2,1,0", NULL, 5, { 2, 3, 2, 3, 2 } }, { "2,36", "perm=5,4,3,2,1,0", NULL, 6, { 2, 3, 2, 1, 3, 2 } },
        { "2,72", "perm=5,4,3,2,1,0", ": node 1, Transpose 'n1': moves 6 dimensions, at most 5", 6, { 2, 3, 2, 3, 2, 2 } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(18);
        draft_input(d, "x", ONNX_FLOAT, cases[i].x);
        draft_input(d, "beside", ONNX_FLOAT, "2,1");
        draft_weight(d, "w", DIMS(1, 1));
        draft_whole(d, "shape", (size_t)cases[i].n, cases[i].dims);
        draft_node(d, "Reshape", "x shape", "apart", "");
        draft_node(d, "Transpose", "apart", "y", cases[i].perm);
        draft_node(d, "MatMul", "beside w", "z", "");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
        assert_true(r->good == !cases[i].why);
        if (cases[i].why)
            assert_string_equal(strchr(r->err.msg, ':'), cases[i].why);
        double *y = r->good ? outputs(r) : NULL;
        for (uint64_t e = 0; y && e < 72; e++)          /* 2 x 3 x 2 x 3 x 2 again, turned round */
            assert_near(y[e], draft_noise("x", e / 36 + e / 12 % 3 * 2 + e / 6 % 2 * 6 + e / 2 % 3 * 12 + e % 2 * 36), 1e-7);
        done(r);
    }
}

/* PyTorch writes a group norm as an instance norm of channels seen as groups, and a gain and a bias by channel behind it. */
static void group_norms(void **state)
{
    (void)state;
    for (int64_t groups = 1; groups <= 6; groups += groups == 3 ? 3 : 1) {
        struct draft *d = draft_start(14);
        draft_input(d, "x", ONNX_FLOAT, "2,6,4,3");
        draft_weight(d, "w", DIMS(6, 6, 1, 1));
        draft_whole(d, "apart", WHOLE(0, groups, -1));
        draft_whole(d, "together", WHOLE(2, 6, 4, 3));
        for (int i = 0; i < 2; i++) {
            Onnx__TensorProto *t = draft_tensor(d, i ? "zeros" : "ones", ONNX_FLOAT, DIMS((uint64_t)groups));
            t->n_float_data = (size_t)groups;
            t->float_data = i ? (float[6]){ 0 } : (float[]){ 1, 1, 1, 1, 1, 1 };
        }
        draft_weight(d, "gain", DIMS(6, 1, 1));
        draft_weight(d, "bias", DIMS(6, 1, 1));
        draft_node(d, "Conv", "x w", "c", "");
        draft_node(d, "Reshape", "c apart", "g", "");
        draft_node(d, "InstanceNormalization", "g ones zeros", "n", "epsilon=0.25");
        draft_node(d, "Reshape", "n together", "t", "");
        draft_node(d, "Mul", "t gain", "m", "");
        draft_node(d, "Add", "m bias", "y", "");
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

/* A layer norm written out is over the last dimension, however that is named, and over no other. */
static void layer_norms_of_axes(void **state)
{
    static const struct { const char *mean, *variance; uint32_t n_norms; } cases[] = {
        { "axes=-1", "axes=-1", 1 }, { "axes=2", "axes=-1", 1 }, { "axes=-1", "axes=2", 1 }, { "axes=1", "axes=1", 0 },
        { "axes=1", "axes=-1", 0 }, { "axes=2", "axes=1", 0 }, { "axes=1,2", "axes=1,2", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(14);
        draft_input(d, "x", ONNX_FLOAT, "2,3,4");
        draft_weight(d, "w", DIMS(4, 5));
        draft_number(d, "small", 0.25);
        draft_number(d, "two", 2);
        draft_node(d, "ReduceMean", "x", "mean", cases[i].mean);
        draft_node(d, "Sub", "x mean", "less", "");
        draft_node(d, "Pow", "less two", "squares", "");
        draft_node(d, "ReduceMean", "squares", "variance", cases[i].variance);
        draft_node(d, "Add", "variance small", "more", "");
        draft_node(d, "Sqrt", "more", "root", "");
        draft_node(d, "Div", "less root", "n", "");
        draft_node(d, "MatMul", "n w", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_LAYER_NORM), cases[i].n_norms);
        done(r);
    }
}

/* Slopes by channel of an image, and by the last dimension of anything else. */
static void slopes(void **state)
{
    (void)state;
    for (int image = 0; image < 2; image++) {
        struct draft *d = draft_start(16);
        draft_input(d, "x", ONNX_FLOAT, "2,2,4,6");
        draft_weight(d, "w", DIMS(3, 2, 1, 1));
        draft_weight(d, "s", DIMS(3, 1, 1));
        draft_weight(d, "v", DIMS(6));
        draft_input(d, "beside", ONNX_FLOAT, "2,1");
        draft_weight(d, "one", DIMS(1, 1));
        draft_node(d, "Conv", "x w", "c", "");
        draft_node(d, "PRelu", image ? "c s" : "x v", "y", "");
        draft_node(d, "MatMul", "beside one", "z", "");
        struct imported *r = import(d, image ? "y z" : "y z c", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_true(r->im.output_is_image || !image);
        for (uint64_t e = 0; e < (image ? 144 : 96); e++) {
            double x = image ? 0 : draft_noise("x", e), slope = image ? draft_noise("s", e / 24 % 3) : draft_noise("v", e % 6);
            for (uint64_t c = 0; image && c < 2; c++)
                x += draft_noise("x", (e / 72 * 2 + c) * 24 + e % 24) * draft_noise("w", e / 24 % 3 * 2 + c);
            assert_near(y[e], fmax(x, 0) + slope * fmin(x, 0), 1e-6);
        }
        done(r);
    }
}

/* Images of one and of two spatial dimensions joined by channels, and their means over all that is spatial, stay as they lie. */
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
        draft_node(d, "Conv", "x w", "a", "");
        draft_node(d, "Conv", "x v", "b", "");
        draft_node(d, "Concat", "a b", "ab", "axis=1");
        draft_node(d, "ReduceMean", "ab spatial", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_true(r->im.output_is_image);
        assert_int_equal(count_kind(&r->g, OP_TRANSPOSE), 1);          /* the input comes as the file has it */
        for (uint64_t e = 0; e < 12; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 48; k++)
                sum += draft_noise("x", e / 6 * 48 + k) * draft_noise(e % 6 < 3 ? "w" : "v", e % 3 * 2 + k / 24) / 24;
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
    }
}

/* An image whose rows and columns alone are seen in another way, in one or two dimensions, stays as it lies; the rest is laid out anew. */
static void images_seen_in_another_way(void **state)
{
    static const struct { const char *x; int64_t n, dims[5]; bool stays; } cases[] = {
        { "2,2,4,6", 4, { 2, 3, 6, 4 }, true }, { "2,2,4,6", 3, { 2, 3, 24 }, true }, { "2,2,4,6", 5, { 2, 3, 4, 6, 1 }, true },
        { "2,2,4,6", 4, { 2, 4, 3, 6 }, false }, { "2,2,4,6", 3, { 6, 1, 24 }, false }, { "2,2,4,6", 3, { 1, 3, 48 }, false },
        { "2,2,4,6", 2, { 2, 72 }, false }, { "2,2,24", 4, { 2, 3, 4, 6 }, true }, { "2,2,24", 4, { 2, 4, 3, 6 }, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(18);
        draft_input(d, "x", ONNX_FLOAT, cases[i].x);
        draft_weight(d, "w", strlen(cases[i].x) > 6 ? 4 : 3, (uint64_t[]){ 3, 2, 1, 1 });
        draft_whole(d, "shape", (size_t)cases[i].n, cases[i].dims);
        draft_node(d, "Conv", "x w", "c", "");
        draft_node(d, "Reshape", "c shape", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        if (r->im.output_is_image != cases[i].stays)
            print_error("case %zu\n", i);
        assert_true(r->im.output_is_image == cases[i].stays);
        for (uint64_t e = 0; e < 144; e++) {
            double sum = 0;
            for (uint64_t c = 0; c < 2; c++)
                sum += draft_noise("x", (e / 72 * 2 + c) * 24 + e % 24) * draft_noise("w", e / 24 % 3 * 2 + c);
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
    }
}

/* Along a dimension of one the same elements are read again; along another they are copied one behind the other. */
static void repeated(void **state)
{
    static const struct { int64_t times[3]; uint32_t n_expands, n_copies; } cases[] = {
        { { 1, 2, 1 }, 1, 0 }, { { 1, 3, 1 }, 1, 0 }, { { 1, 1, 2 }, 0, 1 }, { { 2, 1, 1 }, 0, 1 }, { { 2, 2, 3 }, 1, 2 }, { { 1, 1, 1 }, 0, 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t rows = (uint64_t)cases[i].times[1], columns = 3 * (uint64_t)cases[i].times[2], n = 2 * (uint64_t)cases[i].times[0] * rows * columns;
        struct draft *d = draft_start(18);
        draft_input(d, "x", ONNX_FLOAT, "2,1,3");
        draft_input(d, "beside", ONNX_FLOAT, "2,1");
        draft_weight(d, "w", DIMS(1, 1));
        draft_whole(d, "times", 3, cases[i].times);
        draft_node(d, "Tile", "x times", "y", "");
        draft_node(d, "MatMul", "beside w", "z", "");
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

/* TensorFlow's layer norm, x f + (beta - mean f), is one operation; with a mean that others read it stays what it is written as. */
static void norms_by_factor(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        struct draft *d = draft_start(11);
        draft_input(d, "x", ONNX_FLOAT, "batch,5");
        draft_weight(d, "gamma", DIMS(5));
        draft_weight(d, "beta", DIMS(5));
        draft_weight(d, "w", DIMS(5, 5));
        draft_number(d, "epsilon", 0.25);
        draft_node(d, "ReduceMean", "x", "mean", "axes=-1");
        draft_node(d, "Sub", "x mean", "less", "");
        draft_node(d, "Mul", "less less", "squared", "");
        draft_node(d, "ReduceMean", "squared", "variance", "axes=-1");
        draft_node(d, "Add", "variance epsilon", "above", "");
        draft_node(d, "Sqrt", "above", "root", "");
        draft_node(d, "Reciprocal", "root", "one_by", "");
        draft_node(d, "Mul", "gamma one_by", "f", "");
        draft_node(d, "Mul", "f x", "xf", "");
        draft_node(d, "Mul", "mean f", "mf", "");
        draft_node(d, "Sub", "beta mf", "shift", "");
        draft_node(d, "Add", "xf shift", "n", "");
        draft_node(d, "MatMul", "n w", "product", "");
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

/* Old exporters count to a length as the places of ones: here the rows 0, 1, 2 of a table. The last dimension then backwards. */
static void counted_by_ones(void **state)
{
    (void)state;
    struct draft *d = draft_start(10);
    draft_input(d, "x", ONNX_FLOAT, "3,2");
    draft_weight(d, "table", DIMS(7, 2));
    draft_weight(d, "w", DIMS(2, 2));
    draft_whole(d, "first", WHOLE(-1));
    draft_whole(d, "end", WHOLE(INT32_MIN));
    draft_whole(d, "axis", WHOLE(1));
    draft_whole(d, "ones", WHOLE(1, 1, 1));
    draft_node(d, "NonZero", "ones", "places", "");
    draft_node(d, "Squeeze", "places", "index", "axes=0");
    draft_node(d, "Gather", "table index", "taken", "");
    draft_node(d, "Slice", "taken first end axis first", "turned", "");
    draft_node(d, "Add", "turned x", "sum", "");
    draft_node(d, "MatMul", "sum w", "y", "");
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

/* A window with a depth, in strides, over zeros at both ends of it and in front of the rows; then the largest of 2 x 2 x 1. */
static void windows_with_depth(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "2,2,6,4,5");
    draft_weight(d, "w", DIMS(3, 2, 3, 2, 1));
    draft_weight(d, "b", DIMS(3));
    draft_node(d, "Conv", "x w b", "c", "strides=2,1,1 pads=1,1,0,1,0,0");
    draft_node(d, "MaxPool", "c", "y", "kernel_shape=2,2,1");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r), c[2][3][3][4][5];
    assert_int_equal(graph_parameters(&r->g), 3 * 2 * 3 * 2 + 3);
    assert_int_equal(graph_forward_mac(&r->g), 2 * 3 * (3 * 4 * 5) * (2 * 3 * 2));
    for (int i = 0; i < 2 * 3 * 3 * 4 * 5; i++) {
        int w = i % 5, h = i / 5 % 4, z = i / 20 % 3, o = i / 60 % 3, n = i / 180;
        double sum = draft_noise("b", (uint64_t)o);
        for (int k = 0; k < 2 * 3 * 2; k++) {
            int channel = k / 6, from_z = 2 * z - 1 + k / 2 % 3, from_h = h - 1 + k % 2;
            if (from_z >= 0 && from_z < 6 && from_h >= 0 && from_h < 4)
                sum += draft_noise("x", (uint64_t)((((n * 2 + channel) * 6 + from_z) * 4 + from_h) * 5 + w)) * draft_noise("w", (uint64_t)(o * 12 + k));
        }
        c[n][o][z][h][w] = sum;
    }
    for (int i = 0; i < 2 * 3 * 2 * 3 * 5; i++) {
        int w = i % 5, h = i / 5 % 3, z = i / 15 % 2, o = i / 30 % 3, n = i / 90;
        double most = fmax(fmax(c[n][o][z][h][w], c[n][o][z + 1][h][w]), fmax(c[n][o][z][h + 1][w], c[n][o][z + 1][h + 1][w]));
        assert_near(y[i], most, 1e-6);
    }
    done(r);
}

/* An If within an If: both branches use one name, and read what is around them. The number of dimensions decides. */
static void branches(void **state)
{
    (void)state;
    for (int larger = 0; larger < 2; larger++) {
        struct draft *d = draft_start(17), *then = draft_start(17), *inner = draft_start(17);
        draft_node(inner, "Mul", "own m", "t", "");
        draft_node(then, "Relu", "x", "own", "");
        draft_node(then, "If", "yes", "t", "");
        draft_body(then, "then_branch", inner, "t");
        draft_body(then, "else_branch", inner, "t");
        draft_input(d, "x", ONNX_FLOAT, "batch,3");
        draft_weight(d, "m", DIMS(3));
        draft_weight(d, "w", DIMS(3, 2));
        draft_whole(d, "limit", WHOLE(larger));
        draft_whole(d, "one", WHOLE(1));
        draft_node(d, "Equal", "one one", "yes", "");
        draft_node(d, "Size", "m", "size", "");
        draft_node(d, "Greater", "limit one", "less", "");
        draft_node(d, "Not", "less", "not", "");
        draft_node(d, "If", larger ? "not" : "less", "t", "");
        struct draft *other = draft_start(17);
        draft_node(other, "Neg", "x", "t", "");
        draft_body(d, "then_branch", then, "t");
        draft_body(d, "else_branch", other, "t");
        draft_node(d, "MatMul", "t w", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t e = 0; e < 4; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 3; k++) {
                double x = draft_noise("x", e / 2 * 3 + k), t = larger ? fmax(x, 0) * draft_noise("m", k) : -x;
                sum += t * draft_noise("w", k * 2 + e % 2);
            }
            assert_near(y[e], sum, 1e-6);
        }
        done(r);
        draft_end(then);
        draft_end(inner);
        draft_end(other);
    }
}

/* Three rounds: x is doubled and w added each time, and what it was before is stacked; a constant condition, or one that the body counts. */
static void loops(void **state)
{
    (void)state;
    for (int counted = 0; counted < 2; counted++) {
        struct draft *d = draft_start(17), *body = draft_start(17);
        draft_input(body, "round", ONNX_INT64, "1");
        draft_input(body, "going", ONNX_BOOL, "1");
        draft_input(body, "carried", ONNX_FLOAT, "2,3");
        draft_node(body, "Add", "carried carried", "twice", "");
        draft_node(body, "Add", "twice w", "more", "");
        draft_node(body, counted ? "Less" : "Identity", counted ? "round one" : "going", "on", "");
        draft_input(d, "x", ONNX_FLOAT, "batch,3");
        draft_weight(d, "w", DIMS(3));
        draft_weight(d, "m", DIMS(3, 2));
        draft_whole(d, "one", WHOLE(1));
        draft_whole(d, "trips", WHOLE(counted ? 100 : 2));
        draft_node(d, "Equal", "one one", "yes", "");
        draft_node(d, "Loop", "trips yes x", "last rows", "");
        draft_body(d, "body", body, "on more carried");
        draft_node(d, "MatMul", "last m", "product", "");
        draft_node(d, "MatMul", "rows m", "products", "");
        draft_node(d, "Add", "products product", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 2 * 2);
        for (uint64_t e = 0; e < 8; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 3; k++) {
                double x = draft_noise("x", e / 2 % 2 * 3 + k), w = draft_noise("w", k), then = 2 * x + w;
                sum += ((e < 4 ? x : then) + 2 * then + w) * draft_noise("m", k * 2 + e % 2);
            }
            assert_near(y[e], sum, 1e-5);
        }
        done(r);
        draft_end(body);
    }
}

/* Chunks of x, each put before the ones of earlier rounds with b added; one goes, the rest is stacked, and their number added to it. */
static void sequences(void **state)
{
    (void)state;
    struct draft *d = draft_start(13), *body = draft_start(13);
    draft_input(body, "round", ONNX_INT64, "1");
    draft_input(body, "going", ONNX_BOOL, "1");
    draft_input(body, "list", ONNX_FLOAT, "1");
    draft_node(body, "SequenceAt", "chunks round", "chunk", "");
    draft_node(body, "Add", "chunk b", "more", "");
    draft_node(body, "SequenceInsert", "list more first", "longer", "");
    draft_node(body, "Identity", "going", "on", "");
    draft_input(d, "x", ONNX_FLOAT, "batch,7");
    draft_weight(d, "b", DIMS(2, 1));
    draft_weight(d, "w", DIMS(2, 2));
    draft_whole(d, "sizes", WHOLE(2, 2, 2, 1));
    draft_whole(d, "first", WHOLE(0));
    draft_whole(d, "last", WHOLE(-1));
    draft_whole(d, "trips", WHOLE(3));
    draft_node(d, "SplitToSequence", "x sizes", "chunks", "axis=1");
    draft_node(d, "SequenceEmpty", "", "empty", "");
    draft_node(d, "Loop", "trips - empty", "lists", "");
    draft_body(d, "body", body, "on longer");
    draft_node(d, "SequenceErase", "lists last", "fewer", "");
    draft_node(d, "ConcatFromSequence", "fewer", "stack", "axis=0 new_axis=1");
    draft_node(d, "MatMul", "stack w", "product", "");
    draft_node(d, "SequenceLength", "fewer", "n", "");
    draft_node(d, "Cast", "n", "number", "to=1");
    draft_node(d, "Add", "product number", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 2 * 2);
    for (uint64_t e = 0; e < 8; e++) {
        double sum = 2;
        for (uint64_t k = 0; k < 2; k++)
            sum += (draft_noise("x", e / 2 % 2 * 7 + (e < 4 ? 4 : 2) + k) + draft_noise("b", e / 2 % 2)) * draft_noise("w", k * 2 + e % 2);
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
    draft_end(body);
}

/* A function that calls another, as PyTorch's newer exporter writes them: attributes from who calls, or by default; a parameter left out; a
 * result that is read inside too, and one that is a parameter as it is. y = leaky(x, 0.25) + elu(x, 0.5), times w. */
static void functions(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *inner = draft_start(17), *outer = draft_start(17);
    draft_node(inner, "LeakyRelu", "a", "b", "alpha=slope");
    draft_node(inner, "Elu", "a", "c", "alpha=other");
    draft_node(inner, "Clip", "a low high", "cut", "");
    for (int i = 0; i < 2; i++) {
        Onnx__AttributeProto *p = inner->nodes[i]->attribute[0];
        p->ref_attr_name = (char *)p->s.data;
        p->has_s = false;
    }
    draft_function(d, inner, "Two", "a low high", "b c a cut", "other=0.5");
    draft_node(outer, "Two", "p - top", "q r s cut", "slope=0.25");
    outer->nodes[0]->domain = "ours";
    draft_node(outer, "Add", "q r", "sum", "");
    draft_node(outer, "Max", "s cut", "same", "");
    draft_node(outer, "Min", "same cut", "least", "");
    draft_function(d, outer, "Sum", "p top", "sum least", "");
    draft_input(d, "x", ONNX_FLOAT, "batch,3");
    draft_weight(d, "w", DIMS(3, 2));
    draft_number(d, "limit", 0.125);
    draft_node(d, "Sum", "x limit", "t u", "");
    d->nodes[0]->domain = "ours";
    draft_node(d, "Add", "t u", "v", "");
    draft_node(d, "MatMul", "v w", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    for (uint64_t e = 0; e < 4; e++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++) {
            double x = draft_noise("x", e / 2 * 3 + k);
            double t = (x > 0 ? x : 0.25 * x) + (x > 0 ? x : 0.5 * (exp(x) - 1)) + fmin(x, 0.125);
            sum += t * draft_noise("w", k * 2 + e % 2);
        }
        assert_near(y[e], sum, 1e-6);
    }
    done(r);
    draft_end(inner);
    draft_end(outer);
}

/* GRU of one step in both directions, by its equations, from the file's own order of gates. */
static void recurrent(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        struct draft *d = draft_start(14);
        draft_input(d, "x", ONNX_FLOAT, "2,1,3");
        draft_weight(d, "w", DIMS(1, 6, 3));
        draft_weight(d, "r", DIMS(1, 6, 2));
        draft_weight(d, "b", DIMS(1, 12));
        draft_node(d, "GRU", "x w r b", "y last", before ? "hidden_size=2" : "hidden_size=2 linear_before_reset=1");
        struct imported *r = import(d, "y last", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r), h[2] = { 0, 0 };
        for (uint64_t t = 0; t < 2; t++) {
            double g[3][2], next[2];
            for (uint64_t k = 0; k < 6; k++) {
                double from_x = draft_noise("b", k), from_h = draft_noise("b", 6 + k);
                for (uint64_t i = 0; i < 3; i++)
                    from_x += draft_noise("x", t * 3 + i) * draft_noise("w", k * 3 + i);
                for (uint64_t i = 0; i < 2; i++)
                    from_h += (k > 3 && before ? g[1][i] : 1) * h[i] * draft_noise("r", k * 2 + i);
                g[k / 2][k % 2] = k < 4 ? 1 / (1 + exp(-from_x - from_h)) : tanh(from_x + (before ? 1 : g[1][k % 2]) * from_h);
            }
            for (uint64_t k = 0; k < 2; k++) {
                next[k] = (1 - g[0][k]) * g[2][k] + g[0][k] * h[k];
                assert_near(y[t * 2 + k], next[k], 1e-6);
            }
            memcpy(h, next, sizeof h);
        }
        assert_int_equal(graph_parameters(&r->g), 6 * 3 + 6 * 2 + 12);
        done(r);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(convolution), cmocka_unit_test(one_dimension), cmocka_unit_test(flattened), cmocka_unit_test(arithmetic),
    cmocka_unit_test(batch_norm), cmocka_unit_test(shuffled), cmocka_unit_test(windowed), cmocka_unit_test(composed),
    cmocka_unit_test(composed_functions), cmocka_unit_test(reductions), cmocka_unit_test(small_operators),
    cmocka_unit_test(shape_arithmetic), cmocka_unit_test(padded), cmocka_unit_test(einsum),
    cmocka_unit_test(einsum_moves_nothing), cmocka_unit_test(einsum_with_dots), cmocka_unit_test(turned_operands),
    cmocka_unit_test(images_seen_in_another_way), cmocka_unit_test(channels_stand_last), cmocka_unit_test(group_norms),
    cmocka_unit_test(slopes), cmocka_unit_test(layer_norms_of_axes), cmocka_unit_test(images_joined_and_averaged),
    cmocka_unit_test(many_dimensions_moved), cmocka_unit_test(repeated), cmocka_unit_test(norms_by_factor), cmocka_unit_test(counted_by_ones),
    cmocka_unit_test(windows_with_depth), cmocka_unit_test(branches), cmocka_unit_test(loops), cmocka_unit_test(sequences), cmocka_unit_test(functions),
    cmocka_unit_test(recurrent),
};
TAP_MAIN(tests)
