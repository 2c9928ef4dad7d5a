/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_table.c - any bytes as a table: published figures, rows of a run, a table to compare with itself. */
#include "tests/fuzz/fuzz.h"
#include "results/published/check.h"
#include "results/simulate/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = {0};
    struct err err = {0};
    struct figures figures = {0};
    struct results rows = {0};
    struct csv_table t;
    struct comparison c = {0};
    const char *path = fuzz_file(data, n, ".csv");
    published_load(&figures, path, &a, &err);
    results_load(&rows, path, &a, &err);
    if (csv_load(&t, path, &a, &err) && compare_tables(&c, &t, &t, &a, &err) && c.n)
        abort();                        /* a table is equal to itself */
    arena_free(&a);
    unlink(path);
    return 0;
}
