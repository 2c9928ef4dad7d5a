/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memo.c - the one place where artefacts of plans are looked up and remembered.
 */
#include "system-model/base/memo.h"

#include <assert.h>
#include <stdlib.h>

bool memo_is_off(void)
{
    const char *setting = getenv("PODBENCH_MEMO");
    return setting && text_is(setting, "off");
}

void memo_start(struct memo *out, void *world, struct arena *a)
{
    *out = (struct memo){ .arena = a, .world = world, .is_off = memo_is_off() };
}

void memo_forget(struct memo *m)
{
    *m = (struct memo){ .arena = m->arena, .world = m->world, .is_off = m->is_off };
}

static struct hash_table *made_by(struct memo *m, memo_maker *maker)
{
    size_t i = 0;
    while (i < m->n_kinds && m->kinds[i].maker != maker)
        i++;
    assert(i < MOST_MAKERS);
    if (i == m->n_kinds)
        m->kinds[m->n_kinds++].maker = maker;
    return &m->kinds[i].made;
}

struct owned memo_get(struct memo *m, memo_maker *maker, const void *input, size_t n_bytes, struct err *err)
{
    const void **known = hash_table_find(made_by(m, maker), input, n_bytes);
    if (known)
        return (struct owned){ *known };
    const void *made = maker(m->world, input, err);
    m->n_made++;
    if (made)
        *(const void **)hash_table_add(made_by(m, maker), input, n_bytes, sizeof made, m->arena) = made;
    return (struct owned){ made };
}

struct owned memo_own(struct memo *m, const void *bytes, size_t n_bytes)
{
    const void *known = hash_table_find(&m->owned, bytes, n_bytes);
    if (known || !n_bytes)
        return (struct owned){ known };
    return (struct owned){ memcpy(hash_table_add(&m->owned, bytes, n_bytes, n_bytes, m->arena), bytes, n_bytes) };
}
