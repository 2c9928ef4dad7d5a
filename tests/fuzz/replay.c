/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - runs one fuzz target over every file of the folders named, without a fuzzer. */
#include "tests/fuzz/fuzz.h"
#include "system-model/base/base.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct arena a = {0};
        struct err err;
        char **names, *text;
        size_t n, n_bytes;
        if (!list_folder(&names, &n, argv[i], "", &a, &err)) {
            fprintf(stderr, "%s\n", err.msg);
            return 2;
        }
        for (size_t k = 0; k < n; k++) {
            FILE *f = fopen(arena_printf(&a, "%s/%s", argv[i], names[k]), "rb");
            if (!f)
                continue;
            text = arena_alloc(&a, 1 << 20);
            n_bytes = fread(text, 1, 1 << 20, f);
            fclose(f);
            LLVMFuzzerTestOneInput((const uint8_t *)text, n_bytes);
        }
        printf("%s: %zu inputs\n", argv[i], n);
        arena_free(&a);
    }
    return 0;
}
