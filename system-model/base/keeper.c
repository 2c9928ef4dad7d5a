/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keeper.c - a chained hash table; it doubles when it holds one value a bucket.
 */
#include "system-model/base/keeper.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 64 };
_Static_assert((FIRST_BUCKETS & (FIRST_BUCKETS - 1)) == 0, "buckets are found by a mask");

static void *zeroed(size_t n, size_t item_bytes)
{
    void *p = calloc(n, item_bytes);
    if (!p)
        out_of_memory(n * item_bytes);
    return p;
}

static struct kept **bucket_of(const struct keeper *k, uint64_t hash)
{
    return &k->buckets[hash & (k->n_buckets - 1)];
}

struct kept *keeper_find(const struct keeper *k, const void *key, size_t n_key_bytes)
{
    if (!k->n)
        return NULL;
    uint64_t hash = hash_bytes(key, n_key_bytes, 0);
    for (struct kept *x = *bucket_of(k, hash); x; x = x->next)
        if (x->hash == hash && x->n_key_bytes == n_key_bytes && memcmp(x->key, key, n_key_bytes) == 0)
            return x;
    return NULL;
}

static size_t own_bytes(const struct kept *x)
{
    return sizeof *x + x->n_value_bytes + x->n_key_bytes;
}

static void put(struct keeper *k, struct kept *x)
{
    struct kept **bucket = bucket_of(k, x->hash);
    x->next = *bucket;
    *bucket = x;
}

static void grow(struct keeper *k)
{
    struct keeper wider = { .n_buckets = k->n_buckets ? 2 * k->n_buckets : FIRST_BUCKETS, .n = k->n, .n_bytes = k->n_bytes };
    wider.buckets = zeroed(wider.n_buckets, sizeof *wider.buckets);
    for (size_t i = 0; i < k->n_buckets; i++)
        for (struct kept *x = k->buckets[i], *next; x; x = next) {
            next = x->next;
            put(&wider, x);
        }
    free(k->buckets);
    *k = wider;
}

struct kept *keeper_add(struct keeper *k, const void *key, size_t n_key_bytes, size_t n_value_bytes)
{
    if (k->n == k->n_buckets)
        grow(k);
    struct kept *x = zeroed(1, sizeof *x + n_value_bytes + n_key_bytes);
    x->value = n_value_bytes ? x->room : NULL;
    x->key = x->room + n_value_bytes;
    x->n_value_bytes = n_value_bytes;
    x->hash = hash_bytes(key, n_key_bytes, 0);
    x->n_key_bytes = n_key_bytes;
    memcpy(x->key, key, n_key_bytes);
    put(k, x);
    k->n++;
    k->n_bytes += own_bytes(x);
    return x;
}

static void discard(struct keeper *k, struct kept **at)
{
    struct kept *x = *at;
    *at = x->next;
    k->n--;
    k->n_bytes -= own_bytes(x);
    arena_free(&x->arena);
    free(x);
}

void keeper_drop(struct keeper *k, struct kept *x)
{
    struct kept **at = bucket_of(k, x->hash);
    assert(x->users == 0);
    while (*at != x)
        at = &(*at)->next;
    discard(k, at);
}

void keeper_drop_idle(struct keeper *k, void (*leave)(struct kept *x))
{
    for (size_t i = 0; i < k->n_buckets; i++)
        for (struct kept **at = &k->buckets[i]; *at; ) {
            if ((*at)->users) {
                at = &(*at)->next;
                continue;
            }
            if (leave)
                leave(*at);
            discard(k, at);
        }
}

size_t keeper_bytes(const struct keeper *k)
{
    size_t n_bytes = k->n_bytes;
    for (size_t i = 0; i < k->n_buckets; i++)
        for (const struct kept *x = k->buckets[i]; x; x = x->next)
            n_bytes += x->arena.head ? max_u64(x->arena.used_bytes, ARENA_BLOCK_BYTES) : 0;
    return n_bytes;
}

void keeper_free(struct keeper *k)
{
    for (size_t i = 0; i < k->n_buckets; i++)
        while (k->buckets[i])
            discard(k, &k->buckets[i]);
    free(k->buckets);
    *k = (struct keeper){0};
}
