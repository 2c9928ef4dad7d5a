/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_torch.c - the losses of 20 steps of small models, against those that PyTorch 1.13 computed from the same initial values and inputs
 * (torch_losses.csv, written by `make torch`). Plans executed in fp32 are within 1e-5 of fp64; where a choice (of a ReLU, of a maximum) turned between PyTorch's fp32
 * and fp64 they are not judged, as the same may happen here between one processor and another. The kernels in double are within 1e-12 of fp64, whatever turned.
 */
#include "tests/execute/torch_exact.h"

struct kept { struct arena arena; struct csv_table losses; struct planned planned; };

static int kept_start(void **state)
{
    static struct kept k;
    *state = &k;
    start(&k.planned, "mlperf-v2.0-closed-bow-pod16-bert-large");
    assert_true(csv_load(&k.losses, "tests/execute/torch_losses.csv", &k.arena, &k.planned.err));
    assert_int_equal(k.losses.n_rows, N_TORCH_MODELS * TORCH_STEPS);
    return 0;
}

static int kept_end(void **state)
{
    struct kept *k = *state;
    stop(&k->planned);
    arena_free(&k->arena);
    return 0;
}

/* The row of a step: setting, step, choices turned, loss in fp32 and in fp64. */
static char **kept_row(const struct kept *k, const char *name, size_t step)
{
    size_t row = 0;
    while (!text_is(k->losses.rows[row].cells[0], name))
        assert_true(++row < k->losses.n_rows);
    return k->losses.rows[row + step].cells;
}

static void losses(void **state)
{
    struct kept *k = *state;
    for (size_t i = 0; i < N_TORCH_MODELS; i++) {
        const struct torch_model *t = &torch_models[i];
        struct planned_model m;
        struct step_result r;
        double off = 0, turned = 0;
        if (t->seed)
            continue;                   /* for `make torch` */
        struct execution *x = torch_start(&m, &k->planned, t);
        assert_non_null(x);
        for (size_t step = 0; step < TORCH_STEPS; step++) {
            assert_true(execution_step(x, &r, &m.err));
            off = fmax(off, fabs(r.loss / atof(kept_row(k, t->name, step)[4]) - 1)), turned += atof(kept_row(k, t->name, step)[2]);
        }
        print_message("# %s: %.1e, %g choices turned\n", t->name, off, turned);
        assert_true(turned > 0 || off <= 1e-5);
        execution_end(x);
        arena_free(&m.arena);
    }
}

/* The smaller models; five steps are enough for a rule that is wrong to change the loss. */
static void losses_in_double(void **state)
{
    static const char *const names[] = { "resnet-fast-0", "bert-fast", "rnnt-fast" };
    struct kept *k = *state;
    for (size_t i = 0; i < N_TORCH_MODELS; i++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            struct planned_model m;
            struct exact x;
            double off = 0;
            if (!text_is(torch_models[i].name, names[n]))
                continue;
            struct execution *plan = torch_start(&m, &k->planned, &torch_models[i]);
            exact_start(&x, &m.g);
            for (size_t step = 0; step < 5; step++)
                off = fmax(off, fabs(exact_step(&x, step, torch_models[i].rate) / atof(kept_row(k, names[n], step)[4]) - 1));
            print_message("# %s in double: %.1e\n", names[n], off);
            assert_true(off <= 1e-12);
            execution_end(plan);
            arena_free(&x.arena);
            arena_free(&m.arena);
        }
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(losses), cmocka_unit_test(losses_in_double) };
int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, kept_start, kept_end);
}
