/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_training.c - training of files: the loss, the softmax before it, and gradients.
 */
#include "tests/onnx/encoder.h"

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
    assert_true(r->g.n_layers >= 3);            /* attention, feed-forward, head; large ones are cut again */
    assert_string_equal(r->g.layers[0].name, "stem");
    assert_string_equal(r->g.layers[1].name, "block1");
    assert_string_equal(r->g.layers[r->g.n_layers - 1].name, "head");
    done(r);
}

/* In training a batch norm keeps its gain and bias, or those of a scale layer after it. Its two moving averages have
 * one number for each channel. */
static void trained_batch_norms(void **state)
{
    static const struct { const char *layers, *gain, *bias; } cases[] = {
        { "", "s", "b" }, { "Mul", "gain", "b" }, { "Mul Add", "gain", "bias" } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(14);
        const char *at = "n";
        draft_text(d, "x: 2,3,4,4; w = 6,3,1,1; head = 6,5");
        for (int k = 0; k < 4; k++)
            draft_weight(d, ((const char *const[]){ "s", "b", "mean", "variance" })[k], DIMS(6));
        draft_text(d, "gain = 6,1,1; bias = 6,1,1; Conv x w > c; BatchNormalization c s b mean variance > n");
        if (strstr(cases[i].layers, "Mul"))
            draft_node(d, "Mul", "n gain", at = "m", "");
        if (strstr(cases[i].layers, "Add"))
            draft_node(d, "Add", arena_printf(&d->arena, "%s bias", at), "a", ""), at = "a";
        draft_node(d, "GlobalAveragePool", at, "g", "");
        draft_text(d, "Flatten g > f; MatMul f head > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .batch = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(count_kind(&r->g, OP_BATCH_NORM), 1);
        for (size_t k = 0; k < r->g.n_forward_ops; k++)
            if (r->g.ops[k].kind == OP_BATCH_NORM) {
                assert_string_equal(r->g.tensors[r->g.ops[k].inputs[1]].name, cases[i].gain);
                assert_string_equal(r->g.tensors[r->g.ops[k].inputs[2]].name, cases[i].bias);
            }
        int n_moving = 0;
        for (size_t k = 0; k < r->g.n_tensors; k++)
            if (strncmp(r->g.tensors[k].name, "moving-", 7) == 0) {
                n_moving++;
                assert_true(r->g.tensors[k].role == ROLE_STATE && r->g.tensors[k].n_dims == 1);
                assert_int_equal(r->g.tensors[k].dims[0], 6);
            }
        assert_int_equal(n_moving, 2);
        done(r);
    }
}

/* Rows of a position table that every layer reads follow from weights alone, so layers still end after each sum. A
 * value that also follows from the input, and that all layers read, keeps them together. */
static void layers_beside_a_table(void **state)
{
    (void)state;
    for (int of_input = 0; of_input < 2; of_input++) {
        struct draft *d = draft_start(13);
        const char *at = "first";
        draft_text(d, "x: batch,4,6; table = 8,6; head = 6,500; zero = [0]; four = [4]");
        draft_dense(d, "x", "first", "in", 6, 6);
        draft_node(d, of_input ? "Sigmoid" : "Slice", of_input ? "first" : "table zero four zero", "shared", "");
        for (int k = 0; k < 3; k++) {
            const char *to = arena_printf(&d->arena, "y%d", k), *dense = arena_printf(&d->arena, "d%d", k);
            draft_dense(d, at, dense, arena_printf(&d->arena, "l%d", k), 6, 6);
            draft_node(d, "Add", arena_printf(&d->arena, "%s shared", dense), to, "");
            at = to;
        }
        draft_node(d, "MatMul", arena_printf(&d->arena, "%s head", at), "y", "");
        struct imported *r = import(d, "y", train);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(r->g.n_layers, of_input ? 3 : 5);
        done(r);
    }
}

/* Weights computed element by element from parameters (weight norm, a gain as an offset from one) are trained; those
 * computed from integers, or by other functions, are not. A product of parameters is an operation. */
static void computed_weights(void **state)
{
    static const struct { const char *nodes[3][4]; uint64_t n_trained; } cases[] = {
        { { { "ReduceL2", "v", "l", "axes=1" }, { "Div", "v l", "d", "" }, { "Mul", "d g", "w", "" } }, 5 * 5 },
        { { { "Add", "one v", "w", "" } }, 5 * 5 }, { { { "Sub", "one v", "a", "" }, { "Exp", "a", "b", "" }, { "Transpose", "b", "w", "" } }, 5 * 5 },
        { { { "Cast", "whole", "c", "to=1" }, { "Mul", "c one", "k", "" }, { "Expand", "k shape", "w", "" } }, 0 },
        { { { "Transpose", "g", "t", "" }, { "Expand", "t shape", "w", "" } }, 5 },         /* copies of a view */
        { { { "Mul", "g v", "w", "" } }, 5 * 5 },
        { { { "MatMul", "v v", "w", "" } }, 5 * 5 }, { { { "Sin", "v", "w", "" } }, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(13);
        draft_text(d, "x: batch,5; v = 5,5; g = 5,1; head = 5,7");
        draft_number(d, "one", 1);
        draft_text(d, "whole = [1,2,3,4,5]; shape = [5,5]");
        for (int k = 0; k < 3 && cases[i].nodes[k][0]; k++)
            draft_node(d, cases[i].nodes[k][0], cases[i].nodes[k][1], cases[i].nodes[k][2], cases[i].nodes[k][3]);
        draft_text(d, "MatMul x w > h; MatMul h head > y");
        struct imported *r = import(d, "y", train);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), 5 * 7 + cases[i].n_trained);
        done(r);
    }
}

/* Eight elementwise steps are followed to a parameter, nine are not. */
static void computed_in_many_steps(void **state)
{
    (void)state;
    for (int steps = 8; steps <= 9; steps++) {
        struct draft *d = draft_start(13);
        draft_text(d, "x: batch,5; v0 = 5,5; head = 5,7");
        for (int i = 0; i < steps; i++)
            draft_node(d, "Neg", arena_printf(&d->arena, "v%d", i), arena_printf(&d->arena, "v%d", i + 1), "");
        draft_node(d, "MatMul", arena_printf(&d->arena, "x v%d", steps), "h", "");
        draft_node(d, "MatMul", "h head", "y", "");
        struct imported *r = import(d, "y", train);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), 5 * 7 + (steps == 8 ? 5 * 5 : 0));
        done(r);
    }
}

/* In a chain of products each is a layer. */
static void layers_of_products(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "batch,5");
    for (int i = 0; i < 4; i++) {
        draft_weight(d, arena_printf(&d->arena, "w%d", i), DIMS(5, 5));
        draft_node(d, "MatMul", i ? arena_printf(&d->arena, "h%d w%d", i, i) : "x w0", i < 3 ? arena_printf(&d->arena, "h%d", i + 1) : "y", "");
    }
    struct imported *r = import(d, "y", infer);
    assert_string_equal(r->err.msg, "");
    assert_int_equal(r->g.n_layers, 4);
    for (size_t i = 0; i < r->g.n_ops; i++)
        assert_int_equal(r->g.ops[i].layer_id, i);
    done(r);
}

/* Question answering has two outputs, start and end: the first is trained, the other is not part of the loss. */
static void one_of_two_outputs(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_input(d, "x", ONNX_FLOAT, "batch,4,6");
    draft_dense(d, "x", "both", "qa", 6, 2);
    draft_text(d, "last = [-1]; Split both > a b axis=-1; Squeeze a last > start; Squeeze b last > end");
    struct imported *r = import(d, "start end", train);
    assert_string_equal(r->err.msg, "");
    assert_string_equal(r->im.loss, "start");
    assert_true(r->g.n_ops > r->g.n_forward_ops);
    done(r);
}

/* A loss in the file, with a softmax in it or before it, equals the one that is added otherwise; a loss alone is
 * refused. */
static void losses_of_files(void **state)
{
    (void)state;
    for (int way = 0; way < 5; way++) {
        struct draft *d = draft_start(13);
        draft_text(d, "x: n,4; classes: int64 n; w = 4,3; MatMul x w > scores");
        if (way == 1 || way == 3)
            draft_node(d, "LogSoftmax", "scores", "logs", "");
        if (way == 1 || way == 2 || way == 4)
            draft_node(d, way == 1 ? "NegativeLogLikelihoodLoss" : "SoftmaxCrossEntropyLoss", way == 1 ? "logs classes" : way == 2 ? "scores classes" : "x classes",
                       "loss", "");
        struct imported *r = import(d, way == 0 ? "scores" : way == 3 ? "logs" : "loss", (struct onnx_options){ .batch = 2 });
        if (way == 4) {
            assert_non_null(strstr(r->err.msg, ": no operation that computes anything, or no weight that is trained; nothing to simulate"));
        } else {
            assert_string_equal(r->err.msg, "");
            assert_int_equal(count_kind(&r->g, OP_CROSS_ENTROPY), 1);
            assert_int_equal(r->g.n_forward_ops, 2);
            assert_string_equal(r->im.loss, "scores");
        }
        done(r);
    }
}

/* In inference a loss is an output like others. Classes are [2, 4, 3], labels 0, 2, 4, 1, 3, 0 (4 is no class); label
 * 2 or 4 is ignored; with and without class weights; with each reduction. */
static void losses_as_outputs(void **state)
{
    static const char *const reductions[] = { "reduction=none", "reduction=sum", "reduction=mean" };
    (void)state;
    for (int way = 0; way < 12; way++) {
        bool softmax = way / 6, weighted = way % 2;
        int ignored = softmax ? 2 : 4;
        struct draft *d = draft_start(13);
        draft_text(d, "x: n,4,3; classes: int64 n,3; w = 4; one = 1,1; beside: n,1");
        draft_node(d, softmax ? "SoftmaxCrossEntropyLoss" : "NegativeLogLikelihoodLoss", weighted ? "x classes w" : "x classes", "y",
                   arena_printf(&d->arena, "%s ignore_index=%d", reductions[way / 2 % 3], ignored));
        draft_node(d, "MatMul", "beside one", "z", "");
        struct imported *r = import(d, "y z", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r), sum = 0, weights = 0;
        for (uint64_t i = 0; i < 6; i++) {
            uint64_t label = i * 7 % 5;
            double shares = 0, loss = 0, w = (int)label == ignored || label > 3 ? 0 : weighted ? draft_noise("w", label) : 1;
            for (uint64_t c = 0; c < 4; c++)
                shares += exp(draft_noise("x", (i / 3 * 4 + c) * 3 + i % 3));
            if (label < 4)
                loss = -w * (draft_noise("x", (i / 3 * 4 + label) * 3 + i % 3) - (softmax ? log(shares) : 0));
            sum += loss;
            weights += (int)label == ignored ? 0 : label > 3 && !weighted ? 1 : w;
            if (way / 2 % 3 == 0)
                assert_near(y[i], loss, 1e-6);
        }
        if (way / 2 % 3 > 0)
            assert_near(y[0], way / 2 % 3 == 1 ? sum : sum / weights, 1e-5);
        assert_int_equal(r->g.n_rough_ops, 0);
        done(r);
    }
}

/* Constant nodes are trained if all initialisers are single numbers; with an initialiser of two numbers they are
 * not. */
static void weights_in_nodes(void **state)
{
    static const struct { uint64_t n; uint64_t parameters; } cases[] = { { 0, 6 }, { 1, 6 }, { 2, 2 } };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: n,3; w = 3,2");
        draft_as_node(d);
        draft_node(d, "MatMul", "x w", "h", "");
        if (cases[i].n)
            draft_weight(d, "shift", 1, &cases[i].n);
        draft_node(d, cases[i].n ? "Add" : "Relu", cases[i].n ? "h shift" : "h", "y", "");
        struct imported *r = import(d, "y", train);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), cases[i].parameters);
        done(r);
    }
}

/* A weight computed in eight elementwise steps is trained; in nine, or with another size, it is not. */
static void steps_of_a_weight(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: n,3; w = 3,2; row = 1,2; head = 2,5");
        const char *last = "w";
        for (int i = 0; i < 8 + more; i++) {
            const char *next = arena_printf(&d->arena, "w%d", i);
            draft_node(d, i % 2 ? "Neg" : "Mul", i % 2 ? last : arena_printf(&d->arena, "row %s", last), next, "");
            last = next;
        }
        draft_node(d, "MatMul", arena_printf(&d->arena, "x %s", last), "h", "");
        draft_node(d, "MatMul", "h head", "y", "");
        struct imported *r = import(d, "y", train);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), more ? 2 * 5 : 3 * 2 + 2 * 5);
        done(r);
    }
}

/* A weight behind Identity nodes, as torch writes shared ones, is one weight, however many read it. */
static void a_weight_behind_identities(void **state)
{
    (void)state;
    for (int training = 0; training < 2; training++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: batch,8; w = 8,8; Identity w > w1; Identity w1 > w2; MatMul x w > a; MatMul a w1 > b; MatMul b w2 > y");
        struct imported *r = import(d, "y", training ? train : infer);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), 8 * 8);
        assert_int_equal(graph_forward_mac(&r->g), 3 * 8 * 8);
        done(r);
    }
}

/* A causal mask of floats, which is only cut and compared, is state; a weight that is compared and added too is a
 * parameter. */
static void masks_of_floats(void **state)
{
    static const struct { const char *nodes; uint64_t parameters; } cases[] = {
        { "Slice mask from to axis > cut; Equal cut zero > off; Where off low p > y", 6 * 4 },
        { "Slice mask from to axis > cut; Equal cut zero > off; Where off low p > q; Add q cut > y", 6 * 4 + 5 * 4 },
        { "Slice mask from to axis > cut; Greater p cut > off; Where off low p > y", 6 * 4 },
        { "Slice mask from to axis > cut; Cast cut > off to=9; Where off p cut > y", 6 * 4 + 5 * 4 },
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: 3,6; w = 6,4; mask = 5,4; from = [0]; to = [3]; axis = [0]; MatMul x w > p");
        draft_number(d, "zero", 0);
        draft_number(d, "low", -1e4);
        draft_text(d, cases[i / 2].nodes);
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = i % 2, .batch = 3 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), cases[i / 2].parameters);
        done(r);
    }
}

/* Scores [2 samples, 3 heads, 4, 4]: what is added to all heads alike before the softmax is a mask, also where it is scaled or viewed first; a bias
 * by head, and a row for all rows, are parameters. A row of numbers is never a mask. */
static void masks_that_are_added(void **state)
{
    static const struct { const char *bias, *nodes; uint64_t parameters; } cases[] = {
        { "4,4", "Add s bias > t; Softmax t > u", 0 }, { "1,1,4,4", "Mul bias half > m; Add m s > t; Softmax t > u", 0 },
        { "4,4", "Add s bias > t; Reshape t flat > v; Softmax v > u", 0 }, { "4,4", "Add s bias > t; Relu t > u", 16 },
        { "3,4,4", "Add s bias > t; Softmax t > u", 48 }, { "1,4", "Add s bias > t; Softmax t > u", 4 },
        { "4,4", "Add s bias > t; Softmax t > q; Add q bias > u", 16 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        struct arena a = { 0 };
        draft_text(d, arena_printf(&a, "x: batch,3,4,5; w = 3,5,4; bias = %s; flat = [6,4,4]; MatMul x w > s", cases[i].bias));
        draft_number(d, "half", 0.5);
        draft_text(d, cases[i].nodes);
        draft_text(d, "r = 4,2; MatMul u r > y");
        struct imported *r = import(d, "y", (struct onnx_options){ .batch = 2 });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), 3 * 5 * 4 + 4 * 2 + cases[i].parameters);
        done(r);
        arena_free(&a);
    }
}

/* Two heads of a detector: the first is trained, or those that recipe.output names. The report says which are not. */
static void losses_of_several_outputs(void **state)
{
    static const struct { const char *output, *loss, *ignored; uint64_t parameters, losses; } cases[] = {
        { NULL, "s", "boxes", 6 * 5 + 5 * 3, 1 }, { "boxes", "boxes", NULL, 6 * 5 + 5 * 4, 1 }, { "boxes,scores", "boxes, s", NULL, 6 * 5 + 5 * 4 + 5 * 3, 2 },
        { "scores,less", "scores, less", NULL, 6 * 5 + 5 * 3, 2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: batch,6; w = 6,5; u = 5,3; v = 5,4; MatMul x w > h; MatMul h u > s; Softmax s > scores; MatMul h v > boxes; Neg scores > less");
        struct imported *r = import(d, "scores boxes", (struct onnx_options){ .batch = 2, .output = cases[i].output });
        assert_string_equal(r->err.msg, "");
        assert_string_equal(r->im.loss, cases[i].loss);
        assert_true(cases[i].ignored ? r->im.ignored && text_is(r->im.ignored, cases[i].ignored) : !r->im.ignored);
        assert_int_equal(count_kind(&r->g, OP_CROSS_ENTROPY), cases[i].losses);
        uint64_t n = 0;
        for (size_t t = 0; t < r->g.n_tensors; t++)
            n += r->g.tensors[t].role == ROLE_WEIGHT_GRADIENT ? tensor_elements(&r->g.tensors[t]) : 0;
        assert_true(n >= cases[i].parameters);
        assert_int_equal(graph_parameters(&r->g), cases[i].parameters);
        done(r);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_weight_behind_identities), cmocka_unit_test(masks_of_floats), cmocka_unit_test(masks_that_are_added), cmocka_unit_test(losses_of_several_outputs),
    cmocka_unit_test(weights_in_nodes), cmocka_unit_test(steps_of_a_weight),
    cmocka_unit_test(trained), cmocka_unit_test(trained_batch_norms), cmocka_unit_test(computed_weights),
    cmocka_unit_test(computed_in_many_steps), cmocka_unit_test(layers_of_products), cmocka_unit_test(layers_beside_a_table), cmocka_unit_test(one_of_two_outputs),
    cmocka_unit_test(losses_of_files), cmocka_unit_test(losses_as_outputs),
};
TAP_MAIN(tests)
