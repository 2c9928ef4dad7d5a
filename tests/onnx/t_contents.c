/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_contents.c - numbers of tensors in every form that a file may have, by hand from the bits (IEEE 754, onnx.proto);
 * axes, lists, limits.
 */
#include "tests/check.h"
#include "tests/onnx/draft.h"

static double first(const Onnx__TensorProto *t)
{
    struct arena a = { 0 };
    double *x = onnx_tensor_contents(t, 10, &a), y = x ? x[0] : -12345;
    arena_free(&a);
    return y;
}

static Onnx__TensorProto tensor(int type, size_t n_dims, int64_t *dims)
{
    Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
    t.has_data_type = true;
    t.data_type = type;
    t.n_dims = n_dims;
    t.dims = dims;
    return t;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Little-endian bytes. */
static void raw_bytes(void **state)
{
    static const struct { int type; const char *bytes; size_t n; double x; } rows[] = {
        { ONNX_FLOAT, "\x00\x00\x20\xc1", 4, -10 }, { ONNX_DOUBLE, "\x00\x00\x00\x00\x00\x00\xf8\x3f", 8, 1.5 }, { ONNX_INT8, "\xfe", 1, -2 },
        { ONNX_UINT8, "\xfe", 1, 254 }, { ONNX_BOOL, "\x01", 1, 1 }, { ONNX_INT16, "\xfe\xff", 2, -2 }, { ONNX_UINT16, "\xfe\xff", 2, 65534 },
        { ONNX_INT32, "\xfe\xff\xff\xff", 4, -2 }, { ONNX_UINT32, "\xfe\xff\xff\xff", 4, 4294967294 }, { ONNX_INT64, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, -2 },
        { ONNX_UINT64, "\x00\x00\x00\x00\x00\x00\x00\x80", 8, 0x1p63 }, { ONNX_FLOAT16, "\x00\x3c", 2, 1 }, { ONNX_FLOAT16, "\x00\xc0", 2, -2 },
        { ONNX_FLOAT16, "\x01\x00", 2, 0x1p-24 }, { ONNX_FLOAT16, "\xff\x83", 2, -1023 * 0x1p-24 }, { ONNX_FLOAT16, "\x00\x04", 2, 0x1p-14 },
        { ONNX_FLOAT16, "\xff\x7b", 2, 65504 }, { ONNX_FLOAT16, "\x00\x7c", 2, INFINITY }, { ONNX_FLOAT16, "\x00\xfc", 2, -INFINITY },
        { ONNX_FLOAT16, "\x01\x7c", 2, NAN }, { ONNX_FLOAT16, "\x55\x35", 2, 0.333251953125 }, { ONNX_BFLOAT16, "\x80\x3f", 2, 1 }, { ONNX_BFLOAT16, "\x49\xc0", 2, -3.140625 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t two = 2, three = 3;
        uint8_t twice[16];
        Onnx__TensorProto t = tensor(rows[i].type, 0, NULL);
        t.has_raw_data = true;
        t.raw_data = (ProtobufCBinaryData){ rows[i].n, (uint8_t *)rows[i].bytes };
        if (!same(first(&t), rows[i].x))
            print_error("row %zu: %g\n", i, first(&t));
        assert_true(same(first(&t), rows[i].x));
        memcpy(twice, rows[i].bytes, rows[i].n);
        memcpy(twice + rows[i].n, rows[i].bytes, rows[i].n);
        t = tensor(rows[i].type, 1, &two);
        t.has_raw_data = true;
        t.raw_data = (ProtobufCBinaryData){ 2 * rows[i].n, twice };
        struct arena a = { 0 };
        double *x = onnx_tensor_contents(&t, 2, &a);
        assert_true(x && same(x[0], rows[i].x) && same(x[1], rows[i].x));
        assert_null(onnx_tensor_contents(&t, 1, &a));
        t.raw_data.len--;
        assert_null(onnx_tensor_contents(&t, 2, &a));
        t.dims = &three;
        assert_null(onnx_tensor_contents(&t, 9, &a));
        arena_free(&a);
    }
}

/* Each field that holds numbers; some hold the bits of floats as integers. */
static void typed_fields(void **state)
{
    float f[] = { 2.5f };
    double d[] = { 3.5 };
    int64_t l[] = { -7 };
    uint64_t u[] = { 9 };
    int32_t i[] = { -5 }, half[] = { 0x4248 }, brain[] = { 0x4049 };
    (void)state;
    Onnx__TensorProto t = tensor(ONNX_FLOAT, 0, NULL);
    assert_near(first(&t), -12345, 0);                              /* none */
    t.n_float_data = 1, t.float_data = f;
    assert_near(first(&t), 2.5, 0);
    t = tensor(ONNX_DOUBLE, 0, NULL);
    t.n_double_data = 1, t.double_data = d;
    assert_near(first(&t), 3.5, 0);
    t = tensor(ONNX_INT64, 0, NULL);
    t.n_int64_data = 1, t.int64_data = l;
    assert_near(first(&t), -7, 0);
    t = tensor(ONNX_UINT64, 0, NULL);
    t.n_uint64_data = 1, t.uint64_data = u;
    assert_near(first(&t), 9, 0);
    t = tensor(ONNX_INT32, 0, NULL);
    t.n_int32_data = 1, t.int32_data = i;
    assert_near(first(&t), -5, 0);
    t = tensor(ONNX_FLOAT16, 0, NULL);
    t.n_int32_data = 1, t.int32_data = half;
    assert_near(first(&t), 3.140625, 0);
    t = tensor(ONNX_BFLOAT16, 0, NULL);
    t.n_int32_data = 1, t.int32_data = brain;
    assert_near(first(&t), 3.140625, 0);
}

static void shapes_of_contents(void **state)
{
    struct arena a = { 0 };
    int64_t none[] = { 3, 0, 5 }, below[] = { -1 }, large[] = { 65536, 65536, 65536, 65536, 65536 };
    (void)state;
    Onnx__TensorProto t = tensor(ONNX_FLOAT, 3, none);
    assert_non_null(onnx_tensor_contents(&t, 3, &a));
    t = tensor(ONNX_FLOAT, 1, below);
    assert_null(onnx_tensor_contents(&t, 10, &a));
    t = tensor(ONNX_FLOAT, 5, large);
    assert_null(onnx_tensor_contents(&t, UINT64_MAX, &a));
    arena_free(&a);
}

static void axes(void **state)
{
    (void)state;
    for (uint32_t n = 0; n <= ONNX_MAX_DIMS; n++)
        for (int64_t given = -12; given <= 12; given++) {
            uint32_t axis = 99;
            bool in = given >= -(int64_t)n && given < (int64_t)n;
            assert_true(onnx_axis(&axis, given, n) == in);
            assert_int_equal(axis, !in ? 99 : given < 0 ? given + (int64_t)n : given);
        }
}

/* Lists have at most sixteen numbers. Numbers beyond 2^60, which mean "to the last", are limited so that they can be
 * added to. */
static void lists(void **state)
{
    struct arena a = { 0 };
    double known[17] = { 1e30, -1e30, NAN, 5.75, -2 };
    int64_t ints[17] = { 7, 8, INT64_MAX, INT64_MIN };
    uint32_t input = 0;
    struct onnx_value v = { .known = known, .n_dims = 1, .dims = { 5 } };
    struct onnx_model m = { .values = &v, .n_values = 1, .arena = &a };
    struct onnx_list list;
    Onnx__AttributeProto p = ONNX__ATTRIBUTE_PROTO__INIT, *all[] = { &p };
    Onnx__NodeProto proto = ONNX__NODE_PROTO__INIT;
    struct onnx_node n = { .proto = &proto, .n_inputs = 1, .inputs = &input };
    (void)state;
    assert_true(onnx_list(&list, &m, &n, "axes", 0));
    assert_int_equal(list.n, 5);
    assert_true(list.at[0] == INT64_C(1) << 60 && list.at[1] == -(INT64_C(1) << 60) && list.at[2] == 0 && list.at[3] == 5 && list.at[4] == -2);
    assert_true(onnx_list(&list, &m, &n, "axes", 1) && list.n == 0);
    for (uint64_t length = 16; length < 18; length++) {
        v.dims[0] = length;
        assert_true(onnx_list(&list, &m, &n, "axes", 0) == (length == 16));
    }
    v.known = NULL;
    assert_false(onnx_list(&list, &m, &n, "axes", 0));
    p.name = "axes";
    p.ints = ints;
    proto.attribute = all;
    proto.n_attribute = 1;
    for (p.n_ints = 16; p.n_ints < 18; p.n_ints++)
        assert_true(onnx_list(&list, &m, &n, "axes", 0) == (p.n_ints == 16));
    p.n_ints = 4;
    assert_true(onnx_list(&list, &m, &n, "axes", 0) && list.n == 4 && list.at[0] == 7 && list.at[1] == 8);
    assert_true(list.at[2] == INT64_C(1) << 60 && list.at[3] == -(INT64_C(1) << 60));
    assert_int_equal(onnx_int(&n, "nothing", 4), 4);
    arena_free(&a);
}

/* More than a thousand values are found again by their names. */
static void many_names(void **state)
{
    struct arena a = { 0 };
    struct onnx_model m = { .arena = &a };
    (void)state;
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(onnx_value(&m, arena_printf(&a, "value%u", i)), i);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(onnx_value(&m, arena_printf(&a, "value%u", i)), i);
    arena_free(&a);
}

/* All types: floats, integers, and others (strings, booleans, complex numbers, none). */
static void kinds_of_numbers(void **state)
{
    static const char kinds[] = "-fwwwwww--ffww--fffff--";
    (void)state;
    for (int type = 0; kinds[type]; type++) {
        assert_int_equal(onnx_is_float(type), kinds[type] == 'f');
        assert_int_equal(onnx_is_whole(type), kinds[type] == 'w');
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(kinds_of_numbers),
    cmocka_unit_test(raw_bytes), cmocka_unit_test(typed_fields), cmocka_unit_test(shapes_of_contents), cmocka_unit_test(axes), cmocka_unit_test(lists),
    cmocka_unit_test(many_names),
};
TAP_MAIN(tests)
