/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_refusals.c - refused files with their exact messages.
 */
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

static void refusals(void **state)
{
    (void)state;
    struct draft *d = draft_start(6);
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "opset 6, want 7 to 25; export again with opset_version=17");
    d = draft_start(17);
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "node 0, Relu 'n0': reads x, which nothing before it makes; is the file cut short?");
    d = draft_start(17);
    draft_text(d, "x: n,4,4; NonMaxSuppression x x > y");
    refused(d, infer, "node 0, NonMaxSuppression 'n0': how much it makes is known only while the model runs; bound it with --set "
                      "data.y=NUMBER, or stop before it with --set recipe.output=NAME");
    d = draft_start(17);
    struct draft *body = draft_start(17);
    draft_node(body, "Again", "a", "b", "");
    body->nodes[0]->domain = "ours";
    draft_function(d, body, "Again", "a", "b", "");
    draft_text(d, "x: n,4; Again x > y");
    d->nodes[0]->domain = "ours";
    refused(d, infer, "node 0, Again 'n0': functions call each other more than 32 deep, or 50000 times");
    draft_end(body);
}

/* Inputs of strings, inputs without shapes, and nodes whose result has no shape either. */
static void inputs_refused(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_text(d, "words: string n,4; Identity words > y");
    refused(d, infer, "input words holds strings; export the model without the nodes that read them");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    d->inputs[0]->type->tensor_type->shape = NULL;
    draft_node(d, "Relu", "x", "y", "");
    refused(d, infer, "input x has no shape; export the model with shapes");
    d = draft_start(17);
    draft_node(d, "Det", "", "y", "");
    refused(d, (struct onnx_options){ .inference = true, .approximate = true },
            "node 0, Det 'n0': this operator is not modelled, and neither its result nor its input has a shape");
}

/* Messages say what a user can do about an operator that is not modelled. */
static void advice(void **state)
{
#define FLOATS "the chip's products are of floats; quantise the model to QDQ, or export it before, or price it roughly with --approximate"
    static const struct { const char *op, *domain, *reason; } cases[] = {
        { "QLinearConv", "", FLOATS }, { "DynamicQuantizeLinear", "", FLOATS }, { "ConvInteger", "", FLOATS }, { "MatMulInteger", "", FLOATS },
        { "Unique", "", "how much it makes is known only while the model runs; stop before it with --set recipe.output=NAME, or price it roughly with --approximate" },
        { "SequenceMap", "", "sequences of tensors are not modelled; export tensors, or price it roughly with --approximate" },
        { "Det", "ai.onnx", "this operator is not modelled; change the model, or price it roughly with --approximate" },
        { "Det", "com.microsoft", "not an operator of ONNX's own; export the model before a runtime has optimised it, or price it roughly with --approximate" },
    };
#undef FLOATS
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        char message[300];
        draft_input(d, "x", ONNX_FLOAT, "n,4");
        draft_node(d, cases[i].op, "x", "y", "");
        d->nodes[0]->domain = arena_strdup(&d->arena, cases[i].domain);
        snprintf(message, sizeof message, "node 0, %s 'n0': %s", cases[i].op, cases[i].reason);
        refused(d, infer, message);
    }
}

/* A node without a name is called by its first output. */
static void nodes_without_a_name(void **state)
{
    static const struct { const char *op, *outputs, *message; } cases[] = {
        { "Det", "y", "node 0, Det 'y': this operator is not modelled; change the model, or price it roughly with --approximate" },
        { "Dropout", "- y", "node 0, Dropout '': has no output" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        draft_input(d, "x", ONNX_FLOAT, "n,4");
        draft_node(d, cases[i].op, "x", cases[i].outputs, "");
        d->nodes[0]->name = arena_strdup(&d->arena, "");
        refused(d, infer, cases[i].message);
    }
}

/* The indices of a MaxPool may be made, but not read. */
static void pool_indices_that_are_read(void **state)
{
    (void)state;
    for (int reads = 0; reads < 2; reads++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: n,4,6,6; w = 3,3");
        draft_node(d, "MaxPool", "x", reads ? "p i" : "p -", "kernel_shape=2,2 strides=2,2");
        draft_node(d, "Cast", reads ? "i" : "p", "c", "to=1");
        draft_node(d, "MatMul", "c w", "y", "");
        struct imported *r = reads ? NULL : import(d, "y", infer);
        if (reads)
            refused(d, infer, "node 0, MaxPool 'n0': its indices are read; only its values can be modelled");
        else
            assert_string_equal(r->err.msg, "");
        if (r)
            done(r);
    }
}

/* Models of a few nodes, whose domain is "" unless given. */
static void operators_refused(void **state)
{
#define ROUGHLY "price it roughly with --approximate"
#define ONE_SIZE "was it exported for one batch size? use a symbolic one, or --set data.batch=0 if it has none"
    static const struct onnx_dimension frames = { "frames", 10 }, none = { "batch", 0 };
    static const struct { const char *text, *domain; const struct onnx_dimension *given; const char *message; } cases[] = {
        { "x: uint8 n,4; QLinearMatMul x > y", "", NULL,
          "node 0, QLinearMatMul 'n0': the chip's products are of floats; quantise the model to QDQ, or export it before, or " ROUGHLY },
        { "x: n,4; SkipLayerNormalization x > y", "com.microsoft", NULL,
          "node 0, SkipLayerNormalization 'n0': not an operator of ONNX's own; export the model before a runtime has optimised it, or " ROUGHLY },
        { "x: n,4; Det x > y", "", NULL, "node 0, Det 'n0': this operator is not modelled; change the model, or " ROUGHLY },
        { "x: n,4; If x > y", "", NULL, "node 0, If 'n0': its condition is known only while the model runs; export the model without it, or price the longer branch "
                                        "with --approximate" },
        { "x: n,4,3; s: 3; LayerNormalization x s > y", "", NULL, "node 0, LayerNormalization 'n0': its input 1, s, is computed while the model runs; want a constant" },
        { "x: n,4,3; s = 3; b: 3; LayerNormalization x s b > y", "", NULL,
          "node 0, LayerNormalization 'n0': its input 2, b, is computed while the model runs; want a constant" },
        { "x: n,tokens,4; Relu x > y", "", NULL, "input x: the size of its dimension 'tokens' is not known; give it: --set data.tokens=128" },
        { "x: n,tokens,4; Relu x > y", "", &frames, "data.frames: the model has no symbolic dimension of this name; its dimensions: n, tokens" },
        { "x: n,4; Identity x > y", "", NULL, "no operation that computes anything; nothing to simulate" },
        { "x: n,4; Leaky x > y", "own", NULL,
          "node 0, Leaky 'n0': not an operator of ONNX's own; describe it in the FILE of --operators, by the lines below (docs/operators.md), or " ROUGHLY
          "\ndomain,name,key,value,unit,source\nown,Leaky,split,0,,WHO SAYS SO\nown,Leaky,cycles_per_element,NUMBER,cycles,WHO SAYS SO" },
        { "x: n,4; w = 5,3; MatMul x w > y", "", NULL, "node 0, MatMul 'n0': inner sizes 4 and 5 differ" },
        { "x: 5,4; a: 5,5; w = 4,3; MatMul x w > h; MatMul a h > y", "", NULL, "node 1, MatMul 'n1': inner sizes 5 and 1 differ; " ONE_SIZE },     /* a graph's nodes */
        { "x: batch,4; w = 4,3; MatMul x w > y", "", &none, "input x: the size of its dimension 'batch' is not known; give it: --set data.batch=128" },
        { "x: n,4; w = 4,3; MatMul x w > y", "", &none, "input x: the size of its dimension 'n' is not known; give it: --set data.n=128" },
    };
#undef ONE_SIZE
#undef ROUGHLY
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17);
        draft_text(d, cases[i].text);
        d->nodes[0]->domain = arena_strdup(&d->arena, cases[i].domain);
        refused(d, (struct onnx_options){ .inference = true, .dimensions = cases[i].given, .n_dimensions = cases[i].given != NULL }, cases[i].message);
    }
}

/* Nodes of a graph, in a file of fixed sizes, are no batch: rows are gathered, and scattered into five zeros, whatever the micro-batch. */
static void graphs_without_a_batch(void **state)
{
    static const struct onnx_dimension none = { "batch", 0 };
    (void)state;
    for (uint64_t given = 0; given < 3; given++) {
        struct arena a = { 0 };
        struct graph g;
        struct onnx_import im;
        struct err err = { "" };
        struct draft *d = draft_start(16);
        draft_text(d, "x: 5,3; from: int64 7; to: int64 7,1; w = 3,4; sizes = [5,3]; wide = [7,3]; ConstantOfShape sizes > zeros; Gather x from > rows axis=0; "
                      "Expand to wide > index; ScatterElements zeros index rows > h reduction=add axis=0; MatMul h w > y");
        draft_outputs(d, "y");
        d->outputs[0] = draft_info(d, "y", ONNX_FLOAT, "5,4");
        draft_pack(d, model_path());
        bool good = onnx_build(&g, &im, model_path(), &(struct onnx_options){ .inference = true, .batch = given == 2 ? 2 : 1, .dimensions = &none, .n_dimensions = given > 0 },
                               &a, &err);
        const char *colon = strchr(err.msg, ':');
        assert_string_equal(colon ? colon + 2 : "", given == 0 ? "its first dimension, 5, is not a batch: no output depends on it; if the model has no batch, give --set data.batch=0" :
                            given == 2 ? "parallel.micro_batch: 2: no input has a batch dimension, so a run is one sample; want 1" : "");
        assert_true(good == (given == 1) && (!good || graph_forward_mac(&g) == 5 * 3 * 4));
        draft_end(d);
        unlink(model_path());
        arena_free(&a);
    }
}

/* Windows of the largest depth and deeper, with and without groups. */
static struct draft *deep_window(uint64_t depth, uint64_t groups)
{
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4,40,3,3");
    draft_weight(d, "w", DIMS(6, 4 / groups, depth, 1, 1));
    draft_node(d, "Conv", "x w", "y", groups == 2 ? "group=2" : "");
    return d;
}

static void windows_refused(void **state)
{
    (void)state;
    struct imported *r = import(deep_window(MAX_OP_OUTPUTS, 1), "y", infer);
    assert_string_equal(r->err.msg, "");
    refused(deep_window(MAX_OP_OUTPUTS + 1, 1), infer,
            arena_printf(&r->arena, "node 0, Conv 'n0': a window of depth %d, at most %d", MAX_OP_OUTPUTS + 1, MAX_OP_OUTPUTS));
    done(r);
}

/* Nested Ifs, which all pass on "late", a value made after the first of them. */
static struct draft *nested(uint32_t depth)
{
    struct draft *inner = NULL;
    for (uint32_t i = 0; i <= depth; i++) {
        struct draft *d = draft_start(17);
        if (i == depth) {
            draft_text(d, "x: n,4; w = 4,3; one = [1]; Equal one one > yes");
        }
        draft_node(d, inner ? "If" : "Relu", inner ? "yes" : "late", "t", "");
        if (inner) {
            draft_body(d, "then_branch", inner, "t");
            draft_end(inner);
        }
        inner = d;
    }
    draft_text(inner, "MatMul t w > y; Tanh x > late");
    return inner;
}

/* A chain of n functions, of which the last is a relu. */
static struct draft *calling(uint32_t n, struct draft **bodies)
{
    struct draft *d = draft_start(17);
    for (uint32_t i = 0; i < n; i++) {
        bodies[i] = draft_start(17);
        draft_node(bodies[i], i + 1 < n ? arena_printf(&d->arena, "Call%u", i + 1) : "Relu", "a", "b", "");
        bodies[i]->nodes[0]->domain = i + 1 < n ? "ours" : "";
        draft_function(d, bodies[i], arena_printf(&d->arena, "Call%u", i), "a", "b", "");
    }
    draft_text(d, "x: n,4; w = 4,3; Call0 x > t");
    d->nodes[0]->domain = "ours";
    draft_node(d, "MatMul", "t w", "y", "");
    return d;
}

static void deepest_calls(void **state)
{
    struct draft *bodies[33];
    (void)state;
    struct imported *r = import(calling(32, bodies), "y", infer);
    assert_string_equal(r->err.msg, "");
    assert_int_equal(r->g.n_forward_ops, 2);
    done(r);
    for (uint32_t i = 0; i < 32; i++)
        draft_end(bodies[i]);
    refused(calling(33, bodies), infer, "node 0, Call32 'n0': functions call each other more than 32 deep, or 50000 times");
    for (uint32_t i = 0; i < 33; i++)
        draft_end(bodies[i]);
}

/* Fifty calls of a function that calls another one 999 times, and perhaps one more call. */
static void most_calls(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct draft *d = draft_start(17), *one = draft_start(17), *many = draft_start(17);
        draft_node(one, "Relu", "a", "b", "");
        draft_function(d, one, "One", "a", "b", "");
        for (int i = 0; i < 999; i++) {
            draft_node(many, "One", "a", arena_printf(&many->arena, "b%d", i), "");
            many->nodes[i]->domain = "ours";
        }
        draft_function(d, many, "Many", "a", "b998", "");
        draft_text(d, "x: n,4; w = 4,3");
        for (int i = 0; i < 50 + more; i++) {
            draft_node(d, i < 50 ? "Many" : "One", "x", arena_printf(&d->arena, "t%d", i), "");
            d->nodes[i]->domain = "ours";
        }
        draft_node(d, "MatMul", "t49 w", "y", "");
        struct imported *r = import(d, "y", infer);
        const char *why = strchr(r->err.msg, ':');
        assert_string_equal(why ? why + 2 : "", more ? "node 49950, One 'n50': functions call each other more than 32 deep, or 50000 times" : "");
        done(r);
        draft_end(one);
        draft_end(many);
    }
}

static void control_flow_refused(void **state)
{
    (void)state;
    refused(nested(33), infer, "node 33, If 'n0': branches and loops are nested more than 32 deep");
    struct imported *r = import(nested(32), "y", infer);
    assert_string_equal(r->err.msg, "");
    assert_int_equal(count_kind(&r->g, OP_TANH), 1);
    done(r);
    struct draft *body = draft_start(17), *d = draft_start(17);
    draft_text(body, "i: int64 1; on: bool 1");
    draft_text(d, "x: n,4; trips: int64 1; Loop trips > y");
    draft_body(d, "body", body, "on i");
    refused(d, infer, "node 0, Loop 'n0': its number of rounds is known only while the model runs; say what it will be with --set data.trips=NUMBER, "
                      "or price a single round with --approximate");
    d = draft_start(17);
    draft_text(d, "x: n,4; Loop x > y");
    draft_body(d, "body", body, "on");
    refused(d, infer, "node 0, Loop 'n0': its body does not have the inputs and outputs of a loop that carries 0 values");
    d = draft_start(17);
    draft_text(d, "x: n,4; trips = [0]; Loop trips > none");
    draft_body(d, "body", body, "on i");
    draft_node(d, "Relu", "none", "y", "");
    refused(d, infer, "node 0, Loop 'n0': its body never runs, but another node reads an output that it would stack");
    d = draft_start(17);                /* a false condition, and no carried value */
    draft_text(d, "x: n,4; trips = [3]; two = [2]; Equal trips two > no; Loop trips no > none");
    draft_body(d, "body", body, "on i");
    draft_node(d, "Relu", "none", "y", "");
    refused(d, infer, "node 1, Loop 'n1': its body never runs, but another node reads an output that it would stack");
    d = draft_start(17);
    draft_text(d, "x: n,4; trips = [1001]; Loop trips > y");
    draft_body(d, "body", body, "on i");
    refused(d, infer, "node 0, Loop 'n0': more than 1000 branches and rounds of loops");
    draft_end(body);
}

/* Bodies and functions that do not match the node around them. */
static void bodies_that_lack_something(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *body = draft_start(17);
    draft_node(body, "Relu", "x", "t", "");
    draft_text(d, "x: n,4; one = [1]; If one > y");
    draft_body(d, "then_branch", body, "u");
    refused(d, infer, "node 0, If 'n0': its body does not make its output u");
    draft_end(body);
    body = draft_start(17);
    draft_text(body, "round: int64 1; going: bool 1; t: 1; Relu t > next; Identity going > on");
    d = draft_start(17);
    draft_text(d, "x: n,4; one = [1]; Loop one - - > y");
    draft_body(d, "body", body, "on next");
    refused(d, infer, "node 0, Loop 'n0': carries a value that is left out");
    draft_end(body);
    body = draft_start(17);
    draft_text(body, "row: 1; Relu row > t");
    d = draft_start(17);
    draft_number(d, "x", 3);
    draft_text(d, "i: n,4; Scan x > y num_scan_inputs=1");
    draft_body(d, "body", body, "t");
    refused(d, infer, "node 0, Scan 'n0': the tensor that it reads row by row has no rows");
    draft_end(body);
    body = draft_start(17);
    d = draft_start(17);
    draft_function(d, body, "Same", "a b", "b", "");
    draft_text(d, "x: n,4; Same x - > y");
    d->nodes[0]->domain = "ours";
    refused(d, infer, "node 0, Identity 'y': a function hands on a parameter that is left out, or makes a value a second time");
    d = draft_start(17);
    draft_function(d, body, "Same", "a", "a", "");
    draft_text(d, "x: n,4; Relu x > y; Same x > y");
    d->nodes[1]->domain = "ours";
    refused(d, infer, "node 1, Same 'n1': makes y a second time");
    draft_end(body);
}

/* A Split that leaves an output out, and a Mod of images. */
static void parts_left_out(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: n,4; w = 4,4; MatMul x w > h; Split h > y - axis=1");
    refused(d, infer, "node 1, Split 'n1': leaves output 1 out");
    d = draft_start(13);
    draft_text(d, "x: n,3,4,4; u: n,3,4,4; w = 3,3,1,1; Conv x w > h; Conv u w > g; Mod h g > y");
    refused(d, infer, "node 2, Mod 'n2': on an image");
}

/* Neither a trip count nor a condition. */
static void an_endless_loop(void **state)
{
    (void)state;
    struct draft *d = draft_start(13), *body = draft_start(13);
    draft_text(body, "round: int64 1; going: bool 1; t: 1; Identity going > on; Relu t > next");
    draft_text(d, "x: n,4; Loop - - x > y");
    draft_body(d, "body", body, "on next");
    refused(d, infer, "node 0, Loop 'n0': its number of rounds is known only while the model runs; export the model without it, or price a single round with "
                      "--approximate");
    draft_end(body);
}

/* The longest sequence. */
static void a_long_sequence(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: n,1000; a: n,2; w = 2,2; SplitToSequence x > s axis=1; SequenceLength s > n; "
                  "Cast n > number to=1; MatMul a w > product; Add product number > y");
    struct imported *r = import(d, "y", infer);
    assert_string_equal(r->err.msg, "");
    done(r);
}

/* An insertion into the longest sequence is refused at every position. */
static void insertions_into_the_longest_sequence(void **state)
{
    static const char *const places[] = { "long one", "long one first", "long one last", "long one -" };
    (void)state;
    for (uint64_t n = 999; n < 1001; n++)
        for (size_t i = 0; i < 4; i++) {
            struct draft *d = draft_start(13);
            draft_input(d, "x", ONNX_FLOAT, arena_printf(&d->arena, "n,%ju", (uintmax_t)n));
            draft_weight(d, "w", DIMS(1, 1));
            draft_constant(d, "first", "='0");
            draft_constant(d, "last", "='-1");
            draft_constant(d, "begin", "=0");
            draft_constant(d, "end", "=1");
            draft_text(d, "SplitToSequence x > long axis=1; Slice x begin end end > column; MatMul column w > one");
            draft_node(d, "SequenceInsert", places[i], "longer", "");
            draft_text(d, "SequenceLength longer > count; Cast count > number to=1; Add one number > y");
            if (n == 1000) {
                refused(d, infer, "node 3, SequenceInsert 'n3': a place in a sequence that is outside it, or known only while the model runs; export tensors");
                continue;
            }
            struct imported *r = import(d, "y", infer);
            double *y = outputs(r);
            assert_near(y[0], draft_noise("x", 0) * draft_noise("w", 0) + 1000, 1e-9);
            done(r);
        }
}

static void sequences_refused(void **state)
{
    (void)state;
    struct draft *d = draft_start(13);
    draft_text(d, "x: n,4; at: int64 1; SequenceConstruct x x > s; SequenceAt s at > y");
    refused(d, infer, "node 1, SequenceAt 'n1': a place in a sequence that is outside it, or known only while the model runs; export tensors");
    d = draft_start(13);
    draft_text(d, "x: n,4; two = [2]; SequenceConstruct x x > s; SequenceAt s two > y");
    refused(d, infer, "node 1, SequenceAt 'n1': a place in a sequence that is outside it, or known only while the model runs; export tensors");
    d = draft_start(13);
    draft_text(d, "x: n,4; SequenceLength x > y");
    refused(d, infer, "node 0, SequenceLength 'n0': reads a sequence that nothing here makes; export tensors");
    d = draft_start(13);
    draft_text(d, "x: n,1001; SplitToSequence x > s axis=1; SequenceLength s > y");
    refused(d, infer, "node 0, SplitToSequence 'n0': its parts are known only while the model runs, or more than 1000");
    d = draft_start(13);
    draft_text(d, "x: n,4; SequenceConstruct - x > s; ConcatFromSequence s > y axis=0");
    refused(d, infer, "node 0, SequenceConstruct 'n0': leaves an item out");
    d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,4");
    draft_node(d, "SequenceEmpty", "", "s", "");
    draft_node(d, "ConcatFromSequence", "s", "y", "");
    refused(d, infer, "node 1, ConcatFromSequence 'n1': joins nothing, or has no output");
}

/* One node each, operands as in operands.h; "n2,3" is an input of integers. "Split 2" has two results. */
static const struct { const char *op, *operands, *attributes, *message; } node_refusals[] = {
    { "CumSum", "2,65537 ='1", "", "sums over 65537 elements, at most 65536" },
    { "CumSum", "2,6 n1", "", "its axis is computed while the model runs, or out of range" },
    { "Trilu", "6", "", "its diagonal is computed while the model runs, or its input is not a matrix" },
    { "ReduceSum", "2,6 n1", "", "its axes are not known" },
    { "ScatterND", "5,3 =2x1:0,4 3,2", "", "" },
    { "Pad", "2,5 =0,-7,0,4", "", "cuts off all of dimension 1" }, { "Pad", "2,5 =0,-3,0,-2", "", "its pads leave nothing" },
    { "ScatterND", "5,3 =2x1:0,4 2,2", "", "has 4 updates, want 6" },
    { "ScatterND", "5,3 =2x3:0,1,2,0,1,1 2", "", "its indices name 3 of 2 dimensions" },
    { "ScatterElements", "2,6 =2x1:5,1 2,2", "axis=1", "axis is out of range, or there are not as many updates as indices" },
    { "ScatterElements", "2,6 =1x1:5 1,1", "axis=1", "along dimension 1, of a part of the others; want all of them" },
    { "ScatterElements", "2,6 =2x1:5,1 2,1", "axis=1 reduction=mul", "with reduction mul is not modelled; none and add are, and in inference max and min" },
    { "GatherND", "2,6 =3x1:0,1,2", "batch_dims=1", "its indices are of 3 samples, its data of 2" },
    { "OneHot", "n2,6 =7 2", "", "its two values are computed while the model runs" },
    { "QuantizeLinear", "2,6 1", "", "of what is computed; want one scale and zero point that the file knows" },
    { "QuantizeLinear", "2,6 ~0", "", "has a scale of 0" },
    { "LSTM", "3,2,4 w1,20,4", "hidden_size=5", "has no input 2; want at least 3" },
    { "LSTM", "3,2,4 1,20,4 w1,20,5", "hidden_size=5", "want weights that stand in the file" },
    { "LSTM", "3,2,4 w1,20,4 w1,20,5", "hidden_size=5 layout=1", "want layout 0: time first" },
    { "LSTM", "3,2,4 w1,20,4 w1,20,5 - - - - w1,15", "hidden_size=5", "peepholes are not modelled" },
    { "RNN", "3,2,4 w2,5,4 w2,5,5 - - 1,2,5", "direction=bidirectional", "its initial state is not one of each direction, sample and unit" },
    { "RNN", "3,2,4 w1,5,4 w1,5,5 - - 2,5", "", "its initial state is not one of each direction, sample and unit" },
    { "RNN", "3,2,4 w1,5,4 w1,5,5 - - 1,2,5", "", "" },
    { "Split 2", "2,6 =3,3", "axis=1", "" },
    { "Slice", "2,6,3,4 =3 =3 =1", "", "works on a tensor without elements" },
    { "GatherND", "w0,6 n2,1", "", "works on a tensor without elements" }, { "GatherND", "2,6 ?0,1", "", "works on a tensor without elements" },
    { "GatherND", "2,6 ?2,0", "", "its indices name 0 of 2 dimensions" },
    { "LSTM", "3,2,4 w0,20,4 w0,20,5", "hidden_size=5", "works on a tensor without elements" },
    { "LSTM", "3,2,4 w3,20,4 w3,20,5", "hidden_size=5", "want weights that stand in the file" },
    { "Slice", "2,40 =39 =-100 =1 =-1", "", "goes backwards over 40 elements, at most 32; want positive steps" },
    { "Tile", "2,6 =1,33", "", "puts 33 copies one behind the other, at most 32" },
    { "Gather", "2,6 ='7", "axis=1", "takes row 7 of 6" },
    { "GatherElements", "2,6 n1,3", "axis=1", "along dimension 1, of a part of the others; want all of them" },
    { "Resize", "2,6,3,4 - ~1,2,2,2", "", "only depth, height and width of images can be resized" },
    { "Resize", "2,6,2,3,4,2 - ~1,1,1,2,2,1", "", "only depth, height and width of images can be resized" },
    { "Resize", "2,6 - ~1,2", "", "only depth, height and width of images can be resized" },
    { "Resize", "2,6,3,4 - ~1,1,0.5,0.5", "mode=cubic antialias=1", "makes images smaller with antialias, which is not modelled" },
    { "Resize", "2,6,3,4 - ~1,1,2,2", "mode=linear coordinate_transformation_mode=tf_crop_and_resize", "cuts its input (tf_crop_and_resize), or has a mode that is not known" },
    { "AveragePool", "1,2,4,5", "kernel_shape=3,3 strides=2,2 ceil_mode=1 pads=1,1,1,1 count_include_pad=1", "counts its padding (count_include_pad), but not the zeros of ceil_mode; leave one of the two out" },
    { "Resize", "2,6,3,4,5 - ~1,1,2,2,1", "mode=cubic", "mode cubic of images with a depth is not modelled; use linear or nearest" },
    { "LRN", "2,6,3,4", "size=1025", "size is 1025, want 1 to 1024" },
    { "Conv", "2,6,9,9 w4,6,2,3", "dilations=2,3", "dilations of 2 and 3; want the same in both directions" },
    { "Conv", "2,6,9,9 w4,6,3,2", "dilations=3,2", "dilations of 3 and 2; want the same in both directions" },
    { "Conv", "2,6,9,9 w4,6,3,3", "dilations=2,3", "dilations of 2 and 3; want the same in both directions" },
    { "MatMul", "w6 2,6,5", "", "a vector times 3 dimensions; unsqueeze it to a matrix" },
    { "Gemm", "2,6 w6,5 3,5", "", "its third input does not fit its result" },
    { "Clip", "2,6,3,4 5", "", "its limits do not fit its input" },
    { "PRelu", "2,1,3,4 w6,1,1", "", "its slopes do not fit its input; want as many dimensions, or ones behind the channels" },
    { "GridSample", "2,6,3,4 2,2,5,2", "mode=bicubic", "mode bicubic, padding zeros: want bilinear or nearest, zeros or border" },
    { "GridSample", "2,6,3,4 2,2,5,3", "", "wants two numbers a place, and as many grids as images" },
    { "RoiAlign", "2,6,3,4 3,4 =0,1,1", "sampling_ratio=0",
      "want sampling_ratio from 1 to 64 and mode avg; with 0 data decide how many points a region has" },
    { "RoiAlign", "2,6,3,4 3,4 =0,1,1", "sampling_ratio=65",
      "want sampling_ratio from 1 to 64 and mode avg; with 0 data decide how many points a region has" },
    { "RoiAlign", "2,6,3,4 3,4 =0,1,1", "sampling_ratio=2 mode=max",
      "want sampling_ratio from 1 to 64 and mode avg; with 0 data decide how many points a region has" },
    { "RoiAlign", "2,6,3,4 3,4 =0,1,1", "sampling_ratio=64", "" }, { "RoiAlign", "2,6,3,4 3,4 =0,1,1", "sampling_ratio=1 mode=avg", "" },
    { "RoiAlign", "2,6,3,4 3,4 =0,1", "sampling_ratio=2", "wants four numbers and an image a region" },
    { "RoiAlign", "2,6,3,4 3,4,1 =0,1,1", "sampling_ratio=2", "wants four numbers and an image a region" },
    { "GridSample", "2,6,3,4 2,2,5,2", "padding_mode=reflection", "mode bilinear, padding reflection: want bilinear or nearest, zeros or border" },
    { "GridSample", "2,6,3,4 2,2,5,2", "mode=linear", "" }, { "GridSample", "2,6,3,4 2,2,5,2", "mode=nearest", "" },
    { "Einsum", "2,65536,65536", "equation=abc->a", "over 4294967296 elements, at most 4294967295" }, { "Einsum", "2,65535,65537", "equation=abc->a", "" },
    { "GlobalAveragePool", "2,1,65535,65537,1", "", "" },
    { "GlobalAveragePool", "2,1,65536,65536,1", "", "reads i0 as an image; its depth and height are 4294967296 together, at most 4294967295" },
    { "ReduceProd", "2,65536,65536", "axes=1,2", "over 4294967296 elements, at most 4294967295" },
    { "ReduceMean", "2,65536,65536", "axes=1,2", "over 4294967296 elements, at most 4294967295" }, { "ReduceMean", "2,65535,65537", "axes=1,2", "" },
    { "Slice", "2,32 =31 =-100 =1 =-1", "", "" }, { "Slice", "2,33 =32 =-100 =1 =-1", "", "goes backwards over 33 elements, at most 32; want positive steps" },
    { "LRN", "2,6,3,4", "size=1024", "" }, { "LRN", "2,6,3,4", "size=0", "size is 0, want 1 to 1024" }, { "LRN", "2,6,3,4", "size=1", "" },
    { "Tile", "2,6 =1,32", "", "" }, { "Gather", "2,6 ='5", "axis=1", "" }, { "Gather", "2,6 ='6", "axis=1", "takes row 6 of 6" },
    { "Gather", "2,6 ='-6", "axis=1", "" }, { "Gather", "2,6 ='-7", "axis=1", "takes row -7 of 6" },
    { "RoiAlign", "2,6,3,4 3,3 =0,1,1", "sampling_ratio=2", "wants four numbers and an image a region" },
    { "Hardmax", "2,6,3", "axis=3", "axis is out of range" }, { "Hardmax", "2,6,3", "axis=-4", "axis is out of range" }, { "Hardmax", "2,6,3", "axis=-3", "" },
    { "Softmax", "2,6,3", "axis=3", "axis is out of range" }, { "Softmax", "2,6,3", "axis=-4", "axis is out of range" }, { "Softmax", "2,6,3", "axis=-3", "" },
    { "LayerNormalization", "2,6,3 w3", "axis=3", "axis is out of range" }, { "LayerNormalization", "2,6,3 w18", "axis=-2", "" },
    { "CumSum", "2,6 ='2", "", "its axis is computed while the model runs, or out of range" }, { "CumSum", "2,6 ='-2", "", "" },
    { "ScatterElements", "2,6 =2x1:5,1 2,1", "axis=2", "axis is out of range, or there are not as many updates as indices" },
    { "ScatterElements", "2,6 =2x1:5,1 2,1", "axis=-1", "" }, { "ScatterElements", "2,6 =2:5,1 2", "axis=1", "axis is out of range, or there are not as many updates as indices" },
    { "NegativeLogLikelihoodLoss", "2,2147483648 n2", "", "of 4294967296 shares, at most 4294967295" }, { "NegativeLogLikelihoodLoss", "2,2147483647 n2", "", "" },
    { "NegativeLogLikelihoodLoss", "2,6 n2 w6", "", "" }, { "NegativeLogLikelihoodLoss", "2,6 n2 w5", "", "wants one label for each row of classes, and a weight a class" },
    { "NegativeLogLikelihoodLoss", "2,6,3 n2", "", "wants one label for each row of classes, and a weight a class" }, { "NegativeLogLikelihoodLoss", "2,6,3 n2,3", "", "" },
    { "QuantizeLinear", "2,6 ~0.5 ='0", "", "to numbers of type 7; want integers of 8 or 16 bits" },
    { "Loop", "='2 - -", "", "its body does not have the inputs and outputs of a loop that carries 1 values" },
    { "SplitToSequence", "2,6", "axis=2", "axis is out of range, or its input has no shape" }, { "SplitToSequence", "2,6", "axis=-3", "axis is out of range, or its input has no shape" },
};

static void nodes_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof node_refusals / sizeof *node_refusals; i++) {
        struct draft *d = draft_start(17);
        const char *op = node_refusals[i].op, *space = strchr(op, ' '), *names = "";
        size_t n;
        char **words = draft_words(d, node_refusals[i].operands, &n);
        for (size_t k = 0; k < n; k++) {
            const char *name = *words[k] ? arena_printf(&d->arena, "i%zu", k) : "-";
            if (*words[k] == 'n')
                draft_input(d, name, ONNX_INT64, words[k] + 1);
            else if (*words[k])
                draft_operand(d, name, words[k]);
            names = arena_printf(&d->arena, "%s%s%s", names, k ? " " : "", name);
        }
        draft_node(d, space ? arena_printf(&d->arena, "%.*s", (int)(space - op), op) : op, names, space ? "y z" : "y", node_refusals[i].attributes);
        draft_text(d, "beside: 2,1; one = 1,1; MatMul beside one > p");
        struct imported *r = import(d, "y p", (struct onnx_options){ .inference = true, .batch = 2 });
        const char *reason = strstr(r->err.msg, "': ");
        if (!text_is(reason ? reason + 3 : r->err.msg, node_refusals[i].message))
            print_error("%s %s %s\n  \"%s\"\n", op, node_refusals[i].operands, node_refusals[i].attributes, r->err.msg);
        assert_string_equal(reason ? reason + 3 : r->err.msg, node_refusals[i].message);
        done(r);
    }
}

/* A Constant has at most eight dimensions, like all tensors. */
static void dimensions_of_constants(void **state)
{
    (void)state;
    for (size_t n = 8; n <= 9; n++) {
        struct draft *d = draft_start(17);
        draft_text(d, "x: n,4; v = 4,4; MatMul x v > h");
        draft_weight(d, "w", n, (const uint64_t[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1 });
        draft_as_node(d);
        draft_node(d, "Add", "h w", "y", "");
        struct imported *r = import(d, "y", infer);
        assert_int_equal(strstr(r->err.msg, "node 1, Constant 'n1': more than 8 dimensions") != NULL, n > 8);
        done(r);
    }
}

/* CumSum takes at most 65,536 elements: it is a product with a triangle of ones. */
static void the_longest_sum(void **state)
{
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,65536");
    draft_constant(d, "axis", "='1");
    draft_node(d, "CumSum", "x axis", "y", "");
    struct imported *r = import(d, "y", infer);
    assert_string_equal(r->err.msg, "");
    assert_true(graph_forward_mac(&r->g) == UINT64_C(65536) * 65536);
    done(r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refusals), cmocka_unit_test(inputs_refused), cmocka_unit_test(advice), cmocka_unit_test(nodes_without_a_name),
    cmocka_unit_test(pool_indices_that_are_read), cmocka_unit_test(operators_refused), cmocka_unit_test(graphs_without_a_batch), cmocka_unit_test(windows_refused),
    cmocka_unit_test(deepest_calls), cmocka_unit_test(most_calls), cmocka_unit_test(control_flow_refused), cmocka_unit_test(bodies_that_lack_something), cmocka_unit_test(parts_left_out), cmocka_unit_test(an_endless_loop),
    cmocka_unit_test(a_long_sequence), cmocka_unit_test(insertions_into_the_longest_sequence), cmocka_unit_test(sequences_refused), cmocka_unit_test(nodes_refused),
    cmocka_unit_test(dimensions_of_constants), cmocka_unit_test(the_longest_sum),
};
TAP_MAIN(tests)
