/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arithmetic.c - a recursive-descent reader that evaluates as it reads.
 *
 *     sum = product { (+|-) product }   product = power { (*|/) power }   power = factor [ ^ power ]
 *     factor = number | ( sum ) | -factor | name ( sum {, sum} ) | kind [ argument ]
 */
#include "results/published/arithmetic.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 50, LONGEST_NAME = 16, LONGEST_ARGUMENT = 320 };

struct reader {
    const char *text, *at, *where;
    arithmetic_lookup *lookup;
    void *user;
    struct err *err;
    int depth;
};

static bool sum(double *out, struct reader *r);

static bool refuse(const struct reader *r, const char *want)
{
    return fail(r->err, "%s: '%.40s' at character %zu, want %s", r->where, *r->at ? r->at : "the end", (size_t)(r->at - r->text) + 1, want);
}

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " ");
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool number(double *out, struct reader *r)
{
    char digits[32];
    size_t n = strspn(r->at, "0123456789.");
    if (n && (r->at[n] == 'e' || r->at[n] == 'E')) {
        size_t sign = r->at[n + 1] == '-' || r->at[n + 1] == '+', exponent = strspn(r->at + n + 1 + sign, "0123456789");
        n += exponent ? 1 + sign + exponent : 0;
    }
    if (n >= sizeof digits)
        return refuse(r, "a shorter number");
    memcpy(digits, r->at, n);
    digits[n] = '\0';
    if (!parse_f64(digits, out))
        return refuse(r, "a number");
    r->at += n;
    return true;
}

static bool apply(double *out, const char *name, const double *x, int n)
{
    static const struct { const char *name; double (*of)(double); } ones[] = { { "sqrt", sqrt }, { "ceil", ceil }, { "floor", floor },
                                                                              { "log2", log2 } };
    for (size_t i = 0; n == 1 && i < sizeof ones / sizeof *ones; i++)
        if (text_is(ones[i].name, name)) {
            *out = ones[i].of(x[0]);
            return true;
        }
    if (n == 2 && text_is(name, "min"))
        *out = fmin(x[0], x[1]);
    else if (n == 2 && text_is(name, "max"))
        *out = fmax(x[0], x[1]);
    else
        return false;
    return true;
}

static bool call(double *out, struct reader *r, const char *name)
{
    double x[2] = { 0 };
    int n = 0;
    do {
        if (n == 2)
            return refuse(r, "at most two arguments");
        if (!sum(&x[n++], r))
            return false;
    } while (take(r, ','));
    if (!take(r, ')'))
        return refuse(r, ")");
    return apply(out, name, x, n) ||
           fail(r->err, "%s: no function %s of %d; known: sqrt, ceil, floor, log2 of one, min, max of two", r->where, name, n);
}

static bool looked_up(double *out, struct reader *r, const char *kind)
{
    char argument[LONGEST_ARGUMENT];
    size_t n = strcspn(r->at, "]");
    if (!r->at[n] || n >= sizeof argument)
        return refuse(r, "an argument that ends in ]");
    memcpy(argument, r->at, n);
    argument[n] = '\0';
    r->at += n + 1;
    struct err why = { "" };
    return r->lookup(out, r->user, kind, argument, &why) || fail(r->err, "%s: %s[%.100s]: %.300s", r->where, kind, argument, why.msg);
}

static bool named(double *out, struct reader *r)
{
    char name[LONGEST_NAME];
    size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (n >= sizeof name)
        return refuse(r, "a shorter name");
    memcpy(name, r->at, n);
    name[n] = '\0';
    r->at += n;
    if (take(r, '('))
        return call(out, r, name);
    return take(r, '[') ? looked_up(out, r, name) : refuse(r, "( or [");
}

static bool operand(double *out, struct reader *r)
{
    if (take(r, '('))
        return sum(out, r) && (take(r, ')') || refuse(r, ")"));
    skip_blanks(r);
    if (isdigit((unsigned char)*r->at))
        return number(out, r);
    return islower((unsigned char)*r->at) ? named(out, r) : refuse(r, "a number, a name, ( or -");
}

static bool factor(double *out, struct reader *r)
{
    bool negative = false;
    while (take(r, '-'))
        negative = !negative;
    if (!operand(out, r))
        return false;
    *out = negative ? -*out : *out;
    return true;
}

static bool power(double *out, struct reader *r)
{
    double exponent = 0;
    if (!factor(out, r))
        return false;
    if (!take(r, '^'))
        return true;
    if (++r->depth > MOST_DEPTH)
        return refuse(r, "fewer powers of powers");
    if (!power(&exponent, r))
        return false;
    r->depth--;
    *out = pow(*out, exponent);
    return true;
}

static bool product(double *out, struct reader *r)
{
    double next = 0;
    if (!power(out, r))
        return false;
    for (;;) {
        bool times = take(r, '*');
        if (!times && !take(r, '/'))
            return true;
        if (!power(&next, r))
            return false;
        *out = times ? *out * next : *out / next;
    }
}

static bool sum(double *out, struct reader *r)
{
    double next = 0;
    if (++r->depth > MOST_DEPTH)
        return refuse(r, "fewer parentheses");
    if (!product(out, r))
        return false;
    for (;;) {
        bool plus = take(r, '+');
        if (!plus && !take(r, '-')) {
            r->depth--;
            return true;
        }
        if (!product(&next, r))
            return false;
        *out += plus ? next : -next;
    }
}

bool arithmetic_value(double *out, const char *text, const char *where, arithmetic_lookup *lookup, void *user, struct err *err)
{
    struct reader r = { text, text, where, lookup, user, err, 0 };
    if (!sum(out, &r))
        return false;
    skip_blanks(&r);
    if (*r.at)
        return refuse(&r, "the end");
    return isfinite(*out) || fail(err, "%s: is not a finite number", where);
}
