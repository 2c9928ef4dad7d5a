/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arithmetic.h - arithmetic over numbers and named values, as a claim's row writes it.
 *
 *     2 * sheet[gc2.mac_fp16_fp32_per_cycle] * sheet[gc2.clock_hz] / 1e9
 *
 * + - * / ^ and parentheses, in the usual order; sqrt, ceil, floor, log2, min, max; kind[argument] is a value that the caller looks up.
 * It knows numbers alone, and what has no value is an error; the rules' language (results/mlperf/expression.h) has lines of logs, texts and
 * truth as Python has them, and a check without a result.
 */
#ifndef ARITHMETIC_H
#define ARITHMETIC_H
#include "system-model/base/base.h"

/* False, with a message, for a kind or an argument that has no value. */
typedef bool arithmetic_lookup(double *out, void *user, const char *kind, const char *argument, struct err *err);

/* where heads the messages: "claims.csv:7: expression". A result that is not finite is refused. */
bool arithmetic_value(double *out, const char *text, const char *where, arithmetic_lookup *lookup, void *user, struct err *err);

#endif
