/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_alike.c - operations that are planned alike: the first one of each form stands for the others.
 */
#include "system-model/compiler/compile.h"

#include <assert.h>
#include <string.h>

/* All that a plan may read of an operation and its tensors, in words without holes: of equal forms plans are equal. A backward pass has the
 * tensors of what it differentiates through `forward`: the first operation like that one, else NO_ID; of its results, which input of that one
 * each is the gradient of. Attributes that are equal are the same. Dimensions follow each tensor, as many as it has. */
struct tensor_form { uint8_t type, role, is_made, n_dims; uint32_t of_input; };
struct op_form { uint64_t attributes; uint32_t kind, pass, forward, n_inputs; };
struct longest_form { struct op_form op; struct { struct tensor_form form; uint64_t dims[MAX_DIMS]; } tensors[MAX_OP_INPUTS + MAX_OP_OUTPUTS]; };
enum { MOST_FORM_WORDS = sizeof(struct longest_form) / sizeof(uint64_t) };

/* Which input, the last where it stands there twice; NO_ID: of none. */
static uint32_t differentiated_input(const struct graph *g, const struct op *op, const struct tensor *result)
{
    const struct op *forward = op_forward(g, op);
    uint32_t k = forward->n_inputs;
    while (k-- > 0 && forward->inputs[k] != result->of_tensor) {}
    return k;
}

static uint64_t *add_tensor_form(uint64_t *out, const struct tensor *t, uint32_t of_input)
{
    const struct tensor_form form = { (uint8_t)t->type, (uint8_t)t->role, t->producer_op != NO_ID, (uint8_t)t->n_dims, of_input };
    _Static_assert(sizeof form == sizeof *out, "a word");
    memcpy(out++, &form, sizeof form);
    for (uint32_t i = 0; i < t->n_dims; i++)
        *out++ = t->dims[i];
    return out;
}

/* Returns how many bytes it has. */
static size_t op_form(uint64_t out[MOST_FORM_WORDS], const struct graph *g, const struct op *op, const uint32_t *alike)
{
    const struct op_form form = { (uintptr_t)op->at, op->kind, op->pass, op->forward_op == NO_ID ? NO_ID : alike[op->forward_op], op->n_inputs };
    uint64_t *end = mempcpy(out, &form, sizeof form);
    for (uint32_t k = 0; k < op->n_inputs; k++)
        end = add_tensor_form(end, &g->tensors[op->inputs[k]], NO_ID);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const struct tensor *result = &g->tensors[op->outputs[k]];
        end = add_tensor_form(end, result, differentiated_input(g, op, result));
    }
    return (size_t)((char *)end - (char *)out);
}

const uint32_t *ops_alike(const struct graph *g, struct arena *a)
{
    struct arena scratch = {0};
    struct hash_table forms = {0};
    uint32_t *alike = ARENA_ARRAY(a, uint32_t, g->n_ops);
    uint64_t form[MOST_FORM_WORDS];
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct op *op = &g->ops[i];
        assert(op->n_inputs <= MAX_OP_INPUTS && op->n_outputs <= MAX_OP_OUTPUTS && (op->forward_op == NO_ID || op->forward_op < i));
        size_t n_bytes = op_form(form, g, op, alike);
        const uint32_t *first = hash_table_find(&forms, form, n_bytes);
        if (!first)
            *(uint32_t *)hash_table_add(&forms, form, n_bytes, sizeof i, &scratch) = i;
        alike[i] = first ? *first : i;
    }
    arena_free(&scratch);
    return alike;
}
