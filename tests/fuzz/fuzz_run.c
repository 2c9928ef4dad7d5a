/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_run.c - any bytes as a run's folder: rows.csv, check.csv and manifest.json, with "====" between. Checked, then read.
 *
 * Law: a folder that is taken for whole stays so when it is checked again.
 */
#include "tests/fuzz/fuzz.h"
#include "results/published/check.h"
#include "results/simulate/result.h"
#include "results/simulate/run_folder.h"

#include <string.h>
#include <sys/stat.h>

static void write_part(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(text, 1, n, f) != n)
        abort();
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const names[] = { "rows.csv", "check.csv", "manifest.json" };
    enum { N = sizeof names / sizeof *names };
    struct arena a = {0};
    struct err err = { "" };
    const char *folder = fuzz_folder();
    char *text = arena_alloc(&a, n + 1);
    memcpy(text, data, n);
    for (size_t i = 0; i < N && text; i++) {
        char *end = strstr(text, "====\n");
        write_part(arena_printf(&a, "%s/%s", folder, names[i]), text, end ? (size_t)(end - text) : strlen(text));
        text = end ? end + 5 : NULL;
    }
    bool whole = run_folder_check(folder, NULL, &err);
    if (!whole && !*err.msg)
        abort();
    if (whole && !run_folder_check(folder, NULL, &err))
        abort();
    struct results rows = {0};
    struct csv_table t;
    struct comparison c = {0};
    const char *path = arena_printf(&a, "%s/rows.csv", folder);
    results_load(&rows, path, &a, &err);
    if (csv_load(&t, path, &a, &err) && compare_tables(&c, &t, &t, &a, &err) && c.n)
        abort();
    for (size_t i = 0; i < N; i++)
        unlink(arena_printf(&a, "%s/%s", folder, names[i]));
    arena_free(&a);
    return 0;
}
