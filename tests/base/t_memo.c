/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_memo.c - answers by their questions: none is lost as the table grows, none is another's, whatever the length of the questions. */
#include "tests/check.h"
#include "system-model/base/memo.h"

enum { N = 1000, MOST_BYTES = 29 };

/* Question i: its number, then as many bytes of it as make 4 to 28. */
static size_t question(unsigned char *to, uint32_t i)
{
    memset(to, (int)(i % 251), MOST_BYTES);
    memcpy(to, &i, sizeof i);
    return sizeof i + i % 25;
}

static void answers_stay(void **state)
{
    struct arena a = {0};
    struct memo m = {0};
    unsigned char q[MOST_BYTES];
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        size_t n = question(q, i);
        assert_null(memo_find(&m, q, n));
        *(uint32_t *)memo_add(&m, q, n, sizeof i, &a) = 7 * i;
        assert_int_equal(m.n, i + 1);
        assert_int_equal(m.n_buckets, i < 32 ? 32 : i < 64 ? 64 : i < 128 ? 128 : i < 256 ? 256 : i < 512 ? 512 : 1024);    /* one a bucket */
    }
    for (uint32_t i = 0; i < N; i++) {
        size_t n = question(q, i);
        assert_int_equal(*(uint32_t *)memo_find(&m, q, n), 7 * i);
        assert_null(memo_find(&m, q, n - 1));
        q[n - 1]++;
        assert_null(memo_find(&m, q, n));
    }
    arena_free(&a);
}

/* Words that differ in one bit or in their order go to buckets of their own as evenly as chance would have it: of 4096 questions in as
 * many buckets more than 2300 buckets hold one (chance: 63 %). */
static void questions_spread(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct arena a = {0};
        struct memo m = {0};
        size_t n_used = 0;
        for (uint64_t i = 0; i < 4096; i++) {
            const uint64_t q[2] = { kind == 0 ? i : kind == 1 ? i << 52 : i % 64, kind == 2 ? i / 64 : 5 };
            memo_add(&m, q, sizeof q, 1, &a);
        }
        for (size_t i = 0; i < m.n_buckets; i++)
            n_used += m.buckets[i] != NULL;
        assert_int_equal(m.n_buckets, 4096);
        if (n_used <= 2300)
            print_error("kind %d: %zu buckets of 4096\n", kind, n_used);
        assert_true(n_used > 2300);
        arena_free(&a);
    }
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(answers_stay), cmocka_unit_test(questions_spread) };
TAP_MAIN(tests)
