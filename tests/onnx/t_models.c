/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_models.c - whole ONNX files: compared with builders, reported, and with the options that they need.
 */
#include "tests/onnx/encoder.h"

/* ---- against builders: an encoder layer as PyTorch exports it ------------------------------------------------------ */

/* The same layer from the builders, with weights filled in the order of their creation. */
static double *built_encoder(struct arena *a, struct graph *g)
{
    static const char *const names[] = { "ln1_gamma", "ln1_beta", "q_kernel", "q_bias", "k_kernel", "k_bias", "v_kernel", "v_bias", "o_kernel",
        "o_bias", "ln2_gamma", "ln2_beta", "f1_kernel", "f1_bias", "f2_kernel", "f2_bias" };
    struct model_options o = { .micro_batch = 2, .inference = true };
    struct builder b = builder_start(g, "encoder", &o, a);
    build_layer(&b, LAYER_FIRST, 0, 0, 1, "all");
    uint32_t x = build_input(&b, "x", TYPE_FP16, DIMS(2, TOKENS, WIDTH)), first = x;
    struct attention at = { .heads = HEADS, .mask = NO_ID, .split_qkv = true };
    x = build_op2(&b, OP_ADD, build_attention(&b, build_layer_norm(&b, x), &at), x);
    x = build_op2(&b, OP_ADD, build_feed_forward(&b, build_layer_norm(&b, x), INNER, OP_GELU, 0), x);
    double **v = ARENA_ARRAY(a, double *, g->n_tensors);
    size_t next = 0;
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        uint64_t n = tensor_elements(&g->tensors[i]);
        const char *name = i == first ? "x" : g->tensors[i].role == ROLE_WEIGHT ? names[next++] : NULL;
        v[i] = ARENA_ARRAY(a, double, n);
        for (uint64_t k = 0; k < n && name; k++)
            v[i][k] = draft_noise(name, k);
    }
    assert_int_equal(next, sizeof names / sizeof *names);
    graph_execute(g, v);
    return v[x];
}

static void encoder(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    double *expected = built_encoder(&a, &g);
    for (int form = 0; form < 2; form++) {
        struct imported *r = import(draft_encoder(form), "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t i = 0; i < 2 * TOKENS * WIDTH; i++)
            assert_near(y[i], expected[i], 1e-5);
        assert_int_equal(graph_parameters(&r->g), graph_parameters(&g));
        assert_int_equal(graph_forward_mac(&r->g), graph_forward_mac(&g));
        assert_int_equal(count_kind(&r->g, OP_LAYER_NORM), 2);
        assert_int_equal(count_kind(&r->g, OP_GELU), 1);
        assert_int_equal(count_kind(&r->g, OP_TRANSPOSE), 4);       /* the keys need no fifth */
        done(r);
    }
    arena_free(&a);
}

/* A power is a power, whatever its exponent: no square, root or product stands for it. */
static void powers(void **state)
{
    static const double exponents[] = { 2, 0.5, 3, 4 };
    (void)state;
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        struct draft *d = draft_start(18);
        draft_text(d, "x: 1,3; w = 3,2");
        draft_number(d, "e", exponents[i]);
        draft_text(d, "Pow x e > p; MatMul p w > y");
        struct imported *r = import(d, "y", infer);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_COMBINE), 1);
        assert_int_equal(count_kind(&r->g, OP_MAP) + count_kind(&r->g, OP_MUL), 0);
        done(r);
    }
}

/* ---- reports and options -------------------------------------------------------------------------------------------- */

static void the_report(void **state)
{
    char *text;
    (void)state;
    struct imported *r = import(draft_encoder(false), "y", (struct onnx_options){ .inference = true, .batch = 2 });
    PRINTED(text, onnx_print(f, &r->im));
    assert_string_equal(text,
        "producer not named, opset 14: 49 nodes\n"
        "  mapped           8 x MatMul                   matmul\n"
        "  mapped           6 x Add                      bias-add\n"
        "  mapped           4 x Reshape                  view\n"
        "  mapped           4 x Transpose                transpose\n"
        "  mapped           1 x Div                      map\n"
        "  mapped           1 x Softmax                  softmax\n"
        "  mapped           2 x Add                      add\n"
        "  fused            4 x ReduceMean               LayerNormalization\n"
        "  fused            2 x Sub                      LayerNormalization\n"
        "  fused            2 x Pow                      LayerNormalization\n"
        "  fused            4 x Add                      LayerNormalization\n"
        "  fused            2 x Sqrt                     LayerNormalization\n"
        "  fused            2 x Div                      LayerNormalization\n"
        "  fused            2 x Mul                      LayerNormalization\n"
        "  fused            1 x Div                      Gelu\n"
        "  fused            1 x Erf                      Gelu\n"
        "  fused            1 x Add                      Gelu\n"
        "  fused            2 x Mul                      Gelu\n");
    free(text);
    done(r);
}

/* A pattern is fused only if nothing else reads its parts: each of them in turn is an output too. */
static void parts_with_other_readers_stay(void **state)
{
    static const char *const also[] = { "", " hr", " e", " e1", " he" };
    (void)state;
    for (size_t i = 0; i < sizeof also / sizeof *also; i++) {
        struct draft *d = draft_start(14);
        draft_text(d, "x: 2,12; w = 12,5");
        draft_number(d, "half", 0.5);
        draft_number(d, "one", 1);
        draft_number(d, "root2", 1.41421354);
        draft_text(d, "MatMul x w > h; Div h root2 > hr; Erf hr > e; Add e one > e1; Mul h e1 > he; Mul he half > y");
        struct imported *r = import(d, arena_printf(&d->arena, "y%s", also[i]), (struct onnx_options){ .inference = true, .batch = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_GELU), i == 0);
        done(r);
    }
}

static void kinds_of_convolutions(void **state)
{
    static const struct { uint64_t each; const char *group, *into; } cases[] = {
        { 4, "group=1", "conv" }, { 1, "group=4", "depthwise conv" }, { 2, "group=2", "grouped conv" } };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct draft *d = draft_start(11);
        draft_input(d, "x", ONNX_FLOAT, "1,4,7,5");
        draft_weight(d, "w", DIMS(4, cases[i].each, 3, 3));
        draft_node(d, "Conv", "x w", "y", cases[i].group);
        struct imported *r = import(d, "y", infer);
        assert_string_equal(r->err.msg, "");
        assert_string_equal(r->im.counts[0].into, cases[i].into);
        done(r);
    }
}

/* Pictures have four dimensions of floats, with one, three or four channels, and at most three operations before a
 * window. */
static void pictures(void **state)
{
    static const struct { const char *dims; uint64_t channels; int type, n_between; bool picture; } cases[] = {
        { "1,1,8,8", 1, ONNX_FLOAT, 0, true }, { "1,2,8,8", 2, ONNX_FLOAT, 0, false }, { "1,3,8,8", 3, ONNX_FLOAT, 3, true },
        { "1,4,8,8", 4, ONNX_FLOAT16, 1, true }, { "1,5,8,8", 5, ONNX_FLOAT, 0, false }, { "1,3,8,8", 3, ONNX_FLOAT, 4, false },
        { "1,3,8", 3, ONNX_FLOAT, 0, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        bool flat = strlen(cases[i].dims) < 6;
        const char *at = "x";
        draft_input(d, "x", cases[i].type, cases[i].dims);
        draft_number(d, "two", 2);
        draft_weight(d, "w", flat ? 3 : 4, (uint64_t[]){ 2, cases[i].channels, 3, 3 });
        for (int k = 0; k < cases[i].n_between; k++) {
            const char *next = arena_printf(&d->arena, "x%d", k);
            draft_node(d, "Mul", arena_printf(&d->arena, "%s two", at), next, "");
            at = next;
        }
        draft_node(d, "Conv", arena_printf(&d->arena, "%s w", at), "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .byte_images = true });
        assert_string_equal(r->err.msg, "");
        if (r->im.input_is_image[0] != cases[i].picture)
            print_error("case %zu\n", i);
        assert_true(r->im.input_is_image[0] == cases[i].picture);
        assert_int_equal(r->g.tensors[r->im.inputs[0]].type == TYPE_UINT8, cases[i].picture);
        done(r);
    }
}

/* Nodes after the values to stop at, or that lead to another output than the trained one, are not examined. A Loop may
 * read values that no node after it does. */
static void parts_of_a_model(void **state)
{
    static const struct { const char *output, *outputs; bool training; const char *error; uint64_t mac; } cases[] = {
        { "scores", "taken", false, "", 4 * 2 }, { "boxes,scores", "taken", false, "", 4 * 3 + 4 * 2 }, { NULL, "scores taken", true, "", 4 * 2 },
        { NULL, "last", true, "", 4 * 2 + 4 * 4 },
        { "x", "taken", false, "recipe.output: no node makes 'x'; take the name of a node's output; the file's own outputs are taken", 0 },
        { "scores,", "taken", false, "recipe.output: no node makes ''; take the name of a node's output; the file's own outputs are taken", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13), *body = draft_start(13);
        draft_text(d, "x: n,4; v = 4,3; w = 4,2; square = 4,4; once = [1]; MatMul x v > boxes; "
                      "MatMul x w > scores; NonMaxSuppression boxes scores > taken");
        draft_text(body, "i: int64 1; on: bool 1; carried: 1,4; MatMul carried square > y; "
                         "ReduceMax scores > most; Add y most > more");
        if (cases[i].outputs[0] == 'l') {
            d->graph.n_node = 2;
            draft_node(d, "Loop", "once - x", "last", "");
            draft_body(d, "body", body, "on more");
        }
        struct imported *r = import(d, cases[i].outputs, (struct onnx_options){ .inference = !cases[i].training, .output = cases[i].output });
        const char *said = strstr(r->err.msg, "recipe.");
        assert_string_equal(said ? said : r->err.msg, cases[i].error);
        if (!*cases[i].error)
            assert_int_equal(graph_forward_mac(&r->g), cases[i].mac);
        done(r);
        draft_end(body);
    }
}

/* The largest possible sizes: 2 classes x 3 of 8 boxes, every element above the limit, all sorted. */
static void sizes_that_depend_on_data(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: n,8,4; w = 4,2");
    draft_number(d, "limit", 0.5);
    draft_text(d, "most = [3]; column = [2]; MatMul x w > scores; Transpose scores > by_class perm=0,2,1; "
                  "NonMaxSuppression x by_class most > taken; Gather taken column > row axis=1; "
                  "Greater scores limit > above; NonZero above > places; Size places > k; "
                  "TopK scores most > sorted order axis=1; Cast order > y to=1");
    struct imported *r = import(d, "y row places", (struct onnx_options){ .inference = true, .approximate = true });
    assert_string_equal(r->err.msg, "");
    const struct onnx_value *row = &r->im.model->values[r->im.model->outputs[1]], *places = &r->im.model->values[r->im.model->outputs[2]];
    assert_int_equal(row->dims[0], 2 * 3);
    assert_int_equal(places->dims[0], 3);
    assert_int_equal(places->dims[1], 16);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 3 * 2);
    assert_int_equal(r->g.n_rough_ops, 0);
    done(r);
}

/* Sizes that depend on data may be given by the name of the result, at most the largest possible; the report says
 * which are given and which are not. TopK is modelled, and needs no rough price then. */
static void sizes_that_are_bounded(void **state)
{
    static const struct { const char *name; uint64_t size, rows, sorted; const char *says; } cases[] = {
        { "taken", 4, 4, 3, "  given: taken has 12 elements\n" }, { "taken", 100, 6, 3, "  given: taken has 18 elements\n" },
        { "sorted", 2, 6, 2, "  given: sorted has 4 elements\n  largest possible: 1 sizes that depend on data, so that every expert of a sparse mixture "
                             "gets every token; bound them as in --set data.taken=NUMBER\n" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        struct draft *d = draft_start(13);
        struct onnx_dimension size = { cases[i].name, cases[i].size };
        draft_text(d, "x: n,8,4; w = 4,2; m: int64 1; most = [3]; column = [2]; MatMul x w > scores; Transpose scores > by_class perm=0,2,1; "
                      "NonMaxSuppression x by_class most > taken; Gather taken column > row axis=1");
        draft_text(d, i < 2 ? "TopK scores most > sorted order axis=1; Cast order > y to=1" : "TopK scores m > sorted order axis=1; Cast order > y to=1");
        struct imported *r = import(d, "y row", (struct onnx_options){ .inference = true, .approximate = true, .dimensions = &size, .n_dimensions = 1 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(r->im.model->values[r->im.model->outputs[1]].dims[0], cases[i].rows);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), cases[i].sorted * 2);
        PRINTED(text, onnx_print(f, &r->im));
        assert_true(strstr(text, cases[i].says) != NULL);
        free(text);
        done(r);
    }
}

/* A first input of three rows followed by names has no batch; one row is a batch; a leading name may be given its own
 * size. */
static void inputs_without_batch(void **state)
{
    static const struct { const char *x; uint64_t rows, batch; } cases[] = {
        { "3,high,4", 3 * 6, 1 }, { "3,4,high", 3 * 4, 1 }, { "1,high,4", 2 * 6, 2 }, { "1,4,high", 2 * 4, 2 } };
    struct onnx_dimension sizes[] = { { "high", 6 }, { "words", 7 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13);
        uint64_t width = i % 2 ? 6 : 4;
        draft_input(d, "x", ONNX_FLOAT, cases[i].x);
        draft_input(d, "v", ONNX_FLOAT, "words,4");
        draft_weight(d, "w", DIMS(width, 2));
        draft_text(d, "u = 4,2; MatMul x w > a; MatMul v u > b");
        d->opset.domain = (char[]){ "ai.onnx" };            /* spelled out */
        struct imported *r = import(d, "a b", (struct onnx_options){ .inference = true, .batch = cases[i].batch, .dimensions = sizes, .n_dimensions = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_forward_mac(&r->g), cases[i].rows * width * 2 + 7 * 4 * 2);
        done(r);
    }
}

/* An image of fixed sizes, minus a mean for each channel, has three channels and not a batch of three. With another
 * operator, a column for another dimension, a single number, a row, or the column as first operand, the first
 * dimension is the batch. */
static void channels_without_batch(void **state)
{
    static const struct { const char *column, *inputs, *image; size_t n_dims; uint64_t dims[3], batch, rows; } cases[] = {
        { "Sub", "x m", "3,6,4", 3, { 3, 1, 1 }, 1, 3 }, { "Div", "x m", "3,6,4", 3, { 3, 1, 1 }, 1, 3 }, { "Max", "x m", "3,6,4", 3, { 3, 1, 1 }, 1, 1 },
        { "Sub", "x m", "3,6,4", 3, { 1, 6, 1 }, 1, 1 }, { "Mul", "x m", "3,6,4", 3, { 1, 1, 1 }, 1, 1 }, { "Sub", "m x", "3,6,4", 3, { 3, 1, 1 }, 1, 1 },
        { "Sub", "x m", "4,6,4", 1, { 4 }, 1, 1 },       { "Sub", "x m", "6,6,4", 3, { 1, 6, 1 }, 1, 1 },
        { "Sub", "x m", "1,6,4", 3, { 1, 1, 1 }, 5, 5 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13);
        draft_input(d, "x", ONNX_FLOAT, cases[i].image);
        draft_weight(d, "m", cases[i].n_dims, cases[i].dims);
        draft_weight(d, "w", DIMS(4, 2));
        draft_node(d, cases[i].column, cases[i].inputs, "c", "");
        draft_node(d, "MatMul", "x w", "p", "");
        struct imported *r = import(d, "p c", (struct onnx_options){ .inference = true, .batch = cases[i].batch });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_forward_mac(&r->g), cases[i].rows * 6 * 4 * 2);
        done(r);
    }
}

/* A dimension called batch is the batch wherever it is, and the first dimension then needs a size: LSTMs read [time,
 * batch, width]. Without a batch a run is one sample, and more are refused. */
static void batches_by_name(void **state)
{
    static const struct { const char *x, *given, *message; uint64_t rows; } cases[] = {
        { "time,batch,3", "time", "", 5 * 2 }, { "time,bs,3", "time", "", 5 * 2 }, { "time,N,3", "time", "", 5 * 2 }, { "7,batch_size,3", NULL, "", 7 * 2 },
        { "2,batch,3", NULL, "", 2 * 2 }, { "batch,time,3", "time", "", 2 * 5 }, { "samples,time,3", "time", "", 2 * 5 },
        { "time,batch,3", NULL, "input x: the size of its dimension 'time' is not known; give it: --set data.time=128", 0 },
        { "nodes,5,3", "nodes", "parallel.micro_batch: 2: no input has a batch dimension without a size of its own, so a run is one sample; want 1", 0 },
        { "nodes,nodes,3", "nodes", "parallel.micro_batch: 2: no input has a batch dimension, so a run is one sample; want 1", 0 },
        { "N,N,3", NULL, "input x: the size of its dimension 'N' is not known; give it: --set data.N=128", 0 },
        { "nodes,nodes,3", "batch", "data.batch: the model has no symbolic dimension of this name; its dimensions: nodes", 0 },
        { "3,high,4", "high", "parallel.micro_batch: 2: no input has a batch dimension, so a run is one sample; want 1", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13);
        struct onnx_dimension size = { cases[i].given, 5 };
        struct onnx_options o = { .inference = true, .batch = 2, .dimensions = &size, .n_dimensions = cases[i].given != NULL };
        draft_input(d, "x", ONNX_FLOAT, cases[i].x);
        draft_text(d, "w = 3,4; MatMul x w > y");
        if (*cases[i].message) {
            refused(d, o, cases[i].message);
            continue;
        }
        struct imported *r = import(d, "y", o);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_forward_mac(&r->g), cases[i].rows * 3 * 4);
        done(r);
    }
}

static bool build_from(const char *path, bool contents, struct graph *g, struct onnx_import *im, struct arena *a, struct err *err)
{
    struct onnx_options o = { .batch = 1, .inference = true, .contents = contents };
    return onnx_build(g, im, path, &o, a, err);
}

/* Large tensors are read without their numbers, small ones with them. A file that is cut short anywhere is refused. */
static void large_tensors(void **state)
{
    struct graph g;
    struct onnx_import im;
    struct arena a = { 0 };
    struct err err = { "" };
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: n,40; w = 40,500; v = 500,3");
    for (int i = 0; i < 2; i++) {               /* raw bytes, as exporters write them */
        Onnx__TensorProto *t = d->weights[i];
        t->has_raw_data = true;
        t->raw_data = (ProtobufCBinaryData){ t->n_float_data * sizeof(float), (uint8_t *)t->float_data };
        t->n_float_data = 0;
    }
    draft_text(d, "shape = [-1,2,250]; MatMul x w > h; Reshape h shape > r; Flatten r > f axis=1; MatMul f v > y");
    draft_write(d, "y", model_path());
    draft_end(d);
    for (int contents = 0; contents < 2; contents++) {
        assert_true(build_from(model_path(), contents, &g, &im, &a, &err));
        assert_int_equal(graph_parameters(&g), 40 * 500 + 500 * 3);
        assert_int_equal(graph_forward_mac(&g), 40 * 500 + 500 * 3);
        uint32_t w = im.sources[0].values[0], v = im.sources[1].values[0];
        const double *large = onnx_contents(im.model, w), *small = onnx_contents(im.model, v);
        assert_true((large != NULL) == contents);
        assert_near(small[1499], draft_noise("v", 1499), 1e-7);
        if (contents)
            assert_near(large[19999], draft_noise("w", 19999), 1e-7);
    }
    FILE *f = fopen(model_path(), "rb");
    assert_true(f && fseek(f, 0, SEEK_END) == 0);
    long whole = ftell(f);
    fclose(f);
    for (long n = whole - 1; n > 0; n -= 1 + n / 40) {
        assert_int_equal(truncate(model_path(), n), 0);
        for (int contents = 0; contents < 2; contents++) {
            err = (struct err){ "" };
            assert_false(build_from(model_path(), contents, &g, &im, &a, &err));
            assert_true(*err.msg);
        }
    }
    unlink(model_path());
    arena_free(&a);
}

/* Constant nodes are parameters if the file has no initialisers; else they are numbers of the model's code. */
static void weights_in_nodes(void **state)
{
    (void)state;
    for (int beside = 0; beside < 2; beside++) {
        struct draft *d = draft_start(13);
        draft_text(d, "x: batch,3; w = 3,4");
        draft_as_node(d);
        draft_weight(d, "b", DIMS(4));
        draft_as_node(d);
        if (beside)
            draft_weight(d, "v", DIMS(4, 2));
        draft_text(d, "MatMul x w > p; Add p b > q");
        draft_node(d, beside ? "MatMul" : "Relu", beside ? "q v" : "q", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        assert_int_equal(graph_parameters(&r->g), beside ? 4 * 2 : 3 * 4 + 4);
        for (uint64_t i = 0; i < 8 && !beside; i++) {
            double sum = draft_noise("b", i % 4);
            for (uint64_t k = 0; k < 3; k++)
                sum += draft_noise("x", i / 4 * 3 + k) * draft_noise("w", k * 4 + i % 4);
            assert_near(y[i], fmax(sum, 0), 1e-6);
        }
        done(r);
    }
}

/* A file stripped of its numbers has each weight's size as an initialiser, and fills it with zeros. A size in a
 * Constant node makes no weight. */
static void weights_without_numbers(void **state)
{
    (void)state;
    for (int in_code = 0; in_code < 2; in_code++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: batch,3; v = 2,5; size = [3,2]");
        if (in_code)
            draft_as_node(d);
        draft_text(d, "ConstantOfShape size > w; MatMul x w > h; MatMul h v > y");
        struct imported *r = import(d, "y", infer);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), in_code ? 2 * 5 : 3 * 2 + 2 * 5);
        done(r);
    }
}

/* Nodes are sorted after the producers of their inputs, also those of their branches; a cycle is refused. */
static void nodes_in_any_order(void **state)
{
    (void)state;
    for (int circle = 0; circle < 2; circle++) {
        struct draft *d = draft_start(17), *body = draft_start(17);
        draft_node(body, "Mul", "late p", "t", "");
        draft_text(d, "x: batch,3; w = 3,4; one = [1]; Relu t > y; If yes > t");
        draft_body(d, "then_branch", body, "t");
        draft_body(d, "else_branch", body, "t");
        draft_end(body);
        draft_node(d, "Neg", circle ? "y" : "p", "late", "");
        draft_text(d, "Equal one one > yes; MatMul x w > p");
        if (circle) {
            refused(d, infer, "node 1, Neg 'n2': reads y, which nothing before it makes; is the file cut short?");
            continue;
        }
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r);
        for (uint64_t i = 0; i < 8; i++) {
            double sum = 0;
            for (uint64_t k = 0; k < 3; k++)
                sum += draft_noise("x", i / 4 * 3 + k) * draft_noise("w", k * 4 + i % 4);
            assert_near(y[i], fmax(-sum * sum, 0), 1e-6);
        }
        done(r);
    }
}

/* The first input's name for the batch means the batch everywhere; unnamed dimensions are named by their inputs. */
static void names_of_dimensions(void **state)
{
    struct onnx_dimension sizes[] = { { "x.dim1", 3 }, { "h.dim2", 5 } };
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: samples,?; h: 2,samples,?");
        d->inputs[0]->type->tensor_type->shape->dim[1]->dim_param = NULL;
        d->inputs[1]->type->tensor_type->shape->dim[2]->dim_param = NULL;
        draft_text(d, "w = 3,5; MatMul x w > p; Add p h > y");
        struct onnx_options o = { .inference = true, .batch = 7, .dimensions = sizes, .n_dimensions = n };
        if (n == 1) {
            refused(d, o, "input h: the size of its dimension 'h.dim2' is not known; give it: --set data.h.dim2=128");
            continue;
        }
        struct imported *r = import(d, "y", o);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_forward_mac(&r->g), 7 * 3 * 5);
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2 * 7 * 5);
        done(r);
    }
}

/* Inputs of a cache have sums of other dimensions: 11 + 3, 2 x 3 + 1. A sum given by its whole name is not computed. */
static void sums_of_dimensions(void **state)
{
    struct onnx_dimension sizes[] = { { "tokens", 3 }, { "past", 11 }, { "past + tokens", 17 } };
    static const uint64_t expected[] = { 0, 0, 14, 17 };
    (void)state;
    for (size_t n = 1; n <= 3; n++) {
        struct draft *d = draft_start(17);
        draft_input(d, "x", ONNX_FLOAT, "batch,tokens");
        draft_input(d, "m", ONNX_FLOAT, "batch,past + tokens");
        draft_text(d, "q: batch,2*tokens+1; w = 3,5; MatMul x w > p; Concat p m q > y axis=1");
        struct onnx_options o = { .inference = true, .batch = 7, .dimensions = sizes, .n_dimensions = n };
        if (n == 1) {
            refused(d, o, "input m: the size of its dimension 'past + tokens' is not known; give it: --set data.past=128");
            continue;
        }
        struct imported *r = import(d, "y", o);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 7 * (5 + expected[n] + 2 * 3 + 1));
        done(r);
    }
}

/* Malformed or too large sums must be given by their whole names. */
static void sums_without_end(void **state)
{
    static const char *const names[] = { "tokens+", "past+tokens*", "+tokens", "tokens*tokens*tokens", "tokens*tokens+tokens*tokens" };
    struct onnx_dimension sizes[] = { { "tokens", 4000000000 }, { "past", 11 } };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct draft *d = draft_start(17);
        char dims[64];
        snprintf(dims, sizeof dims, "batch,%s", names[i]);
        draft_input(d, "t", ONNX_FLOAT, "tokens,past");
        draft_input(d, "m", ONNX_FLOAT, dims);
        draft_text(d, "w = 3,5; MatMul m w > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 7, .dimensions = sizes, .n_dimensions = 2 });
        assert_non_null(strstr(r->err.msg, names[i]));
        assert_non_null(strstr(r->err.msg, "is not known; give it: --set data."));
        done(r);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(encoder), cmocka_unit_test(powers), cmocka_unit_test(the_report),
    cmocka_unit_test(parts_with_other_readers_stay), cmocka_unit_test(kinds_of_convolutions), cmocka_unit_test(pictures),
    cmocka_unit_test(parts_of_a_model), cmocka_unit_test(sizes_that_depend_on_data), cmocka_unit_test(sizes_that_are_bounded), cmocka_unit_test(inputs_without_batch), cmocka_unit_test(batches_by_name),
    cmocka_unit_test(channels_without_batch), cmocka_unit_test(weights_without_numbers),
    cmocka_unit_test(large_tensors), cmocka_unit_test(weights_in_nodes), cmocka_unit_test(nodes_in_any_order),
    cmocka_unit_test(names_of_dimensions), cmocka_unit_test(sums_of_dimensions), cmocka_unit_test(sums_without_end),
};
TAP_MAIN(tests)
