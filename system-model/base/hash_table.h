/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hash_table.h - values found by key. A key is a run of bytes and is compared whole, so it must not hold undefined padding.
 *
 * A table begins as {0} and is used in one of two ways. With an arena, entries live as long as the arena and none is ever dropped. Without
 * one, each entry is on the heap and has an arena of its own for what the value owns, so that it can be dropped alone.
 */
#ifndef HASH_TABLE_H
#define HASH_TABLE_H
#include "system-model/base/base.h"

struct hash_entry {
    void *value;                        /* zeroed memory inside the entry, or a pointer that the caller sets */
    struct arena arena;                 /* heap entries: memory that the value owns */
    uint32_t users;                     /* entries on the heap: how many callers use the entry, which is kept as long as there is one */
    uint64_t hash;
    size_t n_key_bytes, n_value_bytes;
    struct hash_entry *next;            /* the next entry of the same bucket */
    unsigned char *key;
    _Alignas(16) unsigned char memory[];    /* the value, then the key */
};
struct hash_table { struct hash_entry **buckets; size_t n_buckets, n, n_bytes; };   /* n_bytes: the size of all entries without their arenas */

/* The value or the entry of a key, or NULL. */
void *hash_table_find(const struct hash_table *t, const void *key, size_t n_key_bytes);
struct hash_entry *hash_table_find_entry(const struct hash_table *t, const void *key, size_t n_key_bytes);

/* Both add a key that the table does not have yet. n_value_bytes is the size of the zeroed value; with 0, entry->value begins as NULL. */
void *hash_table_add(struct hash_table *t, const void *key, size_t n_key_bytes, size_t n_value_bytes, struct arena *a);
struct hash_entry *hash_table_add_entry(struct hash_table *t, const void *key, size_t n_key_bytes, size_t n_value_bytes);

/* The number that the first call gave for this key. The first call adds the key with `number` and returns that. */
uint32_t hash_table_first(struct hash_table *t, const void *key, size_t n_key_bytes, uint32_t number, struct arena *a);

/* Drops one entry of a table on the heap. */
void hash_table_drop(struct hash_table *t, struct hash_entry *x);
/* Drops every entry without users. before_drop, which may be NULL, is called with each of them first. */
void hash_table_drop_idle(struct hash_table *t, void (*before_drop)(struct hash_entry *x));
size_t hash_table_bytes(const struct hash_table *t);    /* the bytes of all entries and their arenas */
void hash_table_free(struct hash_table *t);

/* A key put together from texts and numbers. It begins as { .arena = a }; texts keep their NUL, so that no two lists of them are the same bytes. */
struct hash_key { char *bytes; size_t n, cap; struct arena *arena; };
void hash_key_add(struct hash_key *k, const void *bytes, size_t n);
void hash_key_add_text(struct hash_key *k, const char *text);      /* NULL: as "" */

#endif
