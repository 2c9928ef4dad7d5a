/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rounding_lanes.h - eight fp32 numbers at a time, rounded to a narrower format. Functions are compiled for the least and for wider registers,
 * with the same operations in the same order, so that the bits do not depend on the processor.
 */
#ifndef ROUNDING_LANES_H
#define ROUNDING_LANES_H
#include "system-model/execute/rounding.h"
#include <string.h>

#ifdef __x86_64__
#define WIDE_REGISTERS __attribute__((target("avx2")))
#define HAS_WIDE_REGISTERS __builtin_cpu_supports("avx2")
#else
#define WIDE_REGISTERS
#define HAS_WIDE_REGISTERS false
#endif
#define IN_LANES static inline __attribute__((always_inline))

typedef float lanes __attribute__((vector_size(32)));
typedef int32_t masks __attribute__((vector_size(32)));         /* results of comparisons: a lane has all bits set if it is true, and no bit if it is false */
enum { N_LANES = sizeof(lanes) / sizeof(float), FLOAT_BITS = 23, FLOAT_BIAS = 127, FLOAT_SIGN = INT32_MIN, FLOAT_EXPONENT = 0x7f800000 };

/* A format: fraction bits, exponents of the smallest normal number and of the largest number, the largest number, and if it has infinity. */
struct format { int n_bits, least_exponent, most_exponent; float most; bool has_infinity; };
static const struct format format_fp16 = { 10, -14, 15, 65504, true };

/* Each lane of `if_so` where the mask is set, and of `if_not` elsewhere. */
#define LANES_CHOOSE(mask, if_so, if_not) (((if_so) & (mask)) | ((if_not) & ~(mask)))

/* Rounds magnitudes to n_bits fraction bits, to the nearest. A number whose last place is worth as much as the last place that is kept is
 * added and subtracted again, so that the addition itself rounds to the nearest, ties to even. */
IN_LANES void lanes_to_nearest(lanes *x, const masks *exponent, int n_bits)
{
    lanes away = (lanes)((*exponent + ((FLOAT_BITS - n_bits) << FLOAT_BITS)) | 1 << (FLOAT_BITS - 1));       /* 1.5 times a power of two */
    *x = (*x + away) - away;
}

/* Rounds magnitudes stochastically: up if the share of the way to the next number, plus the draw as a share of 2^24, reaches 1. */
IN_LANES void lanes_down_or_up(lanes *x, const masks *exponent, int n_bits, const masks *draws)
{
    masks bias = (masks){ 0 } + (FLOAT_BIAS << FLOAT_BITS), place = *exponent - (n_bits << FLOAT_BITS);
    lanes unit = (lanes)place, inverse = (lanes)(bias - place + bias);
    lanes units = *x * inverse, whole;
    whole = __builtin_convertvector(__builtin_convertvector(units, masks), lanes);
    lanes draw = __builtin_convertvector(*draws, lanes) * 0x1p-24f;
    masks up = draw >= 1 - (units - whole);
    *x = (whole - __builtin_convertvector(up, lanes)) * unit;          /* a lane of a mask is -1 where it is set */
}

/* draws: below 2^24, or NULL for the nearest. Subnormal numbers are those whose last place is the format's smallest. Exponents are compared in place: those
 * of floats grow with their bits. */
IN_LANES void round_lanes(lanes *x, const struct format *f, const masks *draws)
{
    masks bits = (masks)*x & ~FLOAT_SIGN, is_number = bits < FLOAT_EXPONENT, limit = (masks){ 0 } + FLOAT_EXPONENT;
    int32_t least = (f->least_exponent + FLOAT_BIAS) << FLOAT_BITS, end = (f->most_exponent + 1 + FLOAT_BIAS) << FLOAT_BITS;
    masks low = bits < least, far = bits >= end;            /* numbers so far beyond the largest that they are not rounded */
    lanes rounded = (lanes)(bits & ~far), most = f->most - (lanes){ 0 };
    masks exponent = LANES_CHOOSE(low, (masks){ 0 } + least, bits & ~far & FLOAT_EXPONENT);
    exponent = LANES_CHOOSE(far, (masks){ 0 } + least, exponent);
    if (draws)
        lanes_down_or_up(&rounded, &exponent, f->n_bits, draws);
    else
        lanes_to_nearest(&rounded, &exponent, f->n_bits);
    if (!f->has_infinity)
        limit = (masks)most;
    masks result = LANES_CHOOSE((rounded > most) | far, limit, (masks)rounded);
    *x = (lanes)(LANES_CHOOSE(is_number, result, bits) | ((masks)*x & FLOAT_SIGN));
}

#endif
