/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import.h - writes a draft as a file, reads it back as a graph, and executes it on noise.
 */
#ifndef IMPORT_H
#define IMPORT_H
#include "tests/check.h"
#include "tests/onnx/draft.h"
#include "tests/onnx/execute_onnx.h"
#include "workloads/models/builders.h"
#include <unistd.h>

static inline const char *model_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/t_import_%d.onnx", (int)getpid());
    return path;
}

struct imported { struct arena arena; struct graph g; struct onnx_import im; struct err err; bool good; };

static inline struct imported *import(struct draft *d, const char *outputs, struct onnx_options o)
{
    struct imported *r = calloc(1, sizeof *r);
    o.batch = o.batch ? o.batch : 1;
    o.contents = true;
    draft_write(d, outputs, model_path());
    r->good = onnx_build(&r->g, &r->im, model_path(), &o, &r->arena, &r->err);
    draft_end(d);
    unlink(model_path());
    return r;
}

static inline void done(struct imported *r)
{
    arena_free(&r->arena);
    free(r);
}

/* The first output; an image is returned in the file's order. */
static inline double *executed(struct imported *r, double **v)
{
    graph_execute(&r->g, v);
    const struct tensor *y = &r->g.tensors[r->im.output];
    double *out = ARENA_ARRAY(&r->arena, double, tensor_elements(y));
    for (uint64_t i = 0; i < tensor_elements(y); i++)
        out[i] = v[r->im.output][r->im.output_is_image ? channels_last(i, y) : i];
    return out;
}

/* Executes the graph on noise that depends on the inputs' names. Images are in the file's order, inputs and output. */
static inline double *outputs(struct imported *r)
{
    assert_string_equal(r->err.msg, "");
    double **v = onnx_values(&r->g, &r->im, &r->arena);
    for (size_t i = 0; i < r->im.n_inputs; i++) {
        const struct tensor *t = &r->g.tensors[r->im.inputs[i]];
        for (uint64_t k = 0; k < tensor_elements(t); k++)
            v[r->im.inputs[i]][r->im.input_is_image[i] ? channels_last(k, t) : k] =
                t->type == TYPE_INT32 ? (double)(k * 7 % 5) : draft_noise(t->name, k);
    }
    return executed(r, v);
}

static inline uint32_t count_kind(const struct graph *g, enum op_kind kind)
{
    uint32_t n = 0;
    for (size_t i = 0; i < g->n_forward_ops; i++)
        n += g->ops[i].kind == kind;
    return n;
}

static const struct onnx_options infer = { .inference = true }, train = { .inference = false };

static inline void refused(struct draft *d, struct onnx_options o, const char *message)
{
    struct imported *r = import(d, "y", o);
    assert_false(r->good);
    const char *colon = strchr(r->err.msg, ':');
    assert_string_equal(colon ? colon + 2 : r->err.msg, message);
    done(r);
}

#endif
