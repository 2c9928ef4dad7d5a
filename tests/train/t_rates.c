/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_rates.c - the optimizer's values by step: warm-up and decay by hand, and where a recipe says them. */
#include "tests/check.h"
#include "results/train/train.h"

static double rate(const struct rates *r, uint64_t step)
{
    return rates_at(r, step).learning_rate;
}

/* Four steps up to 0.5: an eighth more each. Then from 0.5 to 0.1 in five steps with power 2: 0.1 + 0.4 (1 - k / 5)^2; and 0.1 for ever. */
static void up_and_down(void **state)
{
    static const double want[] = { 0.125, 0.25, 0.375, 0.5, 0.5, 0.1 + 0.4 * 0.64, 0.1 + 0.4 * 0.36, 0.1 + 0.4 * 0.16, 0.1 + 0.4 * 0.04, 0.1, 0.1 };
    const struct rates r = { .base = 0.5, .end = 0.1, .power = 2, .warmup_steps = 4, .decay_steps = 5 };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_near(rate(&r, i), want[i], 1e-12);
    assert_near(rate(&r, 1000000), 0.1, 1e-12);
}

static void without_decay_the_rate_stays(void **state)
{
    const struct rates r = { .base = 0.3, .end = 0.1, .power = 1, .warmup_steps = 2 };
    (void)state;
    assert_near(rate(&r, 0), 0.15, 1e-12);
    assert_near(rate(&r, 1), 0.3, 1e-12);
    assert_near(rate(&r, 77), 0.3, 1e-12);
}

static void one_step_of_decay(void **state)
{
    const struct rates r = { .base = 0.3, .end = 0.1, .power = 1, .decay_steps = 1 };
    (void)state;
    assert_near(rate(&r, 0), 0.3, 1e-12);
    assert_near(rate(&r, 1), 0.1, 1e-12);
}

static void without_warmup_the_first_step_has_the_whole_rate(void **state)
{
    const struct rates r = { .base = 0.8, .end = 0, .power = 1, .decay_steps = 4 };
    (void)state;
    assert_near(rate(&r, 0), 0.8, 1e-12);
    assert_near(rate(&r, 1), 0.6, 1e-12);
    assert_near(rate(&r, 4), 0, 1e-12);
}

static void read_rates(struct rates *out, const char *optimizer, struct ini_entry *entries, size_t n, struct arena *a)
{
    struct recipe r = { .path = "r.ini", .optimizer_name = optimizer, .hyperparameters = entries, .n_hyperparameters = n };
    struct err err;
    assert_true(rates_read(out, &r, 7.4, a, &err));
}

/* Half an epoch of 7.4 steps is 3.7: the warm-up takes four. */
static void epochs_become_whole_steps(void **state)
{
    struct ini_entry entries[] = { { .key = "opt_base_learning_rate", .value = "0.5" }, { .key = "opt_learning_rate_warmup_epochs", .value = "0.5" },
                                   { .key = "opt_learning_rate_decay_steps", .value = "9" }, { .key = "opt_momentum", .value = "0.75" },
                                   { .key = "opt_something", .value = "1" }, { .key = "opt_other", .value = "2" } };
    struct arena a = {0};
    struct rates r;
    (void)state;
    read_rates(&r, "sgd", entries, 6, &a);
    assert_near(r.base, 0.5, 0);
    assert_near(r.warmup_steps, 4, 0);
    assert_near(r.decay_steps, 9, 0);
    assert_near(r.power, 1, 0);
    assert_near(r.values.momentum, 0.75, 0);
    assert_near(r.values.weight_decay, 0, 0);
    assert_string_equal(r.unused, "opt_something, opt_other");
    arena_free(&a);
}

/* A recipe may leave all other settings out. */
static void a_base_rate_is_enough(void **state)
{
    struct ini_entry entry = { .key = "opt_base_learning_rate", .value = "0.3" };
    struct arena a = {0};
    struct rates r;
    (void)state;
    read_rates(&r, "sgd", &entry, 1, &a);
    const double read[] = { r.base, r.end, r.power, r.warmup_steps, r.decay_steps, r.values.momentum, r.values.second_momentum, r.values.epsilon,
                            r.values.weight_decay, r.values.clip_norm };
    const double want[] = { 0.3, 0, 1, 0, 0, 0.9, 0.999, 1e-6, 0, 0 };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_near(read[i], want[i], 0);
    assert_near(rate(&r, 5), 0.3, 1e-12);
    arena_free(&a);
}

static void wrong_values_are_refused(void **state)
{
    static const struct { struct ini_entry entry; const char *message; } cases[] = {
        { { .key = "opt_base_learning_rate", .value = "-1" }, "r.ini: optimizer.opt_base_learning_rate is '-1'; want a number of 0 or more" },
        { { .key = "opt_base_learning_rate", .value = "fast" }, "r.ini: optimizer.opt_base_learning_rate is 'fast'; want a number of 0 or more" },
        { { .key = "opt_learning_rate_warmup_epochs", .value = "x" }, "r.ini: optimizer.opt_learning_rate_warmup_epochs is 'x'; want a number of 0 or more" },
        { { .key = "opt_momentum", .value = "0.9" }, "r.ini: [optimizer] has no opt_base_learning_rate, without which nothing is learned" },
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ini_entry entry = cases[i].entry;
        struct recipe r = { .path = "r.ini", .optimizer_name = "sgd", .hyperparameters = &entry, .n_hyperparameters = 1 };
        struct rates out;
        struct err err = {0};
        assert_false(rates_read(&out, &r, 7, &a, &err));
        assert_string_equal(err.msg, cases[i].message);
    }
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(up_and_down), cmocka_unit_test(without_decay_the_rate_stays), cmocka_unit_test(one_step_of_decay), cmocka_unit_test(without_warmup_the_first_step_has_the_whole_rate),
    cmocka_unit_test(epochs_become_whole_steps), cmocka_unit_test(a_base_rate_is_enough),
    cmocka_unit_test(wrong_values_are_refused),
};
TAP_MAIN(tests)
