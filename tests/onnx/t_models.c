/*
 * t_models.c - whole ONNX files: against builders, what is told and asked of them, their training, and refusals.
 */
#include "tests/onnx/import.h"

/* ---- against builders: an encoder layer as PyTorch exports it ---------------------------------------------------- */

enum { TOKENS = 5, WIDTH = 12, HEADS = 3, INNER = 20 };

static void draft_layer_norm(struct draft *d, const char *x, const char *y, const char *tag)
{
    struct arena *a = &d->arena;
#define NAME(part) arena_printf(a, "%s_%s", tag, part)
    draft_weight(d, NAME("gamma"), DIMS(WIDTH));
    draft_weight(d, NAME("beta"), DIMS(WIDTH));
    draft_number(d, NAME("eps"), 1e-5);
    draft_number(d, NAME("two"), 2);
    draft_node(d, "ReduceMean", x, NAME("mean"), "axes=-1");
    draft_node(d, "Sub", arena_printf(a, "%s %s", x, NAME("mean")), NAME("d"), "");
    draft_node(d, "Pow", arena_printf(a, "%s %s", NAME("d"), NAME("two")), NAME("sq"), "");
    draft_node(d, "ReduceMean", NAME("sq"), NAME("var"), "axes=-1");
    draft_node(d, "Add", arena_printf(a, "%s %s", NAME("var"), NAME("eps")), NAME("ve"), "");
    draft_node(d, "Sqrt", NAME("ve"), NAME("root"), "");
    draft_node(d, "Div", arena_printf(a, "%s %s", NAME("d"), NAME("root")), NAME("n"), "");
    draft_node(d, "Mul", arena_printf(a, "%s %s", NAME("n"), NAME("gamma")), NAME("g"), "");
    draft_node(d, "Add", arena_printf(a, "%s %s", NAME("g"), NAME("beta")), y, "");
}

static void draft_dense(struct draft *d, const char *x, const char *y, const char *tag, uint64_t in, uint64_t out)
{
    struct arena *a = &d->arena;
    draft_weight(d, NAME("kernel"), DIMS(in, out));
    draft_weight(d, NAME("bias"), DIMS(out));
    draft_node(d, "MatMul", arena_printf(a, "%s %s", x, NAME("kernel")), NAME("product"), "");
    draft_node(d, "Add", arena_printf(a, "%s %s", NAME("bias"), NAME("product")), y, "");
}

static struct draft *draft_encoder(bool tanh_form)
{
    struct draft *d = draft_start(14);
    draft_input(d, "x", ONNX_FLOAT, "batch,5,12");
    draft_whole(d, "heads", WHOLE(0, TOKENS, HEADS, WIDTH / HEADS));
    draft_whole(d, "joined", WHOLE(0, TOKENS, WIDTH));
    draft_layer_norm(d, "x", "a", "ln1");
    draft_dense(d, "a", "q", "q", WIDTH, WIDTH);
    draft_dense(d, "a", "k", "k", WIDTH, WIDTH);
    draft_dense(d, "a", "v", "v", WIDTH, WIDTH);
    draft_node(d, "Reshape", "q heads", "q1", "");
    draft_node(d, "Transpose", "q1", "q2", "perm=0,2,1,3");
    draft_node(d, "Reshape", "k heads", "k1", "");
    draft_node(d, "Transpose", "k1", "k2", "perm=0,2,3,1");
    draft_node(d, "Reshape", "v heads", "v1", "");
    draft_node(d, "Transpose", "v1", "v2", "perm=0,2,1,3");
    draft_node(d, "MatMul", "q2 k2", "scores", "");
    draft_number(d, "two", 2);
    draft_node(d, "Div", "scores two", "scaled", "");       /* sqrt(12 / 3) */
    draft_node(d, "Softmax", "scaled", "shares", "axis=-1");
    draft_node(d, "MatMul", "shares v2", "mixed", "");
    draft_node(d, "Transpose", "mixed", "mixed1", "perm=0,2,1,3");
    draft_node(d, "Reshape", "mixed1 joined", "mixed2", "");
    draft_dense(d, "mixed2", "o", "o", WIDTH, WIDTH);
    draft_node(d, "Add", "x o", "x1", "");
    draft_layer_norm(d, "x1", "b", "ln2");
    draft_dense(d, "b", "h", "f1", WIDTH, INNER);
    draft_number(d, "half", 0.5);
    draft_number(d, "one", 1);
    draft_number(d, "root2", 1.41421354);
    draft_number(d, "three", 3);
    draft_number(d, "c", 0.044715);
    draft_number(d, "s", 0.79788458);
    if (tanh_form) {
        draft_node(d, "Pow", "h three", "h3", "");
        draft_node(d, "Mul", "h3 c", "h4", "");
        draft_node(d, "Add", "h h4", "h5", "");
        draft_node(d, "Mul", "h5 s", "h6", "");
        draft_node(d, "Tanh", "h6", "e", "");
        draft_node(d, "Add", "e one", "e1", "");
        draft_node(d, "Mul", "half h", "hh", "");
        draft_node(d, "Mul", "hh e1", "gelu", "");
    } else {
        draft_node(d, "Div", "h root2", "hr", "");
        draft_node(d, "Erf", "hr", "e", "");
        draft_node(d, "Add", "e one", "e1", "");
        draft_node(d, "Mul", "h e1", "he", "");
        draft_node(d, "Mul", "he half", "gelu", "");
    }
    draft_dense(d, "gelu", "m", "f2", INNER, WIDTH);
    draft_node(d, "Add", "x1 m", "y", "");
    return d;
#undef NAME
}

/* The same layer of the builders' parts, its weights by the order in which they are made. */
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
    x = build_op2(&b, OP_ADD, build_feed_forward(&b, build_layer_norm(&b, x), INNER, OP_GELU), x);
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
        assert_int_equal(count_kind(&r->g, OP_TRANSPOSE), 4);       /* no fifth for the keys */
        done(r);
    }
    arena_free(&a);
}

static uint32_t count_function(const struct graph *g, enum op_function function)
{
    uint32_t n = 0;
    for (size_t i = 0; i < g->n_forward_ops; i++)
        n += g->ops[i].kind == OP_MAP && g->ops[i].at->function == function;
    return n;
}

/* Squares, roots and cubes are cheaper than powers. */
static void powers(void **state)
{
    static const struct { double e; uint32_t n_squares, n_roots, n_products; } cases[] = { { 2, 1, 0, 0 }, { 0.5, 0, 1, 0 }, { 3, 1, 0, 1 }, { 4, 0, 0, 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(18);
        draft_input(d, "x", ONNX_FLOAT, "1,3");
        draft_weight(d, "w", DIMS(3, 2));
        draft_number(d, "e", cases[i].e);
        draft_node(d, "Pow", "x e", "p", "");
        draft_node(d, "MatMul", "p w", "y", "");
        struct imported *r = import(d, "y", infer);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_function(&r->g, FUNCTION_SQUARE), cases[i].n_squares);
        assert_int_equal(count_function(&r->g, FUNCTION_SQRT), cases[i].n_roots);
        assert_int_equal(count_kind(&r->g, OP_MUL), cases[i].n_products);
        done(r);
    }
}

/* ---- what is told, and what is asked, of a file ------------------------------------------------------------------- */

static void the_report(void **state)
{
    char *text;
    (void)state;
    struct imported *r = import(draft_encoder(false), "y", (struct onnx_options){ .inference = true, .batch = 2 });
    PRINTED(text, onnx_print(f, &r->im));
    assert_string_equal(text,
        "made by not named, opset 14: 49 nodes\n"
        "  mapped           8 x MatMul                   matmul\n"
        "  mapped           6 x Add                      bias-add\n"
        "  mapped           4 x Reshape                  view\n"
        "  mapped           4 x Transpose                transpose\n"
        "  mapped           1 x Div                      scale\n"
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

/* What an operation is written out in becomes one only where nothing else reads its parts: each of them in turn is an output, too. */
static void parts_that_others_read_stay(void **state)
{
    static const char *const also[] = { "", " hr", " e", " e1", " he" };
    (void)state;
    for (size_t i = 0; i < sizeof also / sizeof *also; i++) {
        struct draft *d = draft_start(14);
        draft_input(d, "x", ONNX_FLOAT, "2,12");
        draft_weight(d, "w", DIMS(12, 5));
        draft_number(d, "half", 0.5);
        draft_number(d, "one", 1);
        draft_number(d, "root2", 1.41421354);
        draft_node(d, "MatMul", "x w", "h", "");
        draft_node(d, "Div", "h root2", "hr", "");
        draft_node(d, "Erf", "hr", "e", "");
        draft_node(d, "Add", "e one", "e1", "");
        draft_node(d, "Mul", "h e1", "he", "");
        draft_node(d, "Mul", "he half", "y", "");
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

/* Four dimensions of floats, one, three or four channels, under a window, or up to three operations before one: a picture. */
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

/* ---- training ----------------------------------------------------------------------------------------------------- */

/* Softmax becomes part of the loss; every weight gets a gradient; layers are found. */
static void trained(void **state)
{
    (void)state;
    struct draft *d = draft_encoder(false);
    draft_dense(d, "y", "z", "head", WIDTH, 7);
    draft_node(d, "Softmax", "z", "p", "axis=-1");
    struct imported *r = import(d, "p", train);
    assert_string_equal(r->err.msg, "");
    uint32_t weights = 0, gradients = 0;
    for (size_t i = 0; i < r->g.n_tensors; i++) {
        weights += r->g.tensors[i].role == ROLE_WEIGHT;
        gradients += r->g.tensors[i].role == ROLE_WEIGHT_GRADIENT;
    }
    assert_int_equal(weights, 18);
    assert_int_equal(gradients, 18);
    assert_int_equal(count_kind(&r->g, OP_CROSS_ENTROPY), 1);
    assert_int_equal(count_kind(&r->g, OP_SOFTMAX), 1);
    assert_string_equal(r->im.loss, "z");
    assert_true(r->g.n_layers >= 3);            /* attention, feed-forward, head; the large ones cut again */
    assert_string_equal(r->g.layers[0].name, "stem");
    assert_string_equal(r->g.layers[1].name, "block1");
    assert_string_equal(r->g.layers[r->g.n_layers - 1].name, "head");
    done(r);
}

/* In training a batch norm keeps its gain and its bias; those of a scale layer behind it take their place. */
static void trained_batch_norms(void **state)
{
    static const struct { const char *layers, *gain, *bias; } cases[] = {
        { "", "s", "b" }, { "Mul", "gain", "b" }, { "Mul Add", "gain", "bias" } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(14);
        const char *at = "n";
        draft_input(d, "x", ONNX_FLOAT, "2,3,4,4");
        draft_weight(d, "w", DIMS(6, 3, 1, 1));
        draft_weight(d, "head", DIMS(6, 5));
        for (int k = 0; k < 4; k++)
            draft_weight(d, ((const char *const[]){ "s", "b", "mean", "variance" })[k], DIMS(6));
        draft_weight(d, "gain", DIMS(6, 1, 1));
        draft_weight(d, "bias", DIMS(6, 1, 1));
        draft_node(d, "Conv", "x w", "c", "");
        draft_node(d, "BatchNormalization", "c s b mean variance", "n", "");
        if (strstr(cases[i].layers, "Mul"))
            draft_node(d, "Mul", "n gain", at = "m", "");
        if (strstr(cases[i].layers, "Add"))
            draft_node(d, "Add", arena_printf(&d->arena, "%s bias", at), "a", ""), at = "a";
        draft_node(d, "GlobalAveragePool", at, "g", "");
        draft_node(d, "Flatten", "g", "f", "");
        draft_node(d, "MatMul", "f head", "y", "");
        struct imported *r = import(d, "y", (struct onnx_options){ .batch = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_BATCH_NORM), 1);
        for (size_t k = 0; k < r->g.n_forward_ops; k++)
            if (r->g.ops[k].kind == OP_BATCH_NORM) {
                assert_string_equal(r->g.tensors[r->g.ops[k].inputs[1]].name, cases[i].gain);
                assert_string_equal(r->g.tensors[r->g.ops[k].inputs[2]].name, cases[i].bias);
            }
        done(r);
    }
}

/* Start and end of an answer, as question answering exports them: the first is trained, the other has no part in the loss. */
static void one_of_two_outputs(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "batch,4,6");
    draft_dense(d, "x", "both", "qa", 6, 2);
    draft_whole(d, "last", WHOLE(-1));
    draft_node(d, "Split", "both", "a b", "axis=-1");
    draft_node(d, "Squeeze", "a last", "start", "");
    draft_node(d, "Squeeze", "b last", "end", "");
    struct imported *r = import(d, "start end", train);
    assert_string_equal(r->err.msg, "");
    assert_string_equal(r->im.loss, "start");
    assert_true(r->g.n_ops > r->g.n_forward_ops);
    done(r);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------- */

static void refused(struct draft *d, struct onnx_options o, const char *message)
{
    struct imported *r = import(d, "y", o);
    assert_false(r->good);
    const char *colon = strchr(r->err.msg, ':');
    assert_string_equal(colon ? colon + 2 : r->err.msg, message);
    done(r);
}

static void refusals(void **state)
{
    (void)state;
    struct draft *d = draft_start(8);
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "opset 8, want 9 to 21; export again with opset_version=17");
    d = draft_start(17);
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "node 0, Relu 'n0': reads x, which nothing before it makes; is the file cut short?");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "NonMaxSuppression", "x x", "y", "");
    refused(d, infer, "node 0, NonMaxSuppression 'n0': how much it makes is known only while the model runs; stop before it with --set "
                      "recipe.output=NAME, or price it roughly with --approximate");
    d = draft_start(17);
    struct draft *body = draft_start(17);
    draft_node(body, "Again", "a", "b", "");
    body->nodes[0]->domain = "ours";
    draft_function(d, body, "Again", "a", "b", "");
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "Again", "x", "y", "");
    d->nodes[0]->domain = "ours";
    refused(d, infer, "node 0, Again 'n0': functions call each other more than 32 deep, or 50000 times");
    draft_end(body);
}

static void operators_refused(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_UINT8, "n,4");
    draft_node(d, "QLinearMatMul", "x", "y", "");
    refused(d, infer, "node 0, QLinearMatMul 'n0': the chip's products are of floats; export the model before it is quantised, or price it roughly with "
                      "--approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "SkipLayerNormalization", "x", "y", "");
    d->nodes[0]->domain = "com.microsoft";
    refused(d, infer, "node 0, SkipLayerNormalization 'n0': not an operator of ONNX's own; export the model before a runtime has optimised it, or "
                      "price it roughly with --approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "Det", "x", "y", "");
    refused(d, infer, "node 0, Det 'n0': this operator is not modelled; change the model, or price it roughly with --approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "If", "x", "y", "");
    refused(d, infer, "node 0, If 'n0': its condition is computed while the model runs; export the model with one branch alone, or price the longer "
                      "one with --approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4,3");
    draft_input(d, "s", ONNX_FLOAT, "3");
    draft_node(d, "LayerNormalization", "x s", "y", "");
    refused(d, infer, "node 0, LayerNormalization 'n0': its input 1, s, is computed while the model runs; want a constant");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,tokens,4");
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "input x: the size of its dimension 'tokens' is not known; give it: --set data.tokens=128");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,tokens,4");
    draft_node(d, "Relu", "x", "y", "");
    struct onnx_dimension frames = { "frames", 10 };
    refused(d, (struct onnx_options){ .inference = true, .dimensions = &frames, .n_dimensions = 1 },
            "data.frames: the model has no symbolic dimension of this name; its dimensions: n, tokens");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "no product or convolution in it; nothing to simulate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_weight(d, "w", DIMS(5, 3));
    draft_node(d, "MatMul", "x w", "y", "");
    refused(d, infer, "node 0, MatMul 'n0': inner sizes 4 and 5 differ");
}

/* As many Ifs in each other: "x" goes through them all. */
static struct draft *nested(uint32_t depth)
{
    struct draft *inner = NULL;
    for (uint32_t i = 0; i <= depth; i++) {
        struct draft *d = draft_start(17);
        if (i == depth) {
            draft_input(d, "x", ONNX_FLOAT, "n,4");
            draft_weight(d, "w", DIMS(4, 3));
            draft_whole(d, "one", WHOLE(1));
            draft_node(d, "Equal", "one one", "yes", "");
        }
        draft_node(d, inner ? "If" : "Relu", inner ? "yes" : "x", "t", "");
        if (inner) {
            draft_body(d, "then_branch", inner, "t");
            draft_end(inner);
        }
        inner = d;
    }
    draft_node(inner, "MatMul", "t w", "y", "");
    return inner;
}

static void course_refused(void **state)
{
    (void)state;
    refused(nested(33), infer, "node 33, If 'n0': branches and loops stand in each other more than 32 deep");
    struct imported *r = import(nested(32), "y", infer);
    assert_string_equal(r->err.msg, "");
    done(r);
    struct draft *body = draft_start(17), *d = draft_start(17);
    draft_input(body, "i", ONNX_INT64, "1");
    draft_input(body, "on", ONNX_BOOL, "1");
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_input(d, "trips", ONNX_INT64, "1");
    draft_node(d, "Loop", "trips", "y", "");
    draft_body(d, "body", body, "on i");
    refused(d, infer, "node 0, Loop 'n0': how often it runs is known only while the model runs; export the model with its loop unrolled, or price one "
                      "round with --approximate");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "Loop", "x", "y", "");
    draft_body(d, "body", body, "on");
    refused(d, infer, "node 0, Loop 'n0': its body does not have the inputs and outputs of a loop that carries 0 values");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_whole(d, "trips", WHOLE(0));
    draft_node(d, "Loop", "trips", "none", "");
    draft_body(d, "body", body, "on i");
    draft_node(d, "Relu", "none", "y", "");
    refused(d, infer, "node 0, Loop 'n0': runs no round, and what it stacks is read");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_whole(d, "trips", WHOLE(1001));
    draft_node(d, "Loop", "trips", "y", "");
    draft_body(d, "body", body, "on i");
    refused(d, infer, "node 0, Loop 'n0': more than 1000 branches and rounds of loops");
    draft_end(body);
}

static void sequences_refused(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_input(d, "at", ONNX_INT64, "1");
    draft_node(d, "SequenceConstruct", "x x", "s", "");
    draft_node(d, "SequenceAt", "s at", "y", "");
    refused(d, infer, "node 1, SequenceAt 'n1': a place in a sequence that is outside it, or known only while the model runs; export tensors");
    d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_whole(d, "two", WHOLE(2));
    draft_node(d, "SequenceConstruct", "x x", "s", "");
    draft_node(d, "SequenceAt", "s two", "y", "");
    refused(d, infer, "node 1, SequenceAt 'n1': a place in a sequence that is outside it, or known only while the model runs; export tensors");
    d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "SequenceLength", "x", "y", "");
    refused(d, infer, "node 0, SequenceLength 'n0': reads a sequence that nothing here makes; export tensors");
    d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,1001");
    draft_node(d, "SplitToSequence", "x", "s", "axis=1");
    draft_node(d, "SequenceLength", "s", "y", "");
    refused(d, infer, "node 0, SplitToSequence 'n0': its parts are known only while the model runs, or more than 1000");
    d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "SequenceEmpty", "", "s", "");
    draft_node(d, "ConcatFromSequence", "s", "y", "");
    refused(d, infer, "node 1, ConcatFromSequence 'n1': joins nothing");
}

/* Where data decide: the longer branch, and one round of a loop; both are counted. */
static void course_guessed(void **state)
{
    (void)state;
    struct draft *body = draft_start(17), *shorter = draft_start(17), *longer = draft_start(17), *d = draft_start(17);
    draft_input(body, "i", ONNX_INT64, "1");
    draft_input(body, "on", ONNX_BOOL, "1");
    draft_input(body, "carried", ONNX_FLOAT, "1,4");
    draft_node(body, "MatMul", "carried square", "more", "");
    draft_node(shorter, "Identity", "x", "t", "");
    draft_node(longer, "Tanh", "x", "u", "");
    draft_node(longer, "Tanh", "u", "t", "");
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_input(d, "trips", ONNX_INT64, "1");
    draft_weight(d, "square", DIMS(4, 4));
    draft_node(d, "Greater", "trips trips", "which", "");
    draft_node(d, "If", "which", "t", "");
    draft_body(d, "then_branch", shorter, "t");
    draft_body(d, "else_branch", longer, "t");
    draft_node(d, "Loop", "trips - t", "y", "");
    draft_body(d, "body", body, "on more");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_MATMUL), 1);
    assert_int_equal(count_kind(&r->g, OP_TANH), 2);
    assert_int_equal(r->g.n_rough_ops, 2);
    done(r);
    draft_end(body);
    draft_end(shorter);
    draft_end(longer);
}

static bool build_from(const char *path, bool contents, struct graph *g, struct onnx_import *im, struct arena *a, struct err *err)
{
    struct onnx_options o = { .batch = 1, .inference = true, .contents = contents };
    return onnx_build(g, im, path, &o, a, err);
}

/* Of large tensors, in the file or in a constant, sizes alone are read; small ones keep their numbers. A file that is cut short anywhere is
 * refused, passed over or not. */
static void large_tensors(void **state)
{
    struct graph g;
    struct onnx_import im;
    struct arena a = { 0 };
    struct err err = { "" };
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,40");
    draft_weight(d, "w", DIMS(40, 500));
    draft_weight(d, "v", DIMS(500, 3));
    for (int i = 0; i < 2; i++) {               /* as bytes, as exporters write them */
        Onnx__TensorProto *t = d->weights[i];
        t->has_raw_data = true;
        t->raw_data = (ProtobufCBinaryData){ t->n_float_data * sizeof(float), (uint8_t *)t->float_data };
        t->n_float_data = 0;
    }
    draft_whole(d, "shape", WHOLE(-1, 2, 250));
    draft_node(d, "MatMul", "x w", "h", "");
    draft_node(d, "Reshape", "h shape", "r", "");
    draft_node(d, "Flatten", "r", "f", "axis=1");
    draft_node(d, "MatMul", "f v", "y", "");
    draft_write(d, "y", model_path());
    draft_end(d);
    for (int contents = 0; contents < 2; contents++) {
        assert_true(build_from(model_path(), contents, &g, &im, &a, &err));
        assert_int_equal(graph_parameters(&g), 40 * 500 + 500 * 3);
        assert_int_equal(graph_forward_mac(&g), 40 * 500 + 500 * 3);
        uint32_t w = im.sources[0].values[0], v = im.sources[1].values[0];
        const double *large = onnx_contents(im.model, w, &a), *small = onnx_contents(im.model, v, &a);
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

/* A quantised product is priced as the float one with its channels, weights and all; scales and zero points go. */
static void quantised(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,3,6,6");
    draft_number(d, "s", 0.5);
    draft_whole(d, "z", WHOLE(0));
    draft_tensor(d, "kernel", ONNX_INT8, DIMS(4, 3, 3, 3));
    draft_tensor(d, "matrix", ONNX_INT8, DIMS(4, 5));
    draft_node(d, "QuantizeLinear", "x s z", "q", "");
    draft_node(d, "QLinearConv", "q s z kernel s z s z", "c", "pads=1,1,1,1");
    draft_node(d, "MaxPool", "c", "p", "kernel_shape=6,6");
    draft_node(d, "DequantizeLinear", "p s z", "f", "");
    draft_node(d, "Flatten", "f", "flat", "");
    draft_node(d, "DynamicQuantizeLinear", "flat", "dq scale point", "");
    draft_node(d, "MatMulInteger", "dq matrix point", "whole", "");
    draft_node(d, "Cast", "whole", "numbers", "to=1");
    draft_node(d, "Mul", "numbers scale", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true, .batch = 2 });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(graph_forward_mac(&r->g), 2 * (36 * 27 * 4 + 4 * 5));
    assert_int_equal(graph_parameters(&r->g), 4 * 27 + 4 * 5);
    assert_int_equal(r->g.n_rough_ops, 5);
    for (size_t i = 0; i < r->g.n_tensors; i++)
        assert_int_not_equal(r->g.tensors[i].type, TYPE_UINT8);
    done(r);
}

/* A loss that the file has, with its softmax in it or before it, is trained as the one that is added where it has none; alone it is refused. */
static void losses_of_files(void **state)
{
    (void)state;
    for (int way = 0; way < 5; way++) {
        struct draft *d = draft_start(13);
        draft_input(d, "x", ONNX_FLOAT, "n,4");
        draft_input(d, "classes", ONNX_INT64, "n");
        draft_weight(d, "w", DIMS(4, 3));
        draft_node(d, "MatMul", "x w", "scores", "");
        if (way == 1 || way == 3)
            draft_node(d, "LogSoftmax", "scores", "logs", "");
        if (way == 1 || way == 2 || way == 4)
            draft_node(d, way == 1 ? "NegativeLogLikelihoodLoss" : "SoftmaxCrossEntropyLoss", way == 1 ? "logs classes" : way == 2 ? "scores classes" : "x classes",
                       "loss", "");
        struct imported *r = import(d, way == 0 ? "scores" : way == 3 ? "logs" : "loss", (struct onnx_options){ .batch = 2 });
        if (way == 4) {
            assert_non_null(strstr(r->err.msg, ": no product or convolution in it; nothing to simulate"));
        } else {
            assert_string_equal(r->err.msg, "");
            assert_int_equal(count_kind(&r->g, OP_CROSS_ENTROPY), 1);
            assert_int_equal(r->g.n_forward_ops, 2);
            assert_string_equal(r->im.loss, "scores");
        }
        done(r);
    }
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_input(d, "classes", ONNX_INT64, "n");
    draft_node(d, "SoftmaxCrossEntropyLoss", "x classes", "y", "");
    refused(d, infer, "node 0, SoftmaxCrossEntropyLoss 'n0': is not modelled where data go through it; change the model, or price it roughly with --approximate");
}

/* What lies behind the values stopped at, or leads to another output than the one trained, is not asked what it is. A Loop that counts may
 * read what no node behind it does. */
static void parts_of_a_model(void **state)
{
    static const struct { const char *output, *outputs; bool training; const char *error; uint64_t mac; } cases[] = {
        { "scores", "taken", false, "", 4 * 2 }, { "boxes,scores", "taken", false, "", 4 * 3 + 4 * 2 }, { NULL, "scores taken", true, "", 4 * 2 },
        { NULL, "last", true, "", 4 * 2 + 4 * 4 },
        { "x", "taken", false, "recipe.output: no node makes 'x'; take the name of a node's output, as those of the file itself: taken", 0 },
        { "scores,", "taken", false, "recipe.output: no node makes ''; take the name of a node's output, as those of the file itself: taken", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13), *body = draft_start(13);
        draft_input(d, "x", ONNX_FLOAT, "n,4");
        draft_weight(d, "v", DIMS(4, 3));
        draft_weight(d, "w", DIMS(4, 2));
        draft_weight(d, "square", DIMS(4, 4));
        draft_whole(d, "once", WHOLE(1));
        draft_node(d, "MatMul", "x v", "boxes", "");
        draft_node(d, "MatMul", "x w", "scores", "");
        draft_node(d, "NonMaxSuppression", "boxes scores", "taken", "");
        draft_input(body, "i", ONNX_INT64, "1");
        draft_input(body, "on", ONNX_BOOL, "1");
        draft_input(body, "carried", ONNX_FLOAT, "1,4");
        draft_node(body, "MatMul", "carried square", "y", "");
        draft_node(body, "ReduceMax", "scores", "most", "");
        draft_node(body, "Add", "y most", "more", "");
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

/* As many as there can be: 2 classes x 3 of 8 boxes are taken, every element may be above the limit, all are sorted. */
static void sizes_by_data(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "n,8,4");
    draft_weight(d, "w", DIMS(4, 2));
    draft_number(d, "limit", 0.5);
    draft_whole(d, "most", WHOLE(3));
    draft_whole(d, "column", WHOLE(2));
    draft_node(d, "MatMul", "x w", "scores", "");
    draft_node(d, "Transpose", "scores", "by_class", "perm=0,2,1");
    draft_node(d, "NonMaxSuppression", "x by_class most", "taken", "");
    draft_node(d, "Gather", "taken column", "row", "axis=1");
    draft_node(d, "Greater", "scores limit", "above", "");
    draft_node(d, "NonZero", "above", "places", "");
    draft_node(d, "Size", "places", "k", "");
    draft_node(d, "TopK", "scores most", "sorted order", "axis=1");
    draft_node(d, "Cast", "order", "y", "to=1");
    struct imported *r = import(d, "y row places", (struct onnx_options){ .inference = true, .approximate = true });
    assert_string_equal(r->err.msg, "");
    const struct onnx_value *row = &r->im.model->values[r->im.model->outputs[1]], *places = &r->im.model->values[r->im.model->outputs[2]];
    assert_int_equal(row->dims[0], 2 * 3);
    assert_int_equal(places->dims[0], 3);
    assert_int_equal(places->dims[1], 16);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 3 * 2);
    assert_true(r->g.n_rough_ops >= 3);
    done(r);
}

/* A first input of three rows with names behind has no batch; a name in front may be given a size of its own. */
static void inputs_without_batch(void **state)
{
    struct onnx_dimension sizes[] = { { "high", 6 }, { "words", 7 } };
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "3,high,4");
    draft_input(d, "v", ONNX_FLOAT, "words,4");
    draft_weight(d, "w", DIMS(4, 2));
    draft_node(d, "MatMul", "x w", "a", "");
    draft_node(d, "MatMul", "v w", "b", "");
    d->opset.domain = (char[]){ "ai.onnx" };            /* spelled out */
    struct imported *r = import(d, "a b", (struct onnx_options){ .inference = true, .dimensions = sizes, .n_dimensions = 2 });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(graph_forward_mac(&r->g), (3 * 6 + 7) * 4 * 2);
    done(r);
}

/* One unknown operator is priced as a pass and counted. */
static void approximated(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_weight(d, "w", DIMS(4, 3));
    draft_node(d, "MysteryActivation", "x", "m", "");
    draft_node(d, "MatMul", "m w", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .approximate = true });
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_SCALE), 1);
    assert_int_equal(r->im.counts[0].fate, ONNX_APPROXIMATED);
    assert_string_equal(r->im.counts[0].op, "MysteryActivation");
    assert_int_equal(r->g.n_rough_ops, 1);
    done(r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(encoder), cmocka_unit_test(powers), cmocka_unit_test(the_report), cmocka_unit_test(pictures),
    cmocka_unit_test(kinds_of_convolutions), cmocka_unit_test(parts_that_others_read_stay), cmocka_unit_test(trained),
    cmocka_unit_test(trained_batch_norms), cmocka_unit_test(one_of_two_outputs), cmocka_unit_test(refusals),
    cmocka_unit_test(operators_refused), cmocka_unit_test(course_refused), cmocka_unit_test(course_guessed), cmocka_unit_test(sequences_refused), cmocka_unit_test(large_tensors), cmocka_unit_test(quantised), cmocka_unit_test(losses_of_files), cmocka_unit_test(parts_of_a_model), cmocka_unit_test(sizes_by_data),
    cmocka_unit_test(inputs_without_batch), cmocka_unit_test(approximated),
};
TAP_MAIN(tests)
