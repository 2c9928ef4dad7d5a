/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memo.h - answers remembered by the question, in an arena that outlives them; none is ever dropped (keeper.h: values that may be).
 *
 * A question is a run of bytes and is compared whole; who asks leaves no padding in it undefined.
 */
#ifndef MEMO_H
#define MEMO_H
#include "system-model/base/base.h"

struct memo { struct memo_item **buckets; size_t n_buckets, n; };

void *memo_find(const struct memo *m, const void *question, size_t n_bytes);    /* the answer; NULL: not asked yet */
/* Room for the answer to a new question, zeroed. */
void *memo_add(struct memo *m, const void *question, size_t n_bytes, size_t answer_bytes, struct arena *a);

#endif
