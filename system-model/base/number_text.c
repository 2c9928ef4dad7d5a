/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * number_text.c - numbers as printf writes them, in a tenth of its time: tables of a million rows are mostly numbers.
 *
 * A number is scaled to a whole number of the wanted digits in long double, with an error below two roundings. Where that error could
 * change a digit, and where a power of ten is not exact, printf decides.
 */
#include "system-model/base/base.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_POWER = 22, MOST_FAST_DIGITS = 15 };      /* 10^22 is exact in 53 bits and more */
static const double powers[LARGEST_POWER + 1] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
                                                  1e20, 1e21, 1e22 };

const char *u64_text(char room[NUMBER_ROOM], uint64_t x)
{
    char *at = &room[NUMBER_ROOM - 1];
    *at = 0;
    do
        *--at = (char)('0' + x % 10);
    while (x /= 10);
    return at;
}

static long double scaled(double x, int shift)
{
    return shift < 0 ? x / (long double)powers[-shift] : x * (long double)powers[shift];
}

/* Finds the exponent and the n-digit whole number that x > 0 rounds to. False if rounding errors could change a digit. */
static bool round_to_digits(uint64_t *whole, int *exponent, double x, int n)
{
    static const double log10_of_2 = 0.30102999566398120;
    int binary;
    frexp(x, &binary);
    *exponent = (int)floor((binary - 1) * log10_of_2);      /* exact or one too low */
    if (abs(n - 1 - *exponent) >= LARGEST_POWER)
        return false;
    long double exact = scaled(x, n - 1 - *exponent);
    if (exact >= powers[n])
        exact = scaled(x, n - 1 - ++*exponent);
    *whole = (uint64_t)exact;
    long double above_half = exact - (long double)*whole - 0.5L;
    *whole += above_half > 0;
    if (*whole == (uint64_t)powers[n]) {
        *whole /= 10;
        ++*exponent;
    }
    return fabsl(above_half) > 4 * LDBL_EPSILON * exact;
}

/* Writes digits with a point after the first `before` of them. Zeros at the end are left out, and a number below 1 begins with zeros. */
static char *put_digits(char *at, const char *digits, int n, int before)
{
    if (before <= 0) {
        memcpy(at, "0.0000", 6);
        return mempcpy(at + 2 - before, digits, (size_t)n);
    }
    at = mempcpy(at, digits, (size_t)before);
    if (n > before)
        *at++ = '.';
    return mempcpy(at, digits + before, (size_t)(n - before));
}

const char *f64_text(char room[NUMBER_ROOM], double x, int n)
{
    uint64_t whole;
    int exponent;
    char digits_room[NUMBER_ROOM], *at = room;
    if (x == 0)
        return signbit(x) ? "-0" : "0";
    if (n < 1 || n > MOST_FAST_DIGITS || !isfinite(x) || !round_to_digits(&whole, &exponent, fabs(x), n)) {
        snprintf(room, NUMBER_ROOM, "%.*g", n, x);
        return room;
    }
    const char *digits = u64_text(digits_room, whole);
    bool is_scientific = exponent < -4 || exponent >= n;
    int shown = n, before = is_scientific ? 1 : exponent + 1;
    while (shown > 1 && shown > before && digits[shown - 1] == '0')
        shown--;
    if (x < 0)
        *at++ = '-';
    at = put_digits(at, digits, shown, before);
    if (is_scientific) {
        *at++ = 'e';
        *at++ = exponent < 0 ? '-' : '+';
        if (abs(exponent) < 10)
            *at++ = '0';
        at = stpcpy(at, u64_text(digits_room, (uint64_t)abs(exponent)));
    }
    *at = 0;
    return room;
}
