/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_update_merged.c - updates whose gradients are merged into buffers.
 */
#include "tests/planned.h"
#include "system-model/graph/graph.h"
#include "tests/odd_machine.h"

static const char resnet[] = "mlperf-v1.1-closed-ipu-pod16-resnet50";

/* 25,557,032 halves in buffers of two fifths of them: three all-reduces of a third. */
static void merged_gradients_fill_buffers(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, resnet);
    y.opt.program.merge_buffer_bytes = 25557032 * 2 / 2.5;
    assert_true(build(&y, &p));
    assert_true(p.update.chains[0].ipu == ALL_IPUS);
    assert_int_equal(p.update.chains[0].n_tensors, 3);
    assert_near(p.update.chains[0].steps->ops[0].bytes, 25557032 * 2 / 3.0, 1e-3);
    for (uint32_t n = 1; n <= 2; n++) {             /* one buffer or two, filled to the last byte, and a byte less */
        y.opt.program.merge_buffer_bytes = 25557032 * 2 / n;
        assert_true(build(&y, &p));
        assert_int_equal(p.update.chains[0].n_tensors, n);
        y.opt.program.merge_buffer_bytes--;
        assert_true(build(&y, &p));
        assert_int_equal(p.update.chains[0].n_tensors, n + 1);
    }
    stop(&y);
}

/* A framework that merges on one IPU alone: each of the four IPUs reduces the gradients of its own weights, all in one buffer here, one IPU after the
 * other; together they are as many bytes as their tensors. */
static void each_ipu_merges_its_own(void **state)
{
    (void)state;
    struct planned y;
    struct plan own, all;
    start(&y, "prediction-dss8440x2-resnet50-tf1");
    y.opt.program.merge_over_ipus = false;
    assert_true(build(&y, &own));
    y.opt.program.merge_over_ipus = true;
    assert_true(build(&y, &all));
    uint64_t cycles = 0;
    double bytes = 0, of_tensors = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < own.update.n_chains; i++) {
        const struct update_chain *c = &own.update.chains[i];
        n += c->is_merged;
        bytes += c->is_merged ? c->n_tensors * c->steps->ops[0].bytes : 0;
        of_tensors += c->is_merged ? 0 : (double)c->n_tensors * (double)(2 * c->n_elements);
        cycles += c->is_merged ? c->n_tensors * c->steps->n_cycles : 0;
        assert_true(!c->is_merged || c->ipu < 4);
    }
    assert_int_equal(n, 4);
    assert_near(bytes, of_tensors, 1);
    assert_true(cycles > 0 && all.update.chains[0].is_merged && all.update.chains[0].ipu == ALL_IPUS);
    stop(&y);
}

/* Eight replicas of eight IPUs on a torus: full routes, one direction after the other, are faster than a link at a time, and send as many bytes; where
 * replicas are two IPUs wide, or the links a ladder (16 IPUs), there is no difference. */
static void a_torus_by_full_routes(void **state)
{
    static const struct { uint32_t width; const char *recipe; bool differs; } cases[] = { { 8, "mlperf-v1.1-closed-ipu-pod64-bert-large", true },
        { 4, "mlperf-v1.1-closed-ipu-pod16-bert-large", false }, { 2, "mlperf-v1.1-closed-ipu-pod64-bert-large", false } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planned y;
        struct plan full, further;
        start(&y, cases[i].recipe);
        y.opt.n_stages = cases[i].width == 2 ? 0 : y.opt.n_stages;
        y.opt.ipus_per_replica = cases[i].width;
        y.opt.program.torus_exchanges = TORUS_FULL_ROUTES;
        assert_true(build(&y, &full));
        y.opt.program.torus_exchanges = TORUS_ONE_LINK_FURTHER;
        assert_true(build(&y, &further));
        uint64_t a = update_cycles(&full, 1, UPDATE_REDUCE), b = update_cycles(&further, 1, UPDATE_REDUCE);
        assert_true(cases[i].differs ? a < b && 2 * a > b : a == b);
        stop(&y);
    }
}

/* Four IPUs of a replica behind one port of a server, and four replicas a server: all 25.6 M halves pass it, a quarter of them from each replica, in
 * two steps of a half. Links of a server have the IPU with most, twice a rail. */
static void stages_share_a_port(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    start(&y, "prediction-dss8440x2-resnet50-tf1");
    y.opt.program.merge_over_ipus = true;
    assert_true(build(&y, &p));
    const struct update_op *reduce = &p.update.chains[0].steps->ops[0];
    double bytes = 0;
    for (uint32_t i = 1; i < p.update.n_chains; i++)
        bytes += (double)(p.update.chains[i].n_elements * 2) * p.update.chains[i].n_tensors;
    assert_near(reduce->busiest_bytes[LINK_GATEWAY], bytes / 4, 1);
    assert_near(reduce->busiest_bytes[LINK_RAIL], 2 * 2 * 3 * reduce->bytes / 4, 1);
    assert_true(bytes > 2 * 25.5e6 && bytes < 2 * 25.6e6 && reduce->bytes > 0.6 * bytes);
    stop(&y);
}

/* Larger buffers never make for a slower update of one IPU a replica. */
static void larger_buffers_are_no_slower(void **state)
{
    (void)state;
    struct planned y;
    struct plan p;
    uint64_t last = UINT64_MAX;
    start(&y, resnet);
    for (double buffer_bytes = 7; buffer_bytes < 1e9; buffer_bytes *= 13) {
        y.opt.program.merge_buffer_bytes = buffer_bytes;
        assert_true(build(&y, &p));
        uint64_t cycles = update_cycles(&p, 0, UPDATE_REDUCE);
        assert_true(cycles <= last);
        last = cycles;
    }
    stop(&y);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(merged_gradients_fill_buffers), cmocka_unit_test(each_ipu_merges_its_own), cmocka_unit_test(a_torus_by_full_routes),
    cmocka_unit_test(stages_share_a_port), cmocka_unit_test(larger_buffers_are_no_slower),
};
TAP_MAIN(tests)
