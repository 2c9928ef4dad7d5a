/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape_rows.h - the results of single operators as text, and tables of them.
 *
 * Inputs are written as in operands.h. A result is written "2x3", with the names of types that are not floats and
 * known contents; several results are separated by ';'.
 */
#ifndef SHAPE_ROWS_H
#define SHAPE_ROWS_H
#include "workloads/onnx/onnx_passes.h"
#include "tests/check.h"
#include "tests/onnx/operands.h"
#include <unistd.h>

static inline const char *described(const struct onnx_value *v, struct arena *a)
{
    const char *text = v->n_dims ? "" : "one";
    for (uint32_t i = 0; i < v->n_dims; i++)
        text = arena_printf(a, "%s%s%ju", text, i ? "x" : "", (uintmax_t)v->dims[i]);
    text = arena_printf(a, "%s%s", text, v->type == ONNX_INT64 ? " whole" : v->type == ONNX_BOOL ? " truth" : "");
    for (uint64_t i = 0; v->known && i < onnx_elements(v); i++)
        text = arena_printf(a, "%s%s%.9g", text, i ? " " : " = ", v->known[i]);
    return text;
}

static inline const char *results(struct onnx_model *m, const char *path, uint64_t batch, bool approximate, struct arena *a)
{
    struct onnx_options o = { .batch = batch, .inference = true, .approximate = approximate };
    struct err err = { "" };
    const char *text = "";
    if (!onnx_read(m, path, false, a, &err) || !onnx_infer(m, &o, &err)) {
        const char *colon = strstr(err.msg, "': ");
        return arena_strdup(a, colon ? colon + 3 : err.msg);
    }
    const struct onnx_node *last = &m->nodes[m->n_nodes - 1];
    for (uint32_t i = 0; i < last->n_outputs; i++)
        text = arena_printf(a, "%s%s%s", text, i ? "; " : "", described(onnx_out(m, last, i), a));
    return text;
}

/* batch: the recipe's, which may differ from the file's. */
static inline const char *result_of_as(bool approximate, const char *op, const char *inputs, const char *attributes, uint64_t batch, struct arena *a)
{
    struct draft *d = draft_start(15);
    const char *space = strchr(op, ' ');
    uint64_t n_outputs = space ? strtoull(space, NULL, 10) : 1;
    struct onnx_model *m = ARENA_NEW(a, struct onnx_model);
    const char *names = "", *made = "y0", *path = arena_printf(a, "/tmp/t_shapes_%d.onnx", (int)getpid());
    size_t n;
    char **words = draft_words(d, inputs, &n);
    for (size_t i = 0; i < n && *inputs; i++) {
        const char *name = *words[i] ? arena_printf(a, "i%zu", i) : "-";
        if (*words[i])
            draft_operand(d, name, words[i]);
        names = arena_printf(a, "%s%s%s", names, i ? " " : "", name);
    }
    for (uint64_t i = 1; i < n_outputs; i++)
        made = arena_printf(a, "%s y%ju", made, (uintmax_t)i);
    draft_node(d, space ? arena_printf(a, "%.*s", (int)(space - op), op) : op, names, made, attributes);
    uint64_t first = d->graph.n_input ? (uint64_t)d->inputs[0]->type->tensor_type->shape->dim[0]->dim_value : 1;
    draft_write(d, "y0", path);
    draft_end(d);
    const char *text = results(m, path, batch ? batch : first, approximate, a);
    unlink(path);
    return text;
}

static inline const char *result_of(const char *op, const char *inputs, const char *attributes, uint64_t batch, struct arena *a)
{
    return result_of_as(false, op, inputs, attributes, batch, a);
}

/* op: "Split 3" has three results. */
struct row { const char *op, *inputs, *attributes, *expected; };

static inline void check_rows(bool approximate, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a = { 0 };
        const char *found = result_of_as(approximate, rows[i].op, rows[i].inputs, rows[i].attributes, 0, &a);
        if (!text_is(found, rows[i].expected))
            print_error("%s %s %s\n", rows[i].op, rows[i].inputs, rows[i].attributes);
        assert_string_equal(found, rows[i].expected);
        arena_free(&a);
    }
}

#define CHECK(rows) check_rows(false, rows, sizeof (rows) / sizeof *(rows))

#define UNKNOWN "how much it makes is known only while the model runs; bound it with --set data.y0=NUMBER, or stop before it with --set " \
                "recipe.output=NAME"

#endif
