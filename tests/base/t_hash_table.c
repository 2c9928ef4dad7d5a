/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_hash_table.c - every value is found again by its whole key as the table grows; entries on the heap are dropped only when nobody uses them.
 */
#include "tests/check.h"
#include "system-model/base/hash_table.h"

static size_t n_dropped;
static void count_dropped(struct hash_entry *x)
{
    n_dropped += x->value != NULL;
}

/* 1,000 values pass the first 32 buckets several times over. */
static void heap_entries_live_until_dropped(void **state)
{
    (void)state;
    struct hash_table t = {0};
    uint32_t one = 1, three = 3;
    assert_null(hash_table_find_entry(&t, "a", 1));
    for (uint32_t i = 0; i < 1000; i++) {
        struct hash_entry *x = hash_table_add_entry(&t, &i, sizeof i, sizeof(uint32_t));
        uint32_t *value = x->value;
        assert_int_equal(*value, 0);
        *value = 7 * i;
        x->users = i % 10 == 3;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(*(uint32_t *)hash_table_find(&t, &i, sizeof i), 7 * i);
    assert_true(hash_table_bytes(&t) >= 1000 * (sizeof(struct hash_entry) + 2 * sizeof one));
    assert_int_equal(t.n_bytes, hash_table_bytes(&t));      /* no arena is used yet */
    for (uint32_t i = 100; i < 110; i++)                    /* ten arenas: one block each, but three blocks' worth in one of them */
        arena_alloc(&hash_table_find_entry(&t, &i, sizeof i)->arena, i == 105 ? 3 * ARENA_BLOCK_BYTES : 32);
    size_t held_bytes = hash_table_bytes(&t) - t.n_bytes;
    assert_true(held_bytes >= 12 * ARENA_BLOCK_BYTES && held_bytes < 12 * ARENA_BLOCK_BYTES + 1024);     /* guards of a build with sanitizers are in it */
    hash_table_drop(&t, hash_table_find_entry(&t, &one, sizeof one));
    assert_null(hash_table_find(&t, &one, sizeof one));
    assert_int_equal(t.n, 999);
    hash_table_drop_idle(&t, count_dropped);
    assert_int_equal(n_dropped, 899);
    assert_int_equal(t.n, 100);
    assert_int_equal(*(uint32_t *)hash_table_find(&t, &three, sizeof three), 21);
    assert_int_equal(t.n_bytes, 100 * (sizeof(struct hash_entry) + 2 * sizeof one));
    hash_table_free(&t);
    assert_int_equal(t.n, 0);
}

enum { N_KEYS = 1000, MOST_KEY_BYTES = 29 };

/* Key i: its number, then as many more bytes as make 4 to 28. */
static size_t make_key(unsigned char *key, uint32_t i)
{
    memset(key, (int)(i % 251), MOST_KEY_BYTES);
    memcpy(key, &i, sizeof i);
    return sizeof i + i % 25;
}

static void keys_of_any_length_are_told_apart(void **state)
{
    struct arena a = {0};
    struct hash_table t = {0};
    unsigned char key[MOST_KEY_BYTES];
    (void)state;
    for (uint32_t i = 0; i < N_KEYS; i++) {
        size_t n = make_key(key, i);
        assert_null(hash_table_find(&t, key, n));
        uint32_t *value = hash_table_add(&t, key, n, sizeof i, &a);
        assert_int_equal(*value, 0);
        *value = 7 * i;
        assert_int_equal(t.n, i + 1);
        assert_int_equal(t.n_buckets, i < 32 ? 32 : i < 64 ? 64 : i < 128 ? 128 : i < 256 ? 256 : i < 512 ? 512 : 1024);    /* one per bucket */
    }
    for (uint32_t i = 0; i < N_KEYS; i++) {
        size_t n = make_key(key, i);
        assert_int_equal(*(uint32_t *)hash_table_find(&t, key, n), 7 * i);
        assert_null(hash_table_find(&t, key, n - 1));
        key[n - 1]++;
        assert_null(hash_table_find(&t, key, n));
    }
    arena_free(&a);
}

/* Keys that differ in one bit or in the order of their words spread over the buckets as evenly as by chance: 4096 keys in as many buckets use
 * more than 2300 of them (63 % by chance). */
static void keys_spread_over_the_buckets(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct arena a = {0};
        struct hash_table t = {0};
        size_t n_used = 0;
        for (uint64_t i = 0; i < 4096; i++) {
            const uint64_t key[2] = { kind == 0 ? i : kind == 1 ? i << 52 : i % 64, kind == 2 ? i / 64 : 5 };
            hash_table_add(&t, key, sizeof key, 1, &a);
        }
        for (size_t i = 0; i < t.n_buckets; i++)
            n_used += t.buckets[i] != NULL;
        assert_int_equal(t.n_buckets, 4096);
        if (n_used <= 2300)
            print_error("kind %d: %zu buckets of 4096\n", kind, n_used);
        assert_true(n_used > 2300);
        arena_free(&a);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(heap_entries_live_until_dropped), cmocka_unit_test(keys_of_any_length_are_told_apart),
    cmocka_unit_test(keys_spread_over_the_buckets),
};
TAP_MAIN(tests)
