/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_recurrences.c - LSTM, GRU and plain RNN: steps by hand, both directions, last states and cells, weights in another
 * order.
 */
#include "tests/onnx/import.h"

/* A GRU of one step in both directions, by its equations, with the file's order of gates. */
static void recurrent(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        struct draft *d = draft_start(14);
        draft_text(d, "x: 2,1,3; w = 1,6,3; r = 1,6,2; b = 1,12");
        draft_node(d, "GRU", "x w r b", "y last", before ? "hidden_size=2" : "hidden_size=2 linear_before_reset=1");
        struct imported *r = import(d, "y last", (struct onnx_options){ .inference = true, .batch = 2 });
        double *y = outputs(r), h[2] = { 0, 0 };
        for (uint64_t t = 0; t < 2; t++) {
            double g[3][2], next[2];
            for (uint64_t k = 0; k < 6; k++) {
                double from_x = draft_noise("b", k), from_h = draft_noise("b", 6 + k);
                for (uint64_t i = 0; i < 3; i++)
                    from_x += draft_noise("x", t * 3 + i) * draft_noise("w", k * 3 + i);
                for (uint64_t i = 0; i < 2; i++)
                    from_h += (k > 3 && before ? g[1][i] : 1) * h[i] * draft_noise("r", k * 2 + i);
                g[k / 2][k % 2] = k < 4 ? 1 / (1 + exp(-from_x - from_h)) : tanh(from_x + (before ? 1 : g[1][k % 2]) * from_h);
            }
            for (uint64_t k = 0; k < 2; k++) {
                next[k] = (1 - g[0][k]) * g[2][k] + g[0][k] * h[k];
                assert_near(y[t * 2 + k], next[k], 1e-6);
            }
            memcpy(h, next, sizeof h);
        }
        assert_int_equal(graph_parameters(&r->g), 6 * 3 + 6 * 2 + 12);
        done(r);
    }
}

/* An LSTM of 3 steps of one sample, 2 wide and 2 hidden, forwards and backwards: all states, the last states, the last
 * cells. Gates are input, output, forget, cell in the file; PyTorch exports them as slices of a weight with another
 * order. */
static void recurrent_both_ways(void **state)
{
    (void)state;
    struct draft *d = draft_start(14);
    draft_text(d, "x: 3,1,2; w = 2,8,2; other = 2,8,2; zero = [0]; five = [5]; eight = [8]; one = [1]; "
                  "Slice other zero five one > front; Slice other five eight one > rear; "
                  "Concat rear front > r axis=1; LSTM x w r > y last cells hidden_size=2 direction=bidirectional; "
                  "Add last cells > sum");
    struct imported *r = import(d, "sum y", (struct onnx_options){ .inference = true, .batch = 3 });
    double *sum = outputs(r);
    for (uint64_t way = 0; way < 2; way++) {
        double h[2] = { 0, 0 }, c[2] = { 0, 0 };
        for (uint64_t t = 0; t < 3; t++) {
            double g[8];
            for (uint64_t k = 0; k < 8; k++) {
                g[k] = 0;
                for (uint64_t i = 0; i < 2; i++)
                    g[k] += draft_noise("x", (way ? 2 - t : t) * 2 + i) * draft_noise("w", (way * 8 + k) * 2 + i) +
                            h[i] * draft_noise("other", (way * 8 + (k < 3 ? k + 5 : k - 3)) * 2 + i);
            }
            for (uint64_t k = 0; k < 2; k++) {
                c[k] = c[k] / (1 + exp(-g[4 + k])) + tanh(g[6 + k]) / (1 + exp(-g[k]));
                h[k] = tanh(c[k]) / (1 + exp(-g[2 + k]));
            }
        }
        for (uint64_t k = 0; k < 2; k++)
            assert_near(sum[way * 2 + k], h[k] + c[k], 1e-6);
    }
    assert_int_equal(graph_parameters(&r->g), 2 * (8 * 2 + 8 * 2));
    done(r);
}

/* A plain RNN of 35 steps (two joins) and two samples in both directions, with given activations and initial states.
 * In training every weight has its gradient. */
static void plain_steps(void **state)
{
    enum { STEPS = 35, BATCH = 2, WIDTH = 3, HIDDEN = 4 };
    static double h[2][STEPS][BATCH][HIDDEN];
    (void)state;
    for (int way = 0; way < 2; way++)
        for (uint64_t t = 0; t < STEPS; t++)
            for (uint64_t k = 0; k < BATCH * HIDDEN; k++) {
                uint64_t at = way ? STEPS - 1 - t : t, s = k / HIDDEN, j = k % HIDDEN;
                double sum = draft_noise("b", (uint64_t)way * 2 * HIDDEN + j) + draft_noise("b", (uint64_t)way * 2 * HIDDEN + HIDDEN + j);
                for (uint64_t i = 0; i < WIDTH; i++)
                    sum += draft_noise("x", (at * BATCH + s) * WIDTH + i) * draft_noise("w", ((uint64_t)way * HIDDEN + j) * WIDTH + i);
                for (uint64_t i = 0; i < HIDDEN; i++)
                    sum += (t ? h[way][way ? at + 1 : at - 1][s][i] : draft_noise("h", ((uint64_t)way * BATCH + s) * HIDDEN + i)) *
                           draft_noise("r", ((uint64_t)way * HIDDEN + j) * HIDDEN + i);
                h[way][at][s][j] = way ? fmax(sum, 0) : tanh(sum);
            }
    for (int training = 0; training < 2; training++) {
        struct draft *d = draft_start(14);
        draft_text(d, "x: 35,2,3; h: 2,2,4");
        draft_weight(d, "w", DIMS(2, HIDDEN, WIDTH));
        draft_weight(d, "r", DIMS(2, HIDDEN, HIDDEN));
        draft_weight(d, "b", DIMS(2, 2 * HIDDEN));
        draft_node(d, "RNN", "x w r b - h", "y last", "direction=bidirectional activations=Tanh");
        ProtobufCBinaryData names[] = { { 4, (uint8_t *)"Tanh" }, { 4, (uint8_t *)"Relu" } };
        Onnx__AttributeProto *activations = d->nodes[0]->attribute[1];
        activations->n_strings = 2;
        activations->strings = names;
        struct imported *r = import(d, training ? "y" : "y last", (struct onnx_options){ .inference = !training, .batch = STEPS });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), 2 * (HIDDEN * WIDTH + HIDDEN * HIDDEN + 2 * HIDDEN));
        assert_int_equal(graph_forward_mac(&r->g), 2 * STEPS * BATCH * HIDDEN * (WIDTH + HIDDEN));
        size_t gradients = 0;
        for (size_t i = 0; i < r->g.n_tensors; i++)
            gradients += r->g.tensors[i].role == ROLE_WEIGHT_GRADIENT && r->g.tensors[i].dims[0] == HIDDEN;
        assert_int_equal(gradients, training ? 2 * STEPS : 0);       /* one of the recurrent weights for each step */
        double *y = training ? NULL : outputs(r);
        for (uint64_t i = 0; i < STEPS * 2 * BATCH * HIDDEN && y; i++)
            assert_near(y[i], h[i / (BATCH * HIDDEN) % 2][i / (2 * BATCH * HIDDEN)][i / HIDDEN % BATCH][i % HIDDEN], 1e-6);
        done(r);
    }
}

/* A thousand steps are the limit. */
static void most_steps(void **state)
{
    (void)state;
    for (uint64_t steps = 1000; steps <= 1001; steps++) {
        struct draft *d = draft_start(14);
        draft_text(d, "x: steps,1,2; w = 1,1,2; r = 1,1,1; RNN x w r > y hidden_size=1");
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = steps });
        assert_int_equal(strstr(r->err.msg, ": of 1001 steps, at most 1000") != NULL, steps > 1000);
        assert_int_equal(*r->err.msg != '\0', steps > 1000);
        done(r);
    }
}

/* One step from zero is f(x w) for each activation; others, and parts of a name, are refused. */
static void functions_of_a_step(void **state)
{
    static const char *const names[] = { "Tanh", "Relu", "Sigmoid", "Softsign", "Tan", "Relu6", "" };
    (void)state;
    for (int i = 0; i < 7; i++) {
        struct draft *d = draft_start(14);
        draft_text(d, "x: 1,2,3; w = 1,4,3; r = 1,4,4; RNN x w r > y hidden_size=4 activations=Tanh");
        ProtobufCBinaryData name = { strlen(names[i]), (uint8_t *)arena_strdup(&d->arena, names[i]) };
        d->nodes[0]->attribute[1]->n_strings = 1;
        d->nodes[0]->attribute[1]->strings = &name;
        if (i > 2) {
            refused(d, infer, "node 0, RNN 'n0': its function is not Tanh, Relu or Sigmoid");
            continue;
        }
        struct imported *r = import(d, "y", infer);
        double *y = outputs(r);
        for (uint64_t e = 0; e < 8; e++) {
            double sum = 0;
            for (uint64_t k = 0; k < 3; k++)
                sum += draft_noise("x", e / 4 * 3 + k) * draft_noise("w", e % 4 * 3 + k);
            assert_near(y[e], i == 0 ? tanh(sum) : i == 1 ? fmax(sum, 0) : 1 / (1 + exp(-sum)), 1e-6);
        }
        done(r);
    }
}

/* An initial state from another part of the model needs a gradient; an input, or a constant repeated for each sample,
 * does not. */
static void states_handed_over(void **state)
{
    static const char *const inputs[] = { "x w r - - h", "x w r - - last", "x w r - - zeros" };
    (void)state;
    for (int from = 0; from < 3; from++)
        for (int training = 0; training < 2; training++) {
            struct draft *d = draft_start(14);
            draft_text(d, "x: batch,2,3; h: 1,2,4; w = 1,12,3; r = 1,12,4; GRU x w r > - last hidden_size=4; "
                          "row = 1,1,4; shape = [1,2,4]; Expand row shape > zeros");
            draft_node(d, "GRU", inputs[from], "y", "hidden_size=4");
            struct imported *r = import(d, "y", (struct onnx_options){ .inference = !training });
            const char *refusal = strstr(r->err.msg, "its initial state is computed by the model, and its gradient is not modelled; train the parts one by one");
            assert_int_equal(refusal != NULL, from == 1 && training);
            assert_int_equal(*r->err.msg != '\0', from == 1 && training);
            done(r);
        }
}

/* A plain RNN of a thousand steps is built, a longer one refused. */
static void the_longest_run(void **state)
{
    (void)state;
    for (uint64_t steps = 1000; steps < 1002; steps++) {
        struct draft *d = draft_start(14);
        draft_text(d, "x: steps,1,2; w = 1,3,2; r = 1,3,3; RNN x w r > y hidden_size=3");
        if (steps > 1000) {
            refused(d, (struct onnx_options){ .inference = true, .batch = steps }, "node 0, RNN 'n0': of 1001 steps, at most 1000");
            continue;
        }
        struct imported *r = import(d, "y", (struct onnx_options){ .inference = true, .batch = steps });
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_forward_mac(&r->g), 1000 * 2 * 3 + 999 * 3 * 3);     /* no state before the first step */
        done(r);
    }
}

/* An LSTM whose input i, a weight or the biases, is a slice of a longer one and copied: n moves. */
static struct draft *moved(uint32_t i, uint32_t n)
{
    struct draft *d = draft_start(14);
    const char *names[] = { "x", "w", "r", "b" };
    draft_text(d, "x: 3,1,2; w = 1,8,2; r = 1,8,2; b = 1,16");
    draft_weight(d, "longer", i < 3 ? 3 : 2, (const uint64_t[]){ 1, i < 3 ? 9 : 17, 2 });
    draft_whole(d, "zero", WHOLE(0));
    draft_whole(d, "end", WHOLE(i < 3 ? 8 : 16));
    draft_text(d, "one = [1]; Slice longer zero end one > m1");
    for (uint32_t k = 1; k < n; k++)
        draft_node(d, "Identity", arena_printf(&d->arena, "m%u", k), arena_printf(&d->arena, "m%u", k + 1), "");
    names[i] = arena_printf(&d->arena, "m%u", n);
    draft_node(d, "LSTM", arena_printf(&d->arena, "x %s %s %s", names[1], names[2], names[3]), "y", "hidden_size=2");
    return d;
}

/* The longest chain of moves that is followed to a weight. */
static void moves_of_a_weight(void **state)
{
    const struct onnx_options three = { .inference = true, .batch = 3 };
    (void)state;
    for (uint32_t i = 1; i < 4; i++) {
        struct imported *r = import(moved(i, 32), "y", three);
        assert_string_equal(r->err.msg, "");
        assert_int_equal(graph_parameters(&r->g), 16 + 16 + 16);
        done(r);
        refused(moved(i, 33), three, "node 33, LSTM 'n33': want weights that stand in the file");
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(moves_of_a_weight), cmocka_unit_test(the_longest_run), cmocka_unit_test(recurrent), cmocka_unit_test(recurrent_both_ways), cmocka_unit_test(plain_steps), cmocka_unit_test(most_steps), cmocka_unit_test(states_handed_over),
    cmocka_unit_test(functions_of_a_step),
};
TAP_MAIN(tests)
