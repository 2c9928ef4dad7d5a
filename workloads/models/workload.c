/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * workload.c - the table of workloads: one row a model, in the file of its family.
 */
#include "workloads/models/builders.h"
#include "workloads/onnx/onnx.h"

/* families.h: a line a family, made of the files of this folder that begin a line with WORKLOADS (bench.mk). */
#define FAMILY(name) extern const struct workload name##_workloads[];
#include "workloads/models/families.h"
#undef FAMILY
static const struct workload *const families[] = {
#define FAMILY(name) name##_workloads,
#include "workloads/models/families.h"
#undef FAMILY
};

const struct workload *workload_at(size_t i)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct workload *w = families[f]; w->name; w++)
            if (i-- == 0)
                return w;
    return NULL;
}

size_t workload_count(void)
{
    size_t n = 0;
    while (workload_at(n))
        n++;
    return n;
}

static const struct workload any_file = { "model.onnx", "onnx", "a model of your own, from an ONNX file", "sample", onnx_file_build,
                                          NULL, 0, NULL, IS_FILE | TAKES_IMAGES };

const struct workload *workload_find(const char *name, struct err *err)
{
    if (onnx_is_file(name))
        return &any_file;
    const struct workload *w;
    for (size_t i = 0; (w = workload_at(i)); i++)
        if (text_is(w->name, name))
            return w;
    struct arena scratch = { 0 };
    size_t n = workload_count();
    const char **names = ARENA_ARRAY(&scratch, const char *, n);
    for (size_t i = 0; i < n; i++)
        names[i] = workload_at(i)->name;
    fail(err, "unknown workload '%.60s'; %sknown: %s", name, names_suggestion(names, n, name, &scratch), names_list(names, n, &scratch));
    arena_free(&scratch);
    return NULL;
}

/* The planner counts the rows of a product in 32 bits. */
static bool check_products(const struct graph *g, const struct model_options *o, struct err *err)
{
    for (size_t i = 0; i < g->n_forward_ops; i++) {
        const struct op *op = &g->ops[i];
        uint64_t rows = op->kind == OP_MATMUL ? op_matmul_shape(g, op).rows : 0;
        if (rows > UINT32_MAX)
            return fail(err, "%s: parallel.micro_batch: %llu: a product of layer %s has %llu rows, at most %llu; lower it",
                        o->where, (unsigned long long)g->micro_batch, g->layers[op->layer_id].name,
                        (unsigned long long)rows, (unsigned long long)UINT32_MAX);
    }
    return true;
}

const struct model_options own_options = { .where = "workload", .micro_batch = 1, .batch_norm_span = 1, .sequences_per_pack = 1 };

bool workload_graph(struct graph *out, const struct workload *w, const struct model_options *o, struct arena *a, struct err *err)
{
    o = o ? o : &own_options;
    return w->build(out, w, o, a, err) && check_products(out, o, err);
}
