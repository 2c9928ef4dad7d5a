/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * number.c - numbers as text, as printf's "%.10g" writes them to the last digit, several times as fast: a sweep writes thirty a row.
 *
 * v = d.ddddddddd x 10^e with ten digits is v x 10^(9 - e), rounded. In long double the product is off by at most a part in 2^64 of
 * itself, 6e-10 where it has ten digits: only where the fraction is that close to a half may the rounding go wrong. There, and
 * outside of 1e-4 to 1e10, printf does it.
 */
#include "system-model/base/base.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static const double powers[] = { 1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10 };
enum { DIGITS = 10, LEAST_EXPONENT = -4, MOST_POWER = sizeof powers / sizeof *powers - 1 };    /* powers[0] is 10^LEAST_EXPONENT */
static const long double scales[] = { 1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L, 1e9L, 1e10L, 1e11L, 1e12L, 1e13L };

static char *put(char *out, const char *text, int n)
{
    memcpy(out, text, (size_t)n);
    return out + n;
}

/* Of the ten digits of n = d.ddddddddd x 10^exponent, without zeros at the end of a fraction. */
static size_t put_digits(char *out, uint64_t n, int exponent)
{
    char digits[DIGITS], *p = out;
    for (int i = DIGITS; i-- > 0; n /= 10)
        digits[i] = (char)('0' + n % 10);
    int used = DIGITS, whole = exponent >= 0 ? exponent + 1 : 1;
    while (used > whole && digits[used - 1] == '0')
        used--;
    if (exponent < 0) {
        p = put(p, "0.0000", 1 - exponent);
        return (size_t)(put(p, digits, used) - out);
    }
    p = put(p, digits, whole);
    if (used > whole) {
        *p++ = '.';
        p = put(p, digits + whole, used - whole);
    }
    return (size_t)(p - out);
}

size_t format_g10(char *out, double v)
{
    double x = fabs(v);
    if (x == 0 && !signbit(v)) {
        strcpy(out, "0");
        return 1;
    }
    if (!(x >= powers[0] && x < powers[MOST_POWER]))
        return (size_t)sprintf(out, "%.10g", v);
    int exponent = LEAST_EXPONENT;
    while (x >= powers[exponent + 1 - LEAST_EXPONENT])
        exponent++;
    long double scaled = (long double)x * scales[DIGITS - 1 - exponent];
    uint64_t n = (uint64_t)scaled;
    long double fraction = scaled - (long double)n, doubt = 4e10L * LDBL_EPSILON;
    assert(n >= 1000000000);            /* powers below 1 are, as doubles, above what they stand for */
    if (fabsl(fraction - 0.5L) <= doubt)
        return (size_t)sprintf(out, "%.10g", v);
    n += fraction > 0.5L;
    if (n == UINT64_C(10000000000))
        return (size_t)sprintf(out, "%.10g", v);
    char *p = out;
    if (v < 0)
        *p++ = '-';
    p += put_digits(p, n, exponent);
    *p = '\0';
    return (size_t)(p - out);
}

size_t format_u64(char *out, uint64_t n)
{
    char digits[20];
    size_t used = 0;
    do
        digits[used++] = (char)('0' + n % 10);
    while (n /= 10);
    for (size_t i = 0; i < used; i++)
        out[i] = digits[used - 1 - i];
    out[used] = '\0';
    return used;
}
