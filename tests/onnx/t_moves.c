/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_moves.c - operators that only move elements or view them in another order: outputs by hand.
 */
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

/* One row, all dimensions but the last, and a single column. */
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

/* ShuffleNet's exchange of channels between groups, and SqueezeNet's head: a softmax over the channels of one pixel. */
static void shuffled(void **state)
{
    (void)state;
    struct draft *d = draft_start(9);
    draft_text(d, "x: 1,6,2,3; w = 4,6,1,1; apart = [1,2,3,2,3]; together = [1,6,2,3]; Reshape x apart > a; "
                  "Transpose a > t perm=0,2,1,3,4; Reshape t together > s; Conv s w > c kernel_shape=1,1; "
                  "GlobalAveragePool c > g; Softmax g > y");
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

/* A transposition that only a product reads costs nothing. */
static void transposed_operands(void **state)
{
    static const struct { bool read_twice; uint32_t n_transposes; const char *into; } cases[] = {
        { false, 0, "the product that reads it" }, { true, 1, "transpose" } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct draft *d = draft_start(18);
        draft_text(d, "q: batch,3,4; k: batch,5,4; Transpose k > t perm=0,2,1; MatMul q t > y");
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

/* TensorFlow's files have channels last, and transpose them around each convolution. The graph has them last anyway. */
static void channels_last_in_the_file(void **state)
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

/* Up to eight dimensions are transposed at once, ignoring dimensions of size 1; tensors have five, so the last ones
 * are joined. */
static void many_dimensions_moved(void **state)
{
    static const struct { const char *x, *perm; uint32_t n, n_made; int64_t dims[8]; } cases[] = {
        { "2,36", "perm=4,3,2,1,0", 5, 5, { 2, 3, 2, 3, 2 } }, { "2,36", "perm=5,4,3,2,1,0", 6, 5, { 2, 3, 2, 1, 3, 2 } },
        { "2,72", "perm=5,4,3,2,1,0", 6, 5, { 2, 3, 2, 3, 2, 2 } }, { "2,72", "perm=5,0,3,2,4,1", 6, 5, { 2, 3, 2, 3, 2, 2 } },
        { "2,216", "perm=7,6,5,4,3,2,1,0", 8, 5, { 2, 3, 2, 3, 1, 2, 3, 2 } }, { "2,432", "perm=7,6,5,4,3,2,1,0", 8, 5, { 2, 3, 2, 3, 2, 2, 3, 2 } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(18);
        uint64_t n = cases[i].n, stride[8] = { 0 }, perm[8], elements = 1;
        draft_input(d, "x", ONNX_FLOAT, cases[i].x);
        draft_text(d, "beside: 2,1; w = 1,1");
        draft_whole(d, "shape", n, cases[i].dims);
        draft_node(d, "Reshape", "x shape", "apart", "");
        draft_node(d, "Transpose", "apart", "y", cases[i].perm);
        draft_node(d, "MatMul", "beside w", "z", "");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t k = n; k-- > 0; elements *= (uint64_t)cases[i].dims[k]) {
            stride[k] = elements;
            perm[k] = (uint64_t)cases[i].perm[5 + 2 * k] - '0';
        }
        for (uint64_t e = 0; e < elements; e++) {
            uint64_t from = 0, rest = e;
            for (uint64_t k = n; k-- > 0; rest /= (uint64_t)cases[i].dims[perm[k]])
                from += rest % (uint64_t)cases[i].dims[perm[k]] * stride[perm[k]];
            assert_near(y[e], draft_noise("x", from), 1e-7);
        }
        assert_int_equal(count_kind(&r->g, OP_TRANSPOSE), 1);
        for (size_t k = 0; k < r->g.n_ops; k++)
            if (r->g.ops[k].kind == OP_TRANSPOSE)
                assert_int_equal(r->g.tensors[r->g.ops[k].outputs[0]].n_dims, cases[i].n_made);
        done(r);
    }
}

/* An image whose spatial dimensions alone are reshaped keeps its layout; others are transposed. */
static void reshaped_images(void **state)
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
        draft_text(d, "Conv x w > c; Reshape c shape > y");
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

/* x [2, 5, 3] through one node along its dimension of 5. Indices and updates are [2, 2, 3]. */
static struct imported *picked(const char *op, const char *inputs, const char *attributes, double **y)
{
    struct draft *d = draft_start(18);
    draft_input(d, "x", ONNX_FLOAT, "batch,5,3");
    draft_operand(d, "at", (char[]){ "=2x2x3:4,0,1,2,-2,3,0,1,2,3,4,-1" });
    draft_operand(d, "rows", (char[]){ "=3x2:0,4,1,0,0,1" });
    draft_text(d, "k = [3]; u = 2,2,3; part = 3,3; w = 1,1; beside: batch,1");
    draft_node(d, op, inputs, "y places", attributes);
    if (!text_is(op, "TopK"))
        d->nodes[0]->n_output = 1;
    draft_node(d, "MatMul", "beside w", "z", "");
    struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
    *y = outputs(r);
    return r;
}

/* The three largest of five in falling order, and the three smallest, along the middle dimension. */
static void largest(void **state)
{
    (void)state;
    for (int small = 0; small < 2; small++) {
        double *y;
        struct imported *r = picked("TopK", "x k", small ? "axis=1 largest=0" : "axis=1", &y);
        for (uint64_t i = 0; i < 6; i++) {
            double x[5];
            for (uint64_t k = 0; k < 5; k++)
                x[k] = draft_noise("x", (i / 3 * 5 + k) * 3 + i % 3) * (small ? -1 : 1);
            for (uint64_t k = 0; k < 3; k++) {
                double found = y[(i / 3 * 3 + k) * 3 + i % 3] * (small ? -1 : 1);
                uint64_t above = 0, equal = 0;
                for (uint64_t t = 0; t < 5; t++) {
                    above += x[t] > found + 1e-9;
                    equal += fabs(x[t] - found) < 1e-9;
                }
                assert_int_equal(above, k);
                assert_int_equal(equal, 1);
            }
        }
        assert_int_equal(count_kind(&r->g, OP_TOP_K), 1);
        assert_int_equal(r->g.n_rough_ops, 0);
        done(r);
    }
}

/* Elements scattered along a dimension with each reduction; then rows by two indices each. */
static void scattered(void **state)
{
    static const int at[] = { 4, 0, 1, 2, -2, 3, 0, 1, 2, 3, 4, -1 }, rows[][2] = { { 0, 4 }, { 1, 0 }, { 0, 1 } };
    static const char *const ways[] = { "axis=1", "axis=1 reduction=add", "axis=1 reduction=max" };
    (void)state;
    for (int way = 0; way < 4; way++) {
        double *y, want[30];
        struct imported *r = way < 3 ? picked("ScatterElements", "x at u", ways[way], &y) : picked("ScatterND", "x rows part", "", &y);
        for (uint64_t i = 0; i < 30; i++)
            want[i] = draft_noise("x", i);
        for (uint64_t i = 0; i < 12 && way < 3; i++) {
            double *to = &want[(i / 6 * 5 + (uint64_t)((at[i] + 5) % 5)) * 3 + i % 3], u = draft_noise("u", i);
            *to = way == 0 ? u : way == 1 ? *to + u : fmax(*to, u);
        }
        for (uint64_t i = 0; i < 9 && way == 3; i++)
            want[(rows[i / 3][0] * 5 + rows[i / 3][1]) * 3 + (int)(i % 3)] = draft_noise("part", i);
        for (uint64_t i = 0; i < 30; i++)
            assert_near(y[i], want[i], 1e-6);
        done(r);
    }
}

/* An index that is one column, expanded as PyTorch's scatter_add writes it, picks whole rows: no index for each
 * element is made. An index expanded from a row does not. */
static void rows_by_an_expanded_column(void **state)
{
    static const struct { const char *nodes; bool scatter; size_t n_expands; } cases[] = {
        { "at: int64 4,1; Expand at wide > index; GatherElements x index > y", false, 0 },
        { "at: int64 4,1; Expand at wide > index; ScatterElements x index u > y reduction=add", true, 0 },
        { "at: int64 4,1; Tile at thrice > index; GatherElements x index > y", false, 0 },
        { "at: int64 4,1; Tile at thrice > index; ScatterElements x index u > y reduction=add", true, 0 },
        { "at: int64 1,3; Expand at wide > index; GatherElements x index > y", false, 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(16);
        draft_text(d, "x: 5,3; u: 4,3; e: 5,1; v = 1,2; wide = [4,3]; thrice = [1,3]; MatMul e v > z");
        draft_text(d, cases[i].nodes);
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 5 });
        double *y = outputs(r), want[15];
        assert_int_equal(count_kind(&r->g, OP_EXPAND), cases[i].n_expands);
        for (uint64_t e = 0; e < 15; e++)
            want[e] = draft_noise("x", e);
        for (uint64_t e = 0; e < 12; e++) {                     /* indices are k * 7 % 5 */
            uint64_t row = (cases[i].n_expands ? e % 3 : e / 3) * 7 % 5;
            if (cases[i].scatter)
                want[row * 3 + e % 3] += draft_noise("u", e);
            else
                assert_near(y[e], draft_noise("x", row * 3 + e % 3), 1e-6);
        }
        for (uint64_t e = 0; e < 15 && cases[i].scatter; e++)
            assert_near(y[e], want[e], 1e-6);
        done(r);
    }
}

/* A class token of a file that fixes one sample stands before, or after, the tokens of each. */
static void token_for_each_sample(void **state)
{
    (void)state;
    for (int first = 0; first <= 1; first++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: 1,3,2; class = 1,1,2; w = 2,2; MatMul x w > z");
        draft_node(d, "Concat", first ? "class x" : "x class", "y", "axis=1");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 4 });
        double *y = outputs(r);
        for (uint64_t i = 0; i < 4 * 4 * 2; i++) {
            uint64_t sample = i / 8, row = i / 2 % 4, column = i % 2, token = first ? 0 : 3;
            assert_near(y[i], row == token ? draft_noise("class", column) : draft_noise("x", (sample * 3 + row - (uint64_t)first) * 2 + column), 1e-6);
        }
        done(r);
    }
}

static size_t count(const struct imported *r, enum op_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < r->g.n_forward_ops; i++)
        n += r->g.ops[i].kind == kind;
    return n;
}

static const struct ranges { const char *ranges[3], *attributes[3]; bool rows; uint32_t n_divisions, n_ranges; } ranges[] = {
    { { "h zero two d2", "h two four d2" }, { "", "" }, false, 1, 0 }, { { "h two four d2", "h zero two d2" }, { "", "" }, false, 1, 0 },
    { { "h zero two d2", "h zero two d2" }, { "", "" }, false, 0, 2 }, { { "h zero two d2", "h one three d2" }, { "", "" }, false, 0, 2 },
    { { "h zero two d2", "h two three d2" }, { "", "" }, false, 0, 2 }, { { "h zeros twos d12", "h twos fours d12" }, { "", "" }, false, 0, 4 }, { { "h zero two d2", "h two four d1" }, { "", "" }, false, 0, 2 },
    { { "h zero two d1", "h two four d1", "h four six d1" }, { "", "", "" }, false, 1, 0 }, { { "h last far d2", "h zero two d2" }, { "", "" }, false, 1, 0 },
    { { "h i0", "h i1", "h i2" }, { "axis=3", "axis=3", "axis=3" }, true, 1, 0 }, { { "h last1", "h i1", "h i0" }, { "axis=3", "axis=3", "axis=3" }, true, 1, 0 },
    { { "h zero two d2", "h two four d2", "h zero three d1" }, { "", "", "" }, false, 1, 1 },
    { { "h zero two d2", "h two four d2", "h zero one d2" }, { "", "", "" }, false, 1, 1 },
    { { "h zero two d2", "h two four d2", "x zero two d2" }, { "", "", "" }, false, 1, 1 },
    { { "h i0", "h i1", "h i1" }, { "axis=3", "axis=3", "axis=3" }, true, 0, 3 }, { { "h i0", "h i1", "h i2" }, { "axis=3", "axis=2", "axis=3" }, true, 0, 3 },
};

/* The first n ranges of x [2, 6, 4, 3], which a product makes or, as an image, a convolution. */
static struct imported *ranged(const struct ranges *c, bool image, int n, const char *made)
{
    static const struct { const char *name; int64_t at; } numbers[] = { { "zero", 0 }, { "one", 1 }, { "two", 2 }, { "three", 3 }, { "four", 4 }, { "six", 6 },
        { "last", -2 }, { "far", INT32_MAX }, { "d1", 1 }, { "d2", 2 }, { "i0", 0 }, { "i1", 1 }, { "i2", 2 }, { "last1", -1 } };
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "2,6,4,3");
    draft_weight(d, "w", image ? 4 : 2, image ? (uint64_t[]){ 6, 6, 1, 1 } : (uint64_t[]){ 3, 3 });
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        draft_whole(d, numbers[i].name, 1, &numbers[i].at);
    draft_text(d, "zeros = [0,0]; twos = [2,2]; fours = [4,4]; d12 = [2,1]");
    draft_node(d, image ? "Conv" : "MatMul", "x w", "h", "");
    for (int i = 0; i < n && c->ranges[i]; i++)
        draft_node(d, c->rows ? "Gather" : "Slice", c->ranges[i], (const char *[]){ "p", "q", "s" }[i], c->attributes[i]);
    return import(d, made, (struct onnx_options){ .inference = true, .batch = 2 });
}

/* Ranges that cover a dimension are one split, in any order; others are copied one by one. The first range has the
 * same numbers either way. */
static void ranges_that_cover_a_dimension(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2 * sizeof ranges / sizeof *ranges; c++) {
        struct imported *r = ranged(&ranges[c / 2], c % 2, 3, ranges[c / 2].ranges[2] ? "p q s" : "p q"), *alone = ranged(&ranges[c / 2], c % 2, 1, "p");
        double *y = outputs(r), *want = outputs(alone);
        uint32_t n_divisions = 0, n_ranges = 0;
        for (size_t i = 0; i < r->g.n_ops; i++) {
            n_divisions += r->g.ops[i].kind == OP_SLICE && r->g.ops[i].at->pieces > 0;
            n_ranges += r->g.ops[i].kind == OP_SLICE && r->g.ops[i].at->pieces == 0;
        }
        assert_int_equal(n_divisions, ranges[c / 2].n_divisions);
        assert_int_equal(n_ranges, ranges[c / 2].n_ranges);
        for (uint64_t i = 0; i < tensor_elements(&r->g.tensors[r->im.output]); i++)
            assert_near(y[i], want[i], 1e-9);
        done(r);
        done(alone);
    }
}

/* All rows one by one, and their sum: up to 32 rows are one split; a single row, or more than 32, are copied. */
static void rows_that_cover_a_dimension(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 34; n += n == 1 ? 31 : 1) {
        struct draft *d = draft_start(13);
        const char *rows = "";
        draft_input(d, "x", ONNX_FLOAT, "2,3");
        draft_weight(d, "w", DIMS(3, n));
        draft_node(d, "MatMul", "x w", "h", "");
        for (uint64_t i = 0; i < n; i++) {
            const char *name = arena_printf(&d->arena, "%ju", (uintmax_t)i);
            draft_whole(d, name, WHOLE((int64_t)i));
            draft_node(d, "Gather", arena_printf(&d->arena, "h %s", name), arena_printf(&d->arena, "r%s", name), "axis=1");
            rows = arena_printf(&d->arena, "%s%sr%s", rows, i ? " " : "", name);
        }
        draft_node(d, "Sum", rows, "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        uint64_t n_divisions = 0, n_copies = 0;
        for (size_t i = 0; i < r->g.n_ops; i++)
            *(r->g.ops[i].kind == OP_SLICE && r->g.ops[i].at->pieces ? &n_divisions : &n_copies) += r->g.ops[i].kind == OP_SLICE;
        assert_int_equal(n_divisions, n == 32);
        assert_int_equal(n_copies, n == 32 ? 0 : n);
        for (uint64_t e = 0; e < 2; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 3; k++)
                for (uint64_t i = 0; i < n; i++)
                    sum += draft_noise("x", e * 3 + k) * draft_noise("w", k * n + i);
            assert_near(y[e], sum, 1e-5);
        }
        done(r);
    }
}

/* Negative pads cut rows and columns off, together with positive ones that add some. */
static void negative_pads(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: 2,5,7; w = 7,7; pads = [0,-1,2,0,-2,-3]; Pad x pads > y; MatMul x w > z");
    struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 2 * 6);
    for (uint64_t i = 0; i < 2 * 2 * 6; i++) {
        uint64_t column = i % 6, row = i / 6 % 2 + 1;
        assert_near(y[i], column < 2 ? 0 : draft_noise("x", (i / 12 * 5 + row) * 7 + column - 2), 1e-6);
    }
    done(r);
}

/* Empty tensors are skipped in joins, in any position. */
static void empty_tensors_in_joins(void **state)
{
    static const char *const orders[] = { "none p", "p none", "none p none" };
    (void)state;
    for (size_t c = 0; c < sizeof orders / sizeof *orders; c++) {
        struct draft *d = draft_start(13);
        draft_text(d, "x: 2,5; w = 5,3; none = 2,0; MatMul x w > p");
        draft_node(d, "Concat", orders[c], "y", "axis=1");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 3);
        for (uint64_t i = 0; i < 6; i++) {
            double want = 0;
            for (uint64_t k = 0; k < 5; k++)
                want += draft_noise("x", i / 3 * 5 + k) * draft_noise("w", k * 3 + i % 3);
            assert_near(y[i], want, 1e-6);
        }
        done(r);
    }
}

/* An operation joins 32 tensors, so each further one joins 31 more. */
static void many_are_joined(void **state)
{
    static const struct { uint64_t n; size_t n_concats; } cases[] = { { 2, 1 }, { 32, 1 }, { 33, 2 }, { 63, 2 }, { 64, 3 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13);
        const char *names = "x";
        uint64_t n = cases[i].n;
        draft_input(d, "x", ONNX_FLOAT, "2,1");
        for (uint64_t k = 1; k < n; k++) {
            const char *name = arena_printf(&d->arena, "p%ju", (uintmax_t)k);
            draft_weight(d, name, DIMS(2, 1));
            names = arena_printf(&d->arena, "%s %s", names, name);
        }
        draft_weight(d, "w", DIMS(n, 1));
        draft_node(d, "Concat", names, "c", "axis=1");
        draft_node(d, "MatMul", "c w", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(count(r, OP_CONCAT), cases[i].n_concats);
        for (uint64_t e = 0; e < 2; e++) {
            double sum = draft_noise("x", e) * draft_noise("w", 0);
            for (uint64_t k = 1; k < n; k++)
                sum += draft_noise(arena_printf(&r->arena, "p%ju", (uintmax_t)k), e) * draft_noise("w", k);
            assert_near(y[e], sum, 1e-5);
        }
        done(r);
    }
}

/* Up to 32 equal parts are one operation, more are cut one by one; the last part times w. */
static void many_are_split(void **state)
{
    (void)state;
    for (uint64_t n = 31; n <= 33; n++) {
        struct draft *d = draft_start(13);
        const char *names = "y0";
        for (uint64_t k = 1; k < n; k++)
            names = arena_printf(&d->arena, "%s y%ju", names, (uintmax_t)k);
        draft_input(d, "x", ONNX_FLOAT, arena_printf(&d->arena, "2,%ju", (uintmax_t)(2 * n)));
        draft_weight(d, "w", DIMS(2, 1));
        draft_node(d, "Split", "x", names, "axis=1");
        draft_node(d, "MatMul", arena_printf(&d->arena, "y%ju w", (uintmax_t)(n - 1)), "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(count(r, OP_SLICE), n > 32 ? n : 1);
        for (uint64_t e = 0; e < 2; e++)
            assert_near(y[e], draft_noise("x", (e + 1) * 2 * n - 2) * draft_noise("w", 0) + draft_noise("x", (e + 1) * 2 * n - 1) * draft_noise("w", 1), 1e-6);
        done(r);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(flattened), cmocka_unit_test(shuffled), cmocka_unit_test(transposed_operands), cmocka_unit_test(channels_last_in_the_file),
    cmocka_unit_test(many_dimensions_moved), cmocka_unit_test(reshaped_images), cmocka_unit_test(largest),
    cmocka_unit_test(many_are_joined), cmocka_unit_test(many_are_split), cmocka_unit_test(scattered), cmocka_unit_test(rows_by_an_expanded_column), cmocka_unit_test(token_for_each_sample), cmocka_unit_test(negative_pads),
    cmocka_unit_test(empty_tensors_in_joins), cmocka_unit_test(ranges_that_cover_a_dimension), cmocka_unit_test(rows_that_cover_a_dimension),
};
TAP_MAIN(tests)
