/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quantity.c - numbers with units for people: an SI prefix, and as many digits as mean something.
 */
#include "system-model/output/output.h"

/* Units that take a prefix, with the largest power of 1000 and the smallest. Minutes and hours are usual for long
 * times, so a second has no kilo. */
static const struct { const char *unit; int least, most; } prefixed[] = {
    { "s", -3, 0 }, { "B", 0, 5 }, { "B/s", 0, 5 }, { "Hz", 0, 4 }, { "W", -2, 3 }, { "J", -3, 4 }, { "flop", 0, 6 }, { "flop/s", 0, 6 },
    { "W an IPU", -2, 3 },
};

static const char *const prefixes[] = { "n", "u", "m", "", "k", "M", "G", "T", "P", "E" };
enum { NO_PREFIX = 3 };

enum { N_PREFIXED = sizeof prefixed / sizeof *prefixed };

static size_t prefixed_unit(const char *unit)
{
    size_t i = 0;
    while (i < N_PREFIXED && !text_is(prefixed[i].unit, unit))
        i++;
    return i;
}

bool unit_takes_prefix(const char *unit)
{
    return prefixed_unit(unit) < N_PREFIXED;
}

static int power_of_1000(double x, const char *unit)
{
    size_t i = prefixed_unit(unit);
    if (i == N_PREFIXED || x == 0)
        return 0;
    int power = (int)floor(log10(fabs(x)) / 3 + 1e-12);
    return power < prefixed[i].least ? prefixed[i].least : power > prefixed[i].most ? prefixed[i].most : power;
}

static double rounded_to_digits(double x, int digits)
{
    char text[QUANTITY_ROOM];
    double y = x;
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    return parse_f64(text, &y) ? y : x;
}

/* Digits after the point that show this many significant digits. A number is never written with an exponent. */
static int decimals_of(double x, int digits)
{
    int before = x != 0 ? (int)floor(log10(fabs(x)) + 1e-12) + 1 : 1;
    return before < digits ? digits - before : 0;
}

static const char *write_quantity(char room[QUANTITY_ROOM], double x, const char *unit, int digits, const char *sign)
{
    if (!isfinite(x))
        return "-";
    double y = rounded_to_digits(x, digits);
    int power = power_of_1000(y, unit);
    y /= pow(1000, power);
    int decimals = power == 0 && text_is(unit, "B") ? 0 : decimals_of(y, digits);       /* there are no parts of a byte */
    snprintf(room, QUANTITY_ROOM, "%s%.*f%s%s%s", x >= 0 ? sign : "", decimals, y, *unit ? " " : "", prefixes[power + NO_PREFIX], unit);
    return room;
}

const char *quantity_text(char room[QUANTITY_ROOM], double x, const char *unit, int digits)
{
    return write_quantity(room, x, unit, digits, "");
}

const char *quantity_change_text(char room[QUANTITY_ROOM], double x, const char *unit, int digits)
{
    return write_quantity(room, x, unit, digits, "+");
}

int digits_within(double x, double half_width)
{
    enum { LEAST = 2, USUAL = 4, MOST = 6 };
    if (!(half_width > 0) || !isfinite(half_width) || !(fabs(x) > 0))
        return USUAL;
    int digits = (int)floor(log10(fabs(x))) - (int)floor(log10(half_width)) + 2;
    return digits < LEAST ? LEAST : digits > MOST ? MOST : digits;
}

const char *quantity_kept(double x, const char *unit, int digits, struct arena *a)
{
    char room[QUANTITY_ROOM];
    return arena_strdup(a, quantity_text(room, x, unit, digits));
}

const char *quantity_change_kept(double x, const char *unit, int digits, struct arena *a)
{
    char room[QUANTITY_ROOM];
    return arena_strdup(a, quantity_change_text(room, x, unit, digits));
}

const char *quantity_within(double x, const char *unit, double half_width, struct arena *a)
{
    return quantity_kept(x, unit, digits_within(x, half_width), a);
}
