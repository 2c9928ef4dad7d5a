/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * known.c - the operators that files may have, as a list for users.
 */
#include "workloads/onnx/onnx.h"
#include "workloads/onnx/onnx_operator.h"
#include <stdlib.h>

static const char *read_as(const struct onnx_operator *op, struct arena *a)
{
    if (op->unfold)
        return "other nodes in its place, before the model runs";
    if (op->map)
        return "operations";
    return op->shape ? "a constant" : arena_printf(a, "refused; with --approximate as %s", op->rough_as);
}

const struct onnx_known_operator *onnx_known_operators(size_t *n, struct arena *a)
{
    struct onnx_known_operator *known = ARENA_ARRAY(a, struct onnx_known_operator, onnx_operators.n);
    *n = onnx_operators.n;
    for (size_t i = 0; i < *n; i++)
        known[i] = (struct onnx_known_operator){ onnx_operators.rows[i].name, read_as(&onnx_operators.rows[i], a) };
    sort_items(known, *n, sizeof *known, compare_texts);
    return known;
}
