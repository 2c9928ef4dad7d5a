/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hash_table.c - a chained hash table by XXH3; it doubles when it has as many entries as buckets.
 */
#include "system-model/base/hash_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_BUCKETS = 32 };
_Static_assert((FIRST_BUCKETS & (FIRST_BUCKETS - 1)) == 0, "buckets are found by a mask");

uint64_t hash_bytes(const void *data, size_t n_bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, n_bytes, seed);
}

static struct hash_entry **bucket_of(const struct hash_table *t, uint64_t hash)
{
    return &t->buckets[hash & (t->n_buckets - 1)];
}

static struct hash_entry *find_hashed(const struct hash_table *t, uint64_t hash, const void *key, size_t n_key_bytes)
{
    for (struct hash_entry *x = t->n ? *bucket_of(t, hash) : NULL; x; x = x->next)
        if (x->hash == hash && x->n_key_bytes == n_key_bytes && memcmp(x->key, key, n_key_bytes) == 0)
            return x;
    return NULL;
}

struct hash_entry *hash_table_find_entry(const struct hash_table *t, const void *key, size_t n_key_bytes)
{
    return t->n ? find_hashed(t, hash_bytes(key, n_key_bytes, 0), key, n_key_bytes) : NULL;
}

void *hash_table_find(const struct hash_table *t, const void *key, size_t n_key_bytes)
{
    struct hash_entry *x = hash_table_find_entry(t, key, n_key_bytes);
    return x ? x->value : NULL;
}

/* Zeroed memory, in the arena or, where `a` is NULL, on the heap. */
static void *zeroed(size_t n_bytes, struct arena *a)
{
    void *p = a ? arena_alloc(a, n_bytes) : calloc(1, n_bytes);
    if (!p)
        out_of_memory(n_bytes);
    return p;
}

static size_t entry_bytes(const struct hash_entry *x) { return sizeof *x + x->n_value_bytes + x->n_key_bytes; }

static void link_entry(struct hash_table *t, struct hash_entry *x)
{
    struct hash_entry **bucket = bucket_of(t, x->hash);
    x->next = *bucket;
    *bucket = x;
}

/* In an arena the old buckets stay behind. */
static void double_buckets(struct hash_table *t, struct arena *a)
{
    struct hash_table wider = *t;
    wider.n_buckets = t->n_buckets ? 2 * t->n_buckets : FIRST_BUCKETS;
    wider.buckets = zeroed(wider.n_buckets * sizeof(struct hash_entry *), a);
    for (size_t i = 0; i < t->n_buckets; i++)
        for (struct hash_entry *x = t->buckets[i], *next; x; x = next) {
            next = x->next;
            link_entry(&wider, x);
        }
    if (!a)
        free(t->buckets);
    *t = wider;
}

static struct hash_entry *add_hashed(struct hash_table *t, uint64_t hash, const void *key, size_t n_key_bytes, size_t n_value_bytes, struct arena *a)
{
    if (t->n == t->n_buckets)
        double_buckets(t, a);
    struct hash_entry *x = zeroed(sizeof *x + n_value_bytes + n_key_bytes, a);
    x->value = n_value_bytes ? x->memory : NULL;
    x->key = x->memory + n_value_bytes;
    x->n_value_bytes = n_value_bytes;
    x->hash = hash;
    x->n_key_bytes = n_key_bytes;
    memcpy(x->key, key, n_key_bytes);
    link_entry(t, x);
    t->n++;
    t->n_bytes += entry_bytes(x);
    return x;
}

void *hash_table_add(struct hash_table *t, const void *key, size_t n_key_bytes, size_t n_value_bytes, struct arena *a)
{
    return add_hashed(t, hash_bytes(key, n_key_bytes, 0), key, n_key_bytes, n_value_bytes, a)->value;
}

uint32_t hash_table_first(struct hash_table *t, const void *key, size_t n_key_bytes, uint32_t number, struct arena *a)
{
    uint64_t hash = hash_bytes(key, n_key_bytes, 0);
    const struct hash_entry *first = find_hashed(t, hash, key, n_key_bytes);
    return first ? *(uint32_t *)first->value : (*(uint32_t *)add_hashed(t, hash, key, n_key_bytes, sizeof number, a)->value = number);
}

struct hash_entry *hash_table_add_entry(struct hash_table *t, const void *key, size_t n_key_bytes, size_t n_value_bytes)
{
    return add_hashed(t, hash_bytes(key, n_key_bytes, 0), key, n_key_bytes, n_value_bytes, NULL);
}

static void unlink_and_free(struct hash_table *t, struct hash_entry **at)
{
    struct hash_entry *x = *at;
    *at = x->next;
    t->n--;
    t->n_bytes -= entry_bytes(x);
    arena_free(&x->arena);
    free(x);
}

void hash_table_drop(struct hash_table *t, struct hash_entry *x)
{
    struct hash_entry **at = bucket_of(t, x->hash);
    assert(x->users == 0);
    while (*at != x)
        at = &(*at)->next;
    unlink_and_free(t, at);
}

void hash_table_drop_idle(struct hash_table *t, void (*before_drop)(struct hash_entry *x))
{
    for (size_t i = 0; i < t->n_buckets; i++)
        for (struct hash_entry **at = &t->buckets[i]; *at; ) {
            if ((*at)->users) {
                at = &(*at)->next;
                continue;
            }
            if (before_drop)
                before_drop(*at);
            unlink_and_free(t, at);
        }
}

size_t hash_table_bytes(const struct hash_table *t)
{
    size_t n_bytes = t->n_bytes;
    for (size_t i = 0; i < t->n_buckets; i++)
        for (const struct hash_entry *x = t->buckets[i]; x; x = x->next)
            n_bytes += arena_held_bytes(&x->arena);
    return n_bytes;
}

void hash_table_free(struct hash_table *t)
{
    for (size_t i = 0; i < t->n_buckets; i++)
        while (t->buckets[i])
            unlink_and_free(t, &t->buckets[i]);
    free(t->buckets);
    *t = (struct hash_table){0};
}

void hash_key_add(struct hash_key *k, const void *bytes, size_t n)
{
    if (k->n + n > k->cap) {
        size_t cap = 2 * (k->n + n) + 256;
        k->bytes = k->n ? memcpy(arena_alloc(k->arena, cap), k->bytes, k->n) : arena_alloc(k->arena, cap);
        k->cap = cap;
    }
    memcpy(k->bytes + k->n, bytes, n);
    k->n += n;
}

void hash_key_add_text(struct hash_key *k, const char *text)
{
    hash_key_add(k, text ? text : "", text ? strlen(text) + 1 : 1);
}
