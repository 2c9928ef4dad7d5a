/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_codelet.c - sheets of operations of one's own: what is read, and what is refused; and grids that IPUs share. */
#include "tests/check.h"
#include "system-model/graph/graph.h"

#define HEAD "domain,name,key,value,unit,source\n"
#define LINE(key, value, unit) "own,Blur," key "," value "," unit ",counted\n"
#define CYCLES LINE("cycles_per_element", "2.5", "cycles")

static bool load(struct codelets *out, const char *text, struct arena *a, struct err *err)
{
    const char *path = arena_strdup(a, temp_file(text, strlen(text), ".csv"));
    bool good = codelets_load(out, path, a, err);
    unlink(path);
    return good;
}

static void all_keys(void **state)
{
    (void)state;
    struct arena a = {0};
    struct codelets all;
    struct err err = { "" };
    bool good = load(&all, HEAD CYCLES LINE("cycles_per_row", "7", "cycles") LINE("cycles_fixed", "31", "cycles") LINE("vector", "4", "elements")
                     LINE("halo", "3", "cells") LINE("copies", "in+out", "") LINE("broadcast_bytes", "40", "B") LINE("temporary_bytes", "70", "B")
                     LINE("code_bytes", "300", "B") "own,Blur,split,\"1,2\",,counted\n" LINE("worker_split", "2x3", "") LINE("output", "5x8", "")
                     LINE("gradient", "BlurGrad", "") "own,BlurGrad,cycles_per_element,9,cycles,counted\nelse,Blur,cycles_per_element,1,cycles,counted\n", &a, &err);
    assert_string_equal(err.msg, "");
    assert_true(good);
    assert_int_equal(all.n, 3);
    const struct codelet *c = codelet_find(&all, "own", "Blur");
    assert_ptr_equal(c->gradient_of, codelet_find(&all, "own", "BlurGrad"));
    assert_near(c->cycles_per_element, 2.5, 0);
    assert_near(c->cycles_per_row + c->cycles_fixed, 38, 0);
    assert_int_equal(c->vector + 10 * c->halo + 100 * (uint64_t)c->copies, 4 + 30 + 200);
    assert_int_equal(c->broadcast_bytes + c->temporary_bytes + c->code_bytes, 410);
    assert_int_equal(c->n_axes, 2);
    assert_int_equal(c->axes[0] + 10 * c->axes[1], 21);
    assert_int_equal(c->worker_rule, WORKERS_GIVEN);
    assert_int_equal(c->worker_parts[0] + 10 * c->worker_parts[1], 32);
    assert_int_equal(c->output_dims[0] + 10 * c->output_dims[1] + c->output_dims[2], 85);
    const struct codelet *usual = codelet_find(&all, "else", "Blur");
    assert_int_equal(usual->vector + usual->n_axes + usual->axes[0] + usual->halo, 2);
    assert_int_equal(usual->worker_rule, WORKERS_BEST);
    assert_null(usual->gradient);
    assert_null(codelet_find(&all, "own", "Sharpen"));
    arena_free(&a);
}

static void refusals(void **state)
{
    (void)state;
    static const struct { const char *text, *message; } cases[] = {
        { HEAD LINE("halo", "1", "cells"), ":2: own,Blur: cycles_per_element is missing: cycles of a worker for each element" },
        { HEAD CYCLES LINE("halos", "1", "cells"), ":3: key: 'halos' is not known; did you mean 'halo'? known: output, split, worker_split, cycles_per_element, "
          "cycles_per_row, cycles_fixed, vector, halo, copies, broadcast_bytes, temporary_bytes, code_bytes, gradient" },
        { HEAD CYCLES LINE("halo", "1", "B"), ":3: halo is in 'B', want 'cells'" },
        { HEAD CYCLES CYCLES, ":3: cycles_per_element of Blur stands in the sheet twice; keep one" },
        { HEAD "own,Blur,halo,1,cells,\n", ":2: halo: domain, name and source must not be empty; the source says who measured or counted it" },
        { HEAD CYCLES LINE("vector", "0", "elements"), ":3: vector: 0 is outside 1 to 1024 elements" },
        { HEAD CYCLES LINE("copies", "out", ""), ":3: copies: 'out' is not one of: none, in, in+out" },
        { HEAD CYCLES LINE("gradient", "Grad", ""), ":2: own,Blur: gradient: no operation 'Grad' of this domain in the sheet; add its lines, or write none" },
        { HEAD CYCLES "own,Blur,split,\"2,1\",,counted\n", ":2: own,Blur: '2,1': want one to 3 axes of the first input, in rising order, such as 0,1" },
        { HEAD CYCLES LINE("worker_split", "2x3", ""), ":2: own,Blur: '2x3': want best, one-axis, or a number of parts for each axis of split, such as 6x1" },
        { HEAD CYCLES LINE("output", "8x0", ""), ":2: own,Blur: '8x0': want input, for results that are like the inputs, or at most 5 sizes such as 8x16" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct codelets all;
        struct err err = { "" };
        assert_false(load(&all, cases[i].text, &a, &err));
        assert_string_equal(strchr(err.msg, ':'), cases[i].message);
        arena_free(&a);
    }
}

/* ---- grids that IPUs share ------------------------------------------------------------------------------------------------ */

static const struct codelet plane = { .domain = "own", .name = "Blur", .output = "input", .split = "0,1", .n_axes = 2, .axes = { 0, 1 }, .vector = 1, .halo = 1 };

/* A codelet on [21, 30, 4], a scale of its result, and a bias of [1, 1, 4] that is added. */
static void build(struct graph *g, struct arena *a, enum op_kind last)
{
    graph_start(g, "grid", 1, a);
    graph_layer(g, (struct layer){ .name = "all" });
    uint32_t x = graph_tensor(g, "x", ROLE_INPUT, TYPE_FP32, 3, (uint64_t[]){ 21, 30, 4 });
    uint32_t bias = graph_tensor(g, "b", ROLE_INPUT, TYPE_FP32, 3, (uint64_t[]){ 1, 1, 4 });
    x = graph_op(g, OP_CODELET, &x, 1, (struct op_attributes){ .codelet = &plane, .pieces = 1 });
    x = graph_op(g, OP_ADD, (uint32_t[]){ x, bias }, 2, (struct op_attributes){ 0 });
    graph_op(g, last, &x, 1, (struct op_attributes){ .rate = 2 });
}

static void parts_of_a_grid(void **state)
{
    (void)state;
    struct arena a = {0};
    struct graph g;
    struct err err = { "" };
    build(&g, &a, OP_SCALE);
    assert_true(graph_cut_grid(&g, (uint32_t[]){ 2, 4, 0 }, &err));
    for (size_t i = 0; i < g.n_tensors; i++) {      /* 21 in 2 and 30 in 4, rounded up; the bias is everywhere */
        bool small = text_is(g.tensors[i].name, "b");
        assert_int_equal(g.tensors[i].dims[0], small ? 1 : 11);
        assert_int_equal(g.tensors[i].dims[1], small ? 1 : 8);
        assert_int_equal(g.tensors[i].dims[2], 4);
    }
    build(&g, &a, OP_SOFTMAX);
    assert_false(graph_cut_grid(&g, (uint32_t[]){ 1, 2, 0 }, &err));
    assert_string_equal(err.msg, "parallel.grid_ipus: operation 2 (softmax) is neither a codelet nor element by element, so that IPUs cannot share its grid; want 1");
    build(&g, &a, OP_SCALE);
    assert_false(graph_cut_grid(&g, (uint32_t[]){ 1, 1, 2 }, &err));
    assert_string_equal(err.msg, "parallel.grid_ipus: Blur cuts 2 axes, of which number 3 cannot be cut in 2");
    assert_true(graph_cut_grid(&g, (uint32_t[]){ 1, 1, 1 }, &err));
    assert_int_equal(g.tensors[0].dims[0], 21);
    arena_free(&a);
}

/* One operation for each of 21 x 30 x 4 numbers of each of two results. */
static void work_of_all_results(void **state)
{
    (void)state;
    struct arena a = {0};
    struct graph g;
    build(&g, &a, OP_SCALE);
    graph_op(&g, OP_CODELET, g.ops[0].inputs, 1, (struct op_attributes){ .codelet = &plane, .pieces = 2 });
    assert_int_equal(op_flop(&g, &g.ops[0]), 2520);
    assert_int_equal(op_flop(&g, &g.ops[3]), 5040);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(all_keys), cmocka_unit_test(refusals), cmocka_unit_test(parts_of_a_grid), cmocka_unit_test(work_of_all_results) };
TAP_MAIN(tests)
