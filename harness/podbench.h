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
 * A simulator caches what its simulations share, so the second simulation is faster than the first. It reads each file once, and does not see
 * later changes. A handle serves one thread at a time; several threads open one handle each. A handle or text that is NULL is refused as bad
 * input. A closed handle must not be used again. Running out of memory ends the program with status 3.
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
/* Opens a handle. `root` is the folder with system-model, workloads and results; NULL takes PODBENCH_ROOT, or else the data installed with the
 * library, or the working folder. The result is never NULL; podbench_message() says if something failed. */
struct podbench *podbench_open(const char *root);
void podbench_close(struct podbench *p);                    /* p may be NULL */
/* One line about the failure of the last call, or "". This text and that of podbench_notes() are valid until the next call. */
const char *podbench_message(const struct podbench *p);
/* The lines that the program would have written to standard error for the last podbench_answer(), each beginning with "podbench: "; or "". */
const char *podbench_notes(const struct podbench *p);

/* All numbers of a run, under their names in podbench_metrics.def; docs/formats.md lists them. Counts are uint64_t, flags int (fits), all
 * others double. An unknown value is 0. */
#define PODBENCH_FIELD_TEXT(name)
#define PODBENCH_FIELD_COUNT(name) uint64_t name;
#define PODBENCH_FIELD_NUMBER(name) double name;
#define PODBENCH_FIELD_FLAG(name) int name;
struct podbench_result {
#define METRIC(type, name, ...) PODBENCH_FIELD_##type(name)
#include "podbench_metrics.def"
#undef METRIC
};

/* Simulates a recipe, by id or path, with overrides in the form of --set. Returns 0, or -1 with the reason in podbench_message(). */
int podbench_run(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets, struct podbench_result *out);

/* Runs a command of the program and returns its standard output, which the caller frees with free(). `words` has the command and its
 * arguments:
 *     { "explain", "mlperf-v2.0-closed-bow-pod64-bert-large", "--format", "json" }
 * *status is the program's exit status: 0 done, 1 judged and refused, 2 bad input, with the reason in podbench_message(). --root and --recipes
 * are refused, because other data needs another handle. */
char *podbench_answer(struct podbench *p, const char *const *words, size_t n_words, int *status);

/* The JSON object of `podbench run --format json`, which the caller frees with free(); or NULL, with the reason in podbench_message(). */
char *podbench_run_json(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets);

#ifdef __cplusplus
}
#endif
#endif
