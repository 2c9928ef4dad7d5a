/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * podbench.h - the simulator as a library: pkg-config --cflags --libs podbench
 *
 *     struct podbench *p = podbench_open(NULL);
 *     struct podbench_result r;
 *     const char *sets[] = { "parallel.micro_batch=16" };
 *     if (podbench_run(p, "mlperf-v1.1-closed-ipu-pod16-resnet50", sets, 1, &r) == 0)
 *         printf("%g samples/s\n", r.throughput_samples_per_s);
 *     else
 *         fprintf(stderr, "%s\n", podbench_message(p));
 *     podbench_close(p);
 *
 * A simulator keeps what its simulations share, so the second is faster than the first. It belongs to one thread; threads open their own.
 * Running out of memory ends the program with status 3.
 */
#ifndef PODBENCH_H
#define PODBENCH_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

const char *podbench_version(void);

struct podbench;
/* root: the folder with system-model, workloads and results; NULL: where it is installed. Never NULL; podbench_message tells what failed. */
struct podbench *podbench_open(const char *root);
void podbench_close(struct podbench *p);
const char *podbench_message(const struct podbench *p);     /* of the last failure: one line; "" */

/* Unknown values are 0. */
struct podbench_result {
    int fits;                           /* 0: does not; the other values hold only if it did */
    uint64_t ipus, memory_peak_bytes_per_tile, memory_shortfall_bytes_per_tile;
    double global_batch, throughput_samples_per_s, step_time_s, latency_s;
    double samples_to_converge, time_to_train_s, energy_j, mfu, hfu;
};

/* Simulates a recipe, by id or path, with overrides as --set takes them. 0: done; else podbench_message says why not. */
int podbench_run(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets, struct podbench_result *out);

/* The same as the JSON object of `podbench run --format json`, but for validity, energy and money; NULL: failed. Free it with free(). */
char *podbench_run_json(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets);

#ifdef __cplusplus
}
#endif
#endif
