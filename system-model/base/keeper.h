/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keeper.h - values kept by key, each with an arena of its own, so that one can be dropped without the others.
 *
 * A key is a run of bytes and is compared whole. A value with users is never dropped.
 */
#ifndef KEEPER_H
#define KEEPER_H
#include "system-model/base/base.h"

struct kept {
    struct arena arena;                 /* what the value owns */
    void *value;                        /* room behind this, zeroed; or set by who adds it */
    uint32_t users;
    uint64_t hash;
    size_t n_key_bytes, n_value_bytes;
    struct kept *next;                  /* in its bucket */
    unsigned char *key;
    _Alignas(16) unsigned char room[];  /* the value, then the key */
};
struct keeper { struct kept **buckets; size_t n_buckets, n, n_bytes; };     /* bytes: of values and keys, without the arenas */

struct kept *keeper_find(const struct keeper *k, const void *key, size_t n_key_bytes);      /* NULL: not there */
/* A key that is not there yet, and room for its value; 0: none. */
struct kept *keeper_add(struct keeper *k, const void *key, size_t n_key_bytes, size_t n_value_bytes);
void keeper_drop(struct keeper *k, struct kept *x);
void keeper_drop_idle(struct keeper *k, void (*leave)(struct kept *x));     /* all without users; leave (may be NULL) is called before */
size_t keeper_bytes(const struct keeper *k);    /* with the arenas, which are looked at one by one */
void keeper_free(struct keeper *k);

#endif
