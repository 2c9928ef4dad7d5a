/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_torch.c - the losses of 20 steps of small models, against those that PyTorch 1.13 computed from the same initial values and inputs
 * (torch_losses.csv, written by `make torch`): within 1e-5 of fp64. Settings in which a choice (of a ReLU, of a maximum) turned between PyTorch's fp32 and fp64 are not judged, as the
 * same may happen here between one processor and another.
 */
#include "tests/execute/torch_models.h"

static void losses(void **state)
{
    struct arena a = { 0 };
    struct csv_table kept;
    struct planned y;
    (void)state;
    start(&y, "mlperf-v2.0-closed-bow-pod16-bert-large");
    assert_true(csv_load(&kept, "tests/execute/torch_losses.csv", &a, &y.err));
    assert_int_equal(kept.n_rows, N_TORCH_MODELS * TORCH_STEPS);
    for (size_t i = 0; i < N_TORCH_MODELS; i++) {
        struct planned_model m;
        struct step_result r;
        struct execution *x = torch_start(&m, &y, &torch_models[i]);
        double off = 0, turned = 0;
        size_t row = 0;
        assert_non_null(x);
        while (!text_is(kept.rows[row].cells[0], torch_models[i].name))
            assert_true(++row < kept.n_rows);
        for (size_t step = 0; step < TORCH_STEPS; step++) {
            assert_true(execution_step(x, &r, &m.err));
            off = fmax(off, fabs(r.loss / atof(kept.rows[row + step].cells[4]) - 1)), turned += atof(kept.rows[row + step].cells[2]);
        }
        print_message("# %s: %.1e, %g choices turned\n", torch_models[i].name, off, turned);
        assert_true(turned > 0 || off <= 1e-5);
        execution_end(x);
        arena_free(&m.arena);
    }
    stop(&y);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(losses) };
TAP_MAIN(tests)
