/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memo.c - the hash of bytes, and a chained hash table in an arena; it doubles when it holds one answer a bucket, and its old buckets stay behind.
 */
#include "system-model/base/memo.h"

#include <xxhash.h>
#include <string.h>

enum { FIRST_BUCKETS = 32 };
_Static_assert((FIRST_BUCKETS & (FIRST_BUCKETS - 1)) == 0, "buckets are found by a mask");

struct memo_item { struct memo_item *next; uint64_t hash; size_t n_bytes; void *answer; unsigned char question[]; };

uint64_t hash_bytes(const void *data, size_t n_bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, n_bytes, seed);
}

void *memo_find(const struct memo *m, const void *question, size_t n_bytes)
{
    if (!m->n)
        return NULL;
    uint64_t hash = hash_bytes(question, n_bytes, 0);
    for (struct memo_item *x = m->buckets[hash & (m->n_buckets - 1)]; x; x = x->next)
        if (x->hash == hash && x->n_bytes == n_bytes && memcmp(x->question, question, n_bytes) == 0)
            return x->answer;
    return NULL;
}

static void put(struct memo *m, struct memo_item *x)
{
    struct memo_item **bucket = &m->buckets[x->hash & (m->n_buckets - 1)];
    x->next = *bucket;
    *bucket = x;
}

static void grow(struct memo *m, struct arena *a)
{
    struct memo wider = { .n_buckets = m->n_buckets ? 2 * m->n_buckets : FIRST_BUCKETS, .n = m->n };
    wider.buckets = ARENA_ARRAY(a, struct memo_item *, wider.n_buckets);
    for (size_t i = 0; i < m->n_buckets; i++)
        for (struct memo_item *x = m->buckets[i], *next; x; x = next) {
            next = x->next;
            put(&wider, x);
        }
    *m = wider;
}

void *memo_add(struct memo *m, const void *question, size_t n_bytes, size_t answer_bytes, struct arena *a)
{
    if (m->n == m->n_buckets)
        grow(m, a);
    struct memo_item *x = arena_alloc(a, sizeof *x + n_bytes);
    *x = (struct memo_item){ .hash = hash_bytes(question, n_bytes, 0), .n_bytes = n_bytes, .answer = arena_alloc(a, answer_bytes) };
    memcpy(x->question, question, n_bytes);
    put(m, x);
    m->n++;
    return x->answer;
}
