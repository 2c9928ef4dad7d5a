/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * example.c - the library in thirty lines: the fastest micro-batch that fits. Usage: example RECIPE;
 * tests/cli/t_install.sh runs it.
 */
#include <podbench.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *recipe = argc > 1 ? argv[1] : "mlperf-v1.1-closed-ipu-pod16-resnet50";
    struct podbench *p = podbench_open(NULL);
    double best = 0;
    int best_batch = 0;
    for (int batch = 1; batch <= 64; batch *= 2) {
        char set[64];
        const char *sets[] = { set };
        struct podbench_result r;
        snprintf(set, sizeof set, "parallel.micro_batch=%d", batch);
        if (podbench_run(p, recipe, sets, 1, &r) != 0) {
            fprintf(stderr, "%s\n", podbench_message(p));
            podbench_close(p);
            return 2;
        }
        if (r.fits && r.throughput_samples_per_s > best) {
            best = r.throughput_samples_per_s;
            best_batch = batch;
        }
    }
    printf("podbench %s: %s is fastest at micro-batch %d, %.6g samples/s\n", podbench_version(), recipe, best_batch, best);
    podbench_close(p);
    return 0;
}
