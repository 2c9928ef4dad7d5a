/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * state_values.c - the contents of tables that programs make on the chip or keep as constants, by their names.
 *
 *     rotary-cosines, rotary-sines   of position / 10000^(2 i / turned): Su et al. 2021, arXiv 2104.09864
 *     linear-biases                  slope of the head x position: Press et al. 2021, arXiv 2108.12409
 *     causal-mask                    -10000 for later tokens, as programs in fp16 have it; else 0
 *     position-buckets               rows of T5's table of relative positions: Raffel et al. 2019, arXiv 1910.10683; "-causal": of its decoder
 *     places, own-places             0, 1, 2 and so on: each column of scores, and for each row the column of its own entity
 *     pairs-below                    places below the diagonal of a square of all pairs, in a row: DLRM
 *     zeros, ones
 */
#include "system-model/graph/graph.h"
#include <math.h>

enum { FURTHEST = 128 };

static double angle(const struct tensor *t, uint64_t i)
{
    uint64_t half = t->dims[t->n_dims - 1], position = i / half % t->dims[t->n_dims - 2];
    return (double)position / pow(10000, (double)(i % half) / (double)half);
}

static double cosine(const struct tensor *t, uint64_t i) { return cos(angle(t, i)); }
static double sine(const struct tensor *t, uint64_t i) { return sin(angle(t, i)); }

/* The slopes of n heads: 2^(-8 / n), its square and so on if n is a power of two; otherwise those of the power of two below n, then every other slope
 * of the power above. */
static double slope(uint64_t head, uint64_t n_heads)
{
    uint64_t power = 1;
    while (2 * power <= n_heads)
        power *= 2;
    if (head < power)
        return pow(2, -8.0 * (double)(head + 1) / (double)power);
    return pow(2, -8.0 * (double)(2 * (head - power) + 1) / (double)(2 * power));
}

/* [1, heads, 1, time] */
static double linear_bias(const struct tensor *t, uint64_t i)
{
    return slope(i / t->dims[3] % t->dims[1], t->dims[1]) * (double)(i % t->dims[3]);
}

static int64_t distance(const struct tensor *t, uint64_t i)
{
    uint64_t columns = t->dims[t->n_dims - 1], rows = t->dims[t->n_dims - 2];
    return (int64_t)(i % columns) - (int64_t)(i / columns % rows);
}

static double causal_addend(const struct tensor *t, uint64_t i) { return distance(t, i) > 0 ? -10000 : 0; }

/* Near places have a bucket each; far ones share buckets that grow with the logarithm of the distance. */
static double bucket(int64_t back, int64_t n)
{
    int64_t exact = n / 2;
    if (back < exact)
        return (double)back;
    double far = log((double)back / (double)exact) / log((double)FURTHEST / (double)exact) * (double)(n - exact);
    return (double)exact + fmin(floor(far), (double)(n - exact - 1));
}

static double bucket_both_ways(const struct tensor *t, uint64_t i)
{
    int64_t d = distance(t, i), n = N_POSITION_BUCKETS / 2;
    return (d > 0 ? (double)n : 0) + bucket(d < 0 ? -d : d, n);
}

static double bucket_before(const struct tensor *t, uint64_t i)
{
    int64_t d = distance(t, i);
    return bucket(d < 0 ? -d : 0, N_POSITION_BUCKETS);
}

static double place(const struct tensor *t, uint64_t i) { return (void)t, (double)i; }

/* [samples, n (n - 1) / 2] */
static double pair_below(const struct tensor *t, uint64_t i)
{
    const uint64_t pairs = t->dims[1], k = i % pairs;
    uint64_t n = 1, row = 1;
    while (n * (n - 1) / 2 < pairs)
        n++;
    while (row * (row + 1) / 2 <= k)
        row++;
    return (double)(row * n + k - row * (row - 1) / 2);
}

static double zero(const struct tensor *t, uint64_t i) { return (void)t, (void)i, 0; }
static double one(const struct tensor *t, uint64_t i) { return (void)t, (void)i, 1; }

bool state_values(double *out, const struct tensor *t)
{
    static const struct { const char *name; double (*of)(const struct tensor *t, uint64_t i); } tables[] = {
        { "rotary-cosines", cosine }, { "rotary-sines", sine }, { "linear-biases", linear_bias }, { "causal-mask", causal_addend },
        { "position-buckets", bucket_both_ways }, { "position-buckets-causal", bucket_before }, { "places", place }, { "own-places", place },
        { "pairs-below", pair_below }, { "zeros", zero }, { "ones", one },
    };
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        if (text_is(t->name, tables[k].name)) {
            for (uint64_t i = 0, n = tensor_elements(t); i < n; i++)
                out[i] = tables[k].of(t, i);
            return true;
        }
    return false;
}
