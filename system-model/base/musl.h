/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * musl.h - what the GNU C library has and Emscripten's does not. Included before every file that becomes WebAssembly.
 */
#ifndef MUSL_H
#define MUSL_H
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2
static inline int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    (void)from_folder, (void)from, (void)to_folder, (void)to, (void)flags;
    errno = ENOSYS;
    return -1;
}

typedef int comparison_with_context(const void *, const void *, void *);
void qsort_r(void *items, size_t n, size_t item_bytes, comparison_with_context *compare, void *context);

/* The page's worker is one thread: a thread that is started does all its work at once. */
static inline int run_at_once(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *user)
{
    (void)thread, (void)attributes;
    work(user);
    return 0;
}
#define pthread_create run_at_once
#define pthread_join(thread, result) ((void)(thread), (void)(result))

#endif
