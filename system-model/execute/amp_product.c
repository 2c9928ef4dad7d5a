/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * amp_product.c - products in the order in which an AMP unit adds them.
 *
 * A unit takes a partial sum and 32 bytes of inputs, 16 in fp16, in four instructions (compiler.h), and then writes the partial sum back in its own type.
 * Inside, sums are fp32 here, which no source states: the products of an instruction are added up, one after the other, and then to the chain. A tile that has all the
 * inputs of an output is assumed; the plan may divide them among tiles, whose sums are then shorter.
 */
#include "system-model/execute/product.h"
#include "system-model/execute/rounding_lanes.h"
#include "system-model/compiler/compiler.h"

enum { VECTORS = 4, PANEL = VECTORS * N_LANES };     /* columns that are added up together */

/* Adds the products of a row: c[0 .. PANEL) += a[0 .. inner) b[inner][PANEL]. `inner` is padded to whole groups of inputs. */
IN_LANES void sum_row(float *c, const float *a, const float *b, uint64_t inner, const struct product_way *way)
{
    lanes sums[VECTORS];
    const uint64_t pass = way->pass_inputs, group = pass / AMP_CHAIN;
    memcpy(sums, c, sizeof sums);
    for (uint64_t first = 0; first < inner; first += group) {
        lanes chain[VECTORS] = { { 0 } };
        for (uint64_t k = first; k < first + group; k++)
            for (int v = 0; v < VECTORS; v++) {
                lanes factors;
                memcpy(&factors, b + k * PANEL + v * N_LANES, sizeof factors);
                chain[v] += a[k] * factors;
            }
        bool is_last = (first + group) % pass == 0 || first + group == inner;
        for (int v = 0; v < VECTORS; v++) {
            sums[v] += chain[v];
            if (is_last && way->half_partials)
                round_lanes(&sums[v], &format_fp16, NULL);
        }
    }
    memcpy(c, sums, sizeof sums);
}

typedef void row_function(float *c, const float *a, const float *b, uint64_t inner, const struct product_way *way);
static void sum_row_here(float *c, const float *a, const float *b, uint64_t inner, const struct product_way *way) { sum_row(c, a, b, inner, way); }

WIDE_REGISTERS static void sum_row_wide(float *c, const float *a, const float *b, uint64_t inner, const struct product_way *way)
{
    sum_row(c, a, b, inner, way);
}

static float element(const struct matrix *m, uint64_t row, uint64_t column)
{
    return m->turned ? m->x[column * m->stride + row] : m->x[row * m->stride + column];
}

/* Copies columns first to first + n of b, with zeros up to the panel's width and to whole groups of inputs. */
static void pack_panel(float *panel, const struct matrix *b, uint64_t inner, uint64_t first, uint64_t n)
{
    for (uint64_t k = 0; k < inner; k++)
        for (uint64_t j = 0; j < PANEL; j++)
            panel[k * PANEL + j] = j < n ? element(b, k, first + j) : 0;
}

void amp_product_add(struct matrix c, struct matrix a, struct matrix b, uint64_t rows, uint64_t inner, uint64_t columns, const struct product_way *way)
{
    struct arena scratch = { 0 };
    const uint64_t group = way->pass_inputs / AMP_CHAIN, padded = ceil_div(inner, group) * group;
    float *panel = ARENA_ARRAY(&scratch, float, padded * PANEL), *packed = ARENA_ARRAY(&scratch, float, rows * padded);
    row_function *sum = HAS_WIDE_REGISTERS ? sum_row_wide : sum_row_here;
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t k = 0; k < inner; k++)
            packed[i * padded + k] = element(&a, i, k);
    for (uint64_t first = 0; first < columns; first += PANEL) {
        uint64_t n = min_u64(PANEL, columns - first);
        pack_panel(panel, &b, inner, first, n);
        for (uint64_t i = 0; i < rows; i++) {
            float sums[PANEL] = { 0 };
            memcpy(sums, c.x + i * c.stride + first, n * sizeof *sums);
            sum(sums, packed + i * padded, panel, padded, way);
            memcpy(c.x + i * c.stride + first, sums, n * sizeof *sums);
        }
    }
    arena_free(&scratch);
}
