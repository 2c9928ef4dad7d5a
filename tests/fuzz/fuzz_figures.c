/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_figures.c - any bytes as a table of published figures: kernels and links predicted, the check built and printed, or refused.
 *
 * Figures of recipes are only read: fuzz_model simulates. Law: every row has a verdict, and a simulated value is a number.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/model_paths.h"
#include "results/published/check.h"

#include <math.h>
#include <stdio.h>

/* The rows that no recipe is simulated for. */
static void keep_measured_parts(struct figures *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->n; i++) {
        enum figure_kind kind = figure_kind(&f->items[i]);
        if (kind == FIGURE_OF_KERNEL || kind == FIGURE_OF_LINK)
            f->items[kept++] = f->items[i];
    }
    f->n = kept < 20 ? kept : 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct simulator simulator;
    static size_t n_inputs;
    struct arena a = {0};
    struct err err = { "" };
    struct figures figures = {0};
    if (!simulator.paths)
        simulator_open(&simulator, &paths);
    struct check_source from = { .simulator = &simulator, .links.costs_dir = "results/published/links" };
    struct check c;
    const char *path = fuzz_file(data, n, ".csv");
    bool good = published_load(&figures, path, &a, &err);
    if (!good && !*err.msg)
        abort();
    keep_measured_parts(&figures);
    if (good && check_build(&c, &figures, &from, &a, &err)) {
        FILE *nowhere = fopen("/dev/null", "w");
        for (size_t i = 0; i < c.n; i++)
            if (c.rows[i].has_simulated && !isfinite(c.rows[i].simulated))
                abort();
        for (int format = 0; format < N_OUTPUT_FORMATS; format++) {
            struct document d = { .arena = &a };
            check_document(&d, &c);
            document_write(nowhere, (enum output_format)format, &d);
        }
        fclose(nowhere);
    }
    arena_free(&a);
    unlink(path);
    if (++n_inputs % 20000 == 0) {
        simulator_close(&simulator);
        simulator = (struct simulator){0};
    }
    return 0;
}
