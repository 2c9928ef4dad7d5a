/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_scans.c - a Scan becomes its rounds: rows are read and stacked one by one, other values carried.
 */
#include "tests/onnx/import.h"
#include "tests/onnx/operands.h"

/* One round for each of the 4 rows of v: the running sum, which starts with x, is carried, and twice the sum is
 * stacked. */
static void scans(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *body = draft_start(17);
    draft_text(body, "sum: 3; row: 3; Add sum row > more; Add more more > twice");
    draft_text(d, "v: rows,3; x = 3; m = 3,2; "
                  "Scan x v > last stacked num_scan_inputs=1 scan_output_axes=0 scan_output_directions=0");
    draft_body(d, "body", body, "more twice");
    draft_text(d, "Add stacked last > both; MatMul both m > y");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 4 });
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 4 * 2);
    for (uint64_t e = 0; e < 8; e++) {
        double want = 0;
        for (uint64_t k = 0; k < 3; k++) {
            double so_far = draft_noise("x", k), last;
            for (uint64_t t = 0; t <= e / 2; t++)
                so_far += draft_noise("v", t * 3 + k);
            last = so_far;
            for (uint64_t t = e / 2 + 1; t < 4; t++)
                last += draft_noise("v", t * 3 + k);
            want += (2 * so_far + last) * draft_noise("m", k * 2 + e % 2);
        }
        assert_near(y[e], want, 1e-5);
    }
    done(r);
    draft_end(body);
}

/* A Scan without carried values doubles each of 4 rows. */
static void a_scan_that_carries_nothing(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *body = draft_start(17);
    draft_text(body, "row: 3; Add row row > twice");
    draft_text(d, "v: rows,3; m = 3,2; Scan v > stacked num_scan_inputs=1");
    draft_body(d, "body", body, "twice");
    draft_node(d, "MatMul", "stacked m", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 4 });
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 4 * 2);
    for (uint64_t e = 0; e < 8; e++) {
        double want = 0;
        for (uint64_t k = 0; k < 3; k++)
            want += 2 * draft_noise("v", e / 2 * 3 + k) * draft_noise("m", k * 2 + e % 2);
        assert_near(y[e], want, 1e-6);
    }
    done(r);
    draft_end(body);
}

/* The carried value after four rows, as one row, times m. */
static void carried_times_m(struct draft *d, struct draft *body, const char *carried, double (*want_at)(uint64_t k))
{
    char row[40];
    snprintf(row, sizeof row, "%s first", carried);
    draft_text(d, "m = 3,2; first = [0]");
    draft_node(d, "Unsqueeze", row, "matrix", "");
    draft_node(d, "MatMul", "matrix m", "y", "");
    struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = 4 });
    double *y = outputs(r);
    assert_int_equal(tensor_elements(&r->g.tensors[r->im.output]), 2);
    for (uint64_t e = 0; e < 2; e++) {
        double want = 0;
        for (uint64_t k = 0; k < 3; k++)
            want += want_at(k) * draft_noise("m", k * 2 + e);
        assert_near(y[e], want, 1e-6);
    }
    done(r);
    draft_end(body);
}

static double sum_of_products(uint64_t k)
{
    double sum = draft_noise("x", k);
    for (uint64_t t = 0; t < 4; t++)
        sum += draft_noise("v", t * 3 + k) * draft_noise("u", t);
    return sum;
}

/* Two values read row by row: the carried sum grows by the product of both rows. */
static void a_scan_of_two(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *body = draft_start(17);
    draft_text(body, "sum: 3; row: 3; factor: 1; Mul row factor > product; Add sum product > more");
    draft_text(d, "v: rows,3; u: rows,1; x = 3; "
                  "Scan x v u > last num_scan_inputs=2 scan_input_axes=0,0 scan_input_directions=0,0");
    draft_body(d, "body", body, "more");
    carried_times_m(d, body, "last", sum_of_products);
}

static double sum_less_product(uint64_t k)
{
    double sum = draft_noise("x", k), product = draft_noise("z", k);
    for (uint64_t t = 0; t < 4; t++)
        product *= sum += draft_noise("v", t * 3 + k);
    return sum - product;
}

/* Two carried values: a sum of the rows, and a product of the sums. */
static void a_scan_that_carries_two(void **state)
{
    (void)state;
    struct draft *d = draft_start(17), *body = draft_start(17);
    draft_text(body, "sum: 3; product: 3; row: 3; Add sum row > more; Mul product more > larger");
    draft_text(d, "v: rows,3; x = 3; z = 3; Scan x z v > last_sum last_product num_scan_inputs=1");
    draft_body(d, "body", body, "more larger");
    draft_node(d, "Sub", "last_sum last_product", "difference", "");
    carried_times_m(d, body, "difference", sum_less_product);
}

static void scans_refused(void **state)
{
    static const struct { const char *attributes, *why; } cases[] = {
        { "num_scan_inputs=1 scan_input_directions=1,0", "scan_input_directions: want rows along the first dimension, forwards" },
        { "num_scan_inputs=1 scan_input_axes=1,0", "scan_input_axes: want rows along the first dimension, forwards" },
        { "num_scan_inputs=1 scan_output_directions=0,1", "scan_output_directions: want rows along the first dimension, forwards" },
        { "num_scan_inputs=1 scan_output_axes=1,0", "scan_output_axes: want rows along the first dimension, forwards" },
        { "num_scan_inputs=1 scan_input_axes=1,1", "scan_input_axes: want rows along the first dimension, forwards" },
        { "num_scan_inputs=1 scan_input_axes=0,-1", "scan_input_axes: want rows along the first dimension, forwards" },
        { "num_scan_inputs=1 scan_input_directions=1,1", "scan_input_directions: want rows along the first dimension, forwards" },
        { "num_scan_inputs=1 scan_output_axes=1,1", "scan_output_axes: want rows along the first dimension, forwards" },
        { "num_scan_inputs=1 scan_output_directions=1,1", "scan_output_directions: want rows along the first dimension, forwards" },
        { "num_scan_inputs=3", "its body does not have the inputs and outputs of a scan of 3 inputs" },
        { "num_scan_inputs=4294967297", "its body does not have the inputs and outputs of a scan of 4294967297 inputs" },
        { "", "its body does not have the inputs and outputs of a scan of 0 inputs" }, { "num_scan_inputs=0", "its body does not have the inputs and outputs of a scan of 0 inputs" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft *d = draft_start(17), *body = draft_start(17);
        draft_text(body, "sum: 3; row: 3; Add sum row > more");
        draft_text(d, "v: rows,3; x = 3");
        draft_node(d, "Scan", "x v", "y", cases[i].attributes);
        draft_body(d, "body", body, "more");
        draft_end(body);
        char message[200];
        snprintf(message, sizeof message, "node 0, Scan 'n0': %s", cases[i].why);
        refused(d, infer, message);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(scans), cmocka_unit_test(a_scan_that_carries_nothing), cmocka_unit_test(a_scan_of_two), cmocka_unit_test(a_scan_that_carries_two),
    cmocka_unit_test(scans_refused),
};
TAP_MAIN(tests)
