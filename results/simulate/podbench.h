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
 * A simulator caches what its simulations share, so the second is faster than the first. Each thread opens its own.
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
/* root: the folder with system-model, workloads and results, or NULL for the installed one. The result is never NULL;
 * podbench_message says what failed. */
struct podbench *podbench_open(const char *root);
void podbench_close(struct podbench *p);
const char *podbench_message(const struct podbench *p);     /* one line about the last failure, or "" */

/* Every number that a run gives, under its name in podbench_metrics.def; docs/formats.md lists them. Counts are
 * uint64_t, flags int (fits), all others double. A value that is not known is 0. */
#define PODBENCH_FIELD_TEXT(name)
#define PODBENCH_FIELD_COUNT(name) uint64_t name;
#define PODBENCH_FIELD_NUMBER(name) double name;
#define PODBENCH_FIELD_FLAG(name) int name;
struct podbench_result {
#define METRIC(type, name, ...) PODBENCH_FIELD_##type(name)
#include "podbench_metrics.def"
#undef METRIC
};

/* Simulates a recipe, by id or path, with overrides as --set takes them. Returns 0, or -1 with the reason in
 * podbench_message. */
int podbench_run(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets, struct podbench_result *out);

/* Returns the JSON object of `podbench run --format json`, without its validity, or NULL when it failed. Free it with
 * free(). */
char *podbench_run_json(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets);

#ifdef __cplusplus
}
#endif
#endif
