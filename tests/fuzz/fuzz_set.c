/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_set.c - any bytes as overrides, a line each, of every published recipe's kind: loaded and asked, or refused with a message. */
#include "tests/fuzz/fuzz.h"
#include "system-model/graph/graph.h"
#include "workloads/recipe/recipe.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    struct err err = { "" };
    struct recipe r;
    struct plan_request opt;
    struct graph g;
    const char *sets[16], **unused;
    size_t n_sets = 0, n_unused;
    char *text = arena_alloc(&a, n + 1);
    memcpy(text, data, n);
    for (char *line = strtok(text, "\n"); line && n_sets < 16; line = strtok(NULL, "\n"))
        sets[n_sets++] = line;
    bool good = recipe_load(&r, "vendor-ipu-pod4-resnet50-caraml", "workloads/recipes", sets, n_sets, &a, &err);
    if (!good && (!*err.msg || strchr(err.msg, '\n')))
        abort();
    if (good) {
        recipe_unused_keys(&unused, &n_unused, &r, NULL, &a);
        good = recipe_plan_request(&opt, &r, &a, &err) && recipe_graph(&g, &r, &a, &err);
        if (!good && !*err.msg)
            abort();
    }
    arena_free(&a);
    return 0;
}
