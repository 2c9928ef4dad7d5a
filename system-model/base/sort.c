/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.c - sorts arrays of structs by the members that keys name, the first key first. Structs that are equal in all keys keep their order.
 */
#include "system-model/base/base.h"

struct sort_order { const struct sort_key *keys; size_t n_keys; bool are_pointers; };

#define SIZE_ORDER(type) ((*(const type *)x > *(const type *)y) - (*(const type *)x < *(const type *)y))
static int key_order(enum field_type type, const void *x, const void *y)
{
    switch (type) {
    case FIELD_TEXT:   return strcmp(*(const char *const *)x, *(const char *const *)y);
    case FIELD_F64:    return SIZE_ORDER(double);
    case FIELD_U64:    return SIZE_ORDER(uint64_t);
    case FIELD_U32:    return SIZE_ORDER(uint32_t);
    case FIELD_BOOL:   return SIZE_ORDER(bool);
    case FIELD_CHOICE: return SIZE_ORDER(int);
    }
    assert(false && "a field type");
    return 0;
}

static int item_order(const void *x, const void *y, void *user)
{
    const struct sort_order *by = user;
    const char *a = by->are_pointers ? *(const void *const *)x : x, *b = by->are_pointers ? *(const void *const *)y : y;
    int order = 0;
    for (const struct sort_key *k = by->keys; order == 0 && k < by->keys + by->n_keys; k++)
        order = k->falls ? key_order(k->type, b + k->offset, a + k->offset) : key_order(k->type, a + k->offset, b + k->offset);
    return order;
}

void sort_by_keys(void *items, size_t n, size_t item_bytes, bool are_pointers, const struct sort_key *keys, size_t n_keys)
{
    struct sort_order by = { keys, n_keys, are_pointers };
    if (n)
        qsort_r(items, n, item_bytes, item_order, &by);
}
