/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_torch.c - the losses of 20 steps of three small models, against those that PyTorch 1.13 computed from the same initial values and inputs
 * (torch_losses.csv, written by `make torch`): within 1e-5.
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
        assert_non_null(x);
        for (size_t step = 0; step < TORCH_STEPS; step++) {
            const struct csv_row *row = &kept.rows[i * TORCH_STEPS + step];
            assert_true(execution_step(x, &r, &m.err) && text_is(row->cells[0], m.g.name));
            assert_near(r.loss / atof(row->cells[2]), 1, 1e-5);
        }
        execution_end(x);
        arena_free(&m.arena);
    }
    stop(&y);
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(losses) };
TAP_MAIN(tests)
