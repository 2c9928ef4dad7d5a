/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_errors.h - how far the time of a single operation can be trusted, judged by the errors of published operations.
 *
 * Kinds of operations are products, convolutions, grouped convolutions, sparse products, lookups, recurrences, codelets and others. The interval
 * follows from the errors of published operations of the same kind on the same chip. If there are fewer than three, it follows from those of the
 * same kind on all chips, or else from all kinds, and then it is a guess.
 */
#ifndef KERNEL_ERRORS_H
#define KERNEL_ERRORS_H
#include "results/published/check.h"
#include "results/study/trust.h"

/* error is |ln(predicted / published)| of the first prediction, or of today's for operations older than first-sight.csv. */
struct kernel_error { const char *id, *kind, *chip; double error; };
struct kernel_errors { struct kernel_error *items; size_t n, cap; };

/* Collects the errors. The recipes of single operations are simulated again, to find the kinds of their operations. */
void kernel_errors_build(struct kernel_errors *out, const struct check *c, const struct first_sight *seen, struct simulator *simulator, struct arena *a);
void kernel_errors_write(FILE *f, const struct kernel_errors *k);
bool kernel_errors_load(struct kernel_errors *out, const char *path, struct arena *a, struct err *err);       /* a missing file means no errors */

/* half_width is half the 90 % interval as a logarithm, 0 if nothing was published; n counts the errors behind it. */
struct kernel_trust { double half_width; size_t n; bool is_guess; };
struct kernel_trust kernel_trust_of(const struct kernel_errors *k, const char *kind, const char *chip);
const char *kernel_kind_of(const struct op *op);
/* counts how often intervals hold that follow from the errors of other operations */
void kernel_coverage(struct interval_coverage *out, const struct kernel_errors *k, struct arena *a);

#endif
