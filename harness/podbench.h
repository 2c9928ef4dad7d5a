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
 * A simulator caches what its simulations share, so the second is faster than the first. It reads each file once, and does not see later
 * changes. A handle serves one thread at a time; several threads open one each. NULL for a handle or a text is refused as bad input is; a handle that
 * was closed must not be used again. Running out of memory ends the program with status 3.
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
/* root is the folder with system-model, workloads and results. NULL takes PODBENCH_ROOT, or else the folder installed with the library, or
 * the working folder. The result is never NULL; podbench_message says what failed. */
struct podbench *podbench_open(const char *root);
void podbench_close(struct podbench *p);                    /* p may be NULL */
/* One line about the last call's failure, or "". The text lives until the next call, as that of podbench_notes. */
const char *podbench_message(const struct podbench *p);
/* The lines that the program would have written to standard error for the last podbench_answer: each begins with "podbench: ". May be "". */
const char *podbench_notes(const struct podbench *p);

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

/* Runs a command of the program, and returns its standard output; free it with free(). words are the command and what follows it:
 *     { "explain", "mlperf-v2.0-closed-bow-pod64-bert-large", "--format", "json" }
 * *status is the exit status of the program: 0 done, 1 judged and refused, 2 bad input, with the reason in podbench_message. --root and
 * --recipes are refused: another handle has other data. */
char *podbench_answer(struct podbench *p, const char *const *words, size_t n_words, int *status);

/* The one object of `podbench run --format json`, or NULL with the reason in podbench_message. Free it with free(). */
char *podbench_run_json(struct podbench *p, const char *recipe, const char *const *sets, size_t n_sets);

#ifdef __cplusplus
}
#endif
#endif
