/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_onnx.c - any bytes as an ONNX file, for training and inference, refused or priced roughly: a graph, or a message; and the graph, where
 * it is small, simulated on four chips by the laws of laws.h.
 */
#include "tests/fuzz/fuzz.h"
#include "system-model/graph/graph.h"
#include "tests/fuzz/laws.h"
#include "tests/model_paths.h"
#include "workloads/onnx/onnx.h"

#include <inttypes.h>

enum { MOST_OPS = 100, MOST_ELEMENTS = 1 << 20 };

static bool graph_is_small(const struct graph *g)
{
    for (size_t i = 0; i < g->n_tensors; i++)
        if (tensor_elements(&g->tensors[i]) > MOST_ELEMENTS)
            return false;
    return g->n_ops <= MOST_OPS;
}

static void check_graph(const struct graph *g)
{
    LAW(g->n_forward_ops <= g->n_ops);
    for (size_t i = 0; i < g->n_ops; i++) {
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            LAW(g->ops[i].inputs[k] < g->n_tensors);
        for (uint32_t k = 0; k < g->ops[i].n_outputs; k++)
            LAW(g->ops[i].outputs[k] < g->n_tensors && g->tensors[g->ops[i].outputs[k]].producer_op == i);
    }
}

static const char *recipe_of(const char *onnx, const struct onnx_options *o, struct arena *a)
{
    const char *text = arena_printf(a, "[recipe]\nid = fuzz\nworkload = %s\nsystem = ipu-pod4\nsource = fuzzed\nmode = %s\napproximate = %s\n"
                                    "[parallel]\nreplicas = 4\nipus_per_replica = 1\nmicro_batch = %" PRIu64 "\n%s"
                                    "[precision]\ncompute = fp16\npartials = fp16\n%s", onnx, o->inference ? "infer" : "train",
                                    o->approximate ? "yes" : "no", o->batch, o->byte_images ? "[data]\ninput_type = uint8\n" : "",
                                    o->inference ? "" : "[optimizer]\nname = sgd\n");
    return fuzz_file((const uint8_t *)text, strlen(text), ".ini");
}

static void simulate_file(const char *onnx, const struct onnx_options *o, struct arena *a)
{
    static struct plan_cache plans;
    struct simulation sim;
    struct result r;
    struct err err = { "" };
    const char *ini = recipe_of(arena_strdup(a, onnx), o, a);
    bool good = simulate(&sim, &r, ini, NULL, 0, &paths, &plans, &err);
    LAW(good || (*err.msg && !strchr(err.msg, '\n')));
    if (good)
        check_result(&sim, &r);
    if (good)
        simulation_free(&sim);
    unlink(ini);
    if (plans.plans.n > 200000)
        plan_cache_free(&plans);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    struct arena a = {0};
    struct err err = { "" };
    struct graph g;
    struct onnx_import import;
    struct onnx_options o = { .batch = 1 + (data[0] & 3), .inference = data[0] & 4, .byte_images = data[0] & 8, .approximate = data[0] & 16 };
    const char *path = arena_strdup(&a, fuzz_file(data + 1, n - 1, ".onnx"));
    bool good = onnx_build(&g, &import, path, &o, &a, &err);
    LAW(good || *err.msg);
    if (good) {
        FILE *nowhere = fopen("/dev/null", "w");
        check_graph(&g);
        onnx_print(nowhere, &import);
        graph_print(nowhere, &g);
        fclose(nowhere);
        if (graph_is_small(&g))
            simulate_file(path, &o, &a);
    }
    unlink(path);
    arena_free(&a);
    return 0;
}
