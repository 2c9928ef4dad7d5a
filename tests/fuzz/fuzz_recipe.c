/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_recipe.c - any bytes as a recipe: loaded, turned into planner's options, or refused with a message. */
#include "tests/fuzz/fuzz.h"
#include "workloads/recipe/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    struct err err = {0};
    struct recipe r;
    struct plan_request opt;
    const char *path = fuzz_file(data, n, ".ini");
    bool good = recipe_load(&r, path, "workloads/recipes", NULL, 0, &a, &err);
    if (!good && !*err.msg)
        abort();
    if (good)
        recipe_plan_request(&opt, &r, &a, &err);
    arena_free(&a);
    unlink(path);
    return 0;
}
