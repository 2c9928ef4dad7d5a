/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memo.h - what was made is remembered by what it was made from.
 *
 * Each kind of artefact has a maker, a function that sees an input and the world. The input is a small struct, and its bytes are the key: what is
 * not in the input cannot be read by the maker, so it cannot be missing from the key. The world is what never changes while the memo lives, such
 * as the graph and the machine.
 *
 * An input is declared with MEMO_INPUT, which does not compile if the struct has a hole, whose bytes would be undefined, or a raw pointer, as
 * equal addresses need not mean equal contents. What an input points to belongs to the memo: a `struct owned` comes from memo_get() or memo_own().
 *
 * PODBENCH_MEMO=off in the environment switches memory off: nothing that was made for one plan is used for another.
 */
#ifndef MEMO_H
#define MEMO_H
#include "system-model/base/hash_table.h"

#define MEMO_INPUT(name, ...) \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wpadded\"") \
    struct name { __VA_ARGS__ }; \
    _Static_assert(sizeof(struct name) > 0 && __builtin_constant_p(__builtin_strchr(#__VA_ARGS__, '*')), \
                   "struct " #name " is compared as bytes: a pointer in it must be a struct owned"); \
    _Pragma("GCC diagnostic pop") \
    struct name

/* A pointer to what a memo owns, which lives as long as the memo's arena and never changes. */
struct owned {
    const void *at;
#if UINTPTR_MAX == UINT32_MAX
    uint32_t filled;            /* fills the hole that 32-bit pointers (explorer/) would leave in an input */
#endif
};

/* Makes the artefact of an input in the memo's arena; NULL, with err, if there is none. */
typedef const void *memo_maker(void *world, const void *input, struct err *err);

enum { MOST_MAKERS = 16 };
struct memo {
    struct { memo_maker *maker; struct hash_table made; } kinds[MOST_MAKERS]; size_t n_kinds;
    struct hash_table owned;
    uint64_t n_made;                    /* how many artefacts were made, because the memo did not have them */
    struct arena *arena;
    void *world;
    bool is_off;
};
void memo_start(struct memo *out, void *world, struct arena *a);
void memo_forget(struct memo *m);       /* empties the memo; its artefacts stay valid in the arena */
bool memo_is_off(void);                 /* true if PODBENCH_MEMO=off is in the environment */

/* The artefact that the maker made, or now makes, from these bytes. Failures are not remembered. */
struct owned memo_get(struct memo *m, memo_maker *maker, const void *input, size_t n_bytes, struct err *err);
/* The memo's own copy of these bytes: equal bytes give the same pointer. The bytes may hold no pointers but owned ones. */
struct owned memo_own(struct memo *m, const void *bytes, size_t n_bytes);

#endif
