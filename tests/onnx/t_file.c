/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_file.c - options of a recipe for an ONNX file (sizes of dimensions, precision), and files that are refused.
 */
#include "tests/check.h"
#include "system-model/graph/graph.h"
#include "tests/onnx/draft.h"
#include "workloads/models/models.h"
#include "workloads/models/models.h"
#include "workloads/onnx/onnx.h"
#include <sys/stat.h>

static const char *path_of_file(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/t_file_%d.onnx", (int)getpid());
    return path;
}

/* The error without the file's name; "": none. */
static const char *reason(const struct model_options *o, struct graph *g, struct arena *a)
{
    struct onnx_import import;
    struct err err = { "" };
    onnx_file_import(g, &import, o, a, &err);
    size_t n = strlen(path_of_file());
    return arena_strdup(a, strncmp(err.msg, path_of_file(), n) == 0 ? err.msg + n : err.msg);
}

/* x [n, tokens, 3] w [3, 2] */
static void write_usual(void)
{
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,tokens,frames=3,3");
    draft_weight(d, "w", DRAFT_DIMS(3, 2));
    draft_node(d, "MatMul", "x w", "y", "");
    draft_write(d, "y", path_of_file());
    draft_end(d);
}

/* Images are bytes or floats, as the recipe says. */
static void types_of_images(void **state)
{
    static const struct { enum input_type input; enum compute_type compute; enum data_type want; } cases[] = {
        { INPUT_UINT8, COMPUTE_FP16, TYPE_UINT8 }, { INPUT_UINT8, COMPUTE_FP32, TYPE_UINT8 }, { INPUT_FP16, COMPUTE_FP16, TYPE_FP16 }, { INPUT_FP16, COMPUTE_FP32, TYPE_FP32 },
        { INPUT_OWN, COMPUTE_FP16, TYPE_FP16 }, { INPUT_OWN, COMPUTE_FP32, TYPE_FP32 },
    };
    (void)state;
    struct draft *d = draft_start(17);
    draft_input(d, "x", ONNX_FLOAT, "n,3,9,7");
    draft_weight(d, "w", DRAFT_DIMS(5, 3, 3, 2));
    draft_node(d, "Conv", "x w", "y", "");
    draft_write(d, "y", path_of_file());
    draft_end(d);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct graph g;
        struct onnx_import import;
        struct err err = { "" };
        struct model_options o = own_options;
        o.file = path_of_file(), o.micro_batch = 2, o.inference = true, o.input_type = cases[i].input, o.compute = cases[i].compute;
        assert_true(onnx_file_import(&g, &import, &o, &a, &err));
        const struct tensor *x = &g.tensors[import.inputs[0]];
        assert_int_equal(x->type, cases[i].want);
        assert_int_equal(x->dims[0], 2);
        arena_free(&a);
    }
    unlink(path_of_file());
}

static void sizes_in_a_text(void **state)
{
    static const struct { const char *dimensions, *message; uint64_t elements; } cases[] = {
        { "tokens=7,frames=3=5", "", 2 * 7 * 5 * 2 }, { "frames=3=5,tokens=7", "", 2 * 7 * 5 * 2 }, { "n=2,frames=3=5,tokens=7", "", 2 * 7 * 5 * 2 },
        { "n=3,frames=3=5,tokens=7", ": parallel.micro_batch: 2: no input has a batch dimension without a size of its own, so a run is one sample; want 1", 0 },
        { "frames=3=1,tokens=16777216", "", 2ull * 16777216 * 2 },
        { "tokens=16777217", "data.tokens: '16777217' is not a size or a number; want a whole number from 0 to 16777216", 0 },
        { "tokens", "data.tokens: want NAME=SIZE", 0 }, { "tokens=7,frames", "data.frames: want NAME=SIZE", 0 },
        { "tokens=many", "data.tokens: 'many' is not a size or a number; want a whole number from 0 to 16777216", 0 },
        { "tokens=-1", "data.tokens: '-1' is not a size or a number; want a whole number from 0 to 16777216", 0 },
        { "tokens=7", ": input x: the size of its dimension 'frames=3' is not known; give it: --set data.frames=3=128", 0 },
        { NULL, ": input x: the size of its dimension 'tokens' is not known; give it: --set data.tokens=128", 0 },
        { "tokens=7,frames=3=5,words=2", ": data.words: the model has no symbolic dimension of this name; its dimensions: n, tokens, frames=3", 0 },
    };
    (void)state;
    write_usual();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct graph g;
        struct model_options o = own_options;
        o.file = path_of_file();
        o.micro_batch = 2;
        o.inference = true;
        o.dimensions = cases[i].dimensions;
        assert_string_equal(reason(&o, &g, &a), cases[i].message);
        if (cases[i].elements)
            assert_int_equal(tensor_elements(&g.tensors[g.ops[g.n_forward_ops - 1].outputs[0]]), cases[i].elements);
        arena_free(&a);
    }
    unlink(path_of_file());
}

/* A name may be a sum of products of names and numbers, with blanks anywhere: one = 1, three = 3, five = 5. */
static void sizes_in_a_name(void **state)
{
    static const struct { const char *name; uint64_t size; const char *message; } cases[] = {
        { "three", 3, "" }, { "three + five", 8, "" }, { "three +five", 8, "" }, { "three+ five", 8, "" }, { "  three  +  five  ", 8, "" },
        { "three*five", 15, "" }, { "2*three + five*7 + 11", 52, "" }, { "three + five*2", 13, "" }, { "4294967295*one", 4294967295, "" },
        { "4294967295 + one", 0, ": input x has more than 2^40 elements; are the symbolic dimensions meant?" },
        { "4294967296*one", 0, ": input x: the size of its dimension '4294967296*one' is not known; give it: --set data.4294967296=128" },
        { "65536*65537*one", 0, ": input x: the size of its dimension '65536*65537*one' is not known; give it: --set data.one=128" },
        { "65535*65537*one", 4294967295, "" },
        { "4294967295 + one + one", 0, ": input x: the size of its dimension '4294967295 + one + one' is not known; give it: --set data.one=128" },
        { "three +", 0, ": input x: the size of its dimension 'three +' is not known; give it: --set data.three=128" },
        { "three + seven", 0, ": input x: the size of its dimension 'three + seven' is not known; give it: --set data.seven=128" },
        { "0*three", 0, ": input x: the size of its dimension '0*three' is not known; give it: --set data.0=128" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct graph g;
        struct model_options o = own_options;
        struct draft *d = draft_start(17);
        draft_input(d, "x", ONNX_FLOAT, arena_printf(&d->arena, "n,%s,2", cases[i].name));
        draft_input(d, "names", ONNX_FLOAT, "n,one,three,five");
        draft_weight(d, "w", DRAFT_DIMS(2, 3));
        draft_node(d, "MatMul", "x w", "y", "");
        draft_write(d, "y", path_of_file());
        draft_end(d);
        o.file = path_of_file();
        o.inference = true;
        o.dimensions = "one=1,three=3,five=5";
        assert_string_equal(reason(&o, &g, &a), cases[i].message);
        if (cases[i].size)
            assert_int_equal(tensor_elements(&g.tensors[g.ops[g.n_forward_ops - 1].outputs[0]]), 3 * cases[i].size);
        arena_free(&a);
    }
    unlink(path_of_file());
}

/* A file needs a name before its ending. */
static void names_of_files(void **state)
{
    (void)state;
    assert_true(onnx_is_file("a.onnx") && onnx_is_file("models/two.onnx"));
    assert_false(onnx_is_file(".onnx") || onnx_is_file("onnx") || onnx_is_file("a.onnxx") || onnx_is_file("") || onnx_is_file(NULL));
}

/* The largest file that protobuf allows, and one that is larger; both are sparse. */
static void the_largest_file(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct arena a = { 0 };
        struct graph g;
        struct model_options o = own_options;
        FILE *f = fopen(path_of_file(), "wb");
        assert_true(f && fputc(0x0b, f) == 0x0b && fclose(f) == 0);
        assert_int_equal(truncate(path_of_file(), (off_t)INT32_MAX + more), 0);
        o.file = path_of_file();
        assert_string_equal(reason(&o, &g, &a), more ? ": 2147483648 bytes, at most 2147483647; export with external data: weights are not read"
                                                     : ": not an ONNX file: its 2147483647 bytes are not a model in protobuf's format");
        arena_free(&a);
    }
    unlink(path_of_file());
}

static void options_reach_the_file(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct graph g;
    struct model_options o = own_options;
    write_usual();
    o.file = path_of_file();
    o.inference = true;
    o.dimensions = "tokens=7,frames=3=5";
    assert_string_equal(reason(&o, &g, &a), "");
    assert_string_equal(g.name, strrchr(path_of_file(), '/') + 1);
    assert_int_equal(g.tensors[g.ops[0].inputs[1]].type, TYPE_FP16);
    assert_int_equal(g.n_ops, g.n_forward_ops);
    o.fp32_operations = "matmul";           /* the weight itself, between casts of input and result */
    assert_string_equal(reason(&o, &g, &a), "");
    assert_int_equal(g.n_ops, 3);
    assert_int_equal(g.tensors[g.ops[1].inputs[1]].type, TYPE_FP32);
    o.fp32_operations = "matmuls";
    assert_memory_equal(reason(&o, &g, &a), "'matmuls' is not a kind of operation; did you mean 'matmul'? ", 60);
    o.fp32_operations = NULL;
    o.compute = COMPUTE_FP32;
    assert_string_equal(reason(&o, &g, &a), "");
    assert_int_equal(g.tensors[g.ops[0].inputs[1]].type, TYPE_FP32);
    o.compute = COMPUTE_FP8;
    assert_string_equal(reason(&o, &g, &a), "workload: precision.compute: fp8 for an ONNX file is not modelled; want fp16 or fp32");
    o.inference = false;
    o.compute = COMPUTE_FP16;
    assert_string_equal(reason(&o, &g, &a), "");
    assert_true(g.n_ops > g.n_forward_ops);
    struct err err = { "" };
    o.file = NULL;
    assert_false(workload_graph(&g, workload_find("my.onnx", &err), &o, &a, &err));
    assert_string_equal(err.msg, "model.onnx: no file is given");
    unlink(path_of_file());
    arena_free(&a);
}

static void no_graph(struct draft *d)           { d->model.graph = NULL; }
static void no_output(struct draft *d)          { d->graph.n_output = 0; }
static void nobodys_output(struct draft *d)     { d->outputs[0]->name = "z"; }
static void made_twice(struct draft *d)         { draft_node(d, "Relu", "x", "y", ""); }
static void constant_made(struct draft *d)      { draft_node(d, "Relu", "x", "w", ""); }
static void weight_made_later(struct draft *d)   { draft_node(d, "Relu", "y", "w", ""); }
static void nine_of_an_input(struct draft *d)   { draft_input(d, "u", ONNX_FLOAT, "1,2,3,4,5,6,7,8,9"); }
static void eight_of_an_input(struct draft *d)  { draft_input(d, "u", ONNX_FLOAT, "1,2,3,4,5,6,7,8"); }
static void no_size_of_an_input(struct draft *d) { draft_input(d, "u", ONNX_FLOAT, "1,0"); }
static void a_long_input(struct draft *d)       { draft_input(d, "u", ONNX_FLOAT, "1,4294967295"); }
static void too_long_an_input(struct draft *d)  { draft_input(d, "u", ONNX_FLOAT, "1,4294967296"); }
static void nine_of_a_weight(struct draft *d)   { draft_tensor(d, "u", ONNX_FLOAT, DRAFT_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1)); }
static void a_long_weight(struct draft *d)      { draft_tensor(d, "u", ONNX_FLOAT, DRAFT_DIMS(UINT32_MAX)); }
static void too_long_a_weight(struct draft *d)  { draft_tensor(d, "u", ONNX_FLOAT, DRAFT_DIMS(1ull << 32)); }
static void a_negative_weight(struct draft *d)  { draft_tensor(d, "u", ONNX_FLOAT, 1, (const uint64_t[]){ (uint64_t)-1 }); }
static void opset(struct draft *d)              { d->opset.version = 26; }
static void newest(struct draft *d)             { d->opset.version = 25; }
static void oldest(struct draft *d)             { d->opset.version = 7; }
static void nothing(struct draft *d)            { d->model.n_opset_import = 0; }
static void own_operators(struct draft *d)      { d->opset.domain = "ours"; }
static void of_onnx(struct draft *d)            { d->opset.domain = "ai.onnx"; }
static void most_of_a_weight(struct draft *d)   { draft_tensor(d, "u", ONNX_FLOAT, DRAFT_DIMS(1 << 20, 1 << 20)); }
static void more_of_a_weight(struct draft *d)   { draft_tensor(d, "u", ONNX_FLOAT, DRAFT_DIMS(1 << 20, 1 << 20, 2)); }
static void most_of_an_input(struct draft *d)   { draft_input(d, "u", ONNX_FLOAT, "1,1048576,1048576"); }
static void more_of_an_input(struct draft *d)   { draft_input(d, "u", ONNX_FLOAT, "1,1048576,1048576,2"); }

/* A file has a version for each domain, in any order. */
static void two_domains(struct draft *d, bool own_first)
{
    Onnx__OperatorSetIdProto *other = ARENA_NEW(&d->arena, Onnx__OperatorSetIdProto), **both = ARENA_ARRAY(&d->arena, Onnx__OperatorSetIdProto *, 2);
    *other = (Onnx__OperatorSetIdProto)ONNX__OPERATOR_SET_ID_PROTO__INIT;
    other->domain = "ours";
    other->has_version = true;
    other->version = 3;
    both[own_first] = other;
    both[!own_first] = &d->opset;
    d->model.opset_import = both;
    d->model.n_opset_import = 2;
}
static void own_domain_first(struct draft *d)   { two_domains(d, true); }
static void own_domain_last(struct draft *d)    { two_domains(d, false); }

static void files_that_are_refused(void **state)
{
    static const struct { void (*spoil)(struct draft *d); const char *message; } cases[] = {
        { no_graph, ": the model has no graph" }, { no_output, ": the graph has no output" }, { nobodys_output, ": output z is made by no node" },
        { made_twice, ": node 1, Relu 'n1': makes y a second time" }, { constant_made, ": node 1, Relu 'n1': makes w a second time" },
        { weight_made_later, ": node 1, Relu 'n1': makes w a second time" },
        { nine_of_an_input, ": u has 9 dimensions, at most 8" }, { eight_of_an_input, "" },
        { no_size_of_an_input, ": input u: the size of its dimension 'u.dim1' is not known; give it: --set data.u.dim1=128" }, { a_long_input, "" },
        { too_long_an_input, ": input u: the size of its dimension 'u.dim1' is not known; give it: --set data.u.dim1=128" },
        { nine_of_a_weight, ": u has 9 dimensions, at most 8" },
        { a_long_weight, "" }, { too_long_a_weight, ": u: a dimension of 4294967296; want 0 to 2^32 - 1" },
        { a_negative_weight, ": u: a dimension of -1; want 0 to 2^32 - 1" }, { opset, ": opset 26, want 7 to 25; export again with opset_version=17" },
        { newest, "" }, { oldest, "" }, { nothing, ": imports no opset of ai.onnx, so it has none of its operators" },
        { own_domain_first, "" }, { own_domain_last, "" }, { most_of_a_weight, "" }, { more_of_a_weight, ": u has more than 2^40 elements" },
        { most_of_an_input, "" }, { more_of_an_input, ": input u has more than 2^40 elements; are the symbolic dimensions meant?" },
        { own_operators, ": imports no opset of ai.onnx, so it has none of its operators" }, { of_onnx, "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct graph g;
        struct model_options o = own_options;
        struct draft *d = draft_start(17);
        draft_input(d, "x", ONNX_FLOAT, "n,3");
        draft_weight(d, "w", DRAFT_DIMS(3, 2));
        draft_node(d, "MatMul", "x w", "y", "");
        draft_outputs(d, "y");
        cases[i].spoil(d);
        draft_pack(d, path_of_file());
        draft_end(d);
        o.file = path_of_file();
        o.inference = true;
        assert_string_equal(reason(&o, &g, &a), cases[i].message);
        arena_free(&a);
    }
    unlink(path_of_file());
}

/* ---- skipped numbers ---------------------------------------------------------------------------------------------------- */

static Onnx__ModelProto *skimmed(struct arena *a)
{
    uint8_t *bytes;
    size_t n;
    FILE *f = fopen(path_of_file(), "rb");
    assert_true(f && fseek(f, 0, SEEK_END) == 0);
    uint64_t whole = (uint64_t)ftell(f);
    rewind(f);
    assert_true(onnx_skim(&bytes, &n, f, whole, a));
    assert_int_equal(fclose(f), 0);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n, bytes);
    assert_non_null(m);
    return m;
}

enum { N_FIELDS = 6, N_PLACES = 3 };

/* The count of numbers in a field; *bytes: size of one in a file. */
static size_t *numbers_of(Onnx__TensorProto *t, int field, size_t *bytes)
{
    const size_t each[N_FIELDS] = { 4, 1, 1, 1, 8, 1 };
    size_t *counts[N_FIELDS] = { &t->n_float_data, &t->n_int32_data, &t->n_int64_data, &t->raw_data.len, &t->n_double_data, &t->n_uint64_data };
    *bytes = each[field];
    return counts[field];
}

/* A tensor with as many zeros as 40,960 bytes hold, or one more: an initialiser, or in a node of the graph or of a
 * function. */
static Onnx__TensorProto *draft_large(struct draft *d, struct draft *body, int field, int place, int more)
{
    struct draft *in = place == 2 ? body : d;
    void *zeros = arena_alloc(&d->arena, 41000 * sizeof(int64_t));
    size_t bytes;
    draft_input(d, "x", ONNX_FLOAT, "n,3");
    Onnx__TensorProto *t = draft_tensor(in, "t", ONNX_FLOAT, DRAFT_DIMS(7, 5));
    t->float_data = zeros, t->int32_data = zeros, t->int64_data = zeros, t->double_data = zeros, t->uint64_data = zeros, t->raw_data.data = zeros;
    t->has_raw_data = field == 3;
    size_t *n = numbers_of(t, field, &bytes);
    *n = 40960 / bytes + (size_t)more;
    if (place > 0)
        draft_as_node(in);
    if (place == 2)
        draft_function(d, body, "f", "x", "t", "");
    draft_node(d, "Relu", "x", "y", "");
    d->graph.name = (char *)"a graph by its name";
    d->model.has_ir_version = true;
    d->model.ir_version = 128;           /* the smallest varint of two bytes */
    draft_write(d, "y", path_of_file());
    return t;
}

static void assert_same_file(const Onnx__ModelProto *a, const Onnx__ModelProto *b)
{
    struct arena scratch = { 0 };
    size_t n = onnx__model_proto__get_packed_size(a);
    assert_int_equal(onnx__model_proto__get_packed_size(b), n);
    uint8_t *x = arena_alloc(&scratch, n), *y = arena_alloc(&scratch, n);
    onnx__model_proto__pack(a, x);
    onnx__model_proto__pack(b, y);
    assert_memory_equal(x, y, n);
    arena_free(&scratch);
}

/* 40,960 bytes are kept; with one number more they are skipped, for each field and place. Everything else is
 * unchanged. */
static void large_numbers_are_passed_over(void **state)
{
    (void)state;
    for (int c = 0; c < N_FIELDS * N_PLACES * 2; c++) {
        struct arena a = { 0 };
        int field = c % N_FIELDS, place = c / N_FIELDS % N_PLACES, more = c / (N_FIELDS * N_PLACES);
        struct draft *d = draft_start(17), *body = draft_start(17);
        Onnx__TensorProto *t = draft_large(d, body, field, place, more);
        Onnx__ModelProto *m = skimmed(&a);
        Onnx__NodeProto *node = place == 1 ? m->graph->node[0] : place == 2 ? m->functions[0]->node[0] : NULL;
        Onnx__TensorProto *found = node ? node->attribute[0]->t : m->graph->initializer[0];
        size_t bytes, *n = numbers_of(t, field, &bytes), *left = numbers_of(found, field, &bytes);
        assert_int_equal(*left, more ? 0 : *n);
        size_t had = *left;
        *left = *n = 0;
        t->has_raw_data = found->has_raw_data = false;
        assert_same_file(m, &d->model);
        *left = had;
        onnx__model_proto__free_unpacked(m, NULL);
        draft_end(body);
        draft_end(d);
        arena_free(&a);
    }
    unlink(path_of_file());
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(large_numbers_are_passed_over),
    cmocka_unit_test(types_of_images), cmocka_unit_test(sizes_in_a_text), cmocka_unit_test(sizes_in_a_name), cmocka_unit_test(the_largest_file), cmocka_unit_test(names_of_files), cmocka_unit_test(options_reach_the_file), cmocka_unit_test(files_that_are_refused),
};
TAP_MAIN(tests)
