/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * musl.c - what Emscripten's C library lacks; nothing is compiled from this file elsewhere.
 */
#include "system-model/base/base.h"
#ifdef __EMSCRIPTEN__
#include <unistd.h>

static comparison_with_context *sort_order;
static void *sort_context;

static int sort_compare(const void *x, const void *y)
{
    return sort_order(x, y, sort_context);
}

void qsort_r(void *items, size_t n, size_t item_bytes, comparison_with_context *compare, void *context)
{
    sort_order = compare;
    sort_context = context;
    qsort(items, n, item_bytes, sort_compare);
}

ssize_t getrandom(void *to, size_t n_bytes, unsigned flags)
{
    (void)flags;
    return getentropy(to, n_bytes) == 0 ? (ssize_t)n_bytes : -1;
}

#endif
