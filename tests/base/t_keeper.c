/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_keeper.c - values by key: found again whole, dropped only when nobody uses them; answers by question: all kept.
 */
#include "tests/check.h"
#include "system-model/base/keeper.h"
#include "system-model/base/memo.h"

static size_t n_left;
static void count_leave(struct kept *x)
{
    n_left += x->value != NULL;
}

/* 1,000 values pass the first 64 buckets several times over. */
static void values_are_kept_until_dropped(void **state)
{
    (void)state;
    struct keeper k = {0};
    assert_null(keeper_find(&k, "a", 1));
    for (uint32_t i = 0; i < 1000; i++) {
        struct kept *x = keeper_add(&k, &i, sizeof i, sizeof(uint32_t));
        uint32_t *value = x->value;
        assert_int_equal(*value, 0);
        *value = 7 * i;
        x->users = i % 10 == 3;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(*(uint32_t *)keeper_find(&k, &i, sizeof i)->value, 7 * i);
    uint32_t one = 1, three = 3;
    size_t n_used = 0;
    for (size_t i = 0; i < k.n_buckets; i++)
        n_used += k.buckets[i] != NULL;
    assert_true(k.n_buckets == 1024 && n_used > 580);       /* by chance 638, 1024 (1 - e^(-1000 / 1024)); 439 of half of them */
    assert_null(keeper_find(&k, &one, 2));                  /* part of a key is another key */
    assert_true(keeper_bytes(&k) >= 1000 * (sizeof(struct kept) + 2 * sizeof one));
    assert_int_equal(k.n_bytes, keeper_bytes(&k));          /* no arena is used */
    for (uint32_t i = 100; i < 110; i++)                    /* ten are: a block each, or what is taken of it */
        arena_alloc(&((struct kept *)keeper_find(&k, &i, sizeof i))->arena, i == 105 ? 3 * ARENA_BLOCK_BYTES : 32);
    assert_int_equal(keeper_bytes(&k) - k.n_bytes, 12 * ARENA_BLOCK_BYTES);
    keeper_drop(&k, keeper_find(&k, &one, sizeof one));
    assert_null(keeper_find(&k, &one, sizeof one));
    assert_int_equal(k.n, 999);
    keeper_drop_idle(&k, count_leave);
    assert_int_equal(n_left, 899);
    assert_int_equal(k.n, 100);
    assert_int_equal(*(uint32_t *)keeper_find(&k, &three, sizeof three)->value, 21);
    assert_int_equal(k.n_bytes, 100 * (sizeof(struct kept) + 2 * sizeof one));
    keeper_free(&k);
    assert_int_equal(k.n, 0);
}

static void answers_are_found_by_their_whole_question(void **state)
{
    (void)state;
    struct memo m = {0};
    struct arena a = {0};
    uint64_t question[3] = {0};
    assert_null(memo_find(&m, question, sizeof question));
    for (uint64_t i = 0; i < 500; i++) {
        question[2] = i;
        uint64_t *answer = memo_add(&m, question, sizeof question, sizeof *answer, &a);
        assert_int_equal(*answer, 0);
        *answer = i + 3;
    }
    for (uint64_t i = 0; i < 500; i++) {
        question[2] = i;
        assert_int_equal(*(uint64_t *)memo_find(&m, question, sizeof question), i + 3);
    }
    question[0] = 1;
    assert_null(memo_find(&m, question, sizeof question));
    question[0] = 0;
    assert_null(memo_find(&m, question, sizeof question - 1));      /* as many bytes count as were asked with */
    *(uint64_t *)memo_add(&m, question, 13, sizeof(uint64_t), &a) = 11;
    assert_int_equal(*(uint64_t *)memo_find(&m, question, 13), 11);
    assert_null(memo_find(&m, question, 14));
    arena_free(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_are_kept_until_dropped), cmocka_unit_test(answers_are_found_by_their_whole_question),
};
TAP_MAIN(tests)
