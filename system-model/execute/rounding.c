/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rounding.c - rounds arrays to narrower formats and counts what became of their elements. */
#include "system-model/execute/rounding_lanes.h"
#include "system-model/base/base.h"

#include <Random123/philox.h>

static const struct format e4m3 = { 3, -7, 7, 240, false }, e5m2 = { 2, -15, 15, 57344, false };
static const struct format *const formats[N_NUMBER_FORMATS] = { [FORMAT_FP16] = &format_fp16, [FORMAT_E4M3] = &e4m3, [FORMAT_E5M2] = &e5m2 };

enum number_format number_format_of(enum data_type t)
{
    return t == TYPE_FP16 ? FORMAT_FP16 : t == TYPE_FP8 ? FORMAT_E4M3 : FORMAT_FP32;
}

/* ---- a block of elements ------------------------------------------------------------------------------- */

enum { BLOCK = 64 };    /* a whole number of lanes */
struct lane_counts { masks infinite, not_a_number, vanished, saturated; };      /* the counts of each lane, as negative numbers */

IN_LANES void count_lanes(struct lane_counts *c, const lanes *before, const lanes *after, const struct format *f)
{
    masks bits = (masks)*after & ~FLOAT_SIGN, is_number = ((masks)*before & ~FLOAT_SIGN) < FLOAT_EXPONENT;
    lanes most = f->most - (lanes){ 0 }, size = (lanes)((masks)*before & ~FLOAT_SIGN);
    c->infinite += bits == FLOAT_EXPONENT;
    c->not_a_number += bits > FLOAT_EXPONENT;
    c->vanished += (*after == 0) & (*before != 0);
    c->saturated += (size > most) & is_number & (bits < FLOAT_EXPONENT);
}

/* factor: a power of two. draws: NULL for the nearest. */
IN_LANES void round_block(float *x, const struct format *f, float factor, const uint32_t *draws, struct rounding_counts *counts)
{
    struct lane_counts c = { { 0 }, { 0 }, { 0 }, { 0 } };
    for (uint64_t i = 0; i < BLOCK; i += N_LANES) {
        lanes before, after;
        masks drawn;
        memcpy(&before, x + i, sizeof before);
        after = before = before / factor;
        if (draws)
            memcpy(&drawn, draws + i, sizeof drawn);
        round_lanes(&after, f, draws ? &drawn : NULL);
        count_lanes(&c, &before, &after, f);
        after *= factor;
        memcpy(x + i, &after, sizeof after);
    }
    for (int k = 0; k < N_LANES; k++) {
        counts->n_infinite -= c.infinite[k], counts->n_not_a_number -= c.not_a_number[k];
        counts->n_vanished -= c.vanished[k], counts->n_saturated -= f->has_infinity ? 0 : c.saturated[k];
    }
}

typedef void block_function(float *x, const struct format *f, float factor, const uint32_t *draws, struct rounding_counts *counts);
static void round_block_here(float *x, const struct format *f, float factor, const uint32_t *draws, struct rounding_counts *counts)
{
    round_block(x, f, factor, draws, counts);
}

WIDE_REGISTERS static void round_block_wide(float *x, const struct format *f, float factor, const uint32_t *draws, struct rounding_counts *counts)
{
    round_block(x, f, factor, draws, counts);
}

/* The upper 24 bits of each element's draw. One counter serves four elements. */
static void draw_block(uint32_t *to, uint64_t n, const struct rounding_draws *d, uint64_t first)
{
    const philox4x32_key_t key = { { (uint32_t)d->key, (uint32_t)(d->key >> 32) } };
    philox4x32_ctr_t draws = { { 0 } };
    for (uint64_t i = 0; i < n; i++) {
        uint64_t element = d->first_element + first + i;
        const philox4x32_ctr_t counter = { { (uint32_t)(element / 4), (uint32_t)(element / 4 >> 32), d->tensor_id, 0 } };
        if (i == 0 || element % 4 == 0)
            draws = philox4x32(counter, key);
        to[i] = draws.v[element % 4] >> 8;
    }
}

/* ---- arrays ---------------------------------------------------------------------------------------------- */

void round_elements(float *x, uint64_t n, enum number_format format, int scale, const struct rounding_draws *d, struct rounding_counts *c)
{
    block_function *round = HAS_WIDE_REGISTERS ? round_block_wide : round_block_here;
    uint32_t draws[BLOCK] = { 0 };
    for (uint64_t first = 0; first < n && format != FORMAT_FP32; first += BLOCK) {
        uint64_t k = min_u64(BLOCK, n - first);
        float part[BLOCK] = { 0 }, *whole = k == BLOCK ? x + first : part;
        if (d->stochastic)
            draw_block(draws, k, d, first);
        if (k < BLOCK)
            memcpy(part, x + first, k * sizeof *x);
        round(whole, formats[format], ldexpf(1, scale), d->stochastic ? draws : NULL, c);
        if (k < BLOCK)
            memcpy(x + first, part, k * sizeof *x);
        c->n_rounded += k;
    }
}

static float as_fp16(float x)
{
    const struct rounding_draws nearest = { false, 0, 0, 0 };
    struct rounding_counts ignored = { 0 };
    round_elements(&x, 1, FORMAT_FP16, 0, &nearest, &ignored);
    return x;
}

static void round_group(float *x, uint64_t n)
{
    float least = x[0], most = x[0];
    for (uint64_t i = 1; i < n; i++)
        least = fminf(least, x[i]), most = fmaxf(most, x[i]);
    least = as_fp16(least);
    float scale = as_fp16((as_fp16(most) - least) / 15);
    for (uint64_t i = 0; i < n; i++) {
        float number = scale > 0 ? fminf(fmaxf(rintf((x[i] - least) / scale), 0), 15) : 0;
        x[i] = as_fp16(as_fp16(number * scale) + least);
    }
}

void round_groups(float *x, uint64_t n_rows, uint64_t n_columns)
{
    for (uint64_t r = 0; r < n_rows; r++)
        for (uint64_t first = 0; first < n_columns; first += PACKED_GROUP)
            round_group(x + r * n_columns + first, min_u64(PACKED_GROUP, n_columns - first));
}

int rounding_scale(const float *x, uint64_t n, enum number_format format)
{
    float most = 0;
    for (uint64_t i = 0; i < n; i++)
        if (isfinite(x[i]) && fabsf(x[i]) > most)
            most = fabsf(x[i]);
    int scale = -32;
    while (most > 0 && scale < 31 && ldexpf(formats[format]->most, scale) < most)
        scale++;
    return most > 0 ? scale : 0;
}
