/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_errors.h - how far the time of a single operation can be trusted, by the errors of published ones.
 *
 * An operation is a product, a sparse product, a lookup, a recurrence, a codelet or another. Its interval follows from the errors of published
 * operations of its kind on its chip; with fewer than three of them, of its kind on any chip, or of all kinds, and then it is a guess.
 */
#ifndef KERNEL_ERRORS_H
#define KERNEL_ERRORS_H
#include "results/published/check.h"
#include "results/study/trust.h"

/* error: |ln(predicted / published)| when the operation was first simulated; today's error if it was known before first-sight.csv was kept. */
struct kernel_error { const char *id, *kind, *chip; double error; };
struct kernel_errors { struct kernel_error *items; size_t n, cap; };

/* Simulates the recipes of single operations again, to see what they are. */
void kernel_errors_build(struct kernel_errors *out, const struct check *c, const struct first_sight *seen, struct simulator *simulator, struct arena *a);
void kernel_errors_write(FILE *f, const struct kernel_errors *k);
bool kernel_errors_load(struct kernel_errors *out, const char *path, struct arena *a, struct err *err);       /* without the file there are none */

/* Half the 90 % interval, as a logarithm; 0 if nothing was published. n: the number of errors that it follows from. */
struct kernel_trust { double half_width; size_t n; bool is_guess; };
struct kernel_trust kernel_trust_of(const struct kernel_errors *k, const char *kind, const char *chip);
const char *kernel_kind_of(enum op_kind kind);
void kernel_coverage(struct interval_coverage *out, const struct kernel_errors *k, struct arena *a);      /* judges each operation by the others */

#endif
