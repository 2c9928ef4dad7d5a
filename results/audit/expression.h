/*
 * expression.h - arithmetic over numbers and named values, as a claim's row writes it.
 *
 *     2 * sheet[gc2.mac_fp16_fp32_per_cycle] * sheet[gc2.clock_hz] / 1e9
 *
 * + - * / ^ and parentheses, in the usual order; sqrt, ceil, floor, log2, min, max; kind[argument] is a value that the caller looks up.
 */
#ifndef EXPRESSION_H
#define EXPRESSION_H
#include "system-model/base/base.h"

/* False, with a message, for a kind or an argument that has no value. */
typedef bool expression_lookup(double *out, void *user, const char *kind, const char *argument, struct err *err);

/* where heads the messages: "claims.csv:7: expression". A result that is not finite is refused. */
bool expression_value(double *out, const char *text, const char *where, expression_lookup *lookup, void *user, struct err *err);

#endif
