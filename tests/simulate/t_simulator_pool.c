/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_simulator_pool.c - a pool does each piece of work once, neighbours on one simulator, on no more threads than there
 * are chunks. */
#include "tests/check.h"
#include "tests/model_paths.h"
#include "results/simulate/simulator.h"
#include <pthread.h>

enum { MOST = 40 };
struct tally { uint32_t times[MOST]; const struct simulator *by[MOST]; };

static void count(void *user, size_t i, struct simulator *s)
{
    struct tally *t = user;
    assert_true(i < MOST);
    t->times[i]++;
    t->by[i] = s;
}

static void each_piece_once(void **state)
{
    static const struct { size_t n, chunk; } cases[] = { { 0, 1 }, { 1, 1 }, { 1, 8 }, { 7, 3 }, { 39, 4 }, { 40, 4 }, { 40, 1 }, { 40, 100 }, { 12, 12 }, { 13, 12 } };
    (void)state;
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
        struct simulator_pool c;
        simulator_pool_open(&c, &paths, n_threads, (struct simulator_options){ .step_only = true });
        assert_int_equal(c.n, n_threads);
        for (uint32_t i = 0; i < n_threads; i++)
            assert_true(c.simulators[i].limit_bytes <= (192u << 20) / n_threads && c.simulators[i].limit_bytes > 0 && c.simulators[i].options.step_only);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            struct tally t = { .by = { NULL } };
            simulator_pool_run(&c, cases[k].n, cases[k].chunk, count, &t);
            for (size_t i = 0; i < MOST; i++) {
                assert_int_equal(t.times[i], i < cases[k].n);
                assert_true(i >= cases[k].n || (t.by[i] >= c.simulators && t.by[i] < c.simulators + n_threads));
                assert_true(i >= cases[k].n || i % cases[k].chunk == 0 || t.by[i] == t.by[i - 1]);
            }
        }
        simulator_pool_close(&c);
        assert_null(c.simulators);
    }
}

static void meet(void *user, size_t i, struct simulator *s)
{
    (void)i, (void)s;
    pthread_barrier_wait(user);
}

/* Two pieces that wait for each other. */
static void pieces_side_by_side(void **state)
{
    struct simulator_pool c;
    pthread_barrier_t both;
    (void)state;
    pthread_barrier_init(&both, NULL, 2);
    simulator_pool_open(&c, &paths, 2, (struct simulator_options){ .step_only = true });
    alarm(30);                          /* one after the other they would wait for ever */
    simulator_pool_run(&c, 2, 1, meet, &both);
    simulator_pool_run(&c, 4, 2, meet, &both);
    alarm(0);
    simulator_pool_close(&c);
    pthread_barrier_destroy(&both);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(each_piece_once), cmocka_unit_test(pieces_side_by_side) };
TAP_MAIN(tests)
