/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * operands.h - the inputs of one operator as text.
 *
 * "2,3" (floats of that shape), "w2,3" (a weight), "=1,-2" (a list of integers), "='4" (a single one),
 * "=2x3:1,2,3,4,5,6" (a matrix of them), "~0.5,2" (a list of floats), "?2,3" (a constant with its floats in another
 * file), "-" (left out).
 */
#ifndef OPERANDS_H
#define OPERANDS_H
#include "tests/onnx/draft.h"

/* Before the numbers: "2x3:", "'" for a scalar, or nothing for a list. */
static inline const char *constant_dims(uint64_t *dims, size_t *n_dims, const char *text, size_t n)
{
    const char *colon = strchr(text, ':');
    *n_dims = *text == '\'' ? 0 : 1;
    dims[0] = n;
    if (!colon)
        return text + (*text == '\'');
    for (*n_dims = 0; text < colon; (*n_dims)++) {
        char *end;
        dims[*n_dims] = strtoull(text, &end, 10);
        text = end + 1;
    }
    return colon + 1;
}

static inline void draft_constant(struct draft *d, const char *name, const char *text)
{
    uint64_t dims[ONNX_MAX_DIMS];
    size_t n = 1, n_dims;
    for (const char *at = text; *at; at++)
        n += *at == ',';
    const char *numbers = constant_dims(dims, &n_dims, text + 1, n);
    Onnx__TensorProto *t = draft_tensor(d, name, *text == '~' ? ONNX_FLOAT : ONNX_INT64, n_dims, dims);
    t->int64_data = ARENA_ARRAY(&d->arena, int64_t, n);
    t->float_data = ARENA_ARRAY(&d->arena, float, n);
    for (size_t i = 0; i < n; i++) {
        char *end;
        t->float_data[i] = strtof(numbers, &end);
        t->int64_data[i] = strtoll(numbers, NULL, 10);
        numbers = end + 1;
    }
    *(*text == '~' ? &t->n_float_data : &t->n_int64_data) = n;
}

static inline void draft_operand(struct draft *d, const char *name, char *text)
{
    uint64_t dims[ONNX_MAX_DIMS];
    size_t n = 0;
    if (*text == '=' || *text == '~')
        draft_constant(d, name, text);
    else if (*text != 'w' && *text != '?')
        draft_input(d, name, ONNX_FLOAT, text);
    else {
        bool elsewhere = *text++ == '?';
        for (char *item; (item = strsep(&text, ",")); )
            dims[n++] = strtoull(item, NULL, 10);
        if (elsewhere)
            draft_tensor(d, name, ONNX_FLOAT, n, dims);
        else
            draft_weight(d, name, n, dims);
    }
}
#endif
