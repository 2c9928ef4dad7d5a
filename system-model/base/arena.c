/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arena.c - errors, and the arena: a chain of blocks, each twice as large as the one before it, up to a limit.
 */
#include "system-model/base/base.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void replace_control(char *text)
{
    for (char *p = text; *p; p++)
        *p = (unsigned char)*p < ' ' || *p == 127 ? '?' : *p;
}

bool fail(struct err *err, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->msg, sizeof err->msg, format, args);
        va_end(args);
        replace_control(err->msg);
    }
    return false;
}

void fail_replace(struct err *err, size_t n, const char *text)
{
    if (!err)
        return;
    struct err inner = *err;
    char start[sizeof err->msg];
    snprintf(start, sizeof start, "%s", text);
    replace_control(start);
    if (snprintf(err->msg, sizeof err->msg, "%s%s", start, inner.msg + n) < 0)
        err->msg[0] = '\0';
}

bool fail_at(struct err *err, const char *where)
{
    if (err && strncmp(err->msg, where, strlen(where)) != 0) {
        fail_replace(err, 0, ": ");
        fail_replace(err, 0, where);
    }
    return false;
}

void fail_line(struct err *err, const char *format, ...)
{
    char line[sizeof err->msg];
    if (!err)
        return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t used = strlen(err->msg);
    if (n < 0 || used + (size_t)n + 2 > sizeof err->msg)
        return;
    replace_control(line);
    err->msg[used] = '\n';
    memcpy(err->msg + used + 1, line, (size_t)n + 1);
}

struct arena_block {
    struct arena_block *next;
    size_t used, size, last_guard;
    bool clean;                         /* the unused part is zero */
    _Alignas(16) unsigned char data[];
};

/* With ARENA_GUARDS (sanitizers, mutation) guard bytes follow every allocation. Under the address sanitizer, a program that touches them or freed
 * memory stops. Without it, a guard that is read gives neither a valid pointer nor a small count, and overwritten guards are found when the arena
 * is freed. The bytes of a guard depend on its offset, so that a guard copied over another is found, too. A guard ends with 1 + the offset of the
 * guard before it. */
#ifndef ARENA_GUARDS
#define ARENA_GUARDS 0
#endif
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if ARENA_GUARDS && (defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer))
#include <sanitizer/asan_interface.h>
#define POISONS 1
#else
#define ASAN_POISON_MEMORY_REGION(p, n_bytes) ((void)(p), (void)(n_bytes))
#define ASAN_UNPOISON_MEMORY_REGION(p, n_bytes) ((void)(p), (void)(n_bytes))
#define POISONS 0
#endif
enum { GUARD_BYTES = ARENA_GUARDS ? 512 : 0, WRITTEN_GUARD_BYTES = POISONS ? 0 : GUARD_BYTES, GUARD = 0xa5 };

/* Zeroed allocations are zeroed when they are made. Blocks for large ones come zeroed from calloc(), so that untouched pages cost nothing. The
 * sanitizer's allocator maps and unmaps each block of 128 KiB or more, so that its blocks are smaller. */
enum { LARGEST_BLOCK_BYTES = POISONS ? 96 << 10 : 8 << 20, LARGE_PIECE_BYTES = 128 << 10 };

static unsigned char guard_at(size_t place) { return (unsigned char)(0x80 | place / 16); }

static void put_guard(struct arena_block *b)
{
    size_t n = WRITTEN_GUARD_BYTES ? WRITTEN_GUARD_BYTES - sizeof b->last_guard : 0;
    if (n) {
        memset(b->data + b->used, guard_at(b->used), n);
        memcpy(b->data + b->used + n, &b->last_guard, sizeof b->last_guard);
        b->last_guard = b->used + 1;
    }
    b->used += GUARD_BYTES;
}

static void check_guards(const struct arena_block *b)
{
    size_t n = WRITTEN_GUARD_BYTES - sizeof b->last_guard;
    for (size_t at = b->last_guard; at; memcpy(&at, b->data + at - 1 + n, sizeof at))
        for (size_t i = 0; i < n; i++)
            assert(b->data[at - 1 + i] == guard_at(at - 1));
}

/* Freed memory is overwritten or poisoned, so that a program that reads it fails. */
static void check_and_wipe(struct arena_block *b)
{
    check_guards(b);
    memset(b->data, GUARD, WRITTEN_GUARD_BYTES ? b->used : 0);
    ASAN_POISON_MEMORY_REGION(b->data, b->used);
}

void out_of_memory(size_t n_bytes)
{
    fprintf(stderr, "podbench: out of memory (%zu more bytes wanted)\n", n_bytes);
    exit(EXIT_OUT_OF_MEMORY);
}

static struct arena_block *arena_add_block(struct arena *a, size_t n_bytes, bool zeroed)
{
    size_t size = a->head ? a->head->size * 2 : ARENA_BLOCK_BYTES;
    if (size > LARGEST_BLOCK_BYTES)
        size = LARGEST_BLOCK_BYTES;
    if (size < n_bytes)
        size = n_bytes;
    bool clean = zeroed && n_bytes >= LARGE_PIECE_BYTES;
    struct arena_block *b = clean ? calloc(1, sizeof *b + size) : malloc(sizeof *b + size);
    if (!b)
        out_of_memory(n_bytes);
    b->clean = clean;
    b->used = b->last_guard = 0;
    b->size = size;
    b->next = a->head;
    a->head = b;
    ASAN_POISON_MEMORY_REGION(b->data, size);
    return b;
}

/* A piece of memory, undefined unless it is to be zeroed. */
static void *new_piece(struct arena *a, size_t asked_bytes, bool zeroed)
{
    if (asked_bytes > SIZE_MAX / 2)
        out_of_memory(asked_bytes);
    size_t n_bytes = ceil_div(asked_bytes, 16) * 16;
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < n_bytes + GUARD_BYTES)
        b = arena_add_block(a, n_bytes + GUARD_BYTES, zeroed);
    void *p = b->data + b->used;
    b->used += n_bytes;
    memset((unsigned char *)p + asked_bytes, GUARD, WRITTEN_GUARD_BYTES ? n_bytes - asked_bytes : 0);
    put_guard(b);
    ASAN_UNPOISON_MEMORY_REGION(p, asked_bytes);
    a->used_bytes += n_bytes;
    return zeroed && !b->clean ? memset(p, 0, asked_bytes) : p;
}

void *arena_alloc(struct arena *a, size_t n_bytes) { return new_piece(a, n_bytes, true); }

void *arena_array(struct arena *a, size_t n, size_t item_bytes)
{
    if (item_bytes && n > SIZE_MAX / 2 / item_bytes)
        out_of_memory(SIZE_MAX);
    return arena_alloc(a, n * item_bytes);
}

char *arena_strdup(struct arena *a, const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(arena_alloc(a, n), text, n);
}

/* Most texts are short and need formatting only once. */
char *arena_printf(struct arena *a, const char *format, ...)
{
    char room[128];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(room, sizeof room, format, args);
    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1);
    if ((size_t)n < sizeof room)
        memcpy(text, room, (size_t)n);
    else
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void arena_free(struct arena *a)
{
    struct arena_block *b = a->head;
    while (b) {
        struct arena_block *next = b->next;
        check_and_wipe(b);
        free(b);
        b = next;
    }
    *a = (struct arena){0};
}

size_t arena_held_bytes(const struct arena *a)
{
    size_t n_bytes = 0;
    for (const struct arena_block *b = a->head; b; b = b->next)
        n_bytes += b->size;
    return n_bytes;
}

/* Blocks only grow, so the newest is the largest. */
void arena_reset(struct arena *a)
{
    struct arena_block *kept = a->head;
    if (!kept)
        return;
    a->head = kept->next;
    arena_free(a);
    check_and_wipe(kept);
    kept->clean = false;
    kept->next = NULL;
    kept->used = kept->last_guard = 0;
    a->head = kept;
}

void *arena_room(struct arena *a, size_t n, size_t item_bytes)
{
    if (item_bytes && n > SIZE_MAX / 2 / item_bytes)
        out_of_memory(SIZE_MAX);
    void *room = new_piece(a, n * item_bytes, false);
    memset(room, GUARD, GUARD_BYTES ? n * item_bytes : 0);
    return room;
}

void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t item_bytes)
{
    if (n < *cap) {
        ASAN_UNPOISON_MEMORY_REGION((unsigned char *)items + n * item_bytes, item_bytes);
        return items;
    }
    size_t wider = n ? n * 2 : 16;
    void *moved = arena_room(a, wider, item_bytes);
    if (n)
        memcpy(moved, items, n * item_bytes);
    *cap = wider;
    ASAN_POISON_MEMORY_REGION((unsigned char *)moved + (n + 1) * item_bytes, (wider - n - 1) * item_bytes);
    return moved;
}
