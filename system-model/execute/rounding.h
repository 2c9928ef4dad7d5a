/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rounding.h - numbers of narrow formats, held as fp32: rounded to the nearest, or stochastically from a counter-based generator.
 *
 * fp16 is IEEE 754's binary16. E4M3 and E5M2 have the biases 8 and 16, one zero, no infinity, and NaN in the place of the negative zero (Noune et al. 2022,
 * arXiv 2206.02915): their largest numbers are 240 and 57,344. What is too large becomes infinite in fp16, and the largest number in fp8.
 */
#ifndef ROUNDING_H
#define ROUNDING_H
#include "system-model/graph/types.h"
#include <stdbool.h>

enum number_format { FORMAT_FP32, FORMAT_FP16, FORMAT_E4M3, FORMAT_E5M2, N_NUMBER_FORMATS };
enum number_format number_format_of(enum data_type t);      /* fp8 is E4M3; whole numbers are exact in fp32 */

/* Counts of rounded elements. One that was infinite before counts as infinite, too. */
struct rounding_counts { uint64_t n_rounded, n_infinite, n_not_a_number, n_vanished /* elements that were not 0 and became 0 */, n_saturated /* fp8 */; };

/* One draw of 32 bits for each element, by seed and place alone: neither the order of the draws nor what else is drawn matters. */
struct rounding_draws {
    bool stochastic;                    /* false: to the nearest, ties to even; the rest is not read */
    uint64_t key;                       /* a hash of seed, step and whatever else tells one rounding from another */
    uint32_t tensor_id;
    uint64_t first_element;             /* the index of x[0] in the whole tensor */
};
static const struct rounding_draws to_nearest = { 0 };

/* x[i] becomes a number of the format times 2^scale. Stochastic: one of the two neighbours, the nearer with the higher probability, so that the
 * mean is x[i]; the draws are Philox4x32-10's (Salmon et al. 2011) with the counter (element / 4, tensor). */
void round_elements(float *x, uint64_t n, enum number_format f, int scale, const struct rounding_draws *d, struct rounding_counts *c);
/* Numbers of 4 bits: each group of PACKED_GROUP neighbours in a row becomes multiples 0 to 15 of a scale, plus an addend, both fp16 (graphcore/popxl-addons 7499fca
 * ops/group_quantize_decompress). A number is off by half the scale at most, apart from the rounding to fp16. */
void round_groups(float *x, uint64_t n_rows, uint64_t n_columns);
/* The scale with which the largest finite |x[i]| just fits the format, at most 31 and at least -32; 0 if all are 0. */
int rounding_scale(const float *x, uint64_t n, enum number_format f);

#endif
